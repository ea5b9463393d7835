"""Logs as versions of texts: whether two have the same, and which texts of one are reworded."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.readers.base import JOINT, list_right
from ietest_fast.answers.readers.facts_beside import say_displaced
from ietest_fast.answers.readers.label_columns import count_other_originals
from ietest_fast.answers.schema import CHANGED, MOST_KINDS, ROWS_OF_A_KIND, as_changed
from ietest_fast.corpus.labels import answer_key
from ietest_fast.numerals import say_count
from ietest_fast.values import are_ids, as_seen, as_texts, show_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.answers.readers import Log


_TEXTS = ("inputs", "documents")
"""What answers are given to, and what that comes from."""


@dataclass(frozen=True, kw_only=True, eq=False)
class VersionLog:
    """A log, and which version and classifier it is of."""

    log: Log
    version: str
    model: str | None


def have_same_texts(first: Log, second: Log) -> bool:
    """Whether the items that two logs share have the same texts; not if that is not known."""
    if _marks_differ(first, second):
        return False
    shared = _Shared.find(first, second)
    return any(same is not None and bool(same.all()) for same in map(shared.compare, _TEXTS))


def have_same_inputs(first: Log, second: Log) -> bool:
    """Whether the items that two logs share were asked in the same words, as far as is known."""
    same = _Shared.find(first, second).compare("inputs")
    return same is None or bool(same.all())


def find_changed(part: VersionLog, parts: Sequence[VersionLog]) -> pa.Array | None:
    """Say which texts of a version differ from those of the first version of its classifier.

    The texts themselves say it where both logs have them; otherwise a column that either has.
    """
    own = _list_versions(part, parts)
    first, log = own[0].log, part.log
    if len({other.version for other in own}) < 2:
        return None
    by_texts = _find_different(first, log)
    if by_texts is not None and (by_texts.any() or not _marks_differ(first, log)):
        return pa.array(by_texts)
    if part.version == own[0].version:
        is_known = any(other.log.changed is not None for other in own)
        return pa.array(np.zeros(len(log), bool)) if is_known else None
    if log.changed is not None:
        # Two that mark other rows differ from a third, and nobody knows where from each other.
        is_third = first.changed is not None and pc.any(first.changed).as_py()
        return None if is_third and not log.changed.equals(first.changed) else log.changed
    is_only = len({other.version for other in own}) == 2 and len(first) == len(log)
    return first.changed if is_only else None


def _list_versions(part: VersionLog, parts: Sequence[VersionLog]) -> list[VersionLog]:
    """List what the same classifier of a model has answered: of a run, that of the same share."""
    group = part.model, _group_of(part.log)
    return [other for other in parts if (other.model, _group_of(other.log)) == group]


def _group_of(log: Log) -> dict[str, Any]:
    """Return the number of a classifier and the share of its training data that was reworded."""
    return {name: log.keys[name][0].as_py() for name in ("m", "rho") if name in log.keys}


def say_contradictions(parts: Sequence[VersionLog]) -> list[str]:
    """Say of how many rows columns, or a column and the texts, disagree about what was reworded."""
    said = say_changed(parts, CHANGED)
    for part in parts:
        own = _list_versions(part, parts)
        first = own[0].log
        said += _say_other_gold(part, own[0])
        said += _say_reworded_original(own) if part is own[0] else []
        if part.version != own[0].version:
            said += _say_same_words(first, part)
            said += _say_same_prompts(first, part)
            said += _say_other_originals(first, part.log)
            said += _say_slipped(own[0], part)
        if part.log.changed is None or part.version == own[0].version:
            continue
        is_long = CHANGED in part.log.columns
        if not is_long and find_changed(part, parts) is None:
            said.append(
                f"{first.path} and {part.log.path} mark other rows as {CHANGED}, so it is not "
                "known which texts differ between them; --reworded COLUMN or --all-reworded says "
                "which."
            )
            continue
        different = _find_different(first, part.log)
        if is_long or different is None:
            continue
        n = int((different != part.log.changed.to_numpy(zero_copy_only=False)).sum())
        if n:
            rows = say_count(n, "row", "rows")
            counts = "the texts count" if different.any() else "no text differs, so it counts"
            said.append(
                f"{part.log.path}: in {rows} the column changed and the texts disagree about what "
                f"was reworded; {counts}."
            )
    return said


def _say_same_words(first: Log, part: VersionLog) -> list[str]:
    """Count the texts that differ from the original's in nothing that anybody sees."""
    texts = _Shared.find(part.log, first).take("inputs")
    if texts is None:
        return []
    mine, theirs = texts
    other = pa.array(~_are_equal(mine, theirs))
    pairs = zip(mine.filter(other).to_pylist(), theirs.filter(other).to_pylist(), strict=True)
    n = sum(None not in pair and _read_words(pair[0]) == _read_words(pair[1]) for pair in pairs)
    said = (
        f"Warning: {part.log.path}: {part.version} has {say_count(n, 'text')} that only blanks, or "
        "signs that nobody sees (such as how accents are composed), tell from the original's; they "
        "count as reworded. If nothing was meant to change there, write them alike."
    )
    return [said] if n else []


def _say_same_prompts(first: Log, part: VersionLog) -> list[str]:
    """Count the texts that differ from the original's, and were shown to the model as before."""
    shared = _Shared.find(part.log, first)
    prompts, same = shared.take("prompts"), shared.compare("inputs")
    if prompts is None or same is None:
        return []
    are_same = np.asarray(pc.fill_null(pc.equal(*prompts), False))
    n, n_other = int((are_same & ~same).sum()), int((~same).sum())
    said = (
        f"Warning: {part.log.path}: of {say_count(n_other, 'text')} of {part.version} that "
        f"{'differs' if n_other == 1 else 'differ'} from the original's, {n:,} "
        f"{'was' if n == 1 else 'were'} asked in the same words, by the messages (Inspect) or the "
        "prompt (HELM) that the model was shown, so nothing was reworded for it there; make the "
        "prompts of the texts, and let the model answer again."
    )
    return [said] if n else []


def _say_other_originals(first: Log, log: Log) -> list[str]:
    """Count the originals' answers and texts that a table of a version repeats otherwise."""
    if not (log.originals or log.original_texts):
        return []
    rows, counts = _Shared.find(log, first).rows, []
    for name, values in log.originals.items() if first.predicted is not None else ():
        repeated = np.array(_label_keys(values, log.path), dtype=object)[rows[0]]
        answered = np.array(_label_keys(first.predicted, first.path), dtype=object)[rows[1]]
        if (n := count_other_originals(name, repeated, answered)) is not None:
            counts.append((name, "answer to the original", n))
    parts: list[pa.Array] = []
    if first.inputs is not None and first.input_columns == log.input_columns:
        parts = _part_texts(first.inputs.take(pa.array(rows[1])), len(log.input_columns))
    for text, before in zip(log.input_columns, parts, strict=False):
        name, again = log.original_texts.get(text, ("", None))
        if again is None:
            continue
        differs = ~_are_equal(again.take(pa.array(rows[0])), before)
        if 2 * int(differs.sum()) <= len(differs):  # mostly the same texts
            counts.append((name, "text of the original", int(differs.sum())))
    return [
        f"Warning: {log.path}: {name} is another {what} than that in {first.path} in "
        f"{say_count(n, 'row')}, which counts; is that the right file?"
        for name, what, n in counts
        if n
    ]


def _say_slipped(first: VersionLog, part: VersionLog) -> list[str]:
    """Say which column of texts has slipped; of a long table, its reader has said it."""
    log, reference = part.log, first.log
    is_long = log.path == reference.path and log.input_columns
    texts = None if is_long else _Shared.find(reference, log).take("inputs")
    if texts is None:
        return []
    before, own = (_part_texts(each, len(log.input_columns)) for each in texts)
    versions = (first.version, part.version)
    return [
        note
        for name, *pair in zip(log.input_columns or ("the input",), before, own, strict=True)
        for note in say_displaced((pair[0], pair[1]), name, log.path, versions=versions)
    ]


def _part_texts(inputs: pa.Array, n: int) -> list[pa.Array]:
    """Return the columns of texts that a reader has joined."""
    if n < 2:
        return [inputs.cast(pa.large_string())]
    parts = pc.split_pattern(inputs.cast(pa.large_string()), JOINT)
    return [pc.list_element(parts, place) for place in range(n)]


def _read_words(text: str) -> str:
    """Return a text as it is seen: without runs of blanks, with composed accents."""
    if text.startswith(("[", "{")):  # a prompt of several parts
        with contextlib.suppress(ValueError):
            text = json.dumps(json.loads(text), ensure_ascii=False).replace("\\n", " ")
    return as_seen(text)


def say_other_texts(parts: Sequence[VersionLog]) -> list[str]:
    """Count the wordings that are other ones in one classifier's answers than in another's.

    Where either says no text, or the texts stand in other columns, nothing is known.
    """
    firsts: dict[str, VersionLog] = {}
    n_wrong = n_common = 0
    example = ""
    for part in parts:
        first = firsts.setdefault(part.version, part)
        log = part.log
        if first.model == part.model or log.version is None:
            continue
        shared = _Shared.find(first.log, log)
        texts, same = shared.take("inputs"), shared.compare("inputs")
        if texts is None or same is None:
            continue
        theirs = shared.rows[1]
        is_known = _has_text(texts[0]) & _has_text(texts[1])
        wrong = np.flatnonzero(is_known & ~same)
        n_common += int(is_known.sum())
        n_wrong += wrong.size
        if wrong.size and not example:
            item = "" if log.items is None else f" of item {log.items[int(theirs[wrong[0]])]}"
            example = f"version {part.version!r}{item} of {part.model} and {first.model}"
    note = (
        f"Warning: {parts[0].log.path}: in {n_wrong:,} of {say_count(n_common, 'wording')} (item "
        f"and version) that two models have answered, their texts differ, such as {example}; let "
        "all models answer the same texts, or give other texts other names."
    )
    return [note] if n_wrong else []


def _has_text(inputs: pa.Array) -> NDArray[np.bool_]:
    """Say which rows have a text at all; several texts of a row are joined by a sign."""
    texts = pc.utf8_trim(inputs.cast(pa.large_string()), f"{JOINT} ")
    return np.asarray(pc.fill_null(pc.not_equal(texts, ""), False))


def say_wrong_targets(logs: Sequence[Log]) -> list[str]:
    """Say of how many samples the answer is the target, and marked as wrong, or the reverse.

    An answer may be right in other words, but not wrong in the same ones; and another choice, or
    another of few labels, is no other words.
    """
    said = []
    for log in logs:
        if not log.is_scored or log.gold is None or log.predicted is None or log.correct is None:
            continue
        gold, answers = (as_texts(each, path=log.path) for each in (log.gold, log.predicted))
        same = pc.fill_null(pc.equal(gold, answers), False)
        judge = log.judged_by[0] if log.judged_by else "the log"
        is_other = pa.nulls(len(log), pa.bool_()) if log.is_other is None else log.is_other
        is_label = pc.and_(_find_other_labels(log), pc.invert(pc.fill_null(is_other, False)))
        for mask, outcome, what in (
            (same, False, "the target, and {} says wrong"),
            (is_other, True, "another choice than the target, and {} says right"),
            (is_label, True, "another label than the target, and {} says right"),
        ):
            marked = pc.fill_null(pc.equal(log.correct, outcome), False)
            n = pc.sum(pc.and_(mask, marked)).as_py() or 0
            if n:
                said.append(
                    f"Warning: in {n:,} of {len(log):,} samples of {log.path} the answer is "
                    f"{what.format(judge)}; mend the log, or name what says otherwise with "
                    "--correct-columns."
                )
    return said


def _find_other_labels(log: Log) -> pa.Array:
    """Say which answers are the target of other samples, where targets are so few as labels are.

    Where several answers are right, one of them may be.
    """
    none = pa.array(np.zeros(len(log), dtype=bool))
    if log.gold is None or log.predicted is None:
        return none
    gold = _label_keys(log.gold, log.path)
    kinds = set(filter(None, gold))
    if len(kinds) > MOST_KINDS or len(gold) < ROWS_OF_A_KIND * len(kinds):
        return none
    right = gold if log.right is None else _label_keys(log.right, log.path)
    rows = zip(gold, right, _label_keys(log.predicted, log.path), strict=True)
    return pa.array(
        [
            bool(own) and own == every and not own.startswith("[") and said != own and said in kinds
            for own, every, said in rows
        ],
        pa.bool_(),
    )


def _label_keys(column: pa.Array | pa.ChunkedArray, path: Path) -> list[str]:
    """Return what is the same for all spellings of a label, by row; nothing where there is none."""
    return [
        "" if each is None else answer_key(each) for each in as_texts(column, path=path).to_pylist()
    ]


def _say_changed_original(part: VersionLog) -> list[str]:
    """Say that rows of the version that others are compared with are marked as reworded."""
    marks = as_changed(pa.chunked_array([part.log.columns[CHANGED]]))
    n = 0 if marks is None else pc.sum(marks).as_py() or 0
    said = (
        f"Warning: {part.log.path}: {say_count(n, 'row')} of {part.version}, with which the others "
        f"are compared, {'is' if n == 1 else 'are'} marked as {CHANGED}; mend the marks, or the "
        "names of the versions."
    )
    return [said] if n else []


def _say_reworded_original(own: Sequence[VersionLog]) -> list[str]:
    """Say that of files of versions the first alone marks reworded texts, as a version does."""
    first, *others = (part.log for part in own if part.version != own[0].version or part is own[0])
    n = 0 if first.changed is None else pc.sum(first.changed).as_py() or 0
    is_marked = any(log.changed is not None or log.path == first.path for log in others)
    if not n or not others or is_marked:
        return []
    said = (
        f"Warning: {first.path} has the column {CHANGED}, true in {say_count(n, 'row')}, as what "
        f"transform writes, and {others[0].path} has none; the first file is taken for the "
        "original, so give the original first."
    )
    return [said]


def _say_other_gold(part: VersionLog, first: VersionLog) -> list[str]:
    """Say of how many items of one file the right answer is another one in a version.

    A transformation may have set it; then accuracy may differ although no answer does.
    """
    log, reference = part.log, first.log
    columns = list_right(reference, log)
    if part is first or log.path != reference.path or columns is None:
        return []
    pairs = zip(columns, _Shared.find(reference, log).rows, strict=True)
    before, own = (as_texts(each, path=log.path).take(pa.array(own)) for each, own in pairs)
    differs = pc.fill_null(pc.not_equal(before, own), False)
    n = pc.sum(differs).as_py() or 0
    if not n:
        return []
    row = pc.index(differs, True).as_py()
    there, here = (show_value(each[row].as_py()) for each in (before, own))
    items = f"{say_count(n, 'item', 'items')} of {len(own):,}"
    said = (
        f"{log.path}: the right answer to {items} is another one in {part.version} than in "
        f"{first.version} (first {here} for {there}); each version is judged by its own."
    )
    return [said]


def say_changed(parts: Sequence[VersionLog], counts: str) -> list[str]:
    """Say of how many rows of long tables :data:`CHANGED` and the texts disagree, and what counts.

    Rows of the first version are never reworded.
    """
    said = []
    for part in parts:
        first = _list_versions(part, parts)[0]
        if part is first:
            said += _say_changed_original(part) if CHANGED in part.log.columns else []
        elif part.log.changed is not None and CHANGED in part.log.columns:
            different = _find_different(first.log, part.log)
            said += _say_long_contradictions(part, different, counts)
    return said


def _say_long_contradictions(
    part: VersionLog, different: NDArray[np.bool_] | None, counts: str
) -> list[str]:
    """Say of how many rows of a version the column disagrees with texts beside it."""
    log = part.log
    if different is None:
        return []
    n = int((different != np.asarray(log.changed)).sum())
    # Else they may be the originals, kept beside all answers.
    why = "" if different.any() else ", though no text differs"
    said = (
        f"{log.path}: in {say_count(n, 'row', 'rows')} of {part.version} the column {CHANGED} and "
        f"the texts disagree about what was reworded; {counts} counts{why}."
    )
    return [said] if n else []


def _marks_differ(first: Log, second: Log) -> bool:
    """Whether columns mark other rows in one table than in another as reworded.

    Then these are versions, even if somebody has kept the original texts beside both answers.
    """
    marks = [log.changed for log in (first, second)]
    if marks[0] is not None and marks[1] is not None:
        return not marks[0].equals(marks[1])
    return any(each is not None and pc.any(each).as_py() for each in marks)


def _find_different(first: Log, log: Log) -> NDArray[np.bool_] | None:
    """Say which texts of a log differ from the first's; None if that is not known."""
    shared = _Shared.find(log, first)
    same = [each for each in map(shared.compare, _TEXTS) if each is not None]
    if not same:
        return None
    # The same documents may be asked in other words, and other documents in the same.
    alike = same[0] if len(same) == 1 or same[1].all() else same[0] | same[1]
    different = np.ones(len(log), bool)
    different[shared.rows[0]] = ~alike
    return different


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shared:
    """The rows of the items that two logs share."""

    logs: tuple[Log, Log]
    rows: tuple[NDArray[np.int64], NDArray[np.int64]]

    @classmethod
    def find(cls, first: Log, second: Log) -> _Shared:
        """Match the rows of two logs, by item or by their order."""
        if first.items is None or second.items is None:
            is_matched = len(first) == len(second) and first.items is second.items
            mine = theirs = np.arange(len(first) if is_matched else 0, dtype=np.int64)
        else:
            items = [as_texts(each.items, path=each.path) for each in (first, second)]
            if "copy" in first.keys and "copy" in second.keys and not are_ids(items[1]):
                copies = [as_texts(each.keys["copy"], path=each.path) for each in (first, second)]
                both = zip(items, copies, strict=True)
                items = [pc.binary_join_element_wise(*pair, " ") for pair in both]
            where = pc.index_in(*items)
            mine = np.flatnonzero(where.is_valid().to_numpy(zero_copy_only=False))
            theirs = np.asarray(where.drop_null(), dtype=np.int64)
        return cls(logs=(first, second), rows=(mine, theirs))

    def take(self, name: str) -> tuple[pa.Array, pa.Array] | None:
        """Return what both logs have of these rows; None without rows, or if one has none."""
        first, second = self.logs
        one, two = getattr(first, name), getattr(second, name)
        are_others = name == "inputs" and first.input_columns != second.input_columns
        if one is None or two is None or are_others or not len(self.rows[0]):
            return None
        return one.take(pa.array(self.rows[0])), two.take(pa.array(self.rows[1]))

    def compare(self, name: str) -> NDArray[np.bool_] | None:
        """Say in which of these rows both logs have the same; None if that is not known."""
        pair = self.take(name)
        return None if pair is None else _are_equal(*pair)


def _are_equal(one: pa.Array, two: pa.Array) -> NDArray[np.bool_]:
    # In one array a string may have 2 GiB in all, a large one any size.
    pair = [values.cast(pa.large_string()) for values in (one, two)]
    both_missing = pc.and_(pair[0].is_null(), pair[1].is_null())
    same = pc.or_(pc.fill_null(pc.equal(*pair), False), both_missing)
    return np.asarray(same.to_numpy(zero_copy_only=False), dtype=np.bool_)
