"""Bags of words as features of linear classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa


def count_word_features(columns: Sequence[pa.ChunkedArray], *, min_texts: int = 2) -> Any:
    """Return which words stand in which texts, as features for linear classifiers."""
    import scipy.sparse as sp

    from ietest_fast.corpus.words import find_incidence

    if not columns or len({len(column) for column in columns}) > 1:
        raise InputError("word features need at least one column, all of the same length")
    parts = []
    for column in columns:
        found = find_incidence(column)
        kept = np.bincount(found.word, minlength=len(found.words)) >= min_texts
        place = np.cumsum(kept) - 1
        mine = kept[found.word]
        parts.append(
            sp.csr_array(
                (np.ones(int(mine.sum())), (found.row[mine], place[found.word[mine]])),
                shape=(len(column), int(kept.sum())),
            )
        )
    joined = sp.hstack(parts, format="csr")
    if joined.shape[1] == 0:
        raise InputError(f"no word stands in {min_texts} texts; lower min_texts")
    return joined
