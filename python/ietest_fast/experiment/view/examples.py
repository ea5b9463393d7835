"""Test observations as the page carries them: both versions, edits, and every answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.report.parts import Reading, compress
from ietest_fast.report.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.experiment.view.runs import FinishedRun, Versions


# Pairs that a model gets right before the transformation and wrong after it (Tables 17 and 18).


@dataclass(frozen=True, kw_only=True)
class Quantifier:
    """For which of a model's classifiers an observation has to be lost."""

    name: str
    """For ``ietest-fast report --hard-cases``."""
    title: str
    """In words."""
    every_rho: bool
    every_m: bool
    """For all of them, or for one at least."""
    first_m: bool = False
    """Look at m = 0 only."""

    def apply(self, lost: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Reduce bool of shape (n, n_rho, M) to shape (n,)."""
        own = lost[:, :, :1] if self.first_m else lost
        over_m, over_rho = (
            np.logical_and if every else np.logical_or for every in (self.every_m, self.every_rho)
        )
        found: NDArray[np.bool_] = over_rho.reduce(over_m.reduce(own, axis=2), axis=1)
        return found


QUANTIFIERS = {
    each.name: each
    for each in (
        Quantifier(
            name="every-m-every-rho",
            title="in every resample at every ρ",
            every_rho=True,
            every_m=True,
        ),
        Quantifier(
            name="every-m-any-rho",
            title="in every resample at some ρ",
            every_rho=False,
            every_m=True,
        ),
        Quantifier(
            name="any-m-every-rho",
            title="in some resample at every ρ",
            every_rho=True,
            every_m=False,
        ),
        Quantifier(
            name="any-m-any-rho",
            title="in some resample at some ρ",
            every_rho=False,
            every_m=False,
        ),
        Quantifier(
            name="first-m-every-rho",
            title="in the first resample at every ρ",
            every_rho=True,
            every_m=True,
            first_m=True,
        ),
        Quantifier(
            name="first-m-any-rho",
            title="in the first resample at some ρ (the published 249 and 531 cases)",
            every_rho=False,
            every_m=True,
            first_m=True,
        ),
    )
}
"""Ways to read "the model gets it right before and wrong after", the default first."""

DEFAULT_QUANTIFIER = next(iter(QUANTIFIERS))

MOST_LISTED = 100
"""Hard cases that are listed with their texts; the page's examples have them all."""


def find_lost(answers: NDArray[np.int8], gold: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Find what each classifier gets right in the original and wrong in the transformed version."""
    right = gold[:, None, None]
    lost: NDArray[np.bool_] = (answers[..., 0] == right) & (answers[..., 1] != right)
    return lost


def find_hard_cases(
    answers: Sequence[NDArray[np.int8]],
    gold: NDArray[np.int8],
    *,
    quantifier: str = DEFAULT_QUANTIFIER,
) -> NDArray[np.int64]:
    """Find the observations that all models lose."""
    if quantifier not in QUANTIFIERS:
        raise InputError(f"hard cases are {', '.join(QUANTIFIERS)}, not {quantifier}")
    if not answers:
        raise InputError("hard cases need the answers of a model")
    masks = [QUANTIFIERS[quantifier].apply(find_lost(own, gold)) for own in answers]
    return np.flatnonzero(np.logical_and.reduce(masks))


def pack_hardness(answers: NDArray[np.int8], gold: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Say of each row which quantifiers hold for a model: bit q for the q-th of QUANTIFIERS."""
    lost = find_lost(answers, gold)
    packed = np.zeros(len(gold), np.uint8)
    for bit, quantifier in enumerate(QUANTIFIERS.values()):
        packed |= quantifier.apply(lost).astype(np.uint8) << np.uint8(bit)
    return packed


def hard_case_table(hardness: dict[str, NDArray[np.uint8]]) -> Table:
    """Count hard cases by quantifier, for each model and for all together."""
    together = np.bitwise_and.reduce(list(hardness.values()))
    n = len(together)
    return Table(
        name="hard-cases",
        title="Observations that are right before and wrong after",
        columns=(
            Column("for a model"),
            *(Column(name, "count") for name in hardness),
            Column("all models", "count"),
            Column("share, all models %", "percent"),
        ),
        rows=tuple(
            (
                quantifier.title,
                *(_count(own, bit) for own in hardness.values()),
                _count(together, bit),
                _count(together, bit) / n,
            )
            for bit, quantifier in enumerate(QUANTIFIERS.values())
        ),
    )


def hard_pair_table(versions: Versions, rows: NDArray[np.int64], *, quantifier: str) -> Table:
    """List hard cases with both versions of their texts (Tables 17 and 18)."""
    listed = rows[:MOST_LISTED].tolist()
    labels = np.bincount(versions.gold[rows], minlength=len(versions.label_names))
    shares = ", ".join(
        f"{name} {count / len(rows):.1%}"
        for name, count in zip(versions.label_names, labels, strict=True)
    )
    texts = [
        table[name]
        for name in versions.columns
        for table in (versions.original, versions.transformed)
    ]
    return Table(
        name="hard-pairs",
        title=f"Hard cases: lost by all models {QUANTIFIERS[quantifier].title}",
        columns=(
            Column("row", "count"),
            Column("label"),
            *(
                Column(f"{name}, {version}")
                for name in versions.columns
                for version in ("original", "transformed")
            ),
        ),
        rows=tuple(
            (row, versions.label_names[versions.gold[row]], *(text[row].as_py() for text in texts))
            for row in listed
        ),
        note=f"{len(rows):,} of {len(versions):,} ({shares}); the first {len(listed)} are listed.",
    )


def _count(packed: NDArray[np.uint8], bit: int) -> int:
    return int((packed >> np.uint8(bit) & np.uint8(1)).sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class TestSetAnswers:
    """A test set and what the models of a report answered on it."""

    __test__ = False  # no test of pytest's

    versions: Versions
    """Both versions."""
    runs: tuple[FinishedRun, ...]
    """Those with this test set."""
    answers: tuple[NDArray[np.int8], ...]
    """For each run int8, shape (n, n_rho, M, 2)."""

    @property
    def hardness(self) -> dict[str, NDArray[np.uint8]]:
        """For each run which quantifiers of hard cases hold, by row."""
        return {
            run.name: pack_hardness(answers, self.versions.gold)
            for run, answers in zip(self.runs, self.answers, strict=True)
        }


def gather_answers(runs: Sequence[FinishedRun]) -> list[TestSetAnswers]:
    """Read the test sets of runs, each once, with the answers of all its runs."""
    by_test_set: dict[str, list[FinishedRun]] = {}
    for run in runs:
        if run.test_set is not None:
            by_test_set.setdefault(run.test_set, []).append(run)
    return [
        TestSetAnswers(
            versions=own[0].read_versions(),
            runs=tuple(own),
            answers=tuple(run.read_answers() for run in own),
        )
        for own in by_test_set.values()
    ]


def example_part(title: str, found: TestSetAnswers) -> Reading:
    """Compress the observations of a test set, to be read on the page."""
    versions = found.versions
    described = {
        "n": len(versions),
        "columns": list(versions.columns),
        "labels": list(versions.label_names),
        "texts": [versions.original[name].to_pylist() for name in versions.columns],
        "edits": _pack_edits(versions),
        "runs": [
            {
                "name": run.name,
                "rho": [rho.rho for rho in run.rhos],
                "m": run.n_classifiers,
            }
            for run in found.runs
        ],
        "quantifiers": [each.title for each in QUANTIFIERS.values()],
    }
    blocks = [versions.gold.astype(np.uint8), versions.changed.astype(np.uint8)]
    hardness = found.hardness
    for run, answers in zip(found.runs, found.answers, strict=True):
        blocks += [hardness[run.name], answers.astype(np.uint8).ravel()]
    packed = {
        "texts": compress(json.dumps(described, ensure_ascii=False).encode()),
        "answers": compress(np.concatenate(blocks).tobytes()),
    }
    return Reading(kind="examples", title=title, packed=packed)


def _pack_edits(versions: Versions) -> dict[str, Any]:
    edits = versions.edits  # by column, row and start
    names = edits["column"].cast(pa.string())
    column = pc.index_in(names, pa.array(versions.columns)).to_numpy().astype(np.int64)
    rules = edits["rule"].cast(pa.string()).combine_chunks().dictionary_encode()
    start, end = (edits[name].to_numpy().astype(np.int64).copy() for name in ("start", "end"))
    row = edits["row"].to_numpy().astype(np.int64)
    for number, name in enumerate(versions.columns):
        texts = versions.original[name]
        wide = pc.not_equal(pc.binary_length(texts), pc.utf8_length(texts)).to_numpy()
        for place in np.flatnonzero((column == number) & wide[row]):
            data = texts[int(row[place])].as_py().encode()
            # JavaScript counts UTF-16 code units.
            first = _n_units(data[: start[place]])
            start[place], end[place] = first, first + _n_units(data[start[place] : end[place]])
    return {
        "row": row.tolist(),
        "column": column.tolist(),
        "start": start.tolist(),
        "end": end.tolist(),
        "new": edits["new"].to_pylist(),
        "rule": np.asarray(rules.indices).tolist(),
        "rules": rules.dictionary.to_pylist(),
    }


def _n_units(data: bytes) -> int:
    return len(data.decode().encode("utf-16-le")) // 2
