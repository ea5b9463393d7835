"""``ietest-fast stress`` as a shell would call it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

import ietest_fast as ie
from ietest_fast.cli.main import main
from tiny_models import LABELS, make_onnx_folder

if TYPE_CHECKING:
    from pathlib import Path

PREMISES = (
    "Two large dogs run in the park",
    "A dog sleeps on the sofa",
    "The man pays 20 dollars for a small couch.",
)
HYPOTHESES = (
    "A big dog runs.",
    "Nobody eats.",
    "The cat is small.",
    "Somebody runs outside the house.",
)
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


def run(
    capsys: pytest.CaptureFixture[str], *arguments: str | Path, command: str = "stress"
) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([command, *map(str, arguments)])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


@pytest.mark.slow
def test_the_six_tests_and_more(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, folder = tmp_path / "answers.parquet", tmp_path / "sets"
    status, said, err = run(
        capsys,
        *("--onnx", model, "--test", texts, "--by", "genre", "--with", "swap,syn.careful"),
        *("--out", out, "--write", folder, "--runtime", "onnxruntime", "--details"),
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


def test_python_asks_and_measures_the_same(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "suite.toml").write_text('[tests]\n"not, twice" = "negation:times=2"\n')
    asked = ("--onnx", model, "--test", texts, "--suite", tmp_path / "suite.toml")
    asked += ("--with", "antonym", "--train", texts, "--by", "genre", "--clusters", "premise")
    asked += ("--lexicon-from", texts, "--input", "hypothesis", "--margin", "0.1", "--seed", "3")
    asked += ("--method", "resample", "-S", "50", "--alpha", "0.2", "--alternative", "less")
    out, again = tmp_path / "answers.parquet", tmp_path / "again.parquet"
    status, said, err = run(capsys, *asked, "--out", out, "--json")
    assert (status, err) == (0, "")
    found = ie.stress(
        model,
        texts,
        suite=tmp_path / "suite.toml",
        add="antonym",
        train=texts,
        group_by="genre",
        clusters="premise",
        learn_from=texts,
        input_columns="hypothesis",
        margin=0.1,
        rng=3,
        method="resample",
        n_resamples=50,
        alpha=0.2,
        alternative="less",
        out=again,
    )
    assert json.loads(said)["profiles"] == [json.loads(found.to_json())]
    assert out.read_bytes() == again.read_bytes()


def test_a_suite_of_ones_own_and_rules_of_the_paper(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text('[tests]\n"not, twice" = "negation:times=2"\n')
    status, said, _ = run(capsys, "--onnx", model, "--test", texts, "--suite", suite)
    assert status == 0
    assert "not, twice" in said
    assert "word-overlap" not in said
    suite.write_text('[tests]\n"Swap" = "negation"\n')
    asked = ("--onnx", model, "--test", texts, "--suite", suite, "--write", tmp_path / "new")
    status, _, said = run(capsys, *asked, "--with", "swap")
    assert (status, (tmp_path / "new").exists()) == (2, False)
    assert "--with swap: the tests 'Swap' and 'swap' differ in case" in said
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
            ["--onnx", "MODEL", "--test", "TEXTS", "--quantities-column", "a"],
            (2, "--quantities-column is of --quantities"),
        ),
        (
            ["--onnx", "MODEL", "--test", "TEXTS", "--suite", "s.toml", "--quantities", "TEXTS"],
            (2, "a suite has texts_from"),
        ),
        (["none.parquet"], (1, "no such file")),
        (["--onnx", "MODEL", "--test", "TEXTS", "--train", "none.csv"], (1, "none.csv")),
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


@pytest.mark.slow
def test_words_of_training_and_quantities_of_a_file(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = tmp_path / "train.csv"
    train.write_text(
        "premise,hypothesis,label\n"
        + "A big dog runs.,A small dog runs.,contradiction\n" * 3
        + "A large dog runs.,A small dog runs.,neutral\n"
    )
    (tmp_path / "problems.csv").write_text(
        "id,problem\n7,Anna buys 12 apples in the shop.\n8,No number is here.\n"
    )
    out, folder = tmp_path / "answers.parquet", tmp_path / "sets"
    asked = ("--onnx", model, "--test", texts, "--train", train, "--by", "genre")
    asked += ("--quantities", tmp_path / "problems.csv", "--quantities-column", "problem")
    status, said, err = run(capsys, *asked, "--out", out, "--write", folder, "--details")
    assert (status, err) == (0, "")
    assert "easy and hard pairs of words" in said
    assert "1 to 9 times" in said
    assert "numerical: made of 1 of 2 texts of another file; 1 has nothing for it." in said
    assert "neighbouring-key" in said
    problems = pq.read_table(folder / "numerical.parquet")
    assert set(problems["source_row"].to_pylist()) == {0}
    antonyms = pq.read_table(out).to_pylist()
    times = {row["word_pair"]: row["times_in_training"] for row in antonyms if row["word_pair"]}
    assert times["big / small"] == 3
    assert times["large / small"] == 0  # in a neutral pair alone
    # What the file says of itself gives the same numbers; other training data give others.
    status, again, _ = run(capsys, out, "--details")
    assert status == 0
    assert said.startswith(again.rstrip())
    train.write_text("premise,hypothesis,label\nOne is large.,It is small.,contradiction\n")
    status, said, _ = run(capsys, out, "--train", train, "--json")
    profile = json.loads(said)["profiles"][0]
    (antonym,) = (test for test in profile["tests"] if test["test"] == "antonym")
    assert set(antonym["antonyms"]["by_times_in_training"]) == {"never", "1 to 9 times"}
    assert set(profile["tests"][0]["by_group"]) == {"fiction", "travel"}


@pytest.mark.parametrize(
    "column",
    [
        ("label_text", LABELS, LABELS),
        ("label_name", ("0", "1", "2"), ("0", "1", "2")),
        ("label_str", ("e", "n", "n"), None),  # something else
        ("source", LABELS, "as they were"),
    ],
)
def test_kept_columns_of_labels_get_those_that_a_test_sets(
    tmp_path: Path,
    model: Path,
    texts: Path,
    capsys: pytest.CaptureFixture[str],
    column: tuple[str, tuple[str, ...], tuple[str, ...] | str | None],
) -> None:
    name, values, wanted = column
    table = pacsv.read_csv(texts)
    own = pa.array([values[i % 3] for i in range(table.num_rows)])
    pacsv.write_csv(table.append_column(name, own), texts)
    (tmp_path / "suite.toml").write_text('[tests]\nopposite = "antonym"\nnoise = "spelling"\n')
    status, _, err = run(
        capsys,
        *("--onnx", model, "--test", texts, "--suite", tmp_path / "suite.toml"),
        *("--keep-columns", name, "--out", tmp_path / "answers.parquet"),
    )
    assert (status, err) == (0, "")
    rows = pq.read_table(tmp_path / "answers.parquet").to_pylist()
    assert {row["version"] for row in rows} == {"original", "opposite", "noise"}
    for row in rows:
        said, place = row[name], LABELS.index(row["gold"])
        if row["version"] != "opposite":
            assert said == values[place]
        elif isinstance(wanted, str):
            assert said in values
        else:
            assert said == (None if wanted is None else wanted[place])


def other_labels(path: Path, labels: tuple[str, ...]) -> None:
    table = pacsv.read_csv(path)
    made = [labels[i % len(labels)] for i in range(table.num_rows)]
    pacsv.write_csv(table.set_column(2, "label", pa.array(made)), path)


def test_labels_that_no_test_can_set(
    model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other_labels(texts, ("yes", "no"))
    mapped = "entailment=yes,neutral=no,contradiction=no"
    status, said, err = run(
        capsys, "--onnx", model, "--test", texts, "--label-map", mapped, "--rules", "careful"
    )
    assert (status, said) == (1, "")
    assert "sets the label 'contradiction', which is none of the data's (no, yes)" in err
    assert "leave this transformation out" in err


def test_a_label_beyond_nlis_three(
    model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other_labels(texts, (*LABELS, "maybe"))
    status, said, err = run(capsys, "--onnx", model, "--test", texts)
    assert (status, said) == (1, "")
    assert "line 5" in err
    assert "unknown label 'maybe'; expected one of: 0 entailment" in err


def test_a_suite_for_other_labels(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other_labels(texts, ("yes", "no"))
    (tmp_path / "suite.toml").write_text('[tests]\nnoise = "spelling"\n')
    mapped = "entailment=yes,neutral=no,contradiction=no"
    status, said, err = run(
        capsys,
        *("--onnx", model, "--test", texts, "--label-map", mapped),
        *("--suite", tmp_path / "suite.toml"),
    )
    assert (status, err) == (0, "")
    assert "noise" in said


@pytest.mark.slow
def test_a_model_of_two_labels_on_tests_of_three(
    tmp_path: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_onnx_folder(tmp_path / "two", labels=("entailment", "not_entailment"))
    status, said, err = run(capsys, "--onnx", tmp_path / "two", "--test", texts, "--json")
    assert (status, err) == (0, "")
    profile = json.loads(said)["profiles"][0]
    assert len(profile["labels"]) == 2
    (antonym,) = (test for test in profile["tests"] if test["test"] == "antonym")
    assert antonym["confusion"][profile["labels"].index("entailment")] == [0, 0, 0]
    assert sum(map(sum, antonym["confusion"])) == antonym["accuracy_n"] > 0


@pytest.mark.slow
def test_empty_texts_and_texts_without_anything_to_change_are_counted(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "texts.jsonl"
    rows = [
        ("A large dog runs.", "", "neutral"),
        ("A large dog runs.", "It is a dog.", "neutral"),
        ("Hm.", "A dog is here.", "entailment"),
        ("A small dog runs.", "", "neutral"),
        ("Yes.", "", "neutral"),
        ("So.", "It is so.", "entailment"),
    ]
    with path.open("w") as file:
        for premise, hypothesis, label in rows:
            row = {"premise": premise, "hypothesis": hypothesis, "label": label}
            file.write(json.dumps(row) + "\n")
    status, said, err = run(capsys, "--onnx", model, "--test", path, "--json")
    assert (status, err) == (0, "")
    profile = json.loads(said)["profiles"][0]
    found = {test["test"]: test for test in profile["tests"]}
    assert profile["empty"] == ["numerical"]
    assert (found["negation"]["accuracy_n"], found["negation"]["changed"]) == (6, 3)
    assert found["antonym"]["items"] == 2
    status, said, _ = run(capsys, "--onnx", model, "--test", path, "--details")
    assert "numerical: no text could be changed." in said
    counted = "3 have nothing for it; 1 would only repeat what others give."
    assert f"antonym: made of 2 of 6 items; {counted}" in said


def test_a_file_of_one_column_of_texts(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts.csv").write_text(
        "text,label\nA dog runs.,neutral\nA cat.,entailment\nA man.,contradiction\n"
    )
    status, said, err = run(capsys, "--onnx", model, "--test", tmp_path / "texts.csv")
    assert (status, said) == (1, "")
    assert "needs two columns of texts, not 1: text" in err


def test_a_file_that_a_suite_reads_is_not_written_over(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problems = tmp_path / "problems.parquet"
    pq.write_table(pa.table({"text": ["Anna buys 12 apples in the shop."]}), problems)
    before = problems.read_bytes()
    suite = tmp_path / "suite.toml"
    suite.write_text('[tests]\nn = { name = "numerical", texts_from = "problems.parquet" }\n')
    status, said, err = run(
        capsys, "--onnx", model, "--test", texts, "--suite", suite, "--out", problems
    )
    assert (status, said) == (1, "")
    assert "would be overwritten while it is in use" in err
    assert problems.read_bytes() == before


def test_training_data_and_a_suite_without_antonyms(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite, out = tmp_path / "suite.toml", tmp_path / "answers.parquet"
    suite.write_text('[tests]\nno = "negation"\n')
    asked = ("--onnx", model, "--test", texts, "--suite", suite, "--train", texts, "--out", out)
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    line = "No row of these tests has antonyms to look for in the training data."
    assert said.count(line) == 1
    status, said, _ = run(capsys, out, "--train", texts)
    assert status == 0
    assert said.count(line) == 1


def test_columns_of_training_data_are_those_of_the_test_file(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pacsv.read_csv(texts).rename_columns(["one", "two", "label", "genre"])
    pacsv.write_csv(table, texts)
    out = tmp_path / "answers.parquet"
    asked = ("--onnx", model, "--test", texts, "--train", texts, "--text-columns", "one,two")
    status, said, err = run(capsys, *asked, "--out", out, "--details")
    assert (status, err) == (0, "")
    assert "easy and hard pairs of words" in said
    status, said, err = run(capsys, out, "--train", texts, "--details")
    assert (status, err) == (0, "")
    assert "easy and hard pairs of words" in said


@pytest.mark.slow
def test_options_of_a_test_that_is_added(
    model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    added = "swap,spelling:rules=paper,n_words=2,syn.careful"
    asked = ("--onnx", model, "--test", texts, "--json")
    status, said, err = run(
        capsys, *asked, "--with", added, "--with", "negation:times=2,rules=paper"
    )
    assert (status, err) == (0, "")
    profile = json.loads(said)["profiles"][0]
    names = [*profile["empty"], *(test["test"] for test in profile["tests"])]
    wanted = {"swap", "spelling:rules=paper,n_words=2", "syn.careful"}
    assert {*wanted, "negation:times=2,rules=paper"} <= set(names)
    status, _, err = run(capsys, *asked, "--with", "swap,n_words=2")
    assert status == 1
    assert "n_words=2" in err


@pytest.mark.slow
def test_every_models_remarks_are_printed_under_its_name(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = []
    for name, only in (("both", ()), ("half", ("--input", "hypothesis"))):
        logs.append(tmp_path / f"{name}.parquet")
        run(capsys, "--onnx", model, "--test", texts, *only, "--out", logs[-1])
    status, said, err = run(capsys, *logs, "--details")
    assert (status, err) == (0, "")
    line = "length-mismatch: changes no column that the model sees."
    assert f"half: {line}" in said
    assert f"both: {line}" not in said
    assert "both: antonym: made of " in said
    status, said, _ = run(capsys, *logs, "--json")
    profiles = json.loads(said)["profiles"]
    assert [profile["model"] for profile in profiles] == ["both", "half"]
    assert [profile["unseen"] for profile in profiles] == [[], ["length-mismatch"]]
    assert [profile["dropped"] for profile in profiles] == [{}, {}]
    # eval reads both as it reads one, in which the pairs of a test come from a single row.
    for paths in (logs[:1], logs):
        status, _, err = run(capsys, *paths, command="eval")
        assert status == 1
        assert "clusters has only one value" in err


def test_a_column_of_a_log_by_which_accuracies_are_parted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = {
        "item": [0, 1, 2, 3] * 2,
        "version": ["original"] * 4 + ["typos"] * 4,
        "correct": [True, True, False, True, False, True, False, True],
        "genre": ["travel", "fiction"] * 4,
    }
    pq.write_table(pa.table(table), tmp_path / "log.parquet")
    status, said, err = run(capsys, tmp_path / "log.parquet", "--by", "genre", "--json")
    assert (status, err) == (0, "")
    _, typos = json.loads(said)["profiles"][0]["tests"]
    assert {name: share["accuracy"] for name, share in typos["by_group"].items()} == {
        "fiction": 1.0, "travel": 0.0,
    }  # fmt: skip
    assert typos["comparison"]["p_value"] is not None


@pytest.mark.parametrize(
    ("reworded", "wrong", "verdict", "told"),
    [
        ("", "even", "undecided", ["No text was reworded", "6 texts that were left alone"]),
        ("odd", "even", "undecided", ["6 texts that were left alone have another outcome"]),
        ("", "", "undecided", ["No text was reworded: there is nothing to tell two versions by"]),
        ("even", "even", "differs", []),
        ("both", "even", "differs", []),
    ],
)
def test_texts_of_a_log_that_were_left_alone_are_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    reworded: str,
    wrong: str,
    verdict: str,
    told: list[str],
) -> None:
    rows = ["item,version,gold,predicted,premise,hypothesis"]
    for i in range(12):
        gold, kind = ("entailment", "neutral", "contradiction")[i % 3], ("even", "odd")[i % 2]
        answer = ("neutral", "contradiction", "entailment")[i % 3] if kind == wrong else gold
        text = f"a text {i}{' and true' if reworded in (kind, 'both') else ''}"
        rows += [f"{i},original,{gold},{gold},a text {i},x", f"{i},true,{gold},{answer},{text},x"]
    log = tmp_path / "log.csv"
    log.write_text("\n".join(rows) + "\n")
    status, said, err = run(capsys, log, "--fail-on-reject")
    assert (status, err) == (3 if wrong and reworded != "odd" else 0, "")
    _, *below = said.split("\n")  # behind the sentence, which names the test
    about = [line for line in below if line.startswith("true: ") and "discordant" not in line]
    assert bool(about) == bool(told)
    assert all(words in " ".join(said.split()) for words in told)
    (found,) = json.loads(run(capsys, log, "--json")[1])["profiles"]
    invariance = found["tests"][1]["comparison"]["invariance"]
    assert invariance["verdict"] == verdict
    same, evaluated, _ = run(capsys, log, "--fail-on-reject", "--json", command="eval")
    assert (same, json.loads(evaluated)["invariance"]) == (status, invariance)
    log.write_text("\n".join(rows + [row.replace(",true,", ",twice,") for row in rows[2::2]]))
    several = run(capsys, log, command="eval")[1].split("\n")
    several = [line for line in several if "discordant" not in line]
    assert sum(line.startswith(("true: ", "twice: ")) for line in several) == 2 * bool(told)
    page = tmp_path / "page.html"  # which asks the column ``changed``, not the texts
    marks = ["changed", *(int("true,x" in row) for row in rows[1:])]
    log.write_text("\n".join(f"{row},{mark}" for row, mark in zip(rows, marks, strict=True)))
    assert run(capsys, log, "--out", page, command="report")[0] == 0
    assert all(words in page.read_text() for words in told)
