"""What a classifier did on stress tests, held against counting row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.analyses.stress.asking import StressNotes, _number_units, measure_stress
from ietest_fast.analyses.stress.suite import StressOptions, make_suite, read_suite
from ietest_fast.answers import Predictions, evaluate, read_predictions
from ietest_fast.corpus import corpus_from_table
from ietest_fast.errors import ConfigError, InputError
from ietest_fast.models.classifiers import Scores
from ietest_fast.stats import paired_test, proportion_interval, wilson_interval

if TYPE_CHECKING:
    from pathlib import Path

    from ietest_fast.corpus import Corpus

LABELS = ("entailment", "neutral", "contradiction")
TESTS = {
    "tautology": "word-overlap",
    "twice": {"name": "negation", "times": 2},
    "swap": "swap",
    "antonym": "antonym",
    "words": "numerical",
}


class Words:
    """Says neutral where "true" is in the hypothesis, contradiction where "no" is."""

    labels = LABELS
    backend = "words"
    fingerprint = "0" * 64

    def __init__(self) -> None:
        self.n_asked = 0

    def score(self, inputs: pa.Table, *, on_batch: object = None) -> Scores:
        self.n_asked += inputs.num_rows
        texts = [str(text).lower() for text in inputs.column(1).to_pylist()]
        return Scores(
            predicted=np.array([1 if "true" in text else 2 * ("no" in text) for text in texts])
        )


@pytest.fixture
def corpus() -> Corpus:
    kinds = [
        ("A large dog runs in the park.", "A big animal moves.", "entailment"),
        ("A large dog runs in the park.", "Nobody is in the park.", "contradiction"),
        ("Two women sit on a bench.", "The women are old.", "neutral"),
        ("Two women sit on a bench.", "No woman is sitting.", "contradiction"),
    ]
    rows = [
        {
            "premise": f"{premise} {i}",
            "hypothesis": hypothesis,
            "label": label,
            "genre": ("fiction", "travel")[i % 2],
            "pairID": f"p{i}",
        }
        for i, (premise, hypothesis, label) in enumerate(kinds * 10)
    ]
    return corpus_from_table(pa.Table.from_pylist(rows), keep_columns=("genre", "pairID"))


def _answers(corpus: Corpus, tests: dict[str, Any] | None = None) -> tuple[Predictions, Any, Words]:
    suite = make_suite(corpus, TESTS if tests is None else tests)
    model = Words()
    found = evaluate(
        model, corpus, list(suite.versions), id_column="pairID", keep_columns=("genre",)
    )
    return found.predictions, suite, model


def test_clusters_have_to_be_a_column_that_can_be_compared(corpus: Corpus) -> None:
    predictions, _, _ = _answers(corpus)
    with pytest.raises(InputError, match="no such column to tell clusters apart; there are"):
        measure_stress(predictions, StressOptions(clusters="nosuch"))
    lists = pa.array([[1]] * len(predictions.table))
    odd = replace(predictions, table=predictions.table.append_column("cluster", lists))
    with pytest.raises(InputError, match="a column to tell clusters apart holds texts"):
        measure_stress(odd, StressOptions(clusters="cluster"))


def test_rows_without_a_cluster_belong_to_their_item() -> None:
    table = pa.table(
        {"item": ["a", "a", "b", "c", "d"], "cluster": [1.0, 1.0, 1.0, float("nan"), None]}
    )
    units = _number_units(table, "cluster", "a.csv").tolist()
    assert units[0] == units[1] == units[2]
    assert len(set(units)) == 3
    assert len(set(_number_units(table, None, "a.csv").tolist())) == 4


def test_every_number_is_what_counting_gives(corpus: Corpus) -> None:
    predictions, suite, model = _answers(corpus)
    (profile,) = measure_stress(
        predictions, StressOptions(group_by="genre"), notes=StressNotes(empty=suite.empty)
    )
    rows = predictions.table.to_pylist()
    assert model.n_asked == len({(row["premise"], row["hypothesis"]) for row in rows})
    gold = {row["item"]: row["gold"] for row in rows if row["version"] == "original"}
    right_before = {
        row["item"]: row["gold"] == row["predicted"] for row in rows if row["version"] == "original"
    }
    p_values = {}
    for test in (profile.original, *profile.tests):
        own = [row for row in rows if row["version"] == test.name]
        right = [row["gold"] == row["predicted"] for row in own]
        assert (test.accuracy.n, test.accuracy.k) == (len(own), sum(right))
        expected = proportion_interval(right, [row["item"] for row in own])
        assert test.accuracy.interval == expected
        if test.n_items == len(own):
            wilson = wilson_interval(sum(right), len(own))
            assert (expected.low, expected.high) == pytest.approx((wilson.low, wilson.high))
        assert test.n_changed == sum(row["changed"] for row in own)
        assert test.n_items == len({row["item"] for row in own})
        for genre in ("fiction", "travel"):
            there = [ok for ok, row in zip(right, own, strict=True) if row["genre"] == genre]
            share = test.by_group.get(genre)
            assert (share.n, share.k) == (len(there), sum(there)) if share else not there
        pairs = Counter((row["gold"], row["predicted"]) for row in own)
        assert test.confusion is not None
        for i, before in enumerate(LABELS):
            for j, after in enumerate(LABELS):
                assert test.confusion[i, j] == pairs[before, after]
                assert test.count(LABELS, before, after) == pairs[before, after]
        wrong = [row for row in own if row["gold"] != row["predicted"]]
        assert test.false_neutral is not None
        assert test.false_neutral.n == len(wrong)
        assert test.false_neutral.k == sum(row["predicted"] == "neutral" for row in wrong)
        kept = len(own) == len({row["item"] for row in own}) and all(
            row["gold"] == gold[row["item"]] for row in own
        )
        assert test.keeps_labels == kept
        if kept and test.name != "original":
            assert test.comparison is not None
            after = {row["item"]: row["gold"] == row["predicted"] for row in own}
            items = list(after)
            expected = paired_test(
                [right_before[item] for item in items], [after[item] for item in items]
            )
            assert test.comparison.result.p_value == expected.p_value
            p_values[test.name] = expected.p_value
        else:
            assert test.comparison is None
    assert set(p_values) == {"tautology", "twice", "swap"}
    adjusted = {test.name: test.comparison.p_adjusted for test in profile.tests if test.comparison}
    order = sorted(p_values, key=p_values.__getitem__)
    largest = 0.0
    for place, name in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * p_values[name]))
        assert adjusted[name] == pytest.approx(largest, rel=1e-12)


def test_new_rows_have_labels_of_their_own(corpus: Corpus) -> None:
    predictions, suite, _ = _answers(corpus)
    tests = {
        test.name: test
        for test in measure_stress(predictions, notes=StressNotes(empty=suite.empty))[0].tests
    }
    assert not tests["antonym"].keeps_labels
    gold = tests["antonym"].confusion
    assert gold is not None
    assert gold[:2].sum() == 0
    assert tests["words"].accuracy.n > 0


def test_a_test_without_a_text_to_change_is_named(corpus: Corpus) -> None:
    plain = corpus.take(np.flatnonzero(corpus.labels == 0))
    suite = make_suite(plain, {"swap": "swap", "tautology": "word-overlap"})
    assert suite.empty == ("swap",)
    assert [version.name for version in suite.versions] == ["tautology"]
    found = evaluate(Words(), plain, list(suite.versions))
    (profile,) = measure_stress(found.predictions, notes=StressNotes(empty=suite.empty))
    few, said = profile.remarks()
    assert few.startswith("tautology: Warning: only ")
    assert said == "swap: no text could be changed."
    with pytest.raises(InputError, match=r"none of the tests \(swap\) changes a text"):
        make_suite(plain, {"swap": "swap"})


def test_several_models_and_a_log(corpus: Corpus, tmp_path: Path) -> None:
    predictions, _, _ = _answers(corpus, {"tautology": "word-overlap"})
    predictions.write(tmp_path / "log.parquet")
    (again,) = measure_stress(read_predictions(tmp_path / "log.parquet"))
    (one,) = measure_stress(predictions)
    assert again.to_dict() == one.to_dict()
    assert "tautology" in str(one)
    both = Predictions.concat(
        [
            Predictions(
                table=predictions.table.append_column("model", pa.array([name] * len(predictions))),
                label_names=predictions.label_names,
            )
            for name in ("a", "b")
        ]
    )
    profiles = measure_stress(both)
    assert [profile.name for profile in profiles] == ["a", "b"]
    assert profiles[0].to_frame().shape == (2, len(profiles[0].records()[1]))


def test_what_is_missing_is_said(corpus: Corpus) -> None:
    predictions, _, _ = _answers(corpus, {"tautology": "word-overlap"})
    with pytest.raises(InputError, match="no such column to part accuracies by; there are changed"):
        measure_stress(predictions, StressOptions(group_by="topic"))
    with pytest.raises(InputError, match="need the version 'original' and others"):
        measure_stress(predictions.select(version="original"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tests", "is not TOML"),
        ("a = 1", "one table .tests., of lines like .* and not a"),
        ("[tests]", "one table .tests."),
        ('[tests]\noriginal = "swap"', "no test can be called 'original'"),
        ('[tests]\n"Original " = "swap"', r"toml: no test can be called 'Original '"),
        (
            '[tests]\nb = "swap"\n"A" = "swap"\n" a" = "negation"',
            r"toml: the tests 'A' and ' a' differ in case",
        ),
        (
            '[tests]\na = "swop"\nb = { name = "swap", by = 1 }\nc = 1',
            "a: .*swop.*\n.*b: by.*\n.*c: is a",
        ),
    ],
)
def test_damaged_suites_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(text)
    with pytest.raises((ConfigError, InputError), match=message):
        read_suite(path)
    with pytest.raises(InputError, match="no such file"):
        read_suite(tmp_path / "none.toml")


def test_a_suite_of_ones_own(tmp_path: Path, corpus: Corpus) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(
        '[tests]\n"not, twice" = "negation:times=2"\n'
        'keyboard = { name = "spelling", ways = "key" }\n'
    )
    suite = make_suite(corpus, read_suite(path))
    assert [version.name for version in suite.versions] == ["not, twice", "keyboard"]
    assert "false is not true and false is not true" in str(
        suite.versions[0].table["hypothesis"][0]
    )
