"""What a stress test is made of: which texts, by which transformation, and what gave no row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.plurals import say_count

if TYPE_CHECKING:
    from ietest_fast.evaluation.versions import Version


@dataclass(frozen=True, kw_only=True)
class StressOrigin:
    """Where the rows of a test come from.

    Attributes
    ----------
    identity
        The transformation's name with four digits of a hash.
    keeps_labels
        Whether the transformation keeps labels; otherwise it sets them.
    n_texts
        Rows that the test could be made of: labelled ones, or texts of another file.
    n_missing
        Of these, texts of another file that are missing.
    n_repeated
        Of these, rows left out because all that they would give is there already.
    n_unknown
        Of these, rows of whose new texts nobody knows any label.
    """

    identity: str
    keeps_labels: bool
    n_texts: int
    n_missing: int = 0
    n_repeated: int = 0
    n_unknown: int = 0

    @classmethod
    def of(cls, version: Version, *, n_texts: int, n_missing: int = 0) -> StressOrigin:
        """Count the rows that gave nothing.

        Parameters
        ----------
        version
            As it was made.
        n_texts, n_missing
            As of the class.
        """
        known = version.source_row[version.labels >= 0]
        unknown = version.source_row[version.labels < 0]
        return cls(
            identity=version.identity,
            keeps_labels=version.keeps_labels,
            n_texts=n_texts,
            n_missing=n_missing,
            n_repeated=len(np.setdiff1d(version.repeated, version.source_row)),
            n_unknown=len(np.setdiff1d(unknown, known)),
        )


def say_made_of(
    name: str, n_items: int, n_originals: int, *, is_foreign: bool, origin: StressOrigin | None
) -> str | None:
    """Return a sentence on what a test is made of; None if it has all originals.

    Parameters
    ----------
    name
        Of the test.
    n_items, n_originals
        Texts that have a row in it, and labelled rows.
    is_foreign
        Whether its texts are those of another file.
    origin
        None where the answers do not say it.
    """
    if origin is None:
        if is_foreign:
            return f"{name}: made of {say_count(n_items, 'text')} of another file."
        left = n_originals - n_items
        made = f"{name}: made of {n_items:,} of {say_count(n_originals, 'item')}"
        return None if left == 0 else f"{made}; {left:,} {_have(left)} no row in it."
    left = origin.n_texts - n_items
    if not is_foreign and left == 0:
        return None
    of = f"{say_count(origin.n_texts, 'text')} of another file"
    of = of if is_foreign else say_count(origin.n_texts, "item")
    nothing = left - origin.n_missing - origin.n_repeated - origin.n_unknown
    reasons = [
        f"{n:,} {words[n != 1]}"
        for n, words in (
            (nothing, ("has nothing for it", "have nothing for it")),
            (
                origin.n_repeated,
                ("would only repeat what others give", "would only repeat what others give"),
            ),
            (origin.n_unknown, ("gets no known label", "get no known label")),
            (origin.n_missing, ("is missing", "are missing")),
        )
        if n > 0
    ]
    return f"{name}: made of {'; '.join([f'{n_items:,} of {of}', *reasons])}."


def _have(n: int) -> str:
    return "has" if n == 1 else "have"
