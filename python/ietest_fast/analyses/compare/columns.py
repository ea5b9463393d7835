"""Outcomes or scores in the columns of one table: read, checked, tested and judged."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from ietest_fast.analyses.compare.saying import beside, beside_clusters, say_equivalence
from ietest_fast.analyses.compare.statistic import (
    MOST_ALPHA,
    RewordedTexts,
    columns_asked,
    compute_statistics,
)
from ietest_fast.answers.measurements import Measurements, read_measurements, refuse_counts
from ietest_fast.answers.readers.facts_beside import (
    check_outcomes,
    name_classes,
    read_gold_beside,
    say_ids_again,
    say_unread,
)
from ietest_fast.answers.readers.table_columns import list_columns, read_kinds, read_some
from ietest_fast.answers.schema import MOST_KINDS
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats import (
    DEFAULT_FLIP_MARGIN,
    DEFAULT_MARGIN,
    DEFAULT_N_RESAMPLES,
    ClusteredTestResult,
    JointTestResult,
    MatchedSample,
    PairedCounts,
    PairedTestResult,
    algorithm_test,
    cochran_q_test,
    decide,
    joint_test,
    judge_pairs,
    paired_test,
)
from ietest_fast.stats.strata import LABEL
from ietest_fast.values import is_id_name, is_like_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ietest_fast.analyses.compare.saying import Extra
    from ietest_fast.analyses.compare.statistic import Statistic
    from ietest_fast.stats import InvarianceTestResult
    from ietest_fast.stats.outcomes import Method
    from ietest_fast.stats.resampling import Alternative
    from ietest_fast.stats.studentised import NullLaw


_OUTCOMES = ("original_correct", "transformed_correct")
_VERSIONS = ("original", "transformed")


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnsComparison:
    """What is shown of outcomes or scores in the columns of a table, or of four counts."""

    result: Any
    """Of the test: two columns, several classifiers on two versions, or several versions."""
    reject: bool
    """Whether a difference is shown at alpha, which it shares with what else is claimed."""
    extra: Extra
    """What has to be known beside the test."""
    invariance: InvarianceTestResult | None = None
    """Accuracy and flips on the reworded texts, and the verdict. None of scores, of several
    classifiers or versions, and at an alpha of 0.5 or more."""
    statistics: Mapping[str, Statistic] = field(default_factory=dict)
    """By name, what was computed besides on the reworded texts."""


# What is compared, and what speaks against it.


def choose_columns(path: str | Path) -> tuple[str, str]:
    """Return the columns of outcomes of both versions, by the names that they usually have."""
    names = list_columns(path)
    return _OUTCOMES if "A" not in names and set(_OUTCOMES) <= set(names) else ("A", "B")


def read_compared(
    path: str | Path,
    names: Sequence[str],
    *,
    are_versions: bool = False,
    are_named: bool = True,
    clusters: str | None = None,
    reworded: str | None = None,
    scores: bool = False,
    **asked: Any,
) -> Measurements:
    """Read the columns that are compared, and warn of what beside them speaks against it.

    Parameters
    ----------
    path
        A table: CSV, TSV, JSONL or Parquet.
    names
        The columns of the original, one for each classifier, and as many of the transformed texts;
        or one for each version.
    are_versions
        Whether there is one for each version.
    are_named
        Whether the user has named them. Otherwise outcomes that something beside them contradicts
        are refused.
    clusters, reworded
        The columns that say which texts belong together, and which ones are reworded.
    scores
        Whether the columns hold scores even if all are 0 and 1.
    **asked
        What asks for further statistics, as for :func:`compare_columns`.

    Returns
    -------
    Measurements
        Beside what is compared, it has the columns of the statistics, and gold labels if there are
        some.

    Raises
    ------
    InputError
        If a column is missing, or holds something else.
    """
    path = Path(path)
    there = list_columns(path)
    roles = {name for name in (clusters, reworded) if name is not None}
    labels = None
    if not are_versions and len(names) == 2:
        labels = read_gold_beside(path, there, {*names, *roles})
    known = {} if labels is None else {LABEL: pa.chunked_array([labels[1]])}
    wanted = columns_asked(asked)
    given = read_measurements(
        path,
        names,
        clusters=clusters,
        reworded=reworded,
        scores=True if scores else False if are_versions else None,
        beside=[name for name in dict.fromkeys(wanted) if name not in known],
    )
    given = replace(given, beside={**given.beside, **known})
    if not given.are_scores:
        if not are_named:
            check_outcomes(path, given.columns)
            _check_twice(path, there, given)
        refuse_counts(path, there, {*given.columns})
    named = {*wanted, *roles, *([] if labels is None else labels[:1])}
    _warn_of_columns(path, there, given, named)
    return given


def _check_twice(path: Path, there: Sequence[str], given: Measurements) -> None:
    """Refuse outcomes that stand there under two usual pairs of names, and are not the same."""
    for pair in (_OUTCOMES, _VERSIONS):
        if pair[0] in given.columns or not set(pair) <= set(there):
            continue
        try:
            others = read_measurements(path, pair, scores=False)
        except InputError:  # nobody has asked for them
            continue
        for (name, own), (other, marks) in zip(
            given.columns.items(), others.columns.items(), strict=True
        ):
            n = int((own != marks).sum())
            if n:
                raise InputError(
                    f"says otherwise than {name} in {say_count(n, 'row')}; mend what is wrong, or "
                    f"say which outcomes count (--original {name} --transformed ..., or --original "
                    f"{pair[0]} --transformed {pair[1]})",
                    path=path,
                    row=f"row {int((own != marks).argmax())}",
                    column=other,
                )


def _warn_of_columns(
    path: Path, there: Sequence[str], given: Measurements, named: set[str]
) -> None:
    """Warn of columns beside, as in tables of answers: repeated ids, and other records of pairs."""
    once = [name for name in there if there.count(name) == 1]
    notes: tuple[str, ...] = ()
    if given.clusters is None:
        ids = [name for name in once if is_id_name(name) or is_like_id(name)]
        notes += say_ids_again(read_some(path, ids), named, path)
    if not given.are_scores and len(given.columns) == 2:
        columns = read_some(path, [*given.columns]).items()
        outcomes = {name: pa.chunked_array([values]) for name, values in columns}
        taken = {*given.columns, *named, *given.beside}
        others = read_kinds(path, [name for name in once if name not in taken], MOST_KINDS)
        notes += say_unread(
            path, others, None, outcomes, taken=taken, chosen={*given.columns}, are_outcomes=True
        )
    for note in notes:
        warnings.warn(note.removeprefix("Warning: ").removesuffix("."), IetestWarning, stacklevel=3)


# What is shown of it.


def compare_columns(
    given: Measurements | PairedCounts,
    *,
    are_versions: bool = False,
    method: Method | None = None,
    n_resamples: int | None = None,
    rng: Any = 0,
    n_threads: int | None = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    margin: float | None = None,
    flip_margin: float | None = None,
    all_reworded: bool = False,
    null: NullLaw | None = None,
    quantiles: Sequence[float] = (),
    **asked: Any,
) -> ColumnsComparison:
    """Test what columns hold, and judge outcomes on two versions.

    Parameters
    ----------
    given
        What :func:`read_compared` has read, or four counts.
    are_versions
        Whether there is a column for each of several versions (Cochran's Q).
    method, n_resamples, rng, n_threads, alternative, null, quantiles
        As for :func:`ietest_fast.stats.paired_test`.
    alpha
        Level of the test, and of all that is claimed besides.
    margin, flip_margin
        Differences of accuracy, and flip rates, that do not matter if they are smaller; None for
        the defaults of :func:`ietest_fast.stats.invariance_test`.
    all_reworded
        Whether all texts are reworded, so that no column says which.
    **asked
        What asks for further statistics of the reworded texts, as for
        :func:`ietest_fast.analyses.compare.profile.compare_versions`.

    Returns
    -------
    ColumnsComparison

    Raises
    ------
    InputError
        As for the tests; also for fewer than two counted pairs.
    """
    drawing = {"n_resamples": n_resamples, "rng": rng, "n_threads": n_threads}
    testing = {"alternative": alternative, **drawing}
    resampling = {**testing, "n_resamples": n_resamples or DEFAULT_N_RESAMPLES}
    result: Any
    extra: Extra = {}
    if isinstance(given, PairedCounts):
        if given.n < 2:
            raise InputError(f"a paired test needs at least two pairs, not {given.n}")
        result, extra = _test_counts(given, method, testing, alpha=alpha, margin=margin)
    elif are_versions:
        q_method: Any = method or "multinomial"
        result = cochran_q_test(given.columns, method=q_method, **drawing)
    elif len(given.columns) > 2:
        result, extra = _test_classifiers(given, resampling, alpha=alpha)
    elif given.are_scores:
        a, b = given.columns.values()
        result = paired_test(
            a,
            b,
            scores=True,
            clusters=given.clusters,
            null=null,
            quantiles=quantiles,
            **resampling,
        )
        if margin is not None:
            extra["equivalence"] = say_equivalence(
                a,
                b,
                clusters=given.clusters,
                margin=margin,
                alpha=alpha,
                scores=True,
                p_difference=result.p_value,
                null=null,
                **drawing,
            )
    elif given.clusters is not None:
        result, extra = _test_clusters(given, method, testing, alpha=alpha, margin=margin)
    else:
        counts = _match(given).counts
        result, extra = _test_counts(counts, method, testing, alpha=alpha, margin=margin)
    are_judged = isinstance(result, (PairedTestResult, ClusteredTestResult)) and alpha < MOST_ALPHA
    if not are_judged:
        is_joint = isinstance(result, JointTestResult)
        reject = any(result.reject) if is_joint else decide([result.p_value], alpha=alpha).reject
        return ColumnsComparison(result=result, reject=reject, extra=extra)
    judging = {
        "alpha": alpha,
        "margin": DEFAULT_MARGIN if margin is None else margin,
        "flip_margin": DEFAULT_FLIP_MARGIN if flip_margin is None else flip_margin,
        **drawing,
    }
    invariance = _judge(result, given, all_reworded=all_reworded, **judging)
    return ColumnsComparison(
        result=result,
        reject=invariance.differs,  # alpha is shared with what else is claimed
        extra=extra,
        invariance=invariance,
        statistics={}
        if isinstance(given, PairedCounts)
        else _compute_besides(given, {**asked, **judging}),
    )


def _match(given: Measurements) -> MatchedSample:
    """Return the outcomes of both versions, where there are two."""
    a, b = cast("list[NDArray[np.bool_]]", [*given.columns.values()])
    return MatchedSample(original_correct=a, transformed_correct=b)


def _test_counts(
    counts: PairedCounts,
    method: Method | None,
    testing: dict[str, Any],
    *,
    alpha: float,
    margin: float | None,
) -> tuple[PairedTestResult, Extra]:
    """Test independent outcomes; the exact law draws no resamples, which may be for statistics."""
    method = method or "exact"
    drawn = {**testing, "n_resamples": None} if method == "exact" else testing
    result = paired_test(counts, method=method, **drawn)
    return result, beside(result, alpha=alpha, margin=margin)


def _test_clusters(
    given: Measurements,
    method: Method | None,
    testing: dict[str, Any],
    *,
    alpha: float,
    margin: float | None,
) -> tuple[Any, Extra]:
    a, b = given.columns.values()
    result: Any = paired_test(a, b, clusters=given.clusters, method=method, **testing)
    return result, beside_clusters(
        a,
        b,
        given.clusters,
        alpha=alpha,
        margin=margin,
        alternative=testing["alternative"],
        p_difference=result.p_value,
    )


def _test_classifiers(
    given: Measurements, resampling: dict[str, Any], *, alpha: float
) -> tuple[JointTestResult, Extra]:
    """Test several classifiers together; say what holds if they are trainings of one algorithm."""
    names, columns = list(given.columns), list(given.columns.values())
    m = len(names) // 2
    result = joint_test(
        dict(zip(names[:m], columns[:m], strict=True)),
        dict(zip(names[:m], columns[m:], strict=True)),
        clusters=given.clusters,
        alpha=alpha,
        **resampling,
    )
    if given.are_scores or alpha >= MOST_ALPHA:
        return result, {}
    found = algorithm_test(
        dict(enumerate(columns[:m])),
        dict(enumerate(columns[m:])),
        clusters=given.clusters,
        alternative=resampling["alternative"],
        alpha=alpha,
    )
    lines = [f"If these are trainings of one algorithm: {found.explanation}"]
    if found.warning is not None:
        lines.append(f"Warning: {found.warning}.")
    return result, {"algorithm": (found.to_dict(), lines)}


def _judge(
    result: PairedTestResult | ClusteredTestResult,
    given: Measurements | PairedCounts,
    *,
    all_reworded: bool,
    **judging: Any,
) -> InvarianceTestResult:
    """Judge outcomes on two versions, where texts are known by their labels and clusters, too."""
    tested = {
        "p_difference": result.p_value,
        "p_floor": result.p_floor,
        "alternative": result.alternative,
        **judging,
    }
    if isinstance(given, PairedCounts):
        return judge_pairs(given, reworded=True if all_reworded else None, **tested)
    return judge_pairs(
        _match(given),
        reworded=True if all_reworded else given.reworded,
        clusters=given.clusters,
        labels=name_classes(given.beside[LABEL]) if LABEL in given.beside else None,
        **tested,
    )


def _compute_besides(given: Measurements, options: Mapping[str, Any]) -> dict[str, Statistic]:
    """Compute the statistics that are asked for, on the reworded texts."""
    texts = RewordedTexts.of(
        _match(given),
        given.reworded,
        answers=None,
        clusters=given.clusters,
        column=given.beside.__getitem__,
    )
    return compute_statistics(texts, options)
