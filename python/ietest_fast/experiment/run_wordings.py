"""The rephrasings of a finished run's test set, and what its classifiers answered to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import StoreError
from ietest_fast.evaluation.predictions import ORIGINAL
from ietest_fast.experiment.artefacts import PUT_BACK, REPEAT, check_sealed, reading
from ietest_fast.experiment.cells import match, read_cell_artefact, read_predictions
from ietest_fast.experiment.claim import CELLS, EVALUATIONS, check_recorded
from ietest_fast.experiment.data import kept_folder
from ietest_fast.experiment.evaluations import describe_evaluation, read_evaluation
from ietest_fast.experiment.identity import identify
from ietest_fast.files import check_file, read_bytes
from ietest_fast.stats import PairedCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.experiment.schema import CellResult, ConditionResult, RunResult


@dataclass(frozen=True, kw_only=True, eq=False)
class AnsweredVersions:
    """The answers of one classifier to the original test set and to its rephrasings."""

    gold: NDArray[np.int8]
    """Labels, int8, shape (n,)."""
    answers: dict[str, NDArray[np.int8]]
    """By version, the original first: labels, int8, shape (n,)."""
    changed: dict[str, NDArray[np.bool_]]
    """By version but the original: which texts the rephrasing changed, bool, shape (n,)."""


def read_cell_versions(
    results: RunResult, condition: ConditionResult, cell: CellResult, versions: Sequence[str]
) -> AnsweredVersions:
    """Read what a classifier answered, as far as its labels can be compared with the originals'."""
    path = results.folder / CELLS / f"{cell.identity}.parquet"
    if not path.is_file():
        raise StoreError(f"{path}: the answers of rho {cell.rho:g}, m {cell.m} are gone; {REPEAT}")
    answers: dict[str, NDArray[np.int8]] = {}
    changed: dict[str, NDArray[np.bool_]] = {}
    with reading(path, remedy=PUT_BACK):
        predictions = read_predictions(path)
        if predictions.label_names != results.data.label_names:
            raise ValueError("it has other labels than the results")
        for version in versions:
            table = match(predictions, version)
            gold = table["gold"].to_numpy()
            answers[ORIGINAL] = table["original"].to_numpy()
            answers[version] = table["transformed"].to_numpy()
            changed[version] = table["changed"].to_numpy()
        identity = read_cell_artefact(path, remedy=PUT_BACK).identity
    counts = PairedCounts.from_outcomes(
        answers[ORIGINAL] == gold, answers[condition.transformation] == gold
    )
    if identity != cell.identity or counts != cell.counts:
        raise StoreError(f"{path}: holds other answers than the results speak of; {PUT_BACK}")
    found = AnsweredVersions(gold=gold, answers=answers, changed=changed)
    _add_further(found, results, condition, cell)
    return found


def _add_further(
    known: AnsweredVersions, results: RunResult, condition: ConditionResult, cell: CellResult
) -> None:
    """Add the answers to further test sets that keep labels."""
    comparable = {each.key for each in results.evaluated if each.keeps_labels}
    for evaluation in results.evaluations_of(condition):
        if evaluation.evaluation not in comparable:
            continue
        own = next(each for each in evaluation.rhos if each.rho == cell.rho)
        identity = own.identities[cell.m]
        path = results.folder / EVALUATIONS / f"{identity}.parquet"
        if not path.is_file():
            raise StoreError(
                f"{path}: the answers of rho {cell.rho:g}, m {cell.m} to "
                f"{evaluation.evaluation} are gone; {REPEAT}"
            )
        with reading(path, remedy=PUT_BACK):
            data = read_bytes(path, most_bytes=None)
            check_recorded(path, data)
            record = describe_evaluation(path.name, data)
            found = read_evaluation(path, record)
        if (
            record.identity != identity
            or found.n_correct != own.n_correct[cell.m]
            or not np.array_equal(found.gold, known.gold)
        ):
            raise StoreError(f"{path}: holds other answers than the results speak of; {PUT_BACK}")
        known.answers[evaluation.evaluation] = found.predicted
        known.changed[evaluation.evaluation] = found.changed


def find_repeated(
    results: RunResult, versions: Sequence[str], columns: Sequence[str]
) -> dict[str, NDArray[np.bool_]]:
    """Say which rephrasings of a text an earlier transformation has made, too."""
    if len(versions) < 2:
        return {}
    codes = _number_texts([_kept_of(results, key) for key in versions], columns)
    found = {}
    for place, key in enumerate(versions):
        earlier = codes[:place]
        found[key] = np.asarray((earlier == codes[place]).any(axis=0), dtype=np.bool_)
    return found


def _kept_of(results: RunResult, key: str) -> str:
    """Return the file with the test set as a transformation made it."""
    data, fingerprints = results.folder / "data", results.settings.data.fingerprints
    for own in results.transformations:
        if own.key == key:
            return str(kept_folder(data, fingerprints, own.inputs) / "test.parquet")
    (further,) = (own for own in results.evaluated if own.key == key)
    name = identify({**fingerprints, "evaluation": further.inputs})[:16]
    return str(data / name / "test.parquet")


def _number_texts(files: Sequence[str], columns: Sequence[str]) -> NDArray[np.int64]:
    """Give equal texts equal numbers, int64, shape (number of files, n)."""
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = []
    for file in files:
        with reading(Path(file), remedy=PUT_BACK):
            check_sealed(Path(file))
            tables.append(pq.read_table(check_file(file), columns=list(columns)))
    n = tables[0].num_rows
    codes = np.zeros(n * len(files), dtype=np.int64)
    for column in columns:
        texts = pa.concat_arrays(
            [each[column].combine_chunks().cast(pa.large_string()) for each in tables]
        )
        own = np.asarray(texts.dictionary_encode().indices, dtype=np.int64)
        _, codes = np.unique(codes * (own.max(initial=0) + 1) + own, return_inverse=True)
    return codes.reshape(len(files), n)
