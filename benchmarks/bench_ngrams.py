"""The linear classifier over n-grams: its encoding and its training, beside scikit-learn's.

All on one thread, on the same features: hashed n-grams of up to four words of premise and
hypothesis, present or not, rows of length 1. scikit-learn's ``SGDClassifier`` makes as many passes,
once for each label; XGBoost's ``gblinear`` as many rounds.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ietest_fast.experiment import check_config
from ietest_fast.experiment.data import read_splits
from ietest_fast.models import load_model
from ietest_fast.models.ngrams import NgramOptions, hash_inputs, normalise_words
from ietest_fast.models.protocol import SplitTexts
from ietest_fast.models.tokens import pool_texts

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.conftest import Race
    from ietest_fast.corpus import Corpus

COLUMNS = ("premise", "hypothesis")
OPTIONS = NgramOptions()
EPOCHS = 5


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What both ways start from."""

    train: Corpus
    test: Corpus
    note: str


def _hashing() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        ngram_range=(1, OPTIONS.max_n),
        token_pattern=r"(?u)\w+",
        binary=True,
        alternate_sign=False,
        norm=None,
        n_features=2**OPTIONS.bits,
        dtype=np.float32,
    )


def sklearn_features(table: pa.Table) -> Any:
    """The same features as scikit-learn makes them."""
    import scipy.sparse as sp
    from sklearn.preprocessing import normalize

    hashing = _hashing()
    parts = [hashing.transform(table[name].to_pylist()) for name in COLUMNS]
    return normalize(sp.hstack(parts, format="csr"), copy=False)


def our_features(table: pa.Table) -> None:
    """As the model makes them, from the table of texts."""
    distinct, pooled = pool_texts({"train": {"original": table}}, COLUMNS)
    hash_inputs(normalise_words(distinct), pooled, OPTIONS, n_threads=1)


@pytest.fixture(scope="module")
def prepared(quick: bool) -> Prepared:
    """Read SNLI's slice, or make the demonstration corpus where it is not there."""
    folder = Path(os.environ.get("IETEST_SHARED", Path(__file__).parents[2] / "shared"))
    folder = folder / "data" / "snli"
    data: dict[str, Any] = {
        "demo": {"n_train": 200, "n_valid": 20, "n_test": 100} if quick else True
    }
    if not quick and folder.is_dir():
        dev = {"file": str(folder / "dev.parquet"), "n_valid": 1800, "n_test": 8000}
        data = {"train": str(folder / "train.parquet"), "split": dev}
    splits = read_splits(check_config({"data": data}).data)
    return Prepared(
        train=splits.train, test=splits.test, note=f"{len(splits.train):,} pairs, one thread"
    )


ENCODING = pytest.mark.benchmark(group="hashing the n-grams of a pair")
TRAINING = pytest.mark.benchmark(group="training a linear classifier over n-grams")


@ENCODING
def test_hashing(race: Race, prepared: Prepared) -> None:
    table = prepared.train.table
    race.ours("core", lambda: our_features(table), units=table.num_rows, rounds=3)


@ENCODING
def test_hashing_vectorizer(race: Race, prepared: Prepared) -> None:
    table = prepared.train.table
    race.peer(
        "HashingVectorizer",
        lambda: sklearn_features(table),
        units=table.num_rows,
        rounds=2,
        at_least=2,
    )


def _right(predicted: Any, corpus: Corpus) -> str:
    return f"{100 * np.mean(np.asarray(predicted) == corpus.labels):.1f}% right"


@TRAINING
def test_training(race: Race, prepared: Prepared) -> None:
    model = load_model("ngram-linear")
    encoded = model.encode(
        {
            name: SplitTexts(versions={"original": own.table}, labels=own.labels)
            for name, own in (("train", prepared.train), ("test", prepared.test))
        },
        COLUMNS,
    )
    params = {**model.presets["default"], "epochs": EPOCHS}
    train, test = encoded["train"].resample(), encoded["test"]

    def fit() -> Any:
        return model.fit(train, None, params=params, n_classes=3, seed=0)

    answers = fit().predict(test.store, test.original)
    note = f"{prepared.note}; {_right(answers, prepared.test)}"
    race.ours(f"{EPOCHS} epochs", fit, rounds=5, at_most_seconds=0.4, note=note)


@TRAINING
def test_sgd_classifier(race: Race, prepared: Prepared) -> None:
    from sklearn.linear_model import SGDClassifier

    x, z = (sklearn_features(own.table) for own in (prepared.train, prepared.test))
    known = np.unique(x.indices)
    x, z = x[:, known], z[:, known]

    def fit() -> Any:
        model = SGDClassifier(loss="log_loss", alpha=1e-6, max_iter=EPOCHS, tol=None, n_jobs=1)
        return model.fit(x, prepared.train.labels)

    note = _right(fit().predict(z), prepared.test)
    race.peer("SGDClassifier", fit, rounds=2, at_least=1.5, note=note)


@TRAINING
def test_gblinear(race: Race, prepared: Prepared) -> None:
    import xgboost as xgb

    x, z = (sklearn_features(own.table) for own in (prepared.train, prepared.test))
    known = np.unique(x.indices)
    data, test = xgb.DMatrix(x[:, known], prepared.train.labels), xgb.DMatrix(z[:, known])
    params = {
        "booster": "gblinear",
        "updater": "shotgun",
        "objective": "multi:softprob",
        "num_class": 3,
        "nthread": 1,
    }

    def fit() -> Any:
        return xgb.train(params, data, num_boost_round=EPOCHS)

    note = _right(fit().predict(test).argmax(axis=1), prepared.test)
    race.peer("XGBoost gblinear", fit, rounds=1, at_least=3, note=note)
