"""Which language texts are in, by their script and their most frequent words.

Enough to tell that rules for English would find nothing to do, or the wrong things; no more. A
language is one line of :data:`FREQUENT_WORDS`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ietest_fast.lexicon.words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

ENGLISH = "English"

FEWEST_WORDS = 200
"""With fewer words nothing is said: names, titles and lists are in no language."""

MOST_TEXTS = 5_000
"""How many texts are looked at, the first ones."""

FEWEST_FOREIGN = 5
"""With fewer texts in other languages nothing is said of them."""

_FEWEST_DIFFERENT = 8  # in names and formulas there are "de", "von" and "y", too

# What is frequent in another language, too, says nothing.
_AMBIGUOUS = """
    a all also am an any as at but can do had has have he her here him i in is it me more most
    no none of on one or our over per plus so some such to was we will
"""
_FRENCH = """
    le la les de des du un une et est dans pour que qui qu sur avec par pas ne il elle ils elles
    au aux ce cette ces sont mais nous vous je ou où leur leurs comme très aussi été être fait
    sans sous ont était l
"""
_SPANISH = """
    el la los las de del que y en un una es por con para su sus se lo al más como pero este esta
    fue ser está son muy también entre hay sin sobre ha yo
"""
_PORTUGUESE = """
    o os de da dos das que e em um uma para com não por na nos nas se é ao à mais como mas foi
    ele ela seu sua está são também pelo pela ser há estão eu
"""
_ITALIAN = """
    il lo la gli le di che è e un una con non del della dei delle nel nella al alla si da sono
    più anche ha ma questo questa alle dal dalla
"""
_GERMAN = """
    der die das und ist von mit den dem des ein eine einen einem einer nicht auch auf für sich
    im zu zum zur als bei nach aus wird werden wurde sind oder wie er sie es ich wir haben durch
"""
_DUTCH = """
    de het een en van dat niet op te zijn voor met die er aan ook als bij naar wordt werd maar
    om hij ze je wat deze worden uit
"""

FREQUENT_WORDS = {
    ENGLISH: FUNCTION_WORDS.difference(_AMBIGUOUS.split()),
    "French": frozenset(_FRENCH.split()),
    "Spanish": frozenset(_SPANISH.split()),
    "Portuguese": frozenset(_PORTUGUESE.split()),
    "Italian": frozenset(_ITALIAN.split()),
    "German": frozenset(_GERMAN.split()),
    "Dutch": frozenset(_DUTCH.split()),
}
"""In lower case; French elisions are cut at the apostrophe."""

_LANGUAGES_OF = {
    word: tuple(language for language, frequent in FREQUENT_WORDS.items() if word in frequent)
    for word in frozenset().union(*FREQUENT_WORDS.values())
}

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")


@dataclass(frozen=True, kw_only=True)
class LanguageCount:
    """What texts are in."""

    n_texts: int
    n_words: int
    """That were looked at."""
    foreign: Counter[str]
    """Language or script -> texts that are clearly in it and not in English."""
    main: str | None
    """The language of all of them together: ``"English"``, another one, a script, or None if
    nothing is clear."""

    @property
    def n_foreign(self) -> int:
        """Texts that are clearly not in English."""
        return sum(self.foreign.values())

    @property
    def is_foreign(self) -> bool:
        """Whether the texts as a whole, or nearly all of them, are clearly not in English."""
        if _are_nearly_all(self.n_foreign, self.n_texts):
            return True
        return self.n_words >= FEWEST_WORDS and self.main not in {None, ENGLISH}


def count_languages(texts: Iterable[str | None]) -> LanguageCount:
    """Say which languages texts are in.

    Examples
    --------
    >>> count_languages(["Le chat dort sur la table et le chien est dans le jardin."]).foreign
    Counter({'French': 1})
    >>> count_languages(["A man walking a dog."]).foreign
    Counter()
    """
    together: Counter[str] = Counter()
    seen: set[str] = set()
    foreign: Counter[str] = Counter()
    n_texts = n_words = n_strange = 0
    for text in texts:
        if text is None:
            continue
        n_texts += 1
        words = _WORD.findall(text.lower())
        strange = [word for word in words if _LATIN.match(word) is None]
        n_words += len(words)
        n_strange += len(strange)
        found = _count(words)
        if 2 * len(strange) > len(words):
            foreign[_script_of(strange[0])] += 1
        else:
            other = _clearly(found, fewest=4)
            if other is not None:
                foreign[other] += 1
        together.update(found)
        seen.update(words)
        if n_texts >= MOST_TEXTS:
            break
    # A sentence that is there often has few different words, and is in its language all the same.
    if 2 * n_strange > n_words or _are_nearly_all(sum(foreign.values()), n_texts):
        main = next((name for name, _ in foreign.most_common()), None)
    else:
        main = _clearly(together, fewest=n_words // 10)
        if main is not None and len(seen & FREQUENT_WORDS[main]) < _FEWEST_DIFFERENT:
            main = None
        if main is None and 10 * together[ENGLISH] >= n_words:
            main = ENGLISH
    return LanguageCount(n_texts=n_texts, n_words=n_words, foreign=foreign, main=main)


def _are_nearly_all(n_foreign: int, n_texts: int) -> bool:
    return n_foreign >= FEWEST_FOREIGN and 10 * n_foreign >= 9 * n_texts


def _count(words: list[str]) -> Counter[str]:
    """Count the words that are frequent in each language."""
    return Counter(language for word in words for language in _LANGUAGES_OF.get(word, ()))


def _clearly(found: Counter[str], *, fewest: int) -> str | None:
    """Return the language that is not English, if there is three times as much of it."""
    others = [(number, name) for name, number in found.items() if name != ENGLISH]
    number, name = max(others, default=(0, ENGLISH), key=lambda own: own[0])
    return name if number >= max(fewest, 1) and number >= 3 * found[ENGLISH] else None


def _script_of(word: str) -> str:
    """Return the name of a word's script, ``Cyrillic``: its letters' names begin with it."""
    name = unicodedata.name(word[0], "unknown").split()[0]
    return name if name == "CJK" else name.capitalize()
