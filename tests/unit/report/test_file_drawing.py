"""Samples of what a transformation makes of a labelled file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.annotation.marks import Marks, marks_path
from ietest_fast.annotation.sample import read_sample
from ietest_fast.annotation.sampling import draw_transformed
from ietest_fast.answers.versions import take_unlabelled_texts
from ietest_fast.corpus import Corpus
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.transform import Material, Transformed, WordSubstitution, plan
from ietest_fast.transform.base import BaseTransformation
from ietest_fast.transform.edits import EDIT_SCHEMA
from toys import LABELS

PAIRS = (
    ("The dog chased the cat.", "An animal ran.", 0),
    ("Two large dogs run in the park.", "The girl ate an apple.", 1),
    ("The dog chased the cat.", "The cat was chased by a small dog.", 1),
    ("The boy bought 20 apples for 3 dollars.", "The boy bought 15 apples.", 2),
    ("A long road.", "The woman opened the heavy door.", 1),
    ("The dog chased the cat.", "Nobody eats.", 2),
    ("A quiet, empty street.", "Rain.", 1),
    ("The teacher praised the young student.", "The happy man sold 12 horses.", 1),
)


def corpus_of(pairs, **options) -> Corpus:
    premises, hypotheses, labels = zip(*pairs, strict=True)
    table = pa.table(
        {
            "premise": pa.array(premises, pa.string()),
            "hypothesis": pa.array(hypotheses, pa.string()),
            "label": pa.array(labels, pa.int8()),
        }
    )
    names = ("premise", "hypothesis")
    return Corpus(table=table, text_columns=names, label_names=LABELS, source="f.csv", **options)


@pytest.fixture
def corpus():
    return corpus_of(PAIRS)


def transform(corpus, phi, table=None) -> Transformed:
    """Transform without anything of what draws samples."""
    with plan(phi) as planned:
        made = planned.build(Material(corpora=[corpus]))
        return made.transform(corpus.table if table is None else table, corpus.text_columns)


def version_of(pieces, kind):
    return "".join(text for each, text in pieces if each in {"keep", kind})


def texts_of(pair, kind):
    return {name: version_of(pieces, kind) for name, pieces in pair["pieces"].items()}


@pytest.mark.slow
@pytest.mark.parametrize("phi", ["voice", "syn.careful", "spelling", "negation+spelling", "swap"])
def test_rows_that_changed_are_drawn_in_both_versions(tmp_path, corpus, phi):
    sample = draw_transformed(corpus, phi, tmp_path / "s.json", n=100, criterion="meaning")
    made = transform(corpus, phi)
    new = made.table.to_pylist()
    old = corpus.table.to_pylist()
    reworded = {
        tuple(new[i][c] if new[i][c] != old[i][c] else None for c in corpus.text_columns)
        for i in range(len(new))
    } - {(None, None)}
    assert 0 < len(sample.pairs) == len(reworded) == sample.n_reworded
    assert len({pair["row"] for pair in sample.pairs}) == len(sample.pairs)
    drawn = set()
    for pair in sample.pairs:
        row = pair["row"]
        assert pair["item"] == row
        assert pair["label"] == LABELS[old[row]["label"]]
        assert texts_of(pair, "old") == {c: old[row][c] for c in corpus.text_columns}
        assert texts_of(pair, "new") == {c: new[row][c] for c in corpus.text_columns}
        drawn.add(
            tuple(new[row][c] if new[row][c] != old[row][c] else None for c in corpus.text_columns)
        )
    assert drawn == reworded
    assert (sample.test_set, sample.has_versions) == (None, True)
    assert (sample.criterion, sample.source) == ("meaning", f"{phi} on f.csv")
    assert read_sample(sample.path) == sample


@pytest.mark.slow
@pytest.mark.parametrize("phi", ["antonym", "numerical", "antonym:rules=paper"])
def test_new_rows_are_drawn_with_the_label_that_was_set(tmp_path, corpus, phi):
    sample = draw_transformed(corpus, phi, tmp_path / "s.json", n=100)
    made = transform(corpus, phi)
    new = {
        (row["premise"], row["hypothesis"]): (label, source)
        for row, label, source in zip(
            made.table.to_pylist(), made.labels.to_pylist(), made.source_row, strict=True
        )
    }
    assert sample.n_reworded == len(new)
    assert len(sample.pairs) == len({source for _, source in new.values()}) > 0
    for pair in sample.pairs:
        assert set(pair) == {"item", "row", "label", "pieces"}
        assert {kind for pieces in pair["pieces"].values() for kind, _ in pieces} == {"keep"}
        texts = texts_of(pair, "new")
        assert new[texts["premise"], texts["hypothesis"]] == (pair["label"], pair["row"])
    assert (sample.criterion, sample.has_versions, sample.unit) == ("new-label", False, "texts")
    assert read_sample(sample.path) == sample


def test_other_texts_are_transformed_in_the_place_of_the_corpus(tmp_path, corpus):
    texts = ["Nothing here.", "A train covers 300 miles in 4 hours.", None, "He has 17 coins."]
    unlabelled = take_unlabelled_texts(texts, corpus.text_columns)
    sample = draw_transformed(corpus, "numerical", tmp_path / "s.json", unlabelled=unlabelled)
    assert {pair["row"] for pair in sample.pairs} == {1, 3}
    assert sample.source == "numerical on texts"
    with pytest.raises(InputError, match="only one that sets labels"):
        draw_transformed(corpus, "voice", tmp_path / "v.json", unlabelled=unlabelled)
    assert not (tmp_path / "v.json").exists()


def test_edits_are_marked_one_by_one(tmp_path, corpus):
    swaps = WordSubstitution(mapping={"dog": "hound", "cat": "tomcat", "girl": "lass"})
    sample = draw_transformed(corpus, swaps, tmp_path / "s.json", n=100, unit="edits")
    edits = transform(corpus, swaps).edits.to_pylist()
    drawn = {pair["item"]: pair for pair in sample.pairs}
    rows = {pair["row"] for pair in sample.pairs}
    # The premise of rows 0, 2 and 5 is reworded alike; in row 2 the hypothesis is, too.
    assert len(rows) == sample.n_reworded == 3
    assert sorted(drawn) == [i for i, edit in enumerate(edits) if edit["row"] in rows]
    for item, pair in drawn.items():
        changed = [
            (name, [text for kind, text in pieces if kind == "new"])
            for name, pieces in pair["pieces"].items()
            if len(pieces) > 1
        ]
        assert changed == [(edits[item]["column"], [edits[item]["new"]])]
    few = draw_transformed(corpus, swaps, tmp_path / "few.json", n=1, unit="edits")
    assert len({pair["row"] for pair in few.pairs}) == 1


@pytest.mark.slow
def test_a_seed_is_a_sample_for_any_number_of_threads(tmp_path, corpus):
    phi = "spelling"
    paths = [tmp_path / f"{k}.json" for k in range(4)]
    for path, n_threads in zip(paths, (1, 2, 3, 7), strict=True):
        draw_transformed(corpus, phi, path, n=5, seed=8, n_threads=n_threads)
    assert len({path.read_bytes() for path in paths}) == 1
    others = [
        draw_transformed(corpus, phi, tmp_path / f"s{seed}.json", n=5, seed=seed).items
        for seed in range(5)
    ]
    assert len(set(others)) > 1
    assert all(len(set(items)) == 5 for items in others)


@pytest.mark.slow
def test_each_new_text_has_the_same_probability(tmp_path):
    """However often it stands there; 200 draws of one of 4 are seldom more than 75 of a kind."""
    often = [("The dog sleeps.", f"Sentence {k}.", 0) for k in range(20)]
    once = [(f"A {who} sleeps.", "Nothing.", 0) for who in ("boy", "girl", "man")]
    corpus = corpus_of([*often, *once])
    counts: dict[str, int] = {}
    rows = set()
    for seed in range(200):
        sample = draw_transformed(
            corpus,
            WordSubstitution(mapping={"sleeps": "slumbers"}),
            tmp_path / f"{seed}.json",
            n=1,
            seed=seed,
        )
        (pair,) = sample.pairs
        text = version_of(pair["pieces"]["premise"], "new")
        counts[text] = counts.get(text, 0) + 1
        rows.add(pair["row"])
    assert len(counts) == 4
    assert max(counts.values()) < 75
    assert min(counts.values()) > 25
    # And each row of a text that stands there often can be the one that is shown.
    assert len(rows) > 15


def test_rows_are_those_of_the_file(tmp_path):
    """Rows that were dropped, as without a gold label, are counted."""
    corpus = corpus_of(PAIRS[:2], rows=np.array([4, 9]))
    sample = draw_transformed(corpus, "spelling", tmp_path / "s.json")
    assert sorted(sample.items) == [4, 9]


@pytest.mark.parametrize("phi", ["identity", "numerical", "antonym", "voice"])
def test_nothing_to_draw_is_told(tmp_path, phi):
    corpus = corpus_of([("Rain.", "Snow.", 0)])
    with pytest.raises(InputError, match=rf"f\.csv: the transformation '{phi}' changes no text"):
        draw_transformed(corpus, phi, tmp_path / "s.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [{"unit": "edits"}, {"criterion": "label"}])
def test_questions_about_two_versions_are_refused_where_there_is_one(tmp_path, corpus, options):
    with pytest.raises(InputError, match="'antonym' sets labels, so there is one version"):
        draw_transformed(corpus, "antonym", tmp_path / "s.json", **options)


def test_the_question_about_new_labels_is_refused_where_they_are_kept(tmp_path, corpus):
    with pytest.raises(InputError, match="'voice' keeps labels"):
        draw_transformed(corpus, "voice", tmp_path / "s.json", criterion="new-label")


def test_a_sample_is_not_drawn_over_another(tmp_path, corpus):
    sample = draw_transformed(corpus, "antonym", tmp_path / "s.json")
    with pytest.raises(InputError, match="is there already"):
        draw_transformed(corpus, "antonym", sample.path)
    Marks(sample, "anna").add(sample.items[0], "sound")
    sample.path.unlink()
    with pytest.raises(InputError, match=marks_path(sample.path, "anna").name):
        draw_transformed(corpus, "antonym", sample.path)


@dataclass(frozen=True)
class Doubtful(BaseTransformation):
    """Turns each row into a new one, and knows the label of every second one."""

    name: str = "doubtful"
    keeps_labels: bool = False
    text: str | None = "New {}."
    gives_edits: bool = True

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "options": {}}

    def transform_table(self, table, text_columns, *, with_edits, n_threads):
        n = table.num_rows
        texts = [self.text and self.text.format(i) for i in range(n)]
        new = pa.array(texts, pa.string())
        labels = ["neutral" if i % 2 else None for i in range(n)]
        place = table.column_names.index(text_columns[0])
        return Transformed(
            table=table.set_column(place, text_columns[0], new),
            changed=np.ones(n, np.bool_),
            edits=EDIT_SCHEMA.empty_table() if self.gives_edits else None,
            labels=None if self.keeps_labels else pa.array(labels, pa.string()),
        )


def test_rows_whose_label_nobody_knows_are_counted_and_not_drawn(tmp_path, corpus):
    with pytest.warns(IetestWarning, match="4 new rows have no label, and are not drawn"):
        sample = draw_transformed(corpus, Doubtful(), tmp_path / "s.json")
    assert sorted(sample.items) == [1, 3, 5, 7]
    assert {pair["label"] for pair in sample.pairs} == {"neutral"}
    assert sample.source == "doubtful on f.csv"


@pytest.mark.filterwarnings("ignore:4 new rows have no label")
def test_a_row_without_a_text_is_told(tmp_path, corpus):
    with pytest.raises(InputError, match=r"f\.csv, row \d, column 'premise': .* without a text"):
        draw_transformed(corpus, Doubtful(text=None), tmp_path / "s.json")
    assert list(tmp_path.iterdir()) == []


def test_versions_are_not_shown_without_edits(tmp_path, corpus):
    phi = Doubtful(keeps_labels=True, gives_edits=False)
    with pytest.raises(InputError, match="gives no edits"):
        draw_transformed(corpus, phi, tmp_path / "s.json")
