"""The door for files: every path that a user or a file names is opened here, and nowhere else.

Whoever opens a file gets a regular one (no pipe, device, folder or circle of links), of a size that
its use allows, and an :class:`~ietest_fast.errors.InputError` with its name otherwise. Readers of
tables check with :func:`check_file` before they give a path to Arrow, which opens it itself.
"""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any, BinaryIO

from ietest_fast.errors import InputError, shorten_error

MOST_SETTINGS = 64 << 20
"""Bytes of the largest file of settings, marks or words that is read as one text."""

MOST_RECORD = 4 << 30
"""Bytes of the largest file that is read as one JSON value: a log, or a run's results."""

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_file(path: str | Path, *, expected: str = "a file") -> None:
    """Stop unless a path leads to a regular file.

    Files are read more than once (their start tells the format), which a pipe does not allow; one
    that nobody writes to would be waited for without end.

    Parameters
    ----------
    path
        The path.
    expected
        What it should lead to, for messages.

    Raises
    ------
    InputError
        If there is no such file, its links go in a circle, or it is a folder, a pipe or a device.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - also of names that pathlib refuses
    except FileNotFoundError as error:
        raise InputError("no such file", path=path) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    except ValueError as error:  # a NUL character
        raise InputError(f"is no name of a file: {error}", path=path) from error
    if stat.S_ISDIR(mode):
        raise InputError(f"is a folder, {expected} expected", path=path)
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "no regular file")
        raise InputError(
            f"is {kind}, {expected} expected (it is read more than once): write what it gives to a "
            "file first",
            path=path,
        )


def open_file(path: str | Path, *, most_bytes: int | None = None) -> BinaryIO:
    """Open a regular file for reading.

    Parameters
    ----------
    path
        The file.
    most_bytes
        How large it may be; None for any size.

    Raises
    ------
    InputError
        As for :func:`check_file`, and if the file is larger or may not be read.
    """
    check_file(path)
    try:
        file = Path(path).open("rb")  # noqa: SIM115 - the caller closes it
        size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    if most_bytes is not None and size > most_bytes:
        file.close()
        raise InputError(f"has {size:,} bytes, at most {most_bytes:,} expected", path=path)
    return file


def read_bytes(path: str | Path, *, most_bytes: int = MOST_SETTINGS) -> bytes:
    """Return a whole file; raises as :func:`open_file`."""
    with open_file(path, most_bytes=most_bytes) as file:
        try:
            return file.read()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=path) from error


def read_text(path: str | Path, *, most_bytes: int = MOST_SETTINGS) -> str:
    """Return a whole file of UTF-8, without the mark that may begin it.

    Raises
    ------
    InputError
        As for :func:`open_file`, and if it is not UTF-8; names the line.
    """
    data = read_bytes(path, most_bytes=most_bytes)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8", path=path, row=f"line {line}") from error


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return what a TOML file holds; raises as :func:`read_text`, and if it is not TOML."""
    try:
        return tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"is not TOML: {shorten_error(error)}", path=path) from error


def read_json(path: str | Path, *, most_bytes: int = MOST_RECORD) -> Any:
    """Return the value of a file that is one JSON value; raises as :func:`read_text`."""
    try:
        return json.loads(read_text(path, most_bytes=most_bytes))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"is not JSON: {shorten_error(error)}", path=path) from error
