"""Constituents of a symmetric relation in the other order (thesis, section 4.2.2)."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ietest_fast.transform.kinds import PlannedTransformation, TransformationKind, take_several
from ietest_fast.transform.syntax.coordinations import swap_coordination
from ietest_fast.transform.syntax.rewriting import (
    Rewritten,
    SyntacticTransformation,
    find_texts_with,
    plan_syntactic,
)
from ietest_fast.transform.syntax.trees import (
    NOUN_TAGS,
    OTHERS,
    Doubt,
    only,
    read_noun_phrase,
    write_noun_phrase,
)
from ietest_fast.transform.syntax.voice import SyntaxOptions
from ietest_fast.transform.syntax.voice_rules import check_whole

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ietest_fast.lexicon.token_table import TokenParses
    from ietest_fast.lexicon.wordnet import WordNet
    from ietest_fast.transform.syntax.trees import NounPhrase, Sentence


# Two of the permutations: a sentence with its tree becomes the same sentence in another order.

_BE = frozenset({"is", "was", "are", "were"})
_MARKS = frozenset({".", "!"})
_ADJECTIVES = frozenset({"JJ"})
# Their order says which noun they belong to, or they are no qualities of one thing.
_NOT_ALONE = frozenset(
    "afraid alike alive alleged alone asleep awake aware certain chief entire erstwhile "  # noqa: SIM905
    "ex fake false former future last late main mere next old only other own potential "
    "present previous real same sheer so-called sole such true utter very".split()
)
# Adjectives that say of what kind something is: nobody says that a measure is budgetary.
_OF_A_KIND = re.compile(r"(?:al|ary|ic|ive|..ed|en)$|^(?:several|many|few)$")
_RELATIVES = frozenset({"that", "who", "which"})
_OWN = frozenset("her his its their my your our".split())  # noqa: SIM905


def swap_copula(sentence: Sentence, wordnet: WordNet) -> str:
    """Return *The lead singer was Iggy Pop* for *Iggy Pop was the lead singer*."""
    if len(sentence.roots) != 1:
        raise Doubt("several roots")
    root = sentence.roots[0]
    (verb,) = only(sentence.children(root, "cop"))
    (subject,) = only(sentence.children(root, "nsubj"))
    if sentence.lower[verb] not in _BE or sentence.spaces[verb] != " ":
        raise Doubt("the verb is none of is, was, are, were")
    known = {verb, subject}
    heads = list(sentence.heads)
    for child in sentence.children(root):
        is_mark = sentence.relations[child] == "punct" and sentence.words[child] in _MARKS
        if child in known or (is_mark and child > root):
            heads[child] = verb
    # The predicate without what is said of the sentence.
    heads[verb] = verb
    predicate = read_noun_phrase(dataclasses.replace(sentence, heads=tuple(heads)), root)
    first = read_noun_phrase(sentence, subject)
    end = len(sentence)
    while end and sentence.words[end - 1] in _MARKS:
        end -= 1
    if first.span != range(verb) or predicate.span != range(verb + 1, end):
        raise Doubt("something else stands beside subject and predicate")
    check_whole(sentence, first, wordnet)
    check_whole(sentence, predicate, wordnet)
    _check_identity(sentence, first, predicate)
    for phrase in (first, predicate):  # "The paint is Gothic"
        if len(phrase.span) == 1 and wordnet.senses(sentence.lower[phrase.head], "a"):
            raise Doubt("an adjective")
    if any(sentence.lower[i] in _OWN for i in (*first.span, *predicate.span)):
        raise Doubt("a possessive may refer to the other one")

    begin = write_noun_phrase(sentence, predicate, "subject", wordnet)
    if sentence.words[0][0].isupper():
        begin = begin[0].upper() + begin[1:]
    what = write_noun_phrase(sentence, first, "object", wordnet)
    tail = "".join(sentence.spaces[i] + sentence.words[i] for i in range(end, len(sentence)))
    return f"{begin} {sentence.words[verb]} {what}{tail}"


def _check_identity(sentence: Sentence, first: NounPhrase, second: NounPhrase) -> None:
    """Stop unless both phrases name one thing each, or as many."""
    for phrase in (first, second):
        begins = sentence.lower[phrase.span.start]
        is_name = sentence.tags[phrase.head].startswith("NNP")
        if sentence.children(phrase.head, "case", "advmod"):
            raise Doubt("something else is said of it")
        if phrase.is_pronoun or not (begins == "the" or (is_name and begins not in {"a", "an"})):
            raise Doubt("not both are definite")
        if is_name and begins != "the" and sentence.children(phrase.head, "det", "nmod"):
            raise Doubt("a name with something else")
    if not OTHERS.isdisjoint(sentence.lower[i] for i in (*first.span, *second.span)):
        raise Doubt("one refers to the other")
    if first.person != second.person:
        raise Doubt("one is singular, one plural")
    is_plural = sentence.lower[first.span.stop] in {"are", "were"}
    if is_plural != (first.person == "plural"):
        raise Doubt("subject and verb do not agree")


def swap_adjectives(sentence: Sentence, wordnet: WordNet) -> str:
    """Return *a large ball that is red* for *a red ball that is large*."""
    for clause, relation in enumerate(sentence.relations):
        if relation != "acl:relcl" or sentence.tags[clause] not in _ADJECTIVES:
            continue
        noun = sentence.heads[clause]
        inside = sentence.span(clause)
        if inside is None or inside != range(noun + 1, noun + 4) or clause != noun + 3:
            continue
        if sentence.lower[noun + 1] not in _RELATIVES or sentence.lower[noun + 2] not in _BE:
            continue
        before = [i for i in sentence.children(noun, "amod") if sentence.tags[i] in _ADJECTIVES]
        if not all(wordnet.senses(sentence.lower[i], "a") for i in (clause, *before)):
            continue
        if any(_OF_A_KIND.search(sentence.lower[i]) for i in (clause, *before)):
            continue
        words = {sentence.lower[clause], *(sentence.lower[i] for i in before)}
        if before != [noun - 1] or not _NOT_ALONE.isdisjoint(words):
            continue
        if sentence.children(before[0]) or sentence.tags[noun] not in NOUN_TAGS:
            continue
        return _with_words(
            sentence, {before[0]: sentence.words[clause], clause: sentence.words[before[0]]}
        )
    raise Doubt("not the construction")


_VOWELS = frozenset("aeiou")


def _with_words(sentence: Sentence, new: dict[int, str]) -> str:
    """Return the sentence with other words; *a* or *an* before one is repaired."""
    words = list(sentence.words)
    for i, word in new.items():
        if i == 0 or word[0].isupper():
            raise Doubt("a capital")
        words[i] = word
        article = sentence.lower[i - 1]
        if article in {"a", "an"}:
            old, fresh = sentence.words[i][0] in _VOWELS, word[0] in _VOWELS
            if (article == "an") != old or word.startswith(("h", "u", "eu", "one")):
                raise Doubt("an article that does not follow the spelling")
            words[i - 1] = ("An" if words[i - 1][0] == "A" else "an") if fresh else words[i - 1][0]
    return "".join(space + word for space, word in zip(sentence.spaces, words, strict=True))


Construction = Literal["copula", "relative", "coordination"]
ALL: tuple[Construction, ...] = ("copula", "relative", "coordination")

_WAYS = {"copula": swap_copula, "relative": swap_adjectives, "coordination": swap_coordination}
# A tree without such a relation has nothing to permute.
_RELATIONS = {"copula": "cop", "relative": "acl:relcl", "coordination": "conj"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Permutation(SyntacticTransformation):
    """Exchange what a sentence relates symmetrically."""

    constructions: tuple[Construction, ...] = ALL
    """``"copula"``: *Iggy Pop was the lead singer* and *The lead singer was Iggy Pop*;
    ``"relative"``: *a red ball that is large* and *a large ball that is red*; ``"coordination"``:
    *a man and a woman* and *a woman and a man*. Of a sentence the first that it has is permuted."""

    @property
    def name(self) -> str:
        """``"permute"``."""
        return "permute"

    @property
    def options(self) -> dict[str, Any]:
        """The constructions."""
        return {"constructions": [each for each in ALL if each in self.constructions]}

    def find_candidates(self, parses: TokenParses) -> npt.NDArray[np.bool_]:
        """Return which texts have one of the constructions' relations."""
        return find_texts_with(parses, [_RELATIONS[each] for each in self.constructions])

    def rewrite(self, sentence: Sentence) -> list[Rewritten]:
        """Return the sentence with its constituents in the other order."""
        found = []
        for each in ALL:
            if each not in self.constructions:
                continue
            try:
                found.append(Rewritten(_WAYS[each](sentence, self.wordnet), each))
            except Doubt:
                continue
        return found


class PermutationOptions(SyntaxOptions):
    """What the permutation of constituents can be told."""

    constructions: Annotated[tuple[Construction, ...], BeforeValidator(take_several)] = Field(
        ALL,
        min_length=1,
        description="copula, relative, coordination: what to permute; may be repeated",
    )


def _plan_permutation(options: PermutationOptions) -> PlannedTransformation:
    from ietest_fast.lexicon.annotator import Parser
    from ietest_fast.lexicon.wordnet import WordNet

    parser = Parser.load(options.parser)
    made = Permutation(
        parser=parser, wordnet=WordNet.packaged(), constructions=options.constructions
    )
    return plan_syntactic(made)


PERMUTE = TransformationKind(
    name="permute",
    summary="exchanges what a copula, a relative clause or a coordination relates",
    options=PermutationOptions,
    plan=_plan_permutation,
    language="English",
)
