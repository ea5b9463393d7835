"""``ie.consistency``: a classifier of any kind on paraphrases, and logs of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ietest_fast as ie
from ietest_fast.analyses import buckets_from_table
from ietest_fast.answers import Predictions
from ietest_fast.errors import InputError
from ietest_fast.stats import measure_consistency

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ["entailment", "neutral", "contradiction"]
TEXTS = {
    1: ["A large dog runs.", "A big dog runs.", "A dog, a large one, runs."],
    2: ["Nobody sleeps.", "No one sleeps.", "Nobody is asleep.", "All are awake."],
    3: ["The couch is red.", "The sofa is red."],
}
FRAME = pd.DataFrame(
    [
        {"item": item, "premise": "It is so.", "hypothesis": text, "label": LABELS[item % 3]}
        for item, texts in TEXTS.items()
        for text in texts
    ]
).assign(kind=lambda frame: np.where(frame["item"] == 1, "dogs", "others"))


def guess(pairs: list[tuple[str, str]]) -> list[str]:
    return [
        "neutral" if "large" in text or "asleep" in text or "sofa" in text else "contradiction"
        for _, text in pairs
    ]


class Numbers:
    classes_ = np.array([0, 1, 2])

    def predict(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        return np.array([LABELS.index(answer) for answer in guess(pairs)])


def right(frame: pd.DataFrame) -> np.ndarray:
    pairs = list(zip(frame["premise"], frame["hypothesis"], strict=True))
    return (np.array(guess(pairs)) == frame["label"].to_numpy()).astype(int)


def test_a_function_on_a_frame() -> None:
    asked: list[Any] = []

    def counting(pairs: list[tuple[str, str]]) -> list[str]:
        asked.extend(pairs)
        return guess(pairs)

    found = ie.consistency(counting, FRAME, n_resamples=100, keep_columns=["kind"])
    assert len(asked) == len(set(asked)) == len(FRAME)
    is_original = ~FRAME["item"].duplicated().to_numpy()
    expected = measure_consistency(
        FRAME["item"].to_numpy(), right(FRAME), is_original=is_original.astype(int), n_resamples=100
    )
    for name in ("accuracy_original", "accuracy_macro", "p_c", "p_c_unbiased", "pvap"):
        assert found[name].value == pytest.approx(expected[name].value, abs=1e-15), name
    assert found.statistic == found["p_c"].value
    assert "P_C, unbiased" in str(found)
    assert "<table>" in found._repr_html_()
    frame = found.to_frame()
    assert len(frame) == 1
    low, high = found["p_c"].interval.low, found["p_c"].interval.high
    assert (frame["p_c_low"][0], frame["p_c_high"][0]) == (low, high)
    with pytest.raises(KeyError, match="there is no measure 'pc'"):
        found["pc"]


def test_it_draws_itself() -> None:
    pytest.importorskip("matplotlib")
    axes = ie.consistency(guess, FRAME, n_resamples=100).plot()
    assert axes.get_ylabel() == "P_C"


def test_subsets_are_rows_of_the_frame() -> None:
    frame = pd.concat([FRAME, FRAME.assign(item=FRAME["item"] + 3)])
    found = ie.consistency(guess, frame, subset="kind", n_resamples=100)
    assert found.subsets is not None
    assert set(found.subsets.parts) == {"dogs", "others"}
    assert [value if isinstance(value, str) else None for value in found.to_frame()["subset"]] == [
        None,
        "dogs",
        "others",
    ]
    assert "by kind" in str(found)
    assert ie.consistency(guess, frame, clusters="item", n_resamples=100).result.n_clusters == 6


def test_numbers_as_labels_and_a_classifier_that_knows_numbers() -> None:
    codes = FRAME.assign(label=FRAME["label"].map(LABELS.index))
    one = ie.consistency(guess, FRAME, n_resamples=50)
    two = ie.consistency(Numbers(), codes, inputs="pairs", n_resamples=50)
    assert two["p_c"].value == one["p_c"].value


def test_buckets_made_here_and_by_hand_are_the_same(tmp_path: Path) -> None:
    rows = FRAME.drop(columns=["item"]).drop_duplicates("label").reset_index(drop=True)
    rows = rows.assign(premise="A man sleeps on the couch in the street.")
    out = tmp_path / "out.parquet"
    found = ie.consistency(guess, rows, phi="syn.careful", draws=2, seed=1, n_resamples=50, out=out)
    assert found.result.n_buckets == 3
    assert any("2 draws asked for" in line for line in found.remarks())
    table = found.predictions.table
    again = buckets_from_table(
        table.select(["item", "version", "premise", "hypothesis"]).append_column(
            "label", table["gold"].cast(pa.string())
        ),
        label_names=LABELS,
    )
    assert (
        ie.consistency(guess, again, n_resamples=50).to_dict().items()
        >= {"p_c": found["p_c"].value}.items()
    )
    # The file alone gives the same, also what was said of it.
    read = ie.consistency(out, n_resamples=50)
    assert read.to_dict() == found.to_dict()
    assert ie.consistency(found.predictions, n_resamples=50)["p_c"] == found["p_c"]


def test_two_classifiers_are_compared() -> None:
    one = ie.consistency(guess, FRAME, n_resamples=100)
    two = ie.consistency(lambda pairs: ["neutral"] * len(pairs), FRAME, n_resamples=100)
    with pytest.raises(InputError, match=r"other must be what ie.consistency returns, not 'int'"):
        one.compare(3)
    compared = one.compare(two, n_resamples=100)
    assert compared.n_buckets == 3
    difference = one["p_c"].value - two["p_c"].value
    assert compared["p_c"].value == pytest.approx(difference)


def full_test_set() -> Predictions:
    table = pa.table(
        {
            "item": [f"test {n}" for n in range(8)],
            "version": ["original"] * 8,
            "gold": ["yes"] * 8,
            "predicted": ["yes"] * 8,
            "confidence": [0.9] * 6 + [0.2] * 2,
        }
    )
    return Predictions(table=table)


def test_estimates_for_the_full_test_set() -> None:
    rows = [
        {
            "item": item,
            "version": version,
            "gold": "yes",
            "predicted": "yes" if item == 1 or version != "b" else "no",
            "confidence": 0.9 if item == 1 else 0.2,
        }
        for item in (1, 2)
        for version in ("original", "a", "b")
    ]
    log = Predictions(table=pa.Table.from_pylist(rows))
    found = ie.consistency(log, test_set=full_test_set(), n_resamples=50)
    assert found.corrected is not None
    assert found.corrected.accuracy.paper == pytest.approx(0.75 * 1 + 0.25 * 0.5)
    assert "for the full test set" in str(found)
    assert ie.consistency(log, n_resamples=50).corrected is None


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a classifier needs data to answer"):
        ie.consistency(guess)
    with pytest.raises(InputError, match="n_strata needs test_set"):
        ie.consistency(guess, FRAME, n_strata=3)
    with pytest.raises(InputError, match="different labels"):
        ie.consistency(guess, FRAME.assign(label=[LABELS[i % 3] for i in range(len(FRAME))]))
    with pytest.raises(InputError, match=r"out is a Parquet file"):
        ie.consistency(guess, FRAME, out="a.csv")
    with pytest.raises(InputError, match="topic"):
        ie.consistency(guess, FRAME, subset="topic")
    with pytest.raises(InputError, match="does not keep labels"):
        ie.consistency(guess, FRAME.drop(columns="item"), phi="antonym")
    path = tmp_path / "texts.csv"
    FRAME.to_csv(path, index=False)
    with pytest.raises(InputError, match="holds no answers to wordings"):
        ie.consistency(path)
    out = tmp_path / "log.parquet"
    full_test_set().write(out)
    with pytest.raises(InputError, match="would be overwritten"):
        ie.consistency(out, out=out)
    both = full_test_set().table
    both = pa.concat_tables(
        [both.append_column("model", pa.repeat(pa.scalar(name), 8)) for name in "ab"]
    )
    with pytest.raises(InputError, match="answers of 2 classifiers"):
        ie.consistency(Predictions(table=both))


def test_mixed_labels_are_counted_if_asked() -> None:
    labels = FRAME["label"].tolist()
    labels[1] = LABELS[0]
    found = ie.consistency(guess, FRAME.assign(label=labels), drop_mixed=True, n_resamples=50)
    assert (found.n_mixed, found.result.n_buckets) == (1, 2)
    assert "1 item left out: its wordings have different gold labels." in found.remarks()
