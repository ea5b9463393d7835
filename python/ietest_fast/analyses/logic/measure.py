"""What a classifier makes of every property and rule, and the structural inference score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from ietest_fast.analyses.logic.candidates import LogicOptions
from ietest_fast.analyses.logic.file import CONSEQUENT, CONTROL
from ietest_fast.analyses.logic.rules import (
    RULES,
    Accuracy,
    Outcomes,
    compute_score,
    default_weights,
    renormalise,
)
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.errors import InputError
from ietest_fast.escapes import escape_label
from ietest_fast.numerals import list_dropped, say_count
from ietest_fast.stats.informedness import Share, measure_informedness
from ietest_fast.stats.result import Result, fit_cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.analyses.logic.file import LogicAnswers
    from ietest_fast.analyses.logic.notes import LogicNotes, RuleOrigin
    from ietest_fast.analyses.logic.rules import Rule, StructuralScore
    from ietest_fast.answers.table import Predictions
    from ietest_fast.stats.informedness import Informedness, Rate


# How logical a classifier's answers are: a result for each rule, and the score.


@dataclass(frozen=True, kw_only=True)
class RuleResult:
    """What a classifier makes of a rule."""

    rule: Rule
    """Which."""
    origin: RuleOrigin
    """What its instances were found among, and why it was not asked."""
    measured: Informedness | None
    """The rate of the instances to which it applies in which the consequents hold (eq. 5.2), that
    of control questions, and their difference; None if it was not asked."""

    @property
    def name(self) -> str:
        """The rule's name."""
        return self.rule.name

    @property
    def n_instances(self) -> int:
        """Instances to which it applies."""
        return 0 if self.measured is None else self.measured.rate.n

    @property
    def is_kept(self) -> bool | None:
        """Of a rule of which not all instances should hold, whether one does not; else None.

        None as well where it applies to no instance.
        """
        if self.rule.should_hold or self.measured is None or not self.n_instances:
            return None
        return self.measured.rate.k < self.measured.rate.n

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        found = self.measured
        return {
            "rule": self.name,
            "formula": self.rule.formula,
            "group": self.rule.group,
            "not_asked": self.origin.reason,
            "items": self.origin.n_items,
            "candidates": self.origin.n_candidates,
            "instances": self.n_instances,
            **_rate("rate", None if found is None else found.rate),
            **_rate("control", None if found is None else found.control),
            "informedness": None if found is None else found.value,
            "informedness_interval": None
            if found is None or found.interval is None
            else [found.interval.low, found.interval.high],
            "is_kept": self.is_kept,
            "left_out": dict(self.origin.left_out),
        }


def _rate(name: str, rate: Rate | None) -> dict[str, Any]:
    interval = None if rate is None else rate.interval
    return {
        name: None if rate is None else rate.value,
        f"{name}_n": 0 if rate is None else rate.n,
        f"{name}_interval": None if interval is None else [interval.low, interval.high],
    }


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LogicProfile(Result):
    """A classifier on all properties and rules."""

    group: dict[str, Any]
    """Which classifier: its ``model``, ``m`` and ``rho``, where there are several."""
    label_names: tuple[str, ...]
    """Names of the labels."""
    accuracy: Share
    """On the labelled pairs."""
    accuracy_informedness: float | None
    """The mean accuracy over labels, so that guessing gives 0; None where it is not defined."""
    results: tuple[RuleResult, ...]
    """One for each property and rule, in their order."""
    weights: Mapping[str, float]
    """Of the score as they were chosen."""
    used_weights: Mapping[str, float]
    """As they were used: without undefined parts, if it was asked to leave these out."""
    score: StructuralScore
    """Equation 5.3: of accuracy and rates."""
    informed_score: StructuralScore
    """Of informedness in their place."""
    predictions: Predictions
    """The long table of the classifier's answers."""
    notes: LogicNotes
    """How they came about."""
    unlike: tuple[str, ...] = ()
    """Whole sentences about what makes it hard to compare with the first of several classifiers."""

    @property
    def name(self) -> str:
        """Which classifier, in one line."""
        return ", ".join(str(value) for value in self.group.values()) or "the classifier"

    @property
    def title(self) -> str:  # type: ignore[override]
        """Heads the table."""
        return f"The logic of {self.name}"

    @property
    def is_renormalised(self) -> bool:
        """Whether undefined parts were left out of the score."""
        return dict(self.used_weights) != dict(self.weights)

    @property
    def asked(self) -> list[RuleResult]:
        """What should hold, and has instances."""
        return [each for each in self.results if each.rule.should_hold and each.n_instances]

    @property
    def violated(self) -> list[RuleResult]:
        """What should hold, and does not of every instance."""
        return [
            each
            for each in self.asked
            if each.measured is not None and each.measured.rate.k < each.n_instances
        ]

    @property
    def headline(self) -> str:
        """The answer in one sentence, at most 30 words."""
        score = self.informed_score.value
        said = "is not defined" if score is None else f"is {score:.3f}"
        ranked = sorted(
            (each.measured.value, each.name)
            for each in self.asked
            if each.measured is not None and each.measured.value is not None
        )
        least = ", ".join(f"{name} {value:+.2f}" for value, name in ranked[:3])
        worst = f"; least informed: {least}".replace("-0.00", "0.00") if ranked else ""
        return (
            f"{len(self.violated):,} of {len(self.asked):,} rules are violated by some answers; "
            f"the structural inference score, of informedness, {said}{worst}."
        )

    def beware(self) -> list[str]:
        """Return what was left out, and warnings."""
        said = [f"{each}." for each in list_dropped(self.predictions.dropped, "left out")]
        return [*said, *self.notes.warnings]

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            **self.group,
            "labels": list(self.label_names),
            "headline": self.headline,
            **self.accuracy.to_dict("accuracy"),
            "accuracy_informedness": self.accuracy_informedness,
            "rules": [each.to_dict() for each in self.results],
            "weights": dict(self.weights),
            "used_weights": dict(self.used_weights),
            "score": self.score.to_dict(),
            "informed_score": self.informed_score.to_dict(),
            "options": dict(self.notes.options),
            "clusters": self.notes.clusters,
            "dropped": dict(self.predictions.dropped),
            "warnings": list(self.notes.warnings),
            "unlike": list(self.unlike),
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        rows = [("accuracy", _percent(self.accuracy.share, self.accuracy.n))]
        rows += [(each.name, _say(each)) for each in self.results]
        rows += [
            ("score", say_score(self.score)),
            ("informed score", say_score(self.informed_score)),
        ]
        return rows

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each property and rule."""
        return [fit_cells(each.to_dict()) for each in self.results]

    def remarks(self) -> list[str]:
        """Return the weights, what the score lacks, and what was not asked or left out."""
        said = [*self.beware(), self._say_weights(), *self._say_undefined()]
        said += [_say_both_ways(each) for each in self.results if each.is_kept is not None]
        none, bare = [], []
        for each in self.results:
            if each.measured is None:
                said.append(f"{each.name}: not asked: {each.origin.reason}.")
            elif not each.n_instances:
                none.append(f"{each.name} ({say_count(each.origin.n_candidates, 'candidate')})")
            elif each.rule.control is not None and each.measured.control.n == 0:
                bare.append(each.name)
        if none:
            said.append(f"Rules that apply to no instance, and so have no rate: {', '.join(none)}.")
        if bare:
            said.append(
                "Without control questions, as there are no sentences of other sources, and so "
                f"without informedness: {', '.join(bare)}."
            )
        return said + self._say_left_out()

    def _say_left_out(self) -> list[str]:
        by_reason: dict[str, list[str]] = {}
        for each in self.results:
            for reason, n in each.origin.left_out.items():
                by_reason.setdefault(reason, []).append(f"{each.name} {n:,}")
        return [
            f"Candidates left out because {reason}: {', '.join(names)}."
            for reason, names in by_reason.items()
        ]

    def _say_weights(self) -> str:
        used = self.used_weights if self.is_renormalised else self.weights
        said = ", ".join(f"{name} {weight:.4g}" for name, weight in used.items())
        if not self.is_renormalised:
            return f"Weights of the score: {said or 'none'}."
        left = ", ".join(name for name in self.weights if name not in used)
        return f"Weights of the score, {left} left out: {said or 'none'}."

    def _say_undefined(self) -> list[str]:
        said = []
        for what, lacks, score in (
            ("score", "rate", self.score),
            ("informed score", "informedness", self.informed_score),
        ):
            if score.undefined:
                have = "has" if len(score.undefined) == 1 else "have"
                said.append(
                    f"The {what} is not defined, as {', '.join(score.undefined)} {have} no {lacks}."
                )
        remedy = "Choose other weights, or leave such parts out (renormalise, --renormalise)."
        return [*said, remedy] if said else []

    def __getitem__(self, rule: str) -> RuleResult:
        found = {each.name: each for each in self.results}
        if rule not in found:
            raise KeyError(f"there is no rule {rule!r}; there are {', '.join(RULES)}")
        return found[rule]

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the informedness of every property and rule, with 95% intervals."""
        drawn = [
            (each.name, each.measured.value, each.measured.interval)
            for each in self.results
            if each.measured is not None and each.measured.interval is not None
        ]
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.subplots(figsize=(6.4, 1.4 + 0.3 * len(drawn)), layout="constrained")[1]
        for place, (_, value, interval) in enumerate(drawn):
            ax.plot([interval.low, interval.high], [place, place], color="tab:blue")
            ax.plot([value], [place], "o", color="tab:blue")
        ax.axvline(0, color="black", linewidth=0.7)
        ax.set_yticks(range(len(drawn)), [escape_label(name) for name, *_ in drawn])
        ax.set_ylim(len(drawn) - 0.5, -0.5)
        ax.set_xlabel("informedness")
        return ax

    def __repr__(self) -> str:
        return str(self)


def _say_both_ways(result: RuleResult) -> str:
    rate = result.measured.rate if result.measured is not None else None
    assert rate is not None  # noqa: S101 - it applies to an instance
    said = f"{result.name}: {rate.k:,} of {say_count(rate.n, 'entailment')} hold in both directions"
    return f"{said}; {'not all do, as it should be' if result.is_kept else 'not all should'}."


def _say(result: RuleResult) -> str:
    found = result.measured
    if found is None:
        return "not asked"
    if found.rate.value is None:
        return "no instance"
    said = _percent(found.rate.value, found.rate.n)
    if found.value is not None and found.interval is not None:
        ends = f"{found.interval.low:+.3f} to {found.interval.high:+.3f}"
        said += f", control {found.control.value:.2%}, informedness {found.value:+.3f} ({ends})"
    return said


def _percent(share: float | None, n: int) -> str:
    return "no rows" if share is None else f"{share:.2%} of {n:,}"


def say_score(score: StructuralScore) -> str:
    """Write a score with its interval."""
    if score.value is None:
        return "not defined"
    if score.interval is None:
        return f"{score.value:.4f}"
    return f"{score.value:.4f} ({score.interval.low:.4f} to {score.interval.high:.4f})"


def measure_logic(
    answers: Sequence[LogicAnswers], options: LogicOptions | None = None
) -> tuple[LogicProfile, ...]:
    """Measure answers to the questions of the suite."""
    options = options or LogicOptions()
    profiles: list[LogicProfile] = []
    for each in answers:
        for group in each.predictions.groups:
            mine = each.predictions.select(**group) if group else each.predictions
            several = len(answers) > 1 or len(each.predictions.groups) > 1
            found = _profile(mine, each.notes, options, group=group if several else {})
            said = _say_unlike(profiles[0], found) if profiles else ()
            profiles.append(replace(found, unlike=tuple(said)))
    return tuple(profiles)


def _profile(
    predictions: Predictions, notes: LogicNotes, options: LogicOptions, *, group: dict[str, Any]
) -> LogicProfile:
    originals = predictions.select(version=ORIGINAL)
    if predictions.label_names is None or "unit" not in predictions.columns:
        raise InputError("are no answers to the suite logic", path=predictions.source)
    accuracy = Accuracy(
        right=originals.correct, units=_numbers(originals, "unit"), gold=originals.codes("gold")
    )
    outcomes = {
        name: _outcomes(predictions.select(version=name))
        for name in RULES
        if name in predictions.versions
    }
    results = tuple(
        RuleResult(
            rule=rule,
            origin=notes.rules[name],
            measured=None
            if notes.rules[name].reason is not None
            else measure_informedness(
                (own := outcomes.get(name, _NOTHING)).holds,
                own.units,
                own.control_holds,
                own.control_units,
                n_resamples=options.n_resamples,
                seed=options.seed,
                n_threads=options.n_threads,
            ),
        )
        for name, rule in RULES.items()
        if name in notes.rules
    )
    asked = [each.name for each in results if each.measured is not None]
    chosen = dict(options.weights or default_weights(asked))
    used, scores = _score(chosen, accuracy, outcomes)
    undefined = list(dict.fromkeys(name for score in scores for name in score.undefined))
    if undefined and options.renormalise:
        used, scores = _score(renormalise(chosen, undefined), accuracy, outcomes)
    return LogicProfile(
        group=group,
        label_names=predictions.label_names,
        accuracy=Share.of(accuracy.right, accuracy.units),
        accuracy_informedness=accuracy.informedness,
        results=results,
        weights=chosen,
        used_weights=used,
        score=scores[0],
        informed_score=scores[1],
        predictions=predictions,
        notes=notes,
    )


def _score(
    weights: dict[str, float], accuracy: Accuracy, outcomes: Mapping[str, Outcomes]
) -> tuple[dict[str, float], tuple[StructuralScore, StructuralScore]]:
    return weights, (
        compute_score(weights, accuracy, outcomes, informed=False),
        compute_score(weights, accuracy, outcomes, informed=True),
    )


def _outcomes(own: Predictions) -> Outcomes:
    """Say of each instance whether all consequents hold, and all control questions get them."""
    part = own.table["part"]
    instance, unit = _numbers(own, "instance"), _numbers(own, "unit")
    found = []
    for name, is_right in ((CONSEQUENT, True), (CONTROL, False)):
        rows = pc.equal(part, name).to_numpy()
        as_asked = own.correct[rows] == is_right
        which, first, place = np.unique(instance[rows], return_index=True, return_inverse=True)
        failed = np.bincount(place, ~as_asked, len(which))
        found += [failed == 0, unit[rows][first]]
    return Outcomes(holds=found[0], units=found[1], control_holds=found[2], control_units=found[3])


_NOTHING = Outcomes(
    holds=np.empty(0, np.bool_),
    units=np.empty(0, np.int64),
    control_holds=np.empty(0, np.bool_),
    control_units=np.empty(0, np.int64),
)


def _numbers(predictions: Predictions, name: str) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.asarray(predictions.table[name].cast("int64"))
    return found


def _say_unlike(first: LogicProfile, other: LogicProfile) -> list[str]:
    """Say what makes the numbers of two classifiers differ beside the classifiers."""
    said = []
    for each in (first, other):
        originals = each.predictions.select(version=ORIGINAL).table
        said.append({name: originals[name].to_pylist() for name in each.notes.text_columns})
    if list(said[0].values()) != list(said[1].values()):
        return [f"{other.name} has answered other pairs than {first.name}: do not compare them."]
    if first.notes.options != other.notes.options or first.notes.clusters != other.notes.clusters:
        return [f"{other.name}: instances were not found as for {first.name}."]
    if first.label_names != other.label_names:
        return [
            (
                f"{other.name} has the labels {', '.join(other.label_names)}, and {first.name} "
                f"{', '.join(first.label_names)}."
            )
        ]
    return []
