"""Tables of consistency over the amount of data that classifiers have seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ietest_fast.report.consistency import pair_table, say_warnings
from ietest_fast.report.tables import Column, Range, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.analyses.consistency.curves import ConsistencyCurve, CurvePoint
    from ietest_fast.report.tables import Cell

_MEASURES = {
    "accuracy_macro": "accuracy, macro",
    "p_c_unbiased": "P_C, unbiased",
    "p_c": "P_C, plug-in",
    "pvap_unbiased": "PVAP, unbiased",
    "agreement_unbiased": "same answer",
}
_WITH_INTERVALS = {"accuracy_macro", "p_c_unbiased"}
_OF_RUNS = (
    "Wordings of a text: its original and the rephrasings that change it. The M classifiers have "
    "the mean of their measures, and ± is their standard deviation. Intervals: BCa bootstrap over "
    "texts, with the answers of all M to a text together."
)
_OF_LOGS = (
    "Originals are no paraphrases. Intervals: BCa bootstrap over items, or over clusters. Unbiased "
    "measures do not pair a paraphrase with itself."
)


def curve_table(curves: Sequence[ConsistencyCurve], *, of_runs: bool) -> Table:
    """Return accuracy and consistency of each amount."""
    points = [each for curve in curves for each in curve.points]
    shown = [name for name in _MEASURES if any(name in each.result.estimates for each in points)]
    several, m = len(curves) > 1, max(each.n_classifiers for each in points)
    level = f"{100 * points[0].result.confidence_level:g}% interval"
    whole = all(each.amount == int(each.amount) and not each.in_percent for each in points)
    columns = [Column("curve")] if several else []
    columns.append(Column(_say_of(curves), "count" if whole else "text"))
    columns += [] if of_runs else [Column("model")]
    columns += [Column("M", "count")] if m > 1 else []
    columns += [Column("items", "count"), Column("wordings" if of_runs else "paraphrases", "count")]
    for name in shown:
        columns.append(Column(f"{_MEASURES[name]} %", "percent"))
        if name in _WITH_INTERVALS:
            columns.append(Column(f"{_MEASURES[name]}: {level}", "percent"))
            columns += [Column(f"{_MEASURES[name]}: ± over M", "percent")] if m > 1 else []
    rows: list[tuple[Cell, ...]] = []
    for curve in curves:
        for each in curve.points:
            k = each.n_classifiers
            cells: list[Cell] = [curve.name] if several else []
            cells.append(int(each.amount) if whole else each.written)
            cells += [] if of_runs else [each.name]
            cells += [k] if m > 1 else []
            cells += [each.result.n_buckets // k, each.result.n_paraphrases // k]
            cells += _measures_of(each, shown, with_spread=m > 1)
            rows.append(tuple(cells))
    return Table(
        name="consistency-amounts",
        title=f"Accuracy and P_C over the {_say_of(curves)}",
        columns=tuple(columns),
        rows=tuple(rows),
        note=_OF_RUNS if of_runs else _OF_LOGS,
    )


def _measures_of(each: CurvePoint, shown: Sequence[str], *, with_spread: bool) -> list[Cell]:
    cells: list[Cell] = []
    for name in shown:
        own = each.result.estimates.get(name)
        cells.append(None if own is None else own.value)
        if name in _WITH_INTERVALS:
            ends = None if own is None else own.interval
            cells.append(None if ends is None else Range(ends.low, ends.high))
            cells += [each.spread(name)] if with_spread else []
    return cells


def step_table(curves: Sequence[ConsistencyCurve], *, of_runs: bool) -> Table | None:
    """Return the comparisons of each amount with the one before; None if there is none."""
    steps = [each for curve in curves for each in curve.steps]
    # Of several classifiers a text is one item, not M of them.
    n_items = [
        each.n_buckets if n is None or not of_runs else n
        for each in steps
        for n in (each.result.n_clusters,)
    ]
    title = f"Each amount against the one before: {_say_of(curves)}"
    found = pair_table(steps, title=title, n_items=n_items)
    if found is None:
        return None
    return replace(
        found,
        name="consistency-steps",
        note="In points, larger amount minus smaller, on the items that both have. Holm's "
        "correction is over the lines of the same measure; intervals are not corrected. A step "
        "compares these classifiers, not amounts of data"
        f"{'; look at the standard deviation over M' if of_runs else ''}.{say_warnings(steps)}",
    )


def amount_tables(curves: Sequence[ConsistencyCurve], *, of_runs: bool = False) -> list[Table]:
    """Return all tables of curves, in reading order; nothing without curves."""
    if not curves:
        return []
    steps = step_table(curves, of_runs=of_runs)
    return [curve_table(curves, of_runs=of_runs), *([] if steps is None else [steps])]


def _say_of(curves: Sequence[ConsistencyCurve]) -> str:
    """Say what there is an amount of; of several curves what all have in common."""
    found = list(dict.fromkeys(each.of for each in curves))
    return found[0] if len(found) == 1 else " or ".join(found)
