"""Columns of every library become the same array, and what is missing is named."""

from __future__ import annotations

import contextlib
import inspect
import json
import warnings

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast import stats
from ietest_fast.errors import InputError
from ietest_fast.numerals import plain
from ietest_fast.stats import MatchedSample, PairedCounts, equivalence_test, joint_test, paired_test
from ietest_fast.stats.clustered import clustered_test
from ietest_fast.stats.inputs import (
    MAX_SCORE,
    as_clusters,
    as_column,
    as_scores,
    check_lengths,
    is_outcomes,
)
from ietest_fast.stats.result import Result
from ietest_fast.stats.scores import paired_mean_test


def _makers():
    yield "list", list
    yield "numpy", np.array
    yield "arrow", pa.array
    yield "chunked", lambda values: pa.chunked_array([values[:1], values[1:]])
    for library, name in (("pandas", "Series"), ("polars", "Series")):
        module = pytest.importorskip  # resolved in the test, so that one absence skips one case
        make = lambda values, m=module, lib=library, n=name: getattr(m(lib), n)(values)  # noqa: E731
        yield pytest.param(library, make, marks=[pytest.mark.peer] if library == "polars" else [])


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


def test_options_of_arrow_are_not_tried_on_others():
    class Column:
        def to_numpy(self, **options):
            if options:
                warnings.warn("zero_copy_only is deprecated", DeprecationWarning, stacklevel=2)
            return np.array([0.5, 1.0])

    assert as_column(Column(), "x").tolist() == [0.5, 1.0]


def test_masked_values_are_missing():
    masked = np.ma.array([0.5, 0.25, 1.0, 0.0], mask=[0, 1, 0, 1])
    with pytest.raises(InputError, match="row 1: x has 2 missing values"):
        as_column(masked, "x")
    with pytest.raises(InputError, match="row 1: clusters has 2 missing values"):
        as_clusters(masked, 4)
    plain = np.arange(4.0)
    for a, b in ((masked, plain), (plain, masked)):
        with pytest.raises(InputError, match=r"row 1: .* has 2 missing values"):
            joint_test(np.ma.stack([plain, a]).T, np.ma.stack([plain, b]).T)
    assert as_column(np.ma.array([0.5, 0.25]), "x").tolist() == [0.5, 0.25]


@pytest.mark.parametrize(
    "count",
    [
        stats.cochran_q_test,
        lambda values: stats.robustness(values[:, 0]),
        lambda values: stats.robustness([0.5, 0.75], values[0, :2] > 0),
        lambda values: stats.find_collapse(values[:, 0], np.arange(4) % 2),
        lambda values: stats.find_collapse(np.arange(4) % 2, values[:, 0]),
        lambda values: stats.chance_limit(values[:, 0]),
        lambda values: stats.simulate(differences=values[:, 0]),
        lambda values: stats.simulate(differences=values),
    ],
)
def test_masked_values_do_not_count(count):
    values = np.ma.array(np.arange(12).reshape(4, 3) % 2, mask=[[1, 0, 0], [0, 0, 0]] * 2)
    with pytest.raises(InputError, match=r"would count|has \d missing values"):
        count(values)


def test_lists_of_several_lengths_are_no_column():
    with pytest.raises(InputError, match="x must be one column"):
        as_column([[1], [2, 3]], "x")
    with pytest.raises(InputError, match="original must be a table"):
        joint_test([[1], [2, 3]], [[1, 2], [2, 3]])


def test_scores_are_finite_numbers():
    with pytest.raises(InputError, match="finite"):
        as_scores([0.0, np.inf], "x")
    with pytest.raises(InputError, match="must hold numbers"):
        as_scores(["a", "b"], "x")
    assert as_scores([1, 2], "x").dtype == np.float64


@pytest.mark.parametrize("value", [1e308, -1e289, np.longdouble("1e400")])
def test_scores_whose_sums_might_be_infinite_are_refused(value):
    with pytest.raises(InputError, match=r"9\.745e\+288 in size at most, but 1 of 3") as caught:
        as_scores(np.array([0.5, 1.0, value]), "x")
    assert "row 2" in str(caught.value)
    assert as_scores([0, MAX_SCORE, -MAX_SCORE], "x").tolist() == [0, MAX_SCORE, -MAX_SCORE]


def test_integers_of_thousands_of_digits_are_not_written_out():
    with pytest.raises(InputError, match=r"the first is one of 16610 bits \(.*row 1|row 1.*16610"):
        as_scores([0.5, 10**5000], "x")


@pytest.mark.parametrize(
    "values",
    [
        [1, 2**53 + 1, 2**53 + 3],
        [0.5, 2**53 + 1, -(2**60)],
        (1, 2**70, 2**80),
        np.array([1, -(2**53) - 1, 2**62]),
        np.array([1, 2**64 - 1, 2**63], dtype=np.uint64),
        pa.array([1, 2**53 + 1, 2**53 + 2]),
    ],
)
def test_integers_that_a_float_would_round_are_refused(values):
    with pytest.raises(InputError, match="2 of 3 are integers beyond") as caught:
        as_scores(values, "x")
    assert "row 1" in str(caught.value)
    assert str(int(values[1].as_py() if isinstance(values, pa.Array) else values[1])) in str(
        caught.value
    )


def test_integers_that_a_float_holds_are_scores():
    assert as_scores([2**53, -(2**53), 0], "x").tolist() == [2.0**53, -(2.0**53), 0]
    assert as_scores([1e300 / 1e20, 1e20], "x").tolist() == [1e280, 1e20]  # no integers


@pytest.mark.parametrize(
    "test",
    [
        paired_mean_test,
        lambda a, b: joint_test(np.transpose([a]), np.transpose([b])),
        equivalence_test,
    ],
)
def test_every_test_takes_the_same_scores(test):
    plain = np.array([0.25, 0.5, 0.75])
    for scores in (np.array([0.5, 8e307, 0.1]), np.array([1, 2**53 + 1, 2])):
        for a, b in ((scores, plain), (plain, scores)):
            with pytest.raises(InputError, match="row 1"):
                test(a, b)
    test(plain * MAX_SCORE, -plain * MAX_SCORE)


def test_outcomes_are_told_from_scores():
    assert is_outcomes(np.array([True, False]))
    assert is_outcomes(np.array([0.0, 1.0]))
    assert not is_outcomes(np.array([0.0, 0.5]))


@pytest.mark.parametrize("make", [list, np.array, lambda x: np.array(x, dtype=object)])
def test_blanks_around_a_cluster_make_no_other(make):
    codes, n = as_clusters(make(["p1", "p2 ", " p1", "p2", "P1"]), 5)
    assert (codes.tolist(), n) == ([0, 1, 0, 1, 2], 3)


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


@pytest.mark.parametrize("make", [list, np.array, lambda x: np.array(x, dtype=object), pa.array])
@pytest.mark.parametrize("blank", ["", "  ", "\t\n", "\u00a0"])
def test_a_blank_label_is_no_cluster(make, blank):
    with pytest.raises(InputError, match="row 1: clusters has 2 blank labels"):
        as_clusters(make(["a", blank, blank, "b"]), 4)
    with pytest.raises(InputError, match="row 0: clusters has 1 blank label, "):
        as_clusters(np.array([b" ", b"a"]), 2)


@pytest.mark.parametrize("make", [list, np.array, lambda x: np.array(x, dtype=object), pa.array])
@pytest.mark.parametrize("missing", ["nan", "NaN", "Nan", "NAN", " nan "])
def test_the_text_of_a_missing_number_is_no_cluster(make, missing):
    with pytest.raises(InputError, match="row 1: clusters has 2 labels 'nan', and a missing"):
        as_clusters(make(["a", missing, missing, "b"]), 4)
    with pytest.raises(InputError, match="row 0: clusters has 1 label 'nan', "):
        as_clusters(np.array([b"nan", b"a"]), 2)
    assert as_clusters(make(["nancy", "none", "nancy"]), 3)[1] == 2


def test_a_missing_date_is_no_cluster():
    dates = np.array(["2023-01-01", "NaT", "2023-01-02"], dtype="datetime64[D]")
    for column in (dates, dates - dates[0]):
        with pytest.raises(InputError, match="row 1: clusters has 1 missing"):
            as_clusters(column, 3)
    codes, n = as_clusters(dates[[0, 2, 0]], 3)
    assert (codes.tolist(), n) == ([0, 1, 0], 2)


@pytest.mark.parametrize("make", [list, tuple, lambda values: np.array(values, dtype=object)])
def test_labels_of_different_types_are_different_clusters(make):
    codes, n = as_clusters(make([1, "1", 2, "2", 1.0, "none", b"1", (1, 2)]), 8)
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


#: Columns of public functions, a row for each text, answer or item.
_COLUMNS = {
    "a", "answers", "b", "clusters", "confidence", "correct", "dose", "gold", "holds",
    "is_original", "outcomes", "original", "predictions", "reworded", "sample", "strata",
    "test_confidence", "transformed", "units", "values", "weights",
}  # fmt: skip
#: What asks another function that does, for each of its samples, or is computed inside of a run.
_OTHERWISE = {"judge_pairs", "is_collapsed", "measure_informedness"}


def test_every_function_of_several_columns_looks_at_their_indexes():
    found = {name: getattr(stats, name) for name in stats.__all__}
    several = {
        name
        for name, function in found.items()
        if inspect.isfunction(function)
        and len(_COLUMNS & inspect.signature(function).parameters.keys()) > 1
    }
    unchecked = {name for name in several if not hasattr(found[name], "__wrapped__")}
    assert unchecked == _OTHERWISE
    assert len(several) > 15


_WORDS = [("yes", "no", "none")[i % 3] for i in range(60)]
_SHIFTED = [*_WORDS[1:], _WORDS[0]]


@pytest.mark.parametrize(
    ("respell", "is_refused"),
    [
        (str.upper, True),
        (str.capitalize, True),
        (lambda label: f" {label}", True),
        (lambda label: label, False),
        (lambda label: label.capitalize() if label == "no" else label, False),  # may be another
        (lambda label: {"yes": "ja", "no": "nein", "none": "-"}[label], False),  # none is right
    ],
)
@pytest.mark.parametrize("make", [list, np.array, pa.array])
@pytest.mark.parametrize(
    "test",
    [
        lambda gold, a, b: stats.invariance_test(a, b, gold),
        lambda gold, a, b: stats.flip_test(a, b, gold=gold),
        lambda gold, a, b: stats.flip_test(gold, b),
        lambda gold, a, b: stats.symmetry_test(gold, b),
        lambda gold, a, b: stats.excess_churn_test([a, a], [gold, b]),
        lambda gold, a, b: stats.stratified_test(a, b, ["s", "t"] * 30, gold=gold),
        lambda gold, a, b: stats.dose_response_test(a, b, [1, 2] * 30, gold=gold),
        MatchedSample.from_predictions,
        lambda gold, a, b: stats.find_collapse(a, gold),
    ],
)
def test_labels_that_differ_in_case_alone_are_refused_by_every_test(
    test, make, respell, is_refused
):
    gold = make([respell(label) for label in _WORDS])
    refused = pytest.raises(InputError, match="differ in case or blanks alone")
    with refused if is_refused else contextlib.nullcontext():
        test(gold, make(_WORDS), make(_SHIFTED))


def test_columns_in_different_orders_are_refused_by_every_test():
    pd = pytest.importorskip("pandas")
    a = pd.Series([1, 0, 1, 1, 0, 1, 1, 0])
    b, filtered = a[::-1], a.set_axis(range(8, 16))
    calls = {
        "a and b": lambda x: paired_test(a, x),
        "a and clusters": lambda x: paired_test(a, a.tolist(), clusters=x),
        "b and clusters": lambda x: paired_test(filtered, a + 0.5, clusters=x, n_resamples=9),
        "original and transformed": lambda x: PairedCounts.from_outcomes(a, x),
        "gold and transformed": lambda x: MatchedSample.from_predictions(a, a.tolist(), x),
        "original_correct and transformed_correct": lambda x: MatchedSample(
            original_correct=a, transformed_correct=x
        ),
        "original and gold": lambda x: stats.flip_test(a, 1 - a.to_numpy(), gold=x),
        "original and strata": lambda x: stats.stratified_test(a, a.tolist(), x),
        "original and reworded": lambda x: stats.invariance_test(
            a, 1 - a.to_numpy(), a.to_numpy(), reworded=x
        ),
        r"outcomes\['one'\] and outcomes\['two'\]": lambda x: stats.cochran_q_test(
            {"one": a, "two": x, "three": [1] * 8}
        ),
        r"original\['test 1'\] and transformed\['test 1'\]": lambda x: stats.combine(
            [(a, x)], correction="maxt", n_resamples=99
        ),
        "buckets and correct": lambda x: stats.count_buckets(a // 2, correct=x),
        "holds and units": lambda x: stats.measure_informedness(a, x, a, a),
        "predictions and gold": lambda x: stats.is_collapsed(a, x),
    }
    for names, call in calls.items():
        with pytest.raises(InputError, match=f"row 0: {names} have the same index in different"):
            call(b)
        call(filtered)  # a part of another table has another index, which says nothing


def test_pandas_indexes_and_categories_are_columns_too():
    pd = pytest.importorskip("pandas")
    expected = paired_test([1, 0, 1, 1], [0, 0, 1, 0], clusters=[1, 1, 2, 3]).pvalue
    for make in (pd.Index, pd.Categorical, pd.array):
        found = paired_test(make([1, 0, 1, 1]), [0, 0, 1, 0], clusters=make(["a", "a", "b", "c"]))
        assert found.pvalue == expected
    for values, complaint in (
        (pd.to_datetime(["2020", "2021", "2022"]), "a must|original must hold numbers, not values"),
        (pd.Index([1.0, None, 0.0]), "row 1: original has 1 missing"),
        (pd.DataFrame({"a": [1, 0, 1]}), "must be one column, not a DataFrame"),
        (pd.MultiIndex.from_tuples([(1, 0), (1, 1), (0, 1)]), "one column, not a MultiIndex"),
    ):
        with pytest.raises(InputError, match=complaint):
            paired_test(values, [1, 0, 1])
