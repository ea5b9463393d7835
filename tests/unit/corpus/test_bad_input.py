"""Every broken file of reference.bad_files, through the library and through the command line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from ietest_fast.cli.main import main
from ietest_fast.corpus import open_batches, read_corpus
from ietest_fast.errors import InputError
from reference.bad_files import BAD_FILES

if TYPE_CHECKING:
    from pathlib import Path


def check(message: str, path: Path, patterns: tuple[str, ...]) -> None:
    assert str(path) in message
    for pattern in patterns:
        assert re.search(pattern, message), message


@pytest.fixture(params=BAD_FILES)
def bad(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, tuple[str, ...]]:
    name, content, patterns = BAD_FILES[request.param]
    path = tmp_path / name
    path.write_bytes(content)
    return path, patterns


def test_reading_says_what_is_wrong(bad: tuple[Path, tuple[str, ...]]) -> None:
    path, patterns = bad
    with pytest.raises(InputError) as error:
        read_corpus(path)
    check(str(error.value), path, patterns)


def test_describe_says_what_is_wrong(
    bad: tuple[Path, tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, patterns = bad
    with pytest.raises(SystemExit) as status:
        main(["describe", str(path)])
    assert status.value.code == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("Error: ")
    assert len(output.err.splitlines()) == 1
    check(output.err, path, patterns)


@pytest.mark.parametrize("name", ["missing.csv", "missing.parquet", "missing.jsonl"])
def test_a_file_that_is_not_there(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    for read in (read_corpus, open_batches):
        with pytest.raises(InputError, match="no such file"):
            read(path)
    with pytest.raises(SystemExit) as status:
        main(["describe", str(path)])
    assert status.value.code == 1
    check(capsys.readouterr().err, path, ("no such file",))


def test_a_folder_instead_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "data.parquet"
    path.mkdir()
    with pytest.raises(InputError, match="is a folder"):
        read_corpus(path)
    with pytest.raises(SystemExit) as status:
        main(["describe", str(path)])
    assert status.value.code == 1
    check(capsys.readouterr().err, path, ("is a folder",))


def test_asking_for_a_column_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,0\nb,1\n", encoding="utf-8")
    for options, arguments in (
        ({"text_columns": ["texte"]}, ["--text-columns", "texte"]),
        ({"label_column": "lable"}, ["--label-column", "lable"]),
    ):
        with pytest.raises(InputError, match="did you mean"):
            read_corpus(path, **options)
        with pytest.raises(SystemExit) as status:
            main(["describe", str(path), *arguments])
        assert status.value.code == 1
        check(capsys.readouterr().err, path, ("no such column", "did you mean"))


def test_describe_takes_columns_as_the_other_commands_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("q,a,label\nx,y,0\nz,w,1\n", encoding="utf-8")
    with pytest.raises(SystemExit) as status:
        main(["describe", str(path), "--text-columns", "q, a", "--json"])
    assert not status.value.code
    (described,) = json.loads(capsys.readouterr().out)["corpora"]
    assert [column["name"] for column in described["columns"]] == ["q", "a"]
    with pytest.raises(SystemExit) as status:
        main(["describe", str(path), "--text-columns", ","])
    assert status.value.code == 2


STREAMED = {
    "latin-1 csv",
    "ragged csv",
    "open quote",
    "latin-1 jsonl",
    "broken json",
    "truncated parquet",
    "damaged parquet",
    "truncated gzip",
    "empty csv",
    "utf-16",
}


@pytest.mark.parametrize("case", sorted(STREAMED))
def test_streaming_says_what_is_wrong(case: str, tmp_path: Path) -> None:
    name, content, patterns = BAD_FILES[case]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as error, open_batches(path) as batches:
        for _ in batches:
            pass
    check(str(error.value), path, patterns)
