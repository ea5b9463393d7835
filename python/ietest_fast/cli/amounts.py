"""Curves of consistency over the amount of data, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import add_options, check_only_given
from ietest_fast.report.terminal import print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ietest_fast.analyses.consistency.file import ConsistencyAnswers

#: What the folder of a run is measured with; all other options are for logs.
_OF_RUNS = ("intervals", "n-resamples", "seed", "threads", "confidence-level", "json")


def amount_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how much data models have seen."""
    options = [
        click.option(
            "--amounts",
            metavar="N,N,...",
            help="How much data each model has seen, in the order of the LOGs, such as "
            "10M,100M,1B or 1%,10%,100%: also show P_C over it.",
        ),
        click.option(
            "--amount-column",
            metavar="NAME",
            help="The same from a column of numbers in the LOGs.",
        ),
        click.option(
            "--amounts-of",
            metavar="TEXT",
            help="What the amounts are of, such as `pretraining tokens`.  [default: the name "
            "of --amount-column, or `amount of data`]",
        ),
    ]
    return add_options(command, options)


def note_curve(
    answers: Sequence[ConsistencyAnswers], options: Mapping[str, Any]
) -> tuple[ConsistencyAnswers, ...]:
    """Note what the options say of the amount of data that models have seen."""
    amounts, column, of = (options[name] for name in ("amounts", "amount_column", "amounts_of"))
    if amounts is None and column is None:
        if of is not None:
            raise click.UsageError("--amounts-of needs --amounts or --amount-column")
        return tuple(answers)
    if amounts is not None and column is not None:
        raise click.UsageError("--amounts or --amount-column, not both")
    from ietest_fast.analyses.consistency.amounts import parse_amounts
    from ietest_fast.analyses.consistency.curves import note_amounts, read_amounts
    from ietest_fast.errors import InputError

    if column is not None:
        return read_amounts(answers, column, of=of)
    try:
        found = parse_amounts(amounts.split(","))
    except InputError as error:
        raise click.UsageError(f"--amounts: {error}") from error
    return note_amounts(answers, found.values, of=of, in_percent=found.in_percent)


def is_run(logs: Sequence[str]) -> bool:
    """Whether the logs are the folder of a run; refuse it beside others."""
    folders = [log for log in logs if Path(log).is_dir()]
    runs = [log for log in folders if (Path(log) / "results.json").is_file()]
    if runs and len(logs) > 1:
        raise click.UsageError(f"{runs[0]} is the folder of a run; give it alone")
    return bool(runs)


def consistency_of_run(
    folder: Path, resampling: Mapping[str, Any], *, method: str, as_json: bool
) -> int:
    """Measure and print the consistency of the classifiers of a run."""
    check_only_given(*_OF_RUNS, because="is for LOGs; this is the folder of a run")
    from ietest_fast.analyses.consistency.charts import amount_tables
    from ietest_fast.experiment.results import read_results
    from ietest_fast.experiment.run_consistency import measure_run
    from ietest_fast.experiment.view.runs import name_models

    results = read_results(folder)
    curves = measure_run(results, names=name_models(results), method=method, **resampling)
    if as_json:
        print_json({"curves": [each.to_dict() for each in curves]})
        return 0
    for table in amount_tables(curves, of_runs=True):
        print_table(table)
    return 0
