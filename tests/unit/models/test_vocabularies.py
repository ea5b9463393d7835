"""Tokenizers of models that have no tokenizer.json."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tokenizers")

from ietest_fast.errors import InputError
from ietest_fast.models.onnx_models.classifier import OnnxClassifier, OnnxFiles
from ietest_fast.models.vocabularies import load_tokenizer_file
from tiny_models import make_onnx_folder, make_tokenizer, random_texts

TEXTS = ["a boy runs", "The DOG sleeps, in the park!", "Un café à Paris", "你好 boy", "", "x" * 120]
PAIRS = list(zip(TEXTS, reversed(TEXTS), strict=True))
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PIECES = (
    *"abcdefghilmnoprstuvwxyé",
    *(f"##{x}" for x in "abcdefghilmnoprstuvwxyé"),
    "你",
    ",",
    "!",
)
WORDS = ("boy", "dog", "run", "##ing", "the", "cafe", "sleep")


def _write_vocabulary(folder: Path, *more: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "vocab.txt"
    path.write_text("\n".join((*SPECIAL, *PIECES, *WORDS, *more)) + "\n", encoding="utf-8")
    return path


def _load(path: Path, config: dict[str, Any], **told: Any) -> Any:
    return load_tokenizer_file(path, config=config, tokenizer_config=told, max_length=512)


def _ids(tokenizer: Any) -> list[list[int]]:
    """Of all pairs, as the library itself puts them together."""
    return [row.ids for row in tokenizer.encode_batch(PAIRS)]


def _own(tokenizer: Any) -> list[list[int]]:
    """Of all pairs, as models here get them."""
    columns = [tokenizer.tokenise([pair[i] for pair in PAIRS]) for i in (0, 1)]
    store = tokenizer.join(columns, [np.arange(len(PAIRS))] * 2)
    return [
        store.ids[a:b].tolist() for a, b in zip(store.offsets[:-1], store.offsets[1:], strict=True)
    ]


@pytest.mark.parametrize(
    ("more", "told", "expected"),
    [
        ((), {}, {"lowercase": True}),
        ((), {"do_lower_case": False}, {"lowercase": False}),
        (("Boy", "DOG"), {}, {"lowercase": False}),
        (("Boy",), {"do_lower_case": True}, {"lowercase": True}),
        ((), {"strip_accents": False}, {"lowercase": True, "strip_accents": False}),
        ((), {"tokenize_chinese_chars": False}, {"lowercase": True, "handle_chinese_chars": False}),
    ],
)
def test_word_pieces_are_those_of_the_library(
    more: tuple[str, ...], told: dict[str, Any], expected: dict[str, Any], tmp_path: Path
) -> None:
    from tokenizers import BertWordPieceTokenizer

    path = _write_vocabulary(tmp_path, *more)
    oracle = BertWordPieceTokenizer(str(path), **expected)
    assert _own(_load(path, {"model_type": "bert"}, **told)) == _ids(oracle)
    by_class = _load(path, {}, tokenizer_class="DistilBertTokenizerFast", **told)
    assert _own(by_class) == _ids(oracle)


def _write_byte_level(folder: Path) -> Path:
    from tokenizers import ByteLevelBPETokenizer

    made = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made.train_from_iterator(
        [*TEXTS, *random_texts(50, seed=0)], vocab_size=320, special_tokens=special,
        show_progress=False,
    )  # fmt: skip
    folder.mkdir(exist_ok=True)
    made.save_model(str(folder))
    return folder / "vocab.json"


@pytest.mark.parametrize("adds", [False, True])
def test_byte_level_pieces_are_those_of_the_library(adds: bool, tmp_path: Path) -> None:
    from tokenizers import ByteLevelBPETokenizer
    from tokenizers.processors import RobertaProcessing

    path = _write_byte_level(tmp_path)
    oracle = ByteLevelBPETokenizer(
        str(path), str(path.with_name("merges.txt")), add_prefix_space=adds
    )
    oracle.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=adds)
    own = _load(path, {"model_type": "roberta"}, add_prefix_space=adds)
    assert _own(own) == _ids(oracle)
    assert _own(own)[0][0] == 0
    path.with_name("merges.txt").unlink()
    with pytest.raises(InputError, match=r"there is no merges\.txt beside it"):
        _load(path, {"model_type": "roberta"})
    path.write_text("[]")
    path.with_name("merges.txt").write_text("")
    with pytest.raises(InputError, match=r"vocab\.json: is no vocabulary"):
        _load(path, {"model_type": "roberta"})


def test_a_vocabulary_of_another_model_is_told(tmp_path: Path) -> None:
    path = _write_vocabulary(tmp_path)
    with pytest.raises(InputError, match=r"has no token '<s>', which is the cls_token"):
        _load(path, {"model_type": "bert"}, cls_token="<s>")
    (tmp_path / "special_tokens_map.json").write_text('{"sep_token": {"content": "<end>"}}')
    with pytest.raises(InputError, match=r"has no token '<end>', which is the sep_token"):
        _load(path, {"model_type": "bert"})


def test_an_onnx_folder_with_a_vocabulary_alone(tmp_path: Path) -> None:
    make_onnx_folder(tmp_path)
    texts = [text for text in random_texts(60, seed=5) if text]
    expected = _scores(tmp_path, texts)
    before = OnnxClassifier.load(tmp_path).fingerprint
    words = sorted(make_tokenizer().get_vocab().items(), key=lambda item: item[1])
    (tmp_path / "tokenizer.json").unlink()
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join(word for word, _ in words))
    np.testing.assert_array_equal(_scores(tmp_path, texts), expected)
    model = OnnxClassifier.load(tmp_path)
    assert model.fingerprint != before
    (tmp_path / "elsewhere").mkdir()
    shutil.move(vocabulary, tmp_path / "elsewhere" / "vocab.txt")
    for named in (tmp_path / "elsewhere", tmp_path / "elsewhere" / "vocab.txt"):
        files = OnnxFiles.find(tmp_path, tokenizer=named)
        assert files.tokenizer_files == [tmp_path / "elsewhere" / "vocab.txt"]
    with pytest.raises(InputError, match=r"nor a vocabulary \(vocab.txt, .*--tokenizer names it"):
        OnnxFiles.find(tmp_path)


def _scores(folder: Path, texts: list[str]) -> np.ndarray:
    model = OnnxClassifier.load(folder)
    store = model.tokenizer.join([model.tokenizer.tokenise(texts)], [np.arange(len(texts))])
    return model.predict_logits(store, np.arange(len(texts)))


@pytest.mark.parametrize("name", ["spiece.model", "sentencepiece.bpe.model", "tokenizer.model"])
def test_what_is_not_installed_is_told_with_its_remedy(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_onnx_folder(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / name).write_bytes(b"\x00")
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(
        InputError, match=r"sentencepiece are needed: pip install 'ietest-fast\[tra"
    ):
        OnnxClassifier.load(tmp_path)


SENTENCES = [
    "a boy runs in the park", "the dog sleeps on the sofa", "a girl eats outside",
    "nobody sits in the street", "the big red cat", "a small blue kid",
]  # fmt: skip
_ALBERT = {"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3}
_ALBERT |= {"pad_piece": "<pad>", "bos_piece": "[CLS]", "eos_piece": "[SEP]"}
_ALBERT |= {"control_symbols": ["[MASK]"]}


def _write_sentencepiece(path: Path, **options: Any) -> Any:
    import sentencepiece

    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 20), model_writer=made, vocab_size=60, minloglevel=2,
        hard_vocab_limit=False, **options,
    )  # fmt: skip
    path.write_bytes(made.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=made.getvalue())


@pytest.mark.train
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "family", "how"),
    [
        ("spiece.model", "albert", (_ALBERT, 0, ([2], [3], [3]))),
        # Its numbers are those of sentencepiece plus one, for its special tokens are others.
        ("sentencepiece.bpe.model", "xlm-roberta", ({}, 1, ([0], [2, 2], [2]))),
        ("tokenizer.model", "llama", ({"model_type": "bpe"}, 0, ([], [], []))),
    ],
)
def test_sentencepiece_files_give_the_numbers_of_sentencepiece(
    name: str, family: str, how: Any, tmp_path: Path
) -> None:
    options, shift, around = how
    processor = _write_sentencepiece(tmp_path / name, **options)
    own = _load(tmp_path / name, {"model_type": family})
    texts = [*SENTENCES, "The kid sits outside", "a  big   park"]
    rows = np.arange(len(texts))
    tokens = own.tokenise(texts)
    store = own.join([tokens, tokens], [rows, rows[::-1]])
    before, between, after = around
    for row, text in enumerate(texts):
        pieces = [
            [number + shift for number in processor.encode(each)]
            for each in (text.lower() if family == "albert" else text, texts[-1 - row])
        ]
        if family == "albert":
            pieces[1] = [number + shift for number in processor.encode(texts[-1 - row].lower())]
        if any(processor.unk_id() + shift in each for each in pieces):
            continue  # a family has a number of its own for what it does not know
        expected = [*before, *pieces[0], *between, *pieces[1], *after]
        assert store.ids[store.offsets[row] : store.offsets[row + 1]].tolist() == expected


@pytest.mark.train
@pytest.mark.slow
def test_a_checkpoint_and_its_export_need_no_tokenizer_json(tmp_path: Path) -> None:
    from ietest_fast.models import as_classifier
    from ietest_fast.models.onnx_models.export import export_onnx
    from tiny_models import LABELS, make_bert

    folder = tmp_path / "checkpoint"
    make_bert(folder, labels=LABELS)
    (folder / "tokenizer.json").unlink()
    _write_sentencepiece(folder / "spiece.model", **_ALBERT)
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "AlbertTokenizer", "pad_token": "<pad>"})
    )
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config))
    texts = [SENTENCES, SENTENCES[::-1]]
    checkpoint = as_classifier(folder)
    n_tokens = checkpoint.tokenizer.n_tokens  # type: ignore[attr-defined]
    assert n_tokens <= make_tokenizer().get_vocab_size() or n_tokens > 0
    exported = export_onnx(folder, tmp_path / "onnx", texts=texts)
    assert exported.check is not None
    assert exported.check.n_flipped == 0
    assert (tmp_path / "onnx" / "tokenizer.json").is_file()


@pytest.mark.train
@pytest.mark.slow
def test_transformers_makes_the_same_tokens_of_the_same_vocabulary(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    bert, roberta = tmp_path / "bert", tmp_path / "roberta"
    paths = {"bert": _write_vocabulary(bert), "roberta": _write_byte_level(roberta)}
    for family, path in paths.items():
        (path.parent / "config.json").write_text(json.dumps({"model_type": family}))
        theirs = AutoTokenizer.from_pretrained(path.parent).backend_tokenizer
        assert _own(_load(path, {"model_type": family})) == _ids(theirs)
    (bert / "vocab.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8"):
        _load(bert / "vocab.txt", {"model_type": "bert"})
    (bert / "spiece.model").write_bytes(b"no model")
    with pytest.raises(InputError, match="transformers cannot make one of this file"):
        _load(bert / "spiece.model", {"model_type": "albert"})


@pytest.mark.parametrize(
    ("told", "makes_types"),
    [
        ({}, True),
        ({"tokenizer_class": "BertTokenizer"}, True),
        ({"tokenizer_class": "ElectraTokenizerFast"}, True),
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, False),
        ({"tokenizer_class": "TokenizersBackend"}, False),
        ({"tokenizer_class": "BertTokenizer", "model_input_names": ["input_ids"]}, False),
        (
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "model_input_names": ["input_ids", "token_type_ids"],
            },
            True,
        ),
    ],
)
def test_types_of_tokens_are_those_that_the_library_would_give(
    told: dict[str, Any], makes_types: bool, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    make_tokenizer().save(str(path))
    tokenizer = _load(path, {"model_type": "bert"}, **told)
    texts = [tokenizer.tokenise(["a boy"]), tokenizer.tokenise(["the dog runs"])]
    store = tokenizer.join(texts, [np.zeros(1, np.int64)] * 2)
    types = make_tokenizer().encode("a boy", "the dog runs").type_ids
    assert store.type_ids.tolist() == (types if makes_types else [0] * len(types))
    assert max(types) == 1
