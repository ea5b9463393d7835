"""Every registered model learns the demonstration corpus, and does it the same way twice."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.corpus import demo_splits
from ietest_fast.errors import InputError
from ietest_fast.lexicon.token_table import offsets_of
from ietest_fast.models import load_model, model_names
from ietest_fast.models.alignment import N_KINDS, similarity
from ietest_fast.models.networks import read_vectors, split_words
from ietest_fast.models.protocol import EncodedRows, SplitTexts
from ietest_fast.models.tokens import Rows

# How far above the share of the commonest label (a third) each gets on 3,000 pairs, with random
# word vectors. One sequence of both texts is hard to compare for the recurrent networks.
GAIN = {
    "bow-xgb": 0.2,
    "bow-rf": 0.2,
    "ngram-linear": 0.1,
    "align": 0.15,
    "cbow": 0.15,
    "bilstm": 0.15,
    "rnn": 0.07,
    "gru": 0.07,
    "lstm": 0.07,
}
# Networks that are trained in a moment, for what does not hang on learning.
SMALL = {"epochs": 1, "embedding_size": 16, "hidden_size": 16, "learning_rate": 0.01}
NETWORKS = ("cbow", "bilstm", "rnn", "gru", "lstm")


def _each(names):
    """Mark those that torch trains."""
    return [pytest.param(n, marks=pytest.mark.train if n in NETWORKS else ()) for n in names]


def _need(name):
    if name in NETWORKS:
        pytest.importorskip("torch", reason="needs the train extra")
        pytest.importorskip("transformers", reason="needs the train extra")


@functools.cache
def _splits():
    parts = demo_splits(n_train=3000, n_valid=10, n_test=600, seed=3)
    splits = {}
    for split, corpus in zip(("train", "valid", "test"), parts, strict=True):
        words = [text.as_py().replace("dog", "hound") for text in corpus.texts("premise")]
        transformed = corpus.table.set_column(0, "premise", [words])
        assert corpus.table.column_names[0] == "premise"
        splits[split] = SplitTexts(
            versions={"original": corpus.table, "transformed": transformed}, labels=corpus.labels
        )
    return splits


@functools.cache
def _encoded(name):
    model = load_model(name)
    return model, model.encode(_splits(), ("premise", "hypothesis"))


def _params(model, **changes):
    preset = model.presets.get("default", model.presets.get("table7-snli"))
    return {**preset, **{name: value for name, value in changes.items() if name in preset}}


def _fit(name, *, seed=0, mask=None, **changes):
    model, encoded = _encoded(name)
    rows = encoded["train"].resample(mask, "transformed")
    if changes:
        rows = EncodedRows(store=rows.store, rows=rows.rows[:500], labels=rows.labels[:500])
    params = _params(model, **changes)
    return model.fit(rows, None, params=params, n_classes=3, seed=seed)


def test_every_model_of_the_registry_is_tested_here():
    assert {*GAIN, "transformer"} == set(model_names())


@pytest.mark.slow
@pytest.mark.parametrize("name", _each(GAIN))
def test_it_learns_the_demonstration_corpus(name):
    _need(name)
    _, encoded = _encoded(name)
    test = encoded["test"]
    classifier = _fit(name)
    labels = classifier.predict(test.store, test.original)
    assert labels.dtype == np.int8
    commonest = np.bincount(test.labels).max() / len(test)
    assert np.mean(labels == test.labels) > commonest + GAIN[name]
    probabilities = classifier.predict_proba(test.store, test.original)
    assert probabilities.shape == (len(test), 3)
    assert probabilities.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert (probabilities.argmax(axis=1) == labels).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", _each(GAIN))
def test_equal_seeds_give_equal_labels_and_other_seeds_or_data_others(name):
    _need(name)
    _, encoded = _encoded(name)
    test = encoded["test"]

    def probabilities(**how):
        return _fit(name, **SMALL, **how).predict_proba(test.store, test.original)

    first = probabilities()
    assert (first == probabilities()).all()
    if name != "align":  # one optimum
        assert (first != probabilities(seed=1)).any()
    mask = np.arange(len(encoded["train"])) % 2 == 0
    assert (first != probabilities(mask=mask)).any()


@pytest.mark.slow
@pytest.mark.parametrize("name", _each(GAIN))
def test_a_store_is_its_arrays(name):
    _need(name)
    model, encoded = _encoded(name)
    test = encoded["test"]
    classifier = _fit(name, **SMALL)
    again = model.load_store({key: array.copy() for key, array in test.store.arrays().items()})
    rows = test.versions["transformed"][::-1]
    assert len(again) == len(test.store)
    assert (classifier.predict(again, rows) == classifier.predict(test.store, rows)).all()
    assert (test.original == test.versions["transformed"]).any()
    assert (test.original != test.versions["transformed"]).any()


@pytest.mark.parametrize("name", GAIN)
def test_hyperparameters_are_checked(name):
    model = load_model(name)
    default = next(iter(model.presets.values()))
    assert model.check_params(default) == []
    for key in default:
        assert any(key in line for line in model.check_params({**default, key: -1}))
        assert any(
            key in line
            for line in model.check_params({k: v for k, v in default.items() if k != key})
        )
    assert set(model.search_space) == set(default)


@pytest.mark.parametrize("name", _each(["cbow", "bilstm", "lstm", "bow-rf"]))
def test_single_texts_will_do(name):
    _need(name)
    model = load_model(name)
    encoded = model.encode(_splits(), ("hypothesis",))
    params = _params(model, **SMALL)
    classifier = model.fit(encoded["train"].resample(), None, params=params, n_classes=3, seed=0)
    test = encoded["test"]
    assert classifier.predict_proba(test.store, test.original).shape == (len(test), 3)


def test_align_wants_pairs():
    with pytest.raises(InputError, match="compares two texts; it has hypothesis"):
        load_model("align").encode(_splits(), ("hypothesis",))


def _align_one_by_one(premise, hypothesis):
    """The definition, for words that are all nouns."""
    best = [max((similarity(p, h) for p in premise), default=0.0) for h in hypothesis]
    return (np.mean(best), min(best)) if best else (1.0, 1.0)


def test_alignments_are_those_of_the_definition():
    from ietest_fast.lexicon.token_table import UPOS, TokenTags
    from ietest_fast.models.alignment import _align, _Words

    texts = ["cat Cats dog", "", "dog horse cat", "horses"]
    pieces = [[(m.group(), *m.span()) for m in re.finditer(r"\w+", text)] for text in texts]
    spans = np.array([span for row in pieces for _, *span in row], np.int32)
    tags = TokenTags(
        offsets=np.cumsum([0, *map(len, pieces)]),
        start=spans[:, 0],
        end=spans[:, 1],
        pos=np.full(len(spans), UPOS.index("NOUN"), np.uint8),
        number=np.zeros(len(spans), np.int8),
    )
    words = _Words.read(texts, tags)
    premise, hypothesis = (grid.ravel() for grid in np.meshgrid(np.arange(4), np.arange(4)))
    features = _align(words, premise, hypothesis)
    assert features.shape == (16, 2 * N_KINDS)
    lower = [[word.lower() for word, *_ in row] for row in pieces]
    for row, (p, h) in enumerate(zip(premise, hypothesis, strict=True)):
        mean, least = _align_one_by_one(lower[p], lower[h])
        assert features[row, 0] == pytest.approx(mean)
        assert features[row, N_KINDS] == pytest.approx(least)
        assert (np.delete(features[row], [0, N_KINDS]) == 1).all()
    assert similarity("cat", "cats") == 0.75
    for at_once in (1, 5, 16):
        assert (_align(words, premise, hypothesis, at_once=at_once) == features).all()


@pytest.mark.parametrize("most", [1, 50, 20_000, 10**9])
def test_pairs_of_long_texts_are_compared_in_small_parts(most):
    sizes = np.random.default_rng(0).integers(0, 400 * 50, 300)
    parts = [slice(*run) for run in Rows(offsets=offsets_of(sizes)).runs(most)]
    assert [row for part in parts for row in range(300)[part]] == list(range(300))
    for part, after in zip(parts, [*parts[1:], slice(300, 300)], strict=True):
        assert sizes[part].sum() <= most or part.stop - part.start == 1
        # And none is smaller than it has to be.
        assert part.stop == 300 or sizes[part].sum() + sizes[after.start] > most


def test_words_are_lower_case_and_marks_stand_alone():
    assert split_words("The BOY's dog—runs, été 3.5!") == [
        *("the", "boy", "'", "s", "dog", "—", "runs", ",", "été", "3", ".", "5", "!")
    ]


def test_word_vectors_are_read_as_glove_and_fasttext_write_them(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("3 2\nThe 1 2\nboy 3 4 \n. . 5 6\nboy 7 8\nzebra 9 9\n")
    found = read_vectors(path, {"the", "boy", ". .", "absent"})
    assert {word: vector.tolist() for word, vector in found.items()} == {
        "the": [1, 2],
        "boy": [3, 4],
        ". .": [5, 6],
    }
    for text, message in (
        ("a 1 2\nb 1\n", "line 2: 1 numbers, where the lines before have 2"),
        ("a 1 x\n", "no numbers behind its word"),
        ("a 1 2\nb nan 2\n", "line 2: not a finite number"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_vectors(path, {"a", "b"})
    path.write_bytes(b"a 1\xff 2\n")
    with pytest.raises(InputError, match="cannot be read"):
        read_vectors(path, {"a"})


@pytest.mark.train
def test_given_vectors_are_used_for_words_that_training_never_saw(tmp_path):
    _need("cbow")
    n = 400
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n).astype(np.int8)
    good, bad = ["fine", "great", "nice"], ["awful", "poor", "sad"]
    texts = [str(rng.choice(good if label else bad)) for label in labels]
    train = SplitTexts(
        versions={"original": pa.table({"text": texts}), "transformed": pa.table({"text": texts})},
        labels=labels,
    )
    unseen = pa.table({"text": ["superb", "dreadful"]})
    test = SplitTexts(
        versions={"original": unseen, "transformed": unseen}, labels=np.array([1, 0], np.int8)
    )
    path = tmp_path / "vectors.txt"
    lines = [f"{word} 1 {i / 10}" for i, word in enumerate([*good, "superb"])]
    lines += [f"{word} -1 {i / 10}" for i, word in enumerate([*bad, "dreadful"])]
    path.write_text("\n".join(lines))
    model = load_model("cbow", vectors=str(path))
    assert "embedding_size" not in model.search_space
    encoded = model.encode({"train": train, "test": test}, ("text",))
    params = {**model.presets["default"], "epochs": 10}
    classifier = model.fit(encoded["train"].resample(), None, params=params, n_classes=2, seed=0)
    assert classifier.predict(encoded["test"].store, encoded["test"].original).tolist() == [1, 0]
    # The file counts by what is in it.
    before = model.options["vectors"]
    path.rename(tmp_path / "elsewhere.txt")
    again = load_model("cbow", vectors=str(tmp_path / "elsewhere.txt"))
    assert again.options["vectors"] == before
    with pytest.raises(InputError, match="no such file of word vectors"):
        load_model("lstm", vectors=str(path))
    path.write_text("bonjour 1 2\n")
    with pytest.raises(InputError, match="a vector for none of the 8 words"):
        load_model("lstm", vectors=str(path)).encode({"train": train, "test": test}, ("text",))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("lstm", {"pooling": "sum"}, "pooling must be"),
        ("gru", {"min_count": 0}, "min_count must be 1 or more"),
        ("bow-rf", {"weighting": "x"}, "weighting must be"),
    ],
)
def test_options_are_checked(name, options, message):
    with pytest.raises(InputError, match=message):
        load_model(name, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bow-xgb", "bow-rf"])
def test_bags_of_words_may_be_weighted(name):
    model = load_model(name, weighting="tfidf")
    encoded = model.encode(_splits(), ("premise", "hypothesis"))
    rows, test = encoded["train"].resample(), encoded["test"]
    classifier = model.fit(rows, None, params=_params(model), n_classes=3, seed=0)
    right = np.mean(classifier.predict(test.store, test.original) == test.labels)
    assert right > np.bincount(test.labels).max() / len(test) + 0.15


@pytest.mark.parametrize("name", _each(NETWORKS))
@pytest.mark.parametrize("pooling", ["last", "mean", "max"])
def test_padding_changes_nothing(name, pooling):
    """A text is scored alike alone and among longer ones."""
    _need(name)
    options = {} if name == "cbow" else {"pooling": pooling}
    model = load_model(name, **options)
    encoded = model.encode(_splits(), ("premise", "hypothesis"))
    params = _params(model, **SMALL, n_layers=2)
    classifier = model.fit(encoded["valid"].resample(), None, params=params, n_classes=3, seed=0)
    test = encoded["test"]
    rows = test.original[:40]
    together = classifier.predict_logits(test.store, rows)
    alone = np.concatenate(
        [classifier.predict_logits(test.store, rows[i : i + 1]) for i in range(40)]
    )
    assert together == pytest.approx(alone, abs=1e-5)


@pytest.mark.train
def test_the_files_of_words_are_not_needed_again(tmp_path):
    """Workers get arrays, not the file of vectors."""
    _need("cbow")
    path = Path(tmp_path / "v.txt")
    path.write_text("dog 1 2 3\n")
    model = load_model("cbow", vectors=str(path))
    encoded = model.encode(_splits(), ("premise",))
    path.unlink()
    store = model.load_store(encoded["train"].store.arrays())
    assert store.vectors.shape[1] == 3
