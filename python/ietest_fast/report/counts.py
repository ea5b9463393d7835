"""Runs of which only counts are known: published ones, or those of another program."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.corpus.columns import check_columns
from ietest_fast.corpus.streams import open_batches
from ietest_fast.errors import InputError
from ietest_fast.experiment.schema import CellResult, ConditionResult, RhoResult
from ietest_fast.report.runs import FinishedRun
from ietest_fast.stats import PairedCounts
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_COUNTS = ("n11", "n10", "n01", "n00")
_NUMBERS = ("rho", *_COUNTS)
_WHOLE = ("n", "k")
_STATED = (*_WHOLE, "accuracy_original", "accuracy_transformed", "delta")  # follow from the counts
_READ = {"model", "dataset", "m", "collapsed", *_NUMBERS, *_STATED}


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
    rows = _read_rows(path, where or {})
    by_model: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["model"] is None or not str(row["model"]).strip():
            raise InputError(
                "a model has no name", path=path, row=f"row {row['_row']}", column="model"
            )
        dataset = row.get("dataset")
        key = ("" if dataset is None else str(dataset).strip(), str(row["model"]).strip())
        by_model.setdefault(key, []).append(row)
    return [
        _make_run(path, dataset, model, own, alpha=alpha, margin=margin)
        for (dataset, model), own in by_model.items()
    ]


def find_unread(path: Path, where: Mapping[str, str]) -> list[str]:
    """Name the columns of counts that say nothing here, such as p-values, which are found anew."""
    with open_batches(path) as batches:
        return [name for name in batches.schema.names if name not in {*_READ, *where}]


def _read_rows(path: Path, where: Mapping[str, str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    with open_batches(path) as batches:
        names = list(batches.schema.names)
        check_columns(path, names, ["model", "rho", *_COUNTS, *where])
        n_rows = 0
        for batch in batches:
            for number, row in enumerate(batch.to_pylist(), start=n_rows):
                if all(_equal(name, row[name], value) for name, value in where.items()):
                    rows.append(row | {"_row": number})
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
    path: Path,
    dataset: str,
    model: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    alpha: float,
    margin: float,
) -> FinishedRun:
    _check_repeats(path, rows)
    by_rho: dict[float, list[CellResult]] = {}
    rows_of_n: dict[int, int] = {}
    for row in rows:
        rho = _number(path, row, "rho")
        cells = by_rho.setdefault(rho, [])
        cells.append(_make_cell(path, row, rho, len(cells), alpha=alpha, margin=margin))
        rows_of_n.setdefault(cells[-1].counts.n, row["_row"])
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


def _check_repeats(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stop if a classifier of a model is there twice, which would count as two.

    Classifiers that have collapsed give one answer each, so that their counts may well be equal.
    """
    first: dict[tuple[float | str, ...], int] = {}
    for row in rows:
        names = ["rho", "m"] if "m" in row else [name for name in row if name != "_row"]
        key = tuple(
            _number(path, row, name) if name in _NUMBERS else str(row[name]).strip()
            for name in names
        )
        twin = first.setdefault(key, row["_row"])
        if twin == row["_row"] or ("m" not in row and _collapsed(path, row)):
            continue
        said = "has the model, rho and m of" if "m" in row else "says the same as"
        raise InputError(
            f"{said} row {twin}, so one classifier would count as two; remove one of them, or "
            "number different classifiers in a column m",
            path=path,
            row=f"row {row['_row']}",
        )


def _make_cell(
    path: Path, row: Mapping[str, Any], rho: float, m: int, *, alpha: float, margin: float
) -> CellResult:
    numbers = [_number(path, row, name) for name in _COUNTS]
    for name, number in zip(_COUNTS, numbers, strict=True):
        if not number.is_integer():
            raise InputError(
                f"is {number:g}; counts of texts are whole numbers",
                path=path,
                row=f"row {row['_row']}",
                column=name,
            )
    try:
        counts = PairedCounts(*(int(number) for number in numbers))
    except InputError as error:
        raise InputError(str(error), path=path, row=f"row {row['_row']}") from error
    cell = CellResult.from_counts(
        counts,
        rho=rho,
        m=m,
        collapsed=_collapsed(path, row),
        alpha=alpha,
        margin=margin,
    )
    _check_stated(path, row, cell)
    return cell


def _check_stated(path: Path, row: Mapping[str, Any], cell: CellResult) -> None:
    """Stop if a row says of its counts what they do not give, to the digits that it has."""
    for name in _STATED:
        said = str("" if row.get(name) is None else row[name]).strip().removesuffix("%").strip()
        if said.casefold() in {"", "nan"}:
            continue
        follows = cell.counts.k if name == "k" else getattr(cell, name)
        number, found = _number(path, {**row, name: said}, name), float(follows)
        # Half of the last digit, and what a float of 32 bits loses.
        slack = 0.0 if name in _WHOLE else 0.5 * 10.0 ** _exponent(said) + 1e-6
        scales = (1,) if name in _WHOLE else (1, 100)
        if all(abs(number - scale * found) > slack for scale in scales):
            raise InputError(
                f"is {show_value(row[name])}, but the counts of this row give {found:.6g}; correct "
                "one of them, or leave the column out",
                path=path,
                row=f"row {row['_row']}",
                column=name,
            )


def _exponent(number: str) -> int:
    """Return the power of ten of the last digit that is written."""
    exponent = Decimal(number).as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _collapsed(path: Path, row: Mapping[str, Any]) -> bool:
    said = str(row.get("collapsed", "")).strip().casefold()
    if said in {"true", "1", "yes", "1.0"}:
        return True
    if said in {"false", "0", "no", "0.0", "", "none"}:
        return False
    raise InputError(
        f"is {row['collapsed']!r}, true or false expected",
        path=path,
        row=f"row {row['_row']}",
        column="collapsed",
    )


def _number(path: Path, row: Mapping[str, Any], name: str) -> float:
    value = row[name]
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number) or (name == "rho" and not 0 <= number <= 1):
        expected = "a number from 0 to 1" if name == "rho" else "a whole number"
        expected = "a number" if name in _STATED else expected
        raise InputError(
            f"is {value!r}, {expected} expected", path=path, row=f"row {row['_row']}", column=name
        )
    return number
