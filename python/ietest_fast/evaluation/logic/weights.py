"""The weights of the structural inference score (thesis of Salvatore 2020, eq. 5.3)."""

from __future__ import annotations

import difflib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.errors import ConfigError
from ietest_fast.evaluation.logic.rules import RULES, WEIGHED
from ietest_fast.files import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ACCURACY = "acc"
"""The name of the accuracy among weights, β0."""

# Weights that are written with a few digits sum to 1 up to these.
_ROUNDING = 1e-6


def default_weights(asked: Iterable[str]) -> dict[str, float]:
    """Return equal weights of the accuracy and of the rules of inference that can be asked."""
    names = [ACCURACY, *(name for name in WEIGHED if name in set(asked))]
    return dict.fromkeys(names, 1 / len(names))


def read_weights(source: str | Path | Mapping[str, float]) -> dict[str, float]:
    """Read weights: a mapping, ``acc=0.5,and-intro=0.5``, or a TOML file with a table ``weights``.

    Names that are not there weigh nothing.
    """
    if isinstance(source, Path) or (isinstance(source, str) and "=" not in source):
        return _check(_read_file(Path(source)), f"{source}: ")
    return _check(_split(source) if isinstance(source, str) else dict(source), "")


def _split(text: str) -> dict[str, Any]:
    weights: dict[str, Any] = {}
    problems = []
    for piece in text.split(","):
        name, _, value = (part.strip() for part in piece.partition("="))
        if name in weights:
            problems.append(f"weights: {name!r} is there twice")
        try:
            weights[name] = float(value)
        except ValueError:
            problems.append(f"weights: {piece.strip()!r} is not a name and a number, as in acc=0.5")
    if problems:
        raise ConfigError(problems)
    return weights


def _read_file(path: Path) -> dict[str, Any]:
    found = read_toml(path)
    weights = found.pop("weights", None)
    if found or not isinstance(weights, dict) or not weights:
        others = f", and not {', '.join(sorted(found))}" if found else ""
        raise ConfigError([f"{path}: has one table [weights], of lines like acc = 0.5{others}"])
    return weights


def _check(weights: Mapping[str, Any], where: str) -> dict[str, float]:
    known = [ACCURACY, *(name for name, rule in RULES.items() if rule.control is not None)]
    problems = []
    for name, value in weights.items():
        if name in RULES and name not in known:
            problems.append(
                f"{where}weights: {name!r} has no control questions, so it is no part of the score"
            )
        elif name not in known:
            close = difflib.get_close_matches(str(name), known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"
            problems.append(f"{where}weights: there is no rule {name!r}{hint}")
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= 1:
            problems.append(f"{where}weights: {name} is a number from 0 to 1, not {value!r}")
    if problems:
        raise ConfigError(problems)
    total = math.fsum(weights.values())
    if abs(total - 1) > _ROUNDING:
        raise ConfigError([f"{where}weights: sum to {total:g}; they have to sum to 1"])
    return {name: float(value) for name, value in weights.items()}
