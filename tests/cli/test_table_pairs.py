"""From ``transform`` over predictions in two tables to a verdict; from logs to a page."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ietest_fast as ie
from command_line import run_here

LOGS = Path(__file__).parents[1] / "data" / "logs"
NAMES = ("entailment", "neutral", "contradiction")
TEXTS = ("premise", "hypothesis")

Rows = list[dict[str, Any]]


def write(path: Path, rows: Rows, *, without: Sequence[str] = ()) -> Path:
    rows = [{k: v for k, v in row.items() if k not in without} for row in rows]
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            mark = "\t" if path.suffix == ".tsv" else ","
            writer = csv.DictWriter(file, list(rows[0]), delimiter=mark, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return path


def read(path: Path) -> Rows:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    with path.open(newline="") as file:
        rows: Rows = list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
    return [row | {"changed": {"true": True, "false": False}[row["changed"]]} for row in rows]


def answer(rows: Rows, seed: int, *, worse_on: Sequence[bool] | None = None) -> Rows:
    """Add predictions: four of five right, and one of two on some rows of a second version."""
    draw = random.Random(seed)
    found = []
    for i, row in enumerate(rows):
        share = 0.5 if worse_on is not None and worse_on[i] else 0.8
        kept = worse_on is None or worse_on[i] or "prediction" not in row
        said = row["label"] if draw.random() < share else draw.choice(NAMES)
        found.append({**row, "prediction": said if kept else row["prediction"]})
    return found


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Rows, Rows]:
    """A test set and what ``transform`` has made of it, both with predictions."""
    folder = tmp_path_factory.mktemp("csv")
    draw = random.Random(1)
    rows = [
        {
            "premise": f"A {draw.choice(['woman', 'sheep', 'horse', 'crowd'])} passed number {i}.",
            "hypothesis": f"It is {draw.choice(['big', 'late', 'green'])}.",
            "label": draw.choice(NAMES),
        }
        for i in range(240)
    ]
    source = write(folder / "t.csv", rows)
    status, _, err = run_here(
        "transform", source, "r.csv", "--phi", "words:mapping=w.csv", folder=prepare(folder)
    )
    assert status == 0, err
    made = read(folder / "r.csv")
    first = answer(rows, 2)
    both = [{**row, "prediction": old["prediction"]} for row, old in zip(made, first, strict=True)]
    return first, answer(both, 3, worse_on=[row["changed"] for row in made])


def prepare(folder: Path) -> Path:
    (folder / "w.csv").write_text("old,new\nwoman,lady\nbig,large\n")
    return folder


def expected(first: Rows, second: Rows) -> tuple[list[int], int]:
    """Four counts and the number of flips on the reworded rows, counted here."""
    counts, flips = [0, 0, 0, 0], 0
    for old, new in zip(first, second, strict=True):
        if all(old[name] == new[name] for name in TEXTS):
            continue
        right = old["prediction"] == old["label"], new["prediction"] == new["label"]
        counts[{(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}[right]] += 1
        flips += old["prediction"] != new["prediction"]
    return counts, flips


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("of_first", "of_second"),
    [
        ((), ("changed",)),  # the texts of both
        (TEXTS, ()),  # the column of the second alone
        (TEXTS, TEXTS),  # the same, without texts
        ("hypothesis", ()),  # texts that are not the same ones
    ],
    ids=["texts", "column", "column-alone", "half"],
)
def test_the_reworded_rows_are_judged(
    versions: tuple[Rows, Rows],
    ending: str,
    of_first: Sequence[str],
    of_second: Sequence[str],
    tmp_path: Path,
) -> None:
    first, second = versions
    drop = (of_first,) if isinstance(of_first, str) else of_first
    a = write(tmp_path / f"a.{ending}", first, without=drop)
    b = write(tmp_path / f"b.{ending}", second, without=of_second)
    status, out, err = run_here("eval", a, b, "--json", folder=tmp_path)
    assert status == 0, err
    found = json.loads(out)["invariance"]
    counts, flips = expected(first, second)
    assert 0 < found["n_reworded"] == sum(counts) < len(first)
    assert [found["equivalence"][name] for name in ("n11", "n10", "n01", "n00")] == counts
    assert found["flips"]["n_flipped"] == flips
    own = ie.read_predictions(a, b).pairs("transformed").reworded()
    assert own is not None
    assert own.tolist() == [row["changed"] for row in second]


def test_one_table_or_the_first_may_have_the_column(
    versions: tuple[Rows, Rows], tmp_path: Path
) -> None:
    first, second = versions
    marks = [row["changed"] for row in second]
    plain = write(tmp_path / "b.csv", second, without=(*TEXTS, "changed"))
    a = write(
        tmp_path / "a.csv",
        [{**row, "changed": int(mark)} for row, mark in zip(first, marks, strict=True)],
        without=TEXTS,
    )
    wide = [
        {
            "label": old["label"],
            "original": old["prediction"],
            "transformed": new["prediction"],
            "changed": str(new["changed"]).lower(),
        }
        for old, new in zip(first, second, strict=True)
    ]
    for logs in ([a, plain], [write(tmp_path / "wide.csv", wide)]):
        own = ie.read_predictions(*logs).pairs("transformed").reworded()
        assert own is not None
        assert own.tolist() == marks
    # Two versions of a third: where they differ from each other is not known.
    fewer = [{**row, "changed": row["changed"] and i % 2} for i, row in enumerate(second)]
    parts = [
        write(tmp_path / "c.csv", fewer, without=TEXTS),
        write(tmp_path / "d.csv", second, without=TEXTS),
    ]
    assert ie.read_predictions(*parts).pairs("transformed").reworded() is None
    # Three versions, of one of which it is known.
    parts = [a, write(tmp_path / "c.csv", second, without=TEXTS), plain]
    write(a, first, without=TEXTS)
    whole = ie.read_predictions(*parts)
    found = [whole.pairs(name).reworded() for name in ("c", "b")]
    assert found[0] is not None
    assert found[0].tolist() == marks
    assert found[1] is None
    parts = [write(tmp_path / f"{name}.csv", second, without=TEXTS) for name in "cd"]
    own = ie.read_predictions(*parts).pairs("transformed").reworded()
    assert own is not None
    assert own.tolist() == marks
    # A column of this name that says something else says nothing about texts.
    odd = write(tmp_path / "odd.csv", [{**row, "changed": "Monday"} for row in wide])
    assert ie.read_predictions(odd).pairs("transformed").reworded() is None
    long = [
        {"item": i, "version": name, "gold": row["label"], "predicted": row["prediction"]}
        | {text: row[text] for text in TEXTS}
        for name, rows in (("original", first), ("voice", second))
        for i, row in enumerate(rows)
    ]
    own = ie.read_predictions(write(tmp_path / "long.csv", long)).pairs("voice").reworded()
    assert own is not None
    assert own.tolist() == marks


def test_texts_count_where_the_column_disagrees(
    versions: tuple[Rows, Rows], tmp_path: Path
) -> None:
    first, second = versions
    wrong = [{**row, "changed": not row["changed"] if i < 5 else row["changed"]} for i, row in
             enumerate(second)]  # fmt: skip
    logs = [write(tmp_path / "a.csv", first), write(tmp_path / "b.csv", wrong)]
    status, out, err = run_here("eval", *logs, "--json", folder=tmp_path)
    assert status == 0, err
    found = json.loads(out)
    assert found["invariance"]["n_reworded"] == sum(expected(first, second)[0])
    assert "in 5 rows the column changed and the texts disagree" in " ".join(found["notes"])


def test_the_column_counts_where_all_texts_are_the_same(
    versions: tuple[Rows, Rows], tmp_path: Path
) -> None:
    """Somebody has put the answers to the reworded texts beside the original ones."""
    first, second = versions
    marks = [row["changed"] for row in second]
    kept = [
        {**old, "prediction": new["prediction"], "changed": new["changed"]}
        for old, new in zip(first, second, strict=True)
    ]
    logs = [write(tmp_path / "a.csv", first), write(tmp_path / "b.csv", kept)]
    status, out, err = run_here("eval", *logs, "--json", folder=tmp_path)
    assert status == 0, err
    found = json.loads(out)
    assert found["invariance"]["n_reworded"] == sum(marks)
    assert f"in {sum(marks)} rows the column changed and the texts disagree" in found["notes"][-1]
    assert "no text differs, so it counts" in found["notes"][-1]
    # Two classifiers on the reworded texts have the same column.
    logs = [write(tmp_path / f"{name}.csv", second) for name in "cd"]
    assert ie.read_predictions(*logs).versions == ("original",)


@pytest.mark.slow
def test_the_same_texts_in_two_tables_are_of_two_classifiers(
    versions: tuple[Rows, Rows], tmp_path: Path
) -> None:
    first, _ = versions
    logs = [write(tmp_path / f"{name}.csv", answer(first, seed)) for seed, name in enumerate("ab")]
    status, out, err = run_here("eval", *logs, folder=tmp_path)
    assert status == 0, err
    assert "The logs are of 2 classifiers on the same items: a (" in out
    status, out, err = run_here("eval", *logs, "--logs-are", "versions", folder=tmp_path)
    assert status == 0, err
    assert "fewer than two texts are reworded" in out.lower() or "0 of 240" in out


def test_tables_can_be_shown_to_be_alike(tmp_path: Path) -> None:
    rows = [
        {"text": f"Text {i}.", "label": "ab"[i % 2], "prediction": "ab"[(i % 2) ^ (i % 11 == 0)]}
        for i in range(3000)
    ]
    again = [{**row, "text": f"Words {i}."} if i % 2 else row for i, row in enumerate(rows)]
    logs = [write(tmp_path / "a.csv", rows), write(tmp_path / "b.csv", again)]
    assert run_here("eval", *logs, "--fail-unless-alike", folder=tmp_path)[0] == 0
    for row in again[1:400:2]:
        row["prediction"] = "b" if row["prediction"] == "a" else "a"
    write(logs[1], again)
    assert run_here("eval", *logs, "--fail-unless-alike", folder=tmp_path)[0] == 3
    plain = [write(path, rows, without=["text"]) for path in logs]  # nobody knows what is reworded
    assert run_here("eval", *plain, "--fail-unless-alike", folder=tmp_path)[0] == 3


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_transform_says_which_rows_it_changed(ending: str, tmp_path: Path) -> None:
    prepare(tmp_path)
    rows: Rows = [
        {"text": "A woman sat.", "label": 0},
        {"text": "A dog sat.", "label": 1},
        {"text": "It is big.", "label": 0},
    ]
    write(tmp_path / f"a.{ending}", rows)
    for source, target, words, marks in (
        ("a", "b", "woman,lady", [True, False, False]),
        ("b", "c", "dog,hound", [True, True, False]),  # what was changed before stays marked
    ):
        (tmp_path / "w.csv").write_text(f"old,new\n{words}\n")
        status, _, err = run_here(
            "transform", f"{source}.{ending}", f"{target}.{ending}",
            "--phi", "words:mapping=w.csv", folder=tmp_path,
        )  # fmt: skip
        assert status == 0, err
        made = read(tmp_path / f"{target}.{ending}")
        assert [row["changed"] for row in made] == marks
        assert list(made[0]) == ["text", "label", "changed"]


@pytest.mark.parametrize(
    ("values", "marks"), [([1, 0, 0], [True, True, False]), (["x", "y", "z"], None)]
)
def test_transform_reads_marks_and_refuses_what_is_none(
    values: list[object], marks: list[bool] | None, tmp_path: Path
) -> None:
    texts = ["A woman sat.", "A dog sat.", "It is late."]
    rows = [{"text": a, "changed": b} for a, b in zip(texts, values, strict=True)]
    write(tmp_path / "a.csv", rows)
    (tmp_path / "w.csv").write_text("old,new\ndog,hound\n")
    status, _, err = run_here(
        "transform", "a.csv", "b.csv", "--phi", "words:mapping=w.csv", folder=tmp_path
    )
    if marks is None:
        assert status == 1
        assert "a.csv, column 'changed': holds 'x', and the transformation writes there" in err
        assert not (tmp_path / "b.csv").exists()
    else:
        assert [row["changed"] for row in read(tmp_path / "b.csv")] == marks


@pytest.mark.parametrize("name", ["samples_nli_{}.jsonl", "inspect_{}.eval", "inspect_{}.json"])
def test_logs_become_a_table_and_a_page(name: str, tmp_path: Path) -> None:
    logs = [LOGS / name.format(version) for version in ("original", "rephrased")]
    kept = "doc.premise" if name.startswith("samples") else "input"
    options = ["--out", "x.parquet", "--keep-columns", kept]
    status, out, err = run_here("eval", *logs, *options, "--json", folder=tmp_path)
    assert status == 0, err
    status, again, err = run_here("eval", "x.parquet", "--json", folder=tmp_path)
    assert status == 0, err
    first, second = json.loads(out), json.loads(again)
    for key in ("n11", "n10", "n01", "n00", "p_value", "predictions_changed", "invariance"):
        assert first[key] == second[key]
    status, out, err = run_here("report", "x.parquet", "--out", "r.html", folder=tmp_path)
    assert (status, out) == (0, "r.html: 1 file of predictions\n"), err
    text = pq.read_table(tmp_path / "x.parquet")[kept][0].as_py()
    assert text.split("\n")[0][:20] in (tmp_path / "r.html").read_text()
    status, _, err = run_here("report", *logs, "--out", "s.html", folder=tmp_path)
    assert status == 1
    assert "is a log of a harness; `ietest-fast eval LOG LOG --out answers.parquet`" in err
    assert len(err.splitlines()) == 1
    status, _, err = run_here("eval", *logs, "--out", "x.csv", folder=tmp_path)
    assert (status, "--out is a Parquet file" in err) == (2, True)
    table = tmp_path / "x.parquet"
    status, _, err = run_here("eval", table, "--out", table, folder=tmp_path)
    assert (status, "would be overwritten" in err) == (1, True)


def test_options_of_pairs_go_through_the_command(tmp_path: Path) -> None:
    for name, said in (("o", [0.9, 0.4, 0.8]), ("r", [0.7, 0.6])):
        rows = [{"id": i, "score": score} for i, score in enumerate(said)]
        write(tmp_path / f"{name}.csv", rows)
    common = ["o.csv", "r.csv", "-C", "score", "--id-column", "id"]
    for command in ("eval", "test"):
        status, out, err = run_here(
            command, *common, "--threshold", "0.5", "--common-items", folder=tmp_path
        )
        assert status == 0, err
        assert "1 row dropped: not in all logs" in out
    status, _, err = run_here("eval", *common, "--common-items", folder=tmp_path)
    assert (status, "or --threshold for other scores" in err) == (1, True)
    status, _, err = run_here("eval", *common, "--threshold", "nan", folder=tmp_path)
    assert status == 2
    status, _, err = run_here("test", "--counts", "1,2,3,4", "--task", "x", folder=tmp_path)
    assert (status, "--task is for logs of answers" in err) == (2, True)
    status, out, err = run_here(
        "eval", LOGS, "--reader", "lm-eval", "--task", "nli_original", "--task", "nli_rephrased",
        "--json", folder=tmp_path,
    )  # fmt: skip
    assert status == 0, err
    given = json.loads(out)
    assert [given[name] for name in ("n11", "n10", "n01", "n00")] == [18, 11, 0, 1]


@pytest.mark.parametrize("name", ["id", "pairID", "story"])
@pytest.mark.parametrize("place", ["second", "gold"])
def test_repeated_ids_in_another_order_are_refused(tmp_path: Path, name: str, place: str) -> None:
    """Pairs with one premise have its id: the order of these shows that of the rows."""
    ids = ["0", "0", "1", "1", "2", "2"]
    moved = ["1", "1", "0", "0", "2", "2"]
    other = moved if place == "second" else ids
    rows = zip(ids, "aaaabb", "aabbbb", strict=True)
    (tmp_path / "x.csv").write_text(
        f"{name},label,prediction\n" + "".join(f"{i},{g},{p}\n" for i, g, p in rows)
    )
    rows = zip(other, "aaaabb", "bbaabb", strict=True)
    (tmp_path / "y.csv").write_text(
        f"{name},label,prediction\n" + "".join(f"{i},{g},{p}\n" for i, g, p in rows)
    )
    given = [tmp_path / "x.csv", tmp_path / "y.csv", "--all-reworded"]
    if place == "gold":
        gold = "".join(f"{i},{g}\n" for i, g in zip(moved, "aaaabb", strict=True))
        (tmp_path / "g.csv").write_text(f"{name},label\n{gold}")
        given += ["--gold", tmp_path / "g.csv"]
    status, out, err = run_here("eval", *map(str, given), folder=tmp_path)
    bad = "y.csv" if place == "second" else "g.csv"
    assert (status, out) == (1, "")
    assert f"{bad}, row 0, column '{name}': names the rows otherwise than in " in err
    assert "bring both files into the same order" in err
