"""Finished classifiers of texts, whatever they are made with, behind one protocol."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, get_args

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.logits import softmax

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

Inputs = Literal["texts", "joined", "pairs", "frame"]
"""In which form a foreign classifier gets its inputs; see :func:`as_classifier`."""

# Files that the weights of a checkpoint are in.
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """A classifier's answers to n inputs.

    Attributes
    ----------
    predicted
        int64, shape (n,): indices into the classifier's labels.
    probabilities
        float32, shape (n, n_labels); None if the classifier gives labels only.
    logits
        Class scores before the softmax, float32, shape (n, n_labels); None if there are none.
    n_tokens
        Tokens of the inputs, padding left out; None if the classifier does not tell.
    """

    predicted: NDArray[np.int64]
    probabilities: NDArray[np.float32] | None = None
    logits: NDArray[np.float32] | None = None
    n_tokens: int | None = None

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


def as_classifier(
    model: object,
    *,
    labels: Sequence[str] | None = None,
    data_labels: Sequence[str] | None = None,
    text_columns: Sequence[str] | None = None,
    inputs: Inputs | None = None,
    batch_size: int | None = None,
    name: str | None = None,
) -> TextClassifier:
    """Make a finished classifier of whatever can classify texts.

    Parameters
    ----------
    model
        One of

        - a folder with an ONNX model, or an ``.onnx`` file with its tokenizer beside it;
        - a folder with a checkpoint of transformers, or a hub's name;
        - a transformers pipeline for text classification;
        - a fitted scikit-learn classifier, or a pipeline that ends in one (``classes_`` and
          ``predict``; ``predict_proba`` is used where it is there);
        - a function of a list of inputs that returns a label for each (names, or numbers that are
          indices into `labels`) or probabilities, shape (n, n_labels);
        - a :class:`TextClassifier`, which is returned as it is.
    labels
        Names of the labels in the order of the model's outputs. Models that have names of their own
        do not need them; where given they take the names' place.
    data_labels
        The data's labels: what a function may answer by name if `labels` is None.
    text_columns
        Columns that it sees; None for all that it is given.
    inputs
        The form in which a function or a scikit-learn model gets a batch of inputs:

        - ``"texts"``, a list of strings: the default for one column of texts;
        - ``"pairs"``, a list of tuples of strings: the default of a function for several columns;
        - ``"frame"``, a pandas frame: the default for scikit-learn models that were fitted on a
          frame (``feature_names_in_``);
        - ``"joined"``, a list of strings, each the texts of a row joined by a blank.
    batch_size
        Inputs of a call; None for 1,024 (32 for a transformers pipeline).
    name
        What a function is called, for its fingerprint; None for its own name.

    Raises
    ------
    InputError
        If `model` is none of these, or its labels are not known.

    Notes
    -----
    The fingerprint of a function is made of its name and source. What else it depends on (weights
    in a closure, a server's model) is unknown here: say it in `name`.
    """
    if inputs is not None and inputs not in get_args(Inputs):
        names = ", ".join(map(repr, get_args(Inputs)))
        raise InputError(f"inputs is one of {names}, not {inputs!r}")
    if batch_size is not None and batch_size < 1:
        raise InputError(f"batch_size must be 1 or more, not {batch_size}")
    given = None if labels is None else _check_labels(labels)
    columns = None if text_columns is None else tuple(text_columns)
    if isinstance(model, str | Path):
        made: TextClassifier = _load(model)
        return made if given is None and columns is None else _Renamed(made, given, columns)
    if isinstance(model, type):
        raise InputError(f"{model.__name__} is a class; a classifier is an instance of one")
    if all(hasattr(model, each) for each in ("score", "labels", "backend", "fingerprint")):
        made = cast("TextClassifier", model)
        return made if given is None and columns is None else _Renamed(made, given, columns)
    from ietest_fast.models.foreign import Estimator, Function, HubPipeline

    if any(each.__name__ == "TextClassificationPipeline" for each in type(model).__mro__):
        return HubPipeline(model, labels=given, text_columns=columns, batch_size=batch_size or 32)
    size = batch_size or 1024
    if callable(getattr(model, "predict", None)):
        return Estimator(model, labels=given, text_columns=columns, inputs=inputs, batch_size=size)
    if callable(model):
        return Function(
            cast("Callable[[Any], Any]", model),
            labels=given,
            data_labels=None if data_labels is None else _check_labels(data_labels),
            text_columns=columns,
            inputs=inputs,
            batch_size=size,
            name=name,
        )
    raise InputError(
        f"a {type(model).__name__} is no classifier; expected a folder, an .onnx file, a hub's "
        "name, a transformers pipeline, a scikit-learn classifier, or a function of a list of "
        "texts"
    )


def _check_labels(labels: Sequence[str]) -> tuple[str, ...]:
    names = tuple(map(str, labels))
    if isinstance(labels, str) or len(names) < 2 or len(set(names)) < len(names):
        raise InputError(f"labels must be at least two different names, not {labels!r}")
    return names


def _load(place: str | Path) -> TextClassifier:
    path = Path(place).expanduser()
    is_checkpoint = path.is_dir() and any(any(path.glob(kind)) for kind in _WEIGHTS)
    if path.is_file() or (path.is_dir() and (any(path.glob("*.onnx")) or not is_checkpoint)):
        from ietest_fast.models.onnx import OnnxClassifier

        return OnnxClassifier.load(path)
    from ietest_fast.models.checkpoint import CheckpointClassifier

    return CheckpointClassifier(str(place))


class _Renamed:
    """A classifier under other names of its labels, or that sees some columns only."""

    def __init__(
        self,
        model: TextClassifier,
        labels: tuple[str, ...] | None,
        text_columns: tuple[str, ...] | None,
    ) -> None:
        self.labels = rename_labels(model.labels, labels)
        self.backend = model.backend
        self._model = model
        self._columns = text_columns

    @property
    def fingerprint(self) -> str:
        return self._model.fingerprint

    def score(self, inputs: pa.Table, *, on_batch: Callable[[int], None] | None = None) -> Scores:
        return self._model.score(select_columns(inputs, self._columns), on_batch=on_batch)


def rename_labels(own: Sequence[str], given: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the names that are given for a model's labels, or else its own.

    Raises
    ------
    InputError
        If there are not as many.
    """
    if given is None:
        return tuple(own)
    if len(given) != len(own):
        raise InputError(
            f"labels names {len(given)} labels, and the model has {len(own)}: {', '.join(own)}"
        )
    return given


def select_columns(inputs: pa.Table, columns: tuple[str, ...] | None) -> pa.Table:
    """Return the columns that a classifier sees.

    Raises
    ------
    InputError
        If one is missing.
    """
    missing = [name for name in columns or () if name not in inputs.column_names]
    if missing:
        raise InputError(
            f"the model sees the column {missing[0]!r}, and there are "
            f"{', '.join(inputs.column_names)}"
        )
    return inputs if columns is None else inputs.select(list(columns))
