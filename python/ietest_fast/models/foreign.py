"""Classifiers of other libraries, and functions, as finished classifiers."""

from __future__ import annotations

import dis
import functools
import hashlib
import inspect
import pickle
import tokenize
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.corpus.labels import label_key
from ietest_fast.errors import InputError
from ietest_fast.models.classifiers import (
    AnswerCache,
    CachedFunction,
    Scores,
    rename_labels,
    select_columns,
)
from ietest_fast.models.label_map import NO_LENGTH, read_head
from ietest_fast.values import show_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.models.classifiers import Answer, Input, Inputs, Unparsed

# A row of probabilities may miss 1 by this much: half precision and many labels.
_TOLERANCE = 0.01
_NO_PROBABILITIES = "and probabilities are 0 or more and add up to 1 (apply a softmax to scores)"
# Steps that set what a function has around it, such as the number of its calls.
_STORED = ("STORE_ATTR", "STORE_GLOBAL", "STORE_DEREF")


def name_backend(estimator: Any) -> str:
    """Return the package that an estimator comes from, with its version if that is known."""
    package = type(estimator).__module__.partition(".")[0]
    package = "scikit-learn" if package == "sklearn" else package
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


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
                f"{what} returned {show_object(answer)} for input {i}; expected one of "
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
            f"{what} returned {show_object(probabilities[row].tolist())} for input {row}, "
            f"{_NO_PROBABILITIES}"
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
        table = select_columns(inputs, self._columns)
        parts = []
        for begin in range(0, table.num_rows, self._batch_size):
            batch = table.slice(begin, self._batch_size)
            parts.append(self._score_batch(batch))
            if on_batch is not None:
                on_batch(batch.num_rows)
        return _join(parts, len(self.labels))


class Function:
    """A function from a list of inputs to labels or probabilities.

    What it has answered is remembered: see :mod:`ietest_fast.models.classifiers`.
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        *,
        labels: tuple[str, ...] | None,
        data_labels: tuple[str, ...] | None = None,
        text_columns: tuple[str, ...] | None = None,
        inputs: Inputs | None = None,
        batch_size: int = 32,
        cache: AnswerCache | None = None,
        unparsed: Unparsed = "error",
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
        self._unparsed = unparsed
        own = getattr(function, "__qualname__", type(function).__qualname__)
        self._name = own if name is None else name
        self.cache = AnswerCache() if cache is None else cache
        self.cache.belong_to(self._name, self.fingerprint, labels)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the function's name, of its source or else its code, and of what it holds.

        What it holds are texts and numbers that it is bound to, such as the name of a model. The
        code of a lambda counts too: of two on one line, the source is the same.
        """
        function, held = _unbind(self._function)
        try:
            source = inspect.getsource(function)
        except (OSError, TypeError, SyntaxError, tokenize.TokenError):
            source = ""
        code = getattr(function, "__code__", None)
        if code is not None and (not source or code.co_name == "<lambda>"):
            source = "\n".join([source, *describe_code(code)])
        told = "\n".join([self._name, source, *held])
        return hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()

    def score(self, inputs: pa.Table, *, on_batch: Callable[[int], None] | None = None) -> Scores:
        """Classify inputs; see :class:`~ietest_fast.models.classifiers.TextClassifier`."""
        import pyarrow as pa

        table = select_columns(inputs, self._columns)
        form = self._form or ("texts" if table.num_columns == 1 else "pairs")

        def shape(batch: Sequence[Input]) -> Any:
            columns = [pa.array(texts, pa.string()) for texts in zip(*batch, strict=True)]
            return present(pa.table(columns, table.column_names), form)

        asker = CachedFunction(
            function=self._function,
            name="the function",
            present=shape,
            labels=self.labels,
            batch_size=self._batch_size,
            cache=self.cache,
            find_fault=self._find_fault,
            find_refusal=self._find_refusal,
        )
        rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        answers = asker.ask(rows, on_batch=on_batch)
        try:
            return self._to_scores(answers)
        except InputError as error:
            asker.tell(error)
            raise

    def _find_fault(self, answer: Answer) -> str | None:
        """Say what keeps an answer from being one."""
        if answer is None or isinstance(answer, str):
            return None
        if not self._ordered:
            return (
                ": a number, and which label is which is not known; give labels= in their order, "
                "or return names"
            )
        if isinstance(answer, list):
            return self._find_wrong_share(answer)
        if 0 <= answer < len(self.labels):
            return None
        return f"; expected one of {', '.join(map(str, range(len(self.labels))))}"

    def _find_wrong_share(self, shares: list[float]) -> str | None:
        if len(shares) != len(self.labels):
            return f": {len(shares)} probabilities for {len(self.labels)} labels"
        # NaN compares as false, too.
        if all(share >= 0 for share in shares) and abs(sum(shares) - 1) <= _TOLERANCE:
            return None
        return f", {_NO_PROBABILITIES}"

    def _find_refusal(self, answer: Answer) -> str | None:
        """Say why an answer that is no label cannot be used."""
        if self._unparsed != "error" or not (answer is None or isinstance(answer, str)):
            return None
        if self._find(answer) >= 0:
            return None
        return (
            f"; expected one of {', '.join(map(repr, self.labels))} (unparsed='wrong' counts what "
            "is no label as a wrong answer, unparsed='drop' leaves its item out)"
        )

    @cached_property
    def _places(self) -> dict[str, int]:
        folded = {label_key(name): place for place, name in enumerate(self.labels)}
        return {**folded, **{name: place for place, name in enumerate(self.labels)}}

    def _find(self, answer: str | None) -> int:
        """Return the place of a label's name; -1 for what is none."""
        if answer is None:
            return -1
        place = self._places.get(answer)
        return self._places.get(label_key(answer), -1) if place is None else place

    def _to_scores(self, answers: Sequence[Answer]) -> Scores:
        """Make labels and probabilities of the answers."""
        n, n_labels = len(answers), len(self.labels)
        predicted = np.full(n, -1, dtype=np.int64)
        shares = np.full((n, n_labels), np.nan, dtype=np.float32)
        has_shares = np.zeros(n, dtype=bool)
        for place, answer in enumerate(answers):
            if isinstance(answer, list):
                shares[place] = answer
                has_shares[place] = True
            else:
                predicted[place] = answer if isinstance(answer, int) else self._find(answer)
        if not has_shares.any():
            return Scores(predicted=predicted, probabilities=shares if n == 0 else None)
        if (predicted >= 0).any():
            raise InputError(
                "the function returned probabilities for some inputs and labels for others"
            )
        predicted[has_shares] = shares[has_shares].argmax(axis=1)
        return Scores(predicted=predicted, probabilities=shares)


def _unbind(function: Any) -> tuple[Any, list[str]]:
    """Return what has the source of a function, and the texts and numbers that it is bound to."""
    held: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        held |= {f"{len(held)}": value for value in function.args} | function.keywords
        function = function.func
    owner = getattr(function, "__self__", None)
    if not inspect.isroutine(function):
        owner, function = function, type(function).__call__
    if owner is not None and not inspect.ismodule(owner):
        methods = [
            method
            for kind in type(owner).__mro__
            for name, method in vars(kind).items()
            if name not in {"__init__", "__post_init__", "__setstate__"}
        ]
        stored = _find_names(methods, *_STORED)
        own = {
            name: value
            for kind in reversed(type(owner).__mro__)
            for name, value in vars(kind).items()
            if not (name.startswith("__") and name.endswith("__"))
        }
        # What has a place of its own (__slots__) stands in the class as the door to it.
        own |= {
            name: getattr(owner, name, None)
            for name, value in own.items()
            if inspect.ismemberdescriptor(value)
        }
        own |= getattr(owner, "__dict__", {})
        held |= {f".{name}": value for name, value in own.items() if name not in stored}
    try:
        closed = dict(inspect.getclosurevars(function).nonlocals)
    except (TypeError, ValueError):
        closed = {}
    around = getattr(function, "__globals__", {})
    closed |= {name: around[name] for name in _find_names([function], "LOAD_GLOBAL") & {*around}}
    closed = {name: closed[name] for name in closed.keys() - _find_names([function], *_STORED)}
    held |= {**closed, **(getattr(function, "__kwdefaults__", None) or {})}
    held |= {f"={i}": each for i, each in enumerate(getattr(function, "__defaults__", None) or ())}
    return function, [
        f"{name}={value!r}"
        for name, value in sorted(held.items())
        if isinstance(value, str | int | float | bool)
    ]


def describe_code(code: CodeType) -> list[str]:
    """Write down what a function's code does, that of the functions within it included."""
    parts = [code.co_code.hex(), repr(code.co_names), repr(code.co_varnames)]
    for each in code.co_consts:
        if isinstance(each, CodeType):
            parts += describe_code(each)
        elif isinstance(each, frozenset):  # in another order in another process
            parts += sorted(map(repr, each))
        else:
            parts.append(repr(each))
    return parts


def _find_names(functions: Iterable[Any], *steps: str) -> set[str]:
    """Return names that functions, and those inside of them, use in some steps of their code."""
    waiting = [getattr(inspect.unwrap(each), "__code__", None) for each in functions]
    found = set()
    while waiting:
        code = waiting.pop()
        if code is not None:
            found |= {
                str(step.argval) for step in dis.get_instructions(code) if step.opname in steps
            }
            waiting += [each for each in code.co_consts if inspect.iscode(each)]
    return found


class Estimator(_InBatches):
    """A fitted classifier with scikit-learn's methods.

    Labels are those of ``predict``, which need not be the likeliest by ``predict_proba`` (SVC,
    classifiers with a threshold).
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
        self.backend = name_backend(estimator)
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
    """

    def __init__(
        self,
        pipeline: Any,
        *,
        labels: tuple[str, ...] | None = None,
        text_columns: tuple[str, ...] | None = None,
        batch_size: int = 32,
        threshold: float | None = None,
    ) -> None:
        config = pipeline.model.config
        self._own = tuple(str(config.id2label[i]) for i in range(config.num_labels))
        where = Path("the pipeline's config")
        self._head = read_head(config.to_dict(), len(self._own), where, threshold=threshold)
        self.labels = rename_labels(self._head.labels, labels)
        self.backend = f"transformers {version('transformers')} (pipeline, {pipeline.device})"
        self._pipeline = pipeline
        self._columns = text_columns
        self._batch_size = batch_size
        length = pipeline.tokenizer.model_max_length
        self._options: dict[str, Any] = {"truncation": True} if length < NO_LENGTH else {}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the model's weights and settings, and of the tokenizer's settings."""
        model, tokenizer = self._pipeline.model, self._pipeline.tokenizer
        digest = hashlib.sha256(model.config.to_json_string().encode())
        digest.update("".join(self._head.settings).encode())
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
        texts: list[dict[str, Any]] = [
            dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)
        ]
        for own in texts:
            # Tokenizers take an empty second text for none, unless it stands in a list.
            if own.get("text_pair") == "":
                own |= {name: [text] for name, text in own.items()}
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
        return self._head.score(logits)
