"""Stress tests of a finished classifier: one table of answers, measured test by test."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.evaluation.antonym_pairs import TIMES_IN_TRAINING, compare_pairs
from ietest_fast.evaluation.comparison import compare_versions
from ietest_fast.evaluation.predictions import CHANGED, ORIGINAL
from ietest_fast.evaluation.row_notes import RULE, WORD_CLASS, WORD_PAIR
from ietest_fast.evaluation.shares import Share
from ietest_fast.evaluation.stress_profile import StressProfile, StressResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.evaluation.comparison import VersionTest
    from ietest_fast.evaluation.predictions import Predictions

NEUTRAL = "neutral"


def measure_stress(
    predictions: Predictions,
    *,
    group_by: str | None = None,
    clusters: str | None = None,
    empty: Sequence[str] = (),
    alpha: float = 0.05,
    **options: Any,
) -> tuple[StressProfile, ...]:
    """Measure classifiers on the originals and on all other versions.

    A version keeps labels if each item has at most one row in it, with the gold label that it has
    in ``original``. These versions are tested against the originals, item by item, with Holm's
    correction over those of a classifier.

    Parameters
    ----------
    predictions
        The long table, with the version ``original``.
    group_by
        A column, such as genre, by whose values accuracies are also given.
    clusters
        A column whose equal values belong together; whole clusters are drawn.
    empty
        Names of tests that changed no text, for the report.
    alpha
        Level of each classifier's family of paired tests.
    **options
        Further ones of :func:`~ietest_fast.evaluation.comparison.compare_versions`: ``margin``,
        ``flip_margin``, ``method``, ``n_resamples``, ``rng``, ``n_threads``.

    Returns
    -------
    tuple of StressProfile
        One for each classifier.

    Raises
    ------
    InputError
        If there is no version ``original``, only this one, or no such column.
    """
    if group_by is not None and group_by not in predictions.columns:
        extra = ", ".join(predictions.extra_columns) or "none"
        raise InputError(
            f"there is no such column to part accuracies by; there are {extra}",
            path=predictions.source,
            column=group_by,
        )
    profiles = []
    for group in predictions.groups:
        mine = predictions.select(**group) if group else predictions
        if ORIGINAL not in mine.versions or len(mine.versions) < 2:
            raise InputError(
                f"stress tests need the version {ORIGINAL!r} and others; there are "
                f"{', '.join(mine.versions)}",
                path=predictions.source,
            )
        profiles.append(
            _profile(
                mine,
                group if len(predictions.groups) > 1 else {},
                group_by=group_by,
                clusters=clusters,
                empty=empty,
                alpha=alpha,
                options=options,
            )
        )
    return tuple(profiles)


def _profile(
    predictions: Predictions,
    group: dict[str, Any],
    *,
    group_by: str | None,
    clusters: str | None,
    empty: Sequence[str],
    alpha: float,
    options: Mapping[str, Any],
) -> StressProfile:
    names = [name for name in predictions.versions if name != ORIGINAL]
    original = predictions.select(version=ORIGINAL)
    parts = {name: predictions.select(version=name) for name in names}
    kept = [name for name in names if _keeps_labels(original, parts[name])]
    compared: dict[str, VersionTest] = {}
    if kept:
        wanted = pc.is_in(
            predictions.table["version"].cast("string"), value_set=_strings([ORIGINAL, *kept])
        )
        table = predictions.table.filter(wanted)
        if "copy" in table.column_names:
            table = table.drop_columns(["copy"])
        found = compare_versions(
            replace(predictions, table=table),
            reference=ORIGINAL,
            clusters=clusters,
            alpha=alpha,
            **options,
        )
        compared = {test.pairs.version: test for test in found.tests}
    return StressProfile(
        group=group,
        label_names=predictions.label_names,
        grouped_by=group_by,
        original=_measure(original, original, ORIGINAL, group_by, keeps_labels=True),
        tests=tuple(
            replace(
                _measure(parts[name], original, name, group_by, keeps_labels=name in kept),
                comparison=compared.get(name),
            )
            for name in names
        ),
        empty=tuple(name for name in empty if name not in names),
        alpha=alpha,
        predictions=predictions,
    )


def _strings(values: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.array(list(values), pa.string())


def _keeps_labels(original: Predictions, version: Predictions) -> bool:
    """Say whether a version has at most one row of each item, with its gold label."""
    items = version.table["item"].combine_chunks()
    if len(pc.unique(items)) < len(items):
        return False
    places = pc.index_in(items, value_set=original.table["item"].combine_chunks())
    if places.null_count:
        return False
    if original.label_names is None:
        return bool(
            pc.all(
                pc.equal(
                    version.table["gold"].cast("string").combine_chunks(),
                    original.table["gold"].cast("string").combine_chunks().take(places),
                )
            ).as_py()
        )
    before = original.codes("gold")[places.to_numpy()]
    return bool((version.codes("gold") == before).all())


def _measure(
    predictions: Predictions,
    original: Predictions,
    name: str,
    group_by: str | None,
    *,
    keeps_labels: bool,
) -> StressResult:
    right = predictions.correct
    table = predictions.table
    names = predictions.label_names
    confusion = false_neutral = None
    if names is not None:
        gold, predicted = predictions.codes("gold"), predictions.codes("predicted")
        confusion = np.zeros((len(names), len(names) + 1), np.int64)
        known = gold >= 0
        np.add.at(confusion, (gold[known], predicted[known]), 1)  # -1 is the last column
        if NEUTRAL in names:
            false_neutral = Share.of(predicted[~right] == names.index(NEUTRAL))
    return StressResult(
        name=name,
        keeps_labels=keeps_labels,
        n_items=len(predictions.items),
        is_foreign=not pc.any(pc.is_in(predictions.items, value_set=original.items)).as_py(),
        n_changed=int(pc.sum(table[CHANGED]).as_py() or 0)
        if CHANGED in table.column_names
        else None,
        accuracy=Share.of(right),
        by_group={} if group_by is None else _part(table[group_by], right, missing="missing"),
        confusion=confusion,
        false_neutral=false_neutral,
        by_kind=_part(table[RULE], right) if RULE in table.column_names else {},
        by_word=_part(table[WORD_CLASS], right) if WORD_CLASS in table.column_names else {},
        antonyms=compare_pairs(
            table[WORD_PAIR].to_pylist(), table[TIMES_IN_TRAINING].to_pylist(), right
        )
        if {WORD_PAIR, TIMES_IN_TRAINING} <= set(table.column_names)
        else None,
    )


def _part(
    column: pa.ChunkedArray, right: NDArray[np.bool_], *, missing: str | None = None
) -> dict[str, Share]:
    """Return accuracies by the values of a column; none where all are null."""
    values = column.cast("string")
    if values.null_count == len(values):
        return {}
    if missing is not None:
        values = pc.fill_null(values, missing)
    names = sorted(pc.unique(values).drop_null().to_pylist())
    return {
        each: Share.of(right[pc.fill_null(pc.equal(values, each), False).to_numpy()])
        for each in names
    }
