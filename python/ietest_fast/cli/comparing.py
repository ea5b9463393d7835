"""What ``eval`` and ``test`` print of answers in logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import (
    NAMES,
    FiniteRange,
    bundle,
    check_resamples,
    choose_reworded,
    exit_status,
    resampling,
    split_names,
)
from ietest_fast.report.terminal import echo, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.compare.profile import CompareNotes, Comparison, VersionTest
    from ietest_fast.analyses.compare.saying import Extra
    from ietest_fast.analyses.compare.statistic import Statistic
    from ietest_fast.analyses.compare.why import Why
    from ietest_fast.answers import Predictions
    from ietest_fast.answers.logs import ReadLogs
    from ietest_fast.stats import InvarianceTestResult
    from ietest_fast.stats.result import Result

# Options that say how logs are read; ``eval`` and ``test`` share them.


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


log_options = bundle(
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
        help="Instead of answers: columns that say which are right, likewise; in logs of lm-eval "
        "a metric, of Inspect a scorer, or SCORER.KEY where it gives several values.",
    ),
    click.option(
        "--filter", metavar="NAME", help="Of lm-eval's logs.  [default: the first that all have]"
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
        help="Of several answers of a log to an item, compare all, number by number, the first, "
        "or the mean of their scores (with --threshold).",
    ),
    click.option(
        "--common-items",
        is_flag=True,
        help="Compare the items that all logs have, such as those of a run that was cancelled, "
        "and count the others.",
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
        help="What an answer is that is missing or no label; drop leaves its item out.  [default: "
        "wrong in logs that mark answers, error in tables]",
    ),
    click.option("--id-column", help="Match rows by this column instead of by their order."),
    click.option(
        "--gold-column",
        help="Column of gold labels.  [default: label in tables; target in lm-eval's and "
        "Inspect's logs]",
    ),
)
"""How logs are read."""


def read(
    logs: tuple[str, ...], options: Mapping[str, Any], *, keep: Sequence[str | None] = ()
) -> ReadLogs:
    """Read logs as the options say, with further columns to keep, if any are named."""
    from ietest_fast.analyses.compare.profile import choose_unparsed
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
    kept = [options["clusters"], options.get("reworded"), *keep]
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
        unparsed=options["unparsed"] or choose_unparsed([Path(log) for log in logs]),
    )


def list_kept(options: Mapping[str, Any]) -> list[str]:
    """Return the columns of logs that statistics read, but for the gold label, which has a role."""
    from ietest_fast.analyses.compare.statistic import columns_asked
    from ietest_fast.stats.strata import LABEL

    return [name for name in columns_asked(options) if name != LABEL]


# What commands print of a paired test.


def print_test(
    result: Result,
    extra: Extra,
    *,
    verdict: str,
    alpha: float,
    signature: str,
    invariance: InvarianceTestResult | None = None,
    why: Why | None = None,
    details: bool,
) -> None:
    """Print a test for people: first what is shown on the reworded texts, then over all."""
    if invariance is not None and not details:
        _print_answer(invariance, result, extra, why)
        echo(signature)
        return
    if invariance is not None:
        echo(f"{invariance.explanation}\n")
        for name, value in (
            *invariance.detailed_rows(),
            *(why.lines() if why is not None else ()),
        ):
            echo(f"{name:<24} {value}")
        echo()
    said = str(result)
    echo(*said.splitlines())
    if "estimate" in extra:
        echo("", *extra["estimate"][1])
    echo(f"\n{verdict} (alpha = {alpha:g}).")
    # What is said of the reworded texts takes the place of equivalence over all of them.
    above = {"estimate"} if invariance is None else {"estimate", "equivalence"}
    for name, (_, lines) in extra.items():
        for line in lines if name not in above else ():
            if line not in said:  # a warning that the test and equivalence share
                echo(line)
    echo(signature)


def _print_answer(
    invariance: InvarianceTestResult, result: Result, extra: Extra, why: Why | None
) -> None:
    """Print the verdict, what it rests on, what speaks against it, and where the rest is."""
    echo(f"{invariance.headline}\n")
    for name, value in (*invariance.rows(), *(why.lines() if why is not None else ())):
        echo(f"{name:<18} {value}")
    found = getattr(result, "warning", None)
    said = [] if found is None else [f"Warning: {found}."]
    said += invariance.remarks()
    said += [
        line
        for name, (_, lines) in extra.items()
        for line in lines
        if name == "size_given_k" or line.startswith("Warning")
    ]
    for line in dict.fromkeys(said):
        echo(line)
    echo("All that was computed: --details; every number: --json.")


# What ``eval`` and ``test`` print besides, of versions in logs.


def print_statistics(found: Mapping[str, Statistic], *, name: str | None = None) -> None:
    """Print the lines and tables of all statistics that were computed."""
    for each in found.values():
        for part in each.shown(name):
            if isinstance(part, str):
                echo(part)
            else:
                print_table(part)


_COLLAPSED = "Warning: {} has collapsed: it predicts one class, or is not shown to be above chance."


def check_method(options: Mapping[str, Any], clusters: str | None) -> None:
    """Refuse a method that clusters do not have, and resamples of one that draws none."""
    if clusters is None:
        check_resamples(options)
    elif options["method"] == "multinomial":
        raise click.UsageError(
            f"clusters (by the column {clusters}) are tested by the exact law or resampled; "
            "--method multinomial is not for them"
        )


def check_margin_of(predictions: Predictions, margin: float | None) -> None:
    """Refuse a margin for several classifiers on one version, each against the first."""
    if margin is not None and len(predictions.versions) == 1 and len(predictions.groups) > 2:
        raise click.UsageError("--margin is for versions of the same texts, or two classifiers")


def find_roles(files: Sequence[Path], options: Mapping[str, Any]) -> CompareNotes:
    """Return the roles of columns that options name, or the files of answers note."""
    from ietest_fast.analyses.compare.profile import read_roles

    reworded = choose_reworded(options)
    return read_roles(files, clusters=options["clusters"], reworded=reworded)


def compare_logs(
    read: ReadLogs,
    options: Mapping[str, Any],
    *,
    fields: Mapping[str, str] = {},
    files: Sequence[Path] = (),
    told: Mapping[str, Any] = {},
    below: Sequence[str] = (),
) -> int:
    """Test what logs hold, print it, and return the exit status.

    `files` are the logs, which may note the roles of their columns.
    """
    from dataclasses import replace

    from ietest_fast.analyses.compare.profile import choose_clusters, compare_versions
    from ietest_fast.analyses.compare.statistic import take_options

    roles = find_roles(files, options)
    clusters = choose_clusters(read.predictions, None, roles.clusters)
    check_method(options, clusters)
    check_margin_of(read.predictions, options["margin"])
    found = compare_versions(
        read.predictions,
        clusters=clusters,
        method=options["method"],
        alternative=options["alternative"],
        alpha=options["alpha"],
        margin=options["margin"],
        flip_margin=options["flip_margin"],
        reworded=roles.reworded,
        **resampling(options),
        **take_options(options),
    )
    read = replace(read, notes=(*read.notes, *found.notes))
    show = _print_one if len(found.tests) == 1 else _print_several
    show(read, found, options, fields=fields, told=told)
    for line in () if options["as_json"] else below:
        echo(line)
    return exit_status(options, reject=found.reject, alike=found.alike)


def _print_one(
    read: ReadLogs,
    found: Comparison,
    options: Mapping[str, Any],
    *,
    fields: Mapping[str, str],
    told: Mapping[str, Any],
) -> None:
    from ietest_fast.analyses.compare.saying import (
        beside,
        beside_clusters,
        say_result,
        sign_result,
    )

    (test,) = found.tests
    result: Any = test.result
    alpha, margin = found.alpha, options["margin"]
    extra: Extra
    if test.clusters is None:
        extra = beside(result, alpha=alpha, margin=margin)
    else:
        sample = test.pairs.sample
        extra = beside_clusters(
            sample.original_correct,
            sample.transformed_correct,
            test.clusters,
            alpha=alpha,
            margin=margin,
            alternative=result.alternative,
            p_difference=result.p_value,
        )
    signature = sign_result(result, alpha=alpha, fields=fields)
    labels = read.predictions.label_names
    if options["as_json"]:
        why = _find_why(test)
        print_json(
            {
                "compared": found.compared,
                **_unless_none(labels=labels),
                "dropped": read.predictions.dropped,
                "notes": list(read.notes),
                **told,
                **_without_warning(test.to_dict(), told),
                **{name: value for name, (value, _) in extra.items()},
                "why": None if why is None else why.to_dict(),
                "alpha": alpha,
                "signature": signature,
            }
        )
        return
    _print_notes(read)
    verdict = say_result(result, test.reject)
    if test.invariance is None and found.headline:
        echo(f"{found.headline}\n")
    print_test(
        result,
        extra,
        verdict=verdict,
        alpha=alpha,
        signature=signature,
        invariance=test.invariance,
        why=_find_why(test),
        details=options["details"],
    )
    print_statistics(test.statistics)
    _print_changes(found, test, is_brief=not options["details"] and test.invariance is not None)


def _find_why(test: VersionTest) -> Why | None:
    """Return the edits that go with flips, where answers are shown to change."""
    is_other = test.verdict.finding_kind == "differs" and test.invariance is not None
    return test.why if is_other else None


def _print_several(
    read: ReadLogs,
    found: Comparison,
    options: Mapping[str, Any],
    *,
    fields: Mapping[str, str],
    told: Mapping[str, Any],
) -> None:
    from ietest_fast.analyses.compare.saying import comparison_table, say_cochran
    from ietest_fast.stats.paired import write_signature

    first = found.tests[0].result
    signature = write_signature(
        "test",
        n=first.n,
        S=".".join(
            str(part)
            for part in (
                first.n_resamples,
                first.method,
            )
            if part is not None
        ),
        stat="t",
        alt=first.alternative.removesuffix("-sided"),
        mc="holm",
        tests=len(found.tests),
        alpha=f"{found.alpha:g}",
        seed=first.seed,
        **fields,
    )
    if options["as_json"]:
        print_json(
            {
                **_unless_none(labels=read.predictions.label_names),
                "dropped": read.predictions.dropped,
                **told,
                **found.to_dict(),
                "notes": list(read.notes),
                "signature": signature,
            }
        )
        return
    _print_notes(read)
    if found.headline:
        echo(f"{found.headline}\n")
    reference = found.tests[0].pairs.reference
    print_table(comparison_table(found))
    for each in found.cochran:
        echo(say_cochran(each, is_models=found.compared == "models"))
    differ = [test.name for test in found.tests if test.reject]
    echo(
        f"Different from {reference}: {', '.join(differ)}."
        if differ
        else f"No difference from {reference} is shown."
    )
    for test in found.tests:
        print_statistics(test.statistics, name=test.name)
        _print_changes(found, test, name=test.name)
        for line in test.caveats:
            echo(line)
    echo(signature)


def _without_warning(values: dict[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """Return values; their own warning gives way to none if there is none."""
    if values.get("warning") is None and told.get("warning") is not None:
        return {name: value for name, value in values.items() if name != "warning"}
    return values


def _unless_none(**values: Any) -> dict[str, Any]:
    return {name: list(value) for name, value in values.items() if value is not None}


def _print_notes(read: ReadLogs) -> None:
    from ietest_fast.numerals import list_dropped

    for note in (*list_dropped(read.predictions.dropped), *read.notes):
        echo(note)
    if read.notes:
        echo()


def _print_changes(
    found: Comparison, test: VersionTest, *, name: str | None = None, is_brief: bool = False
) -> None:
    before = "" if name is None else f"{name}: "
    if test.pairs.n_unmatched:
        echo(f"{before}{test.pairs.n_unmatched:,} items that one version lacks are left out.")
    if name is None and not is_brief and test.pairs.n_flipped is not None:
        what = "predictions changed" if found.compared == "versions" else "predictions differ"
        echo(f"{test.pairs.n_flipped:,} of {len(test.pairs):,} {what}.")
    if test.collapsed and test.invariance is None:  # which says so first
        who = "the model" if name is None else name
        echo(_COLLAPSED.format(who))
