"""Finished models and their logs: answers to several versions of the same items, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.evaluation.comparison import Comparison as Comparison
    from ietest_fast.evaluation.comparison import compare_versions as compare_versions
    from ietest_fast.evaluation.predictions import ORIGINAL as ORIGINAL
    from ietest_fast.evaluation.predictions import Pairs as Pairs
    from ietest_fast.evaluation.predictions import Predictions as Predictions
    from ietest_fast.evaluation.reading import read_predictions as read_predictions
    from ietest_fast.evaluation.running import Evaluation as Evaluation
    from ietest_fast.evaluation.running import evaluate as evaluate

__all__ = [
    "ORIGINAL",
    "Comparison",
    "Evaluation",
    "Pairs",
    "Predictions",
    "compare_versions",
    "evaluate",
    "read_predictions",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Comparison": "comparison",
        "Evaluation": "running",
        "evaluate": "running",
        "ORIGINAL": "predictions",
        "Pairs": "predictions",
        "Predictions": "predictions",
        "compare_versions": "comparison",
        "read_predictions": "reading",
    },
)
