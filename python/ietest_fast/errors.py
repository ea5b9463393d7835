"""The one hierarchy of errors that ietest-fast raises on purpose.

Everything a user can cause is an :class:`IetestError`; the command line prints its message and
ends with status 1. Each class is also the built-in exception that a caller would expect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.escapes import escape

if TYPE_CHECKING:
    from pathlib import Path


# Values of files stand in messages, and may be of any length.
_LONGEST_MESSAGE = 1200
_LONGEST_NAME = 120
_LONGEST_PATH = 300
_MOST_PROBLEMS = 100


def _cut(text: str, most: int) -> str:
    """Leave out the middle of a long text: a message ends with the remedy."""
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-(most // 2) :]}"


class IetestError(Exception):
    """Base class of all errors raised by ietest-fast."""

    _parts: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """The message, each of whose parts is a line of its own where it is printed."""
        return self._parts or (Exception.__str__(self),)

    def __str__(self) -> str:
        """Write the message for a terminal, on which a traceback may show it."""
        return "\n".join(map(escape, self.lines))


class IetestWarning(UserWarning):
    """Something that can be done, but is seldom what is wanted; the message names the remedy."""

    def __str__(self) -> str:
        """Write the message for a terminal, on which Python shows it."""
        return escape(super().__str__())


class InputError(IetestError, ValueError):
    """A file or a value from the user is not what it has to be.

    Parameters
    ----------
    message
        What is wrong and what was expected.
    path
        The file it stands in.
    row
        1-based line (text files) or 0-based row (tables), already worded, such as
        ``"line 7"`` or ``"row 6"``.
    column
        The column's name.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        row: str | None = None,
        column: str | None = None,
    ) -> None:
        self.path = None if path is None else str(path)
        self.row = row
        self.column = column
        shown = None if path is None else _cut(str(path), _LONGEST_PATH)
        where = [] if shown is None else [shown]
        if row is not None:
            where.append(_cut(row, _LONGEST_NAME))
        if column is not None:
            where.append(f"column {_cut(column, _LONGEST_NAME)!r}")
        message = _cut(message, _LONGEST_MESSAGE)
        super().__init__(f"{', '.join(where)}: {message}" if where else message)


class ConfigError(IetestError, ValueError):
    """A configuration has mistakes; all of them are listed, each with its key."""

    def __init__(self, problems: list[str]) -> None:
        more = len(problems) - _MOST_PROBLEMS
        problems = [_cut(each, _LONGEST_MESSAGE) for each in problems[:_MOST_PROBLEMS]]
        problems += [f"and {more:,} more mistakes"] if more > 0 else []
        self.problems = self._parts = tuple(problems)
        super().__init__("\n".join(problems))


class _FileError(IetestError, OSError):
    def __init__(self, message: str) -> None:
        super().__init__(_cut(message, _LONGEST_MESSAGE))


class ResourceError(_FileError):
    """Something that had to be there is not: a packaged resource, a pipeline, a model folder."""


class StoreError(_FileError):
    """A run's folder cannot be used: locked, damaged, or made by another configuration."""


class MissingExtensionError(IetestError, ImportError):
    """The compiled core is missing or of another version."""


class WorkerError(IetestError, RuntimeError):
    """A task failed in a worker process, or the worker died more than once."""

    def __init__(self, *lines: str) -> None:
        self._parts = lines  # what happened, the worker's last lines, and what to do
        super().__init__("\n".join(lines))


def shorten_error(error: BaseException, *, most: int = 300) -> str:
    """Give a library's message as one line of at most so many characters."""
    text = " ".join(str(error).split())
    return text if len(text) <= most else f"{text[: most - 4]} ..."
