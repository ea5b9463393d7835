"""Logs of lm-evaluation-harness: one JSON object a line, as ``--log_samples`` writes them."""

from __future__ import annotations

import contextlib
import json
import math
import re
from dataclasses import dataclass, replace
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.answers.file import plain_name
from ietest_fast.answers.readers.base import (
    CHAT_TEMPLATE,
    Answers,
    find_field,
    judge_score,
    list_named,
    log_format,
    lookup,
    name_right,
    naming_fields,
    plain_array,
    plain_fields,
    text_array,
)
from ietest_fast.answers.readers.label_columns import key_counted, say_near_copies
from ietest_fast.answers.readers.lm_eval_choices import (
    count_no_numbers,
    count_other_marks,
    count_other_pairs,
    judge,
    read_requests,
)
from ietest_fast.corpus.labels import MAX_LABELS, label_key
from ietest_fast.errors import InputError
from ietest_fast.files import MOST_SETTINGS, read_json
from ietest_fast.numerals import say_count
from ietest_fast.values import as_finite, as_text, show_value, unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.answers.readers.base import Fields, FileStart
    from ietest_fast.answers.readers.lm_eval_choices import Records, Requests


# What the regex filter gives where nothing matches, unless a task says otherwise.
_UNPARSED = "[invalid]"
# Metrics that say right or wrong, the best first.
_METRICS = ("exact_match", "acc", "em", "acc_norm", "pass@1")
# Where choices are compared, exact_match says whether the right one would have been written.
_METRICS_OF_CHOICES = (
    "acc",
    "acc_norm",
    "acc_bytes",
    "acc_mutual_info",
    "mcc",
    "f1",
    "exact_match",
)
# Metrics of the harness of which lower is better. Samples have perplexities as log-likelihoods, of
# which higher is better.
_LOWER_IS_BETTER = frozenset({"brier_score", "likelihood_diff", "mae", "pct_stereotype"})
_PERPLEXITIES = frozenset({"perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte"})
# Fields of every sample, which are meant where a user names them.
_OWN = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
    | {f"{name}_hash" for name in ("doc", "prompt", "target")}
)
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
_OUTCOMES_ONLY = "right and wrong are compared, the answers are not"
_STAMP = re.compile(r"_\d{4}-\d\d-\d\d(T[\d\-.:]+)?$")


class LmEvalReader:
    """Reads ``samples_TASK_TIME.jsonl``."""

    summary = "lm-evaluation-harness, --log_samples"

    def recognises(self, start: FileStart) -> bool:
        """Look for the keys of a sample."""
        own = {"doc_id", "doc", "filtered_resps"} & set(start.first_object)
        return "filtered_resps" in own and len(own) > 1

    def name_task(self, start: FileStart) -> str:
        """Return the task, which stands between ``samples_`` and the time."""
        return _name_task(start.path)

    def read(self, path: Path, fields: Fields) -> Sequence[Answers]:
        """Read the samples of one filter."""
        import pyarrow as pa

        records, filters = _choose_filter(_read_records(path), fields.filter, path)
        notes: list[str] = []
        samples = [record for _, record in records]
        named = fields.keep
        fields = _find_fields(samples, fields, path)
        notes += _compare_responses(samples, filters[0], path)
        notes += _compare_hashes(samples, path)
        metrics = _metric_names(records, path)
        requests = read_requests(records, path, metrics)
        metric, judged_by, note = _choose_metric(
            samples, metrics, fields, path, is_choice=requests is not None
        )
        notes += note
        correct: list[bool | None] | None = None
        results, note = _read_results(path)
        notes += note
        notes += _compare_places(results, samples, path)
        if metric is not None:
            correct = [
                _outcome(record, metric, fields.threshold, where, path) for where, record in records
            ]
            if fields.threshold is None:
                notes += _compare_results(results, samples, metric, correct, path)
            if not any(read_pair(lookup(record, metric)) for record in samples):
                notes += _say_lower_is_better(results, metric, fields.threshold, path)
        said, note = _read_answers(
            _Samples(
                path=path,
                fields=fields,
                records=records,
                requests=requests,
                metric=metric,
                correct=correct,
            )
        )
        notes += note
        notes += _say_no_numbers(requests, path)
        if not (fields.gold or fields.predicted or fields.correct):
            notes += _say_unread(samples, metrics, said, correct, path)
        item = fields.item or "doc_id"
        return [
            Answers(
                path=path,
                name=_name_task(path),
                items=plain_array([lookup(record, item) for record in samples]),
                gold=text_array(said.gold),
                predicted=None if said.predicted is None else text_array(said.predicted),
                right=None if said.right is None else pa.array(said.right, pa.string()),
                correct=None if correct is None else pa.array(correct, pa.bool_()),
                probabilities=None
                if said.probabilities is None
                else pa.array(said.probabilities, pa.list_(pa.float32())),
                label_names=said.names,
                inputs=pa.array([_prompt(record) for record in samples], pa.string()),
                documents=pa.array([_document_of(record) for record in samples], pa.string()),
                columns={
                    name: plain_array([lookup(record, place) for record in samples])
                    for name, place in zip(named, fields.keep, strict=True)
                },
                ids={}
                if item != "doc_id"
                else naming_fields([record["doc"] for record in samples], "doc"),
                gold_column=fields.gold or "target",
                predicted_column=fields.predicted or "filtered_resps",
                is_scored=metric is not None,
                marks_unparsed=True,
                judged_by=judged_by,
                # The log-likelihoods of choices go through no filter.
                filters=() if requests is not None and filters == ("none",) else filters,
                model=_find_model(results),
                settings=_find_settings(results, samples, metric, path),
                notes=tuple(notes),
            )
        ]


@dataclass(frozen=True, kw_only=True)
class _Said:
    """What the samples of a log say: right answers, answers, and what these may be."""

    gold: Sequence[str | None]
    predicted: Sequence[str | None] | None
    names: tuple[str, ...] | None = None
    right: Sequence[str | None] | None = None
    probabilities: list[list[float]] | None = None


@dataclass(frozen=True, kw_only=True)
class _Samples:
    """The samples of one filter, and what says whether their answers are right."""

    path: Path
    fields: Fields
    records: Records
    requests: Requests | None
    metric: str | None
    correct: list[bool | None] | None

    def values(self, name: str) -> list[Any]:
        """Return what a name leads to in each sample."""
        return [lookup(record, name) for _, record in self.records]


def _read_answers(samples: _Samples) -> tuple[_Said, list[str]]:
    """Return the answers that the metric judged, and what there is to say about them."""
    fields, metric = samples.fields, samples.metric
    targets = samples.values(fields.gold or "target")
    if fields.gold is not None and None in targets:
        where = samples.records[targets.index(None)][0]
        raise InputError("there is no such field", path=samples.path, row=where, column=fields.gold)
    texts = [as_text(target) for target in targets]
    if fields.predicted is not None:
        said = [_parsed(as_text(value)) for value in samples.values(fields.predicted)]
        return _Said(gold=texts, predicted=said), []
    pairs = [] if metric is None else [read_pair(value) for value in samples.values(metric)]
    if any(pair is not None for pair in pairs):
        return _read_pairs(samples, pairs, targets)
    if samples.requests is None:
        said = [_answer(record) for _, record in samples.records]
        return _Said(gold=texts, predicted=said), []
    if samples.requests.sizes == {1}:  # how likely one text is, which is no answer
        return _Said(gold=texts, predicted=None), _compare_marks(samples)
    return _read_choices(samples, samples.requests, targets)


def _read_choices(
    samples: _Samples, requests: Requests, targets: list[Any]
) -> tuple[_Said, list[str]]:
    """Return the choices that the metric took for the answers."""
    texts = [as_text(target) for target in targets]
    judged = judge(requests, samples.metric, samples.correct, targets)
    names = requests.names or requests.places
    name = requests.name_choice
    gold = [
        None if target is None or len(target) > 1 else name(row, next(iter(target)))
        for row, target in enumerate(judged.targets)
    ]
    right = [
        None if target is None else name_right([name(row, place) for place in target])
        for row, target in enumerate(judged.targets)
    ]
    if judged.answers is None or judged.n_contradicted:
        why = (
            f"does not say which choice {samples.metric} takes for the answer"
            if judged.answers is None
            else _say_contradicted(samples, judged.n_contradicted)
        )
        note = f"{samples.path}: {why}; {_OUTCOMES_ONLY}."
        # Under the names of a log without contradictions, with whose they are compared.
        named = gold if any(gold) else texts
        return _Said(gold=named, predicted=None, right=right if any(right) else None), [note]
    predicted = [name(row, place) for row, place in enumerate(judged.answers)]
    notes = _say_no_choices(samples, judged.targets, targets)
    if samples.fields.gold is not None and None in gold:  # the user's labels are other ones
        return _Said(gold=texts, predicted=predicted), notes
    probabilities = None
    if judged.is_raw and len(requests.sizes) == 1:
        rows = range(len(requests.scores))
        probabilities = [_softmax(requests.order_scores(row)) for row in rows]
    said = _Said(
        gold=gold, predicted=predicted, names=names, right=right, probabilities=probabilities
    )
    return said, notes


def _say_no_choices(samples: _Samples, read: Sequence[Any], targets: list[Any]) -> list[str]:
    """Count the targets that are numbers of choices which are not there."""
    n = sum(
        target is None and not isinstance(value, bool) and str(value).isdecimal()
        for target, value in zip(read, targets, strict=True)
    )
    where = f"in {n:,} of {len(targets):,} samples of {samples.path}"
    return [f"Warning: {where} the target is the number of no choice."] if n else []


def _say_unread(
    samples: list[dict[str, Any]],
    metrics: Sequence[str],
    said: _Said,
    correct: list[bool | None] | None,
    path: Path,
) -> list[str]:
    """Say which fields of documents and samples nearly repeat a target, an answer or a mark."""
    columns = plain_fields([record["doc"] for record in samples], "doc.")
    own = plain_fields(samples)
    columns |= {name: own[name] for name in own.keys() - _OWN - {*metrics}}
    answers = {} if said.predicted is None else {"the answer": text_array(said.predicted)}
    counted = key_counted(("target", text_array(said.gold)), answers, path)
    if correct is not None and None not in correct:
        counted["whether the answer is right"] = np.array(correct, np.bool_)
    return [*say_near_copies(columns, counted, path)]


def _say_contradicted(samples: _Samples, n: int) -> str:
    return (
        f"has {n:,} of {len(samples.records):,} samples in which {samples.metric} contradicts the "
        "target and the log-likelihoods"
    )


def _say_no_numbers(requests: Requests | None, path: Path) -> list[str]:
    """Say how many samples have no log-likelihoods; the harness judges them all the same."""
    n = 0 if requests is None else count_no_numbers(requests)
    note = (
        f"Warning: {path}: {say_count(n, 'sample has', 'samples have')} log-likelihoods that are "
        "no numbers (NaN), of which the harness takes the first for the likeliest; run the model "
        "on them again."
    )
    return [note] if n else []


def _compare_marks(samples: _Samples) -> list[str]:
    """Say of how many samples acc says otherwise than whether the text would have been written."""
    if samples.metric != "acc" or samples.correct is None or samples.fields.threshold is not None:
        return []
    n = count_other_marks(samples.records, samples.correct)
    note = (
        f"{samples.path}: has {n:,} of {len(samples.records):,} samples in which acc contradicts "
        "whether the model would have written the text, which stands beside its log-likelihood; "
        "acc counts."
    )
    return [note] if n else []


def _read_pairs(
    samples: _Samples, pairs: list[tuple[Any, Any] | None], targets: list[Any]
) -> tuple[_Said, list[str]]:
    """Return the pairs of a metric over all samples, without answers that the log contradicts."""
    said = _name_pairs(pairs, samples.requests)
    if samples.requests is None:
        return said, []
    known = targets if samples.fields.gold is None else [None] * len(targets)
    n = count_other_pairs(samples.requests, pairs, known)
    if not n:
        return said, []
    note = f"{samples.path}: {_say_contradicted(samples, n)}; {_OUTCOMES_ONLY}."
    return replace(said, predicted=None, names=None), [note]


def _name_pairs(pairs: list[tuple[Any, Any] | None], requests: Requests | None) -> _Said:
    """Return the targets and the answers that a metric over all samples was given, if it was."""
    names = None if requests is None else requests.names or requests.places

    def say(row: int, value: Any) -> str | None:
        if value is None or isinstance(value, list):
            return None
        if requests is not None and isinstance(value, int):
            n = len(requests.scores[row])
            return requests.name_choice(row, value) if 0 <= value < n else None
        return str(value)

    def say_right(row: int, target: Any) -> str | None:
        own = [say(row, each) for each in (target if isinstance(target, list) else [target])]
        known = [each for each in own if each is not None]
        return name_right(known) if known and len(known) == len(own) else None

    gold, predicted = (
        [say(row, pair and pair[place]) for row, pair in enumerate(pairs)] for place in (0, 1)
    )
    said = {value for value in (*gold, *predicted) if value is not None}
    if names is None or not said <= set(names):
        names = tuple(sorted(said, key=lambda name: (len(name), name)))
    known = names if len(names) <= MAX_LABELS else None
    right = [say_right(row, pair and pair[0]) for row, pair in enumerate(pairs)]
    return _Said(gold=gold, predicted=predicted, names=known, right=right)


def read_pair(value: Any) -> tuple[Any, Any] | None:
    """Return the target and the answer of a metric over all samples, such as mcc; None if none."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    target, answer = value
    if type(answer) not in {int, str}:
        return None
    targets = target if isinstance(target, list) else [target]
    return (target, answer) if all(type(each) is type(answer) for each in targets) else None


def _find_fields(samples: list[dict[str, Any]], fields: Fields, path: Path) -> Fields:
    """Return the fields that the user has named by their whole names."""

    def find(name: str | None) -> str | None:
        if name is None:
            return None
        return find_field(samples, name, path=path, inside="doc", own=_OWN)

    return replace(
        fields,
        item=find(fields.item),
        gold=find(fields.gold),
        predicted=find(fields.predicted),
        keep=tuple(str(find(name)) for name in fields.keep),
    )


def _name_task(path: Path) -> str:
    return _STAMP.sub("", plain_name(path)).removeprefix("samples_")


def _read_records(path: Path) -> list[tuple[str, dict[str, Any]]]:
    from ietest_fast.corpus.formats import diagnose, json_records

    form = log_format(path)
    try:
        records = [(f"line {n}", record) for n, record in json_records(path, form, mends=True)]
    except (OSError, EOFError) as error:
        raise diagnose(path, form, error) from error
    for where, record in records:
        for name in ("doc_id", "doc", "filtered_resps"):
            if name not in record:
                raise InputError(
                    f"has no {name!r}, which every sample of lm-evaluation-harness has",
                    path=path,
                    row=where,
                )
    return records


def _compare_hashes(samples: list[dict[str, Any]], path: Path) -> list[str]:
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


def _choose_filter(
    records: list[tuple[str, dict[str, Any]]], wanted: str | None, path: Path
) -> tuple[list[tuple[str, dict[str, Any]]], tuple[str, ...]]:
    """Return the samples of one filter, and the names of all, that one first."""
    names = list(dict.fromkeys(str(record.get("filter", "none")) for _, record in records))
    if wanted is not None and wanted not in names:
        raise InputError(f"has no filter {wanted!r}; it has {', '.join(names)}", path=path)
    chosen = wanted or names[0]
    kept = [each for each in records if str(each[1].get("filter", "none")) == chosen]
    return kept, (chosen, *(name for name in names if name != chosen))


def _compare_responses(samples: list[dict[str, Any]], used: str, path: Path) -> list[str]:
    """Say in how many samples the filter ``none``, which takes the first response, gives another.

    A task may call a filter of its own so; then the harness has judged what that one gives.
    """

    def differs(record: dict[str, Any]) -> bool:
        kept, given = (record.get(name) for name in ("filtered_resps", "resps"))
        if not isinstance(kept, list) or not isinstance(given, list) or not all(given):
            return False
        first = [each[0] if isinstance(each, list) else each for each in given]
        return kept not in (first, given)

    n = sum(map(differs, samples)) if used == "none" else 0
    note = (
        f"Warning: in {n:,} of {len(samples):,} samples of {path} filtered_resps is not the first "
        "of resps, which the filter 'none' takes; filtered_resps counts."
    )
    return [note] if n else []


def _metric_names(records: Records, path: Path) -> list[str]:
    """Return the names of the metrics that the samples have."""
    for where, record in records:
        names = record.get("metrics", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InputError(
                f"is {show_value(names)}; a list of the metrics' names expected",
                path=path,
                row=where,
                column="metrics",
            )
    # A sample that was not scored lacks the value, and may be the first.
    listed = (name for _, record in records for name in record.get("metrics", []) if name in record)
    return list(dict.fromkeys(listed))


def _choose_metric(
    samples: list[dict[str, Any]],
    metrics: list[str],
    fields: Fields,
    path: Path,
    *,
    is_choice: bool,
) -> tuple[str | None, tuple[str, ...], list[str]]:
    """Return the metric that says whether an answer is right, and all that do.

    None to compare with the target.
    """
    if fields.correct is not None:
        for name in (fields.correct, f"doc.{fields.correct}"):
            if any(lookup(record, name) is not None for record in samples):
                return name, (name, name), []
        raise InputError(
            f"has no {fields.correct!r}; its metrics are {', '.join(metrics) or 'none'}",
            path=path,
        )
    if fields.gold is not None or fields.predicted is not None:
        return None, (), []
    best = _METRICS_OF_CHOICES if is_choice else _METRICS
    metrics = sorted(metrics, key=lambda name: best.index(name) if name in best else len(best))
    fitting = [name for name in metrics if _are_outcomes(samples, name, fields.threshold)]
    if not fitting:
        pairs = [
            name
            for name in metrics
            if _say_all([read_pair(each.get(name)) for each in samples], samples, name)
        ]
        if pairs:
            note = f"{path}: an answer is right if it is the target that stands beside it in "
            return pairs[0], (), [f"{note}{pairs[0]}, which is a measure of all samples."]
        raise InputError(
            f"none of its metrics says right or wrong ({', '.join(metrics) or 'there are none'})"
            f"{_say_value(samples, metrics)}; name a field that does with --correct-columns, the "
            "least score that is right with --threshold, or the answers with --gold-column and "
            "--prediction-columns",
            path=path,
        )
    judged_by = (fitting[0], *fitting)
    if len(fitting) == 1:
        return fitting[0], judged_by, []
    others = ", ".join(fitting[1:])
    note = f"{path}: right or wrong by {fitting[0]}; --correct-columns chooses another ({others})."
    return fitting[0], judged_by, [note]


def _say_value(samples: list[dict[str, Any]], metrics: list[str]) -> str:
    """Show the first value that keeps the best metric from saying it."""
    for metric in metrics[:1]:
        for number, record in enumerate(samples):
            value = lookup(record, metric)
            if judge_score(unwrap(value), None) is None and not _is_missing(value):
                return f": {metric} is {show_value(value)} in sample {number}"
    return ""


def _are_outcomes(samples: list[dict[str, Any]], metric: str, threshold: float | None) -> bool:
    found = [judge_score(unwrap(lookup(record, metric)), threshold) for record in samples]
    return _say_all(found, samples, metric)


def _say_all(found: Sequence[Any], samples: list[dict[str, Any]], metric: str) -> bool:
    """Whether a metric says something of every sample that was scored, and some were."""
    return any(each is not None for each in found) and all(
        said is not None or _is_missing(lookup(record, metric))
        for said, record in zip(found, samples, strict=True)
    )


def _is_missing(value: Any) -> bool:
    """Whether a sample was not scored."""
    value = unwrap(value)
    return value is None or (isinstance(value, float) and math.isnan(value))


def _outcome(
    record: dict[str, Any], metric: str, threshold: float | None, where: str, path: Path
) -> bool | None:
    """Return what a metric says of a sample; None if it was not scored."""
    value = lookup(record, metric)
    outcome = judge_score(unwrap(value), threshold)
    if outcome is not None or _is_missing(value):
        return outcome
    pair = read_pair(value)
    if pair is None:
        raise InputError(
            f"{show_value(value)} is no outcome; expected 0 or 1, or --threshold for other scores",
            path=path,
            row=where,
            column=metric,
        )
    target, answer = pair
    return bool(answer in target if isinstance(target, list) else answer == target)


def _results_beside(path: Path) -> Path | None:
    """Return where the harness writes the results of a log; None if the log was renamed."""
    stamp = _STAMP.search(plain_name(path))
    return path.with_name(f"results{stamp.group()}.json") if stamp else None


def _read_results(path: Path) -> tuple[Any, list[str]]:
    """Return the results that the harness has written beside a log; None if there are none."""
    beside = _results_beside(path)
    if beside is None or not beside.is_file():
        return None, []
    try:
        return read_json(beside, most_bytes=MOST_SETTINGS), []
    except InputError as error:
        return None, [f"{error}; it is not compared with {path.name}."]


def _find_model(results: Any) -> str | None:
    """Return the model's name by the results beside a log; the harness may not know it."""
    name = _step(results, "model_name")
    return name if name and isinstance(name, str) else None


def _find_settings(
    results: Any, samples: list[dict[str, Any]], metric: str | None, path: Path
) -> dict[str, Any]:
    """Return how the harness asked and judged, by the samples and the results beside a log."""
    found = _list_asked(samples)
    if not isinstance(results, dict):
        return found
    task = _step(_step(results, "configs"), _name_task(path))
    metrics = list_named(_step(task, "metric_list"), "metric", {str(metric)})
    filters = list_named(_step(task, "filter_list"), "name", {str(samples[0].get("filter"))})
    return {
        "n-shot": _step(_step(results, "n-shot"), _name_task(path)),
        "model_args": _read_model_args(_step(_step(results, "config"), "model_args")),
        "model_sha": _step(_step(results, "config"), "model_sha") or None,
        "gen_kwargs": _step(_step(results, "config"), "gen_kwargs") or None,
        "system_instruction": _step(results, "system_instruction") or None,
        CHAT_TEMPLATE: _step(results, CHAT_TEMPLATE) or None,
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
            and not (name in _GREEDY and _is_same(value, _GREEDY[name]))
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


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values of an option mean the same: numbers may be texts, and one text a list."""
    texts = [label_key(as_text(value) or "") for value in (one, other)]
    with contextlib.suppress(ValueError):
        return float(texts[0]) == float(texts[1])
    return texts[0] == texts[1]


def _split_options(given: Any) -> dict[str, Any]:
    """Return options that stand in an object or in ``a=1,b=2``."""
    if isinstance(given, str):
        given = dict(part.partition("=")[::2] for part in given.split(","))
    if not isinstance(given, dict):
        return {}
    return {
        str(name).strip(): value.strip() if isinstance(value, str) else value
        for name, value in given.items()
    }


def _read_model_args(given: Any) -> dict[str, str] | None:
    """Return the options of a model but its name, and how many requests are made at once."""
    kept = {name: str(own).strip() for name, own in sorted(_split_options(given).items())}
    return {name: own for name, own in kept.items() if name not in _OF_BATCHES} or None


def _compare_places(results: Any, samples: list[dict[str, Any]], path: Path) -> list[str]:
    """Say what the results beside a log state twice, or otherwise than its samples."""
    beside = _results_beside(path)
    if not isinstance(results, dict) or beside is None:
        return []
    said = [
        *_say_other_model(results),
        *_say_other_shots(results, _name_task(path)),
        *_say_other_options(results, samples, _name_task(path)),
        *_say_limit(results, len(samples), _name_task(path)),
    ]
    note = (
        f"Warning: {beside.name} beside {path} contradicts itself or the log: {'; '.join(said)}. "
        "Take both files as the harness has written them."
    )
    return [note] if said else []


def _say_other_model(results: dict[str, Any]) -> list[str]:
    """Say that the harness's name of a model is another than the options of the model give."""
    name, options = _find_model(results), _split_options(lookup(results, "config.model_args"))
    named = [options[key] for key in _NAMES_OF_MODELS if options.get(key)]
    said = []
    if name and named and not any(_is_in_path(name, str(own)) for own in options.values()):
        which = f"config.model_args names {show_value(named[0])}"
        said.append(f"model_name, which counts, is {show_value(name)}, and {which}")
    folder = results.get("model_name_sanitized")
    if name and isinstance(folder, str) and not _is_in_path(folder, name):
        which = f"model_name_sanitized is {show_value(folder)}"
        said.append(f"model_name, which counts, is {show_value(name)}, and {which}")
    asked, given = options.get("revision"), lookup(results, "config.model_revision")
    # A folder in the revision may stand behind it.
    if asked and given and str(given).split("/")[0] != str(asked).split("/")[0]:
        which = f"config.model_revision is {show_value(given)}"
        said.append(f"the revision in config.model_args is {show_value(asked)}, and {which}")
    return said


def _is_in_path(name: str, path: str) -> bool:
    """Whether a model may be called so that lies at a path; in names of folders, / is __."""
    part, whole = (re.sub(r"[\W_]+", "_", f"_{label_key(each)}_") for each in (name, path))
    return part in whole


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


def _say_other_options(
    results: dict[str, Any], samples: list[dict[str, Any]], task: str
) -> list[str]:
    """Count the samples that were asked with other options than the results give."""
    places = {
        "config.gen_kwargs": lookup(results, "config.gen_kwargs"),
        f"configs.{task}.generation_kwargs": _step(
            _step(results.get("configs"), task), "generation_kwargs"
        ),
    }
    asked = [_read_options(record) or {} for record in samples]
    said = []
    for place, given in places.items():
        for name, value in _split_options(given).items():
            others = [own[name] for own in asked if not _is_same(own.get(name, value), value)]
            if others and name != _LONGEST:
                where = f"{len(others):,} of {len(samples):,} samples were asked with"
                said.append(f"{name} is {value!r} in {place}, and {where} {show_value(others[0])}")
    return said


def _say_limit(results: dict[str, Any], n: int, task: str) -> list[str]:
    """Say that there are more samples than a limit lets through; below 1, it is a share."""
    limit = as_finite(lookup(results, "config.limit"))
    if limit is None or limit <= 0:
        return []
    most = int(limit)
    if limit < 1:
        every = _step(_step(results.get("n-samples"), task), "original")
        most = math.ceil(every * limit) if type(every) is int else n
    return [f"config.limit is {limit:g}, and there are {n:,} samples"] if n > most else []


def _say_lower_is_better(
    results: Any, metric: str, threshold: float | None, path: Path
) -> list[str]:
    """Say that what counts as right is worse, as the results or the harness itself have it."""
    beside = _results_beside(path)
    said = _step(_step(_step(results, "higher_is_better"), _name_task(path)), metric)
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


def _compare_results(
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
    task = _name_task(path)
    n = _step(_step(_step(results, "n-samples"), task), "effective")
    mean = _step(
        _step(_step(results, "results"), task), f"{metric},{samples[0].get('filter', 'none')}"
    )
    said = []
    if isinstance(n, int) and n != len(samples):
        said.append(
            f"Warning: {path} has {len(samples):,} samples, and {beside.name} beside it counts "
            f"{n:,}; is a part of the log missing?"
        )
    known = [outcome for outcome in correct if outcome is not None]
    own = sum(known) / max(len(known), 1)
    finite = as_finite(mean)
    # Results without this metric say nothing; a mean that is no number says that something failed.
    if mean is not None and (finite is None or not math.isclose(finite, own, abs_tol=1e-6)):
        there = show_value(mean) if finite is None else f"{finite:.4f}"
        said.append(
            f"Warning: {metric} is {own:.4f} in the samples of {path}, and {there} in "
            f"{beside.name} beside it."
        )
    return said


def _step(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _document_of(record: dict[str, Any]) -> str:
    """Return what tells whether two samples are of the same row of the data.

    By the hash in the log and the document beside it, which may have been edited.
    """
    said = json.dumps([record.get("doc_hash"), record["doc"]], sort_keys=True)
    return blake2b(said.encode(), digest_size=16).hexdigest()


def _prompt(record: dict[str, Any]) -> str:
    """Return all texts of a sample's requests; the document if they are not there."""
    given = record.get("arguments")
    requests = list(given.values()) if isinstance(given, dict) else given
    if not isinstance(requests, list):
        requests = []
    values = [
        [value for _, value in sorted(each.items())] if isinstance(each, dict) else each
        for each in requests
    ]
    texts = [
        value
        for each in values
        for value in (each if isinstance(each, list) else [each])
        if isinstance(value, str)
    ]
    return json.dumps(texts or record["doc"], sort_keys=True)


def _softmax(values: NDArray[np.float64]) -> list[float]:
    if not np.isfinite(values).all():
        return [float("nan")] * len(values)
    powers = np.exp(values - values.max())
    return [float(value) for value in powers / powers.sum()]


def _answer(record: dict[str, Any]) -> str | None:
    value = record["filtered_resps"]
    while isinstance(value, list) and value:
        value = value[0]
    return _parsed(as_text(value))


def _parsed(text: str | None) -> str | None:
    return None if text is None or text.strip() in {"", _UNPARSED} else text
