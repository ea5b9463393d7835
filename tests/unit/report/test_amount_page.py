"""Curves of consistency on a page, and pages with many models, items and long texts."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.analyses.consistency import page as wordings
from ietest_fast.analyses.consistency.charts import (
    amount_chart,
    curve_table,
    path_chart,
    plane_chart,
    step_table,
)
from ietest_fast.analyses.consistency.curves import note_amounts
from ietest_fast.analyses.consistency.file import (
    ConsistencyAnswers,
    ConsistencyNotes,
)
from ietest_fast.analyses.consistency.page import ConsistencySource, gather_wordings
from ietest_fast.analyses.consistency.tables import say_remarks
from ietest_fast.answers import Predictions
from ietest_fast.answers.file import write_answers
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.experiment import check_config
from ietest_fast.experiment.finished import read_folder
from ietest_fast.experiment.run import run
from ietest_fast.experiment.view.run_sections import result_section
from ietest_fast.report.contents import Figures, Note, Numbers, gather
from ietest_fast.report.drawing import PAPER, WIDTH, legend_columns, legend_rows
from ietest_fast.report.page_builder import build_page
from report_browser import check_accessibility, watched_page
from toys import Swap, toy_splits

if TYPE_CHECKING:
    from pathlib import Path

    from ietest_fast.analyses.consistency.asking import Consistency

N_ITEMS = 60


def make_answers(models: dict[str, float], *, seed: int = 0, length: int = 1) -> ConsistencyAnswers:
    """Answers of models that are right with the given probability, on four paraphrases."""
    rng = np.random.default_rng(seed)
    texts: dict[tuple[int, int], str] = {}  # all models answer the same
    rows = [
        {
            "item": f"item {item}",
            "version": ORIGINAL if place == 0 else f"p{place}",
            "text": texts.setdefault(
                (item, place),
                " ".join([f"wording {place} of {item}", *map(str, rng.integers(0, 9**9, length))]),
            ),
            "gold": "yes",
            "predicted": "yes" if rng.random() < share else "no",
            "model": model,
        }
        for model, share in models.items()
        for item in range(N_ITEMS)
        for place in range(5)
    ]
    table = pa.Table.from_pylist(rows)
    run = ConsistencyNotes(text_columns=("text",))
    return ConsistencyAnswers(predictions=Predictions.from_table(table), notes=run)


def write(folder: Path, name: str, models: dict[str, float], amounts: list[float]) -> Path:
    found = [make_answers(models)]
    if amounts:
        found = list(note_amounts(found, amounts, of="pretraining tokens"))
    write_answers(found[0], folder / f"{name}.parquet")
    return folder / f"{name}.parquet"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Consistency:
    folder = tmp_path_factory.mktemp("curves")
    one = write(folder, "one", {"a": 0.9, "b": 0.5, "c": 0.7}, [1e9, 1e6, 1e7])
    two = write(folder, "two", {"d": 0.6, "e": 0.8}, [1e6, 1e9])
    return ConsistencySource.read([one, two])


def test_tables_of_curves(source: Consistency) -> None:
    assert [curve.name for curve in source.curves] == ["one", "two"]
    table = curve_table(source.curves, of_runs=False)
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    assert [(row["curve"], row["pretraining tokens"], row["model"]) for row in rows] == [
        ("one", 1_000_000, "b"),
        ("one", 10_000_000, "c"),
        ("one", 1_000_000_000, "a"),
        ("two", 1_000_000, "d"),
        ("two", 1_000_000_000, "e"),
    ]
    by_name = {profile.name: profile for profile in source.profiles}
    for row in rows:
        own = by_name[str(row["model"])]
        assert row["P_C, unbiased %"] == own["p_c_unbiased"].value
        assert row["accuracy, macro %"] == own["accuracy_macro"].value
        assert (row["items"], row["paraphrases"]) == (N_ITEMS, 4 * N_ITEMS)
    steps = step_table(source.curves, of_runs=False)
    assert steps is not None
    assert {row[:2] for row in steps.rows} == {("c", "b"), ("a", "c"), ("e", "d")}
    assert "A step compares these classifiers, not amounts of data." in steps.note


def test_figures_of_curves(source: Consistency) -> None:
    one = source.curves[0]
    _, hints = amount_chart(one, "x").draw(PAPER)
    assert len(hints) == 6
    value = 100 * one.points[0].result["p_c_unbiased"].value
    assert any(
        text.startswith(f"1M pretraining tokens, P_C, unbiased: {value:.1f}%")
        for text in hints.values()
    )
    figure, hints = path_chart(source.curves, "y").draw(PAPER)
    assert len(hints) == 5
    (axes,) = figure.axes
    # A line goes through the points of a curve in the order of the amounts.
    path = [100 * point.result["accuracy_macro"].value for point in one.points]
    assert any(np.array_equal(line.get_xdata(), path) for line in axes.get_lines())
    left, right = axes.get_xlim()
    for curve in source.curves:
        for point in curve.points:
            ends = point.result["accuracy_macro"].interval
            assert left <= 100 * ends.low <= 100 * ends.high <= right
    assert amount_chart(one, "x").title == "P_C and accuracy over the pretraining tokens: one"


def test_the_two_planes_are_told_apart(source: Consistency) -> None:
    models, amounts = plane_chart(source.profiles, "x"), path_chart(source.curves, "y")
    assert models.title == "Accuracy and P_C of each model"
    assert models.note.startswith("Each mark: a model, with plug-in P_C and 95% intervals.")
    assert amounts.title == "Accuracy and P_C by pretraining tokens, from the least to the most"
    assert amounts.note.startswith("Each mark: an amount, with P_C, unbiased; lines connect")
    heights = [chart.draw(PAPER)[0].axes[0].get_ylabel() for chart in (models, amounts)]
    assert heights == ["P_C, plug-in (%)", "P_C, unbiased (%)"]
    assert plane_chart(source.profiles[:1], "x").title == "Accuracy and P_C of a"


def test_percentages_are_shown_as_percentages(tmp_path: Path) -> None:
    (noted,) = note_amounts([make_answers({"a": 0.5, "b": 0.9})], [1, 0.07], in_percent=True)
    write_answers(noted, tmp_path / "x.parquet")
    (curve,) = ConsistencySource.read([tmp_path / "x.parquet"]).curves
    table = curve_table([curve], of_runs=False)
    assert [row[0] for row in table.rows] == ["7%", "100%"]
    chart = amount_chart(curve, "x")
    figure, hints = chart.draw(PAPER)
    ticks = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert ticks == ["7%", "100%"]
    assert any(text.startswith("7% amount of data, P_C") for text in hints.values())
    assert "7%: accuracy" in chart.summary
    assert any(
        "100% amount of data" in text for text in path_chart([curve], "y").draw(PAPER)[1].values()
    )


@pytest.mark.slow
def test_a_curve_of_many_amounts_names_some(tmp_path: Path) -> None:
    models = {f"m{n}": 0.5 + 0.02 * n for n in range(12)}
    path = write(tmp_path, "many", models, [1e3 * 1.2**n for n in range(12)])
    (curve,) = ConsistencySource.read([path]).curves
    figure, _ = amount_chart(curve, "x").draw(PAPER)
    labels = [each.get_text() for each in figure.axes[0].get_xticklabels()]
    assert 3 <= len(labels) <= 7
    assert labels[0] == "1,000"


@pytest.mark.slow
def test_the_page_has_curves_and_their_numbers(source: Consistency) -> None:
    page = build_page(gather(source))
    assert "Over the amount of data" in page
    assert "P_C and accuracy over the pretraining tokens: two" in page
    data = json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    assert [own["name"] for own in data["consistency"]["curves"]] == ["one", "two"]
    alone = replace(source, curves=())
    assert "Over the amount of data" not in build_page(gather(alone))


@pytest.mark.slow
def test_the_page_of_a_run_has_p_c_over_its_training_rows(tmp_path: Path) -> None:
    config = check_config(
        {
            "data": {"demo": True, "name": "toys"},
            "model": {"name": "ngram-linear", "search": "default", "options": {"bits": 12}},
            "rho": [0, 0.5, 1],
            "n_classifiers": 2,
            "n_jobs": 1,
            "train_size": [40, 300],
        }
    )
    run(config, tmp_path, splits=toy_splits(), transformation=Swap())
    parts = result_section(read_folder(tmp_path)).parts
    names = [chart.name for part in parts if isinstance(part, Figures) for chart in part.charts]
    tables = [part.table for part in parts if isinstance(part, Numbers)]
    assert [name for name in names if name.startswith("consistency-rows")] == [
        "consistency-rows-1-1",
        "consistency-rows-1-2",
        "consistency-rows-1-plane",
    ]
    (table,) = (each for each in tables if each.name == "consistency-amounts")
    assert [row[:3] for row in table.rows] == [
        ("ngram-linear, ρ = 0", 40, 2),
        ("ngram-linear, ρ = 0", 300, 2),
        ("ngram-linear, ρ = 1", 40, 2),
        ("ngram-linear, ρ = 1", 300, 2),
    ]
    (steps,) = (each for each in tables if each.name == "consistency-steps")
    # Texts, not texts times classifiers.
    n_texts = sum("sleeps" in text for text in toy_splits().test.table["hypothesis"].to_pylist())
    assert {row[3] for row in steps.rows} == {row[3] for row in table.rows} == {n_texts}
    assert any("Only ρ = 0 and ρ = 1 are" in part.text for part in parts if isinstance(part, Note))


def test_a_remark_stands_once_with_whose_it_is(source: Consistency) -> None:
    one, two, *others = source.profiles
    told = [replace(each, warnings=("All of us.",)) for each in (one, two, *others)]
    told[1] = replace(told[1], warnings=("All of us.", "Mine."))
    assert say_remarks(told)[:2] == ["All models: All of us.", f"{two.name}: Mine."]
    assert say_remarks(told[1:2])[:2] == ["All of us.", "Mine."]
    told[:4] = [replace(each, warnings=("Four.",)) for each in told[:4]]
    said = say_remarks(told)
    assert said[0] == "a, b, c and 1 more: Four."
    assert said[-1] == "e: All of us."


@pytest.mark.parametrize("length", [3, 15, 40])
@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_legends_are_as_wide_as_the_figure(length: int, n: int) -> None:
    names = ["m" * length] * n
    columns = legend_columns(names)
    assert 1 <= columns <= min(n, 3)
    assert columns == 1 or columns * 0.082 * length < WIDTH
    assert legend_rows(names) == (0 if n == 1 else -(-n // columns))


@pytest.mark.slow
def test_a_legend_of_long_names_is_not_cut_off(tmp_path: Path) -> None:
    models = {f"snli_human_d-snli-roberta-base-{n}M-words": 0.8 for n in range(4)}
    found = ConsistencySource.read([write(tmp_path, "long", models, [])])
    figure, _ = plane_chart(found.profiles, "x").draw(PAPER)
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= figure.axes[0].get_tightbbox().y0


def test_a_page_of_long_texts_has_a_part_of_the_items(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = make_answers({"a": 0.7}, length=40)
    write_answers(found, tmp_path / "a.parquet")
    source = ConsistencySource.read([tmp_path / "a.parquet"])
    whole = gather_wordings(source.profiles, ("text",))
    assert whole is not None
    assert (whole.n_left, whole.remark()) == (0, None)
    most = len(whole.pack()) // 3
    monkeypatch.setattr(wordings, "MOST_BYTES", most)
    part = gather_wordings(source.profiles, ("text",))
    assert part is not None
    assert 0.6 * most < len(part.pack()) <= most
    assert part.items == whole.items[: len(part.items)]
    assert part.n_left == N_ITEMS - len(part.items)
    split = int(source.profiles[0].counts.splits.sum())
    assert part.n_split_left == max(0, split - len(part.items)) > 0
    said = part.remark()
    assert said is not None
    assert f"carries {len(part.items)} of {N_ITEMS} items" in said
    assert f"{part.n_split_left} of those are answered rightly in some" in said
    page = build_page(gather(source))
    assert said in page
    packed = re.search(r'data-part="items">(.*?)</script>', page, re.DOTALL)
    assert packed is not None
    carried = json.loads(gzip.decompress(base64.b64decode(packed[1])))["items"]
    assert len(carried) == len(part.items)


@pytest.mark.browser
@pytest.mark.parametrize(("n_models", "width"), [(1, 1280), (3, 400), (5, 400)])
def test_answers_stand_beside_each_other(tmp_path: Path, n_models: int, width: int) -> None:
    models = {f"a model with a long name, number {n}": 0.6 for n in range(n_models)}
    found = ConsistencySource.read([write(tmp_path, "models", models, [])])
    path = tmp_path / "report.html"
    path.write_text(build_page(gather(found)))
    with watched_page(width=width) as (page, troubles):
        page.goto(path.as_uri())
        page.wait_for_selector(".wordings[data-ready]")
        for details in page.locator("details").all():
            details.locator("summary").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        heads = page.locator(".wordings thead th").all_text_contents()
        names = [*models] if 1 < n_models < 5 else ["answers"]
        assert heads == ["item", "wording", *names]
        first = page.locator(".wordings tbody tr").first.locator("td.answer")
        assert first.count() == len(names)
        assert first.locator(".right, .wrong").count() == n_models
        said = " ".join(first.all_text_contents())
        assert all(name in said for name in models) == (n_models == 5)
        assert troubles == []


@pytest.mark.browser
def test_axe_finds_nothing(source: Consistency, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(build_page(gather(source)))
    check_accessibility(path.as_uri(), lambda page: page.wait_for_selector(".wordings[data-ready]"))
