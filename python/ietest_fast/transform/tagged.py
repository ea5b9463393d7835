"""Replacing tagged words by what a table says of them and of the words beside them."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.runtime import load_core
from ietest_fast.transform.base import BaseTransformation, RowError, Transformed
from ietest_fast.transform.columns import as_strings, find_changed, replace_columns
from ietest_fast.transform.edits import EDIT_SCHEMA, RULES, make_edits

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ietest_fast.lexicon import TaggedWords, Tagger, TokenTags
    from ietest_fast.lexicon.annotator import Annotator

# Counts for fingerprints: a change here says that the same table now gives other texts.
_VERSION = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class TaggedSubstitution(BaseTransformation):
    """Replace words of a part of speech where what stands beside them allows it.

    A form in the table is replaced where its token has the entry's part of speech and number and
    the entry's conditions hold; the first such entry is taken. It is left alone in names, titles,
    hyphenated compounds, noun compounds, the table's phrases and between quotation marks. Capitals
    are kept, and "a" or "an" before it is repaired. Within a row a word is left alone where its
    replacement stands in the row already.
    """

    words: TaggedWords
    """Which word is replaced by which, and where."""
    tagger: Tagger
    """Finds parts of speech."""
    name: str = "syn.careful"
    """``syn.careful``, say."""
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What else to say of the table's making in :meth:`describe`."""

    @property
    def keeps_labels(self) -> bool:
        """True: synonyms are meant to keep the meaning."""
        return True

    @property
    def edits_are_independent(self) -> bool:
        """True: each word is replaced by itself."""
        return True

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the table and what tags the words, 64 hexadecimal digits."""
        parts = [str(_VERSION), "tagged", self.words.fingerprint, self.tagger.fingerprint]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def describe(self) -> dict[str, Any]:
        """Return name and options, and how many forms have substitutes."""
        tagger = {"tagger": pipeline_name(self.tagger)}
        return {
            "name": self.name,
            "options": {**tagger, **self.settings, "n_synonyms": len(self.words)},
        }

    @functools.cached_property
    def _kernel(self) -> Any:
        return load_core().text.TaggedTable(**self.words.columns(RULES))

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_kernel"}

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Replace words; see :meth:`ietest_fast.transform.Transformation.transform`."""
        from ietest_fast.lexicon import UPOS

        names = list(text_columns)
        # As a table, because its batches cut all columns at the same rows.
        columns = pa.table([as_strings(table[name]) for name in names], names=names)
        check_lengths(columns)
        tags = self._tags(columns, n_threads)
        touched = np.zeros(table.num_rows, np.bool_)
        texts: dict[str, list[pa.Array]] = {name: [] for name in names}
        edits: dict[str, list[pa.Table]] = {name: [] for name in names}
        first = 0
        for batch in columns.to_batches():
            rows = slice(first, first + batch.num_rows + 1)
            parts, batch_changed, _ = self._kernel.replace_tagged(
                batch.columns,
                [(t.offsets[rows], t.start, t.end, t.pos, t.number) for t in tags],
                tags=(UPOS.index("NOUN"), UPOS.index("PROPN")),
                with_edits=with_edits,
                n_threads=n_threads,
            )
            touched[first : first + batch.num_rows] = batch_changed
            for name, old, part in zip(names, batch.columns, parts, strict=True):
                strings, _, n_changed, exported = part
                texts[name].append(pa.array(strings) if n_changed else old)
                if with_edits and n_changed:
                    edits[name].append(make_edits(exported, name, names, first, RULES))
            first += batch.num_rows
        made = [edit for name in names for edit in edits[name]]
        new = replace_columns(table, texts)
        return Transformed(
            table=new,
            changed=find_changed(table, new, names, touched),
            edits=pa.concat_tables([EDIT_SCHEMA.empty_table(), *made]) if with_edits else None,
        )

    def _tags(self, columns: pa.Table, n_threads: int | None) -> list[TokenTags]:
        # All columns at once: a hypothesis may repeat a premise.
        chunks = [
            chunk.cast(pa.large_string())
            for name in columns.column_names
            for chunk in columns[name].chunks
        ]
        tags = self.tagger.tag(pa.chunked_array(chunks, pa.large_string()), n_process=n_threads)
        tags = _without_spaces(tags)
        n = columns.num_rows
        return [
            _with_offsets(tags, tags.offsets[i * n : (i + 1) * n + 1])
            for i in range(columns.num_columns)
        ]


def check_lengths(columns: pa.Table) -> None:
    """Name a text that is too long for the tagger, which does not know where it stands."""
    from ietest_fast.lexicon.annotator import find_too_long

    for name in columns.column_names:
        found = find_too_long(columns[name])
        if found is not None:
            raise RowError(found[1], index=found[0], column=name)


def _without_spaces(tags: TokenTags) -> TokenTags:
    """Leave out what a tagger makes of white space: a word's neighbours are words and marks."""
    from ietest_fast.lexicon import UPOS

    kept = tags.pos != UPOS.index("SPACE")
    return tags if kept.all() else tags.keep(kept)


def _with_offsets(tags: TokenTags, offsets: npt.NDArray[np.int64]) -> TokenTags:
    return dataclasses.replace(tags, offsets=offsets)


def pipeline_name(pipeline: Annotator[Any]) -> str:
    """Return the name of a tagger or parser without the folder that it may stand in."""
    return Path(pipeline.name).name
