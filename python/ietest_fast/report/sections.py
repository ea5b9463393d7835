"""Sections of a report on texts of test sets, and on finished models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.report.charts import substitution_chart
from ietest_fast.report.effects import (
    N_FREQUENT,
    extent_table,
    find_label_words,
    find_substitutions,
    flip_table,
    frequent_table,
    label_word_table,
    length_table,
    spread_table,
)
from ietest_fast.report.evaluations import (
    changed_table,
    joint_table,
    version_strata_tables,
    version_table,
)
from ietest_fast.report.examples import find_hard_cases, hard_case_table, hard_pair_table
from ietest_fast.report.parts import (
    OWN_FIGURES,
    Examples,
    Figures,
    Heading,
    Note,
    Numbers,
    Part,
    Section,
)
from ietest_fast.report.runs import make_demo_train
from ietest_fast.report.stress import (
    accuracy_table,
    error_table,
    example_tables,
    group_chart,
    kind_table,
    pair_tables,
    side_by_side,
    stress_chart,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.corpus import Corpus
    from ietest_fast.report.evaluations import Evaluation
    from ietest_fast.report.examples import TestSetAnswers
    from ietest_fast.report.runs import Versions
    from ietest_fast.report.stress import StressSource


def effect_sections(test_sets: Sequence[TestSetAnswers], train: Corpus | None) -> list[Section]:
    """Return sections on what rephrasing did to the texts, and to the answers."""
    if not test_sets:
        return []
    parts: list[Part] = []
    for number, found in enumerate(test_sets, start=1):
        own = len(parts)
        if len(test_sets) > 1:
            parts.append(Heading(text=_say_test_set(found)))
        substitutions = find_substitutions(found.versions)
        parts += [
            Numbers(table=extent_table(found.versions, substitutions)),
            Numbers(table=spread_table(substitutions)),
            Numbers(table=length_table(found.versions)),
        ]
        if substitutions.names:
            parts += [
                Figures(
                    charts=(
                        substitution_chart(substitutions, f"substitutions-{number}", N_FREQUENT),
                    )
                ),
                Numbers(
                    table=frequent_table(substitutions), folded="The numbers behind this figure"
                ),
            ]
        own_train = make_demo_train(found.runs[0]) if train is None else train
        if own_train is not None:
            _check_train(own_train, found.versions)
            words = find_label_words(own_train)
            parts.append(Numbers(table=label_word_table(words, found.versions)))
        parts += [
            Numbers(table=flip_table(substitutions, answers, model=run.name))
            for run, answers in zip(found.runs, found.answers, strict=True)
        ]
        if len(test_sets) > 1:
            parts[own:] = [_of_test_set(part, found) for part in parts[own:]]
    return [
        Section(
            id="transformation",
            title="What the transformation did",
            intro=(
                "How much of the test set was changed, by which substitutions, and which of them "
                "go with changed answers."
            ),
            parts=tuple(parts),
        )
    ]


def _check_train(train: Corpus, versions: Versions) -> None:
    if train.text_columns != versions.columns:
        raise InputError(
            f"has the text columns {', '.join(train.text_columns)}; the run's are "
            f"{', '.join(versions.columns)}",
            path=train.source,
        )
    if train.label_names != versions.label_names:
        raise InputError(
            f"has the labels {', '.join(train.label_names)}; the run's are "
            f"{', '.join(versions.label_names)}",
            path=train.source,
        )


def _of_test_set(part: Part, found: TestSetAnswers) -> Part:
    """Name the test set in the title of a table: in a file of its own it has no heading."""
    if not isinstance(part, Numbers):
        return part
    run = found.runs[0]
    title = f"{part.table.title} ({run.transformation} on {run.data_name})"
    return replace(part, table=replace(part.table, title=title))


def _say_test_set(found: TestSetAnswers) -> str:
    run = found.runs[0]
    models = list(dict.fromkeys(each.model for each in found.runs))
    # Names tell runs apart by their transformation and data, which are said already.
    names = models if len(models) == len(found.runs) else [each.name for each in found.runs]
    return f"{run.transformation} on {run.data_name}, for {', '.join(names)}"


def example_sections(test_sets: Sequence[TestSetAnswers], hard_cases: str) -> list[Section]:
    """Return sections of observations to read."""
    if not test_sets:
        return []
    return [
        Section(
            id="examples",
            title="Examples",
            intro=(
                "Every observation of the test set with both versions, edits marked (what was "
                "taken out is struck through, what was put in underlined), and the answers of each "
                "model's classifier at the chosen ρ and m. ✓ is right, ✗ wrong."
            ),
            parts=tuple(
                _of_test_set(part, found) if len(test_sets) > 1 else part
                for found in test_sets
                for part in (
                    Numbers(table=hard_case_table(found.hardness)),
                    *_hard_pairs(found, hard_cases),
                    Examples(title=_say_test_set(found), found=found),
                )
            ),
        )
    ]


def _hard_pairs(found: TestSetAnswers, quantifier: str) -> list[Part]:
    rows = find_hard_cases(found.answers, found.versions.gold, quantifier=quantifier)
    if len(rows) == 0:
        return []
    table = hard_pair_table(found.versions, rows, quantifier=quantifier)
    return [Numbers(table=table, folded=table.title)]


# Sections of a report on finished models: stress tests, and versions of texts.


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
