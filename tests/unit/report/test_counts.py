"""Runs from counts in a file."""

from __future__ import annotations

import csv
import json

import pytest

from ietest_fast.errors import InputError
from ietest_fast.experiment.finished import read_counts, read_runs
from ietest_fast.experiment.view.result_tables import rank_by_snr, ranking_table
from ietest_fast.stats import paired_test

HEAD = "model,rho,n11,n10,n01,n00,collapsed"


def write(path, *rows):
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    return path


def test_counts_become_a_run(tmp_path):
    path = write(
        tmp_path / "runs.csv",
        "bert,0.5,70,10,5,15,False",
        "bert,0,60,20,5,15,False",
        "bert,0,33,0,0,67,True",
        "bert,0.5,71,9,5,15,False",
    )
    (run,) = read_counts(path)
    assert (run.name, run.n, run.n_classifiers, run.data_name) == ("bert", 100, 2, "runs")
    assert [rho.rho for rho in run.rhos] == [0.0, 0.5]
    first = run.rhos[0].cells[0]
    assert (first.m, first.t) == (0, first.counts.t)
    assert first.p_value == paired_test(first.counts).p_value
    assert run.rhos[0].cells[1].collapsed
    assert len(run.robustness.collapsed) == 1
    with pytest.raises(InputError, match="counts alone"):
        run.read_answers()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["a,0,1,2,3,x,0"], "column 'n00': is 'x', a whole number expected"),
        (["a,2,1,2,3,4,0"], "column 'rho': is '2', a number from 0 to 1 expected"),
        (["a,0,1,2,3,1.5,0"], "is 1.5; counts of texts are whole"),
        (["a,0,1,2,3,-1,0"], "row 0: n00 must not be negative"),
        (["a,0,0,0,0,0,0"], "row 0: all four counts are 0"),
        (["a,0,1,2,3,4,0", "a,1,1,2,3,4,0", "a,1,2,1,3,4,0"], "not equally many rows"),
        (["a,0,1,2,3,4,0", "a,1,1,2,3,5,0"], r"of one n \(10 in row 0, 11 in row 1\), .* dataset"),
        (["b,0,9,2,3,4,0", "a,0,1,2,3,4,0", "a,1,1,2,3,9,0"], "10 in row 1, 15 in row 2"),
        ([f"a,{n / 9},{n},2,3,4,0" for n in range(5)], r"9 in row 0, .*, 11 in row 2, \.\.\.\)"),
        (["a,0,1,2,3,4,maybe"], "column 'collapsed': is 'maybe', true or false expected"),
        ([",0,1,2,3,4,0"], "column 'model': a model has no name"),
    ],
)
def test_mistakes_are_named(tmp_path, rows, message):
    path = write(tmp_path / "runs.csv", *rows)
    with pytest.raises(InputError, match=message) as error:
        read_counts(path)
    assert str(path) in str(error.value)


def test_test_sets_of_other_sizes_may_stand_in_one_file(tmp_path):
    rows = ["a,0,1,2,3,4,0", "a,1,1,2,3,4,0", "b,0,1,2,3,9,0", "b,1,1,2,3,9,0"]
    assert len(read_counts(write(tmp_path / "runs.csv", *rows))) == 2


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("n", "999", "row 0, column 'n': is '999', but the counts of this row give 50"),
        ("n", "x", "column 'n': is 'x', a number expected"),
        ("k", "9", "row 0, column 'k': is '9', but the counts of this row give 8"),
        ("k", "0.16", "column 'k': is '0.16', but the counts of this row give 8"),
        ("k", "8", None),
        ("accuracy_original", "0.1", "column 'accuracy_original': is '0.1', .* give 0.7"),
        ("accuracy_transformed", "66.1%", "'accuracy_transformed': is '66.1%', .* give 0.66"),
        ("delta", "-0.04", "column 'delta': is '-0.04', .* give 0.04"),
        *(("n", value, None) for value in ("50", "50.0", "")),
        *(("accuracy_original", value, None) for value in ("0.7", "70", "70.0%", "0.70")),
        *(("accuracy_transformed", value, None) for value in ("0.7", "0.66", "66", "0.66000001")),
        *(("delta", value, None) for value in ("0.04", "4", "0.040000000000000036")),
        ("t", "anything", None),
    ],
)
def test_a_row_that_contradicts_its_counts_is_named(tmp_path, column, value, message):
    path = tmp_path / "runs.csv"
    path.write_text(f"model,rho,n11,n10,n01,n00,{column}\na,0,30,5,3,12,{value}\n")
    if message is None:
        assert read_counts(path)[0].n == 50
        return
    with pytest.raises(InputError, match=message):
        read_counts(path)


@pytest.mark.parametrize(
    ("columns", "rows", "twins"),
    [
        ("model,rho,n11,n10,n01,n00", ["a,0,30,5,3,12", "a,0,30,5,3,12"], (0, 1)),
        (
            "model,rho,n11,n10,n01,n00",
            ["a,0.5,30,5,3,12", "b,0,30,5,3,12", "a,.50,30,5,3,12"],
            (0, 2),
        ),
        ("dataset,model,rho,n11,n10,n01,n00", ["x,a,0,30,5,3,12", "x, a,0,30,5,3,12"], (0, 1)),
        ("m,model,rho,n11,n10,n01,n00", ["1,a,0,30,5,3,12", "1,a,0,30,4,4,12"], (0, 1)),
        ("model,rho,n11,n10,n01,n00", ["a,0,30,5,3,12", "a,0,30,5,4,11"], None),
        ("model,rho,n11,n10,n01,n00", ["a,0,30,5,3,12", "a,1,30,5,3,12"], None),
        ("m,model,rho,n11,n10,n01,n00", ["1,a,0,30,5,3,12", "2,a,0,30,5,3,12"], None),
        ("batch,model,rho,n11,n10,n01,n00", ["1,a,0,30,5,3,12", "2,a,0,30,5,3,12"], None),
        ("dataset,model,rho,n11,n10,n01,n00", ["x,a,0,30,5,3,12", "y,a,0,30,5,3,12"], None),
        (HEAD, ["a,0,17,0,0,33,True", "a,0,17,0,0,33,True"], None),
    ],
)
def test_a_classifier_that_is_there_twice_is_named(tmp_path, columns, rows, twins):
    path = tmp_path / "runs.csv"
    path.write_text("\n".join([columns, *rows]) + "\n")
    if twins is None:
        assert sum(run.n_classifiers * len(run.rhos) for run in read_counts(path)) == len(rows)
        return
    with pytest.raises(InputError, match=f"row {twins[1]}: .* row {twins[0]}, so one classifier"):
        read_counts(path)


def test_rows_are_chosen_by_their_values(tmp_path):
    path = write(tmp_path / "runs.csv", "a,0,1,2,3,4,False", "a,0,4,3,2,1,True")
    (run,) = read_counts(path, where={"collapsed": "true"})
    assert run.cells[0].counts.n11 == 4
    with pytest.raises(InputError, match="has no rows with collapsed=maybe"):
        read_counts(path, where={"collapsed": "maybe"})
    with pytest.raises(InputError, match="column 'batch'"):
        read_counts(path, where={"batch": "1"})


def test_a_missing_column_is_named(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("model,rho,n11,n10,n01\na,0,1,2,3\n")
    with pytest.raises(InputError, match="column 'n00'"):
        read_counts(path)


def test_the_published_ranking_comes_out(shared):
    """Table 2 of the paper, from the published runs imported as runs."""
    expected = json.loads((shared / "reference" / "table2_snli.json").read_text())["snli"]
    path = shared / "reference" / "ie_runs_snli.csv"
    runs = read_runs([path], where={"used_in_paper": "True"})
    names = {"albert_base", "bert_base", "roberta_base", "roberta_large", "xlnet_base"}
    assert {run.name for run in runs} == names
    for run in runs:
        assert run.robustness.every.snr == pytest.approx(
            expected[run.name]["recomputed"], rel=1e-12
        )
        assert round(run.robustness.every.snr, 1) == expected[run.name]["published"]
    by_table = sorted(names, key=lambda name: -expected[name]["published"])
    assert [run.name for run in rank_by_snr(runs)] == by_table
    table = ranking_table(runs)
    assert [row[1] for row in table.rows] == by_table
    assert [row[5] for row in table.shown()] == [
        f"{expected[name]['published']:.1f}" for name in by_table
    ]


def test_every_published_p_value_decides_as_published(shared):
    path = shared / "reference" / "ie_figures_snli.csv"
    with path.open() as file:
        expected = {
            (row["model"], float(row["rho"])): row["reject_at_0.01"] == "True"
            for row in csv.DictReader(file)
        }
    runs = read_runs([shared / "reference" / "ie_runs_snli.csv"], where={"used_in_paper": "True"})
    for run in runs:
        for rho in run.rhos:
            assert rho.reject == expected[run.name, rho.rho], (run.name, rho.rho)
