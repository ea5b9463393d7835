"""Tables of paraphrastic consistency by a column, by diversity and by partial input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.report.consistency import interval_name, pair_table, range_of, whose
from ietest_fast.report.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.consistency.partition import ConsistencySubsets
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.report.tables import Cell, Range
    from ietest_fast.stats.consistency.intervals import BucketEstimate

MEASURE_NAMES = {
    "lexical_distance": "lexical distance",
    "jaccard": "Jaccard",
    "character_overlap": "character overlap",
    "bleu": "BLEU",
    "length_ratio": "length ratio",
    "tag_distance": "tag distance",
    "relation_distance": "relation distance",
}
"""What measures of diversity are called in tables."""

_MEASURE_NOTES = {
    "lexical_distance": "lexical distance: edit distance of characters between the bags of words",
    "jaccard": "Jaccard, character overlap, BLEU: similarities of words, of trigrams of "
    "characters, and of sequences of words",
    "length_ratio": "length ratio: words of the paraphrase for each of the original",
    "tag_distance": "tag and relation distance: edit distance of the sequences of tags and of "
    "dependency relations",
}
_PARTS = {"right": "right: artefacts likely", "wrong": "wrong: artefacts less likely"}
_CORRECTED = {"accuracy": "accuracy", "p_c": "P_C, plug-in", "p_c_unbiased": "P_C, unbiased"}


def subset_tables(profile: ConsistencyProfile) -> list[Table]:
    """Return consistency by the values of a column, and the comparisons; empty without one."""
    found = profile.subsets
    if found is None:
        return []
    parts = part_table(
        profile,
        found,
        title=f"Consistency by {found.column}{whose(profile)}",
        note="The values part the items."
        if found.are_items
        else "The values part the paraphrases; an item may be in several lines.",
    )
    how = "different items" if found.are_items else "the same items"
    pairs = pair_table(found.pairs, title=f"Comparison by {found.column}, on {how}{whose(profile)}")
    return [parts] if pairs is None else [parts, pairs]


def part_table(
    profile: ConsistencyProfile,
    found: ConsistencySubsets,
    *,
    title: str,
    note: str,
    name: str = "consistency-subsets",
    heading: str | None = None,
    labels: Mapping[str, str] | None = None,
    before: Sequence[tuple[Column, Mapping[str, Cell]]] = (),
) -> Table:
    """Return accuracy and consistency of the parts of a classifier's answers, a line for each."""
    interval = interval_name(profile.result)
    return Table(
        name=name,
        title=title,
        columns=(
            Column(heading or found.column),
            *(column for column, _ in before),
            Column("items", "count"),
            Column("paraphrases", "count"),
            Column("originals %", "percent"),
            Column("macro %", "percent"),
            Column("P_C %", "percent"),
            Column(f"P_C: {interval}", "percent"),
            Column("P_C, unbiased %", "percent"),
            Column(f"P_C, unbiased: {interval}", "percent"),
            Column("PVAP %", "percent"),
        ),
        rows=tuple(
            (
                (labels or {}).get(value, value),
                *(values.get(value) for _, values in before),
                part.n_buckets,
                part.n_paraphrases,
                _value(part.estimates.get("accuracy_original")),
                part["accuracy_macro"].value,
                part["p_c"].value,
                range_of(part["p_c"].interval),
                _value(part.estimates.get("p_c_unbiased")),
                _range(part.estimates.get("p_c_unbiased")),
                part["pvap"].value,
            )
            for value, part in found.parts.items()
        ),
        note=note,
    )


def mean_diversity_tables(profiles: Sequence[ConsistencyProfile]) -> list[Table]:
    """Return the mean diversity of paraphrases; one table where that of all models is the same."""
    known = [each for each in profiles if each.diversity is not None]
    alike = len({repr(each.diversity.means) for each in known if each.diversity is not None}) == 1
    tables = []
    for each in known[:1] if alike else known:
        found = each.diversity
        if found is None:
            continue
        measures = list(found.means[0].means)
        notes = [note for name, note in _MEASURE_NOTES.items() if name in measures]
        of = "" if alike else whose(each)
        tables.append(
            Table(
                name="consistency-diversity",
                title=f"Diversity of the paraphrases{of}",
                columns=(
                    Column(found.column or "paraphrases"),
                    Column("items", "count"),
                    Column("paraphrases" if found.column else "number", "count"),
                    *(Column(MEASURE_NAMES[name], "number", 3) for name in measures),
                ),
                rows=tuple(
                    (own.name, own.n_items, own.n_paraphrases, *(own.means[m] for m in measures))
                    for own in found.means
                ),
                note=f"Means over paraphrases, each compared with its original in "
                f"{' and '.join(found.texts)}. {_sentence('; '.join(notes))}",
            )
        )
    return tables


def diversity_tables(profile: ConsistencyProfile) -> list[Table]:
    """Return consistency by the diversity of paraphrases, and the comparisons."""
    found: list[Table | None] = []
    for own in profile.diversity.groups if profile.diversity is not None else ():
        what = MEASURE_NAMES[own.measure]
        found += [
            part_table(
                profile,
                own.subsets,
                name="consistency-by-diversity",
                title=f"Consistency by {what}{whose(profile)}",
                heading=f"group by {what}",
                before=[(Column("mean", "number", 3), own.means)],
                note=f"Items in groups of about the same size, by the mean {what} between their "
                "paraphrases and their original.",
            ),
            pair_table(
                own.subsets.pairs, title=f"Comparison by {what}, on different items{whose(profile)}"
            ),
        ]
    return [table for table in found if table is not None]


def partial_tables(profile: ConsistencyProfile) -> list[Table]:
    """Return consistency by what a part of the input decides (Table 7), and the comparison."""
    found = profile.partial
    if found is None:
        return []
    own = {name: each.paraphrases for name, each in found.own.items()}
    tables = [
        part_table(
            profile,
            found.subsets,
            name="consistency-partial-input",
            title=f"Consistency by the answers to a part of the input{whose(profile)}",
            heading="answered from a part",
            labels=_PARTS,
            before=[(Column("from a part, paraphrases %", "percent"), own)],
            note=f"Items whose originals {found.name}, which saw a part of the input, gets right "
            "and wrong; its accuracy on their paraphrases is in the first column of numbers, and "
            "those behind it are of the model that saw all of the input.",
        )
    ]
    pairs = pair_table(
        found.subsets.pairs,
        title=f"Comparison by the answers to a part of the input{whose(profile)}",
    )
    corrected = _corrected_parts(profile)
    return tables + [table for table in (pairs, corrected) if table is not None]


def _corrected_parts(profile: ConsistencyProfile) -> Table | None:
    """Return numbers standardised to the strata of the test set, part by part."""
    rows: list[tuple[Cell, ...]] = []
    for name, found in profile.partial.corrected.items() if profile.partial is not None else ():
        for measure, label in _CORRECTED.items():
            own = None if found is None else getattr(found, measure)
            if own is not None and found is not None:
                rows.append(
                    (
                        _PARTS[name],
                        label,
                        found.n_buckets,
                        own.weight_used,
                        own.renormalised,
                        range_of(own.interval),
                        own.paper,
                    )
                )
    if not rows:
        return None
    return Table(
        name="consistency-partial-input-corrected",
        title="Standardised to the strata of the test set, by the answers to a part"
        f"{whose(profile)}",
        columns=(
            Column("answered from a part"),
            Column("measure"),
            Column("items", "count"),
            Column("weight used", "number", 4),
            Column("renormalised %", "percent"),
            Column(interval_name(profile.result), "percent"),
            Column("as in the paper %", "percent"),
        ),
        rows=tuple(rows),
        note="Each part has the strata of the whole test set as weights, as in the paper: a "
        "standardised number, not an estimate of any set of items.",
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _value(own: BucketEstimate | None) -> float | None:
    return None if own is None else own.value


def _range(own: BucketEstimate | None) -> Range | None:
    return None if own is None else range_of(own.interval)
