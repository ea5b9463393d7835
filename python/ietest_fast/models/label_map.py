"""From a finished model's labels to those of the data, without guessing.

A model numbers its labels as it was trained; a dataset numbers them as it was published. Compared
by number, a good model can look worse than a coin. So labels are matched by name, and the match is
held against the labelled data before a result is believed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ietest_fast import files
from ietest_fast.corpus.labels import TWO_LABELS, label_key
from ietest_fast.errors import InputError
from ietest_fast.models.classifiers import DEFAULT_THRESHOLD, Head
from ietest_fast.models.tokens import LARGEST_ID, LARGEST_TYPE
from ietest_fast.models.training import Padding
from ietest_fast.numerals import say_count
from ietest_fast.values import as_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.models.tokens import TextTokenizer

# What the files beside a finished classifier say of it: ``config.json`` and others.


# Families whose positions begin behind the padding token's id.
_POSITIONS_AFTER_PADDING = frozenset(
    {
        "roberta",
        "xlm-roberta",
        "xlm-roberta-xl",
        "camembert",
        "longformer",
        "mpnet",
        "roberta-prelayernorm",
    }
)
NO_LENGTH = 10**9
"""Lengths beyond this in a tokenizer's settings mean that nobody has set one."""

_DEFAULT_LENGTH = 512
# What a model without names of its own calls its labels.
_NAMELESS = re.compile(r"label[ _-]?\d+|\d+")


def read_json(path: Path | None) -> dict[str, Any]:
    """Read a JSON object; an empty one if there is no file."""
    if path is None:
        return {}
    values = files.read_json(path, most_bytes=files.MOST_SETTINGS)
    if not isinstance(values, dict):
        raise InputError("a JSON object is expected", path=path)
    return values


def find_max_length(config: Mapping[str, Any], tokenizer_config: Mapping[str, Any]) -> int:
    """Find how many tokens a model takes, by its own and its tokenizer's settings."""
    limits = []
    positions = config.get("max_position_embeddings")
    if _is_integer(positions) and 0 < positions < NO_LENGTH:
        padding = config.get("pad_token_id")
        if has_positions_after_padding(config) and _is_integer(padding) and padding >= 0:
            positions -= padding + 1
        limits.append(positions)
    length = tokenizer_config.get("model_max_length")
    if (_is_integer(length) or isinstance(length, float)) and 1 <= length < NO_LENGTH:
        limits.append(int(length))
    return min(limits, default=_DEFAULT_LENGTH)


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def has_positions_after_padding(config: Mapping[str, Any]) -> bool:
    """Return whether a model's positions begin behind the padding token's id, as RoBERTa's do."""
    kind = config.get("model_type")
    return isinstance(kind, str) and kind in _POSITIONS_AFTER_PADDING


def read_n_known(config: Mapping[str, Any]) -> int | None:
    """Read how many tokens a model knows from ``vocab_size``; None if that is not there."""
    size = config.get("vocab_size")
    return size if _is_integer(size) and size > 0 else None


def find_padding(
    config: Mapping[str, Any],
    tokenizer_config: Mapping[str, Any],
    tokenizer: TextTokenizer,
    *,
    n_known: int | None,
) -> Padding:
    """Find with what a model's inputs are padded, and on which side."""
    token = config.get("pad_token_id")
    if not _is_integer(token):
        name = read_token(tokenizer_config.get("pad_token"))
        token = None if name is None else tokenizer.token_id(name)
    token = 0 if token is None else token
    if not 0 <= token <= (LARGEST_ID if n_known is None else n_known - 1):
        shown = token if abs(token) <= LARGEST_ID else f"an integer of {token.bit_length()} bits"
        raise InputError(
            f"config.json's pad_token_id is {shown}, and the model knows "
            f"{'no such token' if n_known is None else f'{n_known} tokens'}"
        )
    is_xlnet = config.get("model_type") == "xlnet"
    type_id = tokenizer_config.get("pad_token_type_id")
    if not (_is_integer(type_id) and 0 <= type_id <= LARGEST_TYPE):
        type_id = 0
    return Padding(
        token=token,
        type_id=3 if is_xlnet else type_id,
        left=tokenizer_config.get("padding_side", "left" if is_xlnet else "right") == "left",
    )


def read_token(said: object) -> str | None:
    """Read how a token is spelled from a tokenizer's settings: a text, or an object with one."""
    said = said.get("content") if isinstance(said, dict) else said
    return said if isinstance(said, str) else None


def is_nameless(name: str) -> bool:
    """Return whether the name of a label is only its number, as in LABEL_0."""
    return _NAMELESS.fullmatch(label_key(name)) is not None


def check_kind(config: Mapping[str, Any], where: Path) -> None:
    """Refuse a model that does not choose one of its labels."""
    kind = config.get("problem_type")
    if kind == "regression":
        raise InputError(
            'problem_type is "regression": the model gives a number, not a label. Pass a function '
            "that makes labels of its numbers to ie.evaluate, or compare the numbers themselves "
            "with ie.paired_test or `ietest-fast test`",
            path=where,
        )
    if kind == "multi_label_classification" and count_labels(config) != 1:
        raise InputError(
            'problem_type is "multi_label_classification": any number of its labels may hold for '
            "a text, and this tool compares one label for each text. Evaluate one label at a time: "
            "pass a function that says for each text whether this label holds to ie.evaluate",
            path=where,
        )


def count_labels(config: Mapping[str, Any]) -> int | None:
    """Return how many labels a model's settings name; None if they name none."""
    id2label = config.get("id2label")
    return len(id2label) if isinstance(id2label, dict) and id2label else None


def read_head(
    config: Mapping[str, Any],
    n_outputs: int | None,
    where: Path,
    *,
    threshold: float | None = None,
) -> Head:
    """Read what a classifier's outputs stand for."""
    check_kind(config, where)
    labels = read_labels(config, n_outputs, where)
    if threshold is not None and not 0 < threshold < 1:
        raise InputError(f"the threshold must be between 0 and 1, not {threshold!r}")
    if len(labels) > 1:
        if threshold is not None:
            raise InputError(
                "a threshold is for a model with one logit, and this one has "
                f"{len(labels)} outputs, one for each of its labels: leave the threshold out",
                path=where,
            )
        return Head(labels=labels)
    # The name of the one output, if it has any, does not say what the other answer is called.
    return Head(
        labels=("LABEL_0", "LABEL_1"),
        threshold=DEFAULT_THRESHOLD if threshold is None else float(threshold),
    )


def read_labels(config: Mapping[str, Any], n_labels: int | None, where: Path) -> tuple[str, ...]:
    """Read the names of a model's labels from ``id2label`` of the settings in `where`."""
    id2label, told = config.get("id2label"), config.get("num_labels")
    told = told if _is_integer(told) else None
    if id2label is not None and not isinstance(id2label, dict):
        raise InputError(
            f"id2label is a {type(id2label).__name__}; an object of numbers and names is expected",
            path=where,
        )
    if not id2label:
        n = told if n_labels is None else n_labels
        if n is None:
            raise InputError("there is no id2label: the labels have no names", path=where)
        _check_counts({"num_labels is": told, "the model's outputs are": n_labels}, where)
        return tuple(f"LABEL_{i}" for i in range(n))
    try:
        by_number = {int(number): name for number, name in id2label.items()}
    except ValueError as error:
        raise InputError(f"id2label's keys are not numbers: {error}", path=where) from error
    if sorted(by_number) != list(range(len(id2label))):
        raise InputError(
            f"id2label numbers the labels {', '.join(map(str, sorted(by_number)))}; the numbers "
            f"are those of the model's outputs, 0 to {len(id2label) - 1}",
            path=where,
        )
    if n_labels is not None and n_labels != len(by_number):
        raise InputError(
            f"id2label names {say_count(len(by_number), 'label')}, but the model has "
            f"{say_count(n_labels, 'output')}",
            path=where,
        )
    _check_counts({"num_labels is": told, "id2label's labels are": len(by_number)}, where)
    if not all(isinstance(name, str) and name for name in by_number.values()):
        raise InputError("id2label has labels without a name", path=where)
    labels = tuple(by_number[i] for i in range(len(by_number)))
    _check_inverse(config.get("label2id"), labels, where)
    return labels


def _check_counts(counts: Mapping[str, int | None], where: Path) -> None:
    """Refuse numbers of labels that differ."""
    known = {what: n for what, n in counts.items() if n is not None}
    if len(set(known.values())) > 1:
        said = " and ".join(f"{what} {n}" for what, n in known.items())
        raise InputError(f"{said}: correct the one that is wrong", path=where)


def _check_inverse(label2id: object, labels: tuple[str, ...], where: Path) -> None:
    """Refuse a ``label2id`` that numbers labels otherwise; names that are numbers say nothing."""
    if not isinstance(label2id, dict) or not label2id:
        return
    if all(map(is_nameless, labels)) or all(is_nameless(str(name)) for name in label2id):
        return
    numbers = {label_key(str(name)): number for name, number in label2id.items()}
    for number, label in enumerate(labels):
        other = numbers.get(label_key(label))
        if str(other) != str(number):
            said = f"label2id numbers it {other}" if other is not None else "label2id has no such"
            raise InputError(
                f"id2label calls the label {number} {label!r}, and {said}"
                f"{'' if other is not None else ' label'}: which is which? Correct the one that is "
                "wrong",
                path=where,
            )


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
    if label_map is None:
        given = _read_names(model_labels, data_labels)
    else:
        given = _apply_map(model_labels, data_labels, label_map)
    data = [label_key(name) for name in data_labels]
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
        if missing:
            said = f"{missing[0]!r} is none of the data's"
        elif label_map is None:
            said = f"{unreachable[0]!r} is none of the model's"
        else:
            said = f"--label-map makes {unreachable[0]!r} of none of them"
        hint = "" if label_map else " (label_map, --label-map MODEL=DATA,... says which is which)"
        raise InputError(
            f"the model's labels are {', '.join(model_labels)}, the data's "
            f"{', '.join(data_labels)}; {said}{hint}"
        )
    spelled = dict(zip(names, names, strict=True)) | dict(zip(data, data_labels, strict=True))
    return LabelMap(
        names=tuple(spelled[name] if data.count(name) == 1 else name for name in names),
        of_model=np.array([names.index(name) for name in given], dtype=np.int8),
        of_data=np.array([names.index(name) for name in data], dtype=np.int8),
        is_given=label_map is not None,
    )


def _read_names(model_labels: Sequence[str], data_labels: Sequence[str]) -> list[str]:
    """Give the name, canonical, of each of the model's outputs, where no map says it."""
    if any(map(is_nameless, model_labels)) and not all(map(is_nameless, data_labels)):
        example = ",".join(f"{i}={name}" for i, name in enumerate(data_labels))
        raise InputError(
            f"the model's labels are {', '.join(model_labels)}: nobody can tell which is "
            f"which; say so (in Python label_map={{...}}), such as --label-map {example}"
        )
    given = [label_key(name) for name in model_labels]
    if len(set(given)) < len(given):
        raise InputError(
            f"two of the model's labels mean the same: {', '.join(model_labels)}; give each output "
            "a label of its own in its id2label, or say which is which with --label-map "
            "(label_map={...} in Python)"
        )
    return given


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
