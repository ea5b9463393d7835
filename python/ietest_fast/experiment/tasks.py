"""What is done for one trial or one cell, in whatever process.

Tasks take values and give values back: a number, or the bytes of a cell's file. The encoded texts
are read from files that the processes of a machine map into memory together; nothing is written
here. Whoever has given out the task writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from ietest_fast.experiment.cells import matched_table, write_cell
from ietest_fast.experiment.encoded import EncodedTexts, load_encoded
from ietest_fast.experiment.identity import training_seed, trial_seed
from ietest_fast.experiment.resample import DataGeneratingProcess
from ietest_fast.experiment.votes import Probabilities, predict_labels, predict_probabilities, vote
from ietest_fast.models import load_model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.models import Classifier, EncodedRows
    from ietest_fast.models.protocol import Params


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
    """What every task of a run shares; small, for the texts themselves are in files.

    Attributes
    ----------
    encoded
        Folder of the encoded splits, which are read only.
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What came of a task.

    Attributes
    ----------
    values
        Ready for JSON: ``valid_accuracy`` of a trial; nothing of a cell.
    artefact
        The bytes of a cell's file; empty for a trial.
    """

    values: dict[str, Any] = field(default_factory=dict)
    artefact: bytes = b""


class Keeper(Protocol):
    """Keeps what a task has before it is finished, in case it never is."""

    def keep_unfinished(self, name: str, data: bytes) -> None:
        """Keep an unfinished training, or the answers of one of several classifiers."""
        ...

    def keep_model(self, task: CellTask, voter: int, files: Mapping[str, bytes]) -> None:
        """Keep a classifier of a cell: the contents of its files by path, with slashes."""
        ...


class KeptTraining:
    """An unfinished training, as models that can take one up again ask for it.

    Parameters
    ----------
    name
        What it is kept as.
    data
        What an earlier attempt has left; None if there was none.
    keeper
        Keeps it.
    """

    def __init__(self, name: str, data: bytes | None, keeper: Keeper) -> None:
        self.name = name
        self._data = data
        self._keeper = keeper

    def read(self) -> bytes | None:
        """Give what was written last, by this attempt or the one before; None if nothing was."""
        return self._data

    def write(self, data: bytes) -> None:
        """Keep the training as it is now, in place of what was kept before."""
        self._data = data
        self._keeper.keep_unfinished(self.name, data)


def unfinished_name(task: Task, voter: int | None = None) -> str:
    """Give the name of an unfinished training: of a trial, or of a voter of a cell."""
    return f"{task.identity}.pt" if voter is None else f"{task.identity}-{voter}.pt"


def answers_name(task: CellTask, voter: int) -> str:
    """Give the name of the answers of one of several classifiers of an unfinished cell."""
    return f"{task.identity}-{voter}.npz"


class TaskRunner:
    """A run's model and its encoded texts, ready for tasks.

    Parameters
    ----------
    context
        Of the run.
    keeper
        Keeps what is worth keeping before a task is finished.
    is_interrupted
        Asked by models that can be stopped inside a training.
    """

    def __init__(
        self, context: WorkContext, keeper: Keeper, *, is_interrupted: Callable[[], bool]
    ) -> None:
        self._context = context
        self._keeper = keeper
        self._is_interrupted = is_interrupted
        self._model = load_model(context.model, **context.options)
        self._texts: EncodedTexts = load_encoded(Path(context.encoded), self._model)
        self._process = DataGeneratingProcess(seed=context.seed)

    def perform(self, task: Task, left: Mapping[str, bytes]) -> Answer:
        """Do a task.

        Parameters
        ----------
        task
            What to do.
        left
            What an earlier attempt at it has kept, by name.

        Raises
        ------
        KeyboardInterrupt
            If it was interrupted inside a training that can be taken up again.
        """
        if isinstance(task, TrialTask):
            return self._try_out(task, left)
        return self._fill_cell(task, left)

    def _fit(
        self,
        train: EncodedRows,
        valid: EncodedRows,
        task: Task,
        left: Mapping[str, bytes],
        *,
        seed: int,
        voter: int | None = None,
    ) -> Classifier:
        more: dict[str, Any] = {}
        if self._context.resumes:
            name = unfinished_name(task, voter)
            more["unfinished"] = KeptTraining(name, left.get(name), self._keeper)
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

    def _masks(self, rho: float, m: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        draw = self._process.mask
        return (
            draw("train", rho=rho, m=m, n=len(self._texts.train)),
            draw("valid", rho=rho, m=m, n=len(self._texts.valid)),
        )

    def _try_out(self, task: TrialTask, left: Mapping[str, bytes]) -> Answer:
        address = task.address
        masks = (None, None) if address is None else self._masks(*address)
        train = self._texts.train.resample(masks[0], "transformed")
        valid = self._texts.valid.resample(masks[1], "transformed")
        seed = trial_seed(self._context.seed, number=task.number, address=address)
        classifier = self._fit(train, valid, task, left, seed=seed)
        predicted = classifier.predict(valid.store, valid.rows)
        return Answer(values={"valid_accuracy": float(np.mean(predicted == valid.labels))})

    def _fill_cell(self, task: CellTask, left: Mapping[str, bytes]) -> Answer:
        train_mask, valid_mask = self._masks(task.rho, task.m)
        train, valid = (
            self._texts.train.resample(train_mask, "transformed"),
            self._texts.valid.resample(valid_mask, "transformed"),
        )
        test = self._texts.test
        if self._context.n_voters == 1:
            classifier = self._train_voter(task, train, valid, left, voter=0)
            labels = predict_labels(classifier, test, valid)
        else:
            voters = range(self._context.n_voters)
            labels = vote([self._ask_voter(task, train, valid, left, voter=v) for v in voters])
        described = {
            "identity": task.identity,
            "model": self._context.model,
            "rho": task.rho,
            "m": task.m,
            "metrics": {
                "valid_accuracy": float(np.mean(labels.valid == valid.labels)),
                "train_transformed": int(train_mask.sum()),
                "valid_transformed": int(valid_mask.sum()),
            },
        }
        table = matched_table(
            test.labels, labels.original, labels.transformed, self._texts.test_changed
        )
        return Answer(artefact=write_cell(table, described))

    def _train_voter(
        self,
        task: CellTask,
        train: EncodedRows,
        valid: EncodedRows,
        left: Mapping[str, bytes],
        *,
        voter: int,
    ) -> Classifier:
        seed = training_seed(self._context.seed, rho=task.rho, m=task.m, voter=voter)
        classifier = self._fit(train, valid, task, left, seed=seed, voter=voter)
        if self._context.keep_models:
            self._keeper.keep_model(task, voter, self._pack(classifier))
        return classifier

    def _pack(self, classifier: Classifier) -> dict[str, bytes]:
        """Give a classifier's files as bytes."""
        save = classifier.save  # type: ignore[attr-defined]  # the run has asked the model
        with TemporaryDirectory(prefix="ietest-fast-") as name:
            folder = Path(name)
            save(folder, label_names=tuple(self._context.label_names))
            return {
                path.relative_to(folder).as_posix(): path.read_bytes()
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }

    def _ask_voter(
        self,
        task: CellTask,
        train: EncodedRows,
        valid: EncodedRows,
        left: Mapping[str, bytes],
        *,
        voter: int,
    ) -> Probabilities:
        """Train one of several classifiers, or read what it said before the run was killed."""
        name = answers_name(task, voter)
        if name in left:
            return Probabilities.from_bytes(left[name])
        classifier = self._train_voter(task, train, valid, left, voter=voter)
        answers = predict_probabilities(classifier, self._texts.test, valid)
        self._keeper.keep_unfinished(name, answers.to_bytes())
        return answers
