"""Quantities in English text: found, valued, and written again with another value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

QuantityKind = Literal["number", "decimal", "fraction", "words", "ordinal", "ordinal-word"]

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINAL_ONES = [
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
]
_ORDINAL_TENS = [
    "twentieth",
    "thirtieth",
    "fortieth",
    "fiftieth",
    "sixtieth",
    "seventieth",
    "eightieth",
    "ninetieth",
]

_WORD_VALUES = {word: value for value, word in enumerate(_ONES)} | {
    word: 10 * place for place, word in enumerate(_TENS, start=2)
}
_ORDINAL_VALUES = {word: value for value, word in enumerate(_ORDINAL_ONES) if value} | {
    word: 10 * place for place, word in enumerate(_ORDINAL_TENS, start=2)
}

# The longest first: "2 1/2" before "2", "1,234.5" before "1".
_DIGITS = re.compile(
    r"""
    (?<![\w.,:/$-]) (?<!\d[ ]) [$\u20ac\xa3]?
    (?: (?P<fraction> (?: \d+ [ ] )? [1-9]\d* / [1-9]\d* )
      | (?P<ordinal> \d{1,3} (?: st | nd | rd | th ) )
      | (?P<decimal> (?: \d{1,3} (?: ,\d{3} )+ | \d+ )? \.\d+ )
      | (?P<number> \d{1,3} (?: ,\d{3} )+ | \d+ )
    )
    (?! \w | [.,:/-] \d | / | ' | - \w )
    """,
    re.VERBOSE,
)
_WORD = "|".join(sorted([*_WORD_VALUES, "hundred", *_SCALES], key=len, reverse=True))
_NUMBER_WORD = re.compile(rf"(?<![\w'-])(?:{_WORD})(?![\w'])", re.IGNORECASE)
_NEXT_NUMBER_WORD = re.compile(rf"(?:-|\s+and\s+|\s+)(?:{_WORD})(?![\w'])", re.IGNORECASE)
_OWNED = re.compile(r"(?:^|\W)(?:the|my|your|his|her|its|our|their|'s)\s+$", re.IGNORECASE)
_ORDINAL_WORDS = re.compile(
    rf"(?<![\w'-])(?:(?:{'|'.join(_TENS)})-)?(?:{'|'.join(_ORDINAL_VALUES)})(?![\w'-])",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A quantity in a text."""

    start: int
    end: int
    """Where its digits or words stand, in characters; currency and percent signs are outside."""
    value: Fraction
    """What it is worth."""
    kind: QuantityKind
    """How it is written: ``number`` (``1,234``), ``decimal`` (``3.5``), ``fraction`` (``2 1/2``),
    ``words`` (``twenty-five``), ``ordinal`` (``3rd``) or ``ordinal-word`` (``third``)."""
    currency: str = ""
    """The sign in front of it, or nothing."""

    @property
    def is_ordinal(self) -> bool:
        """Whether it counts a place in an order."""
        return self.kind in {"ordinal", "ordinal-word"}

    @property
    def outer_start(self) -> int:
        """Where it begins, the currency sign included."""
        return self.start - len(self.currency)


MOST_DIGITS = 30
"""Longer numbers are something else, and Python refuses to read very long ones."""


def find_quantities(text: str) -> list[Quantity]:
    """Find the quantities of a text, in their order.

    Left out are numbers that are parts of something else: of words (``B2``), times (``3:30``),
    dates and ranges (``9/11/2001``, ``10-12``), adjectives (``5-year``), and ``one``, which is
    mostly no number.
    """
    found = [*_find_digits(text), *_find_words(text)]
    return sorted(found, key=lambda quantity: quantity.start)


def _find_digits(text: str) -> Iterator[Quantity]:
    for match in _DIGITS.finditer(text):
        kind = match.lastgroup
        assert kind is not None  # noqa: S101 - one of the groups has matched
        start, end = match.span(kind)
        written = match[kind]
        plain = written.replace(",", "")
        if len(plain) > MOST_DIGITS or plain.endswith("/0"):
            continue
        if kind == "fraction":
            whole, _, part = plain.rpartition(" ")
            value = Fraction(whole or 0) + Fraction(part)
        elif kind == "ordinal":
            value = Fraction(plain[:-2])
        else:
            value = Fraction(plain)
        yield Quantity(
            start=start,
            end=end,
            value=value,
            kind=kind,  # type: ignore[arg-type]
            currency=text[match.start() : start],
        )


def _find_words(text: str) -> Iterator[Quantity]:
    taken: list[tuple[int, int]] = []
    for match in _ORDINAL_WORDS.finditer(text):
        tens, _, last = match[0].lower().rpartition("-")
        value = _WORD_VALUES.get(tens, 0) + _ORDINAL_VALUES[last]
        # "a second", "five seconds" and "one third" are no places in an order.
        is_unit = match[0].lower() in {"second", "third"}
        if is_unit and not _OWNED.search(text[: match.start()]):
            continue
        taken.append(match.span())
        yield Quantity(
            start=match.start(), end=match.end(), value=Fraction(value), kind="ordinal-word"
        )
    at = 0
    while (first := _NUMBER_WORD.search(text, at)) is not None:
        start, at = first.span()
        # As many words as make one number: "two hundred and three", but "two" and "three".
        while (more := _NEXT_NUMBER_WORD.match(text, at)) is not None:
            if read_number_words(text[start : more.end()]) is None:
                break
            at = more.end()
        number = read_number_words(text[start:at])
        overlaps = any(a < at and start < b for a, b in taken)
        goes_on = text[at : at + 1] == "-"  # "five-year", "twenty-first"
        if number is None or overlaps or goes_on or text[start:at].lower() in {"one", "zero"}:
            continue
        yield Quantity(start=start, end=at, value=Fraction(number), kind="words")


def read_number_words(text: str) -> int | None:
    """Return the number that words stand for (``three hundred and five``); None if they are
    none.
    """
    total = group = 0
    last = 10**15  # a smaller word has to follow
    for word in re.split(r"[\s-]+", text.lower()):
        if word == "and":
            continue
        if word in _SCALES:
            if not group:
                return None
            total, group, last = total + group * _SCALES[word], 0, 10**15
        elif word == "hundred":
            if not 1 <= group <= 9:
                return None
            group, last = group * 100, 100
        else:
            value = _WORD_VALUES.get(word)
            if value is None or not _fits_behind(value, group, last):
                return None
            group, last = group + value, value
    return total + group


def _fits_behind(value: int, group: int, last: int) -> bool:
    """Say whether a word's value may follow what has been read of a group of three digits."""
    if group == 0:
        return True
    if last == 100:
        return value > 0
    return last >= 20 and 0 < value < 10


def write_number_words(number: int) -> str:
    """Write a whole number below 10**15 in words: ``twenty-five``, ``three hundred and five``."""
    if number < 100:
        return _below_100(number)
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{_ONES[hundreds]} hundred" + (f" and {_below_100(rest)}" if rest else "")
    for name, size in reversed(_SCALES.items()):
        if number >= size:
            many, rest = divmod(number, size)
            tail = ""
            if rest:
                tail = (" and " if rest < 100 else " ") + write_number_words(rest)
            return f"{write_number_words(many)} {name}{tail}"
    raise AssertionError(number)


def _below_100(number: int) -> str:
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")


def write_ordinal(number: int) -> str:
    """Write a place in an order with digits: ``1st``, ``12th``."""
    ending = (
        "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    )
    return f"{number}{ending}"


def write_ordinal_word(number: int) -> str:
    """Write a place below 100 in an order as a word: ``third``, ``twenty-first``."""
    if number < 20:
        return _ORDINAL_ONES[number]
    tens, ones = divmod(number, 10)
    return f"{_TENS[tens - 2]}-{_ORDINAL_ONES[ones]}" if ones else _ORDINAL_TENS[tens - 2]


def write_like(written: str, kind: QuantityKind, value: Fraction) -> str:
    """Write a value as another one is written."""
    if kind == "ordinal":
        return write_ordinal(int(value))
    if kind == "words":
        return _take_capitals(written, write_number_words(int(value)))
    if kind == "ordinal-word":
        return _take_capitals(written, write_ordinal_word(int(value)))
    return _write_fraction(written, value) if kind == "fraction" else _write_digits(written, value)


def _take_capitals(written: str, words: str) -> str:
    if written.isupper():
        return words.upper()
    return words[0].upper() + words[1:] if written[0].isupper() else words


def _write_fraction(written: str, value: Fraction) -> str:
    whole, _, part = written.rpartition(" ")
    denominator = int(part.partition("/")[2])
    numerator = int(value * denominator)
    if not whole:
        return f"{numerator}/{denominator}"
    return f"{numerator // denominator} {numerator % denominator}/{denominator}"


def _write_digits(written: str, value: Fraction) -> str:
    """Write a whole number, or one with as many decimals as there were."""
    separated = "," in written
    if "." not in written:
        return f"{int(value):,}" if separated else f"{int(value)}"
    n_decimals = len(written.partition(".")[2])
    scaled = int(value * 10**n_decimals)
    whole, rest = divmod(scaled, 10**n_decimals)
    head = f"{whole:,}" if separated else f"{whole}"
    return f"{'' if written.startswith('.') and not whole else head}.{rest:0{n_decimals}d}"
