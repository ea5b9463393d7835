"""What a transformation did to a test set, and which of its substitutions go with flips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.words import count_words
from ietest_fast.report.tables import Column, MeanSd, Table
from ietest_fast.stats import holm
from ietest_fast.transform import COMPANION_RULES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.report.runs import Versions

N_FREQUENT = 20
"""How many substitutions are shown, as in the paper's Figure 8."""

LEAST_ROWS = 5
"""A substitution in fewer rows is not tested for flips."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Substitutions:
    """The substitutions in a test set, without what only follows from them."""

    names: tuple[str, ...]
    """Different ones, such as ``"couch → sofa"``, lower-cased, most frequent first."""
    times: NDArray[np.int64]
    """How often each was made, int64."""
    row: NDArray[np.int64]
    name: NDArray[np.int64]
    """Row and name (a position in `names`) of each incidence, each once a row, int64."""
    n_by_row: NDArray[np.int64]
    """How many were made in each row, int64, shape (n,)."""


def find_substitutions(versions: Versions) -> Substitutions:
    """Gather the substitutions of a test set."""
    edits = versions.edits
    is_companion = pc.is_in(edits["rule"].cast(pa.string()), pa.array(COMPANION_RULES))
    own = edits.filter(pc.invert(is_companion))
    said = pc.binary_join_element_wise(
        pc.utf8_lower(own["old"]), pc.utf8_lower(own["new"]), pa.scalar(" → ", pa.large_string())
    )
    encoded = pa.chunked_array(said).combine_chunks().dictionary_encode()
    code = np.asarray(encoded.indices).astype(np.int64)
    times = np.bincount(code, minlength=len(encoded.dictionary))
    names = np.array(encoded.dictionary.to_pylist(), dtype=object)
    # Equally frequent ones by name: the order of rows is of no account.
    order = np.array(
        sorted(range(len(names)), key=lambda place: (-times[place], names[place])), np.int64
    )
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    row = own["row"].to_numpy().astype(np.int64)
    joined = np.unique(row * max(len(names), 1) + rank[code]) if len(names) else row
    return Substitutions(
        names=tuple(names[order]),
        times=times[order].astype(np.int64),
        row=joined // max(len(names), 1),
        name=joined % max(len(names), 1),
        n_by_row=np.bincount(row, minlength=len(versions)).astype(np.int64),
    )


def frequent_table(found: Substitutions) -> Table:
    """List the most frequent substitutions (Figure 8)."""
    total = int(found.times.sum())
    return Table(
        name="substitutions",
        title=f"The {min(N_FREQUENT, len(found.names))} most frequent substitutions",
        columns=(
            Column("substitution"),
            Column("times", "count"),
            Column("of all %", "percent"),
        ),
        rows=tuple(
            (name, int(times), times / total)
            for name, times in zip(found.names[:N_FREQUENT], found.times, strict=False)
        ),
        note=f"{len(found.names):,} different ones, {total:,} altogether.",
    )


def extent_table(versions: Versions, found: Substitutions) -> Table:
    """Say how much of the test set was changed, by label."""
    n_words = found.n_by_row
    groups = _by_label(versions)
    return Table(
        name="extent",
        title="How much was changed",
        columns=(
            Column("label"),
            Column("observations", "count"),
            Column("changed %", "percent"),
            Column("reworded %", "percent"),
            Column("substitutions each", "number"),
            Column("most", "count"),
        ),
        rows=tuple(
            (
                name,
                int(rows.sum()),
                float(versions.changed[rows].mean()),
                float((n_words[rows] > 0).mean()),
                _mean_sd(n_words[rows]),
                int(n_words[rows].max()),
            )
            for name, rows in groups
            if rows.any()
        ),
        note=(
            "Changed: one byte at least is another. Reworded: one word at least was replaced, "
            "which lower case and dropped punctuation are not."
        ),
    )


def spread_table(found: Substitutions) -> Table:
    """Say how many words were replaced in how many observations."""
    n = len(found.n_by_row)
    times = np.bincount(found.n_by_row)
    return Table(
        name="words-changed",
        title="Substitutions in an observation",
        columns=(
            Column("substitutions", "count"),
            Column("observations", "count"),
            Column("%", "percent"),
        ),
        rows=tuple((number, int(count), count / n) for number, count in enumerate(times) if count),
    )


def length_table(versions: Versions) -> Table:
    """Give lengths of inputs in words by label, before and after (Tables 13 and 14)."""
    before, after = (
        np.sum([_n_words(table[name]) for name in versions.columns], axis=0)
        for table in (versions.original, versions.transformed)
    )
    rows = []
    for name, own in _by_label(versions):
        if not own.any():
            continue
        old, new = _mean_sd(before[own]), _mean_sd(after[own])
        growth = new.mean / old.mean - 1 if old.mean and new.mean is not None else None
        rows.append((name, int(own.sum()), old, new, growth))
    return Table(
        name="lengths",
        title="Words of an input, before and after",
        columns=(
            Column("label"),
            Column("observations", "count"),
            Column("original", "number"),
            Column("transformed", "number"),
            Column("growth %", "points", 1),
        ),
        rows=tuple(rows),
        note="Words are what white space separates, over all texts of an input; mean ± sd.",
    )


def _n_words(column: pa.ChunkedArray) -> NDArray[np.int64]:
    return count_words(column.combine_chunks().cast(pa.large_string()))


def _by_label(versions: Versions) -> list[tuple[str, NDArray[np.bool_]]]:
    groups = [(name, versions.gold == label) for label, name in enumerate(versions.label_names)]
    return [("all", np.ones(len(versions), np.bool_)), *groups]


def _mean_sd(values: NDArray[np.int64]) -> MeanSd:
    return MeanSd(float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else None)


def count_flips(answers: NDArray[np.int8]) -> NDArray[np.int64]:
    """Count for each row the classifiers that answer its two versions differently."""
    flips: NDArray[np.int64] = (answers[..., 0] != answers[..., 1]).sum(axis=(1, 2))
    return flips


def flip_table(
    found: Substitutions, answers: NDArray[np.int8], *, model: str, n_shown: int = 30
) -> Table:
    """Test of each substitution whether rows that have it flip more often than other reworded rows.

    A row flips if more than half of the model's classifiers answer its two versions differently.
    For a substitution in r of R reworded rows, F of which flip, the number of its rows that flip is
    hypergeometric if it has nothing to do with flips (Fisher's exact test, one-sided); the p-values
    are adjusted by Holm over all substitutions in at least ``LEAST_ROWS`` rows.
    """
    from scipy.stats import hypergeom

    flips = 2 * count_flips(answers) > answers.shape[1] * answers.shape[2]
    reworded = found.n_by_row > 0
    n_rows = np.bincount(found.name, minlength=len(found.names))
    n_flips = np.bincount(found.name, flips[found.row], minlength=len(found.names)).astype(int)
    tested = np.flatnonzero(n_rows >= LEAST_ROWS)
    population, all_flips = int(reworded.sum()), int((flips & reworded).sum())
    p_values = hypergeom.sf(n_flips[tested] - 1, population, all_flips, n_rows[tested])
    adjusted = holm([min(1.0, float(p)) for p in p_values]) if len(tested) else []
    order = sorted(range(len(tested)), key=lambda place: (p_values[place], tested[place]))
    rows = []
    for place in order[:n_shown]:
        word = tested[place]
        others = population - int(n_rows[word])
        rows.append(
            (
                found.names[word],
                int(n_rows[word]),
                int(n_flips[word]),
                n_flips[word] / n_rows[word],
                (all_flips - n_flips[word]) / others if others else None,
                float(p_values[place]),
                adjusted[place],
            )
        )
    return Table(
        name="flipping-substitutions",
        title=f"Substitutions that go with flips of {model}",
        columns=(
            Column("substitution"),
            Column("rows", "count"),
            Column("flips", "count"),
            Column("flip rate %", "percent", 1),
            Column("without it %", "percent", 1),
            Column("p", "p"),
            Column("p, Holm", "p"),
        ),
        rows=tuple(rows),
        note=(
            f"{all_flips:,} of {population:,} reworded rows flip: more than half of the "
            f"classifiers answer the two versions differently. {len(tested):,} substitutions in at "
            f"least {LEAST_ROWS} rows were tested (Fisher's exact test, one-sided); those "
            f"of the {min(n_shown, len(tested))} smallest p are shown."
        ),
    )
