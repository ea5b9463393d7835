"""Options that say how logs are read; ``eval`` and ``test`` share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import NAMES, FiniteRange, add_options, split_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ietest_fast.answers.logs import ReadLogs

OF_LOGS = (
    "reader",
    "logs-are",
    "prediction-columns",
    "correct-columns",
    "filter",
    "epochs",
    "common-items",
    "task",
    "unparsed",
    "id-column",
    "gold-column",
)
"""Names of the options."""


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says how logs are read."""
    options = [
        click.option(
            "--reader",
            metavar="NAME",
            help="Format of the logs: lm-eval, inspect, helm, table, or one that a package adds.  "
            "[default: told by their content]",
        ),
        click.option(
            "--logs-are",
            type=click.Choice(["versions", "models"]),
            help="What several logs are: versions of the same items, or classifiers on the same "
            "items.  [default: models, if their texts are the same]",
        ),
        click.option(
            "--prediction-columns",
            "-P",
            type=NAMES,
            help="Columns of answers: one for each version in a table, or one for each log. A name "
            "such as doc.label leads into objects.",
        ),
        click.option(
            "--correct-columns",
            "-C",
            type=NAMES,
            help="Instead of answers: columns that say which are right, likewise; in logs of "
            "lm-eval a metric, of Inspect a scorer, or SCORER.KEY where it gives several values.",
        ),
        click.option(
            "--filter",
            metavar="NAME",
            help="Of lm-eval's logs.  [default: the first that all have]",
        ),
        click.option(
            "--threshold",
            type=FiniteRange(min=0, min_open=True),
            help="In logs: scores of at least this count as right, where they are not only 0 and 1 "
            "(partial credit is 0.5). Of a model with one logit: the probability (the logit's "
            "sigmoid) from which its answer is label 1, and not label 0.  [default: of models 0.5]",
        ),
        click.option(
            "--epochs",
            type=click.Choice(["all", "first", "mean"]),
            default="all",
            show_default=True,
            help="Of several answers of a log to an item, compare all, number by number, the "
            "first, or the mean of their scores (with --threshold).",
        ),
        click.option(
            "--common-items",
            is_flag=True,
            help="Compare the items that all logs have, such as those of a run that was "
            "cancelled, and count the others.",
        ),
        click.option(
            "--task",
            metavar="NAME",
            multiple=True,
            help="Of a folder of logs, the task whose log is read. May be given several times.",
        ),
        click.option(
            "--unparsed",
            type=click.Choice(["wrong", "drop", "error"]),
            help="What an answer is that is missing or no label; drop leaves its item out.  "
            "[default: wrong in logs that mark answers, error in tables]",
        ),
        click.option("--id-column", help="Match rows by this column instead of by their order."),
        click.option(
            "--gold-column",
            help="Column of gold labels.  [default: label in tables; target in lm-eval's and "
            "Inspect's logs]",
        ),
    ]
    return add_options(command, options)


def read(
    logs: tuple[str, ...], options: Mapping[str, Any], *, keep: Sequence[str | None] = ()
) -> ReadLogs:
    """Read logs as the options say, with further columns to keep, if any are named."""
    from ietest_fast.answers.logs import read_logs

    columns = options["prediction_columns"]
    sides = (options.get("original_column"), options.get("transformed_column"))
    if any(sides):
        if columns is not None:
            raise click.UsageError(
                "--prediction-columns and --original-column, --transformed-column exclude each "
                "other"
            )
        if len(logs) > 2:
            raise click.UsageError(
                "--original-column and --transformed-column are for one or two logs; name the "
                "columns of more with --prediction-columns"
            )
        columns = sides
    if columns is not None and options["correct_columns"] is not None:
        raise click.UsageError("--correct-columns takes the place of columns of predictions")
    strata = [name for name in options.get("strata", ()) if name != "label"]  # the gold label
    kept = [options["clusters"], options.get("reworded"), *strata, options.get("dose"), *keep]
    return read_logs(
        logs,
        tasks=options["task"],
        reader=options["reader"],
        logs_are=options["logs_are"],
        gold_path=options.get("gold"),
        gold_column=options["gold_column"],
        columns=columns,
        correct_columns=options["correct_columns"],
        id_column=options["id_column"],
        filter=options["filter"],
        threshold=options["threshold"],
        epochs=options["epochs"],
        common_items=options["common_items"],
        keep_columns=tuple(dict.fromkeys(name for name in kept if name is not None)),
        label_names=split_names(options.get("labels")),
        unparsed=options["unparsed"],
    )
