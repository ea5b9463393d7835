"""``ietest-fast report`` as users meet it."""

from __future__ import annotations

import json
import os
import shutil

import pyarrow.parquet as pq
import pytest

from finished_runs import make_run
from ietest_fast.cli.main import main
from toys import toy_corpus


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return stop.value.code, out, err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("cli") / "run")


def test_a_report_is_one_file(tmp_path, capsys, folder):
    page = tmp_path / "page.html"
    other = shutil.copytree(folder, tmp_path / folder.name)
    status, out, err = run(capsys, "report", folder, folder, "--out", page)
    assert (status, out) == (1, "")
    assert err == f"Error: {folder}: is the same folder as {folder}; give each once\n"
    status, out, err = run(capsys, "report", folder, other, "--out", page, "--title", "Two")
    assert (status, err) == (0, "")
    assert out == f"{page}: 2 runs\n"
    text = page.read_text()
    assert "<title>Two</title>" in text
    assert "bow-xgb (2)" in text
    for outside in ('src="http', 'href="http', "@import", "url(http", "<link"):
        assert outside not in text
    again = tmp_path / "again.html"
    run(capsys, "report", folder, other, "--out", again, "--title", "Two")
    assert again.read_bytes() == page.read_bytes()


@pytest.mark.slow
def test_without_a_name_it_lies_in_the_runs_folder(tmp_path, capsys, folder):
    own = shutil.copytree(folder, tmp_path / "run")
    status, out, _ = run(capsys, "report", own, "--paper", tmp_path / "paper")
    assert status == 0
    assert (own / "report.html").is_file()
    n_files = sum(path.is_file() for path in (tmp_path / "paper").rglob("*"))
    assert out.endswith(f"{tmp_path / 'paper'}: {n_files} files\n")
    # The run is one all the same.
    assert run(capsys, "report", own)[0] == 0


@pytest.mark.slow
def test_a_training_set_gives_the_words_of_labels(tmp_path, capsys, folder):
    train = toy_corpus(300, 1)
    path = tmp_path / "train.parquet"
    names = ["yes" if label else "no" for label in train.labels]
    pq.write_table(train.table.set_column(2, "gold", [names]), path)
    page = tmp_path / "page.html"
    status, _, err = run(
        capsys, "report", folder, "--out", page, "--train", path, "--label-column", "gold"
    )
    assert (status, f"{path}, row 0, column 'gold': unknown label" in err) == (1, True), err
    assert not page.exists()
    pq.write_table(train.table, path)
    assert run(capsys, "report", folder, "--out", page, "--train", path)[0] == 0
    assert "label-words" in page.read_text()


@pytest.mark.slow
def test_counts_are_reported_without_examples(tmp_path, capsys):
    path = tmp_path / "counts.csv"
    path.write_text(
        "model,rho,n11,n10,n01,n00,used\na,0,70,10,5,15,1\na,1,70,5,9,16,1\nb,0,60,9,9,22,1\n"
        "b,1,60,2,3,35,1\nb,1,60,2,3,35,0\n"
    )
    status, out, _ = run(capsys, "report", path, "--where", "used=1")
    assert (status, out) == (0, f"{tmp_path / 'report.html'}: 2 runs\n")
    text = (tmp_path / "report.html").read_text()
    assert "Signal-to-noise" in text
    assert 'id="examples"' not in text
    status, _, err = run(capsys, "report", path)
    assert status == 1
    assert "not equally many rows" in err


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["p_value"], "1 column is not read: 'p_value'. "),
        (
            ["verdict", "k", "t", "n_changed"],
            "3 columns are not read: 'verdict', 't', 'n_changed'. ",
        ),
        (["k", "n", "collapsed", "m", "dataset"], ""),
        (["used"], ""),
        ([], ""),
    ],
)
def test_columns_of_counts_that_are_not_read_are_named(tmp_path, capsys, columns, said):
    values = {"k": "15", "n": "100", "collapsed": "no", "used": "1"}
    path = tmp_path / "counts.csv"
    own = ",".join(values.get(name, "0") for name in columns)
    head = ",".join(["model,rho,n11,n10,n01,n00", *columns])
    path.write_text(f"{head}\na,0,70,10,5,15{',' * bool(own)}{own}\n")
    where = ["--where", "used=1"] if "used" in columns else []
    status, _, err = run(capsys, "report", path, *where)
    assert status == 0
    note = f"Note: {path}: {said}All tests are made anew of the counts.\n"
    assert err == (note if said else "")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "Missing argument 'RUN...'"),
        (["absent"], 1, "absent: there is no such folder"),
        (["RUN", "--label-column", "x"], 2, "--label-column is of --train"),
        (["RUN", "--where", "a=b"], 2, "--where is for files of counts"),
        (["RUN", "--where", "a"], 2, "takes COLUMN=VALUE"),
        (["RUN", "--name", "a", "--name", "b"], 1, "1 run needs as many different names, not a, b"),
        (["RUN", "--out", "."], 2, "--out is a folder"),
        (["RUN", "--title", "\udcff"], 2, "is not UTF-8"),
        (["RUN", "--alpha", "0.1"], 2, "give a run's command again with it"),
        (["RUN", "--out", "absent/deep/page.html"], 0, ""),
    ],
)
def test_mistakes_are_told(  # noqa: PLR0917 - four of them are fixtures
    tmp_path, monkeypatch, capsys, folder, arguments, status, message
):
    monkeypatch.chdir(tmp_path)
    given = [folder if each == "RUN" else each for each in arguments]
    code, _, err = run(capsys, "report", *given)
    assert code == status
    assert message in err


@pytest.mark.slow
def test_nothing_but_a_page_is_replaced(tmp_path, capsys):
    counts = tmp_path / "counts.csv"
    counts.write_text("model,rho,n11,n10,n01,n00\nbert,0,50,10,5,35\n")
    other, pipe, page = tmp_path / "other.html", tmp_path / "pipe", tmp_path / "page.html"
    other.write_text("mine")
    os.mkfifo(pipe)
    for target in (counts, other, pipe):
        before = target.stat()
        status, _, err = run(capsys, "report", counts, "--out", target)
        assert (status, "is there already, and no page" in err) == (2, True)
        assert (target.stat().st_mode, target.stat().st_size) == (before.st_mode, before.st_size)
    for _ in range(2):
        assert run(capsys, "report", counts, "--out", page)[0] == 0
    page.write_text("")
    assert run(capsys, "report", counts, "--out", page)[0] == 0
    assert page.stat().st_size > 10_000


def test_options_for_counts_are_checked(tmp_path, capsys, folder):
    counts = tmp_path / "counts.csv"
    counts.write_text("dataset,model,rho,n11,n10,n01,n00\na,bert,0.0,50,10,5,35\n")
    arguments = ["report", counts, "--out", tmp_path / "page.html"]
    assert run(capsys, *arguments, "--where", "rho=0", "--where", "dataset=A")[0] == 0
    status, _, err = run(capsys, *arguments, "--where", "rho=0", "--where", "rho=1")
    assert (status, "takes each column once" in err) == (2, True)
    assert "has no rows with rho=x" in run(capsys, *arguments, "--where", "rho=x")[2]
    status, _, err = run(capsys, *arguments, "--train", counts)
    assert (status, "--train is for runs with texts" in err) == (2, True)
    status, _, err = run(capsys, "report", folder / "results.json")
    assert (status, "belongs to a run; name its folder" in err) == (1, True)


def test_a_folder_for_a_paper_that_is_a_file_is_told_before_anything_is_written(
    tmp_path, capsys, folder
):
    paper, page = tmp_path / "paper", tmp_path / "page.html"
    paper.touch()
    status, _, err = run(capsys, "report", folder, "--paper", paper, "--out", page)
    assert (status, "is a file, a folder expected" in err) == (1, True)
    assert not page.exists()


def test_what_is_neither_a_folder_nor_a_file_is_told(tmp_path, capsys):
    pipe, loop = tmp_path / "pipe", tmp_path / "loop"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    status, _, err = run(capsys, "report", pipe)
    assert (status, "pipe: is neither a folder nor a file" in err) == (1, True)
    status, _, err = run(capsys, "report", loop)
    assert (status, "there is no such folder" in err) == (1, True)


@pytest.mark.slow
def test_the_label_column_is_that_of_the_run(tmp_path, capsys, folder):
    own = shutil.copytree(folder, tmp_path / "run")
    results = json.loads((own / "results.json").read_text())
    results["data"]["label_column"] = "gold"
    (own / "results.json").write_text(json.dumps(results))
    train = toy_corpus(300, 1)
    names = [train.label_names[label] for label in train.labels]
    table = train.table.append_column("gold", [names]).append_column("label", [names[::-1]])
    pq.write_table(table, tmp_path / "train.parquet")
    status, _, err = run(capsys, "report", own, "--train", tmp_path / "train.parquet")
    assert (status, err) == (0, "")


def test_a_stored_corpus_without_end_is_not_made(tmp_path, capsys, folder):
    own = shutil.copytree(folder, tmp_path / "run")
    results = json.loads((own / "results.json").read_text())
    assert results["settings"]["data"]["demo"]
    results["settings"]["data"]["demo"]["n_train"] = 10**12
    (own / "results.json").write_text(json.dumps(results))
    assert run(capsys, "report", own)[0] == 0


def test_a_copy_of_a_file_of_predictions_is_told(tmp_path, capsys):
    first, second = tmp_path / "k.csv", tmp_path / "l.csv"
    rows = [
        f"{i},{v},{'ab'[i % 2]},{'ab'[i % 3 % 2]}\n" for v in ("original", "b") for i in range(9)
    ]
    first.write_text("item,version,gold,predicted\n" + "".join(rows))
    second.write_text(first.read_text())
    status, _, err = run(capsys, "report", first, second, "--out", tmp_path / "r.html")
    assert status == 0
    assert "l.csv is a copy of" in err
