"""What people look at of an experiment: summaries, tables, figures, sections of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.experiment.view.charts import write_figures as write_figures
    from ietest_fast.experiment.view.sections import RunsSource as RunsSource
    from ietest_fast.experiment.view.summary import print_summary as print_summary

__all__ = [
    "RunsSource",
    "print_summary",
    "write_figures",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "RunsSource": "sections",
        "print_summary": "summary",
        "write_figures": "charts",
    },
)
