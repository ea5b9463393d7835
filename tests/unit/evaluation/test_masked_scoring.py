"""Ranks and log-probabilities of hidden words, against one input at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

from ietest_fast.analyses.masked import summary as masked_scoring
from ietest_fast.analyses.masked.items import MaskedItems, masked_items_from_table
from ietest_fast.analyses.masked.summary import ANSWERS, score_masked
from ietest_fast.errors import InputError
from ietest_fast.models.masked_lm import OnnxMaskedModel
from ietest_fast.models.tokens import TextTokenizer
from reference.masked_oracle import likelihood_slowly, rank_slowly
from tiny_masked import make_word_tokenizer
from tiny_models import WORDS, make_onnx_folder, write_onnx

NUMERALS = ("one", "two", "twenty", "twenty one", "thirty one two")


def make_folder(
    folder: Path, tokenizer: Tokenizer, *, side: str = "right", **settings: Any
) -> np.ndarray:
    """A masked language model whose logits for a token are its weights and those of all."""
    folder.mkdir(exist_ok=True)
    n = tokenizer.get_vocab_size()
    weights = np.random.default_rng(0).normal(size=(n, n)).astype(np.float32)
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    write_onnx(folder / "model.onnx", weights, inputs=inputs, rank=3, each_token="logits")
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"vocab_size": n, "max_position_embeddings": 64, "pad_token_id": 0} | settings
    (folder / "config.json").write_text(json.dumps(config))
    named = {"pad_token": "[PAD]", "mask_token": "[MASK]", "padding_side": side}
    (folder / "tokenizer_config.json").write_text(json.dumps(named))
    return weights


def make_items(n: int, answers: tuple[str, ...], *, seed: int) -> MaskedItems:
    rng = np.random.default_rng(seed)
    rows = [
        {
            "premise": " ".join(rng.choice(WORDS, rng.integers(0, 9))),
            "hypothesis": " ".join(
                [
                    *rng.choice(WORDS, rng.integers(0, 6)),
                    "[MASK]",
                    *rng.choice(WORDS, rng.integers(0, 6)),
                ]
            ),
            "answer": str(rng.choice(answers)),
        }
        for _ in range(n)
    ]
    return masked_items_from_table(pa.Table.from_pylist(rows))


def logits_by(weights: np.ndarray) -> Any:
    def logits_of(ids: list[int], kinds: list[int]) -> np.ndarray:
        each = weights[ids].astype(np.float32)
        each[:, 0] += np.float32(0.01) * np.array(kinds, np.float32)
        return each + each.sum(axis=0)

    return logits_of


@pytest.mark.parametrize("side", ["right", "left"])
def test_an_answer_of_one_token_is_ranked_in_the_vocabulary(tmp_path: Path, side: str) -> None:
    tokenizer = make_word_tokenizer(list(WORDS))
    logits_of = logits_by(make_folder(tmp_path, tokenizer, side=side))
    items = make_items(120, WORDS, seed=1)
    found = score_masked(OnnxMaskedModel(tmp_path), items, name="tiny").table.to_pylist()
    for row, item in zip(found, items.table.to_pylist(), strict=True):
        rank, log_probability, best = rank_slowly(
            tokenizer, logits_of, item["premise"], item["hypothesis"], item["answer"]
        )
        assert row["rank"] == rank
        assert row["reciprocal_rank"] == 1 / rank
        assert row["log_probability"] == pytest.approx(log_probability, abs=1e-4)
        assert row["predicted"] == tokenizer.id_to_token(best)
        assert (row["ranked_in"], row["n_tokens"], row["problem"]) == ("vocabulary", 1, None)
        assert row["model"] == "tiny"
    assert {row["item"] for row in found} == set(range(120))
    assert any(row["rank"] == 1 for row in found)
    assert any(row["rank"] > 5 for row in found)


@pytest.mark.parametrize("among", [None, ANSWERS, NUMERALS])
def test_answers_of_several_tokens_are_ranked_among_candidates(tmp_path: Path, among: Any) -> None:
    tokenizer = make_word_tokenizer([*WORDS, "one", "two", "twenty", "thirty"])
    logits_of = logits_by(make_folder(tmp_path, tokenizer))
    items = make_items(60, NUMERALS, seed=2)
    assert set(items.answers) == set(NUMERALS)
    found = score_masked(OnnxMaskedModel(tmp_path), items, among=among)
    firsts = 0
    for row, item in zip(found.table.to_pylist(), items.table.to_pylist(), strict=True):
        scores = {
            word: likelihood_slowly(tokenizer, logits_of, item["premise"], item["hypothesis"], word)
            for word in NUMERALS
        }
        own = scores[item["answer"]]
        assert row["log_probability"] == pytest.approx(own, abs=1e-4)
        assert row["n_tokens"] == len(item["answer"].split())
        if among is None and row["n_tokens"] == 1:
            assert row["ranked_in"] == "vocabulary"
            continue
        assert row["ranked_in"] == "candidates"
        assert row["rank"] == 1 + sum(score > own for score in scores.values())
        assert row["predicted"] == max(scores, key=scores.__getitem__)
        firsts += row["rank"] == 1
    # Sums of more terms are lower where nothing has been learnt.
    assert firsts == 0 if among is None else 0 < firsts < 60
    assert set(found.candidates) == set(NUMERALS)


def test_blocks_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_folder(tmp_path, make_word_tokenizer([*WORDS, "one", "two", "twenty", "thirty"]))
    items, model = make_items(40, (*NUMERALS, "dog"), seed=3), OnnxMaskedModel(tmp_path)
    whole = score_masked(model, items, among=ANSWERS).table
    monkeypatch.setattr(masked_scoring, "_WORDS_AT_ONCE", 20)
    done: list[int] = []
    parts = score_masked(model, items, among=ANSWERS, on_rows=done.append).table
    assert sum(done) == 40
    assert len(done) > 10
    left, right = (each.drop(["log_probability"]) for each in (whole, parts))
    assert left.equals(right)
    np.testing.assert_allclose(
        whole["log_probability"].to_numpy(), parts["log_probability"].to_numpy(), atol=1e-5
    )


def test_the_files_mask_becomes_the_tokenizers_own(tmp_path: Path) -> None:
    """The same weights under a tokenizer that writes its mask in another way."""
    first = make_word_tokenizer(list(WORDS))
    make_folder(tmp_path / "one", first)
    text = first.to_str().replace('"[MASK]"', '"<hidden>"')
    make_folder(tmp_path / "two", Tokenizer.from_str(text))
    path = tmp_path / "two" / "tokenizer_config.json"
    path.write_text(json.dumps({"pad_token": "[PAD]", "mask_token": {"content": "<hidden>"}}))
    items = make_items(20, WORDS, seed=4)
    found = [
        score_masked(OnnxMaskedModel(tmp_path / name), items).table["rank"].to_pylist()
        for name in ("one", "two")
    ]
    assert found[0] == found[1]


def test_settings_without_a_mask_token_are_no_hindrance(tmp_path: Path) -> None:
    """As older checkpoints of BERT have them."""
    make_folder(tmp_path, make_word_tokenizer(list(WORDS)))
    items = make_items(10, WORDS, seed=5)
    named = score_masked(OnnxMaskedModel(tmp_path), items).table
    (tmp_path / "tokenizer_config.json").write_text("{}")
    assert score_masked(OnnxMaskedModel(tmp_path), items).table.equals(named)


def test_ties_count_against_the_answer(tmp_path: Path) -> None:
    tokenizer = make_word_tokenizer(list(WORDS))
    make_folder(tmp_path, tokenizer)
    n = tokenizer.get_vocab_size()
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    write_onnx(
        tmp_path / "model.onnx", np.zeros((n, n)), inputs=inputs, rank=3, each_token="logits"
    )
    (tmp_path / "config.json").write_text(json.dumps({"vocab_size": n, "pad_token_id": 0}))
    items = masked_items_from_table(
        {"premise": ["a dog"] * 2, "hypothesis": ["the [MASK]"] * 2, "answer": ["dog", "cat"]}
    )
    model = OnnxMaskedModel(tmp_path)
    found = score_masked(model, items).table.to_pylist()
    # Token 0 alone has a hundredth more, for its type.
    assert [row["rank"] for row in found] == [n, n]
    found = score_masked(model, items, among=("dog", "cat", "boy")).table.to_pylist()
    assert [row["rank"] for row in found] == [3, 3]
    assert [row["predicted"] for row in found] == ["boy", "boy"]


def test_rows_that_cannot_be_scored_say_why(tmp_path: Path) -> None:
    make_folder(tmp_path, make_word_tokenizer(list(WORDS)), max_position_embeddings=16)
    long = " ".join(["dog"] * 30)
    rows = [
        ("a dog", "the [MASK] runs", "dog"),
        ("a dog", "the [MASK] runs", "zebra"),
        ("a dog", "the dog runs", "dog"),
        ("a dog", "the [MASK] or [MASK]", "dog"),
        ("a dog", "the [MASK] runs", " "),
        (None, "the [MASK] runs", "dog"),
        ("a [MASK]", "the [MASK] runs", "dog"),
        (long, "the [MASK] runs", "dog"),
        ("a dog", f"{long} [MASK]", "dog"),
        ("a dog", f"[MASK] {long}", "dog"),
        ("a dog", "the [MASK] runs", "\u200d"),
        ("a dog", "the do[MASK] runs", "g"),
    ]
    items = masked_items_from_table(rows_of(rows))
    found = score_masked(OnnxMaskedModel(tmp_path), items)
    assert found.problems == [
        None,
        "the tokenizer does not know the word",
        "no [MASK] in the hypothesis",
        "more than one [MASK] in the hypothesis",
        "no answer",
        "no premise",
        "a [MASK] in the premise or the answer",
        None,
        "too long for the model: the mask would be cut away",
        None,
        "the tokenizer makes no token of the word",
        "the tokenizer joins the word with its neighbours",
    ]
    ranks = found.table["rank"].to_pylist()
    assert [rank is None for rank in ranks] == [each is not None for each in found.problems]
    assert found.n_truncated == 2
    said = items.say_problems(found.problems)
    assert said is not None
    assert said.startswith("9 rows are not scored: ")
    assert "no answer: 1 (the first is row 4)" in said


def rows_of(rows: list[tuple[str | None, str, str]]) -> dict[str, list[Any]]:
    names = ("premise", "hypothesis", "answer")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def test_long_inputs_are_cut_as_elsewhere_and_the_mask_is_not(tmp_path: Path) -> None:
    """The rank is that of the input as the tokenizer itself cuts it."""
    tokenizer = make_word_tokenizer(list(WORDS))
    logits_of = logits_by(make_folder(tmp_path, tokenizer, max_position_embeddings=16))
    premise = " ".join(np.random.default_rng(6).choice(WORDS, 40))
    items = masked_items_from_table(rows_of([(premise, "the [MASK] runs", "dog")]))
    (row,) = score_masked(OnnxMaskedModel(tmp_path), items).table.to_pylist()
    assert row["truncated"]
    kept = " ".join(premise.split()[: 16 - 3 - 3])
    rank, log_probability, _ = rank_slowly(tokenizer, logits_of, kept, "the [MASK] runs", "dog")
    assert row["rank"] == rank
    assert row["log_probability"] == pytest.approx(log_probability, abs=1e-4)


def test_given_candidates(tmp_path: Path) -> None:
    make_folder(tmp_path, make_word_tokenizer(list(WORDS)))
    model = OnnxMaskedModel(tmp_path)
    items = make_items(30, ("dog", "cat", "boy"), seed=7)
    found = score_masked(model, items, among=("dog", "DOG", "cat"))
    without = [answer == "boy" for answer in items.table["answer"].to_pylist()]
    assert [each == "the answer is none of the candidates" for each in found.problems] == without
    # Two spellings of one word are one candidate.
    assert set(found.table["rank"].drop_null().to_pylist()) == {1, 2}
    with pytest.raises(InputError, match="does not know the word 'zebra'"):
        score_masked(model, items, among=("dog", "zebra"))
    for wrong in (("dog",), "dog", ("dog", "")):
        with pytest.raises(InputError, match="two or more different words"):
            score_masked(model, items, among=wrong)
    alone = make_items(5, ("dog",), seed=8)
    with pytest.raises(InputError, match="no other answer to compare"):
        score_masked(model, alone, among=ANSWERS)


def test_the_blank_before_a_word_is_part_of_its_token(tmp_path: Path) -> None:
    """Byte-level vocabularies: at the start of a text a word is another token than inside it."""
    special = ["<s>", "<pad>", "</s>", "<mask>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {word: i for i, word in enumerate([*special, *letters])}
    merges = []
    for word in ("and", "or", "dog", "runs"):
        steps = [(word[:end], word[end]) for end in range(1, len(word))] + [("Ġ", word)]
        merges += steps
        vocabulary |= {a + b: len(vocabulary) + i for i, (a, b) in enumerate(steps)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.add_special_tokens(special)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    weights = make_folder(tmp_path, tokenizer)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"mask_token": "<mask>"}))
    rows = [("dog runs", "dog [MASK] dog", "and"), ("dog runs", "[MASK] dog", "and")]
    model = OnnxMaskedModel(tmp_path)
    assert model.tokenizer.unknown is None
    found = score_masked(model, masked_items_from_table(rows_of(rows))).table.to_pylist()
    for row, text, token in zip(
        found,
        ("<s>dog runs</s></s>dog<mask> dog</s>", "<s>dog runs</s></s><mask> dog</s>"),
        ("Ġand", "and"),
        strict=True,
    ):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        logits = weights[3] + weights[ids].sum(axis=0)
        own = logits[tokenizer.token_to_id(token)]
        assert row["n_tokens"] == 1
        assert row["rank"] == (logits >= own).sum()


def test_what_is_predicted_is_told_from_the_answer(tmp_path: Path) -> None:
    """The model prefers "and" without a blank before it: shown as the vocabulary spells it."""
    vocabulary = {"[PAD]": 0, "[UNK]": 1, "[MASK]": 2, "[CLS]": 3, "[SEP]": 4, "and": 5, "▁and": 6}
    vocabulary |= {"▁a": 7}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.add_special_tokens(["[MASK]", "[CLS]", "[SEP]"])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[("[CLS]", 3), ("[SEP]", 4)],
    )
    make_folder(tmp_path, tokenizer)
    weights = np.zeros((8, 8))
    weights[:, 5] = 1
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    write_onnx(tmp_path / "model.onnx", weights, inputs=inputs, rank=3, each_token="logits")
    items = masked_items_from_table(rows_of([("a", "a [MASK] a", "and")]))
    (row,) = score_masked(OnnxMaskedModel(tmp_path), items).table.to_pylist()
    assert row["predicted"] == "and"
    assert row["rank"] > 1
    shown = TextTokenizer(tokenizer, max_length=8, path="t")
    assert shown.show_token(6) == "and"
    assert shown.name_token(6) == "▁and"
    assert shown.name_token(99) == "#99"


def test_unigram_vocabularies_say_what_is_unknown() -> None:
    tokenizer = Tokenizer(models.Unigram([("<pad>", 0.0), ("<unk>", 0.0), ("a", -1.0)], unk_id=1))
    assert TextTokenizer(tokenizer, max_length=8, path="t").unknown == 1


def test_a_model_that_returns_no_numbers_is_refused(tmp_path: Path) -> None:
    tokenizer = make_word_tokenizer(list(WORDS))
    make_folder(tmp_path, tokenizer)
    n = tokenizer.get_vocab_size()
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    write_onnx(
        tmp_path / "model.onnx", np.full((n, n), np.nan), inputs=inputs, rank=3, each_token="logits"
    )
    with pytest.raises(InputError, match="no number"):
        score_masked(OnnxMaskedModel(tmp_path), make_items(3, WORDS, seed=9))


def test_an_encoder_is_refused(tmp_path: Path) -> None:
    make_onnx_folder(tmp_path, rank=3, each_token="last_hidden_state")
    with pytest.raises(InputError, match="is an encoder"):
        OnnxMaskedModel(tmp_path)
