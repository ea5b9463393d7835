"""The scores of Inspect's samples as numbers, and which of them says what is right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ietest_fast.errors import InputError
from ietest_fast.values import as_finite, show_value, unwrap

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.evaluation.readers.base import Fields

# As Inspect's own metrics take them: letters as they are, words in capitals or not.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}

# Means are the same but for their rounding.
_SAME = 1e-6

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
    """Say how many samples have another score in the archive's summaries than they have."""
    rows = [
        row
        for row in (summaries if isinstance(summaries, list) else [])
        if isinstance(row, dict) and isinstance(row.get("scores"), dict)
    ]
    listed = _list_scores(rows, path).get(judged.scorer, [])
    there = dict(zip(map(_name_sample, rows), listed, strict=False))
    pairs = [
        (value, there[_name_sample(sample)])
        for sample, value in zip(samples, judged.values, strict=True)
        if _name_sample(sample) in there
    ]
    n = sum(one != other and not {None} & {one, other} for one, other in pairs)
    note = (
        f"Warning: the score of {judged.scorer!r} is another one in the summaries of {path} than "
        f"in its samples, for {n:,} of {len(pairs):,}; the samples count."
    )
    return [note] if n else []


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
