"""What is fuzzed: for each reader, good files, the commands that read them, and how they go bad.

A target makes its good files once. Of a :class:`random.Random` it then draws files that differ from
these, and the arguments of a command, or the name of one of :data:`CALLS` where no command reads
the file by itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import sqlite3
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz import mutations as bad

Files = dict[str, bytes]
LABELS = ("entailment", "neutral", "contradiction")
N = 12


@dataclass(frozen=True, kw_only=True)
class Target:
    """A kind of file: the good ones, and bad ones with a command that reads them."""

    make: Callable[[], Files]
    draw: Callable[[random.Random, Files], tuple[Files, list[str]]]


def run_here(*arguments: str) -> str:
    """Run a command, without the last handlers of errors; return what it prints."""
    from ietest_fast.cli.main import cli

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        cli.main(list(arguments), standalone_mode=False)
    return err.getvalue() + out.getvalue()


@contextlib.contextmanager
def _in_a_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        yield Path(name)


def _collect(folder: Path) -> Files:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _lines(values: list[Any]) -> bytes:
    return b"".join(_json(value) + b"\n" for value in values)


def _members(value: Any) -> Any:
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


# --- logs of other programs ------------------------------------------------------------------------


def _lm_eval(kind: str, version: int) -> bytes:
    rows = []
    for i in range(8):
        said = (i + (version and i % 3 == 0)) % 3
        record: dict[str, Any] = {
            "doc_id": i,
            "doc": {"id": f"q{i}", "premise": f"P {i}.", "hypothesis": "H" * (1 + version), "label": i % 3},
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
                "metrics": ["acc", "acc_norm"], "acc": float(said == i % 3), "acc_norm": float(said == i % 3),
            }  # fmt: skip
        else:
            record |= {
                "target": LABELS[i % 3], "arguments": [["Q", {"until": ["\n"]}]],
                "resps": [[f"It is {LABELS[said]}."]], "filtered_resps": [LABELS[said]],
                "metrics": ["exact_match"], "exact_match": float(said == i % 3),
            }  # fmt: skip
        rows.append(record)
    return _lines(rows)


_OF_LOGS: tuple[list[str], ...] = (
    ["eval"], ["eval", "--json"], ["stress", "--json"], ["consistency", "--json", "-S", "50"], ["test"],
    ["eval", "--unparsed", "drop"], ["eval", "--reworded", "scene"], ["eval", "--logs-are", "models"],
)  # fmt: skip


def draw_lm_eval(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    kind = rng.choice(("choices", "said"))
    names = [f"{kind}0.jsonl", f"{kind}1.jsonl"]
    mutate = rng.choice((bad.mutate_json_lines,) * 5 + (bad.mutate_bytes,))
    changed = rng.choice((names[:1], names[1:], names))
    files = {name: mutate(rng, good[name]) if name in changed else good[name] for name in names}
    more = (
        ["-C", "acc"],
        ["-C", "acc_norm"],
        ["--id-column", "doc.id"],
        ["--clusters", "doc.premise"],
    )
    extra = rng.choice((*more, ["-P", "doc.label"], ["--filter", "none"], [], [], []))
    return files, [*rng.choice(_OF_LOGS), *names, *extra]


def _inspect(version: int) -> dict[str, Any]:
    samples = [
        {
            "id": f"s{i}", "epoch": 1, "input": f"Text {i}, version {version}.", "choices": list(LABELS),
            "target": "ABC"[i % 3], "metadata": {"genre": "g", "scene": i // 2},
            "scores": {
                "choice": {"value": "C" if (i + version) % 4 else "I", "answer": "ABC"[(i + version) % 3]},
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


def _archive(log: dict[str, Any]) -> list[tuple[str, bytes]]:
    header = {key: value for key, value in log.items() if key != "samples"}
    own = [(f"samples/{each['id']}_epoch_1.json", _json(each)) for each in log["samples"]]
    return [("_journal/start.json", b"{}"), *own, ("header.json", _json(header))]


def draw_inspect(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    names = ["a.eval", "b.eval"]
    which = rng.randrange(2)
    logs = [_archive(json.loads(good[f"{version}.json"])) for version in range(2)]
    files = {
        name: bad.mutate_archive(rng, log) if number == which else bad.write_archive(log, 8)
        for number, (name, log) in enumerate(zip(names, logs, strict=True))
    }
    extra = rng.choice((["-C", "match"], ["-C", "choice"], ["--clusters", "genre"], [], []))
    return files, [*rng.choice(_OF_LOGS), *names, *extra]


def draw_inspect_json(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    which = rng.choice(("0.json", "1.json"))
    mutate = rng.choice((bad.mutate_json_text,) * 6 + (bad.mutate_bytes,))
    extra = rng.choice((["-C", "match"], ["-C", "choice"], ["--clusters", "genre"], [], []))
    return good | {which: mutate(rng, good[which])}, [*rng.choice(_OF_LOGS), *good, *extra]


def _helm() -> dict[str, Any]:
    def request(number: int, said: str, perturbation: Any) -> dict[str, Any]:
        tags = [["correct"] if k == number % 3 else [] for k in range(3)]
        instance = {
            "input": {"text": f"Text {number}."}, "id": f"id{number}", "split": "test",
            "references": [{"output": {"text": n}, "tags": t} for n, t in zip(LABELS, tags, strict=True)],
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


def draw_helm(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    (name,) = good
    mutate = rng.choice((bad.mutate_json_text,) * 6 + (bad.mutate_bytes,))
    return {name: mutate(rng, good[name])}, [*rng.choice(_OF_LOGS[:6]), name]


def _make_paranlu() -> Files:
    def example(item: str) -> dict[str, Any]:
        return {
            "example_id": item, "premise_hypothesis_id": item[0], "data_source": "snli",
            "source_example_metadata": None, "premise": "P.", "hypothesis": "H.", "update": f"U {item}.",
            "update_type": "strengthener", "label": 1, "annotated_paraphrases": None,
        }  # fmt: skip

    def paraphrase(item: str, place: int) -> dict[str, Any]:
        return {
            "paraphrase_id": f"{item}.{place}", "original_example": example(item),
            "original_example_id": item, "update_paraphrase": f"Now {item} {place}.", "worker_id": "W",
            "premise_paraphrase": None, "hypothesis_paraphrase": None, "automatic_system_metadata": None,
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
        "results.json": _json(results),
        "texts.json": _json({item: [paraphrase(item, 0), paraphrase(item, 1)] for item in results}),
        "test.json": _json(
            [said(i / 40) | {"label": i % 2, "example_id": f"t{i}"} for i in range(1, 40)]
        ),
        **_make_kept(("weakener", "strengthener")),
    }


def draw_paranlu(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    which = rng.choice(("results.json", "texts.json", "test.json"))
    mutate = rng.choice((bad.mutate_json_text,) * 6 + (bad.mutate_bytes,))
    files = good | {which: mutate(rng, good[which])}
    arguments = {
        "results.json": ["consistency", "results.json", "-S", "50", "--json"],
        "texts.json": ["consistency", "--test", "texts.json", "--model", "kept", "-S", "50"],
        "test.json": ["consistency", "results.json", "--test-set", "test.json", "-S", "50"],
    }[which]  # fmt: skip
    return files, arguments


# --- tables ----------------------------------------------------------------------------------------

_SUFFIXES = {"csv": ",", "tsv": "\t", "jsonl": None}


def _commands(name: str, rng: random.Random) -> list[str]:
    wide = (
        ["eval", name], ["eval", name, "--strata", "label"], ["test", name, "--json"],
        ["test", name, "--scores", "--original", "scene", "--transformed", "score"],
        ["test", name, "--clusters", "scene"], ["describe", name, "--json"],
        ["transform", name, f"out-{name}", "--phi", "negation"],
        ["transform", name, "out.csv", "--phi", "spelling", "--edits", "edits.jsonl"],
        ["difficulty", name, "--json", "--classifiers", "2"], ["eval", name, name, "-P", "original"],
        ["eval", name, "--dose", "scene"], ["stress", name],
    )  # fmt: skip
    return rng.choice(wide)


_OF_ANSWERS: tuple[list[str], ...] = (
    ["eval"], ["stress", "--json"], ["stress", "--by", "cluster"], ["consistency", "-S", "50"],
    ["consistency", "-S", "50", "--json", "--subset", "changed"], ["test"], ["eval", "--clusters", "cluster"],
    ["report", "--out", "page.html"], ["difficulty", "--json", "--classifiers", "2"],
)  # fmt: skip


def draw_table(rng: random.Random, kind: str) -> tuple[Files, list[str]]:
    name = f"in.{kind}"
    is_long = rng.random() < 0.3
    table = answers() if is_long else pairs()
    command = [*rng.choice(_OF_ANSWERS), name] if is_long else _commands(name, rng)
    as_bytes = rng.random() < 0.35
    if rng.random() < 0.75 or not as_bytes:
        table = bad.mutate_table(rng, table)
    if kind == "parquet":
        data = bad.write_parquet(rng, table)
    else:
        data = bad.write_text_table(table, _SUFFIXES[kind])
    if as_bytes:
        ways = [bad.mutate_bytes, bad.mutate_words] if kind != "parquet" else [bad.mutate_bytes]
        if kind == "jsonl" and data.strip() and not is_long:
            ways.append(bad.mutate_json_lines)
        with contextlib.suppress(ValueError):  # no JSON any more
            data = rng.choice(ways)(rng, data)
    return {name: data}, command


def table_target(kind: str) -> Target:
    return Target(make=dict, draw=lambda rng, _: draw_table(rng, kind))


def _make_counts() -> Files:
    table = pa.table(
        {
            "model": ["m"] * 4, "rho": [0.0, 0.0, 1.0, 1.0], "n11": [80, 81, 79, 80],
            "n10": [8, 9, 7, 8], "n01": [3, 2, 6, 5], "n00": [9, 8, 8, 7],
        }
    )  # fmt: skip
    return {"counts.csv": bad.write_text_table(table, ",")}


def draw_counts(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    mutate = rng.choice((bad.mutate_words, bad.mutate_words, bad.mutate_bytes))
    out = ["--out", "page.html", *rng.choice(([], ["--where", "model=m"]))]
    return {"counts.csv": mutate(rng, good["counts.csv"])}, ["report", "counts.csv", *out]


def _make_reasoning() -> Files:
    alpha = [
        {"story_id": f"s-{i // 2}", "obs1": "Ann bakes.", "obs2": "It is good.", "hyp1": f"A {i}.", "hyp2": "B."}
        for i in range(6)
    ]  # fmt: skip
    delta = [
        {
            "DataSource": "SNLI", "Premise": f"P {i // 2}.", "Hypothesis": "H.", "SNLIPairId": f"{i // 2}",
            "Update": f"U {i}.", "UpdateType": ("strengthener", "weakener")[i % 2],
            "UpdateTypeImpossible": i == 5, "UpdateTypeImpossibleReason": "{}",
        }
        for i in range(6)
    ]  # fmt: skip
    return {
        "dev.jsonl": _lines(alpha),
        "dev-labels.lst": b"1\n2\n" * 3,
        "test.jsonl": _lines(delta),
    }


def draw_reasoning(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    which = rng.choice(tuple(good))
    mutate = bad.mutate_words if which.endswith(".lst") else bad.mutate_json_lines
    mutate = rng.choice((mutate, mutate, mutate, bad.mutate_bytes))
    name = "test.jsonl" if which == "test.jsonl" else "dev.jsonl"
    call = rng.choice((["describe", name], [f"python:{name.split('.', maxsplit=1)[0]}-nli", name]))
    return good | {which: mutate(rng, good[which])}, call


# --- small languages: templates, settings ----------------------------------------------------------

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


def _make_templates() -> Files:
    from ietest_fast.templates import language, naming

    names = {
        split: {kind: [f"{kind[0].upper()}{split[:2]}{i}" for i in range(30)] for kind in ("women", "men", "places")}
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


def _draw_templates(rng: random.Random, good: Files, which: str) -> tuple[Files, list[str]]:
    data = (
        _mutate_toml(rng, good[which])
        if which.endswith(".toml")
        else bad.mutate_words(rng, good[which])
    )
    if rng.random() < 0.1:
        data = bad.mutate_bytes(rng, good[which])
    options = {"words.toml": ["--language", "words.toml"], "names.toml": ["--names", "names.toml"]}
    files = {"own.txt": good["own.txt"], which: data}
    named = [] if which != "words.toml" else ["--names", "names.toml"]
    if named:
        files["names.toml"] = good["names.toml"]
    out = rng.choice((["--n", "2"], ["--n", "2", "--out", "made", "--format", "csv"]))
    return files, ["templates", "--file", "own.txt", *options.get(which, []), *named, *out]


def _mutate_toml(rng: random.Random, data: bytes) -> bytes:
    """Change a value or a word of a TOML file."""
    if rng.random() < 0.5:
        return bad.mutate_words(rng, data)
    value = bad.mutate_json(rng, _members(tomllib.loads(data.decode())))
    if not isinstance(value, bad.Members):
        return _toml(value).encode("utf-8", "surrogatepass")
    return "".join(f"{json.dumps(str(k))} = {_toml(v)}\n" for k, v in value).encode(
        "utf-8", "surrogatepass"
    )


def _toml(value: Any) -> str:
    if isinstance(value, bad.Members):
        return "{" + ", ".join(f"{json.dumps(str(k))} = {_toml(v)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(bad.dump_json(value))


def _make_suites() -> Files:
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
        **_make_kept(),
    }


def _make_weights() -> Files:
    weights = b"[weights]\nacc = 0.5\nreflexive-premise = 0.25\nnegation = 0.25\n"
    return {"weights.toml": weights, **_make_logic()}


def draw_suite(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    files = good | {"suite.toml": _mutate_toml(rng, good["suite.toml"])}
    return files, ["stress", "--suite", "suite.toml", "--test", "in.csv", "--model", "kept"]


def draw_weights(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    files = {"logic.parquet": good["logic.parquet"]}
    arguments = ["stress", "logic.parquet", "-S", "50", "--weights"]
    if rng.random() < 0.7:
        files["weights.toml"] = _mutate_toml(rng, good["weights.toml"])
        return files, [*arguments, "weights.toml"]
    typed = bad.mutate_words(rng, b"acc=0.5,negation=0.5").decode("utf-8", "replace")
    return files, [*arguments, typed.replace("\0", "")[:10_000]]


def draw_words(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    """Mappings, block lists, tables of synonyms: words that a transformation replaces."""
    files = {name: good[name] for name in ("in.csv", "words.csv", "blocked.txt")}
    match rng.randrange(3):
        case 0:
            files["words.csv"] = rng.choice((bad.mutate_words, bad.mutate_bytes))(
                rng, good["words.csv"]
            )
            call = ["transform", "in.csv", "out.csv", "--phi", "words:mapping=words.csv"]
        case 1:
            files["blocked.txt"] = rng.choice((bad.mutate_words, bad.mutate_bytes))(
                rng, good["blocked.txt"]
            )
            call = ["transform", "in.csv", "out.csv", "--phi", "syn.careful:block_list=blocked.txt"]
        case _:
            table = pq.read_table(io.BytesIO(good["synonyms.parquet"]))
            files["synonyms.parquet"] = bad.write_parquet(rng, bad.mutate_table(rng, table))
            call = ["python:synonyms", "synonyms.parquet"]
    return files, call


def _make_words() -> Files:
    from ietest_fast.lexicon.synonym_table import SynonymTable

    entries = [("boy", "lad", 0, "frequency"), ("car", "auto", 0, "frequency")]
    with _in_a_folder() as folder:
        SynonymTable.from_entries(entries, "paper").to_parquet(folder / "synonyms.parquet")
        return _make_suites() | _collect(folder)


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
params = { n_estimators = 10, max_depth = 3, reg_alpha = 0.05, gamma = 0.05, learning_rate = 0.5, subsample = 0.8, colsample_bytree = 0.8 }
"""  # noqa: E501


def _make_config() -> Files:
    return {"run.toml": RUN, "in.csv": bad.write_text_table(pairs(), ",")}


def draw_config(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    files = good | {"run.toml": _mutate_toml(rng, good["run.toml"])}
    return files, ["python:plan", "run.toml"]


# --- what the package itself has written -----------------------------------------------------------


def _make_run() -> Files:
    from finished_runs import make_run
    from toys import toy_splits

    with _in_a_folder() as folder:
        make_run(folder / "run", splits=toy_splits(40, 20, 60), rho=[0, 1], n_classifiers=1)
        run_here("annotate", "draw", "run", "sample.json", "-n", "6")
        items = [each["item"] for each in json.loads(Path("sample.json").read_bytes())["pairs"]]
        run_here("annotate", "export", "sample.json", "list.csv")
        from ietest_fast.report.annotation.marks import Marks
        from ietest_fast.report.annotation.sample import read_sample

        for person in ("anna", "ben"):
            marks = Marks(read_sample(Path("sample.json")), person)
            for item in items:
                marks.add(item, "sound")
        (marks_file,) = [str(p) for p in Path().glob("sample*anna*")]
        made = pa.table({"item": items, "sound": ["yes", "no"] * 3})
        Path("marks.csv").write_bytes(bad.write_text_table(made, ","))
        files = {name: data for name, data in _collect(folder).items() if "encoded" not in name}
    return files | {"marks file": marks_file.encode()}


def draw_marks(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    own = good["marks file"].decode()
    which = rng.choice(("sample.json", own, "marks.csv"))
    files = {name: data for name, data in good.items() if name != "marks file"}
    mutate = {
        "sample.json": bad.mutate_json_text,
        "marks.csv": bad.mutate_words,
        own: _mutate_lines,
    }[which]
    files[which] = rng.choice((mutate, mutate, bad.mutate_bytes))(rng, good[which])
    calls = (
        ["summary", "sample.json"], ["summary", "sample.json", "--json"], ["test", "sample.json", "run"],
        ["export", "sample.json", "new.csv"], ["import", "sample.json", "marks.csv", "--person", "eve"],
    )  # fmt: skip
    call = calls[4] if which == "marks.csv" else rng.choice(calls)
    return files, ["annotate", *call]


def _mutate_lines(rng: random.Random, data: bytes) -> bytes:
    try:
        return bad.mutate_json_lines(rng, data)
    except (ValueError, IndexError):
        return bad.mutate_words(rng, data)


def draw_run(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    """A finished run: its results, its database, its cells, its texts."""
    files = {name: data for name, data in good.items() if name.startswith("run/")}
    kinds = [name for name in files if name.endswith((".json", ".sqlite", ".parquet"))]
    which = "run/results.json" if rng.random() < 0.5 else rng.choice(kinds)
    data = files[which]
    match rng.randrange(4):
        case 0:
            del files[which]
        case 1:
            files[which] = bad.mutate_bytes(rng, data)
        case _ if which.endswith(".json"):
            files[which] = bad.mutate_json_text(rng, data)
        case _ if which.endswith(".parquet"):
            files[which] = bad.write_parquet(
                rng, bad.mutate_table(rng, pq.read_table(io.BytesIO(data)))
            )
        case _:
            files[which] = _mutate_database(rng, data)
    calls = (
        ["consistency", "run", "--json", "-S", "50"], ["annotate", "draw", "run", "s.json", "-n", "3"],
        ["report", "run", "--out", "page.html"], ["python:results", "run"], ["python:results", "run"],
    )  # fmt: skip
    return files, rng.choice(calls)


def _mutate_database(rng: random.Random, data: bytes) -> bytes:
    with _in_a_folder():
        Path("d.sqlite").write_bytes(data)
        with contextlib.closing(sqlite3.connect("d.sqlite")) as database:
            names = database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            ).fetchall()
            name = rng.choice(names)[0]
            columns = [row[1] for row in database.execute(f'PRAGMA table_info("{name}")')]
            value = rng.choice((None, 0, -1, 2**63 - 1, 1.5, b"\xff", "", "{}", "x" * 5000, "[]"))
            with contextlib.suppress(sqlite3.Error):
                database.execute(f'UPDATE "{name}" SET "{rng.choice(columns)}" = ?', (value,))
            with contextlib.suppress(sqlite3.Error):
                database.execute("PRAGMA user_version = " + str(rng.choice((0, 1, 999))))
            database.commit()
        return Path("d.sqlite").read_bytes()


def _make_kept(labels: tuple[str, ...] = LABELS) -> Files:
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
    with _in_a_folder() as folder:
        (folder / "kept").mkdir()
        classifier.save(folder / "kept", label_names=labels)
        return _collect(folder)


def _make_logic() -> Files:
    with _in_a_folder() as folder:
        for name, data in _make_kept().items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_bytes(data)
        Path("in.csv").write_bytes(bad.write_text_table(pairs(), ","))
        Path("suite.toml").write_bytes(b"[tests]\nnegation = 'negation'\nspelling = 'spelling'\n")
        common = ["--test", "in.csv", "--model", "kept"]
        run_here("stress", "--suite", "logic", *common, "--out", "logic.parquet", "-S", "50")
        run_here("stress", *common, "--out", "stress.parquet", "--suite", "suite.toml")
        run_here("eval", *common, "--phi", "negation", "--out", "eval.parquet")
        run_here(
            "consistency", *common, "--phi", "spelling", "--draws", "2", "--out", "consistency.parquet", "-S", "50"
        )  # fmt: skip
        return {name: data for name, data in _collect(folder).items() if name.endswith("parquet")}


def draw_answers(
    rng: random.Random, good: Files, names: tuple[str, ...]
) -> tuple[Files, list[str]]:
    """Files that --out has written, with their metadata."""
    name = rng.choice(names)
    if rng.random() < 0.2:
        data = bad.mutate_bytes(rng, good[name])
    else:
        table = bad.mutate_table(rng, pq.read_table(io.BytesIO(good[name])))
        data = bad.write_parquet(rng, table)
    calls = (
        ["eval", name], ["stress", name], ["stress", name, "--json", "--by", "item"],
        ["consistency", name, "-S", "50"], ["test", name], ["report", name, "--out", "page.html"],
        ["difficulty", name, "--classifiers", "2"],
    )  # fmt: skip
    return {name: data}, rng.choice(calls)


def _make_masked() -> Files:
    from tiny_masked import make_coordinations

    items = make_coordinations(N, seed=1)
    ranks = [1 + i % 3 for i in range(N)]
    log = pa.table(
        {
            "model": ["m"] * N, "item": list(range(N)), "answer": items["answer"],
            "predicted": ["and", "x", "y"] * (N // 3), "rank": ranks,
            "reciprocal_rank": [1 / rank for rank in ranks], "log_probability": [-0.5 * r for r in ranks],
            "n_tokens": [1] * N, "ranked_in": ["vocabulary"] * N, "truncated": [False] * N,
            "problem": pa.nulls(N, pa.string()), "module": items["module"], "template": items["template"],
        }
    )  # fmt: skip
    predicted = [
        a if r == 1 else "x" for a, r in zip(items["answer"].to_pylist(), ranks, strict=True)
    ]
    log = log.set_column(3, "predicted", pa.array(predicted))
    thesis = pa.table(
        {
            "sentence1": items["premise"], "sentence2_masked": items["hypothesis"], "label": items["answer"],
            "bert_pre_trained": [1 / r for r in ranks], "bert_fine_tuned": [1.0] * N,
        }
    )  # fmt: skip
    rng = random.Random(0)
    return {
        "log.parquet": bad.write_parquet(rng, log),
        "thesis.parquet": bad.write_parquet(rng, thesis),
        "items.parquet": bad.write_parquet(rng, items),
    }


def draw_masked(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    source = rng.choice(tuple(good))
    table = bad.mutate_table(rng, pq.read_table(io.BytesIO(good[source])))
    kind = rng.choice(("parquet", "csv", "jsonl"))
    name = f"in.{kind}"
    data = (
        bad.write_parquet(rng, table)
        if kind == "parquet"
        else bad.write_text_table(table, _SUFFIXES[kind])
    )
    if rng.random() < 0.2:
        data = bad.mutate_bytes(rng, data)
    call = (
        ["python:masked-items", name] if source == "items.parquet" else ["masked", name, "--json"]
    )
    if source == "log.parquet" and rng.random() < 0.3:
        call = ["masked", name, "--by", "module"]
    return {name: data}, call


def _make_vectors() -> Files:
    rng = np.random.default_rng(0)
    sink = io.BytesIO()
    np.save(sink, rng.normal(size=(N, 4)).astype(np.float32))
    return {"v.npy": sink.getvalue(), "in.csv": bad.write_text_table(pairs(), ",")}


def draw_vectors(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    array = np.load(io.BytesIO(good["v.npy"]))
    files = {"in.csv": good["in.csv"]}
    if rng.random() < 0.7:
        name, files["v.npy"] = "v.npy", bad.mutate_array(rng, array)
    else:
        table = pa.table({"vector": array.tolist(), "id": list(range(N))})
        name, files["v.parquet"] = "v.parquet", bad.write_parquet(rng, bad.mutate_table(rng, table))
    tau = rng.choice(([], ["--classifiers", "2"], ["--classifiers", "2", "--json"]))
    return files, ["difficulty", "in.csv", "--embeddings", name, *tau]


# --- models ----------------------------------------------------------------------------------------


def _make_models() -> Files:
    from tiny_models import make_onnx_folder

    with _in_a_folder() as folder:
        make_onnx_folder(folder / "onnx")
        made = _collect(folder)
    return made | _make_kept() | {"in.csv": bad.write_text_table(pairs(), ",")}


def draw_kept(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    files = {name: data for name, data in good.items() if name.startswith(("kept/", "in."))}
    which = rng.choice([name for name in files if name.startswith("kept/")])
    data = files[which]
    match rng.randrange(3):
        case 0 if which.endswith(".json"):
            files[which] = bad.mutate_json_text(rng, data)
        case 1 if which.endswith(".npz"):
            arrays = dict(np.load(io.BytesIO(data)))
            members = [(f"{name}.npy", _npy(rng, array)) for name, array in arrays.items()]
            files[which] = bad.write_archive(members, 0)
        case _:
            files[which] = (
                bad.mutate_json_text(rng, data)
                if which.endswith(".json")
                else bad.mutate_bytes(rng, data)
            )
    return files, ["eval", "--model", "kept", "--test", "in.csv", "--phi", "negation"]


def _npy(rng: random.Random, array: np.ndarray[Any, Any]) -> bytes:
    if array.ndim and array.size and rng.random() < 0.5:
        return bad.mutate_array(rng, array)
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()


def draw_onnx(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    files = {name: data for name, data in good.items() if name.startswith(("onnx/", "in."))}
    which = rng.choice([name for name in files if name.startswith("onnx/")])
    data = files[which]
    if which.endswith(".json") and rng.random() < 0.8:
        files[which] = bad.mutate_json_text(rng, data)
    else:
        files[which] = bad.mutate_bytes(rng, data)
    run = ["--runtime", "onnxruntime", "--threads", "1"]
    return files, ["eval", "--onnx", "onnx", "--test", "in.csv", "--phi", "negation", *run]


# --- what no command reads by itself ---------------------------------------------------------------


def _plan(path: str) -> None:
    from ietest_fast.experiment import read_config
    from ietest_fast.experiment.plan import make_plan

    with make_plan(read_config(path)):
        pass


def _synonyms(path: str) -> None:
    from ietest_fast.lexicon.synonym_table import SynonymTable

    SynonymTable.from_parquet(path)


def _masked_items(path: str) -> None:
    from ietest_fast.evaluation import read_masked_items

    items = read_masked_items(path)
    items.refuse_if_none(items.problems)


def _results(path: str) -> None:
    from ietest_fast.report.runs import read_folder

    for run in read_folder(path):
        run.to_dict()


def _alpha(path: str) -> None:
    from ietest_fast.corpus import read_alpha_nli

    read_alpha_nli(path)


def _delta(path: str) -> None:
    from ietest_fast.corpus import read_delta_nli

    read_delta_nli(path)


CALLS: dict[str, Callable[[str], None]] = {
    "python:plan": _plan,
    "python:synonyms": _synonyms,
    "python:masked-items": _masked_items,
    "python:results": _results,
    "python:dev-nli": _alpha,
    "python:test-nli": _delta,
}

_WRITTEN = ("eval.parquet", "stress.parquet", "consistency.parquet")

TARGETS: dict[str, Target] = {
    "lm-eval": Target(
        make=lambda: {f"{k}{v}.jsonl": _lm_eval(k, v) for k in ("choices", "said") for v in (0, 1)},
        draw=draw_lm_eval,
    ),
    "inspect": Target(
        make=lambda: {f"{version}.json": _json(_inspect(version)) for version in (0, 1)},
        draw=draw_inspect,
    ),
    "inspect-json": Target(
        make=lambda: {f"{version}.json": _json(_inspect(version)) for version in (0, 1)},
        draw=draw_inspect_json,
    ),
    "helm": Target(make=lambda: {"scenario_state.json": _json(_helm())}, draw=draw_helm),
    "paranlu": Target(make=_make_paranlu, draw=draw_paranlu),
    "csv": table_target("csv"),
    "tsv": table_target("tsv"),
    "jsonl": table_target("jsonl"),
    "parquet": table_target("parquet"),
    "counts": Target(make=_make_counts, draw=draw_counts),
    "reasoning": Target(make=_make_reasoning, draw=draw_reasoning),
    "templates": Target(make=_make_templates, draw=lambda r, g: _draw_templates(r, g, "own.txt")),
    "languages": Target(
        make=_make_templates, draw=lambda r, g: _draw_templates(r, g, "words.toml")
    ),
    "names": Target(make=_make_templates, draw=lambda r, g: _draw_templates(r, g, "names.toml")),
    "suites": Target(make=_make_suites, draw=draw_suite),
    "weights": Target(make=_make_weights, draw=draw_weights),
    "words": Target(make=_make_words, draw=draw_words),
    "config": Target(make=_make_config, draw=draw_config),
    "marks": Target(make=_make_run, draw=draw_marks),
    "runs": Target(make=_make_run, draw=draw_run),
    "answers": Target(make=_make_logic, draw=lambda r, g: draw_answers(r, g, _WRITTEN)),
    "logic": Target(make=_make_logic, draw=lambda r, g: draw_answers(r, g, ("logic.parquet",))),
    "masked": Target(make=_make_masked, draw=draw_masked),
    "vectors": Target(make=_make_vectors, draw=draw_vectors),
    "kept-models": Target(make=_make_models, draw=draw_kept),
    "onnx": Target(make=_make_models, draw=draw_onnx),
}
"""Every kind of file that a user can bring."""
