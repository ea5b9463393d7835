"""What a run found, as values, and how they are written down."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.experiment.artefacts import write_text
from ietest_fast.stats import (
    ClusteredTestResult,
    Decision,
    EquivalenceResult,
    PairedTestResult,
    RobustnessResult,
    Verdict,
    robustness,
)
from ietest_fast.stats.power import difference_beside_test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ietest_fast.experiment.search import Searches
    from ietest_fast.stats import Interval

RESULTS = "results.json"

RESULTS_FORMAT = 1
"""Counted up when ``results.json`` changes in a way that its readers have to know of."""


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """One classifier, tested.

    Attributes
    ----------
    rho, m
        Which cell.
    identity
        sha256 of all that affects it.
    test
        The paired test on its matched sample, as if its pairs were independent.
    clustered
        The test by clusters, which then decides; None without clusters.
    equivalence
        Is the difference below the margin?
    valid_accuracy
        Accuracy on its (resampled) validation set.
    train_transformed, valid_transformed
        How many observations of its resample are transformed ones.
    collapsed
        Whether it cannot be told from guessing: one class on everything, or at chance.
    """

    rho: float
    m: int
    identity: str
    test: PairedTestResult
    clustered: ClusteredTestResult | None = None
    equivalence: EquivalenceResult
    valid_accuracy: float
    train_transformed: int
    valid_transformed: int
    collapsed: bool

    @property
    def t(self) -> float:
        """The statistic of the test that decides."""
        return self.test.t if self.clustered is None else self.clustered.t

    @property
    def p_value(self) -> float:
        """The p-value that decides."""
        return self.test.p_value if self.clustered is None else self.clustered.p_value

    @property
    def warning(self) -> str | None:
        """What the reader has to know of the test that decides."""
        return self.test.warning if self.clustered is None else self.clustered.warning

    @property
    def accuracy_original(self) -> float:
        """Accuracy on the original test set."""
        return self.test.counts.accuracy_original

    @property
    def accuracy_transformed(self) -> float:
        """Accuracy on the transformed test set."""
        return self.test.counts.accuracy_transformed

    def to_dict(self) -> dict[str, Any]:
        """Give all of it, ready for JSON."""
        test = self.test.to_dict()
        test["t"] = _finite(self.test.t)
        return {
            "m": self.m,
            "identity": self.identity,
            "accuracy_original": self.accuracy_original,
            "accuracy_transformed": self.accuracy_transformed,
            "valid_accuracy": self.valid_accuracy,
            "train_transformed": self.train_transformed,
            "valid_transformed": self.valid_transformed,
            "collapsed": self.collapsed,
            **test,
            "clustered": self._describe_clusters(),
            "equivalence": self._describe_equivalence(),
        }

    def _describe_clusters(self) -> dict[str, Any] | None:
        if self.clustered is None:
            return None
        names = [
            *("n_clusters", "n_nonzero", "t", "p_value", "p_paper", "p_symmetric"),
            *("n_resamples", "seed", "warning"),
        ]
        found = {name: getattr(self.clustered, name) for name in names}
        found["t"] = _finite(self.clustered.t)
        return found | {"design_effect": self.clustered.design_effect}

    def _describe_equivalence(self) -> dict[str, Any]:
        names = ("margin", "alpha", "p_value", "equivalent")
        found = {name: getattr(self.equivalence, name) for name in names}
        return found | {"interval": [self.equivalence.interval.low, self.equivalence.interval.high]}


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Mean and standard deviation over the M classifiers.

    Attributes
    ----------
    mean
        Infinite if some numbers are; None if they are so on both sides.
    sd
        Divisor M - 1; None if M is 1 or the mean is not finite.
    """

    mean: float | None
    sd: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Summarise some numbers, infinite ones allowed, none of them NaN."""
        if math.inf in values and -math.inf in values:
            return cls(mean=None, sd=None)
        mean = float(np.mean(values))
        if len(values) < 2 or not math.isfinite(mean):
            return cls(mean=mean, sd=None)
        return cls(mean=mean, sd=float(np.std(values, ddof=1)))

    def to_dict(self) -> dict[str, Any]:
        """Give both, ready for JSON."""
        return {"mean": None if self.mean is None else _finite(self.mean), "sd": self.sd}


class OverClassifiers:
    """Means and standard deviations over the M classifiers of a rho, its ``cells``."""

    cells: tuple[Any, ...]

    @property
    def accuracy_original(self) -> Spread:
        """Accuracy on the original test set over the M classifiers."""
        return Spread.of([cell.accuracy_original for cell in self.cells])

    @property
    def accuracy_transformed(self) -> Spread:
        """Accuracy on the transformed test set over the M classifiers."""
        return Spread.of([cell.accuracy_transformed for cell in self.cells])

    @property
    def t(self) -> Spread:
        """The statistic over the M classifiers."""
        return Spread.of([cell.t for cell in self.cells])


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """What the test of one classifier, at level alpha / M, could find.

    Attributes
    ----------
    margin
        A difference of the accuracies, either way.
    discordance
        Mean share of discordant pairs, from which the rest follows.
    power
        Probability that a difference of `margin` is found.
    """

    margin: float
    discordance: float
    power: float


@dataclass(frozen=True, kw_only=True)
class RhoResult(OverClassifiers):
    """The IE test at one rho.

    Attributes
    ----------
    rho
        Probability of transformation.
    cells
        M classifiers, by m.
    decision
        Whether invariance is rejected.
    sensitivity
        What could have been found; None if that is not known (clusters, more than a million
        pairs).
    signature
        How it came about.
    """

    rho: float
    cells: tuple[CellResult, ...]
    decision: Decision
    sensitivity: Sensitivity | None
    signature: str

    @property
    def verdict(self) -> Verdict:
        """What is shown at this rho.

        Equivalent if that is shown for each of the M classifiers (no correction is needed where
        all have to reject), else different if invariance is rejected, else undecided.
        """
        if all(cell.equivalence.equivalent for cell in self.cells):
            return Verdict.EQUIVALENT
        return Verdict.DIFFERS if self.decision.reject else Verdict.UNDECIDED

    @functools.cached_property
    def detectable_difference(self) -> float | None:
        """The smallest difference that one of the M tests shows with 80% power.

        At the level alpha / M, and the mean discordance of the M matched samples; None where
        :func:`~ietest_fast.stats.power.difference_beside_test` gives none, and with clusters.
        """
        if self.cells[0].clustered is not None:
            return None
        tests = [cell.test for cell in self.cells]
        return difference_beside_test(
            tests[0].n,
            float(np.mean([test.counts.discordance_rate for test in tests])),
            alpha=self.decision.alpha,
            n_tests=self.decision.n_tests,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give all of it, ready for JSON."""
        return {
            "rho": self.rho,
            "accuracy_original": self.accuracy_original.to_dict(),
            "accuracy_transformed": self.accuracy_transformed.to_dict(),
            "t": self.t.to_dict(),
            "p_min": self.decision.p_min,
            "threshold": self.decision.threshold,
            "reject": self.decision.reject,
            "verdict": str(self.verdict),
            "sensitivity": None if self.sensitivity is None else asdict(self.sensitivity),
            "detectable_difference": self.detectable_difference,
            "signature": self.signature,
            "cells": [cell.to_dict() for cell in self.cells],
        }


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """A finished run.

    Attributes
    ----------
    folder
        Where the run lives.
    settings
        All that results depend on.
    identity
        sha256 of the settings.
    versions
        Of the software that results depend on.
    data
        Rows, what was dropped, how much the transformation changed, by split.
    transformation
        Name, fingerprint and what it did to the test set.
    searches
        The hyperparameters used, and how they were found.
    rhos
        One test for each rho, in the order of the configuration.
    signature
        Of the run as a whole.
    """

    folder: Path
    settings: Mapping[str, Any]
    identity: str
    versions: Mapping[str, str]
    data: Mapping[str, Any]
    transformation: Mapping[str, Any]
    searches: Searches
    rhos: tuple[RhoResult, ...]
    signature: str

    @property
    def collapsed(self) -> tuple[CellResult, ...]:
        """The classifiers that cannot be told from guessing."""
        return tuple(cell for rho in self.rhos for cell in rho.cells if cell.collapsed)

    @property
    def robustness(self) -> RobustnessResult:
        """Signal-to-noise ratio (eq. 15) of accuracy on the original test set, over rho and m."""
        cells = [cell for rho in self.rhos for cell in rho.cells]
        return robustness(
            [cell.accuracy_original for cell in cells],
            [cell.collapsed for cell in cells],
            names=[f"rho {cell.rho:g}, m {cell.m}" for cell in cells],
        )

    @property
    def snr(self) -> float:
        """The ratio over all classifiers, collapsed ones too."""
        return self.robustness.every.snr

    @property
    def snr_without_collapsed(self) -> float | None:
        """The same without collapsed classifiers; None if all are."""
        without = self.robustness.without_collapsed
        return None if without is None else without.snr

    @property
    def reject(self) -> bool:
        """Whether invariance is rejected at any rho."""
        return any(rho.decision.reject for rho in self.rhos)

    def to_dict(self) -> dict[str, Any]:
        """Give what ``results.json`` holds; nothing in it depends on time or speed."""
        ratios = self.robustness
        every, without = ratios.every, ratios.without_collapsed
        return {
            "format": RESULTS_FORMAT,
            "signature": self.signature,
            "identity": self.identity,
            "settings": dict(self.settings),
            "versions": dict(self.versions),
            "data": dict(self.data),
            "transformation": dict(self.transformation),
            "search": self.searches.to_dict(),
            "reject": self.reject,
            "robustness": {
                "snr": _finite(every.snr),
                "snr_interval": _ends(every.interval),
                "snr_without_collapsed": None if without is None else _finite(without.snr),
                "snr_without_collapsed_interval": (
                    None if without is None else _ends(without.interval)
                ),
                "confidence_level": ratios.confidence_level,
                "collapsed": [{"rho": cell.rho, "m": cell.m} for cell in self.collapsed],
            },
            "rhos": [rho.to_dict() for rho in self.rhos],
        }

    def write(self) -> Path:
        """Write ``results.json`` into the run's folder and give its path."""
        path = self.folder / RESULTS
        write_text(path, json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")
        return path


def _ends(interval: Interval | None) -> list[float | str] | None:
    return None if interval is None else [_finite(interval.low), _finite(interval.high)]


def _finite(value: float) -> float | str:
    # JSON has no infinities; a NaN would be a mistake of ours.
    if math.isnan(value):
        raise ValueError("a result is not a number")
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
