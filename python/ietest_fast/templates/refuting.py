"""Why premises and a hypothesis do not have a label: a world that shows it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ietest_fast.templates.formulas import And, Not, Sort
from ietest_fast.templates.solver import Label, find_world

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.templates.formulas import Formula
    from ietest_fast.templates.interpretation import Interpretation

MOST_SAID = 8
"""Visits of a world that are named."""


def refute(premises: Sequence[Formula], hypothesis: Formula, label: Label) -> str:
    """Say why premises and a hypothesis do not have a label."""
    true = None if label is Label.ENTAILMENT else find_world(And((*premises, hypothesis)))
    if label is Label.CONTRADICTION and true is not None:
        return f"the hypothesis can be true: {describe_world(true)}"
    false = find_world(And((*premises, Not(hypothesis))))
    if label is Label.ENTAILMENT and false is not None:
        return f"the hypothesis can be false: {describe_world(false)}"
    return f"the hypothesis is never {'true' if true is None else 'false'}"


def describe_world(world: Interpretation) -> str:
    """Say in the syntax of formulas who has visited what in a world, and who is taller than whom.

    Entities without a name are ``#1``, ``#2`` and so on, people first; they are listed.
    """
    unnamed = [each for each in (*world.people, *world.places) if each.name.startswith("#")]
    names = {each: each.name for each in (*world.people, *world.places)}
    names |= {each: f"#{number}" for number, each in enumerate(unnamed, start=1)}
    visits = sorted(f"V({names[visitor]}, {names[visited]})" for visitor, visited in world.visits)
    if len(visits) > MOST_SAID:
        visits[MOST_SAID:] = [f"{len(visits) - MOST_SAID} other visits"]
    said = ", ".join(visits) or "nobody has visited anything"
    if len(set(world.heights.values())) > 1:
        order = sorted(world.people, key=lambda each: (-world.heights[each], names[each]))
        marks = [
            "",
            *(
                " > " if world.heights[one] > world.heights[two] else " == "
                for one, two in itertools.pairwise(order)
            ),
        ]
        said += "; " + "".join(
            f"{mark}{names[each]}" for mark, each in zip(marks, order, strict=True)
        )
    kinds = {Sort.PERSON: "person", Sort.PLACE: "place"}
    return said + "".join(f"; there is also a {kinds[each.sort]} {names[each]}" for each in unnamed)
