"""Asking a classifier, each distinct question once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ietest_fast.evaluation.running import score_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.evaluation.logic.texts import Texts
    from ietest_fast.models import TextClassifier
    from ietest_fast.models.label_map import LabelMap

    Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


class Asker:
    """Knows a classifier's answers to pairs of texts, and asks for those that it does not know.

    Attributes
    ----------
    n_inputs
        How many distinct inputs it was asked.
    n_rows
        How many it would have been with their repeats.
    n_tokens
        Their tokens; 0 if the classifier does not tell.
    seconds
        What that took.
    """

    def __init__(
        self,
        model: TextClassifier,
        mapping: LabelMap,
        texts: Texts,
        columns: Sequence[str],
        seen: Sequence[str],
        *,
        on_start: Callable[[int], None] | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> None:
        self._model = model
        self._of_model = mapping.of_model.astype(np.int64)
        self._texts = texts
        self._columns = tuple(columns)
        self._seen = tuple(seen)
        self._on_start, self._on_batch = on_start, on_batch
        self._keys = np.empty(0, np.int64)
        self._answers = np.empty(0, np.int64)
        self.n_inputs, self.n_rows, self.n_tokens, self.seconds = 0, 0, 0, 0.0

    def know(self, pairs: Pairs, answers: NDArray[np.int64]) -> None:
        """Take answers that are known already: classes of n pairs."""
        keys, first = np.unique(self._key(pairs), return_index=True)
        self._add(keys, answers[first])

    def ask(self, questions: Sequence[Pairs]) -> None:
        """Ask what is not known yet, all in one run of the classifier."""
        if not questions:
            return
        premise, hypothesis = (
            np.concatenate([pair[side] for pair in questions]) for side in (0, 1)
        )
        self.n_rows += len(premise)
        keys, first = np.unique(self._key((premise, hypothesis)), return_index=True)
        new = ~np.isin(keys, self._keys, assume_unique=True)
        if not new.any():
            return
        sides = (side[first[new]] for side in (premise, hypothesis))
        table = pa.table(
            {name: self._texts.take(side) for name, side in zip(self._columns, sides, strict=True)}
        )
        found = score_versions(
            self._model,
            {"questions": table},
            self._seen,
            on_start=self._on_start,
            on_batch=self._on_batch,
        )
        self._add(keys[new], self._of_model[found.versions["questions"].predicted])
        self.n_inputs += found.n_inputs
        self.n_tokens += found.n_tokens
        self.seconds += found.seconds

    def answers(self, pairs: Pairs) -> NDArray[np.int64]:
        """Return the classes that n pairs have got, int64 (n,); they have been asked."""
        found: NDArray[np.int64] = self._answers[np.searchsorted(self._keys, self._key(pairs))]
        return found

    def _key(self, pairs: Pairs) -> NDArray[np.int64]:
        """Return a number for each input; what the classifier does not see makes no difference."""
        premise, hypothesis = (
            side if name in self._seen else np.zeros_like(side)
            for side, name in zip(pairs, self._columns, strict=True)
        )
        return premise << 32 | hypothesis

    def _add(self, keys: NDArray[np.int64], answers: NDArray[np.int64]) -> None:
        everything = np.concatenate([self._keys, keys])
        order = np.argsort(everything, kind="stable")
        self._keys = everything[order]
        self._answers = np.concatenate([self._answers, answers])[order]
