"""What leaves the package leaves by one door: a print, a table or a writer that goes around."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ietest_fast
from ietest_fast.stats import combine

PACKAGE = Path(ietest_fast.__file__).parent
FILES = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
# What is printed, and what moves while a command works.
TERMINAL = {"report/terminal.py", "report/progress.py"}

# Calls and attributes, by their last two names, that write to the terminal.
PRINTS = {
    "print",
    "pprint",
    "click.echo",
    "click.secho",
    "click.echo_via_pager",
    "click.confirm",
    "click.prompt",
    "click.progressbar",
    "stdout.write",
    "stderr.write",
    "stdout.buffer",
    "stderr.buffer",
    "stdout.writelines",
    "stderr.writelines",
    "error.show",
    "traceback.print_exc",
    "traceback.print_exception",
    "logging.basicConfig",
    "logging.StreamHandler",
    "sys.__stdout__",
    "sys.__stderr__",
}
# Parsing takes time: only what may do so is parsed.
MAY_PRINT = re.compile(
    r"\bp?print\(|print_exc|click\.(echo|secho|confirm|prompt|progress)|from click|from rich|"
    r"std(out|err)\b|sys\.exit|os\.write|logging\.|\.show\("
)
# Rich prints strings with markup, and obeys some control characters.
RICH = {"Console", "Text", "Progress", "print", "Live", "Pretty", "Markdown", "Panel", "inspect"}


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def calls(tree: ast.AST) -> list[tuple[int, str]]:
    """Every name that is called or looked up, as its last two parts."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            left = node.value
            owner = left.attr if isinstance(left, ast.Attribute) else getattr(left, "id", "")
            found.append((node.lineno, f"{owner}.{node.attr}"))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.append((node.lineno, node.func.id))
    return found


def ways_to_the_terminal(tree: ast.AST) -> list[int]:
    lines = [line for line, name in calls(tree) if name in PRINTS]
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in typing_only:
            names = {alias.name for alias in node.names}
            if (node.module or "").startswith("rich") and names & RICH:
                lines.append(node.lineno)
            if node.module == "click" and names & {"echo", "secho"}:
                lines.append(node.lineno)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "os.write":
            lines += [node.lineno for each in node.args if not isinstance(each, ast.Constant)]
        # What is no number, sys.exit prints.
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "sys.exit":
            lines += [node.lineno for each in node.args if isinstance(each, ast.JoinedStr)]
    return lines


@pytest.mark.parametrize(
    "code",
    [
        "print(name)",
        "click.echo(name)",
        "import sys\nsys.stdout.write(name)",
        "sys.stderr.buffer.write(name)",
        "def f():\n from rich.console import Console",
        "from rich.text import Text",
        "sys.exit(f'Error: {name}')",
        "from click import echo",
        "error.show()",
        "os.write(2, name)",
    ],
)
def test_ways_around_are_seen(code: str) -> None:
    assert ways_to_the_terminal(ast.parse(code))


def test_the_terminal_has_one_door() -> None:
    around = {
        f"{name_of(path)}:{line}"
        for path, text in FILES.items()
        if name_of(path) not in TERMINAL and MAY_PRINT.search(text)
        for line in ways_to_the_terminal(ast.parse(text))
    }
    assert not around, "print by ietest_fast.report.terminal.echo"


# What writes each form, and the only files that may: text goes through the module's own escapes.
WRITERS = {
    "csv.writer": {"report/tables.py"},
    "csv.DictWriter": set(),
    "pacsv.write_csv": set(),
    "pa_csv.write_csv": set(),
    "html.escape": {"stats/result.py"},
    "saxutils.escape": set(),
    "markupsafe.Markup": set(),
    "jinja2.Template": set(),
    "jinja2.Environment": set(),
    "Environment": {"report/page_builder.py"},
    # Data files, which are read again: every text as it is.
    "BatchWriter": {
        "analyses/difficulty/file.py",
        "analyses/masked/answers.py",
        "annotation/marks.py",
        "templates/sampling.py",
        "transform/files.py",
    },
}
MAY_WRITE = re.compile(
    r"csv\.|DictWriter|write_csv|html\.|saxutils|arkup|jinja2|Environment\(|BatchWriter"
)


def test_each_form_has_one_writer() -> None:
    found: dict[str, set[str]] = {name: set() for name in WRITERS}
    for path, text in FILES.items():
        if MAY_WRITE.search(text):
            for _, name in calls(ast.parse(text)):
                if name in found:
                    found[name].add(name_of(path))
    assert found == WRITERS


def test_latex_and_markdown_are_written_in_one_file() -> None:
    signs = (r"\begin{", r"\\textbackslash", "| ---", ":---")
    found = {name_of(path) for path, text in FILES.items() if any(sign in text for sign in signs)}
    assert found == {"report/tables.py"}


def test_pages_escape_what_they_show() -> None:
    for path, text in FILES.items():
        if "Environment(" in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "Environment":
                    given = {each.arg: ast.unparse(each.value) for each in node.keywords}
                    assert given["autoescape"] == "True", path
    # The package's own style and script, its own drawings, and JSON without "<".
    own = {"css", "js", "figure.svg", "data"}
    for path in (PACKAGE / "report" / "page").iterdir():
        text = path.read_text("utf-8")
        if path.suffix == ".j2":
            assert set(re.findall(r"\{\{-?\s*([\w.]+)\s*\|\s*safe", text)) <= own, path
            assert "autoescape" not in text
        if path.suffix == ".js":
            assert not re.search(r"(inner|outer)HTML|insertAdjacentHTML|document\.write", text)


def _names_of_charts(text: str) -> list[str]:
    """What is drawn as a label: Matplotlib reads formulas in it, and hides what begins with _."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in {"set_xticks", "set_yticks"} and len(node.args) > 1:
                found.append(node.args[1])
            elif node.func.attr in {"plot", "scatter", "bar", "errorbar", "axvline", "stairs"}:
                found += [each.value for each in node.keywords if each.arg == "label"]
    return [ast.unparse(each) for each in found if not isinstance(each, ast.Constant)]


def test_labels_of_charts_hold_no_formula() -> None:
    for path, text in FILES.items():
        if "axes_or_new" in text or "pyplot" in text:
            own = r"escape_label\(|^f'(observed|chi-square, df|α = )|^label$"
            for name in _names_of_charts(text):
                assert re.search(own, name), (path, name)


def test_a_formula_is_drawn_as_its_signs() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = plt.subplots()[1]
    combine({"$x_{": 0.1, "_hidden": 0.2, "a\nb": 0.3}).plot(ax=axes)
    axes.figure.canvas.draw()
    assert [each.get_text() for each in axes.get_yticklabels()] == [
        r"\$x_{",
        "\u200b_hidden",
        "a�b",
    ]
    plt.close(axes.figure)
