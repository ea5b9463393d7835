"""The whole IE test, from texts to decisions (Algorithm 1 of the paper, for each rho)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ietest_fast.experiment.conclude import conclude
from ietest_fast.experiment.plan import make_plan, work_settings
from ietest_fast.experiment.store import RunStore
from ietest_fast.experiment.work import do_work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.experiment.config import RunConfig
    from ietest_fast.experiment.data import Splits
    from ietest_fast.experiment.schema import RunResult
    from ietest_fast.experiment.work import Progress
    from ietest_fast.transform import Transformation


def _tell_nobody(_stage: str, _done: int, _total: int) -> None:
    pass


def run(
    config: RunConfig,
    folder: str | Path,
    *,
    progress: Progress | None = None,
    splits: Splits | None = None,
    transformation: Transformation | Sequence[Transformation] | None = None,
    evaluations: Sequence[Transformation] | None = None,
) -> RunResult:
    """Run the IE test, or go on with a run that was interrupted.

    Parameters
    ----------
    config
        What to do.
    folder
        The run's folder. If a run of the same work has begun there, what is finished is kept; other
        levels, margins and methods are other conclusions from it.
    progress
        Told of stages: ``"read"``, ``"transform"``, ``"encode"``, ``"search"``, ``"evaluate"`` (if
        kept classifiers have more to answer), ``"train"`` and ``"test"``.
    splits, transformation, evaluations
        Take the place of what `config` says about data, transformations and those in ``eval_phi``,
        for corpora and transformations that are at hand as objects.

    Returns
    -------
    RunResult
        Also written to ``results.json`` in the folder, byte for byte the same whether or not the
        run was interrupted, and for any number of processes and threads. Models trained by torch
        and estimators are the exception: they may depend on the number of threads.

    Raises
    ------
    InputError, ResourceError
        If data or what is needed to transform it is not as it should be.
    StoreError
        If the folder is in use, damaged, or belongs to other settings.
    WorkerError
        If training fails, or its process dies twice.
    """
    tell = _tell_nobody if progress is None else progress
    tell("read", 0, 1)
    with make_plan(
        config, splits=splits, transformation=transformation, evaluations=evaluations
    ) as plan:
        tell("read", 1, 1)
        with RunStore.open(Path(folder), work_settings(plan.settings)) as store:
            work = do_work(plan, store, tell)
            result = conclude(plan, work, store)
    tell("test", 1, 1)
    return result
