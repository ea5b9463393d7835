"""Several tests, one decision: adjusted p-values under Bonferroni, Holm, max-t or min-p."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import format_p
from ietest_fast.stats.inputs import Rng, seed_of
from ietest_fast.stats.intervals import draw_p_values
from ietest_fast.stats.joint import JointTestResult, joint_test
from ietest_fast.stats.matched import MatchedSample, PairedCounts
from ietest_fast.stats.multiple import (
    CORRECTIONS,
    JOINT_CORRECTIONS,
    Correction,
    Decision,
    bonferroni,
    check_alpha,
    holm,
    rejections,
    thresholds_of,
)
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES, FEW_DISCORDANT
from ietest_fast.stats.paired import paired_test
from ietest_fast.stats.result import Plottable, Result

if TYPE_CHECKING:
    from ietest_fast.stats.outcomes import Method
    from ietest_fast.stats.resampling import Alternative
    from ietest_fast.stats.result import PairedResult


_NUMBERS = (float, int, np.number)


@dataclass(frozen=True, kw_only=True, eq=False)
class CombinedResult(Plottable, Result):
    """Outcome of :func:`combine`; every tuple has one place for each test."""

    title = "Several tests"

    names: tuple[str, ...]
    """The tests' names."""
    correction: Correction
    """``bonferroni``, ``holm``, ``maxt`` or ``minp``."""
    alpha: float
    """The family-wise level."""
    p_values: tuple[float, ...]
    """Unadjusted."""
    p_adjusted: tuple[float, ...]
    """Adjusted; each may be compared with alpha."""
    thresholds: tuple[float, ...] | None
    """The level that each unadjusted p-value was held to: alpha / M (Bonferroni), alpha / (M - i)
    for the i-th smallest (Holm). None for ``maxt`` and ``minp``, which have none."""
    reject: tuple[bool, ...]
    """Which tests reject at the family-wise level."""
    decision: Decision
    """Whether any does."""
    tests: tuple[Any, ...] | None
    """The single tests; None where p-values came in, or for ``maxt`` and ``minp``."""
    joint: JointTestResult | None
    """The joint test behind ``maxt`` and ``minp``, else None."""

    @property
    def pvalue(self) -> float:
        """The smallest adjusted p-value: that of H0 for all tests at once."""
        return min(self.p_adjusted)

    @property
    def statistic(self) -> float | None:
        """The statistic of the first test with the smallest adjusted p-value.

        None where p-values came in, which do not tell.
        """
        first = self.p_adjusted.index(self.pvalue)
        if self.joint is not None:
            return self.joint.t[first]
        if self.tests is None:
            return None
        found = getattr(self.tests[first], "statistic", None)
        return None if found is None else float(found)

    def draw_on(self, ax: Any) -> None:
        """Draw the p-value of each test, before and after the correction, and alpha."""
        draw_p_values(ax, self.names, self.p_values, self.p_adjusted, alpha=self.alpha)
        ax.set_xlabel("p")
        ax.set_title(f"{sum(self.reject)} of {len(self.names)} rejected ({self.correction})")
        ax.legend()

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name; the single tests are left out."""
        return {
            "names": list(self.names),
            "correction": self.correction,
            "alpha": self.alpha,
            "p_values": list(self.p_values),
            "p_adjusted": list(self.p_adjusted),
            "thresholds": None if self.thresholds is None else list(self.thresholds),
            "reject": list(self.reject),
            "decision": asdict(self.decision),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row for each test."""
        nothing = (None,) * len(self.names)
        return [
            {"name": name, "p_value": p, "p_adjusted": adjusted, "threshold": held, "reject": no}
            for name, p, adjusted, held, no in zip(
                self.names,
                self.p_values,
                self.p_adjusted,
                self.thresholds or nothing,
                self.reject,
                strict=True,
            )
        ]

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        lines = [("tests", f"{len(self.names):,}"), ("correction", self.correction)]
        for row in self.records():
            held = "" if row["threshold"] is None else f", held to {row['threshold']:.4g}"
            said = f"p {format_p(row['p_value'])}{held}, adjusted {format_p(row['p_adjusted'])}"
            lines.append((row["name"], said + (", rejected" if row["reject"] else "")))
        return lines

    def remarks(self) -> list[str]:
        """Name the rejected tests, and pass on what the tests warn of."""
        rejected = [name for name, reject in zip(self.names, self.reject, strict=True) if reject]
        said = f"At a family-wise level of {self.alpha:g} no test rejects."
        if rejected:
            said = f"At a family-wise level of {self.alpha:g} rejected: {', '.join(rejected)}."
        found = None if self.joint is None else self.joint.warning
        if found is not None:
            return [said, f"Warning: {found}."]
        few, others = [], []
        for name, test in zip(self.names, self.tests or (), strict=False):
            if getattr(test, "few_discordant", False):
                exact = format_p(test.p_mcnemar_exact)
                few.append(f"{name} ({test.counts.k}; conditional exact p {exact})")
            elif (warning := getattr(test, "warning", None)) is not None:
                others.append(f"Warning: {name}: {warning}.")
        if few:
            why = f"below {FEW_DISCORDANT} discordant pairs the bootstrap test may reject too often"
            said_of_few = f"Warning: {why}, and the correction with it: {', '.join(few)}."
            return [said, said_of_few, *others]
        return [said, *others]


def combine(
    samples: Any,
    *,
    correction: Correction = "bonferroni",
    alpha: float = 0.05,
    clusters: Any = None,
    alternative: Alternative = "two-sided",
    method: Method | None = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> CombinedResult:
    """Test M samples, or take M finished tests, and adjust their p-values to each other.

    ``bonferroni`` (the paper's rule) and ``holm`` hold their level under any dependence, and need
    p-values only. ``maxt`` and ``minp`` (Westfall and Young 1993, step-down) learn the dependence:
    every replicate draws the same rows with the same coins for all M samples, which must therefore
    be outcomes or scores on the same texts, in the same order.

    Parameters
    ----------
    samples
        M of one kind, in a sequence or in a mapping from names: p-values; results with a
        ``p_value``; ``PairedCounts``; ``MatchedSample``; or pairs of columns (original,
        transformed), each of shape (n,). P-values, results and counts allow ``bonferroni`` and
        ``holm`` only.
    correction
        ``bonferroni``, ``holm``, ``maxt`` or ``minp``.
    alpha
        The family-wise level, in (0, 1).
    clusters
        Shape (n,), the clusters of the texts, the same for all samples.
    alternative, method, n_resamples, rng, n_threads
        As for :func:`ietest_fast.stats.paired_test`, which tests each sample under ``bonferroni``
        and ``holm``. ``maxt`` and ``minp`` resample, 10,000 times unless told otherwise.

    Raises
    ------
    InputError
        If there is no sample, a correction does not fit what came in, options are given beside
        finished tests, lengths differ under ``maxt`` or ``minp``, or as for
        :func:`ietest_fast.stats.paired_test`.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, combine
    >>> samples = {"synonyms": PairedCounts(90, 14, 4, 92), "voice": PairedCounts(98, 6, 3, 93)}
    >>> result = combine(samples, correction="holm")
    >>> result.reject
    (True, False)
    >>> combine([0.01, 0.04, 0.03]).decision.threshold
    0.016666666666666666
    """
    if correction not in CORRECTIONS:
        raise InputError(f"correction must be one of {', '.join(CORRECTIONS)}, not {correction!r}")
    check_alpha(alpha)
    names, members = _members(samples)
    is_finished = _are_finished(members)
    options: dict[str, Any] = {
        "clusters": clusters,
        "alternative": alternative,
        "method": method,
        "n_resamples": n_resamples,
        "rng": rng,
        "n_threads": n_threads,
    }
    tests: tuple[Any, ...] | None = None
    joint: JointTestResult | None = None
    thresholds: tuple[float, ...] | None = None
    if correction in JOINT_CORRECTIONS:
        joint = _test_jointly(names, members, correction=correction, alpha=alpha, **options)
        p_values, adjusted, reject = joint.p_value, joint.p_adjusted, joint.reject
        threshold, p_min = alpha, min(adjusted)
    else:
        if is_finished:
            tests, p_values = _take_finished(members, options)
        else:
            tests = _test_each(members, **options)
            p_values = tuple(test.p_value for test in tests)
        adjusted = tuple(bonferroni(p_values) if correction == "bonferroni" else holm(p_values))
        thresholds = thresholds_of(p_values, correction=correction, alpha=alpha)
        reject = rejections(p_values, thresholds)
        threshold, p_min = alpha / len(p_values), min(p_values)
    return CombinedResult(
        names=names,
        correction=correction,
        alpha=alpha,
        p_values=p_values,
        p_adjusted=adjusted,
        thresholds=thresholds,
        reject=reject,
        decision=Decision(
            reject=any(reject),
            alpha=alpha,
            threshold=threshold,
            p_min=p_min,
            n_tests=len(names),
            correction=correction,
        ),
        tests=tests,
        joint=joint,
    )


def _take_finished(
    members: list[Any], options: dict[str, Any]
) -> tuple[tuple[Any, ...] | None, tuple[float, ...]]:
    """Return finished tests, or None for mere p-values, and the p-values."""
    for name, said in (("clusters", "clusters"), ("method", "method"), ("n_resamples", "S")):
        if options[name] is not None:
            raise InputError(f"{said} is for samples; these tests are finished")
    p_values = tuple(float(getattr(member, "p_value", member)) for member in members)
    are_numbers = all(isinstance(member, _NUMBERS) for member in members)
    return None if are_numbers else tuple(members), p_values


def _test_each(members: list[Any], *, rng: Rng, **options: Any) -> tuple[PairedResult, ...]:
    seed = seed_of(rng)
    samples = [member if isinstance(member, tuple) else (member,) for member in members]
    return tuple(paired_test(*sample, rng=seed, **options) for sample in samples)


def _test_jointly(
    names: tuple[str, ...],
    members: list[Any],
    *,
    correction: Correction,
    alpha: float,
    method: Method | None,
    n_resamples: int | None,
    **options: Any,
) -> JointTestResult:
    if any(isinstance(member, PairedCounts) or _is_finished(member) for member in members):
        raise InputError(
            f"{correction} draws the same rows for all tests, so it needs the samples row by row "
            "(MatchedSample, or pairs of columns); p-values, results and counts can be combined by "
            "bonferroni or holm"
        )
    if method not in (None, "resample"):
        raise InputError(f"{correction} resamples: leave the method {method!r} out")
    columns = [
        (member.original_correct, member.transformed_correct)
        if isinstance(member, MatchedSample)
        else member
        for member in members
    ]
    return joint_test(
        {name: a for name, (a, _) in zip(names, columns, strict=True)},
        {name: b for name, (_, b) in zip(names, columns, strict=True)},
        alpha=alpha,
        min_p=correction == "minp",
        n_resamples=DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples,
        **options,
    )


def _members(samples: Any) -> tuple[tuple[str, ...], list[Any]]:
    """Return names and members; pairs of columns become tuples."""
    if isinstance(samples, Mapping):
        names, members = [str(name) for name in samples], list(samples.values())
    elif isinstance(samples, np.ndarray) or (
        isinstance(samples, Sequence) and not isinstance(samples, str)
    ):
        members = list(samples)
        names = [f"test {i + 1}" for i in range(len(members))]
    else:
        raise InputError(
            "combine takes a sequence or a mapping of samples, results or p-values, not "
            f"{type(samples).__name__}"
        )
    if not members:
        raise InputError("there is no test to combine")
    if len(set(names)) < len(names):
        raise InputError("two tests have the same name")
    return tuple(names), [_member(m, name) for m, name in zip(members, names, strict=True)]


def _member(member: Any, name: str) -> Any:
    if isinstance(member, (PairedCounts, MatchedSample)) or _is_finished(member):
        return member
    if isinstance(member, (tuple, list)) and len(member) == 2:
        return tuple(member)
    raise InputError(
        f"{name} is neither a p-value or a result, nor PairedCounts, a MatchedSample or a pair of "
        f"columns, but {type(member).__name__}"
    )


def _is_finished(member: Any) -> bool:
    if isinstance(member, _NUMBERS):
        return True
    return isinstance(getattr(member, "p_value", None), float)


def _are_finished(members: list[Any]) -> bool:
    finished = [_is_finished(member) for member in members]
    if any(finished) and not all(finished):
        raise InputError("finished tests and samples cannot be combined with each other")
    return all(finished)
