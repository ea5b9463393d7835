"""Replacing whole words by a table, wherever they stand."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import string
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.runtime import load_core
from ietest_fast.transform.base import (
    BaseTransformation,
    RowError,
    Transformed,
    fingerprint_of,
    put_texts,
)
from ietest_fast.transform.edits import (
    EDIT_SCHEMA,
    RULES,
    as_strings,
    find_changed,
    make_edits,
    replace_columns,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.lexicon import TaggedWords, Tagger, TokenTags
    from ietest_fast.lexicon.annotator import Annotator

# The code of the one rule that there is.
_CODE = np.zeros(1, np.int8)
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@dataclass(frozen=True, kw_only=True, eq=False)
class WordSubstitution(BaseTransformation):
    """Replace every key between word boundaries by its value; the longest key wins.

    Boundaries are those of Unicode Standard Annex 29 on ASCII text (``don't``, ``3.14`` and
    ``snake_case`` are one word each) and close to it beyond. A key of several words has to stand
    there as it is, blanks included. A letter with an accent may be one sign or two.

    Raises
    ------
    InputError
        If a key is empty; or if keys that differ only in case, where it is ignored, or in how
        accents are written, have different values.
    """

    mapping: Mapping[str, str]
    """Key -> value; no key is empty."""
    ignore_case: bool = False
    """Whether A to Z are as good as a to z in the text. The value is put in as it is."""
    keeps_labels: bool = True
    """What the caller says about the mapping. If it is false, transformed tables have null
    labels."""
    rule: str = "words"
    """What edits are counted as."""

    def __post_init__(self) -> None:
        if "" in self.mapping:
            raise InputError("a key of a word substitution is empty")
        object.__setattr__(self, "mapping", dict(self.mapping))
        first: dict[str, str] = {}
        for key, value in self.mapping.items():
            other = first.setdefault(_fold(key, ignore_case=self.ignore_case), key)
            if self.mapping[other] != value:
                raise InputError(
                    f"the keys {other!r} and {key!r} differ only in {self._unlike}, but have the "
                    f"values {self.mapping[other]!r} and {value!r}; remove one of them"
                )

    @property
    def _unlike(self) -> str:
        accents = "whether accents are signs of their own"
        return f"case, which ignore_case ignores, or {accents}" if self.ignore_case else accents

    name = "words"
    edits_are_independent = True  # each word is replaced by itself

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of keys, values and options, 64 hexadecimal digits."""
        options = (self.ignore_case, self.keeps_labels, self.rule)
        digest = hashlib.sha256(f"words {options}\n".encode())
        for key, value in sorted(self.mapping.items()):
            digest.update(f"{len(key)} {len(value)} {key}{value}\n".encode())
        return digest.hexdigest()

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "mapping": describe_words([*self.mapping.items()]),
            "ignore_case": self.ignore_case,
            "keeps_labels": self.keeps_labels,
            "rule": self.rule,
        }

    @functools.cached_property
    def _table(self) -> Any:
        words = self._both_ways
        return load_core().text.SubstitutionTable(
            pa.array(list(words), pa.large_string()),
            pa.array(list(words.values()), pa.large_string()),
            _CODE,
            ignore_case=self.ignore_case,
        )

    @property
    def _both_ways(self) -> dict[str, str]:
        """The mapping with letters and accents as one sign and as two: texts have either."""
        words = dict(self.mapping)
        known = {key.translate(_LOWER) if self.ignore_case else key for key in words}
        for key, value in self.mapping.items():
            for form in () if key.isascii() else ("NFC", "NFD"):
                other = unicodedata.normalize(form, key)
                folded = other.translate(_LOWER) if self.ignore_case else other
                if folded not in known:
                    known.add(folded)
                    words[other] = value
        return words

    def replace(
        self, texts: pa.Array | Sequence[str | None], *, n_threads: int | None = None
    ) -> Any:
        """Replace words in strings.

        Parameters
        ----------
        texts
            Arrow array of strings or large strings, or a sequence of Python's; None stays None.
        n_threads
            Threads to use; None: all cores.

        Returns
        -------
        pyarrow.Array or list of str
            As `texts` is.
        """
        if isinstance(texts, pa.Array):
            return pa.array(self._table.replace_words(texts, n_threads=n_threads)[0])
        if isinstance(texts, str):
            raise InputError("texts is a sequence of texts, not one text")
        strings = pa.array(texts, pa.large_string())
        return pa.array(self._table.replace_words(strings, n_threads=n_threads)[0]).to_pylist()

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Replace words; see :meth:`ietest_fast.transform.Transformation.transform`."""
        kernel = functools.partial(
            self._table.replace_words, with_edits=with_edits, n_threads=n_threads
        )
        made = transform_each(
            kernel, table, text_columns, with_edits=with_edits, rules=(self.rule,)
        )
        if self.keeps_labels:
            return made
        return dataclasses.replace(made, labels=pa.nulls(table.num_rows, pa.string()))


def _fold(key: str, *, ignore_case: bool) -> str:
    composed = unicodedata.normalize("NFC", key)
    return composed.translate(_LOWER) if ignore_case else composed


def read_mapping(path: str | Path, *, ignore_case: bool = False) -> dict[str, str]:
    """Read a mapping of words from a file; blanks around them are of no word."""
    from ietest_fast.corpus.columns import check_columns
    from ietest_fast.corpus.streams import open_batches

    path = Path(path)
    columns = ("old", "new")
    with open_batches(path) as reader:
        check_columns(path, reader.schema.names, columns)
    mapping: dict[str, str] = {}
    values: dict[str, str] = {}
    with open_batches(path, columns=columns, texts=columns) as reader:
        pairs = (
            pair
            for batch in reader
            for pair in zip(*(_trimmed(batch[name]) for name in columns), strict=True)
        )
        for row, (old, new) in enumerate(pairs):
            if not old or new is None:
                name = "new" if old else "old"
                raise InputError("a word is missing", path=path, row=f"row {row}", column=name)
            before = values.setdefault(_fold(old, ignore_case=ignore_case), new)
            if before != new:
                case = " (case is ignored)" if ignore_case else ""
                raise InputError(
                    f"{old!r} is replaced by {before!r} before and by {new!r} here{case}; "
                    "remove one of the rows",
                    path=path,
                    row=f"row {row}",
                )
            mapping[old] = new
    if not mapping:
        raise InputError("has no rows; at least one is needed", path=path)
    return mapping


def _trimmed(column: pa.Array) -> list[str | None]:
    texts: list[str | None] = pc.utf8_trim_whitespace(column.cast(pa.large_string())).to_pylist()
    return texts


def describe_words(words: Sequence[Any]) -> dict[str, Any] | None:
    """Return what runs record of words from a file: how many, and which; None for none."""
    if not words:
        return None
    return {"n": len(words), "sha256": fingerprint_of({"words": sorted(words)})}


def transform_each(
    kernel: Any,
    table: pa.Table,
    text_columns: Sequence[str],
    *,
    with_edits: bool,
    rules: Sequence[str],
    edits_may_cancel: bool = True,
) -> Transformed:
    """Run a kernel of the core on each chunk of each text column.

    If `edits_may_cancel` is false, a row with an edit has changed, and its texts are not compared.
    """
    touched = np.zeros(table.num_rows, np.bool_)
    texts: dict[str, list[pa.Array]] = {}
    edits: list[pa.Table] = []
    for name in text_columns:
        first = 0
        texts[name] = []
        for chunk in as_strings(table[name]).chunks:
            strings, chunk_changed, n_changed, exported = kernel(chunk)
            texts[name].append(pa.array(strings) if n_changed else chunk)
            touched[first : first + len(chunk)] |= chunk_changed
            if with_edits and n_changed:
                edits.append(make_edits(exported, name, text_columns, first, rules))
            first += len(chunk)
    new = replace_columns(table, texts)
    return Transformed(
        table=new,
        changed=find_changed(table, new, text_columns, touched) if edits_may_cancel else touched,
        edits=pa.concat_tables([EDIT_SCHEMA.empty_table(), *edits]) if with_edits else None,
    )


# Replacing tagged words by what a table says of them and of the words beside them.


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

    edits_are_independent = True  # each word is replaced by itself

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the table and what tags the words, 64 hexadecimal digits."""
        parts = [str(_VERSION), "tagged", self.words.fingerprint, self.tagger.fingerprint]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def _options(self) -> dict[str, Any]:
        tagger = {"tagger": pipeline_name(self.tagger)}
        return {**tagger, **self.settings, "n_synonyms": len(self.words)}

    @functools.cached_property
    def _kernel(self) -> Any:
        return load_core().text.TaggedTable(**self.words.columns(RULES))

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
        columns = select_texts(table, names)
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
        return put_texts(table, texts, made if with_edits else None, touched)

    def _tags(self, columns: pa.Table, n_threads: int | None) -> list[TokenTags]:
        tags = self.tagger.tag(join_columns(columns), n_process=n_threads)
        tags = _without_spaces(tags)
        n = columns.num_rows
        return [
            dataclasses.replace(tags, offsets=tags.offsets[i * n : (i + 1) * n + 1])
            for i in range(columns.num_columns)
        ]


def select_texts(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return columns of texts as strings, whose batches cut all of them at the same rows.

    A text that is too long for the tagger, which does not know where it stands, is named.
    """
    from ietest_fast.lexicon.annotator import find_too_long

    columns = pa.table([as_strings(table[name]) for name in names], names=names)
    for name in names:
        found = find_too_long(columns[name])
        if found is not None:
            raise RowError(found[1], index=found[0], column=name)
    return columns


def join_columns(columns: pa.Table) -> pa.ChunkedArray:
    """Return the texts of all columns, which are looked at together: a text may be in several."""
    chunks = [
        chunk.cast(pa.large_string()) for column in columns.columns for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.large_string())


def _without_spaces(tags: TokenTags) -> TokenTags:
    """Leave out what a tagger makes of white space: a word's neighbours are words and marks."""
    from ietest_fast.lexicon import UPOS

    kept = tags.pos != UPOS.index("SPACE")
    return tags if kept.all() else tags.keep(kept)


def pipeline_name(pipeline: Annotator[Any]) -> str:
    """Return the name of a tagger or parser without the folder that it may stand in."""
    return Path(pipeline.name).name
