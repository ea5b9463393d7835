"""Finished models: what their predictions say about every version of the texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.evaluation.predictions import ORIGINAL, Predictions
from ietest_fast.evaluation.schema import is_predictions
from ietest_fast.experiment.results import RESULTS
from ietest_fast.experiment.schema import CellResult
from ietest_fast.report.tables import Column, PValue, Range, Table
from ietest_fast.stats import (
    Verdict,
    cochran_q_test,
    equivalence_test,
    holm,
    is_collapsed,
    paired_test,
)
from ietest_fast.stats.clustered import clustered_test

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.evaluation.predictions import Pairs
    from ietest_fast.stats import CochranResult

N_EXAMPLES = 200
"""Rows of a table of changed answers."""

_CLUSTER = "cluster"


@dataclass(frozen=True, kw_only=True, eq=False)
class VersionOutcome:
    """One version of the texts, held against the original.

    Attributes
    ----------
    classifier
        Name of the model, with m and rho where there are several.
    version
        Which version.
    pairs
        The answers to both.
    cell
        Counts, test and interval.
    p_adjusted
        Its p-value by Holm's rule over the versions of the classifier.
    """

    classifier: str
    version: str
    pairs: Pairs
    cell: CellResult
    p_adjusted: float

    @property
    def reject(self) -> bool:
        """Whether a difference is found."""
        return self.p_adjusted < self.cell.equivalence.alpha

    @property
    def verdict(self) -> Verdict:
        """What is shown."""
        if self.cell.collapsed:
            return Verdict.COLLAPSED
        if self.cell.is_equivalent:
            return Verdict.EQUIVALENT
        return Verdict.DIFFERS if self.reject else Verdict.UNDECIDED


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """The predictions of one finished model or several, tested.

    Attributes
    ----------
    name
        What the page calls them: the file's name.
    source
        The file.
    outcomes
        Every version but the original of every classifier.
    joint
        Cochran's tests over all versions of each classifier; none of fewer than three versions.
    """

    name: str
    source: Path
    outcomes: tuple[VersionOutcome, ...]
    joint: tuple[tuple[str, CochranResult], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers that the tables show."""
        return {
            "name": self.name,
            "versions": [
                {
                    "classifier": each.classifier,
                    "version": each.version,
                    **{name: getattr(each.cell, name) for name in ("n11", "n10", "n01", "n00")},
                    "t": each.cell.t,
                    "p_value": each.cell.p_value,
                    "p_adjusted": each.p_adjusted,
                    "delta": each.cell.delta,
                    "interval": list(each.cell.equivalence.interval),
                    "verdict": str(each.verdict),
                }
                for each in self.outcomes
            ],
        }


def find_predictions(path: Path) -> bool:
    """Whether a file holds a long table of predictions, rather than counts."""
    from ietest_fast.corpus.streams import open_batches

    if path.name == RESULTS:
        return False  # of a run, whose folder is wanted
    with open_batches(path) as batches:
        return is_predictions(batches.schema)


def read_evaluation(path: Path, *, alpha: float = 0.05, margin: float = 0.01) -> Evaluation:
    """Read predictions, such as ``ietest-fast eval --out`` writes, and test every version.

    Parameters
    ----------
    path
        A long table of predictions: Parquet, CSV, TSV or JSON lines.
    alpha, margin
        Of the tests.

    Raises
    ------
    InputError
        If it is no such table, or has no version beside the original.
    """
    if path.suffix == ".parquet":
        predictions = Predictions.read(path)
    else:
        from ietest_fast.corpus.streams import open_batches

        with open_batches(path) as batches:
            table = pa.Table.from_batches(list(batches), schema=batches.schema)
        predictions = Predictions.from_table(table, source=str(path))
    return evaluate_predictions(predictions, source=path, alpha=alpha, margin=margin)


def evaluate_predictions(
    predictions: Predictions, *, source: Path, alpha: float = 0.05, margin: float = 0.01
) -> Evaluation:
    """Test every version of every classifier; see :func:`read_evaluation`."""
    others = [name for name in predictions.versions if name != ORIGINAL]
    if ORIGINAL not in predictions.versions or not others:
        raise InputError(
            f"has the versions {', '.join(predictions.versions)}; a report compares "
            f"{ORIGINAL!r} with at least one other",
            path=source,
        )
    outcomes: list[VersionOutcome] = []
    joint: list[tuple[str, CochranResult]] = []
    for number, group in enumerate(predictions.groups):
        own = predictions.select(**{k: v for k, v in group.items() if v is not None})
        classifier = _name(group) or source.stem
        if len(predictions.groups) > 1 and not group:
            classifier = f"{classifier} ({number})"
        pairs = [own.pairs(version) for version in others if version in own.versions]
        cells = [_test(each, alpha=alpha, margin=margin) for each in pairs]
        adjusted = holm([cell.p_value for cell in cells]) if cells else []
        outcomes += [
            VersionOutcome(
                classifier=classifier, version=each.version, pairs=each, cell=cell, p_adjusted=p
            )
            for each, cell, p in zip(pairs, cells, adjusted, strict=True)
        ]
        found = _test_jointly(own, pairs)
        if found is not None:
            joint.append((classifier, found))
    return Evaluation(name=source.name, source=source, outcomes=tuple(outcomes), joint=tuple(joint))


def _name(group: dict[str, Any]) -> str:
    said = [] if group.get("model") is None else [str(group["model"])]
    said += [f"{key} {group[key]:g}" for key in ("rho", "m") if group.get(key) is not None]
    return ", ".join(said)


def _test(pairs: Pairs, *, alpha: float, margin: float) -> CellResult:
    sample, clusters = pairs.sample, None
    if _CLUSTER in pairs.predictions.columns:
        clusters = pairs.column(_CLUSTER)
    known = (pairs.gold >= 0) & (pairs.original >= 0)
    outcomes = (sample.original_correct, sample.transformed_correct)
    return CellResult.of(
        rho=0.0,
        m=0,
        test=paired_test(sample),
        clustered=None if clusters is None else clustered_test(*outcomes, clusters),
        equivalence=equivalence_test(sample, clusters=clusters, margin=margin, alpha=alpha),
        collapsed=bool(known.all()) and is_collapsed(pairs.original, pairs.gold),
    )


def _test_jointly(own: Predictions, pairs: Sequence[Pairs]) -> CochranResult | None:
    """Test all versions at once, on the items that have each of them once."""
    if len(pairs) < 2:
        return None
    rows = pairs[0].reference_rows
    for each in pairs:
        if len(np.unique(each.reference_rows)) < len(each.reference_rows):
            return None  # several wordings of an item in one version
        rows = np.intersect1d(rows, each.reference_rows)
    if len(rows) < 2:
        return None
    columns = [own.correct[rows]]
    for each in pairs:
        order = np.argsort(each.reference_rows)
        places = order[np.searchsorted(each.reference_rows[order], rows)]
        columns.append(own.correct[each.version_rows[places]])
    names = [ORIGINAL, *(each.version for each in pairs)]
    return cochran_q_test(np.stack(columns, axis=1), versions=names)


def say_evaluation(evaluation: Evaluation) -> list[tuple[Verdict, str]]:
    """Say in one sentence for each classifier what its predictions show."""
    said = []
    for classifier in dict.fromkeys(each.classifier for each in evaluation.outcomes):
        own = [each for each in evaluation.outcomes if each.classifier == classifier]
        by_verdict = {
            verdict: [each for each in own if each.verdict is verdict] for verdict in Verdict
        }
        margin = _points(own[0].cell.equivalence.margin)
        parts = [_say_change(each) for each in by_verdict[Verdict.DIFFERS]]
        for verdict, words in (
            (Verdict.EQUIVALENT, f"its accuracy is shown to change by less than {margin}"),
            (Verdict.UNDECIDED, f"a difference of {margin} can be neither shown nor ruled out"),
            (Verdict.COLLAPSED, "nothing can be said: it cannot be told from guessing"),
        ):
            if by_verdict[verdict]:
                names = ", ".join(each.version for each in by_verdict[verdict])
                parts.append(f"on {names} {words}")
        kind = next(
            each
            for each in (
                Verdict.DIFFERS,
                Verdict.COLLAPSED,
                Verdict.UNDECIDED,
                Verdict.EQUIVALENT,
            )
            if by_verdict[each]
        )
        said.append((kind, f"{classifier}: {'; '.join(parts)}."))
    return said


def _say_change(outcome: VersionOutcome) -> str:
    verb = "loses" if outcome.cell.delta > 0 else "gains"
    return f"on {outcome.version} it {verb} {_points(abs(outcome.cell.delta))} of accuracy"


def _points(share: float) -> str:
    size = f"{100 * share:.2f}".rstrip("0").rstrip(".")
    return f"{size} {'point' if size == '1' else 'points'}"


def version_table(evaluations: Sequence[Evaluation]) -> Table:
    """Return the test of every version of every classifier."""
    outcomes = [each for evaluation in evaluations for each in evaluation.outcomes]
    level = 100 * (1 - 2 * outcomes[0].cell.equivalence.alpha)
    return Table(
        name="versions",
        title="Every version against the original",
        columns=(
            Column("model"),
            Column("version"),
            Column("pairs", "count"),
            Column("n10", "count"),
            Column("n01", "count"),
            Column("original %", "percent"),
            Column("version %", "percent"),
            Column("δ (points)", "points"),
            Column("interval of δ", "points"),
            Column("t", "number", 3),
            Column("p", "p"),
            Column("p, Holm", "p"),
            Column("verdict"),
        ),
        rows=tuple(
            (
                each.classifier,
                each.version,
                each.cell.n,
                each.cell.n10,
                each.cell.n01,
                each.cell.accuracy_original,
                each.cell.accuracy_transformed,
                each.cell.delta,
                Range(each.cell.interval.low, each.cell.interval.high),
                each.cell.t,
                each.cell.p_value,
                PValue(each.p_adjusted, each.cell.equivalence.alpha),
                str(each.verdict),
            )
            for each in outcomes
        ),
        note=(
            "n10: right on the original only; n01: on the version only. δ is original minus "
            f"version, its interval at {level:g}%. Holm's correction is over the versions of a "
            f"model.{_say_clusters(outcomes)}{_say_unmatched(outcomes)}"
        ),
    )


def _say_clusters(outcomes: Sequence[VersionOutcome]) -> str:
    if all(each.cell.n_clusters is None for each in outcomes):
        return ""
    return " Tests and intervals draw whole clusters."


def _say_unmatched(outcomes: Sequence[VersionOutcome]) -> str:
    n = max(each.pairs.n_unmatched for each in outcomes)
    return f" Up to {n:,} items lack one of the versions." if n else ""


def joint_table(evaluations: Sequence[Evaluation]) -> Table | None:
    """Return Cochran's tests over all versions; None if there are none."""
    rows = [
        (name, found.n, len(found.versions), found.statistic, found.p_value)
        for evaluation in evaluations
        for name, found in evaluation.joint
    ]
    if not rows:
        return None
    return Table(
        name="all-versions",
        title="All versions at once: Cochran's test",
        columns=(
            Column("model"),
            Column("items", "count"),
            Column("versions", "count"),
            Column("Q", "number", 3),
            Column("p", "p"),
        ),
        rows=tuple(rows),
        note="Of the items that have every version once.",
    )


def changed_table(outcome: VersionOutcome) -> Table | None:
    """List observations that are answered rightly in one version only; None without any.

    With both answers, and with every column of texts; where a text is the same in both versions it
    stands there once.
    """
    sample, pairs = outcome.pairs.sample, outcome.pairs
    places = np.flatnonzero(sample.original_correct != sample.transformed_correct)
    if len(places) == 0:
        return None
    # What is lost first: that is what a reader looks for.
    places = places[np.argsort(~sample.original_correct[places], kind="stable")]
    shown = places[:N_EXAMPLES]
    before, after = (
        pairs.predictions.table.take(pa.array(rows[shown]))
        for rows in (pairs.reference_rows, pairs.version_rows)
    )
    columns = [Column("item"), Column("right on")]
    values: list[list[str | None]] = [
        _texts(before, "item"),
        ["the original" if right else outcome.version for right in sample.original_correct[shown]],
    ]
    names = [name for name in ("gold", "predicted") if name in before.column_names]
    names += [name for name in pairs.predictions.extra_columns if _holds_texts(before, name)]
    for name in names:
        first, second = _texts(before, name), _texts(after, name)
        if first == second:
            columns.append(Column(name))
            values.append(first)
        else:
            columns += [Column(f"{name}, original"), Column(f"{name}, {outcome.version}")]
            values += [first, second]
    left = len(places) - len(shown)
    title = f"{outcome.classifier}: right on one version only ({ORIGINAL}, {outcome.version})"
    return Table(
        name="changed",
        title=title,
        columns=tuple(columns),
        rows=tuple(zip(*values, strict=True)),
        note=f"{left:,} more are not listed." if left else "",
    )


def _holds_texts(table: pa.Table, name: str) -> bool:
    kind = table.schema.field(name).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return name != _CLUSTER and (pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _texts(table: pa.Table, name: str) -> list[str | None]:
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    found: list[str | None] = pc.cast(column, pa.string()).to_pylist()
    return found
