"""The permutations: a sentence with its tree becomes the same sentence in another order."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from ietest_fast.transform.doubt import Doubt
from ietest_fast.transform.noun_phrases import (
    NOUN_TAGS,
    QUANTIFIERS,
    read_noun_phrase,
    uncapitalise,
    write_noun_phrase,
)
from ietest_fast.transform.voice_rules import MEASURES, WORN, check_whole, nouns_of

if TYPE_CHECKING:
    from ietest_fast.lexicon.wordnet import WordNet
    from ietest_fast.transform.noun_phrases import NounPhrase
    from ietest_fast.transform.trees import Sentence

_BE = frozenset({"is", "was", "are", "were"})
_MARKS = frozenset({".", "!"})
_ADJECTIVES = frozenset({"JJ"})
# Their order says which noun they belong to, or they are no qualities of one thing.
_NOT_ALONE = frozenset(
    "afraid alike alive alleged alone asleep awake aware certain chief entire erstwhile "  # noqa: SIM905
    "ex fake false former future last late main mere next old only other own potential "
    "present previous real same sheer so-called sole such true utter very".split()
)
# Adjectives that say of what kind something is; of nothing one says that it is budgetary.
_OF_A_KIND = re.compile(r"(?:al|ary|ic|ive|..ed|en)$|^(?:several|many|few)$")
_RELATIVES = frozenset({"that", "who", "which"})
_OWN = frozenset("her his its their my your our".split())  # noqa: SIM905
_OTHERS = frozenset("another else other others rest same".split())  # noqa: SIM905
_PLURAL_VERBS = frozenset("are were have".split())  # noqa: SIM905
_PAIR_WORDS = frozenset("both either neither respectively then between".split())  # noqa: SIM905
# Expressions whose order is fixed.
_FIXED_PAIRS = (
    "arts+crafts back+forth bacon+eggs bed+breakfast black+white body+soul bow+arrow "
    "bread+butter business+pleasure cat+mouse cause+effect cheese+crackers chips+salsa "
    "cops+robbers country+western day+night drum+bass fish+chips flesh+blood food+drink "
    "fruits+vegetables goods+services ham+cheese hammer+sickle health+safety heart+soul "
    "heaven+earth hide+seek hook+ladder horse+carriage hugs+kisses hustle+bustle king+queen "
    "knife+fork ladies+gentlemen law+order life+death lock+key macaroni+cheese man+wife "
    "meat+potatoes mom+pop needle+thread nuts+bolts odds+ends peanut+jelly pen+ink "
    "profit+loss pros+cons research+development rock+roll salt+pepper search+rescue "
    "shoes+socks skin+bone sugar+spice suit+tie supply+demand terms+conditions "
    "thunder+lightning time+money track+field trial+error ups+downs war+peace"
)
_FIXED = frozenset(tuple(pair.split("+")) for pair in _FIXED_PAIRS.split())


def swap_copula(sentence: Sentence, wordnet: WordNet) -> str:
    """Return *The lead singer was Iggy Pop* for *Iggy Pop was the lead singer*.

    Raises
    ------
    Doubt
        If the sentence does not say of one thing that it is another, both definite, or of more.
    """
    if len(sentence.roots) != 1:
        raise Doubt("several roots")
    root = sentence.roots[0]
    (verb,) = _only(sentence.children(root, "cop"))
    (subject,) = _only(sentence.children(root, "nsubj"))
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
    if any(sentence.lower[i] in _OWN for i in (*first.span, *predicate.span)):
        raise Doubt("a possessive may refer to the other one")

    begin = write_noun_phrase(sentence, predicate, "subject", wordnet)
    if sentence.words[0][0].isupper():
        begin = begin[0].upper() + begin[1:]
    what = write_noun_phrase(sentence, first, "object", wordnet)
    tail = "".join(sentence.spaces[i] + sentence.words[i] for i in range(end, len(sentence)))
    return f"{begin} {sentence.words[verb]} {what}{tail}"


def _only(found: tuple[int, ...]) -> tuple[int, ...]:
    if len(found) != 1:
        raise Doubt("not the construction")
    return found


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
    if not _OTHERS.isdisjoint(sentence.lower[i] for i in (*first.span, *second.span)):
        raise Doubt("one refers to the other")
    if first.person != second.person:
        raise Doubt("one is singular, one plural")
    is_plural = sentence.lower[first.span.stop] in {"are", "were"}
    if is_plural != (first.person == "plural"):
        raise Doubt("subject and verb do not agree")


def swap_adjectives(sentence: Sentence, wordnet: WordNet) -> str:
    """Return *a large ball that is red* for *a red ball that is large*.

    Raises
    ------
    Doubt
        If there is no noun with one adjective before it and one in a relative clause.
    """
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


def swap_coordination(sentence: Sentence, wordnet: WordNet) -> str:
    """Return *a woman and a man* for *a man and a woman*.

    The first coordination of two nouns with *and* or *or* that can be exchanged is.

    Raises
    ------
    Doubt
        If there is none.
    """
    for second, relation in enumerate(sentence.relations):
        if relation != "conj":
            continue
        try:
            return _exchange(sentence, sentence.heads[second], second, wordnet)
        except Doubt:
            continue
    raise Doubt("no coordination that can be exchanged")


def _exchange(sentence: Sentence, first: int, second: int, wordnet: WordNet) -> str:
    (conjunction,) = _only(sentence.children(second, "cc"))
    _only(sentence.children(first, "conj"))
    if sentence.lower[conjunction] not in {"and", "or"} or sentence.children(conjunction):
        raise Doubt("another conjunction")
    tags = (sentence.tags[first], sentence.tags[second])
    if sentence.relations[first] in {"conj", "compound", "amod", "flat"}:
        raise Doubt("part of something else")
    if sentence.children(second, "conj"):
        raise Doubt("more than two")
    if sentence.words[conjunction] != sentence.lower[conjunction]:
        raise Doubt("a name")
    if not set(tags) <= NOUN_TAGS or (tags[0] in _NAMES) != (tags[1] in _NAMES):
        raise Doubt("no two nouns, or a name and a noun")
    left, right = _member(sentence, first), _member(sentence, second)
    if left.stop != conjunction or right.start != conjunction + 1:
        raise Doubt("something else stands between")
    _check_members(sentence, left, right, wordnet)
    _check_around(sentence, left, right, wordnet)
    words = sentence.lower
    if not _PAIR_WORDS.isdisjoint(words) or not QUANTIFIERS.isdisjoint(
        words[i] for i in (*left, *right)
    ):
        raise Doubt("the order may be meant")
    pieces = [sentence.write(right), sentence.words[conjunction], sentence.write(left)]
    if left.start == 0 and sentence.words[0][0].isupper():
        pieces[2] = _small(sentence, left, wordnet)
        pieces[0] = pieces[0][0].upper() + pieces[0][1:]
    whole = " ".join(pieces)
    before = "".join(sentence.spaces[i] + sentence.words[i] for i in range(left.start))
    after = "".join(
        sentence.spaces[i] + sentence.words[i] for i in range(right.stop, len(sentence))
    )
    return f"{before}{sentence.spaces[left.start]}{whole}{after}"


_NAMES = frozenset({"NNP", "NNPS"})
_FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
_BEFORE_NOUN = frozenset("det amod compound nummod".split())  # noqa: SIM905


def _member(sentence: Sentence, noun: int) -> range:
    """Return a noun with what stands before it; nothing may stand behind."""
    start = noun
    for child in sentence.children(noun):
        relation = sentence.relations[child]
        if child > noun:
            if relation not in {"conj", "cc", "punct"} and sentence.relations[noun] == "conj":
                raise Doubt("what follows may belong to both")
            continue
        if relation in _BEFORE_NOUN:
            start = min([start, *sentence.subtree(child)])
        elif relation not in {"cc", "case", "nmod:poss", "punct", "mark"}:
            raise Doubt("something else hangs on a noun")
        if relation == "nmod:poss":
            raise Doubt("a possessive may belong to both")
    return range(start, noun + 1)


def _check_members(sentence: Sentence, left: range, right: range, wordnet: WordNet) -> None:
    """Stop if the two are one expression, or what stands before the first belongs to both."""
    both = [[i for i in member if sentence.tags[i] != "DT"] for member in (left, right)]
    determined = [sentence.tags[member.start] in {"DT", "CD"} for member in (left, right)]
    if determined[0] != determined[1]:
        raise Doubt("a determiner may belong to both")
    is_bare = not determined[0] and any(len(member) > 1 for member in both)
    if is_bare and sentence.tags[left.stop - 1] not in _NAMES:
        raise Doubt("a modifier may belong to both")
    if any(sentence.tags[i] == "PRP$" for i in (*left, *right)):
        raise Doubt("a possessive may refer to the other one")
    nouns = [sentence.lower[member.stop - 1] for member in (left, right)]
    bases = [nouns_of(wordnet, noun) for noun in nouns]
    if not MEASURES.isdisjoint(bases[0] | bases[1]):
        raise Doubt("a measure")
    if not _OTHERS.isdisjoint(sentence.lower[i] for i in (*left, *right)):
        raise Doubt("one refers to the other")
    if nouns[0] == nouns[1]:
        raise Doubt("the same noun twice")
    for one in bases[0]:
        for other in bases[1]:
            if (one, other) in _FIXED or (other, one) in _FIXED:
                raise Doubt("a fixed expression")
            if f"{one}_and_{other}" in wordnet or f"{other}_and_{one}" in wordnet:
                raise Doubt("a fixed expression")


def _check_around(sentence: Sentence, left: range, right: range, wordnet: WordNet) -> None:
    """Stop if what stands before or behind shows that the two are not what they look like."""
    is_name = sentence.tags[left.stop - 1] in _NAMES
    before, after = left.start - 1, right.stop
    is_subject = sentence.relations[left.stop - 1].startswith("nsubj")
    # "Johnson and Johnson" is one, "Kal and Thorn were" are two.
    are_two = is_subject and after < len(sentence) and sentence.lower[after] in _PLURAL_VERBS
    is_place = before >= 0 and sentence.lower[before] in {"in", "across", "throughout"}
    if is_name and not (are_two or is_place):
        raise Doubt("a name of several words")
    is_of_one = sentence.relations[left.stop - 1] == "nmod" and before >= 0
    if is_of_one and sentence.lower[before] not in {"of", "between", "among", "with"}:
        raise Doubt("the second may stand beside the noun before")
    if after < len(sentence):
        tag = sentence.tags[after]
        # "Dewey and Finn LLP", "Johnson and Johnson's"
        if (is_name and tag in _NAMES) or tag == "POS" or sentence.relations[after] == "compound":
            raise Doubt("a name or a compound of both")
        if sentence.lower[after] in {"in", "with"} and _is_worn(sentence, after, wordnet):
            raise Doubt("what follows may belong to the second")
        if tag in {"VBG", "VBN"}:
            raise Doubt("what follows may belong to the second")
        if tag in _FINITE and not is_subject:
            raise Doubt("the second may be the subject of another clause")
        if before >= 0 and {sentence.tags[before], tag} == {"IN"}:
            raise Doubt("what stands before and behind may belong to one of both")
    noun = sentence.lower[right.stop - 1]
    if len(noun) < 2 or noun in {"one", "ones"}:
        raise Doubt("an abbreviation or a pronoun")
    if len(right) == 1 and sentence.tags[right.start] == "NN" and wordnet.base_forms(noun, "v"):
        raise Doubt("the second may be a verb")
    head = sentence.heads[left.stop - 1]
    numbers = {sentence.tags[member.stop - 1] in {"NNS", "NNPS"} for member in (left, right)}
    if len(numbers) == 2 and sentence.children(head, "expl"):
        raise Doubt("the verb agrees with the first")
    if len(numbers) == 2 and before >= 0 and sentence.lower[before] == "of":
        raise Doubt("the second may stand beside the noun before")


def _is_worn(sentence: Sentence, preposition: int, wordnet: WordNet) -> bool:
    noun = sentence.lower[sentence.heads[preposition]]
    return not WORN.isdisjoint(nouns_of(wordnet, noun))


def _small(sentence: Sentence, words: range, wordnet: WordNet) -> str:
    return uncapitalise(sentence, sentence.write(words), wordnet)
