"""``ie.transform``: tables of every kind in, the same kind out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ietest_fast as ie
from ietest_fast.transform import EDIT_SCHEMA, Transformed, WordSubstitution, undo
from ietest_fast.transform.base import BaseTransformation

SWAP = WordSubstitution(mapping={"couch": "sofa", "kid": "child"})
PREMISES = ["A kid sits on a couch.", "Nothing."]
HYPOTHESES = ["The kid sits.", "A couch stands."]
COLUMNS = {"premise": PREMISES, "hypothesis": HYPOTHESES, "label": [0, 2]}
NEW = {
    "premise": ["A child sits on a sofa.", "Nothing."],
    "hypothesis": ["The child sits.", "A sofa stands."],
    "label": [0, 2],
}


def columns_of(table: Any) -> Any:
    return pa.table(table).to_pydict()


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (lambda: pd.DataFrame(COLUMNS), lambda table: table.to_dict("list")),
        (lambda: pa.table(COLUMNS), columns_of),
        (lambda: dict(COLUMNS), dict),
    ],
    ids=["pandas", "arrow", "mapping"],
)
def test_the_kind_that_comes_in_goes_out(
    make: Callable[[], Any], read: Callable[[Any], Any]
) -> None:
    table = make()
    made = ie.transform(table, SWAP)
    assert type(made) is type(table)
    assert read(made) == NEW
    assert read(table) == COLUMNS


def test_polars_and_datasets() -> None:
    pl = pytest.importorskip("polars", reason="needs the extra dev")
    datasets = pytest.importorskip("datasets", reason="needs the extra dev")
    frame = ie.transform(pl.DataFrame(COLUMNS), SWAP)
    assert isinstance(frame, pl.DataFrame)
    assert frame.to_dict(as_series=False) == NEW
    made = ie.transform(datasets.Dataset.from_dict(COLUMNS), SWAP)
    assert isinstance(made, datasets.Dataset)
    assert made.to_dict() == NEW


def test_lists_and_columns() -> None:
    assert ie.transform(PREMISES, SWAP) == NEW["premise"]
    pairs = list(zip(PREMISES, HYPOTHESES, strict=True))
    assert ie.transform(pairs, SWAP) == list(zip(NEW["premise"], NEW["hypothesis"], strict=True))
    series = pd.Series(PREMISES, index=[7, 3], name="said")
    made = ie.transform(series, SWAP)
    assert (made.to_list(), made.name, list(made.index)) == (NEW["premise"], "said", [7, 3])


def test_pandas_keeps_its_index_and_what_is_no_text() -> None:
    frame = pd.DataFrame(
        {**COLUMNS, "when": pd.to_datetime(["2020-01-01", None])}, index=["b", "a"]
    )
    made = ie.transform(frame, SWAP)
    pd.testing.assert_frame_equal(made, frame.assign(**NEW))


def test_some_columns_only() -> None:
    frame = pd.DataFrame({"said": PREMISES, "meant": PREMISES})
    made = ie.transform(frame, SWAP, text_columns="meant")
    assert made["said"].to_list() == PREMISES
    assert made["meant"].to_list() == NEW["premise"]
    with pytest.raises(ie.IetestError, match="say which columns hold the texts"):
        ie.transform(frame, SWAP)
    with pytest.raises(ie.IetestError, match="'mean': stands 0 times"):
        ie.transform(frame, SWAP, text_columns=["mean"])


def test_missing_texts_stay_missing() -> None:
    assert ie.transform(["A couch", None], SWAP) == ["A sofa", None]
    assert ie.transform(["A couch.", None])[1] is None


def test_edits_lead_from_the_old_texts_to_the_new() -> None:
    table = pa.table(COLUMNS)
    made, edits = ie.transform(table, SWAP, return_edits=True)
    assert edits.num_rows == 4
    assert undo(made, edits).to_pydict() == COLUMNS


def test_by_default_synonyms_that_the_texts_themselves_decide() -> None:
    assert ie.transform(["A boy sleeps on the couch."]) == ["A boy sleeps on the sofa."]


@pytest.mark.slow
def test_synonyms_are_learnt_from_other_texts() -> None:
    from ietest_fast.corpus import corpus_from_table

    texts, known = ["The child is running."], ["A youngster sings.", "The youngster sleeps."]
    # Captions have substitutes of their own.
    assert ie.transform(texts) == texts
    assert ie.transform(texts, learn_from=known) == ["The kid is running."]
    corpus = corpus_from_table({"text": known, "label": [0, 1]})
    assert ie.transform(texts, learn_from=corpus) == ["The kid is running."]
    words = ["He is a creature of habit.", "He owned a couch."]
    assert ie.transform(words, phi="syn.broad", learn_from=["Sofa, sofa."] * 3)[1].endswith("sofa.")


class Negate(BaseTransformation):
    """Sets labels, and makes more rows than there were."""

    name = "negate"
    keeps_labels = False

    def transform_table(self, table: pa.Table, text_columns: Any, **_: Any) -> Transformed:
        rows = [0, 0, 1]
        return Transformed(
            table=table.take(rows),
            changed=np.ones(3, dtype=bool),
            edits=EDIT_SCHEMA.empty_table(),
            source_row=np.array(rows),
            labels=pa.array(["contradiction", "neutral", None]),
        )


def test_labels_that_do_not_hold_are_replaced() -> None:
    frame = pd.DataFrame(COLUMNS, index=["x", "y"])
    made = ie.transform(frame, Negate())
    assert made["label"].to_list()[:2] == ["contradiction", "neutral"]
    assert pd.isna(made["label"].iloc[2])
    assert list(made.index) == ["x", "x", "y"]
    assert ie.transform(PREMISES, Negate()) == [PREMISES[0], PREMISES[0], PREMISES[1]]
