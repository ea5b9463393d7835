"""Paraphrastic consistency of a finished run's classifiers, over the number of training rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.evaluation.consistency_curves import ConsistencyCurve, CurvePoint, make_curves
from ietest_fast.evaluation.predictions import ORIGINAL
from ietest_fast.experiment.run_clusters import read_clusters
from ietest_fast.experiment.run_wordings import find_repeated, read_cell_versions
from ietest_fast.stats.buckets import BucketCounts, count_buckets
from ietest_fast.stats.consistency import measure_consistency

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.experiment.run_wordings import AnsweredVersions
    from ietest_fast.experiment.schema import CellResult, ConditionResult, RunResult

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
    further = tuple(each.key for each in results.evaluated if each.keeps_labels)
    every = tuple(each.key for each in results.transformations)
    several_rho = len({rho.rho for each in results.conditions for rho in each.rhos}) > 1
    lines: dict[tuple[str, str | None, float], _Line] = {}
    for condition in results.conditions:
        amount = condition.train_size or results.data.train.rows
        for rho in condition.rhos:
            if rhos is not None and rho.rho not in rhos:
                continue
            trained = None if rho.rho == 0 else condition.transformation
            key = condition.model, trained, rho.rho
            if key not in lines:
                of = f" of {trained}" if trained is not None and len(every) > 1 else ""
                at = f", ρ = {rho.rho:g}{of}" if several_rho or of else ""
                lines[key] = _Line(
                    name=f"{names.get(condition.model, condition.model)}{at}",
                    model=condition.model,
                    versions=(*(every if trained is None else (trained,)), *further),
                )
            if all(amount != known for known, _, _ in lines[key].cells):
                lines[key].cells.append((amount, condition, rho.cells))
    return list(lines.values())


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
