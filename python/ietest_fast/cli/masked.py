"""``ietest-fast masked``: how well a masked language model infers hidden words."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import (
    FILE,
    NAMES,
    CommaList,
    FiniteRange,
    check_not_given,
    check_out,
    csv_option,
    runs_model,
    threads_option,
)
from ietest_fast.numerals import say_count
from ietest_fast.report.progress import show_progress
from ietest_fast.report.terminal import echo, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from ietest_fast.analyses.masked.answers import MaskedAnswers
    from ietest_fast.analyses.masked.items import MaskedItems
    from ietest_fast.analyses.masked.summary import MaskedRun, MaskedSummary
    from ietest_fast.models.masked_lm import MaskedModel
    from ietest_fast.report.progress import Progress

_OF_TRAINING = ("epochs", "learning-rate", "batch-size", "seed", "save")

_WORDS = CommaList(
    "WORD,WORD[,...]", str, lambda words: bool(words) and all(words), "has an empty word in it"
)


@click.command("masked")
@click.argument("source", metavar="FILE", type=FILE)
@click.option(
    "--model",
    metavar="CHECKPOINT",
    help="Run this PyTorch checkpoint of a masked language model: a folder, or a name of the hub.",
)
@click.option(
    "--onnx",
    metavar="PATH",
    type=FILE,
    help="Run this ONNX folder or file, such as `export --sense` writes, with tokenizer.json "
    "beside it.",
)
@click.option("--tokenizer", type=FILE, help="With --onnx: tokenizer.json, or its folder.")
@click.option(
    "--among",
    type=_WORDS,
    help="Rank answers among these words only; `answers`: among the answers in FILE.  [default: "
    "the whole vocabulary, where the answer is one token]",
)
@click.option(
    "--by",
    "groups",
    type=NAMES,
    metavar="A[,B,...]",
    help="Show accuracies by these columns, too.  [default: module and template, if there are]",
)
@click.option(
    "--ranks",
    type=NAMES,
    metavar="A[,B,...]",
    help="Without a model: columns of reciprocal ranks in FILE.  [default: found]",
)
@click.option(
    "--train",
    metavar="TRAIN",
    type=FILE,
    help="With --model: also train it on this file, hiding random tokens, and run it again.",
)
@click.option("--epochs", type=click.IntRange(min=1), default=3, show_default=True)
@click.option(
    "--learning-rate",
    type=FiniteRange(0, 1, min_open=True),
    default=5e-5,
    show_default=True,
    help="It falls linearly to 0.",
)
@click.option(
    "--batch-size",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    help="Pairs of a batch, on average.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--save", metavar="FOLDER", type=FILE, help="Write the trained model to this new folder."
)
@threads_option
@click.option(
    "--out",
    type=FILE,
    help="Write a row for each item and model: answer, predicted, rank, reciprocal_rank, "
    "log_probability (Parquet, CSV, TSV or JSONL).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@csv_option()
def command(*, source: Path, out: Path | None, **options: Any) -> None:
    """Measure how well a masked language model infers the hidden words of FILE.

    FILE has the columns premise, hypothesis, which has one [MASK], and answer. Without a model,
    FILE is one of ranks: what --out has written, or published results.
    """
    _check_options(options)
    from ietest_fast.analyses.masked.answers import write_masked_log
    from ietest_fast.analyses.masked.summary import say_other_items, summarise_masked

    check_out(out, [source, options["train"]], only_parquet=False)
    run: MaskedRun | None = None
    said: list[str] = []
    if not runs_model(options):
        answers, said = _read(source, options)
    else:
        answers, run, said = _score(source, options)
    summaries = [summarise_masked(each) for each in answers]
    said += say_other_items(summaries)
    said += [line for each in summaries for line in each.remarks()]
    if out is not None:
        write_masked_log(answers, out)
    if options["as_json"]:
        print_json(_describe(summaries, run, options, said, out))
        return
    _print(summaries)
    for line in said:
        echo(line)
    if out is not None:
        n_rows = sum(map(len, answers))
        echo(f"{out}: {say_count(n_rows, 'row')}")


def _check_options(options: dict[str, Any]) -> None:
    model, onnx = options["model"], options["onnx"]
    if model is not None and onnx is not None:
        raise click.UsageError("--onnx or --model, not both")
    if not runs_model(options):
        check_not_given(
            "among", "train", "threads", because="needs a model: --model CHECKPOINT or --onnx PATH"
        )
    else:
        check_not_given("ranks", because="is for a file of ranks, without a model")
    if onnx is None:
        check_not_given("tokenizer", because="is for --onnx")
    if model is None:
        check_not_given("train", because="needs --model, a checkpoint that can be trained")
    if options["train"] is None:
        check_not_given(*_OF_TRAINING, because="needs --train")


def _read(source: Path, options: dict[str, Any]) -> tuple[list[MaskedAnswers], list[str]]:
    """Read ranks, and say which rows have none."""
    from ietest_fast.analyses.masked.answers import read_masked_log
    from ietest_fast.analyses.masked.items import say_problems

    answers = [*read_masked_log(source, groups=options["groups"], ranks=options["ranks"])]
    left_out = {each.model: say_problems(each.problems) for each in answers}
    return answers, [f"{model}: {said}" for model, said in left_out.items() if said is not None]


def _score(
    source: Path, options: dict[str, Any]
) -> tuple[list[MaskedAnswers], MaskedRun | None, list[str]]:
    from ietest_fast.analyses.masked.items import read_masked_items
    from ietest_fast.analyses.masked.summary import ANSWERS, score_masked

    items = read_masked_items(source, groups=options["groups"])
    among = options["among"]
    among = ANSWERS if among == (ANSWERS,) else among
    with show_progress() as progress:
        if options["train"] is None:
            found, name = _load(options)
            answers = [
                score_masked(
                    found,
                    items,
                    name=name,
                    among=among,
                    on_rows=_count(progress, "Running the model, items", len(items)),
                )
            ]
            return answers, None, _say(items, answers)
        run, said = _train(items, among, options, progress)
    return [run.before, run.after], run, [*said, *_say(items, [run.before, run.after])]


def _count(progress: Progress, label: str, total: int) -> Callable[[int], None]:
    counter = progress.count(label)
    counter.start(total)
    return counter.advance


def _load(options: dict[str, Any]) -> tuple[MaskedModel, str]:
    """Load a model, and name it."""
    from ietest_fast.models.masked_lm import OnnxMaskedModel, TorchMaskedModel

    onnx, model, n_threads = options["onnx"], options["model"], options["n_threads"]
    if onnx is not None:
        found = OnnxMaskedModel(onnx, tokenizer=options["tokenizer"], n_threads=n_threads)
        return found, onnx.resolve().stem
    return TorchMaskedModel.load(model, n_threads=n_threads), Path(model).name


def _train(
    items: MaskedItems, among: Any, options: dict[str, Any], progress: Progress
) -> tuple[MaskedRun, list[str]]:
    from ietest_fast.analyses.masked.items import read_masked_items
    from ietest_fast.analyses.masked.summary import train_and_score
    from ietest_fast.models.checkpoint import check_new_folder
    from ietest_fast.models.masked_lm import MaskedSettings, TorchMaskedModel

    if options["save"] is not None:
        check_new_folder(options["save"])
    train = read_masked_items(options["train"], groups=())
    settings = MaskedSettings(
        **{name: options[name] for name in ("epochs", "learning_rate", "batch_size", "seed")}
    )
    run = train_and_score(
        TorchMaskedModel.load(options["model"], n_threads=options["n_threads"]),
        train,
        items,
        settings,
        among=among,
        on_rows=_count(progress, "Running the model, items", 2 * len(items)),
        on_step=progress("Training, steps"),
    )
    if options["save"] is not None:
        run.trained.model.save(options["save"])
    return run, _say_training(train, run)


def _say_training(train: MaskedItems, run: MaskedRun) -> list[str]:
    own = run.trained
    losses = ", ".join(f"{loss:.3f}" for loss in own.losses)
    steps = f"{say_count(len(own.losses), 'epoch')}, {say_count(own.n_steps, 'step')}"
    pairs = say_count(own.n_pairs, "pair")
    said = [f"Trained on {pairs} in {own.seconds:.0f} s ({steps}); loss by epoch: {losses}."]
    left_out = train.say_problems(train.problems, what="trained on")
    if left_out is not None:
        said.append(f"{train.source}: {left_out}")
    if own.n_truncated:
        said.append(
            f"{say_count(own.n_truncated, 'training pair was', 'training pairs were')} too long "
            "for the model and lost the end."
        )
    if run.n_shared:
        said.append(f"{say_count(run.n_shared, 'item is', 'items are')} in the training file, too.")
    return said


def _say(items: MaskedItems, answers: list[MaskedAnswers]) -> list[str]:
    said = []
    for place, each in enumerate(answers):
        # Two runs of the same tokenizer leave out the same rows.
        if place and each.problems == answers[0].problems:
            continue
        left_out = items.say_problems(each.problems)
        if left_out is not None:
            said.append(left_out)
        if each.n_truncated:
            said.append(
                f"{say_count(each.n_truncated, 'item was', 'items were')} too long for the model "
                "and lost the end of a text, but not the mask."
            )
        if each.candidates:
            shown = ", ".join(each.candidates[:10])
            more = len(each.candidates) - 10
            said.append(f"Candidates: {shown}{f', and {more:,} more' if more > 0 else ''}.")
    return said


def _describe(
    summaries: list[MaskedSummary],
    run: MaskedRun | None,
    options: dict[str, Any],
    said: list[str],
    out: Path | None,
) -> dict[str, Any]:
    trained = None
    if run is not None:
        own = run.trained
        trained = {
            "file": str(options["train"]),
            "pairs": own.n_pairs,
            "truncated": own.n_truncated,
            "shared_with_test": run.n_shared,
            "steps": own.n_steps,
            "losses": list(own.losses),
            "seconds": own.seconds,
            "settings": asdict(own.settings),
            "saved": None if options["save"] is None else str(options["save"]),
        }
    return {
        "models": [each.to_dict() for each in summaries],
        "training": trained,
        "notes": said,
        "out": None if out is None else str(out),
    }


def _print(summaries: list[MaskedSummary]) -> None:
    from ietest_fast.analyses.masked.summary import (
        answer_table,
        group_table,
        model_table,
        wrong_table,
    )

    print_table(model_table(summaries))
    for name in summaries[0].by_group:
        print_table(group_table(summaries, name))
    print_table(answer_table(summaries))
    wrong = wrong_table(summaries)
    if wrong is not None:
        print_table(wrong)
