"""What stands in a report, in its order, before it becomes a page or files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.report.consistency_page import consistency_sections
from ietest_fast.report.examples import (
    DEFAULT_QUANTIFIER,
    gather_answers,
)
from ietest_fast.report.logic import logic_sections
from ietest_fast.report.parts import Figures, Numbers, Section
from ietest_fast.report.run_sections import (
    comparison_sections,
    provenance_section,
    result_section,
    robustness_section,
    soundness_sections,
)
from ietest_fast.report.sections import (
    effect_sections,
    example_sections,
    stress_sections,
    version_section,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.analyses.consistency.asking import Consistency
    from ietest_fast.corpus import Corpus
    from ietest_fast.report.drawing import Chart
    from ietest_fast.report.evaluations import Evaluation
    from ietest_fast.report.logic import LogicSource
    from ietest_fast.report.runs import FinishedRun
    from ietest_fast.report.soundness import MarkedSample
    from ietest_fast.report.stress import StressSource
    from ietest_fast.report.tables import Table


@dataclass(frozen=True, kw_only=True, eq=False)
class Contents:
    """All of a report."""

    runs: tuple[FinishedRun, ...]
    """What it is about."""
    sections: tuple[Section, ...]
    """In order."""
    evaluations: tuple[Evaluation, ...] = ()
    stress: StressSource | None = None
    consistency: Consistency | None = None
    logic: LogicSource | None = None
    """What it is about."""

    @property
    def charts(self) -> list[Chart]:
        """All figures."""
        return [
            chart
            for section in self.sections
            for part in section.parts
            if isinstance(part, Figures)
            for chart in part.charts
        ]

    @property
    def tables(self) -> list[Table]:
        """All tables; several may have the same name."""
        return [
            part.table
            for section in self.sections
            for part in section.parts
            if isinstance(part, Numbers)
        ]


def gather(
    runs: Sequence[FinishedRun],
    *,
    evaluations: Sequence[Evaluation] = (),
    stress: StressSource | None = None,
    consistency: Consistency | None = None,
    logic: LogicSource | None = None,
    train: Corpus | None = None,
    hard_cases: str = DEFAULT_QUANTIFIER,
    marked: Sequence[MarkedSample] = (),
) -> Contents:
    """Work out all that a report on some runs holds.

    Parameters
    ----------
    runs
        With different names; those read from counts have results, and no examples.
    evaluations
        Predictions of finished models, which come first; there may be no runs beside them.
    stress
        Finished models on stress tests, which come before these.
    consistency
        Finished models on paraphrases, which come behind the stress tests.
    logic
        Finished models on the suite logic, which come between these.
    train
        A training set, from which the words that go with each label are taken. If None, only runs
        on the demonstration corpus, which can be made again, have such a table.
    hard_cases
        Which pairs are listed as hard cases; a name of
        :data:`~ietest_fast.report.examples.QUANTIFIERS`.
    marked
        Samples of the runs' rephrasings that people have marked.

    Raises
    ------
    InputError
        If two runs have the same name, there is none, the training set has other labels or text
        columns than a run, there is no such quantifier, or a sample was drawn from another test set
        than the runs'.
    StoreError
        If what a run left is damaged or gone.
    """
    there = (runs, evaluations, stress, logic, consistency)
    if not any(there) or len({run.name for run in runs}) < len(runs):
        raise InputError("a report is on one run or several, with different names")
    sections = [] if stress is None else stress_sections(stress)
    sections += [] if logic is None else logic_sections(logic)
    sections += [] if consistency is None else consistency_sections(consistency)
    sections += [version_section(evaluations)] if evaluations else []
    if not runs:
        return Contents(
            runs=(),
            sections=tuple(sections),
            evaluations=tuple(evaluations),
            stress=stress,
            logic=logic,
            consistency=consistency,
        )
    test_sets = gather_answers(runs)
    sections += [
        result_section(runs),
        robustness_section(runs),
        *comparison_sections(runs, test_sets),
        *soundness_sections(runs, marked),
        *effect_sections(test_sets, train),
        *example_sections(test_sets, hard_cases),
        provenance_section(runs),
    ]
    return Contents(
        runs=tuple(runs),
        sections=tuple(sections),
        evaluations=tuple(evaluations),
        stress=stress,
        logic=logic,
        consistency=consistency,
    )
