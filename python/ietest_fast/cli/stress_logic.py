"""``ietest-fast stress --suite logic``: a finished model's answers against rules of logic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.logs import OF_LOGS
from ietest_fast.cli.models import (
    check_out,
    describe_run,
    load_model,
    need_one,
    read_label_map,
    say_run,
)
from ietest_fast.cli.options import add_options, check_not_given, split_names
from ietest_fast.report.progress import show_progress
from ietest_fast.report.terminal import echo, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ietest_fast.analyses.logic.file import LogicAnswers
    from ietest_fast.analyses.logic.measure import LogicProfile
    from ietest_fast.answers.asking import Evaluation

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
    from ietest_fast.answers.metadata import holds_logic

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
        answers = _read(logs)
        told, below = {}, []
    else:
        own, found = _run(need_one(logs, onnx, model, test), onnx, model, options)
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
        _print(profiles, below)
    return 0


def _read_weights(text: str | None) -> dict[str, float] | None:
    """Read weights before the model is run."""
    from ietest_fast.analyses.logic.score import read_weights

    return None if text is None else read_weights(text)


def _read(logs: Sequence[str]) -> tuple[LogicAnswers, ...]:
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


def _run(
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


def _print(profiles: Sequence[LogicProfile], below: Sequence[str]) -> None:
    from ietest_fast.report.logic import all_tables, side_by_side

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
