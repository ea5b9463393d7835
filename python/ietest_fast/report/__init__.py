"""What people look at: tables, charts, sections, the page, files for a paper, the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.report.contents import Contents, gather
    from ietest_fast.report.page_builder import build_page, write_for_paper

__all__ = [
    "Contents",
    "build_page",
    "gather",
    "write_for_paper",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Contents": "contents",
        "build_page": "page_builder",
        "gather": "contents",
        "write_for_paper": "page_builder",
    },
)
