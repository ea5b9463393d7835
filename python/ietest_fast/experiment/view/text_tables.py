"""Tables of what a run's texts show: what was reworded in them, and what goes with flips."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.description import count_words, find_incidence
from ietest_fast.errors import InputError
from ietest_fast.experiment.view.result_tables import lay_out
from ietest_fast.report.contents import Reading, compress
from ietest_fast.report.tables import Column, MeanSd, Table
from ietest_fast.stats.flips import LEAST_ROWS, rank_edits
from ietest_fast.transform import COMPANION_RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.experiment.finished import FinishedRun, Versions

# Pairs that a model gets right before the transformation and wrong after it (Tables 17 and 18).


@dataclass(frozen=True)
class Quantifier:
    """For which of a model's classifiers an observation has to be lost."""

    over_m: Literal["every", "any", "first"]
    over_rho: Literal["every", "any"]
    """Which resamples, and at which rho."""
    title: str
    """In words."""

    @property
    def name(self) -> str:
        """For ``ietest-fast report --hard-cases``."""
        return f"{self.over_m}-m-{self.over_rho}-rho"

    def apply(self, lost: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Reduce bool of shape (n, n_rho, M) to shape (n,)."""
        own = lost[:, :, :1] if self.over_m == "first" else lost
        over_m, over_rho = (
            np.logical_or if which == "any" else np.logical_and
            for which in (self.over_m, self.over_rho)
        )
        found: NDArray[np.bool_] = over_rho.reduce(over_m.reduce(own, axis=2), axis=1)
        return found


_PUBLISHED = "in the first resample at some ρ (the published 249 and 531 cases)"

QUANTIFIERS = {
    each.name: each
    for each in (
        Quantifier("every", "every", "in every resample at every ρ"),
        Quantifier("every", "any", "in every resample at some ρ"),
        Quantifier("any", "every", "in some resample at every ρ"),
        Quantifier("any", "any", "in some resample at some ρ"),
        Quantifier("first", "every", "in the first resample at every ρ"),
        Quantifier("first", "any", _PUBLISHED),
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
            {"name": run.name, "rho": [rho.rho for rho in run.rhos], "m": run.n_classifiers}
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


N_FREQUENT = 20
"""How many substitutions are shown, as in the paper's Figure 8."""


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
    return lay_out(
        "extent",
        "How much was changed",
        ((name, rows) for name, rows in _by_label(versions) if rows.any()),
        {
            Column("label"): lambda name, _: name,
            Column("observations", "count"): lambda _, rows: int(rows.sum()),
            Column("changed %", "percent"): lambda _, rows: float(versions.changed[rows].mean()),
            Column("reworded %", "percent"): lambda _, rows: float((n_words[rows] > 0).mean()),
            Column("substitutions each", "number"): lambda _, rows: _mean_sd(n_words[rows]),
            Column("most", "count"): lambda _, rows: int(n_words[rows].max()),
        },
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
    See :func:`~ietest_fast.stats.flips.rank_edits`.
    """
    flips = 2 * count_flips(answers) > answers.shape[1] * answers.shape[2]
    nothing = np.zeros_like(flips)
    effects = rank_edits(
        found.names,
        found.name,
        found.row,
        reworded=found.n_by_row > 0,
        flipped=flips,
        lost=nothing,
        won=nothing,
    )
    rows = []
    for each in effects.effects[:n_shown]:
        others = effects.n - each.n
        rows.append(
            (
                each.edit,
                each.n,
                each.n_flipped,
                each.n_flipped / each.n,
                (effects.n_flipped - each.n_flipped) / others if others else None,
                each.p_value,
                each.q_value,
            )
        )
    n_tested = len(effects.effects)
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
            Column("q", "p"),
        ),
        rows=tuple(rows),
        note=(
            f"{effects.n_flipped:,} of {effects.n:,} reworded rows flip: more than half of the "
            f"classifiers answer the two versions differently. {n_tested:,} substitutions in at "
            f"least {LEAST_ROWS} rows were tested (Fisher's exact test, one-sided; q bounds false "
            f"discoveries); those of the {min(n_shown, n_tested)} smallest p are shown."
        ),
    )


# Words that go with a label in the training set, and how often they stand in a test set.

SMOOTHING = 100
"""Added to the count of every word with every label, as Gururangan et al. (2018) do."""

N_WORDS = 10
"""Words for each label, as in that paper."""


@dataclass(frozen=True, kw_only=True)
class LabelWord:
    """A word that goes with a label."""

    label: int
    """Its number."""
    word: str
    """Lower-cased."""
    pmi: float
    """Pointwise mutual information of word and label, in bits."""
    share: float
    """Share of the label's training observations that have the word."""


def find_label_words(train: Corpus, *, n_words: int = N_WORDS) -> list[LabelWord]:
    """Find the words most associated with each label in a training set.

    PMI(w, l) = log2(p(w, l) / (p(w) p(l))), each word counted once an observation and every count
    raised by ``SMOOTHING`` (Gururangan et al. 2018, section 3).
    """
    texts = train.table.column(train.text_columns[-1])
    n_labels = len(train.label_names)
    vocabulary, counts, sizes = _count_by_label(texts, train.labels, n_labels)
    smooth = counts + float(SMOOTHING)
    joint = smooth / smooth.sum()
    pmi = np.log2(joint / joint.sum(axis=0) / joint.sum(axis=1, keepdims=True))
    words, n_found = vocabulary.to_pylist(), len(vocabulary)
    best = []
    for label in range(n_labels):
        order = sorted(range(n_found), key=lambda word, own=label: (-pmi[own, word], words[word]))  # type: ignore[misc]
        best += [
            LabelWord(
                label=label,
                word=words[word],
                pmi=float(pmi[label, word]),
                share=float(counts[label, word] / sizes[label]),
            )
            for word in order[:n_words]
        ]
    return best


def _count_by_label(
    texts: pa.ChunkedArray, labels: NDArray[np.int8], n_labels: int
) -> tuple[pa.Array, NDArray[np.int64], NDArray[np.int64]]:
    """Return the words, the texts of each label (rows) that have each, and the texts of each."""
    found = find_incidence(texts)
    shape = n_labels, len(found.words)
    own = labels.astype(np.int64)
    counts = np.bincount(own[found.row] * shape[1] + found.word, minlength=shape[0] * shape[1])
    return (
        found.words,
        counts.reshape(shape),
        np.maximum(np.bincount(own, minlength=n_labels), 1),
    )


def label_word_table(words: list[LabelWord], versions: Versions) -> Table:
    """Say how often label words stand in a test set, before and after (Table 15).

    Shares are of the observations that have the word's label.
    """
    column = versions.columns[-1]
    before, after = (
        _shares(words, table.column(column), versions)
        for table in (versions.original, versions.transformed)
    )
    rows = tuple(
        (versions.label_names[word.label], word.word, word.pmi, word.share, old, new, new - old)
        for word, old, new in zip(words, before, after, strict=True)
    )
    return Table(
        name="label-words",
        title="Words that go with a label in the training set, and their frequency in the test set",
        columns=(
            Column("label"),
            Column("word"),
            Column("PMI (bits)", "number"),
            Column("training set %", "percent", 1),
            Column("original %", "percent", 1),
            Column("transformed %", "percent", 1),
            Column("change (points)", "points", 1),
        ),
        rows=rows,
        note=(
            f"Words of the {column}. PMI with {SMOOTHING} added to every count (Gururangan et al. "
            "2018). Frequencies are shares of the label's observations."
        ),
    )


def _shares(words: list[LabelWord], texts: pa.ChunkedArray, versions: Versions) -> list[float]:
    known, counts, sizes = _count_by_label(texts, versions.gold, len(versions.label_names))
    place = {word: number for number, word in enumerate(known.to_pylist())}
    return [
        float(counts[word.label, place[word.word]] / sizes[word.label])
        if word.word in place
        else 0.0
        for word in words
    ]
