"""Sections of a report on runs: results, robustness, soundness, comparisons, settings."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.report.amount_sections import run_consistency_parts
from ietest_fast.report.charts import (
    accuracy_chart,
    bootstrap_chart,
    delta_chart,
    p_chart,
    snr_chart,
    t_chart,
)
from ietest_fast.report.comparison import comparable_pairs, compare_runs, comparison_table
from ietest_fast.report.further_tests import further_tables
from ietest_fast.report.learning_curves import curves_of_runs, size_table
from ietest_fast.report.parts import (
    MOST_OWN_FIGURES,
    OWN_FIGURES,
    Figures,
    Heading,
    Numbers,
    Part,
    Section,
    Words,
)
from ietest_fast.report.provenance import to_toml
from ietest_fast.report.ranking import collapsed_table, ranking_table
from ietest_fast.report.result_tables import (
    across_tables,
    algorithm_table,
    cell_table,
    glance_table,
    reworded_table,
    rho_table,
    runs_table,
    strata_tables,
)
from ietest_fast.report.size_charts import size_accuracy_chart, size_loss_chart
from ietest_fast.report.soundness import marked_tables, needed_table, say_soundness

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ietest_fast.report.comparison import Comparison
    from ietest_fast.report.examples import TestSetAnswers
    from ietest_fast.report.runs import FinishedRun
    from ietest_fast.report.soundness import MarkedSample
    from ietest_fast.report.svg import Chart


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


def soundness_sections(
    runs: Sequence[FinishedRun], marked: Sequence[MarkedSample]
) -> list[Section]:
    """Return sections on marked rephrasings, or on what marking would take."""
    needed = needed_table(runs)
    if needed is None:
        if marked:
            raise InputError(
                "none of these runs has texts, so no sample was drawn from them",
                path=marked[0].sample.path,
            )
        return []
    parts: list[Part] = [Numbers(table=needed)]
    for each in marked:
        each.sample.check_is_of_run()
        own = [run for run in runs if run.test_set == each.sample.test_set]
        if not own:
            raise InputError(
                "was not drawn from the test set of any of these runs", path=each.sample.path
            )
        parts.append(Heading(text=f"{each.sample.path.name}: {say_soundness(each)}"))
        for number, run in enumerate(own):
            tables = marked_tables(run, each)
            parts += [Numbers(table=table) for table in tables[min(number, 1) :]]
    return [
        Section(
            id="soundness",
            title="Are the rephrasings sound?",
            intro=(
                "A rephrasing that changes the meaning may change an answer rightly. The first "
                "table says how many such rephrasings it would take to explain each result."
                + ("" if marked else " `ietest-fast annotate` lets people mark how many there are.")
            ),
            parts=tuple(parts),
        )
    ]


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

    def compare(pair: tuple[FinishedRun, FinishedRun]) -> Comparison:
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
