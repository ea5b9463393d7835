"""What columns of a long table say beside those that count, and its rows of each other.

A row may repeat what that of its original says, or how many rewordings there are.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.readers.facts_beside import (
    PREDICTIONS,
    TRUTHS,
    find_marks,
    find_number_names,
    find_of_originals,
    find_texts,
    name_twins,
    say_displaced,
    say_ids_again,
    say_other_answers,
    say_other_facts,
)
from ietest_fast.answers.readers.facts_of_tables import (
    SIDES,
    is_original,
    list_kinds,
    say_long_means,
    say_other_scores,
)
from ietest_fast.answers.readers.label_columns import (
    Rewordings,
    check_named,
    count_other_originals,
    in_same_words,
    key_counted,
    key_together,
    label_keys,
    say_near_copies,
)
from ietest_fast.answers.readers.table_columns import (
    is_nested,
    unfold,
)
from ietest_fast.answers.schema import (
    CHANGED,
    CLUSTER,
    GROUPS,
    MARKS,
    say_no_labels,
)
from ietest_fast.answers.shared import find_answered_texts
from ietest_fast.answers.table import find_originals
from ietest_fast.corpus.columns import (
    find_named,
)
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats.strata import EDITS
from ietest_fast.values import (
    as_numbers,
    as_texts,
    find_missing,
    find_outcomes,
    is_bytes,
    is_id_name,
    trim_texts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.answers.readers.base import NamedNumbers
    from ietest_fast.answers.table import Predictions


_RESPONSES = ("answer", "response")
"""The same in long tables, or the right answers, or texts in which answers were found."""
_MOST_KINDS = 100
"""What a column may say, so that it is looked at for names of the original."""
_AMOUNTS = tuple(
    f"{word}_{noun}"
    for word in ("n", "num")
    for noun in ("paraphrases", "rewordings", "versions", "variants", "copies")
)


def _say_repeated_ids(whole: Predictions, path: Path) -> tuple[str, ...]:
    """Tell ids that name several items of a version, such as samples of which epochs are items.

    What eval writes notes that they are drawn together; another program that writes it again does
    not.
    """
    if whole.repeats is not None or CLUSTER in whole.columns:
        return ()
    part = whole.select(**whole.groups[0]) if whole.groups[0] else whole
    first = part.select(version=part.versions[0])
    ids = {name: first.table[name] for name in first.extra_columns if is_id_name(name)}
    ids = {name: column.combine_chunks() for name, column in ids.items()}
    return say_ids_again(ids, (), path, has_texts=bool(find_answered_texts(first)))


def say_beside(whole: Predictions, path: Path) -> tuple[str, ...]:
    """Say where columns of a long table contradict those that count, and why answers are texts."""
    said: tuple[str, ...] = ()
    why = None if whole.label_names is not None else say_no_labels(whole.table)
    if why is not None:
        how = "so the answers are taken for free texts, and only right and wrong are compared"
        said += (f"{path}: {why}, {how}.",)
    said += _say_slipped_texts(whole, path)
    said += _say_repeated_ids(whole, path)
    _check_marks(whole, path)
    check_named(find_long_names(whole, path))
    there = whole.extra_columns
    gold, answers = (
        {name: whole.table[name] for name in find_named(there, (*usual, *name_twins(own, there)))}
        for own, usual in (("gold", TRUTHS), ("predicted", (*PREDICTIONS, *_RESPONSES)))
    )
    if "gold" in whole.columns:
        said += say_other_facts(gold, whole.table["gold"], "gold", {}, path=path)
    if "predicted" in whole.columns:
        for name in set(_RESPONSES).intersection(answers):
            labels = _keep_labels(answers.pop(name), whole, path)
            if not find_missing(pa.chunked_array([labels])).all():  # else of texts, as any other
                answers[name] = labels
        said += say_other_answers(answers, whole.table["predicted"], "predicted", path=path)
        # Without the names of labels, nobody has held probabilities against the answers.
        kept = ("probabilities",) if whole.label_names is None else ()
        every = [*whole.extra_columns, *(name for name in kept if name in whole.columns)]
        said += say_other_scores(
            every,
            lambda names: {name: unfold(whole.table[name]) for name in names},
            {"predicted": whole.table["predicted"]},
            ("gold", whole.table["gold"]) if "gold" in whole.columns else None,
            path=path,
            is_alone=True,
            nested=[name for name in every if is_nested(whole.table[name])],
        )
    marks = find_marks(lambda names: {name: whole.table[name] for name in names}, there)
    rewordings = _pair_versions(whole)
    originals, told = _say_other_originals(whole, path, rewordings)
    said += told
    is_named = [*gold, *answers, *marks, *originals, CHANGED, EDITS]
    unread = [
        name
        for name in whole.extra_columns
        if name not in is_named and not is_id_name(name) and not is_nested(whole.table[name])
    ]
    counted = key_counted(
        ("gold", whole.table["gold"]) if "gold" in whole.columns else None,
        {"predicted": whole.table["predicted"]} if "predicted" in whole.columns else {},
        path,
    )
    if "correct" in whole.columns:
        counted["correct"] = whole.correct
    said += say_long_means(whole, path)
    said += _say_other_amounts(whole, path)
    said += _say_other_sides(whole, path)
    columns = {name: whole.table[name] for name in unread}
    return said + say_near_copies(columns, counted, path, rewordings=rewordings)


def _say_other_originals(
    whole: Predictions, path: Path, rewordings: Rewordings
) -> tuple[list[str], tuple[str, ...]]:
    """Count the originals' answers and texts that the rows of their rewordings repeat otherwise.

    Returns the columns that repeat answers, and what there is to say.
    """
    counts: dict[str, tuple[str, int]] = {}
    there = [
        name
        for name in whole.extra_columns
        if not is_nested(whole.table[name]) and not is_bytes(whole.table[name].type)
    ]
    answers, texts = find_of_originals(there, (), find_texts(there))
    if "predicted" not in whole.columns:
        answers = []
    for name in list(answers):
        again, mine = (label_keys(whole.table[each], path) for each in (name, "predicted"))
        again = again[rewordings.rows]
        is_known = again != ""
        n, n_of_rows = (
            count_other_originals(name, again[is_known], mine[places][is_known])
            for places in (rewordings.originals, rewordings.rows)
        )
        is_of_rows = n is not None and n_of_rows is not None and n_of_rows < n
        if n is None or is_of_rows or not is_known.any():
            answers.remove(name)  # such as another classifier's, to each row
        else:
            counts[name] = "answer to", n
    for text, name in texts.items():
        pairs = ((text, rewordings.originals), (name, rewordings.rows))
        own, again = (
            pa.chunked_array([as_texts(whole.table[each], path=path, name=each)])
            .cast(pa.large_string())
            .take(pa.array(rows))
            for each, rows in pairs
        )
        is_known = ~(find_missing(own) | find_missing(again))
        differs = pc.not_equal(own, again).to_numpy()[is_known].astype(np.bool_)
        if 2 * differs.sum() <= len(differs):  # mostly the same texts
            counts[name] = "text of", int(differs.sum())
    return answers, tuple(
        f"Warning: {path}: {name} is another {what} the original than that in the row of "
        f"{whole.versions[0]} in {say_count(n, 'row')}; the row of {whole.versions[0]} counts."
        for name, (what, n) in counts.items()
        if n
    )


def _pair_versions(whole: Predictions) -> Rewordings:
    first, *others = whole.versions
    is_first = find_originals(whole, first)
    there = [name for name in ("item", *GROUPS) if name in whole.columns]
    items = _number_items(whole, there)
    if "copy" in whole.columns and np.bincount(items[is_first]).max(initial=0) > 1:
        items = _number_items(whole, [*there, "copy"])
    originals = np.full(int(items.max(initial=-1)) + 1, -1)
    originals[items[is_first]] = np.flatnonzero(is_first)
    rows = np.flatnonzero(~is_first & (originals[items] >= 0))
    before, correct = originals[items[rows]], whole.correct
    name = others[0] if len(others) == 1 else "the rewording"
    marks = {first: correct[before], name: correct[rows]}
    answers = _number(whole.table["predicted"]) if whole.has_labels else None
    changes = None if answers is None else answers[rows] != answers[before]
    alone = {f"whether {each} is right": own for each, own in marks.items()}
    return Rewordings(
        rows=rows,
        originals=before,
        counted=alone | key_together(marks, changes),
        alone=f"whether {name} is right",
    )


def _number_items(whole: Predictions, names: Sequence[str]) -> NDArray[np.int64]:
    """Return a number for each row, the same where the columns say the same together."""
    first, *others = names
    found = _number(whole.table[first]) + 1
    for name in others:
        codes = _number(whole.table[name])
        _, found = np.unique(found * (codes.max(initial=0) + 2) + codes, return_inverse=True)
    return found


def _say_other_sides(whole: Predictions, path: Path) -> tuple[str, ...]:
    """Say of how many rows a column says otherwise than the versions whether it is the original."""
    is_first = find_originals(whole, whole.versions[0])
    versions = whole.codes("version").tolist()
    said = []
    for name in whole.extra_columns:
        marks = _mark_originals(whole, name, path)
        if marks is None:
            continue
        kinds = {*zip(versions, marks.tolist(), strict=True)}
        is_of_rows = len(kinds) > len(whole.versions)  # such as which texts were changed
        n = int((marks != is_first).sum())
        if n and not is_of_rows:
            said.append(
                f"Warning: {path}: {name} says otherwise than the column version which rows are "
                f"the original's ({whole.versions[0]}) in {say_count(n, 'row')} of {len(whole):,}; "
                "version counts."
            )
    return tuple(said)


def _mark_originals(whole: Predictions, name: str, path: Path) -> NDArray[np.bool_] | None:
    """Return which rows a column says to be originals; None if it says nothing of it.

    A rewording may be called clean, or none, as long as the original is not called otherwise.
    """
    values = whole.table[name]
    if find_named([name], SIDES):
        marks, bad = find_outcomes(values)
        return None if bad.size else marks == bool(find_named([name], SIDES[:1]))
    kinds = list_kinds(values, path)
    if not 0 < len(kinds) <= _MOST_KINDS:
        return None
    texts = trim_texts(as_texts(values, path=path))
    named = [kind for kind in kinds if is_original(name, kind)]
    marks = pc.is_in(texts, pa.array(named, texts.type)).to_numpy(zero_copy_only=False)
    if is_original(name, ""):
        marks = marks | find_missing(pa.chunked_array([texts]))
    is_told = marks.any() and not marks[find_originals(whole, whole.versions[0])].any()
    return marks if is_told else None


def _say_other_amounts(whole: Predictions, path: Path) -> tuple[str, ...]:
    """Say of how many rows a column counts more or fewer rewordings of the item than are there.

    Some count the original, too; a column that mostly counts something else is none of these.
    """
    names = find_named(whole.extra_columns, _AMOUNTS)
    if not names:
        return ()
    items = _number_items(whole, [name for name in ("item", *GROUPS) if name in whole.columns])
    amounts = np.bincount(items, weights=~find_originals(whole, whole.versions[0]))[items]
    said = []
    for name in names:
        numbers = as_numbers(whole.table[name])
        is_known = np.isfinite(numbers)
        n = min(int((is_known & (numbers != amounts + more)).sum()) for more in (0, 1))
        if 0 < 2 * n < int(is_known.sum()):
            said.append(
                f"Warning: {path}: {name} is not the number of rewordings that the item has in "
                f"{say_count(n, 'row')} of {len(whole):,}; are rows missing, or there twice?"
            )
    return tuple(said)


def _number(column: pa.Array | pa.ChunkedArray) -> NDArray[np.int64]:
    """Return values as numbers, equal ones as the same, -1 where there is none."""
    values = column if isinstance(column, pa.Array) else column.combine_chunks()
    values = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    found: NDArray[np.int64] = pc.fill_null(values.indices.cast(pa.int64()), -1).to_numpy()
    return found


def _say_slipped_texts(whole: Predictions, path: Path) -> tuple[str, ...]:
    """Say in which versions of a long table a column of texts has slipped."""
    texts = find_texts(whole.extra_columns)
    if not texts or "copy" in whole.columns:
        return ()
    first, *others = whole.versions
    said: list[str] = []
    for group in whole.groups:
        own = whole.select(**group) if group else whole
        for version in others:
            if not {first, version} <= set(own.versions):
                continue
            with contextlib.suppress(InputError):  # no item in common, which whoever compares says
                pairs = own.pairs(version, reference=first)
                for name in texts:
                    column = as_texts(own.table[name], path=path, name=name)
                    before = column.take(pa.array(pairs.reference_rows))
                    both = before, column.take(pa.array(pairs.version_rows))
                    said += say_displaced(both, name, path, versions=(first, version))
    return tuple(dict.fromkeys(said))


def find_long_names(whole: Predictions, path: Path) -> tuple[NamedNumbers, ...]:
    """Return what columns of a long table call the numbers of its labels."""
    counted: list[dict[str, pa.ChunkedArray]] = [
        {name: whole.table[name] for name in (each,) if name in whole.columns}
        for each in ("gold", "predicted")
    ]
    return find_number_names(
        whole.extra_columns,
        lambda names: {name: whole.table[name] for name in names},
        *counted,
        path=path,
        is_alone=True,
    )


def _check_marks(whole: Predictions, path: Path) -> None:
    """Refuse a column that says otherwise than a long table which answers are right."""
    if not whole.has_labels and "correct" not in whole.columns:
        return
    for name in MARKS:
        if name not in whole.extra_columns:
            continue
        marks, bad = find_outcomes(whole.table[name])
        wrong = np.flatnonzero(marks != whole.correct)
        if wrong.size and not bad.size:
            count = "correct" if "correct" in whole.columns else "gold and predicted"
            raise InputError(
                f"says otherwise than {count} in {say_count(wrong.size, 'row')} of {len(marks):,}; "
                "mend what is wrong, or leave the column out",
                path=path,
                row=f"row {wrong[0]}",
                column=name,
            )


def _keep_labels(values: pa.ChunkedArray, whole: Predictions, path: Path) -> pa.Array:
    """Leave out of a column what is no label, or all of it if it holds the right answers."""
    try:
        own = label_keys(values, path)
    except InputError:  # lists, which are no labels
        return pa.nulls(len(values), pa.string())
    known = [label_keys(whole.table["predicted"], path)]
    known += [label_keys(whole.table["gold"], path)] if "gold" in whole.columns else []
    is_gold = len(known) > 1 and (in_same_words(own, known[1])[0] == known[1]).all()
    kept = np.zeros(len(own), np.bool_) if is_gold else np.isin(own, np.concatenate(known))
    return pa.array(np.where(kept, own, ""), pa.string())
