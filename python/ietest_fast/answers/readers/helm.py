"""HELM's ``scenario_state.json``: the requests of one run, perturbed instances among them."""

from __future__ import annotations

import json
import math
import re
import string
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ietest_fast import files
from ietest_fast.answers.readers.base import (
    Log,
    Repeats,
    hash_prompts,
    lookup,
    name_right,
    plain_array,
    plain_question,
    read_json,
    repeat_numbers,
    say_lacking_prompts,
    text_array,
)
from ietest_fast.answers.readers.settings import (
    OF_REQUESTS,
    count_asked_otherwise,
    find_contradictions,
)
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.values import as_finite, as_seen, as_text, show_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.answers.readers.base import Fields, FileStart


_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_LETTER = re.compile("[A-Za-z]")
_CHOICE = re.compile(r"^[ \t]*\(?([A-Za-z])[.):][ \t]+(.+)$", re.MULTILINE)  # A. text
_ORIGINAL = "original"
_NAME = "scenario_state.json"
_RUN = "run_spec.json"
_RESULTS = "stats.json"
_RESULTS_OF_EACH = "per_instance_stats.json"
# HELM's metrics that are the share of right answers: of choices, and of free texts.
_MATCHES = ("exact_match", "quasi_exact_match")
_SAME_MEAN = 1e-6
# Requests to other models are counted by themselves.
_ONE_TRIAL = "language_modeling"  # methods that have one trial, whatever is asked for
_MODELS = frozenset({"model", "model_deployment"})
# What a perturbation is for, which is no parameter of it.
_ABOUT_ALL = frozenset({"name", "robustness", "fairness", "computed_on"})


class HelmReader:
    """Reads ``scenario_state.json``; each perturbation is a version."""

    summary = "HELM, scenario_state.json"

    def recognises(self, start: FileStart) -> bool:
        """Look for the first key of a scenario's state."""
        return start.is_json and b'"adapter_spec"' in start.head and b'"method"' in start.head

    def name_task(self, start: FileStart) -> str:
        """Return the run, which is the folder's name."""
        return _name_task(start.path)

    def read(self, path: Path, fields: Fields) -> Sequence[Log]:
        """Read all requests, and hold each completion against the correct references."""
        state = read_json(path)
        about, requests = state.get("adapter_spec"), state.get("request_states")
        if not isinstance(about, dict) or not isinstance(requests, list) or not requests:
            raise InputError("has no requests of HELM", path=path)
        valid: list[dict[str, Any]] = []
        for number, request in enumerate(requests):
            if not isinstance(request, dict) or not isinstance(request.get("instance"), dict):
                raise InputError("has no instance", path=path, row=f"request {number}")
            if request.get("reference_index") is not None:
                raise InputError(
                    f"the method {about.get('method')!r} scores single references, which "
                    "cannot be compared here; use a method that has one completion for "
                    "each instance",
                    path=path,
                )
            valid.append(request)
        by_version = _split_versions(valid)
        if len(by_version) > 1 and _ORIGINAL not in by_version:
            raise InputError(
                f"has {len(by_version)} perturbations and no unperturbed instances, with which "
                "their answers could be compared; run HELM with include_original",
                path=path,
            )
        is_choice = "multiple_choice" in str(about.get("method"))
        model = about.get("model_deployment") or about.get("model")
        notes = (
            *_say_failures(valid, path),
            *_say_several(valid, path),
            *_say_splits(valid, path),
            *_say_amounts(about, valid, path),
            *_say_other_models(about, valid, path),
            *_say_other_settings(about, valid, path),
            *say_lacking_prompts(
                [lookup(each, "instance.input.text") for each in valid],
                [_list_shown(each) for each in valid],
                path,
            ),
        )
        if is_choice:
            _check_letters(valid, path)
            notes += _say_unmapped(valid, path)
            notes += _say_other_letters(valid, path)
        notes += _say_other_means(valid, path, is_choice=is_choice)
        notes += _say_other_marks(valid, path, is_choice=is_choice)
        found: list[Log] = []
        for version, rows in by_version.items():
            read = [_read_answer(row, path, is_choice=is_choice) for row in rows]
            ids = [lookup(row["instance"], fields.item or "id") for row in rows]
            columns = {
                name: plain_array([_kept(row, name) for row in rows]) for name in fields.keep
            }
            inputs = [_read_question(row["instance"]) for row in rows]
            found.append(
                Log(
                    path=path,
                    name=_name_task(path),
                    items=plain_array(ids),
                    gold=text_array(gold for gold, _, _ in read),
                    predicted=text_array(answer for _, answer, _ in read),
                    right=pa.array([name_right(_list_right(row, path)) for row in rows]),
                    correct=pa.array([right for _, _, right in read], pa.bool_()),
                    inputs=pa.array(inputs),
                    prompts=hash_prompts(list(map(_read_prompt, rows)), inputs),
                    repeats=Repeats(
                        numbers=repeat_numbers(
                            (row.get("train_trial_index") for row in rows), first=0
                        ),
                        noun="trial",
                        column="instance_id",
                    ),
                    version=version if len(by_version) > 1 else None,
                    model=None if model is None else str(model),
                    settings=_find_settings(about, rows),
                    columns=columns,
                    gold_column="references",
                    predicted_column="completions",
                    is_scored=True,
                    marks_unparsed=True,
                    notes=() if found else notes,
                )
            )
        return found


def _name_task(path: Path) -> str:
    return path.parent.name or path.stem


def _read_question(instance: dict[str, Any]) -> str:
    """Return what an instance asks: its text, and messages or pictures where it has them."""
    asked = instance.get("input")
    if not isinstance(asked, dict):
        return json.dumps(plain_question(asked))
    messages = asked.get("messages") or asked.get("text")
    return json.dumps([plain_question(messages), asked.get("multimedia_content")], sort_keys=True)


def _read_prompt(request: dict[str, Any]) -> str | None:
    shown = _list_shown(request)
    return json.dumps(shown) if shown else None


def _list_shown(request: dict[str, Any]) -> Any:
    """Return what the model was shown; None where it was cut, or is not of words alone."""
    asked = request["instance"].get("input")
    has_media = isinstance(asked, dict) and asked.get("multimedia_content")
    if request.get("prompt_truncated") or has_media or lookup(request, "request.multimodal_prompt"):
        return None
    shown = lookup(request, "request.messages") or lookup(request, "request.prompt")
    return plain_question(shown) if shown else None


def _split_versions(requests: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the requests of each version by its name, the unperturbed ones first.

    A perturbation is called by its name and plain parameters. Its seed, and parameters that are
    objects, tell versions apart only where an instance would otherwise have several answers.
    """
    found: dict[str, list[dict[str, Any]]] = {_ORIGINAL: []}
    for request in requests:
        found.setdefault(_version(request), []).append(request)
    split: dict[str, list[dict[str, Any]]] = {}
    for name, rows in found.items():
        again = len({_name_row(row) for row in rows}) < len(rows)
        for row in rows:
            split.setdefault(_version(row, whole=True) if again else name, []).append(row)
    return split


def _name_row(request: dict[str, Any]) -> str:
    return json.dumps([request["instance"].get("id"), request.get("train_trial_index")])


def _version(request: dict[str, Any], *, whole: bool = False) -> str:
    """Name the version of a request, with all parameters or the plain ones only."""
    perturbation = request["instance"].get("perturbation")
    if not isinstance(perturbation, dict):
        return _ORIGINAL
    name = perturbation.get("name")
    # HELM repeats the unperturbed instances beside the perturbed ones, marked as such.
    if perturbation.get("computed_on") == _ORIGINAL and name in (None, "identity"):
        return _ORIGINAL
    options = [
        f"{key}={value if not isinstance(value, (dict, list)) else json.dumps(value)}"
        for key, value in sorted(perturbation.items())
        if key not in _ABOUT_ALL
        and value is not None
        and (whole or (key != "seed" and isinstance(value, (str, int, float))))
    ]
    return ":".join([str(name), *([",".join(options)] if options else [])])


def _read_answer(
    request: dict[str, Any], path: Path, *, is_choice: bool
) -> tuple[str | None, str | None, bool | None]:
    """Return the first right answer, the model's, and whether it is right."""
    instance = request["instance"]
    right = _list_right(request, path)
    completions = _as_list(lookup(request, "result.completions"))
    if not completions or _has_failed(request):
        return right[0], None, None
    odd = next((each for each in completions if not isinstance(each, dict)), None)
    if odd is not None:
        raise InputError(
            f"a completion of instance {instance.get('id')!r} is {show_value(odd)}; an object with "
            "the field text expected",
            path=path,
        )
    text = _read_likeliest(request)
    mapping = request.get("output_mapping")
    if isinstance(mapping, dict) and mapping:
        answer = as_text(mapping.get(text))
        if is_choice or answer is not None:
            return right[0], answer, answer in right
    plain = _simplify(text)
    return right[0], text or None, any(plain == _simplify(each) for each in right)


def _read_likeliest(request: dict[str, Any]) -> str:
    """Return the text that HELM judges of several completions: the likeliest, or the first."""
    found = [
        each for each in _as_list(lookup(request, "result.completions")) if isinstance(each, dict)
    ]

    def rank(completion: dict[str, Any]) -> float:
        score = as_finite(completion.get("logprob"))
        return -math.inf if score is None else score

    return str(max(found, key=rank, default={}).get("text") or "").strip()


def _say_several(requests: Sequence[dict[str, Any]], path: Path) -> tuple[str, ...]:
    n = sum(len(_as_list(lookup(each, "result.completions"))) > 1 for each in requests)
    note = (
        f"{path}: of {say_count(n, 'request')} with several completions, the likeliest counts, as "
        "in HELM."
    )
    return (note,) if n else ()


def _list_right(request: dict[str, Any], path: Path) -> list[str]:
    """Return all right answers, of which any will do."""
    instance = request["instance"]
    right = [
        str(lookup(each, "output.text"))
        for each in _as_list(instance.get("references"))
        if isinstance(each, dict) and "correct" in _as_list(each.get("tags"))
    ]
    if not right:
        raise InputError(
            f"instance {instance.get('id')!r} has no reference that is tagged as correct, so "
            "no answer to it is right or wrong; tag one, or remove its requests",
            path=path,
        )
    return right


def _has_failed(request: dict[str, Any]) -> bool:
    """Say whether HELM calls a request failed, whose completions, if any, are no answers."""
    return lookup(request, "result.success") is False


def _say_failures(requests: Sequence[dict[str, Any]], path: Path) -> tuple[str, ...]:
    said = []
    n = sum(map(_has_failed, requests))
    if n:
        failed = say_count(n, "request", "requests")
        said.append(f"Warning: {path}: {failed} failed, by result.success; they have no answer.")
    n = sum(bool(lookup(each, "result.error")) and not _has_failed(each) for each in requests)
    if n:
        odd = say_count(n, "request has", "requests have")
        said.append(f"Warning: {path}: {odd} an error in result.error; their completions count.")
    n = sum(request.get("prompt_truncated") is True for request in requests)
    if n:
        cut = say_count(n, "request had its", "requests had their")
        said.append(f"Warning: {path}: {cut} prompt cut to the model's length; the answers count.")
    return tuple(said)


def _check_letters(requests: Sequence[dict[str, Any]], path: Path) -> None:
    """Refuse answers by letters of which nobody knows for what references they stand.

    Without a mapping, each would be wrong. A reference may be a letter itself.
    """
    found = []
    for request in requests:
        letter = _read_likeliest(request).rstrip(".)")
        known = {_simplify(str(text)) for text in _list_references(request)}
        if _LETTER.fullmatch(letter) and not request.get("output_mapping"):
            found += [(request, letter)] * (_simplify(letter) not in known)
    if not found:
        return
    request, letter = found[0]
    n = say_count(len(found), "request has", "requests have")
    raise InputError(
        f"the answer {letter!r} to instance {request['instance'].get('id')!r} is a letter, and "
        f"there is no output_mapping, which says for which reference it stands; {n} none. Take "
        "the file as HELM has written it",
        path=path,
    )


def _say_unmapped(requests: Sequence[dict[str, Any]], path: Path) -> tuple[str, ...]:
    """Count the requests in which no letter stands for a right reference."""
    n = sum(
        isinstance(mapping, dict)
        and bool(mapping)
        and not set(map(as_text, mapping.values())) & set(_list_right(request, path))
        for request in requests
        for mapping in [request.get("output_mapping")]
    )
    note = (
        f"Warning: {path}: in {n:,} of {len(requests):,} requests no letter of output_mapping "
        "stands for a right reference, so that every answer is wrong."
    )
    return (note,) if n else ()


def _say_other_letters(requests: Sequence[dict[str, Any]], path: Path) -> tuple[str, ...]:
    """Count the requests whose prompt, or references, ``output_mapping`` contradicts."""
    whose = {
        "the prompt gives the choices other letters than output_mapping does": _has_other_letters,
        "output_mapping has other texts than the references of the instance": _has_other_texts,
    }
    counts = {said: sum(map(is_other, requests)) for said, is_other in whose.items()}
    return tuple(
        f"Warning: {path}: in {n:,} of {len(requests):,} requests {said}; output_mapping counts "
        "(take the file as HELM has written it)."
        for said, n in counts.items()
        if n
    )


def _has_other_texts(request: dict[str, Any]) -> bool:
    """Whether letters stand for other texts than those of the references, each of which has one."""
    mapping = request.get("output_mapping")
    if not isinstance(mapping, dict) or not mapping:
        return False
    given = [[str(text) for text in mapping.values()], list(map(str, _list_references(request)))]
    if given[0] == given[1]:
        return False
    texts, known = (sorted(as_seen(text).strip() for text in each) for each in given)
    return texts != known


def _has_other_letters(request: dict[str, Any]) -> bool:
    """Whether a prompt ends with the choices of a mapping, and these in other places.

    Examples before the question may have choices of their own.
    """
    mapping, shown = request.get("output_mapping"), _list_shown(request)
    if not isinstance(mapping, dict) or not isinstance(shown, list):
        return False
    words = "\n".join(str(part) for message in shown for part in _as_list(message))
    lines = {letter: as_seen(text) for letter, text in _CHOICE.findall(words)}
    own = {str(letter).strip(): as_seen(str(text)) for letter, text in mapping.items()}
    said = {letter: lines[letter] for letter in own if letter in lines}
    return said != own and sorted(said.values()) == sorted(own.values())


def _list_references(request: dict[str, Any]) -> list[Any]:
    """Return the texts of all references."""
    return [
        lookup(each, "output.text")
        for each in _as_list(request["instance"].get("references"))
        if isinstance(each, dict)
    ]


def _say_splits(requests: Sequence[dict[str, Any]], path: Path) -> list[str]:
    """Say of which parts of the data the instances are, where they are of several."""
    counts = Counter(as_text(request["instance"].get("split")) for request in requests)
    splits = ", ".join(f"{name} {n:,}" for name, n in counts.items())
    note = (
        f"{path}: its instances are of {len(counts)} splits ({splits}), and count together; leave "
        "the others out to compare one."
    )
    return [note] if len(counts) > 1 else []


def _say_amounts(
    about: dict[str, Any], requests: Sequence[dict[str, Any]], path: Path
) -> list[str]:
    """Say that a run has more instances or examples than it was to have, or other trials."""
    most = about.get("max_eval_instances")
    instances = [each["instance"] for each in requests if not each["instance"].get("perturbation")]
    n = len({json.dumps([each.get("split"), each.get("id")]) for each in instances})
    said = []
    if type(most) is int and 0 < most < n:
        said.append(
            f"Warning: {path} has {n:,} unperturbed instances, and its adapter_spec has "
            f"max_eval_instances {most:,}; are requests of another run in the file?"
        )
    shown = [k for each in requests if type(k := each.get("num_train_instances")) is int]
    limit = about.get("max_train_instances")
    if type(limit) is int and 0 <= limit < max(shown, default=0):
        said.append(
            f"Warning: {path} has requests with {max(shown):,} examples in the prompt, and its "
            f"adapter_spec has max_train_instances {limit:,}; the requests count."
        )
    n_trials, method = about.get("num_train_trials"), about.get("method")
    trials = [each.get("train_trial_index") for each in requests]
    is_known = type(n_trials) is int and all(type(each) is int for each in trials)
    there = set(trials) if is_known else set()
    if is_known and len(there) != n_trials and not str(method).startswith(_ONE_TRIAL):
        said.append(
            f"Warning: {path} has requests of {say_count(len(there), 'train trial')}, and its "
            f"adapter_spec has num_train_trials {n_trials:,}; is a part of the file missing?"
        )
    return said


def _say_other_models(
    about: dict[str, Any], requests: Sequence[dict[str, Any]], path: Path
) -> tuple[str, ...]:
    """Count the answers that another model gave than the one whose run it is."""
    found: list[tuple[str, Any]] = []
    for request in requests:
        for name in sorted(_MODELS):
            own = lookup(request, f"request.{name}")
            if own and about.get(name) and own != about[name]:
                found.append((name, own))
                break
    if not found:
        return ()
    name, own = found[0]
    note = (
        f"Warning: {path}: {len(found):,} of {say_count(len(requests), 'request')} went to another "
        f"model than that of the run: {name} is {show_value(own)} in the first of them, and "
        f"{show_value(about[name])} in adapter_spec; their answers count."
    )
    return (note,)


def _say_other_settings(
    about: dict[str, Any], requests: Sequence[dict[str, Any]], path: Path
) -> tuple[str, ...]:
    """Say which settings a run states twice, here, in its requests or in a file beside it."""
    run = lookup(_read_beside(path, _RUN), "adapter_spec")
    beside = run if isinstance(run, dict) else {}
    asked = [request for each in requests if isinstance(request := each.get("request"), dict)]
    said = [
        *find_contradictions({"adapter_spec": about, f"adapter_spec of {_RUN}": beside}),
        *count_asked_otherwise({"adapter_spec": about}, asked, "requests", but=_MODELS),
    ]
    note = (
        f"Warning: {path} contradicts itself or the files beside it: {'; '.join(said)}. The "
        "requests count; take all files from one run."
    )
    return (note,) if said else ()


def _find_settings(about: dict[str, Any], requests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how the requests of a version were sent; several values of one setting as a list.

    Other models than that of the run are counted already.
    """
    found: dict[str, Any] = {}
    for name in OF_REQUESTS:
        values = [lookup(request, name) for request in requests]
        kinds = {json.dumps(each, sort_keys=True): each for each in values if each is not None}
        is_model = name.startswith("request.model")
        if kinds and not (is_model and about.get(name.removeprefix("request."))):
            several = [kinds[key] for key in sorted(kinds)]
            found[name] = several if len(several) > 1 else several[0]
        else:
            found[name] = None
    return found


def _say_other_means(
    requests: Sequence[dict[str, Any]], path: Path, *, is_choice: bool
) -> tuple[str, ...]:
    """Say where HELM's own results of the run are not those of its answers.

    They are means over trials and over the instances of a split, so there has to be one of both.
    """
    plain = [each for each in requests if not each["instance"].get("perturbation")]
    splits = {as_text(each["instance"].get("split")) for each in plain}
    trials = {as_text(each.get("train_trial_index")) for each in plain}
    means = _read_means(path, splits.pop()) if len(splits) == len(trials) == 1 else {}
    if not means:
        return ()
    right = [_read_answer(each, path, is_choice=is_choice)[2] for each in plain]
    own = sum(map(bool, right)) / len(right)
    if None in right or any(abs(mean - own) <= _SAME_MEAN for mean in means.values()):
        return ()
    said = " and ".join(f"{name} {mean:.4f}" for name, mean in means.items())
    note = (
        f"Warning: {path}: {own:.4f} of {say_count(len(plain), 'unperturbed instance')} are right "
        f"by their completions, and {_RESULTS} beside it has {said}; the completions count (take "
        "both files from one run)."
    )
    return (note,)


def _read_means(path: Path, split: str | None) -> dict[str, float]:
    """Return the means of the unperturbed instances by metric; none where it cannot be read."""
    found = _as_list(_read_beside(path, _RESULTS))
    means: dict[str, float] = {}
    for each in found:
        about = lookup(each, "name") if isinstance(each, dict) else None
        if not isinstance(about, dict) or about.get("perturbation"):
            continue
        mean = as_finite(each.get("mean"))
        is_of_split = as_text(about.get("split")) == split
        if about.get("name") in _MATCHES and is_of_split and mean is not None:
            means[about["name"]] = mean
    return means


def _say_other_marks(
    requests: Sequence[dict[str, Any]], path: Path, *, is_choice: bool
) -> tuple[str, ...]:
    """Count the instances of which HELM's own results say otherwise whether the answer is right."""
    marks: dict[str, dict[str, bool]] = {}
    for each in _as_list(_read_beside(path, _RESULTS_OF_EACH)):
        for stat in _as_list(lookup(each, "stats")):
            metric, mean = lookup(stat, "name.name"), as_finite(lookup(stat, "mean"))
            if metric in _MATCHES and mean in {0.0, 1.0}:
                marks.setdefault(metric, {})[_name_result(each, lookup(each, "instance_id"))] = (
                    mean == 1.0
                )
    differ = dict.fromkeys(marks, 0)
    for request in requests:
        instance = request["instance"]
        own = request | {"perturbation": instance.get("perturbation")}
        name, right = (
            _name_result(own, instance.get("id")),
            _read_answer(request, path, is_choice=is_choice)[2],
        )
        for metric, said in marks.items():
            differ[metric] += right is not None and said.get(name, right) != right
    if not differ or not min(differ.values()):
        return ()
    metric = min(differ, key=lambda each: differ[each])
    note = (
        f"Warning: {path}: {metric} in {_RESULTS_OF_EACH} beside it says otherwise than the "
        f"completions of {say_count(differ[metric], 'request')} whether they are right; the "
        "completions count (take both files from one run)."
    )
    return (note,)


def _name_result(record: Any, instance: Any) -> str:
    """Name the result of an instance: by its id, its trial and its perturbation."""
    return json.dumps(
        [instance, lookup(record, "train_trial_index"), lookup(record, "perturbation") or None],
        sort_keys=True,
    )


def _read_beside(path: Path, name: str) -> Any:
    """Return what HELM has written beside its requests; None where it cannot be read."""
    if not path.name.startswith(_NAME):
        return None
    try:
        return files.read_json(path.with_name(name))
    except (InputError, OSError):  # nobody has asked for it
        return None


def _as_list(value: Any) -> list[Any]:
    """Return a list as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []


def _simplify(text: str) -> str:
    """Return a text without case, articles, punctuation and runs of blanks (quasi-exact match)."""
    bare = _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION))
    return " ".join(bare.split())


def _kept(request: dict[str, Any], name: str) -> Any:
    found = lookup(request, name)
    return lookup(request["instance"], name) if found is None else found
