"""Tables of stress tests: a classifier on the originals and on every test (Naik et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.stress.asking import StressNotes, measure_answers, read_stress_answers
from ietest_fast.analyses.stress.origins import NOTES
from ietest_fast.analyses.stress.profile import say_accuracy
from ietest_fast.analyses.stress.suite import StressOptions
from ietest_fast.answers.file import read_notes
from ietest_fast.answers.shared import holds_texts, list_texts
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.escapes import escape_label, plain_label
from ietest_fast.report.contents import (
    OWN_FIGURES,
    Figures,
    Finding,
    Heading,
    Note,
    Numbers,
    Part,
    Section,
)
from ietest_fast.report.drawing import (
    Chart,
    Hints,
    choose_look,
    draw_grid,
    draw_points,
    label_width,
    legend_columns,
    legend_rows,
    make_axes,
)
from ietest_fast.report.tables import Column, PValue, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ietest_fast.analyses.stress.profile import AntonymPairs, StressProfile, StressResult
    from ietest_fast.report.drawing import Drawn, Palette
    from ietest_fast.report.tables import Cell
    from ietest_fast.stats import Verdict
    from ietest_fast.stats.informedness import Share


def accuracy_table(profile: StressProfile) -> Table:
    """Return a line for each test: accuracy, its change, and the paired test (Table 3)."""
    groups = _list_groups(profile)
    rows: list[tuple[Cell, ...]] = []
    for test in _all(profile):
        compared = test.comparison
        delta: list[Cell] = [None] * 4
        if compared is not None:
            delta = [
                compared.result.delta,
                compared.result.confidence_interval(),
                PValue(compared.p_adjusted, profile.alpha),
                compared.verdict.value,
            ]
        rows.append(
            (
                test.name,
                test.accuracy.n,
                test.n_changed,
                test.accuracy.share,
                test.accuracy.interval,
                *(_share(test.by_group.get(name)) for name in groups),
                *delta,
            )
        )
    return Table(
        name="stress",
        title=profile.title,
        columns=(
            Column("test"),
            Column("rows", "count"),
            Column("changed", "count"),
            Column("accuracy %", "percent"),
            Column("95% interval", "percent"),
            *(Column(f"{name} %", "percent") for name in groups),
            Column("loss, points", "points"),
            Column("95% interval", "points"),
            Column("p, Holm", "p"),
            Column("verdict"),
        ),
        rows=tuple(rows),
        note="Loss: accuracy on the originals less that on the test, of the items that it has; its "
        "interval is of that test alone. "
        "Where a test sets labels of its own, there is nothing to compare. Intervals of accuracies "
        "are Wilson's; rows of one item, or of one cluster, count as dependent.",
    )


def error_table(profile: StressProfile) -> Table | None:
    """Return a line for each test: what the errors are (Table 4; section 4.4)."""
    names = profile.label_names
    if names is None or profile.original.confusion is None:
        return None
    wrong = [(gold, answer) for gold in names for answer in names if gold != answer]
    short, legend = _shorten(names)
    return Table(
        name="stress-errors",
        title=f"Errors{_of(profile)}",
        columns=(
            Column("test"),
            Column("errors", "count"),
            Column("false neutrals %", "percent"),
            *(Column(f"{short[gold]} → {short[answer]} %", "percent") for gold, answer in wrong),
        ),
        rows=tuple(
            (
                test.name,
                test.accuracy.n - test.accuracy.k,
                _share(test.false_neutral),
                *(_rate(test, names, gold, answer) for gold, answer in wrong),
            )
            for test in _all(profile)
        ),
        note="False neutrals: the answer neutral, as a share of the errors. Before the arrow: "
        f"the right answer; behind it: the wrong one; shares of the rows with this label. {legend}",
    )


def kind_table(profile: StressProfile) -> Table | None:
    """Return accuracy by the kind of change and by the kind of word that was changed."""
    rows: list[tuple[Cell, ...]] = []
    for test in profile.tests:
        for what, shares in (("change", test.by_kind), ("word", test.by_word)):
            if len(shares) > 1:
                rows += [
                    (test.name, what, name, share.n, share.share, share.interval)
                    for name, share in shares.items()
                ]
    if not rows:
        return None
    return Table(
        name="stress-kinds",
        title=f"Accuracy by kind of change, and of the word that was changed{_of(profile)}",
        columns=(
            Column("test"),
            Column("kind of"),
            Column("which"),
            Column("rows", "count"),
            Column("accuracy %", "percent"),
            Column("95% interval", "percent"),
        ),
        rows=tuple(rows),
    )


def pair_tables(profile: StressProfile) -> list[Table]:
    """Return which pairs of antonyms are easy, and whether the training data show them (4.3)."""
    return [
        table
        for test in profile.tests
        if test.antonyms is not None
        for table in _pair_tables(test.name, test.antonyms, _of(profile))
    ]


def _pair_tables(name: str, found: AntonymPairs, of: str) -> list[Table]:
    groups = Table(
        name="stress-pairs",
        title=f"{name}: easy and hard pairs of words{of}",
        columns=(
            Column("pairs of rows answered"),
            Column("rows", "count"),
            Column("different pairs", "count"),
            Column("in training %", "percent"),
            Column("95% interval", "percent"),
            Column("times in training", "number", 1),
        ),
        rows=tuple(
            (
                said,
                group.n_rows,
                group.n_pairs,
                _share(group.in_training),
                group.in_training.interval,
                group.mean_times,
            )
            for said, group in (("rightly (easy)", found.easy), ("wrongly (hard)", found.hard))
        ),
        note="In training: one word in the premise and the other in the hypothesis of a "
        "contradiction of the training data; times: in how many of them, on average. A pair may be "
        "both easy and hard.",
    )
    by_times = Table(
        name="stress-pairs-in-training",
        title=f"{name}: accuracy by how often training shows the pair{of}",
        columns=(
            Column("in contradictions"),
            Column("rows", "count"),
            Column("accuracy %", "percent"),
            Column("95% interval", "percent"),
        ),
        rows=tuple(
            (times, share.n, share.share, share.interval) for times, share in found.by_times.items()
        ),
    )
    return [groups, by_times]


def answer_table(profile: StressProfile) -> Table:
    """Return a line for each test: what is right, how that changed, and the verdict."""
    groups = _list_groups(profile)
    return Table(
        name="stress-answer",
        title=profile.title,
        columns=(
            Column("test"),
            Column("rows", "count"),
            Column("accuracy %"),
            *(Column(f"{name} %", "percent", 1) for name in groups),
            Column("verdict"),
        ),
        rows=tuple(
            (
                test.name,
                test.accuracy.n,
                say_accuracy(test),
                *(_share(test.by_group.get(name)) for name in groups),
                None if test.comparison is None else str(test.comparison.verdict),
            )
            for test in _all(profile)
        ),
    )


def answer_tables(profile: StressProfile) -> list[Table]:
    """Return what stands below the answer: the tests, and what training data say if they are given.

    All else is for who wants details.
    """
    return [answer_table(profile), *pair_tables(profile)]


def _list_groups(profile: StressProfile) -> list[str]:
    return list(dict.fromkeys(name for test in _all(profile) for name in test.by_group))


def all_tables(profile: StressProfile) -> list[Table]:
    """Return all tables of a classifier, in reading order."""
    found = [accuracy_table(profile), error_table(profile), kind_table(profile)]
    return [table for table in found if table is not None] + pair_tables(profile)


def side_by_side(profiles: Sequence[StressProfile]) -> Table:
    """Return a line for each test and a column for each classifier: accuracies."""
    names = list(dict.fromkeys(test.name for each in profiles for test in _all(each)))
    found = [{test.name: test.accuracy for test in _all(each)} for each in profiles]
    return Table(
        name="stress-models",
        title="Accuracy of several classifiers (%)",
        columns=(Column("test"), *(Column(each.name, "percent") for each in profiles)),
        rows=tuple((name, *(_share(each.get(name)) for each in found)) for name in names),
        note=" ".join(line for each in profiles for line in each.unlike),
    )


def _of(profile: StressProfile) -> str:
    """Say whose a table is, where there are several classifiers."""
    return f": {profile.name}" if profile.group else ""


def _shorten(names: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return initials of labels and what they stand for; the labels where initials are equal."""
    initials = {name: name[:1].upper() for name in names}
    if len(set(initials.values())) < len(names) or not all(map(str.isalpha, initials.values())):
        return {name: name for name in names}, ""
    return initials, f"{', '.join(initials.values())}: {', '.join(names)}."


def _all(profile: StressProfile) -> tuple[StressResult, ...]:
    return (profile.original, *profile.tests)


def _share(share: Share | None) -> float | None:
    return None if share is None else share.share


def _rate(test: StressResult, names: Sequence[str], gold: str, answer: str) -> float | None:
    count = test.count(names, gold, answer)
    if count is None or test.confusion is None:
        return None
    n = int(test.confusion[list(names).index(gold)].sum())
    return count / n if n else None


# Figures of stress tests: the profile of a classifier over tests, at one glance.

MOST_DRAWN = 21
"""Of more classifiers or groups the first so many are drawn; the tables have all."""

Series = tuple[str, "Mapping[str, Share]"]


def stress_chart(profiles: Sequence[StressProfile], name: str) -> Chart:
    """Draw the accuracy of classifiers on the originals and on every test."""
    series = [(each.name, each.accuracies) for each in profiles]
    what = profiles[0].name if len(profiles) == 1 else f"{len(profiles)} models"
    return _chart(series, name=name, title=f"Accuracy of {what} on every test")


def group_chart(profile: StressProfile, name: str) -> Chart | None:
    """Draw the accuracy of a classifier on every test by a column such as genre."""
    results = (profile.original, *profile.tests)
    groups = list(dict.fromkeys(group for each in results for group in each.by_group))
    if not groups:
        return None
    series = [
        (
            group,
            {each.name: each.by_group[group] for each in results if group in each.by_group},
        )
        for group in groups
    ]
    return _chart(series, name=name, title=f"Accuracy of {profile.name} by {profile.grouped_by}")


def _known(
    shares: Mapping[str, Share], tests: Sequence[str]
) -> Iterator[tuple[int, str, Share, float, list[float]]]:
    """Give places and tests with an accuracy and an interval, which are in percent."""
    for place, test in enumerate(tests):
        share = shares.get(test)
        if share is not None and share.share is not None and share.interval is not None:
            yield place, test, share, 100 * share.share, [100 * end for end in share.interval]


def _chart(series: Sequence[Series], *, name: str, title: str) -> Chart:
    drawn = series[:MOST_DRAWN]
    tests = list(dict.fromkeys(test for _, shares in drawn for test in shares))

    def draw(palette: Palette) -> Drawn:
        n = len(drawn)
        names = [label for label, _ in drawn]
        n_rows = legend_rows(names)
        figure, axes = make_axes(
            0.8 + len(tests) * (0.22 + 0.11 * n) + 0.28 * n_rows,
            left=label_width(tests),
            legend_rows=n_rows,
        )
        hints = Hints()
        for number, (label, shares) in enumerate(drawn):
            look = choose_look(number, palette)
            color, marker = look["color"], look["marker"]
            shift = (number - (n - 1) / 2) * 0.7 / n
            first = shares.get(tests[0])
            if first is not None and first.share is not None and n <= 3:
                axes.axvline(
                    100 * first.share, color=color, linewidth=0.8, linestyle=look["linestyle"]
                )
            for place, test, share, accuracy, ends in _known(shares, tests):
                axes.plot(ends, [place + shift] * 2, color=color, linewidth=1.5)
                draw_points(
                    axes,
                    [accuracy],
                    [place + shift],
                    [_say(label, test, share, several=n > 1)],
                    hints,
                    marker=marker,
                    markersize=6,
                    color=color,
                )
            if n > 1:
                axes.plot(
                    [], [], label=escape_label(label), marker=marker, linewidth=1.5, color=color
                )
        axes.set_yticks(range(len(tests)), [escape_label(test) for test in tests])
        axes.set_ylim(len(tests) - 0.4, -0.6)
        axes.set_xlabel("accuracy (%)")
        draw_grid(axes, palette, "x")
        if n > 1:
            figure.legend(loc="lower center", ncols=legend_columns(names))
        return figure, hints.texts

    left = len(series) - len(drawn)
    note = "Marks: accuracy, with its 95% interval. "
    if len(drawn) <= 3:
        note += "Vertical lines: accuracy on the originals. "
    note += f"The first {len(drawn)} are drawn; {left:,} more are in the table." * (left > 0)
    return Chart(
        name=name,
        title=title,
        summary=" ".join(_summarise(label, shares) for label, shares in drawn),
        draw=draw,
        note=note.strip(),
    )


def _say(label: str, test: str, share: Share, *, several: bool) -> str:
    interval = share.interval
    assert interval is not None  # noqa: S101 - it is drawn
    assert share.share is not None  # noqa: S101
    whose = f"{plain_label(label)}, " if several else ""
    return (
        f"{whose}{plain_label(test)}: {100 * share.share:.1f}% of {share.n:,} "
        f"({100 * interval.low:.1f} to {100 * interval.high:.1f})"
    )


def _summarise(label: str, shares: Mapping[str, Share]) -> str:
    said = [
        f"{plain_label(test)} {100 * share.share:.1f}%"
        for test, share in shares.items()
        if share.share is not None
    ]
    return f"{plain_label(label)}: {', '.join(said)}."


# Answers to stress tests, read for a report: profiles, what they show, examples to read.

N_EXAMPLES = 25
"""Rows of a table of examples."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StressSource:
    """The stress tests of one classifier or several."""

    key: ClassVar[str] = "stress"
    title: ClassVar[str] = "Stress tests"
    noun: ClassVar[str] = "stress tests"

    profiles: tuple[StressProfile, ...]
    """One for each classifier."""
    notes: StressNotes
    """How the answers of the first came about."""

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether a file holds answers to stress tests, as ``ietest-fast stress --out`` writes."""
        return read_notes(path, StressNotes) is not None

    @classmethod
    def read(
        cls,
        paths: Sequence[Path],
        *,
        alpha: float = 0.05,
        margin: float = 0.01,
        **_: float,
    ) -> Self:
        """Read answers to stress tests and measure every test."""
        answers = read_stress_answers(paths)
        profiles = measure_answers(answers, StressOptions(alpha=alpha, margin=margin))
        if len(profiles) == 1 and not profiles[0].group:
            profiles = (replace(profiles[0], group={"model": paths[0].stem}),)
        return cls(profiles=profiles, notes=answers[0].notes)

    def findings(self) -> list[Finding]:
        """Say in a sentence for each classifier what its tests show."""
        said = [say_stress(profile) for profile in self.profiles]
        return [Finding(kind=verdict.finding_kind, text=text) for verdict, text in said]

    def sections(self) -> list[Section]:
        """Return the tests, and examples of wrong answers."""
        profiles = self.profiles
        drawn = profiles[:OWN_FIGURES]
        groups = [group_chart(each, f"stress-groups-{i}") for i, each in enumerate(drawn, start=1)]
        charts = [
            stress_chart(profiles, "stress"),
            *(chart for chart in groups if chart is not None),
        ]
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
                    "A finished model answers the original texts and those of every test. Tests "
                    "that keep labels are compared with the originals, item by item; the others "
                    "are new pairs of texts with labels of their own."
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

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers that the tables show."""
        return {"profiles": [each.to_dict() for each in self.profiles]}


def say_stress(profile: StressProfile) -> tuple[Verdict, str]:
    """Say in one sentence what the tests of a classifier show."""
    return profile.verdict, f"{profile.name}: {profile.headline}"


def example_tables(profile: StressProfile) -> list[Table]:
    """Return rows of every test that are answered wrongly, to be read.

    Of tests that keep labels: those whose original is answered rightly.
    """
    table = profile.predictions.table
    extra = (name for name in profile.predictions.extra_columns if name not in NOTES)
    names = [name for name in extra if holds_texts(table, name)]
    if not names:
        return []
    return [made for test in profile.tests if (made := _examples(profile, test, names)) is not None]


def _examples(profile: StressProfile, test: StressResult, names: Sequence[str]) -> Table | None:
    own = profile.predictions.select(version=test.name)
    before = profile.predictions.select(version=ORIGINAL)
    places = pc.index_in(own.table["item"].combine_chunks(), before.table["item"].combine_chunks())
    known = pc.is_valid(places).to_numpy(zero_copy_only=False)
    at = pc.fill_null(places, 0).to_numpy()
    wrong = ~own.correct
    if test.keeps_labels:
        wrong &= known & before.correct[at]
    rows = np.flatnonzero(wrong)
    if len(rows) == 0:
        return None
    # From everywhere in the test, not from its beginning alone.
    shown = rows[np.linspace(0, len(rows) - 1, min(len(rows), N_EXAMPLES)).astype(np.int64)]
    taken, old = own.table.take(pa.array(shown)), before.table.take(pa.array(at[shown]))
    columns = [Column("item")]
    values = [list_texts(taken, "item")]
    for name in names:
        new, was = list_texts(taken, name), list_texts(old, name)
        if not any(new):
            continue
        if not test.keeps_labels or new == was:
            columns.append(Column(name))
            values.append(new)
        else:
            columns += [Column(f"{name}, original"), Column(f"{name}, {test.name}")]
            values += [was, new]
    for name in ("gold", "predicted"):
        if name in taken.column_names:
            columns.append(Column({"gold": "right answer", "predicted": "answer"}[name]))
            values.append(list_texts(taken, name))
    what = "right on the original, wrong here" if test.keeps_labels else "answered wrongly"
    left = len(rows) - len(shown)
    return Table(
        name="stress-examples",
        title=f"{profile.name}, {test.name}: {what} ({len(rows):,})",
        columns=tuple(columns),
        rows=tuple(zip(*values, strict=True)),
        note=f"{len(shown)} of {len(rows):,}, evenly spaced." if left else "",
    )
