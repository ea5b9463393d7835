"""The door for files: every path that a user or a file names is opened here, and nowhere else.

Whoever opens a file gets a regular one (no pipe, device, folder or circle of links), of a size that
its use allows, and an :class:`~ietest_fast.errors.InputError` with its name otherwise. Who gives a
path to a library that opens it (Arrow, NumPy, ONNX Runtime) checks it by :func:`check_file` before.

What a file unpacks to is bounded before it is unpacked: a few megabytes can stand for terabytes.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
import struct
import tomllib
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.errors import InputError, shorten_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_SETTINGS = 64 << 20
"""Bytes of the largest file of settings, marks or words that is read as one text."""

MOST_RECORD = 4 << 30
"""Bytes of the largest file that is read as one JSON value: a log, or a run's results."""

LEAST_UNPACKED = 256 << 20
"""What any file may unpack to, in bytes."""
MOST_RATIO = 40
"""A larger file may unpack to so many times its own size. Texts pack to a third or a tenth."""

# What Python needs in memory for the values of a JSON text: those of its strings, and of the rest.
_BYTES_OF_BRACKET = 72
_BYTES_OF_COMMA = 60
_MOST_VALUES = 1 << 30
_MOST_DOTS = 5000

# Inspect compresses its logs by Zstandard.
_ZSTD = 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_file(path: str | Path, *, expected: str = "a file") -> Path:
    """Return a path that leads to a regular file, or stop.

    Files are read more than once (their start tells the format), which a pipe does not allow; one
    that nobody writes to would be waited for without end.
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
    return Path(path)


def check_folder(path: str | Path) -> Path:
    """Return a folder in which there is nothing but files and folders, or stop.

    For libraries that read a folder by themselves.
    """
    for place, folders, names in os.walk(path):
        for name in (*folders, *names):
            entry = Path(place, name)
            if not entry.is_dir():
                check_file(entry)
    return Path(path)


def refuse_same_files(paths: Sequence[str | Path]) -> None:
    """Stop if a file or a folder is there twice, whose model would count as two."""
    places = [os.path.realpath(path) for path in paths]
    for place, path in enumerate(paths):
        if places[place] in places[:place]:
            first = paths[places.index(places[place])]
            what = "folder" if Path(path).is_dir() else "file"
            raise InputError(f"is the same {what} as {first}; give each once", path=path)


def open_file(path: str | Path, *, most_bytes: int | None = None) -> io.BufferedReader:
    """Open a regular file for reading."""
    try:
        file = check_file(path).open("rb")
        size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    if most_bytes is not None and size > most_bytes:
        file.close()
        raise InputError(f"has {size:,} bytes, at most {most_bytes:,} expected", path=path)
    return file


def read_bytes(path: str | Path, *, most_bytes: int | None = MOST_SETTINGS) -> bytes:
    """Return a whole file; raises as :func:`open_file`."""
    with open_file(path, most_bytes=most_bytes) as file:
        try:
            return file.read()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=path) from error


def read_text(path: str | Path, *, most_bytes: int = MOST_SETTINGS) -> str:
    """Return a whole file of UTF-8, without the mark that may begin it."""
    data = read_bytes(path, most_bytes=most_bytes)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8", path=path, row=f"line {line}") from error


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return what a TOML file holds; raises as :func:`read_text`, and if it is not TOML."""
    text = read_text(path)
    for number, line in enumerate(text.splitlines(), start=1):
        if line.count(".") > _MOST_DOTS:  # Python's reader takes the square of a key's parts
            what = f"has more than {_MOST_DOTS:,} dots; write one value on a line"
            raise InputError(what, path=path, row=f"line {number}")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise InputError("is not TOML: brackets are nested too deep", path=path) from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {shorten_error(error)}", path=path) from error
    except ValueError as error:  # Python's limit on the digits of an integer
        raise InputError("an integer has too many digits", path=path) from error


def read_json(path: str | Path, *, most_bytes: int = MOST_RECORD) -> Any:
    """Return the value of a file that is one JSON value; raises as :func:`read_text`."""
    return parse_json(read_text(path, most_bytes=most_bytes), path)


# Backslashes that are characters, characters of two escapes, and halves of such.
_SURROGATES = re.compile(
    r"(?:\\\\)+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def parse_json(
    text: str | bytes,
    path: str | Path,
    *,
    of: str = "",
) -> Any:
    """Return the value of a JSON text."""
    from ietest_fast.runtime import available_memory

    needed = estimate_json(text)
    there = available_memory() if needed > _MOST_VALUES else None
    if there is not None and needed > there:
        raise InputError(
            f"would take about {needed / 1e9:,.1f} GB of memory, and {there / 1e9:,.1f} GB are "
            "available",
            path=path,
            row=of or None,
        )
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        return json.loads(mend_halves(text), object_pairs_hook=refuse_repeats)
    except RecursionError as error:
        raise InputError("is not JSON: it is nested too deep", path=path, row=of or None) from error
    except ValueError as error:
        is_broken = isinstance(error, (json.JSONDecodeError, UnicodeDecodeError))
        what = f"is not JSON: {shorten_error(error)}" if is_broken else str(error)
        raise InputError(what, path=path, row=of or None) from error


def refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a JSON object, unless a key stands in it twice: Python would drop the former value."""
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands there twice")
    return made


def mend_halves(text: str) -> str:
    """Put the replacement character for each half of a surrogate pair that stands alone in JSON.

    A model may have written half of an emoji; no column of texts can hold it.
    """
    if "\\u" not in text:
        return text
    return _SURROGATES.sub(lambda found: r"\ufffd" if found[1] else found[0], text)


def estimate_json(text: str | bytes) -> int:
    """Estimate the bytes that the values of a JSON text take in memory; rather too many."""
    marks: tuple[Any, ...] = ("[", "{", ",") if isinstance(text, str) else (b"[", b"{", b",")
    lists, objects, commas = (text.count(mark) for mark in marks)
    letters = len(text) if text.isascii() else 4 * len(text)
    return letters + _BYTES_OF_BRACKET * (lists + objects) + _BYTES_OF_COMMA * commas


def most_unpacked(n_packed: int) -> int:
    """Return to how many bytes a file of so many may unpack."""
    return max(LEAST_UNPACKED, MOST_RATIO * n_packed)


def refuse_unpacked(path: str | Path, n_bytes: int, n_packed: int) -> None:
    """Stop if a file unpacks to more than it may."""
    most = most_unpacked(n_packed)
    if n_bytes > most:
        raise InputError(
            f"has {n_packed:,} bytes and unpacks to {n_bytes:,} or more, at most {most:,} "
            "expected; if that is right, unpack it (write Parquet without compression) first",
            path=path,
        )


def open_archive(path: str | Path) -> zipfile.ZipFile:
    """Open a zip archive whose members, by its directory, are of a size that can be read."""
    n_bytes = check_file(path).stat().st_size
    archive: zipfile.ZipFile | None = None
    try:
        archive = zipfile.ZipFile(path)
        members = archive.infolist()
        refuse_unpacked(path, sum(each.file_size for each in members), n_bytes)
        if sum(each.compress_size for each in members) > n_bytes:
            raise InputError("is damaged: its members overlap", path=path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        if archive is not None:
            archive.close()
        if isinstance(error, InputError):
            raise
        raise InputError(f"is no whole zip archive: {shorten_error(error)}", path=path) from error
    return archive


def check_array(file: Any, n_bytes: int, path: str | Path) -> None:
    """Stop unless what begins here is an array of NumPy's that is as long as it says."""
    import numpy as np

    form = np.lib.format
    headers = {(1, 0): form.read_array_header_1_0, (2, 0): form.read_array_header_2_0}
    try:
        version = form.read_magic(file)
        if version not in headers:
            raise ValueError(f"its format is {version}")
        shape, _, dtype = headers[version](file)
    except Exception as error:  # NumPy reads the header as a piece of Python
        raise InputError(f"is no array of NumPy's: {shorten_error(error)}", path=path) from error
    if dtype.hasobject:
        raise InputError(
            "holds Python objects (a pickle), which can run code and are not loaded; numbers "
            "expected",
            path=path,
        )
    claimed, there = dtype.itemsize, n_bytes - file.tell()
    for size in shape:
        claimed *= size
    if min(shape, default=0) < 0 or claimed != there:
        raise InputError(
            f"is damaged: its header says {' x '.join(map(str, shape))} numbers, {claimed:,} bytes,"
            f" and there are {there:,}",
            path=path,
        )


def read_array(path: str | Path, *, mapped: bool = False) -> NDArray[Any]:
    """Return the array of a ``.npy`` file, read or mapped."""
    import numpy as np

    with open_file(path) as file:
        check_array(file, os.fstat(file.fileno()).st_size, path)
    try:
        found: NDArray[Any] = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"is no array of NumPy's: {shorten_error(error)}", path=path) from error
    return found


def read_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a ``.npz`` file by name."""
    import numpy as np

    found: dict[str, NDArray[Any]] = {}
    with open_archive(path) as archive:
        for member in archive.infolist():
            try:
                file = io.BytesIO(read_member(archive, member))
                check_array(file, member.file_size, path)
                file.seek(0)
                array = np.lib.format.read_array(file, allow_pickle=False)
            except InputError:
                raise
            except Exception as error:  # what unpacking raises has no common class
                raise InputError(
                    f"is damaged: {member.filename}: {shorten_error(error)}", path=path
                ) from error
            found[member.filename.removesuffix(".npy")] = array
    return found


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a member of an archive: never more than its directory says."""
    name = member.filename
    if member.compress_type == _ZSTD:  # which Python's zipfile cannot read before 3.14
        return _read_zstd(archive, member)
    if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise zipfile.BadZipFile(f"{name} is compressed by method {member.compress_type}")
    with archive.open(member) as file:
        data = file.read(member.file_size)  # without a number it would unpack first, and cut then
    if len(data) < member.file_size:
        raise zipfile.BadZipFile(f"{name} is shorter than the archive says")
    return data


def _read_zstd(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    import pyarrow as pa

    with open_file(str(archive.filename)) as file:
        file.seek(member.header_offset)
        mark, n_name, n_extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        if mark != b"PK\x03\x04":
            raise zipfile.BadZipFile(f"no member begins at {member.header_offset}")
        file.seek(n_name + n_extra, 1)
        packed = file.read(member.compress_size)
    data: bytes = pa.decompress(
        packed, decompressed_size=member.file_size, codec="zstd", asbytes=True
    )
    if zlib.crc32(data) != member.CRC:
        raise zipfile.BadZipFile(f"the checksum of {member.filename} is another")
    return data
