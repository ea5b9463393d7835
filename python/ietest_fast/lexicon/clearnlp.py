"""ClearNLP's trees, which spaCy's English pipelines make, as Universal Dependencies.

What is rewritten: prepositions and copulas become dependents, members of a coordination hang on
the first of them, and relations get the names of Universal Dependencies. A predicate such as "in
the park" keeps its copula as head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

CLEARNLP_MARKS = frozenset({"dobj", "pobj", "nsubjpass"})
"""Relations by which this style is told."""

_NAMES = {
    "ROOT": "root",
    "acomp": "xcomp",
    "agent": "case",
    "attr": "xcomp",
    "auxpass": "aux:pass",
    "csubjpass": "csubj:pass",
    "dative": "iobj",
    "dobj": "obj",
    "intj": "discourse",
    "meta": "dep",
    "neg": "advmod",
    "nn": "compound",
    "npadvmod": "obl",
    "nsubjpass": "nsubj:pass",
    "num": "nummod",
    "oprd": "xcomp",
    "pcomp": "advcl",
    "pobj": "obl",
    "poss": "nmod:poss",
    "possessive": "case",
    "preconj": "cc",
    "predet": "det",
    "prep": "case",
    "prt": "compound:prt",
    "quantmod": "advmod",
    "relcl": "acl:relcl",
    "complm": "mark",
    "rcmod": "acl:relcl",
    "partmod": "acl",
    "infmod": "acl",
}
_NOMINAL = ("NN", "PRP", "CD", "DT", "WP")
_BE = frozenset("am are is was were be been being 's 're 'm".split())  # noqa: SIM905


def to_universal(
    offsets: npt.NDArray[np.int64],
    words: Sequence[str],
    tags: Sequence[str],
    head: npt.NDArray[np.int32],
    relations: Sequence[str],
) -> tuple[npt.NDArray[np.int32], list[str]]:
    """Return heads and relations of Universal Dependencies."""
    heads = np.arange(len(head)) + head
    made = _Tree(words, tags, heads.tolist(), list(relations))
    for first, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        made.rewrite(range(first, end))
    new = np.array(made.heads, np.int64) - np.arange(len(head))
    return new.astype(np.int32), [_NAMES.get(name, name) for name in made.relations]


class _Tree:
    """Tokens of all texts; a root is its own head."""

    def __init__(
        self, words: Sequence[str], tags: Sequence[str], heads: list[int], relations: list[Any]
    ) -> None:
        self.words = words
        self.tags = tags
        self.heads = heads
        self.relations = relations
        self._below: list[list[int]] = [[] for _ in heads]
        for token, head in enumerate(heads):
            if head != token:
                self._below[head].append(token)

    def _hang(self, token: int, head: int) -> None:
        """Give a token another head; its own makes it a root."""
        if self.heads[token] != token:
            self._below[self.heads[token]].remove(token)
        self.heads[token] = head
        if head != token:
            self._below[head].append(token)

    def rewrite(self, tokens: range) -> None:
        """Rewrite the trees of one text."""
        self._turn_prepositions(tokens)
        self._turn_copulas(tokens)
        self._flatten_coordinations(tokens)

    def _children(self, token: int) -> list[int]:
        return sorted(self._below[token])

    def _put_in_place_of(self, new: int, old: int, relation: str) -> None:
        """Let `new`, a child of `old`, take its head and children; `old` hangs on it."""
        above = self.heads[old]
        self._hang(new, new if above == old else above)
        for child in self._children(old):
            self._hang(child, new)
        self._hang(old, new)
        self.relations[old] = relation

    def _turn_prepositions(self, tokens: range) -> None:
        for token in tokens:
            if self.relations[token] not in {"prep", "agent", "dative"}:
                continue
            children = self._children(token)
            inner = next((c for c in children if self.relations[c] in {"pobj", "pcomp"}), None)
            if inner is None or self.heads[token] == token:
                continue
            is_agent = self.relations[token] == "agent"
            is_clause = self.relations[inner] == "pcomp"
            under_noun = self.tags[self.heads[token]].startswith(_NOMINAL)
            self._put_in_place_of(inner, token, "mark" if is_clause else "case")
            if is_clause:
                self.relations[inner] = "acl" if under_noun else "advcl"
            elif is_agent:
                self.relations[inner] = "obl:agent"
            else:
                self.relations[inner] = "nmod" if under_noun else "obl"

    def _turn_copulas(self, tokens: range) -> None:
        for token in tokens:
            if self.words[token].lower() not in _BE:
                continue
            children = self._children(token)
            inner = next((c for c in children if self.relations[c] in {"attr", "acomp"}), None)
            if inner is None:
                continue
            if any(self.relations[child] == "expl" for child in children):
                self.relations[inner] = "nsubj"
                continue
            outer = self.relations[token]
            self._put_in_place_of(inner, token, "cop")
            self.relations[inner] = outer

    def _flatten_coordinations(self, tokens: range) -> None:
        for token in tokens:
            if self.relations[token] == "cc":
                members = [
                    each
                    for each in self._children(self.heads[token])
                    if self.relations[each] == "conj" and each > token
                ]
                if members:
                    self._hang(token, members[0])
        for token in tokens:  # heads first: members stand behind the one they hang on
            if self.relations[token] == "conj":
                first = self.heads[token]
                if self.relations[first] == "conj" and first < token:
                    self._hang(token, self.heads[first])
