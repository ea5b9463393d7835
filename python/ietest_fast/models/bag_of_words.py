"""Bag of words and trees: the paper's baseline (section 4.4, appendix B, Table 7), and a forest.

Words are counted as the published baseline counts them: "premise hypothesis" as one text, lower
case, runs of two and more word characters. The vocabulary is that of the training set in all its
versions; in a resample some of its columns are empty, which changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.protocol import (
    Bounds,
    Capabilities,
    EncodedRows,
    EncodedSplit,
    FixedSpace,
    FloatRange,
    IntegerRange,
    Params,
    RowStore,
    SearchSpace,
    SplitTexts,
    normalise_params,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    import scipy.sparse as sp
    import xgboost as xgb
    from numpy.typing import NDArray

_TWENTIETHS = FloatRange(low=0.05, high=1.0, step=0.05)

# Table 7. The paper's "Reg gamma" is XGBoost's `gamma`.
_SEARCH_SPACE: SearchSpace = {
    "n_estimators": IntegerRange(low=10, high=30),
    "max_depth": IntegerRange(low=2, high=20),
    "reg_alpha": _TWENTIETHS,
    "gamma": _TWENTIETHS,
    "learning_rate": _TWENTIETHS,
    "subsample": _TWENTIETHS,
    "colsample_bytree": _TWENTIETHS,
}

# What XGBoost can do with; the search keeps to a part of it.
_ALLOWED: Mapping[str, Bounds] = {
    "n_estimators": Bounds(low=1),
    "max_depth": Bounds(low=1),
    "reg_alpha": Bounds(low=0),
    "gamma": Bounds(low=0),
    "learning_rate": Bounds(low=0, high=1, low_included=False),
    "subsample": Bounds(low=0, high=1, low_included=False),
    "colsample_bytree": Bounds(low=0, high=1, low_included=False),
}

_PRESETS: dict[str, Params] = {
    "table7-snli": {
        "n_estimators": 26,
        "max_depth": 15,
        "reg_alpha": 0.65,
        "gamma": 0.15,
        "learning_rate": 0.55,
        "subsample": 1.0,
        "colsample_bytree": 0.95,
    },
    "table7-mnli": {
        "n_estimators": 29,
        "max_depth": 8,
        "reg_alpha": 0.75,
        "gamma": 0.7,
        "learning_rate": 0.4,
        "subsample": 1.0,
        "colsample_bytree": 0.9,
    },
}

# A leaf needs a hessian of 1 (XGBoost's min_child_weight), and a row's is at most 1/2 under
# multi:softprob: a word found in a single row can never be split on.
_MIN_ROWS_TO_SPLIT = 2


@dataclass(frozen=True, kw_only=True)
class WordCounts:
    """Word counts of texts in compressed sparse rows, columns ascending within a row."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    """int32 or int64 (the same of both), shapes (rows + 1,) and (entries,)."""
    counts: NDArray[np.float32]
    """float32, shape (entries,)."""
    n_words: int
    """Number of columns."""

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give the arrays that the store consists of."""
        return {
            "indptr": self.indptr,
            "indices": self.indices,
            "counts": self.counts,
            "n_words": np.array([self.n_words], dtype=np.int64),
        }

    def matrix(self) -> sp.csr_matrix:
        """Give the counts as a SciPy matrix, without copying them."""
        import scipy.sparse as sp

        return sp.csr_matrix(
            (self.counts, self.indices, self.indptr), shape=(len(self), self.n_words), copy=False
        )


@dataclass(frozen=True, kw_only=True)
class _Words:
    """The words of n texts: which text, and which entry of a list of distinct words."""

    n_texts: int
    text: NDArray[np.int64]
    code: NDArray[np.int64]
    distinct: pa.Array


def _find_words(table: pa.Table, text_columns: Sequence[str]) -> _Words:
    import pyarrow as pa
    import pyarrow.compute as pc

    # large_string: a joined column of a big corpus passes the 2 GiB that `string` can address.
    columns = [pc.cast(table[name], pa.large_string()).combine_chunks() for name in text_columns]
    joined = columns[0]
    if len(columns) > 1:
        joined = pc.binary_join_element_wise(*columns, pa.scalar(" ", pa.large_string()))
    # RE2's \w is ASCII only; these are the characters of Python's.
    pieces = pc.split_pattern_regex(pc.utf8_lower(joined), r"[^\p{L}\p{N}_]+")
    lengths = pc.list_value_length(pieces).to_numpy(zero_copy_only=False)
    words = pc.list_flatten(pieces)
    long_enough = pc.greater_equal(pc.utf8_length(words), 2)
    text = np.repeat(np.arange(len(joined), dtype=np.int64), lengths)
    encoded = words.filter(long_enough).dictionary_encode()
    return _Words(
        n_texts=len(joined),
        text=text[long_enough.to_numpy(zero_copy_only=False)],
        code=encoded.indices.to_numpy().astype(np.int64),
        distinct=encoded.dictionary,
    )


def _count(words: _Words, vocabulary: pa.Array) -> sp.csr_matrix:
    import pyarrow.compute as pc
    import scipy.sparse as sp

    column_of = pc.fill_null(pc.index_in(words.distinct, value_set=vocabulary), -1)
    columns = column_of.to_numpy(zero_copy_only=False)[words.code]
    known = columns >= 0
    counts = sp.csr_matrix(
        (np.ones(int(known.sum()), np.float32), (words.text[known], columns[known])),
        shape=(words.n_texts, len(vocabulary)),
    )
    counts.sum_duplicates()
    return counts


def _equal_rows(a: sp.csr_matrix, b: sp.csr_matrix) -> NDArray[np.bool_]:
    """Say which rows of two canonical matrices are equal."""
    same_length = np.diff(a.indptr) == np.diff(b.indptr)
    candidates = np.flatnonzero(same_length)
    left, right = a[candidates], b[candidates]
    unequal = (left.indices != right.indices) | (left.data != right.data)
    before = np.concatenate(([0], np.cumsum(unequal)))
    equal = np.zeros(a.shape[0], dtype=bool)
    equal[candidates] = before[left.indptr[1:]] == before[left.indptr[:-1]]
    return equal


def _encode_split(versions: Mapping[str, sp.csr_matrix], labels: NDArray[np.int8]) -> EncodedSplit:
    """Stack the versions' rows; a row that an earlier version of the observation has is shared."""
    import scipy.sparse as sp

    parts: list[sp.csr_matrix] = []
    rows: dict[str, NDArray[np.int64]] = {}
    n_stored = 0
    for name, matrix in versions.items():
        here = np.full(len(labels), -1, dtype=np.int64)
        for earlier in rows:
            same = (here < 0) & _equal_rows(versions[earlier], matrix)
            here[same] = rows[earlier][same]
        new = np.flatnonzero(here < 0)
        here[new] = n_stored + np.arange(len(new), dtype=np.int64)
        n_stored += len(new)
        parts.append(matrix if len(new) == len(labels) else matrix[new])
        rows[name] = here
    stacked = sp.vstack(parts, format="csr")
    return EncodedSplit(
        store=WordCounts(
            indptr=stacked.indptr,
            indices=stacked.indices,
            counts=stacked.data,
            n_words=stacked.shape[1],
        ),
        versions=rows,
        labels=labels,
    )


def inverse_document_frequency(counts: sp.csr_matrix) -> NDArray[np.float64]:
    """Smooth idf, ln((1 + n) / (1 + df)) + 1, and 0 for a word that no text has."""
    n, n_words = counts.shape
    df = np.bincount(counts.indices, minlength=n_words)
    return np.where(df > 0, np.log((1 + n) / (1 + df)) + 1.0, 0.0)


def weight_tfidf(counts: sp.csr_matrix, idf: NDArray[np.float64]) -> sp.csr_matrix:
    """Multiply counts by idf and scale each row to Euclidean length 1 (rows of zeros stay so)."""
    import scipy.sparse as sp

    data = counts.data * idf[counts.indices]
    lengths = np.diff(counts.indptr)
    row = np.repeat(np.arange(counts.shape[0]), lengths)
    norms = np.sqrt(np.bincount(row, weights=data * data, minlength=counts.shape[0]))
    norms[norms == 0.0] = 1.0
    weighted = (data / norms[row]).astype(np.float32)
    return sp.csr_matrix((weighted, counts.indices, counts.indptr), shape=counts.shape)


@dataclass(frozen=True, kw_only=True)
class _Features:
    """From word counts to the matrix that the trees see."""

    columns: NDArray[np.int64]
    n_words: int
    idf: NDArray[np.float64] | None

    @classmethod
    def learn(cls, counts: sp.csr_matrix, *, tfidf: bool) -> _Features:
        df = np.bincount(counts.indices, minlength=counts.shape[1])
        columns = np.flatnonzero(df >= _MIN_ROWS_TO_SPLIT)
        if len(columns) == 0:
            columns = np.arange(counts.shape[1])
        return cls(
            columns=columns.astype(np.int64),
            n_words=counts.shape[1],
            idf=inverse_document_frequency(counts) if tfidf else None,
        )

    def apply(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        weighted = counts if self.idf is None else weight_tfidf(counts, self.idf)
        return _keep_columns(weighted, self.columns)


def _keep_columns(matrix: sp.csr_matrix, columns: NDArray[np.int64]) -> sp.csr_matrix:
    """Do as ``matrix[:, columns]`` for ascending columns, in one pass over the entries."""
    import scipy.sparse as sp

    new_index = np.full(matrix.shape[1], -1, dtype=matrix.indices.dtype)
    new_index[columns] = np.arange(len(columns), dtype=matrix.indices.dtype)
    indices = new_index[matrix.indices]
    kept = indices >= 0
    before = np.concatenate(([0], np.cumsum(kept, dtype=matrix.indptr.dtype)))
    return sp.csr_matrix(
        (matrix.data[kept], indices[kept], before[matrix.indptr].astype(matrix.indptr.dtype)),
        shape=(matrix.shape[0], len(columns)),
    )


def _select(store: RowStore, rows: NDArray[np.int64]) -> sp.csr_matrix:
    return cast("WordCounts", store).matrix()[rows]


@dataclass(frozen=True, kw_only=True, eq=False)
class BagOfWordsClassifier:
    """Boosted trees over word counts, fitted."""

    booster: xgb.Booster
    features: _Features

    def predict_proba(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Predict class probabilities, float32, shape (len(rows), n_classes)."""
        matrix = self.features.apply(_select(store, rows))
        return cast("NDArray[np.float32]", self.booster.inplace_predict(matrix))

    def predict(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """Predict labels, int8, shape (len(rows),); of equally likely ones the lowest."""
        labels: NDArray[np.int8] = self.predict_proba(store, rows).argmax(axis=1).astype(np.int8)
        return labels


class _BagOfWords(FixedSpace):
    """Word counts (or TF-IDF) and trees of XGBoost's ``multi:softprob``.

    Subclasses say which trees, and what is searched over.
    """

    capabilities = Capabilities()
    _MAY_BE_EXACT: ClassVar[bool] = True

    def __init__(self, weighting: str = "count") -> None:
        if weighting not in {"count", "tfidf"}:
            raise InputError(f'weighting must be "count" or "tfidf", not {weighting!r}')
        self._weighting = weighting

    @staticmethod
    def _plant(params: Params) -> tuple[Params, int]:
        """Give XGBoost's parameters, and its number of boosting rounds."""
        raise NotImplementedError

    @property
    def backend(self) -> str:
        """XGBoost with its version."""
        import xgboost as xgb

        return f"xgboost {xgb.__version__}"

    @property
    def options(self) -> dict[str, str | int | float | bool]:
        """The settings that are not searched over."""
        return {"weighting": self._weighting}

    def encode(
        self, splits: Mapping[str, SplitTexts], text_columns: Sequence[str]
    ) -> dict[str, EncodedSplit]:
        """Count the words of every split over the vocabulary of ``"train"``, all versions."""
        import pyarrow as pa
        import pyarrow.compute as pc

        words = {
            name: {
                version: _find_words(table, text_columns)
                for version, table in split.versions.items()
            }
            for name, split in splits.items()
        }
        train = words["train"].values()
        vocabulary = pc.unique(pa.concat_arrays([part.distinct for part in train]))
        vocabulary = vocabulary.take(pc.sort_indices(vocabulary))
        if len(vocabulary) == 0:
            raise InputError("the training texts contain no word of at least two letters")
        return {
            name: _encode_split(
                {version: _count(each, vocabulary) for version, each in versions.items()},
                splits[name].labels,
            )
            for name, versions in words.items()
        }

    def load_store(self, arrays: Mapping[str, NDArray[Any]]) -> WordCounts:
        """Make a store again from its arrays."""
        return WordCounts(
            indptr=arrays["indptr"],
            indices=arrays["indices"],
            counts=arrays["counts"],
            n_words=int(arrays["n_words"][0]),
        )

    def fit(
        self,
        train: EncodedRows,
        valid: EncodedRows | None,  # noqa: ARG002 - boosting rounds are a hyperparameter here
        *,
        params: Params,
        n_classes: int,
        seed: int,
        n_threads: int = 1,
    ) -> BagOfWordsClassifier:
        """Train the trees; the validation set is not used (the paper's training does not)."""
        import xgboost as xgb

        counts = _select(train.store, train.rows)
        features = _Features.learn(counts, tfidf=self._weighting == "tfidf")
        tree_params, n_rounds = self._plant(normalise_params(params, self._SPACE))
        # Counts have few values, so histograms are small. TF-IDF has nearly as many values as
        # entries: there the exact search over sorted entries is two to three times as fast.
        exact = features.idf is not None and self._MAY_BE_EXACT
        matrix = features.apply(counts)
        data = (xgb.DMatrix if exact else xgb.QuantileDMatrix)(
            matrix, train.labels, nthread=n_threads
        )
        booster = xgb.train(
            {
                **tree_params,
                "objective": "multi:softprob",
                "num_class": n_classes,
                "tree_method": "exact" if exact else "hist",
                "nthread": n_threads,
                "seed": seed,
                "verbosity": 0,
            },
            data,
            num_boost_round=n_rounds,
        )
        return BagOfWordsClassifier(booster=booster, features=features)


class BagOfWordsXGBoost(_BagOfWords):
    """Word counts (or TF-IDF) and gradient boosting.

    Notes
    -----
    Columns that no tree could ever use (words in a single row of the resample) are left out of
    training; trees are the same without them, but for which columns ``colsample_bytree`` draws.
    """

    name = "bow-xgb"
    _SPACE = _SEARCH_SPACE
    _ALLOWED = _ALLOWED
    _PRESETS = _PRESETS

    @staticmethod
    def _plant(params: Params) -> tuple[Params, int]:
        trees = dict(params)
        return trees, int(trees.pop("n_estimators"))


class BagOfWordsForest(_BagOfWords):
    """Word counts (or TF-IDF) and a random forest, the baseline of the thesis's chapter 3.

    Notes
    -----
    The forest is XGBoost's: each tree sees a share `subsample` of the rows, drawn without
    replacement, and each split a share `colsample_bynode` of the words; trees are averaged in log
    odds, and splits are chosen by the second-order gain instead of Gini's index.
    """

    name = "bow-rf"
    _MAY_BE_EXACT = False  # the exact search cannot choose among words anew at every split
    _SPACE: ClassVar[SearchSpace] = {
        "n_estimators": IntegerRange(low=50, high=200),
        "max_depth": IntegerRange(low=10, high=40),
        "subsample": FloatRange(low=0.5, high=0.9, step=0.05),
        "colsample_bynode": FloatRange(low=0.05, high=0.5, step=0.05),
    }
    _ALLOWED: ClassVar[Mapping[str, Bounds]] = {
        "n_estimators": Bounds(low=1),
        "max_depth": Bounds(low=1),
        "subsample": Bounds(low=0, high=1, low_included=False),
        "colsample_bynode": Bounds(low=0, high=1, low_included=False),
    }
    _PRESETS: ClassVar[Mapping[str, Params]] = {
        # A bootstrap sample holds 63% of the rows.
        "default": {
            "n_estimators": 100,
            "max_depth": 30,
            "subsample": 0.63,
            "colsample_bynode": 0.1,
        }
    }

    @staticmethod
    def _plant(params: Params) -> tuple[Params, int]:
        trees = dict(params)
        trees["num_parallel_tree"] = trees.pop("n_estimators")
        # One round of full step, and leaves that are hardly shrunk: the mean of grown trees.
        return {**trees, "learning_rate": 1.0, "reg_lambda": 1e-5}, 1
