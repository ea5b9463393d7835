"""Answers to stress tests in a file, with what has to be known of the suite to measure them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError, shorten_error
from ietest_fast.evaluation.predictions import Predictions
from ietest_fast.evaluation.versions import number_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

KEY = b"ietest_fast.stress"
"""What the metadata of a file of answers to stress tests stand under."""


@dataclass(frozen=True, kw_only=True)
class StressRun:
    """How answers to stress tests came about.

    Attributes
    ----------
    group_by
        The column by which accuracies are parted; None: none.
    clusters
        The column whose equal values belong together; None: none.
    empty
        Tests that changed no text.
    backend, identity
        Of the evaluation; see :class:`~ietest_fast.evaluation.Evaluation`.
    """

    group_by: str | None = None
    clusters: str | None = None
    empty: tuple[str, ...] = ()
    backend: str = ""
    identity: dict[str, str] | None = None


def write_answers(predictions: Predictions, path: Path, run: StressRun) -> None:
    """Write answers to a Parquet file, whole or not at all.

    :meth:`~ietest_fast.evaluation.Predictions.read` reads it as any file of predictions.
    """
    import pyarrow.parquet as pq

    from ietest_fast.atomic import write_file

    known = {**(predictions.table.schema.metadata or {}), KEY: json.dumps(asdict(run)).encode()}
    table = predictions.table.replace_schema_metadata(known)
    write_file(path, lambda file: pq.write_table(table, file, compression="zstd"))


def read_answers(paths: Sequence[Path]) -> tuple[Predictions, StressRun]:
    """Read files of answers to stress tests, each of one model or several.

    Of several files each is a model, called as the file, unless it has a column ``model``.

    Parameters
    ----------
    paths
        What :func:`write_answers` has written; at least one.

    Returns
    -------
    tuple of Predictions and StressRun
        All answers, and how those of the first file came about, with the empty tests of all.

    Raises
    ------
    InputError
        If a file is no such file, or two say different things of one model.
    """
    runs = [read_run(path) for path in paths]
    parts = [Predictions.read(path) for path in paths]
    if len(parts) > 1:
        names = number_names(path.stem for path in paths)
        parts = [
            part
            if "model" in part.columns
            else replace(
                part,
                table=part.table.append_column(
                    "model", pa.repeat(pa.scalar(name), part.table.num_rows)
                ),
            )
            for part, name in zip(parts, names, strict=True)
        ]
        if len({"copy" in part.columns for part in parts}) > 1:
            parts = [_with_copies(part) for part in parts]
        if len({part.table.schema.field("item").type for part in parts}) > 1:
            parts = [_with_names(part) for part in parts]
    for run, path in zip(runs, paths, strict=True):
        if run is None:
            raise InputError(
                "holds no answers to stress tests (ietest-fast stress --out)", path=path
            )
    known = [run for run in runs if run is not None]
    empty = tuple(dict.fromkeys(name for run in known for name in run.empty))
    together = parts[0] if len(parts) == 1 else Predictions.concat(parts)
    return together, replace(known[0], empty=empty)


def _with_copies(part: Predictions) -> Predictions:
    if "copy" in part.columns:
        return part
    zeros = pa.array(np.zeros(len(part), np.int32))
    return replace(part, table=part.table.append_column("copy", zeros))


def _with_names(part: Predictions) -> Predictions:
    place = part.table.column_names.index("item")
    items = part.table["item"].cast(pa.string())
    return replace(part, table=part.table.set_column(place, "item", items))


def read_run(path: Path) -> StressRun | None:
    """Return how the answers of a file came about; None if it is no file of stress tests.

    Raises
    ------
    InputError
        If what it says of itself is damaged.
    """
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:
            if file.read(4) != b"PAR1":
                return None
        metadata = pq.read_schema(path).metadata or {}
    except (OSError, pa.ArrowException):
        return None  # who reads it says what is wrong
    if KEY not in metadata:
        return None
    try:
        found = json.loads(metadata[KEY])
        return StressRun(**{**found, "empty": tuple(map(str, found["empty"]))})
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"its metadata are damaged: {shorten_error(error)}", path=path) from error
