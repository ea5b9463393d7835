"""``ietest-fast transform``: rephrase the texts of a file."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import (
    FILE,
    MOST_THREADS,
    choose_phis,
    csv_option,
    split_names,
    word_options,
)
from ietest_fast.report.progress import show_progress
from ietest_fast.report.terminal import echo, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ietest_fast.transform import FileSummary, Transformation

# Characters of what stands for what; some transformations reword whole texts.
_MOST_SHOWN = 60


@click.command("transform")
@click.argument("source", metavar="IN", type=FILE, required=False)
@click.argument("target", metavar="OUT", type=FILE, required=False)
@click.option(
    "--phi",
    metavar="NAME[:OPTION=VALUE,...]",
    default="syn.careful",
    show_default=True,
    help="The transformation; A+B does A and then B. --list shows all.",
)
@word_options
@click.option(
    "--list", "as_list", is_flag=True, help="List all transformations with their options; no files."
)
@click.option(
    "--lexicon-from",
    "trains",
    metavar="TRAIN",
    type=FILE,
    multiple=True,
    help="A file that the transformation learns from; may be given several times.  [default: IN]",
)
@click.option("--edits", "edits_path", metavar="FILE", type=FILE, help="Write every edit to FILE.")
@click.option(
    "--text-columns",
    metavar="NAMES",
    help="Columns that hold texts, parted by commas.  [default: premise,hypothesis or the like]",
)
@click.option(
    "--label-column",
    metavar="NAME",
    help="Column of labels, for transformations that set them.  [default: label or gold_label]",
)
@click.option(
    "--threads",
    "n_threads",
    metavar="N",
    type=click.IntRange(1, MOST_THREADS),
    help="[default: all cores]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary, or the list, as JSON.")
@csv_option()
def command(*, source: Path | None, target: Path | None, **options: Any) -> None:
    """Transform the texts of IN and write the result to OUT.

    The formats are those of the names: .parquet, .csv, .tsv or .jsonl. OUT appears when it is
    complete; other columns are copied, and a column `changed` says which rows have other texts.
    """
    if options["as_list"]:
        if source is not None:
            raise click.UsageError("--list takes no files")
        _print_kinds(as_json=options["as_json"])
        return
    if source is None or target is None:
        raise click.UsageError("give the files IN and OUT, or --list")

    from ietest_fast.corpus.streams import check_target
    from ietest_fast.files import check_file
    from ietest_fast.transform.files import TextFile, check_distinct, transform_file
    from ietest_fast.transform.phi import Material

    (choice,) = choose_phis([options["phi"]], options)
    trains, edits_path = options["trains"], options["edits_path"]
    n_threads = options["n_threads"]
    # Mistakes should not wait until the nouns of TRAIN are counted.
    outputs = [path for path in (target, edits_path) if path is not None]
    for path in outputs:
        check_target(path)
    for read in (source, *trains, *choice.files()):
        check_file(read)
        check_distinct(read, *outputs)
    columns = split_names(options["text_columns"])
    if columns is not None:
        columns = [name for name in columns if name]
        if not columns:
            raise click.BadParameter("no column is named", param_hint="--text-columns")
    n_rows = _check_source(source, columns)

    with (
        _told_when_interrupted(target),
        show_progress() as progress,
        choice.plan() as planned,
    ):
        count = progress("Learning from texts, texts") if planned.learns else None
        told: list[str] = []

        def warn(message: str) -> None:
            told.append(message)
            echo(f"Warning: {message}.", err=True)

        material = Material(
            corpora=[TextFile(path=path, text_columns=columns) for path in trains or (source,)],
            source=source,
            tag_cache="temporary",
            n_threads=n_threads,
            on_progress=count,
            on_warning=warn,
        )
        transformation = planned.build(material)
        summary = transform_file(
            source,
            target,
            transformation,
            text_columns=columns,
            edits_path=edits_path,
            label_column=options["label_column"],
            n_threads=n_threads,
            on_progress=progress("Transforming, rows", n_rows),
        )
    if options["as_json"]:
        _print_json(summary, transformation, target, edits_path, told)
    else:
        _print_summary(summary, transformation, target, edits_path)


def _check_source(source: Path, columns: list[str] | None) -> int | None:
    """Return how many rows there are about."""
    from ietest_fast.corpus.streams import open_batches
    from ietest_fast.transform.files import choose_text_columns

    with open_batches(source) as reader:
        choose_text_columns(source, reader.schema, columns)
        return reader.n_rows_about


def _print_kinds(*, as_json: bool) -> None:
    from ietest_fast.transform.phi import describe_kinds

    kinds = describe_kinds()
    if as_json:
        print_json(kinds)
        return
    for kind in kinds:
        package = "" if kind["package"] is None else f"  ({kind['package']})"
        echo(f"{kind['name']}: {kind.get('summary', kind.get('error'))}{package}")
        for option in kind.get("options", ()):
            said = "" if option["description"] is None else f": {option['description']}"
            echo(f"    {option['name']} ({option['type']}){said}{_say_default(option)}")


def _say_default(option: Mapping[str, Any]) -> str:
    import json

    if option["required"]:
        return " [needed]"
    return "" if option["default"] is None else f" [{json.dumps(option['default'])}]"


@contextlib.contextmanager
def _told_when_interrupted(target: Path) -> Iterator[None]:
    """Say after Ctrl-C what has become of OUT."""
    before = _stamp(target)
    try:
        yield
    except KeyboardInterrupt:
        # Ctrl-C may come in the moment between the file's name and the end of the command.
        done = _stamp(target) != before
        echo(
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


def _print_json(
    summary: FileSummary,
    transformation: Transformation,
    target: Path,
    edits: Path | None,
    told: list[str],
) -> None:
    facts = {
        "out": str(target),
        "edits_file": None if edits is None else str(edits),
        "transformation": transformation.describe(),
        "fingerprint": transformation.fingerprint,
        "warnings": told,
        "text_columns": list(summary.text_columns),
        "n_source_rows": summary.n_source_rows,
        "n_rows": summary.n_rows,
        "n_changed": summary.n_changed,
        "n_edits": summary.n_edits,
        "most_frequent": [
            {"old": old, "new": new, "count": count} for old, new, count in summary.most_frequent()
        ],
        "most_uncounted": summary.most_uncounted,
    }
    print_json(facts)


def _print_summary(
    summary: FileSummary, transformation: Transformation, target: Path, edits: Path | None
) -> None:
    share = f" ({summary.n_changed / summary.n_rows:.1%})" if summary.n_rows else ""
    echo(f"{target}: {summary.n_rows:,} rows, {summary.n_changed:,} changed{share}")
    if summary.n_source_rows != summary.n_rows:
        echo(f"made of {summary.n_source_rows:,} rows")
    if edits is not None:
        echo(f"{edits}: {sum(summary.n_edits.values()):,} edits")
    n_synonyms = transformation.describe().get("options", {}).get("n_synonyms")
    facts = "" if n_synonyms is None else f": {n_synonyms:,} synonyms"
    echo(f"{transformation.name}@{transformation.fingerprint[:8]}{facts}")
    if not transformation.keeps_labels:
        echo("Labels were set anew, for this transformation does not keep them.")
    for rule, count in summary.n_edits.items():
        echo(f"  {rule:<14} {count:>12,}")
    most = [
        (f"{_shorten(old)} -> {_shorten(new)}", count)
        for old, new, count in summary.most_frequent()
    ]
    if most:
        too_low = summary.most_uncounted
        how_sure = f" (counts may be up to {too_low:,} too low)" if too_low else ""
        echo(f"Most frequent{how_sure}:")
        width = max(len(words) for words, _ in most)
        for words, count in most:
            echo(f"  {words:<{width}} {count:>12,}")


def _shorten(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
