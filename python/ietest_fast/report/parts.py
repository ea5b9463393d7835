"""What the sections of a report are made of."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.analyses.consistency.wordings import find_wordings
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.report.examples import compress
from ietest_fast.values import as_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.report.drawing import Chart
    from ietest_fast.report.examples import TestSetAnswers
    from ietest_fast.report.tables import Table


# Items with all their wordings and the answers of every classifier, as the page carries them.

MOST_ITEMS = 20_000
"""Of more items a page carries so many, those that split first."""

MOST_BYTES = 4_000_000
"""Of packed items; of more a page carries as many as fit, those that split first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WordingsOfItems:
    """Items to be read on the page."""

    models: tuple[str, ...]
    """Names of the classifiers."""
    columns: tuple[str, ...]
    """Names of the columns of texts."""
    items: tuple[dict[str, Any], ...]
    """For each its name, its gold label, and rows: version, texts, and for each classifier its
    answer, whether that is right and the confidence in the gold label, or None."""
    n_left: int
    n_split_left: int = 0
    """Items that are not carried, and those of them that a classifier splits."""

    def pack(self) -> str:
        """Compress for the page: JSON, gzipped, in base64, so that no text stands there as is."""
        return _pack(self.models, self.columns, self.items)

    def remark(self) -> str | None:
        """Say which items are not carried; None if all are."""
        if not self.n_left:
            return None
        n = len(self.items)
        left = (
            f"{self.n_split_left:,} of those are answered rightly in some paraphrases and wrongly "
            "in others"
            if self.n_split_left
            else "none of those is answered rightly in some paraphrases and wrongly in others"
        )
        return (
            f"This page carries {n:,} of {n + self.n_left:,} items, to stay small enough to open: "
            f"those that split first. {self.n_left:,} are left out, and {left}. Figures and tables "
            "are of all items."
        )


def _pack(models: Sequence[str], columns: Sequence[str], items: Sequence[dict[str, Any]]) -> str:
    described = {"models": models, "columns": columns, "items": items}
    return compress(json.dumps(described, ensure_ascii=False, allow_nan=False).encode())


def gather_wordings(
    profiles: Sequence[ConsistencyProfile], texts: Sequence[str]
) -> WordingsOfItems | None:
    """Put the answers of classifiers to the same wordings beside each other."""
    columns = [name for name in texts if any(name in each.predictions.columns for each in profiles)]
    if not columns:
        return None
    found: dict[Any, dict[str, Any]] = {}
    rows: dict[tuple[Any, ...], list[Any]] = {}
    for number, profile in enumerate(profiles):
        table = profile.predictions.table
        wanted = [
            name
            for name in ("item", "version", "copy", "gold", "predicted", *columns)
            if name in table.column_names
        ]
        table = table.select(wanted)
        for place, name in enumerate(wanted):
            if name in columns:  # whatever a file holds there, the page shows texts
                texts_of = as_texts(table[name], path=profile.predictions.source, name=name)
                table = table.set_column(place, name, texts_of)
        right = profile.predictions.correct.tolist()
        # Originals stand first, paraphrases as they are in the table.
        confidence = find_wordings(profile.predictions).confidence
        sure = [None] * len(right) if confidence is None else np.round(confidence, 3).tolist()
        for row, is_right, own in zip(table.to_pylist(), right, sure, strict=True):
            key = row["item"], row["version"], row.get("copy")
            if key not in rows:
                item = found.setdefault(
                    row["item"], {"item": str(row["item"]), "gold": row.get("gold"), "rows": []}
                )
                line = [row["version"], [row.get(name) for name in columns], [None] * len(profiles)]
                rows[key] = line
                item["rows"].append(line)
            rows[key][2][number] = [row.get("predicted"), int(is_right), own]
    for item in found.values():
        item["rows"].sort(key=lambda line: line[0] != ORIGINAL)
    with_paraphrases = [
        each for each in found.values() if any(r[0] != ORIGINAL for r in each["rows"])
    ]
    chosen = sorted(with_paraphrases, key=lambda item: not _splits(item, len(profiles)))
    models = tuple(each.name for each in profiles)
    carried = chosen[:MOST_ITEMS]
    while (size := len(_pack(models, columns, carried))) > MOST_BYTES and len(carried) > 1:
        carried = carried[: max(1, int(0.95 * len(carried) * MOST_BYTES / size))]
    left = chosen[len(carried) :]
    return WordingsOfItems(
        models=models,
        columns=tuple(columns),
        items=tuple(carried),
        n_left=len(left),
        n_split_left=sum(_splits(item, len(profiles)) for item in left),
    )


def _splits(item: dict[str, Any], n_models: int) -> bool:
    """Whether a classifier answers some paraphrases rightly and others wrongly."""
    for number in range(n_models):
        own = {
            answers[number][1]
            for version, _, answers in item["rows"]
            if version != ORIGINAL and answers[number] is not None
        }
        if len(own) > 1:
            return True
    return False


MOST_OWN_FIGURES = 24
"""Of more runs the first dozen have figures of their own, and the tables have all."""

OWN_FIGURES = 12
"""How many have them then."""


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


@dataclass(frozen=True, kw_only=True)
class Wordings:
    """Items with their paraphrases and the answers, for reading."""

    title: str
    found: WordingsOfItems


Part = Heading | Figures | Numbers | Words | Examples | Wordings | Note


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a report with a heading."""

    id: str
    """Its address in a page."""
    title: str
    intro: str
    """Heading, and a sentence below it."""
    parts: tuple[Part, ...]
    """In order."""
