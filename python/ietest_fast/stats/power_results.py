"""What planning gives: a plan, and a curve of power."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.stats.drawing import axes_or_new
from ietest_fast.stats.result import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class PowerPlan(Result):
    """A sample size, a truth, and the power that the exact paired test has there."""

    n: int
    """Number of pairs."""
    discordance: float
    """psi, the true share of discordant pairs."""
    delta: float
    """True accuracy on the originals minus that on the transformed texts."""
    alpha: float
    """Level of the whole test."""
    n_tests: int
    """M; each classifier's test is held to alpha / M, and ``power`` is that of one of them."""
    power: float
    """Probability that the ``p_value`` of one test lies below alpha / M."""
    solved_for: str
    """What followed from the rest: ``power``, ``n`` or ``delta``."""

    title = "Power of the exact paired test"

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the plan."""
        return {
            "n": self.n,
            "discordance": self.discordance,
            "delta": self.delta,
            "alpha": self.alpha,
            "n_tests": self.n_tests,
            "power": self.power,
            "solved_for": self.solved_for,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        level = f"{self.alpha:g}"
        if self.n_tests > 1:
            level += f" / {self.n_tests}, for one of {self.n_tests} classifiers"
        return [
            ("pairs", f"{self.n:,}"),
            ("discordant", f"{self.discordance:.4g}"),
            ("delta", f"{self.delta:.4g}"),
            ("level", level),
            ("power", f"{self.power:.4f}"),
        ]

    def remarks(self) -> list[str]:
        """Say what was solved for."""
        if self.solved_for == "n":
            return [f"From {self.n:,} pairs on the power stays at or above its goal."]
        if self.solved_for == "delta":
            return [f"Differences of {self.delta:.4g} and more are found with the power wanted."]
        return []


@dataclass(frozen=True, kw_only=True, eq=False)
class PowerCurve(Result):
    """Power against the sample size or the difference."""

    over: str
    """``n`` or ``delta``: what the horizontal axis holds."""
    values: NDArray[np.float64]
    powers: NDArray[np.float64]
    """Shape (p,), float64; ``values`` in ascending order."""
    discordance: float
    alpha: float
    n_tests: int
    """As for :class:`PowerPlan`."""
    n: int | None
    delta: float | None
    """The one that is held fixed; the other is None."""

    title = "Power of the exact paired test"

    @property
    def power(self) -> NDArray[np.float64]:
        """The powers, as SciPy calls them."""
        return self.powers

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the power.

        Parameters
        ----------
        ax
            A matplotlib ``Axes``; a new figure is made if not given.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        ax.plot(self.values, self.powers, marker=".")
        ax.set_ylim(0, 1.02)
        ax.set_xlabel("pairs" if self.over == "n" else "delta")
        ax.set_ylabel("power")
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the curve."""
        return {
            "over": self.over,
            "values": self.values.tolist(),
            "powers": self.powers.tolist(),
            "discordance": self.discordance,
            "alpha": self.alpha,
            "n_tests": self.n_tests,
            "n": self.n,
            "delta": self.delta,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Give the points of the curve."""
        write = "{:,.0f}" if self.over == "n" else "{:.4g}"
        return [
            (f"{self.over} = {write.format(value)}", f"{power:.4f}")
            for value, power in zip(self.values, self.powers, strict=True)
        ]

    def as_text(self, *, width: int = 60, height: int = 12) -> str:
        """Draw the curve with characters, power from 0 to 1 upwards.

        Parameters
        ----------
        width, height
            Of the plotting area, in characters.
        """
        low, high = float(self.values.min()), float(self.values.max())
        columns = np.linspace(low, high, width)
        curve = np.interp(columns, self.values, self.powers)
        grid = [[" "] * width for _ in range(height)]
        for column, power in enumerate(curve):
            grid[height - 1 - min(height - 1, int(power * height))][column] = "•"
        lines = []
        for row, cells in enumerate(grid):
            top = 1 - row / height
            label = f"{top:4.2f}" if row % 3 == 0 else ""
            lines.append(f"{label:>6} │{''.join(cells)}")
        write = "{:,.0f}" if self.over == "n" else "{:.4g}"
        left, right = write.format(low), write.format(high)
        lines += [
            f"{'0.00':>6} └{'─' * width}",
            f"{'':8}{left}{self.over:^{width - len(left) - len(right)}}{right}",
        ]
        return "\n".join(lines)
