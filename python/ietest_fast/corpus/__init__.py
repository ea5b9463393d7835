"""Reading and checking datasets; the built-in demonstration corpus.

The names below are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.corpus.dataset import Corpus as Corpus
    from ietest_fast.corpus.dataset import DataGeneratingProcess as DataGeneratingProcess
    from ietest_fast.corpus.dataset import corpus_from_table as corpus_from_table
    from ietest_fast.corpus.dataset import require_trainable as require_trainable
    from ietest_fast.corpus.demo.sentences import demo_batches as demo_batches
    from ietest_fast.corpus.demo.sentences import demo_corpus as demo_corpus
    from ietest_fast.corpus.demo.sentences import demo_splits as demo_splits
    from ietest_fast.corpus.description import Description as Description
    from ietest_fast.corpus.description import Overlap as Overlap
    from ietest_fast.corpus.description import describe as describe
    from ietest_fast.corpus.description import find_overlap as find_overlap
    from ietest_fast.corpus.dialects import reading_csv as reading_csv
    from ietest_fast.corpus.reading import read_corpora as read_corpora
    from ietest_fast.corpus.reading import read_corpus as read_corpus
    from ietest_fast.corpus.reading import split as split
    from ietest_fast.corpus.reasoning import read_alpha_nli as read_alpha_nli
    from ietest_fast.corpus.reasoning import read_delta_nli as read_delta_nli
    from ietest_fast.corpus.streams import BatchReader as BatchReader
    from ietest_fast.corpus.streams import BatchWriter as BatchWriter
    from ietest_fast.corpus.streams import open_batches as open_batches

__all__ = [
    "BatchReader",
    "BatchWriter",
    "Corpus",
    "DataGeneratingProcess",
    "Description",
    "Overlap",
    "corpus_from_table",
    "demo_batches",
    "demo_corpus",
    "demo_splits",
    "describe",
    "find_overlap",
    "open_batches",
    "read_alpha_nli",
    "read_corpora",
    "read_corpus",
    "read_delta_nli",
    "reading_csv",
    "require_trainable",
    "split",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "BatchReader": "streams",
        "BatchWriter": "streams",
        "Corpus": "dataset",
        "DataGeneratingProcess": "dataset",
        "Description": "description",
        "Overlap": "description",
        "corpus_from_table": "dataset",
        "demo_batches": "demo.sentences",
        "demo_corpus": "demo.sentences",
        "demo_splits": "demo.sentences",
        "describe": "description",
        "find_overlap": "description",
        "open_batches": "streams",
        "read_alpha_nli": "reasoning",
        "read_corpora": "reading",
        "read_corpus": "reading",
        "read_delta_nli": "reasoning",
        "reading_csv": "dialects",
        "require_trainable": "dataset",
        "split": "reading",
    },
)
