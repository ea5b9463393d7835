"""Answers to paraphrases against those to their originals, paraphrase by paraphrase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.stats.flips import FlipResult, flip_test
from ietest_fast.stats.inputs import as_column
from ietest_fast.stats.matched import MatchedSample

if TYPE_CHECKING:
    from numpy.typing import NDArray


def find_flips(
    buckets: Any,
    correct: NDArray[np.bool_],
    is_original: NDArray[np.bool_],
    *,
    answers: Any = None,
    gold: Any = None,
    clusters: Any = None,
) -> FlipResult | None:
    """Compare the answers to paraphrases with those to their originals."""
    labels = as_column(buckets, "buckets")
    _, codes = np.unique(labels, return_inverse=True)
    place = np.full(int(codes.max()) + 1, -1, dtype=np.int64)
    place[codes[is_original]] = np.flatnonzero(is_original)
    rows = np.flatnonzero(~is_original & (place[codes] >= 0))
    own = place[codes[rows]]
    together = codes if clusters is None else as_column(clusters, "clusters")
    if rows.size < 2 or (together[rows] == together[rows[0]]).all():
        return None
    if answers is None:
        sample = MatchedSample(original_correct=correct[own], transformed_correct=correct[rows])
        return flip_test(sample, clusters=together[rows])
    given = as_column(answers, "answers")
    truth = None if gold is None else as_column(gold, "gold")[rows]
    return flip_test(given[own], given[rows], gold=truth, clusters=together[rows])
