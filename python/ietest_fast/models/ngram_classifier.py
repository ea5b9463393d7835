"""A trained linear classifier over n-grams: its answers, its files, and what else runs it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import ietest_fast
from ietest_fast.errors import InputError
from ietest_fast.files import read_arrays
from ietest_fast.models.classifiers import Scores
from ietest_fast.models.logits import ScoringClassifier
from ietest_fast.models.ngrams import (
    NAME,
    WEIGHTS,
    NgramOptions,
    NgramRows,
    count_buckets,
    encode_inputs,
)
from ietest_fast.models.settings import read_json, read_labels
from ietest_fast.runtime import n_cores
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.models.protocol import RowStore

BACKEND = f"ietest_fast {ietest_fast.__version__}"
"""What trains it and runs it: the core of this package."""

_CONFIG = "config.json"
_FORMAT = 1

# Inputs that are scored between two reports.
_INPUTS_AT_ONCE = 65_536


@dataclass(frozen=True, kw_only=True, eq=False)
class NgramClassifier(ScoringClassifier):
    """A trained multinomial logistic regression over n-grams."""

    buckets: NDArray[np.int32]
    """int32, shape (n_columns,): the n-grams that it knows."""
    weights: NDArray[np.float32]
    """float32, shape (n_columns, n_classes), behind each row zeros up to a multiple of 4."""
    intercepts: NDArray[np.float32]
    """float32, shape (n_classes,)."""
    options: NgramOptions
    """How texts became features."""
    n_texts: int
    """How many texts an input has."""
    n_threads: int = 1
    """Threads of a prediction, which does not depend on them."""

    def predict_logits(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Compute class scores, float32, shape (len(rows), n_classes)."""
        from ietest_fast.runtime import load_core

        own = cast("NgramRows", store)
        scores: NDArray[np.float32] = load_core().linear.score_rows(
            own.offsets,
            own.columns,
            own.sizes,
            chosen=np.ascontiguousarray(rows, dtype=np.int64),
            weights=self.weights_for(own.buckets),
            intercepts=self.intercepts,
            n_threads=self.n_threads,
        )
        return scores

    def weights_for(self, buckets: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the weights of other columns; zeros for n-grams that it does not know."""
        if buckets is self.buckets or np.array_equal(buckets, self.buckets):
            return self.weights
        if not len(self.buckets):
            return np.zeros((len(buckets), self.weights.shape[1]), np.float32)
        order = np.argsort(self.buckets)
        ascending = self.buckets[order]
        place = np.minimum(np.searchsorted(ascending, buckets), len(order) - 1)
        weights = self.weights[order[place]]
        weights[ascending[place] != buckets] = 0.0
        return weights

    def save(self, folder: Path, *, label_names: Sequence[str]) -> None:
        """Write the classifier to an empty folder; :func:`read_ngram_classifier` reads it."""
        write_ngram_classifier(self, folder, label_names=label_names)


def write_ngram_classifier(
    classifier: NgramClassifier, folder: Path, *, label_names: Sequence[str]
) -> None:
    """Write ``ngram-linear.npz``, the n-grams that have weights, and ``config.json``, the rest."""
    n_classes = len(classifier.intercepts)
    used = np.flatnonzero(classifier.weights.any(axis=1))
    used = used[np.argsort(classifier.buckets[used])]
    np.savez(
        folder / WEIGHTS,
        buckets=classifier.buckets[used],
        weights=np.ascontiguousarray(classifier.weights[used, :n_classes]),
        intercepts=classifier.intercepts,
        **_as_arrays(classifier.options, classifier.n_texts),
    )
    settings = {
        "model_type": NAME,
        "format": _FORMAT,
        **asdict(classifier.options),
        "n_texts": classifier.n_texts,
        "id2label": {str(i): name for i, name in enumerate(label_names)},
    }
    (folder / _CONFIG).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def _as_arrays(options: NgramOptions, n_texts: int) -> dict[str, Any]:
    """Return what the buckets depend on, to stand beside them: settings alone may be edited."""
    return {
        name: np.array(value) for name, value in (asdict(options) | {"n_texts": n_texts}).items()
    }


def read_ngram_classifier(
    folder: Path, *, expected: NgramOptions | None = None
) -> tuple[NgramClassifier, tuple[str, ...]]:
    """Read what :func:`write_ngram_classifier` wrote."""
    path = folder / _CONFIG
    if not path.is_file():
        raise InputError(f"there is no {_CONFIG} beside {WEIGHTS}", path=folder)
    settings = read_json(path)
    if settings.get("model_type") != NAME or settings.get("format") != _FORMAT:
        raise InputError(
            f"is not of a model {NAME!r} of format {_FORMAT}; train it again, or take "
            "the version of ietest-fast that has written it",
            path=path,
        )
    try:
        own: dict[str, Any] = {name: settings.get(name) for name in asdict(NgramOptions())}
        options = NgramOptions(**own)
    except InputError as error:
        raise InputError(str(error), path=path) from error
    n_texts = settings.get("n_texts")
    if type(n_texts) is not int or n_texts not in {1, 2}:
        raise InputError(f"n_texts must be 1 or 2, not {n_texts!r}", path=path)
    if expected is not None and options != expected:
        raise InputError(f"was trained with other options: {asdict(options)}", path=path)
    own |= {"n_texts": n_texts}
    arrays = _read_arrays(folder / WEIGHTS, own, n_buckets=count_buckets(options, n_texts))
    labels = read_labels(settings, len(arrays["intercepts"]), path)
    padded = np.zeros((len(arrays["weights"]), -(-len(labels) // 4) * 4), np.float32)
    padded[:, : len(labels)] = arrays["weights"]
    classifier = NgramClassifier(
        buckets=arrays["buckets"],
        weights=padded,
        intercepts=arrays["intercepts"],
        options=options,
        n_texts=n_texts,
    )
    return classifier, labels


def _read_arrays(path: Path, said: Mapping[str, Any], *, n_buckets: int) -> dict[str, NDArray[Any]]:
    """Read the weights, which come from anywhere."""
    kinds = {"buckets": (np.int32, 1), "weights": (np.float32, 2), "intercepts": (np.float32, 1)}
    arrays: dict[str, NDArray[Any]] = {}
    try:
        file = read_arrays(path)
        for name, (dtype, n_dimensions) in kinds.items():
            arrays[name] = file[name]
            if arrays[name].dtype != dtype or arrays[name].ndim != n_dimensions:
                raise ValueError(f"{name} is {arrays[name].dtype}, {arrays[name].ndim}-d")
        trained = {name: file[name].tolist() for name in said if name in file}
    except InputError:
        raise
    except (LookupError, ValueError) as error:
        raise InputError(
            f"is damaged, or no file of n-grams' weights: {error}", path=path
        ) from error
    for name, value in trained.items():  # nothing in a file of an earlier version
        if value != said[name]:
            raise InputError(
                f"was trained with {name} {show_value(value)}, but {_CONFIG} beside it says "
                f"{show_value(said[name])}; put the {_CONFIG} back that was written with it",
                path=path,
            )
    buckets, weights, intercepts = arrays.values()
    if weights.shape != (len(buckets), len(intercepts)) or not 2 <= len(intercepts) <= 127:
        raise InputError("its arrays do not fit together", path=path)
    # None where every weight is zero: then intercepts alone decide.
    inside = not len(buckets) or (buckets[0] >= 0 and buckets[-1] < n_buckets)
    if not inside or not (buckets[1:] > buckets[:-1]).all():
        raise InputError(f"its buckets are not ascending numbers below {n_buckets:,}", path=path)
    if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
        raise InputError("a weight is no number", path=path)
    return arrays


class NgramTextClassifier:
    """A kept linear classifier over n-grams; see :class:`ietest_fast.models.TextClassifier`."""

    def __init__(self, folder: str | Path, *, n_threads: int | None = None) -> None:
        found, self.labels = read_ngram_classifier(Path(folder))
        self._classifier = replace(found, n_threads=n_threads or n_cores())

    @property
    def backend(self) -> str:
        """The core of this package, with its version."""
        return BACKEND

    @cached_property
    def fingerprint(self) -> str:
        """Hash of weights, options and labels."""
        own = self._classifier
        digest = hashlib.sha256(repr((asdict(own.options), self.labels)).encode())
        for array in (own.buckets, own.weights, own.intercepts):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def score(self, inputs: pa.Table, *, on_batch: Callable[[int], None] | None = None) -> Scores:
        """Classify inputs."""
        own = self._classifier
        if inputs.num_columns != own.n_texts:
            raise InputError(
                f"the model was trained on {own.n_texts} texts an input, and there are "
                f"{inputs.num_columns} columns: {', '.join(inputs.column_names)}; name those that "
                "it sees (on the command line --input or --text-columns)"
            )
        parts = []
        for begin in range(0, max(inputs.num_rows, 1), _INPUTS_AT_ONCE):
            some = inputs.slice(begin, _INPUTS_AT_ONCE)
            rows, which = encode_inputs(some, own.options, own.buckets)
            parts.append(own.predict_logits(rows, which))
            if on_batch is not None:
                on_batch(len(which))
        return Scores.from_logits(np.concatenate(parts))
