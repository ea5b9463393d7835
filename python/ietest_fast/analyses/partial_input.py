"""What can be guessed from a part of the input: a check of a dataset for artefacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.corpus import require_trainable
from ietest_fast.errors import InputError
from ietest_fast.models import SplitTexts, load_model
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats import Interval, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.corpus import Corpus

_MODEL = "bow-xgb"

_PRESET = "table7-snli"


@dataclass(frozen=True, kw_only=True)
class PartialInput:
    """A baseline that saw some of the text columns."""

    columns: tuple[str, ...]
    """Those it saw."""
    n: int
    n_right: int
    """Test observations, and those it got right."""
    interval: Interval
    """Wilson's, for its accuracy."""
    most_frequent: float
    """Share of the most frequent label in the test set: what guessing comes to."""
    p_value: float
    """Of guessing being right as often (exact binomial test, one-sided)."""

    @property
    def accuracy(self) -> float:
        """Share that it got right."""
        return self.n_right / self.n


def measure_partial_input(train: Corpus, test: Corpus) -> list[PartialInput]:
    """Train a bag of words on each text column alone, and on all, and test it.

    For NLI these are the premise-only and the hypothesis-only baselines (Poliak et al. 2018): a
    pair of texts cannot be judged by one of them, so what such a baseline gets right beyond
    guessing shows artefacts of how the data were made. The model is XGBoost with the paper's
    hyperparameters.
    """
    if train.text_columns != test.text_columns or train.label_names != test.label_names:
        raise InputError(
            "the training set and the test set differ in their text columns or labels",
            path=test.source,
        )
    require_trainable(train)
    columns = train.text_columns
    parts = [(name,) for name in columns] + ([columns] if len(columns) > 1 else [])
    return [_measure(train, test, part) for part in parts]


def _measure(train: Corpus, test: Corpus, columns: tuple[str, ...]) -> PartialInput:
    from scipy.stats import binom

    model = load_model(_MODEL)
    encoded = model.encode(
        {
            name: SplitTexts(versions={"original": corpus.table}, labels=corpus.labels)
            for name, corpus in (("train", train), ("test", test))
        },
        columns,
    )
    classifier = model.fit(
        encoded["train"].resample(),
        None,
        params=model.presets[_PRESET],
        n_classes=len(train.label_names),
        seed=0,
    )
    rows = encoded["test"].resample()
    n_right = int((classifier.predict(rows.store, rows.rows) == test.labels).sum())
    n = len(test)
    most_frequent = float(np.max(test.label_counts)) / n
    return PartialInput(
        columns=columns,
        n=n,
        n_right=n_right,
        interval=wilson_interval(n_right, n),
        most_frequent=most_frequent,
        p_value=float(binom.sf(n_right - 1, n, most_frequent)),
    )


def partial_input_table(found: Sequence[PartialInput]) -> Table:
    """Give baselines as a table."""
    return Table(
        name="partial-input",
        title="What a bag of words gets right from a part of the input",
        columns=(
            Column("it saw"),
            Column("observations", "count"),
            Column("accuracy %", "percent", 1),
            Column("95% interval", "percent", 1),
            Column("most frequent label %", "percent", 1),
            Column("p", "p"),
        ),
        rows=tuple(
            (
                ", ".join(each.columns),
                each.n,
                each.accuracy,
                each.interval,
                each.most_frequent,
                each.p_value,
            )
            for each in found
        ),
        note=(
            "p: that guessing the most frequent label is right as often. A small p for one of two "
            "texts means that the labels can be guessed without comparing them."
        ),
    )
