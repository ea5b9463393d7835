"""Statistics that ``eval`` and ``test`` give of the reworded texts, beside the paired test.

Each is a class, found by its name: built in, or added by another package. It says which options ask
for it, computes itself, and shows what it has found: on the terminal, in JSON, in data frames, on a
page and in a paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from ietest_fast.errors import IetestError, InputError, shorten_error
from ietest_fast.numerals import plain, say_p
from ietest_fast.registry import Registry, lacks_methods
from ietest_fast.report.tables import Column, PValue, Table, as_table_name
from ietest_fast.stats import (
    DoseResponseResult,
    MatchedSample,
)
from ietest_fast.stats.dose import judge_dose
from ietest_fast.stats.result import Result, fit_cells
from ietest_fast.stats.strata import judge_strata, read_strata
from ietest_fast.values import as_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from ietest_fast.report.tables import Kind
    from ietest_fast.stats import StratifiedResult


MOST_ALPHA = 0.5
"""Equivalence is tested below it only."""

# What a statistic is computed from.


@dataclass(frozen=True, kw_only=True, eq=False)
class RewordedTexts:
    """The reworded texts of one version, each with its original."""

    sample: MatchedSample
    """Whether both are answered rightly; ``sample.counts`` are the four counts."""
    answers: tuple[NDArray[Any], NDArray[Any]] | None
    """Both answers, as indices of labels; None where only right and wrong are known."""
    clusters: NDArray[Any] | None
    """Texts with equal labels belong together; None without clusters."""
    column: Callable[[str], pa.ChunkedArray]
    """Gives the values of a column; ``label`` is the gold label."""

    @classmethod
    def of(
        cls,
        sample: MatchedSample,
        reworded: NDArray[np.bool_] | None,
        *,
        answers: tuple[NDArray[Any], NDArray[Any]] | None,
        clusters: Any,
        column: Callable[[str], pa.ChunkedArray],
    ) -> Self:
        """Take those of n texts that are reworded; all, where nothing says which."""
        rows = np.arange(len(sample)) if reworded is None else np.flatnonzero(reworded)
        return cls(
            sample=sample.take(rows),
            answers=None if answers is None else (answers[0][rows], answers[1][rows]),
            clusters=None if clusters is None else np.asarray(clusters)[rows],
            column=lambda name: column(name).take(pa.array(rows)),
        )

    @property
    def are_too_few(self) -> bool:
        """Whether there are fewer than two texts, or two clusters, to test."""
        n_clusters = 2 if self.clusters is None else np.unique(self.clusters).size
        return len(self.sample) < 2 or n_clusters < 2


# What a statistic says of itself.


class Statistic(Result):
    """Base of the statistics: a frozen dataclass of what was found.

    A subclass has ``title``, :meth:`compute`, :meth:`to_dict` and :meth:`rows`. The other methods
    make everything that is shown of these.
    """

    options: ClassVar[tuple[str, ...]] = ()
    """Names of its options and arguments, of which the first asks for it. Without any it is
    computed wherever it can be."""
    missing: ClassVar[Any] = None
    """What JSON has in its place where it is not computed."""

    @classmethod
    def columns(cls, options: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG003
        """Return the names of the columns that it reads, which have to be kept for it."""
        return ()

    @classmethod
    def compute(cls, texts: RewordedTexts, options: Mapping[str, Any]) -> Self | None:
        """Compute it on two texts or more; return None where it has no value.

        `options` has its own, as far as they are given, and ``alpha``, ``margin``, ``flip_margin``,
        ``n_resamples``, ``rng`` and ``n_threads``.
        """
        raise NotImplementedError

    def cells(self) -> dict[str, Any]:
        """Return what the version's row of a data frame has of it, below the statistic's name."""
        return fit_cells(plain(self.to_dict()))

    def shown(self, whose: str | None) -> list[Table | str]:
        """Return the lines and tables for the terminal; `whose`, where there are several."""
        said = str(self) if whose is None else f"{whose}: {self}"
        return ["", *said.splitlines()]

    def tables(self, whose: str) -> list[Table]:
        """Return the tables that a page and a paper have of one version, below the title."""
        cells = self.cells()
        kinds: dict[type, Kind] = {int: "count", float: "number"}
        return [
            Table(
                name=as_table_name(self.title),
                title=f"{self.title}: {whose}",
                columns=tuple(
                    Column(name, kinds.get(type(value), "text"), 4) for name, value in cells.items()
                ),
                rows=(tuple(cells.values()),),
            )
        ]


STATISTICS: Registry[type[Statistic]] = Registry(
    group="ietest_fast.statistics",
    builtin={
        "strata": "ietest_fast.analyses.compare.statistic:Strata",
        "dose": "ietest_fast.analyses.compare.statistic:Dose",
    },
    noun="statistic",
    check=lacks_methods(
        "statistics",
        "compute",
        "columns",
        "to_dict",
        "cells",
        "shown",
        "tables",
        see="ietest_fast.analyses.compare.statistic.Statistic",
    ),
)
"""Statistics by name, which is their key in JSON, in the order in which they are shown."""


def find_statistics() -> dict[str, type[Statistic]]:
    """Return all statistics by name."""
    return {name: STATISTICS.find(name) for name in STATISTICS.names()}


def find_asked(options: Mapping[str, Any]) -> dict[str, type[Statistic]]:
    """Return the statistics that options ask for, and those that need not be asked for."""
    return {
        name: each
        for name, each in find_statistics().items()
        if not each.options or options.get(each.options[0])
    }


def take_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of a command's options that are of statistics."""
    known = [name for each in find_statistics().values() for name in each.options]
    return {name: options[name] for name in known if name in options}


def check_known(asked: Mapping[str, Any]) -> None:
    """Refuse an argument that no statistic has, as Python does."""
    unknown = asked.keys() - take_options(asked)
    if unknown:
        raise TypeError(f"no statistic has the argument {', '.join(sorted(unknown))}")


def columns_asked(options: Mapping[str, Any]) -> list[str]:
    """Return the names of all columns that the statistics asked for read."""
    return [name for each in find_asked(options).values() for name in each.columns(options)]


def compute_statistics(texts: RewordedTexts, options: Mapping[str, Any]) -> dict[str, Statistic]:
    """Compute what options ask for; leave out what has no value."""
    if texts.are_too_few:
        return {}
    asked = find_asked(options).items()
    found = {name: _compute(name, each, texts, options) for name, each in asked}
    return {name: each for name, each in found.items() if each is not None}


def _compute(
    name: str, statistic: type[Statistic], texts: RewordedTexts, options: Mapping[str, Any]
) -> Statistic | None:
    """Compute a statistic; say whose it is where one of another package fails."""
    try:
        return statistic.compute(texts, options)
    except IetestError:
        raise
    except Exception as error:
        package = STATISTICS.origin(name)
        if package is None:
            raise
        raise InputError(
            f"the statistic {name!r} of {package} failed, which is a mistake there: "
            f"{type(error).__name__}: {shorten_error(error)}"
        ) from error


def write_statistics(
    found: Mapping[str, Statistic], *, beside: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the numbers of all statistics by name, also of those that were not computed.

    Their names must be none of those of the numbers that stand beside them.
    """
    every = find_statistics()
    taken = sorted(every.keys() & beside.keys())
    if taken:
        raise InputError(
            f"the statistic {taken[0]!r} of {STATISTICS.origin(taken[0])} has the name of a number "
            "of the paired test; its package has to call it otherwise"
        )
    return {
        name: plain(found[name].to_dict()) if name in found else each.missing
        for name, each in every.items()
    }


# By label, genre or number of edits.


@dataclass(frozen=True, kw_only=True)
class Strata(Statistic):
    """The tests of the values of columns."""

    title = "By label and number of edits"
    options = ("strata", "strata_correction")
    missing: ClassVar[list[Any]] = []

    results: tuple[StratifiedResult, ...]
    """One for each column."""

    @classmethod
    def columns(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the columns of strata."""
        return tuple(options["strata"])

    @classmethod
    def compute(cls, texts: RewordedTexts, options: Mapping[str, Any]) -> Self:
        """Test the strata of every column."""
        taken = ("margin", "flip_margin", "alpha", "n_resamples", "rng", "n_threads")
        settings = {name: options[name] for name in taken}

        def judge(name: str) -> StratifiedResult:
            names, codes = read_strata(texts.column(name), len(texts.sample), name=name)
            return judge_strata(
                texts.sample,
                names,
                codes,
                answers=texts.answers,
                clusters=texts.clusters,
                name=name,
                correction=options.get("strata_correction", "holm"),
                **settings,
            )

        return cls(results=tuple(judge(name) for name in options["strata"]))

    def to_dict(self) -> Any:
        """Return every number, column by column."""
        return [each.to_dict() for each in self.results]

    def cells(self) -> dict[str, Any]:
        """Return nothing: there is a row for each stratum."""
        return {}

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        return [row for each in self.results for row in each.rows()]

    def shown(self, whose: str | None) -> list[Table | str]:
        """Return a table for each column, and below it what it shows."""
        return [
            part
            for each in self.results
            for part in ("", strata_table(each, whose=whose), each.explanation)
        ]

    def tables(self, whose: str) -> list[Table]:
        """Return a table for each column."""
        return [strata_table(each, whose=whose) for each in self.results]


def strata_table(found: StratifiedResult, *, whose: str | None = None) -> Table:
    """Return a line for each stratum."""
    knows_flips = any(each.flips is not None for each in found.strata)
    level = f"{100 * (1 - 2 * found.alpha):g}%"
    flips = (Column("flipped %", "percent"), Column("interval of flips %", "percent"))
    return Table(
        name=f"strata-{as_table_name(found.name)}",
        title=f"By {found.name}" + ("" if whose is None else f": {whose}"),
        columns=(
            Column(found.name),
            Column("pairs", "count"),
            Column("losses", "count"),
            Column("gains", "count"),
            Column("δ (points)", "points"),
            Column("interval of δ", "points"),
            Column("p", "p"),
            Column(f"p, {found.correction}", "p"),
            Column("p, |δ| ≥ margin", "p"),
            *(flips if knows_flips else ()),
        ),
        rows=tuple(
            (
                each.name,
                each.n,
                each.counts.n10,
                each.counts.n01,
                each.delta,
                None if each.equivalence is None else each.equivalence.interval,
                each.p_value,
                None if each.p_adjusted is None else PValue(each.p_adjusted, found.alpha),
                None if each.equivalence is None else each.equivalence.p_value,
                *(
                    ()
                    if not knows_flips
                    else (None, None)
                    if each.flips is None
                    else (each.flips.rate, each.flips.interval)
                ),
            )
            for each in found.strata
        ),
        note=(
            f"Losses become wrong, gains right. Intervals at {level}. The same share of losses in "
            f"every stratum: {say_p(found.format_p())}."
        ),
    )


# Whether losses and flips grow with a number.


@dataclass(frozen=True, kw_only=True)
class Dose(Statistic):
    """Whether losses and flips grow with a column."""

    title = DoseResponseResult.title
    options = ("dose",)

    result: DoseResponseResult
    """Of the test."""

    @classmethod
    def columns(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the column of doses."""
        return (options["dose"],)

    @classmethod
    def compute(cls, texts: RewordedTexts, options: Mapping[str, Any]) -> Self:
        """Test the growth with the column."""
        name, answers = options["dose"], texts.answers
        return cls(
            result=judge_dose(
                texts.sample,
                _read_doses(texts.column(name), name),
                flipped=None if answers is None else answers[0] != answers[1],
                clusters=texts.clusters,
                name=name,
                **{each: options[each] for each in ("alpha", "n_resamples", "rng")},
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return self.result.to_dict()

    def cells(self) -> dict[str, Any]:
        """Return nothing: the test has a row of its own."""
        return {}

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        return self.result.rows()

    def remarks(self) -> list[str]:
        """Return what is shown as a sentence."""
        return self.result.remarks()


def _read_doses(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    numbers = as_numbers(column)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        first = column[int(wrong[0])].as_py()
        found = "nothing" if first is None else repr(first)
        raise InputError(
            f"{name} must hold a whole number for every text, but {wrong.size} of {numbers.size} "
            f"have none; the first holds {found}"
        )
    return numbers
