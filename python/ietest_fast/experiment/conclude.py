"""The third stage of a run: tests and decisions from what the cells have answered."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

import ietest_fast
from ietest_fast.experiment.conclude_evaluations import judge_evaluations, record_evaluated
from ietest_fast.experiment.identity import canonical_json, identify
from ietest_fast.experiment.judge import Judge
from ietest_fast.experiment.results import write_results
from ietest_fast.experiment.run_clusters import write_clusters
from ietest_fast.experiment.schema import (
    ChangedRows,
    DataSummary,
    ModelRecord,
    ModelSettings,
    RunResult,
    RunSettings,
    SearchRecord,
    SplitSummary,
    TransformationRecord,
    TrialRecord,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ietest_fast.experiment.config import RunConfig
    from ietest_fast.experiment.data import Splits, TransformedSplits
    from ietest_fast.experiment.phis import PlannedPhi
    from ietest_fast.experiment.plan import Plan, PlannedModel
    from ietest_fast.experiment.resample import Resample
    from ietest_fast.experiment.search import Search, Searches
    from ietest_fast.experiment.store import RunStore
    from ietest_fast.experiment.work import Work


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
    settings = _record_settings(plan.settings)
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


def _record_settings(settings: Mapping[str, Any]) -> RunSettings:
    own = {name: settings[name] for name in RunSettings.model_fields if name in settings}
    # As JSON has them: tables of settings are strict about lists and numbers.
    return RunSettings.model_validate_json(canonical_json(own))


def _record_transformation(phi: PlannedPhi, texts: TransformedSplits) -> TransformationRecord:
    return TransformationRecord(
        key=phi.key,
        name=texts.name,
        fingerprint=texts.fingerprint,
        inputs=phi.settings["inputs"],
        settings=texts.described,
        changed=ChangedRows(**{name: int(own.sum()) for name, own in texts.changed.items()}),
        n_test_reworded=texts.n_test_reworded,
        test_edits=dict(texts.test_edits),
        warnings=texts.warnings,
    )


def _record_model(model: PlannedModel, searches: Searches) -> ModelRecord:
    found: list[tuple[Resample | None, Search]] = list(searches.own.items())
    if searches.shared is not None:
        found = [(None, searches.shared)]
    return ModelRecord(
        key=model.key,
        settings=ModelSettings.model_validate_json(canonical_json(model.settings)),
        searches=tuple(
            SearchRecord(
                params=dict(search.params),
                trials=tuple(TrialRecord(**asdict(trial)) for trial in search.trials),
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
