"""Which quantities count or measure something, so that others can be more or less."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ietest_fast.lexicon.function_words import FUNCTION_WORDS
from ietest_fast.transform.sure_quantities import is_plural

if TYPE_CHECKING:
    from ietest_fast.lexicon.quantities import Quantity

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
_HOURS = frozenset("am pm a.m p.m o'clock bc ad bce ce".split())  # noqa: SIM905

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
    is_no_count = quantity.is_ordinal or quantity.value in {0, 1}
    is_in_a_row = _IN_A_ROW.search(near)
    if is_no_count or is_in_a_row or _AGO.match(text[quantity.end :]):
        return False
    # "Windows 95", "Cave 31", "the girl's two dogs"
    word = "his" if word.endswith(("'s", "s'")) else word
    is_named = before is not None and before[1][0].isupper() and word not in FUNCTION_WORDS
    if is_named or word in _BOUND_WORDS or word in _NAMING_WORDS:
        return False
    after = text[quantity.end :]
    if quantity.currency or after.startswith(("%", " %")):
        return True
    is_year = (
        quantity.kind == "number"
        and 1500 <= quantity.value <= 2100
        and "," not in text[quantity.start : quantity.end]
    )
    behind = re.match(r"\s+([A-Za-z][\w'.]*)", after)
    if behind is None or (is_year and (word in _YEAR_WORDS or not word)):
        return False
    unit = behind[1].lower().rstrip(".")
    # "86 Queensway", "20 year old", "2010 income rules"
    is_counted = _counts_something(after) and not (is_year and not _counts_something(behind[0]))
    is_name = behind[1][0].isupper() or not is_counted
    return not (is_name or unit == "times" or unit in FUNCTION_WORDS or unit in _HOURS)


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
