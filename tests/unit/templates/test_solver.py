"""The solver against all small worlds at once."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from ietest_fast.errors import InputError
from ietest_fast.templates.formulas import (
    And,
    Constant,
    Not,
    Sort,
    Taller,
    Visited,
    constants_of,
    is_true,
)
from ietest_fast.templates.grounding import Label, UnprovedError, find_world, label_of
from ietest_fast.templates.parsing import parse_formula
from reference.all_worlds import Worlds
from reference.random_formulas import CONSTANTS, random_formula

SIZES = ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (1, 3))


@cache
def worlds_of(people: tuple[str, ...], places: tuple[str, ...], size: tuple[int, int]) -> Worlds:
    return Worlds(list(people), list(places), *size)


def compare(seed: int, depth: int) -> str:
    """Say what both found of a random formula; fail if they differ."""
    random = Random(seed)
    formula = random_formula(random, random.randint(1, depth))
    names = {
        sort: [each.name for each in constants_of(formula) if each.sort is sort] for sort in Sort
    }
    people, places = tuple(names[Sort.PERSON]), tuple(names[Sort.PLACE])
    sizes = [size for size in SIZES if size[0] >= len(people) and size[1] >= len(places)]
    is_in_small = any(worlds_of(people, places, size).truth(formula).any() for size in sizes)
    try:
        world = find_world(formula)
    except UnprovedError:
        return "unproved"
    if world is None:
        assert not is_in_small, formula
        return "never"
    if (len(world.people), len(world.places)) in sizes:
        assert is_in_small, formula
    return "true"


def test_solver_and_all_small_worlds_agree():
    found = [compare(seed, 4) for seed in range(600)]
    assert found.count("never") > 50
    assert found.count("true") > 300
    assert found.count("unproved") < 30


@pytest.mark.slow
def test_solver_and_all_small_worlds_agree_on_10_000():
    found = [compare(seed, 5) for seed in range(1_000, 11_000)]
    assert found.count("never") > 1_000
    assert found.count("true") > 7_000
    assert found.count("unproved") < 500


PE = {"anna": Sort.PERSON, "bob": Sort.PERSON, "carl": Sort.PERSON}
NAMES = {**PE, "rome": Sort.PLACE, "oslo": Sort.PLACE}


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        ("V(anna, rome)", "V(anna, rome)", "entailment"),
        ("V(anna, rome)", "~V(anna, rome)", "contradiction"),
        ("V(anna, rome)", "V(anna, oslo)", "neutral"),
        ("V(anna, rome)", "some x in Pe: V(x, rome)", "entailment"),
        ("all x in Pe: V(x, rome)", "V(bob, rome)", "entailment"),
        ("all x in Pe: all y in Pe: V(x, y)", "V(bob, rome)", "neutral"),
        ("all x in Pe: all y: V(x, y)", "V(bob, rome)", "entailment"),
        # There are always other people and places.
        ("V(anna, rome) & V(bob, rome)", "all x in Pe: V(x, rome)", "neutral"),
        # Names are of different entities.
        ("V(anna, rome) & V(bob, rome)", "at least 2 x in Pe: V(x, rome)", "entailment"),
        ("exactly 1 x in Pe: V(x, rome)", "V(anna, rome) & V(bob, rome)", "contradiction"),
        ("anna = bob | V(anna, rome)", "V(anna, rome)", "entailment"),
        ("anna = (the x in Pe: V(x, rome))", "~V(bob, rome)", "entailment"),
        ("anna = (the x in Pe: V(x, rome))", "V(anna, rome)", "entailment"),
        ("V((the x in Pe: V(x, rome)), oslo)", "some x in Pe: V(x, oslo)", "entailment"),
        # Heights are a total order with ties.
        ("anna > bob & bob > carl", "anna > carl", "entailment"),
        ("anna > bob & bob >= carl", "carl > anna", "contradiction"),
        ("anna >= bob & bob >= carl", "anna > carl", "neutral"),
        ("~(anna > bob)", "bob >= anna", "entailment"),
        ("anna > bob", "bob > anna", "contradiction"),
        ("anna == bob & bob == carl", "carl == anna", "entailment"),
        ("anna == bob", "anna > bob", "contradiction"),
        ("anna >= bob & bob >= anna", "anna == bob", "entailment"),
        ("anna >= bob", "anna == bob", "neutral"),
        ("V(anna, rome)", "at least 1 x in Pe: V(x, rome)", "entailment"),
        # Whatever variables are called.
        ("V(anna, rome)", "some x in Pe: (the y in Pe: V(y, rome)) > x", "neutral"),
        ("V(anna, rome)", "some v2 in Pe: (the y in Pe: V(y, rome)) > v2", "neutral"),
        ("some x in Pe: x > anna", "all x in Pe: anna >= x", "contradiction"),
        # What is needed for each of the others ends in places.
        ("all x in Pe: exactly 2 y in Pl: V(x, y)", "some y in Pl: V(anna, y)", "entailment"),
        (
            "all x in Pe: exactly 1 y in Pl: V(x, y)",
            "V(anna, rome) & V(anna, oslo)",
            "contradiction",
        ),
        # For each person another one; what is left out does not matter.
        ("all x in Pe: some y in Pe: V(x, y)", "some y in Pe: V(anna, y)", "entailment"),
        ("all x in Pe: some y in Pe: V(x, y)", "V(anna, bob)", "neutral"),
    ],
)
def test_labels(premise, hypothesis, label):
    given, said = parse_formula(premise, NAMES), parse_formula(hypothesis, NAMES)
    assert label_of([given], said) is Label(label)


def test_contradictory_premises_have_no_label():
    given = parse_formula("V(anna, rome) & ~V(anna, rome)", NAMES)
    with pytest.raises(InputError, match="the premises contradict each other"):
        label_of([given], given)


def test_what_cannot_be_proved_is_said():
    # True in infinite worlds only: everybody is smaller than somebody.
    formula = parse_formula("all x in Pe: some y in Pe: y > x", NAMES)
    with pytest.raises(UnprovedError, match="entities of the same kind"):
        find_world(formula)


@pytest.mark.slow
def test_too_many_entities():
    text = "all x in Pe: all y in Pe: all z in Pe: V(x, y) | V(y, z) | V(z, x) | V(x, x)"
    many = " & ".join(f"(at least 60 y in Pe: V({name}, y))" for name in PE)
    with pytest.raises(UnprovedError, match="too many entities"):
        find_world(parse_formula(f"({text}) & {many}", NAMES))


def test_a_found_world_is_one_in_which_the_formula_is_true():
    formula = parse_formula("exactly 3 y in Pl: V(anna, y) & ~V(bob, y)", NAMES)
    world = find_world(formula)
    assert world is not None
    assert is_true(formula, world)
    assert sum(visitor.name == "anna" for visitor, _ in world.visits) >= 3


def test_a_wrong_solver_is_found_out():
    anna, bob = (Constant(name, Sort.PERSON) for name in ("anna", "bob"))
    formula = And((Taller(anna, bob), Not(Visited(anna, bob))))
    with pytest.raises(AssertionError, match="in which the formula is false"):
        find_world(formula, solve=lambda clauses: set(range(1, 100)))


def test_random_formulas_have_only_known_names():
    formula = random_formula(Random(7), 5)
    assert {each.name for each in constants_of(formula)} <= set(CONSTANTS)
