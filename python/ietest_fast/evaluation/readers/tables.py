"""Tables of predictions: Parquet, CSV, TSV, JSONL, in wide or long form."""

from __future__ import annotations

import contextlib
import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.corpus.columns import LABEL_COLUMNS, LABELS_BESIDE, find_text_columns
from ietest_fast.corpus.formats import (
    Format,
    check_readable,
    column_names,
    diagnose,
    find_format,
    format_of,
    json_records,
    open_parquet,
)
from ietest_fast.corpus.labels import NLI_LABELS, label_key, name_numbers
from ietest_fast.errors import InputError, shorten_error
from ietest_fast.evaluation.readers.base import Answers, lookup, plain_array
from ietest_fast.evaluation.schema import CHANGED, KEY, MOST_KINDS, as_changed, say_no_labels
from ietest_fast.models.columns import read_columns
from ietest_fast.plurals import say_count
from ietest_fast.stats.strata import EDITS
from ietest_fast.values import (
    are_ids,
    as_numbers,
    as_outcomes,
    as_texts,
    find_missing,
    find_outcomes,
    find_range,
    is_id_name,
    may_be_shared,
    may_name_rows,
    say_repeated,
    show_value,
    unwrap,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.evaluation.predictions import Predictions
    from ietest_fast.evaluation.readers.base import Fields, FileStart

_LONG = ("item", "version")
_PREDICTION = "prediction"
_PREDICTIONS = (
    *(_PREDICTION, "predicted", "pred", "predicted_label", "predicted_labels"),
    *("pred_label", "y_pred"),
)
"""Names of columns that say what a classifier has answered, if they have values in common."""
_RESPONSES = ("answer", "response")
"""The same in long tables, or the right answers, or texts in which answers were found."""
_VERSIONS = ("original", "transformed")
_OUTCOMES = ("original_correct", "transformed_correct")
_ABOUT = ("version", "model")
_OF_NONE = {"", "-", "-1", "-1.0", "nan"}
# What says of answers whether they are right, where nobody has named it.
_MARKS = ("correct", "is_correct", "is_right", "exact_match", "acc")
# With the name of a column of answers before or behind; by itself it may be a class, or a side.
_OWN_MARKS = (*_MARKS, "right")
_GOLD = (
    *(*LABEL_COLUMNS, *LABELS_BESIDE, "target", "label_id"),
    *("true_label", "y_true", "ground_truth"),
)
"""Names of columns that say what is right, if they have values in common."""


class TableReader:
    """Reads a table: of one version, of several side by side, or of all below each other."""

    summary = "a table (.parquet, .csv, .tsv, .jsonl), wide or long"

    def recognises(self, start: FileStart) -> bool:
        """Take whatever has a table's name; other formats are asked first."""
        try:
            format_of(start.path)
        except InputError:
            return False
        return True

    def read(self, path: Path, fields: Fields) -> Sequence[Answers]:
        """Read the columns that are needed."""
        names = _names_of(path, find_format(path))
        named = {fields.predicted, fields.correct, *fields.answer_columns, *fields.correct_columns}
        if is_long(names) and named <= {None, "correct"} and not fields.answer_columns:
            return _read_long(path, names, fields, by_outcomes="correct" in named)
        columns, are_outcomes = _choose_columns(names, fields, path)
        gold = fields.gold or "label"
        if gold in columns.values():
            raise InputError(
                "the right answers and the answers come from one column, and an answer is not "
                "compared with itself; name another for one of them (--gold-column, -P)",
                path=path,
                column=gold,
            )
        # Gold labels may stand in another file.
        has_gold = not are_outcomes and _is_there(gold, names)
        wanted = list(columns.values())
        wanted += [gold] * has_gold
        # Of several tables one may have what is to be kept.
        keep = [name for name in fields.keep if fields.is_alone or _is_there(name, names)]
        wanted += keep
        if fields.item is not None:
            wanted.append(fields.item)
        table, texts, notes = _read_with_texts(path, wanted, names)
        inputs = _join_texts(table, texts, path)
        changed, note = _read_changed(table, path, n_versions=len(columns))
        if changed is not None and EDITS in names and EDITS not in table.column_names:
            note += _say_other_edits(changed, _read_columns(path, [EDITS]).get(EDITS), path)
        notes += note
        own_column, own = (None, None) if has_gold else _read_own_gold(path, names, columns, fields)
        marks = {
            column: (None, None)
            if are_outcomes
            else _read_marks(
                path, names, column, table[gold] if has_gold else own, is_alone=len(columns) == 1
            )
            for column in columns.values()
        }
        ids = _read_ids(path, names, taken={gold, *columns.values()}, fields=fields)
        notes += _say_ids_again(ids, {*keep, fields.item}, path)
        about = _read_about(path, names, {gold, *columns.values()}) if len(columns) == 1 else {}
        if has_gold:
            answers = {column: table[column] for column in columns.values()}
            beside = list_beside(names, gold, answers, with_outcomes=len(answers) > 1)
            notes += say_other_facts(
                _read_columns(path, beside), table[gold], gold, answers, path=path
            )
            notes += _say_copies(inputs, [table[gold], *answers.values()], ids, path)
        if len(columns) == 1 and not are_outcomes and fields.predicted is None:
            (column,) = columns.values()
            others = [
                name
                for name in (*_PREDICTIONS, *_name_twins(column))
                if name not in {gold, column, *keep, fields.item} and names.count(name) == 1
            ]
            notes += _say_other_answers(
                _read_columns(path, others), table[column], column, path=path
            )
        return [
            Answers(
                path=path,
                name=path.stem,
                items=None if fields.item is None else table[fields.item].combine_chunks(),
                gold=table[gold] if has_gold else None,
                predicted=None if are_outcomes else table[column],
                correct=as_outcomes(
                    table[column], path=path, name=column, threshold=fields.threshold
                )
                if are_outcomes
                else None,
                scores=None if fields.threshold is None else find_range(table[column]),
                marks=marks[column][1],
                marks_column=marks[column][0],
                version=version if len(columns) > 1 else None,
                said_version=about.get("version"),
                model=about.get("model"),
                inputs=inputs if len(columns) == 1 else None,
                input_columns=texts,
                changed=changed,
                columns={name: table[name].combine_chunks() for name in keep},
                ids={name: ids[name] for name in ids if name != fields.item},
                own_gold=own,
                own_gold_column=own_column,
                gold_column=gold,
                predicted_column=column,
                notes=() if place else notes,
            )
            for place, (version, column) in enumerate(columns.items())
        ]


def _read_about(path: Path, names: Sequence[str], taken: Collection[str]) -> dict[str, str]:
    """Return what columns say of all rows of a table alike: its version, and its model."""
    wanted = [name for name in _ABOUT if name not in taken and names.count(name) == 1]
    found = {}
    for name, values in _read_columns(path, wanted).items():
        with contextlib.suppress(InputError):
            kinds = as_texts(values, path=path).unique().to_pylist()
            if len(kinds) == 1 and kinds[0] is not None:
                found[name] = kinds[0].strip()
    return found


def _is_there(name: str, names: Sequence[str]) -> bool:
    return name in names or name.partition(".")[0] in names


def _choose_columns(
    names: Sequence[str], fields: Fields, path: Path
) -> tuple[dict[str, str], bool]:
    """Return the column of each version, and whether these hold outcomes."""
    if not fields.is_alone:
        if fields.correct is not None:
            return {path.stem: fields.correct}, True
        return {path.stem: fields.predicted or _PREDICTION}, False
    if fields.correct is not None or fields.predicted is not None:
        raise InputError(
            "one column is named; a single table needs one for each version, two at least",
            path=path,
            column=fields.correct or fields.predicted,
        )
    are_outcomes = bool(fields.correct_columns) or (
        not fields.answer_columns
        and set(_OUTCOMES) <= set(names)
        and not set(_VERSIONS) <= set(names)
    )
    given = fields.correct_columns or fields.answer_columns or (None, None)
    defaults = _OUTCOMES if are_outcomes else _VERSIONS
    columns = [name or (defaults[place] if place < 2 else "") for place, name in enumerate(given)]
    for name in columns:
        if columns.count(name) > 1:
            raise InputError(
                "the answers to two versions come from one column; two are expected",
                path=path,
                column=name,
            )
    versions = list(_VERSIONS) if len(columns) == 2 else [_VERSIONS[0], *columns[1:]]
    return dict(zip(versions, columns, strict=True)), are_outcomes


def _read_with_texts(
    path: Path, wanted: Sequence[str], names: Sequence[str]
) -> tuple[pa.Table, tuple[str, ...], tuple[str, ...]]:
    """Read columns, and those of texts and of what is reworded, if there are some.

    Nobody has asked for texts, so one that cannot be read is no mistake, but it is told.
    """
    texts = _find_texts(names)
    wanted = [*wanted, *([CHANGED] if names.count(CHANGED) == 1 else [])]
    if not texts:
        return read_values(path, wanted), (), ()
    try:
        return read_values(path, [*wanted, *texts]), texts, ()
    except InputError as error:
        table = read_values(path, wanted)
        return table, (), (f"Warning: the texts are not read: {error}.",)


def _find_texts(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of texts by their usual names."""
    try:
        found, _ = find_text_columns("", names)
    except InputError:
        return ()
    return found if all(names.count(name) == 1 for name in found) else ()


def _join_texts(table: pa.Table, names: Sequence[str], path: Path) -> pa.Array | None:
    """Return all texts of each row in one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not names:
        return None
    columns = [
        as_texts(table[name], path=path, name=name).cast(pa.large_string()) for name in names
    ]
    return pc.binary_join_element_wise(
        *columns, pa.scalar("\x1f", pa.large_string()), null_handling="replace"
    )


def _say_copies(
    inputs: pa.Array | None,
    said: Sequence[pa.ChunkedArray],
    ids: Mapping[str, pa.Array],
    path: Path,
) -> tuple[str, ...]:
    """Count the rows that say the same of the same texts again, where no id tells them apart."""
    if inputs is None or are_ids(inputs) or any(are_ids(values) for values in ids.values()):
        return ()
    columns = (inputs.to_pylist(), *(values.to_pylist() for values in said))
    n = len(inputs) - len(set(zip(*columns, strict=True)))
    if not n:
        return ()
    verb = "has" if n == 1 else "have"
    note = (
        f"{path}: {say_count(n, 'row')} of {len(inputs):,} {verb} the texts and the answers of "
        "another row, and each counts; --clusters draws equal texts together."
    )
    return (note,)


def _say_ids_again(
    ids: Mapping[str, pa.Array], taken: set[str | None], path: Path
) -> tuple[str, ...]:
    """Count ids that stand in several rows, which a merge of repeated keys makes of one text."""
    import pyarrow as pa

    named = {name: values for name, values in ids.items() if is_id_name(name)}
    if any(are_ids(values) for values in named.values()) or not taken.isdisjoint(named):
        return ()
    notes = []
    for name, column in named.items():
        if may_be_shared(name) or pa.types.is_nested(column.type):
            continue
        said = say_repeated(column.filter(pa.array(~find_missing(pa.chunked_array([column])))))
        if said is not None:
            notes.append(
                f"Warning: {path}: of the column {name}, {said}, and each row counts as a text; "
                "remove what a merge has repeated, or draw them together (--clusters "
                f"{shlex.quote(name)})."
            )
    return tuple(notes)


def _read_changed(
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
        return found, _say_other_edits(found, beside, path, version)
    note = (
        f"{path}: the column {CHANGED} is not used: {why}; --reworded COLUMN or --all-reworded "
        "says which texts were reworded."
    )
    return None, (note,)


def _say_other_edits(
    changed: pa.Array,
    edits: pa.Array | pa.ChunkedArray | None,
    path: Path,
    version: str | None = None,
) -> tuple[str, ...]:
    """Say of how many rows the number of edits disagrees about what was reworded."""
    import pyarrow as pa

    if edits is None or not len(edits):
        return ()
    chunks = edits.chunks if isinstance(edits, pa.ChunkedArray) else [edits]
    numbers = as_numbers(pa.chunked_array(chunks))
    n = int(((numbers > 0) != np.asarray(changed)).sum()) if np.isfinite(numbers).all() else 0
    if not n:
        return ()
    rows = say_count(n, "row", "rows") + ("" if version is None else f" of {version}")
    note = (
        f"{path}: in {rows} the column {CHANGED} and the column {EDITS} disagree about "
        f"what was reworded; {CHANGED} counts."
    )
    return (note,)


def _read_marks(
    path: Path, names: Sequence[str], column: str, gold: pa.ChunkedArray | None, *, is_alone: bool
) -> tuple[str | None, pa.Array | None]:
    """Return a column that says of answers whether they are right, and its name; None if none does.

    A column of that name may also hold the right answers. Of several, all say the same.
    """
    import pyarrow as pa

    own = [name for mark in _OWN_MARKS for name in (f"{column}_{mark}", f"{mark}_{column}")]
    own += _MARKS if is_alone else ()
    found: dict[str, NDArray[np.bool_]] = {}
    for name in own:
        if name == column or names.count(name) != 1:
            continue
        with contextlib.suppress(InputError):
            values = read_values(path, [name])[name]
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


def check_outcomes(path: Path, outcomes: Mapping[str, NDArray[Any]]) -> None:
    """Refuse outcomes that say otherwise than the gold labels and the answers beside them.

    Parameters
    ----------
    path
        The table.
    outcomes
        Whether the answers to the original and to the transformed texts are right, by the names of
        their columns, which nobody has named.

    Raises
    ------
    InputError
        With the first such row. An answer that is no gold label may be right in other words.
    """
    names = list_columns(path)
    gold = next((name for name in (*LABEL_COLUMNS, "gold") if names.count(name) == 1), None)
    if gold is None or any(names.count(name) != 1 for name in _VERSIONS):
        return
    found = _read_columns(path, [gold, *_VERSIONS])
    try:
        right, *answers = (_label_keys(found[name], path) for name in (gold, *_VERSIONS))
    except (InputError, KeyError):  # nobody has asked for them
        return
    first, second = outcomes
    for (column, marks), version, keys in zip(outcomes.items(), _VERSIONS, answers, strict=True):
        wanted, given = _in_same_words(right, keys)
        kinds = set(wanted) - _OF_NONE
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


def list_beside(
    names: Sequence[str],
    gold: str | None,
    answers: Collection[str] = (),
    *,
    with_outcomes: bool = False,
) -> list[str]:
    """Return the columns of a table that may say what is right, besides those that are read."""
    twins = [] if gold is None else _name_twins(gold)
    wanted = [*_GOLD, *twins, *(_MARKS if with_outcomes else ())]
    return [
        name
        for name in dict.fromkeys(wanted)
        if name not in {gold, *answers} and names.count(name) == 1
    ]


def _name_twins(name: str) -> list[str]:
    """Name what pandas makes of a second column of a name: when it reads, and when it merges."""
    other = {"_x": "_y", "_y": "_x"}.get(name[-2:])
    return [f"{name}.1", *([] if other is None else [name[:-2] + other])]


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
    right, said = _label_keys(gold, path), []
    for name, values in beside.items():
        if name in _MARKS:
            said += _say_other_outcomes(name, values, right, gold_column, answers, path=path)
            continue
        n = _count_differences(values, right, path, may_be_named=name != "target")
        if n:
            said.append(
                f"Warning: {path}: {name} is another label than {gold_column} in "
                f"{say_count(n, 'row')}; {gold_column} counts (--gold-column names another)."
            )
    return tuple(said)


def _say_other_answers(
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
        mine = _label_keys(answers, path)
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
        own = _label_keys(values, path)
    except InputError:  # lists, which are no labels
        return 0
    return _count_other(*_in_same_words(own, mine), may_be_named=may_be_named)


def _count_other(own: NDArray[Any], mine: NDArray[Any], *, may_be_named: bool) -> int:
    """Count rows with two labels; words that are others throughout may be names of the same."""
    rows = np.flatnonzero((own != "") & (mine != ""))
    are_shared = bool(set(own) & set(mine) - {""})  # also where one is filled in for a few rows
    own, mine = own[rows], mine[rows]
    if are_shared:
        return int((own != mine).sum())
    if not may_be_named or len(set(own)) != len(set(mine)):
        return 0
    names = Counter(zip(own, mine, strict=True))
    most: dict[str, int] = {}
    for (label, _), n in names.items():
        most[label] = max(n, most.get(label, 0))
    return len(rows) - sum(most.values())


def _in_same_words(first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels of two columns, NLI's numbers by name where the other column has the names."""
    are_names = [set(keys) - {""} <= set(NLI_LABELS) for keys in (first, second)]
    return (
        _as_nli(first) if are_names[1] else first,
        _as_nli(second) if are_names[0] else second,
    )


def _as_nli(keys: NDArray[Any]) -> NDArray[Any]:
    """Return numbers by the names that they have where 0, 1 and 2 are all there are."""
    numbers = {str(number): name for number, name in enumerate(NLI_LABELS)}
    if set(keys) - {""} != set(numbers):
        return keys
    return np.array([numbers.get(key, "") for key in keys], dtype=object)


def _say_other_outcomes(
    name: str,
    values: pa.Array,
    right: NDArray[Any],
    gold_column: str,
    answers: Mapping[str, pa.ChunkedArray],
    *,
    path: Path,
) -> list[str]:
    import pyarrow as pa

    outcomes, bad = find_outcomes(pa.chunked_array([values]))
    if bad.size or any(
        ((_label_keys(each, path) == right) == outcomes).all() for each in answers.values()
    ):
        return []
    said = (
        f"Warning: {path}: the column {name} says of the answers of none of {', '.join(answers)} "
        f"which are right; {gold_column} does."
    )
    return [said]


def _label_keys(column: pa.Array | pa.ChunkedArray, path: Path) -> NDArray[Any]:
    """Return what is the same for all spellings of a label, by row; nothing where there is none."""
    import pyarrow.compute as pc

    encoded = as_texts(column, path=path).dictionary_encode()
    keys = [label_key(each) for each in encoded.dictionary.to_pylist()]
    places = pc.fill_null(encoded.indices, len(keys)).to_numpy()
    found: NDArray[Any] = np.array([*keys, ""], dtype=object)[places]
    return found


def _read_own_gold(
    path: Path, names: Sequence[str], columns: Mapping[str, str], fields: Fields
) -> tuple[str | None, pa.ChunkedArray | None]:
    """Return a column that may say what is right where other labels are believed, or none.

    Whoever has named a column of gold labels but the usual one does without the others.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if fields.gold not in {None, LABEL_COLUMNS[0]}:
        return None, None
    beside = list_beside(names, None, columns.values())
    for name, values in _read_columns(path, beside).items():
        with contextlib.suppress(InputError):  # lists, which are no labels
            texts = as_texts(values, path=path)
            is_none = pc.is_in(pc.utf8_lower(texts), value_set=pa.array([*_OF_NONE], texts.type))
            return name, pa.chunked_array([pc.if_else(is_none, None, texts)])
    return None, None


def _read_ids(
    path: Path, names: Sequence[str], *, taken: set[str], fields: Fields
) -> dict[str, pa.Array]:
    """Read columns that seem to tell rows apart; one that cannot be read does not.

    Where rows of several tables are matched by their order, any column may name them, such as an
    index that was written along; what it holds says whether it does.
    """
    named = [name for name in names if is_id_name(name)]
    others = []
    if fields.item is None and not fields.is_alone:
        others = [name for name in names if name not in {*named, *taken}]
    found = _read_columns(path, named)
    found |= {
        name: values
        for name, values in _read_columns(path, others).items()
        if may_name_rows(name, values)
    }
    return found


def _read_columns(path: Path, names: Sequence[str]) -> dict[str, pa.Array]:
    """Read what nobody has asked for: together, or one by one where one cannot be read."""
    if not names:
        return {}
    try:
        table = read_values(path, names)
    except InputError:
        if len(names) == 1:
            return {}
        singly = [_read_columns(path, [name]) for name in dict.fromkeys(names)]
        return {name: values for each in singly for name, values in each.items()}
    return {name: table[name].combine_chunks() for name in table.column_names}


def is_long(names: Sequence[str]) -> bool:
    """Whether a table has one row for each item and version, by its columns."""
    return set(_LONG) <= set(names) and ("correct" in names or {"gold", "predicted"} <= set(names))


def list_columns(path: str | Path) -> list[str]:
    """Return the names of a table's columns.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    place = Path(path)
    check_readable(place)
    return _names_of(place, find_format(place))


def holds_versions(path: str | Path) -> bool:
    """Whether a table has one row for each item and version."""
    return is_long(list_columns(path))


def _names_of(path: Path, form: Format) -> list[str]:
    if form.kind != "parquet":
        return column_names(path, form)
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            return list(file.schema_arrow.names)
    except (pa.ArrowException, OSError) as error:
        raise diagnose(path, form, error) from error


def read_values(path: Path, wanted: Sequence[str]) -> pa.Table:
    """Read columns; in JSONL a name may lead into objects, and a list of one is its value.

    Raises
    ------
    InputError
        As for :func:`~ietest_fast.models.columns.read_columns`.
    """
    import pyarrow as pa

    form = find_format(path)
    wanted = list(dict.fromkeys(wanted))
    if form.kind == "parquet":
        with open_parquet(path) as file:
            schema = file.schema_arrow
        return name_numbers(read_columns(path, wanted), schema)
    if form.kind != "jsonl":
        return read_columns(path, wanted)
    try:
        return read_columns(path, wanted)
    except InputError:
        # Again, slowly: fields of objects, and lists of one.
        try:
            records = [record for _, record in json_records(path, form)]
        except (OSError, EOFError) as error:
            raise diagnose(path, form, error) from error
        found = [[lookup(record, name) for record in records] for name in wanted]
        is_nested = any(isinstance(value, list) for values in found for value in values)
        if not records or (not is_nested and not any("." in name for name in wanted)):
            raise
    columns: dict[str, pa.Array] = {}
    for name, values in zip(wanted, found, strict=True):
        if all(value is None for value in values):
            raise InputError("there is no such field", path=path, column=name)
        plain = [unwrap(value) for value in values]
        for row, value in enumerate(plain):
            if isinstance(value, (list, dict)):
                kind = "a list of several values" if isinstance(value, list) else "an object"
                raise InputError(
                    f"{show_value(value)} is {kind}; expected text, numbers or true and false",
                    path=path,
                    row=f"row {row}",
                    column=name,
                )
        columns[name] = plain_array(plain)
    return pa.table(columns)


def _read_long(
    path: Path, names: Sequence[str], fields: Fields, *, by_outcomes: bool
) -> list[Answers]:
    """Read a table with a row for each item and version, also of several classifiers.

    By outcomes alone, if these are named, or a threshold makes them of scores.
    """
    from ietest_fast.evaluation.predictions import Predictions

    form = find_format(path)
    is_own = False
    if by_outcomes or fields.threshold is not None:
        table = read_scores(path, names, fields.threshold)
        whole = Predictions.from_table(table, source=str(path))
    elif form.kind == "parquet":
        whole = Predictions.read(path)
        with open_parquet(path) as file:
            is_own = KEY in (file.schema_arrow.metadata or {})
    else:
        plain = [name for name in names if name != "probabilities" or form.kind != "jsonl"]
        table = read_values(path, plain)
        if len(plain) < len(names):
            table = table.append_column("probabilities", _read_lists(path, form, "probabilities"))
        whole = Predictions.from_table(table, source=str(path))
    found = list_versions(whole, path, is_own=is_own)
    if fields.threshold is not None:
        scores = read_values(path, ["correct"])["correct"]
        found = [
            replace(log, scores=find_range(scores.filter(_are_of(log, whole)))) for log in found
        ]
    others = () if is_own else _say_of_long(whole, path)
    if whole.repeats is not None:
        others += (
            f"{path}: the answers to an item are drawn together, as by --clusters {whole.repeats}.",
        )
    found[0] = replace(found[0], notes=(*found[0].notes, *others))
    return found


def _are_of(log: Answers, whole: Predictions) -> pa.Array:
    """Say which rows of a long table are those of one version of one classifier."""
    import pyarrow.compute as pc

    rows = pc.equal(as_texts(whole.table["version"], path=log.path), log.version)
    if log.model is None:
        return rows
    return pc.and_(rows, pc.equal(as_texts(whole.table["model"], path=log.path), log.model))


def _say_of_long(whole: Predictions, path: Path) -> tuple[str, ...]:
    """Say what columns of another program's long table contradict, and why answers are texts."""
    said = say_beside(whole, path)
    why = None if whole.label_names is not None else say_no_labels(whole.table)
    if why is not None:
        how = "so the answers are taken for free texts, and only right and wrong are compared"
        said += (f"{path}: {why}, {how}.",)
    return said


def say_beside(whole: Predictions, path: Path) -> tuple[str, ...]:
    """Say where columns of a long table contradict those that count.

    Raises
    ------
    InputError
        If marks do so.
    """
    said: tuple[str, ...] = ()
    _check_marks(whole, path)
    gold, answers = (
        {name: whole.table[name] for name in usual if name in whole.extra_columns}
        for usual in (_GOLD, (*_PREDICTIONS, *_RESPONSES))
    )
    if "gold" in whole.columns:
        said += say_other_facts(gold, whole.table["gold"], "gold", {}, path=path)
    if "predicted" in whole.columns:
        for name in set(_RESPONSES).intersection(answers):
            answers[name] = _keep_labels(answers[name], whole, path)
        said += _say_other_answers(answers, whole.table["predicted"], "predicted", path=path)
    return said


def _check_marks(whole: Predictions, path: Path) -> None:
    """Refuse a column that says otherwise than a long table which answers are right."""
    if not whole.has_labels and "correct" not in whole.columns:
        return
    for name in _MARKS:
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


def _keep_labels(
    values: pa.ChunkedArray, whole: Predictions, path: Path
) -> pa.Array | pa.ChunkedArray:
    """Leave out of a column what is no label, or all of it if it holds the right answers."""
    import pyarrow as pa

    try:
        own = _label_keys(values, path)
    except InputError:  # lists, which are no labels
        return pa.nulls(len(values), pa.string())
    known = [_label_keys(whole.table["predicted"], path)]
    known += [_label_keys(whole.table["gold"], path)] if "gold" in whole.columns else []
    is_gold = len(known) > 1 and (_in_same_words(own, known[1])[0] == known[1]).all()
    kept = np.zeros(len(own), np.bool_) if is_gold else np.isin(own, np.concatenate(known))
    return pa.array(np.where(kept, own, ""), pa.string())


def list_versions(whole: Predictions, path: Path, *, is_own: bool) -> list[Answers]:
    """Return the answers of a long table by classifier and version.

    Those of an own file may have been made from other columns than the texts that are kept.
    """
    found = []
    for group in whole.groups:
        part = whole.select(**group) if group else whole
        for version in part.versions:
            rows = part.select(version=version).table
            is_first = version == part.versions[0]
            changed, notes = (None, ()) if is_first else _read_changed(rows, path, version=version)
            if CHANGED in rows.column_names and rows[CHANGED].null_count == len(rows):
                notes = ()  # it is known of other versions
            answers = _answers_of(rows, whole, group, version, path)
            if is_own:
                answers = replace(answers, inputs=None, input_columns=())
            found.append(replace(answers, changed=changed, notes=notes))
    return found


def read_scores(path: Path, names: Sequence[str], threshold: float | None) -> pa.Table:
    """Read a long table without its labels: outcomes, or scores of which a threshold makes some."""
    if "correct" not in names:
        raise InputError(
            "a threshold (--threshold) is for scores, and this table has answers and right "
            "answers, and no column correct",
            path=path,
        )
    table = read_values(
        path, [name for name in names if name not in {"gold", "predicted", "probabilities"}]
    )
    scores = as_outcomes(table["correct"], path=path, name="correct", threshold=threshold)
    return table.set_column(table.column_names.index("correct"), "correct", scores)


def _read_lists(path: Path, form: Format, name: str) -> pa.Array:
    """Read lists of numbers from JSON lines."""
    import pyarrow as pa

    found = [record.get(name) for _, record in json_records(path, form)]
    try:
        return pa.array(found, pa.list_(pa.float32()))
    except (pa.ArrowException, TypeError) as error:
        raise InputError(
            f"a value is no list of numbers: {shorten_error(error)}", path=path, column=name
        ) from error


def _answers_of(
    rows: pa.Table, whole: Any, group: dict[str, Any], version: str, path: Path
) -> Answers:
    import pyarrow as pa

    texts = _find_texts(whole.extra_columns)

    def plain(name: str) -> Any:
        if name not in rows.column_names:
            return None
        return pa.chunked_array([as_texts(rows[name], path=path, name=name)])

    return Answers(
        path=path,
        name=path.stem,
        items=rows["item"].combine_chunks(),
        gold=plain("gold"),
        predicted=plain("predicted"),
        correct=rows["correct"].combine_chunks() if "correct" in rows.column_names else None,
        probabilities=rows["probabilities"].combine_chunks()
        if "probabilities" in rows.column_names
        else None,
        label_names=whole.label_names,
        inputs=_join_texts(rows, texts, path),
        input_columns=texts,
        version=version,
        model=group.get("model"),
        keys={
            name: rows[name].combine_chunks()
            for name in ("m", "rho", "copy")
            if name in rows.column_names
        },
        columns={name: rows[name].combine_chunks() for name in whole.extra_columns},
        gold_column="gold",
        predicted_column="predicted",
        is_scored="correct" in rows.column_names,
        repeated=whole.repeats,
    )
