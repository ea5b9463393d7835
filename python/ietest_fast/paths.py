"""Paths that a user gives: whether a file can be read at all."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

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
