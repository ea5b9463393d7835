"""How far paraphrases are from their originals, and buckets grouped by it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.columns import check_columns
from ietest_fast.errors import InputError
from ietest_fast.evaluation.bag_distance import measure_bag_distance
from ietest_fast.evaluation.schema import plain_type
from ietest_fast.evaluation.text_overlap import (
    Sequences,
    measure_bleu,
    measure_edit_distance,
    measure_gram_overlap,
    measure_jaccard,
    measure_length_ratio,
    number_characters,
    number_words,
)
from ietest_fast.plurals import say_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

LEXICAL = ("lexical_distance", "jaccard", "character_overlap", "bleu", "length_ratio")
"""Measures of words and characters: a distance, similarities, and how many words there are."""

SYNTACTIC = ("tag_distance", "relation_distance")
"""Measures of sentences: distances between sequences of tags and of relations."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DiversityGroups:
    """Buckets in groups, by quantiles of a measure."""

    codes: NDArray[np.int64]
    """int64 (n_buckets,): the group of each bucket, 0 for the lowest values; -1 for buckets whose
    measure is not known."""
    edges: NDArray[np.float64]
    """float64 (n_groups + 1,): the quantiles. Group g has the means above ``edges[g]``, up to and
    with ``edges[g + 1]``; the first has the lowest, too."""

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Buckets in each group, int64 (n_groups,)."""
        known = self.codes[self.codes >= 0]
        return np.bincount(known, minlength=len(self.edges) - 1).astype(np.int64)

    @property
    def n_unknown(self) -> int:
        """Buckets in no group."""
        return int((self.codes < 0).sum())


def group_by_quantiles(
    means: NDArray[np.float64], measure: str, *, n_groups: int
) -> DiversityGroups:
    """Group buckets by the quantiles of their means of a measure."""
    if n_groups < 2:
        raise InputError(f"n_groups must be at least 2, not {n_groups}")
    known = ~np.isnan(means)
    if not known.any():
        raise InputError(f"no bucket has a paraphrase whose {measure} is known")
    edges = np.quantile(means[known], np.linspace(0, 1, n_groups + 1))
    codes = np.full(len(means), -1, np.int64)
    codes[known] = np.searchsorted(edges[1:-1], means[known], side="left")
    return DiversityGroups(codes=codes, edges=edges)


def pair_texts(
    table: pa.Table,
    columns: Sequence[str],
    originals: NDArray[np.int64],
    paraphrases: NDArray[np.int64],
    *,
    all_columns: bool,
    source: str,
) -> dict[str, tuple[pa.Array, pa.Array]]:
    """Return the texts of originals and of their paraphrases, by column."""
    check_columns(source, table.column_names, columns)
    pairs = {}
    for name in columns:
        kind = plain_type(table[name].type)
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise InputError(f"is {kind}; texts expected", path=source, column=name)
        texts = table[name].cast(kind).combine_chunks().cast(pa.large_string())
        pairs[name] = (texts.take(pa.array(originals)), texts.take(pa.array(paraphrases)))
    if not all_columns:
        changed = [name for name, (old, new) in pairs.items() if not old.equals(new)]
        pairs = {name: pairs[name] for name in changed or pairs}
    for name, own in pairs.items():
        missing = sum(side.null_count for side in own)
        if missing:
            raise InputError(
                f"{say_count(missing, 'text')} of originals or paraphrases "
                f"{'is' if missing == 1 else 'are'} missing",
                path=source,
                column=name,
            )
    return pairs


def measure_pairs(
    pairs: Mapping[str, tuple[pa.Array, pa.Array]],
    *,
    syntax: bool,
    n_threads: int | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Compute the measures of n paraphrases against their originals."""
    first, second = (_join([pair[side] for pair in pairs.values()]) for side in (0, 1))
    words = number_words(first, second)
    found = {
        "lexical_distance": np.mean([measure_bag_distance(*pair) for pair in pairs.values()], 0),
        "jaccard": measure_jaccard(*words),
        "character_overlap": measure_gram_overlap(*number_characters(first, second)),
        "bleu": measure_bleu(*words),
        "length_ratio": measure_length_ratio(*words),
    }
    if syntax:
        found |= _measure_syntax(list(pairs.values()), n_threads)
    return found


def _join(texts: Sequence[pa.Array]) -> pa.Array:
    if len(texts) == 1:
        return texts[0]
    return pc.binary_join_element_wise(*texts, pa.scalar(" ", pa.large_string()))


def _measure_syntax(
    pairs: Sequence[tuple[pa.Array, ...]], n_threads: int | None
) -> dict[str, NDArray[np.float64]]:
    from ietest_fast.lexicon.annotator import Parser

    # Each column by itself: what stands in two of them is not one sentence.
    texts = [part for side in (0, 1) for part in (pair[side] for pair in pairs)]
    with Parser.load() as parser:
        parses = parser.parse(pa.chunked_array(texts), n_process=n_threads)
    n, n_columns = len(pairs[0][0]), len(pairs)
    found = {}
    for name, codes in (("tag_distance", parses.tag), ("relation_distance", parses.relation)):
        sides = [
            _rows_of_columns(codes.astype(np.int64), parses.offsets, n, n_columns, side)
            for side in (0, 1)
        ]
        found[name] = measure_edit_distance(*sides)
    return found


def _rows_of_columns(
    codes: NDArray[np.int64], offsets: NDArray[np.int64], n: int, n_columns: int, side: int
) -> Sequences:
    """Return the codes of each row, those of one column behind those of the other."""
    texts = (side * n_columns + np.arange(n_columns)[None, :]) * n + np.arange(n)[:, None]
    flat = texts.reshape(-1)
    lengths = np.diff(offsets)[flat]
    first = np.cumsum(lengths) - lengths
    place = np.arange(int(lengths.sum())) + np.repeat(offsets[:-1][flat] - first, lengths)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return Sequences(codes=codes[place], offsets=ends[::n_columns])
