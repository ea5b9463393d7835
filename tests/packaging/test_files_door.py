"""Files are opened through one door, :mod:`ietest_fast.files`, or it is said here why not."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ietest_fast

PACKAGE = Path(ietest_fast.__file__).parent

# What opens a path itself; of methods the last name counts.
OPENERS = {
    "open",
    "read_text",
    "read_bytes",
    "read_table",
    "read_schema",
    "ParquetFile",
    "ParquetDataset",
    "ZipFile",
    "is_zipfile",
    "input_stream",
    "memory_map",
    "OSFile",
    "memmap",
    "fromfile",
    "loadtxt",
    "genfromtxt",
    "connect",
    "InferenceSession",
    "read_model",
    "from_file",
    "from_pretrained",
    "from_disk",
    "load_model",
    "copyfile",
    "copy2",
    "mmap",
    "CDLL",
}
# Names too common to be listed alone.
OPENERS_OF = {
    ("np", "load"),
    ("onnx", "load"),
    ("torch", "load"),
    ("spacy", "load"),
    ("json", "load"),
    ("tomllib", "load"),
    ("pickle", "load"),
    ("Image", "open"),
}
MENTION = re.compile(rf"\b({'|'.join(sorted(OPENERS | {name for _, name in OPENERS_OF}))})\(")
# What checks a path: a function that calls one of these may give the path to a library.
CHECKS = {"check_file", "check_folder", "check_readable", "open_file"}
# Functions of the door itself, and of this package, that have a library's name.
OURS = {"load_model", "read_bytes", "read_text"}

# Module and function ("*": all) that open a path by themselves, by the reason why they may.
REASONS = {
    "a resource of this package, which a checksum protects or the installation made": {
        ("lexicon/senses.py", "read_senses"),
        ("lexicon/pipelines.py", "*"),
        ("lexicon/reviewed.py", "*"),
        ("lexicon/wordnet.py", "_load_packaged"),
        ("lexicon/wordnet.py", "from_file"),
        ("report/page_builder.py", "read_page_file"),
        ("transform/antonym.py", "read_pairs"),
    },
    "a file that this process has just made or is about to make": {
        ("atomic.py", "*"),
        ("experiment/tasks.py", "_pack"),
        ("models/onnx_models/export.py", "*"),
    },
    "bytes in memory, read through the door": {
        ("experiment/cells.py", "*"),
        ("experiment/cells.py", "*"),
        ("experiment/tasks.py", "from_bytes"),
        ("models/networks.py", "_read_unseen"),
        ("models/training.py", "_load"),
    },
    "a file that is_file() has found": {
        ("models/checkpoint.py", "copy_tokenizer"),
    },
    "a file that its caller has opened through the door": {
        ("corpus/formats.py", "_check_unpacked"),
        ("corpus/formats.py", "check_repeats"),
    },
    "the system's own, by a fixed name": {
        ("cli/main.py", "*"),
        ("models/onnx_models/runners.py", "_count_gpus"),
        ("runtime.py", "*"),
    },
    "a folder, to lock it": {("templates/sampling.py", "_held")},
}


def find_openings(path: Path) -> set[tuple[str, str, str]]:
    """Find what opens a path in a function that checks none: module, function, what opens."""
    found = set()
    module = path.relative_to(PACKAGE).as_posix()

    def visit(node: ast.AST, function: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if not names_called(child) & CHECKS:
                    visit(child, child.name)
                continue
            if isinstance(child, ast.Call) and (name := name_opener(child)) is not None:
                found.add((module, function, name))
            visit(child, function)

    text = path.read_text("utf-8")
    if MENTION.search(text):
        visit(ast.parse(text), "")
    return found


def names_called(function: ast.AST) -> set[str]:
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return {called.id for called in calls if isinstance(called, ast.Name)}


def name_opener(call: ast.Call) -> str | None:
    called = call.func
    if isinstance(called, ast.Name):
        return called.id if called.id in OPENERS - OURS else None
    if not isinstance(called, ast.Attribute):
        return None
    of = called.value.id if isinstance(called.value, ast.Name) else ""
    if (of, called.attr) in OPENERS_OF:
        return f"{of}.{called.attr}"
    # RunStore.open makes an object; a class of ours is no path.
    is_ours = called.attr == "open" and of[:1].isupper()
    return called.attr if called.attr in OPENERS and not is_ours else None


def test_every_file_is_opened_through_the_door() -> None:
    allowed = {place for places in REASONS.values() for place in places}
    used = set()
    around = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path == PACKAGE / "files.py":
            continue
        for module, function, opener in sorted(find_openings(path)):
            places = {(module, function), (module, "*")} & allowed
            used |= places
            if not places:
                around.append(f"{module}: {function} calls {opener}")
    assert not around, "open them by ietest_fast.files, or say in REASONS why not"
    assert allowed == used, "these open nothing by themselves any more"


@pytest.mark.parametrize(
    "code",
    [
        "def f(path): return path.open('rb')",
        "def f(path): return open(path).read()",
        "def f(path):\n    import numpy as np\n    return np.load(path)",
        "class A:\n    def f(self, path): return pq.read_table(path)",
        "def f(path):\n    def g(): return path.read_text()\n    return g",
        "def f(path): return [zipfile.ZipFile(each) for each in path]",
    ],
)
def test_a_way_around_is_found(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    (tmp_path / "a.py").write_text(code)
    assert find_openings(tmp_path / "a.py")
