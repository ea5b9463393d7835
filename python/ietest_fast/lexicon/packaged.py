"""The resources that come with this package, and whether they are as they were made."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ietest_fast.errors import ResourceError

RESOURCES = Path(__file__).parent / "resources"

CHECKSUMS = "SHA256SUMS"
"""Name of the file beside the resources that has a checksum for each, as ``sha256sum`` writes it.

Made by ``python tools/checksums.py``.
"""

_REMEDY = "install ietest-fast again: pip install --force-reinstall --no-deps ietest-fast"


def check_packaged(*paths: Path) -> None:
    """Stop unless packaged files are what the package was made with."""
    root = paths[0].parent if paths[0].is_dir() else paths[0].parents[1]
    known = _read_checksums(root / CHECKSUMS)
    for path in paths:
        name = path.relative_to(root).as_posix()
        wanted = [each for each in known if each == name or each.startswith(f"{name}/")]
        if not wanted:
            raise ResourceError(f"{path}: has no checksum in {root / CHECKSUMS}; {_REMEDY}")
        for each in wanted:
            if hash_resource(root / each) != known[each]:
                raise ResourceError(f"{root / each}: is damaged; {_REMEDY}")


def hash_resources(root: Path) -> str:
    """Return the lines of the file of checksums for all resources below a folder."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and path.name != CHECKSUMS)
    return "".join(
        f"{hash_resource(path)}  {path.relative_to(root).as_posix()}\n" for path in files
    )


def hash_resource(path: Path) -> str:
    """Return the sha256 of a resource, 64 hexadecimal digits."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ResourceError(f"{path}: cannot be read ({error.strerror}); {_REMEDY}") from error


def _read_checksums(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text("utf-8").splitlines()
        return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except OSError as error:
        raise ResourceError(f"{path}: cannot be read ({error.strerror}); {_REMEDY}") from error
    except ValueError as error:
        raise ResourceError(f"{path}: is damaged; {_REMEDY}") from error
