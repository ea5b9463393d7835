"""Races: one piece of work, done by ietest-fast and by its peers, timed as one group.

A benchmark is a test function whose group (``pytest.mark.benchmark(group=…)``) is the piece of work
and which calls ``race.ours`` or ``race.peer`` once. When all have run, each of ours is held against
the peers of its group, by time for a unit of work: a ratio below a peer's ``at_least`` fails the
session. Ratios are taken within one run, so that they hold on any machine; a time above
``at_most_seconds`` depends on the machine, and is only said.

``--size quick`` runs everything once on little input, to see that it runs; no limit is checked.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.ratios import Ratio, ratios_of

if TYPE_CHECKING:
    from collections.abc import Callable


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--size`` and ``--models``."""
    parser.addoption("--size", choices=("quick", "full"), default="full", help="size of the work")
    parser.addoption(
        "--models", action="store_true", help="also what needs torch (extra bench-models)"
    )


def _place(item: pytest.Item) -> tuple[str, int, tuple[int, ...]]:
    spec = getattr(item, "callspec", None)
    indices = () if spec is None else tuple(spec.indices.values())
    return str(item.path), item.location[1] or 0, indices


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Undo pytest-randomly's shuffling, and skip what needs torch unless ``--models`` is given.

    The order matters: a peer's limit applies to the first of our variants in its group.
    """
    items.sort(key=_place)
    if config.getoption("--models"):
        return
    mark = pytest.mark.skip(reason="needs --models and the extra bench-models")
    for item in items:
        if "models" in item.keywords:
            item.add_marker(mark)


@dataclass(frozen=True, kw_only=True)
class Race:
    """One contender of the group that the test belongs to."""

    benchmark: Any
    quick: bool

    def scale(self, full: int, quick: int) -> int:
        """Choose the amount of work by ``--size``."""
        return quick if self.quick else full

    def ours(
        self,
        name: str,
        call: Callable[[], object],
        *,
        units: float = 1,
        calls: int = 1,
        rounds: int = 7,
        at_most_seconds: float | None = None,
        note: str = "",
    ) -> None:
        """Time our way.

        Parameters
        ----------
        name
            What distinguishes it within the group: "1 thread".
        call
            Does the work once.
        units
            Of work in one call (replicates, bytes, texts); times are given for one.
        calls
            In one round, for what takes microseconds.
        rounds
            Of which the median counts.
        at_most_seconds
            The goal for a unit; the session does not fail for it.
        note
            For the table.
        """
        self._time("ours", name, call, units, calls, rounds, note)
        self.benchmark.extra_info["at_most_seconds"] = at_most_seconds

    def peer(
        self,
        name: str,
        call: Callable[[], object],
        *,
        units: float = 1,
        calls: int = 1,
        rounds: int = 5,
        at_least: float | dict[str, float] | None = None,
        note: str = "",
    ) -> None:
        """Time another way; ours has to be ``at_least`` so many times as fast.

        ``at_least`` is for the first of ours in the group, or by name; the rest as in :meth:`ours`.
        """
        self._time("peer", name, call, units, calls, rounds, note)
        self.benchmark.extra_info["at_least"] = at_least

    def _time(  # noqa: PLR0917
        self,
        role: str,
        name: str,
        call: Callable[[], object],
        units: float,
        calls: int,
        rounds: int,
        note: str,
    ) -> None:
        self.benchmark.extra_info.update(
            role=role, contender=name, units=units, note=note, module=self.benchmark.fullname
        )
        if self.quick:
            self.benchmark.pedantic(call, rounds=1, iterations=1)
        else:
            warm = 1 if rounds > 1 else 0
            self.benchmark.pedantic(call, rounds=rounds, iterations=calls, warmup_rounds=warm)


@pytest.fixture
def race(benchmark: Any, quick: bool) -> Race:
    """Give this test's place in the race of its group."""
    return Race(benchmark=benchmark, quick=quick)


@pytest.fixture(scope="session")
def quick(pytestconfig: pytest.Config) -> bool:
    """Say whether little input is wanted."""
    return bool(pytestconfig.getoption("--size") == "quick")


def _ratios(config: pytest.Config) -> list[Ratio]:
    session = getattr(config, "_benchmarksession", None)
    found = [] if session is None else session.benchmarks
    return ratios_of(
        {
            "group": bench.group,
            "extra_info": bench.extra_info,
            "stats": {"median": bench.stats.median},
        }
        for bench in found
        if not bench.has_error and "role" in bench.extra_info
    )


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write the ratios, and which of them are too low."""
    ratios = _ratios(config)
    if not ratios or config.getoption("--size") == "quick":
        return
    terminalreporter.section("ratios to the peers of the same run")
    for ratio in ratios:
        terminalreporter.write_line(str(ratio), red=ratio.is_missed)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the session where a limit is missed."""
    if session.config.getoption("--size") == "quick":
        return
    if session.exitstatus == 0 and any(ratio.fails for ratio in _ratios(session.config)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
