"""From a finished model's labels to those of the data, without guessing.

A model numbers its labels as it was trained; a dataset numbers them as it was published. Compared
by number, a good model can look worse than a coin. So labels are matched by name, and the match is
held against the labelled data before a result is believed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.corpus.labels import TWO_LABELS, label_key
from ietest_fast.errors import InputError
from ietest_fast.models.settings import is_nameless
from ietest_fast.values import as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NOT_ENTAILMENT, _NOT_CONTRADICTION = TWO_LABELS

# What one of two labels stands for where the other side has three.
_MERGED = {
    _NOT_ENTAILMENT: frozenset({"neutral", "contradiction"}),
    _NOT_CONTRADICTION: frozenset({"entailment", "neutral"}),
}


# Another permutation has to be better at this level, over all permutations, to stop the evaluation.
_LEVEL = 1e-3
# Of more labels only the best permutation is looked for, by assignment.
_MOST_TO_ENUMERATE = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelMap:
    """A model's and a dataset's labels in common classes."""

    names: tuple[str, ...]
    """Names of the common classes: the data's labels, unless the model has fewer."""
    of_model: NDArray[np.int8]
    """int8, shape (model's labels,): the class of each."""
    of_data: NDArray[np.int8]
    """int8, shape (data's labels,): the class of each."""
    is_given: bool
    """Whether the user said which label is which."""

    def classes_of(self, predicted: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the class of each of a model's answers, int8 (n,); -1 stays."""
        classes: NDArray[np.int8] = np.where(predicted < 0, np.int8(-1), self.of_model[predicted])
        return classes


def match_labels(
    model_labels: Sequence[str],
    data_labels: Sequence[str],
    *,
    label_map: Mapping[Any, Any] | None = None,
) -> LabelMap:
    """Match labels by name, case-folded and with NLI's aliases.

    Where one side has ``not_entailment`` and the other ``neutral`` and ``contradiction``, both are
    taken for ``not_entailment``; likewise ``entailment`` and ``neutral`` for ``not_contradiction``.
    """
    given = [] if label_map is None else _apply_map(model_labels, data_labels, label_map)
    if label_map is None:
        nameless = [name for name in model_labels if is_nameless(name)]
        data_is_nameless = all(map(is_nameless, data_labels))
        if nameless and not data_is_nameless:
            example = ",".join(f"{i}={name}" for i, name in enumerate(data_labels))
            raise InputError(
                f"the model's labels are {', '.join(model_labels)}: nobody can tell which is "
                f"which; say so (in Python label_map={{...}}), such as --label-map {example}"
            )
        given = [label_key(name) for name in model_labels]
    data = [label_key(name) for name in data_labels]
    if len(set(given)) < len(given) and label_map is None:
        raise InputError(
            f"two of the model's labels mean the same: {', '.join(model_labels)}; give each output "
            "a label of its own in its id2label, or say which is which with --label-map "
            "(label_map={...} in Python)"
        )
    are_numbers = all(name.isdecimal() for name in data)
    # A file that happens to lack a class has fewer numbers than the model knows.
    names = [
        *data,
        *(name for name in given if are_numbers and name.isdecimal() and name not in data),
    ]
    merged = _MERGED.keys() & (set(given) ^ set(data))
    if len(merged) == 1:
        # Two classes on one side.
        (whole,) = merged
        given, data = ([_merge(name, whole) for name in side] for side in (given, data))
        names = list(dict.fromkeys(data))
    missing = [name for name in given if name not in names]
    unreachable = [name for name in names if name not in given]
    if missing and label_map is None and are_numbers:
        example = ",".join(f"{name}={place}" for place, name in enumerate(model_labels))
        raise InputError(
            f"the model's labels are {', '.join(model_labels)}, and the data's are numbers "
            f"({', '.join(data_labels)}): say which number is which (in Python label_map={{...}}, "
            f"or label_names=[...] for the data), such as --label-map {example}"
        )
    if missing or unreachable:
        raise InputError(
            f"the model's labels are {', '.join(model_labels)}, the data's "
            f"{', '.join(data_labels)}; "
            + (
                f"{missing[0]!r} is none of the data's"
                if missing
                else f"{unreachable[0]!r} is none of the model's"
                if label_map is None
                else f"--label-map makes {unreachable[0]!r} of none of them"
            )
            + ("" if label_map else " (label_map, --label-map MODEL=DATA,... says which is which)")
        )
    spelled = dict(zip(names, names, strict=True)) | dict(zip(data, data_labels, strict=True))
    return LabelMap(
        names=tuple(spelled[name] if data.count(name) == 1 else name for name in names),
        of_model=np.array([names.index(name) for name in given], dtype=np.int8),
        of_data=np.array([names.index(name) for name in data], dtype=np.int8),
        is_given=label_map is not None,
    )


def _merge(name: str, whole: str) -> str:
    return whole if name in _MERGED[whole] else name


def _as_name(label: Any) -> str:
    """Return a label as its name: the numbers of a scikit-learn model or a table are names, too."""
    name = as_text(label.item() if isinstance(label, np.generic) else label)
    return "" if name is None else name


def _apply_map(
    model_labels: Sequence[str], data_labels: Sequence[str], label_map: Mapping[Any, Any]
) -> list[str]:
    """Give the data's name, canonical, of each of the model's outputs."""
    by_name = {label_key(name): i for i, name in enumerate(model_labels)}
    targets: list[str | None] = [None] * len(model_labels)
    known = {label_key(name) for name in data_labels}
    are_numbers = all(name.isdecimal() for name in known)
    if not isinstance(label_map, Mapping):
        raise InputError(
            "label_map is a mapping from the model's labels to the data's, and not a "
            f"{type(label_map).__name__}"
        )
    for said, meant in label_map.items():
        source, target = _as_name(said), _as_name(meant)
        place = by_name.get(label_key(source))
        if place is None and source.strip().isdecimal() and int(source) < len(model_labels):
            place = int(source)
        if place is None:
            raise InputError(
                f"--label-map: the model has no label {source!r}; it has {', '.join(model_labels)} "
                "(a function in Python has the data's labels, unless labels= names its own)"
            )
        if targets[place] is not None:
            raise InputError(f"--label-map names the model's label {model_labels[place]!r} twice")
        name = label_key(target)
        if (
            name not in known
            and not (are_numbers and name.isdecimal())
            and not {name, *known} & _MERGED.keys()
        ):
            raise InputError(
                f"--label-map: the data have no label {target!r}; they have "
                f"{', '.join(data_labels)}"
            )
        targets[place] = name
    if None in targets:
        left_out = model_labels[targets.index(None)]
        raise InputError(f"--label-map leaves out the model's label {left_out!r}")
    return [target for target in targets if target is not None]


def check_against_data(
    label_map: LabelMap, gold: NDArray[np.int8], predicted: NDArray[np.int8]
) -> str | None:
    """Hold a match of labels against labelled data."""
    gold, predicted = gold[predicted >= 0], predicted[predicted >= 0]
    if (predicted == predicted[:1]).all():
        return None  # a collapsed model; another order would only make it guess another class
    better = find_better_permutation(gold, predicted, len(label_map.names))
    if better is None:
        return None
    names = label_map.names
    matched = float(np.mean(gold == predicted))
    permuted = float(np.mean(gold == np.asarray(better)[predicted]))
    swaps = ", ".join(f"{names[i]} for {names[j]}" for i, j in enumerate(better) if i != j)
    problem = (
        f"the model is right on {matched:.1%} of the original texts, but would be on "
        f"{permuted:.1%} if its labels were taken otherwise ({swaps}): its names may be in the "
        "wrong order"
    )
    if label_map.is_given:
        return f"Warning: {problem}."
    raise InputError(
        f"{problem}; label_map (--label-map) says which label is which, and that you mean it"
    )


def find_better_permutation(
    gold: NDArray[np.int8], predicted: NDArray[np.int8], n_classes: int
) -> tuple[int, ...] | None:
    """Find the permutation of predictions that is significantly better than none, if there is
    one.
    """
    from math import factorial

    table = np.zeros((n_classes, n_classes), dtype=np.int64)  # predicted, gold
    np.add.at(table, (predicted, gold), 1)
    identity = tuple(range(n_classes))
    if n_classes <= _MOST_TO_ENUMERATE:

        def n_right(permutation: tuple[int, ...]) -> int:
            return int(sum(table[i, j] for i, j in enumerate(permutation)))

        # Of equals the first, which is the identity if it is among them.
        best = max(itertools.permutations(identity), key=n_right)
    else:
        from scipy.optimize import linear_sum_assignment

        best = tuple(int(j) for j in linear_sum_assignment(table, maximize=True)[1])
    if best == identity:
        return None
    before = predicted == gold
    after = np.asarray(best)[predicted] == gold
    return best if is_better(after, before, n_tried=factorial(n_classes) - 1) else None


def is_better(after: NDArray[np.bool_], before: NDArray[np.bool_], *, n_tried: int) -> bool:
    """Whether significantly more answers are right if they are taken otherwise."""
    from ietest_fast.stats import PairedCounts, mcnemar_test

    counts = PairedCounts.from_outcomes(after, before)
    return counts.n10 > counts.n01 and mcnemar_test(counts).p_conditional * n_tried < _LEVEL
