"""Options of ``ietest-fast consistency``, and which of them go together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.logs import OF_LOGS
from ietest_fast.cli.models import check_out
from ietest_fast.cli.options import (
    MOST_RESAMPLES,
    MOST_THREADS,
    NAMES,
    OpenShare,
    add_options,
    check_not_given,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_FILE = click.Path(path_type=Path)

OF_MODELS = (
    "test",
    "tokenizer",
    "label-map",
    "input",
    "provider",
    "runtime",
    "onnx-inputs",
    "onnx-output",
    "precision",
    "max-length",
    "keep-columns",
    "phi",
    "draws",
    "share",
    "reword",
    "labels-file",
    "lexicon-from",
    "item-column",
    "version-column",
)
"""Names of the options of a model that is run."""


def paraphrase_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says where the paraphrases of a test file are, or how they are made."""
    options = [
        click.option(
            "--phi",
            "phis",
            metavar="NAME[:option=value,...]",
            multiple=True,
            help="Make the paraphrases of the labelled test file by this transformation "
            "(`ietest-fast transform --list`). May be repeated.  [default: the test file holds "
            "the paraphrases]",
        ),
        click.option(
            "--draws",
            metavar="K",
            type=click.IntRange(min=1),
            help="Make K different random draws of each --phi: each makes some of the possible "
            "edits.  [default: --phi once, with all edits]",
        ),
        click.option(
            "--share",
            type=OpenShare(),
            help="Of --draws: the probability of each possible edit.  [default: 0.5]",
        ),
        click.option(
            "--reword",
            metavar="A[,B,...]",
            type=NAMES,
            help="Columns that --phi rewords.  [default: all that the model sees; of α-NLI "
            "hyp1,hyp2; of δ-NLI update]",
        ),
        click.option(
            "--labels-file",
            metavar="FILE",
            type=_FILE,
            help="Of α-NLI: its labels, one a line.  [default: dev-labels.lst beside dev.jsonl]",
        ),
        click.option(
            "--lexicon-from",
            metavar="TRAIN",
            type=_FILE,
            multiple=True,
            help="A file that --phi learns from.  [default: the test file]",
        ),
        click.option(
            "--item-column",
            metavar="NAME",
            help="Of the test file: which item a row is a wording of, or with --phi the name of "
            "each row.  [default: item; with --phi the number of the row]",
        ),
        click.option(
            "--version-column",
            metavar="NAME",
            help="Of the test file: what the wordings are called, the original `original`.  "
            "[default: version if there is one; otherwise the first row of an item is its "
            "original]",
        ),
    ]
    return add_options(command, options)


def measure_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says which items are measured, and by what they are parted."""
    options = [
        click.option(
            "--test-set",
            "test_sets",
            metavar="LOG",
            type=_FILE,
            multiple=True,
            help="Answers of the same model to the full test set, with probabilities: estimate its "
            "accuracy and P_C there. For several models repeat it in their order.",
        ),
        click.option(
            "--strata",
            "n_strata",
            metavar="N",
            type=click.IntRange(1, 10_000),
            help="Of --test-set: strata of confidence.  [default: 10]",
        ),
        click.option(
            "--subset",
            metavar="COLUMN",
            help="Also measure consistency by this column's values: of items (difficulty), or of "
            "their paraphrases (source, version).",
        ),
        click.option(
            "--clusters",
            metavar="COLUMN",
            help="Items with equal values in this column belong together (source text).",
        ),
        click.option(
            "--drop-mixed",
            is_flag=True,
            help="Leave out items whose wordings have different gold labels, and count them.  "
            "[default: an error]",
        ),
    ]
    return add_options(command, options)


def interval_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says how intervals are found, and ``--json``."""
    options = [
        click.option(
            "--intervals",
            type=click.Choice(["exact", "resample"]),
            default="exact",
            show_default=True,
            help="The limit for many resamples where there is one, or resamples for all.",
        ),
        click.option(
            "--n-resamples",
            "-S",
            type=click.IntRange(1, MOST_RESAMPLES),
            help="S, of the bootstrap over items.  [default: 10,000]",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Seed of --draws and of the bootstrap.",
        ),
        click.option(
            "--threads", "n_threads", type=click.IntRange(1, MOST_THREADS), help="[default: all]"
        ),
        click.option(
            "--confidence-level",
            type=OpenShare(),
            default=0.95,
            show_default=True,
            help="Of all intervals.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    ]
    return add_options(command, options)


def check_together(
    files: Sequence[Path], test_sets: Sequence[Path], options: Mapping[str, Any]
) -> None:
    """Refuse options that do not go together, and targets that cannot be."""
    check_not_given(*OF_LOGS, because="is for predictions made elsewhere")
    if options["phis"]:
        check_not_given("version-column", because="is for a file of paraphrases; --phi makes them")
        check_not_given("drop-mixed", because="is for a file of paraphrases; --phi keeps labels")
    else:
        check_not_given("draws", "reword", "labels-file", "lexicon-from", because="needs --phi")
    if options["draws"] is None:
        check_not_given("share", because="needs --draws")
    read = [*files, *test_sets, *options["lexicon_from"]]
    read += [options["labels_file"], options["partial_input"]]
    check_out(options["out"], read)
