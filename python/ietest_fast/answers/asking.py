"""A finished classifier on several versions of a test set, nothing computed twice."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.schema import CHANGED, check_kept, check_likeliest
from ietest_fast.answers.table import ORIGINAL, Predictions
from ietest_fast.answers.versions import Version, as_versions
from ietest_fast.corpus.columns import LABEL_COLUMNS, LABELS_BESIDE, check_columns
from ietest_fast.corpus.labels import put_labels_beside
from ietest_fast.errors import InputError
from ietest_fast.models.label_map import check_against_data, match_labels
from ietest_fast.models.tokens import pool_texts
from ietest_fast.numerals import say_count
from ietest_fast.stats.paired import clean_field
from ietest_fast.stats.strata import EDITS
from ietest_fast.values import as_items

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.models import TextClassifier
    from ietest_fast.models.classifiers import Scores, Unparsed
    from ietest_fast.models.label_map import LabelMap


NOT_PARSED = "answer not parsed"
"""Why an item is left out where answers that are no label are dropped."""

LABEL_UNKNOWN = "label unknown after the transformation"
"""Why a row of a version is left out."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TableScores:
    """A classifier's answers to the rows of a table."""

    scores: Scores
    """Its answers, in the order of the rows."""
    n_inputs: int
    """How many different inputs there were in all; only these were run."""
    n_rows: int
    """How many inputs there were with their repeats."""
    n_tokens: int
    """Tokens of the different inputs, padding left out; 0 if the classifier does not tell."""
    seconds: float
    """From the first text to the last score."""


def score_table(
    model: TextClassifier,
    table: pa.Table,
    text_columns: Sequence[str],
    *,
    on_start: Callable[[int], None] | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> TableScores:
    """Run a classifier on the texts of a table, each distinct input once.

    What a transformation left alone, and what occurs twice, is run once.
    """
    begin = time.perf_counter()
    texts, pooled = pool_texts({"": {"": table}}, text_columns)
    inputs = pooled[""]
    if on_start is not None:
        on_start(len(inputs))
    columns = {
        name: texts.take(pa.array(codes))
        for name, codes in zip(text_columns, inputs.codes, strict=True)
    }
    scores = model.score(pa.table(columns), on_batch=on_batch)
    return TableScores(
        scores=scores.take(inputs.versions[""]),
        n_inputs=len(inputs),
        n_rows=table.num_rows,
        n_tokens=scores.n_tokens or 0,
        seconds=time.perf_counter() - begin,
    )


# What is asked: labelled texts, one row for each item and version.


@dataclass(frozen=True, kw_only=True, eq=False)
class Questions:
    """Labelled texts in one or several versions, for a classifier to answer."""

    table: pa.Table
    """n rows: ``item``, ``version``, ``changed``, the texts, and what else the answers keep."""
    labels: NDArray[np.int8]
    """int8, shape (n,): the right answers, indices into ``label_names``; -1 where nobody knows: the
    row is asked, and left out of the answers."""
    label_names: tuple[str, ...]
    """What the data call the labels."""
    columns: tuple[str, ...]
    """Columns of texts that the classifier sees."""
    groups: NDArray[np.int64]
    """int64, shape (n,): rows with the same number are left out together, where an answer to one of
    them is no label."""
    with_own_items: tuple[str, ...] = ()
    """Versions whose items are not those of the others."""
    dropped: Mapping[str, int]
    """Rows of the source that are not asked, by reason."""
    warnings: tuple[str, ...] = ()
    """What is to be said of how they came about."""
    remarks: tuple[str, ...] = ()
    """What is to be said of their rows."""
    source: str
    """Where they come from, for messages."""
    phi: str
    """What made the versions, for signatures."""
    data: str
    """What the texts are, for signatures."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelAnswers:
    """A finished classifier's answers to all versions of a labelled test set."""

    predictions: Predictions
    """The long table, with texts, ``changed``, the number of ``edits`` where the transformations
    tell, and the columns that the corpus has kept. Where several of the model's labels are one
    class, the prediction is the class of its likeliest label, and probabilities are sums."""
    n_changed: Mapping[str, int]
    """By version, rows with a text that was transformed."""
    scores: TableScores
    """What the run took."""
    backend: str
    """What ran the model."""
    identity: dict[str, str]
    """What the result hangs on, for its signature: ``phi``, ``data``, ``model`` and ``be``, the
    backend, each a name with four digits of a hash."""
    warning: str | None
    """What the user should know about the match of labels; None if there is nothing."""
    warnings: tuple[str, ...]
    """Sentences of the transformations about what is seldom wanted; each was also an
    :class:`~ietest_fast.errors.IetestWarning`."""
    remarks: tuple[str, ...]
    """Those about rows: answers that are no labels, and texts that are there twice."""


def answer(
    model: TextClassifier,
    asked: Questions,
    mapping: LabelMap,
    *,
    unparsed: Unparsed = "error",
    on_start: Callable[[int], None] | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> ModelAnswers:
    """Let a classifier answer questions, whose labels `mapping` matches with its own."""
    table = asked.table
    found = score_table(model, table, asked.columns, on_start=on_start, on_batch=on_batch)
    gold = np.where(asked.labels >= 0, mapping.of_data[asked.labels], np.int8(-1))
    predicted = mapping.classes_of(found.scores.predicted)
    # Where nobody knows the right answer, the row is left out in any case.
    lost = np.isin(asked.groups, asked.groups[(predicted < 0) & (gold >= 0)])
    check_parsed(len(np.unique(asked.groups[lost])), unparsed)
    if unparsed != "drop":
        lost[:] = False
    names = pa.array(mapping.names)
    columns: dict[str, Any] = {
        "item": table["item"],
        "version": table["version"],
        "gold": names.take(pa.array(gold.astype(np.int32), mask=gold < 0)),
        "predicted": names.take(pa.array(predicted.astype(np.int32), mask=predicted < 0)),
    }
    if found.scores.probabilities is not None:
        columns["probabilities"] = list_probabilities(found.scores.probabilities, mapping)
    columns |= {name: table[name] for name in table.column_names if name not in columns}
    predictions = Predictions(
        table=pa.table(columns).filter(pa.array((gold >= 0) & ~lost)),
        label_names=mapping.names,
        dropped=_count_dropped(asked, lost, gold < 0),
        source=asked.source,
    )
    check_likeliest(predictions.table, predictions.label_names, "the classifier's answers")
    is_original = np.asarray(pc.equal(table["version"], ORIGINAL))
    remarks = (*say_unparsed(predictions), *asked.remarks)
    kept = predictions.table.select(["version", CHANGED])
    counts = kept.group_by("version", use_threads=False).aggregate([(CHANGED, "sum")])
    return ModelAnswers(
        predictions=predictions,
        n_changed={
            name: n
            for name, n in zip(*counts.to_pydict().values(), strict=True)
            if name != ORIGINAL
        },
        scores=found,
        backend=model.backend,
        identity={
            "phi": asked.phi,
            "data": asked.data,
            "model": identify_model(model, mapping, asked.columns)[:4],
            "be": model.backend.split()[0],
        },
        warning=check_against_data(mapping, gold[is_original], predicted[is_original]),
        warnings=tuple(dict.fromkeys([*asked.warnings, *remarks])),
        remarks=remarks,
    )


def _count_dropped(
    asked: Questions, lost: NDArray[np.bool_], unknown: NDArray[np.bool_]
) -> dict[str, int]:
    """Count what is not among the answers: items lost, and rows whose label nobody knows."""
    versions = asked.table["version"].combine_chunks().dictionary_encode()
    names, codes = versions.dictionary.to_pylist(), np.asarray(versions.indices)
    shared = ~np.isin(codes, [names.index(name) for name in asked.with_own_items])
    dropped = dict(asked.dropped)
    ways = [(NOT_PARSED, shared)]
    ways += [(f"{NOT_PARSED}, {name}", codes == names.index(name)) for name in asked.with_own_items]
    for reason, rows in ways:
        if (lost & rows).any():
            dropped[reason] = len(np.unique(asked.groups[lost & rows]))
    if lost[shared].all():
        raise InputError(
            f"each of the {dropped[NOT_PARSED]:,} items has an answer that is no label, and "
            "unparsed='drop' leaves all of them out: look at what the classifier answers, or count "
            "such answers as wrong (unparsed='wrong')",
            path=asked.source,
        )
    for code, n in enumerate(np.bincount(codes[unknown], minlength=len(names)).tolist()):
        if n:
            dropped[f"{LABEL_UNKNOWN} {names[code]}"] = n
    return dropped


def evaluate(
    model: TextClassifier,
    corpus: Corpus,
    phi: Any = "syn.careful",
    *,
    learn_from: Sequence[Corpus] = (),
    label_map: Mapping[str, str] | None = None,
    text_columns: Sequence[str] | None = None,
    id_column: str | None = None,
    keep_columns: Sequence[str] = (),
    unparsed: Unparsed = "error",
    n_threads: int | None = None,
    on_start: Callable[[int], None] | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> ModelAnswers:
    """Run a finished classifier on a corpus and on its transformed versions.

    Every distinct input of all versions is run once. A version is scored against labels of its
    own where its transformation sets them.

    Parameters
    ----------
    model
        Finished; :func:`ietest_fast.models.as_classifier` makes one of anything that classifies.
    corpus
        The labelled originals.
    phi
        One or several transformations: names with options, finished transformations, or
        :class:`~ietest_fast.answers.versions.Version`.
    learn_from
        Corpora that transformations may learn from; by default the corpus itself.
    label_map
        See :func:`~ietest_fast.models.label_map.match_labels`.
    text_columns
        Columns that the model sees; None for all of the corpus. One of two is partial input.
    id_column
        A kept column of the corpus that names its rows; None for their numbers in the source,
        from 0.
    keep_columns
        Kept columns of the corpus that the long table gets, beside the texts.
    unparsed
        What becomes of answers that are no label: see :func:`check_parsed`. ``"drop"`` leaves items
        out of all versions.
    n_threads
        Threads of the transformations; None for all cores.
    on_start, on_batch
        As for :func:`score_versions`.

    Raises
    ------
    InputError
        If there is no such column of texts, the labels cannot be matched, or are matched worse than
        they could be, a column to keep has the name of one that predictions have, or a
        transformation changes no text, or leaves nobody knowing the labels; and if an answer is no
        label, and `unparsed` is ``"error"``.
    """
    mapping = match_labels(model.labels, corpus.label_names, label_map=label_map)
    columns = tuple(text_columns or corpus.text_columns)
    check_columns(corpus.source, corpus.text_columns, columns)
    kept = [name for name in keep_columns if not name == id_column == "item"]
    check_kept((*corpus.text_columns, *kept), corpus.source, made=(CHANGED, EDITS))
    versions = as_versions(phi, corpus, learn_from=learn_from, n_threads=n_threads)
    notes = dict.fromkeys(name for version in versions for name in version.notes)
    check_kept((*corpus.text_columns, *kept), corpus.source, made=tuple(notes))
    asked = _ask_versions(corpus, versions, columns, id_column=id_column, keep_columns=keep_columns)
    return answer(model, asked, mapping, unparsed=unparsed, on_start=on_start, on_batch=on_batch)


def _ask_versions(
    corpus: Corpus,
    versions: Sequence[Version],
    columns: tuple[str, ...],
    *,
    id_column: str | None,
    keep_columns: Sequence[str],
) -> Questions:
    """Return the questions that a corpus and its versions are: the originals first."""
    nothing = np.zeros(len(corpus), dtype=np.int64)
    knows_edits = any(version.edits is not None for version in versions)
    original = Version(
        name=ORIGINAL,
        identity="",
        table=corpus.table,
        source_row=np.arange(len(corpus), dtype=np.int64),
        labels=corpus.labels,
        edits=dict.fromkeys(columns, nothing) if knows_edits else None,
    )
    changed = [nothing > 0, *(version.find_changed(corpus, columns) for version in versions)]
    ids = _items(corpus, id_column)
    with_own_items = tuple(version.name for version in versions if version.items is not None)
    if with_own_items:  # whose items are names
        ids = ids.cast(pa.string())
    has_copies = any(len(np.unique(each.source_row)) < len(each.source_row) for each in versions)
    parts, groups, n_groups = [], [], len(corpus)
    for version, differs in zip([original, *versions], changed, strict=True):
        rows = version.source_row
        made: dict[str, Any] = {
            "item": ids.take(pa.array(rows)) if version.items is None else version.items,
            "version": pa.repeat(pa.scalar(version.name), len(rows)),
            CHANGED: pa.array(differs),
        }
        if version.edits is not None:
            made[EDITS] = pa.array(np.sum([version.edits[name] for name in columns], axis=0))
        made |= {name: version.table[name] for name in corpus.text_columns}
        made |= version.notes
        for name, values in _take_kept(corpus, version, keep_columns).items():
            made.setdefault(name, values)  # which may be a text, or what names the items
        if has_copies:
            made["copy"] = pa.array(number_copies(rows))
        parts.append(pa.table(made))
        first = 0
        if version.items is not None:
            first, n_groups = n_groups, n_groups + int(rows.max(initial=-1)) + 1
        groups.append(first + rows)
    return Questions(
        table=pa.concat_tables(parts, promote_options="permissive"),
        labels=np.concatenate([corpus.labels, *(version.labels for version in versions)]),
        label_names=corpus.label_names,
        columns=columns,
        groups=np.concatenate(groups),
        with_own_items=with_own_items,
        dropped=corpus.dropped,
        warnings=tuple(line for version in versions for line in version.warnings),
        remarks=() if id_column else _say_repeated(corpus),
        source=corpus.source,
        phi=",".join(version.identity for version in versions),
        data=name_data(corpus),
    )


def _say_repeated(corpus: Corpus) -> tuple[str, ...]:
    """Count the rows that say the same of the same texts again: they are no new evidence."""
    texts = [corpus.texts(name).to_pylist() for name in corpus.text_columns]
    n = len(corpus) - len(set(zip(*texts, corpus.labels.tolist(), strict=True)))
    verb = "has" if n == 1 else "have"
    note = (
        f"{say_count(n, 'row')} of {len(corpus):,} {verb} the texts and the label of another row, "
        "and each counts; clusters draw equal texts together."
    )
    return (note,) if n else ()


def _items(corpus: Corpus, id_column: str | None) -> pa.Array:
    if id_column is None:
        return pa.array(corpus.source_rows)
    return as_items(corpus.table[id_column], path=corpus.source, name=id_column)


def _take_kept(
    corpus: Corpus, version: Version, names: Sequence[str]
) -> dict[str, pa.ChunkedArray]:
    """Take kept columns for a version; those of labels get the new ones, or null if none fits."""
    if version.items is not None:  # of other texts the corpus' columns say nothing
        return {}
    found = corpus.table.select(names).take(pa.array(version.source_row))
    if version.keeps_labels:
        return {name: found[name] for name in names}
    codes = np.concatenate([corpus.labels, version.labels]).astype(np.int32)
    labels = pa.array(corpus.label_names, pa.string()).take(pa.array(codes, mask=codes < 0))
    for place, name in enumerate(names):
        if name not in {*LABEL_COLUMNS, *LABELS_BESIDE}:
            continue
        # All rows of the corpus show what the column says; those of a version may be few.
        pair = corpus.table.select([name]).append_column("", labels[: len(corpus)])
        pair = pa.concat_tables([pair, pair.take(pa.array(version.source_row))])
        try:
            said = put_labels_beside(pair, "", labels)[name].cast(pair.schema.field(name).type)
        except (InputError, pa.ArrowException):
            said = pa.chunked_array([pa.nulls(len(pair), pair.schema.field(name).type)])
        found = found.set_column(place, pair.schema.field(name), said[len(corpus) :])
    return {name: found[name] for name in names}


def check_parsed(n_lost: int, unparsed: Unparsed) -> None:
    """Stop where answers are no label and are to be an error."""
    if n_lost and unparsed == "error":
        raise InputError(
            f"{say_count(n_lost, 'item has an answer', 'items have answers')} that "
            f"{'is' if n_lost == 1 else 'are'} no label (unparsed='wrong' counts such answers as "
            "wrong, unparsed='drop' leaves their items out)"
        )


def say_unparsed(predictions: Predictions) -> list[str]:
    """Return what is to be said of answers that are no label, and count as wrong."""
    table = predictions.table
    n = table["predicted"].null_count if "predicted" in table.column_names else 0
    counted = say_count(n, "answer is no label, and counts", "answers are no label, and count")
    return [f"{counted} as wrong."] if n else []


def list_probabilities(probabilities: NDArray[np.float32], mapping: LabelMap) -> pa.Array:
    """Return the column of probabilities of the classes; null where there is no answer.

    Those of a model's labels that are one class are added up.
    """
    summed = np.zeros((len(probabilities), len(mapping.names)), dtype=np.float32)
    for place, target in enumerate(mapping.of_model):
        summed[:, target] += probabilities[:, place]
    offsets = np.arange(len(summed) + 1, dtype=np.int32) * summed.shape[1]
    absent = np.isnan(summed).any(axis=1)
    return pa.ListArray.from_arrays(
        pa.array(offsets),
        pa.array(summed.reshape(-1)),
        mask=pa.array(absent) if absent.any() else None,
    )


def number_copies(source_row: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return numbers of the rows that come from the same row, from 0."""
    order = np.argsort(source_row, kind="stable")
    ordered = source_row[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    first = np.repeat(starts, np.diff(np.r_[starts, len(ordered)]))
    numbers = np.empty(len(source_row), dtype=np.int32)
    numbers[order] = np.arange(len(source_row)) - first
    return numbers


def identify_model(model: TextClassifier, mapping: LabelMap, columns: Sequence[str]) -> str:
    """Return a hash of all that the model's answers hang on, but for the texts."""
    described = (model.fingerprint, model.backend, mapping.of_model.tolist(), columns)
    return hashlib.sha256(repr(described).encode()).hexdigest()


def name_data(corpus: Corpus) -> str:
    """Return what signatures call the data: the file's name with four digits of a hash."""
    return f"{clean_field(Path(corpus.source).stem)}@{corpus.fingerprint[:4]}"


@dataclass(frozen=True, kw_only=True, eq=False)
class SuiteOptions:
    """What all suites of questions share."""

    text_columns: Sequence[str] | None = None
    """Columns of the corpus that the classifier sees; None for all with texts."""
    label_map: Mapping[str, str] | None = None
    """The data's name of each of the classifier's labels; None: told by their names."""
    id_column: str | None = None
    """A kept column of the corpus that names its rows; None for their numbers in the source."""
    clusters: str | None = None
    """A kept column whose equal values belong together; None: none, or what answers say."""
    folder: Path | None = None
    """A folder, not there yet, that gets the texts; None: they are not written."""
    out: Path | None = None
    """The Parquet file that gets the answers; None: they are not written."""
    n_resamples: int | None = None
    """Of Monte Carlo methods, 1 or more; None for 10,000."""
    n_threads: int | None = None
    """1 or more; None for all cores. Makes no difference to the result."""
