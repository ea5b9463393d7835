"""What is done for one trial or one cell, in whatever process."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.experiment.artefacts import reading, write_folder
from ietest_fast.experiment.identity import training_seed, trial_seed
from ietest_fast.experiment.matching import (
    Ballot,
    cast_ballot,
    matched_table,
    predict_labels,
    read_cell_artefact,
    vote,
    write_cell_artefact,
)
from ietest_fast.experiment.resample import DataGeneratingProcess
from ietest_fast.experiment.store import CELLS
from ietest_fast.models import EncodedRows, EncodedSplit, load_model

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.models import Classifier, Model
    from ietest_fast.models.protocol import Params

SPLITS = ("train", "valid", "test")

MODELS = "models"
"""Folder of a run in which classifiers are kept."""

UNFINISHED_TRAININGS = "unfinished"
"""Folder of a run in which models that can be stopped keep what they have."""

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
    rho, m
        The resample to try it on (the paper's Alternative 3); None for the untransformed data.
    """

    identity: str
    params: Params
    number: int
    rho: float | None = None
    m: int | None = None
    kind: Literal["trial"] = "trial"

    @property
    def address(self) -> tuple[float, int] | None:
        """The resample, if it is tried on one."""
        return None if self.rho is None or self.m is None else (self.rho, self.m)

    def describe(self) -> str:
        """Name the task in a message."""
        where = "" if self.rho is None else f" of rho={self.rho:g}, m={self.m}"
        return f"trial {self.number}{where}"


@dataclass(frozen=True, kw_only=True)
class CellTask:
    """The cell (rho, m): a classifier, or a vote of several, of one resample, and its answers.

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
    n_voters
        Classifiers of a cell, which vote.
    keep_models
        Whether the classifiers of cells are kept.
    resumes
        Whether the model's trainings can be stopped and taken up again.
    """

    folder: str
    encoded: str
    model: str
    options: dict[str, Any]
    n_classes: int
    seed: int
    n_threads: int
    label_names: Sequence[str]
    n_voters: int = 1
    keep_models: bool = False
    resumes: bool = False


def model_folders(folder: Path, *, rho: float, m: int, n_voters: int) -> list[Path]:
    """Say where a run keeps the classifiers of a cell, one for each voter."""
    share = int(rho) if float(rho).is_integer() else repr(rho)
    name = f"rho-{share}-m-{m}"
    names = [name] if n_voters == 1 else [f"{name}-voter-{voter}" for voter in range(n_voters)]
    return [folder / MODELS / each for each in names]


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
        written: dict[int, tuple[NDArray[Any], Path]] = {}
        for name, split in splits.items():
            (folder / name).mkdir()
            arrays = {f"store.{key}": array for key, array in split.store.arrays().items()}
            arrays |= {
                **split.versions,
                "labels": split.labels,
            }
            if name == "test":
                arrays["changed"] = test_changed
            for key, array in arrays.items():
                path = folder / name / f"{key}.npy"
                # What splits share is one file, and in memory once.
                with suppress(OSError):  # not every file system has links
                    if id(array) in written:
                        path.hardlink_to(written[id(array)][1])
                if not path.exists():
                    np.save(path, array, allow_pickle=False)
                    written[id(array)] = array, path

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
            versions={name: arrays[name] for name in ("original", "transformed")},
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


def forget_finished(folder: Path, identities: Container[str]) -> None:
    """Remove what was kept of tasks that were finished just when their run was killed."""
    for path in (folder / UNFINISHED_TRAININGS).glob("*"):
        if path.name.partition(".")[0].partition("-")[0] in identities:
            path.unlink()


class Workbench:
    """The encoded data of a run and its model, ready for tasks.

    Parameters
    ----------
    context
        Of the run.
    is_interrupted
        Asked by models that can be stopped inside a training.
    """

    def __init__(self, context: WorkContext, *, is_interrupted: Callable[[], bool]) -> None:
        self._context = context
        self._is_interrupted = is_interrupted
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

        Raises
        ------
        KeyboardInterrupt
            If it was interrupted inside a training that can be taken up again.
        """
        return self._try_out(task) if isinstance(task, TrialTask) else self._fill_cell(task)

    def _fit(
        self, train: EncodedRows, valid: EncodedRows, task: Task, seed: int, name: str
    ) -> Classifier:
        more: dict[str, Any] = {}
        if self._context.resumes:
            more["resume_from"] = self._unfinished(f"{name}.pt")
            more["is_interrupted"] = self._is_interrupted
        return self._model.fit(
            train,
            valid,
            params=task.params,
            n_classes=self._context.n_classes,
            seed=seed,
            n_threads=self._context.n_threads,
            **more,
        )

    def _unfinished(self, name: str) -> Path:
        folder = self._folder / UNFINISHED_TRAININGS
        folder.mkdir(exist_ok=True)
        return folder / name

    def _forget(self, task: Task) -> None:
        """Remove what was kept in case the task should not be finished."""
        for path in (self._folder / UNFINISHED_TRAININGS).glob(f"{task.identity}*"):
            path.unlink(missing_ok=True)

    def _keep(self, classifier: Classifier, folder: Path) -> None:
        save = classifier.save  # type: ignore[attr-defined]  # the run has asked the model
        if folder.exists():  # of a run that was killed before the cell was finished
            shutil.rmtree(folder)
        write_folder(folder, lambda room: save(room, label_names=tuple(self._context.label_names)))

    def _masks(self, rho: float, m: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        draw = self._process.mask
        return (
            draw("train", rho=rho, m=m, n=len(self._train)),
            draw("valid", rho=rho, m=m, n=len(self._valid)),
        )

    def _try_out(self, task: TrialTask) -> dict[str, Any]:
        address = task.address
        masks = (None, None) if address is None else self._masks(*address)
        train = self._train.resample(masks[0], "transformed")
        valid = self._valid.resample(masks[1], "transformed")
        seed = trial_seed(self._context.seed, number=task.number, address=address)
        classifier = self._fit(train, valid, task, seed, task.identity)
        predicted = classifier.predict(valid.store, valid.rows)
        self._forget(task)
        return {"valid_accuracy": float(np.mean(predicted == valid.labels))}

    def _fill_cell(self, task: CellTask) -> dict[str, Any]:
        path = self._folder / CELLS / f"{task.identity}.parquet"
        if path.is_file():
            # A worker died after its work was done, before it could say so.
            self._forget(task)
            return asdict(read_cell_artefact(path))
        train_mask, valid_mask = self._masks(task.rho, task.m)
        train = self._train.resample(train_mask, "transformed")
        valid = self._valid.resample(valid_mask, "transformed")
        n_voters = self._context.n_voters
        if n_voters == 1:
            classifier = self._train_voter(task, train, valid, voter=0)
            labels = predict_labels(classifier, self._test, valid)
        else:
            voters = range(n_voters)
            labels = vote([self._ballot(task, train, valid, voter=voter) for voter in voters])
        metrics = {
            "valid_accuracy": float(np.mean(labels.valid == valid.labels)),
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
        table = matched_table(self._test.labels, labels.original, labels.transformed, self._changed)
        write_cell_artefact(path, table, record)
        self._forget(task)
        return asdict(read_cell_artefact(path))

    def _train_voter(
        self, task: CellTask, train: EncodedRows, valid: EncodedRows, *, voter: int
    ) -> Classifier:
        seed = training_seed(self._context.seed, rho=task.rho, m=task.m, voter=voter)
        classifier = self._fit(train, valid, task, seed, f"{task.identity}-{voter}")
        if self._context.keep_models:
            self._keep(classifier, self._kept(task, voter))
        return classifier

    def _kept(self, task: CellTask, voter: int) -> Path:
        n_voters = self._context.n_voters
        return model_folders(self._folder, rho=task.rho, m=task.m, n_voters=n_voters)[voter]

    def _ballot_path(self, task: CellTask, voter: int) -> Path:
        return self._unfinished(f"{task.identity}-{voter}.npz")

    def _ballot(
        self, task: CellTask, train: EncodedRows, valid: EncodedRows, *, voter: int
    ) -> Ballot:
        """Train one of several classifiers, or read what it said before the run was killed."""
        path = self._ballot_path(task, voter)
        if path.is_file() and (not self._context.keep_models or self._kept(task, voter).is_dir()):
            return Ballot.read(path)
        classifier = self._train_voter(task, train, valid, voter=voter)
        ballot = cast_ballot(classifier, self._test, valid)
        ballot.write(path)
        return ballot
