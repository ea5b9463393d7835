"""Competence with numbers: pairs that follow from a quantity, or contradict it.

Naik et al. 2018, section 3.1.
"""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from ietest_fast.lexicon.quantities import MOST_DIGITS, Quantity, find_quantities, write_like
from ietest_fast.philox import philox_key
from ietest_fast.transform.base import BaseTransformation, Transformed, fingerprint_of
from ietest_fast.transform.comparable_quantities import can_be_compared, is_round, names_a_place
from ietest_fast.transform.kinds import PhiOptions, PlannedTransformation, TransformationKind
from ietest_fast.transform.new_pairs import NewPair, check_pair_columns, put_pairs
from ietest_fast.transform.sentences import split_sentences, without_cut_numbers
from ietest_fast.transform.sure_quantities import is_plain, stands_free

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

LABELS = ("entailment", "contradiction", "neutral")
"""The labels that are set."""

# Counts for fingerprints: the careful rules once gave other texts.
_SCHEME = 2
_LESS, _MORE = "less than", "more than"

# Where a quantity is asked for, supposed or denied, nothing follows from it.
_UNSURE = re.compile(
    r"\?|n't\b|\b(?:if|suppose|supposing|let|assume|assuming|find|how|what|which|whether|not|no|never|"
    r"none|neither|nor|without|unless|or|would|could|should|may|might|must|can|cannot|few|equal|equals|"
    r"equivalent|ratio|least|most|mere|enough|capable|capacity|holds?|remaining)\b|^\W*(?:at|for|with|on|by)\b",
    re.IGNORECASE,
)
# A sentence that comes to an end: questions of an exam often do not.
_WHOLE = re.compile(r"[^_:;,\s][.!][\"')]*\s*$")
# "54 km (33 miles)": one of the two decides what the other is.
_SAID_TWICE = re.compile(r"\([^)]*\d[^)]*\)")
# With many numbers, one follows from others more often than not.
_MOST_QUANTITIES = 2


class Draws:
    """Whole numbers drawn at random, addressed by a seed and a text (Philox)."""

    def __init__(self, seed: int, text: str) -> None:
        self._seed = seed
        self._text = text

    @functools.cached_property
    def _words(self) -> np.random.Philox:
        # Made late, because most texts need no draw.
        address = int.from_bytes(hashlib.sha256(self._text.encode()).digest()[:8], "little")
        counter = np.array([0, address, 0, 0], np.uint64)
        return np.random.Philox(key=philox_key(self._seed), counter=counter)

    def below(self, n: int) -> int:
        """Draw a number from 0 to n - 1."""
        return int(self._words.random_raw()) * n >> 64


def draw_other(text: str, quantity: Quantity, draws: Draws) -> Fraction | None:
    """Draw another value of the same size, written with as many digits; None if there is none.

    Whole numbers up to 20 become others from 2 to 20, larger ones and decimals get another first
    digit, and fractions another numerator. Percentages up to 100 stay so.
    """
    written = text[quantity.start : quantity.end]
    values = _others(written, quantity)
    if (
        text[quantity.end :].lstrip().startswith(("%", "percent", "per cent"))
        and quantity.value <= 100
    ):
        values = [value for value in values if value <= 100]
    return values[draws.below(len(values))] if values else None


def _others(written: str, quantity: Quantity) -> list[Fraction]:
    value = quantity.value
    if quantity.kind == "fraction":
        denominator = int(written.partition("/")[2])
        numerator = int(value * denominator)
        whole = numerator // denominator
        parts = [whole * denominator + part for part in range(1, denominator)]
        return [Fraction(part, denominator) for part in parts if part != numerator]
    least = 1 if quantity.is_ordinal else 2
    if value.denominator == 1 and quantity.kind != "decimal" and value <= 20:
        return [Fraction(other) for other in range(least, 21) if other != value]
    n_decimals = len(written.partition(".")[2]) if quantity.kind == "decimal" else 0
    digits = str(int(value * 10**n_decimals))
    if digits == "0":
        return []
    others = [f"{first}{digits[1:]}" for first in range(1, 10) if str(first) != digits[0]]
    found = [Fraction(int(other), 10**n_decimals) for other in others]
    return [other for other in found if not (quantity.kind == "ordinal-word" and other >= 100)]


def put_quantity(text: str, quantity: Quantity, value: Fraction, prefix: str = "") -> str:
    """Write another value in the place of a quantity, with words such as "less than" before it."""
    new = write_like(text[quantity.start : quantity.end], quantity.kind, value)
    head, tail = text[: quantity.outer_start], text[quantity.end :]
    if not prefix:
        return f"{head}{quantity.currency}{new}{tail}"
    if not head.strip(" \"'([") and (
        text[quantity.start].isupper() or text[quantity.start].isdigit()
    ):
        prefix = prefix[0].upper() + prefix[1:]
        new = new[0].lower() + new[1:]
    return f"{head}{prefix} {quantity.currency}{new}{tail}"


def careful_pairs(sentence: str, draws: Draws) -> Iterator[tuple[str, str, str]]:
    """Yield (premise, hypothesis, label) for a sentence; nothing where no quantity is sure."""
    quantities = find_quantities(sentence)
    if not 1 <= len(quantities) <= _MOST_QUANTITIES:
        return
    if _UNSURE.search(sentence) or not _WHOLE.search(sentence) or _SAID_TWICE.search(sentence):
        return
    if not is_plain(sentence, quantities):
        return
    compared = [
        each
        for each in quantities
        if can_be_compared(sentence, each) and stands_free(sentence, each)
    ]
    if compared:
        chosen = compared[draws.below(len(compared))]
        other = draw_other(sentence, chosen, draws)
        if other is not None:
            prefix = _LESS if other > chosen.value else _MORE
            entailed = put_quantity(sentence, chosen, other, prefix)
            yield sentence, entailed, "entailment"
            yield entailed, sentence, "neutral"
    changeable = [each for each in quantities if each in compared or names_a_place(sentence, each)]
    if not changeable:
        return
    counted = [each for each in compared if not is_round(each)]
    if counted and draws.below(2) == 1:
        chosen = counted[draws.below(len(counted))]
        prefix = (_LESS, _MORE)[draws.below(2)]
        yield sentence, put_quantity(sentence, chosen, chosen.value, prefix), "contradiction"
        return
    chosen = changeable[draws.below(len(changeable))]
    other = draw_other(sentence, chosen, draws)
    if other is not None:
        yield sentence, put_quantity(sentence, chosen, other), "contradiction"


_INTEGER = re.compile(r"(?<!\S)[+-]?\d+(?!\S)")


def paper_pairs(sentence: str, draws: Draws) -> Iterator[tuple[str, str, str]]:
    """Yield what the published code makes of a sentence: its first whole number counts.

    The first digit becomes another one from 1 to 8.
    """
    found = _INTEGER.search(sentence)
    if found is None or len(found[0]) > MOST_DIGITS:
        return
    first = found.start() + (found[0][0] in "+-")

    def change() -> tuple[str, int]:
        digits = [digit for digit in "12345678" if digit != sentence[first]]
        digit = digits[draws.below(len(digits))]
        new = found[0][: first - found.start()] + digit + sentence[first + 1 : found.end()]
        return new, int(new)

    def put(number: str) -> str:
        return sentence[: found.start()] + number + sentence[found.end() :]

    old = int(found[0])
    new, value = change()
    entailed = put(f"{_LESS if value > old else _MORE} {new}")
    yield sentence, entailed, "entailment"
    if draws.below(2) == 0:
        contradicting = put(change()[0])
    else:
        contradicting = put(f"{(_MORE, _LESS)[draws.below(2)]} {found[0]}")
    yield sentence, contradicting, "contradiction"
    yield entailed, sentence, "neutral"


@dataclass(frozen=True, kw_only=True)
class Numerical(BaseTransformation):
    """Make pairs about quantities of each text: what follows from it, contradicts it, or neither.

    Texts are taken sentence by sentence. Of every sentence with a quantity up to three rows are
    made: entailment (a quantity changed, with "less than" or "more than" before it), contradiction
    (a quantity changed, or "less than" or "more than" put before it) and neutral (the entailment
    the other way round).
    Rows without a quantity are left out.
    """

    seed: int = 0
    """Seed of the draws, which are addressed by the text."""
    rules: Literal["careful", "paper"] = "careful"
    """``"careful"`` reads number words, decimals, separators, fractions, money, percent and
    ordinals, changes a quantity drawn at random, and leaves alone questions, conditions, negated
    sentences, quantities that are names or compared already, and sentences of which it is not sure
    what follows (:func:`ietest_fast.transform.sure_quantities.is_plain`). ``"paper"`` changes the
    first digit of the first whole number, as the published code does."""

    @property
    def name(self) -> str:
        """``"numerical"``."""
        return "numerical"

    @property
    def keeps_labels(self) -> bool:
        """False: labels are set."""
        return False

    @property
    def fingerprint(self) -> str:
        """Sha256 of the options and of which rules they mean, 64 hexadecimal digits."""
        scheme = {"scheme": _SCHEME} if self.rules == "careful" else {}
        return fingerprint_of({**scheme, **self.describe()})

    def describe(self) -> dict[str, Any]:
        """Return name and options."""
        return {"name": self.name, "options": {"seed": self.seed, "rules": self.rules}}

    def pairs(self, texts: Sequence[str | None]) -> Iterator[NewPair]:
        """Yield the pairs of some texts, rows counted from 0."""
        is_careful = self.rules == "careful"
        make = careful_pairs if is_careful else paper_pairs
        for row, text in enumerate(texts):
            sentences = split_sentences(text or "")
            for sentence in without_cut_numbers(sentences) if is_careful else sentences:
                for premise, hypothesis, label in make(sentence, Draws(self.seed, sentence)):
                    yield NewPair(
                        row=row, premise=premise, hypothesis=hypothesis, label=label, rule=label
                    )

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,  # noqa: ARG002 - the protocol's
    ) -> Transformed:
        """Make pairs; see :meth:`ietest_fast.transform.Transformation.transform`."""
        columns = check_pair_columns(self.name, text_columns)
        pairs = [pair for name in columns for pair in self.pairs(table[name].to_pylist())]
        return put_pairs(table, columns, pairs, with_edits=with_edits)


class NumericalOptions(PhiOptions):
    """What the pairs about quantities can be told."""

    seed: int = Field(0, ge=0, description="seed of the draws")
    rules: Literal["careful", "paper"] = Field(
        "careful",
        description="careful: any quantity that can be compared; paper: the first digit of the "
        "first whole number, as published",
    )


def _plan_numerical(options: NumericalOptions) -> PlannedTransformation:
    made = Numerical(seed=options.seed, rules=options.rules)
    return PlannedTransformation.of(made)


NUMERICAL = TransformationKind(
    name="numerical",
    summary="makes pairs about quantities of single texts, and sets their labels",
    options=NumericalOptions,
    plan=_plan_numerical,
    language="English",
)
