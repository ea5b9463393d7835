"""Tables of strata: accuracy and flips by label, genre or number of edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.atomic import name_files
from ietest_fast.report.tables import Column, PValue, Table

if TYPE_CHECKING:
    from ietest_fast.stats import StratifiedResult


def strata_table(found: StratifiedResult, *, whose: str | None = None) -> Table:
    """Return a line for each stratum."""
    knows_flips = any(each.flips is not None for each in found.strata)
    level = f"{100 * (1 - 2 * found.alpha):g}%"
    among = "" if found.p_adjusted is None else ", corrected for the number of versions"
    flips = (Column("flipped %", "percent"), Column("interval of flips %", "percent"))
    return Table(
        name=f"strata-{as_file_name(found.name)}",
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
            f"every stratum: p = {found.format_p()}{among}."
        ),
    )


def as_file_name(name: str) -> str:
    """Return the name of a column as part of the name of a file, and of a label in LaTeX."""
    kept = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name.lower())
    (found,) = name_files([kept.strip("-")], otherwise="column")
    return found
