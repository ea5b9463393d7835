"""What a family of models has to offer so that the test can retrain it.

Texts are encoded once per version, into a store of rows (word counts, token ids); a resample is
then a choice of rows. Nothing is encoded twice, and a resample is never new text.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

import numpy as np

from ietest_fast.errors import IetestError, InputError
from ietest_fast.registry import Registry, check_options, lacks_methods
from ietest_fast.values import as_finite

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray


Params = dict[str, float | int | str]

# What trainers written in C take.
_LARGEST = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class IntegerRange:
    """Integers from `low` to `high`, both included; multiples of `step` above `low`."""

    low: int
    high: int
    step: int = 1


@dataclass(frozen=True, kw_only=True)
class FloatRange:
    """Numbers from `low` to `high`, both included; multiples of `step` above `low` if given."""

    low: float
    high: float
    step: float | None = None


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One of some values."""

    values: tuple[str | int | float, ...]


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What a hyperparameter may be at all: numbers from `low` to `high`, which is included."""

    low: float
    high: float = _LARGEST
    low_included: bool = True

    def __contains__(self, value: float) -> bool:
        above = value >= self.low if self.low_included else value > self.low
        return above and value <= self.high

    def __str__(self) -> str:
        if self.low_included:
            return f"from {self.low:,} to {self.high:,}"
        return f"above {self.low:,} and at most {self.high:,}"


SearchSpace = Mapping[str, IntegerRange | FloatRange | Choice]


ORIGINAL = "original"
"""Name of the version that every other version is compared with."""


@dataclass(frozen=True, kw_only=True)
class SplitTexts:
    """One split in any number of versions.

    Raises
    ------
    InputError
        If there is no version ``"original"``, or the versions differ in length.
    """

    versions: Mapping[str, pa.Table]
    """Tables of n rows with the text columns, by the version's name: ``"original"`` and one for
    each transformation. Row i of every table is a version of the same observation."""
    labels: NDArray[np.int8]
    """int8, shape (n,), values 0 ... n_classes - 1."""

    def __post_init__(self) -> None:
        lengths = {name: table.num_rows for name, table in self.versions.items()}
        _check_versions(lengths, len(self.labels))

    @property
    def original(self) -> pa.Table:
        """The original texts."""
        return self.versions[ORIGINAL]


def _check_versions(lengths: Mapping[str, int], n: int) -> None:
    if ORIGINAL not in lengths:
        raise InputError(
            f"a split needs a version {ORIGINAL!r}; it has {', '.join(lengths) or 'none'}"
        )
    for name, length in lengths.items():
        if length != n:
            raise InputError(f"the version {name!r} has {length:,} rows for {n:,} labels")


class RowStore(Protocol):
    """Encoded texts, one a row, made of plain arrays so that processes can share them."""

    def __len__(self) -> int:
        """Count the rows."""
        ...

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give the arrays that the store consists of; ``Model.load_store`` takes them back."""
        ...


@dataclass(frozen=True, kw_only=True)
class EncodedRows:
    """Some rows of a store, with their labels: what a model is trained on."""

    store: RowStore
    """Encoded texts."""
    rows: NDArray[np.int64]
    """int64, shape (n,): rows of the store, in any order, repeats allowed."""
    labels: NDArray[np.int8]
    """int8, shape (n,)."""

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, kw_only=True)
class EncodedSplit:
    """One split in all its versions, over one store.

    Where two versions of an observation are encoded alike they share a row, so
    ``versions["a"] == versions["b"]`` tells for which observations the outcome cannot differ.

    Raises
    ------
    InputError
        If there is no version ``"original"``, or the versions differ in length.
    """

    store: RowStore
    """Encoded texts."""
    versions: Mapping[str, NDArray[np.int64]]
    """int64, shape (n,), by the version's name: the store's row of each observation."""
    labels: NDArray[np.int8]
    """int8, shape (n,)."""

    def __post_init__(self) -> None:
        _check_versions({name: len(rows) for name, rows in self.versions.items()}, len(self))

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def original(self) -> NDArray[np.int64]:
        """The store's row of each original observation, int64, shape (n,)."""
        return self.versions[ORIGINAL]

    def take(self, rows: NDArray[np.int64]) -> EncodedSplit:
        """Return some observations in all their versions, over the same store.

        Parameters
        ----------
        rows
            int64, shape (k,): which of the n observations.
        """
        return EncodedSplit(
            store=self.store,
            versions={name: own[rows] for name, own in self.versions.items()},
            labels=self.labels[rows],
        )

    def resample(
        self, mask: NDArray[np.bool_] | None = None, version: str | None = None
    ) -> EncodedRows:
        """Choose a version for some observations and the original for the others.

        Parameters
        ----------
        mask
            bool, shape (n,): the observations that are replaced; None for none.
        version
            What replaces them; needed with a mask.

        Raises
        ------
        InputError
            If there is no such version.
        """
        rows = self.original
        if mask is not None:
            other = None if version is None else self.versions.get(version)
            if other is None:
                raise InputError(
                    f"there is no version {version!r}; there are {', '.join(self.versions)}"
                )
            rows = np.where(mask, other, rows)
        return EncodedRows(store=self.store, rows=rows, labels=self.labels)

    def augment(self, mask: NDArray[np.bool_], version: str) -> EncodedRows:
        """Add a version of some observations behind all originals.

        Parameters
        ----------
        mask
            bool, shape (n,): the observations whose version is added, with their labels.
        version
            Which version.

        Raises
        ------
        InputError
            If there is no such version.
        """
        added = self.resample(mask, version).rows[mask]
        return EncodedRows(
            store=self.store,
            rows=np.concatenate([self.original, added]),
            labels=np.concatenate([self.labels, self.labels[mask]]),
        )


class Classifier(Protocol):
    """A fitted model."""

    def predict(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """Predict the labels of some rows of a store, shape (len(rows),)."""
        ...

    def predict_proba(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Predict class probabilities, float32, shape (len(rows), n_classes)."""
        ...


def _any_number() -> int | None:
    return None


def _no_options() -> Mapping[str, Any]:
    return {}


class Unfinished(Protocol):
    """Where a model that can be stopped keeps a training; on what disk is not its business."""

    @property
    def name(self) -> str:
        """What the training is kept as, for messages."""
        ...

    def read(self) -> bytes | None:
        """Return what was written last, by this attempt or the one before; None if nothing was."""
        ...

    def write(self, data: bytes) -> None:
        """Keep the training as it is now, in place of what was kept before."""
        ...


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a family of models can do beyond the protocol :class:`Model`.

    A model states it as a class attribute or a property, ``capabilities = Capabilities(...)``.
    """

    saves: bool = False
    """Its classifiers have ``save(folder, label_names=...)``, which ``--keep-models`` calls."""
    restores: bool = False
    """It has the method of :class:`Restores`: what was saved can answer more texts later."""
    resumes: bool = False
    """Its ``fit`` takes ``unfinished`` (an :class:`Unfinished`, or None) and ``is_interrupted``
    (asked between steps; when it returns true, ``fit`` keeps what it has and raises
    KeyboardInterrupt)."""
    depends_on_threads: bool = False
    """The same arguments give another classifier for another ``n_threads``. The number of threads
    then belongs to the identity of its results."""
    max_jobs: Callable[[], int | None] = field(default=_any_number, compare=False)
    """Called before a run begins: how many trainings fit into memory at a time, or None for any
    number."""
    worker_options: Callable[[], Mapping[str, Any]] = field(default=_no_options, compare=False)
    """Called before a run begins: options with which worker processes make the same model, where
    they differ from the user's (a folder in place of a name whose meaning may change)."""


class Restores(Protocol):
    """A model whose saved classifiers can be had again: ``capabilities.restores``."""

    def restore(self, folder: Path, *, params: Params, n_threads: int = 1) -> Classifier:
        """Return the classifier that was saved in a folder.

        Parameters
        ----------
        folder
            Where ``Classifier.save`` wrote it, with the labels in the same order.
        params
            The hyperparameters that it was trained with.
        n_threads
            As of ``fit``.
        """
        ...


class Model(Protocol):
    """A family of models: how it encodes texts, its hyperparameters, and how it is trained."""

    @property
    def name(self) -> str:
        """The registry's name, such as ``"bow-xgb"``."""
        ...

    @property
    def backend(self) -> str:
        """What trains it, with its version; part of every result's identity."""
        ...

    @property
    def options(self) -> dict[str, str | int | float | bool]:
        """The settings that are not searched over; part of every result's identity."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do beyond these methods."""
        ...

    @property
    def search_space(self) -> SearchSpace:
        """The hyperparameters and their ranges."""
        ...

    @property
    def presets(self) -> Mapping[str, Params]:
        """Known good hyperparameters by name."""
        ...

    def check_params(self, params: Mapping[str, Any]) -> list[str]:
        """Say what is wrong with some hyperparameters, each with its name; empty if nothing."""
        ...

    def encode(
        self, splits: Mapping[str, SplitTexts], text_columns: Sequence[str]
    ) -> dict[str, EncodedSplit]:
        """Encode every split; what has to be learnt for it is learnt from ``"train"`` alone."""
        ...

    def load_store(self, arrays: Mapping[str, NDArray[Any]]) -> RowStore:
        """Make a store again from its arrays, which may be memory-mapped and read-only."""
        ...

    def fit(
        self,
        train: EncodedRows,
        valid: EncodedRows | None,
        *,
        params: Params,
        n_classes: int,
        seed: int,
        n_threads: int = 1,
    ) -> Classifier:
        """Train a classifier.

        The same arguments give the same classifier, for any `n_threads` unless
        ``capabilities.depends_on_threads``.
        """
        ...


def check_against_space(
    params: Mapping[str, Any],
    space: SearchSpace,
    *,
    allowed: Mapping[str, Bounds] | None = None,
) -> list[str]:
    """Say which hyperparameters are missing, unknown or no numbers that may stand there.

    Parameters
    ----------
    params
        Hyperparameters by name.
    space
        What may be given.
    allowed
        The numbers that a hyperparameter may be, often more than are searched; any where absent.

    Returns
    -------
    list of str
        One sentence a mistake, beginning with the hyperparameter's name.
    """
    problems = [f"{name}: is missing" for name in space if name not in params]
    for name, value in params.items():
        if name not in space:
            problems.append(f"{name}: unknown; known are {', '.join(space)}")
        elif (must_be := _find_fault(value, space[name], (allowed or {}).get(name))) is not None:
            problems.append(f"{name}: must be {must_be}")
    return problems


class FixedSpace:
    """What a family of models says of hyperparameters, where no option changes them."""

    _SPACE: ClassVar[SearchSpace]
    _ALLOWED: ClassVar[Mapping[str, Bounds]]
    _PRESETS: ClassVar[Mapping[str, Params]]

    @property
    def search_space(self) -> SearchSpace:
        """The hyperparameters and their ranges."""
        return self._SPACE

    @property
    def presets(self) -> Mapping[str, Params]:
        """Known good hyperparameters by name."""
        return self._PRESETS

    def check_params(self, params: Mapping[str, Any]) -> list[str]:
        """Say what is wrong with some hyperparameters, each with its name."""
        return check_against_space(params, self.search_space, allowed=self._ALLOWED)


def _find_fault(
    value: Any, domain: IntegerRange | FloatRange | Choice, bounds: Bounds | None
) -> str | None:
    """Say what a value has to be, and what it is instead; None if nothing is wrong with it."""
    if isinstance(domain, Choice):
        choices = ", ".join(map(repr, domain.values))
        return None if value in domain.values else f"one of {choices}, not {value!r}"
    is_whole = isinstance(domain, IntegerRange)
    if _is_number(value, bounds or Bounds(low=-_LARGEST), whole=is_whole):
        return None
    kind = "a whole number" if is_whole else "a number"
    return f"{kind} {bounds or 'of ordinary size'}, not {_shorten(value)}"


def _is_number(value: Any, bounds: Bounds, *, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in bounds:
        return False  # what is not a number (NaN) is within no bounds
    return not whole or value == int(value)


def _shorten(value: Any) -> str:
    # Python refuses to write out integers of thousands of digits.
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)


def normalise_params(params: Mapping[str, Any], space: SearchSpace) -> Params:
    """Write equal hyperparameters in one way: 6.0 as 6 where integers are searched, 1 as 1.0 else.

    NumPy's scalars become Python's. Trainers are particular about it, and the identity of a result
    hangs on it.
    """
    normalised = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in params.items()
    }
    for name, value in normalised.items():
        domain = space.get(name)
        if isinstance(domain, IntegerRange) and isinstance(value, float) and value.is_integer():
            normalised[name] = int(value)
        elif isinstance(domain, FloatRange) and isinstance(value, int):
            normalised[name] = value if (number := as_finite(value)) is None else number
    return normalised


# Models by name, imported when they are asked for.

_PROTOCOL = "ietest_fast.models.Model"

# The class is called with the options of the configuration.
_MODELS: Registry[type[object]] = Registry(
    group="ietest_fast.models",
    builtin={
        "bow-xgb": "ietest_fast.models.bag_of_words:BagOfWordsXGBoost",
        "bow-rf": "ietest_fast.models.bag_of_words:BagOfWordsForest",
        "align": "ietest_fast.models.alignment:Alignment",
        "ngram-linear": "ietest_fast.models.ngrams:NgramLinear",
        "cbow": "ietest_fast.models.networks:PairCBOW",
        "bilstm": "ietest_fast.models.networks:PairBiLSTM",
        "rnn": "ietest_fast.models.networks:RecurrentNetwork",
        "gru": "ietest_fast.models.networks:GatedRecurrentUnits",
        "lstm": "ietest_fast.models.networks:LongShortTermMemory",
        "transformer": "ietest_fast.models.transformer:Transformer",
    },
    noun="model",
    check=lacks_methods(
        "models", "check_params", "encode", "load_store", "fit", see=f"{_PROTOCOL}"
    ),
)

# What an instance has to have beside the methods that its class is checked for.
_ATTRIBUTES = ("name", "backend", "options", "capabilities", "search_space", "presets")


def model_names() -> tuple[str, ...]:
    """Return the names that :func:`load_model` knows: built-in models, then other packages'."""
    return _MODELS.names()


def describe_models() -> dict[str, str]:
    """Return one line about each model, by name; nothing big is imported for it."""
    lines = {}
    for name in model_names():
        origin = _MODELS.origin(name)
        try:
            described = inspect.getdoc(find_model(name)) or "no description"
        except IetestError as error:  # somebody's package is broken: the others can be listed
            described = str(error)
        line = described.partition("\n\n")[0].replace("\n", " ").rstrip(".")
        lines[name] = line if origin is None else f"{line} ({origin})"
    return lines


def find_model(name: str) -> type[object]:
    """Import the class of a family of models, without making one."""
    return _MODELS.find(name)


def load_model(name: str, /, **options: str | float | bool) -> Model:
    """Import a family of models and set it up.

    Parameters
    ----------
    name
        One of :func:`model_names`, or ``"package.module:Class"`` for a model of one's own.
    **options
        Settings that the model takes, such as ``weighting="tfidf"``.

    Returns
    -------
    Model

    Raises
    ------
    InputError
        If there is no such model, it does not offer what a model has to, or it does not take these
        options. Nothing is called before it is known to be a class of models: names may come from a
        configuration that somebody else wrote.
    ResourceError
        If a package that it needs is not installed.
    """
    factory = cast("Callable[..., object]", find_model(name))
    check_options(f"the model {name!r}", factory, options)
    try:
        model = factory(**options)
    except TypeError as error:
        raise InputError(f"the model {name!r} does not take these options: {error}") from error
    missing = [attribute for attribute in _ATTRIBUTES if not _has(model, attribute)]
    if missing:
        raise InputError(f"the model {name!r} lacks {', '.join(missing)}; see {_PROTOCOL}")
    made = cast("Model", model)
    if not isinstance(made.capabilities, Capabilities):
        raise InputError(
            f"the model {name!r}: its capabilities are of type "
            f"{type(made.capabilities).__name__}, expected ietest_fast.models.Capabilities"
        )
    return made


def _has(model: object, attribute: str) -> bool:
    """Look for an attribute without computing it, which may import torch or hash weights."""
    try:
        inspect.getattr_static(model, attribute)
    except AttributeError:
        return False
    return True
