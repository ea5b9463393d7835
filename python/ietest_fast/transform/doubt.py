"""What transformations of syntax raise where a sentence is not surely what it looks like."""

from __future__ import annotations


class Doubt(Exception):  # noqa: N818 - no error: the sentence stays as it is
    """A sentence, or a part of it, is not sure enough to be rewritten.

    Parameters
    ----------
    reason
        Why not, in a few words.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)
