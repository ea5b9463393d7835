"""Why a version is answered otherwise: the edits that go with flips, and examples."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.answers.shared import find_answered_texts
from ietest_fast.numerals import format_p, say_p, show_points
from ietest_fast.stats import paired_test
from ietest_fast.stats.flips import LEAST_ROWS, rank_edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from ietest_fast.answers.table import Pairs
    from ietest_fast.stats.flips import EditEffect, EditEffects

_TOKEN = re.compile(r"\w+(?:['\N{RIGHT SINGLE QUOTATION MARK}-]\w+)*|[^\w\s]")

# A replacement of more words is a new sentence, and no edit that recurs.
_MOST_WORDS = 4

MOST_TEXTS = 50_000
"""Edits are not looked for in more texts than this, which would take seconds."""

# Of what an edit replaces, and of the words beside it.
_MOST_LETTERS = 60

# Between the first edit and the last; more words are aligned one by one, or not at all.
_MOST_ALIGNED = 40

_N_EXAMPLES = 3
_WORDS_AROUND = 4

Edit = tuple[tuple[str, ...], tuple[str, ...], int]


@dataclass(frozen=True, kw_only=True, eq=False)
class Why:
    """The edits of a version, and what is left without the one that leads."""

    edits: EditEffects
    """All edits that recur, by how surely they go with flips."""
    leading: EditEffect | None
    """The first, if it is no false discovery at alpha."""
    delta_without: float | None
    p_without: float | None
    """The difference of accuracies, and its p-value, on the reworded texts that lack the leading
    edit; None without one, or if fewer than two are left."""
    examples: tuple[str, ...]
    """Texts whose answer changes, with the edit in its place: first those of the leading edit."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return self.edits.to_dict() | {
            "leading": None if self.leading is None else self.leading.edit,
            "delta_without": self.delta_without,
            "p_without": self.p_without,
            "examples": list(self.examples),
        }

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield names and values, in reading order."""
        n, unit = len(self.edits.effects), self.edits.unit
        if not n:
            yield "why", f"no edit stands in {LEAST_ROWS} {unit} or more"
        elif n == 1:
            (only,) = self.edits.effects
            yield "why", f"{only.edit} alone stands in {LEAST_ROWS} {unit} or more: {only}"
        elif self.leading is None:
            yield "why", f"none of {n:,} edits in {LEAST_ROWS} {unit} or more stands out"
        else:
            lead = self.leading
            said = f"{lead.edit}: {lead}" + ("" if unit == "texts" else f", by {unit}")
            if self.delta_without is not None and self.p_without is not None:
                p = say_p(format_p(self.p_without))
                said += f"; without it {show_points(-self.delta_without)} ({p})"
            yield "why", said
        for place, example in enumerate(self.examples):
            yield "" if place else "examples", example


def find_why(
    pairs: Pairs,
    *,
    alpha: float,
    clusters: Any = None,
    judged: NDArray[np.bool_] | None = None,
) -> Why | None:
    """Find the edits that go with flips; None if texts are not known, too many, or not reworded.

    With `clusters`, shape (n,), an edit is held to the clusters that have it: their texts are no
    independent evidence. Of texts that are not `judged`, bool, shape (n,), nothing is said.
    """
    columns = find_answered_texts(pairs.predictions)
    if not columns or len(pairs) > MOST_TEXTS:
        return None
    found = [list(_find_edits(pairs, name)) for name in columns]
    reworded = np.any([[is_other for is_other, _ in edits] for edits in found], axis=0)
    if judged is not None:
        reworded &= judged
    if not reworded.any():
        return None
    by_row: list[list[tuple[str, Edit]]] = [
        [(name, edit) for name, edits in zip(columns, own, strict=True) for edit in edits[1]]
        if is_other
        else []
        for is_other, own in zip(reworded, zip(*found, strict=True), strict=True)
    ]
    flipped = _find_flips(pairs)
    before, after = pairs.sample.original_correct, pairs.sample.transformed_correct
    names: dict[str, int] = {}
    occurrences = [
        (names.setdefault(_say_edit(edit), len(names)), row)
        for row, edits in enumerate(by_row)
        for _, edit in edits
        if max(len(edit[0]), len(edit[1])) <= _MOST_WORDS
    ]
    code, row = np.array(occurrences, dtype=np.int64).reshape(-1, 2).T
    units = None if clusters is None else np.unique(clusters, return_inverse=True)[1]

    def by_unit(which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return which if units is None else np.bincount(units, which) > 0

    edits = rank_edits(
        list(names),
        code,
        row if units is None else units[row],
        reworded=by_unit(reworded),
        flipped=by_unit(flipped & reworded),
        lost=by_unit(before & ~after & reworded),
        won=by_unit(after & ~before & reworded),
        unit="texts" if units is None else "clusters",
    )
    leading = edits.leading(alpha)
    has_it = np.zeros(len(pairs), np.bool_)
    if leading is not None:
        has_it[row[code == names[leading.edit]]] = True
    rest = np.flatnonzero(reworded & ~has_it)
    own = None if clusters is None else np.asarray(clusters)[rest]
    is_left = len(rest) >= 2 and (own is None or len(set(own.tolist())) > 1)
    test: Any = None
    if leading is not None and is_left:
        test = paired_test(pairs.sample.take(rest), clusters=own)
    # What becomes wrong is shown first, and of it what has the leading edit.
    order = np.lexsort((~(before & ~after), ~has_it))
    shown = [int(place) for place in order if flipped[place] and by_row[place]][:_N_EXAMPLES]
    return Why(
        edits=edits,
        leading=leading,
        delta_without=None if test is None else test.counts.delta,
        p_without=None if test is None else test.p_value,
        examples=tuple(
            _show(pairs, place, *_choose_edit(by_row[place], leading)) for place in shown
        ),
    )


def _choose_edit(edits: list[tuple[str, Edit]], leading: EditEffect | None) -> tuple[str, Edit]:
    """Return the leading edit if a text has it, or else its first."""
    if leading is not None:
        edits = [each for each in edits if _say_edit(each[1]) == leading.edit] or edits
    return edits[0]


def _find_flips(pairs: Pairs) -> NDArray[np.bool_]:
    answers = pairs.answers
    if answers is None:
        sample = pairs.sample
        return np.asarray(sample.original_correct != sample.transformed_correct, np.bool_)
    return np.asarray(answers[0] != answers[1], np.bool_)


def _find_edits(pairs: Pairs, column: str) -> Iterator[tuple[bool, list[Edit]]]:
    """Yield of each pair whether its two texts differ, and where."""
    texts = pairs.predictions.table[column]
    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(texts.type.value_type)
    texts = texts.combine_chunks()
    both = (texts.take(pa.array(rows)) for rows in (pairs.reference_rows, pairs.version_rows))
    for before, after in zip(*(each.to_pylist() for each in both), strict=True):
        is_other = before != after and before is not None and after is not None
        yield is_other, _compare(before, after) if is_other else []


def _compare(before: str, after: str) -> list[Edit]:
    """Return the words that were replaced, by what, and at which word of the second text."""
    a, b = _TOKEN.findall(before), _TOKEN.findall(after)
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    x, y = a[start : len(a) - end], b[start : len(b) - end]
    if max(len(x), len(y)) <= 1:
        return [(tuple(x), tuple(y), start)] if x or y else []
    if len(x) == len(y):
        return _compare_one_by_one(x, y, start)
    if max(len(x), len(y)) > _MOST_ALIGNED:  # which takes the square of their number
        return [(tuple(x), tuple(y), start)]
    blocks = SequenceMatcher(None, x, y, autojunk=False).get_opcodes()
    return [
        (tuple(x[i:j]), tuple(y[k:m]), start + k) for kind, i, j, k, m in blocks if kind != "equal"
    ]


def _compare_one_by_one(x: list[str], y: list[str], start: int) -> list[Edit]:
    """Return the runs of words that differ, of texts with as many words."""
    edits: list[Edit] = []
    begin = 0
    for is_same, run in itertools.groupby(zip(x, y, strict=True), lambda both: both[0] == both[1]):
        old, new = zip(*run, strict=True)
        if not is_same:
            edits.append((old, new, start + begin))
        begin += len(old)
    return edits


def _say_edit(edit: Edit) -> str:
    before, after, _ = edit
    return f"{_clip(before) or 'nothing'} → {_clip(after) or 'nothing'}"


def _clip(words: Iterable[str]) -> str:
    """Join words, which may be as long as somebody has written them."""
    text = " ".join(words)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"


def _show(pairs: Pairs, place: int, column: str, edit: Edit) -> str:
    """Show an edit among the words beside it, and both answers."""
    table = pairs.predictions.table
    row = int(pairs.version_rows[place])
    words = _TOKEN.findall(table[column][row].as_py())
    _, new, at = edit
    around = words[max(0, at - _WORDS_AROUND) : at]
    behind = words[at + len(new) : at + len(new) + _WORDS_AROUND]
    before = "… " if at > len(around) else ""
    after = " …" if at + len(new) + len(behind) < len(words) else ""
    text = " ".join(filter(None, [_clip(around), f"[{_say_edit(edit)}]", _clip(behind)]))
    text = f"{before}{text}{after}"
    if pairs.answers is None:
        right = bool(pairs.sample.original_correct[place])
        return f"{text}: {'right → wrong' if right else 'wrong → right'}"
    first = int(pairs.reference_rows[place])
    gold, was, becomes = (
        table[name][at].as_py()
        for name, at in (("gold", first), ("predicted", first), ("predicted", row))
    )
    return f"{text}: {was} → {becomes} (gold {gold})"
