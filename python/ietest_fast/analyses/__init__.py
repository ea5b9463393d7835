"""One wing for each question: what answers to several versions of the same items show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names
from ietest_fast.registry import Registry, lacks_methods

if TYPE_CHECKING:
    from pathlib import Path

    from ietest_fast.analyses.compare.profile import Comparison as Comparison
    from ietest_fast.analyses.compare.profile import compare_versions as compare_versions
    from ietest_fast.analyses.consistency.buckets import Buckets as Buckets
    from ietest_fast.analyses.consistency.buckets import buckets_from_table as buckets_from_table
    from ietest_fast.analyses.consistency.buckets import read_buckets as read_buckets
    from ietest_fast.analyses.consistency.making import make_buckets as make_buckets
    from ietest_fast.analyses.consistency.paranlu import read_paranlu as read_paranlu
    from ietest_fast.analyses.consistency.paranlu import read_paranlu_texts as read_paranlu_texts
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile as ConsistencyProfile
    from ietest_fast.analyses.consistency.wordings import Wordings as Wordings
    from ietest_fast.analyses.consistency.wordings import find_confidence as find_confidence
    from ietest_fast.analyses.consistency.wordings import find_wordings as find_wordings
    from ietest_fast.analyses.difficulty.aflite import filter_adversarially as filter_adversarially
    from ietest_fast.analyses.masked.answers import MaskedAnswers as MaskedAnswers
    from ietest_fast.analyses.masked.answers import read_masked_log as read_masked_log
    from ietest_fast.analyses.masked.items import MaskedItems as MaskedItems
    from ietest_fast.analyses.masked.items import masked_items_from_table as masked_items_from_table
    from ietest_fast.analyses.masked.items import read_masked_items as read_masked_items
    from ietest_fast.analyses.masked.summary import MaskedSummary as MaskedSummary
    from ietest_fast.analyses.masked.summary import score_masked as score_masked
    from ietest_fast.analyses.masked.summary import summarise_masked as summarise_masked
    from ietest_fast.analyses.masked.summary import train_and_score as train_and_score
    from ietest_fast.report.contents import FileSource

__all__ = [
    "SOURCES",
    "Buckets",
    "Comparison",
    "ConsistencyProfile",
    "MaskedAnswers",
    "MaskedItems",
    "MaskedSummary",
    "Wordings",
    "buckets_from_table",
    "compare_versions",
    "filter_adversarially",
    "find_confidence",
    "find_source",
    "find_wordings",
    "make_buckets",
    "masked_items_from_table",
    "read_buckets",
    "read_masked_items",
    "read_masked_log",
    "read_paranlu",
    "read_paranlu_texts",
    "score_masked",
    "summarise_masked",
    "train_and_score",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "filter_adversarially": "difficulty.aflite",
        "Buckets": "consistency.buckets",
        "Comparison": "compare.profile",
        "compare_versions": "compare.profile",
        "ConsistencyProfile": "consistency.profile",
        "make_buckets": "consistency.making",
        "MaskedAnswers": "masked.answers",
        "read_masked_log": "masked.answers",
        "MaskedItems": "masked.items",
        "masked_items_from_table": "masked.items",
        "read_masked_items": "masked.items",
        "train_and_score": "masked.summary",
        "score_masked": "masked.summary",
        "MaskedSummary": "masked.summary",
        "summarise_masked": "masked.summary",
        "read_paranlu": "consistency.paranlu",
        "read_paranlu_texts": "consistency.paranlu",
        "buckets_from_table": "consistency.buckets",
        "read_buckets": "consistency.buckets",
        "Wordings": "consistency.wordings",
        "find_confidence": "consistency.wordings",
        "find_wordings": "consistency.wordings",
    },
)


SOURCES: Registry[type[FileSource]] = Registry(
    group="ietest_fast.sources",
    builtin={
        "stress": "ietest_fast.analyses.stress.page:StressSource",
        "logic": "ietest_fast.analyses.logic.page:LogicSource",
        "consistency": "ietest_fast.analyses.consistency.page:ConsistencySource",
        "evaluations": "ietest_fast.analyses.compare.page:EvaluationSource",
    },
    noun="source",
    check=lacks_methods(
        "sources of reports",
        "recognises",
        "read",
        "findings",
        "sections",
        "to_dict",
        see="ietest_fast.report.contents.FileSource",
    ),
)
"""Sources by name, in the order of the page. A name of another package stands behind these."""


def find_source(path: Path) -> str | None:
    """Return the name of the source that a file is of; None for none.

    Those of other packages are asked first: to the last built-in one every table of predictions is
    its own.
    """
    names = SOURCES.names()
    others = [name for name in names if name not in SOURCES.builtin]
    for name in (*others, *SOURCES.builtin):
        if SOURCES.find(name).recognises(path):
            return name
    return None
