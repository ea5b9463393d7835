"""What lm-evaluation-harness states twice: settings, metrics and models, in a log and beside it."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any

from ietest_fast.answers.file import plain_name
from ietest_fast.answers.readers.base import find_standard_error, lookup, say_other_mean
from ietest_fast.answers.readers.settings import (
    CHAT_TEMPLATE,
    are_same,
    count_asked_otherwise,
    find_contradictions,
    list_named,
    list_settings,
    split_options,
)
from ietest_fast.corpus.labels import label_key
from ietest_fast.errors import InputError
from ietest_fast.files import MOST_SETTINGS, read_json
from ietest_fast.values import as_finite, show_names, show_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


# Metrics of the harness of which lower is better. Samples have perplexities as log-likelihoods, of
# which higher is better.
_LOWER_IS_BETTER = frozenset({"brier_score", "likelihood_diff", "mae", "pct_stereotype"})
_PERPLEXITIES = frozenset({"perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte"})
# Options of a model that make no other model of it; its name stands elsewhere.
_OF_BATCHES = frozenset(
    {"", "pretrained", "model", "batch_size", "max_batch_size", "device", "device_map"}
    | {"parallelize", "num_concurrent", "max_retries", "timeout", "base_url", "cache_dir"}
    | {"tokenized_requests", "tensor_parallel_size", "data_parallel_size"}
    | {"gpu_memory_utilization"}
)
# Options of a model that name it, as the harness finds its name.
_NAMES_OF_MODELS = ("peft", "delta", "pretrained", "model", "path", "engine")
# Options of requests that mean the same as none, and the one that cuts answers only.
_GREEDY = {"temperature": 0, "do_sample": False}
_LONGEST = "max_gen_toks"
# What the results of a run say beside how a model was asked; some stand there in other places.
_OF_RUNS = frozenset(
    {"batch_size", "batch_sizes", "bootstrap_iters", "device", "limit", "model", "model_args"}
    | {"numpy_seed", "random_seed", "torch_seed", "use_cache"}
)
# The same of a task, such as its data, which are others in a task that has been reworded.
_OF_DATA = frozenset(
    {"custom_dataset", "dataset_kwargs", "dataset_name", "dataset_path", "doc_to_target"}
    | {"doc_to_text", "fewshot_split", "filter_list", "generation_kwargs", "group", "metadata"}
    | {"metric_list", "num_fewshot", "process_docs", "tag", "task", "task_alias", "test_split"}
    | {"training_split", "unsafe_code", "validation_split"}
    | {"doc_to_decontamination_query", "should_decontaminate"}
)
_OF_EXAMPLES = frozenset(
    {"fewshot_as_multiturn", "fewshot_config", "fewshot_delimiter", "fewshot_seed"}
)
# A filter makes the same of equal responses in at least nine of ten, or it depends on more.
_ONE_IN = 10
_STAMP = re.compile(r"_\d{4}-\d\d-\d\d(T[\d\-.:]+)?$")


def name_task(path: Path) -> str:
    """Return the task in the name of a log."""
    return _STAMP.sub("", plain_name(path)).removeprefix("samples_")


def compare_hashes(samples: list[dict[str, Any]], path: Path) -> list[str]:
    """Count the samples whose target, document or prompt is not that of the hash beside it.

    The hashes are those of the harness where they fit any sample.
    """
    made: dict[str, Callable[[dict[str, Any]], str | None]] = {
        "target": lambda record: str(record.get("target")),
        "doc": lambda record: json.dumps(record["doc"], indent=2, ensure_ascii=False),
        "prompt": _first_argument,
    }
    said = []
    for name, make in made.items():
        fits = [
            sha256(text.encode()).hexdigest() == record[f"{name}_hash"]
            for record in samples
            if isinstance(record.get(f"{name}_hash"), str) and (text := make(record)) is not None
        ]
        n = fits.count(False)
        if n and any(fits):
            said.append(
                f"Warning: in {n:,} of {len(samples):,} samples of {path} the {name} is not the "
                f"one that {name}_hash was made of, so the log was edited; the {name} counts."
            )
    return said


def _first_argument(record: dict[str, Any]) -> str | None:
    """Return the text of a sample's first request; None if it has none."""
    given = record.get("arguments")
    first = next(iter(given.values()), None) if isinstance(given, dict) else given
    while isinstance(first, list) and first:
        first = first[0]
    text = first.get("arg_0") if isinstance(first, dict) else first
    return text if isinstance(text, str) else None


def compare_responses(samples: list[dict[str, Any]], used: str, path: Path) -> list[str]:
    """Say in how many samples the filter ``none``, which takes the first response, gives another.

    A task may call a filter of its own so; then the harness has judged what that one gives.
    """

    def differs(record: dict[str, Any]) -> bool:
        kept, given = (record.get(name) for name in ("filtered_resps", "resps"))
        if not isinstance(kept, list) or not isinstance(given, list) or not all(given):
            return False
        first = [each[0] if isinstance(each, list) else each for each in given]
        return kept not in (first, given)

    if used != "none":
        return _say_otherwise_filtered(samples, path)
    n = sum(map(differs, samples))
    note = (
        f"Warning: in {n:,} of {len(samples):,} samples of {path} filtered_resps is not the first "
        "of resps, which the filter 'none' takes; filtered_resps counts."
    )
    return [note] if n else []


def _say_otherwise_filtered(samples: list[dict[str, Any]], path: Path) -> list[str]:
    """Count the samples of which a filter made another answer than of most equal responses.

    A filter that looks at the choices of each document, or draws, makes many of one response, but
    mostly leaves one that is an answer already.
    """
    made: dict[str, Counter[str]] = {}
    is_left: dict[str, Counter[bool]] = {}
    for record in samples:
        both = [record.get(name) for name in ("resps", "filtered_resps")]
        given, kept = map(json.dumps, both)
        made.setdefault(given, Counter())[kept] += 1
        said, answer = map(_only_text, both)
        if said is not None:
            is_left.setdefault(said, Counter())[said == answer] += 1
    n_all = sum(each.total() for each in made.values() if each.total() > 1)
    n = n_all - sum(max(each.values()) for each in made.values() if each.total() > 1)
    if n * _ONE_IN > n_all:
        n = 0
    n = max(n, sum(each[False] for each in is_left.values() if each[True] > each[False]))
    if not n:
        return []
    note = (
        f"Warning: in {n:,} of {len(samples):,} samples of {path} filtered_resps is another answer "
        "than the filter made of equal resps; filtered_resps counts."
    )
    return [note]


def _only_text(value: Any) -> str | None:
    """Return the key of the one text in lists; None if there are several, or none."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return label_key(value) if isinstance(value, str) else None


def _results_beside(path: Path) -> Path | None:
    """Return where the harness writes the results of a log; None if the log was renamed."""
    stamp = _STAMP.search(plain_name(path))
    return path.with_name(f"results{stamp.group()}.json") if stamp else None


def read_results(path: Path) -> tuple[Any, list[str]]:
    """Return the results that the harness has written beside a log; None if there are none."""
    beside = _results_beside(path)
    if beside is None or not beside.is_file():
        return None, []
    try:
        return read_json(beside, most_bytes=MOST_SETTINGS), []
    except InputError as error:
        return None, [f"{error}; it is not compared with {path.name}."]


def find_model(results: Any) -> str | None:
    """Return the model's name by the results beside a log; the harness may not know it."""
    name = _step(results, "model_name")
    return name if name and isinstance(name, str) else None


def find_settings(
    results: Any, samples: list[dict[str, Any]], metric: str | None, path: Path
) -> dict[str, Any]:
    """Return how the harness asked and judged, by the samples and the results beside a log."""
    found = _list_asked(samples)
    if not isinstance(results, dict):
        return found
    task = _step(results, "configs", name_task(path))
    metrics = list_named(_step(task, "metric_list"), "metric", {str(metric)})
    filters = list_named(_step(task, "filter_list"), "name", {str(samples[0].get("filter"))})
    n_shot = _step(results, "n-shot", name_task(path))
    config = _step(results, "config")
    without = frozenset() if n_shot else _OF_EXAMPLES
    asked = ("system_instruction", CHAT_TEMPLATE, "fewshot_as_multiturn", "max_length")
    return {
        "n-shot": n_shot,
        "config.model": _step(config, "model"),
        "model_args": _read_model_args(_step(config, "model_args")),
        "gen_kwargs": None,
        **list_settings(config, _OF_RUNS | without),
        **list_settings({name: results.get(name) for name in asked}, without),
        **list_settings(task, _OF_DATA | without),
        **{f"metric_list.{name}": own for name, own in metrics.items()},
        **{f"filter_list.{name}": own for name, own in filters.items()},
        **found,
    }


def _list_asked(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the options of the generated answers, where samples have some; several as a list.

    What the harness takes for an option that is not there is left out.
    """
    kinds: dict[str, Any] = {}
    for given in (each for each in map(_read_options, samples) if each is not None):
        own = {
            name: value
            for name, value in sorted(given.items())
            if not (value is None or name == _LONGEST)
            and not (name in _GREEDY and are_same(value, _GREEDY[name]))
        }
        kinds[json.dumps(own)] = own
    several = [kinds[key] for key in sorted(kinds)]
    return {"arguments": several if len(several) > 1 else several[0]} if several else {}


def _read_options(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return how a sample's first request was to be answered; None of a choice."""
    given = record.get("arguments")
    first = next(iter(given.values()), None) if isinstance(given, dict) else given
    while isinstance(first, list) and first and isinstance(first[0], list):
        first = first[0]
    own = lookup(first, "arg_1") if isinstance(first, dict) else lookup(first, "1")
    return own if isinstance(own, dict) else None


def _read_model_args(given: Any) -> dict[str, str] | None:
    """Return the options of a model but its name, and how many requests are made at once."""
    kept = {name: str(own).strip() for name, own in sorted(split_options(given).items())}
    return {name: own for name, own in kept.items() if name not in _OF_BATCHES} or None


def compare_places(results: Any, samples: list[dict[str, Any]], path: Path) -> list[str]:
    """Say what the results beside a log state twice, or otherwise than its samples."""
    beside = _results_beside(path)
    if not isinstance(results, dict) or beside is None:
        return []
    task = name_task(path)
    about, config = _step(results.get("configs"), task), _step(results, "config")
    metadata = _step(about, "metadata")
    options = {
        "config.model_args": split_options(_step(config, "model_args")),
        f"configs.{task}.metadata": metadata if isinstance(metadata, dict) else {},
    }
    others = {
        place: {name: value for name, value in own.items() if name not in _NAMES_OF_MODELS}
        for place, own in options.items()
    }
    asked = {
        "config.gen_kwargs": split_options(_step(config, "gen_kwargs")),
        f"configs.{task}.generation_kwargs": split_options(_step(about, "generation_kwargs")),
    }
    kept = {name: _step(config, name) for name in ("model_dtype", "model_revision")}
    version = {"version": _step(results.get("versions"), task)}
    source = {"model": results.get("model_source")}
    own = {"model": _step(config, "model")}
    said = [
        *_say_other_model(results, options),
        *find_contradictions({"versions": version, **others, "config": kept}),
        *find_contradictions({"model_source": source, "config": own}),
        *_say_other_shots(results, task),
        *count_asked_otherwise(
            asked, [_read_options(record) or {} for record in samples], "samples", but={_LONGEST}
        ),
        *_say_limit(results, len(samples), task),
        *_say_other_hashes(results),
    ]
    named = _step(about, "task")
    if isinstance(named, str) and named != task:
        said.append(f"the task of configs.{task} is {show_value(named)}")
    stated = results.get("results")
    if isinstance(stated, dict) and stated and task not in stated:
        said.append(f"results has {show_names([*map(str, stated)])}, and not {task}")
    note = (
        f"Warning: {beside.name} beside {path} contradicts itself or the log: {'; '.join(said)}. "
        "Take both files as the harness has written them."
    )
    return [note] if said else []


def _say_other_model(results: dict[str, Any], places: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say that the harness's name of a model is another than the options of the model give."""
    name = find_model(results)
    said = []
    for place, options in places.items():
        named = [options[key] for key in _NAMES_OF_MODELS if options.get(key)]
        if name and named and not any(_is_in_path(name, str(own)) for own in options.values()):
            which = f"{place} names {show_value(named[0])}"
            said.append(f"model_name, which counts, is {show_value(name)}, and {which}")
    folder = results.get("model_name_sanitized")
    if name and isinstance(folder, str) and not _is_in_path(folder, name):
        which = f"model_name_sanitized is {show_value(folder)}"
        said.append(f"model_name, which counts, is {show_value(name)}, and {which}")
    return said


def _is_in_path(name: str, path: str) -> bool:
    """Whether a model may be called so that lies at a path; in names of folders, / is __.

    Names of folders and files are compared whole: gpt2 is not in gpt2-large.
    """
    part, whole = (
        [
            re.sub(r"\W+", "_", each)
            for each in re.split(r"[/\\,=:@]|__|--", label_key(given))
            if each
        ]
        for given in (name, path)
    )
    return any(whole[i : i + len(part)] == part for i in range(len(whole)))


def _say_other_shots(results: dict[str, Any], task: str) -> list[str]:
    """Say that a task was set up with another number of examples than the results give.

    Of examples that stand in the prompt of a task, its metadata give the number.
    """
    n, about = _step(results.get("n-shot"), task), _step(results.get("configs"), task)
    own = _step(about, "num_fewshot")
    known = [own, lookup(about, "metadata.num_fewshot")]
    if type(n) is not int or type(own) is not int or n in known:
        return []
    return [f"n-shot, which counts, is {n}, and configs.{task}.num_fewshot is {own}"]


def _say_other_hashes(results: dict[str, Any]) -> list[str]:
    """Say which texts that every sample begins with are not those that the harness has hashed."""
    said = []
    for name in ("system_instruction", "chat_template"):
        text, stated = results.get(name), results.get(f"{name}_sha")
        own = sha256(text.encode()).hexdigest() if isinstance(text, str) and text else None
        if isinstance(stated, str) and stated != own:
            said.append(f"{name}_sha is not the hash of {name}, so one of them was edited")
    return said


def _say_limit(results: dict[str, Any], n: int, task: str) -> list[str]:
    """Say that there are more samples than a limit lets through; below 1, it is a share."""
    limit = as_finite(lookup(results, "config.limit"))
    every = _step(results.get("n-samples"), task, "original")
    if type(every) is int and n > every:
        return [f"n-samples.{task}.original is {every:,}, and there are {n:,} samples"]
    known = _step(results.get("n-samples"), task, "effective")
    is_whole = limit is None and isinstance(results.get("config"), dict)
    if (
        is_whole
        and lookup(results, "config.samples") is None
        and {type(every), type(known)} == {int}
    ):
        which = f"and effective is {known:,} without a limit"
        return [f"n-samples.{task}.original is {every:,}, {which}"] if known < every else []
    if limit is None or limit <= 0:
        return []
    most = int(limit)
    if limit < 1:
        most = math.ceil(every * limit) if type(every) is int else n
    return [f"config.limit is {limit:g}, and there are {n:,} samples"] if n > most else []


def say_lower_is_better(
    results: Any, metric: str, threshold: float | None, path: Path
) -> list[str]:
    """Say that what counts as right is worse, as the results or the harness itself have it."""
    beside = _results_beside(path)
    said = _step(results, "higher_is_better", name_task(path), metric)
    by = None if beside is None else beside.name
    if not isinstance(said, bool):
        said, by = metric not in _LOWER_IS_BETTER, "lm-evaluation-harness"
    if said or metric in _PERPLEXITIES:
        return []
    which = "1 counts" if threshold is None else f"{threshold:g} and more count"
    note = (
        f"Warning: {path}: of {metric}, lower is better, says {by}; here {which} as right, so a "
        "greater accuracy is worse. --correct-columns names another metric."
    )
    return [note]


def compare_results(
    results: Any,
    samples: list[dict[str, Any]],
    metric: str,
    correct: list[bool | None],
    path: Path,
) -> list[str]:
    """Say where the results that the harness has written beside the log are other ones."""
    beside = _results_beside(path)
    if results is None or beside is None:
        return []
    task = name_task(path)
    n = _step(results, "n-samples", task, "effective")
    stated, used = _step(results, "results", task), samples[0].get("filter", "none")
    mean = _step(stated, f"{metric},{used}")
    stated_n = [each for each in (n, _step(stated, "sample_len")) if type(each) is int]
    said = [
        f"Warning: {path} has {len(samples):,} samples, and {beside.name} beside it counts {n:,}; "
        "is a part of the log missing?"
        for n in dict.fromkeys(stated_n)
        if n != len(samples)
    ]
    for name, key, own in (("metric_list", "metric", metric), ("filter_list", "name", used)):
        listed = lookup(_step(results, "configs", task), name)
        given = [_step(each, key) for each in (listed if isinstance(listed, list) else ())]
        if given and own not in given and all(isinstance(each, str) for each in given):
            said.append(
                f"Warning: {beside.name} beside {path} lists {show_names(given)} in {name}, and "
                f"the samples are of {own}, which counts; take both files from one run."
            )
    known = [float(outcome) for outcome in correct if outcome is not None]
    numbers = {metric: (mean, sum(known) / max(len(known), 1))}
    numbers[f"{metric}_stderr"] = (
        as_finite(_step(stated, f"{metric}_stderr,{used}")),  # or N/A
        find_standard_error(known),
    )
    for name, (there, own) in numbers.items():
        said += say_other_mean(name, own, there, path, f"{beside.name} beside it")
    return said


def _step(value: Any, *names: str) -> Any:
    """Return what names lead to in objects, one after the other; they may have dots in them."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def document_of(record: dict[str, Any]) -> str:
    """Return what tells whether two samples are of the same row of the data.

    By the hash in the log and the document beside it, which may have been edited.
    """
    said = json.dumps([record.get("doc_hash"), record["doc"]], sort_keys=True)
    return blake2b(said.encode(), digest_size=16).hexdigest()
