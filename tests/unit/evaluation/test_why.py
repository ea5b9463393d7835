"""Why a version is answered otherwise: edits, what is left without one, and examples."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import fisher_exact
from statsmodels.stats.multitest import multipletests

import ietest_fast as ie
from command_line import run_here
from ietest_fast.analyses import compare_versions
from ietest_fast.analyses.compare.why import find_why
from ietest_fast.answers import Predictions
from ietest_fast.stats import benjamini_hochberg, paired_test

if TYPE_CHECKING:
    from pathlib import Path

WORDS = {"couch": "sofa", "road": "street", "cat": "kitty", "car": "auto", "boat": "ship"}
N = 600


def draw(seed: int = 0) -> pa.Table:
    """Answers that flip on a third of the texts with a couch, and on 1% of the others."""
    rng = np.random.default_rng(seed)
    chosen = [rng.choice(list(WORDS), 2, replace=False) for _ in range(N)]
    before = [f"boy {i} saw a {x} and a {y} there" for i, (x, y) in enumerate(chosen)]
    after = [" ".join(WORDS.get(word, word) for word in text.split()) for text in before]
    flips = rng.random(N) < [0.33 if "couch" in text else 0.01 for text in before]
    gold = np.arange(N) % 2
    answers = np.concatenate([gold, np.where(flips, 1 - gold, gold)])
    names = np.array(["no", "yes"])
    return pa.table(
        {
            "item": list(range(N)) * 2,
            "version": ["original"] * N + ["reworded"] * N,
            "gold": names[np.tile(gold, 2)],
            "predicted": names[answers],
            "text": before + after,
        }
    )


def why_of(table: pa.Table) -> Any:
    predictions = Predictions.from_table(table, source="answers")
    return find_why(predictions.pairs("reworded"), alpha=0.05)


def test_edits_are_ranked_by_fishers_test_and_false_discoveries_are_bounded() -> None:
    table = draw()
    texts = np.array(table["text"].to_pylist()).reshape(2, N)
    answers = np.array(table["predicted"].to_pylist()).reshape(2, N)
    flipped = answers[0] != answers[1]
    expected = {}
    for old, new in WORDS.items():
        has = np.array([old in text.split() for text in texts[0]])
        table_of = [[(has & flipped).sum(), (has & ~flipped).sum()],
                    [(~has & flipped).sum(), (~has & ~flipped).sum()]]  # fmt: skip
        expected[f"{old} → {new}"] = (
            has.sum(), (has & flipped).sum(), fisher_exact(table_of, alternative="greater").pvalue,
        )  # fmt: skip
    found = why_of(table)
    assert next(each.edit for each in found.edits.effects) == "couch → sofa"
    assert {each.edit for each in found.edits.effects} == set(expected)
    q_values = multipletests([each.p_value for each in found.edits.effects], method="fdr_bh")[1]
    for each, q in zip(found.edits.effects, q_values, strict=True):
        n, n_flipped, p = expected[each.edit]
        assert (each.n, each.n_flipped) == (n, n_flipped)
        assert each.p_value == pytest.approx(p)
        assert each.q_value == pytest.approx(q)


def test_what_is_left_without_the_leading_edit_is_tested_again() -> None:
    table = draw()
    texts = np.array(table["text"].to_pylist()[:N])
    right = np.array(table["predicted"]) == np.array(table["gold"])
    rest = np.array(["couch" not in text for text in texts])
    expected = paired_test(right[:N][rest], right[N:][rest])
    found = why_of(table)
    assert found.leading.edit == "couch → sofa"
    assert (found.p_without, found.delta_without) == (expected.p_value, expected.counts.delta)
    assert len(found.examples) == 3
    assert all("[couch → sofa]" in example for example in found.examples)
    assert all(example.endswith(("(gold yes)", "(gold no)")) for example in found.examples)


def test_of_texts_that_are_not_judged_nothing_is_said() -> None:
    table = draw()
    judged = np.arange(N) % 3 > 0
    predictions = Predictions.from_table(table, source="answers")
    found = find_why(predictions.pairs("reworded"), alpha=0.05, judged=judged)
    alone = why_of(table.filter(pa.array(np.tile(judged, 2))))
    assert found is not None
    assert found.to_dict() == alone.to_dict()


def test_clusters_are_what_is_counted_and_what_is_tested_again() -> None:
    table = draw()
    units = np.arange(N) // 2
    predictions = Predictions.from_table(table, source="answers")
    pairs = predictions.pairs("reworded")
    found = find_why(pairs, alpha=0.05, clusters=units)
    assert found is not None
    assert (found.edits.unit, found.edits.n) == ("clusters", N // 2)
    assert all(each.n <= N // 2 for each in found.edits.effects)
    single = find_why(pairs, alpha=0.05, clusters=np.arange(N))
    alone = find_why(pairs, alpha=0.05)
    assert single is not None
    assert alone is not None
    assert single.edits.effects == alone.edits.effects
    texts = np.array(table["text"].to_pylist()[:N])
    rest = np.array(["couch" not in text for text in texts])
    right = np.array(table["predicted"]) == np.array(table["gold"])
    expected = paired_test(right[:N][rest], right[N:][rest], clusters=units[rest])
    assert found.leading is not None
    assert found.leading.edit == "couch → sofa"
    assert found.p_without == expected.p_value


def test_an_edit_that_alone_recurs_is_named_with_what_it_does() -> None:
    n = 12
    table = pa.table(
        {
            "item": list(range(n)) * 2,
            "version": ["original"] * n + ["reworded"] * n,
            "gold": ["a", "b"] * n,
            "predicted": ["a", "b"] * (n // 2) + ["b", "a"] * 2 + ["a", "b"] * (n // 2 - 2),
            "text": [f"w{i}" for i in range(4)]
            + ["cat"] * 8
            + [f"x{i}" for i in range(4)]
            + ["c"] * 8,
        }
    )
    (why, *_) = list(why_of(table).lines())
    assert why[1].startswith("cat → c alone stands in 5 texts or more: 0 of 8 flip")
    (why, *_) = list(why_of(table.filter(pa.array(([True] * 6 + [False] * 6) * 2))).lines())
    assert why[1] == "no edit stands in 5 texts or more"


def test_without_an_effect_hardly_any_edit_leads() -> None:
    rng = np.random.default_rng(1)
    leading = 0
    for seed in range(40):
        table = draw(seed)
        gold = np.array(table["gold"].to_pylist())
        flipped = rng.random(2 * N) < 0.1
        other = np.where(gold == "yes", "no", "yes")
        place = table.column_names.index("predicted")
        table = table.set_column(place, "predicted", pa.array(np.where(flipped, other, gold)))
        leading += why_of(table).leading is not None
    assert leading <= 7  # of 40 at 5%: more have probability 0.001


@pytest.mark.parametrize(
    ("before", "after", "edits"),
    [
        ("A man sleeps.", "A guy sleeps.", ["man → guy"]),
        ("A man sleeps.", "A man doesn't sleep.", ["sleeps → doesn't sleep"]),
        ("It is big.", "It is very big.", ["nothing → very"]),
        ("It is very big.", "It is big.", ["very → nothing"]),
        ("the cat saw the dog", "the kitty saw the hound", ["cat → kitty", "dog → hound"]),
        ("one two three four five six", "seven eight nine ten eleven twelve", []),
        ("a  b", "a b", []),
    ],
)
def test_edits_are_replaced_words(before: str, after: str, edits: list[str]) -> None:
    n = 5
    table = pa.table(
        {
            "item": list(range(n)) * 2,
            "version": ["original"] * n + ["reworded"] * n,
            "gold": ["a", "b", "a", "b", "a"] * 2,
            "predicted": ["a", "b", "a", "b", "a", "a", "a", "a", "b", "b"],
            "text": [before] * n + [after] * n,
        }
    )
    assert [each.edit for each in why_of(table).edits.effects] == edits


def test_long_texts_with_nothing_in_common_take_no_time() -> None:
    n, long = 200, 3_000
    texts = [" ".join(f"{kind}{i % 7}" for i in range(long + kind)) for kind in (0, 1)]
    table = pa.table(
        {
            "item": list(range(n)) * 2,
            "version": ["original"] * n + ["reworded"] * n,
            "gold": ["a", "b"] * n,
            "predicted": ["a", "b"] * (n // 2) + ["b", "a"] * (n // 2),
            "text": [texts[0]] * n + [texts[1]] * n,
        }
    )
    began = time.process_time()
    assert why_of(table).edits.effects == ()
    assert time.process_time() - began < 5


def test_words_of_any_length_leave_lines_short() -> None:
    table = draw()
    place = table.column_names.index("text")
    long = [text.replace("couch", "c" * 50_000) for text in table["text"].to_pylist()]
    found = why_of(table.set_column(place, "text", pa.array(long)))
    assert all(len(value) < 400 for _, value in found.lines())


def test_texts_that_nobody_knows_or_that_are_the_same_give_no_reason() -> None:
    table = draw()
    assert why_of(table.drop_columns(["text"])) is None
    same = table["text"].to_pylist()[:N] * 2
    place = table.column_names.index("text")
    assert why_of(table.set_column(place, "text", pa.array(same))) is None
    gaps = [None, *table["text"].to_pylist()[1:]]
    assert why_of(table.set_column(place, "text", pa.array(gaps))).edits.n == N - 1


def test_the_command_and_the_result_say_why(tmp_path: Path) -> None:
    pq.write_table(draw(), tmp_path / "answers.parquet")
    _, out, _ = run_here("eval", "answers.parquet", folder=tmp_path)
    lines = out.splitlines()
    assert lines[0].startswith("Accuracy is lower on 600 reworded texts: 100.0 → ")
    assert len(lines) <= 14
    (line,) = [line for line in lines if line.startswith("why")]
    assert "couch → sofa: " in line
    assert "; without it " in line
    assert sum("[couch → sofa]" in line for line in lines) == 3
    _, out, _ = run_here("eval", "answers.parquet", "--details", folder=tmp_path)
    assert line.split(":")[1] in out
    _, out, _ = run_here("eval", "answers.parquet", "--json", folder=tmp_path)
    why = json.loads(out)["why"]
    assert (why["leading"], why["edits"][0]["edit"]) == ("couch → sofa", "couch → sofa")
    table = draw()
    texts = table["text"].to_pylist()
    answers = dict(zip(texts, table["predicted"].to_pylist(), strict=True))
    found = ie.evaluate(
        lambda given: [answers[text] for text in given],
        {"text": texts[:N], "label": table["gold"].to_pylist()[:N]},
        transformed={"text": texts[N:], "label": table["gold"].to_pylist()[N:]},
    )
    assert found.edits is not None
    assert found.edits.to_frame()["edit"][0] == "couch → sofa"
    assert "why" in str(found)
    assert json.loads(found.edits.to_json())["n"] == N


def test_versions_that_are_alike_are_asked_no_reason() -> None:
    table = draw()
    place = table.column_names.index("predicted")
    table = table.set_column(place, "predicted", table["gold"])
    (test,) = compare_versions(Predictions.from_table(table, source="answers")).tests
    assert test.why is not None
    assert test.why.leading is None
    assert test.why.examples == ()


@pytest.mark.parametrize("seed", range(5))
def test_q_values_are_those_of_statsmodels(seed: int) -> None:
    p_values = np.random.default_rng(seed).random(30) ** 2
    expected = multipletests(p_values, method="fdr_bh")[1]
    assert benjamini_hochberg(list(p_values)) == pytest.approx(expected)
