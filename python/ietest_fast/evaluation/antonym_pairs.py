"""Easy and hard pairs of antonyms, and how often training contradictions show them.

Naik et al. 2018, section 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.evaluation.row_notes import WORD_PAIR, read_notes, split_words
from ietest_fast.evaluation.schema import GROUPS
from ietest_fast.evaluation.shares import Share
from ietest_fast.plurals import say_count
from ietest_fast.values import as_numbers, find_missing, show_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.evaluation.predictions import Predictions

TIMES_IN_TRAINING = "times_in_training"
"""Column: in how many contradictions of the training data the row's pair of antonyms stands."""

CONTRADICTION = "contradiction"

# Numbers of contradictions of a training set, from so many on.
_BINS = {"never": 0, "1 to 9 times": 1, "10 to 99 times": 10, "100 times or more": 100}

Pair = tuple[str, str]


def check_training(train: Corpus) -> None:
    """Refuse training data in which antonyms cannot be looked for."""
    if not train.is_pair or CONTRADICTION not in train.label_names:
        raise InputError(
            "has no contradictions to look for antonyms in: a premise, a hypothesis and the label "
            f"{CONTRADICTION!r} are needed; its labels are {', '.join(train.label_names)}",
            path=train.source,
        )


def count_in_contradictions(train: Corpus, pairs: Iterable[Pair]) -> dict[Pair, int]:
    """Count the contradictions in which two words stand opposite each other."""
    check_training(train)
    wanted = dict.fromkeys(pairs, 0)
    partners: dict[str, set[tuple[str, Pair]]] = {}
    for pair in wanted:
        for word, other in (pair, pair[::-1]):
            partners.setdefault(word, set()).add((other, pair))
    rows = np.flatnonzero(train.labels == train.label_names.index(CONTRADICTION))
    first, second = (train.texts(i).take(pa.array(rows)).to_pylist() for i in (0, 1))
    for premise, hypothesis in zip(first, second, strict=True):
        said = partners.keys() & set(split_words(premise))
        if not said:
            continue
        answered = set(split_words(hypothesis))
        found = {pair for word in said for other, pair in partners[word] if other in answered}
        for pair in found:
            wanted[pair] += 1
    return wanted


def note_training(predictions: Predictions, train: Corpus) -> Predictions:
    """Add to predictions how often training contradictions show each row's antonyms."""
    predictions = read_notes(predictions)
    table = predictions.table
    written = table[WORD_PAIR].to_pylist() if WORD_PAIR in table.column_names else []
    split = {each: _split(each) for each in written if each is not None}
    if not split:
        raise InputError(
            "training data are for a test with antonyms, and none of these tests has any",
            path=predictions.source,
        )
    counts = count_in_contradictions(train, split.values())
    times = pa.array(
        [None if each is None else counts[split[each]] for each in written], pa.int64()
    )
    if TIMES_IN_TRAINING in table.column_names:
        table = table.drop_columns([TIMES_IN_TRAINING])
    return replace(predictions, table=table.append_column(TIMES_IN_TRAINING, times))


def read_times(predictions: Predictions) -> Predictions:
    """Return predictions whose column :data:`TIMES_IN_TRAINING`, if there, is one of int64."""
    table = predictions.table
    if TIMES_IN_TRAINING not in table.column_names:
        return predictions
    column = table[TIMES_IN_TRAINING]
    numbers, missing = as_numbers(column), find_missing(column)
    wrong = ~missing & ~((numbers >= 0) & (numbers < 2**63) & (np.floor(numbers) == numbers))
    if wrong.any():
        row = int(wrong.argmax())
        said = say_count(int(wrong.sum()), "row has", "rows have")
        raise InputError(
            f"is {show_value(column[row].as_py())}; {said} no number of contradictions; "
            "whole numbers from 0 on expected, or nothing",
            path=predictions.source,
            row=f"row {row}",
            column=TIMES_IN_TRAINING,
        )
    times = pa.array(np.where(missing, 0, numbers).astype(np.int64), mask=missing)
    _check_times_of_pairs(predictions, times)
    place = table.column_names.index(TIMES_IN_TRAINING)
    return replace(predictions, table=table.set_column(place, TIMES_IN_TRAINING, times))


def _check_times_of_pairs(predictions: Predictions, times: pa.Array) -> None:
    """Refuse a pair with two numbers, of which one is another pair's or of other training data."""
    table = predictions.table
    if WORD_PAIR not in table.column_names:
        return
    # Classifiers may have been trained on different data.
    keys = [WORD_PAIR, *(name for name in GROUPS if name in table.column_names)]
    seen: dict[tuple[object, ...], int] = {}
    columns = [table[name].to_pylist() for name in keys]
    for row, (time, *key) in enumerate(zip(times.to_pylist(), *columns, strict=True)):
        if time is None or not key[0] or (known := seen.setdefault(tuple(key), time)) == time:
            continue
        raise InputError(
            f"is {time:,}, and {known:,} in another row of the same {WORD_PAIR}, "
            f"{show_value(key[0])}; a pair stands in one number of contradictions: mend the "
            "column, or leave it out",
            path=predictions.source,
            row=f"row {row}",
            column=TIMES_IN_TRAINING,
        )


def note_training_of_any(
    predictions: Predictions, train: Corpus | None
) -> tuple[Predictions, tuple[str, ...]]:
    """Add what :func:`note_training` adds; without antonyms, return a sentence instead."""
    if train is None:
        return predictions, ()
    predictions = read_notes(predictions)
    names = predictions.table.column_names
    if WORD_PAIR not in names or predictions.table[WORD_PAIR].null_count == len(predictions):
        said = "No row of these tests has antonyms to look for in the training data."
        return predictions, (said,)
    return note_training(predictions, train), ()


def _split(pair: str) -> Pair:
    first, _, second = pair.partition(" / ")
    return first, second


@dataclass(frozen=True, kw_only=True)
class PairGroup:
    """The pairs of antonyms of some rows."""

    n_rows: int
    n_pairs: int
    """Rows, and different pairs of words in them."""
    in_training: Share
    """How many of the pairs stand in a contradiction of the training data."""
    mean_times: float | None
    """In how many contradictions a pair stands on average; None without pairs."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "rows": self.n_rows,
            "pairs": self.n_pairs,
            **self.in_training.to_dict("in_training"),
            "mean_times": self.mean_times,
        }


@dataclass(frozen=True, kw_only=True)
class AntonymPairs:
    """Which pairs of antonyms a classifier finds easy, and whether training shows them.

    A pair is easy if a row with it is answered rightly, and hard if one is answered wrongly; it may
    be both, as in the paper, which counts pairs among the rows of either kind.
    """

    easy: PairGroup
    hard: PairGroup
    """The pairs of rows that are answered rightly, and wrongly."""
    by_times: Mapping[str, Share]
    """Accuracy by the number of training contradictions with the pair."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "easy": self.easy.to_dict(),
            "hard": self.hard.to_dict(),
            "by_times_in_training": {
                name: share.to_dict("accuracy") for name, share in self.by_times.items()
            },
        }


def compare_pairs(
    pairs: Sequence[str | None],
    times: Sequence[int | None],
    right: NDArray[np.bool_],
    units: NDArray[np.int64],
) -> AntonymPairs | None:
    """Compare the pairs of rows that are answered rightly with those of the others."""
    known = [i for i, pair in enumerate(pairs) if pair is not None and times[i] is not None]
    if not known:
        return None
    often = np.array([times[i] for i in known], np.int64)
    answered, together = right[known], units[known]
    words = [str(pairs[i]) for i in known]
    edges = list(_BINS.values())
    bins = np.searchsorted(edges, often, side="right") - 1
    return AntonymPairs(
        easy=_group(words, often, answered),
        hard=_group(words, often, ~answered),
        by_times={
            name: Share.of(answered[bins == i], together[bins == i])
            for i, name in enumerate(_BINS)
            if (bins == i).any()
        },
    )


def _group(words: list[str], often: NDArray[np.int64], chosen: NDArray[np.bool_]) -> PairGroup:
    own = {word: int(often[i]) for i, word in enumerate(words) if chosen[i]}
    times = np.array(list(own.values()), np.int64)
    return PairGroup(
        n_rows=int(chosen.sum()),
        n_pairs=len(own),
        in_training=Share.of(times > 0),
        mean_times=float(times.mean()) if len(times) else None,
    )
