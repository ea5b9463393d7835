"""Tables of stress tests: a classifier on the originals and on every test (Naik et al. 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.report.tables import Column, PValue, Range, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.analyses.stress.profile import AntonymPairs, StressProfile, StressResult
    from ietest_fast.report.tables import Cell
    from ietest_fast.stats.informedness import Share


def accuracy_table(profile: StressProfile) -> Table:
    """Return a line for each test: accuracy, its change, and the paired test (Table 3)."""
    groups = list(dict.fromkeys(name for test in _all(profile) for name in test.by_group))
    rows: list[tuple[Cell, ...]] = []
    for test in _all(profile):
        compared = test.comparison
        delta: list[Cell] = [None] * 4
        if compared is not None:
            interval = compared.result.confidence_interval()
            delta = [
                compared.result.delta,
                Range(interval.low, interval.high),
                PValue(compared.p_adjusted, profile.alpha),
                compared.verdict.value,
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
                    (test.name, what, name, share.n, share.share, _range(share))
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
                _range(group.in_training),
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
            (times, share.n, share.share, _range(share)) for times, share in found.by_times.items()
        ),
    )
    return [groups, by_times]


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


def _range(share: Share) -> Range | None:
    return None if share.interval is None else Range(share.interval.low, share.interval.high)


def _rate(test: StressResult, names: Sequence[str], gold: str, answer: str) -> float | None:
    count = test.count(names, gold, answer)
    if count is None or test.confusion is None:
        return None
    n = int(test.confusion[list(names).index(gold)].sum())
    return count / n if n else None
