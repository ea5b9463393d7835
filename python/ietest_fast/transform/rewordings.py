"""A caller's own rewordings as a transformation: a mapping of texts, or a function of a text."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.transform.base import BaseTransformation, Transformed, put_texts
from ietest_fast.transform.edits import (
    STEP_SCHEMA,
    are_same_rows,
    as_strings,
    edits_of_texts,
    find_changed,
    move_rows,
)
from ietest_fast.values import find_half, show_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ietest_fast.transform.base import Transformation

# Several transformations in turn, as one.


MOST_STEPS = 20
"""How many transformations can be done in turn: each holds a copy of the texts, and its edits."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Composition(BaseTransformation):
    """Do one transformation after the other: each gets the texts that the one before it gave.

    Edits carry the number of their transformation in a column ``step``; those of a later step are
    edits of the texts of the step before. Labels are kept if every part keeps them. Otherwise they
    are those of the last part that does not keep labels: what it sets, or null in all rows if it
    sets none.

    Raises
    ------
    InputError
        If there are fewer or more.
    """

    parts: tuple[Transformation, ...]
    """At least two, at most :data:`MOST_STEPS`; parts of parts are parts."""

    def __post_init__(self) -> None:
        flat: list[Transformation] = []
        for part in self.parts:
            flat += part.parts if isinstance(part, Composition) else [part]
        if len(flat) < 2:
            raise InputError("a composition needs at least two transformations")
        check_steps(len(flat))
        object.__setattr__(self, "parts", tuple(flat))

    @property
    def name(self) -> str:
        """Names of the parts, joined by ``+``."""
        return "+".join(part.name for part in self.parts)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the parts' fingerprints in their order, 64 hexadecimal digits."""
        return compose_fingerprints([part.fingerprint for part in self.parts])

    @property
    def keeps_labels(self) -> bool:
        """Whether all parts keep labels."""
        return all(part.keeps_labels for part in self.parts)

    @property
    def _options(self) -> dict[str, Any]:
        return {"parts": [part.describe() for part in self.parts]}

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Transform by each part in turn; see :meth:`Transformation.transform`."""
        now = table
        rows: npt.NDArray[np.int64] = np.arange(table.num_rows, dtype=np.int64)
        touched = np.zeros(table.num_rows, np.bool_)
        labels: pa.Array | pa.ChunkedArray | None = None
        edits: list[pa.Table] = []
        repeated: list[npt.NDArray[np.int64]] = []
        n_steps = 0
        for part in self.parts:
            made = part.transform(now, text_columns, with_edits=with_edits, n_threads=n_threads)
            source = made.source_row
            repeated.append(rows[made.repeated])
            rows, touched = rows[source], touched[source] | made.changed
            if made.labels is not None:
                labels = made.labels
            elif not part.keeps_labels:
                labels = pa.nulls(len(source), pa.string())
            elif labels is not None:
                labels = labels.take(pa.array(source))
            if made.edits is not None:
                edits = [move_rows(edit, source, now.num_rows) for edit in edits]
                edits.append(_with_step(made.edits, n_steps))
                n_steps += 1
            now = made.table
        before = table if are_same_rows(rows, table.num_rows) else table.take(rows)
        return Transformed(
            table=now,
            changed=find_changed(before, now, text_columns, touched),
            edits=pa.concat_tables([STEP_SCHEMA.empty_table(), *edits]) if with_edits else None,
            source_row=rows,
            labels=labels,
            repeated=np.setdiff1d(np.concatenate(repeated), rows),
        )


def check_steps(n_steps: int) -> None:
    """Refuse more transformations in turn than :data:`MOST_STEPS`."""
    if n_steps > MOST_STEPS:
        raise InputError(
            f"{n_steps:,} transformations are composed with +, and at most {MOST_STEPS} can be; do "
            "the first of them, and then the others on the texts that they gave"
        )


def compose_fingerprints(fingerprints: list[str]) -> str:
    """Return the fingerprint of several transformations in turn."""
    return hashlib.sha256("\n".join(["composition", *fingerprints]).encode()).hexdigest()


def _with_step(edits: pa.Table, step: int) -> pa.Table:
    steps = pa.array(np.full(len(edits), step, np.int8))
    return edits.append_column(STEP_SCHEMA.field("step"), steps)


RULE = "given"
"""The rule of edits that replace a whole text by the one that a caller gives."""


def _check_text(text: str, told: str) -> None:
    """Refuse half of a surrogate pair that stands alone, which no file and no table can hold."""
    half = find_half(text)
    if half is not None:
        raise InputError(
            f"phi: {told}: {half} is half of a surrogate pair and stands alone; a character beyond "
            "U+FFFF is cut in two where the text was made"
        )


def is_function(phi: object) -> bool:
    """Return whether an object is a function of a text, and no class or transformation."""
    return callable(phi) and not isinstance(phi, type) and not hasattr(phi, "transform")


@dataclass(frozen=True, kw_only=True, eq=False)
class Rewordings(BaseTransformation):
    """Replaces whole texts, in all columns of texts; those that are not there stay as they are.

    Its fingerprint is of the rewordings: of two functions that give the same texts it is the same.
    """

    rewordings: Mapping[str, str]
    """Texts by the texts that they replace."""
    name: str = "mapping"
    """``"mapping"``, or ``function.`` and the function's name."""
    must_fit: bool = True
    """Whether it is a mistake that none of the texts is in the table."""

    def __post_init__(self) -> None:
        for text, new in self.rewordings.items():
            if not isinstance(text, str) or not isinstance(new, str):
                raise InputError(
                    f"phi: a mapping leads from texts to texts, not from {show_object(text)} to "
                    f"{show_object(new)}"
                )
            for each in (text, new):
                _check_text(each, f"a mapping leads from {show_object(text)} to {show_object(new)}")

    @property
    def _options(self) -> dict[str, Any]:
        pairs = sorted((str(text), str(new)) for text, new in self.rewordings.items())
        digest = hashlib.sha256(json.dumps([pair for pair in pairs if len(set(pair)) > 1]).encode())
        return {"rewordings": digest.hexdigest()}

    def _find_none(self, where: str) -> InputError:
        first = next(iter(self.rewordings), None)
        such = "" if first is None else f" (such as {show_object(first)})"
        return InputError(
            f"phi: no text of the mapping{such} is in {where}; its keys are whole texts as they "
            "stand there. A mapping with the key 'name' is a transformation and its options"
        )

    def settle(self, texts: Sequence[pa.Array | pa.ChunkedArray]) -> Rewordings:
        """Return the same for tables that have some of the texts each; one text must be there."""
        if not any(pc.any(pc.is_in(each, self._keys(each.type))).as_py() for each in texts):
            raise self._find_none("the data")
        return replace(self, must_fit=False)

    def _keys(self, kind: pa.DataType) -> pa.Array:
        return pa.array(list(self.rewordings), kind)

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,  # noqa: ARG002 - the protocol's
    ) -> Transformed:
        """Replace the texts of an Arrow table."""
        texts, edits, found = {}, [], False
        touched: npt.NDArray[np.bool_] = np.zeros(table.num_rows, np.bool_)
        for name in text_columns:
            encoded = as_strings(table[name]).combine_chunks().dictionary_encode()
            if isinstance(encoded, pa.ChunkedArray):
                encoded = encoded.combine_chunks()
            old: list[str] = encoded.dictionary.to_pylist()
            found |= any(text in self.rewordings for text in old)
            new = [str(self.rewordings.get(text, text)) for text in old]
            kind = encoded.dictionary.type
            replaced = pa.array(new, pa.large_string()).take(encoded.indices)
            differs = np.array([a != b for a, b in zip(old, new, strict=True)], np.bool_)
            codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
            rows = np.flatnonzero(differs[codes] & (codes >= 0)) if len(old) else codes[:0]
            touched[rows] = True
            texts[name] = [replaced.cast(kind) if pa.types.is_string(kind) else replaced]
            if with_edits:
                before = encoded.dictionary.take(encoded.indices)
                edits.append(
                    edits_of_texts(name, text_columns, RULE, rows, old=before, new=replaced)
                )
        if not found and self.must_fit and table.num_rows:
            raise self._find_none(" or ".join(text_columns))
        return put_texts(table, texts, edits if with_edits else None, touched)


@dataclass(frozen=True, kw_only=True, eq=False)
class RewordingFunction(BaseTransformation):
    """Calls a function once for each distinct text, and replaces the text by what it returns.

    Its fingerprint is of what it has returned so far.
    """

    function: Callable[[str], str]
    """From a text to a text."""
    _known: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    @property
    def name(self) -> str:
        """``function.`` and the function's name."""
        return name_function(self.function)

    def describe(self) -> dict[str, Any]:
        """Return the name, and a hash of what the function has returned."""
        return self.known.describe()

    @property
    def known(self) -> Rewordings:
        """What it has returned."""
        return Rewordings(rewordings=self._known, name=self.name, must_fit=False)

    def reword(self, texts: pa.Array | pa.ChunkedArray) -> None:
        """Call the function for the texts that are new."""
        for text in pc.unique(texts).to_pylist():
            if text is None or text in self._known:
                continue
            new: Any = self.function(text)
            if not isinstance(new, str):
                if inspect.iscoroutine(new):
                    new.close()
                raise InputError(
                    f"phi: {self.name} returned {show_object(new)} "
                    f"(of the type {type(new).__name__}) for {show_object(text)}; expected the "
                    "reworded text, or the text itself to leave it as it is"
                )
            _check_text(new, f"{self.name} returned {show_object(new)} for {show_object(text)}")
            self._known[text] = str(new)

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Replace the texts of an Arrow table."""
        for name in text_columns:
            self.reword(as_strings(table[name]))
        return self.known.transform_table(
            table, text_columns, with_edits=with_edits, n_threads=n_threads
        )


def name_function(function: Any) -> str:
    """Return what signatures call a function: ``function.`` and its name, if it has a plain one."""
    own = getattr(function, "__name__", type(function).__name__)
    plain = re.sub(r"\W", "", own)
    return f"function.{plain}" if plain and "<" not in own else "function"


def settle(
    phi: Mapping[str, str] | Callable[[str], str], texts: Sequence[pa.Array | pa.ChunkedArray]
) -> Rewordings:
    """Return a mapping or a function as the rewordings of all texts that will be transformed.

    It is then known by what it does, and another process can have it.
    """
    if isinstance(phi, Mapping):
        return Rewordings(rewordings=phi).settle(texts)
    made = RewordingFunction(function=phi)
    for each in texts:
        made.reword(each)
    return made.known
