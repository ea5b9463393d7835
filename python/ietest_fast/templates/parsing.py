"""Reading formulas and schemas from text.

The syntax, from the loosest to the tightest::

    A -> B                       if A, then B
    A | B        A & B           A or B; A and B
    ~A           +-s A           not A; A or not A, as the sign s says
    all x in Pe: A               of every person x; Pl: every place; without "in": all of both
    some x in Pl: A              of some place x
    at least 2 x in Pe: A        of two people or more
    exactly 3 x in Pl: A         of three places
    each k in 1..n: A            A for k = 1, 2, ..., n, joined by &; any k in 1..n: by |
    V(x, y)   x > y   x >= y     x has visited y; x is taller than y; x is as tall as y or taller
    x == y                       x is exactly as tall as y
    x = y     x != y             x is y; x is not y
    the y in Pe: A               as a term: the person y of which A is true

What stands behind a colon reaches as far as it can; parentheses end it. A description before a mark
stands in parentheses: ``(the y in Pe: V(y, x)) > x``. A term has a name, ``anna``,
or a name and an index, ``x[k]``, ``x[n-1]``. The signs ¬ ∧ ∨ → ∀ ∃ ι ≥ ≠ mean the same as ~ & | ->
all some the >= !=.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, assert_never

from ietest_fast.templates.formulas import (
    And,
    AsTall,
    AtLeast,
    Atom,
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
    TemplateError,
    Token,
    Visited,
    split_tokens,
    terms_of,
)
from ietest_fast.templates.schemas import (
    Bound,
    Conditional,
    DescribedTerm,
    Family,
    Index,
    Joined,
    NamedTerm,
    Negation,
    Relation,
    Scope,
    Signed,
    check_schema,
    instantiate,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ietest_fast.templates.formulas import Formula, Sort, Term
    from ietest_fast.templates.schemas import Schema, SchemaTerm


DOMAINS = {"Pe": Domain.PEOPLE, "Pl": Domain.PLACES}
RESERVED = frozenset(
    "all some at least exactly each any the in for V template where people places same as "  # noqa: SIM905
    "signs share premise hypothesis mask label".split()
)
"""Words that name no term."""

_QUANTIFIERS = frozenset({"all", "some", "at", "exactly"})
MOST_NESTED = 100
"""How deep formulas and terms may stand in each other: parentheses, ~, +-, ->, colons."""


def parse_formula(text: str, constants: Mapping[str, Sort]) -> Formula:
    """Read a formula.

    Examples
    --------
    >>> parse_formula("~V(anna, rome)", {"anna": Sort.PERSON, "rome": Sort.PLACE})
    Not(body=Visited(visitor=Constant(name='anna', ...), visited=Constant(name='rome', ...)))
    """
    parser = Parser(split_tokens(text))
    schema = parser.schema()
    parser.expect("end", "the end of the formula")
    check_schema(schema, Scope(constants=dict(constants)))
    return instantiate(schema, {}, constants)


class Parser:
    """Read schemas from tokens, one after the other."""

    def __init__(self, tokens: list[Token], *, path: str | Path | None = None) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0
        self.path = path

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._next]

    def take(self) -> Token:
        """Return the next token, and go on to the one behind it."""
        token = self.token
        if token.kind != "end":
            self._next += 1
        return token

    def accept(self, kind: str) -> bool:
        """Say whether the next token is a mark or a word, and if so go on."""
        found = self.is_next(kind)
        if found:
            self.take()
        return found

    def is_next(self, kind: str) -> bool:
        """Say whether the next token is a mark, or a word."""
        token = self.token
        return kind in (token.kind, token.text if token.kind == "name" else None)

    def expect(self, kind: str, wanted: str | None = None) -> Token:
        """Return the next token, which has to be this mark, word or kind."""
        if not self.is_next(kind):
            raise self.error(f"{wanted or repr(kind)} is expected here, not {self._say()}")
        return self.take()

    def error(self, message: str, at: Token | None = None) -> TemplateError:
        """Return an error at a token, the next one by default."""
        at = at or self.token
        return TemplateError(message, line=at.line, column=at.column, path=self.path)

    def name(self, wanted: str) -> Token:
        """Return the next token, which has to be a name that is free to use."""
        token = self.token
        if token.kind != "name":
            raise self.error(f"{wanted} is expected here, not {self._say()}")
        if token.text in RESERVED:
            raise self.error(f"{token.text!r} means something else; take another name")
        return self.take()

    def schema(self) -> Schema:
        """Read a schema."""
        with self._deeper():
            left = self._joined("|")
            if self.accept("->"):
                left = Conditional(left, self.schema())
        return left

    @contextlib.contextmanager
    def _deeper(self) -> Iterator[None]:
        """Count a level; whatever calls itself again, in whatever way, goes through here."""
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise self.error(
                f"the formula is nested more than {MOST_NESTED} times; write it with fewer "
                "parentheses, or as several premises"
            )
        yield
        self._depth -= 1

    def index(self) -> Index:
        """Read a number: ``3``, ``n`` or ``n-1``."""
        at = self.token
        if at.kind == "number":
            return Index(None, self.number(), at)
        name = self.name("a number or its name").text
        if self.accept("+"):
            return Index(name, self.number(), at)
        if self.accept("-"):
            return Index(name, -self.number(), at)
        return Index(name, 0, at)

    def bounds(self) -> tuple[Index, Index]:
        """Read ``1..n``."""
        low = self.index()
        self.expect("..")
        return low, self.index()

    def domain(self) -> Domain:
        """Read ``in Pe``, ``in Pl`` or nothing."""
        if not self.accept("in"):
            return Domain.BOTH
        token = self.token
        if token.text not in DOMAINS:
            raise self.error(f"Pe (people) or Pl (places) is expected here, not {self._say()}")
        return DOMAINS[self.take().text]

    def _say(self) -> str:
        return "the end" if self.token.kind == "end" else repr(self.token.text)

    def number(self) -> int:
        """Read a number in digits."""
        token = self.expect("number", "a number")
        if len(token.text) > 4:
            raise self.error("the number is too large; 9999 is the largest", token)
        return int(token.text)

    def _joined(self, mark: str) -> Schema:
        part = self._unary if mark == "&" else lambda: self._joined("&")
        parts = [part()]
        while self.accept(mark):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(mark, tuple(parts))

    def _unary(self) -> Schema:
        token = self.token
        if token.kind == "~":
            with self._deeper():
                self.take()
                return Negation(self._unary())
        if token.kind == "+":
            return self._signed()
        if token.kind == "(" and not self._begins_description(self._tokens[self._next + 1]):
            self.take()
            inside = self.schema()
            self.expect(")")
            return inside
        word = token.text if token.kind == "name" else token.kind
        if word in _QUANTIFIERS:
            return self._quantified()
        if word in {"each", "any"}:
            return self._family()
        return self._relation()

    def _signed(self) -> Schema:
        with self._deeper():
            self.take()
            self.expect("-", "'-' of the sign '+-'")
            at = self.name("the name of a sign")
            return Signed(at.text, self._index_behind(), self._unary(), at)

    @staticmethod
    def _begins_description(token: Token) -> bool:
        return "the" in (token.kind, token.text)

    def _quantified(self) -> Schema:
        at = self.take()
        word = at.text if at.kind == "name" else at.kind
        number = None
        if word == "at":
            self.expect("least")
            word = "at least"
        if word in {"at least", "exactly"}:
            number = self.index()
        variable = self.name("a variable").text
        domain = self.domain()
        self.expect(":")
        quantifier = "at least" if word == "some" else word
        return Bound(quantifier, number, variable, domain, self.schema(), at)

    def _family(self) -> Schema:
        at = self.take()
        index = self.name("an index").text
        self.expect("in")
        low, high = self.bounds()
        self.expect(":")
        return Family("&" if at.text == "each" else "|", index, low, high, self.schema(), at)

    def _relation(self) -> Schema:
        at = self.token
        if self.accept("V"):
            self.expect("(")
            first = self._term()
            self.expect(",")
            second = self._term()
            self.expect(")")
            return Relation("V", first, second, at)
        if self._begins_description(at):
            raise self.error("put a description before a mark in parentheses: (the y in Pe: ...)")
        first = self._term()
        mark = self.token
        if mark.kind not in {">", ">=", "==", "=", "!="}:
            raise self.error(
                f"'>', '>=', '==', '=' or '!=' is expected behind a term, not {self._say()}"
            )
        self.take()
        second = self._term()
        if mark.kind == "!=":
            return Negation(Relation("=", first, second, at))
        return Relation(mark.kind, first, second, at)

    def _term(self) -> SchemaTerm:
        if self.accept("("):
            with self._deeper():
                term = self._term()
            self.expect(")")
            return term
        at = self.token
        if self._begins_description(at):
            self.take()
            variable = self.name("a variable").text
            domain = self.domain()
            self.expect(":")
            return DescribedTerm(variable, domain, self.schema(), at)
        return self.named_term("a formula")

    def named_term(self, wanted: str = "a name") -> NamedTerm:
        """Read ``x`` or ``x[k]``."""
        at = self.name(wanted)
        return NamedTerm(at.text, self._index_behind(), at)

    def _index_behind(self) -> Index | None:
        if not self.accept("["):
            return None
        index = self.index()
        self.expect("]")
        return index


# Writing formulas as text that can be read again.

_MARKS = {Taller: ">", AsTall: ">=", SameHeight: "==", Equal: "="}
_RANGES = {Domain.PEOPLE: " in Pe", Domain.PLACES: " in Pl", Domain.BOTH: ""}


def print_formula(formula: Formula) -> str:  # noqa: PLR0911 - one line for each kind
    """Write a formula in the syntax of :mod:`ietest_fast.templates.parsing`.

    Reading the text gives the formula again, except that a conjunction or disjunction of one part
    is written as this part. One without parts, which is always true or false, cannot be written.
    """
    match formula:
        case Not(body):
            return f"~{_closed(body)}"
        case And(parts) | Or(parts):
            if not parts:
                raise ValueError("a conjunction or disjunction without parts cannot be written")
            if len(parts) == 1:
                return print_formula(parts[0])
            mark = " & " if isinstance(formula, And) else " | "
            return mark.join(_closed(part) for part in parts)
        case Implies(antecedent, consequent):
            return f"{_closed(antecedent)} -> {_closed(consequent)}"
        case ForAll(variable, domain, body):
            return _quantified("all", variable, domain, body)
        case AtLeast(number, variable, domain, body):
            word = "some" if number == 1 else f"at least {number}"
            return _quantified(word, variable, domain, body)
        case Exactly(number, variable, domain, body):
            return _quantified(f"exactly {number}", variable, domain, body)
        case Visited(visitor, visited):
            return f"V({_term(visitor)}, {_term(visited)})"
        case Taller() | AsTall() | SameHeight() | Equal():
            first, second = terms_of(formula)
            return f"{_term(first)} {_MARKS[type(formula)]} {_term(second)}"
        case _:
            assert_never(formula)


def _quantified(word: str, variable: str, domain: Domain, body: Formula) -> str:
    return f"{word} {variable}{_RANGES[domain]}: {print_formula(body)}"


def _closed(formula: Formula) -> str:
    while isinstance(formula, And | Or) and len(formula.parts) == 1:
        (formula,) = formula.parts
    text = print_formula(formula)
    is_closed = isinstance(formula, Atom | Not)
    return text if is_closed else f"({text})"


def _term(term: Term) -> str:
    if isinstance(term, Description):
        return f"({_quantified('the', term.variable, term.domain, term.body)})"
    return term.name
