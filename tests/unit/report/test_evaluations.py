"""Predictions of finished models become a page."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses.compare.page import (
    EvaluationSource,
    discordant_table,
    evaluate_predictions,
    joint_table,
    read_tested,
    say_evaluation,
)
from ietest_fast.analyses.compare.profile import CompareNotes, compare_versions
from ietest_fast.analyses.compare.saying import version_table
from ietest_fast.answers.logs import read_logs
from ietest_fast.answers.table import Predictions
from ietest_fast.cli.main import main
from ietest_fast.errors import InputError
from ietest_fast.numerals import show_points
from ietest_fast.report.contents import gather
from ietest_fast.report.page_builder import build_page
from ietest_fast.stats import PairedCounts, cochran_q_test, hold_together, holm, paired_test

N = 900
LABELS = ("entailment", "neutral", "contradiction")


def answer(rng, gold, share):
    return np.where(rng.random(N) < share, gold, (gold + 1) % 3)


@pytest.fixture(scope="module")
def predictions():
    rng = np.random.default_rng(0)
    gold = np.arange(N) % 3
    versions = {name: answer(rng, gold, 0.8) for name in ("original", "typos", "shifted")}
    versions["same"] = versions["original"].copy()
    versions["shifted"] = answer(rng, gold, 0.6)
    texts = {name: [f"{name} text {i} <b>" for i in range(N)] for name in versions}
    return Predictions.from_codes(
        items=np.arange(N),
        gold=gold,
        versions=versions,
        label_names=LABELS,
        columns={"model": "bert", "premise": [f"premise {i}" for i in range(N)]},
        version_columns={"hypothesis": texts},
    )


@pytest.fixture(scope="module")
def evaluation(predictions, tmp_path_factory):
    path = tmp_path_factory.mktemp("predictions") / "evaluation.parquet"
    predictions.write(path)
    return read_tested(path)


def table_of(found):
    return version_table(
        [each.tested for each in found.outcomes], [each.classifier for each in found.outcomes]
    )


def test_every_version_is_tested_against_the_original(predictions, evaluation):
    found = {each.version: each for each in evaluation.outcomes}
    assert list(found) == ["typos", "shifted", "same"]
    correct = predictions.correct.reshape(4, N)
    tests = [paired_test(PairedCounts.from_outcomes(correct[0], correct[v + 1])) for v in range(3)]
    assert [each.tested.result.p_value for each in found.values()] == [
        test.p_value for test in tests
    ]
    judged = hold_together([each.tested.invariance for each in found.values()])
    assert [each.tested.p_adjusted for each in found.values()] == [own.p_adjusted for own in judged]
    alone = holm([t.p_value for t in tests])
    shared = [own.p_adjusted for own in judged]
    assert all(p <= adjusted for p, adjusted in zip(alone, shared, strict=True))
    assert str(found["shifted"].tested.verdict) == "differs"
    assert str(found["same"].tested.verdict) == "equivalent within margin"
    (row,) = joint_table([evaluation]).rows
    assert row[:4] == ("bert", N, 4, cochran_q_test(correct.T).statistic)


def test_one_sentence_says_what_was_found(evaluation):
    ((kind, said),) = say_evaluation(evaluation)
    shifted = next(x for x in evaluation.outcomes if x.version == "shifted")
    assert str(kind) == "differs"
    first = "bert: 2 of 3 versions are answered otherwise. shifted: Accuracy is lower on 900 "
    assert said.startswith(first)
    assert f"({show_points(-shifted.counts.delta)}, 95% " in said
    assert said.removeprefix("bert: ") == evaluation.comparison.headline
    assert len(said.split()) <= 31


def test_a_page_shows_answers_and_texts_as_text(evaluation):
    page = build_page(gather(EvaluationSource(evaluations=(evaluation,))))
    assert "<title>Invariance under equivalence</title>" in page
    assert "shifted text" in page
    assert "&lt;b&gt;" in page
    assert "text 0 <b>" not in page
    assert 'class="verdict differs"' in page
    table = discordant_table(evaluation.outcomes[1])
    names = [column.name for column in table.columns]
    assert names[:3] == ["item", "right on", "gold"]
    assert "premise" in names
    assert {"hypothesis, original", "hypothesis, shifted"} <= set(names)
    # What is lost comes first.
    assert table.rows[0][1] == "original"
    assert len(table.rows) <= 200
    assert discordant_table(evaluation.outcomes[2]) is None


def test_page_and_data_frame_agree_on_classifiers_that_differ_by_less_than_the_margin(tmp_path):
    n = 6000
    gold = np.arange(n) % 3
    answers = {"a": gold, "b": np.where(np.arange(n) < 40, (gold + 1) % 3, gold)}
    frame = pd.concat(
        pd.DataFrame(
            {
                "item": range(n),
                "version": "original",
                "model": model,
                "gold": gold,
                "predicted": own,
            }
        )
        for model, own in answers.items()
    )
    frame.to_csv(path := tmp_path / "models.csv", index=False)
    found = read_tested(path)
    (row,) = found.comparison.records()
    assert row["reject"]
    assert row["verdict"] == "equivalent within margin"
    assert table_of(found).rows[0][-1] == row["verdict"]
    assert found.to_dict()["versions"][0]["verdict"] == row["verdict"]


def test_clusters_are_drawn_whole(predictions):
    table = predictions.table.append_column("cluster", pc.divide(predictions.table["item"], 3))
    found = evaluate_predictions(
        Predictions.from_table(table), source=Path("a.parquet"), notes=CompareNotes()
    )
    assert found.outcomes[0].tested.result.n_clusters == N // 3
    assert "draw whole clusters" in table_of(found).note


@pytest.mark.parametrize(("margin", "verdict"), [(0.2, "equivalent"), (0.001, "undecided")])
def test_what_a_page_says_is_judged_at_the_margin_that_it_names(margin, verdict, tmp_path):
    gold = np.arange(N) % 3
    rng = np.random.default_rng(1)
    first = answer(rng, gold, 0.8)
    changed = first.copy()
    for is_right in (True, False):  # as many are lost as won
        rows = np.flatnonzero((first == gold) == is_right)[:5]
        changed[rows] = (gold[rows] + is_right) % 3
    made = Predictions.from_codes(
        items=np.arange(N),
        gold=gold,
        versions={"original": first, "t": changed},
        label_names=LABELS,
        version_columns={
            "text": {v: [f"{v} {i}" for i in range(N)] for v in ("original", "t")},
        },
    )
    made.write(path := tmp_path / "a.parquet")
    found = read_tested(path, margin=margin)
    ((kind, said),) = say_evaluation(found)
    assert str(kind).startswith(verdict)
    by = f"Accuracy changes by less than {100 * margin:g} points: "
    assert (by in said) == (verdict == "equivalent")


def test_clusters_that_eval_has_drawn_are_drawn_on_the_page(tmp_path, capsys):
    rng = np.random.default_rng(2)
    rows = ["id,premise,label,original,transformed"]
    for i in range(240):
        kind = i // 8 % 2
        rows.append(f"{i},p{i // 8},{'ab'[kind]},{'ab'[kind]},{'ab'[rng.random() < 0.5]}")
    (tmp_path / "t.csv").write_text("\n".join(rows))
    out = tmp_path / "out.parquet"
    options = ["--clusters", "premise", "--id-column", "id", "--all-reworded", "--json"]
    with pytest.raises(SystemExit):
        main(["eval", str(tmp_path / "t.csv"), *options, "--out", str(out)])
    said = json.loads(capsys.readouterr().out)
    (found,) = read_tested(out).outcomes
    assert found.tested.result.n_clusters == 30
    assert found.tested.result.p_value == said["p_value"]


def write_marked(path):
    """Write answers of which every third is reworded, and loses; the others are won."""
    rng = np.random.default_rng(3)
    rows = ["id,label,original,transformed,mark"]
    for i in range(600):
        label, other = "ab" if i % 2 else "ba"
        is_marked = i % 3 == 0
        is_right = rng.random() < (0.7 if is_marked else 0.95)
        before = label if is_marked or rng.random() < 0.8 else other
        rows.append(f"{i},{label},{before},{label if is_right else other},{int(is_marked)}")
    path.write_text("\n".join(rows))


@pytest.mark.parametrize(
    ("options", "n_reworded"), [(["--reworded", "mark"], 200), (["--all-reworded"], 600)]
)
def test_texts_that_eval_was_told_are_reworded_are_judged_again(
    options, n_reworded, tmp_path, capsys
):
    write_marked(tmp_path / "t.csv")
    out, page = tmp_path / "out.parquet", tmp_path / "page.html"

    def run(*arguments):
        with pytest.raises(SystemExit):
            main([*map(str, arguments)])
        return capsys.readouterr().out

    first = json.loads(run("eval", tmp_path / "t.csv", "--json", *options, "--out", out))
    assert first["invariance"]["n_reworded"] == n_reworded
    assert json.loads(run("eval", out, "--json"))["invariance"] == first["invariance"]
    assert json.loads(run("test", out, "--json"))["invariance"] == first["invariance"]
    for flip_margin in (0.05, 0.3):
        said = run("eval", tmp_path / "t.csv", *options, "--flip-margin", flip_margin)
        run("report", out, "--out", page, "--flip-margin", flip_margin)
        assert html.escape(said.splitlines()[0], quote=False) in page.read_text()
    # What is asked for goes before what the file says.
    other = json.loads(run("eval", out, "--json", "--all-reworded"))
    assert other["invariance"]["n_reworded"] == 600


def test_roles_of_columns_are_kept_by_whoever_writes_a_file_again(tmp_path, capsys):
    write_marked(tmp_path / "t.csv")

    def run(*arguments, status=0):
        with pytest.raises(SystemExit) as stop:
            main([*map(str, arguments)])
        assert (stop.value.code or 0) == status
        shown = capsys.readouterr()
        return json.loads(shown.out)["invariance"] if status == 0 else shown.err

    first, again, other = (tmp_path / f"{name}.parquet" for name in ("first", "again", "other"))
    found = run("eval", tmp_path / "t.csv", "--json", "--reworded", "mark", "--out", first)
    assert run("eval", first, "--json", "--out", again) == found
    assert run("eval", again, "--json") == found
    assert run("test", again, "--json") == found
    run("eval", tmp_path / "t.csv", "--json", "--all-reworded", "--out", other)
    said = run("eval", first, other, "--json", status=1)
    assert "was written with other reworded than" in said


def test_answers_that_were_none_are_read_again_as_wrong(tmp_path, capsys):
    rows = ["label,original,transformed"]
    rows += [f"{'ab'[i % 2]},{'ab'[i % 2]},{'' if i % 5 == 0 else 'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "u.csv").write_text("\n".join(rows))
    out = tmp_path / "u.parquet"
    said = []
    for asked in ([tmp_path / "u.csv", "--unparsed", "wrong", "--out", out], [out]):
        with pytest.raises(SystemExit) as stop:
            main(["eval", *map(str, asked), "--json"])
        assert not stop.value.code
        said.append(json.loads(capsys.readouterr().out)["accuracy_transformed"])
    assert said == [0.8, 0.8]


def test_a_classifier_that_collapsed_rejects_nothing_among_models():
    gold = np.arange(N) % 3
    rng = np.random.default_rng(5)
    table = pa.concat_tables(
        pa.table(
            {
                "item": np.arange(N),
                "version": ["original"] * N,
                "gold": np.array(LABELS)[gold],
                "predicted": np.array(LABELS)[answers],
                "model": [name] * N,
            }
        )
        for name, answers in (("guess", np.zeros(N, int)), ("good", answer(rng, gold, 0.9)))
    )
    (test,) = compare_versions(Predictions.from_table(table)).tests
    assert (test.collapsed, test.reject) == (True, False)
    assert test.p_adjusted < 1e-10


def test_a_margin_of_flips_is_for_predictions(tmp_path, capsys):
    (tmp_path / "counts.csv").write_text("model,rho,n11,n10,n01,n00\na,0,50,9,1,40\n")
    with pytest.raises(SystemExit) as stop:
        main(["report", str(tmp_path / "counts.csv"), "--flip-margin", "0.1"])
    assert stop.value.code == 2
    assert "--flip-margin is for files of predictions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        (["a", "b"] * 20, None),
        (["b", "b"] + ["a", "b"] * 19, "the right answer to 1 item of 40 is another one in"),
        (["b", "a"] * 3 + ["a", "b"] * 17, "the right answer to 6 items of 40 is another one in"),
    ],
)
@pytest.mark.parametrize("has_model", [False, True])
def test_a_page_says_where_a_version_has_other_right_answers(gold, said, has_model, tmp_path):
    """As ``ietest-fast eval`` says of the same file: then accuracy may differ by that alone."""
    columns = {
        "item": [*range(40)] * 2,
        "version": ["original"] * 40 + ["typos"] * 40,
        "gold": ["a", "b"] * 20 + gold,
        "predicted": ["a", "b", "b", "b"] * 20,
    } | ({"model": ["m"] * 80} if has_model else {})
    path = tmp_path / "long.csv"
    pyarrow.csv.write_csv(pyarrow.table(columns), path)
    note = str(EvaluationSource(evaluations=(read_tested(path),)).sections())
    told = [each for each in read_logs([path]).notes if "the right answer" in each]
    assert ("the right answer" in note) == (said is not None)
    assert all(each in note for each in told)
    assert len(told) == (said is not None)
    assert said is None or said in told[0]


@pytest.mark.filterwarnings("ignore:.*edits is .* mend the column")  # of the comparison
@pytest.mark.parametrize(
    ("changed", "edits", "said"),
    [
        (0, None, "the column changed and the texts disagree"),
        (1, 0, "the column changed and the column edits disagree"),
        (1, 2, None),
    ],
)
def test_a_page_says_what_eval_says_of_the_file(changed, edits, said, tmp_path):
    """Else it would say that texts which differ were left alone."""
    columns = {
        "item": [*range(20)] * 2,
        "version": ["original"] * 20 + ["typos"] * 20,
        "gold": ["a", "b"] * 20,
        "predicted": ["a", "b", "b", "b"] * 10,
        "text": [f"text {n}" for n in range(40)],
        "changed": [0] * 20 + [changed] * 20,
    } | ({} if edits is None else {"edits": [edits] * 40})
    path = tmp_path / "long.csv"
    pyarrow.csv.write_csv(pyarrow.table(columns), path)
    found = read_tested(path)
    assert [note for note in read_logs([path]).notes if "disagree" in note] == [*found.notes]
    shown = str(EvaluationSource(evaluations=(found,)).sections())
    assert ("disagree" in shown) == (said is not None)
    assert said is None or said in shown


@pytest.mark.filterwarnings("ignore:.* is a copy of")
@pytest.mark.parametrize(
    ("files", "models", "named"),
    [
        (["a/ans.csv", "b/ans.csv"], [None, None], ["ans", "ans#2"]),
        (["a/ans.csv", "b/ans.jsonl"], [None, None], ["ans", "ans#2"]),
        (["a/ans.csv", "b/ans.csv"], ["bert", "bert"], ["bert, ans", "bert, ans#2"]),
        (["dev.csv", "test.csv"], ["bert", "bert"], ["bert, dev", "bert, test"]),
        (["a/bert.csv", "b/ans.csv"], [None, "bert"], ["bert", "bert, ans"]),
        (["a/ans.csv", "b/ans.csv"], ["bert", "bow"], ["bert", "bow"]),
        (["dev.csv", "test.csv"], [None, None], ["dev", "test"]),
        (["a/ans.csv"], [None], ["ans"]),
    ],
)
def test_classifiers_of_several_files_have_different_names(files, models, named, tmp_path):
    paths = [tmp_path / name for name in files]
    for path, model in zip(paths, models, strict=True):
        path.parent.mkdir(exist_ok=True)
        columns = {"item": [*range(40)] * 3, "gold": ["a", "b"] * 60}
        columns["version"] = ["original"] * 40 + ["typos"] * 40 + ["other"] * 40
        columns["predicted"] = ["a", "b", "b", "b"] * 30
        columns |= {} if model is None else {"model": [model] * 120}
        if path.suffix == ".csv":
            pyarrow.csv.write_csv(pyarrow.table(columns), path)
        else:
            rows = pyarrow.table(columns).to_pylist()
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = EvaluationSource.read(paths).evaluations
    assert len({each.name for each in found}) == len(files)
    assert [[own.classifier for own in each.outcomes] for each in found] == [[n] * 2 for n in named]
    assert [row[0] for row in joint_table(found).rows] == named


@pytest.mark.filterwarnings("ignore:.* is a copy of")
@pytest.mark.parametrize(
    ("models", "version", "texts", "said"),
    [
        (
            None,
            "original",
            "text",
            "in 10 of 20 wordings that a.csv and b.csv have, the texts differ",
        ),
        (None, "typos", "text", "in 10 of 20 wordings that a.csv and b.csv have, the texts differ"),
        (("bert", "bow"), "typos", "text", "in 10 of 20 wordings"),
        (("bert", "bert"), "typos", "text", None),  # of other data
        (None, None, "text", None),
        (None, "typos", "remark", None),
    ],
)
def test_models_that_have_answered_other_texts_are_told(models, version, texts, said, tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for n, path in enumerate(paths):
        head = ["item", "version", texts, "gold", "predicted", *(["model"] if models else [])]
        rows = [
            [f"{i}", each, f"{each} of {i}{'!' * (n * (each == version))}", "ab"[i % 2], "a"]
            + ([models[n]] if models else [])
            for each in ("original", "typos")
            for i in range(10)
        ]
        path.write_text("\n".join(",".join(row) for row in [head, *rows]) + "\n")
    first, other = EvaluationSource.read(paths).evaluations
    assert not any("wordings" in note for note in first.notes)
    told = [note for note in other.notes if "wordings" in note]
    assert len(told) == (said is not None)
    assert said is None or said in told[0]


@pytest.mark.filterwarnings("ignore:.* is a copy of")
@pytest.mark.parametrize(
    ("models", "version", "labels", "said"),
    [
        (None, "original", "ba", "'b', and 'a' in .*, and 10 of 20 shared texts differ so"),
        (None, "typos", "ba", "'b', and 'a' in .*, and 10 of 20 shared texts differ so"),
        (("bert", "bow"), "typos", "aa", "'a', and 'b' in .*, and 5 of 20 shared texts differ so"),
        (("bert", "bert"), "typos", "ba", None),  # of other data
        (None, None, "ba", None),
        (None, "typos", ["A", "b "], None),
    ],
)
def test_models_that_are_judged_by_other_labels_are_told(models, version, labels, said, tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for n, path in enumerate(paths):
        head = ["item", "version", "gold", "predicted", *(["model"] if models else [])]
        rows = [
            [f"{i}", each, (labels if n and each == version else "ab")[i % 2], "a"]
            + ([models[n]] if models else [])
            for each in ("original", "typos")
            for i in range(10)
        ]
        path.write_text("\n".join(",".join(row) for row in [head, *rows]) + "\n")
    first, other = EvaluationSource.read(paths).evaluations
    assert not any("the gold label" in note for note in first.notes)
    told = [note for note in other.notes if "the gold label" in note]
    assert len(told) == (said is not None)
    assert said is None or re.search(said, told[0])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("counts.csv", "model,rho,n11,n10,n01,n00\nbert,0.5,50,5,3,2\n"),
        ("answers.csv", "item,version,gold,predicted\n1,original,a,a\n1,typos,a,b\n"),
    ],
)
def test_a_file_that_is_given_twice_is_refused(name, content, tmp_path, capsys):
    (tmp_path / name).write_text(content)
    (tmp_path / "link.csv").symlink_to(tmp_path / name)
    for again in (tmp_path / name, tmp_path / "link.csv"):
        with pytest.raises(SystemExit) as stop:
            main(["report", str(tmp_path / name), str(again), "--out", str(tmp_path / "p.html")])
        assert stop.value.code == 1
        assert "is the same file as" in capsys.readouterr().err


def test_a_model_that_guesses_has_no_verdict():
    gold = np.arange(N) % 3
    zero = np.zeros(N, int)
    found = evaluate_predictions(
        Predictions.from_codes(
            items=np.arange(N),
            gold=gold,
            versions={"original": zero, "typos": zero},
            label_names=LABELS,
        ),
        source=Path("guess.parquet"),
        notes=CompareNotes(),
    )
    assert [str(each.tested.verdict) for each in found.outcomes] == ["collapsed"]
    assert "nothing can be said" in say_evaluation(found)[0][1]


def test_there_has_to_be_something_to_compare(predictions, tmp_path):
    path = tmp_path / "one.parquet"
    predictions.select(version="typos").write(path)
    with pytest.raises(InputError, match="has the version typos alone"):
        read_tested(path)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_the_command_takes_predictions(tmp_path, capsys, predictions, suffix):
    path = tmp_path / f"evaluation.{suffix}"
    if suffix == "parquet":
        predictions.write(path)
    else:
        plain = predictions.table.select(["item", "version", "gold", "predicted", "model"])
        pyarrow.csv.write_csv(plain.cast(_plain(plain.schema)), path)
    with pytest.raises(SystemExit) as stop:
        main(["report", str(path), "--margin", "0.02"])
    out, err = capsys.readouterr()
    assert (stop.value.code, err) == (0, "")
    page = tmp_path / "report.html"
    assert out == f"{page}: 1 file of predictions\n"
    text = page.read_text()
    data = text.partition('id="report-data">')[2].partition("</script>")[0]
    (found,) = json.loads(data)["evaluations"]
    assert [each["version"] for each in found["versions"]] == ["typos", "shifted", "same"]


def _plain(schema):
    import pyarrow as pa

    fields = [
        pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type)
        for f in schema
    ]
    return pa.schema(fields)


def test_edits_that_are_lists_are_no_strata(predictions, tmp_path):
    path = tmp_path / "answers.parquet"
    edits = pa.array([[1]] * len(predictions.table))
    table = predictions.table
    if "edits" in table.column_names:
        table = table.drop_columns("edits")
    pq.write_table(table.append_column("edits", edits), path)
    assert not any("strata" in each.tested.statistics for each in read_tested(path).outcomes)
