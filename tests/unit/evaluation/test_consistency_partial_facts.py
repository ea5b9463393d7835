"""A model that saw a part of the input answered the same items: gold labels and texts agree."""

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
VERSIONS = ("original", "p0", "p1")


def log() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item": item,
            "version": version,
            "gold": LABELS[item % 3],
            "predicted": LABELS[(item + (item + place) % 4 // 3) % 3],
            "premise": f"A man {item} sleeps",
            "hypothesis": f"text {item} {version}",
        }
        for item in range(24)
        for place, version in enumerate(VERSIONS)
    )


def write(frame: pd.DataFrame, path: Path) -> Any:
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    return path


def opposite(frame: pd.DataFrame) -> pd.DataFrame:
    swap = {"entailment": "contradiction", "contradiction": "entailment", "neutral": "neutral"}
    return frame.assign(gold=frame["gold"].map(swap))


def moved(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(item=(frame["item"] + 1) % 24)


def moved_by_three(frame: pd.DataFrame) -> pd.DataFrame:
    """Other items with the same gold labels: the texts alone say it."""
    frame = frame.assign(item=(frame["item"] + 3) % 24)
    return frame.drop(columns=["premise"])


def all_one(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame[frame["version"] == "original"]
    return frame.assign(gold="contradiction", predicted="contradiction")[
        ["item", "version", "gold", "predicted"]
    ]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", None])
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (opposite, "item '?0'? has in version 'original' the gold label 'contradiction', and 'ent"),
        (moved, "item '?0'? has in version 'original' the gold label 'contradiction', and 'ent"),
        (
            moved_by_three,
            "column 'hypothesis': item '?0'? has in version 'original' the text 'text 21",
        ),
        (all_one, "item '?0'? has in version 'original' the gold label 'contradiction', and 'ent"),
    ],
)
def test_answers_to_other_items_are_refused(
    form: str | None,
    change: Callable[[pd.DataFrame], pd.DataFrame],
    expected: str,
    tmp_path: Path,
) -> None:
    given, partial = log(), change(log())
    if form is not None:
        given = write(given, tmp_path / f"log.{form}")
        partial = write(partial, tmp_path / f"partial.{form}")
    with pytest.raises(InputError, match=expected):
        ie.consistency(given, partial_input=partial)


def test_one_column_of_texts_or_none_is_enough() -> None:
    other = log().assign(predicted=LABELS[0])
    expected = ie.consistency(log(), partial_input=other, n_resamples=50).to_dict()
    originals = other[other["version"] == "original"]
    for partial in (
        other.drop(columns=["premise"]),
        other.drop(columns=["premise", "hypothesis"]),
        other.assign(premise=""),
        other.assign(item=other["item"].astype(str), gold=other["gold"].str.upper()),
    ):
        assert ie.consistency(log(), partial_input=partial, n_resamples=50).to_dict() == expected
    assert ie.consistency(log(), partial_input=originals, n_resamples=50).partial is not None


def test_originals_are_compared_with_paraphrases_where_a_log_has_these_alone() -> None:
    paraphrases = log()[log()["version"] != "original"]
    with pytest.raises(InputError, match="the gold label 'contradiction', and 'entailment'"):
        ie.consistency(paraphrases, partial_input=opposite(log()))


def test_labels_under_other_names_are_said() -> None:
    names = dict(zip(LABELS, ("e", "n", "c"), strict=True))
    other = log().assign(gold=log()["gold"].map(names), predicted="e")
    found = ie.consistency(log(), partial_input=other, n_resamples=50)
    said = "partial_input has other names for labels than classifier, so gold labels are not"
    assert found.warnings == (f"{said} compared.",)


@pytest.mark.parametrize(
    ("change", "is_told"),
    [
        (lambda frame: frame, True),
        (lambda frame: frame.sample(frac=1, random_state=1), True),
        (lambda frame: frame[frame["version"] == "original"], False),  # which may well be
        (lambda frame: frame.assign(predicted=frame["gold"]), False),
    ],
)
def test_answers_of_the_model_itself_are_told(
    change: Callable[[pd.DataFrame], pd.DataFrame], is_told: bool
) -> None:
    profile = ie.consistency(log(), partial_input=change(log()), n_resamples=99)
    assert ("answers every wording as" in str(profile)) == is_told


@pytest.mark.slow
def test_published_partial_input(shared: Path) -> None:
    folder = shared / "data" / "paranlu" / "results"
    found = ie.consistency(
        folder / "snli_human_d-snli-roberta-large.json.gz",
        partial_input=folder / "snli_human_d-snli-partial_input_lexical.json.gz",
        n_resamples=50,
    )
    assert found.partial is not None
    assert not any("not compared" in line for line in found.warnings)
