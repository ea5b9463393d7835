"""Answers to wordings in a file, with what has to be known to measure their consistency."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Ge, Le, Len

from ietest_fast.analyses.consistency.amounts import Amounts  # noqa: TC001 - types are read
from ietest_fast.answers.file import NotedAnswers, Notes
from ietest_fast.errors import InputError
from ietest_fast.stats.consistency.corrected import MOST_CONFIDENCE_STRATA, stratum_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ietest_fast.analyses.consistency.buckets import Buckets
    from ietest_fast.answers.asking import Evaluation


MOST_ITEMS = 10**9
"""More items than this no file counts."""

MOST_DIVERSITY_GROUPS = 20

DEFAULT_DIVERSITY_GROUPS = 4
"""Groups of items by the diversity of their paraphrases."""


Count = Annotated[int, Ge(0), Le(MOST_ITEMS)]
Groups = Annotated[int, Ge(2), Le(MOST_DIVERSITY_GROUPS)]
Strata = Annotated[tuple[Count, ...], Len(1, MOST_CONFIDENCE_STRATA)]


@dataclass(frozen=True, kw_only=True)
class ConsistencyNotes(Notes):
    """How answers to the wordings of items came about."""

    kind = "consistency"
    what = "answers to wordings (ietest-fast consistency --out)"

    subset: str | None = None
    """The column by which consistency is parted; None: none."""
    n_empty: dict[str, Count | None] = field(default_factory=dict)
    n_mixed: dict[str, Count] = field(default_factory=dict)
    """By classifier, items of the source without a row that could be used, and items that were left
    out because their wordings have different gold labels. The first is None where sources were
    joined that lack items: the same item may be lacking in several of them."""
    n_wanted: dict[str, Count] = field(default_factory=dict)
    """By classifier, how many paraphrases of each item were asked for; empty where they were not
    made here."""
    strata: dict[str, Strata] = field(default_factory=dict)
    """By classifier, items of the full test set in each stratum of confidence; empty where no test
    set was given."""
    diversity: tuple[str, ...] = ()
    """Measures of the diversity of paraphrases by which items are grouped; empty: not measured."""
    diversity_groups: Groups = DEFAULT_DIVERSITY_GROUPS
    """Groups of items for each."""
    diversity_texts: tuple[str, ...] = ()
    """Columns of texts whose diversity was measured."""
    partial_input: str | None = None
    """What the classifier is called that saw a part of the input, by whose answers items are
    parted; None: none."""
    curves: tuple[Amounts, ...] = ()
    """Classifiers that have seen different amounts of data."""

    def __post_init__(self) -> None:
        for counts in self.strata.values():
            if not 1 <= sum(counts) <= MOST_ITEMS:
                raise ValueError(f"strata has {sum(counts):,} items in {len(counts):,} strata")

    @classmethod
    def of(
        cls,
        buckets: Buckets,
        answers: Evaluation,
        *,
        clusters: str | None,
        subset: str | None,
    ) -> ConsistencyNotes:
        """Describe the answers of one classifier to buckets."""
        warned = () if answers.warning is None else (answers.warning,)
        made = tuple(line for making in buckets.made for line in making.sentences())
        return cls(
            clusters=clusters,
            subset=subset,
            n_empty={"": buckets.n_empty},
            n_mixed={"": buckets.n_mixed},
            n_wanted={"": sum(making.n_wanted for making in buckets.made)} if buckets.made else {},
            text_columns=buckets.text_columns,
            warnings=(*warned, *answers.warnings, *made, *buckets.notes),
            backend=answers.backend,
            identity=answers.identity,
        )

    def renamed(self, names: Mapping[str, str], *, curve: str = "") -> ConsistencyNotes:
        """Return this of classifiers that have other names, by their old ones.

        Curves without a name get that of `curve`.
        """

        def rename(values: Mapping[str, Any]) -> dict[str, Any]:
            return {names.get(name, name): value for name, value in values.items()}

        return replace(
            self,
            strata=rename(self.strata),
            n_empty=rename(self.n_empty),
            n_mixed=rename(self.n_mixed),
            n_wanted=rename(self.n_wanted),
            curves=tuple(
                replace(own.renamed(names), name=own.name or curve) for own in self.curves
            ),
        )


ConsistencyAnswers = NotedAnswers[ConsistencyNotes]


def with_columns(
    answers: ConsistencyAnswers, *, clusters: str | None, subset: str | None
) -> ConsistencyAnswers:
    """Return answers with other columns of clusters and subsets, where they are named."""
    notes = answers.notes
    told = replace(notes, clusters=clusters or notes.clusters, subset=subset or notes.subset)
    return replace(answers, notes=told)


def count_strata(confidence: NDArray[np.float64], n_strata: int) -> tuple[int, ...]:
    """Count the items of a full test set in strata of equal width by confidence."""
    inside = (confidence >= 0) & (confidence <= 1)
    if not confidence.size or not inside.all():
        raise InputError(
            "the full test set needs confidences from 0 to 1: "
            f"{int((~inside).sum()):,} of {confidence.size:,} are none"
        )
    counts = np.bincount(stratum_of(confidence, n_strata), minlength=n_strata)
    return tuple(map(int, counts))


def confidences_of(strata: tuple[int, ...]) -> NDArray[np.float64]:
    """Return confidences, in the middle of their strata, that are counted as `strata` say."""
    middles = (np.arange(len(strata)) + 0.5) / len(strata)
    return np.repeat(middles, strata)
