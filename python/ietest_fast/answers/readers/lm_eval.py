"""Logs of lm-evaluation-harness: one JSON object a line, as ``--log_samples`` writes them."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.answers.readers.base import (
    Log,
    find_field,
    judge_score,
    log_format,
    lookup,
    name_right,
    naming_fields,
    plain_array,
    plain_fields,
    text_array,
)
from ietest_fast.answers.readers.label_columns import say_near_samples
from ietest_fast.answers.readers.lm_eval_choices import (
    count_no_numbers,
    count_other_marks,
    count_other_pairs,
    judge,
    read_requests,
    say_other_choices,
)
from ietest_fast.answers.readers.lm_eval_facts import (
    compare_hashes,
    compare_places,
    compare_responses,
    compare_results,
    document_of,
    find_model,
    find_settings,
    name_task,
    read_results,
    say_lower_is_better,
)
from ietest_fast.corpus.formats import diagnose, json_records
from ietest_fast.corpus.labels import MAX_LABELS
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.values import as_text, show_value, unwrap

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.answers.readers.base import Fields, FileStart
    from ietest_fast.answers.readers.lm_eval_choices import Records, Requests


# What the regex filter gives where nothing matches, unless a task says otherwise.
_UNPARSED = "[invalid]"
# What judges pairs of a target and an answer.
_EQUALITY = "equality with the target"
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
# Fields of every sample, which are meant where a user names them.
_OWN = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
    | {f"{name}_hash" for name in ("doc", "prompt", "target")}
)
_OUTCOMES_ONLY = "right and wrong are compared, the answers are not"


class LmEvalReader:
    """Reads ``samples_TASK_TIME.jsonl``."""

    summary = "lm-evaluation-harness, --log_samples"

    def recognises(self, start: FileStart) -> bool:
        """Look for the keys of a sample."""
        own = {"doc_id", "doc", "filtered_resps"} & set(start.first_object)
        return "filtered_resps" in own and len(own) > 1

    def name_task(self, start: FileStart) -> str:
        """Return the task, which stands between ``samples_`` and the time."""
        return name_task(start.path)

    def read(self, path: Path, fields: Fields) -> Sequence[Log]:
        """Read the samples of one filter."""
        records, filters = _choose_filter(_read_records(path), fields.filter, path)
        notes: list[str] = []
        samples = [record for _, record in records]
        named = fields.keep
        fields = _find_fields(samples, fields, path)
        notes += compare_responses(samples, filters[0], path)
        notes += compare_hashes(samples, path)
        metrics = _metric_names(records, path)
        requests = read_requests(records, path, metrics)
        notes += say_other_choices(samples, requests, path)
        metric, judged_by, note = _choose_metric(
            samples, metrics, fields, path, is_choice=requests is not None
        )
        notes += note
        correct: list[bool | None] | None = None
        results, note = read_results(path)
        notes += note
        notes += compare_places(results, samples, path)
        if metric is not None:
            correct = [
                _outcome(record, metric, fields.threshold, where, path) for where, record in records
            ]
            if fields.threshold is None:
                notes += compare_results(results, samples, metric, correct, path)
            if not any(read_pair(lookup(record, metric)) for record in samples):
                notes += say_lower_is_better(results, metric, fields.threshold, path)
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
            columns = plain_fields([record["doc"] for record in samples], "doc.")
            own = plain_fields(samples)
            columns |= {name: own[name] for name in own.keys() - _OWN - {*metrics}}
            notes += say_near_samples(columns, said.gold, said.predicted, correct, path)
        item = fields.item or "doc_id"
        return [
            Log(
                path=path,
                name=name_task(path),
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
                documents=pa.array([document_of(record) for record in samples], pa.string()),
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
                model=find_model(results),
                settings=find_settings(results, samples, metric, path),
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


def _read_records(path: Path) -> list[tuple[str, dict[str, Any]]]:
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
            note += f"{pairs[0]}, which is a measure of all samples."
            return pairs[0], (_EQUALITY, _EQUALITY), [note]
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
