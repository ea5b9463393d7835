"""A classifier on versions with rows and labels of their own."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.analyses import compare_versions
from ietest_fast.answers import evaluate, read_predictions
from ietest_fast.answers.versions import transform_corpus
from ietest_fast.corpus.dataset import corpus_from_table
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.models.classifiers import Scores
from ietest_fast.transform import Transformed, WordSubstitution

TEXTS = ["good day", "bad day", "good night", "bad night"]


class Words:
    """Says pos where a text has "good" in it, and counts what it was asked."""

    labels = ("neg", "pos")
    backend = "words"
    fingerprint = "0" * 64

    def __init__(self) -> None:
        self.asked: list[str] = []

    def score(self, inputs: pa.Table, *, on_batch: object = None) -> Scores:
        texts = inputs.column(0).to_pylist()
        self.asked += texts
        return Scores(predicted=np.array([int("good" in text) for text in texts]))


class Phi:
    """Puts words before texts, each row twice if asked; may turn labels round."""

    fingerprint = "1" * 64

    def __init__(
        self, name: str, *, labels: list[str | None] | None = None, copies: int = 1
    ) -> None:
        self.name = name
        self.labels = labels
        self.copies = copies
        self.keeps_labels = name == "keeps"

    def describe(self) -> dict[str, object]:
        return {"name": self.name, "options": {}}

    def transform(self, table, text_columns, *, with_edits=True, n_threads=None) -> Transformed:
        rows = np.repeat(np.arange(table.num_rows), self.copies)
        texts = [f"{self.name} {i}: {TEXTS[row]}" for i, row in enumerate(rows)]
        made = table.take(pa.array(rows)).set_column(0, "text", [texts])
        return Transformed(
            table=made,
            changed=np.ones(len(rows), dtype=bool),
            edits=None,
            source_row=rows,
            labels=None if self.labels is None else pa.array(self.labels, pa.string()),
        )


@pytest.fixture
def corpus():
    table = pa.table({"text": TEXTS, "label": ["pos", "neg", "pos", "neg"]})
    return corpus_from_table(table, text_columns=("text",), label_column="label")


def test_labels_that_a_transformation_sets_are_those_it_is_scored_against(corpus) -> None:
    """Finding 4: labels that no longer hold are never scored."""
    turned = Phi("turns", labels=["neg", "pos", None, "pos"])
    found = evaluate(Words(), corpus, [Phi("keeps"), turned])
    same, other = (found.predictions.pairs(name) for name in ("keeps", "turns"))
    assert same.sample.transformed_correct.tolist() == [True] * 4
    assert other.sample.transformed_correct.tolist() == [False] * 3
    assert found.predictions.dropped == {"label unknown after the transformation turns": 1}
    tests = compare_versions(found.predictions).tests
    assert all(test.p_adjusted >= test.result.p_value for test in tests)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "does not keep labels and sets none"),
        (
            ["pos", "neg", "what", "pos"],
            "sets the label 'what', which is none of the data's .neg, pos.",
        ),
    ],
)
def test_labels_that_nobody_knows_are_refused(corpus, labels, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(Words(), corpus, Phi("turns", labels=labels))


@pytest.mark.parametrize("name", ["item", "version", "gold", "correct", "model", "changed"])
def test_kept_columns_cannot_take_the_place_of_the_schemas(name: str) -> None:
    table = pa.table({"text": TEXTS, "label": ["pos", "neg"] * 2, name: [1, 0, 1, 0]})
    corpus = corpus_from_table(table, keep_columns=[name])
    with pytest.raises(InputError, match=f"column '{name}': cannot be kept or tell clusters apart"):
        evaluate(Words(), corpus, Phi("keeps"), keep_columns=[name])


def test_what_names_the_items_may_be_kept() -> None:
    table = pa.table({"text": TEXTS, "label": ["pos", "neg"] * 2, "item": list("abcd")})
    corpus = corpus_from_table(table, keep_columns=["item"])
    found = evaluate(Words(), corpus, Phi("keeps"), id_column="item", keep_columns=["item"])
    assert found.predictions.items.to_pylist() == list("abcd")


def test_rows_of_an_item_are_read_again_as_they_were_written(corpus, tmp_path: Path) -> None:
    turned = Phi("turns", labels=["neg", "pos", None, "pos"])
    written = evaluate(Words(), corpus, [Phi("keeps", copies=2), turned]).predictions
    written.write(tmp_path / "p.parquet")
    read = read_predictions(tmp_path / "p.parquet")
    assert compare_versions(read).to_dict() == compare_versions(written).to_dict()
    assert read.table.select(written.columns).equals(written.table)


def test_a_comparison_becomes_a_table_without_pandas(
    corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    turned = Phi("turns", labels=["neg", "pos", "neg", "pos"])
    answers = evaluate(Words(), corpus, [Phi("keeps", copies=2), turned]).predictions
    found = compare_versions(answers)
    frame = found.to_frame()
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = found.to_frame()
    assert isinstance(table, pa.Table)
    assert table.column_names == list(frame)
    assert table["version"].to_pylist() == ["keeps", "turns"]
    # A column of one of the tests only.
    assert table["n_clusters"].to_pylist() == [4, None]
    assert table["design_effect"].to_pylist()[1] is None


def test_rows_that_a_transformation_makes_belong_to_their_item(corpus) -> None:
    found = evaluate(Words(), corpus, Phi("keeps", copies=2)).predictions
    pairs = found.pairs("keeps")
    assert pairs.items.to_pylist() == [0, 0, 1, 1, 2, 2, 3, 3]
    (test,) = compare_versions(found).tests
    assert test.result.n_clusters == 4


@pytest.mark.slow
def test_each_distinct_input_of_all_versions_is_run_once(corpus) -> None:
    model = Words()
    found = evaluate(model, corpus, ["syn.broad", Phi("keeps")])
    assert len(model.asked) == len(set(model.asked)) == found.scores.n_inputs < 12


def test_warnings_of_transformations_stay_with_the_answers(corpus) -> None:
    with pytest.warns(IetestWarning, match="without a block list"):
        version = transform_corpus(corpus, "syn.paper:tagger=packaged")
    assert len(version.warnings) == 1
    other = replace(version, name="other", identity="other@0")
    found = evaluate(Words(), corpus, [version, other, Phi("keeps")])
    assert found.warnings == version.warnings


def test_the_number_of_edits_is_a_column_to_tell_texts_apart_by(corpus) -> None:
    phi = WordSubstitution(mapping={"bad": "poor", "day": "morning"})
    found = evaluate(Words(), corpus, [phi, Phi("keeps")]).predictions
    edits = found.table["edits"].to_pylist()
    assert edits == [0] * 4 + [1, 2, 0, 1] + [None] * 4  # what does not tell has none
    alone = evaluate(Words(), corpus, phi).predictions
    (test,) = compare_versions(alone, strata=["edits", "label"], dose="edits").tests
    by_edits, by_label = test.statistics["strata"].results
    assert [(each.name, each.n) for each in by_edits.strata] == [("1", 2), ("2", 1)]
    assert [each.name for each in by_label.strata] == ["neg", "pos"]
    assert test.statistics["dose"].result.doses == (1, 2)
    assert "edits" not in evaluate(Words(), corpus, Phi("keeps")).predictions.columns


def test_versions_of_one_name_are_numbered_as_in_a_run(corpus) -> None:
    found = evaluate(Words(), corpus, [Phi("keeps"), Phi("keeps", copies=2)])
    assert found.predictions.versions == ("original", "keeps", "keeps#2")
    assert found.n_changed == {"keeps": 4, "keeps#2": 8}
    other = replace(transform_corpus(corpus, Phi("keeps", copies=2)), name="Keeps")
    found = evaluate(Words(), corpus, [Phi("keeps"), other])
    assert found.predictions.versions == ("original", "keeps", "Keeps#2")
    original = replace(transform_corpus(corpus, Phi("keeps")), name="original")
    assert evaluate(Words(), corpus, original).predictions.versions == ("original", "original#2")
    with pytest.raises(InputError, match="the transformation 'keeps' is there twice"):
        evaluate(Words(), corpus, [Phi("keeps"), Phi("keeps")])
