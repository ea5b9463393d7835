"""Tables in memory, of any kind, through a transformation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ietest_fast.corpus import Corpus
from ietest_fast.corpus.columns import find_text_columns
from ietest_fast.frames import to_arrow
from ietest_fast.transform.columns import check_text_columns
from ietest_fast.transform.files import label_column_of, put_labels, warn_of_old_labels
from ietest_fast.transform.kinds import Material
from ietest_fast.transform.phi import plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from ietest_fast.transform.base import Transformed
    from ietest_fast.transform.kinds import TextSource

_SOURCE = "<memory>"


@dataclass(frozen=True, kw_only=True, eq=False)
class TextTable:
    """Columns of an Arrow table, for a transformation to learn from."""

    table: pa.Table
    """Has these columns."""
    text_columns: tuple[str, ...]
    """Strings; missing texts are left out."""

    def text_chunks(self) -> Iterator[pa.Array]:
        """Yield arrays of strings or large strings, one after the other."""
        import pyarrow as pa

        for name in self.text_columns:
            for chunk in self.table.column(name).drop_null().chunks:
                is_plain = pa.types.is_string(chunk.type) or pa.types.is_large_string(chunk.type)
                yield chunk if is_plain else chunk.cast(pa.large_string())


def find_texts(table: pa.Table, text_columns: Sequence[str] | None, source: str) -> tuple[str, ...]:
    """Return the names of the columns of texts, after a check that they are."""
    names = table.column_names
    if text_columns is None and len(names) > 1:
        found, _ = find_text_columns(source, names)
    else:
        found = tuple(names if text_columns is None else text_columns)
    check_text_columns(table.schema, found)
    return found


def text_source(data: Any, text_columns: Sequence[str] | None) -> Corpus | TextSource:
    """Make texts to learn from of a corpus, or of a table of any kind."""
    if isinstance(data, Corpus):
        return data
    table = to_arrow(data, source="learn_from")
    return TextTable(table=table, text_columns=find_texts(table, text_columns, "learn_from"))


def transform_in_memory(
    data: Any,
    phi: Any,
    *,
    text_columns: Sequence[str] | None = None,
    label_column: str | None = None,
    learn_from: Any = None,
    n_threads: int | None = None,
) -> tuple[Transformed, pa.Table]:
    """Transform a table of any kind; see :class:`ietest_fast.transform.calling.TransformRoom`."""
    table = to_arrow(data, source=_SOURCE)
    columns = find_texts(table, text_columns, _SOURCE)
    learnt: Corpus | TextSource = TextTable(table=table, text_columns=columns)
    if learn_from is not None:
        learnt = text_source(learn_from, text_columns)
    with plan(phi) as planned:
        material = Material(corpora=(learnt,), tag_cache="temporary", n_threads=n_threads)
        transformation = planned.build(material)
        made = transformation.transform(table, columns, n_threads=n_threads)
    if not transformation.keeps_labels:
        own = label_column_of(_SOURCE, table.schema, label_column)
        warn_of_old_labels(_SOURCE, table, own, columns)
        made = replace(made, table=put_labels(made, own, _SOURCE))
    return made, made.edits
