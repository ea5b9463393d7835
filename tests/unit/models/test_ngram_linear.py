"""The linear classifier over n-grams: features, training, and what is kept of it."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from command_line import run_here
from ietest_fast.corpus import demo_splits
from ietest_fast.errors import InputError
from ietest_fast.models import as_classifier, load_model
from ietest_fast.models.ngrams import (
    NgramOptions,
    encode_inputs,
    normalise_words,
    read_ngram_classifier,
)
from ietest_fast.models.protocol import EncodedRows, SplitTexts
from ietest_fast.philox import philox_key
from ietest_fast.runtime import load_core
from reference.softmax_oracle import train as train_slowly

COLUMNS = ("premise", "hypothesis")
ODD = (
    "",
    "  ,.!  ",
    "A dog, a DOG; a dog's bone.",
    "Über den naïven Straßen 木 立 x_y 3,14",
    "one",
    "isn't it",
    "a b c d e f g",
)


def _hashing(options, *, norm):
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        ngram_range=(1, options.max_n),
        token_pattern=r"(?u)\w+",
        binary=True,
        alternate_sign=False,
        norm=norm,
        n_features=2**options.bits,
        dtype=np.float64,
    )


def _dense(rows, n_buckets):
    matrix = np.zeros((len(rows), n_buckets))
    for i in range(len(rows)):
        own = rows.columns[rows.offsets[i] : rows.offsets[i + 1]]
        matrix[i, rows.buckets[own]] = 1 / np.sqrt(max(rows.sizes[i], 1))
    return matrix


@pytest.mark.peer
@pytest.mark.parametrize("max_n", [1, 2, 4])
@pytest.mark.parametrize("bits", [3, 12])
def test_features_are_those_of_scikit_learns_hashing_vectorizer(max_n, bits):
    """With few buckets n-grams collide: they then count once."""
    options = NgramOptions(max_n=max_n, bits=bits)
    every = np.arange(2**bits, dtype=np.int32)
    rows, which = encode_inputs(pa.table({"text": ODD}), options, every)
    expected = _hashing(options, norm="l2").transform(ODD).toarray()
    np.testing.assert_allclose(_dense(rows, 2**bits)[which], expected, atol=1e-12)
    assert rows.sizes[which[0]] == 0


@pytest.mark.peer
@pytest.mark.parametrize("texts", ["apart", "joined"])
def test_features_of_pairs(texts):
    from sklearn.preprocessing import normalize

    options = NgramOptions(max_n=3, bits=10, texts=texts)
    table = pa.table({"premise": ODD, "hypothesis": ODD[::-1]})
    hashing = _hashing(options, norm=None)
    if texts == "apart":
        parts = [hashing.transform(table[name].to_pylist()).toarray() for name in COLUMNS]
        expected = normalize(np.hstack(parts))
    else:
        pairs = zip(*(table[name].to_pylist() for name in COLUMNS), strict=True)
        expected = normalize(hashing.transform([" ".join(pair) for pair in pairs]).toarray())
    every = np.arange(expected.shape[1], dtype=np.int32)
    rows, which = encode_inputs(table, options, every)
    np.testing.assert_allclose(_dense(rows, len(every))[which], expected, atol=1e-12)


@pytest.mark.peer
def test_hashes_are_those_of_murmurhash3():
    """Its known answers, by way of scikit-learn, which ships the published code."""
    from sklearn.utils import murmurhash3_32

    words = ["a", "ab", "abc", "abcd", "naïve", "木", "a" * 1000, "0123456789"]
    _, buckets = load_core().linear.hash_ngrams(pa.array(words), max_n=1, bits=30)
    expected = [abs(murmurhash3_32(word)) % 2**30 for word in words]
    assert buckets.tolist() == expected


def test_words_are_lower_case_runs_of_word_characters():
    assert normalise_words(
        pa.array(["The dog's X_1!", "木-立"], pa.large_string())
    ).to_pylist() == [
        "the dog s x_1",
        "木 立",
    ]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"max_n": 0}, "max_n must be a whole number from 1 to 10, not 0"),
        ({"bits": 27}, "bits must be a whole number from 1 to 26, not 27"),
        ({"bits": "many"}, "bits must be a whole number"),
        ({"texts": "both"}, 'texts must be "apart" or "joined"'),
    ],
)
def test_options_are_checked(options, match):
    with pytest.raises(InputError, match=match):
        load_model("ngram-linear", **options)


def _splits(n_train=300, n_test=200):
    parts = demo_splits(n_train=n_train, n_valid=10, n_test=n_test, seed=3)
    splits = {}
    for split, corpus in zip(("train", "valid", "test"), parts, strict=True):
        words = [text.as_py().replace("dog", "hound") for text in corpus.texts("premise")]
        marks = [f"{text.as_py().upper()} !" for text in corpus.texts("premise")]
        splits[split] = SplitTexts(
            versions={
                "original": corpus.table,
                "hounds": corpus.table.set_column(0, "premise", [words]),
                "marks": corpus.table.set_column(0, "premise", [marks]),
            },
            labels=corpus.labels,
        )
    return splits


PARAMS = {"epochs": 3, "learning_rate": 1.0, "l2": 1e-3}


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("l2", [0.0, 0.02])
def test_training_is_that_of_the_obvious_way(n_classes, l2):
    rng = np.random.default_rng(n_classes)
    lengths = rng.integers(0, 7, 60)
    columns = [np.sort(rng.choice(30, length, replace=False)) for length in lengths]
    sizes = lengths + rng.integers(0, 3, 60)  # some features are no columns
    labels = rng.integers(0, n_classes, 90).astype(np.int8)
    chosen = rng.integers(0, 60, 90)
    x = np.zeros((60, 30))
    for i, own in enumerate(columns):
        x[i, own] = 1 / np.sqrt(max(sizes[i], 1))
    how = {"n_classes": n_classes, "epochs": 4, "learning_rate": 1.5, "l2": l2}
    weights, intercepts = load_core().linear.train_softmax(
        np.concatenate(([0], np.cumsum(lengths))),
        np.concatenate(columns).astype(np.int32),
        sizes.astype(np.int32),
        n_columns=30,
        chosen=chosen,
        labels=labels,
        key=philox_key(7),
        **how,
    )
    expected, bias = train_slowly(x[chosen], labels, key=philox_key(7), **how)
    assert weights.shape == (30, -(-n_classes // 4) * 4)
    assert (weights[:, n_classes:] == 0).all()
    np.testing.assert_allclose(weights[:, :n_classes], expected, atol=2e-5)
    np.testing.assert_allclose(intercepts, bias, atol=2e-5)


@pytest.mark.peer
def test_many_epochs_reach_the_optimum_of_scikit_learn():
    from sklearn import linear_model

    splits = _splits()
    model = load_model("ngram-linear", bits=14)
    encoded = model.encode(splits, COLUMNS)
    train, test = encoded["train"].resample(), encoded["test"]
    l2 = 0.01
    params = {"epochs": 2000, "learning_rate": 0.1, "l2": l2}
    ours = model.fit(train, None, params=params, n_classes=3, seed=0)
    x, z = (_dense(own.store, 2**15)[own.original] for own in (encoded["train"], test))
    # Its penalty is that of the sum, not of the mean.
    theirs = linear_model.LogisticRegression(C=1 / (l2 * len(x)), tol=1e-8, max_iter=2000)
    theirs.fit(x, train.labels)
    np.testing.assert_allclose(
        ours.predict_proba(test.store, test.original), theirs.predict_proba(z), atol=5e-4
    )


def test_versions_that_differ_in_case_and_marks_share_a_row():
    encoded = load_model("ngram-linear").encode(_splits(), COLUMNS)
    for split in encoded.values():
        assert (split.versions["marks"] == split.original).all()
    train = encoded["train"]
    assert (train.versions["hounds"] != train.original).any()


@pytest.mark.slow
@pytest.mark.parametrize("texts", ["apart", "joined"])
def test_encoding_holds_little_beside_the_store(texts):
    """A 64-bit place for each n-gram alone would be twice the store."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(500)])
    table = pa.table(
        {
            name: [" ".join(own) for own in words[rng.integers(0, 500, (40_000, n))]]
            for name, n in zip(COLUMNS, (16, 10), strict=True)
        }
    )
    splits = {"train": SplitTexts(versions={"original": table}, labels=np.zeros(40_000, np.int8))}
    model = load_model("ngram-linear", bits=10, texts=texts)
    model.encode({"train": _splits(40, 20)["train"]}, COLUMNS)
    tracemalloc.start()
    try:
        store = model.encode(splits, COLUMNS)["train"].store
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    n_entries = len(store.columns)
    assert n_entries > 3_000_000
    # Rows have a few numbers of 8 bytes each, too; 16 MiB are what is looked at together.
    assert peak < 4 * n_entries + 40_000 * 8 * 20 + (16 << 20) < 12 * n_entries


def _fit(model, encoded, **how):
    train = encoded["train"].resample()
    return model.fit(train, None, params=PARAMS, n_classes=3, **{"seed": 0, **how})


def test_threads_versions_and_further_splits_change_nothing():
    """Columns are numbered by all versions, and numbers do not count."""
    splits = _splits()
    model = load_model("ngram-linear", bits=16)
    first = model.encode(splits, COLUMNS)
    alone = {
        name: replace(own, versions={"original": own.original}) for name, own in splits.items()
    }
    more = model.encode({**splits, "further hounds": splits["test"]}, COLUMNS)
    fewer = model.encode(alone, COLUMNS)
    expected = _fit(model, first).predict_logits(first["test"].store, first["test"].original)
    for encoded, n_threads in ((first, 3), (more, 1), (fewer, 1), (fewer, 7)):
        test = encoded["test"]
        classifier = _fit(model, encoded, n_threads=n_threads)
        assert (classifier.predict_logits(test.store, test.original) == expected).all()
    assert len(fewer["train"].store.buckets) < len(first["train"].store.buckets)
    other = _fit(model, first, seed=1).predict_logits(first["test"].store, first["test"].original)
    assert (other != expected).any()


def test_a_training_can_be_undone():
    """Trained on a part, it knows nothing of the rest, and the store is as it was."""
    model = load_model("ngram-linear", bits=16)
    encoded = model.encode(_splits(), COLUMNS)
    train, test = encoded["train"], encoded["test"]
    before = {name: array.copy() for name, array in train.store.arrays().items()}
    rows = EncodedRows(
        store=train.store, rows=train.original[:50], labels=np.asarray(train.labels[:50])
    )
    few = model.fit(rows, None, params=PARAMS, n_classes=3, seed=0)
    _fit(model, encoded)
    again = model.fit(rows, None, params=PARAMS, n_classes=3, seed=0)
    assert (few.weights == again.weights).all()
    seen = np.zeros(len(train.store.buckets), dtype=bool)
    for row in rows.rows:
        seen[train.store.columns[train.store.offsets[row] : train.store.offsets[row + 1]]] = True
    assert not few.weights[~seen].any()
    assert few.weights[seen].any(axis=1).all()
    for name, array in train.store.arrays().items():
        assert (array == before[name]).all()
    assert few.predict(test.store, test.original).dtype == np.int8


def test_an_empty_training_set_of_words_is_refused():
    table = pa.table({"premise": ["..", "!"], "hypothesis": ["", "?"]})
    split = SplitTexts(versions={"original": table}, labels=np.array([0, 1], np.int8))
    with pytest.raises(InputError, match="the training texts contain no word"):
        load_model("ngram-linear").encode({"train": split}, COLUMNS)


def test_a_row_without_known_words_gets_the_intercepts():
    model = load_model("ngram-linear", bits=20)
    encoded = model.encode(_splits(), COLUMNS)
    classifier = _fit(model, encoded)
    table = pa.table({"premise": ["zzz qqq"], "hypothesis": [""]})
    rows, which = encode_inputs(table, NgramOptions(bits=20), classifier.buckets)
    np.testing.assert_array_equal(classifier.predict_logits(rows, which)[0], classifier.intercepts)


@pytest.mark.parametrize("columns", [COLUMNS, ("hypothesis",)])
def test_what_is_kept_answers_as_before(tmp_path, columns):
    splits = _splits()
    model = load_model("ngram-linear", bits=16)
    encoded = model.encode(splits, columns)
    test = encoded["test"]
    classifier = _fit(model, encoded)
    expected = classifier.predict_logits(test.store, test.original)
    names = ("entailment", "neutral", "contradiction")
    classifier.save(tmp_path, label_names=names)
    restored = model.restore(tmp_path, params=PARAMS)
    np.testing.assert_array_equal(restored.predict_logits(test.store, test.original), expected)
    finished = as_classifier(tmp_path)
    assert finished.labels == names
    scores = finished.score(splits["test"].original.select(list(columns)))
    np.testing.assert_array_equal(scores.logits, expected)
    assert finished.fingerprint == as_classifier(str(tmp_path)).fingerprint
    with pytest.raises(InputError, match=r"trained on . texts an input, and there are 3 columns"):
        finished.score(pa.table({name: ["a"] for name in "abc"}))
    with pytest.raises(InputError, match="was trained with other options"):
        load_model("ngram-linear", bits=17).restore(tmp_path, params=PARAMS)


def _damage(folder, kind):
    weights, config = folder / "ngram-linear.npz", folder / "config.json"
    arrays = dict(np.load(weights))
    settings = json.loads(config.read_text())
    if kind == "cut short":
        weights.write_bytes(weights.read_bytes()[:100])
    elif kind in {"no weights", "no config"}:
        (weights if kind == "no weights" else config).unlink()
    elif kind == "another model":
        config.write_text(json.dumps({**settings, "model_type": "bert"}))
    elif kind == "no count of texts":
        config.write_text(json.dumps({**settings, "n_texts": True}))
    elif kind == "a list of texts":
        config.write_text(json.dumps({**settings, "n_texts": [1]}))
    elif kind == "texts as a float":
        config.write_text(json.dumps({**settings, "n_texts": 1.0}))
    elif kind == "bad option":
        config.write_text(json.dumps({**settings, "bits": 99}))
    elif kind == "a label too few":
        config.write_text(json.dumps({**settings, "id2label": {"0": "a", "1": "b"}}))
    elif kind == "not a number":
        arrays["weights"][0, 0] = np.nan
        np.savez(weights, **arrays)
    elif kind.startswith("buckets"):  # whose difference may be more than 32 bits tell
        wrong = (2**31 - 1, -(2**31) + 3) if kind == "buckets that wrap" else 2**20
        arrays["buckets"][-2:] = wrong
        np.savez(weights, **arrays)
    elif kind == "other shapes":
        np.savez(weights, **{**arrays, "weights": arrays["weights"][:-1]})
    elif kind == "other types":
        np.savez(weights, **{**arrays, "weights": arrays["weights"].astype(np.float64)})


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        ("cut short", "is no whole zip archive"),
        ("no weights", r"ngram-linear\.npz: there is no such file|ngram-linear\.npz: no such file"),
        ("no config", "there is no config.json beside ngram-linear.npz"),
        ("another model", "is not of a model 'ngram-linear'"),
        ("no count of texts", "n_texts must be 1 or 2"),
        ("a list of texts", r"n_texts must be 1 or 2, not \[1\]"),
        ("texts as a float", "n_texts must be 1 or 2, not 1.0"),
        ("bad option", "bits must be a whole number"),
        ("a label too few", "id2label names 2 labels"),
        ("not a number", "a weight is no number"),
        ("buckets too large", "its buckets are not ascending numbers below"),
        ("buckets that wrap", "its buckets are not ascending numbers below"),
        ("other shapes", "its arrays do not fit together"),
        ("other types", "weights is float64"),
    ],
)
def test_damaged_files_are_refused(tmp_path, kind, match):
    model = load_model("ngram-linear", bits=16)
    encoded = model.encode(_splits(40, 20), COLUMNS)
    _fit(model, encoded).save(tmp_path, label_names=("a", "b", "c"))
    _damage(tmp_path, kind)
    with pytest.raises(InputError, match=match):
        as_classifier(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("max_n", 2, "max_n 4, but config.json beside it says 2"),
        ("bits", 20, "bits 16, but config.json beside it says 20"),
        ("texts", "joined", "texts 'apart', but config.json beside it says 'joined'"),
        ("n_texts", 1, "n_texts 2, but config.json beside it says 1"),
    ],
)
def test_settings_that_the_weights_were_not_trained_with_are_refused(tmp_path, name, value, said):
    model = load_model("ngram-linear", bits=16)
    fitted = _fit(model, model.encode(_splits(40, 20), COLUMNS))
    # Without one in the upper half, the buckets are such as one text has.
    low = fitted.buckets < 2**16
    fitted = replace(fitted, weights=np.where(low[:, None], fitted.weights, 0))
    fitted.save(tmp_path, label_names=("a", "b", "c"))
    config, weights = tmp_path / "config.json", tmp_path / "ngram-linear.npz"
    settings = json.loads(config.read_text())
    config.write_text(json.dumps({**settings, name: value}))
    with pytest.raises(InputError, match=rf"ngram-linear\.npz: was trained with {said}; put"):
        read_ngram_classifier(tmp_path)
    config.write_text(json.dumps(settings))
    new, _ = read_ngram_classifier(tmp_path)
    arrays = dict(np.load(weights))
    np.savez(weights, **{each: arrays[each] for each in ("buckets", "weights", "intercepts")})
    old, _ = read_ngram_classifier(tmp_path)  # as an earlier version has written it
    assert (old.options, old.n_texts) == (new.options, new.n_texts) == (fitted.options, 2)
    np.testing.assert_array_equal(old.weights, new.weights)


def test_a_classifier_without_a_weight_is_read_again_and_answers_by_its_intercepts(tmp_path):
    model = load_model("ngram-linear", bits=16)
    encoded = model.encode(_splits(40, 20), COLUMNS)
    fitted = _fit(model, encoded)
    intercepts = np.array([0.0, 2.0, 1.0], np.float32)
    none = replace(fitted, weights=np.zeros_like(fitted.weights), intercepts=intercepts)
    none.save(tmp_path, label_names=("a", "b", "c"))
    found, labels = read_ngram_classifier(tmp_path)
    assert (labels, len(found.buckets)) == (("a", "b", "c"), 0)
    assert found != none
    test = encoded["test"]
    for classifier in (found, none):
        scores = classifier.predict_logits(test.store, test.original)
        assert scores.tolist() == [intercepts.tolist()] * len(test.original)


RUN = (
    "run", "--demo", "--demo-sizes", "400,50,300", "--model", "ngram-linear", "--search", "default",
    "--rho", "0,1", "-M", "2", "--n-jobs", "1", "--phi", "syn.careful", "--json",
)  # fmt: skip


def _run(*arguments, folder):
    status, out, err = run_here(*arguments, folder=folder)
    assert status == 0, err
    return json.loads(out)


@pytest.mark.slow
def test_a_run_keeps_them_and_they_answer_more_later(tmp_path):
    first = _run(*RUN, "--keep-models", "--out", "run", folder=tmp_path)
    kept = sorted(path.name for path in (tmp_path / "run" / "models").iterdir())
    assert kept == ["rho-0-m-0", "rho-0-m-1", "rho-1-m-0", "rho-1-m-1"]
    assert first["software"]["model"].startswith("ietest_fast ")
    late = _run(*RUN, "--eval-phi", "negation", "--out", "run", folder=tmp_path)
    whole = _run(*RUN, "--eval-phi", "negation", "--out", "whole", folder=tmp_path)
    assert late == whole
    assert late["conditions"] == first["conditions"]


@pytest.mark.slow
def test_processes_and_threads_do_not_matter(tmp_path):
    first = _run(*RUN, "--out", "one", folder=tmp_path)
    others = [*RUN, "--n-threads", "2", "--out", "others"]
    others[others.index("--n-jobs") + 1] = "2"
    assert _run(*others, folder=tmp_path) == first


@pytest.mark.slow
def test_a_kept_classifier_is_evaluated_on_the_command_line(tmp_path):
    import pyarrow.parquet as pq

    result = _run(*RUN, "--keep-models", "--out", "run", folder=tmp_path)
    _, _, test = demo_splits(n_train=400, n_valid=50, n_test=300, seed=0)
    names = np.array(test.label_names)[test.labels]
    table = test.table.select(list(COLUMNS)).append_column("label", [names])
    pq.write_table(table, tmp_path / "test.parquet")
    command = ("eval", "--model", "run/models/rho-0-m-1", "--test", "test.parquet")
    found = _run(*command, "--phi", "syn.careful", "--json", folder=tmp_path)
    cell = result["conditions"][0]["rhos"][0]["cells"][1]
    assert found["accuracy_original"] == pytest.approx(cell["accuracy_original"])
    status, _, err = run_here(*command, "--precision", "bf16", folder=tmp_path)
    assert status == 2
    assert "--precision is for networks, and this model is linear" in err
