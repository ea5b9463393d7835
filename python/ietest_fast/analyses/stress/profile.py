"""What a classifier did on stress tests: one result for each, together a profile."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.analyses.compare.profile import find_gravest, say_tests
from ietest_fast.analyses.stress.origins import WORD_PAIR, read_words, say_made_of, split_words
from ietest_fast.answers.schema import GROUPS
from ietest_fast.errors import InputError
from ietest_fast.escapes import escape_label
from ietest_fast.numerals import list_dropped, say_count
from ietest_fast.stats.equivalence import Verdict
from ietest_fast.stats.informedness import Share
from ietest_fast.stats.result import Result, fit_cells
from ietest_fast.values import as_numbers, find_missing, show_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.analyses.compare.profile import VersionTest
    from ietest_fast.analyses.stress.origins import StressOrigin
    from ietest_fast.answers.table import Predictions
    from ietest_fast.corpus import Corpus


# Easy and hard pairs of antonyms, and how often training contradictions show them.
#
# Naik et al. 2018, section 4.3.

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
    predictions = read_words(predictions)
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


@dataclass(frozen=True, kw_only=True, eq=False)
class StressResult:
    """What a classifier did on one test, or on the originals."""

    name: str
    """The test; ``original`` for the originals."""
    keeps_labels: bool
    """Whether each row has the label of its original, and each original at most one row."""
    n_items: int
    """Originals that have a row, or texts of another file."""
    is_foreign: bool
    """Whether the rows come from texts of another file, not from the originals."""
    n_changed: int | None
    """Rows with a changed text; None where the predictions do not say."""
    accuracy: Share
    """Of all rows."""
    by_group: Mapping[str, Share]
    """Accuracy by the values of a column such as genre."""
    confusion: NDArray[np.int64] | None
    """int64 (L, L + 1): rows by gold label and answer; the last column counts answers that are none
    of the labels. None where labels are not known."""
    false_neutral: Share | None
    """How many of the errors are the answer ``neutral``; None where no label is called so."""
    by_kind: Mapping[str, Share]
    """Accuracy by the rules of the edits, such as the ways to misspell; empty where they are not
    known."""
    by_word: Mapping[str, Share]
    """Accuracy by the class of the words that were replaced, function or content; empty where it is
    not known."""
    antonyms: AntonymPairs | None
    """Easy and hard pairs of antonyms; None where there are none, or no training data."""
    comparison: VersionTest | None = None
    """The paired test against the originals; None where labels are not kept, or there is one
    row."""
    origin: StressOrigin | None = None
    """What it is made of; None where the answers do not say it."""

    def count(self, label_names: Sequence[str], gold: str, predicted: str) -> int | None:
        """Count rows with a gold label that were answered by another; None if one is not known."""
        names = list(label_names)
        if self.confusion is None or gold not in names or predicted not in names:
            return None
        return int(self.confusion[names.index(gold), names.index(predicted)])

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "test": self.name,
            "keeps_labels": self.keeps_labels,
            "items": self.n_items,
            "is_foreign": self.is_foreign,
            "made_of": None if self.origin is None else self.origin.to_dict(),
            "changed": self.n_changed,
            **self.accuracy.to_dict("accuracy"),
            "by_group": _accuracies(self.by_group),
            "by_kind": _accuracies(self.by_kind),
            "by_word": _accuracies(self.by_word),
            "antonyms": None if self.antonyms is None else self.antonyms.to_dict(),
            "confusion": None if self.confusion is None else self.confusion.tolist(),
            **({} if self.false_neutral is None else self.false_neutral.to_dict("false_neutral")),
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
        }

    def cells(self) -> dict[str, Any]:
        """Return the row of a data frame; what is not compared has no cells of a comparison."""
        nested = {"made_of", "antonyms", "confusion", "comparison"}
        compared = {} if self.comparison is None else self.comparison.cells()
        return {
            **fit_cells({key: each for key, each in self.to_dict().items() if key not in nested}),
            **{f"comparison_{name}": value for name, value in compared.items()},
        }


def _accuracies(shares: Mapping[str, Share]) -> dict[str, Any]:
    return {name: share.to_dict("accuracy") for name, share in shares.items()}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StressProfile(Result):
    """A classifier on the originals and on every test of a suite."""

    group: dict[str, Any]
    """Which classifier: its ``model``, ``m`` and ``rho``, where there are several."""
    label_names: tuple[str, ...] | None
    """Names of the labels; None if answers are free text."""
    grouped_by: str | None
    """The column by which accuracies are parted, if any."""
    original: StressResult
    """On the originals."""
    tests: tuple[StressResult, ...]
    """On the tests, in their order."""
    empty: tuple[str, ...]
    """Tests that changed no text."""
    alpha: float
    """Level of the family of paired tests of the classifier."""
    predictions: Predictions
    """The long table of the classifier's answers: one row for each text and test."""
    unseen: tuple[str, ...] = ()
    """Of these, tests that changed texts that the classifier does not see."""
    warnings: tuple[str, ...] = ()
    """Whole sentences about how the answers came about."""
    unlike: tuple[str, ...] = ()
    """Whole sentences about what makes it hard to compare with the first of several classifiers."""

    @property
    def name(self) -> str:
        """Which classifier, in one line."""
        return ", ".join(str(value) for value in self.group.values()) or "the classifier"

    @property
    def title(self) -> str:  # type: ignore[override]
        """Heads the table."""
        return f"Stress tests of {self.name}"

    @property
    def accuracies(self) -> dict[str, Share]:
        """The accuracy on the originals and on every test, by name."""
        return {each.name: each.accuracy for each in (self.original, *self.tests)}

    @property
    def compared(self) -> list[VersionTest]:
        """The paired tests, of the tests that keep labels."""
        return [test.comparison for test in self.tests if test.comparison is not None]

    @property
    def verdict(self) -> Verdict:
        """The gravest verdict of a test; undecided where none can be compared."""
        return find_gravest(self.compared) if self.compared else Verdict.UNDECIDED

    @property
    def headline(self) -> str:
        """The answer in one sentence or two, at most 30 words."""
        if len(self.compared) == 1:
            (test,) = self.compared
            return f"{test.pairs.version}: {test.sentence}"
        if self.compared:
            return say_tests(self.compared, "tests")
        known = [test for test in self.tests if test.accuracy.share is not None]
        if not known:
            return "No test could be answered."
        worst = min(known, key=lambda test: test.accuracy.share or 0.0)
        return (
            "No test keeps the labels of the originals, so none is compared; accuracy is lowest on "
            f"{worst.name}: {_say_accuracy(worst.accuracy)}."
        )

    @property
    def reject(self) -> bool:
        """Whether accuracy is shown to differ on a test that keeps labels."""
        return any(test.comparison is not None and test.comparison.reject for test in self.tests)

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            **self.group,
            "labels": None if self.label_names is None else list(self.label_names),
            "grouped_by": self.grouped_by,
            "alpha": self.alpha,
            "correction": "holm",
            "headline": self.headline,
            "verdict": str(self.verdict),
            "reject": self.reject,
            "tests": [test.to_dict() for test in (self.original, *self.tests)],
            "empty": list(self.empty),
            "unseen": list(self.unseen),
            "dropped": dict(self.predictions.dropped),
            "warnings": list(self.warnings),
            "unlike": list(self.unlike),
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        return [(test.name, _say(test)) for test in (self.original, *self.tests)]

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each test."""
        return [test.cells() for test in (self.original, *self.tests)]

    def beware(self) -> list[str]:
        """Return what speaks against the verdict, or is missing from it."""
        said = [f"{each}." for each in list_dropped(self.predictions.dropped, "left out")]
        said += self.warnings
        said += [line for test in self.compared for line in test.caveats]
        for name in self.empty:
            why = "changes no column that the model sees"
            said.append(f"{name}: {why if name in self.unseen else 'no text could be changed'}.")
        return said

    def remarks(self) -> list[str]:
        """Return of which texts tests are made, where p misleads, and which changed nothing."""
        said = []
        for test in self.tests:
            made_of = say_made_of(
                test.name,
                test.n_items,
                self.original.n_items,
                is_foreign=test.is_foreign,
                origin=test.origin,
                n_rows=test.accuracy.n,
            )
            said += [] if made_of is None else [made_of]
            if test.origin is None and not test.keeps_labels and not test.is_foreign:
                said.append(
                    f"{test.name}: not compared with the originals: it has other right answers "
                    "than they have, or several rows of an item."
                )
            if test.keeps_labels and test.comparison is None:
                said.append(f"{test.name}: a single row is too few for a paired test.")
        return [*said, *self.beware()]

    def __getitem__(self, test: str) -> StressResult:
        found = {each.name: each for each in (self.original, *self.tests)}
        if test not in found:
            raise KeyError(f"there is no test {test!r}; there are {', '.join(found)}")
        return found[test]

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the accuracy on the originals and on every test, with 95% intervals."""
        results = (self.original, *self.tests)
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.subplots(figsize=(6.4, 1.4 + 0.4 * len(results)), layout="constrained")[1]
        groups = list(dict.fromkeys(name for each in results for name in each.by_group))
        for place, result in enumerate(results):
            accuracy = result.accuracy
            if accuracy.interval is None or accuracy.share is None:
                continue
            ends = [100 * accuracy.interval.low, 100 * accuracy.interval.high]
            ax.plot(ends, [place, place], color="tab:blue")
            ax.plot([100 * accuracy.share], [place], "o", color="tab:blue")
            for number, group in enumerate(groups):
                own = result.by_group.get(group)
                if own is not None and own.share is not None:
                    ax.plot([100 * own.share], [place], "|", markersize=12, color=f"C{number + 1}")
        for number, group in enumerate(groups):
            ax.plot([], [], "|", markersize=12, color=f"C{number + 1}", label=escape_label(group))
        if self.original.accuracy.share is not None:
            ax.axvline(100 * self.original.accuracy.share, color="black", linewidth=0.7)
        if groups:
            ax.legend(title=escape_label(self.grouped_by or ""))
        ax.set_yticks(range(len(results)), [escape_label(each.name) for each in results])
        ax.set_ylim(len(results) - 0.5, -0.5)
        ax.set_xlabel("accuracy (%)")
        return ax

    def __repr__(self) -> str:
        return str(self)


def say_accuracy(test: StressResult) -> str:
    """Say how many answers are right, and how many more or fewer than on the originals."""
    return _say_accuracy(test.accuracy) if test.comparison is None else test.comparison.change


def _say_accuracy(accuracy: Share) -> str:
    if accuracy.share is None:
        return "no rows"
    ends = accuracy.interval
    interval = "" if ends is None else f" (95% {100 * ends.low:.1f} to {100 * ends.high:.1f})"
    return f"{100 * accuracy.share:.1f}{interval}"


def _say(test: StressResult) -> str:
    verdict = "" if test.comparison is None else f"  {test.comparison.verdict}"
    return f"{say_accuracy(test)}{verdict}"
