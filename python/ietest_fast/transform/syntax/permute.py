"""Constituents of a symmetric relation in the other order (thesis, section 4.2.2)."""

from __future__ import annotations

import dataclasses
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ietest_fast.transform.phi import PlannedTransformation, TransformationKind, take_several
from ietest_fast.transform.syntax.clauses import (
    Rewritten,
    SyntacticTransformation,
    SyntaxOptions,
    find_texts_with,
    plan_syntactic,
)
from ietest_fast.transform.syntax.trees import (
    MEASURES,
    NOUN_TAGS,
    OTHERS,
    PEOPLE,
    QUANTIFIERS,
    Doubt,
    is_one_of,
    is_verb_form,
    nouns_of,
    only,
    read_noun_phrase,
    uncapitalise,
    write_noun_phrase,
)
from ietest_fast.transform.syntax.voice import check_whole

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ietest_fast.lexicon.token_table import TokenParses
    from ietest_fast.lexicon.wordnet import WordNet
    from ietest_fast.transform.syntax.trees import NounPhrase, Sentence

# Two nouns with *and* or *or* in the other order, where nothing tells which of both is first.


_PAIR_WORDS = frozenset("both either former latter neither respectively then between".split())  # noqa: SIM905
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
    "romeo+juliet shoes+socks skin+bone sugar+spice suit+tie supply+demand terms+conditions "
    "thunder+lightning time+money track+field trial+error ups+downs war+peace"
)
_FIXED = frozenset(tuple(pair.split("+")) for pair in _FIXED_PAIRS.split())
_NAMES = frozenset({"NNP", "NNPS"})
_SINGULAR = frozenset({"NN", "NNP"})
_PLURAL = frozenset({"NNS", "NNPS"})
_FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
_BEFORE_NOUN = frozenset("det amod compound nummod".split())  # noqa: SIM905
_DETERMINERS = frozenset({"DT", "CD"})
_ONE = frozenset({"a", "an", "one"})
_PLURAL_VERBS = frozenset("are were have".split())  # noqa: SIM905
# Said in the order of time.
_DATES = frozenset(
    "january february march april may june july august september october november "  # noqa: SIM905
    "december monday tuesday wednesday thursday friday saturday sunday spring summer "
    "autumn fall winter".split()
)
# Words that belong at the end of a list: "money and the like".
_VAGUE = frozenset("etc like so such stuff thing things".split())  # noqa: SIM905
# What they say depends on what stands before: "France and later America".
_IN_ORDER = frozenset(
    "accompanying associated corresponding even eventually especially finally later "  # noqa: SIM905
    "maybe particularly perhaps possibly related respective resulting sometimes "
    "subsequent".split()
)
_OF_ADVERBS = frozenset({"JJR", "RBR", "RB"})
# What may stand between a subject and its verb.
_OF_VERB = ("aux", "aux:pass", "cop", "advmod")
# Behind them a phrase has ended.
_CLOSING = frozenset(". ! ? ; ) ] \" '' ” --".split())  # noqa: SIM905
# They begin a clause of its own.
_CLAUSE_MARKS = frozenset(
    "after although as because before if since though unless until when whereas while".split()  # noqa: SIM905
)
_OF_PEOPLE = frozenset("he her hers herself him himself his she".split())  # noqa: SIM905
_OF_THINGS = frozenset("it its itself".split())  # noqa: SIM905


def swap_coordination(sentence: Sentence, wordnet: WordNet) -> str:
    """Return *a woman and a man* for *a man and a woman*.

    The first coordination of two nouns with *and* or *or* that can be exchanged is.
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
    (conjunction,) = only(sentence.children(second, "cc"))
    only(sentence.children(first, "conj"))
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
    left, right = _member(sentence, first, wordnet), _member(sentence, second, wordnet)
    if left.stop != conjunction or right.start != conjunction + 1:
        raise Doubt("something else stands between")
    _check_members(sentence, left, right, wordnet)
    _check_before(sentence, left, right)
    _check_kinds(sentence, left, right, wordnet)
    _check_behind(sentence, first, conjunction, right)
    words = sentence.lower
    if not _PAIR_WORDS.isdisjoint(words) or not QUANTIFIERS.isdisjoint(
        words[i] for i in (*left, *right)
    ):
        raise Doubt("the order may be meant")
    pieces = [sentence.write(right), sentence.words[conjunction], sentence.write(left)]
    if left.start == 0 and sentence.words[0][0].isupper():
        pieces[2] = uncapitalise(sentence, sentence.write(left), wordnet)
        pieces[0] = pieces[0][0].upper() + pieces[0][1:]
    whole = " ".join(pieces)
    before, after = (
        sentence.write_on(words) for words in (range(left.start), range(right.stop, len(sentence)))
    )
    return f"{before}{sentence.spaces[left.start]}{whole}{after}"


def _member(sentence: Sentence, noun: int, wordnet: WordNet) -> range:
    """Return a noun with what stands before it; nothing may stand behind."""
    start = noun
    for child in (i for i in sentence.children(noun) if i < noun):
        relation = sentence.relations[child]
        if relation in _BEFORE_NOUN:
            start = min([start, *sentence.subtree(child)])
        elif relation == "nmod:poss":
            raise Doubt("a possessive may belong to both")
        elif relation not in {"cc", "case", "punct", "mark"}:
            raise Doubt("something else hangs on a noun")
    behind = {sentence.relations[i] for i in sentence.children(noun) if i > noun}
    if sentence.relations[noun] == "conj" and not behind <= {"conj", "cc", "punct"}:
        raise Doubt("what follows may belong to both")
    for i in range(start + 1, noun):
        # "a woman wears sunglasses", read as sunglasses of some kind
        is_verb = sentence.tags[i].startswith("VB") or is_verb_form(wordnet, sentence.lower[i])
        if sentence.tags[i] == "DT" or (is_verb and sentence.tags[i - 1] in NOUN_TAGS):
            raise Doubt("a clause that looks like a noun")
    if sentence.tags[noun] in _PLURAL and sentence.lower[start] in _ONE:
        raise Doubt("one of many")
    return range(start, noun + 1)


def _check_members(sentence: Sentence, left: range, right: range, wordnet: WordNet) -> None:
    """Stop if what stands before the first belongs to both, or one refers to the other."""
    both = [[i for i in member if sentence.tags[i] != "DT"] for member in (left, right)]
    determined = [sentence.tags[member.start] in _DETERMINERS for member in (left, right)]
    if determined[0] != determined[1]:
        raise Doubt("a determiner may belong to both")
    is_bare = not determined[0] and any(len(member) > 1 for member in both)
    is_bare |= not determined[0] and _is_modified(sentence, left)
    if is_bare and sentence.tags[left.stop - 1] not in _NAMES:
        raise Doubt("a modifier may belong to both")
    if any(sentence.tags[i] == "PRP$" for i in (*left, *right)):
        raise Doubt("a possessive may refer to the other one")
    if not (OTHERS | _IN_ORDER).isdisjoint(sentence.lower[i] for i in (*left, *right)):
        raise Doubt("one refers to the other")
    if any(sentence.tags[member.start] in _OF_ADVERBS for member in (left, right)):
        raise Doubt("an adverb")
    _check_nouns(sentence, left, right, wordnet)


def _is_modified(sentence: Sentence, left: range) -> bool:
    """Tell whether a participle before a bare noun may say something of it."""
    before = left.start - 1
    if before < 0 or sentence.tags[before] not in {"VBG", "VBN"}:
        return False
    # "as talking books or readers"; but "by reading books or papers"
    is_behind_as = before > 0 and sentence.lower[before - 1] == "as"
    return is_behind_as or sentence.heads[left.stop - 1] != before


def _check_nouns(sentence: Sentence, left: range, right: range, wordnet: WordNet) -> None:
    """Stop if the two are one expression, or one of both is no noun that has a place of its own."""
    nouns = [sentence.lower[member.stop - 1] for member in (left, right)]
    bases = [nouns_of(wordnet, noun) for noun in nouns]
    if not (MEASURES | _DATES).isdisjoint(bases[0] | bases[1]):
        raise Doubt("a measure")
    if not _VAGUE.isdisjoint(nouns):
        raise Doubt("the end of a list")
    if nouns[0] == nouns[1]:
        raise Doubt("the same noun twice")
    pairs = (*itertools.product(*bases), *itertools.product(*bases[::-1]))
    if any(pair in _FIXED or "_and_".join(pair) in wordnet for pair in pairs):
        raise Doubt("a fixed expression")
    noun = nouns[1]
    if len(noun) < 2 or noun in {"one", "ones"}:
        raise Doubt("an abbreviation or a pronoun")
    if len(right) == 1 and sentence.tags[right.start] == "NN" and wordnet.base_forms(noun, "v"):
        raise Doubt("the second may be a verb")
    if len(right) > 1 and noun.endswith("ing") and wordnet.base_forms(noun, "v"):
        raise Doubt("a noun and a participle")  # "by the sea or a lake fishing"
    is_name = sentence.tags[left.stop - 1] in _NAMES
    if not is_name and not all(wordnet.base_forms(noun, "n") for noun in nouns):
        raise Doubt("a word that is not known")


def _check_before(sentence: Sentence, left: range, right: range) -> None:
    """Stop if the first alone has a verb or a name, or the second a place beside a noun before."""
    noun, before, after = left.stop - 1, left.start - 1, right.stop
    are_two_numbers = len({sentence.tags[i.stop - 1] in _PLURAL for i in (left, right)}) == 2
    if are_two_numbers and sentence.children(sentence.heads[noun], "expl"):
        raise Doubt("the verb agrees with the first")
    is_place = before >= 0 and sentence.lower[before] in {"in", "across", "throughout"}
    # "Johnson and Johnson" is one, "Kal and Thorn were" are two.
    are_two = (
        _is_subject(sentence, noun)
        and after < len(sentence)
        and sentence.lower[after] in _PLURAL_VERBS
    )
    if sentence.tags[noun] in _NAMES and not (are_two or is_place):
        raise Doubt("a name of several words")
    if before >= 0:
        _check_noun_before(sentence, left, are_two_numbers=are_two_numbers)


def _check_noun_before(sentence: Sentence, left: range, *, are_two_numbers: bool) -> None:
    """Stop if the second may stand beside a noun before the first."""
    noun, before = left.stop - 1, left.start - 1
    if are_two_numbers and sentence.lower[before] == "of":
        raise Doubt("the second may stand beside the noun before")
    is_determined = sentence.tags[left.start] in _DETERMINERS
    if sentence.tags[before] in NOUN_TAGS and is_determined:
        raise Doubt("the first may belong to a noun before")  # "Kerchak the ape and the hunter"
    # "an apple on a stick and a toy"
    is_beside = sentence.tags[before] == "IN" and sentence.lower[before] not in {"between", "of"}
    is_behind_noun = before > 0 and sentence.tags[before - 1] in NOUN_TAGS
    if is_beside and is_behind_noun and is_determined:
        raise Doubt("the second may stand beside the noun before")
    if all(sentence.relations[i] == "punct" for i in range(left.start)):
        raise Doubt("a capital behind a mark")
    if sentence.relations[noun] != "nmod":
        return
    if sentence.lower[before] not in {"of", "between", "among", "with"}:
        raise Doubt("the second may stand beside the noun before")
    # "a club with a show and a gallery", "a justice of the peace and a legislator"
    above = sentence.heads[noun]
    is_alike = any(
        sentence.tags[i] in _DETERMINERS for i in sentence.children(above, "det", "nummod")
    )
    if is_alike and is_determined and sentence.lower[before] != "between":
        raise Doubt("the second may stand beside the noun before")


def _check_kinds(sentence: Sentence, left: range, right: range, wordnet: WordNet) -> None:
    """Stop if the two are of different kinds, or a pronoun behind may mean one of both."""
    nouns = [member.stop - 1 for member in (left, right)]
    are_people = [
        sentence.tags[i] in _NAMES or is_one_of(PEOPLE, sentence.lower[i], wordnet) for i in nouns
    ]
    is_beside = any(sentence.tags[i] in NOUN_TAGS for i in range(left.start))
    is_alone = sentence.tags[left.start] in _DETERMINERS and not _is_subject(sentence, nouns[0])
    # "a man holding a sign and a girl"
    if is_alone and is_beside and are_people[0] != are_people[1]:
        raise Doubt("the second may stand beside a noun before")
    words = {sentence.lower[i] for i in range(right.stop, len(sentence))}
    for i, is_person in zip(nouns, are_people, strict=True):
        pronouns = _OF_PEOPLE if is_person else _OF_THINGS
        if sentence.tags[i] in _SINGULAR and not pronouns.isdisjoint(words):
            raise Doubt("a pronoun may refer to one of both")


def _check_behind(sentence: Sentence, first: int, conjunction: int, right: range) -> None:
    """Stop unless what stands behind the second surely does not belong to it alone."""
    after = right.stop
    if after == len(sentence) or sentence.words[after] in _CLOSING:
        return
    if _is_subject(sentence, first):
        _check_verb(sentence, first, conjunction, after)
    elif sentence.words[after] == ",":
        behind = after + 1
        if behind < len(sentence) and not (
            sentence.tags[behind] == "CC"
            or _begins_clause(sentence, behind)
            or _begins_subject(sentence, behind)
        ):
            raise Doubt("what follows may belong to the second")
    elif sentence.tags[after] == "CC":
        verb = sentence.heads[after]
        if verb < after or not sentence.tags[verb].startswith("VB"):
            raise Doubt("more than two")
    elif not _begins_clause(sentence, after):
        raise Doubt("what follows may belong to the second")


def _is_subject(sentence: Sentence, noun: int) -> bool:
    return sentence.relations[noun].startswith("nsubj")


def _check_verb(sentence: Sentence, first: int, conjunction: int, after: int) -> None:
    """Stop unless the verb of a subject follows at once, and agrees with two."""
    head = sentence.heads[first]
    group = {head, *sentence.children(head, *_OF_VERB)}
    # The base form is the present of all but one person, whatever its tag.
    verbs = _FINITE | {"VB"}
    finite = next((i for i in range(after, len(sentence)) if sentence.tags[i] in verbs), None)
    if finite is None or not group.issuperset(range(after, finite + 1)):
        raise Doubt("something stands between subject and verb")
    is_singular = sentence.tags[finite] == "VBZ" or sentence.lower[finite] == "was"
    if sentence.lower[conjunction] == "and" and is_singular:
        raise Doubt("the verb agrees with one of both")
    second = after - 1
    numbers = {sentence.tags[i] in _PLURAL for i in (first, second)}
    if sentence.lower[conjunction] == "or" and len(numbers) == 2:
        raise Doubt("the verb agrees with the second")


def _begins_clause(sentence: Sentence, word: int) -> bool:
    return sentence.lower[word] in _CLAUSE_MARKS and (
        sentence.relations[word] == "mark" or sentence.tags[word] == "WRB"
    )


def _begins_subject(sentence: Sentence, word: int) -> bool:
    """Tell whether the subject of the main clause begins with a word."""
    return any(
        sentence.subtree(subject)[0] == word
        for root in sentence.roots
        for subject in sentence.children(root, "nsubj", "nsubj:pass")
    )


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
    predicate = _read_predicate(sentence, root, verb, subject)
    first = read_noun_phrase(sentence, subject)
    end = sentence.end_before(_MARKS)
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
    tail = sentence.write_on(range(end, len(sentence)))
    return f"{begin} {sentence.words[verb]} {what}{tail}"


def _read_predicate(sentence: Sentence, root: int, verb: int, subject: int) -> NounPhrase:
    """Read the predicate without the copula, the subject and the final marks, which hang on it."""
    heads = list(sentence.heads)
    for child in sentence.children(root):
        is_mark = sentence.relations[child] == "punct" and sentence.words[child] in _MARKS
        if child in {verb, subject} or (is_mark and child > root):
            heads[child] = verb
    heads[verb] = verb
    return read_noun_phrase(dataclasses.replace(sentence, heads=tuple(heads)), root)


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
        before = sentence.heads[clause] - 1
        if relation == "acl:relcl" and _are_alike(sentence, before, clause, wordnet):
            words = {before: sentence.words[clause], clause: sentence.words[before]}
            return _with_words(sentence, words)
    raise Doubt("not the construction")


def _are_alike(sentence: Sentence, before: int, clause: int, wordnet: WordNet) -> bool:
    """Tell whether an adjective stands before a noun, and one of its kind in a clause behind."""
    noun = before + 1
    adjectives = [i for i in sentence.children(noun, "amod") if sentence.tags[i] in _ADJECTIVES]
    if adjectives != [before] or sentence.children(before):
        return False
    if sentence.tags[noun] not in NOUN_TAGS or sentence.tags[clause] not in _ADJECTIVES:
        return False
    if clause != noun + 3 or sentence.span(clause) != range(noun + 1, noun + 4):
        return False
    if sentence.lower[noun + 1] not in _RELATIVES or sentence.lower[noun + 2] not in _BE:
        return False
    return all(
        word not in _NOT_ALONE and not _OF_A_KIND.search(word) and wordnet.senses(word, "a")
        for word in (sentence.lower[clause], sentence.lower[before])
    )


_VOWELS = frozenset("aeiou")


def _with_words(sentence: Sentence, new: dict[int, str]) -> str:
    """Return the sentence with other words; *a* or *an* before one is repaired."""
    words = list(sentence.words)
    for i, word in new.items():
        if i == 0 or word[0].isupper():
            raise Doubt("a capital")
        words[i] = word
        article = sentence.lower[i - 1]
        if article not in {"a", "an"}:
            continue
        was_vowel = sentence.words[i][0] in _VOWELS
        if (article == "an") != was_vowel or word.startswith(("h", "u", "eu", "one")):
            raise Doubt("an article that does not follow the spelling")
        words[i - 1] = words[i - 1][0] + ("n" if word[0] in _VOWELS else "")
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

    name = "permute"

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
        for each in self.options["constructions"]:
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
    return plan_syntactic(Permutation, options, constructions=options.constructions)


PERMUTE = TransformationKind(
    name="permute",
    summary="exchanges what a copula, a relative clause or a coordination relates",
    options=PermutationOptions,
    plan=_plan_permutation,
    language="English",
)
