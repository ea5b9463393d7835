"""From class scores to probabilities and labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.models.protocol import RowStore


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn class scores, shape (n, labels), into probabilities of the same shape."""
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities: NDArray[np.float32] = shifted / shifted.sum(axis=1, keepdims=True)
    return probabilities


def sigmoid(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn one class score each, shape (n, 1), into probabilities of the labels 0 and 1, (n, 2)."""
    halves = (logits * np.float32(0.5)).astype(np.float32)
    return softmax(np.concatenate((-halves, halves), axis=1))


class ScoringClassifier(ABC):
    """A classifier that gives class scores; probabilities and labels follow from them."""

    @abstractmethod
    def predict_logits(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Give class scores, float32, shape (len(rows), n_classes)."""

    def predict_proba(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Predict class probabilities, float32, shape (len(rows), n_classes)."""
        return softmax(self.predict_logits(store, rows))

    def predict(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """Predict labels, int8, shape (len(rows),); of equally likely ones the lowest."""
        labels: NDArray[np.int8] = self.predict_logits(store, rows).argmax(axis=1).astype(np.int8)
        return labels
