"""Active and passive clauses and their verbs, read off a sentence with its tree."""

from __future__ import annotations

import abc
import dataclasses
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from ietest_fast.lexicon.token_table import RELATIONS
from ietest_fast.transform.base import (
    BaseTransformation,
    Transformed,
    find_difference,
    fingerprint_of,
    put_texts,
)
from ietest_fast.transform.edits import edits_of_rows, put_pieces
from ietest_fast.transform.phi import PhiOptions, PlannedTransformation
from ietest_fast.transform.syntax.trees import Doubt, only, read_noun_phrase, sentences_of
from ietest_fast.transform.words import join_columns, pipeline_name, select_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from ietest_fast.lexicon.annotator import Parser
    from ietest_fast.lexicon.token_table import TokenParses
    from ietest_fast.lexicon.verbs import Verbs
    from ietest_fast.lexicon.wordnet import WordNet
    from ietest_fast.transform.edits import EditRow
    from ietest_fast.transform.phi import Material
    from ietest_fast.transform.syntax.trees import NounPhrase, Person, Sentence

# Finite verbs with their auxiliaries: read off a sentence, and put into the other voice.

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
    if group.tense in {"present", "past"} and not group.negation:
        present = verbs.third(lemma) if person == "singular" else lemma
        return " ".join([*group.adverbs, past if group.is_past else present])
    rest = {
        "perfect": participle,
        "progressive": verbs.gerund(lemma),
        "modal-perfect": f"have {participle}",
    }
    return _join(_agreeing(group, person), group, rest.get(group.tense, lemma))


def _agreeing(group: VerbGroup, person: Person) -> str:
    """Return the first auxiliary of an active group with another subject."""
    if group.tense == "past":
        return "did"
    if group.tense == "present":
        return "does" if person == "singular" else "do"
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
    _check_marks(sentence)
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


def _check_marks(sentence: Sentence) -> None:
    """Stop if a sentence has quotations or other unusual marks, capitals or spaces."""
    is_odd = not _ODD.isdisjoint(sentence.words) or sentence.text.isupper()
    is_quoted = any(
        tag != "POS"
        # "ridin'", "bike\\"
        and (word in {"‘", "'", "’"} or (len(word) > 1 and word.endswith(("'", "’", "\\"))))
        for word, tag in zip(sentence.words, sentence.tags, strict=True)
    )
    if is_odd or is_quoted or any(space not in {"", " "} for space in sentence.spaces):
        raise Doubt("unusual marks, capitals or spaces")


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
    after = range(end, max(end, sentence.end_before(_MARKS)))
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
    last = sentence.end_before(_MARKS) - 1
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
        if sentence.relations[_find_above(sentence, i, verb)] not in {"conj", "advcl"}:
            raise Doubt("a verb whose subject may change")


def _find_above(sentence: Sentence, word: int, verb: int) -> int:
    """Return the word above another, or itself, that hangs on the verb, or on nothing."""
    while sentence.heads[word] not in {word, verb}:
        word = sentence.heads[word]
    return word


def _begins_another(sentence: Sentence, word: int) -> bool:
    """Tell whether a word begins another phrase than the one before it."""
    if sentence.tags[word] in _BEGINS_ANOTHER:
        return True
    head = word
    while sentence.heads[head] > head:
        head = sentence.heads[head]
    return sentence.lower[head] in _TIMES


# Rewriting sentences by their trees, where the tree of the result says that it was right.


_TEXTS_AT_ONCE = 20_000
_FINAL_MARKS = frozenset({".", "!", "?"})


class Rewritten(NamedTuple):
    """Another wording of a sentence, and what its edit is counted as."""

    text: str
    rule: str


class _Edit(NamedTuple):
    start: int
    end: int
    new: str
    rule: str


@dataclass(frozen=True, kw_only=True, eq=False)
class SyntacticTransformation(BaseTransformation):
    """Base of transformations that rewrite sentences by their dependency trees.

    A class that inherits from it gives the other wordings of a sentence. One is taken only if it
    is parsed in its turn and the same rules make the old sentence of it: where the parser misread
    either of both, that fails, and the sentence stays as it is.
    """

    parser: Parser
    """Finds the trees."""
    wordnet: WordNet
    """Finds the base forms of words, and tells words from names."""

    edits_are_independent = True  # each sentence is rewritten by itself

    @abc.abstractmethod
    def rewrite(self, sentence: Sentence) -> Sequence[Rewritten]:
        """Return other wordings of a sentence, the one to prefer first."""

    def lead_back(self, sentence: Sentence) -> Sequence[Rewritten]:
        """Return what a new wording is rewritten as, to see whether the old one is among it."""
        return self.rewrite(sentence)

    def find_candidates(self, parses: TokenParses) -> npt.NDArray[np.bool_]:
        """Return which texts (n,) may hold a sentence to rewrite; all, unless a class knows."""
        return np.ones(len(parses), np.bool_)

    @property
    @abc.abstractmethod
    def options(self) -> dict[str, Any]:
        """Options, ready for JSON, besides the parser."""

    @property
    def _options(self) -> dict[str, Any]:
        return {**self.options, "parser": pipeline_name(self.parser)}

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the options, the parser and the lexicon, 64 hexadecimal digits."""
        return fingerprint_of(
            {
                # Of the rules: other ones give other texts.
                "version": 2,
                "name": self.name,
                **self.options,
                "parser": self.parser.fingerprint,
                "wordnet": self.wordnet.fingerprint,
            }
        )

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Rewrite sentences; see :meth:`ietest_fast.transform.Transformation.transform`."""
        names = list(text_columns)
        columns = select_texts(table, names)
        encoded = pc.dictionary_encode(join_columns(columns).combine_chunks())
        distinct: pa.Array = encoded.dictionary
        found: dict[int, list[_Edit]] = {}
        for start in range(0, len(distinct), _TEXTS_AT_ONCE):
            part = self._find_edits(distinct.slice(start, _TEXTS_AT_ONCE), n_threads)
            found |= {start + i: made for i, made in part.items()}
        indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        old = {i: distinct[i].as_py().encode() for i in found}
        words = distinct.to_pylist()
        for i, made in found.items():
            pieces = [(edit.start, edit.end, edit.new.encode()) for edit in made]
            words[i] = put_pieces(old[i], pieces).decode()
        new_distinct = pa.array(words, pa.large_string())
        texts: dict[str, list[pa.Array]] = {}
        edits: list[pa.Table] = []
        for place, name in enumerate(names):
            own = indices[place * len(columns) : (place + 1) * len(columns)]
            # Index -1 is a text that is missing.
            texts[name] = [new_distinct.take(pa.array(own, mask=own < 0))]
            if with_edits:
                edits.append(edits_of_rows(_list_edits(name, own.tolist(), old, found)))
        return put_texts(table, texts, edits if with_edits else None)

    def _find_edits(self, texts: pa.Array, n_threads: int | None) -> dict[int, list[_Edit]]:
        """Return the edits of each text that has some."""
        parses = self.parser.parse(texts, n_process=n_threads)
        wordings: list[tuple[int, Sentence, Rewritten]] = []
        for i in np.flatnonzero(self.find_candidates(parses)).tolist():
            data = texts[i].as_py().encode()
            for sentence in _sure_sentences(sentences_of(data, parses, i)):
                wordings += [(i, sentence, new) for new in self.rewrite(sentence)]
        if not wordings:
            return {}
        again = self.parser.parse([new.text for *_, new in wordings], n_process=n_threads)
        found: dict[int, list[_Edit]] = {}
        done: set[tuple[int, int]] = set()
        for k, (i, sentence, new) in enumerate(wordings):
            if (i, sentence.start) in done or not self._leads_back(sentence, new, again, k):
                continue
            done.add((i, sentence.start))
            before = sentence.text.encode()
            start, end, piece = find_difference(before, new.text.encode())
            edit = _Edit(sentence.start + start, sentence.start + end, piece.decode(), new.rule)
            found.setdefault(i, []).append(edit)
        return found

    def _leads_back(
        self, sentence: Sentence, new: Rewritten, parses: TokenParses, text: int
    ) -> bool:
        """Tell whether the new wording, parsed, is rewritten as the old one."""
        parsed = list(sentences_of(new.text.encode(), parses, text))
        return len(parsed) == 1 and any(
            back.text == sentence.text for back in self.lead_back(parsed[0])
        )


class SyntaxOptions(PhiOptions):
    """What a transformation of syntax can be told."""

    parser: str = Field(
        "packaged", description="packaged, an installed spaCy pipeline with a parser, or its folder"
    )


def plan_syntactic(
    kind: type[SyntacticTransformation], options: SyntaxOptions, **own: Any
) -> PlannedTransformation:
    """Plan a transformation whose parser keeps its trees where a run keeps tags."""
    from ietest_fast.lexicon.annotator import Parser
    from ietest_fast.lexicon.wordnet import WordNet

    parser = Parser.load(options.parser)
    made = kind(parser=parser, wordnet=WordNet.packaged(), **own)

    def keep_trees(material: Material) -> None:
        material.keep_tags(parser)

    return PlannedTransformation.of(made, prepare=keep_trees, closer=parser.close)


def find_texts_with(parses: TokenParses, relations: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return which texts have a word with one of some relations, bool (n,)."""
    codes = [RELATIONS.index(name) for name in relations]
    n_before = np.concatenate(([0], np.cumsum(np.isin(parses.relation, codes))))
    found: npt.NDArray[np.bool_] = np.diff(n_before[parses.offsets]) > 0
    return found


def _sure_sentences(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences of a text that begin behind a final mark and end with one."""
    found = list(sentences)
    ends = [sentence.words[-1] in _FINAL_MARKS for sentence in found]
    for i, sentence in enumerate(found):
        if (i == 0 or ends[i - 1]) and (i == len(found) - 1 or ends[i]):
            yield sentence


def _list_edits(
    column: str, texts: list[int], old: dict[int, bytes], found: dict[int, list[_Edit]]
) -> Iterator[EditRow]:
    """Yield the edits of a column, whose rows have these texts."""
    for row, text in enumerate(texts):
        for start, end, new, rule in found.get(text, ()):
            yield row, column, start, end, old[text][start:end].decode(), new, rule
