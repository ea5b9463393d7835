"""Schemas: formulas whose terms have indices, and whose size is open.

``each k in 1..n: V(x[k], y)`` is a schema. With n = 3 it is ``V(x[1], y) & V(x[2], y) & V(x[3],
y)``. What a schema says is checked before its sizes are known, and mistakes are reported with their
place in the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ietest_fast.templates.formulas import (
    And,
    AsTall,
    AtLeast,
    Constant,
    Description,
    Domain,
    Equal,
    Exactly,
    ForAll,
    Implies,
    Not,
    Or,
    SameHeight,
    Taller,
    Variable,
    Visited,
    at_least_one,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ietest_fast.templates.formulas import Atom, Formula, Sort, Term
    from ietest_fast.templates.lexing import Token

RELATIONS: dict[str, type[Atom]] = {
    "V": Visited,
    ">": Taller,
    ">=": AsTall,
    "==": SameHeight,
    "=": Equal,
}


@dataclass(frozen=True, slots=True)
class Index:
    """A number: that of a size or an index, if it names one, and an offset."""

    name: str | None
    offset: int
    at: Token

    def value(self, sizes: Mapping[str, int]) -> int:
        """Return the number, given those of sizes and indices."""
        return self.offset + (0 if self.name is None else sizes[self.name])


@dataclass(frozen=True, slots=True)
class NamedTerm:
    """A term that is named, ``x`` or ``x[k]``: a constant, or a variable of a quantifier."""

    name: str
    index: Index | None
    at: Token


@dataclass(frozen=True, slots=True)
class DescribedTerm:
    """``the y in Pe: ...``."""

    variable: str
    domain: Domain
    body: Schema
    at: Token


SchemaTerm = NamedTerm | DescribedTerm


@dataclass(frozen=True, slots=True)
class Relation:
    """An atom: ``V``, ``>``, ``>=``, ``==`` or ``=``."""

    name: str
    first: SchemaTerm
    second: SchemaTerm
    at: Token


@dataclass(frozen=True, slots=True)
class Negation:
    """``~`` before a schema."""

    body: Schema


class ShapeError(ValueError):
    """A schema has no formula for the numbers of a shape.

    Parameters
    ----------
    message
        What is missing.
    at
        Where it stands.
    """

    def __init__(self, message: str, at: Token) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True, slots=True)
class Signed:
    """``+-s`` or ``+-s[k]`` before a schema: it is negated if the sign s is."""

    name: str
    index: Index | None
    body: Schema
    at: Token

    def is_negated(self, sizes: Mapping[str, int]) -> bool:
        """Say whether it is, given the signs of a shape.

        Raises
        ------
        ShapeError
            If there is no such sign.
        """
        key = sign_key(self.name, self.index, sizes)
        if key not in sizes:
            raise ShapeError(f"there is {key}, which is not declared", self.at)
        return sizes[key] > 0


@dataclass(frozen=True, slots=True)
class Joined:
    """Schemas joined by ``&`` or ``|``."""

    mark: str
    parts: tuple[Schema, ...]


@dataclass(frozen=True, slots=True)
class Conditional:
    """Two schemas with ``->`` between."""

    antecedent: Schema
    consequent: Schema


@dataclass(frozen=True, slots=True)
class Bound:
    """A quantifier: ``all``, ``at least`` or ``exactly``, and the schema behind it."""

    quantifier: str
    number: Index | None
    variable: str
    domain: Domain
    body: Schema
    at: Token


@dataclass(frozen=True, slots=True)
class Family:
    """``each k in 1..n:`` or ``any k in 1..n:``, a schema for each number, joined by & or |."""

    mark: str
    index: str
    low: Index
    high: Index
    body: Schema
    at: Token


Schema = Relation | Negation | Signed | Joined | Conditional | Bound | Family


def instantiate(  # noqa: PLR0911 - one line for each kind
    schema: Schema, sizes: Mapping[str, int], constants: Mapping[str, Sort]
) -> Formula:
    """Return the formula of a schema.

    Parameters
    ----------
    schema
        Checked; see :mod:`ietest_fast.templates.checking`.
    sizes
        The numbers of its sizes and indices.
    constants
        The sort of each name that is no variable.

    Raises
    ------
    ShapeError
        If there is no sign of such a number, or nothing to be joined.
    """
    match schema:
        case Relation(name, first, second):
            return RELATIONS[name](_term(first, sizes, constants), _term(second, sizes, constants))
        case Negation(body):
            return Not(instantiate(body, sizes, constants))
        case Signed(body=body):
            formula = instantiate(body, sizes, constants)
            return Not(formula) if schema.is_negated(sizes) else formula
        case Joined(mark, parts):
            return _join(mark, (instantiate(part, sizes, constants) for part in parts))
        case Conditional(antecedent, consequent):
            return Implies(
                instantiate(antecedent, sizes, constants),
                instantiate(consequent, sizes, constants),
            )
        case Bound(quantifier, number, variable, domain, body):
            own = {name: sort for name, sort in constants.items() if name != variable}
            formula = instantiate(body, sizes, own)
            if quantifier == "all":
                return ForAll(variable, domain, formula)
            counted = 1 if number is None else number.value(sizes)
            if quantifier == "exactly":
                return Exactly(counted, variable, domain, formula)
            if counted == 1 and number is not None:
                return at_least_one(variable, domain, formula)
            return AtLeast(counted, variable, domain, formula)
        case Family(mark, index, low, high, body):
            numbers = range(low.value(sizes), high.value(sizes) + 1)
            if not numbers:
                said = f"{index} in {numbers.start}..{numbers.stop - 1}"
                raise ShapeError(f"{said} has no number, so there is nothing to join", schema.at)
            return _join(
                mark, (instantiate(body, {**sizes, index: each}, constants) for each in numbers)
            )
        case _:
            assert_never(schema)


def place_of(schema: Schema) -> Token:
    """Return where a schema stands: its first token that is no bracket and no ``~``."""
    match schema:
        case Negation(body):
            return place_of(body)
        case Joined(parts=parts):
            return place_of(parts[0])
        case Conditional(antecedent):
            return place_of(antecedent)
        case _:
            return schema.at


def sign_key(name: str, index: Index | None, sizes: Mapping[str, int]) -> str:
    """Return the name of a sign among the numbers of a shape: ``s`` or ``s[1]``."""
    return name if index is None else f"{name}[{index.value(sizes)}]"


def _join(mark: str, parts: Iterable[Formula]) -> Formula:
    formulas = tuple(parts)
    if len(formulas) == 1:
        return formulas[0]
    return And(formulas) if mark == "&" else Or(formulas)


def _term(term: SchemaTerm, sizes: Mapping[str, int], constants: Mapping[str, Sort]) -> Term:
    if isinstance(term, DescribedTerm):
        own = {name: sort for name, sort in constants.items() if name != term.variable}
        return Description(term.variable, term.domain, instantiate(term.body, sizes, own))
    if term.index is not None:
        return Constant(f"{term.name}[{term.index.value(sizes)}]", constants[term.name])
    if term.name in constants:
        return Constant(term.name, constants[term.name])
    return Variable(term.name)
