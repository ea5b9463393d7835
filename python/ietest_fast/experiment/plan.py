"""The first stage of a run: everything is read and checked, and nothing is begun.

A plan knows all that there is to do, and the identity of each part of it, before the run's folder
is touched. What it cannot know are values that only work brings forth: the new texts, the
hyperparameters that a search finds.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import ietest_fast
from ietest_fast.corpus.dataset import DataGeneratingProcess, check_train_sizes
from ietest_fast.corpus.description import find_overlap
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.experiment.config import NO_REPLICATES
from ietest_fast.experiment.data import (
    PlannedPhi,
    Splits,
    plan_phis,
    read_groups,
    read_splits,
    refuse_twins,
)
from ietest_fast.experiment.identity import CELL_SCHEME, TrainingDraw, identify, identify_evaluation
from ietest_fast.experiment.search import draw_candidates
from ietest_fast.experiment.tasks import CellTask, TrialTask
from ietest_fast.numerals import say_count

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from ietest_fast.experiment.config import ModelConfig, RunConfig
    from ietest_fast.models import Model
    from ietest_fast.models.protocol import Params
    from ietest_fast.transform import Transformation

# How the work is judged; other values of these leave what was done as it is.
_OF_THE_CONCLUSION = (
    "alpha",
    "correction",
    "margin",
    "flip_margin",
    "strata",
    "method",
    "n_resamples",
)
_OF_THE_CONCLUSION_IN_DATA = ("name", "cluster")

# Answers to further texts are kept beside the cells, so these bind neither cells nor the folder.
_EVALUATIONS = "evaluations"


def work_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of a run's settings that its work depends on; its folder belongs to them."""
    left_out = (*_OF_THE_CONCLUSION, _EVALUATIONS)
    kept = {name: value for name, value in settings.items() if name not in left_out}
    data = settings["data"]
    kept["data"] = {
        name: value for name, value in data.items() if name not in _OF_THE_CONCLUSION_IN_DATA
    }
    return kept


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedModel:
    """One of the families of models of a run."""

    key: str
    """What the run calls it: its name, numbered where several have the same."""
    config: ModelConfig
    """What was asked for."""
    model: Model
    """The family."""
    columns: tuple[str, ...]
    """The columns of texts that it sees."""
    settings: Mapping[str, Any]
    """What is recorded of it, ready for JSON."""
    trials: Mapping[TrainingDraw | None, tuple[TrialTask, ...]]
    """What to try in the searches for hyperparameters: by resample, or under None on the
    untransformed data; empty where hyperparameters are given."""
    cells: Mapping[TrainingDraw, str]
    """The identity of each cell, by what it is trained on."""
    encoding: str
    """The identity of the encoded texts."""

    @property
    def params(self) -> Params | None:
        """The hyperparameters where they are given, as such or as a preset."""
        return _find_params(self.config, self.model)


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """All that a run has to do."""

    config: RunConfig
    """What was asked for."""
    splits: Splits
    """The three splits, untransformed."""
    clusters: NDArray[np.int64] | None
    """The cluster of each test row, int64, shape (n_test,); None without clusters."""
    strata: Mapping[str, NDArray[Any]]
    """By column that was asked for, but for labels and edits, its values in the test rows."""
    transformations: tuple[PlannedPhi, ...]
    """The axes beside rho and m."""
    evaluations: tuple[PlannedPhi, ...]
    """Further transformations, of the test set alone."""
    models: tuple[PlannedModel, ...]
    """The axes beside rho and m."""
    settings: Mapping[str, Any]
    """All that results depend on, contents of files included, ready for JSON."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what transformations hold; nothing can be transformed any more."""
        for phi in (*self.transformations, *self.evaluations):
            phi.planned.close()

    def cell_task(self, model: PlannedModel, resample: TrainingDraw, params: Params) -> CellTask:
        """Return the task of a cell, with the hyperparameters that its search has found."""
        keys = tuple(phi.key for phi in self.transformations)
        return CellTask(
            identity=model.cells[resample],
            model=model.key,
            params=params,
            resample=resample,
            versions=keys if resample.phi is None else (resample.phi,),
            evaluations=self.evaluations_of(model, resample),
        )

    def evaluations_of(self, model: PlannedModel, resample: TrainingDraw) -> dict[str, str]:
        """Return the identity of a cell's answers under each further transformation, by its key."""
        return {
            phi.key: identify_evaluation(model.cells[resample], phi.fingerprint)
            for phi in self.evaluations
        }


def make_plan(
    config: RunConfig,
    *,
    splits: Splits | None = None,
    transformation: Transformation | Sequence[Transformation] | None = None,
    evaluations: Sequence[Transformation] | None = None,
) -> Plan:
    """Read and check everything that a run needs, and find the identities of all its parts."""
    grouped = config.strata_columns
    splits = read_splits(config.data, keep=grouped) if splits is None else splits
    _warn_of_overlap(splits)
    check_train_sizes(config.train_size, splits.train, DataGeneratingProcess(seed=config.seed))
    clusters, strata = read_groups(config.data.cluster, grouped, splits.test)
    models = _load_models(config, splits)
    chosen: Sequence[Any] = config.phis
    if transformation is not None:
        chosen = transformation if isinstance(transformation, Sequence) else [transformation]
    phis, further = plan_phis(chosen, config.eval_phis if evaluations is None else evaluations)
    try:
        if config.n_resamples is not None and not config.has_replicates(len(phis)):
            raise InputError(f"n_resamples: {NO_REPLICATES}")
        planner = _Planner(config=config, splits=splits, phis=phis, evaluations=further)
        planned = tuple(
            planner.plan_model(key, own, model)
            for key, (own, model) in zip(config.model_keys, models, strict=True)
        )
        # By their cells: a preset and the hyperparameters that it stands for train the same.
        refuse_twins("model", [(each.config.name, each.cells) for each in planned])
        return Plan(
            config=config,
            splits=splits,
            clusters=clusters,
            strata=strata,
            transformations=phis,
            evaluations=further,
            models=planned,
            settings={
                **planner.settings,
                "transformations": {phi.key: phi.settings for phi in phis},
                **({_EVALUATIONS: {phi.key: phi.settings for phi in further}} if further else {}),
                "models": {each.key: each.settings for each in planned},
            },
        )
    except BaseException:
        for phi in (*phis, *further):
            phi.planned.close()
        raise


def _load_models(config: RunConfig, splits: Splits) -> list[tuple[ModelConfig, Model]]:
    """Load the models, each of which has to fit the data and how it is to be trained."""
    models = [(own, own.load()) for own in config.models]
    if config.n_jobs not in {None, 1} and any(own.is_object for own, _ in models):
        raise InputError(
            "n_jobs: a model that is given as an object is trained in this process, and not in "
            f"{config.n_jobs}; leave n_jobs out"
        )
    for own, model in models:
        if config.keep_models and not model.capabilities.saves:
            raise InputError(f"keep_models: classifiers of the model {model.name!r} cannot be kept")
        _find_columns(own, splits)
    return models


def _warn_of_overlap(splits: Splits) -> None:
    """Tell test rows that a classifier has learnt, or that its hyperparameters were chosen by."""
    for corpus, what in ((splits.train, "training"), (splits.valid, "validation")):
        overlap = find_overlap(corpus, splits.test)
        n, others = overlap.n_same_words, overlap.n_conflicts
        if n:
            verb = "stands" if n == 1 else "stand"
            conflicts = f", {others:,} of them with another label" if others else ""
            warnings.warn(
                f"{splits.test.source}: {n:,} of {say_count(len(splits.test), 'test row')} {verb} "
                f"in the {what} set too, case and final period aside{conflicts}; take them out of "
                "one of both",
                IetestWarning,
                stacklevel=3,
            )


def _find_columns(config: ModelConfig, splits: Splits) -> tuple[str, ...]:
    """Return the columns of texts that a model sees."""
    only, columns = config.input, splits.train.text_columns
    if only is None:
        return columns
    if only not in columns:
        raise InputError(
            f"model.input: {only!r} is no column of texts; there are {', '.join(columns)}",
            path=splits.train.source,
        )
    return (only,)


def _find_params(config: ModelConfig, model: Model) -> Params | None:
    """Return the hyperparameters that were given, as such or as a preset."""
    if config.params is not None:
        return config.params
    return None if config.budget is not None else model.presets[config.search]


class _Planner:
    """Finds the settings and identities of models."""

    def __init__(
        self,
        *,
        config: RunConfig,
        splits: Splits,
        phis: Sequence[PlannedPhi],
        evaluations: Sequence[PlannedPhi],
    ) -> None:
        self.settings = config.settings()
        self.settings["data"] |= splits.fingerprints()
        self._config = config
        self._splits = splits
        self._phis = {phi.key: phi for phi in phis}
        self._evaluations = {phi.key: phi.fingerprint for phi in evaluations}

    def plan_model(self, key: str, config: ModelConfig, model: Model) -> PlannedModel:
        """Plan everything that one model has to do."""
        settings = {
            **config.settings(),
            "backend": model.backend,
            "options": dict(model.options),
        }
        if model.capabilities.depends_on_threads:
            # Other threads, other orders of summation: its cells are not to be mixed.
            settings["n_threads"] = self._config.n_threads
        columns = _find_columns(config, self._splits)
        base = self._shared_identity(settings)
        trials = self._plan_trials(key, config, model, base)
        return PlannedModel(
            key=key,
            config=config,
            model=model,
            columns=columns,
            settings=settings,
            trials=trials,
            cells=self._identify_cells(base, trials, _find_params(config, model)),
            encoding=self._identify_encoding(config, model, columns),
        )

    def _shared_identity(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return what affects all trials and cells of a model: not alpha, not M, not the test."""
        names = ("name", "options", "backend", "input", "n_voters", "n_threads")
        return {
            "scheme": CELL_SCHEME,
            "version": ietest_fast.__version__,
            "data": self._splits.fingerprints(),
            "model": {name: settings[name] for name in names if name in settings},
            "seed": self._config.seed,
        }

    def _resamples(self) -> list[TrainingDraw]:
        """Return what classifiers are trained on, each once."""
        config = self._config
        return list(
            dict.fromkeys(
                TrainingDraw.of(key, rho=rho, m=m, train_size=size)
                for size in config.train_sizes
                for rho in config.rho
                for m in range(config.n_classifiers)
                for key in self._phis
            )
        )

    def _locate(self, resample: TrainingDraw) -> dict[str, Any]:
        """Say what a resample depends on; at rho = 0 nothing of it is transformed."""
        where: dict[str, Any] = resample.columns
        if resample.phi is not None:
            where["transformation"] = self._phis[resample.phi].fingerprint
            if self._config.mode != "replace":
                where["mode"] = self._config.mode
        return where

    def _plan_trials(
        self, key: str, config: ModelConfig, model: Model, base: Mapping[str, Any]
    ) -> dict[TrainingDraw | None, tuple[TrialTask, ...]]:
        if config.budget is None:
            return {}
        resamples: Sequence[TrainingDraw | None] = [None]
        # One search for all sizes judges candidates where there is most to learn from.
        size = max(self._config.train_size, default=None)
        if config.search_per_resample:
            resamples, size = self._resamples(), None
        searched = {} if size is None else {"train_size": size}
        # Alternative 2 is about the cells: a candidate is judged by one classifier.
        shared = {**base, "kind": "trial", "model": {**base["model"], "n_voters": 1}}
        return {
            resample: tuple(
                TrialTask(
                    identity=identify(
                        {
                            **shared,
                            **(searched if resample is None else self._locate(resample)),
                            "number": number,
                            "params": params,
                        }
                    ),
                    model=key,
                    params=params,
                    number=number,
                    resample=resample,
                    train_size=size,
                )
                for number, params in enumerate(
                    draw_candidates(
                        model.search_space,
                        budget=config.budget,
                        seed=self._config.seed,
                        address=None if resample is None else resample.address,
                    )
                )
            )
            for resample in resamples
        }

    def _identify_cells(
        self,
        base: Mapping[str, Any],
        trials: Mapping[TrainingDraw | None, tuple[TrialTask, ...]],
        given: Params | None,
    ) -> dict[TrainingDraw, str]:
        versions = {key: phi.fingerprint for key, phi in self._phis.items()}
        identities = {}
        for resample in self._resamples():
            tried = trials.get(resample, trials.get(None))
            # Given the trials, their best is settled: a cell is known before they are done.
            params: Any = given if tried is None else {"best_of": [own.identity for own in tried]}
            phi = resample.phi
            identities[resample] = identify(
                {
                    **base,
                    **self._locate(resample),
                    "kind": "cell",
                    "params": params,
                    "versions": versions if phi is None else {phi: versions[phi]},
                }
            )
        return identities

    def _identify_encoding(self, config: ModelConfig, model: Model, columns: Sequence[str]) -> str:
        return identify(
            {
                **self._splits.fingerprints(),
                "versions": {key: phi.fingerprint for key, phi in self._phis.items()},
                "model": config.name,  # a subclass may inherit the name of its model
                "options": model.options,
                "columns": list(columns),
                "scheme": CELL_SCHEME,
                **({_EVALUATIONS: self._evaluations} if self._evaluations else {}),
            }
        )
