"""What a run knows an estimator by, and the texts that it keeps for one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.errors import InputError
from ietest_fast.models import SplitTexts
from ietest_fast.models.estimators import EstimatorModel, describe_parameters


class Parameters:
    """Has whatever parameters it is given."""

    def __init__(self, **params: Any) -> None:
        self.params = params

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return self.params

    def set_params(self, **params: Any) -> Parameters:
        self.params |= params
        return self

    def fit(self, texts: Any, labels: Any) -> Parameters:
        return self

    def predict(self, texts: Any) -> Any:
        return np.zeros(len(texts), dtype=np.int64)


def upper(text: str) -> str:
    return text.upper()


def adding(n: int) -> Any:
    def add(texts: Any) -> Any:
        return texts, n

    return add


def recursive(step: int) -> Any:
    def count(texts: Any) -> Any:
        return [] if not texts else count(texts[step:])

    return count


class Cutter:
    def __init__(self, width: int) -> None:
        self.width = width

    def cut(self, text: str) -> str:
        return text[: self.width]


def describe(value: Any) -> Any:
    return describe_parameters(Parameters(value=value))["value"]


def test_plain_values_stand_as_they_are() -> None:
    values = {"a": 1, "b": 0.5, "c": True, "d": "l2", "e": np.float64(0.1), "f": np.int64(3)}
    assert describe_parameters(Parameters(**values)) == {**values, "e": 0.1, "f": 3}
    assert describe(None) == "None"
    assert describe(float("nan")) == "nan"
    assert describe((1, 2)) == "[1, 2]"
    assert describe({"a": (1,)}) == "{'a': [1]}"


def test_objects_are_known_by_what_is_in_them() -> None:
    assert describe(upper).startswith(f"{__name__}.upper@")
    assert describe(np.float32) == "numpy.float32"
    assert describe(np.arange(3)) == describe(np.arange(3)) != describe(np.arange(4))
    one, other = np.random.RandomState(0), np.random.RandomState(1)
    assert describe(one) == describe(np.random.RandomState(0)) != describe(other)
    assert describe(lambda text: text) != describe(lambda text: text + "!")
    assert describe(adding(1)) == describe(adding(1)) != describe(adding(2))
    with pytest.raises(InputError, match="'value' is a generator that cannot be pickled"):
        describe(x for x in "ab")


def test_functions_are_known_by_what_they_do_and_hold() -> None:
    digits, letters = (re.compile(pattern).findall for pattern in ("[0-9]+", "[a-z]+"))
    assert describe(digits) == describe(re.compile("[0-9]+").findall) != describe(letters)
    assert describe(Cutter(1).cut) == describe(Cutter(1).cut) != describe(Cutter(2).cut)
    plus, minus = (lambda a: a + 1), (lambda a: a - 1)
    assert describe(plus) != describe(minus)
    one, other = (eval(f"lambda text, *, n={n}: text[n:]") for n in (1, 2))
    assert describe(one) != describe(other)
    inner, outer = (eval(f"lambda: (lambda text: text {sign} 1)") for sign in "+-")
    assert describe(inner) != describe(outer)
    assert describe(recursive(1)) == describe(recursive(1)) != describe(recursive(2))
    weak, strong = (adding(Parameters(C=c)) for c in (1, 2))
    assert describe(weak) != describe(strong)
    assert describe(len) == describe(len) != describe(max)
    assert describe(str.lower) != describe(str.upper)


def test_how_a_thing_is_done_does_not_matter() -> None:
    assert describe_parameters(Parameters(n_jobs=2, a__verbose=True, b__memory="x", c=1)) == {
        "c": 1
    }


def test_what_is_no_estimator() -> None:
    with pytest.raises(InputError, match="lacks get_params, set_params, fit, predict"):
        EstimatorModel(3)
    with pytest.raises(InputError, match="lacks an instance"):
        EstimatorModel(Parameters)


def test_texts_come_back_as_they_were() -> None:
    texts = ["ä b", "", "c", "ä b"]
    table = pa.table({"premise": pa.array(texts), "hypothesis": pa.array(texts[::-1])})
    other = pa.table({"premise": pa.array(["x", *texts[1:]]), "hypothesis": table["hypothesis"]})
    split = SplitTexts(
        versions={"original": table, "swap": other}, labels=np.zeros(4, dtype=np.int8)
    )
    model = EstimatorModel(Parameters(), inputs="joined")
    found = model.encode({"train": split}, ("premise", "hypothesis"))["train"]
    store = model.load_store(found.store.arrays())
    assert len(store) == 4  # different inputs
    for name, expected in split.versions.items():
        assert store.table(found.versions[name]).to_pydict() == expected.to_pydict()


def test_an_estimator_without_probabilities_votes_with_its_labels() -> None:
    table = pa.table({"text": ["a", "b"]})
    split = SplitTexts(versions={"original": table}, labels=np.zeros(2, dtype=np.int8))
    model = EstimatorModel(Parameters(random_state=None))
    train = model.encode({"train": split}, ("text",))["train"]
    fitted = model.fit(train.resample(), None, params={}, n_classes=3, seed=7)
    rows = np.array([1, 0, 1])
    assert fitted.predict(train.store, rows).tolist() == [0, 0, 0]
    assert fitted.predict_proba(train.store, rows).tolist() == [[1, 0, 0]] * 3
