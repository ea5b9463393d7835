"""Multiple-choice samples of lm-evaluation-harness: which choice a metric took for the answer.

A sample has one request for each choice, and its log-likelihood. ``acc`` takes the likeliest choice
for the answer, ``acc_norm`` the likeliest for its length in characters, ``acc_bytes`` in bytes, and
``acc_mutual_info`` the one that the question makes likelier than it is by itself, for which the
choices are asked once more without the question, after the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.answers.readers.base import lookup
from ietest_fast.corpus.labels import label_key
from ietest_fast.errors import InputError
from ietest_fast.values import parse_list, show_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Records = Sequence[tuple[str, dict[str, Any]]]
    Targets = list[frozenset[int] | None]


# Metrics of which the log does not tell the answer: whether the right choice is what the model
# would have written says nothing of the choice that it prefers.
_WITHOUT_ANSWER = frozenset({"exact_match"})


@dataclass(frozen=True, kw_only=True)
class Requests:
    """The requests of n multiple-choice samples, and their log-likelihoods."""

    scores: list[NDArray[np.float64]]
    """Of each sample, the log-likelihoods of its choices."""
    without_question: list[NDArray[np.float64]] | None
    """The same of the choices by themselves; None if they were not asked."""
    texts: list[tuple[str, ...]] | None
    """Of each sample, its choices as the model was asked for them; None if the log does not have
    them."""
    are_contexts: bool
    """Whether choices differ in what stands before the text that the model is asked for, as in
    Winogrande."""

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """The choices, if all samples have the same, in any order; None: they have numbers only."""
        if self.texts is None or self.are_contexts:
            return None
        first = tuple(text.strip() for text in self.texts[0])
        if len({label_key(name) for name in first}) < len(first) or not all(first):
            return None
        orders = {tuple(text.strip() for text in texts) for texts in self.texts}
        if len(orders) == 1:
            return first
        known = tuple(sorted(first))  # so that logs with other shuffles have the same order
        return known if all(tuple(sorted(order)) == known for order in orders) else None

    def name_choice(self, row: int, place: int) -> str:
        """Return the text of a sample's choice, if all samples have the same; else its number."""
        if self.texts is None or self.names is None:
            return str(place)
        return self.texts[row][place].strip()

    def order_scores(self, row: int) -> NDArray[np.float64]:
        """Return the log-likelihoods of a sample in the order of the names."""
        if self.texts is None or self.names is None:
            return self.scores[row]
        own = [text.strip() for text in self.texts[row]]
        return self.scores[row][[own.index(name) for name in self.names]]

    @property
    def places(self) -> tuple[str, ...]:
        """The numbers of the choices, in the place of names."""
        return tuple(str(place) for place in range(max(self.sizes)))

    @property
    def sizes(self) -> set[int]:
        """How many choices samples have."""
        return {len(scores) for scores in self.scores}


@dataclass(frozen=True, kw_only=True)
class JudgedChoices:
    """What a metric took for the answers of n samples."""

    answers: list[int] | None
    """Numbers of choices; None if the log does not tell."""
    targets: Targets
    """Numbers of the right choices; None where the log does not tell."""
    is_raw: bool
    """Whether the answer is the likeliest choice as it stands."""
    n_contradicted: int
    """Samples that are marked as right although the answer is no right choice, or as wrong although
    it is one."""


def read_requests(records: Records, path: Path, metrics: Sequence[str]) -> Requests | None:
    """Read the requests of a log; None if its answers are generated."""
    found = [_log_likelihoods(record["filtered_resps"]) for _, record in records]
    if all(scores is None for scores in found):
        return None
    scores: list[list[float]] = []
    for (where, record), own in zip(records, found, strict=True):
        if own is None:
            raise InputError(
                f"is {show_value(record['filtered_resps'])}; a log-likelihood (a number), and "
                "whether the model would have written the choice, expected for each choice, as in "
                "other samples of this log",
                path=path,
                row=where,
                column="filtered_resps",
            )
        scores.append(own)
    asked = [
        _arguments(record, len(own), where, path)
        for (where, record), own in zip(records, scores, strict=True)
    ]
    known = [each for each in asked if each is not None]
    if known and len(known) < len(asked):
        raise InputError(
            "is missing, which other samples of this log have",
            path=path,
            row=records[asked.index(None)][0],
            column="arguments",
        )
    if known:
        is_twice = all(map(_asks_twice, known))
    else:
        is_twice = "acc_mutual_info" in metrics and all(len(own) % 2 == 0 for own in scores)
    sizes = [len(own) // (1 + is_twice) for own in scores]
    choices = [each[:n] for each, n in zip(known, sizes, strict=False)]
    return Requests(
        scores=[np.array(own[:n]) for own, n in zip(scores, sizes, strict=True)],
        without_question=[np.array(own[n:]) for own, n in zip(scores, sizes, strict=True)]
        if is_twice
        else None,
        texts=[tuple(text for _, text in each) for each in choices] if known else None,
        are_contexts=bool(known) and all(map(_differ_in_context, choices)),
    )


def say_other_choices(
    samples: Sequence[dict[str, Any]], requests: Requests | None, path: Path
) -> list[str]:
    """Count the samples whose document has the choices in another order than they were asked in."""
    counts = {True: 0, False: 0}
    asked = () if requests is None or requests.texts is None else requests.texts
    for sample, texts in zip(samples, asked, strict=False):
        listed = lookup(sample, "doc.choices")
        listed = lookup(listed, "text") if isinstance(listed, dict) else listed
        own, given = [text.strip() for text in texts], listed if isinstance(listed, list) else []
        known = [each.strip() for each in given if isinstance(each, str)]
        if sorted(known) == sorted(own):
            counts[known == own] += 1
    n = counts[False]
    note = (
        f"Warning: in {n:,} of {len(samples):,} samples of {path} the document has its choices in "
        "another order than the requests, by which the answers count; is its right answer the one "
        "of the target?"
    )
    return [note] if 0 < n <= counts[True] else []


def _log_likelihoods(answers: Any) -> list[float] | None:
    """Return the log-likelihoods of a sample's requests; None if these are no such answers."""
    if not isinstance(answers, list) or not answers:
        return None
    found = []
    for each in answers:
        if not isinstance(each, list) or len(each) != 2:
            return None
        score, is_greedy = each
        if str(is_greedy) not in {"True", "False"}:
            return None
        if isinstance(score, bool) or not isinstance(score, (int, float, str)):
            return None
        try:
            found.append(float(score))
        except (ValueError, OverflowError):
            return None
    return found


def _arguments(
    record: dict[str, Any], n: int, where: str, path: Path
) -> list[tuple[str, str]] | None:
    """Return what stands before the text that each request asks for, and the text."""
    given = record.get("arguments")
    if given is None:
        return None
    asked = [_in_order(each) for each in _in_order(given)]
    wrong = None
    if not asked or any(len(own) < 2 or not isinstance(own[1], str) for own in asked):
        wrong = (
            f"is {show_value(given)}; two texts expected for each request: the context, and what "
            "the model is asked for"
        )
    elif len(asked) != n:
        wrong = f"has {len(asked)} requests, and there are {n} answers"
    if wrong is not None:
        raise InputError(wrong, path=path, row=where, column="arguments")
    return [(str(own[0]), own[1]) for own in asked]


def _in_order(value: Any) -> list[Any]:
    """Return the values of a list, or of an object with the keys x_0, x_1, ..., x_10."""
    if isinstance(value, dict):
        return [value[name] for name in sorted(value, key=lambda name: (len(name), name))]
    return value if isinstance(value, list) else []


def _asks_twice(asked: list[tuple[str, str]]) -> bool:
    """Whether the second half of the requests asks for the same choices without the question."""
    half = len(asked) // 2
    return (
        half > 1
        and len(asked) % 2 == 0
        and all(not context.strip() for context, _ in asked[half:])
        and [text.strip() for _, text in asked[:half]] == [text.strip() for _, text in asked[half:]]
    )


def _differ_in_context(asked: list[tuple[str, str]]) -> bool:
    contexts, texts = ({each[place] for each in asked} for place in (0, 1))
    return len(asked) > 1 and len(texts) == 1 and len(contexts) > 1


def judge(
    requests: Requests,
    metric: str | None,
    correct: Sequence[bool | None] | None,
    targets: Sequence[Any],
) -> JudgedChoices:
    """Find the choices that a metric took for the answers, and which ones are right.

    A log does not say how long a choice is without what joins it to the question, nor, where
    choices are numbers, whether a target is the name of a choice or its place. Of the ways to read
    it, the one is taken that agrees with the marks of most samples (`correct`, None where a sample
    was not scored); it is the same for all samples. Without a metric, the likeliest choice is the
    answer.
    """
    ways = _answers(requests, metric)
    readings = _read_targets(targets, requests)
    if not ways:
        return JudgedChoices(answers=None, targets=readings[0], is_raw=False, n_contradicted=0)
    best: JudgedChoices | None = None
    for reading in readings:
        for is_raw, answers in ways:
            n = 0 if correct is None else _count_contradicted(answers, reading, correct)
            if best is None or n < best.n_contradicted:
                best = JudgedChoices(
                    answers=answers, targets=reading, is_raw=is_raw, n_contradicted=n
                )
    assert best is not None  # noqa: S101 - there is a reading and a way
    return best


def _count_contradicted(
    answers: list[int], targets: Targets, correct: Sequence[bool | None]
) -> int:
    return sum(
        target is not None and mark is not None and (answer in target) != mark
        for answer, target, mark in zip(answers, targets, correct, strict=True)
    )


def count_other_pairs(
    requests: Requests, pairs: Sequence[tuple[Any, Any] | None], targets: Sequence[Any]
) -> int:
    """Count the samples whose pair has another target or answer than stands beside it."""
    likeliest = [_best(scores) for scores in requests.scores]

    def is_other(pair: tuple[Any, Any] | None, best: int, target: frozenset[int] | None) -> bool:
        if pair is None or not isinstance(pair[1], int):
            return False
        right = frozenset(pair[0] if isinstance(pair[0], list) else [pair[0]])
        return pair[1] != best or (target is not None and right != target)

    return min(
        sum(map(is_other, pairs, likeliest, reading))
        for reading in _read_targets(targets, requests)
    )


def count_no_numbers(requests: Requests) -> int:
    """Count the samples some of whose log-likelihoods are NaN, from which no choice follows."""
    asked = [requests.scores, requests.without_question or requests.scores]
    return sum(any(np.isnan(own).any() for own in each) for each in zip(*asked, strict=True))


def count_other_marks(records: Records, correct: Sequence[bool | None]) -> int:
    """Count samples of one request whose mark is not whether the model would have written it."""
    return sum(
        mark is not None and mark != (str(record["filtered_resps"][0][1]) == "True")
        for (_, record), mark in zip(records, correct, strict=True)
    )


def _answers(requests: Requests, metric: str | None) -> list[tuple[bool, list[int]]]:
    """Return the answers by all ways in which a metric may find them, the likeliest first."""
    if metric in _WITHOUT_ANSWER:
        return []
    if metric == "acc_mutual_info":
        if requests.without_question is None:
            return []
        with np.errstate(all="ignore"):  # -inf less -inf
            gains = [
                given - alone
                for given, alone in zip(requests.scores, requests.without_question, strict=True)
            ]
        return [(False, [_best(gain) for gain in gains])]
    if metric not in {"acc_norm", "acc_bytes"}:
        return [(True, [_best(scores) for scores in requests.scores])]
    if requests.texts is None or requests.are_contexts:
        return []  # choices whose length is not known
    measures = [_count_bytes] if metric == "acc_bytes" else [len, _count_bytes]
    ways = []
    for measure in measures:
        # Without the blank that joins a choice to the question; with it in some versions.
        for bare in (_without_joint, str, str.strip):
            lengths = [[float(measure(bare(text))) for text in texts] for texts in requests.texts]
            ways.append(
                [
                    _best(scores, np.array(own))
                    for scores, own in zip(requests.scores, lengths, strict=True)
                ]
            )
    return [(False, way) for way in ways]


def _without_joint(text: str) -> str:
    return text[1:] if text[:1].isspace() else text


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _best(scores: NDArray[np.float64], lengths: NDArray[np.float64] | None = None) -> int:
    with np.errstate(all="ignore"):  # choices without a character, scores without end
        return int(np.argmax(scores if lengths is None else scores / lengths))


def _read_targets(values: Sequence[Any], requests: Requests) -> list[Targets]:
    """Return the right choices of all samples, by each way to read them that tells the most."""
    unknown: Targets = [None] * len(values)
    if requests.are_contexts:
        return [unknown]  # the target is the text after the context, and no choice
    several = [_entries(value) for value in values]
    sizes = [len(scores) for scores in requests.scores]
    by_place: Targets = [
        _all_known([_as_place(entry, n) for entry in entries])
        for entries, n in zip(several, sizes, strict=True)
    ]
    readings = [by_place]
    if requests.texts is not None:
        by_name: Targets = []
        for value, entries, texts in zip(values, several, requests.texts, strict=True):
            names = [text.strip() for text in texts]
            whole = _as_name(value, names)  # which may look like a list
            several_names = [_as_name(each, names) for each in entries]
            by_name.append(_all_known(several_names if whole is None else [whole]))
        is_number = any(isinstance(value, int) for value in values)
        readings = [by_place, by_name] if is_number else [by_name, by_place]
    known = [sum(target is not None for target in reading) for reading in readings]
    return [each for each, n in zip(readings, known, strict=True) if n == max(known)]


def _entries(value: Any) -> list[Any]:
    """Return the right answers of a sample; the harness writes lists of them as text, too."""
    if isinstance(value, str) and value[:1] == "[" and (entries := parse_list(value)) is not None:
        value = entries
    return value if isinstance(value, list) else [value]


def _all_known(found: list[int | None]) -> frozenset[int] | None:
    known = frozenset(each for each in found if each is not None)
    return known if known and None not in found else None


def _as_place(value: Any, n: int) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 10:
        value = int(value)
    return int(value) if isinstance(value, int) and 0 <= value < n else None


def _as_name(value: Any, names: list[str]) -> int | None:
    text = str(value).strip() if isinstance(value, (str, int, float)) else None
    return names.index(text) if text in names else None
