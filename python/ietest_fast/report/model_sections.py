"""Sections of a report on finished models: stress tests, and versions of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.report.evaluations import (
    changed_table,
    joint_table,
    version_strata_tables,
    version_table,
)
from ietest_fast.report.parts import (
    OWN_FIGURES,
    Figures,
    Heading,
    Note,
    Numbers,
    Part,
    Section,
)
from ietest_fast.report.stress import (
    accuracy_table,
    error_table,
    kind_table,
    pair_tables,
    side_by_side,
)
from ietest_fast.report.stress_charts import group_chart, stress_chart
from ietest_fast.report.stress_runs import example_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.report.evaluations import Evaluation
    from ietest_fast.report.stress_runs import StressSource


def stress_sections(found: StressSource) -> list[Section]:
    """Return sections on finished models on stress tests."""
    profiles = found.profiles
    drawn = profiles[:OWN_FIGURES]
    groups = [group_chart(each, f"stress-groups-{i}") for i, each in enumerate(drawn, start=1)]
    charts = [stress_chart(profiles, "stress"), *(chart for chart in groups if chart is not None)]
    several = len(profiles) > 1
    parts: list[Part] = [*(Figures(charts=(chart,)) for chart in charts[:1])]
    if several:
        parts.append(Numbers(table=side_by_side(profiles)))
    if len(charts) > 1:
        parts.append(Figures(charts=tuple(charts[1:])))
    for profile in profiles:
        parts.append(Numbers(table=accuracy_table(profile)))
        parts += [Note(text=line) for line in profile.remarks()]
    errors = [table for each in profiles if (table := error_table(each)) is not None]
    kinds = [table for each in profiles if (table := kind_table(each)) is not None]
    pairs = [table for each in profiles for table in pair_tables(each)]
    for title, tables in (
        ("The errors", errors),
        ("Kinds of change", kinds),
        ("Antonyms in the training data", pairs),
    ):
        if tables:
            parts.append(Heading(text=title))
            parts += [Numbers(table=table) for table in tables]
    examples = [table for each in drawn for table in example_tables(each)]
    sections = [
        Section(
            id="stress",
            title="Stress tests",
            intro=(
                "A finished model answers the original texts and those of every test. Tests that "
                "keep labels are compared with the originals, item by item; the others are new "
                "pairs of texts with labels of their own."
            ),
            parts=tuple(parts),
        )
    ]
    if examples:
        sections.append(
            Section(
                id="stress-examples",
                title="Examples of wrong answers",
                intro="Rows of the stress tests that a model gets wrong.",
                parts=tuple(Numbers(table=table, folded=table.title) for table in examples),
            )
        )
    return sections


def _caveats(evaluations: Sequence[Evaluation]) -> list[Part]:
    """Note what eval says of a file, and where p speaks of texts that were not reworded."""
    said = []
    for each in evaluations:
        start = f"{each.name}: " if len(evaluations) > 1 else ""
        said += [*each.notes, *(start + line for x in each.comparison.tests for line in x.caveats)]
    return [Note(text=line) for line in said]


def version_section(evaluations: Sequence[Evaluation]) -> Section:
    """Return the section on finished models on several versions of texts."""
    outcomes = [each for evaluation in evaluations for each in evaluation.outcomes]
    joint = joint_table(evaluations)
    changed = [table for each in outcomes[:OWN_FIGURES] if (table := changed_table(each))]
    strata = [table for each in outcomes[:OWN_FIGURES] for table in version_strata_tables(each)]
    return Section(
        id="versions",
        title="Every version of the texts",
        intro=(
            "A finished model answers every version of the same items. Each version is tested "
            "against the original."
        ),
        parts=(
            Numbers(table=version_table(evaluations)),
            *_caveats(evaluations),
            *([] if joint is None else [Numbers(table=joint)]),
            *([Heading(text="By label and number of edits")] if strata else []),
            *(Numbers(table=table) for table in strata),
            *([Heading(text="Where the answers part")] if changed else []),
            *(Numbers(table=table, folded=table.title) for table in changed),
        ),
    )
