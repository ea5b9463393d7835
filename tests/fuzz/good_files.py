"""Good files of every kind, small, and made by the package where it writes them itself."""

from __future__ import annotations

import contextlib
import io
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fuzz import mutations as bad

Files = dict[str, bytes]
LABELS = ("entailment", "neutral", "contradiction")
N = 12


def run_here(*arguments: str) -> str:
    """Run a command, without the last handlers of errors; return what it prints."""
    from ietest_fast.cli.main import cli

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        cli.main(list(arguments), standalone_mode=False)
    return err.getvalue() + out.getvalue()


@contextlib.contextmanager
def in_a_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        yield Path(name)


def collect(folder: Path) -> Files:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def as_lines(values: list[Any]) -> bytes:
    return b"".join(as_json(value) + b"\n" for value in values)


def as_members(value: Any) -> Any:
    return bad.parse_json(json.dumps(value))


def pairs(n: int = N) -> pa.Table:
    """Pairs of texts with labels, answers and outcomes, each under the names commands look for."""
    people = [("boy", "girl", "man")[i % 3] for i in range(n)]
    gold = [LABELS[i % 3] for i in range(n)]
    other = [LABELS[(i // 2) % 3] for i in range(n)]
    return pa.table(
        {
            "premise": [f"A {who} sleeps in the park, number {i}." for i, who in enumerate(people)],
            "hypothesis": [f"The {who} does not run." for who in people],
            "label": gold,
            "original": gold[:-2] + other[-2:],
            "transformed": other,
            "A": [i % 4 != 0 for i in range(n)],
            "B": [i % 3 != 0 for i in range(n)],
            "scene": [i // 2 for i in range(n)],
            "score": [i / n for i in range(n)],
        }
    )


def answers(n: int = N) -> pa.Table:
    """The same in the long form: a row for each item and version."""
    own = pairs(n)
    rows = [
        {
            "item": f"i{i}", "version": version, "gold": own["label"][i].as_py(),
            "predicted": own[column][i].as_py(), "premise": own["premise"][i].as_py(),
            "hypothesis": own["hypothesis"][i].as_py(), "cluster": i // 2, "changed": i % 2 == 0,
        }
        for i in range(n)
        for version, column in (("original", "original"), ("typos", "transformed"))
    ]  # fmt: skip
    return pa.Table.from_pylist(rows)


def make_lm_eval(kind: str, version: int) -> bytes:
    rows = []
    for i in range(8):
        said = (i + (version and i % 3 == 0)) % 3
        record: dict[str, Any] = {
            "doc_id": i,
            "doc": {"id": f"q{i}", "premise": f"P {i}.", "hypothesis": "H" * (1 + version),
            "label": i % 3},
            "target": str(i % 3), "doc_hash": f"{version}{i}", "prompt_hash": "a", "filter": "none",
        }  # fmt: skip
        if kind == "choices":
            scores = [(-0.5 if k == said else -2.25, k == said) for k in range(3)]
            names = (" True", " Neither", " False")
            record |= {
                "arguments": {
                    f"gen_args_{k}": {"arg_0": "Q", "arg_1": names[k]} for k in range(3)
                },
                "resps": [[[str(a), str(b)]] for a, b in scores],
                "filtered_resps": [[str(a), str(b)] for a, b in scores],
                "metrics": ["acc", "acc_norm"], "acc": float(said == i % 3),
                "acc_norm": float(said == i % 3),
            }  # fmt: skip
        else:
            record |= {
                "target": LABELS[i % 3], "arguments": [["Q", {"until": ["\n"]}]],
                "resps": [[f"It is {LABELS[said]}."]], "filtered_resps": [LABELS[said]],
                "metrics": ["exact_match"], "exact_match": float(said == i % 3),
            }  # fmt: skip
        rows.append(record)
    return as_lines(rows)


def make_inspect(version: int) -> dict[str, Any]:
    samples = [
        {
            "id": f"s{i}", "epoch": 1, "input": f"Text {i}, version {version}.",
            "choices": list(LABELS),
            "target": "ABC"[i % 3], "metadata": {"genre": "g", "scene": i // 2},
            "scores": {
                "choice": {"value": "C" if (i + version) % 4 else "I",
                "answer": "ABC"[(i + version) % 3]},
                "match": {"value": float((i + version) % 4 > 0), "answer": "A"},
            },
        }
        for i in range(6)
    ]  # fmt: skip
    return {
        "version": 2, "status": "success",
        "eval": {"eval_id": "e", "task": f"t{version}", "model": "m", "dataset": {"samples": 6}},
        "results": {"total_samples": 6, "scores": [{"name": "choice", "metrics": {}}]},
        "samples": samples,
    }  # fmt: skip


def list_members(log: dict[str, Any]) -> list[tuple[str, bytes]]:
    header = {key: value for key, value in log.items() if key != "samples"}
    own = [(f"samples/{each['id']}_epoch_1.json", as_json(each)) for each in log["samples"]]
    return [("_journal/start.json", b"{}"), *own, ("header.json", as_json(header))]


def make_helm() -> dict[str, Any]:
    def request(number: int, said: str, perturbation: Any) -> dict[str, Any]:
        tags = [["correct"] if k == number % 3 else [] for k in range(3)]
        instance = {
            "input": {"text": f"Text {number}."}, "id": f"id{number}", "split": "test",
            "references": [{"output": {"text": n}, "tags": t} for n, t in zip(LABELS, tags,
            strict=True)],
        }  # fmt: skip
        return {
            "instance": instance | ({"perturbation": perturbation} if perturbation else {}),
            "output_mapping": dict(zip("ABC", LABELS, strict=True)), "train_trial_index": 0,
            "result": {"success": True, "completions": [{"text": said, "logprob": -0.1}]},
        }  # fmt: skip

    typos = {"name": "typos", "computed_on": "perturbed", "prob": 0.1}
    states = [request(i, "ABC"[i % 3], None) for i in range(5)]
    states += [request(i, "ABC"[i // 2], typos) for i in range(5)]
    spec = {"method": "multiple_choice_joint", "model": "toy/toy"}
    return {"adapter_spec": spec, "request_states": states}


def make_paranlu() -> Files:
    def example(item: str) -> dict[str, Any]:
        return {
            "example_id": item, "premise_hypothesis_id": item[0], "data_source": "snli",
            "source_example_metadata": None, "premise": "P.", "hypothesis": "H.",
            "update": f"U {item}.",
            "update_type": "strengthener", "label": 1, "annotated_paraphrases": None,
        }  # fmt: skip

    def paraphrase(item: str, place: int) -> dict[str, Any]:
        return {
            "paraphrase_id": f"{item}.{place}", "original_example": example(item),
            "original_example_id": item, "update_paraphrase": f"Now {item} {place}.",
            "worker_id": "W",
            "premise_paraphrase": None, "hypothesis_paraphrase": None,
            "automatic_system_metadata": None,
        }  # fmt: skip

    def said(sure: float) -> dict[str, Any]:
        return {"confidence": [1 - sure, sure], "prediction": int(sure > 0.5)}

    results = {
        item: {
            "original_confidence": [0.2, 0.8], "original_prediction": 1, "gold_label": 1,
            "bucket_confidences": [
                said(sure) | {"paraphrased_example": paraphrase(item, place)}
                for place, sure in enumerate((0.9, 0.2, 0.7))
            ],
        }
        for item in ("a1", "b1", "b2")
    }  # fmt: skip
    return {
        "results.json": as_json(results),
        "texts.json": as_json(
            {item: [paraphrase(item, 0), paraphrase(item, 1)] for item in results}
        ),
        "test.json": as_json(
            [said(i / 40) | {"label": i % 2, "example_id": f"t{i}"} for i in range(1, 40)]
        ),
        **make_kept(("weakener", "strengthener")),
    }


def make_counts() -> Files:
    table = pa.table(
        {
            "model": ["m"] * 4, "rho": [0.0, 0.0, 1.0, 1.0], "n11": [80, 81, 79, 80],
            "n10": [8, 9, 7, 8], "n01": [3, 2, 6, 5], "n00": [9, 8, 8, 7],
        }
    )  # fmt: skip
    return {"counts.csv": bad.write_text_table(table, ",")}


def make_reasoning() -> Files:
    alpha = [
        {"story_id": f"s-{i // 2}", "obs1": "Ann bakes.", "obs2": "It is good.", "hyp1": f"A {i}.",
        "hyp2": "B."}
        for i in range(6)
    ]  # fmt: skip
    delta = [
        {
            "DataSource": "SNLI", "Premise": f"P {i // 2}.", "Hypothesis": "H.",
            "SNLIPairId": f"{i // 2}",
            "Update": f"U {i}.", "UpdateType": ("strengthener", "weakener")[i % 2],
            "UpdateTypeImpossible": i == 5, "UpdateTypeImpossibleReason": "{}",
        }
        for i in range(6)
    ]  # fmt: skip
    return {
        "dev.jsonl": as_lines(alpha),
        "dev-labels.lst": b"1\n2\n" * 3,
        "test.jsonl": as_lines(delta),
    }


TEMPLATES = b"""# Two templates of one's own.
template one
    where       n in 2..4, i in 1..n
    people      x[1..n]
    places      y[1..n]
    premise     V(x[k], y[k]) for k in 1..n
    hypothesis  ~V(x[i], y[i])
    label       contradiction

template two
    where       m in 1..2
    people      x, z
    premise     (exactly m u in Pe: V(x, u)) & V(x, z)
    hypothesis  each k in 1..1: V(x, z)
    label       entailment
"""


def make_templates() -> Files:
    from ietest_fast.templates import language, naming

    names = {
        split: {kind: [f"{kind[0].upper()}{split[:2]}{i}" for i in range(30)] for kind in ("women",
        "men", "places")}
        for split in ("train", "valid", "test")
    }  # fmt: skip
    toml = "".join(
        f"[{split}]\n" + "".join(f"{kind} = {json.dumps(own)}\n" for kind, own in kinds.items())
        for split, kinds in names.items()
    )
    folder = Path(language.__file__).parent / "languages"
    assert naming.NAMES.is_dir()
    return {
        "own.txt": TEMPLATES,
        "words.toml": (folder / "en.toml").read_bytes(),
        "names.toml": toml.encode(),
    }


def make_suites() -> Files:
    suite = b"""[tests]
"negation, twice" = "negation:times=2"
typing = { name = "spelling", n_words = 2, keyboard = "qwertz" }
own = { name = "words", mapping = "words.csv" }
"""
    words = b"old,new\nsleeps,slumbers\nboy,lad\nrun,hurry\n"
    return {
        "suite.toml": suite,
        "words.csv": words,
        "blocked.txt": b"boy\ngirl\n",
        "in.csv": bad.write_text_table(pairs(), ","),
        **make_kept(),
    }


def make_weights() -> Files:
    weights = b"[weights]\nacc = 0.5\nreflexive-premise = 0.25\nnegation = 0.25\n"
    return {"weights.toml": weights, **make_logic()}


RUN = b"""rho = [0, 1]
n_classifiers = 2
alpha = 0.05
phi = ["negation", "spelling:n_words=1"]
strata = ["label"]

[data]
train = "in.csv"
valid = "in.csv"
test = "in.csv"
text_columns = ["premise", "hypothesis"]

[model]
name = "bow-xgb"

[model.params]
n_estimators = 10
max_depth = 3
reg_alpha = 0.05
gamma = 0.05
learning_rate = 0.5
subsample = 0.8
colsample_bytree = 0.8
"""


def make_config() -> Files:
    return {"run.toml": RUN, "in.csv": bad.write_text_table(pairs(), ",")}


def make_run() -> Files:
    from finished_runs import make_run
    from toys import toy_splits

    with in_a_folder() as folder:
        make_run(folder / "run", splits=toy_splits(40, 20, 60), rho=[0, 1], n_classifiers=1)
        run_here("annotate", "draw", "run", "sample.json", "-n", "6")
        items = [each["item"] for each in json.loads(Path("sample.json").read_bytes())["pairs"]]
        run_here("annotate", "export", "sample.json", "list.csv")
        from ietest_fast.annotation.marks import Marks
        from ietest_fast.annotation.sample import read_sample

        for person in ("anna", "ben"):
            marks = Marks(read_sample(Path("sample.json")), person)
            for item in items:
                marks.add(item, "sound")
        (marks_file,) = [str(p) for p in Path().glob("sample*anna*")]
        made = pa.table({"item": items, "sound": ["yes", "no"] * 3})
        Path("marks.csv").write_bytes(bad.write_text_table(made, ","))
        files = {name: data for name, data in collect(folder).items() if "encoded" not in name}
    return files | {"marks file": marks_file.encode()}


def make_kept(labels: tuple[str, ...] = LABELS) -> Files:
    """A kept classifier ngram-linear of the pairs, as ``kept/``."""
    from ietest_fast.corpus import corpus_from_table
    from ietest_fast.models import load_model
    from ietest_fast.models.protocol import SplitTexts

    table = pairs(60)
    codes = [LABELS.index(name) % len(labels) for name in table["label"].to_pylist()]
    table = table.set_column(2, "label", pa.array([labels[code] for code in codes]))
    corpus = corpus_from_table(table, label_names=labels)
    texts = SplitTexts(versions={"original": corpus.table}, labels=corpus.labels)
    model = load_model("ngram-linear", bits=16)
    encoded = model.encode({"train": texts}, ("premise", "hypothesis"))
    params = {"epochs": 2, "learning_rate": 0.5, "l2": 1e-3}
    classifier = model.fit(
        encoded["train"].resample(), None, params=params, n_classes=len(labels), seed=0
    )
    with in_a_folder() as folder:
        (folder / "kept").mkdir()
        classifier.save(folder / "kept", label_names=labels)
        return collect(folder)


def make_logic() -> Files:
    with in_a_folder() as folder:
        for name, data in make_kept().items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_bytes(data)
        Path("in.csv").write_bytes(bad.write_text_table(pairs(), ","))
        Path("suite.toml").write_bytes(b"[tests]\nnegation = 'negation'\nspelling = 'spelling'\n")
        common = ["--test", "in.csv", "--model", "kept"]
        run_here("stress", "--suite", "logic", *common, "--out", "logic.parquet", "-S", "50")
        run_here("stress", *common, "--out", "stress.parquet", "--suite", "suite.toml")
        run_here("eval", *common, "--phi", "negation", "--out", "eval.parquet")
        made = ["--phi", "spelling", "--draws", "2", "--out", "consistency.parquet", "-S", "50"]
        run_here("consistency", *common, *made)
        return {name: data for name, data in collect(folder).items() if name.endswith("parquet")}


def make_masked() -> Files:
    from tiny_masked import make_coordinations

    items = make_coordinations(N, seed=1)
    ranks = [1 + i % 3 for i in range(N)]
    log = pa.table(
        {
            "model": ["m"] * N, "item": list(range(N)), "answer": items["answer"],
            "predicted": ["and", "x", "y"] * (N // 3), "rank": ranks,
            "reciprocal_rank": [1 / rank for rank in ranks],
            "log_probability": [-0.5 * r for r in ranks],
            "n_tokens": [1] * N, "ranked_in": ["vocabulary"] * N, "truncated": [False] * N,
            "problem": pa.nulls(N, pa.string()), "module": items["module"],
            "template": items["template"],
        }
    )  # fmt: skip
    predicted = [
        a if r == 1 else "x" for a, r in zip(items["answer"].to_pylist(), ranks, strict=True)
    ]
    log = log.set_column(3, "predicted", pa.array(predicted))
    thesis = pa.table(
        {
            "sentence1": items["premise"], "sentence2_masked": items["hypothesis"],
            "label": items["answer"],
            "bert_pre_trained": [1 / r for r in ranks], "bert_fine_tuned": [1.0] * N,
        }
    )  # fmt: skip
    rng = random.Random(0)
    return {
        "log.parquet": bad.write_parquet(rng, log),
        "thesis.parquet": bad.write_parquet(rng, thesis),
        "items.parquet": bad.write_parquet(rng, items),
    }


def make_vectors() -> Files:
    rng = np.random.default_rng(0)
    sink = io.BytesIO()
    np.save(sink, rng.normal(size=(N, 4)).astype(np.float32))
    return {"v.npy": sink.getvalue(), "in.csv": bad.write_text_table(pairs(), ",")}


def make_models() -> Files:
    from tiny_models import make_onnx_folder

    with in_a_folder() as folder:
        make_onnx_folder(folder / "onnx")
        made = collect(folder)
    return made | make_kept() | {"in.csv": bad.write_text_table(pairs(), ",")}
