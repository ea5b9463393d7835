"""What is done for one trial or one cell, in whatever process."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.errors import StoreError
from ietest_fast.experiment.artefacts import hash_file, reading, write_file, write_folder
from ietest_fast.experiment.identity import training_seed, trial_seed
from ietest_fast.experiment.resample import DataGeneratingProcess
from ietest_fast.experiment.store import CELLS, CellRecord
from ietest_fast.models import EncodedRows, EncodedSplit, load_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.models import Classifier, Model
    from ietest_fast.models.protocol import Params

SPLITS = ("train", "valid", "test")

MODELS = "models"
"""Folder of a run in which classifiers are kept."""

UNFINISHED_TRAININGS = "unfinished"
"""Folder of a run in which models that can be stopped keep what they have."""

_CELL_KEY = b"ietest-fast.cell"

# Smaller arrays are read whole: a mapping costs a page and a file handle.
_MAP_FROM_BYTES = 1 << 16


@dataclass(frozen=True, kw_only=True)
class TrialTask:
    """A candidate of the search, to be tried on the untransformed data.

    Attributes
    ----------
    identity
        sha256 of all that affects the result.
    params
        Hyperparameters.
    number
        From 0, in the order of drawing.
    """

    identity: str
    params: Params
    number: int
    kind: Literal["trial"] = "trial"

    def describe(self) -> str:
        """Name the task in a message."""
        return f"trial {self.number}"


@dataclass(frozen=True, kw_only=True)
class CellTask:
    """The cell (rho, m): a classifier to be trained on a resample, and matched.

    Attributes
    ----------
    identity
        sha256 of all that affects the result.
    params
        Hyperparameters.
    rho, m
        Which cell.
    """

    identity: str
    params: Params
    rho: float
    m: int
    kind: Literal["cell"] = "cell"

    def describe(self) -> str:
        """Name the task in a message."""
        return f"cell rho={self.rho:g}, m={self.m}"


Task = TrialTask | CellTask


def task_from_dict(values: dict[str, Any]) -> Task:
    """Make a task again from its fields."""
    return TrialTask(**values) if values["kind"] == "trial" else CellTask(**values)


@dataclass(frozen=True, kw_only=True)
class WorkContext:
    """What every task of a run shares; small, for the data itself is in files.

    Attributes
    ----------
    folder
        The run's folder.
    encoded
        Folder of the encoded splits.
    model, options
        For ``load_model``.
    n_classes
        Number of labels.
    seed
        The run's seed.
    n_threads
        Threads of a task.
    label_names
        Names of the labels.
    keep_models
        Whether the classifiers of cells are kept.
    """

    folder: str
    encoded: str
    model: str
    options: dict[str, Any]
    n_classes: int
    seed: int
    n_threads: int
    label_names: Sequence[str]
    keep_models: bool = False


def save_encoded(
    path: Path, splits: Mapping[str, EncodedSplit], test_changed: NDArray[np.bool_]
) -> None:
    """Write encoded splits as plain arrays that several processes can map at once.

    Parameters
    ----------
    path
        A folder that does not exist yet.
    splits
        ``"train"``, ``"valid"`` and ``"test"``.
    test_changed
        Which test texts the transformation changed, shape (n_test,).
    """

    def fill(folder: Path) -> None:
        for name, split in splits.items():
            (folder / name).mkdir()
            arrays = {f"store.{key}": array for key, array in split.store.arrays().items()}
            arrays |= {
                "original": split.original,
                "transformed": split.transformed,
                "labels": split.labels,
            }
            if name == "test":
                arrays["changed"] = test_changed
            for key, array in arrays.items():
                np.save(folder / name / f"{key}.npy", array, allow_pickle=False)

    write_folder(path, fill)


def _load_array(path: Path) -> NDArray[Any]:
    mapped = path.stat().st_size >= _MAP_FROM_BYTES
    array: NDArray[Any] = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    return array


def _load_split(folder: Path, model: Model) -> tuple[EncodedSplit, dict[str, NDArray[Any]]]:
    arrays = {path.name.removesuffix(".npy"): _load_array(path) for path in folder.glob("*.npy")}
    store = {
        key.removeprefix("store."): array
        for key, array in arrays.items()
        if key.startswith("store.")
    }
    return (
        EncodedSplit(
            store=model.load_store(store),
            original=arrays["original"],
            transformed=arrays["transformed"],
            labels=arrays["labels"],
        ),
        arrays,
    )


def check_encoded(folder: Path, model: Model) -> None:
    """Load what :func:`save_encoded` wrote, before workers try to.

    Raises
    ------
    StoreError
        If it is damaged.
    """
    with reading(folder):
        for name in SPLITS:
            _, arrays = _load_split(folder / name, model)
            if name == "test":
                arrays["changed"]


def match(classifier: Classifier, test: EncodedSplit) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Predict both versions of the test set (eq. 9), in one go.

    Where both versions are encoded alike the prediction is made once.

    Returns
    -------
    tuple of ndarray
        Predictions on the originals and on the transformed texts, int8, shape (n,) each.
    """
    n = len(test)
    differs = np.flatnonzero(test.original != test.transformed)
    stacked = np.concatenate((test.original, test.transformed[differs]))
    predicted = np.asarray(classifier.predict(test.store, stacked), dtype=np.int8)
    original = predicted[:n]
    transformed = original.copy()
    transformed[differs] = predicted[n:]
    return original, transformed


def _accuracy(classifier: Classifier, rows: EncodedRows) -> float:
    return float(np.mean(classifier.predict(rows.store, rows.rows) == rows.labels))


class Workbench:
    """The encoded data of a run and its model, ready for tasks."""

    def __init__(self, context: WorkContext) -> None:
        self._context = context
        self._folder = Path(context.folder)
        self._model = load_model(context.model, **context.options)
        loaded = {name: _load_split(Path(context.encoded) / name, self._model) for name in SPLITS}
        self._train, self._valid, self._test = (loaded[name][0] for name in SPLITS)
        self._changed = loaded["test"][1]["changed"]
        self._process = DataGeneratingProcess(seed=context.seed)

    def perform(self, task: Task) -> dict[str, Any]:
        """Do a task.

        Returns
        -------
        dict
            Ready for JSON: ``valid_accuracy`` of a trial, or the fields of a ``CellRecord``. The
            artefact of a cell is on disk when this returns.
        """
        return self._try_out(task) if isinstance(task, TrialTask) else self._fill_cell(task)

    def _fit(self, train: EncodedRows, valid: EncodedRows, task: Task, seed: int) -> Classifier:
        more: dict[str, Any] = {}
        if getattr(self._model, "resumes", False):
            unfinished = self._folder / UNFINISHED_TRAININGS
            unfinished.mkdir(exist_ok=True)
            more["resume_from"] = unfinished / f"{task.identity}.pt"
        return self._model.fit(
            train,
            valid,
            params=task.params,
            n_classes=self._context.n_classes,
            seed=seed,
            n_threads=self._context.n_threads,
            **more,
        )

    def _keep(self, classifier: Classifier, task: CellTask) -> None:
        save = classifier.save  # type: ignore[attr-defined]  # the run has asked the model
        folder = self._folder / MODELS / f"rho-{task.rho:g}-m-{task.m}"
        if folder.exists():  # of a run that was killed before the cell was finished
            shutil.rmtree(folder)
        write_folder(folder, lambda room: save(room, label_names=tuple(self._context.label_names)))

    def _try_out(self, task: TrialTask) -> dict[str, Any]:
        valid = self._valid.resample()
        seed = trial_seed(self._context.seed, number=task.number)
        classifier = self._fit(self._train.resample(), valid, task, seed)
        return {"valid_accuracy": _accuracy(classifier, valid)}

    def _fill_cell(self, task: CellTask) -> dict[str, Any]:
        path = self._folder / CELLS / f"{task.identity}.parquet"
        if path.is_file():
            # A worker died after its work was done, before it could say so.
            return asdict(read_cell_artefact(path))
        draw = self._process.mask
        train_mask = draw("train", rho=task.rho, m=task.m, n=len(self._train))
        valid_mask = draw("valid", rho=task.rho, m=task.m, n=len(self._valid))
        train, valid = self._train.resample(train_mask), self._valid.resample(valid_mask)
        seed = training_seed(self._context.seed, rho=task.rho, m=task.m)
        classifier = self._fit(train, valid, task, seed)
        if self._context.keep_models:
            self._keep(classifier, task)
        original, transformed = match(classifier, self._test)
        metrics = {
            "valid_accuracy": _accuracy(classifier, valid),
            "train_transformed": int(train_mask.sum()),
            "valid_transformed": int(valid_mask.sum()),
        }
        record = {
            "identity": task.identity,
            "model": self._context.model,
            "rho": task.rho,
            "m": task.m,
            "metrics": metrics,
        }
        table = _matched_table(self._test.labels, original, transformed, self._changed)
        _write_cell_artefact(path, table, record)
        return asdict(read_cell_artefact(path))


def _matched_table(
    gold: NDArray[np.int8],
    original: NDArray[np.int8],
    transformed: NDArray[np.int8],
    changed: NDArray[np.bool_],
) -> pa.Table:
    import pyarrow as pa

    return pa.table(
        {
            "row": np.arange(len(gold), dtype=np.int64),
            "gold": np.asarray(gold),
            "original": original,
            "transformed": transformed,
            "original_correct": original == gold,
            "transformed_correct": transformed == gold,
            "changed": np.asarray(changed),
        }
    )


def _write_cell_artefact(path: Path, table: pa.Table, record: Mapping[str, Any]) -> None:
    import pyarrow.parquet as pq

    # The record travels inside, so that a run killed before its row was written can add the row.
    described = table.replace_schema_metadata({_CELL_KEY: json.dumps(record).encode()})
    write_file(path, lambda temporary: pq.write_table(described, temporary, compression="zstd"))


def read_cell_artefact(path: Path) -> CellRecord:
    """Read what a cell's artefact says of itself.

    Raises
    ------
    StoreError
        If the file is no artefact of a cell, or damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        record = json.loads(pq.read_schema(path).metadata[_CELL_KEY])
        return CellRecord(**record, artefact=path.name, sha256=hash_file(path), seconds=None)
    except (pa.ArrowInvalid, KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"{path}: is damaged or no matched sample of a cell; delete it and run again"
        ) from error


def read_matched(path: Path, *, sha256: str) -> pa.Table:
    """Read a cell's matched sample: row, gold, both predictions, both outcomes, changed.

    Raises
    ------
    StoreError
        If the file is not the one that was written.
    """
    import pyarrow.parquet as pq

    if hash_file(path) != sha256:
        raise StoreError(f"{path}: has changed since it was written; run into another folder")
    return pq.read_table(path)
