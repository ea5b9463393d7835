"""From a trained classifier to the matched sample of a cell."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.atomic import hash_file
from ietest_fast.errors import StoreError
from ietest_fast.experiment.artefacts import reading, write_file
from ietest_fast.experiment.store import CellRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.models import Classifier, EncodedRows, EncodedSplit
    from ietest_fast.models.protocol import RowStore

_CELL_KEY = b"ietest-fast.cell"


@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """What a classifier, or a vote of several, says of the test set and the validation set.

    Attributes
    ----------
    original, transformed
        Labels of both versions of the test set (eq. 9), int8, shape (n_test,).
    valid
        Labels of the validation set, int8, shape (n_valid,).
    """

    original: NDArray[np.int8]
    transformed: NDArray[np.int8]
    valid: NDArray[np.int8]


@dataclass(frozen=True, kw_only=True, eq=False)
class Ballot:
    """What one of several classifiers has to say.

    Attributes
    ----------
    original, transformed
        Class probabilities of both versions of the test set, float32, shape (n_test, n_classes).
    valid
        Class probabilities of the validation set, float32, shape (n_valid, n_classes).
    """

    original: NDArray[np.float32]
    transformed: NDArray[np.float32]
    valid: NDArray[np.float32]

    def write(self, path: Path) -> None:
        """Keep it in a file, whole or not at all."""
        arrays = {name: getattr(self, name) for name in ("original", "transformed", "valid")}

        def save(temporary: Path) -> None:
            # np.savez gives a path without its ending one of its own; a file is left as it is.
            with temporary.open("wb") as file:
                np.savez(file, **arrays)

        write_file(path, save)

    @classmethod
    def read(cls, path: Path) -> Ballot:
        """Read it again.

        Raises
        ------
        StoreError
            If the file is damaged.
        """
        with reading(path), np.load(path, allow_pickle=False) as arrays:
            return cls(**{name: arrays[name] for name in ("original", "transformed", "valid")})


def _on_both_versions(
    predict: Callable[[RowStore, NDArray[np.int64]], NDArray[Any]], test: EncodedSplit
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Predict both versions in one go, and once where they are encoded alike."""
    n = len(test)
    rows = test.versions["transformed"]
    differs = np.flatnonzero(test.original != rows)
    predicted = predict(test.store, np.concatenate((test.original, rows[differs])))
    original = predicted[:n]
    transformed = original.copy()
    transformed[differs] = predicted[n:]
    return original, transformed


def predict_labels(classifier: Classifier, test: EncodedSplit, valid: EncodedRows) -> Labels:
    """Ask a classifier for all labels that a cell needs."""
    original, transformed = _on_both_versions(classifier.predict, test)
    return Labels(
        original=original.astype(np.int8),
        transformed=transformed.astype(np.int8),
        valid=np.asarray(classifier.predict(valid.store, valid.rows), dtype=np.int8),
    )


def cast_ballot(classifier: Classifier, test: EncodedSplit, valid: EncodedRows) -> Ballot:
    """Ask one of several classifiers for all probabilities that a cell needs."""
    original, transformed = _on_both_versions(classifier.predict_proba, test)
    return Ballot(
        original=original,
        transformed=transformed,
        valid=classifier.predict_proba(valid.store, valid.rows),
    )


def vote(ballots: Sequence[Ballot]) -> Labels:
    """Take the majority vote of several classifiers (the paper's Alternative 2)."""
    return Labels(
        **{
            name: majority([getattr(ballot, name) for ballot in ballots])
            for name in ("original", "transformed", "valid")
        }
    )


def majority(probabilities: Sequence[NDArray[np.float32]]) -> NDArray[np.int8]:
    """Give the label that most classifiers find likeliest.

    Parameters
    ----------
    probabilities
        float32, shape (n, n_classes), for each classifier.

    Returns
    -------
    ndarray
        int8, shape (n,). Of labels with equally many votes the one of the highest mean
        probability, and of those the lowest.
    """
    stacked = np.stack(probabilities)
    votes = np.sum(stacked.argmax(axis=2)[:, :, None] == np.arange(stacked.shape[2]), axis=0)
    leading = votes == votes.max(axis=1, keepdims=True)
    likely = np.where(leading, stacked.sum(axis=0, dtype=np.float64), -1.0)
    labels: NDArray[np.int8] = likely.argmax(axis=1).astype(np.int8)
    return labels


def matched_table(
    gold: NDArray[np.int8],
    original: NDArray[np.int8],
    transformed: NDArray[np.int8],
    changed: NDArray[np.bool_],
) -> pa.Table:
    """Make the matched sample of a cell; all arguments of shape (n,)."""
    import pyarrow as pa

    return pa.table(
        {
            "row": np.arange(len(gold), dtype=np.int64),
            "gold": np.asarray(gold),
            "original": original,
            "transformed": transformed,
            "original_correct": original == gold,
            "transformed_correct": transformed == gold,
            "changed": np.asarray(changed),
        }
    )


def check_matched(table: pa.Table, *, n_labels: int) -> None:
    """Check that a table is a matched sample: its columns, its rows in order, labels in range.

    Raises
    ------
    ValueError
        With what it is not.
    """
    none = np.zeros(0, np.int8)
    expected = matched_table(none, none, none, np.zeros(0, bool)).schema
    if not table.schema.remove_metadata().equals(expected):
        raise ValueError("it has other columns than a matched sample")
    if any(column.null_count for column in table.columns):
        raise ValueError("a value is missing")
    if not np.array_equal(table["row"].to_numpy(), np.arange(table.num_rows)):
        raise ValueError("its rows are not in their order")
    gold, original, transformed = (
        table[name].to_numpy() for name in ("gold", "original", "transformed")
    )
    for labels in (gold, original, transformed):
        if len(labels) and not 0 <= labels.min() <= labels.max() < n_labels:
            raise ValueError(f"a label is none of the {n_labels}")
    for name, labels in (("original", original), ("transformed", transformed)):
        if not np.array_equal(table[f"{name}_correct"].to_numpy(), labels == gold):
            raise ValueError(f"{name}_correct does not follow from the labels")


def write_cell_artefact(path: Path, table: pa.Table, record: Mapping[str, Any]) -> None:
    """Write a cell's matched sample, and in its metadata the fields of its record."""
    import pyarrow.parquet as pq

    # The record travels inside, so that a run killed before its row was written can add the row.
    described = table.replace_schema_metadata({_CELL_KEY: json.dumps(record).encode()})
    write_file(path, lambda temporary: pq.write_table(described, temporary, compression="zstd"))


def read_cell_artefact(path: Path, *, remedy: str = "delete it and run again") -> CellRecord:
    """Read what a cell's artefact says of itself.

    Parameters
    ----------
    path
        The file.
    remedy
        What to do if it is damaged.

    Raises
    ------
    StoreError
        If the file is no artefact of a cell, or damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        record = json.loads(pq.read_schema(path).metadata[_CELL_KEY])
        return CellRecord(**record, artefact=path.name, sha256=hash_file(path), seconds=None)
    except (pa.ArrowInvalid, KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path}: is damaged or no matched sample of a cell; {remedy}") from error


def read_matched(path: Path, *, sha256: str) -> pa.Table:
    """Read a cell's matched sample: row, gold, both predictions, both outcomes, changed.

    Raises
    ------
    StoreError
        If the file is not the one that was written.
    """
    import pyarrow.parquet as pq

    if hash_file(path) != sha256:
        raise StoreError(f"{path}: has changed since it was written; run into another folder")
    return pq.read_table(path)
