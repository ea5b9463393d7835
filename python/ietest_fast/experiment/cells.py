"""The cell (rho, m) on disk: its matched sample, and in the same file what it says of itself."""

from __future__ import annotations

import hashlib
import io
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import StoreError
from ietest_fast.experiment.identity import canonical_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

_CELL_KEY = b"ietest-fast.cell"


@dataclass(frozen=True, kw_only=True)
class CellRecord:
    """A finished cell.

    Attributes
    ----------
    identity
        sha256 of all that affects the result.
    model, rho, m
        Which cell it is.
    metrics
        Numbers of this cell, ready for JSON: ``valid_accuracy``, ``train_transformed`` and
        ``valid_transformed``.
    artefact
        File name under ``cells/``.
    sha256
        Of that file.
    seconds
        What it took; None if that went down with a killed run.

    Raises
    ------
    ValueError
        If a value is not what it should be.
    """

    identity: str
    model: str
    rho: float
    m: int
    metrics: Mapping[str, Any]
    artefact: str
    sha256: str
    seconds: float | None = None

    def __post_init__(self) -> None:
        texts = (self.identity, self.model, self.artefact, self.sha256)
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("a name is no text")
        if not _is_share(self.rho) or not _is_count(self.m):
            raise ValueError(f"there is no cell rho={self.rho!r}, m={self.m!r}")
        if not _is_share(self.metrics["valid_accuracy"]):
            raise ValueError(f"valid_accuracy is {self.metrics['valid_accuracy']!r}")
        for name in ("train_transformed", "valid_transformed"):
            if not _is_count(self.metrics[name]):
                raise ValueError(f"{name} is {self.metrics[name]!r}")


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= 1


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def matched_table(
    gold: NDArray[np.int8],
    original: NDArray[np.int8],
    transformed: NDArray[np.int8],
    changed: NDArray[np.bool_],
) -> pa.Table:
    """Make the matched sample of a cell; all arguments of shape (n,)."""
    import pyarrow as pa

    return pa.table(
        {
            "row": np.arange(len(gold), dtype=np.int64),
            "gold": np.asarray(gold),
            "original": original,
            "transformed": transformed,
            "original_correct": original == gold,
            "transformed_correct": transformed == gold,
            "changed": np.asarray(changed),
        }
    )


def check_matched(table: pa.Table, *, n_labels: int) -> None:
    """Check that a table is a matched sample: its columns, its rows in order, labels in range.

    Raises
    ------
    ValueError
        With what it is not.
    """
    none = np.zeros(0, np.int8)
    expected = matched_table(none, none, none, np.zeros(0, bool)).schema
    if not table.schema.remove_metadata().equals(expected):
        raise ValueError("it has other columns than a matched sample")
    if any(column.null_count for column in table.columns):
        raise ValueError("a value is missing")
    if not np.array_equal(table["row"].to_numpy(), np.arange(table.num_rows)):
        raise ValueError("its rows are not in their order")
    gold, original, transformed = (
        table[name].to_numpy() for name in ("gold", "original", "transformed")
    )
    for labels in (gold, original, transformed):
        if len(labels) and not 0 <= labels.min() <= labels.max() < n_labels:
            raise ValueError(f"a label is none of the {n_labels}")
    for name, labels in (("original", original), ("transformed", transformed)):
        if not np.array_equal(table[f"{name}_correct"].to_numpy(), labels == gold):
            raise ValueError(f"{name}_correct does not follow from the labels")


def write_cell(table: pa.Table, described: Mapping[str, Any]) -> bytes:
    """Write a cell's matched sample, and in its metadata the fields of its record.

    Parameters
    ----------
    table
        As :func:`matched_table` makes it.
    described
        ``identity``, ``model``, ``rho``, ``m`` and ``metrics``. They travel inside, so that a run
        killed before the cell's row was written can add the row.

    Returns
    -------
    bytes
        A Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = table.replace_schema_metadata({_CELL_KEY: canonical_json(described).encode()})
    sink = pa.BufferOutputStream()
    pq.write_table(whole, sink, compression="zstd")
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def describe_cell(name: str, data: bytes) -> CellRecord:
    """Read what a cell's file says of itself.

    Parameters
    ----------
    name
        What the file is called.
    data
        What is in it.

    Raises
    ------
    ValueError, LookupError, TypeError
        If it is no file of a cell, or damaged.
    """
    import pyarrow.parquet as pq

    described = json.loads(pq.read_schema(io.BytesIO(data)).metadata[_CELL_KEY])
    return CellRecord(**described, artefact=name, sha256=hashlib.sha256(data).hexdigest())


def read_cell_artefact(path: Path, *, remedy: str = "delete it and run again") -> CellRecord:
    """Read what a cell's artefact says of itself.

    Parameters
    ----------
    path
        The file.
    remedy
        What to do if it is damaged.

    Raises
    ------
    StoreError
        If the file is no artefact of a cell, or damaged.
    """
    try:
        return describe_cell(path.name, path.read_bytes())
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path}: is damaged or no matched sample of a cell; {remedy}") from error


def read_matched(path: Path, record: CellRecord) -> pa.Table:
    """Read a cell's matched sample: row, gold, both predictions, both outcomes, changed.

    Parameters
    ----------
    path
        The file.
    record
        What the run's database says of the cell.

    Raises
    ------
    StoreError
        If the file is not the one that was written, or the database says something else than it.
    """
    import pyarrow.parquet as pq

    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != record.sha256:
        raise StoreError(f"{path}: has changed since it was written; run into another folder")
    if describe_cell(path.name, data) != replace(record, seconds=None):
        raise StoreError(
            f"{path}: says something else of its cell than the run's database; run into another "
            "folder"
        )
    return pq.read_table(io.BytesIO(data))
