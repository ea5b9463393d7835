"""The page for marking, in Chromium."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest

from finished_runs import HOSTILE
from ietest_fast.annotation.marks import Marks
from ietest_fast.annotation.sample import read_sample
from ietest_fast.annotation.sampling import draw_sample, draw_transformed
from ietest_fast.annotation.server import AnnotationServer
from ietest_fast.corpus import Corpus
from ietest_fast.experiment.finished import read_run
from report_browser import check_accessibility, wait_until, watched_page
from toys import LABELS

pytestmark = pytest.mark.browser

PROGRESS = "document.getElementById('progress').value"


@pytest.fixture
def sample(tmp_path, hostile_run):
    return draw_sample(read_run(hostile_run), tmp_path / "sample.json", n=10_000)


def serve(sample, person="anna"):
    server = AnnotationServer(read_sample(sample.path), Marks(sample, person))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def test_marks_are_given_by_the_keyboard_over_two_sittings(sample):
    with watched_page() as (page, troubles):
        server = serve(sample)
        page.goto(server.url)
        wait_until(lambda: page.inner_text("#status").startswith("Pair 1 "))
        for key in ("s", "u", "ArrowRight", "s"):
            page.keyboard.press(key)
        wait_until(lambda: page.evaluate(PROGRESS) == 3)
        assert "Pair 5 of" in page.inner_text("#status")
        page.keyboard.press("n")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Delete")
        wait_until(lambda: page.evaluate(PROGRESS) == 2)
        rows = sample.items
        expected = {rows[0]: "sound", rows[1]: "unsound"}
        wait_until(lambda: Marks(sample, "anna").as_dict() == expected)
        server.shutdown()
        server.server_close()

        again = serve(sample)
        page.goto(again.url)
        wait_until(lambda: page.inner_text("#status").startswith("Pair 3 "))
        assert page.get_attribute("#progress", "value") == "2"
        page.keyboard.press("ArrowLeft")
        assert page.get_attribute("#unsound", "aria-pressed") == "true"
        page.click("#sound")
        wait_until(lambda: Marks(sample, "anna").as_dict()[rows[1]] == "sound")
        again.shutdown()
        again.server_close()
        assert troubles == []


def test_a_mark_that_cannot_be_kept_is_not_shown(sample):
    with watched_page() as (page, _):
        server = serve(sample)
        page.goto(server.url)
        wait_until(lambda: page.inner_text("#status").startswith("Pair 1 "))
        server.marks.path.mkdir()
        page.keyboard.press("s")
        wait_until(lambda: page.inner_text("#trouble"))
        assert "could not be kept" in page.inner_text("#trouble")
        assert page.get_attribute("#sound", "aria-pressed") == "false"
        assert "Pair 1 of" in page.inner_text("#status")
        assert page.evaluate(PROGRESS) == 0
        # Once it can be, the same key is enough.
        server.marks.path.rmdir()
        page.keyboard.press("s")
        wait_until(lambda: Marks(sample, "anna").as_dict() == {sample.items[0]: "sound"})
        wait_until(lambda: not page.inner_text("#trouble"))
        server.shutdown()
        server.server_close()


def test_hostile_texts_show_as_text(sample):
    places = {row: place for place, row in enumerate(sample.items)}
    with watched_page() as (page, troubles):
        server = serve(sample)
        page.goto(server.url)
        wait_until(lambda: page.inner_text("#status").startswith("Pair 1 "))
        order = sorted((places[row], row) for row in range(len(HOSTILE)))
        at = 0
        for place, row in order:
            for _ in range(place - at):
                page.keyboard.press("ArrowRight")
            at = place
            texts = page.locator("#pair .group").first.locator(".text")
            is_second = sample.pairs[place]["first"] == "rephrased" and texts.count() == 2
            shown = texts.nth(int(is_second)).text_content()
            visible = "".join(chr(0x2400 + ord(s)) if s < " " else s for s in HOSTILE[row])
            assert shown == visible
            assert page.locator("#pair img, #pair script, #pair svg, #pair b").count() == 0
        assert page.title() == "Sound or not?"
        server.shutdown()
        server.server_close()
        assert troubles == []


def test_new_texts_stand_alone_with_their_label(tmp_path):
    table = pa.table(
        {
            "premise": ["A young boy plays on a street.", "An old man sits on a bench."],
            "hypothesis": ["The woman opened the heavy door.", "Rain."],
            "label": pa.array([0, 1], pa.int8()),
        }
    )
    names = ("premise", "hypothesis")
    corpus = Corpus(table=table, text_columns=names, label_names=LABELS)
    sample = draw_transformed(corpus, "antonym", tmp_path / "new.json")
    first, second = sample.pairs[:2]
    with watched_page() as (page, troubles):
        server = serve(sample)
        page.goto(server.url)
        wait_until(lambda: page.inner_text("#status").startswith("Pair 1 "))
        texts = page.locator("#pair .text")
        expected = ["".join(text for _, text in first["pieces"][name]) for name in names]
        assert texts.all_text_contents() == expected
        assert page.locator("#pair [data-letter], #pair mark").count() == 0
        assert "label: contradiction" in page.inner_text("#pair")
        assert "A and B" not in page.inner_text("main")
        page.keyboard.press("s")
        page.keyboard.press("u")
        marks = {first["item"]: "sound", second["item"]: "unsound"}
        wait_until(lambda: Marks(sample, "anna").as_dict() == marks)
        server.shutdown()
        server.server_close()
        assert troubles == []


def test_axe_finds_nothing(sample):
    server = serve(sample)
    try:
        check_accessibility(
            server.url,
            lambda page: wait_until(lambda: page.inner_text("#status").startswith("Pair 1 ")),
        )
    finally:
        server.shutdown()
        server.server_close()
