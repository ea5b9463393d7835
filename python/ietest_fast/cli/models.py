"""Options that say which finished model is run, and on what; ``eval`` and ``stress`` share them."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ietest_fast.cli.options import NAMES, CommaList, check_not_given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ietest_fast.models import TextClassifier

_FILE = click.Path(path_type=Path)


def _pair(text: str) -> tuple[str, str]:
    source, equals, target = text.partition("=")
    if not equals or not source.strip() or not target.strip():
        raise ValueError(text)
    return source.strip(), target.strip()


#: Which of a model's inputs is what.
_INPUTS = CommaList(
    "NAME=ROLE,...", _pair, bool, "is not a list such as ids=input_ids,mask=attention_mask"
)
#: Which of a model's labels is which of the data's.
_LABEL_MAP = CommaList(
    "MODEL=DATA,...", _pair, bool, "is not a list such as LABEL_0=entailment,LABEL_1=neutral"
)

# Of one kind of model only.
_OF_ONNX = ("tokenizer", "provider", "runtime", "onnx-inputs", "onnx-output")


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says which model is run on what."""
    options = [
        click.option(
            "--onnx",
            metavar="PATH",
            type=_FILE,
            help="Run this model: a folder with model.onnx, tokenizer.json and config.json, or an "
            ".onnx file with these beside it.",
        ),
        click.option(
            "--model",
            metavar="CHECKPOINT",
            help="Run this PyTorch checkpoint: a folder, or a name of the hub.",
        ),
        click.option("--test", type=_FILE, help="File of labelled texts to run the model on."),
        click.option("--tokenizer", type=_FILE, help="tokenizer.json, or its folder."),
        click.option(
            "--label-map",
            type=_LABEL_MAP,
            help="The data's name of each of the model's labels, by name or number.",
        ),
        click.option(
            "--input",
            metavar="COLUMN",
            help="Show the model this column only, such as premise or hypothesis.",
        ),
        click.option("--text-columns", metavar="A[,B]", help="Columns that hold texts."),
        click.option(
            "--runtime",
            type=click.Choice(["onnxruntime", "openvino"]),
            help="What runs the ONNX file.  [default: OpenVINO if it is installed and there is no "
            "GPU]",
        ),
        click.option("--provider", help="Of ONNX Runtime.  [default: the best there is]"),
        click.option(
            "--onnx-inputs",
            type=_INPUTS,
            help="What the ONNX file's inputs are, where they have other names: input_ids, "
            "attention_mask, token_type_ids or position_ids.",
        ),
        click.option(
            "--onnx-output",
            metavar="NAME",
            help="The ONNX file's output with the class scores.  [default: logits, or the one of "
            "shape (texts, labels)]",
        ),
        click.option(
            "--precision",
            type=click.Choice(["fp32", "bf16"]),
            help="Of products of matrices.  [default: --onnx: the file's own; --model: bf16 where "
            "that is faster]",
        ),
        click.option(
            "--max-length",
            type=click.IntRange(min=4),
            help="Longest input in tokens.  [default: the model's]",
        ),
        click.option(
            "--out",
            type=_FILE,
            help="Write all answers to this Parquet file, a row for each text and version.",
        ),
        click.option(
            "--keep-columns",
            type=NAMES,
            default=(),
            metavar="A[,B,...]",
            help="More columns of the test file for --out.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def check_out(path: Path | None, inputs: Sequence[Path | None]) -> None:
    """Find out before the work whether its result can be written, and over what."""
    from ietest_fast.corpus.batch_writer import check_target
    from ietest_fast.transform.files import check_distinct

    if path is None:
        return
    check_target(path)
    if path.suffix != ".parquet":
        raise click.UsageError(f"--out is a Parquet file, not {path.name}")
    for other in inputs:
        if other is not None:
            check_distinct(other, path)


def load_model(onnx: Path | None, model: str | None, options: dict[str, Any]) -> TextClassifier:
    """Load the model that was asked for."""
    from ietest_fast.models.checkpoint import CheckpointClassifier
    from ietest_fast.models.onnx import OnnxClassifier

    common = {
        "n_threads": options["n_threads"],
        "max_length": options["max_length"],
    }
    precision = options["precision"]
    if onnx is None:
        check_not_given(*_OF_ONNX, because="is for --onnx")
        return CheckpointClassifier(cast("str", model), precision=precision or "auto", **common)
    return OnnxClassifier.load(
        onnx,
        tokenizer=options["tokenizer"],
        providers=None if options["provider"] is None else [options["provider"]],
        runtime=options["runtime"],
        inputs=None if options["onnx_inputs"] is None else dict(options["onnx_inputs"]),
        output=options["onnx_output"],
        precision=precision or "fp32",
        **common,
    )


class Bar:
    """Shows nothing."""

    def start(self, total: int) -> None:
        """Begin with so many inputs."""

    def advance(self, n: int) -> None:
        """Say that so many more are done."""


@contextmanager
def show_progress() -> Iterator[Bar]:
    """Give a bar, that shows something on a terminal."""
    if not sys.stderr.isatty():
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:

        class Shown(Bar):
            def start(self, total: int) -> None:
                self._task = progress.add_task("Running the model", total=total)

            def advance(self, n: int) -> None:
                progress.advance(self._task, n)

        yield Shown()
