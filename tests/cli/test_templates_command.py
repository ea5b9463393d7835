"""``ietest-fast templates``."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from ietest_fast.cli.main import main
from ietest_fast.corpus import streams
from ietest_fast.templates import sampling
from ietest_fast.templates.files import task_names
from ietest_fast.templates.language import LANGUAGES
from ietest_fast.templates.naming import load_names

if TYPE_CHECKING:
    from types import ModuleType

MINE = """
template mine
    people      a
    places      b
    premise     V(a, b)
    hypothesis  ~V(a, b)
    label       contradiction
"""


@dataclass
class Command:
    """The command, its output and its errors together."""

    capsys: pytest.CaptureFixture[str]

    def status_of(self, *arguments: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as status:
            main(["templates", *map(str, arguments)])
        output = self.capsys.readouterr()
        return int(status.value.code or 0), output.out + output.err

    def run(self, *arguments: object) -> str:
        status, output = self.status_of(*arguments)
        assert status == 0, output
        return output

    def fail(self, *arguments: object, status: int = 1) -> str:
        found, output = self.status_of(*arguments)
        assert found == status, output
        return output


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


@pytest.mark.slow
def test_a_corpus_is_written(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    said = command.run("conjunction", "existential", "--n", "600,60,30", "--out", folder)
    assert "16 templates, 62 shapes, all labels proved." in said
    tables = {
        name: pq.read_table(folder / f"{name}.parquet") for name in ("train", "valid", "test")
    }
    assert [len(table) for table in tables.values()] == [600, 60, 30]
    for table in tables.values():
        assert table.column_names == ["premise", "hypothesis", "label", "task", "template"]
        labels = Counter(table["label"].to_pylist())
        assert labels == dict.fromkeys(("entailment", "neutral", "contradiction"), len(table) // 3)
        assert set(table["task"].to_pylist()) == {"conjunction", "existential"}
    words = {
        name: set(" ".join(table["premise"].to_pylist()).split()) for name, table in tables.items()
    }
    people = {
        name: {*load_names("en", name).women, *load_names("en", name).men}  # type: ignore[arg-type]
        for name in tables
    }
    assert words["train"] & people["train"]
    assert not words["train"] & people["test"]
    record = json.loads((folder / "templates.json").read_text("utf-8"))
    assert record["names_are_disjoint"] is True
    assert record["splits"]["test"]["rows"] == 30
    assert record["tasks"] == ["conjunction", "existential"]
    # The same again, with other threads; and another seed.
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    same, other = tmp_path / "same", tmp_path / "other"
    options = ("conjunction", "existential", "--n", "600,60,30")
    command.run(*options, "--out", same, "--threads", 3)
    assert {path.name: path.read_bytes() for path in same.iterdir()} == before
    command.run(*options, "--out", other, "--seed", 1)
    assert pq.read_table(other / "train.parquet") != tables["train"]
    # A folder is never written into twice.
    said = command.fail(*options, "--out", folder, "--seed", 1)
    assert "is not empty: 'templates.json' stands in it; name a new folder" in said
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_two_labels_one_split_and_shared_names(command: Command, tmp_path: Path) -> None:
    options = ("--labels", "contradiction", "--format", "csv", "--out", tmp_path)
    said = command.run("quantifier", "--split", "test,train", "--n", 40, "--shared-names", *options)
    assert "The splits have names in common." in said
    table = pyarrow.csv.read_csv(tmp_path / "test.csv")
    assert Counter(table["label"].to_pylist()) == {"contradiction": 20, "non-contradiction": 20}
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "templates.json",
        "test.csv",
        "train.csv",
    ]
    record = json.loads((tmp_path / "templates.json").read_text("utf-8"))
    assert record["names_are_disjoint"] is False
    assert record["shared_names"] is True
    assert record["splits"]["train"]["people"] == record["splits"]["test"]["people"]


def test_masked_corpora_have_answers(command: Command, tmp_path: Path) -> None:
    command.run("masked-quantifier", "--split", "train", "--n", 400, "--out", tmp_path)
    rows = pq.read_table(tmp_path / "train.parquet").to_pylist()
    assert {row["answer"] for row in rows} == {"someone", "everyone"}
    assert all(row["masked"].count("[MASK]") == 1 for row in rows)
    counts = Counter(row["answer"] for row in rows)
    assert 150 < counts["someone"] < 250


@pytest.mark.slow
def test_pairs_are_shown_without_a_folder(command: Command) -> None:
    lines = command.run("simple-negation", "--n", 2, "--language", "pt").splitlines()
    assert len(lines) == 6
    assert " visitou " in lines[0]
    assert " não visitou " in lines[1]
    assert lines[2].endswith(")")
    shown = json.loads(command.run("simple-negation", "--n", 2, "--json"))
    assert set(shown["splits"]["train"][0]) == {
        "premise",
        "hypothesis",
        "label",
        "task",
        "template",
    }


def test_tasks_are_listed(command: Command) -> None:
    listed = [line.partition(":")[0] for line in command.run("--list").splitlines()]
    assert listed == list(task_names())
    tasks = json.loads(command.run("--list", "--json"))["tasks"]
    assert {task["name"]: task["templates"] for task in tasks}["mixed"] == 43


def test_templates_languages_and_names_of_ones_own(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(MINE)
    language = tmp_path / "xx.toml"
    text = (LANGUAGES / "en.toml").read_text("utf-8")
    language.write_text(
        text.replace('"has visited"', '"went to"').replace("didn't visit", "never saw")
    )
    names = tmp_path / "names.toml"
    names.write_text('[only]\nwomen = ["Ada"]\nmen = []\nplaces = ["Rome"]\n')
    options = ("--file", tmp_path / "mine.txt", "--language", language, "--names", names)
    said = command.run(*options, "--split", "only", "--n", 1)
    assert said.splitlines() == [
        "Ada went to Rome",
        "    Ada never saw Rome",
        "    contradiction  (mine, mine)",
    ]
    assert "there is no split 'train'; there are only" in command.fail(*options)
    out = tmp_path / "out"
    command.run(*options, "--split", "only", "--n", 1, "--out", out)
    record = json.loads((out / "templates.json").read_text("utf-8"))
    paths = {"templates": tmp_path / "mine.txt", "names": names, "language": language}
    assert record["files"] == [
        {
            "kind": kind,
            "path": str(path),
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for kind, path in paths.items()
    ]
    names.write_text('[train]\nwomen = ["Ada"]\nmen = []\nplaces = ["every place"]\n')
    said = command.fail(*options)
    assert "names.toml: the name 'every place' has 'every place', which means something" in said
    assert "pass a file of names" in command.fail(
        "--file", tmp_path / "mine.txt", "--language", language
    )


@pytest.mark.parametrize("option", ["--file", "--names", "--language"])
def test_what_can_be_read_only_once_is_refused(
    command: Command, tmp_path: Path, option: str
) -> None:
    """As with ``--names <(cat names.toml)``: the record would have the hash of nothing."""
    (tmp_path / "no.toml").symlink_to(os.devnull)
    said = command.fail("negation", option, tmp_path / "no.toml")
    assert "no.toml: is a device, a file expected (it is read more than once)" in said


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), 2, "name a TASK (--list shows all)"),
        (("negations",), 1, "there is no task 'negations'"),
        (("negation", "--n", "0"), 2, "is no list of numbers of rows"),
        (("negation", "--n", "9" * 30), 2, "each from 1 to 10,000,000,000"),
        (("negation", "--n", "10001"), 2, "at most 10,000 pairs are shown; name a folder with"),
        (("negation", "--n", "1,2", "--split", "test"), 2, "there are 2 numbers and 1 splits"),
        (("negation", "--split", "test,test"), 2, "a split stands there twice"),
        (
            ("negation", "--split", "dev"),
            2,
            "the package has names for train, valid, test, not for 'dev'; give a file with --names",
        ),
        (("negation", "--language", "xx"), 2, "there is no language 'xx'; there are en, pt"),
        (("negation", "--file", "absent.txt"), 1, "absent.txt"),
        (("quantifier", "--wordings", "many", "--rules", "released"), 2, "have one wording"),
        (("negation", "--split", "../x"), 2, "'../x' cannot be the name of a file"),
        (("negation", "--split", "train,Train"), 2, "a split stands there twice"),
        (("negation", "--wordings", "many", "--language", "es.toml"), 2, "has one wording"),
        (("--file", "a.txt", "--rules", "released"), 2, "--rules is for the TASKs of the package"),
        (("negation", "--format", "csv"), 2, "--format is for the files of --out"),
    ],
)
def test_what_is_wrong_is_said(command: Command, arguments, status, message) -> None:
    assert message in command.fail(*arguments, status=status)


def test_a_wrong_label_leaves_no_file(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(MINE.replace("contradiction", "neutral"))
    out = tmp_path / "out"
    said = command.fail("--file", tmp_path / "mine.txt", "--out", out)
    assert (
        "mine.txt, line 7, column 5: template 'mine': the label is neutral, but here it is" in said
    )
    assert not out.exists()
    (tmp_path / "negation.txt").write_text(MINE)
    said = command.fail("negation", "--file", tmp_path / "negation.txt", status=2)
    assert "two tasks have the name 'negation'" in said


def test_a_folder_that_is_none(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    for wrong in (tmp_path / "file", tmp_path / "pipe", Path(os.devnull)):
        for out in (wrong, wrong / "folder"):
            said = command.fail("negation", "--out", out)
            assert f"{wrong}: is no folder; name another one" in said


ONE_PAIR = ("negation", "--split", "train", "--n", 1)
UNFINISHED = f".train.parquet.{'0123' * 4}.unfinished"


def test_what_a_killed_command_has_left_is_removed(command: Command, tmp_path: Path) -> None:
    (tmp_path / UNFINISHED).write_bytes(b"PAR1")
    (tmp_path / UNFINISHED.replace("train.parquet", "templates.json")).write_bytes(b"{")
    kept = {".notes.unfinished", UNFINISHED.replace("train", "mine"), UNFINISHED.replace("0", "z")}
    for name in kept:
        (tmp_path / name).write_bytes(b"mine")
    folder = UNFINISHED.replace("0", "1")
    (tmp_path / folder).mkdir()
    said = command.run(*ONE_PAIR, "--out", tmp_path)
    assert f"{tmp_path / 'train.parquet'}: 1 pair\n" in said
    assert {path.name for path in tmp_path.iterdir()} == {
        *kept,
        folder,
        "train.parquet",
        "templates.json",
    }


@pytest.mark.parametrize("n_appeared", [1, 2])
def test_files_of_a_command_that_was_killed_while_they_appeared_are_made_anew(
    command: Command, tmp_path: Path, n_appeared: int
) -> None:
    options = ("negation", "--n", "20,10,10")
    command.run(*options, "--out", tmp_path / "whole")
    whole = {path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()}
    out = tmp_path / "out"
    out.mkdir()
    names = sorted(name for name in whole if name != sampling.RECORD)
    (out / ".templates.appearing").write_text(json.dumps([*names, "../whole/test.parquet"]))
    for name in names[:n_appeared]:
        (out / name).write_bytes(b"of the killed command")
    (out / "mine.txt").write_text("mine")
    assert "is not empty: 'mine.txt' stands in it" in command.fail(*options, "--out", out)
    (out / "mine.txt").unlink()
    command.run(*options, "--out", out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == whole
    assert (tmp_path / "whole" / "test.parquet").read_bytes() == whole["test.parquet"]
    assert "is not empty" in command.fail(*options, "--out", out)


def test_two_commands_do_not_write_into_one_folder(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / UNFINISHED).write_bytes(b"PAR1")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with monkeypatch.context() as patch:
        patch.setattr(sampling, "prove_templates", None)  # it is said before the proofs
        said = command.fail(*ONE_PAIR, "--out", tmp_path)
    assert f"{tmp_path}: another command is writing there; wait for it or name another" in said
    assert [path.name for path in tmp_path.iterdir()] == [UNFINISHED]
    os.close(descriptor)
    command.run(*ONE_PAIR, "--out", tmp_path)


def test_a_folder_that_cannot_be_locked(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then nobody knows whether the file of another command is left or is being written."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / UNFINISHED).write_bytes(b"PAR1")
    command.run(*ONE_PAIR, "--out", tmp_path)
    assert (tmp_path / UNFINISHED).exists()


@pytest.mark.parametrize(
    ("failing", "n_good"),
    [((streams, "give_name"), 1), ((sampling, "write_file"), 0)],
    ids=["a split", "the record"],
)
def test_all_files_or_none(
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    failing: tuple[ModuleType, str],
    n_good: int,
) -> None:
    real, calls = getattr(*failing), []

    def fail(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) > n_good:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(*arguments)

    monkeypatch.setattr(*failing, fail)
    said = command.fail("negation", "--n", 1, "--out", tmp_path / "new" / "out")
    assert "cannot be written: No space left on device" in said
    assert len(calls) == n_good + 1
    assert not any(tmp_path.iterdir())


def test_a_formula_without_words_is_located(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(MINE.replace("V(a, b)", "V(a, b) | (V(a, b) & a = a)", 1))
    said = command.fail("--file", tmp_path / "mine.txt")
    assert "mine.txt, line 5, column 17: template 'mine': here there are no words for" in said


def test_one_label_is_said(command: Command, tmp_path: Path) -> None:
    options = ("--split", "train", "--n", 5, "--out", tmp_path)
    said = command.run("masked-boolean-coordination", "--labels", "contradiction", *options)
    assert "All pairs have the label 'non-contradiction'." in said


def test_a_corpus_that_cannot_be_drawn_leaves_no_folder(command: Command, tmp_path: Path) -> None:
    (tmp_path / "names.toml").write_text('[train]\nwomen = ["Ada"]\nmen = []\nplaces = ["Rome"]\n')
    options = ("--names", tmp_path / "names.toml", "--split", "train", "--out", tmp_path / "out")
    said = command.fail("conjunction", *options)
    assert "split 'train': a shape has" in said
    assert "there are only 1 names" in said
    assert not (tmp_path / "out").exists()
    # Nor does what stops the writing.
    long = "x" * 250
    (tmp_path / "names.toml").write_text(
        f'[{long}]\nwomen = ["Ada"]\nmen = ["Al"]\nplaces = ["Rome"]\n'
    )
    (tmp_path / "mine.txt").write_text(MINE)
    options = ("--names", tmp_path / "names.toml", "--split", long)
    for out in ("out", "new/newer/out"):
        said = command.fail("--file", tmp_path / "mine.txt", *options, "--out", tmp_path / out)
        assert "too long" in said
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("wordings", ["one", "many"])
@pytest.mark.parametrize("code", ["en", "pt"])
def test_names_have_no_verbs_of_any_wording(
    command: Command, tmp_path: Path, wordings: str, code: str
) -> None:
    names = tmp_path / "names.toml"
    said = {"en": "Ann has seen Rome", "pt": "Ana viu Roma"}[code]
    verb = {"en": "has seen", "pt": "viu"}[code]
    names.write_text(f'[train]\nwomen = ["Ada"]\nmen = []\nplaces = ["{said}"]\n')
    options = ("--language", code, "--wordings", wordings, "--names", names, "--n", "20")
    assert f"the name {said!r} has {verb!r}, which means" in command.fail("quantifier", *options)
