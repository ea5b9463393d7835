"""The two figures of a run and that of a plan, drawn without any global state of Matplotlib's."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.experiment.artefacts import write_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ietest_fast.experiment.results import RunResult
    from ietest_fast.stats import PowerCurve

# Okabe and Ito's colours can be told apart with any colour vision; markers and lines differ too.
_ORIGINAL: dict[str, Any] = {"color": "#0072B2", "marker": "o", "linestyle": "-"}
_TRANSFORMED: dict[str, Any] = {"color": "#D55E00", "marker": "s", "linestyle": "--"}
_REJECT, _KEEP, _LEVEL = "#D55E00", "#0072B2", "#444444"

# Smaller p-values are drawn at this height, as arrows: the axis should show where the decision is.
P_FLOOR = 1e-8

_DOTS_PER_INCH = 150
_STYLE: dict[Any, Any] = {
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "ietest-fast",
}


def _new_axes() -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.8, 4.7), layout="constrained")
    return figure, figure.add_subplot()


def _label_rho(axes: Axes, result: RunResult) -> None:
    axes.set_xlabel("ρ (probability that a training text is transformed)")
    rho = [each.rho for each in result.rhos]
    span = max(rho) - min(rho) or 1.0
    axes.set_xlim(min(rho) - 0.04 * span, max(rho) + 0.04 * span)
    if len(rho) <= 11:
        axes.set_xticks(rho)
    axes.grid(axis="y", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)


def draw_accuracy(result: RunResult) -> Figure:
    """Draw accuracy on both versions of the test set against rho.

    Points are means over the M classifiers, bars their standard deviation (divisor M - 1).
    """
    figure, axes = _new_axes()
    rho = np.array([each.rho for each in result.rhos])
    size = 6 if len(rho) <= 25 else 3
    # A little apart, so that bars of equal height do not hide each other.
    shift = 0.004 * (float(np.ptp(rho)) or 1.0) if len(rho) <= 25 else 0.0
    for label, style, offset, spreads in (
        ("original test set", _ORIGINAL, -shift, [r.accuracy_original for r in result.rhos]),
        (
            "transformed test set",
            _TRANSFORMED,
            shift,
            [r.accuracy_transformed for r in result.rhos],
        ),
    ):
        axes.errorbar(
            rho + offset,
            [math.nan if spread.mean is None else 100 * spread.mean for spread in spreads],
            yerr=[100 * (spread.sd or 0.0) for spread in spreads],
            label=label,
            markersize=size,
            linewidth=1.5,
            capsize=3 if len(rho) <= 25 else 0,
            elinewidth=1,
            **style,
        )
    axes.set_ylabel("accuracy (%)")
    n_resamples = len(result.rhos[0].cells)
    axes.set_title(f"Accuracy over {n_resamples} classifiers, mean ± sd", loc="left")
    _label_rho(axes, result)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def draw_p_values(result: RunResult) -> Figure:
    """Draw the smallest p-value against rho, on a logarithmic axis, with the line alpha / M.

    All M p-values are small dots. Values below ``P_FLOOR``, 0 among them, are arrows at the foot.
    """
    figure, axes = _new_axes()
    rho = np.array([each.rho for each in result.rhos])
    smallest = np.array([each.decision.p_min for each in result.rhos])
    reject = np.array([each.decision.reject for each in result.rhos])
    decision = result.rhos[0].decision
    axes.set_yscale("log")
    small = len(rho) > 25
    axes.plot(
        [each.rho for each in result.rhos for _ in each.cells],
        [max(cell.p_value, P_FLOOR) for each in result.rhos for cell in each.cells],
        linestyle="none",
        marker=".",
        markersize=3,
        color="#999999",
        label="each p",
    )
    axes.plot(rho, np.maximum(smallest, P_FLOOR), color="#bbbbbb", linewidth=1, zorder=1)
    below = smallest < P_FLOOR
    groups: list[tuple[str, NDArray[np.bool_], dict[str, Any]]] = [
        ("smallest p, rejects", reject & ~below, {"marker": "X", "color": _REJECT}),
        (
            f"smallest p below $10^{{{round(math.log10(P_FLOOR))}}}$, rejects",
            reject & below,
            {"marker": "v", "color": _REJECT},
        ),
        (
            "smallest p, does not reject",
            ~reject,
            {"marker": "o", "color": _KEEP, "markerfacecolor": "white"},
        ),
    ]
    for label, which, style in groups:
        if which.any():
            axes.plot(
                rho[which],
                np.maximum(smallest[which], P_FLOOR),
                linestyle="none",
                markersize=5 if small else 8,
                label=label,
                clip_on=False,
                **style,
            )
    axes.axhline(
        decision.threshold,
        color=_LEVEL,
        linestyle="--",
        linewidth=1.2,
        label=f"α/M = {decision.alpha:g}/{decision.n_tests} = {decision.threshold:g}",
    )
    lowest = max(float(min(smallest.min(), decision.threshold)), P_FLOOR)
    axes.set_ylim(P_FLOOR if below.any() else lowest / 5, 2.0)
    axes.set_ylabel("p-value")
    axes.set_title("Smallest p-value at each ρ", loc="left")
    _label_rho(axes, result)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def write_figures(result: RunResult) -> list[Path]:
    """Write ``accuracy`` and ``p_values``, each as SVG and PNG, into the run's folder.

    Returns
    -------
    list of Path
        The files.
    """
    paths = []
    for name, draw in (("accuracy", draw_accuracy), ("p_values", draw_p_values)):
        for suffix in ("svg", "png"):
            path = result.folder / f"{name}.{suffix}"
            save_figure(lambda draw=draw: draw(result), path)  # type: ignore[misc]
            paths.append(path)
    return paths


def draw_power(curve: PowerCurve) -> Figure:
    """Draw a power curve, with its goal of 0.8 and the level as lines."""
    figure, axes = _new_axes()
    axes.plot(curve.values, curve.powers, color=_KEEP, linewidth=2)
    for height, label in ((0.8, "0.8"), (curve.alpha / curve.n_tests, "level")):
        axes.axhline(height, color=_LEVEL, linestyle="--", linewidth=1)
        axes.annotate(
            label,
            (1, height),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 2),
            textcoords="offset points",
            ha="right",
            fontsize=9,
            color=_LEVEL,
        )
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("power")
    if curve.over == "n":
        axes.set_xlabel("pairs")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        fixed = f"δ = {curve.delta:g}"
    else:
        axes.set_xlabel("δ (difference of the accuracies)")
        fixed = f"n = {curve.n:,}"
    level = f"α = {curve.alpha:g}" + (f", M = {curve.n_tests}" if curve.n_tests > 1 else "")
    axes.set_title(f"{fixed}, ψ = {curve.discordance:.4g}, {level}", loc="left")
    axes.grid(color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    return figure


def save_figure(draw: Callable[[], Figure], path: str | Path) -> None:
    """Draw a figure in the house's style and write it, as SVG or PNG by the path's ending."""
    from matplotlib import rc_context

    target = Path(path)
    suffix = target.suffix.removeprefix(".")
    metadata = {"Date": None} if suffix == "svg" else {"Software": None}
    with rc_context(_STYLE):
        figure = draw()

        def save(temporary: Path) -> None:
            figure.savefig(temporary, format=suffix, dpi=_DOTS_PER_INCH, metadata=metadata)

        write_file(target, save)
