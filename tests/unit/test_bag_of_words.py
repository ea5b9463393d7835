"""The baseline model: training, prediction, presets."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.errors import InputError
from ietest_fast.models import SplitTexts, load_model, model_names
from ietest_fast.models.bag_of_words import BagOfWordsXGBoost
from toys import QUICK, Swap, toy_splits

COLUMNS = ["premise", "hypothesis"]


def _encode(model, swap=None):
    swap = Swap() if swap is None else swap
    return model.encode(
        {
            name: SplitTexts(
                versions={
                    "original": corpus.table,
                    "transformed": swap.transform(corpus.table, COLUMNS).table,
                },
                labels=corpus.labels,
            )
            for name, corpus in toy_splits().items()
        },
        COLUMNS,
    )


@pytest.mark.peer
def test_tfidf_agrees_with_scikit_learn():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    from ietest_fast.models.bag_of_words import inverse_document_frequency, weight_tfidf

    corpus = toy_splits().train
    joined = [
        f"{a} {b}" for a, b in zip(*(corpus.table[c].to_pylist() for c in COLUMNS), strict=True)
    ]
    counts = _encode(BagOfWordsXGBoost(), Swap(old="no such word"))["train"].store.matrix()
    ours = weight_tfidf(counts, inverse_document_frequency(counts))
    theirs = text.TfidfVectorizer().fit_transform(joined)
    assert ours.shape == theirs.shape
    assert abs(ours - theirs).max() < 1e-6


@pytest.mark.parametrize("weighting", ["count", "tfidf"])
def test_learns_what_there_is_to_learn(weighting):
    model = load_model("bow-xgb", weighting=weighting)
    encoded = _encode(model)
    classifier = model.fit(
        encoded["train"].resample(), None, params={**QUICK, "subsample": 1.0}, n_classes=3, seed=1
    )
    test = encoded["test"]
    accuracy = np.mean(classifier.predict(test.store, test.original) == test.labels)
    assert 0.7 < accuracy < 0.9  # 0.8 is what the labels allow
    probabilities = classifier.predict_proba(test.store, test.original)
    assert probabilities.dtype == np.float32
    assert probabilities.shape == (len(test), 3)
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("weighting", ["count", "tfidf"])
def test_same_seed_same_classifier_on_any_number_of_threads(weighting):
    model = BagOfWordsXGBoost(weighting=weighting)
    encoded = _encode(model)
    rows = encoded["train"].resample()

    def predict(seed, n_threads):
        classifier = model.fit(
            rows, None, params=QUICK, n_classes=3, seed=seed, n_threads=n_threads
        )
        return classifier.predict_proba(rows.store, rows.rows)

    first = predict(1, 1)
    assert np.array_equal(first, predict(1, 2))
    assert not np.array_equal(first, predict(2, 1))


def test_leaving_out_words_of_a_single_row_changes_no_tree():
    import xgboost as xgb

    model = BagOfWordsXGBoost()
    n = 60
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, n).astype(np.int8)
    texts = [
        " ".join([f"word{rng.integers(12)}" for _ in range(6)] + [f"hint{label}", f"only{i}"])
        for i, label in enumerate(labels)
    ]
    table = pa.table({"text": texts})
    encoded = model.encode(
        {"train": SplitTexts(versions={"original": table, "transformed": table}, labels=labels)},
        ["text"],
    )["train"]
    params = {**QUICK, "subsample": 1.0, "colsample_bytree": 1.0}
    ours = model.fit(encoded.resample(), None, params=params, n_classes=3, seed=3)
    rest = {name: value for name, value in params.items() if name != "n_estimators"}
    everything = encoded.store.matrix()
    booster = xgb.train(
        {**rest, "objective": "multi:softprob", "num_class": 3, "tree_method": "hist", "seed": 3},
        xgb.QuantileDMatrix(everything, labels),
        num_boost_round=params["n_estimators"],
    )
    assert np.array_equal(
        ours.predict_proba(encoded.store, encoded.original), booster.inplace_predict(everything)
    )


def test_a_resample_takes_the_transformed_row_where_the_mask_says_so():
    encoded = _encode(BagOfWordsXGBoost())["train"]
    mask = np.arange(len(encoded)) % 2 == 0
    rows = encoded.resample(mask, "transformed").rows
    assert np.array_equal(rows[mask], encoded.versions["transformed"][mask])
    assert np.array_equal(rows[~mask], encoded.original[~mask])
    assert (encoded.original != encoded.versions["transformed"]).any()


def test_a_store_survives_being_taken_apart():
    model = BagOfWordsXGBoost()
    store = _encode(model)["test"].store
    again = model.load_store(store.arrays())
    assert (store.matrix() != again.matrix()).nnz == 0
    assert len(again) == len(store)


def test_texts_without_words_are_refused():
    table = pa.table({"text": ["a", "?"]})
    split = SplitTexts(
        versions={"original": table, "transformed": table}, labels=np.zeros(2, np.int8)
    )
    with pytest.raises(InputError, match="no word"):
        BagOfWordsXGBoost().encode({"train": split}, ["text"])


def test_a_class_that_is_absent_from_the_resample_is_still_a_class():
    model = BagOfWordsXGBoost()
    table = pa.table({"text": ["red apple", "red pear", "blue apple", "blue pear"]})
    labels = np.array([0, 0, 2, 2], np.int8)
    split = model.encode(
        {"train": SplitTexts(versions={"original": table, "transformed": table}, labels=labels)},
        ["text"],
    )["train"]
    params = {**QUICK, "subsample": 1.0}
    classifier = model.fit(split.resample(), None, params=params, n_classes=3, seed=0)
    assert classifier.predict_proba(split.store, split.original).shape == (4, 3)


def test_presets_lie_in_the_search_space():
    model = load_model("bow-xgb")
    assert set(model.presets) == {"table7-snli", "table7-mnli"}
    for params in model.presets.values():
        assert model.check_params(params) == []
        for name, domain in model.search_space.items():
            assert domain.low <= params[name] <= domain.high


def test_a_whole_number_may_be_written_as_a_float():
    model = load_model("bow-xgb")
    table = pa.table({"text": ["good film", "bad film"] * 20})
    labels = np.array([0, 1] * 20, dtype=np.int8)
    split = model.encode(
        {"train": SplitTexts(versions={"original": table, "transformed": table}, labels=labels)},
        ["text"],
    )["train"]
    params = {**QUICK, "max_depth": 6.0, "n_estimators": 10.0, "subsample": 1}
    assert model.check_params(params) == []
    classifier = model.fit(split.resample(), None, params=params, n_classes=2, seed=0)
    assert np.array_equal(classifier.predict(split.store, split.original), labels)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"max_depth": 0}, "max_depth: must be a whole number from 1 to 2,147,483,647, not 0"),
        ({"max_depth": 2.5}, "max_depth: must be a whole number"),
        (
            {"max_depth": math.inf},
            "max_depth: must be a whole number from 1 to 2,147,483,647, not inf",
        ),
        (
            {"max_depth": 10**5000},
            "max_depth: must be a whole number from 1 to 2,147,483,647, not an integer",
        ),
        ({"gamma": math.nan}, "gamma: must be a number from 0 to 2,147,483,647, not nan"),
        (
            {"reg_alpha": 10**400},
            "reg_alpha: must be a number from 0 to 2,147,483,647, not an integer",
        ),
        (
            {"learning_rate": -math.inf},
            "learning_rate: must be a number above 0 and at most 1, not -inf",
        ),
        (
            {"max_depth": True},
            "max_depth: must be a whole number from 1 to 2,147,483,647, not True",
        ),
        ({"gamma": -1}, "gamma: must be a number from 0 to 2,147,483,647, not -1"),
        ({"subsample": 0}, "subsample: must be a number above 0 and at most 1, not 0"),
        ({"reg_gamma": 1}, "reg_gamma: unknown"),
    ],
)
def test_wrong_hyperparameters_are_named(change, complaint):
    problems = load_model("bow-xgb").check_params({**QUICK, **change})
    assert any(problem.startswith(complaint) for problem in problems), problems


def test_missing_hyperparameters_are_named():
    assert "max_depth: is missing" in load_model("bow-xgb").check_params({})


def test_models_are_found_by_name_or_by_path():
    assert "bow-xgb" in model_names()
    assert type(load_model("toys:FailsModel")).__name__ == "FailsModel"
    for name in ("no-such-model", "toys:NoSuchClass", "no.such.module:Class"):
        with pytest.raises(InputError, match=r"no model|cannot be imported"):
            load_model(name)
    with pytest.raises(InputError, match="has no option 'colour'; it has weighting"):
        load_model("bow-xgb", colour="red")
    with pytest.raises(InputError, match="weighting"):
        load_model("bow-xgb", weighting="bm25")
    with pytest.raises(InputError, match="has no option 'name'"):
        load_model("bow-xgb", name="x")
    with pytest.raises(InputError, match="its capabilities are of type NoneType"):
        load_model("toys:SaysNothing")


@pytest.mark.parametrize(
    "name",
    [
        *("os:system", "subprocess:Popen", "subprocess:run", "builtins:exit", "builtins:print"),
        *("builtins:dict", "toys:LABELS", ".x:y", "..:y", ":y", "toys:", "toys:Fails Model"),
    ],
)
def test_what_is_no_class_of_models_is_never_called(name, tmp_path):
    """A name may come from a configuration that somebody else wrote."""
    with pytest.raises(InputError, match=r"no class of|no model is called|does not name a"):
        load_model(name, command=f"touch {tmp_path}/called", args=["touch", f"{tmp_path}/called"])
    assert list(tmp_path.iterdir()) == []
