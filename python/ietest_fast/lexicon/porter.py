"""Porter's suffix stripping, in the variant that NLTK uses by default.

M. F. Porter, *An algorithm for suffix stripping*, Program 14 (1980), with NLTK's departures: a few
irregular words, words of one or two letters left alone, -ies and -ied of four-letter words
(dies -> die), y -> i after a consonant only, and -bli, -alli, -fulli, -logi in step 2. The
published experiments compared stems, so which stems are equal is part of reproducing them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_IRREGULAR = {
    "skies": "sky",
    "sky": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}

# Within a step the first suffix that fits decides, whether or not its condition holds.
_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = (  # noqa: SIM905
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
).split()  # fmt: skip


def porter_stem(word: str) -> str:
    """Give the stem of a word in lower case, as ``nltk.PorterStemmer().stem`` does."""
    if word.lower() in _IRREGULAR:
        return _IRREGULAR[word.lower()]
    if len(word) <= 2:
        return word.lower()
    stem = _plural(word.lower())
    stem = _past_and_gerund(stem)
    if stem.endswith("y") and len(stem) > 2 and _shape(stem)[-2] == "c":
        stem = stem[:-1] + "i"
    stem = _step_2(stem)
    stem = _strip(stem, _STEP_3, lambda rest: _measure(rest) > 0)
    stem = _step_4(stem)
    if stem.endswith("e"):
        measure = _measure(stem[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(stem[:-1])):
            stem = stem[:-1]
    if stem.endswith("ll") and _measure(stem[:-1]) > 1:
        stem = stem[:-1]
    return stem


def _shape(word: str) -> str:
    """Write each letter as c (consonant) or v; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if is_vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """Porter's *o: ends consonant-vowel-consonant, the last not w, x, y; or is vowel-consonant."""
    shape = _shape(word)
    return (shape.endswith("cvc") and word[-1] not in "wxy") or shape == "vc"


def _strip(word: str, rules: tuple[tuple[str, str], ...], condition: Callable[[str], bool]) -> str:
    for suffix, replacement in rules:
        if word.endswith(suffix):
            rest = word.removesuffix(suffix)
            return rest + replacement if condition(rest) else word
    return word


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_gerund(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and "v" in _shape(rest):
            break
    else:
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) > 1 and rest[-1] == rest[-2] and _shape(rest)[-1] == "c":
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _ends_short(rest) else rest


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2])
    if word.endswith("logi") and not word.endswith(tuple(suffix for suffix, _ in _STEP_2)):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _strip(word, _STEP_2, lambda rest: _measure(rest) > 0)


def _step_4(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word.removesuffix(suffix)
            fits = _measure(rest) > 1 and (suffix != "ion" or rest.endswith(("s", "t")))
            return rest if fits else word
    return word
