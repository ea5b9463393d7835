"""What every result can do: print itself, and become a dictionary, JSON, HTML or a data frame."""

from __future__ import annotations

import html
import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ietest_fast.escapes import escape
from ietest_fast.numerals import format_p, plain, say_p
from ietest_fast.stats.intervals import Interval, axes_or_new, draw_observed

if TYPE_CHECKING:
    from ietest_fast.stats.laws.null import NullHistogram
    from ietest_fast.stats.resampling import Alternative


class Result:
    """Base of the frozen result classes.

    A subclass says what it holds by :meth:`to_dict` and what a reader should see by
    :meth:`rows`; above it stands the ``headline``, a sentence, or the ``title``.
    """

    title: str = ""

    @property
    def headline(self) -> str:
        """The answer in one sentence; empty where there is none."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name, in Python's own types."""
        return list_fields(self)

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        raise NotImplementedError

    def records(self) -> list[dict[str, Any]]:
        """Return the rows of :meth:`to_frame`: one, unless the result is of several things."""
        return [fit_cells(self.to_dict())]

    def to_frame(self) -> Any:
        """Return the result as a data frame, for tables and for joining many results.

        One row with the numbers of :meth:`to_dict`; results of several tests have a row for each.
        What is itself a list or a table is left out, but for the ends of intervals.
        """
        import pyarrow as pa

        rows = self.records()
        names = dict.fromkeys(name for row in rows for name in row)
        table = pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows])
        try:
            import pandas as pd  # noqa: F401
        except ModuleNotFoundError:
            return table
        return table.to_pandas()

    def remarks(self) -> list[str]:
        """Return whole sentences that belong below the rows.

        They are the ``explanation`` and the ``warning`` of results that have them.
        """
        explanation, warning = getattr(self, "explanation", None), getattr(self, "warning", None)
        said = [] if explanation is None else [explanation]
        return said if warning is None else [*said, f"Warning: {warning}."]

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return :meth:`to_dict` as strict JSON; see :func:`plain` for what JSON lacks."""
        return json.dumps(plain(self.to_dict()), indent=indent, allow_nan=False)

    def __str__(self) -> str:
        lines = [self.title] if self.title else []
        if self.headline:
            lines = [self.headline, ""]
        lines += [f"{name:<24} {value}" for name, value in self.rows()]
        lines += [line for remark in self.remarks() for line in ("", remark)]
        return "\n".join(map(escape, lines))

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{_show(name)}</th>"
            f"<td style='text-align:left'>{_show(value)}</td></tr>"
            for name, value in self.rows()
        )
        head = self.headline or self.title
        caption = f"<caption>{_show(head)}</caption>" if head else ""
        below = "".join(f"<p>{_show(remark)}</p>" for remark in self.remarks())
        return f"<table>{caption}<tbody>{cells}</tbody></table>{below}"


def _show(text: str) -> str:
    return html.escape(escape(text))


def list_fields(holder: Any, *left_out: str) -> dict[str, Any]:
    """Return the fields of a dataclass by name, those left out aside; of an interval its ends."""
    names = [each.name for each in fields(holder) if each.name not in left_out]
    values = {name: getattr(holder, name) for name in names}
    return {
        name: list(value) if isinstance(value, Interval) else value
        for name, value in values.items()
    }


def fit_cells(values: dict[str, Any]) -> dict[str, Any]:
    """Return what fits the cells of a table: texts, numbers, truth values and None.

    The ends of intervals stand in columns of their own.
    """
    cells: dict[str, Any] = {}
    for name, value in values.items():
        if name.endswith("interval") and (value is None or isinstance(value, (list, tuple))):
            start = name.removesuffix("interval")
            cells[f"{start}low"], cells[f"{start}high"] = (None, None) if value is None else value
        elif value is None or isinstance(value, (bool, int, float, str)):
            cells[name] = value
    return cells


# What the results of tests have in common, under SciPy's names too.


class PValueResult(Result):
    """Base of the results that one p-value decides."""

    if TYPE_CHECKING:  # properties, because the fields of a frozen dataclass are read-only

        @property
        def p_value(self) -> float:
            """The p-value that decides; :attr:`pvalue` is another name of it."""

    @property
    def pvalue(self) -> float:
        """The p-value that decides, as SciPy calls it."""
        return self.p_value


class ResampledResult(PValueResult):
    """Base of those whose p-value may be found from replicates."""

    if TYPE_CHECKING:

        @property
        def n_resamples(self) -> int | None:
            """S of a Monte Carlo test; None for the exact law."""

    @property
    def p_floor(self) -> float | None:
        """The smallest ``p_value`` that S replicates allow; None where nothing is drawn."""
        return None if self.n_resamples is None else 1 / (self.n_resamples + 1)


class Plottable:
    """What a result has that can be drawn."""

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the result; :meth:`draw_on` says how.

        Parameters
        ----------
        ax
            A matplotlib ``Axes``; a new figure is made if not given.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        self.draw_on(ax)
        return ax

    def draw_on(self, ax: Any) -> None:
        """Draw the result on matplotlib axes."""
        raise NotImplementedError


class PairedResult(Plottable, ResampledResult):
    """Base of the results of :func:`ietest_fast.stats.paired_test`."""

    if TYPE_CHECKING:

        @property
        def n(self) -> int:
            """Number of pairs."""

        @property
        def delta(self) -> float:
            """Mean of original minus transformed: of accuracies, or of scores."""

        @property
        def t(self) -> float:
            """The paired t statistic; :attr:`statistic` is another name of it."""

        @property
        def p_paper(self) -> float | None:
            """Eq. 14 to the letter; None for a one-sided alternative."""

        @property
        def p_symmetric(self) -> float:
            """P(abs(t*) >= abs(t)), whatever the alternative."""

        @property
        def alternative(self) -> Alternative:
            """``two-sided``, ``greater`` or ``less``."""

        @property
        def seed(self) -> int | None:
            """Seed of a Monte Carlo test: ``rng=result.seed`` repeats it."""

        @property
        def warning(self) -> str | None:
            """What the reader has to know before the p-value is used; None if nothing."""

    @property
    def statistic(self) -> float:
        """The paired t statistic, as SciPy calls it."""
        return self.t

    @property
    def p_floor(self) -> float | None:
        """The smallest ``p_value`` that S replicates allow; None for the exact law."""
        if self.n_resamples is None:
            return None
        return (2 if self.alternative == "two-sided" else 1) / (self.n_resamples + 1)

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return the interval of delta, one-sided where the alternative is.

        Outcomes have Tango's (1998) score interval, scores Student's or, with the studentised null
        law, that of the bootstrap-t; with clusters the standard error is that between clusters (Rao
        and Scott 1992), as in :func:`ietest_fast.stats.equivalence_test`.

        Parameters
        ----------
        confidence_level
            In (0, 1).

        Raises
        ------
        InputError
            If the confidence level is not in (0, 1).
        """
        raise NotImplementedError

    def null_law(self) -> NullHistogram:
        """Return the law of t under H0 as a histogram; see :mod:`ietest_fast.stats.laws.null`."""
        raise NotImplementedError

    def draw_on(self, ax: Any) -> None:
        """Draw the law of t under H0, and the observed t in it."""
        law = self.null_law()
        ax.stairs(law.density, law.edges, fill=True, alpha=0.5, label="under H0")
        draw_observed(ax, self.t, low=-law.edges[-1], high=law.edges[-1], name="t")
        ax.set_xlabel("t")
        ax.set_ylabel("density")
        ax.set_title(say_p(format_p(self.p_value, floor=self.p_floor)))
        ax.legend()
