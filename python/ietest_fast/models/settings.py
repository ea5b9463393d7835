"""What the files beside a finished classifier say of it: ``config.json`` and others.

They come from anywhere, so nothing in them is trusted to be of the kind that it should be.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeGuard

from ietest_fast import files
from ietest_fast.corpus.labels import label_key
from ietest_fast.errors import InputError
from ietest_fast.models.classifiers import DEFAULT_THRESHOLD, Head
from ietest_fast.models.training import Padding
from ietest_fast.numerals import say_count

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ietest_fast.models.tokens import TextTokenizer


# Families whose positions begin behind the padding token's id.
_POSITIONS_AFTER_PADDING = frozenset(
    {
        "roberta",
        "xlm-roberta",
        "xlm-roberta-xl",
        "camembert",
        "longformer",
        "mpnet",
        "roberta-prelayernorm",
    }
)
# Lengths beyond this in a tokenizer's settings mean that nobody has set one.
_NO_LENGTH = 10**9
_DEFAULT_LENGTH = 512
# Ids are 32-bit integers in most models, and signed.
_LARGEST_ID = 2**31 - 1
_LARGEST_TYPE = 255
# What a model without names of its own calls its labels.
_NAMELESS = re.compile(r"label[ _-]?\d+|\d+")


def read_json(path: Path | None) -> dict[str, Any]:
    """Read a JSON object; an empty one if there is no file."""
    if path is None:
        return {}
    values = files.read_json(path, most_bytes=files.MOST_SETTINGS)
    if not isinstance(values, dict):
        raise InputError("a JSON object is expected", path=path)
    return values


def find_max_length(config: Mapping[str, Any], tokenizer_config: Mapping[str, Any]) -> int:
    """Find how many tokens a model takes, by its own and its tokenizer's settings."""
    limits = []
    positions = config.get("max_position_embeddings")
    if _is_integer(positions) and 0 < positions < _NO_LENGTH:
        padding = config.get("pad_token_id")
        if has_positions_after_padding(config) and _is_integer(padding) and padding >= 0:
            positions -= padding + 1
        limits.append(positions)
    length = tokenizer_config.get("model_max_length")
    if (_is_integer(length) or isinstance(length, float)) and 1 <= length < _NO_LENGTH:
        limits.append(int(length))
    return min(limits, default=_DEFAULT_LENGTH)


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def has_positions_after_padding(config: Mapping[str, Any]) -> bool:
    """Return whether a model's positions begin behind the padding token's id, as RoBERTa's do."""
    kind = config.get("model_type")
    return isinstance(kind, str) and kind in _POSITIONS_AFTER_PADDING


def read_n_known(config: Mapping[str, Any]) -> int | None:
    """Read how many tokens a model knows from ``vocab_size``; None if that is not there."""
    size = config.get("vocab_size")
    return size if _is_integer(size) and size > 0 else None


def find_padding(
    config: Mapping[str, Any],
    tokenizer_config: Mapping[str, Any],
    tokenizer: TextTokenizer,
    *,
    n_known: int | None,
) -> Padding:
    """Find with what a model's inputs are padded, and on which side."""
    token = config.get("pad_token_id")
    if not _is_integer(token):
        name = tokenizer_config.get("pad_token")
        name = name.get("content") if isinstance(name, dict) else name
        token = tokenizer.token_id(name) if isinstance(name, str) else None
    token = 0 if token is None else token
    if not 0 <= token <= (_LARGEST_ID if n_known is None else n_known - 1):
        shown = token if abs(token) <= _LARGEST_ID else f"an integer of {token.bit_length()} bits"
        raise InputError(
            f"config.json's pad_token_id is {shown}, and the model knows "
            f"{'no such token' if n_known is None else f'{n_known} tokens'}"
        )
    is_xlnet = config.get("model_type") == "xlnet"
    type_id = tokenizer_config.get("pad_token_type_id")
    if not (_is_integer(type_id) and 0 <= type_id <= _LARGEST_TYPE):
        type_id = 0
    return Padding(
        token=token,
        type_id=3 if is_xlnet else type_id,
        left=tokenizer_config.get("padding_side", "left" if is_xlnet else "right") == "left",
    )


def is_nameless(name: str) -> bool:
    """Return whether the name of a label is only its number, as in LABEL_0."""
    return _NAMELESS.fullmatch(label_key(name)) is not None


def check_kind(config: Mapping[str, Any], where: Path) -> None:
    """Refuse a model that does not choose one of its labels."""
    kind = config.get("problem_type")
    if kind == "regression":
        raise InputError(
            'problem_type is "regression": the model gives a number, not a label. Pass a function '
            "that makes labels of its numbers to ie.evaluate, or compare the numbers themselves "
            "with ie.paired_test or `ietest-fast test`",
            path=where,
        )
    if kind == "multi_label_classification" and count_labels(config) != 1:
        raise InputError(
            'problem_type is "multi_label_classification": any number of its labels may hold for '
            "a text, and this tool compares one label for each text. Evaluate one label at a time: "
            "pass a function that says for each text whether this label holds to ie.evaluate",
            path=where,
        )


def count_labels(config: Mapping[str, Any]) -> int | None:
    """Return how many labels a model's settings name; None if they name none."""
    id2label = config.get("id2label")
    return len(id2label) if isinstance(id2label, dict) and id2label else None


def read_head(
    config: Mapping[str, Any],
    n_outputs: int | None,
    where: Path,
    *,
    threshold: float | None = None,
) -> Head:
    """Read what a classifier's outputs stand for."""
    check_kind(config, where)
    labels = read_labels(config, n_outputs, where)
    if threshold is not None and not 0 < threshold < 1:
        raise InputError(f"the threshold must be between 0 and 1, not {threshold!r}")
    if len(labels) > 1:
        if threshold is not None:
            raise InputError(
                "a threshold is for a model with one logit, and this one has "
                f"{len(labels)} outputs, one for each of its labels: leave the threshold out",
                path=where,
            )
        return Head(labels=labels)
    # The name of the one output, if it has any, does not say what the other answer is called.
    return Head(
        labels=("LABEL_0", "LABEL_1"),
        threshold=DEFAULT_THRESHOLD if threshold is None else float(threshold),
    )


def read_labels(config: Mapping[str, Any], n_labels: int | None, where: Path) -> tuple[str, ...]:
    """Read the names of a model's labels from ``id2label`` of the settings in `where`."""
    id2label, told = config.get("id2label"), config.get("num_labels")
    told = told if _is_integer(told) else None
    if id2label is not None and not isinstance(id2label, dict):
        raise InputError(
            f"id2label is a {type(id2label).__name__}; an object of numbers and names is expected",
            path=where,
        )
    if not id2label:
        n = told if n_labels is None else n_labels
        if n is None:
            raise InputError("there is no id2label: the labels have no names", path=where)
        _check_counts({"num_labels is": told, "the model's outputs are": n_labels}, where)
        return tuple(f"LABEL_{i}" for i in range(n))
    try:
        by_number = {int(number): name for number, name in id2label.items()}
    except ValueError as error:
        raise InputError(f"id2label's keys are not numbers: {error}", path=where) from error
    if sorted(by_number) != list(range(len(id2label))):
        raise InputError(
            f"id2label numbers the labels {', '.join(map(str, sorted(by_number)))}; the numbers "
            f"are those of the model's outputs, 0 to {len(id2label) - 1}",
            path=where,
        )
    if n_labels is not None and n_labels != len(by_number):
        raise InputError(
            f"id2label names {say_count(len(by_number), 'label')}, but the model has "
            f"{say_count(n_labels, 'output')}",
            path=where,
        )
    _check_counts({"num_labels is": told, "id2label's labels are": len(by_number)}, where)
    if not all(isinstance(name, str) and name for name in by_number.values()):
        raise InputError("id2label has labels without a name", path=where)
    labels = tuple(by_number[i] for i in range(len(by_number)))
    _check_inverse(config.get("label2id"), labels, where)
    return labels


def _check_counts(counts: Mapping[str, int | None], where: Path) -> None:
    """Refuse numbers of labels that differ."""
    known = {what: n for what, n in counts.items() if n is not None}
    if len(set(known.values())) > 1:
        said = " and ".join(f"{what} {n}" for what, n in known.items())
        raise InputError(f"{said}: correct the one that is wrong", path=where)


def _check_inverse(label2id: object, labels: tuple[str, ...], where: Path) -> None:
    """Refuse a ``label2id`` that numbers labels otherwise; names that are numbers say nothing."""
    if not isinstance(label2id, dict) or not label2id:
        return
    if all(map(is_nameless, labels)) or all(is_nameless(str(name)) for name in label2id):
        return
    numbers = {label_key(str(name)): number for name, number in label2id.items()}
    for number, label in enumerate(labels):
        other = numbers.get(label_key(label))
        if str(other) != str(number):
            said = f"label2id numbers it {other}" if other is not None else "label2id has no such"
            raise InputError(
                f"id2label calls the label {number} {label!r}, and {said}"
                f"{'' if other is not None else ' label'}: which is which? Correct the one that is "
                "wrong",
                path=where,
            )
