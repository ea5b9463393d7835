"""Matched samples, paired tests and how their p-values are combined."""

from __future__ import annotations

from ietest_fast.stats.clustered import ClusteredTestResult, clustered_test
from ietest_fast.stats.decision import Decision, decide
from ietest_fast.stats.joint import JointTestResult, adjust_p_values, joint_test
from ietest_fast.stats.matched import MatchedSample, PairedCounts
from ietest_fast.stats.paired import (
    DEFAULT_N_REPLICATES,
    FEW_DISCORDANT,
    METHODS,
    PairedTestResult,
    draw_t_replicates,
    paired_test,
)
from ietest_fast.stats.robustness import is_collapsed, signal_to_noise
from ietest_fast.stats.scores import ScoreTestResult, paired_score_test

__all__ = [
    "DEFAULT_N_REPLICATES",
    "FEW_DISCORDANT",
    "METHODS",
    "ClusteredTestResult",
    "Decision",
    "JointTestResult",
    "MatchedSample",
    "PairedCounts",
    "PairedTestResult",
    "ScoreTestResult",
    "adjust_p_values",
    "clustered_test",
    "decide",
    "draw_t_replicates",
    "is_collapsed",
    "joint_test",
    "paired_score_test",
    "paired_test",
    "signal_to_noise",
]
