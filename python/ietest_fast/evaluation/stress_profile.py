"""What a classifier did on stress tests: one result for each, together a profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ietest_fast.evaluation.stress_origins import say_made_of
from ietest_fast.plurals import list_dropped
from ietest_fast.signs import escape_label
from ietest_fast.stats.equivalence import Verdict
from ietest_fast.stats.result import Result, fit_cells, format_p

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ietest_fast.evaluation.antonym_pairs import AntonymPairs
    from ietest_fast.evaluation.comparison import VersionTest
    from ietest_fast.evaluation.predictions import Predictions
    from ietest_fast.evaluation.shares import Share
    from ietest_fast.evaluation.stress_origins import StressOrigin


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

    def remarks(self) -> list[str]:
        """Return of which texts tests are made, where p misleads, and which changed nothing."""
        said = [f"{each}." for each in list_dropped(self.predictions.dropped, "left out")]
        said += self.warnings
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
            said += [] if test.comparison is None else test.comparison.caveats
        for name in self.empty:
            why = "changes no column that the model sees"
            said.append(f"{name}: {why if name in self.unseen else 'no text could be changed'}.")
        return said

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
                share = result.by_group[group].share if group in result.by_group else None
                if share is not None:
                    ax.plot([100 * share], [place], "|", markersize=12, color=f"C{number + 1}")
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


def _say(test: StressResult) -> str:
    accuracy = test.accuracy.share
    said = "no rows" if accuracy is None else f"{accuracy:.2%} of {test.accuracy.n:,}"
    if test.comparison is not None:
        compared = test.comparison
        differs = " (differs)" if compared.verdict is Verdict.DIFFERS else ""
        said += f", p = {format_p(compared.p_adjusted)}{differs}"
    return said
