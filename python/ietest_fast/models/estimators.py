"""Unfitted estimators of scikit-learn's kind as a family of models: cloned, fitted, asked."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import inspect
import json
import math
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.classifiers import (
    AnswerCache,
    Inputs,
    Scores,
    Unparsed,
    rename_labels,
    select_columns,
)
from ietest_fast.models.foreign import (
    Estimator,
    Function,
    HubPipeline,
    describe_code,
    name_backend,
    present,
)
from ietest_fast.models.ngrams import is_ngram_folder
from ietest_fast.models.protocol import Capabilities, EncodedRows, EncodedSplit
from ietest_fast.models.tokens import pool_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.models.classifiers import TextClassifier
    from ietest_fast.models.protocol import Params, RowStore, SearchSpace, SplitTexts

# Parameters that say how something is done, not what.
_WITHOUT_EFFECT = frozenset({"verbose", "n_jobs", "memory"})


@dataclass(frozen=True, kw_only=True, eq=False)
class RawTextRows:
    """Inputs as they are: distinct texts, and which of them make a row."""

    values: NDArray[np.uint8]
    """uint8: the UTF-8 bytes of all distinct texts."""
    offsets: NDArray[np.int64]
    """int64, shape (texts + 1,): where each begins."""
    codes: NDArray[np.int64]
    """int64, shape (columns, rows): the texts of each row."""
    columns: tuple[str, ...]
    """Names of the columns."""

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give the arrays that :meth:`EstimatorModel.load_store` takes back."""
        names = np.frombuffer(json.dumps(self.columns).encode(), dtype=np.uint8)
        return {
            "values": self.values,
            "offsets": self.offsets,
            "codes": self.codes,
            "columns": names,
        }

    def table(self, rows: NDArray[np.int64]) -> pa.Table:
        """Return some rows as a table of texts."""
        import pyarrow as pa

        texts = pa.LargeStringArray.from_buffers(
            len(self.offsets) - 1, pa.py_buffer(self.offsets), pa.py_buffer(self.values)
        )
        return pa.table(
            {
                name: texts.take(pa.array(codes[rows]))
                for name, codes in zip(self.columns, self.codes, strict=True)
            }
        )


class EstimatorModel:
    """An unfitted estimator over texts: every resample gets a clone of it, fitted anew.

    It is fitted on texts and labels 0, 1, ... in the order of the data's names of labels. Where it
    has parameters called ``random_state`` that are None, each training sets them to its seed.
    Nothing is written to a run's folder but the texts, so no pickle is ever read from one.
    """

    def __init__(self, estimator: Any, *, inputs: Inputs | None = None) -> None:
        kind = type(estimator).__name__
        missing = [
            name
            for name in ("get_params", "set_params", "fit", "predict")
            if not callable(getattr(estimator, name, None))
        ]
        if missing or isinstance(estimator, type):
            raise InputError(
                f"{kind} is no estimator: it lacks {', '.join(missing) or 'an instance'}"
            )
        self._estimator = estimator
        self._inputs: Inputs | None = inputs
        steps = getattr(estimator, "steps", None)
        self.name = type(steps[-1][1]).__name__ if steps else kind
        self.backend = name_backend(estimator)
        self.options: dict[str, str | int | float | bool] = {
            "class": _path_of(type(estimator)),
            "inputs": "texts" if inputs is None else inputs,
            **describe_parameters(estimator),
        }
        # Sums of matrix products depend on the number of threads.
        self.capabilities = Capabilities(depends_on_threads=True)

    @property
    def search_space(self) -> SearchSpace:
        """Nothing is searched; an estimator may search by itself."""
        return {}

    @property
    def presets(self) -> Mapping[str, Params]:
        """None."""
        return {}

    def check_params(self, params: Mapping[str, Any]) -> list[str]:
        """Say which parameters the estimator does not have, and which a run cannot record."""
        known = self._estimator.get_params(deep=True)
        problems = []
        for name, value in params.items():
            if name not in known:
                problems.append(f"{name}: unknown; see get_params()")
            elif not _is_json(value):
                problems.append(
                    f"{name}: {value!r} cannot be recorded; expected finite numbers, texts, truth "
                    "values, None, or lists of these. Set it on the estimator itself"
                )
        return problems

    def encode(
        self, splits: Mapping[str, SplitTexts], text_columns: Sequence[str]
    ) -> dict[str, EncodedSplit]:
        """Keep each distinct text once, and each distinct input as a choice among them."""
        if len(text_columns) > 1 and self._inputs in {None, "texts"}:
            raise InputError(
                f"the estimator gets one text, and there are the columns {', '.join(text_columns)}:"
                " say inputs='joined' (by a blank), 'pairs' or 'frame'"
            )
        texts, pooled = pool_texts(
            {name: split.versions for name, split in splits.items()}, text_columns
        )
        _, offsets, values = texts.buffers()
        lengths = np.frombuffer(offsets, np.int64, len(texts) + 1, texts.offset * 8)
        raw = np.frombuffer(values or b"", np.uint8)[lengths[0] : lengths[-1]]
        starts = lengths - lengths[0]
        return {
            name: EncodedSplit(
                store=RawTextRows(
                    values=raw,
                    offsets=starts,
                    codes=pooled[name].codes,
                    columns=tuple(text_columns),
                ),
                versions=pooled[name].versions,
                labels=split.labels,
            )
            for name, split in splits.items()
        }

    def load_store(self, arrays: Mapping[str, NDArray[Any]]) -> RawTextRows:
        """Make a store again from its arrays."""
        columns = tuple(json.loads(arrays["columns"].tobytes()))
        return RawTextRows(**{**arrays, "columns": columns})  # type: ignore[arg-type]

    def fit(
        self,
        train: EncodedRows,
        valid: EncodedRows | None,  # noqa: ARG002 - the protocol's
        *,
        params: Params,
        n_classes: int,
        seed: int,
        n_threads: int = 1,
    ) -> FittedEstimator:
        """Fit a clone; the validation set is not used."""
        from threadpoolctl import threadpool_limits

        estimator = _clone(self._estimator).set_params(**params)
        unset = {
            name: seed
            for name, value in estimator.get_params(deep=True).items()
            if name.rpartition("__")[2] == "random_state" and value is None
        }
        estimator.set_params(**unset)
        with threadpool_limits(limits=n_threads):
            estimator.fit(_texts(train.store, train.rows, self._inputs), train.labels)
        return FittedEstimator(
            estimator=estimator, inputs=self._inputs, n_classes=n_classes, n_threads=n_threads
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedEstimator:
    """An estimator that has been fitted on labels 0 ... n_classes - 1."""

    estimator: Any
    inputs: Inputs | None
    n_classes: int
    n_threads: int

    def predict(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """Predict the labels of some rows of a store, shape (len(rows),)."""
        labels: NDArray[np.int8] = np.asarray(self._ask("predict", store, rows), dtype=np.int8)
        return labels

    def predict_proba(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Predict class probabilities, float32, shape (len(rows), n_classes).

        An estimator without probabilities gives 1 to the label that it predicts.
        """
        found = np.zeros((len(rows), self.n_classes), dtype=np.float32)
        if hasattr(self.estimator, "predict_proba"):
            classes = np.asarray(self.estimator.classes_, dtype=np.int64)
            found[:, classes] = self._ask("predict_proba", store, rows)
        else:
            found[np.arange(len(rows)), self.predict(store, rows)] = 1
        return found

    def _ask(self, method: str, store: RowStore, rows: NDArray[np.int64]) -> NDArray[Any]:
        from threadpoolctl import threadpool_limits

        distinct, places = np.unique(rows, return_inverse=True)
        with threadpool_limits(limits=self.n_threads):
            answers = getattr(self.estimator, method)(_texts(store, distinct, self.inputs))
        return np.asarray(answers)[places]


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value.item() if isinstance(value, np.generic) else value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _texts(store: RowStore, rows: NDArray[np.int64], inputs: Inputs | None) -> Any:
    assert isinstance(store, RawTextRows)  # noqa: S101 - its own
    return present(store.table(np.asarray(rows)), inputs or "texts")


def _clone(estimator: Any) -> Any:
    """Return the estimator as it was before it was fitted."""
    try:
        from sklearn.base import clone
    except ModuleNotFoundError:  # it comes from elsewhere, and only looks like scikit-learn's
        return copy.deepcopy(estimator)
    return clone(estimator, safe=False)


def describe_parameters(estimator: Any) -> dict[str, str | int | float | bool]:
    """Write down the parameters of an estimator, those of its parts included, ready for JSON.

    Numbers, texts and truth values stand as they are; functions by name and what they do, other
    objects by class and a hash of what is in them. What only says how something is done
    (``n_jobs``, ``verbose``, ``memory``) is left out.
    """
    return {
        name: _describe(value, name)
        for name, value in sorted(estimator.get_params(deep=True).items())
        if name.rpartition("__")[2] not in _WITHOUT_EFFECT
    }


def _describe(  # noqa: PLR0911 - kinds
    value: Any, name: str, within: tuple[Any, ...] = ()
) -> str | int | float | bool:
    """Describe a value, which functions may hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if value is None:
        return "None"
    if isinstance(value, list | tuple):
        return f"[{', '.join(str(_describe(each, name, within)) for each in value)}]"
    if isinstance(value, dict):
        pairs = (f"{key!r}: {_describe(each, name, within)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, type):
        return _path_of(value)
    if callable(getattr(value, "get_params", None)) and not within:
        return _path_of(type(value))  # its parameters have lines of their own
    if inspect.ismodule(value):
        return value.__name__
    if inspect.isroutine(value):
        return f"{_path_of(value)}@{_hash_function(value, name, within)}"
    try:
        content = pickle.dumps(value, protocol=5)
    except Exception as error:  # anything may be inside, with any reason not to be pickled
        raise InputError(
            f"the parameter {name!r} is a {type(value).__name__} that cannot be pickled, so that "
            f"nothing tells it from another ({type(error).__name__}: {error})"
        ) from error
    return f"{_path_of(type(value))}@{hashlib.sha256(content).hexdigest()[:16]}"


def _hash_function(function: Any, name: str, within: tuple[Any, ...]) -> str:
    """Hash what a function does: its code, its defaults, and the values that it holds.

    It holds what it closes over and, if it is a method, its object.
    """
    for levels, each in enumerate(reversed(within), start=1):
        if each is function:  # a recursive function closes over itself
            return f"{levels} up"
    within = (*within, function)
    held = [getattr(function, "__self__", None)]
    parts = []
    code = getattr(function, "__code__", None)
    if code is not None:
        with contextlib.suppress(OSError, TypeError):
            parts.append(inspect.getsource(function))
        # Of two lambdas on one line the source is the same.
        parts += describe_code(code)
        held += function.__defaults__ or ()
        held += sorted((function.__kwdefaults__ or {}).items())
        held += [_content_of(cell) for cell in function.__closure__ or ()]
    parts += [str(_describe(each, name, within)) for each in held]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _content_of(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing is in it yet
        return None


def _path_of(thing: Any) -> str:
    module = getattr(thing, "__module__", None)
    name = getattr(thing, "__qualname__", type(thing).__qualname__)
    return f"{module}.{name}" if module else str(name)


# Make a finished classifier of whatever can classify texts.


# Files that the weights of a checkpoint are in.
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")


def as_classifier(
    model: object,
    *,
    labels: Sequence[str] | None = None,
    data_labels: Sequence[str] | None = None,
    text_columns: Sequence[str] | None = None,
    inputs: Inputs | None = None,
    batch_size: int | None = None,
    threshold: float | None = None,
    cache: str | Path | AnswerCache | None = None,
    unparsed: Unparsed = "error",
    name: str | None = None,
) -> TextClassifier:
    """Make a finished classifier of whatever can classify texts.

    Parameters
    ----------
    model
        One of

        - a folder with an ONNX model, or an ``.onnx`` file with its tokenizer beside it;
        - a folder with a checkpoint of transformers, or a hub's name;
        - a folder of a classifier ``ngram-linear`` that a run has kept;
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
        Inputs of a call; None for 32 (1,024 for a scikit-learn model).
    threshold
        Of a checkpoint, an ONNX model or a pipeline with one logit: the probability (the logit's
        sigmoid) from which its answer is the second of its two labels; 0.5 where None.
    cache
        Keeps the answers of a function: a file (``"answers.jsonl"``), to which every answer is
        written as soon as it is there, or the attribute ``answers`` of an exception. What is in it
        is not asked again. None: answers are kept in memory as long as the classifier.
    unparsed
        What a function's answer that is no label stands for (None, NaN, "", another text):
        ``"error"``, which is raised as soon as the answer is there; or -1 in ``Scores.predicted``,
        for whoever takes the scores to count as ``"wrong"`` or to ``"drop"``.
    name
        What a function is called, for its fingerprint; None for its own name.

    Raises
    ------
    InputError
        If `model` is none of these, does not choose one label, or its labels are not known.

    Notes
    -----
    The fingerprint of a function is made of its name and source. What else it depends on (weights
    in a closure, a server's model) is unknown here: say it in `name`.
    """
    if inputs is not None:
        _check_choice("inputs", inputs, get_args(Inputs))
    if batch_size is not None and batch_size < 1:
        raise InputError(f"batch_size must be 1 or more, not {batch_size}")
    _check_choice("unparsed", unparsed, get_args(Unparsed))
    if not is_function(model):
        _refuse_of_function(cache, unparsed)
    given = _check_labels(labels)
    columns = None if text_columns is None else tuple(text_columns)
    if isinstance(model, str | Path):
        return _rename(_load(model, threshold), given, columns)
    if isinstance(model, type):
        raise InputError(f"{model.__name__} is a class; a classifier is an instance of one")
    if all(hasattr(model, each) for each in ("score", "labels", "backend", "fingerprint")):
        _refuse_threshold(threshold)
        return _rename(cast("TextClassifier", model), given, columns)
    if _is_pipeline(model):
        return HubPipeline(
            model,
            labels=given,
            text_columns=columns,
            batch_size=batch_size or 32,
            threshold=threshold,
        )
    _refuse_threshold(threshold)
    if callable(getattr(model, "predict", None)):
        return Estimator(
            model,
            labels=given,
            text_columns=columns,
            inputs=inputs,
            batch_size=batch_size or 1024,
        )
    if callable(model):
        kept = _open_cache(cache)
        return Function(
            cast("Callable[[Any], Any]", model),
            labels=given,
            data_labels=_check_labels(data_labels),
            text_columns=columns,
            inputs=inputs,
            batch_size=batch_size or 32,
            cache=kept,
            unparsed=unparsed,
            name=name,
        )
    raise InputError(
        f"a {type(model).__name__} is no classifier; expected a folder, an .onnx file, a hub's "
        "name, a transformers pipeline, a scikit-learn classifier, or a function of a list of "
        "texts"
    )


def _check_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{name} is one of {', '.join(map(repr, known))}, not {value!r}")


def _open_cache(cache: str | Path | AnswerCache | None) -> AnswerCache | None:
    if not isinstance(cache, AnswerCache | str | Path | None):
        raise InputError(
            f"cache is of type {type(cache).__name__}; expected a file such as "
            "'answers.jsonl', or the attribute `answers` of an exception"
        )
    return AnswerCache(cache) if isinstance(cache, str | Path) else cache


def _check_labels(labels: Sequence[str] | None) -> tuple[str, ...] | None:
    if labels is None:
        return None
    names = tuple(map(str, labels))
    if isinstance(labels, str) or len(names) < 2 or len(set(names)) < len(names):
        raise InputError(f"labels must be at least two different names, not {labels!r}")
    return names


def is_function(model: object) -> bool:
    """Say whether a classifier is a mere function, which names no labels."""
    return callable(model) and not (
        isinstance(model, type)
        or callable(getattr(model, "predict", None))
        or hasattr(model, "fingerprint")
        or _is_pipeline(model)
    )


def _is_pipeline(model: object) -> bool:
    return any(each.__name__ == "TextClassificationPipeline" for each in type(model).__mro__)


def _refuse_of_function(cache: object, unparsed: Unparsed) -> None:
    """Refuse options of a function for a classifier that is none."""
    if cache is not None or unparsed != "error":
        raise InputError(
            f"{'cache' if cache is not None else 'unparsed'} is for a function; this classifier "
            "gives a label for every text, as often as it is asked: leave it out"
        )


def _refuse_threshold(threshold: float | None) -> None:
    if threshold is not None:
        raise InputError(
            "a threshold is for a checkpoint, an ONNX model or a pipeline with one logit; this "
            "classifier gives labels or probabilities itself: leave the threshold out"
        )


def _load(place: str | Path, threshold: float | None) -> TextClassifier:
    path = Path(place).expanduser()
    # Before torch is asked for: a hub's name is neither of these.
    if not path.exists() and (isinstance(place, Path) or place.startswith((".", "/", "~"))):
        raise InputError("no such folder or file", path=place)
    if is_ngram_folder(path):
        from ietest_fast.models.ngrams import NgramTextClassifier

        _refuse_threshold(threshold)
        return NgramTextClassifier(path)
    is_checkpoint = path.is_dir() and any(any(path.glob(kind)) for kind in _WEIGHTS)
    if path.is_file() or (path.is_dir() and (any(path.glob("*.onnx")) or not is_checkpoint)):
        from ietest_fast.models.onnx_models.classifier import OnnxClassifier

        return OnnxClassifier.load(path, threshold=threshold)
    from ietest_fast.models.checkpoint import CheckpointClassifier

    return CheckpointClassifier(str(place), threshold=threshold)


def _rename(
    model: TextClassifier, labels: tuple[str, ...] | None, columns: tuple[str, ...] | None
) -> TextClassifier:
    return model if labels is None and columns is None else _Renamed(model, labels, columns)


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
