"""``ietest-fast test``: the paired test alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import exit_status, print_json, test_options

if TYPE_CHECKING:
    from ietest_fast.stats import PairedTestResult


class CountsType(click.ParamType[Any]):
    """Four counts separated by commas."""

    name = "n11,n10,n01,n00"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the counts; what they may be is checked later, with the same words as elsewhere."""
        if isinstance(value, tuple):
            return value
        try:
            counts = tuple(int(part) for part in str(value).split(","))
        except ValueError:
            counts = ()
        if len(counts) != 4:
            self.fail(f"{value!r} is not four integers separated by commas", param, ctx)
        return counts


@click.command(name="test")
@click.argument("file", required=False, type=click.Path())
@click.option("--counts", type=CountsType(), help="Test these counts instead of a file.")
@click.option("--original", default="A", show_default=True, help="Column: right on the original?")
@click.option(
    "--transformed", default="B", show_default=True, help="Column: right on the transformed text?"
)
@test_options
def command(
    *,
    file: str | None,
    counts: tuple[int, int, int, int] | None,
    original: str,
    transformed: str,
    alpha: float,
    as_json: bool,
    fail_on_reject: bool,
    **engine: Any,
) -> int:
    """Test whether a classifier is equally often right on two versions of the same texts.

    FILE (CSV, TSV, JSONL or Parquet) has two columns of outcomes, 0 or 1: is the classifier right
    on the original text, and on its transformed version? With --counts no file is needed.
    """
    if (file is None) == (counts is None):
        raise click.UsageError("give either a FILE or --counts n11,n10,n01,n00")

    from ietest_fast.stats import PairedCounts, decide, paired_test
    from ietest_fast.stats.signature import sign_test

    if counts is not None:
        table = PairedCounts(*counts)
    else:
        from ietest_fast.models.predictions import read_outcomes

        assert file is not None  # noqa: S101 - one of the two is given
        table = read_outcomes(file, original=original, transformed=transformed).counts
    result = paired_test(table, **engine)
    decision = decide([result.p_value], alpha=alpha)
    signature = sign_test(result)
    if as_json:
        print_json(
            {**result.to_dict(), "alpha": alpha, "reject": decision.reject, "signature": signature}
        )
    else:
        print_test(result, alpha=alpha, reject=decision.reject, signature=signature)
    return exit_status(reject=decision.reject, fail_on_reject=fail_on_reject)


def print_test(result: PairedTestResult, *, alpha: float, reject: bool, signature: str) -> None:
    """Print a test for people."""
    from ietest_fast.stats.matched import format_t

    counts = result.counts
    replicates = "" if result.n_replicates is None else f", S = {result.n_replicates:,}"
    monte_carlo = "" if result.n_replicates is None else "  [(c+1)/(S+1)]"
    rows = [
        ("pairs", f"{counts.n:,}"),
        ("right on both", f"{counts.n11:,}"),
        ("only on the original", f"{counts.n10:,}"),
        ("only on the transformed", f"{counts.n01:,}"),
        ("wrong on both", f"{counts.n00:,}"),
        ("accuracy, original", f"{counts.accuracy_original:.4f}"),
        ("accuracy, transformed", f"{counts.accuracy_transformed:.4f}"),
        ("delta", f"{counts.delta:+.4f}"),
        ("discordant pairs", f"{counts.k:,} ({counts.discordance_rate:.2%})"),
        ("t", format_t(result.t)),
        ("p-value", f"{result.p_value:.4g}{monte_carlo}"),
        ("  eq. 14 of the paper", f"{result.p_paper:.4g}"),
        ("  symmetric", f"{result.p_symmetric:.4g}{monte_carlo}"),
        ("  McNemar, exact", f"{result.p_mcnemar_exact:.4g}"),
        ("method", f"{result.method}{replicates}"),
    ]
    for name, value in rows:
        click.echo(f"{name:<24} {value}")
    if result.warning is not None:
        click.echo(f"\nCareful: {result.warning}.")
    verdict = "The accuracies differ" if reject else "No difference of the accuracies is shown"
    click.echo(f"\n{verdict} (alpha = {alpha:g}).")
    click.echo(signature)
