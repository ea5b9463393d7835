"""Hostile data show as text, and run nothing."""

from __future__ import annotations

import html

import pytest

from finished_runs import HOSTILE
from ietest_fast.escapes import show_controls
from ietest_fast.experiment import read_run
from ietest_fast.experiment.view.sections import RunsSource
from ietest_fast.report import build_page, gather
from ietest_fast.report.contents import Contents, Heading, Note, Numbers, Section, Words
from ietest_fast.report.tables import Column, Table
from report_browser import wait_for_examples, watched_page


def visible(text):
    return "".join(chr(0x2400 + ord(sign)) if sign < " " else sign for sign in text)


@pytest.mark.browser
def test_hostile_texts_show_as_text(make_page, hostile_run):
    path = make_page(hostile_run)
    with watched_page() as (page, troubles):
        page.goto(path.as_uri())
        wait_for_examples(page)
        assert page.title() == "A <report> & more"
        page.select_option("[name=changed]", "")
        page.select_option("[name=sort]", "row")
        page.select_option("[name=order]", "up")
        wait_for_examples(page)
        for row, text in enumerate(HOSTILE):
            shown = page.locator(f".pairs tr[data-row='{row}'] .text.old").first
            assert shown.text_content() == visible(text)
            new = page.locator(f".pairs tr[data-row='{row}'] .text.new").first
            assert new.text_content() == visible(
                text.replace("sleeps", "slumbers").replace("street", "road")
            )
        labels = page.eval_on_selector_all(
            "[name=label] option", "all => all.map(o => o.textContent)"
        )
        assert labels == ["all", "<b>yes</b>", "no & no", 'may"be']
        assert page.locator(".pairs img, .pairs script, .pairs b, .pairs svg").count() == 0
        # Right to left is isolated: what follows keeps its direction.
        assert (
            page.locator(".pairs tr[data-row='3'] .text.old").first.get_attribute("dir") == "auto"
        )
        page.fill("[name=search]", "<script>")
        wait_for_examples(page)
        assert page.inner_text(".status").startswith("1 of")
        assert page.title() == "A <report> & more"
        assert troubles == []


@pytest.mark.slow
def test_the_page_holds_no_text_of_the_data_as_markup(make_page, hostile_run):
    source = make_page(hostile_run).read_text()
    for piece in ("<img src=x", "<svg onload", "owned", "<b>yes", "\x00", "<report>"):
        assert piece not in source
    assert "{{" not in source
    assert source.count("<script") == source.count("</script>")


@pytest.mark.browser
def test_hostile_names_of_runs_show_as_text(tmp_path, first_run, second_run):
    names = [
        '<img src=x onerror="document.title=1"> \x00',
        "</title></svg><script>alert(1)</script> $x$",
    ]
    runs = [
        read_run(folder).renamed(name)
        for folder, name in zip((first_run, second_run), names, strict=True)
    ]
    path = tmp_path / "page.html"
    path.write_text(build_page(gather(RunsSource(runs=tuple(runs))), title="Names"))
    with watched_page() as (page, troubles):
        page.goto(path.as_uri())
        wait_for_examples(page)
        assert page.title() == "Names"
        assert page.locator("img, svg script, table script").count() == 0
        shown = [visible(name) for name in names]
        for text, verdict in zip(shown, page.locator(".verdict").all(), strict=True):
            assert text in verdict.text_content()
        models = page.eval_on_selector_all(
            "[name=model] option", "all => all.map(o => o.textContent)"
        )
        assert models == ["any", *shown]
        titles = page.eval_on_selector_all("svg > title", "all => all.map(t => t.textContent)")
        assert any(shown[0] in title for title in titles)
        assert troubles == []


@pytest.mark.parametrize("name", ["m<b>\x1b[31m", "\x07\x00a", "\x7f\x9b2J"])
def test_no_part_of_a_page_holds_a_control_character(name):
    table = Table(name="a", title=name, note=name, columns=(Column(name),), rows=((name,),))
    parts = (
        Heading(text=name),
        Numbers(table=table, folded=name),
        Numbers(table=table),
        Note(text=name),
        Words(title=name, text=name),
    )
    section = Section(id="a", title=name, intro=name, parts=parts)
    page = build_page(Contents(sources=(), sections=(section,)), title=name)
    assert not [sign for sign in page if (sign < " " and sign != "\n") or "\x7f" <= sign <= "\x9f"]
    assert page.count(html.escape(show_controls(name))) >= 12
