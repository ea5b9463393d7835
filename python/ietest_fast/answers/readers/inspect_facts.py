"""What logs of Inspect state twice: scores, targets and numbers of samples, settings and limits."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ietest_fast.answers.readers.base import find_standard_error, lookup, say_other_mean
from ietest_fast.answers.readers.settings import MODEL_ARGS, MODEL_OF_ANSWERS, list_named
from ietest_fast.corpus.labels import label_key
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.values import as_text, show_value, unwrap

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.answers.readers.base import Fields

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
class JudgedSamples:
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


def judge_samples(samples: Sequence[dict[str, Any]], fields: Fields, path: Path) -> JudgedSamples:
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
) -> JudgedSamples:
    values, threshold = scores[name], fields.threshold
    for sample, value in zip(samples, values, strict=True):
        if not _fits(value, threshold):
            raise InputError(_complain(sample["id"], value, name, scores), path=path)
    numbers = [_as_number(value) for value in values]
    others = [other for other in scores if other != name]
    return JudgedSamples(
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
    results: Any, samples: Sequence[dict[str, Any]], judged: JudgedSamples, path: Path
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
        known = dict.fromkeys(("accuracy", "mean"), own)
        known["stderr"] = find_standard_error([*by_sample.values()])
        for name, number in known.items():
            metric = _find_metric(metrics, name)
            value = metric.get("value") if isinstance(metric, dict) else None
            if name == "stderr" and (lookup(metric, "params") or lookup(metric, "options")):
                continue  # of clusters
            said += say_other_mean(
                f"the {name} of {judged.scorer!r}", number, value, path, "its header"
            )
    return said


def compare_reductions(
    reductions: Any, samples: Sequence[dict[str, Any]], judged: JudgedSamples, path: Path
) -> list[str]:
    """Say of how many samples a log has another mean over epochs than their scores."""
    if not isinstance(reductions, list) or not reductions:
        return []
    own, differing = _mean_by_sample(samples, judged), set()
    answers = {
        str(sample["id"]): lookup(find_score(sample, judged.scorer), "answer") for sample in samples
    }
    if len(answers) < len(samples):  # several epochs, of which a mean has one answer
        answers = {}
    for entry in reductions:
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
            is_judged = judged.scorer in parts
            if (mean is not None and abs(mean - own.get(sample, mean)) > _SAME) or (
                is_judged and _are_other_texts(answers.get(sample), lookup(each, "answer"))
            ):
                differing.add(sample)
    n = len(differing)
    note = (
        f"Warning: the score or answer of {judged.scorer!r} is another one in the reductions of "
        f"{path} than in its samples, for {n:,} of {len(own):,}; the samples count."
    )
    return [note] if n else []


def compare_summaries(
    summaries: Any, samples: Sequence[dict[str, Any]], judged: JudgedSamples, path: Path
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
    answers = [[lookup(find_score(each, judged.scorer), "answer") for each in p] for p in pairs]
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


def compare_history(
    samples: Sequence[dict[str, Any]], judged: JudgedSamples, path: Path
) -> list[str]:
    """Count the samples whose score is not the last one of its history, which edits leave."""
    n = 0
    for sample in samples:
        score = find_score(sample, judged.scorer)
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


def find_score(sample: dict[str, Any], scorer: str) -> Any:
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
    if one is None or other is None or one == other:
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


def _mean_by_sample(samples: Sequence[dict[str, Any]], judged: JudgedSamples) -> dict[str, float]:
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


_UNFINISHED = {
    "started": "has not finished",
    "cancelled": "was cancelled",
    "error": "ended with an error",
}
SAMPLE_ID = "sample_id"
_MOST_MODELS = 3
# What Inspect calls the model of a task that asks none, or each by its own name.
_NO_MODEL = "none/none"
# Why an answer ended that is not all that the model would have said.
_CUT = frozenset({"max_tokens", "model_length", "content_filter"})
# How and where requests are sent, which changes no answer.
_OF_REQUESTS = frozenset(
    {"max_connections", "max_retries", "timeout", "attempt_timeout", "batch", "cache"}
    | {"base_url", "api_key", "port", "device", "batch_size"}
)
# Settings of a run, and of other models in it, such as one that grades.
_OF_RUNS = ("eval.model_generate_config", "eval.model_roles", "plan.config")


def compare_header(
    header: dict[str, Any], samples: list[dict[str, Any]], judged: JudgedSamples, path: Path
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
    n_limited = sum(bool(sample.get("limit")) for sample in samples)
    for n_ended, how in ((n_failed, "that ended with an error"), (n_limited, "that a limit ended")):
        if n_ended:
            ended = say_count(n_ended, "sample", "samples")
            said.append(f"Warning: {path} has {ended} {how}, whose scores count.")
    said += _say_cut(samples, path)
    n = next((n for n, known in _count_samples(header, samples) if n not in known), None)
    if n is not None:
        said.append(
            f"Warning: {path} has {len(samples):,} samples, and its header counts {n:,}; is a part "
            "of the log missing?"
        )
    said += _say_unscored(header, samples, path)
    said += _compare_models(header, samples, path)
    said += _compare_ids(header, samples, path, is_short=n is not None)
    said += _compare_epochs(header, samples, path)
    said += compare_reductions(header.get("reductions"), samples, judged, path)
    said += _say_limit(header, samples, path)
    said += compare_history(samples, judged, path)
    said += compare_summaries(header.get("summaries"), samples, judged, path)
    return said + compare_means(lookup(results, "scores"), samples, judged, path)


def _say_cut(samples: list[dict[str, Any]], path: Path) -> list[str]:
    """Count the answers that ended before the model was done, and those that were held back."""
    reasons = [
        as_text(lookup(find_choice(sample), "stop_reason") or lookup(sample, "output.stop_reason"))
        for sample in samples
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
    if known and others:
        said = (
            f"Warning: {len(others):,} of {len(samples):,} samples of {path} have answers of "
            f"{show_value(others[0])}, and its header names the model {show_value(named)}; they "
            "count."
        )
        return [said]
    return _say_other_messages(samples, path) + _say_other_usage(header, path)


def _say_other_messages(samples: list[dict[str, Any]], path: Path) -> list[str]:
    """Count the answers whose message is of another model than the answer itself."""
    others = []
    for sample in samples:
        named = lookup(sample, MODEL_OF_ANSWERS)
        both = (lookup(find_choice(sample), "message.model"), _find_last_model(sample))
        own = [each for each in both if each != named and _name_parts(each)]
        others += own[:1] if _name_parts(named) else []
    if not others:
        return []
    note = (
        f"Warning: in {len(others):,} of {len(samples):,} samples of {path} the message is of "
        f"the model {show_value(others[0])}, and {MODEL_OF_ANSWERS} names another; the answers "
        "count."
    )
    return [note]


def _find_last_model(sample: dict[str, Any]) -> Any:
    """Return the model of the message that a sample ends with, if that is the answer; else None."""
    messages = sample.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    is_answer = lookup(last, "content") == lookup(find_choice(sample), "message.content")
    return lookup(last, "model") if is_answer else None


def find_choice(sample: dict[str, Any]) -> Any:
    """Return the choice that is a sample's answer, with its message; None without one."""
    choices = lookup(sample, "output.choices")
    return choices[0] if isinstance(choices, list) and choices else None


def _say_other_usage(header: dict[str, Any], path: Path) -> list[str]:
    """Say that only other models have used tokens than the one that was to answer.

    Models in other roles use some, too, and a task may ask these alone.
    """
    used, named = lookup(header, "stats.model_usage"), lookup(header, "eval.model")
    if not isinstance(used, dict) or not used or not named or lookup(header, "eval.model_roles"):
        return []
    if named in used or named == _NO_MODEL:
        return []
    note = (
        f"Warning: the header of {path} names the model {show_value(named)}, and by its "
        f"stats.model_usage {show_value(next(iter(used)))} was asked; the answers count."
    )
    return [note]


def find_settings(
    header: dict[str, Any], samples: list[dict[str, Any]], judged: JudgedSamples
) -> dict[str, Any]:
    """Return how the model was asked and judged, and which version of it answered, if only one."""
    plan = header.get("plan")
    steps = lookup(plan, "steps")
    models = sorted(_count_models(samples))
    asked = _list_judges(lookup(header, "eval.scorers"), judged, ("name", "options"))
    judges = _list_judges(lookup(header, "results.scores"), judged, ("scorer", "params"))
    return {
        MODEL_OF_ANSWERS: (models[0] if len(models) == 1 else models) if models else None,
        MODEL_ARGS: _drop_requests(lookup(header, MODEL_ARGS)),
        **{name: _drop_requests(lookup(header, name)) for name in _OF_RUNS},
        "plan.steps": [[lookup(step, "solver"), lookup(step, "params")] for step in steps]
        if isinstance(steps, list)
        else None,
        **{f"eval.scorers.{name}": own for name, own in asked.items()},
        **{f"results.scores.{name}": own for name, own in judges.items()},
    }


def _list_judges(
    scorers: Any, judged: JudgedSamples, keys: tuple[str, str]
) -> dict[str, list[Any]]:
    """Return the options of the scorer that judges, by its name; `keys` are what both are called.

    Its scores have the name without the package, and may have a number or a key behind it.
    """
    named, options = keys
    listed = [
        {"name": as_text(lookup(each, named)), "options": _drop_requests(lookup(each, options))}
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
            more = lookup(score, "unscored_samples")
            more = more if type(more) is int else 0
            counts.append((n + more, every))
    return counts


def _say_unscored(header: dict[str, Any], samples: list[dict[str, Any]], path: Path) -> list[str]:
    """Say how many samples a header calls unscored, where all have a score of its scorer."""
    scores = [lookup(sample, "scores") for sample in samples]
    said = lookup(header, "results.scores")
    notes = []
    for score in said if isinstance(said, list) else ():
        n, name = lookup(score, "unscored_samples"), as_text(lookup(score, "scorer")) or ""
        own = [each.get(name) if isinstance(each, dict) else None for each in scores]
        if type(n) is int and n > 0 and all(map(_has_value, own)):
            notes.append(
                f"Warning: the header of {path} says that {say_count(n, 'sample')} "
                f"{'has' if n == 1 else 'have'} no score of {name}, and all {len(own):,} have one; "
                "the scores count."
            )
    return notes


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
    chosen = lookup(header, "eval.config.sample_id")
    chosen = {str(each) for each in (chosen if isinstance(chosen, list) else [chosen])}
    known = {str(sample["id"]) for sample in samples}
    has_pattern = any(set("*?[") & set(name) for name in chosen)
    if chosen != {"None"} and not has_pattern and known - chosen:
        note = (
            f"Warning: {path} has {say_count(len(known - chosen), 'sample')} that its header did "
            "not choose (eval.config.sample_id); are samples of another run in the log?"
        )
        return [note]
    limit = lookup(header, "eval.config.limit")
    ends = limit if isinstance(limit, list) else [0, limit]
    n = len(known)
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
