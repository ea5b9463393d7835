"""Answers to the suite logic, read for a report: profiles, what they show, examples to read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.logic.file import CONSEQUENT, CONTROL, read_logic, read_logic_run
from ietest_fast.analyses.logic.measure import measure_logic
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats import Verdict
from ietest_fast.values import as_texts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.analyses.logic.measure import LogicProfile, RuleResult
    from ietest_fast.analyses.logic.score import StructuralScore

N_EXAMPLES = 25
"""Instances in a table of examples."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LogicSource:
    """The suite logic of one classifier or several."""

    profiles: tuple[LogicProfile, ...]
    """One for each classifier."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers that the tables show."""
        return {"profiles": [each.to_dict() for each in self.profiles]}


def find_logic(path: Path) -> bool:
    """Whether a file holds answers to the suite logic."""
    return read_logic_run(path) is not None


def read_logic_source(paths: Sequence[Path]) -> LogicSource:
    """Read answers to the suite logic and measure every rule, with the weights of the default."""
    profiles = measure_logic(read_logic(paths))
    if len(profiles) == 1 and not profiles[0].group:
        profiles = (replace(profiles[0], group={"model": paths[0].stem}),)
    return LogicSource(profiles=profiles)


def say_logic(profile: LogicProfile) -> tuple[Verdict, str]:
    """Say in one sentence what the answers of a classifier show."""
    asked = [each for each in profile.results if each.rule.should_hold and each.n_instances]
    failed = [each for each in asked if each.measured and each.measured.rate.k < each.n_instances]
    scores = (_say(profile.score), _say(profile.informed_score))
    parts = [
        "structural inference score {}, of informedness {}".format(*scores),
        f"{len(failed):,} of {len(asked):,} rules with instances are violated by some",
    ]
    ranked = sorted(
        (each.measured.value, each.name)
        for each in asked
        if each.measured is not None and each.measured.value is not None
    )
    if ranked:
        worst = ", ".join(f"{name} {value:+.2f}" for value, name in ranked[:3])
        parts.append(f"least informedness: {worst}".replace("-0.00", "0.00"))
    kind = Verdict.DIFFERS if failed else Verdict.UNDECIDED
    return kind, f"{profile.name}: {'; '.join(parts)}."


def _say(score: StructuralScore) -> str:
    return "not defined" if score.value is None else f"{score.value:.3f}"


def example_tables(profile: LogicProfile) -> list[Table]:
    """Return violations of each rule, to be read: its questions and the answers."""
    return [
        _examples(profile, each)
        for each in profile.results
        if each.measured is not None
        and each.rule.should_hold
        and each.measured.rate.k < each.measured.rate.n
    ]


def _examples(profile: LogicProfile, result: RuleResult) -> Table:
    own = profile.predictions.select(version=result.name)
    part = own.table["part"].cast(pa.string())
    instance = np.asarray(own.table["instance"].cast("int64"))
    is_consequent = pc.equal(part, CONSEQUENT).to_numpy()
    violated = np.unique(instance[is_consequent & ~own.correct])
    # From everywhere among them, not from the beginning alone.
    places = np.linspace(0, len(violated) - 1, min(len(violated), N_EXAMPLES)).astype(np.int64)
    shown = np.isin(instance, violated[places]) & pc.not_equal(part, CONTROL).to_numpy()
    rows = own.table.filter(pa.array(shown))
    names = ["item", "part", *profile.run.text_columns, "expected", "predicted"]
    titles = ["item", "", *profile.run.text_columns, "expected", "answer"]
    source = own.source
    columns = [as_texts(rows[name], path=source, name=name).to_pylist() for name in names]
    left = len(violated) - len(places)
    return Table(
        name="logic-examples",
        title=f"{profile.name}, {result.name}: violated ({len(violated):,} of "
        f"{result.n_instances:,})",
        columns=tuple(Column(title) for title in titles),
        rows=tuple(zip(*columns, strict=True)),
        note=f"{result.rule.formula}."
        + (f" {len(places)} of {len(violated):,}, evenly spaced." if left else ""),
    )
