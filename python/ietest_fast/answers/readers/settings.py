"""How a model was asked: settings under all their names, and files that state one twice.

Each harness writes its settings in several places, under names of its own. A setting that two
places give otherwise is a contradiction, and so are requests that were sent otherwise.
"""

from __future__ import annotations

import contextlib
import json
import re
from typing import TYPE_CHECKING, Any

from ietest_fast.corpus.labels import label_key
from ietest_fast.values import as_text, show_value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


CHAT_TEMPLATE = "chat_template"
MODEL_OF_ANSWERS = "output.model"
MODEL_ARGS = "eval.model_args"
OF_MODELS = frozenset(
    {CHAT_TEMPLATE, MODEL_OF_ANSWERS, MODEL_ARGS, "config.model"}
    | {f"model_{part}" for part in ("args", "dtype", "num_parameters", "revision", "sha")}
    | {"max_length"}
)
"""Settings that each model may have its own of."""
OF_SOME = OF_MODELS - {CHAT_TEMPLATE, MODEL_ARGS, "model_args"}
"""Those of which nothing is known where there is no value."""
OF_REQUESTS = (
    "num_train_instances",
    *(f"request.{name}" for name in ("model", "model_deployment", "temperature", "max_tokens")),
    *(f"request.{name}" for name in ("top_p", "top_k_per_token", "num_completions")),
    *(f"request.{name}" for name in ("stop_sequences", "presence_penalty", "frequency_penalty")),
)
"""How HELM has asked, by where it stands in a request."""
OF_TABLES = (
    *("checkpoint", "ckpt", "engine", "model_version", "model_id", "model_path", "model_revision"),
    *("model_hash", "classifier", "temperature", "top_p", "top_k", "max_tokens"),
    *("max_new_tokens", "n_shot", "n_shots", "num_shots", "num_fewshot", "do_sample"),
    *("num_beams", "quantization", "dtype", "revision", "system_prompt", "system_message"),
    *("max_length", "max_seq_length", "max_seq_len", "epoch", "epochs", "step", "global_step"),
    *("learning_rate", "train_seed", "training_seed", "model_seed", "tokenizer", "adapter"),
    *("lora_adapter", "adapter_name", "lora", "peft", "precision", "model_dtype", "torch_dtype"),
    *("model_sha", "sha", "git_sha", "git_hash", "commit", "git_commit", "commit_hash", "weights"),
    *("model_type", "model_size", "model_file", "model_deployment", "deployment", "provider"),
    *("api_version", "backend", "framework", "optimizer"),
)
"""Columns of tables that say which model has answered, and how it was asked; compared by model."""
_ALIASES = {
    "max_tokens": ("max_new_tokens", "max_gen_toks", "max_completion_tokens"),
    "stop": ("until", "stop_sequences", "stop_seqs"),
    "num_completions": ("num_outputs", "num_return_sequences", "num_choices"),
    "top_k": ("top_k_per_token",),
    "dtype": ("torch_dtype", "model_dtype"),
    "revision": ("model_revision",),
}
_NAMES = {alias: name for name, own in _ALIASES.items() for alias in own}
"""What else harnesses and servers call a setting, and what it is called here."""
_LEFT_OPEN = frozenset({"", "auto", "none", "null"})
"""Values of settings that leave them to the program."""
_SAME = 1e-6  # some servers take no temperature of 0
_PLACE_IN_MEMORY = re.compile(r" at 0x[0-9a-fA-F]+")
_LIBRARY = re.compile(r"^(torch|jnp|jax\.numpy|tf)\.")


def split_options(given: Any) -> dict[str, Any]:
    """Return options that stand in an object or in ``a=1,b=2``."""
    if isinstance(given, str):
        given = dict(part.partition("=")[::2] for part in given.split(","))
    if not isinstance(given, dict):
        return {}
    return {
        str(name).strip(): value.strip() if isinstance(value, str) else value
        for name, value in given.items()
    }


def are_same(one: Any, other: Any) -> bool:
    """Whether two values of a setting mean the same: numbers may be texts, and one text a list."""
    texts = [label_key(as_text(value) or "") for value in (one, other)]
    with contextlib.suppress(ValueError):
        return abs(float(texts[0]) - float(texts[1])) <= _SAME
    return _LIBRARY.sub("", texts[0]) == _LIBRARY.sub("", texts[1])


def find_contradictions(places: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say which settings stand in two places, and mean something else there.

    Of a revision, what stands behind a slash is a folder in it.
    """
    known: dict[str, tuple[str, Any]] = {}
    said = []
    for place, options in places.items():
        for called, value in options.items():
            name = _NAMES.get(called, called)
            if _is_open(value):
                continue
            own = str(value).partition("/")[0] if name == "revision" else value
            first, before = known.setdefault(name, (f"{called} in {place}", own))
            if not are_same(before, own):
                said.append(
                    f"{first} is {show_value(before)}, and {called} in {place} is {show_value(own)}"
                )
    return said


def _is_open(value: Any) -> bool:
    """Whether a place says nothing of a setting, or leaves it to the program."""
    return value is None or (isinstance(value, str) and label_key(value) in _LEFT_OPEN)


def count_asked_otherwise(
    places: Mapping[str, Mapping[str, Any]],
    asked: Sequence[Mapping[str, Any]],
    noun: str,
    *,
    but: Collection[str] = (),
) -> list[str]:
    """Count the requests, each with its own options, that were sent otherwise than places say.

    What a request leaves out, or what is in `but`, is not compared.
    """
    own = [{_NAMES.get(name, name): value for name, value in each.items()} for each in asked]
    said = []
    for place, given in places.items():
        for called, value in given.items():
            name = _NAMES.get(called, called)
            sent = [each[name] for each in own if not _is_open(each.get(name))]
            others = [each for each in sent if not are_same(each, value)]
            if others and called not in but and not _is_open(value):
                which = f"{len(others):,} of {len(own):,} {noun} were asked with"
                said.append(
                    f"{called} is {show_value(value)} in {place}, and {which} "
                    f"{show_value(others[0])}"
                )
    return said


def list_settings(given: Any, but: Collection[str]) -> dict[str, Any]:
    """Return the settings in an object that are not among those in `but`.

    What is empty or false is what a program does without: None.
    """
    kept = given.items() if isinstance(given, dict) else ()
    return {
        name: None if value is False or value in ("", [], {}) else _strip_places(value)
        for name, value in kept
        if name not in but
    }


def list_named(given: Any, key: str, names: Collection[str]) -> dict[str, list[Any]]:
    """Return what a list of objects says of some of them, by their names."""
    found: dict[str, list[Any]] = {}
    for each in given if isinstance(given, list) else ():
        name = as_text(each.get(key)) if isinstance(each, dict) else None
        if name in names:
            own = {part: value for part, value in each.items() if part != key}
            found.setdefault(str(name), []).append(_strip_places(own))
    return found


def _strip_places(value: Any) -> Any:
    """Return a value without where functions in it lay in memory, which says nothing of it."""
    return json.loads(_PLACE_IN_MEMORY.sub("", json.dumps(value)))
