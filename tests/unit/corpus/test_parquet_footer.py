"""The number of values that a Parquet file's footer tells, against Arrow's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.corpus.formats import count_values
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

TABLE = pa.table(
    {
        "words": pa.array([["a"] * (i % 5) for i in range(200)]),
        "score": np.linspace(0, 1, 200),
        "both": pa.array([{"u": i, "v": [i]} for i in range(200)]),
        "label": pa.array(["é", None] * 100).dictionary_encode(),
    }
)


@pytest.mark.parametrize("rows", [200, 7])
@pytest.mark.parametrize(
    "options", [{}, {"write_page_index": True}, {"compression": "zstd", "version": "1.0"}]
)
def test_values_are_counted_as_arrow_counts_them(
    tmp_path: Path, rows: int, options: dict[str, Any]
) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet", row_group_size=rows, **options)
    about = pq.read_metadata(tmp_path / "t.parquet")
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    expected = sum(group.column(i).num_values for group in groups for i in range(group.num_columns))
    assert count_values(tmp_path / "t.parquet") == expected > 1000


def test_a_damaged_footer_is_an_error_or_a_number(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(TABLE, path, row_group_size=50)
    whole = path.read_bytes()
    size = int.from_bytes(whole[-8:-4], "little")
    refused = 0
    for place in range(len(whole) - 8 - size, len(whole) - 8, 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            count_values(path)
        except InputError:
            refused += 1
    assert refused > 10
    for wrong in (b"", b"\x3c" * 500 + (500).to_bytes(4, "little") + b"PAR1"):
        path.write_bytes(wrong)
        with pytest.raises(InputError, match="is damaged: its footer cannot be read"):
            count_values(path)
