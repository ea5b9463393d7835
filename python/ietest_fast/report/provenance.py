"""What it takes to run a finished run again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def to_toml(results: Mapping[str, Any]) -> str:
    """Write the configuration that a run was made with, as ``ietest-fast run FILE`` takes it.

    Names of files are not among what a run keeps, for files count by what is in them. So where
    data came from files, a comment gives the fingerprint of what has to stand in them.

    Parameters
    ----------
    results
        The contents of ``results.json``.
    """
    settings = results["settings"]
    data = settings["data"]
    lines = [
        _line("rho", settings["rho"]),
        _line("n_resamples", settings["n_resamples"]),
        _line("alpha", settings["alpha"]),
        _line("margin", settings["margin"]),
        _line("seed", settings["seed"]),
        _line("method", settings["method"]),
        *_given("n_replicates", settings["n_replicates"]),
        "",
        "[data]",
    ]
    own = {name: data[name] for name in ("name", "cluster")}
    if data["demo"] is not None:
        lines += [_line("demo", data["demo"])]
    elif data["split"] is not None:
        split = {"file": "...", **data["split"]}
        lines += [f'train = "..."  # {data["train"]}'] * (data["split"]["n_train"] is None)
        lines += [
            f"# valid: {data['valid']}",
            f"# test: {data['test']}",
            _line("split", {name: value for name, value in split.items() if value is not None}),
        ]
    else:
        lines += [f'{name} = "..."  # {data[name]}' for name in ("train", "valid", "test")]
    lines += [line for name, value in own.items() for line in _given(name, value)]
    lines += [
        _line("text_columns", results["data"]["text_columns"]),
        _line("label_names", results["data"]["label_names"]),
    ] * (data["demo"] is None)
    lines += ["", "[transformation]", _line("rules", settings["transformation"].get("rules"))]
    lines += [f"# {settings['transformation'].get('inputs')}", "", "[model]"]
    model = settings["model"]
    lines.append(_line("name", model["name"]))
    for name in ("options", "params", "search", "input"):
        lines += _given(name, model[name])
    if model["params"] is None and isinstance(model["search"], int):
        found = results["search"].get("params")
        lines += [f"# found by the search: {json.dumps(found)}"] * bool(found)
    for name, usual in (("search_per_resample", False), ("n_voters", 1)):
        lines += [_line(name, model[name])] * (model[name] != usual)
    versions = ", ".join(f"{name} {value}" for name, value in results["versions"].items())
    return "\n".join([f"# {results['signature']}", f"# {versions}", *lines]) + "\n"


def _given(name: str, value: Any) -> list[str]:
    return [] if value is None or value == {} else [_line(name, value)]


def _line(name: str, value: Any) -> str:
    return f"{name} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
        )
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    # Strings, numbers, true and false are written alike in TOML.
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return (
        name
        if name.replace("_", "").replace("-", "").isalnum() and name.isascii()
        else _value(name)
    )
