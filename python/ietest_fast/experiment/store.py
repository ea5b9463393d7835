"""A run's folder: what is finished stays finished, whatever happens.

The contract
------------
* The run alone writes here, never its workers: what they do, they send it as bytes. So nothing can
  appear in the folder after its run has died.
* A cell is finished from the moment its artefact has its name: it is written to another name,
  forced to disk and renamed. The row that names it comes after; a run that was killed in between
  finds the artefact and adds the row, so a finished cell is neither lost nor done twice. Its
  answers to further test sets, each a file by itself, have their names before.
* Rows are committed one by one (SQLite, write-ahead log, full synchronisation). What they say is
  checked when they are read: a trial's row against its checksum, a cell's against its artefact. So
  are the files of unfinished tasks.
* One run at a time holds the folder.
* The folder belongs to the settings of one work, file contents included, from the moment that this
  work is known to have a point (``bind``). Another one is refused. How the work is judged (alpha,
  margin, method and their like) does not bind the folder.
* A folder that holds something else than a run is refused before anything is written to it. What
  a killed run left is deleted only once the folder is claimed, and only under the temporary names
  that a run gives its own files: nobody else's files are touched.
* Times are kept here and never in ``results.json``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Self

from ietest_fast.atomic import write_artefact, write_bytes
from ietest_fast.errors import StoreError
from ietest_fast.experiment.artefacts import REPEAT, check_files, reading, write_folder
from ietest_fast.experiment.cells import (
    CELLS,
    DATABASE,
    EVALUATIONS,
    MODELS,
    UNFINISHED_TRAININGS,
    CellRecord,
    FurtherRecord,
    describe_cell,
    describe_evaluation,
    is_own,
    lock_folder,
    read_cell_artefact,
    read_evaluation,
    read_predictions,
    refuse_foreign,
    refuse_foreign_database,
    sweep,
)
from ietest_fast.experiment.identity import canonical_json, differing_keys
from ietest_fast.experiment.search import Trial
from ietest_fast.files import check_file, read_bytes

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping
    from pathlib import Path

    from ietest_fast.answers import Predictions
    from ietest_fast.experiment.cells import StoredAnswers

_FORMAT = 2

# A file of an unfinished task ends with the SHA-256 of what is before.
_DIGEST_BYTES = 32

_RETRAIN = (
    "put back what was written, leave out the further test set (eval_phi), or begin in another "
    "folder, where all is trained anew"
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS trials (
    identity TEXT PRIMARY KEY, number INTEGER NOT NULL, params TEXT NOT NULL,
    valid_accuracy REAL NOT NULL, sha256 TEXT NOT NULL, seconds REAL
) STRICT;
CREATE TABLE IF NOT EXISTS cells (
    identity TEXT PRIMARY KEY, model TEXT NOT NULL, phi TEXT, rho REAL NOT NULL,
    m INTEGER NOT NULL, artefact TEXT NOT NULL, sha256 TEXT NOT NULL, metrics TEXT NOT NULL,
    seconds REAL
) STRICT;
CREATE TABLE IF NOT EXISTS evaluations (
    identity TEXT PRIMARY KEY, cell TEXT NOT NULL, artefact TEXT NOT NULL, sha256 TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS models (name TEXT PRIMARY KEY, sha256 TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS executions (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, identity TEXT NOT NULL, event TEXT NOT NULL,
    detail TEXT, at REAL NOT NULL
) STRICT;
"""


class RunStore:
    """The folder of one run. Use :meth:`open`, as a context manager."""

    def __init__(
        self,
        folder: Path,
        lock: IO[str],
        database: sqlite3.Connection,
        settings: Mapping[str, Any],
    ) -> None:
        self.folder = folder
        self._lock = lock
        self._database = database
        self._settings = settings

    @classmethod
    def open(cls, folder: Path, settings: Mapping[str, Any]) -> Self:
        """Open or make a run's folder and repair what a killed run left."""
        try:
            refuse_foreign(folder)
            folder.mkdir(parents=True, exist_ok=True)
            lock = lock_folder(folder)
        except OSError as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"{folder}: cannot be used: {error.strerror}") from error
        database: sqlite3.Connection | None = None
        try:
            if os.path.lexists(folder / DATABASE):
                check_file(folder / DATABASE)
            database = sqlite3.connect(folder / DATABASE, isolation_level=None)
            refuse_foreign_database(folder / DATABASE, database)
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=FULL")
            database.executescript(f"BEGIN;{_SCHEMA}COMMIT;")
            store = cls(folder, lock, database, settings)
            store._compare_settings()
            sweep(folder)
            (folder / CELLS).mkdir(exist_ok=True)
        except BaseException as error:
            if database is not None:
                database.close()
            lock.close()
            if isinstance(error, sqlite3.DatabaseError):
                raise StoreError(f"{folder / DATABASE}: cannot be used: {error}") from error
            raise
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the folder back, without what a stopped worker left unfinished."""
        self._database.close()
        with suppress(OSError):  # the next run sweeps as well
            sweep(self.folder)
        self._lock.close()

    def bind(self) -> None:
        """Make the folder that of its settings, and let its rows be those of the cells' files.

        A cell whose file is gone is to be done again; one without a row gets it.
        """
        if not self._compare_settings():
            with self._transaction():
                self._database.execute(
                    "INSERT INTO meta VALUES ('settings', ?)", (canonical_json(self._settings),)
                )
        for cell in self.cells().values():
            if not (self.folder / CELLS / cell.artefact).is_file():
                self.forget_cell(cell.identity)
        self._adopt_artefacts()

    def _compare_settings(self) -> bool:
        """Tell whether the folder is bound, and refuse if it is to other settings."""
        with self._reading():
            found = dict(self._database.execute("SELECT key, value FROM meta"))
            n_finished = self._database.execute(
                "SELECT (SELECT count(*) FROM cells) + (SELECT count(*) FROM trials)"
            ).fetchone()[0]
            if not found:
                with self._transaction():
                    self._database.execute("INSERT INTO meta VALUES ('format', ?)", (str(_FORMAT),))
                return False
            if found.get("format") != str(_FORMAT):
                raise StoreError(
                    f"{self.folder}: was made by another version (format {found.get('format')}, "
                    f"this is {_FORMAT}); choose another folder"
                )
            if "settings" not in found and not n_finished:
                return False
            differing = differing_keys(json.loads(found["settings"]), self._settings)
        if differing:
            raise StoreError(
                f"{self.folder}: belongs to a run with other settings; these differ: "
                f"{', '.join(differing)}. Choose another folder, or the settings it was made with"
            )
        return True

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise StoreError(f"{self.folder / DATABASE}: cannot be written: {error}") from error
        except sqlite3.Error as error:
            raise self._damaged(error) from error

    def _damaged(self, error: sqlite3.Error) -> StoreError:
        """Say what to do; deleting the database loses no cell: their artefacts are adopted."""
        return StoreError(
            f"{self.folder / DATABASE}: is damaged ({error}); delete it and give the same "
            "command again, then finished cells are taken over from their files"
        )

    def _adopt_artefacts(self) -> None:
        with self._reading():
            known = {row[0] for row in self._database.execute("SELECT artefact FROM cells")}
        for path in sorted((self.folder / CELLS).glob("*.parquet")):
            if path.name in known or not is_own(path.name, CELLS):
                continue
            cell = read_cell_artefact(path)
            if cell.identity != path.stem:
                raise StoreError(
                    f"{path}: holds another cell than its name says ({cell.identity}); delete it "
                    "and run again"
                )
            self.add_cell(cell, event="adopted")
        written = self.evaluations()
        for path in sorted((self.folder / EVALUATIONS).glob("*.parquet")):
            if path.stem not in written and is_own(path.name, EVALUATIONS):
                with reading(path):
                    found = describe_evaluation(path.name, read_bytes(path, most_bytes=None))
                    if found.identity != path.stem:
                        raise ValueError("it holds other answers than its name says")
                self._add_evaluation(found)

    def log(self, kind: str, identity: str, event: str, detail: str | None = None) -> None:
        """Record that something happened to a trial or a cell."""
        with self._transaction():
            self._insert_event(kind, identity, event, detail)

    def _insert_event(self, kind: str, identity: str, event: str, detail: str | None) -> None:
        self._database.execute(
            "INSERT INTO executions (kind, identity, event, detail, at) VALUES (?, ?, ?, ?, ?)",
            (kind, identity, event, detail, time.time()),
        )

    def executions(self) -> list[tuple[str, str, str, str | None]]:
        """Give all that was recorded, in order: kind, identity, event, detail."""
        return self._database.execute(
            "SELECT kind, identity, event, detail FROM executions ORDER BY id"
        ).fetchall()

    def finish_trial(self, identity: str, trial: Trial, seconds: float | None) -> None:
        """Record a trial of the search."""
        params = canonical_json(trial.params)
        checksum = _checksum(identity, trial.number, params, trial.valid_accuracy)
        with self._transaction():
            self._database.execute(
                "INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?)",
                (identity, trial.number, params, trial.valid_accuracy, checksum, seconds),
            )
            self._insert_event("trial", identity, "finished", None)

    def trials(self) -> dict[str, Trial]:
        """Give the finished trials by identity, in order of their numbers."""
        with self._reading():
            rows = self._database.execute(
                "SELECT identity, number, params, valid_accuracy, sha256 FROM trials "
                "ORDER BY number"
            ).fetchall()
            for *values, checksum in rows:
                if _checksum(*values) != checksum:
                    raise ValueError(f"trial {values[1]} is not as it was recorded")
            return {
                identity: Trial(number=number, params=json.loads(params), valid_accuracy=accuracy)
                for identity, number, params, accuracy, _ in rows
            }

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Read the database."""
        try:
            with reading(self.folder / DATABASE):
                yield
        except sqlite3.Error as error:
            raise self._damaged(error) from error

    def finish_cell(
        self, artefact: bytes, *, seconds: float | None, evaluations: Iterable[bytes] = ()
    ) -> None:
        """Write what came of a cell, and then its row."""
        for data in evaluations:
            self.finish_evaluation(data)
        identity = describe_cell("", artefact).identity
        path = self.folder / CELLS / f"{identity}.parquet"
        write_bytes(path, artefact)
        self.add_cell(replace(describe_cell(path.name, artefact), seconds=seconds))

    def add_cell(self, cell: CellRecord, *, event: str = "finished") -> None:
        """Record a cell whose artefact has its name."""
        with self._transaction():
            self._database.execute(
                "INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    cell.identity,
                    cell.model,
                    cell.phi,
                    cell.rho,
                    cell.m,
                    cell.artefact,
                    cell.sha256,
                    canonical_json(cell.metrics),
                    cell.seconds,
                ),
            )
            self._insert_event("cell", cell.identity, event, None)

    def forget_cell(self, identity: str) -> None:
        """Drop the row of a cell of which a file is gone, so that it is done again."""
        with self._transaction():
            self._database.execute("DELETE FROM cells WHERE identity = ?", (identity,))
            self._insert_event("cell", identity, "lost", None)

    def cells(self) -> dict[str, CellRecord]:
        """Give the finished cells by identity."""
        with self._reading():
            rows = self._database.execute(
                "SELECT identity, model, phi, rho, m, artefact, sha256, metrics, seconds FROM cells"
            )
            names = ("identity", "model", "phi", "rho", "m", "artefact", "sha256")
            return {
                row[0]: CellRecord(
                    **dict(zip(names, row, strict=False)),
                    metrics=json.loads(row[7]),
                    seconds=row[8],
                )
                for row in rows
            }

    def read_cell(self, cell: CellRecord) -> Predictions:
        """Read the predictions of a finished cell."""
        path = self.folder / CELLS / cell.artefact
        if not path.is_file():
            raise StoreError(
                f"{path}: the predictions of a finished cell (rho {cell.rho:g}, m {cell.m}) is "
                f"gone; {REPEAT}"
            )
        with reading(path):
            return read_predictions(path, cell)

    def finish_evaluation(self, data: bytes) -> None:
        """Write a cell's answers to a further test set, and then their row."""
        own = describe_evaluation("", data)
        name = f"{own.identity}.parquet"
        write_bytes(self.folder / EVALUATIONS / name, data)
        self._add_evaluation(replace(own, artefact=name))

    def _add_evaluation(self, own: FurtherRecord) -> None:
        # A cell that a kill cut short is done again, and so are its answers.
        with self._transaction():
            self._database.execute(
                "INSERT OR REPLACE INTO evaluations VALUES (?, ?, ?, ?)",
                (own.identity, own.cell, own.artefact, own.sha256),
            )

    def evaluations(self) -> dict[str, FurtherRecord]:
        """Give the answers to further test sets, by identity; also those of unfinished cells."""
        with self._reading():
            rows = self._database.execute(
                "SELECT identity, cell, artefact, sha256 FROM evaluations"
            )
            names = ("identity", "cell", "artefact", "sha256")
            return {row[0]: FurtherRecord(**dict(zip(names, row, strict=True))) for row in rows}

    def has_evaluation(self, identity: str) -> bool:
        """Tell whether the file of answers to a further test set is there."""
        return (self.folder / EVALUATIONS / f"{identity}.parquet").is_file()

    def read_evaluation(self, own: FurtherRecord) -> StoredAnswers:
        """Read the answers of a finished cell to a further test set."""
        path = self.folder / EVALUATIONS / f"{own.identity}.parquet"
        if not path.is_file():
            raise StoreError(
                f"{path}: the answers of a finished cell to a further test set are gone; {REPEAT}"
            )
        with reading(path):
            return read_evaluation(path, own)

    def keep_unfinished(self, name: str, data: bytes) -> None:
        """Keep what there is of a task, under a name that begins with the task's identity."""

        def fill(file: BinaryIO) -> None:
            file.write(data)
            file.write(hashlib.sha256(data).digest())

        write_artefact(self.folder / UNFINISHED_TRAININGS / name, fill)

    def read_unfinished(self, identity: str) -> dict[str, bytes]:
        """Return what was kept of a task, by name."""
        found = {}
        for path in sorted((self.folder / UNFINISHED_TRAININGS).glob(f"{identity}*")):
            if not is_own(path.name, UNFINISHED_TRAININGS):
                continue
            with reading(path):
                written = read_bytes(path, most_bytes=None)
                data, digest = written[:-_DIGEST_BYTES], written[-_DIGEST_BYTES:]
                if hashlib.sha256(data).digest() != digest:
                    raise ValueError("its checksum is another")
            found[path.name] = data
        return found

    def forget_unfinished(self, identities: Container[str]) -> None:
        """Remove what was kept of tasks that are finished now."""
        for path in (self.folder / UNFINISHED_TRAININGS).glob("*"):
            if path.name.partition(".")[0].partition("-")[0] in identities:
                path.unlink()

    def keep_model(self, name: str, files: Mapping[str, bytes]) -> None:
        """Keep a classifier: the contents of its files by path, in a folder below ``models``."""
        folder = self.model_folder(name)
        if folder.exists():  # of a run that was killed before the cell was finished
            shutil.rmtree(folder)

        def fill(place: Path) -> None:
            for path, data in files.items():
                (place / path).parent.mkdir(parents=True, exist_ok=True)
                (place / path).write_bytes(data)

        # Before the folder has its name: none is there without its checksums.
        checksums = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
        with self._transaction():
            self._database.execute(
                "INSERT OR REPLACE INTO models VALUES (?, ?)", (name, canonical_json(checksums))
            )
        write_folder(folder, fill)

    def check_model(self, name: str) -> None:
        """Make sure that a kept classifier is the one that was trained.

        Nothing is known of one that an earlier version has kept, or that has outlived the database.
        """
        with self._reading():
            query = "SELECT sha256 FROM models WHERE name = ?"
            row = self._database.execute(query, (name,)).fetchone()
            expected = None if row is None else json.loads(row[0])
        if expected is not None:
            check_files(self.model_folder(name), expected, remedy=_RETRAIN)

    def has_model(self, name: str) -> bool:
        """Tell whether a classifier has been kept."""
        return self.model_folder(name).is_dir()

    def model_folder(self, name: str) -> Path:
        """Return where a classifier is kept, or would be."""
        return self.folder / MODELS / name


def _checksum(*values: Any) -> str:
    return hashlib.sha256(canonical_json(values).encode()).hexdigest()
