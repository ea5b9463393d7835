"""Options that say which finished model is run, and on what; several commands share them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ietest_fast.cli.options import NAMES, CommaList, add_options, check_not_given
from ietest_fast.numerals import say_count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ietest_fast.answers.asking import Evaluation
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
_OF_NETWORKS = ("precision", "max-length", "threshold")


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
            help="Run this PyTorch checkpoint: a folder, or a name of the hub; or the folder of a "
            "classifier ngram-linear that `run --keep-models` kept.",
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
    return add_options(command, options)


def need_one(
    logs: Sequence[str],
    onnx: Path | None,
    model: str | None,
    test: Path | None,
    *,
    file: str = "a file of labelled texts: --test FILE",
) -> Path:
    """Return the file to run a model on; refuse what does not go with one."""
    if logs:
        raise click.UsageError("--onnx and --model run a model; LOGs are of one that has been run")
    if onnx is not None and model is not None:
        raise click.UsageError("--onnx or --model, not both")
    if test is None:
        raise click.UsageError(f"a model needs {file}")
    return test


def read_label_map(options: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the data's name of each of the model's labels, if the user has said it."""
    return None if options["label_map"] is None else dict(options["label_map"])


def check_out(
    path: Path | None, inputs: Sequence[Path | None], *, only_parquet: bool = True
) -> None:
    """Find out before the work whether its result can be written, and over what."""
    from ietest_fast.transform import files

    if path is not None:
        other = click.UsageError(f"--out is a Parquet file, not {path.name}")
        files.check_out(path, inputs, unless_parquet=other if only_parquet else None)


def load_model(onnx: Path | None, model: str | None, options: dict[str, Any]) -> TextClassifier:
    """Load the model that was asked for."""
    from ietest_fast.models.checkpoint import CheckpointClassifier
    from ietest_fast.models.ngrams import is_ngram_folder
    from ietest_fast.models.onnx_models.classifier import OnnxClassifier

    common = {
        "n_threads": options["n_threads"],
        "max_length": options["max_length"],
        "threshold": options["threshold"],
    }
    precision = options["precision"]
    if onnx is None:
        check_not_given(*_OF_ONNX, because="is for --onnx")
        if is_ngram_folder(Path(cast("str", model)).expanduser()):
            from ietest_fast.models.ngrams import NgramTextClassifier

            check_not_given(*_OF_NETWORKS, because="is for networks, and this model is linear")
            return NgramTextClassifier(
                Path(cast("str", model)).expanduser(), n_threads=options["n_threads"]
            )
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


def describe_run(found: Evaluation) -> dict[str, Any]:
    """Return what a model that was run has to say, for JSON."""
    return {
        "backend": found.backend,
        "identity": found.identity,
        "inputs_run": found.scores.n_inputs,
        "inputs": found.scores.n_rows,
        "seconds": found.scores.seconds,
        "dropped": found.predictions.dropped,
        "warning": found.warning,
        "warnings": list(found.warnings),
    }


def say_run(found: Evaluation) -> str:
    """Return what a model that was run has to say, for people."""
    scores = found.scores
    inputs = say_count(scores.n_inputs, "different input")
    was = "was" if scores.n_inputs == 1 else "were"
    return f"{inputs} of {scores.n_rows:,} {was} run by {found.backend} in {scores.seconds:.1f} s."
