"""``results.json``: written by a run, and read by whoever does not trust it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment.artefacts import reading, write_text
from ietest_fast.experiment.schema import (
    RESULTS_FORMAT,
    RunResult,
    adjust,
    correct_over_evaluations,
)
from ietest_fast.files import parse_json, read_bytes
from ietest_fast.stats import equivalence_test, paired_test

if TYPE_CHECKING:
    from ietest_fast.experiment.schema import CellResult, RewordedRecord, RhoResult, RunSettings

RESULTS = "results.json"

MOST_BYTES = 1 << 29
"""A file beyond it is nothing that a run has written."""

_LARGEST = 1e300

_SAME = 1e-6
"""Relative difference that other processors and libraries may make."""


def write_results(result: RunResult, folder: Path) -> RunResult:
    """Write ``results.json`` into the run's folder and return the results that know their folder.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    text = json.dumps(result.to_dict(), indent=1, allow_nan=False)
    write_text(folder / RESULTS, text + "\n")
    return result.located(folder)


def read_results(folder: str | Path) -> RunResult:
    """Read and check a run's ``results.json``.

    The file is input like any other: types, ranges, and that every number that follows from others
    does, p-values of the exact law included.

    Raises
    ------
    InputError
        If there is no such folder, or no run has ended there.
    StoreError
        If the file is damaged, or of another format.
    """
    folder = Path(folder)
    path = folder / RESULTS
    if not path.exists():
        begun = (folder / "run.sqlite").is_file()
        raise InputError(
            "its run has not ended yet; give its command again" if begun else "is no run's folder",
            path=folder,
        )
    with reading(path):
        text = read_bytes(path, most_bytes=MOST_BYTES)
        written = parse_json(text, path)
        found = written.get("format") if isinstance(written, dict) else None
        if found != RESULTS_FORMAT:
            is_of = "says no format" if found is None else f"is of format {_shorten(found)}"
            raise StoreError(
                f"{path}: {is_of}, this version reads {RESULTS_FORMAT}; "
                "give the run's command again, which trains nothing anew"
            )
        return check_results(text, written).located(folder)


def check_results(text: bytes, written: Any) -> RunResult:
    """Make results of the bytes of a file, and of what JSON says that they hold.

    Raises
    ------
    ValueError
        With the first mistake found, after the key at which it is.
    """
    try:
        result = RunResult.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None
    needed = result.model_dump(mode="json", exclude_defaults=True)
    _compare(written, result.to_dict(), needed, "")
    for c, condition in enumerate(result.conditions):
        same = len({cell.n for cell in condition.cells}) == 1
        _need(same, f"conditions.{c}", "its counts are not of equally many observations")
        for r, rho in enumerate(condition.rhos):
            _check_rho(rho, result, f"conditions.{c}.rhos.{r}")
    _check_across(result)
    _check_evaluations(result)
    return result


def _check_across(result: RunResult) -> None:
    known = {(each.model, each.transformation, each.train_size): each for each in result.conditions}
    for number, each in enumerate(result.across):
        place = f"across.{number}"
        own = [known.get((each.model, phi, each.train_size)) for phi in each.transformations]
        tests = [
            rho for condition in own if condition for rho in condition.rhos if rho.rho == each.rho
        ]
        _need(len(tests) == len(own), place, "there is no such condition")
        same = all(map(_are_close, each.p_values, (min(test.p_adjusted) for test in tests)))
        _need(same, place, "p_values do not follow from the conditions")
        same = all(map(_are_close, each.p_holm, adjust(each.p_values, "holm")))
        _need(same, place, "p_holm does not follow from the p-values")


def _check_evaluations(result: RunResult) -> None:
    for number, evaluation in enumerate(result.evaluations):
        for r, rho in enumerate(evaluation.rhos):
            place = f"evaluations.{number}.rhos.{r}"
            _need(rho.alpha == result.settings.alpha, place, "alpha is not that of the settings")
            if rho.test is not None:
                _check_rho(rho.test, result, f"{place}.test")
    for condition in result.conditions:
        own = result.evaluations_of(condition)
        for r in range(len(condition.rhos)):
            same = all(len(each.rhos) == len(condition.rhos) for each in own) and all(
                each.rhos[r].rho == condition.rhos[r].rho for each in own
            )
            _need(same, "evaluations", "the rho are not those of the conditions")
            expected = correct_over_evaluations([each.rhos[r].test for each in own])
            found = [each.rhos[r].p_holm for each in own]
            same = all(
                (a is None) == (b is None) and (a is None or b is None or _are_close(a, b))
                for a, b in zip(found, expected, strict=True)
            )
            _need(same, "evaluations", "p_holm does not follow from the p-values")


def _compare(written: Any, follows: Any, needed: Any, place: str) -> None:
    """Hold what is written against what these results would be written as.

    Parameters
    ----------
    written
        What the file says.
    follows
        What would be written.
    needed
        The same without what is as by default, which may be left out: a file may be older than the
        field.
    place
        Key at which it stands.
    """
    if isinstance(written, dict) and isinstance(follows, dict):
        needs = needed if isinstance(needed, dict) else follows
        for name in [*follows, *sorted(set(written) - set(follows))]:
            where = f"{place}.{name}".lstrip(".")
            if name not in follows:
                raise ValueError(f"{where}: is unknown")
            if name in written or (name in needs and follows[name] is not None):
                own = needs.get(name, follows[name])
                _compare(written.get(name), follows[name], own, where)
    elif isinstance(written, list) and isinstance(follows, list) and len(written) == len(follows):
        same = isinstance(needed, list) and len(needed) == len(follows)
        for number, pair in enumerate(
            zip(written, follows, needed if same else follows, strict=True)
        ):
            _compare(*pair, f"{place}.{number}")
    elif not _are_same(written, follows):
        raise ValueError(
            f"{place}: is {_shorten(written)}, but the rest of the file makes it "
            f"{_shorten(follows)}"
        )


def _are_same(written: Any, follows: Any) -> bool:
    numbers = [type(value) for value in (written, follows)]
    if all(kind in {int, float} for kind in numbers) and float in numbers:
        return _are_close(written, follows)
    return type(written) is type(follows) and bool(written == follows)


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _check_rho(rho: RhoResult, result: RunResult, place: str) -> None:
    settings = result.settings
    _need(rho.alpha == settings.alpha, place, "alpha is not that of the settings")
    _need(rho.correction == settings.correction, place, "correction is not that of the settings")
    if not rho.is_joint:
        expected = adjust([cell.p_value for cell in rho.cells], rho.correction)
        same = all(map(_are_close, rho.p_adjusted, expected))
        _need(same, place, "p_adjusted does not follow from the p-values")
    for c, cell in enumerate(rho.cells):
        where = f"{place}.cells.{c}"
        _need(cell.identity is not None, where, "identity is missing")
        _need(cell.equivalence.margin == settings.margin, where, "margin is not the settings'")
        _need(cell.equivalence.alpha == settings.alpha, where, "alpha is not the settings'")
        if cell.reworded is not None:
            _check_reworded(cell.reworded, cell, settings, where)
        _check_tests(cell, where)


def _check_reworded(
    own: RewordedRecord, cell: CellResult, settings: RunSettings, place: str
) -> None:
    """Hold what is said of the reworded texts against the settings and the counts."""
    same = own.equivalence.margin == settings.margin and own.flips.margin == settings.flip_margin
    _need(same, place, "a margin of the reworded texts is not the settings'")
    same = own.equivalence.alpha == own.flips.alpha == settings.alpha
    _need(same, place, "alpha of the reworded texts is not the settings'")
    fits = own.n <= cell.n and all(
        getattr(own, name) <= getattr(cell, name) for name in ("n11", "n10", "n01", "n00")
    )
    _need(fits, place, "there are more reworded texts than texts")
    if cell.clustered is not None:
        return
    found = equivalence_test(own.counts, margin=own.equivalence.margin, alpha=settings.alpha)
    same = math.isclose(own.equivalence.p_value, found.p_value, rel_tol=_SAME, abs_tol=1e-12)
    _need(same, place, "the p-value of equivalence does not follow from the reworded counts")


def _check_tests(cell: CellResult, place: str) -> None:
    test = paired_test(cell.counts)
    if cell.test.method == "exact":
        same = _are_close(cell.test.p_value, test.p_value)
        _need(same, place, "p_value does not follow from the counts")
    same = _are_close(cell.test.p_mcnemar_exact, test.p_mcnemar_exact)
    _need(same, place, "p_mcnemar_exact does not follow from the counts")
    if cell.clustered is not None:
        return
    own = cell.equivalence
    found = equivalence_test(cell.counts, margin=own.margin, alpha=own.alpha)
    ends = zip(own.interval, (found.interval.low, found.interval.high), strict=True)
    same = all(math.isclose(a, b, rel_tol=_SAME, abs_tol=_SAME) for a, b in ends)
    _need(same, place, "the interval does not follow from the counts")
    same = math.isclose(own.p_value, found.p_value, rel_tol=_SAME, abs_tol=1e-12)
    _need(same, place, "the p-value of equivalence does not follow from the counts")


def _are_close(first: float, second: float) -> bool:
    if abs(first) > _LARGEST:  # JSON has numbers that no float holds
        return False
    return math.isclose(first, second, rel_tol=_SAME, abs_tol=1e-300)


def _need(condition: bool, place: str, message: str) -> None:
    if not condition:
        raise ValueError(f"{place}: {message}")
