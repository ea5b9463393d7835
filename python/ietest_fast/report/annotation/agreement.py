"""What people's marks come to: sound percentages, and how far the people agree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.report.annotation.sample import MAJORITY, MARKS
from ietest_fast.report.tables import Column, Range, Table
from ietest_fast.stats import Interval, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.report.annotation.sample import Sample


@dataclass(frozen=True, kw_only=True)
class Soundness:
    """How many of the marked observations are sound.

    Attributes
    ----------
    who
        A person, or ``"majority"``.
    n_marked, n_sound
        Observations.
    interval
        Wilson's, for the share of sound ones; None if none is marked.
    """

    who: str
    n_marked: int
    n_sound: int
    interval: Interval | None

    @property
    def share(self) -> float | None:
        """Share of the marked ones that are sound."""
        return self.n_sound / self.n_marked if self.n_marked else None


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How far people agree beyond chance, on what all of them have marked.

    Attributes
    ----------
    kappa
        Cohen's of two people, Fleiss's of more; None where chance alone would make them agree
        (all marks are the same), or nothing is marked by all.
    n
        Observations that all have marked.
    share
        Of pairs of marks that are the same; None without any.
    name
        ``"Cohen's kappa"`` or ``"Fleiss's kappa"``.
    """

    kappa: float | None
    n: int
    share: float | None
    name: str


def measure_soundness(
    who: str, marks: Mapping[int, str], *, confidence_level: float = 0.95
) -> Soundness:
    """Count sound observations and give Wilson's interval for their share (Tables 1 and 16)."""
    n_sound = sum(mark == "sound" for mark in marks.values())
    interval = (
        wilson_interval(n_sound, len(marks), confidence_level=confidence_level) if marks else None
    )
    return Soundness(who=who, n_marked=len(marks), n_sound=n_sound, interval=interval)


def measure_agreement(marks: Sequence[Mapping[int, str]]) -> Agreement:
    """Measure the agreement of two people (Cohen 1960) or more (Fleiss 1971).

    Raises
    ------
    InputError
        With fewer than two people.
    """
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
    """Give each row the mark that more than half of those who marked it gave; ties have none."""
    votes: dict[int, Counter[str]] = {}
    for own in marks:
        for row, mark in own.items():
            votes.setdefault(row, Counter())[mark] += 1
    return {
        row: mark
        for row, counted in sorted(votes.items())
        for mark, n in counted.items()
        if 2 * n > counted.total()
    }


def count_ties(marks: Sequence[Mapping[int, str]]) -> int:
    """Count rows that somebody marked and that have no majority."""
    rows: set[int] = set().union(*marks)
    return len(rows) - len(take_majority(marks))


def find_sound(marks: Mapping[str, Mapping[int, str]], *, by: str = MAJORITY) -> list[int]:
    """Find the rows that are sound: to one person, or to most of those who marked them.

    Parameters
    ----------
    marks
        By person.
    by
        A person, or ``"majority"``.

    Raises
    ------
    InputError
        If nobody of that name has marked the sample, or nobody at all.
    """
    if not marks:
        raise InputError("nobody has marked this sample yet")
    if by != MAJORITY and by not in marks:
        raise InputError(f"{by} has not marked this sample; {', '.join(marks)} have")
    chosen = take_majority(list(marks.values())) if by == MAJORITY else marks[by]
    return sorted(row for row, mark in chosen.items() if mark == "sound")


def measure_all(marks: Mapping[str, Mapping[int, str]]) -> list[Soundness]:
    """Measure what each person finds sound and, if there are several, what most of them do."""
    found = [measure_soundness(person, own) for person, own in marks.items()]
    if len(marks) > 1:
        found.append(measure_soundness(MAJORITY, take_majority(list(marks.values()))))
    return found


def summary_table(sample: Sample, marks: Mapping[str, Mapping[int, str]]) -> Table:
    """Give sound percentages with intervals, of each person and of the majority (Table 16)."""
    note = f"Wilson's intervals. The sample was drawn from {sample.n_reworded:,} reworded ones."
    n_ties = count_ties(list(marks.values()))
    if n_ties:
        note += f" Without a majority, and not in its row: {n_ties:,} on which votes are tied."
    return Table(
        name="soundness",
        title=f"Sound transformations: {sample.source}",
        columns=(
            Column("by"),
            Column("marked", "count"),
            Column("of", "count"),
            Column("sound", "count"),
            Column("sound %", "percent", 1),
            Column("95% interval", "percent", 1),
        ),
        rows=tuple(
            (
                each.who,
                each.n_marked,
                len(sample.pairs),
                each.n_sound,
                each.share,
                None if each.interval is None else Range(each.interval.low, each.interval.high),
            )
            for each in measure_all(marks)
        ),
        note=note,
    )
