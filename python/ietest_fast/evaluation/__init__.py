"""Finished models and their logs: answers to several versions of the same items, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.evaluation.aflite import filter_adversarially as filter_adversarially
    from ietest_fast.evaluation.buckets import Buckets as Buckets
    from ietest_fast.evaluation.comparison import Comparison as Comparison
    from ietest_fast.evaluation.comparison import compare_versions as compare_versions
    from ietest_fast.evaluation.consistency_profile import (
        ConsistencyProfile as ConsistencyProfile,
    )
    from ietest_fast.evaluation.making_buckets import make_buckets as make_buckets
    from ietest_fast.evaluation.masked_answers import MaskedAnswers as MaskedAnswers
    from ietest_fast.evaluation.masked_answers import read_masked_log as read_masked_log
    from ietest_fast.evaluation.masked_items import MaskedItems as MaskedItems
    from ietest_fast.evaluation.masked_items import (
        masked_items_from_table as masked_items_from_table,
    )
    from ietest_fast.evaluation.masked_items import read_masked_items as read_masked_items
    from ietest_fast.evaluation.masked_run import train_and_score as train_and_score
    from ietest_fast.evaluation.masked_scoring import score_masked as score_masked
    from ietest_fast.evaluation.masked_summary import MaskedSummary as MaskedSummary
    from ietest_fast.evaluation.masked_summary import summarise_masked as summarise_masked
    from ietest_fast.evaluation.paranlu import read_paranlu as read_paranlu
    from ietest_fast.evaluation.paranlu import read_paranlu_texts as read_paranlu_texts
    from ietest_fast.evaluation.predictions import ORIGINAL as ORIGINAL
    from ietest_fast.evaluation.predictions import Pairs as Pairs
    from ietest_fast.evaluation.predictions import Predictions as Predictions
    from ietest_fast.evaluation.reading import read_predictions as read_predictions
    from ietest_fast.evaluation.reading_buckets import buckets_from_table as buckets_from_table
    from ietest_fast.evaluation.reading_buckets import read_buckets as read_buckets
    from ietest_fast.evaluation.running import Evaluation as Evaluation
    from ietest_fast.evaluation.running import evaluate as evaluate
    from ietest_fast.evaluation.wordings import Wordings as Wordings
    from ietest_fast.evaluation.wordings import find_confidence as find_confidence
    from ietest_fast.evaluation.wordings import find_wordings as find_wordings

__all__ = [
    "ORIGINAL",
    "Buckets",
    "Comparison",
    "ConsistencyProfile",
    "Evaluation",
    "MaskedAnswers",
    "MaskedItems",
    "MaskedSummary",
    "Pairs",
    "Predictions",
    "Wordings",
    "buckets_from_table",
    "compare_versions",
    "evaluate",
    "filter_adversarially",
    "find_confidence",
    "find_wordings",
    "make_buckets",
    "masked_items_from_table",
    "read_buckets",
    "read_masked_items",
    "read_masked_log",
    "read_paranlu",
    "read_paranlu_texts",
    "read_predictions",
    "score_masked",
    "summarise_masked",
    "train_and_score",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Buckets": "buckets",
        "buckets_from_table": "reading_buckets",
        "compare_versions": "comparison",
        "Comparison": "comparison",
        "ConsistencyProfile": "consistency_profile",
        "evaluate": "running",
        "Evaluation": "running",
        "filter_adversarially": "aflite",
        "make_buckets": "making_buckets",
        "MaskedAnswers": "masked_answers",
        "MaskedItems": "masked_items",
        "MaskedSummary": "masked_summary",
        "masked_items_from_table": "masked_items",
        "read_masked_items": "masked_items",
        "read_masked_log": "masked_answers",
        "score_masked": "masked_scoring",
        "summarise_masked": "masked_summary",
        "train_and_score": "masked_run",
        "ORIGINAL": "predictions",
        "Pairs": "predictions",
        "Predictions": "predictions",
        "Wordings": "wordings",
        "find_confidence": "wordings",
        "find_wordings": "wordings",
        "read_paranlu": "paranlu",
        "read_paranlu_texts": "paranlu",
        "read_buckets": "reading_buckets",
        "read_predictions": "reading",
    },
)
