"""Bags of words and TF-IDF, slowly: dictionaries, and the formulas as they stand in textbooks."""

from __future__ import annotations

import math
import re
from collections import Counter

_WORD = re.compile(r"\b\w\w+\b")


def count_words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))


def learn_idf(texts: list[str]) -> dict[str, float]:
    n = len(texts)
    found = Counter(word for text in texts for word in count_words(text))
    return {word: math.log((1 + n) / (1 + df)) + 1 for word, df in found.items()}


def weigh_tfidf(text: str, idf: dict[str, float]) -> dict[str, float]:
    weights = {word: count * idf[word] for word, count in count_words(text).items() if word in idf}
    norm = math.sqrt(sum(weight * weight for weight in weights.values()))
    return {word: weight / norm for word, weight in weights.items()}
