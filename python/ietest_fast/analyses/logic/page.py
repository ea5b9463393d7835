"""Tables of the suite logic: a classifier on every property and rule, and the score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.logic.file import CONSEQUENT, CONTROL, read_logic
from ietest_fast.analyses.logic.measure import measure_logic
from ietest_fast.analyses.logic.notes import LogicNotes
from ietest_fast.analyses.logic.rules import ACCURACY, RULES
from ietest_fast.answers.file import holds
from ietest_fast.report.contents import OWN_FIGURES, Finding, Note, Numbers, Part, Section
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats import Verdict
from ietest_fast.values import as_texts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.analyses.logic.measure import LogicProfile, RuleResult
    from ietest_fast.report.tables import Cell


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
        found.rate.interval,
        found.control.value,
        found.value,
        found.interval,
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
            plain.interval,
            informed.value,
            informed.interval,
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


def answer_tables(profile: LogicProfile) -> list[Table]:
    """Return a line for each property and rule: how often it holds, and by how much more."""
    table = Table(
        name="logic-answer",
        title=profile.title,
        columns=(
            Column("property or rule"),
            Column("instances", "count"),
            Column("holds %", "percent", 1),
            Column("informedness", "number", 3),
        ),
        rows=tuple(
            (
                each.name,
                each.n_instances,
                None if each.measured is None else each.measured.rate.value,
                None if each.measured is None else each.measured.value,
            )
            for each in profile.results
        ),
        note="Informedness: how much more often a rule holds where its antecedents do.",
    )
    return [table]


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


# Answers to the suite logic, read for a report: profiles, what they show, examples to read.

N_EXAMPLES = 25
"""Instances in a table of examples."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LogicSource:
    """The suite logic of one classifier or several."""

    key: ClassVar[str] = "logic"
    title: ClassVar[str] = "The logic of answers"
    noun: ClassVar[str] = "logic"

    profiles: tuple[LogicProfile, ...]
    """One for each classifier."""

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether a file holds answers to the suite logic."""
        return holds(path, LogicNotes)

    @classmethod
    def read(cls, paths: Sequence[Path], **_: float) -> Self:
        """Read answers to the suite logic and measure every rule; nothing is tested at a level."""
        profiles = measure_logic(read_logic(paths))
        if len(profiles) == 1 and not profiles[0].group:
            profiles = (replace(profiles[0], group={"model": paths[0].stem}),)
        return cls(profiles=profiles)

    def findings(self) -> list[Finding]:
        """Say in a sentence for each classifier what its answers show."""
        said = [say_logic(profile) for profile in self.profiles]
        return [Finding(kind=verdict.finding_kind, text=text) for verdict, text in said]

    def sections(self) -> list[Section]:
        """Return properties of entailment and rules of inference, and where they are violated."""
        profiles = self.profiles
        parts: list[Part] = [Numbers(table=side_by_side(profiles))] if len(profiles) > 1 else []
        for profile in profiles:
            parts += [Numbers(table=table) for table in all_tables(profile)]
            parts += [Note(text=line) for line in profile.remarks()]
        sections = [
            Section(
                id="logic",
                title="The logic of the answers",
                intro=(
                    "What a finished model says of the pairs that it is asked defines what follows "
                    "from what. The tables say how far that has the properties of an entailment "
                    "relation, and how far it obeys rules of inference, as the model itself takes "
                    "the antecedents."
                ),
                parts=tuple(parts),
            )
        ]
        examples = [table for each in profiles[:OWN_FIGURES] for table in example_tables(each)]
        if examples:
            sections.append(
                Section(
                    id="logic-examples",
                    title="Violated rules",
                    intro="Instances to which a rule applies, and the answers that it does not "
                    "allow.",
                    parts=tuple(Numbers(table=table, folded=table.title) for table in examples),
                )
            )
        return sections

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers that the tables show."""
        return {"profiles": [each.to_dict() for each in self.profiles]}


def say_logic(profile: LogicProfile) -> tuple[Verdict, str]:
    """Say in one sentence what the answers of a classifier show."""
    kind = Verdict.DIFFERS if profile.violated else Verdict.UNDECIDED
    return kind, f"{profile.name}: {profile.headline}"


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
    names = ["item", "part", *profile.notes.text_columns, "expected", "predicted"]
    titles = ["item", "", *profile.notes.text_columns, "expected", "answer"]
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
