"""Files that are whole or not there at all."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.atomic import UNFINISHED, explain_write, hash_file, sync_file, sync_folder
from ietest_fast.errors import IetestError, InputError, StoreError
from ietest_fast.files import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


REPEAT = "give the run's command again, then it is made anew"
MADE_ANEW = f"delete it and {REPEAT}"
PUT_BACK = f"put back the one that was written, or {MADE_ANEW}"


@contextmanager
def reading(path: Path, *, remedy: str = MADE_ANEW) -> Iterator[None]:
    """Read what a run has left; say what to do if it is damaged."""
    try:
        yield
    except IetestError as error:
        # Its own files, which the door for files has not found or could not parse.
        causes = (FileNotFoundError, ValueError, RecursionError)
        if isinstance(error, InputError) and isinstance(error.__cause__, causes):
            raise StoreError(f"{path}: is damaged ({error}); {remedy}") from error
        raise
    except PermissionError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
    except (
        OSError,
        EOFError,
        ValueError,
        LookupError,
        TypeError,
        RecursionError,
        NotImplementedError,  # of Arrow, for columns of another type
    ) as error:
        raise StoreError(
            f"{path}: is damaged ({type(error).__name__}: {error}); {remedy}"
        ) from error


def write_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` put files into a temporary folder, force them to disk and rename the folder."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}{UNFINISHED}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        fill(temporary)
        # A file is on disk when its bytes and its entry in the folder are; so deepest first.
        for place, _, files in os.walk(temporary, topdown=False):
            for name in files:
                sync_file(Path(place) / name)
            sync_folder(Path(place))
        temporary.replace(path)
        sync_folder(path.parent)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        explain_write(path, error)
        raise


_SEAL = "sha256.json"


def write_sealed_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Do as :func:`write_folder`, and put a checksum of every file beside them."""

    def fill_and_seal(folder: Path) -> None:
        fill(folder)
        (folder / _SEAL).write_text(json.dumps(_hash_files(folder), indent=1), encoding="utf-8")

    write_folder(path, fill_and_seal)


def check_seal(path: Path) -> None:
    """Make sure that a folder holds what :func:`write_sealed_folder` has put there."""
    with reading(path):
        found = _hash_files(path)
        found.pop(_SEAL, None)
        _compare(path, _read_seal(path), found, remedy=MADE_ANEW)


def check_files(path: Path, expected: Mapping[str, Any], *, remedy: str) -> None:
    """Make sure that the files of a folder have these checksums, and that there are no others."""
    with reading(path, remedy=remedy):
        _compare(path, expected, _hash_files(path), remedy=remedy)


def check_sealed(*files: Path) -> None:
    """Make sure that files of a sealed folder are as they were written, whatever is beside them.

    A folder that was copied without its checksums has nothing to compare them with.
    """
    folder = files[0].parent
    with reading(folder, remedy=PUT_BACK):
        if not (folder / _SEAL).is_file():
            return
        sealed = _read_seal(folder)
        expected = {path.name: sealed.get(path.name) for path in files}
        found = {path.name: hash_file(path) for path in files if path.is_file()}
        _compare(folder, expected, found, remedy=PUT_BACK)


def _read_seal(folder: Path) -> dict[str, Any]:
    sealed = read_json(folder / _SEAL)
    if not isinstance(sealed, dict):
        raise ValueError(f"{_SEAL} is no list of checksums by file")
    return sealed


def _compare(
    path: Path, expected: Mapping[str, Any], found: Mapping[str, Any], *, remedy: str
) -> None:
    if expected != found:
        names = sorted(
            name for name in {*expected, *found} if expected.get(name) != found.get(name)
        )
        raise StoreError(
            f"{path}: is damaged ({', '.join(names[:3])} is not as it was written); {remedy}"
        )


def _hash_files(folder: Path) -> dict[str, str]:
    hashes: dict[tuple[int, int], str] = {}  # of files with several names only once
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            place = path.stat().st_dev, path.stat().st_ino
            if place not in hashes:
                hashes[place] = hash_file(path)
            found[path.relative_to(folder).as_posix()] = hashes[place]
    return found
