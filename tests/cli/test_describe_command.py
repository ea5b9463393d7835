"""``ietest-fast describe`` as users meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ietest_fast.cli.main import main
from toys import toy_corpus


def describe(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as status:
        main(["describe", *arguments])
    output = capsys.readouterr()
    return int(status.value.code or 0), output.out, output.err


def write_pairs(path: Path, premises: list[str]) -> str:
    rows = [f"{premise},It is {i}.,{i % 3}" for i, premise in enumerate(premises)]
    path.write_text("\n".join(["premise,hypothesis,label", *rows]) + "\n", encoding="utf-8")
    return str(path)


def test_describe_suggests_clusters_where_premises_repeat(tmp_path, capsys):
    repeated = write_pairs(tmp_path / "a.csv", [f"Premise {i // 3}." for i in range(30)])
    status, out, _ = describe(capsys, repeated)
    assert status == 0
    assert "--clusters premise" in out
    _, out, _ = describe(capsys, repeated, "--json")
    assert json.loads(out)["corpora"][0]["suggested_clusters"] == "premise"

    different = write_pairs(tmp_path / "b.csv", [f"Premise {i}." for i in range(30)])
    _, out, _ = describe(capsys, different)
    assert "--clusters" not in out


@pytest.mark.parametrize("names", ["a,b,a", "a,,b", "a,B,b", ""])
def test_labels_need_different_names(tmp_path, capsys, names):
    path = write_pairs(tmp_path / "a.csv", ["x", "y", "z"])
    status, _, err = describe(capsys, path, "--label-names", names)
    assert status == 2
    assert "a name that is empty, or there twice" in err


def test_options_of_files_are_refused_beside_demonstration_pairs(tmp_path, capsys):
    for option in (["--text-columns", "a"], ["--label-names", "a,b"], ["--quoted"]):
        status, _, err = describe(capsys, "--demo", "10", *option)
        assert status == 2
        assert "is for files" in err
    path = write_pairs(tmp_path / "a.csv", ["x", "y", "z"])
    status, _, err = describe(capsys, path, "--seed", "1")
    assert status == 2
    assert "is for the pairs of --demo" in err
    status, _, err = describe(capsys, path, "--text-columns", "a,b,c")
    assert status == 2
    assert "one or two columns hold texts, not 3" in err


def test_float_labels_are_described_as_integers(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,0.0\nb,1.0\nc,-1.0\n", encoding="utf-8")
    _, out, _ = describe(capsys, str(path), "--json")
    found = json.loads(out)["corpora"][0]
    assert found["labels"] == {"0": 1, "1": 1}
    assert found["dropped"] == {"no gold label": 1}


@pytest.mark.parametrize(
    ("votes", "n"),
    [
        (["neutral", "neutral", "entailment"], 2),
        (["neutral", "n", "-", "", None], 2),
        (["entailment", "neutral", "neutral", "entailment", "contradiction"], 1),
        (["entailment", "neutral", "contradiction"], 0),  # all are the most frequent
        (["-", "", "-"], 0),
        (["sport", "news", "news"], 0),
        ([], 0),
    ],
)
@pytest.mark.parametrize("form", ["columns", "list"])
def test_labels_that_annotators_contradict_are_counted(tmp_path, capsys, votes, n, form):
    """Of entailment, neutral, contradiction and none, the first and the third are not neutral."""
    names = ["entailment", "-", "neutral", "contradiction"]
    columns = {f"label{place}": vote for place, vote in enumerate(votes, start=1)}
    own = columns if form == "columns" else {"annotator_labels": votes}
    rows = [
        {"sentence1": f"a {gold}", "sentence2": "b", "gold_label": gold, **own} for gold in names
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    status, out, err = describe(capsys, str(path))
    assert status == 0
    assert "rows         3" in out
    said = f"the label of {n} row{'s' if n > 1 else ''} is none of the most frequent ones"
    assert (said in err) == (n > 0)
    assert ("annotators" in err) == (n > 0)


def test_describe_finds_what_one_text_gives_away(tmp_path, capsys):
    paths = []
    for number, n in enumerate((600, 300), start=1):
        paths.append(str(tmp_path / f"{number}.parquet"))
        pq.write_table(toy_corpus(n, number).table, paths[-1])
    status, out, _ = describe(capsys, *paths, "--partial-input")
    assert status == 0
    assert "What a bag of words gets right from a part of the input" in out
    assert "reading ease (Flesch)" in out
    _, out, _ = describe(capsys, *paths, "--partial-input", "--json")
    found = json.loads(out)["partial_input"]
    assert [each["columns"] for each in found] == [
        ["premise"],
        ["hypothesis"],
        ["premise", "hypothesis"],
    ]
    assert found[1]["p_value"] < 1e-10
    assert json.loads(out)["corpora"][0]["columns"][0]["reading_ease"]["n_without"] == 0
    assert "partial_input" not in json.loads(describe(capsys, *paths, "--json")[1])
    status, _, err = describe(capsys, paths[0], "--partial-input")
    assert (status, "needs two files" in err) == (2, True)
