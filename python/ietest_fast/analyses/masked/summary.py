"""Accuracy and mean reciprocal rank of hidden words, by answer and by module or template.

Salvatore 2020, Table 3.3 and Figures 3.6 to 3.8.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.numerals import say_count
from ietest_fast.stats.informedness import Share
from ietest_fast.stats.mean_difference import mean_interval
from ietest_fast.stats.result import Result, fit_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.analyses.masked.answers import MaskedAnswers
    from ietest_fast.stats import Interval


N_WRONG = 3
"""Wrong answers that are named for each answer, the most frequent ones."""


@dataclass(frozen=True, kw_only=True)
class MaskedGroup:
    """Items that belong together."""

    value: str | None
    """What they have in common: the answer, the module; None of all items."""
    ranked_in: str
    """``vocabulary`` or ``candidates``: ranks among both kinds are never averaged."""
    accuracy: Share
    """Share of items whose answer is ranked first."""
    mean_reciprocal_rank: float
    interval: Interval | None
    """The mean of one over the rank, and its interval at 95%, see
    :func:`ietest_fast.stats.mean_difference.mean_interval`."""
    majority: str
    majority_share: float
    """The most frequent answer, and its share: the accuracy of always giving it."""
    wrong: tuple[tuple[str, int], ...]
    """The most frequent wrong answers and how often each was given; empty where it is not known."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        ends = self.interval
        return {
            "value": self.value,
            "ranked_in": self.ranked_in,
            **self.accuracy.to_dict("accuracy"),
            "mean_reciprocal_rank": self.mean_reciprocal_rank,
            "mean_reciprocal_rank_interval": None if ends is None else [ends.low, ends.high],
            "majority": self.majority,
            "majority_share": self.majority_share,
            "wrong": [{"predicted": word, "n": n} for word, n in self.wrong],
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class MaskedSummary(Result):
    """How well a model finds hidden words."""

    title = "Masked inference"

    answers: MaskedAnswers
    """What it said."""
    whole: tuple[MaskedGroup, ...]
    """All items that were scored, one group for each way of ranking."""
    by_answer: tuple[MaskedGroup, ...]
    """By answer, sorted by how often they occur, then by name."""
    by_group: dict[str, tuple[MaskedGroup, ...]]
    """By column, the groups of its values, sorted by name."""

    @property
    def model(self) -> str:
        """Its name."""
        return self.answers.model

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        own = self.answers
        problems = Counter(each for each in own.problems if each is not None)
        return {
            "model": own.model,
            "backend": own.backend or None,
            "fingerprint": own.fingerprint or None,
            "items": len(own),
            "not_scored": sum(problems.values()),
            "problems": dict(problems),
            "truncated": own.n_truncated,
            "candidates": list(own.candidates),
            "whole": [each.to_dict() for each in self.whole],
            "by_answer": [each.to_dict() for each in self.by_answer],
            "by_group": {
                name: [each.to_dict() for each in groups] for name, groups in self.by_group.items()
            },
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        own = self.answers
        n_left = sum(problem is not None for problem in own.problems)
        rows = [("model", self.model), ("items", f"{len(own):,}")]
        if n_left:
            rows.append(("  not scored", f"{n_left:,}"))
        for group in self.whole:
            if len(self.whole) > 1:
                rows.append((f"in the {group.ranked_in}", say_count(group.accuracy.n, "item")))
            rows += [
                ("accuracy", f"{group.accuracy.share:.4f} {group.accuracy.interval}"),
                (
                    "mean reciprocal rank",
                    f"{group.mean_reciprocal_rank:.4f} {group.interval or ''}",
                ),
                ("majority", f"{group.majority_share:.4f} ({group.majority})"),
            ]
        rows += [
            (f"  {each.value}", f"{each.accuracy.share:.4f} {each.accuracy.interval}")
            for each in self.by_answer
        ]
        return [(name, value.strip()) for name, value in rows]

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each group: of all items, by answer, and by column."""
        parts = {"all": self.whole, "answer": self.by_answer, **self.by_group}
        return [
            {"model": self.model, "by": name, **fit_cells(each.to_dict())}
            for name, groups in parts.items()
            for each in groups
        ]

    def remarks(self) -> list[str]:
        """Say what the numbers do not."""
        said = [
            f"{self.model}: not shown to be better than always answering {each.majority!r} "
            f"({each.majority_share:.1%})."
            for each in self.whole
            if each.accuracy.interval is not None
            and each.accuracy.interval.low <= each.majority_share
        ]
        n_unknown = int((self.answers.reciprocal_ranks == 0).sum())
        if n_unknown:
            said.append(
                f"{self.model}: {say_count(n_unknown, 'rank is', 'ranks are')} given as 0, which "
                "means not among the first, so the mean reciprocal rank is too low."
            )
        n_alike = int(_find_alike(self.answers.table, self.answers.reciprocal_ranks).sum())
        if n_alike:
            said.append(
                f"{self.model}: {say_count(n_alike, 'row predicts', 'rows predict')} a word that "
                "looks like the answer, whose rank is not 1. Such rows count as wrong. If the log "
                "was edited, correct predicted or rank."
            )
        return said


def summarise_masked(answers: MaskedAnswers) -> MaskedSummary:
    """Compute accuracies and mean reciprocal ranks.

    Rows that could not be scored are in none of them.
    """
    table = answers.table
    ranked_in = np.array(table["ranked_in"].to_pylist(), dtype=object)
    scored = np.flatnonzero(np.isfinite(answers.reciprocal_ranks))
    ways = [each for each in ("vocabulary", "candidates") if (ranked_in[scored] == each).any()]

    def gather(values: Sequence[Any] | None) -> list[MaskedGroup]:
        found = []
        named = np.array([None] * len(table) if values is None else values, dtype=object)
        for value in dict.fromkeys(named[scored].tolist()):
            for way in ways:
                rows = scored[(named[scored] == value) & (ranked_in[scored] == way)]
                if rows.size:
                    found.append(_measure(answers, rows, value=value, ranked_in=way))
        return found

    by_answer = gather(table["answer"].to_pylist())
    return MaskedSummary(
        answers=answers,
        whole=tuple(gather(None)),
        by_answer=tuple(sorted(by_answer, key=lambda each: (-each.accuracy.n, str(each.value)))),
        by_group={
            name: tuple(sorted(gather(table[name].to_pylist()), key=lambda each: str(each.value)))
            for name in answers.groups
        },
    )


def say_other_items(summaries: Sequence[MaskedSummary]) -> list[str]:
    """Say how many items models share, where they were not measured on the same ones."""
    scored = [
        each.answers.table["item"].filter(pa.array(np.isfinite(each.answers.reciprocal_ranks)))
        for each in summaries
    ]
    if len(summaries) > 1 and any(each.null_count for each in scored):
        return ["The log does not say which items models share: name them in a column item."]
    items = [set(each.to_pylist()) for each in scored]
    first = summaries[0].model
    said = [
        _say_shared((first, each.model), items[0], own)
        for each, own in zip(summaries[1:], items[1:], strict=True)
        if own != items[0]
    ]
    if said and len(summaries) > 2:
        n_shared = say_count(len(set.intersection(*items)), "item")
        said.append(f"All {len(summaries)} models share {n_shared}.")
    return said


def _say_shared(models: tuple[str, str], one: set[Any], other: set[Any]) -> str:
    sizes = f"({models[0]} has {len(one):,}, {models[1]} {len(other):,})"
    names = " and ".join(models)
    n = len(one & other)
    if n == 0:
        return (
            f"{names} share no item {sizes}: do not compare them; if the items are the same, name "
            "them alike in the column item."
        )
    return f"{names} share {say_count(n, 'item')} {sizes}: compare them with care."


def _measure(
    answers: MaskedAnswers, rows: NDArray[np.int64], *, value: str | None, ranked_in: str
) -> MaskedGroup:
    reciprocal = answers.reciprocal_ranks[rows]
    own = answers.table.take(rows)
    majority, n = min(
        Counter(own["answer"].to_pylist()).items(), key=lambda each: (-each[1], each[0])
    )
    is_wrong = (reciprocal < 1) & ~_find_alike(own, reciprocal)
    wrong = Counter(own["predicted"].filter(pa.array(is_wrong)).drop_null().to_pylist())
    return MaskedGroup(
        value=value,
        ranked_in=ranked_in,
        accuracy=Share.of(reciprocal == 1),
        mean_reciprocal_rank=float(reciprocal.mean()),
        interval=mean_interval(reciprocal, least=0.0, most=1.0),
        majority=majority,
        majority_share=n / len(rows),
        wrong=tuple(sorted(wrong.items(), key=lambda each: (-each[1], each[0]))[:N_WRONG]),
    )


def _find_alike(table: pa.Table, reciprocal: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say in which rows the wrong first choice looks like the answer, as "and" and " and" do."""
    words = (table[name].cast(pa.large_string()) for name in ("predicted", "answer"))
    is_same = pc.equal(*map(pc.utf8_trim_whitespace, words))
    return np.asarray(pc.fill_null(is_same, False)) & (reciprocal < 1)
