"""How the CSV and TSV files of others are written, and whether their quotes follow the rules.

Habits come from the file where they can (``sep=;`` in the first line, the header), and from the
user where they cannot: ``--csv`` on the command line, ``csv`` in a run's TOML,
:func:`reading_csv` in Python.
"""

from __future__ import annotations

import codecs
import contextlib
import re
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_NAMED = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_BAD_SETTING = (
    "expected some of quoted, not-quoted, escape=\\, delimiter=; (one character, tab, comma, "
    "semicolon or pipe) and skip-bad-rows, separated by commas"
)
_SETTINGS = re.compile(r"(?:(escape|delimiter)=(tab|comma|semicolon|pipe|.)|([a-z-]+))(?:,|$)")
_FIRST_LINE = re.compile(r'^"?sep=([^"])"?[ \t]*\r?\n?$', re.IGNORECASE)
_SEPARATORS = ";|\t"
_QUOTE = ord('"')


@dataclass(frozen=True, kw_only=True)
class Dialect:
    r"""Habits of CSV and TSV files that a user has named."""

    quoted: bool | None = None
    """Whether double quotes enclose fields; None: in CSV yes, in TSV no."""
    delimiter: str | None = None
    """What separates fields; None: what the file's ``sep=`` says, or its header."""
    escape: str | None = None
    """What stands before a quote inside quotes, such as a backslash; None: another quote."""
    skips_bad_rows: bool = False
    """Whether rows with another number of fields than the header are left out, and counted."""

    def __post_init__(self) -> None:
        for name, sign in (("delimiter", self.delimiter), ("escape", self.escape)):
            if sign is not None and (len(sign.encode()) != 1 or sign in '"\r\n\0'):
                raise InputError(
                    f"csv: {name} is one ASCII character, neither a quote nor a line end, not "
                    f"{show_value(sign)}"
                )
        if self.escape is not None and self.escape == self.delimiter:
            raise InputError(f"csv: {show_value(self.escape)} is both delimiter and escape")

    def __or__(self, other: Dialect) -> Dialect:
        """Return these habits, with those that the other names in their place."""
        default = Dialect()
        named = {
            field.name: value
            for field in fields(other)
            if (value := getattr(other, field.name)) != getattr(default, field.name)
        }
        return replace(self, **named)


def parse_dialect(text: str) -> Dialect:
    r"""Read habits from a line such as ``delimiter=;,escape=\``."""
    found: dict[str, str | bool] = {}
    place = 0
    while place < len(text) or not found:
        match = _SETTINGS.match(text, place)
        if match is None:
            raise InputError(f"csv: {show_value(text)}: {_BAD_SETTING}")
        name, sign, word = match.groups()
        said: tuple[str, str | bool]
        if name is not None:
            said = (name, _NAMED.get(sign, sign))
        elif word in {"quoted", "not-quoted"}:
            said = ("quoted", word == "quoted")
        elif word == "skip-bad-rows":
            said = ("skips_bad_rows", True)
        else:
            raise InputError(f"csv: {show_value(text)}: {_BAD_SETTING}")
        if found.setdefault(*said) != said[1]:
            raise InputError(f"csv: {show_value(text)} says two things of {said[0]}; keep one")
        place = match.end()
    return Dialect(**found)  # type: ignore[arg-type]


_CURRENT: ContextVar[Dialect] = ContextVar("dialect", default=Dialect())  # noqa: B039 - frozen


def current_dialect() -> Dialect:
    """Return the habits that the user has named."""
    return _CURRENT.get()


@contextlib.contextmanager
def reading_csv(habits: str | Dialect | None) -> Iterator[None]:
    r"""Read the CSV and TSV files within by other habits than usual.

    Parameters
    ----------
    habits
        As for ``--csv``, such as ``"delimiter=;,escape=\\"``: ``quoted`` or ``not-quoted`` (whether
        double quotes enclose fields), ``escape=X`` (what stands before a quote inside quotes),
        ``delimiter=X``, ``skip-bad-rows`` (rows with another number of fields than the header are
        left out, with a warning that counts them). None changes nothing.

    Raises
    ------
    InputError
        If it says something else.

    Examples
    --------
    >>> import ietest_fast as ie
    >>> with ie.reading_csv("escape=\\"):
    ...     result = ie.evaluate(my_model, "reviews.csv", phi="syn.careful")  # doctest: +SKIP
    """
    own = parse_dialect(habits) if isinstance(habits, str) else habits or Dialect()
    token = _CURRENT.set(_CURRENT.get() | own)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def find_delimiter(first_line: str, usual: str) -> tuple[str, int]:
    """Find out from the first line of a file what separates its fields."""
    said = _FIRST_LINE.match(first_line)
    if said is not None:
        return said[1], 1
    if usual == ",":
        bare = re.sub(r'"[^"]*"', "", first_line)
        counts = {sign: bare.count(sign) for sign in _SEPARATORS}
        most = max(counts, key=lambda sign: counts[sign])
        if counts[most] and "," not in bare:
            return most, 0
    return usual, 0


class QuoteCheck:
    """Finds out, block by block, whether the quotes of a file enclose fields as RFC 4180 says.

    Arrow reads ``"a" b,c`` as *something*, without a word. Where every other
    quote stands at the beginning of a field or behind a quote, and those between at the end of a
    field or before a quote, the file follows the rules, and the quotes mean what they are read as.
    Quotes inside fields that no quote opens (``5" tall``) follow them, too, but not this pattern:
    :attr:`is_regular` then is False, and a slower reader has to decide.
    """

    def __init__(self, delimiter: str) -> None:
        self.is_regular = True
        self._is_open = False
        self._rest: bytes | None = None
        self._edges = np.zeros(256, np.bool_)
        self._edges[[ord(delimiter), ord("\n"), ord("\r"), _QUOTE]] = True

    def feed(self, block: bytes, *, is_last: bool = False) -> None:
        """Look at the next bytes of the file."""
        if not self.is_regular:
            return
        if self._rest is None:
            self._rest, block = b"", block.removeprefix(codecs.BOM_UTF8)
        # Up to a line's end, so that each quote has its neighbours.
        end = len(block) if is_last else block.rfind(b"\n") + 1
        if end == 0 and not is_last:
            self._rest += block
            return
        whole = self._rest + block[:end] + (b"\n" if is_last else b"")
        self._rest = block[end:]
        if b'"' in whole:
            self._look(np.frombuffer(whole, np.uint8))
        if is_last and self._is_open:
            self.is_regular = False

    def _look(self, data: NDArray[np.uint8]) -> None:
        places = np.flatnonzero(data == _QUOTE)
        before = self._edges[data[places - 1]]  # of the first the last, which is a line's end
        behind = self._edges[data[places + 1]]
        first = int(self._is_open)  # of those that open
        self.is_regular = bool(before[first::2].all() and behind[1 - first :: 2].all())
        self._is_open ^= bool(len(places) % 2)


def explain_quotes(
    record: str, delimiter: str, escape: str | None, header: Sequence[str]
) -> tuple[str, str | None]:
    """Say what is wrong with the quotes of a record, and in which column."""
    number, place, n = 0, 0, len(record)
    while place < n:
        if record[place] != '"':
            ends = [at for sign in (delimiter, "\n") if (at := record.find(sign, place)) >= 0]
            place = min(ends, default=n) + 1
            number += 1
            continue
        opened, place = place, _find_closing(record, place + 1, escape)
        column = header[number] if number < len(header) else None
        if place >= n:
            return f"a quote is left open (before {show_value(record[opened + 1 :][:40])})", column
        place += 1
        behind = record[place : place + 1]
        if behind not in {delimiter, "\n", "\r", ""}:
            shown = record[max(opened, place - 20) : place + 20].rstrip("\r\n")
            remedy = "a quote inside quotes is written twice"
            if escape is None and record[max(0, place - 2)] == "\\":
                remedy = r"if the file escapes quotes by backslashes, pass --csv 'escape=\'"
            return f"behind a closing quote stands more ({show_value(shown)}); {remedy}", column
        place += 1
        number += 1
    return "the quotes are broken", None


def _find_closing(record: str, place: int, escape: str | None) -> int:
    """Return the place of the next quote that ends a field, or one behind the record."""
    while place < len(record) and (record[place] != '"' or record[place + 1 : place + 2] == '"'):
        place += 2 if record[place] in {'"', escape} else 1
    return place
