"""``ietest-fast consistency``: how alike a finished model answers paraphrases of the same items."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.amounts import (
    amount_options,
    consistency_of_run,
    is_run,
    note_curve,
)
from ietest_fast.cli.consistency_logs import read_answers, read_test_sets
from ietest_fast.cli.consistency_options import (
    OF_MODELS,
    check_together,
    interval_options,
    measure_options,
    paraphrase_options,
)
from ietest_fast.cli.consistency_parts import (
    check_parts,
    check_sources,
    note_parts_of,
    part_options,
    read_sources,
)
from ietest_fast.cli.consistency_texts import run_model
from ietest_fast.cli.logs import log_options
from ietest_fast.cli.models import (
    check_out,
    describe_run,
    load_model,
    model_options,
    need_one,
    say_run,
)
from ietest_fast.cli.options import check_not_given, csv_option
from ietest_fast.report.terminal import echo, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.consistency.curves import ConsistencyCurve
    from ietest_fast.analyses.consistency.partition import ComparedPair
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile

_WANTED = "a file: --test FILE, with paraphrases, or with --phi with labelled texts"


@click.command(name="consistency")
@click.argument("logs", metavar="[LOG]...", nargs=-1, type=click.Path())
@model_options
@paraphrase_options
@measure_options
@part_options
@amount_options
@log_options
@interval_options
@csv_option()
def command(
    *,
    logs: tuple[str, ...],
    onnx: Path | None,
    model: str | None,
    test: Path | None,
    test_sets: tuple[Path, ...],
    n_strata: int | None,
    intervals: str,
    confidence_level: float,
    as_json: bool,
    **options: Any,
) -> int:
    """Measure how alike a finished model answers paraphrases of the same items.

    With --test and --onnx or --model, the model answers a file of paraphrases (a row for each
    wording, with a column `item`), or those that --phi makes of a labelled file, each distinct
    input once. Otherwise each LOG holds the answers of a model: a table with a row for each item
    and version, such as --out has written, or ParaNLU's published predictions; or the one LOG is
    the folder of a run, and P_C is shown over the number of training rows.
    """
    if is_run(logs):
        return consistency_of_run(
            Path(logs[0]),
            _resampling(confidence_level, options),
            method=intervals,
            as_json=as_json,
        )
    if n_strata is not None and not test_sets:
        raise click.UsageError("--strata needs --test-set")
    runs_model = onnx is not None or model is not None
    check_parts(options, runs_model=runs_model)
    check_sources(options, logs=logs, test=test)
    if options["sources"] and options["subset"] is None:
        options["subset"] = "source"
    files = [path for _, path in options["sources"]]
    told: dict[str, Any] = {}
    below: list[str] = []
    if not runs_model:
        if not logs and not files:
            raise click.UsageError("give LOGs of predictions, or a model by --onnx and --test")
        check_not_given(*OF_MODELS, because="is for a model that is run; say --onnx or --model")
        check_out(options["out"], [*map(Path, logs), *files, *test_sets, options["partial_input"]])
        answers = read_sources(options) if files else read_answers(logs, options)
    else:
        given = files or [need_one(logs, onnx, model, test, file=_WANTED)]
        check_together(given, test_sets, options)
        own, found = run_model(load_model(onnx, model, options), given[0], options)
        answers, told, below = (own,), describe_run(found), [say_run(found)]
    from ietest_fast.analyses.consistency.curves import curves_of_answers
    from ietest_fast.analyses.consistency.file import write_wordings
    from ietest_fast.analyses.consistency.measure import (
        compare_models,
        measure_wordings,
        weigh_by_test_sets,
    )
    from ietest_fast.analyses.consistency.reading import join_answers

    answers = note_parts_of(answers, options, runs_model=runs_model)
    answers = note_curve(answers, options)
    if test_sets:
        answers = weigh_by_test_sets(answers, read_test_sets(test_sets), n_strata=n_strata)
    resampling = _resampling(confidence_level, options)
    profiles = measure_wordings(
        answers,
        clusters=options["clusters"],
        subset=options["subset"],
        method=intervals,
        **resampling,
    )
    pairs, remarks = compare_models(profiles, **resampling) if len(profiles) > 1 else ((), ())
    curves = curves_of_answers(answers, profiles, **resampling)
    if options["out"] is not None:
        joined = join_answers(answers).told(options["clusters"], options["subset"])
        write_wordings(joined, options["out"])
    if as_json:
        print_json(
            {
                **told,
                "profiles": [profile.to_dict() for profile in profiles],
                "pairs": [pair.to_dict() for pair in pairs],
                "curves": [curve.to_dict() for curve in curves],
                "remarks": list(remarks),
            }
        )
    else:
        _print(profiles, pairs, curves, [*remarks, *below])
    return 0


def _resampling(confidence_level: float, options: Mapping[str, Any]) -> dict[str, Any]:
    from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES

    return {
        "confidence_level": confidence_level,
        "n_resamples": options["n_resamples"] or DEFAULT_N_RESAMPLES,
        "rng": options["seed"],
        "n_threads": options["n_threads"],
    }


def _print(
    profiles: Sequence[ConsistencyProfile],
    pairs: Sequence[ComparedPair],
    curves: Sequence[ConsistencyCurve],
    below: Sequence[str],
) -> None:
    from ietest_fast.report.amount_tables import amount_tables
    from ietest_fast.report.consistency import say_remarks
    from ietest_fast.report.consistency_tables import all_tables

    for table in [*amount_tables(curves), *all_tables(profiles, pairs)]:
        print_table(table)
    for line in [*say_remarks(profiles), *below]:
        echo(line)
