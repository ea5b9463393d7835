from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("transformers", reason="needs the train extra")

from ietest_fast.errors import InputError
from ietest_fast.models.protocol import SplitTexts
from ietest_fast.models.training import order_batches
from ietest_fast.models.transformer import Transformer
from interrupted import MARKER, RUN
from tiny_models import make_bert, random_texts

pytestmark = pytest.mark.train

PARAMS = {
    "epochs": 2,
    "max_length": 20,
    "learning_rate": 5e-3,
    "weight_decay": 0.01,
    "adam_epsilon": 1e-8,
    "max_grad_norm": 1.0,
}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    make_bert(folder)
    return folder


@pytest.fixture(scope="module")
def split(checkpoint):
    n = 240
    premise, hypothesis = random_texts(n, seed=1), random_texts(n, seed=2)
    labels = np.array([("boy" in text) + ("dog" in text) for text in hypothesis], np.int8)
    table = pa.table({"premise": premise, "hypothesis": hypothesis})
    texts = SplitTexts(versions={"original": table, "transformed": table}, labels=labels)
    model = Transformer(checkpoint=str(checkpoint))
    return model.encode({"train": texts}, ("premise", "hypothesis"))["train"]


def _fit(checkpoint, split, *, seed=1, options=None, **more):
    model = Transformer(checkpoint=str(checkpoint), token_budget=300, **(options or {}))
    fitted = model.fit(split.resample(), None, params=PARAMS, n_classes=3, seed=seed, **more)
    return fitted.predict_logits(split.store, split.original)


def test_batches_of_an_epoch_hold_every_row_once_in_another_order_each_time():
    lengths = np.random.default_rng(0).integers(3, 40, 5_000)
    orders = []
    for seed in (0, 0, 1):
        batches = order_batches(lengths, token_budget=200, rng=np.random.default_rng(seed))
        assert sorted(np.concatenate(batches).tolist()) == list(range(5_000))
        assert all(len(rows) * lengths[rows].max() <= 200 for rows in batches)
        orders.append([rows.tolist() for rows in batches])
    assert orders[0] == orders[1] != orders[2]
    # Little is padding.
    used = sum(lengths[rows].sum() for rows in batches)
    assert used / sum(len(rows) * lengths[rows].max() for rows in batches) > 0.9


def test_the_same_seed_gives_the_same_classifier_and_another_another(checkpoint, split):
    first = _fit(checkpoint, split)
    assert (first == _fit(checkpoint, split)).all()
    assert (first != _fit(checkpoint, split, seed=2)).any()


def test_something_is_learnt(checkpoint, split):
    model = Transformer(checkpoint=str(checkpoint), token_budget=300)
    params = PARAMS | {"epochs": 12}
    fitted = model.fit(split.resample(), None, params=params, n_classes=3, seed=1)
    right = np.mean(fitted.predict(split.store, split.original) == split.labels)
    assert right > np.bincount(split.labels).max() / len(split) + 0.1


class _KilledError(Exception):
    pass


class _Kept:
    """An unfinished training in memory."""

    name = "unfinished.pt"

    def __init__(self, data=None):
        self.data = data

    def read(self):
        return self.data

    def write(self, data):
        self.data = data


@pytest.mark.parametrize(("stop_after", "lora_rank"), [(1, 0), (9, 0), (17, 0), (9, 4)])
def test_a_killed_training_goes_on_to_the_same_end(
    checkpoint, split, monkeypatch, stop_after, lora_rank
):
    from ietest_fast.models import training as module

    whole = _fit(checkpoint, split, options={"lora_rank": lora_rank})
    steps = []
    take = module.Training._step

    def step(self, *args, **kwargs):
        if len(steps) == stop_after:
            raise _KilledError
        steps.append(None)
        take(self, *args, **kwargs)

    kept = _Kept()
    options = {"checkpoint_minutes": 0.0, "lora_rank": lora_rank}
    with monkeypatch.context() as patched:
        patched.setattr(module.Training, "_step", step)
        with pytest.raises(_KilledError):
            _fit(checkpoint, split, unfinished=kept, options=options)
    assert kept.data is not None
    counted = []
    monkeypatch.setattr(
        module.Training, "_step", lambda self, *a, **k: (counted.append(1), take(self, *a, **k))
    )
    assert (_fit(checkpoint, split, unfinished=kept, options=options) == whole).all()
    # It did not begin anew.
    total = len(counted) + stop_after
    # Killed behind the training, before its result is safe, it has nothing left to do.
    counted.clear()
    assert (_fit(checkpoint, split, unfinished=kept, options=options) == whole).all()
    assert counted == []
    _fit(checkpoint, split, options={"lora_rank": lora_rank})
    assert len(counted) == total


def test_a_damaged_unfinished_training_is_named(checkpoint, split):
    with pytest.raises(InputError, match=r"unfinished\.pt.*delete this file"):
        _fit(checkpoint, split, unfinished=_Kept(b"no training"))


def test_checkpoints_that_cannot_be_had_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    texts = pa.table({"text": ["a boy"]})
    split = SplitTexts(
        versions={"original": texts, "transformed": texts}, labels=np.zeros(1, np.int8)
    )
    with pytest.raises(InputError, match="there is no such folder"):
        Transformer(checkpoint=str(tmp_path / "none")).encode({"train": split}, ("text",))
    with pytest.raises(InputError, match=r"could not be had from the hub.*name its folder"):
        Transformer(checkpoint="nobody/nothing").encode({"train": split}, ("text",))
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="has no tokenizer"):
        Transformer(checkpoint=str(tmp_path)).encode({"train": split}, ("text",))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs a checkpoint"),
        ({"checkpoint": "x", "precision": "fp8"}, "precision must be"),
        ({"checkpoint": "x", "token_budget": 0}, "token_budget"),
        ({"checkpoint": "x", "warmup": 1.0}, "warmup"),
        ({"checkpoint": "x", "lora_rank": -1}, "lora_rank"),
        ({"checkpoint": "x", "lora_rank": 4, "lora_dropout": 1}, "lora_dropout"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        Transformer(**options)


def test_a_run_keeps_its_classifiers_and_is_the_same_twice(checkpoint, tmp_path):
    from ietest_fast.cli.main import main

    results = []
    for name in ("a", "b"):
        arguments = ["run", "--demo", "--demo-sizes", "90,30,40", "--rho", "0,1", "-M", "2"]
        arguments += ["--model", "transformer", "--model-option", f"checkpoint={checkpoint}"]
        for key, value in PARAMS.items():
            arguments += ["--param", f"{key}={value}"]
        with pytest.raises(SystemExit) as stop:
            main([*arguments, "--keep-models", "--out", str(tmp_path / name)])
        assert not stop.value.code
        results.append((tmp_path / name / "results.json").read_bytes())
        assert not list((tmp_path / name / "unfinished").glob("*"))
        # All splits choose among the same texts.
        texts = (tmp_path / name / "encoded").glob("*/*/store.text_values.npy")
        assert len({path.stat().st_ino for path in texts}) == 1
    assert results[0] == results[1]
    from ietest_fast.models.checkpoint import load_classifier, read_max_length

    kept = sorted(path.name for path in (tmp_path / "a" / "models").iterdir())
    assert kept == ["rho-0-m-0", "rho-0-m-1", "rho-1-m-0", "rho-1-m-1"]
    first, second = (load_classifier(tmp_path / "a" / "models" / name) for name in kept[:2])
    assert first.config.id2label == {0: "entailment", 1: "neutral", 2: "contradiction"}
    # Whatever runs it cuts texts where the run did.
    assert read_max_length(tmp_path / "a" / "models" / kept[0]) == PARAMS["max_length"]
    # Another m is another classifier.
    pairs = zip(first.parameters(), second.parameters(), strict=True)
    assert any((one != other).any() for one, other in pairs)


@pytest.mark.parametrize("options", [{}, {"lora_rank": 4}])
def test_kept_classifiers_answer_further_test_sets_as_if_they_had_been_asked_before(
    checkpoint, tmp_path, options
):
    from ietest_fast.experiment import check_config
    from ietest_fast.experiment.run import run

    if options:
        pytest.importorskip("peft", reason="needs the train extra")

    def go(name, **more):
        model = {"name": "transformer", "params": PARAMS}
        model["options"] = {"checkpoint": str(checkpoint), **options}
        sizes = {"n_train": 60, "n_valid": 30, "n_test": 40}
        values = {"data": {"demo": sizes}, "model": model, "phi": "negation", "rho": [0, 1]}
        values |= {"n_classifiers": 1, "n_jobs": 1, **more}
        return run(check_config(values), tmp_path / name)

    further = ["word-overlap", "spelling"]
    whole = go("whole", eval_phi=further)
    go("late", keep_models=True)
    late = go("late", eval_phi=further)
    assert late.conditions == whole.conditions
    assert late.evaluations == whole.evaluations
    assert {own.n for each in late.evaluations for own in each.rhos} == {40}


def test_keeping_the_classifiers_of_a_finished_run_is_refused(checkpoint, tmp_path, capsys):
    from ietest_fast.cli.main import main

    arguments = ["run", "--demo", "--demo-sizes", "60,30,30", "--rho", "0", "-M", "1"]
    arguments += ["--model", "transformer", "--model-option", f"checkpoint={checkpoint}"]
    for key, value in (PARAMS | {"epochs": 1}).items():
        arguments += ["--param", f"{key}={value}"]
    arguments += ["--out", str(tmp_path / "run")]
    for more, status in (([], 0), (["--keep-models"], 1)):
        with pytest.raises(SystemExit) as stop:
            main([*arguments, *more])
        assert (stop.value.code or 0) == status
    assert "finished without its classifier being kept" in capsys.readouterr().err


def test_adapters_share_one_frozen_encoder_and_do_not_disturb_each_other(
    checkpoint, split, tmp_path
):
    peft = pytest.importorskip("peft", reason="needs the train extra")
    from ietest_fast.models.checkpoint import load_classifier, read_padding, run_model

    model = Transformer(checkpoint=str(checkpoint), token_budget=300, lora_rank=4, precision="fp32")

    def fit(seed):
        return model.fit(split.resample(), None, params=PARAMS, n_classes=3, seed=seed)

    first = fit(1)
    (shared,) = model._shared.values()
    before = {
        name: weight.clone()
        for name, weight in shared.model.named_parameters()
        if "lora_" not in name and "modules_to_save" not in name
    }
    of_first = first.predict_logits(split.store, split.original)
    second = fit(2)
    of_second = second.predict_logits(split.store, split.original)
    assert (of_first != of_second).any()
    assert (first.predict_logits(split.store, split.original) == of_first).all()
    assert (second.predict_logits(split.store, split.original) == of_second).all()
    assert (fit(1).predict_logits(split.store, split.original) == of_first).all()
    # Another process, whose encoder has no adapters yet, comes to the same.
    fresh = Transformer(checkpoint=str(checkpoint), token_budget=300, lora_rank=4, precision="fp32")
    again = fresh.fit(split.resample(), None, params=PARAMS, n_classes=3, seed=2)
    assert (again.predict_logits(split.store, split.original) == of_second).all()
    weights = dict(shared.model.named_parameters())
    assert all((weights[name] == weight).all() for name, weight in before.items())
    # Saved, it is a checkpoint like others: nothing of the adapter is left to be seen.
    first.save(tmp_path, label_names=("a", "b", "c"))
    plain = load_classifier(tmp_path)
    assert not any("lora" in name for name, _ in plain.named_parameters())
    assert not isinstance(plain, peft.PeftModel)
    tokens = split.store.tokens(np.unique(split.original), max_length=PARAMS["max_length"])
    padding = read_padding(tmp_path)
    merged = run_model(plain, tokens, padding, device="cpu", use_bf16=False)
    _, place = np.unique(split.original, return_inverse=True)
    assert merged[place] == pytest.approx(of_first, abs=1e-5)
    # What nobody holds any more is forgotten.
    names = set(shared.model.peft_config)
    del first
    assert set(shared.model.peft_config) < names


def test_adapters_learn(checkpoint, split):
    pytest.importorskip("peft", reason="needs the train extra")
    model = Transformer(checkpoint=str(checkpoint), token_budget=300, lora_rank=8, lora_dropout=0)
    params = PARAMS | {"epochs": 60, "learning_rate": 5e-3}
    fitted = model.fit(split.resample(), None, params=params, n_classes=3, seed=1)
    right = np.mean(fitted.predict(split.store, split.original) == split.labels)
    assert right > np.bincount(split.labels).max() / len(split) + 0.1


def test_every_text_is_tokenised_once_whatever_is_trained_on_it(checkpoint, tmp_path, monkeypatch):
    """A resample is a choice of rows: three rho, two m and a test set cost no tokenizer calls."""
    from ietest_fast.experiment import check_config
    from ietest_fast.experiment.run import run
    from ietest_fast.models.tokens import TextTokenizer
    from toys import Swap, toy_splits

    tokenised = []
    tokenise = TextTokenizer.tokenise

    def counted(self, texts):
        tokenised.extend(texts)
        return tokenise(self, texts)

    monkeypatch.setattr(TextTokenizer, "tokenise", counted)
    model = {
        "name": "transformer",
        "options": {"checkpoint": str(checkpoint)},
        "params": {**PARAMS, "epochs": 1},
    }
    config = {"data": {"demo": True}, "model": model, "rho": [0, 0.5, 1], "n_classifiers": 2}
    splits, swap = toy_splits(60, 20, 40), Swap()
    run(check_config({**config, "n_jobs": 1}), tmp_path, splits=splits, transformation=swap)
    columns = splits.train.text_columns
    distinct = set()
    for corpus in (splits.train, splits.valid, splits.test):
        for table in (corpus.table, swap.transform(corpus.table, columns).table):
            distinct.update(text for name in columns for text in table[name].to_pylist())
    assert len(tokenised) == len(set(tokenised))
    assert set(tokenised) == distinct


def test_no_more_trainings_are_begun_than_fit_into_memory(checkpoint, monkeypatch):
    from ietest_fast.models import transformer

    model = Transformer(checkpoint=str(checkpoint))
    monkeypatch.setattr(transformer, "choose_device", lambda: "cpu")
    for gigabytes, most in ((1, 1), (9, 2), (100, 32)):
        monkeypatch.setattr(transformer, "available_memory", lambda n=gigabytes: n * 10**9)
        assert model.capabilities.max_jobs() == most
    monkeypatch.setattr(transformer, "available_memory", lambda: None)
    assert model.capabilities.max_jobs() == 1


def _run_arguments(checkpoint, *, model="transformer", checkpoint_minutes, **params):
    arguments = [
        *("run", "--demo", "--demo-sizes", "200,20,40"),
        *("--rho", "0,1", "-M", "1", "--model", model),
        *("--model-option", f"checkpoint={checkpoint}", "--model-option", "token_budget=200"),
        *("--model-option", f"checkpoint_minutes={checkpoint_minutes}"),
    ]
    for key, value in (PARAMS | params).items():
        arguments += ["--param", f"{key}={value}"]
    return arguments


def _run_whole(arguments, out, *, n_jobs=1):
    """Run, or take up a run, without being disturbed; in this process, which has torch already."""
    from ietest_fast.cli.main import main

    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--n-jobs", str(n_jobs), "--out", str(out)])
    assert ended.value.code == 0
    return (out / "results.json").read_bytes()


PROGRAM = "from ietest_fast.cli.main import main; main()"


def _start(arguments, out, *, n_jobs, program=PROGRAM, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments, "--n-jobs", str(n_jobs), "--out", out],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_inside_a_cell_keeps_what_has_been_trained(checkpoint, tmp_path):
    """Nothing is saved by the clock here: only the interruption itself can have done it."""
    model = "interrupted:InterruptedTransformer"
    arguments = _run_arguments(checkpoint, model=model, checkpoint_minutes=1000)
    program = f"import os; os.environ['{RUN}'] = str(os.getpid())\n{PROGRAM}"
    whole = _run_whole(arguments, tmp_path / "whole")
    for n_jobs in (1, 2):
        out = tmp_path / f"interrupted{n_jobs}"
        marker = str(tmp_path / f"marker{n_jobs}")
        process = _start(arguments, out, n_jobs=n_jobs, program=program, **{MARKER: marker})
        _, errors = process.communicate()
        assert process.returncode == 130
        assert "Interrupted" in errors
        assert list((out / "unfinished").glob("*.pt"))
        assert _run_whole(arguments, out, n_jobs=n_jobs) == whole
        assert not list((out / "unfinished").iterdir())


def test_a_run_that_is_killed_inside_a_cell_goes_on_from_its_last_checkpoint(checkpoint, tmp_path):
    """kill -9 at several places of the trainings; the end is that of an undisturbed run."""
    arguments = _run_arguments(checkpoint, checkpoint_minutes=0)
    whole = _run_whole(arguments, tmp_path / "whole")
    out = tmp_path / "killed"
    interrupted = []
    for steps in (3, 20):
        process = _start(arguments, out, n_jobs=1)
        written: dict[str, set[float]] = {}
        while process.poll() is None:
            for path in (out / "unfinished").glob("*.pt"):
                with contextlib.suppress(FileNotFoundError):
                    written.setdefault(path.name, set()).add(path.stat().st_mtime)
            if any(len(times) >= steps for times in written.values()):
                process.kill()
                break
            time.sleep(0.002)
        process.communicate()
        interrupted += [path.name for path in (out / "unfinished").glob("*.pt")]
    assert interrupted, "no run was killed inside a cell"
    assert _run_whole(arguments, out) == whole
    assert not list((out / "unfinished").iterdir())


def _spoil(folder, target, change):
    """Copy a checkpoint and change its weights or settings."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, target)
    weights = load_file(target / "model.safetensors")
    config = json.loads((target / "config.json").read_text())
    change(weights, config)
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    (target / "config.json").write_text(json.dumps(config))
    return target


def _rename(weights, config):
    for name in list(weights):
        weights[f"other.{name}"] = weights.pop(name)


def _enlarge(weights, config):
    config["vocab_size"] += 5


@pytest.mark.parametrize("change", [_rename, _enlarge])
def test_an_encoder_that_is_not_whole_is_refused(checkpoint, split, tmp_path, change):
    spoilt = _spoil(checkpoint, tmp_path / "spoilt", change)
    with pytest.raises(InputError, match="lacks weights of its encoder"):
        _fit(spoilt, split)


def test_a_head_that_is_there_is_drawn_anew_and_its_kind_of_task_forgotten(
    checkpoint, split, tmp_path
):
    model = Transformer(checkpoint=str(checkpoint), token_budget=300)
    trained = model.fit(split.resample(), None, params=PARAMS, n_classes=3, seed=1)
    trained.save(tmp_path / "made", label_names=("a", "b", "c"))

    def regress(weights, config):
        config["problem_type"] = "regression"
        weights["classifier.bias"] += 100.0

    spoilt = _spoil(tmp_path / "made", tmp_path / "spoilt", regress)
    for rank in (0, 4):
        scores = _fit(spoilt, split, options={"lora_rank": rank})
        assert np.abs(scores).max() < 50


def test_texts_that_do_not_fit_at_all_are_refused(checkpoint, split):
    model = Transformer(checkpoint=str(checkpoint))
    params = {**PARAMS, "max_length": 4}
    with pytest.raises(InputError, match="no text fits into 4 tokens, 3 of which are special"):
        model.fit(split.resample(), None, params=params, n_classes=3, seed=0)


def test_a_run_keeps_to_its_number_of_threads(checkpoint, tmp_path):
    """Sums in another order are another result: cells of both kinds are not mixed."""
    from ietest_fast.errors import StoreError
    from ietest_fast.experiment import check_config
    from ietest_fast.experiment.run import run
    from toys import Swap, toy_splits

    model = {
        "name": "transformer",
        "options": {"checkpoint": str(checkpoint)},
        "params": {**PARAMS, "epochs": 1},
    }
    config = {"data": {"demo": True}, "model": model, "rho": [0], "n_classifiers": 1, "n_jobs": 1}
    data = {"splits": toy_splits(40, 10, 30), "transformation": Swap()}
    run(check_config(config), tmp_path, **data)
    with pytest.raises(StoreError, match=r"these differ: models\.transformer\.n_threads"):
        run(check_config({**config, "n_threads": 2}), tmp_path, **data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_hidden_layers": 3}, "it has no weights for"),
        ({"num_hidden_layers": 100_000}, "far larger than the 41 tensors that the weights hold"),
        ({"num_hidden_layers": 10**9}, r"num_hidden_layers is 1e\+09, and no model has more"),
        ({"num_labels": 10**9, "id2label": None}, r"num_labels is 1e\+09, and no model has more"),
        ({"vocab_size": 2 * 10**9}, r"far larger than .*of the shape \(2000000000, 16\)"),
        ({"intermediate_size": 10**9}, r"far larger than .*of the shape \(1000000000, 16\)"),
        ({"max_position_embeddings": 10**10}, r"far larger than .*of the shape \(10000000000, 16"),
        ({"hidden_size": 2 * 10**6}, "far larger than"),
        ({"num_hidden_layers": 1}, r"they hold bert\.encoder\.layer\.1\..* no such layer"),
        ({"num_hidden_layers": -1}, r"they hold bert\.encoder\.layer\.0\..* no such layer"),
    ],
)
def test_settings_of_another_size_than_the_weights_are_refused_before_memory_is_taken(
    tmp_path, change, message
):
    from ietest_fast.models.checkpoint import load_classifier

    make_bert(tmp_path, labels=("no", "yes"))
    settings = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(settings | change))
    with pytest.raises(InputError, match=message):
        load_classifier(tmp_path)
