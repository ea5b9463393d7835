"""The algorithm, not these classifiers: crossed random effects of texts and of trainings."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import format_p, format_t, say_p
from ietest_fast.stats.inputs import (
    as_clusters,
    check_between,
    in_one_order,
    is_number,
    is_outcomes,
    read_classifiers,
)
from ietest_fast.stats.intervals import FEW_TELLING, Interval, check_level
from ietest_fast.stats.multiple import check_alpha
from ietest_fast.stats.resampling import (
    FEW_UNITS,
    Alternative,
    check_options,
    choose_tail,
    count_equal,
    have_no_spread,
    say_too_skewed,
    skewness_of_mean,
    to_squarable,
    warn_of_large_units,
)
from ietest_fast.stats.result import PValueResult, list_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.stats.matched import PairedCounts

#: From such a skewness of the mean on, Student's law is not trusted: there is no studentised one.
TOO_SKEWED = 0.15

_ROUNDING = 1e-12
_LEAST_TAIL = 1e-100  # of which Student's quantile is still found


@dataclass(frozen=True)
class VarianceComponents:
    """What the differences of M classifiers on n texts vary by, in the variance of their mean."""

    items: float
    classifiers: float
    residual: float
    """V_I, V_C and V_E: estimates of the variance of the mean difference between texts, between
    trainings, and what is left. Each of the first two contains the third."""

    @property
    def of_mean(self) -> float:
        """V, the variance of the mean: ``max(V_I + V_C - V_E, V_I, V_C)``."""
        beyond = self.classifiers - self.residual
        whole = self.items + (0.0 if have_no_spread(beyond, self.classifiers) else beyond)
        return max(whole, self.classifiers)

    def law(self, n_units: int, n_classifiers: int) -> WeightedStudent:
        """Return the law of the mean over the root of V.

        V_C and V_I both contain V_E. Of ``V_I - k V_E`` beside V_C, k = 2 / M keeps the level: at
        k = 1 five classifiers that do not differ show too little, at 0 two that differ too much.
        """
        part = max(self.items - 2 / n_classifiers * self.residual, 0.0)
        return WeightedStudent.of((part, n_units), (self.classifiers, n_classifiers))

    def of_next(self, n_classifiers: int) -> float:
        """Return the variance of one more classifier's difference about the mean.

        ``V_I + (M + 1) V_C``: V_E is not subtracted, for an estimate of 0 between M trainings does
        not show that the next one will be like them.
        """
        return self.items + (n_classifiers + 1) * self.classifiers

    def law_of_next(self, n_units: int, n_classifiers: int) -> WeightedStudent:
        """Return the law of one more classifier's difference over the root of :meth:`of_next`."""
        part = (n_classifiers + 1) * self.classifiers
        return WeightedStudent.of((self.items, n_units), (part, n_classifiers))


@dataclass(frozen=True)
class WeightedStudent:
    """The law of a mean over the root of two estimated variances (Cochran and Cox 1957, 4.14).

    Its quantiles are those of Student's laws of both, weighted by the variances. Satterthwaite's
    law, of one Student's, rejects too often where M trainings, 2 to 5, differ: where they differ
    little by chance, both the variance is too small and its degrees of freedom are too many.
    """

    weight: float
    """Of the trainings: their share in the variance."""
    df_items: float
    df_classifiers: float
    """Degrees of freedom of the two variances."""

    @classmethod
    def of(cls, items: tuple[float, float], classifiers: tuple[float, float]) -> WeightedStudent:
        """Weight two variances, each of a mean over so many units."""
        whole = items[0] + classifiers[0]
        weight = classifiers[0] / whole if whole > 0 else 0.0
        return cls(weight, items[1] - 1, classifiers[1] - 1)

    def quantile(self, tail: float) -> float:
        """Return what is exceeded with this probability."""
        from scipy.special import stdtrit

        found = -(1 - self.weight) * stdtrit(self.df_items, tail)
        if self.weight > 0:
            found -= self.weight * stdtrit(self.df_classifiers, tail)
        return float(found)

    def tail(self, t: float) -> float:
        """P(T >= t), at least 1e-100 of a finite t."""
        from scipy.optimize import brentq

        if t < 0:
            return 1 - self.tail(-t)
        if math.isinf(t):
            return 0.0
        least, most = math.log(_LEAST_TAIL), math.log(0.5)
        if self.quantile(_LEAST_TAIL) <= t:
            return _LEAST_TAIL
        found = brentq(lambda p: self.quantile(math.exp(p)) - t, least, most, xtol=1e-14)
        return math.exp(found)


@dataclass(frozen=True, kw_only=True)
class AlgorithmTestResult(PValueResult):
    """Whether an algorithm loses accuracy on rephrased texts, on average over retrainings."""

    title = "The algorithm"

    n: int
    n_classifiers: int
    n_clusters: int | None
    """Texts, M, and clusters (None without them)."""
    n_independent: float
    """How many of the largest clusters make n: as many independent texts there are at least,
    however alike the texts of a cluster are, and whichever clusters change more often."""
    are_outcomes: bool
    """Whether scores are 0 and 1."""
    n_differing: int
    """Texts (clusters) on which some classifier differs."""
    n_deciding: float
    """How many texts (clusters) with equal differences would tell as much."""
    skewness: float
    """Of the mean over texts (clusters): ``sum(e**3) / sum(e**2)**1.5``, e being their centred sums
    over the classifiers."""
    deltas: tuple[float, ...]
    """Mean of original minus transformed of each classifier."""
    delta: float
    """Their mean."""
    standard_error: float
    """Of delta over texts and trainings."""
    training_weight: float
    """The share of the trainings in its variance, as of :class:`WeightedStudent`."""
    t: float
    """``delta / standard_error``; 0 if delta is 0, infinite if nothing varies otherwise."""
    p_value: float
    """Of "the algorithm loses and gains nothing", by :class:`WeightedStudent`. Where nothing
    varies, the probability that as many fair coins agree."""
    alternative: Alternative
    """``two-sided``; ``greater``: the original scores higher; ``less``: it scores lower."""
    components: VarianceComponents
    """V_I, V_C and V_E."""
    sd_items: float
    sd_classifiers: float
    sd_residual: float
    """Standard deviations of one difference: between texts, between trainings (tau), and the rest.
    With them :func:`ietest_fast.stats.plan_algorithm` plans how many texts and classifiers to
    take."""
    prediction_error: float
    """Standard error of ``delta`` as a prediction for one more classifier: the deltas of
    classifiers are taken for normal."""
    prediction_weight: float
    """The share of the trainings in its square."""
    margin: float
    alpha: float
    """Of the equivalence test; differences below the margin do not matter."""
    p_lower: float
    p_upper: float
    """One-sided p-values of H0: delta <= -margin and H0: delta >= margin."""

    @property
    def p_equivalence(self) -> float:
        """The p-value of "the difference is at least the margin"."""
        return max(self.p_lower, self.p_upper)

    @property
    def equivalent(self) -> bool:
        """Whether delta is shown to be smaller than the margin."""
        return self.p_equivalence < self.alpha

    @property
    def differs(self) -> bool:
        """Whether the test of delta = 0 rejects."""
        return self.p_value < self.alpha

    @property
    def statistic(self) -> float:
        """The statistic t, as SciPy calls it."""
        return self.t

    @property
    def n_units(self) -> int:
        """Texts, or clusters of them."""
        return self.n if self.n_clusters is None else self.n_clusters

    @property
    def warning(self) -> str | None:
        """What the reader has to know before the p-value is used; None if there is nothing."""
        unit = "texts" if self.n_clusters is None else "clusters"
        if self.n_differing < FEW_UNITS:
            return (
                f"the classifiers differ on only {self.n_differing} {unit}: below {FEW_UNITS} "
                "Student's law is not to be trusted"
            )
        if not self.are_outcomes and abs(self.skewness) >= TOO_SKEWED:
            return say_too_skewed(self.skewness, trusted_below=TOO_SKEWED, unit=unit)
        return warn_of_large_units(self.n_deciding, unit)

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return the two-sided interval of the algorithm's delta.

        The level is as for :meth:`ietest_fast.stats.PairedResult.confidence_interval`.
        """
        return self._interval(self.standard_error, self.training_weight, confidence_level)

    def prediction_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return the interval for the delta of one more classifier on texts of this kind.

        The level is as for :meth:`ietest_fast.stats.PairedResult.confidence_interval`.
        """
        return self._interval(self.prediction_error, self.prediction_weight, confidence_level)

    def _interval(self, error: float, weight: float, level: float) -> Interval:
        check_level(level)
        tail = (1 - level) / 2
        law = WeightedStudent(weight, self.n_units - 1, self.n_classifiers - 1)
        half = 0.0 if error == 0 else law.quantile(tail) * error
        if error == 0 and self.are_outcomes:  # so many texts are alike with this probability
            half = 1 - tail ** (1 / self.n_independent)
        return Interval(self.delta - half, self.delta + half)

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        interval, prediction = self.confidence_interval(), self.prediction_interval()
        return list_fields(self, "components", "deltas") | {
            "deltas": list(self.deltas),
            "interval": [interval.low, interval.high],
            "prediction_interval": [prediction.low, prediction.high],
            "p_equivalence": self.p_equivalence,
            "equivalent": self.equivalent,
            "warning": self.warning,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        clusters = "" if self.n_clusters is None else f" in {self.n_clusters:,} clusters"
        low, high = min(self.deltas), max(self.deltas)
        return [
            ("texts", f"{self.n:,}{clusters}"),
            ("classifiers", f"{self.n_classifiers}, delta {low:+.4g} to {high:+.4g}"),
            ("delta", f"{self.delta:+.6g}"),
            ("  95% interval", str(self.confidence_interval())),
            ("  of one more classifier", str(self.prediction_interval())),
            ("sd between trainings", f"{self.sd_classifiers:.4g}"),
            ("sd between texts", f"{self.sd_items:.4g}, residual {self.sd_residual:.4g}"),
            ("t", format_t(self.t)),
            (f"p ({self.alternative})", format_p(self.p_value)),
            (f"p, difference ≥ {self.margin:g}", format_p(self.p_equivalence)),
        ]

    @property
    def explanation(self) -> str:
        """What is shown of the algorithm in plain words."""
        p, ends = format_p(self.p_value), f"(95% interval {self.confidence_interval()})"
        lean = f"delta {self.delta:+.4g}, 95% interval {self.confidence_interval()}, {say_p(p)}"
        if self.differs and not self.equivalent:
            verb = "loses on" if self.delta > 0 else "gains on"
            return f"The algorithm {verb} rephrased texts: {lean}."
        if self.equivalent:
            small = " There is a difference, but a smaller one." if self.differs else ""
            return (
                f"The algorithm's difference is shown to be below {self.margin:g}: delta "
                f"{self.delta:+.4g} {ends} ({say_p(format_p(self.p_equivalence))}).{small}"
            )
        return (
            f"Neither a difference ({lean}) nor one below {self.margin:g} "
            f"({say_p(format_p(self.p_equivalence))}) is shown for the algorithm."
        )


@in_one_order
def algorithm_test(
    original: Any,
    transformed: Any,
    *,
    clusters: Any = None,
    alternative: Alternative = "two-sided",
    margin: float = 0.01,
    alpha: float = 0.05,
) -> AlgorithmTestResult:
    r"""Test whether an algorithm loses accuracy on rephrased texts, on average over retrainings.

    The paper's test is about the M classifiers that were trained: with enough texts it finds that
    one of them is a little better on the originals, another on the rephrased texts. This test is
    about the algorithm: the classifiers are a random sample of its trainings on one training set,
    the texts a random sample of all texts of their kind, and trainings are taken for normal. With
    :math:`d_{im} = A_{im} - B_{im}` and dots for means,

    .. math::
        V_I = \frac{\sum_i (d_{i\cdot} - \bar d)^2}{n(n-1)}, \quad
        V_C = \frac{\sum_m (d_{\cdot m} - \bar d)^2}{M(M-1)}, \quad
        V_E = \frac{\sum_{im} (d_{im} - d_{i\cdot} - d_{\cdot m} + \bar d)^2}{nM(n-1)(M-1)},

    the variance of the mean is estimated by :math:`V = \max(V_I + V_C - V_E, V_I, V_C)`, and
    :math:`t = \bar d / \sqrt V` is held against Student's laws with :math:`n - 1` and
    :math:`M - 1` degrees of freedom, whose quantiles are weighted by :math:`V_I - 2 V_E / M` (0 at
    least) and :math:`V_C` (Cochran and Cox 1957). Two one-sided tests of the same kind compare
    delta with the margin.

    With clusters, V_I and V_E are computed from the sums of each cluster's deviations, with
    C / (C - 1) in the place of n / (n - 1).

    Parameters
    ----------
    original, transformed
        Shape (n, M), outcomes (0 and 1) or scores of M classifiers on both versions of n texts, as
        for :func:`ietest_fast.stats.joint_test`. M is 2 or more, and the classifiers are retrained
        ones of the same kind. Take reworded texts only: others dilute delta.
    clusters
        Shape (n,), the cluster of each text.
    alternative
        ``two-sided``; ``greater``: the original scores higher; ``less``: it scores lower.
    margin
        Differences smaller than this do not matter; below 1 for outcomes. Choose it before you look
        at the data.
    alpha
        In (0, 0.5).

    Raises
    ------
    InputError
        If there are fewer than two classifiers, texts or clusters, a value is missing or no finite
        number, shapes differ, or an option is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> from ietest_fast.stats import algorithm_test
    >>> rng = np.random.default_rng(0)
    >>> original = rng.random((2_000, 5)) < 0.8
    >>> swaps = rng.random((2_000, 5)) < 0.1
    >>> lost = rng.random((2_000, 5)) < np.array([0.02, 0.0, 0.01, 0.03, 0.0])  # of each classifier
    >>> result = algorithm_test(original, (original ^ swaps) & ~lost)
    >>> result.n_classifiers, round(result.p_value, 3) < 0.05
    (5, True)
    """
    check_options(alternative=alternative, n_resamples=1)
    check_alpha(alpha)
    if alpha >= 0.5:
        raise InputError(f"equivalence is tested at an alpha below 0.5, not at {alpha}")
    a, b, _ = read_classifiers(original, transformed)
    n, m = a.shape
    if m < 2:
        raise InputError(
            "the algorithm is judged by two retrained classifiers or more; test one by paired_test"
        )
    are_outcomes = is_outcomes(a) and is_outcomes(b)
    if are_outcomes:
        check_between(margin, "the margin of a difference of accuracies", 0, 1)
    elif not is_number(margin) or not 0 < margin < math.inf:
        raise InputError(f"the margin must be a positive number, not {margin!r}")
    codes, n_clusters = (None, None) if clusters is None else as_clusters(clusters, n)
    flat, exponent = to_squarable((a - b).ravel())
    d = flat.reshape(n, m)
    found = _components(d, codes, n_clusters)
    mean = float(d.mean())
    differs = d.any(axis=1)
    n_differing = int(np.unique(np.flatnonzero(differs) if codes is None else codes[differs]).size)
    sums, centred = d.sum(axis=1), d.mean(axis=1) - mean
    is_constant = have_no_spread(float(np.square(centred).sum()), float(np.square(sums / m).sum()))
    if codes is not None:
        sums, centred = (np.bincount(codes, weights=each) for each in (sums, centred))
    n_deciding = count_equal(np.square(sums))
    alike = _independent_texts(n, codes)
    return _conclude(
        found,
        mean,
        exponent=exponent,
        n_on_edge=alike if n_deciding < FEW_TELLING else _expected_texts(n, codes),
        is_zero=not d.any(),
        n=n,
        n_classifiers=m,
        n_clusters=n_clusters,
        n_independent=alike,
        are_outcomes=are_outcomes,
        n_differing=n_differing,
        n_deciding=n_deciding,
        skewness=0.0 if is_constant else skewness_of_mean(centred),
        deltas=tuple(np.ldexp(d.mean(axis=0), exponent).tolist()),
        alternative=alternative,
        margin=margin,
        alpha=alpha,
    )


def algorithm_of_counts(
    counts: Sequence[PairedCounts],
    *,
    sd_residual: float,
    margin: float,
    alpha: float,
    clustered: tuple[float, int] | None = None,
) -> AlgorithmTestResult:
    """Find again what :func:`algorithm_test` has found of outcomes, two-sided, from few numbers.

    The counts of each classifier tell the mean, the variance between trainings and, without
    clusters, the sum of all squares, of which texts have what the residual leaves.
    """
    n, m = counts[0].n, len(counts)
    deltas = np.array([each.delta for each in counts])
    mean = float(deltas.mean())
    whole = sum(each.k for each in counts) / (n * m)
    residual = sd_residual**2 / (n * m)
    classifiers = float(np.square(deltas - mean).sum()) / (m * (m - 1))
    if clustered is None:
        n_units = n
        others = mean**2 + (m - 1) * (classifiers + (n - 1) * residual)
        items = (whole - others) / (n - 1)
    else:
        items, n_units = clustered
    least = _ROUNDING * whole / n  # differences of equal sums leave rounding errors
    parts = VarianceComponents(*(0.0 if v <= least else v for v in (items, classifiers, residual)))
    return _conclude(
        parts,
        mean,
        exponent=0,
        n_on_edge=n_units,
        is_zero=whole == 0,
        n=n,
        n_classifiers=m,
        n_clusters=None if clustered is None else n_units,
        n_independent=n_units,
        are_outcomes=True,
        n_differing=n_units,
        n_deciding=n_units,
        skewness=0.0,
        deltas=tuple(deltas.tolist()),
        alternative="two-sided",
        margin=margin,
        alpha=alpha,
    )


def _conclude(
    found: VarianceComponents,
    mean: float,
    *,
    exponent: int,
    n_on_edge: float,
    is_zero: bool,
    n: int,
    n_classifiers: int,
    n_clusters: int | None,
    n_independent: float,
    are_outcomes: bool,
    alternative: Alternative,
    margin: float,
    **described: Any,
) -> AlgorithmTestResult:
    """Return what follows from variance components and a mean, in units of 2**exponent."""
    n_units = n if n_clusters is None else n_clusters
    error, law = math.sqrt(found.of_mean), found.law(n_units, n_classifiers)
    edge, on_edge = _scale(margin, -exponent), error
    if are_outcomes:  # where delta is the margin, some answers differ
        least = math.sqrt(margin * (1 - margin) / n_on_edge)
        on_edge = max(error, math.ldexp(least, -exponent))
    lower, upper = (law.tail(_ratio(side * mean + edge, on_edge)) for side in (1, -1))
    if are_outcomes and is_zero:  # the normal law is too sure of a few hundred texts
        lower = upper = (1 - margin) ** n_independent
    t = _ratio(mean, error)
    residual = found.residual
    scaled = {
        "delta": mean,
        "standard_error": error,
        "prediction_error": math.sqrt(found.of_next(n_classifiers)),
        "sd_items": math.sqrt(n * max(found.items - residual, 0.0)),
        "sd_classifiers": math.sqrt(n_classifiers * max(found.classifiers - residual, 0.0)),
        "sd_residual": math.sqrt(n * n_classifiers * residual),
    }
    described |= {name: _scale(value, exponent) for name, value in scaled.items()}
    return AlgorithmTestResult(
        n=n,
        n_classifiers=n_classifiers,
        n_clusters=n_clusters,
        n_independent=n_independent,
        are_outcomes=are_outcomes,
        alternative=alternative,
        margin=margin,
        components=VarianceComponents(*(_scale(part, 2 * exponent) for part in astuple(found))),
        training_weight=law.weight,
        t=t,
        p_value=_p_value(t, law, alternative, n_independent) if t or error else 1.0,
        prediction_weight=found.law_of_next(n_units, n_classifiers).weight,
        p_lower=lower,
        p_upper=upper,
        **described,
    )


def _components(
    d: NDArray[np.float64], codes: NDArray[np.int64] | None, n_clusters: int | None
) -> VarianceComponents:
    n, m = d.shape
    of_items, of_classifiers, mean = d.mean(axis=1), d.mean(axis=0), d.mean()
    items = of_items - mean
    residual = d - of_items[:, None] - (of_classifiers - mean)
    units = n
    if codes is not None and n_clusters is not None:
        units = n_clusters
        items = np.bincount(codes, weights=items, minlength=units)
        residual = np.column_stack(
            [np.bincount(codes, weights=column, minlength=units) for column in residual.T]
        )
    unbiased = units / (units - 1) / n**2
    found = (
        unbiased * float(np.square(items).sum()),
        float(np.square(of_classifiers - mean).sum()) / (m * (m - 1)),
        unbiased * float(np.square(residual).sum()) / (m * (m - 1)),
    )
    # Differences that are all the same leave nothing but rounding errors.
    whole = float(np.square(d).mean())
    return VarianceComponents(*(0.0 if have_no_spread(v, whole / n) else v for v in found))


def _independent_texts(n: int, codes: NDArray[np.int64] | None) -> float:
    """Return how many independent texts there are at least.

    No cluster differs with a probability of at most ``(1 - delta)**(n / max n_c)``, because
    ``log(1 - p_c) <= n_c / max n_c * log(1 - p_c)``, and the logarithm is concave.
    """
    return n if codes is None else n / int(np.bincount(codes).max())


def _expected_texts(n: int, codes: NDArray[np.int64] | None) -> float:
    """Return how many there are if all clusters are as likely to differ, each as a whole."""
    return n if codes is None else n**2 / float(np.square(np.bincount(codes)).sum())


def _scale(value: float, exponent: int) -> float:
    """Return value * 2**exponent: infinite or 0 where a double does not hold it."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(value, exponent))


def _ratio(mean: float, error: float) -> float:
    if mean == 0:
        return 0.0
    return mean / error if error > 0 else math.copysign(math.inf, mean)


def _p_value(
    t: float, law: WeightedStudent, alternative: Alternative, n_independent: float
) -> float:
    if math.isinf(t):  # all texts favour one version
        agree = 0.5**n_independent
        if alternative == "two-sided":
            return float(min(1.0, 2 * agree))
        return float(agree) if (t > 0) == (alternative == "greater") else 1.0
    return choose_tail(alternative, law.tail(-t), law.tail(t))
