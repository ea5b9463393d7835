"""The whole IE test, from texts to decisions (Algorithm 1 of the paper, for each rho)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import ietest_fast
from ietest_fast.errors import InputError
from ietest_fast.experiment.data import (
    PlannedTransformation,
    Splits,
    TransformedSplits,
    number_clusters,
    plan_transformation,
    read_splits,
    transform_splits,
)
from ietest_fast.experiment.executors import make_executor
from ietest_fast.experiment.identity import (
    CELL_SCHEME,
    bootstrap_seed,
    canonical_json,
    identify,
)
from ietest_fast.experiment.matching import read_matched
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
from ietest_fast.experiment.store import CellRecord, RunStore
from ietest_fast.experiment.work import (
    WorkContext,
    check_encoded,
    forget_finished,
    save_encoded,
)
from ietest_fast.experiment.workshop import Progress, Workshop, fill_cells, find_params
from ietest_fast.models import load_model
from ietest_fast.models.pooling import find_changed
from ietest_fast.stats import (
    MatchedSample,
    clustered_test,
    equivalence_test,
    is_collapsed,
    paired_test,
    power,
)
from ietest_fast.stats.power import difference_beside_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.experiment.config import RunConfig
    from ietest_fast.experiment.search import Search, Searches
    from ietest_fast.models import Model
    from ietest_fast.transform import Transformation

# The laws of larger test sets take too long to enumerate for a remark.
_MOST_PAIRS_FOR_POWER = 10**6


def _silent(stage: str, done: int, total: int) -> None:
    pass


def run(
    config: RunConfig,
    folder: str | Path,
    *,
    progress: Progress | None = None,
    splits: Splits | None = None,
    transformation: Transformation | None = None,
) -> RunResult:
    """Run the IE test, or go on with a run that was interrupted.

    Parameters
    ----------
    config
        What to do.
    folder
        The run's folder. If a run of the same settings has begun there, what is finished is kept.
    progress
        Told of stages: ``"read"``, ``"transform"``, ``"encode"``, ``"search"``, ``"train"`` and
        ``"test"``.
    splits, transformation
        Take the place of what `config` says about data and transformation, for corpora and
        transformations that are at hand as objects.

    Returns
    -------
    RunResult
        Also written to ``results.json`` in the folder, byte for byte the same whether the run was
        interrupted or not, and on however many processes and (but for torch's models) threads it
        ran.

    Raises
    ------
    InputError, ResourceError
        If data or what is needed to transform it is not as it should be.
    StoreError
        If the folder is in use or belongs to other settings.
    WorkerError
        If training fails, or its process dies twice.
    """
    tell = _silent if progress is None else progress
    folder = Path(folder)
    tell("read", 0, 1)
    splits = read_splits(config.data) if splits is None else splits
    clusters = number_clusters(config.data, splits.test)
    planned = (
        plan_transformation(config.transformation)
        if transformation is None
        else _ready_made(transformation)
    )
    model = load_model(config.model.name, **config.model.options)
    _check_model(config, splits, model)
    settings = _settings(config, splits, planned, model)
    tell("read", 1, 1)
    with RunStore.open(folder, settings) as store:
        forget_finished(folder, {*store.cells(), *store.trials()})
        try:
            texts = transform_splits(
                splits, planned, folder / "data", listener=lambda done: tell("transform", done, 3)
            )
        finally:
            planned.close()
        tell("transform", 3, 3)
        context = _encode(config, folder, splits, texts, model)
        tell("encode", 1, 1)
        base = _cell_base(settings, texts)
        executor = make_executor(context, n_jobs=config.n_jobs, most=_most_jobs(config, model))
        try:
            workshop = Workshop(store=store, executor=executor, tell=tell)
            searches = find_params(config, model, base, workshop)
            records = fill_cells(config, searches, base, workshop)
        finally:
            executor.close()
        signer = _signer(config, splits, texts, settings)
        rhos = _test(config, store, records, signer, clusters)
        tell("test", 1, 1)
        signature = signer([cell for rho in rhos for cell in rho.cells], config.rho)
        return write_results(
            RunResult(
                identity=identify(settings),
                settings=_record_settings(settings),
                software=_versions(model),
                data=_describe_data(config, splits),
                transformations=(_record_transformation(settings, texts),),
                models=(_record_model(settings, searches),),
                conditions=(
                    ConditionResult(
                        model=settings["model"]["name"],
                        transformation=texts.name,
                        signature=signature,
                        rhos=rhos,
                    ),
                ),
            ),
            folder,
        )


def _ready_made(transformation: Transformation) -> PlannedTransformation:
    return PlannedTransformation(
        fingerprint=transformation.fingerprint, build=lambda _: transformation
    )


def _settings(
    config: RunConfig, splits: Splits, planned: PlannedTransformation, model: Model
) -> dict[str, Any]:
    """Add what is in the files to what the configuration says."""
    settings = config.settings()
    settings["data"] |= splits.fingerprints()
    settings["transformation"]["inputs"] = planned.fingerprint
    settings["model"] |= {"backend": model.backend, "options": dict(model.options)}
    if model.capabilities.depends_on_threads:
        # Other threads, other orders of summation: its cells are not to be mixed.
        settings["model"]["n_threads"] = config.n_threads
    return settings


def _most_jobs(config: RunConfig, model: Model) -> int | None:
    """Ask a model how many of its trainings fit into memory at a time, if nobody has said."""
    return model.capabilities.max_jobs() if config.n_jobs is None else None


def _encode(
    config: RunConfig,
    folder: Path,
    splits: Splits,
    texts: TransformedSplits,
    model: Model,
) -> WorkContext:
    columns = _seen_columns(config, splits)
    test = texts.texts["test"]
    changed = find_changed(
        test.original, test.versions["transformed"], columns, source=splits.test.source
    )
    key = identify(
        {
            **splits.fingerprints(),
            "transformation": texts.fingerprint,
            "model": model.name,
            "options": model.options,
            "columns": columns,
            "scheme": CELL_SCHEME,
        }
    )
    kept = folder / "encoded" / key[:16]
    if not kept.is_dir():
        save_encoded(kept, model.encode(texts.texts, columns), changed)
    check_encoded(kept, model)
    return WorkContext(
        folder=str(folder.resolve()),
        encoded=str(kept.resolve()),
        model=config.model.name,
        options={**config.model.options, **model.capabilities.worker_options()},
        n_classes=splits.n_classes,
        seed=config.seed,
        n_threads=config.n_threads,
        label_names=splits.train.label_names,
        n_voters=config.model.n_voters,
        keep_models=config.keep_models,
        resumes=model.capabilities.resumes,
    )


def _check_model(config: RunConfig, splits: Splits, model: Model) -> None:
    """Find mistakes that only model and data together show, before anything is begun."""
    if config.keep_models and not model.capabilities.saves:
        raise InputError(f"keep_models: classifiers of the model {model.name!r} cannot be kept")
    _seen_columns(config, splits)


def _seen_columns(config: RunConfig, splits: Splits) -> tuple[str, ...]:
    """Give the columns of texts that the model sees."""
    only, columns = config.model.input, splits.train.text_columns
    if only is None:
        return columns
    if only not in columns:
        raise InputError(
            f"model.input: {only!r} is no column of texts; there are {', '.join(columns)}",
            path=splits.train.source,
        )
    return (only,)


def _cell_base(settings: Mapping[str, Any], texts: TransformedSplits) -> dict[str, Any]:
    """Give what all cells share that affects them: not alpha, not M, not the test's method."""
    data = settings["data"]
    model = settings["model"]
    return {
        "scheme": CELL_SCHEME,
        "version": ietest_fast.__version__,
        "data": {name: data[name] for name in ("train", "valid", "test")},
        "transformation": texts.fingerprint,
        "model": {
            name: model[name]
            for name in ("name", "options", "backend", "input", "n_voters", "n_threads")
            if name in model
        },
        "seed": settings["seed"],
    }


def _test(
    config: RunConfig,
    store: RunStore,
    records: Mapping[tuple[float, int], CellRecord],
    signer: _Signer,
    clusters: NDArray[np.int64] | None,
) -> tuple[RhoResult, ...]:
    rhos = []
    for rho in config.rho:
        cells = tuple(
            _test_cell(config, store, records[rho, m], clusters)
            for m in range(config.n_classifiers)
        )
        rhos.append(
            RhoResult.from_cells(
                cells,
                alpha=config.alpha,
                sensitivity=None if clusters is not None else _find_sensitivity(config, cells),
                detectable_difference=None
                if clusters is not None
                else _find_detectable(config, cells),
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


def _test_cell(
    config: RunConfig,
    store: RunStore,
    record: CellRecord,
    clusters: NDArray[np.int64] | None,
) -> CellResult:
    matched = read_matched(store.cell_path(record), sha256=record.sha256)
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
            seed=seed,
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
            seed=seed,
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


def _versions(model: Model) -> dict[str, str]:
    return {"ietest_fast": ietest_fast.__version__, "numpy": np.__version__, "model": model.backend}


_Signer = Callable[[Sequence[CellResult], Sequence[float]], str]


def _signer(
    config: RunConfig, splits: Splits, texts: TransformedSplits, settings: Mapping[str, Any]
) -> _Signer:
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
            data_fingerprint=identify(splits.fingerprints()),
            model=config.model.name,
            model_fingerprint=identify(settings["model"]),
            backend=settings["model"]["backend"].split()[0],
            seed=config.seed,
        )

    return signer
