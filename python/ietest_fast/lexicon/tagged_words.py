"""Words of a part of speech, what replaces them, and beside what."""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.lexicon.token_tags import UPOS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from ietest_fast.lexicon.synonym_table import SynonymTable

PLACES = {"prev2": -2, "prev": -1, "next": 1, "next2": 2}
#: In a list of a condition: there is no such token.
NOTHING = "END"
_NOTHING_BIT = 31
_CONDITION = re.compile(rf"({'|'.join(PLACES)})(!?)=(.+)\Z")


class Condition(NamedTuple):
    """Compare the token at a place with a list; see :func:`read_conditions`."""

    place: int
    negated: bool
    words: tuple[str, ...]
    tags: tuple[str, ...]


def read_conditions(text: str) -> tuple[Condition, ...]:
    """Read conditions, all of which have to hold: ``next=of|in;prev!=NOUN|END``."""
    tests = []
    for part in filter(None, text.split(";")):
        found = _CONDITION.match(part)
        if found is None:
            raise InputError(f"{part!r} is no condition such as next=of|in or prev!=NOUN|END")
        place, negation, listed = found.groups()
        items = listed.split("|")
        tags = tuple(item for item in items if item in UPOS or item == NOTHING)
        words = tuple(item for item in items if item not in tags)
        if "" in items or any(word != word.lower() for word in words):
            raise InputError(f"{part!r} lists a word that is not in lower case, or none")
        tests.append(Condition(PLACES[place], bool(negation), words, tags))
    return tuple(tests)


class TaggedWord(NamedTuple):
    """One entry of a table."""

    key: str
    pos: str
    number: int
    value: str
    when: str
    word: str
    rule: str
    is_bound: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class TaggedWords:
    """A table of substitutions that look at tags and at what stands beside a word."""

    entries: tuple[TaggedWord, ...]
    """In the order in which those of one key are tried. ``key`` is a form in lower case, words
    separated by one blank; ``pos`` the universal tag that it has to have; ``number`` 1 for
    singular, 2 for plural, 0 for any; ``when`` the conditions (:func:`read_conditions`); ``word``
    what it is a form of. Where ``is_bound``, a row replaces all forms of the word or none."""
    phrases: tuple[str, ...] = ()
    """In lower case: their words are left alone in them."""

    def __len__(self) -> int:
        return len(self.entries)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of entries and phrases, 64 hexadecimal digits."""
        lines = ["\t".join(map(str, entry)) for entry in self.entries]
        return hashlib.sha256("\n".join([*lines, "", *self.phrases]).encode()).hexdigest()

    @functools.cached_property
    def _families(self) -> dict[str, str]:
        leader: dict[str, str] = {}

        def find(name: str) -> str:
            while leader.setdefault(name, name) != name:
                leader[name] = leader[leader[name]]
                name = leader[name]
            return name

        # A word is told from a form by what no form begins with.
        for entry in self.entries:
            one, other = sorted((find(entry.key), find(f"\n{entry.word}")))
            leader[other] = one
        return {entry.key: find(entry.key) for entry in self.entries}

    def family_of(self, form: str) -> str:
        """Return by what a form is known: the same for all forms of a word, in any case.

        Forms that are forms of several words (*running* of a noun and of a verb) join them.
        """
        return self._families.get(form.lower(), form.lower())

    @classmethod
    def of_nouns(
        cls, table: SynonymTable, groups: Sequence[int] | npt.NDArray[np.int32]
    ) -> TaggedWords:
        """Take over a table of nouns, whose groups are bound.

        Parameters
        ----------
        table
            Of nouns by number.
        groups
            Shape (len(table),): see :func:`ietest_fast.transform.group_forms`.
        """
        rows = zip(
            table.keys.to_pylist(),
            table.values.to_pylist(),
            table.number.tolist(),
            table.rules.to_pylist(),
            groups,
            strict=True,
        )
        return cls(
            entries=tuple(
                TaggedWord(key, "NOUN", number, value, "", f"{group}", rule, is_bound=True)
                for key, value, number, rule, group in rows
            )
        )

    def with_others(self, others: TaggedWords) -> TaggedWords:
        """Add the phrases of another table, and its entries for keys that this one lacks."""
        known = {entry.key for entry in self.entries}
        added = tuple(entry for entry in others.entries if entry.key not in known)
        phrases = dict.fromkeys((*self.phrases, *others.phrases))
        return TaggedWords(entries=self.entries + added, phrases=tuple(phrases))

    def columns(self, rules: Sequence[str]) -> dict[str, Any]:
        """Return the arguments of the core's table.

        Parameters
        ----------
        rules
            Names of rules, in the order of the core's codes.
        """
        entries = self.entries
        groups = {word: i for i, word in enumerate(dict.fromkeys(each.word for each in entries))}
        return {
            "keys": pa.array([each.key for each in entries], pa.large_string()),
            "values": pa.array([each.value for each in entries], pa.large_string()),
            "pos": np.array([UPOS.index(each.pos) for each in entries], np.uint8),
            "number": np.array([each.number for each in entries], np.int8),
            "group": np.array([groups[each.word] for each in entries], np.int32),
            "is_bound": np.array([each.is_bound for each in entries], np.int8),
            "rules": np.array([rules.index(each.rule) for each in entries] or [0], np.int8),
            "conditions": _condition_columns([read_conditions(each.when) for each in entries]),
            "phrases": pa.array(self.phrases, pa.large_string()),
        }


def _condition_columns(conditions: Iterable[tuple[Condition, ...]]) -> tuple[Any, ...]:
    begins: list[int] = [0]
    tests: list[Condition] = []
    for each in conditions:
        tests += each
        begins.append(len(tests))
    words = [word for test in tests for word in test.words]
    masks = [
        sum(1 << (_NOTHING_BIT if tag == NOTHING else UPOS.index(tag)) for tag in set(test.tags))
        for test in tests
    ]
    return (
        np.array(begins, np.int64),
        np.array([test.place for test in tests], np.int8),
        np.array([test.negated for test in tests], np.int8),
        np.array(masks, np.uint32),
        np.cumsum([0, *(len(test.words) for test in tests)], dtype=np.int64),
        pa.array(words, pa.large_string()),
    )
