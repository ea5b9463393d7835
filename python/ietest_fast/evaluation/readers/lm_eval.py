"""Logs of lm-evaluation-harness: one JSON object a line, as ``--log_samples`` writes them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.evaluation.readers.base import (
    Answers,
    judge_score,
    lookup,
    plain_array,
    text_array,
)
from ietest_fast.values import ID_COLUMNS, as_text, unwrap

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.evaluation.readers.base import Fields, FileStart

# What the regex filter gives where nothing matches, unless a task says otherwise.
_UNPARSED = "[invalid]"
# Metrics that say right or wrong, the best first.
_METRICS = ("exact_match", "acc", "em", "acc_norm", "pass@1")
_STAMP = re.compile(r"_\d{4}-\d\d-\d\dT[\d\-.:]+$")


class LmEvalReader:
    """Reads ``samples_TASK_TIME.jsonl``."""

    summary = "lm-evaluation-harness, --log_samples"

    def recognises(self, start: FileStart) -> bool:
        """Look for the keys of a sample."""
        return {"doc_id", "doc", "filtered_resps"} <= set(start.first_object)

    def name_task(self, start: FileStart) -> str:
        """Return the task, which stands between ``samples_`` and the time."""
        return _name_task(start.path)

    def read(self, path: Path, fields: Fields) -> Sequence[Answers]:
        """Read the samples of one filter."""
        import pyarrow as pa

        records, notes = _choose_filter(_read_records(path), fields.filter, path)
        metric, note = _choose_metric(records, fields, path)
        notes += note
        chosen = [_choices(record) for _, record in records]
        shared = chosen[0] if chosen[0] and all(each == chosen[0] for each in chosen) else None
        n_choices = {len(each) for each in chosen if each}
        probabilities = None
        if all(chosen):
            scores = [_log_likelihoods(record, where, path) for where, record in records]
            best = [int(np.argmax(each)) for each in scores]
            predicted: list[str | None] = [
                choices[i] if shared else str(i) for choices, i in zip(chosen, best, strict=True)
            ]
            gold = [
                _name_target(record.get("target"), choices, as_index=not shared)
                for (_, record), choices in zip(records, chosen, strict=True)
            ]
            if len(n_choices) == 1:
                probabilities = pa.array(
                    [_softmax(each) for each in scores], pa.list_(pa.float32())
                )
        else:
            predicted = [_answer(record) for _, record in records]
            gold = [as_text(record.get("target")) for _, record in records]
        names = list(shared) if shared else [str(i) for i in range(max(n_choices, default=0))]
        if fields.gold is not None:
            gold = [_field(record, fields.gold, where, path) for where, record in records]
        if fields.predicted is not None:
            predicted = [
                _parsed(as_text(lookup(record, fields.predicted))) for _, record in records
            ]
        if fields.gold is not None or fields.predicted is not None:
            names, probabilities = [], None
        item = fields.item or "doc_id"
        documents = [
            record["doc"] if isinstance(record["doc"], dict) else {} for _, record in records
        ]
        return [
            Answers(
                path=path,
                name=_name_task(path),
                items=plain_array([lookup(record, item) for _, record in records]),
                gold=text_array(gold),
                predicted=text_array(predicted),
                correct=None
                if metric is None
                else pa.array(
                    [
                        _outcome(record, metric, fields.threshold, where, path)
                        for where, record in records
                    ],
                    pa.bool_(),
                ),
                probabilities=probabilities,
                label_names=tuple(names) or None,
                inputs=pa.array([_prompt(record) for _, record in records], pa.string()),
                documents=pa.array([as_text(record.get("doc_hash")) for _, record in records]),
                columns={
                    name: plain_array([lookup(record, name) for _, record in records])
                    for name in fields.keep
                },
                ids={
                    f"doc.{name}": plain_array([document.get(name) for document in documents])
                    for name in documents[0]
                    if name.casefold() in ID_COLUMNS and item == "doc_id"
                },
                gold_column=fields.gold or "target",
                predicted_column=fields.predicted or "filtered_resps",
                is_scored=metric is not None,
                notes=tuple(notes),
            )
        ]


def _name_task(path: Path) -> str:
    return _STAMP.sub("", path.name.removesuffix(".jsonl")).removeprefix("samples_")


def _read_records(path: Path) -> list[tuple[str, dict[str, Any]]]:
    from ietest_fast.corpus.formats import Format, json_records

    records = [(f"line {n}", record) for n, record in json_records(path, Format(kind="jsonl"))]
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
) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """Return the samples of one filter, and what there is to say about the choice."""
    names = list(dict.fromkeys(str(record.get("filter", "none")) for _, record in records))
    if wanted is not None and wanted not in names:
        raise InputError(f"has no filter {wanted!r}; it has {', '.join(names)}", path=path)
    chosen = wanted or names[0]
    kept = [each for each in records if str(each[1].get("filter", "none")) == chosen]
    if len(names) == 1 or wanted is not None:
        return kept, []
    others = ", ".join(names[1:])
    return kept, [f"{path}: answers of the filter {chosen!r}; --filter chooses another ({others})."]


def _choose_metric(
    records: list[tuple[str, dict[str, Any]]], fields: Fields, path: Path
) -> tuple[str | None, list[str]]:
    """Return the metric that says whether an answer is right; None to compare with the target."""
    first = records[0][1]
    metrics = [name for name in first.get("metrics", []) if name in first]
    if fields.correct is not None:
        if lookup(first, fields.correct) is None:
            raise InputError(
                f"has no {fields.correct!r}; its metrics are {', '.join(metrics) or 'none'}",
                path=path,
            )
        return fields.correct, []
    if fields.gold is not None or fields.predicted is not None:
        return None, []
    fitting = [
        name
        for name in sorted(
            metrics, key=lambda name: _METRICS.index(name) if name in _METRICS else 9
        )
        if all(
            judge_score(unwrap(record.get(name)), fields.threshold) is not None
            for _, record in records
        )
    ]
    if not fitting:
        raise InputError(
            f"none of its metrics says right or wrong ({', '.join(metrics) or 'there are none'}); "
            "name a field that does with --correct-columns, the least score that is right with "
            "--threshold, or the answers with --gold-column and --prediction-columns",
            path=path,
        )
    if len(fitting) == 1:
        return fitting[0], []
    others = ", ".join(fitting[1:])
    return fitting[0], [
        f"{path}: right or wrong by {fitting[0]}; --correct-columns chooses another ({others})."
    ]


def _outcome(
    record: dict[str, Any], metric: str, threshold: float | None, where: str, path: Path
) -> bool:
    value = unwrap(lookup(record, metric))
    outcome = judge_score(value, threshold)
    if outcome is None:
        raise InputError(
            f"{value!r} is no outcome; expected 0 or 1, or --threshold for other scores",
            path=path,
            row=where,
            column=metric,
        )
    return outcome


def _field(record: dict[str, Any], name: str, where: str, path: Path) -> str:
    value = as_text(lookup(record, name))
    if value is None:
        raise InputError("there is no such field", path=path, row=where, column=name)
    return value


def _choices(record: dict[str, Any]) -> tuple[str, ...]:
    """Return the choices of a multiple-choice sample; nothing for generated answers."""
    arguments, answers = record.get("arguments"), record["filtered_resps"]
    if isinstance(arguments, dict):
        given = [[value for _, value in sorted(each.items())] for each in arguments.values()]
    elif isinstance(arguments, list):
        given = arguments
    else:
        return ()
    is_choice = (
        len(given) > 1
        and isinstance(answers, list)
        and len(answers) == len(given)
        and all(isinstance(each, list) and len(each) == 2 for each in answers)
        and all(isinstance(each, list) and len(each) == 2 for each in given)
        and all(isinstance(each[1], str) for each in given)
    )
    return tuple(each[1].strip() for each in given) if is_choice else ()


def _prompt(record: dict[str, Any]) -> str | None:
    """Return all texts of a sample's requests; None if it has none."""
    given = record.get("arguments")
    requests = list(given.values()) if isinstance(given, dict) else given
    if not isinstance(requests, list):
        return None
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
    return json.dumps(texts) if texts else None


def _log_likelihoods(record: dict[str, Any], where: str, path: Path) -> list[float]:
    try:
        return [float(each[0]) for each in record["filtered_resps"]]
    except (TypeError, ValueError) as error:
        raise InputError(
            "a log-likelihood is no number", path=path, row=where, column="filtered_resps"
        ) from error


def _softmax(scores: list[float]) -> list[float]:
    values = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(values).all():
        return [float("nan")] * len(scores)
    powers = np.exp(values - values.max())
    return [float(value) for value in powers / powers.sum()]


def _name_target(target: Any, choices: tuple[str, ...], *, as_index: bool) -> str | None:
    """Return the right choice, by its name or its number."""
    text = as_text(target)
    if text is None:
        return None
    if text.isdecimal() and int(text) < len(choices) and text not in choices:
        return text if as_index else choices[int(text)]
    if text.strip() in choices:
        return str(choices.index(text.strip())) if as_index else text.strip()
    return text


def _answer(record: dict[str, Any]) -> str | None:
    value = record["filtered_resps"]
    while isinstance(value, list) and value:
        value = value[0]
    return _parsed(as_text(value))


def _parsed(text: str | None) -> str | None:
    return None if text is None or text.strip() in {"", _UNPARSED} else text
