"""Logistic regression: the linear classifiers of adversarial filtering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.evaluation.row_blocks import blocks, take_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
