"""AFLite item by item, with logistic regressions by Newton's method."""

from __future__ import annotations

import numpy as np


def fit_slowly(features, labels, inverse_penalty=1.0):
    """Minimise C · Σ loss + ½ ‖w‖² with the whole Hessian; give (weights, intercepts)."""
    classes = sorted(set(labels.tolist()))
    n, d = features.shape
    wide = np.hstack([features, np.ones((n, 1))])
    if len(classes) == 2:
        y = (labels == classes[1]).astype(float)
        w = np.zeros(d + 1)
        ridge = np.diag([1.0] * d + [0.0])
        for _ in range(100):
            p = 1 / (1 + np.exp(-(wide @ w)))
            gradient = inverse_penalty * wide.T @ (p - y) + ridge @ w
            hessian = inverse_penalty * (wide.T * (p * (1 - p))) @ wide + ridge
            step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
            w = w - step
            if np.abs(step).max() < 1e-12:
                break
        return classes, w[:d, None], w[d:]
    k = len(classes)
    onehot = np.array([[float(label == c) for c in classes] for label in labels.tolist()])
    w = np.zeros((d + 1, k))
    ridge = np.kron(np.diag([1.0] * d + [0.0]), np.eye(k))
    for _ in range(200):
        z = wide @ w
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        gradient = inverse_penalty * wide.T @ (p - onehot)
        gradient[:d] += w[:d]
        hessian = ridge.copy()
        for i in range(n):
            block = np.diag(p[i]) - np.outer(p[i], p[i])
            hessian += inverse_penalty * np.kron(np.outer(wide[i], wide[i]), block)
        step = np.linalg.lstsq(hessian, gradient.reshape(-1), rcond=1e-10)[0].reshape(d + 1, k)
        w = w - step
        if np.abs(step).max() < 1e-12:
            break
    return classes, w[:d], w[d]


def predict_slowly(fitted, row):
    classes, weights, intercepts = fitted
    scores = row @ weights + intercepts
    if len(classes) == 2:
        return classes[int(scores[0] > 0)]
    return classes[int(np.argmax(scores))]


def filter_slowly(features, labels, draw_part, *, n_train, n_classifiers, tau, slice_size, target):
    """Give the mean scores, and the round that each item is removed in (0: none)."""
    n = len(labels)
    left = list(range(n))
    scores: dict[int, list[float]] = {i: [] for i in range(n)}
    removed = [0] * n
    number = 0
    while len(left) > target and len(left) > n_train:
        predictions: dict[int, list[int]] = {i: [] for i in left}
        for j in range(n_classifiers):
            taken = draw_part(left, number, j)
            train = [i for i, t in zip(left, taken, strict=True) if t]
            fitted = fit_slowly(features[train], labels[train])
            for i, t in zip(left, taken, strict=True):
                if not t:
                    predictions[i].append(predict_slowly(fitted, features[i]))
        now = {}
        for i in left:
            if predictions[i]:
                now[i] = sum(p == labels[i] for p in predictions[i]) / len(predictions[i])
                scores[i].append(now[i])
        ranked = sorted((i for i in now if now[i] >= tau), key=lambda i: (-now[i], i))
        most = min(slice_size, len(left) - target)
        number += 1
        for i in ranked[:most]:
            removed[i] = number
        left = [i for i in left if removed[i] == 0]
        if len(ranked) < most:
            break
    return [np.mean(s) if s else np.nan for s in scores.values()], removed
