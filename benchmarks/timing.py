"""Timing two ways of doing one thing so that a noisy machine disturbs both alike."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One line of the table of ratios.

    Attributes
    ----------
    path
        What was measured.
    peer
        What it was measured against; None for an absolute goal.
    ours_seconds, peer_seconds
        For one unit of the same work.
    goal
        The ratio (or, without a peer, the seconds) to reach, None if there is none.
    note
        How it was measured, where that is not plain.
    """

    path: str
    ours_seconds: float
    peer: str | None = None
    peer_seconds: float | None = None
    goal: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times faster than the peer."""
        return None if self.peer_seconds is None else self.peer_seconds / self.ours_seconds

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        if self.goal is None:
            return None
        if self.ratio is None:
            return self.ours_seconds <= self.goal
        return self.ratio >= self.goal


def seconds(call: Callable[[], object], *, number: int = 1) -> float:
    """Time ``number`` calls and give the seconds of one."""
    start = time.perf_counter()
    for _ in range(number):
        call()
    return (time.perf_counter() - start) / number


def interleaved(
    *calls: Callable[[], object], rounds: int = 5, numbers: tuple[int, ...] | None = None
) -> tuple[float, ...]:
    """Time calls in turns and give the median seconds of each, after one round of warming up."""
    numbers = numbers or (1,) * len(calls)
    for call in calls:
        call()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for place, (call, number) in enumerate(zip(calls, numbers, strict=True)):
            times[place].append(seconds(call, number=number))
    return tuple(statistics.median(row) for row in times)


def format_seconds(value: float) -> str:
    """Write a duration with a fitting unit."""
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} s"
