"""What the files beside a finished classifier say of it: ``config.json`` and others.

They come from anywhere, so nothing in them is trusted to be of the kind that it should be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from ietest_fast import files
from ietest_fast.errors import InputError
from ietest_fast.models.batching import Padding

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


def read_json(path: Path | None) -> dict[str, Any]:
    """Read a JSON object; an empty one if there is no file.

    Raises
    ------
    InputError
        If the file is none.
    """
    if path is None:
        return {}
    values = files.read_json(path, most_bytes=files.MOST_SETTINGS)
    if not isinstance(values, dict):
        raise InputError("a JSON object is expected", path=path)
    return values


def find_max_length(config: Mapping[str, Any], tokenizer_config: Mapping[str, Any]) -> int:
    """Find how many tokens a model takes, by its own and its tokenizer's settings.

    Parameters
    ----------
    config, tokenizer_config
        The contents of ``config.json`` and ``tokenizer_config.json``.

    Returns
    -------
    int
        512 if neither says so.
    """
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
    config: Mapping[str, Any], tokenizer_config: Mapping[str, Any], tokenizer: TextTokenizer
) -> Padding:
    """Find with what a model's inputs are padded, and on which side.

    Raises
    ------
    InputError
        If the model does not know the token.
    """
    token = config.get("pad_token_id")
    if not _is_integer(token):
        name = tokenizer_config.get("pad_token")
        name = name.get("content") if isinstance(name, dict) else name
        token = tokenizer.token_id(name) if isinstance(name, str) else None
    token = 0 if token is None else token
    n_known = read_n_known(config)
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


def count_labels(config: Mapping[str, Any]) -> int | None:
    """Return how many labels a model's settings name; None if they name none."""
    id2label = config.get("id2label")
    return len(id2label) if isinstance(id2label, dict) and id2label else None


def read_labels(config: Mapping[str, Any], n_labels: int | None, where: Path) -> tuple[str, ...]:
    """Read the names of a model's labels from ``id2label`` of the settings in `where`.

    Raises
    ------
    InputError
        If they are not 0 to n - 1, or not as many as the model's outputs.
    """
    id2label = config.get("id2label")
    if not isinstance(id2label, dict) or not id2label:
        if n_labels is None:
            raise InputError("there is no id2label: the labels have no names", path=where)
        return tuple(f"LABEL_{i}" for i in range(n_labels))
    try:
        by_number = {int(number): name for number, name in id2label.items()}
    except ValueError as error:
        raise InputError(f"id2label's keys are not numbers: {error}", path=where) from error
    if sorted(by_number) != list(range(len(id2label))):
        raise InputError(f"id2label numbers the labels {sorted(by_number)}", path=where)
    if n_labels is not None and n_labels != len(by_number):
        raise InputError(
            f"id2label names {len(by_number)} labels, but the model has {n_labels} outputs",
            path=where,
        )
    if not all(isinstance(name, str) and name for name in by_number.values()):
        raise InputError("id2label has labels without a name", path=where)
    return tuple(by_number[i] for i in range(len(by_number)))
