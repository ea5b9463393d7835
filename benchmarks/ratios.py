"""From timed contenders to ratios: ours to each peer of its group, for a unit of work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """One of ours beside one peer, or alone.

    Attributes
    ----------
    group
        The piece of work.
    ours, ours_seconds
        Which of ours, and its median seconds for a unit of work.
    peer, peer_seconds
        None for ours alone.
    limit
        The least ratio, or the most seconds where there is no peer; None if there is none.
    note
        How it was measured, where that is not plain.
    """

    group: str
    ours: str
    ours_seconds: float
    peer: str | None = None
    peer_seconds: float | None = None
    limit: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the peer."""
        return None if self.peer_seconds is None else self.peer_seconds / self.ours_seconds

    @property
    def is_missed(self) -> bool:
        """Whether there is a limit, and it is not kept."""
        if self.limit is None:
            return False
        if self.ratio is None:
            return self.ours_seconds > self.limit
        return self.ratio < self.limit

    @property
    def fails(self) -> bool:
        """Whether a run fails for it: for a ratio, never for a time, which is the machine's."""
        return self.is_missed and self.ratio is not None

    def __str__(self) -> str:
        ours = f"{self.group}, {self.ours}: {format_seconds(self.ours_seconds)}"
        if self.ratio is None:
            end = "" if self.limit is None else f" (limit {format_seconds(self.limit)})"
        else:
            end = f", {self.ratio:.3g}x {self.peer}"
            end += "" if self.limit is None else f" (limit {self.limit:g}x)"
        return ours + end + (" MISSED" if self.is_missed else "")


def ratios_of(benchmarks: Iterable[dict[str, Any]]) -> list[Ratio]:
    """Hold ours against the peers of each group.

    Parameters
    ----------
    benchmarks
        As pytest-benchmark's JSON has them: ``group``, ``extra_info`` and ``stats``.

    Returns
    -------
    list of Ratio
        In the order of the groups; within one, each of ours alone if it has a limit of its own or
        no peer, then beside every peer.
    """
    groups: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for bench in benchmarks:
        roles = groups.setdefault(bench["group"], {"ours": [], "peer": []})
        roles[bench["extra_info"]["role"]].append(bench)
    found = []
    for group, roles in groups.items():
        for place, ours in enumerate(roles["ours"]):
            info = ours["extra_info"]
            alone = {
                "group": group,
                "ours": info["contender"],
                "ours_seconds": ours["stats"]["median"] / info["units"],
            }
            limit = info.get("at_most_seconds")
            if limit is not None or not roles["peer"]:
                found.append(Ratio(**alone, limit=limit, note=info["note"]))
            for peer in roles["peer"]:
                other = peer["extra_info"]
                least = other.get("at_least")
                if isinstance(least, dict):
                    least = least.get(info["contender"])
                elif place > 0:
                    least = None
                found.append(
                    Ratio(
                        **alone,
                        peer=other["contender"],
                        peer_seconds=peer["stats"]["median"] / other["units"],
                        limit=least,
                        note="; ".join(filter(None, (info["note"], other["note"]))),
                    )
                )
    return found


def count(n: int, noun: str) -> str:
    """Write a number of things: "1 thread", "2 threads"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def format_seconds(value: float) -> str:
    """Write a duration with a fitting unit."""
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} s"
