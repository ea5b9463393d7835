"""Which edits carry an effect: those that go with flips, with false discoveries bounded."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.numerals import percent, show_p
from ietest_fast.stats.multiple import benjamini_hochberg
from ietest_fast.stats.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEAST_ROWS = 5
"""An edit in fewer texts is not tested."""

_N_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class EditEffect:
    """An edit, and what happens to the texts that have it."""

    edit: str
    """What was replaced, and by what."""
    n: int
    """Reworded texts that have it."""
    n_flipped: int
    """Those of them whose answer changes."""
    n_lost: int
    n_won: int
    """Those of them that become wrong, and right."""
    p_value: float
    """Of "its texts flip as often as other reworded ones", one-sided (Fisher's exact test)."""
    q_value: float
    """The smallest rate of false discoveries at which it is one (Benjamini and Hochberg 1995)."""

    def __str__(self) -> str:
        share = percent(self.n_flipped / self.n)
        return f"{self.n_flipped:,} of {self.n:,} flip ({share}, q {show_p(self.q_value)})"


@dataclass(frozen=True, kw_only=True, eq=False)
class EditEffects(Result):
    """Edits in at least five texts, those that go with flips most surely first."""

    title = "Edits that go with flips"

    effects: tuple[EditEffect, ...]
    """By p-value."""
    n: int
    n_flipped: int
    """Reworded texts, and those whose answer changes."""

    def leading(self, alpha: float = 0.05) -> EditEffect | None:
        """Return the first edit, if it is a discovery at this rate of false ones."""
        first = next(iter(self.effects), None)
        return first if first is not None and first.q_value < alpha else None

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "n": self.n,
            "n_flipped": self.n_flipped,
            "edits": [asdict(each) for each in self.effects],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each edit."""
        return [asdict(each) for each in self.effects]

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values of the first ten."""
        return [(each.edit, str(each)) for each in self.effects[:_N_SHOWN]]


def rank_edits(
    names: Sequence[str],
    name: NDArray[np.int64],
    row: NDArray[np.int64],
    *,
    reworded: NDArray[np.bool_],
    flipped: NDArray[np.bool_],
    lost: NDArray[np.bool_],
    won: NDArray[np.bool_],
) -> EditEffects:
    """Test of each edit whether the texts that have it flip more often than others.

    Of R reworded texts F flip. If an edit that r of them have does nothing, the number of its texts
    that flip is hypergeometric (Fisher's exact test, one-sided). The false discoveries are bounded
    as by Benjamini and Hochberg (1995).

    Parameters
    ----------
    names
        What the K edits are called.
    name, row
        int64, shape (E,): each occurrence of an edit, and the text that it stands in. Several in
        one text count once.
    reworded, flipped, lost, won
        bool, shape (n,): the texts.
    """
    from scipy.stats import hypergeom

    pairs = np.unique(np.stack([name, row], axis=1), axis=0) if len(name) else np.zeros((0, 2), int)
    codes, rows = pairs[:, 0], pairs[:, 1]

    def count(which: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(codes[which[rows]], minlength=len(names))

    n_rows, n_flips = np.bincount(codes, minlength=len(names)), count(flipped)
    n_lost, n_won = count(lost), count(won)
    tested = np.flatnonzero(n_rows >= LEAST_ROWS)
    population, all_flips = int(reworded.sum()), int((flipped & reworded).sum())
    p_values = hypergeom.sf(n_flips[tested] - 1, population, all_flips, n_rows[tested])
    p_values = np.minimum(1.0, p_values)
    q_values = benjamini_hochberg(p_values.tolist()) if len(tested) else []
    order = sorted(range(len(tested)), key=lambda place: (p_values[place], tested[place]))
    return EditEffects(
        effects=tuple(
            EditEffect(
                edit=names[tested[place]],
                n=int(n_rows[tested[place]]),
                n_flipped=int(n_flips[tested[place]]),
                n_lost=int(n_lost[tested[place]]),
                n_won=int(n_won[tested[place]]),
                p_value=float(p_values[place]),
                q_value=q_values[place],
            )
            for place in order
        ),
        n=population,
        n_flipped=all_flips,
    )
