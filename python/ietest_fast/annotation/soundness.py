"""How many unsound rephrasings would explain a run's result, and how many people found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.annotation.marks import MAJORITY, MARKS, read_all_marks
from ietest_fast.annotation.sample import read_sample
from ietest_fast.annotation.sampling import check_run
from ietest_fast.errors import InputError
from ietest_fast.experiment.schema import CellResult, ConditionResult, RhoResult
from ietest_fast.report.contents import Heading, Numbers, Part, Section
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats import (
    Interval,
    PairedCounts,
    proportion_interval,
    unsoundness,
    wilson_interval,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from ietest_fast.annotation.sample import Sample
    from ietest_fast.experiment.finished import FinishedRun
    from ietest_fast.report.tables import Cell

# What people's marks come to: sound percentages, and how far the people agree.


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
    who: str, marks: Mapping[int, str], *, rows: Mapping[int, int] | None = None
) -> Soundness:
    """Count what is sound, and compute an interval for its share (Tables 1 and 16)."""
    sound = np.array([mark == MARKS[0] for mark in marks.values()])
    n, n_sound = len(marks), int(sound.sum())
    interval = None
    if marks:
        clusters = None if rows is None else [rows[item] for item in marks]
        interval = proportion_interval(sound, clusters)
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


def _with_majority(marks: Mapping[str, Mapping[int, str]]) -> dict[str, Mapping[int, str]]:
    """Return the marks of each person and, if there are several, what most of them say."""
    majority = {MAJORITY: take_majority(list(marks.values()))} if len(marks) > 1 else {}
    return {**marks, **majority}


def measure_all(
    marks: Mapping[str, Mapping[int, str]], *, rows: Mapping[int, int] | None = None
) -> list[Soundness]:
    """Measure what each person finds sound and, if there are several, what most of them do."""
    found = _with_majority(marks).items()
    return [measure_soundness(who, own, rows=rows) for who, own in found]


def measure_texts(sample: Sample, marks: Mapping[str, Mapping[int, str]]) -> list[Soundness]:
    """Measure how many texts have sound edits only, where edits are marked one by one.

    A text counts if all its edits are marked; :func:`mark_texts` says as what.
    """
    # What votes are tied on is marked, though most people say nothing of it.
    marked = {**marks, MAJORITY: set().union(*marks.values())}
    found = _with_majority(marks).items()
    return [measure_soundness(who, mark_texts(sample, own, marked[who])) for who, own in found]


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
            (each.who, what, each.n_marked, n_drawn, each.n_sound, each.share, each.interval)
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


# The test of a finished run on some of its observations.


def repeat_on(run: FinishedRun, rows: Sequence[int]) -> FinishedRun:
    """Test every classifier of a run again, on some rows of its test set.

    Nothing is retrained. The exact law is used, and observations are taken as independent, also
    where the run drew clusters. Which classifiers are collapsed is what the whole test set says:
    on a few of its rows any might be.
    """
    chosen = np.asarray(rows, np.int64)
    if chosen.size == 0:
        raise InputError("there is no observation left to test on")
    if len(np.unique(chosen)) < chosen.size or chosen.min() < 0 or chosen.max() >= run.n:
        raise InputError(f"rows are different numbers from 0 to {run.n - 1}")
    gold = run.read_versions().gold[chosen]
    answers = run.read_answers()[chosen]
    rhos = []
    for place, rho in enumerate(run.rhos):
        cells = []
        for m in range(run.n_classifiers):
            original, transformed = answers[:, place, m, 0], answers[:, place, m, 1]
            whole = rho.cells[m]
            cells.append(
                CellResult.from_counts(
                    PairedCounts.from_outcomes(original == gold, transformed == gold),
                    rho=rho.rho,
                    m=m,
                    collapsed=whole.collapsed,
                    alpha=run.alpha,
                    margin=run.margin,
                )
            )
        rhos.append(RhoResult.from_cells(cells, alpha=run.alpha))
    condition = ConditionResult.of(
        model=run.condition.model,
        transformation=run.condition.transformation,
        signature=None,
        rhos=tuple(rhos),
    )
    return replace(run, condition=condition, results=None)


@dataclass(frozen=True, kw_only=True, eq=False)
class MarkedSample:
    """A sample of rephrasings with everybody's marks."""

    sample: Sample
    """What was drawn."""
    marks: Mapping[str, Mapping[int, str]]
    """By person and item; of one person at least."""

    @property
    def sound_rows(self) -> list[int]:
        """Rows of the test set that are sound by most people, with all their edits."""
        return self.sample.rows_of(find_sound(self.marks))

    @property
    def soundness(self) -> Soundness:
        """How many texts are sound by most people."""
        return measure_soundness(MAJORITY, self._marks_of_texts)

    @property
    def n_undecided(self) -> int:
        """Texts that are marked, and of which no majority says what they are."""
        return len(self._marked_rows) - len(self._marks_of_texts)

    @property
    def _marked_rows(self) -> list[int]:
        return self.sample.rows_of(set().union(*self.marks.values()))

    @property
    def _marks_of_texts(self) -> dict[int, str]:
        majority = take_majority(list(self.marks.values()))
        return mark_texts(self.sample, majority, set().union(*self.marks.values()))

    def unsound_bounds(self) -> tuple[float, float]:
        """Compute between what the share of unsound texts lies: 95%, Wilson.

        Texts without a majority are sound for the lower bound, and unsound for the upper one.
        """
        found = self.soundness
        n, n_unsound = found.n_marked + self.n_undecided, found.n_marked - found.n_sound
        return (
            wilson_interval(n_unsound, n).low,
            wilson_interval(n_unsound + self.n_undecided, n).high,
        )


def read_marked(path: Path) -> MarkedSample:
    """Read a sample and the marks beside it."""
    sample = read_sample(path)
    marks = read_all_marks(sample)
    if not marks:
        raise InputError(
            "nobody has marked this sample yet; `ietest-fast annotate serve` lets people do it",
            path=path,
        )
    return MarkedSample(sample=sample, marks=marks)


def needed_table(runs: Sequence[FinishedRun]) -> Table | None:
    """Say what share of the rephrasings would have to be unsound to explain each rejection.

    None without runs whose texts are known.
    """
    known = [run for run in runs if run.results is not None]
    if not known:
        return None
    is_clustered = any(cell.n_clusters is not None for run in known for cell in run.cells)
    return Table(
        name="unsound-to-explain",
        title="Unsound rephrasings that would explain the result",
        columns=(
            Column("model"),
            Column("ρ", "number", -1),
            Column("reworded", "count"),
            Column("classifiers that differ", "count"),
            Column("of", "count"),
            Column("unsound, at least", "count"),
            Column("unsound, at least %", "percent", 1),
        ),
        rows=tuple(_needed(run, rho) for run in known for rho in run.rhos),
        note="Unsound, at least: if fewer of the reworded texts than these are unsound, some "
        "classifier differs on the sound ones alone, whichever texts are unsound and whatever the "
        "model does on them. Empty where no classifier differs, at α/M by itself; with fewer than "
        "25 discordant pairs, McNemar's exact test has to reject as well."
        + (" Texts are taken as independent, without clusters." if is_clustered else ""),
    )


def _needed(run: FinishedRun, rho: RhoResult) -> tuple[Cell, ...]:
    alpha = run.alpha / run.n_classifiers
    sizes = [cell.reworded.counts.n for cell in rho.cells if cell.reworded is not None]
    n_reworded = max(sizes, default=0)
    found = [
        # Of a model that answers equal texts differently, others may be discordant as well.
        unsoundness(cell.counts, reworded=max(n_reworded, cell.counts.k, 1), alpha=alpha)
        for cell in rho.cells
    ]
    differing = [each for each in found if each.n_to_explain]
    most = max(differing, key=lambda each: each.n_to_explain, default=None)
    needed = (None, None) if most is None else (most.n_to_explain, most.share_to_explain)
    return run.name, rho.rho, n_reworded, len(differing), len(found), *needed


def marked_tables(
    run: FinishedRun, marked: MarkedSample, tabulate: Callable[[FinishedRun], Iterable[Table]]
) -> list[Table]:
    """Give what people found of a run's rephrasings, and its test on the sound ones, tabulated."""
    sample = marked.sample
    check_run(sample, run)
    tables = [summary_table(sample, marked.marks)]
    rows = marked.sound_rows
    if rows:
        try:
            repeated = repeat_on(run, rows)
        except InputError as error:
            raise InputError(str(error), path=sample.path) from error
        tables += [
            replace(
                table,
                name=f"sound-{table.name}",
                title=f"{table.title}, on the {len(rows):,} observations that are sound",
            )
            for table in tabulate(repeated)
        ]
        if run.cells[0].n_clusters is not None:
            note = "The run drew clusters; here observations are drawn one by one."
            first = tables[1]
            tables[1] = replace(first, note=f"{first.note} {note}" if first.note else note)
    return tables


def say_soundness(marked: MarkedSample) -> str:
    """Say in a sentence how many texts are unsound, as most people marked them."""
    found, n = marked.soundness, marked.sample.n_reworded
    if found.share is None:
        return "no text has a majority of marks."
    low, high = marked.unsound_bounds()
    ties = (
        f", and {marked.n_undecided:,} have no majority (sound at the lower end, unsound at the "
        "upper one)"
        if marked.n_undecided
        else ""
    )
    return (
        f"of {found.n_marked + marked.n_undecided:,} marked texts, "
        f"{found.n_marked - found.n_sound:,} are unsound by the criterion "
        f"{marked.sample.criterion}{ties}: {low:.1%} to {high:.1%} (95%), which makes "
        f"{low * n:,.0f} to {high * n:,.0f} of the {n:,} reworded texts. Compare this with the "
        "numbers in the first table."
    )


def soundness_sections(
    runs: Sequence[FinishedRun],
    marked: Sequence[MarkedSample],
    tabulate: Callable[[FinishedRun], Iterable[Table]],
) -> list[Section]:
    """Return sections on marked rephrasings, or on what marking would take.

    `tabulate` shows the test of a run, here on the sound rephrasings, as the page shows others.
    """
    needed = needed_table(runs)
    if needed is None:
        if marked:
            raise InputError(
                "none of these runs has texts, so no sample was drawn from them",
                path=marked[0].sample.path,
            )
        return []
    parts: list[Part] = [Numbers(table=needed)]
    for each in marked:
        each.sample.check_is_of_run()
        own = [run for run in runs if run.test_set == each.sample.test_set]
        if not own:
            raise InputError(
                "was not drawn from the test set of any of these runs", path=each.sample.path
            )
        parts.append(Heading(text=f"{each.sample.path.name}: {say_soundness(each)}"))
        for number, run in enumerate(own):
            tables = marked_tables(run, each, tabulate)
            parts += [Numbers(table=table) for table in tables[min(number, 1) :]]
    return [
        Section(
            id="soundness",
            title="Are the rephrasings sound?",
            intro=(
                "A rephrasing that changes the meaning may change an answer rightly. The first "
                "table says how many such rephrasings it would take to explain each result."
                + ("" if marked else " `ietest-fast annotate` lets people mark how many there are.")
            ),
            parts=tuple(parts),
        )
    ]
