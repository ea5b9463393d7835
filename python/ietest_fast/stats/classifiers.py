"""Tables with a column for each classifier, as people have them, made into checked arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.inputs import as_scores, check_lengths

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def read_classifiers(
    original: Any, transformed: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Read the outcomes or scores of M classifiers on both versions of n texts."""
    a, names = _as_matrix(original, "original")
    b, names_transformed = _as_matrix(transformed, "transformed")
    if a.shape[1] != b.shape[1]:
        raise InputError(f"original has {a.shape[1]} classifiers, but transformed has {b.shape[1]}")
    check_lengths(original=a, transformed=b)
    if names is not None and names_transformed is not None and set(names) == set(names_transformed):
        b = b[:, [names_transformed.index(name) for name in names]]
    if names is None:
        names = names_transformed or tuple(f"classifier {i + 1}" for i in range(a.shape[1]))
    return a, b, names


def _as_matrix(values: Any, name: str) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """Give a table of scores, shape (n, M), and the columns' names where it has them."""
    names: list[Any] | None = None
    if isinstance(values, dict):
        names, columns = _check_names(values, name), list(values.values())
    elif hasattr(values, "column_names"):  # Arrow
        names = _check_names(values.column_names, name)
        columns = [values.column(i) for i in range(len(names))]
    elif hasattr(values, "columns") and hasattr(values, "__getitem__"):  # pandas, polars
        names = _check_names(values.columns, name)
        columns = [values[label] for label in names]
    else:
        array = values if isinstance(values, np.ma.MaskedArray) else _as_array(values, name)
        if array.ndim != 2:
            raise InputError(
                f"{name} must have a row for each text and a column for each classifier, not the "
                f"shape {array.shape}"
            )
        columns = list(array.T)
    if not columns:
        raise InputError(f"{name} has no classifier")
    labels = [f"{name}, classifier {i + 1}" for i in range(len(columns))]
    if names is not None:
        labels = [f"{name}, column {label!r}" for label in names]
    checked = [as_scores(column, label) for column, label in zip(columns, labels, strict=True)]
    if len({column.size for column in checked}) > 1:
        raise InputError(f"the columns of {name} differ in length")
    return np.column_stack(checked), None if names is None else tuple(map(str, names))


def _as_array(values: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # lists of several lengths
        raise InputError(f"{name} must be a table: {error}") from None


def _check_names(labels: Iterable[Any], name: str) -> list[Any]:
    names = list(labels)
    texts = [str(label) for label in names]
    for i, text in enumerate(texts):
        if text in texts[:i]:
            raise InputError(
                f"{name} has two columns {text!r}: names must tell the classifiers apart"
            )
    return names
