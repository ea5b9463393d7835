"""Random search for hyperparameters (step 2 of Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ietest_fast.experiment.identity import TrainingDraw, search_seed
from ietest_fast.models.protocol import FloatRange, IntegerRange, Params, SearchSpace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One hyperparameter value that was tried."""

    number: int
    """From 0, in the order of drawing."""
    params: Params
    """The hyperparameters."""
    valid_accuracy: float
    """Accuracy on the validation set, 0 to 1: the untransformed one, or that of the resample that
    was searched on (Alternative 3)."""

    def __post_init__(self) -> None:
        if not isinstance(self.valid_accuracy, int | float) or not 0 <= self.valid_accuracy <= 1:
            raise ValueError(f"the accuracy of a trial is {self.valid_accuracy!r}")


@dataclass(frozen=True, kw_only=True)
class Search:
    """Where hyperparameters come from."""

    params: Params
    """Those that are used."""
    trials: tuple[Trial, ...] = ()
    """What was tried; empty where they were given."""

    @classmethod
    def of(cls, trials: tuple[Trial, ...]) -> Search:
        """Choose the best of some trials."""
        return cls(params=best_trial(trials).params, trials=trials)


@dataclass(frozen=True, kw_only=True)
class Searches:
    """Where the hyperparameters of each of a model's classifiers come from."""

    shared: Search | None
    """One search for all classifiers; None if each resample has its own."""
    own: Mapping[TrainingDraw, Search]
    """By resample; empty if there is one for all."""

    def params(self, resample: TrainingDraw) -> Params:
        """Return the hyperparameters of the classifiers of a resample."""
        search = self.own[resample] if self.shared is None else self.shared
        return dict(search.params)


def draw_candidates(
    space: SearchSpace, *, budget: int, seed: int, address: tuple[float, int] | None = None
) -> list[Params]:
    """Draw hyperparameters with Optuna's random sampler.

    A random sampler does not look at results, so all candidates can be drawn beforehand and tried
    in any order, on any number of processes, by a run that was interrupted in between.
    """
    import optuna

    distributions: dict[str, optuna.distributions.BaseDistribution] = {}
    for name, domain in space.items():
        if isinstance(domain, IntegerRange):
            distributions[name] = optuna.distributions.IntDistribution(
                domain.low, domain.high, step=domain.step
            )
        elif isinstance(domain, FloatRange):
            distributions[name] = optuna.distributions.FloatDistribution(
                domain.low, domain.high, step=domain.step
            )
        else:
            distributions[name] = optuna.distributions.CategoricalDistribution(domain.values)
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        sampler = optuna.samplers.RandomSampler(seed=search_seed(seed, address=address))
        study = optuna.create_study(sampler=sampler)
        drawn = [study.ask(distributions).params for _ in range(budget)]
    finally:
        optuna.logging.set_verbosity(verbosity)
    # 0.05 + 7 * 0.05 is not 0.4 in binary; an identity should not hang on that.
    return [
        {
            name: round(value, 12) if isinstance(value, float) else value
            for name, value in candidate.items()
        }
        for candidate in drawn
    ]


def best_trial(trials: Sequence[Trial]) -> Trial:
    """Choose the trial of highest validation accuracy, the earliest of equals."""
    return max(trials, key=lambda trial: (trial.valid_accuracy, -trial.number))
