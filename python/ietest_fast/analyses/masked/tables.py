"""Tables of masked inference: models, answers, modules and templates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ietest_fast.report.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.analyses.masked.summary import MaskedGroup, MaskedSummary
    from ietest_fast.report.tables import Cell

_RANKED = {"vocabulary": "the vocabulary", "candidates": "candidates"}


def model_table(summaries: Sequence[MaskedSummary]) -> Table:
    """Return a row for each model and way of ranking, as Table 3.3 of the thesis has them."""
    rows = [(each.model, group) for each in summaries for group in each.whole]
    note = (
        "accuracy: share of items whose answer is ranked first. MRR: mean of 1 / rank. majority: "
        "accuracy of always giving the most frequent answer."
    )
    if any(group.ranked_in == "candidates" for _, group in rows):
        note += (
            " Among candidates, answers are compared by the sum of the log-probabilities of their "
            "tokens, each hidden by itself."
        )
    return Table(
        name="masked",
        title="Masked inference",
        columns=(
            Column("model"),
            Column("ranked in"),
            Column("items", "count"),
            Column("accuracy %", "percent"),
            Column("95% interval", "percent"),
            Column("MRR", "number", 3),
            Column("95% interval", "number", 3),
            Column("majority"),
            Column("majority %", "percent"),
        ),
        rows=tuple(
            (
                model,
                _RANKED[group.ranked_in],
                group.accuracy.n,
                group.accuracy.share,
                group.accuracy.interval,
                group.mean_reciprocal_rank,
                group.interval,
                group.majority,
                group.majority_share,
            )
            for model, group in rows
        ),
        note=note,
    )


def answer_table(summaries: Sequence[MaskedSummary]) -> Table:
    """Return a row for each answer, the models beside each other: Figures 3.6 to 3.8."""
    return _side_by_side(
        "masked-answers",
        "answer",
        [(each.model, each.by_answer) for each in summaries],
        has_majority=False,
    )


def group_table(summaries: Sequence[MaskedSummary], name: str) -> Table:
    """Return a row for each value of a column, the models beside each other."""
    return _side_by_side(
        f"masked-{name}",
        name,
        [(each.model, each.by_group[name]) for each in summaries],
        has_majority=True,
    )


def _side_by_side(
    name: str,
    heading: str,
    models: Sequence[tuple[str, Sequence[MaskedGroup]]],
    *,
    has_majority: bool,
) -> Table:
    found = [{(group.value, group.ranked_in): group for group in groups} for _, groups in models]
    keys = list(dict.fromkeys(key for groups in found for key in groups))
    names = ["accuracy"] if len(models) == 1 else [model for model, _ in models]
    counts = [{key: group.accuracy.n for key, group in groups.items()} for groups in found]
    # What all models have in common stands there once.
    is_shared = all(own == counts[0] for own in counts)
    common = [Column("items", "count")]
    if has_majority:
        common.append(Column("majority %", "percent"))
    columns = [Column(heading), Column("ranked in"), *(common if is_shared else ())]
    for model in names:
        if not is_shared:
            columns += [replace(each, name=f"{model} {each.name}") for each in common]
        columns += [
            Column(f"{model} %", "percent"),
            Column("95% interval", "percent"),
            Column("MRR", "number", 3),
        ]
    rows: list[tuple[Cell, ...]] = []
    for key in keys:
        row: list[Cell] = [key[0], _RANKED[key[1]]]
        for place, groups in enumerate(found):
            group = groups.get(key)
            if not place or not is_shared:
                row.append(0 if group is None else group.accuracy.n)
                if has_majority:
                    row.append(None if group is None else group.majority_share)
            row += (
                [None, None, None]
                if group is None
                else [
                    group.accuracy.share,
                    group.accuracy.interval,
                    group.mean_reciprocal_rank,
                ]
            )
        rows.append(tuple(row))
    return Table(
        name=name,
        title=f"Masked inference by {heading}",
        columns=tuple(columns),
        rows=tuple(rows),
    )


def wrong_table(summaries: Sequence[MaskedSummary]) -> Table | None:
    """Return the most frequent wrong answers; None where none is known."""
    rows = [
        (
            each.model,
            group.value,
            group.accuracy.n - group.accuracy.k,
            ", ".join(f"{word} ({n:,})" for word, n in group.wrong),
        )
        for each in summaries
        for group in each.by_answer
        if group.wrong
    ]
    if not rows:
        return None
    return Table(
        name="masked-wrong",
        title="Most frequent wrong answers",
        columns=(
            Column("model"),
            Column("answer"),
            Column("wrong items", "count"),
            Column("given instead"),
        ),
        rows=tuple(rows),
    )
