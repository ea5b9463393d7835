"""A finished model's predictions, read from files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.columns import read_columns
from ietest_fast.stats import MatchedSample

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.corpus.labels import EncodedLabels


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictions:
    """One classifier's predictions on both versions of a labelled test set.

    Attributes
    ----------
    gold, original, transformed
        Shape (n,), int8: indices into ``label_names``.
    label_names
        Names of the labels.
    dropped
        Rows without a gold label, by reason.
    """

    gold: NDArray[np.int8]
    original: NDArray[np.int8]
    transformed: NDArray[np.int8]
    label_names: tuple[str, ...]
    dropped: dict[str, int]

    @property
    def sample(self) -> MatchedSample:
        """The matched sample (eq. 9)."""
        return MatchedSample.from_predictions(self.gold, self.original, self.transformed)


def read_predictions(
    path: str | Path,
    transformed_path: str | Path | None = None,
    *,
    gold_path: str | Path | None = None,
    gold_column: str = "label",
    original_column: str | None = None,
    transformed_column: str | None = None,
    id_column: str | None = None,
    label_names: Sequence[str] | None = None,
) -> Predictions:
    """Read predictions on the original and on the transformed texts, and the gold labels.

    Parameters
    ----------
    path
        Predictions on the original texts; with one file, those on the transformed texts too.
    transformed_path
        A second file, with the predictions on the transformed texts.
    gold_path
        Where the gold labels are; None for ``path``.
    gold_column
        Name of the gold labels' column.
    original_column, transformed_column
        Names of the predictions' columns. None: ``prediction`` in each of two files, or
        ``original`` and ``transformed`` in one.
    id_column
        A column that all files have and that names each row once: rows are matched by it. None:
        rows are matched by their order.
    label_names
        All labels in the order of their numbers. None: NLI's if the gold labels are those names,
        or integers beside predictions of those names, or if the integers 0, 1 and 2 all occur
        and no others; otherwise the integers that occur in gold labels and predictions, or the
        names that occur in the gold labels.

    Returns
    -------
    Predictions
        Without the rows that have no gold label.

    Raises
    ------
    InputError
        If files differ in length or ids, or a prediction is missing or is no label.
    """
    if label_names is not None:
        _check_names(label_names)
    one_file = transformed_path is None
    original_name = original_column or ("original" if one_file else "prediction")
    transformed_name = transformed_column or ("transformed" if one_file else "prediction")
    if one_file and original_name == transformed_name:
        raise InputError(
            "the predictions on both versions come from one column; two are expected",
            path=path,
            column=original_name,
        )
    places = {
        "gold labels": (Path(gold_path if gold_path is not None else path), gold_column),
        "original predictions": (Path(path), original_name),
        "transformed predictions": (
            Path(path if transformed_path is None else transformed_path),
            transformed_name,
        ),
    }
    wanted: dict[Path, list[str]] = {}
    for file, column in places.values():
        wanted.setdefault(file, [] if id_column is None else [id_column]).append(column)
    tables = {file: read_columns(file, columns) for file, columns in wanted.items()}
    tables = _align(tables, id_column)

    gold_file, _ = places["gold labels"]
    if label_names is None:
        label_names = _find_names(tables, list(places.values()))
    gold = _encode(tables, gold_file, gold_column, label_names)
    kept = gold.codes >= 0
    if not kept.any():
        raise InputError("no row has a gold label", path=gold_file, column=gold_column)
    codes = {
        what: _encode_predictions(tables[file], file, column, gold.names)
        for what, (file, column) in places.items()
        if what != "gold labels"
    }
    return Predictions(
        gold=gold.codes[kept],
        original=codes["original predictions"][kept],
        transformed=codes["transformed predictions"][kept],
        label_names=gold.names,
        dropped=gold.dropped,
    )


def _encode(
    tables: dict[Path, pa.Table], file: Path, column: str, names: Sequence[str] | None
) -> EncodedLabels:
    from ietest_fast.corpus.labels import UnknownLabelError, encode_labels

    try:
        return encode_labels(tables[file].column(column), label_names=names, is_pair=False)
    except UnknownLabelError as error:
        raise InputError(str(error), path=file, row=f"row {error.row}", column=column) from error


def _find_names(
    tables: dict[Path, pa.Table], places: Sequence[tuple[Path, str]]
) -> tuple[str, ...]:
    """Find the labels' names in the columns of gold labels and of both predictions.

    Integers are NLI's if NLI's names stand elsewhere, or if 0, 1, 2 are all there are; a task
    with two classes or with five has 0 and 1, too.
    """
    from ietest_fast.corpus.labels import NLI_LABELS, NOT_ENTAILED

    gold, *predicted = (
        {name.casefold() for name in _encode(tables, file, column, None).names}
        for file, column in places
    )
    seen = gold.union(*predicted)
    numbers = {name for name in seen if name.removeprefix("-").isdecimal()}
    if not gold <= numbers:
        if gold & set(NLI_LABELS) and not gold & NOT_ENTAILED:
            return NLI_LABELS
        return _encode(tables, *places[0], None).names
    if seen == {"0", "1", "2"}:
        return NLI_LABELS
    if numbers < seen <= {"0", "1", "2", *NLI_LABELS}:
        return NLI_LABELS
    return tuple(sorted(numbers, key=int))


def _check_names(names: Sequence[str]) -> None:
    folded = [name.strip().lower() for name in names]
    if len(names) < 2 or not all(folded) or len(set(folded)) < len(folded):
        raise InputError(
            f"labels need at least two different names, none of them empty, not {list(names)}"
        )


def _encode_predictions(
    table: pa.Table, file: Path, column: str, names: tuple[str, ...]
) -> NDArray[np.int8]:
    from ietest_fast.corpus.labels import UnknownLabelError, encode_labels

    try:
        encoded = encode_labels(table.column(column), label_names=names, is_pair=False)
    except UnknownLabelError as error:
        raise InputError(
            f"{error} (name all labels with --labels if the gold labels lack one)",
            path=file,
            row=f"row {error.row}",
            column=column,
        ) from error
    missing = np.flatnonzero(encoded.codes < 0)
    if missing.size:
        raise InputError(
            f"{missing.size} of {encoded.codes.size} predictions are missing; every row needs one",
            path=file,
            row=f"row {int(missing[0])}",
            column=column,
        )
    return encoded.codes


def _align(tables: dict[Path, pa.Table], id_column: str | None) -> dict[Path, pa.Table]:
    """Bring all tables into the order of the first, by id or as they stand."""
    import pyarrow as pa
    import pyarrow.compute as pc

    (first_file, first), *others = tables.items()
    if id_column is None:
        for file, table in others:
            if table.num_rows != first.num_rows:
                raise InputError(
                    f"{table.num_rows} rows, but {first_file} has {first.num_rows}; rows are "
                    "matched by their order (name a column with --id-column to match by it)",
                    path=file,
                )
        return tables
    ids = {}
    for file, table in tables.items():
        column = table.column(id_column).cast(pa.string()).combine_chunks()
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise InputError("a row has no id", path=file, row=f"row {row}", column=id_column)
        counts = pc.value_counts(column)
        repeated = counts.filter(pc.greater(counts.field("counts"), 1))
        if len(repeated):
            raise InputError(
                f"{len(repeated)} ids occur more than once, such as "
                f"{repeated[0]['values'].as_py()!r}",
                path=file,
                column=id_column,
            )
        ids[file] = column
    aligned = {first_file: first}
    for file, table in others:
        where = pc.index_in(ids[first_file], value_set=ids[file])
        if where.null_count or table.num_rows != first.num_rows:
            extra = pc.is_in(ids[file], value_set=ids[first_file]).to_numpy(zero_copy_only=False)
            lost = (
                ids[first_file].filter(where.is_null())[0].as_py()
                if where.null_count
                else ids[file].filter(pa.array(~extra))[0].as_py()
            )
            raise InputError(
                f"the ids are not those of {first_file}: {lost!r} stands in one file only",
                path=file,
                column=id_column,
            )
        aligned[file] = table.take(where)
    return aligned
