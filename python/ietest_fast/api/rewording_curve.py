"""Consistency over the amount of data that classifiers have seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.analyses.consistency.curves import (
    ConsistencyCurves,
    check_curve,
    curves_of_profiles,
    read_amount,
)
from ietest_fast.analyses.consistency.file import AMOUNT, Amounts, parse_amounts
from ietest_fast.analyses.consistency.profile import ConsistencyProfile
from ietest_fast.analyses.consistency.shared import check_same_texts
from ietest_fast.answers.versions import number_names
from ietest_fast.api.running import InvarianceResult
from ietest_fast.errors import InputError
from ietest_fast.experiment.results import read_results
from ietest_fast.experiment.run_consistency import measure_run
from ietest_fast.experiment.view.runs import name_models
from ietest_fast.numerals import format_amount
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES

if TYPE_CHECKING:
    from ietest_fast.stats.consistency.intervals import BootstrapMethod
    from ietest_fast.stats.inputs import Rng


def consistency_curve(
    profiles: Any,
    *,
    amount_column: str | None = None,
    amounts_of: str | None = None,
    confidence_level: float | None = None,
    method: BootstrapMethod | None = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> ConsistencyCurves:
    """Show P_C over the amount of data that classifiers have seen.

    Each amount is compared with the one before, on the same items (Srikanth et al. 2024, section
    8).

    Parameters
    ----------
    profiles
        By amount, what ``ie.consistency`` returns of the classifier that has seen it, such as
        ``{"10M": small, "1B": large}``. Amounts are numbers above 0, or texts as for
        ``ietest-fast consistency --amounts``: with a unit (k, M, B, T), or all with %. With
        `amount_column`, a list of profiles. Otherwise a run, as ``ie.run`` returns it, or its
        folder: P_C over its numbers of training rows.
    amount_column
        A column of numbers in the predictions of profiles: how much data each has seen.
    amounts_of
        What the amounts are of, such as ``pretraining tokens``; None: the name of `amount_column`,
        or ``amount of data``.
    confidence_level, method
        Of the intervals of a run: as for ``ie.consistency``. Profiles have theirs.
    n_resamples, rng, n_threads
        Of intervals: as for ``ie.consistency``.

    Returns
    -------
    ConsistencyCurves
        Prints and draws itself; ``to_frame()`` has a row for each amount, ``curves`` the numbers.

    Raises
    ------
    InputError
        If a value is no profile, an amount is none, two are the same or there is only one, the
        profiles have intervals of different levels or are of other texts, an argument would be
        ignored, or no text of a run is rephrased.
    StoreError
        If the folder is no run, or what the run left is gone.
    """
    resampling: dict[str, Any] = {
        "n_resamples": DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples,
        "rng": rng,
        "n_threads": n_threads,
    }
    if isinstance(profiles, str | Path | InvarianceResult):
        for name, value in (("amount_column", amount_column), ("amounts_of", amounts_of)):
            if value is not None:
                raise InputError(f"{name} is for profiles; this is a run, with its training rows")
        if isinstance(profiles, InvarianceResult):
            results = profiles.results
        else:
            results = read_results(Path(profiles))
        return ConsistencyCurves(
            curves=measure_run(
                results,
                names=name_models(results),
                method=method or "exact",
                confidence_level=0.95 if confidence_level is None else confidence_level,
                **resampling,
            )
        )
    for name, given in (("confidence_level", confidence_level), ("method", method)):
        if given is not None:
            raise InputError(f"{name} is for a run; the intervals of profiles are known")
    named, amounts = _find_amounts(profiles, amount_column, amounts_of)
    for one, other in combinations(named, 2):
        check_same_texts(one, other)
    check_curve(amounts)
    levels = {each.result.confidence_level for each in named}
    if len(levels) > 1:
        said = " and ".join(f"{100 * level:g}%" for level in sorted(levels))
        raise InputError(f"profiles have intervals of {said}; measure all with the same level")
    return ConsistencyCurves(
        curves=curves_of_profiles([amounts], named, confidence_level=levels.pop(), **resampling)
    )


def _find_amounts(
    profiles: Any, column: str | None, of: str | None
) -> tuple[tuple[ConsistencyProfile, ...], Amounts]:
    """Return profiles that are all named differently, and their amounts."""
    in_percent = False
    if isinstance(profiles, Mapping):
        if column is not None:
            raise InputError(
                "amount_column is for a list of profiles; the keys of a mapping are the amounts"
            )
        given = [_check(each, f"profiles[{key!r}]") for key, each in profiles.items()]
        values, in_percent = _parse_keys(profiles)
    elif isinstance(profiles, Sequence):
        if column is None:
            raise InputError(
                "a list of profiles needs amount_column; or pass a mapping, such as "
                "{'10M': small, '1B': large}"
            )
        given = [_check(each, f"profiles[{place}]") for place, each in enumerate(profiles)]
        values = [read_amount(each.predictions, column, each.name) for each in given]
    else:
        raise InputError(
            "profiles must be a mapping from amounts to profiles, a list of profiles, or a run, "
            f"not {type(profiles).__name__!r}"
        )
    names = number_names(
        each.name if each.group else format_amount(value, in_percent=in_percent)
        for each, value in zip(given, values, strict=True)
    )
    named = tuple(
        replace(each, group={"model": name}) for each, name in zip(given, names, strict=True)
    )
    by_model = dict(zip(names, values, strict=True))
    return named, Amounts(of=of or column or AMOUNT, by_model=by_model, in_percent=in_percent)


def _check(profile: Any, name: str) -> ConsistencyProfile:
    if not isinstance(profile, ConsistencyProfile):
        raise InputError(
            f"{name} must be what ie.consistency returns, not {type(profile).__name__!r}"
        )
    return profile


def _parse_keys(profiles: Mapping[Any, Any]) -> tuple[list[float], bool]:
    """Return amounts that are numbers, or texts with units."""
    texts = [key for key in profiles if isinstance(key, str)]
    try:
        parsed = parse_amounts(texts)
    except InputError as error:
        raise InputError(f"profiles: {error}") from error
    if parsed.in_percent and len(texts) < len(profiles):
        raise InputError("profiles mixes percentages and other numbers; write all with %, or none")
    by_key: dict[Any, float] = dict(zip(texts, parsed.values, strict=True))
    for key in profiles:
        if isinstance(key, str):
            continue
        is_number = isinstance(key, int | float) or hasattr(key, "__float__")
        if not is_number or isinstance(key, bool) or not 0 < float(key) < math.inf:
            raise InputError(f"profiles: {key!r} is no amount; numbers above 0 are, or '10M'")
        by_key[key] = float(key)
    return [by_key[key] for key in profiles], parsed.in_percent
