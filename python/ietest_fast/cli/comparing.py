"""What ``eval`` and ``test`` print of answers in logs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.closer import print_closer
from ietest_fast.cli.options import check_resamples, choose_reworded, exit_status
from ietest_fast.plurals import list_dropped
from ietest_fast.report.terminal import echo, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.compare import Comparison, VersionTest
    from ietest_fast.answers.logs import ReadLogs
    from ietest_fast.cli.verdicts import Extra

_COLLAPSED = "Warning: {} has collapsed: it predicts one class, or is not shown to be above chance."


def compare_logs(
    read: ReadLogs,
    *,
    options: Mapping[str, Any],
    margin: float | None,
    alpha: float,
    as_json: bool,
    fail_on_reject: bool,
    fields: Mapping[str, str] | None = None,
    told: Mapping[str, Any] | None = None,
    below: Sequence[str] = (),
) -> int:
    """Test what logs hold, print it, and return the exit status."""
    from ietest_fast.analyses.compare import compare_versions

    clusters = options["clusters"] or read.predictions.repeats
    if clusters is None:
        check_resamples(options)
    elif options["method"] not in {None, "resample"}:
        raise click.UsageError(
            f"clusters are resampled; --method {options['method']} is not for them"
        )
    found = compare_versions(
        read.predictions,
        clusters=clusters,
        method=options["method"],
        n_resamples=options["n_resamples"],
        rng=options["seed"],
        alternative=options["alternative"],
        alpha=alpha,
        margin=margin,
        flip_margin=options["flip_margin"],
        reworded=choose_reworded(options),
        strata=options["strata"],
        strata_correction=options["strata_correction"],
        dose=options["dose"],
        n_threads=options["n_threads"],
    )
    read = replace(read, notes=(*read.notes, *found.notes))
    if len(found.tests) == 1:
        _print_one(
            read, found, margin=margin, as_json=as_json, fields=fields or {}, told=told or {}
        )
    else:
        if margin is not None and found.compared == "models":
            raise click.UsageError("--margin is for versions of the same texts, or two classifiers")
        _print_several(read, found, as_json=as_json, fields=fields or {}, told=told or {})
    for line in () if as_json else below:
        echo(line)
    return exit_status(
        reject=found.reject,
        fail_on_reject=fail_on_reject,
        alike=found.alike,
        fail_unless_alike=options["fail_unless_alike"],
    )


def _print_one(
    read: ReadLogs,
    found: Comparison,
    *,
    margin: float | None,
    as_json: bool,
    fields: Mapping[str, str],
    told: Mapping[str, Any],
) -> None:
    from ietest_fast.cli.verdicts import beside, beside_clusters, print_test, say, sign

    (test,) = found.tests
    result: Any = test.result
    alpha = found.alpha
    extra: Extra
    if test.clusters is None:
        extra = beside(result, alpha=alpha, margin=margin)
    else:
        sample = test.pairs.sample
        extra = beside_clusters(
            sample.original_correct,
            sample.transformed_correct,
            test.clusters,
            alpha=alpha,
            margin=margin,
            alternative=result.alternative,
            p_difference=result.p_value,
        )
    signature = sign(result, alpha=alpha, fields=fields)
    labels = read.predictions.label_names
    if as_json:
        print_json(
            {
                "compared": found.compared,
                **_unless_none(labels=labels),
                "dropped": read.predictions.dropped,
                "notes": list(read.notes),
                **told,
                **_without_warning(test.to_dict(), told),
                **{name: value for name, (value, _) in extra.items()},
                "alpha": alpha,
                "signature": signature,
            }
        )
        return
    _print_notes(read)
    verdict = say(result, test.reject)
    print_test(
        result,
        extra,
        verdict=verdict,
        alpha=alpha,
        signature=signature,
        invariance=test.invariance,
    )
    print_closer(test.strata, test.dose)
    _print_changes(found, test)


def _make_reworded_columns() -> tuple[Any, ...]:
    from ietest_fast.report.tables import Column

    return (
        Column("reworded", kind="count"),
        Column("delta there", kind="points"),
        Column("flipped there", kind="percent"),
        Column("verdict"),
    )


def _print_several(
    read: ReadLogs,
    found: Comparison,
    *,
    as_json: bool,
    fields: Mapping[str, str],
    told: Mapping[str, Any],
) -> None:
    from ietest_fast.report.tables import Column, PValue, Table
    from ietest_fast.stats.paired import write_signature

    first = found.tests[0].result
    is_clustered = found.tests[0].clusters is not None
    signature = write_signature(
        "test",
        n=first.n,
        S=".".join(
            str(part)
            for part in (
                first.n_resamples,
                "resample" if is_clustered else getattr(first, "method", None),
            )
            if part is not None
        ),
        stat="t",
        alt=first.alternative.removesuffix("-sided"),
        mc="holm",
        tests=len(found.tests),
        alpha=f"{found.alpha:g}",
        seed=first.seed,
        **fields,
    )
    if as_json:
        print_json(
            {
                **_unless_none(labels=read.predictions.label_names),
                "dropped": read.predictions.dropped,
                **told,
                **found.to_dict(),
                "notes": list(read.notes),
                "signature": signature,
            }
        )
        return
    _print_notes(read)
    reference = found.tests[0].pairs.reference
    is_models = found.compared == "models"
    print_table(
        Table(
            name="comparison",
            title=f"{'Classifiers' if is_models else 'Versions'} against {reference}",
            columns=(
                Column("classifier" if is_models else "version"),
                Column("items", kind="count"),
                Column(f"accuracy, {reference}", kind="percent"),
                Column("accuracy", kind="percent"),
                Column("delta", kind="points"),
                Column("p", kind="p"),
                Column("p, Holm", kind="p"),
                Column("differs"),
                *(() if is_models else _make_reworded_columns()),
            ),
            rows=tuple(
                (
                    test.name,
                    test.result.n,
                    test.result.counts.accuracy_original,
                    test.result.counts.accuracy_transformed,
                    test.result.counts.delta,
                    test.result.p_value,
                    PValue(test.p_adjusted, found.alpha),
                    test.reject,
                    *_reworded_cells(found, test),
                )
                for test in found.tests
            ),
        )
    )
    for each in found.cochran:
        who = ", ".join(str(value) for value in each.group.values())
        result = each.result
        echo(
            f"Cochran's Q{f' of {who}' if who else ''} over {len(result.versions)} "
            f"{'classifiers on' if is_models else 'versions of'} {result.n:,} items: "
            f"{result.statistic:.3f}, p = {result.p_value:.4g}"
        )
    differ = [test.name for test in found.tests if test.reject]
    echo(
        f"Different from {reference}: {', '.join(differ)}."
        if differ
        else f"No difference from {reference} is shown."
    )
    for test in found.tests:
        print_closer(test.strata, test.dose, name=test.name)
        _print_changes(found, test, name=test.name)
        for line in test.caveats:
            echo(line)
    echo(signature)


def _reworded_cells(found: Comparison, test: VersionTest) -> tuple[Any, ...]:
    """Return the cells of a version about its reworded texts."""
    if found.compared != "versions":
        return ()
    own = test.invariance
    if own is None:
        return (None,) * 4
    flipped = None if own.flips is None else own.flips.rate
    return (own.n_reworded, own.delta, flipped, str(own.verdict))


def _without_warning(values: dict[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """Return values; their own warning gives way to none if there is none."""
    if values.get("warning") is None and told.get("warning") is not None:
        return {name: value for name, value in values.items() if name != "warning"}
    return values


def _unless_none(**values: Any) -> dict[str, Any]:
    return {name: list(value) for name, value in values.items() if value is not None}


def _print_notes(read: ReadLogs) -> None:
    for note in (*list_dropped(read.predictions.dropped), *read.notes):
        echo(note)
    if read.notes:
        echo()


def _print_changes(found: Comparison, test: VersionTest, *, name: str | None = None) -> None:
    before = "" if name is None else f"{name}: "
    if test.pairs.n_unmatched:
        echo(f"{before}{test.pairs.n_unmatched:,} items that one version lacks are left out.")
    if name is None and test.pairs.n_changed is not None:
        what = "predictions changed" if found.compared == "versions" else "predictions differ"
        echo(f"{test.pairs.n_changed:,} of {len(test.pairs):,} {what}.")
    if test.collapsed and test.invariance is None:  # which says so first
        who = "the model" if name is None else name
        echo(_COLLAPSED.format(who))
