"""What is found in every stratum: tables, words and numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from ietest_fast.stats.result import Result, fit_cells, format_p

if TYPE_CHECKING:
    from ietest_fast.stats.equivalence import EquivalenceResult
    from ietest_fast.stats.flips import FlipResult
    from ietest_fast.stats.heterogeneity import HeterogeneityResult
    from ietest_fast.stats.matched import PairedCounts

StrataCorrection = Literal["holm", "minp"]


@dataclass(frozen=True, kw_only=True)
class StratumResult:
    """One stratum."""

    name: str
    """The value that its pairs have in common."""
    counts: PairedCounts
    """The four counts."""
    n_clusters: int | None
    """Clusters with a pair in it; None without clusters."""
    p_value: float | None
    """Of "the accuracies are equal"; None of a stratum that is too small for a test: fewer than two
    pairs, or clusters."""
    p_adjusted: float | None
    """The same, corrected for the number of strata."""
    equivalence: EquivalenceResult | None
    """Delta with its interval, and the test against the margin; None likewise."""
    flips: FlipResult | None
    """How often answers flip; None likewise, and where only right and wrong are known."""
    p_flips_adjusted: float | None
    """p-value of "the flip rate is at most the margin", corrected by Holm's rule."""
    decided_by_few: bool = False
    """Whether few of its clusters differ, or a few large ones decide: the test may then reject too
    often."""

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.counts.n

    @property
    def delta(self) -> float:
        """Accuracy on the originals minus accuracy on the transformed texts."""
        return self.counts.delta

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        equivalence, flips = self.equivalence, self.flips
        low, high = (None, None)
        if equivalence is not None:
            low, high = equivalence.interval.low, equivalence.interval.high
        return {
            "stratum": self.name,
            "n": self.n,
            **asdict(self.counts),
            "n_clusters": self.n_clusters,
            "delta": self.delta,
            "delta_low": low,
            "delta_high": high,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
            "p_equivalence": None if equivalence is None else equivalence.p_value,
            "n_flipped": None if flips is None else flips.n_flipped,
            "flip_rate": None if flips is None else flips.rate,
            "flip_low": None if flips is None else flips.interval.low,
            "flip_high": None if flips is None else flips.interval.high,
            "p_flips_adjusted": self.p_flips_adjusted,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class StratifiedResult(Result):
    """Accuracy and flips in every stratum, and whether losses go with the stratum."""

    name: str
    """What the strata are: the column's name."""
    strata: tuple[StratumResult, ...]
    """In the order of their values."""
    heterogeneity: HeterogeneityResult
    """H0: the share of losses among discordant pairs is the same in every stratum."""
    correction: StrataCorrection
    """Of the strata's p-values: ``holm`` or ``minp``."""
    margin: float
    flip_margin: float
    alpha: float
    """As for :func:`stratified_test`."""
    p_adjusted: float | None = None
    """The p-value of ``heterogeneity``, corrected over several versions, by which ``differs`` goes;
    None where there is one."""

    @property
    def title(self) -> str:  # type: ignore[override]
        """Heads the rows."""
        return f"By {self.name}"

    @property
    def n(self) -> int:
        """Number of pairs in all strata."""
        return sum(each.n for each in self.strata)

    @property
    def n_untested(self) -> int:
        """Strata that are too small for a test."""
        return sum(each.p_value is None for each in self.strata)

    @property
    def statistic(self) -> float:
        """Of the test whether strata differ."""
        return self.heterogeneity.statistic

    @property
    def pvalue(self) -> float:
        """The p-value of "the share of losses is the same in every stratum"."""
        return self.heterogeneity.p_value

    @property
    def p_decisive(self) -> float:
        """The p-value by which ``differs`` goes: ``p_adjusted``, or that of ``heterogeneity``."""
        return self.heterogeneity.p_value if self.p_adjusted is None else self.p_adjusted

    @property
    def differs(self) -> bool:
        """Whether the share of losses is shown to differ between strata."""
        return self.p_decisive < self.alpha

    @property
    def all_equivalent(self) -> bool:
        """Whether delta is shown to be below the margin in every stratum."""
        return all(
            each.equivalence is not None and each.equivalence.equivalent for each in self.strata
        )

    @property
    def uneven(self) -> bool:
        """Whether strata are shown to differ, and not shown to differ by less than the margin."""
        return self.differs and not self.all_equivalent

    @property
    def falling(self) -> tuple[StratumResult, ...]:
        """Strata in which accuracy is lower on the transformed texts; see :attr:`moving`."""
        return tuple(each for each in self.moving if each.delta > 0)

    @property
    def rising(self) -> tuple[StratumResult, ...]:
        """Strata in which accuracy is higher on the transformed texts; see :attr:`moving`."""
        return tuple(each for each in self.moving if each.delta < 0)

    @property
    def moving(self) -> tuple[StratumResult, ...]:
        """Strata whose adjusted p-value rejects; without any, the one with the smallest."""
        tested = [each for each in self.strata if each.p_adjusted is not None]
        found = [each for each in tested if (each.p_adjusted or 0.0) < self.alpha]
        if not found and tested:
            found = [min(tested, key=lambda each: each.p_value or 0.0)]
        return tuple(found)

    @property
    def movement(self) -> str:
        """Which strata are shown to lose and which to gain, in words."""
        if not any((each.p_adjusted or 0.0) < self.alpha for each in self.moving):
            nearest = "".join(
                f"; the smallest p is that of {each.name} (delta {each.delta:+.4f}, "
                f"p = {format_p(each.p_adjusted or 0.0)})"
                for each in self.moving
            )
            return f"no stratum stands out by itself{nearest}"
        parts = [
            f"{verb} on {', '.join(_say_stratum(each) for each in own)}"
            for verb, own in (("falls", self.falling), ("rises", self.rising))
            if own
        ]
        return f"accuracy {' and '.join(parts)}"

    @property
    def explanation(self) -> str:
        """What is shown, in plain words."""
        found, p = self.heterogeneity, self.format_p()
        more = f" {self.n_untested} of {len(self.strata)} are too small for a test." * bool(
            self.n_untested
        )
        if found.df == 0:
            few = (
                "no answer changes between right and wrong"
                if sum(found.losses + found.gains) == 0
                else "answers change between right and wrong in one of them only"
            )
            return f"By {self.name}: {few}, so they cannot be compared.{more}"
        if not self.differs:
            return (
                f"By {self.name}: the proportion of losses to gains is not shown to differ "
                f"(p = {p}).{more}"
            )
        seen = " In each the change is shown to be below the margin." * self.all_equivalent
        return (
            f"By {self.name}: the proportion of losses to gains differs (p = {p}): "
            f"{self.movement}.{seen}{more}"
        )

    @property
    def warning(self) -> str | None:
        """What the reader has to know before the strata's p-values are used; None if nothing."""
        few = [each.name for each in self.strata if each.decided_by_few]
        if not few:
            return None
        return (
            f"few clusters decide in {', '.join(few)}: the p-values of these strata may reject too "
            "often"
        )

    def format_p(self) -> str:
        """Return the p-value by which ``differs`` goes, as it is printed."""
        floor = self.heterogeneity.p_floor if self.p_adjusted is None else None
        return format_p(self.p_decisive, floor=floor)

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        return {
            "name": self.name,
            "strata": [each.to_dict() for each in self.strata],
            "heterogeneity": self.heterogeneity.to_dict(),
            "correction": self.correction,
            "margin": self.margin,
            "flip_margin": self.flip_margin,
            "alpha": self.alpha,
            "p_adjusted": self.p_adjusted,
            "differs": self.differs,
            "uneven": self.uneven,
            "n_untested": self.n_untested,
            "explanation": self.explanation,
            "warning": self.warning,
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each stratum."""
        return [fit_cells({"by": self.name} | each.to_dict()) for each in self.strata]

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        return [(each.name, _say_row(each, self.correction)) for each in self.strata]

    def remarks(self) -> list[str]:
        """Return what is shown as a sentence, and the warning."""
        said = [self.explanation]
        return said if self.warning is None else [*said, f"Warning: {self.warning}."]


def _say_stratum(stratum: StratumResult) -> str:
    p = "" if stratum.p_adjusted is None else f", p = {format_p(stratum.p_adjusted)}"
    return f"{stratum.name} ({100 * abs(stratum.delta):.2f} points{p})"


def _say_row(stratum: StratumResult, correction: str) -> str:
    said = f"{stratum.n:,} pairs, delta {stratum.delta:+.4f}"
    if stratum.equivalence is None or stratum.p_value is None or stratum.p_adjusted is None:
        return f"{said}, too few to test"
    said += (
        f" {stratum.equivalence.interval}, p = {format_p(stratum.p_value)}, "
        f"{correction} {format_p(stratum.p_adjusted)}"
    )
    if stratum.flips is not None:
        said += f", flipped {stratum.flips.rate:.2%} {stratum.flips.interval}"
    return said
