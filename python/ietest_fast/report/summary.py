"""The end of a run, in words and numbers, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.stats.matched import format_t

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ietest_fast.experiment.results import RhoResult, RunResult, Spread


# A mean of infinities of both signs.
_UNDEFINED = "undefined"


def format_p(p: float, *, threshold: float | None = None) -> str:
    """Write a p-value for people: three digits, or a power of ten where it is tiny.

    With a threshold there are as many digits as it takes to see on which side of it p lies.
    """
    if p == 0:
        return "0"
    if p < 0.001:
        return f"{p:.1e}"
    for digits in range(3, 17):
        text = f"{p:.{digits}f}"
        if threshold is None or (float(text) < threshold) == (p < threshold):
            break
    return text


def _percent(spread: Spread) -> str:
    if spread.mean is None:
        return _UNDEFINED
    sd = "" if spread.sd is None else f" ± {100 * spread.sd:.2f}"
    return f"{100 * spread.mean:.2f}{sd}"


def _t(spread: Spread) -> str:
    if spread.mean is None:
        return _UNDEFINED
    sd = "" if spread.sd is None else f" ± {spread.sd:.2f}"
    return f"{format_t(spread.mean)}{sd}"


def make_table(result: RunResult) -> Table:
    """Make the table of a run: one line for each rho.

    Accuracies (percent) and t are means over the M classifiers ± standard deviation (divisor
    M - 1); the decision compares the smallest p with alpha / M.
    """
    from rich import box
    from rich.table import Table

    has_power = any(rho.sensitivity is not None for rho in result.rhos)
    # Plain line characters in the head only: the table can be pasted into a text file.
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("ρ", justify="right", no_wrap=True)
    for title in ("original %", "transformed %", "t", "smallest p", *["power"] * has_power):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("decision", no_wrap=True)
    for rho in result.rhos:
        table.add_row(
            f"{rho.rho:g}",
            _percent(rho.accuracy_original),
            _percent(rho.accuracy_transformed),
            _t(rho.t),
            format_p(rho.decision.p_min, threshold=rho.decision.threshold),
            *[_power(rho)] * has_power,
            _decision(rho),
        )
    return table


def _power(rho: RhoResult) -> str:
    return "" if rho.sensitivity is None else f"{rho.sensitivity.power:.2f}"


def _decision(rho: RhoResult) -> str:
    return "reject" if rho.decision.reject else "not rejected"


def summary_lines(result: RunResult) -> list[str]:
    """Give the sentences below the table: level, robustness, collapsed, warnings, signature."""
    decision = result.rhos[0].decision
    test = result.data["test"]
    level = f"α/M = {decision.alpha:g}/{decision.n_tests} = {decision.threshold:g}"
    phi = result.transformation
    n_words = sum(phi["test_edits"].get(rule, 0) for rule in ("frequency", "edit_distance"))
    reworded = (
        f"{100 * phi['n_test_reworded'] / test['rows']:.1f}% of them reworded by {phi['name']}"
    )
    words = f" ({n_words:,} synonyms)" if n_words else ""
    lines = [
        f"H0: equal accuracy on both versions; rejected at a ρ if a p lies below {level}.",
        *_sensitivity_lines(result),
        *_power_line(result),
        *_verdict_lines(result),
        f"Test set: {test['rows']:,} rows, {reworded}{words}.",
        f"SNR: {result.snr:.1f}",
    ]
    if result.collapsed:
        without = result.snr_without_collapsed
        which = ", ".join(f"ρ={cell.rho:g} m={cell.m}" for cell in result.collapsed)
        lines[-1] += f" ({'none left' if without is None else f'{without:.1f}'} without collapsed)"
        lines.append(
            f"Collapsed (one class only, or at chance): {len(result.collapsed)} of "
            f"{sum(len(rho.cells) for rho in result.rhos)} classifiers: {which}."
        )
    few = [cell for rho in result.rhos for cell in rho.cells if cell.warning is not None]
    if few:
        what, beside = ("discordant pairs", "; results.json has the exact McNemar p beside each")
        if few[0].clustered is not None:
            what, beside = ("clusters in which the versions differ", "")
        lines.append(
            f"{len(few)} tests rest on few {what}, where the bootstrap is a little liberal{beside}."
        )
    lines.append(f"Signature: {result.signature}")
    return lines


def _sensitivity_lines(result: RunResult) -> list[str]:
    known = [rho.sensitivity for rho in result.rhos if rho.sensitivity is not None]
    if not known:
        return []
    delta = f"±{known[0].margin:g}"
    return [f"Power: how surely one classifier's test at that level finds a difference of {delta}."]


def _verdict_lines(result: RunResult) -> list[str]:
    """Say where equivalence is shown, a difference, and neither; and that clusters were drawn."""
    lines = []
    clustered = result.rhos[0].cells[0].clustered
    if clustered is not None:
        effects = [
            cell.clustered.design_effect
            for rho in result.rhos
            for cell in rho.cells
            if cell.clustered is not None and cell.clustered.design_effect is not None
        ]
        effect = f", design effect {min(effects):.2f} to {max(effects):.2f}" if effects else ""
        lines = [f"Whole clusters are drawn: {clustered.n_clusters:,} of them{effect}."]
    where: dict[str, list[str]] = {}
    for rho in result.rhos:
        where.setdefault(str(rho.verdict), []).append(f"{rho.rho:g}")
    margin = f"±{result.settings['margin']:g}"
    said = "; ".join(f"{verdict} at ρ = {', '.join(rhos)}" for verdict, rhos in where.items())
    return [*lines, f"Verdict, with a margin of {margin}: {said}."]


def _power_line(result: RunResult) -> list[str]:
    """Say what the tests could have shown: not rejecting is not invariance."""
    known = [x for x in (rho.detectable_difference for rho in result.rhos) if x is not None]
    if not known:
        return []
    low, high = f"{min(known):.4f}", f"{max(known):.4f}"
    span = low if low == high else f"{low} ({high} at the worst ρ)"
    return [f"With 80% power one test at α/M shows differences of {span} and more."]


def print_summary(result: RunResult, console: Console) -> None:
    """Print the table of a run and what has to be said with it."""
    console.print(make_table(result))
    for line in summary_lines(result):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
