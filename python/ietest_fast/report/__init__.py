"""Tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.report.figures import write_figures as write_figures
    from ietest_fast.report.summary import print_summary as print_summary

__all__ = ["print_summary", "write_figures"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {"print_summary": "summary", "write_figures": "figures"},
)
