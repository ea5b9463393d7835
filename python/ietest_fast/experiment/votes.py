"""What classifiers answer: labels of one, or of several by majority vote."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.models.protocol import ORIGINAL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.models import Classifier, EncodedRows, EncodedSplit
    from ietest_fast.models.protocol import RowStore


@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """What a classifier, or a vote of several, says of the test set and the validation set."""

    versions: Mapping[str, NDArray[np.int8]]
    """Labels of each version of the test set (eq. 9), int8, shape (n_test,)."""
    valid: NDArray[np.int8]
    """Labels of the validation set, int8, shape (n_valid,)."""
    further: Mapping[str, NDArray[np.int8]] = field(default_factory=dict)
    """Labels of further test sets, int8, each of its own length."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Probabilities:
    """What one of several classifiers, that vote, gives to each class."""

    versions: Mapping[str, NDArray[np.float32]]
    """Class probabilities of each version of the test set, float32, shape (n_test, n_classes)."""
    valid: NDArray[np.float32]
    """Class probabilities of the validation set, float32, shape (n_valid, n_classes)."""
    further: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    """Class probabilities of further test sets, float32, shape (rows, n_classes)."""

    def to_bytes(self) -> bytes:
        """Write it as NumPy's ``npz``."""
        file = io.BytesIO()
        arrays = {f"version{i}": array for i, array in enumerate(self.versions.values())}
        if self.further:
            arrays["further"] = np.array(list(self.further))
            arrays |= {f"further{i}": array for i, array in enumerate(self.further.values())}
        np.savez(file, allow_pickle=False, names=list(self.versions), valid=self.valid, **arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Probabilities:
        """Read it again; whoever has kept the bytes has checked them."""
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return cls(
                versions={
                    str(name): arrays[f"version{i}"] for i, name in enumerate(arrays["names"])
                },
                valid=arrays["valid"],
                further={
                    str(name): arrays[f"further{i}"]
                    for i, name in enumerate(arrays.get("further", ()))
                },
            )


def _on_versions(
    predict: Callable[[RowStore, NDArray[np.int64]], NDArray[Any]],
    test: EncodedSplit,
    names: Sequence[str],
) -> dict[str, NDArray[Any]]:
    """Predict several versions in one go, and once where they are encoded like the original."""
    original = test.original
    differs = {name: np.flatnonzero(test.versions[name] != original) for name in names}
    rows = [original, *(test.versions[name][differs[name]] for name in names)]
    first, *rest = np.split(
        predict(test.store, np.concatenate(rows)), np.cumsum([len(part) for part in rows])[:-1]
    )
    answers = {ORIGINAL: first}
    for name, predicted in zip(names, rest, strict=True):
        answers[name] = first.copy()
        answers[name][differs[name]] = predicted
    return answers


def _on_further(
    predict: Callable[[RowStore, NDArray[np.int64]], NDArray[Any]],
    further: Mapping[str, EncodedSplit],
) -> dict[str, NDArray[Any]]:
    """Predict further test sets, each by itself: they have no part in the cell's own answers."""
    return {name: predict(split.store, split.original) for name, split in further.items()}


def predict_labels(
    classifier: Classifier,
    test: EncodedSplit,
    valid: EncodedRows,
    names: Sequence[str],
    further: Mapping[str, EncodedSplit],
) -> Labels:
    """Ask a classifier for the labels of the test set, of versions, of `valid` and of `further`."""
    answers = _on_versions(classifier.predict, test, names)
    return Labels(
        versions={name: labels.astype(np.int8) for name, labels in answers.items()},
        valid=np.asarray(classifier.predict(valid.store, valid.rows), dtype=np.int8),
        further={
            name: np.asarray(labels, dtype=np.int8)
            for name, labels in _on_further(classifier.predict, further).items()
        },
    )


def predict_probabilities(
    classifier: Classifier,
    test: EncodedSplit,
    valid: EncodedRows,
    names: Sequence[str],
    further: Mapping[str, EncodedSplit],
) -> Probabilities:
    """Ask one of several classifiers for all probabilities that a cell needs."""
    return Probabilities(
        versions=_on_versions(classifier.predict_proba, test, names),
        valid=classifier.predict_proba(valid.store, valid.rows),
        further=_on_further(classifier.predict_proba, further),
    )


def vote(voters: Sequence[Probabilities]) -> Labels:
    """Take the majority vote of several classifiers (the paper's Alternative 2)."""
    return Labels(
        versions={
            name: majority([each.versions[name] for each in voters]) for name in voters[0].versions
        },
        valid=majority([each.valid for each in voters]),
        further={
            name: majority([each.further[name] for each in voters]) for name in voters[0].further
        },
    )


def majority(probabilities: Sequence[NDArray[np.float32]]) -> NDArray[np.int8]:
    """Give the label that most classifiers find likeliest."""
    stacked = np.stack(probabilities)
    votes = np.sum(stacked.argmax(axis=2)[:, :, None] == np.arange(stacked.shape[2]), axis=0)
    leading = votes == votes.max(axis=1, keepdims=True)
    likely = np.where(leading, stacked.sum(axis=0, dtype=np.float64), -1.0)
    labels: NDArray[np.int8] = likely.argmax(axis=1).astype(np.int8)
    return labels
