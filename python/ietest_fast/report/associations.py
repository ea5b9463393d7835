"""Words that go with a label in the training set, and how often they stand in a test set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.corpus.words import find_incidence
from ietest_fast.report.tables import Column, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.report.runs import Versions

SMOOTHING = 100
"""Added to the count of every word with every label, as Gururangan et al. (2018) do."""

N_WORDS = 10
"""Words for each label, as in that paper."""


@dataclass(frozen=True, kw_only=True)
class LabelWord:
    """A word that goes with a label."""

    label: int
    """Its number."""
    word: str
    """Lower-cased."""
    pmi: float
    """Pointwise mutual information of word and label, in bits."""
    share: float
    """Share of the label's training observations that have the word."""


def find_label_words(
    train: Corpus, *, column: str | None = None, n_words: int = N_WORDS
) -> list[LabelWord]:
    """Find the words most associated with each label in a training set.

    PMI(w, l) = log2(p(w, l) / (p(w) p(l))), each word counted once an observation and every count
    raised by ``SMOOTHING`` (Gururangan et al. 2018, section 3).
    """
    texts = train.table.column(train.text_columns[-1] if column is None else column)
    found = find_incidence(texts)
    n_labels, n_found = len(train.label_names), len(found.words)
    labels = train.labels.astype(np.int64)
    counts = np.bincount(
        labels[found.row] * n_found + found.word, minlength=n_labels * n_found
    ).reshape(n_labels, n_found)
    smooth = counts + float(SMOOTHING)
    joint = smooth / smooth.sum()
    pmi = np.log2(joint / joint.sum(axis=0) / joint.sum(axis=1, keepdims=True))
    sizes = np.maximum(np.bincount(labels, minlength=n_labels), 1)
    words = found.words.to_pylist()
    best = []
    for label in range(n_labels):
        order = sorted(range(n_found), key=lambda word, own=label: (-pmi[own, word], words[word]))  # type: ignore[misc]
        best += [
            LabelWord(
                label=label,
                word=words[word],
                pmi=float(pmi[label, word]),
                share=float(counts[label, word] / sizes[label]),
            )
            for word in order[:n_words]
        ]
    return best


def label_word_table(
    words: list[LabelWord], versions: Versions, *, column: str | None = None
) -> Table:
    """Say how often label words stand in a test set, before and after (Table 15).

    Shares are of the observations that have the word's label.
    """
    column = versions.columns[-1] if column is None else column
    before, after = (
        _shares(words, versions, column, original=original) for original in (True, False)
    )
    rows = tuple(
        (versions.label_names[word.label], word.word, word.pmi, word.share, old, new, new - old)
        for word, old, new in zip(words, before, after, strict=True)
    )
    return Table(
        name="label-words",
        title="Words that go with a label in the training set, and their frequency in the test set",
        columns=(
            Column("label"),
            Column("word"),
            Column("PMI (bits)", "number"),
            Column("training set %", "percent", 1),
            Column("original %", "percent", 1),
            Column("transformed %", "percent", 1),
            Column("change (points)", "points", 1),
        ),
        rows=rows,
        note=(
            f"Words of the {column}. PMI with {SMOOTHING} added to every count (Gururangan et al. "
            "2018). Frequencies are shares of the label's observations."
        ),
    )


def _shares(
    words: list[LabelWord], versions: Versions, column: str, *, original: bool
) -> list[float]:
    table = versions.original if original else versions.transformed
    found = find_incidence(table.column(column))
    place = {word: number for number, word in enumerate(found.words.to_pylist())}
    n_labels = len(versions.label_names)
    labels: NDArray[np.int64] = versions.gold.astype(np.int64)
    counts = np.bincount(
        labels[found.row] * len(found.words) + found.word, minlength=n_labels * len(found.words)
    ).reshape(n_labels, len(found.words))
    sizes = np.maximum(np.bincount(labels, minlength=n_labels), 1)
    return [
        float(counts[word.label, place[word.word]] / sizes[word.label])
        if word.word in place
        else 0.0
        for word in words
    ]
