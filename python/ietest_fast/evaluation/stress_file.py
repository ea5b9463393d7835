"""Answers to stress tests in a file, with what has to be known of the suite to measure them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ietest_fast.errors import InputError
from ietest_fast.evaluation.predictions import Predictions
from ietest_fast.evaluation.readers.tables import list_versions
from ietest_fast.evaluation.run_metadata import name_models, read_run_of, write_with_run
from ietest_fast.evaluation.stress_origins import StressOrigin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ietest_fast.evaluation.running import Evaluation
    from ietest_fast.evaluation.suite import Suite

KEY = b"ietest_fast.stress"
"""What the metadata of a file of answers to stress tests stand under."""


@dataclass(frozen=True, kw_only=True)
class StressRun:
    """How answers to stress tests came about."""

    group_by: str | None = None
    """The column by which accuracies are parted; None: none."""
    clusters: str | None = None
    """The column whose equal values belong together; None: none."""
    empty: tuple[str, ...] = ()
    """Tests that changed no text that the model sees."""
    unseen: tuple[str, ...] = ()
    """Of these, tests that changed texts that it does not see."""
    origins: Mapping[str, StressOrigin] = field(default_factory=dict)
    """By test, what it is made of."""
    text_columns: tuple[str, ...] = ()
    """Names of the columns of texts."""
    warnings: tuple[str, ...] = ()
    """Whole sentences about how the answers came about."""
    backend: str = ""
    identity: dict[str, str] | None = None
    """Of the evaluation; see :class:`~ietest_fast.evaluation.Evaluation`."""

    @classmethod
    def of(
        cls,
        suite: Suite,
        answers: Evaluation,
        *,
        group_by: str | None,
        clusters: str | None,
        text_columns: Sequence[str],
        warnings: Sequence[str] = (),
    ) -> StressRun:
        """Describe answers to a suite; `warnings` are further ones."""
        warned = () if answers.warning is None else (answers.warning,)
        return cls(
            group_by=group_by,
            clusters=clusters,
            empty=suite.empty,
            unseen=suite.unseen,
            origins={
                name: _count_answered(origin, answers.predictions, name)
                for name, origin in suite.origins.items()
            },
            text_columns=tuple(text_columns),
            warnings=(*warned, *answers.warnings, *warnings),
            backend=answers.backend,
            identity=answers.identity,
        )


def _count_answered(origin: StressOrigin, answers: Predictions, name: str) -> StressOrigin:
    """Note the rows that have answers, so that a file tells whether it has lost some."""
    if name not in answers.versions:
        return origin
    own = answers.select(version=name)
    return replace(origin, n_made=len(own.items), n_rows=len(own))


@dataclass(frozen=True, kw_only=True, eq=False)
class StressAnswers:
    """Answers to stress tests, and how they came about."""

    predictions: Predictions
    """The long table."""
    run: StressRun
    """How they came about."""


def write_answers(predictions: Predictions, path: Path, run: StressRun) -> None:
    """Write answers to a Parquet file, whole or not at all.

    :meth:`~ietest_fast.evaluation.Predictions.read` reads it as any file of predictions.
    """
    write_with_run(predictions, path, KEY, run)


def read_answers(paths: Sequence[Path]) -> tuple[StressAnswers, ...]:
    """Read files of answers to stress tests, each of one model or several.

    Of several files each is a model, called as the file, unless it has a column ``model``. Columns
    that disagree about what was reworded are warned of, as in any other table of answers.
    """
    runs = [read_run(path) for path in paths]
    parts = [Predictions.read(path) for path in paths]
    found: list[StressAnswers] = []
    for run, part, path in zip(runs, name_models(parts, paths), paths, strict=True):
        if run is None:
            raise InputError(
                "holds no answers to stress tests (ietest-fast stress --out)", path=path
            )
        said = [note for log in list_versions(part, path, is_own=True) for note in log.notes]
        told = replace(run, warnings=tuple(dict.fromkeys((*run.warnings, *said))))
        found.append(StressAnswers(predictions=part, run=told))
    return tuple(found)


def read_run(path: Path) -> StressRun | None:
    """Return how the answers of a file came about; None if it is no file of stress tests.

    Raises
    ------
    InputError
        If what it says of itself is damaged.
    """
    return read_run_of(path, KEY, _restore)


def _restore(found: dict[str, Any]) -> StressRun:
    told: dict[str, Any] = {
        name: tuple(map(str, found[name]))
        for name in ("empty", "unseen", "text_columns", "warnings")
        if name == "empty" or name in found
    }
    origins = {str(name): StressOrigin(**value) for name, value in found.get("origins", {}).items()}
    return StressRun(**{**found, **told, "origins": origins})
