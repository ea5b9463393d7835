"""Finished models: what their predictions say about every version of the texts."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.compare.profile import (
    CompareNotes,
    choose_clusters,
    choose_unparsed,
    compare_versions,
    find_gravest,
    read_roles,
    say_tests,
)
from ietest_fast.analyses.compare.saying import mark_floor, version_table
from ietest_fast.analyses.compare.statistic import Strata, find_statistics
from ietest_fast.answers.file import plain_name, say_copies
from ietest_fast.answers.logs import read_logs
from ietest_fast.answers.schema import CLUSTER, is_predictions
from ietest_fast.answers.shared import (
    SharedWordings,
    check_same_texts,
    find_answered_texts,
    holds_texts,
    list_texts,
)
from ietest_fast.corpus.streams import open_batches
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.report.contents import OWN_FIGURES, Finding, Heading, Note, Numbers, Part, Section
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats.strata import EDITS
from ietest_fast.values import number_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.analyses.compare.profile import Comparison, VersionTest
    from ietest_fast.analyses.compare.statistic import Statistic
    from ietest_fast.answers.table import Predictions
    from ietest_fast.stats import PairedCounts, Verdict


N_EXAMPLES = 200
"""Rows of a table of changed answers."""


_MOST_NUMBERS_OF_EDITS = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class VersionOutcome:
    """One version of the texts, held against the reference."""

    classifier: str
    """Name of the model, with m and rho where there are several."""
    tested: VersionTest
    """The paired test and its correction."""

    @property
    def version(self) -> str:
        """Which version."""
        return self.tested.pairs.version

    @property
    def counts(self) -> PairedCounts:
        """The four counts."""
        return self.tested.result.counts


@dataclass(frozen=True, kw_only=True, eq=False)
class TestedPredictions:
    """The predictions of one finished model or several, tested."""

    name: str
    """What the page calls them: the file's name."""
    source: Path
    """The file."""
    model: str | None
    """The first model by the file; None if that names none."""
    comparison: Comparison
    """The tests."""
    outcomes: tuple[VersionOutcome, ...]
    """Every version but the reference of every classifier."""
    notes: tuple[str, ...] = ()
    """Whole sentences on what was decided, and on facts of the file that contradict each other."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers that the tables show."""
        return {
            "name": self.name,
            "versions": [
                {
                    "classifier": each.classifier,
                    "version": each.version,
                    **asdict(each.counts),
                    "t": each.tested.result.t,
                    "p_value": each.tested.result.p_value,
                    "p_adjusted": each.tested.p_adjusted,
                    "delta": each.counts.delta,
                    "invariance": None
                    if each.tested.invariance is None
                    else each.tested.invariance.to_dict(),
                    "interval": list(each.tested.equivalence.interval),
                    "verdict": str(each.tested.verdict),
                }
                for each in self.outcomes
            ],
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluationSource:
    """Predictions in one file or several."""

    key: ClassVar[str] = "evaluations"
    title: ClassVar[str] = "Invariance under equivalence"
    noun: ClassVar[str] = "predictions"

    evaluations: tuple[TestedPredictions, ...]
    """One for each file."""

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether a file holds a long table of predictions, rather than counts."""
        with open_batches(path) as batches:
            return is_predictions(batches.schema)

    @classmethod
    def read(cls, paths: Sequence[Path], **levels: Any) -> Self:
        """Read several files as :func:`read_tested` does; call all classifiers differently.

        Those without a name are called as their files, and those of one name in two files with the
        file behind it; the second of two files of one name is ``#2``.
        """
        say_copies(paths)
        found = [read_tested(path, **levels) for path in paths]
        counted = Counter(
            name for each in found for name in {own.classifier for own in each.outcomes}
        )
        names = number_names(path.name for path in paths)
        files = number_names(map(plain_name, paths))

        def rename(own: VersionOutcome, stem: str, file: str) -> VersionOutcome:
            if counted[own.classifier] == 1:
                return own
            is_of_file = own.classifier == stem
            return replace(own, classifier=file if is_of_file else f"{own.classifier}, {file}")

        return cls(
            evaluations=tuple(
                replace(
                    each,
                    name=name,
                    notes=(
                        *each.notes,
                        *(() if each is found[0] else _say_other_items(found[0], each)),
                    ),
                    outcomes=tuple(rename(own, each.source.stem, file) for own in each.outcomes),
                )
                for each, name, file in zip(found, names, files, strict=True)
            )
        )

    def findings(self) -> list[Finding]:
        """Say in a sentence for each classifier what its predictions show."""
        said = [each for found in self.evaluations for each in say_evaluation(found)]
        return [Finding(kind=verdict.finding_kind, text=text) for verdict, text in said]

    def sections(self) -> list[Section]:
        """Return every version of the texts, each against the original."""
        outcomes = [each for evaluation in self.evaluations for each in evaluation.outcomes]
        joint = joint_table(self.evaluations)
        changed = [table for each in outcomes[:OWN_FIGURES] if (table := discordant_table(each))]
        section = Section(
            id="versions",
            title="Every version of the texts",
            intro=(
                "A finished model answers every version of the same items. Each version is tested "
                "against the original."
            ),
            parts=(
                Numbers(
                    table=version_table(
                        [each.tested for each in outcomes], [each.classifier for each in outcomes]
                    )
                ),
                *_caveats(self.evaluations),
                *([] if joint is None else [Numbers(table=joint)]),
                *statistics_parts(outcomes[:OWN_FIGURES]),
                *([Heading(text="Where the answers part")] if changed else []),
                *(Numbers(table=table, folded=table.title) for table in changed),
            ),
        )
        return [section]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the numbers that the tables show."""
        return [each.to_dict() for each in self.evaluations]


def _caveats(evaluations: Sequence[TestedPredictions]) -> list[Part]:
    """Note what eval says of a file, and where p speaks of texts that were not reworded."""
    said = []
    for each in evaluations:
        start = f"{each.name}: " if len(evaluations) > 1 else ""
        said += [*each.notes, *(start + line for x in each.comparison.tests for line in x.caveats)]
    return [Note(text=line) for line in said]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Answered:
    """The answers of a file's first classifier, with their texts."""

    name: str
    predictions: Predictions
    text_columns: tuple[str, ...]

    @classmethod
    def of(cls, evaluation: TestedPredictions) -> _Answered:
        answers = evaluation.outcomes[0].tested.pairs.predictions
        texts = find_answered_texts(answers)
        return cls(name=evaluation.name, predictions=answers, text_columns=texts)


def _say_other_items(first: TestedPredictions, other: TestedPredictions) -> tuple[str, ...]:
    """Say that another model gives other texts the same names, or other labels: so may other data.

    Of one model, it is other data.
    """
    one, two = _Answered.of(first), _Answered.of(other)
    if first.model is not None and first.model == other.model:
        return ()
    shared, said = SharedWordings.find(one.predictions, two.predictions), []
    for check in (
        lambda: check_same_texts(one, two),
        lambda: shared.check_labels("gold", "the gold label"),
    ):
        try:
            check()
        except InputError as error:
            said.append(f"Warning: {error}.")
    return tuple(said)


def read_tested(path: Path, **levels: Any) -> TestedPredictions:
    """Read predictions, such as ``ietest-fast eval --out`` writes, and test every version.

    `levels` are ``alpha``, ``margin`` and ``flip_margin`` of :func:`compare_versions`.
    """
    try:
        logs = read_logs([path], unparsed=choose_unparsed([path]) or "error")
    except InputError as error:
        said = error.lines[0]
        if "--" not in said:
            raise
        remedy = "these are options of eval, whose --out writes a file for a report"
        raise InputError(f"{said}; {remedy}") from error
    found = evaluate_predictions(
        logs.predictions,
        source=path,
        model=logs.model,
        notes=read_roles([path]),
        **levels,
    )
    return replace(found, notes=(*logs.notes, *found.notes))


def evaluate_predictions(
    predictions: Predictions,
    *,
    source: Path,
    model: str | None = None,
    notes: CompareNotes,
    **levels: Any,
) -> TestedPredictions:
    """Test every version of every classifier, of `model` where the predictions name none."""
    if len(predictions.versions) == 1 and len(predictions.groups) == 1:
        raise InputError(
            f"has the version {predictions.versions[0]} alone, of one classifier; a report "
            "compares versions, or classifiers",
            path=source,
        )
    comparison = compare_versions(
        predictions,
        clusters=choose_clusters(predictions, None, notes.clusters),
        reworded=notes.reworded,
        strata=(EDITS,) if _has_edits(predictions) else (),
        **levels,
    )
    for note in comparison.notes:
        warnings.warn(note.removeprefix("Warning: ").removesuffix("."), IetestWarning, stacklevel=2)
    named = {"model": model}
    alone = _name(named | predictions.groups[0]) if len(predictions.groups) == 1 else ""
    return TestedPredictions(
        name=source.name,
        source=source,
        model=(named | predictions.groups[0])["model"],
        comparison=comparison,
        notes=comparison.notes,
        outcomes=tuple(
            VersionOutcome(
                classifier=_name(named | test.group) or alone or source.stem,
                tested=test,
            )
            for test in comparison.tests
        ),
    )


def _has_edits(predictions: Predictions) -> bool:
    """Whether the numbers of edits are so few that each may be shown by itself."""
    if EDITS not in predictions.columns:
        return False
    column = predictions.table[EDITS]
    if pa.types.is_nested(column.type):
        return False  # no numbers
    return column.null_count == 0 and len(pc.unique(column)) <= _MOST_NUMBERS_OF_EDITS


def _name(group: dict[str, Any]) -> str:
    said = [] if group.get("model") is None else [str(group["model"])]
    said += [f"{key} {group[key]:g}" for key in ("rho", "m") if group.get(key) is not None]
    return ", ".join(said)


def say_evaluation(evaluation: TestedPredictions) -> list[tuple[Verdict, str]]:
    """Say for each classifier what its predictions show, as the commands do."""
    said = []
    for classifier in dict.fromkeys(each.classifier for each in evaluation.outcomes):
        tests = [each.tested for each in evaluation.outcomes if each.classifier == classifier]
        said.append((find_gravest(tests), f"{classifier}: {say_tests(tests)}"))
    return said


def statistics_parts(outcomes: Sequence[VersionOutcome]) -> list[Part]:
    """Return the tables of each statistic below its title."""
    found = [(f"{each.classifier}, {each.version}", _with_labels(each.tested)) for each in outcomes]
    parts: list[Part] = []
    for name, statistic in find_statistics().items():
        tables = [table for whose, own in found if name in own for table in own[name].tables(whose)]
        parts += [Heading(text=statistic.title)] if tables else []
        parts += [Numbers(table=table) for table in tables]
    return parts


def _with_labels(test: VersionTest) -> dict[str, Statistic]:
    """Return the statistics of a version; its verdict looks at the labels, which are strata too."""
    own = test.invariance
    if own is None or own.strata is None:
        return dict(test.statistics)
    asked = test.statistics.get("strata")
    others = asked.results if isinstance(asked, Strata) else ()
    return {**test.statistics, "strata": Strata(results=(own.strata, *others))}


def joint_table(evaluations: Sequence[TestedPredictions]) -> Table | None:
    """Return Cochran's tests over all versions; None if there are none."""
    rows = [
        (
            next(own.classifier for own in evaluation.outcomes if own.tested.group == each.group),
            each.result.n,
            len(each.result.versions),
            each.result.statistic,
            mark_floor(each.result.p_value, each.result.p_floor),
        )
        for evaluation in evaluations
        for each in evaluation.comparison.cochran
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


def discordant_table(outcome: VersionOutcome) -> Table | None:
    """List observations that are answered rightly in one version only; None without any.

    With both answers, and with every column of texts; where a text is the same in both versions it
    stands there once.
    """
    pairs, sample = outcome.tested.pairs, outcome.tested.pairs.sample
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
        list_texts(before, "item"),
        [pairs.reference if right else outcome.version for right in sample.original_correct[shown]],
    ]
    names = [name for name in ("gold", "predicted") if name in before.column_names]
    extra = (name for name in pairs.predictions.extra_columns if name != CLUSTER)
    names += [name for name in extra if holds_texts(before, name)]
    for name in names:
        first, second = list_texts(before, name), list_texts(after, name)
        if first == second:
            columns.append(Column(name))
            values.append(first)
        else:
            columns += [Column(f"{name}, {pairs.reference}"), Column(f"{name}, {outcome.version}")]
            values += [first, second]
    left = len(places) - len(shown)
    title = (
        f"{outcome.classifier}: right on one version only ({pairs.reference}, {outcome.version})"
    )
    return Table(
        name="changed",
        title=title,
        columns=tuple(columns),
        rows=tuple(zip(*values, strict=True)),
        note=f"{left:,} more are not listed." if left else "",
    )
