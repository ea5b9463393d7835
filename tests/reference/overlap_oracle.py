"""Overlap of two texts, as it is defined: sets, multisets and tables of distances."""

from __future__ import annotations

import functools
import itertools
import math
import unicodedata
from collections import Counter


def words_of(text):
    found = []
    for word in text.lower().split():
        kept = [i for i, c in enumerate(word) if unicodedata.category(c)[0] in "LN"]
        if kept:
            found.append(word[kept[0] : kept[-1] + 1])
    return found


def characters_of(text):
    plain = " ".join(text.lower().split())
    return list(f" {plain} ") if plain else []


def jaccard(a, b):
    union = set(a) | set(b)
    return len(set(a) & set(b)) / len(union) if union else 1.0


def grams(sequence, size):
    return Counter(tuple(sequence[i : i + size]) for i in range(len(sequence) - size + 1))


def gram_overlap(a, b, size):
    left, right = grams(a, size), grams(b, size)
    total = sum(left.values()) + sum(right.values())
    if total == 0:
        return float(list(a) == list(b))
    return 2 * sum((left & right).values()) / total


def bleu(reference, hypothesis):
    if not reference and not hypothesis:
        return 1.0
    orders = min(4, len(hypothesis))
    logs = []
    for size in range(1, orders + 1):
        have = grams(hypothesis, size)
        matches = sum((have & grams(reference, size)).values())
        added = int(size > 1)
        precision = (matches + added) / (sum(have.values()) + added)
        if precision == 0:
            return 0.0
        logs.append(math.log(precision))
    if not logs:
        return 0.0
    brevity = min(1.0, math.exp(1 - len(reference) / len(hypothesis)))
    return brevity * math.exp(sum(logs) / orders)


def edit_distance(a, b):
    if not a and not b:
        return 0.0
    table = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        above, table[0] = table[0], i
        for j, y in enumerate(b, start=1):
            above, table[j] = table[j], min(above + (x != y), table[j] + 1, table[j - 1] + 1)
    return table[-1] / max(len(a), len(b))


@functools.cache
def common_letters(a, b):
    """Length of the longest common subsequence."""
    if not a or not b:
        return 0
    if a[0] == b[0]:
        return 1 + common_letters(a[1:], b[1:])
    return max(common_letters(a[1:], b), common_letters(a, b[1:]))


def bag_distance(a, b):
    """The smallest sum over all ways to match words one to one, tried one by one."""
    few, many = sorted((a, b), key=len)
    if not many:
        return 0.0

    def cost(v, w):
        edits = len(v) + len(w) - 2 * common_letters(v, w)
        return 2 * edits / (len(v) + len(w))

    least = min(
        sum(cost(v, w) for v, w in zip(few, chosen, strict=True))
        for chosen in itertools.permutations(many, len(few))
    )
    return (len(many) - len(few) + least) / (len(a) + len(b))
