"""Tables of stress tests: a classifier on the originals and on every test (Naik et al. 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.report.tables import Column, PValue, Range, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.evaluation.stress import Share, StressProfile, StressResult
    from ietest_fast.report.tables import Cell


def accuracy_table(profile: StressProfile) -> Table:
    """Return a line for each test: accuracy, its change, and the paired test (Table 3).

    Parameters
    ----------
    profile
        Of one classifier.
    """
    groups = list(dict.fromkeys(name for test in _all(profile) for name in test.by_group))
    rows: list[tuple[Cell, ...]] = []
    for test in _all(profile):
        compared = test.comparison
        delta: list[Cell] = [None] * 4
        if compared is not None:
            interval = compared.result.confidence_interval()
            judged = compared.invariance
            delta = [
                compared.result.delta,
                Range(interval.low, interval.high),
                PValue(compared.p_adjusted, profile.alpha),
                None if judged is None else judged.verdict.value,
            ]
        rows.append(
            (
                test.name,
                test.accuracy.n,
                test.n_changed,
                test.accuracy.share,
                _range(test.accuracy),
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
        note="Loss: accuracy on the originals less that on the test, of the items that it has. "
        "Where a test sets labels of its own, there is nothing to compare.",
    )


def error_table(profile: StressProfile) -> Table | None:
    """Return a line for each test: what the errors are (Table 4; section 4.4).

    Parameters
    ----------
    profile
        Of one classifier.

    Returns
    -------
    Table or None
        None where labels are not known.
    """
    names = profile.label_names
    if names is None or profile.original.confusion is None:
        return None
    wrong = [(gold, answer) for gold in names for answer in names if gold != answer]
    return Table(
        name="stress-errors",
        title="Errors: share of all rows with this label (before the arrow: the right answer)",
        columns=(
            Column("test"),
            Column("errors", "count"),
            Column("answer neutral, % of errors", "percent"),
            *(Column(f"{gold} → {answer} %", "percent") for gold, answer in wrong),
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
    )


def side_by_side(profiles: Sequence[StressProfile]) -> Table:
    """Return a line for each test and a column for each classifier: accuracies.

    Parameters
    ----------
    profiles
        Of at least two classifiers.
    """
    names = list(dict.fromkeys(test.name for each in profiles for test in _all(each)))
    found = [{test.name: test.accuracy for test in _all(each)} for each in profiles]
    return Table(
        name="stress-models",
        title="Accuracy of several classifiers (%)",
        columns=(Column("test"), *(Column(each.name, "percent") for each in profiles)),
        rows=tuple((name, *(_share(each.get(name)) for each in found)) for name in names),
    )


def _all(profile: StressProfile) -> tuple[StressResult, ...]:
    return (profile.original, *profile.tests)


def _share(share: Share | None) -> float | None:
    return None if share is None else share.share


def _range(share: Share) -> Range | None:
    return None if share.interval is None else Range(share.interval.low, share.interval.high)


def _rate(test: StressResult, names: Sequence[str], gold: str, answer: str) -> float | None:
    count = test.count(names, gold, answer)
    if count is None or test.confusion is None:
        return None
    n = int(test.confusion[list(names).index(gold)].sum())
    return count / n if n else None
