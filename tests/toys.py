"""Small data, a transformation and models with which a run takes a second."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import time
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus import Corpus
from ietest_fast.errors import IetestWarning
from ietest_fast.experiment.cells import match, read_predictions
from ietest_fast.experiment.data import Splits
from ietest_fast.models import Capabilities
from ietest_fast.models.bag_of_words import BagOfWordsXGBoost
from ietest_fast.transform import Transformed

LABELS = ("entailment", "neutral", "contradiction")

QUICK = {
    "n_estimators": 10,
    "max_depth": 3,
    "reg_alpha": 0.05,
    "gamma": 0.05,
    "learning_rate": 0.5,
    "subsample": 0.8,
    "colsample_bytree": 0.8,
}


def toy_corpus(n: int, seed: int) -> Corpus:
    """Pairs whose label hangs, not surely, on the words of the hypothesis."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n).astype(np.int8)
    people = rng.choice(["boy", "girl", "man", "woman"], n)
    places = rng.choice(["street", "garden", "kitchen"], n)
    hints = np.where(rng.random(n) < 0.7, labels, rng.integers(0, 3, n))
    acts = np.array(["stands", "waits", "sleeps"])[hints]
    premise = [
        f"A {person} is in the {place}." for person, place in zip(people, places, strict=True)
    ]
    hypothesis = [f"The {person} {act}." for person, act in zip(people, acts, strict=True)]
    table = pa.table({"premise": premise, "hypothesis": hypothesis, "label": labels})
    return Corpus(table=table, text_columns=("premise", "hypothesis"), label_names=LABELS)


def toy_splits(n_train: int = 300, n_valid: int = 90, n_test: int = 240) -> Splits:
    # There are few different pairs, which all three parts share; processes of tests need it here.
    warnings.filterwarnings("ignore", ".* in the (training|validation) set too", IetestWarning)
    return Splits(
        train=toy_corpus(n_train, 1), valid=toy_corpus(n_valid, 2), test=toy_corpus(n_test, 3)
    )


@dataclass(frozen=True)
class Swap:
    """Replaces one word by another wherever it stands."""

    old: str = "sleeps"
    new: str = "slumbers"
    name: str = "swap"
    keeps_labels: bool = True
    rule: str = "swap"

    @property
    def fingerprint(self) -> str:
        return f"{self.old}-{self.new}".encode().hex()

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "options": {"old": self.old, "new": self.new}}

    def transform(
        self,
        table: pa.Table,
        text_columns: Any,
        *,
        with_edits: bool = True,
        n_threads: int | None = None,
    ) -> Transformed:
        changed = np.zeros(len(table), dtype=bool)
        new = table
        rows: list[int] = []
        for column in text_columns:
            hit = pc.match_substring(table[column], self.old).to_numpy()
            changed |= hit
            rows += np.flatnonzero(hit).tolist()
            replaced = pc.replace_substring(table[column], self.old, self.new)
            new = new.set_column(new.schema.get_field_index(column), column, replaced)
        edits = None
        if with_edits:
            edits = pa.table({"row": pa.array(rows, pa.int64()), "rule": [self.rule] * len(rows)})
            edits = edits.set_column(1, "rule", edits["rule"].cast(pa.string()))
        return Transformed(table=new, changed=changed, edits=edits)


def read_matched(folder: Path, identity: str, version: str = "swap") -> pa.Table:
    """Read the matched sample of a cell from a run's folder."""
    return match(read_predictions(folder / "cells" / f"{identity}.parquet"), version)


FIT_LOG = "IETEST_TOYS_FIT_LOG"
CELLS = "IETEST_TOYS_CELLS"
HELD = "IETEST_TOYS_HELD"


class SlowModel(BagOfWordsXGBoost):
    """Takes its time, so that there is some to be killed in, and tells what it is asked for.

    It learns nothing, so that its processes need not wait for XGBoost to load. A line for each
    training goes to the file named by the environment, no part of the run: the seed, which no other
    training has, and the cells that were finished at that moment. If it is to be held, no training
    that begins after the first finished cell comes to an end.
    """

    name = "slow"
    backend = "none"

    def fit(self, train: Any, valid: Any, *, params: Any, seed: int, **_: Any) -> Any:
        if FIT_LOG in os.environ:
            finished = [path.stem for path in Path(os.environ[CELLS]).glob("*.parquet")]
            line = json.dumps({"seed": seed, "finished": finished}) + "\n"
            # One write of an appending file: workers do not come between each other.
            descriptor = os.open(os.environ[FIT_LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(descriptor, line.encode())
            os.close(descriptor)
            while HELD in os.environ and finished:
                time.sleep(0.05)
        time.sleep(0.05)
        trained = [train.rows.tolist(), train.labels.tolist(), sorted(params.items()), seed]
        return _Guesses(zlib.crc32(json.dumps(trained).encode()))


@dataclass(frozen=True)
class _Guesses:
    """Draws its predictions: the same ones for the same training and rows only."""

    training: int

    def predict(self, store: Any, rows: Any) -> Any:
        asked = zlib.crc32(np.asarray(rows, np.int64).tobytes())
        return np.random.default_rng([self.training, asked]).integers(0, 3, len(rows), np.int8)


class _Marked(BagOfWordsXGBoost):
    def __init__(self, marker: str = "") -> None:
        super().__init__()
        self._marker = Path(marker)


class DiesOnceModel(_Marked):
    """Kills its process, the first time."""

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        # Two workers may be here at once: who makes the file is the one that dies.
        with contextlib.suppress(FileExistsError):
            self._marker.touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(*args, **kwargs)


class AlwaysDiesModel(_Marked):
    """Kills its process, each time."""

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        print("last words")
        os.kill(os.getpid(), signal.SIGKILL)


class FailsModel(BagOfWordsXGBoost):
    """Raises."""

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError("no model today")


class ConstantModel(BagOfWordsXGBoost):
    """Collapses: says 1 whatever it is asked."""

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        return _Constant()


class _Constant:
    def predict(self, store: Any, rows: Any) -> Any:
        return np.ones(len(rows), dtype=np.int8)


class DiesAtFit(_Marked):
    """Writes a line for each training, and kills its process at one of them."""

    def __init__(self, marker: str = "", at: int = 1) -> None:
        super().__init__(marker)
        self._at = at

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        with self._marker.open("a") as file:
            file.write("fit\n")
        if len(self._marker.read_text().splitlines()) == self._at:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(*args, **kwargs)


class Remembers(BagOfWordsXGBoost):
    """Writes down which rows it was trained and judged on."""

    def __init__(self, path: str = "") -> None:
        super().__init__()
        self._path = Path(path)

    def fit(self, train: Any, valid: Any, **kwargs: Any) -> Any:
        line = json.dumps({"train": train.rows.tolist(), "valid": valid.rows.tolist()})
        with self._path.open("a") as file:
            file.write(line + "\n")
        return super().fit(train, valid, **kwargs)


class Keeps(BagOfWordsXGBoost):
    """Its classifiers can be kept; its second training fails while there is no file `permit`."""

    capabilities = Capabilities(saves=True)

    def __init__(self, permit: str = "") -> None:
        super().__init__()
        self._permit = Path(permit)
        self._n_fitted = 0

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        self._n_fitted += 1
        if self._n_fitted == 2 and not self._permit.exists():
            raise RuntimeError("the second training fails")
        return _Kept(super().fit(*args, **kwargs))


class Restores(BagOfWordsXGBoost):
    """Its classifiers can be kept, and had again."""

    capabilities = Capabilities(saves=True, restores=True)

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        return _Pickled(super().fit(*args, **kwargs))

    def restore(self, folder: Path, *, params: Any, n_threads: int = 1) -> Any:
        assert params == QUICK
        return pickle.loads((folder / "classifier").read_bytes())


class Resumes(BagOfWordsXGBoost):
    """Says that its trainings can be taken up again, and is too quick to be asked."""

    capabilities = Capabilities(resumes=True)

    def fit(self, *args: Any, unfinished: Any, is_interrupted: Any, **kwargs: Any) -> Any:
        return super().fit(*args, **kwargs)


class FailsToResume(Resumes):
    """Raises."""

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError("no model today")


class NothingToSearch(BagOfWordsXGBoost):
    """Has no hyperparameters."""

    search_space: ClassVar[Any] = {}
    presets: ClassVar[Any] = {}

    def check_params(self, params: Any) -> Any:
        return [f"{name}: is unknown" for name in params]

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        return super().fit(*args, **{**kwargs, "params": QUICK})


class SaysNothing(BagOfWordsXGBoost):
    """States no capabilities."""

    capabilities = None  # type: ignore[assignment]


class _Kept:
    def __init__(self, classifier: Any) -> None:
        self.predict = classifier.predict
        self.predict_proba = classifier.predict_proba

    def save(self, folder: Path, *, label_names: Any) -> None:
        (folder / "labels.txt").write_text(" ".join(label_names))


class _Pickled(_Kept):
    def __init__(self, classifier: Any) -> None:
        super().__init__(classifier)
        self._classifier = classifier

    def save(self, folder: Path, *, label_names: Any) -> None:
        (folder / "classifier").write_bytes(pickle.dumps(self._classifier))
