"""Logs of answers to the wordings of items: the project's tables, and ParaNLU's results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.consistency.buckets import find_mixed
from ietest_fast.analyses.consistency.file import (
    ConsistencyAnswers,
    ConsistencyNotes,
)
from ietest_fast.analyses.consistency.paranlu import paranlu_kind, read_paranlu
from ietest_fast.analyses.consistency.profile import name_group
from ietest_fast.answers.file import name_models, plain_name, read_notes, refuse_logic
from ietest_fast.answers.labels import say_known_numbers, with_known_answers
from ietest_fast.answers.schema import is_predictions, say_unlikely
from ietest_fast.answers.table import ORIGINAL, Predictions
from ietest_fast.answers.versions import number_names
from ietest_fast.corpus.columns import find_text_columns
from ietest_fast.corpus.formats import check_readable
from ietest_fast.errors import InputError
from ietest_fast.plurals import say_count

if TYPE_CHECKING:
    from collections.abc import Sequence


def read_wordings(
    path: str | Path, *, threshold: float | None = None, by_outcomes: bool = False
) -> ConsistencyAnswers | None:
    """Read a log of answers to wordings, if it is a long table or of ParaNLU."""
    from ietest_fast.corpus.streams import open_batches

    path = Path(path)
    check_readable(path)
    refuse_logic(path)
    is_scored = by_outcomes or threshold is not None
    kind = paranlu_kind(path)
    notes = None if kind is not None else read_notes(path, ConsistencyNotes)
    if is_scored and (kind is not None or notes is not None):
        raise InputError(
            "says itself which answers are right; leave out --threshold and --correct-columns, "
            "which are for tables of scores",
            path=path,
        )
    if kind is not None:
        return ConsistencyAnswers(predictions=read_paranlu(path), notes=ConsistencyNotes())
    if notes is not None:
        own = Predictions.read(path)
        return ConsistencyAnswers(predictions=own, notes=_warned(notes, own))
    try:
        with open_batches(path) as batches:
            is_long = is_predictions(batches.schema)
    except InputError:
        return None  # a log of another program; its reader says what is wrong
    if not is_long:
        return None
    if is_scored:
        return _read_scored(path, threshold)
    if path.suffix == ".parquet":
        found = Predictions.read(path)
    else:
        with open_batches(path) as batches:
            table = pa.Table.from_batches(list(batches), schema=batches.schema)
        found = Predictions.from_table(table, source=str(path))
    return as_answers(found)


def _read_scored(path: Path, threshold: float | None) -> ConsistencyAnswers:
    """Read a long table by its column of outcomes or scores, as ``eval`` does."""
    from ietest_fast.answers.logs import say_threshold
    from ietest_fast.answers.readers.table_columns import list_columns
    from ietest_fast.answers.readers.tables import read_scores

    table, lost = read_scores(path, list_columns(path), threshold)
    known = as_answers(Predictions.from_table(table, source=str(path)))
    said = [*lost]
    said += [] if threshold is None else say_threshold([table["correct"]], threshold)
    return replace(known, notes=replace(known.notes, warnings=(*known.notes.warnings, *said)))


def need_wordings(path: str | Path) -> ConsistencyAnswers:
    """Read a log of answers to wordings, as :func:`read_wordings` does; refuse any other file."""
    found = read_wordings(path)
    if found is None:
        raise InputError(
            "holds no answers to wordings: a table with a row for each item and version, such as "
            "ietest-fast consistency --out writes, or ParaNLU's predictions expected",
            path=path,
        )
    return found


def as_answers(predictions: Predictions) -> ConsistencyAnswers:
    """Return predictions of which no more is known as answers to wordings."""
    from ietest_fast.answers.readers.facts_beside import say_beside

    said = say_beside(predictions, Path(predictions.source))
    known = with_known_answers(predictions)
    said += _say_settings(predictions)
    said += (*say_known_numbers(predictions), *_note_missing(known), *_say_no_original(known))
    notes = ConsistencyNotes(warnings=said)
    return ConsistencyAnswers(predictions=known, notes=_warned(notes, known))


def _say_settings(predictions: Predictions) -> tuple[str, ...]:
    """Say in what the answers of one classifier to several versions came about otherwise."""
    from ietest_fast.answers.logs import say_other_settings
    from ietest_fast.answers.readers.facts_of_tables import find_long_settings
    from ietest_fast.answers.readers.tables import list_versions
    from ietest_fast.answers.texts import Part

    if not find_long_settings(predictions):
        return ()
    logs = list_versions(predictions, Path(predictions.source), is_own=False)
    parts = [Part(log=log, version=str(log.version), model=log.model) for log in logs]
    return tuple(say_other_settings(parts))


def _say_no_original(predictions: Predictions) -> tuple[str, ...]:
    """Say that no version has the name of the one that others reword."""
    if ORIGINAL in predictions.versions:
        return ()
    shown = ", ".join(predictions.versions[:3]) + (", ..." if len(predictions.versions) > 3 else "")
    note = (
        f"{predictions.source}: no version is called {ORIGINAL}, so all are paraphrases ({shown}); "
        "if one is the original, call it so."
    )
    return (note,)


def _warned(notes: ConsistencyNotes, predictions: Predictions) -> ConsistencyNotes:
    """Add what there is to say about probabilities beside answers, once."""
    names, said = predictions.label_names, dict.fromkeys(notes.warnings)
    for group in predictions.groups:
        own = predictions.select(**group) if group else predictions
        said |= dict.fromkeys(say_unlikely(own.table, names, predictions.source))
    return replace(notes, warnings=tuple(said))


def holds_paraphrases(path: Path) -> bool:
    """Whether a file holds paraphrases of items, without the answers of a model to them."""
    from ietest_fast.corpus.streams import open_batches

    if not path.is_file():
        return False
    if paranlu_kind(path) == "paraphrases":
        return True
    try:
        with open_batches(path) as batches:
            names = batches.schema.names
        find_text_columns(path, names)
    except InputError:
        return False
    return "item" in names and not {"predicted", "correct", "probabilities"}.intersection(names)


def _note_missing(predictions: Predictions) -> tuple[str, ...]:
    """Say how many answers are missing."""
    if "predicted" not in predictions.columns:
        return ()
    n = predictions.table["predicted"].null_count
    if not n:
        return ()
    missing = say_count(n, "answer is missing and counts", "answers are missing and count")
    return (f"{missing} as wrong.",)


def name_answers(
    answers: Sequence[ConsistencyAnswers], paths: Sequence[Path]
) -> tuple[ConsistencyAnswers, ...]:
    """Return answers of several files, each of another model, called as its file where it has
    none.
    """
    check_number_names(answers, paths)
    named = name_models([each.predictions for each in answers], paths)
    curves = number_names(map(plain_name, paths)) if len(paths) > 1 else [""]
    found = []
    for each, predictions, curve in zip(answers, named, curves, strict=True):
        before = map(name_group, each.predictions.groups)
        after = map(name_group, predictions.groups)
        notes = each.notes.renamed(dict(zip(before, after, strict=True)), curve=curve)
        found.append(ConsistencyAnswers(predictions=predictions, notes=notes))
    return tuple(found)


def check_number_names(answers: Sequence[ConsistencyAnswers], paths: Sequence[Path]) -> None:
    """Refuse files in which columns beside the labels give the same numbers other names."""
    from ietest_fast.answers.readers.facts_beside import find_long_names
    from ietest_fast.answers.readers.label_columns import check_named

    both = zip(answers, paths, strict=True)
    check_named([each for own, path in both for each in find_long_names(own.predictions, path)])


def join_answers(answers: Sequence[ConsistencyAnswers]) -> ConsistencyAnswers:
    """Put answers of several models into one table."""
    if len(answers) == 1:
        return answers[0]
    labels = {each.predictions.label_names for each in answers}
    if len(labels) > 1:
        raise InputError(
            "the models answer with different labels, so one table cannot hold them: write a file "
            "for each",
            path=answers[-1].predictions.source,
        )
    all_notes = [each.notes for each in answers]
    first = all_notes[0]
    return ConsistencyAnswers(
        predictions=Predictions.concat([each.predictions for each in answers]),
        notes=replace(
            first,
            strata={name: counts for notes in all_notes for name, counts in notes.strata.items()},
            n_empty={name: n for notes in all_notes for name, n in notes.n_empty.items()},
            n_mixed={name: n for notes in all_notes for name, n in notes.n_mixed.items()},
            n_wanted={name: n for notes in all_notes for name, n in notes.n_wanted.items()},
            warnings=tuple(dict.fromkeys(line for notes in all_notes for line in notes.warnings)),
            curves=tuple(own for notes in all_notes for own in notes.curves),
        ),
    )


def without_mixed(answers: ConsistencyAnswers) -> ConsistencyAnswers:
    """Leave out items whose wordings have different gold labels, and count them."""
    predictions = answers.predictions
    if "gold" not in predictions.columns:
        return answers
    parts, n_mixed = [], dict(answers.notes.n_mixed)
    for group in predictions.groups:
        own = predictions.select(**group) if group else predictions
        table = own.table
        gold = pa.chunked_array([pc.cast(table["gold"].combine_chunks(), pa.string())])
        mixed = find_mixed(table["item"], gold)
        n = len(pc.unique(table["item"].filter(pa.array(mixed))))
        if mixed.all():
            raise InputError(
                "the wordings of every item have different gold labels",
                path=predictions.source,
                column="gold",
            )
        n_mixed[name_group(group)] = n_mixed.get(name_group(group), 0) + n
        parts.append(own.keep(~mixed))
    return ConsistencyAnswers(
        predictions=parts[0] if len(parts) == 1 else Predictions.concat(parts),
        notes=replace(answers.notes, n_mixed=n_mixed),
    )
