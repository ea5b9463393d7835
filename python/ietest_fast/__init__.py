"""Test whether a text classifier changes its mind when a sentence is rephrased.

The names below are loaded when they are first used, so that ``import ietest_fast`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ietest_fast.errors import IetestError as IetestError
    from ietest_fast.runtime import build_config as build_config

__all__ = ["IetestError", "__version__", "build_config"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "IetestError": "errors",
        "build_config": "runtime",
    },
    subpackages=(
        "corpus",
        "errors",
        "evaluation",
        "experiment",
        "lexicon",
        "models",
        "report",
        "stats",
        "transform",
    ),
)
