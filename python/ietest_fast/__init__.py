"""Test whether a text classifier changes its mind when a sentence is rephrased.

The names below are loaded when they are first used, so that ``import ietest_fast`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ietest_fast.errors import IetestError as IetestError
    from ietest_fast.runtime import build_config as build_config

_LAZY = {
    "IetestError": "ietest_fast.errors",
    "build_config": "ietest_fast.runtime",
}

__all__ = ["IetestError", "__version__", "build_config"]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
