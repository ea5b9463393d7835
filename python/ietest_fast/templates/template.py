"""Templates: premises and a hypothesis as schemas, and the label that all their shapes have.

A *shape* of a template has numbers for its sizes and indices. It is a pair of formulas about named
entities, whose label is proved; names of people and places make texts of it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.templates.formulas import (
    And,
    AtLeast,
    Constant,
    Exactly,
    ForAll,
    Implies,
    Not,
    Or,
    Sort,
    TemplateError,
    constants_of,
    map_parts,
    rename,
)
from ietest_fast.templates.grounding import Label, find_world, label_of
from ietest_fast.templates.schemas import (
    MOST_PARTS,
    Budget,
    PartCount,
    ShapeError,
    instantiate,
    place_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ietest_fast.templates.formulas import Formula, Interpretation, Token
    from ietest_fast.templates.schemas import Index, NamedTerm, Schema


# Why premises and a hypothesis do not have a label: a world that shows it.

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


# The words that a masked word of a hypothesis competes with.

STRONGER = {"or": "'and'", "some": "'every'", "number": "a greater number"}
"""What says more than a word that can be masked."""


def strengthen(  # noqa: PLR0911 - one line for each kind
    formula: Formula, what: str
) -> Formula:
    """Return what a hypothesis says with a stronger word in the place of the masked one."""
    match formula:
        case Or(parts) if what == "or":
            return And(tuple(strengthen(each, what) for each in parts))
        case AtLeast(1, variable, domain, body) if what == "some":
            return ForAll(variable, domain, strengthen(body, what))
        case AtLeast(number, variable, domain, body) if what == "number" and number > 1:
            return AtLeast(number + 1, variable, domain, body)
        case Not(Exactly(0, variable, domain, body)) if what == "number":
            return AtLeast(2, variable, domain, body)
        case Implies(antecedent, consequent):
            return Implies(antecedent, strengthen(consequent, what))
        case And() | Or() | ForAll() | AtLeast():
            return map_parts(formula, lambda part: strengthen(part, what))
        case _:
            return formula


@dataclass(frozen=True)
class Range:
    """The values of a size or an index, both ends included; they may depend on earlier ones."""

    name: str
    low: Index
    high: Index
    at: Token


@dataclass(frozen=True)
class Declaration:
    """Names of people or places: ``y``, or ``x[1..n]``."""

    name: str
    sort: Sort
    low: Index | None
    high: Index | None
    at: Token


@dataclass(frozen=True)
class Premise:
    """A sentence of the premise, or with a range one for each number in it."""

    schema: Schema
    each: Range | None
    at: Token

    def numbers(self, sizes: Mapping[str, int]) -> Iterator[Mapping[str, int]]:
        """Yield the sizes of a shape, together with each number of the range."""
        if self.each is None:
            yield sizes
            return
        for number in range(self.each.low.value(sizes), self.each.high.value(sizes) + 1):
            yield {**sizes, self.each.name: number}

    def n_parts(self, count: PartCount, sizes: Mapping[str, int]) -> int:
        """Return the number of parts of its sentences in a shape."""
        if self.each is None:
            return count.of(sizes)
        return count.sum(self.each.name, self.each.low, self.each.high, sizes)


@dataclass(frozen=True)
class Sign:
    """Signs that negate a formula or not, each as likely: ``s``, or ``s[1..n]``."""

    name: str
    low: Index | None
    high: Index | None
    at: Token

    def numbers(self, sizes: Mapping[str, int]) -> Sequence[int | None]:
        """Return the indices of its signs; None: it has no index."""
        if self.low is None or self.high is None:
            return [None]
        return range(self.low.value(sizes), self.high.value(sizes) + 1)

    def keys(self, sizes: Mapping[str, int]) -> list[str]:
        """Return the names of its signs among the numbers of a shape."""
        numbers = self.numbers(sizes)
        return [self.name if each is None else f"{self.name}[{each}]" for each in numbers]


MOST_SHAPES = 100_000
"""Shapes of a template, at most: each of them is proved."""

MOST_STEPS = 20 * MOST_SHAPES
"""Numbers that are tried for the sizes of a template, at most."""

MASKS = ("and", "or", "some", "every", "number")
"""What can be masked in a hypothesis."""


@dataclass(frozen=True)
class Mask:
    """The word of the hypothesis that is masked: that of a connective or a quantity."""

    what: str
    at: Token


@dataclass(frozen=True)
class Shape:
    """A template with numbers for its sizes."""

    sizes: tuple[tuple[str, int], ...]
    """The numbers of sizes and indices, in the order of the template."""
    premises: tuple[Formula, ...]
    hypothesis: Formula
    """Formulas."""
    constants: tuple[Constant, ...]
    """The entities of both, in the order in which they stand there."""


@dataclass(frozen=True)
class Template:
    """A scheme of pairs with one label (thesis, section 3.2)."""

    name: str
    """Of the template."""
    ranges: tuple[Range, ...]
    """Sizes and indices."""
    declarations: tuple[Declaration, ...]
    """The names of people and places."""
    premises: tuple[Premise, ...]
    hypothesis: Schema
    """What the texts say."""
    label: Label
    """What the premises say of the hypothesis, in every shape."""
    at: Token
    label_at: Token
    """Where the template and its label stand."""
    same: tuple[tuple[NamedTerm, NamedTerm], ...] = ()
    """Names that stand for one entity."""
    signs: tuple[Sign, ...] = ()
    """What negates formulas or not."""
    share: Fraction = Fraction(1)
    """How often the template is drawn, compared with others."""
    mask: Mask | None = None
    """The word that a masked language model has to find; None: there is none."""
    path: str | Path | None = None
    """The file, None for a text in memory."""
    _sorts: dict[str, Sort] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_sorts", {each.name: each.sort for each in self.declarations})

    def sizes(self) -> Iterator[dict[str, int]]:
        """Yield the numbers of each shape."""
        for sizes, _ in self.weighted_sizes():
            yield sizes

    def weighted_sizes(self) -> Iterator[tuple[dict[str, int], float]]:
        """Yield the numbers of each shape, and with which probability a shape has them.

        Sizes are drawn in their order, each of a range with the same probability, and then signs.
        Sizes that leave no number for a later one are not drawn.
        """
        total, _ = self._total()
        for sizes, weight in self._extend({}, 1.0, 0, itertools.count(1)):
            names = [key for sign in self.signs for key in sign.keys(sizes)]
            for own in itertools.product((0, 1), repeat=len(names)):
                yield sizes | dict(zip(names, own, strict=True)), weight / total / 2 ** len(names)

    def n_shapes(self) -> int:
        """Return the number of shapes; raises as :meth:`weighted_sizes`."""
        return self._total()[1]

    def n_parts(self, most: int) -> int:
        """Return the number of parts of all shapes, without their formulas.

        A shape with more than :data:`~ietest_fast.templates.schemas.MOST_PARTS` counts as one with
        one more than that. Counting ends above `most`.
        """
        self._total()
        premises = [(each, PartCount(each.schema)) for each in self.premises]
        hypothesis = PartCount(self.hypothesis)
        found = 0
        for sizes, _ in self._extend({}, 1.0, 0, itertools.count(1)):
            n_parts = hypothesis.of(sizes) + sum(
                each.n_parts(count, sizes) for each, count in premises
            )
            n_signs = sum(len(sign.numbers(sizes)) for sign in self.signs)
            found += min(n_parts, MOST_PARTS + 1) * 2**n_signs
            if found > most:
                break
        return found

    def _total(self) -> tuple[float, int]:
        """Return the probability of all sizes that leave a number for later ones; the shapes."""
        weights: list[float] = []
        n_shapes = 0
        for sizes, weight in self._extend({}, 1.0, 0, itertools.count(1)):
            weights.append(weight)
            n_shapes += 2 ** sum(len(sign.numbers(sizes)) for sign in self.signs)
            if n_shapes > MOST_SHAPES:
                raise self.error(
                    f"it has more than {MOST_SHAPES:,} shapes, and each has to be proved; make the "
                    "ranges of its sizes smaller, or take fewer signs",
                    self.at,
                )
        if not n_shapes:
            raise self.error("the ranges of its sizes leave no shape", self.at)
        return math.fsum(weights), n_shapes

    def _extend(
        self, sizes: dict[str, int], weight: float, place: int, steps: Iterator[int]
    ) -> Iterator[tuple[dict[str, int], float]]:
        if next(steps) > MOST_STEPS:
            raise self.error(
                f"its ranges have more than {MOST_STEPS:,} combinations, nearly all of which leave "
                "no number for a later size; make them smaller",
                self.at,
            )
        if place == len(self.ranges):
            yield sizes, weight
            return
        own = self.ranges[place]
        numbers = range(own.low.value(sizes), own.high.value(sizes) + 1)
        for number in numbers:
            share = weight / len(numbers)
            yield from self._extend({**sizes, own.name: number}, share, place + 1, steps)

    def shape(self, sizes: Mapping[str, int]) -> Shape:
        """Return the shape with these sizes, without a proof."""
        declared, budget = self._declared(sizes), Budget()
        premises = tuple(
            self._formula(each.schema, own, declared, budget)
            for each in self.premises
            for own in each.numbers(sizes)
        )
        if not premises:
            raise self.error(f"{say_sizes(sizes)} there is no premise", self.at)
        hypothesis = self._formula(self.hypothesis, sizes, declared, budget)
        named = {each: None for one in (*premises, hypothesis) for each in constants_of(one)}
        if self.same:
            merged = self._merged(sizes, declared)
            premises, hypothesis = rename((premises, hypothesis), merged)
            named = {merged.get(each, each): None for each in named}
        return Shape(tuple(sizes.items()), premises, hypothesis, tuple(named))

    def _formula(
        self,
        schema: Schema,
        sizes: Mapping[str, int],
        declared: _Declared,
        budget: Budget,
    ) -> Formula:
        """Return the formula of a schema, whose names have to be declared."""
        try:
            formula = instantiate(schema, sizes, self._sorts, budget)
        except ShapeError as error:
            raise self.error(f"{say_sizes(sizes)} {error}", error.at) from error
        for each in constants_of(formula):
            if not _is_declared(each.name, declared):
                raise self._not_declared(each.name, sizes, place_of(schema))
        return formula

    def premise_place(self, number: int, sizes: Mapping[str, int]) -> Token:
        """Return where the premise of this number stands, counted from 0 in a shape."""
        places = (place_of(each.schema) for each in self.premises for _ in each.numbers(sizes))
        return next(itertools.islice(places, number, None))

    def _merged(self, sizes: Mapping[str, int], declared: _Declared) -> dict[Constant, Constant]:
        """Return who each entity is that another name stands for."""
        found: dict[Constant, Constant] = {}

        def entity(term: NamedTerm) -> Constant:
            name = term.name if term.index is None else f"{term.name}[{term.index.value(sizes)}]"
            if not _is_declared(name, declared):
                raise self._not_declared(name, sizes, term.at)
            return end_of(Constant(name, self._sorts[term.name]))

        def end_of(own: Constant) -> Constant:
            while own in found:
                own = found[own]
            return own

        for one, two in self.same:
            source, target = entity(one), entity(two)
            if source != target:
                found[source] = target
        return {each: end_of(target) for each, target in found.items()}

    def _declared(self, sizes: Mapping[str, int]) -> _Declared:
        declared: dict[str, range | None] = {}
        for each in self.declarations:
            if each.low is None or each.high is None:
                declared[each.name] = None
            else:
                declared[each.name] = range(each.low.value(sizes), each.high.value(sizes) + 1)
        return declared

    def _not_declared(self, name: str, sizes: Mapping[str, int], at: Token) -> TemplateError:
        return self.error(f"{say_sizes(sizes)} there is {name}, which is not declared", at)

    def prove(self, sizes: Mapping[str, int]) -> Shape:
        """Return the shape with these sizes, whose label is proved."""
        shape = self.shape(sizes)
        try:
            found = label_of(shape.premises, shape.hypothesis)
        except InputError as error:
            raise self.error(f"{say_sizes(sizes)} {error}", self.at) from error
        if found is not self.label:
            why = refute(shape.premises, shape.hypothesis, self.label)
            raise self.error(
                f"the label is {self.label.value}, but {say_sizes(sizes)} it is {found.value}: "
                f"{why}",
                self.label_at,
            )
        self._check_mask(shape)
        return shape

    def _check_mask(self, shape: Shape) -> None:
        """Check that the masked word is the strongest one that follows."""
        if self.mask is None or self.label is not Label.ENTAILMENT:
            return
        stronger = strengthen(shape.hypothesis, self.mask.what)
        if stronger == shape.hypothesis:
            return
        if label_of(shape.premises, stronger) is Label.ENTAILMENT:
            raise self.error(
                f"{say_sizes(dict(shape.sizes))} the hypothesis also follows with "
                f"{STRONGER[self.mask.what]} in the masked place, so that should be the word; let "
                "the hypothesis say it, or the premises say less",
                self.mask.at,
            )

    def error(self, message: str, at: Token | None = None) -> TemplateError:
        """Return an error at a token, or where the template begins."""
        place = self.at if at is None else at
        return TemplateError(
            f"template {self.name!r}: {message}",
            line=place.line,
            column=place.column,
            path=self.path,
        )


_Declared = Mapping[str, "range | None"]
"""The numbers of each family of names; None: it is one name."""


def _is_declared(name: str, declared: _Declared) -> bool:
    family, _, index = name.partition("[")
    numbers = declared[family]
    return not index if numbers is None else bool(index) and int(index[:-1]) in numbers


def say_sizes(sizes: Mapping[str, int]) -> str:
    """Say which sizes a shape has: ``with n = 3 and i = 1``."""
    said = [f"{name} = {number}" for name, number in sizes.items()]
    if not said:
        return "here"
    return "with " + (" and ".join([", ".join(said[:-1]), said[-1]]) if said[1:] else said[0])
