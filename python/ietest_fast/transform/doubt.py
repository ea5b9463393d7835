"""What transformations of syntax raise where a sentence is not surely what it looks like."""

from __future__ import annotations


class Doubt(Exception):  # noqa: N818 - no error: the sentence stays as it is
    """A sentence, or a part of it, is not sure enough to be rewritten."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def only(found: tuple[int, ...]) -> tuple[int, ...]:
    """Return what was found if it is one word."""
    if len(found) != 1:
        raise Doubt("not the construction")
    return found
