"""The second stage of a run: new texts, searches and cells, as far as they are not done yet."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ietest_fast.errors import InputError
from ietest_fast.experiment.data import TransformedSplits, transform_splits
from ietest_fast.experiment.encoded import check_encoded, save_encoded
from ietest_fast.experiment.executors import make_executor
from ietest_fast.experiment.search import Search, Searches, Trial
from ietest_fast.experiment.tasks import CellTask, TrialTask, WorkContext, answers_name
from ietest_fast.models.pooling import find_changed

if TYPE_CHECKING:
    from ietest_fast.experiment.cells import CellRecord
    from ietest_fast.experiment.executors import Executor, Outcome
    from ietest_fast.experiment.plan import Address, Plan
    from ietest_fast.experiment.store import RunStore
    from ietest_fast.experiment.tasks import Task

# stage, how much of it is done, how much there is (0 if that is not known)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Work:
    """All that a run has brought forth, before it is judged.

    Attributes
    ----------
    texts
        Both versions of the splits.
    searches
        Where the hyperparameters come from.
    cells
        A record of each cell; its matched sample is in the store.
    """

    texts: TransformedSplits
    searches: Searches
    cells: Mapping[Address, CellRecord]


def do_work(plan: Plan, store: RunStore, tell: Progress) -> Work:
    """Do what is not done yet of a plan.

    Parameters
    ----------
    plan
        What to do.
    store
        The run's folder, opened with the plan's ``work_settings``.
    tell
        Told how far a stage is: ``"transform"``, ``"encode"``, ``"search"``, ``"train"``.

    Raises
    ------
    InputError
        If the transformation rewords no test text; the folder is then not bound.
    StoreError
        If what is in the folder is damaged, or it cannot be written.
    WorkerError
        If a training fails, or its process dies twice.
    """
    texts = transform_splits(
        plan.splits,
        plan.transformation,
        store.folder / "data",
        listener=lambda done: tell("transform", done, 3),
    )
    plan.transformation.close()
    tell("transform", 3, 3)
    store.bind()
    store.forget_unfinished({*store.cells(), *store.trials()})
    context = _encode(plan, store, texts)
    tell("encode", 1, 1)
    n_jobs = plan.config.n_jobs
    most = plan.model.capabilities.max_jobs() if n_jobs is None else None
    executor = make_executor(context, n_jobs=n_jobs, most=most)
    try:
        worker = _Work(plan=plan, store=store, executor=executor, tell=tell)
        searches = worker.search()
        cells = worker.fill_cells(searches)
    finally:
        executor.close()
    return Work(texts=texts, searches=searches, cells=cells)


def _encode(plan: Plan, store: RunStore, texts: TransformedSplits) -> WorkContext:
    config, model = plan.config, plan.model
    kept = store.folder / "encoded" / plan.encoding[:16]
    if not kept.is_dir():
        test = texts.texts["test"]
        changed = find_changed(
            test.original,
            test.versions["transformed"],
            plan.columns,
            source=plan.splits.test.source,
        )
        save_encoded(kept, model.encode(texts.texts, plan.columns), changed)
    check_encoded(kept, model)
    return WorkContext(
        encoded=str(kept.resolve()),
        model=config.model.name,
        options={**config.model.options, **model.capabilities.worker_options()},
        n_classes=plan.splits.n_classes,
        seed=config.seed,
        n_threads=config.n_threads,
        label_names=plan.splits.train.label_names,
        n_voters=config.model.n_voters,
        keep_models=config.keep_models,
        resumes=model.capabilities.resumes,
    )


def model_names(*, rho: float, m: int, n_voters: int) -> list[str]:
    """Give the names under which the classifiers of a cell are kept, one for each voter."""
    share = int(rho) if float(rho).is_integer() else repr(rho)
    name = f"rho-{share}-m-{m}"
    return [name] if n_voters == 1 else [f"{name}-voter-{voter}" for voter in range(n_voters)]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Driver:
    """What executors ask of the run: it writes what they are sent."""

    plan: Plan
    store: RunStore

    def log(self, task: Task, event: str, detail: str | None) -> None:
        self.store.log(task.kind, task.identity, event, detail)

    def find_left(self, task: Task) -> dict[str, bytes]:
        left = self.store.read_unfinished(task.identity)
        if isinstance(task, CellTask) and self.plan.config.keep_models:
            # A voter whose classifier was not kept is trained again, to keep it.
            for voter, name in enumerate(self._models(task)):
                if not self.store.has_model(name):
                    left.pop(answers_name(task, voter), None)
        return left

    def keep_unfinished(self, name: str, data: bytes) -> None:
        self.store.keep_unfinished(name, data)

    def keep_model(self, task: CellTask, voter: int, files: Mapping[str, bytes]) -> None:
        self.store.keep_model(self._models(task)[voter], files)

    def _models(self, task: CellTask) -> list[str]:
        return model_names(rho=task.rho, m=task.m, n_voters=self.plan.config.model.n_voters)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Work:
    """Searches and cells: what is left of them is given out and recorded."""

    plan: Plan
    store: RunStore
    executor: Executor
    tell: Progress

    def search(self) -> Searches:
        """Take the hyperparameters from the plan, or search for them."""
        plan, store = self.plan, self.store
        if plan.params is not None:
            return Searches(shared=Search(params=plan.params), own={})

        def record(outcome: Outcome) -> None:
            task = cast("TrialTask", outcome.task)
            trial = Trial(number=task.number, params=task.params, **outcome.answer.values)
            store.finish_trial(task.identity, trial, outcome.seconds)

        tasks = [task for some in plan.trials.values() for task in some]
        self._work_through("search", tasks, store.trials(), record)
        done = store.trials()
        searches = {
            address: Search.of(tuple(done[task.identity] for task in some))
            for address, some in plan.trials.items()
        }
        return Searches(
            shared=searches.get(None),
            own={address: search for address, search in searches.items() if address is not None},
        )

    def fill_cells(self, searches: Searches) -> dict[Address, CellRecord]:
        """Train and match what is not done yet of the cells, and give the records of all."""
        plan, store = self.plan, self.store
        tasks = {
            address: plan.cell_task(address, searches.params(address)) for address in plan.cells
        }
        if plan.config.keep_models:
            self._check_kept(tasks.values())

        def record(outcome: Outcome) -> None:
            store.finish_cell(outcome.answer.artefact, seconds=outcome.seconds)

        self._work_through("train", list(tasks.values()), store.cells(), record)
        done = store.cells()
        return {address: done[task.identity] for address, task in tasks.items()}

    def _work_through(
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
        for outcome in self.executor.run(left, _Driver(plan=self.plan, store=self.store)):
            record(outcome)
            self.store.forget_unfinished({outcome.task.identity})
            n_done += 1
            self.tell(stage, n_done, len(tasks))

    def _check_kept(self, tasks: Iterable[CellTask]) -> None:
        """Make sure that what is finished has kept its classifiers, if that is asked for now."""
        done = self.store.cells()
        n_voters = self.plan.config.model.n_voters
        for task in tasks:
            names = model_names(rho=task.rho, m=task.m, n_voters=n_voters)
            if task.identity in done and not all(map(self.store.has_model, names)):
                raise InputError(
                    f"keep_models: the {task.describe()} was finished without its classifier being "
                    "kept; go on without, or begin in another folder",
                    path=self.store.folder,
                )
