"""What a test will cost, said before it begins: no machine finishes every S that can be typed."""

from __future__ import annotations

from ietest_fast.errors import InputError

#: Replicates of ``multinomial`` for a test; some hours on two processors.
MOST_REPLICATES = 10**12
#: Units that all replicates of ``resample`` draw; a day or so on two processors.
MOST_DRAWS = 10**14
#: The same where another method draws from the same law in less time.
MOST_DRAWS_BESIDE_OTHERS = 10**13
#: Pairs that ``resample`` lists, at a byte each.
MOST_LISTED = 2**32

# Draws a second that two processors make, to one digit; for estimates only.
_REPLICATES_PER_SECOND = 1e8
_DRAWS_PER_SECOND = 1e9


def check_cost(n: int, n_resamples: int, *, method: str, has_exact_law: bool) -> None:
    """Refuse a Monte Carlo test that would take days or more memory than there is.

    Parameters
    ----------
    n
        Units that a replicate of ``resample`` draws: pairs, or clusters.
    n_resamples
        S.
    method
        ``multinomial`` or ``resample``.
    has_exact_law
        Whether the exact law and ``multinomial`` could be used instead, as for outcomes.

    Raises
    ------
    InputError
        With an estimate of time or memory and what to do instead.
    """
    if method == "multinomial":
        if n_resamples > MOST_REPLICATES:
            took = _say_seconds(n_resamples / _REPLICATES_PER_SECOND)
            raise InputError(
                f"{n_resamples:,} replicates would take about {took}: choose at most "
                f"{MOST_REPLICATES:,}, or the method exact, which needs none"
            )
        return
    instead = (
        "choose the method exact, or multinomial, which draws the same law without listing pairs"
        if has_exact_law
        else "choose a smaller n_resamples"
    )
    if has_exact_law and n > MOST_LISTED:
        raise InputError(
            f"the method resample lists every pair: {n:,} pairs need {n / 2**30:,.0f} GiB; "
            f"{instead}"
        )
    most = MOST_DRAWS_BESIDE_OTHERS if has_exact_law else MOST_DRAWS
    if n * n_resamples > most:
        took = _say_seconds(n * n_resamples / _DRAWS_PER_SECOND)
        raise InputError(
            f"{n_resamples:,} replicates of {n:,} draws each would take about {took}; {instead}"
        )


def _say_seconds(seconds: float) -> str:
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("hours", 3_600)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:,.0f} seconds"
