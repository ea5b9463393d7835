"""``ietest-fast export``: a fine-tuned classifier as an ONNX folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ietest_fast.cli.options import print_json

if TYPE_CHECKING:
    from ietest_fast.models.export import ExportCheck

_FILE = click.Path(path_type=Path)

# Pairs on which both are run, unless the file has fewer.
_CHECKED = 1000


@click.command("export")
@click.argument("checkpoint", type=_FILE)
@click.argument("target", metavar="OUT", type=_FILE)
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
    type=_FILE,
    help="Labelled texts to compare the export with PyTorch on.  [default: the built-in corpus]",
)
@click.option(
    "--n-check",
    type=click.IntRange(min=1),
    default=_CHECKED,
    show_default=True,
    help="How many of them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    *,
    checkpoint: Path,
    target: Path,
    precision: str,
    texts: Path | None,
    n_check: int,
    as_json: bool,
) -> None:
    """Write the classifier in the folder CHECKPOINT as an ONNX folder OUT, and compare the two.

    OUT has model.onnx, config.json, tokenizer.json and the rest, as Optimum lays them out. Needs
    the extra `train`; `ietest-fast eval --onnx OUT` does not.
    """
    from ietest_fast.corpus import demo_corpus, read_corpus
    from ietest_fast.models.export import export_onnx

    corpus = demo_corpus(n_check, seed=0) if texts is None else read_corpus(texts)
    columns = [corpus.texts(name).slice(0, n_check).to_pylist() for name in corpus.text_columns]
    exported = export_onnx(checkpoint, target, precision=precision, texts=columns)  # type: ignore[arg-type]
    found = cast("ExportCheck", exported.check)
    if as_json:
        print_json(
            {
                "folder": str(exported.folder),
                "precision": precision,
                "model_bytes": exported.n_bytes,
                "n_checked": found.n,
                "largest_difference": found.largest_difference,
                "n_flipped": found.n_flipped,
            }
        )
        return
    click.echo(f"{exported.folder}: model.onnx, {precision}, {exported.n_bytes / 1e6:,.1f} MB")
    click.echo(
        f"Beside PyTorch in fp32, on {found.n:,} inputs: logits differ by "
        f"{found.largest_difference:.2g} at most, {found.n_flipped:,} labels are others."
    )
