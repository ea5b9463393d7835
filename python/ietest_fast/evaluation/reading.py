"""Predictions from logs: which versions and classifiers they are of, row matched with row."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ietest_fast.corpus.columns import usual_label_column
from ietest_fast.errors import InputError
from ietest_fast.evaluation.answer_labels import Unparsed, check_names
from ietest_fast.evaluation.assembly import assemble
from ietest_fast.evaluation.log_alignment import (
    Epochs,
    align,
    align_pair,
    check_gold,
    check_repeats,
    keep_common,
    name_order,
    prepare,
    say_other_ids,
    say_other_labels,
    with_own_gold,
)
from ietest_fast.evaluation.log_folders import find_logs
from ietest_fast.evaluation.log_roles import LogsAre, name_parts, say_other_settings
from ietest_fast.evaluation.log_texts import say_contradictions, say_other_texts, say_wrong_targets
from ietest_fast.evaluation.logic.run_file import refuse_logic
from ietest_fast.evaluation.readers import Answers, Fields, find_reader, read_log
from ietest_fast.evaluation.readers.facts_beside import say_named_otherwise

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ietest_fast.evaluation.predictions import Predictions


# Formats of this package whose answers were not filtered; a package that adds one may have filters.
_WITHOUT_FILTERS = frozenset({"table", "inspect", "helm"})

_PERCENT = 100.0

NOT_IN_ALL = "not in all logs"
"""Why an item is left out where only common ones are compared."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadLogs:
    """What logs say."""

    predictions: Predictions
    """The long table."""
    notes: tuple[str, ...]
    """Sentences about what was decided while reading: which log is which version or classifier,
    which metric was taken, how many answers could not be parsed."""


def read_predictions(*paths: str | Path, **options: Any) -> Predictions:
    """Read predictions from logs and tables.

    Parameters
    ----------
    *paths
        One file with all versions, or one for each version or classifier, the original first.
    **options
        As for :func:`read_logs`.

    Returns
    -------
    Predictions

    Raises
    ------
    InputError
        As for :func:`read_logs`.
    """
    if not paths:
        raise InputError("read_predictions needs a file, or several")
    for path in paths:
        if not isinstance(path, str | Path):
            raise InputError(
                f"read_predictions reads files, and this is of type {type(path).__name__}: write a "
                "table to a CSV or Parquet file first, or give it to ie.consistency or "
                "ie.paired_test"
            )
    return read_logs(paths, **options).predictions


def read_logs(
    paths: Sequence[str | Path],
    *,
    tasks: Sequence[str] = (),
    reader: str | None = None,
    logs_are: LogsAre | None = None,
    gold_path: str | Path | None = None,
    gold_column: str | None = None,
    columns: Sequence[str | None] | None = None,
    correct_columns: Sequence[str | None] | None = None,
    id_column: str | None = None,
    filter: str | None = None,  # noqa: A002 - its name in lm-evaluation-harness
    threshold: float | None = None,
    epochs: Epochs = "all",
    common_items: bool = False,
    keep_columns: Sequence[str] = (),
    label_names: Sequence[str] | None = None,
    unparsed: Unparsed | None = None,
) -> ReadLogs:
    """Read predictions from logs, and say what was decided on the way."""
    for name, value, known in (
        ("logs_are", logs_are, (None, *get_args(LogsAre))),
        ("epochs", epochs, get_args(Epochs)),
        ("unparsed", unparsed, (None, *get_args(Unparsed))),
    ):
        if value not in known:
            names = ", ".join("None" if each is None else each for each in known)
            raise InputError(f"{name} must be one of {names}, not {value!r}")
    paths = find_logs(paths, tasks, reader=reader)
    for path in paths:
        refuse_logic(path)
    if label_names is not None:
        check_names(label_names)
    fields = Fields(
        item=id_column,
        gold=gold_column,
        filter=filter,
        threshold=threshold,
        keep=tuple(keep_columns),
        is_alone=len(paths) == 1,
    )
    own = [_of_log(fields, n, len(paths), columns, correct_columns) for n in range(len(paths))]

    def read_one(place: int, filter: str | None) -> Sequence[Answers]:  # noqa: A002
        return read_log(paths[place], replace(own[place], filter=filter), reader=reader)

    by_path = [read_one(place, filter) for place in range(len(paths))]
    common, filters = _choose_filter([log for logs in by_path for log in logs], filter)
    for place, found in enumerate(by_path):
        if any(log.filters and log.filters[0] != common for log in found):
            by_path[place] = read_one(place, common)
    logs = [log for found in by_path for log in found]
    _check_effects(
        paths, logs, reader=reader, filter=filter, logs_are=logs_are, common_items=common_items
    )
    judges = _check_judges(logs)
    if threshold is not None:
        _check_scores(logs)
        judges += say_threshold([log.correct for log in logs if log.correct is not None], threshold)
        judges += _say_units(logs, threshold)
    if threshold is None:  # a score may be too low for an answer that is the target
        judges += say_wrong_targets(logs)
    for path, column in dict.fromkeys((log.path, log.gold_column) for log in logs):
        judges += say_named_otherwise(path, column, label_names or ())
    logs, prepared = prepare(logs, epochs=epochs, threshold=threshold)
    if gold_path is not None:
        logs = _with_gold(logs, Path(gold_path), gold_column, id_column)
    parts, roles = name_parts(logs, logs_are=logs_are)
    n_left_out = 0
    if common_items:
        parts, n_left_out = keep_common(parts)
    ordered = [note for part in parts[1:] for note in say_other_ids(parts[0].log, part.log)]
    parts = align(parts, has_ids=id_column is not None)
    repeated = [*check_repeats(parts), *say_other_labels(parts)]
    _check_kept(logs, keep_columns)
    predictions, notes = assemble(
        parts,
        label_names=None if label_names is None else tuple(label_names),
        unparsed=unparsed,
    )
    if n_left_out:
        predictions = replace(predictions, dropped=predictions.dropped | {NOT_IN_ALL: n_left_out})
    return ReadLogs(
        predictions=predictions,
        notes=(
            *filters,
            *(note for log in logs for note in log.notes),
            *prepared,
            *roles,
            *say_other_settings(logs),
            *judges,
            *repeated,
            *ordered,
            *say_contradictions(parts),
            *say_other_texts(parts),
            *notes,
        ),
    )


def _check_kept(logs: Sequence[Answers], names: Sequence[str]) -> None:
    """Stop if no log has a column that is to be kept; of several, one is enough."""
    for name in names:
        if not any(name in log.columns for log in logs):
            raise InputError("there is no such column", path=logs[0].path, column=name)


def _check_effects(
    paths: Sequence[Path],
    logs: Sequence[Answers],
    *,
    reader: str | None,
    filter: str | None,  # noqa: A002
    logs_are: LogsAre | None,
    common_items: bool,
) -> None:
    """Refuse what says nothing of these logs and would be ignored."""
    if filter is None and logs_are is None and not common_items:
        return
    kinds = {reader or find_reader(path)[0] for path in paths}
    if filter is not None and kinds <= _WITHOUT_FILTERS:
        raise InputError(
            f"has no filters, so --filter {filter} has no effect: it is for logs of "
            "lm-evaluation-harness; leave it out",
            path=paths[0],
        )
    if logs_are is not None and len(paths) == 1:
        raise InputError(
            f"is one log, so --logs-are {logs_are} has no effect: it says what several are; leave "
            "it out, or give the other logs, too",
            path=paths[0],
        )
    if not common_items:
        return
    from ietest_fast.evaluation.readers.tables import holds_versions

    if len(paths) == 1 and kinds == {"table"} and not holds_versions(paths[0]):
        raise InputError(
            "has all versions of an item in one row, so --common-items has no effect: it is for "
            "logs that lack items of others; leave it out",
            path=paths[0],
        )
    if all(log.items is None for log in logs):
        raise InputError(
            "does not name its items, and rows are matched by their order, so --common-items has "
            "no effect; name a column of ids with --id-column",
            path=paths[0],
        )


def _check_scores(logs: Sequence[Answers]) -> None:
    """Refuse a threshold for logs that have labels, not scores."""
    for log in logs:
        if log.correct is None:
            raise InputError(
                "a threshold (--threshold) is for scores, and this log has answers and right "
                "answers; --correct-columns names a column of scores",
                path=log.path,
            )


def say_threshold(columns: Sequence[pa.Array | pa.ChunkedArray], threshold: float) -> list[str]:
    """Say that a threshold tells no answers apart, which a slip such as 50 for 0.5 does."""
    known = {outcome for each in columns for outcome in each.unique().to_pylist()} - {None}
    if len(known) != 1:
        return []
    which, what = (
        ("every score reaches", "right") if known == {True} else ("no score reaches", "wrong")
    )
    return [f"Warning: {which} the threshold {threshold:g}, so all answers count as {what}."]


def _say_units(logs: Sequence[Answers], threshold: float) -> list[str]:
    """Say that one threshold serves shares and what seem to be percentages."""
    known = [(log, *log.scores) for log in logs if log.scores is not None and log.scores[0] >= 0]
    shares = [log for log, _, most in known if 0 < most <= 1]
    others = [(log, most) for log, _, most in known if 1 < most <= _PERCENT]
    if not shares or not others:
        return []
    one, two = (
        str(log.path) if log.version is None else f"{log.version} in {log.path}"
        for log in (shares[0], others[0][0])
    )
    said = (
        f"Warning: the scores of {one} are between 0 and 1, those of {two} go up to "
        f"{others[0][1]:g}, and one threshold, {threshold:g}, serves both; write both in one unit."
    )
    return [said]


def _choose_filter(logs: Sequence[Answers], wanted: str | None) -> tuple[str | None, list[str]]:
    """Return the first filter that all logs have, and what there is to say about the choice."""
    filtered = [log for log in logs if log.filters]
    if not filtered or wanted is not None:
        return wanted, []
    common = filtered[0].filters
    for log in filtered[1:]:
        both = tuple(name for name in common if name in log.filters)
        if not both:
            raise InputError(
                f"has answers of the filter {_show_names(log.filters)}, and {filtered[0].path} of "
                f"{_show_names(common)}; only answers of one filter are compared, so give all "
                "tasks the same",
                path=log.path,
            )
        common = both
    if all(len(log.filters) == 1 for log in filtered):
        return common[0], []
    others = f"; --filter chooses another ({', '.join(common[1:])})" if common[1:] else ""
    why = others or ", the only one that all logs have"
    return common[0], [f"The answers of the filter {common[0]!r} are compared{why}."]


def _show_names(names: Sequence[str]) -> str:
    return " and ".join(map(repr, names))


def _check_judges(logs: Sequence[Answers]) -> list[str]:
    """Stop if readers have chosen different judges for logs that could have the same; else say so.

    Each takes the first that says right or wrong, which may be another in another log.
    """
    judged = [log for log in logs if log.judged_by]
    others: list[str] = []
    for log in judged[1:]:
        first = judged[0]
        if log.judged_by[0] == first.judged_by[0]:
            continue
        common = [name for name in first.judged_by[1:] if name in log.judged_by[1:]]
        if common:
            raise InputError(
                f"is right or wrong by {log.judged_by[0]!r}, and {first.path} by "
                f"{first.judged_by[0]!r}; --correct-columns {common[0]} takes the same for both",
                path=log.path,
            )
        others.append(
            f"Warning: {log.path} is right or wrong by {log.judged_by[0]!r}, and {first.path} by "
            f"{first.judged_by[0]!r}, and they have no judge in common: a difference may be one "
            "between the judges."
        )
    return others


def _of_log(
    fields: Fields,
    place: int,
    n_paths: int,
    columns: Sequence[str | None] | None,
    correct: Sequence[str | None] | None,
) -> Fields:
    """Return what the user has named in one of the logs."""
    if n_paths == 1:
        return replace(
            fields,
            answer_columns=tuple(columns or ()),
            correct_columns=tuple(correct or ()),
            predicted=columns[0] if columns is not None and len(columns) == 1 else None,
            correct=correct[0] if correct is not None and len(correct) == 1 else None,
        )
    for names in (columns, correct):
        if names is not None and len(names) not in {1, n_paths}:
            raise InputError(
                f"{len(names)} columns are named for {n_paths} logs; name one for all, or one for "
                "each"
            )

    def pick(names: Sequence[str | None] | None) -> str | None:
        return None if names is None else names[0] if len(names) == 1 else names[place]

    return replace(fields, predicted=pick(columns), correct=pick(correct))


def _with_gold(
    logs: Sequence[Answers], path: Path, column: str | None, id_column: str | None
) -> list[Answers]:
    """Return the logs with the gold labels of a table."""
    from ietest_fast.evaluation.readers.facts_beside import list_beside, say_other_facts
    from ietest_fast.evaluation.readers.table_columns import list_columns, read_values

    there = list_columns(path)
    if column is None:
        column = usual_label_column(path, there, how="gold_column, --gold-column") or "label"
    table = read_values(path, [column] if id_column is None else [column, id_column])
    ids = {}
    for name in there:
        if name not in {id_column, column} and there.count(name) == 1:
            with contextlib.suppress(InputError):  # nobody has asked for it; it may name the rows
                ids[name] = read_values(path, [name])[name].combine_chunks()
    gold = Answers(
        path=path,
        name=path.stem,
        items=None if id_column is None else table[id_column].combine_chunks(),
        gold=table[column],
        ids=ids,
        gold_column=column,
    )
    beside = {name: ids[name] for name in list_beside(there, column) if name in ids}
    notes = say_other_facts(beside, table[column], column, {}, path=path)
    found: list[Answers] = []
    for log in logs:
        own = replace(log, ids=name_order(log, gold) | dict(log.ids))
        _, aligned = align_pair(own, gold, has_ids=id_column is not None)
        check_gold(with_own_gold(log), aligned)
        found.append(
            replace(
                log,
                gold=aligned.gold,
                own_gold=with_own_gold(log).gold,
                own_gold_column=with_own_gold(log).gold_column,
                right=None,
                gold_column=column,
                gold_path=path,
                notes=(*log.notes, *(() if found else notes), *say_other_ids(own, gold)),
            )
        )
    return found
