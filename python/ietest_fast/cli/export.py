"""``ietest-fast export``: a fine-tuned classifier as an ONNX folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from ietest_fast.cli.options import FILE
from ietest_fast.report.progress import show_stage
from ietest_fast.report.terminal import echo, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.corpus import Corpus
    from ietest_fast.models.onnx_models.export import ExportCheck

# Texts on which both are run, and on which ranges are measured, unless the file has fewer.
_CHECKED = 1000
_CALIBRATED = 300


def _spread(rows: Sequence[int], n: int) -> Sequence[int]:
    """Choose rows at equal distances, for files are often sorted."""
    n = min(n, len(rows))
    return [rows[i * len(rows) // n] for i in range(n)]


def _take(corpus: Corpus, rows: Sequence[int]) -> list[list[str]]:
    return [corpus.texts(name).take(rows).to_pylist() for name in corpus.text_columns]


def _choose_texts(
    check: Path | None, n_check: int, calibration: Path | None, n_calibrate: int
) -> tuple[list[list[str]], list[list[str]] | None]:
    """Read texts to compare on and texts to measure ranges on; others, if there are others."""
    from ietest_fast.corpus import demo_corpus, read_corpus

    ranges = None
    if calibration is not None:
        corpus = read_corpus(calibration)
        every = range(corpus.table.num_rows)
        measured = _spread(every, n_calibrate)
        ranges = _take(corpus, measured)
        rows: Sequence[int] = sorted(set(every).difference(measured)) or every
    if check is not None or calibration is None:
        corpus = demo_corpus(n_check, seed=0) if check is None else read_corpus(check)
        rows = range(corpus.table.num_rows)
    return _take(corpus, _spread(rows, n_check)), ranges


@click.command("export")
@click.argument("checkpoint", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
@click.option(
    "--precision",
    type=click.Choice(["fp32", "fp16", "int8"]),
    default="fp32",
    show_default=True,
    help="fp16 is for GPUs, int8 for processors.",
)
@click.option(
    "--check",
    "texts",
    metavar="FILE",
    type=FILE,
    help="Labelled texts to compare the export with PyTorch on.  [default: other rows of "
    "--calibrate's, or the built-in corpus]",
)
@click.option(
    "--n-check",
    type=click.IntRange(min=1),
    help=f"How many of them, from all over the file.  [default: {_CHECKED}]",
)
@click.option(
    "--calibrate",
    "calibration",
    metavar="FILE",
    type=FILE,
    help="With int8: labelled texts to measure the ranges of activations on, such as the training "
    "set. OpenVINO runs the outcome fast; without, activations are quantised as they come, which "
    "ONNX Runtime runs fast.",
)
@click.option(
    "--n-calibrate",
    type=click.IntRange(min=1),
    help=f"How many of them, from all over the file.  [default: {_CALIBRATED}]",
)
@click.option(
    "--sense",
    is_flag=True,
    help="Export an encoder or a masked language model, for --sense-check and `masked`, and no "
    "classifier.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    *,
    checkpoint: Path,
    target: Path,
    precision: str,
    texts: Path | None,
    n_check: int | None,
    calibration: Path | None,
    n_calibrate: int | None,
    sense: bool,
    as_json: bool,
) -> None:
    """Write the classifier in the folder CHECKPOINT as an ONNX folder OUT, and compare the two.

    OUT has model.onnx, config.json, tokenizer.json and the rest, as Optimum lays them out. Needs
    the extra `train`, and --calibrate the extra `int8`; `ietest-fast eval --onnx OUT` does not.
    """
    from ietest_fast.models.onnx_models.export import export_onnx

    if sense:
        others = (texts, n_check, calibration, n_calibrate)
        if precision != "fp32" or any(each is not None for each in others):
            raise click.UsageError("--sense exports in fp32, and compares nothing.")
        _export_sense(checkpoint, target, as_json=as_json)
        return
    if calibration is not None and precision != "int8":
        raise click.UsageError("--calibrate is for --precision int8.")
    if n_calibrate is not None and calibration is None:
        raise click.UsageError("--n-calibrate is of --calibrate, which is not given.")
    checked, ranges = _choose_texts(
        texts, n_check or _CHECKED, calibration, n_calibrate or _CALIBRATED
    )
    n_calibrated = 0 if ranges is None else len(ranges[0])
    with show_stage("Exporting, and comparing"):
        exported = export_onnx(
            checkpoint,
            target,
            precision=precision,  # type: ignore[arg-type]
            texts=checked,
            calibration=ranges,
        )
    found = cast("ExportCheck", exported.check)
    if as_json:
        print_json(
            {
                "folder": str(exported.folder),
                "precision": precision,
                "n_calibrated": n_calibrated,
                "model_bytes": exported.n_bytes,
                "n_checked": found.n,
                "largest_difference": found.largest_difference,
                "n_flipped": found.n_flipped,
            }
        )
        return
    way = f"{precision}, ranges of {n_calibrated:,} texts" if n_calibrated else precision
    echo(f"{exported.folder}: model.onnx, {way}, {exported.n_bytes / 1e6:,.1f} MB")
    echo(
        f"Compared with PyTorch in fp32 on {found.n:,} inputs: logits differ by at most "
        f"{found.largest_difference:.2g}; {found.n_flipped:,} labels differ."
    )


def _export_sense(checkpoint: Path, target: Path, *, as_json: bool) -> None:
    """Export a model that is no classifier, and so has nothing to be compared."""
    from ietest_fast.models.onnx_models.export import count_bytes, export_sense_model

    with show_stage("Exporting"):
        folder = export_sense_model(checkpoint, target)
    n_bytes = count_bytes(folder / "model.onnx")
    if as_json:
        print_json({"folder": str(folder), "model_bytes": n_bytes})
    else:
        echo(f"{folder}: model.onnx, {n_bytes / 1e6:,.1f} MB")
