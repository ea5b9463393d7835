"""What classifiers answer: labels of one, or of several by majority vote."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.models import Classifier, EncodedRows, EncodedSplit
    from ietest_fast.models.protocol import RowStore


@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """What a classifier, or a vote of several, says of the test set and the validation set.

    Attributes
    ----------
    original, transformed
        Labels of both versions of the test set (eq. 9), int8, shape (n_test,).
    valid
        Labels of the validation set, int8, shape (n_valid,).
    """

    original: NDArray[np.int8]
    transformed: NDArray[np.int8]
    valid: NDArray[np.int8]


_PARTS = ("original", "transformed", "valid")


@dataclass(frozen=True, kw_only=True, eq=False)
class Probabilities:
    """What one of several classifiers, that vote, gives to each class.

    Attributes
    ----------
    original, transformed
        Class probabilities of both versions of the test set, float32, shape (n_test, n_classes).
    valid
        Class probabilities of the validation set, float32, shape (n_valid, n_classes).
    """

    original: NDArray[np.float32]
    transformed: NDArray[np.float32]
    valid: NDArray[np.float32]

    def to_bytes(self) -> bytes:
        """Write it as NumPy's ``npz``."""
        file = io.BytesIO()
        np.savez(file, **{name: getattr(self, name) for name in _PARTS})
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Probabilities:
        """Read it again.

        Raises
        ------
        ValueError, OSError, LookupError
            If the bytes are damaged.
        """
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return cls(**{name: arrays[name] for name in _PARTS})


def _on_both_versions(
    predict: Callable[[RowStore, NDArray[np.int64]], NDArray[Any]], test: EncodedSplit
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Predict both versions in one go, and once where they are encoded alike."""
    n = len(test)
    rows = test.versions["transformed"]
    differs = np.flatnonzero(test.original != rows)
    predicted = predict(test.store, np.concatenate((test.original, rows[differs])))
    original = predicted[:n]
    transformed = original.copy()
    transformed[differs] = predicted[n:]
    return original, transformed


def predict_labels(classifier: Classifier, test: EncodedSplit, valid: EncodedRows) -> Labels:
    """Ask a classifier for all labels that a cell needs."""
    original, transformed = _on_both_versions(classifier.predict, test)
    return Labels(
        original=original.astype(np.int8),
        transformed=transformed.astype(np.int8),
        valid=np.asarray(classifier.predict(valid.store, valid.rows), dtype=np.int8),
    )


def predict_probabilities(
    classifier: Classifier, test: EncodedSplit, valid: EncodedRows
) -> Probabilities:
    """Ask one of several classifiers for all probabilities that a cell needs."""
    original, transformed = _on_both_versions(classifier.predict_proba, test)
    return Probabilities(
        original=original,
        transformed=transformed,
        valid=classifier.predict_proba(valid.store, valid.rows),
    )


def vote(voters: Sequence[Probabilities]) -> Labels:
    """Take the majority vote of several classifiers (the paper's Alternative 2)."""
    return Labels(**{name: majority([getattr(each, name) for each in voters]) for name in _PARTS})


def majority(probabilities: Sequence[NDArray[np.float32]]) -> NDArray[np.int8]:
    """Give the label that most classifiers find likeliest.

    Parameters
    ----------
    probabilities
        float32, shape (n, n_classes), for each classifier.

    Returns
    -------
    ndarray
        int8, shape (n,). Of labels with equally many votes the one of the highest mean
        probability, and of those the lowest.
    """
    stacked = np.stack(probabilities)
    votes = np.sum(stacked.argmax(axis=2)[:, :, None] == np.arange(stacked.shape[2]), axis=0)
    leading = votes == votes.max(axis=1, keepdims=True)
    likely = np.where(leading, stacked.sum(axis=0, dtype=np.float64), -1.0)
    labels: NDArray[np.int8] = likely.argmax(axis=1).astype(np.int8)
    return labels
