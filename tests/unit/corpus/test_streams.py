from __future__ import annotations

import datetime as dt
import gzip
import json
import subprocess
import sys
import textwrap
import weakref
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from ietest_fast.corpus import BatchWriter, open_batches, read_corpus, reading, streams
from ietest_fast.errors import InputError, ResourceError

TABLE = pa.table(
    {
        "premise": ["A man.", 'He "says"', "Größe, ja", "back\\slash", "n/a", "x"],
        "hypothesis": pa.array(["b", "c", "", "d\x01", None, "y"], pa.large_string()),
        "label": pa.array([0, 1, 2, None, 1, 0], pa.int8()),
    }
)
SUFFIXES = ["parquet", "csv", "tsv", "jsonl", "csv.gz", "jsonl.gz", "tsv.zst"]


def written(path: Path, table: pa.Table, batch_rows: int = 2) -> Path:
    with BatchWriter(path, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=batch_rows):
            writer.write(batch)
        assert writer.n_rows == len(table)
    return path


def read(path: Path, **options: object) -> pa.Table:
    with open_batches(path, **options) as reader:  # type: ignore[arg-type]
        return pa.Table.from_batches(list(reader), reader.schema)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_read_again(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"a.{suffix}", TABLE)
    back = read(path)
    assert back.column_names == TABLE.column_names
    expected = {
        name: [None if v is None else str(v) for v in TABLE.column(name).to_pylist()]
        for name in TABLE.column_names
    }
    if suffix.startswith("tsv"):
        expected["hypothesis"][2] = None  # without quotes, nothing is a null
    got = {
        name: [None if v is None else str(v) for v in back.column(name).to_pylist()]
        for name in back.column_names
    }
    assert got == expected
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_json_lines_are_json(tmp_path: Path) -> None:
    table = TABLE.append_column("score", pa.array([0.5, None, 1e300, -0.0, 2.0, 3.0]))
    table = table.append_column("tags", pa.array([["a"], [], None, ["b", "c"], ["d"], []]))
    table = table.append_column("flag", pa.array([True, False, None, True, True, False]))
    path = written(tmp_path / "a.jsonl", table)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == table.to_pylist()


def test_objects_keep_the_keys_that_they_have(tmp_path: Path) -> None:
    objects = [{"b": 1, "a": 2}, {"a": 3}, {}, {"c": [1, None]}, {"d": {"e": "x"}}, {"d": {}}]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({"text": "t", "x": each}) + "\n" for each in objects))
    path = written(tmp_path / "out.jsonl", read(source))
    assert [json.loads(line)["x"] for line in path.read_text().splitlines()] == objects


DATES = ["2020-01-02", "2020-01-02T03:04:05Z", None]


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_strings_that_look_like_dates_stay_strings(tmp_path: Path, suffix: str) -> None:
    source = tmp_path / "in.jsonl"
    rows = [{"text": "a", "date": date, "more": {"dates": [date]}} for date in DATES]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    table = read(source)
    assert table.to_pylist() == rows
    back = read(written(tmp_path / f"out.{suffix}", table))
    assert back.column("date").to_pylist() == DATES
    if suffix != "csv":
        assert back.to_pylist() == rows
    # The first object has a null, so that the types are found by Arrow, which sees dates.
    rows = [{"text": "a", "label": None, "date": "2020-01-02"}, {**rows[0], "label": 1}]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    corpus = read_corpus(source, keep_columns=["date"])
    assert corpus.table.column("date").to_pylist() == ["2020-01-02"]


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "tsv"])
def test_dates_times_and_decimals_are_written_as_strings(tmp_path: Path, suffix: str) -> None:
    day, moment = dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4)  # noqa: DTZ001
    table = pa.table(
        {
            "day": pa.array([day, None], pa.date32()),
            "moment": pa.array([moment, None], pa.timestamp("s")),
            "category": pa.array([day, None], pa.date32()).dictionary_encode(),
            "price": pa.array([Decimal("1.50"), None], pa.decimal128(5, 2)),
        }
    )
    back = read(written(tmp_path / f"a.{suffix}", table))
    expected = ["2020-01-02", "2020-01-02 03:04:00", "2020-01-02", "1.50"]
    assert list(back.to_pylist()[0].values()) == expected
    assert list(back.to_pylist()[1].values()) == [None] * 4
    nested = pa.table({"days": [[day]], "by": pa.array([{"day": day}])})
    back = read(written(tmp_path / f"b.{suffix}", nested))
    cells = back.to_pylist()[0]
    if suffix != "jsonl":
        cells = {name: json.loads(cell) for name, cell in cells.items()}
    assert cells == {"days": ["2020-01-02"], "by": {"day": "2020-01-02"}}


@pytest.mark.parametrize(
    ("suffix", "values"),
    [
        ("jsonl", [b"a"]),
        ("jsonl", [[b"a"]]),
        ("jsonl", [float("inf")]),
        ("csv", [[b"a"]]),
        ("csv", [b"\xff"]),
        ("tsv", [b"\xff"]),
    ],
)
def test_what_cannot_be_written_is_explained(
    tmp_path: Path, suffix: str, values: list[object]
) -> None:
    table = pa.table({"text": ["a"], "raw": values})
    with (
        pytest.raises(InputError, match=r"column 'raw': .* cannot be written as"),
        BatchWriter(tmp_path / f"a.{suffix}", table.schema) as writer,
    ):
        writer.write(table)
    assert list(tmp_path.iterdir()) == []


def test_parquet_batches_are_gathered_into_row_groups(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", pa.concat_tables([TABLE] * 50), batch_rows=7)
    assert pq.ParquetFile(path).num_row_groups == 1
    with open_batches(path, batch_rows=100) as reader:
        assert reader.n_rows == 300
        assert [batch.num_rows for batch in reader] == [100, 100, 100]


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_columns_are_chosen_in_the_order_asked_for(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"a.{suffix}", TABLE)
    table = read(path, columns=["label", "premise"])
    assert table.column_names == ["label", "premise"]
    assert table.column("premise").to_pylist() == TABLE.column("premise").to_pylist()
    with pytest.raises(InputError, match=r"no such column.*did you mean 'premise'"):
        open_batches(path, columns=["premis"])


def test_a_file_is_closed_though_no_batch_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []

    def keep(path: Path) -> pq.ParquetFile:
        files.append(pq.ParquetFile(path))
        return files[0]

    monkeypatch.setattr(streams, "open_parquet", keep)
    with open_batches(written(tmp_path / "a.parquet", TABLE)):
        pass
    assert files[0].closed


def test_a_closed_reader_keeps_nothing_of_arrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    open_csv = pacsv.open_csv

    def watch(*arguments: object, **options: object) -> pacsv.CSVStreamingReader:
        reader = open_csv(*arguments, **options)
        opened.append(weakref.ref(reader))
        return reader

    monkeypatch.setattr(pacsv, "open_csv", watch)
    with open_batches(written(tmp_path / "a.csv", TABLE)) as reader:
        assert opened[0]() is not None
    assert opened[0]() is None
    assert list(reader) == []


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "long.parquet"
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(path, pa.schema({"text": pa.string()}), compression="none") as writer:
        for _ in range(40):
            row_group = rng.bytes(500_000).hex()
            texts = [row_group[start : start + 100] for start in range(0, 1_000_000, 100)]
            writer.write_table(pa.table({"text": texts}))
    assert path.stat().st_size > 35e6
    before, most = pa.total_allocated_bytes(), 0
    with open_batches(path) as batches:
        for _ in batches:
            most = max(most, pa.total_allocated_bytes() - before)
    assert 0 < most < 10e6


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("old", encoding="utf-8")

    def fail_half_way() -> None:
        with BatchWriter(path, TABLE.schema) as writer:
            writer.write(TABLE)
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail_half_way()
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_tab_cannot_be_written_to_tsv(tmp_path: Path) -> None:
    table = pa.table({"text": ["a", "b\tc"]})
    with (
        pytest.raises(InputError, match=r"row 1.*'text'.*tab"),
        BatchWriter(tmp_path / "a.tsv", table.schema) as writer,
    ):
        writer.write(table)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\rb", ""])
def test_names_of_columns_that_tsv_cannot_hold(tmp_path: Path, name: str) -> None:
    table = pa.table({name: ["x"]})
    with (
        pytest.raises(InputError, match=r"TSV file.*name the column, or write \.csv"),
        BatchWriter(tmp_path / "a.tsv.gz", table.schema),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
    assert read(written(tmp_path / "a.csv", table)).equals(table)


@pytest.mark.parametrize(
    ("suffix", "values"),
    [
        ("tsv", ["a", ""]),
        ("tsv", ["a", None]),
        ("csv", ["a", None]),
        ("csv", [1, None]),
        ("csv.gz", ["a", None]),
    ],
)
def test_a_row_that_would_be_a_blank_line_is_refused(
    tmp_path: Path, suffix: str, values: list[object]
) -> None:
    table = pa.table({"text": values})
    with pytest.raises(InputError, match=r"row 1.*'text'.*line is blank.*write \.jsonl or"):
        written(tmp_path / f"a.{suffix}", table, batch_rows=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("suffix", "values"), [("csv", ["a", "", "b"]), ("jsonl", ["", None]), ("parquet", ["", None])]
)
def test_one_column_keeps_its_rows(tmp_path: Path, suffix: str, values: list[object]) -> None:
    back = read(written(tmp_path / f"a.{suffix}", pa.table({"text": values})))
    assert back["text"].to_pylist() == values


def test_other_columns_are_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="expected premise, hypothesis, label"),
        BatchWriter(tmp_path / "a.csv", TABLE.schema) as writer,
    ):
        writer.write(TABLE.select(["label", "premise"]))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with (
        pytest.raises(ResourceError, match="cannot be written"),
        BatchWriter(tmp_path / "none" / "a.csv", TABLE.schema),
    ):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl", "csv.gz"])
@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are POSIX")
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, suffix: str) -> None:
    # A limit on the size of files stands for the disk.
    script = f"""
        import resource
        import pyarrow as pa
        from ietest_fast.corpus import BatchWriter
        from ietest_fast.errors import ResourceError
        import random
        rng = random.Random(0)
        table = pa.table({{"text": [rng.randbytes(30).hex() for _ in range(20_000)]}})
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        try:
            with BatchWriter({str(tmp_path / f"a.{suffix}")!r}, table.schema) as writer:
                for batch in table.to_batches(max_chunksize=1000):
                    writer.write(batch)
        except ResourceError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert "cannot be written" in done.stdout, done
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ends", ["\r\n", "\r\r\n", "\r"])
@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_line_ends_in_fields_stay_where_a_block_ends_between_them(
    tmp_path: Path, suffix: str, ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrow 26 drops the second half of one (apache/arrow 51368)."""
    for module in (streams, reading):
        monkeypatch.setattr(module, "_BLOCK_BYTES", 4096)
    for place in range(4080, 4100):
        lines = "text,label\r\nfirst,a\r\n"
        text = "q" * (place - len(lines)) + f"{ends}END"
        written = f'{lines}"{text}",b\r\nlast,a\r\n'.encode()
        path = tmp_path / f"{place}.{suffix}"
        path.write_bytes(gzip.compress(written) if suffix.endswith("gz") else written)
        assert read(path)["text"].to_pylist() == ["first", text, "last"], place
        assert read_corpus(path).texts("text").to_pylist() == ["first", text, "last"], place


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([{"k": 1}, {"k": 2}], True),
        ([{"k": 1}, {"j": [{"a": "x"}]}], True),
        ([[1], []], True),
        ([[], [{"k": 1}]], True),
        ([None, {"k": 1}], True),
        ([{"k": 1}, {"k": "x"}], False),
        ([{"k": 1.5}, {"k": 2**60}], False),
        ([[1], {"k": 1}], False),
    ],
)
def test_objects_and_lists_stay_what_they_are_beside_a_column_of_several_types(
    tmp_path: Path, values: list[object], *, kept: bool
) -> None:
    path = tmp_path / "a.jsonl"
    rows = [
        {"text": "t", "mixed": mixed, "own": own}
        for mixed, own in zip((1, "x"), values, strict=True)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with (
        open_batches(path, types_of="file") as reader,
        BatchWriter(tmp_path / "b.jsonl", reader.schema) as writer,
    ):
        for batch in reader:
            writer.write(batch)
    back = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert [row["mixed"] for row in back] == ["1", "x"]
    as_text = [None if own is None else json.dumps(own) for own in values]
    assert [row["own"] for row in back] == (values if kept else as_text)
