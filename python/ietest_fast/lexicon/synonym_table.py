"""The product of the lexicon: which word is replaced by which."""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RuleSet = Literal["paper", "broad"]
Rule = Literal["frequency", "edit_distance"]

ANY_NUMBER, SINGULAR_KEY, PLURAL_KEY = 0, 1, 2
_IN_NO_WORD = re.compile(r'[,;:"|<>()\[\]{}\t]')


@dataclass(frozen=True, kw_only=True, eq=False)
class SynonymTable:
    """Substitutions, sorted by key and number; a key comes at most once with each number."""

    keys: pa.StringArray
    """K surface forms in lower case; words of a multi-word key are joined by one space."""
    values: pa.StringArray
    """K replacements."""
    number: npt.NDArray[np.int8]
    """int8 (K,): 0 the key is replaced whatever its number (``paper`` rules), 1 where it is a
    singular noun, 2 where it is a plural one."""
    rules: pa.StringArray
    """Why this value won: ``"frequency"`` (how often a corpus uses it) or ``"edit_distance"``."""
    rule_set: RuleSet
    """``"paper"`` or ``"broad"``."""

    @classmethod
    def from_entries(
        cls, entries: Iterable[tuple[str, str, int, Rule]], rule_set: RuleSet
    ) -> SynonymTable:
        """Make a table of (key, value, number, rule)."""
        rows = sorted(entries, key=lambda row: (row[0], row[2]))
        return cls(
            keys=pa.array([row[0] for row in rows], pa.string()),
            values=pa.array([row[1] for row in rows], pa.string()),
            number=np.array([row[2] for row in rows], np.int8),
            rules=pa.array([row[3] for row in rows], pa.string()),
            rule_set=rule_set,
        )

    def __len__(self) -> int:
        return len(self.keys)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of rule set and entries, 64 hexadecimal digits."""
        digest = hashlib.sha256(self.rule_set.encode())
        for row in zip(
            self.keys.to_pylist(),
            self.values.to_pylist(),
            self.number.tolist(),
            self.rules.to_pylist(),
            strict=True,
        ):
            digest.update(("\n" + "\t".join(map(str, row))).encode())
        return digest.hexdigest()

    def as_dict(self, number: int | None = None) -> dict[str, str]:
        """Give key -> value.

        Parameters
        ----------
        number
            Only entries with this number. None: all; of a key that stands in the table as a
            singular and as a plural (sheep) the plural entry is given.
        """
        wanted = np.ones(len(self), bool) if number is None else self.number == number
        rows = zip(self.keys.to_pylist(), self.values.to_pylist(), wanted.tolist(), strict=True)
        return {key: value for key, value, is_wanted in rows if is_wanted}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SynonymTable):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> str | tuple[object, ...]:
        entries = list(
            zip(
                self.keys.to_pylist(),
                self.values.to_pylist(),
                self.number.tolist(),
                self.rules.to_pylist(),
                strict=True,
            )
        )
        return (SynonymTable.from_entries, (entries, self.rule_set))


def read_block_list(path: str | Path) -> frozenset[str]:
    """Read words to leave alone: one a line; trailing commas and blank lines do not matter.

    Raises
    ------
    InputError
        If there is no such file, it is a folder or not text in UTF-8, or a line is not one word.
    ResourceError
        If it cannot be read.
    """
    path = Path(path)
    text = read_text(path)
    words = set()
    for row, line in enumerate(text.splitlines(), start=1):
        word = line.strip().rstrip(",").strip().strip("\"'").strip().lower()
        if _IN_NO_WORD.search(word):  # would never be found in a text
            raise InputError(
                f"expected one word, found {line.strip()!r}", path=path, row=f"line {row}"
            )
        if word:
            words.add(word)
    return frozenset(words)


def counts_by_word(counts: Mapping[str, int]) -> dict[str, int]:
    """Check noun counts and give them in lower case, entries that differ in case added up."""
    lower: dict[str, int] = {}
    for word, count in counts.items():
        if count < 0:
            raise InputError(f"the noun count of {word!r} is {count}, expected 0 or more")
        lower[word.lower()] = lower.get(word.lower(), 0) + count
    return lower
