"""AFLite: which items linear classifiers find easy (Le Bras et al. 2020; Sakaguchi et al. 2020)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.errors import InputError, shorten_error
from ietest_fast.philox import philox_key
from ietest_fast.runtime import n_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray


# Rows of large matrices, some at a time.

ROWS_AT_ONCE = 1_024
"""Rows of a block."""

MOST_FEATURE = np.float64(1e50)
"""The largest number that is computed with: its square, and sums of squares, are numbers, too."""


def are_features(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Say of each value whether it is a number that can be computed with."""
    return np.asarray(np.abs(values) <= MOST_FEATURE)


def blocks(n: int) -> Iterator[slice]:
    """Give the blocks of n rows, in their order."""
    for begin in range(0, n, ROWS_AT_ONCE):
        yield slice(begin, min(begin + ROWS_AT_ONCE, n))


def take_rows(features: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows as float64.

    Beside the result, it holds the rows of one block.
    """
    if hasattr(features, "tocsr"):
        return features[rows].astype(np.float64, copy=False)
    taken = np.empty((len(rows), features.shape[1]))
    for block in blocks(len(rows)):
        taken[block] = features[rows[block]]
    return taken


# Bags of words as features of linear classifiers.


def count_word_features(columns: Sequence[pa.ChunkedArray], *, min_texts: int = 2) -> Any:
    """Return which words stand in which texts, as features for linear classifiers."""
    import scipy.sparse as sp

    from ietest_fast.corpus.description import find_incidence

    if not columns or len({len(column) for column in columns}) > 1:
        raise InputError("word features need at least one column, all of the same length")
    parts = []
    for column in columns:
        found = find_incidence(column)
        kept = np.bincount(found.word, minlength=len(found.words)) >= min_texts
        place = np.cumsum(kept) - 1
        mine = kept[found.word]
        parts.append(
            sp.csr_array(
                (np.ones(int(mine.sum())), (found.row[mine], place[found.word[mine]])),
                shape=(len(column), int(kept.sum())),
            )
        )
    joined = sp.hstack(parts, format="csr")
    if joined.shape[1] == 0:
        raise InputError(f"no word stands in {min_texts} texts; lower min_texts")
    return joined


# Logistic regression: the linear classifiers of adversarial filtering.


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearClassifier:
    """A linear classifier of k classes."""

    classes: NDArray[np.int64]
    """int64 (k,): the codes of the classes that it has seen."""
    weights: NDArray[np.float64]
    """float64 (d, r): r is 1 for two classes, k for more, 0 for one."""
    intercepts: NDArray[np.float64]
    """float64 (r,)."""
    has_converged: bool = True
    """Whether fitting ended at a minimum; otherwise at the most steps, or where no step lowered the
    loss."""

    def predict(self, features: Any, rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return the code of the likeliest class of each row; of equals the first."""
        which = np.arange(features.shape[0]) if rows is None else rows
        n_outputs = self.weights.shape[1]
        best = np.zeros(len(which), np.int64)
        for block in blocks(len(which) if n_outputs else 0):
            own = take_rows(features, which[block])
            scores = np.asarray(own @ self.weights) + self.intercepts
            best[block] = scores[:, 0] > 0 if n_outputs == 1 else scores.argmax(axis=1)
        predicted: NDArray[np.int64] = self.classes[best]
        return predicted


def fit_logistic(
    features: Any,
    labels: NDArray[np.int64],
    *,
    inverse_penalty: float = 1.0,
    tolerance: float = 1e-5,
    max_steps: int = 1_000,
) -> LinearClassifier:
    """Fit a (multinomial) logistic regression with a quadratic penalty.

    It minimises C · Σ loss + ½ ‖w‖², where C is `inverse_penalty` and intercepts are free, by
    L-BFGS: of two classes with one vector of weights, of more with one for each class, as
    scikit-learn's ``LogisticRegression`` does. A class without rows is never predicted.
    """
    from scipy.optimize import minimize

    classes, codes = np.unique(labels, return_inverse=True)
    n, d = features.shape
    n_outputs = 0 if len(classes) == 1 else 1 if len(classes) == 2 else len(classes)
    if n_outputs == 0:
        return LinearClassifier(classes=classes, weights=np.zeros((d, 0)), intercepts=np.zeros(0))
    penalty = 1.0 / (inverse_penalty * n)
    rows = np.arange(n)

    def objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat[: d * n_outputs].reshape(d, n_outputs)
        scores = np.asarray(features @ weights) + flat[d * n_outputs :]
        if n_outputs == 1:
            signs = 2.0 * codes - 1.0
            margin = signs * scores[:, 0]
            loss = np.logaddexp(0.0, -margin).sum()
            slope = (-signs * _expit(-margin))[:, None]
        else:
            scores = scores - scores.max(axis=1, keepdims=True)
            exponents = np.exp(scores)
            sums = exponents.sum(axis=1, keepdims=True)
            loss = (np.log(sums[:, 0]) - scores[rows, codes]).sum()
            slope = exponents / sums
            slope[rows, codes] -= 1.0
        gradient = np.empty_like(flat)
        gradient[: d * n_outputs] = (
            np.asarray(features.T @ slope) / n + penalty * weights
        ).reshape(-1)
        gradient[d * n_outputs :] = slope.sum(axis=0) / n
        return float(loss / n + 0.5 * penalty * (weights * weights).sum()), gradient

    found = minimize(
        objective,
        np.zeros((d + 1) * n_outputs),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_steps, "maxfun": 2 * max_steps, "gtol": tolerance, "ftol": 1e-15},
    )
    return LinearClassifier(
        classes=classes,
        weights=found.x[: d * n_outputs].reshape(d, n_outputs),
        intercepts=found.x[d * n_outputs :],
        has_converged=bool(found.success),
    )


def _expit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import expit

    made: NDArray[np.float64] = expit(x)
    return made


# What AFLite finds: a score for each item, and what each round did.

End = Literal["slice", "target", "training"]


@dataclass(frozen=True, kw_only=True)
class FilteringRound:
    """One round: classifiers trained on random parts of what was left."""

    n_before: int
    """Items that were left when it began."""
    n_removed: int
    """Items that it removed."""
    n_unscored: int
    """Items that stood in every classifier's training part, so that they have no score."""
    accuracy: float
    """Share of all out-of-sample predictions that were right."""
    n_not_converged: int = 0
    """Classifiers whose fit ended before it had reached a minimum; features of very different sizes
    make such."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Difficulty:
    """Which items are easy, and which difficult."""

    score: NDArray[np.float64]
    """float64 (n,): the share of classifiers that predict an item's label without having been
    trained on it, the mean over the rounds that scored it; NaN where none did."""
    easy: NDArray[np.bool_]
    """bool (n,): whether that mean is above `tau`, which is how the published code of Srikanth et
    al. (2024) divides items; the text of their section 4 has it the other way round. Items without
    a score are neither easy nor difficult."""
    removed_in: NDArray[np.int64]
    """int64 (n,): the round, from 1, that filtered an item out; 0 for those that are left."""
    n_rounds_scored: NDArray[np.int64]
    """int64 (n,): rounds that scored an item."""
    rounds: tuple[FilteringRound, ...]
    """What each round did."""
    tau: float
    """The threshold."""
    ended: End
    """Why filtering ended: a round found fewer than a slice of items above the threshold
    (``"slice"``), the size of the target was reached (``"target"``), or no more items were left
    than a classifier is trained on (``"training"``)."""

    def __len__(self) -> int:
        return len(self.score)

    @property
    def is_left(self) -> NDArray[np.bool_]:
        """Which items the filter left, bool (n,): the filtered data set of the original method."""
        left: NDArray[np.bool_] = self.removed_in == 0
        return left

    @property
    def n_unscored(self) -> int:
        """Items without a score."""
        return int((self.n_rounds_scored == 0).sum())

    @property
    def n_not_converged(self) -> int:
        """Classifiers of all rounds whose fit ended before it had reached a minimum."""
        return sum(each.n_not_converged for each in self.rounds)

    @property
    def difficult(self) -> NDArray[np.bool_]:
        """Which items have a score that is not above `tau`, bool (n,)."""
        found: NDArray[np.bool_] = (self.n_rounds_scored > 0) & ~self.easy
        return found

    @property
    def names(self) -> NDArray[np.object_]:
        """``"easy"``, ``"difficult"`` or, without a score, None (n,): a column to group by."""
        found = np.full(len(self), None, dtype=object)
        found[self.easy], found[self.difficult] = "easy", "difficult"
        return found


def filter_adversarially(
    features: Any,
    labels: Any,
    *,
    n_train: int,
    n_classifiers: int = 64,
    tau: float = 0.75,
    slice_size: int = 500,
    target_size: int = 0,
    groups: Any = None,
    inverse_penalty: float = 1.0,
    seed: int = 0,
    n_threads: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Difficulty:
    """Find easy items by AFLite (algorithm 1 of Le Bras et al. 2020).

    In each round, `n_classifiers` logistic regressions are trained on random parts of the items
    that are left, and each predicts the labels of the others. An item's score is the share of the
    right ones among its predictions. The `slice_size` items with the highest scores of at least
    `tau` are removed, of equal scores those that come first; this is repeated until a round finds
    fewer. The defaults are those of Sakaguchi et al. (2020), who train on 10,000 items; Srikanth et
    al. (2024) train on 5,000.

    Parameters
    ----------
    features
        Shape (n, d): embeddings from any encoder, or a sparse matrix such as
        :func:`ietest_fast.analyses.difficulty.aflite.count_word_features` gives.
    labels
        Shape (n,): integers or strings.
    n_train
        Items that each classifier is trained on; fewer than n.
    n_classifiers
        Classifiers in each round, at least 1.
    tau
        Threshold of scores, in (0, 1].
    slice_size
        The most items that a round removes (k).
    target_size
        Filtering ends when so many items are left; no fewer are. Fewer than n.
    groups
        Shape (n,): items of one group, such as the updates of one premise and hypothesis, are
        trained on together or predicted together. A training part then grows, group by group, to at
        least `n_train` items. None: each item by itself.
    inverse_penalty
        C of the regressions; see :func:`ietest_fast.analyses.difficulty.aflite.fit_logistic`.
    seed
        Of the random parts; 0 or more.
    n_threads
        Threads, each with a classifier; None for all cores. Makes no difference to the result.
    on_progress
        Called with the number of classifiers that were trained.

    Returns
    -------
    Difficulty

    Raises
    ------
    InputError
        If arrays have other shapes, values are missing or not finite, all labels or the
        features of all items are the same, an option is out of its range, or no item has a score
        because every classifier was trained on all of them.

    Notes
    -----
    Features are neither copied nor converted, unless they are no array of numbers yet. A thread
    computes with float64: its training part, and otherwise 1,024 rows at a time. Of dense features
    the peak beside them is about
    ``n_threads * 8 * d * (n_train + 2_048) + 100 * (n_threads + 1) * n`` bytes, where a training
    part of whole groups can have more rows than `n_train`. Of sparse features, d is the mean number
    of entries of a row, and an entry takes 16 bytes instead of 8. To this come, for each thread,
    200 numbers of 8 bytes for each weight of a classifier.
    """
    matrix = _check_features(features)
    n = matrix.shape[0]
    codes = _number(labels, n, "labels")
    if codes.max() == 0:
        raise InputError("labels: all are the same; classifiers need two or more")
    group_codes = None if groups is None else _number(groups, n, "groups")
    _check_options(
        n=n,
        n_train=n_train,
        n_classifiers=n_classifiers,
        tau=tau,
        slice_size=slice_size,
        target_size=target_size,
        seed=seed,
        inverse_penalty=inverse_penalty,
    )
    left = np.arange(n)
    total, n_scored = np.zeros(n), np.zeros(n, np.int64)
    removed_in = np.zeros(n, np.int64)
    rounds: list[FilteringRound] = []
    ended: End = "target"
    while len(left) > target_size:
        if len(left) <= n_train:
            ended = "training"
            break
        right, asked, n_not_converged = _predict_out_of_sample(
            matrix,
            codes,
            group_codes,
            left,
            n_train=n_train,
            n_classifiers=n_classifiers,
            inverse_penalty=inverse_penalty,
            address=(philox_key(seed), len(rounds)),
            n_threads=n_threads,
            on_progress=on_progress,
        )
        has_score = asked > 0
        score = np.divide(right, asked, out=np.zeros(len(left)), where=has_score)
        total[left] += score
        n_scored[left] += has_score
        order = np.argsort(-score, kind="stable")
        most = min(slice_size, len(left) - target_size)
        chosen = order[(score[order] >= tau) & has_score[order]][:most]
        removed_in[left[chosen]] = len(rounds) + 1
        rounds.append(
            FilteringRound(
                n_before=len(left),
                n_removed=len(chosen),
                n_unscored=int((~has_score).sum()),
                accuracy=float(right.sum() / max(asked.sum(), 1)),
                n_not_converged=n_not_converged,
            )
        )
        left = left[removed_in[left] == 0]
        if len(chosen) < most:
            ended = "slice"
            break
    if not n_scored.any():
        raise InputError(_say_why_no_score(n, group_codes, n_train, n_classifiers))
    mean = np.divide(total, n_scored, out=np.full(n, np.nan), where=n_scored > 0)
    return Difficulty(
        score=mean,
        easy=np.nan_to_num(mean, nan=-1.0) > tau,
        removed_in=removed_in,
        n_rounds_scored=n_scored,
        rounds=tuple(rounds),
        tau=tau,
        ended=ended,
    )


def draw_training_part(
    n: int,
    groups: NDArray[np.int64] | None,
    *,
    n_train: int,
    key: NDArray[np.uint64],
    number: int,
    classifier: int,
) -> NDArray[np.bool_]:
    """Draw which of `n` items a classifier is trained on, bool (n,)."""
    counter = np.array([0, classifier, number, 0], np.uint64)
    rng = np.random.Generator(np.random.Philox(key=key, counter=counter))
    taken = np.zeros(n, np.bool_)
    if groups is None:
        taken[rng.permutation(n)[:n_train]] = True
        return taken
    codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)[1:]
    order = rng.permutation(len(sizes))
    n_groups = int(np.searchsorted(np.cumsum(sizes[order]), n_train)) + 1
    chosen: NDArray[np.bool_] = np.isin(codes, order[:n_groups])
    return chosen


def _predict_out_of_sample(
    features: Any,
    labels: NDArray[np.int64],
    groups: NDArray[np.int64] | None,
    left: NDArray[np.int64],
    *,
    n_train: int,
    n_classifiers: int,
    inverse_penalty: float,
    address: tuple[NDArray[np.uint64], int],
    n_threads: int | None,
    on_progress: Callable[[int], None] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Count right predictions and all of them of each item left, int64 each, and failed fits."""
    # Loaded before it is limited: a library that comes later is not.
    import scipy.optimize  # noqa: F401
    from threadpoolctl import threadpool_limits

    n = len(left)
    groups_left = None if groups is None else groups[left]
    key, number = address

    def train(classifier: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_], bool]:
        """Return which items were predicted, which of these rightly, and whether the fit ended."""
        taken = draw_training_part(
            n, groups_left, n_train=n_train, key=key, number=number, classifier=classifier
        )
        rows, others = left[taken], left[~taken]
        fitted = fit_logistic(
            take_rows(features, rows), labels[rows], inverse_penalty=inverse_penalty
        )
        is_right = np.zeros(n, np.bool_)
        is_right[~taken] = fitted.predict(features, others) == labels[others]
        return ~taken, is_right, fitted.has_converged

    right, asked = np.zeros(n, np.int64), np.zeros(n, np.int64)
    n_not_converged = 0
    n_workers = min(n_threads or n_cores(), n_classifiers)
    # One BLAS thread each: sums in another order would make other weights.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_workers) as pool:
        made = pool.map(train, range(n_classifiers))
        for done, (is_other, is_right, has_converged) in enumerate(made, start=1):
            n_not_converged += not has_converged
            asked += is_other
            right += is_right
            if on_progress is not None:
                on_progress(number * n_classifiers + done)
    return right, asked, n_not_converged


def _say_why_no_score(
    n: int, groups: NDArray[np.int64] | None, n_train: int, n_classifiers: int
) -> str:
    if groups is None:
        return (
            f"no item has a score: {n_classifiers:,} classifiers that are trained on {n_train:,} "
            f"of {n:,} items leave none; lower n_train or raise n_classifiers"
        )
    sizes = np.bincount(groups)
    return (
        f"no item has a score: the {n:,} items are in {len(sizes):,} group(s), the largest of "
        f"{int(sizes.max()):,}, and every classifier was trained on all; lower n_train (now "
        f"{n_train:,}) or group by a column with more values"
    )


def _check_features(features: Any) -> Any:
    """Return features as they are, dense or in compressed rows, if all are finite numbers."""
    if hasattr(features, "tocsr"):
        matrix = features.tocsr()
        values = matrix.data
    else:
        matrix = values = np.asarray(features)
        if not np.can_cast(matrix.dtype, np.float64):
            try:
                matrix = values = np.asarray(features, dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise InputError(f"features: are not numbers: {error}") from error
    if matrix.ndim != 2 or 0 in matrix.shape:
        shape = " x ".join(map(str, matrix.shape))
        raise InputError(f"features: have the shape {shape}; a row for each item expected")
    n_wrong = sum(int((~are_features(values[block])).sum()) for block in blocks(len(values)))
    if n_wrong:
        raise InputError(
            f"features: {n_wrong:,} values are missing, infinite or beyond {MOST_FEATURE:.0e}"
        )
    if _are_all_same(matrix, is_dense=matrix is values):
        raise InputError(
            "features: all items have the same, which tell nothing about them; were they computed "
            "from the texts, and do these differ?"
        )
    return matrix


def _are_all_same(matrix: Any, *, is_dense: bool) -> bool:
    """Say whether no column has two values; columns of zeros and ones are seldom all looked at."""
    if is_dense:
        return all((matrix[block] == matrix[0]).all() for block in blocks(len(matrix)))
    if (matrix[[0]] != matrix[[-1]]).count_nonzero():
        return False
    return bool((matrix.max(axis=0) != matrix.min(axis=0)).count_nonzero() == 0)


def _number(values: Any, n: int, name: str) -> NDArray[np.int64]:
    """Return the numbers of values, in the order of their first appearance, int64 (n,)."""
    import pyarrow as pa

    try:
        column = (
            values if isinstance(values, pa.ChunkedArray) else pa.array(values, from_pandas=True)
        )
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(
            f"{name}: are neither numbers nor texts: {shorten_error(error)}"
        ) from error
    if len(column) != n:
        raise InputError(f"{name}: there are {len(column):,}, and features of {n:,} items")
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise InputError(
            f"{name}: row {row} has none, and so {column.null_count:,} of {n:,}; every item needs "
            "one"
        )
    return np.asarray(column.indices, dtype=np.int64)


def _check_options(*, n: int, tau: float, seed: int, inverse_penalty: float, **counts: int) -> None:
    for name, value in counts.items():
        if type(value) is not int:
            raise InputError(f"{name}: must be an integer, not {value!r}")
    n_train = counts["n_train"]
    if not 2 <= n_train < n:
        raise InputError(
            f"n_train (--train-size): must be at least 2 and less than the number of items, {n:,}, "
            f"not {n_train:,}"
        )
    if counts["target_size"] >= n:
        raise InputError(
            f"target_size: must be less than the number of items, {n:,}, not "
            f"{counts['target_size']:,}; otherwise there is nothing to filter"
        )
    if not 0 < tau <= 1:
        raise InputError(f"tau: must be more than 0 and at most 1, not {tau}")
    if not inverse_penalty > 0:
        raise InputError(f"inverse_penalty: must be more than 0, not {inverse_penalty}")
    if isinstance(seed, bool) or seed < 0:
        raise InputError(f"seed: must be 0 or more, not {seed}")
    for name, value in counts.items():
        least = 0 if name == "target_size" else 1
        if value < least:
            raise InputError(f"{name}: must be at least {least}, not {value}")
