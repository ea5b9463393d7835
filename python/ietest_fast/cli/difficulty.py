"""``ietest-fast difficulty``: which items of a file are easy for linear classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import (
    FILE,
    FiniteRange,
    check_not_given,
    check_out,
    csv_option,
    split_names,
    threads_option,
)
from ietest_fast.numerals import say_count
from ietest_fast.report.progress import show_progress
from ietest_fast.report.terminal import echo, print_json, print_table

if TYPE_CHECKING:
    from pathlib import Path

    from ietest_fast.analyses.difficulty.file import MarkedFile


@click.command("difficulty")
@click.argument("source", metavar="FILE", type=FILE)
@click.option(
    "--out",
    type=FILE,
    help="Write FILE with the columns difficulty (easy, difficult) and aflite_score.",
)
@click.option(
    "--embeddings",
    metavar="VECTORS",
    type=FILE,
    help="A vector for each row of FILE, in its order: a .npy file of shape (rows, d), or a "
    "Parquet file with a column of lists.  [default: the words of the texts]",
)
@click.option(
    "--embedding-column",
    metavar="NAME",
    help="Of a Parquet file of --embeddings.  [default: the only column of lists]",
)
@click.option(
    "--encoder",
    metavar="MODEL",
    type=FILE,
    help="Compute the vectors: the mean over tokens of this encoder's output (ONNX file or folder, "
    "or a checkpoint).",
)
@click.option("--text-columns", metavar="A[,B]", help="Columns that hold texts.")
@click.option("--input", "input_column", metavar="COLUMN", help="Look at this column only.")
@click.option(
    "--label-column",
    metavar="NAME",
    help="Column of labels.  [default: label or gold_label; gold in a table of answers]",
)
@click.option(
    "--item-column",
    metavar="NAME",
    help="Rows with equal values are wordings of an item: it counts once, by its version "
    "`original` or its first row.  [default: item if there is one; otherwise each row is an item]",
)
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Items with equal values are trained on together or not at all (source text).",
)
@click.option(
    "--tau",
    type=FiniteRange(0, 1, min_open=True),
    default=0.75,
    show_default=True,
    help="Items whose score is above it are easy.",
)
@click.option(
    "--slice-size",
    metavar="K",
    type=click.IntRange(min=1),
    help="The most items that a round removes.  [default: 500, or one of 40 if that is less]",
)
@click.option(
    "--classifiers",
    "n_classifiers",
    metavar="N",
    type=click.IntRange(1, 100_000),
    default=64,
    show_default=True,
    help="Of each round.",
)
@click.option(
    "--train-size",
    "n_train",
    metavar="N",
    type=click.IntRange(min=2),
    help="Items that a classifier is trained on.  [default: 10,000, or half if that is less]",
)
@click.option(
    "--target-size",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Stop when so many items are left.",
)
@click.option(
    "--min-texts",
    metavar="N",
    type=click.IntRange(min=1),
    help="Leave out words that fewer items have.  [default: 2]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@csv_option()
def command(
    *,
    source: Path,
    out: Path | None,
    embeddings: Path | None,
    embedding_column: str | None,
    encoder: Path | None,
    text_columns: str | None,
    min_texts: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Mark the items of FILE as easy or difficult for linear classifiers (AFLite).

    In each round, logistic regressions are trained on random parts of the items and predict the
    others. An item's score is the share of predictions that are right; a round removes those with
    the highest scores. The file that --out writes goes into `ietest-fast consistency --subset
    difficulty`.
    """
    if embeddings is not None and encoder is not None:
        raise click.UsageError("--embeddings or --encoder, not both")
    if embeddings is not None:
        check_not_given(
            "input", "text-columns", because="is for texts; --embeddings takes no texts"
        )
    if embeddings is None:
        check_not_given("embedding-column", because="needs --embeddings")
    if embeddings is not None or encoder is not None:
        check_not_given("min-texts", because="is for words; --embeddings and --encoder have none")
    from ietest_fast.analyses.difficulty.file import (
        FeatureSource,
        difficulty_table,
        mark_difficulty,
        round_table,
    )

    check_out(out, [source, embeddings, encoder], only_parquet=False)
    with show_progress() as progress:
        found = mark_difficulty(
            source,
            features=FeatureSource(
                vectors=embeddings,
                column=embedding_column,
                encoder=encoder,
                min_texts=2 if min_texts is None else min_texts,
            ),
            text_columns=split_names(text_columns),
            on_progress=progress("Training, classifiers"),
            **options,
        )
    if out is not None:
        found.write(out)
    if as_json:
        print_json(_describe(found, out))
        return
    print_table(round_table(found))
    print_table(difficulty_table(found))
    for line in _remarks(found):
        echo(line)
    if out is not None:
        echo(f"{out}: {found.table.num_rows:,} rows")


def _remarks(found: MarkedFile) -> list[str]:
    said, n = [], found.difficulty.n_unscored
    if found.has_wordings:
        said.append(
            f"{say_count(found.table.num_rows - found.n_unmarked, 'wording')} of "
            f"{say_count(found.n_items, 'item')}; each is marked as its item's original."
        )
    if found.n_unmarked:
        said.append(
            f"{say_count(found.n_unmarked, 'row')} without a gold label "
            f"{'is' if found.n_unmarked == 1 else 'are'} not marked."
        )
    if n:
        said.append(
            f"{say_count(n, 'item has', 'items have')} no score, because every classifier was "
            f"trained on {'it' if n == 1 else 'them'}, and no mark. More --classifiers or a "
            f"smaller --train-size score {'it' if n == 1 else 'them'}."
        )
    if found.difficulty.n_not_converged:
        n_rough = found.difficulty.n_not_converged
        said.append(
            f"{say_count(n_rough, 'classifier was', 'classifiers were')} not fitted to the end, so "
            "that scores are rough; standardise the columns of the vectors (mean 0, deviation 1)."
        )
    return said


def _describe(found: MarkedFile, out: Path | None) -> dict[str, Any]:
    own = found.difficulty
    return {
        "out": None if out is None else str(out),
        "rows": found.table.num_rows,
        "items": found.n_items,
        "easy": int(own.easy.sum()),
        "difficult": int(own.difficult.sum()),
        "left": int(own.is_left.sum()),
        "without_score": own.n_unscored,
        "unmarked_rows": found.n_unmarked,
        "features": found.n_features,
        "text_columns": list(found.text_columns),
        "tau": own.tau,
        "train_size": found.n_train,
        "slice_size": found.slice_size,
        "ended": own.ended,
        "rounds": [vars(each) for each in own.rounds],
    }
