"""The whole IE test on frames, and models that are at hand."""

from __future__ import annotations

import inspect
import io
import math
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.analyses.consistency.curves import (
    ConsistencyCurves,
    check_curve,
    curves_of_profiles,
    read_amount,
)
from ietest_fast.analyses.consistency.file import AMOUNT, Amounts, parse_amounts
from ietest_fast.analyses.consistency.profile import ConsistencyProfile
from ietest_fast.answers.shared import check_same_texts
from ietest_fast.api.evaluating import as_labelled, list_names, refuse_given
from ietest_fast.errors import InputError
from ietest_fast.escapes import escape_label
from ietest_fast.experiment.config import DataConfig, ModelConfig, check_config
from ietest_fast.experiment.data import Splits
from ietest_fast.experiment.finished import name_models
from ietest_fast.experiment.results import read_results
from ietest_fast.experiment.run import run as run_experiment
from ietest_fast.experiment.run_consistency import measure_run
from ietest_fast.numerals import format_amount, format_p, percent, say_p
from ietest_fast.stats.intervals import axes_or_new
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES
from ietest_fast.stats.result import Result
from ietest_fast.stats.strata import list_file_columns
from ietest_fast.transform.phi import is_choice
from ietest_fast.transform.rewordings import is_function, settle
from ietest_fast.values import number_names

if TYPE_CHECKING:
    from ietest_fast.answers import Predictions
    from ietest_fast.experiment.schema import ConditionResult, RhoResult, RunResult
    from ietest_fast.experiment.work import Progress
    from ietest_fast.models.classifiers import Inputs
    from ietest_fast.stats.consistency.intervals import BootstrapMethod
    from ietest_fast.stats.inputs import Rng

_MODEL_METHODS = ("check_params", "encode", "load_store", "fit")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class IETestResult(Result):
    """What :func:`run` has found. It prints itself."""

    results: RunResult
    """All numbers: what stands in ``results.json``."""
    folder: Path
    """The run's folder; a temporary one is deleted with the result."""

    @property
    def reject(self) -> bool:
        """Whether invariance is rejected at any rho, under any model and transformation."""
        return self.results.reject

    @cached_property
    def predictions(self) -> Predictions:
        """The long table of all answers to the test set: model, rho, m, item, version.

        In a run of several transformations ``model`` names the transformation too, because every
        classifier has been trained on the texts of one; and likewise the number of training rows.

        Raises
        ------
        StoreError
            If a file of the run is gone or damaged.
        """
        from ietest_fast.answers import Predictions

        parts = [part for each in self.results.conditions for part in self._answers(each)]
        return Predictions.concat(parts, source=str(self.folder))

    def _answers(self, condition: ConditionResult) -> list[Predictions]:
        import pyarrow as pa
        import pyarrow.compute as pc

        from ietest_fast.answers import ORIGINAL
        from ietest_fast.experiment.artefacts import reading
        from ietest_fast.experiment.cells import CELLS, read_predictions

        parts = []
        for cell in condition.cells:
            path = self.folder / CELLS / f"{cell.identity}.parquet"
            with reading(path):
                found = read_predictions(path)
            versions = pa.array([ORIGINAL, condition.transformation])
            plain = found.table["version"].cast(pa.string())
            table = found.table.filter(pc.is_in(plain, value_set=versions))
            if len(self.results.conditions) > len(self.results.models):
                names = pa.repeat(pa.scalar(_name(condition)), table.num_rows)
                table = table.set_column(table.column_names.index("model"), "model", names)
            parts.append(replace(found, table=table))
        return parts

    @property
    def title(self) -> str:  # type: ignore[override]
        """Heads the table in a notebook."""
        return f"Invariance under {', '.join(own.key for own in self.results.transformations)}"

    def to_dict(self) -> dict[str, Any]:
        """Return all of ``results.json``."""
        return self.results.to_dict()

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each model, transformation and rho."""
        return [
            {
                "model": condition.model,
                "transformation": condition.transformation,
                **({} if condition.train_size is None else {"train_size": condition.train_size}),
                "rho": rho.rho,
                "n_classifiers": len(rho.cells),
                "accuracy_original": rho.accuracy_original.mean,
                "accuracy_original_sd": rho.accuracy_original.sd,
                "accuracy_transformed": rho.accuracy_transformed.mean,
                "accuracy_transformed_sd": rho.accuracy_transformed.sd,
                "t": rho.t.mean,
                "t_sd": rho.t.sd,
                "p_min": rho.p_min,
                "p_adjusted": min(rho.p_adjusted),
                "reject": rho.reject,
                "verdict": str(condition.verdict),
            }
            for condition in self.results.conditions
            for rho in condition.rhos
        ]

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        several = len(self.results.conditions) > 1
        return [
            (
                f"{_name(condition)}, ρ = {rho.rho:g}" if several else f"ρ = {rho.rho:g}",
                _say(rho),
            )
            for condition in self.results.conditions
            for rho in condition.rhos
        ]

    def remarks(self) -> list[str]:
        """Return the sentences of the answer: verdict, slope, the paper's rule, signature."""
        from ietest_fast.experiment.view.summary import answer_lines, say_condition

        return [
            line
            for each in self.results.conditions
            for line in (say_condition(each), *answer_lines(self.results, each))
        ]

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the accuracy on both versions of the test set against rho.

        Means over the M classifiers, with standard deviations.

        Parameters
        ----------
        ax
            A matplotlib ``Axes``; a new figure is made if not given.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = axes_or_new(ax, layout="constrained")
        several = len(self.results.conditions) > 1
        for number, condition in enumerate(self.results.conditions):
            for version, style in (("original", "o-"), ("transformed", "s--")):
                spreads = [getattr(rho, f"accuracy_{version}") for rho in condition.rhos]
                ax.errorbar(
                    [rho.rho for rho in condition.rhos],
                    [100 * spread.mean for spread in spreads],
                    yerr=[100 * (spread.sd or 0) for spread in spreads],
                    fmt=style,
                    color=f"C{number}" if several else None,
                    capsize=3,
                    label=escape_label(f"{_name(condition)}: {version}" if several else version),
                )
        ax.set_xlabel("ρ")
        ax.set_ylabel("accuracy (%)")
        ax.legend()
        return ax

    def __str__(self) -> str:
        from ietest_fast.experiment.view import print_summary
        from ietest_fast.report.terminal import make_console

        shown = io.StringIO()
        print_summary(self.results, make_console(shown, width=100))
        return shown.getvalue().rstrip("\n")

    def __repr__(self) -> str:
        return str(self)


def _name(condition: ConditionResult) -> str:
    size = "" if condition.train_size is None else f", {condition.train_size:,} rows"
    return f"{condition.model}, {condition.transformation}{size}"


def _say(rho: RhoResult) -> str:
    accuracies = (rho.accuracy_original, rho.accuracy_transformed)
    before, after = (percent(each.mean, 2) for each in accuracies)
    decision = "rejected" if rho.reject else "not rejected"
    return f"{before} → {after}, smallest {say_p(format_p(rho.p_min))}, {decision}"


def run(
    *,
    train: Any,
    valid: Any,
    test: Any,
    model: Any = "bow-xgb",
    phi: Any = None,
    eval_phi: Any = None,
    rho: float | str | Sequence[float] | None = None,
    mode: str | None = None,
    train_size: int | str | Sequence[int] | None = None,
    n_classifiers: int | None = None,
    out: str | Path | None = None,
    text_columns: str | Sequence[str] | None = None,
    label_column: str | None = None,
    label_names: Sequence[str] | None = None,
    clusters: str | None = None,
    data_name: str = "data",
    inputs: Inputs | None = None,
    input_column: str | None = None,
    model_options: dict[str, Any] | None = None,
    params: dict[str, Any] | None = None,
    search: int | str | None = None,
    search_per_resample: bool | None = None,
    n_voters: int | None = None,
    alpha: float | None = None,
    correction: str | None = None,
    margin: float | None = None,
    flip_margin: float | None = None,
    strata: Sequence[str] = (),
    method: str | None = None,
    n_resamples: int | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    n_threads: int | None = None,
    keep_models: bool | None = None,
    progress: Progress | None = None,
) -> IETestResult:
    """Run the Invariance-under-Equivalence test: rephrase, retrain, compare, decide.

    For each rho a share of the training and validation texts is rephrased, M times anew; a
    classifier is trained on each, and compared on the original and the rephrased test set.

    Parameters
    ----------
    train, valid, test
        Labelled texts, each a pandas or polars frame, an Arrow table, a ``datasets.Dataset``, a
        mapping of columns, a file, or a corpus.
    model
        The family of models, or a list of them: a name (``ietest-fast run --model`` lists them), an
        unfitted estimator or pipeline of scikit-learn over texts, or an object with the methods of
        :class:`ietest_fast.models.Model`. What is no name is trained in this process.
    phi
        How texts are rephrased: one transformation, or a list of them, each as for
        ``ie.transform``. None for ``"syn.careful"``.
    eval_phi
        Further transformations of the test set, one or a list as `phi`: the same classifiers are
        evaluated under each, and trained on none. ``results.evaluations`` has what they did.
    rho
        Probabilities that an observation is rephrased, such as ``[0, 0.5, 1]`` or ``"0:1:0.1"``.
    mode
        ``"replace"`` or ``"augment"``: whether rephrased texts stand in the place of their
        originals, or beside them.
    train_size
        Numbers of training rows, such as ``[1000, 5000]``: all is done with so many rows, drawn at
        random, for each number. None for all rows.
    n_classifiers
        M, the number of classifiers for each rho.
    out
        The run's folder. The same call goes on with a run that was interrupted, and reads one that
        is finished. None for a temporary folder, which is deleted with the result.
    text_columns, label_column, label_names
        As for :func:`ietest_fast.corpus.read_corpus`; found by their names where None.
    clusters
        A column of the test set whose equal values belong together; whole clusters are drawn.
    data_name
        What signatures call the data.
    inputs
        The form in which an estimator gets pairs of texts: see
        :func:`ietest_fast.models.as_classifier`.
    input_column
        The one column of texts that models see; None for all.
    model_options, params, search, search_per_resample, n_voters
        Of the models: see :class:`ietest_fast.experiment.RunConfig`. `params` of an estimator are
        set by ``set_params``.
    alpha, correction, margin, flip_margin, strata, method, n_resamples, seed, n_jobs, n_threads, \
keep_models
        See :class:`ietest_fast.experiment.RunConfig`, whose defaults hold where None.
    progress
        Told of stages; see :func:`ietest_fast.experiment.run.run`.

    Returns
    -------
    IETestResult

    Raises
    ------
    ConfigError
        If options are wrong; all mistakes are listed.
    InputError
        If data, models or transformations are not as they should be.
    """
    splits = _make_splits(
        {"train": train, "valid": valid, "test": test},
        text_columns=list_names(text_columns),
        label_column=label_column,
        label_names=label_names,
        keep_columns=list_file_columns((*strata, clusters)),
    )
    own = {
        "options": model_options,
        "params": params,
        "search": search,
        "search_per_resample": search_per_resample,
        "n_voters": n_voters,
        "input": input_column,
    }
    several = model if isinstance(model, list | tuple) else [model]
    config = check_config(
        _without_none(
            data=DataConfig.in_memory(name=data_name, cluster=clusters),
            model=[_configure(each, inputs, _without_none(**own)) for each in several],
            rho=_list_several(rho),
            mode=mode,
            train_size=_list_several(train_size),
            n_classifiers=n_classifiers,
            alpha=alpha,
            correction=correction,
            margin=margin,
            flip_margin=flip_margin,
            strata=list(strata) or None,
            method=method,
            n_resamples=n_resamples,
            seed=seed,
            n_jobs=n_jobs,
            n_threads=n_threads,
            keep_models=keep_models,
        )
    )
    texts = [
        corpus.texts(name)
        for corpus in (splits.train, splits.valid, splits.test)
        for name in corpus.text_columns
    ]
    phis, further = _list_settled(phi, texts), _list_settled(eval_phi, texts)
    folder = Path(tempfile.mkdtemp(prefix="ietest-fast-")) if out is None else Path(out)
    try:
        results = run_experiment(
            config,
            folder,
            splits=splits,
            transformation=phis,
            evaluations=further,
            progress=progress,
        )
    except BaseException:
        if out is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    made = IETestResult(results=results, folder=folder)
    if out is None:
        weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
    return made


def _list_several(values: Any) -> Any:
    """Return several values as a list, and one as it is."""
    several = isinstance(values, Sequence) and not isinstance(values, str)
    return list(values) if several else values


def _list_settled(phi: Any, texts: list[Any]) -> list[Any] | None:
    """List transformations; None stays.

    A run is known by what they do, and goes on in other processes, so functions are settled.
    """
    if phi is None:
        return None
    chosen = list(phi) if isinstance(phi, list | tuple) else [phi]
    for place, each in enumerate(chosen):
        if is_function(each) or (isinstance(each, Mapping) and not is_choice(each)):
            chosen[place] = settle(each, texts)
    return chosen


def _without_none(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _make_splits(
    tables: dict[str, Any],
    *,
    text_columns: Sequence[str] | None,
    label_column: str | None,
    label_names: Sequence[str] | None,
    keep_columns: Sequence[str],
) -> Splits:
    corpora: dict[str, Any] = {}
    for name, table in tables.items():
        found = as_labelled(
            table,
            text_columns=text_columns,
            label_column=label_column,
            label_names=label_names,
            keep_columns=keep_columns if name == "test" else (),
            like=corpora.get("train"),
            source=name,
        )
        corpora[name] = found.corpus
        # Columns mean the same in all of them.
        text_columns = text_columns or found.text_columns or None
    return Splits(**corpora)


def _configure(model: Any, inputs: Inputs | None, values: dict[str, Any]) -> Any:
    """Return what the configuration takes for a model: a table for a name, an object otherwise."""
    if isinstance(model, str):
        return {"name": model, **values}
    if "options" in values:
        raise InputError("model_options are for a model that is named; set up the object instead")
    if all(callable(getattr(model, name, None)) for name in _MODEL_METHODS):
        return ModelConfig.of(model, **values)
    if inspect.isclass(model) or not callable(getattr(model, "get_params", None)):
        raise InputError(
            f"{model!r} is no model to train: expected a name, an unfitted estimator of "
            "scikit-learn, or an object with the methods of ietest_fast.models.Model"
        )
    from ietest_fast.models.estimators import EstimatorModel

    return ModelConfig.of(EstimatorModel(model, inputs=inputs), **values)


# Consistency over the amount of data that classifiers have seen.


def consistency_curve(
    profiles: Any,
    *,
    amount_column: str | None = None,
    amounts_of: str | None = None,
    confidence_level: float | None = None,
    method: BootstrapMethod | None = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> ConsistencyCurves:
    """Show P_C over the amount of data that classifiers have seen.

    Each amount is compared with the one before, on the same items (Srikanth et al. 2024, section
    8).

    Parameters
    ----------
    profiles
        By amount, what ``ie.consistency`` returns of the classifier that has seen it, such as
        ``{"10M": small, "1B": large}``. Amounts are numbers above 0, or texts as for
        ``ietest-fast consistency --amounts``: with a unit (k, M, B, T), or all with %. With
        `amount_column`, a list of profiles. Otherwise a run, as ``ie.run`` returns it, or its
        folder: P_C over its numbers of training rows.
    amount_column
        A column of numbers in the predictions of profiles: how much data each has seen.
    amounts_of
        What the amounts are of, such as ``pretraining tokens``; None: the name of `amount_column`,
        or ``amount of data``.
    confidence_level, method
        Of the intervals of a run: as for ``ie.consistency``. Profiles have theirs.
    n_resamples, rng, n_threads
        Of intervals: as for ``ie.consistency``.

    Returns
    -------
    ConsistencyCurves
        Prints and draws itself; ``to_frame()`` has a row for each amount, ``curves`` the numbers.

    Raises
    ------
    InputError
        If a value is no profile, an amount is none, two are the same or there is only one, the
        profiles have intervals of different levels or are of other texts, an argument would be
        ignored, or no text of a run is rephrased.
    StoreError
        If the folder is no run, or what the run left is gone.
    """
    resampling: dict[str, Any] = {
        "n_resamples": DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples,
        "rng": rng,
        "n_threads": n_threads,
    }
    if isinstance(profiles, str | Path | IETestResult):
        refuse_given(
            "is for profiles; this is a run, with its training rows",
            amount_column=amount_column,
            amounts_of=amounts_of,
        )
        if isinstance(profiles, IETestResult):
            results = profiles.results
        else:
            results = read_results(Path(profiles))
        return ConsistencyCurves(
            curves=measure_run(
                results,
                names=name_models(results),
                method=method or "exact",
                confidence_level=0.95 if confidence_level is None else confidence_level,
                **resampling,
            )
        )
    refuse_given(
        "is for a run; the intervals of profiles are known",
        confidence_level=confidence_level,
        method=method,
    )
    named, amounts = _find_amounts(profiles, amount_column, amounts_of)
    for one, other in combinations(named, 2):
        check_same_texts(one, other)
    check_curve(amounts)
    levels = {each.result.confidence_level for each in named}
    if len(levels) > 1:
        said = " and ".join(f"{100 * level:g}%" for level in sorted(levels))
        raise InputError(f"profiles have intervals of {said}; measure all with the same level")
    return ConsistencyCurves(
        curves=curves_of_profiles([amounts], named, confidence_level=levels.pop(), **resampling)
    )


def _find_amounts(
    profiles: Any, column: str | None, of: str | None
) -> tuple[tuple[ConsistencyProfile, ...], Amounts]:
    """Return profiles that are all named differently, and their amounts."""
    in_percent = False
    if isinstance(profiles, Mapping):
        if column is not None:
            raise InputError(
                "amount_column is for a list of profiles; the keys of a mapping are the amounts"
            )
        given = [_check(each, f"profiles[{key!r}]") for key, each in profiles.items()]
        values, in_percent = _parse_keys(profiles)
    elif isinstance(profiles, Sequence):
        if column is None:
            raise InputError(
                "a list of profiles needs amount_column; or pass a mapping, such as "
                "{'10M': small, '1B': large}"
            )
        given = [_check(each, f"profiles[{place}]") for place, each in enumerate(profiles)]
        values = [read_amount(each.predictions, column, each.name) for each in given]
    else:
        raise InputError(
            "profiles must be a mapping from amounts to profiles, a list of profiles, or a run, "
            f"not {type(profiles).__name__!r}"
        )
    names = number_names(
        each.name if each.group else format_amount(value, in_percent=in_percent)
        for each, value in zip(given, values, strict=True)
    )
    named = tuple(
        replace(each, group={"model": name}) for each, name in zip(given, names, strict=True)
    )
    by_model = dict(zip(names, values, strict=True))
    return named, Amounts(of=of or column or AMOUNT, by_model=by_model, in_percent=in_percent)


def _check(profile: Any, name: str) -> ConsistencyProfile:
    if not isinstance(profile, ConsistencyProfile):
        raise InputError(
            f"{name} must be what ie.consistency returns, not {type(profile).__name__!r}"
        )
    return profile


def _parse_keys(profiles: Mapping[Any, Any]) -> tuple[list[float], bool]:
    """Return amounts that are numbers, or texts with units."""
    texts = [key for key in profiles if isinstance(key, str)]
    try:
        parsed = parse_amounts(texts)
    except InputError as error:
        raise InputError(f"profiles: {error}") from error
    if parsed.in_percent and len(texts) < len(profiles):
        raise InputError("profiles mixes percentages and other numbers; write all with %, or none")
    by_key: dict[Any, float] = dict(zip(texts, parsed.values, strict=True))
    for key in profiles:
        if isinstance(key, str):
            continue
        is_number = isinstance(key, int | float) or hasattr(key, "__float__")
        if not is_number or isinstance(key, bool) or not 0 < float(key) < math.inf:
            raise InputError(f"profiles: {key!r} is no amount; numbers above 0 are, or '10M'")
        by_key[key] = float(key)
    return [by_key[key] for key in profiles], parsed.in_percent
