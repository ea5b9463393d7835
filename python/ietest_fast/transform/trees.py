"""Sentences with their dependency trees, as the transformations of syntax read them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ietest_fast.lexicon.token_parses import PENN, RELATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ietest_fast.lexicon.token_parses import TokenParses


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sentence of a text."""

    start: int
    end: int
    """Where it stands in its text, in bytes, without white space around it."""
    words: tuple[str, ...]
    """As written."""
    spaces: tuple[str, ...]
    """What stands before each word: white space, or nothing; before the first nothing."""
    tags: tuple[str, ...]
    """Penn tags."""
    heads: tuple[int, ...]
    """The index of each word's head; a root's is its own."""
    relations: tuple[str, ...]
    """The relation of each word to its head, in Universal Dependencies."""

    def __len__(self) -> int:
        return len(self.words)

    @functools.cached_property
    def lower(self) -> tuple[str, ...]:
        """The words in small letters."""
        return tuple(word.lower() for word in self.words)

    @functools.cached_property
    def text(self) -> str:
        """The sentence as written."""
        return self.write(range(len(self)))

    @functools.cached_property
    def roots(self) -> tuple[int, ...]:
        """Words without a head; one, unless the parse is odd."""
        return tuple(i for i, head in enumerate(self.heads) if head == i)

    @functools.cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.words]
        for i, head in enumerate(self.heads):
            if head != i:
                found[head].append(i)
        return tuple(tuple(each) for each in found)

    def children(self, word: int, *relations: str) -> tuple[int, ...]:
        """Return the dependents of a word in their order, of these relations if any are named."""
        found = self._children[word]
        if not relations:
            return found
        return tuple(each for each in found if self.relations[each] in relations)

    def subtree(self, word: int) -> list[int]:
        """Return a word and all below it, in order."""
        found, waiting = [], [word]
        while waiting:
            each = waiting.pop()
            found.append(each)
            waiting.extend(self._children[each])
        return sorted(found)

    def span(self, word: int) -> range | None:
        """Return where the subtree of a word stands; None if it is broken up."""
        found = self.subtree(word)
        return range(found[0], found[-1] + 1) if len(found) == found[-1] - found[0] + 1 else None

    def write(self, words: range) -> str:
        """Return some words in a row as written, without space before the first."""
        return "".join(
            self.words[i] if i == words.start else self.spaces[i] + self.words[i] for i in words
        )


def sentences_of(data: bytes, parses: TokenParses, text: int) -> Iterator[Sentence]:
    """Yield the sentences of a text."""
    first, end = int(parses.offsets[text]), int(parses.offsets[text + 1])
    starts = parses.start[first:end].tolist()
    ends = parses.end[first:end].tolist()
    tags = [PENN[code] for code in parses.tag[first:end].tolist()]
    relations = [RELATIONS[code] for code in parses.relation[first:end].tolist()]
    heads = [i + distance for i, distance in enumerate(parses.head[first:end].tolist())]
    for begin, stop in _cut(heads):
        yield Sentence(
            start=starts[begin],
            end=ends[stop - 1],
            words=tuple(data[starts[i] : ends[i]].decode() for i in range(begin, stop)),
            spaces=tuple(
                "" if i == begin else data[ends[i - 1] : starts[i]].decode()
                for i in range(begin, stop)
            ),
            tags=tuple(tags[begin:stop]),
            heads=tuple(head - begin for head in heads[begin:stop]),
            relations=tuple(relations[begin:stop]),
        )


def _cut(heads: list[int]) -> Iterator[tuple[int, int]]:
    """Yield where sentences begin and end: between them no word hangs on one of the other side."""
    lowest = [len(heads)] * (len(heads) + 1)
    for i in range(len(heads) - 1, -1, -1):
        lowest[i] = min(lowest[i + 1], heads[i])
    begin, furthest = 0, 0
    for i, head in enumerate(heads):
        furthest = max(furthest, head)
        if furthest <= i < lowest[i + 1]:
            yield begin, i + 1
            begin = i + 1
