"""Schemas: formulas whose terms have indices, and whose size is open.

``each k in 1..n: V(x[k], y)`` is a schema. With n = 3 it is ``V(x[1], y) & V(x[2], y) & V(x[3],
y)``. What a schema says is checked before its sizes are known, and mistakes are reported with their
place in the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
    Sort,
    Taller,
    TemplateError,
    Variable,
    Visited,
    at_least_one,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ietest_fast.templates.formulas import Atom, Formula, Term, Token


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
    """A schema has no formula for the numbers of a shape."""

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
        """Say whether it is, given the signs of a shape."""
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


MOST_PARTS = 2_000
"""Parts of a shape's formulas, at most; see :class:`Budget`."""


class Budget:
    """What remains of the parts that the formulas of a shape may have.

    A part is an atom, a connective or a quantifier. What stands in "exactly n" or in a description
    counts twice, as a proof says it twice.
    """

    def __init__(self) -> None:
        self._left = MOST_PARTS

    def spend(self, times: int, at: Token) -> None:
        """Count a part that is said so many times."""
        self._left -= times
        if self._left < 0:
            raise ShapeError(
                f"the formulas have more than {MOST_PARTS:,} parts; make ranges smaller, or let "
                "fewer of 'each', 'any', 'exactly' and 'the' stand in each other",
                at,
            )


def instantiate(
    schema: Schema,
    sizes: Mapping[str, int],
    constants: Mapping[str, Sort],
    budget: Budget | None = None,
) -> Formula:
    """Return the formula of a schema."""
    return _Expansion(sizes, constants, Budget() if budget is None else budget, 1).formula(schema)


@dataclass(frozen=True, slots=True)
class _Expansion:
    """The numbers and names inside a schema, and how often a proof says what stands there."""

    sizes: Mapping[str, int]
    constants: Mapping[str, Sort]
    budget: Budget
    times: int

    def formula(self, schema: Schema) -> Formula:  # noqa: PLR0911 - one line for each kind
        self.budget.spend(self.times, place_of(schema))
        match schema:
            case Relation(name, first, second):
                return RELATIONS[name](self._term(first), self._term(second))
            case Negation(body):
                return Not(self.formula(body))
            case Signed(body=body):
                formula = self.formula(body)
                return Not(formula) if schema.is_negated(self.sizes) else formula
            case Joined(mark, parts):
                return _join(mark, map(self.formula, parts))
            case Conditional(antecedent, consequent):
                return Implies(self.formula(antecedent), self.formula(consequent))
            case Bound():
                return self._quantified(schema)
            case Family(mark, index, low, high, body, at):
                numbers = range(low.value(self.sizes), high.value(self.sizes) + 1)
                if not numbers:
                    said = f"{index} in {numbers.start}..{numbers.stop - 1}"
                    raise ShapeError(f"{said} has no number, so there is nothing to join", at)
                inner = (replace(self, sizes={**self.sizes, index: each}) for each in numbers)
                return _join(mark, (each.formula(body) for each in inner))
            case _:
                assert_never(schema)

    def _quantified(self, schema: Bound) -> Formula:
        quantifier, number, variable, domain = (
            schema.quantifier,
            schema.number,
            schema.variable,
            schema.domain,
        )
        formula = self._inside(variable, 2 if quantifier == "exactly" else 1).formula(schema.body)
        if quantifier == "all":
            return ForAll(variable, domain, formula)
        counted = 1 if number is None else number.value(self.sizes)
        if counted < 0:
            raise ShapeError(f"{quantifier} {counted} of them cannot be; count from 0", schema.at)
        if quantifier == "exactly":
            return Exactly(counted, variable, domain, formula)
        if counted == 1 and number is not None:
            return at_least_one(variable, domain, formula)
        return AtLeast(counted, variable, domain, formula)

    def _inside(self, variable: str, times: int) -> _Expansion:
        own = {name: sort for name, sort in self.constants.items() if name != variable}
        return replace(self, constants=own, times=self.times * times)

    def _term(self, term: SchemaTerm) -> Term:
        if isinstance(term, DescribedTerm):
            body = self._inside(term.variable, 2).formula(term.body)
            return Description(term.variable, term.domain, body)
        if term.index is not None:
            name = f"{term.name}[{term.index.value(self.sizes)}]"
            return Constant(name, self.constants[term.name])
        if term.name in self.constants:
            return Constant(term.name, self.constants[term.name])
        return Variable(term.name)


class PartCount:
    """How many parts a schema has in a shape, as :class:`Budget` counts them, without its
    formula.
    """

    def __init__(self, schema: Schema) -> None:
        self._n_own = 0
        self._families: list[tuple[int, Family, PartCount]] = []
        self.names: set[str] = set()
        """Sizes and indices that the number depends on."""
        self._add(schema, 1)

    def of(self, sizes: Mapping[str, int]) -> int:
        """Return the number, or any number above :data:`MOST_PARTS` if it is above that."""
        found = self._n_own
        for times, family, body in self._families:
            found += times * body.sum(family.index, family.low, family.high, sizes)
            if found > MOST_PARTS:
                break
        return found

    def sum(self, index: str, low: Index, high: Index, sizes: Mapping[str, int]) -> int:
        """Return the sum of :meth:`of` over the numbers of an index."""
        numbers = range(low.value(sizes), high.value(sizes) + 1)
        if index not in self.names:
            return len(numbers) * self.of(sizes) if numbers else 0
        found = 0
        for number in numbers:
            found += self.of({**sizes, index: number})
            if found > MOST_PARTS:
                break
        return found

    def _add(self, schema: Schema, times: int) -> None:
        self._n_own += times
        match schema:
            case Relation(_, first, second):
                for term in (first, second):
                    if isinstance(term, DescribedTerm):
                        self._add(term.body, 2 * times)
            case Negation(body) | Signed(body=body):
                self._add(body, times)
            case Joined(_, parts):
                for part in parts:
                    self._add(part, times)
            case Conditional(antecedent, consequent):
                self._add(antecedent, times)
                self._add(consequent, times)
            case Bound():
                self._add(schema.body, 2 * times if schema.quantifier == "exactly" else times)
            case Family():
                self._add_family(schema, times)
            case _:
                assert_never(schema)

    def _add_family(self, family: Family, times: int) -> None:
        body = PartCount(family.body)
        self._families.append((times, family, body))
        ends = {each.name for each in (family.low, family.high) if each.name is not None}
        self.names |= ends | (body.names - {family.index})


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


# Checking schemas: names, sorts and sizes.


@dataclass(frozen=True)
class Scope:
    """The names that a schema may use."""

    constants: Mapping[str, Sort] = field(default_factory=dict)
    """The sort of each constant."""
    families: Mapping[str, Sort] = field(default_factory=dict)
    """The sort of each family of constants, ``x[1..n]``."""
    numbers: frozenset[str] = frozenset()
    """Sizes and indices."""
    variables: Mapping[str, Domain] = field(default_factory=dict)
    """What each bound variable ranges over."""
    signs: Mapping[str, bool] = field(default_factory=dict)
    """Whether each sign has an index."""
    path: str | Path | None = None
    """The file, for messages."""

    def with_variable(self, name: str, domain: Domain) -> Scope:
        """Return the names inside a quantifier."""
        return replace(self, variables={**self.variables, name: domain})

    def with_number(self, name: str) -> Scope:
        """Return the names inside a family."""
        return replace(self, numbers=self.numbers | {name})

    def error(self, message: str, at: Token) -> TemplateError:
        """Return an error at a token."""
        return TemplateError(message, line=at.line, column=at.column, path=self.path)


def check_schema(schema: Schema, names: Scope) -> None:
    """Check that every name is known, and that terms are of the sorts that relations need."""
    match schema:
        case Relation(name, first, second):
            domains = (check_term(first, names), check_term(second, names))
            _check_relation(name, (first, second), domains, names)
        case Negation(body):
            check_schema(body, names)
        case Signed(name, index, body, at):
            _check_sign(name, index, names, at)
            check_schema(body, names)
        case Joined(_, parts):
            for part in parts:
                check_schema(part, names)
        case Conditional(antecedent, consequent):
            check_schema(antecedent, names)
            check_schema(consequent, names)
        case Bound(_, number, variable, domain, body, at):
            if number is not None:
                check_index(number, names)
            _check_unused(variable, names, at)
            check_schema(body, names.with_variable(variable, domain))
        case Family(_, index, low, high, body, at):
            check_index(low, names)
            check_index(high, names)
            _check_unused(index, names, at)
            check_schema(body, names.with_number(index))
        case _:
            assert_never(schema)


def check_index(index: Index, names: Scope) -> None:
    """Check that a number is known."""
    if index.name is not None and index.name not in names.numbers:
        raise names.error(
            f"the number {index.name!r} is unknown; give its range by 'where', or by 'each'",
            index.at,
        )


def check_term(term: SchemaTerm, names: Scope) -> Domain:
    """Return what a term may be."""
    if isinstance(term, DescribedTerm):
        _check_unused(term.variable, names, term.at)
        check_schema(term.body, names.with_variable(term.variable, term.domain))
        return term.domain
    if term.index is not None:
        check_index(term.index, names)
        if term.name not in names.families:
            raise names.error(
                f"{term.name!r} has no index here; declare it as {term.name}[1..n]", term.at
            )
        return _domain_of(names.families[term.name])
    if term.name in names.variables:
        return names.variables[term.name]
    if term.name in names.constants:
        return _domain_of(names.constants[term.name])
    if term.name in names.families:
        raise names.error(f"{term.name!r} needs an index, such as {term.name}[1]", term.at)
    raise names.error(
        f"the variable {term.name!r} is free: bind it by a quantifier, or declare it as one of the "
        "people or places",
        term.at,
    )


def _check_sign(name: str, index: Index | None, names: Scope, at: Token) -> None:
    if (names.signs.get(name) is None) or names.signs[name] != (index is not None):
        said = name if index is None else f"{name}[1..n]"
        raise names.error(f"the sign {name!r} is unknown here; declare it: signs {said}", at)
    if index is not None:
        check_index(index, names)


def _domain_of(sort: Sort) -> Domain:
    return Domain.PEOPLE if sort is Sort.PERSON else Domain.PLACES


def _check_unused(name: str, names: Scope, at: Token) -> None:
    if (
        name in names.constants
        or name in names.families
        or name in names.numbers
        or name in names.signs
    ):
        raise names.error(f"{name!r} has a meaning already; take another name", at)


def _check_relation(
    name: str,
    terms: tuple[SchemaTerm, SchemaTerm],
    domains: tuple[Domain, Domain],
    names: Scope,
) -> None:
    if name == "=":
        if set(domains[0].sorts).isdisjoint(domains[1].sorts):
            raise names.error("a person is no place; compare entities of one sort", terms[1].at)
        return
    needed, what = (1, "visit") if name == "V" else (2, "are taller or as tall")
    for term, domain in list(zip(terms, domains, strict=True))[:needed]:
        if domain is Domain.PEOPLE:
            continue
        said = term.name if isinstance(term, NamedTerm) else f"the {term.variable}"
        problem = f"{said!r} is a place; take one of the people"
        if domain is Domain.BOTH:
            problem = f"{said!r} may be a place; write '{said} in Pe'"
        raise names.error(f"only people {what}, and {problem}", term.at)
