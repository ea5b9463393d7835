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
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.templates.checking import Names, check_index, check_schema
from ietest_fast.templates.formulas import Sort
from ietest_fast.templates.lexing import split_tokens
from ietest_fast.templates.parsing import Parser
from ietest_fast.templates.solver import Label
from ietest_fast.templates.template import Declaration, Premise, Range, Template

if TYPE_CHECKING:
    from ietest_fast.templates.lexing import Token
    from ietest_fast.templates.schemas import Schema

_SORTS = {"people": Sort.PERSON, "places": Sort.PLACE}
_STATEMENTS = ("template", "where", *_SORTS, "premise", "hypothesis", "label")


def read_templates(path: str | Path) -> tuple[Template, ...]:
    """Read the templates of a file, UTF-8.

    Raises
    ------
    TemplateError
        If a template is not what it has to be; it names line and column. Labels are not proved
        here; see :meth:`Template.prove_all`.
    InputError
        If the file cannot be read.
    """
    path = Path(path)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as UTF-8: {error}", path=path) from error
    return parse_templates(text, path=path)


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
        if at.text == "where":
            self.ranges.append(self._range())
            while parser.accept(","):
                self.ranges.append(self._range())
        elif at.text in _SORTS:
            self.declarations.append(self._declaration(_SORTS[at.text]))
            while parser.accept(","):
                self.declarations.append(self._declaration(_SORTS[at.text]))
        elif at.text == "premise":
            schema = parser.schema()
            self.premises.append(
                Premise(schema, self._range() if parser.accept("for") else None, at)
            )
        elif at.text == "hypothesis":
            if self.hypothesis is not None:
                raise parser.error("the template has a hypothesis already; join them by '&'", at)
            self.hypothesis = parser.schema()
        else:
            if self.label is not None:
                raise parser.error("the template has a label already", at)
            self.label = (self._label(), at)

    def _range(self) -> Range:
        at = self.parser.name("the name of a number")
        self.parser.expect("in")
        low, high = self.parser.bounds()
        return Range(at.text, low, high, at)

    def _declaration(self, sort: Sort) -> Declaration:
        at = self.parser.name("a name")
        if not self.parser.accept("["):
            return Declaration(at.text, sort, None, None, at)
        low, high = self.parser.bounds()
        self.parser.expect("]")
        return Declaration(at.text, sort, low, high, at)

    def _label(self) -> Label:
        token = self.parser.token
        try:
            label = Label(token.text)
        except ValueError:
            names = ", ".join(each.value for each in Label)
            raise self.parser.error(
                f"one of {names} is expected here, not {token.text!r}"
            ) from None
        self.parser.take()
        return label

    def _check(self, template: Template) -> None:
        numbers: set[str] = set()
        for own in template.ranges:
            names = Names(numbers=frozenset(numbers), path=template.path)
            check_index(own.low, names)
            check_index(own.high, names)
            self._check_new(own.name, numbers, own.at)
            numbers.add(own.name)
        names = Names(numbers=frozenset(numbers), path=template.path)
        used = set(numbers)
        for each in template.declarations:
            self._check_new(each.name, used, each.at)
            used.add(each.name)
            if each.low is not None and each.high is not None:
                check_index(each.low, names)
                check_index(each.high, names)
        alone = {each.name: each.sort for each in template.declarations if each.low is None}
        many = {each.name: each.sort for each in template.declarations if each.low is not None}
        names = Names(alone, many, frozenset(numbers), path=template.path)
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
