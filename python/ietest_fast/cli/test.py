"""``ietest-fast test``: every paired test, from a file's columns or from four counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.comparing import (
    OF_LOGS,
    check_method,
    compare_logs,
    list_kept,
    log_options,
    print_statistics,
    print_test,
    read,
)
from ietest_fast.cli.options import (
    ASKING,
    COUNTS,
    LEVELS,
    NAMES,
    FiniteRange,
    check_alike,
    check_margin,
    check_not_given,
    choose_reworded,
    csv_option,
    exit_status,
    invariance_options,
    is_given,
    resampling,
    statistics_options,
    test_options,
)
from ietest_fast.report.progress import show_stage
from ietest_fast.report.terminal import print_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ietest_fast.analyses.compare.columns import ColumnsComparison


@click.command(name="test")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path())
@click.option("--counts", type=COUNTS, help="Test these counts instead of a file.")
@click.option(
    "--original",
    type=NAMES,
    default="A",
    show_default=True,
    help="Column: right on the original? Or its score. Several columns: several classifiers.",
)
@click.option(
    "--transformed",
    type=NAMES,
    default="B",
    show_default=True,
    help="Column: right on the transformed text? Or its score. As many columns.",
)
@click.option(
    "--versions",
    type=NAMES,
    help="Instead of the two: one column of outcomes for each of several versions (Cochran's Q).",
)
@click.option("--clusters", help="Column whose equal values belong together (premise, annotator).")
@click.option("--scores", is_flag=True, help="Take values for scores even if all are 0 and 1.")
@click.option(
    "--margin",
    type=FiniteRange(min=0, min_open=True),
    help="Smaller differences count as equivalent.  [default for outcomes: 0.01]",
)
@click.option(
    "--null",
    type=click.Choice(["symmetric", "studentised"]),
    help="Null law of t, for scores.  [default: the one that fits their skewness]",
)
@click.option("--quantiles", type=LEVELS, default=(), help="Of t*, for scores.")
@log_options
@invariance_options
@statistics_options
@test_options
@csv_option()
def command(*, files: tuple[str, ...], **options: Any) -> int:
    """Test whether a classifier does equally well on two versions of the same texts.

    FILE (CSV, TSV, JSONL or Parquet) has two columns: outcomes (0 or 1: is the classifier right on
    the original text, and on its transformed version?) or scores (any numbers). Several columns on
    each side are several classifiers, tested together. With --counts no file is needed.

    FILEs may also be logs of lm-evaluation-harness, Inspect or HELM, or what eval --out has
    written: one file for each version or classifier, or one with all; see `ietest-fast eval`.
    """
    if bool(files) == (options["counts"] is not None):
        raise click.UsageError("give either a FILE or --counts n11,n10,n01,n00")
    if files and _are_logs(files):
        of_tables = ("original", "transformed", "versions", "scores", "quantiles", "null")
        check_not_given(*of_tables, because="is for a table of outcomes or scores")
        check_margin(options)
        check_alike(options)
        logs = read(files, options, keep=list_kept(options))
        return compare_logs(logs, options, files=[Path(file) for file in files])
    check_not_given(*OF_LOGS, "threshold", because="is for logs of answers")
    from ietest_fast.analyses.compare.columns import (
        choose_columns,
        compare_columns,
        read_compared,
    )
    from ietest_fast.analyses.compare.saying import say_result, sign_result
    from ietest_fast.analyses.compare.statistic import take_options
    from ietest_fast.answers.measurements import Measurements
    from ietest_fast.stats import PairedCounts

    sides = [options[name] for name in ("original", "transformed", "versions")]
    if files and sides == [("A",), ("B",), None]:
        original, transformed = choose_columns(files[0])
        options["original"], options["transformed"] = (original,), (transformed,)
    _check_usage(options)
    check_alike(options)
    of_columns = {"are_versions": options["versions"] is not None, **take_options(options)}
    given: Measurements | PairedCounts
    if files:
        given = read_compared(
            files[0],
            options["versions"] or (*options["original"], *options["transformed"]),
            are_named=any(is_given(name) for name in ("original", "transformed", "versions")),
            clusters=options["clusters"],
            reworded=options["reworded"],
            scores=options["scores"],
            **of_columns,
        )
    else:
        given = PairedCounts(*options["counts"])
    _check_tested(options, are_scores=isinstance(given, Measurements) and given.are_scores)
    with show_stage("Testing"):
        found = compare_columns(
            given,
            method=options["method"],
            alternative=options["alternative"],
            alpha=options["alpha"],
            margin=options["margin"],
            flip_margin=options["flip_margin"],
            all_reworded=choose_reworded(options) is True,
            null=options["null"],
            quantiles=options["quantiles"],
            **resampling(options),
            **of_columns,
        )
    if found.invariance is None:
        of_outcomes = ("reworded", "all-reworded", "flip-margin", "fail-unless-alike")
        check_not_given(*of_outcomes, because="is for two columns of outcomes, or counts")
        check_not_given(*ASKING, because="is for two columns of outcomes")
    result, alpha = found.result, options["alpha"]
    signature = sign_result(result, alpha=alpha, n_classifiers=len(options["original"]))
    if options["as_json"]:
        about = {"alpha": alpha, "reject": found.reject, "signature": signature}
        print_json(_list_numbers(found, about))
    else:
        print_test(
            result,
            found.extra,
            verdict=say_result(result, found.reject),
            alpha=alpha,
            signature=signature,
            invariance=found.invariance,
            details=options["details"],
        )
        print_statistics(found.statistics)
    alike = found.invariance is not None and found.invariance.is_alike
    return exit_status(options, reject=found.reject, alike=alike)


def _list_numbers(found: ColumnsComparison, about: dict[str, Any]) -> dict[str, Any]:
    """Return every number of a test by name, and what it is about at the end."""
    from ietest_fast.analyses.compare.statistic import write_statistics

    numbers = {
        **found.result.to_dict(),
        **{name: value for name, (value, _) in found.extra.items()},
        "invariance": None if found.invariance is None else found.invariance.to_dict(),
    }
    return numbers | write_statistics(found.statistics, beside=numbers | about) | about


def _are_logs(files: tuple[str, ...]) -> bool:
    """Whether files hold answers, rather than columns of outcomes or scores."""
    if len(files) > 1 or Path(files[0]).is_dir():
        return True
    if any(is_given(name) for name in ("original", "transformed", "versions", "scores")):
        return False
    if any(is_given(name.replace("-", "_")) for name in (*OF_LOGS, "threshold")):
        return True
    from ietest_fast.answers.readers import find_reader
    from ietest_fast.answers.readers.tables import holds_versions

    name, _ = find_reader(files[0])
    return name != "table" or holds_versions(files[0])


def _check_usage(options: Mapping[str, Any]) -> None:
    original, transformed = options["original"], options["transformed"]
    versions = options["versions"]
    if options["counts"] is not None:
        for name in ("clusters", "scores", "quantiles", "null", "reworded", *ASKING):
            if options[name]:
                raise click.UsageError(f"--{name} needs a file; counts are of independent pairs")
        if versions is not None:
            raise click.UsageError("--versions needs a file")
        check_not_given("original", "transformed", because="needs a file; counts have no columns")
    if len(original) != len(transformed):
        raise click.UsageError(
            f"--original names {len(original)} columns, --transformed {len(transformed)}; each "
            "classifier needs one of both"
        )
    several = versions is not None or len(original) > 1
    for name in ("margin", "quantiles", "null"):
        if options[name] and several:
            raise click.UsageError(f"--{name} is for one pair of columns")
    if versions is not None:
        _check_usage_of_versions(options)


def _check_usage_of_versions(options: Mapping[str, Any]) -> None:
    check_not_given("original", "transformed", because="and --versions exclude each other")
    if len(options["versions"]) < 2:
        raise click.UsageError("--versions needs at least two columns")
    if options["clusters"] or options["scores"]:
        raise click.UsageError("--versions compares outcomes of independent texts")
    if options["alternative"] != "two-sided":
        raise click.UsageError("Cochran's Q has no direction: leave --alternative out")


def _check_tested(options: Mapping[str, Any], *, are_scores: bool) -> None:
    """Refuse what the test of these columns, or counts, does not have."""
    check_margin(options, are_scores=are_scores)
    for name in ("quantiles", "null"):
        if options[name] and not are_scores:
            raise click.UsageError(f"--{name} is of scores; these columns hold outcomes")
    method, several = options["method"], len(options["original"]) > 1
    if several or are_scores:
        if method not in {None, "resample"}:
            what = "several classifiers" if several else "scores"
            raise click.UsageError(f"{what} are resampled; --method {method} is not for them")
    elif options["versions"] is None or method is not None:
        check_method(options, options["clusters"])
