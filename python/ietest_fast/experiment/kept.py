"""Answers of kept classifiers to test sets that were not there when they were trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ietest_fast.experiment.evaluations import write_evaluation
from ietest_fast.experiment.votes import majority

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.experiment.encoded import FurtherTexts
    from ietest_fast.experiment.plan import Plan
    from ietest_fast.experiment.tasks import CellTask
    from ietest_fast.models import Model
    from ietest_fast.models.protocol import Restores


def answer_again(
    plan: Plan,
    model: Model,
    task: CellTask,
    *,
    folders: Sequence[Path],
    further: Mapping[str, FurtherTexts],
) -> list[bytes]:
    """Let the kept classifiers of a finished cell answer further test sets."""
    answers: dict[str, list[NDArray[Any]]] = {key: [] for key in further}
    for folder in folders:  # one in memory at a time
        classifier = cast("Restores", model).restore(
            folder, params=task.params, n_threads=plan.config.n_threads
        )
        ask = classifier.predict if len(folders) == 1 else classifier.predict_proba
        for key, texts in further.items():
            answers[key].append(ask(texts.split.store, texts.split.original))
    return [
        write_evaluation(
            texts,
            answers[key][0].astype(np.int8) if len(folders) == 1 else majority(answers[key]),
            label_names=plan.splits.train.label_names,
            identity=task.evaluations[key],
            cell=task.identity,
            key=key,
            columns={"model": task.model, **task.resample.columns},
        )
        for key, texts in further.items()
    ]
