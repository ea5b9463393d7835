"""A run's folder: what is finished stays finished, whatever happens.

The contract
------------
* A cell is finished from the moment its artefact has its name: it is written to another name,
  forced to disk and renamed. The row that names it comes after; a run that was killed in between
  finds the artefact and adds the row, so a finished cell is neither lost nor done twice.
* Rows are committed one by one (SQLite, write-ahead log, full synchronisation).
* One run at a time holds the folder. A worker that outlives its killed run is waited for.
* The folder belongs to one configuration, file contents included. Another one is refused.
* Times are kept here and never in ``results.json``.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Self

from ietest_fast.errors import StoreError
from ietest_fast.experiment.artefacts import reading, sweep_unfinished
from ietest_fast.experiment.identity import canonical_json, differing_keys
from ietest_fast.experiment.search import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

DATABASE = "run.sqlite"
CELLS = "cells"
RUN_LOCK = "run.lock"
WORKERS_LOCK = "workers.lock"

_FORMAT = 1
_WORKERS_PATIENCE_SECONDS = 60.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS trials (
    identity TEXT PRIMARY KEY, number INTEGER NOT NULL, params TEXT NOT NULL,
    valid_accuracy REAL NOT NULL, seconds REAL
) STRICT;
CREATE TABLE IF NOT EXISTS cells (
    identity TEXT PRIMARY KEY, model TEXT NOT NULL, rho REAL NOT NULL, m INTEGER NOT NULL,
    artefact TEXT NOT NULL, sha256 TEXT NOT NULL, metrics TEXT NOT NULL, seconds REAL
) STRICT;
CREATE TABLE IF NOT EXISTS executions (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, identity TEXT NOT NULL, event TEXT NOT NULL,
    detail TEXT, at REAL NOT NULL
) STRICT;
"""


@dataclass(frozen=True, kw_only=True)
class CellRecord:
    """A finished cell.

    Attributes
    ----------
    identity
        sha256 of all that affects the result.
    model, rho, m
        Which cell it is.
    artefact
        File name under ``cells/``.
    sha256
        Of that file.
    metrics
        Numbers of this cell, ready for JSON.
    seconds
        What it took; None if that went down with a killed run.
    """

    identity: str
    model: str
    rho: float
    m: int
    artefact: str
    sha256: str
    metrics: Mapping[str, Any]
    seconds: float | None


@contextmanager
def shared_worker_lock(folder: Path) -> Iterator[None]:
    """Let the folder know that a worker is alive; the lock goes with its process."""
    with (folder / WORKERS_LOCK).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


def _lock_folder(folder: Path) -> IO[str]:
    file = (folder / RUN_LOCK).open("a+", encoding="utf-8")
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
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _await_workers(folder: Path) -> None:
    deadline = time.monotonic() + _WORKERS_PATIENCE_SECONDS
    with (folder / WORKERS_LOCK).open("ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise StoreError(
                        f"{folder}: workers of an earlier run are still alive; end them first"
                    ) from error
                time.sleep(0.05)
            else:
                return


class RunStore:
    """The folder of one run. Use :meth:`open`, as a context manager.

    Attributes
    ----------
    folder
        Where it is.
    """

    def __init__(self, folder: Path, lock: IO[str], database: sqlite3.Connection) -> None:
        self.folder = folder
        self._lock = lock
        self._database = database

    @classmethod
    def open(cls, folder: Path, settings: Mapping[str, Any]) -> Self:
        """Open or make a run's folder and repair what a killed run left.

        Parameters
        ----------
        folder
            The folder; made if absent.
        settings
            All that results depend on, ready for JSON.

        Raises
        ------
        StoreError
            If another run holds the folder, it belongs to other settings (the message names the
            keys), its format is of another version, or its database is damaged.
        """
        try:
            (folder / CELLS).mkdir(parents=True, exist_ok=True)
            lock = _lock_folder(folder)
        except OSError as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"{folder}: cannot be used: {error.strerror}") from error
        database: sqlite3.Connection | None = None
        try:
            _await_workers(folder)
            sweep_unfinished(folder)
            database = sqlite3.connect(folder / DATABASE, isolation_level=None)
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=FULL")
            database.executescript(f"BEGIN;{_SCHEMA}COMMIT;")
            store = cls(folder, lock, database)
            store._claim(settings)
            store._adopt_artefacts()
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
            sweep_unfinished(self.folder)
        self._lock.close()

    def _claim(self, settings: Mapping[str, Any]) -> None:
        found = dict(self._database.execute("SELECT key, value FROM meta"))
        if not found:
            with self._transaction():
                self._database.executemany(
                    "INSERT INTO meta VALUES (?, ?)",
                    [("format", str(_FORMAT)), ("settings", canonical_json(settings))],
                )
            return
        if found.get("format") != str(_FORMAT):
            raise StoreError(
                f"{self.folder}: was made by another version (format {found.get('format')}, "
                f"this is {_FORMAT}); choose another folder"
            )
        with self._reading():
            differing = differing_keys(json.loads(found["settings"]), settings)
        if differing:
            raise StoreError(
                f"{self.folder}: belongs to a run with other settings; these differ: "
                f"{', '.join(differing)}. Choose another folder, or the settings it was made with"
            )

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

    def _adopt_artefacts(self) -> None:
        from ietest_fast.experiment.matching import read_cell_artefact

        known = {row[0] for row in self._database.execute("SELECT artefact FROM cells")}
        for path in sorted((self.folder / CELLS).glob("*.parquet")):
            if path.name not in known:
                self.finish_cell(read_cell_artefact(path), event="adopted")

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
        with self._transaction():
            self._database.execute(
                "INSERT INTO trials VALUES (?, ?, ?, ?, ?)",
                (
                    identity,
                    trial.number,
                    canonical_json(trial.params),
                    trial.valid_accuracy,
                    seconds,
                ),
            )
            self._insert_event("trial", identity, "finished", None)

    def trials(self) -> dict[str, Trial]:
        """Give the finished trials by identity, in order of their numbers."""
        with self._reading():
            rows = self._database.execute(
                "SELECT identity, number, params, valid_accuracy FROM trials ORDER BY number"
            )
            return {
                identity: Trial(number=number, params=json.loads(params), valid_accuracy=accuracy)
                for identity, number, params, accuracy in rows
            }

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Read the database; deleting it loses no cell, for their artefacts are adopted again."""
        try:
            with reading(self.folder / DATABASE):
                yield
        except sqlite3.Error as error:
            raise StoreError(
                f"{self.folder / DATABASE}: is damaged ({error}); delete it and give the same "
                "command again, then finished cells are taken over from their files"
            ) from error

    def finish_cell(self, cell: CellRecord, *, event: str = "finished") -> None:
        """Record a cell whose artefact has its name."""
        with self._transaction():
            self._database.execute(
                "INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    cell.identity,
                    cell.model,
                    cell.rho,
                    cell.m,
                    cell.artefact,
                    cell.sha256,
                    canonical_json(cell.metrics),
                    cell.seconds,
                ),
            )
            self._insert_event("cell", cell.identity, event, None)

    def cells(self) -> dict[str, CellRecord]:
        """Give the finished cells by identity."""
        with self._reading():
            rows = self._database.execute(
                "SELECT identity, model, rho, m, artefact, sha256, metrics, seconds FROM cells"
            )
            return {
                row[0]: CellRecord(
                    identity=row[0],
                    model=row[1],
                    rho=row[2],
                    m=row[3],
                    artefact=row[4],
                    sha256=row[5],
                    metrics=json.loads(row[6]),
                    seconds=row[7],
                )
                for row in rows
            }

    def cell_path(self, cell: CellRecord) -> Path:
        """Give the artefact's path; it must be there.

        Raises
        ------
        StoreError
            If the file is gone.
        """
        path = self.folder / CELLS / cell.artefact
        if not path.is_file():
            raise StoreError(
                f"{path}: the matched sample of a finished cell (rho {cell.rho:g}, m {cell.m}) is "
                "gone; put it back, or run into another folder"
            )
        return path
