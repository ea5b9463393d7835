"""``ie.stress(suite="logic")``: classifiers of every kind, and arguments that do not fit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ietest_fast as ie
from ietest_fast.analyses.logic.rules import RULES
from ietest_fast.errors import ConfigError, InputError, ResourceError
from logic_toys import LABELS, at_random, make_corpus, pairs_of

PAGE = Path(__file__).parents[3] / "docs" / "logic.md"
CORPUS = make_corpus(8)
FRAME = pd.DataFrame(pairs_of(CORPUS), columns=["premise", "hypothesis"]).assign(
    label=[LABELS[code] for code in CORPUS.labels], scene=np.arange(24) // 6
)


def guess(pairs: list[tuple[str, str]]) -> list[str]:
    return [at_random(*pair) for pair in pairs]


class Numbers:
    classes_ = np.array([0, 1, 2])

    def predict(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        return np.array([LABELS.index(answer) for answer in guess(pairs)])


def stress(classifier: Any = guess, data: Any = FRAME, **options: Any) -> Any:
    return ie.stress(classifier, data, suite="logic", **{"n_resamples": 100, **options})


@pytest.mark.slow
def test_a_frame_and_a_function() -> None:
    asked: list[tuple[str, str]] = []

    def counting(pairs: list[tuple[str, str]]) -> list[str]:
        asked.extend(pairs)
        return guess(pairs)

    found = stress(counting, rng=4)
    assert len(asked) == len(set(asked))
    frame = found.to_frame()
    assert frame["rule"].tolist() == list(RULES)
    assert frame["instances"].gt(0).all()
    right = [at_random(p, h) for p, h in pairs_of(CORPUS)] == FRAME["label"]
    assert found.accuracy.share == right.mean()
    assert (
        found["transitivity"].measured.rate.n
        == frame.set_index("rule").loc["transitivity", "instances"]
    )
    assert stress(rng=4).to_dict() == found.to_dict()
    assert stress(rng=5).to_dict() != found.to_dict()


def test_labels_that_are_numbers() -> None:
    codes = FRAME.assign(label=[LABELS.index(label) for label in FRAME["label"]])
    numbers = stress(Numbers(), codes, inputs="pairs")
    assert numbers.to_dict() == stress(data=FRAME).to_dict() | {"labels": list(LABELS)}


def test_options_are_handed_on(tmp_path: Path) -> None:
    found = stress(draws=2, nearest=1, instances=20, clusters="scene", weights="acc=1", rng=3)
    assert found.notes.options == {"draws": 2, "nearest": 1, "instances": 20, "seed": 3}
    assert found.notes.clusters == "scene"
    assert found.score.value == found.accuracy.share

    def by_length(texts: list[str]) -> list[str]:
        return [LABELS[len(text) % 3] for text in texts]

    half = stress(by_length, input_columns="hypothesis", renormalise=True)
    for each in half.results:
        if each.measured is not None and each.rule.control == "exchange":
            missing = each.measured.rate.n - each.measured.control.n
            assert missing or each.measured.value in {0, None}, each.name


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"add": "swap"}, InputError, "add is not for suite='logic'"),
        ({"rules": "paper"}, InputError, "rules is not for suite='logic'"),
        ({"train": FRAME}, InputError, "train is not for suite='logic'"),
        ({"group_by": "scene"}, InputError, "group_by is not for suite='logic'"),
        ({"alpha": 0.05}, InputError, "alpha is not for suite='logic'"),
        ({"alternative": "two-sided"}, InputError, "alternative is not for suite='logic'"),
        ({"weights": {"acc": 0.5}}, ConfigError, "weights: sum to 0.5"),
        ({"out": "a.csv"}, InputError, "out is a Parquet file"),
        ({"out": "no/such/folder/a.parquet"}, ResourceError, "folder"),
        ({"clusters": "who"}, InputError, "who"),
        ({"rng": -1}, InputError, "rng must be 0 or more"),
    ],
)
def test_what_does_not_fit_is_refused(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        stress(**options)


@pytest.mark.parametrize("name", ["draws", "nearest", "instances", "weights", "renormalise"])
def test_arguments_of_this_suite_are_for_no_other(name: str) -> None:
    value = "acc=1" if name == "weights" else 3
    with pytest.raises(InputError, match=f"{name} is for suite='logic'"):
        ie.stress(guess, FRAME, suite={"no": "negation"}, **{name: value})


def test_a_file_that_is_read_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    FRAME.to_parquet(path)
    with pytest.raises(InputError, match="would be overwritten"):
        stress(data=path, out=path)


def test_the_example_of_the_page_gets_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib.pyplot as plt

    *_, example = re.findall(r"(?ms)^```python\n(.*?)^```", PAGE.read_text("utf-8"))
    FRAME.to_parquet(tmp_path / "test.parquet")
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("agg")
    names: dict[str, Any] = {}
    exec(compile(example, "<example>", "exec"), names)
    plt.close("all")
    profile = names["profile"]
    assert profile["and-intro"].measured.rate.value > 0
    assert profile["and-intro"].measured.value is not None
    assert profile.informed_score.value is not None


def test_texts_in_another_language_are_refused_before_the_model_is_asked() -> None:
    frame = FRAME.assign(
        premise=[f"O homem caminha na rua com {n} cães e a mulher não está." for n in range(24)],
        hypothesis=[f"A mulher não está na rua com o homem {n}." for n in range(24)],
    )
    with pytest.raises(InputError, match=r"logic is for English, and the texts are Portuguese"):
        stress(lambda pairs: pytest.fail("the model is asked"), frame)
