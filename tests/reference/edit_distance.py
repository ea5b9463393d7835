"""Levenshtein distance by its recursive definition."""

from __future__ import annotations

import functools


@functools.cache
def edit_distance(a: str, b: str) -> int:
    if not a or not b:
        return len(a) + len(b)
    return min(
        edit_distance(a[1:], b) + 1,
        edit_distance(a, b[1:]) + 1,
        edit_distance(a[1:], b[1:]) + (a[0] != b[0]),
    )
