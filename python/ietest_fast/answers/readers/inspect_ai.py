"""Logs of Inspect (inspect-ai): ``.eval``, a zip of JSON files, or one ``.json``."""

from __future__ import annotations

import contextlib
import json
import math
import re
import string
import struct
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.answers.readers.base import (
    MODEL_ARGS,
    MODEL_OF_ANSWERS,
    Answers,
    Repeats,
    hash_prompts,
    list_named,
    lookup,
    naming_fields,
    plain_array,
    plain_fields,
    plain_question,
    read_json,
    repeat_numbers,
    text_array,
)
from ietest_fast.answers.readers.label_columns import key_counted, say_near_copies
from ietest_fast.corpus.labels import answer_key, label_key
from ietest_fast.errors import InputError, shorten_error
from ietest_fast.files import check_file, estimate_json, open_archive, parse_json, read_member
from ietest_fast.numerals import say_count
from ietest_fast.values import as_finite, as_text, show_value, unwrap

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.answers.readers.base import Fields, FileStart


# The scores of Inspect's samples as numbers, and which of them says what is right.

# As Inspect's own metrics take them: letters as they are, words in capitals or not.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}

# Means are the same but for their rounding.
_SAME = 1e-6

# What an edit of a score says of a part that it leaves.
_UNCHANGED = "UNCHANGED"

# So many characters of a text no summary cuts.
_WHOLE = 100

NO_ANSWER = "N"
"""The score of a sample that the model did not answer."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """How a log judges its n samples."""

    scorer: str
    """Which scorer, or which of its values (``scorer.key``)."""
    values: Sequence[Any]
    """Of length n, as they stand in the log; None where there is none."""
    numbers: Sequence[float | None]
    """Of length n: the same as numbers; None where a sample was not scored."""
    outcomes: Sequence[bool | None]
    """Of length n: whether the answer is right; None likewise."""
    fitting: tuple[str, ...]
    """Names of all that say right or wrong of every sample; only the scorer if the user has named
    it."""
    note: str | None
    """A sentence about the choice; None if there was none."""


def judge_samples(samples: Sequence[dict[str, Any]], fields: Fields, path: Path) -> Judged:
    """Choose what says right or wrong: what the user has named, or the first that fits."""
    scores = _list_scores(samples, path)
    if not scores:
        raise InputError(f"none of its {len(samples):,} samples has a score", path=path)
    wanted = fields.correct
    if wanted is not None:
        return _judge(_find(scores, wanted, path), scores, samples, fields, path, is_named=True)
    fitting = [
        name
        for name, values in scores.items()
        if all(_fits(value, fields.threshold) for value in values)
    ]
    # Of those that say right or wrong, the first of those that judge most samples; what is wrong
    # with one that judges more than twice as many is to be told.
    counts = {name: sum(not _is_missing(each) for each in own) for name, own in scores.items()}
    chosen = max(fitting or counts, key=counts.__getitem__)
    if 2 * counts[chosen] < max(counts.values()):
        chosen = max(counts, key=counts.__getitem__)
    return _judge(chosen, scores, samples, fields, path, fitting=fitting)


def _list_scores(samples: Sequence[dict[str, Any]], path: Path) -> dict[str, list[Any]]:
    """Return the values of every scorer; of one that gives several, those of each key."""
    found: dict[str, list[Any]] = {}
    for row, sample in enumerate(samples):
        scores = sample.get("scores") or {}
        if not isinstance(scores, dict):
            raise InputError(
                f"the scores of sample {sample['id']!r} are {show_value(scores)}; an object with a "
                "score of each scorer expected",
                path=path,
            )
        for name, score in scores.items():
            value = unwrap(score.get("value")) if isinstance(score, dict) else None
            parts = {name: value}
            if isinstance(value, dict):
                parts |= {f"{name}.{key}": unwrap(part) for key, part in value.items()}
            elif isinstance(value, list):
                parts |= {f"{name}.{place}": part for place, part in enumerate(value)}
            for key, part in parts.items():
                found.setdefault(key, [None] * len(samples))[row] = part
    return {
        name: values
        for name, values in found.items()
        if any(not isinstance(value, (dict, list)) and not _is_missing(value) for value in values)
    }


def _find(scores: dict[str, list[Any]], wanted: str, path: Path) -> str:
    """Return the name of a scorer that the user has named."""
    if wanted in scores:
        return wanted
    parts = [name for name in scores if name.startswith(f"{wanted}.")]
    if parts:
        raise InputError(
            f"its scorer {wanted!r} gives several values for a sample; --correct-columns names one "
            f"of them: {', '.join(parts)}",
            path=path,
        )
    raise InputError(f"has no scorer {wanted!r}; it has {', '.join(scores)}", path=path)


def _judge(
    name: str,
    scores: dict[str, list[Any]],
    samples: Sequence[dict[str, Any]],
    fields: Fields,
    path: Path,
    *,
    fitting: Sequence[str] = (),
    is_named: bool = False,
) -> Judged:
    values, threshold = scores[name], fields.threshold
    for sample, value in zip(samples, values, strict=True):
        if not _fits(value, threshold):
            raise InputError(_complain(sample["id"], value, name, scores), path=path)
    numbers = [_as_number(value) for value in values]
    others = [other for other in scores if other != name]
    return Judged(
        scorer=name,
        values=values,
        numbers=numbers,
        outcomes=[
            None if number is None else number >= (1.0 if threshold is None else threshold)
            for number in numbers
        ],
        fitting=(name,) if is_named else tuple(fitting),
        note=None
        if is_named or not others
        else f"{path}: right or wrong by the scorer {name!r}; --correct-columns chooses another "
        f"({', '.join(others)}).",
    )


def compare_means(
    results: Any, samples: Sequence[dict[str, Any]], judged: Judged, path: Path
) -> list[str]:
    """Say where a header has another mean of the scorer that judges than the samples have."""
    by_sample = _mean_by_sample(samples, judged)
    own = math.fsum(by_sample.values()) / max(len(by_sample), 1)
    said = []
    for entry in results if isinstance(results, list) else []:
        if not isinstance(entry, dict) or str(entry.get("reducer")) not in {"None", "mean"}:
            continue
        metric_of = str(entry.get("name"))
        if judged.scorer not in {metric_of, f"{entry.get('scorer')}.{metric_of}"}:
            continue
        metrics = entry.get("metrics")
        for name in ("accuracy", "mean"):
            metric = _find_metric(metrics, name)
            value = metric.get("value") if isinstance(metric, dict) else None
            mean = as_finite(value)
            if value is not None and (mean is None or abs(mean - own) > _SAME):
                there = show_value(value) if mean is None else f"{mean:.4f}"
                said.append(
                    f"Warning: the {name} of {judged.scorer!r} is {own:.4f} in the samples of "
                    f"{path}, and {there} in its header."
                )
    return said


def compare_reductions(
    reductions: Any, samples: Sequence[dict[str, Any]], judged: Judged, path: Path
) -> list[str]:
    """Say of how many samples a log has another mean over epochs than their scores."""
    own, differing = _mean_by_sample(samples, judged), set()
    for entry in reductions if isinstance(reductions, list) else []:
        if not isinstance(entry, dict) or str(entry.get("reducer")) not in {"None", "mean"}:
            continue
        name, listed = str(entry.get("scorer")), entry.get("samples")
        for each in listed if isinstance(listed, list) else []:
            value = each.get("value") if isinstance(each, dict) else None
            parts = (
                {f"{name}.{key}": part for key, part in value.items()}
                if isinstance(value, dict)
                else {name: value}
            )
            mean = _as_number(parts.get(judged.scorer))
            sample = str(each.get("sample_id")) if isinstance(each, dict) else ""
            if mean is not None and abs(mean - own.get(sample, mean)) > _SAME:
                differing.add(sample)
    n = len(differing)
    note = (
        f"Warning: the score of {judged.scorer!r} is another one in the reductions of {path} than "
        f"in its samples, for {n:,} of {len(own):,}; the samples count."
    )
    return [note] if n else []


def compare_summaries(
    summaries: Any, samples: Sequence[dict[str, Any]], judged: Judged, path: Path
) -> list[str]:
    """Say in what the archive's summaries are other ones than the samples."""
    if not isinstance(summaries, list):
        return []
    rows = {_name_sample(row): row for row in summaries if isinstance(row, dict) and "id" in row}
    pairs = [(one, rows[_name_sample(one)]) for one in samples if _name_sample(one) in rows]
    n_lacking, n_foreign = len(samples) - len(pairs), len(rows) - len(pairs)
    said = []
    if n_lacking or n_foreign:
        lacks, has = (say_count(n, "sample") for n in (n_lacking, n_foreign))
        said.append(
            f"Warning: the summaries of {path} lack {lacks} that it has, and have {has} that it "
            "lacks; its own samples count. Is a part of the log missing?"
        )
    scored = [row for row in rows.values() if isinstance(row.get("scores"), dict)]
    listed = _list_scores(scored, path).get(judged.scorer, [])
    there = dict(zip(map(_name_sample, scored), listed, strict=False))
    own = dict(zip(map(_name_sample, samples), judged.values, strict=True))
    answers = [[lookup(_find_score(each, judged.scorer), "answer") for each in p] for p in pairs]
    targets = [[each.get("target") for each in pair] for pair in pairs]
    differ = {
        f"score of {judged.scorer!r}": [_are_other(own[k], there[k]) for k in there if k in own],
        f"answer of {judged.scorer!r}": [_are_other_texts(*each) for each in answers],
        "target": [_are_other_texts(*each) for each in targets],
    }
    return said + [
        f"Warning: the {name} is another one in the summaries of {path} than in its samples, for "
        f"{sum(each):,} of {len(each):,}; the samples count."
        for name, each in differ.items()
        if any(each)
    ]


def compare_history(samples: Sequence[dict[str, Any]], judged: Judged, path: Path) -> list[str]:
    """Count the samples whose score is not the last one of its history, which edits leave."""
    n = 0
    for sample in samples:
        score = _find_score(sample, judged.scorer)
        edits = lookup(score, "history")
        n += any(
            _are_other(lookup(score, name), _find_last(edits, name)) for name in ("value", "answer")
        )
    note = (
        f"Warning: in {n:,} of {len(samples):,} samples of {path} the score of {judged.scorer!r} "
        "is not the last one of its history; the score counts (edit it as Inspect does, or take "
        "the log as Inspect has written it)."
    )
    return [note] if n else []


def _find_last(edits: Any, name: str) -> Any:
    """Return what the last edit that changed it has made of a part of a score; None without one."""
    given = [lookup(each, name) for each in edits] if isinstance(edits, list) else []
    known = [each for each in given if each is not None and each != _UNCHANGED]
    return known[-1] if known else None


def _find_score(sample: dict[str, Any], scorer: str) -> Any:
    """Return a sample's score of a scorer, or the one of which a value has its name.

    The name of a value of several is that of its scorer and a key, and either may have dots.
    """
    scores = sample.get("scores")
    if not isinstance(scores, dict):
        return None
    return scores.get(scorer) or next(
        (each for name, each in scores.items() if scorer.startswith(f"{name}.")), None
    )


def _are_other(one: Any, other: Any) -> bool:
    """Whether two scores differ, if there are two; NaN is not itself."""
    one, other = unwrap(one), unwrap(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return any(_are_other(part, other.get(key)) for key, part in one.items())
    if one is None or other is None or one == other or str(one) == str(other):
        return False
    numbers = [_as_number(each) for each in (one, other)]
    return None in numbers or numbers[0] != numbers[1]


def _are_other_texts(one: Any, other: Any) -> bool:
    """Whether two texts, or lists of some, differ where summaries do not cut them."""
    if one is None or other is None:
        return False
    whole, cut = (
        [" ".join(str(text).split()) for text in (each if isinstance(each, list) else [each])]
        for each in (one, other)
    )
    return len(whole) != len(cut) or any(
        text[:_WHOLE] != start[:_WHOLE]
        and not (len(text) > _WHOLE and text.startswith(start.rstrip(" .\u2026")))
        for text, start in zip(whole, cut, strict=True)
    )


def _name_sample(sample: dict[str, Any]) -> tuple[str, str]:
    return str(sample.get("id")), str(sample.get("epoch", 1))


def _mean_by_sample(samples: Sequence[dict[str, Any]], judged: Judged) -> dict[str, float]:
    """Return the mean score of each sample over its epochs."""
    found: dict[str, list[float]] = {}
    for sample, number in zip(samples, judged.numbers, strict=True):
        if number is not None:
            found.setdefault(str(sample["id"]), []).append(number)
    return {name: math.fsum(each) / len(each) for name, each in found.items()}


def _find_metric(metrics: Any, name: str) -> Any:
    """Return a metric by its key, or the only one of its name; several of it are those of groups.

    The key of a metric of a package is ``PACKAGE/NAME``.
    """
    if not isinstance(metrics, dict) or name in metrics:
        return metrics.get(name) if isinstance(metrics, dict) else None
    named = [
        metric
        for key, metric in metrics.items()
        if isinstance(metric, dict)
        and name in {str(each).rpartition("/")[2] for each in (key, metric.get("name"))}
    ]
    return named[0] if len(named) == 1 else None


def _complain(sample: Any, value: Any, name: str, scores: dict[str, list[Any]]) -> str:
    others = [other for other in scores if other != name]
    number = _as_number(value)
    remedies = []
    if number is not None and not math.isinf(number):
        remedies.append("--threshold 0.5 counts scores of 0.5 and more as right (P is 0.5)")
    if others:
        remedies.append(f"--correct-columns names another scorer ({', '.join(others)})")
    return (
        f"sample {sample!r}: the score {show_value(value)} of {name!r} is neither right nor wrong; "
        f"expected C or I, yes or no, true or false, 1 or 0"
        f"{''.join(f'; {each}' for each in remedies)}"
    )


def _fits(value: Any, threshold: float | None) -> bool:
    """Whether a score says right or wrong, or that the sample was not scored."""
    number = _as_number(value)
    if number is None:
        return _is_missing(value)
    return not math.isinf(number) if threshold is not None else number in {0.0, 1.0}


def _is_missing(value: Any) -> bool:
    """Whether a sample was not scored: Inspect writes NaN for it."""
    if isinstance(value, str):
        return value.strip().lower() in {"", "nan"}
    return value is None or (isinstance(value, float) and math.isnan(value))


def _as_number(value: Any) -> float | None:
    """Return a score as the number that Inspect takes it for; None for what is none, and NaN."""
    if isinstance(value, str):
        if value in _LETTERS:
            return _LETTERS[value]
        word = value.strip().lower()
        if word in _WORDS:
            return _WORDS[word]
        value = word.replace("_", "?")  # Python takes 1_0 for a number
    elif not isinstance(value, (bool, int, float)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


_JOURNAL = "_journal/start.json"
_BESIDE = ("reductions", "summaries")  # members that repeat the samples' scores
_MEMBERS = ("header.json", _JOURNAL)
_UNFINISHED = {
    "started": "has not finished",
    "cancelled": "was cancelled",
    "error": "ended with an error",
}
# Of the values of all samples in memory; more is no log but an attack on it. A larger log may take
# so many times its size.
_LEAST_VALUES = 3 << 29
_MOST_RATIO = 150
_SAMPLE_ID = "sample_id"
_ASSISTANT = "assistant"
_MOST_MODELS = 3
# Why an answer ended that is not all that the model would have said.
_CUT = frozenset({"max_tokens", "model_length", "content_filter"})
# How and where requests are sent, which changes no answer.
_OF_REQUESTS = frozenset(
    {"max_connections", "max_retries", "timeout", "attempt_timeout", "batch", "cache"}
    | {"base_url", "api_key", "port", "device", "batch_size"}
)
# Settings of a run, and of other models in it, such as one that grades.
_OF_RUNS = ("eval.model_generate_config", "eval.model_roles", "plan.config")
# Older versions give no eval_id; the status of a run comes before what it is of.
_OLD_HEADER = re.compile(
    rb'\s*\{\s*(?:"version"\s*:\s*\d+\s*,\s*)?'
    rb'"status"\s*:\s*(?:"(?:started|success|cancelled|error)"|null)\s*,\s*"eval"\s*:\s*\{'
)
_OLD_KEYS = (b'"model"', b'"run_id"')
_TASK = re.compile(rb'"task"\s*:\s*("(?:[^"\\]|\\.)*")')

# What reading a damaged archive raises. RuntimeError: a member is encrypted, nested too deeply, or
# compressed by an unknown method.
_DAMAGES = (
    zipfile.BadZipFile,
    struct.error,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
)


class InspectReader:
    """Reads ``.eval`` and ``.json`` logs, told apart by their content."""

    summary = "Inspect (inspect-ai), .eval and .json"

    def recognises(self, start: FileStart) -> bool:
        """Look for Inspect's members in a zip, or its first keys in JSON."""
        if start.head.startswith(b"PK\x03\x04"):
            with open_archive(start.path) as archive:
                return any(name in archive.namelist() for name in _MEMBERS)
        if not start.is_json or b'"eval"' not in start.head:
            return False
        is_old = _OLD_HEADER.match(start.head) and any(name in start.head for name in _OLD_KEYS)
        return b'"eval_id"' in start.head or (bool(is_old) and b'"task"' in start.head)

    def name_task(self, start: FileStart) -> str:
        """Return the task, which stands in the header."""
        if start.head.startswith(b"PK\x03\x04"):
            about = _read_header(start.path).get("eval")
            task = about.get("task") if isinstance(about, dict) else None
        else:
            said = _TASK.search(start.head)
            task = None
            if said is not None:
                with contextlib.suppress(ValueError):  # of a file that is damaged
                    task = json.loads(said.group(1))
        return str(task or start.path.stem)

    def read(self, path: Path, fields: Fields) -> Sequence[Answers]:
        """Read all samples."""
        import pyarrow as pa

        if zipfile.is_zipfile(check_file(path)):
            header, samples = _read_archive(path)
        else:
            header = read_json(path)
            samples = header.get("samples") or []
        about = header.get("eval") if isinstance(header, dict) else None
        if not isinstance(about, dict) or not isinstance(samples, list):
            raise InputError("is no log of Inspect", path=path)
        if not samples:
            raise InputError(
                "has no samples; it was made with --no-log-samples, or by a run that failed",
                path=path,
            )
        samples, notes = _take_last(samples, path)
        judged = judge_samples(samples, fields, path)
        if judged.note is not None:
            notes.append(judged.note)
        notes += _compare_header(header, samples, judged, path)
        if fields.predicted is not None:
            predicted = [as_text(lookup(sample, fields.predicted)) for sample in samples]
        else:
            predicted = [
                _read_answer(sample, judged.scorer, value)
                for sample, value in zip(samples, judged.values, strict=True)
            ]
        gold = [as_text(lookup(sample, fields.gold or "target")) for sample in samples]
        if not (fields.gold or fields.predicted or fields.correct):
            notes += _say_unread(samples, gold, predicted, judged.outcomes, path)
            notes += _say_other_words(samples, predicted, path)
        is_other = [
            _is_other(target, answer, sample.get("choices"))
            for target, answer, sample in zip(gold, predicted, samples, strict=True)
        ]
        names = None
        if fields.gold is None and fields.predicted is None:
            notes += _say_no_choices(samples, path)
            gold, predicted, names = _name_choices(samples, gold, predicted)
        if names is not None and not _are_labels(names, gold, predicted, judged.outcomes):
            names = None
        inputs = [json.dumps([plain_question(s.get("input")), s.get("choices")]) for s in samples]
        return [
            Answers(
                path=path,
                name=str(about.get("task") or path.stem),
                items=plain_array([lookup(sample, fields.item or "id") for sample in samples]),
                gold=text_array(gold),
                predicted=text_array(predicted),
                correct=pa.array(judged.outcomes, pa.bool_()),
                label_names=names,
                is_other=pa.array(is_other, pa.bool_()),
                inputs=pa.array(inputs),
                prompts=hash_prompts(list(map(_read_prompt, samples)), inputs),
                repeats=Repeats(
                    numbers=repeat_numbers(sample.get("epoch") for sample in samples),
                    scores=pa.array(judged.numbers, pa.float64()),
                    noun="epoch",
                    column=_SAMPLE_ID,
                ),
                judged_by=(judged.scorer, *judged.fitting),
                model=None if about.get("model") is None else str(about["model"]),
                settings=_find_settings(header, samples, judged),
                columns={
                    name: plain_array([_kept(sample, name) for sample in samples])
                    for name in fields.keep
                },
                ids={}
                if fields.item is not None
                else naming_fields([sample.get("metadata") for sample in samples], "metadata"),
                gold_column=fields.gold or "target",
                predicted_column=fields.predicted or "answer",
                is_scored=True,
                marks_unparsed=NO_ANSWER in judged.values,
                notes=tuple(notes),
            )
        ]


def _read_prompt(sample: dict[str, Any]) -> str | None:
    """Return what the model was shown: the messages but its own; None where these are no words.

    A solver may make them of something else than the input. Of pictures a log may keep a sign only.
    """
    messages, asked = sample.get("messages"), plain_question(sample.get("input"))
    if not isinstance(messages, list) or not isinstance(asked, list):
        return None
    if not all(isinstance(each, dict) and "role" in each for each in messages):
        return None
    shown = [
        (message, plain)
        for message, plain in zip(messages, plain_question(messages), strict=True)
        if message["role"] != _ASSISTANT or plain in asked
    ]
    if not shown or not all(_are_words(message.get("content")) for message, _ in shown):
        return None
    return json.dumps([plain for _, plain in shown])


def _are_words(content: Any) -> bool:
    """Whether a message is a text, or has parts of text only."""
    parts = content if isinstance(content, list) else [content]
    return all(
        _is_text(part) or (isinstance(part, dict) and _is_text(part.get("text"))) for part in parts
    )


def _say_unread(
    samples: list[dict[str, Any]],
    gold: list[str | None],
    predicted: list[str | None],
    outcomes: Sequence[bool | None],
    path: Path,
) -> list[str]:
    """Say which metadata, or what a model wrote, nearly repeat a target, an answer or a mark."""
    columns = plain_fields([sample.get("metadata") for sample in samples], "metadata.")
    columns["output.completion"], columns["output.choices"] = (
        plain_array(list(words)) for words in zip(*map(_read_words, samples), strict=True)
    )
    answers = {"the answer": text_array(predicted)}
    counted = key_counted(("target", text_array(gold)), answers, path)
    if None not in outcomes:
        counted["whether the answer is right"] = np.array(outcomes, np.bool_)
    return [*say_near_copies(columns, counted, path)]


def _say_other_words(
    samples: list[dict[str, Any]], predicted: list[str | None], path: Path
) -> list[str]:
    """Count the last messages that are another answer, as completions of other samples show.

    Other words may give the same answer, and an agent may hand in its answer by a tool.
    """
    answers = ["" if answer is None else label_key(answer) for answer in predicted]
    completions = [_key_words(_read_words(sample)[0]) for sample in samples]
    given: dict[str, set[str]] = {}
    for words, answer in zip(completions, answers, strict=True):
        given.setdefault(words, set()).add(answer)
    n = 0
    for sample, words, answer in zip(samples, completions, answers, strict=True):
        other = given.get(_key_words(_read_last(sample)), set()) if words and answer else set()
        n += given[words] == {answer} and len(other) == 1 and not other & {"", answer}
    note = (
        f"Warning: in {n:,} of {len(samples):,} samples of {path} the last message, by the model, "
        "is another answer than output.completion and the scored one, which count (take the log as "
        "Inspect has written it)."
    )
    return [note] if n else []


def _read_last(sample: dict[str, Any]) -> Any:
    """Return the last message if the model wrote it, and called no tool with it."""
    messages = plain_question(sample.get("messages") or None)
    last = messages[-1] if isinstance(messages, list) else None
    if not isinstance(last, list) or last[:1] != [_ASSISTANT] or len(last) != 2:
        return None
    return last[1]


def _key_words(words: Any) -> str:
    return label_key(words) if _is_text(words) else ""


def _read_words(sample: dict[str, Any]) -> tuple[Any, Any]:
    """Return what the model wrote, from both places where it stands."""
    choices = lookup(sample, "output.choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return lookup(sample, "output.completion"), lookup(first, "message.content")


def _read_header(path: Path) -> dict[str, Any]:
    header, _ = _read_archive(path, with_samples=False)
    return header if isinstance(header, dict) else {}


def _read_archive(path: Path, *, with_samples: bool = True) -> tuple[dict[str, Any], list[Any]]:
    try:
        with open_archive(path) as archive:
            names = archive.namelist()
            header = next((name for name in _MEMBERS if name in names), None)
            if header is None:
                raise InputError("is no log of Inspect", path=path)
            values = _Values(path)
            samples = [
                values.read(archive, member)
                for member in archive.infolist()
                if with_samples
                and member.filename.startswith("samples/")
                and member.filename.endswith(".json")
            ]
            about = values.read(archive, archive.getinfo(header))
            if with_samples and isinstance(about, dict):
                there = [each for each in _BESIDE if f"{each}.json" in names]
                about |= {
                    each: values.read(archive, archive.getinfo(f"{each}.json")) for each in there
                }
            if header == _JOURNAL and isinstance(about, dict):
                about = {"status": "started"} | about  # the header is written at the end
            return about, samples
    except _DAMAGES as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"is a damaged log of Inspect: {shorten_error(error)}", path=path) from (
            error
        )


class _Values:
    """Reads the members of an archive while there is room for what they hold."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = self._most = max(_LEAST_VALUES, _MOST_RATIO * path.stat().st_size)

    def read(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
        data = read_member(archive, member)
        self._left -= estimate_json(data)
        if self._left < 0:
            raise InputError(
                f"would take more than {self._most / 1e9:,.1f} GB of memory, by {member.filename}; "
                "no log of its size holds so much",
                path=self._path,
            )
        return parse_json(data, self._path, of=member.filename)


def _take_last(samples: list[Any], path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the last of each sample and epoch, as Inspect does, and what there is to say.

    A sample whose score was edited, or that was run again, is stored behind the first.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for sample in samples:
        if not isinstance(sample, dict) or "id" not in sample:
            raise InputError("has a sample without an id", path=path)
        found[str(sample["id"]), str(sample.get("epoch", 1))] = sample
    n = len(samples) - len(found)
    if not n:
        return samples, []
    stored = say_count(n, "sample is", "samples are")
    return list(found.values()), [
        f"{path}: {stored} stored once more, further below; the last of each counts."
    ]


def _compare_header(
    header: dict[str, Any], samples: list[dict[str, Any]], judged: Judged, path: Path
) -> list[str]:
    """Say where the header of a log tells another story than its samples."""
    said = []
    status, results = header.get("status"), header.get("results")
    if isinstance(status, str) and status in _UNFINISHED:
        said.append(
            f"Warning: {path} is of a run that {_UNFINISHED[status]}; samples may be missing."
        )
    n_invalid = sum(bool(sample.get("invalidation")) for sample in samples)
    if n_invalid or header.get("invalidated") is True:
        which = say_count(n_invalid, "sample", "samples") if n_invalid else "samples"
        said.append(f"Warning: {path} has {which} marked as invalid, whose answers count.")
    n_failed = sum(
        bool(sample.get("error") or lookup(sample, "output.error")) and outcome is not None
        for sample, outcome in zip(samples, judged.outcomes, strict=True)
    )
    if n_failed:
        failed = say_count(n_failed, "sample", "samples")
        said.append(f"Warning: {path} has {failed} that ended with an error, whose scores count.")
    n_limited = sum(bool(sample.get("limit")) for sample in samples)
    if n_limited:
        cut = say_count(n_limited, "sample", "samples")
        said.append(f"Warning: {path} has {cut} that a limit ended, whose scores count.")
    said += _say_cut(samples, path)
    n = next((n for n, known in _count_samples(header, samples) if n not in known), None)
    if n is not None:
        said.append(
            f"Warning: {path} has {len(samples):,} samples, and its header counts {n:,}; is a part "
            "of the log missing?"
        )
    said += _compare_models(header, samples, path)
    said += _compare_ids(header, samples, path, is_short=n is not None)
    said += _compare_epochs(header, samples, path)
    said += compare_reductions(header.get("reductions"), samples, judged, path)
    said += _say_limit(header, samples, path)
    said += compare_history(samples, judged, path)
    said += compare_summaries(header.get("summaries"), samples, judged, path)
    if not isinstance(results, dict):
        return said
    return said + compare_means(results.get("scores"), samples, judged, path)


def _say_cut(samples: list[dict[str, Any]], path: Path) -> list[str]:
    """Count the answers that ended before the model was done, and those that were held back."""
    choices = (lookup(sample, "output.choices") for sample in samples)
    firsts = (each[0] if isinstance(each, list) and each else None for each in choices)
    reasons = [
        as_text(lookup(first, "stop_reason") or lookup(sample, "output.stop_reason"))
        for first, sample in zip(firsts, samples, strict=True)
    ]
    counts = Counter(each for each in reasons if each in _CUT)
    if not counts:
        return []
    cut = say_count(counts.total(), "answer that was", "answers that were")
    shown = ", ".join(f"{name} {n:,}" for name, n in sorted(counts.items()))
    note = (
        f"Warning: {path} has {cut} cut off or held back, by stop_reason ({shown}), whose scores "
        "count."
    )
    return [note]


def _compare_models(header: dict[str, Any], samples: list[dict[str, Any]], path: Path) -> list[str]:
    """Say how many samples another model has answered; the same one has names with a common part.

    A provider calls a model by its version, such as gpt-4o-2024-08-06 for openai/gpt-4o.
    """
    named = lookup(header, "eval.model")
    known = _name_parts(named)
    given = [lookup(sample, "output.model") for sample in samples]
    others = [each for each in given if _name_parts(each) and not known & _name_parts(each)]
    counts = _count_models(samples)
    if len(counts) > 1:
        shown = ", ".join(f"{name} ({n:,})" for name, n in counts.most_common(_MOST_MODELS))
        return [f"Warning: several models have answered samples of {path}: {shown}; all count."]
    if not known or not others:
        return []
    said = (
        f"Warning: {len(others):,} of {len(samples):,} samples of {path} have answers of "
        f"{show_value(others[0])}, and its header names the model {show_value(named)}; they count."
    )
    return [said]


def _find_settings(
    header: dict[str, Any], samples: list[dict[str, Any]], judged: Judged
) -> dict[str, Any]:
    """Return how the model was asked and judged, and which version of it answered, if only one."""
    plan = header.get("plan")
    steps = lookup(plan, "steps")
    models = sorted(_count_models(samples))
    judges = _list_judges(lookup(header, "eval.scorers"), judged)
    return {
        MODEL_OF_ANSWERS: (models[0] if len(models) == 1 else models) if models else None,
        MODEL_ARGS: _drop_requests(lookup(header, MODEL_ARGS)),
        **{name: _drop_requests(lookup(header, name)) for name in _OF_RUNS},
        "plan.steps": [[lookup(step, "solver"), lookup(step, "params")] for step in steps]
        if isinstance(steps, list)
        else None,
        **{f"eval.scorers.{name}": own for name, own in judges.items()},
    }


def _list_judges(scorers: Any, judged: Judged) -> dict[str, list[Any]]:
    """Return the options of the scorer that judges, by its name.

    Its scores have the name without the package, and may have a number or a key behind it.
    """
    listed = [
        {"name": as_text(lookup(each, "name")), "options": _drop_requests(lookup(each, "options"))}
        for each in (scorers if isinstance(scorers, list) else ())
    ]
    names = {name for each in listed if (name := each["name"]) is not None}
    judges = {name for name in names if judged.scorer.startswith((name, name.rpartition("/")[2]))}
    return list_named(listed, "name", judges)


def _drop_requests(given: Any) -> Any:
    """Return what options say of the model, those of other models in them included."""
    if not isinstance(given, dict):
        return given
    kept = {name: _drop_requests(own) for name, own in given.items() if name not in _OF_REQUESTS}
    return {name: own for name, own in kept.items() if own is not None} or None


def _count_models(samples: list[dict[str, Any]]) -> Counter[str]:
    """Count the answers of each model, as the samples call it."""
    names = (as_text(lookup(sample, MODEL_OF_ANSWERS)) for sample in samples)
    return Counter(name for name in names if name)


def _name_parts(name: Any) -> set[str]:
    return set(re.findall(r"[a-z]{2,}", label_key(name))) if isinstance(name, str) else set()


def _count_samples(
    header: dict[str, Any], samples: list[dict[str, Any]]
) -> list[tuple[int, set[int]]]:
    """Return what a header counts, each number with those of the samples that agree with it.

    Not all versions of Inspect count each epoch, or samples that ended with an error.
    """
    every = {len(samples), len({str(sample["id"]) for sample in samples})}
    whole = sum(not sample.get("error") for sample in samples)
    results = header.get("results")
    results = results if isinstance(results, dict) else {}
    counts: list[tuple[Any, set[int]]] = [(results.get("completed_samples"), {whole, *every})]
    # A run that ended early has not answered all, and says so by itself.
    if str(header.get("status")) not in _UNFINISHED and not results.get("early_stopping"):
        counts.append((results.get("total_samples"), every))
        counts.append((_count_asked(header), {len(samples)}))
    counts += _count_scored(results.get("scores"), samples, every)
    return [(n, known) for n, known in counts if type(n) is int]


def _count_scored(
    said: Any, samples: list[dict[str, Any]], every: set[int]
) -> list[tuple[int, set[int]]]:
    """Return how many samples a header calls scored, where all have a score of its scorer."""
    counts = []
    scores = [lookup(sample, "scores") for sample in samples]
    for score in said if isinstance(said, list) else ():
        n, name = lookup(score, "scored_samples"), as_text(lookup(score, "scorer")) or ""
        own = [each.get(name) if isinstance(each, dict) else None for each in scores]
        if type(n) is int and all(map(_has_value, own)):  # NaN may count either way
            counts.append((n, every))
    return counts


def _has_value(score: Any) -> bool:
    """Whether a score says something; NaN stands for none."""
    value = lookup(score, "value")
    return value is not None and str(value).lower() != "nan"


def _compare_ids(
    header: dict[str, Any], samples: list[dict[str, Any]], path: Path, *, is_short: bool
) -> list[str]:
    """Say how many samples a header names that are not there, or does not name that are.

    Samples that are missing may have been counted already.
    """
    named = lookup(header, "eval.dataset.sample_ids")
    if not isinstance(named, list) or not named:
        return []
    wanted, known = {str(each) for each in named}, {str(sample["id"]) for sample in samples}
    n_missing, n_foreign = len(wanted - known), len(known - wanted)
    is_whole = _count_asked(header) is not None and not lookup(header, "results.early_stopping")
    if not n_foreign and (is_short or not n_missing or not is_whole):
        return []
    lacks, has = (say_count(n, "sample") for n in (n_missing, n_foreign))
    note = (
        f"Warning: {path} lacks {lacks} that its header names, and has {has} that it does not "
        "name; is a part of the log missing, or are samples of another run?"
    )
    return [note]


def _compare_epochs(header: dict[str, Any], samples: list[dict[str, Any]], path: Path) -> list[str]:
    """Say how many samples are of an epoch that a header does not have."""
    epochs = lookup(header, "eval.config.epochs")
    own = [sample.get("epoch") for sample in samples]
    n = sum(type(each) is int and type(epochs) is int and each > epochs for each in own)
    if not n:
        return []
    some, whole = say_count(n, "sample"), say_count(epochs, "epoch")
    note = f"Warning: {path} has {some} of a later epoch than its header, which has {whole}."
    return [note]


def _say_limit(header: dict[str, Any], samples: list[dict[str, Any]], path: Path) -> list[str]:
    """Say that there are more samples, of whatever epochs, than a limit or a range lets through."""
    limit = lookup(header, "eval.config.limit")
    ends = limit if isinstance(limit, list) else [0, limit]
    n = len({str(sample["id"]) for sample in samples})
    if len(ends) != 2 or not all(type(end) is int for end in ends) or n <= ends[1] - ends[0]:
        return []
    note = (
        f"Warning: {path} has {n:,} samples, and its header has the limit {show_value(limit)}; are "
        "samples of another run in the log?"
    )
    return [note]


def _count_asked(header: dict[str, Any]) -> int | None:
    """Return how many samples a finished run was to answer; None if its header leaves it open.

    The data set's number is that before a limit, which its ids are behind.
    """
    if header.get("status") != "success":
        return None
    ids = lookup(header, "eval.dataset.sample_ids")
    n = lookup(header, "eval.dataset.samples")
    epochs = lookup(header, "eval.config.epochs")
    epochs = 1 if epochs is None else epochs
    limits = (lookup(header, f"eval.config.{name}") for name in ("limit", "sample_id"))
    is_limited = any(limit is not None for limit in limits)
    if isinstance(ids, list) and (is_limited or type(n) is not int):
        n, is_limited = len(ids), False
    if is_limited or type(n) is not int or type(epochs) is not int:
        return None
    return n * epochs


def _read_answer(sample: dict[str, Any], scorer: str, value: Any) -> str | None:
    """Return the answer that a scorer has found; None if it found none."""
    if value == NO_ANSWER:
        return None
    found = _find_score(sample, scorer)
    answer = as_text(found.get("answer")) if isinstance(found, dict) else None
    return None if answer is None or not answer.strip() else answer


def _name_choices(
    samples: list[dict[str, Any]], gold: list[str | None], predicted: list[str | None]
) -> tuple[list[str | None], list[str | None], tuple[str, ...] | None]:
    """Return texts of choices instead of their letters, where all samples have the same choices.

    The choices are then the labels, and are returned, too, unless a letter stands for none. Their
    order may differ from sample to sample and from log to log, as after a shuffle.
    """
    listed: list[Any] = [sample.get("choices") for sample in samples]
    if not all(isinstance(own, list) and own and all(map(_is_text, own)) for own in listed):
        return gold, predicted, None
    if len({frozenset(own) for own in listed}) > 1 or len(set(listed[0])) < len(listed[0]):
        return gold, predicted, None
    named = [
        [_choice_of(letter, own) for letter, own in zip(letters, listed, strict=True)]
        for letters in (gold, predicted)
    ]
    others = {letter for name, letter in zip(named[0], gold, strict=True) if name is None}
    are_letters = all(letter is not None and _is_letter(letter) for letter in others)
    if not are_letters or others & set(listed[0]):
        return gold, predicted, None
    told, said = (
        [letter if name is None else name for name, letter in zip(names, own, strict=True)]
        for names, own in zip(named, (gold, predicted), strict=True)
    )
    return told, said, None if others else tuple(listed[0])


def _say_no_choices(samples: list[dict[str, Any]], path: Path) -> list[str]:
    """Count the targets that are none of their sample's choices, where others are."""
    known = [
        _are_choices(sample.get("target"), sample["choices"])
        for sample in samples
        if sample.get("choices")
        and isinstance(sample["choices"], list)
        and all(map(_is_text, sample["choices"]))
    ]
    n = known.count(False)
    if not n or not any(known):
        return []
    note = (
        f"Warning: in {n:,} of {len(samples):,} samples of {path} the target is none of the "
        "choices; right and wrong are compared, the answers are not."
    )
    return [note]


def _are_choices(target: Any, choices: list[str]) -> bool:
    """Whether a target, or each of several, is a choice by its letter or words."""
    known = {label_key(choice) for choice in choices}
    texts = [as_text(each) for each in (target if isinstance(target, list) else [target])]
    return bool(texts) and all(
        text is not None
        and (_choice_of(text.upper(), choices) is not None or label_key(text) in known)
        for text in texts
    )


def _is_letter(text: str) -> bool:
    return len(text.strip()) == 1 and text.strip() in string.ascii_uppercase


def _are_labels(
    names: Sequence[str],
    gold: list[str | None],
    predicted: list[str | None],
    outcomes: Sequence[bool | None],
) -> bool:
    """Whether choices are told apart as labels are, and right where they are the target's."""
    keys = {(label_key(name), answer_key(name)) for name in names}
    if any(len(own - {""}) < len(names) for own in map(set, zip(*keys, strict=True))):
        return False
    rows = zip(gold, predicted, outcomes, strict=True)
    return all(right is None or right == (target == said) for target, said, right in rows)


def _choice_of(letter: str | None, choices: list[str]) -> str | None:
    place = -1 if letter is None else string.ascii_uppercase.find(letter.strip())
    is_letter = letter is not None and _is_letter(letter)
    return choices[place] if is_letter and 0 <= place < len(choices) else None


def _is_other(target: str | None, answer: str | None, choices: Any) -> bool:
    """Whether target and answer, by their letters or words, are two choices of a sample.

    Other words than the target's may be right, but no other choice.
    """
    if not isinstance(choices, list) or not all(map(_is_text, choices)):
        return False
    known = {label_key(choice) for choice in choices}
    keys = {
        label_key(_choice_of(each.upper(), choices) or each)
        for each in (target, answer)
        if each is not None
    }
    return len(keys) == 2 and keys <= known


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _kept(sample: dict[str, Any], name: str) -> Any:
    if name == _SAMPLE_ID:  # what tells epochs of a sample apart from other samples
        return sample["id"]
    found = lookup(sample, name)
    found = lookup(sample.get("metadata"), name) if found is None else found
    # A text is told by itself; of a chat, ids of messages would tell equal ones apart.
    return found if isinstance(found, str) else plain_question(found)
