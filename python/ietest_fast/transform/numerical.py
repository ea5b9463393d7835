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
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from ietest_fast.lexicon.words import (
    FUNCTION_WORDS,
    MOST_DIGITS,
    Quantity,
    find_quantities,
    write_like,
)
from ietest_fast.philox import philox_key
from ietest_fast.transform.base import (
    BaseTransformation,
    NewPair,
    Transformed,
    check_pair_columns,
    fingerprint_of,
    put_pairs,
)
from ietest_fast.transform.phi import PhiOptions, PlannedTransformation, TransformationKind
from ietest_fast.transform.structure import (
    are_single_sentences,
    are_statements,
    split_sentences,
    without_cut_numbers,
)
from ietest_fast.transform.syntax.trees import is_common

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from ietest_fast.lexicon import Tagger
    from ietest_fast.lexicon.wordnet import WordNet

# Which sentences say a quantity so plainly that it is sure what follows from it.
#
# Everything is read off the words of the sentence, without a tagger.

# Another clause, of which the quantity may be a part.
_SUBORDINATED = (
    "when|whenever|where|wherever|because|since|while|whilst|whereas|although|though|once|till|"
    "until|provided|who|whom|whose|as soon as|as long as|so that|in order|even|"
    "(?<!says )(?<!said )(?<!discovered )(?<!found )(?<!reported )(?<!noticed )that|"
    "(?:after|before)(?! \\d| \\w+ing\\b)"
)
# What has to be, is wanted or allowed, or would be: more or less of it may do as well.
_REQUIRED = (
    "(?:has|have|had|having) to|needs?|needed|requir\\w+|allow\\w*|permit\\w*|limit\\w*|maximum|"
    "minimum|supposed|want\\w*|demand\\w*|ask\\w*|plan(?:s|ned|ning)?|hop(?:e|es|ed|ing)|expect\\w*|"
    "request\\w*|offer\\w*|propos\\w*|aim\\w*|goals?|targets?|recommend\\w*|suggest\\w*|predict\\w*|"
    "project(?:s|ed)|sufficient|suffices?|eligible|deserv\\w*|able to|"
    "(?:is|are|was|were) to|(?:designed|intended|meant|built|suited|room|space) (?:for|to)|"
    "to (?:carry|hold|seat|accommodate)|"
    "thinks?|thought|believe[sd]?|guess"
)
# One thing for another, as a habit.
_EXCHANGED = (
    "in (?:return|exchange) for|(?:costs?|weighs?|worth|is|are) (?:the same|as much)|same as"
)
# What a number beside them counts is fixed.
_TOGETHER = (
    "both|respectively|either|together|everyone|everybody|all|any|half|twice|"
    "thrice|doubled?|triple|only|just|exactly|precisely|merely|another|(?:less|more|fewer) th[ae]n|"
    "as many|as much|as few|as little|almost|nearly|approximately|roughly|always|"
    "usually|often|up to|times as|times the|"
    "meaning|thus|hence|therefore|rarely|seldom|hardly|scarcely|barely|much less|let alone"
)
_LEFT = re.compile(
    rf"\b(?:{_SUBORDINATED}|{_REQUIRED}|{_EXCHANGED}|{_TOGETHER})\b|"
    # "It's revenue was", "late than"
    r"\bit's \w+ (?:is|was|are|were)\b|"
    r"\b(?!other|rather|different|differently|more|less|fewer|worse|else|\w+er\b)[a-z]+ than\b|"
    # "seven days a week", which everybody knows
    r"\b(?:days|nights|hours|months|minutes|weeks|times) (?:an?|per|in an?|of the|each) "
    r"(?:week|day|year|hour|month)\b",
    re.IGNORECASE,
)
# Quotations, lists, sums; sentences that an abbreviation cuts ("friends A and B. A starts").
_MARKED = re.compile(
    r"[\"“”:;()\[\]#+*=<>|_–—…]|--|\.\.|(?<!\w)['‘’`]|''|"
    r"\s-\s|\w-\s|(?<=\s)[A-Z]\.\s+[A-Z]|[A-Z]\.[A-Z]\.$|"
    # "10 tables, 4 chairs per table"
    r",\s+\d+\s\w+\sper\b|,\s+every\b|"
    # "58km"
    r"\d(?!st\b|nd\b|rd\b|th\b)[A-Za-z]"
)
# "A, B and C", "Toyota, General Motors and Tata"
_LISTED = re.compile(r"\b[A-Z][\w. ]*,\s+[A-Z][\w. ]*,?\s+(?:and|&)\s+[A-Z]\w*\b")
# At the beginning: other clauses, commands, somebody indefinite, "Having two kids".
_BEGINS = re.compile(
    r"^\W*(?:(?:as(?! a result)|take|consider|given|let|use|add|note|calculate|compute|check|see|"
    r"count|choose|imagine|so (?:is|are|was|were|do|does|did)|one|some|"
    r"there (?!(?:is|are|was|were|has|have|had|will)\b))\b|"
    r"(?!during|nothing|something|everything|king|spring|string)[a-z]+ing\b|"
    r"(?:\w+ly\s)?(?!united|red|sacred|hundred)\w{3,}ed\b)",
    re.IGNORECASE,
)
_LOWER = re.compile(r"^\W*[a-z]")
# ", each representing a sect", "A and B each have"
_EACH = re.compile(
    r",\s*each\b|\beach (?:of (?:them|which|whom)|has|have|with|is|are|was|were|get|gets)\b",
    re.IGNORECASE,
)
_BIG_SHARE = re.compile(r"^\W*\d+(?:\.\d+)?\s+(?:million|billion|trillion)\b")
# "Vegetables contains": see :func:`_agrees`.
_SUBJECT = re.compile(r"^(?:The\s+)?([A-Za-z]+)\s+(?:is|was|has|contains|costs|gives|takes)\b")
_LEAVING = (_LEFT, _MARKED, _LISTED, _BEGINS, _LOWER, _EACH, _BIG_SHARE)

# Before a number: an article or possessive and another word ("the final 68 steps").
_DETERMINED = re.compile(
    r"\b(?:the|an?|this|that|these|those|my|your|his|her|its|our|their|[\w]+['’]s)\s+"
    r"(?:(?:very|most|\w+ly)\s+)?[\w-]+\s+[$€£]?$",
    re.IGNORECASE,
)
# "They are two museums", "are two friends", of some who are named; "negative $60 million"
_NAMED_AND = re.compile(
    r"\band\b.*\b(?:are|were)\s+$|\b(?:they|these|those|we|you)(?:\s+(?:are|were)|'re)\s+$|"
    r"\b(?:negative|minus|plus)\s+$",
    re.IGNORECASE,
)
# "meaning 150 feet", "selling it at $44"
_DOING = re.compile(
    r"(?<!the )(?<!an )(?<!a )(?<!is )(?<!are )(?<!was )(?<!were )(?<!been )"
    r"\b(?!during|spring|string|king|thing|ring|wing|morning|evening|building|ceiling|wedding|"
    r"meeting|clothing|something|nothing|everything)[a-z]+ing\s[^,]*$",
    re.IGNORECASE,
)
_GAP = re.compile(r"\s{2,}$")
# "two friends A and B", "four historic towns Elche and Murcia"
_APPOSED = re.compile(r"^((?:\s+[a-z-]+){1,3}),?\s+[A-Z]")
# "three regions north, west, and south"; "Two places to look are A and B"
_LISTED_AFTER = re.compile(r"\b\w+,\s+\w+,\s+(?:\w+\s+)?(?:and|or)\s")
_ARE_NAMED = re.compile(r"^[\w\s,'-]*?\s(?:are|were)\s+(?:the\s+)?[A-Z]")
# "12 days is bad", "18% interest is common": the quantity as one thing.
_AS_ONE = re.compile(
    r"^\s?(?:%|percent|per cent)(?!\s+of\b)|"
    r"^\s+(?:days|weeks|months|years|hours|minutes|pounds|dollars) (?:of|for)\b|"
    r"^[\w\s%,'-]*?\s(?:is|was|has|does|contains|costs|makes|takes|gives|weighs|seems|sounds|\w+'s)\b"
)
_MEASURE_IS = re.compile(r"^\s+\w+\s+(?:is|was|has|isn't|wasn't)\b")
_SINGULAR_UNIT = re.compile(
    r"^\s+(?:inch|foot|hour|minute|second|day|week|month|year|mile|dollar|pound|meter|metre|liter|litre|"
    r"kilometer|kilometre|gallon|ounce|ton)\b(?!-)",
    re.IGNORECASE,
)

_FINITE = frozenset(
    "is are was were am has have had do does did will would isn't aren't wasn't weren't it's he's "  # noqa: SIM905
    "begin travel go she's they're we're i've we've they've i'm you're there's".split()
)
_NO_VERB_BEFORE = frozenset(
    "an the this these those my your his her its our their of in on at by for from with to per "  # noqa: SIM905
    "into about many several".split()
)


def is_plain(sentence: str, quantities: Sequence[Quantity]) -> bool:
    """Say whether a sentence states its quantities, whole and without conditions.

    It has no other clause, says nothing of what is required, wanted or exchanged, lists nobody, and
    has a finite verb; nothing is counted twice.
    """
    if any(found.search(sentence) for found in _LEAVING):
        return False
    return (
        not _says_twice(sentence, quantities)
        and _agrees(sentence)
        and has_finite_verb(sentence, quantities)
    )


def _says_twice(sentence: str, quantities: Sequence[Quantity]) -> bool:
    """Say whether two quantities are the same of the same: "33 cents for 33 cents"."""
    behind = [re.match(r"\s+(\w+)", sentence[each.end :]) for each in quantities]
    said = [(each.value, found[1]) for each, found in zip(quantities, behind, strict=True) if found]
    return len(set(said)) < len(said)


def _agrees(sentence: str) -> bool:
    """Say whether a sentence that begins with a plural has no verb of a singular behind it."""
    found = _SUBJECT.search(sentence)
    return found is None or not is_plural(found[1].lower())


@functools.lru_cache(maxsize=1 << 14)
def is_plural(word: str) -> bool:
    """Say whether a word in lower case ends in -s and is another form of a noun."""
    from ietest_fast.lexicon import WordNet

    bases = WordNet.packaged().base_forms(word, "n")
    return word.endswith("s") and any(base != word for base in bases)


def stands_free(sentence: str, quantity: Quantity) -> bool:
    """Say whether a quantity counts something that nothing else in the sentence decides."""
    before, after = sentence[: quantity.outer_start], sentence[quantity.end :]
    if any(found.search(before) for found in (_DETERMINED, _NAMED_AND, _DOING, _GAP)):
        return False
    is_first = not before.strip(" \"'")
    as_one = _AS_ONE if is_first else _MEASURE_IS
    if _LISTED_AFTER.search(after) or (is_first and _ARE_NAMED.search(after)):
        return False
    named = _APPOSED.search(after)
    if named is not None and FUNCTION_WORDS.isdisjoint(named[1].split()):
        return False
    return as_one.search(after) is None and _SINGULAR_UNIT.search(after) is None


def has_finite_verb(sentence: str, quantities: Sequence[Quantity]) -> bool:
    """Say whether a sentence is more than a phrase: it has a word that can only be its verb.

    A form such as *pieces* counts only where a subject stands before it, and no number or article.
    """
    ends = [each.end for each in quantities]
    before, is_article = "", False
    for found in re.finditer(r"[A-Za-z]+(?:['’][a-z]+)?", sentence):
        word = found[0].lower()
        if word in _FINITE:
            return True
        is_after = (
            is_article
            or before in _NO_VERB_BEFORE
            or any(
                not sentence[end : found.start()].strip("% ")
                for end in ends
                if end <= found.start()
            )
        )
        may_be_verb = before and not is_after and word not in FUNCTION_WORDS and _is_verb(word)
        if may_be_verb and not _is_participle(found):
            return True
        if word not in FUNCTION_WORDS and _is_base_behind_many(before, word):
            return True
        # "A cycled": the name of somebody in a problem.
        is_article = word == "a" and (found[0] == "a" or found.start() > 0 or _is_noun(sentence))
        before = word
    return False


def _is_noun(sentence: str) -> bool:
    """Say whether the second word of a sentence, behind "A", may be a noun or adjective."""
    found = re.match(r"A\s+([a-z]+)", sentence)
    return found is None or not found[1].endswith("ed")


# What they say of a noun before them is more often no sentence: "a house made of bricks".
_PARTICIPLES = frozenset(
    "based built called dated designed given known located made named".split()  # noqa: SIM905
)


def _is_participle(found: re.Match[str]) -> bool:
    """Say whether a form of a verb in a sentence may say something of the noun before it."""
    before, behind = found.string[: found.start()], found.string[found.end() :]
    is_passive = re.match(r"\s+by\b", behind) is not None
    return is_passive or found[0].lower() in _PARTICIPLES or before.endswith(", ")


_MANY = frozenset("i you we they people men women children".split())  # noqa: SIM905


@functools.lru_cache(maxsize=1 << 14)
def _is_base_behind_many(subject: str, form: str) -> bool:
    from ietest_fast.lexicon import WordNet

    is_many = subject in _MANY or is_plural(subject)
    return is_many and form in WordNet.packaged().base_forms(form, "v")


@functools.lru_cache(maxsize=1 << 14)
def _is_verb(form: str) -> bool:
    from ietest_fast.lexicon.verbs import Verbs

    verbs = Verbs.packaged()
    if form.endswith("s"):
        return verbs.lemma(form, "VBZ") is not None
    return verbs.lemma(form, "VBD") is not None


# Which quantities count or measure something, so that others can be more or less.

# What stands before a number that cannot take "less than", or that has something like it already.
_BOUND_WORDS = frozenset(
    "a an the this that these those every each all both first last next other another only exactly "  # noqa: SIM905
    "just than least most over under above below about around approximately roughly nearly almost "
    "up between from to another some same top half after before in within "
    "ranked of past additional extra further few fit bad good "
    "my your his her its our their actual".split()
)
# ... or that is a name and no quantity.
_NAMING_WORDS = frozenset(
    "age aged appendix article box chapter chapters exhibit figure figures item number no page "  # noqa: SIM905
    "pages paragraph phase room schedule sections stage table grade level route highway "
    "interstate type version flight "
    "channel section title part volume act apollo world war form line step "
    "january february march april may june july august september october november december".split()
)
_YEAR_WORDS = frozenset(
    "in of since by until from before after during circa year summer winter spring fall".split()  # noqa: SIM905
)
# What is counted without a plural.
_UNITS = frozenset(
    "kg km cm mm m g mg lb lbs oz ft mph kmph km/h hr hrs min sec percent million billion thousand "  # noqa: SIM905
    "hundred dozen square cubic sq people men women children feet teeth mice units".split()
)
_NO_UNITS = FUNCTION_WORDS | frozenset("times am pm a.m p.m o'clock bc ad bce ce".split())  # noqa: SIM905

# One thing is the third; somebody who lives on the third floor lives on no other one.
_PLACE = re.compile(
    r"\s+(?:floor|place|grade|birthday|anniversary|street|avenue|president|king|pope|edition|inning|"
    r"quarter|round|lap|hole|row|seat)\b(?!\s+to\b|\s+[A-Z])"
)
_IS_AT = re.compile(
    r"\b(?:lives?|lived|works?|worked|stays?|stayed|sits?|sat|finish(?:es|ed)|lost|came|placed|ended|"
    r"ranked|is|was|are|were|celebrat(?:es|ed))\s+(?:(?:in|on|at)\s+)?(?:(?:the|his|her|its|their|my|our)\s+)?$"
)
# "sections 2701 and 2702"
_IN_A_ROW = re.compile(r"\d\s*(?:,|and|or|to|through|-)\s*$")
# Who says three hundred years ago does not count the years.
_AGO = re.compile(r"(?:\s+\w+){1,2}\s+ago\b", re.IGNORECASE)
# So many characters before a quantity are looked at.
_NEAR = 60


def can_be_compared(text: str, quantity: Quantity) -> bool:
    """Say whether a sentence stays one with "less than" before a quantity.

    The quantity counts or measures something: a percent or currency sign, or a content word stands
    beside it; and nothing before it compares or names it.
    """
    near = text[max(0, quantity.outer_start - _NEAR) : quantity.outer_start]
    before = re.search(r"([\w'.]+)\W*$", near)
    word = before[1].lower().strip(".") if before else ""
    after = text[quantity.end :]
    is_no_count = quantity.is_ordinal or quantity.value in {0, 1}
    if is_no_count or _IN_A_ROW.search(near) or _AGO.match(after):
        return False
    # "Windows 95", "Cave 31", "the girl's two dogs"
    word = "his" if word.endswith(("'s", "s'")) else word
    is_named = before is not None and before[1][0].isupper() and word not in FUNCTION_WORDS
    if is_named or word in _BOUND_WORDS or word in _NAMING_WORDS:
        return False
    if quantity.currency or after.startswith(("%", " %")):
        return True
    is_year = (
        quantity.kind == "number"
        and 1500 <= quantity.value <= 2100
        and "," not in text[quantity.start : quantity.end]
    )
    if is_year and (word in _YEAR_WORDS or not word):
        return False
    return _counts_behind(after, is_year=is_year)


def _counts_behind(after: str, *, is_year: bool) -> bool:
    """Say whether a number counts what stands behind it; at once, if it may be a year."""
    behind = re.match(r"\s+([A-Za-z][\w'.]*)", after)
    # "86 Queensway"
    if behind is None or behind[1][0].isupper() or behind[1].lower().rstrip(".") in _NO_UNITS:
        return False
    # "20 year old", "2010 income rules"
    return _counts_something(after) and (not is_year or _counts_something(behind[0]))


def _counts_something(after: str) -> bool:
    """Say whether a plural or a unit stands behind a number, at most two words apart.

    With a singular, what the number says is part of a name: "a 20 year old", "23 quai".
    """
    for word in re.findall(r"[A-Za-z/']+|[^\sA-Za-z]", after)[:3]:
        if word.lower() in _UNITS or is_plural(word.lower()):
            return True
        if not word[0].isalpha() or word.lower() in FUNCTION_WORDS:
            return False
    return False


def is_round(quantity: Quantity) -> bool:
    """Say whether a quantity is so round that there may be a few more or less."""
    return quantity.value >= 100 and quantity.value % 10 == 0


def names_a_place(text: str, quantity: Quantity) -> bool:
    """Say whether an ordinal says which one something is, so that it is no other one."""
    is_place = quantity.is_ordinal and _PLACE.match(text[quantity.end :]) is not None
    near = text[max(0, quantity.outer_start - _NEAR) : quantity.outer_start]
    return is_place and _IS_AT.search(near) is not None


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
    if not _is_sure(sentence) or not is_plain(sentence, quantities):
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


def _is_sure(sentence: str) -> bool:
    """Say whether a sentence is whole, and asks, supposes or denies nothing."""
    is_unsure = _UNSURE.search(sentence) or _SAID_TWICE.search(sentence)
    return not is_unsure and _WHOLE.search(sentence) is not None


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
    what follows (:func:`ietest_fast.transform.numerical.is_plain`). ``"paper"`` changes the
    first digit of the first whole number, as the published code does."""

    name = "numerical"
    keeps_labels = False  # they are set

    @property
    def fingerprint(self) -> str:
        """Sha256 of the options and of which rules they mean, 64 hexadecimal digits."""
        scheme = {"scheme": _SCHEME} if self.rules == "careful" else {}
        return fingerprint_of({**scheme, **self.describe()})

    @property
    def _options(self) -> dict[str, Any]:
        return {"seed": self.seed, "rules": self.rules}

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
    return PlannedTransformation.of(Numerical(**dict(options)))


NUMERICAL = TransformationKind(
    name="numerical",
    summary="makes pairs about quantities of single texts, and sets their labels",
    options=NumericalOptions,
    plan=_plan_numerical,
    language="English",
)


# Compound statements of whole sentences: both, one of them, the contrary, one behind the other.


Connective = Literal["and", "or"]

NOT_TRUE = "It is not true that "
"""What denies the statement behind it."""

# At the end of a sentence; "the U.S." keeps its own.
_MARKS = r"[\s.!;:,]+$"
_ABBREVIATED = r"(?:\pL\.){2,}\s*$"
_CLOSED = r"[.!?][\"')\]]*$"
# "didn't", "she's".
_SHORTENED = r"(?i)n['’]t\b|\b(?:I|you|he|she|it|we|they|there|that|who)['’](?:m|s|re|ve|ll|d)\b"
_FIRST_WORD = r"^(?P<word>[\pL'’-]+)"

# Words of these classes have no capital of their own, but for "I".
_FUNCTION_CLASSES = frozenset(
    {"DET", "PRON", "ADP", "AUX", "CCONJ", "SCONJ", "PART", "NUM", "INTJ"}
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Statements:
    """Sentences in the forms in which they stand in compound statements."""

    bare: pa.Array
    """Large strings (n,): without the final mark."""
    inner: pa.Array
    """Large strings (n,): beginning with a small letter, unless the first word is a name, an
    acronym or *I*, and with the final mark."""
    fit: npt.NDArray[np.bool_]
    """bool (n,): which are single statements. Of questions and requests nothing follows, of several
    sentences *or* and *not* would take the one beside them only, and a phrase without a finite
    verb, such as *two men carrying an axe*, is no part of a sentence."""

    @classmethod
    def of(cls, texts: pa.Array, tagger: Tagger, *, n_threads: int | None = None) -> Statements:
        """Bring sentences into these forms."""
        trimmed = pc.utf8_trim_whitespace(texts)
        bare = without_mark(trimmed)
        return cls(
            bare=bare,
            inner=_begin_small(trimmed, tagger, n_threads),
            fit=are_statements(trimmed) & are_single_sentences(trimmed) & _have_verbs(bare),
        )

    def join(
        self,
        connective: Connective,
        first: npt.NDArray[np.int64],
        second: npt.NDArray[np.int64],
    ) -> pa.Array:
        """Return "P and H" or "P or H" of k pairs of sentences, large strings (k,)."""
        left, right = self.bare.take(pa.array(first)), self.inner.take(pa.array(second))
        return pc.binary_join_element_wise(left, right, _large(f" {connective} "))

    def deny(self, which: npt.NDArray[np.int64]) -> pa.Array:
        """Return "It is not true that P" of k sentences, large strings (k,)."""
        inner = self.inner.take(pa.array(which))
        return pc.binary_join_element_wise(_large(NOT_TRUE), inner, _large(""))


def without_mark(trimmed: pa.Array) -> pa.Array:
    """Return texts without the final mark, with which they begin compounds, large strings (n,)."""
    return pc.if_else(
        pc.match_substring_regex(trimmed, _ABBREVIATED),
        trimmed,
        pc.replace_substring_regex(trimmed, _MARKS, ""),
    )


def follow(first: pa.Array, second: pa.Array) -> pa.Array:
    """Return texts with another behind each, large strings (k,).

    A text without a final mark gets a full stop.
    """
    trimmed = pc.utf8_trim_whitespace(first)
    between = pc.if_else(pc.match_substring_regex(trimmed, _CLOSED), _large(" "), _large(". "))
    return pc.binary_join_element_wise(
        trimmed, between, pc.utf8_trim_whitespace(second), _large("")
    )


def _have_verbs(texts: pa.Array) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = np.asarray(pc.match_substring_regex(texts, _SHORTENED)).copy()
    unsure = np.flatnonzero(~found)
    left = texts.take(pa.array(unsure)).to_pylist()
    found[unsure] = [has_finite_verb(text, ()) for text in left]
    return found


def _begin_small(texts: pa.Array, tagger: Tagger, n_threads: int | None) -> pa.Array:
    from ietest_fast.lexicon import UPOS, WordNet

    tags = tagger.tag(texts, n_process=n_threads)
    # The class of the first token; that of a text without one is not looked at.
    first = np.minimum(tags.offsets[:-1], max(len(tags.pos) - 1, 0))
    classes = tags.pos[first] if len(tags.pos) else np.zeros(len(texts), np.uint8)
    words = pc.fill_null(pc.struct_field(pc.extract_regex(texts, _FIRST_WORD), "word"), "")
    encoded = words.dictionary_encode()
    # Each word once for each of its classes.
    keys = np.asarray(encoded.indices).astype(np.int64) * len(UPOS) + classes
    found, place = np.unique(keys, return_inverse=True)
    spellings, wordnet = encoded.dictionary.to_pylist(), WordNet.packaged()
    small = np.array(
        [_may_begin_small(spellings[k // len(UPOS)], UPOS[k % len(UPOS)], wordnet) for k in found],
        np.bool_,
    )
    lowered = pc.binary_join_element_wise(
        pc.utf8_lower(pc.utf8_slice_codeunits(texts, 0, 1)),
        pc.utf8_slice_codeunits(texts, 1),
        _large(""),
    )
    return pc.if_else(pa.array(small[place.reshape(-1)]), lowered, texts)


def _may_begin_small(word: str, pos: str, wordnet: WordNet) -> bool:
    """Whether a word that begins a sentence has its capital from there."""
    if not word[:1].isupper() or word[1:] != word[1:].lower():
        return False
    if pos == "PROPN" or word == "I" or word.startswith(("I'", "I’")):
        return False
    return pos in _FUNCTION_CLASSES or is_common(word.lower(), wordnet)


def _large(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())
