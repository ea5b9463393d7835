"""``ietest-fast consistency`` and others on α-NLI and δ-NLI in the files that were published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

import ietest_fast as ie
from ietest_fast.cli.main import main
from tiny_models import make_onnx_folder

ALPHA = [
    ("The boy left.", "He came home wet.", "He almost sat on the couch.", "He bought a movie."),
    ("Ann baked a cake.", "It was large.", "She began with a photo.", "She often took salt."),
    ("It rains.", "So it is.", "It is so.", "It was so."),
]
DELTA = [
    ("Two men talk.", "They are friends.", "One bought a large couch.", "strengthener"),
    ("Two men talk.", "They are friends.", "They often began to talk.", "weakener"),
    ("A woman walks.", "She is late.", "", "weakener"),
    ("A woman walks.", "She sat on the couch.", "So it is.", "weakener"),
]


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def alpha(tmp_path: Path) -> Path:
    (tmp_path / "dev-labels.lst").write_text("1\n2\n1\n")
    rows = [
        {"story_id": f"s{n // 2}", "obs1": one, "obs2": two, "hyp1": first, "hyp2": second}
        for n, (one, two, first, second) in enumerate(ALPHA)
    ]
    return write(tmp_path / "dev.jsonl", rows)


@pytest.fixture
def delta(tmp_path: Path) -> Path:
    rows = [
        {
            "Premise": premise,
            "Hypothesis": hypothesis,
            "Update": update,
            "UpdateType": kind,
            "UpdateTypeImpossible": not update,
            "SNLIPairId": f"x{n}",
        }
        for n, (premise, hypothesis, update, kind) in enumerate(DELTA)
    ]
    return write(tmp_path / "delta.jsonl", rows)


@pytest.fixture
def chooser(tmp_path: Path) -> Path:
    make_onnx_folder(tmp_path / "chooser", labels=("hyp1", "hyp2"))
    return tmp_path / "chooser"


@pytest.fixture
def updater(tmp_path: Path) -> Path:
    make_onnx_folder(tmp_path / "updater", labels=("weakener", "strengthener"))
    return tmp_path / "updater"


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([*map(str, arguments)])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_hypotheses_of_alpha_nli_are_reworded(
    tmp_path: Path, alpha: Path, chooser: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.parquet"
    asked = ("consistency", "--onnx", chooser, "--test", alpha, "--phi", "syn.careful", "-S", 50)
    status, said, err = run(
        capsys, *asked, "--draws", 3, "--out", out, "--json", "--clusters", "story_id"
    )
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    assert profile["items_by_paraphrases"][0] == 1
    rows = pq.read_table(out).to_pylist()
    assert [row["gold"] for row in rows if row["version"] == "original"] == ["hyp1", "hyp2", "hyp1"]
    assert [row["story_id"] for row in rows if row["version"] == "original"] == ["s0", "s0", "s1"]
    n_reworded = 0
    for row in rows:
        one, two, *hypotheses = ALPHA[row["item"]]
        for name, original in zip(("first_story", "second_story"), hypotheses, strict=True):
            # The observations stay.
            assert row[name].startswith(f"{one} ")
            assert row[name].endswith(f" {two}")
            middle = row[name].removeprefix(f"{one} ").removesuffix(f" {two}")
            if row["version"] == "original":
                assert middle == original
            n_reworded += middle != original
    assert n_reworded >= profile["n_paraphrases"] > 0
    # In Python it is the same.
    found = ie.consistency(
        lambda pairs: ["hyp1"] * len(pairs), alpha, phi="syn.careful", draws=3, n_resamples=50
    )
    texts = ["item", "version", "first_story", "second_story"]
    again = found.predictions.table.select(texts).to_pylist()
    assert again == [{name: row[name] for name in texts} for row in rows]


def test_labels_of_alpha_nli_in_a_file_of_another_name(
    tmp_path: Path, alpha: Path, chooser: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = (tmp_path / "dev-labels.lst").rename(tmp_path / "gold.txt")
    asked = ("consistency", "--onnx", chooser, "--test", alpha, "--phi", "syn.careful", "-S", 50)
    status, said, err = run(capsys, *asked)
    assert (status, said) == (1, "")
    assert "there is no dev-labels.lst beside it; name the file of labels (--labels-file" in err
    status, said, err = run(capsys, *asked, "--labels-file", labels)
    assert (status, err) == (0, "")
    labels.write_text("1\n2\n")
    status, said, err = run(capsys, *asked, "--labels-file", labels)
    assert (status, said) == (1, "")
    assert "has 2 labels" in err


def test_updates_of_delta_nli_are_reworded_or_what_is_named(
    tmp_path: Path, delta: Path, updater: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.parquet"
    asked = ("consistency", "--onnx", updater, "--test", delta, "--phi", "syn.careful", "-S", 50)
    status, said, err = run(capsys, *asked, "--draws", 2, "--out", out, "--keep-columns", "pair")
    assert (status, err) == (0, "")
    assert "1 row left out: no update." in said
    rows = pq.read_table(out).to_pylist()
    originals = [row for row in rows if row["version"] == "original"]
    assert [row["item"] for row in originals] == [0, 1, 3]
    assert [row["update"] for row in originals] == [DELTA[n][2] for n in (0, 1, 3)]
    assert originals[0]["pair"] == originals[1]["pair"] != originals[2]["pair"]
    assert all(row["context"] == " ".join(DELTA[row["item"]][:2]) for row in rows)
    assert {row["item"] for row in rows if row["version"] != "original"} == {0, 1}
    status, said, err = run(capsys, *asked, "--reword", "hypothesis", "--out", out)
    assert (status, err) == (0, "")
    (reworded,) = [row for row in pq.read_table(out).to_pylist() if row["version"] != "original"]
    assert reworded["item"] == 3
    assert reworded["context"] == "A woman walks. She sat on the sofa."
    assert reworded["update"] == "So it is."


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], (1, "holds δ-NLI, and no column 'item'")),
        (["--reword", "update"], (2, "--reword needs --phi")),
        (["--phi", "syn.careful", "--reword", "context"], (1, "there is no such column")),
        (
            ["--phi", "syn.careful", "--input", "context"],
            (1, "it does not see update, which would be reworded"),
        ),
        (
            ["--phi", "syn.careful", "--labels-file", "DELTA"],
            (1, "a file of labels is of α-NLI"),
        ),
    ],
)
def test_what_does_not_go_together_is_said(
    arguments: list[str],
    expected: tuple[int, str],
    delta: Path,
    updater: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [delta if each == "DELTA" else each for each in arguments]
    status, said, err = run(capsys, "consistency", "--onnx", updater, "--test", delta, *given)
    assert (status, said) == (expected[0], "")
    assert expected[1] in err.replace("\n", " ")


def test_a_file_of_labels_for_other_data(
    tmp_path: Path, chooser: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "pairs.jsonl", [{"premise": "a", "hypothesis": "b", "label": "hyp1"}])
    asked = ("consistency", "--onnx", chooser, "--test", path, "--phi", "syn.careful")
    status, said, err = run(capsys, *asked, "--labels-file", path)
    assert (status, said) == (1, "")
    assert "is not α-NLI" in err


def test_one_column_of_ordinary_pairs_is_reworded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_onnx_folder(tmp_path / "model")
    text = "He sat on the couch."
    rows = [
        {"premise": text, "hypothesis": f"{text} So {who}.", "label": label}
        for who, label in (("she", "entailment"), ("I", "neutral"), ("we", "contradiction"))
    ]
    path, out = write(tmp_path / "pairs.jsonl", rows), tmp_path / "out.parquet"
    asked = ("consistency", "--onnx", tmp_path / "model", "--test", path, "--phi", "syn.careful")
    status, _, err = run(capsys, *asked, "--reword", "premise", "-S", 50, "--out", out)
    assert (status, err) == (0, "")
    found = pq.read_table(out).to_pylist()
    assert {row["hypothesis"] for row in found} == {row["hypothesis"] for row in rows}
    assert {row["premise"] for row in found} == {text, "He sat on the sofa."}
    status, said, err = run(capsys, *asked, "--reword", "premise", "--input", "hypothesis")
    assert (status, said) == (1, "")
    assert "reword hypothesis (reword, --reword)" in " ".join(err.split())


def test_eval_reads_them_too(
    alpha: Path, chooser: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("eval", "--onnx", chooser, "--test", alpha, "--phi", "syn.careful", "--json")
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    assert json.loads(said)["n"] == 3
