"""Sections of a report on the logic of finished models' answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.report.logic import all_tables, side_by_side
from ietest_fast.report.logic_runs import example_tables
from ietest_fast.report.parts import OWN_FIGURES, Note, Numbers, Part, Section

if TYPE_CHECKING:
    from ietest_fast.report.logic_runs import LogicSource


def logic_sections(found: LogicSource) -> list[Section]:
    """Return sections on properties of entailment and rules of inference."""
    profiles = found.profiles
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
                "relation, and how far it obeys rules of inference, as the model itself takes the "
                "antecedents."
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
                intro="Instances to which a rule applies, and the answers that it does not allow.",
                parts=tuple(Numbers(table=table, folded=table.title) for table in examples),
            )
        )
    return sections
