"""Texts of another file, without labels: what tests that set labels can be made of."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ietest_fast.corpus.columns import check_columns, list_names
from ietest_fast.corpus.dataset import is_text
from ietest_fast.corpus.streams import open_batches
from ietest_fast.errors import InputError, shorten_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: What a column of texts may be called, in this order.
TEXT_COLUMNS = ("text", "sentence", "question", "premise")


@dataclass(frozen=True, kw_only=True, eq=False)
class ForeignTexts:
    """Texts of a file."""

    table: pa.Table
    """n rows with the columns of texts of a labelled corpus: the first holds the texts, the others
    are null."""
    source: Path
    """The file."""

    @property
    def items(self) -> pa.Array:
        """Names of the rows, shape (n,): the file's name and the number of the row, from 0."""
        return pa.array([f"{self.source.name}:{row}" for row in range(self.table.num_rows)])

    @property
    def fingerprint(self) -> str:
        """Sha256 of the texts, 64 hexadecimal digits."""
        digest = hashlib.sha256()
        for text in self.table.column(0).to_pylist():
            # A length tells a missing text from an empty one, and where each begins.
            data = b"" if text is None else text.encode()
            digest.update(f"{-1 if text is None else len(data)}:".encode() + data)
        return digest.hexdigest()

    def text_chunks(self) -> Iterator[pa.Array]:
        """Yield arrays of large strings, for a transformation to learn from."""
        yield from self.table.column(0).drop_null().chunks


def read_foreign_texts(
    path: str | Path, column: str | None, text_columns: Sequence[str]
) -> ForeignTexts:
    """Read a column of texts, such as AQuA-RAT's word problems."""
    path = Path(path)
    with open_batches(path) as batches:
        schema = batches.schema
    if column is None:
        column = _find_column(path, schema)
    check_columns(path, schema.names, [column])
    with open_batches(path, columns=[column], texts=[column]) as batches:
        kind = batches.schema.field(column).type
        if not (is_text(kind) or pa.types.is_null(kind)):
            raise InputError(f"holds {kind}, texts expected", path=path, column=column)
        chunks = [batch.column(0).cast(pa.large_string()) for batch in batches]
    return _put(pa.chunked_array(chunks, pa.large_string()), path, column, text_columns)


def take_foreign_texts(texts: Iterable[str | None], text_columns: Sequence[str]) -> ForeignTexts:
    """Take texts as they are; see :func:`read_foreign_texts`."""
    try:
        column = pa.chunked_array([pa.array(list(texts), pa.large_string())])
    except (pa.ArrowException, TypeError) as error:
        raise InputError(f"texts must be strings: {shorten_error(error)}", path="texts") from error
    return _put(column, Path("texts"), None, text_columns)


def _put(
    texts: pa.ChunkedArray, source: Path, column: str | None, text_columns: Sequence[str]
) -> ForeignTexts:
    if texts.null_count == len(texts):
        raise InputError("holds no text", path=source, column=column)
    nothing = pa.nulls(len(texts), pa.large_string())
    first, *others = text_columns
    return ForeignTexts(
        table=pa.table({first: texts, **dict.fromkeys(others, nothing)}), source=source
    )


def _find_column(path: Path, schema: pa.Schema) -> str:
    names = [field.name for field in schema if is_text(field.type)]
    known = [name for name in TEXT_COLUMNS if name in names]
    if known or len(names) == 1:
        return str((known or names)[0])
    raise InputError(
        f"none of its columns is called {', '.join(TEXT_COLUMNS)}; they are "
        f"{list_names(schema.names)}; say which holds the texts (texts_column in a suite, "
        "--quantities-column)",
        path=path,
    )
