"""Which rows a transformation may work on, by their label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BeforeValidator

from ietest_fast.corpus.columns import usual_label_column
from ietest_fast.corpus.dataset import is_text
from ietest_fast.corpus.labels import NLI_LABELS
from ietest_fast.errors import InputError
from ietest_fast.transform.columns import as_strings
from ietest_fast.transform.kinds import take_several

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

ALL_LABELS = "all"
"""Stands for every label, so that no column of labels is needed."""

Labels = Annotated[tuple[str, ...], BeforeValidator(take_several)]
"""Type of an option that names one label or several."""


@dataclass(frozen=True, kw_only=True)
class LabelChoice:
    """Which rows a transformation may work on, by their label.

    Attributes
    ----------
    names
        Labels, or :data:`ALL_LABELS` alone.
    column
        Where the labels are; None: ``label`` or ``gold_label``.
    coded
        Names of labels that are written as numbers from 0.
    """

    names: tuple[str, ...]
    column: str | None = None
    coded: tuple[str, ...] = NLI_LABELS

    def find_rows(self, table: pa.Table, name: str) -> npt.NDArray[np.bool_]:
        """Return which rows have one of the labels, bool (n,).

        Parameters
        ----------
        table
            n rows.
        name
            Of the transformation, for messages.

        Raises
        ------
        InputError
            If there is no such column, or it does not hold labels.
        """
        if self.names == (ALL_LABELS,):
            return np.ones(table.num_rows, np.bool_)
        column = self._find_column(table.schema.names, name)
        labels = table[column]
        if pa.types.is_floating(labels.type):  # as pandas has integers if one is missing
            labels = pc.if_else(pc.is_nan(labels), None, labels)
        if pa.types.is_integer(labels.type) or pa.types.is_floating(labels.type):
            known = [code for code, label in enumerate(self.coded) if label in self.names]
            wanted: pa.Array = pa.array(known, labels.type)
        else:
            kind = labels.type.value_type if pa.types.is_dictionary(labels.type) else labels.type
            if not (pa.types.is_null(kind) or is_text(kind)):
                raise InputError(
                    f"{name}: labels are names or whole numbers, not {kind}", column=column
                )
            labels = pc.utf8_lower(pc.utf8_trim_whitespace(as_strings(labels)))
            wanted = pa.array([label.lower() for label in self.names], labels.type)
        found: npt.NDArray[np.bool_] = pc.is_in(labels, value_set=wanted).to_numpy()
        return found

    def _find_column(self, columns: Sequence[str], name: str) -> str:
        if self.column is not None:
            if self.column not in columns:
                raise InputError(
                    f"{name}: there is no such column of labels; there are {', '.join(columns)}",
                    column=self.column,
                )
            return self.column
        how = f"--phi {name}:labels_in=COLUMN"
        found = usual_label_column(None, columns, how=how)
        if found is None:
            raise InputError(
                f"{name} keeps the label of some rows only ({', '.join(self.names)}), and there is "
                f"no column label or gold_label; name it ({how})"
            )
        return found
