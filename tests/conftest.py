"""Fixtures that every test may use."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# What a test did not expect is shown as it was raised, not as the command's one line.
os.environ["IETEST_TRACEBACK"] = "1"

# Workers of pytest-xdist share the cores. Libraries are loaded later, and read this then.
_n_workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
if _n_workers > 1:
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // _n_workers)))

# Few examples while you work and in the README's test line; what .ci/run asks for is thorough. No
# deadlines: a slow machine is no defect.
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("thorough", max_examples=100, deadline=None)
settings.load_profile(os.environ.get("IETEST_HYPOTHESIS", "quick"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let one worker rewrite all assertions, and the others read what it has written."""
    with Path(__file__).open() as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        return (yield)


_MOST_CASES = 15


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave two of three cases of a test with many to the thorough run, which takes them all."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for own in cases.values():
        for place, item in enumerate(own if len(own) > _MOST_CASES else ()):
            if place % 3:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _signals_count() -> Iterator[None]:
    """Undo what shells and nohup do to background jobs: they ignore signals, their children too."""
    handlers = dict.fromkeys([signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM], signal.SIG_DFL)
    handlers[signal.SIGINT] = signal.default_int_handler
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of papers' numbers and real sentence pairs; not part of the project."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("IETEST_SHARED", beside))
    if not folder.is_dir():
        pytest.skip(f"needs the reference data, absent here: {folder}")
    return folder
