"""Noise: misspelt words (Naik et al. 2018, section 3.3)."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pyarrow as pa
from pydantic import BeforeValidator, Field

from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.runtime import load_core
from ietest_fast.transform.base import BaseTransformation, Transformed, fingerprint_of
from ietest_fast.transform.phi import (
    PhiOptions,
    PlannedTransformation,
    TransformationKind,
    take_several,
)
from ietest_fast.transform.words import transform_each

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Distraction: something that is always true, put behind a text (Naik et al. 2018, section 3.2).


Names = Annotated[tuple[str, ...], BeforeValidator(take_several)]
"""Type of an option that names one column or several."""

# Both are far beyond any use, and together a megabyte for a text.
_MOST_TIMES = 1000
_LONGEST = 1000

CUT_RULE = "cut"
"""The rule of edits that drop the rest of a text, as the published code does."""


def choose_columns(
    wanted: Sequence[str], text_columns: Sequence[str], *, default: Literal["first", "last"]
) -> tuple[str, ...]:
    """Return the columns that a transformation works on, in the order of the table's texts."""
    if not wanted:
        return (text_columns[0 if default == "first" else -1],)
    for name in wanted:
        if name not in text_columns:
            raise InputError(
                f"is no column of texts; the texts are in {', '.join(text_columns)}", column=name
            )
    return tuple(name for name in text_columns if name in wanted)


@dataclass(frozen=True, kw_only=True)
class Distraction(BaseTransformation):
    """Put a tautology behind the texts of a column: true in every world, so labels are kept."""

    test: str
    """Its name, and what edits are counted as."""
    tautology: str
    """Words such as ``"and true is true"``, without a blank around them."""
    times: int = 1
    """How often it is put there, at least once."""
    columns: tuple[str, ...] = ()
    """Names of columns; none: `default_column`."""
    default_column: Literal["first", "last"] = "last"
    """Which of the text columns is taken where none is named: ``"first"`` (the premise) or
    ``"last"`` (the hypothesis)."""
    rules: Literal["careful", "paper"] = "careful"
    """``"careful"`` puts it before the marks that end the text and loses nothing. ``"paper"`` does
    what the published code does: before the first of ``.!?``, and what stands behind that mark is
    dropped."""

    def __post_init__(self) -> None:
        if not self.tautology.strip():
            raise InputError("the tautology is empty; give words such as 'and true is true'")
        if self.times < 1:
            raise InputError(f"times: at least 1 is needed, not {self.times}")

    @property
    def name(self) -> str:
        """That of the test."""
        return self.test

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "tautology": self.tautology,
            "times": self.times,
            "columns": list(self.columns) or self.default_column,
            "rules": self.rules,
        }

    @property
    def phrase(self) -> str:
        """What is put into a text, without the blank before it."""
        return " ".join([self.tautology] * self.times)

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Put the tautology there; see :meth:`ietest_fast.transform.Transformation.transform`."""
        is_paper = self.rules == "paper"
        kernel = functools.partial(
            load_core().text.insert_phrase,
            phrase=f" {self.phrase}" if is_paper else self.phrase,
            before_first_mark=is_paper,
            with_edits=with_edits,
            n_threads=n_threads,
        )
        columns = choose_columns(self.columns, text_columns, default=self.default_column)
        return transform_each(
            kernel, table, columns, with_edits=with_edits, rules=(self.name, CUT_RULE)
        )


class DistractionOptions(PhiOptions):
    """What a distraction can be told."""

    tautology: str = Field(
        "and true is true", min_length=1, max_length=_LONGEST, description="the words to add"
    )
    times: int = Field(1, ge=1, le=_MOST_TIMES, description="how often they are added")
    columns: Names = Field(
        (), description="the columns to add them to [the last column of texts: the hypothesis]"
    )
    rules: Literal["careful", "paper"] = Field(
        "careful",
        description="careful: before the final mark; paper: before the first of .!?, the rest "
        "dropped, as published",
    )


class NegationOptions(DistractionOptions):
    """What the distraction by a negation can be told."""

    tautology: str = Field(
        "and false is not true", min_length=1, max_length=_LONGEST, description="the words to add"
    )


class LengthMismatchOptions(DistractionOptions):
    """What the distraction by length can be told."""

    times: int = Field(5, ge=1, le=_MOST_TIMES, description="how often they are added")
    columns: Names = Field(
        (), description="the columns to add them to [the first column of texts: the premise]"
    )


def _plan(
    name: str, default_column: Literal["first", "last"], options: DistractionOptions
) -> PlannedTransformation:
    made = Distraction(test=name, default_column=default_column, **dict(options))
    is_own = options.tautology != type(options).model_fields["tautology"].default
    return PlannedTransformation.of(made).in_language(None if is_own else "English")


WORD_OVERLAP = TransformationKind(
    name="word-overlap",
    summary="adds a tautology to the hypothesis, so that it shares fewer words with the premise",
    options=DistractionOptions,
    plan=functools.partial(_plan, "word-overlap", "last"),
)

NEGATION = TransformationKind(
    name="negation",
    summary="adds a tautology with a negation to the hypothesis",
    options=NegationOptions,
    plan=functools.partial(_plan, "negation", "last"),
)

LENGTH_MISMATCH = TransformationKind(
    name="length-mismatch",
    summary="adds five tautologies to the premise, which becomes much longer than the hypothesis",
    options=LengthMismatchOptions,
    plan=functools.partial(_plan, "length-mismatch", "first"),
)


Keyboard = Literal["qwerty", "qwertz", "azerty"]
Way = Literal["swap", "key"]

KEYBOARDS: dict[str, tuple[str, ...]] = {
    "qwerty": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "qwertz": (
        "qwertzuiop\N{LATIN SMALL LETTER U WITH DIAERESIS}",
        "asdfghjkl\N{LATIN SMALL LETTER O WITH DIAERESIS}\N{LATIN SMALL LETTER A WITH DIAERESIS}",
        "yxcvbnm",
    ),
    "azerty": ("azertyuiop", "qsdfghjklm", "wxcvbn"),
}
"""The rows of letters of keyboards."""

RULES = ("adjacent-swap", "neighbouring-key")
"""What edits are counted as: two letters changed places, or a letter gave way to the one beside it
on the keyboard."""

# Counted up when the same options begin to give other texts.
_SCHEME = 2


def find_neighbours(keyboard: str) -> dict[str, str]:
    """Return the letters beside each letter, to the left and to the right, of a keyboard."""
    found: dict[str, str] = {}
    for row in KEYBOARDS[keyboard]:
        for place, letter in enumerate(row):
            found[letter] = row[max(place - 1, 0) : place] + row[place + 1 : place + 2]
    return found


@functools.cache
def known_words() -> frozenset[str]:
    """Return words that a misspelling must not make: WordNet's and function words, lower case."""
    from ietest_fast.lexicon import WordNet
    from ietest_fast.lexicon.words import FUNCTION_WORDS

    wordnet = WordNet.packaged()
    known = set(FUNCTION_WORDS)
    known.update(word for word in wordnet.words() if "_" not in word)
    for pos in ("n", "v", "a", "r"):
        known.update(form for form in wordnet.exceptions(pos) if "_" not in form)
    return frozenset(known)


@dataclass(frozen=True, kw_only=True)
class Spelling(BaseTransformation):
    """Misspell words of each text, drawn at random.

    A word gets two neighbouring letters swapped, or one letter replaced by one beside it on the
    keyboard; which of the two, which word and which letters is drawn with equal probabilities among
    those that are possible. The draws are addressed by `seed` and the text (Philox): equal texts
    are misspelt alike, whatever stands around them.
    """

    n_words: int = 1
    """Words to misspell in a text, or as many as there are."""
    ways: tuple[Way, ...] = ("swap", "key")
    """``"swap"``, ``"key"`` or both."""
    words: Literal["any", "function", "content"] = "any"
    """``"any"`` word, or only ``"function"`` or ``"content"`` words
    (:data:`ietest_fast.lexicon.words.FUNCTION_WORDS`)."""
    keyboard: Keyboard = "qwerty"
    """A key of :data:`KEYBOARDS`."""
    columns: tuple[str, ...] = ()
    """Names of columns; none: the last of the text columns, the hypothesis."""
    seed: int = 0
    """Seed of the draws."""
    rules: Literal["careful", "paper"] = "careful"
    """``"careful"``: words of at least three letters and without digits; letters keep the place of
    capitals; the result is always another spelling, and no word that :func:`known_words` has, with
    or without a regular ending. ``"paper"``: what stands between blanks, of at least two
    characters, by keys alone, and whatever comes out, as in the published code."""

    def __post_init__(self) -> None:
        if self.n_words < 1:
            raise InputError(f"n_words: at least 1 is needed, not {self.n_words}")
        if not self.ways or not set(self.ways) <= {"swap", "key"}:
            raise InputError(f"ways: swap, key or both, not {', '.join(self.ways) or 'none'}")
        if self.keyboard not in KEYBOARDS:
            raise InputError(f"keyboard: {', '.join(KEYBOARDS)}, not {self.keyboard!r}")
        if self.rules == "paper" and "key" not in self.ways:
            raise InputError("ways: the published code replaces keys; with rules=paper, give key")

    name = "spelling"

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the options and of the words that no word becomes, 64 hexadecimal digits."""
        identified = {"scheme": _SCHEME, **self.describe()}
        if self.rules == "careful":
            identified["known"] = _digest(known_words())
        return fingerprint_of(identified)

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "n_words": self.n_words,
            "ways": [way for way in ("swap", "key") if way in self._ways],
            "words": self.words,
            "keyboard": self.keyboard,
            "columns": list(self.columns) or "last",
            "seed": self.seed,
            "rules": self.rules,
        }

    @property
    def _ways(self) -> tuple[Way, ...]:
        return ("key",) if self.rules == "paper" else self.ways

    @functools.cached_property
    def _misspelling(self) -> Any:
        from ietest_fast.lexicon.words import FUNCTION_WORDS

        beside = find_neighbours(self.keyboard)
        is_paper = self.rules == "paper"
        listed = () if self.words == "any" else FUNCTION_WORDS
        return load_core().text.Misspelling(
            _strings(beside),
            _strings(beside.values()),
            known=_strings(()) if is_paper else _known_strings(),
            listed=_strings(listed),
            key=tuple(int(word) for word in philox_key(self.seed)),
            n_words=self.n_words,
            swaps="swap" in self._ways,
            with_neighbours="key" in self._ways,
            only_listed=None if self.words == "any" else self.words == "function",
            min_letters=2 if is_paper else 3,
            between_blanks=is_paper,
        )

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Misspell words; see :meth:`ietest_fast.transform.Transformation.transform`."""
        kernel = functools.partial(
            self._misspelling.misspell, with_edits=with_edits, n_threads=n_threads
        )
        columns = choose_columns(self.columns, text_columns, default="last")
        # Every edit makes another word of its word.
        return transform_each(
            kernel, table, columns, with_edits=with_edits, rules=RULES, edits_may_cancel=False
        )


def _strings(words: Iterable[str]) -> pa.Array:
    return pa.array(list(words), pa.large_string())


@functools.cache
def _known_strings() -> pa.Array:
    return _strings(known_words())


def _digest(words: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(words)).encode()).hexdigest()


class SpellingOptions(PhiOptions):
    """What noise can be told."""

    n_words: int = Field(1, ge=1, le=1000, description="words to misspell in a text")
    ways: Annotated[tuple[Way, ...], BeforeValidator(take_several)] = Field(
        ("swap", "key"),
        min_length=1,
        description="swap: two letters beside each other; key: a letter beside it on the keyboard",
    )
    words: Literal["any", "function", "content"] = Field("any", description="which words")
    keyboard: Keyboard = Field("qwerty", description="the layout of the letters")
    columns: Names = Field(
        (), description="columns to misspell [the last column of texts: the hypothesis]"
    )
    seed: int = Field(0, ge=0, description="seed of the draws")
    rules: Literal["careful", "paper"] = Field(
        "careful",
        description="careful: never another word; paper: keys alone, whatever comes out",
    )


def _plan_spelling(options: SpellingOptions) -> PlannedTransformation:
    return PlannedTransformation.of(Spelling(**dict(options)))


SPELLING = TransformationKind(
    name="spelling",
    summary="misspells a word of the hypothesis",
    options=SpellingOptions,
    plan=_plan_spelling,
)
