"""Results of an earlier format, made ones of this: what follows from the rest is found anew."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.experiment.schema import AlgorithmRecord, adjust
from ietest_fast.experiment.schema.cells import COUNTS
from ietest_fast.experiment.schema.run_result import RESULTS_FORMAT
from ietest_fast.stats import PairedCounts
from ietest_fast.stats.algorithm.crossed import algorithm_of_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

EARLIER = 3
"""The format that is read, too. Its law of an algorithm was Student's with Satterthwaite's degrees
of freedom."""


_KEPT = ("delta", "standard_error", "t", "sd_items", "sd_classifiers", "prediction_error")
"""What is the same in both formats."""


def renew(written: dict[str, Any]) -> dict[str, Any]:
    """Return results of that format as this version writes them.

    Raises
    ------
    KeyError, TypeError, ValueError
        If something is not there, or of another type.
    """
    has_clusters = written["settings"]["data"]["cluster"] is not None
    for rho in list(_find_with(written, "algorithm")):
        if rho["algorithm"] is not None:
            rho["algorithm"] = _judge_again(rho, has_clusters=has_clusters)
    for condition in written["conditions"]:
        if condition["over_rho"]["algorithm_p_adjusted"] is not None:
            p_values = [rho["algorithm"]["p_value"] for rho in condition["rhos"]]
            condition["over_rho"]["algorithm_p_adjusted"] = adjust(p_values, "holm")
    return written | {"format": RESULTS_FORMAT}


def _find_with(part: Any, name: str) -> Iterator[dict[str, Any]]:
    """Yield the objects in some JSON that have a key."""
    if isinstance(part, dict) and name in part:
        yield part
    for inner in (
        part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    ):
        yield from _find_with(inner, name)


def _judge_again(rho: dict[str, Any], *, has_clusters: bool) -> dict[str, Any]:
    found = {name: _number(value) for name, value in rho["algorithm"].items()}
    counts = [
        PairedCounts(**{name: cell["reworded"][name] for name in COUNTS}) for cell in rho["cells"]
    ]
    again = algorithm_of_counts(
        counts,
        sd_residual=found["sd_residual"],
        margin=found["margin"],
        alpha=found["alpha"],
        clustered=_find_units(found, [each.delta for each in counts]) if has_clusters else None,
    )
    renewed = AlgorithmRecord.of(again).to_dict()
    for name in _KEPT:
        if not math.isclose(_number(renewed[name]), found[name], rel_tol=1e-6, abs_tol=1e-6):
            raise ValueError(
                f"algorithm.{name}: is {found[name]!r}, but the rest of the file makes it "
                f"{renewed[name]!r}"
            )
    if has_clusters:  # which hangs on the sizes of clusters
        renewed |= {name: found[name] for name in ("p_equivalence", "equivalent")}
    return renewed


def _number(value: Any) -> Any:
    return float(value) if value in ("inf", "-inf") else value


def find_items(found: Mapping[str, Any], deltas: Sequence[float]) -> float:
    """Return V_I of what is known of an algorithm whose classifiers have these deltas."""
    m = len(deltas)
    if found["sd_items"] > 0:
        return float((found["sd_items"] ** 2 + found["sd_residual"] ** 2 / m) / found["n"])
    classifiers = float(np.var(deltas, ddof=1)) / m
    return float(max(found["prediction_error"] ** 2 - (m + 1) * classifiers, 0.0))


def _find_units(found: Mapping[str, Any], deltas: Sequence[float]) -> tuple[float, int]:
    """Solve for V_I, and for the number of clusters, which the earlier format does not hold."""
    items, m = find_items(found, deltas), len(deltas)
    classifiers = float(np.var(deltas, ddof=1)) / m
    part = 0.0
    if found["df"] > 0:
        part = found["standard_error"] ** 4 / found["df"] - classifiers**2 / (m - 1)
    units = items**2 / part + 1 if part > 0 else 2.0
    return items, int(min(max(round(units), 2), found["n"]))
