"""How regular verbs are spelt: stopped, tries, hoping, dying."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# One vowel letter and one consonant at the end: the consonant may have to be doubled. "Qu" is a
# consonant.
_CLOSED = re.compile(r"(?:^|[^aeiou]|qu)[aeiouy][bcdfgjklmnprstvz]$")
_ONE_SYLLABLE = re.compile(r"(?:qu|y(?=[aeiou])|[^aeiouy])*[aeiouy]+(?:[^aeiouy])*$")
# Doubled, though WordNet's exception list has no doubled form of them.
_DOUBLED = frozenset(
    "air-drop backlog backslap backstop bed-hop bedhop besot bespot blacktop bobsled "  # noqa: SIM905
    "bootstrap by-bid chit-chat clear-cut co-occur comparison-shop cooccur cross-refer defat defog "
    "dogsled dry-rot egotrip flat-hat flim-flam gift-wrap globe-trot hop-skip hot-dog imperil "
    "instil lollygag misread namedrop one-step overcut photostat re-equip readmit reallot "
    "rejig render-set reship resubmit she-bop shrinkwrap side-slip suntan switch-hit teargas "
    "two-step unclip unknot unstrap whistlestop wiretap".split()
)
# Not doubled, though they look like words of one syllable.
_SINGLE = frozenset("crayon kayak layer".split())  # noqa: SIM905
# Spelt either way; the single consonant first.
_EITHER = frozenset(
    "apparel backpedal ballot bayonet benefit bias brevet bus callus canvas caucus chorus "  # noqa: SIM905
    "combat corbel crenel curvet debus embus focus imperil marcel misbias nonplus peril refocus "
    "remodel revet ricochet snorkel teetotal tittup trammel transit worship".split()
)
# Stressed on -l, and so doubled on both sides of the Atlantic.
_STRESSED_L = frozenset(
    "annul appal cabal compel control corral decontrol dispel distil enrol enthral excel expel "  # noqa: SIM905
    "extol fulfil impel instal instil patrol propel rappel rebel repel".split()
)
# Written with two consonants rather than one where both are in use.
_RATHER_DOUBLED = frozenset("brevet bus coif revet worship".split())  # noqa: SIM905
# -o after a consonant takes -es in these (and in their compounds) only.
_O_TO_OES = ("buffalo", "do", "echo", "embargo", "go", "stucco", "torpedo", "veto", "zero")
# Keep their -e before -ing.
_KEEPS_E = frozenset("binge dinge segue singe swinge tinge".split())  # noqa: SIM905
_MAY_KEEP_E = frozenset("age cue eye hinge queue whinge".split())  # noqa: SIM905
# -ie stays before -ing.
_KEEPS_IE = frozenset("birdie boogie caddie stymie".split())  # noqa: SIM905
# -ch spoken as k.
_HARD_CH = ("stomach", "synch")


def find_stems(verb: str, listed: Iterable[str]) -> tuple[str, ...]:
    """Return what a verb becomes before a vowel, but for a silent e: *stopp*, *panick*,
    *travel*.
    """
    if not verb:
        raise ValueError("verb: an empty word has no forms")
    doubled = verb + verb[-1]
    found = {
        form[: -len(ending)]
        for form in listed
        for ending in ("ed", "ing")
        if form.endswith(ending) and form.startswith(verb) and len(form) > len(verb + ending)
    }
    is_closed = bool(_CLOSED.search(verb))
    if (verb.endswith("ic") and _syllables(verb) > 1) or f"{verb}k" in found:
        return (f"{verb}k",)
    if verb in _EITHER or (doubled in found and (not is_closed or _may_be_single(verb))):
        return (doubled, verb) if verb in _RATHER_DOUBLED else (verb, doubled)
    is_short = is_closed and _syllables(verb) == 1 and verb not in _SINGLE
    return (doubled,) if is_short or doubled in found or verb in _DOUBLED else (verb,)


def is_stress_known(verb: str) -> bool:
    """Tell whether the spelling shows, without a list, if a last consonant is doubled."""
    return verb.endswith("ic") or not _CLOSED.search(verb) or _syllables(verb) == 1


def _may_be_single(verb: str) -> bool:
    return verb.endswith("l") and _syllables(verb) > 1 and verb not in _STRESSED_L


def _syllables(verb: str) -> int:
    return 1 if _ONE_SYLLABLE.match(verb) else 2


def spell_past(verb: str, stems: Iterable[str]) -> tuple[str, ...]:
    """Return the regular past and participle, the usual spelling first."""
    if verb.endswith("e"):
        return (f"{verb}d",)
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return (f"{verb[:-1]}ied",)
    return tuple(f"{stem}ed" for stem in stems)


def spell_gerund(verb: str, stems: Iterable[str]) -> tuple[str, ...]:
    """Return the form in -ing, the usual spelling first."""
    if verb.endswith("ie"):
        dying = (f"{verb[:-2]}ying",)
        return (f"{verb}ing", *dying) if verb in _KEEPS_IE else dying
    if verb == "be" or verb.endswith(("ee", "oe", "ye")) or verb in _KEEPS_E:
        return (f"{verb}ing",)
    if verb.endswith("e"):
        without = (f"{verb[:-1]}ing",)
        return (*without, f"{verb}ing") if verb in _MAY_KEEP_E else without
    return tuple(f"{stem}ing" for stem in stems)


def spell_third(verb: str, stems: Iterable[str]) -> tuple[str, ...]:
    """Return the third person singular, the usual spelling first."""
    if verb.endswith(("s", "z")):
        return tuple(f"{stem}es" for stem in stems)
    if verb.endswith(("x", "sh")) or (verb.endswith("ch") and not verb.endswith(_HARD_CH)):
        return (f"{verb}es",)
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return (f"{verb[:-1]}ies",)
    if verb.endswith("o") and verb[-2:-1] not in "aeiouy":
        pair = (f"{verb}es", f"{verb}s")
        if verb.endswith(("do", "go")) and verb.endswith(_O_TO_OES):
            return pair[:1]
        return pair if verb.endswith(_O_TO_OES) else pair[::-1]
    return (f"{verb}s",)
