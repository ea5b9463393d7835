"""Logs of Inspect (inspect-ai): ``.eval``, a zip of JSON files, or one ``.json``."""

from __future__ import annotations

import contextlib
import json
import re
import string
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ietest_fast.answers.readers.base import (
    Log,
    Repeats,
    hash_prompts,
    lookup,
    naming_fields,
    plain_array,
    plain_fields,
    plain_question,
    read_json,
    repeat_numbers,
    say_lacking_prompts,
    text_array,
)
from ietest_fast.answers.readers.inspect_facts import (
    NO_ANSWER,
    SAMPLE_ID,
    compare_header,
    find_choice,
    find_score,
    find_settings,
    judge_samples,
)
from ietest_fast.answers.readers.label_columns import say_near_samples
from ietest_fast.corpus.labels import answer_key, label_key
from ietest_fast.errors import InputError, shorten_error
from ietest_fast.files import check_file, estimate_json, open_archive, parse_json, read_member
from ietest_fast.numerals import say_count
from ietest_fast.values import as_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.answers.readers.base import Fields, FileStart


# The scores of Inspect's samples as numbers, and which of them says what is right.


_JOURNAL = "_journal/start.json"
_BESIDE = ("reductions", "summaries")  # members that repeat the samples' scores
_MEMBERS = ("header.json", _JOURNAL)
# Of the values of all samples in memory; more is no log but an attack on it. A larger log may take
# so many times its size.
_LEAST_VALUES = 3 << 29
_MOST_RATIO = 150
_ASSISTANT = "assistant"
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
            header, _ = _read_archive(start.path, with_samples=False)
            task = lookup(lookup(header, "eval"), "task")
        else:
            said = _TASK.search(start.head)
            task = None
            if said is not None:
                with contextlib.suppress(ValueError):  # of a file that is damaged
                    task = json.loads(said.group(1))
        return str(task or start.path.stem)

    def read(self, path: Path, fields: Fields) -> Sequence[Log]:
        """Read all samples."""
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
        notes += compare_header(header, samples, judged, path)
        notes += say_lacking_prompts(
            [sample.get("input") for sample in samples],
            [plain_question(sample.get("messages") or None) for sample in samples],
            path,
        )
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
            Log(
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
                    column=SAMPLE_ID,
                ),
                judged_by=(judged.scorer, *judged.fitting),
                model=None if about.get("model") is None else str(about["model"]),
                settings=find_settings(header, samples, judged),
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
) -> tuple[str, ...]:
    """Say which metadata, or what a model wrote, nearly repeat a target, an answer or a mark."""
    columns = plain_fields([sample.get("metadata") for sample in samples], "metadata.")
    if any(answer is not None for answer in predicted):  # else nothing says which answer is meant
        columns["output.completion"], columns["output.choices"] = (
            plain_array(list(words)) for words in zip(*map(_read_words, samples), strict=True)
        )
    return say_near_samples(columns, gold, predicted, outcomes, path)


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
    return lookup(sample, "output.completion"), lookup(find_choice(sample), "message.content")


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


def _read_answer(sample: dict[str, Any], scorer: str, value: Any) -> str | None:
    """Return the answer that a scorer has found; None if it found none."""
    if value == NO_ANSWER:
        return None
    found = find_score(sample, scorer)
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
    are_letters = all(letter is not None and 0 <= _place_of(letter) < 26 for letter in others)
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


def _place_of(letter: str) -> int:
    """Return which choice a letter stands for, from 0: behind Z, Inspect counts from 1; else -1."""
    text = letter.strip()
    if text.isascii() and text.isdecimal() and not text.startswith("0") and len(text) < 4:
        return 25 + int(text)
    return string.ascii_uppercase.find(text) if len(text) == 1 else -1


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
    place = -1 if letter is None else _place_of(letter)
    return choices[place] if 0 <= place < len(choices) else None


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
    if name == SAMPLE_ID:  # what tells epochs of a sample apart from other samples
        return sample["id"]
    found = lookup(sample, name)
    found = lookup(sample.get("metadata"), name) if found is None else found
    # A text is told by itself; of a chat, ids of messages would tell equal ones apart.
    return found if isinstance(found, str) else plain_question(found)
