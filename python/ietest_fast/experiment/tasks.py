"""What is done for one trial or one cell, in whatever process.

Tasks take values and give values back: a number, or the bytes of a cell's file. The encoded texts
are read from files that the processes of a machine map into memory together; nothing is written
here. Whoever has given out the task writes.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

import numpy as np

from ietest_fast.corpus.dataset import DataGeneratingProcess
from ietest_fast.experiment.cells import make_predictions, write_cell, write_evaluation
from ietest_fast.experiment.encoded import EncodedTexts, load_encoded
from ietest_fast.experiment.identity import Mode, TrainingDraw, training_seed, trial_seed
from ietest_fast.models import load_model
from ietest_fast.models.protocol import ORIGINAL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.corpus.dataset import Split
    from ietest_fast.models import Classifier, EncodedRows, EncodedSplit, Model
    from ietest_fast.models.protocol import Params, RowStore

    _Rows = tuple[EncodedRows, EncodedRows]  # of the training and the validation set


# What classifiers answer: labels of one, or of several by majority vote.


@dataclass(frozen=True, kw_only=True, eq=False)
class Predicted:
    """What is said of a cell's texts: labels, or the class probabilities of one that votes.

    Labels are int8 of shape (n,), probabilities float32 of shape (n, n_classes).
    """

    versions: Mapping[str, NDArray[Any]]
    """By version of the test set (eq. 9)."""
    valid: NDArray[Any]
    """Of the validation set."""
    further: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """Of further test sets, each of its own length."""

    def to_bytes(self) -> bytes:
        """Write it as NumPy's ``npz``."""
        file = io.BytesIO()
        arrays = {f"version{i}": array for i, array in enumerate(self.versions.values())}
        if self.further:
            arrays["further"] = np.array(list(self.further))
            arrays |= {f"further{i}": array for i, array in enumerate(self.further.values())}
        np.savez(file, allow_pickle=False, names=list(self.versions), valid=self.valid, **arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Predicted:
        """Read it again; whoever has kept the bytes has checked them."""
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return cls(
                versions={
                    str(name): arrays[f"version{i}"] for i, name in enumerate(arrays["names"])
                },
                valid=arrays["valid"],
                further={
                    str(name): arrays[f"further{i}"]
                    for i, name in enumerate(arrays.get("further", ()))
                },
            )


def _on_versions(
    predict: Callable[[RowStore, NDArray[np.int64]], NDArray[Any]],
    test: EncodedSplit,
    names: Sequence[str],
) -> dict[str, NDArray[Any]]:
    """Predict several versions in one go, and once where they are encoded like the original."""
    original = test.original
    differs = {name: np.flatnonzero(test.versions[name] != original) for name in names}
    rows = [original, *(test.versions[name][differs[name]] for name in names)]
    first, *rest = np.split(
        predict(test.store, np.concatenate(rows)), np.cumsum([len(part) for part in rows])[:-1]
    )
    answers = {ORIGINAL: first}
    for name, predicted in zip(names, rest, strict=True):
        answers[name] = first.copy()
        answers[name][differs[name]] = predicted
    return answers


def find_labels(voters: Sequence[Predicted]) -> Predicted:
    """Make labels of what is said by the classifiers of a cell."""
    first = voters[0]
    return Predicted(
        versions={
            name: decide([each.versions[name] for each in voters]) for name in first.versions
        },
        valid=decide([each.valid for each in voters]),
        further={name: decide([each.further[name] for each in voters]) for name in first.further},
    )


def decide(said: Sequence[NDArray[Any]]) -> NDArray[np.int8]:
    """Give the labels of one classifier, or the majority vote (the paper's Alternative 2)."""
    return said[0].astype(np.int8) if len(said) == 1 else majority(said)


def majority(probabilities: Sequence[NDArray[np.float32]]) -> NDArray[np.int8]:
    """Give the label that most classifiers find likeliest."""
    stacked = np.stack(probabilities)
    votes = np.sum(stacked.argmax(axis=2)[:, :, None] == np.arange(stacked.shape[2]), axis=0)
    leading = votes == votes.max(axis=1, keepdims=True)
    likely = np.where(leading, stacked.sum(axis=0, dtype=np.float64), -1.0)
    labels: NDArray[np.int8] = likely.argmax(axis=1).astype(np.int8)
    return labels


@dataclass(frozen=True, kw_only=True)
class _ModelTask:
    """What trials and cells have in common."""

    identity: str
    """sha256 of all that affects the result."""
    model: str
    """Key of the model."""
    params: Params
    """Hyperparameters."""


@dataclass(frozen=True, kw_only=True)
class TrialTask(_ModelTask):
    """A candidate of a model's search, to be tried."""

    number: int
    """From 0, in the order of drawing."""
    resample: TrainingDraw | None = None
    """The resample to try it on (the paper's Alternative 3); None for the untransformed data."""
    train_size: int | None = None
    """Without a resample, the number of training rows; None for all."""
    kind: Literal["trial"] = "trial"

    def describe(self) -> str:
        """Name the task in a message."""
        where = "" if self.resample is None else f" of {self.resample.describe()}"
        return f"trial {self.number}{where} of {self.model}"


@dataclass(frozen=True, kw_only=True)
class CellTask(_ModelTask):
    """A classifier, or a vote of several, of one model and one resample, and its answers."""

    resample: TrainingDraw
    """What it is trained on."""
    versions: tuple[str, ...]
    """Keys of the transformations whose test sets it answers, beside the original."""
    evaluations: Mapping[str, str] = field(default_factory=dict)
    """Identity of its answers to each further test set, by key of the transformation."""
    kind: Literal["cell"] = "cell"

    def describe(self) -> str:
        """Name the task in a message."""
        return f"cell {self.resample.describe()} of {self.model}"


Task = TrialTask | CellTask


def task_from_dict(values: dict[str, Any]) -> Task:
    """Make a task again from its fields."""
    own = values.pop("resample")
    resample = None if own is None else TrainingDraw(**own)
    if values["kind"] == "trial":
        return TrialTask(**values, resample=resample)
    versions = tuple(values.pop("versions"))
    return CellTask(**values, resample=cast("TrainingDraw", resample), versions=versions)


@dataclass(frozen=True, kw_only=True)
class ModelContext:
    """What the tasks of one model share."""

    name: str
    options: dict[str, Any]
    """For ``load_model``."""
    encoded: str
    """Folder of the encoded splits, which are read only."""
    n_voters: int = 1
    """Classifiers of a cell, which vote."""
    resumes: bool = False
    """Whether the model's trainings can be stopped and taken up again."""


@dataclass(frozen=True, kw_only=True)
class WorkContext:
    """What every task of a run shares; small, for the texts themselves are in files."""

    models: Mapping[str, ModelContext]
    """By key."""
    seed: int
    """The run's seed."""
    n_threads: int
    """Threads of a task."""
    label_names: Sequence[str]
    """Names of the labels."""
    keep_models: bool = False
    """Whether the classifiers of cells are kept."""
    mode: Mode = "replace"
    """What becomes of transformed rows in training."""

    @property
    def resumes(self) -> bool:
        """Whether trainings of any model can be stopped and taken up again."""
        return any(model.resumes for model in self.models.values())


def context_from_dict(values: dict[str, Any]) -> WorkContext:
    """Make a context again from its fields."""
    models = {key: ModelContext(**own) for key, own in values.pop("models").items()}
    return WorkContext(**values, models=models)


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What came of a task."""

    values: dict[str, Any] = field(default_factory=dict)
    """Ready for JSON: ``valid_accuracy`` of a trial; nothing of a cell."""
    artefact: bytes = b""
    """The bytes of a cell's file; empty for a trial."""
    evaluations: tuple[bytes, ...] = ()
    """The bytes of the files of a cell's answers to further test sets."""


class Keeper(Protocol):
    """Keeps what a task has before it is finished, in case it never is."""

    def keep_unfinished(self, name: str, data: bytes) -> None:
        """Keep an unfinished training, or the answers of one of several classifiers."""
        ...

    def keep_model(self, task: CellTask, voter: int, files: Mapping[str, bytes]) -> None:
        """Keep a classifier of a cell: the contents of its files by path, with slashes."""
        ...


class KeptTraining:
    """An unfinished training, as models that can take one up again ask for it."""

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
    """A run's models and their encoded texts, ready for tasks."""

    def __init__(
        self,
        context: WorkContext,
        keeper: Keeper,
        *,
        is_interrupted: Callable[[], bool],
        given: Mapping[str, Model] | None = None,
    ) -> None:
        self._context = context
        self._given = given or {}
        self._keeper = keeper
        self._is_interrupted = is_interrupted
        self._process = DataGeneratingProcess(seed=context.seed)
        self._loaded: tuple[str, _Trainer] | None = None

    def perform(self, task: Task, left: Mapping[str, bytes]) -> Answer:
        """Do a task."""
        trainer = self._load(task.model)
        if isinstance(task, TrialTask):
            return trainer.try_out(task, left)
        return trainer.fill_cell(task, left)

    def _load(self, key: str) -> _Trainer:
        # One at a time: a model may hold a network. Tasks come model by model.
        if self._loaded is None or self._loaded[0] != key:
            self._loaded = None
            own = self._context.models[key]
            model = self._given.get(key) or load_model(own.name, **own.options)
            self._loaded = (
                key,
                _Trainer(
                    context=self._context,
                    own=own,
                    model=model,
                    texts=load_encoded(Path(own.encoded), model),
                    process=self._process,
                    keeper=self._keeper,
                    is_interrupted=self._is_interrupted,
                ),
            )
        return self._loaded[1]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Trainer:
    """One model and its encoded texts."""

    context: WorkContext
    own: ModelContext
    model: Model
    texts: EncodedTexts
    process: DataGeneratingProcess
    keeper: Keeper
    is_interrupted: Callable[[], bool]

    def try_out(self, task: TrialTask, left: Mapping[str, bytes]) -> Answer:
        """Train on the task's resample, and judge by its validation set."""
        rows = self._choose_rows(task.resample, train_size=task.train_size)
        address = None if task.resample is None else task.resample.address
        seed = trial_seed(self.context.seed, number=task.number, address=address)
        classifier = self._fit(rows, task, left, seed=seed)
        _, valid = rows
        predicted = classifier.predict(valid.store, valid.rows)
        return Answer(values={"valid_accuracy": float(np.mean(predicted == valid.labels))})

    def fill_cell(self, task: CellTask, left: Mapping[str, bytes]) -> Answer:
        """Train what the cell asks for, and answer the test set in its versions."""
        rows = self._choose_rows(task.resample)
        _, valid = rows
        test, resample, voters = self.texts.test, task.resample, range(self.own.n_voters)
        if len(voters) == 1:
            classifier = self._train_voter(task, rows, left, 0)
            said = [self._predict(classifier.predict, task, valid)]
        else:
            said = [self._ask_voter(task, rows, left, voter) for voter in voters]
        labels = find_labels(said)
        described = {
            "identity": task.identity,
            "model": task.model,
            "phi": resample.phi,
            "rho": resample.rho,
            "m": resample.m,
            "metrics": {
                "valid_accuracy": float(np.mean(labels.valid == valid.labels)),
                "train_transformed": int(self._mask("train", resample).sum()),
                "valid_transformed": int(self._mask("valid", resample).sum()),
                **({} if resample.train_size is None else {"train_size": resample.train_size}),
            },
        }
        predictions = make_predictions(
            test.labels,
            labels.versions,
            self.texts.changed,
            label_names=self.context.label_names,
            model=task.model,
            **resample.columns,
        )
        return Answer(
            artefact=write_cell(predictions, described),
            evaluations=tuple(
                write_evaluation(
                    self.texts.further[key],
                    labels.further[identity],
                    label_names=self.context.label_names,
                    identity=identity,
                    cell=task.identity,
                    key=key,
                    columns={"model": task.model, **resample.columns},
                )
                for key, identity in task.evaluations.items()
            ),
        )

    def _predict(
        self,
        predict: Callable[[RowStore, NDArray[np.int64]], NDArray[Any]],
        task: CellTask,
        valid: EncodedRows,
    ) -> Predicted:
        # By identity: another run that goes on may mean other texts by the same key.
        further = {own: self.texts.further[key].split for key, own in task.evaluations.items()}
        return Predicted(
            versions=_on_versions(predict, self.texts.test, task.versions),
            valid=predict(valid.store, valid.rows),
            # Each by itself: they have no part in the cell's own answers.
            further={name: predict(split.store, split.original) for name, split in further.items()},
        )

    def _mask(self, split: Split, resample: TrainingDraw) -> NDArray[np.bool_]:
        """Say which rows are transformed, of the training set those of the resample's size."""
        n = len(self.texts.train if split == "train" else self.texts.valid)
        mask = self.process.mask(split, rho=resample.rho, m=resample.m, n=n)
        if split == "train" and resample.train_size is not None:
            # Drawn for all rows: a row is transformed or not whatever the size.
            mask = mask[self.process.subset(n, resample.train_size)]
        return mask

    def _train_split(self, size: int | None) -> EncodedSplit:
        train = self.texts.train
        return train if size is None else train.take(self.process.subset(len(train), size))

    def _choose_rows(
        self, resample: TrainingDraw | None, *, train_size: int | None = None
    ) -> _Rows:
        """Return the training and validation rows of a resample; the size is for None alone."""
        train = self._train_split(train_size if resample is None else resample.train_size)
        valid = self.texts.valid
        if resample is None or resample.phi is None:
            return train.resample(), valid.resample()
        masks = self._mask("train", resample), self._mask("valid", resample)
        if self.context.mode == "augment":
            return train.augment(masks[0], resample.phi), valid.augment(masks[1], resample.phi)
        return train.resample(masks[0], resample.phi), valid.resample(masks[1], resample.phi)

    def _fit(
        self,
        rows: _Rows,
        task: Task,
        left: Mapping[str, bytes],
        *,
        seed: int,
        voter: int | None = None,
    ) -> Classifier:
        more: dict[str, Any] = {}
        if self.own.resumes:
            name = unfinished_name(task, voter)
            more["unfinished"] = KeptTraining(name, left.get(name), self.keeper)
            more["is_interrupted"] = self.is_interrupted
        return self.model.fit(
            *rows,
            params=task.params,
            n_classes=len(self.context.label_names),
            seed=seed,
            n_threads=self.context.n_threads,
            **more,
        )

    def _train_voter(
        self, task: CellTask, rows: _Rows, left: Mapping[str, bytes], voter: int
    ) -> Classifier:
        rho, m = task.resample.address
        seed = training_seed(self.context.seed, rho=rho, m=m, voter=voter)
        classifier = self._fit(rows, task, left, seed=seed, voter=voter)
        if self.context.keep_models:
            self.keeper.keep_model(task, voter, self._pack(classifier))
        return classifier

    def _pack(self, classifier: Classifier) -> dict[str, bytes]:
        """Return a classifier's files as bytes."""
        save = classifier.save  # type: ignore[attr-defined]  # the run has asked the model
        with TemporaryDirectory(prefix="ietest-fast-") as name:
            folder = Path(name)
            save(folder, label_names=tuple(self.context.label_names))
            return {
                path.relative_to(folder).as_posix(): path.read_bytes()
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }

    def _ask_voter(
        self, task: CellTask, rows: _Rows, left: Mapping[str, bytes], voter: int
    ) -> Predicted:
        """Train one of several classifiers, or read what it said before the run was killed."""
        name = answers_name(task, voter)
        if name in left:
            kept = Predicted.from_bytes(left[name])
            if set(task.evaluations.values()) <= set(kept.further):
                return kept
        classifier = self._train_voter(task, rows, left, voter)
        answers = self._predict(classifier.predict_proba, task, rows[1])
        self.keeper.keep_unfinished(name, answers.to_bytes())
        return answers
