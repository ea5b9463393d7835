"""The baseline sweep (101 rho x 5) beside the published way of doing it.

The published way, for each cell: mix the texts, fit scikit-learn's TfidfVectorizer on "premise
hypothesis" anew, transform both test sets, train XGBClassifier, and bootstrap the matched sample
S = 1000 times as a pandas frame. Ours: a cell of `ietest_fast.experiment` and its test. What both
need once (tagging, transformation) is left out; our encoding is counted in.

Both on one thread, one cell after the other, in turns; whole sweeps are scaled from these cells.
"""

from __future__ import annotations

import importlib
import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from benchmarks.timing import Comparison
from ietest_fast.experiment import check_config
from ietest_fast.experiment.artefacts import write_bytes
from ietest_fast.experiment.cells import describe_cell, match, read_predictions
from ietest_fast.experiment.data import TRANSFORMED, read_splits, transform_splits
from ietest_fast.experiment.encoded import save_encoded
from ietest_fast.experiment.resample import Resample
from ietest_fast.experiment.tasks import CellTask, ModelContext, TaskRunner, WorkContext
from ietest_fast.models import load_model
from ietest_fast.models.training import never
from ietest_fast.stats import MatchedSample, paired_test
from ietest_fast.transform import plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ietest_fast.experiment import Splits
    from ietest_fast.experiment.data import TransformedSplits

N_RHO, M, S = 101, 5, 1000


def _read_splits(folder: Path) -> Splits:
    if not folder.is_dir():
        return read_splits(check_config({"data": {"demo": True}}).data)
    dev = {"file": str(folder / "dev.parquet"), "n_valid": 1800, "n_test": 8000}
    data = {"train": str(folder / "train.parquet"), "split": dev}
    return read_splits(check_config({"data": data}).data)


@contextmanager
def _timed(target: str, seconds: dict[str, float]) -> Iterator[None]:
    """Add up the time spent in a function of another module."""
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


def published_cell(
    frames: dict[str, Any], rho: float, m: int, params: dict[str, Any]
) -> dict[str, float]:
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
        {
            "A": (model.predict(x_test) == gold).astype(int),
            "B": (model.predict(x_test_t) == gold).astype(int),
        }
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
    assert 0 <= 2 * min(below, 1 - below) <= 1
    lap("bootstrap")
    return parts


def _frames(texts: TransformedSplits) -> dict[str, Any]:
    frames = {}
    for name, split in texts.texts.items():
        frames[name] = split.original.to_pandas()
        frames[f"{name}_transformed"] = (
            split.versions["transformed"].to_pandas().assign(label=split.labels)
        )
    return frames


class _Nowhere:
    """Keeps nothing: the sweep is not interrupted."""

    def keep_unfinished(self, name: str, data: bytes) -> None:
        pass

    def keep_model(self, task: CellTask, voter: int, files: Mapping[str, bytes]) -> None:
        pass


def _prepare(
    texts: TransformedSplits, columns: Sequence[str], weighting: str, place: Path
) -> tuple[TaskRunner, float]:
    """Encode everything, which a sweep does once; give who does cells, and the seconds."""
    begin = time.perf_counter()
    model = load_model("bow-xgb", weighting=weighting)
    (place / "cells").mkdir(parents=True)
    save_encoded(
        place / "encoded", model.encode(texts.texts, columns), {TRANSFORMED: texts.changed["test"]}
    )
    own = ModelContext(
        name="bow-xgb", options={"weighting": weighting}, encoded=str(place / "encoded")
    )
    context = WorkContext(
        models={"bow-xgb": own},
        seed=0,
        n_threads=1,
        label_names=("entailment", "neutral", "contradiction"),
    )
    return TaskRunner(context, _Nowhere(), is_interrupted=never), time.perf_counter() - begin


def our_cell(
    runner: TaskRunner, place: Path, rho: float, m: int, params: dict[str, Any]
) -> tuple[float, float]:
    """One cell from the resample to the p-value; gives its seconds, and XGBoost's among them."""
    training: dict[str, float] = {}
    begin = time.perf_counter()
    with _timed("xgboost.train", training):
        task = CellTask(
            identity=f"cell{m}",
            model="bow-xgb",
            params=params,
            resample=Resample.of(TRANSFORMED, rho=rho, m=m),
            versions=(TRANSFORMED,),
        )
        artefact = runner.perform(task, {}).artefact
    path = place / "cells" / f"cell{m}.parquet"
    write_bytes(path, artefact)
    matched = match(read_predictions(path, describe_cell(path.name, artefact)), TRANSFORMED)
    sample = MatchedSample(
        original_correct=matched["original_correct"].to_numpy(),
        transformed_correct=matched["transformed_correct"].to_numpy(),
    )
    paired_test(sample)
    return time.perf_counter() - begin, training["xgboost.train"]


def measure(n_cells: int = 2) -> list[Comparison]:
    """Measure some cells of both, in turns, and scale them to the whole sweep."""
    folder = Path(os.environ.get("IETEST_SHARED", Path(__file__).parents[2] / "shared"))
    splits = _read_splits(folder / "data" / "snli")
    params = dict(load_model("bow-xgb").presets["table7-snli"])
    rhos = np.linspace(0, 1, n_cells + 2)[1:-1].round(2).tolist()
    published: list[dict[str, float]] = []
    ours: dict[str, list[tuple[float, float]]] = {"count": [], "tfidf": []}
    with tempfile.TemporaryDirectory() as scratch:
        places = {weighting: Path(scratch) / weighting for weighting in ours}
        planned = plan("syn.careful")
        texts = transform_splits(splits, planned, Path(scratch) / "data")
        frames = _frames(texts)
        columns = splits.train.text_columns
        prepared = {
            weighting: _prepare(texts, columns, weighting, place)
            for weighting, place in places.items()
        }
        for m, rho in enumerate(rhos):
            published.append(published_cell(frames, rho, m, params))
            for weighting, place in places.items():
                cell = our_cell(prepared[weighting][0], place, rho, m, params)
                ours[weighting].append(cell)

    parts = {name: float(np.mean([cell[name] for cell in published])) for name in published[0]}
    theirs = sum(parts.values()) * N_RHO * M
    detail = ", ".join(f"{name} {seconds:.2f}" for name, seconds in parts.items())
    lines = []
    for weighting, cells in ours.items():
        seconds, training = (float(np.mean(column)) for column in zip(*cells, strict=True))
        sweep = seconds * N_RHO * M + prepared[weighting][1]
        share = training * N_RHO * M / sweep
        lines.append(
            Comparison(
                path=f"baseline sweep, {N_RHO} ρ × {M}, {weighting}",
                ours_seconds=sweep,
                peer="TfidfVectorizer + XGBClassifier + pandas S = 1000, every cell",
                peer_seconds=theirs,
                goal=5 if weighting == "count" else None,
                note=f"scaled from {n_cells} cells of {len(splits.train):,} + {len(splits.test):,} "
                f"pairs, one thread; {share:.1%} of ours is XGBoost's training; the peer's cell, "
                f"seconds: {detail}",
            )
        )
    return lines


if __name__ == "__main__":
    for line in measure():
        print(
            f"{line.path}: {line.ours_seconds:.0f} s, peer {line.peer_seconds:.0f} s, "
            f"ratio {line.ratio:.1f}; {line.note}"
        )
