"""Which inputs tell how likely words are in the place of a mask, each input once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.ragged import Ragged, find_offsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.models.masked_lm import MaskedModel


class Word(NamedTuple):
    """A word in the place of a mask, as a tokenizer sees it."""

    pieces: tuple[int, ...]
    """Its tokens."""
    slots: tuple[int, ...]
    """Where the score of each piece is, the others being visible."""
    problem: str | None
    """Why it cannot be scored; None where it can."""


@dataclass(kw_only=True)
class Queries:
    """Places of inputs, and the tokens whose scores there are wanted."""

    model: MaskedModel
    """Its tokenizer makes the tokens."""
    _premises: dict[str, int] = field(default_factory=dict)
    _premise_of: list[int] = field(default_factory=list)
    _ids: list[NDArray[np.int32]] = field(default_factory=list)
    _places: list[int] = field(default_factory=list)
    _inputs: dict[tuple[int, int, bytes], int] = field(default_factory=dict)
    _slots: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(
        self, premises: Sequence[str], texts: Sequence[str], spans: Sequence[tuple[int, int]]
    ) -> list[Word]:
        """Ask for words."""
        tokenizer, unknown = self.model.tokenizer, self.model.tokenizer.unknown
        found = tokenizer.tokenise_with_spans(texts, spans, allow_none=True)
        words = []
        for row, premise in enumerate(premises):
            first = int(found.tokens.offsets[row])
            ids = found.tokens.values[first : first + int(found.tokens.lengths[row])]
            begin, end = int(found.begin[row]), int(found.end[row])
            pieces = tuple(map(int, ids[begin:end]))
            problem = None
            if not pieces:
                problem = "the tokenizer makes no token of the word"
            elif unknown in pieces:
                problem = "the tokenizer does not know the word"
            elif not found.alone[row]:
                problem = "the tokenizer joins the word with its neighbours"
            slots = () if problem is not None else self._hide(premise, ids, begin, end)
            words.append(Word(pieces, slots, problem))
        return words

    def _hide(self, premise: str, ids: NDArray[np.int32], begin: int, end: int) -> tuple[int, ...]:
        slots = []
        first = self._premises.setdefault(premise, len(self._premises))
        for place in range(begin, end):
            hidden = ids.copy()
            hidden[place] = self.model.mask
            key = (first, place, hidden.tobytes())
            number = self._inputs.setdefault(key, len(self._inputs))
            if number == len(self._ids):
                self._premise_of.append(first)
                self._ids.append(hidden)
                self._places.append(place)
            slots.append(self._slots.setdefault((number, int(ids[place])), len(self._slots)))
        return tuple(slots)

    def run(self) -> Scores:
        """Run the model on every input."""
        model, tokenizer = self.model, self.model.tokenizer
        n = len(self._ids)
        lengths = np.array([len(ids) for ids in self._ids], dtype=np.int64)
        hypotheses = Ragged(
            values=np.concatenate([*self._ids, np.zeros(0, np.int32)]),
            offsets=find_offsets(lengths),
        )
        texts = [tokenizer.tokenise(list(self._premises)), hypotheses]
        rows = [np.array(self._premise_of, dtype=np.int64), np.arange(n, dtype=np.int64)]
        store = tokenizer.join(texts, rows)
        kept = tokenizer.count_kept(texts, rows)
        template = tokenizer.template(2)
        ahead = len(template.ids[0]) + len(template.ids[1])
        places = np.array(self._places, dtype=np.int64)
        scores = Scores.make(
            inputs=np.array([number for number, _ in self._slots], dtype=np.int64),
            tokens=np.array([token for _, token in self._slots], dtype=np.int64),
            is_cut=places >= kept[1],
            is_truncated=kept[0] + kept[1] < texts[0].lengths[rows[0]] + lengths,
        )
        whole = np.flatnonzero(~scores.is_cut)
        by_input = np.argsort(scores.inputs, kind="stable")
        begins = np.searchsorted(scores.inputs[by_input], np.arange(n + 1))

        def take(chosen: NDArray[np.int64], logits: NDArray[np.float32]) -> None:
            if np.isnan(logits).any() or np.isposinf(logits).any():
                raise InputError("the model returned what is no number, or is infinite")
            for row, number in enumerate(whole[chosen]):
                scores.take(by_input[begins[number] : begins[number + 1]], logits[row])

        model.read(store.take(whole), (ahead + kept[0] + places)[whole], take)
        return scores


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Scores of tokens; a slot is a token in a place."""

    inputs: NDArray[np.int64]
    tokens: NDArray[np.int64]
    """int64 (slots,)."""
    log_probabilities: NDArray[np.float64]
    """float64 (slots,): natural logarithms."""
    ranks: NDArray[np.int64]
    """int64 (slots,): tokens of the vocabulary that score as high or higher, itself included."""
    best: NDArray[np.int64]
    """int64 (slots,): the token that scores highest among the others; of several, the first."""
    is_cut: NDArray[np.bool_]
    is_truncated: NDArray[np.bool_]
    """bool (inputs,): whether an input was too long, and lost the place itself, or any token."""

    @classmethod
    def make(
        cls,
        *,
        inputs: NDArray[np.int64],
        tokens: NDArray[np.int64],
        is_cut: NDArray[np.bool_],
        is_truncated: NDArray[np.bool_],
    ) -> Scores:
        """Make room for scores."""
        n = len(inputs)
        return cls(
            inputs=inputs,
            tokens=tokens,
            log_probabilities=np.full(n, np.nan),
            ranks=np.zeros(n, np.int64),
            best=np.zeros(n, np.int64),
            is_cut=is_cut,
            is_truncated=is_truncated,
        )

    def take(self, slots: NDArray[np.int64], logits: NDArray[np.float32]) -> None:
        """Note what the logits of an input, shape (V,), say of its slots."""
        exact = logits.astype(np.float64)
        top = exact.max()
        total = top + np.log(np.exp(exact - top).sum())
        for slot in slots:
            token = self.tokens[slot]
            self.log_probabilities[slot] = exact[token] - total
            self.ranks[slot] = np.count_nonzero(logits >= logits[token])
            others = logits.copy()
            others[token] = -np.inf
            self.best[slot] = int(others.argmax())

    def sum(self, word: Word) -> float:
        """Return a word's pseudo-log-likelihood: the sum over its pieces (Salazar et al. 2020)."""
        return float(self.log_probabilities[list(word.slots)].sum())

    def loses(self, word: Word) -> bool:
        """Whether an input of a word lost the place of a piece."""
        return bool(self.is_cut[self.inputs[list(word.slots)]].any())

    def shortens(self, word: Word) -> bool:
        """Whether an input of a word lost any token."""
        return bool(self.is_truncated[self.inputs[list(word.slots)]].any())
