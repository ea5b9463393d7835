"""What columns of a table say beside those that count: the same, or a contradiction that is told.

Rows may be there twice, ids may name other rows, and labels, answers, marks and ``changed`` may
stand there more than once, under several names.
"""

from __future__ import annotations

import contextlib
import itertools
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.readers.base import NamedNumbers
from ietest_fast.answers.readers.facts_of_tables import (
    name_with,
    say_no_numbers,
)
from ietest_fast.answers.readers.label_columns import (
    count_other,
    in_same_words,
    key_counted,
    key_together,
    label_keys,
    list_numbers,
    name_numbers,
    read_labels,
    say_near_copies,
)
from ietest_fast.answers.readers.table_columns import (
    INDEX,
    list_columns,
    list_noted,
    read_index,
    read_some,
    read_values,
)
from ietest_fast.answers.schema import (
    CHANGED,
    MARKS,
    MOST_KINDS,
    OF_NONE,
    ROWS_OF_A_KIND,
    as_changed,
)
from ietest_fast.corpus.columns import (
    LABEL_COLUMNS,
    LABELS_BESIDE,
    NAMES_BESIDE,
    OTHER_TRUTHS,
    find_named,
    find_text_columns,
)
from ietest_fast.corpus.labels import label_key
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats.strata import EDITS
from ietest_fast.values import (
    LEAST_MOVED,
    are_ids,
    as_numbers,
    as_texts,
    find_displaced,
    find_missing,
    find_once,
    find_outcomes,
    is_id_name,
    is_like_id,
    may_be_shared,
    may_name_rows,
    say_repeated,
    show_value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.answers.readers.base import Fields


PREDICTIONS = (
    *("prediction", "predicted", "pred", "predicted_label", "predicted_labels"),
    *("pred_label", "y_pred", "label_pred", "prediction_label", "prediction_name"),
    *("predicted_name", "model_answer", "model_prediction"),
)
"""Names of columns that say what a classifier has answered, if they have values in common."""
_NAMES = ("name", "text", "str", "label")
"""Behind the name of a column of numbers, or before it: of one with the names of these labels."""
_ANSWER_NAMES = tuple(
    f"{word}_{end}" for word in ("prediction", "predicted", "pred") for end in _NAMES
)
VERSIONS = ("original", "transformed")
BEFORE = ("orig", "before", "baseline", "base", "clean", "unperturbed")
"""What else, with the name of a column of answers, may say those to the originals."""
_TEXTS = (
    "text",
    "sentence",
    "premise",
    "hypothesis",
    "sentence1",
    "sentence2",
    "question",
    "input",
)
_FEW_MOVED = 3  # displaced texts; a transformation may have made fewer
# With the name of a column of answers before or behind; by itself it may be a class, or a side.
_OWN_MARKS = (*MARKS, "right")
TRUTHS = (*LABEL_COLUMNS, *LABELS_BESIDE, *OTHER_TRUTHS)
"""Names of columns that say what is right, if they have values in common."""
_GOLD = ("label", "gold", "gold_label")  # beside outcomes


def say_copies(
    inputs: pa.Array | None, gold: pa.ChunkedArray, ids: Mapping[str, pa.Array], path: Path
) -> tuple[str, ...]:
    """Count the rows with the texts and the label of another one, where no id tells them apart."""
    if inputs is None or are_ids(inputs) or any(are_ids(values) for values in ids.values()):
        return ()
    n = len(inputs) - len(set(zip(inputs.to_pylist(), gold.to_pylist(), strict=True)))
    if not n:
        return ()
    verb = "has" if n == 1 else "have"
    note = (
        f"{path}: {say_count(n, 'row')} of {len(inputs):,} {verb} the texts and the label of "
        "another row, and each counts; --clusters draws equal texts together."
    )
    return (note,)


def say_ids_again(
    ids: Mapping[str, pa.Array],
    taken: Collection[str | None],
    path: Path,
    *,
    has_texts: bool = True,
) -> tuple[str, ...]:
    """Count ids that stand in several rows, which a merge of repeated keys makes of one text.

    Ids that several texts share in published data are left out where there are texts to tell.

    Two columns of the same ids in another order are told, too: of a join that slipped.
    """
    named = {name: values for name, values in ids.items() if is_id_name(name)}
    slipped = _say_slipped({name: ids[name] for name in ids if is_like_id(name)}, path)
    if slipped:
        return slipped
    if any(are_ids(values) for values in named.values()) or set(named).intersection(taken):
        return ()
    notes = []
    for name, column in named.items():
        if (has_texts and may_be_shared(name)) or pa.types.is_nested(column.type):
            continue
        said = say_repeated(column.filter(pa.array(~find_missing(pa.chunked_array([column])))))
        if said is not None:
            notes.append(
                f"Warning: {path}: of the column {name}, {said}, and each row counts as a text; "
                "remove what a merge has repeated, or draw them together (--clusters "
                f"{shlex.quote(name)})."
            )
    return tuple(notes)


def _say_slipped(named: Mapping[str, pa.Array], path: Path) -> tuple[str, ...]:
    """Say which two columns of ids name the rows otherwise."""
    texts = {}
    for name, values in named.items():
        with contextlib.suppress(InputError):  # lists, which are no ids
            texts[name] = as_texts(values, path=path)
    for one, other in itertools.combinations(texts, 2):
        row = find_displaced(texts[one], texts[other])
        if row is not None:
            mine, theirs = (show_value(texts[name][row].as_py()) for name in (one, other))
            note = (
                f"Warning: {path}: the columns {one} and {other} name the rows otherwise ({mine} "
                f"and {theirs} in row {row}, and {other} has {mine} elsewhere); put the rows of "
                "both in one order."
            )
            return (note,)
    return ()


def read_changed(
    table: pa.Table, path: Path, *, n_versions: int = 1, version: str | None = None
) -> tuple[pa.Array | None, tuple[str, ...]]:
    """Return the column that says which texts are reworded, if it does, and else why it does not.

    Nobody has asked for it, so it is no mistake, but nothing is left aside without a word.
    """
    if CHANGED not in table.column_names:
        return None, ()
    found = as_changed(table[CHANGED])
    if found is None:
        _, bad = find_outcomes(table[CHANGED])
        first = table[CHANGED][int(bad[0])].as_py()
        why = f"row {bad[0]} holds {show_value(first)}, and true or false, or 1 or 0, is expected"
    elif found.null_count:
        why = say_count(found.null_count, "value is", "values are") + " missing"
    elif n_versions > 2:
        why = "it is of one version, and there are more"
    else:
        beside = table[EDITS] if EDITS in table.column_names else None
        return found, say_other_edits(found, beside, path, version)
    note = (
        f"{path}: the column {CHANGED} is not used: {why}; --reworded COLUMN or --all-reworded "
        "says which texts were reworded."
    )
    return None, (note,)


def say_other_pairs(
    path: Path, names: Sequence[str], versions: Sequence[str], changed: pa.Array | None
) -> tuple[str, ...]:
    """Say where texts of versions side by side are other rows', or ``changed`` says otherwise."""
    said = _say_slipped_twins(path, names, versions[0]) if len(versions) > 1 else ()
    different = np.zeros(0, np.bool_)
    shown: list[str] = []
    for version in versions[1:]:
        pairs = _find_pairs(names, versions[0], version)
        found = read_some(path, [name for pair in pairs for name in pair])
        for pair in pairs:
            try:
                before, after = (as_texts(found[name], path=path) for name in pair)
            except (InputError, LookupError):
                return said
            said += say_displaced((before, after), pair[1], path, versions=(versions[0], version))
            rows = zip(before.to_pylist(), after.to_pylist(), strict=True)
            other = np.array([a != b for a, b in rows], np.bool_)
            different = different | other if shown else other
            shown += pair
    if changed is None or len(versions) != 2 or not shown:
        return said
    n = int((different != np.asarray(changed)).sum())
    note = (
        f"{path}: in {say_count(n, 'row')} the column {CHANGED} and the texts "
        f"({', '.join(shown)}) disagree about what was reworded; {CHANGED} counts."
    )
    return (*said, note) if n else said


def _say_slipped_twins(path: Path, names: Sequence[str], version: str) -> tuple[str, ...]:
    """Say which column of the texts of a version has those of other rows in another such column."""
    twins = {
        text: own
        for text in find_named(names, _TEXTS)
        for own in find_named(names, name_with([text], [version]))
    }
    found = read_some(path, [name for pair in twins.items() for name in pair])
    if len(found) < len({*twins, *twins.values()}):
        return ()
    return tuple(
        note
        for pair in twins.items()
        for note in _say_slipped({name: found[name] for name in pair}, path)
    )


def _find_pairs(names: Sequence[str], one: str, two: str) -> list[list[str]]:
    """Return the columns that hold the texts of two versions side by side.

    The texts of the first may have their usual name alone.
    """
    made = [
        [form.format(version, text) for version in (one, two)]
        for text in _TEXTS
        for form in ("{0}_{1}", "{1}_{0}")
    ]
    made += [[text, of] for text in _TEXTS for of in (f"{two}_{text}", f"{text}_{two}")]
    found = [pair for pair in made if all(names.count(name) == 1 for name in pair)]
    return [*{second: [first, second] for first, second in reversed(found)}.values()][::-1]


def say_displaced(
    texts: tuple[pa.Array, pa.Array], name: str, path: Path, *, versions: tuple[str, str]
) -> tuple[str, ...]:
    """Count the items that have in a version the text of another item, if they are not too few.

    Where items have exchanged their texts, such as he and she, a transformation has done it.
    """
    before, own = texts
    if not may_name_rows(name, before):
        return ()
    is_other = pc.and_(pc.not_equal(own, before), pc.not_equal(own, ""))
    is_other = np.asarray(pc.fill_null(is_other, False))
    is_known = np.asarray(pc.is_in(own, value_set=find_once(before)))
    moved = np.flatnonzero(is_other & is_known)
    places = pc.index_in(own, value_set=before).take(pa.array(moved))
    is_exchanged = pc.equal(own.take(places), before.take(pa.array(moved)))
    moved = moved[~np.asarray(pc.fill_null(is_exchanged, False), np.bool_)]
    again = _find_again(before, own, np.flatnonzero(is_other))
    least = max(_FEW_MOVED, LEAST_MOVED * len(own))
    said = {
        f"the text that {versions[0]} has in another row": moved,
        f"a text of another row, where {versions[0]} has two": again,
    }
    return tuple(
        f"Warning: {path}: in {len(rows):,} of {say_count(len(own), 'row')}, {versions[1]} has in "
        f"{name} {what} (first {show_value(own[int(rows[0])].as_py())}); put each text beside its "
        f"own item, unless {versions[1]} is meant to mix them."
        for what, rows in said.items()
        if len(rows) >= least
    )


def _find_again(before: pa.Array, own: pa.Array, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows whose text stands in another one, of which the original has another text."""
    texts, firsts = (
        each.take(pa.array(rows)).dictionary_encode().indices.to_numpy(zero_copy_only=False)
        for each in (own, before)
    )
    pairs = np.unique(texts.astype(np.int64) * len(before) + firsts)
    kinds, counts = np.unique(pairs // max(len(before), 1), return_counts=True)
    found: NDArray[np.int64] = rows[np.isin(texts, kinds[counts > 1])]
    return found


def say_other_edits(
    changed: pa.Array,
    edits: pa.Array | pa.ChunkedArray | None,
    path: Path,
    version: str | None = None,
) -> tuple[str, ...]:
    """Say of how many rows the number of edits disagrees about what was reworded."""
    if edits is None or not len(edits):
        return ()
    chunks = edits.chunks if isinstance(edits, pa.ChunkedArray) else [edits]
    numbers = as_numbers(pa.chunked_array(chunks))
    unread = say_no_numbers({EDITS: edits}, path, are_named=True)
    is_known = np.isfinite(numbers)
    n = int((((numbers > 0) != np.asarray(changed)) & is_known).sum())
    if not n:
        return (*unread,)
    rows = say_count(n, "row", "rows") + ("" if version is None else f" of {version}")
    note = (
        f"{path}: in {rows} the column {CHANGED} and the column {EDITS} disagree about "
        f"what was reworded; {CHANGED} counts."
    )
    return (*unread, note)


def read_marks(
    path: Path, names: Sequence[str], column: str, gold: pa.ChunkedArray | None, *, is_alone: bool
) -> tuple[str | None, pa.Array | None]:
    """Return a column that says of answers whether they are right, and its name; None if none does.

    A column of that name may also hold the right answers. Of several, all say the same.
    """
    own = [name for mark in _OWN_MARKS for name in (f"{column}_{mark}", f"{mark}_{column}")]
    own += MARKS if is_alone else ()
    found: dict[str, NDArray[np.bool_]] = {}
    for name in own:
        if name == column or names.count(name) != 1:
            continue
        with contextlib.suppress(InputError):
            values = _mark_blanks(read_values(path, [name])[name])
            right, bad = find_outcomes(values)
            if not bad.size and (
                gold is None or not as_texts(values, path=path).equals(as_texts(gold, path=path))
            ):
                found[name] = right
    if not found:
        return None, None
    first, *others = found
    for name in others:
        differs = np.flatnonzero(found[name] != found[first])
        if differs.size:
            raise InputError(
                f"says otherwise than {first} in {say_count(differs.size, 'row')}; mend what is "
                "wrong, or leave one of the columns out",
                path=path,
                row=f"row {differs[0]}",
                column=name,
            )
    return first, pa.array(found[first])


def _mark_blanks(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return marks of a list that is ticked off: one sign in some rows, and nothing in others."""
    is_missing = find_missing(values)
    if not is_missing.any() or len(values.filter(pa.array(~is_missing)).unique()) != 1:
        return values
    return pa.chunked_array([pa.array(~is_missing)])


def check_outcomes(path: Path, outcomes: Mapping[str, NDArray[Any]]) -> None:
    """Refuse outcomes that say otherwise than the gold labels and the answers beside them."""
    names = list_columns(path)
    gold = next(iter(find_named(names, TRUTHS)), None)
    versions = [_find_answers(names, *pair) for pair in zip(outcomes, VERSIONS, strict=True)]
    if gold is None or None in versions:
        return
    answered = [name for name in versions if name is not None]
    found = read_some(path, [gold, *answered])
    try:
        right, *answers = (label_keys(found[name], path) for name in (gold, *answered))
    except (InputError, KeyError):  # nobody has asked for them
        return
    first, second = outcomes
    for (column, marks), version, keys in zip(outcomes.items(), answered, answers, strict=True):
        wanted, given = in_same_words(right, keys)
        kinds = set(wanted) - OF_NONE
        every = set(given) - OF_NONE
        # Answers that recur beside all labels are labels, even if rows of one label alone are left.
        if kinds <= every and ROWS_OF_A_KIND * len(every) <= 2 * len(given):
            kinds = every
        is_known = np.isin(wanted, list(kinds)) & np.isin(given, list(kinds))
        is_known &= len(kinds) <= MOST_KINDS
        wrong = np.flatnonzero(is_known & ((wanted == given) != marks))
        if not wrong.size:
            continue
        row = int(wrong[0])
        raise InputError(
            f"{'true' if marks[row] else 'false'} contradicts {wanted[row]!r} in {gold} and "
            f"{given[row]!r} in {version}, and {say_count(wrong.size, 'row does', 'rows do')} so "
            f"of {len(marks):,}; mend what is wrong, or compare the outcomes alone (--original "
            f"{first} --transformed {second})",
            path=path,
            row=f"row {row}",
            column=column,
        )


def check_labels_of_versions(
    path: Path,
    names: Sequence[str],
    gold: pa.ChunkedArray,
    gold_column: str,
    columns: Mapping[str, str],
) -> None:
    """Refuse right answers of one version, side by side with others, that are not those of all."""
    right = label_keys(gold, path)
    usual = name_with([*LABEL_COLUMNS, *LABELS_BESIDE], columns)
    own = [name for name in find_named(names, usual) if name not in columns.values()]
    for name, values in read_some(path, own).items():
        n = _count_differences(values, right, path, may_be_named=True)
        if n:
            raise InputError(
                f"is another label than {gold_column} in {say_count(n, 'row')}, and all versions "
                f"are judged by one column; mend what is wrong, name the column that counts "
                f"(--gold-column {gold_column}), or write a row for each item and version, in "
                "which a version may have labels of its own",
                path=path,
                column=name,
            )


def _find_answers(names: Sequence[str], column: str, version: str) -> str | None:
    """Return the column of answers to a version whose outcomes have a name, by either name."""
    both = ((f"{each}_{column}", f"{column}_{each}") for each in PREDICTIONS)
    found = find_named(names, [version, *(name for pair in both for name in pair)])
    return found[0] if found else None


def list_beside(
    names: Sequence[str],
    gold: str | None,
    answers: Collection[str] = (),
    *,
    with_outcomes: bool = False,
) -> list[str]:
    """Return the columns of a table that may say what is right, besides those that are read."""
    twins = [] if gold is None else name_twins(gold, names)
    found = find_named(names, [*TRUTHS, *twins])
    found += [name for name in MARKS if with_outcomes and names.count(name) == 1]
    return [name for name in found if name not in {gold, *answers}]


def find_marks(
    read: Callable[[list[str]], Mapping[str, pa.Array | pa.ChunkedArray]], names: Sequence[str]
) -> list[str]:
    """Return the columns that are called like marks and hold some; others may say it in words."""
    values = read([name for name in MARKS if names.count(name) == 1])
    return [
        name
        for name, own in values.items()
        if not find_outcomes(pa.chunked_array(getattr(own, "chunks", [own])))[1].size
    ]


def name_twins(name: str, names: Sequence[str]) -> list[str]:
    """Name what programs make of a second column of a name: when they read, and when they merge.

    Numbers that go on are of annotators, or of further versions.
    """
    other = {"_x": "_y", "_y": "_x"}.get(name[-2:])
    twins = [name, f"{name}.1", *([] if other is None else [name[:-2] + other])]
    are_several = find_named(names, [f"{name}_0", f"{name}_2"])
    return twins if are_several else [*twins, f"{name}_1"]


def say_other_facts(
    beside: Mapping[str, pa.Array | pa.ChunkedArray],
    gold: pa.ChunkedArray,
    gold_column: str,
    answers: Mapping[str, pa.ChunkedArray],
    *,
    path: Path,
) -> tuple[str, ...]:
    """Say where columns that nobody has asked for contradict the labels that count."""
    if not beside:
        return ()
    right, said = label_keys(gold, path), []
    for name, values in beside.items():
        if name in MARKS:
            said += _say_other_outcomes(name, values, right, gold_column, answers, path=path)
            continue
        n = _count_differences(values, right, path, may_be_named=name != "target")
        if n:
            said.append(
                f"Warning: {path}: {name} is another label than {gold_column} in "
                f"{say_count(n, 'row')}; {gold_column} counts (--gold-column names another)."
            )
    return tuple(said)


def find_number_names(
    names: Sequence[str],
    read: Callable[[list[str]], Mapping[str, pa.Array | pa.ChunkedArray]],
    gold: Mapping[str, pa.ChunkedArray],
    answers: Mapping[str, pa.ChunkedArray],
    *,
    path: Path,
    is_alone: bool,
) -> tuple[NamedNumbers, ...]:
    """Return what columns of names call the numbers of right answers and of answers.

    Of several versions, such a column has the name of the column of answers before or behind.
    """
    try:
        counted = {name: read_labels(each, path) for name, each in {**gold, **answers}.items()}
    except InputError:  # whoever compares them refuses them
        return ()
    numbers = {number for each in counted.values() for number in list_numbers(each)}
    if not 0 < len(numbers) <= MOST_KINDS:
        return ()
    usual: dict[str, tuple[str, ...]] = dict.fromkeys(gold, (*LABEL_COLUMNS, *LABELS_BESIDE))
    usual |= dict.fromkeys(answers, (*PREDICTIONS, *_ANSWER_NAMES) if is_alone else ())
    found = []
    for column, own in usual.items():
        ends = (*_NAMES, *(PREDICTIONS if column in answers else ()))
        both = (name for end in ends for name in (f"{column}_{end}", f"{end}_{column}"))
        beside = [name for name in find_named(names, [*own, *both]) if name not in counted]
        for name, values in (read(beside) if beside else {}).items():
            with contextlib.suppress(InputError):  # lists, which are no names
                each = name_numbers(counted[column], read_labels(values, path), len(numbers))
                found.append(NamedNumbers(path=path, columns=(column, name), names=each))
    return tuple(found)


def say_named_otherwise(
    path: Path,
    gold_column: str,
    label_names: Sequence[str],
    counted: Collection[pa.ChunkedArray] = (),
) -> tuple[str, ...]:
    """Say where a column names the numbers of labels otherwise than the user does.

    A table of the ``datasets`` library names those of some columns; `counted` are all that count.
    """
    try:
        there = list_columns(path) if label_names else []
    except InputError:  # no table
        return ()
    noted = _say_noted_otherwise(path, label_names, counted) if there else ()
    if noted:
        return noted
    beside = find_named(there, NAMES_BESIDE)
    found = read_some(path, [gold_column, *beside]) if gold_column in there and beside else {}
    names = [label_key(name) for name in label_names]
    numbers = {str(place): name for place, name in enumerate(names)}
    said = []
    for name in found.keys() & {*beside}:
        right, own = label_keys(found[gold_column], path), label_keys(found[name], path)
        wanted = np.array([numbers.get(key, "") for key in right], dtype=object)
        if not set(own) - {""} <= set(names) or not set(right) - OF_NONE <= numbers.keys():
            continue
        n = int(((own != wanted) & (own != "") & (wanted != "")).sum())
        if n:
            said.append(
                f"Warning: {path}: {name} gives another name to the number in {gold_column} than "
                f"--labels in {say_count(n, 'row')} of {len(own):,}; --labels counts: is its order "
                "that of the numbers?"
            )
    return tuple(said)


def _say_noted_otherwise(
    path: Path, label_names: Sequence[str], counted: Collection[pa.ChunkedArray]
) -> tuple[str, ...]:
    """Say that a table notes the user's labels in another order, where some stand as numbers."""
    wanted = [*map(label_key, label_names)]
    notes = [[*map(label_key, names)] for names in list_noted(path)]
    others = [names for names in notes if names != wanted and sorted(names) == sorted(wanted)]
    # Keys are made of all values, and few tables note another order.
    keys = (key for own in counted for key in label_keys(own, path)) if others else ()
    if not any(key.isdecimal() for key in keys):
        return ()
    note = (
        f"Warning: {path} notes its labels in the order {', '.join(others[0])}, and --labels has "
        "another, by which the numbers in columns without such a note count; give them in the "
        "order of the numbers."
    )
    return (note,)


def say_other_answers(
    beside: Mapping[str, pa.Array | pa.ChunkedArray],
    answers: pa.Array | pa.ChunkedArray,
    column: str,
    *,
    path: Path,
) -> tuple[str, ...]:
    """Say where columns that may hold a classifier's answers contradict the one that counts."""
    if not beside:
        return ()
    try:
        mine = label_keys(answers, path)
    except InputError:  # whoever compares them refuses them
        return ()
    numbers = {
        name: _count_differences(values, mine, path, may_be_named=True)
        for name, values in beside.items()
    }
    return tuple(
        f"Warning: {path}: {name} is another answer than {column} in {say_count(n, 'row')}; "
        f"{column} counts (leave out the column that is wrong)."
        for name, n in numbers.items()
        if n
    )


def _count_differences(
    values: pa.Array | pa.ChunkedArray, mine: NDArray[Any], path: Path, *, may_be_named: bool
) -> int:
    """Count rows in which a column has another label; NLI's numbers are the same as its names."""
    try:
        own = label_keys(values, path)
    except InputError:  # lists, which are no labels
        return 0
    return count_other(*in_same_words(own, mine), may_be_named=may_be_named)


def _say_other_outcomes(
    name: str,
    values: pa.Array,
    right: NDArray[Any],
    gold_column: str,
    answers: Mapping[str, pa.ChunkedArray],
    *,
    path: Path,
) -> list[str]:

    outcomes, bad = find_outcomes(pa.chunked_array([values]))
    if bad.size or any(
        ((label_keys(each, path) == right) == outcomes).all() for each in answers.values()
    ):
        return []
    said = (
        f"Warning: {path}: the column {name} says of the answers of none of {', '.join(answers)} "
        f"which are right; {gold_column} does."
    )
    return [said]


def say_unread(
    path: Path,
    columns: Mapping[str, pa.Array],
    gold: tuple[str, pa.ChunkedArray] | None,
    answers: Mapping[str, pa.ChunkedArray],
    *,
    taken: Collection[str | None],
    chosen: Collection[str | None] = (),
    changed: pa.Array | None = None,
    are_outcomes: bool = False,
) -> tuple[str, ...]:
    """Say which of a table's columns of few values nearly repeat the labels or answers that count.

    Answers may be outcomes alone, which say themselves what is right. Of those that somebody has
    chosen, only what follows from both is compared.
    """
    if gold is None and not answers:
        return ()
    unread = {
        name: values
        for name, values in columns.items()
        if name not in taken and not is_id_name(name)
    }
    if not unread:
        return ()
    counted = key_counted(gold, answers, path)
    if are_outcomes:
        counted |= key_together({name: find_outcomes(answers[name])[0] for name in answers}, None)
    if changed is not None:
        counted[CHANGED] = np.asarray(changed)
    alone = {name: f"whether {name} is right" for name in answers}
    by_gold = gold is not None and gold[0] in chosen
    known = {*chosen, *(said for name, said in alone.items() if by_gold or name in chosen)}
    return say_near_copies(unread, counted, path, chosen={each for each in known if each})


def read_own_gold(
    path: Path, names: Sequence[str], columns: Mapping[str, str], fields: Fields
) -> tuple[str | None, pa.ChunkedArray | None]:
    """Return a column that may say what is right where other labels are believed, or none.

    Whoever has named a column of gold labels but the usual one does without the others.
    """
    if fields.gold not in {None, LABEL_COLUMNS[0]}:
        return None, None
    beside = list_beside(names, None, columns.values())
    for name, values in read_some(path, beside).items():
        with contextlib.suppress(InputError):  # lists, which are no labels
            texts = as_texts(values, path=path)
            is_none = pc.is_in(pc.utf8_lower(texts), value_set=pa.array([*OF_NONE], texts.type))
            return name, pa.chunked_array([pc.if_else(is_none, None, texts)])
    return None, None


def read_gold_beside(
    path: Path, names: Sequence[str], taken: Collection[str | None], gold: str | None = None
) -> tuple[str, pa.Array] | None:
    """Return the column of gold labels beside outcomes: the one that is named, or a usual one.

    What cannot be read is none.
    """
    usual = _GOLD if gold is None else (gold,)
    found = [name for name in usual if names.count(name) == 1 and name not in taken]
    for name, values in read_some(path, found[:1]).items():
        with contextlib.suppress(InputError):  # lists, which are no labels
            return name, as_texts(values, path=path)
    return None


def name_classes(labels: pa.Array | pa.ChunkedArray) -> NDArray[Any] | None:
    """Return the labels beside outcomes; None if a row has none, or they hardly recur.

    Nobody has asked for them, so nothing that stands there is a mistake.
    """
    words = np.array([str(label).strip() for label in labels.to_pylist()])
    kinds = np.unique(words)
    are_known = not labels.null_count and OF_NONE.isdisjoint(map(label_key, kinds))
    return words if are_known and words.size >= ROWS_OF_A_KIND * kinds.size else None


def read_row_ids(
    path: Path,
    names: Sequence[str],
    *,
    taken: set[str],
    fields: Fields,
    versions: Collection[str] = (),
) -> dict[str, pa.Array]:
    """Read columns that seem to tell rows apart, of versions side by side too.

    One that cannot be read does not.

    Where rows of several tables are matched by their order, any column may name them, such as an
    index that was written along; what it holds says whether it does.
    """
    ends = tuple(versions) if len(versions) > 1 else ()
    named = [
        name
        for name in names
        if is_id_name(name) or (is_like_id(name) and (name.endswith(ends) or name.startswith(ends)))
    ]
    others = []
    if fields.item is None and not fields.is_alone:
        others = [name for name in names if name not in {*named, *taken}]
    found = read_some(path, named)
    found |= {
        name: values
        for name, values in read_some(path, others).items()
        if may_name_rows(name, values)
    }
    by_order = fields.item is None and not fields.is_alone and INDEX not in names
    if by_order and (index := read_index(path)) is not None:
        found[INDEX] = index
    return found


def find_of_originals(
    names: Sequence[str], taken: Sequence[str], texts: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Find the column that repeats the originals' answers, and by column of texts that of theirs.

    A text without such a column beside it is taken for that of the original.
    """
    wanted = [*name_with(PREDICTIONS, [VERSIONS[0], *BEFORE]), VERSIONS[0]]
    answers = [name for name in find_named(names, wanted) if name not in taken][:1]
    beside = {name: find_named(names, name_with([name], [VERSIONS[0]]))[:1] for name in texts}
    return answers, {name: own for name, found in beside.items() for own in found}


def find_texts(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of texts by their usual names."""
    try:
        found, _ = find_text_columns("", names)
    except InputError:
        return ()
    return found if all(names.count(name) == 1 for name in found) else ()
