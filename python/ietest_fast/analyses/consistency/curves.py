"""Consistency over the amount of data: the curves of Srikanth et al. (2024), section 8."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.consistency.file import AMOUNT, Amounts, find_swapped, name_group
from ietest_fast.analyses.consistency.partition import ComparedPair, adjust_pairs
from ietest_fast.errors import InputError
from ietest_fast.escapes import escape_label
from ietest_fast.numerals import format_amount, format_p, say_count, say_p
from ietest_fast.stats.consistency.corrected import COMPARED_LABELS, compare_consistency
from ietest_fast.stats.result import Result, fit_cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

    from ietest_fast.analyses.consistency.file import ConsistencyAnswers
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.answers.table import Predictions
    from ietest_fast.stats.consistency.buckets import BucketCounts
    from ietest_fast.stats.consistency.measure import ConsistencyResult


# The axis of a figure over amounts of data.

# From so many times the smallest amount on the axis is logarithmic.
_LOGARITHMIC_FROM = 4
_MOST_TICKS = 6


def scale_amounts(axes: Axes, points: Sequence[CurvePoint]) -> None:
    """Write amounts below an axis, which is logarithmic if they are far apart."""
    from matplotlib.ticker import NullFormatter, NullLocator

    amounts = [each.amount for each in points]
    is_log = amounts[-1] >= _LOGARITHMIC_FROM * amounts[0]
    if is_log:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    shown = _choose_ticks(amounts, is_log=is_log)
    axes.set_xticks(
        [amounts[place] for place in shown],
        [escape_label(points[place].written) for place in shown],
    )


def _choose_ticks(amounts: Sequence[float], *, is_log: bool) -> list[int]:
    """Return which amounts are written: the ends, and those with room for their labels."""
    place = math.log if is_log else float
    whole = place(amounts[-1]) - place(amounts[0])
    least = whole / (_MOST_TICKS + 1)
    shown = [0]
    for number, each in enumerate(amounts[1:-1], 1):
        apart = place(each) - place(amounts[shown[-1]]), place(amounts[-1]) - place(each)
        if min(apart) >= least:
            shown.append(number)
    return [*shown, len(amounts) - 1]


# Answers to wordings, with the amount of data that each classifier has seen.


def note_amounts(
    answers: Sequence[ConsistencyAnswers],
    amounts: Sequence[float],
    *,
    of: str | None = None,
    in_percent: bool = False,
) -> tuple[ConsistencyAnswers, ...]:
    """Note how much data each classifier has seen: all of them are one curve."""
    names = [name_group(group) for each in answers for group in each.predictions.groups]
    if len(amounts) != len(names):
        shown = [
            repr(name_group(group) or Path(each.predictions.source).stem)
            for each in answers
            for group in each.predictions.groups
        ]
        raise InputError(
            f"there {'is' if len(amounts) == 1 else 'are'} {say_count(len(amounts), 'amount')} for "
            f"{say_count(len(names), 'classifier')}; give one for each, in "
            f"the order of {', '.join(shown)}"
        )
    by_model = dict(zip(names, amounts, strict=True))
    said = [_say_other_amounts(each, by_model, of) for each in answers]
    said[0] += _say_swapped(answers, names, amounts, in_percent=in_percent)
    noted = _with_curve(answers, Amounts(of=of or AMOUNT, by_model=by_model, in_percent=in_percent))
    return tuple(
        replace(each, notes=replace(each.notes, warnings=(*each.notes.warnings, *own)))
        for each, own in zip(noted, said, strict=True)
    )


def _say_swapped(
    answers: Sequence[ConsistencyAnswers],
    names: Sequence[str],
    amounts: Sequence[float],
    *,
    in_percent: bool,
) -> list[str]:
    """Say where the names of classifiers, or of their files, have the amounts in another order."""
    files = [
        Path(each.predictions.source).name for each in answers for _ in each.predictions.groups
    ]
    columns = _find_constants(answers)
    told = [("whose name", texts, texts) for texts in (names, files)]
    told += [(f"whose column {name}", files, own) for name, own in columns.items()]
    for where, texts, said in told:
        place = find_swapped(said, amounts)
        if place is not None:
            given = format_amount(amounts[place], in_percent=in_percent)
            note = (
                f"Warning: {given} is given as the amount of {texts[place]}, {where} has another "
                f"of the amounts, and counts; are they in the order of {', '.join(texts)}?"
            )
            return [note]
    return []


def _find_constants(answers: Sequence[ConsistencyAnswers]) -> dict[str, list[str]]:
    """Return the columns of numbers that say one thing in each file, with what each says."""
    tables = [each.predictions.table for each in answers]
    shared = set.intersection(*({*each.predictions.extra_columns} for each in answers))
    found: dict[str, list[str]] = {}
    for name in sorted(shared):
        columns = [table[name] for table in tables]
        if not all(
            pa.types.is_integer(own.type) or pa.types.is_floating(own.type) for own in columns
        ):
            continue
        kinds = [pc.unique(own) for own in columns]
        if all(len(own) == 1 and own[0].is_valid for own in kinds):
            found[name] = [f"{own[0].as_py():f}" for own in kinds]
    return found


def _say_other_amounts(
    answers: ConsistencyAnswers, given: Mapping[str, float], of: str | None
) -> list[str]:
    """Say where a file has noted other amounts, or has a column of their name that says so."""
    own = {name: n for curve in answers.notes.curves for name, n in curve.by_model.items()}
    if of is not None and of in answers.predictions.extra_columns:
        with contextlib.suppress(InputError):
            own |= read_amounts_of(answers, of)
    return [
        f"Warning: {answers.predictions.source}: the amount of {name or 'the classifier'} is "
        f"{format_amount(n)} there, and {format_amount(given[name])} is given, which counts."
        for name, n in own.items()
        if name in given and n != given[name]
    ]


def read_amounts(
    answers: Sequence[ConsistencyAnswers], column: str, *, of: str | None = None
) -> tuple[ConsistencyAnswers, ...]:
    """Note how much data each classifier has seen, as a column of the answers says."""
    found: dict[str, float] = {}
    for each in answers:
        found |= read_amounts_of(each, column)
    return _with_curve(answers, Amounts(of=of or column, by_model=found))


def read_amounts_of(answers: ConsistencyAnswers, column: str) -> dict[str, float]:
    """Read how much data each classifier of a file has seen, by its name."""
    found = {}
    for group in answers.predictions.groups:
        own = answers.predictions.select(**group) if group else answers.predictions
        found[name_group(group)] = read_amount(own, column, name_group(group))
    return found


def read_amount(predictions: Predictions, column: str, name: str = "") -> float:
    """Read how much data a classifier has seen, as a column of its answers says."""
    table = predictions.table

    def error(complaint: str) -> InputError:
        return InputError(complaint, path=predictions.source, column=column)

    if column not in table.column_names:
        raise error(f"has no such column of amounts; it has {', '.join(table.column_names)}")
    whose = f" of {name}" if name else ""
    try:
        values = pc.unique(pc.cast(table[column].combine_chunks(), pa.float64())).to_pylist()
    except pa.ArrowException as cause:
        raise error(f"holds {table[column].type}; amounts are numbers") from cause
    if len(values) != 1:
        raise error(
            f"holds {len(values):,} different amounts in the rows{whose}; a classifier has seen "
            "one amount of data"
        )
    amount = values[0]
    if amount is None or not 0 < amount < math.inf:
        raise error(f"holds {amount!r} in the rows{whose}; an amount is a number above 0")
    return float(amount)


def check_curve(amounts: Amounts) -> None:
    """Refuse amounts that make no curve: of one classifier only, or of two with the same amount."""
    if len(amounts.by_model) < 2:
        raise InputError("a curve over amounts needs two classifiers or more")
    by_amount: dict[float, str] = {}
    for name, amount in amounts.by_model.items():
        if amount in by_amount:
            raise InputError(
                f"{by_amount[amount]} and {name} have the same amount, "
                f"{format_amount(amount, in_percent=amounts.in_percent)}; a curve has one "
                "classifier for each amount"
            )
        by_amount[amount] = name


def _with_curve(
    answers: Sequence[ConsistencyAnswers], amounts: Amounts
) -> tuple[ConsistencyAnswers, ...]:
    check_curve(amounts)
    # The whole curve stands in the first file alone.
    curves: list[tuple[Amounts, ...]] = [(amounts,)]
    curves += [()] * (len(answers) - 1)
    return tuple(
        replace(each, notes=replace(each.notes, curves=own))
        for each, own in zip(answers, curves, strict=True)
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class CurvePoint:
    """A classifier of a curve, or several that have seen the same amount of data."""

    name: str
    """Of the classifier."""
    amount: float
    """Of data that it has seen."""
    result: ConsistencyResult
    """Its measures, with intervals."""
    counts: BucketCounts
    """Its answers, counted by bucket."""
    by_classifier: dict[str, tuple[float, ...]]
    """By measure, the estimates of several classifiers, whose mean is that of `result`; empty for
    one classifier."""
    in_percent: bool = False
    """Whether the amount is a share that is shown as a percentage."""

    @property
    def written(self) -> str:
        """The amount as people read it, such as ``10M`` or ``10%``."""
        return format_amount(self.amount, in_percent=self.in_percent)

    @property
    def n_classifiers(self) -> int:
        """How many classifiers these are."""
        return max((len(own) for own in self.by_classifier.values()), default=1)

    @property
    def consistency(self) -> str:
        """Which measure is shown: P_C without bias, or plug-in where no item has a pair."""
        own = self.result.estimates.get("p_c_unbiased")
        return "p_c" if own is None or own.value is None else "p_c_unbiased"

    def spread(self, measure: str) -> float | None:
        """Return the standard deviation (divisor M - 1) of a measure; None of one classifier."""
        own = self.by_classifier.get(measure, ())
        return float(np.std(own, ddof=1)) if len(own) > 1 else None

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "name": self.name,
            "amount": self.amount,
            **self.result.to_dict(),
            "by_classifier": {name: list(own) for name, own in self.by_classifier.items()},
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class ConsistencyCurve:
    """Classifiers that differ in the amount of data that they have seen."""

    name: str
    """Of the curve; empty if there is one only."""
    of: str
    """What there is an amount of."""
    points: tuple[CurvePoint, ...]
    """One for each amount, ascending."""
    steps: tuple[ComparedPair, ...]
    """Each amount compared with the one before, larger minus smaller, on the items that both have
    answered; without those that have fewer than two items in common. P-values are corrected by Holm
    over the steps of all curves, measure by measure."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "name": self.name,
            "of": self.of,
            "points": [each.to_dict() for each in self.points],
            "steps": [each.to_dict() for each in self.steps],
        }


def curves_of_profiles(
    amounts: Iterable[Amounts], profiles: Sequence[ConsistencyProfile], **options: Any
) -> tuple[ConsistencyCurve, ...]:
    """Order the profiles of classifiers by the amount of data that they have seen."""
    by_name = {each.name: each for each in profiles}
    found = []
    for own in amounts:
        points = [
            CurvePoint(
                name=name,
                amount=amount,
                result=by_name[name].result,
                counts=by_name[name].counts,
                by_classifier={},
                in_percent=own.in_percent,
            )
            for name, amount in own.by_model.items()
            if name in by_name
        ]
        if len(points) > 1:
            found.append((own.name, own.of, points))
    return make_curves(found, **options)


def make_curves(
    found: Iterable[tuple[str, str, Sequence[CurvePoint]]], **options: Any
) -> tuple[ConsistencyCurve, ...]:
    """Put points in their order, and compare each with the one before."""
    curves = [
        (name, of, tuple(sorted(points, key=lambda each: each.amount)))
        for name, of, points in found
    ]
    compared, whose = [], []
    for place, (_, _, points) in enumerate(curves):
        for smaller, larger in pairwise(points):
            common = set(smaller.counts.names.tolist()) & set(larger.counts.names.tolist())
            if len(common) > 1:
                result = compare_consistency(larger.counts, smaller.counts, **options)
                compared.append((larger.name, smaller.name, result))
                whose.append(place)
    adjusted = adjust_pairs(compared)
    return tuple(
        ConsistencyCurve(
            name=name,
            of=of,
            points=points,
            steps=tuple(pair for pair, own in zip(adjusted, whose, strict=True) if own == place),
        )
        for place, (name, of, points) in enumerate(curves)
    )


# Curves of consistency over the amount of data, as notebooks show them.

_IN_WORDS = {
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
                    label = f"  {point.written}: {_IN_WORDS[measure]}"
                    rows.append((label, _say(point, measure)))
            for step in curve.steps:
                for measure, own in step.means.items():
                    said = f"{say_p(format_p(own.p_adjusted))}: {step.first} against {step.second}"
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
