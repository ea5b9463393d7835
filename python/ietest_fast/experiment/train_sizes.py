"""Numbers of training rows as an axis of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Strict

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.corpus import Corpus
    from ietest_fast.experiment.resample import DataGeneratingProcess

_MOST_SIZES = 1_000


def _read(value: Any) -> Any:
    """Read sizes: ``1000``, ``[1000, 5000]`` or ``"1000,5000"``."""
    if isinstance(value, str):
        try:
            return [int(part) for part in value.split(",")]
        except ValueError as error:
            raise ValueError(f'must be whole numbers like "1000,5000", not {value!r}') from error
    if isinstance(value, int) and not isinstance(value, bool):
        return [value]
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be a whole number or a list of them, not {value!r}")
    return value


def _check(values: tuple[int, ...]) -> tuple[int, ...]:
    few = [value for value in values if value < 2]
    if few:
        raise ValueError(f"must be at least 2, not {', '.join(map(str, few))}")
    if len(set(values)) < len(values):
        raise ValueError("names a value more than once")
    if len(values) > _MOST_SIZES:
        raise ValueError(f"more than {_MOST_SIZES:,} sizes are too many")
    return values


TrainSizes = Annotated[
    tuple[int, ...], Strict(False), BeforeValidator(_read), AfterValidator(_check)
]
"""Different numbers of rows, in the order of the configuration; none for all rows."""


def check_train_sizes(sizes: Sequence[int], train: Corpus, process: DataGeneratingProcess) -> None:
    """Make sure that there are so many rows, and that classifiers can learn from each number."""
    for size in sizes:
        if size > len(train):
            raise InputError(
                f"train_size: the training set has {len(train):,} labelled rows, not {size:,}; "
                f"name sizes from 2 to {len(train)}",
                path=train.source,
            )
        labels = np.unique(train.labels[process.subset(len(train), size)])
        if len(labels) < 2:
            raise InputError(
                f"train_size: the {size:,} rows that are drawn all have the label "
                f"{train.label_names[labels[0]]!r}; name a larger size, or another seed",
                path=train.source,
            )
