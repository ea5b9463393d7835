"""Scores of replacements against a plain computation, one context at a time."""

from __future__ import annotations

import json
import pickle
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from ietest_fast.errors import InputError
from ietest_fast.models.sense import Context, SenseModel
from tiny_models import WORDS, make_bert, make_onnx_folder, make_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

N_WORDS = make_tokenizer().get_vocab_size()


def make_model(folder: Path, *, masked: bool, style: str = "bert", **options: Any) -> np.ndarray:
    """A folder with a tiny language model or encoder; gives the tokens' weights."""
    output = "logits" if masked else "last_hidden_state"
    size = make_tokenizer(style).get_vocab_size() if masked else 6
    return make_onnx_folder(
        folder,
        style=style,
        labels=tuple(map(str, range(size))),
        config={"vocab_size": make_tokenizer(style).get_vocab_size(), **options},
        rank=3,
        each_token=output,
    )


def make_contexts(n: int, *, seed: int, longest: int = 9) -> tuple[list[Context], list[Context]]:
    """Words in random contexts, and others in their place: of one, two or three words."""
    rng = np.random.default_rng(seed)
    old, new = [], []
    for _ in range(n):
        before, after, first, second = (
            " ".join(rng.choice(WORDS, size))
            for size in (*rng.integers(0, longest, 2), *rng.integers(1, 4, 2))
        )
        before, after = f"{before} " if before else "", f" {after}" if after else ""
        old.append(Context(before, first, after))
        new.append(Context(before, second, after))
    return old, new


def outputs(folder: Path, weights: np.ndarray, context: Context, *, hide: bool) -> np.ndarray:
    """Compute what the model gives for each token of the context's word, shape (tokens, d)."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    count = [len(tokenizer.encode(part, add_special_tokens=False).ids) for part in context]
    ids = tokenizer.encode("".join(context)).ids
    (letter,) = tokenizer.encode("a", add_special_tokens=False).ids
    first = count[0] + tokenizer.encode("a").ids.index(letter)  # after the special tokens
    word = list(range(first, first + count[1]))
    if hide:
        ids = [tokenizer.token_to_id("[MASK]") if i in word else each for i, each in enumerate(ids)]
    return weights[np.array(ids)[word]] + weights[ids].sum(axis=0)


def cosine(folder: Path, weights: np.ndarray, old: Context, new: Context) -> float:
    a, b = (outputs(folder, weights, each, hide=False).mean(axis=0) for each in (old, new))
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def log_ratio(folder: Path, weights: np.ndarray, old: Context, new: Context) -> float:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    found = []
    for context in (old, new):
        logits = outputs(folder, weights, context, hide=True).astype(float)
        ids = tokenizer.encode(context.word, add_special_tokens=False).ids
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        found.append(logs[np.arange(len(ids)), ids].mean())
    return float(found[1] - found[0])


@pytest.mark.parametrize("style", ["bert", "roberta", "xlnet"])  # xlnet is padded on the left
def test_an_encoders_score_is_the_cosine_of_the_words_vectors(style: str, tmp_path: Path) -> None:
    weights = make_model(tmp_path, masked=False, style=style)
    old, new = make_contexts(300, seed=1)
    model = SenseModel.load(tmp_path)
    expected = [cosine(tmp_path, weights, a, b) for a, b in zip(old, new, strict=True)]
    assert model.kind == "encoder"
    np.testing.assert_allclose(model.score(old, new), expected, atol=2e-5)


def test_a_language_models_score_is_the_difference_of_log_probabilities(tmp_path: Path) -> None:
    weights = make_model(tmp_path, masked=True)
    old, new = make_contexts(300, seed=2)
    model = SenseModel.load(tmp_path)
    expected = [log_ratio(tmp_path, weights, a, b) for a, b in zip(old, new, strict=True)]
    assert model.kind == "masked"
    np.testing.assert_allclose(model.score(old, new), expected, atol=2e-4)


def test_the_same_word_scores_best(tmp_path: Path) -> None:
    make_model(tmp_path, masked=False)
    old, _ = make_contexts(50, seed=3)
    np.testing.assert_allclose(SenseModel.load(tmp_path).score(old, old), 1, atol=1e-6)


@pytest.mark.parametrize("place", [0, 10, 50, 98])
def test_of_a_long_text_what_is_nearest_to_the_word_is_read(place: int, tmp_path: Path) -> None:
    weights = make_model(tmp_path, masked=False, max_position_embeddings=12)
    words = list(np.random.default_rng(4).choice(WORDS, 99))
    room = 10  # for 12 tokens, two of them special
    begin = min(max(place - (room - 1) // 2, 0), 99 - room)
    scores, expected = [], []
    for replacement in ("couch", "small"):
        old, new, near_old, near_new = (
            Context(
                " ".join(words[first:place]) + " " * (place > first),
                word,
                " " * (place + 1 < last) + " ".join(words[place + 1 : last]),
            )
            for first, last in ((0, 99), (begin, begin + room))
            for word in (words[place], replacement)
        )
        scores.append(float(SenseModel.load(tmp_path).score([old], [new])[0]))
        expected.append(cosine(tmp_path, weights, near_old, near_new))
    assert scores == pytest.approx(expected, abs=1e-5)


def test_every_distinct_context_is_computed_once(tmp_path: Path) -> None:
    make_model(tmp_path, masked=False)
    old, new = make_contexts(40, seed=5)
    done: list[int] = []
    scores = SenseModel.load(tmp_path).score(old * 3, new * 3, on_batch=done.append)
    assert sum(done) == len({*old, *new})
    assert np.array_equal(scores[:40], scores[80:])


def test_without_replacements_there_are_no_scores(tmp_path: Path) -> None:
    make_model(tmp_path, masked=False)
    assert SenseModel.load(tmp_path).score([], []).shape == (0,)


def test_a_copy_of_a_model_scores_alike(tmp_path: Path) -> None:
    make_model(tmp_path, masked=True)
    model = SenseModel.load(tmp_path)
    again = pickle.loads(pickle.dumps(model))
    old, new = make_contexts(20, seed=6)
    assert np.array_equal(again.score(old, new), model.score(old, new))
    assert again.fingerprint == model.fingerprint


def test_a_classifier_is_refused(tmp_path: Path) -> None:
    make_onnx_folder(tmp_path)
    with pytest.raises(InputError, match="an encoder or a masked language model is needed"):
        SenseModel.load(tmp_path)


def test_a_language_model_needs_a_mask_token(tmp_path: Path) -> None:
    make_model(tmp_path, masked=True, style="roberta")
    with pytest.raises(InputError, match="no mask token"):
        SenseModel.load(tmp_path)


def test_a_mask_token_of_the_usual_name_need_not_be_named(tmp_path: Path) -> None:
    make_model(tmp_path, masked=True)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"pad_token": "[PAD]"}))
    assert SenseModel.load(tmp_path).kind == "masked"


def test_a_model_that_labels_tokens_is_refused(tmp_path: Path) -> None:
    make_onnx_folder(
        tmp_path,
        labels=tuple("abcde"),
        config={"vocab_size": N_WORDS},
        rank=3,
        each_token="logits",
    )
    with pytest.raises(InputError, match="neither an encoder nor a masked language model"):
        SenseModel.load(tmp_path)


def test_too_few_numbers_for_each_token_are_told(tmp_path: Path) -> None:
    make_model(tmp_path, masked=True)
    model = SenseModel.load(tmp_path)
    plain = model.network.runner.run
    model.network.runner.run = lambda feed: plain(feed)[:, :, :5]
    with pytest.raises(InputError, match="returned 5 numbers for each token"):
        model.score(*make_contexts(3, seed=9))


def test_batches_of_a_language_model_are_of_bounded_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_model(tmp_path, masked=True)
    old, new = make_contexts(60, seed=10)
    expected = SenseModel.load(tmp_path).score(old, new)
    monkeypatch.setattr(
        "ietest_fast.models.onnx_models.classifier.BYTES_OF_OUTPUT", 4 * N_WORDS * 40
    )
    model = SenseModel.load(tmp_path)
    assert model.network.token_budget == 40
    np.testing.assert_allclose(model.score(old, new, n_threads=1), expected, atol=1e-5)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \.onnx file"):
        SenseModel.load(tmp_path)


def test_a_word_without_a_token_is_named(tmp_path: Path) -> None:
    make_model(tmp_path, masked=False)
    with pytest.raises(InputError, match="makes no token of ' '"):
        SenseModel.load(tmp_path).score([Context("a", " ", "dog")], [Context("a", "big", "dog")])


@pytest.mark.train
@pytest.mark.parametrize("masked", [False, True])
def test_a_checkpoint_scores_as_torch_does(masked: bool, tmp_path: Path) -> None:
    import torch
    from transformers import BertForMaskedLM, BertModel

    make_bert(tmp_path, masked=masked)
    old, new = make_contexts(30, seed=7)
    network = (BertForMaskedLM if masked else BertModel).from_pretrained(tmp_path).eval()
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    found = []
    for context in (*old, *new):
        ids = tokenizer.encode("".join(context)).ids
        first = 1 + len(tokenizer.encode(context.before, add_special_tokens=False).ids)
        word = slice(
            first, first + len(tokenizer.encode(context.word, add_special_tokens=False).ids)
        )
        hidden = list(ids)
        if masked:
            hidden[word] = [tokenizer.token_to_id("[MASK]")] * len(ids[word])
        with torch.inference_mode():
            output = network(torch.tensor([hidden]))
        if masked:
            logs = output.logits[0, word].log_softmax(dim=-1)
            found.append(float(logs[range(len(ids[word])), ids[word]].mean()))
        else:
            mean = output.last_hidden_state[0, word].mean(dim=0)
            found.append(mean / mean.norm())
    pairs = list(zip(found[:30], found[30:], strict=True))
    expected = [float(b - a) if masked else float(a @ b) for a, b in pairs]
    model = SenseModel.load(tmp_path)
    assert model.kind == ("masked" if masked else "encoder")
    np.testing.assert_allclose(model.score(old, new), expected, atol=1e-4)


@pytest.mark.train
def test_a_checkpoint_is_exported_once_for_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ietest_fast.cli.main import main

    make_bert(tmp_path / "checkpoint")
    arguments = ["export", str(tmp_path / "checkpoint"), str(tmp_path / "sense"), "--sense"]
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert not stop.value.code
    assert "model.onnx" in capsys.readouterr().out
    old, new = make_contexts(20, seed=8)
    exported = SenseModel.load(tmp_path / "sense").score(old, new)
    loaded, again = (SenseModel.load(tmp_path / "checkpoint") for _ in range(2))
    assert np.array_equal(exported, loaded.score(old, new))
    shutil.copytree(tmp_path / "checkpoint", tmp_path / "elsewhere")
    elsewhere = SenseModel.load(tmp_path / "elsewhere")
    assert loaded.fingerprint == again.fingerprint == elsewhere.fingerprint
    for option in (("--precision", "int8"), ("--n-check", "5")):
        with pytest.raises(SystemExit) as stop:
            main([*arguments[:-2], str(tmp_path / "other"), "--sense", *option])
        assert stop.value.code == 2
