"""The third stage of a run: tests and decisions from what the cells have answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import ietest_fast
from ietest_fast.experiment.identity import bootstrap_seed, canonical_json, identify
from ietest_fast.experiment.results import write_results
from ietest_fast.experiment.schema import (
    CellResult,
    ChangedRows,
    ConditionResult,
    DataSummary,
    ModelRecord,
    ModelSettings,
    RhoResult,
    RunResult,
    RunSettings,
    SearchRecord,
    Sensitivity,
    SplitSummary,
    TransformationRecord,
    TrialRecord,
)
from ietest_fast.experiment.signature import sign
from ietest_fast.stats import (
    MatchedSample,
    equivalence_test,
    is_collapsed,
    paired_test,
    power,
)
from ietest_fast.stats.clustered import clustered_test
from ietest_fast.stats.power import difference_beside_test

if TYPE_CHECKING:
    from ietest_fast.experiment.cells import CellRecord
    from ietest_fast.experiment.config import RunConfig
    from ietest_fast.experiment.data import Splits, TransformedSplits
    from ietest_fast.experiment.plan import Plan
    from ietest_fast.experiment.search import Search, Searches
    from ietest_fast.experiment.store import RunStore
    from ietest_fast.experiment.work import Work

# The laws of larger test sets take too long to enumerate for a remark.
_MOST_PAIRS_FOR_POWER = 10**6

_Signer = Callable[[Sequence[CellResult], Sequence[float]], str]


def conclude(plan: Plan, work: Work, store: RunStore) -> RunResult:
    """Test every cell, decide at every rho and write ``results.json``.

    Nothing that was worked for is done again: other levels, margins and methods are other
    conclusions from the same cells.

    Parameters
    ----------
    plan
        What was asked for.
    work
        What was done.
    store
        Where the matched samples are.

    Raises
    ------
    StoreError
        If a matched sample has changed since it was written.
    """
    signer = _signer(plan, work)
    rhos = _test(plan, work, store, signer)
    every_cell = [cell for rho in rhos for cell in rho.cells]
    settings, model = plan.settings, plan.model
    return write_results(
        RunResult(
            identity=identify(settings),
            settings=_record_settings(settings),
            software={
                "ietest_fast": ietest_fast.__version__,
                "numpy": np.__version__,
                "model": model.backend,
            },
            data=_describe_data(plan.config, plan.splits),
            transformations=(_record_transformation(settings, work.texts),),
            models=(_record_model(settings, work.searches),),
            conditions=(
                ConditionResult(
                    model=settings["model"]["name"],
                    transformation=work.texts.name,
                    signature=signer(every_cell, plan.config.rho),
                    rhos=rhos,
                ),
            ),
        ),
        store.folder,
    )


def _test(plan: Plan, work: Work, store: RunStore, signer: _Signer) -> tuple[RhoResult, ...]:
    config = plan.config
    rhos = []
    for rho in config.rho:
        cells = tuple(
            _test_cell(plan, store, work.cells[rho, m]) for m in range(config.n_classifiers)
        )
        independent = plan.clusters is None
        rhos.append(
            RhoResult.from_cells(
                cells,
                alpha=config.alpha,
                sensitivity=_find_sensitivity(config, cells) if independent else None,
                detectable_difference=_find_detectable(config, cells) if independent else None,
                signature=signer(cells, [rho]),
            )
        )
    return tuple(rhos)


def _find_sensitivity(config: RunConfig, cells: Sequence[CellResult]) -> Sensitivity | None:
    """Say what the tests at one rho could find, at the mean discordance of its classifiers."""
    n = cells[0].n
    discordance = sum(cell.counts.k for cell in cells) / (n * len(cells))
    if n > _MOST_PAIRS_FOR_POWER:
        return None
    return Sensitivity(
        margin=config.margin,
        discordance=discordance,
        # A difference is at most the share of discordant pairs.
        power=power(
            n,
            max(discordance, config.margin),
            config.margin,
            alpha=config.alpha,
            n_tests=len(cells),
        ),
    )


def _find_detectable(config: RunConfig, cells: Sequence[CellResult]) -> float | None:
    """Return the smallest difference that one of the M tests shows with 80% power."""
    return difference_beside_test(
        cells[0].n,
        float(np.mean([cell.counts.discordance_rate for cell in cells])),
        alpha=config.alpha,
        n_tests=len(cells),
    )


def _test_cell(plan: Plan, store: RunStore, record: CellRecord) -> CellResult:
    config, clusters = plan.config, plan.clusters
    matched = store.read_cell(record)
    sample = MatchedSample(
        original_correct=matched["original_correct"].to_numpy(),
        transformed_correct=matched["transformed_correct"].to_numpy(),
    )
    seed = bootstrap_seed(config.seed, rho=record.rho, m=record.m)
    clustered = None
    if clusters is not None:
        clustered = clustered_test(
            sample.original_correct,
            sample.transformed_correct,
            clusters,
            n_resamples=cast("int", config.used_resamples),
            rng=seed,
            n_threads=config.n_threads,
        )
    return CellResult.of(
        rho=record.rho,
        m=record.m,
        identity=record.identity,
        # Beside clusters this test is for comparison alone, and its exact law costs nothing.
        test=paired_test(
            sample,
            method=config.used_method if clusters is None else "exact",
            n_resamples=config.used_resamples if clusters is None else None,
            rng=seed,
            n_threads=config.n_threads,
        ),
        clustered=clustered,
        equivalence=equivalence_test(
            sample, clusters=clusters, margin=config.margin, alpha=config.alpha
        ),
        collapsed=is_collapsed(matched["original"].to_numpy(), matched["gold"].to_numpy()),
        **record.metrics,
    )


def _record_settings(settings: Mapping[str, Any]) -> RunSettings:
    own = {name: settings[name] for name in RunSettings.model_fields if name in settings}
    # As JSON has them: tables of settings are strict about lists and numbers.
    return RunSettings.model_validate_json(canonical_json({**own, "correction": "bonferroni"}))


def _record_transformation(
    settings: Mapping[str, Any], texts: TransformedSplits
) -> TransformationRecord:
    own = dict(settings["transformation"])
    return TransformationRecord(
        key=texts.name,
        name=texts.name,
        fingerprint=texts.fingerprint,
        inputs=own.pop("inputs"),
        settings=own,
        changed=ChangedRows(**{name: int(own.sum()) for name, own in texts.changed.items()}),
        n_test_reworded=texts.n_test_reworded,
        test_edits=dict(texts.test_edits),
    )


def _record_model(settings: Mapping[str, Any], searches: Searches) -> ModelRecord:
    own = settings["model"]
    found: list[tuple[float | None, int | None, Search]] = [
        (rho, m, search) for (rho, m), search in searches.own.items()
    ]
    if searches.shared is not None:
        found = [(None, None, searches.shared)]
    return ModelRecord(
        key=own["name"],
        settings=ModelSettings.model_validate_json(canonical_json(own)),
        searches=tuple(
            SearchRecord(
                params=dict(search.params),
                trials=tuple(TrialRecord(**asdict(trial)) for trial in search.trials),
                rho=rho,
                m=m,
            )
            for rho, m, search in found
        ),
    )


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


def _signer(plan: Plan, work: Work) -> _Signer:
    config, texts = plan.config, work.texts

    def signer(cells: Sequence[CellResult], rho: Sequence[float]) -> str:
        return sign(
            n=cells[0].n,
            discordant=[cell.counts.k for cell in cells],
            n_clusters=None if cells[0].clustered is None else cells[0].clustered.n_clusters,
            method=config.used_method,
            n_resamples=config.used_resamples,
            n_classifiers=config.n_classifiers,
            alpha=config.alpha,
            transformation=texts.name,
            transformation_fingerprint=texts.fingerprint,
            rho=rho,
            data=config.data_name,
            data_fingerprint=identify(plan.splits.fingerprints()),
            model=config.model.name,
            model_fingerprint=identify(plan.settings["model"]),
            backend=plan.settings["model"]["backend"].split()[0],
            seed=config.seed,
        )

    return signer
