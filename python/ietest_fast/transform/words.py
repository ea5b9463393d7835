"""Replacing whole words by a table, wherever they stand."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.runtime import load_core
from ietest_fast.transform.base import (
    EDIT_SCHEMA,
    Transformed,
    as_strings,
    check_text_columns,
    make_edits,
    replace_columns,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Edits by a table that the user made count as its own choice.
_RULE = np.zeros(1, np.int8)


@dataclass(frozen=True, kw_only=True, eq=False)
class WordSubstitution:
    """Replace every key between word boundaries by its value; the longest key wins.

    Boundaries are those of Unicode Standard Annex 29 on ASCII text (``don't``, ``3.14`` and
    ``snake_case`` are one word each) and close to it beyond. A key of several words has to stand
    there as it is, blanks included.

    Parameters
    ----------
    mapping
        Key -> value; no key is empty.
    ignore_case
        Whether A to Z are as good as a to z in the text. The value is put in as it is.
    keeps_labels
        What the caller says about the mapping.

    Raises
    ------
    InputError
        If a key is empty.
    """

    mapping: Mapping[str, str]
    ignore_case: bool = False
    keeps_labels: bool = True

    def __post_init__(self) -> None:
        if "" in self.mapping:
            raise InputError("a key of a word substitution is empty")
        object.__setattr__(self, "mapping", dict(self.mapping))

    @property
    def name(self) -> str:
        """``"words"``."""
        return "words"

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of keys, values and options, 64 hexadecimal digits."""
        digest = hashlib.sha256(f"words {self.ignore_case}\n".encode())
        for key, value in sorted(self.mapping.items()):
            digest.update(f"{len(key)} {len(value)} {key}{value}\n".encode())
        return digest.hexdigest()

    @functools.cached_property
    def _table(self) -> Any:
        return load_core().text.SubstitutionTable(
            pa.array(list(self.mapping), pa.large_string()),
            pa.array(list(self.mapping.values()), pa.large_string()),
            _RULE,
            ignore_case=self.ignore_case,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_table"}

    def replace(self, texts: pa.Array, *, n_threads: int | None = None) -> pa.Array:
        """Replace words in an array of strings or large strings."""
        return pa.array(self._table.replace_words(texts, n_threads=n_threads)[0])

    def transform(
        self,
        table: pa.Table,
        text_columns: Sequence[str],
        *,
        with_edits: bool = True,
        n_threads: int | None = None,
    ) -> Transformed:
        """Replace words; see :meth:`ietest_fast.transform.Transformation.transform`."""
        check_text_columns(table.schema, text_columns)
        kernel = functools.partial(
            self._table.replace_words, with_edits=with_edits, n_threads=n_threads
        )
        return transform_each(kernel, table, text_columns, with_edits=with_edits)


def transform_each(
    kernel: Any, table: pa.Table, text_columns: Sequence[str], *, with_edits: bool
) -> Transformed:
    """Run a kernel of the core on each chunk of each text column."""
    changed = np.zeros(table.num_rows, np.bool_)
    texts: dict[str, list[pa.Array]] = {}
    edits: list[pa.Table] = []
    for name in text_columns:
        first = 0
        texts[name] = []
        for chunk in as_strings(table[name]).chunks:
            strings, chunk_changed, n_changed, exported = kernel(chunk)
            texts[name].append(pa.array(strings) if n_changed else chunk)
            changed[first : first + len(chunk)] |= chunk_changed
            if with_edits and n_changed:
                edits.append(make_edits(exported, name, text_columns, first))
            first += len(chunk)
    return Transformed(
        table=replace_columns(table, texts),
        changed=changed,
        edits=pa.concat_tables([EDIT_SCHEMA.empty_table(), *edits]) if with_edits else None,
    )
