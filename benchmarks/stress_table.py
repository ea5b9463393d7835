"""Table 3 of Naik et al. (2018): baselines and finished models on the six stress tests.

Run ``python -m benchmarks.stress_table --train TRAIN --dev DEV --quantities TEXTS``. Trains each
baseline on TRAIN with its default hyperparameters, once, and runs it on the suite that is made of
DEV, with the numbers of TEXTS. ``--checkpoint NAME=FOLDER`` adds a finished model. Writes a file
for each model, which ``ietest-fast stress`` and ``ietest-fast report`` read, and prints accuracies.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ietest_fast.corpus import Corpus

# The presets of the published code and of this package.
BASELINES = {
    "bow-xgb": "table7-mnli",
    "cbow": "default",
    "bilstm": "default",
    "align": "default",
}
N_VALID = 2_000


def train_baseline(name: str, train: Corpus, seed: int) -> Callable[[Any], Any]:
    """Train a baseline and give a function from frames of pairs to label codes."""
    import pyarrow as pa

    from ietest_fast.models import SplitTexts, load_model

    model = load_model(name)
    columns = list(train.text_columns)
    order = np.random.default_rng(seed).permutation(len(train))
    n_valid = min(N_VALID, len(train) // 10)
    parts = {"valid": order[:n_valid], "train": order[n_valid:]}
    splits = {
        part: SplitTexts(
            versions={"original": train.table.select(columns).take(pa.array(rows))},
            labels=train.labels[rows],
        )
        for part, rows in parts.items()
    }
    encoded = model.encode(splits, columns)
    classifier = model.fit(
        encoded["train"].resample(),
        encoded["valid"].resample(),
        params=model.presets[BASELINES[name]],
        n_classes=len(train.label_names),
        seed=seed,
        n_threads=2,
    )

    def answer(frame: Any) -> Any:
        texts = pa.Table.from_pandas(frame[columns], preserve_index=False)
        new = SplitTexts(versions={"original": texts}, labels=np.zeros(len(frame), np.int8))
        store = model.encode({**splits, "new": new}, columns)["new"]
        return classifier.predict(store.store, store.original)

    return answer


def main() -> None:
    import ietest_fast as ie
    from ietest_fast.corpus import read_corpus

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--quantities", type=Path, help="texts of the numerical test [DEV's]")
    parser.add_argument("--quantities-column")
    parser.add_argument("--baseline", action="append", choices=BASELINES, help="[all four]")
    parser.add_argument("--checkpoint", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--rules", choices=["careful", "paper"], default="paper")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="a folder for the files")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    train, dev = read_corpus(arguments.train), read_corpus(arguments.dev)
    finished = dict(each.split("=", 1) for each in arguments.checkpoint)
    for name in [*(arguments.baseline or BASELINES), *finished]:
        started = time.perf_counter()
        options: dict[str, Any] = {}
        if name in finished:
            classifier: Any = finished[name]
        else:
            classifier = train_baseline(name, train, arguments.seed)
            # All inputs at once: a baseline encodes them together with its training texts.
            options = {"labels": train.label_names, "inputs": "frame", "batch_size": 10_000_000}
        trained = time.perf_counter()
        profile = ie.stress(
            classifier,
            dev,
            rules=arguments.rules,
            quantities=arguments.quantities,
            quantities_column=arguments.quantities_column,
            train=train,
            out=arguments.out / f"{name}.parquet",
            **options,
        )
        print(profile)
        print(
            f"{name}: {trained - started:.0f} s of training, "
            f"{time.perf_counter() - trained:.0f} s of the suite",
            flush=True,
        )


if __name__ == "__main__":
    main()
