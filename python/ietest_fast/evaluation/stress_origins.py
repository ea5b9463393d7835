"""What a stress test is made of: which texts, by which transformation, and what gave no row."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.plurals import say_count

if TYPE_CHECKING:
    from ietest_fast.evaluation.versions import Version


@dataclass(frozen=True, kw_only=True)
class StressOrigin:
    """Where the rows of a test come from."""

    identity: str
    """The transformation's name with four digits of a hash."""
    keeps_labels: bool
    """Whether the transformation keeps labels; otherwise it sets them."""
    n_texts: int
    """Rows that the test could be made of: labelled ones, or texts of another file."""
    n_missing: int = 0
    """Of these, texts of another file that are missing."""
    n_repeated: int = 0
    """Of these, rows left out because all that they would give is there already."""
    n_unknown: int = 0
    """Of these, rows of whose new texts nobody knows any label."""
    n_made: int | None = None
    """Of these, rows that gave something; None in files of earlier versions, which do not say
    it."""
    n_rows: int | None = None
    """Rows that they gave; None as `n_made`."""

    @classmethod
    def of(cls, version: Version, *, n_texts: int, n_missing: int = 0) -> StressOrigin:
        """Count the rows that gave nothing."""
        known = version.source_row[version.labels >= 0]
        unknown = version.source_row[version.labels < 0]
        return cls(
            identity=version.identity,
            keeps_labels=version.keeps_labels,
            n_texts=n_texts,
            n_missing=n_missing,
            n_repeated=len(np.setdiff1d(version.repeated, version.source_row)),
            n_unknown=len(np.setdiff1d(unknown, known)),
            n_made=len(np.unique(known)),
            n_rows=len(known),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what is known by name."""
        return {name: each for name, each in asdict(self).items() if each is not None}


def say_made_of(
    name: str,
    n_items: int,
    n_originals: int,
    *,
    is_foreign: bool,
    origin: StressOrigin | None,
    n_rows: int | None = None,
) -> str | None:
    """Return a sentence on what a test is made of; None if it has all originals."""
    if origin is None:
        if is_foreign:
            return f"{name}: made of {say_count(n_items, 'text')} of another file."
        left = n_originals - n_items
        made = f"{name}: made of {n_items:,} of {say_count(n_originals, 'item')}"
        return None if left == 0 else f"{made}; {left:,} {_have(left)} no row in it."
    is_edited = origin.n_rows is not None and n_rows not in {None, origin.n_rows}
    if not is_foreign and n_items == origin.n_texts and not is_edited:
        return None
    of = f"{say_count(origin.n_texts, 'text')} of another file"
    of = of if is_foreign else say_count(origin.n_texts, "item")
    known = origin.n_missing + origin.n_repeated + origin.n_unknown
    nothing = origin.n_texts - (n_items if origin.n_made is None else origin.n_made) - known
    why = ("has no row in it", "have no row in it")
    if origin.n_made is not None:
        why = ("has nothing for it", "have nothing for it")
    reasons = [
        f"{n:,} {words[n != 1]}"
        for n, words in (
            (nothing, why),
            (
                origin.n_repeated,
                ("would only repeat what others give", "would only repeat what others give"),
            ),
            (origin.n_unknown, ("gets no known label", "get no known label")),
            (origin.n_missing, ("is missing", "are missing")),
        )
        if n > 0
    ]
    if is_edited:
        made = say_count(origin.n_rows or 0, "row was", "rows were")
        reasons.append(f"{made} answered, and the file has {n_rows:,}, so it was edited")
    return f"{name}: made of {'; '.join([f'{n_items:,} of {of}', *reasons])}."


def _have(n: int) -> str:
    return "has" if n == 1 else "have"
