"""A finished classifier on several versions of a test set, nothing computed twice."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.answers.schema import CHANGED, check_kept, check_likeliest
from ietest_fast.answers.table import ORIGINAL, Predictions
from ietest_fast.answers.versions import as_versions
from ietest_fast.corpus.columns import LABEL_COLUMNS, LABELS_BESIDE, check_columns
from ietest_fast.corpus.labels import put_labels_beside
from ietest_fast.errors import InputError
from ietest_fast.models.label_map import check_against_data, match_labels
from ietest_fast.models.tokens import pool_texts
from ietest_fast.numerals import say_count
from ietest_fast.stats.paired import clean_field
from ietest_fast.stats.strata import EDITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.answers.versions import Version
    from ietest_fast.corpus import Corpus
    from ietest_fast.models import TextClassifier
    from ietest_fast.models.classifiers import Scores, Unparsed
    from ietest_fast.models.label_map import LabelMap


NOT_PARSED = "answer not parsed"
"""Why an item is left out where answers that are no label are dropped."""

LABEL_UNKNOWN = "label unknown after the transformation"
"""Why a row of a version is left out."""


@dataclass(frozen=True, kw_only=True, eq=False)
class VersionScores:
    """A classifier's answers to several versions of texts."""

    versions: Mapping[str, Scores]
    """By version, its answers."""
    n_inputs: int
    """How many different inputs there were in all; only these were run."""
    n_rows: int
    """How many inputs there were with their repeats."""
    n_tokens: int
    """Tokens of the different inputs, padding left out; 0 if the classifier does not tell."""
    seconds: float
    """From the first text to the last score."""


def score_versions(
    model: TextClassifier,
    versions: Mapping[str, pa.Table],
    text_columns: Sequence[str],
    *,
    on_start: Callable[[int], None] | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> VersionScores:
    """Run a classifier on several versions of a test set, each distinct input once.

    What a transformation left alone, and what occurs twice, is run once.
    """
    import pyarrow as pa

    begin = time.perf_counter()
    texts, pooled = pool_texts({"test": versions}, text_columns)
    inputs = pooled["test"]
    if on_start is not None:
        on_start(len(inputs))
    columns = {
        name: texts.take(pa.array(codes))
        for name, codes in zip(text_columns, inputs.codes, strict=True)
    }
    scores = model.score(pa.table(columns), on_batch=on_batch)
    return VersionScores(
        versions={name: scores.take(rows) for name, rows in inputs.versions.items()},
        n_inputs=len(inputs),
        n_rows=sum(len(rows) for rows in inputs.versions.values()),
        n_tokens=scores.n_tokens or 0,
        seconds=time.perf_counter() - begin,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """A finished classifier's answers to all versions of a labelled test set."""

    predictions: Predictions
    """The long table, with texts, ``changed``, the number of ``edits`` where the transformations
    tell, and the columns that the corpus has kept. Where several of the model's labels are one
    class, the prediction is the class of its likeliest label, and probabilities are sums."""
    n_changed: Mapping[str, int]
    """By version, rows with a text that was transformed."""
    scores: VersionScores
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
) -> Evaluation:
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
    import pyarrow as pa

    mapping = match_labels(model.labels, corpus.label_names, label_map=label_map)
    columns = tuple(text_columns or corpus.text_columns)
    check_columns(corpus.source, corpus.text_columns, columns)
    kept = [name for name in keep_columns if not name == id_column == "item"]
    check_kept((*corpus.text_columns, *kept), corpus.source, made=(CHANGED, EDITS))
    versions = as_versions(phi, corpus, learn_from=learn_from, n_threads=n_threads)
    notes = dict.fromkeys(name for version in versions for name in version.notes)
    check_kept((*corpus.text_columns, *kept), corpus.source, made=tuple(notes))
    changed = {version.name: version.find_changed(corpus, columns) for version in versions}
    tables = {ORIGINAL: corpus.table} | {version.name: version.table for version in versions}
    scores = score_versions(model, tables, columns, on_start=on_start, on_batch=on_batch)
    lost = _find_lost(scores, versions)
    check_parsed(int(lost.sum()), unparsed)
    if unparsed != "drop":
        lost[:] = False
    everything = np.arange(len(corpus), dtype=np.int64)
    ids = _items(corpus, id_column)
    if any(version.items is not None for version in versions):  # which are names
        ids = ids.cast(pa.string())
    gold = mapping.of_data[corpus.labels]
    parts = [
        _long(
            ORIGINAL,
            corpus.table,
            ids,
            gold,
            scores.versions[ORIGINAL],
            np.zeros(len(corpus), dtype=bool),
            np.zeros(len(corpus), dtype=np.int64),
            everything,
            corpus,
            mapping,
            {name: corpus.table[name] for name in keep_columns},
            {},
            lost,
        )
    ]
    dropped = dict(corpus.dropped)
    if lost.any():
        dropped[NOT_PARSED] = int(lost.sum())
    if len(lost) and lost.all():
        raise InputError(
            f"each of the {len(lost):,} items has an answer that is no label, and unparsed='drop' "
            "leaves all of them out: look at what the classifier answers, or count such answers as "
            "wrong (unparsed='wrong')",
            path=corpus.source,
        )
    for version in versions:
        failed = scores.versions[version.name].predicted < 0
        others = np.zeros(int(version.source_row.max(initial=-1)) + 1, dtype=bool)
        if version.items is not None and failed.any():  # items of its own
            check_parsed(int(failed.sum()), unparsed)
            if unparsed == "drop":
                others[version.source_row[failed]] = True
                dropped[f"{NOT_PARSED}, {version.name}"] = int(others.sum())
        labels = np.where(version.labels >= 0, mapping.of_data[version.labels], np.int8(-1))
        unknown = int((labels < 0).sum())
        if unknown:
            dropped[f"{LABEL_UNKNOWN} {version.name}"] = unknown
        parts.append(
            _long(
                version.name,
                version.table,
                ids.take(pa.array(version.source_row)) if version.items is None else version.items,
                labels,
                scores.versions[version.name],
                changed[version.name],
                _count_edits(version, columns),
                version.source_row,
                corpus,
                mapping,
                _take_kept(corpus, version, keep_columns),
                version.notes,
                lost if version.items is None else others,
            )
        )
    if all(version.edits is None for version in versions):
        parts[0] = parts[0].drop_columns([EDITS])
    predicted = mapping.classes_of(scores.versions[ORIGINAL].predicted)
    predictions = _join(parts, mapping, dropped, corpus)
    check_likeliest(predictions.table, predictions.label_names, "the classifier's answers")
    said = [each for version in versions for each in version.warnings]
    notes_of_rows = (*say_unparsed(predictions), *([] if id_column else _say_repeated(corpus)))
    return Evaluation(
        predictions=predictions,
        n_changed={name: int(mask.sum()) for name, mask in changed.items()},
        scores=scores,
        backend=model.backend,
        identity={
            "phi": ",".join(version.identity for version in versions),
            "data": f"{name_data(corpus)}@{corpus.fingerprint[:4]}",
            "model": identify_model(model, mapping, columns)[:4],
            "be": model.backend.split()[0],
        },
        warning=check_against_data(mapping, gold, predicted),
        warnings=tuple(dict.fromkeys([*said, *notes_of_rows])),
        remarks=notes_of_rows,
    )


def _count_edits(version: Version, columns: Sequence[str]) -> NDArray[np.int64] | None:
    """Count the edits in the columns that the model sees."""
    if version.edits is None:
        return None
    edits: NDArray[np.int64] = np.sum([version.edits[name] for name in columns], axis=0)
    return edits


def _say_repeated(corpus: Corpus) -> list[str]:
    """Count the rows that say the same of the same texts again: they are no new evidence."""
    texts = [corpus.texts(name).to_pylist() for name in corpus.text_columns]
    n = len(corpus) - len(set(zip(*texts, corpus.labels.tolist(), strict=True)))
    verb = "has" if n == 1 else "have"
    note = (
        f"{say_count(n, 'row')} of {len(corpus):,} {verb} the texts and the label of another row, "
        "and each counts; clusters draw equal texts together."
    )
    return [note] if n else []


def _items(corpus: Corpus, id_column: str | None) -> pa.Array:
    import pyarrow as pa

    from ietest_fast.values import as_items

    if id_column is None:
        return pa.array(corpus.source_rows)
    return as_items(corpus.table[id_column], path=corpus.source, name=id_column)


def _long(  # noqa: PLR0917 - what makes a row of the table
    name: str,
    texts: pa.Table,
    items: pa.Array,
    gold: NDArray[np.int8],
    scores: Scores,
    changed: NDArray[np.bool_],
    edits: NDArray[np.int64] | None,
    source_row: NDArray[np.int64],
    corpus: Corpus,
    mapping: LabelMap,
    kept: Mapping[str, pa.ChunkedArray],
    notes: Mapping[str, pa.Array],
    lost: NDArray[np.bool_],
) -> pa.Table:
    """Return the rows of one version."""
    import pyarrow as pa

    labels = pa.array(mapping.names)
    predicted = mapping.classes_of(scores.predicted).astype(np.int32)
    columns: dict[str, Any] = {
        "item": items,
        "version": pa.repeat(pa.scalar(name), len(source_row)),
        "gold": labels.take(pa.array(gold.astype(np.int32), mask=gold < 0)),
        "predicted": labels.take(pa.array(predicted, mask=predicted < 0)),
    }
    if scores.probabilities is not None:
        columns["probabilities"] = list_probabilities(scores.probabilities, mapping)
    columns[CHANGED] = pa.array(changed)
    if edits is not None:
        columns[EDITS] = pa.array(edits)
    if len(np.unique(source_row)) < len(source_row):
        columns["copy"] = pa.array(number_copies(source_row))
    columns |= {text: texts[text] for text in corpus.text_columns}
    columns |= notes
    for column, values in kept.items():  # which may be a text, or what names the items
        columns.setdefault(column, values)
    return pa.table(columns).filter(pa.array((gold >= 0) & ~lost[source_row]))


def _take_kept(
    corpus: Corpus, version: Version, names: Sequence[str]
) -> dict[str, pa.ChunkedArray]:
    """Take kept columns for a version; those of labels get the new ones, or null if none fits."""
    import pyarrow as pa

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


def _find_lost(scores: VersionScores, versions: Sequence[Version]) -> NDArray[np.bool_]:
    """Say which rows of the corpus have an answer that is no label in any version."""
    lost = scores.versions[ORIGINAL].predicted < 0
    for version in versions:
        failed = scores.versions[version.name].predicted < 0
        if version.items is None:
            lost[version.source_row[failed]] = True
    return np.asarray(lost, dtype=np.bool_)


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
    """Return the column of probabilities of the classes; null where there is no answer."""
    import pyarrow as pa

    summed = sum_classes(probabilities, mapping)
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


def _join(
    parts: list[pa.Table], mapping: LabelMap, dropped: dict[str, int], corpus: Corpus
) -> Predictions:
    import pyarrow as pa

    if any("copy" in part.column_names for part in parts):
        parts = [
            part
            if "copy" in part.column_names
            else part.append_column("copy", pa.array(np.zeros(part.num_rows, dtype=np.int32)))
            for part in parts
        ]
    return Predictions(
        table=pa.concat_tables(parts, promote_options="permissive"),
        label_names=mapping.names,
        dropped=dropped,
        source=corpus.source,
    )


def identify_model(model: TextClassifier, mapping: LabelMap, columns: Sequence[str]) -> str:
    """Return a hash of all that the model's answers hang on, but for the texts."""
    described = (model.fingerprint, model.backend, mapping.of_model.tolist(), columns)
    return hashlib.sha256(repr(described).encode()).hexdigest()


def name_data(corpus: Corpus) -> str:
    """Return what signatures call the data: the file's name, or ``data``."""
    return "data" if corpus.source is None else clean_field(Path(corpus.source).stem)


def sum_classes(probabilities: NDArray[np.float32], mapping: LabelMap) -> NDArray[np.float32]:
    """Add up the probabilities of a model's labels that are one class, shape (n, classes)."""
    summed = np.zeros((len(probabilities), len(mapping.names)), dtype=np.float32)
    for place, target in enumerate(mapping.of_model):
        summed[:, target] += probabilities[:, place]
    return summed


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
