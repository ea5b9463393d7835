"""Logs of Inspect (inspect-ai): ``.eval``, a zip of JSON files, or one ``.json``."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from ietest_fast.errors import InputError, shorten_error
from ietest_fast.evaluation.readers.base import Answers, lookup, plain_array, read_json, text_array
from ietest_fast.files import check_file, estimate_json, open_archive, parse_json, read_member
from ietest_fast.values import as_outcome, as_text, show_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.evaluation.readers.base import Fields, FileStart

_MEMBERS = ("header.json", "_journal/start.json")
# Of the values of all samples in memory; more is no log but an attack on it. A larger log may take
# so many times its size.
_LEAST_VALUES = 3 << 29
_MOST_RATIO = 150

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
        return start.is_json and b'"eval"' in start.head and b'"eval_id"' in start.head

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
        rows = [sample for sample in samples if _is_scored(sample, path)]
        failed = len(samples) - len(rows)
        if not rows:
            raise InputError(f"none of its {len(samples)} samples has a score", path=path)
        scorer, notes = _choose_scorer(rows, fields.correct, path)
        repeated = len({str(sample.get("epoch", 1)) for sample in rows}) > 1
        if repeated:
            notes.append(
                f"{path}: every sample was answered in several epochs; --clusters sample_id takes "
                "the epochs of a sample together."
            )
        read = [_read_score(sample, scorer, path) for sample in rows]
        ids = [lookup(sample, fields.item or "id") for sample in rows]
        items = (
            [
                f"{name}, epoch {sample.get('epoch', 1)}"
                for name, sample in zip(ids, rows, strict=True)
            ]
            if repeated
            else ids
        )
        columns = {
            name: plain_array([_kept(sample, name) for sample in rows]) for name in fields.keep
        }
        if repeated:
            columns["sample_id"] = plain_array(ids)
        gold = [as_text(lookup(sample, fields.gold or "target")) for sample in rows]
        predicted = [answer for _, answer in read]
        if fields.predicted is not None:
            predicted = [as_text(lookup(sample, fields.predicted)) for sample in rows]
        return [
            Answers(
                path=path,
                name=str(about.get("task") or path.stem),
                items=plain_array(items),
                gold=text_array(gold),
                predicted=text_array(predicted),
                correct=pa.array([outcome for outcome, _ in read], pa.bool_()),
                inputs=pa.array(
                    [json.dumps([s.get("input"), s.get("choices")], sort_keys=True) for s in rows]
                ),
                model=None if about.get("model") is None else str(about["model"]),
                columns=columns,
                gold_column=fields.gold or "target",
                predicted_column=fields.predicted or "answer",
                is_scored=True,
                dropped={"sample without a score": failed} if failed else {},
                notes=tuple(notes),
            )
        ]


def _read_archive(path: Path) -> tuple[dict[str, Any], list[Any]]:
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
                if member.filename.startswith("samples/") and member.filename.endswith(".json")
            ]
            return values.read(archive, archive.getinfo(header)), samples
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


def _is_scored(sample: Any, path: Path) -> bool:
    """Whether a sample has scores.

    Raises
    ------
    InputError
        If it is no sample.
    """
    if not isinstance(sample, dict) or "id" not in sample:
        raise InputError("has a sample without an id", path=path)
    scores = sample.get("scores")
    if scores and not isinstance(scores, dict):
        raise InputError(
            f"the scores of sample {sample['id']!r} are {show_value(scores)}; an object with a "
            "score of each scorer expected",
            path=path,
        )
    return bool(scores)


def _choose_scorer(
    rows: list[dict[str, Any]], wanted: str | None, path: Path
) -> tuple[str, list[str]]:
    names = list(dict.fromkeys(name for sample in rows for name in sample["scores"]))
    if wanted is not None:
        if wanted not in names:
            raise InputError(f"has no scorer {wanted!r}; it has {', '.join(names)}", path=path)
        return wanted, []
    if len(names) == 1:
        return names[0], []
    note = (
        f"{path}: right or wrong by the scorer {names[0]!r}; --correct-columns chooses another "
        f"({', '.join(names[1:])})."
    )
    return names[0], [note]


def _read_score(sample: dict[str, Any], scorer: str, path: Path) -> tuple[bool | None, str | None]:
    """Return whether a sample's answer is right, and the answer; None if it was not parsed."""
    score = sample["scores"].get(scorer)
    if not isinstance(score, dict):
        return None, None
    value, answer = score.get("value"), as_text(score.get("answer"))
    answer = None if answer is None or not answer.strip() else answer
    if value == "N":
        return False, None
    outcome = {"C": True, "I": False}.get(value) if isinstance(value, str) else as_outcome(value)
    if outcome is None:
        raise InputError(
            f"sample {sample['id']!r}: the score {value!r} of {scorer!r} is neither right nor "
            "wrong; expected C, I or N, or 1 or 0",
            path=path,
        )
    return outcome, answer


def _kept(sample: dict[str, Any], name: str) -> Any:
    found = lookup(sample, name)
    return lookup(sample.get("metadata"), name) if found is None else found
