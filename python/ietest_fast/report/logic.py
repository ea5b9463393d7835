"""Tables of the suite logic: a classifier on every property and rule, and the score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.analyses.logic.rules import RULES
from ietest_fast.analyses.logic.score import ACCURACY
from ietest_fast.report.tables import Column, Range, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.analyses.logic.measure import LogicProfile, RuleResult
    from ietest_fast.report.tables import Cell
    from ietest_fast.stats import Interval


def rule_table(profile: LogicProfile) -> Table:
    """Return a line for each property and rule."""
    return Table(
        name="logic",
        title=profile.title,
        columns=(
            Column("rule"),
            Column("what must follow"),
            Column("items", "count"),
            Column("candidates", "count"),
            Column("instances", "count"),
            Column("rate %", "percent"),
            Column("95% interval", "percent"),
            Column("control %", "percent"),
            Column("informedness", "number", 3),
            Column("95% interval", "number", 3),
        ),
        rows=tuple(_row(each) for each in profile.results),
        note="Items: labelled pairs of which candidates are made. Instances: the antecedents hold "
        "by the classifier's own answers. Rate: of these, where what must follow holds. Control: "
        "where it is said of sentences of which it must not hold. Informedness: rate less control; "
        "0 is what a classifier gets that ignores one of the texts, 1 is the best. Of "
        "anti-symmetric the rate should be below 100%.",
    )


def _row(each: RuleResult) -> tuple[Cell, ...]:
    found = each.measured
    if found is None:
        return (each.name, each.rule.formula, *(None for _ in range(8)))
    return (
        each.name,
        each.rule.formula,
        each.origin.n_items,
        each.origin.n_candidates,
        found.rate.n,
        found.rate.value,
        _range(found.rate.interval),
        found.control.value,
        found.value,
        _range(found.interval),
    )


def score_table(profile: LogicProfile) -> Table:
    """Return a line for each part of the score, and the score."""
    rows: list[tuple[Cell, ...]] = []
    weights = profile.used_weights
    for name, weight in weights.items():
        if name == ACCURACY:
            rate, informedness = profile.accuracy.share, profile.accuracy_informedness
        else:
            found = profile[name].measured
            rate = None if found is None else found.rate.value
            informedness = None if found is None else found.value
        rows.append((name, weight, rate, None, informedness, None))
    plain, informed = profile.score, profile.informed_score
    rows.append(
        (
            "score",
            sum(weights.values()),
            plain.value,
            _range(plain.interval),
            informed.value,
            _range(informed.interval),
        )
    )
    left = [name for name in profile.weights if name not in weights]
    note = f"Left out, as they are not defined: {', '.join(left)}." if left else ""
    return Table(
        name="logic-score",
        title=f"Structural inference score{f': {profile.name}' if profile.group else ''}",
        columns=(
            Column("part"),
            Column("weight", "number", 4),
            Column("rate", "number", 4),
            Column("95% interval", "number", 4),
            Column("informedness", "number", 4),
            Column("95% interval", "number", 4),
        ),
        rows=tuple(rows),
        note=note,
    )


def all_tables(profile: LogicProfile) -> list[Table]:
    """Return all tables of a classifier, in reading order."""
    return [rule_table(profile), score_table(profile)]


def side_by_side(profiles: Sequence[LogicProfile]) -> Table:
    """Return a line for each property and rule and a column for each classifier: informedness."""
    rows: list[tuple[Cell, ...]] = [
        (name, *(_informedness(each, name) for each in profiles))
        for name, rule in RULES.items()
        if rule.control is not None
    ]
    rows.append(("informed score", *(each.informed_score.value for each in profiles)))
    rows.append(("score", *(each.score.value for each in profiles)))
    return Table(
        name="logic-models",
        title="Informedness of several classifiers",
        columns=(Column("rule"), *(Column(each.name, "number", 3) for each in profiles)),
        rows=tuple(rows),
        note=" ".join(line for each in profiles for line in each.unlike),
    )


def _informedness(profile: LogicProfile, name: str) -> float | None:
    found = profile[name].measured
    return None if found is None else found.value


def _range(interval: Interval | None) -> Range | None:
    return None if interval is None else Range(interval.low, interval.high)
