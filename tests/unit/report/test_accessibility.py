"""Axe finds nothing, at two widths, in light and in dark."""

from __future__ import annotations

import pytest

from report_browser import check_accessibility, wait_for_examples, watched_page

pytestmark = pytest.mark.browser


def test_axe_finds_nothing(make_page, first_run, second_run):
    check_accessibility(make_page(first_run, second_run).as_uri(), wait_for_examples)


def test_every_figure_has_a_name_and_says_what_there_is_to_see(make_page, first_run, second_run):
    with watched_page() as (page, _):
        page.goto(make_page(first_run, second_run).as_uri())
        charts = page.locator("svg.chart")
        assert charts.count() >= 10
        for chart in charts.all():
            names = chart.get_attribute("aria-labelledby").split()
            said = [page.text_content(f"[id='{name}']") for name in names]
            assert chart.get_attribute("role") == "img"
            assert all(len(text) > 15 for text in said)
        ids = page.eval_on_selector_all("[id]", "all => all.map(e => e.id)")
        assert len(ids) == len(set(ids))


def test_it_prints(make_page, first_run):
    with watched_page() as (page, troubles):
        page.goto(make_page(first_run).as_uri())
        wait_for_examples(page)
        page.emulate_media(media="print")
        assert not page.locator(".filters").first.is_visible()
        assert page.locator("svg.chart").first.is_visible()
        assert len(page.pdf()) > 10_000
        assert troubles == []
