"""Whether losses and flips grow with a number that each text has, such as its number of edits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import format_p, say_count, say_p
from ietest_fast.stats.inputs import (
    Rng,
    as_clusters,
    as_scores,
    check_between,
    check_lengths,
    in_one_order,
    seed_of,
)
from ietest_fast.stats.intervals import Interval
from ietest_fast.stats.laws.integer import (
    DEFAULT_TABLES,
    draw_coins,
    draw_tables,
    tails_given_total,
    tails_of_sum,
)
from ietest_fast.stats.resampling import (
    Alternative,
    check_options,
    choose_tail,
    count_equal,
    monte_carlo_p,
)
from ietest_fast.stats.result import Result
from ietest_fast.stats.strata import find_reworded, read_sample

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ietest_fast.stats.matched import MatchedSample


# What is found of growth with a dose: words and numbers.

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
        rows.append(("  weighted sum T", f"{self.weighted_sum:+,}, {say_p(p)} ({method})"))
        if self.flip_slope is not None and self.flip_trend is not None:
            rows += [
                ("flips for each unit", _say_slope(self.flip_slope, self.alpha)),
                ("  Cochran–Armitage", _say_trend(self.flip_trend)),
            ]
        return rows

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
        return f"is not shown to grow or shrink ({say_p(format_p(p))})"
    verb = "grows" if slope.value > 0 else "shrinks"
    return f"{verb} by {100 * abs(slope.value):.2f} points for each one more ({say_p(format_p(p))})"


def _say_slope(slope: Slope, alpha: float) -> str:
    level = f"{100 * (1 - alpha):g}%"
    return (
        f"{slope.value:+.4f}, {level} interval {slope.interval}, {say_p(format_p(slope.p_value))}"
    )


def _say_trend(trend: TrendResult) -> str:
    return f"{say_p(format_p(trend.p_value, floor=trend.p_floor))} ({trend.method})"


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


#: The largest dose: beyond, the exact laws have too many values.
LARGEST_DOSE = 10**6

#: The law of T is computed up to so large a sum of doses over discordant pairs, and drawn beyond.
MOST_SUMS = 100_000

# What is left of scores that are all the same, relative to their squares.
_NO_SPREAD = 1e-12


@in_one_order
def dose_response_test(
    original: Any,
    transformed: Any = None,
    dose: Any = None,
    *,
    gold: Any = None,
    clusters: Any = None,
    reworded: Any = None,
    name: str = "dose",
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    n_resamples: int | None = None,
    rng: Rng = 0,
) -> DoseResponseResult:
    r"""Test whether losses and flips grow with the dose, such as the number of edits.

    Four questions, the first of which is answered by ``pvalue``:

    - *Does the loss grow with the dose?* The slope of A - B over the dose by least squares, with a
      test that is studentised by texts (or clusters), so that the number of discordant pairs may
      depend on the dose.
    - *Are discordant pairs with a large dose more often losses?* The sum of the doses of the
      losses, given how many losses there are: every choice of the W losses among the K discordant
      pairs is equally likely under H0. Exact. A loss that grows because more answers change, by the
      same share of losses, does not show here.
    - *Is there any loss, counted by the dose?* T = Σ e_i s_i over discordant pairs, s_i being 1 for
      a loss and -1 for a gain. Its exact law under coins is a convolution. It is a paired test that
      gives pairs with a large dose more weight: it rejects also where the loss is the same at every
      dose.
    - *Do flips grow with the dose?* The test of Cochran (1954) and Armitage (1955), exact given the
      number of flips.

    Parameters
    ----------
    original, transformed, gold, reworded
        As for :func:`stratified_test`.
    dose
        Shape (n,): whole numbers from 0 to a million. Where their sum over discordant pairs is
        large, p-values that are exact otherwise are those of S draws.
    clusters
        Shape (n,), the cluster of each text. With clusters the second test swaps the versions of
        whole clusters, and the fourth is a t test that takes texts of a cluster to be equally
        correlated at all doses.
    name
        What the dose is called.
    alternative
        ``two-sided``; ``greater``: losses and flips grow with the dose; ``less``: they shrink. T:
        losses outweigh gains, or gains losses.
    alpha
        Level, in (0, 1), of what is called shown; slopes have two-sided intervals at 1 - alpha.
    n_resamples
        S of tables that are too many to enumerate; None for 10,000.
    rng
        As for :func:`paired_test`.

    Raises
    ------
    InputError
        If a value is missing, columns differ in length or in kind, a dose is no whole number from
        0 to a million, an option is out of its range, or fewer than two texts were reworded.

    Examples
    --------
    >>> import numpy as np
    >>> from ietest_fast.stats import dose_response_test
    >>> edits = np.arange(1_000) % 5 + 1
    >>> original = np.ones(1_000, dtype=bool)
    >>> rephrased = np.arange(1_000) // 5 % 40 >= edits  # 2.5% more are lost for each edit
    >>> result = dose_response_test(original, rephrased, edits, name="edits")
    >>> round(result.slope.value, 3), result.pvalue < 0.001
    (0.025, True)
    """
    n_resamples = DEFAULT_TABLES if n_resamples is None else n_resamples
    check_options(alternative=alternative, n_resamples=n_resamples)
    check_between(alpha, "alpha", 0, 1)
    if dose is None:
        raise InputError("dose is missing: a column with the number of each text")
    sample, answers = read_sample(original, transformed, gold)
    n = len(sample)
    amounts = _as_doses(dose, name)
    check_lengths(original=sample.original_correct, **{name: amounts})
    units = None if clusters is None else as_clusters(clusters, n)[0]
    rows = find_reworded(reworded, sample)
    if rows.size < 2:
        raise InputError(
            f"only {say_count(rows.size, 'text is', 'texts are')} reworded: a dose needs two "
            "or more"
        )
    return judge_dose(
        sample.take(rows),
        amounts[rows],
        flipped=None if answers is None else np.asarray(answers[0] != answers[1])[rows],
        clusters=None if units is None else units[rows],
        name=name,
        alternative=alternative,
        alpha=alpha,
        n_resamples=n_resamples,
        rng=rng,
    )


def judge_dose(
    sample: MatchedSample,
    dose: Any,
    *,
    flipped: NDArray[np.bool_] | None,
    clusters: NDArray[Any] | None,
    name: str,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    n_resamples: int | None = None,
    rng: Rng = 0,
) -> DoseResponseResult:
    """Test checked outcomes, of the reworded texts alone; see :func:`dose_response_test`."""
    dose = _as_doses(dose, name)
    signs = sample.original_correct.astype(np.int64) - sample.transformed_correct
    units = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    drawing = _Drawing(
        alternative=alternative,
        n_resamples=DEFAULT_TABLES if n_resamples is None else n_resamples,
        seed=seed_of(rng),
    )
    doses, places = np.unique(dose, return_inverse=True)
    counted = {
        mark: np.bincount(places[own], minlength=doses.size)
        for mark, own in (("all", np.arange(dose.size)), ("lost", signs > 0), ("won", signs < 0))
    }
    n_flipped = None if flipped is None else np.bincount(places[flipped], minlength=doses.size)
    slope = flip_slope = direction = flip_trend = None
    if doses.size > 1:
        slope = _fit(dose, signs.astype(np.float64), units, alternative, alpha)
        discordant = np.flatnonzero(signs)
        sizes = counted["lost"] + counted["won"]
        if units is None:
            direction = _trend(doses, counted["lost"], sizes, drawing)
        else:
            direction = _direction_by_clusters(
                dose[discordant], signs[discordant], units[discordant], drawing
            )
        if flipped is not None and n_flipped is not None:
            flip_slope = _fit(dose, flipped.astype(np.float64), units, alternative, alpha)
            if units is None:
                flip_trend = _trend(doses, n_flipped, counted["all"], drawing)
            else:
                flip_trend = _trend_by_clusters(dose, flipped, units, alternative)
    weighted = dose * signs
    p_weighted, weighted_n_resamples = _p_of_signs(weighted, units, drawing)
    return DoseResponseResult(
        name=name,
        n=dose.size,
        n_clusters=None if units is None else int(units.max()) + 1,
        doses=tuple(doses.tolist()),
        sizes=tuple(counted["all"].tolist()),
        losses=tuple(counted["lost"].tolist()),
        gains=tuple(counted["won"].tolist()),
        flipped=None if n_flipped is None else tuple(n_flipped.tolist()),
        slope=slope,
        direction=direction,
        weighted_sum=int(weighted.sum()),
        p_weighted=p_weighted,
        weighted_n_resamples=weighted_n_resamples,
        flip_slope=flip_slope,
        flip_trend=flip_trend,
        alternative=alternative,
        alpha=alpha,
        seed=drawing.seed,
    )


def _as_doses(dose: Any, name: str) -> NDArray[np.int64]:
    values = as_scores(dose, name)
    wrong = np.flatnonzero((values != np.rint(values)) | (values < 0) | (values > LARGEST_DOSE))
    if wrong.size:
        raise InputError(
            f"{name} must hold whole numbers from 0 to {LARGEST_DOSE:,}, not "
            f"{values[wrong[0]]:g}; multiply shares by 100 and round them",
            row=f"row {int(wrong[0])}",
        )
    return values.astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class _Drawing:
    """How a p-value is drawn where its law is not computed."""

    alternative: Alternative
    n_resamples: int
    seed: int

    def p_value(self, drawn: Iterable[NDArray[np.int64]], observed: int) -> float:
        """Compute the p-value of what was observed from what is drawn, which comes in parts."""
        at_most = at_least = 0
        for values in drawn:
            at_most += int((values <= observed).sum())
            at_least += int((values >= observed).sum())
        return monte_carlo_p(self.alternative, at_most, at_least, self.n_resamples)

    def p_of_signs(self, sizes: NDArray[np.int64], counts: NDArray[np.int64], total: int) -> float:
        """Compute the p-value of a sum if a coin decides on the sign of each of its terms."""
        coins = draw_coins(counts, self.n_resamples, self.seed)
        return self.p_value((signs @ sizes for signs in coins), total)


def _normal_p(alternative: Alternative, z: float) -> float:
    at_most, at_least = (0.5 * math.erfc(sign * z / math.sqrt(2)) for sign in (-1, 1))
    return choose_tail(alternative, at_most, at_least)


def _p_of_signs(
    weighted: NDArray[np.int64],
    units: NDArray[np.int64] | None,
    drawing: _Drawing,
) -> tuple[float, int | None]:
    """Compute the p-value of the sum if a coin decides on the sign of each pair, or cluster.

    Sums of more than :data:`MOST_SUMS` values are drawn: S is returned with them.
    """
    values = weighted
    if units is not None:
        values = np.rint(np.bincount(units, weights=weighted)).astype(np.int64)
    total = int(values.sum())
    sizes, counts = np.unique(np.abs(values[values != 0]), return_counts=True)
    if sizes.size == 0:
        return 1.0, None
    unit = int(np.gcd.reduce(sizes))
    sizes, total = sizes // unit, total // unit
    if int(sizes @ counts) > MOST_SUMS:
        return drawing.p_of_signs(sizes, counts, total), drawing.n_resamples
    supports = [[-size, size] for size in sizes.tolist()]
    tails = tails_of_sum(supports, [[0.5, 0.5]] * sizes.size, counts, total)
    return choose_tail(drawing.alternative, *tails), None


def _trend(
    doses: NDArray[np.int64],
    marked: NDArray[np.int64],
    sizes: NDArray[np.int64],
    drawing: _Drawing,
) -> TrendResult:
    """Test whether marks go with the dose: given their number they fall on any pairs alike."""
    there = sizes > 0
    own, marks, k = doses[there], marked[there], sizes[there]
    n, total = int(k.sum()), int(marks.sum())
    observed = int((own * marks).sum())
    z = 0.0
    if n > 1 and 0 < total < n:
        mean = float((own * k).sum()) / n
        spread = float((np.square(own - mean) * k).sum()) / n
        variance = total * (n - total) / (n - 1) * spread
        z = (observed - total * mean) / math.sqrt(variance) if variance > 0 else 0.0
    tails = tails_given_total(
        k, total, [e * np.arange(s + 1) for e, s in zip(own, k, strict=True)], observed
    )
    if tails is None:
        drawn = draw_tables(k, total, drawing.n_resamples, drawing.seed)
        p = drawing.p_value((tables @ own for tables in drawn), observed)
    else:
        p = choose_tail(drawing.alternative, *tails)
    return TrendResult(
        statistic=observed,
        p_value=p,
        p_asymptotic=_normal_p(drawing.alternative, z),
        method="exact" if tails is not None else "resample",
        n_resamples=None if tails is not None else drawing.n_resamples,
    )


def _direction_by_clusters(
    dose: NDArray[np.int64],
    signs: NDArray[np.int64],
    units: NDArray[np.int64],
    drawing: _Drawing,
) -> TrendResult:
    """Test whether losses have other doses than gains by swapping the versions of whole clusters.

    The sum of K e_i s_i - s_i Σ e over the K discordant pairs is compared with its law under a coin
    for each cluster. If versions are exchangeable, that keeps the level whatever the clusters are;
    if the share of losses is another one at all doses, and depends neither on how many discordant
    pairs a cluster has nor on their doses, the test is conservative for many clusters.
    """
    weighted = (dose * dose.size - int(dose.sum())) * signs
    sums = np.rint(np.bincount(units, weights=weighted, minlength=1)).astype(np.int64)
    sums = sums[sums != 0]
    p = p_normal = 1.0
    if sums.size:
        total = int(sums.sum())
        z = total / math.sqrt(float(np.square(sums.astype(np.float64)).sum()))
        p_normal = _normal_p(drawing.alternative, z)
        sizes, counts = np.unique(np.abs(sums), return_counts=True)
        p = drawing.p_of_signs(sizes, counts, total)
    return TrendResult(
        statistic=int(dose[signs > 0].sum()),
        p_value=p,
        p_asymptotic=p_normal,
        method="clusters",
        n_resamples=drawing.n_resamples if sums.size else None,
    )


def _trend_by_clusters(
    dose: NDArray[np.int64],
    marked: NDArray[np.bool_],
    units: NDArray[np.int64],
    alternative: Alternative,
) -> TrendResult:
    """Test the same where two pairs of a cluster are marked with a correlation, the same for all.

    Estimated from all pairs, it leaves the variance steady also where few clusters have a large
    dose.
    """
    from scipy.special import stdtr

    p = 1.0
    if dose.size > 2 and np.ptp(dose) > 0 and 0 < marked.sum() < marked.size:
        _, places = np.unique(units, return_inverse=True)
        x, y = dose - dose.mean(), marked - marked.mean()
        spread, square = float((x * x).sum()), float((y * y).sum())
        by_unit, sizes = np.bincount(places, weights=y), np.bincount(places)
        n_pairs = int((sizes**2).sum()) - x.size
        together = 0.0
        if n_pairs:
            product = float(np.square(by_unit).sum()) - square
            together = max(0.0, product / n_pairs * x.size / square)
        shared = float(np.square(np.bincount(places, weights=x)).sum()) - spread
        variance = square / (x.size - 1) * (spread + together * shared)
        if variance > 0 and sizes.size > 1:
            t = float((x * y).sum()) / math.sqrt(variance)
            df = sizes.size - 1
            p = choose_tail(alternative, float(stdtr(df, t)), float(stdtr(df, -t)))
    return TrendResult(
        statistic=int(dose[marked].sum()),
        p_value=p,
        p_asymptotic=p,
        method="clusters",
        n_resamples=None,
    )


def _fit(
    dose: NDArray[np.int64],
    response: NDArray[np.float64],
    units: NDArray[np.int64] | None,
    alternative: Alternative,
    alpha: float,
) -> Slope:
    r"""Fit a slope, and test it by a score that is studentised by units.

    With x and y the centred dose and response, z_c(b) is the sum over unit c of x (y - b x), and b
    is in the interval if the t of these sums, (Σ z) / sqrt((Σ z² - (Σ z)² / C) C / (C - 1)), is no
    larger than Student's quantile with C - 1 degrees of freedom: a quadratic inequality in b. C
    counts the units with a response that differs from the commonest one, which carry the evidence.
    """
    from scipy.special import stdtr, stdtrit

    x = dose - dose.mean()
    y = response - response.mean()
    places = np.arange(x.size) if units is None else units
    slopes = np.bincount(places, weights=x * x).astype(np.float64)
    scores = np.bincount(places, weights=x * y)
    sxx, sxy = float(slopes.sum()), float(scores.sum())
    most = float(slopes.max()) / sxx
    values, counts = np.unique(response, return_counts=True)
    tells = np.zeros(slopes.size, np.bool_)
    tells[places[response != values[np.argmax(counts)]]] = True
    telling = int(tells.sum())
    # What is rare where the weight is may be common elsewhere.
    share = min(telling / slopes.size, float(tells[_heaviest(slopes)].mean()))
    df, expected = telling - 1, share * count_equal(slopes)
    told: dict[str, Any] = {
        "value": sxy / sxx,
        "df": max(df, 0),
        "largest_weight": most,
        "n_expected": expected,
    }
    if df < 1:
        return Slope(interval=Interval(-math.inf, math.inf), t=0.0, p_value=1.0, **told)
    square = float(np.square(scores).sum())
    left = (square - sxy**2 / telling) * telling / df
    has_spread = left > _NO_SPREAD * square * telling / df
    t = math.copysign(math.inf, sxy) if not has_spread and sxy else 0.0
    if has_spread:
        t = sxy / math.sqrt(left)
    lower, upper = float(stdtr(df, t)), float(stdtr(df, -t))
    own = scores[tells]
    if math.isinf(t) or np.ptp(own) <= _NO_SPREAD * np.abs(own).max():
        # All of them agree, as so many coins may.
        lower, upper = (max(each, 0.5**telling) for each in (lower, upper))
    quantile = float(stdtrit(df, 1 - alpha / 2)) ** 2
    # (Σ z)² <= bound · Σ z² is the same as |t| <= quantile.
    bound = quantile * telling / (df + quantile)
    return Slope(
        interval=_invert(
            sxx**2 - bound * float(np.square(slopes).sum()),
            sxx * sxy - bound * float((slopes * scores).sum()),
            sxy**2 - bound * square,
        ),
        t=t,
        p_value=choose_tail(alternative, lower, upper),
        **told,
    )


def _heaviest(slopes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which units hold half of the weight, those with the most first, ties included."""
    ordered = np.sort(slopes)[::-1]
    total = np.cumsum(ordered)
    least = ordered[np.searchsorted(total, total[-1] / 2)]
    return np.asarray(slopes >= least * (1 - 1e-12))


def _invert(square: float, half: float, constant: float) -> Interval:
    """Return where square·b² - 2·half·b + constant <= 0, if that is an interval."""
    inside = half * half - square * constant
    if square <= 0 or inside < 0:
        return Interval(-math.inf, math.inf)
    root = math.sqrt(inside)
    return Interval((half - root) / square, (half + root) / square)
