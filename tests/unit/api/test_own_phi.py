"""Rewordings of a caller's own: a mapping of texts, or a function of a text, as ``phi``."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ietest_fast as ie
from ietest_fast.errors import ConfigError, InputError
from ietest_fast.transform import plan
from ietest_fast.transform.rewordings import Rewordings

N = 60
TEXTS = [f"{'good' if i % 2 else 'bad'} {'couch' if i < 40 else 'lamp'} {i}" for i in range(N)]
FRAME = pd.DataFrame({"text": TEXTS, "label": ["pos" if i % 2 else "neg" for i in range(N)]})
NEW = {text: text.replace("couch", "sofa") for text in TEXTS if "couch" in text}


def guess(texts: Sequence[str]) -> list[str]:
    return ["pos" if "good" in text and "sofa" not in text else "neg" for text in texts]


def to_sofa(text: str) -> str:
    return text.replace("couch", "sofa")


class ToSofa:
    def __call__(self, text: str) -> str:
        return to_sofa(text)


EXPECTED = ie.evaluate(
    guess, FRAME, transformed=FRAME.assign(text=[NEW.get(text, text) for text in TEXTS])
)


@pytest.mark.parametrize(
    ("phi", "name"),
    [
        (NEW, "mapping"),
        (to_sofa, "function.to_sofa"),
        (lambda text: text.replace("couch", "sofa"), "function"),
        (ToSofa(), "function.ToSofa"),
    ],
    ids=["mapping", "function", "lambda", "object"],
)
def test_a_mapping_and_a_function_are_transformations(phi: Any, name: str) -> None:
    found = ie.evaluate(guess, FRAME, phi=phi)
    assert list(found.tests) == [name]
    assert found.pvalue == EXPECTED.pvalue
    assert found.delta == EXPECTED.delta
    assert found.to_dict()["identity"]["phi"].startswith(f"{name}@")
    assert found.predictions.table.to_pandas()["edits"].sum() == 40
    assert ie.transform(TEXTS, phi) == [NEW.get(text, text) for text in TEXTS]
    both = ie.evaluate(guess, FRAME, phi=[phi, str.upper])
    assert list(both.tests) == [name, "function.upper"]


def test_the_fingerprint_is_of_the_outputs() -> None:
    identities = [
        ie.evaluate(guess, FRAME, phi=phi).to_dict()["identity"]["phi"].partition("@")[2]
        for phi in (to_sofa, to_sofa, lambda text: text.replace("couch", "chair"))
    ]
    assert identities[0] == identities[1] != identities[2]
    turned = dict(reversed(list(NEW.items()))) | {"not there": "not there"}
    assert plan(NEW).fingerprint == plan(turned).fingerprint
    assert plan(NEW).fingerprint != plan(NEW | {TEXTS[0]: "other"}).fingerprint
    made = Rewordings(rewordings=NEW)
    assert pickle.loads(pickle.dumps(made)).fingerprint == made.fingerprint


def test_a_function_is_called_once_for_each_distinct_text() -> None:
    asked: list[str] = []

    def ask(text: str) -> str:
        asked.append(text)
        return to_sofa(text)

    frame = pd.DataFrame({"premise": ["a couch", "a lamp"] * 10, "hypothesis": "a couch"})
    made, edits = ie.transform(frame, ask, return_edits=True)
    assert sorted(asked) == ["a couch", "a lamp"]
    assert made["premise"].tolist() == ["a sofa", "a lamp"] * 10
    assert set(made["hypothesis"]) == {"a sofa"}
    assert len(edits) == 30
    assert set(edits["rule"].to_pylist()) == {"given"}
    only = ie.transform(frame, {"a couch": "a café"}, text_columns="premise", return_edits=True)
    assert only[0]["hypothesis"].tolist() == ["a couch"] * 20
    assert only[1]["end"].to_pylist() == [7] * 10


def test_edits_can_be_undone_and_missing_texts_stay_missing() -> None:
    table = {"text": ["a couch", None, "é couch", "a lamp"]}
    made = Rewordings(rewordings={"a couch": "a sofa", "é couch": ""}).transform(table, ["text"])
    assert made.table == {"text": ["a sofa", None, "", "a lamp"]}
    assert made.changed.tolist() == [True, False, True, False]
    assert made.undo() == table
    for n_threads in (1, 3):
        again = ie.transform(table, {"a couch": "a sofa"}, n_threads=n_threads)
        assert again["text"] == ["a sofa", None, "é couch", "a lamp"]


def test_stress_and_consistency_take_them() -> None:
    profile = ie.stress(guess, FRAME, suite={"mapping": NEW, "upper": str.upper}, add=[to_sofa])
    assert profile["mapping"].accuracy.share == pytest.approx(2 / 3)
    assert profile["function.to_sofa"].accuracy.share == pytest.approx(2 / 3)
    more = ie.stress(guess, FRAME, suite={"upper": str.upper}, add=NEW)
    assert more["mapping"].accuracy.share == pytest.approx(2 / 3)
    for phi in (NEW, to_sofa, [to_sofa, str.upper]):
        kept = ie.consistency(guess, FRAME, phi=phi)
        several = 2 if isinstance(phi, list) else 1
        assert len(kept.predictions.versions) == 1 + several
    with pytest.raises(InputError, match="are the same"):
        ie.stress(guess, FRAME, suite={"a": NEW, "b": dict(NEW)})


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        ({"a text": "another"}, r"no text of the mapping \(such as 'a text'\) is in text"),
        ({TEXTS[0]: 5}, "leads from texts to texts, not from 'bad couch 0' to 5"),
        ({5: "text"}, "from 5 to 'text'"),
        (lambda text: None, r"returned None .of the type NoneType. for 'bad couch 0'; expected"),
        (lambda text: [text], "of the type list"),
        (lambda text: text.encode(), "of the type bytes"),
        (str, "no transformation, but 'type'"),
        (7, "a function from a text to a text"),
        ({"name": "no-such-name"}, "no-such-name"),
        (lambda text: text, "both versions of the test set have the same texts"),
    ],
)
def test_what_is_none_is_refused(phi: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ie.evaluate(guess, FRAME, phi=phi)


def test_options_without_a_name_are_those_of_the_default() -> None:
    found = ie.evaluate(guess, FRAME, phi={"pos": ["noun"]})
    assert list(found.tests) == ["syn.careful"]


@pytest.mark.slow
def test_a_run_knows_them_by_their_outputs(tmp_path: Path) -> None:
    def frame(seed: int, n: int) -> pd.DataFrame:
        texts = [f"{'good' if (i + seed) % 2 else 'bad'} couch {i % 7} {seed}" for i in range(n)]
        return pd.DataFrame(
            {"text": texts, "label": ["pos" if "good" in x else "neg" for x in texts]}
        )

    data: dict[str, Any] = {"train": frame(0, 60), "valid": frame(1, 20), "test": frame(2, 40)}
    options: dict[str, Any] = {
        "model": "ngram-linear",
        "rho": [0, 1],
        "n_classifiers": 2,
        "seed": 1,
    }
    asked: list[str] = []

    def reword(text: str) -> str:
        asked.append(text)
        return to_sofa(text)

    first = ie.run(**data, **options, phi=reword, eval_phi=str.upper, out=tmp_path / "run")
    n_texts = len(set(pd.concat(data.values())["text"]))
    assert len(asked) == n_texts
    assert "phi:function.reword@" in str(first)
    again = ie.run(**data, **options, phi=reword, eval_phi=str.upper, out=tmp_path / "run")
    assert str(again) == str(first)
    texts = set(pd.concat(data.values())["text"])
    mapped = ie.run(**data, **options, phi={text: to_sofa(text) for text in texts})
    assert mapped.to_frame().equals(first.to_frame().replace("function.reword", "mapping"))
    with pytest.raises(ie.IetestError, match=r"other settings|another"):
        ie.run(**data, **options, phi=lambda text: text + "!", out=tmp_path / "run")
    with pytest.raises(InputError, match="is in the data"):
        ie.run(**data, **options, phi={"not there": "x"})


RUN: dict[str, Any] = {
    "train": FRAME[:30],
    "valid": FRAME[30:40],
    "test": FRAME[40:],
    "model": "ngram-linear",
}


@pytest.mark.parametrize(
    "use",
    [
        lambda phi: ie.transform(TEXTS, phi),
        lambda phi: ie.evaluate(guess, FRAME, phi=phi),
        lambda phi: ie.evaluate(guess, FRAME, phi=[phi]),
        lambda phi: ie.consistency(guess, FRAME, phi=phi),
        lambda phi: ie.stress(guess, FRAME, suite={"x": phi}),
        lambda phi: ie.run(**RUN, phi=phi),
        lambda phi: ie.run(**RUN, phi=to_sofa, eval_phi=[phi]),
    ],
    ids=["transform", "evaluate", "list", "consistency", "stress", "run", "eval_phi"],
)
def test_what_is_no_rewording_is_refused_everywhere(use: Any) -> None:
    """Nothing is not the usual transformation, and half of a character is no text."""
    with pytest.raises((InputError, ConfigError), match="an empty mapping names no transformation"):
        use({})
    for phi in ({TEXTS[0]: "a\ud83d"}, {"\udcff": "a"}, lambda text: text + "\ud83d"):
        with pytest.raises(InputError, match=r"\\ud\w{3} is half of a surrogate pair"):
            use(phi)
