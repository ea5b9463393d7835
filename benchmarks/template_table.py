"""Table 3.2 of Salvatore (2020), and its controls: classifiers on the tasks of logic templates.

Run ``python -m benchmarks.template_table --out FOLDER``. Makes the corpus of each task with the
labels of the thesis, trains each model once with its default hyperparameters (or with ``--search``
trials of a search, as the thesis does), and prints accuracies on the test set. ``--checkpoint
FOLDER`` adds a transformer that is fine-tuned. ``--controls`` trains it on shuffled labels, on
premises only and on hypotheses only (section 3.4.5). Runs stand in FOLDER, and finished ones are
not made again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TASKS = (
    "simple-negation",
    "boolean-coordination",
    "quantifier",
    "definite-description",
    "comparative",
    "counting",
    "mixed",
)
MODELS = ("bow-rf", "rnn", "gru", "lstm")
CONTROLS = {
    "noise label": ["--shuffle-labels"],
    "premise only": ["--input", "premise"],
    "hypothesis only": ["--input", "hypothesis"],
}


def run(*arguments: object) -> str:
    """Run the command line and return what it prints."""
    command = [str(Path(sys.executable).with_name("ietest-fast")), *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def make_corpus(task: str, language: str, options: argparse.Namespace) -> Path:
    """Make the corpus of a task, unless it is there."""
    folder: Path = options.out / "corpora" / f"{task}-{language}"
    if not (folder / "templates.json").exists():
        run(
            "templates",
            task,
            f"--language={language}",
            f"--rules={options.rules}",
            "--labels=contradiction",
            "--n=10000,1000,1000",
            f"--seed={options.seed}",
            f"--out={folder}",
            *(["--shared-names"] if options.shared_names else []),
        )
    return folder


def accuracy(corpus: Path, model: Sequence[str], out: Path, options: argparse.Namespace) -> float:
    """Train a model once on a corpus, and return its accuracy on the test set, in percent."""
    said = run(
        "run",
        *(f"--{part}={corpus / part}.parquet" for part in ("train", "valid", "test")),
        "--label-names=contradiction,non-contradiction",
        # A run needs a second version of the test set; the table is about the first.
        "--phi=spelling",
        "--rho=0",
        "--n-classifiers=1",
        f"--seed={options.seed}",
        f"--out={out}",
        "--n-jobs=1",
        "--n-threads=2",
        "--json",
        *model,
    )
    (rho,) = json.loads(said)["conditions"][0]["rhos"]
    return 100 * float(rho["accuracy_original"]["mean"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--task", action="append", choices=TASKS, help="[all]")
    parser.add_argument("--language", action="append", choices=["en", "pt"], help="[both]")
    parser.add_argument("--model", action="append", help=f"[{', '.join(MODELS)}]")
    parser.add_argument("--checkpoint", type=Path, help="a transformer to fine-tune")
    parser.add_argument("--controls", action="store_true", help="train them on the controls")
    parser.add_argument("--search", type=int, help="trials of a search [none]")
    parser.add_argument("--rules", choices=["thesis", "released"], default="thesis")
    parser.add_argument("--shared-names", action="store_true", help="question (ii)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    models = {
        name: [f"--model={name}", f"--search={options.search or 'default'}"]
        for name in (options.model or ([] if options.checkpoint else MODELS))
    }
    if options.checkpoint:
        models[options.checkpoint.name] = [
            "--model=transformer",
            f"--model-option=checkpoint={options.checkpoint}",
            "--param=epochs=3",
            "--param=learning_rate=1e-4",
        ]
    variants = CONTROLS if options.controls else {"": []}
    for language in options.language or ("en", "pt"):
        for task in options.task or TASKS:
            corpus = make_corpus(task, language, options)
            for name, model in models.items():
                for variant, own in variants.items():
                    place = f"{task}-{language}-{name}-{variant.replace(' ', '-')}".rstrip("-")
                    found = accuracy(corpus, [*model, *own], options.out / place, options)
                    print(f"{task} ({language}) | {name} | {variant} | {found:.1f}", flush=True)


if __name__ == "__main__":
    main()
