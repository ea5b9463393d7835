"""Configuration, search, the run and its store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.experiment.config import RunConfig as RunConfig
    from ietest_fast.experiment.config import check_config as check_config
    from ietest_fast.experiment.config import read_config as read_config
    from ietest_fast.experiment.data import Splits as Splits
    from ietest_fast.experiment.finished import FinishedRun as FinishedRun
    from ietest_fast.experiment.finished import read_run as read_run
    from ietest_fast.experiment.finished import read_runs as read_runs
    from ietest_fast.experiment.judge import sign as sign
    from ietest_fast.experiment.schema import RunResult as RunResult

__all__ = [
    "FinishedRun",
    "RunConfig",
    "RunResult",
    "Splits",
    "check_config",
    "read_config",
    "read_run",
    "read_runs",
    "sign",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "FinishedRun": "finished",
        "RunConfig": "config",
        "RunResult": "schema",
        "Splits": "data",
        "check_config": "config",
        "read_config": "config",
        "read_run": "finished",
        "read_runs": "finished",
        "sign": "judge",
    },
)
