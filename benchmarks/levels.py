"""How often a verdict is wrong: every claim of the first sentence, simulated where it is false.

    python -m benchmarks.levels              # 2,000 data sets of each design
    python -m benchmarks.levels --n 200 noise

A line gives the share of data sets in which the verdict claims what is not so, its standard error,
and what is allowed. The command fails if a share lies above what is allowed by more than chance.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ietest_fast.stats import (
    InvarianceTestResult,
    Verdict,
    equivalence_test,
    hold_together,
    invariance_test,
)
from ietest_fast.stats.algorithm.claims import judge_algorithm
from ietest_fast.stats.consistency.buckets import count_buckets, tabulate
from ietest_fast.stats.consistency.intervals import estimate_measures

Generator = np.random.Generator
Answers = NDArray[np.int64]
Pair = tuple[Answers, Answers]


@dataclass(frozen=True, kw_only=True)
class Design:
    """Data in which a claim is false."""

    name: str
    """What is simulated."""
    is_wrong: Callable[[Generator], bool]
    """Draws a data set, and says whether what is claimed of it is wrong."""
    allowed: float = 0.055
    """How often it may be, at alpha = 5%."""


def draw_gold(rng: Generator, n: int, n_labels: int) -> Answers:
    """Draw gold labels, as common as each other, each there."""
    return rng.permutation(np.arange(n) % n_labels)


def answer(rng: Generator, gold: Answers, n_labels: int, accuracy: float = 0.8) -> Answers:
    """Draw answers that are right with the same probability for each label."""
    wrong = (gold + rng.integers(1, n_labels, gold.size)) % n_labels
    return np.where(rng.random(gold.size) < accuracy, gold, wrong)


def flip(rng: Generator, answers: Answers, gold: Answers, rate: float, n_labels: int) -> Answers:
    """Exchange answers for others, losses as often as gains, in a share of the texts."""
    n = answers.size
    right = answers == gold
    share = right.mean()
    # As many right answers are lost as wrong ones mended; the rest goes from wrong to wrong.
    lost = rng.random(n) < rate / 2 / share
    mended = rng.random(n) < rate / 2 / (1 - share)
    wrong = (gold + rng.integers(1, n_labels, n)) % n_labels
    return np.where(right & lost, wrong, np.where(~right & mended, gold, answers))


def nothing_differs(
    n: int, *, flips: float, n_labels: int = 3, n_versions: int = 1, cluster_size: int = 1
) -> Callable[[Generator], list[InvarianceTestResult]]:
    """Flips that cancel: accuracy is the same, and no more flip than the margin of 5%."""

    def draw(rng: Generator) -> list[InvarianceTestResult]:
        gold = draw_gold(rng, n, n_labels)
        original = answer(rng, gold, n_labels)
        clusters = None if cluster_size == 1 else np.arange(n) // cluster_size
        found = []
        for _ in range(n_versions):
            other = flip(rng, original, gold, flips, n_labels)
            found.append(invariance_test(original, other, gold, reworded=True, clusters=clusters))
        return hold_together(found)

    return draw


def one_label_loses(
    n: int, *, n_labels: int, points: float
) -> Callable[[Generator], list[InvarianceTestResult]]:
    """One label loses, the others do not."""

    def draw(rng: Generator) -> list[InvarianceTestResult]:
        gold = draw_gold(rng, n, n_labels)
        original = answer(rng, gold, n_labels, accuracy=0.95)
        loses = (gold == 0) & (original == gold) & (rng.random(n) < points / 100 / 0.95)
        other = np.where(loses, (gold + 1) % n_labels, original)
        return [invariance_test(original, other, gold, reworded=True)]

    return draw


def answers_vary(n: int, *, rate: float) -> Callable[[Generator], list[InvarianceTestResult]]:
    """Answers to equal texts vary as much as those to reworded ones, which are every other text."""

    def draw(rng: Generator) -> list[InvarianceTestResult]:
        gold = draw_gold(rng, n, 3)
        original = answer(rng, gold, 3)
        other = flip(rng, original, gold, rate, 3)
        return [invariance_test(original, other, gold, reworded=np.arange(n) % 2 == 0)]

    return draw


def train(
    rng: Generator, texts: NDArray[np.float64], *, n_trainings: int, tau: float, lean: float
) -> Pair:
    """Answer both versions of some texts by one law, so that nothing differs.

    Each training prefers some labels by `tau` on both versions, and by `lean` on one, at random.
    """
    n, n_labels = texts.shape
    own = texts[:, None] + 0.7 * rng.normal(size=(n, n_trainings, n_labels))
    own = own + tau * rng.normal(size=(n_trainings, n_labels))
    original, other = (
        own
        + 0.4 * rng.normal(size=(n, n_trainings, n_labels))
        + lean * rng.normal(size=(n_trainings, n_labels))
        for _ in range(2)
    )
    return original.argmax(2), other.argmax(2)


def trainings_claim(
    n: int, *, n_rhos: int, n_labels: int, **trained: Any
) -> Callable[[Generator], bool]:
    """Is anything claimed of an algorithm that treats both versions alike at every rho?"""

    def is_wrong(rng: Generator) -> bool:
        gold = draw_gold(rng, n, n_labels)
        texts = rng.normal(size=(n, n_labels)) + 2.0 * (gold[:, None] == np.arange(n_labels))
        answers = {float(place): train(rng, texts, **trained) for place in range(n_rhos)}
        found = judge_algorithm(answers, gold)
        return any(p < found.levels[name] for name, p in found.p_values.items())

    return is_wrong


def interval_misses(
    n_clusters: int, size: int, *, n_discordant: float, whole: bool
) -> Callable[[Generator], bool]:
    """Lose and win pairs, or whole clusters, and see whether the interval misses the truth."""
    n = n_clusters * size

    def is_wrong(rng: Generator) -> bool:
        clusters = np.arange(n) // size
        rate = n_discordant / n
        draws = (
            np.repeat(rng.random((2, n_clusters)), size, axis=1) if whole else rng.random((2, n))
        )
        moved, lost = draws[0] < rate, draws[1] < 0.8
        original, other = ~(moved & ~lost), ~(moved & lost)
        found = equivalence_test(original, other, clusters=clusters)
        interval = found.confidence_interval()
        return not interval.low <= 0.6 * rate <= interval.high

    return is_wrong


def perfect(share: float) -> Callable[[Generator, int], NDArray[np.float64]]:
    """Items that are always answered rightly, and others of any accuracy."""
    return lambda rng, n: np.where(rng.random(n) < share, 1.0, rng.random(n))


def beta(a: float, b: float) -> Callable[[Generator, int], NDArray[np.float64]]:
    """Items whose accuracies follow a beta law."""
    return lambda rng, n: rng.beta(a, b, n)


def consistency_misses(
    name: str,
    accuracies: Callable[[Generator, int], NDArray[np.float64]],
    *,
    n_items: int,
    sizes: tuple[int, int],
) -> Callable[[Generator], bool]:
    """Ask paraphrases of items, and see whether the interval of a measure misses the truth."""
    theta = accuracies(np.random.default_rng(7), 2_000_000)
    within, accuracy = float(np.mean(theta * (1 - theta))), float(theta.mean())
    truth = {
        "vap_unbiased": within,
        "pvap_unbiased": within / (accuracy * (1 - accuracy)),
        "accuracy_macro": accuracy,
    }[name]

    def is_wrong(rng: Generator) -> bool:
        n = rng.integers(sizes[0], sizes[1] + 1, n_items)
        right = rng.random(int(n.sum())) < np.repeat(accuracies(rng, n_items), n)
        items = np.repeat(np.arange(n_items), n)
        own = estimate_measures(
            tabulate(count_buckets(items, right)),
            [name],
            confidence_level=0.95,
            n_resamples=100,
            seed=0,
            n_threads=1,
        )[name].interval
        return own is not None and not own.low <= truth <= own.high

    return is_wrong


Draw = Callable[[Generator], list[InvarianceTestResult]]


def differs(draw: Draw) -> Callable[[Generator], bool]:
    """Is any version said to be answered otherwise?"""
    return lambda rng: any(each.verdict in {Verdict.DIFFERS, Verdict.CHANGES} for each in draw(rng))


def alike(draw: Draw) -> Callable[[Generator], bool]:
    """Is any version said to be answered alike?"""
    return lambda rng: any(each.verdict is Verdict.ALIKE for each in draw(rng))


DESIGNS = (
    *(
        Design(
            name=f"differs: n {n:,}, flips {100 * flips:g}%",
            is_wrong=differs(nothing_differs(n, flips=flips)),
        )
        for n, flips in ((1_000, 0.02), (4_000, 0.05))
    ),
    *(
        Design(
            name=f"differs: n 1,000, flips 2%, {n} versions",
            is_wrong=differs(nothing_differs(1_000, flips=0.02, n_versions=n)),
        )
        for n in (5, 11)
    ),
    *(
        Design(
            name=f"differs: n 4,000, flips 5%, {n} labels",
            is_wrong=differs(nothing_differs(4_000, flips=0.05, n_labels=n)),
        )
        for n in (2, 20, 21, 150)
    ),
    Design(
        name="differs: n 2,000 in clusters of 4, flips 2%",
        is_wrong=differs(nothing_differs(2_000, flips=0.02, cluster_size=4)),
    ),
    *(
        Design(
            name=f"alike: one of {n_labels} labels loses {points} points, n {n:,}",
            is_wrong=alike(one_label_loses(n, n_labels=n_labels, points=points)),
        )
        for n, n_labels, points in (
            (4_000, 20, 5),
            (20_000, 20, 5),
            (4_000, 21, 20),
            (30_000, 150, 5),
        )
    ),
    *(
        Design(
            name=f"noise: flips {rate:.2%} on reworded texts and on those left alone, n {n:,}",
            is_wrong=differs(answers_vary(n, rate=rate)),
        )
        for n, rate in ((4_000, 0.0955), (1_000, 0.06), (20_000, 0.2))
    ),
    *(
        Design(
            name=f"run: {m} trainings, {r} rho, {k} labels, tau {tau:g}, lean {lean:g}",
            is_wrong=trainings_claim(
                1_500, n_rhos=r, n_labels=k, n_trainings=m, tau=tau, lean=lean
            ),
        )
        for m, r, k, tau, lean in (
            (2, 1, 3, 0.1, 0.2),
            (3, 5, 3, 0.1, 0.0),
            (5, 1, 3, 0.1, 0.2),
            (5, 5, 2, 0.3, 0.1),
            (5, 11, 20, 0.1, 0.05),
            (10, 5, 3, 0.1, 0.2),
        )
    ),
    *(
        Design(
            name=f"interval misses: {n:,} clusters of {size}, {k} discordant pairs, {what}",
            is_wrong=interval_misses(n, size, n_discordant=k, whole=what == "whole clusters"),
            allowed=0.06,
        )
        for n, size, k in ((300, 3, 15), (100, 5, 24), (1_000, 10, 100))
        for what in ("single pairs", "whole clusters")
    ),
    *(
        Design(
            name=f"consistency: {what} misses, theta {law}, {n} items of {low} to {high}",
            is_wrong=consistency_misses(name, drawn, n_items=n, sizes=(low, high)),
            allowed=0.07,
        )
        for law, drawn, n, low, high in (
            ("beta(8, 2)", beta(8, 2), 100, 2, 3),
            ("beta(20, 2)", beta(20, 2), 30, 3, 12),
            ("1 in 90%", perfect(0.9), 30, 2, 12),
            ("1 in 95%", perfect(0.95), 20, 4, 4),
            ("beta(1, 1)", beta(1, 1), 30, 4, 4),
        )
        for name, what in (
            ("vap_unbiased", "P_C"),
            ("pvap_unbiased", "PVAP"),
            ("accuracy_macro", "accuracy"),
        )
    ),
)


def measure(design: Design, n: int, seed: int) -> float:
    """Return the share of data sets of which something wrong is claimed."""
    wrong = 0
    for index in range(n):
        rng = np.random.default_rng([seed, index])
        wrong += design.is_wrong(rng)
    return wrong / n


def main(arguments: list[str] | None = None) -> int:
    """Simulate the designs, and return 1 if any share is larger than allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("designs", nargs="*", help="first words of the designs wanted; all")
    parser.add_argument("--n", type=int, default=2_000, help="data sets of each design")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    wanted = [each for each in DESIGNS if each.name.startswith(tuple(asked.designs) or "")]
    is_bad = False
    for design in wanted:
        share = measure(design, asked.n, asked.seed)
        # Four standard errors above what is allowed do not come by chance.
        limit = design.allowed + 4 * math.sqrt(design.allowed * (1 - design.allowed) / asked.n)
        error = math.sqrt(share * (1 - share) / asked.n)
        is_bad |= share > limit
        print(
            f"{share:7.2%} ± {error:.2%} of {asked.n:,}  ≤ {design.allowed:.1%}  {design.name}",
            flush=True,
        )
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
