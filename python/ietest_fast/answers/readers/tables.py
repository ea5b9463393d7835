"""Tables of predictions: Parquet, CSV, TSV, JSONL, in wide or long form."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.measurements import refuse_counts
from ietest_fast.answers.readers.base import JOINT, Log
from ietest_fast.answers.readers.facts_beside import (
    PREDICTIONS,
    VERSIONS,
    check_labels_of_versions,
    find_marks,
    find_number_names,
    find_of_originals,
    find_texts,
    list_beside,
    name_twins,
    read_changed,
    read_gold_beside,
    read_marks,
    read_own_gold,
    read_row_ids,
    say_copies,
    say_ids_again,
    say_other_answers,
    say_other_edits,
    say_other_facts,
    say_other_pairs,
    say_unread,
)
from ietest_fast.answers.readers.facts_of_long import find_long_names, say_beside
from ietest_fast.answers.readers.facts_of_tables import (
    SIDES,
    find_long_settings,
    list_kinds,
    list_sides,
    name_settings,
    name_with,
    read_settings,
    read_side,
    say_other_scores,
    say_wide_means,
)
from ietest_fast.answers.readers.settings import OF_TABLES
from ietest_fast.answers.readers.table_columns import (
    list_columns,
    list_nested,
    names_of,
    read_kinds,
    read_nested,
    read_some,
    read_values,
    read_with_others,
)
from ietest_fast.answers.schema import CHANGED, CLUSTER, KEY, MOST_KINDS, TYPES, say_unlikely
from ietest_fast.corpus.columns import find_named
from ietest_fast.corpus.formats import Format, find_format, format_of, json_records, open_parquet
from ietest_fast.errors import InputError, shorten_error
from ietest_fast.numerals import say_count
from ietest_fast.stats.strata import EDITS, LABEL
from ietest_fast.values import as_outcomes, as_texts, find_range, show_names, show_value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.answers.readers.base import Fields, FileStart
    from ietest_fast.answers.table import Predictions


_LONG = ("item", "version")
_PREDICTION = "prediction"
_OUTCOMES = ("original_correct", "transformed_correct")
_ABOUT = ("version", "model", "model_name")
_RUNS = ("seed", "run", "fold", "trial", "replicate")
_LEAST_BLOCK = 8  # rows of labels that are the same by chance in few tables


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

    def read(self, path: Path, fields: Fields) -> Sequence[Log]:
        """Read the columns that are needed."""
        names = names_of(path, find_format(path))
        named = {fields.predicted, fields.correct, *fields.answer_columns, *fields.correct_columns}
        if is_long(names) and named <= {None, "correct"} and not fields.answer_columns:
            return _read_long(path, names, fields, by_outcomes="correct" in named)
        _check_version(names, fields, path)
        columns, are_outcomes = _choose_columns(names, fields, path)
        refuse_counts(path, names, {fields.item, *columns.values(), *fields.keep})
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
        wanted = [*columns.values(), *([gold] if has_gold else [])]
        keep = _list_kept(names, fields, taken={*wanted, fields.item})
        wanted += keep
        if fields.item is not None:
            wanted.append(fields.item)
        table, texts, notes = _read_with_texts(path, wanted, names)
        inputs = _join_texts(table, texts, path)
        changed, note = read_changed(table, path, n_versions=len(columns))
        if changed is not None and EDITS in names and EDITS not in table.column_names:
            note += say_other_edits(changed, read_some(path, [EDITS]).get(EDITS), path)
        notes += note
        notes += say_other_pairs(path, names, [*columns.values()], changed)
        own_column, own = (None, None) if has_gold else read_own_gold(path, names, columns, fields)
        labels = _read_labels(path, names, columns, fields) if are_outcomes else {}
        originals, original_texts = (
            _read_originals(path, names, table, texts) if len(columns) == 1 else ({}, {})
        )
        if has_gold and fields.gold is None and len(columns) > 1:
            check_labels_of_versions(path, names, table[gold], gold, columns)
        marks = {
            column: (None, None)
            if are_outcomes
            else read_marks(
                path, names, column, table[gold] if has_gold else own, is_alone=len(columns) == 1
            )
            for column in columns.values()
        }
        ids = read_row_ids(
            path, names, taken={gold, *columns.values()}, fields=fields, versions=columns
        )
        notes += say_ids_again(ids, {*keep, fields.item}, path, has_texts=inputs is not None)
        about, said = _read_about(path, names, {gold, fields.item, *columns.values(), *keep})
        few = read_kinds(
            path,
            [name for name in names if names.count(name) == 1 and name not in wanted],
            MOST_KINDS,
        )
        settings = read_settings(path, names, columns, {gold, fields.item, *columns.values()})
        answers = {column: table[column] for column in columns.values()}
        truth, notes = table[gold] if has_gold else None, (*notes, *said)
        if has_gold or (are_outcomes and fields.threshold is None):
            notes += say_wide_means(path, names, columns, answers, gold=truth, marks=marks)
        if has_gold:
            beside = list_beside(names, gold, answers, with_outcomes=len(answers) > 1)
            notes += say_other_facts(read_some(path, beside), table[gold], gold, answers, path=path)
            # Of rows that are there twice by the column of items, one counts.
            notes += () if fields.item else say_copies(inputs, table[gold], ids, path)
            if inputs is None and not ids:
                notes += _say_runs(
                    path,
                    [name for name in names if name not in {gold, *columns.values(), *keep}],
                    [table[gold], *list(answers.values())[:1]],
                )
        chosen = {fields.predicted, fields.gold, *fields.answer_columns, *fields.correct_columns}
        notes += say_other_scores(
            names,
            lambda wanted: read_nested(path, wanted),
            {} if are_outcomes else answers,
            None if truth is None else (gold, truth),
            path=path,
            is_alone=len(columns) == 1 and fields.predicted is None,
            nested=list_nested(path),
            versions={column: version for version, column in columns.items()},
            chosen={name for name in chosen if name is not None},
        )
        by_number = find_number_names(
            names,
            lambda wanted: read_kinds(path, wanted, MOST_KINDS),
            {gold: table[gold]} if has_gold else {},
            {} if are_outcomes else answers,
            path=path,
            is_alone=len(columns) == 1,
        )
        others, said = (
            ([], ())
            if are_outcomes
            else _say_other_answers(path, names, table, columns, taken={gold, *keep}, fields=fields)
        )
        notes += said
        notes += say_unread(
            path,
            few,
            (gold, table[gold]) if has_gold else None,
            answers,
            taken={
                *table.column_names,
                gold,
                *_ABOUT,
                EDITS,
                *others,
                *originals,
                *_list_told(path, names, gold, marks),
            },
            chosen=chosen,
            changed=changed,
            are_outcomes=are_outcomes and fields.threshold is None,
        )
        return [
            Log(
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
                said_version=about.get("version") if len(columns) == 1 else None,
                sides=list_sides(few, path) if len(columns) == 1 else {},
                model=about.get("model", about.get("model_name")) if len(columns) == 1 else None,
                settings=settings[column],
                inputs=inputs if len(columns) == 1 else None,
                input_columns=texts,
                named=() if place else by_number,
                changed=changed,
                columns={**labels, **{name: table[name].combine_chunks() for name in keep}},
                ids={name: ids[name] for name in ids if name != fields.item},
                originals=originals,
                original_texts=original_texts,
                own_gold=own,
                own_gold_column=own_column,
                gold_column=gold,
                predicted_column=column,
                notes=() if place else notes,
            )
            for place, (version, column) in enumerate(columns.items())
        ]


def _list_kept(names: Sequence[str], fields: Fields, *, taken: Collection[str | None]) -> list[str]:
    """Return the columns to keep: of several tables one may have what is asked for."""
    kept = [name for name in fields.keep if fields.is_alone or _is_there(name, names)]
    has_clusters = names.count(CLUSTER) == 1 and CLUSTER not in {*kept, *taken}
    return [*kept, CLUSTER] if has_clusters else kept


def _read_labels(
    path: Path, names: Sequence[str], columns: Mapping[str, str], fields: Fields
) -> dict[str, pa.Array]:
    """Return the gold labels beside outcomes, by the name that statistics have for them."""
    found = read_gold_beside(path, names, {fields.item, *columns.values()}, fields.gold)
    return {} if found is None else {LABEL: found[1]}


def _list_told(
    path: Path, names: Sequence[str], gold: str, marks: Mapping[str, tuple[str | None, Any]]
) -> list[str]:
    """Return the columns of right answers and marks, which are compared by their names."""
    beside = [*list_beside(names, gold), *find_marks(lambda own: read_some(path, own), names)]
    return [*beside, *(name for name, _ in marks.values() if name is not None)]


def _read_originals(
    path: Path, names: Sequence[str], table: pa.Table, texts: Sequence[str]
) -> tuple[dict[str, pa.ChunkedArray], dict[str, tuple[str, pa.Array]]]:
    """Read the answers to the originals, and their texts, that a table of one version repeats."""
    of_answers, of_texts = find_of_originals(names, table.column_names, texts)
    found = read_some(path, [*of_answers, *of_texts.values()])
    answers = {name: pa.chunked_array([found[name]]) for name in of_answers if name in found}
    return answers, {
        text: (own, as_texts(found[own], path=path, name=own))
        for text, own in of_texts.items()
        if own in found
    }


def _say_other_answers(
    path: Path,
    names: Sequence[str],
    table: pa.Table,
    columns: Mapping[str, str],
    *,
    taken: Collection[str],
    fields: Fields,
) -> tuple[list[str], tuple[str, ...]]:
    """Compare answers with those of other columns, unless somebody has chosen the one that counts.

    Of several versions, a column has the name of the version before or behind. Returns the names
    of those columns, and what there is to say.
    """
    notes: tuple[str, ...] = ()
    others: list[str] = []
    chosen = {fields.predicted, *fields.answer_columns}
    for column in (each for each in columns.values() if each not in chosen):
        usual: tuple[str, ...] = PREDICTIONS
        if len(columns) > 1:
            usual = tuple(name_with(PREDICTIONS, [column]))
        beside = [
            name
            for name in find_named(names, (*usual, *name_twins(column, names)))
            if name not in {*columns.values(), *taken, fields.item}
        ]
        notes += say_other_answers(read_some(path, beside), table[column], column, path=path)
        others += beside
    return others, notes


def _read_about(
    path: Path, names: Sequence[str], taken: Collection[str | None]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return what columns say of all rows of a table alike: its version, and its model.

    Where they say several things, the rows of several classifiers would count as those of one.
    """
    about = {column: name for name in _ABOUT for column in find_named(names, [name])}
    wanted = [name for name in find_named(names, (*_ABOUT, *SIDES)) if name not in taken]
    found: dict[str, str] = {}
    notes: list[str] = []
    for column, values in read_some(path, wanted).items():
        kinds = list_kinds(values, path)
        side = read_side(column, values)
        name = about.get(column, _ABOUT[0])
        if len(kinds) == 1 and (side is not None or column in about):
            own = kinds[0] if side is None else VERSIONS[0] if side else "a reworded one"
            found.setdefault(name, own)
        elif kinds and (side is not None or column in about):
            what = "model" if name in _ABOUT[1:] else "version"
            notes.append(
                f"Warning: {path}, column '{column}': there are rows of "
                f"{say_count(len(kinds), what)} ({show_names(kinds)}), and all count as those "
                "of one; give each a file of its own, or write a row for each item and version."
            )
    return found, tuple(notes)


def _say_runs(
    path: Path, names: Sequence[str], answers: Sequence[pa.ChunkedArray]
) -> tuple[str, ...]:
    """Say that rows are of several runs on the same items, where no text or id would tell.

    Runs, and what names models, are known by their names. Other columns part the rows into blocks
    with the same labels and the same answers to the originals.
    """
    values = read_kinds(path, [name for name in names if names.count(name) == 1], MOST_KINDS)
    known = {*find_named([*values], (*_RUNS, *OF_TABLES))}
    return tuple(
        f"Warning: {path}, column '{name}': there are {say_count(len(blocks), name)} of "
        f"{say_count(len(blocks[0]), 'row')} each, and every row counts as another text; give one "
        "of them, or write a row for each item, version and model."
        for name, column in values.items()
        if (blocks := _list_blocks(column))
        and all(_are_repeated(own, blocks) for own in answers if name not in known)
    )


def _list_blocks(column: pa.Array) -> list[NDArray[np.int64]]:
    """Return the rows of each value of a column, if there are several of as many rows."""
    codes = pc.fill_null(column.dictionary_encode().indices, -1).to_numpy()
    rows = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    sizes = {len(each) for each in rows}
    return rows if len(rows) > 1 and len(sizes) == 1 and sizes != {1} else []


def _are_repeated(answers: pa.ChunkedArray, blocks: Sequence[NDArray[np.int64]]) -> bool:
    """Whether all blocks of rows have the same answers, more than one of them, in one order."""
    own = answers.combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
    first, *others = (own[rows] for rows in blocks)
    is_one = all(np.array_equal(first, each) for each in others)
    return bool(is_one and len(np.unique(first)) > 1 and len(first) >= _LEAST_BLOCK)


def _is_there(name: str, names: Sequence[str]) -> bool:
    return name in names or name.partition(".")[0] in names


def _check_version(names: Sequence[str], fields: Fields, path: Path) -> None:
    """Refuse a long table in which nothing tells the versions apart."""
    is_wide = VERSIONS[0] in names or _OUTCOMES[0] in names or fields.answer_columns
    if not fields.is_alone or is_wide or fields.correct_columns or "version" in names:
        return
    if "item" in names and ("predicted" in names or "correct" in names):
        raise InputError(
            "there is no such column; a table with a row for each item and version has one, which "
            "says original or how a text was reworded",
            path=path,
            column="version",
        )


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
        and not set(VERSIONS) <= set(names)
    )
    given = fields.correct_columns or fields.answer_columns or (None, None)
    defaults = _OUTCOMES if are_outcomes else VERSIONS
    columns = [name or (defaults[place] if place < 2 else "") for place, name in enumerate(given)]
    for name in columns:
        if columns.count(name) > 1:
            raise InputError(
                "the answers to two versions come from one column; two are expected",
                path=path,
                column=name,
            )
    versions = list(VERSIONS) if len(columns) == 2 else [VERSIONS[0], *columns[1:]]
    return dict(zip(versions, columns, strict=True)), are_outcomes


def _read_with_texts(
    path: Path, wanted: Sequence[str], names: Sequence[str]
) -> tuple[pa.Table, tuple[str, ...], tuple[str, ...]]:
    """Read columns, and those of texts and of what is reworded, if there are some.

    Nobody has asked for texts, so one that cannot be read is no mistake, but it is told.
    """
    texts = find_texts(names)
    wanted = [*wanted, *([CHANGED] if names.count(CHANGED) == 1 else [])]
    if not texts:
        return read_values(path, wanted), (), ()
    try:
        return read_values(path, [*wanted, *texts]), texts, ()
    except InputError as error:
        table = read_values(path, wanted)
        return table, (), (f"Warning: the texts are not read: {error}.",)


def _join_texts(table: pa.Table, names: Sequence[str], path: Path) -> pa.Array | None:
    """Return all texts of each row in one."""
    if not names:
        return None
    columns = [
        as_texts(table[name], path=path, name=name).cast(pa.large_string()) for name in names
    ]
    return pc.binary_join_element_wise(
        *columns, pa.scalar(JOINT, pa.large_string()), null_handling="replace"
    )


def is_long(names: Sequence[str]) -> bool:
    """Whether a table has one row for each item and version, by its columns."""
    return set(_LONG) <= set(names) and ("correct" in names or {"gold", "predicted"} <= set(names))


def holds_versions(path: str | Path) -> bool:
    """Whether a table has one row for each item and version."""
    return is_long(list_columns(path))


def _read_long(path: Path, names: Sequence[str], fields: Fields, *, by_outcomes: bool) -> list[Log]:
    """Read a table with a row for each item and version, also of several classifiers.

    By outcomes alone, if these are named, or a threshold makes them of scores.
    """
    from ietest_fast.answers.file import refuse_lost
    from ietest_fast.answers.table import Predictions

    form = find_format(path)
    if form.kind != "parquet":
        refuse_lost(names, path)
    is_own = False
    lost: tuple[str, ...] = ()
    if by_outcomes or fields.threshold is not None:
        table, lost = read_scores(path, names, fields.threshold)
        whole = Predictions.from_table(table, source=str(path))
    elif form.kind == "parquet":
        whole = Predictions.read(path)
        with open_parquet(path) as file:
            is_own = KEY in (file.schema_arrow.metadata or {})
    else:
        plain = [name for name in names if name != "probabilities" or form.kind != "jsonl"]
        table, lost = read_with_others(path, *_part_known(plain))
        if len(plain) < len(names):
            table = table.append_column("probabilities", _read_lists(path, form, "probabilities"))
        whole = Predictions.from_table(table, source=str(path))
    found = list_versions(whole, path, is_own=is_own)
    if fields.threshold is not None:
        scores = read_values(path, ["correct"])["correct"]
        found = [
            replace(log, scores=find_range(scores.filter(_are_of(log, whole)))) for log in found
        ]
    others = () if is_own else say_beside(whole, path)
    if whole.repeats is not None:
        others += (
            f"{path}: the answers to an item are drawn together, as by --clusters {whole.repeats}.",
        )
    by_number = () if is_own else find_long_names(whole, path)
    found[0] = replace(found[0], named=by_number, notes=(*found[0].notes, *lost, *others))
    return found


def _part_known(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part the columns that every long table may have from others."""
    known = [name for name in names if name == "item" or name in TYPES]
    return known, [name for name in names if name not in known]


def _are_of(log: Log, whole: Predictions) -> pa.Array:
    """Say which rows of a long table are those of one version of one classifier."""
    rows = pc.equal(as_texts(whole.table["version"], path=log.path), log.version)
    if log.model is None:
        return rows
    return pc.and_(rows, pc.equal(as_texts(whole.table["model"], path=log.path), log.model))


def list_versions(whole: Predictions, path: Path, *, is_own: bool) -> list[Log]:
    """Return the answers of a long table by classifier and version.

    Those of an own file may have been made from other columns than the texts that are kept.
    """
    found = []
    for group in whole.groups:
        part = whole.select(**group) if group else whole
        said = tuple(say_unlikely(part.table, part.label_names, path))
        for version in part.versions:
            rows = part.select(version=version).table
            is_first = version == part.versions[0]
            changed, notes = (None, ()) if is_first else read_changed(rows, path, version=version)
            if CHANGED in rows.column_names and rows[CHANGED].null_count == len(rows):
                notes = ()  # it is known of other versions
            answers = _answers_of(rows, whole, group, version, path)
            if is_own:
                answers = replace(answers, inputs=None, input_columns=())
            found.append(replace(answers, changed=changed, notes=(*notes, *said)))
            said = ()
    return found


def read_scores(
    path: Path, names: Sequence[str], threshold: float | None
) -> tuple[pa.Table, tuple[str, ...]]:
    """Read a long table without its labels: outcomes, or scores of which a threshold makes some.

    Also says which columns cannot be read.
    """
    if "correct" not in names:
        raise InputError(
            "a threshold (--threshold) is for scores, and this table has answers and right "
            "answers, and no column correct",
            path=path,
        )
    kept = [name for name in names if name not in {"gold", "predicted", "probabilities"}]
    table, lost = read_with_others(path, *_part_known(kept))
    scores = as_outcomes(table["correct"], path=path, name="correct", threshold=threshold)
    return table.set_column(table.column_names.index("correct"), "correct", scores), lost


def _read_lists(path: Path, form: Format, name: str) -> pa.Array:
    """Read lists of numbers from JSON lines."""
    found = [record.get(name) for _, record in json_records(path, form)]
    row = next((row for row, value in enumerate(found) if isinstance(value, dict)), None)
    if row is not None:
        raise InputError(
            f"{show_value(found[row])} is an object; write a list of numbers in the order of the "
            "labels, or call the column probs, which is held against the answers",
            path=path,
            row=f"row {row}",
            column=name,
        )
    try:
        return pa.array(found, pa.list_(pa.float32()))
    except (pa.ArrowException, TypeError) as error:
        raise InputError(
            f"a value is no list of numbers: {shorten_error(error)}", path=path, column=name
        ) from error


def _answers_of(rows: pa.Table, whole: Any, group: dict[str, Any], version: str, path: Path) -> Log:

    texts = find_texts(whole.extra_columns)

    def plain(name: str) -> Any:
        if name not in rows.column_names:
            return None
        return pa.chunked_array([as_texts(rows[name], path=path, name=name)])

    return Log(
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
        settings=name_settings(
            {name: rows[column] for name, column in find_long_settings(whole).items()}, path
        ),
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
