"""Active and passive clauses, read off a sentence with its tree where nothing is doubtful."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ietest_fast.transform.doubt import Doubt, only
from ietest_fast.transform.noun_phrases import read_noun_phrase
from ietest_fast.transform.verb_groups import AUXILIARIES, read_verb_group

if TYPE_CHECKING:
    from ietest_fast.transform.noun_phrases import NounPhrase
    from ietest_fast.transform.trees import Sentence
    from ietest_fast.transform.verb_groups import VerbGroup

_PARTS = frozenset({"nsubj", "nsubj:pass", "obj", "obl:agent", "aux", "aux:pass", "compound:prt"})
_AUXILIARY = frozenset({"aux", "aux:pass", "cop"})
_NAMES = frozenset({"NNP", "NNPS"})
# Dependents of the verb that may stand around its parts.
_AROUND = frozenset({"obl", "advmod", "cc", "discourse"})
_MARKS = frozenset({",", ".", "!"})
_ODD = frozenset("\" “ ” '' `` ( ) [ ] : ; -- – — ... …".split())  # noqa: SIM905
# "watched the film last night"
_TIMES = frozenset(
    "afternoon day evening friday monday month morning night saturday summer sunday thursday time "  # noqa: SIM905
    "today tomorrow tonight tuesday wednesday week weekend winter year yesterday".split()
)
# What is said with them may change with the order of the words.
_LIMITING = frozenset(
    "alone always any each especially ever every exclusively hardly herself himself "  # noqa: SIM905
    "itself mainly merely mostly never no nor often only rarely seldom solely sometimes "
    "themselves together usually without".split()
)
_COMPARING = frozenset({"as", "like", "unlike"})
# What may follow on an object: a preposition, an adverb, a conjunction, a comma, a time.
_BEGINS_ANOTHER = frozenset({"IN", "TO", "RB", "RP", "CC", "WRB", ","})


@dataclass(frozen=True, kw_only=True)
class Clause:
    """The main clause of a sentence with a subject, a verb group and an object or an agent."""

    subject: NounPhrase
    """In front of the verb group."""
    group: VerbGroup
    """The verb."""
    other: NounPhrase
    """The object of an active clause, the agent (without *by*) of a passive one."""
    particle: int | None
    """Of a phrasal verb, or None."""
    between: range
    after: range
    """What stands between the verb, with its particle, and the object or *by*; and what stands
    behind, up to the final mark."""


def read_active(sentence: Sentence) -> Clause:
    """Read an active clause with a direct object."""
    verb = _read_verb(sentence)
    (subject,) = only(sentence.children(verb, "nsubj"))
    (other,) = only(sentence.children(verb, "obj"))
    if not subject < verb < other:
        raise Doubt("subject, verb and object stand in another order")
    phrase = read_noun_phrase(sentence, other)
    return _assemble(
        sentence,
        read_noun_phrase(sentence, subject),
        read_verb_group(sentence, verb, is_passive=False),
        phrase,
        phrase.span,
    )


def read_passive(sentence: Sentence) -> Clause:
    """Read a passive clause with an agent."""
    verb = _read_verb(sentence)
    (subject,) = only(sentence.children(verb, "nsubj:pass"))
    (other,) = only(sentence.children(verb, "obl:agent"))
    case = sentence.children(other, "case")
    if [sentence.lower[i] for i in case] != ["by"] or not subject < verb < case[0] < other:
        raise Doubt("subject, verb and agent stand in another order")
    # The agent is what is left without the preposition.
    heads = list(sentence.heads)
    heads[case[0]] = verb
    phrase = read_noun_phrase(dataclasses.replace(sentence, heads=tuple(heads)), other)
    if phrase.span.start != case[0] + 1:
        raise Doubt("the agent stands elsewhere")
    return _assemble(
        sentence,
        read_noun_phrase(sentence, subject),
        read_verb_group(sentence, verb, is_passive=True),
        phrase,
        range(case[0], phrase.span.stop),
    )


def _read_verb(sentence: Sentence) -> int:
    """Return the verb of a plain statement on which nothing unknown hangs."""
    if len(sentence.roots) != 1 or not sentence.tags[sentence.roots[0]].startswith("VB"):
        raise Doubt("no verb is the root")
    is_quoted = any(
        word in {"'", "’", "‘"} and tag != "POS"
        for word, tag in zip(sentence.words, sentence.tags, strict=True)
    )
    # "ridin'", "bike\\"
    is_cut = any(
        len(word) > 1 and word.endswith(("'", "’", "\\")) and tag != "POS"
        for word, tag in zip(sentence.words, sentence.tags, strict=True)
    )
    is_odd = is_quoted or is_cut or not _ODD.isdisjoint(sentence.words) or sentence.text.isupper()
    if is_odd or any(space not in {"", " "} for space in sentence.spaces):
        raise Doubt("unusual marks, capitals or spaces")
    verb = sentence.roots[0]
    for child in sentence.children(verb):
        relation = sentence.relations[child]
        if relation == "punct" and sentence.words[child] in _MARKS:
            continue
        is_clause = relation in {"conj", "advcl"} and child > verb
        if is_clause and sentence.children(child, "nsubj", "nsubj:pass", "expl"):
            continue
        if relation in _AROUND:
            _check_adverbial(sentence, verb, child)
        elif relation not in _PARTS:
            raise Doubt(f"the verb has a {relation}")
    return verb


def _check_adverbial(sentence: Sentence, verb: int, head: int) -> None:
    is_bare = sentence.relations[head] == "obl" and not sentence.children(head, "case")
    if is_bare and head > verb and sentence.lower[head] not in _TIMES:
        raise Doubt("a noun without a preposition that is no time")
    for i in sentence.subtree(head):
        if sentence.tags[i].startswith(("VB", "W")) or sentence.lower[i] in _LIMITING:
            raise Doubt("an adverbial may depend on the order")


def _assemble(
    sentence: Sentence,
    subject: NounPhrase,
    group: VerbGroup,
    other: NounPhrase,
    other_span: range,
) -> Clause:
    """Put the parts together if nothing stands between them that is not known."""
    _check_ends(sentence, subject, group)
    if subject.span.stop != group.span.start:
        raise Doubt("something stands between subject and verb")
    particles = sentence.children(group.verb, "compound:prt")
    if len(particles) > 1 or (particles and sentence.children(particles[0])):
        raise Doubt("more than a particle")
    begin, end = group.verb + 1, other_span.stop
    if particles:
        if particles[0] == begin:
            begin += 1
        elif particles[0] == end:  # "picks the ball up"
            end += 1
        else:
            raise Doubt("the particle stands elsewhere")
    if begin > other_span.start:
        raise Doubt("the object stands before the verb")
    stop = len(sentence)
    while stop > end and sentence.words[stop - 1] in _MARKS:
        stop -= 1
    after = range(end, stop)
    _check_verbs(sentence, group.verb, after)
    if after and not _begins_another(sentence, end):
        raise Doubt("what follows may belong to the noun before it")
    return Clause(
        subject=subject,
        group=group,
        other=other,
        particle=particles[0] if particles else None,
        between=range(begin, other_span.start),
        after=after,
    )


def _check_ends(sentence: Sentence, subject: NounPhrase, group: VerbGroup) -> None:
    """Stop if the subject may begin before, or the sentence may go on."""
    before = subject.span.start - 1
    if before >= 0 and (sentence.tags[before] in _NAMES or sentence.words[before].endswith(".")):
        raise Doubt("the subject may begin before")
    is_part = sentence.tags[subject.span.start] in {"VBN", "JJ"}
    if before >= 0 and sentence.tags[before] == "RB" and is_part:  # "Well dressed men"
        raise Doubt("the subject may begin before")
    last = max(i for i in range(len(sentence)) if sentence.words[i] not in _MARKS)
    # "to the U.S.", where the sentence may go on
    if sentence.tags[last] in {"IN", "CC", "DT", "TO"} or sentence.words[last].endswith("."):
        raise Doubt("the sentence breaks off")
    if last > group.verb and sentence.lower[last] in AUXILIARIES:  # "like nobody has"
        raise Doubt("a clause whose verb is left out")
    if any(
        sentence.lower[i] in _COMPARING and sentence.relations[i] == "case" for i in range(before)
    ):
        raise Doubt("a phrase before the subject may belong to it")  # "Like you, he ..."


def _check_verbs(sentence: Sentence, verb: int, words: range) -> None:
    """Stop if a verb without a subject of its own stands there: its subject may change."""
    for i in words:
        if sentence.lower[i] == "that" and sentence.tags[i - 1] == "CC":
            raise Doubt("another clause that the verb takes")
        if sentence.tags[i] in {"WDT", "WP"} and sentence.words[i - 1] == ",":
            raise Doubt("a relative clause behind a comma")
        if sentence.lower[i].endswith("ing") and sentence.words[i - 1] == ",":
            raise Doubt("a participle behind a comma")
        if not sentence.tags[i].startswith("VB") or sentence.relations[i] in _AUXILIARY:
            continue
        above = i
        while sentence.heads[above] not in {above, verb}:
            above = sentence.heads[above]
        if sentence.relations[above] not in {"conj", "advcl"}:
            raise Doubt("a verb whose subject may change")


def _begins_another(sentence: Sentence, word: int) -> bool:
    """Tell whether a word begins another phrase than the one before it."""
    if sentence.tags[word] in _BEGINS_ANOTHER:
        return True
    head = word
    while sentence.heads[head] > head:
        head = sentence.heads[head]
    return sentence.lower[head] in _TIMES
