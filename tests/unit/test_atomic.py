"""What stands on the disk when a file gets its name, and what is left when it does not."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.atomic import write_file
from ietest_fast.corpus import BatchWriter

if TYPE_CHECKING:
    from collections.abc import Callable

TABLE = pa.table({"text": ["a", "b"] * 1000})


def write_batches(path: Path) -> None:
    with BatchWriter(path, TABLE.schema) as writer:
        writer.write(TABLE)


def write_bytes(path: Path) -> None:
    write_file(path, lambda file: file.write(b"text") and None)


WRITERS = [
    pytest.param(write_batches, name, id=name)
    for name in ("a.csv", "a.csv.gz", "a.tsv.zst", "a.jsonl", "a.jsonl.bz2", "a.parquet")
]
WRITERS += [pytest.param(write_bytes, "x", id="bytes")]


@pytest.mark.parametrize(("write", "name"), WRITERS)
def test_a_file_is_on_the_disk_before_and_after_it_gets_its_name(
    write: Callable[[Path], None], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[tuple[object, ...]] = []
    fsync, replace = os.fsync, Path.replace

    def noted_fsync(descriptor: int) -> None:
        found = os.fstat(descriptor)
        events.append(
            ("sync", found.st_ino, None if stat.S_ISDIR(found.st_mode) else found.st_size)
        )
        fsync(descriptor)

    def noted_replace(self: Path, target: Path) -> Path:
        events.append(("rename", self.stat().st_ino))
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    path = tmp_path / name
    write(path)
    found = path.stat()
    assert events == [
        ("sync", found.st_ino, found.st_size),
        ("rename", found.st_ino),
        ("sync", tmp_path.stat().st_ino, None),
    ]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize(("write", "name"), WRITERS)
def test_the_mode_is_that_of_any_new_file(
    write: Callable[[Path], None], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patch:
            # The mask is the whole process's: other threads would create files without one.
            patch.setattr(os, "umask", pytest.fail)
            write(tmp_path / name)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640


def test_after_an_error_the_old_file_is_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(file: BinaryIO) -> None:
        file.write(b"new")
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_file(path, fail)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_may_close_the_file(tmp_path: Path) -> None:
    def write(file: BinaryIO) -> None:
        with file:
            file.write(np.arange(3, dtype=np.uint8).tobytes())

    write_file(tmp_path / "a", write)
    assert (tmp_path / "a").read_bytes() == b"\x00\x01\x02"


def test_ctrl_c_in_the_moment_of_creation_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("ietest_fast.atomic.os.fdopen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "a", lambda file: None)
    writer = BatchWriter(tmp_path / "a.parquet", pa.schema([("x", pa.int64())]))
    with pytest.raises(KeyboardInterrupt), writer:
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["n" * 255, "\u00e9" * 127])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path, name: str) -> None:
    write_file(tmp_path / name, lambda file: None)
    assert [path.name for path in tmp_path.iterdir()] == [name]
