"""The protocol of finished classifiers of texts, and their answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.models.protocol import RowStore


# From class scores to probabilities and labels.


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


Inputs = Literal["texts", "joined", "pairs", "frame"]
"""In which form a foreign classifier gets its inputs; see
:func:`~ietest_fast.models.finished.as_classifier`."""


Unparsed = Literal["wrong", "drop", "error"]
"""What becomes of an answer that is no label: a wrong answer, an item left out, an error."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """A classifier's answers to n inputs."""

    predicted: NDArray[np.int64]
    """int64, shape (n,): indices into the classifier's labels; -1 where its answer is no label."""
    probabilities: NDArray[np.float32] | None = None
    """float32, shape (n, n_labels), NaN where there is no answer; None if the classifier gives
    labels only."""
    logits: NDArray[np.float32] | None = None
    """Class scores as the model gives them, float32, shape (n, outputs); None if there are none."""
    n_tokens: int | None = None
    """Tokens of the inputs, padding left out; None if the classifier does not tell."""

    def __len__(self) -> int:
        return len(self.predicted)

    @classmethod
    def from_logits(cls, logits: NDArray[np.float32], *, n_tokens: int | None = None) -> Scores:
        """Compute probabilities and labels from class scores; of equal ones the first label.

        Raises
        ------
        InputError
            If a score is no number.
        """
        _check_numbers(logits)
        return cls(
            predicted=logits.argmax(axis=1),
            probabilities=softmax(logits),
            logits=logits,
            n_tokens=n_tokens,
        )

    def take(self, rows: NDArray[np.int64]) -> Scores:
        """Return the answers to some inputs, in any order and with repeats."""
        return Scores(
            predicted=self.predicted[rows],
            probabilities=None if self.probabilities is None else self.probabilities[rows],
            logits=None if self.logits is None else self.logits[rows],
        )


DEFAULT_THRESHOLD = 0.5
"""Of a model with one logit: the probability from which it says yes."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """What the outputs of a classifier stand for."""

    labels: tuple[str, ...]
    """Names of its labels."""
    threshold: float | None = None
    """None if there is an output for each label. Otherwise the model has one logit, whose sigmoid
    is the probability of the second of two labels; from this probability on it is the answer."""

    @property
    def n_outputs(self) -> int:
        """How many numbers the model gives for an input."""
        return len(self.labels) if self.threshold is None else 1

    @property
    def settings(self) -> tuple[str, ...]:
        """What fingerprints say of it: only what is not usual."""
        return () if self.threshold is None else (f"threshold {self.threshold!r}",)

    def choose(self, logits: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the label of each row of class scores, int64 (n,); of equal ones the first."""
        if self.threshold is None:
            return np.asarray(logits.argmax(axis=1), dtype=np.int64)
        return (sigmoid(logits)[:, 1] >= np.float32(self.threshold)).astype(np.int64)

    def score(self, logits: NDArray[np.float32], *, n_tokens: int | None = None) -> Scores:
        """Compute probabilities and labels from class scores, shape (n, outputs)."""
        if self.threshold is None:
            return Scores.from_logits(logits, n_tokens=n_tokens)
        _check_numbers(logits)
        return Scores(
            predicted=self.choose(logits),
            probabilities=sigmoid(logits),
            logits=logits,
            n_tokens=n_tokens,
        )


def _check_numbers(scores: NDArray[np.float32]) -> None:
    n_wrong = int((~np.isfinite(scores).all(axis=1)).sum())
    if n_wrong:
        raise InputError(
            f"the model's scores of {n_wrong:,} of {len(scores):,} inputs are no numbers; are its "
            "weights whole, and its precision enough?"
        )


class TextClassifier(Protocol):
    """A finished model: texts in, labels out, and probabilities if it has them."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of its labels; ``Scores.predicted`` are indices into them."""
        ...

    @property
    def backend(self) -> str:
        """What runs it, with its version, such as ``"onnxruntime 1.22 (CPU)"``."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash of all that its answers depend on."""
        ...

    def score(self, inputs: pa.Table, *, on_batch: Callable[[int], None] | None = None) -> Scores:
        """Classify inputs.

        Parameters
        ----------
        inputs
            n rows, whose columns are texts, one or several, in the order of the task. Callers pass
            each distinct input once.
        on_batch
            Told the number of inputs of every batch that is done.
        """
        ...


def rename_labels(own: Sequence[str], given: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the names that are given for a model's labels, or else its own."""
    if given is None:
        return tuple(own)
    if len(given) != len(own):
        raise InputError(
            f"labels names {len(given)} labels, and the model has {len(own)}: {', '.join(own)}"
        )
    return given


def select_columns(inputs: pa.Table, columns: tuple[str, ...] | None) -> pa.Table:
    """Return the columns that a classifier sees."""
    missing = [name for name in columns or () if name not in inputs.column_names]
    if missing:
        raise InputError(
            f"the model sees the column {missing[0]!r}, and there are "
            f"{', '.join(inputs.column_names)}"
        )
    return inputs if columns is None else inputs.select(list(columns))
