"""Finished models and their logs: answers to several versions of the same items, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.evaluation.predictions import ORIGINAL as ORIGINAL
    from ietest_fast.evaluation.predictions import Pairs as Pairs
    from ietest_fast.evaluation.predictions import Predictions as Predictions

__all__ = ["ORIGINAL", "Pairs", "Predictions"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {"ORIGINAL": "predictions", "Pairs": "predictions", "Predictions": "predictions"},
)
