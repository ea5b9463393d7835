"""Classifiers that are functions of two texts, and a few labelled pairs, for the suite logic."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ietest_fast.corpus import corpus_from_table
from ietest_fast.models.classifiers import Scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from ietest_fast.corpus import Corpus

LABELS = ("entailment", "neutral", "contradiction")


class Asked:
    """A classifier that is a function of two texts, and counts what it is asked."""

    backend = "function"
    fingerprint = "0" * 64

    def __init__(
        self, classify: Callable[[str, str], str], labels: tuple[str, ...] = LABELS
    ) -> None:
        self.classify, self.labels = classify, labels
        self.asked: list[tuple[str, ...]] = []

    def score(self, inputs: pa.Table, *, on_batch: object = None) -> Scores:
        pairs = list(zip(*(column.to_pylist() for column in inputs.columns), strict=True))
        self.asked += pairs
        return Scores(predicted=np.array([self.labels.index(self.classify(*p)) for p in pairs]))


def at_random(premise: str, hypothesis: str) -> str:
    return LABELS[zlib.crc32(f"{premise}|{hypothesis}".encode()) // 7 % 3]


def make_corpus(n: int = 14, n_hypotheses: int = 3) -> Corpus:
    things = ("dog", "cat", "man", "boy", "girl", "child", "woman")
    rows = []
    for i in range(n):
        thing, place = things[i % len(things)], ("park", "house", "street")[i % 3]
        hypotheses = (
            f"The {thing} is in the {place}.",
            f"The {thing} is big in scene {i}.",
            f"No {thing} is there.",
        )
        for j, hypothesis in enumerate(hypotheses[:n_hypotheses]):
            premise = f"A {thing} runs in the {place} in scene {i}."
            rows.append({"premise": premise, "hypothesis": hypothesis, "label": LABELS[j]})
    return corpus_from_table(pa.Table.from_pylist(rows))


def pairs_of(corpus: Corpus) -> list[tuple[str, str]]:
    return list(zip(*(corpus.texts(i).to_pylist() for i in (0, 1)), strict=True))
