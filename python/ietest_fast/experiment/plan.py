"""The first stage of a run: everything is read and checked, and nothing is begun.

A plan knows all that there is to do, and the identity of each part of it, before the run's folder
is touched. What it cannot know are values that only work brings forth: the new texts, the
hyperparameters that a search finds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import ietest_fast
from ietest_fast.errors import InputError
from ietest_fast.experiment.data import (
    Splits,
    check_equivalence,
    number_clusters,
    read_splits,
)
from ietest_fast.experiment.identity import CELL_SCHEME, identify
from ietest_fast.experiment.search import draw_candidates
from ietest_fast.experiment.tasks import CellTask, TrialTask
from ietest_fast.models import load_model
from ietest_fast.transform import plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ietest_fast.experiment.config import RunConfig
    from ietest_fast.models import Model
    from ietest_fast.models.protocol import Params
    from ietest_fast.transform import PlannedTransformation, Transformation

Address = tuple[float, int]
"""A resample: rho and m."""

# How the work is judged; other values of these leave what was done as it is.
_OF_THE_CONCLUSION = ("alpha", "margin", "method", "n_resamples")
_OF_THE_CONCLUSION_IN_DATA = ("name", "cluster")


def work_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of a run's settings that its work depends on; its folder belongs to them."""
    kept = {name: value for name, value in settings.items() if name not in _OF_THE_CONCLUSION}
    data = settings["data"]
    kept["data"] = {
        name: value for name, value in data.items() if name not in _OF_THE_CONCLUSION_IN_DATA
    }
    return kept


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """All that a run has to do.

    Attributes
    ----------
    config
        What was asked for.
    splits
        The three splits, untransformed.
    clusters
        The cluster of each test row, int64, shape (n_test,); None without clusters.
    transformation
        The equivalence, not built yet.
    model
        The family of models.
    columns
        The columns of texts that the model sees.
    settings
        All that results depend on, contents of files included, ready for JSON.
    trials
        What to try in the searches for hyperparameters: by resample, or under None on the
        untransformed data; empty where hyperparameters are given.
    cells
        The identity of each cell.
    """

    config: RunConfig
    splits: Splits
    clusters: NDArray[np.int64] | None
    transformation: PlannedTransformation
    model: Model
    columns: tuple[str, ...]
    settings: Mapping[str, Any]
    trials: Mapping[Address | None, tuple[TrialTask, ...]]
    cells: Mapping[Address, str]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.transformation.close()

    @property
    def encoding(self) -> str:
        """Identity of the encoded texts."""
        return identify(
            {
                **self.splits.fingerprints(),
                "transformation": self.transformation.fingerprint,
                "model": self.model.name,
                "options": self.model.options,
                "columns": self.columns,
                "scheme": CELL_SCHEME,
            }
        )

    @property
    def params(self) -> Params | None:
        """The hyperparameters where they are given, as such or as a preset."""
        return _find_params(self.config, self.model)

    def cell_task(self, address: Address, params: Params) -> CellTask:
        """Give the task of a cell, with the hyperparameters that its search has found."""
        rho, m = address
        return CellTask(identity=self.cells[address], params=params, rho=rho, m=m)


def make_plan(
    config: RunConfig,
    *,
    splits: Splits | None = None,
    transformation: Transformation | None = None,
) -> Plan:
    """Read and check everything that a run needs, and find the identities of all its parts.

    Parameters
    ----------
    config
        What to do.
    splits, transformation
        Take the place of what `config` says about data and transformation.

    Returns
    -------
    Plan
        To be closed (it is a context manager): a transformation may hold processes.

    Raises
    ------
    InputError, ResourceError
        If data, or what is needed to transform it, is not as it should be.
    """
    splits = read_splits(config.data) if splits is None else splits
    clusters = number_clusters(config.data, splits.test)
    model = load_model(config.model.name, **config.model.options)
    if config.keep_models and not model.capabilities.saves:
        raise InputError(f"keep_models: classifiers of the model {model.name!r} cannot be kept")
    columns = _find_columns(config, splits)
    planned = _plan_transformation(config, transformation)
    settings = _describe(config, splits, planned, model)
    base = _shared_identity(settings)
    trials = _plan_trials(config, model, base, planned)
    return Plan(
        config=config,
        splits=splits,
        clusters=clusters,
        transformation=planned,
        model=model,
        columns=columns,
        settings=settings,
        trials=trials,
        cells=_identify_cells(config, model, base, planned, trials),
    )


def _plan_transformation(
    config: RunConfig, transformation: Transformation | None
) -> PlannedTransformation:
    if transformation is None and len(config.phis) > 1:
        raise InputError("a run takes one transformation so far")
    planned = plan(config.phis[0] if transformation is None else transformation)
    check_equivalence(planned)
    return planned


def _find_columns(config: RunConfig, splits: Splits) -> tuple[str, ...]:
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


def _find_params(config: RunConfig, model: Model) -> Params | None:
    """Give the hyperparameters that were given, as such or as a preset."""
    asked = config.model
    if asked.params is not None:
        return asked.params
    return None if asked.budget is not None else model.presets[asked.search]


def _describe(
    config: RunConfig, splits: Splits, planned: PlannedTransformation, model: Model
) -> dict[str, Any]:
    """Add what is in the files to what the configuration says."""
    settings = config.settings()
    settings["data"] |= splits.fingerprints()
    settings["transformation"] = {**planned.describe(), "inputs": planned.fingerprint}
    settings["model"] |= {"backend": model.backend, "options": dict(model.options)}
    if model.capabilities.depends_on_threads:
        # Other threads, other orders of summation: its cells are not to be mixed.
        settings["model"]["n_threads"] = config.n_threads
    return settings


def _shared_identity(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Give what affects all trials and cells: not alpha, not M, not the test's method."""
    data, model = settings["data"], settings["model"]
    names = ("name", "options", "backend", "input", "n_voters", "n_threads")
    return {
        "scheme": CELL_SCHEME,
        "version": ietest_fast.__version__,
        "data": {name: data[name] for name in ("train", "valid", "test")},
        "model": {name: model[name] for name in names if name in model},
        "seed": settings["seed"],
    }


def _plan_trials(
    config: RunConfig, model: Model, base: Mapping[str, Any], planned: PlannedTransformation
) -> dict[Address | None, tuple[TrialTask, ...]]:
    if config.model.budget is None:
        return {}
    addresses: Sequence[Address | None] = [None]
    if config.model.search_per_resample:
        addresses = [(rho, m) for rho in config.rho for m in range(config.n_classifiers)]
    return {address: _draw_trials(config, model, base, planned, address) for address in addresses}


def _draw_trials(
    config: RunConfig,
    model: Model,
    base: Mapping[str, Any],
    planned: PlannedTransformation,
    address: Address | None,
) -> tuple[TrialTask, ...]:
    """Draw what to try on the untransformed data, or on one resample."""
    # Alternative 2 is about the cells: a candidate is judged by one classifier.
    shared = {**base, "model": {**base["model"], "n_voters": 1}}
    candidates = draw_candidates(
        model.search_space,
        budget=cast("int", config.model.budget),
        seed=config.seed,
        address=address,
    )
    rho, m = (None, None) if address is None else address
    where = {} if address is None else _locate(address, planned)
    return tuple(
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
    )


def _locate(address: Address, planned: PlannedTransformation) -> dict[str, Any]:
    """Say what a resample depends on; at rho = 0 nothing of it is transformed."""
    rho, m = address
    where: dict[str, Any] = {"rho": rho, "m": m}
    return where if rho == 0 else {**where, "transformation": planned.fingerprint}


def _identify_cells(
    config: RunConfig,
    model: Model,
    base: Mapping[str, Any],
    planned: PlannedTransformation,
    trials: Mapping[Address | None, tuple[TrialTask, ...]],
) -> dict[Address, str]:
    identities = {}
    for rho in config.rho:
        for m in range(config.n_classifiers):
            tried = trials.get((rho, m), trials.get(None))
            # Given the trials, their best is settled: a cell is known before they are done.
            params: Any = (
                _find_params(config, model)
                if tried is None
                else {"best_of": [trial.identity for trial in tried]}
            )
            identities[rho, m] = identify(
                {
                    **base,
                    **_locate((rho, m), planned),
                    "kind": "cell",
                    "params": params,
                    "test": planned.fingerprint,
                }
            )
    return identities
