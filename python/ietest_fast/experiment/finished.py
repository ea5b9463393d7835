"""Finished runs, read back: from a run's folder, or from counts in a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.corpus.columns import check_columns
from ietest_fast.corpus.streams import open_batches
from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment.artefacts import PUT_BACK, REPEAT, check_sealed, reading
from ietest_fast.experiment.cells import CELLS, match, read_cell_artefact, read_predictions
from ietest_fast.experiment.data import count_edits, kept_folder
from ietest_fast.experiment.results import RESULTS, read_results
from ietest_fast.experiment.schema import CellResult, ConditionResult, RhoResult
from ietest_fast.experiment.schema.cells import COUNTS
from ietest_fast.files import check_file, refuse_same_files
from ietest_fast.stats import PairedCounts
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.experiment.schema import ModelSettings, RunResult
    from ietest_fast.stats import RobustnessResult


MOST_DEMO_ROWS = 1_000_000
"""Larger demonstration corpora are not made again for a report: a file is not to say how long."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Versions:
    """Both versions of a test set, and what led from one to the other."""

    original: pa.Table
    transformed: pa.Table
    """Tables of n rows with the text columns."""
    edits: pa.Table
    """Table with ``ietest_fast.transform.EDIT_SCHEMA``; byte offsets in the original texts. Those
    of a composition as if they were made at once."""
    gold: NDArray[np.int8]
    """Labels, int8, shape (n,)."""
    label_names: tuple[str, ...]
    """By label."""
    changed: NDArray[np.bool_]
    """Which rows the transformation changed, bool, shape (n,)."""

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the text columns."""
        return tuple(self.original.column_names)


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedRun:
    """One model under one transformation: a run that has ended, or a part of it, as it left it."""

    name: str
    """What figures and tables call it."""
    source: Path
    """The run's folder, or the file of counts."""
    model: str
    transformation: str
    data_name: str
    """What was tested, on what."""
    condition: ConditionResult
    """Its numbers."""
    results: RunResult | None = None
    """All that stands in ``results.json``; None for counts."""

    @property
    def rhos(self) -> tuple[RhoResult, ...]:
        """One test for each rho, in the order of the run."""
        return self.condition.rhos

    @property
    def cells(self) -> tuple[CellResult, ...]:
        """All classifiers, by rho and m."""
        return self.condition.cells

    @property
    def n(self) -> int:
        """Number of test observations."""
        return self.cells[0].n

    @property
    def n_classifiers(self) -> int:
        """M."""
        return len(self.rhos[0].cells)

    @property
    def alpha(self) -> float:
        """Level of the whole test at a rho."""
        return self.rhos[0].alpha

    @property
    def margin(self) -> float:
        """Differences smaller than this do not matter."""
        return self.cells[0].equivalence.margin

    @property
    def signature(self) -> str | None:
        """How the run came about, on one line; None for counts."""
        return self.condition.signature

    @property
    def robustness(self) -> RobustnessResult:
        """Signal-to-noise ratio (eq. 15) of accuracy on the original test set."""
        return self.condition.ratios

    @property
    def finding_kind(self) -> Literal["differs", "equivalent", "undecided"]:
        """What its verdict comes down to, as the head of a page says it."""
        return self.condition.verdict.finding_kind

    @property
    def test_set(self) -> str | None:
        """What is equal for runs of the same test set and transformation; None for counts."""
        if self.results is None:
            return None
        phi = self.results.transformation_of(self.condition)
        return f"{self.results.settings.data.test} {phi.fingerprint}"

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers that figures and tables show."""
        return {
            "name": self.name,
            "signature": self.signature,
            "snr": self.condition.robustness.snr,
            "rhos": [_numbers_of(rho) for rho in self.rhos],
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
        from ietest_fast.transform.edits import merge_steps, read_edits

        results = self._from_folder()
        phi = results.transformation_of(self.condition)
        kept = kept_folder(self.source / "data", results.settings.data.fingerprints, phi.inputs)
        columns = list(results.data.text_columns)
        first = self._read_cell(self.cells[0])
        texts, edited = kept / "test.parquet", kept / "test.edits.parquet"
        with reading(kept):
            check_sealed(texts, edited)
            table = pq.read_table(check_file(texts))
            edits = read_edits(edited)
            counted = count_edits(edits)["test_edits"]
            if counted != phi.test_edits:
                raise ValueError("its edits are not as many as the results say")
            if table.num_rows != first.num_rows:
                raise StoreError(
                    f"{kept}: has {table.num_rows:,} test rows, but the classifiers answered "
                    f"{first.num_rows:,}"
                )
            transformed = table.select(columns)
            original = undo(transformed, edits)
            return Versions(
                original=original,
                transformed=transformed,
                edits=merge_steps(original, edits),
                gold=first["gold"].to_numpy(),
                label_names=results.data.label_names,
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
                        f"before it; {PUT_BACK}"
                    )
                gold = own
                answers[:, r, m, 0] = table["original"].to_numpy()
                answers[:, r, m, 1] = table["transformed"].to_numpy()
        return answers

    def _cell_path(self, cell: CellResult) -> Path:
        return self.source / CELLS / f"{cell.identity}.parquet"

    def _from_folder(self) -> RunResult:
        if self.results is None:
            raise InputError("has counts alone: no texts, no answers", path=self.source)
        return self.results

    def _read_cell(self, cell: CellResult) -> pa.Table:
        path = self._cell_path(cell)
        if not path.is_file():
            raise StoreError(
                f"{path}: the matched sample of rho {cell.rho:g}, m {cell.m} is gone; {REPEAT}"
            )
        with reading(path, remedy=PUT_BACK):
            predictions = read_predictions(path)
            if predictions.label_names != self._from_folder().data.label_names:
                raise ValueError("it has other labels than the results")
            table = match(predictions, self.condition.transformation)
            counts = PairedCounts.from_outcomes(
                table["original_correct"].to_numpy(), table["transformed_correct"].to_numpy()
            )
            record = read_cell_artefact(path, remedy=PUT_BACK)
        if counts != cell.counts or record.identity != cell.identity:
            raise StoreError(
                f"{path}: is not the matched sample that {RESULTS} speaks of; {PUT_BACK}"
            )
        for name, own in (("rho", record.rho), ("m", record.m), *record.metrics.items()):
            said = getattr(cell, name, own)
            if said != own:
                raise StoreError(
                    f"{path}: has {name} {own}, and {RESULTS} says {said} of the same matched "
                    f"sample; {PUT_BACK}"
                )
        return table


def _numbers_of(rho: RhoResult) -> dict[str, Any]:
    names = ("rho", "p_min", "threshold", "reject")
    means = ("accuracy_original", "accuracy_transformed", "t")
    own = ("m", "n11", "n10", "n01", "n00", "t", "p_value", "delta", "collapsed")
    return {
        **{name: getattr(rho, name) for name in names},
        **{name: getattr(rho, name).to_dict() for name in means},
        "verdict": str(rho.verdict),
        "cells": [
            {
                **{name: getattr(cell, name) for name in own},
                "p_mcnemar_exact": cell.test.p_mcnemar_exact,
                "interval": list(cell.equivalence.interval),
                "equivalent": cell.is_equivalent,
            }
            for cell in rho.cells
        ],
    }


def read_folder(folder: str | Path) -> list[FinishedRun]:
    """Read what a run left in its folder: each model under each transformation."""
    folder = Path(folder)
    if folder.is_file():
        raise InputError("is a file; the folder of a run is expected", path=folder)
    if not folder.is_dir():
        raise InputError(
            "is neither a folder nor a file" if folder.exists() else "there is no such folder",
            path=folder,
        )
    results = read_results(folder)
    return finished_runs(results)


def read_run(folder: str | Path) -> FinishedRun:
    """Read a finished run of one model and one transformation from its folder.

    Raises
    ------
    InputError
        As for :func:`read_folder`; also if it is of several.
    StoreError
        As for :func:`read_folder`.
    """
    found = read_folder(folder)
    if len(found) > 1:
        raise InputError(
            f"holds {len(found)} combinations of a model, a transformation and a number of "
            "training rows, where one is "
            "expected: run them in folders of their own",
            path=folder,
        )
    return found[0]


def finished_runs(results: RunResult) -> list[FinishedRun]:
    """Make finished runs of results that know their folder, one for each condition."""
    names = name_models(results)
    return [
        FinishedRun(
            name=name_of_size(names[condition.model], condition.train_size),
            source=results.folder,
            model=names[condition.model],
            transformation=condition.transformation,
            data_name=_find_data_name(condition.signature or ""),
            condition=condition,
            results=results,
        )
        for condition in results.conditions
    ]


def name_models(results: RunResult) -> dict[str, str]:
    """Return what the models of a run are called, by their keys: all differently."""
    names = {model.key: _model_name(model.settings) for model in results.models}
    found = list(names.values())
    return {key: name if found.count(name) == 1 else key for key, name in names.items()}


def name_of_size(name: str, train_size: int | None) -> str:
    """Return what a model is called that was trained on so many rows; None for all."""
    return name if train_size is None else f"{name} ({train_size:,} training rows)"


def make_demo_train(run: FinishedRun) -> Corpus | None:
    """Make the training set of a run on the demonstration corpus; None of any other."""
    from ietest_fast.corpus import demo_corpus

    data = None if run.results is None else run.results.settings.data
    if data is None or data.demo is None or data.demo.n_train > MOST_DEMO_ROWS:
        return None
    train = demo_corpus(data.demo.n_train, seed=data.demo.seed)
    # A run may have been given other splits than its configuration says.
    return train if train.fingerprint == data.train else None


def _model_name(model: ModelSettings) -> str:
    name = model.name
    checkpoint = model.options.get("checkpoint")
    if checkpoint:
        # What was tested is the checkpoint, of which a run keeps its kind and its fingerprint.
        kind, _, fingerprint = str(checkpoint).partition("@")
        name = f"{kind}@{fingerprint[:6]}"
    if model.input is not None:
        name += f" ({model.input} only)"
    return name


def _find_data_name(signature: str) -> str:
    for part in signature.split("|"):
        key, _, value = part.partition(":")
        if key == "data":
            return value.partition("@")[0]
    return "data"


# Runs of which only counts are known: published ones, or those of another program.

_NUMBERS = ("rho", *COUNTS)
_WHOLE = ("n", "k")
_STATED = (*_WHOLE, "accuracy_original", "accuracy_transformed", "delta")  # follow from the counts
_READ = {"model", "dataset", "m", "collapsed", *_NUMBERS, *_STATED}


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A classifier in a file of counts."""

    path: Path
    number: int
    values: Mapping[str, Any]

    def error(self, message: str, column: str | None = None) -> InputError:
        return InputError(message, path=self.path, row=f"row {self.number}", column=column)

    def text(self, name: str) -> str:
        """Return what a cell says, "" where it or its column is missing."""
        value = self.values.get(name)
        return "" if value is None else str(value).strip()

    def read_number(self, name: str, said: Any) -> float:
        """Return the number that a cell says."""
        try:
            number = float(said)
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number) or (name == "rho" and not 0 <= number <= 1):
            expected = "a number from 0 to 1" if name == "rho" else "a whole number"
            expected = "a number" if name in _STATED else expected
            raise self.error(f"is {said!r}, {expected} expected", name)
        return number

    @property
    def rho(self) -> float:
        return self.read_number("rho", self.values["rho"])

    @property
    def collapsed(self) -> bool:
        said = self.text("collapsed").casefold()
        if said in {"true", "1", "yes", "1.0"}:
            return True
        if said in {"false", "0", "no", "0.0", "", "none"}:
            return False
        raise self.error(f"is {self.values['collapsed']!r}, true or false expected", "collapsed")

    @property
    def key(self) -> tuple[float | str, ...]:
        """What no other classifier of its model has."""
        names = ["rho", "m"] if "m" in self.values else self.values
        return tuple(
            self.read_number(name, self.values[name])
            if name in _NUMBERS
            else str(self.values[name]).strip()
            for name in names
        )

    @property
    def counts(self) -> PairedCounts:
        numbers = {name: self.read_number(name, self.values[name]) for name in COUNTS}
        for name, number in numbers.items():
            if not number.is_integer():
                raise self.error(f"is {number:g}; counts of texts are whole numbers", name)
        try:
            return PairedCounts(*map(int, numbers.values()))
        except InputError as error:
            raise self.error(str(error)) from error

    def check_stated(self, cell: CellResult) -> None:
        """Stop if it says of its counts what they do not give, to the digits that it has."""
        for name in _STATED:
            said = self.text(name).removesuffix("%").strip()
            if said.casefold() in {"", "nan"}:
                continue
            follows = cell.counts.k if name == "k" else getattr(cell, name)
            number, found = self.read_number(name, said), float(follows)
            # Half of the last digit, and what a float of 32 bits loses.
            slack = 0.0 if name in _WHOLE else 0.5 * 10.0 ** _exponent(said) + 1e-6
            scales = (1,) if name in _WHOLE else (1, 100)
            if all(abs(number - scale * found) > slack for scale in scales):
                raise self.error(
                    f"is {show_value(self.values[name])}, but the counts of this row give "
                    f"{found:.6g}; correct one of them, or leave the column out",
                    name,
                )


def _exponent(number: str) -> int:
    """Return the power of ten of the last digit that is written."""
    exponent = Decimal(number).as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def read_counts(
    path: Path,
    *,
    where: Mapping[str, str] | None = None,
    alpha: float = 0.05,
    margin: float = 0.01,
) -> list[FinishedRun]:
    """Read runs from a table of counts: one row a classifier, one run a model.

    Columns are ``model``, ``rho`` and the four counts ``n11``, ``n10``, ``n01`` and ``n00``;
    ``dataset`` and ``collapsed`` if they are there. Rows of one model and rho are its resamples,
    m = 0, 1, ... in their order in the file. Each is tested anew, by the exact law.
    """
    by_model: dict[tuple[str, str], list[_Row]] = {}
    for row in _read_rows(path, where or {}):
        if not row.text("model"):
            raise row.error("a model has no name", "model")
        by_model.setdefault((row.text("dataset"), row.text("model")), []).append(row)
    return [
        _make_run(path, dataset, model, own, alpha=alpha, margin=margin)
        for (dataset, model), own in by_model.items()
    ]


def find_unread(path: Path, where: Mapping[str, str]) -> list[str]:
    """Name the columns of counts that say nothing here, such as p-values, which are found anew."""
    with open_batches(path) as batches:
        return [name for name in batches.schema.names if name not in {*_READ, *where}]


def _read_rows(path: Path, where: Mapping[str, str]) -> list[_Row]:
    rows: list[_Row] = []
    with open_batches(path) as batches:
        check_columns(path, list(batches.schema.names), ["model", *_NUMBERS, *where])
        n_rows = 0
        for batch in batches:
            for number, row in enumerate(batch.to_pylist(), start=n_rows):
                if all(_equal(name, row[name], value) for name, value in where.items()):
                    rows.append(_Row(path=path, number=number, values=row))
            n_rows += batch.num_rows
    if not rows:
        said = ", ".join(f"{name}={value}" for name, value in where.items())
        raise InputError(f"has no rows{' with ' if said else ''}{said}", path=path)
    return rows


def _equal(name: str, value: object, wanted: str) -> bool:
    if str(value).casefold() == wanted.casefold():
        return True
    if name not in _NUMBERS and not isinstance(value, float):
        return False
    try:
        return float(str(value)) == float(wanted)
    except ValueError:
        return False


def _make_run(
    path: Path, dataset: str, model: str, rows: Sequence[_Row], *, alpha: float, margin: float
) -> FinishedRun:
    _check_repeats(rows)
    by_rho: dict[float, list[CellResult]] = {}
    rows_of_n: dict[int, int] = {}
    for row in rows:
        rho = row.rho
        cells = by_rho.setdefault(rho, [])
        cell = CellResult.from_counts(
            row.counts,
            rho=rho,
            m=len(cells),
            collapsed=row.collapsed,
            alpha=alpha,
            margin=margin,
        )
        row.check_stated(cell)
        cells.append(cell)
        rows_of_n.setdefault(cell.n, row.number)
    sizes = {len(cells) for cells in by_rho.values()}
    if len(sizes) > 1:
        said = ", ".join(f"{len(cells)} at rho {rho:g}" for rho, cells in by_rho.items())
        raise InputError(
            f"the model {model!r} has not equally many rows at every rho ({said}); choose those of "
            "one run",
            path=path,
        )
    if len(rows_of_n) > 1:
        said = ", ".join(f"{n:,} in row {row}" for n, row in [*rows_of_n.items()][:3])
        more = ", ..." if len(rows_of_n) > 3 else ""
        raise InputError(
            f"the rows of the model {model!r} are not of one n ({said}{more}), and its classifiers "
            "answer the same texts; correct the counts, or tell test sets apart in a column "
            "dataset",
            path=path,
        )
    return FinishedRun(
        name=model,
        source=path,
        model=model,
        transformation="unknown",
        data_name=dataset or path.stem,
        condition=ConditionResult.of(
            model=model,
            transformation="unknown",
            signature=None,
            rhos=tuple(
                RhoResult.from_cells(cells, alpha=alpha) for _, cells in sorted(by_rho.items())
            ),
        ),
    )


def _check_repeats(rows: Sequence[_Row]) -> None:
    """Stop if a classifier of a model is there twice, which would count as two.

    Classifiers that have collapsed give one answer each, so that their counts may well be equal.
    """
    first: dict[tuple[float | str, ...], int] = {}
    for row in rows:
        twin = first.setdefault(row.key, row.number)
        is_numbered = "m" in row.values
        if twin == row.number or (not is_numbered and row.collapsed):
            continue
        said = "has the model, rho and m of" if is_numbered else "says the same as"
        raise row.error(
            f"{said} row {twin}, so one classifier would count as two; remove one of them, or "
            "number different classifiers in a column m"
        )


# Where finished runs come from: folders of runs, and files of counts.

# What tells runs of one model apart, in turn, and the word that leads to it in a name.
_LINKS = {"data_name": " on ", "transformation": " under ", "source": ", "}


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
        Folders of runs, and files of counts; see :func:`read_counts`.
    names
        One for each run, instead of the models' names; none: found.
    where, alpha, margin
        For files of counts: which rows are meant, and how they are tested.

    Raises
    ------
    InputError
        As for :func:`read_run`; also without a run, with one of them twice, or with another number
        of names.
    """
    runs: list[FinishedRun] = []
    refuse_same_files(folders)
    for folder in map(Path, folders):
        if folder.name == RESULTS and folder.is_file():
            raise InputError("belongs to a run; name its folder", path=folder)
        if folder.is_file():
            runs.extend(read_counts(folder, where=where, alpha=alpha, margin=margin))
        else:
            runs.extend(read_folder(folder))
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
    for attribute, link in _LINKS.items():
        by_name: dict[str, set[str]] = {}
        for run in runs:
            by_name.setdefault(run.name, set()).add(_say(run, attribute))
        runs = [
            run.renamed(f"{run.name}{link}{_say(run, attribute)}")
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


def _say(run: FinishedRun, attribute: str) -> str:
    value = getattr(run, attribute)
    return value.name if isinstance(value, Path) else str(value)
