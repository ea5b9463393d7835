"""Paths that lead to no file, wherever a command takes one: one line, and no waiting."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="makes the models that are read")

from command_line import run_here
from tiny_models import make_onnx_folder

SECONDS = 20


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link_to(target: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.symlink_to(target)

    return make


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


# What stands at the path, and what is said of it.
KINDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (_pipe, "is a pipe"),
    "endless": (_link_to("/dev/zero"), "is a device"),
    "null": (_link_to("/dev/null"), "is a device"),
    "loop": (_loop, "symbolic links"),
    "folder": (Path.mkdir, "is a folder"),
    "dangling": (_link_to("nowhere"), "no such file"),
    "absent": (lambda _: None, "no such file"),
}

# Arguments of commands, by what is read; BAD is the path, with an ending of its own.
TEXTS = ["--test", "good.csv"]
PARAPHRASED = ["consistency", "--onnx", "model", *TEXTS, "--phi", "syn.careful"]
LOGIC = ["stress", "--suite", "logic", "--onnx", "model", *TEXTS]
SOURCES = ["consistency", "--onnx", "model", "--source", "b=good.csv"]
MAPPING = "words:mapping='BAD.csv'"
SYN = "syn.careful:block_list="
PLACES: dict[str, list[str]] = {
    "describe": ["describe", "BAD.csv"],
    "describe, Parquet": ["describe", "BAD.parquet"],
    "describe, packed": ["describe", "BAD.jsonl.gz"],
    "test": ["test", "BAD.csv"],
    "test, log": ["test", "good.csv", "BAD.json"],
    "eval": ["eval", "BAD"],
    "eval, second": ["eval", "good.csv", "BAD.jsonl"],
    "eval, gold": ["eval", "good.csv", "--gold", "BAD.csv"],
    "eval, test": ["eval", "--onnx", "model", "--test", "BAD.csv"],
    "eval, lexicon": ["eval", "--onnx", "model", *TEXTS, "--lexicon-from", "BAD.csv"],
    "eval, transformed": ["eval", "--onnx", "model", *TEXTS, "--transformed-test", "BAD.csv"],
    "eval, model": ["eval", "--onnx", "BAD.onnx", *TEXTS],
    "eval, checkpoint": ["eval", "--model", "./BAD.bin", *TEXTS],
    "eval, tokenizer": ["eval", "--onnx", "model/model.onnx", "--tokenizer", "BAD.json", *TEXTS],
    "stress": ["stress", "BAD.parquet"],
    "stress, suite": ["stress", "--onnx", "model", *TEXTS, "--suite", "BAD.toml"],
    "stress, weights": [*LOGIC, "--weights", "BAD.toml"],
    "stress, quantities": ["stress", "--onnx", "model", *TEXTS, "--quantities", "BAD.csv"],
    "stress, train": ["stress", "--onnx", "model", *TEXTS, "--train", "BAD.csv"],
    "consistency": ["consistency", "BAD.json"],
    "consistency, test": ["consistency", "--onnx", "model", "--test", "BAD.csv"],
    "consistency, test set": [*PARAPHRASED, "--test-set", "BAD.csv"],
    "consistency, source": [*SOURCES, "--source", "a=BAD.csv"],
    "masked": ["masked", "BAD.jsonl", "--ranks", "rank"],
    "masked, model": ["masked", "hidden.csv", "--onnx", "BAD.onnx"],
    "difficulty": ["difficulty", "BAD.csv"],
    "difficulty, vectors": ["difficulty", "good.csv", "--embeddings", "BAD.npy"],
    "difficulty, encoder": ["difficulty", "good.csv", "--encoder", "BAD.onnx"],
    "report": ["report", "BAD.parquet"],
    "annotate summary": ["annotate", "summary", "BAD.json"],
    "annotate export": ["annotate", "export", "BAD.json", "list.csv"],
    "annotate import": ["annotate", "import", "sample.json", "BAD.csv", "--person", "ann"],
    "annotate draw": ["annotate", "draw", "BAD.csv", "new.json", "--phi", "swap"],
    "export": ["export", "BAD", "out"],
    "transform": ["transform", "BAD.tsv", "out.csv", "--lexicon-from", "good.csv"],
    "transform, lexicon": ["transform", "good.csv", "out.csv", "--lexicon-from", "BAD.csv"],
    "transform, words": ["transform", "good.csv", "out.csv", "--phi", f"{SYN}'BAD.txt'"],
    "transform, mapping": ["transform", "good.csv", "out.csv", "--phi", MAPPING],
    "templates": ["templates", "--file", "BAD.ielt"],
    "templates, names": ["templates", "counting", "--names", "BAD.toml"],
    "templates, language": ["templates", "counting", "--language", "BAD.toml"],
    "run": ["run", "BAD.toml"],
    "run, train": ["run", "--train", "BAD.csv", "--valid", "good.csv", "--test", "good.csv"],
}


# Folders that are read by themselves, and what in them is no file.
INSIDE: dict[str, tuple[list[str], str]] = {
    "a model's settings": (["eval", "--onnx", "model", *TEXTS], "model/config.json"),
    "a model's tokenizer": (["eval", "--onnx", "model", *TEXTS], "model/tokenizer.json"),
    "a model": (["eval", "--onnx", "model", *TEXTS], "model/model.onnx"),
    "n-grams": (["eval", "--model", "./model", *TEXTS], "model/ngrams.npz"),
    "results": (["report", "finished"], "finished/results.json"),
    "a sample's run": (["annotate", "draw", "finished", "new.json"], "finished/results.json"),
    "a database": (["run", "--demo", "--out", "finished"], "finished/run.sqlite"),
    "a lock": (["run", "--demo", "--out", "finished"], "finished/run.lock"),
    "marks": (["annotate", "summary", "sample.json"], "sample.json.ann.marks.jsonl"),
    "marks of a person": (
        ["annotate", "import", "sample.json", "list.csv", "--person", "ann"],
        "sample.json.ann.marks.jsonl",
    ),
}


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What commands need besides, made once."""
    folder = tmp_path_factory.mktemp("things")
    rows = [f"A child drives car {i}.,It rains.,{i % 3},{i % 3},1,0,i{i},1" for i in range(10)]
    header = "premise,hypothesis,label,prediction,original,transformed,item,A"
    (folder / "good.csv").write_text("\n".join([header, *rows]) + "\n")
    hidden = "premise,hypothesis,answer\nIt rains.,It [MASK].,rains\n"
    (folder / "hidden.csv").write_text(hidden)
    make_onnx_folder(folder / "model")
    draw = ["annotate", "draw", "good.csv", "sample.json", "--phi", "negation", "-n", "1"]
    assert run_here(*draw, folder=folder)[0] == 0
    assert run_here("annotate", "export", "sample.json", "list.csv", folder=folder)[0] == 0
    return folder


@pytest.fixture
def room(things: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder with all of that; whoever waits in it for long is ended."""
    shutil.copytree(things, tmp_path, dirs_exist_ok=True)

    def stop(*_: object) -> None:
        raise TimeoutError("the command waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    yield tmp_path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _check(room: Path, arguments: list[str], bad: str, *, said: str | None = None) -> None:
    before = sorted(each.name for each in room.iterdir())
    status, out, err = run_here(*arguments, folder=room)
    kept = [line for line in err.splitlines() if line.startswith("Error: ")]
    assert (status in {1, 2}, out, len(kept)) == (True, "", 1), err
    assert bad in kept[0]
    assert said is None or said in kept[0]
    assert sorted(each.name for each in room.iterdir()) == before


@pytest.mark.parametrize("kind", ["pipe", "endless", "loop"])
@pytest.mark.parametrize("place", PLACES)
def test_a_command_names_what_is_no_file(room: Path, place: str, kind: str) -> None:
    arguments = PLACES[place]
    found = re.search(r"BAD[.\w]*", " ".join(arguments))
    assert found is not None
    KINDS[kind][0](room / found[0])
    _check(room, arguments, found[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["describe", "eval", "stress", "transform, words", "run"])
def test_what_it_is_is_said(room: Path, place: str, kind: str) -> None:
    arguments = PLACES[place]
    found = re.search(r"BAD[.\w]*", " ".join(arguments))
    assert found is not None
    make, said = KINDS[kind]
    make(room / found[0])
    _check(room, arguments, found[0], said=said)


def test_a_name_that_no_file_can_have_is_said(room: Path) -> None:
    name = "a" * 300 + ".csv"
    for arguments in (["describe", name], ["eval", name], ["stress", name], ["consistency", name]):
        _check(room, arguments, name[:40], said="File name too long")


@pytest.mark.parametrize("kind", ["pipe", "endless", "loop"])
@pytest.mark.parametrize("place", INSIDE)
def test_a_folder_may_hold_what_is_no_file(room: Path, place: str, kind: str) -> None:
    arguments, bad = INSIDE[place]
    path = room / bad
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    KINDS[kind][0](path)
    _check(room, arguments, "")
