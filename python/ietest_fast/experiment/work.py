"""The second stage of a run: new texts, searches and cells, as far as they are not done yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ietest_fast.atomic import tell_apart
from ietest_fast.errors import InputError
from ietest_fast.experiment.cells import write_evaluation
from ietest_fast.experiment.data import TRANSFORMED, TransformedSplits, transform_splits
from ietest_fast.experiment.encoded import (
    FurtherTest,
    FurtherTexts,
    check_encoded,
    load_encoded,
    save_encoded,
    transform_test,
)
from ietest_fast.experiment.executors import make_executor
from ietest_fast.experiment.search import Search, Searches, Trial
from ietest_fast.experiment.tasks import CellTask, ModelContext, WorkContext, answers_name, decide
from ietest_fast.models import SplitTexts
from ietest_fast.models.protocol import ORIGINAL
from ietest_fast.models.tokens import find_changed
from ietest_fast.stats.strata import EDITS, read_strata

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from ietest_fast.experiment.cells import CellRecord, FurtherRecord
    from ietest_fast.experiment.encoded import EncodedTexts
    from ietest_fast.experiment.executors import Executor, FinishedTask
    from ietest_fast.experiment.identity import TrainingDraw
    from ietest_fast.experiment.plan import Plan, PlannedModel
    from ietest_fast.experiment.store import RunStore
    from ietest_fast.experiment.tasks import Task, TrialTask
    from ietest_fast.models import Model
    from ietest_fast.models.protocol import Restores


# Answers of kept classifiers to test sets that were not there when they were trained.


def answer_again(
    plan: Plan,
    model: Model,
    task: CellTask,
    *,
    folders: Sequence[Path],
    further: Mapping[str, FurtherTexts],
) -> list[bytes]:
    """Let the kept classifiers of a finished cell answer further test sets."""
    answers: dict[str, list[NDArray[Any]]] = {key: [] for key in further}
    for folder in folders:  # one in memory at a time
        classifier = cast("Restores", model).restore(
            folder, params=task.params, n_threads=plan.config.n_threads
        )
        ask = classifier.predict if len(folders) == 1 else classifier.predict_proba
        for key, texts in further.items():
            answers[key].append(ask(texts.split.store, texts.split.original))
    return [
        write_evaluation(
            texts,
            decide(answers[key]),
            label_names=plan.splits.train.label_names,
            identity=task.evaluations[key],
            cell=task.identity,
            key=key,
            columns={"model": task.model, **task.resample.columns},
        )
        for key, texts in further.items()
    ]


# stage, how much of it is done, how much there is (0 if that is not known)
Progress = Callable[[str, int, int], None]


_FURTHER = "further"


@dataclass(frozen=True, kw_only=True, eq=False)
class Work:
    """All that a run has brought forth, before it is judged."""

    texts: Mapping[str, TransformedSplits]
    """Both versions of the splits, by key of the transformation."""
    searches: Mapping[str, Searches]
    """Where the hyperparameters come from, by key of the model."""
    cells: Mapping[tuple[str, TrainingDraw], CellRecord]
    """A record of each cell, by key of the model and resample; its predictions are in the store."""
    further: Mapping[str, FurtherTest]
    """The test set under further transformations, by key."""
    evaluations: Mapping[str, FurtherRecord]
    """A record of the answers to each of these, by identity."""


def do_work(plan: Plan, store: RunStore, tell: Progress) -> Work:
    """Do what is not done yet of a plan."""
    texts, further = _transform(plan, store, tell)
    if EDITS in plan.config.strata:
        counts = {key: own.n_edits for key, own in texts.items()}
        counts |= {key: own.n_edits for key, own in further.items() if own.keeps_labels}
        for key, n_edits in counts.items():
            _check_edits(key, n_edits)
    context = _encode(plan, store, texts, further, tell)
    store.bind()
    store.forget_unfinished({*store.cells(), *store.trials()})
    most = None
    if plan.config.n_jobs is None:
        known = [model.model.capabilities.max_jobs() for model in plan.models]
        most = min((n for n in known if n is not None), default=None)
    given = {own.key: own.model for own in plan.models if own.config.is_object}
    executor = make_executor(context, n_jobs=plan.config.n_jobs, most=most, given=given)
    try:
        crew = _Crew(plan=plan, store=store, executor=executor, tell=tell)
        searches = crew.search()
        cells = crew.fill_cells(searches)
    finally:
        executor.close()
    return Work(
        texts=texts,
        searches=searches,
        cells=cells,
        further=further,
        evaluations=store.evaluations(),
    )


def _transform(
    plan: Plan, store: RunStore, tell: Progress
) -> tuple[dict[str, TransformedSplits], dict[str, FurtherTest]]:
    phis = plan.transformations
    total = 3 * len(phis) + len(plan.evaluations)
    texts = {}
    for place, phi in enumerate(phis):

        def listen(done: int, before: int = 3 * place) -> None:
            tell("transform", before + done, total)

        texts[phi.key] = transform_splits(
            plan.splits, phi.planned, store.folder / "data", listener=listen
        )
    further = {}
    for phi in plan.evaluations:
        further[phi.key] = transform_test(plan.splits, phi.planned, store.folder / "data")
        tell("transform", 3 * len(phis) + len(further), total)
    plan.close()
    tell("transform", total, total)
    return texts, further


def _check_edits(key: str, n_edits: NDArray[np.int64] | None) -> None:
    """Refuse numbers of edits that cannot be strata, before anything is trained."""
    if n_edits is None:
        raise InputError(f"strata: the transformation {key} tells no edits; leave edits out")
    try:
        read_strata(n_edits, n_edits.size, name=EDITS)
    except InputError as error:
        raise InputError(f"strata: of the transformation {key}, {error}") from None


def _put_together(plan: Plan, texts: Mapping[str, TransformedSplits]) -> dict[str, SplitTexts]:
    """Return each split in all its versions."""
    return {
        name: SplitTexts(
            versions={
                ORIGINAL: corpus.table,
                **{key: own.texts[name].versions[TRANSFORMED] for key, own in texts.items()},
            },
            labels=corpus.labels,
        )
        for name, corpus in plan.splits.items()
    }


def _encode(
    plan: Plan,
    store: RunStore,
    texts: Mapping[str, TransformedSplits],
    further: Mapping[str, FurtherTest],
    tell: Progress,
) -> WorkContext:
    versions = _put_together(plan, texts)
    # Splits by themselves: they may have other rows than the test set. A model encodes the splits
    # before them as if they were not there.
    more = {
        f"{_FURTHER} {key}": SplitTexts(versions={ORIGINAL: own.table}, labels=own.labels)
        for key, own in further.items()
    }
    test = versions["test"]
    contexts = {}
    for place, own in enumerate(plan.models):
        tell("encode", place, len(plan.models))
        kept = store.folder / "encoded" / own.encoding[:16]
        if not kept.is_dir():
            changed = {
                key: find_changed(
                    test.original, test.versions[key], own.columns, source=plan.splits.test.source
                )
                for key in texts
            }
            changes = {key: _find_changed(key, each, plan, own) for key, each in further.items()}
            encoded = own.model.encode({**versions, **more}, own.columns)
            save_encoded(
                kept,
                {name: encoded[name] for name in versions},
                changed,
                {
                    key: FurtherTexts(
                        split=encoded[f"{_FURTHER} {key}"],
                        source_row=each.source_row,
                        changed=changes[key],
                    )
                    for key, each in further.items()
                },
            )
        check_encoded(kept, own.model)
        contexts[own.key] = ModelContext(
            name=own.config.name,
            options={**own.config.options, **own.model.capabilities.worker_options()},
            encoded=str(kept.resolve()),
            n_voters=own.config.n_voters,
            resumes=own.model.capabilities.resumes,
        )
    tell("encode", len(plan.models), len(plan.models))
    return WorkContext(
        models=contexts,
        seed=plan.config.seed,
        n_threads=plan.config.n_threads,
        label_names=plan.splits.train.label_names,
        keep_models=plan.config.keep_models,
        mode=plan.config.mode,
    )


def _find_changed(
    key: str, made: FurtherTest, plan: Plan, model: PlannedModel
) -> NDArray[np.bool_]:
    """Say which texts of a further test set differ for a model."""
    try:
        return made.find_changed(plan.splits.test, model.columns)
    except InputError as error:
        raise InputError(f"eval_phi: {key}, for the model {model.key}: {error}") from None


def model_folders(plan: Plan, model: PlannedModel, resample: TrainingDraw) -> list[str]:
    """Return the names under which the classifiers of a cell are kept, one for each voter."""
    rho, m = resample.address
    share = int(rho) if float(rho).is_integer() else repr(rho)
    names = []
    if len(plan.models) > 1:
        names.append(_as_folder(model.key, [each.key for each in plan.models]))
    if len(plan.transformations) > 1 and resample.phi is not None:
        names.append(_as_folder(resample.phi, [each.key for each in plan.transformations]))
    if resample.train_size is not None:
        names.append(f"train-{resample.train_size}")
    name = "-".join([*names, f"rho-{share}-m-{m}"])
    n_voters = model.config.n_voters
    return [name] if n_voters == 1 else [f"{name}-voter-{voter}" for voter in range(n_voters)]


def _as_folder(key: str, keys: Sequence[str]) -> str:
    """Give a key as a part of a folder's name, which no other key of the run is given."""
    stems = tell_apart(re.sub(r"[^\w.]", "_", each) for each in keys)
    return stems[keys.index(key)]


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
            for voter, name in enumerate(self.folders(task)):
                if not self.store.has_model(name):
                    left.pop(answers_name(task, voter), None)
        return left

    def keep_unfinished(self, name: str, data: bytes) -> None:
        self.store.keep_unfinished(name, data)

    def keep_model(self, task: CellTask, voter: int, files: Mapping[str, bytes]) -> None:
        self.store.keep_model(self.folders(task)[voter], files)

    def folders(self, task: CellTask) -> list[str]:
        model = next(each for each in self.plan.models if each.key == task.model)
        return model_folders(self.plan, model, task.resample)


class _Crew:
    """Searches and cells: what is left of them is given out and recorded."""

    def __init__(self, *, plan: Plan, store: RunStore, executor: Executor, tell: Progress) -> None:
        self._plan = plan
        self._store = store
        self._executor = executor
        self._tell = tell
        self._driver = _Driver(plan=plan, store=store)

    def search(self) -> dict[str, Searches]:
        """Take the hyperparameters of each model from the plan, or search for them."""
        store, models = self._store, self._plan.models

        def record(outcome: FinishedTask) -> None:
            task = cast("TrialTask", outcome.task)
            trial = Trial(number=task.number, params=task.params, **outcome.answer.values)
            store.finish_trial(task.identity, trial, outcome.seconds)

        tasks = [task for own in models for some in own.trials.values() for task in some]
        if tasks:
            self._work_through("search", tasks, store.trials(), record)
        done = store.trials()
        return {own.key: _conclude_search(own, done) for own in models}

    def fill_cells(
        self, searches: Mapping[str, Searches]
    ) -> dict[tuple[str, TrainingDraw], CellRecord]:
        """Train and match what is not done yet of the cells, and return the records of all."""
        plan, store = self._plan, self._store
        tasks = {
            (own.key, resample): plan.cell_task(own, resample, searches[own.key].params(resample))
            for own in plan.models
            for resample in own.cells
        }
        if plan.config.keep_models:
            self._check_kept(tasks.values())
        if plan.evaluations:
            self._answer_kept(tasks.values())

        def record(outcome: FinishedTask) -> None:
            answer = outcome.answer
            store.finish_cell(
                answer.artefact, seconds=outcome.seconds, evaluations=answer.evaluations
            )

        self._work_through("train", list(tasks.values()), store.cells(), record)
        done = store.cells()
        return {place: done[task.identity] for place, task in tasks.items()}

    def _work_through(
        self,
        stage: str,
        tasks: Sequence[Task],
        done: Container[str],
        record: Callable[[FinishedTask], None],
    ) -> None:
        """Do the tasks that are not done yet, each once, and record each as it comes."""
        # Models that differ in the search's budget or in the voters have trials in common.
        different = {task.identity: task for task in tasks}
        left = [task for identity, task in different.items() if identity not in done]
        n_done = len(different) - len(left)
        self._tell(stage, n_done, len(different))
        if not left:
            return
        for outcome in self._executor.run(left, self._driver):
            record(outcome)
            self._store.forget_unfinished({outcome.task.identity})
            n_done += 1
            self._tell(stage, n_done, len(different))

    def _check_kept(self, tasks: Iterable[CellTask]) -> None:
        """Make sure that what is finished has kept its classifiers, if that is asked for now."""
        done = self._store.cells()
        for task in tasks:
            names = self._driver.folders(task)
            if task.identity in done and not all(map(self._store.has_model, names)):
                raise InputError(
                    f"keep_models: the {task.describe()} was finished without its classifier being "
                    "kept; go on without, or begin in another folder",
                    path=self._store.folder,
                )

    def _answer_kept(self, tasks: Iterable[CellTask]) -> None:
        """Let kept classifiers of finished cells answer the test sets that they have not yet.

        A cell whose answers are gone, and whose classifier is not kept, is to be done again.
        """
        done, answered = self._store.cells(), self._store.evaluations()
        there = set(filter(self._store.has_evaluation, answered))
        lacking = {
            task.identity: (task, keys)
            for task in tasks
            if task.identity in done
            and (keys := [key for key, own in task.evaluations.items() if own not in there])
        }
        unkept = {
            identity: [key for key in keys if task.evaluations[key] not in answered]
            for identity, (task, keys) in lacking.items()
            if not self._is_kept(task)
        }
        for identity, new in unkept.items():
            task, _ = lacking.pop(identity)
            if new:
                raise self._no_classifier(task, new[0])
            self._store.forget_cell(identity)
        loaded: dict[str, EncodedTexts] = {}
        for n_done, (task, keys) in enumerate(lacking.values()):
            self._tell("evaluate", n_done, len(lacking))
            own = self._model_of(task)
            if own.key not in loaded:
                encoded = self._store.folder / "encoded" / own.encoding[:16]
                loaded = {own.key: load_encoded(encoded, own.model)}
            names = self._driver.folders(task)
            for name in names:
                self._store.check_model(name)
            for data in answer_again(
                self._plan,
                own.model,
                task,
                folders=[self._store.model_folder(name) for name in names],
                further={key: loaded[own.key].further[key] for key in keys},
            ):
                self._store.finish_evaluation(data)
        if lacking:
            self._tell("evaluate", len(lacking), len(lacking))

    def _is_kept(self, task: CellTask) -> bool:
        restores = self._model_of(task).model.capabilities.restores
        return restores and all(map(self._store.has_model, self._driver.folders(task)))

    def _no_classifier(self, task: CellTask, key: str) -> InputError:
        return InputError(
            f"eval_phi: the {task.describe()} was finished without answering {key}, and its "
            "classifier was not kept; leave this transformation out, or begin in another "
            "folder, where all is trained anew",
            path=self._store.folder,
        )

    def _model_of(self, task: CellTask) -> PlannedModel:
        return next(each for each in self._plan.models if each.key == task.model)


def _conclude_search(model: PlannedModel, done: Mapping[str, Trial]) -> Searches:
    if model.params is not None:
        return Searches(shared=Search(params=model.params), own={})
    searches = {
        resample: Search.of(tuple(done[task.identity] for task in some))
        for resample, some in model.trials.items()
    }
    return Searches(
        shared=searches.get(None),
        own={resample: found for resample, found in searches.items() if resample is not None},
    )
