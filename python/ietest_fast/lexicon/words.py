"""English words: function words, frequencies, plurals and stems."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.lexicon.token_table import NOUN, TokenTags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ietest_fast.lexicon.wordnet import WordNet

__all__ = ["porter_stem"]

# English function words: the closed classes, written down by the authors of this package.

_DETERMINERS = """
    a an the this that these those each every either neither some any no all both half such what
    whatever which whichever another other others enough much many more most few fewer fewest little
    less least several
"""
_PRONOUNS = """
    i you he she it we they me him her us them my your his its our their mine yours hers ours theirs
    myself yourself himself herself itself ourselves yourselves themselves one oneself who whom
    whose whoever someone somebody something anyone anybody anything everyone everybody everything
    nobody nothing none
"""
_PREPOSITIONS = """
    about above across after against along alongside amid among amongst around as at before behind
    below beneath beside besides between beyond by despite down during except for from in inside
    into like near of off on onto opposite out outside over past per regarding since than through
    throughout till to toward towards under underneath unlike until up upon versus via with within
    without
"""
_CONJUNCTIONS = """
    and or but nor so yet if because although though while whilst whereas unless whether once lest
    provided when whenever where wherever why how
"""
_AUXILIARIES = """
    am is are was were be been being have has had having do does did doing done can could may might
    must shall should will would ought need dare used
    ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't
    needn't shan't shouldn't wasn't weren't won't wouldn't cannot
    i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd
    they'd i'll you'll he'll she'll it'll we'll they'll that's there's here's what's who's let's
"""
_PARTICLES = """
    not too very just only also even still then there here quite rather almost ever never always
"""

_ALL = (_DETERMINERS, _PRONOUNS, _PREPOSITIONS, _CONJUNCTIONS, _AUXILIARIES, _PARTICLES)

FUNCTION_WORDS = frozenset(word for words in _ALL for word in words.split())
"""In lower case, with the straight apostrophe: determiners, pronouns, prepositions, conjunctions,
auxiliaries and particles; all other words are content words."""


# How often a corpus uses each noun.


def count_nouns(
    texts: pa.Array | pa.ChunkedArray | Sequence[str], tags: TokenTags
) -> dict[str, int]:
    """Count tokens that are tagged as common nouns, in lower case.

    Parameters
    ----------
    texts
        n texts; repeated texts count each time.
    tags
        Their tags, as :meth:`Tagger.tag` gives them.

    Returns
    -------
    dict
        Surface form in lower case -> number of tokens, most frequent first, then alphabetical.

    Raises
    ------
    InputError
        If there are not as many texts as tagged ones.
    """
    if len(texts) != len(tags):
        raise InputError(f"{len(texts)} texts, but tags of {len(tags)}")
    of_text = np.repeat(np.arange(len(tags)), np.diff(tags.offsets))
    is_noun = tags.pos == NOUN
    spans = zip(
        of_text[is_noun].tolist(),
        tags.start[is_noun].tolist(),
        tags.end[is_noun].tolist(),
        strict=True,
    )
    plain = texts.to_pylist() if isinstance(texts, pa.Array | pa.ChunkedArray) else texts
    encoded = [b"" if text is None else text.encode("utf-8", "surrogatepass") for text in plain]
    counted = Counter(encoded[i][start:end] for i, start, end in spans)
    counts: Counter[str] = Counter()
    for token, count in counted.items():
        counts[token.decode("utf-8", "surrogatepass").lower()] += count
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


# Nouns whose plural is the singular; the exception list does not say so.
_UNCHANGED = frozenset(
    "aircraft bison cod deer elk fish hovercraft moose offspring reindeer salmon series sheep "  # noqa: SIM905
    "shrimp spacecraft species squid swine trout watercraft".split()
)
# -o after a consonant takes -es in these (and in their compounds) only.
_O_TO_OES = tuple(
    "buffalo cargo domino echo embargo hero mango mosquito potato tomato tornado torpedo veto "  # noqa: SIM905
    "volcano".split()
)
# -ch spoken as k.
_HARD_CH = tuple(
    "cromlech czech diptych epoch eunuch hierarch loch matriarch monarch oligarch patriarch "  # noqa: SIM905
    "stomach tech triptych".split()
)
# Ending in -man without being a man.
_NOT_MAN = tuple(
    "brahman caiman cayman desman dolman dragoman german human mussulman norman ottoman roman "  # noqa: SIM905
    "shaman talisman toman turkoman".split()
)
_PREPOSITION = re.compile(r" (?=(?:of|in|on|at|to|for|from|with|by|under|without) )")
# Irregular plurals beside which no one writes a regular one.
_ONLY_IRREGULAR = ("foot", "tooth", "goose", "mouse", "louse", "man", "child", "ox")
# Latin and Greek plurals that English has mostly given up (stadia, dogmata, bureaux, formulae) ...
_FOREIGN = re.compile(r"(?:um|ma|u|na|la)$")
# ... but for these.
_STILL_FOREIGN = tuple("addendum bacterium datum erratum medium millennium ovum stratum".split())  # noqa: SIM905


def regular_plural(noun: str) -> str:
    """Give the plural by the rules of English spelling alone; the last word is inflected."""
    if noun.endswith(("s", "x", "z", "sh")):
        return noun + "es"
    if noun.endswith("ch"):
        return noun + ("s" if noun.endswith(_HARD_CH) else "es")
    if noun.endswith("y") and len(noun) > 1 and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    if noun.endswith(_O_TO_OES):
        return noun + "es"
    if noun.endswith("man") and not noun.endswith(_NOT_MAN):
        return noun[:-2] + "en"
    return noun + "s"


class Plurals:
    """Plural forms of nouns according to a WordNet's exception list and spelling rules."""

    def __init__(self, wordnet: WordNet) -> None:
        irregular: dict[str, list[str]] = defaultdict(list)
        for form, bases in wordnet.exceptions("n").items():
            for base in bases:
                # The list has a few singulars in disguise, such as "aides-de-camp aide-de-camp".
                if form != base:
                    irregular[base].append(form)
        self._irregular: Mapping[str, list[str]] = irregular

    def forms(self, noun: str) -> tuple[str, ...]:
        """Give all plural forms of a noun, the one to write first.

        Words of `noun` are separated by single spaces; of several, the one before a preposition
        or else the last is inflected ("bill of fare", "hot dog").
        """
        parts = _PREPOSITION.split(noun, maxsplit=1)
        before, _, head = parts[0].rpartition(" ")
        start = f"{before} " if before else ""
        rest = f" {parts[1]}" if len(parts) > 1 else ""
        return tuple(start + form + rest for form in self._of_word(head))

    def plural(self, noun: str) -> str:
        """Give the plural to write."""
        return self.forms(noun)[0]

    def _of_word(self, noun: str) -> list[str]:
        if noun in _UNCHANGED or noun.endswith("fish"):
            return [noun]
        regular = regular_plural(noun)
        irregular = sorted(self._irregular.get(noun, ()))
        strong = [form for form in irregular if not _is_respelling(form, noun)]
        if _FOREIGN.search(noun) and not noun.endswith(_STILL_FOREIGN):
            strong = []
        if strong and noun.endswith(_ONLY_IRREGULAR):
            return strong
        return list(dict.fromkeys([*strong, regular, *irregular]))


def _is_respelling(form: str, noun: str) -> bool:
    """Tell whether a listed form only spells the regular ending otherwise (busses, zeroes)."""
    return form in (noun + "s", noun + "es", noun + noun[-1] + "es") and not noun.endswith("z")


# Porter's stems, by NLTK's implementation of them.
#
# M. F. Porter, *An algorithm for suffix stripping*, Program 14 (1980), with NLTK's departures,
# which are the published experiments' too.


_STEMMER = "nltk.stem.porter"


@functools.lru_cache(maxsize=1 << 16)
def porter_stem(word: str) -> str:
    """Return the stem of a word in lower case, as ``nltk.PorterStemmer().stem`` does."""
    return _stemmer()(word)


@functools.cache
def _stemmer() -> Callable[[str], str]:
    stem: Callable[[str], str] = _import_stemmer().PorterStemmer().stem
    return stem


def _import_stemmer() -> Any:
    """Import NLTK's stemmer without the rest of NLTK, which takes a hundred times as long.

    The packages above the module are replaced, for as long as it is imported, by empty ones that
    have their folders; whoever imports NLTK afterwards gets all of it.
    """
    if "nltk" in sys.modules:
        return importlib.import_module(_STEMMER)
    above = _STEMMER.split(".")[:-1]
    folder = importlib.util.find_spec("nltk")
    if folder is None or folder.submodule_search_locations is None:
        return importlib.import_module(_STEMMER)  # which says what is missing
    places = list(folder.submodule_search_locations)
    try:
        for depth in range(len(above)):
            package = ModuleType(".".join(above[: depth + 1]))
            package.__path__ = [str(Path(place, *above[1 : depth + 1])) for place in places]
            sys.modules[package.__name__] = package
        return importlib.import_module(_STEMMER)
    finally:
        for name in [name for name in sys.modules if name == "nltk" or name.startswith("nltk.")]:
            del sys.modules[name]


# Quantities in English text: found, valued, and written again with another value.


QuantityKind = Literal["number", "decimal", "fraction", "words", "ordinal", "ordinal-word"]

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "  # noqa: SIM905
    "fifteen sixteen seventeen eighteen nineteen".split()
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINAL_ONES = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "  # noqa: SIM905
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split()
)
_ORDINAL_TENS = (
    "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth "  # noqa: SIM905
    "ninetieth".split()
)

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
    words = (word for word in re.split(r"[\s-]+", text.lower()) if word != "and")
    for word in words:
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
