"""Names and values of files on the terminal: shown, never obeyed."""

from __future__ import annotations

import io
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from command_line import run_here
from ietest_fast.escapes import escape
from ietest_fast.report.progress import show_progress
from ietest_fast.report.tables import Column, Table
from ietest_fast.report.terminal import echo, make_console, print_json, print_table

TITLE = "\x1b]0;owned\x07"
CLEAR = "\x9b2J"
TURNED = "\u202egnp.exe\u2066"
LINES = "x\nError: all is well\r"
UNSEEN = "a\u200bb\u200cc\x7f\u2028"
HOSTILE = [TITLE, CLEAR, TURNED, LINES, UNSEEN, "\x1b[31mred", "[bold]:smile:[/red]"]


def is_harmless(shown: str) -> bool:
    """Slow and obvious: no control, format, surrogate or separator sign but ends of lines."""
    return not any(
        unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and sign != "\n"
        for sign in shown
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, Ω 漢字 é", "plain, Ω 漢字 é"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\tb\r\nc", "a\\tb\\r\\nc"),
        ("\x85\x9b\x7f\x00", "\\x85\\x9b\\x7f\\x00"),
        ("a\u202eb\u2069", "a\\u202eb\\u2069"),
        ("\ufeffid\u00ad", "\\ufeffid\\xad"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        # Joiners of words of Persian, and of a picture; behind ASCII they only hide.
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("ad\u200dmin\u200c", "ad\\u200dmin\\u200c"),
        ("\u200dadmin", "\\u200dadmin"),
        ("« a »\u00a0\u3000", "« a »\u00a0\u3000"),
    ],
)
def test_signs_are_shown(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_every_sign_that_is_obeyed_or_unseen_is_shown() -> None:
    # Marks that stand before a number in Arabic, Syriac and Kaithi are drawn; so are hieroglyphs'.
    drawn = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    drawn |= {*range(0x13430, 0x13456), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B)}
    for code in range(0x110000):
        kind = unicodedata.category(chr(code))
        if kind in {"Cc", "Cf", "Zl", "Zp"} and code not in drawn:
            assert is_harmless(escape(f"a{chr(code)}")), hex(code)


def test_a_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    echo("first", f"name: {LINES}", "\nlast\n")
    echo(f"{LINES}", err=True)
    said = capsys.readouterr()
    assert said.out == "first\nname: x\\nError: all is well\\r\n\nlast\n\n"
    assert said.err == "x\\nError: all is well\\r\n"


@pytest.mark.parametrize("name", HOSTILE)
def test_tables_show_names(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    columns = (Column(name), Column("rows", "count"))
    print_table(Table(name="t", title=name, columns=columns, rows=((name, 1),), note=name))
    said = capsys.readouterr().out
    assert is_harmless(said)
    assert said.count(escape(name)) == 4


@pytest.mark.parametrize("name", HOSTILE)
def test_the_console_of_python_shows_names(name: str) -> None:
    from rich.table import Table as Printed

    into = io.StringIO()
    table = Printed(title=name)
    table.add_column(name)
    table.add_row(name)
    console = make_console(into, width=100)
    console.print(name)
    console.print(table)
    assert is_harmless(into.getvalue())
    assert into.getvalue().count(escape(name)) == 4


def test_bars_show_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with show_progress() as progress:
        progress(f"{TITLE}[/red]", 2)(1)
    assert "\\x1b]0;owned\\x07[/red]" in screen.getvalue()
    assert "\x07" not in screen.getvalue()


def test_json_is_for_machines_and_still_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    values = {"names": [*HOSTILE, "\ud800", "é"]}
    print_json(values)
    said = capsys.readouterr().out
    assert said.isascii()
    assert is_harmless(said)
    assert json.loads(said) == values


def write_csv(path: Path, header: list[str], rows: list[list[Any]]) -> Path:
    quoted = [",".join('"' + str(x).replace('"', '""') + '"' for x in row) for row in rows]
    lines = [",".join('"' + name + '"' for name in header), *quoted]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("name", [TITLE, CLEAR, TURNED, UNSEEN, f"{TITLE}\nVerdict: alike"])
def test_commands_show_what_files_say(name: str, tmp_path: Path) -> None:
    labels = write_csv(
        tmp_path / "labels.csv", ["text", "label"], [["a", "x"], ["b", name], ["c", "x"]]
    )
    wide = write_csv(
        tmp_path / "wide.csv",
        ["id", "gold", "a", "b", "genre"],
        [[i, "x", "x" if i % 3 else "y", "x" if i % 2 else "y", name] for i in range(40)],
    )
    odd = write_csv(tmp_path / "odd.csv", ["text", name], [["a", 1], ["b", 2]])
    for command in (
        ["describe", labels],
        ["describe", labels, "--label-column", name],
        ["describe", odd],
        ["test", wide, "--original", "a", "--transformed", name],
        ["test", wide, "--original", "a", "--transformed", "b", "--gold", name],
        ["transform", labels, tmp_path / "out.csv", "--phi", name],
        ["eval", tmp_path / f"absent{name.replace('/', '')}.csv"],
        ["eval", wide, "--model", name],
        [name],
        ["describe", f"--{name}"],
        ["power", "--n", name],
    ):
        status, out, err = run_here(*command, folder=tmp_path)
        assert is_harmless(out + err), (command, out, err)
        assert "\nVerdict" not in out + err
        assert status in {0, 1, 2}


def test_a_configuration_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(
        '"\\u001b[2J\\nout" = 1\n[data]\ntrain = "\\u0007absent.csv"\n[model]\n'
        'name = "\\u001bbow"\n"\\u202e" = 3\n',
        encoding="utf-8",
    )
    status, out, err = run_here("run", path, folder=tmp_path)
    assert status == 1
    assert is_harmless(out + err), err
    assert "\\x1b[2J" in err


def test_results_in_python_are_shown() -> None:
    from ietest_fast.stats.result import Result

    class Said(Result):
        title = TITLE

        def rows(self) -> list[tuple[str, str]]:
            return [(TURNED, LINES)]

        def remarks(self) -> list[str]:
            return [CLEAR]

    assert is_harmless(str(Said()))
    assert len(str(Said()).splitlines()) == 4
    assert is_harmless(Said()._repr_html_())


@pytest.mark.parametrize("name", HOSTILE)
def test_errors_and_warnings_in_python_are_shown(name: str) -> None:
    import traceback
    import warnings

    from ietest_fast.errors import ConfigError, IetestWarning, InputError, ResourceError

    for error in (
        InputError(name, path=f"{name}.csv", column=name),
        ResourceError(name),
        ConfigError([name, name]),
    ):
        said = "".join(traceback.format_exception_only(error))
        assert is_harmless(said)
        assert len(said.splitlines()) == len(error.lines)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(name, IetestWarning, stacklevel=1)
    assert is_harmless(str(caught[0].message))
