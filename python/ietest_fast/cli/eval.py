"""``ietest-fast eval``: a finished model, by its predictions."""

from __future__ import annotations

from typing import Any

import click

from ietest_fast.cli.options import (
    OpenShare,
    check_margin,
    check_resamples,
    exit_status,
    print_json,
    test_options,
)


@click.command(name="eval")
@click.argument("predictions", type=click.Path())
@click.argument("transformed", required=False, type=click.Path())
@click.option("--gold", type=click.Path(), help="File of the gold labels.  [default: PREDICTIONS]")
@click.option("--gold-column", default="label", show_default=True, help="Column of gold labels.")
@click.option(
    "--original-column",
    help="Column of predictions on the original texts.  [default: original; prediction if there "
    "are two files]",
)
@click.option(
    "--transformed-column",
    help="Column of predictions on the transformed texts.  [default: transformed; prediction if "
    "there are two files]",
)
@click.option("--id-column", help="Match rows by this column instead of by their order.")
@click.option(
    "--labels",
    metavar="A,B,...",
    help="All labels in the order of their numbers.  [default: the integers that occur, or the "
    "names of the gold labels; NLI's for its names and where 0, 1 and 2 are all there are]",
)
@click.option(
    "--margin",
    type=OpenShare(),
    help="Smaller differences count as equivalent.  [default: 0.01]",
)
@test_options
def command(
    *,
    predictions: str,
    transformed: str | None,
    gold: str | None,
    labels: str | None,
    alpha: float,
    as_json: bool,
    fail_on_reject: bool,
    gold_column: str,
    original_column: str | None,
    transformed_column: str | None,
    id_column: str | None,
    margin: float | None,
    **engine: Any,
) -> int:
    """Compare a model's predictions on the original and the transformed version of a test set.

    PREDICTIONS holds the predictions on the original texts, TRANSFORMED those on the transformed
    texts; or one file holds both. Files are CSV, TSV, JSONL or Parquet; labels are names or
    numbers.
    """
    check_margin(margin, alpha=alpha)
    check_resamples(engine)

    from ietest_fast.cli.test import beside, print_test, say
    from ietest_fast.errors import InputError
    from ietest_fast.models.predictions import read_predictions
    from ietest_fast.stats import decide, is_collapsed, paired_test
    from ietest_fast.stats.signature import sign_test

    given = read_predictions(
        predictions,
        transformed,
        gold_path=gold,
        gold_column=gold_column,
        original_column=original_column,
        transformed_column=transformed_column,
        id_column=id_column,
        label_names=None if labels is None else [name.strip() for name in labels.split(",")],
    )
    if len(given.sample) < 2:
        raise InputError(
            f"a paired test needs at least two rows, not {len(given.sample)}", path=predictions
        )
    engine["method"] = engine["method"] or "exact"
    result = paired_test(given.sample, **engine)
    decision = decide([result.p_value], alpha=alpha)
    signature = sign_test(result)
    collapsed = is_collapsed(given.original, given.gold)
    extra = beside(result, alpha=alpha, margin=margin)
    n_changed = int((given.original != given.transformed).sum())
    if as_json:
        print_json(
            {
                "accuracy_original": result.counts.accuracy_original,
                "accuracy_transformed": result.counts.accuracy_transformed,
                "predictions_changed": n_changed,
                "collapsed": collapsed,
                "labels": list(given.label_names),
                "dropped": given.dropped,
                **result.to_dict(),
                **{name: value for name, (value, _) in extra.items()},
                "alpha": alpha,
                "reject": decision.reject,
                "signature": signature,
            }
        )
    else:
        for reason, count in given.dropped.items():
            click.echo(f"{count:,} rows dropped: {reason}")
        verdict = say(result, decision.reject)
        print_test(result, extra, verdict=verdict, alpha=alpha, signature=signature)
        click.echo(f"{n_changed:,} of {result.n:,} predictions changed.")
        if collapsed:
            click.echo("Careful: the model predicts one class or is at chance; it has collapsed.")
    return exit_status(reject=decision.reject, fail_on_reject=fail_on_reject)
