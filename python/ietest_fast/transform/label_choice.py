"""Which rows a transformation may work on, by their label."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BeforeValidator

from ietest_fast.corpus.columns import usual_label_column
from ietest_fast.corpus.dataset import LABEL
from ietest_fast.corpus.labels import (
    MAX_LABELS,
    UnknownLabelError,
    answer_key,
    compare_labels,
    encode_labels,
    name_as_noted,
)
from ietest_fast.corpus.streams import open_batches
from ietest_fast.errors import InputError
from ietest_fast.transform.base import RowError
from ietest_fast.transform.kinds import take_several
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ietest_fast.corpus import Corpus

ALL_LABELS = "all"
"""Stands for every label, so that no column of labels is needed."""

_HOW = "--phi {}:labels_in=COLUMN"

Labels = Annotated[tuple[str, ...], BeforeValidator(take_several)]
"""Type of an option that names one label or several."""


@dataclass(frozen=True, kw_only=True)
class LabelChoice:
    """Which rows a transformation may work on, by their label."""

    names: tuple[str, ...]
    """Labels, or :data:`ALL_LABELS` alone."""
    column: str | None = None
    """Where the labels are; None: ``label`` or ``gold_label``."""
    codes: tuple[str, ...] = ()
    """Names of the labels of a corpus, which are int8; empty: the table is of no corpus."""
    among: tuple[str, ...] | None = None
    """Names of the labels of any other table, as :func:`ietest_fast.corpus.labels.encode_labels`
    takes them; None: those of the table itself."""

    @classmethod
    def of_source(
        cls, names: tuple[str, ...], column: str | None, source: Corpus | Path | None, name: str
    ) -> LabelChoice:
        """Read labels alike in all batches of what is to be transformed."""
        made = cls(names=names, column=column)
        if source is None or names == (ALL_LABELS,):
            return made
        if isinstance(source, Path):
            with open_batches(source) as reader:
                column = made._find_column(reader.schema.names, name)
            table = _read_distinct(source, column)
            return replace(made, among=_encode(table, column, name, None)[1])
        if column not in {None, LABEL} and column in source.table.column_names:
            return replace(made, among=_encode(source.table, column, name, None)[1])
        return replace(made, codes=source.label_names)

    def find_rows(self, table: pa.Table, name: str) -> npt.NDArray[np.bool_]:
        """Return which rows have one of the labels, bool (n,)."""
        if self.names == (ALL_LABELS,):
            return np.ones(table.num_rows, np.bool_)
        column = self._find_column(table.schema.names, name)
        if self.codes and table.schema.field(column).type == pa.int8():
            codes, names = table[column].to_numpy(), self.codes
        else:
            codes, names = _encode(table, column, name, self.among)
        place_of = {answer_key(known): place for place, known in enumerate(names)}
        wanted = [
            place for key in map(answer_key, self.names) if (place := place_of.get(key, -1)) >= 0
        ]
        are_numbers = all(map(str.isdecimal, names))
        if not wanted and names and (are_numbers or not self.codes):
            why = ", which stand for other things in each data set" if are_numbers else ""
            raise InputError(
                f"{name} keeps the label of some rows only ({', '.join(self.names)}), and labels "
                f"are {', '.join(map(show_value, names))}{why}; write such names into the file, or "
                f"name a column that has them ({_HOW.format(name)})",
                column=column,
            )
        found: npt.NDArray[np.bool_] = np.isin(codes, wanted)
        return found

    def _find_column(self, columns: Sequence[str], name: str) -> str:
        if self.column is not None:
            if self.column not in columns:
                raise InputError(
                    f"{name}: there is no such column of labels; there are {', '.join(columns)}",
                    column=self.column,
                )
            return self.column
        how = _HOW.format(name)
        found = usual_label_column(None, columns, how=how)
        if found is None:
            raise InputError(
                f"{name} keeps the label of some rows only ({', '.join(self.names)}), and there is "
                f"no column label or gold_label; name it ({how})"
            )
        return found


def _read_distinct(path: Path, column: str) -> pa.Table:
    """Read the different labels of a file, in bounded memory."""
    with open_batches(path, columns=[column], types_of="file") as reader:
        schema = reader.schema
        seen: list[pa.Array] = []
        for batch in reader:
            labels = batch[column]
            if pa.types.is_dictionary(labels.type):
                labels = labels.cast(labels.type.value_type)
            seen = [pc.unique(pa.chunked_array([*seen, labels]))]
            if len(seen[0]) > 2 * MAX_LABELS:  # too many, which whoever encodes them says
                break
    return pa.table(
        {column: pa.chunked_array(seen, None if seen else pa.null())}
    ).replace_schema_metadata(schema.metadata)


def _encode(
    table: pa.Table, column: str, name: str, among: tuple[str, ...] | None
) -> tuple[npt.NDArray[np.int8], tuple[str, ...]]:
    """Return labels as places among their names, and these; as in a corpus."""
    try:
        labels, known = name_as_noted(table, column, among)
        found = encode_labels(labels, label_names=known, is_pair=True)
        compare_labels(table, found, column)
    except UnknownLabelError as error:
        raise RowError(f"{name}: {error}", index=error.row, column=column) from None
    except InputError as error:  # of the names that the file notes
        raise InputError(f"{name}: {error}", column=column) from None
    return found.codes, found.names
