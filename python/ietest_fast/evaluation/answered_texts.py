"""The texts beside answers to wordings: which columns hold them, and what they contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.columns import find_text_columns
from ietest_fast.corpus.dataset import is_text
from ietest_fast.errors import InputError
from ietest_fast.evaluation.paranlu import ABDUCTIVE, DEFEASIBLE
from ietest_fast.evaluation.schema import plain_type
from ietest_fast.evaluation.shared_wordings import name_rows
from ietest_fast.evaluation.wordings import find_originals
from ietest_fast.plurals import say_count
from ietest_fast.values import as_seen, as_texts, show_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.evaluation.predictions import Predictions

    Texts = tuple[str, ...]
    Wordings = dict[tuple[str, str], set[Texts]]


def find_answered_texts(predictions: Predictions, told: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns of texts, as the file tells or by their names, so that all read the
    same.
    """
    schema = predictions.table.schema
    names = [field.name for field in schema if is_text(plain_type(field.type))]
    for choice in (told, ABDUCTIVE, DEFEASIBLE):
        if choice and set(choice) <= set(names):
            return tuple(choice)
    try:
        found = find_text_columns(predictions.source, names)[0]
    except InputError:
        return ()
    return found if set(found) <= set(names) else ()


def say_equal_texts(predictions: Predictions, columns: Sequence[str]) -> tuple[str, ...]:
    """Count paraphrases that reword nothing, because they agree with themselves in P_C."""
    if not columns or predictions.repeats is not None:
        return ()
    is_original = find_originals(predictions)
    items = predictions.table["item"].to_pylist()
    texts = _read_texts(predictions, columns)
    seen: set[tuple[object, Texts]] = set()
    first: int | None = None
    n_equal = 0
    for row in np.argsort(~is_original, kind="stable").tolist():  # originals come first
        key = (items[row], tuple(map(as_seen, texts[row])))
        if key in seen and not is_original[row]:
            n_equal += 1
            first = row if first is None else first
        if any(texts[row]):
            seen.add(key)
    if first is None:
        return ()
    version = predictions.table["version"][first].as_py()
    counted = f"{n_equal:,} of {say_count(int((~is_original).sum()), 'paraphrase')}"
    have, them = ("has", "it") if n_equal == 1 else ("have", "them")
    said = (
        f"Warning: {counted} {have} the texts ({', '.join(columns)}) of the original, or of "
        f"another paraphrase of the item: version {version!r} of item {items[first]!r}, for one. "
        f"Equal wordings make P_C too high; leave {them} out."
    )
    return (said,)


class Answered(Protocol):
    """Answers of a classifier, and the columns of the texts that it answered."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def predictions(self) -> Predictions:
        """All answers."""
        ...

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Names of columns; none where the answers do not say."""
        ...


UNSHARED = (
    "The same items, but no paraphrase (item and version) that both have answered, so a difference "
    "may be that of the paraphrases"
)
"""Beside a comparison of two classifiers."""


def share_paraphrases(one: Answered, other: Answered) -> bool:
    """Whether two classifiers have answered a version of the same name of any item."""
    first, second = (
        name_rows(own.predictions, ("item", "version")).filter(
            pa.array(~find_originals(own.predictions))
        )
        for own in (one, other)
    )
    return bool(pc.any(pc.is_in(first, value_set=second)).as_py())


def check_same_texts(one: Answered, other: Answered) -> None:
    """Refuse to compare answers to different texts that have the name of the same wording.

    Columns of other names are the same in their order, such as text and sentence; where there are
    more in one, nothing is known.
    """
    columns = other.text_columns
    if not columns or len(columns) != len(one.text_columns):
        return
    if _have_equal_columns(one, other):
        return
    mine, theirs = (_gather(each.predictions, each.text_columns) for each in (one, other))
    common = [key for key in mine if key in theirs]
    # Of a version in several copies, one may have more of them.
    wrong = [key for key in common if not (mine[key] <= theirs[key] or theirs[key] <= mine[key])]
    if not wrong:
        return
    item, version = key = wrong[0]
    first, second = min(mine[key] - theirs[key]), min(theirs[key] - mine[key])
    place = next(place for place, text in enumerate(first) if text != second[place])
    for_one = ", for one," if len(wrong) > 1 else ""
    raise InputError(
        f"in {len(wrong):,} of {len(common):,} wordings that {one.name} and {other.name} have, the "
        f"texts differ: version {version!r} of item {item!r}{for_one} is "
        f"{show_value(second[place])} of {other.name}, and {show_value(first[place])} of "
        f"{one.name}; let both models answer the same texts, or give other texts other names",
        path=other.predictions.source,
        column=columns[place],
    )


def _have_equal_columns(one: Answered, other: Answered) -> bool:
    """Whether two tables have the same wordings in the same order, which is quick to find out."""
    first, second = one.predictions, other.predictions
    if len(first) != len(second):
        return False
    return all(
        _read_names(first, name).equals(_read_names(second, name)) for name in ("item", "version")
    ) and all(
        _as_strings(first.table[own]).equals(_as_strings(second.table[name]))
        for own, name in zip(one.text_columns, other.text_columns, strict=True)
    )


def _gather(predictions: Predictions, columns: Sequence[str]) -> Wordings:
    """Return the texts of each item and version; a version may have several copies."""
    items, versions = (_read_names(predictions, name).to_pylist() for name in ("item", "version"))
    found: Wordings = {}
    for item, version, texts in zip(
        items, versions, _read_texts(predictions, columns), strict=True
    ):
        if any(texts):
            found.setdefault((item, version), set()).add(texts)
    return found


def _read_names(predictions: Predictions, name: str) -> pa.Array:
    """Return items or versions as texts, which are integers in some files."""
    return as_texts(predictions.table[name], path=predictions.source, name=name)


def _read_texts(predictions: Predictions, columns: Sequence[str]) -> list[Texts]:
    """Return the texts of each row; a missing one is an empty one, as in a CSV file."""
    listed = (_as_strings(predictions.table[name]).to_pylist() for name in columns)
    return list(zip(*listed, strict=True))


def _as_strings(column: pa.ChunkedArray) -> pa.Array:
    whole = column.cast(plain_type(column.type)).cast(pa.large_string()).combine_chunks()
    return pc.fill_null(whole, "")
