"""The control in which rows have each other's labels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ietest_fast.corpus import corpus_from_table
from ietest_fast.experiment.config import DataConfig
from ietest_fast.experiment.data import read_splits


def test_rows_get_each_others_labels() -> None:
    table = pa.table({"text": [str(i) for i in range(300)], "label": [i % 3 for i in range(300)]})
    corpus = corpus_from_table(table, text_columns=["text"])
    shuffled = corpus.with_shuffled_labels(0)
    assert shuffled.table["text"] == corpus.table["text"]
    assert shuffled.label_counts.tolist() == corpus.label_counts.tolist()
    # A third of the rows keep theirs by chance.
    assert 70 < int(np.sum(shuffled.labels == corpus.labels)) < 130
    assert shuffled.labels.tolist() == corpus.with_shuffled_labels(0).labels.tolist()
    assert shuffled.labels.tolist() != corpus.with_shuffled_labels(1).labels.tolist()


def test_all_splits_are_shuffled() -> None:
    sizes = {"n_train": 60, "n_valid": 30, "n_test": 30}
    plain = read_splits(DataConfig.model_validate({"demo": sizes}))
    shuffled = read_splits(DataConfig.model_validate({"demo": sizes, "shuffle_labels": True}))
    for (_, one), (_, other) in zip(plain.items(), shuffled.items(), strict=True):
        assert one.table.drop(["label"]) == other.table.drop(["label"])
        assert one.labels.tolist() != other.labels.tolist()
        assert sorted(one.labels.tolist()) == sorted(other.labels.tolist())
