"""Random formulas about Ann, Bob and Rome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.templates import formulas as f

if TYPE_CHECKING:
    from random import Random

PEOPLE = (f.Constant("ann", f.Sort.PERSON), f.Constant("bob", f.Sort.PERSON))
PLACES = (f.Constant("rome", f.Sort.PLACE),)
CONSTANTS = {each.name: each.sort for each in PEOPLE + PLACES}

_DOMAIN_OF = {f.Sort.PERSON: f.Domain.PEOPLE, f.Sort.PLACE: f.Domain.PLACES}


def random_formula(
    random: Random, depth: int, bound: dict[str, f.Domain] | None = None
) -> f.Formula:
    """Draw a formula of all constructs, nested at most so often, without free variables."""
    bound = bound or {}
    kind = random.random()
    if depth <= 0 or kind < 0.25:
        return _atom(random, depth, bound)
    if kind < 0.4:
        return f.Not(random_formula(random, depth - 1, bound))
    if kind < 0.55:
        parts = [random_formula(random, depth - 1, bound) for _ in range(random.randint(1, 3))]
        return random.choice([f.And, f.Or])(tuple(parts))
    if kind < 0.6:
        parts = [random_formula(random, depth - 1, bound) for _ in range(2)]
        return f.Implies(*parts)
    # Names may be bound twice, and look like those that a program makes.
    variable = random.choice([f"x{len(bound)}", "y", f"v{random.randrange(4)}"])
    domain = random.choice(list(f.Domain))
    body = random_formula(random, depth - 1, {**bound, variable: domain})
    quantifier = random.random()
    if quantifier < 0.35:
        return f.ForAll(variable, domain, body)
    number = random.choice([0, 1, 1, 2, 3])
    return random.choice([f.AtLeast, f.Exactly])(number, variable, domain, body)


def _atom(random: Random, depth: int, bound: dict[str, f.Domain]) -> f.Formula:
    kind = random.random()
    people, places = f.Sort.PERSON, f.Sort.PLACE
    if kind < 0.6:
        return f.Visited(
            _term(random, (people,), depth, bound), _term(random, (people, places), depth, bound)
        )
    if kind < 0.8:
        sorts, relation = (people,), random.choice([f.Taller, f.AsTall, f.SameHeight])
    else:
        sorts, relation = random.choice([(people,), (places,)]), f.Equal
    return relation(_term(random, sorts, depth, bound), _term(random, sorts, depth, bound))


def _term(
    random: Random, sorts: tuple[f.Sort, ...], depth: int, bound: dict[str, f.Domain]
) -> f.Term:
    if depth > 0 and random.random() < 0.15:
        domain = random.choice([*(_DOMAIN_OF[sort] for sort in sorts)])
        if len(sorts) > 1:
            domain = random.choice(list(f.Domain))
        variable = f"x{len(bound)}"
        body = random_formula(random, depth - 2, {**bound, variable: domain})
        return f.Description(variable, domain, body)
    terms: list[f.Term] = [each for each in PEOPLE + PLACES if each.sort in sorts]
    terms += [f.Variable(name) for name, own in bound.items() if set(own.sorts) <= set(sorts)]
    return random.choice(terms)
