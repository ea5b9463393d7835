"""What ``results.json`` has to hold for its run to be shown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ietest_fast.stats import PairedCounts, equivalence_test, paired_test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SAME = 1e-6
"""Relative difference that other processors and libraries may make."""


class _Part(BaseModel):
    # What a later version adds does not matter here.
    model_config = ConfigDict(strict=True, allow_inf_nan=False, extra="ignore")


_Share = Annotated[float, Field(ge=0, le=1)]
_Level = Annotated[float, Field(gt=0, lt=1)]
_Count = Annotated[int, Field(ge=0)]
_Statistic = float | Literal["inf", "-inf"]


class _Clustered(_Part):
    t: _Statistic
    p_value: _Share
    n_clusters: _Count


class _Equivalence(_Part):
    equivalent: bool
    interval: Annotated[list[float], Field(min_length=2, max_length=2)]


class _Cell(_Part):
    m: _Count
    identity: str
    n11: _Count
    n10: _Count
    n01: _Count
    n00: _Count
    t: _Statistic
    p_value: _Share
    p_mcnemar_exact: _Share
    method: str
    collapsed: bool
    clustered: _Clustered | None
    equivalence: _Equivalence

    @property
    def counts(self) -> PairedCounts:
        return PairedCounts(self.n11, self.n10, self.n01, self.n00)


class _Sensitivity(_Part):
    power: _Share | None


class _Rho(_Part):
    rho: _Share
    threshold: _Level
    p_min: _Share
    reject: bool
    sensitivity: _Sensitivity | None
    cells: Annotated[list[_Cell], Field(min_length=1)]


class _Model(_Part):
    name: str
    options: dict[str, Any]
    input: str | None


class _SettingsData(_Part):
    train: str
    valid: str
    test: str


class _SettingsTransformation(_Part):
    inputs: str


class _Settings(_Part):
    alpha: _Level
    margin: _Level
    model: _Model
    data: _SettingsData
    transformation: _SettingsTransformation


class _Data(_Part):
    text_columns: Annotated[list[str], Field(min_length=1)]
    label_names: Annotated[list[str], Field(min_length=2)]


class _Transformation(_Part):
    name: str
    fingerprint: str
    test_edits: dict[str, _Count]


class _Results(_Part):
    signature: str
    versions: dict[str, Any]
    settings: _Settings
    data: _Data
    transformation: _Transformation
    search: dict[str, Any]
    rhos: Annotated[list[_Rho], Field(min_length=1)]


def check_results(results: Mapping[str, Any]) -> None:
    """Check types, ranges, and that numbers which follow from others do.

    Parameters
    ----------
    results
        The contents of a ``results.json``.

    Raises
    ------
    ValueError
        With the first mistake found.
    """
    try:
        found = _Results.model_validate(results)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}") from None
    _check_rhos(found.rhos, alpha=found.settings.alpha, margin=found.settings.margin)


def _check_rhos(rhos: Sequence[_Rho], *, alpha: float, margin: float) -> None:
    n, n_cells = rhos[0].cells[0].counts.n, len(rhos[0].cells)
    _need(len({each.rho for each in rhos}) == len(rhos), "rhos", "a rho is there twice")
    for r, rho in enumerate(rhos):
        place = f"rhos.{r}"
        ms = [cell.m for cell in rho.cells]
        _need(
            ms == list(range(n_cells)), place, f"m is 0 to {n_cells - 1}, each once, at every rho"
        )
        for c, cell in enumerate(rho.cells):
            where = f"{place}.cells.{c}"
            _need(
                cell.counts.n == n,
                where,
                "its counts are not of as many observations as the first's",
            )
            _check_tests(cell, where)
            if cell.clustered is None:
                _check_equivalence(cell, where, alpha=alpha, margin=margin)
        p_min = min((cell.clustered or cell).p_value for cell in rho.cells)
        _need(rho.p_min == p_min, place, "p_min is not the smallest p")
        _need(math.isclose(rho.threshold, alpha / n_cells), place, "threshold is not alpha/M")
        _need(rho.reject == (rho.p_min < rho.threshold), place, "reject is not p_min < threshold")


def _check_tests(cell: _Cell, place: str) -> None:
    counts = cell.counts
    _need(_are_close(float(cell.t), counts.t), place, "t does not follow from the counts")
    test = paired_test(counts)
    if cell.method == "exact":
        same = _are_close(cell.p_value, test.p_value)
        _need(same, place, "p_value does not follow from the counts")
    same = _are_close(cell.p_mcnemar_exact, test.p_mcnemar_exact)
    _need(same, place, "p_mcnemar_exact does not follow from the counts")


def _check_equivalence(cell: _Cell, place: str, *, alpha: float, margin: float) -> None:
    found, own = equivalence_test(cell.counts, margin=margin, alpha=alpha), cell.equivalence
    ends = zip(own.interval, (found.interval.low, found.interval.high), strict=True)
    same = all(math.isclose(a, b, rel_tol=_SAME, abs_tol=_SAME) for a, b in ends)
    _need(same, place, "the interval does not follow from the counts")
    _need(own.equivalent == found.equivalent, place, "equivalent does not follow from the counts")


def _are_close(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=_SAME, abs_tol=1e-300)


def _need(condition: bool, place: str, message: str) -> None:
    if not condition:
        raise ValueError(f"{place}: {message}")
