"""Test whether a text classifier changes its mind when a sentence is rephrased.

>>> import ietest_fast as ie

``ie.evaluate`` tests a finished classifier, ``ie.stress`` runs it on stress tests,
``ie.consistency`` measures how alike it answers paraphrases, ``ie.consistency_curve`` shows that
over the amount of data, ``ie.run`` trains it again and again on rephrased data (the whole IE test),
``ie.paired_test`` tests right and wrong answers or scores, ``ie.transform`` rephrases texts, and
``ie.read_predictions`` reads what evaluation harnesses write.
Everything else is in the packages below, such as :mod:`ietest_fast.stats`.

The names are loaded when they are first used, so that ``import ietest_fast`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

__version__ = "0.1.0"

NO_REWORDINGS = ("ietest_fast.analyses.logic.notes:LogicNotes",)
"""Kinds of notes of answers whose versions are no rewordings of each other. They stand here since
``answers``, which refuses such files, lies below the wings and knows none by name."""

if TYPE_CHECKING:
    from ietest_fast.answers import read_predictions
    from ietest_fast.api import consistency, consistency_curve, evaluate, run, stress
    from ietest_fast.corpus import reading_csv
    from ietest_fast.errors import IetestError
    from ietest_fast.runtime import build_config
    from ietest_fast.stats import PairedCounts, paired_test
    from ietest_fast.transform.files import TransformRoom

    transform: TransformRoom

__all__ = [
    "IetestError",
    "PairedCounts",
    "__version__",
    "build_config",
    "consistency",
    "consistency_curve",
    "evaluate",
    "paired_test",
    "read_predictions",
    "reading_csv",
    "run",
    "stress",
    "transform",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "IetestError": "errors",
        "PairedCounts": "stats",
        "build_config": "runtime",
        "consistency": "api",
        "consistency_curve": "api",
        "evaluate": "api",
        "paired_test": "stats",
        "read_predictions": "answers",
        "reading_csv": "corpus",
        "run": "api",
        "stress": "api",
    },
    subpackages=(
        "analyses",
        "answers",
        "corpus",
        "errors",
        "experiment",
        "lexicon",
        "models",
        "report",
        "stats",
        "transform",
    ),
)
