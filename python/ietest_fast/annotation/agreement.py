"""What people's marks come to: sound percentages, and how far the people agree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.annotation.marks import MAJORITY, MARKS
from ietest_fast.errors import InputError
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats import Interval, proportion_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ietest_fast.annotation.sample import Sample


@dataclass(frozen=True, kw_only=True)
class Soundness:
    """How many of the marked texts or edits are sound."""

    who: str
    """A person, or ``"majority"``."""
    n_marked: int
    n_sound: int
    """Texts or edits."""
    interval: Interval | None
    """For the share of sound ones; None if none is marked. Wilson's; of edits, which come by texts,
    with as many of them as tell as much as independent ones."""

    @property
    def share(self) -> float | None:
        """Share of the marked ones that are sound."""
        return self.n_sound / self.n_marked if self.n_marked else None


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How far people agree beyond chance, on what all of them have marked."""

    kappa: float | None
    """Cohen's of two people, Fleiss's of more; None where chance alone would make them agree (all
    marks are the same), or nothing is marked by all."""
    n: int
    """Observations that all have marked."""
    share: float | None
    """Of pairs of marks that are the same; None without any."""
    name: str
    """``"Cohen's kappa"`` or ``"Fleiss's kappa"``."""


def measure_soundness(
    who: str,
    marks: Mapping[int, str],
    *,
    rows: Mapping[int, int] | None = None,
    confidence_level: float = 0.95,
) -> Soundness:
    """Count what is sound, and compute an interval for its share (Tables 1 and 16)."""
    sound = np.array([mark == MARKS[0] for mark in marks.values()])
    n, n_sound = len(marks), int(sound.sum())
    interval = None
    if marks:
        clusters = None if rows is None else [rows[item] for item in marks]
        interval = proportion_interval(sound, clusters, confidence_level=confidence_level)
    return Soundness(who=who, n_marked=n, n_sound=n_sound, interval=interval)


def measure_agreement(marks: Sequence[Mapping[int, str]]) -> Agreement:
    """Measure the agreement of two people (Cohen 1960) or more (Fleiss 1971)."""
    if len(marks) < 2:
        raise InputError("agreement is between two people at least")
    rows = sorted(set.intersection(*(set(own) for own in marks)))
    name = "Cohen's kappa" if len(marks) == 2 else "Fleiss's kappa"
    if not rows:
        return Agreement(kappa=None, n=0, share=None, name=name)
    sound = np.array([[own[row] == MARKS[0] for own in marks] for row in rows])
    n_people = sound.shape[1]
    n_sound = sound.sum(axis=1)
    same = n_sound * (n_sound - 1) + (n_people - n_sound) * (n_people - n_sound - 1)
    observed = float(same.mean()) / (n_people * (n_people - 1))
    if n_people == 2:
        first, second = sound.mean(axis=0)
        by_chance = float(first * second + (1 - first) * (1 - second))
    else:
        share = float(sound.mean())
        by_chance = share**2 + (1 - share) ** 2
    kappa = None if by_chance == 1 else (observed - by_chance) / (1 - by_chance)
    return Agreement(kappa=kappa, n=len(rows), share=observed, name=name)


def take_majority(marks: Sequence[Mapping[int, str]]) -> dict[int, str]:
    """Give each item the mark that more than half of those who marked it gave; ties have none."""
    votes: dict[int, Counter[str]] = {}
    for own in marks:
        for item, mark in own.items():
            votes.setdefault(item, Counter())[mark] += 1
    return {
        item: mark
        for item, counted in sorted(votes.items())
        for mark, n in counted.items()
        if 2 * n > counted.total()
    }


def count_ties(marks: Sequence[Mapping[int, str]]) -> int:
    """Count items that somebody marked and that have no majority."""
    items: set[int] = set().union(*marks)
    return len(items) - len(take_majority(marks))


def find_sound(marks: Mapping[str, Mapping[int, str]], *, by: str = MAJORITY) -> list[int]:
    """Find the items that are sound: to one person, or to most of those who marked them."""
    if not marks:
        raise InputError(
            "nobody has marked this sample yet; `ietest-fast annotate serve` lets people do it"
        )
    if by != MAJORITY and by not in marks:
        raise InputError(f"{by!r} has not marked this sample; who has: {', '.join(marks)}")
    chosen = take_majority(list(marks.values())) if by == MAJORITY else marks[by]
    return sorted(item for item, mark in chosen.items() if mark == MARKS[0])


def measure_all(
    marks: Mapping[str, Mapping[int, str]], *, rows: Mapping[int, int] | None = None
) -> list[Soundness]:
    """Measure what each person finds sound and, if there are several, what most of them do."""
    found = [measure_soundness(person, own, rows=rows) for person, own in marks.items()]
    if len(marks) > 1:
        majority = take_majority(list(marks.values()))
        found.append(measure_soundness(MAJORITY, majority, rows=rows))
    return found


def measure_texts(sample: Sample, marks: Mapping[str, Mapping[int, str]]) -> list[Soundness]:
    """Measure how many texts have sound edits only, where edits are marked one by one.

    A text counts if all its edits are marked; :func:`mark_texts` says as what.
    """
    found = [measure_soundness(who, mark_texts(sample, own, own)) for who, own in marks.items()]
    if len(marks) > 1:
        majority = mark_texts(
            sample, take_majority(list(marks.values())), set().union(*marks.values())
        )
        found.append(measure_soundness(MAJORITY, majority))
    return found


def mark_texts(sample: Sample, marks: Mapping[int, str], items: Iterable[int]) -> dict[int, str]:
    """Mark texts by their edits: unsound if one of them is, and sound if all are."""
    sound = set(sample.rows_of(item for item, mark in marks.items() if mark == MARKS[0]))
    row_of = {pair["item"]: pair["row"] for pair in sample.pairs}
    unsound = {row_of[item] for item, mark in marks.items() if mark == MARKS[1]}
    return {
        row: MARKS[1] if row in unsound else MARKS[0]
        for row in sample.rows_of(items)
        if row in unsound or row in sound
    }


def measure_orders(
    sample: Sample, marks: Mapping[str, Mapping[int, str]]
) -> dict[str, tuple[int, int]]:
    """Count marks, and sound ones, by the version that was shown first, of all people.

    The sample is one of two versions.
    """
    first = {pair["item"]: pair["first"] for pair in sample.pairs}
    found = {}
    for version in ("original", "rephrased"):
        given = [
            mark for own in marks.values() for item, mark in own.items() if first[item] == version
        ]
        found[version] = (len(given), given.count(MARKS[0]))
    return found


def count_unsound(
    sample: Sample, marks: Mapping[str, Mapping[int, str]]
) -> list[tuple[str, str, int, int]]:
    """Count marks by substitution: old, new, unsound marks and all, most unsound ones first."""
    words = {pair["item"]: _substituted(pair) for pair in sample.pairs}
    counted: dict[tuple[str, str], Counter[str]] = {}
    for own in marks.values():
        for item, mark in own.items():
            counted.setdefault(words[item], Counter())[mark] += 1
    found = [(old, new, marked[MARKS[1]], marked.total()) for (old, new), marked in counted.items()]
    return sorted((each for each in found if each[2]), key=lambda each: (-each[2], *each))


def _substituted(pair: Mapping[str, Any]) -> tuple[str, str]:
    """Return what was taken out and put in by an edit; its article is before it."""
    pieces = [each for own in pair["pieces"].values() for each in own]
    old, new = ([piece for kind, piece in pieces if kind == which] for which in ("old", "new"))
    return (old or [""])[-1].lower(), (new or [""])[-1].lower()


def summary_table(sample: Sample, marks: Mapping[str, Mapping[int, str]]) -> Table:
    """Give sound percentages with intervals, of each person and of the majority (Table 16)."""
    note = "Wilson's intervals"
    edits = sample.unit == "edits"
    rows_of_items = {pair["item"]: pair["row"] for pair in sample.pairs} if edits else None
    if edits:
        note += "; those of edits take the edits of a text for a cluster"
    drawn_from = "reworded" if sample.test_set is not None else "different new"
    note += f". The sample was drawn from {sample.n_reworded:,} {drawn_from} texts."
    n_ties = count_ties(list(marks.values()))
    if n_ties:
        note += f" Without a majority, and not in its row: {n_ties:,} on which votes are tied."
    found_all = measure_all(marks, rows=rows_of_items)
    measured: list[tuple[str, int, list[Soundness]]] = [(sample.unit, len(sample.pairs), found_all)]
    if edits:
        n_texts = len({pair["row"] for pair in sample.pairs})
        measured.append(("texts, all edits sound", n_texts, measure_texts(sample, marks)))
    return Table(
        name="soundness",
        title=f"{_TITLES[sample.criterion]}: {sample.source}",
        columns=(
            Column("by"),
            Column("of what"),
            Column("marked", "count"),
            Column("of", "count"),
            Column("sound", "count"),
            Column("sound %", "percent", 1),
            Column("95% interval", "percent", 1),
        ),
        rows=tuple(
            (
                each.who,
                what,
                each.n_marked,
                n_drawn,
                each.n_sound,
                each.share,
                each.interval,
            )
            for what, n_drawn, found in measured
            for each in found
        ),
        note=note,
    )


_TITLES = {
    "label": "Sound rephrasings by the label",
    "meaning": "Sound rephrasings by the meaning",
    "new-label": "New texts whose label is right",
}
