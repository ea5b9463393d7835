"""``ietest-fast consistency`` as a shell would call it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

import ietest_fast as ie
from ietest_fast.answers import Predictions
from ietest_fast.cli.main import main
from ietest_fast.errors import IetestWarning
from tiny_models import LABELS, make_onnx_folder

if TYPE_CHECKING:
    from pathlib import Path

#: Wordings of four items, the original first; the last has none but itself.
WORDINGS = {
    "a": ["A dog runs.", "A big dog runs.", "The dog runs outside."],
    "b": ["Nobody eats.", "Not a man eats.", "A man eats not.", "Nobody eats in the park."],
    "c": ["The cat is small.", "The small cat is a cat."],
    "d": ["A girl sits on the couch."],
}
GOLD = dict(zip("abcd", (*LABELS, LABELS[0]), strict=True))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    make_onnx_folder(tmp_path / "model")
    return tmp_path / "model"


def bucket_rows() -> list[dict[str, Any]]:
    return [
        {
            "item": item,
            "premise": "A woman is in the street.",
            "hypothesis": text,
            "label": GOLD[item],
            "source": ("original", "people", "program")[min(place, 1 + place % 2)],
            "kind": "easy" if item in {"a", "d"} else "hard",
        }
        for item, texts in WORDINGS.items()
        for place, text in enumerate(texts)
    ]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pacsv.write_csv(pa.Table.from_pylist(rows), path)
    return path


@pytest.fixture
def buckets(tmp_path: Path) -> Path:
    return write(tmp_path / "buckets.csv", bucket_rows())


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["consistency", *map(str, arguments)])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def answer_rows(answers: dict[str, list[str]], **columns: Any) -> list[dict[str, Any]]:
    """A log: for each item the answers to its original and its paraphrases."""
    return [
        {
            "item": item,
            "version": "original" if place == 0 else f"p{place}",
            "gold": "yes",
            "predicted": answer,
            **columns,
        }
        for item, given in answers.items()
        for place, answer in enumerate(given)
    ]


ANSWERS = {
    "1": ["yes", "yes", "yes", "no"],  # theta 2/3
    "2": ["no", "no", "no"],  # 0
    "3": ["yes", "yes", "no", "no", "no"],  # 1/4
    "4": ["yes", "yes"],  # 1, no pair
    "5": ["no"],  # no paraphrase
}


def brute_force(answers: dict[str, list[str]]) -> dict[str, float]:
    """P_C from the definition: pairs of paraphrases, one by one."""
    plug_in, unbiased, macro = [], [], []
    for _, *given in answers.values():
        right = [answer == "yes" for answer in given]
        if not right:
            continue
        macro.append(sum(right) / len(right))
        plug_in.append(sum(a == b for a in right for b in right) / len(right) ** 2)
        pairs = [(a, b) for i, a in enumerate(right) for j, b in enumerate(right) if i != j]
        if pairs:
            unbiased.append(sum(a == b for a, b in pairs) / len(pairs))
    return {
        "accuracy_macro": sum(macro) / len(macro),
        "p_c": sum(plug_in) / len(plug_in),
        "p_c_unbiased": sum(unbiased) / len(unbiased),
    }


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("log.csv", "log.jsonl")),
        "log.parquet",
    ],
)
def test_a_log_gives_the_numbers_of_the_definition(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = answer_rows(ANSWERS)
    path = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        write(path, rows)
    status, said, err = run(capsys, path, "--json", "-S", "200")
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    for measure, value in brute_force(ANSWERS).items():
        assert profile[measure] == pytest.approx(value, abs=1e-12), measure
    assert (profile["n_buckets"], profile["n_single"], profile["n_without_paraphrases"]) == (
        4,
        1,
        1,
    )
    low, high = profile["p_c_interval"]
    assert low <= profile["p_c"] <= high
    status, said, err = run(capsys, path, "-S", "200", "--details")
    assert (status, err) == (0, "")
    for words in ("P_C, plug-in", "P_C, unbiased", "PVAP", "least P_C", "same answer", "split %"):
        assert words in said
    assert "1 item has an original but no paraphrase" in said


def test_a_file_of_buckets_and_a_model(
    tmp_path: Path, model: Path, buckets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "answers.parquet"
    asked = ("--onnx", model, "--test", buckets, "--runtime", "onnxruntime", "-S", "200")
    status, said, err = run(capsys, *asked, "--out", out, "--json")
    assert (status, err) == (0, "")
    found = json.loads(said)
    (profile,) = found["profiles"]
    assert (profile["n_buckets"], profile["n_paraphrases"]) == (3, 6)
    assert (profile["n_single"], profile["n_without_paraphrases"]) == (1, 1)
    assert found["inputs_run"] == found["inputs"] == 10
    table = pq.read_table(out)
    assert table["hypothesis"].to_pylist() == [text for own in WORDINGS.values() for text in own]
    assert table["changed"].to_pylist() == [
        place > 0 for own in WORDINGS.values() for place in range(len(own))
    ]
    # The answers alone give the same numbers.
    status, again, err = run(capsys, out, "--json", "-S", "200")
    assert (status, err) == (0, "")
    assert json.loads(again)["profiles"] == found["profiles"]


def test_each_distinct_input_is_run_once(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = bucket_rows()
    rows += [row | {"item": f"{row['item']}, again"} for row in rows]
    path = write(tmp_path / "twice.jsonl", rows)
    status, said, err = run(capsys, "--onnx", model, "--test", path, "--json", "-S", "50")
    assert (status, err) == (0, "")
    found = json.loads(said)
    assert (found["inputs_run"], found["inputs"]) == (10, 20)


@pytest.mark.slow
def test_buckets_made_here(tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [
        f"The {who} is on the {where}." for who in ("boy", "girl") for where in ("sofa", "street")
    ]
    rows = [
        {
            "premise": f"A {what} man sleeps on the couch in the park.",
            "hypothesis": text,
            "label": LABELS[number % 3],
            "genre": ("travel", "fiction")[number % 2],
        }
        for number, (what, text) in enumerate(
            (what, text) for what in ("big", "small") for text in texts
        )
    ]
    path, out = write(tmp_path / "test.csv", rows), tmp_path / "out.parquet"
    asked = ("--onnx", model, "--test", path, "--phi", "syn.careful", "--draws", 3, "-S", "50")
    status, said, err = run(
        capsys, *asked, "--subset", "genre", "--out", out, "--seed", 3, "--share", "0.4"
    )
    assert (status, err) == (0, "")
    assert "syn.careful:" in said
    assert "3 draws asked for" in said
    assert "Consistency by genre" in said
    table = pq.read_table(out)
    versions = set(table["version"].to_pylist())
    assert versions == {"original", "syn.careful", "syn.careful#2", "syn.careful#3"}
    # Draws of an item are different from each other.
    texts = list(
        zip(
            table["item"].to_pylist(),
            table["premise"].to_pylist(),
            table["hypothesis"].to_pylist(),
            strict=True,
        )
    )
    assert len(set(texts)) == len(texts)
    status, again, err = run(capsys, out, "-S", "50", "--seed", 3)
    assert (status, err) == (0, "")
    assert said.startswith(again.rstrip())


@pytest.mark.slow
def test_several_models_and_their_full_test_sets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {f"{number}": ["yes", "yes", "no", "yes"] for number in range(12)}
    others = {name: ["yes", "no", "no", "yes"][: 4 - (name == "3")] for name in answers}
    logs, tests = [], []
    for name, given, sure in (("one", answers, 0.9), ("two", others, 0.6)):
        rows = answer_rows(given, confidence=sure)
        for place, row in enumerate(rows):
            likely = sure if place % 2 else 0.55
            row["confidence"] = likely if row["predicted"] == "yes" else 0.3
        logs.append(write(tmp_path / f"{name}.csv", rows))
        full = answer_rows({f"test {n}": ["yes"] for n in range(40)})
        for place, row in enumerate(full):
            row["confidence"] = 0.55 if place < 30 else (0.95 if name == "one" else 0.57)
        tests.append(write(tmp_path / f"{name}-full.csv", full))
    out = tmp_path / "both.parquet"
    given = [part for path in tests for part in ("--test-set", path)]
    status, said, err = run(capsys, *logs, *given, "-S", "100", "--out", out, "--json")
    assert (status, err) == (0, "")
    found = json.loads(said)
    assert [profile["model"] for profile in found["profiles"]] == ["one", "two"]
    one, two = (profile["corrected"] for profile in found["profiles"])
    assert one["weight_used"] == pytest.approx(0.75)
    assert two["weight_used"] == pytest.approx(1)
    assert one["p_c"] == pytest.approx(0.75 * one["p_c_renormalised"])
    assert "hold 75.0% of the test set" in one["warning"]
    (pair,) = found["pairs"]
    assert (pair["first"], pair["second"], pair["n_buckets"]) == ("one", "two", 12)
    assert pair["accuracy_macro"] == pytest.approx(
        found["profiles"][0]["accuracy_macro"] - found["profiles"][1]["accuracy_macro"]
    )
    # One file with both gives the same, the test sets included.
    status, again, err = run(capsys, out, "-S", "100", "--json")
    assert (status, err) == (0, "")
    joined = json.loads(again)
    said_of = [[each.pop("warnings") for each in own["profiles"]] for own in (found, joined)]
    assert joined == found
    assert said_of[1] == [[*said_of[0][0], *said_of[0][1]]] * 2
    assert all("shares no item with" in line for line in said_of[1][0])
    status, said, err = run(capsys, out, "-S", "100")
    assert status == 0
    assert "Comparison of models on the same items" in said
    assert "weight used" in said
    assert "one: Warning: the strata that have items hold 75.0% of the test set" in said
    status, said, err = run(capsys, *logs, *given, "--strata", "1", "-S", "100", "--json")
    assert status == 0
    first = json.loads(said)["profiles"][0]
    assert first["corrected"]["accuracy"] == pytest.approx(first["accuracy_macro"])


def test_subsets_of_items_and_of_paraphrases(
    tmp_path: Path, model: Path, buckets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = answer_rows({f"{n}": ["yes", "yes", "no", "yes", "no"] for n in range(10)})
    for row in rows:
        row["level"] = "easy" if int(row["item"]) < 4 else "hard"
        row["by"] = {"original": "", "p1": "people", "p2": "people"}.get(row["version"], "program")
        row["predicted"] = "yes" if row["level"] == "easy" else row["predicted"]
    path = write(tmp_path / "log.csv", rows)
    status, said, err = run(capsys, path, "--subset", "level", "-S", "100", "--json")
    assert (status, err) == (0, "")
    found = json.loads(said)["profiles"][0]["subsets"]
    assert found["are_items"] is True
    assert {name: part["n_buckets"] for name, part in found["parts"].items()} == {
        "easy": 4,
        "hard": 6,
    }
    (pair,) = found["pairs"]
    assert pair["p_c_unbiased"] == pytest.approx(1 - 1 / 3)
    status, said, err = run(capsys, path, "--subset", "by", "-S", "100", "--json")
    assert (status, err) == (0, "")
    found = json.loads(said)["profiles"][0]["subsets"]
    assert found["are_items"] is False
    assert {name: part["n_paraphrases"] for name, part in found["parts"].items()} == {
        "people": 20,
        "program": 20,
    }
    (pair,) = found["pairs"]
    assert pair["n_buckets"] == 10
    status, said, err = run(capsys, path, "--subset", "by", "-S", "100")
    assert "on the same items" in said
    # One odd cell makes another comparison of it.
    rows[1]["level"] = "hard"
    status, said, err = run(capsys, write(path, rows), "--subset", "level", "-S", "100")
    assert status == 0
    assert "1 of 10 items has several values of level (such as 0)" in " ".join(said.split())
    # A column of the texts is kept for it.
    status, said, err = run(
        capsys, "--onnx", model, "--test", buckets, "--subset", "source", "-S", "50"
    )
    assert (status, err) == (0, "")
    assert "Consistency by source" in said


@pytest.mark.slow
def test_published_results_of_paranlu(
    tmp_path: Path, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared / "data" / "paranlu" / "results"
    log = folder / "snli_human_d-snli-bilstm.json.gz"
    full = folder / "snli_test_set_d-snli-bilstm.json.gz"
    out = tmp_path / "out.parquet"
    status, said, err = run(
        capsys,
        log,
        "--test-set",
        full,
        "--clusters",
        "cluster",
        "-S",
        "200",
        "--out",
        out,
        "--json",
    )
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    assert 100 * profile["p_c"] == pytest.approx(73.2366187956664, abs=1e-9)
    assert 100 * profile["p_c_unbiased"] == pytest.approx(69.06546822209472, abs=1e-9)
    assert 100 * profile["corrected"]["p_c"] == pytest.approx(74.15121224625835, abs=1e-9)
    assert profile["corrected"]["weight_used"] == pytest.approx(1)
    status, again, err = run(capsys, out, "-S", "200", "--json")
    assert (status, err) == (0, "")
    assert json.loads(again)["profiles"] == [profile]


def test_probabilities_that_are_none(
    tmp_path: Path, model: Path, buckets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "answers.parquet"
    run(capsys, "--onnx", model, "--test", buckets, "--out", out, "-S", "50")
    whole = pq.read_table(out)
    place = whole.column_names.index("probabilities")
    for first, shown in (
        ([0.5, 0.5, 0.5], "0.5, 0.5, 0.5"),
        ([2.0, -1.0, 0.0], "2, -1, 0"),
        ([float("nan"), 0.5, 0.5], "nan"),
    ):
        values = [first, *whole["probabilities"].to_pylist()[1:]]
        column = pa.array(values, pa.list_(pa.float32()))
        pq.write_table(whole.set_column(place, "probabilities", column), out)
        status, said, err = run(capsys, out, "-S", "50")
        assert (status, said) == (1, "")
        assert f"version 'original' of item 'a' has {shown}" in err.replace("\n", " ")
        assert "probabilities are numbers from 0 to 1 that add up to 1" in err


def test_mixed_gold_labels_of_a_log_are_left_out_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = answer_rows(ANSWERS)
    rows[1]["gold"] = "no"
    path = write(tmp_path / "log.csv", rows)
    status, said, err = run(capsys, path, "--drop-mixed", "-S", "50", "--json")
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    assert (profile["n_buckets"], profile["n_mixed"]) == (3, 1)
    without = {name: given for name, given in ANSWERS.items() if name != "1"}
    assert profile["p_c"] == pytest.approx(brute_force(without)["p_c"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], (2, "give LOGs of predictions, or a model")),
        (["--onnx", "MODEL"], (2, "a model needs a file")),
        (["LOG", "--phi", "swap"], (2, "--phi is for a model that is run")),
        (["LOG", "--onnx", "MODEL", "--test", "BUCKETS"], (2, "LOGs are of one that has been run")),
        (["--onnx", "MODEL", "--model", "x", "--test", "BUCKETS"], (2, "not both")),
        (["--onnx", "MODEL", "--test", "BUCKETS", "--draws", "2"], (2, "--draws needs --phi")),
        (
            ["--onnx", "MODEL", "--test", "BUCKETS", "--phi", "swap", "--share", "0.3"],
            (2, "--share needs --draws"),
        ),
        (["--onnx", "MODEL", "--test", "BUCKETS", "--phi", "voyce"], (1, "voyce")),
        (
            ["--onnx", "MODEL", "--test", "BUCKETS", "--phi", "antonym"],
            (1, "does not keep labels"),
        ),
        (["--onnx", "MODEL", "--test", "BUCKETS", "--subset", "topic"], (1, "topic")),
        (["--onnx", "MODEL", "--test", "BUCKETS", "--item-column", "who"], (1, "who")),
        (
            ["--onnx", "MODEL", "--test", "BUCKETS", "--out", "out.csv"],
            (2, "--out is a Parquet file"),
        ),
        (["--onnx", "MODEL", "--test", "BUCKETS", "--id-column", "who"], (2, "made elsewhere")),
        (["LOG", "--strata", "5"], (2, "--strata needs --test-set")),
        (["LOG", "--subset", "topic"], (1, "no such column to split consistency by")),
        (["LOG", "--subset", "gold"], (1, "has 1 value in the rows of paraphrases")),
        (["LOG", "--clusters", "who"], (1, "who")),
        (["LOG", "--gold-column", "gold"], (2, "--gold-column is for logs of other programs")),
        (["LOG", "--test-set", "LOG"], (1, "has neither a column confidence nor probabilities")),
        (["LOG", "--test-set", "BUCKETS"], (1, "holds no answers with probabilities")),
        (["none.parquet"], (1, "no such file")),
        (["LOG", "BUCKETS"], (1, "holds paraphrases, no answers")),
    ],
)
def test_what_is_asked_wrongly_is_said(
    *,
    tmp_path: Path,
    arguments: list[str],
    expected: tuple[int, str],
    model: Path,
    buckets: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = write(tmp_path / "log.csv", answer_rows(ANSWERS))
    places = {"MODEL": model, "BUCKETS": buckets, "LOG": log}
    found, said, err = run(capsys, *(places.get(each, each) for each in arguments))
    assert (found, said) == (expected[0], "")
    assert expected[1] in err.replace("\n", " ")
    assert "Traceback" not in err


def test_a_file_whose_metadata_are_damaged(
    tmp_path: Path, model: Path, buckets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "answers.parquet"
    run(capsys, "--onnx", model, "--test", buckets, "--out", out, "-S", "50")
    table = pq.read_table(out)
    known = {**table.schema.metadata, b"ietest_fast.consistency": b'{"format": 1, "strata": 3}'}
    pq.write_table(table.replace_schema_metadata(known), out)
    status, said, err = run(capsys, out)
    assert (status, said) == (1, "")
    assert "its metadata are damaged" in err


def test_a_file_that_is_read_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.Table.from_pylist(answer_rows(ANSWERS)), path)
    before = path.read_bytes()
    status, said, err = run(capsys, path, "--out", path, "-S", "50")
    assert (status, said) == (1, "")
    assert "would be overwritten while it is in use" in err
    assert path.read_bytes() == before


def paranlu_paraphrases() -> dict[str, Any]:
    """Two abductive problems in the published form, the second hypothesis reworded."""
    found: dict[str, Any] = {}
    for number, item in enumerate(("anli.1", "anli.2")):
        original = {
            "example_id": item,
            "obs1": "A dog runs in the park.",
            "hyp1": "A boy sits.",
            "hyp2": f"A girl eats, {number}.",
            "obs2": "Nobody sleeps.",
            "modeling_label": number,
        }
        found[item] = [
            {
                "paraphrase_id": f"{item}.{place}",
                "original_example_id": item,
                "original_example": original,
                "hyp1_paraphrase": "A kid sits.",
                "hyp2_paraphrase": f"The girl eats, {number}, {place}.",
                "worker_id": "W",
            }
            for place in range(3)
        ]
    return found


def test_paranlus_paraphrases_and_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_onnx_folder(tmp_path / "two", labels=("hyp1", "hyp2"))
    path, out = tmp_path / "anli.json", tmp_path / "out.parquet"
    path.write_text(json.dumps(paranlu_paraphrases()))
    asked = ("--onnx", tmp_path / "two", "--test", path, "-S", "50")
    status, said, err = run(capsys, *asked, "--out", out, "--json")
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    assert (profile["n_buckets"], profile["n_paraphrases"]) == (2, 6)
    row = pq.read_table(out).to_pylist()[1]
    assert row["second_story"] == "A dog runs in the park. The girl eats, 0, 0. Nobody sleeps."
    assert (row["version"], row["gold"]) == ("paraphrase", "hyp1")
    status, said, err = run(capsys, *asked, "--item-column", "x")
    assert (status, said) == (2, "")
    assert "this file is ParaNLU's" in err
    status, said, err = run(capsys, path)
    assert (status, said) == (1, "")
    assert "holds paraphrases, no answers; add --onnx or --model, and --test" in err


def test_a_log_of_another_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("original,a,b,label\nyes,yes,yes,yes\nno,no,yes,yes\nno,yes,yes,no\n")
    asked = (path, "--prediction-columns", "original,a,b", "-S", "50", "--json")
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    answers = {"1": ["yes"] * 3, "2": ["no", "no", "yes"], "3": ["no", "no", "no"]}
    for measure, value in brute_force(answers).items():
        assert profile[measure] == pytest.approx(value, abs=1e-12), measure
    assert profile["agreement_unbiased"] == pytest.approx(2 / 3)


@pytest.mark.slow
def test_models_that_do_not_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = pa.Table.from_pylist(answer_rows(ANSWERS))
    other = pa.Table.from_pylist(
        [row | {"gold": "ja", "item": f"x{row['item']}"} for row in answer_rows(ANSWERS)]
    )
    logs = []
    for name, table, labels in (("one", one, ("no", "yes")), ("two", other, ("ja", "no", "yes"))):
        logs.append(tmp_path / f"{name}.parquet")
        Predictions(table=table, label_names=labels).write(logs[-1])
    status, said, err = run(capsys, *logs, "-S", "50")
    assert (status, err) == (0, "")
    assert "Not compared, with fewer than two items in common: one and two." in said
    status, said, err = run(capsys, *logs, "-S", "50", "--out", tmp_path / "out.parquet")
    assert (status, said) == (1, "")
    assert "the models answer with different labels" in err
    assert not (tmp_path / "out.parquet").exists()
    named = tmp_path / "named.parquet"
    pq.write_table(one.append_column("model", pa.array(["m"] * one.num_rows)), named)
    again = tmp_path / "again.parquet"
    again.write_bytes(named.read_bytes())
    status, said, err = run(capsys, named, again, "-S", "50")
    assert (status, said) == (1, "")
    assert "another file holds answers of m as well" in err
    status, said, err = run(capsys, *logs, "--test-set", logs[0], "-S", "50")
    assert (status, said) == (1, "")
    assert "1 classifier has answered a full test set, and 2 the paraphrases" in err


@pytest.mark.parametrize(
    ("rename", "is_said"),
    [
        (lambda item, version: f"w{version[1:]}", True),
        pytest.param(lambda item, version: f"{item}-{version}", True, marks=pytest.mark.slow),
        pytest.param(lambda item, version: version, False, marks=pytest.mark.slow),
        (lambda item, version: version if item == "1" else f"w{version[1:]}", False),
    ],
)
def test_models_that_share_no_paraphrase_are_said(
    tmp_path: Path, rename: Any, is_said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = answer_rows(ANSWERS)
    renamed = [
        row
        if row["version"] == "original"
        else row | {"version": rename(row["item"], row["version"])}
        for row in rows
    ]
    renamed = [row | {"by": "two"} for row in renamed]  # else they might be copies
    logs = [write(tmp_path / "one.csv", rows), write(tmp_path / "two.csv", renamed)]
    status, said, err = run(capsys, *logs, "-S", "50", "--json")
    assert (status, err) == (0, "")
    remarks = json.loads(said)["remarks"]
    assert len(remarks) == is_said
    assert all("no paraphrase (item and version) that both have answered" in r for r in remarks)
    if is_said:
        one, two = (ie.consistency(str(log), n_resamples=50) for log in logs)
        with pytest.warns(IetestWarning, match="no paraphrase"):
            one.compare(two, n_resamples=50)


SCORES = {"1": (0.8, 0.6, 0.2), "2": (0.5, 0.5, 0.9), "3": (0.1, 0.4, 0.3)}
RIGHT = {"1": (1, 1, 0), "2": (1, 1, 1), "3": (0, 0, 0)}


def write_scores(folder: Path, kind: str, *, right: bool) -> list[str]:
    """Write scores of three wordings, or the outcomes that a threshold of 0.5 makes of them."""
    table = RIGHT if right else SCORES
    if kind == "wide":
        rows = ["a,b,c", *(",".join(map(str, row)) for row in table.values())]
        asked = ["-C", "a,b,c"]
    else:
        names = ("original", "p1", "p2")
        marked = ",gold,predicted" if kind == "marked" else ""
        rows = [f"item,version,correct{marked}"]
        for item, row in table.items():
            said = ",yes,no" if marked else ""
            rows += [f"{item},{name},{it}{said}" for name, it in zip(names, row, strict=True)]
        asked = ["-C", "correct"] if kind == "marked" else []
    path = folder / f"{right}.csv"
    path.write_text("\n".join(rows) + "\n")
    return [str(path), *asked]


@pytest.mark.parametrize("command", ["consistency", "stress"])
@pytest.mark.parametrize("kind", ["long", "wide", "marked"])
def test_scores_of_a_threshold_are_measured_as_their_outcomes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, command: str
) -> None:
    found = []
    for right, asked in ((True, []), (False, ["--threshold", "0.5"])):
        given = write_scores(tmp_path, kind, right=right)
        with pytest.raises(SystemExit) as stop:
            main([command, *given, *asked, "--json"])
        said, err = capsys.readouterr()
        assert (stop.value.code or 0, err) == (0, "")
        found.append(json.loads(said)["profiles"])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (["--threshold", "0.5", "--filter", "x"], (2, "--filter is for logs of other programs")),
        (["--threshold", "0.5", "-C", "a"], (2, "--correct-columns is for logs of other")),
        (["--threshold", "9"], (0, "no score reaches the threshold 9")),
        ([], (1, "or --threshold for other scores")),
    ],
)
def test_thresholds_that_do_not_fit(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    asked: list[str],
    expected: tuple[int, str],
) -> None:
    status, said, err = run(capsys, *write_scores(tmp_path, "long", right=False), *asked, "-S", "9")
    assert status == expected[0]
    assert expected[1] in " ".join((said + err).split())


def test_a_threshold_is_refused_where_outcomes_are_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = write(tmp_path / "log.csv", answer_rows(ANSWERS)), tmp_path / "out.parquet"
    status, _, err = run(capsys, log, "--threshold", "0.5")
    assert (status, "a threshold (--threshold) is for scores" in err) == (1, True)
    assert run(capsys, log, "-S", "9", "--out", out)[0] == 0
    status, _, err = run(capsys, out, "--threshold", "0.5")
    assert (status, "says itself which answers are right" in err) == (1, True)
