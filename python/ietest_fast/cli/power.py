"""``ietest-fast power``: how many pairs, or how small a difference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import (
    FiniteRange,
    OpenShare,
    check_not_given,
    threads_option,
)
from ietest_fast.report.progress import show_stage
from ietest_fast.report.terminal import echo, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ietest_fast.stats import PowerCurve, PowerPlan

# Stands in ietest_fast.stats.inputs, too, which is too much to import for --help.
_MOST_PAIRS = 10**8

_OF_PLAN = ("n", "discordance", "delta", "power", "alpha", "n_tests", "n_threads")


@click.command(name="power")
@click.option("--n", type=click.IntRange(1, _MOST_PAIRS), help="Number of pairs.")
@click.option(
    "--discordance",
    "--psi",
    type=FiniteRange(0, 1),
    required=True,
    help="Share of discordant pairs, k/n of an earlier test.",
)
@click.option("--delta", type=FiniteRange(-1, 1), help="Difference of the two accuracies.")
@click.option(
    "--power",
    type=OpenShare(),
    help="Power wanted, where n or delta is to be found.  [default: 0.8]",
)
@click.option(
    "--alpha",
    type=OpenShare(),
    default=0.05,
    show_default=True,
    help="Significance level of the whole test.",
)
@click.option(
    "--tests",
    "n_tests",
    type=click.IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    help="M classifiers: each test is held to alpha / M.",
)
@click.option(
    "--tau",
    type=FiniteRange(0, 1),
    help="Plan the test of the algorithm: standard deviation of delta between trainings.",
)
@click.option(
    "--classifiers",
    "n_classifiers",
    type=click.IntRange(2, 10_000),
    help="With --tau: number of retrained classifiers, M.",
)
@click.option(
    "--correlation",
    type=FiniteRange(0, 1),
    help="With --tau: of two classifiers' differences on the same text.  [default: 0.5]",
)
@click.option("--curve", type=click.Choice(["n", "delta"]), help="Draw power against this.")
@click.option(
    "--plot",
    type=click.Path(dir_okay=False),
    help="Write the curve as a figure (.svg or .png); against n if --curve is left out.",
)
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, curve: str | None, plot: str | None, **options: Any) -> None:
    """Plan a paired test: power, sample size or detectable difference.

    Give two of --n, --delta and --power; the third follows. Power is enumerated from the exact law
    of the test, nothing is simulated. With several classifiers it is the power of one of them at
    alpha / M.

    With --tau it is the test of the algorithm that is planned: give all but one of --n,
    --classifiers, --delta and --power (80% unless told otherwise), or --delta alone for the pairs
    of numbers, of classifiers and of texts, that are enough.
    """
    if options["tau"] is not None:
        check_not_given(
            "tests",
            "curve",
            "plot",
            because="is for the test of single classifiers, without --tau",
        )
        _plan_algorithm(options)
        return
    check_not_given(
        "classifiers", "correlation", because="is for the test of the algorithm, with --tau"
    )
    named = [options[name] is not None for name in ("n", "delta", "power")]
    if not any(named[:2]):
        raise click.UsageError("give --n or --delta, or both")
    if all(named):
        raise click.UsageError("leave out --n, --delta or --power: one follows from the others")
    if plot is not None:
        _check_plot(Path(plot))

    from ietest_fast.stats import plan

    drawn = None
    with show_stage("Planning"):
        solved = plan(**{name: options[name] for name in _OF_PLAN})
        if curve is not None or plot is not None:
            drawn = _curve(solved, curve or "n", n_threads=options["n_threads"])
    if plot is not None:
        from ietest_fast.experiment.view.charts import power_chart

        assert drawn is not None  # noqa: S101
        power_chart(drawn).save(Path(plot))
    if options["as_json"]:
        print_json(solved.to_dict() | ({} if drawn is None else {"curve": drawn.to_dict()}))
        return
    echo(*str(solved).splitlines())
    if curve is not None and drawn is not None:
        echo("", *drawn.as_text().splitlines())


def _check_plot(plot: Path) -> None:
    if plot.suffix not in {".svg", ".png"}:
        raise click.UsageError("--plot writes .svg or .png")
    if not plot.parent.is_dir():
        raise click.UsageError(f"--plot: there is no folder {str(plot.parent)!r}")


def _plan_algorithm(options: Mapping[str, Any]) -> None:
    from ietest_fast.errors import InputError
    from ietest_fast.stats import plan_algorithm, split_variance

    discordance, delta = options["discordance"], options["delta"]
    correlation = 0.5 if options["correlation"] is None else options["correlation"]
    items, residual = split_variance(discordance, delta=delta or 0.0, correlation=correlation)
    solved = plan_algorithm(
        **{name: options[name] for name in ("n", "n_classifiers", "delta", "power", "alpha")},
        sd_items=items,
        sd_classifiers=options["tau"],
        sd_residual=residual,
    )
    found = getattr(solved, "delta", 0.0)
    if abs(found) > discordance:
        raise InputError(
            f"no possible difference is found: {found:.3g} would be needed, but no more than "
            f"{discordance:g} of the pairs are discordant; take more texts or classifiers"
        )
    if options["as_json"]:
        print_json(solved.to_dict())
    else:
        echo(*str(solved).splitlines())


def _curve(solved: PowerPlan, over: str, *, n_threads: int | None) -> PowerCurve:
    """Fifty points around the plan: up to twice its n, or twice its delta."""
    import numpy as np

    from ietest_fast.stats import power_curve

    n: Any = solved.n
    delta: Any = solved.delta
    if over == "n":
        n = np.unique(
            np.linspace(max(1, n // 25), min(max(2 * n, 4), _MOST_PAIRS), 50).astype(np.int64)
        )
    else:
        delta = np.linspace(0, min(2 * abs(delta), solved.discordance) or solved.discordance, 50)
    return power_curve(
        solved.discordance,
        n=n,
        delta=delta,
        alpha=solved.alpha,
        n_tests=solved.n_tests,
        n_threads=n_threads,
    )
