"""One line that says how a result came about, for papers and bug reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ietest_fast

if TYPE_CHECKING:
    from ietest_fast.stats.outcomes import PairedTestResult


def clean_field(text: object) -> str:
    """Make a text fit for a name in a signature: the separators cannot stand inside it."""
    return "".join("_" if c in "|:@" or c.isspace() else c for c in str(text))


def write_signature(kind: str, **fields: object) -> str:
    """Join fields to ``kind|name:value|...|v:VERSION``; None leaves a field out."""
    parts = [f"{name}:{value}" for name, value in fields.items() if value is not None]
    return "|".join([kind, *parts, f"v:{ietest_fast.__version__}"])


def sign_test(result: PairedTestResult, **fields: object) -> str:
    """Sign one paired test."""
    replicates = "" if result.n_resamples is None else f"{result.n_resamples}."
    return write_signature(
        "test",
        n=result.n,
        k=result.counts.k,
        S=f"{replicates}{result.method}",
        stat="t",
        alt=result.alternative.removesuffix("-sided"),
        seed=result.seed,
        **fields,
    )
