"""What the results of every paired test have in common, under SciPy's names too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ietest_fast.stats.drawing import axes_or_new, draw_observed
from ietest_fast.stats.result import Result, format_p

if TYPE_CHECKING:
    from ietest_fast.stats.intervals import Interval
    from ietest_fast.stats.null_law import NullHistogram
    from ietest_fast.stats.resampling import Alternative


class PairedResult(Result):
    """Base of the results of :func:`ietest_fast.stats.paired_test`.

    Attributes
    ----------
    n
        Number of pairs.
    delta
        Mean of original minus transformed: a difference of accuracies, or of mean scores.
    t
        The paired t statistic; :attr:`statistic` is another name of it.
    p_value
        The p-value that decides; :attr:`pvalue` is another name of it.
    alternative
        ``two-sided``, ``greater`` or ``less``.
    n_resamples, seed
        S and seed of a Monte Carlo test; None for the exact law. ``rng=result.seed`` repeats it.
    """

    if TYPE_CHECKING:  # properties, because the fields of a frozen dataclass are read-only

        @property
        def n(self) -> int: ...  # noqa: D102

        @property
        def delta(self) -> float: ...  # noqa: D102

        @property
        def t(self) -> float: ...  # noqa: D102

        @property
        def p_value(self) -> float: ...  # noqa: D102

        @property
        def p_paper(self) -> float | None: ...  # noqa: D102

        @property
        def p_symmetric(self) -> float: ...  # noqa: D102

        @property
        def alternative(self) -> Alternative: ...  # noqa: D102

        @property
        def n_resamples(self) -> int | None: ...  # noqa: D102

        @property
        def seed(self) -> int | None: ...  # noqa: D102

        @property
        def warning(self) -> str | None: ...  # noqa: D102

    @property
    def statistic(self) -> float:
        """The paired t statistic, as SciPy calls it."""
        return self.t

    @property
    def pvalue(self) -> float:
        """The p-value that decides, as SciPy calls it."""
        return self.p_value

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
        """Return the law of t under H0 as a histogram; see :mod:`ietest_fast.stats.null_law`."""
        raise NotImplementedError

    def remarks(self) -> list[str]:
        """Return the warning, if there is one."""
        return [] if self.warning is None else [f"Warning: {self.warning}."]

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the law of t under H0, and the observed t in it.

        Parameters
        ----------
        ax
            A matplotlib ``Axes``; a new figure is made if not given.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        law = self.null_law()
        ax.stairs(law.density, law.edges, fill=True, alpha=0.5, label="under H0")
        draw_observed(ax, self.t, low=-law.edges[-1], high=law.edges[-1], name="t")
        ax.set_xlabel("t")
        ax.set_ylabel("density")
        ax.set_title(f"p = {format_p(self.p_value, floor=self.p_floor)}")
        ax.legend()
        return ax
