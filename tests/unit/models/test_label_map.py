from __future__ import annotations

import itertools

import numpy as np
import pytest

from ietest_fast.errors import InputError
from ietest_fast.models.label_map import (
    check_against_data,
    find_better_permutation,
    match_labels,
)

NLI = ("entailment", "neutral", "contradiction")


@pytest.mark.parametrize(
    ("model", "data", "of_model", "of_data", "names"),
    [
        (NLI, NLI, [0, 1, 2], [0, 1, 2], NLI),
        (("CONTRADICTION", " Neutral", "Entailment"), NLI, [2, 1, 0], [0, 1, 2], NLI),
        (("contradictory", "neutral", "entails"), NLI, [2, 1, 0], [0, 1, 2], NLI),
        (
            ("not_entailment", "entailment"),
            NLI,
            [1, 0],
            [0, 1, 1],
            ("entailment", "not_entailment"),
        ),
        (
            NLI,
            ("entailment", "non-entailment"),
            [0, 1, 1],
            [0, 1],
            ("entailment", "non-entailment"),
        ),
        (
            NLI,
            ("contradiction", "non-contradiction"),
            [1, 1, 0],
            [0, 1],
            ("contradiction", "non-contradiction"),
        ),
        (
            ("non_contradiction", "contradiction"),
            NLI,
            [0, 1],
            [0, 0, 1],
            ("not_contradiction", "contradiction"),
        ),
        (
            ("NEGATIVE", "POSITIVE"),
            ("positive", "negative"),
            [1, 0],
            [0, 1],
            ("positive", "negative"),
        ),
        (("LABEL_0", "LABEL_1"), ("0", "1"), None, None, None),
    ],
)
def test_labels_are_matched_by_name(model, data, of_model, of_data, names):
    if of_model is None:
        with pytest.raises(InputError, match=r"none of the data's|say which number is which"):
            match_labels(model, data)
        return
    matched = match_labels(model, data)
    assert matched.of_model.tolist() == of_model
    assert matched.of_data.tolist() == of_data
    assert matched.names == names


def test_two_labels_of_different_kinds_do_not_match():
    with pytest.raises(InputError, match="none of the"):
        match_labels(("entailment", "not_entailment"), ("contradiction", "non-contradiction"))


def test_nameless_labels_need_a_map():
    with pytest.raises(InputError, match=r"--label-map 0=entailment,1=neutral,2=contradiction"):
        match_labels(("LABEL_0", "LABEL_1", "LABEL_2"), NLI)
    matched = match_labels(
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        NLI,
        label_map={"0": "Contradiction", "label_1": "entailment", "2": "neutral"},
    )
    assert matched.of_model.tolist() == [2, 0, 1]
    assert matched.is_given


@pytest.mark.parametrize(
    ("label_map", "message"),
    [
        ({"0": "entailment"}, "leaves out the model's label 'LABEL_1'"),
        ({"3": "entailment"}, "the model has no label '3'"),
        ({"0": "entailment", "LABEL_0": "neutral"}, "twice"),
        ({"0": "maybe", "1": "neutral", "2": "contradiction"}, "the data have no label 'maybe'"),
        (
            {"0": "neutral", "1": "neutral", "2": "contradiction"},
            "--label-map makes 'entailment' of none of them",
        ),
    ],
)
def test_maps_that_do_not_fit_are_refused(label_map, message):
    with pytest.raises(InputError, match=message):
        match_labels(("LABEL_0", "LABEL_1", "LABEL_2"), NLI, label_map=label_map)


@pytest.mark.parametrize(
    ("model", "data", "label_map", "of_model"),
    [
        (("LABEL_0", "LABEL_1"), ("neg", "pos"), {0: "pos", 1: "neg"}, [1, 0]),
        (("0", "1"), ("neg", "pos"), {1: "pos", 0: "neg"}, [0, 1]),
        (("0", "1"), ("neg", "pos"), {np.int64(1): "neg", np.int64(0): "pos"}, [1, 0]),
        (("False", "True"), ("neg", "pos"), {True: "pos", False: "neg"}, [0, 1]),
        (("pos", "neg"), ("0", "1"), {"pos": 1, "neg": 0}, [1, 0]),
        (("pos", "neg"), ("0", "1"), {"pos": 1.0, "neg": np.int8(0)}, [1, 0]),
    ],
)
def test_numbers_of_a_map_are_names(model, data, label_map, of_model):
    assert match_labels(model, data, label_map=label_map).of_model.tolist() == of_model


@pytest.mark.parametrize(
    ("label_map", "message"),
    [
        ({0: "entailment"}, "leaves out the model's label 'LABEL_1'"),
        ({0: "entailment", "0": "neutral"}, "twice"),
        ({3: "entailment"}, "the model has no label '3'"),
        ({None: "entailment"}, "the model has no label ''"),
        (["entailment"], "label_map is a mapping .*, and not a list"),
    ],
)
def test_maps_of_other_types_that_do_not_fit(label_map, message):
    with pytest.raises(InputError, match=message):
        match_labels(("LABEL_0", "LABEL_1", "LABEL_2"), NLI, label_map=label_map)


@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        (("entailment", "neutral"), NLI, "'contradiction' is none of the model's"),
        (NLI, ("entailment", "neutral"), "'contradiction' is none of the data's"),
        (("positive", "negative"), NLI, "'positive' is none of the data's"),
        (("entails", "entailment", "neutral"), NLI, "mean the same"),
    ],
)
def test_labels_without_counterpart_are_refused(model, data, message):
    with pytest.raises(InputError, match=message):
        match_labels(model, data)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 8])
def test_a_wrong_order_of_labels_is_found(n_classes):
    rng = np.random.default_rng(n_classes)
    gold = rng.integers(0, n_classes, 600).astype(np.int8)
    noisy = rng.random(600) < 0.3
    predicted = np.where(noisy, rng.integers(0, n_classes, 600), gold).astype(np.int8)
    assert find_better_permutation(gold, predicted, n_classes) is None
    for order in itertools.islice(itertools.permutations(range(n_classes)), 1, 20):
        # The model says order[i] where it means i.
        found = find_better_permutation(gold, np.array(order, np.int8)[predicted], n_classes)
        assert found is not None
        assert np.array(found)[list(order)].tolist() == list(range(n_classes))


def test_chance_is_not_taken_for_a_wrong_order():
    rng = np.random.default_rng(0)
    stopped = 0
    for _ in range(300):
        gold, predicted = rng.integers(0, 3, (2, 400)).astype(np.int8)
        stopped += find_better_permutation(gold, predicted, 3) is not None
    assert stopped <= 3


def test_a_better_order_stops_a_guess_and_warns_of_a_map():
    gold = np.tile(np.arange(3, dtype=np.int8), 100)
    predicted = np.array([2, 1, 0], np.int8)[gold]
    with pytest.raises(InputError, match=r"right on 33.3%.*100.0%.*--label-map"):
        check_against_data(match_labels(NLI, NLI), gold, predicted)
    given = match_labels(NLI, NLI, label_map=dict(zip(NLI, NLI, strict=True)))
    assert "wrong order" in str(check_against_data(given, gold, predicted))
    assert check_against_data(given, gold, gold) is None


def test_a_model_that_always_says_the_same_is_not_called_mislabelled():
    """Another order would make it right more often, and no better."""
    mapping = match_labels(("a", "b"), ("a", "b"))
    gold = np.array([0] * 100 + [1] * 300, np.int8)
    assert check_against_data(mapping, gold, np.zeros(400, np.int8)) is None
    with pytest.raises(InputError, match="wrong order"):
        check_against_data(mapping, gold, 1 - gold)


def test_numbers_of_the_data_are_named_by_the_user_alone():
    """A model's names say nothing of which of two numbers is which, also where it has NLI's."""
    names = ("duplicate", "not_duplicate")
    with pytest.raises(InputError, match="--label-map duplicate=0,not_duplicate=1"):
        match_labels(names, ("0", "1"))
    with pytest.raises(InputError, match="--label-map entailment=0,neutral=1,contradiction=2"):
        match_labels(NLI, ("0", "1"))
    found = match_labels(names, ("0", "1"), label_map={"duplicate": "1", "not_duplicate": "0"})
    assert (found.of_model.tolist(), found.of_data.tolist(), found.names) == (
        [1, 0],
        [0, 1],
        ("0", "1"),
    )
    # A small file may lack a class that the model knows.
    given = {"entailment": "0", "neutral": "1", "contradiction": "2"}
    found = match_labels(NLI, ("0", "1"), label_map=given)
    assert (found.of_model.tolist(), found.of_data.tolist()) == ([0, 1, 2], [0, 1])
    assert found.names == ("0", "1", "2")
    found = match_labels(("0", "1", "2"), ("0", "2"))
    assert [found.names[place] for place in found.of_model] == ["0", "1", "2"]
    assert [found.names[place] for place in found.of_data] == ["0", "2"]


def test_numbers_in_a_map_are_the_names_that_they_are_in_a_file():
    by_number = match_labels(
        ("a", "b", "c"), NLI, label_map={0: NLI[2], np.int64(1): NLI[1], 2: NLI[0]}
    )
    assert by_number.of_model.tolist() == [2, 1, 0]
    to_number = match_labels(("pos", "neg"), ("0", "1"), label_map={"pos": 1, "neg": np.int8(0)})
    assert to_number.of_model.tolist() == [1, 0]
    own = match_labels(("1", "0"), ("pos", "neg"), label_map={1: "pos", 0: "neg"})
    assert own.of_model.tolist() == [0, 1]
