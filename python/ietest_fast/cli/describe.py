"""``ietest-fast describe``: what is in a dataset."""

from __future__ import annotations

import contextlib
import itertools
import re
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Literal

import click

from ietest_fast.cli.options import LABELS, NAMES, check_not_given, csv_option, reading_options
from ietest_fast.numerals import say_count
from ietest_fast.report.progress import show_stage
from ietest_fast.report.terminal import echo, make_console, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from rich.table import Table as RichTable

    from ietest_fast.analyses.partial_input import PartialInput
    from ietest_fast.corpus import Corpus, Description, Overlap


@click.command("describe")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--text-columns",
    type=NAMES,
    metavar="A[,B]",
    help="Columns with the one or two texts.  [default: premise,hypothesis or "
    "sentence1,sentence2 or text or sentence]",
)
@click.option(
    "--label-column", metavar="NAME", help="The column of labels.  [default: label or gold_label]"
)
@click.option(
    "--label-names",
    type=LABELS,
    metavar="A,B,...",
    help="Names of the labels 0, 1, ...  [default: found in the files]",
)
@reading_options
@click.option(
    "--demo", type=click.IntRange(min=1), metavar="N", help="Describe N demonstration pairs."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the demonstration pairs.")
@click.option(
    "--partial-input",
    is_flag=True,
    help="Also train a bag of words on each text column of the first FILE alone and test it on the "
    "last: what it gets right beyond chance, it owes to artefacts.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")
@csv_option()
def command(
    *,
    files: tuple[str, ...],
    drop_missing_texts: bool,
    demo: int | None,
    seed: int,
    partial_input: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Say what is in FILEs (train, valid, test, ...), what would be dropped, and what they share.

    Files are Parquet, CSV, TSV or JSON lines, among them the original SNLI and MNLI files.
    """
    if (demo is None) == (not files):
        raise click.UsageError("Give files to describe, or --demo N.")
    if partial_input and len(files) < 2:
        raise click.UsageError("--partial-input needs two files: to train on, and to test on.")
    n_columns = len(reading["text_columns"] or ())
    if n_columns > 2:
        raise click.BadParameter(
            f"one or two columns hold texts, not {n_columns}", param_hint="--text-columns"
        )
    if demo is not None:
        of_files = ("text-columns", "label-column", "label-names", "drop-missing-texts", "quoted")
        check_not_given(*of_files, because="is for files; the demonstration pairs have their own")
    else:
        check_not_given("seed", because="is for the pairs of --demo")

    from ietest_fast.corpus import demo_corpus, describe, find_overlap, read_corpora

    missing_text: Literal["drop", "error"] = "drop" if drop_missing_texts else "error"
    baselines: list[PartialInput] = []
    with show_stage("Describing"):
        if demo is not None:
            corpora: tuple[Corpus, ...] = (demo_corpus(demo, seed=seed),)
        else:
            corpora = read_corpora(files, missing_text=missing_text, **reading)
            _say_other_annotators(corpora, quoted=reading["quoted"])
        descriptions = [_without_foreign(describe(corpus), corpus) for corpus in corpora]
        overlaps = [find_overlap(*pair) for pair in itertools.combinations(corpora, 2)]
        if partial_input:
            from ietest_fast.analyses.partial_input import measure_partial_input

            baselines = measure_partial_input(corpora[0], corpora[-1])
    if as_json:
        found: dict[str, Any] = {
            "corpora": [description.to_dict() for description in descriptions],
            "overlaps": [asdict(overlap) for overlap in overlaps],
        }
        if partial_input:
            found["partial_input"] = [
                asdict(each) | {"interval": each.interval._asdict()} for each in baselines
            ]
        print_json(found)
        return
    _print(descriptions, overlaps)
    if baselines:
        from ietest_fast.analyses.partial_input import partial_input_table

        print_table(partial_input_table(baselines))


def _without_foreign(description: Description, corpus: Corpus) -> Description:
    """Leave out the reading ease of texts that are not English, and say so."""
    from ietest_fast.corpus.description import Readability
    from ietest_fast.lexicon.reviewed import MOST_TEXTS, count_languages

    columns = []
    for column in description.columns:
        own = column
        found = count_languages(corpus.texts(column.name).slice(0, MOST_TEXTS).to_pylist())
        if found.is_foreign:
            echo(
                f"Warning: {description.source}, column {column.name!r}: the texts are "
                f"{found.main}, so no reading ease (Flesch) is given, which is for English.",
                err=True,
            )
            ease = Readability(mean=None, q25=None, median=None, q75=None, n_without=len(corpus))
            own = replace(column, reading_ease=ease)
        columns.append(own)
    return replace(description, columns=tuple(columns))


def _say_other_annotators(corpora: Sequence[Corpus], *, quoted: bool | None) -> None:
    """Count the labels that annotators' columns of SNLI and MNLI contradict; nobody asked for them.

    Rows may end before these columns; then nothing is said.
    """
    from ietest_fast.corpus.description import count_other_annotators
    from ietest_fast.errors import InputError

    for corpus in corpora:
        with contextlib.suppress(InputError):
            annotators = _read_annotators(corpus.source, quoted=quoted)
            n = 0 if annotators is None else count_other_annotators(corpus, annotators)
            if annotators is not None and n:
                first, *_, last = annotators.column_names * 2
                which = first if first == last else f"{first} to {last}"
                echo(
                    f"Warning: {corpus.source}: the label of {say_count(n, 'row')} is none of the "
                    f"most frequent ones of its annotators ({which}); is it of another row?",
                    err=True,
                )


def _read_annotators(path: str, *, quoted: bool | None) -> pa.Table | None:
    """Read annotators' labels; fewer than three columns may be coarse and fine labels."""
    import pyarrow as pa

    from ietest_fast.corpus.streams import open_batches

    with open_batches(path, quoted=quoted) as batches:
        names = batches.schema.names
    wanted = [name for name in names if name == "annotator_labels"]
    wanted = wanted or [name for name in names if re.fullmatch(r"label\d", name)]
    if not wanted or (len(wanted) < 3 and wanted != ["annotator_labels"]):
        return None
    with open_batches(path, columns=wanted, quoted=quoted) as batches:
        return pa.Table.from_batches(list(batches), schema=batches.schema)


def _print(descriptions: Sequence[Description], overlaps: Sequence[Overlap]) -> None:
    console = make_console()
    for description in descriptions:
        console.print(description.source, style="bold")
        console.print(_facts_table(description))
        console.print(_lengths_table(description))
        for line in (*_say_repeats(description), *_say_ease(description)):
            console.print(f"  {line}")
        console.print()
    for overlap in overlaps:
        console.print(
            f"{overlap.second} shares {overlap.n_same_words:,} rows with {overlap.first}"
            f"{_of_other_labels(overlap.n_conflicts)}, and {overlap.n_shared_texts:,} first texts "
            "(case and final period aside)"
        )


def _facts_table(description: Description) -> RichTable:
    from rich.table import Table

    labels = ", ".join(
        f"{name} {count:,} ({count / max(description.n_rows, 1):.1%})"
        for name, count in description.labels.items()
    )
    lines = [
        ("rows", f"{description.n_rows:,}"),
        ("labels", labels),
        ("dropped", _counts(description.dropped)),
        ("duplicates", _duplicates(description)),
        ("vocabulary", f"{description.vocabulary_size:,} words"),
        ("fingerprint", description.fingerprint),
    ]
    if description.is_one_class:
        lines.append(("warning", "all rows have the same label: nothing can be learned here"))
    facts = Table.grid(padding=(0, 2))
    for name, value in lines:
        facts.add_row(f"  {name}", value)
    return facts


def _lengths_table(description: Description) -> RichTable:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    for heading in ("  length of", "min", "mean", "median", "p95", "max"):
        table.add_column(heading, justify="left" if heading[0] == " " else "right")
    for column in description.columns:
        for unit, lengths in (("words", column.words), ("characters", column.characters)):
            table.add_row(
                f"  {column.name}, in {unit}",
                str(lengths.min),
                f"{lengths.mean:.1f}",
                f"{lengths.median:g}",
                f"{lengths.p95:g}",
                str(lengths.max),
            )
    return table


def _say_repeats(description: Description) -> Iterator[str]:
    """Say how often texts stand in several rows, and what to do about it."""
    for column in description.columns:
        blank = f", {column.n_blank:,} blank" if column.n_blank > 0 else ""
        yield (
            f"{column.name}: {column.n_distinct:,} different texts{blank}; "
            f"{column.repeated_share:.1%} of the rows have one that others have, too"
        )
    clusters = description.suggested_clusters
    if clusters is not None:
        yield (
            f"Rows with the same {clusters} are not independent; draw them together: "
            f"--clusters {clusters}"
        )


def _say_ease(description: Description) -> Iterator[str]:
    """Say how easy the texts of each column are to read, where they have words."""
    for column in description.columns:
        ease = column.reading_ease
        if ease.mean is None:
            continue
        without = f"; {ease.n_without:,} without words" if ease.n_without > 0 else ""
        yield (
            f"{column.name}: reading ease (Flesch) {ease.mean:.0f}, half of the texts from "
            f"{ease.q25:.0f} to {ease.q75:.0f}{without}"
        )


def _duplicates(description: Description) -> str:
    if description.n_same_words == 0:
        return "none"
    return (
        f"{description.n_duplicates:,} exact; {description.n_same_words:,} with the same words "
        f"(case and final period aside){_of_other_labels(description.n_conflicts)}"
    )


def _of_other_labels(n: int) -> str:
    return f", {n:,} of them with another label" if n > 0 else ""


def _counts(dropped: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in dropped.items()) or "none"
