from __future__ import annotations

import ctypes
import gc
import importlib.util
import sys
import threading

import numpy as np
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

from ietest_fast.errors import InputError
from ietest_fast.models.onnx_models import runners
from ietest_fast.models.onnx_models.classifier import OnnxClassifier
from ietest_fast.models.onnx_models.runners import (
    OnnxRuntime,
    open_runner,
    openvino_has_bf16,
    suits_onnx_runtime,
)
from tiny_models import make_onnx_folder, random_texts


def _scores(folder, **options):
    model = OnnxClassifier.load(folder, **options)
    texts = [random_texts(300, seed=seed) for seed in (1, 2)]
    rows = np.arange(300)
    store = model.tokenizer.join([model.tokenizer.tokenise(each) for each in texts], [rows, rows])
    return model, model.predict_logits(store, rows)


@pytest.mark.parametrize("n_threads", [1, 2, 3, 7])
def test_scores_do_not_depend_on_threads_or_batches(tmp_path, n_threads):
    make_onnx_folder(tmp_path)
    _, alone = _scores(tmp_path, n_threads=1, token_budget=1, runtime="onnxruntime")
    _, together = _scores(tmp_path, n_threads=n_threads, token_budget=200, runtime="onnxruntime")
    assert together == pytest.approx(alone, abs=1e-5)


def test_every_thread_runs_batches_of_its_own(tmp_path, monkeypatch):
    make_onnx_folder(tmp_path)
    names = set()
    meeting = threading.Barrier(3)
    run = OnnxRuntime.run

    def noted(self, feed):
        if len(names) < 3:
            names.add(threading.current_thread().name)
            meeting.wait()
        return run(self, feed)

    monkeypatch.setattr(OnnxRuntime, "run", noted)
    _scores(tmp_path, n_threads=3, token_budget=100, runtime="onnxruntime")
    assert len(names) == 3


def test_bound_inputs_give_the_same_scores(tmp_path):
    """What is done for a GPU's sake, on the processor."""
    make_onnx_folder(tmp_path)
    model, expected = _scores(tmp_path, runtime="onnxruntime", token_budget=200)
    model._network.runner._binds = True
    texts = [random_texts(300, seed=seed) for seed in (1, 2)]
    rows = np.arange(300)
    store = model.tokenizer.join([model.tokenizer.tokenise(each) for each in texts], [rows, rows])
    assert (model.predict_logits(store, rows) == expected).all()


def test_what_goes_wrong_in_a_thread_comes_out(tmp_path, monkeypatch):
    make_onnx_folder(tmp_path)

    def fail(self, feed):
        raise MemoryError("no room")

    monkeypatch.setattr(OnnxRuntime, "run", fail)
    with pytest.raises(MemoryError, match="no room"):
        _scores(tmp_path, n_threads=2, runtime="onnxruntime")


def test_precisions_are_checked(tmp_path):
    make_onnx_folder(tmp_path)
    path = tmp_path / "model.onnx"
    with pytest.raises(InputError, match="one of fp32, bf16"):
        open_runner(path, precision="fp64")
    with pytest.raises(InputError, match="one of onnxruntime, openvino"):
        open_runner(path, runtime="tvm")
    with pytest.raises(InputError, match="bf16 is OpenVINO's"):
        open_runner(path, runtime="onnxruntime", precision="bf16")
    with pytest.raises(InputError, match="providers are ONNX Runtime's"):
        open_runner(tmp_path / "model.onnx", precision="bf16", providers=["CPUExecutionProvider"])


def test_a_provider_means_onnx_runtime(tmp_path):
    make_onnx_folder(tmp_path)
    runner = open_runner(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    assert runner.name.startswith("onnxruntime")


@pytest.mark.skipif(
    importlib.util.find_spec("openvino") is not None, reason="OpenVINO is installed here"
)
def test_without_openvino_bf16_is_refused_and_nothing_else(tmp_path):
    make_onnx_folder(tmp_path)
    with pytest.raises(InputError, match=r"pip install 'ietest-fast\[openvino\]'"):
        open_runner(tmp_path / "model.onnx", precision="bf16")
    assert open_runner(tmp_path / "model.onnx").name.startswith("onnxruntime")


@pytest.mark.train
def test_openvino_gives_the_same_scores(tmp_path):
    pytest.importorskip("openvino", reason="needs the openvino extra")
    # Sums of weights, without a product of matrices: nothing is rounded to bf16 here.
    make_onnx_folder(tmp_path, style="roberta")
    reference, expected = _scores(tmp_path, runtime="onnxruntime")
    assert reference.backend.startswith("onnxruntime")
    if openvino_has_bf16():
        ours, scores = _scores(tmp_path, precision="bf16", n_threads=2)
        assert ours.backend.startswith("openvino")
        assert ours.backend.endswith("(CPU, bf16)")
        assert scores == pytest.approx(expected, abs=0.05)
    else:
        with pytest.raises(InputError, match="only on processors with AVX-512"):
            _scores(tmp_path, precision="bf16")
    # Installed, it is what runs a file in its own precision.
    chosen, own = _scores(tmp_path, n_threads=2)
    assert chosen.backend.endswith("(CPU, fp32)")
    assert own == pytest.approx(expected, abs=1e-5)


@pytest.mark.train
@pytest.mark.parametrize(
    "content", [b"hello: 1" * 1000, b"node { name: 'x' }", b"\x08\x09", b"\x3a\x7f", b""]
)
def test_of_what_is_no_model_openvino_says_one_line(tmp_path, capfd, content):
    pytest.importorskip("openvino", reason="needs the openvino extra")
    (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(InputError, match="cannot load this model"):
        open_runner(tmp_path / "model.onnx", runtime="openvino")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("operators", "expected"),
    [
        (["DynamicQuantizeLinear"], True),
        (["DynamicQuantizeMatMul"], True),
        (["QuantizeLinear", "MatMulInteger"], True),
        (["QuantizeLinear", "QLinearMatMul", "DequantizeLinear"], True),
        (["QuantizeLinear", "QAttention"], True),
        (["QuantizeLinear", "DequantizeLinear", "MatMul"], False),
        (["MatMul"], False),
    ],
)
def test_models_that_suit_onnx_runtime_are_known_by_their_operators(tmp_path, operators, expected):
    import onnx
    from onnx import TensorProto, helper

    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    nodes = [helper.make_node(name, ["x"], [f"y{i}"]) for i, name in enumerate(operators)]
    graph = helper.make_graph(nodes, "tiny", [value], [value])
    onnx.save(helper.make_model(graph), tmp_path / "model.onnx")
    assert suits_onnx_runtime(tmp_path / "model.onnx") == expected
    (tmp_path / "empty.onnx").write_bytes(b"")
    assert not suits_onnx_runtime(tmp_path / "empty.onnx")


def _pretend_to_have_cuda(monkeypatch):
    """ONNX Runtime drops a provider that it cannot load, and goes on with the processor."""
    import onnxruntime

    there = ["CUDAExecutionProvider", *onnxruntime.get_available_providers()]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: there)
    monkeypatch.setattr(runners, "_count_gpus", lambda: 1)


def test_a_provider_that_cannot_be_loaded_is_not_replaced_in_silence(tmp_path, monkeypatch):
    make_onnx_folder(tmp_path)
    path = tmp_path / "model.onnx"
    _pretend_to_have_cuda(monkeypatch)
    with (
        pytest.warns(UserWarning, match="not in available provider names"),  # its own
        pytest.raises(InputError, match="CUDAExecutionProvider could not be loaded"),
    ):
        OnnxRuntime(path, providers=["CUDAExecutionProvider"])
    # Not asked for: the processor will do, but that is said.
    with (
        pytest.warns(UserWarning, match="not in available provider names"),
        pytest.warns(RuntimeWarning, match="could not be loaded .*; CPUExecutionProvider is used"),
    ):
        assert "CPUExecutionProvider" in OnnxRuntime(path).name


def test_a_gpu_is_not_passed_over_for_bf16(tmp_path, monkeypatch):
    make_onnx_folder(tmp_path)
    _pretend_to_have_cuda(monkeypatch)
    with pytest.raises(InputError, match="--precision fp16"):
        open_runner(tmp_path / "model.onnx", precision="bf16")


def test_a_build_for_gpus_that_is_hidden_by_another_is_told(tmp_path, monkeypatch):
    make_onnx_folder(tmp_path)
    monkeypatch.setattr(runners, "_is_installed", lambda name: True)
    with pytest.warns(RuntimeWarning, match="the GPU is not used: .* share a folder"):
        OnnxRuntime(tmp_path / "model.onnx")
    with pytest.raises(InputError, match="share a folder"):
        OnnxRuntime(tmp_path / "model.onnx", providers=["CUDAExecutionProvider"])


class _SignalStack(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


def _signal_stack():
    found = _SignalStack()
    assert ctypes.CDLL(None).sigaltstack(None, ctypes.byref(found)) == 0
    return found.start


@pytest.mark.train
@pytest.mark.skipif(sys.platform != "linux", reason="asks the system's C library")
def test_the_stack_for_signals_stays_when_a_model_goes(tmp_path):
    """With its core OpenVINO sets it back to one that may be gone, and Ctrl-C is a crash."""
    pytest.importorskip("openvino", reason="needs the openvino extra")
    make_onnx_folder(tmp_path)
    model, _ = _scores(tmp_path, runtime="openvino", n_threads=2)
    before = _signal_stack()
    del model
    gc.collect()
    assert _signal_stack() == before
