"""The protocol of finished classifiers of texts, and their answers."""

from __future__ import annotations

import contextlib
import json
import math
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from ietest_fast.errors import IetestWarning, InputError, ResourceError
from ietest_fast.files import check_file, open_file
from ietest_fast.models.tokens import Ragged
from ietest_fast.values import show_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.models.protocol import RowStore
    from ietest_fast.models.tokens import TextTokenizer, TokenStore

# What finished classifiers that take tokens have in common: tokenising ahead of the model.


# Inputs that are tokenised together while those before them are run.
_WINDOW = 4096


class TokenClassifier(ABC):
    """A finished classifier that takes tokens."""

    head: Head
    """What its outputs stand for."""
    tokenizer: TextTokenizer
    """Its tokenizer."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of its labels, in the order of its outputs."""
        return self.head.labels

    @abstractmethod
    def predict_logits(
        self,
        store: TokenStore,
        rows: NDArray[np.int64],
        *,
        on_batch: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """Compute the class scores of some rows, float32, shape (len(rows), outputs)."""

    def score(self, inputs: pa.Table, *, on_batch: Callable[[int], None] | None = None) -> Scores:
        """Classify inputs.

        Inputs are sorted by their length in bytes, the longest first, and tokenised in the
        background a few thousand ahead of the model, each distinct text once.
        """
        texts, codes = _find_texts(inputs)
        logits = np.empty((inputs.num_rows, self.head.n_outputs), dtype=np.float32)
        n_tokens = 0
        for places, store in _tokenised_ahead(texts, codes, self.tokenizer):
            rows = np.arange(len(store), dtype=np.int64)
            logits[places] = self.predict_logits(store, rows, on_batch=on_batch)
            n_tokens += int(store.offsets[-1])
        return self.head.score(logits, n_tokens=n_tokens)


def _find_texts(inputs: pa.Table) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return the distinct texts, and which of them stands where, shape (columns, n)."""
    import pyarrow as pa

    columns = [column.cast(pa.large_string()).combine_chunks() for column in inputs.columns]
    pooled = pa.concat_arrays(columns).dictionary_encode()
    codes = np.asarray(pooled.indices, dtype=np.int64)
    return pooled.dictionary, codes.reshape(len(columns), inputs.num_rows)


def _windows(texts: pa.Array, codes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the inputs in the order in which they are run, some thousands at a time."""
    import pyarrow.compute as pc

    n_bytes = np.asarray(pc.binary_length(texts), dtype=np.int64)
    order = np.argsort(-n_bytes[codes].sum(axis=0), kind="stable")
    return [order[begin : begin + _WINDOW] for begin in range(0, len(order), _WINDOW)]


def _tokenised_ahead(
    texts: pa.Array, codes: NDArray[np.int64], tokenizer: TextTokenizer
) -> Iterator[tuple[NDArray[np.int64], TokenStore]]:
    """Yield the inputs' places and tokens, one window being made while the one before is used."""
    import pyarrow as pa

    tokens: dict[int, NDArray[Any]] = {}

    def prepare(places: NDArray[np.int64]) -> TokenStore:
        chosen = codes[:, places]
        needed, local = np.unique(chosen, return_inverse=True)
        fresh = [code for code in needed.tolist() if code not in tokens]
        # A window may have no text of its own; an empty list would have no type to take by.
        made = tokenizer.tokenise(texts.take(pa.array(fresh, pa.int64())).to_pylist())
        for place, code in enumerate(fresh):
            tokens[code] = made.values[made.offsets[place] : made.offsets[place + 1]]
        here = Ragged.of([tokens[code] for code in needed.tolist()])
        return tokenizer.join([here] * len(chosen), list(local.reshape(chosen.shape)))

    windows = _windows(texts, codes)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="tokenise") as background:
        ahead = [background.submit(prepare, window) for window in windows[:1]]
        for place, window in enumerate(windows):
            store = ahead.pop().result()
            ahead.extend(
                background.submit(prepare, each) for each in windows[place + 1 : place + 2]
            )
            yield window, store


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
:func:`~ietest_fast.models.estimators.as_classifier`."""


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
        n_wrong = int((~np.isfinite(logits).all(axis=1)).sum())
        if n_wrong:
            raise InputError(
                f"the model's scores of {n_wrong:,} of {len(logits):,} inputs are no numbers; are "
                "its weights whole, and its precision enough?"
            )
        return Scores(
            predicted=self.choose(logits),
            probabilities=softmax(logits) if self.threshold is None else sigmoid(logits),
            logits=logits,
            n_tokens=n_tokens,
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


# Asking a function, a batch at a time, and remembering every answer.


Input = tuple[str, ...]
"""The texts of one input, a text for each column."""

Answer = str | int | list[float] | None
"""A label by name or number, probabilities, or nothing."""

_FORMAT = "ietest-fast answers 1"
_BEGIN = f'{{"format": "{_FORMAT}"'.encode()


class AnswerCache:
    """The answers of one function, by input."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path).expanduser()
        self._answers: dict[Input, Answer] = {}
        self._head: dict[str, Any] | None = None
        if self.path is not None and self.path.exists():
            self._read(self.path)
        elif self.path is not None and not self.path.parent.is_dir():
            raise InputError("there is no such folder", path=self.path.parent)

    def __len__(self) -> int:
        return len(self._answers)

    def __contains__(self, asked: object) -> bool:
        return asked in self._answers

    def __getitem__(self, asked: Input) -> Answer:
        return self._answers[asked]

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else str(self.path)
        return f"AnswerCache({len(self):,} answers, {where})"

    def items(self) -> Iterator[tuple[Input, Answer]]:
        """Yield inputs with their answers, in the order in which they were given."""
        yield from self._answers.items()

    def belong_to(self, name: str, source: str, labels: Sequence[str] | None) -> None:
        """Say whose answers these are; refuse a function of another name, or other labels."""
        head = {
            "format": _FORMAT,
            "function": name,
            "source": source,
            "labels": None if labels is None else list(labels),
        }
        known = self._head
        if known is None:
            self._head = head
            self._write([head])
            return
        where = self.path if self.path is not None else None
        for key, what in (("function", "the function"), ("labels", "a function with the labels")):
            if known[key] != head[key]:
                raise InputError(
                    f"cache holds answers of {what} {show_object(known[key])}, and this one is "
                    f"{show_object(head[key])}: name another file",
                    path=where,
                )
        if known["source"] != source and len(self):
            warnings.warn(
                f"the function {name} is no longer the one that gave the {len(self):,} answers "
                f"{'kept' if where is None else f'in {where}'}; they are used as they are. Leave "
                "the cache out, or name another file, to ask anew.",
                IetestWarning,
                stacklevel=2,
            )

    def keep(self, asked: Sequence[Input], answers: Sequence[Answer]) -> None:
        """Remember answers; in the file, if there is one, before this returns."""
        pairs = list(zip(asked, answers, strict=True))
        # Who could not use an answer has asked again; any other second answer is a contradiction.
        self._write(
            {"input": texts, "answer": answer} | ({"again": True} if texts in self else {})
            for texts, answer in pairs
        )
        self._answers.update(pairs)

    def _write(self, records: Iterable[Mapping[str, Any]]) -> None:
        if self.path is None:
            return
        lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)
        try:
            if self.path.exists():
                check_file(self.path)
            # One write of whole lines, past all buffers of this process.
            with self.path.open("ab", buffering=0) as file:
                file.write(lines.encode("utf-8", errors="surrogatepass"))
        except OSError as error:
            raise ResourceError(f"{self.path}: cannot be written: {error.strerror}") from error

    def _read(self, path: Path) -> None:
        n_whole, line = 0, b""
        with open_file(path) as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    break
                n_whole += len(line)
                self._take(line, number, path)
        if line.endswith(b"\n") or not line:
            return
        # What a kill has left of a line; a file that is none of these stays as it is.
        if n_whole == 0 and not line.startswith(_BEGIN) and not _BEGIN.startswith(line):
            raise InputError("is no file of answers (cache=)", path=path)
        try:
            os.truncate(path, n_whole)
        except OSError as error:
            raise ResourceError(f"{path}: cannot be written: {error.strerror}") from error

    def _take(self, line: bytes, number: int, path: Path) -> None:
        try:
            record = json.loads(line.decode("utf-8", errors="surrogatepass"))
            if number == 1 or "format" in record:  # two processes may have begun the file
                if record["format"] != _FORMAT:
                    raise ValueError(record["format"])
                head = {key: record[key] for key in ("function", "source", "labels")}
                if number > 1 and head != self._head:
                    raise ValueError(head)
                self._head = head
                return
            texts, answer = record["input"], record["answer"]
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise TypeError(texts)
            found, key = read_answer(answer), tuple(texts)
            is_other = key in self and self[key] != found and record.get("again") is not True
            self._answers[key] = found
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise InputError(
                "is no file of answers (cache=), or is damaged", path=path, row=f"line {number}"
            ) from error
        if is_other:
            raise InputError(
                f"has another answer to {show_object(texts)} than a line before; a file of answers "
                "is for one process at a time: remove one of the lines, or name another file",
                path=path,
                row=f"line {number}",
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class CachedFunction:
    """A function that is asked only for the answers that are not known yet."""

    function: Callable[[Any], Any]
    name: str
    present: Callable[[Sequence[Input]], Any]
    labels: tuple[str, ...]
    batch_size: int
    cache: AnswerCache
    find_fault: Callable[[Answer], str | None]
    find_refusal: Callable[[Answer], str | None]

    def ask(
        self, inputs: Sequence[Input], *, on_batch: Callable[[int], None] | None = None
    ) -> list[Answer]:
        """Return the answer to each input; each distinct one is asked once."""
        distinct = list(dict.fromkeys(inputs))
        unknown = [each for each in distinct if not self._knows(each)]
        if on_batch is not None and len(unknown) < len(inputs):
            on_batch(len(inputs) - len(unknown))
        for begin in range(0, len(unknown), self.batch_size):
            batch = unknown[begin : begin + self.batch_size]
            try:
                self._ask_batch(batch, begin)
            except BaseException as error:  # an interruption from the keyboard, too
                self.tell(error)
                raise
            if on_batch is not None:
                on_batch(len(batch))
        return [self.cache[each] for each in inputs]

    def tell(self, error: BaseException) -> None:
        """Add the answers so far to an exception, and how to go on."""
        with contextlib.suppress(AttributeError):  # of a class with slots
            error.answers = self.cache  # type: ignore[attr-defined]
        if len(self.cache):
            way = (
                "pass cache=error.answers (cache='answers.jsonl' keeps them in a file)"
                if self.cache.path is None
                else "repeat the call with the same cache"
            )
            error.add_note(
                f"{len(self.cache):,} answers are kept; to go on without asking for them again, "
                f"{way}."
            )

    def _knows(self, asked: Input) -> bool:
        return asked in self.cache and self.find_refusal(self.cache[asked]) is None

    def _ask_batch(self, batch: Sequence[Input], begin: int) -> None:
        """Ask a batch, and keep its answers."""
        returned = read_batch(
            self.function(self.present(batch)), len(batch), self.name, self.labels
        )
        if isinstance(returned, list):
            if len(returned) != len(batch):
                raise InputError(
                    f"{self.name} returned {len(returned):,} answers for {len(batch):,} inputs; "
                    "expected one for each, in their order"
                )
            self._keep(batch, returned, begin)
            return
        # What a generator has yielded is kept one by one, for the next may fail.
        for place, asked in enumerate(batch):
            answer = next(returned, self)
            if answer is self:
                raise InputError(f"{self.name} yielded {place:,} answers for {len(batch):,} inputs")
            self._keep([asked], [answer], begin + place)
        if next(returned, self) is not self:
            raise InputError(f"{self.name} yielded more answers than the {len(batch):,} inputs")

    def _keep(self, batch: Sequence[Input], returned: Sequence[Any], begin: int) -> None:
        """Keep the answers among what was returned, and then refuse what is none."""
        asked, answers, problems = [], [], []
        for place, (own, value) in enumerate(zip(batch, returned, strict=True)):
            try:
                answer = read_answer(value)
                fault = self.find_fault(answer)
            except (TypeError, ValueError, OverflowError) as error:
                fault = f": {error}" if str(error) else ""
            if fault is None:
                asked.append(own)
                answers.append(answer)
                fault = self.find_refusal(answer)
            if fault is not None:
                what = f"{self.name} returned {show_object(value)} for input {begin + place}"
                problems.append(f"{what}{fault}")
        if asked:
            self.cache.keep(asked, answers)
        if problems:
            raise InputError(problems[0])


def read_answer(answer: Any) -> Answer:  # noqa: PLR0911 - one line for each kind
    """Return an answer as plain text, number or list of numbers; None for nothing, as NaN is."""
    if isinstance(answer, str):
        return str(answer.value if isinstance(answer, Enum) else answer)
    if isinstance(answer, Enum):
        raise TypeError(f"return its .name ({answer.name!r}) or its .value")
    answer = _as_python(answer)
    if answer is None or type(answer).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(answer, str):
        return answer
    if isinstance(answer, bytes):
        return answer.decode()
    if isinstance(answer, bool):
        raise TypeError("return the name of a label")
    if isinstance(answer, int):
        return answer
    if isinstance(answer, float):
        return _read_index(answer)
    if isinstance(answer, list | tuple | np.ndarray):
        return _read_shares(answer)
    if isinstance(answer, Mapping) and "label" in answer:
        raise TypeError("return the label alone, which is under the key 'label'")
    raise TypeError(
        f"which is of type {type(answer).__name__}; return a label's name or index, or a list of "
        "probabilities"
    )


def _as_python(answer: Any) -> Any:
    """Return what a scalar or a tensor of Arrow, torch or NumPy holds."""
    if hasattr(answer, "as_py"):
        answer = answer.as_py()
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu().float().numpy() if answer.ndim else answer.item()
    if isinstance(answer, np.ndarray) and answer.ndim == 0:
        answer = answer.item()
    return answer.item() if isinstance(answer, np.generic) else answer


def _read_index(number: float) -> int | None:
    if math.isnan(number):
        return None
    if number.is_integer():  # as pandas makes of integers beside missing ones
        return int(number)
    raise TypeError("a number is the index of a label, and whole")


def _read_shares(answer: Iterable[Any]) -> list[float] | None:
    """Return probabilities as plain numbers; None if all are NaN."""
    if any(isinstance(each, Mapping) and "label" in each for each in answer):
        raise TypeError("a list of labels with scores: return the best one's label alone")
    numbers = [each.item() if hasattr(each, "item") else each for each in answer]
    if not numbers or not all(
        isinstance(each, int | float) and not isinstance(each, bool) for each in numbers
    ):
        raise TypeError("a list is one of probabilities")
    try:
        shares = list(map(float, numbers))
    except OverflowError:
        raise TypeError("a list is one of probabilities") from None
    return None if all(map(math.isnan, shares)) else shares


def read_batch(
    returned: Any, n: int, name: str, labels: Sequence[str]
) -> list[Any] | Iterator[Any]:
    """Return what a function has returned for n inputs as a list, or as what it yields."""
    kind = type(returned).__name__
    if hasattr(returned, "__await__"):
        returned.close() if hasattr(returned, "close") else None
        raise InputError(
            f"{name} is asynchronous: it returned a {kind}. Pass a function that waits for it, "
            "such as lambda texts: asyncio.run(ask(texts))"
        )
    if isinstance(returned, str | bytes | dict | set | frozenset) or not hasattr(
        returned, "__iter__"
    ):
        raise InputError(
            f"{name} returned {show_object(returned)} (of the type {kind}) for {n:,} inputs; "
            "expected a list of answers in the order of the inputs"
        )
    _check_index(returned, n, name)
    if hasattr(returned, "columns") and hasattr(returned, "to_numpy"):  # pandas, polars
        returned = _order_columns(returned, name, labels).to_numpy()
    elif hasattr(returned, "to_pylist"):  # Arrow
        returned = returned.to_pylist()
    elif hasattr(returned, "to_list"):  # pandas, polars
        returned = returned.to_list()
    elif hasattr(returned, "detach"):  # torch
        returned = returned.detach().cpu()
        returned = (returned.float() if returned.is_floating_point() else returned).numpy()
    if isinstance(returned, np.ndarray):
        _check_array(returned, n, name, labels)
        return list(returned.tolist())
    if hasattr(returned, "__next__"):
        stream: Iterator[Any] = iter(returned)
        return stream
    return list(returned)


def _order_columns(frame: Any, name: str, labels: Sequence[str]) -> Any:
    """Put the columns of a frame, one for each label, into the labels' order."""
    names = [str(each) for each in frame.columns]
    if sorted(names) == sorted(labels):
        return frame[[frame.columns[names.index(label)] for label in labels]]
    if names != [str(i) for i in range(len(names))]:
        raise InputError(
            f"{name} returned a frame with the columns {', '.join(names)}; expected a column "
            f"of probabilities for each label: {', '.join(labels)}"
        )
    return frame


def _check_index(returned: Any, n: int, name: str) -> None:
    """Refuse a pandas object whose index says that its rows are not in the order of the inputs."""
    library = type(returned).__module__.partition(".")[0]
    if library != "pandas" or not hasattr(returned, "index"):  # a Categorical has none
        return
    numbers = list(returned.index)
    if numbers != list(range(n)) and len(numbers) == n and set(numbers) == set(range(n)):
        raise InputError(
            f"{name} returned rows in another order than that of the inputs: its index is "
            f"{show_object(numbers[:5])}; sort it (sort_index)"
        )


def _check_array(array: Any, n: int, name: str, labels: Sequence[str]) -> None:
    kind, shape = array.dtype.kind, array.shape
    is_labels = array.ndim == 1 and kind in "USOTiu"
    is_scores = array.ndim == 2 and kind in "iufO"
    if not is_labels and not is_scores:
        raise InputError(
            f"{name} returned an array of {array.dtype} and shape {shape}; expected labels, shape "
            "(n,), or probabilities, shape (n, labels)"
        )
    if is_scores and shape != (n, len(labels)):
        raise InputError(
            f"{name} returned an array of shape {shape} for {n:,} inputs and {len(labels)} labels; "
            f"expected ({n}, {len(labels)})"
        )
