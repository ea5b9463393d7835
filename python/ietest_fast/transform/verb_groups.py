"""Finite verbs with their auxiliaries: read off a sentence, and put into the other voice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ietest_fast.transform.doubt import Doubt

if TYPE_CHECKING:
    from ietest_fast.lexicon.verbs import Verbs
    from ietest_fast.transform.noun_phrases import Person
    from ietest_fast.transform.trees import Sentence

Tense = Literal["present", "past", "modal", "perfect", "progressive", "modal-perfect"]
"""How a group is built: eats, ate, will eat, has eaten, is eating, will have eaten."""

_CLASSES = {
    "finite": "am are is was were",
    "have": "has have had",
    "do": "do does did",
    "modal": "can ca could may might must shall should will wo would",
    "be": "be",
    "been": "been",
    "being": "being",
}
_CLASS_OF = {word: name for name, words in _CLASSES.items() for word in words.split()}
AUXILIARIES = frozenset(_CLASS_OF)
# Classes of the auxiliaries and tag of the verb. "simple" is present or past.
_ACTIVE = {
    ((), "VBZ"): "simple",
    ((), "VBP"): "simple",
    ((), "VBD"): "simple",
    (("do",), "VB"): "simple",
    (("modal",), "VB"): "modal",
    (("have",), "VBN"): "perfect",
    (("finite",), "VBG"): "progressive",
    (("modal", "have"), "VBN"): "modal-perfect",
}
_PASSIVE = {
    ("finite",): "simple",
    ("modal", "be"): "modal",
    ("have", "been"): "perfect",
    ("finite", "being"): "progressive",
    ("modal", "have", "been"): "modal-perfect",
}
_PAST = frozenset({"was", "were", "did"})
_NOT = frozenset({"not", "n't"})
# What the finite verb may agree with.
_SINGULAR, _OTHERS = frozenset({"singular"}), frozenset({"i", "we", "you", "plural"})
_AGREES: dict[str, frozenset[str]] = {
    "am": frozenset({"i"}),
    "is": _SINGULAR,
    "was": frozenset({"i", "singular"}),
    "are": _OTHERS - {"i"},
    "were": _OTHERS - {"i"},
    "has": _SINGULAR,
    "does": _SINGULAR,
    "have": _OTHERS,
    "do": _OTHERS,
}
# Adverbs that say the same of the event in both voices.
_ADVERBS = frozenset(
    "already also briefly completely currently entirely eventually finally first fully gradually "  # noqa: SIM905
    "greatly immediately initially just largely later now originally partly personally presently "
    "previously probably quickly rapidly recently severely simply slowly soon still suddenly then "
    "thus today tomorrow tonight yesterday".split()
)


@dataclass(frozen=True, kw_only=True)
class VerbGroup:
    """A finite verb with its auxiliaries."""

    span: range
    """From the first auxiliary, or an adverb before the verb, to the verb."""
    verb: int
    """The main verb."""
    tense: Tense
    """How it is built, in the active voice."""
    is_past: bool
    """Whether the finite verb is a form of the past, as far as that is needed."""
    finite: str
    """The word that agrees with the subject, in small letters."""
    negation: str
    """``"not"``, ``"n't"`` or nothing."""
    is_joined: bool
    """Whether *not* is part of a word: *cannot*."""
    adverbs: tuple[str, ...]
    """Those between the words of the group, as written."""


def read_verb_group(sentence: Sentence, verb: int, *, is_passive: bool) -> VerbGroup:
    """Read the auxiliaries of a verb."""
    auxiliaries = sentence.children(verb, "aux", "aux:pass")
    if auxiliaries and auxiliaries[-1] > verb:
        raise Doubt("an auxiliary stands behind the verb")
    first = auxiliaries[0] if auxiliaries else verb
    negations, adverbs = _read_adverbs(sentence, verb, first)
    if auxiliaries and adverbs and adverbs[0] < first:
        raise Doubt("an adverb stands before the auxiliaries")
    begin = min([first, *adverbs])
    if set(range(begin, verb)) != {*auxiliaries, *adverbs, *negations}:
        raise Doubt("something stands between the words of the verb group")
    words = [sentence.lower[i] for i in auxiliaries]
    kind = _kind(words, sentence.tags[verb], is_passive=is_passive)
    finite = words[0] if words else sentence.lower[verb]
    is_past = finite in _PAST or (not words and sentence.tags[verb] == "VBD")
    tense = kind if kind != "simple" else "past" if is_past else "present"
    return VerbGroup(
        span=range(begin, verb + 1),
        verb=verb,
        tense=tense,  # type: ignore[arg-type]
        is_past=is_past,
        finite=finite,
        negation="".join(sentence.lower[i] for i in negations),
        is_joined=any(sentence.lower[i] == "not" and not sentence.spaces[i] for i in negations),
        adverbs=tuple(sentence.words[i] for i in adverbs),
    )


def _read_adverbs(sentence: Sentence, verb: int, first: int) -> tuple[list[int], list[int]]:
    """Return negations and other adverbs of a verb that stand in its group."""
    negations, adverbs = [], []
    for child in sentence.children(verb, "advmod"):
        if not first - 1 <= child < verb:
            continue
        if sentence.lower[child] in _NOT:
            negations.append(child)
        elif sentence.lower[child] in _ADVERBS and not sentence.children(child):
            adverbs.append(child)
        else:
            raise Doubt("an adverb may say something else in the other voice")
    if len(negations) > 1 or (negations and negations[0] != first + 1):
        raise Doubt("a negation stands elsewhere")
    return negations, adverbs


def _kind(words: list[str], tag: str, *, is_passive: bool) -> str:
    classes = tuple(_CLASS_OF.get(word, "") for word in words)
    if is_passive:
        kind = _PASSIVE.get(classes) if tag == "VBN" else None
    else:
        # The base form is the present of all but one person.
        kind = _ACTIVE.get((classes, "VB" if tag == "VBP" and words else tag))
    if kind is None or (kind == "modal-perfect" and words[1] != "have"):
        raise Doubt("no verb group that is known")
    return kind


def check_agreement(sentence: Sentence, group: VerbGroup, person: Person, verbs: Verbs) -> None:
    """Stop unless the verb agrees with its subject, as far as both can be told."""
    allowed = _AGREES.get(group.finite, _SINGULAR | _OTHERS)
    if group.finite == sentence.lower[group.verb]:
        tag = sentence.tags[group.verb]
        allowed = {"VBZ": _SINGULAR, "VBP": _OTHERS}.get(tag, _SINGULAR | _OTHERS)
        is_base = verbs.lemma(group.finite, "VB") is not None
        if is_base and person != "singular" and verbs.lemma(group.finite, "VBD") is not None:
            raise Doubt("past and present look alike")
    if person not in allowed:
        raise Doubt("subject and verb do not agree")


_REST_OF_PASSIVE: dict[Tense, str] = {
    "present": "",
    "past": "",
    "modal": "be ",
    "perfect": "been ",
    "progressive": "being ",
    "modal-perfect": "have been ",
}


def write_passive(sentence: Sentence, group: VerbGroup, person: Person, verbs: Verbs) -> str:
    """Return the passive of an active verb group whose new subject is `person`."""
    word, tag = sentence.lower[group.verb], sentence.tags[group.verb]
    participle: str | None = word
    if tag == "VBD":
        participle = verbs.participle_of_past(word)
    elif tag != "VBN":
        lemma = verbs.lemma(word, tag)
        participle = None if lemma is None else verbs.participle(lemma)
    if participle is None:
        raise Doubt("the participle is not known")
    simple = _be(person, is_past=group.is_past)
    first = simple if group.tense in {"present", "past"} else _agreeing(group, person)
    return _join(first, group, f"{_REST_OF_PASSIVE[group.tense]}{participle}")


def write_active(sentence: Sentence, group: VerbGroup, person: Person, verbs: Verbs) -> str:
    """Return the active of a passive verb group whose new subject is `person`."""
    participle = sentence.lower[group.verb]
    lemma = verbs.lemma(participle, "VBN")
    past = verbs.past_of_participle(participle)
    if lemma is None or past is None:
        raise Doubt("the verb is not known")
    if group.tense in {"present", "past"}:
        is_third = person == "singular"
        if group.negation:
            does = "did" if group.is_past else "does" if is_third else "do"
            return _join(does, group, lemma)
        verb = past if group.is_past else verbs.third(lemma) if is_third else lemma
        return " ".join([*group.adverbs, verb])
    rest = {
        "modal": lemma,
        "perfect": participle,
        "progressive": verbs.gerund(lemma),
        "modal-perfect": f"have {participle}",
    }
    return _join(_agreeing(group, person), group, rest[group.tense])


def _agreeing(group: VerbGroup, person: Person) -> str:
    """Return the first auxiliary with another subject."""
    if group.tense == "progressive":
        return _be(person, is_past=group.is_past)
    if group.tense == "perfect" and group.finite != "had":
        return "has" if person == "singular" else "have"
    return group.finite


def _be(person: Person, *, is_past: bool) -> str:
    if is_past:
        return "was" if person in {"i", "singular"} else "were"
    return {"i": "am", "singular": "is"}.get(person, "are")


def _join(first: str, group: VerbGroup, rest: str) -> str:
    """Put the words of a group together."""
    if group.negation == "n't":
        if first == "am":
            raise Doubt("am has no short negation")
        first = f"{first}n't"
    elif group.negation:
        first = f"{first}{'' if group.is_joined else ' '}{group.negation}"
    elif first in {"ca", "wo"}:
        raise Doubt("half of a word")
    return " ".join([first, *group.adverbs, rest])
