"""A test for results that are looked at as they come: e-values and anytime-valid p-values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.numerals import format_p
from ietest_fast.stats.inputs import in_one_order
from ietest_fast.stats.matched import MatchedSample, PairedCounts, describe_counts, outcome_columns
from ietest_fast.stats.multiple import check_alpha
from ietest_fast.stats.result import PValueResult

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class AnytimeTestResult(PValueResult):
    """What has been shown so far of two versions whose pairs come one after another."""

    title = "Anytime-valid paired test"

    counts: PairedCounts
    """The four counts so far."""
    log_e: float
    """Natural logarithm of the e-value so far."""
    max_log_e: float
    """The largest so far; the same as ``log_e`` if only counts are known."""
    alpha: float
    """The level."""
    n_to_reject: int | None
    """The number of pairs after which the e-value first reached ``1 / alpha``; None if it has not,
    or if only counts are known."""

    @property
    def e_value(self) -> float:
        """The evidence against H0 so far: its mean is at most 1 if H0 is true."""
        return math.exp(min(self.log_e, 700.0))

    @property
    def p_value(self) -> float:
        """The anytime-valid p-value, ``min(1, 1 / max e)``."""
        return min(1.0, math.exp(-self.max_log_e))

    @property
    def reject(self) -> bool:
        """Whether the p-value is at most alpha."""
        return self.p_value <= self.alpha

    @property
    def statistic(self) -> float:
        """The e-value."""
        return self.e_value

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        return describe_counts(self.counts) | {
            "e_value": self.e_value,
            "log_e": self.log_e,
            "p_value": self.p_value,
            "alpha": self.alpha,
            "reject": self.reject,
            "n_to_reject": self.n_to_reject,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        counts = self.counts
        first = "" if self.n_to_reject is None else f", first after {self.n_to_reject:,} pairs"
        return [
            ("pairs so far", f"{counts.n:,}, {counts.k:,} of them discordant"),
            ("delta", f"{counts.delta:+.4f}"),
            ("e-value", f"{self.e_value:.4g}"),
            ("p, valid at any time", format_p(self.p_value)),
            (f"rejected at {self.alpha:g}", f"yes{first}" if self.reject else "no"),
        ]


@in_one_order
def anytime_test(
    sample: PairedCounts | MatchedSample | Any,
    transformed: Any = None,
    *,
    alpha: float = 0.05,
) -> AnytimeTestResult:
    r"""Test equal accuracy so that you may look after every pair, and stop whenever you like.

    The p-values of :func:`paired_test` are for a number of pairs that was fixed beforehand. If you
    repeat that test as results come in, and stop at the first rejection, you reject a true H0 far
    too often. An e-value may be looked at as often as you like (Ville 1939): with k discordant
    pairs so far, n10 of them right on the original only,

    .. math::
        E = 2^k \, \frac{B(n_{10} + \tfrac12,\ n_{01} + \tfrac12)}{B(\tfrac12, \tfrac12)},

    the likelihood of the discordant pairs under a Beta(1/2, 1/2) mixture over that under fair
    coins. If the versions of a pair can be swapped, E is a martingale that starts at 1, so that it
    ever reaches 1 / alpha with probability alpha at most. The price is power: on the same counts,
    this test finds less than :func:`paired_test`. From columns, the largest E along the rows
    decides, so their order must not depend on the outcomes: never sort them.

    Parameters
    ----------
    sample
        Outcomes on the originals, shape (n,), in the order in which they came; a matched sample; or
        the four counts so far.
    transformed
        Outcomes on the transformed texts, shape (n,), if ``sample`` is a column.
    alpha
        In (0, 1).

    Returns
    -------
    AnytimeTestResult
        From columns, the largest e-value so far decides; from counts, the present one.

    Raises
    ------
    InputError
        If a column holds no outcomes, lengths differ, or alpha is out of its range.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, anytime_test
    >>> result = anytime_test(PairedCounts(n11=700, n10=60, n01=25, n00=215))
    >>> round(result.e_value, 1), result.reject
    (144.6, True)
    """
    check_alpha(alpha)
    if isinstance(sample, PairedCounts):
        a = b = None
        counts = sample
    else:
        a, b = outcome_columns(sample, transformed)
        counts = PairedCounts.from_outcomes(a, b)
    if a is None or b is None:
        log_e = float(_log_e(np.array([counts.n10]), np.array([counts.n01]))[0])
        return AnytimeTestResult(
            counts=counts, log_e=log_e, max_log_e=max(0.0, log_e), alpha=alpha, n_to_reject=None
        )
    path = _log_e(np.cumsum(a & ~b), np.cumsum(b & ~a))
    reached = np.flatnonzero(path >= -math.log(alpha))
    return AnytimeTestResult(
        counts=counts,
        log_e=float(path[-1]),
        max_log_e=max(0.0, float(path.max())),
        alpha=alpha,
        n_to_reject=int(reached[0]) + 1 if reached.size else None,
    )


def _log_e(n10: NDArray[np.int64], n01: NDArray[np.int64]) -> NDArray[np.float64]:
    from scipy.special import betaln

    k = n10 + n01
    return np.asarray(k * math.log(2) + betaln(n10 + 0.5, n01 + 0.5) - betaln(0.5, 0.5))
