"""Scores of hidden words the slow, obvious way: one input at a time, nothing shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Logits = Callable[[list[int], list[int]], np.ndarray]
"""From the ids and type ids of one input to an array of shape (tokens, vocabulary)."""


def hide(
    tokenizer: Any, premise: str, hypothesis: str, pieces: Sequence[int], hidden: int
) -> tuple[list[int], list[int], int]:
    """An input with all pieces of a word in the place of [MASK], one of them hidden.

    Gives ids, type ids and the place of the hidden piece.
    """
    mask = tokenizer.token_to_id("[MASK]")
    encoding = tokenizer.encode(premise, hypothesis.replace("[MASK]", " [MASK] "))
    (place,) = [i for i, token in enumerate(encoding.ids) if token == mask]
    word = [mask if number == hidden else piece for number, piece in enumerate(pieces)]
    ids = [*encoding.ids[:place], *word, *encoding.ids[place + 1 :]]
    kinds = encoding.type_ids
    type_ids = [*kinds[:place], *[kinds[place]] * len(word), *kinds[place + 1 :]]
    return ids, type_ids, place + hidden


def log_probabilities(logits: np.ndarray) -> np.ndarray:
    exact = logits.astype(np.float64)
    return exact - np.log(np.exp(exact - exact.max()).sum()) - exact.max()


def rank_slowly(
    tokenizer: Any, logits_of: Logits, premise: str, hypothesis: str, answer: str
) -> tuple[int, float, int]:
    """Rank in the vocabulary, log-probability, and the best token of an answer of one token."""
    (token,) = tokenizer.encode(answer, add_special_tokens=False).ids
    ids, kinds, place = hide(tokenizer, premise, hypothesis, [token], 0)
    found = log_probabilities(logits_of(ids, kinds)[place])
    better = [other for other in range(len(found)) if found[other] > found[token]]
    return 1 + len(better), float(found[token]), int(found.argmax())


def likelihood_slowly(
    tokenizer: Any, logits_of: Logits, premise: str, hypothesis: str, word: str
) -> float:
    """The pseudo-log-likelihood of a word: each piece hidden by itself (Salazar et al. 2020)."""
    pieces = tokenizer.encode(word, add_special_tokens=False).ids
    total = 0.0
    for number, piece in enumerate(pieces):
        ids, kinds, place = hide(tokenizer, premise, hypothesis, pieces, number)
        total += float(log_probabilities(logits_of(ids, kinds)[place])[piece])
    return total
