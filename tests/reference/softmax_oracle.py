"""Stochastic gradient descent for multinomial logistic regression, the obvious and slow way."""

from __future__ import annotations

import numpy as np

from ietest_fast.philox import philox_words

# Third word of the counter of the core's orders.
ORDER_STREAM = 64


def draw_order(key, epoch, n):
    """Shuffle 0 to n - 1 by Fisher and Yates, from the last place down."""
    words = philox_words(key, max(n - 1, 0), replicate=epoch, stream=ORDER_STREAM)
    order = list(range(n))
    for left, word in zip(range(n, 1, -1), words, strict=True):
        place = int(word) * left >> 64
        order[left - 1], order[place] = order[place], order[left - 1]
    return order


def train(x, labels, *, n_classes, epochs, learning_rate, l2, key):
    """Take a step for each row: x float64 (n, columns), dense; returns weights and intercepts."""
    weights = np.zeros((x.shape[1], n_classes))
    intercepts = np.zeros(n_classes)
    n = len(x)
    for epoch in range(epochs):
        for i, row in enumerate(draw_order(key, epoch, n)):
            rate = learning_rate * (1 - (epoch * n + i) / (epochs * n))
            scores = x[row] @ weights + intercepts
            p = np.exp(scores - scores.max())
            p /= p.sum()
            error = p - (np.arange(n_classes) == labels[row])
            weights -= rate * (l2 * weights + np.outer(x[row], error))
            intercepts -= rate * error
    return weights, intercepts
