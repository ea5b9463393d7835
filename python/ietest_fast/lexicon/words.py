"""English words: function words, frequencies, plurals and stems."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.lexicon.token_table import NOUN, TokenTags

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ietest_fast.lexicon.wordnet import WordNet


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

__all__ = ["porter_stem"]

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
