"""Curves of consistency over the amount of data, as notebooks show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ietest_fast.evaluation.amount_axis import scale_amounts
from ietest_fast.signs import escape_label
from ietest_fast.stats.consistency.comparison import COMPARED_LABELS
from ietest_fast.stats.result import Result, fit_cells, format_p

if TYPE_CHECKING:
    from ietest_fast.evaluation.consistency_curves import ConsistencyCurve, CurvePoint

_SHOWN = {
    "accuracy_macro": "accuracy, macro",
    "p_c_unbiased": "P_C, unbiased",
    "p_c": "P_C, plug-in",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ConsistencyCurves(Result):
    """Accuracy and P_C over the amount of data (Srikanth et al. 2024, section 8)."""

    curves: tuple[ConsistencyCurve, ...]
    """One for each model, rho and transformation of a run; of profiles one."""

    title = "Accuracy and P_C over the amount of data"

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {"curves": [each.to_dict() for each in self.curves]}

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        rows = []
        for curve in self.curves:
            rows.append((f"{curve.name}, {curve.of}" if curve.name else curve.of, ""))
            for point in curve.points:
                for measure in ("accuracy_macro", point.consistency):
                    label = f"  {point.written}: {_SHOWN[measure]}"
                    rows.append((label, _say(point, measure)))
            for step in curve.steps:
                for measure, own in step.means.items():
                    said = f"p = {format_p(own.p_adjusted)}: {step.first} against {step.second}"
                    rows.append((f"  {COMPARED_LABELS[measure]}", said))
        return rows

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each point."""
        return [
            fit_cells(
                {
                    "curve": curve.name,
                    "of": curve.of,
                    "amount": point.amount,
                    "name": point.name,
                    **point.result.to_dict(),
                }
            )
            for curve in self.curves
            for point in curve.points
        ]

    def remarks(self) -> list[str]:
        """Return what to know of the tests."""
        steps = [step for curve in self.curves for step in curve.steps]
        said = [
            f"{step.first}, {step.second}: {line}" for step in steps for line in step.warnings()
        ]
        if steps:
            said.append("A step compares these classifiers, not amounts of data.")
        return said

    def plot(self, *, ax: Any = None) -> Any:
        """Draw P_C over the amount of data with its intervals, a line for each curve.

        P_C is the unbiased one, or plug-in where no item has a pair. The accuracy of a curve that
        stands alone is drawn, too.
        """
        from ietest_fast.stats.intervals import axes_or_new

        ax = axes_or_new(ax)
        alone = len(self.curves) == 1
        for curve in self.curves:
            _draw(ax, curve, "", curve.name or "P_C")
            if alone:
                _draw(ax, curve, "accuracy_macro", "accuracy, macro")
        points = [point for curve in self.curves for point in curve.points]
        by_amount = {point.amount: point for point in points}
        scale_amounts(ax, [by_amount[amount] for amount in sorted(by_amount)])
        ax.set_xlabel(escape_label(" or ".join(dict.fromkeys(each.of for each in self.curves))))
        ax.set_ylabel("P_C and accuracy" if alone else "P_C")
        ax.legend()
        return ax

    def __repr__(self) -> str:
        return str(self)


def _draw(ax: Any, curve: ConsistencyCurve, measure: str, label: str) -> None:
    """Draw a measure of a curve, P_C if none is named, with intervals."""
    measured = [
        (point.amount, own)
        for point in curve.points
        if (own := point.result.estimates.get(measure or point.consistency)) is not None
        and own.value is not None
    ]
    (line,) = ax.plot(
        [at for at, _ in measured],
        [own.value for _, own in measured],
        marker="o",
        label=escape_label(label),
    )
    for at, own in measured:
        if own.interval is not None:
            ends = [own.interval.low, own.interval.high]
            ax.plot([at, at], ends, color=line.get_color(), linewidth=1)


def _say(point: CurvePoint, measure: str) -> str:
    own = point.result[measure]
    if own.value is None:
        return "not defined"
    return f"{own.value:.4f}" if own.interval is None else f"{own.value:.4f}  {own.interval}"
