"""Word alignment by edit distance: the ALIGN baseline of Naik et al. (2018).

After MacCartney's bag-of-words alignment (2009): each word of the hypothesis is aligned with the
premise's word that is most like it in spelling. How well that works is summed up for each kind of
word, and a logistic regression weighs the kinds; Naik et al. weight words by their part of speech
where MacCartney weights them by how rare they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.lexicon.token_table import offsets_of
from ietest_fast.models.classifiers import softmax
from ietest_fast.models.protocol import (
    Bounds,
    Capabilities,
    EncodedRows,
    EncodedSplit,
    FixedSpace,
    FloatRange,
    Params,
    RowStore,
    SearchSpace,
    SplitTexts,
    normalise_params,
)
from ietest_fast.models.tokens import Rows, pool_texts, spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.lexicon.token_table import TokenTags

# Kinds of words that weigh alike; the last one takes what is in none, but for marks and blanks.
_KINDS = (("NOUN", "PROPN"), ("VERB",), ("ADJ", "ADV"), ("NUM",))
_PASSED_OVER = ("PUNCT", "SPACE", "SYM")
N_KINDS = len(_KINDS) + 1

# The weight of the squared Euclidean norm of the coefficients.
_SEARCH_SPACE: SearchSpace = {"l2": FloatRange(low=1e-5, high=0.1)}
_ALLOWED: Mapping[str, Bounds] = {"l2": Bounds(low=0)}
# Hardly any shrinkage.
_PRESETS: Mapping[str, Params] = {"default": {"l2": 1e-3}}

# Pairs of words that are compared at once, some 70 bytes for each.
_WORDS_AT_ONCE = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Alignments:
    """How well the words of each hypothesis are found in its premise."""

    features: NDArray[np.float32]
    """float32, shape (rows, 2 * :data:`N_KINDS`): for each kind of word the mean similarity, then
    for each kind the least; 1 where a hypothesis has no such word."""

    def __len__(self) -> int:
        return len(self.features)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give the arrays that the store consists of."""
        return {"features": self.features}


@dataclass(frozen=True, kw_only=True)
class _Words:
    """The words of n texts: numbers of words and of their kinds, text after text."""

    offsets: NDArray[np.int64]
    word: NDArray[np.int64]
    kind: NDArray[np.int64]
    spelling: list[str]

    @classmethod
    def read(cls, texts: Sequence[str], tags: TokenTags) -> _Words:
        from ietest_fast.lexicon.token_table import UPOS

        kind_of = np.full(len(UPOS), N_KINDS - 1)
        for kind, names in enumerate(_KINDS):
            kind_of[[UPOS.index(name) for name in names]] = kind
        kind_of[[UPOS.index(name) for name in _PASSED_OVER]] = -1
        kinds = kind_of[tags.pos]
        number_of: dict[str, int] = {}
        words = np.empty(len(tags.start), dtype=np.int64)
        spans = np.stack((tags.start, tags.end), axis=1).tolist()
        for i, text in enumerate(texts):
            data = text.encode()
            for place in range(tags.offsets[i], tags.offsets[i + 1]):
                begin, end = spans[place]
                word = data[begin:end].decode().lower()
                words[place] = number_of.setdefault(word, len(number_of))
        kept = kinds >= 0
        before = np.concatenate(([0], np.cumsum(kept)))
        return cls(
            offsets=before[tags.offsets],
            word=words[kept],
            kind=kinds[kept],
            spelling=list(number_of),
        )


def similarity(a: str, b: str) -> float:
    """Say how like two words are: 1 less the edit distance over the length of the longer."""
    from ietest_fast.runtime import load_core

    distance: int = load_core().text.edit_distance(a, b)
    return 1.0 - distance / max(len(a), len(b), 1)


def _align(
    words: _Words,
    premise: NDArray[np.int64],
    hypothesis: NDArray[np.int64],
    *,
    at_once: int = _WORDS_AT_ONCE,
) -> NDArray[np.float32]:
    """Return the features of pairs of texts, shape (pairs, 2 * N_KINDS)."""
    lengths = np.diff(words.offsets)
    # Every word of a hypothesis is an entry, even if its premise has none.
    sizes = np.maximum(lengths[premise], 1) * lengths[hypothesis]
    runs = Rows(offsets=offsets_of(sizes)).runs(at_once)
    return np.concatenate(
        [_align_at_once(words, premise[begin:end], hypothesis[begin:end]) for begin, end in runs]
    )


def _align_at_once(
    words: _Words, premise: NDArray[np.int64], hypothesis: NDArray[np.int64]
) -> NDArray[np.float32]:
    n_premise = words.offsets[premise + 1] - words.offsets[premise]
    n_hypothesis = words.offsets[hypothesis + 1] - words.offsets[hypothesis]
    # One row for each word of each hypothesis ...
    pair = np.repeat(np.arange(len(premise)), n_hypothesis)
    place = spread(words.offsets[hypothesis], n_hypothesis)
    # ... and one entry for each word of the premise that it is compared with.
    row = np.repeat(np.arange(len(pair)), n_premise[pair])
    against = words.word[spread(words.offsets[premise][pair], n_premise[pair])]
    key = words.word[place][row] * len(words.spelling) + against
    distinct, which = np.unique(key, return_inverse=True)
    found = np.array(
        [
            similarity(words.spelling[a], words.spelling[b])
            for a, b in zip(*divmod(distinct, len(words.spelling)), strict=True)
        ]
    )
    best = np.zeros(len(pair))
    np.maximum.at(best, row, found[which] if len(found) else found)
    kind = words.kind[place]
    cell = pair * N_KINDS + kind
    shape = (len(premise), N_KINDS)
    count = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    total = np.bincount(cell, weights=best, minlength=shape[0] * shape[1]).reshape(shape)
    mean = np.where(count > 0, total / np.maximum(count, 1), 1.0)
    least = np.ones(shape[0] * shape[1])
    np.minimum.at(least, cell, best)
    return np.concatenate((mean, least.reshape(shape)), axis=1).astype(np.float32)


@dataclass(frozen=True, kw_only=True)
class AlignmentClassifier:
    """A fitted multinomial logistic regression over alignments."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    """float64, shape (features,): features are standardised."""
    weights: NDArray[np.float64]
    """float64, shape (features + 1, n_classes), the last row the intercepts."""

    def predict_proba(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Predict class probabilities, float32, shape (len(rows), n_classes)."""
        features = _standardise(cast("Alignments", store).features[rows], self.mean, self.scale)
        return softmax((features @ self.weights).astype(np.float32))

    def predict(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """Predict labels, int8, shape (len(rows),); of equally likely ones the lowest."""
        labels: NDArray[np.int8] = self.predict_proba(store, rows).argmax(axis=1).astype(np.int8)
        return labels


def _standardise(
    features: NDArray[Any], mean: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    standard = (features - mean) / scale
    return np.concatenate((standard, np.ones((len(features), 1))), axis=1)


class Alignment(FixedSpace):
    """Word alignment by edit distance and a logistic regression over kinds of words.

    Notes
    -----
    Training has one optimum: classifiers of one resample are the same whatever their seed.
    """

    name = "align"
    _SPACE = _SEARCH_SPACE
    _ALLOWED = _ALLOWED
    _PRESETS = _PRESETS
    capabilities = Capabilities()

    def __init__(self, tagger: str = "") -> None:
        from ietest_fast.lexicon import Tagger

        self._tagger_name = tagger or None
        with Tagger.load(self._tagger_name) as loaded:
            self._fingerprint = loaded.fingerprint

    @property
    def backend(self) -> str:
        """SciPy with its version."""
        import scipy

        return f"scipy {scipy.__version__}"

    @property
    def options(self) -> dict[str, str | int | float | bool]:
        """The settings that are not searched over; the tagger counts by what is in it."""
        return {"tagger": self._fingerprint}

    def encode(
        self, splits: Mapping[str, SplitTexts], text_columns: Sequence[str]
    ) -> dict[str, EncodedSplit]:
        """Align every pair, in all versions; nothing is learnt for it."""
        from ietest_fast.lexicon import Tagger

        if len(text_columns) != 2:
            raise InputError(
                f"the model {self.name!r} compares two texts; it has {', '.join(text_columns)}"
            )
        distinct, inputs = pool_texts(
            {name: split.versions for name, split in splits.items()}, text_columns
        )
        with Tagger.load(self._tagger_name) as tagger:
            words = _Words.read(distinct.to_pylist(), tagger.tag(distinct))
        encoded = {}
        for name, each in inputs.items():
            encoded[name] = EncodedSplit(
                store=Alignments(features=_align(words, *each.codes)),
                versions=each.versions,
                labels=splits[name].labels,
            )
        return encoded

    def load_store(self, arrays: Mapping[str, NDArray[Any]]) -> Alignments:
        """Make a store again from its arrays."""
        return Alignments(features=arrays["features"])

    def fit(
        self,
        train: EncodedRows,
        valid: EncodedRows | None,  # noqa: ARG002 - there is nothing to stop early
        *,
        params: Params,
        n_classes: int,
        seed: int,  # noqa: ARG002 - there is one optimum
        n_threads: int = 1,
    ) -> AlignmentClassifier:
        """Minimise the mean log-loss plus l2 / 2 times the squared norm of the coefficients."""
        from scipy.optimize import minimize
        from scipy.special import logsumexp
        from threadpoolctl import threadpool_limits

        l2 = float(normalise_params(params, _SEARCH_SPACE)["l2"])
        features = np.asarray(cast("Alignments", train.store).features[train.rows], np.float64)
        mean, scale = features.mean(axis=0), features.std(axis=0)
        scale[scale == 0.0] = 1.0
        x = _standardise(features, mean, scale)
        wanted = np.eye(n_classes)[train.labels]
        shape = (x.shape[1], n_classes)

        def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            weights = flat.reshape(shape)
            scores = x @ weights
            log_p = scores - logsumexp(scores, axis=1, keepdims=True)
            penalised = weights.copy()
            penalised[-1] = 0.0
            value = -np.mean(np.sum(wanted * log_p, axis=1)) + l2 / 2 * np.sum(penalised**2)
            gradient = x.T @ (np.exp(log_p) - wanted) / len(x) + l2 * penalised
            return float(value), gradient.ravel()

        with threadpool_limits(n_threads):
            found = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B")
        return AlignmentClassifier(mean=mean, scale=scale, weights=found.x.reshape(shape))
