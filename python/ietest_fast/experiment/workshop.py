"""The trials and cells of a run: what there is to do, and what is done already."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ietest_fast.errors import InputError
from ietest_fast.experiment.identity import identify
from ietest_fast.experiment.search import Search, Searches, Trial, draw_candidates
from ietest_fast.experiment.store import CellRecord
from ietest_fast.experiment.work import CellTask, TrialTask, model_folders

if TYPE_CHECKING:
    from ietest_fast.experiment.config import RunConfig
    from ietest_fast.experiment.executors import Executor, Outcome
    from ietest_fast.experiment.store import RunStore
    from ietest_fast.experiment.work import Task
    from ietest_fast.models import Model

# stage, how much of it is done, how much there is (0 if that is not known)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """Where tasks are done and recorded.

    Attributes
    ----------
    store
        Of the run.
    executor
        Does the tasks.
    tell
        Told how far a stage is.
    """

    store: RunStore
    executor: Executor
    tell: Progress

    def work_through(
        self,
        stage: str,
        tasks: Sequence[Task],
        done: Container[str],
        record: Callable[[Outcome], None],
    ) -> None:
        """Do the tasks that are not done yet, and record each as it comes."""
        left = [task for task in tasks if task.identity not in done]
        n_done = len(tasks) - len(left)
        self.tell(stage, n_done, len(tasks))
        if not left:
            return
        for outcome in self.executor.run(left, self._log):
            record(outcome)
            n_done += 1
            self.tell(stage, n_done, len(tasks))

    def _log(self, task: Task, event: str, detail: str | None) -> None:
        self.store.log(task.kind, task.identity, event, detail)


def find_params(
    config: RunConfig, model: Model, base: Mapping[str, Any], workshop: Workshop
) -> Searches:
    """Take the hyperparameters from the configuration, or search for them.

    Parameters
    ----------
    config, model
        Of the run.
    base
        What all identities of the run share.
    workshop
        Where trials are done.
    """
    if config.model.params is not None:
        return Searches(shared=Search(params=config.model.params), own={})
    budget = config.model.budget
    if budget is None:
        return Searches(shared=Search(params=model.presets[config.model.search]), own={})
    addresses: list[tuple[float, int] | None] = [None]
    if config.model.search_per_resample:
        addresses = [(rho, m) for rho in config.rho for m in range(config.n_classifiers)]
    tasks = {address: _plan_trials(config, model, base, budget, address) for address in addresses}
    store = workshop.store

    def record(outcome: Outcome) -> None:
        task = cast("TrialTask", outcome.task)
        trial = Trial(number=task.number, params=task.params, **outcome.result)
        store.finish_trial(task.identity, trial, outcome.seconds)

    workshop.work_through(
        "search", [task for some in tasks.values() for task in some], store.trials(), record
    )
    done = store.trials()
    searches = {
        address: Search.of(tuple(done[task.identity] for task in some))
        for address, some in tasks.items()
    }
    shared = searches.get(None)
    return Searches(
        shared=shared,
        own={address: search for address, search in searches.items() if address is not None},
    )


def _plan_trials(
    config: RunConfig,
    model: Model,
    base: Mapping[str, Any],
    budget: int,
    address: tuple[float, int] | None,
) -> list[TrialTask]:
    """Draw what to try on the untransformed data, or on one resample."""
    # Alternative 2 is about the cells: a candidate is judged by one classifier.
    shared = {**base, "model": {**base["model"], "n_voters": 1}}
    candidates = draw_candidates(
        model.search_space, budget=budget, seed=config.seed, address=address
    )
    rho, m = (None, None) if address is None else address
    where = {} if address is None else {"rho": rho, "m": m}
    return [
        TrialTask(
            identity=identify(
                {**shared, **where, "kind": "trial", "number": number, "params": params}
            ),
            params=params,
            number=number,
            rho=rho,
            m=m,
        )
        for number, params in enumerate(candidates)
    ]


def fill_cells(
    config: RunConfig, searches: Searches, base: Mapping[str, Any], workshop: Workshop
) -> dict[tuple[float, int], CellRecord]:
    """Train and match what is not done yet of the cells, and give the records of all."""
    tasks = {}
    for rho in config.rho:
        for m in range(config.n_classifiers):
            params = searches.params((rho, m))
            identity = identify({**base, "kind": "cell", "params": params, "rho": rho, "m": m})
            tasks[rho, m] = CellTask(identity=identity, params=params, rho=rho, m=m)
    store = workshop.store
    if config.keep_models:
        _check_kept(config, store, tasks.values())

    def record(outcome: Outcome) -> None:
        store.finish_cell(CellRecord(**{**outcome.result, "seconds": outcome.seconds}))

    workshop.work_through("train", list(tasks.values()), store.cells(), record)
    done = store.cells()
    return {address: done[task.identity] for address, task in tasks.items()}


def _check_kept(config: RunConfig, store: RunStore, tasks: Iterable[CellTask]) -> None:
    """Make sure that what is finished has kept its classifiers, if that is asked for now."""
    done = store.cells()
    for task in tasks:
        places = model_folders(store.folder, rho=task.rho, m=task.m, n_voters=config.model.n_voters)
        if task.identity in done and not all(place.is_dir() for place in places):
            raise InputError(
                f"keep_models: the {task.describe()} was finished without its classifier being "
                "kept; go on without, or begin in another folder",
                path=store.folder,
            )
