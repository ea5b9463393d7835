"""From answers to the wordings of items to what they show: classifiers, subsets, comparisons."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ietest_fast.analyses.consistency.file import ConsistencyAnswers, confidences_of, count_strata
from ietest_fast.analyses.consistency.partition import (
    ComparedPair,
    adjust_pairs,
    part_by_column,
    part_by_diversity,
    part_by_partial_input,
)
from ietest_fast.analyses.consistency.profile import ConsistencyProfile, name_group
from ietest_fast.analyses.consistency.shared import (
    UNSHARED,
    check_same_texts,
    compare_with_test_set,
    find_answered_texts,
    say_equal_texts,
    share_paraphrases,
)
from ietest_fast.analyses.consistency.wordings import find_confidence, find_wordings
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats.consistency.comparison import compare_consistency
from ietest_fast.stats.consistency.corrected import (
    DEFAULT_CONFIDENCE_STRATA,
    MOST_CONFIDENCE_STRATA,
    correct_consistency,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.answers.table import Predictions


def weigh_by_test_sets(
    answers: Sequence[ConsistencyAnswers],
    test_sets: Sequence[Predictions],
    *,
    n_strata: int | None = None,
) -> tuple[ConsistencyAnswers, ...]:
    """Note how many items of the full test set have which confidence, for corrected estimates."""
    n = DEFAULT_CONFIDENCE_STRATA if n_strata is None else n_strata
    if not 1 <= n <= MOST_CONFIDENCE_STRATA:
        raise InputError(f"the number of strata is from 1 to {MOST_CONFIDENCE_STRATA:,}, not {n}")
    wanted = [name_group(group) for each in answers for group in each.predictions.groups]
    given = [
        (name_group(group), each.select(**group) if group else each)
        for each in test_sets
        for group in each.groups
    ]
    if {name for name, _ in given} >= set(wanted) and len(wanted) > 1:
        by_name = dict(given)
        chosen = [by_name[name] for name in wanted]
    elif len(given) == len(wanted):
        chosen = [own for _, own in given]
    else:
        raise InputError(
            f"{say_count(len(given), 'classifier has', 'classifiers have')} answered a full test "
            f"set, and {len(wanted)} the paraphrases; give one test set for each, in their order",
            path=test_sets[0].source,
        )
    strata = {}
    full_of = dict(zip(wanted, chosen, strict=True))
    for name, own in full_of.items():
        confidence = find_confidence(own)
        try:
            strata[name] = count_strata(confidence, n)
        except InputError as error:
            raise InputError(str(error), path=own.source) from error
    found = []
    for each in answers:
        mine, notes = {}, dict.fromkeys(each.notes.warnings)
        for group in each.predictions.groups:
            name = name_group(group)
            mine[name] = strata[name]
            own = each.predictions.select(**group) if group else each.predictions
            texts = find_answered_texts(own, each.notes.text_columns)
            said = compare_with_test_set(own, full_of[name], text_columns=texts)
            notes |= dict.fromkeys(said)
        found.append(replace(each, notes=replace(each.notes, strata=mine, warnings=tuple(notes))))
    return tuple(found)


def measure_wordings(
    answers: Sequence[ConsistencyAnswers],
    *,
    clusters: str | None = None,
    subset: str | None = None,
    confidence_level: float = 0.95,
    **options: Any,
) -> tuple[ConsistencyProfile, ...]:
    """Measure the answers of files, each as it says of itself."""
    profiles = []
    for each in answers:
        for group in each.predictions.groups:
            mine = each.predictions.select(**group) if group else each.predictions
            is_named = len(answers) > 1 or len(each.predictions.groups) > 1
            profiles.append(
                _measure_one(
                    replace(each, predictions=mine),
                    group,
                    is_named=is_named,
                    clusters=clusters or each.notes.clusters,
                    subset=subset or each.notes.subset,
                    confidence_level=confidence_level,
                    options=options,
                )
            )
    return tuple(profiles)


def _measure_one(
    answers: ConsistencyAnswers,
    group: dict[str, Any],
    *,
    is_named: bool,
    clusters: str | None,
    subset: str | None,
    confidence_level: float,
    options: dict[str, Any],
) -> ConsistencyProfile:
    predictions, notes = answers.predictions, answers.notes
    wordings = find_wordings(predictions, cluster=clusters)
    texts = find_answered_texts(predictions, notes.text_columns)
    try:
        counts = wordings.count()
        result = wordings.measure(confidence_level=confidence_level, **options)
        strata = notes.strata.get(name_group(group))
        corrected = None
        if strata is not None:
            with warnings.catch_warnings():
                # The result says it itself.
                warnings.simplefilter("ignore", IetestWarning)
                corrected = correct_consistency(
                    counts,
                    confidences_of(strata),
                    n_strata=len(strata),
                    confidence_level=confidence_level,
                )
        diversity = part_by_diversity(
            answers, counts, subset=subset, confidence_level=confidence_level, **options
        )
        partial = part_by_partial_input(
            answers, counts, strata=strata, confidence_level=confidence_level, **options
        )
    except InputError as error:
        if error.path is not None:
            raise
        raise InputError(str(error), path=predictions.source) from error
    subsets = None
    if subset is not None:
        subsets = part_by_column(
            predictions,
            subset,
            clusters=clusters,
            confidence_level=confidence_level,
            **options,
        )
    return ConsistencyProfile(
        group=group if is_named else {},
        result=result,
        counts=counts,
        corrected=corrected,
        subsets=subsets,
        diversity=diversity,
        partial=partial,
        n_mixed=notes.n_mixed.get(name_group(group), 0),
        n_empty=notes.n_empty.get(name_group(group), 0),
        n_wanted=notes.n_wanted.get(name_group(group)),
        predictions=predictions,
        warnings=(*notes.warnings, *wordings.remarks, *say_equal_texts(predictions, texts)),
        text_columns=texts,
    )


def compare_models(
    profiles: Sequence[ConsistencyProfile], **options: Any
) -> tuple[tuple[ComparedPair, ...], tuple[str, ...]]:
    """Compare classifiers with each other on the items that both have answered."""
    compared, apart, unshared = [], [], []
    for one, two in combinations(profiles, 2):
        n_common = len(set(one.counts.names.tolist()) & set(two.counts.names.tolist()))
        if n_common < 2:
            apart.append((one.name, two.name))
            continue
        check_same_texts(one, two)
        if not share_paraphrases(one, two):
            unshared.append((one.name, two.name))
        compared.append(
            (one.name, two.name, compare_consistency(one.counts, two.counts, **options))
        )
    said = []
    if apart:
        said.append(f"Not compared, with fewer than two items in common: {_name_first(apart)}.")
    if unshared:
        said.append(f"{UNSHARED}: {_name_first(unshared)}.")
    return adjust_pairs(compared), tuple(said)


def _name_first(pairs: Sequence[tuple[str, str]]) -> str:
    """Name a pair of classifiers, and count the others."""
    many = f", and {say_count(len(pairs) - 1, 'more pair')}" if len(pairs) > 1 else ""
    return f"{' and '.join(pairs[0])}{many}"
