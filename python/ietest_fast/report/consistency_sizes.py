"""The table of how many paraphrases items have."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ietest_fast.plurals import say_count
from ietest_fast.report.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.report.tables import Cell

MOST_SIZES = 16
"""Of more different numbers of paraphrases, a table has ranges."""


def size_table(profiles: Sequence[ConsistencyProfile]) -> Table:
    """Return how many items have how many paraphrases, and which of them the measures are about.

    A column for each classifier, or one if all have the same items.
    """
    sizes = [each.items_by_paraphrases for each in profiles]
    most = max(map(len, sizes))
    padded = [own + (0,) * (most - len(own)) for own in sizes]
    is_same = len(set(padded)) == 1
    shown = padded[:1] if is_same else padded
    heads = ["items"] if is_same else [each.name for each in profiles]
    columns = [Column("paraphrases of the item")]
    for head in heads:
        columns += [Column(head, "count"), Column(f"{head} %", "percent")]
    wanted = {n for each in profiles if (n := each.n_wanted) is not None}
    rows: list[tuple[Cell, ...]] = []
    for first, last in _ranges(most, wanted, shown):
        cells: list[Cell] = [str(first) if first == last else f"{first} to {last}"]
        for own in shown:
            n = sum(own[first : last + 1])
            cells += [n, n / sum(own)]
        rows.append(tuple(cells))
    return Table(
        name="consistency-sizes",
        title="Items, by how many paraphrases they have",
        columns=tuple(columns),
        rows=tuple(rows),
        note=_say_about(profiles[0]) if is_same else " ".join(map(_say_of, profiles)),
    )


def _ranges(most: int, wanted: set[int], sizes: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Return the numbers of paraphrases to have a line: those that occur, or ranges of many."""
    lines = [k for k in range(most) if wanted or k == 0 or any(own[k] for own in sizes)]
    if len(lines) <= MOST_SIZES:
        return [(k, k) for k in lines]
    edges = [edge for edge in (0, 1, 2, 3, 4, 5, 6, 11, 21, 51, 101) if edge < most]
    return [(low, high - 1) for low, high in pairwise([*edges, most])]


def _say_of(profile: ConsistencyProfile) -> str:
    return f"{profile.name}: {_say_about(profile)}"


def _say_about(profile: ConsistencyProfile) -> str:
    """Say which items the measures are about."""
    n, result = profile.n_items, profile.result
    paired = result.n_buckets - result.n_single
    if result.n_buckets == n:
        about = f"The measures are about {'the item' if n == 1 else f'all {n:,} items'}"
        if paired == n:
            return f"{about}."
    else:
        about = (
            f"The measures are about the {result.n_buckets:,} of {say_count(n, 'item')} that "
            f"{'has' if result.n_buckets == 1 else 'have'} a paraphrase"
        )
    if paired == 0:
        return f"{about}; there are no unbiased ones, because no item has two."
    have = "has" if paired == 1 else "have"
    return f"{about}; the unbiased ones, about the {paired:,} that {have} two or more."
