"""Finished runs as a source of a report: its sections, in order, and those on their texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ietest_fast.errors import InputError
from ietest_fast.experiment.finished import FinishedRun, make_demo_train
from ietest_fast.experiment.view.charts import substitution_chart
from ietest_fast.experiment.view.run_sections import (
    comparison_sections,
    provenance_section,
    result_section,
    robustness_section,
)
from ietest_fast.experiment.view.summary import say_verdict
from ietest_fast.experiment.view.text_tables import (
    DEFAULT_QUANTIFIER,
    N_FREQUENT,
    example_part,
    extent_table,
    find_hard_cases,
    find_label_words,
    find_substitutions,
    flip_table,
    frequent_table,
    gather_answers,
    hard_case_table,
    hard_pair_table,
    label_word_table,
    length_table,
    spread_table,
)
from ietest_fast.report.contents import Figures, Finding, Heading, Numbers, Part, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.corpus import Corpus
    from ietest_fast.experiment.finished import Versions
    from ietest_fast.experiment.view.text_tables import TestSetAnswers


def effect_sections(test_sets: Sequence[TestSetAnswers], train: Corpus | None) -> list[Section]:
    """Return sections on what rephrasing did to the texts, and to the answers."""
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
    for noun, own, said in (
        ("text columns", train.text_columns, versions.columns),
        ("labels", train.label_names, versions.label_names),
    ):
        if own != said:
            raise InputError(
                f"has the {noun} {', '.join(own)}; the run's are {', '.join(said)}",
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


def example_sections(test_sets: Sequence[TestSetAnswers], hard_cases: str) -> list[Section]:
    """Return sections of observations to read."""
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
                    example_part(_say_test_set(found), found),
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


@dataclass(frozen=True, kw_only=True, eq=False)
class RunsSource:
    """Finished runs, with different names; those read from counts have no examples."""

    key: ClassVar[str] = "runs"
    title: ClassVar[str] = "Invariance under equivalence"

    runs: tuple[FinishedRun, ...]
    """What the report is on."""
    train: Corpus | None = None
    """A training set, from which the words that go with each label are taken. If None, only runs on
    the demonstration corpus, which can be made again, have such a table."""
    hard_cases: str = DEFAULT_QUANTIFIER
    """Which pairs are listed as hard cases; a name of
    :data:`~ietest_fast.experiment.view.text_tables.QUANTIFIERS`."""
    soundness: tuple[Section, ...] = ()
    """What people say of the rephrasings: see :mod:`ietest_fast.annotation.soundness`."""

    def __post_init__(self) -> None:
        if not self.runs or len({run.name for run in self.runs}) < len(self.runs):
            raise InputError("a report is on one run or several, with different names")

    def findings(self) -> list[Finding]:
        """Say in a sentence for each run what its tests show."""
        return [Finding(kind=run.finding_kind, text=say_verdict(run)) for run in self.runs]

    def sections(self) -> list[Section]:
        """Return results, comparisons, what was rephrased, examples, and how it all came about."""
        test_sets = gather_answers(self.runs)
        return [
            result_section(self.runs),
            robustness_section(self.runs),
            *comparison_sections(self.runs, test_sets),
            *self.soundness,
            *effect_sections(test_sets, self.train),
            *example_sections(test_sets, self.hard_cases),
            provenance_section(self.runs),
        ]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the numbers that figures and tables show."""
        return [run.to_dict() for run in self.runs]
