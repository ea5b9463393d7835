"""A page in a real browser, watched: what it says on its console, and what it asks for."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def _browser() -> Iterator[Any]:
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright, of the extra browser", exc_type=ImportError
    )
    chromium = os.environ.get("IETEST_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Chromium: on the path, or named by IETEST_CHROMIUM")
    with sync_api.sync_playwright() as driver:
        # As root, as in containers, Chromium cannot have its own sandbox.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=chromium, args=options)
        try:
            yield browser
        finally:
            browser.close()


def _open_page(
    browser: Any, *, width: int, dark: bool = False, height: int = 900
) -> tuple[Any, list[str]]:
    """Return an empty page, and a list that errors and outside requests are added to."""
    troubles: list[str] = []
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
    )
    page.set_default_timeout(300_000)
    page.on("console", lambda message: troubles.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
    page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))

    def note(request: Any) -> None:
        if not request.url.startswith(("file:", "http://127.0.0.1:")):
            troubles.append(f"request: {request.url[:100]}")

    page.on("request", note)
    return page, troubles


@contextmanager
def watched_page(
    *, width: int = 1280, dark: bool = False, height: int = 900
) -> Iterator[tuple[Any, list[str]]]:
    """Open an empty page; gives it, and a list that errors and outside requests are added to."""
    with _browser() as browser:
        yield _open_page(browser, width=width, dark=dark, height=height)


def check_accessibility(url: str, wait: Callable[[Any], object] = lambda page: None) -> None:
    """Assert that axe finds nothing on a page, at two widths, in light and in dark.

    Parameters
    ----------
    url
        Of the page, whose parts that can be folded are opened.
    wait
        Waits until the page that it is given is complete.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    with _browser() as browser:
        for width, dark in itertools.product((1280, 400), (False, True)):
            page, troubles = _open_page(browser, width=width, dark=dark)
            page.goto(url)
            wait(page)
            for details in page.locator("details").all():
                details.locator("summary").click()
            found = axe.Axe().run(page)
            violations = [
                f"{each['id']}: {each['nodes'][0]['html'][:200]}"
                for each in found.response["violations"]
            ]
            # Nothing but tables, which scroll in themselves, is wider than the window.
            is_wide = page.evaluate("document.documentElement.scrollWidth") > width
            assert (width, dark, violations, is_wide, troubles) == (width, dark, [], False, [])
            page.close()


def wait_until(holds: Callable[[], object], seconds: float = 300) -> None:
    """Wait for something to hold; pages do not let Playwright evaluate a condition in them."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it has not come"
        time.sleep(0.05)


def wait_for_examples(page: Any) -> None:
    """Wait for a report's table of examples to show what its form asks for."""
    page.wait_for_selector(".examples[data-ready][aria-busy=false]")
