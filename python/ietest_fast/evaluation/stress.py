"""Stress tests of a finished classifier: one table of answers, measured test by test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.evaluation.antonym_pairs import TIMES_IN_TRAINING, AntonymPairs, compare_pairs
from ietest_fast.evaluation.comparison import compare_versions
from ietest_fast.evaluation.predictions import CHANGED, ORIGINAL
from ietest_fast.evaluation.row_notes import RULE, WORD_CLASS, WORD_PAIR
from ietest_fast.evaluation.shares import Share
from ietest_fast.stats.result import Result, fit_cells, format_p

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.evaluation.comparison import VersionTest
    from ietest_fast.evaluation.predictions import Predictions

NEUTRAL = "neutral"


@dataclass(frozen=True, kw_only=True, eq=False)
class StressResult:
    """What a classifier did on one test, or on the originals.

    Attributes
    ----------
    name
        The test; ``original`` for the originals.
    keeps_labels
        Whether each row has the label of its original, and each original at most one row.
    n_items
        Originals that have a row, or texts of another file.
    is_foreign
        Whether the rows come from texts of another file, not from the originals.
    n_changed
        Rows with a changed text; None where the predictions do not say.
    accuracy
        Of all rows.
    by_group
        Accuracy by the values of a column such as genre.
    confusion
        int64 (L, L + 1): rows by gold label and answer; the last column counts answers that are
        none of the labels. None where labels are not known.
    false_neutral
        How many of the errors are the answer ``neutral``; None where no label is called so.
    by_kind
        Accuracy by the rules of the edits, such as the ways to misspell; empty where they are not
        known.
    by_word
        Accuracy by the class of the words that were replaced, function or content; empty where it
        is not known.
    antonyms
        Easy and hard pairs of antonyms; None where there are none, or no training data.
    comparison
        The paired test against the originals; None where labels are not kept.
    """

    name: str
    keeps_labels: bool
    n_items: int
    is_foreign: bool
    n_changed: int | None
    accuracy: Share
    by_group: Mapping[str, Share]
    confusion: NDArray[np.int64] | None
    false_neutral: Share | None
    by_kind: Mapping[str, Share]
    by_word: Mapping[str, Share]
    antonyms: AntonymPairs | None
    comparison: VersionTest | None = None

    def count(self, label_names: Sequence[str], gold: str, predicted: str) -> int | None:
        """Count rows with a gold label that were answered by another; None if one is not known."""
        names = list(label_names)
        if self.confusion is None or gold not in names or predicted not in names:
            return None
        return int(self.confusion[names.index(gold), names.index(predicted)])

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "test": self.name,
            "keeps_labels": self.keeps_labels,
            "items": self.n_items,
            "is_foreign": self.is_foreign,
            "changed": self.n_changed,
            **self.accuracy.to_dict("accuracy"),
            "by_group": _accuracies(self.by_group),
            "by_kind": _accuracies(self.by_kind),
            "by_word": _accuracies(self.by_word),
            "antonyms": None if self.antonyms is None else self.antonyms.to_dict(),
            "confusion": None if self.confusion is None else self.confusion.tolist(),
            **({} if self.false_neutral is None else self.false_neutral.to_dict("false_neutral")),
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
        }


def _accuracies(shares: Mapping[str, Share]) -> dict[str, Any]:
    return {name: share.to_dict("accuracy") for name, share in shares.items()}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StressProfile(Result):
    """A classifier on the originals and on every test of a suite.

    Attributes
    ----------
    group
        Which classifier: its ``model``, ``m`` and ``rho``, where there are several.
    label_names
        Names of the labels; None if answers are free text.
    grouped_by
        The column by which accuracies are parted, if any.
    original
        On the originals.
    tests
        On the tests, in their order.
    empty
        Tests that changed no text.
    alpha
        Level of the family of paired tests of the classifier.
    predictions
        The long table of the classifier's answers: one row for each text and test.
    warnings
        Whole sentences about how the answers came about.
    """

    group: dict[str, Any]
    label_names: tuple[str, ...] | None
    grouped_by: str | None
    original: StressResult
    tests: tuple[StressResult, ...]
    empty: tuple[str, ...]
    alpha: float
    predictions: Predictions
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Which classifier, in one line."""
        return ", ".join(str(value) for value in self.group.values()) or "the classifier"

    @property
    def title(self) -> str:  # type: ignore[override]
        """Heads the table."""
        return f"Stress tests of {self.name}"

    @property
    def accuracies(self) -> dict[str, Share]:
        """The accuracy on the originals and on every test, by name."""
        return {each.name: each.accuracy for each in (self.original, *self.tests)}

    @property
    def reject(self) -> bool:
        """Whether accuracy is shown to differ on a test that keeps labels."""
        return any(test.comparison is not None and test.comparison.reject for test in self.tests)

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            **self.group,
            "labels": None if self.label_names is None else list(self.label_names),
            "grouped_by": self.grouped_by,
            "alpha": self.alpha,
            "correction": "holm",
            "reject": self.reject,
            "tests": [test.to_dict() for test in (self.original, *self.tests)],
            "empty": list(self.empty),
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        return [(test.name, _say(test)) for test in (self.original, *self.tests)]

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each test."""
        return [fit_cells(test.to_dict()) for test in (self.original, *self.tests)]

    def remarks(self) -> list[str]:
        """Return of which texts tests are made, and which had nothing to change."""
        said = [f"{n:,} rows left out: {why}." for why, n in self.predictions.dropped.items()]
        said += self.warnings
        said += [line for test in self.tests if (line := self._say_made_of(test)) is not None]
        return [*said, *(f"{name}: no text could be changed." for name in self.empty)]

    def __getitem__(self, test: str) -> StressResult:
        found = {each.name: each for each in (self.original, *self.tests)}
        if test not in found:
            raise KeyError(f"there is no test {test!r}; there are {', '.join(found)}")
        return found[test]

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the accuracy on the originals and on every test, with 95% intervals.

        Parameters
        ----------
        ax
            A matplotlib ``Axes``; a new figure is made if not given.

        Returns
        -------
        matplotlib.axes.Axes
        """
        results = (self.original, *self.tests)
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.subplots(figsize=(6.4, 1.4 + 0.4 * len(results)), layout="constrained")[1]
        groups = list(dict.fromkeys(name for each in results for name in each.by_group))
        for place, result in enumerate(results):
            accuracy = result.accuracy
            if accuracy.interval is None or accuracy.share is None:
                continue
            ends = [100 * accuracy.interval.low, 100 * accuracy.interval.high]
            ax.plot(ends, [place, place], color="tab:blue")
            ax.plot([100 * accuracy.share], [place], "o", color="tab:blue")
            for number, group in enumerate(groups):
                share = result.by_group[group].share if group in result.by_group else None
                if share is not None:
                    ax.plot([100 * share], [place], "|", markersize=12, color=f"C{number + 1}")
        for number, group in enumerate(groups):
            ax.plot([], [], "|", markersize=12, color=f"C{number + 1}", label=group)
        if self.original.accuracy.share is not None:
            ax.axvline(100 * self.original.accuracy.share, color="black", linewidth=0.7)
        if groups:
            ax.legend(title=self.grouped_by)
        ax.set_yticks(range(len(results)), [each.name for each in results])
        ax.set_ylim(len(results) - 0.5, -0.5)
        ax.set_xlabel("accuracy (%)")
        return ax

    def __repr__(self) -> str:
        return str(self)

    def _say_made_of(self, test: StressResult) -> str | None:
        n = self.original.n_items
        if test.is_foreign:
            return f"{test.name}: made of {test.n_items:,} texts of another file."
        if test.n_items == n:
            return None
        left = n - test.n_items
        verb = "has" if left == 1 else "have"
        return (
            f"{test.name}: made of {test.n_items:,} of {n:,} items; {left:,} {verb} nothing for it."
        )


def _say(test: StressResult) -> str:
    accuracy = test.accuracy.share
    said = "no rows" if accuracy is None else f"{accuracy:.2%} of {test.accuracy.n:,}"
    if test.comparison is not None:
        compared = test.comparison
        said += f", p = {format_p(compared.p_adjusted)}{' (differs)' if compared.reject else ''}"
    return said


def measure_stress(
    predictions: Predictions,
    *,
    group_by: str | None = None,
    clusters: str | None = None,
    empty: Sequence[str] = (),
    alpha: float = 0.05,
    **options: Any,
) -> tuple[StressProfile, ...]:
    """Measure classifiers on the originals and on all other versions.

    A version keeps labels if each item has at most one row in it, with the gold label that it has
    in ``original``. These versions are tested against the originals, item by item, with Holm's
    correction over those of a classifier.

    Parameters
    ----------
    predictions
        The long table, with the version ``original``.
    group_by
        A column, such as genre, by whose values accuracies are also given.
    clusters
        A column whose equal values belong together; whole clusters are drawn.
    empty
        Names of tests that changed no text, for the report.
    alpha
        Level of each classifier's family of paired tests.
    **options
        Further ones of :func:`~ietest_fast.evaluation.comparison.compare_versions`: ``margin``,
        ``flip_margin``, ``method``, ``n_resamples``, ``rng``, ``n_threads``.

    Returns
    -------
    tuple of StressProfile
        One for each classifier.

    Raises
    ------
    InputError
        If there is no version ``original``, only this one, or no such column.
    """
    if group_by is not None and group_by not in predictions.columns:
        extra = ", ".join(predictions.extra_columns) or "none"
        raise InputError(
            f"there is no such column to part accuracies by; there are {extra}",
            path=predictions.source,
            column=group_by,
        )
    profiles = []
    for group in predictions.groups:
        mine = predictions.select(**group) if group else predictions
        if ORIGINAL not in mine.versions or len(mine.versions) < 2:
            raise InputError(
                f"stress tests need the version {ORIGINAL!r} and others; there are "
                f"{', '.join(mine.versions)}",
                path=predictions.source,
            )
        profiles.append(
            _profile(
                mine,
                group if len(predictions.groups) > 1 else {},
                group_by=group_by,
                clusters=clusters,
                empty=empty,
                alpha=alpha,
                options=options,
            )
        )
    return tuple(profiles)


def _profile(
    predictions: Predictions,
    group: dict[str, Any],
    *,
    group_by: str | None,
    clusters: str | None,
    empty: Sequence[str],
    alpha: float,
    options: Mapping[str, Any],
) -> StressProfile:
    names = [name for name in predictions.versions if name != ORIGINAL]
    original = predictions.select(version=ORIGINAL)
    parts = {name: predictions.select(version=name) for name in names}
    kept = [name for name in names if _keeps_labels(original, parts[name])]
    compared: dict[str, VersionTest] = {}
    if kept:
        wanted = pc.is_in(
            predictions.table["version"].cast("string"), value_set=_strings([ORIGINAL, *kept])
        )
        table = predictions.table.filter(wanted)
        if "copy" in table.column_names:
            table = table.drop_columns(["copy"])
        found = compare_versions(
            replace(predictions, table=table),
            reference=ORIGINAL,
            clusters=clusters,
            alpha=alpha,
            **options,
        )
        compared = {test.pairs.version: test for test in found.tests}
    return StressProfile(
        group=group,
        label_names=predictions.label_names,
        grouped_by=group_by,
        original=_measure(original, original, ORIGINAL, group_by, keeps_labels=True),
        tests=tuple(
            replace(
                _measure(parts[name], original, name, group_by, keeps_labels=name in kept),
                comparison=compared.get(name),
            )
            for name in names
        ),
        empty=tuple(name for name in empty if name not in names),
        alpha=alpha,
        predictions=predictions,
    )


def _strings(values: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.array(list(values), pa.string())


def _keeps_labels(original: Predictions, version: Predictions) -> bool:
    """Say whether a version has at most one row of each item, with its gold label."""
    items = version.table["item"].combine_chunks()
    if len(pc.unique(items)) < len(items):
        return False
    places = pc.index_in(items, value_set=original.table["item"].combine_chunks())
    if places.null_count:
        return False
    if original.label_names is None:
        return bool(
            pc.all(
                pc.equal(
                    version.table["gold"].cast("string").combine_chunks(),
                    original.table["gold"].cast("string").combine_chunks().take(places),
                )
            ).as_py()
        )
    before = original.codes("gold")[places.to_numpy()]
    return bool((version.codes("gold") == before).all())


def _measure(
    predictions: Predictions,
    original: Predictions,
    name: str,
    group_by: str | None,
    *,
    keeps_labels: bool,
) -> StressResult:
    right = predictions.correct
    table = predictions.table
    names = predictions.label_names
    confusion = false_neutral = None
    if names is not None:
        gold, predicted = predictions.codes("gold"), predictions.codes("predicted")
        confusion = np.zeros((len(names), len(names) + 1), np.int64)
        known = gold >= 0
        np.add.at(confusion, (gold[known], predicted[known]), 1)  # -1 is the last column
        if NEUTRAL in names:
            false_neutral = Share.of(predicted[~right] == names.index(NEUTRAL))
    return StressResult(
        name=name,
        keeps_labels=keeps_labels,
        n_items=len(predictions.items),
        is_foreign=not pc.any(pc.is_in(predictions.items, value_set=original.items)).as_py(),
        n_changed=int(pc.sum(table[CHANGED]).as_py() or 0)
        if CHANGED in table.column_names
        else None,
        accuracy=Share.of(right),
        by_group={} if group_by is None else _part(table[group_by], right, missing="missing"),
        confusion=confusion,
        false_neutral=false_neutral,
        by_kind=_part(table[RULE], right) if RULE in table.column_names else {},
        by_word=_part(table[WORD_CLASS], right) if WORD_CLASS in table.column_names else {},
        antonyms=compare_pairs(
            table[WORD_PAIR].to_pylist(), table[TIMES_IN_TRAINING].to_pylist(), right
        )
        if {WORD_PAIR, TIMES_IN_TRAINING} <= set(table.column_names)
        else None,
    )


def _part(
    column: pa.ChunkedArray, right: NDArray[np.bool_], *, missing: str | None = None
) -> dict[str, Share]:
    """Return accuracies by the values of a column; none where all are null."""
    values = column.cast("string")
    if values.null_count == len(values):
        return {}
    if missing is not None:
        values = pc.fill_null(values, missing)
    names = sorted(pc.unique(values).drop_null().to_pylist())
    return {
        each: Share.of(right[pc.fill_null(pc.equal(values, each), False).to_numpy()])
        for each in names
    }
