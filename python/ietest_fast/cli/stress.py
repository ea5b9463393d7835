"""``ietest-fast stress``: a finished model on a suite of stress tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.logs import OF_LOGS, log_options, read
from ietest_fast.cli.models import (
    check_out,
    describe_run,
    load_model,
    model_options,
    need_one,
    read_label_map,
    say_run,
)
from ietest_fast.cli.options import (
    NAMES,
    OpenShare,
    add_options,
    allow_code,
    check_margin,
    check_not_given,
    csv_option,
    exit_status,
    split_names,
    test_options,
)
from ietest_fast.report.progress import show_progress
from ietest_fast.report.terminal import echo, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ietest_fast.analyses.logic.file import LogicAnswers
    from ietest_fast.analyses.logic.measure import LogicProfile
    from ietest_fast.analyses.stress.profile import StressProfile
    from ietest_fast.analyses.stress.run import StressAnswers
    from ietest_fast.analyses.stress.suite import StressTest
    from ietest_fast.answers.asking import Evaluation
    from ietest_fast.corpus import Corpus
    from ietest_fast.models import TextClassifier


# ``ietest-fast stress --suite logic``: a finished model's answers against rules of logic.

LOGIC = Path("logic")
"""The value of --suite that is no file."""

OF_LOGIC = ("draws", "nearest", "instances", "weights", "renormalise")
"""Names of the options of this suite alone."""

# Of the other suites.
_OF_TESTS = (
    "with",
    "rules",
    "quantities",
    "quantities-column",
    "train",
    "lexicon-from",
    "by",
    "margin",
    "method",
    "alternative",
    "alpha",
    "fail-on-reject",
    "keep-columns",
    *(name for name in OF_LOGS if name != "id-column"),
)
# Of a model that is run.
_OF_RUNS = (
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
    "threshold",
    "out",
    "write",
    "clusters",
    "id-column",
    "draws",
    "nearest",
    "instances",
)


def logic_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the suite logic."""
    options = [
        click.option(
            "--draws",
            type=click.IntRange(min=1),
            help="Suite logic: sentences of other items that are drawn for each item.  [default: "
            "1]",
        ),
        click.option(
            "--nearest",
            type=click.IntRange(min=0),
            help="Suite logic: sentences with the same words that are looked for, for each item.  "
            "[default: 3]",
        ),
        click.option(
            "--instances",
            type=click.IntRange(min=1),
            help="Suite logic: most candidates of a rule; of more, so many are drawn.  [default: "
            "10,000]",
        ),
        click.option(
            "--weights",
            metavar="NAME=WEIGHT,...",
            help="Suite logic: weights of the score, such as acc=0.5,and-intro=0.5, or a TOML file "
            "with a table [weights].  [default: the accuracy and all rules alike]",
        ),
        click.option(
            "--renormalise",
            is_flag=True,
            help="Suite logic: leave parts of the score out that are not defined, such as a rule "
            "that applies to no instance.",
        ),
    ]
    return add_options(command, options)


def is_logic(suite: Path | None, logs: Sequence[str]) -> bool:
    """Whether the suite logic is asked for, or a log has answers to it."""
    if suite is not None:
        return suite == LOGIC
    from ietest_fast.answers.file import holds_logic

    paths = [Path(log) for log in logs]
    return any(path.is_file() and holds_logic(path) for path in paths)


def run_command(
    logs: Sequence[str],
    onnx: Path | None,
    model: str | None,
    test: Path | None,
    *,
    as_json: bool,
    options: dict[str, Any],
) -> int:
    """Run a model on the suite, or read answers; print what they show."""
    check_not_given(*_OF_TESTS, because="is not for --suite logic")
    weights = _read_weights(options["weights"])
    told: dict[str, Any]
    if onnx is None and model is None:
        answers = _read_logic(logs)
        told, below = {}, []
    else:
        own, found = _run_logic(need_one(logs, onnx, model, test), onnx, model, options)
        answers, told, below = (own,), describe_run(found), [say_run(found)]
    from ietest_fast.analyses.logic.measure import measure_logic

    profiles = measure_logic(
        answers,
        weights=weights,
        leave_out_undefined=options["renormalise"],
        n_resamples=options["n_resamples"],
        seed=options["seed"],
        n_threads=options["n_threads"],
    )
    if as_json:
        print_json({**told, "profiles": [profile.to_dict() for profile in profiles]})
    else:
        _print_logic(profiles, below)
    return 0


def _read_weights(text: str | None) -> dict[str, float] | None:
    """Read weights before the model is run."""
    from ietest_fast.analyses.logic.score import read_weights

    return None if text is None else read_weights(text)


def _read_logic(logs: Sequence[str]) -> tuple[LogicAnswers, ...]:
    from ietest_fast.analyses.logic.file import read_logic

    if not logs:
        raise click.UsageError(
            "--suite logic asks a model new questions, which no log of predictions answers: give "
            "--onnx or --model, and --test; or files that --out has written"
        )
    check_not_given(*_OF_RUNS, because="is for a model that is run; say --onnx or --model")
    from ietest_fast.files import check_file

    paths = [Path(log) for log in logs]
    for path in paths:
        check_file(path)
    return read_logic(paths)


def _run_logic(
    test: Path, onnx: Path | None, model: str | None, options: dict[str, Any]
) -> tuple[LogicAnswers, Evaluation]:
    """Run the model, and write what was asked for."""
    from ietest_fast.analyses.logic.candidates import LogicOptions
    from ietest_fast.analyses.logic.file import write_logic
    from ietest_fast.analyses.logic.run import run_logic, write_questions
    from ietest_fast.corpus import read_corpus

    folder, out = options["folder"], options["out"]
    if folder is not None and folder.exists():
        raise click.UsageError(f"--write names a folder that is not there yet, not {folder}")
    check_out(out, [test])
    kept = (options["clusters"], options["id_column"])
    corpus = read_corpus(
        test,
        text_columns=split_names(options["text_columns"]),
        keep_columns=list(dict.fromkeys(name for name in kept if name is not None)),
    )
    given: Mapping[str, int] = {
        name: options[name]
        for name in ("draws", "nearest", "instances")
        if options[name] is not None
    }
    with show_progress() as progress:
        bar = progress.count("Running the model, inputs")
        answers, found = run_logic(
            load_model(onnx, model, options),
            corpus,
            options=LogicOptions(**given, seed=options["seed"]),
            label_map=read_label_map(options),
            text_columns=None if options["input"] is None else (options["input"],),
            clusters=options["clusters"],
            id_column=options["id_column"],
            n_threads=options["n_threads"],
            on_start=bar.start,
            on_batch=bar.advance,
        )
    if folder is not None:
        write_questions(answers, folder)
    if out is not None:
        write_logic(answers, out)
    return answers, found


def _print_logic(profiles: Sequence[LogicProfile], below: Sequence[str]) -> None:
    from ietest_fast.analyses.logic.page import all_tables, side_by_side

    if len(profiles) > 1:
        print_table(side_by_side(profiles))
    for profile in profiles:
        for table in all_tables(profile):
            print_table(table)
    for profile in profiles:
        whose = f"{profile.name}: " if len(profiles) > 1 else ""
        for line in profile.remarks():
            echo(f"{whose}{line}")
    for line in below:
        echo(line)


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
    "allow-code",
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
    multiple=True,
    metavar="NAME[,...]",
    help="More tests beside the paper's six: any transformation (`ietest-fast transform --list`), "
    "with options (NAME:option=value,...). May be repeated.",
)
@click.option(
    "--suite",
    type=_FILE,
    help="Run these tests instead of the paper's six: a TOML file with a table [tests]; or logic, "
    "properties of entailment and rules of inference.",
)
@allow_code
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
@logic_options
@log_options
@test_options
@csv_option()
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
    with a version `original`. With --suite logic, the model is asked what follows from what among
    the texts of the test file, and its answers are held against rules of logic.
    """
    if is_logic(options["suite"], logs):
        return run_command(logs, onnx, model, test, as_json=as_json, options=options)
    check_not_given(*OF_LOGIC, because="is for --suite logic")
    check_margin(margin, alpha=alpha)
    told: dict[str, Any]
    if onnx is None and model is None:
        if not logs:
            raise click.UsageError("give LOGs of predictions, or a model by --onnx and --test")
        check_not_given(*_OF_MODELS, because="is for a model that is run; say --onnx or --model")
        answers = _read(logs, options)
        told, below = {}, []
    else:
        test = need_one(logs, onnx, model, test)
        tests = _check(test, options)
        own, found = _run(load_model(onnx, model, options), test, tests, options)
        answers, told, below = (own,), describe_run(found), [say_run(found)]
    from ietest_fast.analyses.stress.run import measure_answers

    profiles = measure_answers(
        answers,
        group_by=options["group_by"],
        clusters=options["clusters"],
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


def _check(test: Path, options: Mapping[str, Any]) -> dict[str, StressTest]:
    """Return the tests; refuse options that do not go together, and targets that cannot be."""
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
    folder = options["folder"]
    if folder is not None and folder.exists():
        raise click.UsageError(f"--write names a folder that is not there yet, not {folder}")
    tests = _choose_tests(options)
    read = [test, *options["lexicon_from"], options["suite"], options["train"]]
    check_out(options["out"], [*read, *(file for each in tests.values() for file in each.files)])
    return tests


def _choose_tests(options: Mapping[str, Any]) -> dict[str, StressTest]:
    """Return the tests by name."""
    from ietest_fast.analyses.stress.suite import (
        StressTest,
        find_wrong_name,
        paper_suite,
        read_suite,
    )
    from ietest_fast.transform.phi import parse_phi

    if options["suite"] is None:
        tests = paper_suite(
            rules=options["rules"] or "careful",
            quantities=options["quantities"],
            quantities_column=options["quantities_column"],
        )
    else:
        tests = dict(read_suite(options["suite"], allow_code=options["allow_code"]))
    for text in split_tests([text for texts in options["others"] for text in texts]):
        if text in tests:
            raise click.UsageError(f"--with {text}: this test is in the suite already")
        tests[text] = StressTest(phi=parse_phi(text, folder=Path.cwd()))
        wrong = find_wrong_name(tests)
        if wrong is not None:
            raise click.UsageError(f"--with {text}: {wrong}")
    return tests


def split_tests(pieces: Sequence[str]) -> list[str]:
    """Put the options of a test together again that were split at a comma.

    A piece is an option, and no test of its own, if it has a name and an equals sign, and a test
    with options stands before it.
    """
    tests: list[str] = []
    for piece in pieces:
        is_option = "=" in piece and ":" not in piece.partition("=")[0]
        if is_option and tests and ":" in tests[-1]:
            tests[-1] += f",{piece}"
        else:
            tests.append(piece)
    return tests


def _run(
    model: TextClassifier, test: Path, tests: Mapping[str, StressTest], options: dict[str, Any]
) -> tuple[StressAnswers, Evaluation]:
    """Make the texts of the tests, run the model, and write what was asked for."""
    from ietest_fast.analyses.stress.profile import note_training_of_any
    from ietest_fast.analyses.stress.run import StressAnswers, StressNotes
    from ietest_fast.analyses.stress.suite import make_suite, write_texts
    from ietest_fast.answers.asking import evaluate
    from ietest_fast.answers.file import write_answers
    from ietest_fast.corpus import read_corpus
    from ietest_fast.models.label_map import match_labels

    texts = split_names(options["text_columns"])
    kept = [*options["keep_columns"], options["clusters"], options["group_by"]]
    kept = list(dict.fromkeys(name for name in kept if name is not None))
    ids = [] if options["id_column"] is None else [options["id_column"]]
    corpus = read_corpus(test, text_columns=texts, keep_columns=list(dict.fromkeys([*ids, *kept])))
    label_map = read_label_map(options)
    # Before texts are transformed, which takes longer.
    match_labels(model.labels, corpus.label_names, label_map=label_map)
    only = None if options["input"] is None else (options["input"],)
    learn_from = [
        read_corpus(file, text_columns=corpus.text_columns) for file in options["lexicon_from"]
    ]
    train = _read_training(options["train"], corpus.text_columns)
    suite = make_suite(
        corpus, tests, text_columns=only, learn_from=learn_from, n_threads=options["n_threads"]
    )
    if options["folder"] is not None:
        write_texts(suite, corpus, options["folder"])
    with show_progress() as progress:
        bar = progress.count("Running the model, inputs")
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
    predictions, said = note_training_of_any(found.predictions, train)
    notes = StressNotes.of(
        suite,
        found,
        group_by=options["group_by"],
        clusters=options["clusters"],
        text_columns=corpus.text_columns,
        warnings=said,
    )
    answers = StressAnswers(predictions=predictions, notes=notes)
    if options["out"] is not None:
        write_answers(answers, options["out"])
    return answers, found


def _read_training(path: Path | None, text_columns: Sequence[str] | None) -> Corpus | None:
    """Read what the model was trained on, before it is run; None if that was not given."""
    from ietest_fast.analyses.stress.profile import check_training
    from ietest_fast.corpus import read_corpus

    if path is None:
        return None
    train = read_corpus(path, text_columns=text_columns or None)
    check_training(train)
    return train


def _read(logs: Sequence[str], options: dict[str, Any]) -> tuple[StressAnswers, ...]:
    """Read answers, those of ``--out`` with what they say of themselves."""
    from ietest_fast.analyses.stress.profile import note_training_of_any
    from ietest_fast.analyses.stress.run import StressAnswers, StressNotes, read_stress_answers
    from ietest_fast.answers.file import read_notes

    paths = [Path(log) for log in logs]
    if all(path.is_file() and read_notes(path, StressNotes) is not None for path in paths):
        check_not_given(*OF_LOGS, "threshold", because="is for predictions made elsewhere")
        answers = read_stress_answers(paths)
    else:
        found = read(tuple(logs), options, keep=[options["group_by"]])
        notes = StressNotes(warnings=found.notes)
        answers = (StressAnswers(predictions=found.predictions, notes=notes),)
    train = _read_training(options["train"], answers[0].notes.text_columns)
    noted = []
    for each in answers:
        predictions, said = note_training_of_any(each.predictions, train)
        notes = replace(each.notes, warnings=tuple(dict.fromkeys((*each.notes.warnings, *said))))
        noted.append(StressAnswers(predictions=predictions, notes=notes))
    return tuple(noted)


def _print(profiles: Sequence[StressProfile], below: Sequence[str]) -> None:
    from ietest_fast.analyses.stress.page import all_tables, side_by_side

    if len(profiles) > 1:
        print_table(side_by_side(profiles))
    for profile in profiles:
        for table in all_tables(profile):
            print_table(table)
    for profile in profiles:
        whose = f"{profile.name}: " if len(profiles) > 1 else ""
        for line in profile.remarks():
            echo(f"{whose}{line}")
    for line in below:
        echo(line)
