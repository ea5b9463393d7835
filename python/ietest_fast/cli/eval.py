"""``ietest-fast eval``: a finished model, by itself or by its predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.comparing import (
    OF_LOGS,
    check_margin_of,
    check_method,
    compare_logs,
    find_roles,
    list_kept,
    log_options,
    read,
)
from ietest_fast.cli.options import (
    FILE,
    OF_MODELS,
    check_alike,
    check_margin,
    check_not_given,
    check_out,
    choose_phis,
    clusters_option,
    csv_option,
    invariance_options,
    load_model,
    margin_option,
    model_options,
    need_one,
    read_label_map,
    runs_model,
    split_names,
    statistics_options,
    test_options,
    word_options,
)
from ietest_fast.report.progress import show_progress

if TYPE_CHECKING:
    from ietest_fast.analyses.compare.profile import CompareNotes
    from ietest_fast.answers import Predictions
    from ietest_fast.answers.asking import ModelAnswers
    from ietest_fast.models import TextClassifier


# Of texts that are transformed here.
_OF_TEXTS = ("phi", "pos", "wordnet-only", "sense-check", "lexicon-from")
# Options of a model that is run; without one they would be ignored.
_OF_MODELS = (*OF_MODELS, "transformed-test", *_OF_TEXTS, "text-columns")
# And of predictions made elsewhere.
_OF_PREDICTIONS = (
    *(name for name in OF_LOGS if name != "id-column"),
    "gold",
    "original-column",
    "transformed-column",
    "labels",
)


@click.command(name="eval")
@click.argument("logs", metavar="[LOG]...", nargs=-1, type=click.Path())
@model_options
@click.option(
    "--transformed-test",
    type=FILE,
    help="The same rows transformed, such as `ietest-fast transform` writes them.  "
    "[default: transformed here]",
)
@click.option(
    "--phi",
    metavar="NAME[:option=value,...]",
    multiple=True,
    help="How texts are transformed (`ietest-fast transform --list`). Given several times, several "
    "versions are compared.  [default: syn.careful]",
)
@word_options
@click.option(
    "--lexicon-from",
    metavar="TRAIN",
    type=FILE,
    multiple=True,
    help="A file that the transformation learns from.  [default: the test file]",
)
@log_options
@click.option("--gold", type=click.Path(), help="File of the gold labels.  [default: the logs]")
@clusters_option
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
@click.option(
    "--labels",
    metavar="A,B,...",
    help="All labels in the order of their numbers.  [default: the integers that occur, or the "
    "names of the gold labels; NLI's for its names and where 0, 1 and 2 are all there are]",
)
@margin_option
@invariance_options
@statistics_options
@test_options
@csv_option()
def command(*, logs: tuple[str, ...], **options: Any) -> int:
    """Compare a model's answers on the original and the transformed version of a test set.

    With --test and --onnx or --model the model is run. Otherwise each LOG holds answers: of
    lm-evaluation-harness (--log_samples), of Inspect (.eval, .json), of HELM (scenario_state.json),
    or a table (CSV, TSV, JSONL, Parquet) of labels by name or number. Several logs are versions of
    the same items, the original first, or classifiers on the same items; one table holds a column
    for each version. A folder stands for the log of a --task in it.
    """
    check_margin(options)
    check_alike(options)
    check_method(options, options["clusters"])
    if runs_model(options):
        return _ask(need_one(logs, options), options)
    if not logs:
        raise click.UsageError("give LOGs of predictions, or a model by --onnx and --test")
    check_not_given(*_OF_MODELS, because="is for a model that is run; say --onnx or --model")
    gold = options["gold"]
    check_out(options["out"], [*map(Path, logs), None if gold is None else Path(gold)])
    found = read(logs, options, keep=[*list_kept(options), *options["keep_columns"]])
    check_margin_of(found.predictions, options["margin"])
    files = [Path(log) for log in logs]
    if options["out"] is not None:
        _write(found.predictions, find_roles(files, options), options["out"])
    return compare_logs(found, options, files=files)


def _ask(test: Path, options: dict[str, Any]) -> int:
    """Run a model, and compare its answers."""
    from ietest_fast.answers.logs import ReadLogs

    check_not_given(*_OF_PREDICTIONS, because="is for predictions made elsewhere")
    if options["transformed_test"] is not None:
        check_not_given(*_OF_TEXTS, because="is for texts transformed here")
    check_out(options["out"], [test, options["transformed_test"], *options["lexicon_from"]])
    given = _run(load_model(options), test, options)
    return compare_logs(
        ReadLogs(predictions=given.predictions, notes=()),
        options,
        fields=given.identity,
        told=_told(given),
        below=_say(given),
    )


def _run(model: TextClassifier, test: Path, options: dict[str, Any]) -> ModelAnswers:
    """Run the model on all versions of the test set, and write what was asked for."""
    from ietest_fast.analyses.compare.statistic import columns_asked
    from ietest_fast.answers.asking import evaluate
    from ietest_fast.answers.versions import read_version
    from ietest_fast.corpus import read_corpus
    from ietest_fast.errors import InputError
    from ietest_fast.models.label_map import match_labels
    from ietest_fast.stats.strata import list_file_columns

    id_column, clusters = options["id_column"], options["clusters"]
    texts = split_names(options["text_columns"])
    grouped = list_file_columns(columns_asked(options))
    kept = [*options["keep_columns"], *([clusters] if clusters else []), *grouped]
    kept = list(dict.fromkeys(kept))
    ids = [] if id_column is None else [id_column]
    corpus = read_corpus(test, text_columns=texts, keep_columns=list(dict.fromkeys([*ids, *kept])))
    if len(corpus) < 2:
        raise InputError(
            f"a paired test needs at least two labelled rows, not {len(corpus)}", path=test
        )
    label_map = read_label_map(options)
    # Before texts are transformed, which takes longer.
    match_labels(model.labels, corpus.label_names, label_map=label_map)
    only = options["input"]
    if only is not None and only not in corpus.text_columns:
        raise InputError(
            f"--input {only}: the columns of texts are {', '.join(corpus.text_columns)}", path=test
        )
    phi: Any
    if options["transformed_test"] is not None:
        phi = read_version(corpus, options["transformed_test"], id_column=id_column)
    else:
        phi = choose_phis(options["phi"], options)
        phi = phi[0] if len(phi) == 1 else phi
    learn_from = [
        read_corpus(file, text_columns=corpus.text_columns) for file in options["lexicon_from"]
    ]
    with show_progress() as progress:
        bar = progress.count("Running the model, inputs")
        evaluation = evaluate(
            model,
            corpus,
            phi,
            learn_from=learn_from,
            label_map=label_map,
            text_columns=None if only is None else (only,),
            id_column=id_column,
            keep_columns=kept,
            n_threads=options["n_threads"],
            on_start=bar.start,
            on_batch=bar.advance,
        )
    if options["out"] is not None:
        _write(evaluation.predictions, find_roles([], options), options["out"])
    return evaluation


def _write(predictions: Predictions, roles: CompareNotes, out: Path) -> None:
    """Write answers, and beside them the roles of columns, by which the page has to judge."""
    from ietest_fast.answers.file import NotedAnswers, write_answers

    write_answers(NotedAnswers(predictions=predictions, notes=roles), out)


def _told(given: ModelAnswers) -> dict[str, Any]:
    """Return what a model that was run has to say, for JSON."""
    changed = dict(given.n_changed)
    return {
        "rows_transformed": changed if len(changed) > 1 else next(iter(changed.values())),
        "backend": given.backend,
        "inputs_run": given.scores.n_inputs,
        "tokens": given.scores.n_tokens,
        "seconds": given.scores.seconds,
        "warning": given.warning,
        "warnings": list(given.warnings),
    }


def _say(given: ModelAnswers) -> list[str]:
    """Return what a model that was run has to say, for people."""
    scores = given.scores
    lines = [
        f"{changed:,} of {len(given.predictions.select(version=name)):,} rows were transformed"
        + (f" by {name}." if len(given.n_changed) > 1 else ".")
        for name, changed in given.n_changed.items()
    ]
    tokens = f", {scores.n_tokens / scores.seconds:,.0f} tokens/s" if scores.n_tokens else ""
    lines.append(
        f"{scores.n_inputs:,} different inputs of {scores.n_rows:,} were run by {given.backend} "
        f"in {scores.seconds:.1f} s ({scores.n_rows / scores.seconds:,.0f} texts/s{tokens})."
    )
    return [*lines, *([] if given.warning is None else [given.warning]), *given.remarks]
