"""What ``eval`` and ``test`` print of strata, and of what grows with a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.report.terminal import echo, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.stats import DoseResponseResult, StratifiedResult


def print_closer(
    strata: Sequence[StratifiedResult], dose: DoseResponseResult | None, *, name: str | None = None
) -> None:
    """Print a table for each column of strata, and the rows of the dose."""
    from ietest_fast.report.strata import strata_table

    for each in strata:
        echo()
        print_table(strata_table(each, whose=name))
        echo(each.explanation)
    if dose is not None:
        shown = str(dose) if name is None else f"{name}: {dose}"
        echo("", *shown.splitlines())
