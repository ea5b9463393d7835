"""Paraphrastic consistency by its definition, pair by pair, and its bootstrap, bucket by bucket."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Bucket = "Sequence[Any]"


def group(buckets: Sequence[Any], values: Sequence[Any]) -> list[list[Any]]:
    """Put the rows of each bucket together, in order of occurrence."""
    found: dict[Any, list[Any]] = defaultdict(list)
    for name, value in zip(buckets, values, strict=True):
        found[name].append(value)
    return list(found.values())


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def share_alike(bucket: Bucket, *, distinct: bool) -> Fraction:
    """Share of ordered pairs with equal values; of a row with itself too unless distinct."""
    pairs = list(permutations(bucket, 2) if distinct else product(bucket, repeat=2))
    return Fraction(sum(x == y for x, y in pairs), len(pairs))


def plug_in(buckets: Sequence[Bucket]) -> Fraction:
    """P_C, or the share of equal answers, as the paper estimates it."""
    return mean([share_alike(bucket, distinct=False) for bucket in buckets])


def unbiased(buckets: Sequence[Bucket]) -> Fraction:
    """The same from distinct pairs, buckets of one left out."""
    return mean([share_alike(bucket, distinct=True) for bucket in buckets if len(bucket) > 1])


def accuracies(buckets: Sequence[Bucket]) -> list[Fraction]:
    return [Fraction(sum(bucket), len(bucket)) for bucket in buckets]


def micro(buckets: Sequence[Bucket]) -> Fraction:
    return Fraction(sum(map(sum, buckets)), sum(map(len, buckets)))


def vap(buckets: Sequence[Bucket]) -> Fraction:
    """Mean over buckets of the variance of correctness within (divisor n)."""
    return mean(
        [
            mean([(x - theta) ** 2 for x in bucket])
            for bucket, theta in zip(buckets, accuracies(buckets), strict=True)
        ]
    )


def between(buckets: Sequence[Bucket]) -> Fraction:
    thetas = accuracies(buckets)
    return mean([(theta - mean(thetas)) ** 2 for theta in thetas])


def pvap(buckets: Sequence[Bucket]) -> Fraction:
    rate = micro(buckets)
    return vap(buckets) / (rate * (1 - rate))


def vap_unbiased(buckets: Sequence[Bucket]) -> Fraction:
    """Mean over buckets of two or more of the variance within (divisor n - 1)."""
    return mean(
        [
            sum(((x - theta) ** 2 for x in bucket), Fraction(0)) / (len(bucket) - 1)
            for bucket, theta in zip(buckets, accuracies(buckets), strict=True)
            if len(bucket) > 1
        ]
    )


def between_unbiased(buckets: Sequence[Bucket]) -> Fraction:
    """Variance of theta over buckets of two or more, less what sampling within them adds."""
    paired = [bucket for bucket in buckets if len(bucket) > 1]
    thetas = accuracies(paired)
    spread = sum(((t - mean(thetas)) ** 2 for t in thetas), Fraction(0)) / (len(paired) - 1)
    noise = [
        sum(((x - theta) ** 2 for x in bucket), Fraction(0)) / (len(bucket) - 1) / len(bucket)
        for bucket, theta in zip(paired, thetas, strict=True)
    ]
    return spread - mean(noise)


def corrected(
    values: Sequence[float], confidence: Sequence[float], test: Sequence[float], n_strata: int
) -> tuple[float, float]:
    """Section 4.3, stratum by stratum: the estimate without renormalising, and the weight used."""

    def members(of: Sequence[float], place: int) -> list[int]:
        low, high = place / n_strata, (place + 1) / n_strata
        is_last = place == n_strata - 1
        return [i for i, c in enumerate(of) if low <= c < high or (is_last and c >= low)]

    total = used = 0.0
    for place in range(n_strata):
        weight = len(members(test, place)) / len(test)
        own = [values[i] for i in members(confidence, place)]
        if own:
            total += weight * sum(own) / len(own)
            used += weight
    return total, used


def bootstrap(
    statistic: Callable[[np.ndarray], float], n_units: int, n_resamples: int, seed: int
) -> np.ndarray:
    """Draw units with replacement, index by index; the statistic takes how often each is drawn."""
    rng = np.random.default_rng(seed)
    return np.array(
        [
            statistic(np.bincount(rng.integers(n_units, size=n_units), minlength=n_units))
            for _ in range(n_resamples)
        ]
    )


def two_part_interval(values: Sequence[float], most: float, alpha: float) -> tuple[float, float]:
    """An interval of a mean: the share of values off the nearer end, times their mean."""
    from scipy.stats import norm, t

    n = len(values)
    if sum(values) > n * most / 2:
        low, high = two_part_interval([most - x for x in values], most, alpha)
        return most - high, most - low
    off = [x for x in values if x > 1e-12]
    k, z = len(off), norm.ppf(1 - alpha / 2)
    # Wilson: the shares p with (k - n p)**2 <= z**2 n p (1 - p).
    ends = np.sort(np.roots([n * n + z * z * n, -(2 * k * n + z * z * n), k * k]).real)
    lower, upper = max(ends[0], 0.0), 1.0 if k == n else ends[1]
    if k == 0:
        return 0.0, upper * most
    mean_off = sum(off) / k
    half = t.ppf(1 - alpha / 2, k - 1) * np.std(off, ddof=1) / k**0.5 if k > 1 else np.inf
    least, largest = max(min(off), mean_off - half), min(most, mean_off + half)
    value = sum(values) / n
    below = ((np.log(k / n) - np.log(lower)) ** 2 + np.log(mean_off / least) ** 2) ** 0.5
    above = ((np.log(upper) - np.log(k / n)) ** 2 + np.log(largest / mean_off) ** 2) ** 0.5
    return float(value * np.exp(-below)), float(min(most, value * np.exp(above)))


def pvap_not_rejected(
    sizes: Sequence[int], right: Sequence[int], shares: np.ndarray, alpha: float
) -> np.ndarray:
    """Which shares p a t-test of "within = p (within + between)" by the jackknife keeps."""
    from scipy.stats import t

    def estimate(keep: np.ndarray) -> tuple[float, float]:
        n, k = np.array(sizes, float)[keep], np.array(right, float)[keep]
        theta, pair = k / n, k * (n - k) / (n * (n - 1))
        within = pair.mean()
        return within, within + theta.var(ddof=1) - (pair / n).mean()

    n_units = len(sizes)
    every = np.ones(n_units, bool)
    within, total = estimate(every)
    left_out = []
    for place in range(n_units):
        keep = every.copy()
        keep[place] = False
        left_out.append(estimate(keep))
    moves = np.array(left_out) - np.mean(left_out, axis=0)
    best = min(within / total, 1.0)
    own = moves[:, 0] - best * moves[:, 1]
    kurtosis = np.mean(own**4) / np.mean(own**2) ** 2
    df = max(min(n_units - 1, 2 * n_units / (kurtosis - 1)), 1)
    kept = []
    for share in shares:
        spread = (n_units - 1) / n_units * np.sum((moves[:, 0] - share * moves[:, 1]) ** 2)
        kept.append(abs(within - share * total) <= t.ppf(1 - alpha / 2, df) * spread**0.5)
    return np.array(kept)
