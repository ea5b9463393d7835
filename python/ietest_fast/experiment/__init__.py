"""Configuration, search, the run and its store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.experiment.config import RunConfig as RunConfig
    from ietest_fast.experiment.config import check_config as check_config
    from ietest_fast.experiment.config import read_config as read_config
    from ietest_fast.experiment.data import Splits as Splits
    from ietest_fast.experiment.judge import sign as sign
    from ietest_fast.experiment.schema import RunResult as RunResult

__all__ = [
    "RunConfig",
    "RunResult",
    "Splits",
    "check_config",
    "read_config",
    "sign",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "RunConfig": "config",
        "RunResult": "schema",
        "Splits": "data",
        "check_config": "config",
        "read_config": "config",
        "sign": "judge",
    },
)
