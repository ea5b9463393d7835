"""Several transformations of one split share an encoding."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ietest_fast.errors import InputError
from ietest_fast.models import EncodedSplit, SplitTexts, load_model
from toys import QUICK, toy_corpus

COLUMNS = ("premise", "hypothesis")
PARAMS = {
    "bow-xgb": {**QUICK, "colsample_bytree": 0.5},
    "cbow": {"epochs": 1, "embedding_size": 8, "hidden_size": 8},
    "cbow with vectors": {"epochs": 1, "hidden_size": 8},
    "align": {},
}


def _replaced(table, old, new):
    for column in COLUMNS:
        texts = pc.replace_substring(table[column], old, new)
        table = table.set_column(table.schema.get_field_index(column), column, texts)
    return table


def _splits(*, swaps):
    sizes = {"train": 200, "valid": 20, "test": 60}
    splits = {}
    for seed, (name, n) in enumerate(sizes.items()):
        corpus = toy_corpus(n, seed)
        versions = {v: _replaced(corpus.table, *swap) for v, swap in swaps.items()}
        splits[name] = SplitTexts(
            versions={"original": corpus.table, **versions}, labels=corpus.labels
        )
    return splits


CBOW = pytest.param("cbow", marks=pytest.mark.train)


@pytest.mark.slow
@pytest.mark.parametrize("name", [CBOW if name == "cbow" else name for name in PARAMS])
def test_other_versions_of_a_run_change_no_result(name, tmp_path):
    options = {}
    if name.startswith("cbow"):
        pytest.importorskip("torch", reason="needs the train extra")
    if name == "cbow with vectors":
        rng = np.random.default_rng(1)
        words = ("boy", "slumbers", "zany", "aardvark", "kitchen")
        lines = [f"{word} {' '.join(map(str, rng.normal(size=6)))}" for word in words]
        (tmp_path / "vectors.txt").write_text("\n".join(lines))
        options["vectors"] = str(tmp_path / "vectors.txt")
    model = load_model(name.split()[0], **options)
    params = {**model.presets.get("default", {}), **PARAMS[name]}
    one = {"a": ("sleeps", "slumbers")}
    more = {"b": ("A man", "An aardvark"), **one, "c": ("stands", "is zany and stands")}
    mask = np.random.default_rng(0).random(200) < 0.5
    found = []
    for swaps in (one, more):
        encoded = model.encode(_splits(swaps=swaps), COLUMNS)
        train, test = encoded["train"].resample(mask, "a"), encoded["test"]
        classifier = model.fit(train, None, params=params, n_classes=3, seed=7)
        rows = [classifier.predict_proba(test.store, test.versions[v]) for v in ("original", "a")]
        found.append(np.stack(rows))
    assert (found[0] == found[1]).all()
    assert (found[0][0] != found[0][1]).any()


@pytest.mark.parametrize("name", ["bow-xgb", CBOW])
def test_versions_that_agree_share_a_row(name):
    if name == "cbow":
        pytest.importorskip("torch", reason="needs the train extra")
    swaps = {"a": ("sleeps", "slumbers"), "b": ("waits", "lingers"), "both": ("sleeps", "slumbers")}
    splits = _splits(swaps=swaps)
    test = load_model(name).encode(splits, COLUMNS)["test"]
    assert list(test.versions) == ["original", "a", "b", "both"]
    assert (test.versions["both"] == test.versions["a"]).all()
    texts = {v: table["hypothesis"].to_pylist() for v, table in splits["test"].versions.items()}
    for (left, ours), (right, theirs) in itertools.combinations(texts.items(), 2):
        same = [a == b for a, b in zip(ours, theirs, strict=True)]
        assert (test.versions[left] == test.versions[right]).tolist() == same
    used = np.concatenate(list(test.versions.values()))
    assert set(used.tolist()) == set(range(len(test.store)))


def test_a_resample_takes_one_version_where_the_mask_is_true():
    rows = {"original": np.arange(4), "a": np.arange(4) + 10, "b": np.arange(4) + 20}
    split = EncodedSplit(store=(), versions=rows, labels=np.zeros(4, np.int8))
    mask = np.array([True, False, False, True])
    assert split.resample().rows.tolist() == [0, 1, 2, 3]
    assert split.resample(None, "b").rows.tolist() == [0, 1, 2, 3]
    assert split.resample(mask, "b").rows.tolist() == [20, 1, 2, 23]
    for version in (None, "c"):
        with pytest.raises(InputError, match="there are original, a, b"):
            split.resample(mask, version)


def test_versions_have_an_original_and_one_length():
    labels = np.zeros(2, np.int8)
    two, three = pa.table({"text": ["a", "b"]}), pa.table({"text": ["a", "b", "c"]})
    with pytest.raises(InputError, match="a split needs a version 'original'; it has a"):
        SplitTexts(versions={"a": two}, labels=labels)
    with pytest.raises(InputError, match="the version 'a' has 3 rows for 2 labels"):
        SplitTexts(versions={"original": two, "a": three}, labels=labels)
