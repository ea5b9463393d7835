"""By what items are parted, noted in the answers: diversity of paraphrases, partial input."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.consistency.file import DEFAULT_DIVERSITY_GROUPS, MOST_DIVERSITY_GROUPS
from ietest_fast.answers.schema import GROUPS, plain_type
from ietest_fast.answers.shared import SharedWordings, find_answered_texts, name_rows
from ietest_fast.answers.table import ORIGINAL, find_originals
from ietest_fast.corpus.columns import check_columns
from ietest_fast.corpus.reasoning import ABDUCTIVE, DEFEASIBLE
from ietest_fast.corpus.similarity import (
    Sequences,
    measure_bag_distance,
    measure_bleu,
    measure_edit_distance,
    measure_gram_overlap,
    measure_jaccard,
    measure_length_ratio,
    number_characters,
    number_words,
)
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES
from ietest_fast.values import say_repeated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.analyses.consistency.file import ConsistencyAnswers, ParsedAmounts
    from ietest_fast.answers.table import Predictions
    from ietest_fast.models.classifiers import Unparsed
    from ietest_fast.stats.consistency.intervals import BootstrapMethod
    from ietest_fast.stats.inputs import Rng

    Numbers = NDArray[np.int64]
    Floats = NDArray[np.float64]

LEXICAL = ("lexical_distance", "jaccard", "character_overlap", "bleu", "length_ratio")
"""Measures of words and characters: a distance, similarities, and how many words there are."""

SYNTACTIC = ("tag_distance", "relation_distance")
"""Measures of sentences: distances between sequences of tags and of relations."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DiversityGroups:
    """Buckets in groups, by quantiles of a measure."""

    codes: Numbers
    """int64 (n_buckets,): the group of each bucket, 0 for the lowest values; -1 for buckets whose
    measure is not known."""
    edges: Floats
    """float64 (n_groups + 1,): the quantiles. Group g has the means above ``edges[g]``, up to and
    with ``edges[g + 1]``; the first has the lowest, too."""

    @cached_property
    def sizes(self) -> Numbers:
        """Buckets in each group, int64 (n_groups,)."""
        known = self.codes[self.codes >= 0]
        return np.bincount(known, minlength=len(self.edges) - 1).astype(np.int64)

    @property
    def n_unknown(self) -> int:
        """Buckets in no group."""
        return int((self.codes < 0).sum())


def group_by_quantiles(means: Floats, measure: str, *, n_groups: int) -> DiversityGroups:
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
    originals: Numbers,
    paraphrases: Numbers,
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
    pairs: Mapping[str, tuple[pa.Array, pa.Array]], *, syntax: bool, n_threads: int | None = None
) -> dict[str, Floats]:
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
) -> dict[str, Floats]:
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
    codes: Numbers, offsets: Numbers, n: int, n_columns: int, side: int
) -> Sequences:
    """Return the codes of each row, those of one column behind those of the other."""
    texts = (side * n_columns + np.arange(n_columns)[None, :]) * n + np.arange(n)[:, None]
    flat = texts.reshape(-1)
    lengths = np.diff(offsets)[flat]
    first = np.cumsum(lengths) - lengths
    place = np.arange(int(lengths.sum())) + np.repeat(offsets[:-1][flat] - first, lengths)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return Sequences(codes=codes[place], offsets=ends[::n_columns])


# What is asked of a classifier, and how the consistency of its answers is measured.


SOURCE = "source"
"""Column that says where a paraphrase comes from."""


@dataclass(frozen=True, kw_only=True)
class ConsistencyOptions:
    """One question about consistency; what is not said here is as in ``ie.consistency``."""

    phi: Any = None
    draws: int | None = None
    share: float | None = None
    seed: int = 0
    reword: tuple[str, ...] | None = None
    """How paraphrases are made; not at all without `phi`."""
    item_column: str | None = None
    version_column: str | None = None
    drop_mixed: bool = False
    text_columns: tuple[str, ...] | None = None
    label_column: str | None = None
    label_names: tuple[str, ...] | None = None
    keep_columns: tuple[str, ...] = ()
    from_sources: bool = False
    """How data are read, and whether they are of several sources, which answers keep."""
    input_columns: tuple[str, ...] | None = None
    label_map: Mapping[str, str] | None = None
    unparsed: Unparsed = "error"
    """How the classifier is asked."""
    subset: str | None = None
    clusters: str | None = None
    """Columns; None: as the answers say of themselves."""
    by_diversity: tuple[str, ...] = ()
    diversity_groups: int | None = None
    answered_columns: tuple[str, ...] | None = None
    """Measures of diversity, and the columns of answers that hold the texts; None: as the answers
    say, or by their names."""
    partial_input: Predictions | None = None
    partial_name: str = ""
    """Answers of a classifier that saw a part of the input, and what it is called."""
    test_sets: tuple[Predictions, ...] = ()
    n_strata: int | None = None
    """Answers to the full test set, in the order of the classifiers."""
    amounts: ParsedAmounts | None = None
    amount_column: str | None = None
    amounts_of: str | None = None
    """How much data classifiers have seen, in their order, or as a column says."""
    confidence_level: float = 0.95
    method: BootstrapMethod = "exact"
    n_resamples: int = DEFAULT_N_RESAMPLES
    rng: Rng = 0
    n_threads: int | None = None

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of data that answers keep, beside those that they have anyway."""
        source = (SOURCE,) if self.from_sources else ()
        wanted = dict.fromkeys((*self.keep_columns, self.clusters, self.subset, *source))
        return tuple(name for name in wanted if name not in {None, "item", "version"})

    @property
    def reading(self) -> dict[str, Any]:
        """Options of :func:`ietest_fast.analyses.buckets_from_table` that are known beforehand."""
        joined = {SOURCE} if self.from_sources else set()
        return {
            "item_column": self.item_column or "item",
            "version_column": self.version_column,
            "keep_columns": tuple(name for name in self.kept if name not in joined),
            "drop_mixed": self.drop_mixed,
            "label_names": self.label_names,
        }

    @property
    def comparing(self) -> dict[str, Any]:
        """Options of :func:`ietest_fast.stats.compare_consistency`."""
        names = ("confidence_level", "n_resamples", "rng", "n_threads")
        return {name: getattr(self, name) for name in names}

    @property
    def measuring(self) -> dict[str, Any]:
        """Options of :func:`ietest_fast.stats.measure_consistency`."""
        return {"method": self.method, **self.comparing}


# What a model that saw a part of the input gets right, noted in the table of answers.

COLUMN = "partial_input"
"""Column that says whether the model that saw a part of the input got an item right."""

CORRECT = "partial_input_correct"
"""Column that says whether the model that saw a part of the input got a wording right."""

TEXT_COLUMNS = ("premise", "hypothesis", "sentence1", "sentence2", "text", "sentence")
"""What columns of texts are called, of which the model that saw a part may have one."""

RIGHT, WRONG = "right", "wrong"


def note_partial_input(
    answers: ConsistencyAnswers, partial: Predictions, name: str
) -> ConsistencyAnswers:
    """Note which items a model that saw a part of the input gets right, in columns of the table.

    A model that sees the hypothesis or the update alone cannot know the answer, so what it gets
    right is likelier to have an artefact (Srikanth et al. 2024, section 7, Table 7). An item, with
    all its wordings, goes by the answer to its original.
    """
    of_items = _outcomes(_match_items(answers.predictions, partial))
    shared = SharedWordings.find(answers.predictions, partial)
    said = (*answers.notes.warnings, *_check_facts(answers, shared))
    return _with_columns(
        answers,
        {COLUMN: pc.if_else(of_items, RIGHT, WRONG), CORRECT: _outcomes(shared)},
        old=() if answers.notes.partial_input is None else (COLUMN, CORRECT),
        partial_input=name,
        warnings=tuple(dict.fromkeys(said)),
    )


def _with_columns(
    answers: ConsistencyAnswers,
    columns: Mapping[str, pa.Array],
    *,
    old: Sequence[str],
    taken: str = "",
    **notes: Any,
) -> ConsistencyAnswers:
    """Return answers with columns in the place of old ones, and with what is noted of them."""
    predictions = answers.predictions
    table = predictions.table
    table = table.drop_columns([name for name in old if name in table.column_names])
    for name, values in columns.items():
        if name in table.column_names:
            raise InputError(
                f"is there already{taken}; rename it", path=predictions.source, column=name
            )
        table = table.append_column(name, values)
    return replace(
        answers,
        predictions=replace(predictions, table=table),
        notes=replace(answers.notes, **notes),
    )


def _outcomes(shared: SharedWordings) -> pa.Array:
    """Return for each row of the first table whether the other answers it rightly, if it does."""
    correct = np.zeros(len(shared.first), np.bool_)
    correct[shared.rows] = shared.other.correct[shared.places]
    is_asked = np.isin(np.arange(len(correct)), shared.rows)
    return pa.array(correct, mask=~is_asked)


def _check_facts(answers: ConsistencyAnswers, shared: SharedWordings) -> tuple[str, ...]:
    """Compare gold labels and texts, so that answers to other items part nothing."""
    predictions, partial = shared.first, shared.other
    originals = SharedWordings.find(
        predictions.select(version=ORIGINAL) if ORIGINAL in predictions.versions else predictions,
        partial.select(version=ORIGINAL),
        keys=("item",),
    )
    has_labels = [each.check_labels("gold", "the gold label") for each in (originals, shared)]
    names = (*answers.notes.text_columns, *ABDUCTIVE, *DEFEASIBLE, *TEXT_COLUMNS)
    shared.check_texts(tuple(dict.fromkeys(names)))
    notes = []
    if shared.are_equal_answers():
        notes.append(
            f"Warning: {partial.source} answers every wording as {predictions.source} does, and is "
            "to be of a model that saw a part of the input; give its own file."
        )
    if not all(has_labels):
        said = "has other names for labels than"
        notes.append(
            f"{partial.source} {said} {predictions.source}, so gold labels are not compared."
        )
    return tuple(notes)


def _match_items(predictions: Predictions, partial: Predictions) -> SharedWordings:
    """Find the items of predictions among the originals that the other model was asked."""

    def error(complaint: str, column: str | None = None) -> InputError:
        return InputError(complaint, path=partial.source, column=column)

    if len(partial.groups) > 1:
        raise error(
            f"{len(partial.groups)} classifiers are in these predictions, and one that saw a part "
            f"of the input is expected; choose it by {', '.join(partial.groups[0])}"
        )
    if ORIGINAL not in partial.versions:
        raise error(f"has no version {ORIGINAL!r}; it has {', '.join(partial.versions)}")
    asked = partial.select(version=ORIGINAL)
    repeated = say_repeated(name_rows(asked, ("item",)), "item")
    if repeated is not None:
        raise error(
            f"in version {ORIGINAL!r} {repeated}, so it is not clear which answer counts; leave "
            "the others out",
            "item",
        )
    shared = SharedWordings.find(predictions, asked, keys=("item",))
    if not len(shared):
        first = name_rows(predictions, ("item",))[0].as_py()
        raise error(f"has no item of {predictions.source}, such as {first!r}", "item")
    return shared


# The diversity of paraphrases that were answered, noted in the table of answers.

DIVERSITY_MEASURES = (*LEXICAL, *SYNTACTIC)
"""Measures that items can be grouped by."""

_ROUNDING = 1e-6
MOST_GROUPS = MOST_DIVERSITY_GROUPS
"""Groups of items, at most."""


def check_measures(measures: Sequence[str]) -> None:
    """Refuse what is no measure of diversity."""
    unknown = [name for name in measures if name not in DIVERSITY_MEASURES]
    if unknown:
        raise InputError(
            f"there is no measure of diversity {unknown[0]!r}; there are "
            f"{', '.join(DIVERSITY_MEASURES)}"
        )


def check_groups(n_groups: int) -> None:
    """Refuse a number of groups that is out of its range."""
    if type(n_groups) is not int or not 2 <= n_groups <= MOST_GROUPS:
        raise InputError(f"there are from 2 to {MOST_GROUPS} groups, not {n_groups}")


def note_diversity(
    answers: ConsistencyAnswers,
    measures: Sequence[str],
    *,
    n_groups: int,
    columns: Sequence[str] | None = None,
    n_threads: int | None = None,
) -> ConsistencyAnswers:
    """Measure the diversity of the paraphrases that were answered, in columns of the table."""
    predictions = answers.predictions
    check_measures(measures)
    check_groups(n_groups)
    texts = tuple(columns) if columns is not None else _find_texts(answers)
    originals, paraphrases = _match_originals(predictions)
    if not len(paraphrases):
        raise InputError(
            "no paraphrase has an original to be compared with: diversity is the distance from the "
            "version 'original'",
            path=predictions.source,
        )
    pairs = pair_texts(
        predictions.table,
        texts,
        originals,
        paraphrases,
        all_columns=columns is not None,
        source=predictions.source,
    )
    found = {}
    syntax = bool(set(measures) & set(SYNTACTIC))
    for name, values in measure_pairs(pairs, syntax=syntax, n_threads=n_threads).items():
        whole = np.full(len(predictions), np.nan)
        whole[paraphrases] = values
        found[name] = pa.array(whole, pa.float64(), from_pandas=True)
    return _with_columns(
        answers,
        found,
        old=DIVERSITY_MEASURES if answers.notes.diversity else (),
        taken=", and is the name of a measure of diversity",
        diversity=tuple(dict.fromkeys(measures)),
        diversity_groups=n_groups,
        diversity_texts=tuple(pairs),
    )


def check_diversity(answers: ConsistencyAnswers) -> None:
    """Refuse measures of words that are not those of the texts beside them in a file."""
    predictions, notes = answers.predictions, answers.notes
    table = predictions.table
    texts = [name for name in notes.diversity_texts if name in table.column_names]
    originals, paraphrases = _match_originals(predictions)
    if not notes.diversity or not texts or not len(paraphrases):
        return
    pairs = pair_texts(
        table, texts, originals, paraphrases, all_columns=True, source=predictions.source
    )
    for name, values in measure_pairs(pairs, syntax=False).items():
        if name not in table.column_names:
            continue
        noted = np.asarray(table[name].cast(pa.float64()).to_numpy())[paraphrases]
        differs = ~np.isclose(noted, values, rtol=0, atol=_ROUNDING, equal_nan=True)
        if differs.any():
            first = int(differs.argmax())
            raise InputError(
                f"is {noted[first]:.4g}, and {values[first]:.4g} by the texts beside it, and so in "
                f"{say_count(int(differs.sum()), 'row')}; measure edited texts again "
                "(--by-diversity)",
                path=predictions.source,
                row=f"row {paraphrases[first]}",
                column=name,
            )


def _find_texts(answers: ConsistencyAnswers) -> tuple[str, ...]:
    """Return the columns of texts: as the file says, or by their names."""
    predictions = answers.predictions
    found = find_answered_texts(predictions, answers.notes.text_columns)
    if not found:
        raise InputError(
            "holds no texts under a known name (premise and hypothesis, sentence1 and sentence2, "
            "text), and the diversity of paraphrases is measured from their texts: name the "
            "columns that hold them (--text-columns, in Python text_columns), or write the answers "
            "with the texts, as "
            "ietest-fast consistency --out does",
            path=predictions.source,
        )
    return found


def _match_originals(predictions: Predictions) -> tuple[Numbers, Numbers]:
    """Return the rows of paraphrases that have an original, behind those of their originals."""
    table = predictions.table
    codes = np.zeros(len(predictions), np.int64)
    for name in ("item", *(name for name in GROUPS if name in table.column_names)):
        column = table[name].cast(plain_type(table[name].type)).combine_chunks()
        own = column.dictionary_encode()
        codes = codes * len(own.dictionary) + np.asarray(own.indices, dtype=np.int64)
        codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
    is_original = find_originals(predictions)
    places = np.full(int(codes.max(initial=0)) + 1, -1, np.int64)
    rows = np.flatnonzero(is_original)
    places[codes[rows]] = rows
    paraphrases = np.flatnonzero(~is_original & (places[codes] >= 0))
    return places[codes[paraphrases]], paraphrases


def note_parts(
    answers: Sequence[ConsistencyAnswers], options: ConsistencyOptions
) -> tuple[ConsistencyAnswers, ...]:
    """Note in answers by what their items are parted."""
    found = []
    for own in answers:
        noted = own
        if options.partial_input is not None:
            noted = note_partial_input(own, options.partial_input, options.partial_name)
        if options.by_diversity:
            noted = note_diversity(
                noted,
                measures_of(options.by_diversity),
                n_groups=options.diversity_groups or DEFAULT_DIVERSITY_GROUPS,
                columns=options.answered_columns,
                n_threads=options.n_threads,
            )
        else:
            check_diversity(noted)
        found.append(noted)
    return tuple(found)


def measures_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return measures of diversity as columns are called: ``lexical_distance``."""
    return tuple(name.replace("-", "_") for name in names)
