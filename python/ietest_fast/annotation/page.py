"""How many unsound rephrasings would explain a run's result, and how many people found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.annotation.agreement import (
    find_sound,
    mark_texts,
    measure_soundness,
    summary_table,
    take_majority,
)
from ietest_fast.annotation.drawing import check_run
from ietest_fast.annotation.marks import MAJORITY, read_all_marks
from ietest_fast.annotation.sample import read_sample
from ietest_fast.errors import InputError
from ietest_fast.experiment.schema import CellResult, ConditionResult, RhoResult
from ietest_fast.experiment.view.result_tables import brief_tables
from ietest_fast.report.parts import Heading, Numbers, Part, Section
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats import PairedCounts, unsoundness, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ietest_fast.annotation.agreement import Soundness
    from ietest_fast.annotation.sample import Sample
    from ietest_fast.experiment.view.runs import FinishedRun


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
            Column("ρ", "share"),
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


def _needed(
    run: FinishedRun, rho: RhoResult
) -> tuple[str, float, int, int, int, int | None, float | None]:
    alpha = run.alpha / run.n_classifiers
    sizes = [cell.reworded.counts.n for cell in rho.cells if cell.reworded is not None]
    n_reworded = max(sizes, default=0)
    found = [
        # Of a model that answers equal texts differently, others may be discordant as well.
        unsoundness(cell.counts, reworded=max(n_reworded, cell.counts.k, 1), alpha=alpha)
        for cell in rho.cells
    ]
    differing = [each for each in found if each.n_to_explain]
    if not differing:
        return run.name, rho.rho, n_reworded, 0, len(found), None, None
    most = max(differing, key=lambda each: each.n_to_explain)
    return (
        run.name,
        rho.rho,
        n_reworded,
        len(differing),
        len(found),
        most.n_to_explain,
        most.share_to_explain,
    )


def marked_tables(run: FinishedRun, marked: MarkedSample) -> list[Table]:
    """Give what people found of a run's rephrasings, and its test on the sound ones."""
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
            for table in brief_tables(repeated)
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
    runs: Sequence[FinishedRun], marked: Sequence[MarkedSample]
) -> list[Section]:
    """Return sections on marked rephrasings, or on what marking would take."""
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
            tables = marked_tables(run, each)
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
