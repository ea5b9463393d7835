"""The rows of several logs, brought into one order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.labels import answer_key, index_labels
from ietest_fast.errors import InputError
from ietest_fast.values import as_texts, read_ids, show_value

if TYPE_CHECKING:
    from ietest_fast.evaluation.log_roles import Part
    from ietest_fast.evaluation.readers import Answers


def align(parts: list[Part], *, has_ids: bool) -> list[Part]:
    """Give all logs the items and the order of the first, and gold labels to those without.

    Parameters
    ----------
    parts
        The logs.
    has_ids
        Whether the user has named what tells items apart.

    Raises
    ------
    InputError
        If logs differ in length or items, or none has gold labels or outcomes.
    """
    first = parts[0].log
    pairs = [align_pair(first, part.log, has_ids=has_ids)[1] for part in parts[1:]]
    if first.items is None:
        first = replace(first, items=pa.array(np.arange(len(first), dtype=np.int64)))
    if first.correct is None and first.gold is None:
        holder = next((log for log in pairs if log.gold is not None), None)
        if holder is None:
            raise InputError(
                "there is no such column; name that of the gold labels with --gold-column, their "
                "file with --gold, or columns of outcomes with --correct-columns",
                path=first.path,
                column=first.gold_column,
            )
        first = replace(
            first, gold=holder.gold, gold_column=holder.gold_column, gold_path=holder.path
        )
    aligned = [
        replace(
            log,
            items=first.items if log.items is None else log.items,
            gold=first.gold if log.gold is None else log.gold,
        )
        for log in pairs
    ]
    return [replace(part, log=log) for part, log in zip(parts, [first, *aligned], strict=True)]


def align_pair(first: Answers, other: Answers, *, has_ids: bool) -> tuple[Answers, Answers]:
    """Bring the rows of a log into the order of another's, by item or as they stand."""
    if first.items is None or other.items is None:
        if len(other) != len(first):
            raise InputError(
                f"{len(other)} rows, but {first.path} has {len(first)}; rows are matched by their "
                "order (name a column with --id-column to match by it)",
                path=other.path,
            )
        _check_ids(first, other)
        return first, other
    mine, theirs = (check_items(log) for log in (first, other))
    where = pc.index_in(mine, value_set=theirs)
    if where.null_count or len(theirs) != len(mine):
        if first.version is not None and other.version is not None and not has_ids:
            return first, other  # one table, whose versions need not have the same items
        extra = pc.is_in(theirs, value_set=mine).to_numpy(zero_copy_only=False)
        lost = (
            mine.filter(where.is_null())[0].as_py()
            if where.null_count
            else theirs.filter(pa.array(~extra))[0].as_py()
        )
        raise InputError(
            f"the ids are not those of {first.path}: {show_value(lost)} stands in one file only",
            path=other.path,
            column="item" if not has_ids else None,
        )
    # Under the first log's names, which may be of another type: 1 and "1".
    aligned = replace(_take(other, where), items=first.items)
    _check_ids(first, aligned)
    if aligned.gold is not None and first.gold is not None and first.path != other.path:
        _check_gold(first, aligned)
    return first, aligned


def _take(log: Answers, rows: pa.Array) -> Answers:
    """Return the rows of a log in another order."""
    if rows.equals(pa.array(np.arange(len(log), dtype=np.int32))):
        return log
    return replace(
        log,
        **{
            name: values.take(rows)
            for name in ("items", "gold", "predicted", "correct", "probabilities", "inputs")
            if (values := getattr(log, name)) is not None
        },
        keys={name: values.take(rows) for name, values in log.keys.items()},
        columns={name: values.take(rows) for name, values in log.columns.items()},
        ids={name: values.take(rows) for name, values in log.ids.items()},
    )


def check_items(log: Answers) -> pa.Array:
    """Return a log's items as texts, each with the number of its copy where there are copies.

    Raises
    ------
    InputError
        If one is missing, or there twice.
    """
    assert log.items is not None  # noqa: S101 - the caller has seen to it
    column = log.items
    if "copy" in log.keys:
        texts = (as_texts(each, path=log.path) for each in (column, log.keys["copy"]))
        column = pc.binary_join_element_wise(*texts, ", copy ")
    return read_ids(column, path=log.path)


def _check_ids(first: Answers, other: Answers) -> None:
    """Stop if a column that seems to tell rows apart says that rows are matched wrongly."""
    for name, mine in first.ids.items():
        if name not in other.ids or first.path == other.path:
            continue
        pair = [
            as_texts(values, path=log.path, name=name)
            for log, values in ((first, mine), (other, other.ids[name]))
        ]
        if any(each.null_count or len(pc.unique(each)) < len(each) for each in pair):
            continue
        if pair[0].equals(pair[1]):
            continue
        shared = pc.is_in(pair[1], value_set=pair[0])
        if not pc.any(shared).as_py():
            continue
        row = int(np.argmax(pc.not_equal(pair[0], pair[1]).to_numpy(zero_copy_only=False)))
        before, here = (show_value(each[row].as_py()) for each in pair)
        raise InputError(
            f"names the rows otherwise than in {first.path} ({here} beside {before}), while rows "
            f"are matched by their order; --id-column {name} matches by it",
            path=other.path,
            row=f"row {row}",
            column=name,
        )


def _check_gold(first: Answers, other: Answers) -> None:
    """Stop if two logs have different right answers for the same items."""
    assert first.gold is not None  # noqa: S101 - the caller has seen to it
    assert other.gold is not None  # noqa: S101 - the caller has seen to it
    mine, theirs = (
        as_texts(gold, path=log.path, name=log.gold_column)
        for log, gold in ((first, first.gold), (other, other.gold))
    )
    by_key = {answer_key(name): name for name in pc.unique(mine).drop_null().to_pylist()}
    names = list(by_key.values())
    own, given = index_labels(mine, names), index_labels(theirs, names)
    if given.null_count == len(given):
        return  # the same answers in other words, such as names and letters
    differs = pc.and_(mine.is_valid(), theirs.is_valid())
    differs = pc.and_(differs, pc.invert(pc.fill_null(pc.equal(own, given), False)))
    if first.is_scored and pc.any(differs).as_py():
        row = int(np.argmax(differs.to_numpy(zero_copy_only=False)))
        item, before, here = (
            show_value(each[row].as_py()) for each in (check_items(first), mine, theirs)
        )
        raise InputError(
            f"item {item} has the right answer {here}, and {before} in {first.path}; are these the "
            "same items? --id-column names what tells items apart, such as doc.id",
            path=other.path,
        )


def item_names(log: Answers) -> list[str]:
    """Return the items of an aligned log as texts."""
    assert log.items is not None  # noqa: S101 - aligned
    found: list[str] = as_texts(log.items, path=log.path).to_pylist()
    return found
