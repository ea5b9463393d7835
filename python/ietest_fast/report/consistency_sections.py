"""Sections of a report on paraphrastic consistency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.report.amount_sections import curve_parts
from ietest_fast.report.consistency import (
    corrected_table,
    count_table,
    measure_table,
    overview_table,
    pair_table,
    say_remarks,
    strata_table,
)
from ietest_fast.report.consistency_charts import (
    consistency_chart,
    part_chart,
    plane_chart,
    theta_chart,
)
from ietest_fast.report.consistency_parts import (
    MEASURE_NAMES,
    diversity_tables,
    mean_diversity_tables,
    partial_tables,
    subset_tables,
)
from ietest_fast.report.consistency_runs import split_table
from ietest_fast.report.consistency_sizes import size_table
from ietest_fast.report.parts import (
    OWN_FIGURES,
    Figures,
    Heading,
    Note,
    Numbers,
    Part,
    Section,
    Wordings,
)
from ietest_fast.report.wordings import gather_wordings

if TYPE_CHECKING:
    from ietest_fast.report.consistency_runs import ConsistencySource
    from ietest_fast.report.tables import Table

_MOST_ROWS = 12


def consistency_sections(found: ConsistencySource) -> list[Section]:
    """Return sections on how alike finished models answer paraphrases."""
    profiles = found.profiles
    several = len(profiles) > 1
    drawn = profiles[:OWN_FIGURES]
    charts = (
        consistency_chart(profiles, "consistency"),
        plane_chart(profiles, "consistency-plane"),
    )
    parts: list[Part] = [Figures(charts=charts)]
    if several:
        parts.append(Numbers(table=overview_table(profiles)))
        pairs = pair_table(found.pairs, title="Comparison of models on the same items")
        if pairs is not None:
            parts.append(Numbers(table=pairs, folded=_fold(pairs)))
        parts += [Note(text=line) for line in found.remarks]
    curves = curve_parts(found.curves, "consistency-amounts", of_runs=False)
    parts += [*(Heading(text="Over the amount of data") for _ in curves[:1]), *curves]
    parts += [Heading(text="Every measure")] if curves else []
    measures = [measure_table(each) for each in profiles]
    parts += [Numbers(table=own, folded=own.title if several else None) for own in measures]
    parts += [Numbers(table=size_table(profiles)), Numbers(table=count_table(profiles))]
    parts += [Note(text=line) for line in say_remarks(profiles)]
    corrected = corrected_table(profiles)
    if corrected is not None:
        parts += [Heading(text="The full test set"), Numbers(table=corrected)]
        strata = [table for each in drawn if (table := strata_table(each)) is not None]
        parts += [Numbers(table=table, folded=table.title) for table in strata]
    subsets = [table for each in profiles for table in subset_tables(each)]
    if subsets:
        parts.append(Heading(text="Subsets"))
        parts += [Numbers(table=table) for table in subsets]
    parts.append(Heading(text="How many paraphrases of an item are answered rightly"))
    parts.append(
        Figures(
            charts=tuple(
                theta_chart(each, f"consistency-shares-{i}")
                for i, each in enumerate(drawn, start=1)
            )
        )
    )
    sections = [
        Section(
            id="consistency",
            title="Paraphrastic consistency",
            intro=(
                "A finished model answers several paraphrases of each item. P_C is the probability "
                "that two paraphrases of an item are both answered rightly or both wrongly "
                "(Srikanth et al. 2024)."
            ),
            parts=tuple(parts),
        )
    ]
    sections += [*_diversity_sections(found), *_partial_sections(found)]
    shown = [
        table for each in drawn if (table := split_table(each, found.text_columns)) is not None
    ]
    items = gather_wordings(profiles, found.text_columns)
    below: list[Part] = [] if items is None else [Wordings(title="Items", found=items)]
    if items is not None and (said := items.remark()) is not None:
        below.insert(0, Note(text=said))
    below += [Numbers(table=table, folded=table.title) for table in shown]
    if below:
        sections.append(
            Section(
                id="wordings",
                title="Items and their paraphrases",
                intro="Every wording of an item, with the answers; in brackets: confidence in the "
                "right one.",
                parts=tuple(below),
            )
        )
    return sections


def _diversity_sections(found: ConsistencySource) -> list[Section]:
    """Return how diverse the paraphrases are, and consistency by it; empty if not measured."""
    known = [each for each in found.profiles if each.diversity is not None]
    if not known:
        return []
    charts = [
        part_chart(
            each,
            own.subsets,
            f"consistency-diversity-{number}-{place}",
            what=MEASURE_NAMES[own.measure],
        )
        for number, each in enumerate(known[:OWN_FIGURES], start=1)
        for place, own in enumerate(each.diversity.groups if each.diversity else (), start=1)
    ]
    parts: list[Part] = [Figures(charts=tuple(charts))]
    parts += [Numbers(table=table) for table in mean_diversity_tables(known)]
    parts += [Numbers(table=table) for each in known for table in diversity_tables(each)]
    return [
        Section(
            id="diversity",
            title="Diversity of the paraphrases",
            intro="How far paraphrases are from their originals, and whether items with more "
            "diverse ones are answered less consistently.",
            parts=tuple(parts),
        )
    ]


def _partial_sections(found: ConsistencySource) -> list[Section]:
    """Return consistency by what a part of the input decides; empty if it was not measured."""
    known = [each for each in found.profiles if each.partial is not None]
    if not known:
        return []
    return [
        Section(
            id="partial-input-items",
            title="What a part of the input decides",
            intro="A model that sees a part of the input cannot know the answer, so what it gets "
            "right is likelier to have an artefact. A model that relies on artefacts is consistent "
            "there alone.",
            parts=tuple(Numbers(table=table) for each in known for table in partial_tables(each)),
        )
    ]


def _fold(table: Table) -> str | None:
    """Return the words that a long table is folded away under; None for a short one."""
    return table.title if len(table.rows) > _MOST_ROWS else None
