"""``ietest-fast transform``: rephrase the texts of a file by synonyms."""

from __future__ import annotations

import contextlib
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import MOST_THREADS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from ietest_fast.transform import FileSummary, SynonymSubstitution

_FILE = click.Path(path_type=Path)


@click.command("transform")
@click.argument("source", metavar="IN", type=_FILE)
@click.argument("target", metavar="OUT", type=_FILE)
@click.option(
    "--rules",
    type=click.Choice(["careful", "paper"]),
    default="careful",
    show_default=True,
    help="careful: nouns only, number, capitals and articles kept. paper: as published.",
)
@click.option(
    "--lexicon-from",
    "trains",
    metavar="TRAIN",
    type=_FILE,
    multiple=True,
    required=True,
    help="A file whose nouns decide between synonyms; may be given several times.",
)
@click.option("--edits", "edits_path", metavar="FILE", type=_FILE, help="Write every edit to FILE.")
@click.option(
    "--tagger",
    metavar="NAME",
    help="packaged, an installed spaCy pipeline, or its folder.  [default: packaged; paper: "
    "en_core_web_sm]",
)
@click.option(
    "--block-list",
    metavar="FILE",
    type=_FILE,
    help="Words to leave alone, one a line.",
)
@click.option(
    "--text-columns",
    metavar="NAMES",
    help="Columns that hold texts, parted by commas.  [default: premise,hypothesis or the like]",
)
@click.option(
    "--threads", metavar="N", type=click.IntRange(1, MOST_THREADS), help="[default: all cores]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(  # noqa: PLR0917 - click calls it by keywords
    source: Path,
    target: Path,
    rules: str,
    trains: tuple[Path, ...],
    edits_path: Path | None,
    tagger: str | None,
    block_list: Path | None,
    text_columns: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Replace words in the texts of IN by synonyms and write the result to OUT.

    The formats are those of the names: .parquet, .csv, .tsv or .jsonl. OUT appears when it is
    complete; other columns are copied.
    """
    from ietest_fast.corpus.streams import check_target
    from ietest_fast.lexicon import Tagger, read_block_list
    from ietest_fast.transform.files import check_distinct, read_texts, transform_file
    from ietest_fast.transform.synonyms import build_from_texts, default_tagger

    outputs = [path for path in (target, edits_path) if path is not None]
    for read in (source, *trains, *([] if block_list is None else [block_list])):
        check_distinct(read, *outputs)
    # Mistakes should not wait until the nouns of TRAIN are counted.
    for path in outputs:
        check_target(path)
    columns = None
    if text_columns is not None:
        columns = [name.strip() for name in text_columns.split(",") if name.strip()]
        if not columns:
            raise click.BadParameter("no column is named", param_hint="--text-columns")
    blocked = read_block_list(block_list) if block_list is not None else ()
    _check_source(source, columns)

    name = default_tagger(rules) if tagger is None else tagger  # type: ignore[arg-type]
    with (
        _told_when_interrupted(target),
        _stopped_by_sigterm(),
        _progress() as progress,
        Tagger.load(name) as loaded,
    ):
        count = progress("Counting nouns")
        texts = (array for train in trains for array in read_texts(train, columns))
        substitution = build_from_texts(
            texts,
            rules=rules,  # type: ignore[arg-type]  # click has checked it
            tagger=loaded,
            block_list=blocked,
            on_progress=lambda done: count(done, None),
        )
        summary = transform_file(
            source,
            target,
            substitution,
            text_columns=columns,
            edits_path=edits_path,
            n_threads=threads,
            on_progress=progress("Replacing words"),
        )
    if as_json:
        _print_json(summary, substitution, target, edits_path)
    else:
        _print_summary(summary, substitution, target, edits_path)


def _check_source(source: Path, columns: list[str] | None) -> None:
    from ietest_fast.corpus.streams import open_batches
    from ietest_fast.transform.files import choose_text_columns

    with open_batches(source) as reader:
        choose_text_columns(source, reader.schema, columns)


@contextlib.contextmanager
def _told_when_interrupted(target: Path) -> Iterator[None]:
    """Say after Ctrl-C what has become of OUT."""
    before = _stamp(target)
    try:
        yield
    except KeyboardInterrupt:
        # Ctrl-C may come in the moment between the file's name and the end of the command.
        done = _stamp(target) != before
        click.echo(
            f"Interrupted. {target} is complete."
            if done
            else f"Interrupted. Nothing was written to {target}.",
            err=True,
        )
        raise click.exceptions.Exit(130) from None


def _stamp(path: Path) -> tuple[int, int] | None:
    """Tell one state of a file from another; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


@contextlib.contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """Make a polite kill an exception, so that temporary files go with it."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(143)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _progress() -> Iterator[Any]:
    """Give a function that starts a bar and gives what moves it; silent off a terminal."""
    if not sys.stderr.isatty():
        yield lambda _label: lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )

    def start(label: str) -> Any:
        task = bar.add_task(label, total=None)
        return lambda done, total: bar.update(task, completed=done, total=total)

    with bar:
        yield start


def _print_json(
    summary: FileSummary, substitution: SynonymSubstitution, target: Path, edits: Path | None
) -> None:
    import json

    assert substitution.tagger is not None  # noqa: S101 - it was loaded
    facts = {
        "out": str(target),
        "edits_file": None if edits is None else str(edits),
        "rules": substitution.rules,
        "tagger": substitution.tagger.name,
        "n_synonyms": len(substitution.table),
        "fingerprint": substitution.fingerprint,
        "text_columns": list(summary.text_columns),
        "n_rows": summary.n_rows,
        "n_changed": summary.n_changed,
        "n_edits": summary.n_edits,
        "most_frequent": [
            {"old": old, "new": new, "count": count} for old, new, count in summary.most_frequent()
        ],
    }
    click.echo(json.dumps(facts, ensure_ascii=False, indent=2))


def _print_summary(
    summary: FileSummary, substitution: SynonymSubstitution, target: Path, edits: Path | None
) -> None:
    share = summary.n_changed / summary.n_rows
    click.echo(f"{target}: {summary.n_rows:,} rows, {summary.n_changed:,} changed ({share:.1%})")
    if edits is not None:
        click.echo(f"{edits}: {sum(summary.n_edits.values()):,} edits")
    click.echo(
        f"{substitution.name}@{substitution.fingerprint[:8]}: {len(substitution.table):,} synonyms"
    )
    for rule, count in summary.n_edits.items():
        click.echo(f"  {rule:<14} {count:>12,}")
    most = summary.most_frequent()
    if most:
        click.echo("Most frequent:")
        width = max(len(f"{old} -> {new}") for old, new, _ in most)
        for old, new, count in most:
            click.echo(f"  {f'{old} -> {new}':<{width}} {count:>12,}")
