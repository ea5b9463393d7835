"""The shape of the package: which room may look into which, and what a look costs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ietest_fast
from ietest_fast import _core

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "ietest_fast"

# docs/architecture.md: from cli and api down to corpus. Within a floor, later rooms of the way of
# the data may use earlier ones.
_LOW = {"corpus", "lexicon", "transform", "templates", "models", "stats"}
_HIGH = {*_LOW, "answers", "analyses", "experiment", "report"}
ALLOWED = {
    "report": set(),
    "corpus": set(),
    "lexicon": {"corpus"},
    "transform": {"corpus", "lexicon", "models"},
    "stats": set(),
    "templates": {"corpus"},
    "models": {"corpus", "lexicon", "stats"},
    "answers": _LOW - {"templates"},
    "analyses": {*_LOW, "answers", "report"},
    "experiment": _HIGH - {"templates", "experiment"},
    "annotation": _HIGH - {"templates"},
    "api": _HIGH - {"templates"},
    "cli": {*_HIGH, "annotation"},
}
GROUND = {
    "errors",
    "philox",
    "runtime",
    "_core",
    "atomic",
    "files",
    "frames",
    "lazy",
    "numerals",
    "registry",
    "escapes",
    "values",
}


# What `ietest_fast/__init__.py` tells all rooms: it alone knows them all.
_OF_THE_ENTRANCE = {"__version__", "NO_REWORDINGS"}

_NAMED = re.compile(r"ietest_fast\.[\w.]+:\w+")


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [node.module or ""]
            if node.module == "ietest_fast":
                names = [f"ietest_fast.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and _NAMED.fullmatch(str(node.value)):
            names = [str(node.value)]  # which a registry imports
        rooms |= {name.split(".")[1] for name in names if name.startswith("ietest_fast.")}
    return rooms


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_imports_go_one_way(room: str) -> None:
    files = list((PACKAGE / room).rglob("*.py"))
    assert files
    for path in files:
        foreign = imported_rooms(path) - {room} - GROUND - _OF_THE_ENTRANCE
        assert foreign <= ALLOWED[room], f"{path.relative_to(PACKAGE)} imports {foreign}"


# A suite is compared version by version, and marks of difficulty part paraphrases.
_OTHER_WINGS = {"stress": {"compare"}, "consistency": {"difficulty"}}


@pytest.mark.slow
def test_each_question_has_a_wing_of_its_own() -> None:
    def wing_of(module: str) -> str | None:
        parts = module.split(".")
        is_inside = parts[:2] == ["ietest_fast", "analyses"] and len(parts) > 2
        return parts[2] if is_inside else None

    found: dict[str, set[str]] = {}
    for module, imported in imports_of_modules().items():
        own = wing_of(module)
        others = {wing for name in imported if (wing := wing_of(name)) not in {None, own}}
        if own is not None and others:
            found.setdefault(own, set()).update(others)
    assert found == _OTHER_WINGS


def imports_of_modules() -> dict[str, set[str]]:
    """Which modules each module imports, anywhere in it; packages' lists of names left out."""
    modules = {
        ".".join(("ietest_fast", *path.relative_to(PACKAGE).with_suffix("").parts)): path
        for path in PACKAGE.rglob("*.py")
        if path.stem != "__init__"
    }
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        names: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {node.module or ""}
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
        graph[module] = (names & modules.keys()) - {module}
    return graph


@pytest.mark.slow
def test_modules_import_in_no_circles() -> None:
    graph = imports_of_modules()
    circular = set()
    for module in graph:
        seen: set[str] = set()
        ahead = list(graph[module])
        while ahead:
            name = ahead.pop()
            if name not in seen:
                seen.add(name)
                ahead += graph[name]
        if module in seen:
            circular.add(module)
    assert not circular


def test_the_ground_floor_stands_alone() -> None:
    for path in PACKAGE.glob("*.py"):
        if path.stem in {"__init__", "__main__"}:  # the entrances
            continue
        assert imported_rooms(path) <= GROUND, path


def test_every_room_is_known() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == set(ALLOWED)


def test_no_room_is_a_lumber_room() -> None:
    assert not [p for p in PACKAGE.rglob("*.py") if p.stem in {"utils", "helpers", "misc"}]


@pytest.mark.parametrize("room", ["", *sorted(ALLOWED)])
def test_nothing_is_called_like_a_module_of_python(room: str) -> None:
    """Python that is started inside a folder would import it instead, as NumPy does `random`."""
    names = {path.stem for path in (PACKAGE / room).iterdir()} - {"__init__", "__pycache__"}
    assert not names & set(sys.stdlib_module_names)


def test_openmp_stands_in_one_file() -> None:
    files = [p for p in (ROOT / "cpp").rglob("*.?pp") if "#pragma omp" in p.read_text()]
    assert [p.name for p in files] == ["parallel.cpp"]


def test_the_core_includes_no_python() -> None:
    for folder in ("include", "src"):
        for path in (ROOT / "cpp" / folder).rglob("*.?pp"):
            text = path.read_text()
            assert "Python.h" not in text, path
            assert "pybind11" not in text, path


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); import ietest_fast;"
        "print(sorted(set(sys.modules) - before))"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "numpy" not in out.stdout
    assert "_core" not in out.stdout


def test_build_config_tells_version_and_threads() -> None:
    config = ietest_fast.build_config()
    assert config["version"] == ietest_fast.__version__
    assert isinstance(config["n_threads"], int)
    assert config["n_threads"] >= 1
    assert config["compiler"]


def test_version_is_written_the_same_everywhere() -> None:
    import re
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cmake = re.search(r"project\(ietest_fast VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    assert cmake is not None
    assert project["version"] == ietest_fast.__version__ == cmake[1]


@pytest.mark.parametrize(
    "name", ["cochran", "power", "random", "runtime", "scores", "stats", "text"]
)
def test_stubs_name_what_the_core_has(name: str) -> None:
    tree = ast.parse((PACKAGE / "_core" / f"{name}.pyi").read_text())
    stubbed = {
        node.name
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
    } | {
        node.target.id
        for node in tree.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and not node.target.id.startswith("_")
    }
    real = {attribute for attribute in dir(getattr(_core, name)) if not attribute.startswith("_")}
    assert stubbed == real


def test_a_missing_extension_says_how_to_build_it(tmp_path: Path) -> None:
    """The package without its extension, as an incomplete installation has it."""
    import shutil

    shutil.copytree(
        PACKAGE, tmp_path / "ietest_fast", ignore=shutil.ignore_patterns("*.so", "resources")
    )
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.meta_path[:] = "
        "[f for f in sys.meta_path if 'editable' not in type(f).__module__ + repr(f)];"
        "import ietest_fast; ietest_fast.build_config()"
    )
    out = subprocess.run(
        [sys.executable, "-S", "-c", code], check=False, capture_output=True, text=True
    )
    assert out.returncode == 1
    assert "MissingExtensionError" in out.stderr
    assert "pip install" in out.stderr


def test_a_forked_child_runs_serially_instead_of_hanging() -> None:
    code = """
import os, numpy as np
from ietest_fast.philox import philox_key, philox_words
key = philox_key(0)
parent = philox_words(key, 300_000, n_threads=2)
child = os.fork()
if child == 0:
    same = (philox_words(key, 300_000, n_threads=2) == parent).all()
    os._exit(0 if same else 1)
_, status = os.waitpid(child, 0)
raise SystemExit(os.waitstatus_to_exitcode(status))
"""
    out = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], check=False, capture_output=True
    )
    assert out.returncode == 0, out.stderr


def test_ctrl_c_stops_a_kernel() -> None:
    """More replicates than could ever be waited for: only an interruption ends the kernel."""
    import signal

    code = (
        "from ietest_fast.stats import PairedCounts, paired_test\n"
        "try:\n"
        "    print('ready', flush=True)\n"
        "    paired_test(PairedCounts(9000, 500, 500, 0), method='resample', "
        "n_resamples=1_000_000_000)\n"
        "except KeyboardInterrupt: print('stopped', flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate()
    assert out == "stopped\n"


MOST_MODULES = 30


def test_no_folder_is_flat_with_more_modules_than_a_reader_can_survey() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert not [f for f in folders if len(list(f.glob("*.py"))) > MOST_MODULES]
