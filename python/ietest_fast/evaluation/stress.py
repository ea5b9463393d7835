"""Stress tests of a finished classifier: one table of answers, measured test by test."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from ietest_fast.errors import ConfigError, InputError, shorten_error
from ietest_fast.evaluation.comparison import compare_versions
from ietest_fast.evaluation.predictions import CHANGED, ORIGINAL
from ietest_fast.evaluation.versions import transform_corpus
from ietest_fast.stats import wilson_interval
from ietest_fast.stats.result import Result, fit_cells, format_p

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.evaluation.comparison import VersionTest
    from ietest_fast.evaluation.predictions import Predictions
    from ietest_fast.evaluation.versions import Version
    from ietest_fast.stats import Interval
    from ietest_fast.transform.phi import PhiChoice

PAPER_SUITE = (
    "antonym",
    "numerical",
    "word-overlap",
    "negation",
    "length-mismatch",
    "spelling",
)
"""The six tests of Naik et al. (2018), in the order of their Table 3."""

NEUTRAL = "neutral"
CONTRADICTION = "contradiction"


def read_suite(path: Path) -> dict[str, PhiChoice]:
    """Read a suite of one's own: a TOML file with a table ``tests``.

    Each key names a test. Its value is a transformation as on the command line
    (``"negation:times=2"``), or a table with ``name`` and options. Files that these name lie beside
    the suite.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If it cannot be read.
    ConfigError
        If it is no such file, or names what there is not.
    """
    try:
        with path.open("rb") as file:
            found = tomllib.load(file)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError([f"{path}: is no TOML: {shorten_error(error)}"]) from error
    tests = found.pop("tests", None)
    if found or not isinstance(tests, dict) or not tests:
        others = f", and not {', '.join(sorted(found))}" if found else ""
        line = '"negation, twice" = "negation:times=2"'
        raise ConfigError([f"{path}: a suite has one table [tests], of lines like {line}{others}"])
    if ORIGINAL in tests:
        raise ConfigError([f"{path}: no test can be called {ORIGINAL!r}: that is the reference"])
    from ietest_fast.transform.phi import choose_phi, parse_phi

    chosen, problems = {}, []
    for name, phi in tests.items():
        try:
            if isinstance(phi, str):
                chosen[name] = parse_phi(phi, folder=path.parent)
            elif isinstance(phi, dict):
                chosen[name] = choose_phi(phi, folder=path.parent)
            else:
                raise ConfigError(["is a transformation: a string, or a table with its name"])
        except ConfigError as error:
            problems += [f"{path}: {name}: {problem}" for problem in error.problems]
        except InputError as error:
            problems.append(f"{path}: {name}: {error}")
    if problems:
        raise ConfigError(problems)
    return chosen


@dataclass(frozen=True, kw_only=True, eq=False)
class Suite:
    """Texts of all tests, and what could not be made.

    Attributes
    ----------
    versions
        Those with a changed text, named as their tests.
    empty
        Tests that change no text of the corpus, such as numbers where there are none.
    """

    versions: tuple[Version, ...]
    empty: tuple[str, ...]


def make_suite(
    corpus: Corpus,
    tests: Mapping[str, Any],
    *,
    text_columns: Sequence[str] | None = None,
    learn_from: Sequence[Corpus] = (),
    n_threads: int | None = None,
) -> Suite:
    """Make the texts of all tests.

    Parameters
    ----------
    corpus
        The labelled originals.
    tests
        By name, a transformation: its name with options, a mapping of these, or a finished one.
    text_columns
        Columns that the model sees; None: all.
    learn_from
        Corpora that transformations may learn from; by default the corpus itself.
    n_threads
        Threads; None for all cores.

    Raises
    ------
    InputError
        If no test changes a text, or one sets labels that the corpus does not have.
    """
    columns = tuple(text_columns or corpus.text_columns)
    versions, empty = [], []
    for name, phi in tests.items():
        made = replace(
            transform_corpus(corpus, phi, learn_from=learn_from, n_threads=n_threads), name=name
        )
        before = corpus.table.select(columns).take(made.source_row)
        if made.table.num_rows == 0 or made.table.select(columns).equals(before):
            empty.append(name)
        else:
            versions.append(made)
    if not versions:
        raise InputError(
            f"none of the tests ({', '.join(empty)}) changes a text; are the texts English "
            "sentences?",
            path=corpus.source,
        )
    return Suite(versions=tuple(versions), empty=tuple(empty))


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share of rows.

    Attributes
    ----------
    n, k
        Rows, and those that count.
    interval
        Wilson's, 95%; None without rows.
    """

    n: int
    k: int
    interval: Interval | None

    @classmethod
    def of(cls, chosen: NDArray[np.bool_]) -> Share:
        """Count rows."""
        n, k = len(chosen), int(chosen.sum())
        return cls(n=n, k=k, interval=wilson_interval(k, n) if n else None)

    @property
    def share(self) -> float | None:
        """The share, k over n; None without rows."""
        return self.k / self.n if self.n else None


@dataclass(frozen=True, kw_only=True, eq=False)
class StressResult:
    """What a classifier did on one test, or on the originals.

    Attributes
    ----------
    name
        The test; ``original`` for the originals.
    keeps_labels
        Whether each row has the label of its original, and each original at most one row.
    n_items
        Originals that have a row.
    n_changed
        Rows with a changed text; None where the predictions do not say.
    accuracy
        Of all rows.
    by_group
        Accuracy by the values of a column such as genre.
    confusion
        int64 (L, L + 1): rows by gold label and answer; the last column counts answers that are
        none of the labels. None where labels are not known.
    false_neutral
        How many of the errors are the answer ``neutral``; None where no label is called so.
    comparison
        The paired test against the originals; None where labels are not kept.
    """

    name: str
    keeps_labels: bool
    n_items: int
    n_changed: int | None
    accuracy: Share
    by_group: Mapping[str, Share]
    confusion: NDArray[np.int64] | None
    false_neutral: Share | None
    comparison: VersionTest | None = None

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
            "changed": self.n_changed,
            **_share_dict("accuracy", self.accuracy),
            "by_group": {
                name: _share_dict("accuracy", share) for name, share in self.by_group.items()
            },
            "confusion": None if self.confusion is None else self.confusion.tolist(),
            **(
                {}
                if self.false_neutral is None
                else _share_dict("false_neutral", self.false_neutral)
            ),
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
        }


def _share_dict(name: str, share: Share) -> dict[str, Any]:
    return {
        name: share.share,
        f"{name}_n": share.n,
        f"{name}_interval": None
        if share.interval is None
        else [share.interval.low, share.interval.high],
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class StressProfile(Result):
    """A classifier on the originals and on every test of a suite.

    Attributes
    ----------
    group
        Which classifier: its ``model``, ``m`` and ``rho``, where there are several.
    label_names
        Names of the labels; None if answers are free text.
    grouped_by
        The column by which accuracies are parted, if any.
    original
        On the originals.
    tests
        On the tests, in their order.
    empty
        Tests that changed no text.
    alpha
        Level of the family of paired tests of the classifier.
    """

    group: dict[str, Any]
    label_names: tuple[str, ...] | None
    grouped_by: str | None
    original: StressResult
    tests: tuple[StressResult, ...]
    empty: tuple[str, ...]
    alpha: float

    @property
    def name(self) -> str:
        """Which classifier, in one line."""
        return ", ".join(str(value) for value in self.group.values()) or "the classifier"

    @property
    def title(self) -> str:  # type: ignore[override]
        """Heads the table."""
        return f"Stress tests of {self.name}"

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
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        return [(test.name, _say(test)) for test in (self.original, *self.tests)]

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each test."""
        return [fit_cells(test.to_dict()) for test in (self.original, *self.tests)]

    def remarks(self) -> list[str]:
        """Return what tests had nothing to change."""
        return [f"{name}: no text could be changed." for name in self.empty]


def _say(test: StressResult) -> str:
    accuracy = test.accuracy.share
    said = "no rows" if accuracy is None else f"{accuracy:.2%} of {test.accuracy.n:,}"
    if test.comparison is not None:
        compared = test.comparison
        said += f", p = {format_p(compared.p_adjusted)}{' (differs)' if compared.reject else ''}"
    return said


def measure_stress(
    predictions: Predictions,
    *,
    group_by: str | None = None,
    clusters: str | None = None,
    empty: Sequence[str] = (),
    alpha: float = 0.05,
    **options: Any,
) -> tuple[StressProfile, ...]:
    """Measure classifiers on the originals and on all other versions.

    A version keeps labels if each item has at most one row in it, with the gold label that it has
    in ``original``. These versions are tested against the originals, item by item, with Holm's
    correction over those of a classifier.

    Parameters
    ----------
    predictions
        The long table, with the version ``original``.
    group_by
        A column, such as genre, by whose values accuracies are also given.
    clusters
        A column whose equal values belong together; whole clusters are drawn.
    empty
        Names of tests that changed no text, for the report.
    alpha
        Level of each classifier's family of paired tests.
    **options
        Further ones of :func:`~ietest_fast.evaluation.comparison.compare_versions`: ``margin``,
        ``flip_margin``, ``method``, ``n_resamples``, ``rng``, ``n_threads``.

    Returns
    -------
    tuple of StressProfile
        One for each classifier.

    Raises
    ------
    InputError
        If there is no version ``original``, only this one, or no such column.
    """
    if group_by is not None and group_by not in predictions.columns:
        extra = ", ".join(predictions.extra_columns) or "none"
        raise InputError(
            f"there is no such column to part accuracies by; there are {extra}",
            path=predictions.source,
            column=group_by,
        )
    profiles = []
    for group in predictions.groups:
        mine = predictions.select(**group) if group else predictions
        if ORIGINAL not in mine.versions or len(mine.versions) < 2:
            raise InputError(
                f"stress tests need the version {ORIGINAL!r} and others; there are "
                f"{', '.join(mine.versions)}",
                path=predictions.source,
            )
        profiles.append(
            _profile(
                mine,
                group if len(predictions.groups) > 1 else {},
                group_by=group_by,
                clusters=clusters,
                empty=empty,
                alpha=alpha,
                options=options,
            )
        )
    return tuple(profiles)


def _profile(
    predictions: Predictions,
    group: dict[str, Any],
    *,
    group_by: str | None,
    clusters: str | None,
    empty: Sequence[str],
    alpha: float,
    options: Mapping[str, Any],
) -> StressProfile:
    names = [name for name in predictions.versions if name != ORIGINAL]
    original = predictions.select(version=ORIGINAL)
    parts = {name: predictions.select(version=name) for name in names}
    kept = [name for name in names if _keeps_labels(original, parts[name])]
    compared: dict[str, VersionTest] = {}
    if kept:
        wanted = pc.is_in(
            predictions.table["version"].cast("string"), value_set=_strings([ORIGINAL, *kept])
        )
        table = predictions.table.filter(wanted)
        if "copy" in table.column_names:
            table = table.drop_columns(["copy"])
        found = compare_versions(
            replace(predictions, table=table),
            reference=ORIGINAL,
            clusters=clusters,
            alpha=alpha,
            **options,
        )
        compared = {test.pairs.version: test for test in found.tests}
    return StressProfile(
        group=group,
        label_names=predictions.label_names,
        grouped_by=group_by,
        original=_measure(original, ORIGINAL, group_by, keeps_labels=True),
        tests=tuple(
            replace(
                _measure(parts[name], name, group_by, keeps_labels=name in kept),
                comparison=compared.get(name),
            )
            for name in names
        ),
        empty=tuple(empty),
        alpha=alpha,
    )


def _strings(values: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.array(list(values), pa.string())


def _keeps_labels(original: Predictions, version: Predictions) -> bool:
    """Say whether a version has at most one row of each item, with its gold label."""
    items = version.table["item"].combine_chunks()
    if len(pc.unique(items)) < len(items):
        return False
    places = pc.index_in(items, value_set=original.table["item"].combine_chunks())
    if places.null_count:
        return False
    if original.label_names is None:
        return bool(
            pc.all(
                pc.equal(
                    version.table["gold"].cast("string").combine_chunks(),
                    original.table["gold"].cast("string").combine_chunks().take(places),
                )
            ).as_py()
        )
    before = original.codes("gold")[places.to_numpy()]
    return bool((version.codes("gold") == before).all())


def _measure(
    predictions: Predictions, name: str, group_by: str | None, *, keeps_labels: bool
) -> StressResult:
    right = predictions.correct
    table = predictions.table
    names = predictions.label_names
    confusion = false_neutral = None
    if names is not None:
        gold, predicted = predictions.codes("gold"), predictions.codes("predicted")
        confusion = np.zeros((len(names), len(names) + 1), np.int64)
        known = gold >= 0
        np.add.at(confusion, (gold[known], predicted[known]), 1)  # -1 is the last column
        if NEUTRAL in names:
            false_neutral = Share.of(predicted[~right] == names.index(NEUTRAL))
    by_group: dict[str, Share] = {}
    if group_by is not None:
        values = table[group_by].cast("string").to_pylist()
        places = np.array(["missing" if value is None else value for value in values])
        by_group = {str(each): Share.of(right[places == each]) for each in np.unique(places)}
    return StressResult(
        name=name,
        keeps_labels=keeps_labels,
        n_items=len(predictions.items),
        n_changed=int(pc.sum(table[CHANGED]).as_py() or 0)
        if CHANGED in table.column_names
        else None,
        accuracy=Share.of(right),
        by_group=by_group,
        confusion=confusion,
        false_neutral=false_neutral,
    )
