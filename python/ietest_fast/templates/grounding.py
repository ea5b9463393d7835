"""Forms about worlds of a given size, as clauses for a SAT solver (Plaisted and Greenbaum 1986)."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, assert_never

from ietest_fast.errors import InputError
from ietest_fast.templates.formulas import (
    And,
    AsTall,
    Constant,
    Domain,
    Equal,
    Interpretation,
    Not,
    SameHeight,
    Sort,
    Taller,
    Variable,
    Visited,
    constants_of,
    is_true,
    terms_of,
)
from ietest_fast.templates.normal_form import (
    HEIGHTS,
    TRUE,
    AllBut,
    Conjunction,
    Disjunction,
    Literal,
    Some,
    canonical,
    normalise,
    quantified_sorts,
    split,
    subjects_of,
    substitute,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ietest_fast.templates.formulas import Atom, Formula, Term
    from ietest_fast.templates.normal_form import Form

MOST_CLAUSES = 1_000_000
MOST_INSTANCES = 5_000_000
"""Parts of a form for entities, at most: of those that are always true there is no clause."""

MOST_ENTITIES = 2_000
"""Of both sorts."""

_MOST_ESTIMATED = 5 * MOST_CLAUSES
"""An estimate is above what is needed, as what is the same for several entities is said once."""


class TooLargeError(InputError):
    """A formula needs too many clauses."""


def check_size(form: Form, sizes: Mapping[Sort, int]) -> None:
    """Stop before clauses are made that cannot be decided, as far as arithmetic can tell."""
    is_large = sum(sizes.values()) > MOST_ENTITIES
    if is_large or _estimate(form, sizes) > _MOST_ESTIMATED:
        raise too_large()


def _estimate(form: Form, sizes: Mapping[Sort, int]) -> int:
    """Return how many clauses a form has at most."""
    match form:
        case Literal():
            return 1
        case Conjunction(parts) | Disjunction(parts):
            return 1 + sum(_estimate(part, sizes) for part in parts)
        case Some(number, _, domain, body) | AllBut(number, _, domain, body):
            n = sum(sizes[sort] for sort in domain.sorts)
            least = number if isinstance(form, Some) else n - number
            counting = 2 * n * (n - least + 1) if 1 < least < n else 1
            return counting + n * (2 + _estimate(body, sizes))
        case _:
            assert_never(form)


class Grounding:
    """A form, its axioms and a world's entities as clauses of numbered variables."""

    def __init__(self, named: Sequence[Constant], sizes: Mapping[Sort, int]) -> None:
        self.clauses: list[list[int]] = []
        """As in DIMACS: a negative number is a negated variable."""
        self._n_variables = 0
        self._n_instances = 0
        self._numbers: dict[tuple[str, Constant, Constant], int] = {}
        self._exists: dict[Constant, int] = {}
        self._implying: dict[tuple[int, tuple[Constant, ...]], int] = {}
        self._free: dict[int, tuple[str, ...]] = {}
        self._forms: list[Form] = []  # kept, as they are told apart by where they are
        self._entities: dict[Sort, tuple[Constant, ...]] = {}
        for sort in Sort:
            own = [each for each in named if each.sort is sort]
            # A name that no constant can have.
            more = [Constant(f"#{number}", sort) for number in range(len(own), sizes[sort])]
            self._entities[sort] = (*own, *more)
            before: int | None = None
            for entity in more:
                number = self._exists[entity] = self._new()
                if before is not None:
                    self.clauses.append([-number, before])  # they come into being in order
                elif not own:
                    self.clauses.append([number])
                before = number

    def require(self, form: Form) -> None:
        """Add the clauses of a form that has to be true."""
        self._forms.append(form)
        self._require(form, {}, [])

    def add_heights(self) -> None:
        """Add the axioms of heights, if they are spoken of: a total order with ties."""
        if not any(relation == "tall" for relation, _, _ in self._numbers):
            return
        people = self._entities[Sort.PERSON]
        if len(people) ** 3 > MOST_CLAUSES:
            raise too_large()
        as_tall = [[self._atom("tall", one, other) for other in people] for one in people]
        for first, second in itertools.product(range(len(people)), repeat=2):
            one = as_tall[first][second]
            self._add([one, as_tall[second][first]])
            for that, this in zip(as_tall[second], as_tall[first], strict=True):
                self._add([-one, -that, this])

    def read(self, true: set[int]) -> Interpretation:
        """Return the world that a solution describes: the variables that are true."""
        there = {
            sort: tuple(
                each for each in entities if each not in self._exists or self._exists[each] in true
            )
            for sort, entities in self._entities.items()
        }
        people = there[Sort.PERSON]
        held = {key for key, number in self._numbers.items() if number in true}
        as_tall = Counter(
            first for relation, first, second in held if relation == "tall" and second in people
        )
        heights = {each: as_tall[each] for each in people}
        everyone = {*people, *there[Sort.PLACE]}
        visits = frozenset(
            (first, second)
            for relation, first, second in held
            if relation == "visited" and first in everyone and second in everyone
        )
        return Interpretation(people, there[Sort.PLACE], visits, heights)

    def _new(self) -> int:
        self._n_variables += 1
        return self._n_variables

    def _atom(self, relation: str, first: Constant, second: Constant) -> int:
        key = (relation, first, second)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._new()
        return number

    def _add(self, clause: list[int]) -> None:
        if len(self.clauses) >= MOST_CLAUSES:
            raise too_large()
        self.clauses.append(clause)

    def _require(self, form: Form, bound: Mapping[str, Constant], unless: list[int]) -> None:
        """Add clauses: the form holds, unless one of these literals is true."""
        self._n_instances += 1
        if self._n_instances > MOST_INSTANCES:
            raise too_large()
        match form:
            case Literal(atom, positive):
                truth = self._literal(atom, bound)
                if isinstance(truth, bool):
                    if truth != positive:
                        self._add(list(unless))
                else:
                    self._add([*unless, truth if positive else -truth])
            case Conjunction(parts):
                for part in parts:
                    self._require(part, bound, unless)
            case Disjunction(parts):
                self._add([*unless, *(self._imply(part, bound) for part in parts)])
            case Some(number, variable, domain, body):
                held = [
                    self._exists_and(entity, body, {**bound, variable: entity})
                    for entity in self._range(domain)
                ]
                self._at_least(number, held, unless)
            case AllBut():
                self._require_all_but(form, bound, unless)
            case _:
                assert_never(form)

    def _require_all_but(
        self, form: AllBut, bound: Mapping[str, Constant], unless: list[int]
    ) -> None:
        regular = []
        for entity in self._range(form.domain):
            excuses = [-self._exists[entity]] if entity in self._exists else []
            if form.number:
                exception = self._new()
                regular.append(-exception)
                excuses.append(exception)
            self._require(form.body, {**bound, form.variable: entity}, [*unless, *excuses])
        self._at_least(len(regular) - form.number, regular, unless)

    def _imply(self, form: Form, bound: Mapping[str, Constant]) -> int:
        """Return a literal that implies a form."""
        if isinstance(form, Literal):
            truth = self._literal(form.atom, bound)
            if not isinstance(truth, bool):
                return truth if form.positive else -truth
        key = (id(form), tuple(bound[name] for name in self._free_in(form)))
        number = self._implying.get(key)
        if number is None:
            number = self._implying[key] = self._new()
            self._require(form, bound, [-number])
        return number

    def _free_in(self, form: Form) -> tuple[str, ...]:
        """Return the variables that are free in a form, sorted."""
        found = self._free.get(id(form))
        if found is None:
            match form:
                case Literal(atom):
                    names = {each.name for each in terms_of(atom) if isinstance(each, Variable)}
                case Conjunction(parts) | Disjunction(parts):
                    names = {name for part in parts for name in self._free_in(part)}
                case Some(_, variable, _, body) | AllBut(_, variable, _, body):
                    names = {name for name in self._free_in(body) if name != variable}
                case _:
                    assert_never(form)
            found = self._free[id(form)] = tuple(sorted(names))
        return found

    def _exists_and(self, entity: Constant, body: Form, bound: Mapping[str, Constant]) -> int:
        held = self._imply(body, bound)
        if entity in self._exists:
            both = self._new()
            self._add([-both, self._exists[entity]])
            self._add([-both, held])
            return both
        return held

    def _at_least(self, number: int, literals: list[int], unless: list[int]) -> None:
        """Add clauses: so many of the literals are true, unless one of others is."""
        if number <= 0:
            return
        if number > len(literals):
            self._add(list(unless))
        elif number == 1:
            self._add([*unless, *literals])
        elif number == len(literals):
            for literal in literals:
                self._add([*unless, literal])
        else:
            from pysat.card import CardEnc, EncType

            made = CardEnc.atleast(
                lits=literals, bound=number, top_id=self._n_variables, encoding=EncType.seqcounter
            )
            self._n_variables = max(self._n_variables, made.nv)
            for clause in made.clauses:
                self._add([*unless, *clause])

    def _range(self, domain: Domain) -> tuple[Constant, ...]:
        return tuple(entity for sort in domain.sorts for entity in self._entities[sort])

    def _literal(self, atom: Atom, bound: Mapping[str, Constant]) -> int | bool:
        """Return the literal of an atom, or its truth if that is known."""
        first, second = (_denote(term, bound) for term in terms_of(atom))
        match atom:
            case Equal():
                return first == second
            case Visited():
                return self._atom("visited", first, second)
            case AsTall():
                return self._atom("tall", first, second)
            case Taller():
                return -self._atom("tall", second, first)
            case SameHeight():
                raise TypeError(f"a form says heights are equal by two atoms, but here is {atom}")
            case _:
                assert_never(atom)


def _denote(term: Term, bound: Mapping[str, Constant]) -> Constant:
    if isinstance(term, Constant):
        return term
    if isinstance(term, Variable):
        return bound[term.name]
    raise TypeError(f"a form has no descriptions, but here is {term}")


def too_large() -> TooLargeError:
    """Return the error that names the limits and the remedy."""
    return TooLargeError(
        "the formula speaks of too many entities at once to be decided (of more than "
        f"{MOST_ENTITIES:,}, or in more than {MOST_CLAUSES:,} clauses); use smaller numbers, or "
        "fewer quantifiers that stand in each other"
    )


# How large a world must be, so that a formula that is true anywhere is true in one of that size.
#
# A formula in monotone normal form stays true if entities are taken away that neither it nor a
# *some* of it needs. So the named entities are enough, and the witnesses of each *some*: as many
# as it asks for, and if it stands under an *all but*, as many for each entity there. That is
# finite if no *some* under an *all but* asks for entities for each entity of the same sort, in a
# circle ("everyone has visited someone"). The axioms of heights hold in every part of a world.

MOST_PARTS = 20_000
"""Parts of a weaker form, at most."""

ORDERS = ((Sort.PERSON, Sort.PLACE), (Sort.PLACE, Sort.PERSON))
"""Pairs of sorts: for each entity of the first, some of the second may be asked for."""


@dataclass(frozen=True)
class Bounded:
    """A form that a world of bounded size decides."""

    form: Form
    """Implied by the form that it was made of."""
    is_whole: bool
    """Whether it is that form itself; otherwise parts of it were replaced by what is always
    true."""
    sizes: Mapping[Sort, int]
    """How many entities of each sort are enough."""


def bound(form: Form, named: Sequence[Constant]) -> tuple[Bounded, ...]:
    """Return the form with the sizes that are enough for it, or weaker forms with theirs.

    A weaker form leaves out what an *all but* would ask for without an end, except of the entities
    that have names.
    """
    found = []
    counts = {sort: sum(each.sort is sort for each in named) for sort in Sort}
    for order in ORDERS:
        weaker = _Weakening(order, named).weaken(form)
        bounded = Bounded(weaker, weaker == form, _sizes(weaker, order, counts))
        if bounded.is_whole:
            return (bounded,)
        found.append(bounded)
    return tuple(found)


class _Weakening:
    """Leave out each *some* under an *all but* that asks for sorts against an order."""

    def __init__(self, order: tuple[Sort, Sort], named: Sequence[Constant]) -> None:
        self._order = order
        self._named = named
        self._n_parts = 0

    def weaken(self, form: Form, outer: frozenset[Sort] = frozenset()) -> Form:
        # What is said again of each named entity, and in it of each again, has no end otherwise.
        self._n_parts += 1
        if self._n_parts > MOST_PARTS:
            raise too_large()
        match form:
            case Literal():
                return form
            case Conjunction(parts) | Disjunction(parts):
                return type(form)(tuple(self.weaken(part, outer) for part in parts))
            case Some(number, variable, domain, body):
                first, second = self._order
                if outer and (outer != {first} or domain.sorts != (second,)):
                    return TRUE
                return Some(number, variable, domain, self.weaken(body, outer))
            case AllBut(number, variable, domain, body):
                inner = outer | frozenset(domain.sorts)
                weaker = AllBut(number, variable, domain, self.weaken(body, inner))
                if weaker == form or number:
                    return weaker
                own = [
                    self.weaken(substitute(body, variable, each), outer)
                    for each in self._named
                    if each.sort in domain.sorts
                ]
                return Conjunction((weaker, *own))
            case _:
                assert_never(form)


def _sizes(form: Form, order: tuple[Sort, Sort], named: Mapping[Sort, int]) -> dict[Sort, int]:
    first, second = order
    # None of the second sort asks for one of the first, so the number of these is known.
    alone = _witnesses(form, {Sort.PERSON: 0, Sort.PLACE: 0})
    sizes = {first: max(named[first] + alone[first], 1)}
    of_all = _witnesses(form, {first: sizes[first], second: 0})
    sizes[second] = max(named[second] + of_all[second], 1)
    return sizes


def _witnesses(form: Form, each: Mapping[Sort, int]) -> dict[Sort, int]:
    """Count the witnesses that a form asks for, if each sort has so many entities."""
    match form:
        case Literal():
            return dict.fromkeys(Sort, 0)
        case Conjunction(parts):
            counted = [_witnesses(part, each) for part in parts]
            return {sort: sum(own[sort] for own in counted) for sort in Sort}
        case Disjunction(parts):
            counted = [_witnesses(part, each) for part in parts]
            return {sort: max((own[sort] for own in counted), default=0) for sort in Sort}
        case Some(number, _, domain, body):
            inner = _witnesses(body, each)
            return {sort: number * (inner[sort] + (sort in domain.sorts)) for sort in Sort}
        case AllBut(_, _, domain, body):
            inner = _witnesses(body, each)
            times = sum(each[sort] for sort in domain.sorts)
            return {sort: times * inner[sort] for sort in Sort}
        case _:
            assert_never(form)


# Proofs: whether a formula is true in any world, and what premises say of a hypothesis.


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
