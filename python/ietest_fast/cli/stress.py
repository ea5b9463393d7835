"""``ietest-fast stress``: a finished model on a suite of stress tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.logs import OF_LOGS, log_options, read
from ietest_fast.cli.models import check_out, load_model, model_options, show_progress
from ietest_fast.cli.options import (
    NAMES,
    OpenShare,
    check_margin,
    check_not_given,
    exit_status,
    print_json,
    print_table,
    test_options,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.corpus import Corpus
    from ietest_fast.evaluation.predictions import Predictions
    from ietest_fast.evaluation.running import Evaluation
    from ietest_fast.evaluation.stress_file import StressRun
    from ietest_fast.evaluation.stress_profile import StressProfile
    from ietest_fast.evaluation.suite import StressTest, Suite
    from ietest_fast.models import TextClassifier

_FILE = click.Path(path_type=Path)

# Of a model that is run.
_OF_MODELS = (
    "test",
    "tokenizer",
    "label-map",
    "input",
    "text-columns",
    "provider",
    "runtime",
    "onnx-inputs",
    "onnx-output",
    "precision",
    "max-length",
    "out",
    "keep-columns",
    "with",
    "suite",
    "rules",
    "quantities",
    "quantities-column",
    "lexicon-from",
    "write",
)


@click.command(name="stress")
@click.argument("logs", metavar="[LOG]...", nargs=-1, type=click.Path())
@model_options
@click.option(
    "--with",
    "others",
    type=NAMES,
    default=(),
    metavar="NAME[,...]",
    help="More tests beside the paper's six: any transformation (`ietest-fast transform --list`).",
)
@click.option(
    "--suite",
    type=_FILE,
    help="Run these tests instead of the paper's six: a TOML file with a table [tests].",
)
@click.option(
    "--rules",
    type=click.Choice(["careful", "paper"]),
    help="Of the paper's six: careful, or exactly as published.  [default: careful]",
)
@click.option(
    "--quantities",
    metavar="FILE",
    type=_FILE,
    help="Make the test numerical of these texts, such as AQuA-RAT's word problems.  [default: the "
    "test file]",
)
@click.option(
    "--quantities-column",
    metavar="NAME",
    help="Their column.  [default: the only one with texts, or text, sentence, question or "
    "premise]",
)
@click.option(
    "--train",
    metavar="FILE",
    type=_FILE,
    help="What the model was trained on: say which antonyms its contradictions show.",
)
@click.option(
    "--lexicon-from",
    metavar="TRAIN",
    type=_FILE,
    multiple=True,
    help="A file that transformations learn from.  [default: the test file]",
)
@click.option(
    "--by",
    "group_by",
    metavar="COLUMN",
    help="Also give accuracies by this column, such as genre.",
)
@click.option(
    "--clusters",
    metavar="COLUMN",
    help="Items with equal values in this column belong together (premise, annotator).",
)
@click.option(
    "--margin",
    type=OpenShare(),
    help="Smaller differences count as equivalent.  [default: 0.01]",
)
@click.option(
    "--write",
    "folder",
    metavar="FOLDER",
    type=_FILE,
    help="Write the texts of each test to a Parquet file in this new folder.",
)
@log_options
@test_options
def command(
    *,
    logs: tuple[str, ...],
    onnx: Path | None,
    model: str | None,
    test: Path | None,
    alpha: float,
    as_json: bool,
    fail_on_reject: bool,
    margin: float | None,
    **options: Any,
) -> int:
    """Run a finished model on stress tests, and compare it with itself on the originals.

    With --test and --onnx or --model, the texts of six tests are made and the model is run: once
    for each distinct input. Otherwise each LOG holds answers, such as those that --out has written,
    with a version `original`.
    """
    check_margin(margin, alpha=alpha)
    told: dict[str, Any]
    if onnx is None and model is None:
        if not logs:
            raise click.UsageError("give LOGs of predictions, or a model by --onnx and --test")
        check_not_given(*_OF_MODELS, because="is for a model that is run; say --onnx or --model")
        run, predictions = _read(logs, options)
        told, below = {}, []
    else:
        _check(logs, onnx, model, test, options)
        assert test is not None  # noqa: S101 - _check has seen to it
        run, found = _run(load_model(onnx, model, options), test, options)
        predictions, told, below = found.predictions, _told(found), _say(found)
    from ietest_fast.evaluation.stress import measure_stress

    profiles = measure_stress(
        predictions,
        group_by=run.group_by,
        clusters=run.clusters,
        empty=run.empty,
        alpha=alpha,
        margin=margin,
        method=options["method"],
        n_resamples=options["n_resamples"],
        rng=options["seed"],
        alternative=options["alternative"],
        n_threads=options["n_threads"],
    )
    reject = any(profile.reject for profile in profiles)
    if as_json:
        print_json({**told, "profiles": [profile.to_dict() for profile in profiles]})
    else:
        _print(profiles, below)
    return exit_status(reject=reject, fail_on_reject=fail_on_reject)


def _check(
    logs: Sequence[str],
    onnx: Path | None,
    model: str | None,
    test: Path | None,
    options: Mapping[str, Any],
) -> None:
    """Refuse options that do not go together, and targets that cannot be written."""
    if logs:
        raise click.UsageError("--onnx and --model run a model; LOGs are of one that has been run")
    if onnx is not None and model is not None:
        raise click.UsageError("--onnx or --model, not both")
    if test is None:
        raise click.UsageError("a model needs a file of labelled texts: --test FILE")
    check_not_given(
        *(name for name in OF_LOGS if name != "id-column"),
        because="is for predictions made elsewhere",
    )
    if options["suite"] is not None:
        check_not_given("rules", because="is for the paper's six; a suite names the rules itself")
        check_not_given(
            "quantities", because="is for the paper's six; a suite has texts_from = FILE"
        )
    if options["quantities"] is None:
        check_not_given("quantities-column", because="is of --quantities")
    read = [test, *options["lexicon_from"], options["suite"], options["quantities"]]
    check_out(options["out"], [*read, options["train"]])
    folder = options["folder"]
    if folder is not None and folder.exists():
        raise click.UsageError(f"--write names a folder that is not there yet, not {folder}")


def _choose_tests(options: Mapping[str, Any]) -> dict[str, StressTest]:
    """Return the tests by name."""
    from ietest_fast.evaluation.suite import StressTest, paper_suite, read_suite
    from ietest_fast.transform.phi import parse_phi

    if options["suite"] is None:
        tests = paper_suite(
            rules=options["rules"] or "careful",
            quantities=options["quantities"],
            quantities_column=options["quantities_column"],
        )
    else:
        tests = dict(read_suite(options["suite"]))
    for text in options["others"]:
        if text in tests:
            raise click.UsageError(f"--with {text}: this test is in the suite already")
        tests[text] = StressTest(phi=parse_phi(text, folder=Path.cwd()))
    return tests


def _run(
    model: TextClassifier, test: Path, options: dict[str, Any]
) -> tuple[StressRun, Evaluation]:
    """Make the texts of the tests, run the model, and write what was asked for."""
    from ietest_fast.corpus import read_corpus
    from ietest_fast.evaluation.antonym_pairs import note_training
    from ietest_fast.evaluation.running import evaluate
    from ietest_fast.evaluation.stress_file import StressRun, write_answers
    from ietest_fast.evaluation.suite import make_suite
    from ietest_fast.models.label_map import match_labels

    tests = _choose_tests(options)
    texts = options["text_columns"]
    texts = None if texts is None else [name.strip() for name in texts.split(",")]
    kept = [*options["keep_columns"], options["clusters"], options["group_by"]]
    kept = list(dict.fromkeys(name for name in kept if name is not None))
    ids = [] if options["id_column"] is None else [options["id_column"]]
    corpus = read_corpus(test, text_columns=texts, keep_columns=list(dict.fromkeys([*ids, *kept])))
    label_map = None if options["label_map"] is None else dict(options["label_map"])
    # Before texts are transformed, which takes longer.
    match_labels(model.labels, corpus.label_names, label_map=label_map)
    only = None if options["input"] is None else (options["input"],)
    learn_from = [
        read_corpus(file, text_columns=corpus.text_columns) for file in options["lexicon_from"]
    ]
    train = None if options["train"] is None else read_corpus(options["train"])
    suite = make_suite(
        corpus, tests, text_columns=only, learn_from=learn_from, n_threads=options["n_threads"]
    )
    if options["folder"] is not None:
        _write(suite, corpus, options["folder"])
    with show_progress() as bar:
        found = evaluate(
            model,
            corpus,
            list(suite.versions),
            label_map=label_map,
            text_columns=only,
            id_column=options["id_column"],
            keep_columns=kept,
            n_threads=options["n_threads"],
            on_start=bar.start,
            on_batch=bar.advance,
        )
    if train is not None:
        found = replace(found, predictions=note_training(found.predictions, train))
    run = StressRun(
        group_by=options["group_by"],
        clusters=options["clusters"],
        empty=suite.empty,
        backend=found.backend,
        identity=found.identity,
    )
    if options["out"] is not None:
        write_answers(found.predictions, options["out"], run)
    return run, found


def _write(suite: Suite, corpus: Corpus, folder: Path) -> None:
    """Write the texts of each test, with their labels and the rows that they come from."""
    import re

    import pyarrow as pa
    import pyarrow.parquet as pq

    from ietest_fast.evaluation.versions import number_names

    folder.mkdir(parents=True)
    names = pa.array(corpus.label_names)
    # Names that differ in what a file's name cannot have.
    stems = number_names(re.sub(r"[^\w.-]+", "-", version.name) for version in suite.versions)
    for version, stem in zip(suite.versions, stems, strict=True):
        codes = pa.array(version.labels, pa.int32(), mask=version.labels < 0)
        table = version.table.select(corpus.text_columns)
        table = table.append_column("label", names.take(codes))
        rows = version.source_row if version.items is not None else None
        rows = corpus.source_rows[version.source_row] if rows is None else rows
        table = table.append_column("source_row", pa.array(rows))
        pq.write_table(table, folder / f"{stem}.parquet")


def _read(logs: Sequence[str], options: dict[str, Any]) -> tuple[StressRun, Predictions]:
    """Read answers, and say by what accuracies are parted: as asked for, or as the logs say."""
    from ietest_fast.corpus import read_corpus
    from ietest_fast.evaluation.antonym_pairs import note_training
    from ietest_fast.evaluation.stress_file import StressRun, read_answers, read_run

    paths = [Path(log) for log in logs]
    if all(path.is_file() and read_run(path) is not None for path in paths):
        check_not_given(*OF_LOGS, because="is for predictions made elsewhere")
        found, run = read_answers(paths)
    else:
        run = StressRun()
        kept = {"strata": [], "dose": None, "reworded": options["group_by"]}
        found = read(tuple(logs), {**options, **kept}).predictions
    if options["train"] is not None:
        found = note_training(found, read_corpus(options["train"]))
    run = replace(
        run,
        group_by=options["group_by"] or run.group_by,
        clusters=options["clusters"] or run.clusters,
    )
    return run, found


def _told(found: Evaluation) -> dict[str, Any]:
    """Return what a model that was run has to say, for JSON."""
    return {
        "backend": found.backend,
        "identity": found.identity,
        "inputs_run": found.scores.n_inputs,
        "inputs": found.scores.n_rows,
        "seconds": found.scores.seconds,
        "dropped": found.predictions.dropped,
        "warning": found.warning,
        "warnings": list(found.warnings),
    }


def _say(found: Evaluation) -> list[str]:
    """Return what a model that was run has to say, for people."""
    scores = found.scores
    run = f"were run by {found.backend} in {scores.seconds:.1f} s."
    lines = [f"{scores.n_inputs:,} different inputs of {scores.n_rows:,} {run}"]
    return lines if found.warning is None else [*lines, found.warning]


def _print(profiles: Sequence[StressProfile], below: Sequence[str]) -> None:
    from ietest_fast.report.stress import all_tables, side_by_side

    if len(profiles) > 1:
        print_table(side_by_side(profiles))
    for profile in profiles:
        for table in all_tables(profile):
            print_table(table)
    for line in (*profiles[0].remarks(), *below):
        click.echo(line)
