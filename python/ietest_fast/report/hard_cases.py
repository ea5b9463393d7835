"""Pairs that a model gets right before the transformation and wrong after it (Tables 17 and 18)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.report.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.report.runs import Versions


@dataclass(frozen=True, kw_only=True)
class Quantifier:
    """For which of a model's classifiers an observation has to be lost."""

    name: str
    """For ``ietest-fast report --hard-cases``."""
    title: str
    """In words."""
    every_rho: bool
    every_m: bool
    """For all of them, or for one at least."""
    first_m: bool = False
    """Look at m = 0 only."""

    def apply(self, lost: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Reduce bool of shape (n, n_rho, M) to shape (n,)."""
        own = lost[:, :, :1] if self.first_m else lost
        over_m, over_rho = (
            np.logical_and if every else np.logical_or for every in (self.every_m, self.every_rho)
        )
        found: NDArray[np.bool_] = over_rho.reduce(over_m.reduce(own, axis=2), axis=1)
        return found


QUANTIFIERS = {
    each.name: each
    for each in (
        Quantifier(
            name="every-m-every-rho",
            title="in every resample at every ρ",
            every_rho=True,
            every_m=True,
        ),
        Quantifier(
            name="every-m-any-rho",
            title="in every resample at some ρ",
            every_rho=False,
            every_m=True,
        ),
        Quantifier(
            name="any-m-every-rho",
            title="in some resample at every ρ",
            every_rho=True,
            every_m=False,
        ),
        Quantifier(
            name="any-m-any-rho",
            title="in some resample at some ρ",
            every_rho=False,
            every_m=False,
        ),
        Quantifier(
            name="first-m-every-rho",
            title="in the first resample at every ρ",
            every_rho=True,
            every_m=True,
            first_m=True,
        ),
        Quantifier(
            name="first-m-any-rho",
            title="in the first resample at some ρ (the published 249 and 531 cases)",
            every_rho=False,
            every_m=True,
            first_m=True,
        ),
    )
}
"""Ways to read "the model gets it right before and wrong after", the default first."""

DEFAULT_QUANTIFIER = next(iter(QUANTIFIERS))

MOST_LISTED = 100
"""Hard cases that are listed with their texts; the page's examples have them all."""


def find_lost(answers: NDArray[np.int8], gold: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Find what each classifier gets right in the original and wrong in the transformed version."""
    right = gold[:, None, None]
    lost: NDArray[np.bool_] = (answers[..., 0] == right) & (answers[..., 1] != right)
    return lost


def find_hard_cases(
    answers: Sequence[NDArray[np.int8]],
    gold: NDArray[np.int8],
    *,
    quantifier: str = DEFAULT_QUANTIFIER,
) -> NDArray[np.int64]:
    """Find the observations that all models lose."""
    if quantifier not in QUANTIFIERS:
        raise InputError(f"hard cases are {', '.join(QUANTIFIERS)}, not {quantifier}")
    if not answers:
        raise InputError("hard cases need the answers of a model")
    masks = [QUANTIFIERS[quantifier].apply(find_lost(own, gold)) for own in answers]
    return np.flatnonzero(np.logical_and.reduce(masks))


def pack_hardness(answers: NDArray[np.int8], gold: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Say of each row which quantifiers hold for a model: bit q for the q-th of QUANTIFIERS."""
    lost = find_lost(answers, gold)
    packed = np.zeros(len(gold), np.uint8)
    for bit, quantifier in enumerate(QUANTIFIERS.values()):
        packed |= quantifier.apply(lost).astype(np.uint8) << np.uint8(bit)
    return packed


def hard_case_table(hardness: dict[str, NDArray[np.uint8]]) -> Table:
    """Count hard cases by quantifier, for each model and for all together."""
    together = np.bitwise_and.reduce(list(hardness.values()))
    n = len(together)
    return Table(
        name="hard-cases",
        title="Observations that are right before and wrong after",
        columns=(
            Column("for a model"),
            *(Column(name, "count") for name in hardness),
            Column("all models", "count"),
            Column("share, all models %", "percent"),
        ),
        rows=tuple(
            (
                quantifier.title,
                *(_count(own, bit) for own in hardness.values()),
                _count(together, bit),
                _count(together, bit) / n,
            )
            for bit, quantifier in enumerate(QUANTIFIERS.values())
        ),
    )


def hard_pair_table(versions: Versions, rows: NDArray[np.int64], *, quantifier: str) -> Table:
    """List hard cases with both versions of their texts (Tables 17 and 18)."""
    listed = rows[:MOST_LISTED].tolist()
    labels = np.bincount(versions.gold[rows], minlength=len(versions.label_names))
    shares = ", ".join(
        f"{name} {count / len(rows):.1%}"
        for name, count in zip(versions.label_names, labels, strict=True)
    )
    texts = [
        table[name]
        for name in versions.columns
        for table in (versions.original, versions.transformed)
    ]
    return Table(
        name="hard-pairs",
        title=f"Hard cases: lost by all models {QUANTIFIERS[quantifier].title}",
        columns=(
            Column("row", "count"),
            Column("label"),
            *(
                Column(f"{name}, {version}")
                for name in versions.columns
                for version in ("original", "transformed")
            ),
        ),
        rows=tuple(
            (row, versions.label_names[versions.gold[row]], *(text[row].as_py() for text in texts))
            for row in listed
        ),
        note=f"{len(rows):,} of {len(versions):,} ({shares}); the first {len(listed)} are listed.",
    )


def _count(packed: NDArray[np.uint8], bit: int) -> int:
    return int((packed >> np.uint8(bit) & np.uint8(1)).sum())
