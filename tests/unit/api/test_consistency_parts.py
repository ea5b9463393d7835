"""``ie.consistency`` by diversity, partial input, sources and test set: the command's numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import ietest_fast as ie
from command_line import run_here
from ietest_fast.answers import Predictions
from ietest_fast.errors import InputError
from ietest_fast.frames import to_arrow

if TYPE_CHECKING:
    from pathlib import Path

STAY = "a dog sleeps on the mat"
WORDINGS = [
    (["a dog sleeps on the mats", "a dog sleeps on the mat"], "11"),
    (["the dog sleeps on a mat", "a dog slept on the mat"], "11"),
    (["a hound is asleep on the mat", "on the mat, a dog sleeps"], "10"),
    (["some animal dozes upon it", "zzz qqq xxx"], "01"),
]
QUICK: dict[str, Any] = {"n_resamples": 50, "n_threads": 1}


def answers(paraphrases: tuple[int, ...] = (0, 1), *, ending: str = "") -> pd.DataFrame:
    """Two items of each kind, with their texts; originals are answered rightly but in one item."""
    made = []
    for item in range(8):
        texts, signs = WORDINGS[item % 4]
        rows = [("original", STAY, str(int(item != 6)))]
        rows += [(f"p{place}", texts[place], signs[place]) for place in paraphrases]
        for version, text, sign in rows:
            made.append(
                {
                    "item": f"i{item}",
                    "version": version,
                    "gold": "yes",
                    "predicted": "yes" if sign == "1" else "no",
                    "confidence": 0.9 if sign == "1" else 0.2,
                    "text": text if version == "original" else text + ending,
                    "topic": ("dogs", "cats")[item % 2],
                }
            )
    return pd.DataFrame(made)


def partial_answers() -> pd.DataFrame:
    """A model that gets every second item right."""
    frame = answers()
    rights = frame["item"].str[1:].astype(int) % 2 == 0
    return frame.assign(predicted=rights.map({True: "yes", False: "no"}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    answers().to_csv(tmp_path / "log.csv", index=False)
    answers((0,)).to_csv(tmp_path / "human.csv", index=False)
    answers((1,)).to_csv(tmp_path / "automatic.csv", index=False)
    partial_answers().to_csv(tmp_path / "partial.csv", index=False)
    answers(()).to_csv(tmp_path / "full.csv", index=False)
    return tmp_path


def called(*arguments: Any, **options: Any) -> dict[str, Any]:
    return dict(json.loads(ie.consistency(*arguments, **QUICK, **options).to_json()))


SOURCES = {"human": "human.csv", "automatic": "automatic.csv"}
SAME = {
    "log": (
        (
            "log.csv --by-diversity jaccard --by-diversity length-ratio --diversity-groups 2 "
            "--text-columns text --subset topic --partial-input partial.csv --test-set full.csv "
            "--strata 4"
        ),
        {
            "classifier": "log.csv",
            "by_diversity": ("jaccard", "length_ratio"),
            "diversity_groups": 2,
            "text_columns": "text",
            "subset": "topic",
            "partial_input": "partial.csv",
            "test_set": "full.csv",
            "n_strata": 4,
        },
    ),
    "sources": (
        "--source human=human.csv --source automatic=automatic.csv --by-diversity bleu",
        {"sources": SOURCES, "by_diversity": "bleu"},
    ),
    "model": (
        "--onnx model --test texts.csv --phi syn.careful --draws 2 --seed 3 --item-column item",
        {
            "classifier": "model",
            "data": "texts.csv",
            "phi": "syn.careful",
            "draws": 2,
            "seed": 3,
            "rng": 3,
            "item_column": "item",
        },
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_the_function_and_the_command_say_and_write_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name == "model":
        pytest.importorskip("onnx", reason="makes the model")
        from tiny_models import LABELS, make_onnx_folder

        make_onnx_folder(folder / "model")
        texts = [("He sat on the couch.", "He bought a large couch.", label) for label in LABELS]
        frame = pd.DataFrame(texts, columns=["premise", "hypothesis", "label"])
        frame.assign(item=["a", "b", "c"]).to_csv(folder / "texts.csv", index=False)
    monkeypatch.chdir(folder)
    command, options = SAME[name]
    shared = ("-S", "50", "--threads", "1", "--json", "--out", "command.parquet")
    status, out, err = run_here("consistency", *command.split(), *shared, folder=folder)
    assert (status, err) == (0, "")
    (expected,) = json.loads(out)["profiles"]
    assert called(**options, out="function.parquet") == expected
    written = [(folder / f"{each}.parquet").read_bytes() for each in ("command", "function")]
    assert written[0] == written[1]


@pytest.mark.parametrize("kind", ["frame", "predictions"])
def test_answers_of_any_kind(folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    def take(name: str) -> Any:
        frame = pd.read_csv(folder / f"{name}.csv")
        return frame if kind == "frame" else Predictions.from_table(to_arrow(frame))

    monkeypatch.chdir(folder)
    expected = called("log.csv", partial_input="partial.csv")
    found = called(take("log"), partial_input=take("partial"))
    assert found["partial_input"].pop("model") == "partial_input"
    assert expected["partial_input"].pop("model") == "partial"
    assert found == expected
    assert called(sources={name: take(name) for name in SOURCES}) == called(sources=SOURCES)


def test_a_classifier_answers_paraphrases_of_two_sources() -> None:
    def guess(texts: list[str]) -> list[str]:
        return ["yes" if "dog" in text else "no" for text in texts]

    sources = {
        "human": answers((0,)).drop(columns=["version", "predicted"]),
        "automatic": answers((1,), ending=".").drop(columns=["version", "predicted"]),
    }
    sources = {name: own.rename(columns={"gold": "label"}) for name, own in sources.items()}
    found = ie.consistency(
        guess,
        sources=sources,
        by_diversity="jaccard",
        labels=["yes", "no"],
        keep_columns=["topic"],
        label_names=["yes", "no"],
        **QUICK,
    )
    assert found.result.n_paraphrases == 16
    assert found.subsets is not None
    assert found.subsets.column == "source"
    shares = {name: own["accuracy_macro"].value for name, own in found.subsets.parts.items()}
    # "hound" and "animal"; "zzz".
    assert shares == {"human": 0.5, "automatic": 0.75}
    assert found.diversity is not None
    assert [line.name for line in found.diversity.means] == ["all", "automatic", "human"]
    assert {"source", "topic"} <= set(found.predictions.columns)


def test_an_item_whose_labels_differ_between_sources_is_left_out_if_asked() -> None:
    human, automatic = (
        answers((place,)).drop(columns="predicted").rename(columns={"gold": "label"})
        for place in (0, 1)
    )
    automatic = automatic.iloc[1:]  # else the originals of the item would differ
    automatic.loc[automatic["item"] == "i0", "label"] = "no"
    found = ie.consistency(
        lambda texts: ["yes"] * len(texts),
        sources={"human": human, "automatic": automatic},
        drop_mixed=True,
        labels=["yes", "no"],
        label_names=["yes", "no"],
        **QUICK,
    )
    assert (found.n_items, found.n_mixed) == (7, 1)


def test_the_file_has_what_was_noted(folder: Path) -> None:
    out = folder / "out.parquet"
    found = ie.consistency(
        folder / "log.csv",
        by_diversity=["jaccard"],
        partial_input=folder / "partial.csv",
        out=out,
        **QUICK,
    )
    assert ie.consistency(out, **QUICK).to_dict() == found.to_dict()
    sources = {"a": str(out), "b": folder / "log.csv"}
    with pytest.raises(InputError, match="would be overwritten"):
        ie.consistency(sources=sources, out=out)
    with pytest.raises(InputError, match="would be overwritten"):
        ie.consistency(folder / "log.csv", partial_input=out, out=out)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by_diversity": "length"}, "by_diversity: there is no measure of diversity 'length'"),
        ({"by_diversity": "bleu", "diversity_groups": 1}, "diversity_groups: there are from 2 to"),
        ({"by_diversity": "bleu", "diversity_groups": True}, "diversity_groups: there are from 2"),
        ({"diversity_groups": 2}, "diversity_groups needs by_diversity"),
        ({"text_columns": "text"}, "text_columns is for a classifier that answers data"),
        ({"partial_input": 3}, "partial_input must be predictions, a file or a table of them"),
        ({"partial_input": {"item": ["a"]}}, "partial_input"),
        ({"sources": {"a": 1, "b": 2}}, "sources takes the place of predictions"),
    ],
)
def test_what_does_not_fit_names_the_argument(options: dict[str, Any], said: str) -> None:
    log = Predictions.from_table(to_arrow(answers()))
    with pytest.raises(InputError, match=f"^{said}"):
        ie.consistency(log, **QUICK, **options)


@pytest.mark.parametrize(
    ("sources", "options", "said"),
    [
        ({}, {}, "sources needs two sources or more"),
        ({"a": answers()}, {}, "sources needs two sources or more"),
        ({"a": 1, "original": 2}, {}, "sources has the name 'original'"),
        ({"a": 1, " ": 2}, {}, "sources has the name ' '"),
        ({"a": 1, 2: 2}, {}, "sources has the name 2"),
        ({"a": 1, "b": 2}, {"data": answers()}, "sources takes the place of data"),
        ({"a": 1, "b": 2}, {"phi": "syn"}, "phi makes paraphrases, and sources has them"),
        ({"a": answers(), "b": 2}, {}, r"sources\['b'\] must be predictions"),
        ({"a": answers(), "b": answers()}, {"item_column": "x"}, "item_column is for a classifier"),
    ],
)
def test_sources_that_are_none(sources: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"^{said}"):
        ie.consistency(sources=sources, **QUICK, **options)


def test_texts_that_are_missing_are_asked_for_by_the_argument() -> None:
    log = Predictions.from_table(to_arrow(answers().rename(columns={"text": "words"})))
    with pytest.raises(InputError, match="in Python text_columns"):
        ie.consistency(log, by_diversity="bleu", **QUICK)
    found = ie.consistency(log, by_diversity="bleu", text_columns=["words"], **QUICK)
    assert found.diversity is not None
    assert found.diversity.texts == ("words",)
