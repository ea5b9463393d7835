"""A full test set and a log say the same of the items that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import ietest_fast as ie
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LABELS = ("entailment", "neutral", "contradiction")


def answers(n: int, *versions: str) -> pd.DataFrame:
    """Items of which every third is answered wrongly."""
    return pd.DataFrame(
        {
            "item": item,
            "version": version,
            "gold": LABELS[item % 3],
            "predicted": LABELS[(item + (item % 4 == 0)) % 3],
            "confidence": 0.2 if item % 4 == 0 else 0.9,
        }
        for item in range(n)
        for version in versions
    )


def log() -> pd.DataFrame:
    return answers(24, "original", "p0", "p1")


def full() -> pd.DataFrame:
    return answers(60, "original")


def write(frame: pd.DataFrame, path: Path) -> Any:
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    return path


FORMS = ("csv", "jsonl", "parquet", None)


def opposite(frame: pd.DataFrame) -> pd.DataFrame:
    swap = {"entailment": "contradiction", "contradiction": "entailment", "neutral": "neutral"}
    return frame.assign(gold=frame["gold"].map(swap), predicted=frame["predicted"].map(swap))


def answered_otherwise(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(predicted=frame["predicted"].mask(frame["item"] == 0, "contradiction"))


def marked_otherwise(frame: pd.DataFrame) -> pd.DataFrame:
    marked = frame.assign(correct=frame["confidence"] > 0.5).drop(columns=["predicted"])
    return marked.assign(
        correct=marked["correct"] ^ (marked["item"] == 4),
        confidence=marked["confidence"].mask(marked["item"] == 4, 0.6),
    )


def surer(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(confidence=frame["confidence"].mask(frame["item"] == 3, 0.91))


def of_two_labels(frame: pd.DataFrame) -> pd.DataFrame:
    names = dict(zip(LABELS, ("weakener", "strengthener", "weakener"), strict=True))
    return frame.assign(
        item="x" + frame["item"].astype(str),
        gold=frame["gold"].map(names),
        predicted=frame["predicted"].map(names),
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (opposite, "item '?0'? has in version 'original' the gold label 'contradiction', and 'ent"),
        (
            answered_otherwise,
            "item '?0'? has in version 'original' the answer 'contradiction'",
        ),
        (marked_otherwise, "an answer that is 'right', and 'wrong' in"),
        (surer, "item '?3'? has in version 'original' the confidence '0.91', and '0.9' in"),
        (of_two_labels, "has the labels strengthener, weakener, and .* has contradiction, ent"),
    ],
)
def test_a_test_set_that_says_otherwise_is_refused(
    form: str | None,
    change: Callable[[pd.DataFrame], pd.DataFrame],
    expected: str,
    tmp_path: Path,
) -> None:
    given, test_set = log(), change(full())
    if form is not None:
        given = write(given, tmp_path / f"log.{form}")
        test_set = write(test_set, tmp_path / f"full.{form}")
    with pytest.raises(InputError, match=expected):
        ie.consistency(given, test_set=test_set)


def test_one_that_says_the_same_is_taken() -> None:
    rounded = full().assign(confidence=full()["confidence"] + 4e-7)
    found = ie.consistency(log(), test_set=rounded, n_resamples=50)
    assert found.corrected is not None
    assert not any("shares no item" in line for line in found.warnings)
    # Numbers are NLI's labels in both, and items may be texts in one.
    coded = full().assign(
        item=full()["item"].astype(str),
        gold=full()["gold"].map(LABELS.index),
        predicted=full()["predicted"].map(LABELS.index),
    )
    assert ie.consistency(log(), test_set=coded, n_resamples=50).corrected is not None


@pytest.mark.parametrize("form", FORMS)
def test_models_texts_and_items_are_compared(form: str | None, tmp_path: Path) -> None:
    def give(frame: pd.DataFrame, name: str, **columns: str) -> Any:
        texts = name[:1].replace("f", "l") + frame["item"].astype(str)
        made = frame.assign(**({"text": texts} | columns))
        return made if form is None else write(made, tmp_path / f"{name}.{form}")

    given = give(log(), "log", model="bert")
    found = ie.consistency(given, test_set=give(full(), "full", model="bert"), n_resamples=50)
    assert not any("test set" in line for line in found.warnings)
    other = give(full()[4:], "full", model="roberta")
    said = " ".join(ie.consistency(given, test_set=other, n_resamples=50).warnings)
    assert "has the answers of 'roberta', and" in said
    assert "lacks 4 of the 24 items of" in said
    with pytest.raises(
        InputError, match=r"item '?0'? has in version 'original' the text 'another'"
    ):
        ie.consistency(given, test_set=give(full(), "full", text="another"))


def test_one_without_shared_items_is_not_compared(tmp_path: Path) -> None:
    others = full().assign(item="x" + full()["item"].astype(str))
    files = [write(log(), tmp_path / "log.csv"), write(others, tmp_path / "full.csv")]
    found = ie.consistency(files[0], test_set=files[1], n_resamples=50)
    said = f"{files[1]} shares no item with {files[0]}, so it is not compared with it."
    assert found.warnings == (said,)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "test", "expected"),
    [
        ("anli_human_bilstm", "anli_test_set_bilstm", None),
        ("snli_human_d-snli-bilstm", "snli_test_set_d-snli-bilstm", "shares no item with"),
        ("anli_human_bilstm", "anli_test_set_anli_roberta-large", "has in version 'original' the"),
        ("snli_human_d-snli-bilstm", "anli_test_set_bilstm", "has the labels hyp1, hyp2"),
    ],
)
def test_published_test_sets(name: str, test: str, expected: str | None, shared: Path) -> None:
    folder = shared / "data" / "paranlu" / "results"
    paths = [folder / f"{each}.json.gz" for each in (name, test)]
    if expected is not None and not expected.startswith("shares"):
        with pytest.raises(InputError, match=expected):
            ie.consistency(paths[0], test_set=paths[1], n_resamples=50)
        return
    found = ie.consistency(paths[0], test_set=paths[1], n_resamples=50)
    assert any("shares no item" in line for line in found.warnings) == (expected is not None)
