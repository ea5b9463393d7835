"""Samples, marks that survive, percentages and agreement."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa
from statsmodels.stats.proportion import proportion_confint

from ietest_fast.annotation.marks import Marks, find_marks, marks_path, read_all_marks
from ietest_fast.annotation.sample import read_sample
from ietest_fast.annotation.sampling import draw_sample, split_edits
from ietest_fast.annotation.soundness import (
    count_unsound,
    find_sound,
    measure_agreement,
    measure_all,
    measure_orders,
    measure_soundness,
    measure_texts,
    summary_table,
    take_majority,
)
from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment.finished import read_run
from ietest_fast.transform.edits import COMPANION_RULES


@pytest.fixture
def sample(tmp_path, first_run):
    return draw_sample(read_run(first_run), tmp_path / "sample.json", n=40, seed=3)


def test_a_sample_is_drawn_from_what_was_reworded(tmp_path, sample, first_run):
    run = read_run(first_run)
    versions = run.read_versions()
    assert len(sample.items) == len(set(sample.items)) == 40
    assert sample.n_reworded == versions.changed.sum()
    assert versions.changed[list(sample.items)].all()
    for pair in sample.pairs:
        assert pair["label"] == versions.label_names[versions.gold[pair["row"]]]
        for name in versions.columns:
            for table, gone in ((versions.original, "new"), (versions.transformed, "old")):
                text = "".join(piece for kind, piece in pair["pieces"][name] if kind != gone)
                assert text == table[name][pair["row"]].as_py()
    again = read_sample(sample.path)
    assert again == sample
    other = draw_sample(run, tmp_path / "other.json", n=40, seed=4)
    assert other.items != sample.items
    everything = draw_sample(run, tmp_path / "all.json", n=10_000)
    assert sorted(everything.items) == np.flatnonzero(versions.changed).tolist()


def test_edits_are_drawn_with_all_those_of_a_text(tmp_path, first_run):
    run = read_run(first_run)
    versions = run.read_versions()
    drawn = draw_sample(run, tmp_path / "edits.json", n=40, seed=3, unit="edits")
    texts = draw_sample(run, tmp_path / "texts.json", n=40, seed=3)
    assert read_sample(drawn.path) == drawn
    assert len(drawn.items) == len(set(drawn.items)) >= 40
    rows = list(dict.fromkeys(pair["row"] for pair in drawn.pairs))
    assert rows == list(texts.items)[: len(rows)]  # the same draw of texts
    edits = versions.edits.to_pylist()
    substitutions = [i for i, e in enumerate(edits) if e["rule"] not in COMPANION_RULES]
    assert sorted(drawn.items) == [i for i in substitutions if edits[i]["row"] in rows]
    for pair in drawn.pairs:
        edit = edits[pair["item"]]
        pieces = {name: own for name, own in pair["pieces"].items() if len(own) > 1}
        assert list(pieces) == [edit["column"]]
        (own,) = pieces.values()
        assert [piece for kind, piece in own if kind == "new"][-1] == edit["new"]
        old = "".join(piece for kind, piece in own if kind != "new")
        assert old == versions.original[edit["column"]][pair["row"]].as_py()
    assert {pair["first"] for pair in drawn.pairs} == {"original", "rephrased"}


def test_an_article_goes_with_the_word_behind_it():
    def edit(column, start, rule):
        return {"column": column, "start": start, "rule": rule}

    article, word = edit("premise", 0, "article"), edit("premise", 2, "reviewed")
    other, lone = edit("premise", 9, "reviewed"), edit("hypothesis", 4, "article")
    mark, last = edit("premise", 20, "normalise"), edit("premise", 30, "reviewed")
    assert split_edits([last, other, mark, word, lone, article]) == [
        [article, word],
        [other],
        [last],
    ]


def test_a_text_is_sound_if_all_its_edits_are(tmp_path, first_run):
    drawn = draw_sample(read_run(first_run), tmp_path / "edits.json", n=60, unit="edits")
    by_row: dict[int, list[int]] = {}
    for pair in drawn.pairs:
        by_row.setdefault(pair["row"], []).append(pair["item"])
    several = next(items for items in by_row.values() if len(items) > 1)
    marks = dict.fromkeys(drawn.items, "sound") | {several[0]: "unsound"}
    unmarked = next(items for items in by_row.values() if items != several)
    del marks[unmarked[0]]
    found = drawn.rows_of(find_sound({"anna": marks}, by="anna"))
    expected = [row for row, items in by_row.items() if items not in (several, unmarked)]
    assert found == sorted(expected)
    (texts,) = measure_texts(drawn, {"anna": marks})
    assert (texts.n_sound, texts.n_marked) == (len(expected), len(expected) + 1)
    ((old, new, n_unsound, n_marked),) = count_unsound(drawn, {"anna": marks})
    assert (n_unsound, old != new, n_marked >= 1) == (1, True, True)
    shown = summary_table(drawn, {"anna": marks}).shown()
    assert [row[1] for row in shown] == ["edits", "texts, all edits sound"]


def test_the_interval_of_edits_takes_texts_for_clusters():
    marks = {item: "sound" if item < 60 else "unsound" for item in range(90)}
    alone = measure_soundness("anna", marks)
    alike = measure_soundness("anna", marks, rows={item: item // 3 for item in marks})
    apart = measure_soundness("anna", marks, rows={item: item for item in marks})
    low, high = proportion_confint(20, 30, method="wilson")
    assert alike.interval.low == pytest.approx(low, abs=0.01)
    assert alike.interval.high == pytest.approx(high, abs=0.01)
    assert (apart.interval.low, apart.interval.high) == pytest.approx(
        (alone.interval.low, alone.interval.high)
    )
    every = dict.fromkeys(range(90), "sound")
    sure = measure_soundness("anna", every, rows={item: item // 3 for item in every})
    # Few texts tell less surely how alike their edits are.
    low = proportion_confint(30, 30, method="wilson")[0]
    assert low - 0.01 < sure.interval.low < low


@pytest.mark.parametrize("marks", [{0: "sound", 1: "unsound"}, {0: "sound"}])
def test_edits_of_one_text_tell_as_much_as_one(marks):
    one = measure_soundness("anna", {0: "sound"})
    found = measure_soundness("anna", marks, rows=dict.fromkeys(marks, 7))
    assert found.interval.high - found.interval.low >= one.interval.high - one.interval.low - 1e-12


def test_marks_are_counted_by_what_was_shown_first(sample):
    first = {pair["item"]: pair["first"] for pair in sample.pairs}
    marks = {item: "sound" if which == "original" else "unsound" for item, which in first.items()}
    n = list(first.values()).count("original")
    assert measure_orders(sample, {"anna": marks, "ben": marks}) == {
        "original": (2 * n, 2 * n),
        "rephrased": (2 * (40 - n), 0),
    }


def test_a_sample_is_not_drawn_over_another(sample, first_run):
    before = sample.path.read_bytes()
    with pytest.raises(InputError, match="is there already"):
        draw_sample(read_run(first_run), sample.path)
    assert sample.path.read_bytes() == before
    # Nor do the marks of one become those of another.
    Marks(sample, "anna").add(sample.items[0], "sound")
    sample.path.unlink()
    with pytest.raises(InputError, match=r"marks .* still there: sample\.json\.anna\.marks\.jsonl"):
        draw_sample(read_run(first_run), sample.path)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"format": 9}', '{"format": 1}', "\xff", "[" * 200_000]
)
def test_what_is_no_sample_is_refused(tmp_path, content):
    path = tmp_path / "sample.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=r"sample\.json(, line 1)?: is (no sample|of format|not )"):
        read_sample(path)
    with pytest.raises(InputError, match="no such file"):
        read_sample(tmp_path / "absent.json")


def test_an_item_is_in_a_sample_once(sample):
    found = json.loads(sample.path.read_text())
    found["pairs"].append(found["pairs"][0])
    sample.path.write_text(json.dumps(found))
    with pytest.raises(InputError, match=r"sample\.json: an item is there twice; draw the sample"):
        read_sample(sample.path)


def _spoil(found, **values):
    return {**found, **values}


def _spoil_pair(found, **values):
    return {**found, "pairs": [{**found["pairs"][0], **values}, *found["pairs"][1:]]}


@pytest.mark.parametrize(
    "spoil",
    [
        *(lambda found, n=n: _spoil(found, n_reworded=n) for n in ("167", None, -1, 1.5, True)),
        lambda found: _spoil(found, columns="premise"),
        lambda found: _spoil(found, columns=["absent"]),
        lambda found: _spoil(found, test_set=5),
        lambda found: _spoil(found, criterion="new-label"),
        lambda found: _spoil(found, pairs={"0": found["pairs"][0]}),
        *(lambda found, row=row: _spoil_pair(found, row=row) for row in (-1, 10**30, "1", None)),
        *(
            lambda found, pieces=pieces: _spoil_pair(found, pieces=pieces)
            for pieces in (None, "abc", {"premise": 5}, {"premise": [["keep"]]})
        ),
        *(
            lambda found, piece=piece: _spoil_pair(
                found, pieces={name: [piece] for name in found["columns"]}
            )
            for piece in (["old", 5], ["new", None], ["other", "a"], "ke", 7)
        ),
    ],
)
def test_a_sample_that_was_spoilt_by_hand_is_refused(sample, spoil):
    found = json.loads(sample.path.read_text())
    read_sample(sample.path)
    sample.path.write_text(json.dumps(spoil(found)))
    with pytest.raises(InputError, match=r"sample\.json: is no sample"):
        read_sample(sample.path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda found: _spoil(found, n_reworded=3), "n_reworded is 3, and 40 different rows are"),
        (lambda found: _spoil_pair(found, row=99_999), r"item \d+ has the row 99999, and of texts"),
        (lambda found: _spoil_pair(found, item=99_999), "item 99999 has the row"),
        (
            lambda found: _spoil(
                found,
                criterion="new-label",
                pairs=[
                    {**pair, "pieces": {name: [["keep", "A"]] for name in found["columns"]}}
                    for pair in found["pairs"]
                ],
            ),
            "has a run's test_set, and the criterion new-label is of labelled files",
        ),
        (
            lambda found: _spoil(found, columns=found["columns"][:1]),
            r"item \d+ has texts of the columns 'premise', 'hypothesis', and the columns are said",
        ),
        (
            lambda found: _spoil_pair(
                found, pieces={**found["pairs"][0]["pieces"], "note": [["keep", "A"]]}
            ),
            r"item \d+ has texts of the columns 'premise', 'hypothesis', 'note', and the columns",
        ),
        (
            lambda found: _spoil_pair(
                found, pieces={name: [["keep", "A"]] for name in found["columns"]}
            ),
            r"nothing is changed in item \d+",
        ),
        (
            lambda found: _spoil(
                found,
                unit="edits",
                pairs=[
                    {
                        **pair,
                        "pieces": {name: [["old", "A"], ["new", "B"]] for name in pair["pieces"]},
                    }
                    for pair in found["pairs"]
                ],
            ),
            r"item \d+ has several edits, and the unit says that each is one",
        ),
        (
            lambda found: _spoil(found, unit="edits"),
            r"item \d+ has several edits, and the unit says that each is one",
        ),
    ],
)
def test_a_sample_that_contradicts_itself_is_refused(sample, spoil, message):
    found = json.loads(sample.path.read_text())
    sample.path.write_text(json.dumps(spoil(found)))
    with pytest.raises(InputError, match=rf"sample\.json: {message}.*; draw the sample anew"):
        read_sample(sample.path)


def test_edits_of_a_row_agree_on_it(tmp_path, first_run):
    drawn = draw_sample(read_run(first_run), tmp_path / "sample.json", n=60, unit="edits")
    found = json.loads(drawn.path.read_text())
    rows = [pair["row"] for pair in found["pairs"]]
    twice = next(pair for pair in found["pairs"] if rows.count(pair["row"]) > 1)
    for change in ({"label": "another"}, {"pieces": {n: [["keep", "A"]] for n in drawn.columns}}):
        pairs = [{**pair, **change} if pair is twice else pair for pair in found["pairs"]]
        drawn.path.write_text(json.dumps({**found, "pairs": pairs}))
        with pytest.raises(InputError, match=r"two items of row .* different labels or originals"):
            read_sample(drawn.path)
    drawn.path.write_text(json.dumps({**found, "n_reworded": len(set(rows)) - 1}))
    with pytest.raises(InputError, match="n_reworded is"):
        read_sample(drawn.path)


# As the version before this one wrote it.
FORMAT_2 = {
    "format": 2,
    "test_set": "ab12 cd34",
    "source": "words on toys",
    "unit": "texts",
    "criterion": "label",
    "n_reworded": 1,
    "seed": 0,
    "columns": ["premise"],
    "pairs": [
        {
            "item": 7,
            "row": 7,
            "label": "neutral",
            "pieces": {"premise": [["keep", "A boy "], ["old", "sleeps"], ["new", "slumbers"]]},
            "first": "rephrased",
        }
    ],
}


def test_a_sample_of_the_version_before_is_read(tmp_path):
    path = tmp_path / "old.json"
    path.write_text(json.dumps(FORMAT_2))
    marks_path(path, "anna").write_text('{"item": 7, "mark": "sound"}\n')
    found = read_sample(path)
    assert (found.test_set, found.items, found.has_versions) == ("ab12 cd34", (7,), True)
    assert [dict(pair) for pair in found.pairs] == FORMAT_2["pairs"]
    assert read_all_marks(found) == {"anna": {7: "sound"}}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda found: _spoil(found, unit="edits"),
        lambda found: _spoil(found, criterion="label"),
        lambda found: _spoil(found, criterion="other"),
        lambda found: _spoil_pair(found, label=None),
        lambda found: _spoil_pair(found, pieces={"premise": [["old", "a"], ["new", "b"]]}),
    ],
)
def test_a_sample_of_new_labels_that_was_spoilt_is_refused(tmp_path, spoil):
    pair = {"item": 7, "row": 7, "label": "neutral", "pieces": {"premise": [["keep", "A"]]}}
    good = {**FORMAT_2, "format": 3, "test_set": None, "criterion": "new-label", "pairs": [pair]}
    path = tmp_path / "new.json"
    path.write_text(json.dumps(good))
    assert not read_sample(path).has_versions
    path.write_text(json.dumps(spoil(good)))
    with pytest.raises(InputError, match=r"new\.json: is no sample"):
        read_sample(path)


def test_marks_survive_a_restart(sample):
    marks = Marks(sample, "anna")
    first, second, third = sample.items[:3]
    marks.add(first, "sound")
    marks.add(second, "sound")
    marks.add(second, "unsound")
    marks.add(third, "sound")
    marks.add(third, None)
    expected = {first: "sound", second: "unsound"}
    assert marks.as_dict() == expected
    assert Marks(sample, "anna").as_dict() == expected
    assert Marks(sample, "ben").as_dict() == {}
    assert list(read_all_marks(sample)) == ["anna"]


def test_a_torn_line_is_left_out_and_written_over(sample):
    marks = Marks(sample, "anna")
    marks.add(sample.items[0], "sound")
    with marks.path.open("ab") as file:
        file.write(b'{"item": 17, "ma')
    again = Marks(sample, "anna")
    assert again.as_dict() == {sample.items[0]: "sound"}
    again.add(sample.items[1], "unsound")
    assert Marks(sample, "anna").as_dict() == {sample.items[0]: "sound", sample.items[1]: "unsound"}
    assert marks.path.read_bytes().count(b"\n") == 2


def test_a_last_mark_without_an_end_of_line_holds(sample):
    path = marks_path(sample.path, "anna")
    first, second = sample.items[:2]
    path.write_text(json.dumps({"item": first, "mark": "sound"}))
    marks = Marks(sample, "anna")
    assert marks.as_dict() == {first: "sound"}
    marks.add(second, "unsound")
    assert Marks(sample, "anna").as_dict() == {first: "sound", second: "unsound"}


def test_marks_are_of_one_sample(tmp_path, first_run):
    run = read_run(first_run)
    one, two = (draw_sample(run, tmp_path / f"pilot.{name}", n=40) for name in ("v1", "v2"))
    Marks(one, "anna").add(one.items[0], "sound")
    assert (list(read_all_marks(one)), list(read_all_marks(two))) == (["anna"], [])


def test_people_without_marks_do_not_count(sample):
    Marks(sample, "anna").add(sample.items[0], "sound")
    ben = Marks(sample, "ben")
    ben.add(sample.items[0], "sound")
    ben.add(sample.items[0], None)
    marks_path(sample.path, "cid").touch()
    assert list(read_all_marks(sample)) == ["anna"]


def test_one_window_a_person(sample):
    first, second = Marks(sample, "anna"), Marks(sample, "anna")
    with first.locked():
        first.add(sample.items[0], "sound")
        with pytest.raises(InputError, match="in another window"), second.locked():
            pass
        with Marks(sample, "ben").locked():
            pass
    with second.locked():
        assert second.as_dict() == {sample.items[0]: "sound"}
    # Who has marked nothing does not count, nor stand in the way of another sample.
    assert marks_path(sample.path, "ben").stat().st_size == 0
    assert find_marks(sample.path) == {"anna": "sample.json.anna.marks.jsonl"}


def test_ties_are_counted(sample):
    anna, ben = Marks(sample, "anna"), Marks(sample, "ben")
    for number, row in enumerate(sample.items):
        anna.add(row, "sound")
        ben.add(row, "sound" if number < 30 else "unsound")
    marks = read_all_marks(sample)
    table = summary_table(sample, marks)
    assert table.rows[2][:5] == ("majority", "texts", 30, 40, 30)
    assert "not in its row: 10 on which votes are tied." in table.note
    assert "tied" not in summary_table(sample, {"anna": marks["anna"]}).note


MARKER = """
import sys
from pathlib import Path
from ietest_fast.annotation.marks import Marks
from ietest_fast.annotation.sample import read_sample
sample = read_sample(Path(sys.argv[1]))
marks = Marks(sample, sys.argv[2])
for turn in range(1000):
    for row in sample.items:
        marks.add(row, "sound" if (turn + row) % 2 else "unsound")
        print(row, turn, flush=True)
"""


def test_marks_of_two_people_survive_a_kill(sample):
    """What was said to be kept is kept, whenever the process dies."""
    people = ("anna", "ben")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MARKER, str(sample.path), person],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for person in people
    ]
    first = ["".join(process.stdout.readline() for _ in range(50)) for process in processes]
    for person, process, begun in zip(people, processes, first, strict=True):
        process.send_signal(signal.SIGKILL)
        said, _ = process.communicate()
        # What follows the last line's end was not all said.
        told = [tuple(map(int, line.split())) for line in (begun + said).split("\n")[:-1]]
        assert len(told) >= 50
        kept = Marks(sample, person).as_dict()
        expected = {row: "sound" if (turn + row) % 2 else "unsound" for row, turn in told}
        # One mark may have been kept and not been told of.
        differing = [row for row, mark in expected.items() if kept.get(row) != mark]
        assert len(differing) <= 1
        assert set(expected) <= set(kept)
    assert list(read_all_marks(sample)) == ["anna", "ben"]


@pytest.mark.parametrize("person", ["", "a b", "../x", "a" * 41, "a.b"])
def test_people_are_named_by_letters(sample, person):
    with pytest.raises(InputError, match="a person is named by"):
        Marks(sample, person)


def test_wrong_marks_are_refused(sample):
    marks = Marks(sample, "anna")
    with pytest.raises(InputError, match="not 'good'"):
        marks.add(sample.items[0], "good")
    with pytest.raises(InputError, match="not in the sample"):
        marks.add(10_000, "sound")
    assert not marks.path.exists()
    for line in ('{"item": 99999, "mark": "sound"}', '{"item": 1}', "x", '{"item": 0, "mark": 3}'):
        marks_path(sample.path, "ben").write_text(line + "\n")
        with pytest.raises(InputError, match=r"ben\.marks\.jsonl"):
            Marks(sample, "ben")


@pytest.mark.parametrize(
    "last",
    [
        '{"item": ITEM, "mark": "unsond"}',
        "TODO: the rest",
        '{"item": ITEM, "mark": "sound", "mark": null}',
        '{"item": ITEM, "mark": "sound", "sound": "no"}',
        '{"item": ITEM, "mark": null, "note": "unsure"}',
    ],
)
def test_a_whole_last_line_that_is_no_mark_is_refused(sample, last):
    item = sample.items[0]
    whole = json.dumps({"item": item, "mark": "sound"}) + "\n"
    marks_path(sample.path, "ben").write_text(whole + last.replace("ITEM", str(item)))
    with pytest.raises(InputError, match=r"ben\.marks\.jsonl, line 2: is no mark"):
        Marks(sample, "ben")


def test_several_marks_hold_or_none(sample):
    marks = Marks(sample, "anna")
    first, second, third = sample.items[:3]
    marks.add(first, "sound")
    before = marks.path.read_bytes()
    for wrong in ({second: "sound", 10_000: "sound"}, {second: "sound", third: "good"}):
        with pytest.raises(InputError):
            marks.add_all(wrong)
        assert (marks.as_dict(), marks.path.read_bytes()) == ({first: "sound"}, before)
    marks.add_all({first: None, second: "unsound", third: "sound"})
    assert marks.as_dict() == {second: "unsound", third: "sound"}
    assert Marks(sample, "anna").as_dict() == marks.as_dict()


def test_of_several_marks_that_do_not_fit_on_the_disk_none_holds(sample):
    marks = Marks(sample, "anna")
    marks.add(sample.items[0], "sound")
    before = marks.path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 50, hard))
    try:
        with pytest.raises(StoreError, match="cannot be written"):
            marks.add_all(dict.fromkeys(sample.items[1:30], "sound"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert marks.path.read_bytes() == before
    assert marks.as_dict() == Marks(sample, "anna").as_dict() == {sample.items[0]: "sound"}


def test_a_mark_that_cannot_be_written_does_not_hold(sample):
    marks = Marks(sample, "anna")
    marks.path.mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        marks.add(sample.items[0], "sound")
    assert marks.as_dict() == {}


@pytest.mark.parametrize(("n_sound", "n"), [(330, 400), (0, 400), (400, 400), (1, 3), (0, 1)])
def test_the_interval_is_wilsons(n_sound, n):
    marks = {row: "sound" if row < n_sound else "unsound" for row in range(n)}
    found = measure_soundness("anna", marks)
    low, high = proportion_confint(n_sound, n, method="wilson")
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-14)
    assert (found.n_marked, found.n_sound, found.share) == (n, n_sound, n_sound / n)


def test_the_papers_table_16_comes_out():
    """SNLI: 82.5% of 400 sound, interval 78.8% to 86.2% (by the normal law there)."""
    found = measure_soundness("paper", dict(enumerate(["sound"] * 330 + ["unsound"] * 70)))
    assert found.share == 0.825
    assert (found.interval.low, found.interval.high) == pytest.approx((0.788, 0.862), abs=0.004)


def test_nothing_is_marked():
    found = measure_soundness("anna", {})
    assert (found.share, found.interval) == (None, None)


@pytest.mark.parametrize("n_people", [2, 3, 5])
def test_kappa_is_that_of_statsmodels(n_people):
    rng = np.random.default_rng(n_people)
    truth = rng.random(200) < 0.8
    sound = np.where(rng.random((200, n_people)) < 0.15, ~truth[:, None], truth[:, None])
    marks = [{row: "sound" if own[row] else "unsound" for row in range(200)} for own in sound.T]
    found = measure_agreement(marks)
    if n_people == 2:
        table = np.array(
            [[(sound[:, 0] == a) & (sound[:, 1] == b) for b in (0, 1)] for a in (0, 1)]
        )
        expected = cohens_kappa(table.sum(axis=2)).kappa
        assert found.name == "Cohen's kappa"
    else:
        expected = fleiss_kappa(aggregate_raters(sound.astype(int))[0])
        assert found.name == "Fleiss's kappa"
    assert found.kappa == pytest.approx(expected, rel=1e-12)
    assert found.n == 200


def test_agreement_is_on_what_all_have_marked():
    anna = {1: "sound", 2: "unsound", 3: "sound", 4: "sound"}
    ben = {2: "unsound", 3: "sound", 9: "unsound"}
    found = measure_agreement([anna, ben])
    assert (found.n, found.share, found.kappa) == (2, 1.0, 1.0)
    same = measure_agreement([{1: "sound"}, {1: "sound"}])
    assert (same.kappa, same.share) == (None, 1.0)
    apart = measure_agreement([{1: "sound"}, {2: "sound"}])
    assert (apart.kappa, apart.n, apart.share) == (None, 0, None)
    with pytest.raises(InputError, match="two people"):
        measure_agreement([anna])


def test_the_majority_decides_and_ties_do_not():
    marks = [
        {1: "sound", 2: "sound", 3: "sound"},
        {1: "sound", 2: "unsound", 3: "unsound"},
        {1: "unsound", 3: "unsound"},
    ]
    assert take_majority(marks) == {1: "sound", 3: "unsound"}


def test_marks_are_summed_up(sample):
    anna, ben = Marks(sample, "anna"), Marks(sample, "ben")
    for number, row in enumerate(sample.items[:10]):
        anna.add(row, "sound" if number < 8 else "unsound")
        ben.add(row, "sound" if number < 6 else "unsound")
    people = read_all_marks(sample)
    assert [(each.who, each.n_sound) for each in measure_all(people)] == [
        ("anna", 8),
        ("ben", 6),
        ("majority", 6),
    ]
    table = summary_table(sample, people)
    assert table.shown()[0][:5] == ["anna", "texts", "10", "40", "8"]
    assert find_sound(people) == sorted(sample.items[:6])
    assert find_sound(people, by="anna") == sorted(sample.items[:8])
    with pytest.raises(InputError, match="'cid' has not marked this sample; who has: anna, ben"):
        find_sound(people, by="cid")
    with pytest.raises(InputError, match="nobody has marked"):
        find_sound({})


def test_files_of_others_are_no_people(sample):
    for name in (
        "other.anna.marks.jsonl",
        "sample.json.b.json.anna.marks.jsonl",
        "sample.json.anna.txt",
    ):
        (sample.path.parent / name).write_text(json.dumps({}))
    assert read_all_marks(sample) == {}


@pytest.mark.parametrize("person", ["majority", "a b", "a!", "x" * 41])
def test_marks_of_nobody_are_refused(sample, person):
    path = sample.path.parent / f"sample.json.{person}.marks.jsonl"
    path.write_text("")  # nothing was marked
    assert read_all_marks(sample) == {}
    path.write_text(json.dumps({"item": sample.items[0], "mark": "sound"}) + "\n")
    with pytest.raises(InputError, match=r"marks.jsonl: .*rename the file"):
        read_all_marks(sample)
