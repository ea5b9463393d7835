"""How alike classifiers answer the wordings of items: the numbers, how they are found."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.consistency.file import ConsistencyAnswers, count_strata, name_group
from ietest_fast.analyses.consistency.partition import (
    ComparedPair,
    adjust_pairs,
    correct_by_strata,
    part_by_column,
    part_by_diversity,
    part_by_partial_input,
)
from ietest_fast.analyses.consistency.wordings import (
    find_confidence,
    find_wordings,
    read_confidence,
)
from ietest_fast.answers.shared import (
    SharedWordings,
    check_same_texts,
    find_answered_texts,
    find_kinds,
    name_rows,
    read_row_texts,
)
from ietest_fast.answers.table import ORIGINAL, find_originals
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.numerals import format_p, say_count, say_p
from ietest_fast.stats.consistency.corrected import (
    COMPARED_LABELS,
    DEFAULT_CONFIDENCE_STRATA,
    MOST_CONFIDENCE_STRATA,
    compare_consistency,
)
from ietest_fast.stats.result import Result, fit_cells
from ietest_fast.values import as_seen, as_texts, show_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.consistency.noting import ConsistencyOptions
    from ietest_fast.analyses.consistency.partition import (
        ConsistencyDiversity,
        ConsistencyPartial,
        ConsistencySubsets,
    )
    from ietest_fast.answers.shared import Answered
    from ietest_fast.answers.table import Predictions
    from ietest_fast.stats.consistency.buckets import BucketCounts
    from ietest_fast.stats.consistency.corrected import ConsistencyComparison, CorrectedResult
    from ietest_fast.stats.consistency.measure import ConsistencyResult

_ROUNDING = 1e-6


def compare_with_test_set(
    log: Predictions, full: Predictions, *, text_columns: Sequence[str]
) -> tuple[str, ...]:
    """Compare what both say of the originals of shared items, so that a swapped file is noticed."""
    said = _say_other_models(log, full)
    full = full.select(version=ORIGINAL)
    shared = None
    if ORIGINAL in log.versions:
        shared = SharedWordings.find(log.select(version=ORIGINAL), full, keys=("item",))
    is_shared = shared is not None and len(shared) > 0
    _check_kinds(log, full, is_shared=is_shared)
    if shared is None or not is_shared:
        none = f"{full.source} shares no item with {log.source}, so it is not compared with it."
        return (*said, none)
    n_lacking = len(shared.first) - len(shared)
    if n_lacking:
        warning = (
            f"Warning: {full.source} lacks {n_lacking:,} of the {len(shared.first):,} items of "
            f"{log.source}; a full test set has all that were chosen from it."
        )
        said += (warning,)
    if not shared.check_labels("gold", "the gold label"):
        _check_kinds(log, full, is_shared=False)
    if log.has_labels and full.has_labels:
        shared.check_labels("predicted", "the answer")
    shared.check_outcomes()
    _check_confidences(shared)
    shared.check_texts(text_columns)
    return said


def _check_confidences(shared: SharedWordings) -> None:
    """Refuse another confidence in the gold label of the same wording, beyond rounding."""
    own, given = (
        read_confidence(each, rows, each.codes("gold")[rows])[0]
        for each, rows in ((shared.first, shared.rows), (shared.other, shared.places))
    )
    if own is None or given is None:
        return
    shown = [pa.array([f"{value:.6g}" for value in each], pa.string()) for each in (own, given)]
    differs = pa.array(np.abs(own - given) > _ROUNDING)
    shared.refuse(differs, shown, "the confidence", None)


def _say_other_models(log: Predictions, full: Predictions) -> tuple[str, ...]:
    names = [
        pc.unique(as_texts(each.table["model"], path=each.source)).drop_null().to_pylist()
        for each in (log, full)
        if "model" in each.table.column_names
    ]
    if len(names) < 2 or set(names[0]) & set(names[1]) or not all(names):
        return ()
    own, other = (", ".join(map(show_value, each)) for each in names)
    warning = (
        f"Warning: {full.source} has the answers of {other}, and {log.source} those of {own}; the "
        "test set is one that the same model has answered."
    )
    return (warning,)


def _check_kinds(log: Predictions, full: Predictions, *, is_shared: bool) -> None:
    """Refuse a test set with other labels.

    Labels that no file names may be lacking by chance: shared items then say more.
    """
    own, given = find_kinds(log), find_kinds(full)
    if own is None or given is None or own == given:
        return
    are_named = log.label_names is not None and full.label_names is not None
    if not are_named and (is_shared or min(len(own), len(given)) < 2):
        return
    raise InputError(
        f"has the labels {', '.join(sorted(given))}, and {log.source} has "
        f"{', '.join(sorted(own))}; a full test set has the labels of the items that were chosen "
        "from it: give the answers of the same model to that test set",
        path=full.source,
    )


# The texts beside answers to wordings: which columns hold them, and what they contradict.


def say_equal_texts(predictions: Predictions, columns: Sequence[str]) -> tuple[str, ...]:
    """Count paraphrases that reword nothing, because they agree with themselves in P_C."""
    if not columns or predictions.repeats is not None:
        return ()
    is_original = find_originals(predictions)
    items = predictions.table["item"].to_pylist()
    texts = read_row_texts(predictions, columns)
    seen: set[tuple[object, tuple[str, ...]]] = set()
    first: int | None = None
    n_equal = 0
    for row in np.argsort(~is_original, kind="stable").tolist():  # originals come first
        key = (items[row], tuple(map(as_seen, texts[row])))
        if key in seen and not is_original[row]:
            n_equal += 1
            first = row if first is None else first
        if any(texts[row]):
            seen.add(key)
    if first is None:
        return ()
    version = predictions.table["version"][first].as_py()
    counted = f"{n_equal:,} of {say_count(int((~is_original).sum()), 'paraphrase')}"
    have, them = ("has", "it") if n_equal == 1 else ("have", "them")
    said = (
        f"Warning: {counted} {have} the texts ({', '.join(columns)}) of the original, or of "
        f"another paraphrase of the item: version {version!r} of item {items[first]!r}, for one. "
        f"Equal wordings make P_C too high; leave {them} out."
    )
    return (said,)


UNSHARED = (
    "The same items, but no paraphrase (item and version) that both have answered, so a difference "
    "may be that of the paraphrases"
)
"""Beside a comparison of two classifiers."""


def share_paraphrases(one: Answered, other: Answered) -> bool:
    """Whether two classifiers have answered a version of the same name of any item."""
    first, second = (
        name_rows(own.predictions, ("item", "version")).filter(
            pa.array(~find_originals(own.predictions))
        )
        for own in (one, other)
    )
    return bool(pc.any(pc.is_in(first, value_set=second)).as_py())


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

    @property
    def headline(self) -> str:
        """The answer in one sentence, at most 30 words."""
        p_c = self._say("p_c_unbiased")
        if p_c is None:
            return "Consistency is not measured: no item has two paraphrases."
        n_pairs = self.result.n_buckets - self.result.n_single
        return (
            f"P_C is {p_c}: so often are two paraphrases of an item both right, or both wrong, in "
            f"{say_count(n_pairs, 'item')}."
        )

    def _say(self, name: str, digits: int = 1) -> str | None:
        """Write a share in percent with its interval; None where it is not defined."""
        own = self.result.estimates.get(name)
        if own is None or own.value is None:
            return None
        value = f"{100 * own.value:.{digits}f}%"
        if own.interval is None:
            return value
        low, high = (f"{100 * end:.{digits}f}" for end in own.interval)
        return f"{value} ({100 * self.result.confidence_level:g}% {low} to {high})"

    def answer_rows(self) -> list[tuple[str, str]]:
        """Return what the headline rests on: accuracy, the share of wording in errors, flips."""
        paraphrases = say_count(self.result.n_paraphrases, "paraphrase")
        n = self.result.n_buckets
        mean = f"over {say_count(n, 'item')} with {paraphrases}"
        rows = [("accuracy", f"{self._say('accuracy_macro')} {mean}")]
        if originals := self._say("accuracy_original"):
            rows[0] = ("accuracy", f"{rows[0][1]}, {originals} on their originals")
        if share := self._say("pvap_unbiased", 0):
            rows.append(("wording", f"{share} of the variance of right and wrong (PVAP)"))
        if flips := self._say("flip_rate"):
            least = "at least " if self.result.is_lower_bound else ""
            said = f"{least}{flips} of paraphrases are answered otherwise than their original"
            rows.append(("flips", said))
        if n_pairs := n - self.result.n_single:
            split = f"{self.result.n_split:,} of {n_pairs:,}"
            rows.append(("split items", f"{split}: right in some paraphrases, wrong in others"))
        return rows

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
        check_same_texts(self, other)
        if not share_paraphrases(self, other):
            warnings.warn(f"{UNSHARED}.", IetestWarning, stacklevel=2)
        return compare_consistency(self.counts, other.counts, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            **self.group,
            "headline": self.headline,
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
                    said = f"{say_p(format_p(own.p_adjusted))}: {pair.first} and {pair.second}"
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
