"""``ietest-fast consistency`` on paraphrases from several sources, as a shell would call it."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from ietest_fast.cli.main import main
from reference import overlap_oracle as slow

if TYPE_CHECKING:
    from pathlib import Path

ITEMS = {"a": "A dog runs.", "b": "Nobody eats.", "c": "The cat is small.", "d": "A boy sits."}
REWORDED = {
    "human": {"a": ["Some dog is running about."], "b": ["Not a man eats.", "There is no eating."]},
    "automatic": {"a": ["A dog runs outside.", "The dog runs."], "b": ["Nobody eats in a park."]},
}
#: Of both sources: items c and d have one paraphrase of each.
for own in REWORDED.values():
    own |= {"c": ["The small cat."], "d": ["A kid sits."]}


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    return run_command(capsys, "consistency", *arguments)


def run_command(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(map(str, arguments)))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def write(path: Path, made: list[dict[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(made), path)
    else:
        pacsv.write_csv(pa.Table.from_pylist(made), path)
    return path


def texts(name: str) -> list[dict[str, Any]]:
    return [
        {"item": item, "premise": "It is day.", "hypothesis": text, "label": "neutral"}
        for item, original in ITEMS.items()
        for text in [original, *REWORDED[name][item]]
    ]


def answers(name: str, **columns: Any) -> list[dict[str, Any]]:
    """Answers that are right to the originals and to the paraphrases of people."""
    return [
        {
            "item": item,
            "version": f"p{place}" if place else "original",
            "text": text,
            "gold": "yes",
            "predicted": "yes" if place == 0 or name == "human" or item == "d" else "no",
            **columns,
        }
        for item, original in ITEMS.items()
        for place, text in enumerate([original, *REWORDED[name][item]])
    ]


@pytest.fixture
def logs(tmp_path: Path) -> list[str]:
    return [
        part
        for name in REWORDED
        for part in ("--source", f"{name}={write(tmp_path / f'{name}.csv', answers(name))}")
    ]


def test_items_that_are_numbers_in_one_source_and_texts_in_another_are_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = {name: place for place, name in enumerate(ITEMS)}
    given = []
    for name, kind in (("human", int), ("automatic", str)):
        made = [row | {"item": kind(numbers[row["item"]])} for row in answers(name)]
        given += ["--source", f"{name}={write(tmp_path / f'{name}.parquet', made)}"]
    status, said, err = run(capsys, *given, "-S", "100", "--json")
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    assert (profile["n_buckets"], profile["n_paraphrases"]) == (4, 10)
    assert profile["subsets"]["parts"]["automatic"]["accuracy_macro"] == 0.25


@pytest.mark.parametrize("how", ["same file", "copy", "other type of file", "texts for a model"])
def test_a_source_that_is_given_twice_is_refused(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = texts("human") if how == "texts for a model" else answers("human")
    end = "parquet" if how == "other type of file" else "csv"
    one = write(tmp_path / "one.csv", made)
    two = one if how == "same file" else write(tmp_path / f"two.{end}", made)
    asked = ["--source", f"h={one}", "--source", f"a={two}"]
    if how == "texts for a model":
        pytest.importorskip("onnx", reason="makes the model")
        from tiny_models import make_onnx_folder

        make_onnx_folder(tmp_path / "model")
        asked += ["--onnx", str(tmp_path / "model")]
    status, said, err = run(capsys, *asked, "-S", "50")
    assert (status, said) == (1, "")
    assert f"{two.name}: a holds the same rows as h" in err
    assert "give each source once" in err


@pytest.mark.parametrize(
    ("change", "is_said"),
    [
        (lambda rows: rows[::-1], True),
        (lambda rows: [row | {"note": "x"} for row in rows], True),
        (lambda rows: [row | {"note": ""} for row in rows[3:]], False),
        (lambda rows: [*rows[:-1], rows[-1] | {"version": "w1"}], False),
        (lambda rows: [*rows[:-1], rows[-1] | {"predicted": "no", "confidence": 0.25}], False),
        (lambda rows: [*rows[:-1], rows[-1] | {"confidence": 0.75}], False),
    ],
)
def test_sources_of_the_same_answers_are_said(
    change: Any, is_said: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [
        {"item": item, "version": version, "gold": "yes", "predicted": "yes", "confidence": 0.9}
        for item in "abcd"
        for version in ("original", "p0", "p1")
    ]
    given = [
        part
        for name, rows in (("h", made), ("a", change(made)))
        for part in ("--source", f"{name}={write(tmp_path / f'{name}.csv', rows)}")
    ]
    status, said, err = run(capsys, *given, "-S", "50", "--json")
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    warned = any("with the same answers throughout (8" in line for line in profile["warnings"])
    assert warned == is_said


@pytest.mark.slow
def test_answers_of_two_sources_are_compared(
    tmp_path: Path, logs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.parquet"
    asked = (*logs, "--by-diversity", "lexical-distance", "-S", "100")
    status, said, err = run(capsys, *asked, "--out", out, "--json")
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    assert (profile["n_buckets"], profile["n_paraphrases"]) == (4, 10)
    assert profile["accuracy_original"] == 1
    subsets = profile["subsets"]
    assert (subsets["column"], subsets["are_items"]) == ("source", False)
    assert {name: part["n_paraphrases"] for name, part in subsets["parts"].items()} == {
        "automatic": 5,
        "human": 5,
    }
    assert subsets["parts"]["human"]["accuracy_macro"] == 1
    assert subsets["parts"]["automatic"]["accuracy_macro"] == 0.25
    (pair,) = subsets["pairs"]
    assert (pair["n_buckets"], pair["accuracy_macro"]) == (4, -0.75)
    # Table 6: each source's own mean.
    means = {line["name"]: line for line in profile["diversity"]["means"]}
    for name, own in REWORDED.items():
        distances = [
            slow.bag_distance(slow.words_of(ITEMS[item]), slow.words_of(text))
            for item, reworded in own.items()
            for text in reworded
        ]
        assert means[name]["lexical_distance"] == pytest.approx(sum(distances) / len(distances))
    table = pq.read_table(out)
    assert table.num_rows == 14
    assert sorted(set(table["version"].to_pylist())) == [
        "automatic:p1",
        "automatic:p2",
        "human:p1",
        "human:p2",
        "original",
    ]
    status, again, err = run(capsys, out, "-S", "100", "--json")
    assert (status, err) == (0, "")
    assert json.loads(again)["profiles"] == [profile]
    status, said, err = run(capsys, *asked)
    assert "Consistency by source" in said
    assert "human" in said.split("Diversity of the paraphrases")[1]


def test_a_model_answers_paraphrases_of_two_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("onnx", reason="makes the model")
    from tiny_models import make_onnx_folder

    make_onnx_folder(tmp_path / "model")
    given = [
        part
        for name in REWORDED
        for part in ("--source", f"{name}={write(tmp_path / f'{name}.csv', texts(name))}")
    ]
    asked = ("--onnx", tmp_path / "model", *given, "-S", "50", "--json")
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    found = json.loads(said)
    # An original that both files have is answered once.
    assert found["inputs"] == 14
    (profile,) = found["profiles"]
    assert set(profile["subsets"]["parts"]) == {"human", "automatic"}
    assert profile["n_paraphrases"] == 10
    other = texts("automatic")
    other[0]["hypothesis"] = "A hound runs."
    write(tmp_path / "automatic.csv", other)
    status, said, err = run(capsys, *asked)
    assert (status, said) == (1, "")
    assert "automatic.csv, column 'hypothesis': the original of item 'a' has another" in err


@pytest.mark.slow
def test_items_without_a_row_in_any_source_are_counted_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each source lacks the labels of two items, of which they have one in common."""
    pytest.importorskip("onnx", reason="makes the model")
    from tiny_models import make_onnx_folder

    make_onnx_folder(tmp_path / "model")
    unlabelled = {"human": ("a", "e"), "automatic": ("b", "e")}
    given, answered = [], []
    for name, lacking in unlabelled.items():
        made = texts(name) + [
            {"item": "e", "premise": "It is day.", "hypothesis": text, "label": "neutral"}
            for text in ("A bird sings.", "One bird sings.")
        ]
        for row in made:
            row["label"] = "-" if row["item"] in lacking else row["label"]
        path = write(tmp_path / f"{name}.csv", made)
        given += ["--source", f"{name}={path}"]
        out = tmp_path / f"{name}.parquet"
        run(capsys, "--onnx", tmp_path / "model", "--test", path, "-S", "50", "--out", out)
        answered += ["--source", f"{name}={out}"]
    asked = ("--onnx", tmp_path / "model", *given, "-S", "50")
    status, said, err = run(capsys, *asked, "--json")
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    assert (profile["n_items"], profile["n_empty"]) == (4, 1)
    status, said, err = run(capsys, *asked)
    assert "1 item has no row that can be used." in said
    # Files of answers know how many they lack, not which; so nothing is added up.
    joined = tmp_path / "joined.parquet"
    status, said, err = run(capsys, *answered, "-S", "50", "--json", "--out", joined)
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    assert (profile["n_items"], profile["n_empty"]) == (4, None)
    for name in unlabelled:
        assert f"{name}: 2 items have no row that can be used." in profile["warnings"]
    status, again, err = run(capsys, joined, "-S", "50", "--json")
    assert (status, err) == (0, "")
    assert json.loads(again)["profiles"] == [profile]
    status, said, err = run(capsys, *answered, "-S", "50")
    assert (status, err) == (0, "")
    assert "human: 2 items have no row that can be used." in said
    status, said, err = run_command(
        capsys, "report", joined, "--out", tmp_path / "page.html", "--paper", tmp_path / "paper"
    )
    assert (status, err) == (0, "")


def test_an_item_with_mixed_labels_is_left_out_of_all_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The labels of item a differ in the one source, those of item b between the sources."""
    pytest.importorskip("onnx", reason="makes the model")
    from tiny_models import make_onnx_folder

    make_onnx_folder(tmp_path / "model")
    made = {name: [row | {"version": None} for row in texts(name)] for name in REWORDED}
    for rows in made.values():
        for place, row in enumerate(rows):
            is_first = row["item"] not in {each["item"] for each in rows[:place]}
            row["version"] = "original" if is_first else f"p{place}"
    made["human"][1]["label"] = "entailment"
    assert made["human"][1]["item"] == "a"
    made["automatic"] = [
        row | ({"label": "entailment"} if row["item"] == "b" else {})
        for row in made["automatic"]
        if (row["item"], row["version"]) != ("b", "original")
    ]
    given = [
        part
        for name, rows in made.items()
        for part in ("--source", f"{name}={write(tmp_path / f'{name}.csv', rows)}")
    ]
    asked = ("--onnx", tmp_path / "model", *given, "--drop-mixed", "-S", "50")
    status, said, err = run(capsys, *asked, "--json")
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    assert (profile["n_items"], profile["n_mixed"], profile["n_empty"]) == (2, 2, 0)
    status, said, err = run(capsys, *asked)
    assert "2 items left out: their wordings have different gold labels." in said


@pytest.mark.slow
def test_paraphrases_that_were_asked_for_are_added_over_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("onnx", reason="makes the model")
    from tiny_models import make_onnx_folder

    make_onnx_folder(tmp_path / "model")
    given_texts = ("He often bought a large couch.", "He sat on the couch.", "It rains.") * 2
    labelled = [
        {"item": item, "premise": "It is so.", "hypothesis": text, "label": "neutral"}
        for item, text in zip("uvwxyz", given_texts, strict=True)
    ]
    test = write(tmp_path / "test.csv", labelled)
    given = []
    for name, draws in (("few", 2), ("more", 3)):
        out = tmp_path / f"{name}.parquet"
        made = ("--phi", "syn.careful", "--draws", draws, "--item-column", "item", "--out", out)
        status, said, err = run(capsys, "--onnx", tmp_path / "model", "--test", test, *made)
        assert (status, err) == (0, "")
        given += ["--source", f"{name}={out}"]
    joined = tmp_path / "joined.parquet"
    status, said, err = run(capsys, *given, "-S", "50", "--json", "--out", joined)
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    assert profile["n_wanted"] == 5
    rows = pq.read_table(joined).to_pylist()
    sizes = Counter(row["item"] for row in rows if row["version"] != "original")
    counts = Counter(sizes[item] for item in "uvwxyz")
    assert profile["items_by_paraphrases"] == [counts[n] for n in range(6)]
    assert any("5 paraphrases that were asked for" in line for line in profile["warnings"]) == (
        2 * counts[5] < 6
    )
    # Of a source that was not made here, it is not known how many were wanted.
    texts_of = ("item", "version", "premise", "hypothesis")
    read = write(
        tmp_path / "read.csv",
        [{name: row[name] for name in texts_of} | {"label": row["gold"]} for row in rows],
    )
    plain = tmp_path / "plain.parquet"
    asked = ("--onnx", tmp_path / "model", "--test", read, "-S", "50", "--out", plain)
    assert run(capsys, *asked)[0] == 0
    for order in ((0, 1), (1, 0)):
        both = [given[:2], ["--source", f"plain={plain}"]]
        mixed = [part for place in order for part in both[place]]
        status, said, err = run(capsys, *mixed, "-S", "50", "--json")
        assert (status, err) == (0, "")
        (profile,) = json.loads(said)["profiles"]
        assert profile["n_wanted"] is None


@pytest.mark.slow
def test_published_results_are_no_two_sources(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = shared / "data" / "paranlu" / "results" / "snli_human_d-snli-bilstm.json.gz"
    status, said, err = run(capsys, "--source", f"one={log}", "--source", f"two={log}", "-S", "50")
    assert (status, said) == (1, "")
    assert "two holds the same rows as one" in err


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda row: row.update(source="x"), "column 'source': is there already"),
        (lambda row: row.update(predicted="no"), "has another predicted than in"),
        (lambda row: row.update(gold="no"), "has another gold than in"),
        (lambda row: row.update(model="m"), "has answers of other classifiers"),
        (lambda row: row.pop("version"), "holds no answers to wordings"),
    ],
)
def test_files_that_do_not_go_together(
    *,
    tmp_path: Path,
    logs: list[str],
    change: Any,
    expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = answers("automatic")
    for row in made:
        change(row)
    write(tmp_path / "automatic.csv", made)
    status, said, err = run(capsys, *logs, "-S", "50")
    assert (status, said) == (1, "")
    assert expected in " ".join(err.split())
    assert "automatic.csv" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--source", "a=LOG"], "needs two sources or more"),
        (["--source", "a=LOG", "--source", "a=LOG"], "with different names"),
        (["--source", "LOG", "--source", "a=LOG"], "is not a name and a file"),
        (["--source", "original=LOG", "--source", "a=LOG"], "is what originals are called"),
        (["LOG", "--source", "b=LOG", "--source", "a=LOG"], "takes the place of --test and"),
        (["--source", "b=LOG", "--source", "a=LOG", "--reader", "table"], "of other programs"),
        (["--source", "b=LOG", "--source", "a=LOG", "--phi", "swap"], "--source has them"),
    ],
)
def test_what_is_asked_wrongly_is_said(
    tmp_path: Path, arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(tmp_path / "log.csv", answers("human"))
    status, said, err = run(capsys, *(each.replace("LOG", str(log)) for each in arguments))
    assert (status, said) == (2, "")
    assert expected in " ".join(err.split())
