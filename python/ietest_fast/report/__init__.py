"""Tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ietest_fast.report.figures import write_figures as write_figures
    from ietest_fast.report.summary import print_summary as print_summary

_LAZY = {"print_summary": "summary", "write_figures": "figures"}

__all__ = ["print_summary", "write_figures"]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
