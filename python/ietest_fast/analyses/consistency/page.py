"""Sections of a report on paraphrastic consistency."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ietest_fast.analyses.consistency.asking import Consistency, measure
from ietest_fast.analyses.consistency.charts import (
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
from ietest_fast.analyses.consistency.file import ConsistencyNotes, name_answers, need_wordings
from ietest_fast.analyses.consistency.noting import ConsistencyOptions
from ietest_fast.analyses.consistency.paranlu import paranlu_kind
from ietest_fast.analyses.consistency.tables import (
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
from ietest_fast.analyses.consistency.wordings import find_wordings
from ietest_fast.answers.file import plain_name, read_notes
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.report.contents import (
    OWN_FIGURES,
    Figures,
    Finding,
    Heading,
    Note,
    Numbers,
    Part,
    Reading,
    Section,
    compress,
)
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats import Verdict
from ietest_fast.values import as_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ietest_fast.analyses.consistency.curves import ConsistencyCurve
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile


# Items with all their wordings and the answers of every classifier, as the page carries them.

MOST_ITEMS = 20_000
"""Of more items a page carries so many, those that split first."""


MOST_BYTES = 4_000_000
"""Of packed items; of more a page carries as many as fit, those that split first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WordingsOfItems:
    """Items to be read on the page."""

    models: tuple[str, ...]
    """Names of the classifiers."""
    columns: tuple[str, ...]
    """Names of the columns of texts."""
    items: tuple[dict[str, Any], ...]
    """For each its name, its gold label, and rows: version, texts, and for each classifier its
    answer, whether that is right and the confidence in the gold label, or None."""
    n_left: int
    n_split_left: int = 0
    """Items that are not carried, and those of them that a classifier splits."""

    def pack(self) -> str:
        """Compress for the page: JSON, gzipped, in base64, so that no text stands there as is."""
        return _pack(self.models, self.columns, self.items)

    def on_page(self) -> Reading:
        """Return them as a part of the page."""
        return Reading(kind="wordings", title="Items", packed={"packed": self.pack()})

    def remark(self) -> str | None:
        """Say which items are not carried; None if all are."""
        if not self.n_left:
            return None
        n = len(self.items)
        left = (
            f"{self.n_split_left:,} of those are answered rightly in some paraphrases and wrongly "
            "in others"
            if self.n_split_left
            else "none of those is answered rightly in some paraphrases and wrongly in others"
        )
        return (
            f"This page carries {n:,} of {n + self.n_left:,} items, to stay small enough to open: "
            f"those that split first. {self.n_left:,} are left out, and {left}. Figures and tables "
            "are of all items."
        )


def _pack(models: Sequence[str], columns: Sequence[str], items: Sequence[dict[str, Any]]) -> str:
    described = {"models": models, "columns": columns, "items": items}
    return compress(json.dumps(described, ensure_ascii=False, allow_nan=False).encode())


def gather_wordings(
    profiles: Sequence[ConsistencyProfile], texts: Sequence[str]
) -> WordingsOfItems | None:
    """Put the answers of classifiers to the same wordings beside each other."""
    columns = [name for name in texts if any(name in each.predictions.columns for each in profiles)]
    if not columns:
        return None
    found: dict[Any, dict[str, Any]] = {}
    rows: dict[tuple[Any, ...], list[Any]] = {}
    for number, profile in enumerate(profiles):
        for row, answer in _list_answers(profile, columns):
            key = row["item"], row["version"], row.get("copy")
            if key not in rows:
                item = found.setdefault(
                    row["item"], {"item": str(row["item"]), "gold": row.get("gold"), "rows": []}
                )
                line = [row["version"], [row.get(name) for name in columns], [None] * len(profiles)]
                rows[key] = line
                item["rows"].append(line)
            rows[key][2][number] = answer
    for item in found.values():
        item["rows"].sort(key=lambda line: line[0] != ORIGINAL)
    with_paraphrases = [
        each for each in found.values() if any(r[0] != ORIGINAL for r in each["rows"])
    ]
    chosen = sorted(with_paraphrases, key=lambda item: not _splits(item, len(profiles)))
    models = tuple(each.name for each in profiles)
    carried = chosen[:MOST_ITEMS]
    while (size := len(_pack(models, columns, carried))) > MOST_BYTES and len(carried) > 1:
        carried = carried[: max(1, int(0.95 * len(carried) * MOST_BYTES / size))]
    left = chosen[len(carried) :]
    return WordingsOfItems(
        models=models,
        columns=tuple(columns),
        items=tuple(carried),
        n_left=len(left),
        n_split_left=sum(_splits(item, len(profiles)) for item in left),
    )


def _list_answers(
    profile: ConsistencyProfile, columns: Sequence[str]
) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """Give each row with what the page says of its answer: which, whether right, and how sure."""
    predictions = profile.predictions
    names = ("item", "version", "copy", "gold", "predicted", *columns)
    wanted = [name for name in names if name in predictions.table.column_names]
    table = predictions.table.select(wanted)
    for place, name in enumerate(wanted):
        if name in columns:  # whatever a file holds there, the page shows texts
            texts_of = as_texts(table[name], path=predictions.source, name=name)
            table = table.set_column(place, name, texts_of)
    right = predictions.correct.tolist()
    # Originals stand first, paraphrases as they are in the table.
    confidence = find_wordings(predictions).confidence
    sure = [None] * len(right) if confidence is None else np.round(confidence, 3).tolist()
    for row, is_right, own in zip(table.to_pylist(), right, sure, strict=True):
        yield row, [row.get("predicted"), int(is_right), own]


def _splits(item: dict[str, Any], n_models: int) -> bool:
    """Whether a classifier answers some paraphrases rightly and others wrongly."""
    for number in range(n_models):
        own = {
            answers[number][1]
            for version, _, answers in item["rows"]
            if version != ORIGINAL and answers[number] is not None
        }
        if len(own) > 1:
            return True
    return False


# Answers to wordings, read for a report: profiles, what they show, items that split.

N_SPLIT = 25
"""Lines of the table of items that split."""


class ConsistencySource(Consistency):
    """The consistency of one classifier or several, as a page shows it."""

    key: ClassVar[str] = "consistency"
    title: ClassVar[str] = "Paraphrastic consistency"
    noun: ClassVar[str] = "paraphrases"

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether a file is of ``consistency --out``, or holds ParaNLU's results."""
        return paranlu_kind(path) == "results" or read_notes(path, ConsistencyNotes) is not None

    @classmethod
    def read(cls, paths: Sequence[Path], **_: float) -> Self:
        """Read answers to wordings and measure their consistency, with intervals of 95%."""
        answers = name_answers([need_wordings(path) for path in paths], paths)
        found = measure(answers, ConsistencyOptions())
        profiles = found.profiles
        if len(profiles) == 1 and not profiles[0].group:
            profiles = (replace(profiles[0], group={"model": plain_name(paths[0])}),)
        return cls(
            answers=found.answers,
            profiles=profiles,
            pairs=found.pairs,
            remarks=found.remarks,
            curves=found.curves,
        )

    def findings(self) -> list[Finding]:
        """Say in a sentence for each classifier what its answers show."""
        said = [say_consistency(profile) for profile in self.profiles]
        return [Finding(kind=verdict.finding_kind, text=text) for verdict, text in said]

    def sections(self) -> list[Section]:
        """Return how alike the paraphrases are answered, by what, and all items to be read."""
        profiles = self.profiles
        several = len(profiles) > 1
        drawn = profiles[:OWN_FIGURES]
        charts = (
            consistency_chart(profiles, "consistency"),
            plane_chart(profiles, "consistency-plane"),
        )
        parts: list[Part] = [Figures(charts=charts)]
        if several:
            parts.append(Numbers(table=overview_table(profiles)))
            pairs = pair_table(self.pairs, title="Comparison of models on the same items")
            if pairs is not None:
                parts.append(Numbers(table=pairs, folded=_fold(pairs)))
            parts += [Note(text=line) for line in self.remarks]
        curves = curve_parts(self.curves, "consistency-amounts", of_runs=False)
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
                    "A finished model answers several paraphrases of each item. P_C is the "
                    "probability that two paraphrases of an item are both answered rightly or both "
                    "wrongly (Srikanth et al. 2024)."
                ),
                parts=tuple(parts),
            )
        ]
        return [
            *sections,
            *_diversity_sections(self),
            *_partial_sections(self),
            *_wording_sections(self),
        ]


def _wording_sections(source: ConsistencySource) -> list[Section]:
    """Return the section of all items to be read; none where their texts are not known."""
    parts: list[Part] = []
    items = gather_wordings(source.profiles, source.text_columns)
    if items is not None:
        said = items.remark()
        parts += [] if said is None else [Note(text=said)]
        parts.append(items.on_page())
    for profile in source.profiles[:OWN_FIGURES]:
        table = split_table(profile, source.text_columns)
        if table is not None:
            parts.append(Numbers(table=table, folded=table.title))
    if not parts:
        return []
    return [
        Section(
            id="wordings",
            title="Items and their paraphrases",
            intro="Every wording of an item, with the answers; in brackets: confidence in the "
            "right one.",
            parts=tuple(parts),
        )
    ]


def say_consistency(profile: ConsistencyProfile) -> tuple[Verdict, str]:
    """Say in one sentence what the answers of a classifier show."""
    kind = Verdict.DIFFERS if profile.result.n_split else Verdict.UNDECIDED
    return kind, f"{profile.name}: {profile.headline}"


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


_MOST_ROWS = 12


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
