"""spaCy pipelines with a parser: loaded with what parsing needs, and read off."""

from __future__ import annotations

import dataclasses
import functools
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import ResourceError
from ietest_fast.lexicon.clearnlp import CLEARNLP_MARKS, to_universal
from ietest_fast.lexicon.packaged import RESOURCES, check_packaged
from ietest_fast.lexicon.pipelines import (
    TEXTS_PER_BATCH,
    describe_files,
    find_folder,
    hash_pipeline,
    load_spacy,
    to_bytes,
    tokenise,
)
from ietest_fast.lexicon.token_parses import PENN, RELATIONS, TokenParses
from ietest_fast.lexicon.token_table import offsets_of

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt
    from spacy.language import Language

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
_PENN_CODES = {name: code for code, name in enumerate(PENN)}
_RELATION_CODES = {name: code for code, name in enumerate(RELATIONS)}
_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}


class ParsePipeline:
    """A loaded spaCy pipeline, used for Penn tags and dependency trees.

    Make one with :meth:`load`. The one that was loaded last is kept and shared. It parses for one
    thread at a time.

    Attributes
    ----------
    name
        What it was loaded by; ``"packaged"`` for the pipeline that comes with this package.
    folder
        Where the pipeline's files are.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.nlp, factories = load_spacy(name, folder, needless=_NEEDLESS, known=_KNOWN)
        self._is_clearnlp = _check(self.nlp, name, factories)
        self._is_parsing = threading.Lock()

    @staticmethod
    def load(name: str) -> ParsePipeline:
        """Load a pipeline: the packaged one, an installed package, or a folder.

        Raises
        ------
        ResourceError
            If there is no such pipeline, it cannot be read, it has no parser or no tagger, its
            relations are unknown, or the packaged one is damaged.
        """
        if name == "packaged":
            check_packaged(PACKAGED_PARSER)
            folder = PACKAGED_PARSER
        else:
            folder = find_folder(name)
        return _load_once(name, folder, describe_files(folder))

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the pipeline's files and of spaCy's version, 64 hexadecimal digits."""
        return hash_pipeline(self.folder, f"parse {_PARSES_VERSION}")

    def parse(self, texts: list[str]) -> TokenParses:
        """Parse a list of texts as it is, in this process."""
        if not texts:
            return TokenParses.concatenate([])
        from threadpoolctl import threadpool_limits

        # The matrices are small; a second BLAS thread would only get in the way.
        with self._is_parsing, threadpool_limits(1, user_api="blas"):
            return self._parse(texts)

    def _parse(self, texts: list[str]) -> TokenParses:
        from spacy.attrs import DEP, HEAD, IDX, IS_SPACE, LENGTH, TAG

        docs = (tokenise(self.nlp, text) for text in texts)
        columns = [
            doc.to_array([IDX, LENGTH, TAG, HEAD, DEP, IS_SPACE])
            for doc in self.nlp.pipe(docs, batch_size=TEXTS_PER_BATCH)
        ]
        offsets = offsets_of([len(column) for column in columns])
        table = np.concatenate(columns)
        start = table[:, 0].astype(np.int32)
        end = start + table[:, 1].astype(np.int32)
        to_bytes(texts, offsets, start, end)
        names = self.nlp.vocab.strings
        tag_names = [names[code] for code in table[:, 2].tolist()]
        tag_names = [_BRACKETS.get(name, name) for name in tag_names]
        # spaCy writes a head as the distance to it, in an unsigned type.
        head = table[:, 3].astype(np.int64).astype(np.int32)
        relations = [names[code] for code in table[:, 4].tolist()]
        if self._is_clearnlp:
            encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
            words = [
                encoded[text][start[i] : end[i]].decode("utf-8", "surrogatepass")
                for text in range(len(texts))
                for i in range(offsets[text], offsets[text + 1])
            ]
            head, relations = to_universal(offsets, words, tag_names, head, relations)
        tags = np.array([_PENN_CODES.get(name, 0) for name in tag_names], np.uint8)
        relation = np.array([_code_of(name) for name in relations], np.uint8)
        # A particle, which UD calls compound:prt.
        is_particle = (tags == _PENN_CODES["RP"]) & (relation == _RELATION_CODES["compound"])
        relation[is_particle] = _RELATION_CODES["compound:prt"]
        found = TokenParses(
            offsets=offsets, start=start, end=end, tag=tags, head=head, relation=relation
        )
        return drop_spaces(found, table[:, 5] != 0)


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
def _code_of(name: str) -> int:
    """Return the code of a relation, or of the relation that it is a subtype of."""
    name = "root" if name == "ROOT" else name
    return _RELATION_CODES.get(name, _RELATION_CODES.get(name.partition(":")[0], 0))


@functools.lru_cache(maxsize=1)
def _load_once(name: str, folder: Path, _files: object) -> ParsePipeline:
    """Load a pipeline, unless it is the one that was loaded last and no file of it has changed."""
    return ParsePipeline(name, folder)
