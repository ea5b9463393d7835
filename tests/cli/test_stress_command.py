"""``ietest-fast stress`` as a shell would call it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

from ietest_fast.cli.main import main
from tiny_models import LABELS, make_onnx_folder

if TYPE_CHECKING:
    from pathlib import Path

PREMISES = (
    "Two large dogs run in the park",
    "A dog sleeps on the sofa",
    "The man pays 20 dollars for a small couch",
)
HYPOTHESES = ("A big dog runs.", "Nobody eats.", "The cat is small.")
SIX = ["antonym", "numerical", "word-overlap", "negation", "length-mismatch", "spelling"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    make_onnx_folder(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    rows = [(p, h) for p in PREMISES for h in HYPOTHESES] * 4
    table = pa.table(
        {
            "premise": [premise for premise, _ in rows],
            "hypothesis": [hypothesis for _, hypothesis in rows],
            "label": [LABELS[i % 3] for i in range(len(rows))],
            "genre": [("travel", "fiction")[i % 2] for i in range(len(rows))],
        }
    )
    pacsv.write_csv(table, tmp_path / "test.csv")
    return tmp_path / "test.csv"


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["stress", *map(str, arguments)])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_the_six_tests_and_more(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, folder = tmp_path / "answers.parquet", tmp_path / "sets"
    status, said, err = run(
        capsys,
        *("--onnx", model, "--test", texts, "--by", "genre", "--with", "swap,syn.careful"),
        *("--out", out, "--write", folder, "--runtime", "onnxruntime"),
    )
    assert (status, err) == (0, "")
    for name in ("original", *SIX, "swap", "travel %", "fiction %"):
        assert name in said
    assert "different inputs of" in said
    written = {path.stem: pq.read_table(path) for path in folder.iterdir()}
    assert set(SIX) <= set(written)
    assert written["negation"].column_names == ["premise", "hypothesis", "label", "source_row"]
    assert written["antonym"]["label"].unique().to_pylist() == ["contradiction"]
    # The answers alone give the same numbers.
    status, said, _ = run(capsys, out, "--by", "genre", "--json")
    profile = json.loads(said)["profiles"][0]
    assert status == 0
    accuracies = {test["test"]: test["accuracy"] for test in profile["tests"]}
    status, said, _ = run(
        capsys, "--onnx", model, "--test", texts, "--with", "swap,syn.careful", "--json"
    )
    again = json.loads(said)
    assert {test["test"]: test["accuracy"] for test in again["profiles"][0]["tests"]} == accuracies
    assert again["inputs_run"] < again["inputs"]


def test_a_suite_of_ones_own_and_rules_of_the_paper(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text('[tests]\n"not, twice" = "negation:times=2"\n')
    status, said, _ = run(capsys, "--onnx", model, "--test", texts, "--suite", suite)
    assert status == 0
    assert "not, twice" in said
    assert "word-overlap" not in said
    status, said, _ = run(capsys, "--onnx", model, "--test", texts, "--rules", "paper", "--json")
    assert status == 0
    assert "word-overlap@" in json.loads(said)["identity"]["phi"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], (2, "give LOGs of predictions, or a model")),
        (["--onnx", "MODEL"], (2, "a model needs a file of labelled texts")),
        (["--onnx", "MODEL", "--test", "TEXTS", "--with", "voyce"], (1, "voyce")),
        (["--onnx", "MODEL", "--test", "TEXTS", "--with", "negation"], (2, "in the suite already")),
        (["--onnx", "MODEL", "--test", "TEXTS", "--by", "topic"], (1, "topic")),
        (["--onnx", "MODEL", "--test", "TEXTS", "--write", "."], (2, "not there yet")),
        (["TEXTS", "--with", "swap"], (2, "--with is for a model that is run")),
        (
            ["--onnx", "MODEL", "--test", "TEXTS", "--gold-column", "a"],
            (2, "predictions made else"),
        ),
    ],
)
def test_what_is_asked_wrongly_is_said(
    arguments: list[str],
    expected: tuple[int, str],
    model: Path,
    texts: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    places = {"MODEL": model, "TEXTS": texts}
    found, said, err = run(capsys, *(places.get(each, each) for each in arguments))
    assert (found, said) == (expected[0], "")
    assert expected[1] in err.replace("\n", " ")
    assert "Traceback" not in err
