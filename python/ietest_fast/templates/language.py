"""Languages: the words of clauses, as data.

A language is a TOML file; those of the package lie in ``languages``. Where a word agrees with the
gender of a subject, a table with ``masculine`` and ``feminine`` stands in the place of a text.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, Self, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from ietest_fast.errors import ConfigError, InputError
from ietest_fast.escapes import escape
from ietest_fast.files import read_toml
from ietest_fast.templates.formulas import Domain
from ietest_fast.templates.naming import fold_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ietest_fast.templates.naming import Names

LANGUAGES = Path(__file__).parent / "languages"

Gender = Literal["masculine", "feminine"]
GENDERS: tuple[Gender, ...] = get_args(Gender)
MOST_CHARACTERS = 200
"""Of one text of a language."""

MOST_NUMERALS = 200
"""In words; larger numbers are written in digits."""

_ROLES = ("subject", "object", "described")
T = TypeVar("T")


def _punctuation(text: str) -> str:
    return "".join(each for each in text if unicodedata.category(each)[0] in "PZ")


def _bare(text: str) -> str:
    """Return a text, folded, without punctuation at its ends, unless there is nothing else."""
    folded = fold_name(text)
    return folded.strip(_punctuation(folded)) or folded


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern for texts, the longest first; for nothing if there are none."""
    found = sorted({*texts} - {""}, key=len, reverse=True)
    return "|".join(map(re.escape, found)) or r"(?!)"


def _agree(value: object) -> object:
    return {"masculine": value, "feminine": value} if isinstance(value, str) else value


def _with_text(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


def _with_slots(*slots: str, is_joint: bool = False) -> AfterValidator:
    """Make what checks that each of these stands once in a text, in this order, and no other.

    Blanks around a text are dropped, as others stand beside it; those of a joint are its own.
    """

    def check(text: str) -> str:
        found = re.findall(r"\{[^{}]*\}|[{}]", text)
        if found != list(slots):
            order = ", in this order" if len(slots) > 1 else ""
            said = f"{' and '.join(slots)} should stand in it, each once{order}"
            raise ValueError(said if slots else "braces mean nothing here")
        _check_line(text)
        return text if is_joint else text.strip()

    return AfterValidator(check)


def _check_line(text: str) -> None:
    """Stop unless a text is a short line of which all can be seen."""
    if text and not fold_name(text):
        raise ValueError("has blanks only; write words")
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"has {len(text):,} characters; at most {MOST_CHARACTERS} expected")
    if len(text.splitlines()) > 1 or "\n" in text:
        raise ValueError("has a line break; remove it")
    if escape(text) != text:
        raise ValueError(
            f"has a sign that nobody sees, or that turns others: {escape(text)}; remove it"
        )


Text = Annotated[str, Field(min_length=1), _with_slots()]
Joint = Annotated[str, Field(min_length=1), _with_slots(is_joint=True)]


class Agreeing(_Strict):
    """A text for each gender."""

    masculine: Text
    feminine: Text

    def of(self, gender: Gender) -> str:
        """Return the text for a gender."""
        return self.masculine if gender == "masculine" else self.feminine


Words = Annotated[Agreeing, BeforeValidator(_agree)]
"""A text, or one for each gender."""


class Verb(_Strict):
    """The words of a verb, by the number of its subject and whether they are negated."""

    singular: Words
    plural: Words
    not_singular: Words = Field(alias="not-singular")
    not_plural: Words = Field(alias="not-plural")
    person: Annotated[str, _with_slots("{0}")] = Field(
        "{0}", description="a person as its object, as the Spanish 'a {0}' in 'visitó a Juan'"
    )

    def words(self, *, plural: bool, positive: bool) -> Agreeing:
        """Return the words of one form."""
        if positive:
            return self.plural if plural else self.singular
        return self.not_plural if plural else self.not_singular

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Give what is affirmed, and the same denied."""
        for plural in (False, True):
            yes, no = (self.words(plural=plural, positive=each) for each in (True, False))
            yield from ((yes.of(gender), no.of(gender)) for gender in GENDERS)


class QuantityWords(_Strict):
    """A quantity without a number, as subject and as object."""

    subject: Text
    object: Text
    number: Literal["singular", "plural"] = "singular"
    gender: Gender = "masculine"
    described: Text | None = Field(
        None, description="as object in a description, where that is another text"
    )
    negates: bool = Field(
        False, description="whether the verb before it is negated, as in 'não visitou ninguém'"
    )


class CountWords(_Strict):
    """A quantity with a number; ``{number}`` stands for the numeral."""

    one: Text
    many: Annotated[str, _with_slots("{number}")]
    gender: Gender = "masculine"


class DescribedWords(_Strict):
    """A definite description; ``{predicate}`` stands for what is said."""

    text: Annotated[str, _with_slots("{predicate}")]
    gender: Gender = "masculine"


class ByDomain(_Strict, Generic[T]):
    """Words for people, places and both."""

    people: T
    places: T
    both: T

    def of(self, domain: Domain) -> T:
        """Return those for a domain."""
        return {
            Domain.PEOPLE: self.people,
            Domain.PLACES: self.places,
            Domain.BOTH: self.both,
        }[domain]


VERBS = ("visited", "taller", "as-tall", "same-height", "is")


class Verbs(_Strict):
    """The verbs of the template language."""

    visited: Verb
    taller: Verb
    as_tall: Verb = Field(alias="as-tall")
    same_height: Verb = Field(alias="same-height")
    is_: Verb = Field(alias="is")

    def of(self, name: str) -> Verb:
        """Return a verb by the name that clauses have for it."""
        verb: Verb = getattr(self, {"is": "is_"}.get(name, name.replace("-", "_")))
        return verb


class Quantities(_Strict):
    """The words of quantities."""

    every: ByDomain[QuantityWords]
    some: ByDomain[QuantityWords]
    no: ByDomain[QuantityWords]
    exactly: ByDomain[CountWords]
    at_least: ByDomain[CountWords] = Field(alias="at-least")


class Connectives(_Strict):
    """What joins sentences; ``{0}`` and ``{1}`` stand for them."""

    and_: Annotated[str, _with_slots("{0}", "{1}")] = Field(alias="and")
    or_: Annotated[str, _with_slots("{0}", "{1}")] = Field(alias="or")
    if_: Annotated[str, _with_slots("{0}", "{1}")] = Field(alias="if")
    not_: Annotated[str, _with_slots("{0}")] = Field(alias="not")

    def of(self, name: str) -> str:
        """Return the pattern of a connective."""
        pattern: str = getattr(self, f"{name}_")
        return pattern

    def words(self, name: str) -> frozenset[str]:
        """Return what a connective says before, between and behind sentences, folded.

        A comma counts only where it is all there is, as in ``{0}, {1}``.
        """
        parts = {*map(_bare, re.split(r"\{\d\}", self.of(name)))} - {""}
        return frozenset({each for each in parts if each.strip(_punctuation(each))} or parts)


class Lists(_Strict):
    """What stands between the parts of a list, and between the sentences of a premise."""

    between: Joint
    last: Joint
    sentences: Joint


class Numerals(_Strict):
    """The numerals from one on."""

    words: Annotated[tuple[Words, ...], Field(max_length=MOST_NUMERALS)]


class Language(_Strict):
    """The words of a language."""

    name: Text
    not_names: Annotated[tuple[Text, ...], Field(max_length=MOST_NUMERALS)] = Field(
        (), alias="not-names", description="words that are in no name, beside those of this file"
    )
    verbs: Verbs
    quantities: Quantities
    described: ByDomain[Annotated[DescribedWords, BeforeValidator(_with_text)]]
    connectives: Connectives
    lists: Lists
    numerals: Numerals

    @model_validator(mode="after")
    def _check_differences(self) -> Self:
        """Check that what means something else has other words."""
        for name in VERBS:
            if any(len({*map(fold_name, own)}) < len(own) for own in self.verbs.of(name).pairs()):
                raise ValueError(f"verbs.{name} has the same words where it is negated")
        for name, texts in self._groups():
            folded = [*map(fold_name, texts)]
            twice = next((text for text in texts if folded.count(fold_name(text)) > 1), None)
            if twice is not None:
                raise ValueError(f"{name} have {twice!r} for two meanings")
        if all(each == _punctuation(each) for each in self.connectives.words("not")):
            raise ValueError("connectives.not denies nothing")
        self._check_joints()
        return self

    def _groups(self) -> Iterator[tuple[str, list[str]]]:
        """Give texts that mean different things where one could stand in the place of another."""
        verbs = [self.verbs.of(name) for name in VERBS]
        for gender in GENDERS:
            for plural in (False, True):
                forms = [
                    each.words(plural=plural, positive=positive)
                    for each in verbs
                    for positive in (True, False)
                ]
                yield "verbs", [each.of(gender) for each in forms]
            yield f"numerals ({gender})", [each.of(gender) for each in self.numerals.words]
        for role in _ROLES:
            yield f"quantities ({role})", [*self._quantities(role)]
        yield "described", [self.described.of(domain).text for domain in Domain]
        yield "connectives", [self.connectives.of(name) for name in ("and", "or", "if")]

    def _quantities(self, role: str) -> Iterator[str]:
        """Give the words of all quantities, with numbers as far as there are numerals."""
        own = self.quantities
        for domain in Domain:
            for words in (each.of(domain) for each in (own.every, own.some, own.no)):
                yield getattr(words, role) or words.object
            for counted in (each.of(domain) for each in (own.exactly, own.at_least)):
                yield counted.one
                for number in range(2, len(self.numerals.words) + 2):
                    yield counted.many.format(number=self.numeral(number, counted.gender))

    def _check_joints(self) -> None:
        """Check that lists and premises are joined by other words than *or* and *if*."""
        for name in ("and", "or", "if"):
            words = self.connectives.words(name)
            if not words:
                raise ValueError(f"connectives.{name} has blanks only; write words")
            for place, text in self.lists:
                if name != "and" and _bare(text) in words:
                    raise ValueError(f"lists.{place} has a word of connectives.{name}: {text!r}")

    def check_names(self, names: Names, *, wordings: Sequence[Verbs] = ()) -> None:
        """Check that no name has a quantity in it, a verb, or what joins names or sentences."""
        words = sorted(self._words_beside_names(wordings), key=len, reverse=True)
        patterns = [*map(re.escape, words), *self._counted()]
        pattern = re.compile(rf"(?<!\S)(?:{'|'.join(patterns)})(?!\S)")
        small = re.compile(rf"(?<!\S)(?:{_any_of(self._nouns())})(?!\S)")
        for name in (*names.women, *names.men, *names.places):
            found = pattern.search(fold_name(name).replace("\u2019", "'"))  # as in "didn't"
            found = found or small.search(name)  # capitals are of names, such as João Pessoa
            if found is not None:
                raise InputError(
                    f"the name {name!r} has {found.group()!r}, which means something else in "
                    f"{self.name}; remove it"
                )

    def _words_beside_names(self, wordings: Sequence[Verbs]) -> set[str]:
        """Return what stands in the place of names or between them, folded."""
        quantities = {fold_name(text) for role in _ROLES for text in self._quantities(role)}
        connectives = [self.connectives.words(name) for name in ("and", "or", "if", "not")]
        others = {*map(fold_name, self.not_names), *self._words_of_verbs(wordings)}
        others.update(self._determiners())
        words = quantities.union(*connectives, others, (_bare(text) for _, text in self.lists))
        return words - {""}

    def _words_of_verbs(self, wordings: Sequence[Verbs]) -> Iterator[str]:
        """Give the forms of verbs and what denies them, folded.

        *is* and *are* by themselves are in names of many languages, such as *São Paulo*: where they
        are in none, they stand among the ``not_names``.
        """
        for verbs, name in itertools.product((self.verbs, *wordings), VERBS):
            for yes, no in verbs.of(name).pairs():
                affirmed, denied = fold_name(yes), fold_name(no)
                yield from (denied, *[affirmed] * (name != "is" or " " in affirmed))
                yield from [word for word in denied.split() if word not in affirmed.split()][:1]

    def _counted(self) -> Iterator[str]:
        """Give patterns of numbers and articles with what is counted, as in *one place*, folded."""
        own = self.quantities
        words = [each.of(gender) for each in self.numerals.words for gender in GENDERS]
        articles = (
            before
            for domain in Domain
            for before in self._before_nouns(self.described.of(domain).text.split("{")[0])
        )
        before = "|".join([r"\d+", _any_of([*map(fold_name, words), *articles])])
        counted = (each.of(Domain.BOTH).many for each in (own.exactly, own.at_least))
        both = [_bare(each.partition("{number}")[2]) for each in counted]
        yield rf"(?:{before})\s*(?:{_any_of([*self._nouns(), *both])})"

    def _nouns(self) -> Iterator[str]:
        """Give what people and places are called where they are counted, folded."""
        for counted, domain in self._counts():
            own = counted.of(domain)
            before, _, behind = map(fold_name, own.many.partition("{number}"))
            one = fold_name(own.one).removeprefix(before).strip()
            yield from (behind, one.removeprefix(f"{fold_name(self.numeral(1, own.gender))} "))

    def _counts(self) -> Iterator[tuple[ByDomain[CountWords], Domain]]:
        counted = (self.quantities.exactly, self.quantities.at_least)
        yield from itertools.product(counted, (Domain.PEOPLE, Domain.PLACES))

    def _determiners(self) -> Iterator[str]:
        """Give what stands before numbers and nouns, as *only* and *every*, folded.

        Before a name, it would say something else of it, or of others.
        """
        for counted, domain in self._counts():
            yield fold_name(counted.of(domain).many.partition("{number}")[0])
        own = self.quantities
        for words, domain in itertools.product((own.every, own.some, own.no), Domain):
            for role in _ROLES:
                yield from self._before_nouns(getattr(words.of(domain), role) or "")

    def _before_nouns(self, text: str) -> Iterator[str]:
        """Give what a text has before its first noun, if it is a single word, folded."""
        found = re.match(rf"(\S+) (?:{_any_of(self._nouns())})(?!\S)", fold_name(text))
        if found is not None:
            yield found.group(1)

    def numeral(self, number: int, gender: Gender) -> str:
        """Return the numeral of a number; in digits beyond those that the language has."""
        if 1 <= number <= len(self.numerals.words):
            return self.numerals.words[number - 1].of(gender)
        return str(number)


def read_language(path: str | Path, *, changes: str | Path | None = None) -> Language:
    """Read the file of a language."""
    content = read_toml(path)
    if changes is not None:
        content = _changed(content, read_toml(changes))
    return _validated(content, path)


def _validated(content: dict[str, object], path: str | Path) -> Language:
    try:
        return Language.model_validate(content)
    except ValidationError as error:
        problems = [_say_problem(path, each["loc"], each) for each in error.errors()]
        raise ConfigError(problems) from error


def _say_problem(path: str | Path, keys: Sequence[int | str], problem: Mapping[str, Any]) -> str:
    known = {
        "missing": "is missing",
        "extra_forbidden": "is unknown; remove it",
        "string_too_short": "is empty",
        "string_type": "has to be a text",
        "tuple_type": "has to be a list of texts",
        "too_long": f"has more than {MOST_NUMERALS} texts; remove the others",
    }
    said = known.get(problem["type"], problem["msg"].removeprefix("Value error, "))
    if problem["type"] in {"model_type", "model_attributes_type", "dict_type"}:
        said = "has to be a table"
    return ": ".join([", ".join(filter(None, [str(path), ".".join(map(str, keys))])), said])


def _changed(content: dict[str, object], changes: dict[str, object]) -> dict[str, object]:
    """Return tables with the changes of others, deep down."""
    changed = dict(content)
    for key, value in changes.items():
        old = changed.get(key)
        is_table = isinstance(old, dict) and isinstance(value, dict)
        changed[key] = _changed(old, value) if is_table else value  # type: ignore[arg-type]
    return changed


def language_codes() -> tuple[str, ...]:
    """Return the codes of the languages of the package."""
    return tuple(sorted(path.stem for path in LANGUAGES.glob("*.toml")))


@functools.cache
def load_language(code: str, rules: str = "careful") -> Language:
    """Return a language of the package."""
    if code not in language_codes():
        raise InputError(f"there is no language {code!r}; there are {', '.join(language_codes())}")
    changes = LANGUAGES / rules / f"{code}.toml"
    return read_language(LANGUAGES / f"{code}.toml", changes=changes if changes.exists() else None)


@functools.cache
def load_wordings(code: str, rules: str = "careful") -> tuple[Verbs, ...]:
    """Return the verbs of a language of the package in several wordings, the usual one first.

    They have other verbs in the place of visiting, and other adjectives in the place of being tall.
    What follows from what is the same, as all sentences of a pair have the same ones.
    """
    usual = load_language(code, rules)
    path = LANGUAGES / "wordings" / f"{code}.toml"
    if not path.exists():
        raise InputError(f"there is one wording of {usual.name} only; take another language")
    verbs = usual.verbs.model_dump(by_alias=True)
    wordings: Any = read_toml(path)["wordings"]
    return (usual.verbs, *(Verbs.model_validate(_reworded(verbs, words)) for words in wordings))


def _reworded(value: object, words: dict[str, str]) -> object:
    """Return texts, deep down, with words in the places of others."""
    if isinstance(value, dict):
        return {key: _reworded(own, words) for key, own in value.items()}
    return re.sub(r"\w+", lambda found: words.get(found.group(), found.group()), str(value))
