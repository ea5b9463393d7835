"""Numbers of things in words: ``1 item has``, ``2 items have``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def say_count(n: int, one: str, many: str | None = None) -> str:
    """Write a number of things with the words behind it.

    Examples
    --------
    >>> say_count(1, "test"), say_count(2000, "test")
    ('1 test', '2,000 tests')
    >>> say_count(2, "item has", "items have")
    '2 items have'
    """
    return f"{n:,} {one if n == 1 else f'{one}s' if many is None else many}"


def list_dropped(dropped: Mapping[str, int], done: str = "dropped") -> list[str]:
    """Say of each reason how many rows were dropped for it."""
    return [f"{say_count(n, 'row')} {done}: {why}" for why, n in dropped.items()]
