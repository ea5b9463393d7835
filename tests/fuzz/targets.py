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
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz import mutations as bad
from fuzz.good_files import (
    Files,
    N,
    answers,
    as_json,
    as_members,
    in_a_folder,
    list_members,
    make_config,
    make_counts,
    make_helm,
    make_inspect,
    make_lm_eval,
    make_logic,
    make_masked,
    make_models,
    make_paranlu,
    make_reasoning,
    make_run,
    make_suites,
    make_templates,
    make_vectors,
    make_weights,
    pairs,
)


@dataclass(frozen=True, kw_only=True)
class Target:
    """A kind of file: the good ones, and bad ones with a command that reads them."""

    make: Callable[[], Files]
    draw: Callable[[random.Random, Files], tuple[Files, list[str]]]


# --- logs of other programs ---------------------------------------------------------------------


_OF_LOGS: tuple[list[str], ...] = (
    ["eval"], ["eval", "--json"], ["stress", "--json"], ["consistency", "--json", "-S", "50"],
    ["test"],
    ["eval", "--unparsed", "drop"], ["eval", "--reworded", "scene"], ["eval", "--logs-are",
    "models"],
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


def draw_inspect(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    names = ["a.eval", "b.eval"]
    which = rng.randrange(2)
    logs = [list_members(json.loads(good[f"{version}.json"])) for version in range(2)]
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


def draw_helm(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    (name,) = good
    mutate = rng.choice((bad.mutate_json_text,) * 6 + (bad.mutate_bytes,))
    return {name: mutate(rng, good[name])}, [*rng.choice(_OF_LOGS[:6]), name]


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


# --- tables -------------------------------------------------------------------------------------

_SUFFIXES = {"csv": ",", "tsv": "\t", "jsonl": None}


def _commands(name: str, rng: random.Random) -> list[str]:
    wide = (
        ["eval", name], ["eval", name, "--strata", "label"], ["test", name, "--json"],
        ["test", name, "--scores", "--original", "scene", "--transformed", "score"],
        ["test", name, "--clusters", "scene"], ["describe", name, "--json"],
        ["transform", name, f"out-{name}", "--phi", "negation"],
        ["transform", name, "out.csv", "--phi", "spelling", "--edits", "edits.jsonl"],
        ["difficulty", name, "--json", "--classifiers", "2"], ["eval", name, name, "-P",
        "original"],
        ["eval", name, "--dose", "scene"], ["stress", name],
    )  # fmt: skip
    return rng.choice(wide)


_OF_ANSWERS: tuple[list[str], ...] = (
    ["eval"], ["stress", "--json"], ["stress", "--by", "cluster"], ["consistency", "-S", "50"],
    ["consistency", "-S", "50", "--json", "--subset", "changed"], ["test"], ["eval", "--clusters",
    "cluster"],
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


def draw_counts(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    mutate = rng.choice((bad.mutate_words, bad.mutate_words, bad.mutate_bytes))
    out = ["--out", "page.html", *rng.choice(([], ["--where", "model=m"]))]
    return {"counts.csv": mutate(rng, good["counts.csv"])}, ["report", "counts.csv", *out]


def draw_reasoning(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    which = rng.choice(tuple(good))
    mutate = bad.mutate_words if which.endswith(".lst") else bad.mutate_json_lines
    mutate = rng.choice((mutate, mutate, mutate, bad.mutate_bytes))
    name = "test.jsonl" if which == "test.jsonl" else "dev.jsonl"
    call = rng.choice((["describe", name], [f"python:{Path(name).stem}-nli", name]))
    return good | {which: mutate(rng, good[which])}, call


# --- small languages: templates, settings -------------------------------------------------------


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
    value = bad.mutate_json(rng, as_members(tomllib.loads(data.decode())))
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
    """Mappings and block lists: words that a transformation replaces."""
    files = {name: good[name] for name in ("in.csv", "words.csv", "blocked.txt")}
    match rng.randrange(2):
        case 0:
            files["words.csv"] = rng.choice((bad.mutate_words, bad.mutate_bytes))(
                rng, good["words.csv"]
            )
            call = ["transform", "in.csv", "out.csv", "--phi", "words:mapping=words.csv"]
        case _:
            files["blocked.txt"] = rng.choice((bad.mutate_words, bad.mutate_bytes))(
                rng, good["blocked.txt"]
            )
            call = ["transform", "in.csv", "out.csv", "--phi", "syn.careful:block_list=blocked.txt"]
    return files, call


def draw_config(rng: random.Random, good: Files) -> tuple[Files, list[str]]:
    files = good | {"run.toml": _mutate_toml(rng, good["run.toml"])}
    return files, ["python:plan", "run.toml"]


# --- what the package itself has written --------------------------------------------------------


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
        ["summary", "sample.json"], ["summary", "sample.json", "--json"], ["test", "sample.json",
        "run"],
        ["export", "sample.json", "new.csv"], ["import", "sample.json", "marks.csv", "--person",
        "eve"],
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
        ["consistency", "run", "--json", "-S", "50"], ["annotate", "draw", "run", "s.json", "-n",
        "3"],
        ["report", "run", "--out", "page.html"],
        *[["python:results", "run"]] * 8,
    )  # fmt: skip
    return files, rng.choice(calls)


def _mutate_database(rng: random.Random, data: bytes) -> bytes:
    with in_a_folder():
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


# --- models -------------------------------------------------------------------------------------


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


# --- what no command reads by itself ------------------------------------------------------------


def _plan(path: str) -> None:
    from ietest_fast.experiment import read_config
    from ietest_fast.experiment.plan import make_plan

    with make_plan(read_config(path)):
        pass


def _masked_items(path: str) -> None:
    from ietest_fast.analyses import read_masked_items

    items = read_masked_items(path)
    items.refuse_if_none(items.problems)


def _results(path: str) -> None:
    from ietest_fast.experiment.finished import read_folder

    for run in read_folder(path):
        run.to_dict()


def _alpha(path: str) -> None:
    from ietest_fast.corpus import read_alpha_nli

    read_alpha_nli(path)


def _delta(path: str) -> None:
    from ietest_fast.corpus import read_delta_nli

    read_delta_nli(path)


CALLS: dict[str, Callable[[str], str | None]] = {
    "python:plan": _plan,
    "python:masked-items": _masked_items,
    "python:results": _results,
    "python:dev-nli": _alpha,
    "python:test-nli": _delta,
}

_WRITTEN = ("eval.parquet", "stress.parquet", "consistency.parquet")

TARGETS: dict[str, Target] = {
    "lm-eval": Target(
        make=lambda: {
            f"{k}{v}.jsonl": make_lm_eval(k, v) for k in ("choices", "said") for v in (0, 1)
        },
        draw=draw_lm_eval,
    ),
    "inspect": Target(
        make=lambda: {f"{version}.json": as_json(make_inspect(version)) for version in (0, 1)},
        draw=draw_inspect,
    ),
    "inspect-json": Target(
        make=lambda: {f"{version}.json": as_json(make_inspect(version)) for version in (0, 1)},
        draw=draw_inspect_json,
    ),
    "helm": Target(make=lambda: {"scenario_state.json": as_json(make_helm())}, draw=draw_helm),
    "paranlu": Target(make=make_paranlu, draw=draw_paranlu),
    "csv": table_target("csv"),
    "tsv": table_target("tsv"),
    "jsonl": table_target("jsonl"),
    "parquet": table_target("parquet"),
    "counts": Target(make=make_counts, draw=draw_counts),
    "reasoning": Target(make=make_reasoning, draw=draw_reasoning),
    "templates": Target(make=make_templates, draw=lambda r, g: _draw_templates(r, g, "own.txt")),
    "languages": Target(make=make_templates, draw=lambda r, g: _draw_templates(r, g, "words.toml")),
    "names": Target(make=make_templates, draw=lambda r, g: _draw_templates(r, g, "names.toml")),
    "suites": Target(make=make_suites, draw=draw_suite),
    "weights": Target(make=make_weights, draw=draw_weights),
    "words": Target(make=make_suites, draw=draw_words),
    "config": Target(make=make_config, draw=draw_config),
    "marks": Target(make=make_run, draw=draw_marks),
    "runs": Target(make=make_run, draw=draw_run),
    "answers": Target(make=make_logic, draw=lambda r, g: draw_answers(r, g, _WRITTEN)),
    "logic": Target(make=make_logic, draw=lambda r, g: draw_answers(r, g, ("logic.parquet",))),
    "masked": Target(make=make_masked, draw=draw_masked),
    "vectors": Target(make=make_vectors, draw=draw_vectors),
    "kept-models": Target(make=make_models, draw=draw_kept),
    "onnx": Target(make=make_models, draw=draw_onnx),
}
"""Every kind of file that a user can bring."""
