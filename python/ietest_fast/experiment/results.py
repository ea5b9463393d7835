"""``results.json``: written by a run, and read by whoever does not trust it.

Whether it agrees with itself is checked: the functions that made the numbers make them again, of
what the file says they were made of. What was drawn (Monte Carlo) is not drawn again, and what
hangs on the answers of single texts, which the file does not hold, is held to what bounds it.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from pydantic import ValidationError

from ietest_fast.atomic import write_text
from ietest_fast.corpus.dataset import DataGeneratingProcess
from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment.artefacts import reading
from ietest_fast.experiment.earlier import EARLIER, find_items, renew
from ietest_fast.experiment.identity import bootstrap_seed, canonical_json
from ietest_fast.experiment.judge import sign
from ietest_fast.experiment.schema import (
    RESULTS_FORMAT,
    AlgorithmRecord,
    EquivalenceRecord,
    PairedRecord,
    RunResult,
    Sensitivity,
    adjust,
    correct_over_evaluations,
    correct_over_rho,
    find_detectable,
)
from ietest_fast.experiment.schema.cells import COUNTS
from ietest_fast.files import parse_json, read_bytes
from ietest_fast.numerals import has_shares
from ietest_fast.stats import (
    PairedCounts,
    Verdict,
    equivalence_test,
    flip_test,
    invariance,
    paired_test,
)
from ietest_fast.stats.algorithm.churn import DEFAULT_CHURN_RESAMPLES
from ietest_fast.stats.algorithm.claims import SHARES
from ietest_fast.stats.algorithm.crossed import algorithm_of_counts
from ietest_fast.stats.laws.integer import DEFAULT_TABLES
from ietest_fast.stats.multiple import JOINT_CORRECTIONS, share_alpha
from ietest_fast.stats.robustness import chance_limit
from ietest_fast.stats.strata import LABEL, paired_p
from ietest_fast.stats.symmetry import compare_strata
from ietest_fast.transform.edits import NORMALISING_RULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.corpus.dataset import Split
    from ietest_fast.experiment.schema import (
        CellResult,
        ClaimsRecord,
        ClusteredRecord,
        ConditionResult,
        EvaluatedRho,
        FurtherResult,
        FurtherTransformation,
        ModelRecord,
        RewordedRecord,
        RhoResult,
        SearchRecord,
        StrataRecord,
        TransformationRecord,
    )
    from ietest_fast.experiment.schema.cells import Record, StratumRecord
    from ietest_fast.experiment.schema.conditions import CochranRecord
    from ietest_fast.stats import EquivalenceResult, Interval

RESULTS = "results.json"

MOST_BYTES = 1 << 29
"""A file beyond it is nothing that a run has written."""


def write_results(result: RunResult, folder: Path) -> RunResult:
    """Write ``results.json`` into the run's folder and return the results that know their
    folder.
    """
    text = json.dumps(result.to_dict(), indent=1, allow_nan=False)
    write_text(folder / RESULTS, text + "\n")
    return result.located(folder)


def read_results(folder: str | Path) -> RunResult:
    """Read and check a run's ``results.json``.

    The file is input like any other: types, ranges, and that every number that follows from others
    does, p-values of the exact law included.
    """
    folder = Path(folder)
    path = folder / RESULTS
    if not path.exists():
        begun = (folder / "run.sqlite").is_file()
        raise InputError(
            "its run has not ended yet; give its command again" if begun else "is no run's folder",
            path=folder,
        )
    with reading(path):
        text = read_bytes(path, most_bytes=MOST_BYTES)
        written = parse_json(text, path)
        found = written.get("format") if isinstance(written, dict) else None
        if found == EARLIER:
            written = renew(written)
            text = json.dumps(written, allow_nan=False).encode()
        elif found != RESULTS_FORMAT:
            is_of = "says no format" if found is None else f"is of format {shorten(found)}"
            raise StoreError(
                f"{path}: {is_of}, this version reads {RESULTS_FORMAT}; "
                "give the run's command again, which trains nothing anew"
            )
        return check_results(text, written).located(folder)


def check_results(text: bytes, written: Any) -> RunResult:
    """Make results of the bytes of a file, and of what JSON says that they hold."""
    try:
        result = RunResult.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None
    needed = result.model_dump(mode="json", exclude_defaults=True)
    compare(written, result.to_dict(), needed, "")
    check_coherence(result)
    return result


# What follows from other numbers.

_LARGEST = 1e300

_SAME = 1e-6
"""Relative difference that other processors and libraries may make."""

_ROUNDING = 1e-9
"""Absolute difference that rounding may make where numbers around 1 cancel out."""


_SHARES_OF_ONE = {"change": invariance.SHARES["difference"], **invariance.SHARES}
"""How alpha is shared between the claims on one classifier."""

_FEW_COINS = 40
"""Of more, the least probability is beyond the digits of a law."""


def check_coherence(result: RunResult) -> None:
    """Find the first number that does not follow from the rest of some results."""
    _Coherence(result).check()


@dataclass(frozen=True, kw_only=True)
class _Tested:
    """What the tests of a condition, or of an evaluation, are tests of."""

    condition: ConditionResult
    model: ModelRecord
    """What was trained."""
    phi: TransformationRecord | FurtherTransformation
    """The transformation of the test set."""
    trained: TransformationRecord | None
    """That of the training data, where it is another one."""
    n_changed: int
    """Test rows that `phi` changed."""
    labels: Mapping[str, int]
    """Test rows by label."""

    @classmethod
    def of(
        cls,
        result: RunResult,
        condition: ConditionResult,
        *,
        further: FurtherTransformation | None = None,
    ) -> Self:
        own = result.transformation_of(condition)
        return cls(
            condition=condition,
            model=result.model_of(condition),
            phi=own if further is None else further,
            trained=None if further is None else own,
            n_changed=own.changed.test if further is None else further.changed,
            labels=result.data.test.labels if further is None else further.labels,
        )


class _Coherence:
    """Checks one file; `result` is what it says."""

    def __init__(self, result: RunResult) -> None:
        self._result = result
        self._settings = result.settings
        self._process = DataGeneratingProcess(seed=result.settings.seed)
        self._uniforms = functools.lru_cache(maxsize=64)(self._process.uniforms)

    def check(self) -> None:
        result = self._result
        self._check_data()
        _check_searches(result)
        _check_software(result)
        for c, condition in enumerate(result.conditions):
            place = f"conditions.{c}"
            same = len({cell.n for cell in condition.cells}) == 1
            need(same, place, "its counts are not of equally many observations")
            own = _Tested.of(result, condition)
            self._check_rho_values(condition, place)
            for r, rho in enumerate(condition.rhos):
                where = f"{place}.rhos.{r}"
                self._check_rho(rho, where, own)
                self._check_signature(rho.signature, [rho], where, own)
            again = correct_over_rho(condition.rhos).to_dict()
            if self._is_joint and len(condition.rhos) > 1:  # all were drawn at once
                again = {name: value for name, value in again.items() if name in _NOT_JOINT}
            hold(condition.over_rho, again, f"{place}.over_rho")
            self._check_signature(condition.signature, condition.rhos, place, own)
            if condition.claims is not None:
                self._check_claims(condition.claims, condition, f"{place}.claims")
        _check_levels(result)
        self._check_across()
        self._check_evaluations()

    @property
    def _is_joint(self) -> bool:
        return self._settings.correction in JOINT_CORRECTIONS

    def _check_data(self) -> None:
        data = self._result.data
        for name in ("train", "valid", "test"):
            split, place = getattr(data, name), f"data.{name}"
            same = tuple(split.labels) == data.label_names
            need(same, f"{place}.labels", "are not those of label_names")
            total = sum(split.labels.values())
            need(split.rows == total, f"{place}.rows", f"is not the sum of labels, {total}")
            for number, size in enumerate(self._settings.train_size if name == "train" else ()):
                fits = size <= split.rows
                need(fits, f"settings.train_size.{number}", "is more than there are training rows")
            for p, phi in enumerate(self._result.transformations):
                fits = getattr(phi.changed, name) <= split.rows
                need(fits, f"transformations.{p}.changed.{name}", f"is more than {split.rows} rows")
        for p, phi in enumerate(self._result.transformations):
            n_edits = sum(phi.test_edits.values()) - phi.test_edits.get(NORMALISING_RULE, 0)
            fits = 1 <= phi.n_test_reworded <= min(data.test.rows, n_edits)
            place = f"transformations.{p}.n_test_reworded"
            need(fits, place, f"is not of {data.test.rows} rows with {n_edits} edits")
            unedited = phi.changed.test - phi.n_test_reworded
            fits = unedited <= phi.test_edits.get(NORMALISING_RULE, 0)
            need(fits, place, f"is fewer than the {phi.changed.test} rows that changed by edits")
        for e, own in enumerate(self._result.evaluated):
            total = sum(own.labels.values())
            place = f"evaluated.{e}"
            need(own.rows == total, f"{place}.rows", f"is not the sum of labels, {total}")
            need(own.changed <= own.rows, f"{place}.changed", f"is more than {own.rows} rows")
            fits = not own.keeps_labels or own.labels == data.test.labels
            need(fits, f"{place}.labels", "are not those of the test set, which are kept")

    def _check_rho_values(self, own: ConditionResult | FurtherResult, place: str) -> None:
        found = tuple(rho.rho for rho in own.rhos)
        same = found == self._settings.rho
        need(same, "settings.rho", f"is not what {place} says, {shorten(list(found))}")

    def _check_rho(self, rho: RhoResult, place: str, own: _Tested) -> None:
        settings, cells, labels = self._settings, rho.cells, own.labels
        need(rho.alpha == settings.alpha, place, "alpha is not that of the settings")
        need(rho.correction == settings.correction, place, "correction is not the settings'")
        same = len(cells) == settings.n_classifiers
        need(same, "settings.n_classifiers", f"is not what {place} has, {len(cells)}")
        if not rho.is_joint:
            expected = adjust([cell.p_value for cell in cells], rho.correction)
            same = all(map(are_close, rho.p_adjusted, expected))
            need(same, place, "p_adjusted does not follow from the p-values")
        else:
            self._check_drawn(rho.p_adjusted, f"{place}.p_adjusted", settings.n_resamples)
        again: dict[str, Any] = dict.fromkeys(("sensitivity", "detectable_difference"))
        if settings.data.cluster is None:
            sensitivity = Sensitivity.of(cells, margin=settings.margin, alpha=settings.alpha)
            again["sensitivity"] = None if sensitivity is None else sensitivity.to_dict()
            again["detectable_difference"] = find_detectable(cells, alpha=settings.alpha)
        hold(rho, again, place)
        limit = _chance_limit(tuple(labels.values()))
        for c, cell in enumerate(cells):
            where = f"{place}.cells.{c}"
            same = cell.n == sum(labels.values())
            need(same, where, f"its counts are not of {sum(labels.values())} rows")
            self._check_cell(cell, where, own.condition.train_size)
            hold(cell, {"collapsed": cell.accuracy_original <= limit}, where)
            if cell.reworded is not None:
                n, most = cell.reworded.n, own.n_changed
                fits = n <= most and (own.model.settings.input is not None or n == most)
                need(fits, f"{where}.reworded", f"is not of the {most} texts that changed")
                self._check_reworded(cell.reworded, cell, f"{where}.reworded")
        self._check_together(rho, place)

    def _check_cell(self, cell: CellResult, place: str, train_size: int | None) -> None:
        settings, data = self._settings, self._result.data
        need(cell.identity is not None, place, "identity is missing")
        splits: tuple[Split, ...] = ("train", "valid")
        for split in splits:
            n = self._count_transformed(split, cell.rho, cell.m, train_size)
            hold(cell, {f"{split}_transformed": n}, place)
        rows = data.valid.rows
        if settings.mode == "augment":
            rows += cell.valid_transformed or 0
        _need_share(cell.valid_accuracy, rows, f"{place}.valid_accuracy")
        clusters = cell.clustered
        need(
            (clusters is None) == (settings.data.cluster is None), place, "clustered is not as set"
        )
        self._check_test(cell, f"{place}.test")
        if clusters is not None:
            self._check_clustered(clusters, cell, f"{place}.clustered")
        self._check_equivalence(cell.equivalence, cell.counts, f"{place}.equivalence")

    def _count_transformed(self, split: Split, rho: float, m: int, size: int | None) -> int:
        n: int = getattr(self._result.data, split).rows
        if rho in {0, 1}:  # none or all, whatever is drawn
            return int(rho) * (n if size is None or split == "valid" else size)
        mask: NDArray[np.bool_] = self._uniforms(split, m, n) < rho
        if split == "train" and size is not None:
            mask = mask[self._process.subset(n, size)]
        return int(mask.sum())

    def _check_test(self, cell: CellResult, place: str) -> None:
        settings = self._settings
        again = PairedRecord.from_result(paired_test(cell.counts)).to_dict()
        method = "exact" if cell.clustered is not None else settings.method
        if method != "exact":
            again |= {"method": method, "n_resamples": settings.n_resamples}
            again["seed"] = self._seed(cell.rho, cell.m)
            for name in ("p_value", "p_paper", "p_symmetric"):
                del again[name]
            own = (cell.test.p_value, cell.test.p_symmetric)
            self._check_drawn(own, f"{place}.p_value", settings.n_resamples)
        hold(cell.test, again, place, least=1e-300)

    def _check_clustered(self, own: ClusteredRecord, cell: CellResult, place: str) -> None:
        settings, k = self._settings, cell.counts.k
        drawing = {"n_resamples": settings.n_resamples, "seed": self._seed(cell.rho, cell.m)}
        hold(own, drawing, place)
        fits = own.n_clusters <= cell.n and own.n_nonzero <= min(own.n_clusters, k)
        need(fits, f"{place}.n_nonzero", "is more than there are clusters, or discordant pairs")
        need(own.t * cell.delta >= 0, f"{place}.t", "has another sign than delta")
        need((own.t == 0) == (cell.delta == 0), f"{place}.t", "is 0 where delta is not, or not")
        self._check_drawn((own.p_value, own.p_symmetric), f"{place}.p_value", own.n_resamples)

    def _check_drawn(self, p_values: Iterable[float], place: str, n: int | None) -> None:
        """Hold p-values to the least that so many replicates can give."""
        fits = n is not None and all(p >= (1 - _SAME) / (n + 1) for p in p_values)
        need(fits, place, f"is less than {n} resamples can show")

    def _seed(self, rho: float, m: int) -> int:
        return bootstrap_seed(self._settings.seed, rho=rho, m=m)

    def _check_equivalence(self, own: EquivalenceRecord, counts: PairedCounts, place: str) -> None:
        settings = self._settings
        need(own.margin == settings.margin, place, "margin is not the settings'")
        need(own.alpha == settings.alpha, place, "alpha is not the settings'")
        again = _test_equivalence(counts, settings.margin, settings.alpha)
        if settings.data.cluster is None:
            hold(own, EquivalenceRecord.from_result(again).to_dict(), place)
            return
        low, high = own.interval
        fits = low <= again.interval.low + _ROUNDING and high >= again.interval.high - _ROUNDING
        need(fits, f"{place}.interval", "is narrower than that of independent observations")

    def _check_reworded(self, own: RewordedRecord, cell: CellResult, place: str) -> None:
        """Hold what is said of the reworded texts against the settings and the counts."""
        settings, flips = self._settings, own.flips
        fits = all(getattr(own, name) <= getattr(cell, name) for name in COUNTS)
        need(fits, place, "there are more reworded texts than texts")
        self._check_equivalence(own.equivalence, own.counts, f"{place}.equivalence")
        need(flips.margin == settings.flip_margin, f"{place}.flips", "margin is not the settings'")
        need(flips.alpha == settings.alpha, f"{place}.flips", "alpha is not the settings'")
        again = {"right_to_wrong": own.n10, "wrong_to_right": own.n01}
        if settings.data.cluster is None:
            found = flip_test(
                PairedCounts(flips.n - flips.n_flipped, flips.n_flipped, 0, 0),
                margin=flips.margin,
                alpha=flips.alpha,
            )
            again |= {
                name: getattr(found, name) for name in ("n", "interval", "p_below", "p_above")
            }
        hold(flips, again, f"{place}.flips")
        fits = flips.wrong_to_wrong <= own.n00
        need(fits, f"{place}.flips.wrong_to_wrong", "is more than are wrong on both versions")
        low, high = flips.interval
        need(low <= flips.rate <= high, f"{place}.flips.interval", "does not hold the rate")
        for s, strata in enumerate(own.strata):
            self._check_strata(strata, own, cell, f"{place}.strata.{s}")

    def _check_strata(
        self, own: StrataRecord, reworded: RewordedRecord, cell: CellResult, place: str
    ) -> None:
        labels = self._result.data.test.labels
        for s, each in enumerate(own.strata if own.name == LABEL else ()):
            where, most = f"{place}.strata.{s}.name", labels.get(each.name, 0)
            need(each.name in labels, where, f"{shorten(each.name)} is none of the labels")
            need(each.n <= most, where, f"is a label of {most} rows, fewer than there are here")
        self._check_sums(own, reworded, f"{place}.strata")
        for s, each in enumerate(own.strata):
            self._check_stratum(each, f"{place}.strata.{s}")
        there = [each for each in own.strata if each.p_value is not None]
        adjusted = adjust([each.p_value or 0.0 for each in there], "holm") if there else []
        same = all(
            are_close(each.p_adjusted or 0.0, p) for each, p in zip(there, adjusted, strict=True)
        )
        need(same, f"{place}.strata", "p_adjusted does not follow from the p-values")
        self._check_heterogeneity(own, cell, place)

    def _check_sums(self, own: StrataRecord, reworded: RewordedRecord, where: str) -> None:
        """Check that the strata are the reworded texts, each once."""
        called = {each.name for each in own.strata}
        need(len(called) == len(own.strata), where, "two have the same name")
        for name in COUNTS:
            total = sum(getattr(each, name) for each in own.strata)
            same = total == getattr(reworded, name)
            need(same, where, f"their {name} do not sum to that of the reworded texts")
        flipped = [each.n_flipped for each in own.strata]
        known = [each for each in flipped if each is not None]
        same = sum(known) == reworded.flips.n_flipped
        if len(known) < len(flipped):
            same = sum(known) <= reworded.flips.n_flipped
        need(same, where, "their n_flipped do not sum to that of the reworded texts")

    def _check_stratum(self, each: StratumRecord, where: str) -> None:
        settings = self._settings
        is_clustered = settings.data.cluster is not None
        counts = each.counts if each.n > 1 else None
        if each.n_flipped is not None:
            fits = each.n10 + each.n01 <= each.n_flipped <= each.n10 + each.n01 + each.n00
            need(fits, f"{where}.n_flipped", "does not fit the counts")
        names = ("n_flipped", "p_value", "p_adjusted", "p_equivalence")
        tested = {getattr(each, name) is not None for name in names}
        same = tested == ({counts is not None} if not is_clustered else tested & {True, False})
        need(same and len(tested) == 1, where, "what is tested does not fit its number of texts")
        if counts is None or not all(tested):
            return
        if is_clustered:
            self._check_drawn([each.p_value or 0.0], f"{where}.p_value", settings.n_resamples)
            return
        found = _test_equivalence(counts, settings.margin, settings.alpha)
        hold(each, {"p_value": paired_p(counts)}, where, least=1e-300)
        hold(each, {"p_equivalence": found.p_value}, where)

    def _check_heterogeneity(self, own: StrataRecord, cell: CellResult, place: str) -> None:
        settings, seed = self._settings, self._seed(cell.rho, cell.m)
        drawing = {"n_resamples": settings.n_resamples or DEFAULT_TABLES, "seed": seed}
        if settings.data.cluster is not None:
            hold(own, {"method": "clusters", **drawing}, place)
            self._check_drawn([own.p_value], f"{place}.p_value", own.n_resamples)
            return
        found = compare_strata(
            np.array([each.n10 for each in own.strata]),
            np.array([each.n01 for each in own.strata]),
            n_resamples=1,  # to draw tables again is another's work
            seed=seed,
        )
        again: dict[str, Any] = {
            name: getattr(found, name) for name in ("statistic", "df", "method")
        }
        if found.method == "exact":
            again |= {"p_value": found.p_value, "n_resamples": None, "seed": None}
        else:
            again |= drawing
            self._check_drawn([own.p_value], f"{place}.p_value", own.n_resamples)
        hold(own, again, place)

    def _check_together(self, rho: RhoResult, place: str) -> None:
        """Check what is said of all classifiers of one rho on the reworded texts."""
        own = [cell.reworded for cell in rho.cells if cell.reworded is not None]
        need(
            len(own) in {0, len(rho.cells)}, place, "the reworded texts of a classifier are missing"
        )
        need(len({each.n for each in own}) < 2, place, "the reworded texts differ in number")
        judged = len(own) > 1
        for name in ("churn", "algorithm"):
            there = getattr(rho, name) is not None
            need(there == judged, f"{place}.{name}", "is missing" if judged else "is of nothing")
        if not judged:
            return
        self._check_churn(rho, own, f"{place}.churn")
        self._check_algorithm(rho, own, f"{place}.algorithm")

    def _check_churn(self, rho: RhoResult, own: Sequence[RewordedRecord], place: str) -> None:
        churn = rho.churn
        assert churn is not None  # noqa: S101 - its caller has seen it
        n_flipped, n_answers = sum(each.flips.n_flipped for each in own), own[0].n * len(own)
        again = {
            "n": own[0].n,
            "flip_rate": n_flipped / n_answers,
            "excess": churn.churn_across - churn.noise_floor,
            "n_resamples": None,
            "seed": None,
        }
        if churn.method == "resample":
            seed = self._seed(rho.rho, len(own))
            again |= {"n_resamples": DEFAULT_CHURN_RESAMPLES, "seed": seed}
            self._check_drawn([churn.p_value], f"{place}.p_value", churn.n_resamples)
        elif n_flipped < _FEW_COINS:
            fits = churn.p_value >= 0.5**n_flipped * (1 - _SAME)
            need(fits, f"{place}.p_value", f"is less than the coins of {n_flipped} flips can show")
        hold(churn, again, place)
        pairs = n_answers * (len(own) - 1)
        for name in ("churn_original", "churn_transformed", "churn_across"):
            _need_share(getattr(churn, name), pairs, f"{place}.{name}")
        same = abs(sum(churn.interval) / 2 - churn.excess) <= _ROUNDING
        need(same, f"{place}.interval", "does not have the excess churn in its middle")

    def _check_algorithm(self, rho: RhoResult, own: Sequence[RewordedRecord], place: str) -> None:
        found, settings = rho.algorithm, self._settings
        assert found is not None  # noqa: S101 - its caller has seen it
        counts, clustered = [each.counts for each in own], None
        most = found.n
        if settings.data.cluster is not None:
            most = min(most, rho.cells[0].n_clusters or 2)
            deltas = [each.delta for each in counts]
            clustered = find_items(found.to_dict(), deltas), found.n_units
        need(found.n_units <= most, f"{place}.n_units", f"is more than the {most:,} there are")
        again = algorithm_of_counts(
            counts,
            sd_residual=found.sd_residual,
            margin=settings.margin,
            alpha=settings.alpha,
            clustered=clustered,
        )
        expected = AlgorithmRecord.of(again).to_dict()
        if settings.data.cluster is not None:  # what hangs on the sizes of clusters
            del expected["p_equivalence"], expected["equivalent"]
            if again.standard_error == 0:
                for name in ("p_value", "interval", "prediction_interval"):
                    del expected[name]
        hold(found, expected, place)

    def _check_claims(self, claims: ClaimsRecord, own: ConditionResult, place: str) -> None:
        """Hold the answer against what it is the answer of."""
        need("change" in claims.p_values, place, "has no p-value of the change")
        same = claims.levels.keys() == claims.p_values.keys()
        need(same, f"{place}.levels", "are not of the claims that have p-values")
        first = min(own.rhos, key=lambda rho: rho.rho)
        counts = [cell.reworded.counts for cell in first.cells if cell.reworded is not None]
        need(len(counts) == len(first.cells), place, "is there, and reworded texts are not")
        expected: dict[str, Any] = {
            "rho": first.rho,
            "n": counts[0].n,
            "alpha": self._settings.alpha,
            "accuracy_original": math.fsum(each.accuracy_original for each in counts) / len(counts),
            "accuracy_transformed": (
                math.fsum(each.accuracy_transformed for each in counts) / len(counts)
            ),
        }
        alpha = self._settings.alpha / claims.n_versions
        ends: Interval | None = None
        if claims.n_trainings > 1:
            expected["n_trainings"] = len(counts)
            found = first.algorithm
            need(found is not None, place, "is of several trainings, and algorithm is not there")
            if found is not None:
                expected["p_values"] = claims.p_values | {"change": found.p_value}
                ends = found.confidence_interval(1 - alpha)
        elif self._settings.data.cluster is None:
            tested = _test_equivalence(counts[0], self._settings.margin, self._settings.alpha)
            ends = tested.ends_at(alpha / 2)
        if ends is not None:
            expected["interval"] = [-ends.high, -ends.low]
        hold(claims, expected, place)
        slope = claims.slope
        if slope is not None:
            same = abs(sum(slope.interval) / 2 - slope.change) <= _ROUNDING
            need(same, f"{place}.slope.interval", "does not have the change in its middle")
            rhos = [rho.rho for rho in own.rhos]
            fits = [*slope.rhos] == [min(rhos), max(rhos)]
            need(fits, f"{place}.slope.rhos", "are not the smallest and the largest rho")
            shown = claims.p_values["slope"] < claims.levels["slope"]
            need(slope.is_shown == shown, f"{place}.slope.is_shown", f"is not {shown}")
        collapsed = all(cell.collapsed for cell in first.cells)
        fits = collapsed == (claims.verdict is Verdict.COLLAPSED)
        need(fits, f"{place}.verdict", f"is {claims.verdict}; do all classifiers guess?")
        shown = claims.p_values["change"] < claims.levels["change"]
        fits = shown or claims.verdict is not Verdict.DIFFERS
        need(fits, f"{place}.verdict", f"is {claims.verdict}, and the change is not shown")
        fits = claims.verdict in {Verdict.COLLAPSED, Verdict.CHANGES} or has_shares(
            claims.accuracy_original, claims.accuracy_transformed, claims.headline
        )
        need(fits, f"{place}.headline", "does not have these accuracies")

    def _check_signature(
        self, signature: str | None, rhos: Sequence[RhoResult], place: str, tested: _Tested
    ) -> None:
        """Hold every field of a signature but the name of the data and the version."""
        again = sign(
            self._settings,
            tested.model.settings,
            tested.phi,
            [cell for rho in rhos for cell in rho.cells],
            data="",
            trained=tested.trained,
            train_size=tested.condition.train_size,
        )
        need(signature is not None, f"{place}.signature", "is missing")
        found, expected = _fields(signature or ""), _fields(again)
        for name in [*expected, *(set(found) - set(expected))]:
            same = found.get(name) == expected.get(name)
            said = f"has {name} {shorten(found.get(name))}"
            need(
                same,
                f"{place}.signature",
                f"{said}, but the rest of the file makes it {shorten(expected.get(name))}",
            )

    def _check_across(self) -> None:
        result, settings = self._result, self._settings
        known = {each.key: each for each in result.conditions}
        for number, each in enumerate(result.across):
            place = f"across.{number}"
            own = [known.get((each.model, phi, each.train_size)) for phi in each.transformations]
            tests = [
                rho
                for condition in own
                if condition
                for rho in condition.rhos
                if rho.rho == each.rho
            ]
            need(len(tests) == len(own), place, "there is no such condition")
            same = all(map(are_close, each.p_values, (min(test.p_adjusted) for test in tests)))
            need(same, place, "p_values do not follow from the conditions")
            same = all(map(are_close, each.p_holm, adjust(each.p_values, "holm")))
            need(same, place, "p_holm does not follow from the p-values")
            need(each.alpha == settings.alpha, f"{place}.alpha", "is not that of the settings")
            there = each.rho == 0 and settings.data.cluster is None
            found = [own.m for own in each.cochran]
            same = found == (list(range(settings.n_classifiers)) if there else [])
            need(same, f"{place}.cochran", "is not of the classifiers of rho 0")
            for c, test in enumerate(each.cochran):
                self._check_cochran(test, f"{place}.cochran.{c}")
        keys = list(dict.fromkeys((each.model, each.train_size) for each in result.conditions))
        expected = [(*key, rho) for key in keys for rho in settings.rho]
        same = not result.across or expected == [
            (each.model, each.train_size, each.rho) for each in result.across
        ]
        need(same, "across", "there is not one for each model, training size and rho")
        several = len(result.transformations) > 1
        need(bool(result.across) == several, "across", "goes with several transformations")

    def _check_cochran(self, test: CochranRecord, where: str) -> None:
        drawn = test.n_resamples is not None
        need(drawn == (test.seed is not None), f"{where}.seed", "goes with n_resamples")
        if drawn:
            hold(test, {"seed": self._seed(0.0, test.m)}, where)
            self._check_drawn([test.p_value], f"{where}.p_value", test.n_resamples)

    def _check_evaluations(self) -> None:
        result = self._result
        for number, evaluation in enumerate(result.evaluations):
            place = f"evaluations.{number}"
            phi = next(each for each in result.evaluated if each.key == evaluation.evaluation)
            condition = next(each for each in result.conditions if each.key == evaluation.key)
            own = _Tested.of(result, condition, further=phi)
            same = len(evaluation.rhos) == len(condition.rhos)
            need(same, "evaluations", "the rho are not those of the conditions")
            self._check_rho_values(evaluation, place)
            for r, rho in enumerate(evaluation.rhos):
                self._check_evaluated(rho, phi, f"{place}.rhos.{r}", own)
            tests = [rho.test for rho in evaluation.rhos if rho.test is not None]
            if tests:
                self._check_signature(evaluation.signature, tests, place, own)
        for condition in result.conditions:
            self._check_holm(condition)

    def _check_evaluated(
        self, rho: EvaluatedRho, phi: FurtherTransformation, where: str, own: _Tested
    ) -> None:
        settings = self._settings
        need(rho.alpha == settings.alpha, where, "alpha is not that of the settings")
        need(rho.n == phi.rows, f"{where}.n", f"is not the {phi.rows} rows of {phi.key}")
        same = (rho.test is not None) == phi.keeps_labels
        need(same, f"{where}.test", "goes with a transformation that keeps labels")
        same = len(rho.n_correct) == settings.n_classifiers
        need(same, f"{where}.n_correct", "is not of as many classifiers as the settings")
        if rho.test is not None:
            at = f"{where}.test"
            self._check_rho(rho.test, at, own)
            self._check_signature(rho.test.signature, [rho.test], at, own)

    def _check_holm(self, condition: ConditionResult) -> None:
        """Check what is corrected over the evaluations of the same classifiers."""
        several = self._result.evaluations_of(condition)
        for r in range(len(condition.rhos)):
            expected = correct_over_evaluations([each.rhos[r].test for each in several])
            found = [each.rhos[r].p_holm for each in several]
            same = all(
                (a is None) == (b is None) and (a is None or b is None or are_close(a, b))
                for a, b in zip(found, expected, strict=True)
            )
            need(same, "evaluations", "p_holm does not follow from the p-values")


_NOT_JOINT = ("alpha", "p_values", "churn_p_adjusted", "algorithm_p_adjusted", "label_p_adjusted")
"""What holds over all rho and is not drawn jointly."""


def _check_levels(result: RunResult) -> None:
    """Hold what p-values are held to against all those that share alpha."""
    models = dict.fromkeys((own.model, own.train_size) for own in result.conditions)
    for key in models:
        known = {
            f"conditions.{place}.claims": own.claims
            for place, own in enumerate(result.conditions)
            if own.claims is not None and (own.model, own.train_size) == key
        }
        for several in (False, True):
            part = {k: own for k, own in known.items() if (own.n_trainings > 1) is several}
            claims = [
                (place, name, p) for place, own in part.items() for name, p in own.p_values.items()
            ]
            if not claims:
                continue
            shares = SHARES if several else _SHARES_OF_ONE
            held = share_alpha(
                [p for *_, p in claims],
                [shares[name] for _, name, _ in claims],
                alpha=result.settings.alpha,
            )
            for (place, name, _), level in zip(claims, held, strict=True):
                own = part[place]
                fits = own.n_versions == len(part) and are_close(own.levels.get(name, 0.0), level)
                need(fits, f"{place}.levels.{name}", "is not what alpha leaves to it")


def _check_software(result: RunResult) -> None:
    """Hold what made the models against what the settings say; old files may not list it."""
    keys = ["model", *(f"model {own.key}" for own in result.models[1:])]
    for key, own in zip(keys, result.models, strict=True):
        said, backend = result.software.get(key, own.settings.backend), own.settings.backend
        need(said == backend, f"software.{key}", f"is not the backend of {own.key}, {backend}")


def _check_searches(result: RunResult) -> None:
    """Hold what was searched for against what was tried."""
    for number, model in enumerate(result.models):
        searched, budget = model.settings.params is None, model.settings.search
        budget = budget if searched and isinstance(budget, int) else 0
        for s, search in enumerate(model.searches):
            place = f"models.{number}.searches.{s}"
            same = [each.number for each in search.trials] == list(range(budget))
            need(same, f"{place}.trials", f"are not the {budget} that the settings ask for")
            _check_params(search, model.settings.params, f"{place}.params")
            if result.settings.mode == "augment" and search.rho is not None:
                continue
            for t, trial in enumerate(search.trials):
                where = f"{place}.trials.{t}.valid_accuracy"
                _need_share(trial.valid_accuracy, result.data.valid.rows, where)


def _check_params(search: SearchRecord, given: Any, where: str) -> None:
    params: Any = given
    if search.trials:
        best = max(search.trials, key=lambda each: (each.valid_accuracy, -each.number))
        params = best.params
    if params is not None:
        same = canonical_json(search.params) == canonical_json(params)
        need(same, where, "are not those given, or of the best trial")


@functools.lru_cache(maxsize=16)
def _chance_limit(counts: tuple[int, ...]) -> float:
    return chance_limit(np.repeat(np.arange(len(counts)), counts))


@functools.lru_cache(maxsize=1024)
def _test_equivalence(counts: PairedCounts, margin: float, alpha: float) -> EquivalenceResult:
    """Test once what several strata and classifiers have in common."""
    return equivalence_test(counts, margin=margin, alpha=alpha, p_difference=1.0)


def _fields(signature: str) -> dict[str, str]:
    """Split a signature, leaving out what the rest of the file does not hold."""
    kind, *parts = signature.split("|")
    fields = dict(part.partition(":")[::2] for part in parts) | {"kind": kind}
    fields.pop("v", None)
    if "data" in fields:
        fields["data"] = fields["data"].rpartition("@")[2]
    return fields


def _need_share(value: float | None, n: int, place: str) -> None:
    """Make sure that a share of n is that of a whole number."""
    fits = value is None or abs(value * n - round(value * n)) <= 1e-6
    need(fits, place, f"is {shorten(value)}, which is no share of {n}")


def hold(part: Record, expected: Mapping[str, Any], place: str, *, least: float = 1e-12) -> None:
    """Hold what a part says against what follows."""
    for name, follows in expected.items():
        value = getattr(part, name)
        written = value.to_dict() if hasattr(value, "to_dict") else value
        # Only p-values are told apart where they are small; differences may cancel out.
        small = least if name.startswith("p_") else max(least, _ROUNDING)
        if name.startswith("sd_"):  # roots of what rounding leaves
            small = math.sqrt(least)
        compare(_as_json(written), _as_json(follows), follows, f"{place}.{name}", least=small)


def _as_json(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_as_json(each) for each in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def compare(written: Any, follows: Any, needed: Any, place: str, *, least: float = 1e-300) -> None:
    """Hold what is written against what these results would be written as."""
    if isinstance(written, dict) and isinstance(follows, dict):
        needs = needed if isinstance(needed, dict) else follows
        for name in [*follows, *sorted(set(written) - set(follows))]:
            where = f"{place}.{name}".lstrip(".")
            if name not in follows:
                raise ValueError(f"{where}: is unknown")
            if name in written or (name in needs and follows[name] is not None):
                own = needs.get(name, follows[name])
                compare(written.get(name), follows[name], own, where, least=least)
    elif isinstance(written, list) and isinstance(follows, list) and len(written) == len(follows):
        same = isinstance(needed, list) and len(needed) == len(follows)
        for number, pair in enumerate(
            zip(written, follows, needed if same else follows, strict=True)
        ):
            compare(*pair, f"{place}.{number}", least=least)
    elif not _are_same(written, follows, least):
        raise ValueError(
            f"{place}: is {shorten(written)}, but the rest of the file makes it {shorten(follows)}"
        )


def _are_same(written: Any, follows: Any, least: float) -> bool:
    numbers = [type(value) for value in (written, follows)]
    if all(kind in {int, float} for kind in numbers) and float in numbers:
        return are_close(written, follows, least=least)
    return type(written) is type(follows) and bool(written == follows)


def shorten(value: Any) -> str:
    """Return a value as it is written, cut to 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def are_close(first: float, second: float, *, least: float = 1e-300) -> bool:
    """Say whether two numbers are the same but for what other machines may make of them."""
    if abs(first) > _LARGEST:  # JSON has numbers that no float holds
        return False
    return math.isclose(first, second, rel_tol=_SAME, abs_tol=least)


def need(condition: bool, place: str, message: str) -> None:
    """Raise a ValueError with the place unless a condition holds."""
    if not condition:
        raise ValueError(f"{place}: {message}")
