"""What people look at: summaries, figures, the page, files for a paper, samples to mark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.report.contents import Contents as Contents
    from ietest_fast.report.contents import gather as gather
    from ietest_fast.report.figures import write_figures as write_figures
    from ietest_fast.report.page_builder import build_page as build_page
    from ietest_fast.report.paper import write_for_paper as write_for_paper
    from ietest_fast.report.runs import FinishedRun as FinishedRun
    from ietest_fast.report.runs import read_run as read_run
    from ietest_fast.report.runs import read_runs as read_runs
    from ietest_fast.report.summary import print_summary as print_summary

__all__ = [
    "Contents",
    "FinishedRun",
    "build_page",
    "gather",
    "print_summary",
    "read_run",
    "read_runs",
    "write_figures",
    "write_for_paper",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Contents": "contents",
        "FinishedRun": "runs",
        "build_page": "page_builder",
        "gather": "contents",
        "print_summary": "summary",
        "read_run": "runs",
        "read_runs": "runs",
        "write_figures": "figures",
        "write_for_paper": "paper",
    },
)
