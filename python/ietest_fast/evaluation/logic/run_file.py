"""Answers to the questions of rules in a file, with what has to be known to measure them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.errors import InputError
from ietest_fast.evaluation.logic.checking import check_answers
from ietest_fast.evaluation.logic.columns import COLUMNS
from ietest_fast.evaluation.predictions import Predictions
from ietest_fast.evaluation.run_metadata import (
    column_names,
    name_models,
    read_run_of,
    write_with_run,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEY = b"ietest_fast.logic"
"""What the metadata of a file of answers to the suite logic stand under."""


@dataclass(frozen=True, kw_only=True)
class RuleOrigin:
    """What the instances of a rule were found among."""

    n_items: int = 0
    """Labelled pairs of which candidates were made."""
    n_candidates: int = 0
    """Candidates: instances to which the rule applies if the classifier says so."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """What is not among them, by reason."""
    reason: str | None = None
    """Why the labels do not allow to ask for it; None if they do."""


@dataclass(frozen=True, kw_only=True)
class LogicRun:
    """How answers to the suite came about."""

    rules: Mapping[str, RuleOrigin]
    """By rule, what its instances were found among."""
    options: Mapping[str, int]
    """How candidates were found."""
    text_columns: tuple[str, ...]
    """Names of the columns of premises and of hypotheses."""
    clusters: str | None = None
    """The column that tells sources apart; None: the premise."""
    warnings: tuple[str, ...] = ()
    """Whole sentences about how the answers came about."""
    backend: str = ""
    identity: dict[str, str] | None = None
    """Of the evaluation; see :class:`~ietest_fast.evaluation.Evaluation`."""
    n_rows: int = 0
    """Rows of the table that was written."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LogicAnswers:
    """Answers to the questions of all rules, and how they came about."""

    predictions: Predictions
    """The long table: the labelled pairs (the version ``original``), and for each rule a version
    with the questions of the instances to which it applies. Its further columns are ``instance``
    (number of the instance), ``part`` (``antecedent``, ``consequent`` or ``control``), ``expected``
    (what the rule asks for), ``unit`` (number of the source) and the texts. ``correct`` says
    whether the answer is the one expected, and of control questions, whether it is another."""
    run: LogicRun
    """How they came about."""


def write_logic(answers: LogicAnswers, path: Path) -> None:
    """Write answers to a Parquet file, whole or not at all."""
    run = replace(answers.run, n_rows=answers.predictions.table.num_rows)
    write_with_run(answers.predictions, path, KEY, run)


def read_logic(paths: Sequence[Path]) -> tuple[LogicAnswers, ...]:
    """Read files of answers to the suite, each of one model or several.

    Of several files each is a model, called as the file, unless it has a column ``model``.
    """
    runs = []
    for path in paths:
        run = read_logic_run(path)
        if run is None:
            raise InputError(
                "holds no answers to the suite logic (ietest-fast stress --suite logic --out)",
                path=path,
            )
        runs.append(run)
    parts = name_models([Predictions.read(path) for path in paths], paths)
    answers = tuple(
        LogicAnswers(predictions=part, run=run) for part, run in zip(parts, runs, strict=True)
    )
    for part, run in zip(parts, runs, strict=True):
        check_answers(part, rules=run.rules, text_columns=run.text_columns, n_rows=run.n_rows)
    return answers


def read_logic_run(path: Path) -> LogicRun | None:
    """Return how the answers of a file came about; None if it is none of the suite."""
    run = read_run_of(path, KEY, _restore)
    if run is None and set(COLUMNS) <= set(column_names(path)):
        raise InputError(
            "holds answers to the suite logic, but no longer how they came about: another program "
            "has written it again without its metadata; ask the model again",
            path=path,
        )
    return run


def refuse_logic(path: str | Path) -> None:
    """Refuse a file of answers to the suite, whose versions are no rewordings of the same items."""
    if read_logic_run(Path(path)) is not None:
        raise InputError(
            "holds answers to the suite logic, whose versions are rules and no rewordings; only "
            "ietest-fast stress and report read it",
            path=path,
        )


def _restore(found: dict[str, Any]) -> LogicRun:
    told: dict[str, Any] = {
        name: tuple(map(str, found[name])) for name in ("text_columns", "warnings")
    }
    rules = {str(name): RuleOrigin(**value) for name, value in found["rules"].items()}
    return LogicRun(**{**found, **told, "rules": rules, "n_rows": int(found["n_rows"])})
