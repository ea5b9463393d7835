"""Whether losses and flips grow with a number that each text has, such as its number of edits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.plurals import say_count
from ietest_fast.stats.dose_result import DoseResponseResult, Slope, TrendResult
from ietest_fast.stats.fixed_margins import DEFAULT_TABLES, draw_tables, tails_given_total
from ietest_fast.stats.inputs import (
    as_clusters,
    as_outcomes,
    as_scores,
    check_between,
    check_lengths,
    in_one_order,
)
from ietest_fast.stats.integer_laws import tails_of_sum
from ietest_fast.stats.intervals import Interval
from ietest_fast.stats.resampling import Alternative, check_options, count_equal, monte_carlo_p
from ietest_fast.stats.seeds import Rng, seed_of
from ietest_fast.stats.strata import read_sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.stats.matched import MatchedSample

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
    original, transformed
        Labels that the classifier gives to both versions, shape (n,), if there is ``gold``.
        Otherwise outcomes (0 and 1), or one :class:`MatchedSample`.
    dose
        Shape (n,): whole numbers from 0 to a million. Where their sum over discordant pairs is
        large, p-values that are exact otherwise are those of S draws.
    gold
        Gold labels, shape (n,). Without them flips are not known.
    clusters
        Shape (n,), the cluster of each text. With clusters the second test swaps the versions of
        whole clusters, and the fourth is a t test that takes texts of a cluster to be equally
        correlated at all doses.
    reworded
        Shape (n,), bool: which texts were reworded. Only these are looked at.
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

    Returns
    -------
    DoseResponseResult

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
    rows = np.arange(n)
    if reworded is not None and reworded is not True:
        mask = as_outcomes(reworded, "reworded")
        check_lengths(original=sample.original_correct, reworded=mask)
        rows = np.flatnonzero(mask)
    if rows.size < 2:
        raise InputError(
            f"only {say_count(rows.size, 'text is', 'texts are')} reworded: a dose needs two "
            "or more"
        )
    signs = sample.original_correct[rows].astype(np.int64) - sample.transformed_correct[rows]
    flips = None if answers is None else np.asarray(answers[0] != answers[1])[rows]
    return _respond(
        amounts[rows],
        signs,
        flips,
        None if units is None else np.unique(units[rows], return_inverse=True)[1],
        name=name,
        alternative=alternative,
        alpha=alpha,
        n_resamples=n_resamples,
        seed=seed_of(rng),
    )


def judge_dose(
    sample: MatchedSample,
    dose: Any,
    *,
    flipped: NDArray[np.bool_] | None,
    clusters: NDArray[Any] | None,
    name: str,
    alpha: float = 0.05,
    n_resamples: int | None = None,
    rng: Rng = 0,
) -> DoseResponseResult:
    """Test checked outcomes, of the reworded texts alone; see :func:`dose_response_test`."""
    return _respond(
        _as_doses(dose, name),
        sample.original_correct.astype(np.int64) - sample.transformed_correct,
        flipped,
        None if clusters is None else np.unique(clusters, return_inverse=True)[1],
        name=name,
        alternative="two-sided",
        alpha=alpha,
        n_resamples=DEFAULT_TABLES if n_resamples is None else n_resamples,
        seed=seed_of(rng),
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


def _respond(
    dose: NDArray[np.int64],
    signs: NDArray[np.int64],
    flips: NDArray[np.bool_] | None,
    units: NDArray[np.int64] | None,
    *,
    name: str,
    alternative: Alternative,
    alpha: float,
    n_resamples: int,
    seed: int,
) -> DoseResponseResult:
    doses, places = np.unique(dose, return_inverse=True)
    counted = {
        mark: np.bincount(places[own], minlength=doses.size)
        for mark, own in (("all", np.arange(dose.size)), ("lost", signs > 0), ("won", signs < 0))
    }
    flipped = None if flips is None else np.bincount(places[flips], minlength=doses.size)
    drawing: dict[str, Any] = {"alternative": alternative, "n_resamples": n_resamples, "seed": seed}
    slope = flip_slope = direction = flip_trend = None
    if doses.size > 1:
        slope = _fit(dose, signs.astype(np.float64), units, alternative, alpha)
        discordant = np.flatnonzero(signs)
        sizes = counted["lost"] + counted["won"]
        if units is None:
            direction = _trend(doses, counted["lost"], sizes, **drawing)
        else:
            direction = _direction_by_clusters(
                dose[discordant], signs[discordant], units[discordant], **drawing
            )
        if flips is not None and flipped is not None:
            flip_slope = _fit(dose, flips.astype(np.float64), units, alternative, alpha)
            if units is None:
                flip_trend = _trend(doses, flipped, counted["all"], **drawing)
            else:
                flip_trend = _trend_by_clusters(dose, flips, units, alternative)
    weighted = dose * signs
    p_weighted, weighted_n_resamples = _p_of_signs(
        weighted, units, alternative, n_resamples=n_resamples, seed=seed
    )
    return DoseResponseResult(
        name=name,
        n=dose.size,
        n_clusters=None if units is None else int(units.max()) + 1,
        doses=tuple(doses.tolist()),
        sizes=tuple(counted["all"].tolist()),
        losses=tuple(counted["lost"].tolist()),
        gains=tuple(counted["won"].tolist()),
        flipped=None if flipped is None else tuple(flipped.tolist()),
        slope=slope,
        direction=direction,
        weighted_sum=int(weighted.sum()),
        p_weighted=p_weighted,
        weighted_n_resamples=weighted_n_resamples,
        flip_slope=flip_slope,
        flip_trend=flip_trend,
        alternative=alternative,
        alpha=alpha,
        seed=seed,
    )


def _side(alternative: Alternative, at_most: float, at_least: float) -> float:
    if alternative == "greater":
        return at_least
    if alternative == "less":
        return at_most
    return min(1.0, 2 * min(at_most, at_least))


def _normal_p(alternative: Alternative, z: float) -> float:
    at_most, at_least = (0.5 * math.erfc(sign * z / math.sqrt(2)) for sign in (-1, 1))
    return _side(alternative, at_most, at_least)


def _p_of_signs(
    weighted: NDArray[np.int64],
    units: NDArray[np.int64] | None,
    alternative: Alternative,
    *,
    n_resamples: int,
    seed: int,
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
        drawn = _draw_p_of_signs(
            sizes, counts, total, alternative, n_resamples=n_resamples, seed=seed
        )
        return drawn, n_resamples
    supports = [[-size, size] for size in sizes.tolist()]
    tails = tails_of_sum(supports, [[0.5, 0.5]] * sizes.size, counts, total)
    return _side(alternative, *tails), None


def _draw_p_of_signs(
    sizes: NDArray[np.int64],
    counts: NDArray[np.int64],
    total: int,
    alternative: Alternative,
    *,
    n_resamples: int,
    seed: int,
) -> float:
    generator = np.random.Generator(np.random.Philox(key=philox_key(seed)))
    at_most = at_least = 0
    rows = max(1, 2**22 // sizes.size)
    for start in range(0, n_resamples, rows):
        drawn = min(rows, n_resamples - start)
        heads = generator.binomial(counts, 0.5, size=(drawn, sizes.size))
        sums = (2 * heads - counts) @ sizes
        at_most += int((sums <= total).sum())
        at_least += int((sums >= total).sum())
    return monte_carlo_p(alternative, at_most, at_least, n_resamples)


def _trend(
    doses: NDArray[np.int64],
    marked: NDArray[np.int64],
    sizes: NDArray[np.int64],
    *,
    alternative: Alternative,
    n_resamples: int,
    seed: int,
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
        at_most = at_least = 0
        for tables in draw_tables(k, total, n_resamples, seed):
            values = tables @ own
            at_most += int((values <= observed).sum())
            at_least += int((values >= observed).sum())
        p = monte_carlo_p(alternative, at_most, at_least, n_resamples)
    else:
        p = _side(alternative, *tails)
    return TrendResult(
        statistic=observed,
        p_value=p,
        p_asymptotic=_normal_p(alternative, z),
        method="exact" if tails is not None else "resample",
        n_resamples=None if tails is not None else n_resamples,
    )


def _direction_by_clusters(
    dose: NDArray[np.int64],
    signs: NDArray[np.int64],
    units: NDArray[np.int64],
    *,
    alternative: Alternative,
    n_resamples: int,
    seed: int,
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
        p_normal = _normal_p(alternative, z)
        sizes, counts = np.unique(np.abs(sums), return_counts=True)
        p = _draw_p_of_signs(sizes, counts, total, alternative, n_resamples=n_resamples, seed=seed)
    return TrendResult(
        statistic=int(dose[signs > 0].sum()),
        p_value=p,
        p_asymptotic=p_normal,
        method="clusters",
        n_resamples=n_resamples if sums.size else None,
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
            p = _side(alternative, float(stdtr(df, t)), float(stdtr(df, -t)))
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
    if df < 1:
        whole = Interval(-math.inf, math.inf)
        return Slope(
            value=sxy / sxx,
            interval=whole,
            t=0.0,
            df=max(df, 0),
            p_value=1.0,
            largest_weight=most,
            n_expected=expected,
        )
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
        value=sxy / sxx,
        interval=_invert(
            sxx**2 - bound * float(np.square(slopes).sum()),
            sxx * sxy - bound * float((slopes * scores).sum()),
            sxy**2 - bound * square,
        ),
        t=t,
        df=df,
        p_value=_side(alternative, lower, upper),
        largest_weight=most,
        n_expected=expected,
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
