"""What clustering by premise does to p: a bag of words on SNLI and its rephrased development set.

``IETEST_SHARED=... python -m benchmarks.snli_clusters`` trains one classifier for each rho and
tests it as if pairs were independent, by premises, and on the probability of the gold label.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ietest_fast.experiment import check_config
from ietest_fast.experiment.data import read_splits, transform_splits
from ietest_fast.models import load_model
from ietest_fast.stats import joint_test
from ietest_fast.stats.clustered import clustered_test
from ietest_fast.stats.scores import paired_mean_test
from ietest_fast.transform import plan

RHOS = (0.0, 0.1, 0.25, 0.5, 1.0)
S = 1_000_000


def outcomes(folder: Path) -> tuple[dict[float, dict[str, Any]], np.ndarray]:
    """Give gold-label probabilities and outcomes of each classifier, and the premises."""
    dev = {"file": str(folder / "dev.parquet"), "n_valid": 100, "n_test": 9_740}
    data = {"train": str(folder / "train.parquet"), "split": dev}
    splits = read_splits(check_config({"data": data}).data)
    with tempfile.TemporaryDirectory() as scratch:
        texts = transform_splits(splits, plan("syn.careful"), Path(scratch))
        model = load_model("bow-xgb")
        encoded = model.encode(texts.texts, splits.train.text_columns)
        premises = np.asarray(texts.texts["test"].original["premise"].to_pylist())
    train, test = encoded["train"], encoded["test"]
    found: dict[float, dict[str, Any]] = {}
    uniforms = np.random.default_rng(0).random(len(train))
    for rho in RHOS:
        classifier = model.fit(
            train.resample(uniforms < rho, "transformed"),
            None,
            params=dict(model.presets["table7-snli"]),
            n_classes=splits.n_classes,
            seed=1,
            n_threads=1,
        )
        versions: dict[str, Any] = {}
        for name, rows in test.versions.items():
            shares = classifier.predict_proba(test.store, rows)
            versions[name] = shares[np.arange(len(test)), test.labels].astype(np.float64)
            versions[f"{name}_right"] = shares.argmax(axis=1) == test.labels
        found[rho] = versions
    return found, premises


def main() -> None:
    """Print one table for single tests and one for the joint one."""
    shared = Path(os.environ.get("IETEST_SHARED", Path(__file__).parents[2] / "shared"))
    found, premises = outcomes(shared / "data" / "snli")
    n_premises = np.unique(premises).size
    print(f"{premises.size:,} pairs, {n_premises:,} premises, S = {S:,}\n")
    print(
        "| rho | delta | k | p, pairs | p, premises | design effect | score p, pairs | … premises |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for rho, v in found.items():
        binary = clustered_test(
            v["original_right"], v["transformed_right"], premises, n_resamples=S
        )
        single = paired_mean_test(v["original"], v["transformed"], n_resamples=S // 10)
        clustered = paired_mean_test(
            v["original"], v["transformed"], clusters=premises, n_resamples=S // 10
        )
        print(
            f"| {rho:g} | {binary.delta:+.4f} | {binary.counts.k} | {binary.p_independent:.3g} "
            f"| {binary.p_value:.3g} | {binary.design_effect:.3f} | {single.p_value:.3g} "
            f"| {clustered.p_value:.3g} |"
        )
    original = np.column_stack([v["original_right"] for v in found.values()])
    transformed = np.column_stack([v["transformed_right"] for v in found.values()])
    for clusters, name in ((None, "pairs"), (premises, "premises")):
        joint = joint_test(original, transformed, clusters=clusters, n_resamples=S, min_p=True)
        print(f"\njoint, {name}, {joint.n_types} types")
        for label in ("p_value", "p_bonferroni", "p_holm", "p_max_t", "p_min_p"):
            print(f"{label:<14}" + "  ".join(f"{p:.4f}" for p in getattr(joint, label)))


if __name__ == "__main__":
    main()
