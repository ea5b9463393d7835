"""What a run found, in one sentence of plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.stats import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.experiment.schema import ConditionResult, RhoResult
    from ietest_fast.report.runs import FinishedRun


def say_verdict(run: FinishedRun) -> str:
    """Say whether a finished run's model changes its mind; see :func:`say_condition`."""
    return say_condition(run.condition, name=run.name)


def say_condition(condition: ConditionResult, *, name: str | None = None) -> str:
    """Say whether a model changes its mind when sentences are rephrased, and how surely.

    The sentence follows the verdicts that hold over all rho, and names the rho wherever they are
    not all the same. Of classifiers that cannot be told from guessing it says so.
    """
    name = condition.model if name is None else name
    n_collapsed = len(condition.collapsed)
    if n_collapsed == len(condition.cells):
        return (
            f"{name} cannot be told from guessing: every classifier predicts one class only, "
            "or is no better than chance allows, so nothing can be said of rephrased sentences."
        )
    said = _say(condition, name)
    if n_collapsed:
        said += (
            f" ({n_collapsed} of {len(condition.cells)} classifiers cannot be told from guessing.)"
        )
    return said


def _say(run: ConditionResult, name: str) -> str:
    found = {
        verdict: [rho for rho, own in zip(run.rhos, run.verdicts, strict=True) if own is verdict]
        for verdict in Verdict
    }
    clauses = [
        clause
        for verdict, say in _CLAUSES
        if found[verdict]
        for clause in [say(found[verdict], run)]
    ]
    if found[Verdict.COLLAPSED]:
        clauses.append(f"{_at(found[Verdict.COLLAPSED], run)} every classifier has collapsed")
    text = "; ".join(clauses)
    if found[Verdict.DIFFERS] or found[Verdict.CHANGES]:
        return f"{name} changes its mind when sentences are rephrased: {text}."
    if found[Verdict.UNDECIDED]:
        return f"Whether {name} treats rephrased sentences alike stays open: {text}."
    if found[Verdict.EQUIVALENT]:
        return f"{name} keeps its accuracy when sentences are rephrased: {text}."
    return f"{name} treats rephrased sentences alike: {text}."


def _say_difference(rhos: Sequence[RhoResult], run: ConditionResult) -> str:
    groups: dict[str, list[tuple[RhoResult, float]]] = {"loses": [], "gains": [], "": []}
    for rho in rhos:
        rejected = [cell.shown_delta for cell in rho.rejecting or (rho.strongest,)]
        mean = rho.shown_delta.mean or 0.0
        if min(rejected) > 0 and mean > 0:
            groups["loses"].append((rho, mean))
        elif max(rejected) < 0 and mean < 0:
            groups["gains"].append((rho, -mean))
        else:
            groups[""].append((rho, max(map(abs, rejected))))
    where_seen = _on_reworded(rhos)
    parts = []
    for verb, group in groups.items():
        if not group:
            continue
        where, largest = _at([rho for rho, _ in group], run), max(own for _, own in group)
        most = f"{'up to ' if len(group) > 1 else ''}{_points(largest)}"
        n_classifiers = max(len(rho.cells) for rho, _ in group)
        if not verb:
            said = f"its classifiers change in both directions, by up to {_points(largest)}"
        elif n_classifiers == 1:
            said = f"it {verb} {most} of accuracy"
        else:  # which one is not said, and the mean may lie above what the others show
            average = f"the mean {'loss' if verb == 'loses' else 'gain'} is {most}"
            said = f"at least one of its {n_classifiers} classifiers {verb} accuracy, and {average}"
        parts.append(f"{where} {said}{where_seen}")
    return ", ".join(parts)


def _say_changes(rhos: Sequence[RhoResult], run: ConditionResult) -> str:
    shares = [_flip_share(rho) for rho in rhos]
    most = "up to " if len(rhos) > 1 else ""
    least = "" if rhos[0].flip_rate is not None else "at least "
    churn = run.over_rho.churn_p_adjusted
    beyond = churn is not None and all(
        churn[run.rhos.index(rho)] < run.over_rho.alpha for rho in rhos
    )
    more = ""
    if beyond:
        excess = max(rho.churn.excess for rho in rhos if rho.churn is not None)
        more = (
            f", and two trainings disagree {most}{_points(excess)} more often across the versions "
            "than within one"
        )
    seen = "no overall change in accuracy is shown"
    over = run.over_rho
    if any(over.p_adjusted[run.rhos.index(rho)] < over.alpha for rho in rhos):
        seen = f"no change in accuracy of more than {_margin(run)} is shown"
    share = f"{most}{least}{_percent(max(shares))} of"
    if most and (least or len(rhos) == len(run.rhos)):
        low, high = _percent(min(shares)), _percent(max(shares))
        share = f"{least}{high if low == high else f'{low} to {high}'} of"
    return (
        f"{share} the answers{_to_reworded(rhos)} change {_at(rhos, run)}, although {seen}"
        f"{_say_labels(rhos, run)}{more}"
    )


def _say_labels(rhos: Sequence[RhoResult], run: ConditionResult) -> str:
    """Say how labels move on average where losses are shown to go with them; "" if they are not."""
    over = run.over_rho
    shown = {
        rho.rho: p
        for rho, p in zip(run.rhos, over.label_p_adjusted or (), strict=False)
        if rho in rhos and p < over.alpha and rho.uneven_cells(rho.alpha)
    }
    if not shown:
        return ""
    rho = next(rho for rho in rhos if rho.rho == min(shown, key=lambda own: shown[own]))
    own = [cell.labels for cell in rho.cells if cell.labels is not None]
    names = [each.name for each in own[0].strata]
    means = {
        name: sum(each.strata[place].delta for each in own) / len(own)
        for place, name in enumerate(names)
    }
    moves = ", ".join(f"{name} {_signed(-mean)}" for name, mean in means.items() if mean)
    return (
        f" (at ρ = {rho.rho:g} the proportion of losses to gains depends on the label; on average "
        f"{moves} points)"
    )


def _flip_share(rho: RhoResult) -> float:
    if rho.flip_rate is not None:
        return rho.flip_rate.mean or 0.0
    return sum(cell.counts.discordance_rate for cell in rho.cells) / len(rho.cells)


def _say_alike(rhos: Sequence[RhoResult], run: ConditionResult) -> str:
    flips = max(
        cell.reworded.flips.margin
        for rho in rhos
        for cell in rho.cells
        if cell.reworded is not None
    )
    return (
        f"{_at(rhos, run)} accuracy{_on_reworded(rhos)} is shown to change by less than "
        f"{_margin(run)}, and fewer than {_percent(flips)} of the answers change"
    )


def _say_equivalent(rhos: Sequence[RhoResult], run: ConditionResult) -> str:
    said = f"{_at(rhos, run)} accuracy is shown to change by less than {_margin(run)}"
    said += _on_reworded(rhos)
    seen = [rho for rho in rhos if rho.reject]
    if seen:
        said += f" (there is a smaller change {_at(seen, run)})"
    if rhos[0].flip_rate is None:
        return f"{said}; how many answers change is not known"
    return f"{said}; that few answers change is not shown"


def _say_open(rhos: Sequence[RhoResult], run: ConditionResult) -> str:
    return (
        f"{_at(rhos, run)} neither a difference nor one below {_margin(run)} is shown"
        f"{_on_reworded(rhos)}"
    )


_CLAUSES = (
    (Verdict.DIFFERS, _say_difference),
    (Verdict.CHANGES, _say_changes),
    (Verdict.ALIKE, _say_alike),
    (Verdict.EQUIVALENT, _say_equivalent),
    (Verdict.UNDECIDED, _say_open),
)


def _on_reworded(rhos: Sequence[RhoResult]) -> str:
    return "" if rhos[0].flip_rate is None else " on the reworded texts"


def _to_reworded(rhos: Sequence[RhoResult]) -> str:
    return "" if rhos[0].flip_rate is None else " to reworded texts"


def _at(rhos: Sequence[RhoResult], run: ConditionResult) -> str:
    if len(rhos) == len(run.rhos) and len(rhos) > 1:
        return "at every ρ"
    return f"at ρ = {', '.join(f'{rho.rho:g}' for rho in rhos)}"


def _margin(run: ConditionResult) -> str:
    return _points(run.cells[0].equivalence.margin)


def _points(share: float) -> str:
    size = f"{100 * share:.2f}".rstrip("0").rstrip(".")
    return f"{size} {'point' if size == '1' else 'points'}"


def _signed(share: float) -> str:
    return f"{100 * share:+.2f}".replace("-", "\N{MINUS SIGN}")


def _percent(share: float) -> str:
    size = f"{100 * share:.1f}".rstrip("0").rstrip(".")
    return f"{size}%"
