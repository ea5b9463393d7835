"""Answers to wordings, read for a report: profiles, what they show, items that split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.analyses.consistency.curves import curves_of_answers
from ietest_fast.analyses.consistency.file import read_consistency_run
from ietest_fast.analyses.consistency.measure import compare_models, measure_wordings
from ietest_fast.analyses.consistency.noting import check_diversity
from ietest_fast.analyses.consistency.paranlu import paranlu_kind
from ietest_fast.analyses.consistency.reading import name_answers, need_wordings
from ietest_fast.answers.metadata import plain_name
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.plurals import say_count
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.analyses.consistency.curves import ConsistencyCurve
    from ietest_fast.analyses.consistency.partition import ComparedPair
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile

N_SPLIT = 25
"""Lines of the table of items that split."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ConsistencySource:
    """The consistency of one classifier or several."""

    profiles: tuple[ConsistencyProfile, ...]
    """One for each classifier."""
    pairs: tuple[ComparedPair, ...]
    """Comparisons of classifiers on the same items."""
    remarks: tuple[str, ...]
    """Which were not compared."""
    text_columns: tuple[str, ...]
    """Names of the columns of texts that the answers are to."""
    curves: tuple[ConsistencyCurve, ...] = ()
    """Classifiers that have seen different amounts of data."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers that the tables show."""
        return {
            "profiles": [each.to_dict() for each in self.profiles],
            "pairs": [each.to_dict() for each in self.pairs],
            "curves": [each.to_dict() for each in self.curves],
        }


def find_consistency(path: Path) -> bool:
    """Whether a file holds answers to wordings: of ``consistency --out``, or ParaNLU's results."""
    return paranlu_kind(path) == "results" or read_consistency_run(path) is not None


def read_consistency(paths: Sequence[Path], *, confidence_level: float = 0.95) -> ConsistencySource:
    """Read answers to wordings and measure their consistency."""
    answers = name_answers([need_wordings(path) for path in paths], paths)
    for each in answers:
        check_diversity(each)
    profiles = measure_wordings(answers, confidence_level=confidence_level)
    if len(profiles) == 1 and not profiles[0].group:
        profiles = (replace(profiles[0], group={"model": plain_name(paths[0])}),)
    pairs: tuple[ComparedPair, ...] = ()
    remarks: tuple[str, ...] = ()
    if len(profiles) > 1:
        pairs, remarks = compare_models(profiles, confidence_level=confidence_level)
    told = [name for each in answers for name in each.run.text_columns]
    return ConsistencySource(
        profiles=profiles,
        pairs=pairs,
        remarks=remarks,
        text_columns=tuple(dict.fromkeys(told)) or _find_texts(profiles),
        curves=curves_of_answers(answers, profiles, confidence_level=confidence_level),
    )


def _find_texts(profiles: Sequence[ConsistencyProfile]) -> tuple[str, ...]:
    """Return the extra columns that hold texts, for files that do not name theirs."""
    import pyarrow as pa

    table = profiles[0].predictions.table
    names = []
    for name in profiles[0].predictions.extra_columns:
        kind = table.schema.field(name).type
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if is_text and not name.endswith("_id") and name != "cluster":
            names.append(name)
    return tuple(names)


def say_consistency(profile: ConsistencyProfile) -> tuple[Verdict, str]:
    """Say in one sentence what the answers of a classifier show."""
    result = profile.result
    parts = [f"accuracy {_percent(result['accuracy_macro'].value)} over items"]
    own = result.estimates.get("p_c_unbiased")
    label = "P_C (unbiased)"
    if own is None or own.value is None:
        own, label = result["p_c"], "P_C"
    ends = own.interval
    interval = "" if ends is None else f" ({100 * ends.low:.1f} to {100 * ends.high:.1f})"
    parts.append(f"{label} {_percent(own.value)}{interval}")
    share = result.n_split / result.n_buckets
    have = "" if result.n_buckets == profile.n_items else " that have paraphrases"
    parts.append(
        f"{result.n_split:,} of {say_count(result.n_buckets, 'item')}{have} ({_percent(share)}) "
        f"{'is' if result.n_split == 1 else 'are'} answered rightly in some paraphrases and "
        "wrongly in others"
    )
    may = result.split_interval
    if not result.n_split and may is not None:
        parts.append(
            f"of all such items, up to {_percent(may.high)} may be "
            f"({100 * result.confidence_level:g}% interval)"
        )
    if profile.shortage is not None:
        n_all = sum(profile.items_by_paraphrases[profile.n_wanted or 0 :])
        parts.append(
            f"warning: only {n_all:,} of {say_count(profile.n_items, 'item')} "
            f"{'has' if n_all == 1 else 'have'} as many paraphrases as were asked for"
        )
    kind = Verdict.DIFFERS if result.n_split else Verdict.UNDECIDED
    return kind, f"{profile.name}: {'; '.join(parts)}."


def _percent(share: float | None) -> str:
    return "not defined" if share is None else f"{100 * share:.1f}%"


def split_table(profile: ConsistencyProfile, texts: Sequence[str]) -> Table | None:
    """Return the items that split most evenly, the original with each; None if none splits."""
    counts = profile.counts
    places = np.flatnonzero(counts.splits)
    if not places.size:
        return None
    theta = counts.theta[places]
    shown = places[np.argsort(np.abs(theta - 0.5), kind="stable")[:N_SPLIT]]
    first: dict[Any, dict[str, Any]] = {}
    wanted = {counts.names[place] for place in shown}
    own = [name for name in texts if name in profile.predictions.columns]
    table = profile.predictions.table.select(["item", "version", *own])
    for row in table.to_pylist():
        if row["item"] in wanted and (row["item"] not in first or row["version"] == ORIGINAL):
            first[row["item"]] = row
    left = len(places) - len(shown)
    return Table(
        name="consistency-split",
        title=f"{profile.name}: items that split ({len(places):,})",
        columns=(
            Column("item"),
            Column("paraphrases", "count"),
            Column("right", "count"),
            Column("original"),
            *(Column(name) for name in own),
        ),
        rows=tuple(
            (
                str(counts.names[place]),
                int(counts.sizes[place]),
                int(counts.right[place]),
                {1: "right", 0: "wrong"}.get(int(counts.originals[place]), "none"),
                *(first[counts.names[place]][name] for name in own),
            )
            for place in shown
        ),
        note=f"The {len(shown)} most evenly split of {len(places):,}." if left else "",
    )
