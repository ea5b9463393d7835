"""Vectors of texts keep the type that they have in their file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses.difficulty.file import read_vectors
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

VALUES = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays(tmp_path: Path, kind: str, order: str) -> None:
    np.save(tmp_path / "v.npy", np.array(VALUES, dtype=kind, order=order))
    found = read_vectors(tmp_path / "v.npy")
    assert found.dtype == kind
    assert found.tolist() == VALUES.tolist()


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64(), pa.int8()], ids=str)
@pytest.mark.parametrize("size", [-1, 2], ids=["lists", "lists of a fixed size"])
def test_lists(tmp_path: Path, kind: pa.DataType, size: int) -> None:
    rows = list(VALUES.astype(kind.to_pandas_dtype()))
    pq.write_table(pa.table({"v": pa.array(rows, pa.list_(kind, size))}), tmp_path / "v.parquet")
    found = read_vectors(tmp_path / "v.parquet")
    assert found.dtype == kind.to_pandas_dtype()
    assert found.tolist() == VALUES.tolist()


@pytest.mark.parametrize("kind", [pa.float32(), pa.int8()], ids=str)
def test_a_missing_number_is_refused(tmp_path: Path, kind: pa.DataType) -> None:
    rows = pa.array([[1, 2], [3, None]], pa.list_(kind))
    pq.write_table(pa.table({"v": rows}), tmp_path / "v.parquet")
    with pytest.raises(InputError, match="1 vector has a number that is missing"):
        read_vectors(tmp_path / "v.parquet")


def test_a_number_that_is_infinite_is_found_behind_the_first_block(tmp_path: Path) -> None:
    values = np.zeros((3_000, 2), np.float32)
    values[2_345, 1] = np.inf
    np.save(tmp_path / "v.npy", values)
    with pytest.raises(InputError, match=r"row 2345.*1 vector has a number"):
        read_vectors(tmp_path / "v.npy")


def test_bytes_behind_the_array_are_refused(tmp_path):
    np.save(tmp_path / "v.npy", np.array(VALUES))
    with (tmp_path / "v.npy").open("ab") as file:
        file.write(b"\0\0")
    with pytest.raises(InputError, match="is damaged: its header says"):
        read_vectors(tmp_path / "v.npy")
