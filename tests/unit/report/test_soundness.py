"""What a report says of unsound rephrasings."""

from __future__ import annotations

import json

import pytest

from ietest_fast.annotation.marks import Marks
from ietest_fast.annotation.sample import read_sample
from ietest_fast.annotation.sampling import check_run, draw_sample
from ietest_fast.annotation.soundness import (
    marked_tables,
    needed_table,
    read_marked,
    say_soundness,
    soundness_sections,
)
from ietest_fast.errors import InputError
from ietest_fast.experiment.finished import read_counts, read_run
from ietest_fast.experiment.view.result_tables import brief_tables
from ietest_fast.experiment.view.sections import RunsSource
from ietest_fast.report.contents import gather
from ietest_fast.report.page_builder import build_page
from ietest_fast.stats import PairedCounts, unsoundness, wilson_interval


@pytest.fixture
def run(first_run):
    return read_run(first_run)


@pytest.fixture
def sample(tmp_path, run):
    return draw_sample(run, tmp_path / "sample.json", n=50, seed=3)


def mark(sample, person, n_unsound):
    own = Marks(sample, person)
    for number, item in enumerate(sample.items):
        own.add(item, "unsound" if number < n_unsound else "sound")


def test_what_it_would_take_is_that_of_the_hardest_classifier(run):
    table = needed_table([run])
    assert [row[1] for row in table.rows] == [rho.rho for rho in run.rhos]
    for row, rho in zip(table.rows, run.rhos, strict=True):
        n_reworded = rho.cells[0].reworded.counts.n
        found = [
            unsoundness(
                PairedCounts(cell.n11, cell.n10, cell.n01, cell.n00),
                reworded=n_reworded,
                alpha=run.alpha / run.n_classifiers,
            )
            for cell in rho.cells
        ]
        most = max(each.n_to_explain for each in found)
        shares = [each.share_to_explain for each in found if each.n_to_explain]
        assert row[2:] == (
            n_reworded,
            len(shares),
            len(found),
            most or None,
            max(shares, default=None),
        )


def test_marks_come_with_the_test_on_the_sound_part(run, sample):
    mark(sample, "anna", 5)
    mark(sample, "ben", 8)
    marked = read_marked(sample.path)
    assert len(marked.sound_rows) == 42
    said = say_soundness(marked)
    assert said.startswith(
        "of 50 marked texts, 5 are unsound by the criterion label, and 3 have no"
    )
    low, high = wilson_interval(5, 50).low, wilson_interval(8, 50).high
    n = sample.n_reworded
    assert (
        f"{low:.1%} to {high:.1%} (95%), which makes {low * n:,.0f} to {high * n:,.0f} of" in said
    )
    names = [table.name for table in marked_tables(run, marked, brief_tables)]
    assert names[0] == "soundness"
    assert len(names) == 3
    page = build_page(
        gather(
            RunsSource(
                runs=(run,), soundness=tuple(soundness_sections([run], [marked], brief_tables))
            )
        )
    )
    assert "Are the rephrasings sound?" in page
    assert "on the 42 observations that are sound" in page
    assert "sample.json: of 50 marked texts" in page


def test_a_sample_of_edits_counts_texts(tmp_path, run):
    sample = draw_sample(run, tmp_path / "edits.json", n=50, seed=3, unit="edits")
    mark(sample, "anna", 1)
    marked = read_marked(sample.path)
    n_texts = len({pair["row"] for pair in sample.pairs})
    assert marked.soundness.n_marked == n_texts
    assert marked.soundness.n_sound == len(marked.sound_rows) == n_texts - 1


def test_a_text_with_one_unsound_edit_is_unsound(tmp_path, run):
    sample = draw_sample(run, tmp_path / "edits.json", n=80, seed=3, unit="edits")
    by_row = {}
    for pair in sample.pairs:
        by_row.setdefault(pair["row"], []).append(pair["item"])
    several = [items for items in by_row.values() if len(items) > 1]
    (tied, bad, *_), (one, *_) = several[0], several[1]
    anna, ben = Marks(sample, "anna"), Marks(sample, "ben")
    for item in sample.items:
        anna.add(item, "unsound" if item in {tied, bad, one} else "sound")
        ben.add(item, "unsound" if item == bad else "sound")
    marked = read_marked(sample.path)
    # The first text has an unsound edit, whatever the tied one is; of the second nobody can say.
    assert (marked.soundness.n_marked, marked.n_undecided) == (len(by_row) - 1, 1)
    assert marked.soundness.n_sound == len(by_row) - 2
    low, high = marked.unsound_bounds()
    assert low == wilson_interval(1, len(by_row)).low
    assert high == wilson_interval(2, len(by_row)).high


def _edit(sample, change):
    found = json.loads(sample.path.read_text())
    change(found)
    sample.path.write_text(json.dumps(found))


def _shift(found):
    for pair in found["pairs"]:
        pair["row"] += 1
        if found["unit"] == "texts":
            pair["item"] = pair["row"]


def _reword(found):
    name = found["columns"][0]
    found["pairs"][0]["pieces"][name] = [["old", "A"], ["new", "B"]]


def _relabel(found):
    found["pairs"][0]["label"] = "another"


def _lack(found):
    found["pairs"][0]["row"] = 10**9
    if found["unit"] == "texts":
        found["pairs"][0]["item"] = 10**9


@pytest.mark.parametrize("unit", ["texts", "edits"])
@pytest.mark.parametrize("change", [_shift, _reword, _relabel, _lack])
def test_a_sample_is_held_against_the_run(tmp_path, run, unit, change):
    sample = draw_sample(run, tmp_path / "sample.json", n=5, seed=3, unit=unit)
    check_run(read_sample(sample.path), run)
    _edit(sample, change)
    message = r"(are not those of|two items of row \d+ have different labels or originals).*anew"
    with pytest.raises(InputError, match=message):
        check_run(read_sample(sample.path), run)


def test_how_much_was_reworded_is_held_against_the_run(run, sample):
    _edit(sample, lambda found: found.update(n_reworded=found["n_reworded"] + 1))
    message = r"n_reworded is \d+, and .* has \d+ reworded observations; draw the sample anew"
    with pytest.raises(InputError, match=message):
        check_run(read_sample(sample.path), run)
    _edit(sample, lambda found: found.update(columns=found["columns"][:1]))
    with pytest.raises(InputError, match=r"of the columns 'premise', 'hypothesis', and"):
        check_run(read_sample(sample.path), run)


def test_without_marks_the_report_has_what_it_would_take(run):
    page = build_page(
        gather(
            RunsSource(runs=(run,), soundness=tuple(soundness_sections([run], [], brief_tables)))
        )
    )
    assert "Unsound rephrasings that would explain the result" in page
    assert "lets people mark how many there are" in page


def test_marks_need_a_run_with_texts(tmp_path, sample):
    mark(sample, "anna", 1)
    path = tmp_path / "runs.csv"
    path.write_text("model,rho,n11,n10,n01,n00,collapsed\nbert,0.5,70,10,5,15,False\n")
    with pytest.raises(InputError, match="none of these runs has texts"):
        soundness_sections(list(read_counts(path)), [read_marked(sample.path)], brief_tables)


def test_samples_without_marks_or_of_others_are_refused(tmp_path, run, sample):
    with pytest.raises(InputError, match="nobody has marked this sample yet"):
        read_marked(sample.path)
    mark(sample, "anna", 1)
    text = sample.path.read_text().replace(sample.test_set, "0" * 64)
    sample.path.write_text(text)
    with pytest.raises(InputError, match="not drawn from the test set of any of these runs"):
        soundness_sections([run], [read_marked(sample.path)], brief_tables)
