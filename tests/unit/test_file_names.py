"""Names that come from files become names of files: harmless, whole, and all different."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ietest_fast
from ietest_fast.atomic import name_files, tell_apart

PACKAGE = Path(ietest_fast.__file__).parent
NAMES = [
    "../../etc/passwd", "..", ".", "", "a/b", "a\\b", "a:b", "C:\\x", "/abs", "a\x00b", "a\nb",
    "a\x1b[2J", "CON", "nul.txt", "com1", "LPT¹", "AUX.", "x" * 300, "語" * 300, "🙂" * 300,
    "Test", "test", "TEST ", "straße", "STRASSE", "café", "cafe\u0301", ".hidden", "end.",
    "a\u202eb", "-rf", "~", "$HOME", "%2e%2e", "a" * 49 + "..", "\ud800",
]  # fmt: skip


def test_names_of_files_are_harmless_and_different(tmp_path: Path) -> None:
    stems = name_files(NAMES, otherwise="test")
    assert len({stem.casefold() for stem in stems}) == len(NAMES)
    for stem in stems:
        path = tmp_path / f"{stem}.parquet"
        assert path.parent == tmp_path
        assert len(path.name.encode()) <= 255
        assert stem.strip(".-") == stem
        assert all(sign.isalnum() or sign in "_.-" for sign in stem), stem
        assert stem.partition(".")[0].casefold() not in {"con", "nul", "com1", "lpt¹", "aux"}
        path.write_bytes(b"")
    assert len(list(tmp_path.iterdir())) == len(NAMES)


def test_numbers_make_way_for_each_other() -> None:
    assert tell_apart(["a", "A", "a-2", "a"]) == ["a", "A-2", "a-2-2", "a-3"]


@pytest.mark.parametrize("keys", [["a-b", "a_b", "a:b"], ["M", "m"], ["x y", "x_y"]])
def test_models_of_a_run_have_folders_of_their_own(keys: list[str]) -> None:
    from ietest_fast.experiment.work import _as_folder

    folders = [_as_folder(key, keys) for key in keys]
    assert len({folder.casefold() for folder in folders}) == len(keys)
    assert _as_folder("bow-xgb", ["bow-xgb", "align"]) == "bow_xgb"


def test_names_become_names_of_files_in_one_place() -> None:
    """A pattern that takes signs out of a name, to make a file's name of it, is a second door."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text("utf-8")
        if r"[^\w" not in text and "isalnum" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) == "re.sub"
                and isinstance(node.args[0], ast.Constant)
                and r"[^\w" in str(node.args[0].value)
            ):
                found.add(path.relative_to(PACKAGE).as_posix())
    # Kept classifiers have had their names since the first format; no two get the same.
    assert found == {"atomic.py", "experiment/work.py"}


@pytest.mark.parametrize("identity", ["../../../secret", "a/b", "", ".", "a\x00"])
def test_results_name_no_file_outside_their_folder(identity: str) -> None:
    from pydantic import TypeAdapter, ValidationError

    from ietest_fast.experiment.schema.cells import Identity

    with pytest.raises(ValidationError):
        TypeAdapter(Identity).validate_python(identity)
    assert TypeAdapter(Identity).validate_python("0f" * 32)
