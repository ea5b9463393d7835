"""Tables of paraphrastic consistency (Srikanth et al. 2024)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.plurals import say_count
from ietest_fast.report.tables import Column, PValue, Range, Table
from ietest_fast.stats.consistency.comparison import COMPARED_LABELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.analyses.consistency.partition import ComparedPair
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.report.tables import Cell
    from ietest_fast.stats.consistency.measure import ConsistencyResult
    from ietest_fast.stats.intervals import Interval

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
    "accuracy_original": "originals %",
    "accuracy_micro": "micro %",
    "accuracy_macro": "macro %",
    "p_c": "P_C %",
    "p_c_unbiased": "P_C, unbiased %",
    "pvap": "PVAP %",
    "agreement_unbiased": "same answer %",
}
_WITH_INTERVALS = {"p_c", "p_c_unbiased"}
_CORRECTED = {"accuracy": "accuracy", "p_c": "P_C, plug-in", "p_c_unbiased": "P_C, unbiased"}


def measure_table(profile: ConsistencyProfile) -> Table:
    """Return all measures of a classifier, with intervals."""
    result = profile.result
    rows: list[tuple[Cell, ...]] = [
        (label, own.value, range_of(own.interval), own.standard_error)
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
        "ones do not. Intervals: BCa bootstrap over items, or over clusters.",
    )


def overview_table(profiles: Sequence[ConsistencyProfile]) -> Table:
    """Return a line for each classifier."""
    shown = [name for name in _OVERVIEW if any(name in each.result.estimates for each in profiles)]
    columns = [Column("model"), Column("items", "count"), Column("paraphrases", "count")]
    for name in shown:
        columns.append(Column(_OVERVIEW[name], "percent"))
        if name in _WITH_INTERVALS:
            of = _OVERVIEW[name].removesuffix(" %")
            columns.append(Column(f"{of}: {interval_name(profiles[0].result)}", "percent"))
    rows: list[tuple[Cell, ...]] = []
    for each in profiles:
        cells: list[Cell] = [each.name, each.result.n_buckets, each.result.n_paraphrases]
        for name in shown:
            own = each.result.estimates.get(name)
            cells.append(None if own is None else own.value)
            if name in _WITH_INTERVALS:
                cells.append(None if own is None else range_of(own.interval))
        rows.append(tuple(cells))
    return Table(
        name="consistency-models",
        title="Accuracy and paraphrastic consistency",
        columns=tuple(columns),
        rows=tuple(rows),
        note="micro, macro: accuracy over paraphrases, and over items. PVAP: share of the variance "
        "of correctness that is due to paraphrasing. Same answer: two paraphrases of an item are "
        "answered alike, rightly or not (unbiased).",
    )


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
                range_of(each.result.split_interval),
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
    rows: list[tuple[Cell, ...]] = []
    for each in profiles:
        found = each.corrected
        if found is None:
            continue
        for name, label in _CORRECTED.items():
            own = getattr(found, name)
            if own is not None:
                rows.append(
                    (
                        each.name,
                        label,
                        found.n_buckets,
                        len(found.strata),
                        len(found.missing),
                        own.weight_used,
                        own.renormalised,
                        range_of(own.interval),
                        own.paper,
                    )
                )
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
            Column("weight used", "number", 4),
            Column("renormalised %", "percent"),
            Column(interval_name(profiles[0].result), "percent"),
            Column("as in the paper %", "percent"),
        ),
        rows=tuple(rows),
        note="Strata: items whose originals have about the same confidence in the gold label, "
        "weighed by their share of the full test set. Weight used: of the strata that have items. "
        "Renormalised: over these alone; the paper leaves the others at zero.",
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
            (Range(own.low, own.high), own.weight, own.n_buckets, own.accuracy, own.p_c)
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
            range_of(own.interval),
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


def range_of(interval: Interval | None) -> Range | None:
    """Return an interval as a cell."""
    return None if interval is None else Range(interval.low, interval.high)
