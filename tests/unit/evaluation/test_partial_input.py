"""What one of two texts gives away."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from ietest_fast.analyses.partial_input import measure_partial_input, partial_input_table
from ietest_fast.corpus import Corpus
from ietest_fast.errors import InputError
from ietest_fast.stats import wilson_interval
from toys import toy_corpus


@pytest.fixture(scope="module")
def found():
    return measure_partial_input(toy_corpus(600, 1), toy_corpus(300, 2))


def test_the_text_that_labels_were_made_from_gives_them_away(found):
    premise, hypothesis, both = found
    assert [each.columns for each in found] == [
        ("premise",),
        ("hypothesis",),
        ("premise", "hypothesis"),
    ]
    assert hypothesis.p_value < 1e-10
    assert hypothesis.accuracy > 0.6
    assert premise.p_value > 0.01
    assert premise.accuracy < 0.45
    assert both.accuracy == pytest.approx(hypothesis.accuracy, abs=0.05)


def test_numbers_are_those_of_the_binomial_law(found):
    labels = toy_corpus(300, 2).label_counts
    for each in found:
        assert each.n == 300
        assert each.most_frequent == max(labels) / 300
        expected = binomtest(each.n_right, 300, each.most_frequent, alternative="greater")
        assert each.p_value == pytest.approx(expected.pvalue)
        assert each.interval == wilson_interval(each.n_right, 300)
    assert [row[0] for row in partial_input_table(found).rows][2] == "premise, hypothesis"


def test_it_is_the_same_again(found):
    again = measure_partial_input(toy_corpus(600, 1), toy_corpus(300, 2))
    assert again == found


def test_data_have_to_fit():
    train = toy_corpus(100, 1)
    other = Corpus(table=train.table, text_columns=("premise",), label_names=train.label_names)
    with pytest.raises(InputError, match="differ in their text columns"):
        measure_partial_input(train, other)
