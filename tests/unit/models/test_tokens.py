from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("tokenizers")

from ietest_fast.errors import InputError
from ietest_fast.models.protocol import SplitTexts
from ietest_fast.models.tokens import TextRows, TextTokenizer, encode_splits
from tiny_models import make_tokenizer, random_texts

STYLES = ("bert", "roberta", "xlnet")


def _rows(store):
    return [
        (store.ids[begin:end].tolist(), store.type_ids[begin:end].tolist())
        for begin, end in zip(store.offsets[:-1], store.offsets[1:], strict=True)
    ]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("max_length", [6, 7, 11, 20, 512])
def test_pairs_are_joined_and_cut_as_the_library_does(style, max_length):
    first, second = random_texts(400, seed=1), random_texts(400, seed=2)
    tokenizer = TextTokenizer(make_tokenizer(style), max_length=max_length, path="x")
    rows = np.arange(400)
    oracle = make_tokenizer(style)
    oracle.enable_truncation(max_length)
    joined = tokenizer.join([tokenizer.tokenise(first), tokenizer.tokenise(second)], [rows, rows])
    expected = oracle.encode_batch(list(zip(first, second, strict=True)))
    assert _rows(joined) == [(row.ids, row.type_ids) for row in expected]
    alone = tokenizer.join([tokenizer.tokenise(first)], [rows])
    assert _rows(alone) == [(row.ids, row.type_ids) for row in oracle.encode_batch(first)]


def test_a_tokenizer_that_cuts_and_pads_by_itself_is_made_to_stop():
    fixed = make_tokenizer()
    fixed.enable_truncation(4)
    fixed.enable_padding(length=4)
    tokenizer = TextTokenizer(fixed, max_length=64, path="x")
    assert tokenizer.tokenise(["a boy runs in the big park", ""]).lengths.tolist() == [7, 0]


def test_rows_are_taken_in_any_order_and_often():
    tokenizer = TextTokenizer(make_tokenizer(), max_length=64, path="x")
    texts = random_texts(50, seed=3)
    store = tokenizer.join([tokenizer.tokenise(texts)], [np.arange(50)])
    chosen = np.array([4, 4, 49, 0, 17])
    assert _rows(store.take(chosen)) == [_rows(store)[i] for i in chosen]
    assert len(store.take(chosen[:0])) == 0


class _Counting(TextTokenizer):
    def __init__(self):
        super().__init__(make_tokenizer(), max_length=64, path="x")
        self.texts = []

    def tokenise(self, texts):
        self.texts += texts
        return super().tokenise(texts)


def test_every_distinct_text_is_tokenised_once():
    premises = random_texts(40, seed=4) * 3
    hypotheses = random_texts(120, seed=5)
    rephrased = [text.replace("boy", "kid") for text in premises]

    def table(first):
        return pa.table({"premise": first, "hypothesis": hypotheses})

    splits = {
        name: SplitTexts(
            versions={
                "original": table(premises).slice(start, 40),
                "transformed": table(rephrased).slice(start, 40),
            },
            labels=np.zeros(40, np.int8),
        )
        for start, name in ((0, "train"), (40, "valid"), (80, "test"))
    }
    tokenizer = _Counting()
    encoded = encode_splits(tokenizer, splits, ("premise", "hypothesis"))
    assert sorted(tokenizer.texts) == sorted({*premises, *rephrased, *hypotheses})
    oracle = make_tokenizer()
    for name, split in encoded.items():
        again = TextRows.from_arrays(split.store.arrays())
        rows = _rows(again.tokens(np.arange(len(split.store)), max_length=64))
        for version, where in split.versions.items():
            texts = splits[name].versions[version].to_pylist()
            for text, row in zip(texts, where, strict=True):
                expected = oracle.encode(text["premise"], text["hypothesis"])
                assert rows[row] == (expected.ids, expected.type_ids)
        # Equal inputs share a row, and nothing else does.
        versions = (splits[name].original, splits[name].versions["transformed"])
        pairs = {tuple(pair.values()) for table in versions for pair in table.to_pylist()}
        assert len(rows) == len(pairs)
        same = np.array(premises[:40]) == np.array(rephrased[:40])
        assert ((split.original == split.versions["transformed"]) == same).all()
        # A resample is a choice of rows; no text is looked at again.
        before = len(tokenizer.texts)
        mask = np.arange(40) % 2 == 0
        assert (
            split.resample(mask, "transformed").rows[mask] == split.versions["transformed"][mask]
        ).all()
        assert len(tokenizer.texts) == before


def test_partial_input_is_one_column():
    texts = pa.table({"premise": random_texts(9, seed=6), "hypothesis": random_texts(9, seed=7)})
    split = SplitTexts(
        versions={"original": texts, "transformed": texts}, labels=np.zeros(9, np.int8)
    )
    tokenizer = TextTokenizer(make_tokenizer(), max_length=64, path="x")
    encoded = encode_splits(tokenizer, {"train": split}, ("hypothesis",))["train"]
    expected = [make_tokenizer().encode(text).ids for text in texts["hypothesis"].to_pylist()]
    store = encoded.store.tokens(encoded.original, max_length=64)
    assert [ids for ids, _ in _rows(store)] == expected


def test_files_that_hold_no_tokenizer_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"no such file"):
        TextTokenizer.load(tmp_path / "tokenizer.json", max_length=8)
    for content in ("", "{", '{"model": 3}'):
        (tmp_path / "tokenizer.json").write_text(content)
        with pytest.raises(InputError, match=r"tokenizer.json.*damaged"):
            TextTokenizer.load(tmp_path / "tokenizer.json", max_length=8)


def test_a_model_too_short_for_any_text_is_refused():
    tokenizer = TextTokenizer(make_tokenizer(), max_length=4, path="x")
    made = tokenizer.tokenise(["a boy"])
    with pytest.raises(InputError, match="no text fits into 4 tokens"):
        tokenizer.join([made, made], [np.zeros(1, np.int64)] * 2)


def test_a_panic_of_the_library_is_an_error_that_names_the_file(tmp_path):
    made = json.loads(make_tokenizer().to_str())
    special = made["post_processor"]["special_tokens"]
    special["[NONE]"] = special.pop("[SEP]")
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(made))
    tokenizer = TextTokenizer.load(path, max_length=64)
    with pytest.raises(InputError, match=r"tokenizer\.json: cannot tokenise: no entry found"):
        tokenizer.template(2)
