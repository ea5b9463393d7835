"""Stress tests of a finished classifier: one table of answers, measured test by test."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.compare.profile import compare_versions, try_options
from ietest_fast.analyses.stress.origins import (
    RULE,
    WORD_CLASS,
    WORD_PAIR,
    StressOrigin,
    read_words,
)
from ietest_fast.analyses.stress.profile import (
    TIMES_IN_TRAINING,
    StressProfile,
    StressResult,
    check_training,
    compare_pairs,
    note_training,
    read_times,
)
from ietest_fast.analyses.stress.suite import StressOptions, make_suite, write_texts
from ietest_fast.answers.asking import evaluate, say_unparsed
from ietest_fast.answers.file import NotedAnswers, Notes, read_answers, write_answers
from ietest_fast.answers.readers.tables import list_versions
from ietest_fast.answers.schema import CHANGED
from ietest_fast.answers.shared import find_answered_texts
from ietest_fast.answers.table import ORIGINAL, Predictions, are_numbers
from ietest_fast.errors import InputError
from ietest_fast.models.label_map import match_labels
from ietest_fast.numerals import say_count
from ietest_fast.stats.informedness import Share
from ietest_fast.values import (
    as_texts,
    find_missing,
    find_outcomes,
    name_groups,
    number_names,
    say_written,
    show_value,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.analyses.compare.profile import VersionTest
    from ietest_fast.analyses.stress.suite import Suite
    from ietest_fast.answers.asking import ModelAnswers
    from ietest_fast.corpus import Corpus
    from ietest_fast.models import TextClassifier

    Numbers = NDArray[np.int64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class StressNotes(Notes):
    """How answers to stress tests came about."""

    kind = "stress"
    what = "answers to stress tests (ietest-fast stress --out)"

    group_by: str | None = None
    """The column by which accuracies are parted; None: none."""
    empty: tuple[str, ...] = ()
    """Tests that changed no text that the model sees."""
    unseen: tuple[str, ...] = ()
    """Of these, tests that changed texts that it does not see."""
    origins: dict[str, StressOrigin] = field(default_factory=dict)
    """By test, what it is made of."""

    @classmethod
    def of(
        cls,
        suite: Suite,
        answers: ModelAnswers,
        options: StressOptions,
        *,
        text_columns: Sequence[str],
    ) -> StressNotes:
        """Describe answers to a suite."""
        warned = () if answers.warning is None else (answers.warning,)
        return cls(
            group_by=options.group_by,
            clusters=options.clusters,
            empty=suite.empty,
            unseen=suite.unseen,
            origins={
                name: _count_answered(origin, answers.predictions, name)
                for name, origin in suite.origins.items()
            },
            text_columns=tuple(text_columns),
            warnings=(*warned, *answers.warnings),
            backend=answers.backend,
            identity=answers.identity,
        )


# Answers to stress tests in a file, with what has to be known of the suite to measure them.


def _count_answered(origin: StressOrigin, answers: Predictions, name: str) -> StressOrigin:
    """Note the rows that have answers, so that a file tells whether it has lost some."""
    if name not in answers.versions:
        return origin
    own = answers.select(version=name)
    return replace(origin, n_made=len(own.items), n_rows=len(own))


StressAnswers = NotedAnswers[StressNotes]


def read_stress_answers(paths: Sequence[Path]) -> tuple[StressAnswers, ...]:
    """Read files of answers to stress tests.

    Columns that disagree about what was reworded are warned of, as in any other table of answers.
    """
    found = []
    for answers, path in zip(read_answers(paths, StressNotes), paths, strict=True):
        versions = list_versions(answers.predictions, path, is_own=True)
        said = (*answers.notes.warnings, *(note for log in versions for note in log.notes))
        notes = replace(answers.notes, warnings=tuple(dict.fromkeys(said)))
        found.append(replace(answers, notes=notes))
    return tuple(found)


def ask_stress(
    model: TextClassifier,
    corpus: Corpus,
    options: StressOptions,
    **bar: Any,
) -> tuple[StressAnswers, ModelAnswers]:
    """Make the texts of all tests, and ask a finished classifier about each distinct one.

    The corpus has the columns that `options` name. What they name a folder or a file for is
    written. `bar` shows how far it is.
    """
    # Before texts are transformed, which takes longer.
    try_options(**options.of_tests)
    match_labels(model.labels, corpus.label_names, label_map=options.label_map)
    if options.train is not None:
        check_training(options.train)
    suite = make_suite(
        corpus,
        options.tests,
        text_columns=options.text_columns,
        learn_from=options.learn_from,
        n_threads=options.n_threads,
    )
    if options.folder is not None:
        write_texts(suite, corpus, options.folder)
    kept = (*options.keep_columns, options.clusters, options.group_by)
    found = evaluate(
        model,
        corpus,
        list(suite.versions),
        label_map=options.label_map,
        text_columns=options.text_columns,
        id_column=options.id_column,
        keep_columns=list(dict.fromkeys(name for name in kept if name is not None)),
        unparsed=options.unparsed,
        n_threads=options.n_threads,
        **bar,
    )
    notes = StressNotes.of(suite, found, options, text_columns=corpus.text_columns)
    answers = StressAnswers(predictions=found.predictions, notes=notes)
    answers = note_training_of_any(answers, options.train)
    if options.out is not None:
        write_answers(answers, options.out)
    return answers, found


def note_training_of_any(answers: StressAnswers, train: Corpus | None) -> StressAnswers:
    """Add what :func:`~ietest_fast.analyses.stress.profile.note_training` adds, if there is data.

    Where no row has antonyms, a sentence says so instead.
    """
    if train is None:
        return answers
    check_training(train)
    predictions = read_words(answers.predictions)
    names = predictions.table.column_names
    if WORD_PAIR in names and predictions.table[WORD_PAIR].null_count < len(predictions):
        return replace(answers, predictions=note_training(predictions, train))
    said = "No row of these tests has antonyms to look for in the training data."
    warnings = tuple(dict.fromkeys((*answers.notes.warnings, said)))
    return NotedAnswers(predictions=predictions, notes=replace(answers.notes, warnings=warnings))


NEUTRAL = "neutral"


def measure_stress(
    predictions: Predictions,
    options: StressOptions | None = None,
    notes: StressNotes | None = None,
    *,
    named: bool = False,
) -> tuple[StressProfile, ...]:
    """Measure classifiers on the originals and on all other versions.

    A version keeps labels if its transformation does, each item has at most one row in it, and no
    gold label is another than in ``original``; where the transformation or the labels are not
    known, the rest decides. These versions are tested against the originals, item by item, with
    Holm's correction over those of a classifier; those of a single row are not.
    """
    options, notes = options or StressOptions(), notes or StressNotes()
    options = _choose_columns(predictions, options, notes)
    predictions = read_times(read_words(predictions))
    profiles = []
    for group in predictions.groups:
        mine = predictions.select(**group) if group else predictions
        if ORIGINAL not in mine.versions or len(mine.versions) < 2:
            raise InputError(
                f"stress tests need the version {ORIGINAL!r} and others; there are "
                f"{', '.join(mine.versions)}",
                path=predictions.source,
            )
        is_named = named or len(predictions.groups) > 1
        profiles.append(_profile(mine, options, notes, group=group if is_named else {}))
    return tuple(profiles)


def _choose_columns(
    predictions: Predictions, options: StressOptions, notes: StressNotes
) -> StressOptions:
    """Return the options with the columns that are used: those asked for, or what answers say."""
    group_by = options.group_by or notes.group_by
    if group_by is not None:
        _check_column(predictions, group_by, "to part accuracies by")
        if find_missing(predictions.table[group_by]).all():
            raise InputError(
                "holds nothing in any row; name another column to part accuracies by",
                path=predictions.source,
                column=group_by,
            )
    clusters = options.clusters or notes.clusters
    if clusters is not None:
        _check_column(predictions, clusters, "to tell clusters apart")
    return replace(options, group_by=group_by, clusters=clusters or predictions.repeats)


def _profile(
    predictions: Predictions, options: StressOptions, notes: StressNotes, *, group: dict[str, Any]
) -> StressProfile:
    group_by, clusters, origins = options.group_by, options.clusters, notes.origins
    names = [name for name in predictions.versions if name != ORIGINAL]
    original = predictions.select(version=ORIGINAL)
    parts = {name: predictions.select(version=name) for name in names}
    for name in names:
        _check_originals(original, parts[name], name, group_by, origins.get(name))
    kept = [
        name
        for name in names
        if (name not in origins or origins[name].keeps_labels)
        and _keeps_labels(original, parts[name])
    ]
    tested = [name for name in kept if len(parts[name]) > 1]
    compared = _compare(predictions, tested, options) if tested else {}
    return StressProfile(
        group=group,
        label_names=predictions.label_names,
        grouped_by=group_by,
        original=_measure(original, original, ORIGINAL, group_by, clusters, keeps_labels=True),
        tests=tuple(
            replace(
                _measure(
                    parts[name], original, name, group_by, clusters, keeps_labels=name in kept
                ),
                comparison=compared.get(name),
                origin=origins.get(name),
            )
            for name in names
        ),
        empty=tuple(name for name in notes.empty if name not in names),
        unseen=tuple(name for name in notes.unseen if name not in names),
        alpha=options.alpha,
        predictions=predictions,
        warnings=notes.warnings,
    )


def _compare(
    predictions: Predictions, tested: Sequence[str], options: StressOptions
) -> dict[str, VersionTest]:
    """Test versions against the originals; those without labels to keep are not in the family."""
    versions = predictions.table["version"].cast("string")
    table = predictions.table.filter(pc.is_in(versions, value_set=pa.array([ORIGINAL, *tested])))
    if "copy" in table.column_names:
        table = table.drop_columns(["copy"])
    found = compare_versions(
        replace(predictions, table=table), reference=ORIGINAL, **options.of_tests
    )
    return {test.pairs.version: test for test in found.tests}


def measure_answers(
    answers: Sequence[StressAnswers], options: StressOptions | None = None
) -> tuple[StressProfile, ...]:
    """Measure the answers of files, each as it says of itself."""
    profiles: list[StressProfile] = []
    for each in answers:
        said = dict.fromkeys((*each.notes.warnings, *say_unparsed(each.predictions)))
        notes, first = replace(each.notes, warnings=tuple(said)), answers[0].notes
        for profile in measure_stress(each.predictions, options, notes, named=len(answers) > 1):
            unlike = _say_unlike(profiles[0], profile, (first, notes)) if profiles else ()
            profiles.append(replace(profile, unlike=tuple(unlike)))
    return tuple(profiles)


def _say_unlike(
    first: StressProfile, other: StressProfile, all_notes: tuple[StressNotes, StressNotes]
) -> list[str]:
    """Say what makes the numbers of two classifiers differ beside the classifiers.

    Without columns of texts, items and transformations alone are compared, where they are known.
    """
    both = first.predictions, other.predictions
    found = [
        _find_texts(each, notes.text_columns) for each, notes in zip(both, all_notes, strict=True)
    ]
    columns = found if len(found[0]) == len(found[1]) else [(), ()]
    one, two = (
        _list_texts(each, ORIGINAL, names) for each, names in zip(both, columns, strict=True)
    )
    if one != two:
        said = f"{other.name} has answered other originals than {first.name}"
        return [f"{said} ({len(two):,} and {len(one):,}), so do not compare them."]
    made = {test.name: test for test in first.tests}
    said_of = []
    for test in other.tests:
        before = made.get(test.name)
        how = None if before is None else _say_other_making(before, test, both, columns)
        if how is not None:
            said_of.append(f"{other.name}: {test.name} is not made as for {first.name}: {how}.")
    return said_of


def _say_other_making(
    before: StressResult,
    test: StressResult,
    both: tuple[Predictions, Predictions],
    columns: Sequence[tuple[str, ...]],
) -> str | None:
    """Say how two tests of a name differ: in transformations, or in texts, which may be edited."""
    made = [None if each.origin is None else each.origin.identity for each in (before, test)]
    if None not in made and made[0] != made[1]:
        return f"{made[1]}, there {made[0]}"
    if not columns[0]:
        return None
    one, two = (
        _list_texts(each, test.name, names) for each, names in zip(both, columns, strict=True)
    )
    if one == two:
        return None
    n = len(one & two)
    return f"{say_count(len(two), 'row')}, there {len(one):,}, and {n:,} {_is(n)} of the same texts"


def _find_texts(predictions: Predictions, told: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of texts; none where a classifier has no texts in them."""
    found = told or find_answered_texts(predictions)
    is_empty = any(predictions.table[name].null_count == len(predictions) for name in found)
    return () if is_empty else found


def _list_texts(
    predictions: Predictions, version: str, names: Sequence[str]
) -> set[tuple[str, ...]]:
    """Return a version's items, with their texts."""
    mine = predictions.select(version=version)
    columns = (
        pc.fill_null(as_texts(mine.table[name], path=mine.source, name=name), "").to_pylist()
        for name in ("item", *names)
    )
    return set(zip(*columns, strict=True))


def _check_column(predictions: Predictions, name: str, purpose: str) -> None:
    """Refuse a column that is not there, or whose values are no texts, numbers or the like."""
    if name not in predictions.columns:
        extra = ", ".join(predictions.extra_columns) or "none"
        raise InputError(
            f"there is no such column {purpose}; there are {extra}",
            path=predictions.source,
            column=name,
        )
    kind = predictions.table[name].type
    try:
        predictions.table[name].slice(0, 0).cast("string")
    except pa.ArrowException as error:
        raise InputError(
            f"holds {kind}; a column {purpose} holds texts, numbers or dates",
            path=predictions.source,
            column=name,
        ) from error


def _check_originals(
    original: Predictions,
    version: Predictions,
    name: str,
    group_by: str | None,
    origin: StressOrigin | None,
) -> None:
    """Stop if the rows of a test say otherwise than those that they were made of.

    A test that sets labels may be made of texts of another file, which have no originals here.
    """
    items = version.table["item"].combine_chunks()
    places = pc.index_in(items, value_set=original.table["item"].combine_chunks())
    keeps_labels = origin is not None and origin.keeps_labels
    if places.null_count and (keeps_labels or places.null_count < len(items)):
        row = int(pc.index(places.is_null(), True).as_py())
        raise InputError(
            f"{say_count(places.null_count, 'row')} of {name} {_is(places.null_count)} of items "
            f"without an original, such as {show_value(items[row].as_py())}; add the originals, or "
            "leave these rows out",
            path=version.source,
        )
    if places.null_count:
        return
    columns = [*(["gold"] if keeps_labels else []), *([] if group_by is None else [group_by])]
    for column in columns:
        if column in version.table.column_names:
            _check_same(column, original, version, places, name)


def _check_same(
    column: str, original: Predictions, version: Predictions, places: pa.Array, name: str
) -> None:
    """Stop if a column has other values in some rows of a test, and the same in others."""
    before, after = (
        as_texts(each.table[column], path=each.source, name=column) for each in (original, version)
    )
    before = before.take(places)
    differs = pc.fill_null(pc.not_equal(before, after), False)
    n = pc.sum(differs).as_py() or 0
    # In all rows it may be of the version, as a number of edits is; not if another item has it.
    is_swapped = pc.any(pc.and_(differs, pc.is_in(after, value_set=before))).as_py()
    is_swapped = is_swapped and not are_numbers(version.table[column])
    if n and (column == "gold" or n < len(after) or is_swapped):
        row = int(pc.index(differs, True).as_py())
        raise InputError(
            f"is {show_value(after[row].as_py())} in {name}, and "
            f"{show_value(before[row].as_py())} in the original, and so in {say_count(n, 'row')} "
            f"of {len(after):,}; give each item one value",
            path=version.source,
            row=f"row {row} of {name}",
            column=column,
        )


def _is(n: int) -> str:
    return "is" if n == 1 else "are"


def _keeps_labels(original: Predictions, version: Predictions) -> bool:
    """Say whether a version has at most one row of each item, and no other gold label for it.

    A label that is not known is none that differs.
    """
    items = version.table["item"].combine_chunks()
    if len(pc.unique(items)) < len(items):
        return False
    places = pc.index_in(items, value_set=original.table["item"].combine_chunks())
    if places.null_count:
        return False
    if "gold" not in version.table.column_names:
        return True
    after, before = (
        each.table["gold"].cast("string").combine_chunks() for each in (version, original)
    )
    return not pc.any(pc.not_equal(after, before.take(places))).as_py()


def _count_changed(table: pa.Table) -> int | None:
    """Count the texts that a test has changed; None where no column says it by yes and no."""
    if CHANGED not in table.column_names:
        return None
    changed, unclear = find_outcomes(table[CHANGED].drop_null())
    return None if unclear.size else int(changed.sum())


def _measure(
    predictions: Predictions,
    original: Predictions,
    name: str,
    group_by: str | None,
    clusters: str | None,
    *,
    keeps_labels: bool,
) -> StressResult:
    right = predictions.correct
    table = predictions.table
    units = _number_units(table, clusters, predictions.source)
    names = predictions.label_names
    confusion = false_neutral = None
    if names is not None:
        gold, predicted = predictions.codes("gold"), predictions.codes("predicted")
        confusion = np.zeros((len(names), len(names) + 1), np.int64)
        known = gold >= 0
        np.add.at(confusion, (gold[known], predicted[known]), 1)  # -1 is the last column
        if NEUTRAL in names:
            false_neutral = Share.of(predicted[~right] == names.index(NEUTRAL), units[~right])
    is_foreign = not pc.any(pc.is_in(predictions.items, value_set=original.items)).as_py()
    if is_foreign:
        _refuse_other_spelling(name, predictions, original)
    return StressResult(
        name=name,
        keeps_labels=keeps_labels,
        n_items=len(predictions.items),
        is_foreign=is_foreign,
        n_changed=_count_changed(table),
        accuracy=Share.of(right, units),
        by_group={}
        if group_by is None
        else _part(predictions, group_by, right, units, missing="missing"),
        confusion=confusion,
        false_neutral=false_neutral,
        by_kind=_part(predictions, RULE, right, units) if RULE in table.column_names else {},
        by_word=_part(predictions, WORD_CLASS, right, units)
        if WORD_CLASS in table.column_names
        else {},
        antonyms=compare_pairs(
            table[WORD_PAIR].to_pylist(), table[TIMES_IN_TRAINING].to_pylist(), right, units
        )
        if {WORD_PAIR, TIMES_IN_TRAINING} <= set(table.column_names)
        else None,
    )


def _refuse_other_spelling(name: str, test: Predictions, original: Predictions) -> None:
    """Stop if the items of a test are the originals' in another case, which nothing pairs."""
    said = say_written(test.items, original.items)
    if said:
        raise InputError(
            f"no item of {name} is one of the originals{said}", path=test.source, column="item"
        )


def _number_units(table: pa.Table, clusters: str | None, source: str) -> Numbers:
    """Return numbers of what is independent, int64 (n,): clusters, or items without one."""
    items = table["item"].cast("string").combine_chunks().dictionary_encode()
    units = items.indices.cast("int64")
    if clusters is not None:
        labels = as_texts(table[clusters], path=source, name=clusters)
        labels = name_groups(labels).dictionary_encode()
        own = pc.add(labels.indices.cast("int64"), len(items.dictionary))
        units = pc.coalesce(own, units)
    found: Numbers = units.to_numpy()
    return found


def _part(
    predictions: Predictions, name: str, right: Mask, units: Numbers, *, missing: str | None = None
) -> dict[str, Share]:
    """Return accuracies by the values of a column; none where all are null."""
    values = name_groups(as_texts(predictions.table[name], path=predictions.source, name=name))
    if values.null_count == len(values):
        return {}
    names = sorted(pc.unique(values).drop_null().to_pylist())
    if missing is not None and values.null_count:
        (name,) = number_names([missing], taken=names)
        values, names = pc.fill_null(values, name), sorted([*names, name])
    rows = {
        each: pc.fill_null(pc.equal(values, each), False).to_numpy(zero_copy_only=False)
        for each in names
    }
    return {each: Share.of(right[own], units[own]) for each, own in rows.items()}
