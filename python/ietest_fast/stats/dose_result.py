"""What is found of growth with a dose: words and numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ietest_fast.stats.intervals import Interval
from ietest_fast.stats.result import Result, format_p

if TYPE_CHECKING:
    from ietest_fast.stats.resampling import Alternative


#: A slope of which one text or cluster has so large a share of the weight is warned of.
MOST_WEIGHT = 0.1
#: A slope whose weight lies on texts of which fewer are expected to change is warned of: in tests
#: with two sides, and with one, where errors of the two sides do not cancel.
FEW_CHANGING = 8.0
FEW_CHANGING_ONE_SIDED = 20.0


@dataclass(frozen=True, kw_only=True)
class Slope:
    """How a mean changes with the dose."""

    value: float
    """Change for each unit of the dose, by least squares."""
    interval: Interval
    """At 1 - alpha, by inverting the test; infinite where a single text or cluster decides."""
    t: float
    df: int
    """Studentised score at a slope of 0, and its degrees of freedom."""
    p_value: float
    """Of "the slope is 0"."""
    largest_weight: float
    """Largest share of Σ (dose - mean)² that one text, or cluster, has."""
    n_expected: float
    """Expected number of texts (clusters) with another response than the commonest one among those
    that carry the weight: their share of all, or of the units with the half of the weight that is
    farthest from the mean dose if that is smaller, times the number of units of equal weight that
    would tell as much. Below :data:`FEW_CHANGING` there may be none by chance, and all scores are
    alike."""


@dataclass(frozen=True, kw_only=True)
class TrendResult:
    """Test whether marks (losses, flips) go with the dose, given how many there are."""

    statistic: int
    """Sum of the doses of the marked pairs."""
    p_value: float
    """Exact or from drawn tables."""
    p_asymptotic: float
    """From the normal law; for flips this is the test of Cochran and Armitage."""
    method: Literal["exact", "resample", "clusters"]
    """``exact``, ``resample``, or ``clusters``: of losses, coins for whole clusters; of flips, a
    score test with one correlation within clusters."""
    n_resamples: int | None
    """S; None if nothing was drawn."""

    @property
    def p_floor(self) -> float | None:
        """The smallest two-sided p-value that the draws allow; None if nothing was drawn."""
        return _floor(self.n_resamples)


@dataclass(frozen=True, kw_only=True)
class DoseResponseResult(Result):
    """Whether losses and flips grow with the dose."""

    title = "Dose and response"

    name: str
    """What the dose is called."""
    n: int
    """Number of pairs."""
    n_clusters: int | None
    """None without clusters."""
    doses: tuple[int, ...]
    sizes: tuple[int, ...]
    losses: tuple[int, ...]
    gains: tuple[int, ...]
    flipped: tuple[int, ...] | None
    """The doses that occur, and for each its pairs, those that become wrong and right, and the
    answers that flip; the last is None where only right and wrong are known."""
    slope: Slope | None
    """Of the loss, A - B, over the dose. Its test answers "does the loss grow with the dose?". None
    if all doses are the same."""
    direction: TrendResult | None
    """H0: among discordant pairs the share of losses does not depend on the dose. None likewise."""
    weighted_sum: int
    """T, the sum of doses over losses minus that over gains."""
    p_weighted: float
    """Of H0: a discordant pair is as likely a loss as a gain, whatever its dose. The law of T under
    coins. Any loss counts as evidence, also one that does not depend on the dose."""
    weighted_n_resamples: int | None
    """S of this law; None if it is exact."""
    flip_slope: Slope | None
    flip_trend: TrendResult | None
    """Of the flip rate over the dose, and the test of Cochran and Armitage; None where flips are
    not known, or all doses are the same."""
    alternative: Alternative
    """``greater``: the loss grows, and flips do."""
    alpha: float
    """Level of what is called shown."""
    seed: int
    """Of tables that are drawn."""

    @property
    def statistic(self) -> float:
        """The slope of the loss; 0 if all doses are the same."""
        return 0.0 if self.slope is None else self.slope.value

    @property
    def pvalue(self) -> float:
        """The p-value of "the loss does not grow with the dose"; 1 if all are the same."""
        return 1.0 if self.slope is None else self.slope.p_value

    def confidence_interval(self) -> Interval:
        """Return the interval of the slope at 1 - alpha; infinite if all doses are the same."""
        return Interval(-math.inf, math.inf) if self.slope is None else self.slope.interval

    @property
    def warning(self) -> str | None:
        """What the reader has to know before the slope is used; None if there is nothing."""
        if self.slope is None:
            return None
        one = "text" if self.n_clusters is None else "cluster"
        if self.slope.largest_weight >= MOST_WEIGHT:
            return (
                f"one {one} has {self.slope.largest_weight:.0%} of the weight of the slope, whose "
                f"test may then reject too often: cut large values of {self.name}, or take their "
                "logarithm"
            )
        few = FEW_CHANGING if self.alternative == "two-sided" else FEW_CHANGING_ONE_SIDED
        slopes = {"between right and wrong": self.slope, "their answer": self.flip_slope}
        for what, slope in slopes.items():
            if slope is None or slope.n_expected >= few:
                continue
            if slope.df > 0 or slope.n_expected > 0:
                seen = f"about {slope.n_expected:.1f} are expected to change"
                if slope.n_expected < 0.05:
                    seen = "hardly any changes"
                return (
                    f"of the {one}s whose {self.name} decides the slope, {seen} {what}; below "
                    f"{few:g} the test of the slope may reject too often: collect more of them"
                )
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        return {
            "name": self.name,
            "n": self.n,
            "n_clusters": self.n_clusters,
            "doses": list(self.doses),
            "sizes": list(self.sizes),
            "losses": list(self.losses),
            "gains": list(self.gains),
            "flipped": None if self.flipped is None else list(self.flipped),
            **_flat("slope", self.slope),
            "p_value": self.pvalue,
            **_flat_trend("direction", self.direction),
            "weighted_sum": self.weighted_sum,
            "p_weighted": self.p_weighted,
            "weighted_n_resamples": self.weighted_n_resamples,
            **_flat("flip_slope", self.flip_slope),
            "p_flip_slope": None if self.flip_slope is None else self.flip_slope.p_value,
            **_flat_trend("flip_trend", self.flip_trend),
            "alternative": self.alternative,
            "alpha": self.alpha,
            "seed": self.seed,
            "explanation": self.explanation,
            "warning": self.warning,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        rows = [("pairs", f"{self.n:,}, {self.name} from {self.doses[0]} to {self.doses[-1]}")]
        if self.slope is not None and self.direction is not None:
            rows += [
                ("loss for each unit", _say_slope(self.slope, self.alpha)),
                ("  share of losses", _say_trend(self.direction)),
            ]
        method = "exact" if self.weighted_n_resamples is None else "resample"
        p = format_p(self.p_weighted, floor=_floor(self.weighted_n_resamples))
        rows.append(("  weighted sum T", f"{self.weighted_sum:+,}, p = {p} ({method})"))
        if self.flip_slope is not None and self.flip_trend is not None:
            rows += [
                ("flips for each unit", _say_slope(self.flip_slope, self.alpha)),
                ("  Cochran–Armitage", _say_trend(self.flip_trend)),
            ]
        return rows

    def remarks(self) -> list[str]:
        """Return what is shown as a sentence."""
        said = [self.explanation]
        return said if self.warning is None else [*said, f"Warning: {self.warning}."]

    @property
    def explanation(self) -> str:
        """What is shown, in plain words."""
        if self.slope is None:
            return f"By {self.name}: all texts have {self.doses[0]}, so nothing can grow with it."
        said = [f"the loss of accuracy {_say_growth(self.slope, self.slope.p_value, self.alpha)}"]
        if self.flip_slope is not None and self.flip_trend is not None:
            grown = _say_growth(self.flip_slope, self.flip_trend.p_value, self.alpha)
            said.append(f"the share of changed answers {grown}")
        return f"With {self.name}, {'; '.join(said)}."


def _floor(n_resamples: int | None) -> float | None:
    return None if n_resamples is None else 2 / (n_resamples + 1)


def _say_growth(slope: Slope, p: float, alpha: float) -> str:
    if p >= alpha:
        return f"is not shown to grow or shrink (p = {format_p(p)})"
    verb = "grows" if slope.value > 0 else "shrinks"
    return f"{verb} by {100 * abs(slope.value):.2f} points for each one more (p = {format_p(p)})"


def _say_slope(slope: Slope, alpha: float) -> str:
    level = f"{100 * (1 - alpha):g}%"
    return f"{slope.value:+.4f}, {level} interval {slope.interval}, p = {format_p(slope.p_value)}"


def _say_trend(trend: TrendResult) -> str:
    return f"p = {format_p(trend.p_value, floor=trend.p_floor)} ({trend.method})"


def _flat(name: str, slope: Slope | None) -> dict[str, Any]:
    if slope is None:
        return {name: None, f"{name}_interval": None}
    return {name: slope.value, f"{name}_interval": [slope.interval.low, slope.interval.high]}


def _flat_trend(name: str, trend: TrendResult | None) -> dict[str, Any]:
    if trend is None:
        return {f"p_{name}": None, f"{name}_method": None}
    return {
        f"p_{name}": trend.p_value,
        f"p_{name}_asymptotic": trend.p_asymptotic,
        f"{name}_method": trend.method,
    }
