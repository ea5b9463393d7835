"""Pairs of antonyms in the contradictions of training data, held against a double loop."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.analyses.stress.asking import measure_stress
from ietest_fast.analyses.stress.origins import read_words
from ietest_fast.analyses.stress.profile import (
    TIMES_IN_TRAINING,
    compare_pairs,
    count_in_contradictions,
    note_training,
)
from ietest_fast.answers import Predictions
from ietest_fast.corpus import corpus_from_table
from ietest_fast.errors import InputError
from ietest_fast.stats import proportion_interval

LABELS = ("entailment", "neutral", "contradiction")
WORDS = ("hot", "cold", "new", "old", "man", "woman", "the", "is")
PAIRS = (("cold", "hot"), ("new", "old"), ("man", "woman"))

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(
    lambda words: " ".join(words).capitalize() + "."
)
rows = st.lists(st.tuples(texts, texts, st.sampled_from(LABELS)), min_size=1, max_size=12)


def count(data: list[tuple[str, str, str]], pair: tuple[str, str]) -> int:
    """Count rows one by one, words by a regular expression of their own."""
    total = 0
    for premise, hypothesis, label in data:
        if label != "contradiction":
            continue
        before = re.sub(r"[^a-z ]", "", premise.lower()).split()
        after = re.sub(r"[^a-z ]", "", hypothesis.lower()).split()
        one, other = pair
        total += (one in before and other in after) or (other in before and one in after)
    return total


def make_corpus(data: list[tuple[str, str, str]]):
    return corpus_from_table(
        pa.Table.from_pylist(
            [dict(zip(("premise", "hypothesis", "label"), row, strict=True)) for row in data]
        ),
        label_names=LABELS,
    )


@given(rows)
def test_contradictions_with_a_pair_are_counted(data: list[tuple[str, str, str]]) -> None:
    found = count_in_contradictions(make_corpus(data), PAIRS)
    assert found == {pair: count(data, pair) for pair in PAIRS}
    flipped = count_in_contradictions(make_corpus(data), [pair[::-1] for pair in PAIRS])
    assert list(flipped.values()) == list(found.values())


def test_training_data_without_contradictions_are_refused() -> None:
    pair = {"premise": ["a", "b"], "hypothesis": ["c", "d"], "label": ["yes", "no"]}
    with pytest.raises(InputError, match=r"no contradictions .*its labels are no, yes"):
        count_in_contradictions(corpus_from_table(pa.table(pair)), PAIRS)
    single = pa.table({"text": ["a", "b"], "label": ["contradiction", "neutral"]})
    with pytest.raises(InputError, match="a premise, a hypothesis and the label"):
        count_in_contradictions(corpus_from_table(single), PAIRS)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*(" / ".join(pair) for pair in PAIRS), None]),
            st.booleans(),
        ),
        max_size=20,
    ),
    st.lists(st.sampled_from([0, 1, 9, 10, 99, 100, 5000]), min_size=3, max_size=3),
)
def test_easy_and_hard_pairs(answers: list[tuple[str | None, bool]], often: list[int]) -> None:
    times = {" / ".join(pair): n for pair, n in zip(PAIRS, often, strict=True)}
    found = compare_pairs(
        [pair for pair, _ in answers],
        [None if pair is None else times[pair] for pair, _ in answers],
        np.array([right for _, right in answers], bool),
        np.arange(len(answers)) // 2,
    )
    known = [(pair, right) for pair, right in answers if pair is not None]
    units = [i // 2 for i, (pair, _) in enumerate(answers) if pair is not None]
    if not known:
        assert found is None
        return
    assert found is not None
    for group, wanted in ((found.easy, True), (found.hard, False)):
        own = [pair for pair, right in known if right is wanted]
        assert group.n_rows == len(own)
        assert group.n_pairs == len(set(own))
        seen = [times[pair] for pair in set(own)]
        assert (group.in_training.n, group.in_training.k) == (len(seen), sum(n > 0 for n in seen))
        assert group.mean_times == (pytest.approx(sum(seen) / len(seen)) if seen else None)
    bins = {
        "never": range(1),
        "1 to 9 times": range(1, 10),
        "10 to 99 times": range(10, 100),
        "100 times or more": range(100, 10_000),
    }
    expected = {}
    for name, numbers in bins.items():
        own = [i for i, (pair, _) in enumerate(known) if times[pair] in numbers]
        there = [known[i][1] for i in own]
        if there:
            interval = proportion_interval(there, [units[i] for i in own])
            expected[name] = (len(there), sum(there), interval)
    assert {
        name: (share.n, share.k, share.interval) for name, share in found.by_times.items()
    } == expected


@pytest.fixture
def predictions() -> Predictions:
    rows = [("original", None, "neutral"), ("original", None, "neutral")]
    rows += [("antonym", "cold / hot", "contradiction"), ("antonym", "new / old", "neutral")]
    return Predictions.from_table(
        pa.table(
            {
                "item": [0, 1, 0, 1],
                "version": [row[0] for row in rows],
                "gold": ["neutral"] * 2 + ["contradiction"] * 2,
                "predicted": [row[2] for row in rows],
                "word_pair": pa.array([row[1] for row in rows], pa.string()),
            }
        )
    )


def test_predictions_say_how_often_and_profiles_show_it(predictions: Predictions) -> None:
    train = make_corpus([("It is hot.", "It is cold.", "contradiction")] * 12)
    noted = note_training(predictions, train)
    assert noted.table[TIMES_IN_TRAINING].to_pylist() == [None, None, 12, 0]
    # Counted anew for other training data.
    again = note_training(noted, make_corpus([("It is old.", "It is new.", "contradiction")]))
    assert again.table[TIMES_IN_TRAINING].to_pylist() == [None, None, 0, 1]
    (profile,) = measure_stress(noted)
    found = profile.tests[0].antonyms
    assert found is not None
    assert {name: share.share for name, share in found.by_times.items()} == {
        "never": 0.0,
        "10 to 99 times": 1.0,
    }
    assert found.to_dict()["easy"]["mean_times"] == 12
    assert profile.original.antonyms is None
    (without,) = measure_stress(predictions)
    assert without.tests[0].antonyms is None


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([None, None, -3, 0], "row 2, column 'times_in_training': is -3; 1 row has no number"),
        ([None, None, 0, 1.5], "row 3, column 'times_in_training': is 1.5; 1 row has no number"),
        (["", "x", "-1", "0"], "row 1, column 'times_in_training': is 'x'; 2 rows have no number"),
        ([None, float("inf"), 1, 0], "row 1, column 'times_in_training': is inf; 1 row has no"),
        ([None, None, 12, 0], None),
        ([None, float("nan"), 12.0, 0.0], None),
        (["", "", "12", "0.0"], None),
    ],
)
def test_times_are_whole_numbers(
    predictions: Predictions, times: list[object], said: str | None
) -> None:
    table = predictions.table.append_column(TIMES_IN_TRAINING, pa.array(times))
    noted = Predictions.from_table(table)
    if said is not None:
        with pytest.raises(InputError, match=said):
            measure_stress(noted)
        return
    found = measure_stress(noted)[0].tests[0].antonyms
    assert found is not None
    assert list(found.by_times) == ["never", "10 to 99 times"]


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("word_pair", [None, None, "foo", "new / old"], "row 2, column 'word_pair': 'foo' says"),
        ("word_pair", [None, "", "a / b", "a / b / c"], "row 3, column 'word_pair': 'a / b / c'"),
        ("word_pair", ["x / y", "old / Old ", "", ""], "row 1, column 'word_pair': 'old / Old'"),
        ("word_pair", [None, None, 3, 4], "row 2, column 'word_pair': '3' says of no words"),
        ("word_class", ["", "noun", "noun", ""], "row 1, column 'word_class': 'noun' says of no"),
        ("word_class", ["content", "content + verb", "", ""], "row 1, column 'word_class'"),
        ("word_pair", [None, "nan", " Cold /hot", "cold / HOT"], None),
        ("word_class", ["", " Function", "function+content", "content + function"], None),
    ],
)
def test_notes_of_words_are_what_a_stress_test_writes(
    predictions: Predictions, column: str, values: list[object], said: str | None
) -> None:
    rest = predictions.table.drop_columns(["word_pair"])
    noted = Predictions.from_table(rest.append_column(column, pa.array(values)))
    if said is None:
        found = read_words(noted).table[column].to_pylist()
        assert found[:2] in ([None, None], [None, "function"])
        assert found[2] == found[3]
        assert found[2] in {"cold / hot", "content + function"}
        measure_stress(noted)
        return
    with pytest.raises(InputError, match=said):
        measure_stress(noted)


@pytest.mark.parametrize(
    ("pairs", "times", "said"),
    [
        (("cold / hot",) * 4, [1, 1, 2, 2], "row 2, .*is 2, and 1 in another row of the same wor"),
        (("cold / hot",) * 4, ["1", "", "1", "1,000"], "row 3"),
        (("new / old", "cold / hot") * 2, [3, 3, 3, 0], "row 3, .*'cold / hot'"),
        (("cold / hot",) * 4, [1, 1.0, None, 1], None),
        (("cold / hot", "hot / cold") * 2, [1, 2, 1, 2], None),  # somebody's own order
        ((None, "", None, ""), [1, 2, 3, 4], None),
    ],
)
@pytest.mark.parametrize("model", [None, "m"])
def test_a_pair_has_one_number_beside_a_classifier(
    predictions: Predictions, pairs: object, times: object, said: str | None, model: str | None
) -> None:
    table = predictions.table.drop_columns(["word_pair"])
    table = table.append_column("word_pair", pa.array(pairs, pa.string()))
    table = table.append_column(TIMES_IN_TRAINING, pa.array(times))
    if model is not None:
        table = table.append_column("model", pa.array([model] * 4))
    if said is None:
        measure_stress(Predictions.from_table(table))
        return
    with pytest.raises(InputError, match=said):
        measure_stress(Predictions.from_table(table))


def test_classifiers_may_have_seen_a_pair_differently_often(predictions: Predictions) -> None:
    two = [
        predictions.table.append_column(TIMES_IN_TRAINING, pa.array(times)).append_column(
            "model", pa.array([name] * 4)
        )
        for name, times in (("a", [None, None, 12, 0]), ("b", [None, None, 7, 0]))
    ]
    assert len(measure_stress(Predictions.from_table(pa.concat_tables(two)))) == 2


def test_answers_without_antonyms_are_refused(predictions: Predictions) -> None:
    train = make_corpus([("It is hot.", "It is cold.", "contradiction")])
    for table in (
        predictions.table.drop_columns(["word_pair"]),
        predictions.table.set_column(4, "word_pair", pa.nulls(4, pa.string())),
    ):
        with pytest.raises(InputError, match="none of these tests has any"):
            note_training(replace(predictions, table=table), train)
