"""Matched samples, paired tests and how their p-values are combined."""

from __future__ import annotations

from ietest_fast.stats.calibration import (
    CalibrationResult,
    TestSize,
    calibrate,
    draw_null_differences,
    draw_null_scores,
    intra_cluster_correlation,
)
from ietest_fast.stats.clustered import ClusteredTestResult, clustered_test
from ietest_fast.stats.cochran import CochranResult, PairwiseComparison, cochran_q_test
from ietest_fast.stats.decision import Decision, decide
from ietest_fast.stats.equivalence import EquivalenceResult, Verdict, equivalence_test
from ietest_fast.stats.estimates import (
    EstimateResult,
    Interval,
    estimate,
    tango_interval,
    tango_score,
    wilson_interval,
)
from ietest_fast.stats.joint import JointTestResult, adjust_p_values, joint_test
from ietest_fast.stats.matched import MatchedSample, PairedCounts
from ietest_fast.stats.mcnemar import McNemarResult, mcnemar_test
from ietest_fast.stats.paired import (
    DEFAULT_N_RESAMPLES,
    FEW_DISCORDANT,
    METHODS,
    PairedTestResult,
    draw_t_replicates,
    paired_test,
)
from ietest_fast.stats.power import (
    PowerCurve,
    PowerPlan,
    detectable_difference,
    pairs_to_decide,
    plan,
    power,
    power_curve,
    sample_size,
    verdict_probability,
)
from ietest_fast.stats.robustness import (
    Collapse,
    RobustnessResult,
    SignalToNoise,
    chance_limit,
    find_collapse,
    is_collapsed,
    robustness,
    signal_to_noise,
)
from ietest_fast.stats.scores import ScoreTestResult, paired_score_test

__all__ = [
    "DEFAULT_N_RESAMPLES",
    "FEW_DISCORDANT",
    "METHODS",
    "CalibrationResult",
    "ClusteredTestResult",
    "CochranResult",
    "Collapse",
    "Decision",
    "EquivalenceResult",
    "EstimateResult",
    "Interval",
    "JointTestResult",
    "MatchedSample",
    "McNemarResult",
    "PairedCounts",
    "PairedTestResult",
    "PairwiseComparison",
    "PowerCurve",
    "PowerPlan",
    "RobustnessResult",
    "ScoreTestResult",
    "SignalToNoise",
    "TestSize",
    "Verdict",
    "adjust_p_values",
    "calibrate",
    "chance_limit",
    "clustered_test",
    "cochran_q_test",
    "decide",
    "detectable_difference",
    "draw_null_differences",
    "draw_null_scores",
    "draw_t_replicates",
    "equivalence_test",
    "estimate",
    "find_collapse",
    "intra_cluster_correlation",
    "is_collapsed",
    "joint_test",
    "mcnemar_test",
    "paired_score_test",
    "paired_test",
    "pairs_to_decide",
    "plan",
    "power",
    "power_curve",
    "robustness",
    "sample_size",
    "signal_to_noise",
    "tango_interval",
    "tango_score",
    "verdict_probability",
    "wilson_interval",
]
