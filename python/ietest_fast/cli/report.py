"""``ietest-fast report``: finished runs as one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import FILE, OpenShare, check_not_given
from ietest_fast.report.progress import show_stage
from ietest_fast.report.terminal import echo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ietest_fast.corpus import Corpus
    from ietest_fast.experiment.finished import FinishedRun
    from ietest_fast.report.contents import Source

# Stand in ietest_fast.experiment.view.text_tables, too, which is too much to import for --help.
QUANTIFIERS = tuple(
    f"{m}-m-{rho}-rho" for m in ("every", "any", "first") for rho in ("every", "any")
)


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=FILE, metavar="RUN...")
@click.option(
    "--out",
    type=FILE,
    help="The page to write.  [default: report.html in the folder of the first RUN]",
)
@click.option("--title", help="Of the page.  [default: what it is about]")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="What to call a run, once for each in their order.  [default: the model's name]",
)
@click.option(
    "--where",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Of a file of counts only rows with this value.",
)
@click.option(
    "--alpha",
    type=OpenShare(0.5),
    default=0.05,
    help="Of counts and predictions.  [default: 0.05]",
)
@click.option(
    "--margin", type=OpenShare(), default=0.01, help="Of counts and predictions.  [default: 0.01]"
)
@click.option(
    "--flip-margin", type=OpenShare(), default=0.05, help="Of predictions.  [default: 0.05]"
)
@click.option(
    "--hard-cases",
    type=click.Choice(list(QUANTIFIERS)),
    default="every-m-every-rho",
    show_default=True,
    help="Which pairs are listed as hard: lost by all models in every or any resample (m) at every "
    "or any rho.",
)
@click.option(
    "--sample",
    "samples",
    type=FILE,
    multiple=True,
    help="A sample of a run's rephrasings that people have marked (ietest-fast annotate).",
)
@click.option(
    "--train",
    type=FILE,
    help="A training set, for the words that go with each label.  [default: of a run on the "
    "demonstration corpus its own]",
)
@click.option("--label-column", metavar="NAME", help="Of --train.  [default: that of the run]")
@click.option(
    "--paper",
    type=FILE,
    metavar="FOLDER",
    help="Write every table (CSV, Markdown, LaTeX) and figure (SVG, PDF, PNG) there as well.",
)
def command(*, runs: tuple[Path, ...], **options: Any) -> None:
    """Show finished runs: one page with figures, tables and every example.

    RUN is the folder of a run; or a file of counts (columns model, rho, n11, n10, n01, n00):
    results that were published, or come from another program; or a table of predictions, such as
    --out of "ietest-fast eval", "stress" and "consistency" writes. The page is one HTML file that
    works offline.
    """
    names, samples = options["names"], options["samples"]
    train, paper = options["train"], options["paper"]
    if train is None:
        check_not_given("label-column", because="is of --train, which is not given.")
    chosen = _read_where(options["where"])
    if not any(path.is_file() for path in runs):
        check_not_given("where", because="is for files of counts, and there is none.")
        check_not_given(
            "alpha",
            "margin",
            because="is for files of counts, and there is none: give a run's command again with "
            "it, which trains nothing anew.",
        )

    from ietest_fast.analyses import SOURCES
    from ietest_fast.analyses.compare.page import EvaluationSource
    from ietest_fast.annotation.soundness import read_marked, soundness_sections
    from ietest_fast.atomic import write_text
    from ietest_fast.experiment.finished import read_runs
    from ietest_fast.experiment.view.result_tables import brief_tables
    from ietest_fast.experiment.view.sections import RunsSource
    from ietest_fast.report.contents import gather
    from ietest_fast.report.page_builder import (
        build_page,
        check_paper_folder,
        find_left_over,
        write_for_paper,
    )

    files, others = _sort(runs)
    if EvaluationSource.key not in files:
        check_not_given("flip-margin", because="is for files of predictions, and there is none.")
    levels = {"alpha": options["alpha"], "margin": options["margin"]}
    sources: list[Source] = [
        SOURCES.find(name).read(own, **levels, flip_margin=options["flip_margin"])
        for name, own in files.items()
    ]
    is_on_runs = others or not files
    found = read_runs(others, names, where=chosen, **levels) if is_on_runs else []
    if names and not found:
        raise click.UsageError(
            "--name is for runs, and there is none: a file of answers is called as its column "
            "model says, or without one as the file; name it there."
        )
    target = options["out"] or _beside(runs[0])
    _check_target(target)
    _say_unread(others, chosen)
    if train is not None and all(run.results is None for run in found):
        raise click.UsageError("--train is for runs with texts; counts have none.")
    if paper is not None:
        check_paper_folder(paper)
    texts = None if train is None else _read_train(train, options["label_column"], found)
    if samples and all(run.results is None for run in found):
        raise click.UsageError("--sample is for runs with texts; there is none.")
    with show_stage("Gathering"):
        if found:
            marked = [read_marked(path) for path in samples]
            sources.append(
                RunsSource(
                    runs=tuple(found),
                    train=texts,
                    hard_cases=options["hard_cases"],
                    soundness=tuple(soundness_sections(found, marked, brief_tables)),
                )
            )
        contents = gather(*sources)
        write_text(target, build_page(contents, title=options["title"]))
    echo(f"{target}: {_say_read(len(found), files)}")
    if paper is not None:
        written = write_for_paper(contents, paper)
        echo(f"{paper}: {len(written)} files")
        _say_left_over(find_left_over(paper, written))


def _read_train(train: Path, label_column: str | None, runs: Sequence[FinishedRun]) -> Corpus:
    """Read a training set as the first run with texts reads its own."""
    from ietest_fast.corpus import read_corpus

    of_run = next(run.results.data for run in runs if run.results is not None)
    return read_corpus(
        train,
        label_column=of_run.label_column if label_column is None else label_column,
        text_columns=of_run.text_columns,
        label_names=of_run.label_names,
    )


def _say_unread(paths: Sequence[Path], where: Mapping[str, str]) -> None:
    """Name the columns of files of counts that the page does not hold against the counts."""
    from ietest_fast.experiment.finished import find_unread
    from ietest_fast.numerals import say_count
    from ietest_fast.values import show_names

    for path in paths:
        names = find_unread(path, where) if path.is_file() else []
        if names:
            said = say_count(len(names), "column is", "columns are")
            echo(
                f"Note: {path}: {said} not read: {show_names(names)}. All tests are made anew of "
                "the counts.",
                err=True,
            )


def _say_left_over(left: Sequence[Path]) -> None:
    if left:
        echo(
            f"Note: this report has not written {len(left)} of the tables and figures there, "
            f"such as {left[0].name}.",
            err=True,
        )


def _say_read(n_runs: int, files: Mapping[str, Sequence[Path]]) -> str:
    from ietest_fast.analyses import SOURCES
    from ietest_fast.numerals import say_count

    said = [say_count(n_runs, "run")] if n_runs else []
    said += [
        f"{say_count(len(own), 'file')} of {SOURCES.find(name).noun}" for name, own in files.items()
    ]
    return ", ".join(said)


def _refuse_logs(paths: Sequence[Path]) -> None:
    """Say how logs of a harness, of which it takes two to compare, become one table."""
    from ietest_fast.answers.readers import find_reader
    from ietest_fast.errors import InputError

    for path in paths:
        if not path.is_file():
            continue
        try:
            name, _ = find_reader(path)
        except InputError:
            continue  # no log; what it is else, is found out later
        if name != "table":
            raise InputError(
                "is a log of a harness; `ietest-fast eval LOG LOG --out answers.parquet` compares "
                "two, and `ietest-fast report answers.parquet` makes the page",
                path=path,
            )


def _sort(paths: Sequence[Path]) -> tuple[dict[str, list[Path]], list[Path]]:
    """Tell files of answers, by the source that they are of, from runs and counts."""
    from ietest_fast.analyses import SOURCES, find_source
    from ietest_fast.experiment.results import RESULTS
    from ietest_fast.files import refuse_same_files

    refuse_same_files(paths)
    _refuse_logs(paths)
    # Of a run, its folder is wanted.
    files = [path for path in paths if path.is_file() and path.name != RESULTS]
    kinds = {path: find_source(path) for path in files}
    by_source = {name: [path for path in files if kinds[path] == name] for name in SOURCES.names()}
    return (
        {name: own for name, own in by_source.items() if own},
        [path for path in paths if kinds.get(path) is None],
    )


def _read_where(texts: Sequence[str]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--where takes COLUMN=VALUE, not {text!r}.")
        chosen[name] = value
    if len(chosen) < len(texts):
        raise click.UsageError("--where takes each column once.")
    return chosen


def _check_target(target: Path) -> None:
    """Refuse to put a page in the place of anything else, such as a file of counts."""
    if target.is_dir():
        raise click.UsageError(f"--out is a folder, {target}; name a file, such as report.html.")
    if target.exists() and not (target.is_file() and _is_page(target)):
        raise click.UsageError(f"--out is there already, and no page: {target}.")


def _is_page(path: Path) -> bool:
    from ietest_fast.files import open_file

    try:
        with open_file(path) as file:
            begin = file.read(2000)
    except OSError as error:
        raise click.UsageError(f"--out cannot be read: {path}: {error.strerror}.") from error
    return not begin or b'<meta name="generator" content="ietest-fast' in begin


def _beside(run: Path) -> Path:
    return run / "report.html" if run.is_dir() else run.with_name("report.html")
