"""Words that go with a label, by a slow count."""

from __future__ import annotations

import math

import pytest

from ietest_fast.experiment.finished import read_run
from ietest_fast.experiment.view.text_tables import SMOOTHING, find_label_words, label_word_table
from toys import toy_corpus


def words_of(text):
    return {word.strip(".,").lower() for word in text.split()} - {""}


def test_pmi_is_that_of_gururangan():
    train = toy_corpus(500, 1)
    texts = [words_of(text) for text in train.table["hypothesis"].to_pylist()]
    vocabulary = sorted(set().union(*texts))
    labels = train.labels.tolist()
    counts = {
        (word, label): SMOOTHING
        + sum(word in own for own, its in zip(texts, labels, strict=True) if its == label)
        for word in vocabulary
        for label in range(3)
    }
    total = sum(counts.values())

    def pmi(word, label):
        of_word = sum(counts[word, other] for other in range(3))
        of_label = sum(counts[other, label] for other in vocabulary)
        return math.log2(counts[word, label] * total / (of_word * of_label))

    found = find_label_words(train, n_words=3)
    for label in range(3):
        expected = sorted(vocabulary, key=lambda word, own=label: (-pmi(word, own), word))[:3]
        own = [each for each in found if each.label == label]
        assert [each.word for each in own] == expected
        for each in own:
            assert each.pmi == pytest.approx(pmi(each.word, label))
            n = labels.count(label)
            assert each.share == pytest.approx((counts[each.word, label] - SMOOTHING) / n)
    # What the labels were made from comes first.
    assert next(each.word for each in found if each.label == 2) == "sleeps"


def test_frequencies_before_and_after(first_run):
    versions = read_run(first_run).read_versions()
    table = label_word_table(find_label_words(toy_corpus(500, 1), n_words=2), versions)
    by_word = {row[1]: row for row in table.rows}
    label, _, _, _, before, after, change = by_word["sleeps"]
    assert label == "contradiction"
    own = [row for row, gold in enumerate(versions.gold) if gold == 2]
    share = sum("sleeps" in versions.original["hypothesis"][row].as_py() for row in own) / len(own)
    assert before == pytest.approx(share)
    assert after == 0
    assert change == pytest.approx(-share)
