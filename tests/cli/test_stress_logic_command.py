"""``ietest-fast stress --suite logic``: a model in, a table of rules out, and bad input refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

import ietest_fast as ie
from ietest_fast.analyses.logic.rules import RULES, WEIGHED
from ietest_fast.cli.main import main
from tiny_models import LABELS, make_onnx_folder

if TYPE_CHECKING:
    from pathlib import Path

PREMISES = ("Two large dogs run in the park", "A dog sleeps on the sofa", "The man is in the house")
HYPOTHESES = (
    "A big dog runs.",
    "Nobody eats.",
    "The cat is small.",
    "Somebody runs outside the house.",
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    make_onnx_folder(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    rows = [(f"{p}.", h) for p in PREMISES for h in HYPOTHESES]
    table = pa.table(
        {
            "premise": [premise for premise, _ in rows],
            "hypothesis": [hypothesis for _, hypothesis in rows],
            "label": [LABELS[i % 3] for i in range(len(rows))],
            "scene": [i // 4 for i in range(len(rows))],
            "id": [f"pair {i}" for i in range(len(rows))],
        }
    )
    pacsv.write_csv(table, tmp_path / "test.csv")
    return tmp_path / "test.csv"


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["stress", *map(str, arguments)])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_a_model_and_what_is_written_of_it(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, folder = tmp_path / "answers.parquet", tmp_path / "questions"
    asked = ("--suite", "logic", "--onnx", model, "--test", texts, "--runtime", "onnxruntime")
    status, said, err = run(
        capsys, *asked, "--out", out, "--write", folder, "--draws", "2", "-S", "200", "--details"
    )
    assert (status, err) == (0, "")
    for name in (*RULES, "score", "Weights of the score: acc 0.1429, and-intro 0.1429"):
        assert name in said
    assert "different inputs of" in said
    # Written are the questions of rules with instances, and every input once.
    table = pq.read_table(out)
    versions = set(table["version"].cast("string").to_pylist())
    assert {path.stem for path in folder.iterdir()} == (versions - {"original"}) | {"inputs"}
    inputs = [tuple(row.values()) for row in pq.read_table(folder / "inputs.parquet").to_pylist()]
    assert len(set(inputs)) == len(inputs)
    pairs = zip(table["premise"].to_pylist(), table["hypothesis"].to_pylist(), strict=True)
    assert set(inputs) == set(pairs)
    columns = ["item", "instance", "part", "premise", "hypothesis", "expected"]
    assert pq.read_table(folder / "negation.parquet").column_names == columns
    # The answers alone give the same numbers, also for a page.
    status, again, _ = run(capsys, out, "-S", "200", "--details")
    assert status == 0
    assert said.startswith(again.rstrip())
    status, named, _ = run(capsys, "--suite", "logic", out, "-S", "200", "--details")
    assert (status, named) == (0, again)
    with pytest.raises(SystemExit) as stop:
        main(["report", str(out)])
    assert not stop.value.code
    assert "1 file of logic" in capsys.readouterr().out
    assert "The logic of the answers" in (tmp_path / "report.html").read_text()
    for name in ("gold", "predicted"):
        pq.write_table(table.drop_columns([name]), tmp_path / "less.parquet")
        status, said, err = run(capsys, tmp_path / "less.parquet")
        assert (status, said) == (1, "")
        assert f"column '{name}': there is no such column; ask the model again" in err


def test_python_asks_and_measures_the_same(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = {"acc": 0.75, "reflexive-premise": 0.25}
    path, out, again = (tmp_path / name for name in ("w.toml", "a.parquet", "b.parquet"))
    path.write_text("[weights]\n" + "".join(f"{name} = {own}\n" for name, own in weights.items()))
    asked = ("--suite", "logic", "--onnx", model, "--test", texts, "--draws", "2", "--seed", "3")
    asked += ("--nearest", "2", "--instances", "9", "--input", "hypothesis", "--renormalise")
    asked += ("--clusters", "scene", "--id-column", "id", "-S", "50", "--json")
    status, said, err = run(capsys, *asked, "--weights", path, "--out", out)
    assert (status, err) == (0, "")
    found = ie.stress(
        model,
        texts,
        suite="logic",
        draws=2,
        rng=3,
        nearest=2,
        instances=9,
        input_columns="hypothesis",
        renormalise=True,
        clusters="scene",
        id_column="id",
        n_resamples=50,
        weights=weights,
        out=again,
    )
    told = json.loads(said)
    assert told["inputs_run"] < told["inputs"]
    assert told["profiles"] == [json.loads(found.to_json())]
    assert out.read_bytes() == again.read_bytes()
    for each in found.to_dict()["rules"]:  # of which hypotheses alone say nothing
        if each["informedness"] is not None and each["control_n"] == each["rate_n"]:
            assert each["informedness"] <= 0, each["rule"]
    inline = run(capsys, *asked, "--weights", "acc=0.75,reflexive-premise=0.25")[1]
    assert json.loads(inline)["profiles"] == told["profiles"]


def test_two_labels(tmp_path: Path, texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_onnx_folder(tmp_path / "two", labels=("contradiction", "non-contradiction"))
    asked = ("--suite", "logic", "--onnx", tmp_path / "two", "--test", texts)
    status, said, err = run(capsys, *asked, "-S", "200", "--details")
    assert (status, err) == (0, "")
    reason = "it speaks of entailment, and the labels are not_contradiction and contradiction"
    for name in WEIGHED:
        assert f"{name}: not asked: {reason}." in said
    assert "symmetric-contradiction: not asked" not in said
    assert "Weights of the score: acc 1." in said


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--suite", "logic"], (2, "which no log of predictions answers: give --onnx or --model")),
        (["--suite", "logic", "--onnx", "MODEL"], (2, "a model needs a file of labelled texts")),
        (["--suite", "logic", "TEXTS"], (1, "holds no answers to the suite logic")),
        (["--suite", "logic", "none.parquet"], (1, "no such file")),
        (["RUN", "--with", "swap"], (2, "--with is not for --suite logic")),
        (["RUN", "--rules", "paper"], (2, "--rules is not for --suite logic")),
        (["RUN", "--by", "scene"], (2, "--by is not for --suite logic")),
        (["RUN", "--margin", "0.1"], (2, "--margin is not for --suite logic")),
        (["RUN", "--fail-on-reject"], (2, "--fail-on-reject is not for --suite logic")),
        (["RUN", "--gold-column", "a"], (2, "--gold-column is not for --suite logic")),
        (["RUN", "--write", "."], (2, "not there yet")),
        (["RUN", "--out", "a.csv"], (2, "--out is a Parquet file, not a.csv")),
        (["RUN", "--input", "premiss"], (1, "did you mean 'premise'")),
        (["RUN", "--weights", "acc=0.5"], (1, "weights: sum to 0.5; they have to sum to 1")),
        (["RUN", "--draws", "0"], (2, "0 is not in the range")),
        (["--onnx", "MODEL", "--test", "TEXTS", "--draws", "2"], (2, "is for --suite logic")),
        (["TEXTS", "--weights", "acc=1"], (2, "--weights is for --suite logic")),
        (["--suite", "logic", "TEXTS", "--instances", "5"], (2, "is for a model that is run")),
    ],
)
def test_what_is_asked_wrongly_is_said(
    arguments: list[str],
    expected: tuple[int, str],
    model: Path,
    texts: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    places: dict[str, list[str | Path]] = {
        "MODEL": [model],
        "TEXTS": [texts],
        "RUN": ["--suite", "logic", "--onnx", model, "--test", texts],
    }
    flat = [part for each in arguments for part in places.get(each, [each])]
    found, said, err = run(capsys, *flat)
    assert (found, said) == (expected[0], "")
    assert expected[1] in err.replace("\n", " ")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "premise,hypothesis,label\nA dog.,A cat.,yes\nA dog.,A man.,no\n",
            "the model's labels are",
        ),
        ("premise,hypothesis,label\nA dog.,A cat.,neutral\nA dog.,A man.,maybe\n", "unknown label"),
        ("premise,hypothesis,label\n", "no rows are left"),
        ("premise,hypothesis,label\nA dog.,A cat.,-\n", "no rows are left"),
        ("text,label\nA dog.,neutral\nA cat.,entailment\n", "rows have one text"),
    ],
)
def test_bad_files_are_refused(
    text: str, message: str, tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "bad.csv", tmp_path / "answers.parquet"
    path.write_text(text)
    status, said, err = run(
        capsys, "--suite", "logic", "--onnx", model, "--test", path, "--out", out
    )
    assert (status, said) == (1, "")
    assert message in err
    assert "bad.csv" in err or "labels" in err
    assert not out.exists()


def test_labels_that_are_not_nlis(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_onnx_folder(tmp_path / "mood", labels=("positive", "negative"))
    path = tmp_path / "mood.csv"
    path.write_text("premise,hypothesis,label\nA.,B.,positive\nC.,D.,negative\n")
    status, said, err = run(capsys, "--suite", "logic", "--onnx", tmp_path / "mood", "--test", path)
    assert (status, said) == (1, "")
    assert "the suite logic needs the labels entailment, neutral, contradiction" in err
    assert "the labels here are negative, positive" in err.replace("\n", " ")


def test_one_pair_alone(tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.csv"
    path.write_text("premise,hypothesis,label\nA dog runs.,The dog is big.,neutral\n")
    asked = ("--suite", "logic", "--onnx", model, "--test", path)
    status, said, err = run(capsys, *asked, "--details")
    assert (status, err) == (0, "")
    assert "because no sentence of another source was found: monotonic-entailment 1" in said
    assert "The informed score is not defined" in said


def test_answers_are_no_log_for_other_commands(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "answers.parquet"
    asked = ("--suite", "logic", "--onnx", model, "--test", texts, "--out", out, "-S", "200")
    assert run(capsys, *asked)[0] == 0
    for command in ("eval", "consistency"):
        with pytest.raises(SystemExit) as stop:
            main([command, str(out)])
        captured = capsys.readouterr()
        assert (stop.value.code, captured.out) == (1, "")
        assert "only ietest-fast stress and report read it" in captured.err.replace("\n", " ")
    # With stress tests of the other kind it goes to no table, either.
    other = tmp_path / "other.parquet"
    suite = tmp_path / "suite.toml"
    suite.write_text('[tests]\nno = "negation"\n')
    run(capsys, "--onnx", model, "--test", texts, "--suite", suite, "--out", other)
    status, said, err = run(capsys, out, other)
    assert (status, said) == (1, "")
    assert "holds no answers to the suite logic" in err.replace("\n", " ")


@pytest.mark.slow
def test_several_models_side_by_side(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = []
    for name, only in (("both", ()), ("half", ("--input", "hypothesis"))):
        logs.append(tmp_path / f"{name}.parquet")
        asked = ("--suite", "logic", "--onnx", model, "--test", texts, *only)
        assert run(capsys, *asked, "--out", logs[-1], "-S", "200")[0] == 0
    status, said, err = run(capsys, *logs, "-S", "200", "--details")
    assert (status, err) == (0, "")
    assert "Informedness of several classifiers" in said
    assert "half: Weights of the score" in said
