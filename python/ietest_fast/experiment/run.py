"""The whole IE test, from texts to decisions (Algorithm 1 of the paper, for each rho)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import ietest_fast
from ietest_fast.errors import StoreError
from ietest_fast.experiment.artefacts import MADE_ANEW
from ietest_fast.experiment.cells import match
from ietest_fast.experiment.judge import Judge
from ietest_fast.experiment.plan import make_plan, work_settings
from ietest_fast.experiment.results import write_results
from ietest_fast.experiment.run_consistency import write_clusters
from ietest_fast.experiment.schema import (
    ChangedRows,
    DataSummary,
    EvaluatedRho,
    EvaluatedTransformation,
    FurtherResult,
    ModelRecord,
    ModelSettings,
    RunResult,
    SearchRecord,
    SplitSummary,
    TransformationRecord,
    correct_over_evaluations,
)
from ietest_fast.experiment.search import Resample, identify
from ietest_fast.experiment.store import RunStore
from ietest_fast.experiment.work import do_work

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from ietest_fast.experiment.cells import Answered, CellRecord
    from ietest_fast.experiment.config import RunConfig
    from ietest_fast.experiment.data import PlannedPhi, Splits, TransformedSplits
    from ietest_fast.experiment.plan import Plan, PlannedModel
    from ietest_fast.experiment.schema import RhoResult
    from ietest_fast.experiment.search import Search, Searches
    from ietest_fast.experiment.work import Progress, Work
    from ietest_fast.transform import Transformation

# The third stage of a run: tests and decisions from what the cells have answered.


# What the classifiers of a run did on further test sets, compared with the original one.


def record_evaluated(plan: Plan, work: Work) -> tuple[EvaluatedTransformation, ...]:
    """Record the further transformations, and what each made of the test set."""
    names = plan.splits.test.label_names
    found = []
    for phi in plan.evaluations:
        made = work.further[phi.key]
        counts = np.bincount(made.labels, minlength=len(names))
        found.append(
            EvaluatedTransformation.from_result(
                made,
                key=phi.key,
                settings=made.described,
                inputs=phi.settings["inputs"],
                rows=len(made.labels),
                changed=made.n_changed,
                unlabelled=made.n_unlabelled,
                labels={name: int(n) for name, n in zip(names, counts, strict=True)},
            )
        )
    return tuple(found)


def judge_evaluations(
    judge: Judge, plan: Plan, work: Work, store: RunStore
) -> Iterator[FurtherResult]:
    """Give accuracies on every further test set, and tests where labels are kept."""
    if not plan.evaluations:
        return
    for model in plan.models:
        for phi in plan.transformations:
            for size in plan.config.train_sizes:
                yield from _Evaluator(judge, plan, work, store, size).judge(model, phi)


class _Evaluator:
    """Judges the classifiers of a model that were trained on the texts of a transformation."""

    def __init__(
        self, judge: Judge, plan: Plan, work: Work, store: RunStore, train_size: int | None
    ) -> None:
        self._size = train_size
        self._judge = judge
        self._plan = plan
        self._work = work
        self._store = store

    def judge(self, model: PlannedModel, trained: PlannedPhi) -> list[FurtherResult]:
        rhos = [self._judge_rho(model, trained, rho) for rho in self._plan.config.rho]
        return [
            FurtherResult(
                model=model.key,
                transformation=trained.key,
                train_size=self._size,
                evaluation=phi.key,
                signature=self._sign(model, trained, phi, [own[place].test for own in rhos]),
                rhos=tuple(own[place] for own in rhos),
            )
            for place, phi in enumerate(self._plan.evaluations)
        ]

    def _judge_rho(
        self, model: PlannedModel, trained: PlannedPhi, rho: float
    ) -> list[EvaluatedRho]:
        records = self._judge.records(model, trained, rho, self._size)
        identities = [
            self._plan.evaluations_of(
                model, Resample.of(trained.key, rho=rho, m=m, train_size=self._size)
            )
            for m in range(self._plan.config.n_classifiers)
        ]
        answers = [
            [self._read(own[phi.key], phi) for own in identities] for phi in self._plan.evaluations
        ]
        tests = [
            self._test(model, trained, phi, rho, list(zip(records, own, strict=True)))
            for phi, own in zip(self._plan.evaluations, answers, strict=True)
        ]
        return [
            EvaluatedRho(
                rho=rho,
                n=len(own[0].gold),
                n_correct=tuple(each.n_correct for each in own),
                identities=tuple(each[phi.key] for each in identities),
                alpha=self._plan.config.alpha,
                test=test,
                p_holm=p_holm,
            )
            for phi, own, test, p_holm in zip(
                self._plan.evaluations,
                answers,
                tests,
                correct_over_evaluations(tests),
                strict=True,
            )
        ]

    def _read(self, identity: str, phi: PlannedPhi) -> Answered:
        found = self._store.read_evaluation(self._work.evaluations[identity])
        texts = self._work.further[phi.key]
        same = np.array_equal(found.source_row, texts.source_row) and np.array_equal(
            found.gold, texts.labels
        )
        if not same:
            raise StoreError(
                f"{self._store.folder}: the answers {identity} are not those to {phi.key}; "
                f"{MADE_ANEW}"
            )
        return found

    def _test(
        self,
        model: PlannedModel,
        trained: PlannedPhi,
        phi: PlannedPhi,
        rho: float,
        answered: list[tuple[CellRecord, Answered]],
    ) -> RhoResult | None:
        if not self._work.further[phi.key].keeps_labels:
            return None
        matched = [(record, self._match(record, trained, own)) for record, own in answered]
        return self._judge.judge_rho(
            model, phi, rho, matched, trained=trained, train_size=self._size
        )

    def _match(self, record: CellRecord, trained: PlannedPhi, own: Answered) -> pa.Table:
        """Put the answers to a further test set in the place of those to the run's own."""
        import pyarrow as pa

        table = match(self._store.read_cell(record), trained.key)
        columns = {
            "transformed": own.predicted,
            "transformed_correct": own.predicted == own.gold,
            "changed": own.changed,
        }
        for name, values in columns.items():
            place = table.schema.get_field_index(name)
            table = table.set_column(place, name, pa.array(values))
        return table

    def _sign(
        self,
        model: PlannedModel,
        trained: PlannedPhi,
        phi: PlannedPhi,
        tests: list[RhoResult | None],
    ) -> str | None:
        cells = [cell for test in tests if test is not None for cell in test.cells]
        if not cells:
            return None
        return self._judge.sign(model, phi, cells, trained=trained, train_size=self._size)


def conclude(plan: Plan, work: Work, store: RunStore) -> RunResult:
    """Test every cell, decide at every rho and write ``results.json``.

    Nothing that was worked for is done again: other levels, margins and methods are other
    conclusions from the same cells.
    """
    judge = Judge(plan, work, store)
    conditions = tuple(
        judge.judge(model, phi, size)
        for model in plan.models
        for phi in plan.transformations
        for size in plan.config.train_sizes
    )
    settings = judge.settings
    # Before the results that speak of it.
    write_clusters(
        store.folder, settings.data.cluster, settings.data.fingerprints["test"], plan.clusters
    )
    return write_results(
        RunResult(
            identity=identify(plan.settings),
            settings=settings,
            software=_list_software(plan),
            data=_describe_data(plan.config, plan.splits),
            transformations=tuple(
                _record_transformation(phi, work.texts[phi.key]) for phi in plan.transformations
            ),
            models=tuple(_record_model(own, work.searches[own.key]) for own in plan.models),
            conditions=conditions,
            across=tuple(judge.judge_across(conditions)) if len(plan.transformations) > 1 else (),
            evaluated=record_evaluated(plan, work),
            evaluations=tuple(judge_evaluations(judge, plan, work, store)),
        ),
        store.folder,
    )


def _list_software(plan: Plan) -> dict[str, str]:
    versions = {"ietest_fast": ietest_fast.__version__, "numpy": np.__version__}
    keys = ["model", *(f"model {own.key}" for own in plan.models[1:])]
    return versions | {key: own.model.backend for key, own in zip(keys, plan.models, strict=True)}


def _record_transformation(phi: PlannedPhi, texts: TransformedSplits) -> TransformationRecord:
    return TransformationRecord.from_result(
        texts,
        key=phi.key,
        inputs=phi.settings["inputs"],
        settings=texts.described,
        changed=ChangedRows(**{name: int(own.sum()) for name, own in texts.changed.items()}),
    )


def _record_model(model: PlannedModel, searches: Searches) -> ModelRecord:
    found: list[tuple[Resample | None, Search]] = list(searches.own.items())
    if searches.shared is not None:
        found = [(None, searches.shared)]
    return ModelRecord(
        key=model.key,
        settings=ModelSettings.of_settings(model.settings),
        searches=tuple(
            SearchRecord.from_result(
                search,
                rho=None if resample is None else resample.rho,
                m=None if resample is None else resample.m,
                transformation=None if resample is None else resample.phi,
                train_size=_searched_rows(model, resample),
            )
            for resample, search in found
        ),
    )


def _searched_rows(model: PlannedModel, resample: Resample | None) -> int | None:
    """Return how many training rows a search has had; None for all, or if there was none."""
    if resample is not None:
        return resample.train_size
    return next((task.train_size for task in model.trials.get(None, ())), None)


def _describe_data(config: RunConfig, splits: Splits) -> DataSummary:
    summaries = {
        name: SplitSummary(
            rows=len(corpus),
            dropped=dict(corpus.dropped),
            labels={
                label: int(count)
                for label, count in zip(
                    corpus.label_names,
                    np.bincount(corpus.labels, minlength=splits.n_classes),
                    strict=True,
                )
            },
        )
        for name, corpus in splits.items()
    }
    return DataSummary(
        text_columns=tuple(splits.train.text_columns),
        label_names=tuple(splits.train.label_names),
        label_column=config.data.label_column,
        **summaries,
    )


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
