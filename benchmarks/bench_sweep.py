"""The baseline sweep (101 rho x 5) beside the published way of doing it.

The published way, for each cell: mix the texts, fit scikit-learn's TfidfVectorizer on "premise
hypothesis" anew, transform three sets of texts, train XGBClassifier, and bootstrap the matched
sample S = 1000 times as a pandas frame. Ours: `ietest_fast.experiment`, everything but the shared
preparation (tagging and transformation are the same for both and left out).

Both run on one thread, one cell after the other, in turns; the whole sweep is scaled up from the
cells measured. Run: python -m benchmarks.bench_sweep [--cells 2] [--data DIR]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from ietest_fast.experiment import Splits
from ietest_fast.experiment.data import (
    PlannedTransformation,
    plan_transformation,
    transform_splits,
)
from ietest_fast.experiment.work import CellTask, Workbench, WorkContext, read_matched, save_encoded
from ietest_fast.models import load_model
from ietest_fast.stats import MatchedSample, paired_test

N_RHO, M, S = 101, 5, 1000
SEED = 0


def _read_splits(folder: Path | None) -> Splits:
    from ietest_fast.experiment.config import check_config
    from ietest_fast.experiment.data import read_splits

    if folder is None:
        return read_splits(check_config({"data": {"demo": True}}).data)
    dev = {"file": str(folder / "dev.parquet"), "n_valid": 1800, "n_test": 8000}
    data = {"train": str(folder / "train.parquet"), "split": dev}
    return read_splits(check_config({"data": data}).data)


def _plan(rules: str) -> PlannedTransformation:
    from ietest_fast.experiment.config import TransformationConfig

    return plan_transformation(TransformationConfig(rules=rules, tagger=None))


@contextmanager
def _timed(target: str, seconds: dict[str, float]) -> Any:
    """Add up the time spent in a function of another module."""
    import importlib

    module, _, name = target.rpartition(".")
    original = getattr(importlib.import_module(module), name)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        begin = time.perf_counter()
        try:
            return original(*args, **kwargs)
        finally:
            seconds[target] = seconds.get(target, 0.0) + time.perf_counter() - begin

    with mock.patch(target, wrapped):
        yield


def published_cell(frames: dict[str, Any], rho: float, m: int, params: dict[str, Any]) -> dict[str, float]:
    """One cell as a script of the time does it; gives seconds by part."""
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer
    from xgboost import XGBClassifier

    parts: dict[str, float] = {}
    begin = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal begin
        now = time.perf_counter()
        parts[name] = parts.get(name, 0.0) + now - begin
        begin = now

    def join(frame: Any) -> Any:
        return frame["premise"] + " " + frame["hypothesis"]

    train, train_t = frames["train"], frames["train_transformed"]
    chosen = train.sample(frac=rho, random_state=m).index
    mixed = pd.concat([train.drop(chosen), train_t.loc[chosen]]).sample(frac=1, random_state=m)
    lap("mix")
    vectorizer = TfidfVectorizer()
    x = vectorizer.fit_transform(join(mixed))
    x_test = vectorizer.transform(join(frames["test"]))
    x_test_t = vectorizer.transform(join(frames["test_transformed"]))
    lap("vectorise")
    model = XGBClassifier(objective="multi:softprob", n_jobs=1, random_state=m, **params)
    model.fit(x, mixed["label"])
    lap("xgboost")
    gold = frames["test"]["label"]
    matched = pd.DataFrame(
        {"A": (model.predict(x_test) == gold).astype(int), "B": (model.predict(x_test_t) == gold).astype(int)}
    )
    lap("predict")

    def statistic(sample: Any) -> float:
        difference = sample["A"] - sample["B"]
        sd = difference.std(ddof=0)
        return float(np.sqrt(len(sample)) * difference.mean() / sd) if sd else 0.0

    observed = statistic(matched)
    replicates = []
    half = len(matched) // 2
    for s in range(S):
        sample = matched.sample(frac=1, replace=True, random_state=s).reset_index(drop=True)
        swapped = sample.copy()
        swapped.loc[:half, "A"], swapped.loc[:half, "B"] = (
            sample.loc[:half, "B"],
            sample.loc[:half, "A"],
        )
        replicates.append(statistic(swapped))
    below = np.mean(np.array(replicates) <= observed)
    parts["p_value"] = 2 * min(below, 1 - below)
    lap("bootstrap")
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=2)
    parser.add_argument("--rules", default="careful")
    parser.add_argument("--data", type=Path, help="folder with train.parquet and dev.parquet")
    arguments = parser.parse_args()
    beside = Path(os.environ.get("IETEST_SHARED", Path(__file__).parents[2] / "shared")) / "data/snli"
    folder = arguments.data or (beside if beside.is_dir() else None)
    splits = _read_splits(folder)
    columns = splits.train.text_columns
    params = dict(load_model("bow-xgb").presets["table7-snli"])
    rhos = np.linspace(0, 1, arguments.cells + 2)[1:-1].round(2).tolist()

    with tempfile.TemporaryDirectory() as scratch:
        texts = transform_splits(splits, _plan(arguments.rules), Path(scratch) / "data")
        frames = {}
        for name, split in texts.texts.items():
            frames[name] = split.original.to_pandas()
            frames[f"{name}_transformed"] = split.transformed.to_pandas().assign(label=split.labels)

        benches: dict[str, tuple[Workbench, Path, float]] = {}
        for weighting in ("count", "tfidf"):
            begin = time.perf_counter()
            model = load_model("bow-xgb", weighting=weighting)
            place = Path(scratch) / weighting
            (place / "cells").mkdir(parents=True)
            save_encoded(place / "encoded", model.encode(texts.texts, columns), texts.changed["test"])
            context = WorkContext(
                folder=str(place),
                encoded=str(place / "encoded"),
                model="bow-xgb",
                options={"weighting": weighting},
                n_classes=splits.n_classes,
                seed=SEED,
                n_threads=1,
            )
            benches[weighting] = (Workbench(context), place, time.perf_counter() - begin)

        published: list[dict[str, float]] = []
        ours: dict[str, list[tuple[float, float]]] = {"count": [], "tfidf": []}
        for m, rho in enumerate(rhos):
            published.append(published_cell(frames, rho, m, params))
            for weighting, (workbench, place, _) in benches.items():
                inside: dict[str, float] = {}
                begin = time.perf_counter()
                with _timed("xgboost.train", inside):
                    task = CellTask(identity=f"{weighting}{m}", params=params, rho=rho, m=m)
                    record = workbench.perform(task)
                matched = read_matched(place / "cells" / record["artefact"], sha256=record["sha256"])
                sample = MatchedSample(
                    original_correct=matched["original_correct"].to_numpy(),
                    transformed_correct=matched["transformed_correct"].to_numpy(),
                )
                paired_test(sample)
                ours[weighting].append((time.perf_counter() - begin, inside["xgboost.train"]))

    n_cells = N_RHO * M
    lines = ["mix", "vectorise", "xgboost", "predict", "bootstrap"]
    per_part = {name: float(np.mean([cell[name] for cell in published])) for name in lines}
    per_cell = sum(per_part.values())
    print(f"\ntraining pairs {len(splits.train):,}, test pairs {len(splits.test):,}, rules "
          f"{arguments.rules}; {len(rhos)} cells measured at rho {rhos}, one thread, Table 7 (SNLI)")
    print(f"scaled to {N_RHO} rho x {M} = {n_cells} cells\n")
    print(f"{'way':<34}{'s/cell':>9}{'sweep, min':>12}{'ratio':>8}{'XGBoost':>9}")
    print(f"{'published (TF-IDF, pandas S=1000)':<34}{per_cell:9.2f}{per_cell * n_cells / 60:12.1f}"
          f"{1:8.1f}{per_part['xgboost'] / per_cell:9.0%}")
    for weighting, cells in ours.items():
        seconds = float(np.mean([cell[0] for cell in cells]))
        training = float(np.mean([cell[1] for cell in cells]))
        once = benches[weighting][2]
        sweep = seconds * n_cells + once
        print(f"{f'ietest-fast, {weighting}':<34}{seconds:9.2f}{sweep / 60:12.1f}"
              f"{per_cell * n_cells / sweep:8.1f}{training * n_cells / sweep:9.0%}"
              f"   (encoding, once: {once:.2f} s)")
    print("\npublished, s/cell by part: " + ", ".join(f"{k} {v:.2f}" for k, v in per_part.items()))


if __name__ == "__main__":
    main()
