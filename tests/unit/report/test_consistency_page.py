"""Paraphrastic consistency becomes a page: numbers, sentences, figures, and items to read."""

from __future__ import annotations

import base64
import gzip
import json
import re
from statistics import NormalDist
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import ietest_fast as ie
from ietest_fast.analyses.consistency.charts import consistency_chart, plane_chart, theta_chart
from ietest_fast.analyses.consistency.page import (
    ConsistencySource,
    gather_wordings,
    say_consistency,
    split_table,
)
from ietest_fast.analyses.consistency.tables import (
    all_tables,
    corrected_table,
    count_table,
    measure_table,
    overview_table,
    pair_table,
)
from ietest_fast.cli.main import main
from ietest_fast.report.contents import gather
from ietest_fast.report.drawing import PAPER
from ietest_fast.report.page_builder import build_page
from ietest_fast.stats import Verdict
from report_browser import check_accessibility, watched_page

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ["no", "yes"]
FRAME = pd.DataFrame(
    [
        {
            "item": f"item {item}",
            "text": f"wording {place} of {item} <b>",
            "label": LABELS[item % 2],
            "kind": ("short", "long")[item % 3 == 0],
        }
        for item in range(30)
        for place in range(4 + (item % 2))
    ]
)


def parts_of(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"wording (\d+) of (\d+) <b>", text)
    assert found is not None
    return int(found[1]), int(found[2])


def unsteady(texts: list[str]) -> list[str]:
    """Right, but for every third item, of which it gets even wordings alone."""
    answers = []
    for place, item in map(parts_of, texts):
        is_right = item % 3 != 0 or place % 2 == 0
        answers.append(LABELS[(item % 2) ^ (not is_right)])
    return answers


def steady(texts: list[str]) -> list[str]:
    return ["yes"] * len(texts)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("consistency")
    made = {name: folder / f"{name}.parquet" for name in ("unsteady", "steady")}
    for model, path in zip((unsteady, steady), made.values(), strict=True):
        ie.consistency(model, FRAME, subset="kind", out=path, n_resamples=200)
    return made


@pytest.mark.slow
def test_the_numbers_of_a_file_are_those_of_the_run(files: dict[str, Path]) -> None:
    found = ConsistencySource.read([files["unsteady"]])
    (profile,) = found.profiles
    again = ie.consistency(unsteady, FRAME, subset="kind")
    assert profile.name == "unsteady"
    assert profile.to_dict() == {"model": "unsteady", **again.to_dict()}
    assert found.text_columns == ("text",)
    assert ConsistencySource.recognises(files["unsteady"])
    rows = {row[0]: row[1] for row in measure_table(profile).rows}
    assert rows["P_C, plug-in"] == profile["p_c"].value
    assert rows["P_C, unbiased"] == profile["p_c_unbiased"].value


@pytest.mark.slow
def test_tables_of_several_models(files: dict[str, Path]) -> None:
    found = ConsistencySource.read([*files.values()])
    one, two = found.profiles
    assert [row[0] for row in overview_table(found.profiles).rows] == ["unsteady", "steady"]
    counts = [
        dict(zip((c.name for c in count_table(found.profiles).columns), row, strict=True))
        for row in count_table(found.profiles).rows
    ]
    assert [each["split"] for each in counts] == [10, 0]
    for each in counts:
        assert each["all right"] + each["split"] + each["all wrong"] == 30
    table = pair_table(found.pairs, title="pairs")
    assert table is not None
    first = {row[2]: row for row in table.rows}["P_C, unbiased"]
    assert first[4] == pytest.approx(one["p_c_unbiased"].value - two["p_c_unbiased"].value)
    assert corrected_table(found.profiles) is None
    names = [each.name for each in all_tables(found.profiles, found.pairs)]
    assert names.count("consistency-subsets") == 2


@pytest.mark.slow
def test_warnings_of_tests_stand_below_the_table_and_in_json(files: dict[str, Path]) -> None:
    found = ConsistencySource.read([*files.values()])
    (pair,) = found.pairs
    warning = pair.means["p_c_unbiased"].warning
    assert warning is not None
    assert "only 10 pairs" in warning
    assert pair.to_dict()["p_c_unbiased_warning"] == warning
    table = pair_table(found.pairs, title="pairs")
    assert table is not None
    assert f"unsteady and steady: P_C, unbiased: {warning}." in table.note
    many = pair_table(found.pairs * 9, title="pairs")
    assert many is not None
    assert f"There are {9 * len(pair.warnings()) - 6} more warnings" in many.note
    html = build_page(gather(found))
    assert "<title>Paraphrastic consistency</title>" in html
    assert "only 10 pairs" in html
    # Subsets of ten and twenty items.
    subset = found.profiles[0].subsets
    assert subset is not None
    assert subset.pairs[0].to_dict()["p_c_unbiased_method"] == "permutation"
    notes = " ".join(each.note for each in all_tables(found.profiles, found.pairs))
    assert "the smaller set has 10 items" in notes


@pytest.mark.slow
def test_parts_say_that_they_are_few_and_show_the_unbiased_measure(files: dict[str, Path]) -> None:
    profile = ConsistencySource.read([files["unsteady"]]).profiles[0]
    assert profile.subsets is not None
    said = profile.remarks()
    assert any(line.startswith("kind, long") and "Only 10 items" in line for line in said)
    rows = dict(profile.rows())
    part = profile.subsets.parts["long"]
    assert rows["  P_C, unbiased, long"].startswith(f"{part['p_c_unbiased'].value:.4f}")


@pytest.mark.slow
def test_one_sentence_says_what_was_found(files: dict[str, Path]) -> None:
    one, two = ConsistencySource.read([*files.values()]).profiles
    kind, said = say_consistency(one)
    assert kind is Verdict.DIFFERS
    own = one["p_c_unbiased"]
    ends = f"(95% {100 * own.interval.low:.1f} to {100 * own.interval.high:.1f})"
    assert f"P_C is {100 * own.value:.1f}% {ends}: so often " in said
    assert ("split items", "10 of 30: right in some paraphrases, wrong in others") in (
        one.answer_rows()
    )
    assert len(one.headline.split()) <= 30
    kind, said = say_consistency(two)
    assert kind is Verdict.UNDECIDED
    # By Wilson's interval of 0 in n: z²/(n + z²).
    z = NormalDist().inv_cdf(0.975)
    limit = z**2 / (two.result.n_buckets + z**2)
    assert f"P_C is 100.0% (95% {100 - 100 * limit:.1f} to 100.0)" in said


@pytest.mark.slow
def test_items_that_split(files: dict[str, Path]) -> None:
    one, two = ConsistencySource.read([*files.values()]).profiles
    table = split_table(one, ("text",))
    assert table is not None
    assert split_table(two, ("text",)) is None
    assert {row[0] for row in table.rows} == {f"item {item}" for item in range(0, 30, 3)}
    for item, n, right, original, text in table.rows:
        number = int(str(item).split()[1])
        assert n == 3 + number % 2
        assert right == sum(place % 2 == 0 for place in range(1, 4 + number % 2))
        assert (original, text) == ("right", f"wording 0 of {number} <b>")
    distances = [abs(row[2] / row[1] - 0.5) for row in table.rows]  # type: ignore[operator]
    assert distances == sorted(distances)


@pytest.mark.slow
def test_items_with_the_answers_of_both(files: dict[str, Path]) -> None:
    found = ConsistencySource.read([*files.values()])
    items = gather_wordings(found.profiles, found.text_columns)
    assert items is not None
    assert (items.models, items.columns, items.n_left) == (("unsteady", "steady"), ("text",), 0)
    assert len(items.items) == 30
    assert {each["item"] for each in items.items[:10]} == {f"item {n}" for n in range(0, 30, 3)}
    for item in items.items:
        for place, (version, (text,), answers) in enumerate(item["rows"]):
            assert (version == "original") == (place == 0)
            assert [answer[0] for answer in answers] == [unsteady([text])[0], "yes"]
            assert [answer[1] for answer in answers] == [
                int(answer[0] == item["gold"]) for answer in answers
            ]
    packed = json.loads(gzip.decompress(base64.b64decode(items.pack())))
    assert packed["items"] == list(items.items)
    assert gather_wordings(found.profiles, ()) is None


@pytest.mark.slow
def test_the_figures(files: dict[str, Path]) -> None:
    found = ConsistencySource.read([*files.values()])
    one = found.profiles[0]
    _, hints = consistency_chart(found.profiles, "a").draw(PAPER)
    assert len(hints) == 4
    _, hints = plane_chart(found.profiles, "b").draw(PAPER)
    (text,) = [text for text in hints.values() if text.startswith("unsteady: ")]
    assert f"accuracy {100 * one['accuracy_macro'].value:.1f}%" in text
    assert f"P_C {100 * one['p_c'].value:.1f}%" in text
    chart = theta_chart(one, "c")
    _, hints = chart.draw(PAPER)
    counts = [int(text.split(": ")[1].split()[0]) for text in hints.values()]
    assert (sum(counts), counts[-1]) == (30, 20)
    assert "20 are answered rightly in all paraphrases, 0 in none, and 10 in some" in chart.summary


@pytest.mark.slow
def test_the_page_and_the_files_for_a_paper(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    with pytest.raises(SystemExit) as stop:
        main(
            [
                "report",
                *map(str, files.values()),
                *("--out", str(page), "--paper", str(tmp_path / "paper")),
            ]
        )
    assert stop.value.code in {0, None}
    assert "2 files of paraphrases" in capsys.readouterr().out
    html = page.read_text()
    found = ConsistencySource.read([*files.values()])
    data = json.loads(re.search(r'id="report-data">(.*?)</script>', html, re.DOTALL)[1])  # type: ignore[index]
    assert [each["model"] for each in data["consistency"]["profiles"]] == ["unsteady", "steady"]
    assert "<b>" not in html
    assert "wording 0 of 0 &lt;b&gt;" in html
    written = {path.name for path in (tmp_path / "paper").rglob("*")}
    assert {"consistency.pdf", "consistency-plane.svg", "consistency-models.csv"} <= written
    assert html == build_page(gather(found))


@pytest.mark.browser
def test_axe_finds_nothing(files: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(build_page(gather(ConsistencySource.read([*files.values()]))))
    check_accessibility(path.as_uri(), lambda page: page.wait_for_selector(".wordings[data-ready]"))


@pytest.mark.browser
def test_items_are_filtered(files: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(build_page(gather(ConsistencySource.read([*files.values()]))))
    with watched_page() as (page, troubles):
        page.goto(path.as_uri())
        page.wait_for_selector(".wordings[data-ready]")
        form, status = page.locator(".wordings form"), page.locator(".wordings .status")

        def expect(said: str) -> None:
            page.wait_for_function(
                "said => document.querySelector('.wordings .status').textContent === said", arg=said
            )

        assert status.inner_text() == "10 of 30 items"
        form.locator("[name=model]").select_option("1")
        expect("0 of 30 items")
        form.locator("[name=kind]").select_option("wrong")
        expect("15 of 30 items")
        form.locator("[name=gold]").select_option("yes")
        expect("0 of 30 items")
        form.locator("button[type=reset]").click()
        expect("10 of 30 items")
        form.locator("[name=search]").fill("of 27")
        expect("1 of 30 items")
        assert page.locator(".wordings tbody tr").count() == 5
        assert troubles == []
