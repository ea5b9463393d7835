"""Checking schemas: names, sorts and sizes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, assert_never

from ietest_fast.templates.formulas import Domain, Sort
from ietest_fast.templates.lexing import TemplateError
from ietest_fast.templates.schemas import (
    Bound,
    Conditional,
    DescribedTerm,
    Family,
    Joined,
    NamedTerm,
    Negation,
    Relation,
    Signed,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ietest_fast.templates.lexing import Token
    from ietest_fast.templates.schemas import Index, Schema, SchemaTerm

_PLURALS = {Sort.PERSON: "people", Sort.PLACE: "places"}
_DOMAINS = {Sort.PERSON: "Pe", Sort.PLACE: "Pl"}


@dataclass(frozen=True)
class Names:
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

    def with_variable(self, name: str, domain: Domain) -> Names:
        """Return the names inside a quantifier."""
        return replace(self, variables={**self.variables, name: domain})

    def with_number(self, name: str) -> Names:
        """Return the names inside a family."""
        return replace(self, numbers=self.numbers | {name})

    def error(self, message: str, at: Token) -> TemplateError:
        """Return an error at a token."""
        return TemplateError(message, line=at.line, column=at.column, path=self.path)


def check_schema(schema: Schema, names: Names) -> None:
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


def check_index(index: Index, names: Names) -> None:
    """Check that a number is known."""
    if index.name is not None and index.name not in names.numbers:
        raise names.error(
            f"the number {index.name!r} is unknown; give its range by 'where', or by 'each'",
            index.at,
        )


def check_term(term: SchemaTerm, names: Names) -> Domain:
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


def _check_sign(name: str, index: Index | None, names: Names, at: Token) -> None:
    if (names.signs.get(name) is None) or names.signs[name] != (index is not None):
        said = name if index is None else f"{name}[1..n]"
        raise names.error(f"the sign {name!r} is unknown here; declare it: signs {said}", at)
    if index is not None:
        check_index(index, names)


def _domain_of(sort: Sort) -> Domain:
    return Domain.PEOPLE if sort is Sort.PERSON else Domain.PLACES


def _check_unused(name: str, names: Names, at: Token) -> None:
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
    names: Names,
) -> None:
    if name == "=":
        if set(domains[0].sorts).isdisjoint(domains[1].sorts):
            raise names.error("a person is no place; compare entities of one sort", terms[1].at)
        return
    needed = 1 if name == "V" else 2
    for term, domain in list(zip(terms, domains, strict=True))[:needed]:
        if domain is not Domain.PEOPLE:
            what = "visit" if name == "V" else "are taller or as tall"
            said = term.name if isinstance(term, NamedTerm) else f"the {term.variable}"
            if domain is Domain.BOTH:
                problem = f"{said!r} may be a place; write '{said} in Pe'"
            else:
                problem = f"{said!r} is a place; take one of the people"
            raise names.error(f"only people {what}, and {problem}", term.at)
