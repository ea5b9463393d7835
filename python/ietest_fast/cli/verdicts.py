"""What commands say of a paired test: the result, what stands beside it, and a signature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ietest_fast.report.terminal import echo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ietest_fast.stats import EstimateResult, InvarianceTestResult, PairedTestResult
    from ietest_fast.stats.result import Result

DEFAULT_MARGIN = 0.01

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
    from ietest_fast.stats import estimate

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
    from ietest_fast.stats import estimate

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
    from ietest_fast.stats import equivalence_test

    if alpha >= 0.5:
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
    from ietest_fast.stats.inputs import DEFAULT_POWER
    from ietest_fast.stats.intervals import wilson_interval
    from ietest_fast.stats.planning.power import difference_beside_test

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
    from ietest_fast.stats.planning.few_discordant import is_liberal, size_given

    counts = result.counts
    if result.alternative != "two-sided" or result.few_discordant:
        return None, []
    if not is_liberal(counts.k, counts.n, alpha):
        return None, []
    size = size_given(counts.k, counts.n, alpha)
    said = f"Given {counts.k} discordant pairs, this test rejects a true H0 with probability"
    exact = f"the conditional exact McNemar p is {result.p_mcnemar_exact:.4g}"
    return size, [f"{said} {size:.2%} at alpha = {alpha:g}; {exact}."]


def sign(
    result: Any, *, alpha: float, n_classifiers: int = 1, fields: Mapping[str, str] | None = None
) -> str:
    """Sign a test of any kind."""
    from ietest_fast.stats import (
        CochranResult,
        JointTestResult,
        PairedTestResult,
        ScoreTestResult,
    )
    from ietest_fast.stats.paired import sign_test, write_signature

    if isinstance(result, PairedTestResult):
        return sign_test(result, **(fields or {}))
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
        S=f"{result.n_resamples}.resample",
        stat="t",
        null=result.null if isinstance(result, ScoreTestResult) else None,
        alt=result.alternative.removesuffix("-sided"),
        mc="minp" if is_joint else None,
        M=n_classifiers if is_joint else None,
        alpha=f"{alpha:g}" if is_joint else None,
        seed=result.seed,
        **(fields or {}),
    )


def say(result: Any, reject: bool, *, are_scores: bool = False) -> str:
    """Say in one sentence what a test showed."""
    from ietest_fast.stats import CochranResult, JointTestResult

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
    what = "mean scores" if are_scores else "accuracies"
    if result.alternative == "two-sided":
        return f"The {what} differ" if reject else f"No difference of the {what} is shown"
    more = "higher" if result.alternative == "greater" else "lower"
    what = "mean score" if are_scores else "accuracy"
    return f"The {what} is {'' if reject else 'not shown to be '}{more} on the original"


def print_test(
    result: Result,
    extra: Extra,
    *,
    verdict: str,
    alpha: float,
    signature: str,
    invariance: InvarianceTestResult | None = None,
) -> None:
    """Print a test for people: first what is shown on the reworded texts, then over all."""
    if invariance is not None:
        echo(f"{invariance.explanation}\n")
        for name, value in invariance.rows():
            echo(f"{name:<24} {value}")
        echo()
    said = str(result)
    echo(*said.splitlines())
    if "estimate" in extra:
        echo("", *extra["estimate"][1])
    echo(f"\n{verdict} (alpha = {alpha:g}).")
    # What is said of the reworded texts takes the place of equivalence over all of them.
    above = {"estimate"} if invariance is None else {"estimate", "equivalence"}
    for name, (_, lines) in extra.items():
        for line in lines if name not in above else ():
            if line not in said:  # a warning that the test and equivalence share
                echo(line)
    echo(signature)
