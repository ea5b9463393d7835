"""``ietest-fast stress``: a finished model on a suite of stress tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.comparing import OF_LOGS, log_options, read
from ietest_fast.cli.options import (
    FILE,
    NAMES,
    OF_MODELS,
    allow_code,
    bundle,
    check_margin,
    check_not_given,
    check_out,
    clusters_option,
    csv_option,
    describe_run,
    details_option,
    exit_status,
    load_model,
    margin_option,
    model_options,
    need_one,
    read_label_map,
    runs_model,
    say_run,
    split_names,
    test_options,
)
from ietest_fast.report.progress import show_progress
from ietest_fast.report.terminal import echo, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.logic.file import LogicAnswers
    from ietest_fast.analyses.stress.asking import StressAnswers
    from ietest_fast.analyses.stress.suite import StressTest
    from ietest_fast.corpus import Corpus


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
    "allow-code",
    *(name for name in OF_LOGS if name != "id-column"),
)
# Of a model that is run.
_NEEDS_MODEL = "is for a model that is run; say --onnx or --model"
_OF_RUNS = (*OF_MODELS, "text-columns", "out", "write")
_OF_LOGIC_RUNS = (
    *_OF_RUNS,
    "threshold",
    "clusters",
    "id-column",
    "draws",
    "nearest",
    "instances",
)
_OF_STRESS_RUNS = (
    *_OF_RUNS,
    "keep-columns",
    "with",
    "suite",
    "allow-code",
    "rules",
    "quantities",
    "quantities-column",
    "lexicon-from",
)


logic_options = bundle(
    click.option(
        "--draws",
        type=click.IntRange(min=1),
        help="Suite logic: sentences of other items that are drawn for each item.  [default: 1]",
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
        help="Suite logic: leave parts of the score out that are not defined, such as a rule that "
        "applies to no instance.",
    ),
)
"""Of the suite logic."""


def is_logic(suite: Path | None, logs: Sequence[str]) -> bool:
    """Whether the suite logic is asked for, or a log has answers to it."""
    if suite is not None:
        return suite == LOGIC
    from ietest_fast.analyses.logic.notes import LogicNotes
    from ietest_fast.answers.file import holds

    paths = [Path(log) for log in logs]
    return any(path.is_file() and holds(path, LogicNotes) for path in paths)


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
    type=FILE,
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
    type=FILE,
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
    type=FILE,
    help="What the model was trained on: say which antonyms its contradictions show.",
)
@click.option(
    "--lexicon-from",
    metavar="TRAIN",
    type=FILE,
    multiple=True,
    help="A file that transformations learn from.  [default: the test file]",
)
@click.option(
    "--by",
    "group_by",
    metavar="COLUMN",
    help="Also give accuracies by this column, such as genre.",
)
@clusters_option
@margin_option
@click.option(
    "--write",
    "folder",
    metavar="FOLDER",
    type=FILE,
    help="Write the texts of each test to a Parquet file in this new folder.",
)
@logic_options
@log_options
@details_option
@test_options
@csv_option()
def command(*, logs: tuple[str, ...], **options: Any) -> int:
    """Run a finished model on stress tests, and compare it with itself on the originals.

    With --test and --onnx or --model, the texts of six tests are made and the model is run: once
    for each distinct input. Otherwise each LOG holds answers, such as those that --out has written,
    with a version `original`. With --suite logic, the model is asked what follows from what among
    the texts of the test file, and its answers are held against rules of logic.
    """
    asks_logic = is_logic(options["suite"], logs)
    if asks_logic:
        check_not_given(*_OF_TESTS, because="is not for --suite logic")
    else:
        check_not_given(*OF_LOGIC, because="is for --suite logic")
        check_margin(options)
    chosen = _choose_options(options, asks_logic=asks_logic)
    ask, measure = _open_wing(asks_logic=asks_logic)
    told: dict[str, Any] = {}
    below: list[str] = []
    if not runs_model(options):
        answers = _read_logic(logs) if asks_logic else _read_stress(logs, options)
    else:
        corpus, chosen = _read_texts(need_one(logs, options), options, chosen)
        loaded = load_model(options)
        with show_progress() as progress:
            bar = progress.count("Running the model, inputs")
            own, found = ask(loaded, corpus, chosen, on_start=bar.start, on_batch=bar.advance)
        answers, told, below = (own,), describe_run(found), [say_run(found)]
    profiles = measure(answers, chosen)
    if options["as_json"]:
        print_json({**told, "profiles": [profile.to_dict() for profile in profiles]})
    else:
        _print(profiles, below, asks_logic=asks_logic, details=options["details"])
    reject = not asks_logic and any(profile.reject for profile in profiles)
    return exit_status(options, reject=reject)


def _choose_options(options: Mapping[str, Any], *, asks_logic: bool) -> Any:
    """Return the options of the suite, but for what is read of files."""
    shared = ("id_column", "clusters", "folder", "out", "n_resamples", "n_threads")
    chosen = {name: options[name] for name in shared} | {
        "text_columns": None if options["input"] is None else (options["input"],),
        "label_map": read_label_map(options),
    }
    if not asks_logic:
        from ietest_fast.analyses.stress.suite import StressOptions

        of_tests = ("keep_columns", "group_by", "alpha", "margin", "method", "alternative")
        chosen |= {name: options[name] for name in of_tests}
        return StressOptions(**chosen, rng=options["seed"])
    from ietest_fast.analyses.logic.candidates import LogicOptions
    from ietest_fast.analyses.logic.rules import read_weights

    own = ("draws", "nearest", "instances", "renormalise", "seed")
    chosen |= {name: options[name] for name in own if options[name] is not None}
    weights = options["weights"]
    return LogicOptions(**chosen, weights=None if weights is None else read_weights(weights))


def _open_wing(*, asks_logic: bool) -> tuple[Any, Any]:
    """Return what asks the suite, and what measures its answers."""
    if asks_logic:
        from ietest_fast.analyses.logic.asking import ask_logic
        from ietest_fast.analyses.logic.measure import measure_logic

        return ask_logic, measure_logic
    from ietest_fast.analyses.stress.asking import ask_stress, measure_answers

    return ask_stress, measure_answers


def _read_texts(test: Path, options: Mapping[str, Any], chosen: Any) -> tuple[Corpus, Any]:
    """Read what the model is run on, and what tests need; refuse targets that cannot be."""
    from ietest_fast.corpus import read_corpus

    asks_logic = options["suite"] == LOGIC
    tests = {} if asks_logic else _choose_tests(options)
    folder = options["folder"]
    if folder is not None and folder.exists():
        raise click.UsageError(f"--write names a folder that is not there yet, not {folder}")
    read = [test, *options["lexicon_from"], options["suite"], options["train"]]
    check_out(options["out"], [*read, *(file for each in tests.values() for file in each.files)])
    kept = (
        options["id_column"],
        *options["keep_columns"],
        options["clusters"],
        options["group_by"],
    )
    corpus = read_corpus(
        test,
        text_columns=split_names(options["text_columns"]),
        keep_columns=list(dict.fromkeys(name for name in kept if name is not None)),
    )
    if asks_logic:
        return corpus, chosen
    learn_from = [
        read_corpus(file, text_columns=corpus.text_columns) for file in options["lexicon_from"]
    ]
    train = _read_training(options["train"], corpus.text_columns)
    return corpus, replace(chosen, tests=tests, learn_from=learn_from, train=train)


def _choose_tests(options: Mapping[str, Any]) -> dict[str, StressTest]:
    """Return the tests by name; refuse options that do not go together."""
    from ietest_fast.analyses.stress.suite import choose_tests
    from ietest_fast.transform.phi import parse_phi

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
    others = split_tests([text for texts in options["others"] for text in texts])
    of_suite = ("rules", "quantities", "quantities_column", "allow_code")
    return choose_tests(
        options["suite"],
        ((text, parse_phi(text, folder=Path.cwd())) for text in others),
        **{name: options[name] for name in of_suite},
        refuse=lambda name, wrong: click.UsageError(
            f"--with {name}: {wrong or 'this test is in the suite already'}"
        ),
    )


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


def _read_training(path: Path | None, text_columns: Sequence[str]) -> Corpus | None:
    """Read what the model was trained on; None if that was not given."""
    from ietest_fast.corpus import read_corpus

    return None if path is None else read_corpus(path, text_columns=text_columns or None)


def _read_logic(logs: Sequence[str]) -> Sequence[LogicAnswers]:
    from ietest_fast.analyses.logic.file import read_logic
    from ietest_fast.files import check_file

    if not logs:
        raise click.UsageError(
            "--suite logic asks a model new questions, which no log of predictions answers: give "
            "--onnx or --model, and --test; or files that --out has written"
        )
    check_not_given(*_OF_LOGIC_RUNS, because=_NEEDS_MODEL)
    return read_logic([check_file(log) for log in logs])


def _read_stress(logs: Sequence[str], options: Mapping[str, Any]) -> Sequence[StressAnswers]:
    """Read answers, those of ``--out`` with what they say of themselves."""
    from ietest_fast.analyses.stress.asking import (
        StressAnswers,
        StressNotes,
        note_training_of_any,
        read_stress_answers,
    )
    from ietest_fast.answers.file import read_notes

    if not logs:
        raise click.UsageError("give LOGs of predictions, or a model by --onnx and --test")
    check_not_given(*_OF_STRESS_RUNS, because=_NEEDS_MODEL)
    paths = [Path(log) for log in logs]
    if all(path.is_file() and read_notes(path, StressNotes) is not None for path in paths):
        check_not_given(*OF_LOGS, "threshold", because="is for predictions made elsewhere")
        answers = read_stress_answers(paths)
    else:
        found = read(tuple(logs), options, keep=[options["group_by"]])
        notes = StressNotes(warnings=found.notes)
        answers = (StressAnswers(predictions=found.predictions, notes=notes),)
    train = _read_training(options["train"], answers[0].notes.text_columns)
    return [note_training_of_any(each, train) for each in answers]


def _print(
    profiles: Sequence[Any], below: Sequence[str], *, asks_logic: bool, details: bool
) -> None:
    """Print what each classifier's answers show, then the tests, and all else if it is wanted."""
    from ietest_fast.analyses.logic import page as logic
    from ietest_fast.analyses.stress import page as stress

    view: Any = logic if asks_logic else stress
    several = len(profiles) > 1
    for profile in profiles:
        echo(f"{profile.name}: {profile.headline}" if several else profile.headline)
    echo()
    if several:
        print_table(view.side_by_side(profiles))
    for profile in profiles:
        if not details and several:
            continue
        for table in view.all_tables(profile) if details else view.answer_tables(profile):
            print_table(table)
    for profile in profiles:
        whose = f"{profile.name}: " if several else ""
        for line in profile.remarks() if details else profile.beware():
            echo(f"{whose}{line}")
    if details:
        echo(*below)
    else:
        echo("All that was computed: --details; every number: --json.")
