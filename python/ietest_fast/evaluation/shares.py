"""Shares of rows, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ietest_fast.stats import proportion_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ietest_fast.stats import Interval


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share of rows."""

    n: int
    k: int
    """Rows, and those that count."""
    interval: Interval | None
    """At 95%, of :func:`ietest_fast.stats.proportion_interval`; None without rows."""

    @classmethod
    def of(cls, chosen: NDArray[np.bool_], clusters: NDArray[Any] | None = None) -> Share:
        """Count rows, of which those with the same label in `clusters` belong together."""
        n, k = len(chosen), int(chosen.sum())
        return cls(n=n, k=k, interval=proportion_interval(chosen, clusters) if n else None)

    @property
    def share(self) -> float | None:
        """The share, k over n; None without rows."""
        return self.k / self.n if self.n else None

    def to_dict(self, name: str) -> dict[str, Any]:
        """Return the share under a name, with its rows and its interval."""
        interval = self.interval
        return {
            name: self.share,
            f"{name}_n": self.n,
            f"{name}_interval": None if interval is None else [interval.low, interval.high],
        }
