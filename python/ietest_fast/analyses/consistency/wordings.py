"""From a table of predictions to buckets: items with the wordings that a classifier answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.consistency.buckets import find_mixed
from ietest_fast.analyses.consistency.paranlu import CONFIDENCE
from ietest_fast.answers.schema import plain_type
from ietest_fast.answers.table import ORIGINAL, check_clusters, find_originals
from ietest_fast.corpus.labels import NLI_LABELS, label_key
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats.consistency.buckets import BucketCounts, count_buckets
from ietest_fast.stats.consistency.measure import ConsistencyResult, measure_consistency
from ietest_fast.values import as_numbers, as_texts, name_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.answers.table import Predictions

    Numbers = NDArray[np.int64]
    Mask = NDArray[np.bool_]
    Floats = NDArray[np.float64]

# The confidence in the gold label that a table of predictions holds, or why it holds none.

_SUM_TOLERANCE = 1e-3
_TIE = 1e-6
# Either number may have been rounded to two digits.
_ROUNDED = 0.0051
_WANTED = "the confidence in the gold label is a number from 0 to 1"


def read_confidence(
    predictions: Predictions, rows: Numbers, gold: NDArray[np.int32]
) -> tuple[Floats | None, str | None]:
    """Read the confidence in the gold label."""
    names = predictions.table.column_names
    if CONFIDENCE in names:
        values = _own_column(predictions, rows)
        said = _say_contradicted(predictions, rows, gold, values)
        return values, said or _say_low(predictions, rows, values)
    if "probabilities" not in names or not (gold >= 0).all():
        return None, None
    if predictions.label_names is None:
        return None, (
            "The probabilities are not used, because the file does not say which label each of "
            "them belongs to: measures of confidence need a column confidence."
        )
    column = predictions.table["probabilities"].combine_chunks()
    own_rows = column.take(pa.array(rows))
    if own_rows.null_count:
        lack = say_count(own_rows.null_count, "wording has", "wordings have")
        return None, f"{lack} no probabilities, so there are no measures of confidence."
    width = len(predictions.label_names)
    values = np.asarray(own_rows.flatten().to_numpy(zero_copy_only=False), dtype=np.float64)
    own = values.reshape(-1, width)
    _check_probabilities(own, rows, predictions)
    # Rounding of float32 may lead beyond the ends.
    return np.clip(own[np.arange(rows.size), gold], 0, 1), None


def _own_column(predictions: Predictions, rows: Numbers) -> Floats:
    """Read the column ``confidence``."""
    column = predictions.table[CONFIDENCE]
    column = column.cast(plain_type(column.type)).combine_chunks().take(pa.array(rows))
    kind = column.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not (is_text or pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise InputError(
            f"is {kind}; {_WANTED}; rename the column if it is something else",
            path=predictions.source,
            column=CONFIDENCE,
        )
    numbers = column
    if is_text:
        try:
            numbers = pc.cast(column, pa.float64())
        except pa.ArrowException:
            place = next(place for place, text in enumerate(column) if not _is_number(text))
            raise InputError(
                f"{_name_wording(predictions, rows[place])} has {column[place].as_py()!r}; "
                f"{_WANTED}; rename the column if it is something else",
                path=predictions.source,
                row=f"row {rows[place]}",
                column=CONFIDENCE,
            ) from None
    values = np.asarray(numbers.cast(pa.float64()).to_numpy(zero_copy_only=False))
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if wrong.size:
        first = int(wrong[0])
        has = "none" if np.isnan(values[first]) else f"{values[first]:.6g}"
        more = f" ({wrong.size:,} wordings are wrong)" if wrong.size > 1 else ""
        raise InputError(
            f"{_name_wording(predictions, rows[first])} has {has}; {_WANTED}{more}",
            path=predictions.source,
            row=f"row {rows[first]}",
            column=CONFIDENCE,
        )
    _check_answers(predictions, rows, values)
    return values


def _check_answers(predictions: Predictions, rows: Numbers, values: Floats) -> None:
    """Refuse confidences that no answer goes with: they are those of the answers, or others'."""
    right = predictions.correct[rows]
    n_labels = _count_labels(predictions)
    least = 0.0 if n_labels is None else 1 / n_labels
    most = np.full(rows.size, 0.5)
    if "predicted" in predictions.columns:
        # An answer that could not be parsed is wrong, however likely the gold label was.
        most[predictions.codes("predicted")[rows] < 0] = 1
    too_low = (values < least - _TIE) | (values == 0)
    too_high = (values > most + _TIE) | (values == 1)
    wrong = np.flatnonzero(np.where(right, too_low, too_high))
    if not wrong.size:
        return
    first = int(wrong[0])
    for_one = ", for one," if wrong.size > 1 else ""
    right_has = "more than 0" if n_labels is None else f"{least:.3g} or more ({n_labels} labels)"
    raise InputError(
        f"in {wrong.size:,} of {say_count(rows.size, 'row')} the confidence does not go with the "
        f"answer: {_name_wording(predictions, rows[first])}{for_one} has {values[first]:.6g}, and "
        f"its answer is {'right' if right[first] else 'wrong'}; {_WANTED}, {right_has} beside a "
        "right answer, 0.5 or less beside a wrong one; is it that of the answer? mend the column, "
        "or rename it if it is something else",
        path=predictions.source,
        row=f"row {rows[first]}",
        column=CONFIDENCE,
    )


def _say_low(predictions: Predictions, rows: Numbers, values: Floats) -> str | None:
    """Count confidences beside right answers that are too low if there are no other labels."""
    if _count_labels(predictions) is not None or "predicted" not in predictions.columns:
        return None
    n_labels = max(len(_seen_labels(predictions)), 1)
    n = int((predictions.correct[rows] & (values < 1 / n_labels - _TIE)).sum())
    return (
        f"In {n:,} of {say_count(rows.size, 'row')} the confidence beside a right answer is below "
        f"{1 / n_labels:.3g}, the least that the likeliest of {n_labels} labels can have. If there "
        f"are no more labels, the column {CONFIDENCE} is something else: rename it."
        if n
        else None
    )


def _say_contradicted(
    predictions: Predictions, rows: Numbers, gold: NDArray[np.int32], values: Floats
) -> str | None:
    """Count confidences that probabilities beside them contradict, which may be of another kind."""
    if "probabilities" not in predictions.columns:
        return _say_other_scores(predictions, rows, values)
    lists = predictions.table["probabilities"].combine_chunks().take(pa.array(rows))
    widths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    row_of = np.repeat(np.arange(rows.size), widths)
    numbers = np.asarray(lists.flatten().to_numpy(zero_copy_only=False), np.float64)
    is_near = np.abs(numbers - values[row_of]) <= _ROUNDED
    of = "none of the probabilities"
    if predictions.label_names is not None:
        place = np.arange(numbers.size) - np.repeat(np.cumsum(widths) - widths, widths)
        is_near &= (place == gold[row_of]) | (gold[row_of] < 0)
        of = "not the probability of the gold label"
    wrong = np.flatnonzero((np.bincount(row_of, is_near, rows.size) == 0) & (widths > 0))
    return _say_rows(predictions, rows, values, wrong, of)


def _say_other_scores(predictions: Predictions, rows: Numbers, values: Floats) -> str | None:
    """Count confidences that are not the score of the gold label, where each label has a column."""
    from ietest_fast.answers.readers.facts_of_tables import list_scores
    from ietest_fast.answers.readers.label_columns import label_keys

    if "gold" not in predictions.columns:
        return None
    keys = [
        label_keys(predictions.table[name], Path(predictions.source))
        for name in ("gold", "predicted")
        if name in predictions.columns
    ]
    labels = {*np.concatenate(keys)} - {""}
    scores = next(list_scores(predictions.extra_columns, labels, CONFIDENCE), None)
    if scores is None or not labels <= scores.keys():
        return None
    own = keys[0][rows]
    said = np.full(rows.size, np.nan)
    for label in labels:
        of_label = own == label
        said[of_label] = as_numbers(predictions.table[scores[label]])[rows][of_label]
    wrong = np.flatnonzero(np.abs(said - values) > _ROUNDED)
    return _say_rows(predictions, rows, values, wrong, "not the score of the gold label")


def _say_rows(
    predictions: Predictions, rows: Numbers, values: Floats, wrong: Numbers, of: str
) -> str | None:
    if not wrong.size:
        return None
    first = int(wrong[0])
    return (
        f"Warning: in {wrong.size:,} of {say_count(rows.size, 'row')} the confidence is {of} "
        f"beside it: {_name_wording(predictions, rows[first])} has {values[first]:.6g}, for one. "
        "The column confidence counts; if it is wrong, mend it, or leave it out."
    )


def _count_labels(predictions: Predictions) -> int | None:
    """Return how many labels there are at most, so that no bound is too narrow; None: unknown."""
    columns, names = predictions.columns, predictions.label_names
    # Beside marks, labels may be those that were seen.
    if names is not None and ("probabilities" in columns or "correct" not in columns):
        return len(names)
    seen = _seen_labels(predictions)
    return len(NLI_LABELS) if seen and seen <= set(NLI_LABELS) else None


def _seen_labels(predictions: Predictions) -> set[str]:
    """Return the labels that are right, or answered, in some row."""
    return {
        label_key(name)
        for column in ("gold", "predicted")
        if column in predictions.columns
        for name in predictions.table[column].combine_chunks().dictionary.to_pylist()
    }


def _is_number(text: Any) -> bool:
    try:
        pc.cast(pa.array([text.as_py()], pa.string()), pa.float64())
    except pa.ArrowException:
        return False
    return True


def _name_wording(predictions: Predictions, row: Any) -> str:
    """Return which item and version a row is of."""
    version = predictions.table["version"][int(row)].as_py()
    return f"version {version!r} of item {predictions.table['item'][int(row)].as_py()!r}"


def _check_probabilities(values: Floats, rows: Numbers, predictions: Predictions) -> None:
    """Refuse scores that are no probabilities: a confidence would mean nothing."""
    inside = ((values >= -_SUM_TOLERANCE) & (values <= 1 + _SUM_TOLERANCE)).all(axis=1)
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(~inside | ~(np.abs(values.sum(axis=1) - 1) <= _SUM_TOLERANCE))
    if not wrong.size:
        return
    first = wrong[0]
    more = f" ({wrong.size:,} wordings are wrong)" if wrong.size > 1 else ""
    raise InputError(
        f"{_name_wording(predictions, rows[first])} has "
        f"{', '.join(f'{value:.6g}' for value in values[first])}; probabilities are numbers from 0 "
        f"to 1 that add up to 1{more}; turn logits into probabilities, or leave the column out",
        path=predictions.source,
        row=f"row {rows[first]}",
        column="probabilities",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Wordings:
    """The answers of one classifier to the wordings of items, one row for each."""

    items: NDArray[Any]
    correct: Mask
    is_original: Mask
    """Shape (n,)."""
    answers: NDArray[np.int32] | None
    gold: NDArray[np.int32] | None
    """Shape (n,), indices of labels; None if they are not known. An answer that could not be parsed
    is -1: it is wrong, and agrees with others of its kind."""
    confidence: Floats | None
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
    missing = [name for name in wanted if name not in known]
    if missing:
        raise InputError(
            f"has no version {missing[0]!r}; it has {', '.join(known)}", path=chosen.source
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
    own = table.take(pa.array(rows))
    clusters = None
    cluster = chosen.repeats if cluster is None else cluster
    if cluster is not None:
        if cluster not in table.column_names:
            raise InputError(
                f"is not in these predictions; they have {', '.join(chosen.columns)}",
                path=chosen.source,
                column=cluster,
            )
        _check_same(chosen, own, cluster, "clusters", _SAME_CLUSTER)
        check_clusters(own[cluster], own["item"], path=chosen.source, name=cluster)
        clusters = _to_numpy(table[cluster], rows)
    has_answers = {"gold", "predicted"} <= set(table.column_names)
    is_comparable = has_answers and chosen.has_labels
    gold = chosen.codes("gold")[rows]
    if has_answers:
        _check_same(chosen, own, "gold", "gold labels", _SAME_GOLD)
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


def find_confidence(predictions: Predictions, version: str = ORIGINAL) -> Floats:
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


def _to_numpy(column: pa.ChunkedArray, rows: Numbers) -> NDArray[Any]:
    own = column.combine_chunks().take(pa.array(rows))
    if pa.types.is_dictionary(own.type):
        own = own.cast(own.type.value_type)
    return np.asarray(own.to_numpy(zero_copy_only=False))
