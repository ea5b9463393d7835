"""spaCy pipelines with a parser: loaded with what parsing needs, and read off."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ietest_fast.errors import ResourceError
from ietest_fast.lexicon.pipelines import (
    RESOURCES,
    TEXTS_PER_BATCH,
    LoadedPipeline,
    WordVectors,
    load_spacy,
    to_bytes,
    tokenise,
)
from ietest_fast.lexicon.token_table import PENN, RELATIONS, TokenParses, offsets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    import numpy.typing as npt
    from spacy.language import Language
    from spacy.tokens import Doc


# ClearNLP's trees, which spaCy's English pipelines make, as Universal Dependencies.
#
# What is rewritten: prepositions and copulas become dependents, members of a coordination hang on
# the first of them, and relations get the names of Universal Dependencies. A predicate such as
# "in the park" keeps its copula as head.

CLEARNLP_MARKS = frozenset({"dobj", "pobj", "nsubjpass"})
"""Relations by which this style is told."""

_NAMES = {
    "ROOT": "root",
    "acomp": "xcomp",
    "agent": "case",
    "attr": "xcomp",
    "auxpass": "aux:pass",
    "csubjpass": "csubj:pass",
    "dative": "iobj",
    "dobj": "obj",
    "intj": "discourse",
    "meta": "dep",
    "neg": "advmod",
    "nn": "compound",
    "npadvmod": "obl",
    "nsubjpass": "nsubj:pass",
    "num": "nummod",
    "oprd": "xcomp",
    "pcomp": "advcl",
    "pobj": "obl",
    "poss": "nmod:poss",
    "possessive": "case",
    "preconj": "cc",
    "predet": "det",
    "prep": "case",
    "prt": "compound:prt",
    "quantmod": "advmod",
    "relcl": "acl:relcl",
    "complm": "mark",
    "rcmod": "acl:relcl",
    "partmod": "acl",
    "infmod": "acl",
}
# What a preposition is below its object or clause, and what these are below a noun and others.
_TURNED = {"pobj": ("case", "nmod", "obl"), "pcomp": ("mark", "acl", "advcl")}
_NOMINAL = ("NN", "PRP", "CD", "DT", "WP")
_BE = frozenset("am are is was were be been being 's 're 'm".split())  # noqa: SIM905


def to_universal(
    offsets: npt.NDArray[np.int64],
    words: Sequence[str],
    tags: Sequence[str],
    head: npt.NDArray[np.int32],
    relations: Sequence[str],
) -> tuple[npt.NDArray[np.int32], list[str]]:
    """Return heads and relations of Universal Dependencies."""
    heads = np.arange(len(head)) + head
    made = _Tree(words, tags, heads.tolist(), list(relations))
    for first, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        made.rewrite(range(first, end))
    new = np.array(made.heads, np.int64) - np.arange(len(head))
    return new.astype(np.int32), [_NAMES.get(name, name) for name in made.relations]


class _Tree:
    """Tokens of all texts; a root is its own head."""

    def __init__(
        self, words: Sequence[str], tags: Sequence[str], heads: list[int], relations: list[Any]
    ) -> None:
        self.words = words
        self.tags = tags
        self.heads = heads
        self.relations = relations
        self._below: list[list[int]] = [[] for _ in heads]
        for token, head in enumerate(heads):
            if head != token:
                self._below[head].append(token)

    def _hang(self, token: int, head: int) -> None:
        """Give a token another head; its own makes it a root."""
        if self.heads[token] != token:
            self._below[self.heads[token]].remove(token)
        self.heads[token] = head
        if head != token:
            self._below[head].append(token)

    def rewrite(self, tokens: range) -> None:
        """Rewrite the trees of one text."""
        self._turn_prepositions(tokens)
        self._turn_copulas(tokens)
        self._flatten_coordinations(tokens)

    def _children(self, token: int) -> list[int]:
        return sorted(self._below[token])

    def _child(self, token: int, relations: Collection[str]) -> int | None:
        """Return the first dependent of a token with one of some relations."""
        return next((c for c in self._children(token) if self.relations[c] in relations), None)

    def _put_in_place_of(self, new: int, old: int, relation: str) -> None:
        """Let `new`, a child of `old`, take its head and children; `old` hangs on it."""
        above = self.heads[old]
        self._hang(new, new if above == old else above)
        for child in self._children(old):
            self._hang(child, new)
        self._hang(old, new)
        self.relations[old] = relation

    def _turn_prepositions(self, tokens: range) -> None:
        for token in tokens:
            if self.relations[token] not in {"prep", "agent", "dative"}:
                continue
            inner = self._child(token, _TURNED)
            if inner is None or self.heads[token] == token:
                continue
            marker, of_noun, of_verb = _TURNED[self.relations[inner]]
            if self.relations[token] == "agent" and self.relations[inner] == "pobj":
                of_noun = of_verb = "obl:agent"
            under_noun = self.tags[self.heads[token]].startswith(_NOMINAL)
            self._put_in_place_of(inner, token, marker)
            self.relations[inner] = of_noun if under_noun else of_verb

    def _turn_copulas(self, tokens: range) -> None:
        for token in tokens:
            if self.words[token].lower() not in _BE:
                continue
            inner = self._child(token, {"attr", "acomp"})
            if inner is None:
                continue
            if self._child(token, {"expl"}) is not None:
                self.relations[inner] = "nsubj"
                continue
            outer = self.relations[token]
            self._put_in_place_of(inner, token, "cop")
            self.relations[inner] = outer

    def _flatten_coordinations(self, tokens: range) -> None:
        for token in tokens:
            if self.relations[token] == "cc":
                members = [
                    each
                    for each in self._children(self.heads[token])
                    if self.relations[each] == "conj" and each > token
                ]
                if members:
                    self._hang(token, members[0])
        for token in tokens:  # heads first: members stand behind the one they hang on
            if self.relations[token] == "conj":
                first = self.heads[token]
                if self.relations[first] == "conj" and first < token:
                    self._hang(token, self.heads[first])


PACKAGED_PARSER = RESOURCES / "parser"

# A change here, or in how trees are read off, makes cached parses void.
_PARSES_VERSION = 1

# Components that neither parse nor tag, and are not read by those that do.
_NEEDLESS = frozenset(
    "entity_linker entity_ruler lemmatizer morphologizer ner beam_ner senter sentencizer "  # noqa: SIM905
    "span_finder span_ruler spancat spancat_singlelabel textcat textcat_multilabel "
    "trainable_lemmatizer".split()
)
_PARSERS = frozenset({"parser", "beam_parser"})
_KNOWN = _NEEDLESS | _PARSERS | {"tok2vec", "tagger", "attribute_ruler"}
_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}


class ParsePipeline(LoadedPipeline):
    """A pipeline that is used for Penn tags and dependency trees."""

    _VERSION = f"parse {_PARSES_VERSION}"

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name, folder)
        self.nlp, factories = load_spacy(name, folder, needless=_NEEDLESS, known=_KNOWN)
        self._is_clearnlp = _check(self.nlp, name, factories)
        self._fast = _fast_path(self.nlp)

    @classmethod
    def load(cls, name: str) -> Self:
        """Load a pipeline."""
        return cls._load(name, PACKAGED_PARSER)

    def parse(self, texts: list[str]) -> TokenParses:
        """Parse texts."""
        return self._run(texts, TokenParses, self._parse)

    def _parse(self, texts: list[str]) -> TokenParses:
        from spacy.attrs import IDX, IS_SPACE, LENGTH

        docs = [tokenise(self.nlp, text) for text in texts]
        annotate = _annotate_with_pipe if self._fast is None else self._fast
        tags, head, relations = annotate(self.nlp, docs)
        columns = [doc.to_array([IDX, LENGTH, IS_SPACE]) for doc in docs]
        offsets = offsets_of([len(column) for column in columns])
        table = np.concatenate(columns)
        start, end = to_bytes(texts, offsets, table[:, 0], table[:, 1])
        if self._is_clearnlp:
            words = [token.text for doc in docs for token in doc]
            head, relations = to_universal(offsets, words, tags, head, relations)
        tag = np.array([_code_of_tag(name) for name in tags], np.uint8)
        relation = np.array([_code_of_relation(name) for name in relations], np.uint8)
        # A particle, which UD calls compound:prt.
        is_particle = (tag == PENN.index("RP")) & (relation == RELATIONS.index("compound"))
        relation[is_particle] = RELATIONS.index("compound:prt")
        found = TokenParses(
            offsets=offsets, start=start, end=end, tag=tag, head=head, relation=relation
        )
        return drop_spaces(found, table[:, 2] != 0)


Annotated = tuple[list[str], "npt.NDArray[np.int32]", list[str]]
"""Of all tokens: Penn tags, distances to heads, relations."""


def _annotate_with_pipe(nlp: Language, docs: list[Doc]) -> Annotated:
    """Run whatever the pipeline consists of."""
    from spacy.attrs import TAG

    docs[:] = nlp.pipe(docs, batch_size=TEXTS_PER_BATCH)
    names = nlp.vocab.strings
    codes = np.concatenate([doc.to_array([TAG]).ravel() for doc in docs])
    head, relations = _read_trees(nlp, docs)
    return [names[code] for code in codes.tolist()], head, relations


def _read_trees(nlp: Language, docs: list[Doc]) -> tuple[npt.NDArray[np.int32], list[str]]:
    from spacy.attrs import DEP, HEAD

    table = np.concatenate([doc.to_array([HEAD, DEP]) for doc in docs])
    # spaCy writes a head as the distance to it, in an unsigned type.
    head = table[:, 0].astype(np.int64).astype(np.int32)
    names = nlp.vocab.strings
    return head, [names[code] for code in table[:, 1].tolist()]


def _fast_path(nlp: Language) -> Callable[[Language, list[Doc]], Annotated] | None:
    """Return a function that annotates as the pipeline does, if it is built like the packaged one.

    A tagger and a parser that listen to one hash embedding with a window encoder: each distinct
    word of a chunk is embedded once, and tags are read off the scores.
    """
    if nlp.pipe_names != ["tok2vec", "tagger", "parser"]:
        return None
    tok2vec, tagger, parser = (_part(nlp, name) for name in nlp.pipe_names)
    words = WordVectors.of(tok2vec.model)
    try:
        listener, softmax = tagger.model.layers
    except ValueError:
        return None
    if words is None or listener.name != "tok2vec-listener":
        return None
    if not softmax.name.endswith("(softmax)"):
        return None

    def annotate(nlp: Language, docs: list[Doc]) -> Annotated:
        columns = [doc.to_array(words.attributes) for doc in docs]
        offsets = offsets_of([len(column) for column in columns])
        tags: list[str] = []
        at = 0
        for _, encoded in words.encode(np.concatenate(columns), offsets):
            batch = docs[at : at + len(encoded)]
            at += len(encoded)
            # Both listen to this.
            for doc, vectors in zip(batch, encoded, strict=True):
                doc.tensor = vectors  # type: ignore[assignment]
            scores = np.concatenate(softmax.predict(encoded))
            tags += [tagger.labels[label] for label in scores.argmax(axis=1).tolist()]
            filled = [doc for doc in batch if len(doc)]
            if filled:
                parser.set_annotations(filled, parser.predict(filled))
        head, relations = _read_trees(nlp, docs)
        return tags, head, relations

    return annotate


def _part(nlp: Language, name: str) -> Any:
    return nlp.get_pipe(name)


def drop_spaces(parses: TokenParses, is_space: npt.NDArray[np.bool_]) -> TokenParses:
    """Return the parses without tokens of white space; what hung on one hangs on its head."""
    if not is_space.any():
        return parses
    n_before = np.concatenate(([0], np.cumsum(~is_space, dtype=np.int64)))
    head = np.arange(len(parses.head)) + parses.head
    for _ in range(len(head)):
        hangs = is_space[head] & (head[head] != head)
        if not hangs.any():
            break
        head[hangs] = head[head[hangs]]
    # A space that is a root leaves roots behind.
    lost = is_space[head]
    head[lost] = np.flatnonzero(lost)
    kept = parses.keep(~is_space)
    distance = n_before[head[~is_space]] - np.arange(len(kept.head))
    return dataclasses.replace(kept, head=distance.astype(np.int32))


def _check(nlp: Language, name: str, factories: dict[str, str]) -> bool:
    """Tell whether relations are those of ClearNLP; stop if they are unknown."""
    found = {factories[part] for part in nlp.pipe_names}
    if not _PARSERS & found:
        raise ResourceError(
            f"the spaCy pipeline {name!r} makes no dependency trees: it has no parser. Name one "
            "that has (parser en_core_web_sm, say), or the packaged one (parser packaged)"
        )
    if "tagger" not in found:
        raise ResourceError(
            f"the spaCy pipeline {name!r} gives no Penn tags, which the inflection of verbs needs: "
            "it has no tagger"
        )
    part = next(part for part in nlp.pipe_names if factories[part] in _PARSERS)
    parser: Any = nlp.get_pipe(part)
    labels = set(parser.labels)
    if labels >= CLEARNLP_MARKS:
        return True
    if {"nsubj", "obj", "obl"} <= labels:
        return False
    raise ResourceError(
        f"the spaCy pipeline {name!r} has relations that are neither Universal Dependencies nor "
        f"those of ClearNLP: {', '.join(sorted(labels)[:8])}, ..."
    )


@functools.cache
def _code_of_tag(name: str) -> int:
    name = _BRACKETS.get(name, name)
    return PENN.index(name) if name in PENN else 0


@functools.cache
def _code_of_relation(name: str) -> int:
    """Return the code of a relation, or of the relation that it is a subtype of."""
    name = "root" if name == "ROOT" else name
    for known in (name, name.partition(":")[0]):
        if known in RELATIONS:
            return RELATIONS.index(known)
    return 0
