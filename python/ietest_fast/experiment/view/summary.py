"""The end of a run, in words and numbers, for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ietest_fast.experiment.view.learning import (
    curves_of,
    further_lines,
    make_further_table,
    make_size_table,
    size_lines,
    start_table,
)
from ietest_fast.numerals import (
    UNDEFINED,
    brief_p,
    format_t,
    percent_of,
    points_of,
    say_count,
    say_p,
    show_points,
)
from ietest_fast.stats.algorithm.claims import say_slope
from ietest_fast.transform.edits import COMPANION_RULES, RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from ietest_fast.experiment.finished import FinishedRun
    from ietest_fast.experiment.schema import (
        AcrossTransformations,
        CellResult,
        ConditionResult,
        RewordedRecord,
        RhoResult,
        RunResult,
        Spread,
    )


def say_verdict(run: FinishedRun) -> str:
    """Say what is shown of a finished run's model, in one sentence."""
    return say_condition(run.condition, name=run.name)


def say_condition(condition: ConditionResult, *, name: str | None = None) -> str:
    """Say of which model and transformation the verdict is."""
    of = name
    if of is None:
        of = f"{condition.model}, {condition.transformation}{_say_size(condition.train_size)}"
    said = condition.answer.headline
    return f"{of}: {said[:1].lower()}{said[1:]}"


def _t(spread: Spread) -> str:
    if spread.mean is None:
        return UNDEFINED
    sd = "" if spread.sd is None else f" ± {spread.sd:.2f}"
    return f"{format_t(spread.mean)}{sd}"


def make_table(condition: ConditionResult) -> Table:
    """Make the table of a run: one line for each rho.

    Accuracies (percent) and t are means over the M classifiers ± standard deviation (divisor
    M - 1); the decision compares the smallest p with alpha / M.
    """
    has_power = any(rho.sensitivity is not None for rho in condition.rhos)
    titles = ("ρ", "original %", "transformed %", "t", "smallest p", *["power"] * has_power)
    table = start_table(*titles, "decision")
    for rho in condition.rhos:
        table.add_row(
            f"{rho.rho:g}",
            percent_of(rho.accuracy_original),
            percent_of(rho.accuracy_transformed),
            _t(rho.t),
            brief_p(rho.p_min, threshold=rho.threshold),
            *[_power(rho)] * has_power,
            _say_decision(reject=rho.reject),
        )
    return table


def make_reworded_table(condition: ConditionResult) -> Table | None:
    """Make the table of what happens on the reworded texts: one line for each rho.

    Delta and flips are means over the M classifiers ± standard deviation. None where it is not
    known which texts were reworded.
    """
    if any(rho.flip_rate is None for rho in condition.rhos):
        return None
    over = condition.over_rho
    titles = ("ρ", "loss, points", "p", "changed %", "churn %", "excess %", "p, excess")
    table = start_table(*titles, "verdict")
    churn = over.churn_p_adjusted
    for place, rho in enumerate(condition.rhos):
        assert rho.reworded_delta is not None  # noqa: S101 - as the flip rate is
        assert rho.flip_rate is not None  # noqa: S101
        own = rho.churn
        shares = ("", "")
        if own is not None:
            shares = (f"{100 * own.noise_floor:.2f}", f"{100 * own.excess:+.2f}")
        table.add_row(
            f"{rho.rho:g}",
            points_of(rho.reworded_delta),
            brief_p(over.p_adjusted[place], threshold=over.alpha),
            percent_of(rho.flip_rate),
            *shares,
            "" if churn is None else _format_churn_p(churn[place], threshold=over.alpha),
            str(condition.verdicts[place]),
        )
    return table


def reworded_lines(condition: ConditionResult) -> list[str]:
    """Return what the columns of that table are."""
    first = condition.rhos[0]
    own = first.cells[0].reworded
    if own is None:
        return []
    points = f"±{100 * own.equivalence.margin:g} points"
    on = (
        f"On the {own.n:,} reworded texts. Loss: accuracy on the originals less that on the "
        "rephrased ones. changed: the answer is another one."
    )
    level = (
        f"p: equal accuracy over all {first.cells[0].n:,} texts, corrected for M = "
        f"{len(first.cells)} and for {len(condition.rhos)} ρ; rejected below α = {first.alpha:g}."
    )
    churn = (
        "churn: two trainings answer the same text differently. excess: how much more often they "
        "do across the versions; p: no excess, corrected for all ρ, if flips are independent."
    )
    alike = (
        f"Alike: for each classifier the loss is shown to be within {points}, and answers to "
        f"change on fewer than {100 * own.flips.margin:g}%."
    )
    lines = [on, level, churn, alike]
    if first.churn is None:
        lines.remove(churn)
    return lines


def make_algorithm_table(condition: ConditionResult) -> Table | None:
    """Make the table of what is shown of the algorithm: one line for each rho; None without it."""
    over = condition.over_rho.algorithm_p_adjusted
    if over is None:
        return None
    titles = ("ρ", "loss, points", "95% interval", "p", "sd of trainings", "next one")
    table = start_table(*titles)
    for rho, p in zip(condition.rhos, over, strict=True):
        own = rho.algorithm
        assert own is not None  # noqa: S101 - as the p-values are
        table.add_row(
            f"{rho.rho:g}",
            f"{100 * own.delta:+.2f}",
            _interval_in_points(own.interval),
            brief_p(p, threshold=condition.over_rho.alpha),
            f"{100 * own.sd_classifiers:.2f}",
            _interval_in_points(own.prediction_interval),
        )
    return table


def algorithm_lines(condition: ConditionResult) -> list[str]:
    """Return what the columns of that table are."""
    first = condition.rhos[0]
    m, n_rhos = len(first.cells), len(condition.rhos)
    about = (
        f"The p of the first table is about these {m} classifiers. This one is about the average "
        "over retrainings on this training set, and over texts of this kind."
    )
    columns = (
        f"95% interval: each ρ by itself. p: no average loss, corrected for {n_rhos} ρ. next one: "
        "95% interval for the loss of one more classifier, if trainings are normal."
    )
    return [about, columns]


def _format_churn_p(p: float, *, threshold: float) -> str:
    """Write the p of the excess churn: far out it rests on flips that are independent."""
    return "<1e-04" if p < 1e-4 else brief_p(p, threshold=threshold)


def _interval_in_points(interval: tuple[float, float]) -> str:
    return f"{100 * interval[0]:+.2f} to {100 * interval[1]:+.2f}"


def _power(rho: RhoResult) -> str:
    return "" if rho.sensitivity is None else f"{rho.sensitivity.power:.2f}"


def _say_decision(*, reject: bool) -> str:
    return "reject" if reject else "not rejected"


def summary_lines(result: RunResult, condition: ConditionResult) -> list[str]:
    """Return the sentences below a table: level, robustness, collapsed, warnings, signature."""
    first = condition.rhos[0]
    rows = result.data.test.rows
    phi = result.transformation_of(condition)
    own = {rule: n for rule, n in phi.test_edits.items() if rule not in COMPANION_RULES}
    n_edits, n_words = sum(own.values()), sum(own.get(rule, 0) for rule in RULES)
    reworded = f"{100 * phi.n_test_reworded / rows:.1f}% of them reworded by {phi.name}"
    words = f" ({say_count(n_edits, 'edit')})" if n_edits else ""
    if n_words == n_edits > 0:
        words = f" ({say_count(n_words, 'substitution')})"
    lines = [
        f"H0: equal accuracy on both versions; {_level(first)}.",
        *_sensitivity_lines(condition),
        *_power_line(condition),
        *_verdict_lines(result, condition),
        f"Test set: {rows:,} rows, {reworded}{words}.",
        *_label_lines(condition),
        _say_snr(condition),
    ]
    if condition.collapsed:
        which = ", ".join(f"ρ={cell.rho:g} m={cell.m}" for cell in condition.collapsed)
        lines.append(
            "Collapsed (one class only, or not shown to be above chance): "
            f"{len(condition.collapsed)} of "
            f"{say_count(len(condition.cells), 'classifier')}: {which}."
        )
    few = [cell for rho in condition.rhos for cell in rho.liberal]
    if few:
        what, beside = ("discordant pairs", "; results.json has the exact McNemar p beside each")
        if few[0].clustered is not None:
            what, beside = ("clusters in which the versions differ", "")
        rest = "rests" if len(few) == 1 else "rest"
        lines.append(
            f"{say_count(len(few), 'test')} {rest} on few {what} for {_the_level(first)}, where "
            f"the bootstrap may reject too often{beside}."
        )
    lines += [f"Warning: {message}." for message in phi.warnings]
    lines.append(f"Signature: {condition.signature}")
    return lines


def _label_lines(condition: ConditionResult) -> list[str]:
    """Say where losses and gains go with the label; nothing where that is not shown."""
    over = condition.over_rho
    found = [
        (rho.rho, p)
        for rho, p in zip(condition.rhos, over.label_p_adjusted or (), strict=False)
        if p < over.alpha
    ]
    if not found:
        return []
    where = ", ".join(f"{rho:g} ({say_p(brief_p(p, threshold=over.alpha))})" for rho, p in found)
    return [
        f"The proportion of losses to gains is shown to depend on the gold label at ρ = {where}."
    ]


def _the_level(rho: RhoResult) -> str:
    return f"a level of {rho.alpha / len(rho.cells):.3g}"


def _level(rho: RhoResult) -> str:
    if rho.is_joint:
        return (
            f"rejected at a ρ if a p-value corrected for {len(rho.cells)} tests "
            f"({rho.correction}) lies below α = {rho.alpha:g}"
        )
    level = f"α/M = {rho.alpha:g}/{len(rho.cells)} = {rho.threshold:g}"
    return f"rejected at a ρ if a p lies below {level}"


def _say_snr(condition: ConditionResult) -> str:
    found = condition.robustness
    if found.snr is None:
        return "SNR: undefined for a single classifier"
    said = f"SNR: {_ratio(found.snr)}"
    if condition.collapsed:
        without = found.snr_without_collapsed
        said += f" ({'none left' if without is None else _ratio(without)} without collapsed)"
    return said


def _ratio(snr: float) -> str:
    return "∞ (all accuracies are equal)" if math.isinf(snr) else f"{snr:.1f}"


def _sensitivity_lines(condition: ConditionResult) -> list[str]:
    known = [rho.sensitivity for rho in condition.rhos if rho.sensitivity is not None]
    if not known:
        return []
    delta = f"±{known[0].margin:g}"
    return [f"Power: the probability that one classifier's test finds a difference of {delta}."]


def _verdict_lines(result: RunResult, condition: ConditionResult) -> list[str]:
    """Say where equivalence is shown, a difference, and neither; and that clusters were drawn."""
    lines = []
    clustered = condition.rhos[0].cells[0].clustered
    if clustered is not None:
        effects = [
            cell.clustered.design_effect
            for rho in condition.rhos
            for cell in rho.cells
            if cell.clustered is not None and cell.clustered.design_effect is not None
        ]
        effect = f", design effect {min(effects):.2f} to {max(effects):.2f}" if effects else ""
        lines = [f"Whole clusters are drawn: {clustered.n_clusters:,} of them{effect}."]
    if condition.rhos[0].flip_rate is not None:
        return lines  # the table of reworded texts has the verdicts
    where: dict[str, list[str]] = {}
    for rho in condition.rhos:
        where.setdefault(str(rho.verdict), []).append(f"{rho.rho:g}")
    margin = f"±{result.settings.margin:g}"
    said = "; ".join(f"{verdict} at ρ = {', '.join(rhos)}" for verdict, rhos in where.items())
    return [*lines, f"Verdict, with a margin of {margin}: {said}."]


def _power_line(condition: ConditionResult) -> list[str]:
    """Say what the tests could have shown: not rejecting is not invariance."""
    known = [x for x in (rho.detectable_difference for rho in condition.rhos) if x is not None]
    if not known:
        return []
    low, high = f"{min(known):.4f}", f"{max(known):.4f}"
    span = low if low == high else f"{low} ({high} at the worst ρ)"
    said = f"With 80% power one test at α/M shows differences of {span} and more"
    return [f"{said}, if as many pairs are discordant as here."]


def make_across_table(across: Sequence[AcrossTransformations]) -> Table:
    """Make the table of what holds over the transformations of a model.

    One line for each rho and transformation: the smallest p of its M classifiers, corrected for
    M, and the same corrected for the number of transformations by Holm's rule.
    """
    table = start_table("ρ", "transformation", "p, corrected for M", "p, Holm", "decision")
    for each in across:
        for phi, p, holm, reject in zip(
            each.transformations, each.p_values, each.p_holm, each.reject, strict=True
        ):
            table.add_row(
                f"{each.rho:g}",
                phi,
                brief_p(p),
                brief_p(holm, threshold=each.alpha),
                _say_decision(reject=reject),
            )
    return table


def across_lines(result: RunResult, across: Sequence[AcrossTransformations]) -> list[str]:
    """Return the sentences below such a table: the level, and the test of all versions at once."""
    first = across[0]
    n_phis = len(first.transformations)
    level = f"corrected by Holm's rule for {n_phis} transformations, lies below α = {first.alpha:g}"
    lines = [f"H0 of each line: equal accuracy on both versions; rejected if p, {level}."]
    for each in across:
        if each.cochran_p_value is None:
            continue
        n_tests = len(each.cochran)
        which = f"smallest p, corrected for {n_tests} tests:" if n_tests > 1 else "p ="
        p = brief_p(each.cochran_p_value, threshold=each.alpha)
        said = "rejected" if each.cochran_p_value < each.alpha else "not rejected"
        statistics = ", ".join(f"{own.statistic:.2f}" for own in each.cochran)
        lines.append(
            f"Cochran's Q at ρ = {each.rho:g}, H0: outcomes exchangeable over {n_phis + 1} "
            f"versions: Q = {statistics}; {which} {p}, {said} at α = {each.alpha:g}."
        )
    condition = next(own for own in result.conditions if own.model == first.model)
    has_zero = any(each.rho == 0 for each in across)
    if has_zero and condition.rhos[0].cells[0].clustered is not None:
        lines.append(
            "Cochran's Q is left out: it takes rows to be independent, and clusters are drawn."
        )
    return lines


def print_summary(result: RunResult, console: Console, *, details: bool = False) -> None:
    """Print the answer of a run, for each of its conditions; with details, all of its tables."""
    for number, condition in enumerate(result.conditions):
        if number:
            console.print()
        if details:
            _print_condition(result, condition, console)
        else:
            _print_answer(result, condition, console)
    if not details:
        return
    for model, size in dict.fromkeys((each.model, each.train_size) for each in result.across):
        across = [each for each in result.across if (each.model, each.train_size) == (model, size)]
        console.print()
        over = f"{model}, over {len(across[0].transformations)} transformations"
        _print_lines([f"{over}{_say_size(size)}"], console)
        console.print(make_across_table(across))
        _print_lines(across_lines(result, across), console)
    for own in curves_of(result):
        console.print()
        of = f"{own[0].model} under {own[0].transformation}"
        _print_lines([f"{of}, by the number of training rows"], console)
        console.print(make_size_table(own))
        _print_lines(size_lines(own), console)


def make_answer_table(condition: ConditionResult) -> Table:
    """Make the table of the answer: one line for each rho, means over the trainings."""
    level = f"{100 * (1 - condition.answer.alpha):g}%"
    is_known = condition.rhos[0].flip_rate is not None
    table = start_table("ρ", "accuracy", f"change, {level} interval", *["flips"] * is_known)
    for rho in condition.rhos:
        changed = "" if rho.flip_rate is None else f"{100 * (rho.flip_rate.mean or 0):.1f}%"
        table.add_row(f"{rho.rho:g}", *_show_change(rho), *[changed] * is_known)
    return table


def _show_change(rho: RhoResult) -> tuple[str, str]:
    """Return accuracies, on the reworded texts if these are known, and what changes."""
    reworded = [cell.reworded for cell in rho.cells if cell.reworded is not None]
    counts = [cell.counts for cell in reworded or rho.cells]
    before, after = (
        sum(getattr(own, f"accuracy_{version}") for own in counts) / len(counts)
        for version in ("original", "transformed")
    )
    first: RewordedRecord | CellResult = (reworded or rho.cells)[0]
    ends = first.equivalence.interval if rho.algorithm is None else rho.algorithm.interval
    low, high = (show_points(-end) for end in (ends[1], ends[0]))
    shares = f"{100 * before:.1f} → {100 * after:.1f}"
    if rho.algorithm is None and len(counts) > 1:
        return shares, show_points(after - before)
    return shares, f"{show_points(after - before)} ({low} to {high})"


def answer_lines(result: RunResult, condition: ConditionResult) -> list[str]:
    """Return the sentences below that table: the slope, what else is shown, the paper's rule."""
    first, answer = condition.rhos[0], condition.answer
    phi = result.transformation_of(condition)
    trainings = say_count(answer.n_trainings, "training")
    if answer.n_trainings == 1 and len(first.cells) > 1:
        trainings = f"1 training ({len(first.cells)} that answer alike)"
    texts = f"the {answer.n:,} of {first.cells[0].n:,} texts that {phi.name} reworded"
    level = f"alpha = {answer.alpha:g} for all that is claimed"
    lines = [f"Means over {trainings} at each ρ, on {texts}; verdict: {answer.verdict} ({level})."]
    if answer.slope is not None:
        own = answer.slope
        said = say_slope(own.rhos, own.change, own.interval, is_shown=own.is_shown)
        lines.append(said)
    shown = [name for name, p in answer.p_values.items() if p < answer.levels[name]]
    beside = [_BESIDE[name] for name in shown if name in _BESIDE]
    if beside:
        lines.append(f"Also shown at ρ = {answer.rho:g}: {'; '.join(beside)}.")
    rejected = [f"{rho.rho:g}" for rho in condition.rhos if rho.reject]
    at = f"rejects at ρ = {', '.join(rejected)}" if rejected else "rejects at no ρ"
    lines.append(f"Paper's rule ({_level(first)}): {at}.")
    lines += [f"Warning: {message}." for message in phi.warnings]
    return [*lines, str(condition.signature)]


_BESIDE = {
    "churn": "answers change more than retraining changes them",
    "flips": "more answers change than the margin allows",
    "labels": "what is lost goes with the label",
}
"""What may be shown beside a change in accuracy."""


def _print_answer(result: RunResult, condition: ConditionResult, console: Console) -> None:
    _print_lines([say_condition(condition)], console)
    console.print(make_answer_table(condition))
    _print_lines(answer_lines(result, condition), console)
    _print_evaluations(result, condition, console)


def _print_evaluations(result: RunResult, condition: ConditionResult, console: Console) -> None:
    if result.evaluations:
        _print_lines(["", "The same classifiers on further test sets:"], console)
        console.print(make_further_table(result, condition))
        _print_lines(further_lines(result, condition), console)


def _print_lines(lines: Sequence[str], console: Console) -> None:
    for line in lines:
        console.print(line, soft_wrap=True)


def _say_size(train_size: int | None) -> str:
    return "" if train_size is None else f", trained on {train_size:,} rows"


def _print_condition(result: RunResult, condition: ConditionResult, console: Console) -> None:
    """Print the tests of one model under one transformation, the reworded texts first."""
    if len(result.conditions) > 1:
        of = f"{condition.model} under {condition.transformation}"
        _print_lines([f"{of}{_say_size(condition.train_size)}"], console)
    _print_lines([say_condition(condition)], console)
    reworded = make_reworded_table(condition)
    if reworded is not None:
        console.print(reworded)
        _print_lines(reworded_lines(condition), console)
    algorithm = make_algorithm_table(condition)
    if algorithm is not None:
        _print_lines(["", "The algorithm, on the same texts:"], console)
        console.print(algorithm)
        _print_lines(algorithm_lines(condition), console)
    if reworded is not None:
        _print_lines(["", "Over all texts, each ρ by itself, as in the paper:"], console)
    console.print(make_table(condition))
    _print_lines(summary_lines(result, condition), console)
    _print_evaluations(result, condition, console)
