"""Columns of every library become the same array, and what is missing is named."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.errors import InputError
from ietest_fast.stats import MatchedSample, PairedCounts, clustered_test, paired_test
from ietest_fast.stats.inputs import as_clusters, as_column, as_scores, check_lengths, is_outcomes
from ietest_fast.stats.result import Result, plain


def _makers():
    yield "list", list
    yield "numpy", np.array
    yield "arrow", pa.array
    yield "chunked", lambda values: pa.chunked_array([values[:1], values[1:]])
    for library, name in (("pandas", "Series"), ("polars", "Series")):
        module = pytest.importorskip  # resolved in the test, so that one absence skips one case
        yield library, (lambda values, m=module, lib=library, n=name: getattr(m(lib), n)(values))


@pytest.mark.parametrize(
    ("library", "make"), list(_makers()), ids=lambda x: x if isinstance(x, str) else ""
)
@pytest.mark.parametrize(
    "values", [[0.5, -1.0, 2.0], [1, 0, 1], [True, False, True], ["a", "b", "a"]]
)
def test_every_library_gives_the_same_column(library, make, values):
    column = as_column(make(values), "x")
    assert column.tolist() == values


@pytest.mark.parametrize(
    ("library", "make"), list(_makers()), ids=lambda x: x if isinstance(x, str) else ""
)
def test_missing_values_are_named(library, make):
    values = np.array([0.5, np.nan, 1.0]) if library == "numpy" else make([0.5, None, 1.0])
    with pytest.raises(InputError, match="x has 1 missing values") as caught:
        as_column(values, "x")
    assert "row 1" in str(caught.value)


def test_scores_are_finite_numbers():
    with pytest.raises(InputError, match="finite"):
        as_scores([0.0, np.inf], "x")
    with pytest.raises(InputError, match="must hold numbers"):
        as_scores(["a", "b"], "x")
    assert as_scores([1, 2], "x").dtype == np.float64


def test_outcomes_are_told_from_scores():
    assert is_outcomes(np.array([True, False]))
    assert is_outcomes(np.array([0.0, 1.0]))
    assert not is_outcomes(np.array([0.0, 0.5]))


def test_clusters_are_numbered_by_first_appearance():
    codes, n = as_clusters(["b", "a", "b", "c"], 4)
    assert codes.tolist() == [0, 1, 0, 2]
    assert n == 3
    with pytest.raises(InputError, match="only one value"):
        as_clusters([1, 1], 2)
    with pytest.raises(InputError, match="has 1 rows, but there are 2"):
        as_clusters([1], 2)


@pytest.mark.parametrize(
    "missing",
    [
        float("nan"),
        None,
        np.datetime64("NaT", "D"),
        np.timedelta64("NaT", "s"),
        np.float64("nan"),
        "pandas.NA",
    ],
)
def test_a_missing_label_in_a_list_is_no_cluster(missing):
    if isinstance(missing, str):
        missing = pytest.importorskip("pandas").NA
    for labels in (["a", "a", missing, "b"], [1, 1, missing, 2], ("a", 1, missing, 2)):
        with pytest.raises(InputError, match="1 missing values") as caught:
            as_clusters(labels, 4)
        assert "row 2" in str(caught.value)


def test_a_missing_date_is_no_cluster():
    dates = np.array(["2023-01-01", "NaT", "2023-01-02"], dtype="datetime64[D]")
    for column in (dates, dates - dates[0]):
        with pytest.raises(InputError, match="row 1: clusters has 1 missing"):
            as_clusters(column, 3)
    codes, n = as_clusters(dates[[0, 2, 0]], 3)
    assert (codes.tolist(), n) == ([0, 1, 0], 2)


@pytest.mark.parametrize("make", [list, tuple, lambda values: np.array(values, dtype=object)])
def test_labels_of_different_types_are_different_clusters(make):
    codes, n = as_clusters(make([1, "1", 2, "2", 1.0, "nan", b"1", (1, 2)]), 8)
    assert codes.tolist() == [0, 1, 2, 3, 0, 4, 5, 6]
    assert n == 7


def test_large_integers_beside_negative_ones_stay_apart():
    codes, n = as_clusters([2**63, 2**63 + 1, -1], 3)
    assert (codes.tolist(), n) == ([0, 1, 2], 3)


def test_a_label_is_one_value():
    with pytest.raises(InputError, match="one label for each row"):
        as_clusters([[1, 2], [3, 4]], 2)
    with pytest.raises(InputError, match="one column"):
        as_clusters(np.zeros((2, 2)), 2)


def test_lengths_are_compared():
    with pytest.raises(InputError, match="a has 2, b has 3 rows"):
        check_lengths(a=np.zeros(2), b=np.zeros(3))
    with pytest.raises(InputError, match="at least two rows"):
        check_lengths(a=np.zeros(1))


class _Toy(Result):
    title = "A <toy>"

    def to_dict(self):
        return {"t": float("-inf"), "none": float("nan"), "n": np.int64(3), "x": np.arange(2)}

    def rows(self):
        return [("t", "-∞")]

    def remarks(self):
        return ["Careful & slow."]


def test_results_print_and_become_json_and_html():
    assert str(_Toy()).splitlines()[0] == "A <toy>"
    assert json.loads(_Toy().to_json()) == {"t": "-inf", "none": None, "n": 3, "x": [0, 1]}
    page = _Toy()._repr_html_()
    assert "&lt;toy&gt;" in page
    assert "Careful &amp; slow." in page
    assert plain((1, 2.0)) == [1, 2.0]


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([1, 0, 2], "row 2: original must hold 0 or 1, but 1 of 3 values do not; the first is 2"),
        ([1, None, 0], "row 1: original has 1 missing values"),
        ([0.0, float("nan"), 1.0], "row 1: original has 1 missing values"),
        (["1", "0", "1"], "original must hold outcomes"),
        ([[1], [0], [1]], "original must be one column"),
    ],
)
def test_outcomes_are_read_alike_wherever_they_are_given(values, complaint):
    right = [True, False, True]
    for call in (
        lambda: PairedCounts.from_outcomes(values, right),
        lambda: paired_test(values, right),
        lambda: clustered_test(values, right, [1, 2, 2]),
        lambda: MatchedSample(original_correct=values, transformed_correct=right),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert str(caught.value).replace("original_correct", "original").startswith(complaint)


def test_matched_samples_take_columns_of_every_library():
    sample = MatchedSample(
        original_correct=pa.chunked_array([[True], [False, True]]),
        transformed_correct=pa.array([1, 1, 0]),
    )
    assert sample.counts == PairedCounts(1, 1, 1, 0)
