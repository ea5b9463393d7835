"""``ietest-fast test``: every paired test, from a file's columns or from four counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.comparing import (
    OF_LOGS,
    check_method,
    compare_logs,
    list_kept,
    log_options,
    print_statistics,
    print_test,
    read,
)
from ietest_fast.cli.options import (
    ASKING,
    COUNTS,
    LEVELS,
    NAMES,
    FiniteRange,
    check_alike,
    check_margin,
    check_not_given,
    check_resamples,
    choose_reworded,
    csv_option,
    exit_status,
    invariance_options,
    is_given,
    resampling,
    statistics_options,
    test_options,
)
from ietest_fast.errors import InputError
from ietest_fast.report.progress import show_stage
from ietest_fast.report.terminal import print_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ietest_fast.analyses.compare.saying import Extra
    from ietest_fast.analyses.compare.statistic import Statistic
    from ietest_fast.answers.measurements import Measurements
    from ietest_fast.stats import InvarianceTestResult, MatchedSample, PairedCounts
    from ietest_fast.stats.result import Result


@click.command(name="test")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path())
@click.option("--counts", type=COUNTS, help="Test these counts instead of a file.")
@click.option(
    "--original",
    type=NAMES,
    default="A",
    show_default=True,
    help="Column: right on the original? Or its score. Several columns: several classifiers.",
)
@click.option(
    "--transformed",
    type=NAMES,
    default="B",
    show_default=True,
    help="Column: right on the transformed text? Or its score. As many columns.",
)
@click.option(
    "--versions",
    type=NAMES,
    help="Instead of the two: one column of outcomes for each of several versions (Cochran's Q).",
)
@click.option("--clusters", help="Column whose equal values belong together (premise, annotator).")
@click.option("--scores", is_flag=True, help="Take values for scores even if all are 0 and 1.")
@click.option(
    "--margin",
    type=FiniteRange(min=0, min_open=True),
    help="Smaller differences count as equivalent.  [default for outcomes: 0.01]",
)
@click.option(
    "--null",
    type=click.Choice(["symmetric", "studentised"]),
    help="Null law of t, for scores.  [default: the one that fits their skewness]",
)
@click.option("--quantiles", type=LEVELS, default=(), help="Of t*, for scores.")
@log_options
@invariance_options
@statistics_options
@test_options
@csv_option()
def command(*, files: tuple[str, ...], **options: Any) -> int:
    """Test whether a classifier does equally well on two versions of the same texts.

    FILE (CSV, TSV, JSONL or Parquet) has two columns: outcomes (0 or 1: is the classifier right on
    the original text, and on its transformed version?) or scores (any numbers). Several columns on
    each side are several classifiers, tested together. With --counts no file is needed.

    FILEs may also be logs of lm-evaluation-harness, Inspect or HELM, or what eval --out has
    written: one file for each version or classifier, or one with all; see `ietest-fast eval`.
    """
    if bool(files) == (options["counts"] is not None):
        raise click.UsageError("give either a FILE or --counts n11,n10,n01,n00")
    if files and _are_logs(files):
        of_tables = ("original", "transformed", "versions", "scores", "quantiles", "null")
        check_not_given(*of_tables, because="is for a table of outcomes or scores")
        check_margin(options)
        check_alike(options)
        return compare_logs(read(files, options, keep=list_kept(options)), options)
    check_not_given(*OF_LOGS, "threshold", because="is for logs of answers")
    columns = [options[name] for name in ("original", "transformed", "versions")]
    if files and columns == [("A",), ("B",), None]:
        options["original"], options["transformed"] = _find_columns(files[0])
    _check_usage(options)
    check_alike(options)

    given = _read_given(files[0], options) if files else None
    with show_stage("Testing"):
        tested = _test_counts(options) if given is None else _test_columns(given, options)
    from ietest_fast.analyses.compare.saying import say_result, sign_result

    result, reject, extra = tested
    invariance = _judge(result, given, options)
    if invariance is not None:
        reject = invariance.differs  # alpha is shared with what else is claimed
    else:
        of_outcomes = ("reworded", "all-reworded", "flip-margin", "fail-unless-alike")
        check_not_given(*of_outcomes, because="is for two columns of outcomes, or counts")
        check_not_given(*ASKING, because="is for two columns of outcomes")
    besides = _compute_besides(invariance, given, options)
    alpha = options["alpha"]
    signature = sign_result(result, alpha=alpha, n_classifiers=len(options["original"]))
    if options["as_json"]:
        about = {"alpha": alpha, "reject": reject, "signature": signature}
        print_json(_list_numbers(result, extra, invariance, besides, about))
    else:
        verdict = say_result(result, reject, are_scores=given is not None and given.are_scores)
        print_test(
            result,
            extra,
            verdict=verdict,
            alpha=alpha,
            signature=signature,
            invariance=invariance,
            details=options["details"],
        )
        print_statistics(besides)
    alike = invariance is not None and invariance.is_alike
    return exit_status(options, reject=reject, alike=alike)


def _list_numbers(
    result: Result,
    extra: Extra,
    invariance: InvarianceTestResult | None,
    besides: Mapping[str, Statistic],
    about: dict[str, Any],
) -> dict[str, Any]:
    """Return every number of a test by name, and what it is about at the end."""
    from ietest_fast.analyses.compare.statistic import write_statistics

    numbers = (
        result.to_dict()
        | {name: value for name, (value, _) in extra.items()}
        | {"invariance": None if invariance is None else invariance.to_dict()}
    )
    return numbers | write_statistics(besides, beside=numbers | about) | about


def _judge(
    result: Any, given: Measurements | None, options: Mapping[str, Any]
) -> InvarianceTestResult | None:
    """Judge outcomes on two versions; None for scores, several classifiers or versions."""
    from ietest_fast import stats
    from ietest_fast.analyses.compare.statistic import MOST_ALPHA

    is_paired = isinstance(result, (stats.PairedTestResult, stats.ClusteredTestResult))
    if not is_paired or options["alpha"] >= MOST_ALPHA:
        return None
    chosen = choose_reworded(options)
    return stats.judge_pairs(
        result.counts if given is None else _match(given),
        p_difference=result.p_value,
        p_floor=result.p_floor,
        alternative=result.alternative,
        reworded=True if chosen is True else None if given is None else given.reworded,
        clusters=None if given is None else given.clusters,
        labels=None if given is None else _find_labels(given),
        **_judging(options),
    )


def _match(given: Measurements) -> MatchedSample:
    """Return the outcomes of both versions, where there are two."""
    from ietest_fast.stats import MatchedSample

    a, b = given.columns.values()
    return MatchedSample(original_correct=a, transformed_correct=b)  # type: ignore[arg-type]


def _judging(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what reworded texts are judged by."""
    from ietest_fast.stats import DEFAULT_FLIP_MARGIN, DEFAULT_MARGIN

    margin, flip_margin = options["margin"], options["flip_margin"]
    return {
        "margin": DEFAULT_MARGIN if margin is None else margin,
        "flip_margin": DEFAULT_FLIP_MARGIN if flip_margin is None else flip_margin,
        "alpha": options["alpha"],
        **resampling(options),
    }


def _read_given(file: str, options: Mapping[str, Any]) -> Measurements:
    """Read what is compared, and say what speaks against it."""
    given = _read(file, options)
    _check_labels(file, given)
    _warn_of_columns(file, given, options)
    return given


def _read(file: str, options: Mapping[str, Any]) -> Measurements:
    """Read what is compared, the columns of statistics, and gold labels if there are some."""
    from ietest_fast.analyses.compare.statistic import columns_asked
    from ietest_fast.answers.measurements import read_measurements

    versions, asked = options["versions"], columns_asked(options)
    pair = (*options["original"], *options["transformed"])
    unasked: list[str] = []
    if versions is None and len(pair) == 2:
        unasked = _list_labels(file, {*pair, *_roles(options), *asked})

    def attempt(beside: list[str]) -> Measurements:
        return read_measurements(
            file,
            versions or pair,
            clusters=options["clusters"],
            reworded=options["reworded"],
            scores=True if options["scores"] else False if versions else None,
            beside=tuple(dict.fromkeys(beside)),
        )

    if unasked:
        try:
            return attempt([*asked, *unasked])
        except InputError:  # perhaps of a column that nobody has asked for
            pass
    return attempt(asked)


def _check_labels(file: str, given: Measurements) -> None:
    """Refuse outcomes that contradict labels and answers beside them, unless they are named."""
    from ietest_fast.answers.measurements import refuse_counts
    from ietest_fast.answers.readers.facts_beside import check_outcomes
    from ietest_fast.answers.readers.table_columns import list_columns

    named = any(is_given(name) for name in ("original", "transformed", "versions"))
    if not (given.are_scores or named):
        check_outcomes(Path(file), given.columns)
        _check_twice(file, given)
    if not given.are_scores:
        refuse_counts(file, list_columns(file), {*given.columns})


def _warn_of_columns(file: str, given: Measurements, options: Mapping[str, Any]) -> None:
    """Warn of columns beside, as in tables of answers: repeated ids, and other records of pairs."""
    import warnings

    import pyarrow as pa

    from ietest_fast.analyses.compare.statistic import columns_asked
    from ietest_fast.answers.readers.facts_beside import say_ids_again, say_unread
    from ietest_fast.answers.readers.table_columns import list_columns, read_kinds, read_some
    from ietest_fast.answers.schema import MOST_KINDS
    from ietest_fast.errors import IetestWarning
    from ietest_fast.values import is_id_name, is_like_id

    path, names = Path(file), list_columns(file)
    named = {*columns_asked(options), *_roles(options)}
    notes: tuple[str, ...] = ()
    if not options["clusters"]:
        ids = [
            name
            for name in names
            if names.count(name) == 1 and (is_id_name(name) or is_like_id(name))
        ]
        notes += say_ids_again(read_some(path, ids), named, path)
    if not given.are_scores and len(given.columns) == 2:
        columns = read_some(path, [*given.columns]).items()
        outcomes = {name: pa.chunked_array([values]) for name, values in columns}
        taken = {*given.columns, *named, *given.beside}
        once = [name for name in names if names.count(name) == 1 and name not in taken]
        others = read_kinds(path, once, MOST_KINDS)
        notes += say_unread(
            path, others, None, outcomes, taken=taken, chosen={*given.columns}, are_outcomes=True
        )
    for note in notes:
        warnings.warn(note.removeprefix("Warning: ").removesuffix("."), IetestWarning, stacklevel=2)


def _check_twice(file: str, given: Measurements) -> None:
    """Refuse outcomes that stand there under two usual pairs of names, and are not the same."""
    from ietest_fast.answers.measurements import read_measurements
    from ietest_fast.answers.readers.table_columns import list_columns
    from ietest_fast.numerals import say_count

    names = set(list_columns(file))
    for pair in (_OUTCOMES, _VERSIONS):
        if pair[0] in given.columns or not set(pair) <= names:
            continue
        try:
            others = read_measurements(file, pair, scores=False)
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
                    path=file,
                    row=f"row {int((own != marks).argmax())}",
                    column=other,
                )


def _roles(options: Mapping[str, Any]) -> list[str]:
    return [options[name] for name in ("clusters", "reworded") if isinstance(options[name], str)]


def _list_labels(file: str, taken: set[str]) -> list[str]:
    """Return the column that may hold gold labels, unless one of these names has a role."""
    from ietest_fast.answers.readers.table_columns import list_columns

    if taken & set(_LABELS):
        return []
    there = list(list_columns(file))
    return [name for name in _LABELS if there.count(name) == 1][:1]


def _find_labels(given: Measurements) -> Any:
    """Return the gold labels of the texts; None if no column holds one for each.

    Nobody has asked for them, so nothing that stands there is a mistake.
    """
    import numpy as np

    for name in _LABELS:
        column = given.beside.get(name)
        if column is None:
            continue
        values = column.to_pylist()
        if not all(isinstance(value, (str, int, float)) for value in values):
            continue
        words = [str(value).strip() for value in values]
        if not any(word.lower() in _UNKNOWN for word in words):
            return np.asarray(words)
    return None


def _compute_besides(
    invariance: InvarianceTestResult | None,
    given: Measurements | None,
    options: Mapping[str, Any],
) -> dict[str, Statistic]:
    """Compute the statistics that are asked for of two columns of outcomes, on reworded texts."""
    if invariance is None or given is None:
        return {}
    import numpy as np

    from ietest_fast.analyses.compare.statistic import RewordedTexts, compute_statistics

    sample, reworded = _match(given), given.reworded
    texts = RewordedTexts.of(
        sample,
        np.arange(sample.counts.n) if reworded is None else np.flatnonzero(reworded),
        answers=None,
        clusters=given.clusters,
        column=given.beside.__getitem__,
    )
    return compute_statistics(texts, {**options, **_judging(options)})


# What a column of gold labels beside outcomes is usually called.
_LABELS = ("label", "gold", "gold_label")

# What stands there for a label that nobody knows.
_UNKNOWN = {"", "-", "-1", "-1.0", "nan"}

_OUTCOMES = ("original_correct", "transformed_correct")
_VERSIONS = ("original", "transformed")


def _are_logs(files: tuple[str, ...]) -> bool:
    """Whether files hold answers, rather than columns of outcomes or scores."""
    if len(files) > 1 or Path(files[0]).is_dir():
        return True
    if any(is_given(name) for name in ("original", "transformed", "versions", "scores")):
        return False
    if any(is_given(name.replace("-", "_")) for name in (*OF_LOGS, "threshold")):
        return True
    from ietest_fast.answers.readers import find_reader
    from ietest_fast.answers.readers.tables import holds_versions

    name, _ = find_reader(files[0])
    return name != "table" or holds_versions(files[0])


def _find_columns(file: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of outcomes of both versions, by the names that they usually have."""
    from ietest_fast.answers.readers.table_columns import list_columns

    names = list_columns(file)
    if "A" not in names and set(_OUTCOMES) <= set(names):
        return (_OUTCOMES[0],), (_OUTCOMES[1],)
    return ("A",), ("B",)


def _check_usage(options: Mapping[str, Any]) -> None:
    original, transformed = options["original"], options["transformed"]
    versions = options["versions"]
    if options["counts"] is not None:
        for name in ("clusters", "scores", "quantiles", "null", "reworded", *ASKING):
            if options[name]:
                raise click.UsageError(f"--{name} needs a file; counts are of independent pairs")
        if versions is not None:
            raise click.UsageError("--versions needs a file")
        check_not_given("original", "transformed", because="needs a file; counts have no columns")
    if len(original) != len(transformed):
        raise click.UsageError(
            f"--original names {len(original)} columns, --transformed {len(transformed)}; each "
            "classifier needs one of both"
        )
    several = versions is not None or len(original) > 1
    for name in ("margin", "quantiles", "null"):
        if options[name] and several:
            raise click.UsageError(f"--{name} is for one pair of columns")
    if versions is not None:
        _check_usage_of_versions(options)


def _check_usage_of_versions(options: Mapping[str, Any]) -> None:
    check_not_given("original", "transformed", because="and --versions exclude each other")
    if len(options["versions"]) < 2:
        raise click.UsageError("--versions needs at least two columns")
    if options["clusters"] or options["scores"]:
        raise click.UsageError("--versions compares outcomes of independent texts")
    if options["alternative"] != "two-sided":
        raise click.UsageError("Cochran's Q has no direction: leave --alternative out")


def _judge_algorithm(given: Measurements, m: int, options: Mapping[str, Any]) -> Extra:
    """Say of outcomes of several classifiers what holds if they are trainings of one algorithm."""
    from ietest_fast.analyses.compare.statistic import MOST_ALPHA
    from ietest_fast.stats import algorithm_test

    if given.are_scores or options["alpha"] >= MOST_ALPHA:
        return {}
    columns = list(given.columns.values())
    found = algorithm_test(
        dict(enumerate(columns[:m])),
        dict(enumerate(columns[m:])),
        clusters=given.clusters,
        alternative=options["alternative"],
        alpha=options["alpha"],
    )
    lines = [f"If these are trainings of one algorithm: {found.explanation}"]
    if found.warning is not None:
        lines.append(f"Warning: {found.warning}.")
    return {"algorithm": (found.to_dict(), lines)}


def _monte_carlo(options: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Options of a test that has resamples only."""
    if options["method"] is not None and options["method"] != "resample":
        raise click.UsageError(
            f"{what} are resampled; --method {options['method']} is not for them"
        )
    from ietest_fast.stats import DEFAULT_N_RESAMPLES

    return {
        "alternative": options["alternative"],
        **resampling(options),
        "n_resamples": options["n_resamples"] or DEFAULT_N_RESAMPLES,
    }


def _test_counts(options: Mapping[str, Any]) -> tuple[Result, bool, Extra]:
    from ietest_fast.stats import PairedCounts

    counts = PairedCounts(*options["counts"])
    check_margin(options)
    check_resamples(options)
    if counts.n < 2:
        raise InputError(f"a paired test needs at least two pairs, not {counts.n}")
    return _test_independent(counts, options)


def _test_independent(
    counts: PairedCounts, options: Mapping[str, Any]
) -> tuple[Result, bool, Extra]:
    from ietest_fast.analyses.compare.saying import beside
    from ietest_fast.stats import decide, paired_test

    alpha = options["alpha"]
    method: Any = options["method"] or "exact"
    drawn = resampling(options)
    if method == "exact":
        drawn["n_resamples"] = None
    result = paired_test(counts, method=method, alternative=options["alternative"], **drawn)
    reject = decide([result.p_value], alpha=alpha).reject
    return result, reject, beside(result, alpha=alpha, margin=options["margin"])


def _test_columns(given: Measurements, options: Mapping[str, Any]) -> tuple[Result, bool, Extra]:
    from ietest_fast import stats
    from ietest_fast.analyses.compare.saying import beside_clusters, say_equivalence

    result: Any
    check_margin(options, are_scores=given.are_scores)
    for name in ("quantiles", "null"):
        if options[name] and not given.are_scores:
            raise click.UsageError(f"--{name} is of scores; these columns hold outcomes")
    alpha, margin, names = options["alpha"], options["margin"], options["original"]
    if options["versions"] is not None:
        if options["method"] is not None:
            check_resamples(options)
        method: Any = options["method"] or "multinomial"
        result = stats.cochran_q_test(given.columns, method=method, **resampling(options))
        return result, stats.decide([result.p_value], alpha=alpha).reject, {}

    extra: Extra = {}
    columns, m = list(given.columns.values()), len(names)
    if m > 1:
        result = stats.joint_test(
            dict(zip(names, columns[:m], strict=True)),
            dict(zip(names, columns[m:], strict=True)),
            clusters=given.clusters,
            alpha=alpha,
            **_monte_carlo(options, "several classifiers"),
        )
        return result, any(result.reject), _judge_algorithm(given, m, options)
    a, b = columns
    if given.are_scores:
        result = stats.paired_test(
            a,
            b,
            scores=True,
            clusters=given.clusters,
            null=options["null"],
            quantiles=options["quantiles"],
            **_monte_carlo(options, "scores"),
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
                null=options["null"],
                **resampling(options),
            )
    elif given.clusters is not None:
        check_method(options, options["clusters"])
        result = stats.paired_test(
            a,
            b,
            clusters=given.clusters,
            method=options["method"],
            alternative=options["alternative"],
            **resampling(options),
        )
        extra = beside_clusters(
            a,
            b,
            given.clusters,
            alpha=alpha,
            margin=margin,
            alternative=options["alternative"],
            p_difference=result.p_value,
        )
    else:
        check_resamples(options)
        return _test_independent(stats.PairedCounts.from_outcomes(a, b), options)
    return result, stats.decide([result.p_value], alpha=alpha).reject, extra
