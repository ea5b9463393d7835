"""Answers to stress tests, read for a report: profiles, what they show, examples to read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.stress.run import measure_answers, read_answers, read_run
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.analyses.stress.profile import StressProfile, StressResult
    from ietest_fast.analyses.stress.run import StressRun

N_EXAMPLES = 25
"""Rows of a table of examples."""

_WORDS = {
    Verdict.CHANGES: "changes answers",
    Verdict.COLLAPSED: "cannot be told from guessing",
    Verdict.UNDECIDED: "no change of accuracy is shown or ruled out",
    Verdict.EQUIVALENT: "accuracy changes by less than the margin",
    Verdict.ALIKE: "accuracy and answers stay within the margins",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class StressSource:
    """The stress tests of one classifier or several."""

    profiles: tuple[StressProfile, ...]
    """One for each classifier."""
    run: StressRun
    """How the answers of the first came about."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers that the tables show."""
        return {"profiles": [each.to_dict() for each in self.profiles]}


def find_stress(path: Path) -> bool:
    """Whether a file holds answers to stress tests, as ``ietest-fast stress --out`` writes."""
    return read_run(path) is not None


def read_stress(
    paths: Sequence[Path], *, alpha: float = 0.05, margin: float = 0.01
) -> StressSource:
    """Read answers to stress tests and measure every test."""
    answers = read_answers(paths)
    profiles = measure_answers(answers, alpha=alpha, margin=margin)
    if len(profiles) == 1 and not profiles[0].group:
        profiles = (replace(profiles[0], group={"model": paths[0].stem}),)
    return StressSource(profiles=profiles, run=answers[0].run)


def say_stress(profile: StressProfile) -> tuple[Verdict, str]:
    """Say in one sentence what the tests of a classifier show."""
    by_verdict: dict[Verdict, list[StressResult]] = {}
    for test in profile.tests:
        if test.comparison is not None:
            by_verdict.setdefault(test.comparison.verdict, []).append(test)
    parts = [f"accuracy {_percent(profile.original)} on the originals"]
    # The largest loss first.
    differ = sorted(by_verdict.get(Verdict.DIFFERS, []), key=lambda test: -abs(_delta(test)))
    if differ:
        changes = [
            f"{'loses' if _delta(test) > 0 else 'gains'} {100 * abs(_delta(test)):.1f} points on "
            f"{test.name}"
            for test in differ
        ]
        parts.append(", ".join(changes))
    for verdict, words in _WORDS.items():
        if verdict in by_verdict:
            names = ", ".join(test.name for test in by_verdict[verdict])
            parts.append(f"{words} on {names}")
    own = [test for test in profile.tests if test.comparison is None]
    if own:
        got = ", ".join(f"{_percent(test)} of {test.name}" for test in own)
        parts.append(f"answers {got} rightly")
    kind = Verdict.UNDECIDED
    if by_verdict.keys() & {Verdict.DIFFERS, Verdict.CHANGES}:
        kind = Verdict.DIFFERS
    elif by_verdict.keys() == {Verdict.ALIKE} and not own:
        kind = Verdict.ALIKE
    return kind, f"{profile.name}: {'; '.join(parts)}."


def _delta(test: StressResult) -> float:
    return 0.0 if test.comparison is None else float(test.comparison.result.delta)


def _percent(test: StressResult) -> str:
    share = test.accuracy.share
    return "nothing" if share is None else f"{100 * share:.1f}%"


def example_tables(profile: StressProfile) -> list[Table]:
    """Return rows of every test that are answered wrongly, to be read.

    Of tests that keep labels: those whose original is answered rightly.
    """
    table = profile.predictions.table
    names = [name for name in profile.predictions.extra_columns if _holds_texts(table, name)]
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
    values = [_texts(taken, "item")]
    for name in names:
        new, was = _texts(taken, name), _texts(old, name)
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
            values.append(_texts(taken, name))
    what = "right on the original, wrong here" if test.keeps_labels else "answered wrongly"
    left = len(rows) - len(shown)
    return Table(
        name="stress-examples",
        title=f"{profile.name}, {test.name}: {what} ({len(rows):,})",
        columns=tuple(columns),
        rows=tuple(zip(*values, strict=True)),
        note=f"{len(shown)} of {len(rows):,}, evenly spaced." if left else "",
    )


def _holds_texts(table: pa.Table, name: str) -> bool:
    from ietest_fast.analyses.stress.origins import NOTES

    kind = table.schema.field(name).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return name not in NOTES and (pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _texts(table: pa.Table, name: str) -> list[str | None]:
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    found: list[str | None] = pc.cast(column, pa.string()).to_pylist()
    return found
