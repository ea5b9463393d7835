"""What a classifier makes of every property and rule, and the structural inference score."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.evaluation.logic.columns import CONSEQUENT, CONTROL
from ietest_fast.evaluation.logic.profile import LogicProfile, RuleResult
from ietest_fast.evaluation.logic.rules import RULES
from ietest_fast.evaluation.logic.score import (
    Accuracy,
    Outcomes,
    renormalise,
    score_informedly,
    score_plainly,
)
from ietest_fast.evaluation.logic.weights import default_weights, read_weights
from ietest_fast.evaluation.predictions import ORIGINAL
from ietest_fast.evaluation.shares import Share
from ietest_fast.stats.informedness import measure_informedness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray

    from ietest_fast.evaluation.logic.run_file import LogicAnswers, LogicRun
    from ietest_fast.evaluation.logic.score import StructuralScore
    from ietest_fast.evaluation.predictions import Predictions


def measure_logic(
    answers: Sequence[LogicAnswers],
    *,
    weights: str | Path | Mapping[str, float] | None = None,
    leave_out_undefined: bool = False,
    n_resamples: int | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> tuple[LogicProfile, ...]:
    """Measure answers to the questions of the suite."""
    chosen = None if weights is None else read_weights(weights)
    profiles: list[LogicProfile] = []
    for each in answers:
        for group in each.predictions.groups:
            mine = each.predictions.select(**group) if group else each.predictions
            several = len(answers) > 1 or len(each.predictions.groups) > 1
            found = _profile(
                mine,
                each.run,
                group=group if several else {},
                weights=chosen,
                leave_out_undefined=leave_out_undefined,
                bootstrap={"n_resamples": n_resamples, "seed": seed, "n_threads": n_threads},
            )
            said = _say_unlike(profiles[0], found) if profiles else ()
            profiles.append(replace(found, unlike=tuple(said)))
    return tuple(profiles)


def _profile(
    predictions: Predictions,
    run: LogicRun,
    *,
    group: dict[str, Any],
    weights: Mapping[str, float] | None,
    leave_out_undefined: bool,
    bootstrap: Mapping[str, Any],
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
            origin=run.rules[name],
            measured=None
            if run.rules[name].reason is not None
            else measure_informedness(
                (own := outcomes.get(name, _NOTHING)).holds,
                own.units,
                own.control_holds,
                own.control_units,
                **bootstrap,
            ),
        )
        for name, rule in RULES.items()
        if name in run.rules
    )
    asked = [each.name for each in results if each.measured is not None]
    chosen = dict(default_weights(asked) if weights is None else weights)
    used, scores = _score(chosen, accuracy, outcomes)
    undefined = list(dict.fromkeys(name for score in scores for name in score.undefined))
    if undefined and leave_out_undefined:
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
        run=run,
    )


def _score(
    weights: dict[str, float], accuracy: Accuracy, outcomes: Mapping[str, Outcomes]
) -> tuple[dict[str, float], tuple[StructuralScore, StructuralScore]]:
    return weights, (
        score_plainly(weights, accuracy, outcomes),
        score_informedly(weights, accuracy, outcomes),
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
        said.append({name: originals[name].to_pylist() for name in each.run.text_columns})
    if list(said[0].values()) != list(said[1].values()):
        return [f"{other.name} has answered other pairs than {first.name}: do not compare them."]
    if first.run.options != other.run.options or first.run.clusters != other.run.clusters:
        return [f"{other.name}: instances were not found as for {first.name}."]
    if first.label_names != other.label_names:
        return [
            (
                f"{other.name} has the labels {', '.join(other.label_names)}, and {first.name} "
                f"{', '.join(first.label_names)}."
            )
        ]
    return []
