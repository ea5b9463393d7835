"""What AFLite finds: a score for each item, and what each round did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

End = Literal["slice", "target", "training"]


@dataclass(frozen=True, kw_only=True)
class FilteringRound:
    """One round: classifiers trained on random parts of what was left."""

    n_before: int
    """Items that were left when it began."""
    n_removed: int
    """Items that it removed."""
    n_unscored: int
    """Items that stood in every classifier's training part, so that they have no score."""
    accuracy: float
    """Share of all out-of-sample predictions that were right."""
    n_not_converged: int = 0
    """Classifiers whose fit ended before it had reached a minimum; features of very different sizes
    make such."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Difficulty:
    """Which items are easy, and which difficult."""

    score: NDArray[np.float64]
    """float64 (n,): the share of classifiers that predict an item's label without having been
    trained on it, the mean over the rounds that scored it; NaN where none did."""
    easy: NDArray[np.bool_]
    """bool (n,): whether that mean is above `tau`, which is how the published code of Srikanth et
    al. (2024) divides items; the text of their section 4 has it the other way round. Items without
    a score are neither easy nor difficult."""
    removed_in: NDArray[np.int64]
    """int64 (n,): the round, from 1, that filtered an item out; 0 for those that are left."""
    n_rounds_scored: NDArray[np.int64]
    """int64 (n,): rounds that scored an item."""
    rounds: tuple[FilteringRound, ...]
    """What each round did."""
    tau: float
    """The threshold."""
    ended: End
    """Why filtering ended: a round found fewer than a slice of items above the threshold
    (``"slice"``), the size of the target was reached (``"target"``), or no more items were left
    than a classifier is trained on (``"training"``)."""

    def __len__(self) -> int:
        return len(self.score)

    @property
    def is_left(self) -> NDArray[np.bool_]:
        """Which items the filter left, bool (n,): the filtered data set of the original method."""
        left: NDArray[np.bool_] = self.removed_in == 0
        return left

    @property
    def n_unscored(self) -> int:
        """Items without a score."""
        return int((self.n_rounds_scored == 0).sum())

    @property
    def n_not_converged(self) -> int:
        """Classifiers of all rounds whose fit ended before it had reached a minimum."""
        return sum(each.n_not_converged for each in self.rounds)

    @property
    def difficult(self) -> NDArray[np.bool_]:
        """Which items have a score that is not above `tau`, bool (n,)."""
        found: NDArray[np.bool_] = (self.n_rounds_scored > 0) & ~self.easy
        return found

    @property
    def names(self) -> NDArray[np.object_]:
        """``"easy"``, ``"difficult"`` or, without a score, None (n,): a column to group by."""
        found = np.full(len(self), None, dtype=object)
        found[self.easy], found[self.difficult] = "easy", "difficult"
        return found
