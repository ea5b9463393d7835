"""Sections of a report on paraphrastic consistency."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.analyses.consistency.asking import Consistency, measure
from ietest_fast.analyses.consistency.file import ConsistencyNotes, name_answers, need_wordings
from ietest_fast.analyses.consistency.options import ConsistencyOptions
from ietest_fast.analyses.consistency.paranlu import paranlu_kind
from ietest_fast.answers.file import plain_name, read_notes
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.experiment.run_consistency import measure_run
from ietest_fast.plurals import say_count
from ietest_fast.report.consistency import (
    MEASURE_NAMES,
    corrected_table,
    count_table,
    diversity_tables,
    mean_diversity_tables,
    measure_table,
    overview_table,
    pair_table,
    partial_tables,
    say_remarks,
    size_table,
    strata_table,
    subset_tables,
)
from ietest_fast.report.consistency_charts import (
    MOST_CURVES,
    amount_chart,
    consistency_chart,
    curve_table,
    part_chart,
    path_chart,
    plane_chart,
    step_table,
    theta_chart,
)
from ietest_fast.report.learning import chosen_rhos, curves_of_runs
from ietest_fast.report.parts import (
    OWN_FIGURES,
    Figures,
    Heading,
    Note,
    Numbers,
    Part,
    Section,
    Wordings,
    gather_wordings,
)
from ietest_fast.report.runs import name_models
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.analyses.consistency.curves import ConsistencyCurve
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.report.runs import FinishedRun


# Answers to wordings, read for a report: profiles, what they show, items that split.

N_SPLIT = 25
"""Lines of the table of items that split."""


def find_consistency(path: Path) -> bool:
    """Whether a file holds answers to wordings: of ``consistency --out``, or ParaNLU's results."""
    return paranlu_kind(path) == "results" or read_notes(path, ConsistencyNotes) is not None


def read_consistency(paths: Sequence[Path], *, confidence_level: float = 0.95) -> Consistency:
    """Read answers to wordings and measure their consistency."""
    answers = name_answers([need_wordings(path) for path in paths], paths)
    found = measure(answers, ConsistencyOptions(confidence_level=confidence_level))
    if len(found.profiles) > 1 or found.profiles[0].group:
        return found
    named = replace(found.profiles[0], group={"model": plain_name(paths[0])})
    return replace(found, profiles=(named,))


def say_consistency(profile: ConsistencyProfile) -> tuple[Verdict, str]:
    """Say in one sentence what the answers of a classifier show."""
    result = profile.result
    parts = [f"accuracy {_percent(result['accuracy_macro'].value)} over items"]
    own = result.estimates.get("p_c_unbiased")
    label = "P_C (unbiased)"
    if own is None or own.value is None:
        own, label = result["p_c"], "P_C"
    ends = own.interval
    interval = "" if ends is None else f" ({100 * ends.low:.1f} to {100 * ends.high:.1f})"
    parts.append(f"{label} {_percent(own.value)}{interval}")
    share = result.n_split / result.n_buckets
    have = "" if result.n_buckets == profile.n_items else " that have paraphrases"
    parts.append(
        f"{result.n_split:,} of {say_count(result.n_buckets, 'item')}{have} ({_percent(share)}) "
        f"{'is' if result.n_split == 1 else 'are'} answered rightly in some paraphrases and "
        "wrongly in others"
    )
    may = result.split_interval
    if not result.n_split and may is not None:
        parts.append(
            f"of all such items, up to {_percent(may.high)} may be "
            f"({100 * result.confidence_level:g}% interval)"
        )
    if profile.shortage is not None:
        n_all = sum(profile.items_by_paraphrases[profile.n_wanted or 0 :])
        parts.append(
            f"warning: only {n_all:,} of {say_count(profile.n_items, 'item')} "
            f"{'has' if n_all == 1 else 'have'} as many paraphrases as were asked for"
        )
    kind = Verdict.DIFFERS if result.n_split else Verdict.UNDECIDED
    return kind, f"{profile.name}: {'; '.join(parts)}."


def _percent(share: float | None) -> str:
    return "not defined" if share is None else f"{100 * share:.1f}%"


def split_table(profile: ConsistencyProfile, texts: Sequence[str]) -> Table | None:
    """Return the items that split most evenly, the original with each; None if none splits."""
    counts = profile.counts
    places = np.flatnonzero(counts.splits)
    if not places.size:
        return None
    theta = counts.theta[places]
    shown = places[np.argsort(np.abs(theta - 0.5), kind="stable")[:N_SPLIT]]
    first: dict[Any, dict[str, Any]] = {}
    wanted = {counts.names[place] for place in shown}
    own = [name for name in texts if name in profile.predictions.columns]
    table = profile.predictions.table.select(["item", "version", *own])
    for row in table.to_pylist():
        if row["item"] in wanted and (row["item"] not in first or row["version"] == ORIGINAL):
            first[row["item"]] = row
    left = len(places) - len(shown)
    return Table(
        name="consistency-split",
        title=f"{profile.name}: items that split ({len(places):,})",
        columns=(
            Column("item"),
            Column("paraphrases", "count"),
            Column("right", "count"),
            Column("original"),
            *(Column(name) for name in own),
        ),
        rows=tuple(
            (
                str(counts.names[place]),
                int(counts.sizes[place]),
                int(counts.right[place]),
                {1: "right", 0: "wrong"}.get(int(counts.originals[place]), "none"),
                *(first[counts.names[place]][name] for name in own),
            )
            for place in shown
        ),
        note=f"The {len(shown)} most evenly split of {len(places):,}." if left else "",
    )


# Parts of a report on consistency over the amount of data that classifiers have seen.

_MOST_RHO = 2


def curve_parts(curves: Sequence[ConsistencyCurve], name: str, *, of_runs: bool) -> list[Part]:
    """Return figures and tables of curves; nothing without one of two points."""
    known = [each for each in curves if len(each.points) > 1]
    if not known:
        return []
    charts = [
        amount_chart(each, f"{name}-{number}") for number, each in enumerate(known[:MOST_CURVES], 1)
    ]
    steps = step_table(known, of_runs=of_runs)
    table = curve_table(known, of_runs=of_runs)
    return [
        Figures(charts=(*charts, path_chart(known, f"{name}-plane"))),
        Numbers(table=table),
        *([] if steps is None else [Numbers(table=steps, folded=steps.title)]),
    ]


def run_consistency_parts(runs: Sequence[FinishedRun]) -> list[Part]:
    """Return what a page shows of P_C over the training rows; nothing without several numbers."""
    folders = {}
    for curve in curves_of_runs(runs):
        results = curve[0].results
        assert results is not None  # noqa: S101 - counts have no numbers of rows
        folders[str(curve[0].source)] = results
    if not folders:
        return []
    parts: list[Part] = [Heading(text="Paraphrastic consistency over the number of training rows")]
    for number, results in enumerate(folders.values(), 1):
        every = sorted({rho.rho for each in results.conditions for rho in each.rhos})
        shown = chosen_rhos(every, _MOST_RHO)
        curves = measure_run(results, names=name_models(results), rhos=shown)
        parts += curve_parts(curves, f"consistency-rows-{number}", of_runs=True)
        if len(shown) < len(every):
            parts.append(
                Note(
                    text=f"Only ρ = {shown[0]:g} and ρ = {shown[-1]:g} are shown; `ietest-fast "
                    "consistency` with the run's folder has all."
                )
            )
    return parts


_MOST_ROWS = 12


def consistency_sections(found: Consistency) -> list[Section]:
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


def _diversity_sections(found: Consistency) -> list[Section]:
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


def _partial_sections(found: Consistency) -> list[Section]:
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
