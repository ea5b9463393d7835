"""Files that are whole or not there at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ietest_fast.atomic import write_text
from ietest_fast.errors import StoreError
from ietest_fast.experiment.artefacts import write_folder


def _fill(folder):
    for name in ("train", "valid/deeper"):
        (folder / name).mkdir(parents=True)
        (folder / name / "a.npy").write_bytes(b"a")
    (folder / "summary.json").write_text("{}")


def test_everything_below_a_folder_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch):
    events = []
    fsync, replace = os.fsync, Path.replace

    def record_sync(descriptor):
        events.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def record_rename(self, target):
        events.append("renamed")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(Path, "replace", record_rename)
    path = tmp_path / "encoded" / "ab"
    write_folder(path, _fill)

    before = events[: events.index("renamed")]
    everything = [path, *path.rglob("*")]
    assert len(everything) == 7
    for each in everything:
        assert each.stat().st_ino in before
        if each != path:
            # A folder's entries count only once what they name is there.
            parent = each.parent.stat().st_ino
            assert before.index(each.stat().st_ino) < before.index(parent)
    assert events[len(before) + 1 :] == [path.parent.stat().st_ino]


@pytest.mark.parametrize(
    "write", [lambda path: write_folder(path, _fill), lambda path: write_text(path, "text")]
)
def test_a_folder_that_cannot_be_made_is_told_with_its_name(tmp_path, write):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"file/below/name: cannot be written"):
        write(tmp_path / "file" / "below" / "name")
    assert [path.name for path in tmp_path.rglob("*")] == ["file"]


def test_a_folder_that_is_there_already_is_left_alone(tmp_path):
    path = tmp_path / "ab"
    path.mkdir()
    (path / "kept").touch()
    with pytest.raises(StoreError, match="ab: cannot be written"):
        write_folder(path, _fill)
    assert [each.name for each in tmp_path.rglob("*")] == ["ab", "kept"]
