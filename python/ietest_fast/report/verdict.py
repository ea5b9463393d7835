"""What a run found, in one sentence of plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.stats import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.experiment.schema import RhoResult
    from ietest_fast.report.runs import FinishedRun


def say_verdict(run: FinishedRun) -> str:
    """Say whether a model changes its mind when sentences are rephrased, and how surely.

    The sentence follows the verdicts at every rho, and names the rho wherever they are not all
    the same. Of classifiers that cannot be told from guessing it says so.
    """
    n_collapsed = sum(cell.collapsed for cell in run.cells)
    if n_collapsed == len(run.cells):
        return (
            f"{run.name} cannot be told from guessing: every classifier predicts one class only, "
            "or is no better than chance allows, so nothing can be said of rephrased sentences."
        )
    said = _say(run)
    if n_collapsed:
        said += f" ({n_collapsed} of {len(run.cells)} classifiers cannot be told from guessing.)"
    return said


def _say(run: FinishedRun) -> str:
    differs, equal, open_, collapsed = (
        [rho for rho in run.rhos if rho.verdict is verdict]
        for verdict in (
            Verdict.DIFFERS,
            Verdict.EQUIVALENT,
            Verdict.UNDECIDED,
            Verdict.COLLAPSED,
        )
    )
    nothing = f"; {_at(collapsed, run)} every classifier has collapsed" if collapsed else ""
    margin = _points(run.margin)
    if not differs and not open_:
        clause = f"{_at(equal, run)} its accuracy is shown to change by less than {margin}"
        seen = [rho for rho in equal if rho.reject]
        if seen:
            clause += f" (a smaller change is there all the same {_at(seen, run)})"
        return f"{run.name} treats rephrased sentences alike: {clause}{nothing}."
    if not differs:
        shown = f", and {_at(equal, run)} shown to be below {margin}" if equal else ""
        return (
            f"Whether {run.name} treats rephrased sentences alike stays open: no difference is "
            f"found, but {_at(open_, run)} one of {margin} cannot be ruled out{shown}{nothing}."
        )
    parts = [_say_difference(differs, run)]
    if equal:
        parts.append(f"{_at(equal, run)} it is shown to change by less than {margin}")
    if open_:
        parts.append(f"{_at(open_, run)} the question stays open")
    return f"{run.name} changes its mind when sentences are rephrased: {'; '.join(parts)}{nothing}."


def _say_difference(rhos: Sequence[RhoResult], run: FinishedRun) -> str:
    groups: dict[str, list[tuple[RhoResult, float]]] = {"loses": [], "gains": [], "": []}
    for rho in rhos:
        rejected = [cell.delta for cell in rho.rejecting]
        mean = rho.delta.mean or 0.0
        if min(rejected) > 0 and mean > 0:
            groups["loses"].append((rho, mean))
        elif max(rejected) < 0 and mean < 0:
            groups["gains"].append((rho, -mean))
        else:
            groups[""].append((rho, max(map(abs, rejected))))
    parts = []
    for verb, group in groups.items():
        if not group:
            continue
        where, largest = _at([rho for rho, _ in group], run), max(size for _, size in group)
        most = "up to " if len(group) > 1 else ""
        parts.append(
            f"{where} it {verb} {most}{_points(largest)} of accuracy"
            if verb
            else f"{where} its classifiers change in both directions, by up to {_points(largest)}"
        )
    return ", ".join(parts)


def _at(rhos: Sequence[RhoResult], run: FinishedRun) -> str:
    if len(rhos) == len(run.rhos) and len(rhos) > 1:
        return "at every ρ"
    return f"at ρ = {', '.join(f'{rho.rho:g}' for rho in rhos)}"


def _points(share: float) -> str:
    size = f"{100 * share:.2f}".rstrip("0").rstrip(".")
    return f"{size} {'point' if size == '1' else 'points'}"
