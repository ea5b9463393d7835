"""Every version against the reference, with one correction for all of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.compare.statistic import (
    MOST_ALPHA,
    RewordedTexts,
    check_known,
    columns_asked,
    compute_statistics,
    find_asked,
    find_statistics,
    write_statistics,
)
from ietest_fast.analyses.compare.why import find_why
from ietest_fast.answers.file import Notes, read_notes
from ietest_fast.answers.readers.facts_beside import name_classes
from ietest_fast.answers.schema import CHANGED, CLUSTER, MOST_KINDS, ROWS_OF_A_KIND
from ietest_fast.answers.table import ORIGINAL, Predictions, check_clusters
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.numerals import (
    brief_percent,
    brief_points,
    format_p,
    say_count,
    say_p,
    show_change,
)
from ietest_fast.stats import (
    DEFAULT_FLIP_MARGIN,
    DEFAULT_MARGIN,
    Verdict,
    chance_limit,
    cochran_q_test,
    equivalence_test,
    hold_together,
    holm,
    is_collapsed,
    judge_pairs,
    paired_test,
)
from ietest_fast.stats.multiple import check_alpha
from ietest_fast.stats.result import Result, fit_cells
from ietest_fast.stats.strata import EDITS, LABEL
from ietest_fast.values import as_numbers, show_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.analyses.compare.statistic import Statistic
    from ietest_fast.analyses.compare.why import Why
    from ietest_fast.answers.table import Pairs
    from ietest_fast.stats import (
        ClusteredTestResult,
        CochranResult,
        EquivalenceResult,
        InvarianceTestResult,
        PairedTestResult,
    )
    from ietest_fast.stats.outcomes import Method


# With more different right answers than this they are no classes that a model could collapse to.
_MOST_CLASSES = 127

_RESAMPLES_TO_TRY = 100


@dataclass(frozen=True, kw_only=True)
class CompareNotes(Notes):
    """How answers that are compared by version came about."""

    kind = "evaluation"
    what = "answers of a classifier (ietest-fast eval --out)"

    reworded: str | Literal[True] | None = None
    """The column that says which texts are reworded; True: all are; None: nobody has said."""


@dataclass(frozen=True, kw_only=True, eq=False)
class VersionTest:
    """One version, or one classifier, against the reference."""

    group: dict[str, Any]
    """Which classifier: its ``model``, ``m`` and ``rho``, where there are several."""
    pairs: Pairs
    """The matched answers."""
    clusters: Any
    """Shape (n,), labels, or None."""
    result: PairedTestResult | ClusteredTestResult
    """Of the paired test."""
    p_adjusted: float
    """Holm's p-value among the versions of the same classifier, and among what else is claimed of
    them (:data:`~ietest_fast.stats.invariance.SHARES`)."""
    reject: bool
    """Whether ``p_adjusted`` lies below alpha, and the reference has not collapsed."""
    alpha: float
    """Level of the tests of the same classifier, in (0, 1)."""
    margin: float
    """A difference of accuracies that does not matter if it is smaller."""
    marked: str | Literal[True] | None
    """The column that says which texts are reworded; True: all are; None: the usual one."""
    collapsed: bool | None
    """Whether the classifier gives one class only, or is at chance, on the reference; None where
    right answers are no classes. Of free texts the log's marks say which are right."""
    invariance: InvarianceTestResult | None = None
    """Accuracy and flips on the reworded texts, and the verdict. None where classifiers are
    compared, and at an alpha of 0.5 or more."""
    statistics: Mapping[str, Statistic] = field(default_factory=dict)
    """By name, what was computed besides on the reworded texts."""

    @cached_property
    def equivalence(self) -> EquivalenceResult:
        """Whether the difference of accuracies over all texts lies within the margin."""
        return equivalence_test(
            self.pairs.sample, clusters=self.clusters, margin=self.margin, alpha=self.alpha
        )

    @cached_property
    def why(self) -> Why | None:
        """Which edits go with flips; None if texts are not known, or no text was reworded."""
        return find_why(
            self.pairs, alpha=self.alpha, clusters=self.clusters, judged=self.is_reworded
        )

    @cached_property
    def is_reworded(self) -> NDArray[np.bool_] | None:
        """Which texts are judged, bool, shape (n,); None if all are, or nobody knows."""
        return None if self.marked is True else self.pairs.reworded(self.marked)

    @property
    def verdict(self) -> Verdict:
        """What is shown; nothing, if the classifier cannot be told from guessing."""
        if self.collapsed:
            return Verdict.COLLAPSED
        if self.invariance is not None:
            return self.invariance.verdict
        if self.alpha < MOST_ALPHA and self.equivalence.equivalent:
            return Verdict.EQUIVALENT
        return Verdict.DIFFERS if self.reject else Verdict.UNDECIDED

    @property
    def shown_delta(self) -> float:
        """The difference of accuracies on the reworded texts; over all where none is judged."""
        found = None if self.invariance is None else self.invariance.delta
        return self.result.counts.delta if found is None else found

    @property
    def change(self) -> str:
        """Both accuracies, their difference and its interval, on the texts that are judged."""
        if self.invariance is not None:
            return self.invariance.change
        counts, ends = self.result.counts, self.equivalence.ends_at(self.alpha / 2)
        before, after = counts.accuracy_original, counts.accuracy_transformed
        return show_change(before, after, (ends.low, ends.high), alpha=self.alpha)

    @property
    def sentence(self) -> str:
        """What is shown of this version, or classifier, in one sentence."""
        if self.invariance is not None:
            return self.invariance.headline
        if self.verdict is Verdict.DIFFERS:
            how = "lower" if self.result.counts.delta > 0 else "higher"
            return f"{self.name} has a {how} accuracy than {self.pairs.reference}: {self.change}."
        if self.verdict is Verdict.EQUIVALENT:
            margin = brief_points(self.margin)
            than = f"{self.name} differs from {self.pairs.reference}"
            return f"{than} by less than {margin} of accuracy: {self.change}."
        if self.verdict is Verdict.COLLAPSED:
            return (
                f"Collapsed: {self.pairs.reference} predicts one class, or is not shown to be "
                "better than always saying the most frequent label."
            )
        return f"Undecided: {self.pairs.reference} and {self.name} have {self.change}."

    @property
    def of_reworded(self) -> tuple[int | None, float | None, float | None]:
        """The number of reworded texts, delta there, and the flip rate; None where it is not known.

        Where nobody knows which texts are reworded, flips are those of all.
        """
        own = self.invariance
        if own is None:
            return None, None, None
        delta = None if own.n_reworded is None else own.delta
        return own.n_reworded, delta, None if own.flips is None else own.flips.rate

    @property
    def caveats(self) -> list[str]:
        """Whole sentences on what makes p mislead: texts left alone, and few that decide."""
        if self.invariance is None:
            return []
        few = self.result.warning
        said = [self.invariance.caveat, None if few is None else f"Warning: {few}."]
        return [f"{self.name}: {each}" for each in said if each is not None]

    @property
    def name(self) -> str:
        """The version, and whose."""
        who = ", ".join(str(value) for value in self.group.values())
        return f"{who}: {self.pairs.version}" if who else self.pairs.version

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        counts = self.result.counts
        numbers = {
            **self.group,
            "reference": self.pairs.reference,
            "version": self.pairs.version,
            "accuracy_original": counts.accuracy_original,
            "accuracy_transformed": counts.accuracy_transformed,
            "predictions_changed": self.pairs.n_flipped,
            "items_unmatched": self.pairs.n_unmatched,
            "collapsed": self.collapsed,
            **self.result.to_dict(),
            "p_adjusted": self.p_adjusted,
            "reject": self.reject,
            "invariance": None if self.invariance is None else self.invariance.to_dict(),
        }
        return numbers | write_statistics(self.statistics, beside=numbers)

    def cells(self) -> dict[str, Any]:
        """Return the row of a data frame; of reworded texts it has what tables show."""
        numbers = self.to_dict()
        reworded, delta, flip_rate = self.of_reworded
        for nested in ("invariance", *find_statistics()):
            del numbers[nested]
        return {
            **fit_cells(numbers),
            "reworded": reworded,
            "delta_reworded": delta,
            "flip_rate": flip_rate,
            "verdict": str(self.verdict),
            **{
                f"{name}_{cell}": value
                for name, each in self.statistics.items()
                for cell, value in each.cells().items()
            },
        }


_GRAVEST = (
    Verdict.DIFFERS,
    Verdict.CHANGES,
    Verdict.COLLAPSED,
    Verdict.UNDECIDED,
    Verdict.EQUIVALENT,
    Verdict.ALIKE,
)


def find_gravest(tests: Sequence[VersionTest]) -> Verdict:
    """Return the gravest of the verdicts."""
    return min((test.verdict for test in tests), key=_GRAVEST.index)


def say_tests(tests: Sequence[VersionTest], noun: str | None = None) -> str:
    """Say in at most 30 words what is shown of versions, or of classifiers on one version.

    `noun` is what versions are called, such as ``tests``.
    """
    if any(test.alpha >= MOST_ALPHA for test in tests):
        return ""
    if len(tests) == 1:
        return tests[0].sentence
    n, kind = len(tests), "classifiers" if tests[0].invariance is None else noun or "versions"
    other = [test for test in tests if test.verdict in {Verdict.DIFFERS, Verdict.CHANGES}]
    worst = max(other or tests, key=lambda test: abs(test.shown_delta))
    if other:
        are = "is" if len(other) == 1 else "are"
        how = "better or worse" if kind == "classifiers" else "answered otherwise"
        said = worst.sentence
        before = "" if kind == "classifiers" else f"{worst.name}: "
        return f"{len(other)} of {n} {kind} {are} {how}. {before}{said}"
    if all(test.verdict is Verdict.COLLAPSED for test in tests):
        return worst.sentence
    n_alike = sum(test.verdict is Verdict.ALIKE for test in tests)
    said = f"None of {n} {kind} is shown to differ"
    if kind != "classifiers":
        alike = f", {n_alike} alike" * (n_alike > 0)
        said = f"None of {n} {kind} is shown to be answered otherwise{alike}"
    if n_alike == n:
        flips = None if worst.invariance is None else worst.invariance.flips
        margin = "" if flips is None else f" and {brief_percent(flips.margin)} of the answers"
        every = f"Both {kind}" if n == 2 else f"All {n} {kind}"
        return f"{every} are answered alike within {brief_points(worst.margin)}{margin}."
    return f"{said}; the largest change is on {worst.name}: {worst.change}."


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupCochran:
    """Cochran's Q over all versions of one classifier."""

    group: dict[str, Any]
    """Which classifier."""
    result: CochranResult
    """Of the test."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison(Result):
    """Paired tests of several versions, or several classifiers."""

    tests: tuple[VersionTest, ...]
    """One for each version and classifier."""
    cochran: tuple[GroupCochran, ...]
    """For each classifier with more than two versions, on the items that have all of them. None
    with clusters, with several rows of an item, or where fewer than two items have all versions."""
    compared: Literal["versions", "models"]
    """``versions`` of the same items, or ``models`` on the same version."""
    alpha: float
    """Level of the family of tests of one classifier."""
    notes: tuple[str, ...] = ()
    """What was decided that nobody has said: which version is the original, if none is called
    so."""

    @property
    def reject(self) -> bool:
        """Whether any version differs."""
        return any(test.reject for test in self.tests)

    @property
    def alike(self) -> bool:
        """Whether every version is shown to be answered like the reference."""
        return all(test.verdict is Verdict.ALIKE for test in self.tests)

    @property
    def headline(self) -> str:
        """The answer in one sentence or two, at most 30 words."""
        return say_tests(self.tests)

    @property
    def title(self) -> str:  # type: ignore[override]
        """Heads the table."""
        what = "Versions" if self.compared == "versions" else "Classifiers"
        return f"{what} against {self.tests[0].pairs.reference}"

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "compared": self.compared,
            "comparisons": [test.to_dict() for test in self.tests],
            "cochran": [{**each.group, **each.result.to_dict()} for each in self.cochran],
            "correction": "holm",
            "alpha": self.alpha,
            "reject": self.reject,
            "alike": self.alike,
            "notes": list(self.notes),
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        return [(test.name, _say(test)) for test in self.tests]

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each test."""
        return [test.cells() for test in self.tests]


def try_options(
    *,
    clusters: str | None = None,
    n_resamples: int | None = None,
    rng: Any = 0,  # noqa: ARG001 - a generator that draws here would draw others later
    **options: Any,
) -> None:
    """Refuse options that no comparison can have, before a classifier is asked, which costs more.

    They are those of :func:`compare_versions`, tried on answers to four texts.
    """
    right = np.array([0, 1, 0, 1])
    read = [*([] if clusters is None else [clusters]), *columns_asked(options)]
    answers = Predictions.from_codes(
        items=np.arange(4),
        gold=right,
        versions={ORIGINAL: right, "tried": np.array([0, 1, 1, 1])},
        label_names=("a", "b"),
        columns={name: [1, 1, 2, 2] for name in read if name != LABEL},
    )
    few = None if n_resamples is None else min(n_resamples, _RESAMPLES_TO_TRY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IetestWarning)
        compare_versions(answers, clusters=clusters, n_resamples=few, reworded=True, **options)


def read_roles(
    paths: Sequence[Path],
    *,
    clusters: str | None = None,
    reworded: str | Literal[True] | None = None,
) -> CompareNotes:
    """Return the roles of columns: those that are asked for, else those that files of answers note.

    Raises
    ------
    InputError
        If two files note other ones, and nobody says which count.
    """
    asked = {"clusters": clusters, "reworded": reworded}
    noted = {
        path: notes
        for path in paths
        if path.is_file() and (notes := read_notes(path, CompareNotes)) is not None
    }
    chosen: dict[str, Any] = {}
    for role, own in asked.items():
        told = {path: getattr(notes, role) for path, notes in noted.items()}
        first = next(iter(told.values()), None)
        other = next((path for path, name in told.items() if name != first), None)
        if own is None and other is not None:
            raise InputError(
                f"was written with other {role} than {next(iter(told))}: {told[other]!r}, and not "
                f"{first!r}; say which count (--{role})",
                path=other,
            )
        chosen[role] = first if own is None else own
    return CompareNotes(**chosen)


def choose_unparsed(paths: Sequence[Path]) -> Literal["wrong"] | None:
    """Return what a missing answer is in files that eval wrote: what could not be parsed is wrong.

    None of other files, of which the reader decides.
    """
    are_own = all(path.is_file() and read_notes(path, CompareNotes) is not None for path in paths)
    return "wrong" if paths and are_own else None


def choose_clusters(predictions: Predictions, asked: str | None, told: str | None) -> str | None:
    """Return the column of clusters: the one asked for, else what answers were drawn by, by name.

    `told` is what the file of the answers says. Without any, several rows of an item belong
    together.
    """
    by_name = CLUSTER if CLUSTER in predictions.columns else None
    return asked or told or by_name or predictions.repeats


def compare_versions(
    predictions: Predictions,
    *,
    reference: str | None = None,
    clusters: str | None = None,
    method: str | None = None,
    n_resamples: int | None = None,
    rng: Any = 0,
    alternative: Any = "two-sided",
    alpha: float = 0.05,
    margin: float | None = None,
    flip_margin: float | None = None,
    reworded: str | Literal[True] | None = None,
    n_threads: int | None = None,
    **asked: Any,
) -> Comparison:
    """Test each version of the items against the reference, for each classifier.

    The p-values of a classifier's versions are adjusted by Holm's rule. If there are three
    versions or more, Cochran's Q also tests whether any of them differs from any other, on the
    items that have all versions. If there is only one version, and several classifiers, each
    classifier is tested against the first.

    Parameters
    ----------
    predictions
        The long table.
    reference
        The version that others are compared with; None: ``original``, or the first, which the
        result's ``notes`` then name.
    clusters
        A column whose equal values belong together; whole clusters are drawn. None: the answers to
        one item, if there are several, and otherwise rows.
    method, n_resamples, rng, alternative, n_threads
        As for :func:`ietest_fast.stats.paired_test`.
    alpha
        Significance level of each classifier's family of tests.
    margin, flip_margin
        Differences of accuracy, and flip rates, that do not matter if they are smaller; None for
        the defaults of :func:`ietest_fast.stats.invariance_test`.
    reworded
        The column that says which texts of a version are reworded, if it has another name than
        ``changed``; True: all are.
    **asked
        What asks for further statistics of the reworded texts; see
        :mod:`ietest_fast.analyses.compare.statistic`. ``strata`` are columns by whose values these
        texts are also tested one by one, see :func:`ietest_fast.stats.stratified_test`, with
        ``strata_correction``, ``holm`` or ``minp``; ``label`` is the gold label. They do not change
        the verdict, which looks at the gold labels in any case. ``dose`` is a column of numbers
        with which losses and flips may grow; see :func:`ietest_fast.stats.dose_response_test`.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If there is nothing to compare, a classifier lacks the reference, or fewer than two items
        are left.
    """
    check_known(asked)
    check_alpha(alpha)
    draws = any(each.options for each in find_asked(asked).values())
    compared: Literal["versions", "models"] = "versions"
    clusters = predictions.repeats if clusters is None else clusters
    notes: list[str] = []
    if len(predictions.versions) == 1:
        predictions = _models_as_versions(predictions)
        compared = "models"
    elif reference is None and predictions.versions[0] != ORIGINAL:
        notes.append(_say_first(predictions))
    reference = predictions.versions[0] if reference is None else reference
    drawing = {"n_resamples": n_resamples, "rng": rng, "n_threads": n_threads}
    judging = {
        "alpha": alpha,
        "margin": DEFAULT_MARGIN if margin is None else margin,
        "flip_margin": DEFAULT_FLIP_MARGIN if flip_margin is None else flip_margin,
        **drawing,
    }
    tests: list[VersionTest] = []
    cochran: list[GroupCochran] = []
    for group in predictions.groups:
        mine = _select(predictions, group, reference)
        shown = group if len(predictions.groups) > 1 else {}
        family = [
            _test(
                mine.pairs(name, reference=reference),
                shown,
                clusters,
                method,
                {**drawing, "alternative": alternative},
                marked=reworded,
                alpha=alpha,
                margin=judging["margin"],
                draws_besides=draws,
            )
            for name in mine.versions
            if name != reference
        ]
        if not family:
            continue
        adjusted = holm([test.result.p_value for test in family])
        family = [
            replace(test, p_adjusted=p, reject=p < alpha and not test.collapsed)
            for test, p in zip(family, adjusted, strict=True)
        ]
        if compared == "versions":
            family = _judge_family(family, **judging)
        family = [
            replace(test, statistics=_compute_besides(test, options={**asked, **judging}))
            for test in family
        ]
        tests += family
        cochran += _test_together(family, **drawing)
    if not tests:
        raise InputError("has one version of each item; two are needed", path=predictions.source)
    return Comparison(
        tests=tuple(tests),
        cochran=tuple(cochran),
        compared=compared,
        alpha=alpha,
        notes=tuple(notes),
    )


def _say_first(predictions: Predictions) -> str:
    """Name the version that is taken for the original, as the order of rows may be any."""
    first, *others = predictions.versions
    return (
        f"Warning: {predictions.source}: no version is called {ORIGINAL}, so {first}, the first of "
        f"the rows, is taken for it, and {', '.join(others)} "
        f"{'is' if len(others) == 1 else 'are'} compared with it; call the right one {ORIGINAL} "
        "(in Python, reference names it)."
    )


def _select(predictions: Predictions, group: dict[str, Any], reference: str) -> Predictions:
    """Take the answers of one classifier, which must have the reference."""
    mine = predictions.select(**group) if group else predictions
    if reference not in mine.versions:
        who = ", ".join(str(value) for value in group.values()) or "the classifier"
        raise InputError(
            f"{who} has no version {reference!r}; it has {', '.join(mine.versions)}",
            path=predictions.source,
        )
    return mine


def _models_as_versions(predictions: Predictions) -> Predictions:
    """Return the table with classifiers in the place of versions."""
    if len(predictions.groups) < 2:
        raise InputError(
            f"has one version, {predictions.versions[0]!r}, of one classifier; two of either are "
            "needed",
            path=predictions.source,
        )
    names = list(predictions.groups[0])
    values = [predictions.table[name].cast(pa.string()).combine_chunks() for name in names]
    joined = pc.binary_join_element_wise(*values, ", ")
    table = predictions.table.drop_columns(names)
    place = table.column_names.index("version")
    return replace(predictions, table=table.set_column(place, "version", joined))


def _test(
    pairs: Pairs,
    group: dict[str, Any],
    clusters: str | None,
    method: str | None,
    options: dict[str, Any],
    *,
    marked: str | Literal[True] | None,
    alpha: float,
    margin: float,
    draws_besides: bool,
) -> VersionTest:
    if len(pairs) < 2:
        raise InputError(
            f"a paired test needs at least two rows, not {len(pairs)}",
            path=pairs.predictions.source,
        )
    labels = None if clusters is None else _read_clusters(pairs, clusters)
    if labels is None and len(pc.unique(pairs.items)) < len(pairs):
        labels = np.asarray(pairs.items.to_pylist())  # several rows of an item
    if draws_besides and labels is None and method in {None, "exact"}:
        options = options | {"n_resamples": None}  # which is for other statistics, then
    result: Any = paired_test(
        pairs.sample.original_correct,
        pairs.sample.transformed_correct,
        clusters=labels,
        method=cast("Method | None", method),
        **options,
    )
    return VersionTest(
        group=group,
        pairs=pairs,
        clusters=labels,
        result=result,
        p_adjusted=result.p_value,
        reject=False,
        alpha=alpha,
        margin=margin,
        marked=marked,
        collapsed=_find_collapsed(pairs),
    )


def _read_clusters(pairs: Pairs, name: str) -> NDArray[Any]:
    values = pairs.column(name)
    if pa.types.is_nested(values.type):
        raise InputError(
            f"values are of type {values.type}; texts or numbers name clusters",
            path=pairs.predictions.source,
            column=name,
        )
    check_clusters(
        pa.chunked_array([values]), pairs.items, path=pairs.predictions.source, name=name
    )
    labels = np.asarray(values.to_pylist())
    if len({str(each).strip() for each in labels}) == 1:
        raise InputError(
            f"all {say_count(len(pairs), 'row')} of {pairs.version} belong to one cluster, "
            f"{show_value(labels[0])}, and at least two clusters are needed; name a column that "
            "tells texts apart, or leave the clusters out",
            path=pairs.predictions.source,
            column=name,
        )
    return labels


def _find_collapsed(pairs: Pairs) -> bool | None:
    """Say whether a classifier has collapsed on the reference; None where nobody can tell.

    Of free texts the marks say how many are right; they are no classes if right answers hardly ever
    recur.
    """
    gold = pairs.gold
    kinds = np.unique(gold).size
    if (gold < 0).any() or kinds > _MOST_CLASSES:
        return None
    if pairs.answers is not None:
        return is_collapsed(pairs.original, gold)
    if kinds == 1 or kinds > MOST_KINDS or gold.size < ROWS_OF_A_KIND * kinds:
        return None
    return float(pairs.sample.original_correct.mean()) <= chance_limit(gold)


def _warn_of_other_marks(pairs: Pairs, name: str | Literal[True]) -> None:
    """Tell where the texts, or ``changed``, say otherwise than the user which ones are reworded."""
    known = pairs.reworded()
    named = np.ones(len(pairs), np.bool_) if name is True else pairs.reworded(name)
    n = 0 if known is None or named is None else int((known != named).sum())
    if n:
        what = "--all-reworded" if name is True else f"the column {name}"
        warnings.warn(
            f"{pairs.predictions.source}: in {say_count(n, 'row')} of {pairs.version} {what} "
            f"disagrees with the texts, or the column {CHANGED}, about what was reworded; "
            f"{'all rows count' if name is True else f'{name} counts'}",
            IetestWarning,
            stacklevel=4,
        )


def _warn_of_other_edits(pairs: Pairs, reworded: str | Literal[True] | None) -> None:
    """Tell where the number of edits says otherwise than what counts which texts are reworded."""
    if EDITS not in pairs.predictions.extra_columns:
        return
    known = pairs.reworded(None if reworded is True else reworded)
    edits = pairs.predictions.table[EDITS].take(pa.array(pairs.version_rows))
    numbers = as_numbers(edits)
    if known is None or not np.isfinite(numbers).any():
        return
    none, more = int((known & (numbers == 0)).sum()), int((~known & (numbers > 0)).sum())
    said = [
        f"{EDITS} is {amount} in {say_count(n, 'row')} of {pairs.version} that {what}"
        for n, amount, what in (
            (none, "0", "are reworded" if none > 1 else "is reworded"),
            (more, "more than 0", "are as they were" if more > 1 else "is as it was"),
        )
        if n
    ]
    if said:
        warnings.warn(
            f"{pairs.predictions.source}: {', and '.join(said)}; mend the column, or strata and "
            f"doses by {EDITS} mean nothing",
            IetestWarning,
            stacklevel=4,
        )


def _judge_family(family: list[VersionTest], *, alpha: float, **options: Any) -> list[VersionTest]:
    """Judge the versions of a classifier, and tell where marks of reworded texts disagree."""
    if alpha < MOST_ALPHA:
        judged = [_judge(test, alpha=alpha, **options) for test in family]
        family = [
            replace(test, invariance=own, p_adjusted=own.p_adjusted, reject=own.differs)
            for test, own in zip(family, hold_together(judged), strict=True)
        ]
    for test in family:
        if test.marked is not None:
            _warn_of_other_marks(test.pairs, test.marked)
        _warn_of_other_edits(test.pairs, test.marked)
    return family


def _judge(test: VersionTest, **options: Any) -> InvarianceTestResult:
    """Judge a version on the texts that are reworded in it."""
    pairs = test.pairs
    answers = pairs.answers
    gold = pairs.gold
    is_known = bool((gold >= 0).all())
    found = judge_pairs(
        pairs.sample,
        p_difference=test.result.p_value,
        p_floor=test.result.p_floor,
        alternative=test.result.alternative,
        answers=answers,
        gold=gold if answers is not None and is_known else None,
        reworded=True if test.marked is True else test.is_reworded,
        clusters=test.clusters,
        collapsed=test.collapsed,
        labels=_name_labels(pairs),
        **options,
    )
    moves, names = found.symmetry, pairs.predictions.label_names
    if moves is None or names is None:
        return found
    named = tuple(names[code] if code >= 0 else "no label" for code in moves.labels)
    return replace(found, symmetry=replace(moves, labels=named))


def _compute_besides(test: VersionTest, *, options: Mapping[str, Any]) -> dict[str, Statistic]:
    """Compute the statistics that are asked for, on the reworded texts.

    What is right is taken from the predictions: a version may have labels of its own.
    """
    if not find_asked(options):
        return {}
    pairs = test.pairs

    def read(name: str) -> pa.ChunkedArray:
        is_gold = name == LABEL and "gold" in pairs.predictions.columns
        column = pairs.column("gold" if is_gold else name, of_version=name != LABEL)
        return pa.chunked_array([column])

    texts = RewordedTexts.of(
        pairs.sample,
        test.is_reworded,
        answers=pairs.answers,
        clusters=test.clusters,
        column=read,
    )
    try:
        return compute_statistics(texts, options)
    except InputError as error:
        if error.path is not None:
            raise
        raise InputError(str(error), path=pairs.predictions.source) from error


def _are_classes(pairs: Pairs) -> bool:
    """Whether right answers are labels, and no free texts, which are many and hardly recur."""
    kinds = np.unique(pairs.gold).size
    recur = len(pairs) >= ROWS_OF_A_KIND * kinds
    return recur or (pairs.answers is not None and kinds <= _MOST_CLASSES)


def _name_labels(pairs: Pairs) -> NDArray[Any] | None:
    """Return the gold labels, of outcomes those beside them; None where they are no classes."""
    predictions = pairs.predictions
    if "gold" not in predictions.columns and LABEL in predictions.columns:
        return name_classes(predictions.table[LABEL].take(pa.array(pairs.reference_rows)))
    if (pairs.gold < 0).any() or not _are_classes(pairs):
        return None
    return np.asarray(pairs.column("gold").to_pylist())


def _test_together(family: list[VersionTest], **drawing: Any) -> list[GroupCochran]:
    """Test all versions of a classifier by Cochran's Q, if it applies."""
    outcomes = _outcomes(family)
    if outcomes is None:
        return []
    return [GroupCochran(group=family[0].group, result=cochran_q_test(outcomes, **drawing))]


def _outcomes(family: list[VersionTest]) -> dict[str, Any] | None:
    """Return the outcomes of all versions on the items that all of them have.

    None where Cochran's Q does not apply: there are fewer than three versions, rows are clustered
    or several of one item, or fewer than two items have all versions.
    """
    if len(family) < 2 or any(test.clusters is not None for test in family):
        return None
    items = [test.pairs.items.to_pylist() for test in family]
    shared = set(items[0]).intersection(*items[1:])
    if len(shared) < 2:
        return None
    order = [item for item in items[0] if item in shared]
    first = family[0].pairs
    places = dict(zip(items[0], range(len(items[0])), strict=True))
    rows = [places[item] for item in order]
    columns: dict[str, Any] = {first.reference: first.sample.original_correct[rows]}
    for test, names in zip(family, items, strict=True):
        places = dict(zip(names, range(len(names)), strict=True))
        rows = [places[item] for item in order]
        columns[test.pairs.version] = test.pairs.sample.transformed_correct[rows]
    return columns


def _say(test: VersionTest) -> str:
    counts = test.result.counts
    said = (
        f"{counts.accuracy_original:.4f} → {counts.accuracy_transformed:.4f}, "
        f"{say_p(format_p(test.result.p_value))}, Holm {format_p(test.p_adjusted)}"
    )
    return f"{said}, differs" if test.reject else said
