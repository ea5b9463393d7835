"""From a table of predictions to buckets: items with the wordings that a classifier answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.evaluation.bucket_rows import find_mixed
from ietest_fast.evaluation.confidences import read_confidence
from ietest_fast.evaluation.predictions import ORIGINAL
from ietest_fast.plurals import say_count
from ietest_fast.stats.consistency.buckets import BucketCounts, count_buckets
from ietest_fast.stats.consistency.measure import ConsistencyResult, measure_consistency
from ietest_fast.values import as_texts, find_missing, name_groups

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.evaluation.predictions import Predictions


@dataclass(frozen=True, kw_only=True, eq=False)
class Wordings:
    """The answers of one classifier to the wordings of items, one row for each."""

    items: NDArray[Any]
    correct: NDArray[np.bool_]
    is_original: NDArray[np.bool_]
    """Shape (n,)."""
    answers: NDArray[np.int32] | None
    gold: NDArray[np.int32] | None
    """Shape (n,), indices of labels; None if they are not known. An answer that could not be parsed
    is -1: it is wrong, and agrees with others of its kind."""
    confidence: NDArray[np.float64] | None
    """Shape (n,), float64, in the gold label; None if it is not known."""
    clusters: NDArray[Any] | None
    """Shape (n,); None without."""
    remarks: tuple[str, ...] = ()
    """Whole sentences about what is not used."""

    def _columns(self) -> dict[str, Any]:
        return {
            "is_original": self.is_original,
            "answers": self.answers,
            "gold": self.gold,
            "confidence": self.confidence,
            "clusters": self.clusters,
        }

    def count(self) -> BucketCounts:
        """Count the answers by item; see :func:`ietest_fast.stats.count_buckets`."""
        return count_buckets(self.items, self.correct, **self._columns())

    def measure(self, **options: Any) -> ConsistencyResult:
        """Measure consistency; options as for :func:`ietest_fast.stats.measure_consistency`."""
        return measure_consistency(self.items, self.correct, **self._columns(), **options)


def find_wordings(
    predictions: Predictions,
    *,
    versions: Sequence[str] | None = None,
    reference: str = ORIGINAL,
    cluster: str | None = None,
    **group: Any,
) -> Wordings:
    """Take the answers of one classifier to all wordings of the items.

    Parameters
    ----------
    predictions
        The table. If it has a column ``confidence``, that is the confidence in the gold
        label; otherwise it is taken from ``probabilities``, if all labels are known.
    versions
        Which versions are paraphrases; None: all but the reference.
    reference
        The version that is the original wording; it need not be there.
    cluster
        A column that says which items belong together.
    **group
        ``model``, ``m``, ``rho``: which classifier, where there are several.

    Returns
    -------
    Wordings

    Raises
    ------
    InputError
        If several classifiers are left, a version or column is missing, there is no paraphrase,
        wordings of an item have different gold labels, or a confidence is none.
    """
    chosen = predictions.select(**group) if group else predictions
    if len(chosen.groups) > 1:
        names = ", ".join(chosen.groups[0])
        raise InputError(
            f"{len(chosen.groups)} classifiers are in these predictions; say which by {names}",
            path=chosen.source,
        )
    known = chosen.versions
    wanted = [name for name in known if name != reference] if versions is None else [*versions]
    for name in wanted:
        if name not in known:
            raise InputError(
                f"has no version {name!r}; it has {', '.join(known)}", path=chosen.source
            )
    if not wanted:
        raise InputError(
            f"has no version but {reference!r}: there is no paraphrase", path=chosen.source
        )
    is_original = find_originals(chosen, reference)
    listed = chosen.table["version"].combine_chunks().dictionary.to_pylist()
    is_wanted = np.isin(chosen.codes("version"), [listed.index(name) for name in wanted])
    rows = np.flatnonzero(is_wanted | is_original)
    table = chosen.table
    clusters = None
    cluster = chosen.repeats if cluster is None else cluster
    if cluster is not None:
        if cluster not in table.column_names:
            raise InputError(
                f"is not in these predictions; they have {', '.join(chosen.columns)}",
                path=chosen.source,
                column=cluster,
            )
        _check_same(chosen, table.take(pa.array(rows)), cluster, "clusters", _SAME_CLUSTER)
        own = table.select(["item", cluster]).take(pa.array(rows)).combine_chunks()
        check_clusters(own[cluster], own["item"], path=chosen.source, name=cluster)
        clusters = _to_numpy(table[cluster], rows)
    has_answers = {"gold", "predicted"} <= set(table.column_names)
    is_comparable = has_answers and chosen.has_labels
    gold = chosen.codes("gold")[rows]
    if has_answers:
        _check_same(chosen, table.take(pa.array(rows)), "gold", "gold labels", _SAME_GOLD)
    confidence, remark = read_confidence(chosen, rows, gold)
    return Wordings(
        items=_to_numpy(table["item"], rows),
        correct=chosen.correct[rows],
        is_original=is_original[rows],
        answers=chosen.codes("predicted")[rows] if is_comparable else None,
        gold=gold if has_answers and (gold >= 0).all() else None,
        confidence=confidence,
        clusters=clusters,
        remarks=() if remark is None else (remark,),
    )


def check_clusters(
    values: pa.ChunkedArray, items: pa.ChunkedArray | pa.Array, *, path: str | Path, name: str
) -> None:
    """Stop if a row has no cluster, and name its item."""
    missing = np.flatnonzero(find_missing(values))
    if missing.size:
        item = items[int(missing[0])].as_py()
        raise InputError(
            f"item {item!r} belongs to no cluster; "
            f"{say_count(missing.size, 'row has', 'rows have')} none, and each needs one",
            path=path,
            column=name,
        )


def find_originals(predictions: Predictions, reference: str = ORIGINAL) -> NDArray[np.bool_]:
    """Return which rows are of the version that is the original wording, bool (n,)."""
    names = predictions.table["version"].combine_chunks().dictionary.to_pylist()
    if reference not in names:
        return np.zeros(len(predictions), np.bool_)
    return np.asarray(predictions.codes("version") == names.index(reference))


def find_confidence(predictions: Predictions, version: str = ORIGINAL) -> NDArray[np.float64]:
    """Return the confidence in the gold label on one version, such as that of a full test set.

    Raises
    ------
    InputError
        If the version or the confidences are missing.
    """
    chosen = predictions.select(version=version)
    rows = np.arange(len(chosen))
    found, remark = read_confidence(chosen, rows, chosen.codes("gold"))
    if found is None:
        why = "" if remark is None else f". {remark.removesuffix('.')}"
        raise InputError(
            f"has neither a column confidence nor probabilities with known labels{why}",
            path=predictions.source,
        )
    return found


_SAME_GOLD = (
    "All wordings of an item need the same right answer: correct the labels, or leave such items "
    "out (--drop-mixed)"
)
_SAME_CLUSTER = (
    "Whole items are drawn, so all wordings of an item need the same cluster: correct the column, "
    "or name another (--clusters)"
)


def _check_same(
    predictions: Predictions, table: pa.Table, name: str, what: str, remedy: str
) -> None:
    """Refuse items whose wordings have different values in a column."""
    names = as_texts(table[name], path=predictions.source, name=name)
    values = pa.chunked_array([name_groups(names)])
    mixed = pa.table({"item": table["item"], "value": values}).filter(
        pa.array(find_mixed(table["item"], values))
    )
    if not mixed.num_rows:
        return
    first = mixed["item"][0]
    n = len(pc.unique(mixed["item"]))
    of_first = pc.unique(mixed.filter(pc.equal(mixed["item"], first))["value"].drop_null())
    more = ", for one," if n > 1 else ""
    raise InputError(
        f"{say_count(n, 'item has', 'items have')} wordings with different {what}: "
        f"{first.as_py()!r}{more} has {' and '.join(of_first.to_pylist()[:2])}. {remedy}",
        path=predictions.source,
        column=name,
    )


def _to_numpy(column: pa.ChunkedArray, rows: NDArray[np.int64]) -> NDArray[Any]:
    own = column.combine_chunks().take(pa.array(rows))
    if pa.types.is_dictionary(own.type):
        own = own.cast(own.type.value_type)
    return np.asarray(own.to_numpy(zero_copy_only=False))
