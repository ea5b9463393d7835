"""Files that are whole, and on the disk, or not there at all; and names that files can have."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import unicodedata
from typing import TYPE_CHECKING, BinaryIO

from ietest_fast.errors import IetestError, StoreError
from ietest_fast.files import open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

_LONGEST_NAME = 255
# Letters have up to four bytes, and a number and an ending follow.
_LONGEST_STEM = 50
# Devices, on some systems, with any ending.
_RESERVED = re.compile(r"(con|prn|aux|nul|clock\$|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)

UNFINISHED = ".unfinished"
"""How the names of temporary files end; a killed process may leave one behind."""


def name_files(names: Iterable[str], *, otherwise: str) -> list[str]:
    """Return names of files without endings, all different, for names of any kind.

    They have letters, digits, ``_``, ``.`` and ``-``, do not begin or end with a dot or ``-``, are
    no devices' names, and differ in more than capitals.
    """
    stems = []
    for name in names:
        plain = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", name))
        stem = plain[:_LONGEST_STEM].strip(".-") or otherwise
        stems.append(f"{otherwise}-{stem}" if _RESERVED.fullmatch(stem) else stem)
    return tell_apart(stems)


def tell_apart(stems: Iterable[str]) -> list[str]:
    """Return names of files that differ on every system: the second ``a`` or ``A`` is a-2."""
    used: set[str] = set()
    found = []
    for stem in stems:
        name, number = stem, 1
        while name.casefold() in used:
            number += 1
            name = f"{stem}-{number}"
        used.add(name.casefold())
        found.append(name)
    return found


def name_temporary(path: Path) -> Path:
    """Give a name that no file has yet, beside a target and so on the same file system.

    Who creates the file knows its name beforehand: Ctrl-C may come in the moment between.
    """
    ending = f".{secrets.token_hex(8)}{UNFINISHED}"
    # As much of the name as there is room for: most systems allow names of 255 bytes.
    start = path.name.encode("utf-8", "surrogateescape")[: _LONGEST_NAME - 1 - len(ending)]
    return path.with_name(f".{start.decode('utf-8', 'ignore')}{ending}")


def create(path: Path) -> BinaryIO:
    """Create an empty file and open it for writing.

    Its mode is that of any new file: what the process's umask leaves of 0666.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o666), "wb")


def publish(temporary: Path, path: Path) -> None:
    """Force a finished temporary file to the disk and give it its name."""
    # A descriptor of its own: compressors and other writers close the one they were given.
    sync_file(temporary)
    give_name(temporary, path)


def give_name(temporary: Path, path: Path) -> None:
    """Give a file that is on the disk already its name there; as :func:`publish` otherwise."""
    temporary.replace(path)
    sync_folder(path.parent)


@contextlib.contextmanager
def put_back_on_error(path: Path) -> Iterator[None]:
    """Leave ``path`` as it was, there or not, if the block fails.

    The block may replace or remove the file, but not write into it: meanwhile the file has a second
    name (a hard link), and is copied only where the file system has no links.
    """
    kept = name_temporary(path) if path.exists() else None
    try:
        if kept is not None:
            try:
                kept.hardlink_to(path)
            except OSError:
                shutil.copy2(path, kept)
        try:
            yield
        except BaseException:
            if kept is None:
                path.unlink(missing_ok=True)
            else:
                publish(kept, path)
            raise
    finally:
        if kept is not None:
            kept.unlink(missing_ok=True)


def write_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let ``write`` fill a temporary file, force it to the disk and give it its name."""
    temporary = name_temporary(path)
    try:
        with create(temporary) as file:
            write(file)
        publish(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in {None, str(temporary)}:
            error.filename = str(path)  # a full disk has no name
        raise


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write files in, which gets its name if the block does not fail."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = name_temporary(folder)
    unfinished.mkdir()
    try:
        yield unfinished
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def sync_file(path: Path) -> None:
    """Force a file's bytes to the disk."""
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Force a folder's entries to the disk; without effect where a folder cannot be opened."""
    if os.name == "posix":
        sync_file(path)


def hash_file(path: Path) -> str:
    """Give the sha256 of a file, 64 hexadecimal digits."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_artefact(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file by :func:`write_file`, its folder made if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, write)
    except OSError as error:
        explain_write(path, error)
        raise


def explain_write(path: Path, error: BaseException) -> None:
    """Raise what the system says about a write, such as a full disk, with the file's name."""
    if isinstance(error, OSError) and not isinstance(error, IetestError):
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, its line ends as they are, whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes, whole or not at all."""
    write_artefact(path, lambda file: file.write(data))
