"""Small files that stand for much: refused by what they say, before it is unpacked."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import run_here

HEADER = json.dumps({"eval": {"task": "t", "eval_id": "e"}, "status": "success"})
ROWS = b"A dog,It rains,0\n" * 60_000
MIB = 1 << 20


def _repeat(pack: Callable[[bytes], bytes], head: bytes, unit: bytes, n: int) -> bytes:
    """Packed texts one behind the other are one packed text."""
    return pack(head) + pack(unit) * n


def _archive(*samples: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method, compresslevel=1) as archive:
        archive.writestr("header.json", HEADER)
        for number, sample in enumerate(samples, start=1):
            archive.writestr(f"samples/{number}_epoch_1.json", sample)
    return file.getvalue()


def _claim(archive: bytes, n_bytes: int) -> bytes:
    """Let the directory say another size of every sample."""
    changed, place = bytearray(archive), archive.find(b"PK\x01\x02")
    while (place := changed.find(b"PK\x01\x02", place + 4)) >= 0:
        struct.pack_into("<L", changed, place + 24, n_bytes)
    return bytes(changed)


def _overlap() -> bytes:
    """Let many entries of the directory lead to the same member."""
    whole = _archive(b'{"id": 1, "x": "' + bytes(3 * MIB).replace(b"\0", b"y") + b'"}')
    begin, end = whole.find(b"PK\x01\x02"), whole.rfind(b"PK\x05\x06")
    second = whole.find(b"PK\x01\x02", begin + 4)
    n = 50
    directory = whole[begin:second] + whole[second:end] * n
    tail = bytearray(whole[end:])
    struct.pack_into("<HHLL", tail, 8, n + 1, n + 1, len(directory), begin)
    return whole[:begin] + directory + bytes(tail)


def _parquet(table: pa.Table, **options: bool) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd", **options)
    return file.getvalue()


def _repeated(n: int) -> pa.Table:
    codes = pa.array(np.zeros(n, np.int32))
    text = pa.DictionaryArray.from_arrays(codes, pa.array(["z" * 200_000]))
    return pa.table({"premise": text, "hypothesis": text, "label": np.zeros(n, np.int8)})


def _header(shape: tuple[int, ...], kind: str = "<f4") -> bytes:
    file = io.BytesIO()
    said = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, said)
    return file.getvalue() + bytes(64)


class Boom:
    def __reduce__(self) -> object:
        return (pytest.fail, ("a pickle was loaded",))


def _pickled() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([Boom()], dtype=object), allow_pickle=True)
    return file.getvalue()


def _zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, "zstd", asbytes=True)
    return packed


VECTORS = ["difficulty", "good.csv", "--embeddings"]
CSV = b"premise,hypothesis,label\n"
LISTS = b'{"id": 1, "x": [0' + b",[]" * 13_000_000 + b"]}"

# Name, content, command, what is said.
CASES: dict[str, tuple[str, Callable[[], bytes], list[str], str]] = {
    "gzip": ("a.csv.gz", lambda: _repeat(gzip.compress, CSV, ROWS, 300), ["describe"], "unpacks"),
    "zstd": ("a.csv.zst", lambda: _repeat(_zstd, CSV, ROWS, 300), ["describe"], "unpacks"),
    "one line": (
        "a.jsonl.gz",
        lambda: _repeat(gzip.compress, b'{"premise": "', b"x" * MIB, 300),
        ["describe"],
        "unpacks",
    ),
    "ParaNLU": (
        "a.json.gz",
        lambda: _repeat(gzip.compress, b'{"bucket_confidences": "', b"x" * MIB, 300),
        ["consistency"],
        "unpacks",
    ),
    "three large members": (
        "a.eval",
        lambda: _claim(_archive(*[b'{"id": 1}'] * 3), 900 * MIB),
        ["eval"],
        "unpacks to 2,8",
    ),
    "members that overlap": ("a.eval", _overlap, ["eval"], "overlap"),
    "a member that lies": (
        "a.eval",
        lambda: _claim(_archive(b'{"id": 1, "x": "' + b"y" * 20 * MIB + b'"}'), 1000),
        ["eval"],
        "damaged",
    ),
    "a member that is short": (
        "a.eval",
        lambda: _claim(_archive(b'{"id": 1}'), 1000),
        ["eval"],
        "damaged",
    ),
    "values without end": ("a.eval", lambda: _archive(LISTS), ["eval"], "GB of memory"),
    "a rare compression": (
        "a.eval",
        lambda: _archive(b'{"id": 1}', method=zipfile.ZIP_LZMA),
        ["eval"],
        "method 14",
    ),
    "an archive in one": ("a.eval", lambda: _archive(_archive(b"{}")), ["eval"], "not JSON"),
    "deep": ("a.json", lambda: b'{"eval": ' * 500_000, ["eval"], "nested"),
    "digits": ("a.jsonl", lambda: b'{"premise": ' + b"9" * MIB + b"}", ["describe"], "digits"),
    "repeated texts": ("a.parquet", lambda: _parquet(_repeated(9000)), ["describe"], "unpacks"),
    "repeated texts, plain": (
        "a.parquet",
        lambda: _parquet(_repeated(9000), store_schema=False),
        ["describe"],
        "unpacks",
    ),
    "a huge shape": ("a.npy", lambda: _header((1 << 40, 768)), VECTORS, "is damaged"),
    "a shape below 0": ("a.npy", lambda: _header((-1, 768)), VECTORS, "is damaged"),
    "a shape beyond all": ("a.npy", lambda: _header((1 << 62, 0)), VECTORS, "is damaged"),
    "fewer numbers": ("a.npy", lambda: _header((6, 768)), VECTORS, "is damaged"),
    "pickled": ("a.npy", _pickled, VECTORS, "pickle"),
    "a pickle": ("a.npy", lambda: pickle.dumps(Boom()), VECTORS, "no array"),
    "a header of brackets": (
        "a.npy",
        lambda: b"\x93NUMPY\x01\x00" + struct.pack("<H", 9000) + b"(" * 9000,
        VECTORS,
        "no array",
    ),
    "deep TOML": ("a.toml", lambda: b"a = " + b"[" * 200_000, ["run"], "nested too deep"),
    "wide TOML": ("a.toml", lambda: b"a" + b".a" * 100_000 + b" = 1", ["run"], "5,000 dots"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_small_file_that_stands_for_much_is_refused(tmp_path: Path, case: str) -> None:
    name, make, command, said = CASES[case]
    (tmp_path / name).write_bytes(make())
    rows = "".join(f"a{i},b,{i % 2}\n" for i in range(6))
    (tmp_path / "good.csv").write_text(f"premise,hypothesis,label\n{rows}")
    status, out, err = run_here(*command, name, folder=tmp_path)
    assert (status, out, len(err.splitlines())) == (1, "", 1), err
    assert err.startswith(f"Error: {name}")
    assert said in err


def test_a_large_file_may_unpack_to_more() -> None:
    from ietest_fast.files import LEAST_UNPACKED, MOST_RATIO, most_unpacked

    assert most_unpacked(1) == LEAST_UNPACKED
    assert most_unpacked(LEAST_UNPACKED) == MOST_RATIO * LEAST_UNPACKED
