"""Hashes and seeds, and files that are whole or not there."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest

from ietest_fast.atomic import write_artefact, write_text
from ietest_fast.errors import StoreError
from ietest_fast.experiment.artefacts import write_folder
from ietest_fast.experiment.identity import (
    bootstrap_seed,
    canonical_json,
    differing_keys,
    identify,
    search_seed,
    training_seed,
    trial_seed,
)


def test_identity_is_the_hash_of_canonical_json():
    value = {"b": [1, 0.1], "a": "ρ"}
    text = '{"a":"\\u03c1","b":[1,0.1]}'
    assert canonical_json(value) == text
    assert identify(value) == hashlib.sha256(text.encode()).hexdigest()
    assert identify({"a": "ρ", "b": [1, 0.1]}) == identify(value)
    with pytest.raises(ValueError, match=r"not JSON compliant|Out of range"):
        canonical_json({"a": float("nan")})


def test_each_cell_has_its_own_seed():
    seeds = [
        training_seed(seed, rho=rho, m=m)
        for seed in (0, 1)
        for rho in (0.0, 0.1, 0.2, 1.0)
        for m in range(5)
    ]
    others = [
        search_seed(0),
        *(trial_seed(0, number=i) for i in range(5)),
        *(bootstrap_seed(0, rho=0.1, m=m) for m in range(5)),
    ]
    assert len({*seeds, *others}) == len(seeds) + len(others)
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_differing_keys_are_dotted():
    a = {"data": {"train": 1, "test": 2}, "rho": [0, 1]}
    b = {"data": {"train": 1, "test": 3}, "rho": [0], "seed": 1}
    assert differing_keys(a, b) == ["data.test", "rho", "seed"]
    assert differing_keys(a, a) == []


def write_half(target):
    """Write into a folder that is given, or an open file."""
    if isinstance(target, Path):
        (target / "half").write_text("half")
    else:
        target.write(b"half")


def test_a_failed_write_leaves_nothing(tmp_path):
    def fail(target):
        write_half(target)
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        write_artefact(tmp_path / "file", fail)
    with pytest.raises(RuntimeError):
        write_folder(tmp_path / "folder", fail)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path):
    def fill(target):
        write_half(target)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for write in (write_artefact, write_folder):
        with pytest.raises(StoreError, match=r"result: cannot be written: No space left"):
            write(tmp_path / "result", fill)
    assert list(tmp_path.iterdir()) == []


def test_a_write_replaces_the_old_file_only_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "file"
    write_text(path, "old")
    with pytest.raises(RuntimeError):
        write_artefact(path, lambda _: (_ for _ in ()).throw(RuntimeError()))
    assert path.read_text() == "old"
    write_text(path, "ρ\n")
    assert path.read_bytes() == "ρ\n".encode()
