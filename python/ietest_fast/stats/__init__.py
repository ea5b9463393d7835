"""Matched samples, paired tests and how their p-values are combined."""

from __future__ import annotations

from ietest_fast.stats.algorithm.churn import ChurnResult, excess_churn_test
from ietest_fast.stats.algorithm.crossed import (
    AlgorithmTestResult,
    VarianceComponents,
    algorithm_test,
)
from ietest_fast.stats.anytime import AnytimeTestResult, anytime_test
from ietest_fast.stats.clustered import ClusteredTestResult
from ietest_fast.stats.cochran import CochranResult, PairwiseComparison, cochran_q_test
from ietest_fast.stats.consistency.buckets import BucketCounts, count_buckets
from ietest_fast.stats.consistency.corrected import (
    ConfidenceStratum,
    ConsistencyComparison,
    CorrectedEstimate,
    CorrectedResult,
    SubsetComparison,
    compare_consistency,
    compare_subsets,
    correct_consistency,
)
from ietest_fast.stats.consistency.intervals import BucketEstimate
from ietest_fast.stats.consistency.measure import (
    ConsistencyResult,
    consistency_at,
    measure_consistency,
)
from ietest_fast.stats.dose import DoseResponseResult, Slope, TrendResult, dose_response_test
from ietest_fast.stats.equivalence import EquivalenceResult, Verdict, equivalence_test
from ietest_fast.stats.estimates import EstimateResult, estimate
from ietest_fast.stats.families import CombinedResult, combine
from ietest_fast.stats.flips import DEFAULT_FLIP_MARGIN, FlipResult, FlipVerdict, flip_test
from ietest_fast.stats.informedness import (
    Informedness,
    Rate,
    measure_informedness,
    measure_rate,
    proportion_interval,
)
from ietest_fast.stats.inputs import check_cost
from ietest_fast.stats.intervals import Interval, tango_interval, tango_score, wilson_interval
from ietest_fast.stats.invariance import (
    DEFAULT_MARGIN,
    InvarianceTestResult,
    hold_together,
    invariance_test,
    judge,
    judge_pairs,
)
from ietest_fast.stats.joint import JointTestResult, joint_test
from ietest_fast.stats.laws.null import (
    NullHistogram,
    bin_edges,
    count_replicates,
    draw_null_differences,
    draw_null_scores,
    intra_cluster_correlation,
    null_law_of,
)
from ietest_fast.stats.matched import MatchedSample, PairedCounts
from ietest_fast.stats.mcnemar import McNemarResult, mcnemar_test
from ietest_fast.stats.mean_difference import MeanDifference
from ietest_fast.stats.multiple import (
    CORRECTIONS,
    Correction,
    Decision,
    benjamini_hochberg,
    bonferroni,
    decide,
    holm,
    share_alpha,
)
from ietest_fast.stats.outcomes import (
    DEFAULT_N_RESAMPLES,
    FEW_DISCORDANT,
    METHODS,
    PairedTestResult,
    draw_t_replicates,
)
from ietest_fast.stats.paired import paired_test
from ietest_fast.stats.planning.crossed import (
    AlgorithmPlan,
    AlgorithmPlans,
    algorithm_power,
    plan_algorithm,
    split_variance,
)
from ietest_fast.stats.planning.power import (
    PowerCurve,
    PowerPlan,
    detectable_difference,
    plan,
    power,
    power_curve,
    sample_size,
)
from ietest_fast.stats.planning.simulation import SimulationResult, TestSize, simulate
from ietest_fast.stats.planning.verdicts import pairs_to_decide, verdict_probability
from ietest_fast.stats.result import PairedResult
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
from ietest_fast.stats.scores import MeanTestResult
from ietest_fast.stats.strata import MOST_STRATA, StratifiedResult, StratumResult, stratified_test
from ietest_fast.stats.symmetry import HeterogeneityResult, SymmetryResult, symmetry_test
from ietest_fast.stats.unsound import UnsoundnessResult, unsoundness

__all__ = [
    "CORRECTIONS",
    "DEFAULT_FLIP_MARGIN",
    "DEFAULT_MARGIN",
    "DEFAULT_N_RESAMPLES",
    "FEW_DISCORDANT",
    "METHODS",
    "MOST_STRATA",
    "AlgorithmPlan",
    "AlgorithmPlans",
    "AlgorithmTestResult",
    "AnytimeTestResult",
    "BucketCounts",
    "BucketEstimate",
    "ChurnResult",
    "ClusteredTestResult",
    "CochranResult",
    "Collapse",
    "CombinedResult",
    "ConfidenceStratum",
    "ConsistencyComparison",
    "ConsistencyResult",
    "CorrectedEstimate",
    "CorrectedResult",
    "Correction",
    "Decision",
    "DoseResponseResult",
    "EquivalenceResult",
    "EstimateResult",
    "FlipResult",
    "FlipVerdict",
    "HeterogeneityResult",
    "Informedness",
    "Interval",
    "InvarianceTestResult",
    "JointTestResult",
    "MatchedSample",
    "McNemarResult",
    "MeanDifference",
    "MeanTestResult",
    "NullHistogram",
    "PairedCounts",
    "PairedResult",
    "PairedTestResult",
    "PairwiseComparison",
    "PowerCurve",
    "PowerPlan",
    "Rate",
    "RobustnessResult",
    "SignalToNoise",
    "SimulationResult",
    "Slope",
    "StratifiedResult",
    "StratumResult",
    "SubsetComparison",
    "SymmetryResult",
    "TestSize",
    "TrendResult",
    "UnsoundnessResult",
    "VarianceComponents",
    "Verdict",
    "algorithm_power",
    "algorithm_test",
    "anytime_test",
    "benjamini_hochberg",
    "bin_edges",
    "bonferroni",
    "chance_limit",
    "check_cost",
    "cochran_q_test",
    "combine",
    "compare_consistency",
    "compare_subsets",
    "consistency_at",
    "correct_consistency",
    "count_buckets",
    "count_replicates",
    "decide",
    "detectable_difference",
    "dose_response_test",
    "draw_null_differences",
    "draw_null_scores",
    "draw_t_replicates",
    "equivalence_test",
    "estimate",
    "excess_churn_test",
    "find_collapse",
    "flip_test",
    "hold_together",
    "holm",
    "intra_cluster_correlation",
    "invariance_test",
    "is_collapsed",
    "joint_test",
    "judge",
    "judge_pairs",
    "mcnemar_test",
    "measure_consistency",
    "measure_informedness",
    "measure_rate",
    "null_law_of",
    "paired_test",
    "pairs_to_decide",
    "plan",
    "plan_algorithm",
    "power",
    "power_curve",
    "proportion_interval",
    "robustness",
    "sample_size",
    "share_alpha",
    "signal_to_noise",
    "simulate",
    "split_variance",
    "stratified_test",
    "symmetry_test",
    "tango_interval",
    "tango_score",
    "unsoundness",
    "verdict_probability",
    "wilson_interval",
]
