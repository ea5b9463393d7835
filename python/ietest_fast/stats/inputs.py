"""What tests are given, checked: numbers, arrays, tables, seeds, and what it costs."""

from __future__ import annotations

import functools
import inspect
import itertools
import numbers
import sys
import unicodedata
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats.resampling import check_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray


P = ParamSpec("P")
R = TypeVar("R")

#: Scores lie between this and its negative, so that no sum of their differences is infinite,
#: however many there are; what is computed of squares is computed of scores scaled down.
MAX_SCORE = 2.0**960

#: A float holds every integer up to here, and rounds some beyond.
MAX_INTEGER = 2**53


def in_one_order(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function refuse columns whose indexes say that their rows are in different orders.

    See :func:`ietest_fast.frames.check_order`; for every public function of two columns or more.
    """
    names = tuple(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*args: P.args, **options: P.kwargs) -> R:
        # Counts, or a sample, alone are no columns; they cost a tenth of an exact test otherwise.
        if options or len(args) != 1 or hasattr(args[0], "__iter__"):
            check_orders(**dict(zip(names, args, strict=False)), **options)
        return function(*args, **options)

    return checked


def check_orders(**columns: Any) -> None:
    """Refuse columns of pandas as :func:`ietest_fast.frames.check_order` does."""
    if "pandas" in sys.modules:  # Arrow need not be loaded where there is none
        from ietest_fast.frames import check_order

        check_order(columns)


def as_column(values: Any, name: str) -> NDArray[Any]:
    """Give a column as a NumPy array of shape (n,), whatever library it comes from."""
    if hasattr(values, "to_numpy"):
        if getattr(values, "ndim", 1) != 1 or getattr(values, "nlevels", 1) != 1:
            raise InputError(f"{name} must be one column, not a {type(values).__name__}")
        _refuse_missing(_missing_rows(values), name)
        array = _to_numpy(values)
    else:
        if isinstance(values, np.ma.MaskedArray) and values.ndim == 1:
            _refuse_missing(np.flatnonzero(np.ma.getmaskarray(values)), name)
        try:
            array = np.asarray(values)
        except ValueError as error:  # lists of several lengths
            raise InputError(f"{name} must be one column: {error}") from None
    if array.ndim != 1:
        raise InputError(f"{name} must be one column, not an array of shape {array.shape}")
    if array.dtype.kind == "O":
        _refuse_missing(np.flatnonzero([_is_missing(value) for value in array]), name)
    elif array.dtype.kind == "f":
        _refuse_missing(np.flatnonzero(np.isnan(array)), name)
    elif array.dtype.kind in "mM":
        _refuse_missing(np.flatnonzero(np.isnat(array)), name)
    return array


def is_number(value: Any) -> bool:
    """Whether an option is a number, and not a truth value."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    """Whether an option is a whole number by its type, and not a truth value."""
    if type(value) is int:  # without asking an abstract class, which takes longer
        return True
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_between(
    value: Any, name: str, low: float, high: float, *, with_ends: bool = False
) -> None:
    """Refuse what is no number between two others."""
    if not is_number(value):
        raise InputError(f"{name} must be a number between {low:g} and {high:g}, not {value!r}")
    if low < value < high or (with_ends and value in (low, high)):
        return
    raise InputError(f"{name} must lie between {low:g} and {high:g}, not {value}")


def as_scores(values: Any, name: str) -> NDArray[np.float64]:
    """Give a column of real-valued scores, float64 of shape (n,)."""
    array = as_column(values, name)
    if array.dtype.kind in "iu":
        large = np.flatnonzero((array > MAX_INTEGER) | (array < -MAX_INTEGER))
    elif isinstance(values, (list, tuple)):  # NumPy has rounded integers that stand beside floats
        large = np.flatnonzero([_is_large_integer(value) for value in values])
    else:
        large = np.empty(0, dtype=np.int64)
    if large.size:
        row = int(large[0])
        first = values[row] if isinstance(values, (list, tuple)) else array[row]
        raise InputError(
            f"{name} must hold numbers that a float does not round, but {large.size} of "
            f"{array.size} are integers beyond 2**53; the first is {_show_integer(int(first))}",
            row=f"row {row}",
        )
    if array.dtype.kind not in "buif":
        raise InputError(f"{name} must hold numbers, not values of type {array.dtype}")
    with np.errstate(over="ignore"):  # of floats longer than 64 bits
        scores = np.ascontiguousarray(array, dtype=np.float64)
    wrong = np.flatnonzero(~is_score(scores))
    if wrong.size:
        row = int(wrong[0])
        raise InputError(
            f"{name} must hold finite numbers, of {MAX_SCORE:.4g} in size at most, but "
            f"{wrong.size} of {scores.size} are not; the first is {array[row]}",
            row=f"row {row}",
        )
    return scores


def check_shares(scores: NDArray[np.float64], name: str) -> None:
    """Refuse checked scores outside [0, 1]."""
    outside = np.flatnonzero((scores < 0) | (scores > 1))
    if outside.size:
        raise InputError(
            f"{name} must lie in [0, 1], but {outside.size} of {scores.size} values do not; the "
            f"first is {scores[outside[0]]}",
            row=f"row {int(outside[0])}",
        )


def is_score(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say of each value whether it is a number that scores may be."""
    return np.asarray(np.abs(values) <= MAX_SCORE)


def _is_large_integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not -MAX_INTEGER <= value <= MAX_INTEGER


def _show_integer(value: int) -> str:
    # Python refuses to write out integers of thousands of digits.
    return str(value) if value.bit_length() <= 128 else f"one of {value.bit_length()} bits"


def is_outcomes(array: NDArray[Any]) -> bool:
    """Whether a checked column holds outcomes: bool, or nothing but 0 and 1."""
    if array.dtype.kind == "b":
        return True
    return array.dtype.kind in "iuf" and bool(((array == 0) | (array == 1)).all())


def as_outcomes(values: Any, name: str) -> NDArray[np.bool_]:
    """Give a column of outcomes, bool of shape (n,)."""
    array = as_column(values, name)
    if array.dtype.kind not in "buif":
        raise InputError(f"{name} must hold outcomes (0 or 1), not values of type {array.dtype}")
    if not is_outcomes(array):
        wrong = np.flatnonzero((array != 0) & (array != 1))
        raise InputError(
            f"{name} must hold 0 or 1, but {wrong.size} of {array.size} values do not; the first "
            f"is {array[wrong[0]].item()!r}",
            row=f"row {int(wrong[0])}",
        )
    return np.ascontiguousarray(array, dtype=np.bool_)


def as_clusters(
    values: Any, n: int, name: str = "clusters", *, fewest: int = 2
) -> tuple[NDArray[np.int64], int]:
    """Give the clusters of n observations numbers."""
    labels = _as_labels(values, name)
    if labels.size != n:
        raise InputError(f"{name} has {labels.size} rows, but there are {n} observations")
    labels = trim_names(labels, name, "is no cluster; fill it in")
    if labels.dtype.kind == "O":
        codes, n_clusters = _number_objects(labels, name)
    else:
        _, first, places = np.unique(labels, return_index=True, return_inverse=True)
        n_clusters = int(first.size)
        order = np.empty(n_clusters, dtype=np.int64)
        order[np.argsort(first, kind="stable")] = np.arange(n_clusters)
        codes = order[places]
    if n_clusters < fewest:
        raise InputError(f"{name} has only one value; at least two clusters are needed")
    return codes, n_clusters


def trim_names(names: NDArray[Any], name: str, why: str) -> NDArray[Any]:
    """Give names of groups of rows without the blanks around them; ``why`` none may be missing."""
    if names.dtype.kind not in "OUS":
        return names
    missing = np.flatnonzero([_is_blank(label) for label in names])
    if missing.size:
        is_nan = bool(names[missing[0]].strip())
        said = say_count(missing.size, "label 'nan'", "labels 'nan'")
        said = said if is_nan else say_count(missing.size, "blank label")
        raise InputError(
            f"{name} has {said}, and a {'missing value' if is_nan else 'blank'} {why}",
            row=f"row {int(missing[0])}",
        )
    return _trim(names)


def check_label_kinds(**columns: Any) -> list[NDArray[Any]]:
    """Return columns of labels of one kind as arrays, each of shape (n,)."""
    arrays = {name: _as_labels(values, name) for name, values in columns.items()}
    kinds = {name: _label_kind(array, name) for name, array in arrays.items() if array.size}
    if len(set(kinds.values())) > 1:
        said = ", ".join(f"{name} holds {kind}" for name, kind in kinds.items())
        raise InputError(f"labels of different kinds are never equal, but {said}; convert them")
    check_spellings(**arrays)
    return list(arrays.values())


def check_spellings(**columns: NDArray[Any]) -> None:
    """Refuse two columns of texts that are equal nowhere but for case and blanks."""
    names = {
        frozenset(column.tolist()): name
        for name, column in columns.items()
        if column.size and isinstance(column[0], str)
    }
    texts = [
        (name, values, {_fold(value): value for value in values if isinstance(value, str)})
        for values, name in names.items()
    ]
    for (one, mine, own), (two, theirs, others) in itertools.combinations(texts, 2):
        if mine.isdisjoint(theirs) and own.keys() & others.keys():
            same = min(own.keys() & others.keys())
            raise InputError(
                f"{one} and {two} have no label in common, but {own[same]!r} and {others[same]!r} "
                "differ in case or blanks alone, so no row would be equal; write the labels alike "
                "in both"
            )


def _fold(label: str) -> str:
    return unicodedata.normalize("NFC", label.strip().casefold())


def _as_labels(values: Any, name: str) -> NDArray[Any]:
    if isinstance(values, (list, tuple)):
        # NumPy would turn a list that mixes types into texts, and a NaN in it into a label.
        values = np.fromiter(values, dtype=object, count=len(values))
    return as_column(values, name)


def _label_kind(labels: NDArray[Any], name: str) -> str:
    if labels.dtype.kind != "O":
        return _type_kind(labels.dtype.type)
    kinds = [_type_kind(type(label)) for label in labels]
    for row, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise InputError(
                f"{name} must hold labels of one kind, but holds {kinds[0]} and {kind}",
                row=f"row {row}",
            )
    return kinds[0]


def _type_kind(label_type: type) -> str:
    if issubclass(label_type, (numbers.Number, np.number, np.bool_)):
        return "numbers"
    return "texts" if issubclass(label_type, str) else f"values of type {label_type.__name__}"


def _trim(labels: NDArray[Any]) -> NDArray[Any]:
    """Leave out the blanks around texts, and compose accents: nobody sees either."""
    if labels.dtype.kind != "O":
        trimmed = np.char.strip(labels)
        is_plain = labels.dtype.kind != "U" or not labels.size
        if is_plain or trimmed.view(np.uint32).max() < _FIRST_COMBINING:
            return trimmed
        return np.array([unicodedata.normalize("NFC", label) for label in trimmed])
    named = np.empty(labels.size, dtype=object)
    named[:] = [
        unicodedata.normalize("NFC", label.strip()) if isinstance(label, str) else label
        for label in labels
    ]
    return named


_FIRST_COMBINING = 0x300
# The texts that values.find_missing takes for missing; without Arrow, which need not be there.
_NANS = ["".join(signs) for signs in itertools.product("nN", "aA", "nN")]
_BLANKS = frozenset({"", *_NANS, b"", *(each.encode() for each in _NANS)})


def _is_blank(label: Any) -> bool:
    return isinstance(label, (str, bytes)) and label.strip() in _BLANKS


def _number_objects(labels: NDArray[Any], name: str) -> tuple[NDArray[np.int64], int]:
    numbers: dict[Any, int] = {}
    try:
        listed = [numbers.setdefault(label, len(numbers)) for label in labels]
    except TypeError as error:
        raise InputError(f"{name} must hold one label for each row: {error}") from None
    return np.array(listed, dtype=np.int64), len(numbers)


def check_lengths(**columns: NDArray[Any]) -> int:
    """Give the common length of some columns."""
    lengths = {name: column.shape[0] for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"the columns differ in length: {said} rows")
    n = int(next(iter(lengths.values())))
    if n < 2:
        raise InputError(f"a paired test needs at least two rows, not {n}")
    return n


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - NaN and NaT differ from themselves
    except (TypeError, ValueError):  # pandas.NA has no truth; arrays are refused by who gets them
        return type(value).__name__ == "NAType"


def _missing_rows(values: Any) -> NDArray[np.int64]:
    is_missing = getattr(values, "is_null", None) or getattr(values, "isna", None)
    if is_missing is None:
        return np.empty(0, dtype=np.int64)
    found = is_missing()  # of an index of pandas an array
    return np.flatnonzero((_to_numpy(found) if hasattr(found, "to_numpy") else found).astype(bool))


def _to_numpy(values: Any) -> NDArray[Any]:
    if type(values).__module__.startswith("pyarrow."):
        # An Arrow Array gives its buffer or nothing, unless it is told that it may copy. Other
        # libraries deprecate this option, or do not know it.
        return np.asarray(values.to_numpy(zero_copy_only=False))
    return np.asarray(values.to_numpy())


def _refuse_missing(rows: NDArray[np.int64], name: str) -> None:
    if rows.size:
        raise InputError(
            f"{name} has {rows.size} missing values (null or NaN)", row=f"row {int(rows[0])}"
        )


# Where randomness comes from: SciPy's ``rng``, made into one seed that is written down.

#: What a test accepts as ``rng``.
Rng = int | np.integer | np.random.SeedSequence | np.random.Generator | None


def seed_of(rng: Any) -> int:
    """Return the seed that ``rng`` stands for.

    Every test draws from addressed Philox streams, whose key comes from one integer. Results
    report it as ``seed``; passing it as ``rng`` repeats them.
    """
    if type(rng) is int and rng >= 0:
        return rng
    if rng is None:
        return _first_word(np.random.SeedSequence())
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, np.random.SeedSequence):
        entropy: Any = rng.entropy
        if isinstance(entropy, (int, np.integer)) and not rng.spawn_key:
            return int(entropy)
        return _first_word(rng)
    if not is_integer(rng):
        raise InputError(
            f"rng must be an integer, a SeedSequence, a Generator or None, not {rng!r}"
        )
    if rng < 0:
        raise InputError(f"rng must be 0 or more, not {rng}")
    return int(rng)


def _first_word(sequence: np.random.SeedSequence) -> int:
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


# What a plan may ask for: checks and limits of everything that enumerates power.

#: The power that is aimed at unless another is asked for.
DEFAULT_POWER = 0.8

#: Discordant pairs that may be expected; enumerating the power at one n then takes ten seconds
#: on two processors, and in proportion with less.
MAX_PLANNED_DISCORDANT = 10**6

#: Plans are for at most so many pairs.
MAX_PLANNED_PAIRS = 10**8


def level_of_one_test(alpha: float, n_tests: int, n_threads: int | None = None) -> float:
    """Return alpha / M, the level to which each of M tests is held."""
    check_options(alternative="two-sided", n_resamples=1, n_threads=n_threads)
    check_between(alpha, "alpha", 0, 1)
    if not is_integer(n_tests) or n_tests < 1:
        raise InputError(f"the number of tests must be 1 or more, not {n_tests}")
    return alpha / int(n_tests)


def check_goal(power: float, level: float) -> None:
    """Refuse a power that is no goal for a test of this level."""
    if not is_number(power) or not level < power < 1:
        raise InputError(f"the power must lie between the level ({level:g}) and 1, not {power!r}")


def check_truth(discordance: float, delta: float) -> None:
    """Refuse a share of discordant pairs and a difference that no pair of versions can have."""
    check_between(discordance, "the discordance", 0, 1, with_ends=True)
    check_between(delta, "delta", -1, 1, with_ends=True)
    if abs(delta) > discordance:
        raise InputError(
            f"delta cannot be {delta}: it can be no larger than the share of discordant pairs, "
            f"{discordance}"
        )


def check_pairs(n: Any) -> int:
    """Return a number of pairs as an int."""
    if not is_integer(n) or n < 1:
        raise InputError(f"the number of pairs must be an integer of 1 or more, not {n}")
    if n > MAX_PLANNED_PAIRS:
        raise InputError(f"power is enumerated for up to {MAX_PLANNED_PAIRS:,} pairs, not {n:,}")
    return int(n)


def check_enumeration(n_discordant: float, *, n_points: int = 1) -> None:
    """Refuse to enumerate powers if that took minutes; the time grows with the discordant pairs."""
    # Fifty points of a curve, each at the limit, would be the work of ten minutes.
    most = MAX_PLANNED_DISCORDANT * min(n_points, 10)
    if n_discordant > most:
        where = "" if n_points == 1 else f" at the {n_points} points of the curve together"
        remedy = "choose a smaller n" + ("" if n_points == 1 else ", or fewer points")
        raise InputError(
            f"{n_discordant:,.0f} discordant pairs are to be expected{where}; enumerating the "
            f"power of more than {most:,} takes minutes: {remedy}"
        )


def normal_quantile(tail: float) -> float:
    """Return what a standard normal variable exceeds with probability ``tail``."""
    from scipy.special import ndtri

    return float(-ndtri(tail))


# What a test will cost, said before it begins: no machine finishes every S that can be typed.

#: Replicates of ``multinomial`` for a test; some hours on two processors.
MOST_REPLICATES = 10**12
#: Units that all replicates of ``resample`` draw; a day or so on two processors.
MOST_DRAWS = 10**14
#: The same where another method draws from the same law in less time.
MOST_DRAWS_BESIDE_OTHERS = 10**13
#: Pairs that ``resample`` lists, at a byte each.
MOST_LISTED = 2**32

# Draws a second that two processors make, to one digit; for estimates only.
_REPLICATES_PER_SECOND = 1e8
_DRAWS_PER_SECOND = 1e9


def check_cost(n: int, n_resamples: int, *, method: str, has_exact_law: bool) -> None:
    """Refuse a Monte Carlo test that would take days or more memory than there is.

    Parameters
    ----------
    n
        Units that a replicate of ``resample`` draws: pairs, or clusters.
    n_resamples
        S.
    method
        ``multinomial`` or ``resample``.
    has_exact_law
        Whether the exact law and ``multinomial`` could be used instead, as for outcomes.

    Raises
    ------
    InputError
        With an estimate of time or memory and what to do instead.
    """
    if method == "multinomial":
        if n_resamples > MOST_REPLICATES:
            took = _say_seconds(n_resamples / _REPLICATES_PER_SECOND)
            raise InputError(
                f"{n_resamples:,} replicates would take about {took}: choose at most "
                f"{MOST_REPLICATES:,}, or the method exact, which needs none"
            )
        return
    instead = (
        "choose the method exact, or multinomial, which draws the same law without listing pairs"
        if has_exact_law
        else "choose a smaller n_resamples"
    )
    if has_exact_law and n > MOST_LISTED:
        raise InputError(
            f"the method resample lists every pair: {n:,} pairs need {n / 2**30:,.0f} GiB; "
            f"{instead}"
        )
    most = MOST_DRAWS_BESIDE_OTHERS if has_exact_law else MOST_DRAWS
    if n * n_resamples > most:
        took = _say_seconds(n * n_resamples / _DRAWS_PER_SECOND)
        raise InputError(
            f"{n_resamples:,} replicates of {n:,} draws each would take about {took}; {instead}"
        )


def _say_seconds(seconds: float) -> str:
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("hours", 3_600)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:,.0f} seconds"


# Tables with a column for each classifier, as people have them, made into checked arrays.


def read_classifiers(
    original: Any, transformed: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Read the outcomes or scores of M classifiers on both versions of n texts."""
    a, names = _as_matrix(original, "original")
    b, names_transformed = _as_matrix(transformed, "transformed")
    if a.shape[1] != b.shape[1]:
        raise InputError(f"original has {a.shape[1]} classifiers, but transformed has {b.shape[1]}")
    check_lengths(original=a, transformed=b)
    if names is not None and names_transformed is not None and set(names) == set(names_transformed):
        b = b[:, [names_transformed.index(name) for name in names]]
    if names is None:
        names = names_transformed or tuple(f"classifier {i + 1}" for i in range(a.shape[1]))
    return a, b, names


def _as_matrix(values: Any, name: str) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """Give a table of scores, shape (n, M), and the columns' names where it has them."""
    names, columns = take_columns(values, name)
    if not columns:
        raise InputError(f"{name} has no classifier")
    labels = [f"{name}, classifier {i + 1}" for i in range(len(columns))]
    if names is not None:
        labels = [f"{name}, column {label!r}" for label in names]
    checked = [as_scores(column, label) for column, label in zip(columns, labels, strict=True)]
    if len({column.size for column in checked}) > 1:
        raise InputError(f"the columns of {name} differ in length")
    return np.column_stack(checked), None if names is None else tuple(map(str, names))


def take_columns(values: Any, name: str) -> tuple[list[Any] | None, list[Any]]:
    """Return the names, where there are any, and the columns of a table of any library."""
    if isinstance(values, dict):
        return _check_names(values, name), list(values.values())
    if hasattr(values, "column_names"):  # Arrow
        names = _check_names(values.column_names, name)
        return names, [values.column(i) for i in range(len(names))]
    if hasattr(values, "columns") and hasattr(values, "__getitem__"):  # pandas, polars
        names = _check_names(values.columns, name)
        return names, [values[label] for label in names]
    array = values if isinstance(values, np.ma.MaskedArray) else as_array(values, name)
    if array.ndim != 2:
        raise InputError(
            f"{name} must have a row for each text and a column for each classifier, not the "
            f"shape {array.shape}"
        )
    return None, list(array.T)


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Give an array of any shape, and refuse a mask with values behind it, which NumPy drops."""
    if np.ma.is_masked(values):
        n = say_count(int(np.ma.getmaskarray(values).sum()), "value")
        raise InputError(f"{name}: {n} of a masked array would count; leave them out, or fill them")
    try:
        return np.asarray(values)
    except ValueError as error:  # lists of several lengths
        raise InputError(f"{name} must be a table or a column: {error}") from None


def _check_names(labels: Iterable[Any], name: str) -> list[Any]:
    names = list(labels)
    texts = [str(label) for label in names]
    for i, text in enumerate(texts):
        if text in texts[:i]:
            raise InputError(
                f"{name} has two columns {text!r}: names must tell the classifiers apart"
            )
    return names
