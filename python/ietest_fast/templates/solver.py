"""Proofs: whether a formula is true in any world, and what premises say of a hypothesis.

Labels are proved. Worlds have finitely many people and places, at least one of each; named entities
are different, and there may be others. Heights are a total order with ties.
"""

from __future__ import annotations

import functools
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from ietest_fast.errors import InputError
from ietest_fast.templates.formulas import And, Constant, Not, Sort, constants_of
from ietest_fast.templates.grounding import Bounded, Grounding, TooLargeError, bound, check_size
from ietest_fast.templates.interpretation import Interpretation, is_true
from ietest_fast.templates.normal_form import (
    HEIGHTS,
    canonical,
    normalise,
    quantified_sorts,
    split,
    subjects_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ietest_fast.templates.formulas import Formula
    from ietest_fast.templates.normal_form import Form


class Label(Enum):
    """What a premise says of a hypothesis."""

    ENTAILMENT = "entailment"
    NEUTRAL = "neutral"
    CONTRADICTION = "contradiction"


class UnprovedError(InputError):
    """It could not be proved whether a formula is true in any world."""


class ClauseSolver(Protocol):
    """Decide clauses."""

    def __call__(self, clauses: Sequence[Sequence[int]]) -> set[int] | None:
        """Return the variables that are true in a solution, None if there is no solution."""

    def __hash__(self) -> int:
        """Tell solvers apart, as what they found is remembered."""


CONFLICTS_AT_ONCE = 2_000
MOST_CONFLICTS = 50_000
MOST_PROPAGATIONS = 50_000_000
"""After how many conflicts or propagations a solver gives up, on every machine the same."""


def solve_clauses(clauses: Sequence[Sequence[int]]) -> set[int] | None:
    """Decide clauses by MiniSat 2.2, through PySAT."""
    from pysat.solvers import Solver

    with Solver(name="minisat22", bootstrap_with=clauses) as solver:
        left = MOST_PROPAGATIONS
        for _ in range(MOST_CONFLICTS // CONFLICTS_AT_ONCE):
            # Python handles signals between the calls, as the solver leaves them alone.
            solver.conf_budget(CONFLICTS_AT_ONCE)
            solver.prop_budget(left)
            found = solver.solve_limited(expect_interrupt=True)
            if found is not None:
                return {number for number in solver.get_model() if number > 0} if found else None
            left = MOST_PROPAGATIONS - solver.accum_stats()["propagations"]
            if left <= 0:
                break
    raise TooLargeError(
        f"it is not decided after {MOST_CONFLICTS:,} conflicts or {MOST_PROPAGATIONS:,} "
        "propagations of the solver whether the formula can be true; use smaller numbers, or fewer "
        "quantifiers"
    )


_MOST_REMEMBERED = 2**16
MORE_ENTITIES = (1, 3)
"""How many entities to look for a small world with, beside those that have names."""


def find_world(formula: Formula, *, solve: ClauseSolver = solve_clauses) -> Interpretation | None:
    """Return a world in which a formula is true, or None: there is none, of whatever size."""
    worlds = _find_for_parts(formula, solve)
    if worlds is None:
        return None
    named = [
        (part, world.renamed({number: each for each, number in numbers.items()}))
        for part, world, numbers in worlds
    ]
    return _check(formula, _join(named, constants_of(formula)))


def _find_for_parts(
    formula: Formula, solve: ClauseSolver
) -> list[tuple[Formula, Interpretation, dict[Constant, Constant]]] | None:
    """Return a world for each independent part of a formula, None if one part has none.

    In the world, entities have the numbers that stand beside it.
    """
    named = constants_of(formula)
    worlds: list[tuple[Formula, Interpretation, dict[Constant, Constant]]] = []
    unproved: UnprovedError | None = None
    for part in split(formula):
        sorts, own = quantified_sorts(part), set(constants_of(part))
        # Those that a part speaks of as a whole have all names in it.
        others = (each for each in named if each.sort in sorts and each not in own)
        plain, numbers = canonical(part, others)
        try:
            world = _find_for_part(plain, tuple(numbers.values()), solve)
        except UnprovedError as error:
            unproved = error
            continue
        if world is None:
            return None
        worlds.append((part, world, numbers))
    if unproved is not None:
        raise unproved
    return worlds


@functools.lru_cache(_MOST_REMEMBERED)
def _find_for_part(
    formula: Formula, named: tuple[Constant, ...], solve: ClauseSolver
) -> Interpretation | None:
    form = normalise(formula)
    counts = {sort: sum(each.sort is sort for each in named) for sort in Sort}
    try:
        choices = bound(form, named)
        for sizes in _small_sizes(choices, counts):
            world = _find_sized(form, named, sizes, solve)
            if world is not None:
                return _check(formula, world)
        for choice in choices:
            world = _find_sized(choice.form, named, choice.sizes, solve)
            if world is None:
                return None
            if choice.is_whole:
                return _check(formula, world)
    except TooLargeError as error:
        raise UnprovedError(str(error)) from error
    raise UnprovedError(
        "it cannot be proved whether the formula is true in any world: a quantifier in it asks for "
        "entities for each of as many entities of the same kind; use a simpler formula"
    )


def _join(
    worlds: Sequence[tuple[Formula, Interpretation]], named: Sequence[Constant]
) -> Interpretation:
    """Return one world of those of independent parts."""
    entities: dict[Sort, tuple[Constant, ...]] = {}
    for sort in Sort:
        own = [each for each in named if each.sort is sort]
        entities[sort] = tuple(own) or (Constant("#0", sort),)
    for part, world in worlds:
        for sort in quantified_sorts(part):
            entities[sort] = world.people if sort is Sort.PERSON else world.places
    people, places = entities[Sort.PERSON], entities[Sort.PLACE]
    there = {*people, *places}
    visits: set[tuple[Constant, Constant]] = set()
    heights = dict.fromkeys(people, 0)
    for part, world in worlds:
        subjects = subjects_of(part)
        visits |= {
            (visitor, visited)
            for visitor, visited in world.visits
            if ("visits", visited.sort) in subjects and {visitor, visited} <= there
        }
        if HEIGHTS in subjects:
            heights |= {each: own for each, own in world.heights.items() if each in heights}
    return Interpretation(people, places, frozenset(visits), heights)


def _small_sizes(
    choices: Sequence[Bounded], named: Mapping[Sort, int]
) -> Iterator[Mapping[Sort, int]]:
    """Yield sizes to try before those that are enough: a small world is found sooner."""
    for more in MORE_ENTITIES:
        sizes = {sort: named[sort] + more for sort in Sort}
        is_smaller = any(sizes[sort] < each.sizes[sort] for each in choices for sort in Sort)
        if is_smaller or not choices[0].is_whole:
            yield sizes


def _find_sized(
    form: Form, named: Sequence[Constant], sizes: Mapping[Sort, int], solve: ClauseSolver
) -> Interpretation | None:
    check_size(form, sizes)
    grounding = Grounding(named, sizes)
    grounding.require(form)
    grounding.add_heights()
    true = solve(grounding.clauses)
    return None if true is None else grounding.read(true)


def _check(formula: Formula, world: Interpretation) -> Interpretation:
    """Return the world, in which the formula must be true by the definition of truth."""
    if not is_true(formula, world):
        raise AssertionError(f"a world was found in which the formula is false: {formula}")
    return world


def label_of(
    premises: Sequence[Formula], hypothesis: Formula, *, solve: ClauseSolver = solve_clauses
) -> Label:
    """Prove what premises say of a hypothesis."""
    given = tuple(premises)
    with_it = _find_for_parts(And((*given, hypothesis)), solve) is not None
    without = _find_for_parts(And((*given, Not(hypothesis))), solve) is not None
    if not with_it and not without:
        raise InputError("the premises contradict each other; no hypothesis has a label then")
    if not with_it:
        return Label.CONTRADICTION
    return Label.NEUTRAL if without else Label.ENTAILMENT
