"""``ietest-fast simulate``: the tests' levels on simulated tables like the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import (
    NAMES,
    FiniteRange,
    OpenShare,
    check_not_given,
    threads_option,
)
from ietest_fast.report.progress import show_progress
from ietest_fast.report.terminal import echo, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping


class SizesType(click.ParamType[Any]):
    """Sizes of clusters: ``1-6``, or ``1,3,3``."""

    name = "1-6 or 1,3,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse a range or a list of sizes that recur until all pairs have a cluster."""
        if isinstance(value, tuple):
            return value
        first, dash, last = str(value).partition("-")
        try:
            given = [int(part) for part in ((first, last) if dash else str(value).split(","))]
        except ValueError:
            given = []
        if not given or min(given) < 1 or (dash and given[0] > given[1]):
            self.fail(f"{value!r} is neither a range of sizes like 1-6 nor a list", param, ctx)
        if max(given) > _MOST_PAIRS:
            self.fail(f"a cluster has at most {_MOST_PAIRS:,} pairs, not {max(given)}", param, ctx)
        return tuple(range(given[0], given[1] + 1)) if dash else tuple(given)


_SHARE = FiniteRange(0, 1)

# Each table is held in memory, and simulating more than this takes days.
_MOST_PAIRS = 1_000_000
_MOST_CLASSIFIERS = 1_000
_MOST_TABLES = 10_000_000

# What tables are like, where the user says it, and how they are tested.
_OF_TABLES = ("discordance", "icc", "n_classifiers", "classifier_correlation")
_OF_TESTS = ("n_tables", "n_resamples", "alpha", "rng", "n_threads")


@click.command(name="simulate")
@click.argument("file", required=False, type=click.Path())
@click.option(
    "--original", type=NAMES, default="A", show_default=True, help="Columns, as for `test`."
)
@click.option("--transformed", type=NAMES, default="B", show_default=True, help="As many columns.")
@click.option("--clusters", help="Column of clusters.")
@click.option("--scores", is_flag=True, help="Simulate real-valued scores; FILE holds such.")
@click.option(
    "--df",
    type=FiniteRange(min=2.1),
    help="Of Student's law, which scores that differ follow; the fewer, the heavier the tails. Not "
    "taken from FILE.  [default: 3]",
)
@click.option(
    "--skew",
    type=FiniteRange(min=0, max=2, min_open=True),
    help="Instead: scores that differ follow a lognormal law with this sigma, about its mean.",
)
@click.option("--n", type=click.IntRange(2, _MOST_PAIRS), help="Number of pairs, without a file.")
@click.option("--discordance", "--psi", type=_SHARE, help="Share of discordant pairs.")
@click.option("--cluster-sizes", type=SizesType(), help="Sizes that recur, without a file.")
@click.option("--icc", type=_SHARE, help="Correlation within clusters.")
@click.option(
    "--classifiers", "n_classifiers", type=click.IntRange(1, _MOST_CLASSIFIERS), help="M."
)
@click.option(
    "--correlation",
    "classifier_correlation",
    type=_SHARE,
    help="Correlation of two classifiers on one pair.",
)
@click.option(
    "--tables",
    "n_tables",
    type=click.IntRange(1, _MOST_TABLES),
    default=10_000,
    show_default=True,
    help="Null tables to simulate.",
)
@click.option(
    "--n-resamples",
    "-S",
    type=click.IntRange(1, _MOST_TABLES),
    default=1_000,
    show_default=True,
    help="S of the tests that resample.",
)
@click.option("--alpha", type=OpenShare(), default=0.05, show_default=True, help="Nominal level.")
@click.option("--seed", "rng", type=click.IntRange(min=0), default=0, show_default=True)
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, file: str | None, **options: Any) -> None:
    """Simulate tables without a difference and count how often each test rejects them.

    FILE holds outcomes (or, with --scores, scores) as for `ietest-fast test`: the number of pairs,
    the share of discordant ones, the clusters and all correlations are taken from it, unless
    options say otherwise. Scores are drawn from the file's own differences, centred, unless an
    option names their law or a correlation. Without a file, --n and --discordance are needed.
    """
    if not options["scores"]:
        check_not_given("df", "skew", because="is of scores; say --scores")
    law = {name: options[name] for name in ("df", "skew") if options[name] is not None}
    if len(law) > 1:
        raise click.UsageError("--df and --skew name two laws: give one of them")
    if file is None:
        _check_usage_without_file(options)
        differences = None
        tables = {"n": options["n"], "clusters": _recur(options["cluster_sizes"], options["n"])}
    else:
        _check_usage_of_file(options)
        tables, differences = _estimate(file, options)

    from ietest_fast.stats import simulate

    said = {name: options[name] for name in _OF_TABLES if options[name] is not None}
    if differences is None or law or said:
        tables |= {"scores": options["scores"], **law, **said}
    else:
        tables = {"differences": differences, "clusters": tables["clusters"]}
    of_tests = {name: options[name] for name in _OF_TESTS}
    with show_progress() as progress:
        tell = progress("Simulating, tables", options["n_tables"])
        result = simulate(**tables, **of_tests, progress=tell)
    if options["as_json"]:
        print_json(result.to_dict())
        return
    echo(*str(result).splitlines())


def _check_usage_without_file(options: Mapping[str, Any]) -> None:
    if options["n"] is None or options["discordance"] is None:
        raise click.UsageError("give a FILE, or --n and --discordance")
    check_not_given("original", "transformed", because="names columns of a file")
    if options["clusters"] is not None:
        raise click.UsageError("--clusters is a file's column; without one: --cluster-sizes")
    if options["icc"] is not None and options["cluster_sizes"] is None:
        raise click.UsageError("--icc is that within clusters; say --cluster-sizes")
    if options["classifier_correlation"] is not None and (options["n_classifiers"] or 1) < 2:
        raise click.UsageError("--correlation is that of classifiers; say --classifiers M")


def _check_usage_of_file(options: Mapping[str, Any]) -> None:
    if any(options[name] is not None for name in ("n", "cluster_sizes", "n_classifiers")):
        raise click.UsageError("--n, --cluster-sizes and --classifiers are the file's to say")
    if len(options["original"]) != len(options["transformed"]):
        raise click.UsageError("--original and --transformed need equally many columns")
    if options["icc"] is not None and options["clusters"] is None:
        raise click.UsageError("--icc is that within clusters; say --clusters")
    if options["classifier_correlation"] is not None and len(options["original"]) < 2:
        raise click.UsageError("--correlation is that of classifiers; name their columns")


def _recur(sizes: tuple[int, ...] | None, n: int) -> Any:
    """Give clusters numbers, sizes in turns, until n pairs have one; the last may be cut short."""
    import numpy as np

    if sizes is None:
        return None
    if sizes[0] >= n:
        raise click.UsageError(
            f"--cluster-sizes puts all {n} pairs into one cluster; at least two are needed"
        )
    rounds = -(-n // sum(sizes))
    each = np.minimum(np.tile(np.array(sizes), rounds), n)
    each = each[: int(np.searchsorted(np.cumsum(each), n)) + 1]
    return np.repeat(np.arange(each.size), each)[:n]


def _estimate(file: str, options: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return what tables like those of a file are like, and its differences of scores."""
    import numpy as np

    from ietest_fast.answers.measurements import read_measurements, refuse_counts
    from ietest_fast.answers.readers.table_columns import list_columns
    from ietest_fast.stats import intra_cluster_correlation
    from ietest_fast.stats.resampling import to_squarable

    names, clusters = (*options["original"], *options["transformed"]), options["clusters"]
    scores, m = options["scores"], len(options["original"])
    given = read_measurements(file, names, clusters=clusters, scores=scores)
    if not scores:
        refuse_counts(file, list_columns(file), {*names, clusters})
    columns = np.stack([given.columns[name] for name in names]).astype(float)
    differences = columns[:m] - columns[m:]
    correlation = 0.0
    if m > 1:
        scaled = np.stack([to_squarable(row)[0] for row in differences])
        spread = scaled - scaled.mean(axis=1, keepdims=True)
        products = spread @ spread.T
        pairs = ~np.eye(m, dtype=bool)
        scale = np.sqrt(np.outer(np.diag(products), np.diag(products)))[pairs]
        known = scale > 0
        if known.any():
            correlation = max(0.0, float((products[pairs][known] / scale[known]).mean()))
    icc = 0.0
    if given.clusters is not None:
        each = [intra_cluster_correlation(row, given.clusters) for row in differences]
        icc = float(np.mean(each))
    tables = {
        "n": given.n,
        "discordance": float((differences != 0).mean()),
        "clusters": given.clusters,
        "icc": icc,
        "n_classifiers": m,
        "classifier_correlation": min(1.0, correlation),
    }
    return tables, differences.T if scores else None
