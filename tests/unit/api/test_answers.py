"""Functions that fail, refuse, or answer in ways of their own: no answer is lost."""

from __future__ import annotations

import enum
import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ietest_fast as ie
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.models import as_classifier
from ietest_fast.models.classifiers import AnswerCache

N = 60
TEXTS = [f"{'good' if i % 2 else 'bad'} {'couch' if i < 40 else 'lamp'} {i}" for i in range(N)]
FRAME = pd.DataFrame({"text": TEXTS, "label": ["pos" if i % 2 else "neg" for i in range(N)]})
SOFA = FRAME.assign(text=[text.replace("couch", "sofa") for text in TEXTS])
TABLE = pa.table({"text": TEXTS[:6]})
RIGHT = [0, 1, 0, 1, 0, 1]


def answer(text: str) -> str:
    return "pos" if "good" in text and "sofa" not in text else "neg"


def guess(texts: Sequence[str]) -> list[str]:
    return [answer(text) for text in texts]


class Endpoint:
    """Counts what it was asked, and fails at a request."""

    def __init__(self, fails_at: int | None = None, error: type[BaseException] = TimeoutError):
        self.asked: list[str] = []
        self.fails_at, self.error = fails_at, error

    def one(self, text: str) -> str:
        if len(self.asked) == self.fails_at:
            raise self.error("no answer in time")
        self.asked.append(text)
        return answer(text)

    def batches(self) -> Callable[[Sequence[str]], list[str]]:
        def ask(texts: Sequence[str]) -> list[str]:
            return [self.one(text) for text in texts]

        return ask

    def streams(self) -> Callable[[Sequence[str]], Iterator[str]]:
        def ask(texts: Sequence[str]) -> Iterator[str]:
            for text in texts:
                yield self.one(text)

        return ask


EXPECTED = ie.evaluate(guess, FRAME, transformed=SOFA)


@pytest.mark.parametrize("error", [TimeoutError, KeyboardInterrupt, ValueError])
def test_an_exception_carries_the_answers_and_the_call_goes_on(error: Any) -> None:
    first = Endpoint(fails_at=71, error=error)
    with pytest.raises(error, match="no answer in time") as caught:
        ie.evaluate(first.batches(), FRAME, transformed=SOFA, batch_size=10)
    kept = caught.value.answers
    assert len(kept) == 70
    assert dict(kept.items()) == {(text,): answer(text) for text in first.asked[:70]}
    assert "70 answers are kept" in "".join(caught.value.__notes__)
    second = Endpoint()
    with pytest.raises(InputError, match="cache holds answers of the function"):
        ie.evaluate(guess, FRAME, transformed=SOFA, cache=kept)
    found = ie.evaluate(second.batches(), FRAME, transformed=SOFA, cache=kept)
    assert len(second.asked) == N + 40 - 70
    assert not set(second.asked) & set(first.asked[:70])
    assert found.pvalue == EXPECTED.pvalue


def test_what_a_generator_has_yielded_is_kept_one_by_one(tmp_path: Path) -> None:
    first = Endpoint(fails_at=37)
    file = tmp_path / "answers.jsonl"
    with pytest.raises(TimeoutError):
        ie.evaluate(first.streams(), FRAME, transformed=SOFA, cache=file)
    assert len(file.read_text().splitlines()) == 38
    second = Endpoint()
    found = ie.evaluate(second.streams(), FRAME, transformed=SOFA, cache=str(file))
    assert len(second.asked) == N + 40 - 37
    assert found.delta == EXPECTED.delta
    third = Endpoint(fails_at=0)
    again = ie.evaluate(third.streams(), FRAME, transformed=SOFA, cache=file)
    assert str(again) == str(found)


KILLED = """
import sys, time, pandas as pd, ietest_fast as ie
texts = [f"{'good' if i % 2 else 'bad'} couch {i}" for i in range(40)]
frame = pd.DataFrame({"text": texts, "label": ["pos" if i % 2 else "neg" for i in range(40)]})
other = frame.assign(text=[text.replace("couch", "sofa") for text in texts])
count = 0
def ask(texts):
    global count
    for text in texts:
        count += 1
        if count == 33 and sys.argv[2] == "stop":
            print("now", flush=True)
            time.sleep(60)
        yield "pos" if "good" in text else "neg"
ie.evaluate(ask, frame, transformed=other, cache=sys.argv[1])
print(count)
"""


@pytest.mark.slow
def test_nothing_is_lost_by_a_kill(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(KILLED)
    command = [sys.executable, str(tmp_path / "job.py"), str(tmp_path / "kept.jsonl")]
    with subprocess.Popen([*command, "stop"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        os.kill(process.pid, signal.SIGKILL)
    with (tmp_path / "kept.jsonl").open("ab") as file:
        file.write(b'{"input": ["half a li')  # as a kill in the middle of a write leaves it
    done = subprocess.run([*command, "go"], check=True, capture_output=True, text=True)
    assert int(done.stdout) == 80 - 32


REFUSALS = [None, float("nan"), "", "I cannot say", np.nan, pd.NA, np.str_("Maybe")]


@pytest.mark.parametrize("refusal", REFUSALS, ids=repr)
def test_refusals_are_errors_wrong_or_left_out(refusal: Any) -> None:
    asked: list[str] = []

    def ask(texts: Sequence[str]) -> list[Any]:
        asked.extend(texts)
        return [
            refusal if text.endswith(("couch 7", "lamp 50")) else answer(text) for text in texts
        ]

    with pytest.raises(InputError, match=r"returned .* for input 7; expected one of") as caught:
        ie.evaluate(ask, FRAME, transformed=SOFA)
    kept = caught.value.answers  # type: ignore[attr-defined]
    assert len(kept) == 32
    n = len(asked)
    wrong = ie.evaluate(ask, FRAME, transformed=SOFA, cache=kept, unparsed="wrong")
    assert len(asked) - n == N + 40 - 32
    table = wrong.predictions.table.to_pandas()
    assert table["predicted"].isna().sum() == 3  # couch 7, and lamp 50 in both versions
    assert len(table) == 2 * N
    assert "3 answers are no label, and count as wrong." in str(wrong)
    dropped = ie.evaluate(ask, FRAME, transformed=SOFA, cache=kept, unparsed="drop")
    assert len(dropped.predictions.items) == N - 2
    assert dropped.predictions.dropped == {"answer not parsed": 2}
    rest = FRAME.drop([7, 50]).reset_index(drop=True)
    expected = ie.evaluate(guess, rest, transformed=SOFA.drop([7, 50]).reset_index(drop=True))
    assert dropped.pvalue == expected.pvalue


def test_probabilities_that_are_missing() -> None:
    def ask(texts: Sequence[str]) -> list[Any]:
        rows = [[0.2, 0.8] if answer(text) == "pos" else [0.7, 0.3] for text in texts]
        return [
            None if text.endswith("couch 7") else row for text, row in zip(texts, rows, strict=True)
        ]

    options: dict[str, Any] = {"labels": ["neg", "pos"], "transformed": SOFA}
    found = ie.evaluate(ask, FRAME, unparsed="wrong", **options)
    table = found.predictions.table.to_pandas()
    assert table["probabilities"].isna().sum() == table["predicted"].isna().sum() == 1
    assert len(ie.evaluate(ask, FRAME, unparsed="drop", **options).predictions.items) == N - 1
    whole = ie.evaluate(
        lambda texts: np.where(
            [[text.endswith("couch 7")] * 2 for text in texts], np.nan, [[0.5, 0.5]] * len(texts)
        ),
        FRAME, unparsed="wrong", **options,
    )  # fmt: skip
    assert whole.predictions.table["predicted"].null_count == 1


def test_stress_and_consistency_take_the_same_arguments(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    frame = FRAME.assign(label=FRAME["label"])
    suite = {"sofa": "words:mapping=" + str(tmp_path / "words.csv")}
    (tmp_path / "words.csv").write_text("old,new\ncouch,sofa\n")
    first, second = Endpoint(fails_at=80), Endpoint()
    with pytest.raises(TimeoutError):
        ie.stress(first.streams(), frame, suite=suite, cache=file)
    profile = ie.stress(second.streams(), frame, suite=suite, cache=file)
    assert len(second.asked) == 20
    assert profile["sofa"].comparison is not None
    third = Endpoint(fails_at=0)
    ie.consistency(third.streams(), frame, phi=suite["sofa"], cache=file)

    def refuse(texts: Sequence[str]) -> list[Any]:
        return [None if "sofa 7" in text else answer(text) for text in texts]

    counted = ie.stress(refuse, frame, suite=suite, unparsed="wrong")
    assert "1 answer is no label, and counts as wrong." in str(counted)
    assert len(ie.stress(refuse, frame, suite=suite, unparsed="drop").predictions.items) == N - 1
    kept = ie.consistency(refuse, frame, phi=suite["sofa"], unparsed="wrong")
    assert "1 answer is no label" in str(kept)
    left = ie.consistency(refuse, frame, phi=suite["sofa"], unparsed="drop")
    assert len(left.predictions.items) == N - 1
    with pytest.raises(InputError, match="unparsed is not for suite='logic'"):
        ie.stress(refuse, frame, suite="logic", unparsed="wrong")  # type: ignore[call-overload]


class Mood(enum.Enum):
    BAD = "neg"
    GOOD = "pos"


class TextMood(enum.StrEnum):
    BAD = "neg"
    GOOD = "pos"


def _frame_of_shares(kind: Any, names: list[str]) -> Any:
    shares = {"neg": [0.9, 0.2] * 3, "pos": [0.1, 0.8] * 3}
    return kind({name: shares[name] for name in names})


@pytest.mark.parametrize(
    "answers",
    [
        np.array(["neg", "pos"] * 3),
        np.array(["neg", "pos"] * 3, dtype=object),
        np.array([b"neg", b"pos"] * 3),
        [np.str_("neg"), np.str_("POS ")] * 3,
        [b"neg", b"pos"] * 3,
        [TextMood.BAD, TextMood.GOOD] * 3,
        pd.Series(["neg", "pos"] * 3),
        pd.Series(["neg", "pos"] * 3, index=list("abcdef")),
        pd.Series(["neg", "pos"] * 3, dtype="category"),
        pa.array(["neg", "pos"] * 3),
        pa.chunked_array([["neg", "pos"]] * 3),
        ("neg", "pos") * 3,
        np.array([0, 1] * 3, dtype=np.uint8),
        [np.int64(0), 1] * 3,
        [[0.9, 0.1], (0.2, 0.8)] * 3,
        [np.array([0.9, 0.1]), np.array([0.2, 0.8], np.float32)] * 3,
        np.array([[1, 0], [0, 1]] * 3),
        _frame_of_shares(pd.DataFrame, ["neg", "pos"]),
        _frame_of_shares(pd.DataFrame, ["pos", "neg"]),
        pd.DataFrame([[0.9, 0.1], [0.2, 0.8]] * 3),
    ],
    ids=lambda value: f"{type(value).__module__}.{type(value).__name__}",
)  # fmt: skip
def test_answers_of_all_kinds(answers: Any) -> None:
    model = as_classifier(lambda texts: answers, labels=["neg", "pos"])
    scores = model.score(TABLE)
    assert scores.predicted.tolist() == RIGHT
    if scores.probabilities is not None:
        assert scores.probabilities.argmax(axis=1).tolist() == RIGHT


def test_series_and_frames_of_polars() -> None:
    pl = pytest.importorskip("polars", reason="needs the extra dev")
    for answers in (
        pl.Series(["neg", "pos"] * 3),
        pl.Series([0, 1] * 3),
        _frame_of_shares(pl.DataFrame, ["pos", "neg"]),
    ):
        model = as_classifier(lambda texts, own=answers: own, labels=["neg", "pos"])
        assert model.score(TABLE).predicted.tolist() == RIGHT
    wrong = pl.DataFrame({"neg": [1.0] * 6})
    with pytest.raises(InputError, match="with the columns neg; expected a column"):
        as_classifier(lambda texts: wrong, labels=["neg", "pos"]).score(TABLE)


async def later(texts: Sequence[str]) -> list[str]:
    return guess(texts)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([Mood.BAD, Mood.GOOD] * 3, r"Mood.BAD.* for input 0: return its .name \('BAD'\) or its"),
        (pd.Series(["neg", "pos"] * 3, index=[5, 4, 3, 2, 1, 0]), "in another order.*sort_index"),
        (pd.DataFrame({"a": [0.5] * 6, "b": [0.5] * 6}), "columns a, b; expected a column of prob"),
        (["neg"] * 5, "returned 5 answers for 6 inputs; expected one for each, in their order"),
        (["neg"] * 7, "returned 7 answers for 6 inputs"),
        (iter(["neg"] * 5), "yielded 5 answers for 6 inputs"),
        (iter(["neg"] * 7), "yielded more answers than the 6 inputs"),
        ([["neg"]] * 6, "input 0: a list is one of probabilities"),
        (["neg", "pos", {"label": "neg"}, "pos", "neg", "pos"], "input 2: return the label alone"),
        ([[{"label": "neg", "score": 0.9}]] * 6, "input 0: a list of labels with scores: return"),
        ([[0.1, 0.9], "pos"] * 3, "probabilities for some inputs and labels for others"),
        ([-1] * 6, "returned -1 for input 0; expected one of 0, 1"),
        (5, "returned 5 .of the type int. for 6 inputs"),
    ],
)  # fmt: skip
def test_answers_that_are_none(answers: Any, message: str) -> None:
    model = as_classifier(lambda texts: answers, labels=["neg", "pos"], unparsed="wrong")
    with pytest.raises(InputError, match=message):
        model.score(TABLE)


def test_a_coroutine_is_told() -> None:
    with pytest.raises(InputError, match=r"is asynchronous.*asyncio.run"):
        as_classifier(later, labels=["neg", "pos"]).score(TABLE)


@pytest.mark.train
def test_tensors_of_torch() -> None:
    import torch

    shares = torch.tensor([[0.9, 0.1], [0.2, 0.8]] * 3, requires_grad=True)
    for answers in (
        shares,
        shares.to(torch.bfloat16),
        list(shares),
        torch.tensor(RIGHT),
        list(torch.tensor(RIGHT)),
    ):
        model = as_classifier(lambda texts, own=answers: own, labels=["neg", "pos"])
        assert model.score(TABLE).predicted.tolist() == RIGHT


def test_faulty_answers_are_not_kept_and_good_ones_beside_them_are() -> None:
    answers: list[Any] = [[0.9, 0.1], [9.0, 1.0], [0.2, 0.8], [0.5, 0.5], [3.0, 4.0], [1, 0]]
    model = as_classifier(lambda texts: answers, labels=["neg", "pos"])
    with pytest.raises(InputError, match="input 1, and probabilities are 0 or more") as caught:
        model.score(TABLE)
    assert len(caught.value.answers) == 4  # type: ignore[attr-defined]


def test_labels_as_pandas_has_them_beside_missing_ones() -> None:
    """Integers are floats there, and categories have no index."""
    numbers = pd.Series([0.0, 1.0, None, 1.0, 0.0, 1.0])
    model = as_classifier(lambda _: numbers, labels=["neg", "pos"], unparsed="wrong")
    assert model.score(TABLE).predicted.tolist() == [0, 1, -1, 1, 0, 1]
    named = as_classifier(lambda texts: pd.Categorical(guess(texts)), labels=["neg", "pos"])
    assert named.score(TABLE).predicted.tolist() == RIGHT


def test_what_leaves_no_item_says_so() -> None:
    with pytest.raises(InputError, match="each of the 60 items has an answer that is no label"):
        ie.evaluate(lambda texts: [None for _ in texts], FRAME, transformed=SOFA, unparsed="drop")
    with pytest.raises(InputError, match="cache is of type dict; expected a file such as"):
        ie.evaluate(guess, FRAME, transformed=SOFA, cache={})  # type: ignore[arg-type]


def test_a_file_of_answers_is_of_one_function(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    as_classifier(guess, labels=["neg", "pos"], cache=file).score(TABLE)
    assert dict(AnswerCache(file).items()) == {(text,): answer(text) for text in TEXTS[:6]}
    with pytest.raises(InputError, match=r"of the function 'guess', and this one is 'other'"):
        as_classifier(guess, labels=["neg", "pos"], cache=file, name="other")
    with pytest.raises(InputError, match=r"a function with the labels \['neg', 'pos'\]"):
        as_classifier(guess, labels=["pos", "neg"], cache=file)
    changed: dict[str, Any] = {}
    exec("def guess(texts):\n    return ['neg' for text in texts]\n", changed)
    with pytest.warns(IetestWarning, match="guess is no longer the one that gave the 6 answers"):
        model = as_classifier(changed["guess"], labels=["neg", "pos"], cache=file)
    assert model.score(TABLE).predicted.tolist() == RIGHT


HEAD = b'{"format": "ietest-fast answers 1", "function": "f", "source": "", "labels": null}\n'


def _of_model(model: str) -> Callable[[Sequence[str]], list[str]]:
    def ask(texts: Sequence[str]) -> list[str]:
        return guess([f"{model} {text}" for text in texts])

    return ask


def _ask(texts: Sequence[str], *, model: str) -> list[str]:
    return guess([f"{model} {text}" for text in texts])


class OfModel:
    def __init__(self, model: str) -> None:
        self.model, self.n_asked = model, 0

    def __call__(self, texts: Sequence[str]) -> list[str]:
        self.n_asked += 1
        return guess([f"{self.model} {text}" for text in texts])

    def ask(self, texts: Sequence[str]) -> list[str]:
        return self(texts)


class OfNumber:
    def __init__(self, model: str) -> None:
        self.temperature, self.n_asked = float(len(model)), 0

    def ask(self, texts: Sequence[str]) -> list[str]:
        self.n_asked += len(texts)
        return guess([f"{self.temperature} {text}" for text in texts])


def _of_global(model: str) -> Callable[[Sequence[str]], list[str]]:
    told: dict[str, Any] = {"guess": guess, "MODEL": model, "n_asked": 0}
    exec(
        "def ask(texts):\n"
        "    global n_asked\n"
        "    n_asked += 1\n"
        "    return guess([f'{MODEL} {text}' for text in texts])\n",
        told,
    )
    ask: Callable[[Sequence[str]], list[str]] = told["ask"]
    ask([])
    return ask


class OfSlot:
    """A client that keeps the name of its model in a place of its own."""

    __slots__ = ("model",)

    def __init__(self, model: str) -> None:
        self.model = model

    def ask(self, texts: Sequence[str]) -> list[str]:
        return guess([f"{self.model} {text}" for text in texts])


class OfClass:
    """A client whose class has the name of the model."""

    model = "good"

    def ask(self, texts: Sequence[str]) -> list[str]:
        return guess([f"{self.model} {text}" for text in texts])


class OfOtherClass(OfClass):
    """The same client of another model."""

    model = "bad"


def _without_source(model: str) -> Callable[[Sequence[str]], list[str]]:
    told: dict[str, Any] = {"guess": guess}
    exec(f"def ask(texts):\n    return guess([{model!r} + text for text in texts])\n", told)
    ask: Callable[[Sequence[str]], list[str]] = told["ask"]
    return ask


# Two on one line have the same source.
_LAMBDAS = {"good": lambda t: guess([f"g {x}" for x in t]), "bad": lambda t: guess(t[::-1])}


@pytest.mark.parametrize(
    "make",
    [
        _of_model,
        _of_global,
        _without_source,
        _LAMBDAS.get,
        lambda model: OfSlot(model).ask,
        lambda model: (OfClass if model == "good" else OfOtherClass)().ask,
        lambda model: OfNumber(model).ask,
        OfModel,
        lambda model: OfModel(model).ask,
        lambda model: functools.partial(_ask, model=model),
    ],
)
def test_the_same_function_for_another_model_is_another_one(make: Any, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    first = as_classifier(make("good"), labels=["neg", "pos"], cache=file)
    first.score(TABLE)
    same = as_classifier(make("good"), labels=["neg", "pos"], cache=file)
    assert same.fingerprint == first.fingerprint
    with pytest.warns(IetestWarning, match="no longer the one that gave the 6 answers"):
        other = as_classifier(make("bad"), labels=["neg", "pos"], cache=file)
    assert other.fingerprint != first.fingerprint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"text,label\na,b\n", "line 1: is no file of answers"),
        (b"a single line without an end", "is no file of answers"),
        (b'{"format": "ietest-fast answers 9"}\n', "line 1: is no file of answers"),
        (HEAD + b'{"input": "a", "answer": 1}\n', "line 2: is no file of answers .cache=., or is"),
        (HEAD + b'{"input": ["a"], "answer": {"a": 1}}\n', "line 2"),
        (HEAD + b"\xff\n", "line 2"),
    ],
)  # fmt: skip
def test_files_that_hold_no_answers_are_refused_and_left_alone(
    content: bytes, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "some.file"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        as_classifier(guess, labels=["neg", "pos"], cache=file)
    assert file.read_bytes() == content


def test_what_a_kill_leaves_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    as_classifier(guess, labels=["neg", "pos"], cache=file).score(TABLE)
    whole = file.read_bytes()
    for cut in range(len(whole)):
        file.write_bytes(whole[:cut])
        n_whole = whole[:cut].count(b"\n")
        kept = AnswerCache(file)
        assert len(kept) == max(0, n_whole - 1)
        assert file.read_bytes() == b"".join(whole.splitlines(keepends=True)[:n_whole])
    lines = [json.loads(line) for line in whole.splitlines()]
    assert [line["answer"] for line in lines[1:]] == ["neg", "pos"] * 3


def test_places_where_answers_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        AnswerCache(tmp_path)
    with pytest.raises(InputError, match="there is no such folder"):
        AnswerCache(tmp_path / "no" / "answers.jsonl")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a pipe"):
        AnswerCache(tmp_path / "pipe")


def test_arguments_of_functions_are_not_for_models() -> None:
    class Numbers:
        classes_ = np.array(["neg", "pos"])

        def predict(self, texts: Sequence[str]) -> Any:
            return np.array(guess(texts))

    for options, message in (
        ({"cache": "answers.jsonl"}, "cache is for a function"),
        ({"unparsed": "drop"}, "unparsed is for a function"),
        ({"unparsed": "wrongly"}, "unparsed is one of 'wrong', 'drop', 'error'"),
    ):
        with pytest.raises(InputError, match=message):
            ie.evaluate(Numbers(), FRAME, transformed=SOFA, **options)  # type: ignore[arg-type]
