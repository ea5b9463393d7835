"""What is asked of a classifier in stress tests, and how its answers are measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ietest_fast.analyses.stress.suite import paper_suite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ietest_fast.analyses.stress.suite import StressTest
    from ietest_fast.corpus import Corpus
    from ietest_fast.models.classifiers import Unparsed
    from ietest_fast.stats.inputs import Rng
    from ietest_fast.stats.outcomes import Method
    from ietest_fast.stats.resampling import Alternative
    from ietest_fast.transform.kinds import TextSource


@dataclass(frozen=True, kw_only=True, eq=False)
class SuiteOptions:
    """What all suites of questions share."""

    text_columns: Sequence[str] | None = None
    """Columns of the corpus that the classifier sees; None for all with texts."""
    label_map: Mapping[str, str] | None = None
    """The data's name of each of the classifier's labels; None: told by their names."""
    id_column: str | None = None
    """A kept column of the corpus that names its rows; None for their numbers in the source."""
    clusters: str | None = None
    """A kept column whose equal values belong together; None: none, or what answers say."""
    folder: Path | None = None
    """A folder, not there yet, that gets the texts; None: they are not written."""
    out: Path | None = None
    """The Parquet file that gets the answers; None: they are not written."""
    n_resamples: int | None = None
    """Of Monte Carlo methods, 1 or more; None for 10,000."""
    n_threads: int | None = None
    """1 or more; None for all cores. Makes no difference to the result."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StressOptions(SuiteOptions):
    """Which tests there are, what is kept of their rows, and how they are compared."""

    tests: Mapping[str, StressTest] = field(default_factory=paper_suite)
    """The tests by name."""
    learn_from: Sequence[Corpus | TextSource] = ()
    """What transformations learn from; nothing: the corpus."""
    train: Corpus | None = None
    """What the classifier was trained on, to be looked through for antonyms."""
    keep_columns: Sequence[str] = ()
    """Further kept columns that the answers get, beside `clusters` and `group_by`."""
    group_by: str | None = None
    """A kept column by which accuracies are parted; None: none, or what answers say."""
    unparsed: Unparsed = "error"
    """What becomes of an answer that is no label: ``"error"``, ``"wrong"`` or ``"drop"``."""
    alpha: float = 0.05
    """Level of a classifier's family of paired tests, between 0 and 1."""
    margin: float | None = None
    """Losses of accuracy that do not matter if they are smaller, between 0 and 1; None for 0.01."""
    method: Method | None = None
    """Of the paired tests: ``"exact"``, ``"multinomial"`` or ``"resample"``; None for the first
    that fits."""
    rng: Rng = 0
    """Seed of a Monte Carlo method, 0 or more, or what stands for one."""
    alternative: Alternative = "two-sided"
    """Is the original different, better (``"greater"``) or worse (``"less"``)?"""
