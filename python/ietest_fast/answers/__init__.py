"""The table of answers: items by versions, read from logs or asked of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.answers.asking import ModelAnswers as ModelAnswers
    from ietest_fast.answers.asking import evaluate as evaluate
    from ietest_fast.answers.logs import read_predictions as read_predictions
    from ietest_fast.answers.table import ORIGINAL as ORIGINAL
    from ietest_fast.answers.table import Pairs as Pairs
    from ietest_fast.answers.table import Predictions as Predictions

__all__ = [
    "ORIGINAL",
    "ModelAnswers",
    "Pairs",
    "Predictions",
    "evaluate",
    "read_predictions",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ORIGINAL": "table",
        "Pairs": "table",
        "Predictions": "table",
        "read_predictions": "logs",
        "ModelAnswers": "asking",
        "evaluate": "asking",
    },
)
