"""What notebooks call: everything else is below, in the rooms that do the work.

The names below are loaded when they are first used; they hang at the top, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.api.consistency import consistency
    from ietest_fast.api.evaluating import EvaluationResult, evaluate
    from ietest_fast.api.running import IETestResult, consistency_curve, run
    from ietest_fast.api.stressing import stress

__all__ = [
    "EvaluationResult",
    "IETestResult",
    "consistency",
    "consistency_curve",
    "evaluate",
    "run",
    "stress",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "EvaluationResult": "evaluating",
        "IETestResult": "running",
        "consistency": "consistency",
        "consistency_curve": "running",
        "evaluate": "evaluating",
        "run": "running",
        "stress": "stressing",
    },
)
