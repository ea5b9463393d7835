"""Configuration, resampling, search, the run and its store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ietest_fast.experiment.config import RunConfig as RunConfig
    from ietest_fast.experiment.config import check_config as check_config
    from ietest_fast.experiment.config import read_config as read_config
    from ietest_fast.experiment.data import Splits as Splits
    from ietest_fast.experiment.resample import DataGeneratingProcess as DataGeneratingProcess
    from ietest_fast.experiment.results import RunResult as RunResult
    from ietest_fast.experiment.signature import sign as sign

_LAZY = {
    "DataGeneratingProcess": "resample",
    "RunConfig": "config",
    "RunResult": "results",
    "Splits": "data",
    "check_config": "config",
    "read_config": "config",
    "sign": "signature",
}

__all__ = [
    "DataGeneratingProcess",
    "RunConfig",
    "RunResult",
    "Splits",
    "check_config",
    "read_config",
    "sign",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
