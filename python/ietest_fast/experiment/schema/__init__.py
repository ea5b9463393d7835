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
    RewordedRecord,
    Spread,
    StrataRecord,
    adjust,
)
from ietest_fast.experiment.schema.claims import ClaimsRecord, SlopeRecord
from ietest_fast.experiment.schema.conditions import (
    AcrossTransformations,
    AlgorithmRecord,
    ChurnRecord,
    CochranRecord,
    ConditionResult,
    RhoResult,
    Sensitivity,
    correct_over_rho,
    find_detectable,
)
from ietest_fast.experiment.schema.run_result import (
    RESULTS_FORMAT,
    ChangedRows,
    DataSummary,
    EvaluatedRho,
    FurtherResult,
    FurtherTransformation,
    ModelRecord,
    ModelSettings,
    RunResult,
    RunSettings,
    SearchRecord,
    SplitSummary,
    TransformationRecord,
    correct_over_evaluations,
)

__all__ = [
    "RESULTS_FORMAT",
    "AcrossTransformations",
    "AlgorithmRecord",
    "CellResult",
    "ChangedRows",
    "ChurnRecord",
    "ClaimsRecord",
    "ClusteredRecord",
    "CochranRecord",
    "ConditionResult",
    "DataSummary",
    "EquivalenceRecord",
    "EvaluatedRho",
    "FurtherResult",
    "FurtherTransformation",
    "ModelRecord",
    "ModelSettings",
    "PairedRecord",
    "RewordedRecord",
    "RhoResult",
    "RunResult",
    "RunSettings",
    "SearchRecord",
    "Sensitivity",
    "SlopeRecord",
    "SplitSummary",
    "Spread",
    "StrataRecord",
    "TransformationRecord",
    "adjust",
    "correct_over_evaluations",
    "correct_over_rho",
    "find_detectable",
]
