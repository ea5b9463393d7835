"""Paraphrastic consistency of a finished run's classifiers, over the number of training rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.analyses.consistency.curves import ConsistencyCurve, CurvePoint, make_curves
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment.artefacts import PUT_BACK, REPEAT, check_sealed, reading
from ietest_fast.experiment.cells import (
    CELLS,
    EVALUATIONS,
    check_recorded,
    describe_evaluation,
    match,
    read_cell_artefact,
    read_clusters,
    read_evaluation,
    read_predictions,
)
from ietest_fast.experiment.data import kept_folder
from ietest_fast.experiment.identity import identify
from ietest_fast.files import check_file, read_bytes
from ietest_fast.stats import PairedCounts
from ietest_fast.stats.consistency.buckets import BucketCounts, count_buckets
from ietest_fast.stats.consistency.measure import measure_consistency

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.experiment.schema import CellResult, ConditionResult, RunResult


# The rephrasings of a finished run's test set, and what its classifiers answered to them.


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


TRAINING_ROWS = "training rows"
"""What the curves of runs are over."""

_BY_CLASSIFIER = ("accuracy_macro", "p_c", "p_c_unbiased")


@dataclass(kw_only=True)
class _Line:
    """Classifiers that differ in the number of training rows alone."""

    name: str
    model: str
    versions: tuple[str, ...]
    cells: list[tuple[int, ConditionResult, Sequence[CellResult]]] = field(default_factory=list)

    def add(self, amount: int, condition: ConditionResult, cells: Sequence[CellResult]) -> None:
        """Add the classifiers of a number of rows; at rho = 0 every transformation has the same."""
        if all(amount != known for known, _, _ in self.cells):
            self.cells.append((amount, condition, cells))


def measure_run(
    results: RunResult,
    *,
    names: Mapping[str, str] | None = None,
    rhos: Collection[float] | None = None,
    method: str = "exact",
    **options: Any,
) -> tuple[ConsistencyCurve, ...]:
    """Measure how alike the classifiers of a run answer the wordings of the test texts.

    The wordings of a text are its original and each rephrasing that changes it: those of the run's
    transformations, and of further test sets that keep labels. Equal wordings count once. The
    original is one of them here, so that a run with one transformation has two wordings of each
    text that it rephrased. A text that no transformation changes is left out.

    The M classifiers of a cell have the mean of their measures; intervals are of drawing texts,
    with the answers of all M to a text together. If the run has clusters (``data.cluster``), whole
    clusters of texts are drawn.
    """
    found = []
    clusters = read_clusters(results)
    for line in _find_lines(results, names or {}, rhos):
        record = next(each for each in results.models if each.key == line.model)
        seen = record.settings.input
        columns = results.data.text_columns if seen is None else (seen,)
        repeated = find_repeated(results, line.versions, columns)
        own = tuple(each.key for each in results.transformations if each.key in line.versions)
        points = []
        for amount, condition, cells in line.cells:
            answers = [read_cell_versions(results, condition, cell, own) for cell in cells]
            points.append(
                _measure(
                    f"{line.name}, {amount:,} rows",
                    amount,
                    answers,
                    repeated,
                    clusters=clusters,
                    options={"method": method, **options},
                )
            )
        found.append((line.name, TRAINING_ROWS, points))
    return make_curves(found, **options)


def _find_lines(
    results: RunResult, names: Mapping[str, str], rhos: Collection[float] | None
) -> list[_Line]:
    several_rho = len({rho.rho for each in results.conditions for rho in each.rhos}) > 1
    several_phi = len(results.transformations) > 1
    lines: dict[tuple[str, str | None, float], _Line] = {}
    chosen = [
        (condition, rho)
        for condition in results.conditions
        for rho in condition.rhos
        if rhos is None or rho.rho in rhos
    ]
    for condition, rho in chosen:
        trained = None if rho.rho == 0 else condition.transformation
        key = condition.model, trained, rho.rho
        if key not in lines:
            of = f" of {trained}" if trained is not None and several_phi else ""
            at = f", ρ = {rho.rho:g}{of}" if several_rho or of else ""
            lines[key] = _Line(
                name=f"{names.get(condition.model, condition.model)}{at}",
                model=condition.model,
                versions=_list_versions(results, trained),
            )
        amount = condition.train_size or results.data.train.rows
        lines[key].add(amount, condition, rho.cells)
    return list(lines.values())


def _list_versions(results: RunResult, trained: str | None) -> tuple[str, ...]:
    """Return the versions that classifiers have answered, by what they were trained on."""
    further = [each.key for each in results.evaluated if each.keeps_labels]
    every = [each.key for each in results.transformations]
    return (*(every if trained is None else [trained]), *further)


def _measure(
    name: str,
    amount: int,
    answers: Sequence[AnsweredVersions],
    repeated: Mapping[str, NDArray[np.bool_]],
    *,
    clusters: NDArray[np.int64] | None,
    options: dict[str, Any],
) -> CurvePoint:
    kept = {
        version: own & ~repeated[version] if version in repeated else own
        for version, own in answers[0].changed.items()
    }
    kept[ORIGINAL] = np.logical_or.reduce(list(kept.values()))
    if not kept[ORIGINAL].any():
        raise InputError(f"{name}: no test text is rephrased, so there are no two wordings of one")
    if clusters is not None and np.unique(clusters[kept[ORIGINAL]]).size < 2:
        raise InputError(
            f"{name}: all test texts that are rephrased are in one cluster, so no interval can be "
            "computed; choose another data.cluster"
        )
    m = len(answers)
    buckets, given, right = [], [], []
    for number, own in enumerate(answers):
        for version, labels in own.answers.items():
            rows = np.flatnonzero(kept[version])
            buckets.append(rows * m + number)
            given.append(labels[rows])
            right.append(labels[rows] == own.gold[rows])
    of_row = np.concatenate(buckets)
    # All answers to a text, or to the texts of a cluster, are drawn together.
    drawn = None
    if clusters is not None:
        drawn = clusters[of_row // m]
    elif m > 1 and kept[ORIGINAL].sum() > 1:
        drawn = of_row // m
    counts = count_buckets(
        of_row,
        np.concatenate(right),
        answers=np.concatenate(given),
        clusters=drawn,
    )
    return CurvePoint(
        name=name,
        amount=float(amount),
        result=measure_consistency(counts, **options),
        counts=counts,
        by_classifier=_by_classifier(counts, m) if m > 1 else {},
    )


def _by_classifier(counts: BucketCounts, m: int) -> dict[str, tuple[float, ...]]:
    """Return measures of each of M classifiers, whose buckets have numbers row * M + m."""
    theta = counts.theta
    values = {
        "accuracy_macro": theta,
        "p_c": theta**2 + (1 - theta) ** 2,
        "p_c_unbiased": counts.pair_consistency,
    }
    whose = counts.names.astype(np.int64) % m
    return {
        name: tuple(float(values[name][whose == number].mean()) for number in range(m))
        for name in _BY_CLASSIFIER
    }
