"""The same test in every stratum (label, genre, number of edits), and whether strata differ."""

from __future__ import annotations

import functools
import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import format_p, say_p
from ietest_fast.stats.clustered import clustered_test
from ietest_fast.stats.equivalence import equivalence_test
from ietest_fast.stats.flips import DEFAULT_FLIP_MARGIN, flip_test
from ietest_fast.stats.inputs import (
    Rng,
    as_clusters,
    as_column,
    as_outcomes,
    check_between,
    check_label_kinds,
    check_lengths,
    in_one_order,
    seed_of,
    trim_names,
)
from ietest_fast.stats.joint import joint_test
from ietest_fast.stats.laws.integer import DEFAULT_TABLES
from ietest_fast.stats.matched import MatchedSample, OfCounts, PairedCounts
from ietest_fast.stats.mcnemar import classical_p_values
from ietest_fast.stats.multiple import holm
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES, FEW_DISCORDANT, outcome_test
from ietest_fast.stats.planning.power import smallest
from ietest_fast.stats.resampling import check_options
from ietest_fast.stats.result import Result, fit_cells, list_fields
from ietest_fast.stats.symmetry import compare_strata, compare_strata_by_clusters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.stats.equivalence import EquivalenceResult
    from ietest_fast.stats.flips import FlipResult
    from ietest_fast.stats.symmetry import HeterogeneityResult


# What is found in every stratum: tables, words and numbers.

StrataCorrection = Literal["holm", "minp"]


@dataclass(frozen=True, kw_only=True)
class StratumResult(OfCounts):
    """One stratum."""

    name: str
    """The value that its pairs have in common."""
    counts: PairedCounts
    """The four counts."""
    n_clusters: int | None
    """Clusters with a pair in it; None without clusters."""
    p_value: float | None
    """Of "the accuracies are equal"; None of a stratum that is too small for a test: fewer than two
    pairs, or clusters."""
    p_adjusted: float | None
    """The same, corrected for the number of strata."""
    equivalence: EquivalenceResult | None
    """Delta with its interval, and the test against the margin; None likewise."""
    flips: FlipResult | None
    """How often answers flip; None likewise, and where only right and wrong are known."""
    p_flips_adjusted: float | None
    """p-value of "the flip rate is at most the margin", corrected by Holm's rule."""
    decided_by_few: bool = False
    """Whether few of its clusters differ, or a few large ones decide: the test may then reject too
    often."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        equivalence, flips = self.equivalence, self.flips
        low, high = (None, None)
        if equivalence is not None:
            low, high = equivalence.interval.low, equivalence.interval.high
        return {
            "stratum": self.name,
            "n": self.n,
            **asdict(self.counts),
            "n_clusters": self.n_clusters,
            "delta": self.delta,
            "delta_low": low,
            "delta_high": high,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
            "p_equivalence": None if equivalence is None else equivalence.p_value,
            "n_flipped": None if flips is None else flips.n_flipped,
            "flip_rate": None if flips is None else flips.rate,
            "flip_low": None if flips is None else flips.interval.low,
            "flip_high": None if flips is None else flips.interval.high,
            "p_flips_adjusted": self.p_flips_adjusted,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class StratifiedResult(Result):
    """Accuracy and flips in every stratum, and whether losses go with the stratum."""

    name: str
    """What the strata are: the column's name."""
    strata: tuple[StratumResult, ...]
    """In the order of their values."""
    heterogeneity: HeterogeneityResult
    """H0: the share of losses among discordant pairs is the same in every stratum."""
    correction: StrataCorrection
    """Of the strata's p-values: ``holm`` or ``minp``."""
    margin: float
    flip_margin: float
    alpha: float
    """As for :func:`stratified_test`."""
    level: float | None = None
    """What the p-value of ``heterogeneity``, and those of the strata, are held to where alpha is
    shared with other questions; None for ``alpha``."""

    @property
    def title(self) -> str:  # type: ignore[override]
        """Heads the rows."""
        return f"By {self.name}"

    @property
    def n(self) -> int:
        """Number of pairs in all strata."""
        return sum(each.n for each in self.strata)

    @property
    def n_untested(self) -> int:
        """Strata that are too small for a test."""
        return sum(each.p_value is None for each in self.strata)

    @property
    def statistic(self) -> float:
        """Of the test whether strata differ."""
        return self.heterogeneity.statistic

    @property
    def pvalue(self) -> float:
        """The p-value of "the share of losses is the same in every stratum"."""
        return self.heterogeneity.p_value

    @property
    def held_to(self) -> float:
        """The level of each claim about strata: ``level``, or ``alpha``."""
        return self.alpha if self.level is None else self.level

    @property
    def differs(self) -> bool:
        """Whether the share of losses is shown to differ between strata."""
        return self.heterogeneity.p_value < self.held_to

    @property
    def all_equivalent(self) -> bool:
        """Whether delta is shown to be below the margin in every stratum."""
        return all(
            each.equivalence is not None and each.equivalence.equivalent for each in self.strata
        )

    @property
    def uneven(self) -> bool:
        """Whether strata are shown to differ, and not shown to differ by less than the margin."""
        return self.differs and not self.all_equivalent

    @property
    def falling(self) -> tuple[StratumResult, ...]:
        """Strata in which accuracy is lower on the transformed texts; see :attr:`moving`."""
        return tuple(each for each in self.moving if each.delta > 0)

    @property
    def rising(self) -> tuple[StratumResult, ...]:
        """Strata in which accuracy is higher on the transformed texts; see :attr:`moving`."""
        return tuple(each for each in self.moving if each.delta < 0)

    @property
    def moving(self) -> tuple[StratumResult, ...]:
        """Strata whose adjusted p-value rejects; without any, the one with the smallest."""
        tested = [each for each in self.strata if each.p_adjusted is not None]
        found = [each for each in tested if (each.p_adjusted or 0.0) < self.held_to]
        if not found and tested:
            found = [min(tested, key=lambda each: each.p_value or 0.0)]
        return tuple(found)

    @property
    def movement(self) -> str:
        """Which strata are shown to lose and which to gain, in words."""
        if not any((each.p_adjusted or 0.0) < self.held_to for each in self.moving):
            nearest = "".join(
                f"; the smallest p is that of {each.name} (delta {each.delta:+.4f}, "
                f"{say_p(format_p(each.p_adjusted or 0.0))})"
                for each in self.moving
            )
            return f"no stratum stands out by itself{nearest}"
        parts = [
            f"{verb} on {', '.join(_say_stratum(each) for each in own)}"
            for verb, own in (("falls", self.falling), ("rises", self.rising))
            if own
        ]
        return f"accuracy {' and '.join(parts)}"

    @property
    def explanation(self) -> str:
        """What is shown, in plain words."""
        found, p = self.heterogeneity, self.format_p()
        more = f" {self.n_untested} of {len(self.strata)} are too small for a test." * bool(
            self.n_untested
        )
        if found.df == 0:
            few = (
                "no answer changes between right and wrong"
                if sum(found.losses + found.gains) == 0
                else "answers change between right and wrong in one of them only"
            )
            return f"By {self.name}: {few}, so they cannot be compared.{more}"
        if not self.differs:
            return (
                f"By {self.name}: the proportion of losses to gains is not shown to differ "
                f"({say_p(p)}).{more}"
            )
        seen = " In each the change is shown to be below the margin." * self.all_equivalent
        return (
            f"By {self.name}: the proportion of losses to gains differs ({say_p(p)}): "
            f"{self.movement}.{seen}{more}"
        )

    @property
    def warning(self) -> str | None:
        """What the reader has to know before the strata's p-values are used; None if nothing."""
        few = [each.name for each in self.strata if each.decided_by_few]
        if not few:
            return None
        return (
            f"few clusters decide in {', '.join(few)}: the p-values of these strata may reject too "
            "often"
        )

    def format_p(self) -> str:
        """Return the p-value of ``heterogeneity``, as it is printed."""
        return format_p(self.heterogeneity.p_value, floor=self.heterogeneity.p_floor)

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        return list_fields(self) | {
            "strata": [each.to_dict() for each in self.strata],
            "heterogeneity": self.heterogeneity.to_dict(),
            "differs": self.differs,
            "uneven": self.uneven,
            "n_untested": self.n_untested,
            "explanation": self.explanation,
            "warning": self.warning,
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each stratum."""
        return [fit_cells({"by": self.name} | each.to_dict()) for each in self.strata]

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        return [(each.name, _say_row(each, self.correction)) for each in self.strata]


def _say_stratum(stratum: StratumResult) -> str:
    p = "" if stratum.p_adjusted is None else f", {say_p(format_p(stratum.p_adjusted))}"
    return f"{stratum.name} ({100 * abs(stratum.delta):.2f} points{p})"


def _say_row(stratum: StratumResult, correction: str) -> str:
    said = f"{stratum.n:,} pairs, delta {stratum.delta:+.4f}"
    if stratum.equivalence is None or stratum.p_value is None or stratum.p_adjusted is None:
        return f"{said}, too few to test"
    said += (
        f" {stratum.equivalence.interval}, {say_p(format_p(stratum.p_value))}, "
        f"{correction} {format_p(stratum.p_adjusted)}"
    )
    if stratum.flips is not None:
        said += f", flipped {stratum.flips.rate:.2%} {stratum.flips.interval}"
    return said


#: As the name of strata: the gold label, whatever its column is called.
LABEL = "label"

#: As the name of strata or a dose: how many edits a transformation made in each text.
EDITS = "edits"

# What no file of texts has to hold.
_MADE = {LABEL, EDITS}

#: More strata than this are refused: a table of them says nothing.
MOST_STRATA = 100

# p-values that are equal on paper may differ by rounding.
_SAME = 1 + 1e-9


def list_file_columns(names: Iterable[str | None]) -> list[str]:
    """Return those of the names of strata and doses that are columns of a file with texts."""
    return [name for name in dict.fromkeys(names) if name is not None and name not in _MADE]


@in_one_order
def stratified_test(
    original: Any,
    transformed: Any = None,
    strata: Any = None,
    *,
    gold: Any = None,
    clusters: Any = None,
    reworded: Any = None,
    name: str = "stratum",
    correction: StrataCorrection = "holm",
    margin: float = 0.01,
    flip_margin: float = DEFAULT_FLIP_MARGIN,
    alpha: float = 0.05,
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> StratifiedResult:
    """Test the two versions in every stratum, and whether the strata differ.

    A loss on texts with one label and a gain on those with another cancel in the accuracy of all.
    Each stratum (a label, a genre, a number of edits) gets the paired test, delta with its interval
    and the equivalence test, and its flips. The p-values are corrected for the number of strata.
    Below 25 discordant pairs the p-value of a stratum is McNemar's exact one.

    Whether strata differ is tested by the table of losses and gains by stratum, exactly: given how
    many discordant pairs each stratum has, and how many losses there are in all. H0 is that the
    *share of losses among discordant pairs* is the same everywhere. That is another hypothesis than
    equal deltas: with the same share of losses, a stratum with twice as many discordant pairs has
    twice the delta. If versions are exchangeable the share is one half in every stratum, so a
    rejection is evidence against invariance. With clusters the versions of whole clusters are
    swapped instead: if these are exchangeable, the level is kept.

    Parameters
    ----------
    original, transformed
        Labels that the classifier gives to both versions, shape (n,), if there is ``gold``.
        Otherwise outcomes (0 and 1), or one :class:`MatchedSample`.
    strata
        Shape (n,): values without gaps. Write a word such as "none" for what is missing, also for
        blanks and the text nan. Blanks around a text make no other stratum.
    gold
        Gold labels, shape (n,). Without them flips are not known.
    clusters
        Shape (n,), the cluster of each text.
    reworded
        Shape (n,), bool: which texts were reworded. Only these are looked at.
    name
        What the strata are called.
    correction
        ``holm``, or ``minp``: step-down min-p, which takes into account what p-values a small
        stratum can have. Without clusters its law is computed exactly, as strata are independent;
        with clusters whole clusters are drawn for all strata at once.
    margin, flip_margin
        Differences of accuracy, and flip rates, that do not matter if they are smaller.
    alpha
        Level of each test, in (0, 0.5).
    n_resamples
        S, where tables or clusters are drawn; None for 10,000.
    rng, n_threads
        As for :func:`paired_test`.

    Raises
    ------
    InputError
        If a value is missing, columns differ in length or in kind, there are more than 100 strata,
        no text was reworded, or an option is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> from ietest_fast.stats import stratified_test
    >>> gold = np.repeat(["yes", "no"], 500)
    >>> original = np.where(np.arange(1_000) % 10 > 0, gold, "maybe")
    >>> rephrased = original.copy()
    >>> rephrased[1:401:10] = "no"  # 40 of "yes" are lost
    >>> rephrased[500:900:10] = "no"  # and 40 of "no" are won
    >>> result = stratified_test(original, rephrased, gold, gold=gold, name="label")
    >>> [round(each.delta, 2) for each in result.strata]
    [-0.08, 0.08]
    >>> result.pvalue < 1e-20
    True
    >>> print(result.movement)
    accuracy falls on yes (8.00 points, p = 2.674e-12) and rises on no (8.00 points, p = 2.674e-12)
    """
    check_between(alpha, "alpha", 0, 0.5)
    for option, value in (("margin", margin), ("flip_margin", flip_margin)):
        check_between(value, option, 0, 1)
    check_options(
        alternative="two-sided",
        n_resamples=DEFAULT_TABLES if n_resamples is None else n_resamples,
        n_threads=n_threads,
    )
    if correction not in get_args(StrataCorrection):
        raise InputError(f"correction of strata must be holm or minp, not {correction!r}")
    if strata is None:
        raise InputError("strata is missing: a column that says which stratum each text is in")
    sample, answers = read_sample(original, transformed, gold)
    n = len(sample)
    names, codes = read_strata(strata, n, name=name)
    labels = None if clusters is None else as_clusters(clusters, n)[0]
    rows = find_reworded(reworded, sample)
    if rows.size == 0:
        raise InputError("no text is reworded, so no stratum holds one")
    return judge_strata(
        sample.take(rows),
        names,
        codes[rows],
        answers=None if answers is None else tuple(column[rows] for column in answers),
        clusters=None if labels is None else labels[rows],
        name=name,
        correction=correction,
        margin=margin,
        flip_margin=flip_margin,
        alpha=alpha,
        n_resamples=n_resamples,
        rng=rng,
        n_threads=n_threads,
    )


def read_sample(
    original: Any, transformed: Any, gold: Any
) -> tuple[MatchedSample, tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None]:
    """Return outcomes, and the answers and gold labels if they are known."""
    if isinstance(original, MatchedSample):
        if transformed is not None or gold is not None:
            raise InputError("a matched sample is complete: leave transformed and gold out")
        return original, None
    if transformed is None:
        raise InputError("the second column is missing: this needs a MatchedSample or two columns")
    if gold is None:
        sample = MatchedSample(
            original_correct=as_outcomes(original, "original"),
            transformed_correct=as_outcomes(transformed, "transformed"),
        )
        return sample, None
    a, b, truth = check_label_kinds(original=original, transformed=transformed, gold=gold)
    check_lengths(original=a, transformed=b, gold=truth)
    right = MatchedSample(original_correct=a == truth, transformed_correct=b == truth)
    return right, (a, b, truth)


def find_reworded(reworded: Any, sample: MatchedSample) -> NDArray[np.int64]:
    """Return the rows of the texts that were reworded: all of them unless told which."""
    if reworded is None or reworded is True:
        return np.arange(len(sample))
    mask = as_outcomes(reworded, "reworded")
    check_lengths(original=sample.original_correct, reworded=mask)
    return np.flatnonzero(mask)


def read_strata(strata: Any, n: int, *, name: str) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names of strata in the order of their values, and the place of each row's."""
    try:
        values = as_column(strata, name)
    except InputError as error:
        raise InputError(
            f"{error}; a stratum needs a value in every row: write a word such as 'none' there"
        ) from None
    if values.size != n:
        raise InputError(f"{name} has {values.size} rows, but there are {n} pairs")
    why = "is no stratum; write a word such as 'none' there"
    return number_strata(trim_names(values, name, why), name)


def number_strata(
    values: NDArray[Any], name: str, *, most: int | None = MOST_STRATA
) -> tuple[list[str], NDArray[np.int64]]:
    """Return the different values in their order, and the place of each row's."""
    try:
        distinct, codes = np.unique(values, return_inverse=True)
    except TypeError:  # values of several kinds have no order
        distinct, codes = np.unique(values.astype(str), return_inverse=True)
    if most is not None and distinct.size > most:
        raise InputError(
            f"{name} has {distinct.size:,} different values, and strata may be {most} at "
            "most; put values together, such as numbers in ranges"
        )
    names = [str(value) for value in distinct.tolist()]
    codes = codes.astype(np.int64).reshape(-1)
    try:
        order = np.argsort([float(each) for each in names], kind="stable")
    except ValueError:
        return names, codes
    # Numbers that a file has as texts: 10 comes behind 2.
    return [names[place] for place in order.tolist()], np.argsort(order)[codes]


def judge_strata(
    sample: MatchedSample,
    names: Sequence[str],
    codes: NDArray[np.int64],
    *,
    answers: tuple[NDArray[Any], ...] | None,
    clusters: NDArray[Any] | None,
    name: str,
    correction: StrataCorrection = "holm",
    margin: float,
    flip_margin: float,
    alpha: float,
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> StratifiedResult:
    """Test checked columns, of the reworded texts alone; see :func:`stratified_test`."""
    seed = seed_of(rng)
    a, b = sample.original_correct, sample.transformed_correct
    there, codes = np.unique(codes, return_inverse=True)
    names = [names[place] for place in there.tolist()]
    parts = [np.flatnonzero(codes == place) for place in range(len(names))]
    tested = [
        _test_one(
            names[place],
            a[rows],
            b[rows],
            None if answers is None else tuple(column[rows] for column in answers),
            None if clusters is None else clusters[rows],
            margin=margin,
            flip_margin=flip_margin,
            alpha=alpha,
            resampling={
                "method": "exact" if n_resamples is None else "resample",
                "n_resamples": n_resamples,
                # With one seed for all, they would share the error of simulation.
                "rng": np.random.SeedSequence([seed, place]),
                "n_threads": n_threads,
            },
        )
        for place, rows in enumerate(parts)
    ]
    if correction == "minp" and clusters is not None:
        adjusted = _adjust_jointly(
            a, b, codes, clusters, tested, n_resamples=n_resamples, seed=seed, n_threads=n_threads
        )
    else:
        adjusted = _adjust(tested, correction)
    flips = [each.flips.p_above for each in tested if each.flips is not None]
    flips_adjusted = iter(holm(flips) if flips else [])
    signs = a.astype(np.int64) - b
    drawing = {"n_resamples": DEFAULT_TABLES if n_resamples is None else n_resamples, "seed": seed}
    if clusters is None:
        heterogeneity = compare_strata(
            np.bincount(codes[signs > 0], minlength=len(names)),
            np.bincount(codes[signs < 0], minlength=len(names)),
            **drawing,
        )
    else:
        heterogeneity = compare_strata_by_clusters(signs, codes, clusters, len(names), **drawing)
    return StratifiedResult(
        name=name,
        strata=tuple(
            replace(
                each,
                p_adjusted=p,
                p_flips_adjusted=None if each.flips is None else next(flips_adjusted),
            )
            for each, p in zip(tested, adjusted, strict=True)
        ),
        heterogeneity=heterogeneity,
        correction=correction,
        margin=margin,
        flip_margin=flip_margin,
        alpha=alpha,
    )


def _test_one(
    name: str,
    a: NDArray[np.bool_],
    b: NDArray[np.bool_],
    answers: tuple[NDArray[Any], ...] | None,
    clusters: NDArray[Any] | None,
    *,
    margin: float,
    flip_margin: float,
    alpha: float,
    resampling: dict[str, Any],
) -> StratumResult:
    counts = PairedCounts.from_outcomes(a, b)
    n_clusters = None if clusters is None else int(np.unique(clusters).size)
    p = equivalence = flips = None
    decided_by_few = False
    if counts.n >= 2 and n_clusters != 1:
        own = MatchedSample(original_correct=a, transformed_correct=b)
        if clusters is None:
            p = paired_p(counts)
        else:
            found = clustered_test(a, b, clusters, **resampling)
            p, decided_by_few = found.p_value, found.warning is not None
        equivalence = equivalence_test(
            counts if clusters is None else own,
            clusters=clusters,
            margin=margin,
            alpha=alpha,
            p_difference=p,
        )
        if answers is not None:
            flips = flip_test(
                answers[0],
                answers[1],
                gold=answers[2] if len(answers) > 2 else None,
                clusters=clusters,
                margin=flip_margin,
                alpha=alpha,
            )
    return StratumResult(
        name=name,
        counts=counts,
        n_clusters=n_clusters,
        p_value=p,
        p_adjusted=None,
        equivalence=equivalence,
        flips=flips,
        p_flips_adjusted=None,
        decided_by_few=decided_by_few,
    )


def paired_p(counts: PairedCounts) -> float:
    """Compute the p-value of a stratum: exact paired test, or of few pairs McNemar's exact one."""
    if counts.k < FEW_DISCORDANT:
        return classical_p_values(counts)["p_conditional"]
    return outcome_test(counts).p_value


def _adjust(tested: Sequence[StratumResult], correction: StrataCorrection) -> list[float | None]:
    own = [(each.p_value, each.counts) for each in tested if each.p_value is not None]
    if not own:
        return [None] * len(tested)
    p_values = [p for p, _ in own]
    if correction == "holm":
        found = iter(holm(p_values))
    else:
        found = iter(min_p(p_values, [counts for _, counts in own]))
    return [None if each.p_value is None else next(found) for each in tested]


def min_p(p_values: Sequence[float], counts: Sequence[PairedCounts]) -> list[float]:
    """Adjust p-values of independent strata by step-down min-p, exactly.

    Given the number k of discordant pairs of each stratum, losses are Binomial(k, 1/2) under H0 and
    independent of those elsewhere. So the smallest p-value of some strata is at most p with
    probability 1 - Π (1 - F_s(p)), F_s being the law of the p-value of stratum s.
    """
    laws = [_PValueLaw(each) for each in counts]
    order = sorted(range(len(laws)), key=p_values.__getitem__)
    adjusted = [1.0] * len(laws)
    largest = 0.0
    for place, index in enumerate(order):
        none = math.fsum(math.log1p(-laws[s].below(p_values[index])) for s in order[place:])
        largest = max(largest, -math.expm1(none))
        adjusted[index] = largest
        if largest >= 1:
            break
    return adjusted


class _PValueLaw:
    """The law of a stratum's p-value under H0, given its discordant pairs."""

    def __init__(self, counts: PairedCounts) -> None:
        self._k = counts.k
        self._n = counts.n
        self._at = functools.lru_cache(maxsize=None)(self._compute)

    def _compute(self, fewer: int) -> float:
        """Return the p-value where the rarer direction has so many of the k pairs."""
        k = self._k
        return paired_p(PairedCounts(self._n - k, k - fewer, fewer, 0))

    def below(self, p: float) -> float:
        """Return P(p-value <= p), below 1."""
        from scipy.special import bdtr

        # p-values grow with the number of the rarer direction.
        first = smallest(lambda fewer: self._at(fewer) > p * _SAME, -1, self._k // 2 + 1)
        return min(1 - 2**-53, 2 * float(bdtr(first - 1, self._k, 0.5))) if first > 0 else 0.0


def _adjust_jointly(
    a: NDArray[np.bool_],
    b: NDArray[np.bool_],
    codes: NDArray[np.int64],
    clusters: NDArray[Any],
    tested: Sequence[StratumResult],
    *,
    n_resamples: int | None,
    seed: int,
    n_threads: int | None,
) -> list[float | None]:
    """Draw whole clusters, with all that they have in any stratum, and adjust by min-p.

    The joint test counts abs(t), and the p-values of the strata are twice the smaller tail: of few
    clusters the former may be smaller. No p-value is adjusted below itself, or below a smaller one.
    """
    places = [place for place, each in enumerate(tested) if each.p_value is not None]
    if not places:
        return [None] * len(tested)
    inside = codes[:, None] == np.array(places)
    joint = joint_test(
        (a[:, None] & inside).astype(np.float64),
        (b[:, None] & inside).astype(np.float64),
        clusters=clusters,
        n_resamples=DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples,
        rng=seed,
        n_threads=n_threads,
    )
    own = [tested[place].p_value or 0.0 for place in places]
    found: dict[int, float] = {}
    largest = 0.0
    for index in sorted(range(len(places)), key=own.__getitem__):
        largest = max(largest, own[index], joint.p_adjusted[index])
        found[places[index]] = largest
    return [found.get(place) for place in range(len(tested))]
