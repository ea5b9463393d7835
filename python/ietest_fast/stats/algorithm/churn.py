"""Excess churn: what rephrasing changes in an algorithm's answers beyond what retraining does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import format_p, say_p
from ietest_fast.philox import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats.inputs import (
    Rng,
    as_clusters,
    check_cost,
    check_label_kinds,
    check_lengths,
    in_one_order,
    seed_of,
    take_columns,
)
from ietest_fast.stats.intervals import Clustering, Differences, Interval, check_level
from ietest_fast.stats.laws.integer import upper_tail
from ietest_fast.stats.resampling import check_options, skewness_of_mean
from ietest_fast.stats.result import ResampledResult, list_fields

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What a text, or a cluster of texts, is worth to the excess churn: its products, and its type.
#
# The formulas stand at the head of ``cpp/include/ietest/stats/churn.hpp``.


@dataclass(frozen=True, kw_only=True, eq=False)
class ChurnTypes:
    """Units with flips of at least two classifiers, sorted into types."""

    sizes: NDArray[np.int64]
    """Shape (U,), int64: the number of classifiers whose products a type has."""
    counts: NDArray[np.int64]
    """Shape (U,), int64: how many units are of the type."""
    products: NDArray[np.int64]
    """int64, size * (size - 1) / 2 for each type: g(0, 1), g(0, 2), ..., g(1, 2), ..."""

    @property
    def n_units(self) -> int:
        """Number of units of all types."""
        return int(self.counts.sum())


def sum_churn(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return M (M - 1) times the excess churn of each text, shape (n,), of labels of (n, M)."""
    total = np.zeros(a.shape[0], dtype=np.int64)
    for m, other in combinations(range(a.shape[1]), 2):
        total += sum_products(a, b, m, other)
    return total


def count_disagreements(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count ordered pairs of different classifiers that disagree."""
    within_a = within_b = across = 0
    for m, other in combinations(range(a.shape[1]), 2):
        within_a += 2 * int((a[:, m] != a[:, other]).sum())
        within_b += 2 * int((b[:, m] != b[:, other]).sum())
        across += int((a[:, m] != b[:, other]).sum()) + int((a[:, other] != b[:, m]).sum())
    return np.array([within_a, within_b, across])


def sum_products(
    a: NDArray[np.int64], b: NDArray[np.int64], m: int, other: int
) -> NDArray[np.int64]:
    """<v_m, v_other> of each text, v being e(a) - e(b)."""
    same = (a[:, m] == a[:, other]).astype(np.int64) + (b[:, m] == b[:, other])
    crossed = (a[:, m] == b[:, other]).astype(np.int64) + (b[:, m] == a[:, other])
    return np.asarray(same - crossed, dtype=np.int64)


def _types_of_texts(a: NDArray[np.int64], b: NDArray[np.int64], n_labels: int) -> ChurnTypes:
    """Only which two labels a flip is between matters: a coin decides on its direction."""
    flipped = a != b
    rows = flipped.sum(axis=1) >= 2
    low, high = np.minimum(a, b)[rows], np.maximum(a, b)[rows]
    nothing = n_labels * n_labels
    kinds = np.sort(np.where(flipped[rows], low * n_labels + high, nothing), axis=1)
    types, counts = np.unique(kinds, axis=0, return_counts=True)
    sizes, products = [], []
    for kind in types:
        own = kind[kind < nothing]
        first, second = own // n_labels, own % n_labels
        sizes.append(own.size)
        products += [
            int(first[m] == first[x])
            + int(second[m] == second[x])
            - int(first[m] == second[x])
            - int(second[m] == first[x])
            for m, x in combinations(range(own.size), 2)
        ]
    return ChurnTypes(
        sizes=np.array(sizes, dtype=np.int64),
        counts=counts.astype(np.int64),
        products=np.array(products, dtype=np.int64),
    )


def _types_of_clusters(
    a: NDArray[np.int64], b: NDArray[np.int64], codes: NDArray[np.int64], n_clusters: int
) -> ChurnTypes:
    n_classifiers = a.shape[1]
    pairs = list(combinations(range(n_classifiers), 2))
    sums = np.empty((n_clusters, len(pairs)), dtype=np.int64)
    for place, (m, other) in enumerate(pairs):
        own = sum_products(a, b, m, other)
        sums[:, place] = np.bincount(codes, weights=own, minlength=n_clusters).astype(np.int64)
    sums = sums[(sums != 0).any(axis=1)]
    types, counts = np.unique(sums, axis=0, return_counts=True)
    sizes, products = [], []
    for own in types:
        # A classifier all of whose products are 0 changes nothing, so its coin need not be drawn.
        taking_part = sorted({m for pair, g in zip(pairs, own, strict=True) if g for m in pair})
        sizes.append(len(taking_part))
        inside = set(taking_part)
        products += [
            int(g)
            for (m, other), g in zip(pairs, own, strict=True)
            if m in inside and other in inside
        ]
    return ChurnTypes(
        sizes=np.array(sizes, dtype=np.int64),
        counts=counts.astype(np.int64),
        products=np.array(products, dtype=np.int64),
    )


ChurnMethod = Literal["exact", "resample"]

DEFAULT_CHURN_RESAMPLES = 100_000
#: From such a skewness of the mean on, Student's interval of the excess churn is not trusted.
TOO_SKEWED = 0.2


@dataclass(frozen=True, kw_only=True)
class ChurnResult(ResampledResult):
    """Churn of M retrained classifiers across versions, and what of it retraining explains."""

    title = "Excess churn"

    n: int
    n_classifiers: int
    n_clusters: int | None
    """Texts, M, and clusters (None without them)."""
    flip_rate: float
    """Share of texts and classifiers whose two answers differ."""
    churn_original: float
    churn_transformed: float
    """How often two different classifiers disagree on the same version."""
    churn_across: float
    """How often a classifier's answer to the original differs from another one's answer to the
    transformed text."""
    excess: float
    """The excess churn: ``churn_across`` minus :attr:`noise_floor`."""
    standard_error: float
    """Of the excess churn over texts (over clusters, where given)."""
    skewness: float
    """Of the excess churn over texts (clusters): ``sum(e**3) / sum(e**2)**1.5``, e being their
    centred terms. 0 where they do not vary."""
    p_value: float
    """One-sided: P(excess churn >= the observed one) if versions are swapped by coins."""
    method: ChurnMethod
    n_resamples: int | None
    seed: int | None
    """``exact``, or ``resample`` with S replicates from a seed."""
    n_types: int
    """Number of different kinds of texts (clusters) on which two classifiers or more flip."""

    @property
    def noise_floor(self) -> float:
        """How often two classifiers disagree on the same version: the mean of both versions."""
        return (self.churn_original + self.churn_transformed) / 2

    @property
    def statistic(self) -> float:
        """The excess churn."""
        return self.excess

    @property
    def warning(self) -> str | None:
        """What to know of the interval, which the p-value does not need; None if nothing."""
        unit = "texts" if self.n_clusters is None else "clusters"
        if self.standard_error == 0:
            return (
                f"all {unit} have the same excess churn, so its interval has no width and says "
                "nothing"
            )
        if self.skewness < TOO_SKEWED:
            return None
        return (
            f"two classifiers or more flip on few {unit} (skewness of the mean "
            f"{self.skewness:+.2f}; trusted below {TOO_SKEWED:g}): the upper end of the interval "
            "may be too low"
        )

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return Student's interval of the excess churn over texts (or clusters).

        The level is as for :meth:`ietest_fast.stats.PairedResult.confidence_interval`.
        """
        from scipy.special import stdtrit

        check_level(confidence_level)
        freedom = (self.n if self.n_clusters is None else self.n_clusters) - 1
        half = float(stdtrit(freedom, (1 + confidence_level) / 2)) * self.standard_error
        return Interval(self.excess - half, self.excess + half)

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        interval = self.confidence_interval()
        return list_fields(self) | {
            "noise_floor": self.noise_floor,
            "interval": [interval.low, interval.high],
            "warning": self.warning,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        clusters = "" if self.n_clusters is None else f" in {self.n_clusters:,} clusters"
        how: str = self.method
        if self.n_resamples is not None:
            how += f", {self.n_resamples:,} resamples (seed {self.seed})"
        return [
            ("texts", f"{self.n:,}{clusters}"),
            ("classifiers", f"{self.n_classifiers}"),
            ("answers flipped", f"{self.flip_rate:.2%}"),
            ("churn, original", f"{self.churn_original:.2%}"),
            ("churn, transformed", f"{self.churn_transformed:.2%}"),
            ("churn across versions", f"{self.churn_across:.2%}"),
            ("excess churn", f"{self.excess:+.5f}"),
            ("  95% interval", str(self.confidence_interval())),
            ("p (more than retraining)", format_p(self.p_value, floor=self.p_floor)),
            ("method", how),
        ]

    def remarks(self) -> list[str]:
        """Return what the numbers say in plain words."""
        p = format_p(self.p_value, floor=self.p_floor)
        said = (
            f"Two trainings disagree on {self.noise_floor:.2%} of the texts of one version, and on "
            f"{self.churn_across:.2%} across the versions: an excess of {self.excess:+.5f} "
            f"({say_p(p)})."
        )
        return [said, *super().remarks()]


@in_one_order
def excess_churn_test(
    original: Any,
    transformed: Any,
    *,
    clusters: Any = None,
    method: ChurnMethod | None = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> ChurnResult:
    r"""Test whether rephrasing changes an algorithm's answers more than training it again does.

    A single classifier that flips on some texts may do no worse than one that was trained again
    with another seed. With M retrained classifiers the two can be told apart. The excess churn is

    .. math::
        \Delta = \frac{1}{n} \sum_i \Bigl\{ P_{m \neq l}(g_m(x_i) \neq g_l(\varphi x_i))
        - \tfrac12 \bigl[ P_{m \neq l}(g_m(x_i) \neq g_l(x_i))
        + P_{m \neq l}(g_m(\varphi x_i) \neq g_l(\varphi x_i)) \bigr] \Bigr\},

    how much more often two different classifiers disagree across the versions than within one. If
    p and q are the laws of a retrained classifier's answer to the two versions of a text, the
    expectation of its term is half the sum of (p_y - q_y)**2 over labels y: never negative, and 0
    if rephrasing changes nothing that retraining would not change.

    H0 says that the two answers of a classifier to a text could have been exchanged. Under H0 a
    coin for each text and classifier swaps them; p is one-sided.

    Parameters
    ----------
    original, transformed
        Labels that M classifiers give to n texts, in both versions: arrays of shape (n, M), or M
        columns of shape (n,) each, in a data frame, a mapping from names or a list. M is 2 or more,
        and the classifiers are retrained ones of the same kind. Take reworded texts only: others
        have no excess churn and dilute it.
    clusters
        Shape (n,), the cluster of each text: one coin for each cluster and classifier. Use them
        where a classifier's flips go together.
    method
        ``exact``: the law of the swaps, computed. ``resample``: S replicates, coin by coin. None:
        exact, unless a cluster holds flips of more than ten classifiers, for which only
        replicates can be drawn.
    n_resamples
        S, for ``resample`` only; 100,000 unless told otherwise.
    rng, n_threads
        As for :func:`ietest_fast.stats.paired_test`.

    Raises
    ------
    InputError
        If there are fewer than two classifiers or two texts, a label is missing, lengths or kinds
        of labels differ, or ``exact`` does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from ietest_fast.stats import excess_churn_test
    >>> rng = np.random.default_rng(0)
    >>> original = rng.random((1_000, 5)) < 0.9  # what five classifiers answer
    >>> retrained = rng.random((1_000, 5)) < 0.9  # as noisy, and no different
    >>> rephrased = rng.random((1_000, 5)) < 0.7
    >>> result = excess_churn_test(original, retrained)
    >>> round(result.flip_rate, 2), result.p_value > 0.05
    (0.18, True)
    >>> result = excess_churn_test(original, rephrased)
    >>> round(result.flip_rate, 2), result.p_value < 1e-6
    (0.34, True)
    """
    check_options(
        alternative="two-sided",
        n_resamples=1 if n_resamples is None else n_resamples,
        n_threads=n_threads,
    )
    if method not in (None, *get_args(ChurnMethod)):
        raise InputError(f"method must be exact or resample, not {method!r}")
    if method == "exact" and n_resamples is not None:
        raise InputError("the method exact draws nothing: leave n_resamples out")
    a, b, n_labels = read_labels(original, transformed)
    n, n_classifiers = a.shape
    codes, n_clusters = (None, None) if clusters is None else as_clusters(clusters, n)
    if codes is None or n_clusters is None:
        types = _types_of_texts(a, b, n_labels)
    else:
        types = _types_of_clusters(a, b, codes, n_clusters)
    excess = sum_churn(a, b)
    observed = int(excess.sum())
    chosen = _choose_method(method, n_resamples, types)
    seed = None
    if chosen == "exact":
        n_resamples = None
        p_value = _exact_p(types, observed)
    else:
        n_resamples = DEFAULT_CHURN_RESAMPLES if n_resamples is None else int(n_resamples)
        check_cost(types.n_units, n_resamples, method="resample", has_exact_law=False)
        seed = seed_of(rng)
        reached = core.churn.count_at_least(
            types.sizes,
            types.counts,
            types.products,
            observed=observed,
            n_replicates=n_resamples,
            key=philox_key(seed),
            n_threads=n_threads,
        )
        p_value = (reached + 1) / (n_resamples + 1)
    pairs = n_classifiers * (n_classifiers - 1)
    spread = Differences.of(excess / pairs)
    clustering = None
    if codes is not None and n_clusters is not None:
        clustering = Clustering.of_codes(spread, codes, n_clusters)
    centred = spread.values - spread.mean
    if codes is not None:
        centred = np.bincount(codes, weights=centred).astype(np.float64)
    churn = count_disagreements(a, b) / (n * pairs)
    return ChurnResult(
        n=n,
        n_classifiers=n_classifiers,
        n_clusters=n_clusters,
        flip_rate=float((a != b).mean()),
        churn_original=float(churn[0]),
        churn_transformed=float(churn[1]),
        churn_across=float(churn[2]),
        excess=observed / (n * pairs),
        standard_error=math.ldexp(spread.standard_error(clustering), spread.exponent),
        skewness=0.0 if spread.spread == 0 else skewness_of_mean(centred),
        p_value=p_value,
        method=chosen,
        n_resamples=n_resamples,
        seed=seed,
        n_types=types.sizes.size,
    )


def _choose_method(
    method: ChurnMethod | None, n_resamples: int | None, types: ChurnTypes
) -> ChurnMethod:
    most = core.churn.MAX_LISTED_CLASSIFIERS
    is_small = types.sizes.size == 0 or int(types.sizes.max()) <= most
    if method == "exact" and not is_small:
        raise InputError(
            f"the exact law is computed where no text or cluster holds flips of more than {most} "
            f"classifiers, but one holds those of {int(types.sizes.max())}: use resample"
        )
    if method is not None:
        return method
    return "exact" if is_small and n_resamples is None else "resample"


def _exact_p(types: ChurnTypes, observed: int) -> float:
    """P(X* >= observed), X* being the sum over all units."""
    laws: dict[bytes, tuple[NDArray[np.int64], NDArray[np.float64], int]] = {}
    place = 0
    for size, count in zip(types.sizes.tolist(), types.counts.tolist(), strict=True):
        length = size * (size - 1) // 2
        listed = core.churn.list_values(types.products[place : place + length], size)
        place += length
        support, times = np.unique(listed, return_counts=True)
        if support.size == 1:  # which is 0
            continue
        key = support.tobytes() + (times / listed.size).tobytes()
        known = laws.get(key, (support, times / listed.size, 0))
        laws[key] = (*known[:2], known[2] + count)
    if not laws:
        return 1.0
    supports, masses, counts = zip(*laws.values(), strict=True)
    return upper_tail(supports, masses, counts, observed)


def read_labels(
    original: Any, transformed: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return both tables of labels as numbers, shape (n, M) each, and how many labels there are."""
    names, first = _columns(original, "original")
    others, second = _columns(transformed, "transformed")
    if len(first) != len(second):
        raise InputError(
            f"original has {len(first)} classifiers, transformed {len(second)}: each needs a "
            "column in both"
        )
    if names is not None and others is not None and set(names) == set(others):
        second = [second[others.index(name)] for name in names]
    if len(first) < 2:
        raise InputError(
            "excess churn needs two retrained classifiers or more; with one, use flip_test"
        )
    named = {f"original {m}": column for m, column in enumerate(first)}
    named |= {f"transformed {m}": column for m, column in enumerate(second)}
    columns = check_label_kinds(**named)
    n = check_lengths(**dict(zip(named, columns, strict=True)))
    labels, codes = np.unique(np.concatenate(columns), return_inverse=True)
    table = np.ascontiguousarray(codes.reshape(len(columns), n).T.astype(np.int64))
    m = len(first)
    return table[:, :m], table[:, m:], int(labels.size)


def _columns(table: Any, name: str) -> tuple[list[Any] | None, list[Any]]:
    """Return the columns of a table, or of a list of them, and their names where it has any."""
    if isinstance(table, (list, tuple)):
        return None, list(table)
    return take_columns(dict(table) if isinstance(table, Mapping) else table, name)
