"""Reading the three splits, and transforming them once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.errors import InputError
from ietest_fast.experiment import Splits, check_config
from ietest_fast.experiment.data import read_splits, transform_splits
from ietest_fast.experiment.plan import make_plan
from ietest_fast.transform import PlannedTransformation, plan
from toys import Swap, toy_corpus, toy_splits


def _write(folder, **corpora):
    for name, corpus in corpora.items():
        pq.write_table(corpus.table, folder / f"{name}.parquet")
    return {name: str(folder / f"{name}.parquet") for name in corpora}


def _read(data):
    return read_splits(check_config({"data": data}).data)


def test_three_files(tmp_path):
    paths = _write(tmp_path, **dict(toy_splits().items()))
    splits = _read(paths)
    assert [len(corpus) for _, corpus in splits.items()] == [300, 90, 240]
    assert splits.fingerprints() == toy_splits().fingerprints()
    assert splits.n_classes == 3


def test_parts_of_one_file_are_disjoint_and_drawn_by_seed(tmp_path):
    whole = toy_corpus(500, 0)
    table = whole.table.set_column(0, "premise", pa.array([f"Text {i} here." for i in range(500)]))
    pq.write_table(table, tmp_path / "all.parquet")

    def parts(seed):
        split = {"n_train": 200, "n_valid": 50, "n_test": 100, "seed": seed}
        splits = _read({"split": {"file": str(tmp_path / "all.parquet"), **split}})
        return [corpus.table["premise"].to_pylist() for _, corpus in splits.items()]

    first = parts(0)
    assert [len(part) for part in first] == [200, 50, 100]
    assert len({text for part in first for text in part}) == 350
    assert parts(0) == first
    assert parts(1) != first


def test_training_file_beside_a_split_one(tmp_path):
    paths = _write(tmp_path, train=toy_corpus(100, 1), dev=toy_corpus(90, 2))
    split = {"file": paths["dev"], "n_valid": 30, "n_test": 60, "group_by": "premise"}
    splits = _read({"train": paths["train"], "split": split})
    assert len(splits.train) == 100
    assert len(splits.test) > 20
    premises = [set(corpus.table["premise"].to_pylist()) for _, corpus in splits.items()]
    assert not premises[1] & premises[2]


@pytest.mark.parametrize("cluster", [None, "prompt_id", "writer"])
def test_any_column_of_the_file_may_group_its_parts(tmp_path, cluster):
    table = toy_corpus(90, 2).table
    for name in ("prompt_id", "writer"):
        table = table.append_column(name, pa.array(np.arange(90) // 3))
    pq.write_table(table, tmp_path / "all.parquet")
    split = {"n_train": 30, "n_valid": 20, "n_test": 30, "group_by": "prompt_id"}
    splits = _read({"split": {"file": str(tmp_path / "all.parquet"), **split}, "cluster": cluster})
    prompts = [set(corpus.table["prompt_id"].to_pylist()) for _, corpus in splits.items()]
    assert sum(map(len, prompts)) == len(set.union(*prompts))


def test_rows_without_a_text_are_dropped_on_demand(tmp_path):
    paths = _write(tmp_path, train=toy_corpus(100, 1), valid=toy_corpus(30, 2))
    table = toy_corpus(30, 3).table
    gap = pa.array([None, *table["premise"].to_pylist()[1:]], pa.string())
    pq.write_table(table.set_column(0, "premise", gap), tmp_path / "test.parquet")
    paths["test"] = str(tmp_path / "test.parquet")
    with pytest.raises(InputError, match=r"test\.parquet"):
        _read(paths)
    splits = _read({**paths, "missing_text": "drop"})
    assert len(splits.test) == 29
    assert sum(splits.test.dropped.values()) == 1


def test_quotes_are_read_as_told(tmp_path):
    paths = {}
    for name, corpus in toy_splits().items():
        rows = corpus.table.to_pylist()
        lines = [f'"{row["premise"]}"\t{row["hypothesis"]}\t{row["label"]}' for row in rows]
        path = tmp_path / f"{name}.tsv"
        path.write_text("\n".join(["premise\thypothesis\tlabel", *lines]) + "\n")
        paths[name] = str(path)
    for quoted, first in ((None, '"A '), (False, '"A '), (True, "A ")):
        data = paths if quoted is None else {**paths, "quoted": quoted}
        assert _read(data).test.table["premise"][0].as_py().startswith(first)


def test_a_split_larger_than_its_file_is_refused(tmp_path):
    paths = _write(tmp_path, train=toy_corpus(100, 1), dev=toy_corpus(90, 2))
    with pytest.raises(InputError, match=r"dev\.parquet"):
        _read(
            {"train": paths["train"], "split": {"file": paths["dev"], "n_valid": 90, "n_test": 60}}
        )


def test_a_test_set_of_one_row_is_refused(tmp_path):
    paths = _write(
        tmp_path, train=toy_corpus(100, 1), valid=toy_corpus(30, 2), test=toy_corpus(1, 3)
    )
    with pytest.raises(InputError, match=r"test\.parquet.*test set has 1 labelled rows"):
        _read(paths)


def test_other_text_columns_in_the_test_set_are_refused(tmp_path):
    paths = _write(tmp_path, train=toy_corpus(100, 1), valid=toy_corpus(30, 2))
    table = toy_corpus(30, 3).table.drop_columns(["premise"]).rename_columns(["text", "label"])
    pq.write_table(table, tmp_path / "test.parquet")
    with pytest.raises(InputError, match=r"test\.parquet.*text columns text, the training set"):
        _read({**paths, "test": str(tmp_path / "test.parquet")})


def _one_class(corpus):
    return corpus.take(np.flatnonzero(corpus.labels == 0))


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        (
            "test",
            lambda corpus: replace(corpus, label_names=corpus.label_names[::-1]),
            "the test set has the labels contradiction, neutral, entailment, the training set",
        ),
        (
            "valid",
            lambda corpus: replace(corpus, text_columns=("hypothesis", "premise")),
            "the valid set has the text columns hypothesis, premise",
        ),
        ("test", lambda corpus: corpus.take([0]), "the test set has 1 labelled rows"),
        ("train", _one_class, "two labels"),
    ],
)
def test_corpora_at_hand_are_checked_like_files(name, change, complaint):
    corpora = dict(toy_splits().items())
    with pytest.raises(InputError, match=complaint):
        Splits(**{**corpora, name: change(corpora[name])})


def test_transforming_happens_once_for_the_same_inputs(tmp_path):
    splits = toy_splits()
    swap = Swap()
    built = []

    def build(material):
        built.append([len(corpus) for corpus in material.corpora])
        return swap

    def plan_swap(fingerprint):
        return PlannedTransformation(
            name="swap", fingerprint=fingerprint, options={}, builder=build
        )

    planned = plan_swap("a")
    first = transform_splits(splits, planned, tmp_path)
    assert built == [[300, 90]]  # the test set's words are not to be counted
    again = transform_splits(splits, planned, tmp_path)
    assert len(built) == 1
    for name, corpus in splits.items():
        expected = swap.transform(corpus.table, corpus.text_columns)
        for found in (first, again):
            assert np.array_equal(found.changed[name], expected.changed)
            columns = list(corpus.text_columns)
            assert found.texts[name].versions["transformed"].equals(expected.table.select(columns))
            assert np.array_equal(found.texts[name].labels, corpus.labels)
    transform_splits(splits, plan_swap("b"), tmp_path)
    assert len(built) == 2


def test_a_plan_records_the_transformation_that_is_used():
    config = check_config({"data": {"demo": True}, "phi": "identity"})
    with make_plan(config, splits=toy_splits(), transformation=Swap()) as made:
        (recorded,) = made.settings["transformations"].values()
    assert recorded == {**Swap().describe(), "inputs": Swap().fingerprint}
    with make_plan(config, splits=toy_splits()) as made:
        (recorded,) = made.settings["transformations"].values()
    assert recorded["name"] == "identity"


def test_labels_that_are_not_kept_are_never_scored(tmp_path):
    config = check_config({"data": {"demo": True}})
    with pytest.raises(InputError, match="swap does not keep every row with its label"):
        make_plan(config, splits=toy_splits(), transformation=Swap(keeps_labels=False))

    class Drops(Swap):
        def transform(self, table, text_columns, *, with_edits=True, n_threads=None):
            made = super().transform(table, text_columns, with_edits=with_edits)
            rows = np.arange(len(table))[::-1]
            return replace(made, source_row=rows)

    with pytest.raises(InputError, match="no row is left out or added"):
        transform_splits(toy_splits(), plan(Drops()), tmp_path)
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "tags.sqlite"])
