from __future__ import annotations

import json
import threading

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

from ietest_fast.answers.asking import evaluate, score_table
from ietest_fast.answers.versions import Version
from ietest_fast.corpus.dataset import corpus_from_table
from ietest_fast.errors import InputError
from ietest_fast.models.label_map import find_max_length
from ietest_fast.models.onnx_models.classifier import OnnxClassifier, OnnxFiles, OnnxNetwork
from ietest_fast.models.training import Padding, pad, plan_batches
from tiny_models import LABELS, make_onnx_folder, make_tokenizer, random_texts, write_onnx


def _store(model, texts):
    return model.tokenizer.join([model.tokenizer.tokenise(texts)], [np.arange(len(texts))])


def _expected(weights, store):
    return np.array(
        [
            weights[store.ids[begin:end]].sum(axis=0)
            for begin, end in zip(store.offsets[:-1], store.offsets[1:], strict=True)
        ]
    )


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("multiple_of", [1, 8])
def test_batches_hold_every_row_once_and_keep_to_the_budget(tmp_path, left, multiple_of):
    make_onnx_folder(tmp_path)
    store = _store(OnnxClassifier.load(tmp_path), random_texts(300, seed=1, longest=40))
    batches = plan_batches(store.lengths, token_budget=100)
    assert sorted(np.concatenate(batches).tolist()) == list(range(300))
    for rows in batches:
        batch = pad(store, rows, Padding(token=9, left=left), multiple_of=multiple_of)
        longest = max(1, int(store.lengths[rows].max()))
        assert longest * len(rows) <= 100 or len(rows) == 1
        assert batch.input_ids.shape[1] % multiple_of == 0
        for place, row in enumerate(rows):
            ids = store.ids[store.offsets[row] : store.offsets[row + 1]]
            mask = batch.attention_mask[place] == 1
            assert batch.input_ids[place][mask].tolist() == ids.tolist()
            assert (batch.input_ids[place][~mask] == 9).all()
            assert mask[-1 if left else 0]
            assert batch.position_ids[place][mask].tolist() == list(range(len(ids)))


@pytest.mark.parametrize("style", ["bert", "roberta", "xlnet"])
@pytest.mark.parametrize("integer", ["INT64", "INT32"])
def test_logits_are_the_models_in_the_order_of_the_rows(tmp_path, style, integer):
    weights = make_onnx_folder(tmp_path, style=style, integer=integer)
    model = OnnxClassifier.load(tmp_path, n_threads=1, token_budget=64)
    assert model.labels == LABELS
    store = _store(model, random_texts(200, seed=2))
    rows = np.random.default_rng(0).permutation(200)
    done = []
    logits = model.predict_logits(store, rows, on_batch=done.append)
    np.testing.assert_allclose(logits, _expected(weights, store)[rows], rtol=1e-5, atol=1e-5)
    assert sum(done) == 200


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_few_outputs_wait_to_be_taken(tmp_path, n_threads):
    make_onnx_folder(tmp_path)
    network = OnnxNetwork.open(OnnxFiles.find(tmp_path), n_threads=n_threads, token_budget=16)
    store = _store(network, random_texts(200, seed=4))
    plain, lock, too_many = network.runner.run, threading.Lock(), threading.Event()
    n_waiting, taken = 0, []

    def run(feed):
        nonlocal n_waiting
        with lock:
            n_waiting += 1
            if n_waiting > 2 * n_threads:
                too_many.set()
        return plain(feed)

    def take(places, _output):
        nonlocal n_waiting
        if not taken:
            too_many.wait(0.3)  # the others would run ahead now
        with lock:
            n_waiting -= 1
        taken.extend(places.tolist())

    network.runner.run = run
    network.run(store, np.arange(200), take)
    assert sorted(taken) == list(range(200))
    assert not too_many.is_set()


@pytest.mark.parametrize(("style", "first"), [("bert", 0), ("roberta", 2)])
def test_token_types_and_positions_are_given_where_they_are_wanted(tmp_path, style, first):
    inputs = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
    weights = make_onnx_folder(tmp_path, style=style, inputs=inputs)
    model = OnnxClassifier.load(tmp_path)
    texts = random_texts(30, seed=3)
    tokens = model.tokenizer.tokenise(texts)
    store = model.tokenizer.join([tokens, tokens], [np.arange(30)] * 2)
    expected = _expected(weights, store)
    for row in range(30):
        part = slice(store.offsets[row], store.offsets[row + 1])
        n = part.stop - part.start
        expected[row, 0] += 0.01 * (store.type_ids[part].sum() + (np.arange(n) + first).sum())
    logits = model.predict_logits(store, np.arange(30))
    np.testing.assert_allclose(logits, expected, rtol=1e-5, atol=1e-5)


def test_versions_are_run_once_for_each_distinct_input(tmp_path):
    weights = make_onnx_folder(tmp_path)
    model = OnnxClassifier.load(tmp_path)
    n = 500
    premise, hypothesis = random_texts(n, seed=4, longest=4), random_texts(n, seed=5, longest=4)
    original = pa.table({"premise": premise, "hypothesis": hypothesis})
    rephrased = [text.replace("boy", "kid") for text in premise]
    transformed = pa.table({"premise": rephrased, "hypothesis": hypothesis})
    started, done = [], []
    scores = score_table(
        model,
        pa.concat_tables([original, transformed]),
        ["premise", "hypothesis"],
        on_start=started.append,
        on_batch=done.append,
    )
    distinct = {*zip(premise, hypothesis, strict=True), *zip(rephrased, hypothesis, strict=True)}
    assert scores.n_inputs == started[0] == sum(done) == len(distinct) < 2 * n
    oracle = make_tokenizer()
    for table, got in (
        (original, scores.scores.logits[:n]),
        (transformed, scores.scores.logits[n:]),
    ):
        ids = [oracle.encode(row["premise"], row["hypothesis"]).ids for row in table.to_pylist()]
        expected = np.array([weights[row].sum(axis=0) for row in ids])
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    same = np.array(premise) == np.array(rephrased)
    before, after = scores.scores.logits[:n], scores.scores.logits[n:]
    assert (before[same] == after[same]).all()


def test_an_evaluation_is_in_the_datas_classes(tmp_path):
    order = ("contradiction", "entailment", "neutral")
    weights = make_onnx_folder(tmp_path, labels=order)
    model = OnnxClassifier.load(tmp_path)
    texts = random_texts(300, seed=6)
    logits = _expected(weights, _store(model, texts))
    truth = [order[i] for i in logits.argmax(axis=1)]
    corpus = corpus_from_table(
        pa.table({"text": texts, "label": truth}),
        text_columns=("text",),
        label_column="label",
        label_names=LABELS,
        source="made",
    )
    rephrased = corpus.table.set_column(
        0, "text", pa.array([text.replace("girl", "woman") for text in texts])
    )
    changed = np.array(["girl" in text for text in texts])
    other = Version(
        name="other",
        identity="other@0",
        table=rephrased,
        source_row=np.arange(300),
        labels=corpus.labels,
    )
    found = evaluate(model, corpus, other).predictions
    assert found.label_names == LABELS
    pairs = found.pairs("other")
    assert (pairs.original == pairs.gold).all()
    assert pairs.sample.counts.n == 300
    table = found.table.slice(0, 300).to_pydict()
    assert table["gold"] == table["predicted"] == truth
    assert found.table["changed"].to_pylist()[300:] == changed.tolist()
    p = np.array(table["probabilities"])
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
    assert [LABELS[i] for i in p.argmax(axis=1)] == truth


def _write_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def _truncate(folder):
    data = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(data[: len(data) // 2])


def _other_inputs(folder):
    write_onnx(
        folder / "model.onnx", np.zeros((99, 3)), inputs=("input_ids", "attention_mask", "pixels")
    )


def _hidden_states(folder):
    write_onnx(folder / "model.onnx", np.zeros((99, 3)), rank=3)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "tokenizer.json").unlink(), r"has no tokenizer.*--tokenizer"),
        (lambda folder: (folder / "model.onnx").unlink(), r"no \.onnx file"),
        (_truncate, r"cannot load this model \(is the file whole\?\)"),
        (lambda folder: (folder / "model.onnx").write_bytes(b""), r"cannot load this model"),
        (_other_inputs, r"wants an input 'pixels'; known are attention_mask"),
        (
            _hidden_states,
            r"no output has the shape \(texts, labels\); there are logits \[.*, .*, 3\]",
        ),
        (
            lambda folder: _write_config(folder, id2label={"0": "a", "1": "b"}),
            r"names 2 labels, but the model has 3 outputs",
        ),
        (lambda folder: _write_config(folder, id2label={"a": "b"}), r"keys are not numbers"),
        (
            lambda folder: _write_config(folder, id2label={"0": "a", "1": None, "2": "c"}),
            r"labels without a name",
        ),
        (lambda folder: _write_config(folder, pad_token_id=99), r"is 99.*36 tokens"),
        (lambda folder: _write_config(folder, pad_token_id=-1), r"pad_token_id is -1"),
        (lambda folder: _write_config(folder, id2label={"1": "a", "2": "b", "3": "c"}), r"numbers"),
        (lambda folder: (folder / "config.json").write_text("{"), r"config.json.*JSON"),
        (lambda folder: (folder / "config.json").write_text("[]"), r"JSON object"),
    ],
)
def test_broken_models_are_told_from_each_other(tmp_path, spoil, message):
    make_onnx_folder(tmp_path)
    spoil(tmp_path)
    with pytest.raises(InputError, match=message):
        OnnxClassifier.load(tmp_path)


def test_without_names_labels_have_numbers(tmp_path):
    make_onnx_folder(tmp_path)
    (tmp_path / "config.json").unlink()
    assert OnnxClassifier.load(tmp_path).labels == ("LABEL_0", "LABEL_1", "LABEL_2")


def test_parts_are_found_where_people_put_them(tmp_path):
    make_onnx_folder(tmp_path / "a")
    found = OnnxFiles.find(tmp_path / "a" / "model.onnx")
    assert found == OnnxFiles.find(tmp_path / "a")
    # As the hub has it: the model in a folder of its own.
    (tmp_path / "a" / "onnx").mkdir()
    (tmp_path / "a" / "model.onnx").rename(tmp_path / "a" / "onnx" / "model.onnx")
    found = OnnxFiles.find(tmp_path / "a")
    assert found.model.parent.name == "onnx"
    assert found.config == tmp_path / "a" / "config.json"
    assert OnnxFiles.find(found.model).tokenizer == tmp_path / "a" / "tokenizer.json"
    (tmp_path / "a" / "onnx" / "model.onnx").rename(tmp_path / "a" / "onnx" / "model_int8.onnx")
    assert OnnxFiles.find(tmp_path / "a").model.name == "model_int8.onnx"
    (tmp_path / "a" / "onnx" / "model_fp16.onnx").touch()
    with pytest.raises(InputError, match=r"several models: model_fp16.onnx, model_int8.onnx"):
        OnnxFiles.find(tmp_path / "a")
    alone = tmp_path / "alone.onnx"
    alone.touch()
    with pytest.raises(InputError, match="has no tokenizer"):
        OnnxFiles.find(alone)
    for tokenizer in (tmp_path / "a", tmp_path / "a" / "tokenizer.json"):
        found = OnnxFiles.find(alone, tokenizer=tokenizer)
        assert found.tokenizer == tmp_path / "a" / "tokenizer.json"
    with pytest.raises(InputError, match="no such file or folder"):
        OnnxFiles.find(tmp_path / "b")


@pytest.mark.parametrize(
    ("config", "tokenizer_config", "length"),
    [
        ({}, {}, 512),
        ({"max_position_embeddings": 128}, {"model_max_length": 10**30}, 128),
        ({"max_position_embeddings": 514, "model_type": "roberta", "pad_token_id": 1}, {}, 512),
        ({"max_position_embeddings": 512}, {"model_max_length": 64}, 64),
        ({"max_position_embeddings": -1}, {"model_max_length": 256}, 256),
    ],
)
def test_the_longest_input_is_what_both_can_do(config, tokenizer_config, length):
    assert find_max_length(config, tokenizer_config) == length


def test_long_texts_are_cut_and_the_limit_can_be_lowered_only(tmp_path):
    make_onnx_folder(tmp_path)
    model = OnnxClassifier.load(tmp_path)
    assert model.tokenizer.max_length == 64
    store = _store(model, ["boy " * 1000])
    assert store.lengths.tolist() == [64]
    assert model.predict_logits(store, np.array([0])).shape == (1, 3)
    assert OnnxClassifier.load(tmp_path, max_length=8).tokenizer.max_length == 8
    with pytest.raises(InputError, match="at most 64 tokens, not 100"):
        OnnxClassifier.load(tmp_path, max_length=100)


def test_providers_that_are_not_there_are_refused(tmp_path):
    make_onnx_folder(tmp_path)
    with pytest.raises(InputError, match="no MagicExecutionProvider; it has"):
        OnnxClassifier.load(tmp_path, providers=["MagicExecutionProvider"])


def test_tokens_that_the_model_does_not_know_are_told(tmp_path):
    """ONNX files gather without a look at the bounds, or fail with words of their own."""
    make_onnx_folder(tmp_path, config={"vocab_size": 99})  # the file knows better
    write_onnx(tmp_path / "model.onnx", np.zeros((10, 3)))
    tokenizer = OnnxClassifier.load(tmp_path).tokenizer
    assert len(tokenizer.tokenise(["a the boy"])) == 1
    with pytest.raises(InputError, match=r"tokenizer\.json.*token 29.*knows 10 tokens"):
        tokenizer.tokenise(["a red boy"])
    write_onnx(tmp_path / "model.onnx", np.zeros((3, 3)))
    with pytest.raises(InputError, match="makes token 3"):
        OnnxClassifier.load(tmp_path).tokenizer.template(2)


def test_scores_that_are_no_numbers_are_no_predictions(tmp_path):
    make_onnx_folder(tmp_path)
    weights = np.zeros((99, 3))
    weights[make_tokenizer().token_to_id("sofa")] = np.nan
    write_onnx(tmp_path / "model.onnx", weights)
    table = pa.table({"text": ["a boy runs", "the red sofa", "a girl", "sofa"]})
    with pytest.raises(InputError, match="scores of 2 of 4 inputs are no numbers"):
        score_table(OnnxClassifier.load(tmp_path), table, ["text"])


@pytest.mark.parametrize(
    "runtime", ["onnxruntime", pytest.param("openvino", marks=pytest.mark.train)]
)
def test_what_fails_inside_the_model_is_one_sentence(tmp_path, runtime):
    """Fewer positions than the settings say."""
    if runtime == "openvino":
        pytest.importorskip("openvino", reason="needs the openvino extra")
    from onnx import TensorProto, helper, numpy_helper, save

    make_onnx_folder(tmp_path)
    shape = ["batch", "sequence"]
    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["input_ids"], ["ids"], to=TensorProto.FLOAT),
            helper.make_node("Add", ["ids", "positions"], ["added"]),
            helper.make_node("MatMul", ["added", "weights"], ["logits"]),
        ],
        "tiny",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, shape)],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 3])],
        [
            numpy_helper.from_array(np.zeros((1, 5), np.float32), "positions"),
            numpy_helper.from_array(np.zeros((5, 3), np.float32), "weights"),
        ],
    )
    opset = [helper.make_opsetid("", 17)]
    save(helper.make_model(graph, opset_imports=opset, ir_version=9), tmp_path / "model.onnx")
    model = OnnxClassifier.load(tmp_path, runtime=runtime)
    store = _store(model, ["boy " * 20])
    with pytest.raises(InputError, match=r"failed on 1 inputs of up to 22 tokens.*--max-length"):
        model.predict_logits(store, np.array([0]))


def test_a_tokenizer_that_cannot_is_told(tmp_path):
    make_onnx_folder(tmp_path)
    path = tmp_path / "tokenizer.json"
    settings = json.loads(path.read_text())
    settings["model"]["unk_token"] = "nothing"
    path.write_text(json.dumps(settings))
    with pytest.raises(InputError, match=r"tokenizer\.json: cannot tokenise: .*Missing"):
        OnnxClassifier.load(tmp_path).tokenizer.tokenise(["xyz"])
