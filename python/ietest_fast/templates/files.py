"""Template files.

A file has any number of templates::

    # Somebody who is named did not go there.
    template one-of-them
        where       n in 2..12, i in 1..n
        people      x[1..n]
        places      y[1..n]
        premise     V(x[k], y[k]) for k in 1..n
        hypothesis  ~V(x[i], y[i])
        label       contradiction

``where`` gives the range of sizes and indices, from which a shape is drawn, each number as likely
as the others. Different names are different entities. There may be several lines of ``premise``;
each gives a sentence, or with ``for`` one for each number. Lines may be broken anywhere.

Further statements::

    signs  s[1..n], t          each of "+-s[k] A" is A or ~A, as likely
    same   y[2] as x           y[2] is x; the name y[2] is not used
    share  1/2                 drawn half as often as other templates of the label
    mask   and                 the word that a masked language model has to find: that for and, or,
                               some, every, or the number of a quantity
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from ietest_fast.errors import InputError
from ietest_fast.files import read_text
from ietest_fast.templates.formulas import Sort, split_tokens
from ietest_fast.templates.grounding import Label
from ietest_fast.templates.parsing import Parser
from ietest_fast.templates.schemas import (
    Bound,
    Negation,
    Relation,
    Scope,
    Signed,
    check_index,
    check_schema,
    check_term,
)
from ietest_fast.templates.template import MASKS, Declaration, Mask, Premise, Range, Sign, Template

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ietest_fast.templates.formulas import Token
    from ietest_fast.templates.language import Language
    from ietest_fast.templates.schemas import Index, NamedTerm, Schema


T = TypeVar("T")

MOST_BYTES = 4 << 20
"""Of a template file; those of the package have a few thousand."""

_SORTS = {"people": Sort.PERSON, "places": Sort.PLACE}
_STATEMENTS = (
    "template",
    "where",
    *_SORTS,
    "same",
    "signs",
    "share",
    "premise",
    "hypothesis",
    "mask",
    "label",
)


def read_templates(path: str | Path) -> tuple[Template, ...]:
    """Read the templates of a file, UTF-8."""
    return parse_templates(read_text(path, most_bytes=MOST_BYTES), path=Path(path))


def parse_templates(text: str, *, path: str | Path | None = None) -> tuple[Template, ...]:
    """Read templates from a text; see :func:`read_templates`."""
    parser = Parser(split_tokens(text, path=path), path=path)
    found: dict[str, Template] = {}
    while not parser.is_next("end"):
        template = _Reader(parser).read()
        if template.name in found:
            raise parser.error(f"there are two templates {template.name!r}", template.at)
        found[template.name] = template
    if not found:
        raise InputError("there is no template", path=path)
    return tuple(found.values())


class _Reader:
    """Read one template."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.ranges: list[Range] = []
        self.declarations: list[Declaration] = []
        self.premises: list[Premise] = []
        self.hypothesis: Schema | None = None
        self.label: tuple[Label, Token] | None = None
        self.same: list[tuple[NamedTerm, NamedTerm]] = []
        self.signs: list[Sign] = []
        self.share: Fraction | None = None
        self.mask: Mask | None = None

    def read(self) -> Template:
        parser = self.parser
        at = parser.expect("template", "'template'")
        name = parser.expect("name", "the name of the template").text
        while not (parser.is_next("end") or parser.is_next("template")):
            self._statement()
        if not self.premises or self.hypothesis is None or self.label is None:
            present = (self.premises, self.hypothesis, self.label)
            names = ("premise", "hypothesis", "label")
            lacking = next(name for name, own in zip(names, present, strict=True) if not own)
            raise parser.error(f"template {name!r} has no {lacking}", at)
        template = Template(
            name=name,
            ranges=tuple(self.ranges),
            declarations=tuple(self.declarations),
            premises=tuple(self.premises),
            hypothesis=self.hypothesis,
            label=self.label[0],
            at=at,
            label_at=self.label[1],
            same=tuple(self.same),
            signs=tuple(self.signs),
            share=Fraction(1) if self.share is None else self.share,
            mask=self.mask,
            path=parser.path,
        )
        self._check(template)
        return template

    def _statement(self) -> None:
        parser = self.parser
        at = parser.token
        if at.kind != "name" or at.text not in _STATEMENTS:
            said = "the end" if at.kind == "end" else repr(at.text)
            raise parser.error(f"one of {', '.join(_STATEMENTS)} is expected here, not {said}")
        parser.take()
        match at.text:
            case "where":
                self._list(self.ranges, self._range)
            case "people" | "places":
                self._list(self.declarations, lambda: self._declaration(_SORTS[at.text]))
            case "same":
                self._list(self.same, self._same)
            case "signs":
                self._list(self.signs, self._sign)
            case "premise":
                schema = parser.schema()
                each = self._range() if parser.accept("for") else None
                self.premises.append(Premise(schema, each, at))
            case "hypothesis":
                self._check_first(at, self.hypothesis, "; join them by '&'")
                self.hypothesis = parser.schema()
            case "share":
                self._check_first(at, self.share)
                self.share = self._share()
            case "mask":
                self._check_first(at, self.mask)
                self.mask = Mask(self._one_of(MASKS), at)
            case _:
                self._check_first(at, self.label)
                self.label = (Label(self._one_of([each.value for each in Label])), at)

    def _list(self, found: list[T], read: Callable[[], T]) -> None:
        found.append(read())
        while self.parser.accept(","):
            found.append(read())

    def _check_first(self, at: Token, already: object, remedy: str = "") -> None:
        if already is not None:
            raise self.parser.error(f"the template has a {at.text} already{remedy}", at)

    def _one_of(self, names: Sequence[str]) -> str:
        token = self.parser.token
        if token.text not in names:
            raise self.parser.error(
                f"one of {', '.join(names)} is expected here, not {token.text!r}"
            )
        return self.parser.take().text

    def _share(self) -> Fraction:
        at = self.parser.token
        top = self.parser.number()
        bottom = self.parser.number() if self.parser.accept("/") else 1
        if top == 0 or bottom == 0:
            raise self.parser.error("a share is a number above 0, such as 2 or 1/3", at)
        return Fraction(top, bottom)

    def _same(self) -> tuple[NamedTerm, NamedTerm]:
        """Read ``y[j] as x``: it is y[j] that loses its name."""
        one = self.parser.named_term()
        self.parser.expect("as")
        return one, self.parser.named_term()

    def _sign(self) -> Sign:
        return Sign(*self._family("the name of a sign"))

    def _range(self) -> Range:
        at = self.parser.name("the name of a number")
        self.parser.expect("in")
        low, high = self.parser.bounds()
        return Range(at.text, low, high, at)

    def _declaration(self, sort: Sort) -> Declaration:
        name, low, high, at = self._family("a name")
        return Declaration(name, sort, low, high, at)

    def _family(self, wanted: str) -> tuple[str, Index | None, Index | None, Token]:
        """Read a name, or one with a range: ``x[1..n]``."""
        at = self.parser.name(wanted)
        if not self.parser.accept("["):
            return at.text, None, None, at
        low, high = self.parser.bounds()
        self.parser.expect("]")
        return at.text, low, high, at

    def _check(self, template: Template) -> None:
        numbers: set[str] = set()
        for own in template.ranges:
            names = Scope(numbers=frozenset(numbers), path=template.path)
            check_index(own.low, names)
            check_index(own.high, names)
            self._check_new(own.name, numbers, own.at)
            numbers.add(own.name)
        names = Scope(numbers=frozenset(numbers), path=template.path)
        used = set(numbers)
        families: list[Declaration | Sign] = [*template.declarations, *template.signs]
        for each in families:
            self._check_new(each.name, used, each.at)
            used.add(each.name)
            if each.low is not None and each.high is not None:
                check_index(each.low, names)
                check_index(each.high, names)
        alone = {each.name: each.sort for each in template.declarations if each.low is None}
        many = {each.name: each.sort for each in template.declarations if each.low is not None}
        signs = {each.name: each.low is not None for each in template.signs}
        names = Scope(alone, many, frozenset(numbers), signs=signs, path=template.path)
        for one, two in template.same:
            if check_term(one, names) is not check_term(two, names):
                raise self.parser.error("a person is no place; take entities of one sort", two.at)
        for premise in template.premises:
            inner = names
            if premise.each is not None:
                check_index(premise.each.low, names)
                check_index(premise.each.high, names)
                self._check_new(premise.each.name, used, premise.each.at)
                inner = names.with_number(premise.each.name)
            check_schema(premise.schema, inner)
        check_schema(template.hypothesis, names)

    def _check_new(self, name: str, used: set[str], at: Token) -> None:
        if name in used:
            raise self.parser.error(f"{name!r} has a meaning already; take another name", at)


# The tasks of the package: template files, and what is special about their words.

TASKS = Path(__file__).parent / "tasks"

RuleSet = Literal["careful", "thesis", "released"]
RULE_SETS: tuple[RuleSet, ...] = get_args(RuleSet)
"""Rule sets of tasks 1 to 7.

``thesis``: what the thesis says; ``released``: what the program behind its published corpora does;
``careful``: the thesis's templates, changed so that neither the premise alone nor the hypothesis
alone tells the label.
"""

THESIS = {
    "simple-negation": "task 1: facts, of which one is denied",
    "boolean-coordination": "task 2: several visitors or places joined by 'and'",
    "quantifier": "task 3: everyone and someone, every place and every person",
    "definite-description": "task 4: the person that has visited every place",
    "comparative": "task 5: who is taller",
    "counting": "task 6: only so many places and people",
}
"""Tasks 1 to 6 of Salvatore (2020), section 3.4.2 and appendix A."""

RULES = {
    "conjunction": "from A and B follows 'A and B', and from it each of them",
    "disjunction": "from A follows 'A or B'; from 'A or B' without A follows B",
    "implication": "if A, then B",
    "negation": "what leads to a contradiction is false",
    "universal": "from everyone follows anybody who is named",
    "existential": "from anybody who is named follows someone",
    "equality": "the one person of whom something is true",
}
"""Introduction and elimination of each connective (section 3.2), denied, and of something else."""

MASKED = {
    "masked-boolean-coordination": "which of 'and' and 'or' stands there",
    "masked-quantifier": "which of 'someone' and 'everyone' stands there",
    "masked-counting": "which numeral stands there",
}
"""The modules of masked inference (section 3.5 and appendix B)."""

MIXED = "mixed"
"""Task 7: tasks 1 to 6 together."""

_FOLDERS = {"rules": RULES, "masked": MASKED}
# In the other tasks of the thesis, each premise and each hypothesis has both labels as often.
_CAREFUL = {"quantifier", "counting"}
# The published comparatives have a space before each comma. Sentences with "if" need full stops.
_SENTENCES = {
    ("released", "comparative"): " , ",
    ("rules", "disjunction"): ". ",
    ("rules", "implication"): ". ",
    ("rules", "negation"): ". ",
}


@dataclass(frozen=True)
class Task:
    """Templates that belong together."""

    name: str
    """Of the task, or of the file."""
    templates: tuple[Template, ...]
    """One or more."""
    sentences: str | None = None
    """What stands between the sentences of a premise; None: as in the language."""

    def words(self, language: Language) -> Language:
        """Return a language with what is special about this task."""
        if self.sentences is None:
            return language
        lists = language.lists.model_copy(update={"sentences": self.sentences})
        return language.model_copy(update={"lists": lists})


def task_names() -> tuple[str, ...]:
    """Return the names of all tasks."""
    return (*THESIS, MIXED, *RULES, *MASKED)


def describe_task(name: str) -> str:
    """Return a line about a task."""
    known = {**THESIS, MIXED: "task 7: tasks 1 to 6 together", **RULES, **MASKED}
    return known[name]


def load_tasks(name: str, rules: RuleSet = "careful") -> tuple[Task, ...]:
    """Return the tasks behind a name: one, or of ``mixed`` six."""
    if name == MIXED:
        return tuple(task for own in THESIS for task in load_tasks(own, rules))
    if name in THESIS:
        return (
            _read_own("thesis" if rules == "careful" and name not in _CAREFUL else rules, name),
        )
    for folder, own in _FOLDERS.items():
        if name in own:
            return (_read_own(folder, name),)
    raise InputError(f"there is no task {name!r}; there are {', '.join(task_names())}")


def _read_own(folder: str, name: str) -> Task:
    templates = read_templates(TASKS / folder / f"{name}.txt")
    return Task(name, templates, _SENTENCES.get((folder, name)))


def read_task(path: str | Path) -> Task:
    """Return the templates of a file as a task, which has the name of the file."""
    templates = read_templates(path)
    return Task(Path(path).stem, templates, ". " if _has_compounds(templates) else None)


def _has_compounds(templates: Sequence[Template]) -> bool:
    """Say whether a premise may have sentences with connectives, which need full stops between."""
    return any(not _is_simple(premise.schema) for each in templates for premise in each.premises)


def _is_simple(schema: Schema) -> bool:
    match schema:
        case Relation():
            return True
        case Negation(body) | Signed(body=body):
            # "It's not true that everyone ..., ..." could deny what follows as well.
            return isinstance(body, Relation)
        case Bound(body=body):
            return isinstance(body, Relation | Bound | Negation) and _is_simple(body)
        case _:
            return False
