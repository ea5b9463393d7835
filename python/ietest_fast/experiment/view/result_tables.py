"""The numbers behind the figures of a run, and the runs beside each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVarTuple

from ietest_fast.experiment.finished import name_of_size
from ietest_fast.experiment.schema import Spread
from ietest_fast.numerals import say_count
from ietest_fast.report.tables import Column, MeanSd, PValue, Table, as_table_name
from ietest_fast.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ietest_fast.experiment.finished import FinishedRun
    from ietest_fast.experiment.schema import RhoResult
    from ietest_fast.experiment.schema.cells import StratumRecord
    from ietest_fast.report.tables import Cell
    from ietest_fast.stats import SignalToNoise


Ts = TypeVarTuple("Ts")


def lay_out(
    name: str,
    title: str,
    items: Iterable[tuple[*Ts]],
    columns: Mapping[Column, Callable[[*Ts], Cell]],
    note: str = "",
) -> Table:
    """Make a table with a row for each item, of what each column says of it."""
    rows = tuple(tuple(say(*item) for say in columns.values()) for item in items)
    return Table(name=name, title=title, columns=tuple(columns), rows=rows, note=note)


# Models by the robustness of their accuracy (the paper's Table 2).


def rank_by_snr(runs: Sequence[FinishedRun]) -> list[FinishedRun]:
    """Sort runs by their signal-to-noise ratio (eq. 15), collapsed classifiers counted in."""
    return sorted(runs, key=lambda run: -(_ratio(run.robustness.every) or 0.0))


def _ratio(found: SignalToNoise) -> float | None:
    """Return the ratio; None of a single classifier, which has no noise to hold it against."""
    return found.snr if found.n > 1 else None


def ranking_table(runs: Sequence[FinishedRun]) -> Table:
    """Make the ranking: each run's ratio with all its classifiers, and without collapsed ones."""
    rows = []
    for place, run in enumerate(rank_by_snr(runs), start=1):
        found = run.robustness
        rows.append(
            (
                place,
                run.name,
                found.every.n,
                found.every.mean,
                found.every.std,
                *_snr(found.every),
                len(found.collapsed),
                *_snr(found.without_collapsed if found.collapsed else None),
            )
        )
    level = f"{100 * runs[0].robustness.confidence_level:g}%"
    return Table(
        name="snr",
        title="Signal-to-noise ratio of the accuracy on the original test set",
        columns=(
            Column("rank", "count"),
            Column("model"),
            Column("classifiers", "count"),
            Column("mean accuracy %", "percent"),
            Column("sd %", "percent", 3),
            Column("SNR", "number", 1),
            Column(f"{level} interval", "number", 1),
            Column("collapsed", "count"),
            Column("SNR without collapsed", "number", 1),
            Column(f"{level} interval without", "number", 1),
        ),
        rows=tuple(rows),
        note=(
            "SNR is mean/sd (divisor n) over all ρ and resamples. A collapsed classifier predicts "
            "one class only, or its accuracy is no better than chance allows; none is left out, "
            "dropped or trained again."
        ),
    )


def _snr(found: SignalToNoise | None) -> tuple[float | None, Interval | None]:
    if found is None:
        return None, None
    is_known = found.interval is not None and math.isfinite(found.interval.high)
    return _ratio(found), found.interval if is_known else None


def collapsed_table(runs: Sequence[FinishedRun]) -> Table | None:
    """List the collapsed classifiers; None if there is none."""
    table = lay_out(
        "collapsed",
        "Classifiers that cannot be told from guessing",
        ((run, cell) for run in runs for cell in run.cells if cell.collapsed),
        {
            Column("model"): lambda run, _: run.name,
            Column("ρ", "number", -1): lambda _, cell: cell.rho,
            Column("m", "count"): lambda _, cell: cell.m,
            Column("original %", "percent"): lambda _, cell: cell.accuracy_original,
            Column("transformed %", "percent"): lambda _, cell: cell.accuracy_transformed,
        },
    )
    return table if table.rows else None


_SPREADS = "Standard deviations have the divisor M − 1. δ is original minus transformed."
_CLUSTERS = (
    "Where there are clusters t, p and decisions are of tests that draw whole ones; intervals of "
    "δ too."
)


def runs_table(runs: Sequence[FinishedRun]) -> Table:
    """Say what was run: model, data, transformation, sizes."""
    return lay_out(
        "runs",
        "Runs",
        ((run,) for run in runs),
        {
            Column("model"): lambda run: run.name,
            Column("data"): lambda run: run.data_name,
            Column("transformation"): lambda run: run.transformation,
            Column("test observations", "count"): lambda run: run.n,
            Column("values of ρ", "count"): lambda run: len(run.rhos),
            Column("M", "count"): lambda run: run.n_classifiers,
            Column("α", "number", -1): lambda run: run.alpha,
            Column("margin (points)", "percent"): lambda run: run.margin,
            Column("values of ρ rejected", "count"): lambda run: sum(r.reject for r in run.rhos),
            Column("clusters", "count"): lambda run: run.cells[0].n_clusters,
        },
        note=_CLUSTERS if any(run.cells[0].n_clusters is not None for run in runs) else "",
    )


def glance_table(runs: Sequence[FinishedRun]) -> Table | None:
    """Give four numbers for each run; None if no run knows which texts were reworded."""
    known = [run for run in runs if all(rho.flip_rate is not None for rho in run.rhos)]
    if not known:
        return None
    return lay_out(
        "glance",
        "At a glance: the reworded texts",
        ((run, run.condition) for run in known),
        {
            Column("model"): lambda run, _: run.name,
            Column("transformation"): lambda run, _: run.transformation,
            Column("loss (points)", "points"): lambda run, _: _over_rho(
                rho.reworded_delta for rho in run.rhos
            ),
            Column("answers changed %", "percent"): lambda run, _: _over_rho(
                rho.flip_rate for rho in run.rhos
            ),
            Column("excess churn (points)", "points"): lambda run, _: _range(
                [rho.churn.excess for rho in run.rhos if rho.churn is not None]
            ),
            Column("p over all ρ", "p"): lambda run, own: PValue(own.over_rho.p_value, run.alpha),
            Column("verdict"): lambda _, own: str(own.verdict),
        },
        note=(
            "From the smallest to the largest over ρ, of means over the classifiers. Loss: "
            "accuracy on the originals minus accuracy on the rephrased texts. Excess churn: how "
            "much more often two trainings disagree across the versions than within one. p: equal "
            "accuracy at every ρ."
        ),
    )


def _over_rho(spreads: Iterable[Spread | None]) -> Interval | None:
    return _range([own.mean for own in spreads if own is not None and own.mean is not None])


def _range(values: Sequence[float]) -> Interval | None:
    return Interval(min(values), max(values)) if values else None


def rho_table(runs: Sequence[FinishedRun]) -> Table:
    """Give the test at every rho of every run: Figures 3 to 7 of the paper as numbers."""
    is_any_joint = any(rho.is_joint for run in runs for rho in run.rhos)
    threshold = "threshold" if is_any_joint else "α/M"
    return lay_out(
        "by-rho",
        "The test at every ρ: means ± standard deviations over the M classifiers",
        ((rho, run) for run in runs for rho in run.rhos),
        {
            Column("model"): lambda _, run: run.name,
            Column("ρ", "number", -1): lambda rho, _: rho.rho,
            Column("original %", "percent"): lambda rho, _: mean_sd(rho.accuracy_original),
            Column("transformed %", "percent"): lambda rho, _: mean_sd(rho.accuracy_transformed),
            Column("δ (points)", "points"): lambda rho, _: mean_sd(rho.delta),
            Column("t", "number", 3): lambda rho, _: mean_sd(rho.t),
            Column("smallest p", "p"): lambda rho, _: PValue(rho.p_min, rho.threshold),
            Column(threshold, "number", -1): lambda rho, _: rho.threshold,
            Column("power", "number"): lambda rho, _: rho.power,
            Column("rejected"): lambda rho, _: rho.reject,
            Column("verdict"): lambda rho, _: str(rho.verdict),
        },
        note=f"{_SPREADS} Power: of one classifier's test at α/M, for a difference of the margin."
        + _say_joint(runs),
    )


def reworded_table(runs: Sequence[FinishedRun]) -> Table | None:
    """Give what happens on the reworded texts at every rho; None if no run knows which they are."""
    known = [run for run in runs if all(rho.flip_rate is not None for rho in run.rhos)]
    if not known:
        return None
    return Table(
        name="reworded",
        title="The reworded texts at every ρ: means ± standard deviations over the M classifiers",
        columns=(
            Column("model"),
            Column("ρ", "number", -1),
            Column("reworded", "count"),
            Column("δ there (points)", "points"),
            Column("p over all ρ", "p"),
            Column("changed %", "percent"),
            Column("churn %", "percent"),
            Column("excess churn (points)", "points"),
            Column("interval of it", "points"),
            Column("p of it over all ρ", "p"),
            Column("verdict over all ρ", "text"),
        ),
        rows=tuple(_reworded_row(run, place) for run in known for place in range(len(run.rhos))),
        note=(
            "Changed: the answer is another one. Churn: two trainings answer the same text of one "
            "version differently. Excess churn: how much more often they do across the versions, "
            "with its 95% interval. p over all ρ: of equal accuracy over all texts, and of no "
            "excess, corrected for the number of ρ. The p of no excess takes a classifier's flips "
            "on different texts for independent: its order of magnitude says nothing."
        ),
    )


def strata_tables(runs: Sequence[FinishedRun]) -> list[Table]:
    """Give what happens on the reworded texts by label, and by every other column of strata.

    Means over the M classifiers; none where a run does not know the reworded texts.
    """
    names = dict.fromkeys(
        each.name
        for run in runs
        for rho in run.rhos
        for cell in rho.cells
        if cell.reworded is not None
        for each in cell.reworded.strata
    )
    return [_strata_table(runs, name) for name in names]


def _strata_rows(run: FinishedRun, rho: RhoResult, name: str) -> list[tuple[Any, ...]]:
    """Return a row for each stratum; none unless every classifier was tested in the strata."""
    own = [
        each
        for cell in rho.cells
        if cell.reworded is not None
        for each in cell.reworded.strata
        if each.name == name
    ]
    if len(own) < len(rho.cells):
        return []
    p = min(1.0, len(own) * min(each.p_value for each in own))
    by_stratum = zip(*(each.strata for each in own), strict=True)
    return [
        (run.name, rho.rho, strata[0].name, strata[0].n, *_changes_of(strata), p)
        for strata in by_stratum
    ]


def _changes_of(strata: Sequence[StratumRecord]) -> tuple[MeanSd | None, ...]:
    """Return the means over classifiers of what one stratum lost, won and changed."""
    flipped = [each.n_flipped / each.n for each in strata if each.n_flipped is not None]
    return (
        mean_sd(Spread.of([each.n10 / each.n for each in strata])),
        mean_sd(Spread.of([each.n01 / each.n for each in strata])),
        mean_sd(Spread.of([each.delta for each in strata])),
        mean_sd(Spread.of(flipped)) if flipped else None,
    )


def _strata_table(runs: Sequence[FinishedRun], name: str) -> Table:
    return Table(
        name=f"by-{as_table_name(name)}",
        title=f"The reworded texts by {name}: means ± standard deviations over the M classifiers",
        columns=(
            Column("model"),
            Column("ρ", "number", -1),
            Column(name),
            Column("reworded", "count"),
            Column("lost %", "percent"),
            Column("won %", "percent"),
            Column("δ (points)", "points"),
            Column("changed %", "percent"),
            Column("p, same proportion", "p"),
        ),
        rows=tuple(row for run in runs for rho in run.rhos for row in _strata_rows(run, rho, name)),
        note=(
            "Lost: right on the original only. Won: right on the rephrased text only. p: the share "
            "of losses among both is the same everywhere; the smallest of the M classifiers, times "
            "M."
        ),
    )


def _reworded_row(run: FinishedRun, place: int) -> tuple[Any, ...]:
    rho, over = run.rhos[place], run.condition.over_rho
    first = rho.cells[0].reworded
    assert first is not None  # noqa: S101 - the run knows them
    churn, own = over.churn_p_adjusted, rho.churn
    excess: tuple[Any, ...] = (None, None, None)
    if own is not None:
        excess = (own.noise_floor, own.excess, Interval(*own.interval))
    return (
        run.name,
        rho.rho,
        first.n,
        mean_sd(rho.reworded_delta),
        PValue(over.p_adjusted[place], over.alpha),
        mean_sd(rho.flip_rate),
        *excess,
        None if churn is None else PValue(churn[place], over.alpha),
        str(run.condition.verdicts[place]),
    )


def algorithm_table(runs: Sequence[FinishedRun]) -> Table | None:
    """Give what is shown of the algorithm at every rho; None if no run has two classifiers."""
    known = [run for run in runs if run.condition.over_rho.algorithm_p_adjusted is not None]
    if not known:
        return None
    rows = []
    for run in known:
        over = run.condition.over_rho
        for rho, p in zip(run.rhos, over.algorithm_p_adjusted or (), strict=True):
            own = rho.algorithm
            assert own is not None  # noqa: S101 - as the p-values are
            rows.append(
                (
                    run.name,
                    rho.rho,
                    len(rho.cells),
                    own.delta,
                    Interval(*own.interval),
                    own.t,
                    PValue(p, over.alpha),
                    own.sd_classifiers,
                    Interval(*own.prediction_interval),
                    own.equivalent,
                )
            )
    return Table(
        name="algorithm",
        title="The algorithm at every ρ, on the reworded texts",
        columns=(
            Column("model"),
            Column("ρ", "number", -1),
            Column("M", "count"),
            Column("δ there (points)", "points"),
            Column("interval of it", "points"),
            Column("t", "number", 3),
            Column("p over all ρ", "p"),
            Column("sd between trainings (points)", "percent"),
            Column("interval for one more classifier", "points"),
            Column("within the margin", "text"),
        ),
        rows=tuple(rows),
        note=(
            "Not about the M classifiers that were trained, but about the average over retrainings "
            "on the same training set: texts and trainings are treated as random samples, "
            "trainings as normal. Intervals are at 95%, for each ρ by itself. Within the margin: "
            "the average δ is shown to be, at each ρ by itself."
        ),
    )


def cell_table(runs: Sequence[FinishedRun]) -> Table:
    """Give every classifier with its counts, its test and its interval."""
    return lay_out(
        "by-classifier",
        "Every classifier",
        ((cell, run, rho) for run in runs for rho in run.rhos for cell in rho.cells),
        {
            Column("model"): lambda _, run, __: run.name,
            Column("ρ", "number", -1): lambda cell, _, __: cell.rho,
            Column("m", "count"): lambda cell, _, __: cell.m,
            Column("n11", "count"): lambda cell, _, __: cell.n11,
            Column("n10", "count"): lambda cell, _, __: cell.n10,
            Column("n01", "count"): lambda cell, _, __: cell.n01,
            Column("n00", "count"): lambda cell, _, __: cell.n00,
            Column("original %", "percent"): lambda cell, _, __: cell.accuracy_original,
            Column("transformed %", "percent"): lambda cell, _, __: cell.accuracy_transformed,
            Column("δ (points)", "points"): lambda cell, _, __: cell.delta,
            Column("interval of δ", "points"): lambda cell, _, __: cell.interval,
            Column("t", "number", 3): lambda cell, _, __: cell.t,
            Column("p", "p"): lambda cell, _, rho: PValue(cell.p_value, rho.threshold),
            Column("exact McNemar p", "p"): lambda cell, _, __: cell.test.p_mcnemar_exact,
            Column("discordant %", "percent"): lambda cell, _, __: cell.counts.discordance_rate,
            Column("within the margin"): lambda cell, _, __: cell.is_equivalent,
            Column("collapsed"): lambda cell, _, __: cell.collapsed,
        },
        note=(
            "n11: right on both versions; n10: on the original only; n01: on the transformed only; "
            f"n00: on neither. {_say_tests(runs)}"
        ),
    )


def _say_joint(runs: Sequence[FinishedRun]) -> str:
    if not any(rho.is_joint for run in runs for rho in run.rhos):
        return ""
    return " Of runs corrected by max-t or min-p, p is corrected for M tests and held to α."


def across_tables(runs: Sequence[FinishedRun]) -> list[Table]:
    """Return what holds over several transformations of a model; nothing for single ones."""
    results = list({id(run.results): run.results for run in runs if run.results}.values())
    every = [each for result in results for each in result.across]
    if not every:
        return []
    has_clusters = any(
        result.across and result.conditions[0].rhos[0].cells[0].clustered is not None
        for result in results
    )
    left_out = (
        " Cochran's test takes observations to be independent, and is left out where clusters are "
        "drawn."
        if has_clusters
        else ""
    )
    holm = Table(
        name="over-transformations",
        title="Over the transformations of each model",
        columns=(
            Column("model"),
            Column("ρ", "number", -1),
            Column("transformation"),
            Column("smallest p, corrected over M", "p"),
            Column("p, Holm", "p"),
            Column("rejected"),
        ),
        rows=tuple(
            (
                name_of_size(each.model, each.train_size),
                each.rho,
                phi,
                p,
                PValue(adjusted, each.alpha),
                reject,
            )
            for each in every
            for phi, p, adjusted, reject in zip(
                each.transformations, each.p_values, each.p_holm, each.reject, strict=True
            )
        ),
        note="Holm's correction is over the transformations of a model at one ρ." + left_out,
    )
    cochran = lay_out(
        "all-versions",
        "All versions at once: Cochran's test",
        ((each, own) for each in every for own in each.cochran),
        {
            Column("model"): lambda each, _: name_of_size(each.model, each.train_size),
            Column("ρ", "number", -1): lambda each, _: each.rho,
            Column("m", "count"): lambda _, own: own.m,
            Column("Q", "number", 3): lambda _, own: own.statistic,
            Column("p", "p"): lambda _, own: own.p_value,
        },
        note="Of the original and all transformed versions, answered by one classifier.",
    )
    return [holm, cochran] if cochran.rows else [holm]


def brief_tables(run: FinishedRun) -> tuple[Table, Table]:
    """Give the test at every rho, and that of every classifier, narrow enough for a terminal."""
    return (
        rho_table([run]).without("model", "power", "rejected", note=_SPREADS),
        cell_table([run]).without(
            *("model", "n11", "n00", "original %", "transformed %", "discordant %"),
            *("within the margin", "collapsed"),
            note="n10: right on the original only; n01: on the transformed only. "
            + _say_tests([run]),
        ),
    )


def _say_tests(runs: Sequence[FinishedRun]) -> str:
    return f"Intervals of δ, of the equivalence test, are at {_levels(runs)}.{_say_few(runs)}"


def _levels(runs: Sequence[FinishedRun]) -> str:
    return " and ".join(sorted({f"{100 * (1 - 2 * run.alpha):g}%" for run in runs}))


def _say_few(runs: Sequence[FinishedRun]) -> str:
    n_few = sum(cell.clustered is None for run in runs for rho in run.rhos for cell in rho.liberal)
    if n_few == 0:
        return ""
    rest = "rests" if n_few == 1 else "rest"
    return (
        f" {say_count(n_few, 'test')} {rest} on few discordant pairs for the level of one test, "
        "where the bootstrap may reject too often: compare McNemar's p."
    )


def mean_sd(spread: Spread | None) -> MeanSd | None:
    """Return a spread as a cell of a table; None stays None."""
    return None if spread is None else MeanSd(spread.mean, spread.sd)
