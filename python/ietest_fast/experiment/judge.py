"""Tests of a run's cells, and decisions over them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from ietest_fast.experiment.cells import match
from ietest_fast.experiment.identity import TrainingDraw, bootstrap_seed, identify
from ietest_fast.experiment.schema import (
    AcrossTransformations,
    AlgorithmRecord,
    CellResult,
    ChurnRecord,
    ClaimsRecord,
    CochranRecord,
    ConditionResult,
    ModelSettings,
    RewordedRecord,
    RhoResult,
    RunSettings,
    Sensitivity,
    find_detectable,
)
from ietest_fast.models.protocol import ORIGINAL
from ietest_fast.stats import (
    InvarianceTestResult,
    MatchedSample,
    algorithm_test,
    cochran_q_test,
    combine,
    equivalence_test,
    excess_churn_test,
    hold_together,
    is_collapsed,
    judge_pairs,
    paired_test,
    stratified_test,
)
from ietest_fast.stats.algorithm.claims import (
    AlgorithmClaims,
    hold_claims_together,
    judge_algorithm,
)
from ietest_fast.stats.clustered import clustered_test
from ietest_fast.stats.multiple import JOINT_CORRECTIONS
from ietest_fast.stats.paired import clean_field, write_signature
from ietest_fast.stats.strata import EDITS, LABEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.experiment.cells import CellRecord
    from ietest_fast.experiment.data import PlannedPhi, TransformedSplits
    from ietest_fast.experiment.encoded import FurtherTest
    from ietest_fast.experiment.plan import Plan, PlannedModel
    from ietest_fast.experiment.store import RunStore
    from ietest_fast.experiment.work import Work


Claims = AlgorithmClaims | InvarianceTestResult | None
"""What is shown of a condition, before its transformations share alpha."""


# One line that says how a result came about.


class Named(Protocol):
    """What has a name and a fingerprint, such as a transformation."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hexadecimal digest."""
        ...


def sign(
    settings: RunSettings,
    model: ModelSettings,
    phi: Named,
    cells: Sequence[CellResult],
    *,
    data: str,
    trained: Named | None = None,
    train_size: int | None = None,
) -> str:
    """Write the signature of a result.

    Parameters
    ----------
    settings, model
        Those of the run, and of the model that was tested. Fingerprints are cut to four digits.
    phi
        The transformation of the test set.
    cells
        The tests that the result rests on; the line has the range of their discordant pairs.
    data
        Name of the data.
    trained
        The transformation of the training data, where the test set has another one.
    train_size
        Number of training rows; None for all.

    Returns
    -------
    str
        Such as ``ie|n:9824|k:593|S:exact|stat:t|alt:two|mc:bonf|M:5|...``. A joint correction
        stands behind its S: ``mc:10000.maxt``. Thread counts have no place in it, for they change
        nothing.
    """
    discordant = sorted({cell.counts.k for cell in cells})
    method, n_resamples, correction = settings.method, settings.n_resamples, settings.correction
    short = "bonf" if correction == "bonferroni" else correction
    own = model.to_dict()
    if own["n_threads"] is None:
        del own["n_threads"]
    return write_signature(
        "ie",
        n=cells[0].n,
        k="-".join(map(str, dict.fromkeys((discordant[0], discordant[-1])))),
        clusters=cells[0].n_clusters,
        S=method if method == "exact" else f"{n_resamples}.{method}",
        stat="t",
        alt="two",
        mc=f"{n_resamples}.{correction}" if correction in JOINT_CORRECTIONS else short,
        M=settings.n_classifiers,
        alpha=f"{settings.alpha:g}",
        phi=_named(phi.name, phi.fingerprint),
        trained=None if trained is None else _named(trained.name, trained.fingerprint),
        mode=None if settings.mode == "replace" else settings.mode,
        train=train_size,
        rho=",".join(f"{rho:g}" for rho in dict.fromkeys(cell.rho for cell in cells)),
        data=_named(data, identify(settings.data.fingerprints)),
        model=_named(model.name, identify(own)),
        be=model.backend.split()[0],
        seed=settings.seed,
    )


def _named(name: str, fingerprint: str) -> str:
    return f"{clean_field(name)}@{fingerprint[:4]}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Trained:
    """The classifiers of a condition, by what they are and what they were trained on."""

    model: PlannedModel
    phi: PlannedPhi
    """The transformation of the training data."""
    size: int | None
    """Number of training rows; None for all."""


class Judge:
    """Tests cells, and decides over them."""

    def __init__(self, plan: Plan, work: Work, store: RunStore) -> None:
        self.settings = RunSettings.of_settings(plan.settings)
        """What the run was asked for."""
        self.plan = plan
        self.work = work
        self.store = store
        self._config = plan.config

    def list_trained(self) -> list[Trained]:
        """Return the classifiers of every condition, in order."""
        axes = self.plan.models, self.plan.transformations, self._config.train_sizes
        return [
            Trained(model=model, phi=phi, size=size)
            for model, phi, size in itertools.product(*axes)
        ]

    def judge_all(self) -> list[ConditionResult]:
        """Test every condition; transformations of a model share alpha in what is claimed."""
        trained = self.list_trained()
        made, claims = zip(*map(self._judge, trained), strict=True)
        found: dict[int, ClaimsRecord | None] = dict.fromkeys(range(len(made)))
        keys = [(own.model.key, own.size) for own in trained]
        for key in dict.fromkeys(keys):
            found |= self._hold({i: claims[i] for i, own in enumerate(keys) if own == key})
        return [each.model_copy(update={"claims": found[place]}) for place, each in enumerate(made)]

    def _judge(self, own: Trained) -> tuple[ConditionResult, Claims]:
        """Test classifiers under the transformation that they were trained on, at every rho."""
        matched = {
            rho: [
                (record, match(self.store.read_cell(record), own.phi.key))
                for record in self.records(own, rho)
            ]
            for rho in self._config.rho
        }
        rhos = [self.judge_rho(own, own.phi, rho, found) for rho, found in matched.items()]
        cells = [cell for rho in rhos for cell in rho.cells]
        judged = ConditionResult.of(
            rhos,
            model=own.model.key,
            transformation=own.phi.key,
            train_size=own.size,
            signature=self.sign(own, own.phi, cells),
            p_adjusted=self._adjust_over_rho(
                [[table for _, table in found] for found in matched.values()]
            ),
        )
        return judged, self._claim(matched, rhos)

    def _claim(
        self,
        matched: Mapping[float, Sequence[tuple[CellRecord, pa.Table]]],
        rhos: Sequence[RhoResult],
    ) -> Claims:
        """Judge what is shown at the smallest rho; None if fewer than two texts were reworded.

        Trainings that all give the same answers are one classifier.
        """
        config, rho = self._config, min(matched)
        record, first = matched[rho][0]
        rows = np.flatnonzero(first["changed"].to_numpy())
        clusters = None if self.plan.clusters is None else self.plan.clusters[rows]
        if rows.size < 2 or (clusters is not None and np.unique(clusters).size < 2):
            return None

        def stack(rho: float, name: str) -> NDArray[Any]:
            return np.stack([table[name].to_numpy()[rows] for _, table in matched[rho]], axis=1)

        answers = {each: (stack(each, "original"), stack(each, "transformed")) for each in matched}
        cells = next(each for each in rhos if each.rho == rho).cells
        if len(np.unique(np.concatenate(answers[rho]), axis=1).T) > 1:
            found = judge_algorithm(
                answers,
                first["gold"].to_numpy()[rows],
                names=self.plan.splits.test.label_names,
                clusters=clusters,
                margin=config.margin,
                flip_margin=config.flip_margin,
                alpha=config.alpha,
            )
            # Few reworded texts may not tell a classifier from guessing that all texts do.
            return replace(found, collapsed=all(cell.collapsed for cell in cells))
        seed = bootstrap_seed(config.seed, rho=record.rho, m=record.m)
        decided = {"p_difference": cells[0].p_value, "collapsed": cells[0].collapsed}
        return self._judge_pairs(first, seed, **decided)[0]

    def _hold(self, claims: Mapping[int, Claims]) -> dict[int, ClaimsRecord | None]:
        """Share alpha between the transformations of a model."""
        several = {i: own for i, own in claims.items() if isinstance(own, AlgorithmClaims)}
        single = {i: own for i, own in claims.items() if isinstance(own, InvarianceTestResult)}
        found: dict[int, ClaimsRecord | None] = {}
        if several:
            held = hold_claims_together(list(several.values()))
            found |= dict(zip(several, map(ClaimsRecord.of_algorithm, held), strict=True))
        if single:
            rho = min(self._config.rho)
            for place, own in zip(single, hold_together(list(single.values())), strict=True):
                found[place] = ClaimsRecord.of_classifier(own, rho=rho)
        return found

    def judge_across(
        self, conditions: Sequence[ConditionResult]
    ) -> Iterator[AcrossTransformations]:
        """Correct over the transformations, for each model, number of training rows and rho."""
        for model, size in itertools.product(self.plan.models, self._config.train_sizes):
            own = [
                each for each in conditions if each.model == model.key and each.train_size == size
            ]
            for rho in self._config.rho:
                cochran = self._test_versions(model, size) if rho == 0 else []
                yield AcrossTransformations.of(own, rho=rho, cochran=cochran)

    def judge_rho(
        self,
        own: Trained,
        phi: PlannedPhi,
        rho: float,
        matched: Sequence[tuple[CellRecord, pa.Table]],
    ) -> RhoResult:
        """Test the classifiers of one rho on the test set under a transformation."""
        config = self._config
        cells = [self._test_cell(record, table, phi) for record, table in matched]
        tables = [table for _, table in matched]
        found: dict[str, Any] = {}
        if self.plan.clusters is None:
            found = {
                "sensitivity": Sensitivity.of(cells, margin=config.margin, alpha=config.alpha),
                "detectable_difference": find_detectable(cells, alpha=config.alpha),
            }
        return RhoResult.from_cells(
            cells,
            alpha=config.alpha,
            correction=config.correction,
            p_adjusted=self._adjust_jointly(tables, rho),
            **found,
            **self._test_algorithm(tables, rho),
            signature=self.sign(own, phi, cells),
        )

    def records(self, own: Trained, rho: float) -> list[CellRecord]:
        """Return the cells of one rho, by m."""
        return [
            self.work.cells[
                own.model.key, TrainingDraw.of(own.phi.key, rho=rho, m=m, train_size=own.size)
            ]
            for m in range(self._config.n_classifiers)
        ]

    def _test_cell(self, record: CellRecord, matched: pa.Table, phi: PlannedPhi) -> CellResult:
        config, clusters = self._config, self.plan.clusters
        # Beside clusters this test is for comparison alone, and its exact law costs nothing.
        method = config.used_method if clusters is None else "exact"
        sample = _sample(matched)
        seed = bootstrap_seed(config.seed, rho=record.rho, m=record.m)
        clustered = None
        if clusters is not None:
            clustered = clustered_test(
                sample.original_correct,
                sample.transformed_correct,
                clusters,
                method="resample",
                n_resamples=cast("int", config.used_resamples),
                rng=seed,
                n_threads=config.n_threads,
            )
        return CellResult.of(
            rho=record.rho,
            m=record.m,
            identity=record.identity,
            test=paired_test(
                sample,
                method=method,
                n_resamples=None if method == "exact" else config.used_resamples,
                rng=seed,
                n_threads=config.n_threads,
            ),
            clustered=clustered,
            equivalence=equivalence_test(
                sample, clusters=clusters, margin=config.margin, alpha=config.alpha
            ),
            reworded=self._judge_reworded(matched, phi, seed),
            collapsed=is_collapsed(matched["original"].to_numpy(), matched["gold"].to_numpy()),
            **{name: value for name, value in record.metrics.items() if name != "train_size"},
        )

    def _judge_reworded(
        self, matched: pa.Table, phi: PlannedPhi, seed: int
    ) -> RewordedRecord | None:
        """Judge a classifier on the texts that were reworded."""
        # Whether accuracy differs is decided for all classifiers and rho together.
        found, answers, given = self._judge_pairs(matched, seed, p_difference=1.0)
        strata = (
            stratified_test(*answers, self._strata_of(name, phi), name=name, **given)
            for name in self._config.strata
            if name != LABEL  # which is tested in any case
        )
        return RewordedRecord.of(found, strata)

    def _judge_pairs(
        self, matched: pa.Table, seed: int, **decided: Any
    ) -> tuple[InvarianceTestResult, tuple[NDArray[Any], NDArray[Any]], dict[str, Any]]:
        """Judge a classifier; also return its answers, and what its tests were given."""
        config = self._config
        answers = matched["original"].to_numpy(), matched["transformed"].to_numpy()
        given: dict[str, Any] = {
            "gold": matched["gold"].to_numpy(),
            "reworded": matched["changed"].to_numpy(),
            "clusters": self.plan.clusters,
            "margin": config.margin,
            "flip_margin": config.flip_margin,
            "alpha": config.alpha,
            "n_resamples": config.used_resamples,
            "rng": seed,
            "n_threads": config.n_threads,
        }
        labels = np.asarray(self.plan.splits.test.label_names)[given["gold"]]
        found = judge_pairs(_sample(matched), answers=answers, labels=labels, **decided, **given)
        return found, answers, given

    def _strata_of(self, name: str, phi: PlannedPhi) -> Any:
        """Return the values of a column that was asked for, in the test rows."""
        return self._texts(phi).n_edits if name == EDITS else self.plan.strata.get(name)

    def _test_algorithm(self, matched: Sequence[pa.Table], rho: float) -> dict[str, Any]:
        """Test churn and accuracy of what all trainings at one rho share, on the reworded texts."""
        config = self._config
        rows = np.flatnonzero(matched[0]["changed"].to_numpy())
        clusters = None if self.plan.clusters is None else self.plan.clusters[rows]
        if len(matched) < 2 or rows.size < 2:
            return {}
        if clusters is not None and np.unique(clusters).size < 2:
            return {}

        def columns(name: str) -> NDArray[Any]:
            return np.stack([table[name].to_numpy()[rows] for table in matched], axis=1)

        churn = excess_churn_test(
            columns("original"),
            columns("transformed"),
            clusters=clusters,
            rng=bootstrap_seed(config.seed, rho=rho, m=len(matched)),
            n_threads=config.n_threads,
        )
        accuracy = algorithm_test(
            columns("original_correct"),
            columns("transformed_correct"),
            clusters=clusters,
            margin=config.margin,
            alpha=config.alpha,
        )
        return {"churn": ChurnRecord.of(churn), "algorithm": AlgorithmRecord.of(accuracy)}

    def _adjust_jointly(self, matched: Sequence[pa.Table], rho: float) -> list[float] | None:
        """Adjust p-values by drawing the same rows for all classifiers, if that is asked for."""
        if self._config.correction not in JOINT_CORRECTIONS:
            return None
        seed = bootstrap_seed(self._config.seed, rho=rho, m=len(matched))
        return self._combine(matched, seed)

    def _adjust_over_rho(self, matched: Sequence[Sequence[pa.Table]]) -> list[float] | None:
        """Adjust over all classifiers of all rho in the same way: the smallest p of each rho."""
        if self._config.correction not in JOINT_CORRECTIONS or len(matched) == 1:
            return None
        every = [table for own in matched for table in own]
        # No single rho has this address.
        seed = bootstrap_seed(self._config.seed, rho=0.0, m=len(every) + len(matched))
        adjusted = iter(self._combine(every, seed))
        return [min(next(adjusted) for _ in own) for own in matched]

    def _combine(self, matched: Sequence[pa.Table], seed: int) -> list[float]:
        config = self._config
        return list(
            combine(
                [_sample(table) for table in matched],
                correction=config.correction,
                alpha=config.alpha,
                clusters=self.plan.clusters,
                n_resamples=config.used_resamples,
                rng=seed,
                n_threads=config.n_threads,
            ).p_adjusted
        )

    def _test_versions(self, model: PlannedModel, train_size: int | None) -> list[CochranRecord]:
        """Test every classifier of rho = 0 over all versions: it has answered them all."""
        config, phis = self._config, self.plan.transformations
        if self.plan.clusters is not None:
            return []
        found = []
        for record in self.records(Trained(model=model, phi=phis[0], size=train_size), 0.0):
            predictions = self.store.read_cell(record)
            tables = [match(predictions, phi.key) for phi in phis]
            columns = {
                ORIGINAL: tables[0]["original_correct"].to_numpy(),
                **{
                    phi.key: table["transformed_correct"].to_numpy()
                    for phi, table in zip(phis, tables, strict=True)
                },
            }
            result = cochran_q_test(
                columns,
                n_resamples=config.n_resamples,
                rng=bootstrap_seed(config.seed, rho=0.0, m=record.m),
                n_threads=config.n_threads,
            )
            found.append(CochranRecord.from_result(result, m=record.m))
        return found

    def sign(self, own: Trained, phi: PlannedPhi, cells: Sequence[CellResult]) -> str:
        """Sign the tests of some cells on the test set under a transformation."""
        return sign(
            self.settings,
            ModelSettings.of_settings(own.model.settings),
            self._texts(phi),
            cells,
            data=self._config.data_name,
            trained=None if phi is own.phi else self._texts(own.phi),
            train_size=own.size,
        )

    def _texts(self, phi: PlannedPhi) -> TransformedSplits | FurtherTest:
        found: TransformedSplits | FurtherTest | None = self.work.texts.get(phi.key)
        return self.work.further[phi.key] if found is None else found


def _sample(matched: pa.Table) -> MatchedSample:
    return MatchedSample(
        original_correct=matched["original_correct"].to_numpy(),
        transformed_correct=matched["transformed_correct"].to_numpy(),
    )
