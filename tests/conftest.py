"""Fixtures that every test may use."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Few examples while you work and in the README's test line; what .ci/run asks for is thorough. No
# deadlines: a slow machine is no defect.
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("thorough", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("IETEST_HYPOTHESIS", "quick"))


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_counts() -> Iterator[None]:
    """Undo what a shell does to background jobs: they ignore Ctrl-C, and so do their children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of papers' numbers and real sentence pairs; not part of the project."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("IETEST_SHARED", beside))
    if not folder.is_dir():
        pytest.skip(f"needs the reference data, absent here: {folder}")
    return folder
