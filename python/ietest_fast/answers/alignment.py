"""The rows of several logs, brought into one order."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.labels import find_known
from ietest_fast.answers.readers.base import Repeats, list_right
from ietest_fast.answers.readers.table_columns import INDEX
from ietest_fast.answers.schema import ROWS_OF_A_KIND
from ietest_fast.corpus.labels import answer_key, index_labels
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.values import (
    are_ids,
    as_texts,
    find_displaced,
    is_id_name,
    may_name_rows,
    pair_columns,
    read_ids,
    say_written,
    show_value,
    spell_whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ietest_fast.answers.readers import Log
    from ietest_fast.answers.texts import VersionLog


Epochs = Literal["all", "first", "mean"]

# Stands for the whole inputs in messages; no column has this name.
_INPUT = "the input"

_LETTER = re.compile("[A-J]$")

_SORT = "bring both files into the same order, or name a column of ids with --id-column"


def prepare(
    logs: Sequence[Log], *, epochs: Epochs, threshold: float | None
) -> tuple[list[Log], list[str]]:
    """Give the rows of logs names of one type, each row one of its own."""
    found, notes = [], []
    for log in logs:
        if epochs != "all" and log.repeated is not None:
            raise InputError(
                f"has all answers to an item as rows of their own: --epochs {epochs} is for the "
                "logs that they were read from; give these",
                path=log.path,
            )
        own, n = _drop_copies(log)
        if n:
            again = say_count(n, "answer", "answers")
            notes.append(f"{log.path}: {again} to the same input once more; one of each counts.")
        found.append(own)
    if len({log.items.type for log in found if log.items is not None}) > 1:
        found = [
            log if log.items is None else replace(log, items=as_texts(log.items, path=log.path))
            for log in found
        ]
    are_several = any(_n_repeats(log) > 1 for log in found)
    if not are_several and (epochs == "all" or not any(_n_epochs(log) > 1 for log in found)):
        return found, notes
    which = min(log.repeats.noun for log in found if log.repeats is not None)
    if epochs == "all":
        column = min(log.repeats.column for log in found if log.repeats is not None)
        notes.append(
            f"Items were answered in several {which}s; the answers to an item are drawn together, "
            f"as by --clusters {column}. --epochs first or mean makes one of them."
        )
        return [_name_repeats(log) for log in found], notes
    notes.append(
        f"Of the answers of several {which}s to an item, "
        + ("the first counts." if epochs == "first" else "the mean score counts.")
    )
    return [_take_one(log, epochs, threshold) for log in found], notes


def _n_repeats(log: Log) -> int:
    """Return how many answers there are to an item, at most."""
    if log.repeats is None or log.items is None or not len(log):
        return 1
    return int(pc.max(pc.value_counts(log.items).field("counts")).as_py())


def _drop_copies(log: Log) -> tuple[Log, int]:
    """Leave out rows that say the same of the same input again, and count them.

    Evaluation on several machines pads what it gives out: the last documents are answered twice.
    """
    if log.items is None or log.inputs is None or log.repeats is not None or log.keys:
        return log, 0
    if are_ids(log.items):
        return log, 0
    said = [
        values.to_pylist()
        for values in (log.items, log.inputs, log.gold, log.predicted, log.correct)
        if values is not None
    ]
    first: dict[tuple[Any, ...], int] = {}
    for row, values in enumerate(zip(*said, strict=True)):
        first.setdefault(values, row)
    return _take(log, pa.array(first.values(), pa.int32())), len(log) - len(first)


def _name_repeats(log: Log) -> Log:
    """Give every answer to an item a name of its own, and keep the item's."""
    if log.repeats is None or log.items is None:
        return log
    items = as_texts(log.items, path=log.path)
    numbers = log.repeats.numbers.cast(pa.string())
    named = pc.binary_join_element_wise(items, numbers, f", {log.repeats.noun} ")
    return replace(
        log,
        items=named,
        repeated=log.repeats.column,
        columns={**log.columns, log.repeats.column: items},
    )


def _take_one(log: Log, epochs: Epochs, threshold: float | None) -> Log:
    """Make one answer of all to an item, whatever its number.

    Of the mean, the answer is the first that is as right or wrong as the mean.
    """
    if _n_repeats(log) < 2:
        return replace(log, repeats=None)
    assert log.repeats is not None  # noqa: S101 - several were counted
    assert log.items is not None  # noqa: S101 - the same
    numbers = np.argsort(log.repeats.numbers.to_numpy(zero_copy_only=False), kind="stable")
    rows: dict[Any, list[int]] = {}
    items = log.items.to_pylist()
    for row in numbers.tolist():
        rows.setdefault(items[row], []).append(row)
    own = [rows[item] for item in dict.fromkeys(items)]
    if epochs == "first":
        taken = _take(log, pa.array([each[0] for each in own], pa.int32()))
        return replace(taken, repeats=None)
    assert log.correct is not None  # noqa: S101 - of logs that have several answers
    right = log.correct.to_pylist()
    scores = right if log.repeats.scores is None else log.repeats.scores.to_pylist()
    outcomes: list[bool | None] = []
    chosen = []
    for each in own:
        outcome = _judge_mean([scores[row] for row in each], threshold, log, items[each[0]])
        outcomes.append(outcome)
        chosen.append(next((row for row in each if right[row] is outcome), each[0]))
    taken = _take(log, pa.array(chosen, pa.int32()))
    return replace(taken, correct=pa.array(outcomes, pa.bool_()), repeats=None)


def _judge_mean(
    scores: list[float | None], threshold: float | None, log: Log, item: Any
) -> bool | None:
    """Say whether a mean of scores is right; None if none was scored."""
    known = [score for score in scores if score is not None]
    if not known:
        return None
    mean = math.fsum(known) / len(known)
    if threshold is None and mean not in {0.0, 1.0}:
        raise InputError(
            f"the mean score of item {item!r} is {mean:.4g} over {len(known)}, neither right nor "
            "wrong; --threshold 0.5 counts means of 0.5 and more as right",
            path=log.path,
        )
    return mean >= (1.0 if threshold is None else threshold)


def keep_common(parts: list[VersionLog]) -> tuple[list[VersionLog], int]:
    """Leave out the items that not all logs have, and count them; logs without names stay."""
    named = [check_items(part.log) for part in parts if part.log.items is not None]
    if len(named) < 2:
        return parts, 0
    common = set(named[0].to_pylist()).intersection(*(each.to_pylist() for each in named[1:]))
    every: set[str] = set().union(*(each.to_pylist() for each in named))
    if not common:
        raise InputError("no item is in all logs", path=parts[0].log.path)
    wanted = pa.array(sorted(common), pa.string())
    kept = []
    for part in parts:
        log = part.log
        if log.items is not None:
            rows = np.flatnonzero(pc.is_in(check_items(log), wanted).to_numpy(zero_copy_only=False))
            log = _take(log, pa.array(rows, pa.int32()))
        kept.append(replace(part, log=log))
    return kept, len(every) - len(common)


def align(parts: list[VersionLog], *, has_ids: bool) -> list[VersionLog]:
    """Give all logs the items and the order of the first, and gold labels to those without."""
    first = parts[0].log
    pairs = [align_pair(first, part.log, has_ids=has_ids)[1] for part in parts[1:]]
    if first.items is None:
        numbers = pa.array(np.arange(len(first), dtype=np.int64))
        first = replace(first, items=numbers, is_by_order=True)
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
            log if log.gold is not None or first.gold is None else _believe(log, first),
            items=first.items if log.items is None else log.items,
            is_by_order=log.items is None or first.is_by_order,
        )
        for log in pairs
    ]
    return [replace(part, log=log) for part, log in zip(parts, [first, *aligned], strict=True)]


def _believe(log: Log, first: Log) -> Log:
    """Return a log with the gold labels of the first, with which its own are compared later."""
    where = first.gold_path or first.path
    return replace(log, gold=first.gold, gold_column=first.gold_column, gold_path=where)


def with_own_gold(log: Log) -> Log:
    """Return a log with its own gold labels where it has no others."""
    if log.gold is not None:
        return log
    return replace(log, gold=log.own_gold, gold_column=log.own_gold_column or log.gold_column)


def _name_rows(log: Log) -> Log:
    """Return a log without the names of its items if they are the numbers of the rows."""
    return replace(log, items=None) if log.is_by_order else log


def say_other_labels(parts: Sequence[VersionLog]) -> list[str]:
    """Say that files of outcomes have other labels in the same rows; a version may have its own."""
    first, said = parts[0].log, []
    for log in (part.log for part in parts[1:]):
        if first.gold is not None or log.gold is not None or first.path == log.path:
            continue
        try:
            check_gold(with_own_gold(first), _name_rows(with_own_gold(log)))
        except InputError as error:
            said.append(f"Warning: {error}.")
    return list(dict.fromkeys(said))


def check_repeats(parts: Sequence[VersionLog]) -> list[str]:
    """Say that aligned logs answer items in different epochs, or stop if only some items are.

    Other examples, or another draw, may stand before another answer; one epoch for all is a choice.
    """
    first, said = parts[0].log, []
    for part in parts[1:]:
        log = part.log
        if first.repeats is None or log.repeats is None or first.repeats.noun != log.repeats.noun:
            continue
        items = check_items(first)
        theirs = log.repeats.numbers.take(pc.index_in(items, value_set=check_items(log)))
        differs = pc.fill_null(pc.not_equal(first.repeats.numbers, theirs), False)
        n, noun = pc.sum(differs).as_py() or 0, log.repeats.noun
        if not n:
            continue
        row = pc.index(differs, True).as_py()
        before, here = first.repeats.numbers[row].as_py(), theirs[row].as_py()
        where = part.version if log.path == first.path else str(log.path)
        there = parts[0].version if log.path == first.path else str(first.path)
        if _n_epochs(first) > 1 or _n_epochs(log) > 1:
            raise InputError(
                f"item {show_value(items[row].as_py())} was answered in {noun} {here} in {where}, "
                f"and in {noun} {before} in {there}; of {len(items):,} items, "
                f"{say_count(n, 'was', 'were')} answered in two {noun}s. Give logs of the same "
                f"{noun}s; --epochs first compares the answers whatever their {noun}",
                path=log.path,
            )
        said.append(
            f"Items were answered in {noun} {here} in {where}, and in {noun} {before} in {there}; "
            "these answers are compared."
        )
    return said


def align_pair(first: Log, other: Log, *, has_ids: bool) -> tuple[Log, Log]:
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
        raise InputError(_say_different(first, other, mine, theirs), path=other.path)
    # Under the first log's names, which may be of another type: 1 and "1".
    aligned = replace(_take(other, where), items=first.items)
    _check_ids(first, aligned)
    if first.is_scored and first.path != other.path:
        check_gold(first, aligned)
    return first, aligned


def _say_different(first: Log, other: Log, mine: pa.Array, theirs: pa.Array) -> str:
    """Say how the items of two logs differ, and what can be done."""
    counts = [_n_epochs(log) for log in (first, other)]
    if counts[0] != counts[1] and other.repeats is not None:
        nouns = (say_count(n, other.repeats.noun, f"{other.repeats.noun}s") for n in counts)
        his, own = nouns
        return (
            f"has {own} of each item, and {first.path} has {his}; --epochs first or --epochs mean "
            "makes one answer of all"
        )
    alone = [
        one.filter(pc.invert(pc.is_in(one, value_set=two)))
        for one, two in ((mine, theirs), (theirs, mine))
    ]
    lost = (alone[0] if len(alone[0]) else alone[1])[0].as_py()
    said = (
        f"has {len(theirs):,} items, and {first.path} has {len(mine):,}: {lost!r} stands in one "
        "file only"
    )
    more = len(alone[0]) + len(alone[1]) - 1
    said += f", like {more:,} more" if more else ""
    n = len(mine) - len(alone[0])
    if not n:
        return f"{said}; no item is in both{say_written(mine, theirs)}"
    return f"{said}; --common-items compares the {n:,} that both have"


def _n_epochs(log: Log) -> int:
    return 1 if log.repeats is None else len(pc.unique(log.repeats.numbers))


def _take(log: Log, rows: pa.Array) -> Log:
    """Return the rows of a log in another order."""
    if rows.equals(pa.array(np.arange(len(log), dtype=np.int32))):
        return log
    return replace(log, **_take_fields(log, rows))


def _take_fields(record: Log | Repeats, rows: pa.Array) -> dict[str, Any]:
    return {each.name: _take_rows(getattr(record, each.name), rows) for each in fields(record)}


def _take_rows(value: Any, rows: pa.Array) -> Any:
    """Return the rows of what a log says of each of its rows; what it says of all as it is."""
    if isinstance(value, (pa.Array, pa.ChunkedArray)):
        return value.take(rows)
    if isinstance(value, Mapping):
        return {name: _take_rows(own, rows) for name, own in value.items()}
    return replace(value, **_take_fields(value, rows)) if isinstance(value, Repeats) else value


def check_items(log: Log) -> pa.Array:
    """Return a log's items as texts, each with the number of its copy where there are copies."""
    assert log.items is not None  # noqa: S101 - the caller has seen to it
    column = log.items
    if "copy" in log.keys:
        texts = (as_texts(each, path=log.path) for each in (column, log.keys["copy"]))
        column = pc.binary_join_element_wise(*texts, ", copy ")
    return read_ids(column, path=log.path)


def _check_ids(first: Log, other: Log) -> None:
    """Stop if a column that seems to tell rows apart says that rows are matched wrongly."""
    if first.path == other.path:
        return
    for own, name, *pair in _pair_ids(first, other):
        are_unique = all(are_ids(each) for each in pair)
        row = find_displaced(*pair)
        if row is None and are_unique and own == name and is_id_name(name):
            # By its name such a column tells rows apart, even if few of them are the same.
            mine, theirs = map(spell_whole, pair)
            differs = pc.not_equal(mine, theirs)
            is_shared = pc.any(pc.is_in(theirs, value_set=mine)).as_py()
            row = pc.index(differs, True).as_py() if is_shared and pc.any(differs).as_py() else None
        if row is None:
            continue
        can_match = are_unique and pc.all(pc.is_in(pair[1], value_set=pair[0])).as_py()
        remedy = f"--id-column {shlex.quote(name)} matches by it"
        if own != name:
            remedy = f"call both columns alike, and {remedy}"
        elif name in {_INPUT, INDEX} or not can_match:
            remedy = _SORT
        before, here = (show_value(each[row].as_py()) for each in pair)
        there = f"in {first.path}" if own == name else f"the column {own} of {first.path}"
        by = "order" if other.items is None else "ids"
        raise InputError(
            f"names the rows otherwise than {there} ({here} beside {before}), while rows are "
            f"matched by their {by}; {remedy}",
            path=other.path,
            row=f"row {row}",
            column=name,
        )


def say_other_ids(first: Log, other: Log) -> list[str]:
    """Say that rows are matched by their order, although their ids have nothing in common.

    Versions may have ids of their own; a column that names the rows alike shows that all is well.
    """
    is_by_order = first.items is None or other.items is None
    if first.path == other.path or not is_by_order or len(first) != len(other):
        return []
    strange = []
    for own, name, *pair in _pair_ids(first, other):
        mine, theirs = map(spell_whole, pair)
        if not (are_ids(mine) and are_ids(theirs)):
            continue
        if mine.equals(theirs):
            return []
        is_shared = pc.any(pc.is_in(theirs, value_set=mine)).as_py()
        if is_id_name(own) and is_id_name(name) and not is_shared:
            strange.append((own, name))
    return [
        f"{other.path}: its {say_count(len(other), 'row')} were matched by order with those of "
        f"{first.path}, although the ids in the columns {name} and {own} have nothing in common; "
        f"if the orders differ, {_SORT}."
        for own, name in strange[:1]
    ]


def _pair_ids(first: Log, other: Log) -> Iterator[tuple[str, str, pa.Array, pa.Array]]:
    """Yield names and texts of the columns that tell rows apart, as two logs have them."""
    named, others = (_naming_columns(log) for log in (first, other))
    for own, name in pair_columns(named, others):
        mine = as_texts(named[own], path=first.path, name=own)
        yield own, name, mine, as_texts(others[name], path=other.path, name=name)


def _naming_columns(log: Log) -> dict[str, pa.Array]:
    """Return what tells the rows of a log apart: columns, and the inputs of a harness."""
    if log.inputs is None or log.input_columns or not may_name_rows(_INPUT, log.inputs):
        return dict(log.ids)
    return {**log.ids, _INPUT: log.inputs}


def name_order(log: Log, other: Log) -> dict[str, pa.Array]:
    """Return the items of a log by the columns of another that have the same ones, if some have.

    Rows that are matched by their order contradict such a column if its order is another one.
    """
    if log.items is None or other.items is not None or not are_ids(log.items):
        return {}
    mine = as_texts(log.items, path=log.path)
    return {
        name: mine
        for name, values in other.ids.items()
        if are_ids(values)
        and len(values) == len(mine)
        and pc.all(pc.is_in(as_texts(values, path=other.path, name=name), value_set=mine)).as_py()
    }


def check_own_gold(log: Log, names: Sequence[str]) -> None:
    """Stop if a table of gold labels says otherwise than the log in whose place it is believed.

    Numbers say what they are once the labels are known.
    """
    if log.own_gold is None or log.gold_path is None or not names:
        return
    column = log.own_gold_column or log.gold_column
    known = find_known(as_texts(log.own_gold, path=log.path, name=column), names)
    if column == "target" and known.null_count == len(known):
        return  # it may be of something else
    own = replace(log, gold=log.own_gold, gold_column=column)
    check_gold(own, _name_rows(replace(log, path=log.gold_path)), names=names)


def check_gold(first: Log, other: Log, *, names: Sequence[str] | None = None) -> None:
    """Stop if two logs, or a log and a table of gold labels, have different ones for an item."""
    columns = list_right(first, other)
    if columns is None:
        return
    mine, theirs = (
        as_texts(gold, path=log.path, name=log.gold_column)
        for log, gold in zip((first, other), columns, strict=True)
    )
    if names is None:
        by_key = {answer_key(name): name for name in pc.unique(mine).drop_null().to_pylist()}
        own, given = (index_labels(each, list(by_key.values())) for each in (mine, theirs))
    else:
        own, given = (find_known(each, names) for each in (mine, theirs))
    if len(own) in {own.null_count, given.null_count} and not _are_other_classes(mine, theirs):
        return  # the same answers in other words, such as names and letters
    differs = pc.and_(mine.is_valid(), theirs.is_valid())
    differs = pc.and_(differs, pc.invert(pc.fill_null(pc.equal(own, given), False)))
    n = pc.sum(differs).as_py() or 0
    if not n:
        return
    row = int(np.argmax(differs.to_numpy(zero_copy_only=False)))
    before, here = (show_value(each[row].as_py()) for each in (mine, theirs))
    there = f"{first.path}"
    if first.gold_column != other.gold_column:
        there = f"the column {first.gold_column} of {there}"
    if other.items is not None:
        raise InputError(
            f"item {show_value(check_items(other)[row].as_py())} has the right answer {here}, and "
            f"{before} in {there}; are these the same items? --id-column names what tells "
            "items apart, such as doc.id",
            path=other.path,
        )
    raise InputError(
        f"the right answer is {here}, and {before} in {there}, and so in "
        f"{say_count(n, 'row', 'rows')} of {len(mine):,}; name a column to match rows by with "
        "--id-column if their orders differ, or leave out the labels that are wrong",
        path=other.path,
        row=f"row {row}",
        column=other.gold_column,
    )


def _are_other_classes(mine: pa.Array, theirs: pa.Array) -> bool:
    """Whether neither column only renames the classes of the other.

    Letters of choices, which are no classes, may stand for another text in each item.
    """
    pairs = set(zip(mine.to_pylist(), theirs.to_pylist(), strict=True))
    known = {(one, other) for one, other in pairs if one is not None and other is not None}
    kinds = [{pair[place] for pair in known} for place in (0, 1)]
    if any(all(map(_LETTER.match, each)) for each in kinds):
        return False
    n = [len(each) for each in kinds]
    return max(n) * ROWS_OF_A_KIND <= len(mine) and len(known) > min(n)


def item_names(log: Log) -> list[str]:
    """Return the items of an aligned log as texts."""
    assert log.items is not None  # noqa: S101 - aligned
    found: list[str] = as_texts(log.items, path=log.path).to_pylist()
    return found
