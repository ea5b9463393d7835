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
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ietest_fast.stats import (
    InvarianceTestResult,
    Verdict,
    hold_together,
    invariance_test,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Generator = np.random.Generator
Answers = NDArray[np.int64]

CLAIMS = {Verdict.DIFFERS, Verdict.CHANGES}
"""Verdicts that say that a version is answered otherwise."""

ALLOWED = 0.055
"""What is allowed at alpha = 5%."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """Data in which a claim is false."""

    name: str
    """What is simulated."""
    draw: Callable[[Generator], list[InvarianceTestResult]]
    """Draws a data set, and judges its versions."""
    claims: frozenset[Verdict]
    """The verdicts that are wrong."""


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


_ALIKE = frozenset({Verdict.ALIKE})

DESIGNS = (
    *(
        Design(
            name=f"differs: n {n:,}, flips {100 * flips:g}%",
            draw=nothing_differs(n, flips=flips),
            claims=frozenset(CLAIMS),
        )
        for n, flips in ((1_000, 0.02), (4_000, 0.05))
    ),
    *(
        Design(
            name=f"differs: n 1,000, flips 2%, {n} versions",
            draw=nothing_differs(1_000, flips=0.02, n_versions=n),
            claims=frozenset(CLAIMS),
        )
        for n in (5, 11)
    ),
    *(
        Design(
            name=f"differs: n 4,000, flips 5%, {n} labels",
            draw=nothing_differs(4_000, flips=0.05, n_labels=n),
            claims=frozenset(CLAIMS),
        )
        for n in (2, 20, 21, 150)
    ),
    Design(
        name="differs: n 2,000 in clusters of 4, flips 2%",
        draw=nothing_differs(2_000, flips=0.02, cluster_size=4),
        claims=frozenset(CLAIMS),
    ),
    *(
        Design(
            name=f"alike: one of {n_labels} labels loses {points} points, n {n:,}",
            draw=one_label_loses(n, n_labels=n_labels, points=points),
            claims=_ALIKE,
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
            draw=answers_vary(n, rate=rate),
            claims=frozenset(CLAIMS),
        )
        for n, rate in ((4_000, 0.0955), (1_000, 0.06), (20_000, 0.2))
    ),
)


def measure(design: Design, n: int, seed: int) -> float:
    """Return the share of data sets in which any version gets a verdict that is wrong."""
    wrong = 0
    for index in range(n):
        rng = np.random.default_rng([seed, index])
        wrong += any(each.verdict in design.claims for each in design.draw(rng))
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
        limit = ALLOWED + 4 * math.sqrt(ALLOWED * (1 - ALLOWED) / asked.n)
        error = math.sqrt(share * (1 - share) / asked.n)
        is_bad |= share > limit
        print(
            f"{share:7.2%} ± {error:.2%} of {asked.n:,}  ≤ {ALLOWED:.1%}  {design.name}", flush=True
        )
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
