"""Cells on disk, and what else a run has in its folder: who holds it, whose files these are."""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ietest_fast.answers import Predictions
from ietest_fast.atomic import UNFINISHED, write_artefact
from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment.artefacts import MADE_ANEW, PUT_BACK, reading
from ietest_fast.experiment.identity import canonical_json
from ietest_fast.files import check_file, read_bytes
from ietest_fast.values import as_finite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.experiment.encoded import FurtherTexts
    from ietest_fast.experiment.schema import RunResult

# Whose folder it is: what a run makes there, what is somebody else's, and who holds it.

DATABASE = "run.sqlite"
CELLS = "cells"
EVALUATIONS = "evaluations"
"""Folder of a run with the answers of cells to further test sets."""
CLUSTERS = "clusters.parquet"
"""File of a run with the cluster of each test row, if it has clusters."""
RUN_LOCK = "run.lock"
MODELS = "models"
"""Folder of a run in which classifiers are kept."""
UNFINISHED_TRAININGS = "unfinished"
"""Folder of a run with what tasks have that are not finished."""

# Where the database has the checksum of a file, by the place of the file.
_RECORDED = {
    CELLS: "SELECT sha256 FROM cells WHERE identity = ?",
    EVALUATIONS: "SELECT sha256 FROM evaluations WHERE identity = ?",
}

# What a run makes in its folder, by place; "" is the folder itself.
_OWN_NAMES = {
    "": r"run\.sqlite(-wal|-shm|-journal)?|run\.lock|results\.json|clusters\.parquet"
    r"|cells|data|encoded|evaluations|models|unfinished|[a-z_-]+\.(png|svg|pdf)",
    CELLS: r"[0-9a-f]{64}\.parquet",
    EVALUATIONS: r"[0-9a-f]{64}\.parquet",
    "data": r"[0-9a-f]{16}|tags\.sqlite(-wal|-shm|-journal)?",
    "encoded": r"[0-9a-f]{16}",
    MODELS: r"([\w.-]+-)?rho-[0-9.e-]+-m-\d+(-voter-\d+)?",
    UNFINISHED_TRAININGS: r"[0-9a-f]{64}(-\d+)?\.(pt|npz)",
}
# Before its name a file has this one: see artefacts.write_folder and atomic.name_temporary.
_TEMPORARY = re.compile(rf"\.?(?P<name>.+)\.(\d+|[0-9a-f]{{16}}){re.escape(UNFINISHED)}")


def lock_folder(folder: Path) -> IO[str]:
    """Hold a folder; whoever closes the file gives it back."""
    path = folder / RUN_LOCK
    is_new = not os.path.lexists(path)
    if not is_new:
        check_file(path)
    file = path.open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.seek(0)
        holder = file.read().strip()
        file.close()
        raise StoreError(
            f"{folder}: another run holds this folder"
            + (f" (process {holder})" if holder else "")
            + "; wait for it, or choose another folder"
        ) from error
    except OSError as error:
        file.close()
        if is_new:
            path.unlink(missing_ok=True)
        raise StoreError(
            f"{folder}: its file system has no locks ({error.strerror}), so nothing would keep a "
            "second run out; choose a folder on a local disk, and copy it when the run has ended"
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def is_own(name: str, place: str) -> bool:
    """Tell whether a run gives this name to something in a place of its folder."""
    temporary = _TEMPORARY.fullmatch(name)
    plain = name if temporary is None else temporary["name"]
    return re.fullmatch(_OWN_NAMES[place], plain) is not None


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder that holds something else than a run; nothing is written for it.

    A run's database says whose folder it is. Without one, nothing may be there that a run has not
    made itself: the database may be deleted, and is then filled again from the cells' files.
    """
    try:
        found = sorted(path.name for path in folder.iterdir())
    except FileNotFoundError:
        return
    if DATABASE in found:
        if RUN_LOCK not in found:  # else a run may be writing; it is checked under the lock
            _refuse_foreign_file(folder / DATABASE)
        return
    if not found:
        return
    others = [name for name in found if not is_own(name, "")]
    if not others and RUN_LOCK not in found:
        others = found
    if others:
        shown = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if others[3:] else "")
        raise StoreError(
            f"{folder}: holds files that are not a run's ({shown}); choose a folder that is new or "
            "empty, or that of a run"
        )


def _refuse_foreign_file(path: Path) -> None:
    """Refuse another program's database without a trace: no log, no index of one, appears."""
    try:
        with closing(_open_to_read(path)) as database:
            refuse_foreign_database(path, database)
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: cannot be used: {error}") from error


def _open_to_read(path: Path) -> sqlite3.Connection:
    """Open a database without a trace beside it."""
    check_file(path)
    uri = f"{path.resolve().as_uri()}?mode=ro"
    if not path.with_name(f"{path.name}-wal").exists():
        uri += "&immutable=1"
    return sqlite3.connect(uri, uri=True)


def check_recorded(path: Path, data: bytes) -> None:
    """Refuse answers of a finished cell that are not those that the run has recorded.

    A folder without its database, or a file without a row, has nothing to compare them with.
    """
    query, database = _RECORDED.get(path.parent.name), path.parent.parent / DATABASE
    if query is None or not database.is_file():
        return
    try:
        with closing(_open_to_read(database)) as connection:
            found = connection.execute(query, (path.stem,)).fetchone()
    except sqlite3.OperationalError:  # of a table that is not there, or a log on a read-only disk
        return
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{database}: is damaged ({error}); delete it and give the run's command again"
        ) from error
    if found is not None and found[0] != hashlib.sha256(data).hexdigest():
        raise StoreError(f"{path}: has changed since it was written; {PUT_BACK}")


def refuse_foreign_database(path: Path, database: sqlite3.Connection) -> None:
    """Refuse a database that another program made under the same name."""
    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    if tables and "meta" not in tables:
        raise StoreError(f"{path}: is no database of a run; choose another folder")


def sweep(folder: Path) -> None:
    """Delete what a killed run of this folder left under temporary names; needs the run's lock."""
    for place in _OWN_NAMES:
        for path in sorted((folder / place).glob(f"*{UNFINISHED}")):
            if not _TEMPORARY.fullmatch(path.name) or not is_own(path.name, place):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


_CELL_KEY = b"ietest-fast.cell"


@dataclass(frozen=True, kw_only=True)
class CellRecord:
    """A finished cell."""

    identity: str
    """sha256 of all that affects the result."""
    model: str
    phi: str | None
    rho: float
    m: int
    """Which cell it is: keys of the model and of the transformation of its training data (None at
    rho = 0)."""
    metrics: Mapping[str, Any]
    """Numbers of this cell, ready for JSON: ``valid_accuracy``, ``train_transformed``,
    ``valid_transformed`` and, unless it was trained on all rows, ``train_size``."""
    artefact: str
    """File name under ``cells/``."""
    sha256: str
    """Of that file."""
    seconds: float | None = None
    """What it took; None if that went down with a killed run."""

    def __post_init__(self) -> None:
        texts = (self.identity, self.model, self.phi or "", self.artefact, self.sha256)
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("a name is no text")
        if not _is_share(self.rho) or not _is_count(self.m):
            raise ValueError(f"there is no cell rho={self.rho!r}, m={self.m!r}")
        if not _is_share(self.metrics["valid_accuracy"]):
            raise ValueError(f"valid_accuracy is {self.metrics['valid_accuracy']!r}")
        for name in ("train_transformed", "valid_transformed", "train_size"):
            if not _is_count(self.metrics.get(name, 0 if name == "train_size" else None)):
                raise ValueError(f"{name} is {self.metrics[name]!r}")


def _is_share(value: Any) -> bool:
    number = as_finite(value)
    return number is not None and 0 <= number <= 1


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def make_predictions(
    gold: NDArray[np.int8],
    versions: Mapping[str, NDArray[np.int8]],
    changed: Mapping[str, NDArray[np.bool_]],
    *,
    label_names: Sequence[str],
    **which: str | float,
) -> Predictions:
    """Make the table of a cell's answers."""
    unchanged = np.zeros(len(gold), dtype=np.bool_)
    return Predictions.from_codes(
        items=np.arange(len(gold), dtype=np.int64),
        gold=gold,
        versions=versions,
        label_names=label_names,
        columns=which,
        version_columns={
            "changed": {name: np.asarray(changed.get(name, unchanged)) for name in versions}
        },
    )


def match(predictions: Predictions, version: str) -> pa.Table:
    """Return the matched sample of a version: one row for each test observation, in their order."""
    import pyarrow as pa

    try:
        pairs = predictions.pairs(version)
    except InputError as error:
        raise ValueError(str(error)) from error
    if "changed" not in predictions.columns:
        raise ValueError("it has no column 'changed'")
    gold, original, transformed = pairs.gold, pairs.original, pairs.transformed
    n = len(gold)
    if pairs.n_unmatched or not np.array_equal(pairs.items, np.arange(n)):
        raise ValueError("its rows are not in their order")
    if min(gold.min(), original.min(), transformed.min()) < 0:
        raise ValueError("a label is missing")
    changed = predictions.table["changed"].to_numpy()
    return pa.table(
        {
            "row": np.arange(n, dtype=np.int64),
            "gold": gold.astype(np.int8),
            "original": original.astype(np.int8),
            "transformed": transformed.astype(np.int8),
            "original_correct": original == gold,
            "transformed_correct": transformed == gold,
            "changed": changed[pairs.version_rows],
        }
    )


def write_cell(predictions: Predictions, described: Mapping[str, Any]) -> bytes:
    """Write a cell's predictions, and in the metadata the fields of its record."""
    return _write(predictions, _CELL_KEY, described)


def _write(predictions: Predictions, key: bytes, described: Mapping[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = predictions.table
    metadata = {**(table.schema.metadata or {}), key: canonical_json(described).encode()}
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(metadata), sink, compression="zstd")
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _describe(name: str, data: bytes, key: bytes) -> dict[str, Any]:
    """Read the fields of a record from the file that says them, and add those of the file."""
    import pyarrow.parquet as pq

    described = json.loads(pq.read_schema(io.BytesIO(data)).metadata[key])
    return dict(**described, artefact=name, sha256=hashlib.sha256(data).hexdigest())


def describe_cell(name: str, data: bytes) -> CellRecord:
    """Read what a cell's file says of itself."""
    return CellRecord(**_describe(name, data, _CELL_KEY))


def read_cell_artefact(path: Path, *, remedy: str = "delete it and run again") -> CellRecord:
    """Read what a cell's artefact says of itself."""
    try:
        return describe_cell(path.name, read_bytes(path, most_bytes=None))
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path}: is damaged or no matched sample of a cell; {remedy}") from error


def read_predictions(path: Path, record: CellRecord | None = None) -> Predictions:
    """Read a cell's predictions, which its record (or else the run's database) has to know.

    A ValueError says that the file is damaged.
    """
    data = read_bytes(path, most_bytes=None)
    if record is None:
        check_recorded(path, data)
    else:
        if hashlib.sha256(data).hexdigest() != record.sha256:
            raise StoreError(f"{path}: has changed since it was written; {MADE_ANEW}")
        if describe_cell(path.name, data) != replace(record, seconds=None):
            raise StoreError(
                f"{path}: says something else of its cell than the run's database; {MADE_ANEW}"
            )
    return _parse(path, data)


def _parse(path: Path, data: bytes) -> Predictions:
    import pyarrow.parquet as pq

    try:
        return Predictions.from_table(pq.read_table(io.BytesIO(data)), source=path.name)
    except InputError as error:
        raise ValueError(str(error)) from error


# A cell's answers to a further test set, on disk: a table of predictions in a file of its own.


_EVALUATION_KEY = b"ietest-fast.evaluation"


@dataclass(frozen=True, kw_only=True)
class FurtherRecord:
    """The answers of a cell to a further test set, as they were written."""

    identity: str
    """sha256 of all that affects them."""
    cell: str
    """Identity of the cell."""
    artefact: str
    """File name under ``evaluations/``."""
    sha256: str
    """Of that file."""

    def __post_init__(self) -> None:
        if not all(isinstance(text, str) for text in (self.identity, self.cell)):
            raise ValueError("a name is no text")


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredAnswers:
    """What a classifier has answered to a further test set."""

    source_row: NDArray[np.int64]
    """int64, shape (n,): the row of the test set that each row comes from."""
    gold: NDArray[np.int8]
    predicted: NDArray[np.int8]
    """int8, shape (n,): labels."""
    changed: NDArray[np.bool_]
    """bool, shape (n,): whether the texts differ from those of the source row."""

    @property
    def n_correct(self) -> int:
        """How many answers are right."""
        return int((self.gold == self.predicted).sum())


def write_evaluation(
    texts: FurtherTexts,
    predicted: NDArray[np.int8],
    *,
    label_names: Sequence[str],
    identity: str,
    cell: str,
    key: str,
    columns: Mapping[str, Any],
) -> bytes:
    """Write the answers to a further test set, as a table like that of a cell."""
    from ietest_fast.answers.asking import number_copies

    copies = number_copies(texts.source_row)
    predictions = Predictions.from_codes(
        items=texts.source_row,
        gold=texts.split.labels,
        versions={key: predicted},
        label_names=label_names,
        columns={**columns, **({"copy": copies} if copies.any() else {})},
        version_columns={"changed": {key: texts.changed}},
    )
    return _write(predictions, _EVALUATION_KEY, {"identity": identity, "cell": cell})


def describe_evaluation(name: str, data: bytes) -> FurtherRecord:
    """Read what such a file says of itself."""
    return FurtherRecord(**_describe(name, data, _EVALUATION_KEY))


def read_evaluation(path: Path, record: FurtherRecord) -> StoredAnswers:
    """Read the answers to a further test set."""
    data = read_bytes(path, most_bytes=None)
    if describe_evaluation(path.name, data) != record:
        raise StoreError(f"{path}: has changed since it was written; {MADE_ANEW}")
    found = _parse(path, data)
    return StoredAnswers(
        source_row=found.table["item"].to_numpy(),
        gold=found.codes("gold").astype(np.int8),
        predicted=found.codes("predicted").astype(np.int8),
        changed=found.table["changed"].to_numpy(),
    )


# Clusters of a run's test rows: kept in its folder, for what is measured once it has ended.

_CLUSTERS_KEY = b"ietest_fast.clusters"
_CLUSTERS_REMEDY = "give the run's command again, then it is written anew and nothing is trained"


def write_clusters(
    folder: Path, column: str | None, test: str, clusters: NDArray[np.int64] | None
) -> None:
    """Write the clusters of the test rows into a run's folder, or remove those of other
    settings.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / CLUSTERS
    if column is None or clusters is None:
        path.unlink(missing_ok=True)
        return
    table = pa.table({"cluster": clusters}).replace_schema_metadata(
        {_CLUSTERS_KEY: _describe_clusters(column, test)}
    )
    write_artefact(path, lambda file: pq.write_table(table, file, compression="zstd"))


def read_clusters(results: RunResult) -> NDArray[np.int64] | None:
    """Return the cluster of each test row of a run, int64 (n_test,); None without clusters."""
    import pyarrow.parquet as pq

    column = results.settings.data.cluster
    if column is None:
        return None
    path = results.folder / CLUSTERS
    if not path.exists():
        raise StoreError(f"{path}: the clusters of the test rows are missing; {_CLUSTERS_REMEDY}")
    with reading(path, remedy=_CLUSTERS_REMEDY):
        table = pq.read_table(check_file(path))
        codes = table["cluster"].to_numpy()
        said = (table.schema.metadata or {}).get(_CLUSTERS_KEY)
        if codes.dtype != np.int64:
            raise ValueError(f"its clusters are {codes.dtype}, int64 expected")
    wanted = _describe_clusters(column, results.settings.data.fingerprints["test"])
    if said != wanted or len(codes) != results.data.test.rows:
        raise StoreError(
            f"{path}: holds other clusters than the results speak of; {_CLUSTERS_REMEDY}"
        )
    found: NDArray[np.int64] = codes
    return found


def _describe_clusters(column: str, test: str) -> bytes:
    import json

    return json.dumps({"column": column, "test": test}, sort_keys=True).encode()
