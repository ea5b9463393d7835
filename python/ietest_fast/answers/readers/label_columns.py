"""Columns of labels by what they hold: held against each other, and copies that nobody reads.

A second record of a fact may have any name. What it holds tells it: nearly what a column holds that
counts, far beyond chance.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.readers.base import NamedNumbers, text_array
from ietest_fast.answers.schema import MOST_KINDS, OF_NONE
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.corpus.labels import NLI_LABELS, label_key
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.values import as_texts, find_outcomes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


# Cohen's kappa of a column and the one that it nearly repeats, and kappa times the root of the
# number of rows, which is about normal where the two have nothing to do with each other.
_LEAST_KAPPA = 0.5
_LEAST_OF_PAIRS = 0.75  # of labels, such as pos->neg, which one half alone resembles
_LEAST_Z = 2.5
_LEAST_CLASSES = 3  # two are marks, true and false
_MOST_CLASSES = 4
_ROWS_OF_A_CLASS = 2  # with fewer, nearly any column follows from what classes there are
_HALVES = frozenset({0.0, 0.5, 1.0})  # shares of two answers that are right
_MOST_NAMED = 3
# Words in names of columns that mark what is right, or which answers change, or the opposite.
_RIGHT = re.compile(r"(?i)right|correct|acc|accurate|hits?|match(es|ed)?|ok|pass(ed)?|results?")
_WRONG = re.compile(r"(?i)wrong|incorrect|inaccurate|errors?|mismatch|miss(es|ed)?|fail(s|ed|ure)?")
_CHANGES = re.compile(r"(?i)flip(s|ped)?|change[sd]?|differs?|different|unstable")
_STAYS = re.compile(r"(?i)same|stays?|stable|kept|unchanged|equal|agrees?|consistent")
# By the last word of what is counted; of outcomes alone, that one is right "and not both".
_MARKED = {
    **dict.fromkeys(("right", "correct"), (_RIGHT, _WRONG)),
    **dict.fromkeys(("changes", "both"), (_CHANGES, _STAYS)),
}
_NEGATIONS = frozenset({"no", "non", "not", "free"})
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NUMBER = re.compile(r"[-+]?\d{1,18}(\.0*)?")  # with more digits it is a name
_FRACTION = re.compile(r"[-+]?\d*\.\d*[1-9]\d*")


@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """A column of n labels as numbers: ``keys[codes[i]]`` is the label of row i, "" for none."""

    codes: NDArray[np.int64]
    keys: NDArray[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs(Labels):
    """What two columns say together, which one that says the half of it resembles, too."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes(Labels):
    """What follows from several answers: classes that a column may call anything."""

    causes: tuple[NDArray[np.int64], ...] = ()
    """Classes by row: what follows from one of these says something else, and no contradiction."""


Counted: TypeAlias = "Mapping[str, Labels | NDArray[np.bool_]]"
"""What counts, by name: labels, or what is true of a row, each of shape (n,)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rewordings:
    """Rows of a long table that reword another one, and what the answers to both say."""

    rows: NDArray[np.int64]
    """Rows of rewordings, shape (n,)."""
    originals: NDArray[np.int64]
    """The rows that they reword, shape (n,)."""
    counted: Counted
    """What is true of each, shape (n,)."""
    alone: str
    """What in it is of the rewording alone."""

    def list_counted(self, own: Labels) -> Counted:
        """Return what a column may say of rewordings.

        One that says something of each row by itself says no more of them than of originals.
        """
        is_of_item = (own.codes[self.rows] == own.codes[self.originals]).all()
        if is_of_item or len(np.unique(np.delete(own.codes, self.rows))) <= 1:
            return self.counted
        return {name: each for name, each in self.counted.items() if name != self.alone}


def read_labels(column: pa.Array | pa.ChunkedArray, path: Path) -> Labels:
    """Return labels, all spellings of one as the same number."""
    encoded = as_texts(column, path=path).dictionary_encode()
    keys = [*(label_key(each) for each in encoded.dictionary.to_pylist()), ""]
    kinds = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    places = pc.fill_null(encoded.indices, len(keys) - 1).to_numpy()
    codes = np.array([kinds[key] for key in keys], np.int64)[places]
    return Labels(codes=codes, keys=np.array([*kinds], dtype=object))


def label_keys(column: pa.Array | pa.ChunkedArray, path: Path) -> NDArray[Any]:
    """Return what is the same for all spellings of a label, by row; nothing where there is none."""
    labels = read_labels(column, path)
    found: NDArray[Any] = labels.keys[labels.codes]
    return found


def does_repeat(again: NDArray[Any], own: NDArray[Any]) -> bool:
    """Whether a column repeats another in three of four rows, so that other words contradict it."""
    is_known = (again != "") & (own != "")
    return 4 * int((is_known & (again == own)).sum()) >= 3 * int(is_known.sum()) > 0


def count_other_originals(name: str, again: NDArray[Any], own: NDArray[Any]) -> int | None:
    """Count the answers to originals that a column repeats otherwise; None if it says others.

    Texts and labels of another kind are none; numbers beside names are the names that they mostly
    stand beside. Of a name that does not say ``original``, they may be those of another classifier,
    which mostly answers alike.
    """
    again, own = in_same_words(again, own)
    if not set(again) & set(own) - {""}:
        n = count_other(again, own, may_be_named=True)
        return n if 4 * n <= len(again) else None
    is_label = np.isin(again, [key for key in set(own.tolist()) if key])
    is_label |= (again != "") & does_repeat(again, own)
    n = int((is_label & (own != "") & (again != own)).sum())
    are_labels = 2 * int(is_label.sum()) >= len(again)
    return n if are_labels and (ORIGINAL in label_key(name) or 4 * n <= len(again)) else None


def in_same_words(first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels of two columns, NLI's numbers by name where the other column has the names."""
    are_names = [set(keys) - {""} <= set(NLI_LABELS) for keys in (first, second)]
    return (
        _as_nli(first) if are_names[1] else first,
        _as_nli(second) if are_names[0] else second,
    )


def _as_nli(keys: NDArray[Any]) -> NDArray[Any]:
    """Return numbers by the names that they have where 0, 1 and 2 are all there are."""
    numbers = {str(number): name for number, name in enumerate(NLI_LABELS)}
    if set(keys) - {""} != set(numbers):
        return keys
    return np.array([numbers.get(key, "") for key in keys], dtype=object)


def count_other(own: NDArray[Any], mine: NDArray[Any], *, may_be_named: bool) -> int:
    """Count rows with two labels; words that are others throughout may be names of the same."""
    rows = np.flatnonzero((own != "") & (mine != ""))
    are_shared = bool(set(own) & set(mine) - {""})  # also where one is filled in for a few rows
    own, mine = own[rows], mine[rows]
    if are_shared:
        return int((own != mine).sum())
    if not may_be_named or len(set(own)) != len(set(mine)):
        return 0
    names = Counter(zip(own, mine, strict=True))
    most: dict[str, int] = {}
    for (label, _), n in names.items():
        most[label] = max(n, most.get(label, 0))
    return len(rows) - sum(most.values())


def list_numbers(labels: Labels) -> dict[str, int]:
    """Return the whole numbers among labels, without signs and zeros that say nothing."""
    kinds = ((key, place) for place, key in enumerate(labels.keys) if key not in OF_NONE)
    return {str(int(float(key))): place for key, place in kinds if _NUMBER.fullmatch(key)}


def name_numbers(numbers: Labels, names: Labels, most: int) -> dict[str, str]:
    """Give each number the name that it has in more than half of its rows.

    With more words than there are labels, or numbers among them, the column says something else.
    """
    words = {*names.keys} - OF_NONE
    if len(words) > most or list_numbers(names):
        return {}
    counts = _count_pairs(numbers.codes, names.codes, len(numbers.keys), len(names.keys))
    counts[:, np.isin(names.keys, [*OF_NONE])] = 0
    best = {number: counts[place] for number, place in list_numbers(numbers).items()}
    return {
        number: str(names.keys[row.argmax()])
        for number, row in best.items()
        if 2 * row.max() > row.sum()
    }


def check_named(found: Sequence[NamedNumbers]) -> None:
    """Refuse numbers that have other names beside other columns, or in other files.

    Names without one in common may be other words for the same.
    """
    kinds = {(each.path, *each.columns): each for each in found}
    for one, other in itertools.combinations(kinds.values(), 2):
        if {*one.names.values()}.isdisjoint(other.names.values()):
            continue
        said = _say_otherwise(one, other)
        if said is None:
            continue
        where = "" if one.path == other.path else f" of {one.path}"
        raise InputError(
            f"{said} by the column {one.columns[1]} beside {one.columns[0]}{where}: the numbers "
            "count other labels there; compare the names (such as -P prediction_name "
            "--gold-column label_name), or number all labels alike",
            path=other.path,
            column=other.columns[1],
        )


def _say_otherwise(one: NamedNumbers, other: NamedNumbers) -> str | None:
    """Say which number has two names, or which name two numbers."""
    column = other.columns[0]
    for number, name in other.names.items():
        known = one.names.get(number, name)
        if known != name:
            return f"{number} in {column} is {name!r}, and {known!r}"
    for name in dict.fromkeys(other.names.values()):
        mine, theirs = ([n for n in each.names if each.names[n] == name] for each in (one, other))
        if mine and set(mine).isdisjoint(theirs):
            return f"{name!r} is {theirs[0]} in {column}, and {mine[0]}"
    return None


def say_near_copies(
    columns: Mapping[str, pa.Array | pa.ChunkedArray],
    counted: Counted,
    path: Path,
    *,
    chosen: Collection[str] = (),
    rewordings: Rewordings | None = None,
) -> tuple[str, ...]:
    """Say which columns that nobody reads hold, but for some rows, what one holds that counts.

    Whoever has chosen what counts may know of others that are like it. What counts of
    `rewordings` is held against their rows alone.
    """
    compared = (
        (name, _compare(name, values, counted, path, chosen=chosen, rewordings=rewordings))
        for name, values in columns.items()
    )
    found = [f"{name} ({said})" for name, said in compared if said is not None]
    if not found:
        return ()
    how = " or its opposite" if any("(the opposite of" in each for each in found) else ""
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    note = (
        f"Warning: {path}: nearly the same as what counts{how}: "
        f"{', '.join(found[:_MOST_NAMED])}{more}; if they are to be the same, see which is wrong."
    )
    return (note,)


def say_near_samples(
    columns: Mapping[str, pa.Array | pa.ChunkedArray],
    gold: Sequence[str | None],
    predicted: Sequence[str | None] | None,
    correct: Sequence[bool | None] | None,
    path: Path,
) -> tuple[str, ...]:
    """Say which fields of samples nearly repeat their targets, answers or marks."""
    answers = {} if predicted is None else {"the answer": text_array(predicted)}
    counted = key_counted(("target", text_array(gold)), answers, path)
    if correct is not None and None not in correct:
        counted["whether the answer is right"] = np.array(correct, np.bool_)
    return say_near_copies(columns, counted, path)


def key_counted(
    gold: tuple[str, pa.Array | pa.ChunkedArray] | None,
    answers: Mapping[str, pa.Array | pa.ChunkedArray],
    path: Path,
) -> dict[str, Labels | NDArray[np.bool_]]:
    """Return right answers, answers, and which of these are right, as what counts."""
    found: dict[str, Labels | NDArray[np.bool_]] = {}
    try:
        right = None if gold is None else read_labels(gold[1], path)
        said = {name: read_labels(values, path) for name, values in answers.items()}
    except InputError:  # whoever compares them refuses them
        return {}
    marks: dict[str, NDArray[np.bool_]] = {}
    causes: list[NDArray[np.int64]] = []
    if gold is not None and right is not None:
        found[gold[0]] = right
        for name, labels in said.items():
            marks[name] = _are_same(right, labels)
            causes.append(right.codes * len(labels.keys) + labels.codes)
            found[f"whether {name} is right"] = marks[name]
            found |= _pair_up(f"{gold[0]} and {name} together", right, labels)
    if len(said) == 2:
        found |= _pair_up("both answers together", *said.values())
    changes = ~_are_same(*said.values()) if len(said) == 2 else None
    return found | key_together(marks, changes, causes) | said


def _pair_up(name: str, first: Labels, second: Labels) -> dict[str, Labels]:
    """Return what two columns say together, such as ``pos->neg``, if it is said more than once."""
    pairs = first.codes * np.int64(len(second.keys)) + second.codes
    kinds, codes = np.unique(pairs, return_inverse=True)
    if len(kinds) > MOST_KINDS or _ROWS_OF_A_CLASS * len(kinds) > len(pairs):
        return {}
    keys = np.array([*(f"\0{kind}" for kind in kinds), ""], dtype=object)
    return {name: Pairs(codes=codes, keys=keys)}


def key_together(
    marks: Mapping[str, NDArray[np.bool_]],
    changes: NDArray[np.bool_] | None,
    causes: Sequence[NDArray[np.int64]] = (),
) -> dict[str, Labels | NDArray[np.bool_]]:
    """Return what the answers to two versions say together, of which each is right by row.

    What is no more than one of them says, or whether the answer changes, is left out.
    """
    found: dict[str, Labels | NDArray[np.bool_]] = {}
    if changes is not None:
        found["whether the answer changes"] = changes
    if len(marks) != 2:
        return found
    (one, is_first), (two, is_second) = marks.items()
    first, second = is_first.astype(np.int64), is_second.astype(np.int64)
    which = 2 * first + second
    if changes is not None:
        causes = [*causes, np.where(which == 0, 4 * changes, which)]
    whether = {
        "whether both answers are right": is_first & is_second,
        "whether any answer is right": is_first | is_second,
        f"whether {one} is right and not {two}": is_first & ~is_second,
        f"whether {two} is right and not {one}": is_second & ~is_first,
        "whether one answer is right and not both": is_first ^ is_second,
    }
    known = np.array([is_first, is_second, *found.values()])
    found |= {
        name: each
        for name, each in whether.items()
        if not ((known == each).all(axis=1) | (known != each).all(axis=1)).any()
    }
    classes = {
        "how many answers are right": first + second,
        "which answers are right": which,
        "which answer alone is right": 1 + second - first,
    }
    keys = np.array([*(f"\0{code}" for code in range(_MOST_CLASSES)), ""], dtype=object)
    return found | {
        name: Classes(codes=codes, keys=keys, causes=tuple(causes))
        for name, codes in classes.items()
        if len(np.unique(codes)) >= _LEAST_CLASSES
    }


def _are_same(first: Labels, second: Labels) -> NDArray[np.bool_]:
    """Say which rows of two columns have the same label; no label is the same as none."""
    keys = in_same_words(first.keys, second.keys)
    place = {key: number for number, key in enumerate({*keys[0], *keys[1]})}
    numbers = [np.array([place[key] for key in own], np.int64) for own in keys]
    found: NDArray[np.bool_] = numbers[0][first.codes] == numbers[1][second.codes]
    found &= (numbers[0] != place.get("", -1))[first.codes]
    return found


def _compare(
    column: str,
    values: pa.Array | pa.ChunkedArray,
    counted: Counted,
    path: Path,
    *,
    chosen: Collection[str],
    rewordings: Rewordings | None,
) -> str | None:
    """Say which column that counts another one nearly repeats, and in how many rows it does not."""
    try:
        own = read_labels(values, path)
    except InputError:  # lists, which are no labels
        return None
    near = _find_near(column, own, counted)
    if rewordings is not None:
        kinds, codes = np.unique(own.codes[rewordings.rows], return_inverse=True)
        of_pairs = rewordings.list_counted(own)
        near += _find_near(column, Labels(codes=codes, keys=own.keys[kinds]), of_pairs)
    if not near:
        return None
    _, is_turned, n, what, name, n_rows = min(near)
    if name in chosen:
        return None
    if is_turned:
        return f"the opposite of {what} in {say_count(n_rows - n, 'row')} of {n_rows:,}"
    return f"unlike {what} in {say_count(n, 'row')}" if n else None


def _find_near(
    column: str, own: Labels, counted: Counted
) -> list[tuple[float, bool, int, str, str, int]]:
    """Return what a column nearly repeats, the nearest first when sorted.

    Each is minus κ, whether the column says the opposite of its name, the rows that differ, what it
    repeats, what that is called in `counted`, and the number of rows.
    """
    n_kinds = np.count_nonzero(own.keys != "")
    if not 2 <= n_kinds <= MOST_KINDS and not 1 == n_kinds < len(np.unique(own.codes)):
        return []
    if any(map(_FRACTION.fullmatch, own.keys)):  # of scores
        are_shares = all(_is_half(key) for key in own.keys if key)
        classes = {what: each for what, each in counted.items() if isinstance(each, Classes)}
        counted = classes if are_shares else {}
    marks = _as_marks(own)
    said = [column, *({"right", "correct", "pass", "passed"}.intersection(own.keys))]
    near = []
    for name, mine in counted.items():
        pairs = _pair(own, mine, marks, said, name)
        if pairs is None:
            continue
        is_turned, counts, what = pairs
        kappa, n = _find_kappa(counts), int(counts.sum() - counts.trace())
        least = _LEAST_OF_PAIRS if isinstance(mine, Pairs) else _LEAST_KAPPA
        if kappa >= least and kappa * np.sqrt(counts.sum()) >= _LEAST_Z:
            near.append((-kappa, is_turned, n, what, name, len(own.codes)))
    return near


def _pair(
    own: Labels,
    mine: Labels | NDArray[np.bool_],
    marks: tuple[NDArray[np.bool_] | None, bool],
    said: Sequence[str],
    name: str,
) -> tuple[bool, NDArray[np.int64], str] | None:
    """Count the rows with each pair of values, as far as a column may be a record of another.

    Also says whether it is the opposite of its name, and what it is a record of.
    """
    if isinstance(mine, Labels):
        counts = _pair_classes(own, mine) if isinstance(mine, Classes) else _pair_labels(own, mine)
        return None if counts is None else (False, counts, name)
    if marks[0] is None:
        return None
    return _turn(_count_pairs(marks[0], mine, 2, 2), said, name, are_words=marks[1])


def _is_half(key: str) -> bool:
    is_number = _FRACTION.fullmatch(key) or _NUMBER.fullmatch(key)
    return bool(is_number) and float(key) in _HALVES


def _pair_classes(own: Labels, mine: Classes) -> NDArray[np.int64] | None:
    """Count the rows with each pair of classes, as far as a column may be a record of them."""
    used = np.unique(own.codes[own.keys[own.codes] != ""])
    if not _LEAST_CLASSES <= len(used) <= _MOST_CLASSES:
        return None
    for cause in mine.causes:
        n_kinds = len(np.unique(cause))
        n_pairs = len(np.unique(cause * np.int64(len(own.keys)) + own.codes))
        if n_pairs == n_kinds and _ROWS_OF_A_CLASS * n_kinds <= len(cause):
            return None
    words = np.array([key and f"={key}" for key in own.keys], dtype=object)
    return _pair_labels(Labels(codes=own.codes, keys=words), mine)


def _turn(
    counts: NDArray[np.int64], names: Sequence[str], counted: str, *, are_words: bool
) -> tuple[bool, NDArray[np.int64], str]:
    """Turn marks to what they say most often, and say whether that is the opposite of their names.

    A column of errors may mark what is wrong; of two other words, either may be the mark.
    """
    is_opposite = bool(counts.trace() * 2 < counts.sum())
    counts = counts[::-1] if is_opposite else counts
    if are_words:
        return False, counts, counted
    parts = [part for name in names for part in _PARTS.findall(name)]
    words = _MARKED.get(counted.rsplit(maxsplit=1)[-1], ())
    said = [place for place, word in enumerate(words) if any(map(word.fullmatch, parts))]
    if len(said) == 1 and said != [int(is_opposite)] and _NEGATIONS.isdisjoint(parts):
        return True, counts, counted
    return False, counts, f"the opposite of {counted}" if is_opposite else counted


def _as_marks(labels: Labels) -> tuple[NDArray[np.bool_] | None, bool]:
    """Return which rows are marked, if the labels are two in all rows, and whether by other words.

    True and false, or 1 and 0, are known; of two other words, or signs, either may be the mark. One
    word in some rows, and nothing in the others, is a mark as well.
    """
    used = np.unique(labels.codes)
    if len(used) != 2:
        return None, False
    if "" in labels.keys[used]:
        return labels.keys[labels.codes] != "", True
    outcomes, bad = find_outcomes(pa.chunked_array([pa.array(labels.keys[used], pa.string())]))
    if bad.size:
        return labels.codes == used[0], True
    found: NDArray[np.bool_] = outcomes[np.searchsorted(used, labels.codes)]
    return found, False


def _count_pairs(one: NDArray[Any], two: NDArray[Any], n_one: int, n_two: int) -> NDArray[np.int64]:
    """Count the rows with each pair of numbers, shape (n_one, n_two)."""
    pairs = np.bincount(one * np.int64(n_two) + two, minlength=n_one * n_two)
    return pairs.reshape(n_one, n_two)


def _pair_labels(own: Labels, mine: Labels) -> NDArray[np.int64] | None:
    """Count the rows with each pair of labels, equal ones on the diagonal.

    Labels without a word in common are equal if each is another's in most rows. None if there are
    too many, or too few, or other ones.
    """
    if len(mine.keys) > MOST_KINDS + 1:
        return None
    counts = _count_pairs(own.codes, mine.codes, len(own.keys), len(mine.keys))
    words, names = in_same_words(own.keys, mine.keys)
    counts[np.isin(words, [*{*OF_NONE} - {*names}, ""])] = 0
    counts[:, names == ""] = 0
    rows, columns = np.flatnonzero(counts.sum(axis=1)), np.flatnonzero(counts.sum(axis=0))
    counts, words, names = counts[np.ix_(rows, columns)], words[rows], names[columns]
    if len(columns) < 2:
        return None
    if not set(words) & set(names) and _are_finer(counts):
        return None
    # A word may be the same in two languages.
    strange, unsaid = ~np.isin(words, names), ~np.isin(names, words)
    if strange.any() and unsaid.any():
        part = counts[np.ix_(strange, unsaid)]
        words = words.copy()
        words[strange] = _match_words(words[strange], names[unsaid], part)
    known = [*dict.fromkeys([*names, *words])]
    paired = np.zeros((len(known), len(known)), np.int64)
    places = [[known.index(each) for each in own_words] for own_words in (words, names)]
    np.add.at(paired, np.ix_(*places), counts)
    return paired


def _are_finer(counts: NDArray[np.int64]) -> bool:
    """Whether words divide labels into classes of their own, so that each goes with one label."""
    n_more = len(counts) - counts.shape[1]
    if n_more <= 0 or np.count_nonzero(counts) > len(counts):
        return False
    return bool(counts.sum() - counts.max(axis=0).sum() >= _ROWS_OF_A_CLASS * n_more)


def _match_words(
    words: NDArray[Any], names: NDArray[Any], counts: NDArray[np.int64]
) -> NDArray[Any]:
    """Give each word the name that it goes with most often; what is left over keeps its own."""
    found, taken = words.copy(), set()
    for place in np.argsort(-counts, axis=None, kind="stable"):
        row, column = divmod(int(place), len(names))
        if counts[row, column] and row not in taken and names[column] not in found:
            found[row] = names[column]
            taken.add(row)
    return found


def _find_kappa(counts: NDArray[np.int64]) -> float:
    """Return Cohen's kappa of two columns; 0 where one of them has one value only."""
    shares = counts / max(counts.sum(), 1)
    by_chance = float(shares.sum(axis=0) @ shares.sum(axis=1))
    return 0.0 if by_chance in {0.0, 1.0} else (float(shares.trace()) - by_chance) / (1 - by_chance)
