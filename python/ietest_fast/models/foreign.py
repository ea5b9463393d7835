"""Classifiers of other libraries, and functions, as finished classifiers."""

from __future__ import annotations

import hashlib
import inspect
import pickle
import tokenize
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.corpus.labels import label_key
from ietest_fast.errors import InputError
from ietest_fast.models.classifiers import Scores, rename_labels, select_columns
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.models.classifiers import Inputs

# A row of probabilities may miss 1 by this much: half precision and many labels.
_TOLERANCE = 0.01
# Lengths beyond this in a tokenizer mean that nobody has set one.
_NO_LENGTH = 10**9


def _batches(inputs: pa.Table, size: int) -> Iterator[pa.Table]:
    for begin in range(0, inputs.num_rows, size):
        yield inputs.slice(begin, size)


def present(batch: pa.Table, form: Inputs) -> Any:
    """Return a batch in the form that a classifier takes."""
    if form == "frame":
        return batch.to_pandas()
    columns = [column.to_pylist() for column in batch.columns]
    if form == "pairs":
        return list(zip(*columns, strict=True))
    if form == "joined":
        return [" ".join(row) for row in zip(*columns, strict=True)]
    if len(columns) > 1:
        raise InputError(
            f"inputs='texts' is for one column, and there are {', '.join(batch.column_names)}; "
            "say inputs='joined', 'pairs' or 'frame'"
        )
    return columns[0]


def _as_codes(answers: Any, names: Sequence[Any], n: int, what: str) -> NDArray[np.int64]:
    """Return the places of answers among names."""
    found = [each.item() if isinstance(each, np.generic) else each for each in answers]
    if len(found) != n:
        raise InputError(f"{what} returned {len(found):,} labels for {n:,} inputs")
    place_of = {name: place for place, name in enumerate(names)}
    folded = {label_key(name): place for name, place in place_of.items() if isinstance(name, str)}
    codes = np.empty(n, dtype=np.int64)
    for i, answer in enumerate(found):
        place = place_of.get(answer) if isinstance(answer, str | int | float) else None
        if place is None and isinstance(answer, str):
            place = folded.get(label_key(answer))
        if place is None:
            raise InputError(
                f"{what} returned {show_value(answer)} for input {i}; expected one of "
                f"{', '.join(map(repr, names))}"
            )
        codes[i] = place
    return codes


def _as_probabilities(values: Any, n: int, n_labels: int, what: str) -> NDArray[np.float32]:
    probabilities = np.asarray(values, dtype=np.float32)
    if probabilities.shape != (n, n_labels):
        raise InputError(
            f"{what} returned an array of shape {probabilities.shape} for {n:,} inputs and "
            f"{n_labels} labels; expected ({n}, {n_labels})"
        )
    wrong = ~np.isfinite(probabilities).all(axis=1) | (probabilities < 0).any(axis=1)
    wrong |= np.abs(probabilities.sum(axis=1) - 1) > _TOLERANCE
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{what} returned {probabilities[row].tolist()} for input {row}, and probabilities are "
            "0 or more and add up to 1 (apply a softmax to scores)"
        )
    return probabilities


def _join(parts: Sequence[Scores], n_labels: int) -> Scores:
    """Put the answers to batches together."""

    def joined(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return np.concatenate(values) if values and values[0] is not None else None

    if not parts:
        return Scores(
            predicted=np.zeros(0, np.int64), probabilities=np.zeros((0, n_labels), np.float32)
        )
    return Scores(
        predicted=joined("predicted"),
        probabilities=joined("probabilities"),
        logits=joined("logits"),
    )


class _InBatches:
    """Scores inputs batch by batch."""

    labels: tuple[str, ...]
    _columns: tuple[str, ...] | None
    _batch_size: int

    def _score_batch(self, batch: pa.Table) -> Scores:
        raise NotImplementedError

    def score(self, inputs: pa.Table, *, on_batch: Callable[[int], None] | None = None) -> Scores:
        """Classify inputs; see :class:`~ietest_fast.models.classifiers.TextClassifier`."""
        parts = []
        for batch in _batches(select_columns(inputs, self._columns), self._batch_size):
            parts.append(self._score_batch(batch))
            if on_batch is not None:
                on_batch(batch.num_rows)
        return _join(parts, len(self.labels))


class Function(_InBatches):
    """A function from a list of inputs to labels or probabilities.

    Parameters
    ----------
    function
        Called with a batch of inputs.
    labels, data_labels, text_columns, inputs, batch_size, name
        As for :func:`~ietest_fast.models.finished.as_classifier`.

    Raises
    ------
    InputError
        If neither `labels` nor `data_labels` are given.
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        *,
        labels: tuple[str, ...] | None,
        data_labels: tuple[str, ...] | None = None,
        text_columns: tuple[str, ...] | None = None,
        inputs: Inputs | None = None,
        batch_size: int = 1024,
        name: str | None = None,
    ) -> None:
        known = labels if labels is not None else data_labels
        if known is None:
            raise InputError(
                "a function does not say what its labels are: give labels=, in the order of its "
                "numbers or probabilities"
            )
        self.labels = known
        self.backend = "function"
        self._ordered = labels is not None
        self._function = function
        self._columns = text_columns
        self._form = inputs
        self._batch_size = batch_size
        own = getattr(function, "__qualname__", type(function).__qualname__)
        self._name = own if name is None else name

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the function's name and, where it can be had, its source."""
        try:
            source = inspect.getsource(self._function)
        except (OSError, TypeError, SyntaxError, tokenize.TokenError):
            source = ""
        return hashlib.sha256(f"{self._name}\n{source}".encode()).hexdigest()

    def _score_batch(self, batch: pa.Table) -> Scores:
        n, what = batch.num_rows, "the function"
        answers = self._function(
            present(batch, self._form or ("texts" if batch.num_columns == 1 else "pairs"))
        )
        try:
            values = np.asarray(answers)
        except ValueError as error:
            raise InputError(f"{what} returned rows of different lengths: {error}") from error
        if values.ndim == 1 and values.dtype.kind in "USOT":
            return Scores(predicted=_as_codes(values.tolist(), self.labels, n, what))
        is_number = values.dtype.kind in "iuf" and values.ndim in {1, 2}
        if not is_number or (values.ndim == 1 and values.dtype.kind == "f"):
            raise InputError(
                f"{what} returned an array of {values.dtype} and shape {values.shape}; expected "
                "labels, shape (n,), or probabilities, shape (n, labels)"
            )
        if not self._ordered:
            raise InputError(
                f"{what} returned numbers, and which label is which is not known: give labels= in "
                "their order, or return names"
            )
        if values.ndim == 1:
            return Scores(predicted=_as_codes(values.tolist(), range(len(self.labels)), n, what))
        probabilities = _as_probabilities(values, n, len(self.labels), what)
        return Scores(predicted=probabilities.argmax(axis=1), probabilities=probabilities)


class Estimator(_InBatches):
    """A fitted classifier with scikit-learn's methods.

    Labels are those of ``predict``, which need not be the likeliest by ``predict_proba`` (SVC,
    classifiers with a threshold).

    Parameters
    ----------
    estimator
        Has ``predict`` and ``classes_``, and ``predict_proba`` if it gives probabilities.
    labels, text_columns, inputs, batch_size
        As for :func:`~ietest_fast.models.finished.as_classifier`.

    Raises
    ------
    InputError
        If it is not fitted, or has several outputs.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        labels: tuple[str, ...] | None = None,
        text_columns: tuple[str, ...] | None = None,
        inputs: Inputs | None = None,
        batch_size: int = 1024,
    ) -> None:
        kind = type(estimator).__name__
        classes = getattr(estimator, "classes_", None)
        if classes is None:
            raise InputError(
                f"the {kind} has no classes_: it is not fitted, or no classifier; a function that "
                "calls it does, too"
            )
        if not all(isinstance(each, str | int | np.generic) for each in classes):
            raise InputError(f"the {kind} has several outputs; expected one label for each text")
        self._classes = [each.item() if isinstance(each, np.generic) else each for each in classes]
        self.labels = rename_labels(tuple(map(str, self._classes)), labels)
        package = type(estimator).__module__.partition(".")[0]
        package = "scikit-learn" if package == "sklearn" else package
        try:
            self.backend = f"{package} {version(package)}"
        except PackageNotFoundError:
            self.backend = package
        self._kind = kind
        self._estimator = estimator
        self._form = inputs
        self._batch_size = batch_size
        fitted_on = getattr(estimator, "feature_names_in_", None)
        self._columns = text_columns
        self._names = None if fitted_on is None else tuple(map(str, fitted_on))

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the estimator with all that it has learnt."""
        try:
            content = pickle.dumps(self._estimator, protocol=5)
        except Exception as error:  # anything may be inside, with any reason not to be pickled
            raise InputError(
                f"the {self._kind} cannot be pickled, so that nothing tells it from another "
                f"({type(error).__name__}: {error}); wrap it in a function"
            ) from error
        return hashlib.sha256(content).hexdigest()

    def _score_batch(self, batch: pa.Table) -> Scores:
        texts = present(batch, self._choose_form(batch))
        n, what = batch.num_rows, f"the {self._kind}"
        if self._form in {None, "frame"} and self._names is not None:
            texts = texts[list(self._names)]
        predicted = _as_codes(self._estimator.predict(texts), self._classes, n, what)
        if not hasattr(self._estimator, "predict_proba"):
            return Scores(predicted=predicted)
        values = self._estimator.predict_proba(texts)
        return Scores(
            predicted=predicted,
            probabilities=_as_probabilities(values, n, len(self.labels), what),
        )

    def _choose_form(self, batch: pa.Table) -> Inputs:
        if self._names is not None and self._form in {None, "frame"}:
            missing = [name for name in self._names if name not in batch.column_names]
            if missing:
                raise InputError(
                    f"the {self._kind} was fitted on a frame with the column {missing[0]!r}; there "
                    f"are {', '.join(batch.column_names)}"
                )
            return "frame"
        if self._form is None and batch.num_columns > 1:
            raise InputError(
                f"the {self._kind} was not fitted on a frame, and there are the columns "
                f"{', '.join(batch.column_names)}: say inputs='joined' (by a blank), 'pairs' or "
                "'frame', or text_columns= for one of them"
            )
        return self._form or "texts"


class HubPipeline(_InBatches):
    """A text-classification pipeline of transformers.

    Texts longer than the model takes are cut, the longer one of a pair first.

    Parameters
    ----------
    pipeline
        What ``transformers.pipeline("text-classification", ...)`` returns.
    labels, text_columns, batch_size
        As for :func:`~ietest_fast.models.finished.as_classifier`.
    """

    def __init__(
        self,
        pipeline: Any,
        *,
        labels: tuple[str, ...] | None = None,
        text_columns: tuple[str, ...] | None = None,
        batch_size: int = 32,
    ) -> None:
        names = pipeline.model.config.id2label
        self._own = tuple(str(names[i]) for i in range(len(names)))
        self.labels = rename_labels(self._own, labels)
        self.backend = f"transformers {version('transformers')} (pipeline, {pipeline.device})"
        self._pipeline = pipeline
        self._columns = text_columns
        self._batch_size = batch_size
        length = pipeline.tokenizer.model_max_length
        self._options: dict[str, Any] = {"truncation": True} if length < _NO_LENGTH else {}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the model's weights and settings, and of the tokenizer's settings."""
        model, tokenizer = self._pipeline.model, self._pipeline.tokenizer
        digest = hashlib.sha256(model.config.to_json_string().encode())
        backend = getattr(tokenizer, "backend_tokenizer", None)
        digest.update((repr(tokenizer) if backend is None else backend.to_str()).encode())
        for name, weight in model.state_dict().items():
            digest.update(name.encode())
            # Through float32, for NumPy has no bfloat16; that loses nothing.
            digest.update(np.ascontiguousarray(weight.detach().cpu().float().numpy()).tobytes())
        return digest.hexdigest()

    def _score_batch(self, batch: pa.Table) -> Scores:
        n, what = batch.num_rows, "the pipeline"
        if batch.num_columns > 2:
            raise InputError(
                f"a pipeline takes one text or two, not {', '.join(batch.column_names)}"
            )
        columns = [column.to_pylist() for column in batch.columns]
        keys = ("text", "text_pair")[: len(columns)]
        texts = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
        answers = self._pipeline(
            texts, top_k=None, function_to_apply="none", batch_size=n, **self._options
        )
        logits = np.full((n, len(self._own)), np.nan, dtype=np.float32)
        if len(answers) != n:
            raise InputError(f"{what} returned {len(answers):,} answers for {n:,} inputs")
        place_of = {name: place for place, name in enumerate(self._own)}
        for row, answer in enumerate(answers):
            for each in answer:
                logits[row, place_of[each["label"]]] = each["score"]
        return Scores.from_logits(logits)
