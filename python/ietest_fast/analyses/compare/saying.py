"""What is said and shown of comparisons: what stands beside a paired test, signatures, tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ietest_fast.analyses.compare.statistic import MOST_ALPHA
from ietest_fast.numerals import format_p, say_p, show_p
from ietest_fast.report.tables import Column, PValue, Table
from ietest_fast.stats import (
    DEFAULT_MARGIN,
    CochranResult,
    JointTestResult,
    MeanTestResult,
    PairedTestResult,
    equivalence_test,
    estimate,
)
from ietest_fast.stats.inputs import DEFAULT_POWER
from ietest_fast.stats.intervals import wilson_interval
from ietest_fast.stats.paired import write_signature, write_signature_of_test
from ietest_fast.stats.planning.power import difference_beside_test, is_liberal, size_given

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.compare.profile import Comparison, GroupCochran, VersionTest
    from ietest_fast.report.tables import Kind
    from ietest_fast.stats import EstimateResult

# Beside a paired test.

# What stands below a test: a value for JSON, and the lines for people.
Extra = dict[str, tuple[Any, list[str]]]


def beside_clusters(
    a: Any,
    b: Any,
    clusters: Any,
    *,
    alpha: float,
    margin: float | None,
    alternative: str,
    p_difference: float,
) -> Extra:
    """Say of clustered outcomes what :func:`beside` says of independent ones, but for the power."""
    extra: Extra = {"estimate": _intervals(estimate(a, b, clusters=clusters))}
    if margin is not None or alternative == "two-sided":
        extra["equivalence"] = say_equivalence(
            a, b, clusters=clusters, margin=margin, alpha=alpha, p_difference=p_difference
        )
    return extra


def beside(result: PairedTestResult, *, alpha: float, margin: float | None) -> Extra:
    """Say what has to be known beside a test of independent outcomes.

    Intervals, what the test could have shown, and whether the versions are shown to be equivalent.
    A one-sided test gets the latter only if a margin is named.
    """
    extra: Extra = {"estimate": _intervals(estimate(result.counts))}
    extra["size_given_k"] = _liberal(result, alpha=alpha)
    extra["detectable_difference"] = _detectable(result, alpha=alpha)
    if margin is not None or result.alternative == "two-sided":
        extra["equivalence"] = say_equivalence(
            result.counts, margin=margin, alpha=alpha, p_difference=result.p_value
        )
    return extra


def say_equivalence(
    *sample: Any, margin: float | None, alpha: float, **options: Any
) -> tuple[dict[str, Any] | None, list[str]]:
    """Test equivalence; return the numbers, and what to print."""
    if alpha >= MOST_ALPHA:
        return None, ["Equivalence is tested at an alpha below 0.5 only: no verdict is given."]
    shown = equivalence_test(
        *sample, margin=DEFAULT_MARGIN if margin is None else margin, alpha=alpha, **options
    )
    return shown.to_dict(), shown.remarks()


def _intervals(found: EstimateResult) -> tuple[dict[str, Any], list[str]]:
    known = ("pairs", "clusters")
    lines = [f"{name:<24} {value}" for name, value in found.rows() if name not in known]
    return found.to_dict(), lines + found.remarks()


def _detectable(result: PairedTestResult, *, alpha: float) -> tuple[float | None, list[str]]:
    """Say which difference a two-sided test shows with 80% power."""
    counts = result.counts
    if result.alternative != "two-sided":
        return None, []
    delta = difference_beside_test(counts.n, counts.discordance_rate, alpha=alpha)
    if delta is None:
        return None, []
    said = f"With {DEFAULT_POWER:.0%} power this test shows differences of {delta:.4f} and more"
    share = f"if {counts.discordance_rate:.2%} of the pairs are discordant, as here"
    upper = wilson_interval(counts.k, counts.n).high
    worse = difference_beside_test(counts.n, upper, alpha=alpha)
    if worse is not None:
        share += f"; of {worse:.4f} if {upper:.2%} are, the end of the 95% interval"
    return delta, [f"{said}, {share}."]


def _liberal(result: PairedTestResult, *, alpha: float) -> tuple[float | None, list[str]]:
    """Say by how much the bootstrap test is liberal, where that is not said of few pairs anyway."""
    counts = result.counts
    if result.alternative != "two-sided" or result.few_discordant:
        return None, []
    if not is_liberal(counts.k, counts.n, alpha):
        return None, []
    size = size_given(counts.k, counts.n, alpha)
    said = f"Given {counts.k} discordant pairs, this test rejects a true H0 with probability"
    exact = f"the conditional exact McNemar p is {result.p_mcnemar_exact:.4g}"
    return size, [f"{said} {size:.2%} at alpha = {alpha:g}; {exact}."]


def sign_result(
    result: Any, *, alpha: float, n_classifiers: int = 1, fields: Mapping[str, str] | None = None
) -> str:
    """Sign a test of any kind."""
    if isinstance(result, PairedTestResult):
        return write_signature_of_test(result, **(fields or {}))
    if isinstance(result, CochranResult):
        return write_signature(
            "test",
            n=result.n,
            S=".".join(str(x) for x in (result.n_resamples, result.method) if x is not None),
            stat="Q",
            versions=len(result.versions),
            seed=result.seed,
        )
    is_joint = isinstance(result, JointTestResult)
    return write_signature(
        "test",
        n=result.n,
        clusters=result.n_clusters,
        S="exact" if result.n_resamples is None else f"{result.n_resamples}.resample",
        stat="t",
        null=result.null if isinstance(result, MeanTestResult) else None,
        alt=result.alternative.removesuffix("-sided"),
        mc="minp" if is_joint else None,
        M=n_classifiers if is_joint else None,
        alpha=f"{alpha:g}" if is_joint else None,
        seed=result.seed,
        **(fields or {}),
    )


def say_result(result: Any, reject: bool) -> str:
    """Say in one sentence what a test showed."""
    if isinstance(result, JointTestResult):
        which = [
            name for name, rejected in zip(result.names, result.reject, strict=True) if rejected
        ]
        if not which:
            return "No difference is shown for any classifier"
        return f"The versions differ for {', '.join(which)}"
    if isinstance(result, CochranResult):
        if reject:
            return "The versions are not answered alike: their outcomes are not exchangeable"
        return "No difference between the versions is shown"
    are_scores = isinstance(result, MeanTestResult)
    what = "mean scores" if are_scores else "accuracies"
    if result.alternative == "two-sided":
        return f"The {what} differ" if reject else f"No difference of the {what} is shown"
    more = "higher" if result.alternative == "greater" else "lower"
    what = "mean score" if are_scores else "accuracy"
    return f"The {what} is {'' if reject else 'not shown to be '}{more} on the original"


# Versions, or classifiers, against the reference.


def comparison_table(found: Comparison) -> Table:
    """Return the lines of a comparison that a terminal shows."""
    reference = found.tests[0].pairs.reference
    is_models = found.compared == "models"
    shown: list[tuple[str, str, Kind]] = [
        ("items", "n", "count"),
        (f"accuracy, {reference}", "original", "percent"),
        ("accuracy", "transformed", "percent"),
        ("delta", "delta", "points"),
        ("p", "p", "p"),
        ("p, Holm", "p_adjusted", "p"),
        ("differs", "differs", "text"),
    ]
    if not is_models:
        shown += [
            ("reworded", "n_reworded", "count"),
            ("delta there", "delta_reworded", "points"),
            ("flipped there", "flip_rate", "percent"),
            ("verdict", "verdict", "text"),
        ]
    cells = [_cells(test) for test in found.tests]
    return Table(
        name="comparison",
        title=found.title,
        columns=(
            Column("classifier" if is_models else "version"),
            *(Column(title, kind) for title, _, kind in shown),
        ),
        rows=tuple(
            (test.name, *(own[key] for _, key, _ in shown))
            for test, own in zip(found.tests, cells, strict=True)
        ),
    )


def version_table(tests: Sequence[VersionTest], classifiers: Sequence[str]) -> Table:
    """Return the test of every version of every classifier, as a page shows it."""
    level = 100 * (1 - 2 * tests[0].alpha)
    shown: list[tuple[str, str, Kind, int]] = [
        ("pairs", "n", "count", 2),
        ("n10", "n10", "count", 2),
        ("n01", "n01", "count", 2),
        ("original %", "original", "percent", 2),
        ("transformed %", "transformed", "percent", 2),
        ("δ (points)", "delta", "points", 2),
        ("interval of δ", "interval", "points", 2),
        ("t", "t", "number", 3),
        ("p", "p", "p", 2),
        ("p, Holm", "p_adjusted", "p", 2),
        ("reworded", "n_reworded", "count", 2),
        ("δ there (points)", "delta_reworded", "points", 2),
        ("flipped there %", "flip_rate", "percent", 2),
        ("verdict", "verdict", "text", 2),
    ]
    cells = [_cells(test) | {"interval": test.equivalence.interval} for test in tests]
    n = max(test.pairs.n_unmatched for test in tests)
    unmatched = f" Up to {n:,} items lack one of the versions." if n else ""
    clustered = " Tests and intervals draw whole clusters."
    return Table(
        name="versions",
        title="Every version against the reference",
        columns=(
            Column("model"),
            Column("version"),
            *(Column(title, kind, digits) for title, _, kind, digits in shown),
        ),
        rows=tuple(
            (classifier, test.pairs.version, *(own[key] for _, key, _, _ in shown))
            for classifier, test, own in zip(classifiers, tests, cells, strict=True)
        ),
        note=(
            "n10: right on the original only; n01: on the version only. δ is original minus "
            f"version, its interval at {level:g}%. Holm's correction is over the versions of a "
            "model, and over what else is claimed of them. Reworded texts are empty where the "
            "predictions do not say which they are; flips are then over all texts. "
            f"{clustered if any(test.clusters is not None for test in tests) else ''}{unmatched}"
        ),
    )


def _cells(test: VersionTest) -> dict[str, Any]:
    """Return all that a line may have, by name."""
    counts = test.result.counts
    n_reworded, delta, flip_rate = test.of_reworded
    return {
        "n": counts.n,
        "n10": counts.n10,
        "n01": counts.n01,
        "original": counts.accuracy_original,
        "transformed": counts.accuracy_transformed,
        "delta": counts.delta,
        "t": test.result.t,
        "p": mark_floor(test.result.p_value, test.result.p_floor),
        "p_adjusted": PValue(test.p_adjusted, test.alpha),
        "differs": test.reject,
        "n_reworded": n_reworded,
        "delta_reworded": delta,
        "flip_rate": flip_rate,
        "verdict": str(test.verdict),
    }


def mark_floor(p: float, floor: float | None) -> float | str:
    """Return a p-value, or how it is written where it is the smallest that replicates give."""
    return f"≤ {show_p(p)}" if floor is not None and p <= floor * (1 + 1e-9) and p < 1 else p


def say_cochran(found: GroupCochran, *, is_models: bool) -> str:
    """Return the line of the test of all versions, or classifiers, at once."""
    who = ", ".join(str(value) for value in found.group.values())
    result = found.result
    p = say_p(format_p(result.p_value, floor=result.p_floor))
    return (
        f"Cochran's Q{f' of {who}' if who else ''} over {len(result.versions)} "
        f"{'classifiers on' if is_models else 'versions of'} {result.n:,} items: "
        f"{result.statistic:.3f}, {p}"
    )
