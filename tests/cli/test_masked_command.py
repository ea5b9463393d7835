"""The command ``masked``: models, logs, training, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import run_here
from tiny_masked import make_coordinations, make_masked_bert, make_word_tokenizer
from tiny_models import write_onnx

WORDS = ["and", "or", "has", "visited", "did", "not", "visit", ".", ",", "ida", "peru", "twenty"]


def make_model(folder: Path) -> Path:
    """A masked language model whose scores are random weights of tokens."""
    folder.mkdir()
    tokenizer = make_word_tokenizer([*WORDS, "one"])
    n = tokenizer.get_vocab_size()
    weights = np.random.default_rng(0).normal(size=(n, n))
    write_onnx(folder / "model.onnx", weights, rank=3, each_token="logits")
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"vocab_size": n, "max_position_embeddings": 32, "pad_token_id": 0}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text(json.dumps({"mask_token": "[MASK]"}))
    return folder


def write(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path)
    return path


def replace(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(values))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_model(tmp_path / "model")
    write(tmp_path / "test.parquet", make_coordinations(40, seed=1))
    return tmp_path


def ok(*arguments: object, folder: Path) -> str:
    status, out, err = run_here("masked", *arguments, folder=folder)
    assert (status, err) == (0, "")
    return out


def failed(*arguments: object, folder: Path, status: int = 1) -> str:
    found, out, err = run_here("masked", *arguments, folder=folder)
    assert (found, out) == (status, "")
    assert "Traceback" not in err
    return err


def test_a_model_is_measured(folder: Path) -> None:
    out = ok("test.parquet", "--onnx", "model", "--out", "log.parquet", folder=folder)
    for title in (
        "Masked inference",
        "Masked inference by module",
        "Masked inference by template",
        "Masked inference by answer",
        "Most frequent wrong answers",
    ):
        assert title in out
    assert "log.parquet: 40 rows" in out
    assert "not shown to be better than always answering 'and' (50.0%)" in out
    log = pq.read_table(folder / "log.parquet")
    assert log["item"].to_pylist() == list(range(40))
    assert log["model"].unique().to_pylist() == ["model"]
    assert {"answer", "predicted", "rank", "reciprocal_rank", "log_probability"} <= set(
        log.column_names
    )


def test_json_has_what_the_tables_have(folder: Path) -> None:
    found = json.loads(ok("test.parquet", "--onnx", "model", "--json", folder=folder))
    (model,) = found["models"]
    assert model["items"] == 40
    assert len(model["fingerprint"]) == 64
    (whole,) = model["whole"]
    assert whole["ranked_in"] == "vocabulary"
    assert whole["majority_share"] == 0.5
    assert [each["value"] for each in model["by_answer"]] == ["and", "or"]
    assert set(model["by_group"]) == {"module", "template"}
    assert found["training"] is None


def test_a_log_gives_the_same_numbers_again(folder: Path) -> None:
    first = json.loads(
        ok("test.parquet", "--onnx", "model", "--json", "--out", "log.csv", folder=folder)
    )
    again = json.loads(ok("log.csv", "--json", folder=folder))
    for name in ("whole", "by_answer", "by_group"):
        assert again["models"][0][name] == first["models"][0][name]


def test_answers_can_be_ranked_among_candidates(folder: Path) -> None:
    answers = json.loads(
        ok("test.parquet", "--onnx", "model", "--among", "answers", "--json", folder=folder)
    )
    words = json.loads(
        ok("test.parquet", "--onnx", "model", "--among", "and,or", "--json", folder=folder)
    )
    assert answers["models"] == words["models"]
    assert words["models"][0]["candidates"] == ["and", "or"]
    assert words["models"][0]["whole"][0]["ranked_in"] == "candidates"
    out = ok("test.parquet", "--onnx", "model", "--among", "and,or", folder=folder)
    assert "Candidates: and, or." in out


def test_answers_of_several_tokens_are_told_apart(folder: Path) -> None:
    table = make_coordinations(40, seed=1)
    answers = ["twenty one" if i % 4 == 0 else "or" for i in range(40)]
    write(folder / "test.parquet", replace(table, "answer", answers))
    out = ok("test.parquet", "--onnx", "model", folder=folder)
    assert "the vocabulary" in out
    assert "each hidden by itself" in out
    assert "Candidates: or, twenty one." in out


def test_columns_to_part_by_can_be_named(folder: Path) -> None:
    out = ok("test.parquet", "--onnx", "model", "--by", "template", folder=folder)
    assert "by template" in out
    assert "by module" not in out


def test_rows_that_cannot_be_scored_are_counted(folder: Path) -> None:
    table = make_coordinations(6, seed=1)
    texts = ["no mask", "[MASK] [MASK]", *table["hypothesis"].to_pylist()[2:]]
    table = replace(table, "hypothesis", texts)
    table = replace(table, "answer", ["and", "or", "", "zebra", "and", "or"])
    write(folder / "test.parquet", table)
    out = ok("test.parquet", "--onnx", "model", "--out", "log.parquet", folder=folder)
    assert "4 rows are not scored: " in out
    for reason in (
        "no [MASK] in the hypothesis: 1 (the first is row 0)",
        "more than one [MASK] in the hypothesis: 1 (the first is row 1)",
        "no answer: 1 (the first is row 2)",
        "the tokenizer does not know the word: 1 (the first is row 3)",
    ):
        assert reason in out
    log = pq.read_table(folder / "log.parquet")
    assert log.num_rows == 6
    assert log["problem"].null_count == 2


def test_rows_of_a_log_without_a_rank_are_counted(folder: Path) -> None:
    log = pa.table(
        {
            "model": ["a", "a", "a", "b", "b", "b"],
            "item": [0, 1, 2] * 2,
            "answer": ["and", "or", "or"] * 2,
            "reciprocal_rank": [1.0, None, None, 0.5, 1.0, 0.5],
            "problem": [None, None, "too long", None, None, None],
        }
    )
    write(folder / "log.parquet", log)
    out = ok("log.parquet", folder=folder)
    assert "a: 2 rows are not scored: no rank in the log: 1; too long: 1." in out
    assert out.count("not scored:") == 1
    notes = json.loads(ok("log.parquet", "--json", folder=folder))["notes"]
    assert notes[0].startswith("a: 2 rows are not scored")


@pytest.mark.parametrize(
    ("answers", "ranks", "said"),
    [
        (["and", "or"], [1.0, 0.5], "a: not shown to be better than always answering 'and'"),
        (["and", "or"], [1.0, 0.0], "a: 1 rank is given as 0, which means not among the first"),
        (["x", "or"], [0.5, 0.5], "a: 1 row predicts a word that looks like the answer"),
        ([f"word {n}" for n in range(30)], [1.0] * 30, None),
    ],
)
def test_json_has_the_remarks_of_the_text(
    tmp_path: Path, answers: list[str], ranks: list[float], said: str | None
) -> None:
    predicted = ["or" if each == "or" else None for each in answers]
    columns = {"answer": answers, "reciprocal_rank": ranks, "predicted": predicted}
    columns |= {"model": ["a"] * len(ranks)}
    write(tmp_path / "log.parquet", pa.table(columns))
    notes = json.loads(ok("log.parquet", "--json", folder=tmp_path))["notes"]
    assert (notes == []) if said is None else any(each.startswith(said) for each in notes)
    out = " ".join(ok("log.parquet", folder=tmp_path).split())
    assert all(" ".join(each.split()) in out for each in notes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["test.parquet", "--onnx", "m", "--model", "m"], "--onnx or --model, not both"),
        (["test.parquet", "--among", "a,b"], "--among needs a model"),
        (["test.parquet", "--train", "t"], "--train needs a model"),
        (["test.parquet", "--onnx", "m", "--train", "t"], "--train needs --model"),
        (["test.parquet", "--onnx", "m", "--epochs", "2"], "--epochs needs --train"),
        (["test.parquet", "--model", "m", "--save", "s"], "--save needs --train"),
        (["test.parquet", "--model", "m", "--tokenizer", "t"], "--tokenizer is for --onnx"),
        (["test.parquet", "--onnx", "m", "--ranks", "r"], "--ranks is for a file of ranks"),
        (["test.parquet", "--onnx", "m", "--among", "a,,b"], "has an empty word in it"),
        (["test.parquet", "--model", "m", "--learning-rate", "0"], "--learning-rate"),
        ([], "Missing argument 'FILE'"),
    ],
)
def test_options_that_do_not_go_together(folder: Path, arguments: list[str], message: str) -> None:
    assert message in failed(*arguments, folder=folder, status=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.parquet", "--onnx", "model"], "nothing.parquet: no such file"),
        (["test.parquet"], "there are no ranks in it"),
        (["test.parquet", "--onnx", "nothing"], "no such file or folder"),
        (["test.parquet", "--onnx", "model", "--by", "modul"], "did you mean 'module'?"),
        (["test.parquet", "--onnx", "model", "--among", "and,zebra"], "does not know the word"),
        (["test.parquet", "--onnx", "model", "--among", "and"], "two or more different words"),
        (["other.parquet", "--onnx", "model"], "no columns premise, hypothesis, answer"),
        (["test.parquet", "--onnx", "model", "--out", "test.parquet"], "test.parquet"),
        (["test.parquet", "--onnx", "model", "--out", "no/log.csv"], "there is no folder"),
        (["test.parquet", "--onnx", "model", "--out", "log"], "the format is not clear"),
        (["test.parquet", "--model", "./nothing"], "there is no such folder"),
    ],
)
def test_bad_input_is_named(folder: Path, arguments: list[str], message: str) -> None:
    write(folder / "other.parquet", pa.table({"text": ["a"], "label": ["b"]}))
    before = (folder / "test.parquet").read_bytes()
    assert message in failed(*arguments, folder=folder)
    assert (folder / "test.parquet").read_bytes() == before


def test_no_row_that_can_be_scored_is_an_error(folder: Path) -> None:
    table = replace(make_coordinations(4, seed=1), "answer", ["zebra"] * 4)
    write(folder / "test.parquet", table)
    err = failed("test.parquet", "--onnx", "model", "--out", "log.csv", folder=folder)
    assert (
        "no row can be scored. 4 rows are not scored: the tokenizer does not know the word" in err
    )
    assert not (folder / "log.csv").exists()


def test_a_truncated_model_is_named(folder: Path) -> None:
    path = folder / "model" / "model.onnx"
    path.write_bytes(path.read_bytes()[:200])
    assert "model.onnx" in failed("test.parquet", "--onnx", "model", folder=folder)


def test_published_results_are_read(shared: Path, tmp_path: Path) -> None:
    path = shared / "data" / "masked_inference" / "BC_basic_results.csv.gz"
    out = ok(path, "--ranks", "bert_base_uncased_fine_tuned", folder=tmp_path)
    assert "55.30   52.20 to 58.36" in out
    assert "30.20   26.34 to 34.36" in out
    assert "80.40   76.69 to 83.64" in out


@pytest.mark.train
def test_a_model_is_trained_and_measured_before_and_after(tmp_path: Path) -> None:
    make_masked_bert(tmp_path / "checkpoint")
    write(tmp_path / "train.parquet", make_coordinations(60, seed=1))
    test = make_coordinations(20, seed=2)
    bad = test.slice(0, 1)
    write(tmp_path / "test.parquet", pa.concat_tables([test, replace(bad, "answer", ["zebra"])]))
    arguments = ["test.parquet", "--model", "checkpoint", "--train", "train.parquet"]
    options = ["--epochs", 2, "--learning-rate", 1e-3, "--batch-size", 16, "--threads", 1]
    out = ok(
        *arguments, *options, "--save", "tuned", "--out", "log.parquet", folder=tmp_path
    )  # fmt: skip
    assert "pretrained %" in out
    assert "fine-tuned %" in out
    assert "Trained on 60 pairs in " in out
    assert "(2 epochs, " in out
    assert "1 row is not scored: the tokenizer does not know the word" in out
    log = pq.read_table(tmp_path / "log.parquet")
    assert log["model"].value_counts().to_pylist() == [
        {"values": "pretrained", "counts": 21},
        {"values": "fine-tuned", "counts": 21},
    ]
    again = json.loads(
        ok("test.parquet", "--model", "tuned", "--threads", 1, "--json", folder=tmp_path)
    )
    read = json.loads(ok("log.parquet", "--json", folder=tmp_path))
    assert again["models"][0]["whole"] == read["models"][1]["whole"]
    assert again["models"][0]["model"] == "tuned"

    failure = failed(*arguments, "--save", "tuned", folder=tmp_path)
    assert "tuned: is there already" in failure
    found = json.loads(ok(*arguments, *options, "--seed", 1, "--json", folder=tmp_path))
    assert [each["model"] for each in found["models"]] == ["pretrained", "fine-tuned"]
    assert found["training"]["pairs"] == 60
    assert found["training"]["settings"]["seed"] == 1
    assert len(found["training"]["losses"]) == 2


@pytest.mark.train
def test_training_items_in_the_test_are_told(tmp_path: Path) -> None:
    make_masked_bert(tmp_path / "checkpoint")
    table = make_coordinations(20, seed=1)
    spoilt = replace(table, "hypothesis", ["no mask", *table["hypothesis"].to_pylist()[1:]])
    write(tmp_path / "train.parquet", spoilt)
    write(tmp_path / "test.parquet", table)
    arguments = ["test.parquet", "--model", "checkpoint", "--train", "train.parquet"]
    out = ok(*arguments, "--epochs", 1, folder=tmp_path)
    assert "19 items are in the training file, too." in out
    assert "train.parquet: 1 row is not trained on: no [MASK] in the hypothesis" in out
