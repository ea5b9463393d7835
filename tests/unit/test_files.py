"""Paths that lead to no file that can be read."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from ietest_fast.cli.main import main
from ietest_fast.corpus import open_batches, read_corpus
from ietest_fast.errors import ConfigError, InputError
from ietest_fast.experiment.config import read_config
from ietest_fast.files import check_file, read_json
from ietest_fast.lexicon import read_block_list


def _loop(folder: Path) -> Path:
    (folder / "loop.csv").symlink_to(folder / "other.csv")
    (folder / "other.csv").symlink_to(folder / "loop.csv")
    return folder / "loop.csv"


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.csv")
    return folder / "pipe.csv"


def _nowhere(folder: Path) -> Path:
    (folder / "link.csv").symlink_to(folder / "absent.csv")
    return folder / "link.csv"


def _below_a_file(folder: Path) -> Path:
    (folder / "file").touch()
    return folder / "file" / "a.csv"


CASES = {
    "a loop of links": (_loop, "symbolic links"),
    "a pipe": (_pipe, "is a pipe, a file expected"),
    "a link to nothing": (_nowhere, "no such file"),
    "a folder": (lambda folder: folder, "is a folder, a file expected"),
    "below a file": (_below_a_file, "cannot be read: Not a directory"),
    "a device": (lambda _: Path("/dev/null"), "is a device, a file expected"),
    "a long name": (lambda folder: folder / ("a" * 300 + ".csv"), "cannot be read: File name too"),
    "a NUL": (lambda folder: folder / "a\0.csv", "is no name of a file"),
}


def _of_settings(message: str) -> str:
    """Give what is said of a file of settings: which kind of file is expected."""
    return message.replace("a file expected", "a TOML file expected")


@pytest.mark.parametrize("case", CASES)
def test_every_reader_says_what_a_path_leads_to(tmp_path: Path, case: str) -> None:
    make, message = CASES[case]
    path = make(tmp_path)
    for read in (check_file, read_corpus, open_batches, read_block_list):
        with pytest.raises(InputError, match=message):
            read(path)
    with pytest.raises(ConfigError, match=_of_settings(message)):
        read_config(path)


@pytest.mark.parametrize("case", ["a loop of links", "a pipe", "a long name"])
def test_commands_end_with_status_1(
    tmp_path: Path, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(CASES[case][0](tmp_path))
    good = tmp_path / "good.csv"
    good.write_text("premise,hypothesis,label\na,b,0\n", encoding="utf-8")
    out = str(tmp_path / "out.csv")
    for arguments in (
        ["describe", path],
        ["transform", path, out, "--lexicon-from", str(good)],
        ["transform", str(good), out, "--lexicon-from", path],
        ["run", path, "--out", str(tmp_path / "run")],
    ):
        with pytest.raises(SystemExit) as status:
            main(arguments)
        error = capsys.readouterr().err
        assert (status.value.code, len(error.splitlines())) == (1, 1), (arguments, error)
        message = CASES[case][1]
        assert (_of_settings(message) if arguments[:2] == ["run", path] else message) in error


def test_a_socket_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("a.csv")
        with pytest.raises(InputError, match="is a socket, a file expected"):
            check_file("a.csv")


def test_toml_that_nobody_can_have_meant_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text("a = " + "[" * 3000 + "]" * 3000, encoding="utf-8")
    with pytest.raises(ConfigError, match="nested too deep"):
        read_config(path)
    path.write_text("seed = " + "9" * 5000, encoding="utf-8")
    with pytest.raises(ConfigError, match="too many digits"):
        read_config(path)


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        (r'{"a": "x\ud83d\ude00"}', None),
        (r'{"a": "\\ud800", "b": "\\\\\ud83d\ude00"}', None),
        (r'["\ud800"]', ["\ufffd"]),
        (r'{"\uDFFF": 1}', {"\ufffd": 1}),
        (r'["\ud83d\ude00\ud83d"]', ["\U0001f600\ufffd"]),
        (r'["\ude00\ud83d"]', ["\ufffd\ufffd"]),
        (r'["\\\ud83d"]', ["\\\ufffd"]),
    ],
)
def test_half_of_a_character_is_replaced(tmp_path: Path, text: str, mended: object) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    assert read_json(path) == (json.loads(text) if mended is None else mended)


@pytest.mark.parametrize("line", ["boy", " boy ,", '"boy "', "' boy',", '" boy\t"', "BOY "])
def test_blanks_around_a_word_of_a_block_list_are_of_no_word(tmp_path, line):
    (tmp_path / "block.txt").write_text(f"{line}\n\n  \n")
    assert read_block_list(tmp_path / "block.txt") == {"boy"}
