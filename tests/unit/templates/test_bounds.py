"""How large worlds must be, and which parts of a conjunction are independent."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from ietest_fast.templates.formulas import Sort, constants_of
from ietest_fast.templates.grounding import (
    Grounding,
    UnprovedError,
    bound,
    find_world,
    solve_clauses,
)
from ietest_fast.templates.normal_form import normalise, quantified_sorts, split
from ietest_fast.templates.parsing import parse_formula
from reference.random_formulas import random_formula

if TYPE_CHECKING:
    from ietest_fast.templates.formulas import Formula

NAMES = {"anna": Sort.PERSON, "bob": Sort.PERSON, "rome": Sort.PLACE}


def sizes_of(text: str) -> list[tuple[bool, int, int]]:
    """Return of each form whether it is whole, and the people and places that it needs."""
    formula = parse_formula(text, NAMES)
    return [
        (each.is_whole, each.sizes[Sort.PERSON], each.sizes[Sort.PLACE])
        for each in bound(normalise(formula), constants_of(formula))
    ]


@pytest.mark.parametrize(
    ("text", "people", "places"),
    [
        ("V(anna, rome)", 1, 1),
        ("anna > bob", 2, 1),  # there is a place at least
        ("some x in Pe: V(x, rome)", 1, 1),
        ("V(anna, rome) & some x in Pe: ~V(x, rome)", 2, 1),
        ("at least 3 y in Pl: V(anna, y)", 1, 3),
        ("at least 3 y: V(anna, y)", 4, 3),
        # Of two ways to be true, the one that needs more.
        ("(at least 3 y in Pl: V(anna, y)) | (at least 2 y in Pl: V(anna, y))", 1, 3),
        ("(at least 3 y in Pl: V(anna, y)) & (at least 2 y in Pl: ~V(anna, y))", 1, 5),
        ("at least 2 x in Pe: at least 3 y in Pl: V(x, y)", 2, 6),
        # Two places for each of two people, and for one more.
        ("all x in Pe: at least 2 y in Pl: V(x, y) & V(anna, y) & ~V(bob, y)", 2, 4),
        ("(all x in Pe: some y in Pl: V(x, y)) & (at least 3 x in Pe: V(x, rome))", 3, 4),
        # Exactly n: n witnesses, and none for those who are left out.
        ("exactly 2 y in Pl: V(anna, y)", 1, 2),
    ],
)
def test_how_many_entities_are_enough(text: str, people: int, places: int) -> None:
    assert sizes_of(text) == [(True, people, places)]


def test_what_asks_for_its_own_sort_is_left_out() -> None:
    """Everyone has visited someone: only what is said of Anna and Bob remains."""
    found = sizes_of("V(anna, bob) & all x in Pe: some y in Pe: V(x, y)")
    assert [is_whole for is_whole, _, _ in found] == [False, False]
    assert {people for _, people, _ in found} == {4}


def is_true_with_more(formula: Formula, more: int) -> bool:
    """Say whether a formula is true in a world with so many entities without a name."""
    named = constants_of(formula)
    sizes = {sort: sum(each.sort is sort for each in named) + more for sort in Sort}
    grounding = Grounding(named, sizes)
    grounding.require(normalise(formula))
    grounding.add_heights()
    return solve_clauses(grounding.clauses) is not None


def compare(seed: int) -> str:
    """What is true in no world is not true in a larger one, either."""
    formula = random_formula(Random(seed), Random(seed).randint(2, 4))
    try:
        world = find_world(formula)
    except UnprovedError:
        return "unproved"
    if world is None:
        assert not is_true_with_more(formula, 6), formula
        return "never"
    named = constants_of(formula)
    more = max(
        len(entities) - sum(each.sort is sort for each in named)
        for sort, entities in ((Sort.PERSON, world.people), (Sort.PLACE, world.places))
    )
    assert is_true_with_more(formula, max(more, 1)), formula
    return "true"


@pytest.mark.slow
def test_larger_worlds_say_the_same() -> None:
    found = [compare(seed) for seed in range(500)]
    assert found.count("never") > 40
    assert found.count("true") > 300


@pytest.mark.slow
def test_larger_worlds_say_the_same_of_10_000() -> None:
    found = [compare(seed) for seed in range(500, 10_500)]
    assert found.count("never") > 1_000


@pytest.mark.parametrize(
    ("text", "n_parts"),
    [
        ("V(anna, rome)", 1),
        ("V(anna, rome) & V(bob, rome)", 1),
        ("V(anna, rome) & V(anna, bob)", 2),  # visits to places, and to people
        ("V(anna, rome) & anna > bob", 2),
        ("(some x in Pl: V(anna, x)) & (some x in Pe: V(anna, x))", 2),
        ("(some x in Pe: V(x, rome)) & (some x in Pe: V(anna, x))", 1),  # both of all people
        ("(some x: V(anna, x)) & V(bob, rome) & anna > bob", 2),
        ("(V(anna, rome) & anna > bob) & (V(anna, bob) & V(bob, rome))", 3),
        # What is said of the one who is described is said of visits, too.
        ("(the x in Pe: V(x, rome)) > anna & V(anna, rome)", 1),
        ("(the x in Pe: V(x, rome)) > anna & V(anna, bob)", 2),
    ],
)
def test_independent_parts(text: str, n_parts: int) -> None:
    parts = split(parse_formula(text, NAMES))
    assert len(parts) == n_parts
    sorts = [sort for part in parts for sort in quantified_sorts(part)]
    assert len(sorts) == len(set(sorts))
