"""ParaNLU's published files (Srikanth et al. 2024): paraphrases, and predictions on them.

Three kinds, plain or gzipped JSON. *Results* are an object of buckets, each with the classifier's
answer to the original and to its paraphrases. A *test set* is a list of the classifier's answers to
a full test set. *Paraphrases* are an object of lists, without answers.
"""

from __future__ import annotations

import gzip
import math
import zlib
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.consistency.buckets import buckets_from_table
from ietest_fast.answers.table import ORIGINAL, Predictions
from ietest_fast.corpus.formats import check_readable
from ietest_fast.corpus.reasoning import (
    ABDUCTIVE,
    CONTEXT,
    DEFEASIBLE,
    STORIES,
    join_contexts,
    tell_stories,
)
from ietest_fast.errors import InputError, shorten_error
from ietest_fast.files import most_unpacked, open_file, parse_json, refuse_unpacked
from ietest_fast.values import as_finite, as_text, show_names, show_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ietest_fast.analyses.consistency.buckets import Buckets


# ParaNLU's published files: which kind a file is, and its content.

ParanluKind = Literal["results", "test set", "paraphrases"]


def paranlu_kind(path: str | Path) -> ParanluKind | None:
    """Say by its content which of the published files a file is; None if it is none of them.

    Only its beginning is read, so a damaged file is found out when it is read.
    """
    with open_file(path) as stream:
        head = stream.read(64 << 10)
    if head[:2] == b"\x1f\x8b":
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, 64 << 10)
        except zlib.error:
            return None
    start = head.lstrip()[:1]
    if start == b"{" and b'"bucket_confidences"' in head:
        return "results"
    if start == b"[" and b'"confidence"' in head and b'"example_id"' in head:
        return "test set"
    if start == b"{" and b'"paraphrase_id"' in head and b'"original_example"' in head:
        return "paraphrases"
    return None


class DamageError(Exception):
    """Something is not as it has to be, and where."""

    def __init__(self, message: str, place: str) -> None:
        self.place = place
        super().__init__(message)


def load_paranlu(path: Path) -> tuple[Any, ParanluKind]:
    """Read a file, and say of which kind it is."""
    check_readable(path)
    try:
        with open_file(path) as file:
            is_packed = file.peek(2)[:2] == b"\x1f\x8b"
            n_packed = path.stat().st_size
            raw = (gzip.GzipFile(fileobj=file) if is_packed else file).read(
                most_unpacked(n_packed) + 1 if is_packed else -1
            )
            if is_packed:
                refuse_unpacked(path, len(raw), n_packed)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be decompressed: {shorten_error(error)}", path=path) from error
    content = parse_json(raw, path)
    kind = _kind_of(content)
    if kind is None:
        raise InputError(
            "is no file of ParaNLU: an object of buckets (results or lists of paraphrases), or a "
            "list of predictions expected",
            path=path,
        )
    return content, kind


def _kind_of(content: Any) -> ParanluKind | None:
    if isinstance(content, list) and content and isinstance(content[0], dict):
        return "test set"
    if not isinstance(content, dict) or not content:
        return None
    first = next(iter(content.values()))
    if isinstance(first, dict) and "bucket_confidences" in first:
        return "results"
    return "paraphrases" if isinstance(first, list) else None


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn a :class:`DamageError` into an :class:`InputError` that names the file."""
    try:
        yield
    except DamageError as error:
        raise InputError(str(error), path=path, row=error.place) from None


def field_of(record: Any, name: str, kind: type | tuple[type, ...], place: str) -> Any:
    """Return a field of an object."""
    if not isinstance(record, dict):
        raise DamageError(f"is {show_value(record)}; an object expected", place)
    if name not in record:
        raise DamageError(f"has no {name!r}; it has {show_names([*record], none='nothing')}", place)
    value = record[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise DamageError(f"{name!r} is {show_value(value)}, which is of the wrong type", place)
    return value


#: The version that all paraphrases of an item are rows of, told apart by ``copy``.
PARAPHRASE = "paraphrase"

#: Column of the confidence in the gold label, float64.
CONFIDENCE = "confidence"

# What the labels 0 and 1 of an example mean.
_ABDUCTIVE_LABELS = ("hyp1", "hyp2")
_DEFEASIBLE_LABELS = ("weakener", "strengthener")

_SUM_TOLERANCE = 1e-3


def read_paranlu(path: str | Path, *, version: str = PARAPHRASE) -> Predictions:
    """Read published predictions: results on paraphrases, or those on a full test set.

    Parameters
    ----------
    path
        JSON, plain or gzipped.
    version
        What the paraphrases' version is called, such as ``human`` or ``automatic``.

    Returns
    -------
    Predictions
        Rows of the version ``original``, and of ``version``, whose rows of an item differ in
        ``copy``. Beside the schema's columns: ``confidence``, that in the gold label, and of
        results ``paraphrase_id``, ``cluster`` (of defeasible inference: the premise and hypothesis
        that several items share) and the texts.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, or holds no predictions; names the place in it.
    """
    source = Path(path)
    content, kind = load_paranlu(source)
    if kind == "paraphrases":
        raise InputError(
            "holds paraphrases without predictions; let a model answer them, or pass the file with "
            "its results",
            path=source,
        )
    with naming(source):
        rows = [*(_result_rows(content, version) if kind == "results" else _test_rows(content))]
    return _make_predictions(rows, source)


def read_paranlu_texts(path: str | Path, *, version: str = PARAPHRASE) -> pa.Table:
    """Read published paraphrases, for a model to answer.

    Parameters
    ----------
    path
        JSON, plain or gzipped: a file of paraphrases, or of results.
    version
        What the paraphrases' version is called.

    Returns
    -------
    pyarrow.Table
        Columns ``item``, ``version``, ``copy``, ``gold`` (its name), the texts (``obs1``, ``hyp1``,
        ``hyp2``, ``obs2`` of abductive inference; ``premise``, ``hypothesis``, ``update`` of
        defeasible inference), ``paraphrase_id``, ``worker_id`` and ``cluster`` where they are
        known. The original of each item comes first.

    Raises
    ------
    InputError
        As for :func:`read_paranlu`.
    """
    return read_texts_and_empty(path, version=version)[0]


def read_texts_and_empty(
    path: str | Path, *, version: str = PARAPHRASE
) -> tuple[pa.Table, tuple[str, ...]]:
    """Read published paraphrases, and the names of the items that have none."""
    source = Path(path)
    content, kind = load_paranlu(source)
    if kind == "test set":
        raise InputError("holds predictions on a test set, but no texts", path=source)
    rows: list[dict[str, Any]] = []
    empty = []
    with naming(source):
        for item, bucket in content.items():
            listed = _list_paraphrases(item, bucket, kind)
            rows += _text_rows(item, listed, version)
            if not listed:
                empty.append(item)
    if not rows:
        raise InputError("holds no paraphrase", path=source)
    is_abductive = "hyp1" in rows[0]
    labels = _ABDUCTIVE_LABELS if is_abductive else _DEFEASIBLE_LABELS
    with naming(source):
        for row in rows:
            if row["label"] not in (0, 1):
                raise DamageError(f"has the label {row['label']}; 0 or 1 expected", row["item"])
    columns = {
        name: [row.get(name) for row in rows]
        for name in ("item", "version", "copy", *(ABDUCTIVE if is_abductive else DEFEASIBLE))
    }
    columns["gold"] = [labels[row["label"]] for row in rows]
    for name in ("paraphrase_id", "worker_id", "cluster"):
        if any(row.get(name) is not None for row in rows):
            columns[name] = [row.get(name) for row in rows]
    return pa.table(columns), tuple(empty)


def _list_paraphrases(item: str, bucket: Any, kind: str) -> list[Any]:
    """Return the paraphrases of an item; results have them beside the answers."""
    if kind == "results":
        return [
            field_of(each, "paraphrased_example", dict, _place(item, place))
            for place, each in enumerate(field_of(bucket, "bucket_confidences", list, item))
        ]
    if not isinstance(bucket, list):
        raise DamageError(f"is {show_value(bucket)}; a list of paraphrases expected", item)
    return bucket


def _result_rows(content: dict[str, Any], version: str) -> Iterator[dict[str, Any]]:
    for item, bucket in content.items():
        gold = field_of(bucket, "gold_label", int, item)
        listed = field_of(bucket, "bucket_confidences", list, item)
        texts = _text_rows(item, _list_paraphrases(item, bucket, "results"), version)
        if not texts:
            texts = [{"item": item, "version": ORIGINAL, "copy": 0}]
        elif texts[0]["label"] != gold:
            raise DamageError(
                f"its gold_label is {gold}, but that of its example is {texts[0]['label']}", item
            )
        answers = [_answer(bucket, gold, item, of="original_")]
        answers += [_answer(each, gold, _place(item, n)) for n, each in enumerate(listed)]
        for row, answer in zip(texts, answers, strict=True):
            yield row | answer


def _test_rows(content: list[Any]) -> Iterator[dict[str, Any]]:
    seen: dict[str, int] = {}
    for place, each in enumerate(content):
        where = f"entry {place}"
        item = field_of(each, "example_id", str, where)
        if item in seen:
            raise DamageError(f"has the example_id {item!r}, as entry {seen[item]} has", where)
        seen[item] = place
        gold = field_of(each, "label", int, where)
        yield {"item": item, "version": ORIGINAL, "copy": 0} | _answer(each, gold, where)


def _place(item: str, place: int) -> str:
    return f"{item}, paraphrase {place}"


def _answer(record: Any, gold: int, place: str, *, of: str = "") -> dict[str, Any]:
    confidence: list[Any] = field_of(record, f"{of}confidence", list, place)
    prediction = field_of(record, f"{of}prediction", int, place)
    n = len(confidence)
    for value in confidence:
        number = as_finite(value)
        if number is None or not 0 <= number <= 1:
            raise DamageError(
                f"has the confidence {show_value(value)}; numbers in [0, 1] expected", place
            )
    if not math.isclose(sum(confidence), 1, abs_tol=_SUM_TOLERANCE):
        raise DamageError(f"its confidences add up to {sum(confidence):.6g}, not to 1", place)
    for name, label in (("prediction", prediction), ("gold label", gold)):
        if not 0 <= label < n:
            raise DamageError(f"has the {name} {label}, but {n} confidences", place)
    likeliest = max(range(n), key=confidence.__getitem__)
    if confidence[prediction] < confidence[likeliest]:  # either of two that tie may be chosen
        raise DamageError(
            f"its prediction is {prediction}, but its confidence in {likeliest} is larger "
            f"({show_value(confidence)}); correct one of them",
            place,
        )
    return {
        "label": gold,
        "prediction": prediction,
        "probabilities": confidence,
        CONFIDENCE: float(confidence[gold]),
    }


def _text_rows(item: str, listed: list[Any], version: str) -> list[dict[str, Any]]:
    """Return the texts of an item, the original first."""
    if not listed:
        return []
    first = field_of(listed[0], "original_example", dict, _place(item, 0))
    is_abductive = "hyp1" in first
    parts = ABDUCTIVE if is_abductive else DEFEASIBLE
    own = {name: _text_of(first, name, item) for name in parts}
    label = field_of(first, "modeling_label" if is_abductive else "label", int, item)
    _check_labels(first, label, item)
    known: dict[str, Any] = {"item": item, "label": label}
    pair = first.get("premise_hypothesis_id")
    if pair is not None:
        known["cluster"] = str(pair)
    rows = [known | {"version": ORIGINAL, "copy": 0} | own]
    seen: set[str] = set()
    for place, each in enumerate(listed):
        where = _place(item, place)
        of_item = field_of(each, "original_example_id", str, where)
        if of_item != item:
            raise DamageError(f"is a paraphrase of {of_item!r}", where)
        other = field_of(each, "original_example", dict, where)
        name = field_of(each, "paraphrase_id", str, where)
        if name in seen:
            raise DamageError(f"the paraphrase_id {name!r} occurs twice", where)
        seen.add(name)
        _check_original(other, first, where)
        _check_reworded(each, parts, where)
        texts = {
            part: own[part]
            if each.get(f"{part}_paraphrase") is None
            else _text_of(each, f"{part}_paraphrase", where)
            for part in parts
        }
        told = {"paraphrase_id": name, "worker_id": as_text(each.get("worker_id"))}
        rows.append(known | {"version": version, "copy": place} | texts | told)
    return rows


def _check_labels(original: dict[str, Any], label: int, item: str) -> None:
    """Refuse an original that says its label, or its name, once more and otherwise."""
    said: dict[str, Any] = {"example_id": item}
    if "modeling_label" in original:
        said["label"] = label + 1
    elif 0 <= label < len(_DEFEASIBLE_LABELS):
        said["update_type"] = _DEFEASIBLE_LABELS[label]
    for name, expected in said.items():
        value = original.get(name)
        if value is not None and value != expected:
            raise DamageError(
                f"its original_example has the {name} {show_value(value)}, and {expected!r} is "
                "expected by what stands beside it; correct one of them",
                item,
            )


def _check_original(original: dict[str, Any], of_item: dict[str, Any], place: str) -> None:
    """Refuse another original than that of the item, which is answered once for all."""
    for name in dict.fromkeys((*of_item, *original)):
        own, known = original.get(name), of_item.get(name)
        if own != known:
            raise DamageError(
                f"its original_example has the {name} {show_value(own)}, but that of its item is "
                f"{show_value(known)}; correct one of them",
                place,
            )


def _check_reworded(record: dict[str, Any], parts: tuple[str, ...], place: str) -> None:
    """Refuse a paraphrase without a text of its own, which would be its original once more."""
    names = [f"{part}_paraphrase" for part in parts]
    if all(record.get(name) is None for name in names):
        raise DamageError(
            f"has no text: {', '.join(names)} are all missing or null; fill in what is reworded, "
            "or leave the paraphrase out",
            place,
        )


def _text_of(record: dict[str, Any], name: str, place: str) -> str | None:
    """Return a text; None if it is null, as the premise of problems without one."""
    if name in record and record[name] is None:
        return None
    return str(field_of(record, name, str, place))


def _label_names(rows: list[dict[str, Any]], n_labels: int) -> tuple[str, ...]:
    """Return what the labels mean, where the texts or the ids of the items say so."""
    told = next((row for row in rows if "hyp1" in row or "update" in row), rows[0])
    name = str(told["item"])
    is_abductive = "hyp1" in told or name.startswith("anli.")
    is_defeasible = "update" in told or name.startswith(("snli.", "atomic.", "social."))
    if n_labels == 2 and is_abductive:
        return _ABDUCTIVE_LABELS
    if n_labels == 2 and is_defeasible:
        return _DEFEASIBLE_LABELS
    return tuple(map(str, range(n_labels)))


def _make_predictions(rows: list[dict[str, Any]], source: Path) -> Predictions:
    if not rows:
        raise InputError("holds no prediction", path=source)
    n_labels = len(rows[0]["probabilities"])
    for row in rows:
        if len(row["probabilities"]) != n_labels:
            raise InputError(
                f"has {len(row['probabilities'])} confidences, but the first has {n_labels}",
                path=source,
                row=str(row["item"]),
            )
    names = _label_names(rows, n_labels)
    columns: dict[str, Any] = {
        "item": [row["item"] for row in rows],
        "version": [row["version"] for row in rows],
        "copy": pa.array([row["copy"] for row in rows], pa.int32()),
        "gold": [names[row["label"]] for row in rows],
        "predicted": [names[row["prediction"]] for row in rows],
        "probabilities": pa.array([row["probabilities"] for row in rows], pa.list_(pa.float32())),
        CONFIDENCE: pa.array([row[CONFIDENCE] for row in rows], pa.float64()),
    }
    for name in (*ABDUCTIVE, *DEFEASIBLE, "paraphrase_id", "worker_id", "cluster"):
        if any(row.get(name) is not None for row in rows):
            columns[name] = pa.array([row.get(name) for row in rows], pa.string())
    return Predictions(table=pa.table(columns), label_names=names, source=str(source))


# Buckets of ParaNLU's published paraphrases, for a model to answer.


def read_paranlu_buckets(path: str | Path) -> Buckets:
    """Read published paraphrases as buckets."""
    table, empty = read_texts_and_empty(path)
    is_abductive = "hyp1" in table.column_names
    if is_abductive:
        table, texts, labels = tell_stories(table), STORIES, _ABDUCTIVE_LABELS
    else:
        place = table.column_names.index("premise")
        premise = pc.fill_null(table["premise"].cast(pa.string()), "")
        table = join_contexts(table.set_column(place, "premise", premise))
        texts, labels = CONTEXT, _DEFEASIBLE_LABELS
    kept = [
        name
        for name in ("paraphrase_id", "worker_id", "cluster", "premise", "hypothesis")
        if name in table.column_names and name not in texts
    ]
    table = table.drop_columns(["version", "copy"])  # wordings are numbered instead
    found = buckets_from_table(
        table,
        keep_columns=tuple(kept),
        text_columns=texts,
        label_column="gold",
        label_names=labels,
        source=str(path),
    )
    return replace(found, empty=empty)
