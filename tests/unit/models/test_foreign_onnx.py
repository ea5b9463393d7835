"""ONNX models made elsewhere: other names, several outputs, fixed shapes, files that lie."""

import json

import numpy as np
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

from ietest_fast.errors import InputError
from ietest_fast.models.onnx_models.classifier import OnnxClassifier, find_external_data
from tiny_models import LABELS, make_onnx_folder, make_tokenizer, random_texts

RUNTIMES = ("onnxruntime", "openvino")


def _need(runtime):
    if runtime == "openvino":
        pytest.importorskip("openvino", reason="needs the openvino extra")


def _edit(path, change):
    """Load a model, let a function change its graph, and save it again."""
    import onnx

    model = onnx.load(str(path))
    change(model)
    onnx.save(model, str(path))


def _rename(names):
    def change(model):
        for value in (*model.graph.input, *model.graph.output):
            value.name = names.get(value.name, value.name)
        for node in model.graph.node:
            for field in (node.input, node.output):
                for place, name in enumerate(field):
                    field[place] = names.get(name, name)

    return change


def _fix(batch, width):
    def change(model):
        for value in model.graph.input:
            sizes = value.type.tensor_type.shape.dim
            for size, fixed in zip(sizes, (batch, width), strict=True):
                if fixed is not None:
                    size.dim_value = fixed

    return change


def _add_outputs(model):
    """Put the embeddings, the mean and a copy of the scores before the scores themselves."""
    from onnx import TensorProto, helper

    float_ = TensorProto.FLOAT
    model.graph.node.append(
        helper.make_node("ReduceMax", ["masked"], ["most"], keepdims=0, axes=[1, 2])
    )
    model.graph.node.append(helper.make_node("Identity", ["masked"], ["states"]))
    model.graph.node.append(helper.make_node("Concat", ["scores", "scores"], ["twice"], axis=1))
    scores = model.graph.output.pop()
    model.graph.output.extend(
        [
            helper.make_tensor_value_info("states", float_, ["batch", "sequence", 3]),
            helper.make_tensor_value_info("most", float_, ["batch"]),
            helper.make_tensor_value_info("twice", float_, ["batch", 6]),
            scores,
        ]
    )


def _logits(model, texts):
    store = model.tokenizer.join([model.tokenizer.tokenise(texts)], [np.arange(len(texts))])
    return model.predict_logits(store, np.arange(len(texts)))


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_inputs_and_outputs_of_other_names(tmp_path, runtime):
    _need(runtime)
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    make_onnx_folder(tmp_path, inputs=inputs)
    texts = random_texts(20, seed=1)
    plain = OnnxClassifier.load(tmp_path, runtime=runtime)
    expected = _logits(plain, texts)
    names = {"input_ids": "ids", "attention_mask": "att", "token_type_ids": "segments"}
    _edit(tmp_path / "model.onnx", _rename({**names, "logits": "scores"}))
    with pytest.raises(InputError, match=r"wants an input '\w+'; known are .*--onnx-inputs \w+="):
        OnnxClassifier.load(tmp_path, runtime=runtime)
    roles = {name: role for role, name in names.items()}
    model = OnnxClassifier.load(tmp_path, runtime=runtime, inputs=roles)
    np.testing.assert_array_equal(_logits(model, texts), expected)
    _edit(tmp_path / "model.onnx", _add_outputs)
    model = OnnxClassifier.load(tmp_path, runtime=runtime, inputs=roles)
    np.testing.assert_allclose(_logits(model, texts), expected, rtol=1e-6)
    with pytest.raises(InputError, match="id2label names 3 labels, but the model has 6 outputs"):
        OnnxClassifier.load(tmp_path, runtime=runtime, inputs=roles, output="twice")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": {"ids": "input_ids"}}, "has no input 'ids'; it has input_ids, attention_mask"),
        ({"inputs": {"input_ids": "ids"}}, "input_ids=ids: an input is one of attention_mask"),
        (
            {"inputs": {"attention_mask": "input_ids"}},
            "'input_ids' and 'attention_mask' are both input_ids",
        ),
        ({"inputs": {"input_ids": "position_ids"}}, "has no input 'input_ids'"),
        ({"output": "scores"}, r"there is no 'scores'; there are logits \[batch, 3\]"),
    ],
)
def test_mistakes_about_names_are_told(tmp_path, options, message):
    make_onnx_folder(tmp_path)
    with pytest.raises(InputError, match=message):
        OnnxClassifier.load(tmp_path, runtime="onnxruntime", **options)


def test_what_is_chosen_belongs_to_the_fingerprint(tmp_path):
    make_onnx_folder(tmp_path)
    plain = OnnxClassifier.load(tmp_path, runtime="onnxruntime")
    chosen = OnnxClassifier.load(tmp_path, runtime="onnxruntime", output="logits")
    assert plain.fingerprint != chosen.fingerprint


def test_of_several_outputs_that_fit_the_user_chooses(tmp_path):
    def change(model):
        from onnx import TensorProto, helper

        _rename({"logits": "scores"})(model)
        model.graph.node.append(helper.make_node("Neg", ["scores"], ["minus"]))
        value = helper.make_tensor_value_info("minus", TensorProto.FLOAT, ["batch", 3])
        model.graph.output.append(value)

    make_onnx_folder(tmp_path)
    _edit(tmp_path / "model.onnx", change)
    with pytest.raises(InputError, match=r"several outputs.*minus \[batch, 3\]; --onnx-output"):
        OnnxClassifier.load(tmp_path, runtime="onnxruntime")
    texts = random_texts(5, seed=2)
    found = [
        _logits(OnnxClassifier.load(tmp_path, runtime="onnxruntime", output=name), texts)
        for name in ("scores", "minus")
    ]
    np.testing.assert_array_equal(found[0], -found[1])


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("sizes", [(1, 64), (None, 64), (1, None)])
def test_fixed_shapes_are_refused_in_one_sentence(tmp_path, runtime, sizes):
    _need(runtime)
    make_onnx_folder(tmp_path)
    _edit(tmp_path / "model.onnx", _fix(*sizes))
    with pytest.raises(InputError, match=r"fixed shape \[.*\]; export the model with sizes that"):
        OnnxClassifier.load(tmp_path, runtime=runtime)


def _write(path, **changes):
    settings = json.loads(path.read_text())
    path.write_text(json.dumps(settings | changes))


def _deep(folder):
    (folder / "config.json").write_text('{"a":' * 100_000 + "1" + "}" * 100_000)


def _token(number):
    def change(folder):
        settings = json.loads((folder / "tokenizer.json").read_text())
        settings["model"]["vocab"]["boy"] = number
        (folder / "tokenizer.json").write_text(json.dumps(settings))

    return change


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_deep, "config.json: is not JSON: it is nested too deep"),
        (lambda folder: _write(folder / "config.json", pad_token_id=10**30), "integer of 100 bits"),
        (lambda folder: _write(folder / "config.json", pad_token_id=2**40), "of 41 bits"),
        (_token(2**32 - 1), "makes token 4294967295, and models take ids up to 2147483647"),
    ],
)
def test_hostile_files_are_refused_in_one_sentence(tmp_path, spoil, message):
    make_onnx_folder(tmp_path)
    spoil(tmp_path)
    with pytest.raises(InputError, match=message):
        _logits(OnnxClassifier.load(tmp_path, runtime="onnxruntime"), ["a boy"])


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("config.json", {"max_position_embeddings": 10**11}),
        ("config.json", {"max_position_embeddings": True}),
        ("config.json", {"model_type": ["bert"]}),
        ("config.json", {"model_type": {"a": 1}}),
        ("config.json", {"vocab_size": [1]}),
        ("tokenizer_config.json", {"pad_token_type_id": 10**30}),
        ("tokenizer_config.json", {"pad_token_type_id": -1}),
        ("tokenizer_config.json", {"model_max_length": [], "padding_side": []}),
        ("tokenizer_config.json", {"model_max_length": float("inf")}),
    ],
)
def test_settings_that_say_nothing_sensible_are_passed_over(tmp_path, name, changes):
    make_onnx_folder(tmp_path, config={"max_position_embeddings": None})
    texts = random_texts(5, seed=3)
    expected = _logits(OnnxClassifier.load(tmp_path, runtime="onnxruntime"), texts)
    _write(tmp_path / name, **changes)
    model = OnnxClassifier.load(tmp_path, runtime="onnxruntime")
    assert model.tokenizer.max_length == 512
    np.testing.assert_array_equal(_logits(model, texts), expected)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    ("kind", "shape"),
    [("twice", r"\(4, 3\) for 2 inputs"), ("one row", r"\(1, 3\) for 2 inputs")],
)
def test_outputs_with_another_number_of_rows_are_refused(tmp_path, runtime, kind, shape):
    """One row for a whole batch would be every text's answer."""
    _need(runtime)

    def change(model):
        from onnx import helper

        _rename({"logits": "scores"})(model)
        if kind == "twice":
            node = helper.make_node("Concat", ["scores", "scores"], ["logits"], axis=0)
        else:
            node = helper.make_node("ReduceMean", ["scores"], ["logits"], axes=[0], keepdims=1)
        model.graph.node.append(node)
        model.graph.output[0].name = "logits"
        model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "rows"

    make_onnx_folder(tmp_path)
    _edit(tmp_path / "model.onnx", change)
    model = OnnxClassifier.load(tmp_path, runtime=runtime)
    with pytest.raises(
        InputError, match=rf"array of shape {shape} and 3 labels; expected \(2, 3\)"
    ):
        _logits(model, ["a boy", "a girl"])


@pytest.mark.parametrize("place", ["weights.bin", "parts/weights.bin", "a/b/" + "c" * 150 + ".bin"])
def test_external_weights_belong_to_the_fingerprint_wherever_they_lie(tmp_path, place):
    import onnx
    from onnx.external_data_helper import convert_model_to_external_data

    make_onnx_folder(tmp_path)
    path = tmp_path / "model.onnx"
    model = onnx.load(str(path))
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    convert_model_to_external_data(model, location=place, size_threshold=100)
    onnx.save(model, str(path))
    (tmp_path / "notes.txt").write_text("no part of the model")
    assert find_external_data(path) == [tmp_path / place]
    texts = ["a boy runs"]
    before = OnnxClassifier.load(tmp_path, runtime="onnxruntime")
    first, fingerprint = _logits(before, texts), before.fingerprint
    values = np.fromfile(tmp_path / place, dtype=np.float32)
    (-values).tofile(tmp_path / place)
    after = OnnxClassifier.load(tmp_path, runtime="onnxruntime")
    assert (_logits(after, texts) != first).any()
    assert after.fingerprint != fingerprint
    assert after.labels == LABELS
    assert make_tokenizer().token_to_id("boy") is not None
