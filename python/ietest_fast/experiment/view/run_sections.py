"""Sections of a report on runs: results, robustness, soundness, comparisons, settings."""

from __future__ import annotations

import itertools
import json
import math
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.experiment.view.charts import (
    accuracy_chart,
    bootstrap_chart,
    delta_chart,
    p_chart,
    snr_chart,
    t_chart,
)
from ietest_fast.experiment.view.learning import (
    curves_of_runs,
    further_tables,
    run_consistency_parts,
    size_accuracy_chart,
    size_loss_chart,
    size_table,
)
from ietest_fast.experiment.view.result_tables import (
    across_tables,
    algorithm_table,
    cell_table,
    collapsed_table,
    glance_table,
    lay_out,
    mean_sd,
    ranking_table,
    reworded_table,
    rho_table,
    runs_table,
    strata_tables,
)
from ietest_fast.report.contents import (
    MOST_OWN_FIGURES,
    OWN_FIGURES,
    Figures,
    Heading,
    Numbers,
    Part,
    Section,
    Words,
)
from ietest_fast.report.tables import Column, PValue, Table
from ietest_fast.stats import PairedCounts, decide, paired_test
from ietest_fast.stats.multiple import JOINT_CORRECTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.experiment.finished import FinishedRun
    from ietest_fast.experiment.schema import (
        ConditionResult,
        ModelRecord,
        RunResult,
        Spread,
        TransformationRecord,
    )
    from ietest_fast.experiment.view.text_tables import TestSetAnswers
    from ietest_fast.report.drawing import Chart
    from ietest_fast.stats import Decision


# What it takes to run a finished run again.

_FINGERPRINT = re.compile(r"[0-9a-f]{32,}")


def to_toml(results: RunResult, condition: ConditionResult) -> str:
    """Write what is known of a configuration, as ``ietest-fast run FILE`` takes it.

    Names of files are not among what a run keeps, for files count by what is in them. They are left
    open (``"..."``), each beside the fingerprint of what has to stand there; of what a run does not
    keep at all, such as a block list, a comment says that it may have been given.
    """
    settings = results.settings
    data, split, demo = settings.data, settings.data.split, settings.data.demo
    draws = settings.method != "exact" or settings.correction in JOINT_CORRECTIONS
    lines = [
        _line("rho", settings.rho),
        *_given("mode", settings.mode, usual="replace"),
        *_given("train_size", condition.train_size),
        *_say_evaluated(results),
        _line("n_classifiers", settings.n_classifiers),
        _line("alpha", settings.alpha),
        *_given("correction", settings.correction, usual="bonferroni"),
        _line("margin", settings.margin),
        _line("flip_margin", settings.flip_margin),
        *_given("strata", settings.strata, usual=()),
        _line("seed", settings.seed),
        _line("method", settings.method),
        # Otherwise S is that of Cochran's Q, which is about several transformations.
        *(_given("n_resamples", settings.n_resamples) if draws else []),
        "",
        "[data]",
    ]
    if demo is not None:
        lines += [_line("demo", demo.to_dict())]
    elif split is not None:
        parts = {name: value for name, value in split.to_dict().items() if value is not None}
        lines += [f'train = "..."  # {data.train}'] * (split.n_train is None)
        lines += [
            f"# valid: {data.valid}",
            f"# test: {data.test}",
            _line("split", {"file": "...", **parts}),
        ]
    else:
        lines += [
            f'{name} = "..."  # {fingerprint}' for name, fingerprint in data.fingerprints.items()
        ]
    lines += [*_given("name", data.name), *_given("cluster", data.cluster)]
    if demo is None:
        lines += [
            _line("text_columns", results.data.text_columns),
            _line("label_names", results.data.label_names),
            *_given("label_column", results.data.label_column),
            "# missing_text, quoted and csv as the files need them",
        ]
    lines += _say_transformation(results.transformation_of(condition))
    lines += _say_model(results.model_of(condition))
    software = ", ".join(f"{name} {version}" for name, version in results.software.items())
    return "\n".join([f"# {condition.signature}", f"# {software}", *lines]) + "\n"


def _say_transformation(phi: TransformationRecord) -> list[str]:
    options = phi.settings.get("options")
    said = options.items() if isinstance(options, dict) else ()
    return [
        "",
        "[transformation]",
        *_given("name", phi.settings.get("name")),
        # Files are recorded by what is in them; where they stood, nobody knows.
        *[f"# {name}: {_value(value)}" for name, value in said],
        f"# fingerprint of all this: {phi.inputs}",
        f"# made: {phi.name} {phi.fingerprint}",
    ]


def _say_evaluated(results: RunResult) -> list[str]:
    """Write the transformations of further test sets as far as a run keeps them: files are not."""
    if not results.evaluated:
        return []
    return [
        _line("eval_phi", [each.key for each in results.evaluated]),
        *[
            f"# {each.key}: {_value(each.settings.get('options', {}))}, fingerprint {each.inputs}"
            for each in results.evaluated
        ],
    ]


def _say_model(record: ModelRecord) -> list[str]:
    model = record.settings
    lines = ["", "[model]", _line("name", model.name), *_say_options(model.options)]
    for name in ("params", "search", "input"):
        lines += _given(name, getattr(model, name))
    if model.params is None and isinstance(model.search, int) and record.params:
        lines.append(f"# found by the search: {json.dumps(record.params)}")
    for name, usual in (("search_per_resample", False), ("n_voters", 1)):
        lines += _given(name, getattr(model, name), usual=usual)
    return lines


def _say_options(options: Mapping[str, Any]) -> list[str]:
    """Write a model's options; what was a name of files and is a fingerprint now is left open."""
    hashed = {
        name: value
        for name, value in options.items()
        if isinstance(value, str) and _FINGERPRINT.search(value)
    }
    lines = [f"# option {name}: {value}" for name, value in hashed.items()]
    return [*lines, *_given("options", {**options, **dict.fromkeys(hashed, "...")})]


def _given(name: str, value: Any, *, usual: Any = None) -> list[str]:
    return [] if value in (None, {}, usual) else [_line(name, value)]


def _line(name: str, value: Any) -> str:
    return f"{name} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        items = ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items())
        return f"{{ {items} }}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    # Strings, numbers, true and false are written alike in TOML.
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    is_bare = name.replace("_", "").replace("-", "").isalnum() and name.isascii()
    return name if is_bare else _value(name)


# Two runs beside each other, observation by observation.

N_REPLICATES = 10_000
"""S of the test of losses, which are no outcomes but differences of them."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One quantity of two runs at one rho."""

    rho: float
    """Which."""
    quantity: str
    """``"original"`` or ``"transformed"`` (accuracies), or ``"loss"`` (original minus transformed,
    of each run)."""
    first: Spread
    second: Spread
    """The quantity in either run, over the classifiers."""
    difference: Spread
    """First minus second, over the pairs of classifiers of equal m."""
    decision: Decision
    """Over the M paired tests of H0: no difference."""


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Two runs on the same test observations."""

    first: str
    second: str
    """Names of the runs."""
    rows: tuple[Compared, ...]
    """Three quantities at every rho that both have."""


def are_comparable(first: FinishedRun, second: FinishedRun) -> bool:
    """Whether two runs have the same test observations in the same order, and a rho in common."""
    if first.results is None or second.results is None:
        return False
    data = [results.data for results in (first.results, second.results)]
    same = all(
        getattr(data[0], name) == getattr(data[1], name) for name in ("label_names", "text_columns")
    )
    tests = {results.settings.data.test for results in (first.results, second.results)}
    common = {rho.rho for rho in first.rhos} & {rho.rho for rho in second.rhos}
    return same and len(tests) == 1 and bool(common)


def compare_runs(
    first: FinishedRun,
    second: FinishedRun,
    *,
    gold: NDArray[np.int8],
    answers: tuple[NDArray[np.int8], NDArray[np.int8]],
    alpha: float | None = None,
) -> RunComparison:
    """Compare two models, or a model under two transformations, on the same observations.

    The classifiers of equal rho and m are compared by paired tests: right or wrong on the original
    version (exact law), on the transformed version (exact law), and by how much of the accuracy
    each loses, whose observations are differences -1, 0 or 1 (scores, S replicates). H0 is rejected
    where a p lies below alpha / M, M being that of the run with fewer classifiers. Observations are
    drawn one by one, also where the runs themselves drew clusters.
    """
    if not are_comparable(first, second):
        raise InputError(
            f"{first.name} and {second.name} have no test set, or no rho, in common: there is "
            "nothing to pair"
        )
    level = min(first.alpha, second.alpha) if alpha is None else alpha
    rows = []
    places = {rho.rho: number for number, rho in enumerate(second.rhos)}
    for number, rho in enumerate(first.rhos):
        if rho.rho not in places:
            continue
        n_pairs = min(first.n_classifiers, second.n_classifiers)
        right_first, right_second = (
            own[:, place, :n_pairs] == gold[:, None, None]
            for own, place in zip(answers, (number, places[rho.rho]), strict=True)
        )
        rows += _compare(rho.rho, right_first, right_second, level)
    return RunComparison(first=first.name, second=second.name, rows=tuple(rows))


def _compare(
    rho: float, first: NDArray[np.bool_], second: NDArray[np.bool_], alpha: float
) -> list[Compared]:
    """Compare outcomes, bool of shape (n, M, 2)."""
    from ietest_fast.experiment.schema import Spread

    compared, n = [], first.shape[1]
    for quantity in ("original", "transformed", "loss"):
        pairs = [_compare_classifiers(quantity, first[:, m], second[:, m]) for m in range(n)]
        compared.append(
            Compared(
                rho=rho,
                quantity=quantity,
                first=Spread.of([a for a, _, _ in pairs]),
                second=Spread.of([b for _, b, _ in pairs]),
                difference=Spread.of([a - b for a, b, _ in pairs]),
                decision=decide([p_value for _, _, p_value in pairs], alpha=alpha),
            )
        )
    return compared


def _compare_classifiers(
    quantity: str, first: NDArray[np.bool_], second: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return a quantity of two classifiers, and the p-value of their difference."""
    if quantity == "loss":
        lost = [own[:, 0].astype(np.float64) - own[:, 1] for own in (first, second)]
        p_value = paired_test(*lost, scores=True, n_resamples=N_REPLICATES).p_value
        return float(lost[0].mean()), float(lost[1].mean()), p_value
    version = ("original", "transformed").index(quantity)
    right = [own[:, version] for own in (first, second)]
    p_value = paired_test(PairedCounts.from_outcomes(*right)).p_value
    return float(right[0].mean()), float(right[1].mean()), p_value


def comparable_pairs(runs: Sequence[FinishedRun]) -> list[tuple[FinishedRun, FinishedRun]]:
    """Give the pairs of runs that can be compared, in order."""
    return [pair for pair in itertools.combinations(runs, 2) if are_comparable(*pair)]


_SAID = {
    "original": "accuracy, original",
    "transformed": "accuracy, transformed",
    "loss": "loss (original − transformed)",
}


def comparison_table(comparison: RunComparison, *, number: int = 1) -> Table:
    """Give a comparison as a table, the number of which is in its name."""
    return lay_out(
        f"comparison-{number}",
        f"{comparison.first} beside {comparison.second}",
        ((row, row.decision) for row in comparison.rows),
        {
            Column("ρ", "number", -1): lambda row, _: row.rho,
            Column("quantity"): lambda row, _: _SAID[row.quantity],
            Column(f"{comparison.first} %", "percent"): lambda row, _: mean_sd(row.first),
            Column(f"{comparison.second} %", "percent"): lambda row, _: mean_sd(row.second),
            Column("difference (points)", "points"): lambda row, _: mean_sd(row.difference),
            Column("smallest p", "p"): lambda _, own: PValue(own.p_min, own.threshold),
            Column("α/M", "number", -1): lambda _, own: own.threshold,
            Column("different"): lambda _, own: own.reject,
        },
        note=(
            "Paired tests of the classifiers of equal ρ and m on the same observations, drawn one "
            f"by one; losses with S = {N_REPLICATES:,} replicates."
        ),
    )


def result_section(runs: Sequence[FinishedRun]) -> Section:
    """Return the section with the results of runs."""
    drawn = runs if len(runs) <= MOST_OWN_FIGURES else runs[:OWN_FIGURES]
    further = further_tables(runs)
    return Section(
        id="results",
        title="The test against ρ",
        intro=(
            "Each classifier, trained on data of which a share ρ was rephrased, answers both "
            "versions of the test set. Where the two lines part, the model's mind changes with the "
            "wording."
            + f" Only the first {len(drawn)} of {len(runs):,} runs have figures of their own."
            * (len(drawn) < len(runs))
        ),
        parts=(
            *(Numbers(table=own) for own in [glance_table(runs)] if own is not None),
            Numbers(table=runs_table(runs)),
            *(
                Numbers(table=own)
                for own in (reworded_table(runs), algorithm_table(runs))
                if own is not None
            ),
            *(Numbers(table=own, folded=own.title) for own in strata_tables(runs)),
            Heading(text="Accuracy, and how large the difference is"),
            Figures(
                charts=tuple(chart for i, run in enumerate(drawn, 1) for chart in _of_run(run, i))
            ),
            Heading(text="Statistic and p-value"),
            Figures(charts=(t_chart(runs, "t"), p_chart(runs, "p-values"))),
            Numbers(table=rho_table(runs), folded="The numbers behind these figures"),
            *(Numbers(table=table) for table in across_tables(runs)),
            *learning_curve_parts(runs),
            *run_consistency_parts(runs),
            *(Heading(text="On further test sets") for _ in further[:1]),
            *(Numbers(table=table) for table in further),
            Numbers(table=cell_table(runs), folded="Every classifier, in numbers"),
            Heading(text="The null distribution"),
            Figures(
                charts=tuple(
                    bootstrap_chart(run, f"bootstrap-{i}") for i, run in enumerate(drawn, 1)
                )
            ),
        ),
    )


def learning_curve_parts(runs: Sequence[FinishedRun]) -> list[Part]:
    """Return what a page shows over the number of training rows; nothing without several."""
    curves = curves_of_runs(runs)
    if not curves:
        return []
    tables = [size_table(own, number=number) for number, own in enumerate(curves, 1)]
    charts = [
        chart
        for number, own in enumerate(curves[:OWN_FIGURES], 1)
        for chart in (
            size_accuracy_chart(own, f"sizes-accuracy-{number}"),
            size_loss_chart(own, f"sizes-loss-{number}"),
        )
    ]
    return [
        Heading(text="Over the number of training rows"),
        Figures(charts=tuple(charts)),
        *(Numbers(table=own, folded=own.title) for own in tables),
    ]


def _of_run(run: FinishedRun, number: int) -> tuple[Chart, Chart]:
    return accuracy_chart(run, f"accuracy-{number}"), delta_chart(run, f"delta-{number}")


def robustness_section(runs: Sequence[FinishedRun]) -> Section:
    """Return the section on signal-to-noise ratios and collapsed classifiers."""
    collapsed = collapsed_table(runs)
    chart = snr_chart(runs, "snr") if len(runs) > 1 else None
    return Section(
        id="robustness",
        title="Robustness",
        intro=(
            "How steady a model's accuracy is over everything that was retrained: the "
            "signal-to-noise ratio of the paper's Table 2."
        ),
        parts=(
            Numbers(table=ranking_table(runs)),
            *([] if chart is None else [Figures(charts=(chart,))]),
            *([] if collapsed is None else [Numbers(table=collapsed)]),
        ),
    )


def comparison_sections(
    runs: Sequence[FinishedRun], test_sets: Sequence[TestSetAnswers]
) -> list[Section]:
    """Return sections that compare runs on one test set."""
    known: dict[str, tuple[NDArray[np.int8], NDArray[np.int8]]] = {
        run.name: (found.versions.gold, answers)
        for found in test_sets
        for run, answers in zip(found.runs, found.answers, strict=True)
    }
    if len(runs) < 2:
        return []
    pairs = comparable_pairs(runs)

    def compare(pair: tuple[FinishedRun, FinishedRun]) -> RunComparison:
        first, second = pair
        return compare_runs(
            first,
            second,
            gold=known[first.name][0],
            answers=(known[first.name][1], known[second.name][1]),
        )

    # Nearly all of it is the compiled core's work, which other threads need not wait for.
    with ThreadPoolExecutor() as pool:
        compared = list(pool.map(compare, pairs))
    tables = [comparison_table(each, number=i) for i, each in enumerate(compared, start=1)]
    return [
        Section(
            id="comparisons",
            title="Runs side by side",
            intro=_say_compared(runs, pairs),
            parts=tuple(
                Numbers(table=table, folded=table.title if len(tables) > 3 else None)
                for table in tables
            ),
        )
    ]


def _say_compared(
    runs: Sequence[FinishedRun], pairs: Sequence[tuple[FinishedRun, FinishedRun]]
) -> str:
    needs = (
        "that takes answers to the same test set, with the same columns and labels, and a ρ in "
        "common."
    )
    if not pairs:
        return f"These runs are not compared: {needs}"
    said = (
        "The same observations, answered by two models or under two transformations. The row that "
        "matters most is the loss: which of the two gives away more accuracy when texts are "
        "rephrased."
    )
    n_left = math.comb(len(runs), 2) - len(pairs)
    if n_left == 0:
        return said
    return f"{said} Of {n_left + len(pairs)} pairs of runs {n_left} cannot be compared: {needs}"


def provenance_section(runs: Sequence[FinishedRun]) -> Section:
    """Return the section on settings and machines of runs."""
    return Section(
        id="provenance",
        title="How it came about",
        intro=(
            "Each run's signature and its settings. A run keeps no names of files: what is left "
            "open (...) is yours to fill in. Equal contents give equal results, byte for byte."
        ),
        parts=tuple(
            Words(
                title=run.name,
                text=f"Counts from {run.source.name}; nothing else is known."
                if run.results is None
                else to_toml(run.results, run.condition),
            )
            for run in runs
        ),
    )
