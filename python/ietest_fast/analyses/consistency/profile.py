"""How alike classifiers answer the wordings of items: the numbers, how they are found."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.analyses.consistency.file import (
    ConsistencyAnswers,
    count_strata,
    name_group,
)
from ietest_fast.analyses.consistency.partition import (
    ComparedPair,
    adjust_pairs,
    correct_by_strata,
    part_by_column,
    part_by_diversity,
    part_by_partial_input,
)
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
from ietest_fast.numerals import format_p, say_count
from ietest_fast.stats.consistency.corrected import (
    COMPARED_LABELS,
    DEFAULT_CONFIDENCE_STRATA,
    MOST_CONFIDENCE_STRATA,
    compare_consistency,
)
from ietest_fast.stats.result import Result, fit_cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.consistency.noting import ConsistencyOptions
    from ietest_fast.analyses.consistency.partition import (
        ConsistencyDiversity,
        ConsistencyPartial,
        ConsistencySubsets,
    )
    from ietest_fast.answers.table import Predictions
    from ietest_fast.stats.consistency.buckets import BucketCounts
    from ietest_fast.stats.consistency.corrected import ConsistencyComparison, CorrectedResult
    from ietest_fast.stats.consistency.measure import ConsistencyResult


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ConsistencyProfile(Result):
    """How alike a classifier answers the wordings of items (Srikanth et al. 2024)."""

    group: dict[str, Any]
    """Which classifier: its ``model``, ``m`` and ``rho``, where there are several."""
    result: ConsistencyResult
    """Accuracy, P_C and the other measures, with intervals."""
    counts: BucketCounts
    """The answers, counted by bucket."""
    corrected: CorrectedResult | None
    """Estimates for the full test set; None without one."""
    subsets: ConsistencySubsets | None
    """Consistency by the values of a column; None without one."""
    n_mixed: int
    """Items left out because their wordings have different gold labels."""
    n_empty: int | None
    """Items of the source without a row that could be used; None if it is known of several joined
    sources, and not of all together."""
    predictions: Predictions
    """The long table of the classifier's answers: one row for each wording."""
    diversity: ConsistencyDiversity | None = None
    """How diverse the paraphrases are, and consistency by it; None if it was not measured."""
    partial: ConsistencyPartial | None = None
    """Consistency on items that a part of the input decides, and on others; None without answers of
    a classifier that saw a part of it."""
    warnings: tuple[str, ...] = ()
    """Whole sentences about how the answers came about."""
    n_wanted: int | None = None
    """How many paraphrases of each item were asked for; None if they were not made here."""
    text_columns: tuple[str, ...] = ()
    """Columns of `predictions` that hold the texts that were answered; empty if none are known."""

    @property
    def n_items(self) -> int:
        """Items with answers, those without a paraphrase included."""
        return self.result.n_buckets + self.result.n_without_paraphrases

    @property
    def items_by_paraphrases(self) -> tuple[int, ...]:
        """How many items have 0, 1, ... paraphrases, up to the most, or to those asked for."""
        counts = np.bincount(self.counts.sizes, minlength=1 + (self.n_wanted or 0))
        return (self.result.n_without_paraphrases, *map(int, counts[1:]))

    @property
    def shortage(self) -> str | None:
        """A warning if less than half of the items have all paraphrases asked for, or None."""
        if self.n_wanted is None:
            return None
        n_all = sum(self.items_by_paraphrases[self.n_wanted :])
        if 2 * n_all >= self.n_items:
            return None
        n_none = self.result.n_without_paraphrases
        one = self.n_wanted == 1
        wanted = "the paraphrase that was" if one else f"all {self.n_wanted} paraphrases that were"
        fewer = "choose" if one else "ask for fewer draws, or add"
        about = ""
        if n_none:
            about = (
                f", and {say_count(n_none, 'has', 'have')} none. The measures are about the "
                f"{say_count(self.result.n_buckets, 'item')} that could be reworded, which may "
                "differ from the others"
            )
        return (
            f"{n_all:,} of {say_count(self.n_items, 'item')} ({n_all / self.n_items:.1%}) "
            f"{'has' if n_all == 1 else 'have'} {wanted} asked for{about}; {fewer} a "
            "transformation that changes more texts"
        )

    @property
    def name(self) -> str:
        """Which classifier, in one line."""
        return name_group(self.group) or "the classifier"

    @property
    def title(self) -> str:  # type: ignore[override]
        """Heads the table."""
        return f"Paraphrastic consistency of {self.name}"

    @property
    def statistic(self) -> float | None:
        """P_C, as the paper has it."""
        return self.result.statistic

    def __getitem__(self, measure: str) -> Any:
        """Return the estimate of a measure, such as ``profile["p_c"]``."""
        if measure not in self.result.estimates:
            known = ", ".join(self.result.estimates)
            raise KeyError(f"there is no measure {measure!r}; there are {known}")
        return self.result[measure]

    def compare(self, other: ConsistencyProfile, **options: Any) -> ConsistencyComparison:
        """Compare with another classifier on the items that both have answered.

        Parameters
        ----------
        other
            The other classifier's.
        **options
            As for :func:`ietest_fast.stats.compare_consistency`.

        Returns
        -------
        ConsistencyComparison
            This classifier minus the other.

        Raises
        ------
        InputError
            If `other` is no profile, the two have no item in common, or they have answered other
            texts as the same version of an item.
        """
        if not isinstance(other, ConsistencyProfile):
            raise InputError(
                f"other must be what ie.consistency returns, not {type(other).__name__!r}"
            )
        from ietest_fast.analyses.consistency.shared import (
            UNSHARED,
            check_same_texts,
            share_paraphrases,
        )

        check_same_texts(self, other)
        if not share_paraphrases(self, other):
            warnings.warn(f"{UNSHARED}.", IetestWarning, stacklevel=2)
        return compare_consistency(self.counts, other.counts, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            **self.group,
            **self.result.to_dict(),
            "n_items": self.n_items,
            "items_by_paraphrases": list(self.items_by_paraphrases),
            "n_wanted": self.n_wanted,
            "n_mixed": self.n_mixed,
            "n_empty": self.n_empty,
            "corrected": None if self.corrected is None else self.corrected.to_dict(),
            "subsets": None if self.subsets is None else self.subsets.to_dict(),
            "diversity": None if self.diversity is None else self.diversity.to_dict(),
            "partial_input": None if self.partial is None else self.partial.to_dict(),
            "dropped": dict(self.predictions.dropped),
            "warnings": [*([] if self.shortage is None else [self.shortage]), *self.warnings],
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        rows = self.result.rows()
        by_number = enumerate(self.items_by_paraphrases)
        said = ", ".join(f"{k}: {n:,}" for k, n in by_number if n)
        rows.insert(1, ("  items by paraphrases", said))
        if self.corrected is not None:
            rows += [("for the full test set", "")]
            rows += [(f"  {name}", value) for name, value in self.corrected.rows()[1:-1]]
        for subsets in self._all_subsets():
            rows += [(f"by {subsets.column}", "")]
            for name, part in subsets.parts.items():
                p_c = part["p_c_unbiased"]
                if p_c.value is None:
                    rows.append((f"  P_C, unbiased, {name}", "not defined: no pairs"))
                    continue
                interval = "" if p_c.interval is None else f"  {p_c.interval}"
                rows.append((f"  P_C, unbiased, {name}", f"{p_c.value:.4f}{interval}"))
            for pair in subsets.pairs:
                for measure, own in pair.means.items():
                    said = f"p = {format_p(own.p_adjusted)}: {pair.first} and {pair.second}"
                    rows.append((f"  {COMPARED_LABELS[measure]}", said))
        return rows

    def records(self) -> list[dict[str, Any]]:
        """Return a row for all buckets, and one for each subset."""
        whole = fit_cells({**self.group, "subset": None, **self.result.to_dict()})
        return [
            whole,
            *(
                fit_cells({**self.group, "subset": name, **part.to_dict()})
                for subsets in self._all_subsets()
                for name, part in subsets.parts.items()
            ),
        ]

    def _all_subsets(self) -> list[ConsistencySubsets]:
        found = [] if self.subsets is None else [self.subsets]
        if self.diversity is not None:
            found += [each.subsets for each in self.diversity.groups]
        return found if self.partial is None else [*found, self.partial.subsets]

    def plot(self, *, ax: Any = None) -> Any:
        """Draw accuracy and P_C, with their intervals, over lines of equal PVAP (Figure 3).

        Parameters
        ----------
        ax
            A matplotlib ``Axes``; a new figure is made if not given.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self.result.plot(ax=ax)

    def remarks(self) -> list[str]:
        """Return what the numbers do not say, and what was left out."""
        dropped = self.predictions.dropped
        said = [f"{say_count(n, 'row')} left out: {why}." for why, n in dropped.items() if n]
        if self.n_mixed:
            said.append(
                say_count(
                    self.n_mixed,
                    "item left out: its wordings have different gold labels.",
                    "items left out: their wordings have different gold labels.",
                )
            )
        if self.n_empty:
            said.append(
                f"{say_count(self.n_empty, 'item has', 'items have')} no row that can be used."
            )
        if self.shortage is not None:
            said.append(f"Warning: {self.shortage}.")
        said += [*self.warnings, *self.result.remarks()]
        said += [line for subsets in self._all_subsets() for line in subsets.remarks()]
        if self.corrected is not None:
            said += self.corrected.remarks()
        if self.diversity is not None:
            said += self.diversity.remarks()
        if self.partial is not None:
            said += self.partial.remarks()
        return said

    def __repr__(self) -> str:
        return str(self)


# From answers to the wordings of items to what they show: classifiers, subsets, comparisons.


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
    full_of = _match_test_sets(wanted, test_sets)
    strata = {}
    for name, own in full_of.items():
        confidence = find_confidence(own)
        try:
            strata[name] = count_strata(confidence, n)
        except InputError as error:
            raise InputError(str(error), path=own.source) from error
    return tuple(_note_strata(each, strata, full_of) for each in answers)


def _match_test_sets(
    wanted: Sequence[str], test_sets: Sequence[Predictions]
) -> dict[str, Predictions]:
    """Find each classifier's answers to the full test set: by its name, or in their order."""
    given = [
        (name_group(group), each.select(**group) if group else each)
        for each in test_sets
        for group in each.groups
    ]
    if {name for name, _ in given} >= set(wanted) and len(wanted) > 1:
        by_name = dict(given)
        return {name: by_name[name] for name in wanted}
    if len(given) == len(wanted):
        return dict(zip(wanted, [own for _, own in given], strict=True))
    raise InputError(
        f"{say_count(len(given), 'classifier has', 'classifiers have')} answered a full test "
        f"set, and {len(wanted)} the paraphrases; give one test set for each, in their order",
        path=test_sets[0].source,
    )


def _note_strata(
    answers: ConsistencyAnswers,
    strata: Mapping[str, tuple[int, ...]],
    full_of: Mapping[str, Predictions],
) -> ConsistencyAnswers:
    """Note the strata of a file's classifiers, and where their test sets do not fit."""
    mine, notes = {}, dict.fromkeys(answers.notes.warnings)
    for group in answers.predictions.groups:
        name = name_group(group)
        mine[name] = strata[name]
        own = answers.predictions.select(**group) if group else answers.predictions
        texts = find_answered_texts(own, answers.notes.text_columns)
        notes |= dict.fromkeys(compare_with_test_set(own, full_of[name], text_columns=texts))
    return replace(answers, notes=replace(answers.notes, strata=mine, warnings=tuple(notes)))


def measure_wordings(
    answers: Sequence[ConsistencyAnswers], options: ConsistencyOptions
) -> tuple[ConsistencyProfile, ...]:
    """Measure the answers of files, each as it says of itself."""
    is_named = sum(len(each.predictions.groups) for each in answers) > 1
    profiles = []
    for each in answers:
        own = replace(
            options,
            clusters=options.clusters or each.notes.clusters,
            subset=options.subset or each.notes.subset,
        )
        for group in each.predictions.groups:
            mine = each.predictions.select(**group) if group else each.predictions
            noted = replace(each, predictions=mine)
            profiles.append(_measure_one(noted, group, own, is_named=is_named))
    return tuple(profiles)


def _measure_one(
    answers: ConsistencyAnswers,
    group: dict[str, Any],
    options: ConsistencyOptions,
    *,
    is_named: bool,
) -> ConsistencyProfile:
    predictions, notes = answers.predictions, answers.notes
    wordings = find_wordings(predictions, cluster=options.clusters)
    texts = find_answered_texts(predictions, notes.text_columns)
    strata = notes.strata.get(name_group(group))
    try:
        counts = wordings.count()
        result = wordings.measure(**options.measuring)
        corrected = None if strata is None else correct_by_strata(counts, strata, options)
        diversity = part_by_diversity(answers, counts, options)
        partial = part_by_partial_input(answers, counts, options, strata=strata)
    except InputError as error:
        if error.path is not None:
            raise
        raise InputError(str(error), path=predictions.source) from error
    subsets = None
    if options.subset is not None:
        subsets = part_by_column(predictions, options.subset, options)
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
