"""What it takes to run a finished run again."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ietest_fast.stats.multiple import JOINT_CORRECTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ietest_fast.experiment.schema import (
        ConditionResult,
        ModelRecord,
        RunResult,
        TransformationRecord,
    )

_FINGERPRINT = re.compile(r"[0-9a-f]{32,}")


def to_toml(results: RunResult, condition: ConditionResult) -> str:
    """Write what is known of a configuration, as ``ietest-fast run FILE`` takes it.

    Names of files are not among what a run keeps, for files count by what is in them. They are left
    open (``"..."``), each beside the fingerprint of what has to stand there; of what a run does not
    keep at all, such as a block list, a comment says that it may have been given.
    """
    settings = results.settings
    data, split, demo = settings.data, settings.data.split, settings.data.demo
    draws = settings.method != "exact" or settings.correction in JOINT_CORRECTIONS
    lines = [
        _line("rho", settings.rho),
        *([] if settings.mode == "replace" else [_line("mode", settings.mode)]),
        *([] if condition.train_size is None else [_line("train_size", condition.train_size)]),
        *_say_evaluated(results),
        _line("n_classifiers", settings.n_classifiers),
        _line("alpha", settings.alpha),
        *(
            []
            if settings.correction == "bonferroni"
            else [_line("correction", settings.correction)]
        ),
        _line("margin", settings.margin),
        _line("flip_margin", settings.flip_margin),
        *([_line("strata", list(settings.strata))] if settings.strata else []),
        _line("seed", settings.seed),
        _line("method", settings.method),
        # Otherwise S is that of Cochran's Q, which is about several transformations.
        *(_given("n_resamples", settings.n_resamples) if draws else []),
        "",
        "[data]",
    ]
    if demo is not None:
        lines += [_line("demo", demo.to_dict())]
    elif split is not None:
        parts = {name: value for name, value in split.to_dict().items() if value is not None}
        lines += [f'train = "..."  # {data.train}'] * (split.n_train is None)
        lines += [
            f"# valid: {data.valid}",
            f"# test: {data.test}",
            _line("split", {"file": "...", **parts}),
        ]
    else:
        lines += [
            f'{name} = "..."  # {fingerprint}' for name, fingerprint in data.fingerprints.items()
        ]
    lines += [*_given("name", data.name), *_given("cluster", data.cluster)]
    if demo is None:
        lines += [
            _line("text_columns", results.data.text_columns),
            _line("label_names", results.data.label_names),
            *_given("label_column", results.data.label_column),
            "# missing_text, quoted and csv as the files need them",
        ]
    lines += _say_transformation(results.transformation_of(condition))
    lines += _say_model(results.model_of(condition))
    software = ", ".join(f"{name} {version}" for name, version in results.software.items())
    return "\n".join([f"# {condition.signature}", f"# {software}", *lines]) + "\n"


def _say_transformation(phi: TransformationRecord) -> list[str]:
    options = phi.settings.get("options")
    said = options.items() if isinstance(options, dict) else ()
    return [
        "",
        "[transformation]",
        *_given("name", phi.settings.get("name")),
        # Files are recorded by what is in them; where they stood, nobody knows.
        *[f"# {name}: {_value(value)}" for name, value in said],
        f"# fingerprint of all this: {phi.inputs}",
        f"# made: {phi.name} {phi.fingerprint}",
    ]


def _say_evaluated(results: RunResult) -> list[str]:
    """Write the transformations of further test sets as far as a run keeps them: files are not."""
    if not results.evaluated:
        return []
    return [
        _line("eval_phi", [each.key for each in results.evaluated]),
        *[
            f"# {each.key}: {_value(each.settings.get('options', {}))}, fingerprint {each.inputs}"
            for each in results.evaluated
        ],
    ]


def _say_model(record: ModelRecord) -> list[str]:
    model = record.settings
    lines = ["", "[model]", _line("name", model.name), *_say_options(model.options)]
    for name in ("params", "search", "input"):
        lines += _given(name, getattr(model, name))
    if model.params is None and isinstance(model.search, int) and record.params:
        lines.append(f"# found by the search: {json.dumps(record.params)}")
    for name, usual in (("search_per_resample", False), ("n_voters", 1)):
        lines += [_line(name, getattr(model, name))] * (getattr(model, name) != usual)
    return lines


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
