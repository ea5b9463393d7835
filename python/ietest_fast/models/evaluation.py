"""A finished text classifier on both versions of a test set, nothing computed twice."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.label_map import check_against_data, match_labels
from ietest_fast.models.logits import softmax
from ietest_fast.models.pooling import pool_texts
from ietest_fast.stats import MatchedSample
from ietest_fast.stats.signature import clean_field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.models.classifiers import TextClassifier
    from ietest_fast.models.label_map import LabelMap


@dataclass(frozen=True, kw_only=True, eq=False)
class VersionScores:
    """A model's class scores on both versions of n texts.

    Attributes
    ----------
    original, transformed
        float32, shape (n, n_labels).
    n_inputs
        How many different inputs there were; only these were run.
    n_tokens
        Tokens of these, padding left out.
    seconds
        From the first text to the last score.
    """

    original: NDArray[np.float32]
    transformed: NDArray[np.float32]
    n_inputs: int
    n_tokens: int
    seconds: float


def score_versions(
    model: TextClassifier,
    original: pa.Table,
    transformed: pa.Table,
    text_columns: Sequence[str],
    *,
    on_start: Callable[[int], None] | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> VersionScores:
    """Run a model on both versions of a test set, each distinct input once.

    What the transformation left alone, and what occurs twice, is run once.

    Parameters
    ----------
    model
        Finished.
    original, transformed
        Tables of n rows with the text columns.
    text_columns
        One or two.
    on_start
        Told how many inputs will be run.
    on_batch
        Told the number of inputs of every batch that is done.

    Raises
    ------
    InputError
        If a score is no number, or the model fails.
    """
    import pyarrow as pa

    begin = time.perf_counter()
    texts, pooled = pool_texts(
        {"test": {"original": original, "transformed": transformed}}, text_columns
    )
    inputs = pooled["test"]
    if on_start is not None:
        on_start(len(inputs))
    columns = {
        name: texts.take(pa.array(codes))
        for name, codes in zip(text_columns, inputs.codes, strict=True)
    }
    scores = model.score(pa.table(columns), on_batch=on_batch)
    if scores.logits is None:
        raise InputError("this classifier gives no class scores")
    return VersionScores(
        original=scores.logits[inputs.versions["original"]],
        transformed=scores.logits[inputs.versions["transformed"]],
        n_inputs=len(inputs),
        n_tokens=scores.n_tokens or 0,
        seconds=time.perf_counter() - begin,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """A finished model's answers on both versions of a labelled test set, in common classes.

    Attributes
    ----------
    ids
        Shape (n,): the rows' ids, or their numbers.
    gold, original, transformed
        int8, shape (n,): indices into ``label_names``.
    original_probabilities, transformed_probabilities
        float32, shape (n, classes).
    changed
        bool, shape (n,): whether a text of the row was transformed.
    label_names
        Names of the classes.
    dropped
        Rows that were not evaluated, by reason.
    scores
        The model's own scores, and what they took.
    backend
        What ran the model.
    identity
        What the result hangs on, for its signature: ``phi``, ``data``, ``model`` and ``be``, the
        backend, each a name with four digits of a hash.
    warning
        What the user should know about the match of labels; None if there is nothing.
    """

    ids: pa.Array
    gold: NDArray[np.int8]
    original: NDArray[np.int8]
    transformed: NDArray[np.int8]
    original_probabilities: NDArray[np.float32]
    transformed_probabilities: NDArray[np.float32]
    changed: NDArray[np.bool_]
    label_names: tuple[str, ...]
    dropped: dict[str, int]
    scores: VersionScores
    backend: str
    identity: dict[str, str]
    warning: str | None

    @property
    def sample(self) -> MatchedSample:
        """The matched sample (eq. 9)."""
        return MatchedSample.from_predictions(self.gold, self.original, self.transformed)

    def to_table(self) -> pa.Table:
        """Give one row for each text.

        Returns
        -------
        pyarrow.Table
            ``id``, ``label``, ``original`` and ``transformed`` (names), ``original_correct``,
            ``transformed_correct``, ``p_original`` and ``p_transformed`` (lists of float32, in the
            order of the schema's metadata ``labels``), ``changed``. Where several of the model's
            labels are one class, the prediction is the class of its likeliest label, and the
            probabilities are sums.
        """
        import pyarrow as pa

        names = pa.array(self.label_names)

        def named(codes: NDArray[np.int8]) -> pa.Array:
            return pa.DictionaryArray.from_arrays(pa.array(codes), names)

        def lists(values: NDArray[np.float32]) -> pa.Array:
            flat = pa.array(np.ascontiguousarray(values).reshape(-1))
            return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])

        table = pa.table(
            {
                "id": self.ids,
                "label": named(self.gold),
                "original": named(self.original),
                "transformed": named(self.transformed),
                "original_correct": self.original == self.gold,
                "transformed_correct": self.transformed == self.gold,
                "p_original": lists(self.original_probabilities),
                "p_transformed": lists(self.transformed_probabilities),
                "changed": self.changed,
            }
        )
        return table.replace_schema_metadata({"labels": ",".join(self.label_names)})


def evaluate(
    model: TextClassifier,
    corpus: Corpus,
    transformed: pa.Table,
    *,
    changed: NDArray[np.bool_],
    transformation: str = "given",
    label_map: Mapping[str, str] | None = None,
    text_columns: Sequence[str] | None = None,
    id_column: str | None = None,
    on_start: Callable[[int], None] | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> Evaluation:
    """Run a finished model on both versions of a test set and compare it with the gold labels.

    Parameters
    ----------
    model
        Takes tokens.
    corpus
        The labelled originals.
    transformed
        The same rows, transformed.
    changed
        bool, shape (n,): whether a text of the row was transformed.
    transformation
        Its name, for the signature.
    label_map
        See :func:`~ietest_fast.models.label_map.match_labels`.
    text_columns
        Columns that the model sees; None for all of the corpus. One of two is partial input.
    id_column
        A kept column of the corpus that names its rows; None for their numbers in the source,
        from 0.
    on_start, on_batch
        As for :func:`score_versions`.

    Raises
    ------
    InputError
        If the labels cannot be matched, or are matched worse than they could be.
    """
    import pyarrow as pa

    mapping = match_labels(model.labels, corpus.label_names, label_map=label_map)
    columns = tuple(text_columns or corpus.text_columns)
    scores = score_versions(
        model,
        corpus.table,
        transformed,
        columns,
        on_start=on_start,
        on_batch=on_batch,
    )
    gold = mapping.of_data[corpus.labels]
    probabilities = [
        sum_classes(softmax(logits), mapping) for logits in (scores.original, scores.transformed)
    ]
    # The likeliest of the model's own labels, as is usual, even where two of them are one class.
    labels = [
        mapping.of_model[logits.argmax(axis=1)] for logits in (scores.original, scores.transformed)
    ]
    return Evaluation(
        ids=pa.array(corpus.source_rows)
        if id_column is None
        else corpus.table[id_column].combine_chunks(),
        gold=gold,
        original=labels[0],
        transformed=labels[1],
        original_probabilities=probabilities[0],
        transformed_probabilities=probabilities[1],
        changed=changed,
        label_names=mapping.names,
        dropped=corpus.dropped,
        scores=scores,
        backend=model.backend,
        identity={
            "phi": transformation,
            "data": f"{_name_of(corpus)}@{corpus.fingerprint[:4]}",
            "model": _identify(model, mapping, columns)[:4],
            "be": model.backend.split()[0],
        },
        warning=check_against_data(mapping, gold, labels[0]),
    )


def _identify(model: TextClassifier, mapping: LabelMap, columns: Sequence[str]) -> str:
    """Give a hash of all that the model's answers hang on, but for the texts."""
    described = (model.fingerprint, model.backend, mapping.of_model.tolist(), columns)
    return hashlib.sha256(repr(described).encode()).hexdigest()


def _name_of(corpus: Corpus) -> str:
    return "data" if corpus.source is None else clean_field(Path(corpus.source).stem)


def sum_classes(probabilities: NDArray[np.float32], mapping: LabelMap) -> NDArray[np.float32]:
    """Add up the probabilities of a model's labels that are one class, shape (n, classes)."""
    summed = np.zeros((len(probabilities), len(mapping.names)), dtype=np.float32)
    for place, target in enumerate(mapping.of_model):
        summed[:, target] += probabilities[:, place]
    return summed
