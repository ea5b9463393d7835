"""Table 3.2 and Figures 3.1 to 3.5 of Salvatore (2020): classifiers on tasks of logic templates.

Run ``python -m benchmarks.template_table --out FOLDER``. Makes the corpus of each task with the
labels of the thesis, trains each model once with its default hyperparameters (or with ``--search``
trials of a search, as the thesis does), and prints accuracies on the test set with their means over
tasks. ``--checkpoint FOLDER`` fine-tunes a transformer instead. ``--train-size`` trains on parts
of the training set (Figures 3.1, 3.2, 3.4), ``--controls`` on shuffled labels, on premises only
and on hypotheses only (Figure 3.5). ``--test-size`` makes the test set larger: the standard error
of an accuracy near 50% is 1.6 points on 1,000 pairs and 0.5 on 10,000. Runs stand in FOLDER, and
finished ones are not made again.
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
FINE_TUNING = {
    "max_length": 200,
    "learning_rate": 5e-5,
    "weight_decay": 0.01,
    "adam_epsilon": 1e-8,
    "max_grad_norm": 1,
}
EPOCHS = 3
TEST_SIZE = 1000
CONTROLS = {
    "noise label": ["--shuffle-labels"],
    "premise only": ["--input", "premise", "--phi", "spelling:columns=premise"],
    "hypothesis only": ["--input", "hypothesis"],
}


def run(*arguments: object) -> str:
    """Run the command line and return what it prints."""
    command = [str(Path(sys.executable).with_name("ietest-fast")), *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def folder_of(options: argparse.Namespace) -> Path:
    """Return the folder for what depends on these options."""
    shared = "-shared-names" if options.shared_names else ""
    test = "" if options.test_size == TEST_SIZE else f"-test-{options.test_size}"
    folder: Path = options.out / f"{options.rules}-seed-{options.seed}{shared}{test}"
    return folder


def make_corpus(task: str, language: str, options: argparse.Namespace) -> Path:
    """Make the corpus of a task, unless it is there."""
    folder = folder_of(options) / "corpora" / f"{task}-{language}"
    if not (folder / "templates.json").exists():
        run(
            "templates",
            task,
            f"--language={language}",
            f"--rules={options.rules}",
            "--labels=contradiction",
            f"--n=10000,1000,{options.test_size}",
            f"--seed={options.seed}",
            f"--out={folder}",
            *(["--shared-names"] if options.shared_names else []),
        )
    return folder


def measure(
    corpus: Path, model: Sequence[str], out: Path, options: argparse.Namespace
) -> dict[int | None, float]:
    """Train a model on a corpus, and return its accuracies on the test set by size, in percent."""
    said = run(
        "run",
        *(f"--{part}={corpus / part}.parquet" for part in ("train", "valid", "test")),
        "--label-names=contradiction,non-contradiction",
        # A run needs a second version of the test set; the table is about the first.
        *([] if "--phi" in model else ["--phi=spelling"]),
        "--rho=0",
        "--n-classifiers=1",
        f"--seed={options.seed}",
        f"--out={out}",
        "--n-jobs=1",
        "--n-threads=2",
        "--json",
        *([] if options.train_size is None else [f"--train-size={options.train_size}"]),
        *model,
    )
    return {
        each.get("train_size"): 100 * float(each["rhos"][0]["accuracy_original"]["mean"])
        for each in json.loads(said)["conditions"]
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--task", action="append", choices=TASKS, help="[all]")
    parser.add_argument("--language", action="append", choices=["en", "pt"], help="[both]")
    parser.add_argument("--model", action="append", help=f"[{', '.join(MODELS)}]")
    parser.add_argument("--checkpoint", type=Path, help="a transformer to fine-tune")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help=f"of fine-tuning [{EPOCHS}]")
    parser.add_argument("--test-size", type=int, default=TEST_SIZE, help=f"pairs [{TEST_SIZE}]")
    parser.add_argument("--controls", action="store_true", help="train them on the controls")
    parser.add_argument("--train-size", metavar="N[,N...]", help="pairs to train on [all]")
    parser.add_argument("--search", type=int, help="trials of a search [none]")
    parser.add_argument("--rules", choices=["careful", "thesis", "released"], default="thesis")
    parser.add_argument("--shared-names", action="store_true", help="question (ii)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    models = {
        name + (f"-search-{options.search}" if options.search else ""): [
            f"--model={name}",
            f"--search={options.search or 'default'}",
        ]
        for name in (options.model or ([] if options.checkpoint else MODELS))
    }
    if options.checkpoint:
        more = "" if options.epochs == EPOCHS else f"-{options.epochs}-epochs"
        models[options.checkpoint.name + more] = [
            "--model=transformer",
            f"--model-option=checkpoint={options.checkpoint}",
            # Without a warm-up, some trainings never leave 50%.
            "--model-option=warmup=0.1",
            f"--param=epochs={options.epochs}",
            *(f"--param={name}={value}" for name, value in FINE_TUNING.items()),
        ]
    variants = CONTROLS if options.controls else {"": []}
    by_kind: dict[tuple[str, str, str, int | None], list[float]] = {}
    for language in options.language or ("en", "pt"):
        for task in options.task or TASKS:
            corpus = make_corpus(task, language, options)
            for name, model in models.items():
                for variant, own in variants.items():
                    parts = [task, language, name, variant.replace(" ", "-")]
                    if options.train_size is not None:
                        parts.append(f"sizes-{options.train_size}")
                    place = "-".join(filter(None, parts))
                    found = measure(corpus, [*model, *own], folder_of(options) / place, options)
                    for size, accuracy in found.items():
                        by_kind.setdefault((language, name, variant, size), []).append(accuracy)
                        print(_say(task, language, name, variant, size, accuracy), flush=True)
    for kind, accuracies in by_kind.items():
        print(_say("mean", *kind, sum(accuracies) / len(accuracies)))


def _say(  # noqa: PLR0917
    task: str, language: str, model: str, variant: str, size: int | None, accuracy: float
) -> str:
    pairs = "" if size is None else f"{size:,} pairs"
    said = [task, language, model, *filter(None, (variant, pairs)), f"{accuracy:.1f}"]
    return " | ".join(said)


if __name__ == "__main__":
    main()
