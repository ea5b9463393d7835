"""What stands in a report, in its order, before it becomes a page or files."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.report.associations import find_label_words, label_word_table
from ietest_fast.report.charts import (
    accuracy_chart,
    bootstrap_chart,
    delta_chart,
    p_chart,
    snr_chart,
    substitution_chart,
    t_chart,
)
from ietest_fast.report.comparison import comparable_pairs, compare_runs, comparison_table
from ietest_fast.report.effects import (
    N_FREQUENT,
    extent_table,
    find_substitutions,
    flip_table,
    frequent_table,
    length_table,
    spread_table,
)
from ietest_fast.report.evaluations import (
    changed_table,
    joint_table,
    version_strata_tables,
    version_table,
)
from ietest_fast.report.examples import TestSetAnswers, gather_answers
from ietest_fast.report.further_tests import further_tables
from ietest_fast.report.hard_cases import (
    DEFAULT_QUANTIFIER,
    find_hard_cases,
    hard_case_table,
    hard_pair_table,
)
from ietest_fast.report.provenance import to_toml
from ietest_fast.report.ranking import collapsed_table, ranking_table
from ietest_fast.report.result_tables import (
    across_tables,
    algorithm_table,
    cell_table,
    glance_table,
    reworded_table,
    rho_table,
    runs_table,
    strata_tables,
)
from ietest_fast.report.runs import make_demo_train
from ietest_fast.report.soundness import marked_tables, needed_table, say_soundness
from ietest_fast.report.stress import (
    accuracy_table,
    error_table,
    kind_table,
    pair_tables,
    side_by_side,
)
from ietest_fast.report.stress_charts import group_chart, stress_chart
from ietest_fast.report.stress_runs import example_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.report.comparison import Comparison
    from ietest_fast.report.evaluations import Evaluation
    from ietest_fast.report.runs import FinishedRun, Versions
    from ietest_fast.report.soundness import MarkedSample
    from ietest_fast.report.stress_runs import StressSource
    from ietest_fast.report.svg import Chart
    from ietest_fast.report.tables import Table


MOST_OWN_FIGURES = 24
"""Of more runs the first dozen have figures of their own, and the tables have all."""

_OWN_FIGURES = 12


@dataclass(frozen=True, kw_only=True)
class Heading:
    """Words above what follows."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Charts beside each other."""

    charts: tuple[Chart, ...]


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A table; folded away under some words if it is the numbers behind a figure."""

    table: Table
    folded: str | None = None


@dataclass(frozen=True, kw_only=True)
class Words:
    """Text to be copied, such as a command."""

    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Examples:
    """The observations of a test set, for reading."""

    title: str
    found: TestSetAnswers


@dataclass(frozen=True, kw_only=True)
class Note:
    """A sentence below what it belongs to."""

    text: str


Part = Heading | Figures | Numbers | Words | Examples | Note


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a report with a heading.

    Attributes
    ----------
    id
        Its address in a page.
    title, intro
        Heading, and a sentence below it.
    parts
        In order.
    """

    id: str
    title: str
    intro: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Contents:
    """All of a report.

    Attributes
    ----------
    runs, evaluations, stress
        What it is about.
    sections
        In order.
    """

    runs: tuple[FinishedRun, ...]
    sections: tuple[Section, ...]
    evaluations: tuple[Evaluation, ...] = ()
    stress: StressSource | None = None

    @property
    def charts(self) -> list[Chart]:
        """All figures."""
        return [
            chart
            for section in self.sections
            for part in section.parts
            if isinstance(part, Figures)
            for chart in part.charts
        ]

    @property
    def tables(self) -> list[Table]:
        """All tables; several may have the same name."""
        return [
            part.table
            for section in self.sections
            for part in section.parts
            if isinstance(part, Numbers)
        ]


def gather(
    runs: Sequence[FinishedRun],
    *,
    evaluations: Sequence[Evaluation] = (),
    stress: StressSource | None = None,
    train: Corpus | None = None,
    hard_cases: str = DEFAULT_QUANTIFIER,
    marked: Sequence[MarkedSample] = (),
) -> Contents:
    """Work out all that a report on some runs holds.

    Parameters
    ----------
    runs
        With different names; those read from counts have results, and no examples.
    evaluations
        Predictions of finished models, which come first; there may be no runs beside them.
    stress
        Finished models on stress tests, which come before these.
    train
        A training set, from which the words that go with each label are taken. If None, only runs
        on the demonstration corpus, which can be made again, have such a table.
    hard_cases
        Which pairs are listed as hard cases; a name of
        :data:`~ietest_fast.report.hard_cases.QUANTIFIERS`.
    marked
        Samples of the runs' rephrasings that people have marked.

    Raises
    ------
    InputError
        If two runs have the same name, there is none, the training set has other labels or text
        columns than a run, there is no such quantifier, or a sample was drawn from another test set
        than the runs'.
    StoreError
        If what a run left is damaged or gone.
    """
    if not (runs or evaluations or stress) or len({run.name for run in runs}) < len(runs):
        raise InputError("a report is on one run or several, with different names")
    sections = [] if stress is None else _stress(stress)
    sections += [_versions(evaluations)] if evaluations else []
    if not runs:
        return Contents(
            runs=(), sections=tuple(sections), evaluations=tuple(evaluations), stress=stress
        )
    test_sets = gather_answers(runs)
    sections += [
        _results(runs),
        _robustness(runs),
        *_comparisons(runs, test_sets),
        *_soundness(runs, marked),
        *_effects(test_sets, train),
        *_examples(test_sets, hard_cases),
        _provenance(runs),
    ]
    return Contents(
        runs=tuple(runs), sections=tuple(sections), evaluations=tuple(evaluations), stress=stress
    )


def _stress(found: StressSource) -> list[Section]:
    profiles = found.profiles
    drawn = profiles[:_OWN_FIGURES]
    groups = [group_chart(each, f"stress-groups-{i}") for i, each in enumerate(drawn, start=1)]
    charts = [stress_chart(profiles, "stress"), *(chart for chart in groups if chart is not None)]
    several = len(profiles) > 1
    parts: list[Part] = [*(Figures(charts=(chart,)) for chart in charts[:1])]
    if several:
        parts.append(Numbers(table=side_by_side(profiles)))
    if len(charts) > 1:
        parts.append(Figures(charts=tuple(charts[1:])))
    for profile in profiles:
        parts.append(Numbers(table=accuracy_table(profile)))
        parts += [Note(text=line) for line in profile.remarks()]
    errors = [table for each in profiles if (table := error_table(each)) is not None]
    kinds = [table for each in profiles if (table := kind_table(each)) is not None]
    pairs = [table for each in profiles for table in pair_tables(each)]
    for title, tables in (
        ("The errors", errors),
        ("Kinds of change", kinds),
        ("Antonyms in the training data", pairs),
    ):
        if tables:
            parts.append(Heading(text=title))
            parts += [Numbers(table=table) for table in tables]
    examples = [table for each in drawn for table in example_tables(each)]
    sections = [
        Section(
            id="stress",
            title="Stress tests",
            intro=(
                "A finished model answers the original texts and those of every test. Tests that "
                "keep labels are compared with the originals, item by item; the others are new "
                "pairs of texts with labels of their own."
            ),
            parts=tuple(parts),
        )
    ]
    if examples:
        sections.append(
            Section(
                id="stress-examples",
                title="Examples of wrong answers",
                intro="Rows of the stress tests that a model gets wrong.",
                parts=tuple(Numbers(table=table, folded=table.title) for table in examples),
            )
        )
    return sections


def _versions(evaluations: Sequence[Evaluation]) -> Section:
    outcomes = [each for evaluation in evaluations for each in evaluation.outcomes]
    joint = joint_table(evaluations)
    changed = [table for each in outcomes[:_OWN_FIGURES] if (table := changed_table(each))]
    strata = [table for each in outcomes[:_OWN_FIGURES] for table in version_strata_tables(each)]
    return Section(
        id="versions",
        title="Every version of the texts",
        intro=(
            "A finished model answers every version of the same items. Each version is tested "
            "against the original."
        ),
        parts=(
            Numbers(table=version_table(evaluations)),
            *([] if joint is None else [Numbers(table=joint)]),
            *([Heading(text="By label and number of edits")] if strata else []),
            *(Numbers(table=table) for table in strata),
            *([Heading(text="Where the answers part")] if changed else []),
            *(Numbers(table=table, folded=table.title) for table in changed),
        ),
    )


def _results(runs: Sequence[FinishedRun]) -> Section:
    drawn = runs if len(runs) <= MOST_OWN_FIGURES else runs[:_OWN_FIGURES]
    further = further_tables(runs)
    return Section(
        id="results",
        title="The test against ρ",
        intro=(
            "Each classifier, trained on data of which a share ρ was rephrased, answers both "
            "versions of the test set. Where the two lines part, the model's mind changes with the "
            "wording."
            + f" Only the first {len(drawn)} of {len(runs):,} runs have figures of their own."
            * (len(drawn) < len(runs))
        ),
        parts=(
            *(Numbers(table=own) for own in [glance_table(runs)] if own is not None),
            Numbers(table=runs_table(runs)),
            *(
                Numbers(table=own)
                for own in (reworded_table(runs), algorithm_table(runs))
                if own is not None
            ),
            *(Numbers(table=own, folded=own.title) for own in strata_tables(runs)),
            Heading(text="Accuracy, and how large the difference is"),
            Figures(
                charts=tuple(chart for i, run in enumerate(drawn, 1) for chart in _of_run(run, i))
            ),
            Heading(text="Statistic and p-value"),
            Figures(charts=(t_chart(runs, "t"), p_chart(runs, "p-values"))),
            Numbers(table=rho_table(runs), folded="The numbers behind these figures"),
            *(Numbers(table=table) for table in across_tables(runs)),
            *(Heading(text="On further test sets") for _ in further[:1]),
            *(Numbers(table=table) for table in further),
            Numbers(table=cell_table(runs), folded="Every classifier, in numbers"),
            Heading(text="The null distribution"),
            Figures(
                charts=tuple(
                    bootstrap_chart(run, f"bootstrap-{i}") for i, run in enumerate(drawn, 1)
                )
            ),
        ),
    )


def _of_run(run: FinishedRun, number: int) -> tuple[Chart, Chart]:
    return accuracy_chart(run, f"accuracy-{number}"), delta_chart(run, f"delta-{number}")


def _robustness(runs: Sequence[FinishedRun]) -> Section:
    collapsed = collapsed_table(runs)
    chart = snr_chart(runs, "snr") if len(runs) > 1 else None
    return Section(
        id="robustness",
        title="Robustness",
        intro=(
            "How steady a model's accuracy is over everything that was retrained: the "
            "signal-to-noise ratio of the paper's Table 2."
        ),
        parts=(
            Numbers(table=ranking_table(runs)),
            *([] if chart is None else [Figures(charts=(chart,))]),
            *([] if collapsed is None else [Numbers(table=collapsed)]),
        ),
    )


def _soundness(runs: Sequence[FinishedRun], marked: Sequence[MarkedSample]) -> list[Section]:
    needed = needed_table(runs)
    if needed is None:
        if marked:
            raise InputError(
                "none of these runs has texts, so no sample was drawn from them",
                path=marked[0].sample.path,
            )
        return []
    parts: list[Part] = [Numbers(table=needed)]
    for each in marked:
        each.sample.check_is_of_run()
        own = [run for run in runs if run.test_set == each.sample.test_set]
        if not own:
            raise InputError(
                "was not drawn from the test set of any of these runs", path=each.sample.path
            )
        parts.append(Heading(text=f"{each.sample.path.name}: {say_soundness(each)}"))
        for number, run in enumerate(own):
            tables = marked_tables(run, each)
            parts += [Numbers(table=table) for table in tables[min(number, 1) :]]
    return [
        Section(
            id="soundness",
            title="Are the rephrasings sound?",
            intro=(
                "A rephrasing that changes the meaning may change an answer rightly. The first "
                "table says how many such rephrasings it would take to explain each result."
                + ("" if marked else " `ietest-fast annotate` lets people mark how many there are.")
            ),
            parts=tuple(parts),
        )
    ]


def _comparisons(runs: Sequence[FinishedRun], test_sets: Sequence[TestSetAnswers]) -> list[Section]:
    known: dict[str, tuple[NDArray[np.int8], NDArray[np.int8]]] = {
        run.name: (found.versions.gold, answers)
        for found in test_sets
        for run, answers in zip(found.runs, found.answers, strict=True)
    }
    if len(runs) < 2:
        return []
    pairs = comparable_pairs(runs)

    def compare(pair: tuple[FinishedRun, FinishedRun]) -> Comparison:
        first, second = pair
        return compare_runs(
            first,
            second,
            gold=known[first.name][0],
            answers=(known[first.name][1], known[second.name][1]),
        )

    # Nearly all of it is the compiled core's work, which other threads need not wait for.
    with ThreadPoolExecutor() as pool:
        compared = list(pool.map(compare, pairs))
    tables = [comparison_table(each, number=i) for i, each in enumerate(compared, start=1)]
    return [
        Section(
            id="comparisons",
            title="Runs side by side",
            intro=_say_compared(runs, pairs),
            parts=tuple(
                Numbers(table=table, folded=table.title if len(tables) > 3 else None)
                for table in tables
            ),
        )
    ]


def _say_compared(
    runs: Sequence[FinishedRun], pairs: Sequence[tuple[FinishedRun, FinishedRun]]
) -> str:
    needs = (
        "that takes answers to the same test set, with the same columns and labels, and a ρ in "
        "common."
    )
    if not pairs:
        return f"These runs are not compared: {needs}"
    said = (
        "The same observations, answered by two models or under two transformations. The row that "
        "matters most is the loss: which of the two gives away more accuracy when texts are "
        "rephrased."
    )
    n_left = math.comb(len(runs), 2) - len(pairs)
    if n_left == 0:
        return said
    return f"{said} Of {n_left + len(pairs)} pairs of runs {n_left} cannot be compared: {needs}"


def _effects(test_sets: Sequence[TestSetAnswers], train: Corpus | None) -> list[Section]:
    if not test_sets:
        return []
    parts: list[Part] = []
    for number, found in enumerate(test_sets, start=1):
        own = len(parts)
        if len(test_sets) > 1:
            parts.append(Heading(text=_say_test_set(found)))
        substitutions = find_substitutions(found.versions)
        parts += [
            Numbers(table=extent_table(found.versions, substitutions)),
            Numbers(table=spread_table(substitutions)),
            Numbers(table=length_table(found.versions)),
        ]
        if substitutions.names:
            parts += [
                Figures(
                    charts=(
                        substitution_chart(substitutions, f"substitutions-{number}", N_FREQUENT),
                    )
                ),
                Numbers(
                    table=frequent_table(substitutions), folded="The numbers behind this figure"
                ),
            ]
        own_train = make_demo_train(found.runs[0]) if train is None else train
        if own_train is not None:
            _check_train(own_train, found.versions)
            words = find_label_words(own_train)
            parts.append(Numbers(table=label_word_table(words, found.versions)))
        parts += [
            Numbers(table=flip_table(substitutions, answers, model=run.name))
            for run, answers in zip(found.runs, found.answers, strict=True)
        ]
        if len(test_sets) > 1:
            parts[own:] = [_of_test_set(part, found) for part in parts[own:]]
    return [
        Section(
            id="transformation",
            title="What the transformation did",
            intro=(
                "How much of the test set was changed, by which substitutions, and which of them "
                "go with changed answers."
            ),
            parts=tuple(parts),
        )
    ]


def _check_train(train: Corpus, versions: Versions) -> None:
    if train.text_columns != versions.columns:
        raise InputError(
            f"has the text columns {', '.join(train.text_columns)}; the run's are "
            f"{', '.join(versions.columns)}",
            path=train.source,
        )
    if train.label_names != versions.label_names:
        raise InputError(
            f"has the labels {', '.join(train.label_names)}; the run's are "
            f"{', '.join(versions.label_names)}",
            path=train.source,
        )


def _of_test_set(part: Part, found: TestSetAnswers) -> Part:
    """Name the test set in the title of a table: in a file of its own it has no heading."""
    if not isinstance(part, Numbers):
        return part
    run = found.runs[0]
    title = f"{part.table.title} ({run.transformation} on {run.data_name})"
    return replace(part, table=replace(part.table, title=title))


def _say_test_set(found: TestSetAnswers) -> str:
    run = found.runs[0]
    models = list(dict.fromkeys(each.model for each in found.runs))
    # Names tell runs apart by their transformation and data, which are said already.
    names = models if len(models) == len(found.runs) else [each.name for each in found.runs]
    return f"{run.transformation} on {run.data_name}, for {', '.join(names)}"


def _examples(test_sets: Sequence[TestSetAnswers], hard_cases: str) -> list[Section]:
    if not test_sets:
        return []
    return [
        Section(
            id="examples",
            title="Examples",
            intro=(
                "Every observation of the test set with both versions, edits marked (what was "
                "taken out is struck through, what was put in underlined), and the answers of each "
                "model's classifier at the chosen ρ and m. ✓ is right, ✗ wrong."
            ),
            parts=tuple(
                _of_test_set(part, found) if len(test_sets) > 1 else part
                for found in test_sets
                for part in (
                    Numbers(table=hard_case_table(found.hardness)),
                    *_hard_pairs(found, hard_cases),
                    Examples(title=_say_test_set(found), found=found),
                )
            ),
        )
    ]


def _hard_pairs(found: TestSetAnswers, quantifier: str) -> list[Part]:
    rows = find_hard_cases(found.answers, found.versions.gold, quantifier=quantifier)
    if len(rows) == 0:
        return []
    table = hard_pair_table(found.versions, rows, quantifier=quantifier)
    return [Numbers(table=table, folded=table.title)]


def _provenance(runs: Sequence[FinishedRun]) -> Section:
    return Section(
        id="provenance",
        title="How it came about",
        intro=(
            "Each run's signature and its settings. A run keeps no names of files: what is left "
            "open (...) is yours to fill in. Equal contents give equal results, byte for byte."
        ),
        parts=tuple(
            Words(
                title=run.name,
                text=f"Counts from {run.source.name}; nothing else is known."
                if run.results is None
                else to_toml(run.results, run.condition),
            )
            for run in runs
        ),
    )
