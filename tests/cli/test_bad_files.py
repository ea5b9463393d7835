"""Files that are not what they should be: every command says the same, and writes nothing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.cli.main import main
from ietest_fast.corpus.formats import SKIP_HINT

COLUMNS = ("premise", "hypothesis", "label", "original", "transformed", "A", "B")
RECORD = {
    "premise": "A child drives a car.",
    "hypothesis": "It rains.",
    "label": 0,
    "original": 0,
    "transformed": 0,
    "A": 1,
    "B": 0,
}


def record(**changes: object) -> str:
    return json.dumps({**RECORD, **changes})


def write_jsonl(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines))
    return path


def good(folder: Path, suffix: str) -> bytes:
    """A file that every command can read, as bytes."""
    path = folder / f"good{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist([RECORD, {**RECORD, "label": 1}] * 50), path)
    else:
        lines = [",".join(COLUMNS), *[",".join(map(str, RECORD.values()))] * 50]
        path.write_text("\n".join(lines) + "\n")
    content = path.read_bytes()
    path.unlink()
    return content


# name, content, message
CASES = {
    "empty csv": ("in.csv", lambda _: b"", "the file is empty"),
    "empty tsv": ("in.tsv", lambda _: b"", "the file is empty"),
    "empty jsonl": ("in.jsonl", lambda _: b"", "the file is empty"),
    "empty parquet": ("in.parquet", lambda _: b"", "the file is empty"),
    "empty gz": ("in.csv.gz", lambda _: b"", "the file is empty"),
    "nothing in gz": ("in.csv.gz", lambda _: gzip.compress(b""), "the file is empty"),
    "header only": (
        "in.csv",
        lambda folder: good(folder, ".csv").split(b"\n")[0] + b"\n",
        "no rows",
    ),
    "header only, tsv": (
        "in.tsv",
        lambda folder: good(folder, ".csv").split(b"\n")[0].replace(b",", b"\t") + b"\n",
        "no rows",
    ),
    "UTF-16": (
        "in.csv",
        lambda folder: good(folder, ".csv").decode().encode("utf-16"),
        "is encoded in UTF-16, UTF-8 expected",
    ),
    "line ends of CR": (
        "in.csv",
        lambda folder: good(folder, ".csv").replace(b"\n", b"\r"),
        "line 1: a line end of CR alone",
    ),
    "UTF-16 without a mark": (
        "in.csv",
        lambda folder: good(folder, ".csv").decode().encode("utf-16-le"),
        "is encoded in UTF-16, UTF-8 expected",
    ),
    "UTF-16, the other way": (
        "in.jsonl",
        lambda _: f"{record()}\n".encode("utf-16-be"),
        "is encoded in UTF-16, UTF-8 expected",
    ),
    "truncated parquet": (
        "in.parquet",
        lambda folder: good(folder, ".parquet")[:-20],
        "not a whole Parquet file",
    ),
    "half a parquet": (
        "in.parquet",
        lambda folder: good(folder, ".parquet")[:300],
        "not a whole Parquet file",
    ),
    "no parquet": ("in.parquet", lambda folder: good(folder, ".csv"), "not a whole Parquet file"),
    "broken gz": (
        "in.csv.gz",
        lambda folder: gzip.compress(good(folder, ".csv"))[:-30],
        "cannot be read",
    ),
    "no gz": ("in.csv.gz", lambda folder: good(folder, ".csv"), "cannot be read"),
    "a row too short": (
        "in.csv",
        lambda folder: good(folder, ".csv") + b"a,b\n",
        "line 52: 2 fields, 7 expected",
    ),
    "half a surrogate pair": (
        "in.jsonl",
        lambda _: f"{record()}\n\n{record(premise='@')}\n".replace("@", r"a\ud800b").encode(),
        r"line 3, column 'premise': \ud800 is half of a surrogate pair",
    ),
    "deep at the start": (
        "in.jsonl",
        lambda _: f"{record()}\n{record(x=1)}\n".replace("1}", "[" * 10**5 + "]" * 10**5 + "}", 2),
        "brackets are nested more than 100 deep",
    ),
    "cut off": (
        "in.jsonl",
        lambda _: f"{record()}\n{record()[:-9]}\n".encode(),
        "line 2: not JSON: ",
    ),
}


def commands(path: Path) -> dict[str, list[str]]:
    """Every command that reads a dataset, with this file."""
    train = path.with_name("train.jsonl")
    write_jsonl(train, record(), record(label=1))
    out = str(path.with_name("out.jsonl"))
    rest = ["--valid", str(train), "--test", str(train), "--out", str(path.with_name("run"))]
    return {
        "describe": ["describe", str(path)],
        "test": ["test", str(path)],
        "eval": ["eval", str(path)],
        "transform": ["transform", str(path), out, "--lexicon-from", str(train)],
        "lexicon": ["transform", str(train), out, "--lexicon-from", str(path)],
        "run": ["run", "--train", str(path), *rest],
    }


def run(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


ALL = ["describe", "test", "eval", "transform", "lexicon", "run"]


@pytest.mark.parametrize("command", ALL)
@pytest.mark.parametrize("case", sorted(CASES))
def test_a_bad_file_is_named_and_nothing_is_written(
    tmp_path: Path, case: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, make, message = CASES[case]
    path = tmp_path / name
    content = make(tmp_path)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    arguments = commands(path)[command]
    before = sorted(tmp_path.iterdir())
    status, out, err = run(capsys, arguments)
    assert (status, out) == (1, "")
    assert err.startswith(f"Error: {path}")
    assert message in err or (message == "no rows" and "no rows are left" in err)
    assert len(err.splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", ["describe", "run", "difficulty", "antonym", "swap"])
def test_of_two_columns_of_labels_one_has_to_be_named(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [record(label=n % 3, gold_label=(n + n // 3) % 3) for n in range(12)]
    path = write_jsonl(tmp_path / "in.jsonl", *rows)
    arguments = {
        "difficulty": ["difficulty", str(path)],
        "antonym": ["transform", str(path), str(tmp_path / "out.csv"), "--phi", "antonym"],
        "swap": ["transform", str(path), str(tmp_path / "out.csv"), "--phi", "swap"],
    } | commands(path)
    status, out, err = run(capsys, arguments[command])
    assert (status, out) == (1, "")
    assert "two columns of labels, label and gold_label; name the one that counts (" in err
    assert ("labels_in=" if command == "swap" else "--label-column") in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("command", ALL)
def test_a_folder_is_no_file(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    status, _, err = run(capsys, commands(path)[command])
    assert status == 1
    assert str(path) in err
    assert "is a folder, a file expected" in err


def test_a_folder_is_no_file_of_settings_or_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(capsys, ["run", str(tmp_path)])
    assert (status, err) == (1, f"Error: {tmp_path}: is a folder, a TOML file expected\n")
    arguments = commands(tmp_path / "train.jsonl")["transform"]
    phi = f"syn.careful:block_list='{tmp_path}'"
    status, _, err = run(capsys, [*arguments, "--phi", phi])
    told = f"Error: syn.careful: block_list: {tmp_path}: is a folder, a file expected\n"
    assert (status, err) == (1, told)
    arguments[2] = str(tmp_path)
    status, _, err = run(capsys, arguments)
    assert (status, err) == (1, f"Error: {tmp_path}: is a folder, a file expected\n")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["describe", "test", "eval", "transform", "lexicon"])
@pytest.mark.parametrize("how", ["BOM", "CRLF", "BOM and CRLF"])
def test_marks_and_line_ends_of_other_systems_do_not_matter(
    tmp_path: Path, command: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content = good(tmp_path, ".csv").decode()
    plain, marked = tmp_path / "plain.csv", tmp_path / "marked.csv"
    plain.write_text(content)
    if "CRLF" in how:
        content = content.replace("\n", "\r\n")
    marked.write_bytes((b"\xef\xbb\xbf" if "BOM" in how else b"") + content.encode())
    answers = []
    for path in (plain, marked):
        # Its outcomes are none of its labels, which test would say.
        named = ["--original", "A", "--transformed", "B"] if command == "test" else []
        status, out, err = run(capsys, [*commands(path)[command], *named, "--json"])
        assert (status, err) == (0, "")
        written = tmp_path / "out.jsonl"
        answers.append((out.replace(str(path), "FILE"), written.exists() and written.read_text()))
    assert answers[0] == answers[1]


def errors(err: str) -> str:
    """Leave warnings out: of the paper rules without a block list."""
    return "".join(line for line in err.splitlines(True) if not line.startswith("Warning: "))


# A file of more than one of Arrow's blocks, 16 MiB, and of less.
@pytest.mark.parametrize("n_rows", [2, pytest.param(17_000, marks=pytest.mark.slow)])
class TestTypesThatChange:
    def write(self, folder: Path, n_rows: int, *last: str) -> Path:
        path = folder / "in.jsonl"
        row = record(note="x" * 1_000) + "\n"
        path.write_text(row * n_rows + "".join(line + "\n" for line in last))
        assert (path.stat().st_size > 16 << 20) == (n_rows > 2)
        return path

    @pytest.mark.parametrize("command", ["describe", "transform", "lexicon", "run"])
    @pytest.mark.parametrize(("value", "shown"), [(5, "5"), (["a"], '["a"]'), (True, "true")])
    def test_a_text_that_is_none_is_refused(  # noqa: PLR0917 - three of them are fixtures
        self,
        tmp_path: Path,
        n_rows: int,
        value: object,
        shown: str,
        command: str,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        path = self.write(tmp_path, n_rows, record(), record(hypothesis=value), record())
        arguments = commands(path)[command]
        if command in {"transform", "lexicon"}:
            arguments += ["--phi", "syn.paper:tagger=packaged"]
        status, out, err = run(capsys, arguments)
        assert (status, out) == (1, "")
        where = f"{path}, line {n_rows + 2}, column 'hypothesis'"
        assert errors(err) == f"Error: {where}: is {shown}, text expected\n"
        assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl", "train.jsonl"]

    def test_labels_of_two_types_are_read_by_every_command(
        self, tmp_path: Path, n_rows: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        names = {"label": "neutral", "original": "1", "transformed": "neutral", "A": "no"}
        path = self.write(tmp_path, n_rows, record(**names), record(label=None, A=False))
        _, out, err = run(capsys, ["describe", str(path), "--json"])
        assert err == ""
        labels = json.loads(out)["corpora"][0]["labels"]
        assert labels == {"entailment": n_rows, "neutral": 1, "contradiction": 0}
        outcomes = ["--original", "A", "--transformed", "B"]  # which contradict the labels
        _, out, err = run(capsys, ["test", str(path), *outcomes, "--json"])
        assert err == ""
        assert [json.loads(out)[name] for name in ("n10", "n00")] == [n_rows, 2]
        _, out, err = run(capsys, ["eval", str(path), "--json"])
        assert err == ""
        assert json.loads(out)["n11"] == n_rows + 1
        arguments = [*commands(path)["transform"], "--phi", "syn.paper:tagger=packaged"]
        status, _, err = run(capsys, arguments)
        assert (status, errors(err)) == (0, "")
        lines = (tmp_path / "out.jsonl").read_text().splitlines()
        assert len(lines) == n_rows + 2
        assert [json.loads(line)["label"] for line in (lines[0], *lines[-2:])] == [
            "0",
            "neutral",
            None,
        ]
        assert json.loads(lines[0])["premise"] == "a kid drives a auto"

    def test_a_missing_text_stays_missing(
        self, tmp_path: Path, n_rows: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = self.write(tmp_path, n_rows, record(premise=None))
        arguments = [*commands(path)["transform"], "--phi", "syn.paper:tagger=packaged"]
        assert run(capsys, arguments)[0] == 0
        assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[-1])["premise"] is None
        status, _, err = run(capsys, ["describe", str(path)])
        assert (status, f"line {n_rows + 1}, column 'premise': the text is missing" in err) == (
            1,
            True,
        )

    def test_nothing_that_comes_late_is_lost(
        self, tmp_path: Path, n_rows: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = self.write(tmp_path, n_rows, record(x=1.5), record(A=0.25), record(A=2**70, x=[1]))
        arguments = [*commands(path)["transform"], "--phi", "syn.paper:tagger=packaged"]
        status, _, err = run(capsys, arguments)
        assert (status, errors(err)) == (0, "")
        last = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()[-3:]]
        assert [row["x"] for row in last] == ["1.5", None, "[1]"]
        assert [row["A"] for row in last] == ["1", "0.25", str(2**70)]


@pytest.mark.parametrize("command", ALL)
def test_a_long_field_does_not_hide_the_mistake(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    long = good(tmp_path, ".csv").replace(b"It rains.", b"It rains." * 20_000, 1)
    path = tmp_path / "in.csv"
    path.write_bytes(long + b"a,b\n")
    status, out, err = run(capsys, commands(path)[command])
    assert (status, out) == (1, "")
    assert err == f"Error: {path}, line 52: 2 fields, 7 expected as in the header; {SKIP_HINT}\n"


@pytest.mark.slow
def test_a_row_longer_than_what_is_read_at_a_time_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(good(tmp_path, ".csv") + b'a,"' + b"It rains. " * 3_500_000 + b'",0,0,0,1,1\n')
    for command in ("transform", "lexicon", "test"):
        status, out, err = run(capsys, commands(path)[command])
        assert (status, out) == (1, "")
        assert err == (
            f"Error: {path}, line 52, column 'hypothesis': a row of 35,000,006 characters is "
            "longer than what is read at a time (is a quote left open?); write the file as "
            ".parquet or .jsonl\n"
        )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "train.jsonl"]
