"""One long table of predictions from the matched rows of several logs."""

from __future__ import annotations

import difflib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.alignment import check_own_gold, item_names
from ietest_fast.answers.asking import NOT_PARSED
from ietest_fast.answers.file import are_copies
from ietest_fast.answers.labels import (
    Unparsed,
    check_minus,
    encode_gold,
    encode_predictions,
    find_names,
    has_numbers,
    say_numbers,
)
from ietest_fast.answers.schema import CHANGED, align_types, check_kept, plain_type
from ietest_fast.answers.table import Predictions, find_contradicted
from ietest_fast.answers.texts import find_changed
from ietest_fast.corpus.labels import index_labels, label_key
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.values import as_texts, find_outcomes, show_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.answers.readers import Log
    from ietest_fast.answers.texts import VersionLog


# What programs write where there is no value; a label may be called so, too.
_NO_LABELS = frozenset(
    {"n/a", "na", "none", "null", "ref", "value", "unknown", "missing", "?", "todo", "tbd", ""}
)
_CLOSE = 0.65
_OFTENER = 3  # A mistake is rarer than what is meant.
_DIGITS = re.compile(r"\d+")


def assemble(
    parts: list[VersionLog], *, label_names: tuple[str, ...] | None, unparsed: Unparsed | None
) -> tuple[Predictions, list[str]]:
    """Put the long table together."""
    first = parts[0].log
    copies = _check_distinct(parts)
    scored = [part.log.correct is not None for part in parts]
    if any(scored) and not all(scored):
        raise InputError(
            "has no outcomes, which the other logs have; --correct-columns names a column of them",
            path=parts[scored.index(False)].log.path,
        )
    if all(scored):
        named = (label_names, *(part.log.label_names for part in parts))
        for part in parts:
            check_own_gold(part.log, next(filter(None, named), ()))
        made, said = _assemble_outcomes(parts, unparsed=unparsed or "wrong")
        return made, [*copies, *said]
    unparsed = unparsed or "error"
    if first.label_names is not None and label_names is None:
        label_names = first.label_names
    may_be_numbers = is_named = label_names is not None
    if label_names is None:
        whole, logs = _with_all_gold(parts), [part.log for part in parts]
        may_be_numbers = has_numbers(whole)
        label_names = find_names(whole, logs, unparsed=unparsed)
        check_minus(whole, logs, label_names)
    gold = encode_gold(first, label_names)
    names = gold.names
    if not (gold.codes >= 0).any():
        raise InputError("no row has a gold label", path=first.path, column=first.gold_column)
    for part in parts:
        check_own_gold(part.log, names)
    if not is_named:
        copies += _say_no_labels(first, names, gold.codes, parts)
    bases = {
        part.version: (part.log, encode_gold(part.log, names).codes)
        for part in parts[::-1]
        if part.log.path == first.path
        and not (part.log.gold is None or part.log.gold is first.gold)
    }
    bases = {**bases, parts[0].version: (first, gold.codes)}
    kept = {
        id(part): _gold_codes(part.log, *bases.get(part.version, (first, gold.codes)), names)
        for part in parts
    }
    codes = {
        id(part): encode_predictions(
            part.log, names, unparsed=unparsed, may_be_numbers=may_be_numbers
        )
        for part in parts
    }
    for part in parts:
        _check_marks(part.log, kept[id(part)], codes[id(part)], names)
    failed = _items_of(parts, {key: found < 0 for key, found in codes.items()}, kept)
    notes, dropped = _say_unparsed(failed, len(gold.codes), unparsed)
    if may_be_numbers and not is_named:
        numbered = [(part.log, kept[id(part)], codes[id(part)]) for part in parts]
        notes += say_numbers(numbered, names)
    labels = pa.array(names, pa.string())
    tables = []
    for part in parts:
        answers = codes[id(part)]
        keep = kept[id(part)] >= 0
        if unparsed == "drop" and failed:
            keep &= ~np.isin(item_names(part.log), list(failed))
        columns = {"gold": _named(kept[id(part)], labels), "predicted": _named(answers, labels)}
        tables.append(_rows(part, columns, parts).filter(pa.array(keep)))
    return (
        _finish(tables, names, {**gold.dropped, **dropped}, parts),
        [*copies, *notes],
    )


def _check_distinct(parts: list[VersionLog]) -> list[str]:
    """Stop if the same answers of one file are compared with themselves, and tell of a copy."""
    said = []
    for place, part in enumerate(parts):
        log = part.log
        for other in (each.log for each in parts[:place]):
            if (log.version, log.model) != (other.version, other.model) or log.keys:
                continue
            if log.path.resolve() == other.path.resolve() and _are_same(log, other):
                raise InputError(
                    f"is the same file as {other.path}, with the same answers; give another one, "
                    "or name other columns of it (-P, -C)",
                    path=log.path,
                )
            if are_copies(log.path, other.path):
                said.append(
                    f"Warning: {log.path} is a copy of {other.path}, byte for byte, and counts as "
                    "other answers; give the file that holds these, unless every answer stayed as "
                    "it was."
                )
    return said


def _are_same(one: Log, other: Log) -> bool:
    pairs = ((one.predicted, other.predicted), (one.correct, other.correct))
    return all(a is b or (a is not None and b is not None and a.equals(b)) for a, b in pairs)


def _say_no_labels(
    first: Log, names: tuple[str, ...], codes: NDArray[np.int8], parts: Sequence[VersionLog]
) -> list[str]:
    """Count gold labels that nobody answers, and that are none or another one misspelt."""
    answers = {
        label_key(each)
        for part in parts
        if part.log.predicted is not None
        for each in as_texts(part.log.predicted, path=part.log.path).unique().to_pylist()
        if each is not None
    }
    said = []
    for place, name in enumerate(names):
        n = int((codes == place).sum())
        if not n or label_key(name) in answers:
            continue
        close = [other for other in names if _may_be(name, other) and label_key(other) in answers]
        if _bare(name) in _NO_LABELS:
            remedy = "leave the field empty if there is none"
        elif close and _OFTENER * n <= int((codes == names.index(close[0])).sum()):
            remedy = f"write it as the others if it is {show_value(close[0])}"
        else:
            continue
        said.append(
            f"Warning: {first.path}, column '{first.gold_column}': {show_value(name)} is the right "
            f"answer to {say_count(n, 'item')} and never given, and counts as a label; {remedy} "
            "(--labels names all labels)."
        )
    return said


def _may_be(label: str, other: str) -> bool:
    """Whether a label may be another one misspelt: it goes on, or most of its letters are there."""
    one, two = _bare(label), _bare(other)
    if not two or _DIGITS.sub("", one) == _DIGITS.sub("", two) != one:
        return False
    return one.startswith(two) or difflib.SequenceMatcher(None, one, two).ratio() >= _CLOSE


def _bare(label: str) -> str:
    """Return a label without the marks around it that programs and people add."""
    return label_key(label).strip("#!.:<>()[]")


def _with_all_gold(parts: list[VersionLog]) -> Log:
    """Return the first log with the gold labels of all versions and classifiers of its table.

    They may answer other items, whichever of them stands first.
    """
    first = parts[0].log
    own = {id(part.log.gold): part.log.gold for part in parts if part.log.path == first.path}
    columns = [gold for gold in own.values() if gold is not None]
    if len({gold.type for gold in columns}) > 1:
        return first
    return replace(first, gold=pa.chunked_array([c for gold in columns for c in gold.chunks]))


def _check_marks(
    log: Log, gold: NDArray[np.int8], codes: NDArray[np.int8], names: tuple[str, ...]
) -> None:
    """Stop if a column of a table says of an answer what its labels do not say."""
    if log.marks is None:
        return
    marks = log.marks.to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero((gold >= 0) & ((gold == codes) != marks))
    if wrong.size and not _are_gold(marks, log):
        row = int(wrong[0])
        said = "a missing one" if codes[row] < 0 else repr(names[codes[row]])
        raise InputError(
            f"{'true' if marks[row] else 'false'} contradicts the gold label {names[gold[row]]!r} "
            f"and the answer {said}, and {say_count(wrong.size, 'row does', 'rows do')} so of "
            f"{len(gold):,}; mend what is wrong, or leave the column out (-C compares by it alone)",
            path=log.path,
            row=f"row {row}",
            column=log.marks_column,
        )


def _are_gold(marks: NDArray[np.bool_], log: Log) -> bool:
    """Whether what seems to mark answers are the right answers, which stand in another file."""
    if log.gold is None or log.gold_path is None:
        return False
    right, bad = find_outcomes(log.gold)
    return not bad.size and bool((right == marks).all())


def _named(codes: NDArray[np.int8], labels: pa.Array) -> pa.Array:
    """Return labels by their indices; null for -1."""
    indices = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, labels)


def _gold_codes(
    log: Log, first: Log, codes: NDArray[np.int8], names: tuple[str, ...]
) -> NDArray[np.int8]:
    """Return the right answers of a log's rows as indices.

    They are those of the version in the first file, whose versions may have labels of their own.
    """
    if log is first or log.gold is None or log.gold is first.gold:
        return codes
    own = encode_gold(log, names).codes
    if log.path == first.path:
        return own  # a table in which a version may have labels of its own
    if len(own) != len(codes):
        raise InputError(
            f"has {len(own):,} rows of a version, and {first.path} begins with {len(codes):,}: "
            "put all versions of a classifier into one table; files of answers to stress tests are "
            "compared by ietest-fast stress",
            path=log.path,
        )
    differs = (own != codes) & (own >= 0) & (codes >= 0)
    if differs.any():
        row = int(np.argmax(differs))
        raise InputError(
            f"the gold label is {names[own[row]]!r}, and {names[codes[row]]!r} in {first.path}; "
            "are the rows in the same order? --id-column names a column to match them by",
            path=log.path,
            row=f"row {row}",
            column=log.gold_column,
        )
    return codes


def _items_of(
    parts: list[VersionLog], masks: dict[int, Any], gold: dict[int, Any] | None = None
) -> set[str]:
    """Return the names of the items that a mask marks in any log."""
    found: set[str] = set()
    for part in parts:
        mask = masks[id(part)]
        if gold is not None:
            mask = mask & (gold[id(part)] >= 0)
        if mask.any():
            names = item_names(part.log)
            found |= {names[row] for row in np.flatnonzero(mask)}
    return found


def _say_unparsed(failed: set[str], n: int, unparsed: Unparsed) -> tuple[list[str], dict[str, int]]:
    if not failed:
        return [], {}
    if unparsed == "drop":
        return [], {NOT_PARSED: len(failed)}
    note = (
        f"Answers to {len(failed):,} of {n:,} items could not be parsed; they count as wrong "
        "(--unparsed drop leaves these items out)."
    )
    return [note], {}


def _assemble_outcomes(
    parts: list[VersionLog], *, unparsed: Unparsed
) -> tuple[Predictions, list[str]]:
    """Put together logs that say of each answer whether it is right."""
    unscored = {id(part): _nulls(part.log.correct) for part in parts}
    failed = _find_unparsed(parts)
    for part in parts:
        mask = unscored[id(part)]
        if mask.any() and not part.log.is_scored:
            raise InputError(
                "an outcome is missing; every row needs one",
                path=part.log.path,
                row=f"row {int(np.argmax(mask))}",
                column=part.log.predicted_column,
            )
        if failed[id(part)].any() and unparsed == "error":
            row = int(np.argmax(failed[id(part)]))
            raise InputError(
                f"{int(failed[id(part)].sum()):,} answers could not be parsed, the first that to "
                f"item {item_names(part.log)[row]!r}; --unparsed wrong counts them as wrong, "
                "--unparsed drop leaves their items out",
                path=part.log.path,
            )
    not_parsed = _items_of(parts, failed)
    notes, dropped = _say_unparsed(not_parsed, len(parts[0].log), unparsed)
    for part in parts:
        notes += _say_right_without_answer(part.log)
        for reason, n in part.log.dropped.items():
            dropped[reason] = max(n, dropped.get(reason, 0))
    absent = _items_of(parts, unscored)
    if absent:
        dropped["answer without a score"] = len(absent)
    left_out = list(absent | (not_parsed if unparsed == "drop" else set()))
    names = _shared_names([part.log for part in parts])
    tables = []
    for part in parts:
        table = _rows(part, _outcome_columns(part.log, names), parts)
        if left_out:
            table = table.filter(pa.array(~np.isin(item_names(part.log), left_out)))
        tables.append(table)
    made = _finish(tables, names, dropped, parts)
    n = 0 if names is None or "copy" in parts[0].log.keys else _count_contradicted(made)
    if n:
        notes.append(
            f"Warning: {n:,} answers are the same in two versions, and right in one only; right "
            "and wrong are compared, the answers are not."
        )
        tables = [table.drop_columns("predicted") for table in tables]
        made = _finish(tables, None, dropped, parts)
    return made, notes


def _count_contradicted(predictions: Predictions) -> int:
    """Count answers that are the same in two versions, and right in one only."""
    if "predicted" not in predictions.columns:
        return 0
    reference, *others = predictions.versions
    return sum(
        find_contradicted(own.pairs(version, reference=reference))[0]
        for group in predictions.groups
        for own in [predictions.select(**group) if group else predictions]
        for version in others
        if {reference, version} <= set(own.versions)
    )


def _nulls(values: Any) -> NDArray[np.bool_]:
    return np.asarray(values.is_null().to_numpy(zero_copy_only=False))


def _find_unparsed(parts: list[VersionLog]) -> dict[int, NDArray[np.bool_]]:
    """Say of each log which answers could not be parsed, perhaps none of them could.

    A judge that keeps no answer to anything does not say what it has parsed, unless its format
    does; one that keeps answers in one log keeps them in all.
    """
    logs = [part.log for part in parts if part.log.predicted is not None]
    keeping = {log.judged_by[:1] for log in logs if log.marks_unparsed or _has_answers(log)}
    return {
        id(part): _unparsed(part.log)
        if part.log.judged_by[:1] in keeping
        else np.zeros(len(part.log), dtype=bool)
        for part in parts
    }


def _has_answers(log: Log) -> bool:
    return log.predicted is not None and log.predicted.null_count < len(log.predicted)


def _tells_unparsed(log: Log) -> bool:
    """Whether a log keeps answers, and marks those that could not be parsed."""
    return log.marks_unparsed and _has_answers(log)


def _say_right_without_answer(log: Log) -> list[str]:
    """Count the answers that could not be parsed, and are marked as right."""
    if not _tells_unparsed(log) or log.correct is None or log.predicted is None:
        return []
    n = int((_nulls(log.predicted) & np.asarray(pc.fill_null(log.correct, False))).sum())
    if not n:
        return []
    said = say_count(n, "answer")
    return [f"Warning: {log.path}: {said} could not be parsed, and the log says right."]


def _unparsed(log: Log) -> NDArray[np.bool_]:
    """Say which answers of a log could not be parsed: there is none, and it is wrong.

    A judge that keeps no answer to what is right does not say what it has parsed.
    """
    if log.predicted is None or not log.is_scored:
        return np.zeros(len(log), dtype=bool)
    absent = _nulls(log.predicted.combine_chunks())
    right = pc.fill_null(log.correct, False).to_numpy(zero_copy_only=False)
    if (absent & right).any() and not _tells_unparsed(log):
        return np.zeros(len(log), dtype=bool)
    unscored = _nulls(log.correct)
    return np.asarray(absent & ~right & ~unscored)


def _shared_names(logs: list[Log]) -> tuple[str, ...] | None:
    """Return the labels, if those of each log are among those of one, and answers are no others."""
    named = [log.label_names for log in logs if log.label_names is not None]
    if len(named) < len(logs):
        return None
    names = max(named, key=len)
    if any(not set(own) <= set(names) for own in named):
        return None
    return None if any(_has_others(log, names) for log in logs) else names


def _outcome_columns(log: Log, names: tuple[str, ...] | None) -> dict[str, Any]:
    columns: dict[str, Any] = {"correct": pc.fill_null(log.correct, False)}
    for name, values in (("gold", log.gold), ("predicted", log.predicted)):
        if values is not None and log.is_scored:
            columns[name] = as_texts(values, path=log.path, name=name)
    # Of other logs the labels may be in another order.
    if names is not None and log.label_names == names and log.probabilities is not None:
        columns["probabilities"] = log.probabilities
    return columns


def _has_others(log: Log, names: tuple[str, ...]) -> bool:
    """Whether a log has answers that are none of the labels."""
    for values in (log.gold, log.predicted):
        if values is not None:
            texts = as_texts(pc.unique(values).drop_null(), path=log.path)
            if index_labels(texts, names).null_count:
                return True
    return False


def _rows(part: VersionLog, columns: dict[str, Any], parts: list[VersionLog]) -> pa.Table:
    log = part.log
    assert log.items is not None  # noqa: S101 - aligned
    made: dict[str, Any] = {
        "item": log.items,
        "version": pa.repeat(pa.scalar(part.version), len(log)),
        **columns,
        **log.keys,
    }
    if part.model is not None:
        made["model"] = pa.repeat(pa.scalar(part.model), len(log))
    # What names the items may be kept by the name of the column that they make.
    kept = {k: v for k, v in log.columns.items() if k != "item" or not v.equals(log.items)}
    check_kept(kept, log.path)
    changed = None if CHANGED in kept else find_changed(part, parts)
    if changed is not None:
        made[CHANGED] = changed
    return pa.table(made | kept)


def _finish(
    tables: list[pa.Table],
    names: tuple[str, ...] | None,
    dropped: dict[str, int],
    parts: list[VersionLog],
) -> Predictions:
    plain = []
    for table in tables:
        fields = [pa.field(f.name, plain_type(f.type)) for f in table.schema]
        plain.append(table.cast(pa.schema(fields)))
    source = str(parts[0].log.path)
    if not any(table.num_rows for table in plain):
        raise InputError("no item is left", path=source)
    return Predictions(
        table=pa.concat_tables(align_types(plain), promote_options="permissive"),
        label_names=names,
        dropped=dropped,
        source=source,
        repeats=next((part.log.repeated for part in parts if part.log.repeated is not None), None),
    )
