"""Finished runs, read back: from a run's folder, or from counts in a file."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment.artefacts import reading
from ietest_fast.experiment.data import count_edits, kept_folder
from ietest_fast.experiment.matching import check_matched, read_cell_artefact
from ietest_fast.experiment.results import RESULTS, RESULTS_FORMAT, OverClassifiers, Spread
from ietest_fast.experiment.store import CELLS
from ietest_fast.report.stored_results import check_results
from ietest_fast.stats import (
    FEW_DISCORDANT,
    Decision,
    Interval,
    PairedCounts,
    RobustnessResult,
    Verdict,
    decide,
    equivalence_test,
    paired_test,
    robustness,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus

_PUT_BACK = "put back the one that was written, or run into another folder"


@dataclass(frozen=True, kw_only=True)
class CellOutcome:
    """What became of one classifier.

    Attributes
    ----------
    rho, m
        Which it is.
    counts
        Of its matched sample.
    t, p_value
        Of the test that decides.
    interval
        For delta, at confidence 1 - 2 alpha.
    is_equivalent
        Whether the difference is shown to be below the margin.
    is_collapsed
        Whether it cannot be told from guessing.
    p_mcnemar_exact
        The conditional exact p-value of its counts, for where few pairs are discordant.
    n_clusters
        How many clusters the test that decides drew from; None for independent observations.
    identity
        Its address in the run's folder; None if it was read from counts.
    """

    rho: float
    m: int
    counts: PairedCounts
    t: float
    p_value: float
    interval: Interval
    is_equivalent: bool
    is_collapsed: bool
    p_mcnemar_exact: float
    n_clusters: int | None = None
    identity: str | None = None

    @classmethod
    def from_counts(
        cls,
        counts: PairedCounts,
        *,
        rho: float,
        m: int,
        is_collapsed: bool,
        alpha: float,
        margin: float,
    ) -> Self:
        """Test counts as a run does, by the exact law."""
        test = paired_test(counts)
        equivalence = equivalence_test(counts, margin=margin, alpha=alpha)
        return cls(
            rho=rho,
            m=m,
            counts=counts,
            t=test.t,
            p_value=test.p_value,
            interval=equivalence.interval,
            is_equivalent=equivalence.equivalent,
            is_collapsed=is_collapsed,
            p_mcnemar_exact=test.p_mcnemar_exact,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give counts, test and interval."""
        counts = self.counts
        return {
            "m": self.m,
            **{name: getattr(counts, name) for name in ("n11", "n10", "n01", "n00")},
            "t": self.t,
            "p_value": self.p_value,
            "p_mcnemar_exact": self.p_mcnemar_exact,
            "delta": counts.delta,
            "interval": [self.interval.low, self.interval.high],
            "equivalent": self.is_equivalent,
            "collapsed": self.is_collapsed,
        }

    @property
    def has_few_discordant(self) -> bool:
        """Whether the bootstrap test rests on so few pairs that it is a little liberal."""
        return self.n_clusters is None and 0 < self.counts.k < FEW_DISCORDANT

    @property
    def accuracy_original(self) -> float:
        """Accuracy on the original test set."""
        return self.counts.accuracy_original

    @property
    def accuracy_transformed(self) -> float:
        """Accuracy on the transformed test set."""
        return self.counts.accuracy_transformed


@dataclass(frozen=True, kw_only=True)
class RhoOutcome(OverClassifiers):
    """What became of the M classifiers at one rho.

    Attributes
    ----------
    rho
        Probability of transformation.
    cells
        By m.
    decision
        Whether invariance is rejected.
    power
        Of a test at alpha / M against a difference of the margin; None if that is not known.
    """

    rho: float
    cells: tuple[CellOutcome, ...]
    decision: Decision
    power: float | None = None

    @classmethod
    def from_cells(cls, cells: Sequence[CellOutcome], *, alpha: float) -> Self:
        """Decide over the classifiers of one rho by Bonferroni's rule."""
        return cls(
            rho=cells[0].rho,
            cells=tuple(cells),
            decision=decide([cell.p_value for cell in cells], alpha=alpha),
        )

    @property
    def delta(self) -> Spread:
        """Accuracy on the originals minus accuracy on the transformed, over the classifiers."""
        return Spread.of([cell.counts.delta for cell in self.cells])

    @property
    def verdict(self) -> Verdict:
        """What is shown at this rho; equivalence has to be shown for every classifier."""
        if all(cell.is_equivalent for cell in self.cells):
            return Verdict.EQUIVALENT
        return Verdict.DIFFERS if self.decision.reject else Verdict.UNDECIDED

    @property
    def strongest(self) -> CellOutcome:
        """The classifier with the smallest p-value, and of several the first."""
        return min(self.cells, key=lambda cell: cell.p_value)


@dataclass(frozen=True, kw_only=True, eq=False)
class Versions:
    """Both versions of a test set, and what led from one to the other.

    Attributes
    ----------
    original, transformed
        Tables of n rows with the text columns.
    edits
        Table with ``ietest_fast.transform.EDIT_SCHEMA``; byte offsets in the original texts.
    gold
        Labels, int8, shape (n,).
    label_names
        By label.
    changed
        Which rows the transformation changed, bool, shape (n,).
    """

    original: pa.Table
    transformed: pa.Table
    edits: pa.Table
    gold: NDArray[np.int8]
    label_names: tuple[str, ...]
    changed: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the text columns."""
        return tuple(self.original.column_names)


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedRun:
    """A run that has ended, read from what it left.

    Attributes
    ----------
    name
        What figures and tables call it.
    source
        The run's folder, or the file of counts.
    model, transformation, data_name
        What was tested, on what.
    rhos
        One for each rho, in the order of the run.
    margin
        Differences smaller than this do not matter.
    results
        The contents of ``results.json``; None for counts.
    """

    name: str
    source: Path
    model: str
    transformation: str
    data_name: str
    rhos: tuple[RhoOutcome, ...]
    margin: float
    results: Mapping[str, Any] | None = None

    @property
    def cells(self) -> tuple[CellOutcome, ...]:
        """All classifiers, by rho and m."""
        return tuple(cell for rho in self.rhos for cell in rho.cells)

    @property
    def n(self) -> int:
        """Number of test observations."""
        return self.cells[0].counts.n

    @property
    def n_classifiers(self) -> int:
        """M."""
        return len(self.rhos[0].cells)

    @property
    def alpha(self) -> float:
        """Level of the whole test at a rho."""
        return self.rhos[0].decision.alpha

    @property
    def signature(self) -> str | None:
        """How the run came about, on one line; None for counts."""
        return None if self.results is None else self.results["signature"]

    @functools.cached_property
    def robustness(self) -> RobustnessResult:
        """Signal-to-noise ratio (eq. 15) of accuracy on the original test set."""
        return robustness(
            [cell.accuracy_original for cell in self.cells],
            [cell.is_collapsed for cell in self.cells],
            names=[f"rho {cell.rho:g}, m {cell.m}" for cell in self.cells],
        )

    @property
    def test_set(self) -> str | None:
        """What is equal for runs of the same test set and transformation; None for counts."""
        if self.results is None:
            return None
        data = self.results["settings"]["data"]
        return f"{data['test']} {self.results['transformation']['fingerprint']}"

    def to_dict(self) -> dict[str, Any]:
        """Give the numbers that figures and tables show."""
        return {
            "name": self.name,
            "signature": self.signature,
            "snr": self.robustness.every.snr,
            "rhos": [
                {
                    "rho": rho.rho,
                    "accuracy_original": rho.accuracy_original.to_dict(),
                    "accuracy_transformed": rho.accuracy_transformed.to_dict(),
                    "t": rho.t.to_dict(),
                    "p_min": rho.decision.p_min,
                    "threshold": rho.decision.threshold,
                    "reject": rho.decision.reject,
                    "verdict": str(rho.verdict),
                    "cells": [cell.to_dict() for cell in rho.cells],
                }
                for rho in self.rhos
            ],
        }

    def renamed(self, name: str) -> FinishedRun:
        """Give the same run under another name."""
        return replace(self, name=name)

    def read_versions(self) -> Versions:
        """Read both versions of the test set from the run's folder.

        Raises
        ------
        InputError
            If the run is one of counts.
        StoreError
            If the folder does not have them, or they are damaged.
        """
        import pyarrow.parquet as pq

        from ietest_fast.transform import undo

        results = self._from_folder()
        kept = kept_folder(
            self.source / "data",
            {name: results["settings"]["data"][name] for name in ("train", "valid", "test")},
            results["settings"]["transformation"]["inputs"],
        )
        columns = list(results["data"]["text_columns"])
        first = self._read_cell(self.cells[0])
        with reading(kept):
            table = pq.read_table(kept / "test.parquet")
            edits = pq.read_table(kept / "test.edits.parquet")
            counted = count_edits(edits)["test_edits"]
            if counted != results["transformation"]["test_edits"]:
                raise ValueError("its edits are not as many as the results say")
            if table.num_rows != first.num_rows:
                raise StoreError(
                    f"{kept}: has {table.num_rows:,} test rows, but the classifiers answered "
                    f"{first.num_rows:,}"
                )
            transformed = table.select(columns)
            return Versions(
                original=undo(transformed, edits),
                transformed=transformed,
                edits=edits,
                gold=first["gold"].to_numpy(),
                label_names=tuple(results["data"]["label_names"]),
                changed=table["changed"].to_numpy(),
            )

    def read_answers(self) -> NDArray[np.int8]:
        """Read what every classifier answered.

        Returns
        -------
        ndarray of int8, shape (n, n_rho, M, 2)
            Predicted labels, of the original (0) and the transformed (1) version.

        Raises
        ------
        InputError
            If the run is one of counts.
        StoreError
            If a matched sample is gone, or another one than the results speak of.
        """
        self._from_folder()
        answers = np.empty((self.n, len(self.rhos), self.n_classifiers, 2), np.int8)
        gold: NDArray[np.int8] | None = None
        for r, rho in enumerate(self.rhos):
            for m, cell in enumerate(rho.cells):
                table = self._read_cell(cell)
                own = table["gold"].to_numpy()
                if gold is not None and not np.array_equal(gold, own):
                    raise StoreError(
                        f"{self._cell_path(cell)}: has other labels than the matched samples "
                        f"before it; {_PUT_BACK}"
                    )
                gold = own
                answers[:, r, m, 0] = table["original"].to_numpy()
                answers[:, r, m, 1] = table["transformed"].to_numpy()
        return answers

    def _cell_path(self, cell: CellOutcome) -> Path:
        return self.source / CELLS / f"{cell.identity}.parquet"

    def _from_folder(self) -> Mapping[str, Any]:
        if self.results is None:
            raise InputError("has counts alone: no texts, no answers", path=self.source)
        return self.results

    def _read_cell(self, cell: CellOutcome) -> pa.Table:
        import pyarrow.parquet as pq

        path = self._cell_path(cell)
        if not path.is_file():
            raise StoreError(
                f"{path}: the matched sample of rho {cell.rho:g}, m {cell.m} is gone; {_PUT_BACK}"
            )
        with reading(path, remedy=_PUT_BACK):
            table = pq.read_table(path)
            check_matched(table, n_labels=len(self._from_folder()["data"]["label_names"]))
            counts = PairedCounts.from_outcomes(
                table["original_correct"].to_numpy(), table["transformed_correct"].to_numpy()
            )
            record = read_cell_artefact(path, remedy=_PUT_BACK)
        if counts != cell.counts or record.identity != cell.identity:
            raise StoreError(
                f"{path}: is not the matched sample that {RESULTS} speaks of; {_PUT_BACK}"
            )
        return table


def read_run(folder: str | Path) -> FinishedRun:
    """Read a finished run from its folder.

    Raises
    ------
    InputError
        If there is no such folder, or no run has ended there.
    StoreError
        If its ``results.json`` is damaged, or of another version.
    """
    folder = Path(folder)
    path = folder / RESULTS
    if folder.is_file():
        raise InputError("is a file; the folder of a run is expected", path=folder)
    if not folder.is_dir():
        raise InputError("there is no such folder", path=folder)
    if not path.is_file():
        begun = (folder / "run.sqlite").is_file()
        raise InputError(
            "its run has not ended yet; give its command again" if begun else "is no run's folder",
            path=folder,
        )
    with reading(path):
        results = json.loads(path.read_text(encoding="utf-8"))
        if results["format"] != RESULTS_FORMAT:
            raise StoreError(
                f"{path}: is of format {results['format']}, this version reads {RESULTS_FORMAT}"
            )
        check_results(results)
        return finished_run(folder, results)


def finished_run(folder: Path, results: Mapping[str, Any]) -> FinishedRun:
    """Make a finished run of its folder and the contents of its ``results.json``."""
    return FinishedRun(
        name=_model_name(results),
        source=folder,
        model=_model_name(results),
        transformation=results["transformation"]["name"],
        data_name=_field(results["signature"], "data"),
        rhos=tuple(_rho_outcome(rho, results["settings"]["alpha"]) for rho in results["rhos"]),
        margin=results["settings"]["margin"],
        results=results,
    )


def read_runs(
    folders: Sequence[str | Path],
    names: Sequence[str] = (),
    *,
    where: Mapping[str, str] | None = None,
    alpha: float = 0.05,
    margin: float = 0.01,
) -> list[FinishedRun]:
    """Read finished runs, each from a folder or all those in a file of counts.

    Runs whose names would be equal are told apart by what differs: data, transformation, folder.

    Parameters
    ----------
    folders
        Folders of runs, and files of counts; see :func:`~ietest_fast.report.counts.read_counts`.
    names
        One for each run, instead of the models' names; none: found.
    where, alpha, margin
        For files of counts: which rows are meant, and how they are tested.

    Raises
    ------
    InputError
        As for :func:`read_run`; also without a run, or with another number of names.
    """
    from ietest_fast.report.counts import read_counts

    runs: list[FinishedRun] = []
    for folder in map(Path, folders):
        if folder.name == RESULTS and folder.is_file():
            raise InputError("belongs to a run; name its folder", path=folder)
        if folder.is_file():
            runs.extend(read_counts(folder, where=where, alpha=alpha, margin=margin))
        else:
            runs.append(read_run(folder))
    if not runs:
        raise InputError("there is no run to report on")
    return name_runs(runs, names)


def name_runs(runs: Sequence[FinishedRun], names: Sequence[str] = ()) -> list[FinishedRun]:
    """Give runs the names asked for, or make those they have differ; see :func:`read_runs`."""
    if names:
        if len(names) != len(runs) or len(set(names)) < len(names):
            raise InputError(
                f"{len(runs)} {'runs need' if len(runs) > 1 else 'run needs'} as many different "
                f"names, not {', '.join(names)}"
            )
        return [run.renamed(name) for run, name in zip(runs, names, strict=True)]
    for attribute in ("data_name", "transformation", "source"):
        by_name: dict[str, set[str]] = {}
        for run in runs:
            by_name.setdefault(run.name, set()).add(_say(run, attribute))
        runs = [
            run.renamed(f"{run.name}, {_say(run, attribute)}")
            if len(by_name[run.name]) > 1
            else run
            for run in runs
        ]
    taken: set[str] = set()
    different = []
    for run in runs:
        name, again = run.name, 1
        while name in taken:
            again += 1
            name = f"{run.name} ({again})"
        taken.add(name)
        different.append(run.renamed(name))
    return different


def make_demo_train(run: FinishedRun) -> Corpus | None:
    """Make the training set of a run on the demonstration corpus; None of any other."""
    from ietest_fast.corpus import demo_corpus

    data = {} if run.results is None else run.results["settings"]["data"]
    if data.get("demo") is None:
        return None
    train = demo_corpus(data["demo"]["n_train"], seed=data["demo"]["seed"])
    # A run may have been given other splits than its configuration says.
    return train if train.fingerprint == data["train"] else None


def _say(run: FinishedRun, attribute: str) -> str:
    value = getattr(run, attribute)
    return value.name if isinstance(value, Path) else str(value)


def _model_name(results: Mapping[str, Any]) -> str:
    model = results["settings"]["model"]
    name = str(model["name"])
    checkpoint = model["options"].get("checkpoint")
    if checkpoint:
        # What was tested is the checkpoint, of which a run keeps its kind and its fingerprint.
        kind, _, fingerprint = str(checkpoint).partition("@")
        name = f"{kind}@{fingerprint[:6]}"
    if model["input"] is not None:
        name += f" ({model['input']} only)"
    return name


def _field(signature: str, name: str) -> str:
    for part in signature.split("|"):
        key, _, value = part.partition(":")
        if key == name:
            return value.partition("@")[0]
    raise KeyError(name)


def _rho_outcome(values: Mapping[str, Any], alpha: float) -> RhoOutcome:
    return RhoOutcome(
        rho=values["rho"],
        cells=tuple(_cell_outcome(cell, values["rho"]) for cell in values["cells"]),
        decision=Decision(
            reject=values["reject"],
            alpha=alpha,
            threshold=values["threshold"],
            p_min=values["p_min"],
            n_tests=len(values["cells"]),
        ),
        power=None if values["sensitivity"] is None else values["sensitivity"]["power"],
    )


def _cell_outcome(values: Mapping[str, Any], rho: float) -> CellOutcome:
    deciding = values if values["clustered"] is None else values["clustered"]
    low, high = values["equivalence"]["interval"]
    return CellOutcome(
        rho=rho,
        m=values["m"],
        counts=PairedCounts(*(values[name] for name in ("n11", "n10", "n01", "n00"))),
        t=float(deciding["t"]),
        p_value=deciding["p_value"],
        p_mcnemar_exact=values["p_mcnemar_exact"],
        interval=Interval(low, high),
        is_equivalent=values["equivalence"]["equivalent"],
        is_collapsed=values["collapsed"],
        n_clusters=None if values["clustered"] is None else values["clustered"]["n_clusters"],
        identity=values["identity"],
    )
