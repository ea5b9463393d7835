"""Files with which real logs and tables surprised this tool, where the folder of them is there.

Each case is a command on files of the shared folder, and what has to come of it. The numbers that
are right are counted here from the files, by what other programs write into them.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pytest

from command_line import run_here

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

STAMP = "2026-01-01T00-00-00.0.jsonl"


@dataclass(frozen=True)
class Case:
    """A command on the files of a folder.

    `status` is what it has to end with, `said` words that it has to say, `unsaid` words that it
    must not say, and `found` values of its JSON, by keys with points.
    """

    folder: str
    arguments: tuple[str, ...]
    status: int = 0
    said: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    found: Mapping[str, Any] = field(default_factory=dict)


def logs(name: str) -> tuple[str, str]:
    return f"samples_{name}_{STAMP}", f"samples_{name}_rephrased_{STAMP}"


ACC_NORM, PMI = "01-lmeval-acc-norm-answers", "03-lmeval-mutual-info"
FREE, IDS = "04-collapsed-on-free-text", "06-inspect-int-str-ids"
SCORES, SCORERS = "07-inspect-scores", "08-inspect-first-scorer"
XNLI, MESSAGES = "11-xnli-contradictory", "13-unclear-messages"
INCOMPLETE, REPORT = "14-incomplete-logs", "16-report-from-logs"

NLI = ("entailment", "neutral", "contradiction")
CASES = {
    "answers judged by acc_norm": Case(
        ACC_NORM,
        ("eval", *logs("t"), "--fail-unless-alike", "--json"),
        status=3,
        found={"predictions_changed": 160, "n": 2400, "n10": 80, "n01": 80},
    ),
    "the first half of requests, acc": Case(
        PMI, ("eval", *logs("pmi2"), "-C", "acc", "--json"), found={"predictions_changed": 18}
    ),
    "marked text, exact match": Case(
        FREE, ("eval", *logs("g"), "--json"), found={"collapsed": False}, unsaid=("collapsed:",)
    ),
    "marked text, choices of their own": Case(
        FREE, ("eval", *logs("wino"), "--json"), found={"collapsed": False}
    ),
    "marked text, Inspect": Case(
        FREE, ("eval", "free_o.json", "free_r.json", "--json"), found={"collapsed": False}
    ),
    "ids as numbers and as texts": Case(
        IDS, ("eval", "a.eval", "b.eval", "--json"), found={"n": 40, "items_unmatched": 0}
    ),
    "partial credit": Case(
        SCORES, ("eval", "part_a.eval", "part_b.eval"), status=1, said=("--threshold",)
    ),
    "partial credit by a threshold": Case(
        SCORES,
        ("eval", "part_a.eval", "part_b.eval", "--threshold", "0.75", "--json"),
        found={"n": 40, "accuracy_original": 18 / 40, "accuracy_transformed": 17 / 40},
    ),
    "partial credit that is enough": Case(
        SCORES,
        ("eval", "part_a.eval", "part_b.eval", "--threshold", "0.5", "--json"),
        found={"n": 40, "accuracy_original": 23 / 40, "accuracy_transformed": 22 / 40},
    ),
    "true and false as words": Case(
        SCORES,
        ("eval", "bool_a.eval", "bool_b.eval", "--json"),
        found={"n": 40, "accuracy_original": 0.5},
    ),
    "not scored": Case(
        SCORES, ("eval", "nan_a.eval", "nan_b.json", "--json"), found={"n": 35}, said=("5",)
    ),
    "numbers as words": Case(
        SCORES, ("eval", "numstr_o.json", "numstr_r.json", "--json"), found={"n": 80}
    ),
    "fractions": Case(
        SCORES, ("eval", "float_o.json", "float_r.json"), status=1, said=("--threshold",)
    ),
    "fractions by a threshold": Case(
        SCORES,
        ("eval", "float_o.json", "float_r.json", "--threshold", "0.5", "--json"),
        found={"n": 80},
    ),
    "several values of a scorer": Case(
        SCORES,
        ("eval", "dictval_o.json", "dictval_r.json"),
        said=("graded.correct", "--correct-columns", "graded.style"),
    ),
    "one of several values": Case(
        SCORES,
        ("eval", "dictval_o.json", "dictval_r.json", "-C", "graded.correct", "--json"),
        found={"n": 80},
    ),
    "the first scorer is a number": Case(
        SCORERS, ("eval", "two_o.json", "two_r.json", "--json"), found={"n": 80}, said=("match",)
    ),
    "contradictory in a training set": Case(
        XNLI,
        ("describe", "multinli.train.xx.tsv", "--text-columns", "premise,hypo", "--json"),
        found={"corpora.0.labels": dict(zip(NLI, (12, 14, 14), strict=True))},
    ),
    "XNLI's own file": Case(XNLI, ("describe", "xnli.dev.tsv"), unsaid=("unknown label",)),
    "an array of JSON": Case(
        MESSAGES, ("describe", "array.json", "--json"), found={"corpora.0.n_rows": 40}
    ),
    "a quoted TSV": Case(
        MESSAGES,
        ("describe", "qqp_quoted.tsv", "--text-columns", "question1,question2"),
        status=1,
        said=("--quoted",),
        unsaid=("did you mean",),
    ),
    "fields parted by semicolons": Case(
        MESSAGES, ("describe", "semi.csv", "--json"), found={"corpora.0.n_rows": 40}
    ),
    "columns of pandas": Case(
        MESSAGES,
        ("describe", "pandas_columns.json"),
        status=1,
        said=("columns",),
        unsaid=("not JSON",),
    ),
    "rows that are broken": Case(
        MESSAGES,
        (
            "describe",
            "qqp_raw.tsv",
            "--text-columns",
            "question1,question2",
            "--label-column",
            "is_duplicate",
        ),
        status=1,
        said=("line 11", "skip-bad-rows"),
    ),
    "a log that was cancelled": Case(
        INCOMPLETE, ("eval", "canc_o.eval", "canc_r.eval"), status=1, said=("--common-items",)
    ),
    "the items that two logs share": Case(
        INCOMPLETE,
        ("eval", "canc_o.eval", "canc_r.eval", "--common-items", "--json"),
        found={"n": 40},
        said=("not in all logs",),
    ),
    "one epoch and three": Case(
        INCOMPLETE, ("eval", "ep_o.json", "ep_r.json"), status=1, said=("--epochs",)
    ),
    "the first epoch": Case(
        INCOMPLETE,
        ("eval", "ep_o.json", "ep_r.json", "--epochs", "first", "--json"),
        found={"n": 80},
    ),
    "a sample that is there twice": Case(
        INCOMPLETE, ("eval", "dup_o.eval", "dup_r.eval", "--json"), found={"n": 80}
    ),
    "a document that is there three times": Case(
        INCOMPLETE,
        ("eval", *logs("dist"), "--epochs", "first", "--json"),
        found={"n": 120},
    ),
    "a page of two logs": Case(
        REPORT, ("report", *logs("cb"), "--out", "page.html"), status=1, said=("--out",)
    ),
}


@pytest.fixture
def cases(shared: Path) -> Path:
    if not (shared / "cases").is_dir():
        pytest.skip(f"needs the files of real surprises, absent here: {shared / 'cases'}")
    return shared / "cases"


def unpack(folder: Path, target: Path) -> None:
    for path in folder.iterdir():
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        (target / path.name.removesuffix(".gz")).write_bytes(data)


def lookup(value: Any, keys: str) -> Any:
    for key in keys.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_what_comes_of_a_real_file(name: str, cases: Path, tmp_path: Path) -> None:
    case = CASES[name]
    unpack(cases / case.folder, tmp_path)
    status, out, err = run_here(*case.arguments, folder=tmp_path)
    assert "Traceback" not in err
    assert status == case.status, err
    for words in case.said:
        assert words in out + err
    for words in case.unsaid:
        assert words not in out + err
    if case.found:
        made = json.loads(out)
        for keys, wanted in case.found.items():
            value = lookup(made, keys)
            if wanted is False:  # or not said at all
                assert not value, keys
            else:
                assert value == (pytest.approx(wanted) if isinstance(wanted, float) else wanted)


def test_a_page_of_the_answers_of_two_logs(cases: Path, tmp_path: Path) -> None:
    unpack(cases / REPORT, tmp_path)
    status, _, err = run_here("eval", *logs("cb"), "--out", "x.parquet", folder=tmp_path)
    assert status == 0, err
    status, _, err = run_here("report", "x.parquet", "--out", "page.html", folder=tmp_path)
    assert status == 0, err
    assert "</html>" in (tmp_path / "page.html").read_text()


def chosen(path: Path, metric: str) -> list[int]:
    """The choice that a metric judges: of n conditional scores and n unconditional ones."""
    made = []
    for line in path.read_text().splitlines():
        scores = np.array([float(each[0]) for each in json.loads(line)["filtered_resps"]])
        given, alone = np.split(scores, 2)
        made.append(int(np.argmax(given - alone if metric == "acc_mutual_info" else given)))
    return made


@pytest.mark.parametrize("metric", ["acc", "acc_mutual_info"])
@pytest.mark.parametrize("name", ["pmi", "pmi2"])
def test_the_answers_are_those_that_the_metric_judged(
    name: str, metric: str, cases: Path, tmp_path: Path
) -> None:
    unpack(cases / PMI, tmp_path)
    first, second = (chosen(tmp_path / log, metric) for log in logs(name))
    wanted = sum(a != b for a, b in zip(first, second, strict=True))
    status, out, err = run_here("eval", *logs(name), "-C", metric, "--json", folder=tmp_path)
    assert status == 0, err
    found = json.loads(out)
    assert found["predictions_changed"] == wanted >= found["n10"] + found["n01"]


def last_outcomes(path: Path) -> dict[str, bool]:
    """What Inspect's archive says of each sample; of two members of a name the last counts."""
    outcomes = {}
    with ZipFile(path) as archive, path.open("rb") as file:
        for info in archive.infolist():
            if not info.filename.startswith("samples/"):
                continue
            file.seek(info.header_offset + 26)
            lengths = file.read(4)
            file.seek(sum(np.frombuffer(lengths, "<u2").tolist()), 1)
            data = file.read(info.compress_size)
            if info.compress_type == 93:
                data = pa.decompress(data, info.file_size, codec="zstd", asbytes=True)
            elif info.compress_type == 8:
                data = zlib.decompress(data, -15)
            (score,) = json.loads(data)["scores"].values()
            outcomes[info.filename] = score["value"] == "C"
    return outcomes


def test_of_a_sample_that_is_there_twice_the_last_counts(cases: Path, tmp_path: Path) -> None:
    unpack(cases / INCOMPLETE, tmp_path)
    before, after = (last_outcomes(tmp_path / f"dup_{which}.eval") for which in "or")
    status, out, err = run_here("eval", "dup_o.eval", "dup_r.eval", "--json", folder=tmp_path)
    assert status == 0, err
    found = json.loads(out)
    assert found["n10"] == sum(before[name] and not after[name] for name in before)
    assert found["n01"] == sum(after[name] and not before[name] for name in before)
