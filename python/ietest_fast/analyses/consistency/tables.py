"""Tables of paraphrastic consistency (Srikanth et al. 2024)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ietest_fast.numerals import say_count
from ietest_fast.report.tables import Column, PValue, Table
from ietest_fast.stats.consistency.corrected import COMPARED_LABELS
from ietest_fast.stats.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ietest_fast.analyses.consistency.partition import ComparedPair, ConsistencySubsets
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.report.tables import Cell
    from ietest_fast.stats.consistency.corrected import CorrectedResult
    from ietest_fast.stats.consistency.intervals import BucketEstimate
    from ietest_fast.stats.consistency.measure import ConsistencyResult


ALPHA = 0.05
"""What p-values are shown against."""

_MOST_NAMES = 3
# More warnings than this make no note of a table.
_MOST_WARNINGS = 6
_MEASURES = {
    "accuracy_original": "accuracy, originals",
    "accuracy_micro": "accuracy, micro",
    "accuracy_macro": "accuracy, macro",
    "accuracy_change": "macro accuracy minus originals",
    "flip_rate": "flips from the original",
    "p_c": "P_C, plug-in",
    "p_c_unbiased": "P_C, unbiased",
    "lower_bound": "least P_C at this accuracy",
    "vap": "VAP",
    "vap_unbiased": "VAP, unbiased",
    "between": "variance between items",
    "between_unbiased": "variance between items, unbiased",
    "pvap": "PVAP",
    "pvap_unbiased": "PVAP, unbiased",
    "agreement": "same answer, plug-in",
    "agreement_unbiased": "same answer, unbiased",
    "confidence_change": "change of confidence",
    "confidence_distance": "distance of confidences",
}
_OVERVIEW = {
    "accuracy_original": "originals",
    "accuracy_micro": "micro",
    "accuracy_macro": "macro",
    "p_c": "P_C",
    "p_c_unbiased": "P_C, unbiased",
    "pvap": "PVAP",
    "agreement_unbiased": "same answer",
}
_WITH_INTERVALS = {"p_c", "p_c_unbiased"}
_CORRECTED = {"accuracy": "accuracy", "p_c": "P_C, plug-in", "p_c_unbiased": "P_C, unbiased"}


def measure_table(profile: ConsistencyProfile) -> Table:
    """Return all measures of a classifier, with intervals."""
    result = profile.result
    rows: list[tuple[Cell, ...]] = [
        (
            f"{label}, at least" if name == "flip_rate" and result.is_lower_bound else label,
            own.value,
            own.interval,
            own.standard_error,
        )
        for name, label in _MEASURES.items()
        if (own := result.estimates.get(name)) is not None
    ]
    items = say_count(profile.n_items, "item")
    if result.n_buckets < profile.n_items:
        items = f"{result.n_buckets:,} of {items}"
    return Table(
        name="consistency-measures",
        title=f"Paraphrastic consistency{whose(profile)}",
        columns=(
            Column("measure"),
            Column("estimate", "number", 4),
            Column(interval_name(result), "number", 4),
            Column("standard error", "number", 4),
        ),
        rows=tuple(rows),
        note=f"Over {items}, with "
        f"{say_count(result.n_paraphrases, 'paraphrase')}"
        f"{_clusters(result)}; originals are no paraphrases. micro: over paraphrases; macro: over "
        "items. Plug-in measures pair each paraphrase with itself too, as in the paper; unbiased "
        "ones do not. Intervals: over items, or over clusters.",
    )


def overview_table(profiles: Sequence[ConsistencyProfile]) -> Table:
    """Return a line for each classifier."""
    labels = choose_known(_OVERVIEW, [each.result for each in profiles])
    columns = [Column("model"), Column("items", "count"), Column("paraphrases", "count")]
    columns += measure_columns(labels, _WITH_INTERVALS, profiles[0].result)
    return Table(
        name="consistency-models",
        title="Accuracy and paraphrastic consistency",
        columns=tuple(columns),
        rows=tuple(
            (
                each.name,
                each.result.n_buckets,
                each.result.n_paraphrases,
                *measure_cells(each.result, labels, _WITH_INTERVALS),
            )
            for each in profiles
        ),
        note="micro, macro: accuracy over paraphrases, and over items. PVAP: share of the variance "
        "of correctness that is due to paraphrasing. Same answer: two paraphrases of an item are "
        "answered alike, rightly or not (unbiased).",
    )


def choose_known(labels: Mapping[str, str], results: Sequence[ConsistencyResult]) -> dict[str, str]:
    """Return those measures that are known of some results."""
    known = {name for each in results for name in each.estimates}
    return {name: label for name, label in labels.items() if name in known}


def measure_columns(
    labels: Mapping[str, str],
    with_intervals: Collection[str],
    result: ConsistencyResult,
    *,
    with_spread: bool = False,
) -> list[Column]:
    """Return a column for each measure, and behind some those of :func:`measure_cells`."""
    columns = []
    for name, label in labels.items():
        columns.append(Column(f"{label} %", "percent"))
        if name in with_intervals:
            columns.append(Column(f"{label}: {interval_name(result)}", "percent"))
            columns += [Column(f"{label}: ± over M", "percent")] if with_spread else []
    return columns


def measure_cells(
    result: ConsistencyResult,
    shown: Iterable[str],
    with_intervals: Collection[str],
    spread: Callable[[str], Cell] | None = None,
) -> list[Cell]:
    """Return measures, and behind some their intervals, and what classifiers differ by."""
    cells: list[Cell] = []
    for name in shown:
        own = result.estimates.get(name)
        cells.append(_value(own))
        if name in with_intervals:
            cells.append(_range(own))
            cells += [] if spread is None else [spread(name)]
    return cells


def count_table(profiles: Sequence[ConsistencyProfile]) -> Table:
    """Return how many items there are of which kind, a line for each classifier."""
    return Table(
        name="consistency-counts",
        title="Items, by how they are answered and what they lack",
        columns=(
            Column("model"),
            Column("with paraphrases", "count"),
            Column("all right", "count"),
            Column("split", "count"),
            Column("all wrong", "count"),
            Column("split %", "percent"),
            Column(interval_name(profiles[0].result), "percent"),
            Column("without original", "count"),
            Column("mixed gold", "count"),
            Column("empty", "count"),
        ),
        rows=tuple(
            (
                each.name,
                each.result.n_buckets,
                int((each.counts.right == each.counts.sizes).sum()),
                each.result.n_split,
                int((each.counts.right == 0).sum()),
                each.result.n_split / each.result.n_buckets,
                each.result.split_interval,
                each.result.n_without_original,
                each.n_mixed,
                each.n_empty,
            )
            for each in profiles
        ),
        note="split: some paraphrases are answered rightly and others wrongly. Mixed gold and "
        "empty (no row that can be used): left out of everything.",
    )


def corrected_table(profiles: Sequence[ConsistencyProfile]) -> Table | None:
    """Return estimates for the full test set; None without one."""
    rows: list[tuple[Cell, ...]] = [
        (each.name, label, n_items, len(found.strata), len(found.missing), *numbers)
        for each in profiles
        if (found := each.corrected) is not None
        for label, n_items, *numbers in _corrected_rows(found)
    ]
    if not rows:
        return None
    return Table(
        name="consistency-corrected",
        title="Estimates for the full test set",
        columns=(
            Column("model"),
            Column("measure"),
            Column("items", "count"),
            Column("strata", "count"),
            Column("without items", "count"),
            *_corrected_columns(profiles[0]),
        ),
        rows=tuple(rows),
        note="Strata: items whose originals have about the same confidence in the gold label, "
        "weighed by their share of the full test set. Weight used: of the strata that have items. "
        "Renormalised: over these alone; the paper leaves the others at zero.",
    )


def _corrected_rows(found: CorrectedResult) -> list[tuple[Cell, ...]]:
    """Return each measure with the items that it is of, and the cells of the columns below."""
    return [
        (label, found.n_buckets, own.weight_used, own.renormalised, own.interval, own.paper)
        for name, label in _CORRECTED.items()
        if (own := getattr(found, name)) is not None
    ]


def _corrected_columns(profile: ConsistencyProfile) -> tuple[Column, ...]:
    return (
        Column("weight used", "number", 4),
        Column("renormalised %", "percent"),
        Column(interval_name(profile.result), "percent"),
        Column("as in the paper %", "percent"),
    )


def strata_table(profile: ConsistencyProfile) -> Table | None:
    """Return the strata of the full test set; None without one."""
    if profile.corrected is None:
        return None
    return Table(
        name="consistency-strata",
        title=f"Strata of confidence{whose(profile)}",
        columns=(
            Column("confidence", "number"),
            Column("share of test set %", "percent"),
            Column("items", "count"),
            Column("accuracy %", "percent"),
            Column("P_C %", "percent"),
        ),
        rows=tuple(
            (Interval(own.low, own.high), own.weight, own.n_buckets, own.accuracy, own.p_c)
            for own in profile.corrected.strata
        ),
    )


def pair_table(
    pairs: Sequence[ComparedPair], *, title: str, n_items: Sequence[int] | None = None
) -> Table | None:
    """Return comparisons of two classifiers or subsets; None without any."""
    counts = [pair.n_buckets for pair in pairs] if n_items is None else n_items
    rows: list[tuple[Cell, ...]] = [
        (
            pair.first,
            pair.second,
            COMPARED_LABELS[measure],
            n,
            own.difference,
            own.interval,
            own.p_value,
            PValue(own.p_adjusted, ALPHA),
        )
        for pair, n in zip(pairs, counts, strict=True)
        for measure, own in pair.means.items()
    ]
    if not rows:
        return None
    return Table(
        name="consistency-pairs",
        title=title,
        columns=(
            Column("first"),
            Column("second"),
            Column("measure"),
            Column("items", "count"),
            Column("first − second", "points"),
            Column(f"{100 * pairs[0].result.confidence_level:g}% interval", "points"),
            Column("p", "p"),
            Column("p, Holm", "p"),
        ),
        rows=tuple(rows),
        note="In points. Holm's correction is over the lines of the same measure; intervals are "
        f"not corrected.{say_warnings(pairs)}",
    )


def say_warnings(pairs: Sequence[ComparedPair]) -> str:
    """Return what to know of the tests, to stand behind a note; empty if nothing."""
    said = [f"{pair.first} and {pair.second}: {line}" for pair in pairs for line in pair.warnings()]
    if not said:
        return ""
    n_more = len(said) - _MOST_WARNINGS
    more = f" There are {n_more:,} more warnings; --json has them." if n_more > 0 else ""
    return f" Warnings. {' '.join(said[:_MOST_WARNINGS])}{more}"


def say_remarks(profiles: Sequence[ConsistencyProfile]) -> list[str]:
    """Return the remarks of classifiers, each once, with the names of those that it is of."""
    of_line: dict[str, list[str]] = {}
    for profile in profiles:
        for line in profile.remarks():
            of_line.setdefault(line, []).append(profile.name)
    if len(profiles) == 1:
        return [*of_line]
    said = []
    for line, names in of_line.items():
        n = len(names)
        is_every = n == len(profiles)
        shown = ", ".join(names[:_MOST_NAMES]) + (
            f" and {n - _MOST_NAMES} more" * (n > _MOST_NAMES)
        )
        said.append(f"{'All models' if is_every else shown}: {line}")
    return said


def whose(profile: ConsistencyProfile) -> str:
    """Say whose a table is, where there are several classifiers."""
    return f": {profile.name}" if profile.group else ""


def interval_name(result: ConsistencyResult) -> str:
    """Return what stands above a column of intervals."""
    return f"{100 * result.confidence_level:g}% interval"


def _clusters(result: ConsistencyResult) -> str:
    return "" if result.n_clusters is None else f" in {say_count(result.n_clusters, 'cluster')}"


# The table of how many paraphrases items have.

MOST_SIZES = 16
"""Of more different numbers of paraphrases, a table has ranges."""


def size_table(profiles: Sequence[ConsistencyProfile]) -> Table:
    """Return how many items have how many paraphrases, and which of them the measures are about.

    A column for each classifier, or one if all have the same items.
    """
    sizes = [each.items_by_paraphrases for each in profiles]
    most = max(map(len, sizes))
    padded = [own + (0,) * (most - len(own)) for own in sizes]
    is_same = len(set(padded)) == 1
    shown = padded[:1] if is_same else padded
    heads = ["items"] if is_same else [each.name for each in profiles]
    columns = [Column("paraphrases of the item")]
    for head in heads:
        columns += [Column(head, "count"), Column(f"{head} %", "percent")]
    wanted = {n for each in profiles if (n := each.n_wanted) is not None}
    rows: list[tuple[Cell, ...]] = []
    for first, last in _ranges(most, wanted, shown):
        cells: list[Cell] = [str(first) if first == last else f"{first} to {last}"]
        for own in shown:
            n = sum(own[first : last + 1])
            cells += [n, n / sum(own)]
        rows.append(tuple(cells))
    return Table(
        name="consistency-sizes",
        title="Items, by how many paraphrases they have",
        columns=tuple(columns),
        rows=tuple(rows),
        note=_say_about(profiles[0]) if is_same else " ".join(map(_say_of, profiles)),
    )


def _ranges(most: int, wanted: set[int], sizes: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Return the numbers of paraphrases to have a line: those that occur, or ranges of many."""
    lines = [k for k in range(most) if wanted or k == 0 or any(own[k] for own in sizes)]
    if len(lines) <= MOST_SIZES:
        return [(k, k) for k in lines]
    edges = [edge for edge in (0, 1, 2, 3, 4, 5, 6, 11, 21, 51, 101) if edge < most]
    return [(low, high - 1) for low, high in pairwise([*edges, most])]


def _say_of(profile: ConsistencyProfile) -> str:
    return f"{profile.name}: {_say_about(profile)}"


def _say_about(profile: ConsistencyProfile) -> str:
    """Say which items the measures are about."""
    n, result = profile.n_items, profile.result
    paired = result.n_buckets - result.n_single
    if result.n_buckets == n:
        about = f"The measures are about {'the item' if n == 1 else f'all {n:,} items'}"
        if paired == n:
            return f"{about}."
    else:
        about = (
            f"The measures are about the {result.n_buckets:,} of {say_count(n, 'item')} that "
            f"{'has' if result.n_buckets == 1 else 'have'} a paraphrase"
        )
    if paired == 0:
        return f"{about}; there are no unbiased ones, because no item has two."
    have = "has" if paired == 1 else "have"
    return f"{about}; the unbiased ones, about the {paired:,} that {have} two or more."


# Tables of paraphrastic consistency by a column, by diversity and by partial input.

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
                part["p_c"].interval,
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
    parts = {} if profile.partial is None else profile.partial.corrected
    rows = [
        (_PARTS[name], *cells)
        for name, found in parts.items()
        if found is not None
        for cells in _corrected_rows(found)
    ]
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
            *_corrected_columns(profile),
        ),
        rows=tuple(rows),
        note="Each part has the strata of the whole test set as weights, as in the paper: a "
        "standardised number, not an estimate of any set of items.",
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _value(own: BucketEstimate | None) -> float | None:
    return None if own is None else own.value


def _range(own: BucketEstimate | None) -> Interval | None:
    return None if own is None else own.interval


# All tables of paraphrastic consistency, in reading order.


def all_tables(
    profiles: Sequence[ConsistencyProfile],
    pairs: Sequence[ComparedPair] = (),
    *,
    details: bool = True,
) -> list[Table]:
    """Return all tables, in reading order; without details those that compare, or are asked for."""
    found: list[Table | None] = []
    if len(profiles) > 1:
        found.append(overview_table(profiles))
        found.append(pair_table(pairs, title="Comparison of models on the same items"))
    elif details:
        found.append(measure_table(profiles[0]))
    found += [size_table(profiles), count_table(profiles)] if details else []
    found.append(corrected_table(profiles))
    if len(profiles) == 1 and details:
        found.append(strata_table(profiles[0]))
    found += [table for each in profiles for table in subset_tables(each)]
    found += mean_diversity_tables(profiles)
    found += [table for each in profiles for table in diversity_tables(each)]
    found += [table for each in profiles for table in partial_tables(each)]
    return [table for table in found if table is not None]
