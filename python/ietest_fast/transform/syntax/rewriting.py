"""Rewriting sentences by their trees, where the tree of the result says that it was right."""

from __future__ import annotations

import abc
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.lexicon.token_table import RELATIONS
from ietest_fast.transform.base import BaseTransformation, Transformed, fingerprint_of
from ietest_fast.transform.columns import as_strings, find_changed, replace_columns
from ietest_fast.transform.edits import EDIT_SCHEMA, edits_of_column
from ietest_fast.transform.kinds import PlannedTransformation
from ietest_fast.transform.new_pairs import find_difference
from ietest_fast.transform.syntax.trees import sentences_of
from ietest_fast.transform.tagged import check_lengths

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from ietest_fast.lexicon.annotator import Parser
    from ietest_fast.lexicon.token_table import TokenParses
    from ietest_fast.lexicon.wordnet import WordNet
    from ietest_fast.transform.kinds import Material
    from ietest_fast.transform.syntax.trees import Sentence


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

    @property
    def edits_are_independent(self) -> bool:
        """True: each sentence is rewritten by itself."""
        return True

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

    def describe(self) -> dict[str, Any]:
        """Return name and options."""
        from ietest_fast.transform.tagged import pipeline_name

        return {
            "name": self.name,
            "options": {**self.options, "parser": pipeline_name(self.parser)},
        }

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

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "fingerprint"}

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
        columns = pa.table([as_strings(table[name]) for name in names], names=names)
        check_lengths(columns)
        # All columns at once: a hypothesis may repeat a premise.
        encoded = pc.dictionary_encode(
            pa.chunked_array(
                [chunk.cast(pa.large_string()) for name in names for chunk in columns[name].chunks],
                pa.large_string(),
            ).combine_chunks()
        )
        distinct: pa.Array = encoded.dictionary
        found: dict[int, list[_Edit]] = {}
        for start in range(0, len(distinct), _TEXTS_AT_ONCE):
            part = self._find_edits(distinct.slice(start, _TEXTS_AT_ONCE), n_threads)
            found |= {start + i: made for i, made in part.items()}
        indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        old = {i: distinct[i].as_py().encode() for i in found}
        words = distinct.to_pylist()
        for i, made in found.items():
            words[i] = _apply(old[i], made).decode()
        new_distinct = pa.array(words, pa.large_string())
        texts: dict[str, list[pa.Array]] = {}
        edits: list[pa.Table] = [EDIT_SCHEMA.empty_table()]
        for place, name in enumerate(names):
            own = indices[place * len(columns) : (place + 1) * len(columns)]
            # Index -1 is a text that is missing.
            texts[name] = [new_distinct.take(pa.array(own, mask=own < 0))]
            rows = np.flatnonzero(np.isin(own, list(found)))
            if with_edits and len(rows):
                listed = [
                    (int(row), old[int(own[row])], edit) for row in rows for edit in found[own[row]]
                ]
                edits.append(_edit_table(name, names, listed))
        new_table = replace_columns(table, texts)
        changed = find_changed(table, new_table, names, np.ones(table.num_rows, np.bool_))
        return Transformed(
            table=new_table,
            changed=changed,
            edits=pa.concat_tables(edits) if with_edits else None,
        )

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


def plan_syntactic(made: SyntacticTransformation) -> PlannedTransformation:
    """Plan a transformation whose parser keeps its trees where a run keeps tags."""

    def keep_trees(material: Material) -> None:
        from ietest_fast.lexicon import TagCache

        if material.tag_cache is not None:
            kept = None if material.tag_cache == "temporary" else material.tag_cache
            made.parser.keep_tags(TagCache(kept))

    return PlannedTransformation.of(made, prepare=keep_trees, closer=made.parser.close)


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


def _apply(old: bytes, edits: Sequence[_Edit]) -> bytes:
    pieces, at = [], 0
    for edit in edits:
        pieces += [old[at : edit.start], edit.new.encode()]
        at = edit.end
    return b"".join([*pieces, old[at:]])


def _edit_table(column: str, columns: list[str], made: list[tuple[int, bytes, _Edit]]) -> pa.Table:
    tables = []
    # One table for each rule, then in the order of rows again.
    for rule in dict.fromkeys(edit.rule for *_, edit in made):
        chosen = [(row, old, edit) for row, old, edit in made if edit.rule == rule]
        tables.append(
            edits_of_column(
                column,
                columns,
                rule,
                row=np.array([row for row, *_ in chosen], np.int64),
                start=np.array([edit.start for *_, edit in chosen], np.int64),
                end=np.array([edit.end for *_, edit in chosen], np.int64),
                old=pa.array(
                    [old[edit.start : edit.end].decode() for _, old, edit in chosen],
                    pa.large_string(),
                ),
                new=pa.array([edit.new for *_, edit in chosen], pa.large_string()),
            )
        )
    joined = pa.concat_tables(tables)
    return (
        joined
        if len(tables) == 1
        else joined.sort_by([("row", "ascending"), ("start", "ascending")])
    )
