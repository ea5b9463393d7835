"""Write written_files.tar.gz: what each command writes, and what it says when it reads that again.

Made once, with the commit before analyses moved into rooms of their own, and not to be made again:
PYTHONPATH=tests python tests/golden/make_written_files.py
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv

from command_line import run_here
from tiny_models import LABELS, make_onnx_folder

PREMISES = (
    "Two large dogs run in the park",
    "A dog sleeps on the sofa",
    "The man pays 20 dollars for a small couch.",
)
HYPOTHESES = (
    "A big dog runs.",
    "Nobody eats.",
    "The cat is small.",
    "Somebody runs outside the house.",
)
_ASKED = ("--onnx", "model", "--test", "test.csv", "--runtime", "onnxruntime")
WRITES = {
    "eval.parquet": ("eval", *_ASKED, "--phi", "syn.careful"),
    "stress.parquet": ("stress", *_ASKED),
    "consistency.parquet": (
        *("consistency", *_ASKED, "--phi", "syn.careful", "--draws", "3", "-S", "200"),
    ),
    "logic.parquet": ("stress", "--suite", "logic", *_ASKED, "--draws", "2"),
}
READS = {
    "eval.parquet": ("eval", "eval.parquet", "--json"),
    "stress.parquet": ("stress", "stress.parquet", "--json"),
    "consistency.parquet": ("consistency", "consistency.parquet", "-S", "200", "--json"),
    "logic.parquet": ("stress", "logic.parquet", "--suite", "logic", "-S", "200", "--json"),
}
RUN = (
    *("run", "--demo", "--demo-sizes", "200,60,100", "--model", "ngram-linear", "--search", "2"),
    *("-M", "3", "--rho", "0,1", "--n-jobs", "1", "--out", "run", "--json"),
)


def write_texts(path: Path) -> None:
    """Write 48 labelled pairs."""
    rows = [(premise, hypothesis) for premise in PREMISES for hypothesis in HYPOTHESES] * 4
    table = pa.table(
        {
            "premise": [premise for premise, _ in rows],
            "hypothesis": [hypothesis for _, hypothesis in rows],
            "label": [LABELS[i % 3] for i in range(len(rows))],
        }
    )
    pacsv.write_csv(table, path)


def call(folder: Path, arguments: tuple[str, ...]) -> str:
    """Run a command in a folder and return what it prints."""
    status, out, err = run_here(*arguments, folder=folder)
    if status:
        raise SystemExit(f"{' '.join(arguments)}: {err}")
    return out


def leave_pictures_out(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """They are drawn anew."""
    return None if member.name.endswith((".png", ".svg", ".lock")) else member


def main() -> None:
    target = Path(__file__).with_name("written_files.tar.gz")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_onnx_folder(folder / "model")
        write_texts(folder / "test.csv")
        for name, arguments in WRITES.items():
            call(folder, (*arguments, "--out", name))
        said = {name: json.loads(call(folder, arguments)) for name, arguments in READS.items()}
        said["run"] = json.loads(call(folder, RUN))
        (folder / "said.json").write_text(json.dumps(said, indent=1) + "\n", "utf-8")
        with tarfile.open(target, "w:gz") as archive:
            for name in (*WRITES, "run", "said.json"):
                archive.add(folder / name, name, filter=leave_pictures_out)


if __name__ == "__main__":
    main()
