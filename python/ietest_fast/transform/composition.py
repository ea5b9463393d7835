"""Several transformations in turn, as one."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.transform.base import BaseTransformation, Transformed
from ietest_fast.transform.columns import are_same_rows, find_changed
from ietest_fast.transform.edits import STEP_SCHEMA, move_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from ietest_fast.transform.base import Transformation

MOST_STEPS = 20
"""How many transformations can be done in turn: each holds a copy of the texts, and its edits."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Composition(BaseTransformation):
    """Do one transformation after the other: each gets the texts that the one before it gave.

    Edits carry the number of their transformation in a column ``step``; those of a later step are
    edits of the texts of the step before. Labels are kept if every part keeps them. Otherwise they
    are those of the last part that does not keep labels: what it sets, or null in all rows if it
    sets none.

    Raises
    ------
    InputError
        If there are fewer or more.
    """

    parts: tuple[Transformation, ...]
    """At least two, at most :data:`MOST_STEPS`; parts of parts are parts."""

    def __post_init__(self) -> None:
        flat: list[Transformation] = []
        for part in self.parts:
            flat += part.parts if isinstance(part, Composition) else [part]
        if len(flat) < 2:
            raise InputError("a composition needs at least two transformations")
        check_steps(len(flat))
        object.__setattr__(self, "parts", tuple(flat))

    @property
    def name(self) -> str:
        """Names of the parts, joined by ``+``."""
        return "+".join(part.name for part in self.parts)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the parts' fingerprints in their order, 64 hexadecimal digits."""
        return compose_fingerprints([part.fingerprint for part in self.parts])

    @property
    def keeps_labels(self) -> bool:
        """Whether all parts keep labels."""
        return all(part.keeps_labels for part in self.parts)

    def describe(self) -> dict[str, Any]:
        """Return the name, and as ``options.parts`` what each part says of itself."""
        return {"name": self.name, "options": {"parts": [part.describe() for part in self.parts]}}

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Transform by each part in turn; see :meth:`Transformation.transform`."""
        now = table
        rows: npt.NDArray[np.int64] = np.arange(table.num_rows, dtype=np.int64)
        touched = np.zeros(table.num_rows, np.bool_)
        labels: pa.Array | pa.ChunkedArray | None = None
        edits: list[pa.Table] = []
        repeated: list[npt.NDArray[np.int64]] = []
        n_steps = 0
        for part in self.parts:
            made = part.transform(now, text_columns, with_edits=with_edits, n_threads=n_threads)
            source = made.source_row
            repeated.append(rows[made.repeated])
            rows, touched = rows[source], touched[source] | made.changed
            if made.labels is not None:
                labels = made.labels
            elif not part.keeps_labels:
                labels = pa.nulls(len(source), pa.string())
            elif labels is not None:
                labels = labels.take(pa.array(source))
            if made.edits is not None:
                edits = [move_rows(edit, source, now.num_rows) for edit in edits]
                edits.append(_with_step(made.edits, n_steps))
                n_steps += 1
            now = made.table
        before = table if are_same_rows(rows, table.num_rows) else table.take(rows)
        return Transformed(
            table=now,
            changed=find_changed(before, now, text_columns, touched),
            edits=pa.concat_tables([STEP_SCHEMA.empty_table(), *edits]) if with_edits else None,
            source_row=rows,
            labels=labels,
            repeated=np.setdiff1d(np.concatenate(repeated), rows),
        )


def check_steps(n_steps: int) -> None:
    """Refuse more transformations in turn than :data:`MOST_STEPS`."""
    if n_steps > MOST_STEPS:
        raise InputError(
            f"{n_steps:,} transformations are composed with +, and at most {MOST_STEPS} can be; do "
            "the first of them, and then the others on the texts that they gave"
        )


def compose_fingerprints(fingerprints: list[str]) -> str:
    """Return the fingerprint of several transformations in turn."""
    return hashlib.sha256("\n".join(["composition", *fingerprints]).encode()).hexdigest()


def _with_step(edits: pa.Table, step: int) -> pa.Table:
    steps = pa.array(np.full(len(edits), step, np.int8))
    return edits.append_column(STEP_SCHEMA.field("step"), steps)
