"""The whole IE test, from texts to decisions (Algorithm 1 of the paper, for each rho)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import ietest_fast
from ietest_fast.errors import StoreError
from ietest_fast.experiment.artefacts import MADE_ANEW
from ietest_fast.experiment.cells import match, write_clusters
from ietest_fast.experiment.identity import TrainingDraw, identify
from ietest_fast.experiment.judge import Judge, Trained
from ietest_fast.experiment.plan import make_plan, work_settings
from ietest_fast.experiment.results import write_results
from ietest_fast.experiment.schema import (
    ChangedRows,
    DataSummary,
    EvaluatedRho,
    FurtherResult,
    FurtherTransformation,
    ModelRecord,
    ModelSettings,
    RunResult,
    SearchRecord,
    SplitSummary,
    TransformationRecord,
    correct_over_evaluations,
)
from ietest_fast.experiment.store import RunStore
from ietest_fast.experiment.work import do_work

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ietest_fast.experiment.cells import CellRecord, StoredAnswers
    from ietest_fast.experiment.config import RunConfig
    from ietest_fast.experiment.data import PlannedPhi, Splits, TransformedSplits
    from ietest_fast.experiment.plan import Plan, PlannedModel
    from ietest_fast.experiment.schema import RhoResult
    from ietest_fast.experiment.search import Search, Searches
    from ietest_fast.experiment.work import Progress, Work
    from ietest_fast.transform import Transformation

# The third stage of a run: tests and decisions from what the cells have answered.


# What the classifiers of a run did on further test sets, compared with the original one.


def record_evaluated(plan: Plan, work: Work) -> tuple[FurtherTransformation, ...]:
    """Record the further transformations, and what each made of the test set."""
    names = plan.splits.test.label_names
    found = []
    for phi in plan.evaluations:
        made = work.further[phi.key]
        counts = np.bincount(made.labels, minlength=len(names))
        found.append(
            FurtherTransformation.from_result(
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


class _Evaluator:
    """Judges the classifiers of a condition on further test sets."""

    def __init__(self, judge: Judge, own: Trained) -> None:
        self._judge = judge
        self._own = own
        self._phis = judge.plan.evaluations

    def judge(self) -> list[FurtherResult]:
        """Give accuracies on every further test set, and tests where labels are kept."""
        own = self._own
        rhos = [self._judge_rho(rho) for rho in self._judge.settings.rho]
        return [
            FurtherResult(
                model=own.model.key,
                transformation=own.phi.key,
                train_size=own.size,
                evaluation=phi.key,
                signature=self._sign(phi, [each[place].test for each in rhos]),
                rhos=tuple(each[place] for each in rhos),
            )
            for place, phi in enumerate(self._phis)
        ]

    def _judge_rho(self, rho: float) -> list[EvaluatedRho]:
        records = self._judge.records(self._own, rho)
        identities = [
            self._judge.plan.evaluations_of(
                self._own.model,
                TrainingDraw.of(self._own.phi.key, rho=rho, m=m, train_size=self._own.size),
            )
            for m in range(len(records))
        ]
        answers = [[self._read(own[phi.key], phi) for own in identities] for phi in self._phis]
        tests = [
            self._test(phi, rho, list(zip(records, own, strict=True)))
            for phi, own in zip(self._phis, answers, strict=True)
        ]
        corrected = correct_over_evaluations(tests)
        return [
            EvaluatedRho(
                rho=rho,
                n=len(own[0].gold),
                n_correct=tuple(each.n_correct for each in own),
                identities=tuple(each[phi.key] for each in identities),
                alpha=self._judge.settings.alpha,
                test=test,
                p_holm=p_holm,
            )
            for phi, own, test, p_holm in zip(self._phis, answers, tests, corrected, strict=True)
        ]

    def _read(self, identity: str, phi: PlannedPhi) -> StoredAnswers:
        store, work = self._judge.store, self._judge.work
        found, texts = store.read_evaluation(work.evaluations[identity]), work.further[phi.key]
        same = np.array_equal(found.source_row, texts.source_row) and np.array_equal(
            found.gold, texts.labels
        )
        if not same:
            raise StoreError(
                f"{store.folder}: the answers {identity} are not those to {phi.key}; {MADE_ANEW}"
            )
        return found

    def _test(
        self, phi: PlannedPhi, rho: float, answered: list[tuple[CellRecord, StoredAnswers]]
    ) -> RhoResult | None:
        if not self._judge.work.further[phi.key].keeps_labels:
            return None
        matched = [(record, self._match(record, own)) for record, own in answered]
        return self._judge.judge_rho(self._own, phi, rho, matched)

    def _match(self, record: CellRecord, own: StoredAnswers) -> pa.Table:
        """Put the answers to a further test set in the place of those to the run's own."""
        import pyarrow as pa

        table = match(self._judge.store.read_cell(record), self._own.phi.key)
        columns = {
            "transformed": own.predicted,
            "transformed_correct": own.predicted == own.gold,
            "changed": own.changed,
        }
        for name, values in columns.items():
            place = table.schema.get_field_index(name)
            table = table.set_column(place, name, pa.array(values))
        return table

    def _sign(self, phi: PlannedPhi, tests: list[RhoResult | None]) -> str | None:
        cells = [cell for test in tests if test is not None for cell in test.cells]
        return self._judge.sign(self._own, phi, cells) if cells else None


def conclude(plan: Plan, work: Work, store: RunStore) -> RunResult:
    """Test every cell, decide at every rho and write ``results.json``.

    Nothing that was worked for is done again: other levels, margins and methods are other
    conclusions from the same cells.
    """
    judge = Judge(plan, work, store)
    trained = judge.list_trained()
    conditions = tuple(judge.judge_all())
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
            evaluations=tuple(found for own in trained for found in _Evaluator(judge, own).judge()),
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
    found: list[tuple[TrainingDraw | None, Search]] = list(searches.own.items())
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


def _searched_rows(model: PlannedModel, resample: TrainingDraw | None) -> int | None:
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
