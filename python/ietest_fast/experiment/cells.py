"""A cell on disk: its predictions, and in the same file what it says of itself."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError, StoreError
from ietest_fast.evaluation import Predictions
from ietest_fast.experiment.artefacts import MADE_ANEW
from ietest_fast.experiment.claim import check_recorded
from ietest_fast.experiment.identity import canonical_json
from ietest_fast.files import read_bytes
from ietest_fast.values import as_finite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

_CELL_KEY = b"ietest-fast.cell"


@dataclass(frozen=True, kw_only=True)
class CellRecord:
    """A finished cell."""

    identity: str
    """sha256 of all that affects the result."""
    model: str
    phi: str | None
    rho: float
    m: int
    """Which cell it is: keys of the model and of the transformation of its training data (None at
    rho = 0)."""
    metrics: Mapping[str, Any]
    """Numbers of this cell, ready for JSON: ``valid_accuracy``, ``train_transformed``,
    ``valid_transformed`` and, unless it was trained on all rows, ``train_size``."""
    artefact: str
    """File name under ``cells/``."""
    sha256: str
    """Of that file."""
    seconds: float | None = None
    """What it took; None if that went down with a killed run."""

    def __post_init__(self) -> None:
        texts = (self.identity, self.model, self.phi or "", self.artefact, self.sha256)
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("a name is no text")
        if not _is_share(self.rho) or not _is_count(self.m):
            raise ValueError(f"there is no cell rho={self.rho!r}, m={self.m!r}")
        if not _is_share(self.metrics["valid_accuracy"]):
            raise ValueError(f"valid_accuracy is {self.metrics['valid_accuracy']!r}")
        for name in ("train_transformed", "valid_transformed", "train_size"):
            if not _is_count(self.metrics.get(name, 0 if name == "train_size" else None)):
                raise ValueError(f"{name} is {self.metrics[name]!r}")


def _is_share(value: Any) -> bool:
    number = as_finite(value)
    return number is not None and 0 <= number <= 1


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def make_predictions(
    gold: NDArray[np.int8],
    versions: Mapping[str, NDArray[np.int8]],
    changed: Mapping[str, NDArray[np.bool_]],
    *,
    label_names: Sequence[str],
    **which: str | float,
) -> Predictions:
    """Make the table of a cell's answers."""
    unchanged = np.zeros(len(gold), dtype=np.bool_)
    return Predictions.from_codes(
        items=np.arange(len(gold), dtype=np.int64),
        gold=gold,
        versions=versions,
        label_names=label_names,
        columns=which,
        version_columns={
            "changed": {name: np.asarray(changed.get(name, unchanged)) for name in versions}
        },
    )


def match(predictions: Predictions, version: str) -> pa.Table:
    """Return the matched sample of a version: one row for each test observation, in their order."""
    import pyarrow as pa

    try:
        pairs = predictions.pairs(version)
    except InputError as error:
        raise ValueError(str(error)) from error
    if "changed" not in predictions.columns:
        raise ValueError("it has no column 'changed'")
    gold, original, transformed = pairs.gold, pairs.original, pairs.transformed
    n = len(gold)
    if pairs.n_unmatched or not np.array_equal(pairs.items, np.arange(n)):
        raise ValueError("its rows are not in their order")
    if min(gold.min(), original.min(), transformed.min()) < 0:
        raise ValueError("a label is missing")
    changed = predictions.table["changed"].to_numpy()
    return pa.table(
        {
            "row": np.arange(n, dtype=np.int64),
            "gold": gold.astype(np.int8),
            "original": original.astype(np.int8),
            "transformed": transformed.astype(np.int8),
            "original_correct": original == gold,
            "transformed_correct": transformed == gold,
            "changed": changed[pairs.version_rows],
        }
    )


def write_cell(predictions: Predictions, described: Mapping[str, Any]) -> bytes:
    """Write a cell's predictions, and in the metadata the fields of its record."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = predictions.table
    metadata = {**(table.schema.metadata or {}), _CELL_KEY: canonical_json(described).encode()}
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(metadata), sink, compression="zstd")
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def describe_cell(name: str, data: bytes) -> CellRecord:
    """Read what a cell's file says of itself."""
    import pyarrow.parquet as pq

    described = json.loads(pq.read_schema(io.BytesIO(data)).metadata[_CELL_KEY])
    return CellRecord(**described, artefact=name, sha256=hashlib.sha256(data).hexdigest())


def read_cell_artefact(path: Path, *, remedy: str = "delete it and run again") -> CellRecord:
    """Read what a cell's artefact says of itself."""
    try:
        return describe_cell(path.name, read_bytes(path, most_bytes=None))
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path}: is damaged or no matched sample of a cell; {remedy}") from error


def read_predictions(path: Path, record: CellRecord | None = None) -> Predictions:
    """Read a cell's predictions.

    Parameters
    ----------
    path
        The file.
    record
        What the run's database says of the cell; None to look its checksum up.

    Raises
    ------
    StoreError
        If the file is not the one that was written, or the database says something else than it.
    ValueError
        If the file is damaged.
    """
    import pyarrow.parquet as pq

    data = read_bytes(path, most_bytes=None)
    if record is None:
        check_recorded(path, data)
    else:
        if hashlib.sha256(data).hexdigest() != record.sha256:
            raise StoreError(f"{path}: has changed since it was written; {MADE_ANEW}")
        if describe_cell(path.name, data) != replace(record, seconds=None):
            raise StoreError(
                f"{path}: says something else of its cell than the run's database; {MADE_ANEW}"
            )
    try:
        return Predictions.from_table(pq.read_table(io.BytesIO(data)), source=path.name)
    except InputError as error:
        raise ValueError(str(error)) from error
