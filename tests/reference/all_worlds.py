"""Truth in all small worlds at once, by numpy: the slow, obvious oracle of the solver.

A world has `n_people` people and `n_places` places. All its sets of visits are tried with all
orders of heights: truth is an array with a row for each set and a column for each order, or with
one row or column where it is the same in all.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

from ietest_fast.templates import formulas as f

ALWAYS = np.ones((1, 1), bool)


def how_many(truths: Iterable[Any]) -> Any:
    """Of these, how many hold in each world."""
    return sum((each.astype(np.uint8) for each in truths), np.zeros((1, 1), np.uint8))


class Worlds:
    """All worlds with so many people and places; the first of each sort have the names."""

    def __init__(self, people: list[str], places: list[str], n_people: int, n_places: int) -> None:
        self.people = [*people, *(f"p{k}" for k in range(len(people), n_people))]
        self.places = [*places, *(f"q{k}" for k in range(len(places), n_places))]
        entities = [*((0, k) for k in range(n_people)), *((1, k) for k in range(n_places))]
        visits = [(person, each) for person in range(n_people) for each in entities]
        orders = sorted(
            {
                tuple(sorted(set(heights)).index(height) for height in heights)
                for heights in product(range(n_people), repeat=n_people)
            }
        )
        numbers = np.arange(2 ** len(visits))
        self.visited = {pair: (numbers >> bit & 1 == 1)[:, None] for bit, pair in enumerate(visits)}
        self.height = [
            np.array([order[person] for order in orders])[None, :] for person in range(n_people)
        ]
        self.domains = {
            f.Domain.PEOPLE: [each for each in entities if each[0] == 0],
            f.Domain.PLACES: [each for each in entities if each[0] == 1],
            f.Domain.BOTH: entities,
        }

    def entity(self, constant: f.Constant) -> tuple[int, int]:
        if constant.sort is f.Sort.PERSON:
            return (0, self.people.index(constant.name))
        return (1, self.places.index(constant.name))

    def truth(  # noqa: PLR0911 - one line for each kind
        self, formula: Any, bound: dict[str, tuple[int, int]] | None = None
    ) -> Any:
        bound = bound or {}
        if isinstance(formula, f.Not):
            return ~self.truth(formula.body, bound)
        if isinstance(formula, f.And):
            out = ALWAYS
            for part in formula.parts:
                out = out & self.truth(part, bound)
            return out
        if isinstance(formula, f.Or):
            out = ~ALWAYS
            for part in formula.parts:
                out = out | self.truth(part, bound)
            return out
        if isinstance(formula, f.Implies):
            return ~self.truth(formula.antecedent, bound) | self.truth(formula.consequent, bound)
        if isinstance(formula, f.ForAll | f.AtLeast | f.Exactly):
            domain = self.domains[formula.domain]
            own = [self.truth(formula.body, {**bound, formula.variable: each}) for each in domain]
            counted = how_many(own)
            if isinstance(formula, f.ForAll):
                return counted == len(domain)
            if isinstance(formula, f.AtLeast):
                return counted >= formula.number
            return counted == formula.number
        return self._atom(formula, f.terms_of(formula), bound)

    def _atom(self, atom: Any, terms: Any, bound: dict[str, tuple[int, int]]) -> Any:
        """Truth of an atom; a description is tried as each entity that it may describe."""
        out = ~ALWAYS
        for first, first_is in self._denotations(terms[0], bound):
            for second, second_is in self._denotations(terms[1], bound):
                out = out | (first_is & second_is & self._relation(atom, first, second))
        return out

    def _denotations(self, term: Any, bound: dict[str, tuple[int, int]]) -> list[Any]:
        if isinstance(term, f.Constant):
            return [(self.entity(term), ALWAYS)]
        if isinstance(term, f.Variable):
            return [(bound[term.name], ALWAYS)]
        fits = {
            each: self.truth(term.body, {**bound, term.variable: each})
            for each in self.domains[term.domain]
        }
        is_one = how_many(fits.values()) == 1
        return [(each, own & is_one) for each, own in fits.items()]

    def _relation(self, atom: Any, first: tuple[int, int], second: tuple[int, int]) -> Any:
        if isinstance(atom, f.Visited):
            return self.visited[first[1], second]
        if isinstance(atom, f.Equal):
            return ALWAYS & (first == second)
        higher, lower = self.height[first[1]], self.height[second[1]]
        compare = {f.Taller: np.greater, f.AsTall: np.greater_equal, f.SameHeight: np.equal}
        return compare[type(atom)](higher, lower)
