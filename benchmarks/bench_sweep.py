"""The baseline sweep (101 rho x 5) beside the published way of doing it.

The published way, for each cell: mix the texts, fit scikit-learn's TfidfVectorizer on "premise
hypothesis" anew, transform both test sets, train XGBClassifier, and bootstrap the matched sample
S = 1000 times as a pandas frame. Ours: a cell of `ietest_fast.experiment` and its test. What both
need once (tagging, transformation) is left out, and so is our encoding, which a sweep of 505 cells
does once. Both on one thread, one cell after the other.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ietest_fast.atomic import write_bytes
from ietest_fast.experiment import check_config
from ietest_fast.experiment.cells import describe_cell, match, read_predictions
from ietest_fast.experiment.data import TRANSFORMED, read_splits, transform_splits
from ietest_fast.experiment.encoded import save_encoded
from ietest_fast.experiment.identity import TrainingDraw
from ietest_fast.experiment.tasks import CellTask, ModelContext, TaskRunner, WorkContext
from ietest_fast.models import load_model
from ietest_fast.models.training import never
from ietest_fast.stats import MatchedSample, paired_test
from ietest_fast.transform import plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.conftest import Race
    from ietest_fast.experiment import Splits
    from ietest_fast.experiment.data import TransformedSplits

S = 1000


def _read_splits(folder: Path, quick: bool) -> Splits:
    if quick or not folder.is_dir():
        demo = {"n_train": 200, "n_valid": 60, "n_test": 100} if quick else True
        return read_splits(check_config({"data": {"demo": demo}}).data)
    dev = {"file": str(folder / "dev.parquet"), "n_valid": 1800, "n_test": 8000}
    data = {"train": str(folder / "train.parquet"), "split": dev}
    return read_splits(check_config({"data": data}).data)


def published_cell(
    frames: dict[str, Any], rho: float, m: int, params: dict[str, Any], n_replicates: int
) -> float:
    """One cell as a script of the time does it; gives its p-value."""
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer
    from xgboost import XGBClassifier

    def join(frame: Any) -> Any:
        return frame["premise"] + " " + frame["hypothesis"]

    train, train_t = frames["train"], frames["train_transformed"]
    chosen = train.sample(frac=rho, random_state=m).index
    mixed = pd.concat([train.drop(chosen), train_t.loc[chosen]]).sample(frac=1, random_state=m)
    vectorizer = TfidfVectorizer()
    x = vectorizer.fit_transform(join(mixed))
    x_test = vectorizer.transform(join(frames["test"]))
    x_test_t = vectorizer.transform(join(frames["test_transformed"]))
    model = XGBClassifier(objective="multi:softprob", n_jobs=1, random_state=m, **params)
    model.fit(x, mixed["label"])
    gold = frames["test"]["label"]
    matched = pd.DataFrame(
        {
            "A": (model.predict(x_test) == gold).astype(int),
            "B": (model.predict(x_test_t) == gold).astype(int),
        }
    )

    def statistic(sample: Any) -> float:
        difference = sample["A"] - sample["B"]
        sd = difference.std(ddof=0)
        return float(np.sqrt(len(sample)) * difference.mean() / sd) if sd else 0.0

    observed = statistic(matched)
    replicates = []
    half = len(matched) // 2
    for s in range(n_replicates):
        sample = matched.sample(frac=1, replace=True, random_state=s).reset_index(drop=True)
        swapped = sample.copy()
        swapped.loc[:half, "A"], swapped.loc[:half, "B"] = (
            sample.loc[:half, "B"],
            sample.loc[:half, "A"],
        )
        replicates.append(statistic(swapped))
    below = np.mean(np.array(replicates) <= observed)
    return float(2 * min(below, 1 - below))


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
) -> TaskRunner:
    """Encode everything, which a sweep does once; give who does cells."""
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
    return TaskRunner(context, _Nowhere(), is_interrupted=never)


def our_cell(runner: TaskRunner, place: Path, rho: float, m: int, params: dict[str, Any]) -> None:
    """One cell from the resample to the p-value."""
    task = CellTask(
        identity=f"cell{m}",
        model="bow-xgb",
        params=params,
        resample=TrainingDraw.of(TRANSFORMED, rho=rho, m=m),
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


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What both ways start from."""

    splits: Splits
    texts: TransformedSplits
    params: dict[str, Any]
    note: str


@pytest.fixture(scope="module")
def prepared(quick: bool, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Read and transform the splits."""
    folder = Path(os.environ.get("IETEST_SHARED", Path(__file__).parents[2] / "shared"))
    splits = _read_splits(folder / "data" / "snli", quick)
    params = dict(load_model("bow-xgb").presets["table7-snli"])
    if quick:
        params["n_estimators"] = 3
    return Prepared(
        splits=splits,
        texts=transform_splits(
            splits, plan("syn.careful"), tmp_path_factory.mktemp("sweep") / "data"
        ),
        params=params,
        note=f"{len(splits.train):,} + {len(splits.test):,} pairs, one thread",
    )


GROUP = pytest.mark.benchmark(group="a cell of the baseline sweep")


@GROUP
@pytest.mark.parametrize("weighting", ["count", "tfidf"])
def test_cell(race: Race, prepared: Prepared, weighting: str, tmp_path: Path) -> None:
    place = tmp_path / weighting
    columns = prepared.splits.train.text_columns
    runner = _prepare(prepared.texts, columns, weighting, place)
    numbers = itertools.count()
    race.ours(
        weighting,
        lambda: our_cell(runner, place, 0.5, next(numbers), prepared.params),
        rounds=2,
        note=prepared.note,
    )


@GROUP
def test_published_cell(race: Race, prepared: Prepared) -> None:
    frames = _frames(prepared.texts)
    race.peer(
        "TfidfVectorizer + XGBClassifier + pandas S = 1000",
        lambda: published_cell(frames, 0.5, 1, prepared.params, race.scale(S, 5)),
        rounds=2,
        at_least=5,
    )
