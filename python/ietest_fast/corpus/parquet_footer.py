"""How many values a Parquet file says that it holds, from its footer.

Arrow's own way to this number ends the whole process where a footer is damaged in some places: an
exception of C++ passes through a call that is declared to raise none. So the few fields that are
needed are read here (Apache Thrift's compact protocol, ``parquet.thrift``); Arrow reads the rest,
by calls that do raise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.files import open_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BOOLEANS, _BYTE, _INTEGERS, _DOUBLE, _BINARY = (1, 2), 3, (4, 5, 6), 7, 8
_LISTS, _MAP, _STRUCT, _UUID = (9, 10), 11, 12, 13
# FileMetaData.row_groups, RowGroup.columns, ColumnChunk.meta_data; then ColumnMetaData.num_values.
_WAY_TO_COLUMNS, _NUM_VALUES = (4, 1, 3), 5
_MOST_NESTED = 60


class _Footer:
    """A place in a footer that moves on while it is read."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at, self._depth = data, 0, 0

    def take(self, n: int = 1) -> bytes:
        found = self._data[self._at : self._at + n]
        if len(found) < n:
            raise ValueError("it ends too early")
        self._at += n
        return found

    def number(self) -> int:
        value = shift = 0
        while True:
            (byte,) = self.take()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise ValueError("a number has no end")

    def integer(self) -> int:
        coded = self.number()
        return (coded >> 1) ^ -(coded & 1)

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield number and type of each field of a struct; who asks has to read its value."""
        number = 0
        while (head := self.take()[0]) & 0x0F:
            number = number + (head >> 4) if head >> 4 else self.integer()
            yield number, head & 0x0F

    def elements(self) -> Iterator[int]:
        """Yield the type of each element of a list; who asks has to read it."""
        (head,) = self.take()
        size = head >> 4 if head >> 4 < 15 else self.number()
        for _ in range(size):
            yield head & 0x0F

    def skip(self, kind: int, *, in_struct: bool = False) -> None:
        self._depth += 1
        if self._depth > _MOST_NESTED:
            raise ValueError("it is nested too deep")
        if kind in _BOOLEANS:
            self.take(0 if in_struct else 1)
        elif kind in _INTEGERS:
            self.number()
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner, in_struct=True)
        elif kind in _LISTS:
            for inner in self.elements():
                self.skip(inner)
        elif kind == _MAP:
            self._skip_map()
        else:
            sizes = {_BYTE: 1, _DOUBLE: 8, _UUID: 16}
            self.take(self.number() if kind == _BINARY else sizes[kind])
        self._depth -= 1

    def _skip_map(self) -> None:
        size = self.number()
        (kinds,) = self.take() if size else b"\0"
        for _ in range(size):
            self.skip(kinds >> 4)
            self.skip(kinds & 0x0F)

    def count_values(self, way: tuple[int, ...] = _WAY_TO_COLUMNS) -> int:
        """Read a struct and add up the values of all columns in it."""
        total = 0
        for number, kind in self.fields():
            if not way and number == _NUM_VALUES and kind in _INTEGERS:
                total += self.integer()
            elif not way or number != way[0]:
                self.skip(kind, in_struct=True)
            elif kind in _LISTS:
                total += sum(self._count_in(inner, way[1:]) for inner in self.elements())
            else:
                total += self._count_in(kind, way[1:])
        return total

    def _count_in(self, kind: int, way: tuple[int, ...]) -> int:
        if kind != _STRUCT:
            raise ValueError("a struct is expected")
        return self.count_values(way)


def count_values(path: Path) -> int:
    """Return the number of values of all columns that the footer of a Parquet file tells."""
    with open_file(path) as file:
        end = file.seek(0, 2)
        file.seek(max(end - 8, 0))
        size = int.from_bytes(file.read(4), "little")
        file.seek(max(end - 8 - size, 0))
        data = file.read(size)
    try:
        return _Footer(data).count_values()
    except (ValueError, KeyError) as error:
        raise InputError(f"is damaged: its footer cannot be read: {error}", path=path) from error
