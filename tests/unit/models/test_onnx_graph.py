from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

from onnx import TensorProto, helper, numpy_helper, save

from ietest_fast.models.onnx_models.runners import NoOnnxError, check_onnx, count_known_tokens


def _write(path, *nodes):
    table = numpy_helper.from_array(np.zeros((7, 2), np.float32), "table")
    graph = helper.make_graph(
        [helper.make_node(kind, *ends, **more) for kind, *ends, more in nodes],
        "tiny",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n", "m"])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", "m", 2])],
        [table, numpy_helper.from_array(np.zeros((3, 2), np.float32), "types")],
    )
    save(helper.make_model(graph), path)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([("Gather", ["table", "ids"], ["out"], {})], 7),
        (
            [
                ("Cast", ["ids"], ["same"], {"to": TensorProto.INT32}),
                ("Cast", ["table"], ["half"], {"to": TensorProto.FLOAT16}),
                ("Gather", ["half", "same"], ["out"], {}),
            ],
            7,
        ),
        ([("EmbedLayerNormalization", ["ids", "", "table"], ["out"], {})], 7),
        (
            [
                ("Not", ["ids"], ["types_of"], {}),
                ("Gather", ["types", "types_of"], ["out"], {}),
            ],
            None,
        ),
    ],
)
def test_the_rows_that_ids_look_up_are_counted(tmp_path, nodes, expected):
    path = tmp_path / "model.onnx"
    _write(path, *nodes)
    assert count_known_tokens(path, "ids") == expected
    assert count_known_tokens(path, "others") is None


@pytest.mark.parametrize("n_bytes", [0, 1, 40, -1])
def test_a_model_that_is_cut_is_none(tmp_path, n_bytes):
    path = tmp_path / "model.onnx"
    _write(path, ("Gather", ["table", "ids"], ["out"], {}))
    check_onnx(path)
    path.write_bytes(path.read_bytes()[:n_bytes])
    with pytest.raises(NoOnnxError):
        check_onnx(path)
    assert count_known_tokens(path, "ids") is None
