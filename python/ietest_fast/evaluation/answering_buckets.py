"""A finished classifier on buckets: all wordings of the items, each distinct input once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.corpus.columns import check_columns
from ietest_fast.errors import InputError
from ietest_fast.evaluation.predictions import Predictions
from ietest_fast.evaluation.running import (
    NOT_PARSED,
    Evaluation,
    check_parsed,
    identify_model,
    list_probabilities,
    name_data,
    say_unparsed,
    score_versions,
)
from ietest_fast.evaluation.schema import CHANGED, check_kept
from ietest_fast.models.label_map import check_against_data, match_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.evaluation.buckets import Buckets
    from ietest_fast.models import TextClassifier
    from ietest_fast.models.classifiers import Unparsed

_ALL = "all wordings"


def answer_buckets(
    model: TextClassifier,
    buckets: Buckets,
    *,
    label_map: Mapping[str, str] | None = None,
    text_columns: Sequence[str] | None = None,
    keep_columns: Sequence[str] = (),
    unparsed: Unparsed = "error",
    on_start: Callable[[int], None] | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> Evaluation:
    """Run a finished classifier on all wordings of items.

    Every distinct input is run once.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not buckets.n_paraphrases.any():
        raise InputError(
            "no item has a paraphrase: every item has one row. A file of paraphrases has several "
            "rows with the same item; or make paraphrases of the texts (--phi)",
            path=buckets.source,
            column="item",
        )
    corpus = buckets.as_corpus()
    mapping = match_labels(model.labels, buckets.label_names, label_map=label_map)
    columns = tuple(text_columns or buckets.text_columns)
    check_columns(buckets.source, buckets.text_columns, columns)
    table = buckets.table
    check_columns(buckets.source, table.column_names, keep_columns)
    kept = [name for name in keep_columns if name not in {"item", "version"}]
    check_kept((*buckets.text_columns, *kept), buckets.source, made=(CHANGED,))
    run = score_versions(model, {_ALL: table}, columns, on_start=on_start, on_batch=on_batch)
    scores = run.versions[_ALL]
    gold = mapping.of_data[corpus.labels]
    predicted = mapping.classes_of(scores.predicted)
    items = table["item"].combine_chunks()
    lost = items.filter(pa.array(predicted < 0)).unique()
    check_parsed(len(lost), unparsed)
    labels = pa.array(mapping.names)
    changed = _find_changed(buckets, columns)
    made: dict[str, Any] = {
        "item": table["item"],
        "version": table["version"],
        "gold": labels.take(pa.array(gold.astype(np.int32))),
        "predicted": labels.take(pa.array(predicted.astype(np.int32), mask=predicted < 0)),
    }
    if scores.probabilities is not None:
        made["probabilities"] = list_probabilities(scores.probabilities, mapping)
    made[CHANGED] = pa.array(changed)
    for name in (*buckets.text_columns, *kept):
        made.setdefault(name, table[name])
    versions = table["version"].to_pylist()
    counts: dict[str, int] = dict.fromkeys(versions, 0)
    for name, differs in zip(versions, changed.tolist(), strict=True):
        counts[name] += differs
    answers, dropped = pa.table(made), dict(buckets.dropped)
    if len(lost) and unparsed == "drop":
        answers = answers.filter(pc.invert(pc.is_in(items, value_set=lost)))
        dropped[NOT_PARSED] = len(lost)
    predictions = Predictions(
        table=answers, label_names=mapping.names, dropped=dropped, source=buckets.source
    )
    remarks = tuple(say_unparsed(predictions))
    return Evaluation(
        predictions=predictions,
        n_changed=counts,
        scores=run,
        backend=model.backend,
        identity={
            "phi": ",".join(making.identity for making in buckets.made) or "given",
            "data": f"{name_data(corpus)}@{corpus.fingerprint[:4]}",
            "model": identify_model(model, mapping, columns)[:4],
            "be": model.backend.split()[0],
        },
        warning=check_against_data(mapping, gold, predicted),
        warnings=remarks,
        remarks=remarks,
    )


def _find_changed(buckets: Buckets, columns: Sequence[str]) -> NDArray[np.bool_]:
    import pyarrow.compute as pc

    originals = buckets.find_originals()
    changed = originals < 0
    rows = _as_rows(np.maximum(originals, 0))
    for name in columns:
        texts = buckets.table[name].combine_chunks()
        differs = pc.fill_null(pc.not_equal(texts, texts.take(rows)), True)
        changed |= np.asarray(differs.to_numpy(zero_copy_only=False), dtype=np.bool_)
    return np.asarray(changed)


def _as_rows(rows: NDArray[np.int64]) -> pa.Array:
    import pyarrow as pa

    return pa.array(rows)
