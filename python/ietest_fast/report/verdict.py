"""What a run found, in one sentence of plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.stats import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.report.runs import FinishedRun, RhoOutcome


def say_verdict(run: FinishedRun) -> str:
    """Say whether a model changes its mind when sentences are rephrased, and how surely.

    The sentence follows the verdicts at every rho, and names the rho wherever they are not all
    the same.
    """
    by_verdict = {
        verdict: [rho for rho in run.rhos if rho.verdict is verdict] for verdict in Verdict
    }
    differs, equal, open_ = (
        by_verdict[verdict] for verdict in (Verdict.DIFFERS, Verdict.EQUIVALENT, Verdict.UNDECIDED)
    )
    margin = _points(run.margin)
    if not differs and not open_:
        said = f"{run.name} treats rephrased sentences alike"
        clause = f"at every ρ its accuracy is shown to change by less than {margin}"
        seen = [rho for rho in equal if rho.decision.reject]
        if seen:
            clause += f" (a smaller change is there all the same {_at(seen, run)})"
        return f"{said}: {clause}."
    if not differs:
        shown = f", and {_at(equal, run)} shown to be below {margin}" if equal else ""
        return (
            f"Whether {run.name} treats rephrased sentences alike stays open: no difference is "
            f"found, but {_at(open_, run)} one of {margin} cannot be ruled out{shown}."
        )
    parts = [_say_difference(differs, run)]
    if equal:
        parts.append(f"{_at(equal, run)} it is shown to change by less than {margin}")
    if open_:
        parts.append(f"{_at(open_, run)} the question stays open")
    return f"{run.name} changes its mind when sentences are rephrased: {'; '.join(parts)}."


def _say_difference(rhos: Sequence[RhoOutcome], run: FinishedRun) -> str:
    means = [(rho, rho.delta.mean or 0.0) for rho in rhos]
    lost = [(rho, mean) for rho, mean in means if mean > 0]
    won = [(rho, mean) for rho, mean in means if mean <= 0]
    parts = []
    for group, verb in ((lost, "loses"), (won, "gains")):
        if not group:
            continue
        sizes = sorted(abs(mean) for _, mean in group)
        most = "up to " if len(sizes) > 1 else ""
        parts.append(
            f"{_at([rho for rho, _ in group], run)} it {verb} {most}{_points(sizes[-1])} of "
            "accuracy"
        )
    return ", ".join(parts)


def _at(rhos: Sequence[RhoOutcome], run: FinishedRun) -> str:
    if len(rhos) == len(run.rhos) and len(rhos) > 1:
        return "at every ρ"
    return f"at ρ = {', '.join(f'{rho.rho:g}' for rho in rhos)}"


def _points(share: float) -> str:
    size = f"{100 * share:.2f}".rstrip("0").rstrip(".")
    return f"{size} {'point' if size == '1' else 'points'}"
