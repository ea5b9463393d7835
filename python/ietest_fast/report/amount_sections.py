"""Parts of a report on consistency over the amount of data that classifiers have seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.experiment.run_consistency import measure_run
from ietest_fast.report.amount_charts import MOST_CURVES, amount_chart, path_chart
from ietest_fast.report.amount_tables import curve_table, step_table
from ietest_fast.report.learning_curves import chosen_rhos, curves_of_runs
from ietest_fast.report.parts import Figures, Heading, Note, Numbers, Part
from ietest_fast.report.runs import name_models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.analyses.consistency.curves import ConsistencyCurve
    from ietest_fast.report.runs import FinishedRun

_MOST_RHO = 2


def curve_parts(curves: Sequence[ConsistencyCurve], name: str, *, of_runs: bool) -> list[Part]:
    """Return figures and tables of curves; nothing without one of two points."""
    known = [each for each in curves if len(each.points) > 1]
    if not known:
        return []
    charts = [
        amount_chart(each, f"{name}-{number}") for number, each in enumerate(known[:MOST_CURVES], 1)
    ]
    steps = step_table(known, of_runs=of_runs)
    table = curve_table(known, of_runs=of_runs)
    return [
        Figures(charts=(*charts, path_chart(known, f"{name}-plane"))),
        Numbers(table=table),
        *([] if steps is None else [Numbers(table=steps, folded=steps.title)]),
    ]


def run_consistency_parts(runs: Sequence[FinishedRun]) -> list[Part]:
    """Return what a page shows of P_C over the training rows; nothing without several numbers."""
    folders = {}
    for curve in curves_of_runs(runs):
        results = curve[0].results
        assert results is not None  # noqa: S101 - counts have no numbers of rows
        folders[str(curve[0].source)] = results
    if not folders:
        return []
    parts: list[Part] = [Heading(text="Paraphrastic consistency over the number of training rows")]
    for number, results in enumerate(folders.values(), 1):
        every = sorted({rho.rho for each in results.conditions for rho in each.rhos})
        shown = chosen_rhos(every, _MOST_RHO)
        curves = measure_run(results, names=name_models(results), rhos=shown)
        parts += curve_parts(curves, f"consistency-rows-{number}", of_runs=True)
        if len(shown) < len(every):
            parts.append(
                Note(
                    text=f"Only ρ = {shown[0]:g} and ρ = {shown[-1]:g} are shown; `ietest-fast "
                    "consistency` with the run's folder has all."
                )
            )
    return parts
