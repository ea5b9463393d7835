"""The classes of ``results.json``: what a run writes, checks and reads, and a report shows.

Everything that follows from other numbers (accuracies, t, decisions, verdicts, ratios) is computed
by these classes, also where it is written: whoever reads a file compares what it says with what
follows. ``docs/results.schema.json`` is made of them by ``tools/make_results_schema.py``.
"""

from __future__ import annotations

from ietest_fast.experiment.schema.cells import (
    CellResult,
    ClusteredRecord,
    EquivalenceRecord,
    PairedRecord,
)
from ietest_fast.experiment.schema.conditions import (
    AcrossTransformations,
    CochranRecord,
    ConditionResult,
    RhoResult,
    Sensitivity,
)
from ietest_fast.experiment.schema.parts import Correction, Spread, adjust
from ietest_fast.experiment.schema.records import (
    ChangedRows,
    DataSummary,
    ModelRecord,
    ModelSettings,
    RunSettings,
    SearchRecord,
    SplitSummary,
    TransformationRecord,
    TrialRecord,
)
from ietest_fast.experiment.schema.run_result import RESULTS_FORMAT, RunResult

__all__ = [
    "RESULTS_FORMAT",
    "AcrossTransformations",
    "CellResult",
    "ChangedRows",
    "ClusteredRecord",
    "CochranRecord",
    "ConditionResult",
    "Correction",
    "DataSummary",
    "EquivalenceRecord",
    "ModelRecord",
    "ModelSettings",
    "PairedRecord",
    "RhoResult",
    "RunResult",
    "RunSettings",
    "SearchRecord",
    "Sensitivity",
    "SplitSummary",
    "Spread",
    "TransformationRecord",
    "TrialRecord",
    "adjust",
]
