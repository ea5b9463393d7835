"""What it takes to run a finished run again."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


_FINGERPRINT = re.compile(r"[0-9a-f]{32,}")


def to_toml(results: Mapping[str, Any]) -> str:
    """Write what is known of a run's configuration, as ``ietest-fast run FILE`` takes it.

    Names of files are not among what a run keeps, for files count by what is in them. They are left
    open (``"..."``), each beside the fingerprint of what has to stand there; of what a run does not
    keep at all, such as a block list, a comment says that it may have been given.

    Parameters
    ----------
    results
        The contents of ``results.json``.
    """
    settings = results["settings"]
    data = settings["data"]
    lines = [
        _line("rho", settings["rho"]),
        _line("n_classifiers", settings["n_classifiers"]),
        _line("alpha", settings["alpha"]),
        _line("margin", settings["margin"]),
        _line("seed", settings["seed"]),
        _line("method", settings["method"]),
        *_given("n_resamples", settings["n_resamples"]),
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
    lines += ["# label_column, missing_text and quoted as the files need them"] * (
        data["demo"] is None
    )
    phi = settings["transformation"]
    lines += [
        "",
        "[transformation]",
        _line("rules", phi.get("rules")),
        "# tagger, wordnet and block_list, if they were given",
        f"# fingerprint of rules, tagger, WordNet and block list: {phi.get('inputs')}",
        f"# made: {results['transformation']['name']} {results['transformation']['fingerprint']}",
        "",
        "[model]",
    ]
    model = settings["model"]
    lines.append(_line("name", model["name"]))
    lines += _say_options(model["options"])
    for name in ("params", "search", "input"):
        lines += _given(name, model[name])
    if model["params"] is None and isinstance(model["search"], int):
        found = results["search"].get("params")
        lines += [f"# found by the search: {json.dumps(found)}"] * bool(found)
    for name, usual in (("search_per_resample", False), ("n_voters", 1)):
        lines += [_line(name, model[name])] * (model[name] != usual)
    versions = ", ".join(f"{name} {value}" for name, value in results["versions"].items())
    return "\n".join([f"# {results['signature']}", f"# {versions}", *lines]) + "\n"


def _say_options(options: Mapping[str, Any]) -> list[str]:
    """Write a model's options; what was a name of files and is a fingerprint now is left open."""
    hashed = {
        name: value
        for name, value in options.items()
        if isinstance(value, str) and _FINGERPRINT.search(value)
    }
    lines = [f"# option {name}: {value}" for name, value in hashed.items()]
    return [*lines, *_given("options", {**options, **dict.fromkeys(hashed, "...")})]


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
