"""Plurals of English nouns, made and recognised with WordNet's exception list."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ietest_fast.lexicon.wordnet import WordNet

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
