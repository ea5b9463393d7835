"""``ietest-fast annotate`` on labelled files and on tables of marks, as users meet it."""

from __future__ import annotations

import csv
import json
import re

import pytest

from finished_runs import make_run
from ietest_fast.annotation.marks import Marks
from ietest_fast.annotation.sample import ASKED, read_sample
from ietest_fast.cli.main import main

ROWS = (
    ("The dog chased the cat.", "An animal ran.", "entailment"),
    ("The boy is young.", "The girl ate an apple.", "neutral"),
    ("The boy bought 20 apples for 3 dollars.", "The boy bought 15 apples.", "contradiction"),
    ("A long road.", "The woman opened the heavy door.", "neutral"),
    ("A quiet, empty street.", "The street is empty.", "entailment"),
)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["annotate", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return stop.value.code, out, err


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "test.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("premise", "hypothesis", "label"), *ROWS])
    return path


@pytest.fixture
def sample(tmp_path):
    return tmp_path / "sample.json"


@pytest.mark.slow
def test_a_sample_of_a_transformation_that_keeps_labels(capsys, texts, sample):
    status, out, _ = run(
        capsys, "draw", texts, sample, "--phi", "voice", "-n", 3, "--criterion", "meaning"
    )
    assert status == 0
    assert re.fullmatch(rf"{re.escape(str(sample))}: 3 of \d different new texts\n", out)
    drawn = read_sample(sample)
    assert (drawn.criterion, drawn.has_versions) == ("meaning", True)
    Marks(drawn, "anna").add(drawn.items[0], "sound")
    _, out, _ = run(capsys, "summary", sample)
    assert "Sound rephrasings by the meaning: voice on test.csv" in out
    assert "Sound marks by order of the versions" in out
    assert re.search(r"drawn from \d different new texts", out)


def test_a_sample_of_new_labels_from_draw_to_summary(tmp_path, capsys, texts, sample):
    status, out, _ = run(capsys, "draw", texts, sample, "--phi", "antonym", "-n", 2)
    assert status == 0
    assert re.fullmatch(rf"{re.escape(str(sample))}: 2 of [3-9] different new texts\n", out)
    status, out, _ = run(capsys, "export", sample, tmp_path / "list.csv")
    assert status == 0
    assert out.startswith(f"{tmp_path / 'list.csv'}: 2 items. ")
    assert ASKED["new-label"] in out
    with (tmp_path / "list.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["label"] for row in rows} == {"contradiction"}
    table = tmp_path / "marks.csv"
    table.write_text(f"item,sound\n{rows[0]['item']},yes\n{rows[1]['item']},no\n")
    status, out, _ = run(capsys, "import", sample, table, "--person", "model")
    assert (status, out) == (0, f"{sample}.model.marks.jsonl: 2 of 2 marked\n")
    status, _, err = run(capsys, "import", sample, table, "--person", "model")
    assert (status, "model has marked 2 of its items already" in err) == (1, True)
    status, out, _ = run(capsys, "summary", sample)
    assert status == 0
    assert "New texts whose label is right: antonym on test.csv" in out
    assert re.search(r"model +texts +2 +2 +1 +50\.0", out)
    assert "order of the versions" not in out
    found = json.loads(run(capsys, "summary", sample, "--json")[1])
    assert (found["criterion"], found["by_first"], found["drawn"]) == ("new-label", None, 2)
    assert found["soundness"][0]["n_sound"] == 1


def test_the_marks_file_of_the_docs_is_read(capsys, texts, sample):
    run(capsys, "draw", texts, sample, "--phi", "antonym")
    item = read_sample(sample).items[0]
    lines = f'{{"item": {item}, "mark": "sound"}}\n{{"item": {item}, "mark": "unsound"}}\n'
    (sample.parent / "sample.json.cid.marks.jsonl").write_text(lines)
    found = json.loads(run(capsys, "summary", sample, "--json")[1])
    assert found["soundness"][0] == found["soundness"][0] | {"who": "cid", "n_sound": 0}


def test_numbers_of_other_texts(tmp_path, capsys, texts, sample):
    other = tmp_path / "problems.jsonl"
    lines = [{"question": "A train covers 300 miles."}, {"question": "He has 17 coins."}]
    other.write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = ("--phi", "numerical", "--quantities", other)
    status, out, _ = run(capsys, "draw", texts, sample, *options)
    assert status == 0
    assert out.startswith(f"{sample}: 2 of ")
    assert read_sample(sample).source == "numerical on problems.jsonl"
    again = sample.with_name("again.json")
    wrong = (*options, "--quantities-column", "absent")
    assert "absent" in run(capsys, "draw", texts, again, *wrong)[2]
    only = ("--phi", "numerical", "--quantities-column", "question")
    assert run(capsys, "draw", texts, again, *only)[0] == 2
    voice = ("--phi", "voice", "--quantities", other)
    assert "only one that sets labels" in run(capsys, "draw", texts, again, *voice)[2]
    assert not again.exists()


def test_synonyms_are_learnt_from_another_file(tmp_path, capsys, sample):
    """Of the synonyms of a sofa, the one that TRAIN has most often is taken."""

    def write(name, *texts):
        path = tmp_path / name
        with path.open("w", newline="") as file:
            rows = [(text, "Somebody sleeps.", "neutral") for text in texts]
            csv.writer(file).writerows([("premise", "hypothesis", "label"), *rows])
        return path

    file = write("file.csv", "A man sits on the sofa.")
    phi = ("--phi", "syn.paper:tagger=packaged")
    for word in ("couch", "lounge"):
        train = write(f"{word}.csv", "He has a sofa.", *[f"He has a {word}."] * 9)
        path = tmp_path / f"{word}.json"
        assert run(capsys, "draw", file, path, *phi, "--lexicon-from", train)[0] == 0
        (pair,) = read_sample(path).pairs
        assert ["new", word] in pair["pieces"]["premise"]
    status, _, err = run(capsys, "draw", file, sample, *phi, "--lexicon-from", "absent")
    assert (status, "absent" in err) == (1, True)


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ((), 2, "is a file: say by --phi NAME"),
        (("--phi", "nope"), 1, "no transformation is called 'nope'"),
        (("--phi", "voice:speed=3"), 1, "speed"),
        (("--phi", "identity"), 1, "test.csv: the transformation 'identity' changes no text"),
        (("--phi", "antonym", "--edits"), 1, "leave out --edits"),
        (("--phi", "antonym", "--criterion", "label"), 1, "leave out --edits and --criterion"),
        (("--phi", "voice", "--text-columns", "premise,absent"), 1, "absent"),
        (("--phi", "voice", "-n", "0"), 2, "-n"),
        (("--phi", "voice", "--criterion", "new-label"), 2, "--criterion"),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(capsys, texts, sample, *, options, status, said):
    found, out, err = run(capsys, "draw", texts, sample, *options)
    assert (found, out) == (status, "")
    assert said in err
    assert [path.name for path in sample.parent.iterdir()] == ["test.csv"]


def test_files_that_are_not_there_or_no_labelled_texts(tmp_path, capsys, texts, sample):
    absent = tmp_path / "absent.csv"
    assert f"{absent}: no such file" in run(capsys, "draw", absent, sample, "--phi", "voice")[2]
    assert "name the folder of a run, or a labelled file" in run(capsys, "draw", absent, sample)[2]
    bad = tmp_path / "bad.csv"
    bad.write_text("premise,hypothesis\na,b\n")
    assert "label" in run(capsys, "draw", bad, sample, "--phi", "voice")[2]
    sample.write_text("{}")
    assert "is there already" in run(capsys, "draw", texts, sample, "--phi", "voice")[2]
    for command in (("export", sample, tmp_path / "l.csv"), ("import", sample, bad)):
        person = ("--person", "anna") if command[0] == "import" else ()
        status, _, err = run(capsys, *command, *person)
        assert (status, "is no sample" in err) == (1, True)


def test_a_run_is_needed_for_the_test(tmp_path, capsys, texts, sample):
    folder = make_run(tmp_path / "run")
    for option in (("--phi", "voice"), ("--threads", 1), ("--lexicon-from", texts)):
        status, _, err = run(capsys, "draw", folder, sample, *option)
        assert (status, "is for a labelled file" in err) == (2, True)
    run(capsys, "draw", texts, sample, "--phi", "voice")
    drawn = read_sample(sample)
    Marks(drawn, "anna").add(drawn.items[0], "sound")
    status, out, err = run(capsys, "test", sample, folder)
    assert (status, out) == (1, "")
    assert "was drawn from a labelled file (voice on test.csv)" in err
    assert "this needs the folder of a run, and a sample that `ietest-fast annotate draw`" in err
    with pytest.raises(SystemExit) as stop:
        main(["report", str(folder), "--sample", str(sample), "--out", str(tmp_path / "r.html")])
    assert stop.value.code == 1
    assert "was drawn from a labelled file" in capsys.readouterr().err
