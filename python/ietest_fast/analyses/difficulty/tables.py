"""Tables of AFLite: its rounds, and how many items are easy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.report.tables import Column, Table

if TYPE_CHECKING:
    from ietest_fast.analyses.difficulty.file import MarkedFile

_ENDED = {
    "slice": "fewer items than a slice reached the threshold",
    "target": "only as many items are left as were asked for",
    "training": "no more items are left than a classifier is trained on",
}


def round_table(found: MarkedFile) -> Table:
    """Return what each round did."""
    return Table(
        name="difficulty-rounds",
        title="Rounds of adversarial filtering",
        columns=(
            Column("round", "count"),
            Column("items", "count"),
            Column("accuracy %", "percent"),
            Column("removed", "count"),
            Column("without a score", "count"),
        ),
        rows=tuple(
            (number, each.n_before, each.accuracy, each.n_removed, each.n_unscored)
            for number, each in enumerate(found.difficulty.rounds, start=1)
        ),
        note="accuracy: of classifiers on items that they were not trained on. The last round ends "
        f"it: {_ENDED[found.difficulty.ended]}.",
    )


def difficulty_table(found: MarkedFile) -> Table:
    """Return how many items are easy, how many difficult, and how many have no score."""
    own = found.difficulty
    counts = [("easy", int(own.easy.sum())), ("difficult", int(own.difficult.sum()))]
    if own.n_unscored:
        counts.append(("without a score", own.n_unscored))
    return Table(
        name="difficulty",
        title="Items by difficulty",
        columns=(Column("difficulty"), Column("items", "count"), Column("items %", "percent")),
        rows=tuple((name, n, n / found.n_items) for name, n in counts),
        note=f"easy: an item's score, the mean over rounds, is above {own.tau:g}.",
    )
