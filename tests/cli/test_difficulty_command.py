"""``ietest-fast difficulty`` as a shell would call it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import ietest_fast as ie
from ietest_fast.analyses.difficulty.aflite import draw_training_part
from ietest_fast.cli.main import main
from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from reference.aflite_oracle import filter_slowly

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Of AFLite, for few items.
FEW = ("--train-size", "20", "--classifiers", "8", "--slice-size", "4", "--tau", "0.75")


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(map(str, arguments)))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def rows(n: int = 60) -> list[dict[str, Any]]:
    """Two thirds have a word that tells the label; the others none."""
    rng = np.random.default_rng(2)
    made = []
    for number in range(n):
        label = int(rng.integers(2))
        told = ("nobody", "somebody")[label] if number % 3 else "who"
        other = rng.choice(["red", "blue", "green", "old"])
        made.append(
            {
                "item": f"i{number}",
                "text": f"{told} sees a {other} dog.",
                "label": ("no", "yes")[label],
                "kind": "told" if number % 3 else "untold",
            }
        )
    return made


def write(path: Path, made: list[dict[str, Any]]) -> Path:
    table = pa.Table.from_pylist(made)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in made))
    else:
        pacsv.write_csv(table, path)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    return list(pacsv.read_csv(path).to_pylist())


@pytest.mark.parametrize("name", ["marked.parquet", "marked.csv", "marked.jsonl"])
def test_items_that_a_word_tells_are_easy(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / name
    source = write(tmp_path / f"in{out.suffix}", rows())
    status, said, err = run(capsys, "difficulty", source, "--out", out, *FEW, "--json")
    assert (status, err) == (0, "")
    found = json.loads(said)
    assert (found["items"], found["rows"], found["unmarked_rows"]) == (60, 60, 0)
    assert found["easy"] + found["difficult"] == 60
    assert (found["tau"], found["train_size"], found["slice_size"]) == (0.75, 20, 4)
    assert sum(each["n_removed"] for each in found["rounds"]) == 60 - found["left"]
    made = read(out)
    assert [{name: row[name] for name in rows()[0]} for row in made] == rows()
    for row in made:
        assert row["difficulty"] == ("easy" if row["aflite_score"] > 0.75 else "difficult")
    scores = {
        kind: np.mean([row["aflite_score"] for row in made if row["kind"] == kind])
        for kind in ("told", "untold")
    }
    assert scores["told"] > 0.9
    assert scores["untold"] < 0.7
    status, said, err = run(capsys, "difficulty", source, *FEW)
    assert (status, err) == (0, "")
    for words in ("Rounds of adversarial filtering", "accuracy %", "Items by difficulty", "easy"):
        assert words in said


def vectors(n: int = 60) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(3)
    signs = np.array([1 if row["label"] == "yes" else -1 for row in rows(n)])
    return rng.normal(size=(n, 3)) + signs[:, None] * np.array([1.0, 0, 0])


@pytest.mark.parametrize("kind", ["npy", "list", "fixed"])
def test_vectors_give_the_marks_of_the_slow_filter(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, values = write(tmp_path / "in.csv", rows()), vectors()
    path = tmp_path / ("vectors.npy" if kind == "npy" else "vectors.parquet")
    if kind == "npy":
        np.save(path, values)
    else:
        width = pa.list_(pa.float64(), 3 if kind == "fixed" else -1)
        column = pa.array(values.tolist(), width)
        pq.write_table(pa.table({"n": [1] * 60, "embedding": column}), path)
    out = tmp_path / "out.parquet"
    asked = ("difficulty", source, "--out", out, "--embeddings", path, *FEW, "--seed", "5")
    status, said, err = run(capsys, *asked, "--json")
    assert (status, err) == (0, "")
    assert json.loads(said)["features"] == 3
    labels = np.array([("no", "yes").index(row["label"]) for row in rows()])
    key = philox_key(5)

    def draw_part(left: Any, number: int, classifier: int) -> Any:
        return draw_training_part(
            len(left), None, n_train=20, key=key, number=number, classifier=classifier
        )

    slow, _ = filter_slowly(
        values,
        labels,
        draw_part,
        n_train=20,
        n_classifiers=8,
        tau=0.75,
        slice_size=4,
        target=0,
    )
    assert [row["aflite_score"] for row in read(out)] == pytest.approx(slow)


@pytest.mark.slow
def test_the_output_goes_into_consistency(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log of answers to paraphrases: each item is marked by its original alone."""
    made = []
    for number, row in enumerate(rows()):
        for version in ("original", "p1", "p2"):
            right = row["kind"] == "told" or version != "p2"
            wrong = {"no": "yes", "yes": "no"}[row["label"]]
            made.append(
                {
                    "item": row["item"],
                    "version": version,
                    # Nothing in the paraphrases tells the label.
                    "text": row["text"] if version == "original" else f"{version} {number}",
                    "gold": row["label"],
                    "predicted": row["label"] if right else wrong,
                }
            )
    made.reverse()  # originals come last in their item
    source, out = write(tmp_path / "log.parquet", made), tmp_path / "marked.parquet"
    status, said, err = run(capsys, "difficulty", source, "--out", out, *FEW)
    assert (status, err) == (0, "")
    assert "180 wordings of 60 items" in said
    of_item: dict[str, set[str]] = {}
    for row in read(out):
        of_item.setdefault(row["item"], set()).add(row["difficulty"])
    assert all(len(own) == 1 for own in of_item.values())
    alone = tmp_path / "alone.parquet"
    originals = [row for row in made if row["version"] == "original"]
    only = write(tmp_path / "only.parquet", originals)
    status, said, err = run(capsys, "difficulty", only, "--out", alone, *FEW)
    wanted = {row["item"]: row["difficulty"] for row in read(alone)}
    assert {item: next(iter(own)) for item, own in of_item.items()} == wanted
    asked = ("consistency", out, "--subset", "difficulty", "-S", "100", "--json")
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    found = json.loads(said)["profiles"][0]["subsets"]
    assert found["are_items"] is True
    assert list(found["parts"]) == ["difficult", "easy"]
    assert found["parts"]["easy"]["p_c"] > found["parts"]["difficult"]["p_c"]


def exchange(row: dict[str, Any]) -> dict[str, Any]:
    other = {"easy": "difficult", "difficult": "easy", None: None}
    return {**row, "difficulty": other[row["difficulty"]]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row, None),
        (exchange, "is easy with an aflite_score of"),
        (lambda row: {**row, "aflite_score": row["aflite_score"] + 0.7}, "a score from 0 to 1"),
        (lambda row: {**row, "aflite_score": None}, "aflite_score': is null, where difficulty is"),
        (lambda row: {**row, "difficulty": {"easy": "e"}.get(row["difficulty"], "d")}, None),
        (lambda row: {**exchange(row), "aflite_score": 0.75}, None),
        (lambda row: {k: v for k, v in exchange(row).items() if k != "aflite_score"}, None),
    ],
)
@pytest.mark.parametrize("name", ["answers.parquet", "answers.csv", "texts.csv", "texts in memory"])
def test_marks_that_contradict_their_scores_are_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    said: str | None,
) -> None:
    made = [{**row, "version": name} for row in rows() for name in ("original", "p", "q")]
    out = tmp_path / "marked.parquet"
    assert (
        run(capsys, "difficulty", write(tmp_path / "in.parquet", made), "--out", out, *FEW)[0] == 0
    )
    marked = [change(row) for row in read(out)]
    if name.startswith("texts"):
        data = pa.Table.from_pylist(marked)
        data = data if name == "texts in memory" else write(tmp_path / name, marked)
        ask: Any = lambda: ie.consistency(  # noqa: E731
            lambda texts: ["no"] * len(texts), data, labels=["no", "yes"], subset="difficulty",
            n_resamples=99,
        )  # fmt: skip
        if said is None:
            assert ask().subsets is not None
        else:
            with pytest.raises(InputError, match=said):
                ask()
        return
    for row in marked:
        row |= {"gold": row.pop("label"), "predicted": "no"}
    path = write(tmp_path / name, marked)
    status, _, err = run(capsys, "consistency", path, "--subset", "difficulty", "-S", "99")
    assert (status, err if said is None else said in err) == (
        (0, "") if said is None else (1, True)
    )


def test_answers_keep_what_they_say_of_themselves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [
        {**row, "version": version, "gold": row["label"], "predicted": "yes"}
        for row in rows()
        for version in ("original", "p")
    ]
    for row in made:
        del row["label"]
    source = write(tmp_path / "log.csv", made)
    first, out = tmp_path / "first.parquet", tmp_path / "out.parquet"
    run(capsys, "consistency", source, "--subset", "kind", "--out", first, "-S", "50")
    status, _, err = run(capsys, "difficulty", first, "--out", out, *FEW)
    assert (status, err) == (0, "")
    before, after = (pq.read_schema(path).metadata for path in (first, out))
    assert before == after
    status, said, err = run(capsys, "consistency", out, "-S", "50", "--json")
    assert (status, err) == (0, "")
    assert json.loads(said)["profiles"][0]["subsets"]["column"] == "kind"


def test_rows_without_a_label_are_not_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = rows()
    made[5]["label"] = None
    del made[0]["item"]
    for row in made[1:]:
        del row["item"]
    source, out = write(tmp_path / "in.jsonl", made), tmp_path / "out.parquet"
    status, said, err = run(capsys, "difficulty", source, "--out", out, *FEW)
    assert (status, err) == (0, "")
    assert "1 row without a gold label is not marked." in said
    marked = read(out)
    assert (marked[5]["difficulty"], marked[5]["aflite_score"]) == (None, None)
    assert all(row["difficulty"] for place, row in enumerate(marked) if place != 5)


def test_items_without_a_score_are_not_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = write(tmp_path / "in.csv", rows()), tmp_path / "out.parquet"
    asked = ("difficulty", source, "--out", out, "--classifiers", "2", "--train-size", "50")
    status, said, err = run(capsys, *asked, "--json")
    assert (status, err) == (0, "")
    found, marked = json.loads(said), read(out)
    n_none = sum(row["aflite_score"] is None for row in marked)
    assert found["without_score"] == n_none > 0
    assert found["easy"] + found["difficult"] + n_none == 60
    assert [row["difficulty"] is None for row in marked] == [
        row["aflite_score"] is None for row in marked
    ]
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    assert f"{n_none} items have no score" in said
    assert "without a score" in said.partition("Items by difficulty")[2]


@pytest.mark.slow
def test_groups_stay_together_and_defaults_follow_the_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [{**row, "source": f"s{number // 2}"} for number, row in enumerate(rows(80))]
    source = write(tmp_path / "in.csv", made)
    asked = ("difficulty", source, "--classifiers", "4", "--json")
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    found = json.loads(said)
    assert (found["train_size"], found["slice_size"]) == (40, 2)
    status, grouped, err = run(capsys, *asked, "--groups", "source")
    assert (status, err) == (0, "")
    assert json.loads(grouped)["rounds"] != found["rounds"]
    status, again, err = run(capsys, *asked, "--groups", "source", "--threads", "1")
    assert again == grouped


@pytest.mark.parametrize("style", ["bert", "xlnet"])  # xlnet is padded on the left
def test_an_encoder_gives_the_vectors(
    tmp_path: Path, style: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("onnx", reason="makes the model")
    from ietest_fast.models.sense import embed_texts
    from tiny_models import make_onnx_folder, make_tokenizer

    weights = make_onnx_folder(
        tmp_path / "encoder", style=style, each_token="last_hidden_state", rank=3
    )
    texts = ["a dog sleeps", "the small boy runs in the park", "nobody", "a girl eats"]
    others = ["the dog is not red", "a kid", "somebody sits", ""]
    tokenizer = make_tokenizer(style)
    found = embed_texts(
        tmp_path / "encoder", [pa.chunked_array([texts]), pa.chunked_array([others])]
    )
    for place, pair in enumerate(zip(texts, others, strict=True)):
        # The model gives each token its weights and the sum of all.
        own = weights[tokenizer.encode(*pair).ids]
        assert found[place] == pytest.approx(own.mean(axis=0) + own.sum(axis=0), abs=1e-4)
    made = [
        {"text": f"{texts[number % 4]} {row['text']}", "label": row["label"]}
        for number, row in enumerate(rows())
    ]
    source = write(tmp_path / "in.csv", made)
    asked = ("difficulty", source, "--encoder", tmp_path / "encoder", *FEW, "--json")
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    assert json.loads(said)["features"] == weights.shape[1]
    # The same vectors from a file give the same marks.
    values = embed_texts(tmp_path / "encoder", [pa.chunked_array([[row["text"] for row in made]])])
    np.save(tmp_path / "v.npy", values)
    asked = ("difficulty", source, "--embeddings", tmp_path / "v.npy", *FEW, "--json")
    again = json.loads(run(capsys, *asked)[1])
    assert again == json.loads(said) | {"text_columns": []}


def test_classifiers_that_were_not_fitted_to_the_end_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, path = write(tmp_path / "in.csv", rows()), tmp_path / "vectors.npy"
    for values, is_told in (
        (vectors(), False),
        (vectors() * [1e-4, 1.0, 1e6] + [0.01, 100.0, 1e7], True),
        (vectors() * 1e48, True),  # large, and no warning of NumPy's
    ):
        np.save(path, values)
        status, said, err = run(capsys, "difficulty", source, "--embeddings", path, *FEW)
        assert (status, err) == (0, "")
        assert ("not fitted to the end" in said) == is_told


def damage(name: str, path: Path) -> Path:
    """Write vectors that cannot be used."""
    values = vectors()
    if name == "short":
        np.save(path, values[:50])
    elif name == "flat":
        np.save(path, values[:, 0])
    elif name == "nan":
        values[7, 1] = np.nan
        np.save(path, values)
    elif name in {"1e308", "-1e51"}:
        values[7, 1] = float(name)
        np.save(path, values)
    elif name == "objects":
        np.save(path, np.array([{}] * 60, dtype=object), allow_pickle=True)
    elif name == "text":
        path.write_text("no vectors")
    return path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("short", "has 50 vectors, but"),
        ("flat", "has the shape 60; a vector for each row expected"),
        ("nan", "row 7: 1 vector has a number that is missing, infinite or beyond 1e"),
        ("1e308", "row 7: 1 vector has a number that is missing, infinite or beyond 1e"),
        ("-1e51", "row 7: 1 vector has a number that is missing, infinite or beyond 1e"),
        ("objects", "holds Python objects (a pickle)"),
        ("text", "is no array of NumPy's"),
        ("none", "no such file"),
    ],
)
def test_vectors_that_cannot_be_used(
    tmp_path: Path, name: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.csv", rows())
    path = damage(name, tmp_path / "vectors.npy")
    status, said, err = run(capsys, "difficulty", source, "--embeddings", path, *FEW)
    assert (status, said) == (1, "")
    assert expected in " ".join(err.split())
    assert "vectors.npy" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("table", "arguments", "expected"),
    [
        ({"a": [1.0] * 60}, [], "has 0 columns of lists of numbers"),
        ({"a": [[1.0]] * 60, "b": [[1.0]] * 60}, [], "has 2 columns of lists of numbers"),
        ({"a": [[1.0]] * 59 + [None]}, [], "1 vectors are missing"),
        ({"a": [[1.0, 2.0]] * 59 + [[1.0]]}, [], "row 59, column 'a': 1 vectors are shorter"),
        ({"a": [1.0] * 60}, ["--embedding-column", "a"], "lists of numbers expected"),
        ({"a": [[1.0]] * 60}, ["--embedding-column", "b"], "there is no such column"),
    ],
)
def test_tables_of_vectors_that_cannot_be_used(
    tmp_path: Path,
    table: dict[str, Any],
    arguments: list[str],
    expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source, path = write(tmp_path / "in.csv", rows()), tmp_path / "vectors.parquet"
    pq.write_table(pa.table(table), path)
    asked = ("difficulty", source, "--embeddings", path, *FEW)
    status, said, err = run(capsys, *asked, *arguments)
    assert (status, said) == (1, "")
    assert expected in " ".join(err.split())
    assert "vectors.parquet" in err


@pytest.mark.parametrize(
    ("change", "arguments", "expected"),
    [
        (lambda row: row.update(label="yes"), [], (1, "all are the same")),
        (lambda row: row.update(difficulty="hard"), [], (1, "is there already; rename it")),
        (lambda row: row.pop("label"), [], (1, "label")),
        (lambda row: row.pop("text"), [], (1, "there are no columns premise and hypothesis")),
        (lambda row: row.update(item=None), [], (1, "every wording needs its item")),
        (lambda row: row.update(item="i1"), [], (1, "1 item has wordings with different gold lab")),
        (
            lambda row: row.update(item=int(row["item"][1:]) // 2, version="t"),
            [],
            (1, "none that is called 'original' in a column version: '0' has "),
        ),
        (lambda row: None, ["--train-size", "60"], (1, "n_train (--train-size): must be")),
        (lambda row: None, ["--target-size", "60"], (1, "less than the number of items, 60")),
        (lambda row: row.update(g="all"), ["--groups", "g"], (1, "no item has a score")),
        (lambda row: None, ["--groups", "who"], (1, "who")),
        (lambda row: row.update(text="one dog"), [], (1, "features: all items have the same")),
        (
            lambda row: row.update(hypothesis=row["text"], premise="the same"),
            ["--input", "premise"],
            (1, "features: all items have the same"),
        ),
        (lambda row: None, ["--item-column", "who"], (1, "who")),
        (lambda row: None, ["--input", "who"], (1, "who")),
        (lambda row: None, ["--min-texts", "100"], (1, "no word stands in 100 texts")),
        (lambda row: None, ["--tau", "0"], (2, "--tau")),
        (lambda row: None, ["--tau", "1.5"], (2, "--tau")),
        (lambda row: None, ["--slice-size", "0"], (2, "--slice-size")),
        (lambda row: None, ["--classifiers", "0"], (2, "--classifiers")),
        (lambda row: None, ["--embedding-column", "a"], (2, "needs --embeddings")),
        (lambda row: None, ["--encoder", "x", "--embeddings", "y"], (2, "not both")),
        (lambda row: None, ["--encoder", "x", "--min-texts", "3"], (2, "is for words")),
        (lambda row: None, ["--embeddings", "x", "--input", "text"], (2, "--input is for texts")),
        (
            lambda row: None,
            ["--embeddings", "x", "--text-columns", "text"],
            (2, "--text-columns is for texts"),
        ),
        (lambda row: None, ["--encoder", "none.onnx"], (1, "none.onnx")),
        (lambda row: None, ["--out", "IN"], (1, "would be overwritten")),
        (lambda row: None, ["--out", "out.docx"], (1, "out.docx")),
    ],
)
def test_what_is_asked_wrongly_is_said(
    tmp_path: Path,
    change: Any,
    arguments: list[str],
    expected: tuple[int, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = rows()
    for row in made:
        change(row)
    source = write(tmp_path / "in.jsonl", made)
    before = source.read_bytes()
    options = [str(source) if each == "IN" else each for each in arguments]
    few = FEW if "--train-size" not in options else FEW[2:]
    few = few if "--slice-size" not in options else FEW[:4]
    status, said, err = run(capsys, "difficulty", source, *few, *options)
    assert (status, said) == (expected[0], "")
    assert expected[1] in " ".join(err.split())
    assert "Traceback" not in err
    assert source.read_bytes() == before


@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
@pytest.mark.parametrize("missing", [None, "", "  ", "NaN", "none"])
def test_an_item_without_a_group_is_named(
    tmp_path: Path, name: str, missing: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    made = rows()
    for number, row in enumerate(made):
        row["kind"] = missing if number in {7, 9} else f"g{number // 2}"
    source = write(tmp_path / name, made)
    status, _, err = run(capsys, "difficulty", source, *FEW, "--groups", "kind")
    if missing == "none":
        assert (status, err) == (0, "")
        return
    assert status == 1
    assert err.startswith(f"Error: {source}, row 7, column 'kind': 2 items belong to no group")


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said, err = run(capsys, "difficulty", tmp_path / "none.csv")
    assert (status, said) == (1, "")
    assert "none.csv: no such file" in err


def test_vectors_need_no_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = rows()
    path = tmp_path / "vectors.npy"
    np.save(path, np.random.default_rng(1).normal(size=(len(made), 3)))
    with_texts = write(tmp_path / "texts.jsonl", made)
    without = write(tmp_path / "labels.jsonl", [{"label": row["label"]} for row in made])
    found = []
    for source in (with_texts, without):
        asked = ("difficulty", source, "--embeddings", path, *FEW, "--json")
        status, said, err = run(capsys, *asked)
        assert (status, err) == (0, "")
        found.append(json.loads(said))
    assert found[0]["rounds"] == found[1]["rounds"]
    assert found[1]["text_columns"] == []


def test_vectors_whose_ids_are_in_another_order_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "texts.csv", rows())
    ids = [row["item"] for row in rows()]
    vectors = pa.array(np.random.default_rng(0).normal(size=(60, 3)).tolist())
    path = tmp_path / "v.parquet"
    pq.write_table(pa.table({"item": ids[::-1], "vector": vectors}), path)
    status, said, err = run(capsys, "difficulty", source, "--embeddings", path, *FEW)
    assert (status, said) == (1, "")
    assert "v.parquet, row 0, column 'item': has values of" in err
    assert "bring both into one order" in err
    pq.write_table(pa.table({"item": ids, "vector": vectors}), path)
    assert run(capsys, "difficulty", source, "--embeddings", path, *FEW)[0] == 0


def test_vectors_in_another_order_by_the_index_of_pandas_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame(rows())
    frame.to_parquet(tmp_path / "texts.parquet")
    vectors = pd.DataFrame({"v": np.random.default_rng(0).normal(size=(60, 3)).tolist()})
    for name, own in (("v", vectors), ("w", vectors.sample(frac=1, random_state=3))):
        own.to_parquet(tmp_path / f"{name}.parquet")
        asked = (tmp_path / "texts.parquet", "--embeddings", tmp_path / f"{name}.parquet")
        status, _, err = run(capsys, "difficulty", *asked, *FEW)
        assert status == (name == "w"), err
        assert ("column '__index_level_0__': has values of" in err) == (name == "w")


@pytest.mark.parametrize(
    ("name", "change", "status"),
    [
        ("label", lambda values: values[::-1], 1),
        ("gold_label", lambda values: [*values[:-1], values[0]], 1),
        ("gold", lambda values: [*values[:-1], values[0]], 1),
        ("y_true", lambda values: values[::-1], 1),
        ("label", lambda values: [each.upper() for each in values], 0),
        ("gold_label", lambda values: [None, "-", *values[2:]], 0),
        ("label", lambda values: [f"topic {i}" for i in range(len(values))], 0),
        ("label", lambda values: [("yes", "no").index(each) for each in values], 0),
        ("label", lambda values: [str(("no", "yes").index(each)) for each in values], 0),
        ("label", lambda values: [("no", "yes").index(each) for each in reversed(values)], 1),
        ("label", lambda values: [i % 7 for i in range(len(values))], 0),
        ("other", lambda values: values[::-1], 0),
        ("text", lambda values: [f"x {each}" for each in values], 1),
        ("text", lambda values: [*values[:-1], "another text"], 1),
        ("text", lambda values: [f" {each}" for each in values[:-1]] + [None], 0),
        ("id", lambda values: [f"z{each}" for each in values], 1),
        ("id", lambda values: values, 0),
    ],
)
def test_vectors_of_other_rows_are_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    change: Callable[[list[str]], list[str | None]],
    status: int,
) -> None:
    originals = [row | {"id": f"q{place}"} for place, row in enumerate(rows())]
    source = write(tmp_path / "texts.csv", originals)
    of = name if name in originals[0] else "label"
    values = change([row[of] for row in originals])
    vectors = pa.array(np.random.default_rng(0).normal(size=(60, 3)).tolist())
    pq.write_table(pa.table({name: values, "vector": vectors}), tmp_path / "v.parquet")
    found, _, err = run(capsys, "difficulty", source, "--embeddings", tmp_path / "v.parquet", *FEW)
    assert found == status, err
    if status:
        assert f"column '{name}': is " in err
        assert "give the vectors of these rows in their order" in err


@pytest.mark.parametrize(("versions", "status"), [(("original", "p1"), 0), (("original",) * 2, 1)])
def test_an_item_has_one_original(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], versions: tuple[str, str], status: int
) -> None:
    made = [
        row | {"version": version, "label": label, "text": f"{row['text']} {place}"}
        for row in rows(40)
        for place, (version, label) in enumerate(zip(versions, (row["label"], "no"), strict=True))
    ]
    found, _, err = run(capsys, "difficulty", write(tmp_path / "w.csv", made), *FEW)
    assert found == status, err
    if status:
        assert "column 'item': 40 ids occur more than once, such as 'i0' (rows 0 and 1)" in err
        assert "give each item one original" in err
