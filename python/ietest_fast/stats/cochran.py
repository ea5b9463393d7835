"""Cochran's Q test: v versions of each text, and whether they are right equally often."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import format_p, format_paper_p, say_p
from ietest_fast.philox import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats.inputs import (
    Rng,
    as_array,
    as_outcomes,
    check_cost,
    check_lengths,
    in_one_order,
    seed_of,
)
from ietest_fast.stats.intervals import draw_observed
from ietest_fast.stats.matched import PairedCounts
from ietest_fast.stats.mcnemar import classical_p_values, mcnemar_test
from ietest_fast.stats.multiple import holm
from ietest_fast.stats.outcomes import FEW_DISCORDANT, Method, check_engine
from ietest_fast.stats.result import Plottable, ResampledResult, list_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: The exact law is refused above so many additions, some fifteen seconds' worth.
MAX_EXACT_UPDATES = 2e10

# Replicates that show the law under H0.
_N_DRAWN = 10_000

# What the enumeration leaves out, for three versions and for more: no p-value is said to be less.
_LEFT_OUT = (1e-30, 1e-18)


@dataclass(frozen=True, kw_only=True)
class PairwiseComparison:
    """Two of the versions, compared by McNemar's test."""

    first: str
    second: str
    """Names of the versions; ``first`` takes the part of the original."""
    counts: PairedCounts
    """Their four counts."""
    p_value: float
    """Exact bootstrap p-value of :func:`ietest_fast.stats.mcnemar_test`."""
    p_adjusted: float
    """The same after Holm's correction for all pairs."""


@dataclass(frozen=True, kw_only=True)
class CochranResult(Plottable, ResampledResult):
    """Outcome of Cochran's Q test."""

    title = "Cochran's Q test"

    n: int
    """Number of texts."""
    n_mixed: int
    """Texts that are right in some versions and wrong in others; no other text matters."""
    versions: tuple[str, ...]
    """Names of the v versions."""
    levels: tuple[int, ...]
    """Texts that are right in 0, 1, ..., v versions."""
    n_right: tuple[int, ...]
    """Texts right in each version."""
    statistic: float
    """Q; 0 if no text is mixed."""
    df: int
    """v - 1."""
    p_value: float
    """Bootstrap, ``P(Q* >= Q)``: ties count. (c + 1) / (S + 1) for Monte Carlo methods."""
    p_paper: float
    """Bootstrap as the paper has it, ``P(Q* > Q)``; c / S for Monte Carlo methods."""
    p_asymptotic: float
    """Upper tail of chi-square with v - 1 degrees of freedom."""
    pairwise: tuple[PairwiseComparison, ...]
    """Every pair of versions, with Holm's correction."""
    method: Method
    """``exact``, ``multinomial`` or ``resample``."""
    n_resamples: int | None
    seed: int | None
    """S and seed of a Monte Carlo method, None for ``exact``."""

    def draw_on(self, ax: Any) -> None:
        """Draw the law of Q under H0, and the observed Q in it.

        The law is that of 10,000 bootstrap replicates, always the same ones; beside it stands
        chi-square's, which it tends to.
        """
        from scipy.special import chdtri, gamma

        drawn = _draw_replicates(self.levels)
        edge = max(float(chdtri(self.df, 1e-4)), float(np.quantile(drawn, 0.999)))
        bins = np.linspace(0, edge, 41)
        mass, _ = np.histogram(drawn, bins=bins)
        density = mass / drawn.size / np.diff(bins)
        ax.stairs(density, bins, fill=True, alpha=0.5, label="under H0")
        q, half = (bins[1:] + bins[:-1]) / 2, self.df / 2
        law = (q / 2) ** (half - 1) * np.exp(-q / 2) / (2 * gamma(half))
        ax.plot(q, law, color="C1", label=f"chi-square, df {self.df}")
        draw_observed(ax, self.statistic, low=0.0, high=edge, name="Q")
        ax.set_xlabel("Q")
        ax.set_ylabel("density")
        ax.set_title(say_p(format_p(self.p_value)))
        ax.legend()

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name."""
        return list_fields(self, "levels") | {
            "versions": list(self.versions),
            "n_right": list(self.n_right),
            "pairwise": [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "n10": pair.counts.n10,
                    "n01": pair.counts.n01,
                    "delta": pair.counts.delta,
                    "p_value": pair.p_value,
                    "p_adjusted": pair.p_adjusted,
                }
                for pair in self.pairwise
            ],
        }

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        engine = self.method if self.n_resamples is None else f"{self.method}, {self.n_resamples:,}"
        return [
            ("texts", f"{self.n:,}, {self.n_mixed:,} of them mixed"),
            *(
                (f"right on {name}", f"{right:,} ({right / self.n:.4f})")
                for name, right in zip(self.versions, self.n_right, strict=True)
            ),
            ("Q", f"{self.statistic:.4f} (df {self.df})"),
            (f"p, bootstrap ({engine})", format_p(self.p_value, floor=self.p_floor)),
            ("p, bootstrap, ties out", format_paper_p(self.p_paper, self.n_resamples)),
            ("p, asymptotic", format_p(self.p_asymptotic)),
            *((f"{pair.first} − {pair.second}", _say(pair)) for pair in self.pairwise),
        ]

    def remarks(self) -> list[str]:
        """Warn of pairs of versions with few discordant texts."""
        few = [
            f"{pair.first} − {pair.second} ({pair.counts.k}; conditional exact p "
            f"{format_p(classical_p_values(pair.counts)['p_conditional'])})"
            for pair in self.pairwise
            if 0 < pair.counts.k < FEW_DISCORDANT
        ]
        if not few:
            return []
        said = f"below {FEW_DISCORDANT} discordant texts the bootstrap test may reject too often"
        return [f"Warning: {said}: {', '.join(few)}."]


@in_one_order
def cochran_q_test(
    outcomes: Any,
    *,
    versions: Sequence[str] | None = None,
    method: Method = "multinomial",
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
    clusters: Any = None,
) -> CochranResult:
    r"""Test whether a classifier is right equally often on v versions of the same texts.

    With ``G_j`` texts right in version j and ``L_i`` versions right on text i (Cochran 1950),

    .. math:: Q = (v-1)\,\frac{v\sum_j G_j^2 - (\sum_j G_j)^2}{v\sum_i L_i - \sum_i L_i^2}.

    A bootstrap text under H0 is a text drawn with replacement whose v outcomes are permuted at
    random. For two versions this is McNemar's test.

    Parameters
    ----------
    outcomes
        Shape (n, v), 0 and 1: a NumPy array, a pandas or polars DataFrame, an Arrow table, or a
        mapping from names to columns.
    versions
        Names of the v versions; those of the columns, or ``version 1`` to ``version v``, if not
        given.
    method
        ``multinomial`` (default) draws S replicates in O(v**2) time each; ``resample`` draws S
        samples of n texts, the definition itself (at most 16 versions); ``exact`` gives the
        p-value in the limit of large S, by convolution. The last is feasible for two versions
        always, for three up to some two thousand mixed texts (ten seconds), for four up to a
        dozen, for more versions in tables of a few texts; where it is not it says so. Above two
        versions it gives no p-value below 1e-30 (three) or 1e-18 (more).
    n_resamples, rng, n_threads
        As for :func:`ietest_fast.stats.paired_test`; of Monte Carlo methods.
    clusters
        Must be None: the test takes texts as independent. The message says what to do instead.

    Returns
    -------
    CochranResult
        If no text is mixed, Q is 0 and every p-value is 1.

    Raises
    ------
    InputError
        If clusters are given, a column holds no outcomes, the columns differ in length, there are
        fewer than two versions or texts, the exact law is too large, or as for
        :func:`ietest_fast.stats.mcnemar_test`.

    Examples
    --------
    >>> import numpy as np
    >>> from ietest_fast.stats import cochran_q_test
    >>> table = np.repeat([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 1]], [20, 9, 5, 1], axis=0)
    >>> result = cochran_q_test(table, method="exact")
    >>> round(result.statistic, 4), round(result.p_value, 5), round(result.p_asymptotic, 5)
    (17.2, 5e-05, 0.00018)
    """
    if clusters is not None:
        raise InputError(
            "Cochran's Q takes texts as independent, so it knows no clusters: test each pair of "
            "versions, and correct for their number, by combine({name: (original, other)}, "
            "clusters=clusters, correction='holm')"
        )
    used = check_engine(method, n_resamples, n_threads=n_threads)
    seed = seed_of(rng)
    names, table = _as_table(outcomes, versions)
    n, v = table.shape
    if v > 255 or n * v > core.cochran.MAX_OUTCOMES:
        raise InputError(
            f"at most 255 versions and 2**32 outcomes can be tested, not {v} of {n} texts"
        )
    levels, n_right, row_levels, spread, weight = core.cochran.count_versions(table)
    n_mixed = n - levels[0] - levels[v]
    p_value = p_paper = 1.0
    if used is not None:
        check_cost(n, used, method=method, has_exact_law=False)
    if n_mixed and method == "exact":
        p_value, p_paper = _exact(levels, spread, weight)
    elif n_mixed:
        key = philox_key(seed)
        options: dict[str, Any] = {"n_replicates": used, "key": key, "n_threads": n_threads}
        if method == "multinomial":
            tails = core.cochran.multinomial_tails(levels, spread, weight, **options)
        else:
            tails = _resample(row_levels, v, spread, weight, **options)
        at_least, above, s = tails
        p_value, p_paper = (at_least + 1) / (s + 1), above / s
    statistic = (v - 1) * spread / weight if weight else 0.0
    from scipy.special import chdtrc

    return CochranResult(
        versions=names,
        n=n,
        n_mixed=n_mixed,
        levels=tuple(levels),
        n_right=tuple(n_right),
        method=method,
        n_resamples=used,
        seed=None if used is None else seed,
        statistic=statistic,
        df=v - 1,
        p_value=p_value,
        p_paper=p_paper,
        p_asymptotic=float(chdtrc(v - 1, statistic)),
        pairwise=_pairwise(names, table),
    )


def _draw_replicates(levels: tuple[int, ...]) -> NDArray[np.float64]:
    drawn = np.zeros(_N_DRAWN)
    if any(levels[1:-1]):
        core.cochran.multinomial_tails(
            list(levels), 0, 1, n_replicates=_N_DRAWN, key=philox_key(0), q_replicates=drawn
        )
    return drawn


def _say(pair: PairwiseComparison) -> str:
    p_value, p_adjusted = format_p(pair.p_value), format_p(pair.p_adjusted)
    return f"{pair.counts.delta:+.4f}, p {p_value}, Holm {p_adjusted}"


def _resample(row_levels: Any, v: int, spread: int, weight: int, **options: Any) -> Any:
    most = core.cochran.MAX_LISTED_VERSIONS
    if v > most:
        raise InputError(
            f"the resample engine takes at most {most} versions, not {v}; "
            "choose the method multinomial"
        )
    return core.cochran.resample_tails(row_levels, v, spread, weight, **options)


def _exact(levels: list[int], spread: int, weight: int) -> tuple[float, float]:
    if len(levels) == 3:  # two versions: the exact law of the paired test
        n10 = (levels[1] + math.isqrt(spread)) // 2
        at_least, above, *_ = core.stats.exact_tails(levels[2], n10, levels[1] - n10, levels[0])
        return (1.0 if spread == 0 else min(1.0, 2 * at_least)), 2 * above
    updates, _ = core.cochran.exact_cost(levels)
    if updates > MAX_EXACT_UPDATES:
        n_mixed = sum(levels[1:-1])
        raise InputError(
            f"the exact law of Q for {len(levels) - 1} versions and {n_mixed} mixed texts has too "
            f"many values to be enumerated; choose the method multinomial"
        )
    at_least, above = core.cochran.exact_tails(levels, spread, weight)
    return max(at_least, _LEFT_OUT[len(levels) > 4]), above


def _pairwise(names: tuple[str, ...], table: NDArray[np.bool_]) -> tuple[PairwiseComparison, ...]:
    columns = [np.ascontiguousarray(table[:, j]) for j in range(table.shape[1])]
    pairs = list(itertools.combinations(range(len(names)), 2))
    counts = [PairedCounts.from_outcomes(columns[a], columns[b]) for a, b in pairs]
    p_values = [mcnemar_test(c).p_value for c in counts]
    return tuple(
        PairwiseComparison(
            first=names[a], second=names[b], counts=c, p_value=p, p_adjusted=adjusted
        )
        for (a, b), c, p, adjusted in zip(pairs, counts, p_values, holm(p_values), strict=True)
    )


def _as_table(
    outcomes: Any, versions: Sequence[str] | None
) -> tuple[tuple[str, ...], NDArray[np.bool_]]:
    names, columns = _take_columns(outcomes)
    if versions is not None:
        if len(versions) != len(columns):
            raise InputError(f"there are {len(columns)} versions, but {len(versions)} names")
        names = [str(name) for name in versions]
    _refuse_twins(names)
    if len(columns) < 2:
        raise InputError(f"Cochran's Q compares at least two versions, not {len(columns)}")
    checked = {name: as_outcomes(column, name) for name, column in zip(names, columns, strict=True)}
    check_lengths(**checked)
    return tuple(names), np.ascontiguousarray(np.stack(list(checked.values()), axis=1))


def _take_columns(outcomes: Any) -> tuple[list[str], list[Any]]:
    """Return names and columns of a table, whatever library it comes from."""
    if isinstance(outcomes, Mapping):
        return [str(name) for name in outcomes], list(outcomes.values())
    if hasattr(outcomes, "column_names"):  # Arrow
        return [str(name) for name in outcomes.column_names], list(outcomes.columns)
    if hasattr(outcomes, "columns"):  # pandas, polars
        names = [str(name) for name in outcomes.columns]
        _refuse_twins(names)
        return names, [outcomes[name] for name in outcomes.columns]
    array = as_array(outcomes, "outcomes")
    if array.ndim != 2:
        raise InputError(
            f"outcomes must be a table of texts by versions, not an array of shape {array.shape}"
        )
    return [f"version {j + 1}" for j in range(array.shape[1])], list(array.T)


def _refuse_twins(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two versions have the name {name!r}")
