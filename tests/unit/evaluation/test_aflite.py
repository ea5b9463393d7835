"""AFLite against a slow filter, and its linear classifiers against Newton's method."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from ietest_fast.analyses.difficulty import aflite
from ietest_fast.analyses.difficulty.aflite import (
    count_word_features,
    draw_training_part,
    filter_adversarially,
    fit_logistic,
)
from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from reference.aflite_oracle import filter_slowly, fit_slowly, predict_slowly


def data(n=60, d=3, n_classes=2, seed=0, noise=0.8):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    centres = rng.normal(size=(n_classes, d)) * 1.5
    return centres[labels] + noise * rng.normal(size=(n, d)), labels.astype(np.int64)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("inverse_penalty", [1.0, 0.1])
def test_classifiers_are_the_minimum_that_newton_finds(n_classes, inverse_penalty):
    features, labels = data(50, 3, n_classes, seed=n_classes)
    found = fit_logistic(features, labels, inverse_penalty=inverse_penalty, tolerance=1e-9)
    slow = fit_slowly(features, labels, inverse_penalty)
    assert found.weights == pytest.approx(slow[1], abs=2e-5)
    # Of many classes only the differences of intercepts matter.
    assert found.intercepts - found.intercepts.mean() * (n_classes > 2) == pytest.approx(
        slow[2] - slow[2].mean() * (n_classes > 2), abs=2e-5
    )
    assert found.predict(features).tolist() == [predict_slowly(slow, row) for row in features]


def test_sparse_features_give_the_same_classifier():
    features, labels = data(80, 5, 3)
    features[np.abs(features) < 0.7] = 0
    dense = fit_logistic(features, labels)
    sparse = fit_logistic(sp.csr_array(features), labels)
    assert sparse.weights == pytest.approx(dense.weights, abs=1e-7)
    assert sparse.predict(sp.csr_array(features)).tolist() == dense.predict(features).tolist()


def test_fits_that_do_not_reach_the_minimum_are_told_and_counted(monkeypatch):
    features, labels = data(120, 6, noise=2.0)
    assert fit_logistic(features, labels).has_converged
    assert not fit_logistic(features, labels, max_steps=2).has_converged
    options = {"n_train": 60, "n_classifiers": 4, "slice_size": 10}
    found = filter_adversarially(features, labels, **options)
    assert found.n_not_converged == 0
    monkeypatch.setattr(aflite, "fit_logistic", partial(fit_logistic, max_steps=2))
    found = filter_adversarially(features, labels, **options)
    assert [each.n_not_converged for each in found.rounds] == [4] * len(found.rounds)
    assert found.n_not_converged == 4 * len(found.rounds)


def test_one_class_is_predicted_everywhere():
    found = fit_logistic(np.ones((4, 2)), np.full(4, 7))
    assert found.predict(np.zeros((3, 2))).tolist() == [7, 7, 7]


@pytest.mark.peer
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers_are_scikit_learns(n_classes):
    from sklearn.linear_model import LogisticRegression

    features, labels = data(300, 6, n_classes)
    theirs = LogisticRegression(tol=1e-8, max_iter=5000).fit(features, labels)
    ours = fit_logistic(features, labels, tolerance=1e-9)
    assert np.abs(ours.weights.T - theirs.coef_).max() < 1e-4
    assert ours.predict(features).tolist() == theirs.predict(features).tolist()


@pytest.mark.parametrize(
    ("n_classes", "tau", "slice_size", "target", "ended"),
    [
        (2, 0.85, 14, 0, "slice"),
        (3, 0.75, 12, 0, "slice"),
        (2, 0.5, 8, 42, "target"),
        (2, 0.01, 10, 0, "training"),
    ],
)
def test_the_filter_is_the_slow_one(n_classes, tau, slice_size, target, ended):
    features, labels = data(60, 3, n_classes, seed=4, noise=3.0)
    n_train, n_classifiers, key = 30, 8, philox_key(11)

    def draw_part(left, number, j):
        return draw_training_part(
            len(left), None, n_train=n_train, key=key, number=number, classifier=j
        )

    scores, removed = filter_slowly(
        features,
        labels,
        draw_part,
        n_train=n_train,
        n_classifiers=n_classifiers,
        tau=tau,
        slice_size=slice_size,
        target=target,
    )
    found = filter_adversarially(
        features,
        labels,
        n_train=n_train,
        n_classifiers=n_classifiers,
        tau=tau,
        slice_size=slice_size,
        target_size=target,
        seed=11,
    )
    assert found.score == pytest.approx(scores, nan_ok=True, abs=1e-12)
    assert found.removed_in.tolist() == removed
    assert found.ended == ended
    assert len(found.rounds) >= 2
    assert found.easy.tolist() == [s > tau for s in scores]
    assert found.is_left.sum() == removed.count(0) == 60 - sum(r.n_removed for r in found.rounds)
    assert set(found.names[found.easy]) == {"easy"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "convert",
    [
        np.float32,
        np.asfortranarray,
        lambda values: np.rint(values * 8).astype(np.int8),
        np.ndarray.tolist,
        sp.csr_array,
        lambda values: sp.coo_matrix(values.astype(np.float32)),
        lambda values: sp.csc_array(np.rint(values).astype(np.int16)),
    ],
    ids=["float32", "columns first", "int8", "lists", "csr", "coo of float32", "csc of int16"],
)
def test_the_kind_of_the_numbers_makes_no_difference(convert):
    features, labels = data(1_000, 4, 3, seed=6, noise=4.0)
    given = convert(features)
    exact = given.toarray() if sp.issparse(given) else np.array(given)
    options = {"n_train": 300, "n_classifiers": 6, "slice_size": 40, "target_size": 900}
    found, expected = (
        filter_adversarially(each, labels, **options) for each in (given, exact.astype(np.float64))
    )
    assert np.array_equal(found.score, expected.score, equal_nan=True)
    assert found.removed_in.tolist() == expected.removed_in.tolist()
    assert found.rounds == expected.rounds
    assert len(found.rounds) > 1


def test_rows_that_are_named_are_predicted_block_by_block():
    features, labels = data(5_000, 3, 3, noise=3.0)
    fitted = fit_logistic(features[:200], labels[:200])
    rows = np.random.default_rng(0).permutation(5_000)[:2_500]
    slow = [
        predict_slowly(([0, 1, 2], fitted.weights, fitted.intercepts), features[r]) for r in rows
    ]
    assert fitted.predict(features, rows).tolist() == slow
    assert fitted.predict(features)[rows].tolist() == slow
    assert fitted.predict(features, rows[:0]).tolist() == []


def _peak(features, labels, **options):
    """Return the most bytes that two rounds hold beside what they are given."""
    filter_adversarially(features[:200], labels[:200], n_train=50, n_classifiers=2)
    sizes = {"slice_size": 10, "target_size": len(labels) - 20}
    tracemalloc.start()
    try:
        assert len(filter_adversarially(features, labels, **sizes, **options).rounds) == 2
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _bound(n, d, *, bytes_each, n_train, n_threads):
    """Return what the docstring promises, with the 200 numbers for each of d + 1 weights."""
    of_thread = bytes_each * d * (n_train + 2_048) + 8 * 200 * (d + 1)
    return n_threads * of_thread + 100 * (n_threads + 1) * n


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [1, 3])
def test_memory_is_that_of_the_training_parts(n_threads):
    """A float64 copy of these features alone would be 82 MB, and one of each thread as much."""
    n, d = 40_000, 256
    rng = np.random.default_rng(0)
    features = rng.standard_normal((n, d), dtype=np.float32)
    labels = rng.integers(0, 2, n)
    options = {"n_train": 1_000, "n_threads": n_threads}
    peak = _peak(features, labels, n_classifiers=6, **options)
    assert peak < _bound(n, d, bytes_each=8, **options) < 8 * n * d / 2


@pytest.mark.slow
def test_memory_of_sparse_features_is_that_of_the_training_parts():
    """As float64, their entries alone would be 32 MB, without the columns."""
    n, entries = 40_000, 100
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 500, n * entries)
    rows = np.repeat(np.arange(n), entries)
    features = sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(n, 500))
    options = {"n_train": 1_000, "n_threads": 2}
    peak = _peak(features, rng.integers(0, 2, n), n_classifiers=6, **options)
    weights = 2 * 8 * 200 * 500
    assert peak < _bound(n, entries, bytes_each=16, **options) + weights < 8 * n * entries


@pytest.mark.slow
def test_threads_make_no_difference():
    features, labels = data(150, 20, 3, seed=1, noise=4.0)
    options = {"n_train": 60, "n_classifiers": 12, "slice_size": 10, "seed": 3}
    one, three = (filter_adversarially(features, labels, n_threads=n, **options) for n in (1, 3))
    assert np.array_equal(one.score, three.score, equal_nan=True)
    assert one.removed_in.tolist() == three.removed_in.tolist()
    other = filter_adversarially(features, labels, **(options | {"seed": 4}))
    assert not np.array_equal(one.score, other.score, equal_nan=True)


def test_items_with_an_artefact_are_the_easy_ones():
    """Half of the items carry their label in a feature; the others' labels are coins."""
    rng = np.random.default_rng(2)
    n = 400
    labels = rng.integers(0, 2, n)
    features = rng.normal(size=(n, 10))
    marked = np.arange(n) < n // 2
    features[marked, 0] = 4.0 * (2 * labels[marked] - 1)
    features[~marked, 0] = 0.0
    found = filter_adversarially(features, labels, n_train=200, n_classifiers=16, slice_size=40)
    assert found.easy[marked].mean() > 0.97
    assert found.easy[~marked].mean() < 0.35
    assert (found.removed_in[marked] > 0).mean() > 0.9
    assert found.rounds[0].accuracy > found.rounds[-1].accuracy


def test_scores_at_the_threshold_are_removed_and_not_easy():
    features, labels = data(60, 3, noise=0.5)
    found = filter_adversarially(
        features, labels, n_train=30, n_classifiers=4, slice_size=20, tau=1.0
    )
    assert (found.score[found.removed_in > 0] == 1).any()
    assert not found.easy.any()


def test_groups_are_trained_on_together():
    groups = np.repeat(np.arange(20), [1, 2, 3, 4] * 5)
    n = len(groups)
    for classifier in range(20):
        taken = draw_training_part(
            n, groups, n_train=17, key=philox_key(0), number=0, classifier=classifier
        )
        for group in range(20):
            assert len(set(taken[groups == group].tolist())) == 1
        sizes = np.bincount(groups)[[g for g in range(20) if taken[groups == g].all()]]
        assert 17 <= taken.sum() < 17 + sizes.max()
    features, labels = data(n, 3)
    whole = filter_adversarially(
        features, labels, groups=groups, n_train=17, n_classifiers=4, slice_size=5
    )
    assert len(whole) == n
    columns = (
        pa.chunked_array([pa.array(each[:9]), pa.array(each[9:])]) for each in (labels, groups)
    )
    again = filter_adversarially(
        features,
        next(columns),
        groups=next(columns),
        n_train=17,
        n_classifiers=4,
        slice_size=5,
    )
    assert np.array_equal(again.score, whole.score, equal_nan=True)


def test_items_that_every_classifier_trained_on_have_no_score():
    features, labels = data(30, 2)
    found = filter_adversarially(features, labels, n_train=27, n_classifiers=2, slice_size=9)
    assert found.rounds[0].n_unscored >= 24
    assert found.n_unscored == np.isnan(found.score).sum() > 0
    has_none = np.isnan(found.score)
    assert not (found.easy | found.difficult)[has_none].any()
    assert (found.easy ^ found.difficult)[~has_none].all()
    assert [name is None for name in found.names] == has_none.tolist()
    assert set(found.names[~has_none]) <= {"easy", "difficult"}
    assert (found.removed_in[np.isnan(found.score)] == 0).all()


def test_a_group_that_is_all_there_is_leaves_nothing_to_predict():
    features, labels = data(30, 2)
    with pytest.raises(InputError, match=r"no item has a score: the 30 items are in 1 group\(s\)"):
        filter_adversarially(
            features, labels, n_train=5, n_classifiers=2, slice_size=5, groups=[0] * 30
        )


def test_progress_is_told():
    told: list[int] = []
    features, labels = data(40, 2)
    found = filter_adversarially(
        features, labels, n_train=20, n_classifiers=3, slice_size=5, on_progress=told.append
    )
    assert told == list(range(1, 3 * len(found.rounds) + 1))


def test_words_are_features():
    texts = pa.chunked_array([["A dog runs.", "the dog", "The cat, a cat"]])
    other = pa.chunked_array([["dog", "dog", "bird"]])
    found = count_word_features([texts, other])
    # a, dog and the stand in two texts, and dog in two of the other column.
    assert found.shape == (3, 4)
    assert sorted(found.toarray().sum(axis=0).tolist()) == [2, 2, 2, 2]
    assert found.toarray().sum(axis=1).tolist() == [3, 3, 2]
    assert count_word_features([texts], min_texts=1).shape == (3, 5)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array, sp.csr_matrix])
@pytest.mark.parametrize("row", [0, 30, 59])
def test_features_of_which_one_differs_are_taken(kind, row):
    features = np.ones((60, 2))
    features[row, 1] = 0
    found = filter_adversarially(kind(features), np.arange(60) % 2, n_train=20, n_classifiers=2)
    assert len(found.score) == 60


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": np.ones(60)}, "features: have the shape 60; a row for each item"),
        ({"features": [["a", "b"]] * 60}, "features: are not numbers"),
        (
            {"features": np.full((60, 2), np.nan)},
            "features: 120 values are missing",
        ),
        ({"features": np.full((60, 2), 3.5)}, "features: all items have the same"),
        ({"features": sp.csr_array(np.full((60, 2), 3.5))}, "features: all items have the same"),
        ({"features": sp.csr_matrix((60, 2))}, "features: all items have the same"),
        ({"groups": [0] * 40 + [None] * 20}, "groups: row 40 has none, and so 20 of 60"),
        ({"labels": ["a", None] * 30}, "labels: row 1 has none, and so 30 of 60"),
        ({"labels": np.zeros(60)}, "labels: all are the same"),
        ({"labels": np.zeros(59)}, "labels"),
        ({"groups": [0] * 5}, "groups"),
        (
            {"n_train": 60},
            r"n_train \(--train-size\): must be .* less than the number of items, 60",
        ),
        ({"n_train": 1}, r"n_train \(--train-size\): must be at least 2"),
        ({"tau": 0.0}, "tau: must be more than 0"),
        ({"tau": 1.5}, "tau: must be more than 0 and at most 1"),
        ({"slice_size": 0}, "slice_size: must be at least 1"),
        ({"target_size": 60}, "target_size: must be less than the number of items, 60, not 60"),
        ({"target_size": 61}, "target_size: must be less than the number of items, 60, not 61"),
        ({"n_classifiers": 2.5}, "n_classifiers: must be an integer, not 2.5"),
        ({"n_train": 30.0}, "n_train: must be an integer, not 30.0"),
        ({"slice_size": True}, "slice_size: must be an integer, not True"),
        ({"target_size": -1}, "target_size: must be at least 0"),
        ({"n_classifiers": 0}, "n_classifiers: must be at least 1"),
        ({"seed": -1}, "seed: must be 0 or more"),
        ({"inverse_penalty": 0.0}, "inverse_penalty: must be more than 0"),
    ],
)
def test_what_cannot_be_is_refused(change, message):
    features, labels = data(60, 2)
    options = {"features": features, "labels": labels, "n_train": 30} | change
    with pytest.raises(InputError, match=message):
        filter_adversarially(options.pop("features"), options.pop("labels"), **options)


def test_words_without_texts_are_refused():
    with pytest.raises(InputError, match="no word stands in 2 texts"):
        count_word_features([pa.chunked_array([["a b", "c d"]])])
    with pytest.raises(InputError, match="at least one column"):
        count_word_features([])
