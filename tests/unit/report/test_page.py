"""The page in Chromium: filters, search, sort, paging, and the numbers behind the figures."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from ietest_fast.experiment.finished import read_run
from ietest_fast.experiment.view.text_tables import QUANTIFIERS, find_hard_cases
from ietest_fast.numerals import show_p
from report_browser import wait_for_examples, watched_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def opened(make_page, first_run, second_run):
    with watched_page() as (page, troubles):
        page.goto(make_page(first_run, second_run).as_uri())
        wait_for_examples(page)
        yield page
        assert troubles == []


@pytest.fixture
def page(opened):
    opened.click(".filters button[type=reset]")
    wait_for_examples(opened)
    return opened


@pytest.fixture(scope="module")
def known(first_run, second_run):
    """Texts, labels and answers as the runs have them."""
    runs = [read_run(folder) for folder in (first_run, second_run)]
    return runs[0].read_versions(), [run.read_answers() for run in runs]


def choose(page, **values):
    for name, value in values.items():
        control = page.locator(f".filters [name={name}]")
        if control.evaluate("e => e.tagName") == "SELECT":
            control.select_option(str(value))
        else:
            control.fill(str(value))
    wait_for_examples(page)


def found(page):
    """How many observations fit, as the page says, and the rows it shows."""
    said = page.inner_text(".status").split(" of ")[0].replace(",", "")
    rows = page.eval_on_selector_all(".pairs tbody tr", "rows => rows.map(r => +r.dataset.row)")
    return int(said), rows


def test_everything_is_shown_at_first_what_flips_most_first(page, known):
    versions, answers = known
    n, rows = found(page)
    assert n == versions.changed.sum()
    assert len(rows) == 20
    flips = sum((own[..., 0] != own[..., 1]).sum(axis=(1, 2)) for own in answers)
    expected = sorted(np.flatnonzero(versions.changed), key=lambda row: (-flips[row], row))
    assert rows == expected[:20]
    first = page.inner_text(".pairs tbody tr:first-child")
    assert f"{flips[rows[0]]} of 12" in first


def test_filters_leave_what_fits(page, known):
    versions, answers = known
    before, after = answers[0][:, 1, 1, 0], answers[0][:, 1, 1, 1]
    gold = versions.gold
    kinds = {
        "flip": before != after,
        "lost": (before == gold) & (after != gold),
        "won": (before != gold) & (after == gold),
        "other": (before != gold) & (after != gold) & (before != after),
        "same": before == after,
    }
    choose(page, changed="", sort="row", order="up", size=100, model=0, rho=0.5, m=1)
    assert found(page)[0] == len(versions)
    for kind, expected in kinds.items():
        choose(page, flip=kind)
        n, rows = found(page)
        assert n == expected.sum(), kind
        assert rows == np.flatnonzero(expected)[:100].tolist()
    choose(page, flip="", label=2)
    assert found(page)[0] == (gold == 2).sum()
    choose(page, label="", changed=0)
    assert found(page)[0] == (~versions.changed).sum()
    # Of any model.
    either = np.zeros(len(versions), bool)
    for own in answers:
        either |= own[:, 1, 1, 0] != own[:, 1, 1, 1]
    choose(page, changed="", flip="flip", model="")
    assert found(page)[0] == either.sum()


def test_search_looks_into_both_versions(page, known):
    versions, _ = known
    choose(page, changed="", size=100)
    texts = [
        "\n".join(
            str(table[name][row]).lower()
            for table in (versions.original, versions.transformed)
            for name in versions.columns
        )
        for row in range(len(versions))
    ]
    for words in ("slumbers", "THE BOY SLEEPS", "lad slumbers", "no such words"):
        choose(page, search=words)
        assert found(page)[0] == sum(words.lower() in text for text in texts), words
    choose(page, search="", edit="slumbers")
    assert found(page)[0] == sum("slumbers" in text for text in texts)
    choose(page, edit="words")
    assert found(page)[0] == versions.changed.sum()


def test_sort_and_pages(page, known):
    versions, _ = known
    choose(page, changed="", sort="row", order="up", size=50)
    n = len(versions)
    seen = []
    for number in range(5):
        assert page.inner_text(".where") == f"page {number + 1} of 5"
        seen += found(page)[1]
        page.click("[data-page=next]") if number < 4 else None
    assert seen == list(range(n))
    assert page.is_disabled("[data-page=next]")
    assert page.is_disabled("[data-page=last]")
    page.click("[data-page=previous]")
    assert found(page)[1][0] == 150
    page.click("[data-page=first]")
    assert page.is_disabled("[data-page=previous]")
    page.click("[data-page=last]")
    assert found(page)[1] == list(range(200, 240))
    lengths = [
        sum(len(str(versions.original[name][row])) for name in versions.columns) for row in range(n)
    ]
    choose(page, sort="length", order="down")
    assert found(page)[1] == sorted(range(n), key=lambda row: (-lengths[row], row))[:50]
    edits = np.bincount(versions.edits["row"].to_numpy(), minlength=n)
    choose(page, sort="edits")
    assert found(page)[1] == sorted(range(n), key=lambda row: (-edits[row], row))[:50]


def test_hard_cases_are_those_of_the_library(page, known):
    versions, answers = known
    choose(page, changed="", sort="row", order="up", size=100)
    page.check("[name=hard]")
    for number, name in enumerate(QUANTIFIERS):
        choose(page, quantifier=number)
        expected = find_hard_cases(answers, versions.gold, quantifier=name)
        n, rows = found(page)
        assert (n, rows) == (len(expected), expected[:100].tolist()), name
        page.uncheck("[name=hard-model][value='1']")
        wait_for_examples(page)
        expected = find_hard_cases(answers[:1], versions.gold, quantifier=name)
        assert found(page)[0] == len(expected), name
        page.check("[name=hard-model][value='1']")


def test_an_example_shows_texts_edits_and_answers(page, known):
    versions, answers = known
    row = int(np.flatnonzero(versions.changed)[0])
    choose(page, changed="", sort="row", order="up", size=100, rho=1, m=0)
    shown = page.locator(f".pairs tr[data-row='{row}']")
    for name in versions.columns:
        old, new = (str(t[name][row]) for t in (versions.original, versions.transformed))
        texts = shown.locator(".text").all_text_contents()
        assert old in texts
        assert new in texts
    assert shown.locator("del").count() == shown.locator("ins").count() > 0
    names = versions.label_names
    for own, cell in zip(answers, shown.locator("td.answer").all(), strict=True):
        before, after = own[row, 2, 0]
        expected = [names[before]] + [names[after]] * int(before != after)
        said = re.sub(r" \((right|wrong)\)", "", cell.text_content()).split(" → ")
        assert said == expected


def test_the_keyboard_is_enough(page):
    page.focus("[name=search]")
    page.keyboard.type("lad")
    wait_for_examples(page)
    fewer = found(page)[0]
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    wait_for_examples(page)
    assert found(page)[0] > fewer
    page.focus("[data-page=next]")
    page.keyboard.press("Enter")
    assert page.inner_text(".where").startswith("page 2")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.dataset.page") == "previous"


def test_a_point_says_its_values(page):
    hint = page.locator("svg .hint").first
    text = hint.locator("title").text_content()
    assert text.startswith("ρ = 0, original test set: ")
    hint.scroll_into_view_if_needed()
    hint.locator("use").first.hover(force=True)
    assert page.locator(".tip").is_visible()
    assert page.inner_text(".tip") == text


def test_the_numbers_behind_the_figures_are_those_of_the_results(page, first_run, second_run):
    data = json.loads(page.text_content("#report-data"))
    for run, folder in zip(data["runs"], (first_run, second_run), strict=True):
        (results,) = json.loads((folder / "results.json").read_text())["conditions"]
        assert run["signature"] == results["signature"]
        assert run["snr"] == results["robustness"]["snr"]
        for rho, expected in zip(run["rhos"], results["rhos"], strict=True):
            for name in ("rho", "accuracy_original", "accuracy_transformed", "t", "p_min"):
                assert rho[name] == expected[name]
            assert (rho["threshold"], rho["reject"]) == (expected["threshold"], expected["reject"])
            for cell, own in zip(rho["cells"], expected["cells"], strict=True):
                assert (cell["t"], cell["p_value"]) == (own["t"], own["p_value"])
                assert cell["interval"] == own["equivalence"]["interval"]
    # What the figures show is made of the same numbers.
    titles = page.eval_on_selector_all("svg .hint > title", "all => all.map(t => t.textContent)")
    table = page.locator("#table-by-rho-1 tbody tr").all()
    for run, folder in zip(data["runs"], (first_run, second_run), strict=True):
        for rho in json.loads((folder / "results.json").read_text())["conditions"][0]["rhos"]:
            row = table.pop(0).text_content()
            for version in ("original", "transformed"):
                mean, sd = (100 * rho[f"accuracy_{version}"][name] for name in ("mean", "sd"))
                assert f"ρ = {rho['rho']:g}, {version} test set: {mean:.2f}% ± {sd:.2f}" in titles
                assert f"{mean:.2f} ± {sd:.2f}" in row
            t, sd = rho["t"]["mean"], rho["t"]["sd"]
            assert f"{run['name']}, ρ = {rho['rho']:g}: t = {t:.3f} ± {sd:.3f}" in titles
            said = "rejected" if rho["reject"] else "not rejected"
            p = show_p(rho["p_min"])
            assert f"{run['name']}, ρ = {rho['rho']:g}: smallest p = {p}, {said}" in titles
            assert show_p(rho["p_min"], threshold=rho["threshold"]) in row
            for cell in rho["cells"]:
                low, high = (100 * end for end in cell["equivalence"]["interval"])
                begin = (
                    f"ρ = {rho['rho']:g}, m = {cell['m']}: δ = {100 * cell['delta']:+.2f} points, "
                    f"90% interval {low:+.2f} to {high:+.2f}"
                )
                assert any(title.startswith(begin) for title in titles)
    assert table == []


@pytest.mark.parametrize("field", ["edit", "search"])
def test_a_substitution_copied_from_a_table_is_found(page, known, field):
    page.click(".filters button[type=reset]")
    copied = page.locator("[id^=table-substitutions] tbody tr td").first.text_content()
    assert "→" in copied
    choose(page, **{field: copied}, changed="")
    old, new = copied.strip().split(" → ")
    edits = known[0].edits.to_pylist()
    rows = {
        each["row"] for each in edits if (each["old"].lower(), each["new"].lower()) == (old, new)
    }
    assert found(page)[0] == len(rows) > 0


def test_figures_use_the_width_of_the_page(page):
    page.set_viewport_size({"width": 1280, "height": 900})
    whole = page.locator("main").bounding_box()["width"]
    for figures in page.locator(".figures").all():
        boxes = [figure.bounding_box() for figure in figures.locator("figure").all()]
        if boxes[0] is None:
            continue
        left, right = (min(b["x"] for b in boxes), max(b["x"] + b["width"] for b in boxes))
        assert right - left > 0.9 * whole
