"""Columns of tables of answers that are no plain texts: taken as texts, or refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import run_here

if TYPE_CHECKING:
    from pathlib import Path

N = 20
TABLE = pa.table(
    {
        "item": [str(i) for i in range(N)] * 2,
        "version": ["original"] * N + ["reworded"] * N,
        "gold": ["a", "b"] * N,
        "predicted": ["a", "b", "b", "a"] * (N // 2),
        "premise": [f"text {i}" for i in range(2 * N)],
        "hypothesis": ["the same"] * 2 * N,
    }
)
DAMAGED = pa.Array.from_buffers(
    pa.string(),
    2 * N,
    [None, pa.py_buffer(b"".join(i.to_bytes(4, "little") for i in range(2 * N + 1))),
     pa.py_buffer(b"x" * 7 + b"\xff" + b"x" * (2 * N - 8))],
)  # fmt: skip
COLUMNS: dict[str, Any] = {
    "views": pa.array([f"v{i}" for i in range(2 * N)], pa.string_view()),
    "numbers": pa.array([float(i) for i in range(2 * N)]),
    "no numbers": pa.array([float("nan")] * 2 * N),
    "decimals": pa.array(list(range(2 * N)), pa.decimal128(9, 2)),
    "lists": pa.array([[i] for i in range(2 * N)]),
    "objects": pa.array([{"a": i} for i in range(2 * N)]),
    "bytes": pa.array([bytes([i]) for i in range(2 * N)]),
    "damaged": DAMAGED,
}


REFUSED = {"lists", "objects", "bytes", "damaged"}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("command", ["eval", "stress", "consistency", "report"])
def test_a_column_of_texts_is_taken_or_refused(tmp_path: Path, command: str, kind: str) -> None:
    place = TABLE.column_names.index("premise")
    pq.write_table(TABLE.set_column(place, "premise", COLUMNS[kind]), tmp_path / "in.parquet")
    status, _, err = run_here(command, "in.parquet", folder=tmp_path)
    said = [line for line in err.splitlines() if line.startswith("Error: ")]
    # Consistency reads no texts of answers: only what Arrow could not even copy is refused.
    refused = {"damaged"} if command == "consistency" else REFUSED
    if kind not in refused:
        assert (status, said) == (0, []), err
    else:
        assert (status, len(said)) == (1, 1), err
        assert "in.parquet" in said[0]
        assert "column 'premise'" in said[0]


@pytest.mark.parametrize("command", ["eval", "stress", "consistency", "report"])
def test_views_beside_the_answers_change_nothing(tmp_path: Path, command: str) -> None:
    with_views = TABLE.append_column("note", COLUMNS["views"])
    pq.write_table(TABLE, tmp_path / "a.parquet")
    pq.write_table(with_views, tmp_path / "b.parquet")
    plain, other = (run_here(command, f"{name}.parquet", folder=tmp_path) for name in "ab")
    assert plain[0] == other[0] == 0
    assert plain[1].replace("a.parquet", "") == other[1].replace("b.parquet", "")
