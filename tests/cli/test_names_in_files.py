"""What a file names is data: nothing is imported, called or fetched because of it."""

from __future__ import annotations

import json
import pickle
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from command_line import run_here
from ietest_fast.corpus import demo_splits
from ietest_fast.errors import ConfigError, InputError, ResourceError
from ietest_fast.experiment.config import read_config
from ietest_fast.models import as_classifier, load_model
from ietest_fast.registry import FileNames, reading_names
from ietest_fast.transform import parse_phi

TRAP = """
from pathlib import Path
Path(__file__).with_name("sprung").mkdir(exist_ok=True)
class Model: pass
KIND = object()
def fly(*_, **__): Path(__file__).with_name("called").mkdir(exist_ok=True)
"""


class Spring:
    """Pickled, it calls the trap."""

    def __reduce__(self) -> Any:
        return (exec, ("import booby; booby.fly()",))


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of data, a module on the path that must not be imported, and no way out."""
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / "booby.py").write_text(TRAP)
    room = tmp_path / "room"
    room.mkdir()
    splits = demo_splits(n_train=30, n_valid=30, n_test=40, seed=1)
    for name in ("train", "valid", "test"):
        pa_csv.write_csv(getattr(splits, name).table, room / f"{name}.csv")
    monkeypatch.syspath_prepend(trap)

    def refuse(*_: Any, **__: Any) -> Any:
        pytest.fail("a process or a connection was begun")

    monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    yield room
    sys.modules.pop("booby", None)


def is_sprung(room: Path) -> bool:
    trap = room.parent / "trap"
    return "booby" in sys.modules or (trap / "sprung").exists() or (trap / "called").exists()


DATA = '[data]\ntrain = "train.csv"\nvalid = "valid.csv"\ntest = "test.csv"\n'
CONFIGS = {
    "a model": f'{DATA}[model]\nname = "booby:Model"\n',
    "a model in short": f'model = "booby:Model"\n{DATA}',
    "one of several models": f'model = ["bow-xgb", "booby:Model"]\n{DATA}',
    "tables of models": f'{DATA}[[model]]\nname = "bow-rf"\n[[model]]\nname = "booby:Model"\n',
    "phi": f'phi = "booby:KIND"\n{DATA}',
    "a part of phi": f'phi = "identity+booby:KIND:x=1"\n{DATA}',
    "phi in a list": f'phi = ["identity", {{name = "booby:KIND"}}]\n{DATA}',
    "a transformation": f'{DATA}[transformation]\nname = "booby:KIND"\n',
    "a further test set": f'eval_phi = ["identity", "booby:KIND:a=1"]\n{DATA}',
    "the standard library": f'{DATA}[model]\nname = "antigravity:fly"\n',
    "a module that makes folders": f'{DATA}[model]\nname = "venv.__main__:x"\n',
}


@pytest.mark.parametrize("text", CONFIGS.values(), ids=CONFIGS.keys())
def test_a_configuration_imports_nothing(text: str, room: Path) -> None:
    (room / "run.toml").write_text(text)
    before = set(sys.modules)
    status, out, err = run_here("run", "run.toml", "--rho", "0", folder=room)
    assert (status, out) == (1, "")
    assert "--allow-code" in err
    assert "run.toml" in err
    assert not is_sprung(room)
    assert not {"antigravity", "webbrowser", "venv"} & (set(sys.modules) - before)
    assert sorted(path.name for path in room.iterdir()) == [
        "run.toml",
        "test.csv",
        "train.csv",
        "valid.csv",
    ]


@pytest.mark.parametrize(
    "phi",
    [
        "syn.careful:tagger=booby",
        "voice:parser=booby",
        "syn.careful:wordnet=booby",
        "syn.careful:sense_check=weights",
        "antonym:tagger=booby",
    ],
)
def test_options_of_a_transformation_import_nothing(phi: str, room: Path) -> None:
    (room / "weights").mkdir()
    (room / "weights" / "config.json").write_text('{"auto_map": {"AutoModel": "booby.Model"}}')
    (room / "weights" / "pytorch_model.bin").write_bytes(pickle.dumps(Spring()))
    (room / "run.toml").write_text(f'phi = "{phi}"\nrho = 0\n{DATA}')
    status, out, err = run_here("run", "run.toml", folder=room)
    assert (status, out) == (1, ""), err
    assert "Traceback" not in err
    assert not is_sprung(room)


SUITES = [
    '[tests]\nx = "booby:KIND"\n',
    '[tests]\na = "negation"\nx = "negation+booby:KIND:times=2"\n',
    '[tests]\nx = {name = "booby:KIND"}\n',
    '[tests]\nx = "antigravity:fly"\n',
]


@pytest.mark.parametrize("text", SUITES)
def test_a_suite_imports_nothing(text: str, room: Path) -> None:
    (room / "suite.toml").write_text(text)
    (room / "model").mkdir()
    status, _, err = run_here(
        "stress", "--test", "test.csv", "--onnx", "model", "--suite", "suite.toml", folder=room
    )
    assert status == 1
    assert "--allow-code" in err
    assert not is_sprung(room)
    assert "antigravity" not in sys.modules


def test_what_a_person_types_may_be_code(room: Path) -> None:
    (room / "run.toml").write_text(f'{DATA}[model]\nname = "booby:Model"\n')
    # The trap is no model: it is imported to find that out.
    status, _, err = run_here("run", "run.toml", "--model", "booby:Model", folder=room)
    assert status in {1, 2}
    assert "no class of models" in err
    assert is_sprung(room)


@pytest.mark.parametrize("way", ["--allow-code", "python", "a name", "phi"])
def test_ways_to_trust(way: str, room: Path) -> None:
    (room / "run.toml").write_text(f'{DATA}[model]\nname = "booby:Model"\n')
    if way == "--allow-code":
        status, _, err = run_here("run", "run.toml", way, folder=room)
        assert status == 1
        assert "no class of models" in err
    elif way == "python":
        with pytest.raises(ConfigError, match="no class of models"):
            read_config(room / "run.toml", allow_code=True)
    elif way == "a name":
        with pytest.raises(InputError, match="no class of models"):
            load_model("booby:Model")
    else:
        with pytest.raises(InputError, match="no transformation"):
            parse_phi("booby:KIND")
    assert is_sprung(room)


def test_typed_names_are_whole_names() -> None:
    names = FileNames.of("f", {"phi": ["syn.careful+my.kinds:KIND:n=1"], "o": {"c": "a/b"}})
    assert {"my.kinds:KIND", "a/b"} <= names.typed
    for other in ("kinds:KIND", "my.kinds:KIN", "syn.careful+my", "b", "os:system"):
        assert other not in names.typed


def test_later_questions_are_answered_as_the_first(room: Path) -> None:
    """A model is set up again when the run begins, far from where the file was read."""
    (room / "run.toml").write_text(
        f'{DATA}[model]\nname = "transformer"\n[model.options]\ncheckpoint = "nobody/nothing"\n'
        "[model.params]\nepochs = 1\nmax_length = 50\nlearning_rate = 6e-5\n"
        "weight_decay = 0.0\nadam_epsilon = 1e-8\nmax_grad_norm = 1.0\n"
    )
    for library in ("torch", "transformers"):
        pytest.importorskip(library, reason="needs the train extra")
    config = read_config(room / "run.toml")
    (model,) = config.models
    with pytest.raises(InputError, match=r"nothing is fetched because a file .*run\.toml"):
        _ = model.load().capabilities.worker_options()  # type: ignore[misc]


@pytest.mark.parametrize("attention", ["evil/kernel", "evil/kernel:fn", "flash|evil/kernel"])
def test_attention_is_no_program_of_the_hub(attention: str) -> None:
    with pytest.raises(InputError, match="attention"):
        load_model("transformer", checkpoint="x", attention=attention)


def write_log(room: Path) -> list[str]:
    rows = [
        {
            "doc_id": i,
            "doc": {"premise": "booby:KIND", "label": i % 2},
            "target": str(i % 2),
            "resps": [[["-1.0", "False"]], [["-2.0", "False"]]],
            "filtered_resps": [["-1.0", "False"], ["-2.0", "False"]],
            "arguments": [["booby:Model", " a"], ["booby:Model", " b"]],
            "reader": "booby:Model",
            "acc": float(i % 2 == 0),
            "metrics": ["acc"],
        }
        for i in range(12)
    ]
    for name in ("a", "b"):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (room / f"samples_booby:Model_{name}.jsonl").write_text(lines)
    return ["eval", *(f"samples_booby:Model_{name}.jsonl" for name in ("a", "b"))]


def write_inspect(room: Path) -> list[str]:
    log = {
        "version": 2,
        "status": "success",
        "eval": {"task": "booby:KIND", "model": "booby:Model", "task_file": "booby.py"},
        "plan": {"steps": [{"solver": "booby:fly", "params": {}}]},
        "samples": [
            {
                "id": i,
                "epoch": 1,
                "input": "x",
                "target": "a",
                "scores": {"booby:fly": {"value": "C", "answer": "a"}},
            }
            for i in range(5)
        ],
    }
    with zipfile.ZipFile(room / "a.eval", "w") as file:
        file.writestr("header.json", json.dumps({**log, "samples": []}))
        for i, sample in enumerate(log["samples"]):  # type: ignore[arg-type]
            file.writestr(f"samples/{i}_epoch_1.json", json.dumps(sample))
    (room / "b.json").write_text(json.dumps(log))
    return ["eval", "a.eval", "b.json"]


def write_vectors(room: Path) -> list[str]:
    np.save(room / "v.npy", np.array([Spring()] * 40, dtype=object), allow_pickle=True)
    return ["difficulty", "test.csv", "--embeddings", "v.npy", "--out", "d.parquet"]


def write_ngrams(room: Path) -> list[str]:
    from dataclasses import asdict

    from ietest_fast.models.ngrams import NAME, WEIGHTS, NgramOptions

    kept = room / "kept"
    kept.mkdir()
    about = {"model_type": NAME, "format": 1, "n_texts": 2, "class": "booby:Model"}
    (kept / "config.json").write_text(json.dumps(about | asdict(NgramOptions())))
    with (kept / WEIGHTS).open("wb") as file:
        np.savez(file, allow_pickle=True, buckets=np.array([Spring()], dtype=object))
    return ["eval", "--test", "test.csv", "--model", "kept", "--phi", "identity"]


def write_onnx(room: Path) -> list[str]:
    kept = room / "kept"
    kept.mkdir()
    (kept / "model.onnx").write_bytes(pickle.dumps(Spring()))
    (kept / "config.json").write_text(
        json.dumps({"auto_map": {"AutoModel": "booby.Model"}, "model_type": "booby:Model"})
    )
    (kept / "tokenizer.json").write_bytes(pickle.dumps(Spring()))
    return ["eval", "--test", "test.csv", "--onnx", "kept", "--phi", "identity"]


def write_parquet(room: Path) -> list[str]:
    import pyarrow.parquet as pq

    table = pa.table({"text": ["a", "b"] * 10, "label": ["x", "y"] * 10})
    meta = {b"pandas": pickle.dumps(Spring()), b"ietest_fast": b'{"reader": "booby:Model"}'}
    pq.write_table(table.replace_schema_metadata(meta), room / "p.parquet")
    return ["describe", "p.parquet"]


def write_results(room: Path) -> list[str]:
    run = room / "ietest-run"
    run.mkdir()
    (run / "results.json").write_text(json.dumps({"format": 3, "models": ["booby:Model"]}))
    return ["report", "ietest-run"]


def write_sample(room: Path) -> list[str]:
    (room / "sample.json").write_text(
        json.dumps({"format": 3, "source": "booby:Model", "unit": "booby:fly", "pairs": []})
    )
    return ["annotate", "summary", "sample.json"]


def write_weights(room: Path) -> list[str]:
    (room / "model").mkdir()
    weights = ["--weights", "w.toml"]
    (room / "w.toml").write_text('[weights]\n"booby:fly" = 1\n')
    return ["stress", "--test", "test.csv", "--onnx", "model", "--suite", "logic", *weights]


def write_language(room: Path) -> list[str]:
    (room / "l.toml").write_text('name = "booby:fly"\n"booby:fly" = "booby:KIND"\n')
    return ["templates", "counting", "--language", "l.toml"]


def write_template(room: Path) -> list[str]:
    (room / "t.txt").write_text("template booby:fly\npremise booby:KIND\n")
    return ["templates", "--file", "t.txt"]


FILES = [
    write_log,
    write_inspect,
    write_vectors,
    write_ngrams,
    write_onnx,
    write_parquet,
    write_results,
    write_sample,
    write_weights,
    write_language,
    write_template,
]


@pytest.mark.parametrize("write", FILES, ids=lambda write: write.__name__.removeprefix("write_"))
def test_other_files_run_nothing(write: Any, room: Path) -> None:
    command = write(room)
    status, _, err = run_here(*command, folder=room)
    assert status in {0, 1}, err
    assert "Traceback" not in err
    assert not is_sprung(room)


def make_checkpoint(folder: Path, **config: Any) -> Path:
    from tiny_models import make_bert

    make_bert(folder, labels=("entailment", "neutral", "contradiction"))
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | config))
    return folder


@pytest.mark.parametrize(
    "trap",
    ["auto_map", "own kind", "tokenizer", "pickle", "adapter", "attention"],
)
def test_a_checkpoint_runs_nothing(trap: str, room: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = room / "checkpoint"
    mapped = {
        "AutoConfig": "booby.Model",
        "AutoModelForSequenceClassification": "booby.Model",
    }
    extra: dict[str, Any] = {
        "auto_map": {"auto_map": mapped},
        "own kind": {"auto_map": mapped, "model_type": "booby"},
        "attention": {"attn_implementation": "evil/kernel"},
    }.get(trap, {})
    make_checkpoint(folder, **extra)
    (folder / "booby.py").write_text(TRAP)
    if trap == "tokenizer":
        (folder / "tokenizer.json").unlink()
        (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n")
        (folder / "tokenizer_config.json").write_text(
            json.dumps({"auto_map": {"AutoTokenizer": ["booby.Model", "booby.Model"]}})
        )
    if trap == "pickle":
        for path in folder.glob("*.safetensors"):
            path.unlink()
        torch.save({"x": Spring()}, folder / "pytorch_model.bin")
    if trap == "adapter":
        (folder / "adapter_config.json").write_text(
            json.dumps({"base_model_name_or_path": "nobody/nothing", "peft_type": "LORA"})
        )
    try:
        made = as_classifier(str(folder))
        made.score(pa.table({"text": ["a b"], "pair": ["b"]}))
    except (InputError, ResourceError) as error:
        said = str(error)
    else:
        said = ""
    assert not is_sprung(room)
    assert not (folder / "sprung").exists()
    if trap in {"pickle", "adapter", "attention", "own kind"}:
        assert said


@pytest.mark.parametrize("trap", ["source", "callback"])
def test_a_pipeline_names_no_other_package(trap: str, room: Path) -> None:
    from ietest_fast.lexicon import Tagger

    pytest.importorskip("spacy")
    folder = room / "pipeline"
    folder.mkdir()
    part = 'source = "booby"' if trap == "source" else 'factory = "tagger"'
    call = (
        '[nlp.before_creation]\n@callbacks = "spacy.copy_from_base_model.v1"\n'
        'tokenizer = "booby"\nvocab = "booby"\n'
        if trap == "callback"
        else ""
    )
    (folder / "config.cfg").write_text(
        f'[nlp]\nlang = "en"\npipeline = ["tagger"]\n{call}\n[components]\n'
        f"[components.tagger]\n{part}\n"
    )
    (folder / "meta.json").write_text('{"lang": "en", "name": "x", "version": "1"}')
    with pytest.raises(ResourceError, match="another pipeline to load, or a function"):
        Tagger.load(folder)
    assert not is_sprung(room)


def test_a_file_within_a_file_does_not_last() -> None:
    with reading_names(FileNames.of("f")):
        with reading_names(None), pytest.raises(InputError, match="cannot be imported"):
            load_model("no_such_module_at_all:X")
        with pytest.raises(InputError, match="--allow-code"):
            load_model("no_such_module_at_all:X")
    with pytest.raises(InputError, match="cannot be imported"):
        load_model("no_such_module_at_all:X")
