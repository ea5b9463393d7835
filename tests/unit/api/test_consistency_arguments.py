"""``ie.consistency``: what is reworded, and arguments that would be ignored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import ietest_fast as ie
from ietest_fast.analyses import buckets_from_table
from ietest_fast.answers import Predictions
from ietest_fast.corpus import read_corpus
from ietest_fast.errors import InputError
from ietest_fast.frames import to_arrow

if TYPE_CHECKING:
    from pathlib import Path

ALPHA = [
    ("The large boy left.", "He came home wet.", "He sat on the couch.", "He bought a movie.", "1"),
    ("Ann baked a large cake.", "It was big.", "She began with a photo.", "She took salt.", "2"),
]
DELTA = [
    ("Two men talk.", "They sat on a couch.", "One bought a large couch.", "strengthener"),
    ("Two large men talk.", "They are friends.", "They began to talk.", "weakener"),
]
FRAME = pd.DataFrame(
    {
        "item": [1, 1, 2, 2],
        "premise": ["It is so."] * 4,
        "hypothesis": ["A large dog.", "A big dog.", "The couch.", "The sofa."],
        "label": ["yes", "yes", "no", "no"],
    }
)


def always(label: str) -> Any:
    return lambda pairs: [label] * len(pairs)


@pytest.fixture
def alpha(tmp_path: Path) -> Path:
    keys = ("obs1", "obs2", "hyp1", "hyp2", "label")
    path = tmp_path / "dev.jsonl"
    path.write_text("".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in ALPHA))
    return path


@pytest.fixture
def delta(tmp_path: Path) -> Path:
    keys = ("Premise", "Hypothesis", "Update", "UpdateType")
    path = tmp_path / "delta.jsonl"
    path.write_text("".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in DELTA))
    return path


def test_observations_stay_also_if_the_classifier_sees_one_story(alpha: Path) -> None:
    found = ie.consistency(
        lambda texts: ["hyp1"] * len(texts),
        alpha,
        phi="syn.careful",
        input_columns="first_story",
        inputs="texts",
        labels=["hyp1", "hyp2"],
        n_resamples=50,
    )
    n_changed = 0
    for row in found.predictions.table.to_pylist():
        one, two, hypothesis, *_ = ALPHA[row["item"]]
        assert row["first_story"].startswith(f"{one} ")
        assert row["first_story"].endswith(f" {two}")
        n_changed += hypothesis not in row["first_story"]
    assert n_changed == 2


def test_the_context_stays_unless_it_is_named(delta: Path) -> None:
    def texts(**options: Any) -> set[tuple[str, str]]:
        found = ie.consistency(
            always("weakener"),
            delta,
            phi="syn.careful",
            labels=["weakener", "strengthener"],
            n_resamples=50,
            **options,
        )
        rows = found.predictions.table.to_pylist()
        return {(row["context"], row["update"]) for row in rows}

    contexts = {f"{premise} {hypothesis}" for premise, hypothesis, *_ in DELTA}
    assert {context for context, _ in texts()} == contexts
    named = texts(reword="hypothesis")
    assert ("Two men talk. They sat on a sofa.", DELTA[0][2]) in named
    assert {update for _, update in named} == {row[2] for row in DELTA}
    with pytest.raises(InputError, match="it does not see update, which would be reworded"):
        texts(input_columns="context", inputs="texts")


def test_joined_texts_without_their_parts_are_refused(alpha: Path) -> None:
    corpus = read_corpus(alpha)
    with pytest.raises(InputError, match=r"joined texts of α-NLI without the single texts 'obs1'"):
        ie.consistency(always("hyp1"), corpus, phi="syn.careful", n_resamples=50)
    kept = read_corpus(alpha, keep_columns=["obs1", "obs2", "hyp1", "hyp2"])
    found = ie.consistency(always("hyp1"), kept, phi="syn.careful", n_resamples=50)
    assert all(
        row["second_story"].startswith(ALPHA[row["item"]][0])
        for row in found.predictions.table.to_pylist()
    )


OF_DATA = {
    "phi": "syn",
    "draws": 2,
    "share": 0.3,
    "reword": ["hypothesis"],
    "learn_from": FRAME,
    "item_column": "item",
    "version_column": "version",
    "text_columns": ["hypothesis"],
    "label_column": "label",
    "label_names": ["yes", "no"],
    "keep_columns": ["kind"],
    "labels": ["yes", "no"],
    "label_map": {"yes": "yes", "no": "no"},
    "inputs": "pairs",
    "input_columns": "hypothesis",
    "batch_size": 8,
}


@pytest.mark.parametrize("name", OF_DATA)
def test_arguments_of_a_classifier_without_data(name: str) -> None:
    rows = FRAME.rename(columns={"label": "gold"}).assign(predicted=FRAME["label"])
    rows["version"] = ["original", "paraphrase"] * 2
    log = Predictions(table=to_arrow(rows))
    with pytest.raises(InputError, match=f"^{name} is for a classifier that answers data"):
        ie.consistency(log, n_resamples=50, **{name: OF_DATA[name]})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"draws": 2}, "draws needs phi"),
        ({"share": 0.5}, "share needs phi"),
        ({"reword": "hypothesis"}, "reword needs phi"),
        ({"learn_from": FRAME}, "learn_from needs phi"),
        ({"phi": "syn", "version_column": "version"}, "version_column is for a table of"),
        ({"phi": "syn", "drop_mixed": True}, "drop_mixed is for a table of"),
        ({"phi": "syn", "share": 0.5}, "share needs draws"),
    ],
)
def test_arguments_that_need_others(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"^{said}"):
        ie.consistency(always("yes"), FRAME, n_resamples=50, **options)


@pytest.mark.parametrize("ask", [ie.consistency, ie.evaluate, ie.stress])
@pytest.mark.parametrize(
    ("options", "answer", "is_known"),
    [
        ({}, "yes", False),
        ({}, "no", False),
        ({"label_names": ["yes", "no"]}, "no", True),
        ({"labels": ["no", "yes"]}, "yes", True),
    ],
)
def test_a_function_may_answer_more_labels_than_the_data_have(
    ask: Any, options: dict[str, Any], answer: str, is_known: bool
) -> None:
    more: dict[str, Any] = {
        ie.consistency: {"n_resamples": 50},
        ie.evaluate: {"phi": "negation"},
        ie.stress: {"suite": {"not": "negation"}},
    }[ask]
    rows = FRAME.assign(label="yes")
    if is_known:
        ask(always(answer), rows, **options, **more)
        return
    with pytest.raises(InputError, match="all gold labels are 'yes', so") as error:
        ask(always(answer), rows, **options, **more)
    assert error.value.path
    assert error.value.column == "label" or ask is ie.consistency


OF_TABLES = {
    "phi": "syn",
    "item_column": "item",
    "version_column": "version",
    "drop_mixed": True,
    "text_columns": ["hypothesis"],
    "label_column": "label",
    "label_names": ["yes", "no"],
}


@pytest.mark.parametrize("name", OF_TABLES)
def test_arguments_of_tables_beside_what_is_read_already(name: str, tmp_path: Path) -> None:
    buckets = buckets_from_table(to_arrow(FRAME))
    options = {name: OF_TABLES[name]}
    with pytest.raises(InputError, match=rf"^{name} is for a table or a file"):
        ie.consistency(always("yes"), buckets, n_resamples=50, **options)
    path = tmp_path / "paranlu.json"
    # It is told by its keys, before it is read.
    path.write_text(json.dumps({"x": [{"paraphrase_id": "a", "original_example": {}}]}))
    with pytest.raises(InputError, match=rf"^{name} is for .*this file"):
        ie.consistency(always("weakener"), path, n_resamples=50, **options)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        ie.consistency(always("yes"), tmp_path / "none.csv", phi="syn")
