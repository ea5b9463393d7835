"""Paraphrastic consistency on items that a part of the input decides, and on others (section 7)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.evaluation.consistency_file import confidences_of
from ietest_fast.evaluation.consistency_subsets import part_items
from ietest_fast.evaluation.noting_partial import COLUMN, CORRECT, RIGHT, WRONG
from ietest_fast.evaluation.wordings import find_originals
from ietest_fast.plurals import say_count
from ietest_fast.stats.consistency.corrected import correct_consistency, stratum_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.evaluation.consistency_file import ConsistencyAnswers
    from ietest_fast.evaluation.consistency_partition import ConsistencySubsets
    from ietest_fast.evaluation.predictions import Predictions
    from ietest_fast.stats.consistency.buckets import BucketCounts
    from ietest_fast.stats.consistency.corrected import CorrectedResult


@dataclass(frozen=True, kw_only=True)
class PartialAccuracy:
    """How the model that saw a part of the input answers some items."""

    n_items: int
    """How many there are."""
    originals: float
    """Its accuracy on their originals: 1 or 0, because items are parted by it."""
    paraphrases: float | None
    """Its accuracy on their paraphrases; None if it was asked none."""
    n_paraphrases: int
    """How many it was asked."""


@dataclass(frozen=True, kw_only=True)
class ConsistencyPartial:
    """Consistency on items that a model with a part of the input gets right and wrong (Table 7)."""

    name: str
    """What that model is called."""
    subsets: ConsistencySubsets
    """The parts ``right`` and ``wrong``; without one that has no item."""
    own: Mapping[str, PartialAccuracy]
    """By part, how that model answers it."""
    corrected: Mapping[str, CorrectedResult | None]
    """By part, numbers standardised to the strata of the test set; empty without one, and None for
    a part that has no item in a stratum of the test set. The weights are those of the whole test
    set, as in the paper, not of the items in it that would be in this part: they estimate no set of
    items."""
    n_unmatched: int
    """Items that it was not asked, which are in neither part."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "model": self.name,
            "n_unmatched": self.n_unmatched,
            **self.subsets.to_dict(),
            "own": {name: vars(own) for name, own in self.own.items()},
            "corrected": {
                name: None if own is None else own.to_dict() for name, own in self.corrected.items()
            },
        }

    def remarks(self) -> list[str]:
        """Return what was left out, and what to know of the estimates."""
        said = []
        if self.n_unmatched:
            said.append(
                f"{say_count(self.n_unmatched, 'item is', 'items are')} in neither part: "
                f"{self.name}, which saw a part of the input, was not asked "
                f"{'it' if self.n_unmatched == 1 else 'them'}."
            )
        for name, own in self.corrected.items():
            if own is None:
                said.append(
                    f"No number standardised to the test set, items that it gets {name}: none of "
                    "them lies in a stratum that the test set has."
                )
            elif own.warning is not None:
                said.append(f"Warning, items that it gets {name}: {own.warning}.")
        if any(own is not None for own in self.corrected.values()):
            said.append(
                "The numbers by partial input that have the weights of the test set are "
                "standardised, as in the paper: they estimate no set of items."
            )
        return said


def part_by_partial_input(
    answers: ConsistencyAnswers,
    counts: BucketCounts,
    *,
    strata: Sequence[int] | None,
    confidence_level: float,
    **options: Any,
) -> ConsistencyPartial | None:
    """Measure consistency on items that a part of the input decides, and on the others."""
    predictions, run = answers.predictions, answers.run
    if run.partial_input is None:
        return None
    table = predictions.table
    for column in (COLUMN, CORRECT):
        if column not in table.column_names:
            raise InputError(
                "is not in the file, which says that items are parted by it",
                path=predictions.source,
                column=column,
            )
    values = dict(zip(table["item"].to_pylist(), table[COLUMN].to_pylist(), strict=True))
    subsets = part_items(
        counts,
        values,
        (RIGHT, WRONG),
        column=COLUMN,
        confidence_level=confidence_level,
        **options,
    )
    if not subsets.parts:
        raise InputError(
            f"{run.partial_input} was asked no item that has paraphrases", path=predictions.source
        )
    own = np.array([values[name] for name in counts.names.tolist()], dtype=object)
    corrected: dict[str, CorrectedResult | None] = {}
    if strata is not None:
        for name in subsets.parts:
            mask = np.asarray(own == name, dtype=np.bool_)
            corrected[name] = _correct(counts.take(mask), strata, confidence_level)
    return ConsistencyPartial(
        name=run.partial_input,
        subsets=subsets,
        own={name: _measure_own(predictions, name, counts) for name in subsets.parts},
        corrected=corrected,
        n_unmatched=int(sum(value is None for value in own)),
    )


def _correct(
    counts: BucketCounts, strata: Sequence[int], confidence_level: float
) -> CorrectedResult | None:
    known = counts.originals >= 0
    if counts.original_confidence is None or not known.any():
        return None
    used = stratum_of(counts.original_confidence[known], len(strata))
    if not np.asarray(strata)[used].any():
        return None
    with warnings.catch_warnings():
        # The result says it itself.
        warnings.simplefilter("ignore", IetestWarning)
        return correct_consistency(
            counts,
            confidences_of(tuple(strata)),
            n_strata=len(strata),
            confidence_level=confidence_level,
        )


def _measure_own(predictions: Predictions, name: str, counts: BucketCounts) -> PartialAccuracy:
    table = predictions.table
    items = set(counts.names.tolist())
    is_counted = np.array([item in items for item in table["item"].to_pylist()], np.bool_)
    of_part = pc.fill_null(pc.equal(table[COLUMN], name), False).to_numpy() & is_counted
    asked = table[CORRECT].is_valid().to_numpy()
    correct = pc.fill_null(table[CORRECT], False).to_numpy()
    is_original = find_originals(predictions)
    rows: NDArray[np.bool_] = of_part & asked & ~is_original
    return PartialAccuracy(
        n_items=len(pc.unique(table["item"].filter(pa.array(of_part)))),
        originals=float(name == RIGHT),
        paraphrases=float(correct[rows].mean()) if rows.any() else None,
        n_paraphrases=int(rows.sum()),
    )
