"""A linear classifier over hashed word n-grams: the lexical baseline of Srikanth et al. (2024).

Theirs is fastText's (Joulin et al. 2017): n-grams of up to four words, five epochs of stochastic
gradient descent, a learning rate that falls to zero. So is this one, but for fastText's layer of
100 numbers between n-grams and labels: here each n-gram has a weight for each label.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from ietest_fast.models.ngram_classifier import BACKEND, NgramClassifier, read_ngram_classifier
from ietest_fast.models.ngrams import NAME, NgramOptions, NgramRows, encode_ngrams
from ietest_fast.models.protocol import (
    Bounds,
    Capabilities,
    EncodedRows,
    EncodedSplit,
    FloatRange,
    IntegerRange,
    Params,
    SearchSpace,
    SplitTexts,
    check_against_space,
    normalise_params,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_SEARCH_SPACE: SearchSpace = {
    "epochs": IntegerRange(low=2, high=20),
    "learning_rate": FloatRange(low=0.25, high=2.0, step=0.25),
    "l2": FloatRange(low=0.0, high=2e-5, step=2e-6),
}

_ALLOWED: Mapping[str, Bounds] = {
    "epochs": Bounds(low=1, high=10_000),
    "learning_rate": Bounds(low=0, high=10, low_included=False),
    "l2": Bounds(low=0, high=0.05),
}

_PRESETS: Mapping[str, Params] = {"default": {"epochs": 5, "learning_rate": 1.0, "l2": 0.0}}


class NgramLinear:
    """Word n-grams up to four and a linear classifier: fast enough for sweeps of thousands.

    Notes
    -----
    Multinomial logistic regression by stochastic gradient descent, one row a step, with a learning
    rate that falls linearly to 0. An epoch takes the rows in a new order, drawn from the seed.
    Training runs on one thread whatever `n_threads` is.
    """

    name = NAME
    capabilities = Capabilities(saves=True, restores=True)
    _OPTIONS: ClassVar[tuple[str, ...]] = ("max_n", "bits", "texts")

    def __init__(self, max_n: int = 4, bits: int = 22, texts: str = "apart") -> None:
        self._options = NgramOptions(max_n=max_n, bits=bits, texts=texts)

    @property
    def backend(self) -> str:
        """The core of this package, with its version."""
        return BACKEND

    @property
    def options(self) -> dict[str, str | int | float | bool]:
        """The settings that are not searched over."""
        return {name: getattr(self._options, name) for name in self._OPTIONS}

    @property
    def search_space(self) -> SearchSpace:
        """Passes over the training set, the first step's rate, and the weight of the penalty."""
        return _SEARCH_SPACE

    @property
    def presets(self) -> Mapping[str, Params]:
        """The paper's five epochs, without a penalty."""
        return _PRESETS

    def check_params(self, params: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with some hyperparameters, each with its name."""
        return check_against_space(params, _SEARCH_SPACE, allowed=_ALLOWED)

    def encode(
        self, splits: Mapping[str, SplitTexts], text_columns: Sequence[str]
    ) -> dict[str, EncodedSplit]:
        """Hash the n-grams of every split; those of ``"train"`` are columns."""
        return encode_ngrams(splits, text_columns, self._options)

    def load_store(self, arrays: Mapping[str, NDArray[Any]]) -> NgramRows:
        """Make a store again from its arrays."""
        return NgramRows.from_arrays(arrays)

    def fit(
        self,
        train: EncodedRows,
        valid: EncodedRows | None,  # noqa: ARG002 - the number of epochs is a hyperparameter
        *,
        params: Params,
        n_classes: int,
        seed: int,
        n_threads: int = 1,
    ) -> NgramClassifier:
        """Minimise the mean log-loss plus l2 / 2 times the squared norm of the weights."""
        from ietest_fast.philox import philox_key
        from ietest_fast.runtime import load_core

        params = normalise_params(params, _SEARCH_SPACE)
        store = cast("NgramRows", train.store)
        weights, intercepts = load_core().linear.train_softmax(
            store.offsets,
            store.columns,
            store.sizes,
            n_columns=len(store.buckets),
            chosen=np.ascontiguousarray(train.rows, dtype=np.int64),
            labels=np.ascontiguousarray(train.labels, dtype=np.int8),
            n_classes=n_classes,
            epochs=int(params["epochs"]),
            learning_rate=float(params["learning_rate"]),
            l2=float(params["l2"]),
            key=philox_key(seed),
        )
        return NgramClassifier(
            buckets=np.asarray(store.buckets),
            weights=weights,
            intercepts=intercepts,
            options=self._options,
            n_texts=store.n_texts,
            n_threads=n_threads,
        )

    def restore(self, folder: Path, *, params: Params, n_threads: int = 1) -> NgramClassifier:  # noqa: ARG002 - weights are all it needs
        """Return a classifier that was saved."""
        found, _ = read_ngram_classifier(folder, expected=self._options)
        return replace(found, n_threads=n_threads)
