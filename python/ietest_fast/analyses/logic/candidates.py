"""The questions of every rule: which sentences of labelled pairs stand for which letters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.asking import SuiteOptions
from ietest_fast.corpus.similarity import number_words
from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key, philox_uniforms
from ietest_fast.transform.numerical import Statements, follow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.analyses.logic.rules import How, Rule, Text
    from ietest_fast.corpus import Corpus
    from ietest_fast.lexicon import Tagger

    Numbers = NDArray[np.int64]
    Pairs = tuple[Numbers, Numbers]
    Mask = NDArray[np.bool_]

# What is asked of a classifier in the suite logic, and how its answers are measured.


_LEAST = {"draws": 1, "nearest": 0, "instances": 1, "seed": 0}


@dataclass(frozen=True, kw_only=True, eq=False)
class LogicOptions(SuiteOptions):
    """How candidates of rules are found, and what the score weighs."""

    draws: int = 1
    """Sentences of other sources that are drawn for each item; 1 or more."""
    nearest: int = 3
    """Sentences with the same words that are looked for, for each item; 0 or more."""
    instances: int = 10_000
    """Most candidates of a rule, 1 or more; of more, so many are drawn."""
    seed: int = 0
    """Of what is drawn, also by Monte Carlo methods; 0 or more."""
    weights: Mapping[str, float] | None = None
    """Of the score, as :func:`~ietest_fast.analyses.logic.rules.read_weights` gives them; None:
    those of the accuracy and of all rules alike."""
    renormalise: bool = False
    """Whether parts of the score that are not defined are left out."""

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name} must be a whole number of at least {least}, not {value}")

    @property
    def search(self) -> dict[str, int]:
        """How candidates are found, by name, as answers tell it."""
        return {name: getattr(self, name) for name in _LEAST}


# The sentences of labelled pairs, each once, and which of them come from the same source.


@dataclass(frozen=True, kw_only=True, eq=False)
class Items:
    """Labelled pairs of sentences by number."""

    sentences: pa.Array
    """Large strings (S,): the distinct premises and hypotheses."""
    premise: Numbers
    hypothesis: Numbers
    """int64 (n,): sentences of each row."""
    unit: Numbers
    """int64 (n,): the source of each row: those with one premise, or one cluster."""
    n_units: int
    """Number of sources."""

    @classmethod
    def of(cls, corpus: Corpus, *, clusters: str | None = None) -> Items:
        """Give the sentences of a corpus numbers."""
        if not corpus.is_pair:
            raise InputError(
                "rows have one text; the suite logic asks what follows from what, and needs a "
                "premise and a hypothesis (text_columns, --text-columns)",
                path=corpus.source,
            )
        sides = [corpus.texts(i).cast(pa.large_string()).combine_chunks() for i in (0, 1)]
        encoded = pa.concat_arrays(sides).dictionary_encode()
        premise, hypothesis = np.split(np.asarray(encoded.indices).astype(np.int64), 2)
        unit, n_units = _number_units(premise, None if clusters is None else corpus.table[clusters])
        return cls(
            sentences=encoded.dictionary,
            premise=premise,
            hypothesis=hypothesis,
            unit=unit,
            n_units=n_units,
        )

    def __len__(self) -> int:
        return len(self.premise)

    @cached_property
    def pairs(self) -> Numbers:
        """Rows of distinct pairs without a blank text, ascending, int64 (m,)."""
        keys = self.premise * len(self.sentences) + self.hypothesis
        rows = np.sort(np.unique(keys, return_index=True)[1])
        blank = np.asarray(
            pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(self.sentences)), 0), dtype=np.bool_
        )
        found: Numbers = rows[~(blank[self.premise[rows]] | blank[self.hypothesis[rows]])]
        return found

    @cached_property
    def sources(self) -> Any:
        """In which sources each sentence occurs: a sparse matrix of 0 and 1, (S, n_units)."""
        from scipy.sparse import csr_array

        sentence = np.concatenate([self.premise, self.hypothesis])
        keys = np.unique(sentence * self.n_units + np.tile(self.unit, 2))
        shape = len(self.sentences), self.n_units
        ones = np.ones(len(keys), np.int32)
        return csr_array((ones, (keys // self.n_units, keys % self.n_units)), shape=shape)

    def sources_of(self, parts: Numbers) -> Any:
        """Return the sources of several sentences together, a sparse matrix (k, n_units)."""
        found = self.sources[parts[:, 0]]
        for place in range(1, parts.shape[1]):
            found = found + self.sources[parts[:, place]]
        return found


def _number_units(premise: Numbers, clusters: pa.ChunkedArray | None) -> tuple[Numbers, int]:
    if clusters is None:
        labels = premise
    else:
        if pa.types.is_floating(clusters.type):  # as pandas has missing numbers
            clusters = pc.if_else(pc.is_nan(clusters), None, clusters)
        codes = clusters.cast("string").combine_chunks().dictionary_encode().indices
        known = np.asarray(pc.fill_null(codes, -1)).astype(np.int64)
        labels = np.where(known >= 0, known, known.max(initial=0) + 1 + premise)
    _, unit = np.unique(labels, return_inverse=True)
    return unit.astype(np.int64), int(unit.max(initial=-1)) + 1


# All texts that are asked about: sentences, and compounds of them, each once.


class Texts:
    """A list of different texts that grows; the sentences of labelled pairs come first."""

    def __init__(
        self, sentences: pa.Array, tagger: Tagger, *, n_threads: int | None = None
    ) -> None:
        self._sentences = sentences
        self._texts = sentences
        self._statements = Statements.of(sentences, tagger, n_threads=n_threads)

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def fit(self) -> Mask:
        """Which sentences can stand in compounds with *and*, *or* and *not*, bool (S,)."""
        return self._statements.fit

    def take(self, numbers: Numbers) -> pa.Array:
        """Return texts by their numbers, large strings (k,)."""
        return self._texts.take(pa.array(numbers))

    def compose(self, how: How, first: Numbers, second: Numbers) -> Numbers:
        """Return the numbers of compounds of pairs of sentences, int64 (k,), each written once."""
        n = len(self._sentences)
        keys, place = np.unique(first * n + second, return_inverse=True)
        one, other = keys // n, keys % n
        if how == "not":
            made = self._statements.deny(one)
        elif how in ("and", "or"):
            made = self._statements.join(how, one, other)
        else:
            made = follow(self.take(one), self.take(other))
        numbers: Numbers = self._add(made)[place]
        return numbers

    def _add(self, texts: pa.Array) -> Numbers:
        """Put texts on the list, unless they are there; return their numbers."""
        new = texts.filter(pc.invert(pc.is_in(texts, value_set=self._texts)))
        self._texts = pa.concat_arrays([self._texts, pc.unique(new)])
        numbers: Numbers = np.asarray(pc.index_in(texts, value_set=self._texts)).astype(np.int64)
        return numbers


# Sentences that share words with another, found by an index of words.

# Numbers that a block of similarities holds at once.
_BLOCK = 4_000_000


class WordIndex:
    """Which words each sentence has; rare words weigh more.

    A word weighs log(S / s), where s of the S sentences have it.
    """

    def __init__(self, sentences: pa.Array) -> None:
        from scipy.sparse import csr_array

        n = len(sentences)
        words, _ = number_words(sentences, pa.repeat(pa.scalar("", pa.large_string()), n))
        n_words = int(words.codes.max(initial=-1)) + 1
        row = np.repeat(np.arange(n), words.lengths)
        keys = np.unique(row * max(n_words, 1) + words.codes)
        row, word = np.divmod(keys, max(n_words, 1))
        weights = np.log(n / np.maximum(np.bincount(word, minlength=n_words), 1))
        shape = n, max(n_words, 1)
        self._has = csr_array((np.ones(len(keys)), (row, word)), shape=shape)
        self._weighed = csr_array((weights[word], (row, word)), shape=shape)
        self._total = np.bincount(row, weights=weights[word], minlength=n)

    def find(self, queries: Numbers, pool: Numbers, *, n_nearest: int, contained: bool) -> Pairs:
        """Find the sentences of a pool that share most with each query."""
        n_nearest = min(n_nearest, len(pool))
        if n_nearest == 0 or len(queries) == 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        theirs = self._has[pool].T.tocsc()
        total = self._total[pool]
        most = max(float(self._total.max(initial=0.0)), 1.0)
        places, found = [], []
        size = max(1, _BLOCK // len(pool))
        for start in range(0, len(queries), size):
            block = queries[start : start + size]
            shared = (self._weighed[block] @ theirs).toarray()
            whole = total if contained else total + self._total[block, None] - shared
            score = np.round(shared / np.maximum(whole, 1e-12), 6) + 1e-7 * shared / most
            score[block[:, None] == pool] = 0.0
            best = np.argpartition(-score, n_nearest - 1, axis=1)[:, :n_nearest]
            values = np.take_along_axis(score, best, axis=1)
            order = np.lexsort((best, -values), axis=1)
            best, values = (np.take_along_axis(each, order, axis=1) for each in (best, values))
            row, column = np.nonzero(values > 0)
            places.append(start + row)
            found.append(pool[best[row, column]])
        return np.concatenate(places), np.concatenate(found)


# Which sentences of labelled pairs stand together: drawn at random, or with the same words.

NO_STATEMENT = "a text is a question, a request, several sentences or a phrase without a verb"
NO_OTHER = "no sentence of another source was found"

# Streams of random numbers: of sentences, and of what is left out where there is too much.
_PREMISES, _HYPOTHESES = 0, 1
_PAIRS, _FIRSTS, _DENIED, _TOGETHER, _CONTAINED, _LIKE = range(8, 14)
# So many times a sentence of another source is drawn: of two sources with as many sentences, one
# item in a million gets none.
_TRIES = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Draft:
    """Items with what stands beside them, n of them."""

    row: Numbers
    """int64 (n,): items."""
    other: Numbers
    """int64 (n,): a sentence that each item gets; its own premise where it gets none."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Items that are not among them, by reason."""

    def __len__(self) -> int:
        return len(self.row)

    def keep(self, mask: Mask, reason: str | None) -> Draft:
        """Return those that are to be kept, and count the others, if there is a reason."""
        left_out, n_out = dict(self.left_out), int((~mask).sum())
        if n_out and reason is not None:
            left_out[reason] = left_out.get(reason, 0) + n_out
        return Draft(row=self.row[mask], other=self.other[mask], left_out=left_out)


class Drafts:
    """Puts sentences together.

    Random numbers are addressed by the seed, what is drawn, and the place of the item.
    """

    def __init__(self, items: Items, fit: Mask, options: LogicOptions) -> None:
        self._items = items
        self._fit = fit
        self._options = options
        self._key = philox_key(options.seed)

    @cached_property
    def pairs(self) -> Draft:
        """Items whose texts differ."""
        items = self._items
        row = items.pairs[items.premise[items.pairs] != items.hypothesis[items.pairs]]
        return self._limit(Draft(row=row, other=items.premise[row]), _PAIRS)

    @cached_property
    def premises(self) -> Draft:
        """The first item with each premise."""
        return self._first_with(self._items.premise)

    @cached_property
    def hypotheses(self) -> Draft:
        """The first item with each hypothesis."""
        return self._first_with(self._items.hypothesis)

    def _first_with(self, side: Numbers) -> Draft:
        rows = self._items.pairs
        row = rows[np.sort(np.unique(side[rows], return_index=True)[1])]
        return self._limit(Draft(row=row, other=side[row]), _FIRSTS)

    @cached_property
    def statements(self) -> Draft:
        """The first item with each sentence, and that, if it can stand in compounds."""
        rows, sides = self._items.pairs, (self._items.premise, self._items.hypothesis)
        other, first = np.unique(np.concatenate([side[rows] for side in sides]), return_index=True)
        draft = Draft(row=np.tile(rows, 2)[first], other=other)
        return self._limit(draft.keep(self._fit[other], NO_STATEMENT), _DENIED)

    @cached_property
    def with_premises(self) -> Draft:
        """Items, each with a premise of another source, or several."""
        return self._draw(self.pairs, self._items.premise, _PREMISES, draws=self._options.draws)

    @cached_property
    def with_hypotheses(self) -> Draft:
        """Items, each with a hypothesis of another source, or several."""
        return self._draw(
            self.pairs, self._items.hypothesis, _HYPOTHESES, draws=self._options.draws
        )

    @cached_property
    def two_premises(self) -> Draft:
        """The first item of each premise, with a premise of another source."""
        return self._draw(self.premises, self._items.premise, _PREMISES, draws=1)

    @cached_property
    def two_hypotheses(self) -> Draft:
        """Items, each with another hypothesis: of the same premise, or with the premise's words.

        Both can stand in compounds.
        """
        items = self._items
        near = self._near(items.premise, np.unique(items.hypothesis[items.pairs]), contained=True)
        both = _join(self._siblings(), near)
        # Two hypotheses are one pair, whichever is first.
        premise, one = items.premise[both.row], items.hypothesis[both.row]
        keys = np.stack([premise, np.minimum(one, both.other), np.maximum(one, both.other)])
        is_first = np.zeros(len(both), np.bool_)
        is_first[np.unique(keys, axis=1, return_index=True)[1]] = True
        both = both.keep(is_first & (one != both.other) & (both.other != premise), None)
        fit = self._fit[items.hypothesis[both.row]] & self._fit[both.other]
        return self._limit(both.keep(fit, NO_STATEMENT), _TOGETHER)

    @cached_property
    def with_contained(self) -> Draft:
        """Items, each with a sentence whose words are in the hypothesis, or several."""
        items = self._items
        rows = items.pairs
        pool = np.unique(np.concatenate([items.premise[rows], items.hypothesis[rows]]))
        near = self._near(items.hypothesis, pool, contained=True)
        return self._limit(near.keep(near.other != items.premise[near.row], None), _CONTAINED)

    @cached_property
    def with_like(self) -> Draft:
        """Items, each with a hypothesis of the same premise, or one like its own, or several."""
        items = self._items
        pool = np.unique(items.hypothesis[items.pairs])
        both = _join(self._siblings(), self._near(items.hypothesis, pool, contained=False))
        row, other = np.unique(np.stack([both.row, both.other]), axis=1)
        differs = (other != items.premise[row]) & (other != items.hypothesis[row])
        return self._limit(Draft(row=row, other=other).keep(differs, None), _LIKE)

    def _limit(self, draft: Draft, stream: int) -> Draft:
        """Draw some candidates where there are too many."""
        n, most = len(draft), self._options.instances
        if n <= most:
            return draft
        order = np.argsort(philox_uniforms(self._key, n, stream=stream), kind="stable")
        kept = np.zeros(n, np.bool_)
        kept[order[:most]] = True
        return draft.keep(kept, f"there are more than {most:,} candidates")

    def _draw(self, draft: Draft, side: Numbers, stream: int, *, draws: int) -> Draft:
        """Give each item a sentence of another source, several times.

        The sentences are the different ones of a side, all with the same probability.
        """
        pool = np.unique(side[self._items.pairs])
        drawn = np.full((draws, len(draft)), -1, np.int64)
        for number, other in enumerate(drawn):
            for attempt in range(_TRIES):
                short = np.flatnonzero(other < 0)
                if len(short) == 0:
                    break
                place = philox_uniforms(
                    self._key, len(self._items), stream=stream, replicate=number * _TRIES + attempt
                )[draft.row[short]]
                tried = pool[(place * len(pool)).astype(np.int64)]
                # None twice for one item.
                is_new = (drawn[:number, short] != tried).all(axis=0)
                is_new &= ~self._share_source(draft.row[short], tried)
                other[short[is_new]] = tried[is_new]
        found = Draft(
            row=np.tile(draft.row, draws), other=drawn.reshape(-1), left_out=draft.left_out
        )
        return found.keep(found.other >= 0, NO_OTHER)

    def _share_source(self, row: Numbers, sentence: Numbers) -> Mask:
        """Say which sentences come from the source of a row, too, bool (k,)."""
        found = self._items.sources[sentence, self._items.unit[row]]
        return np.asarray(found.toarray() if hasattr(found, "toarray") else found).reshape(-1) > 0

    @cached_property
    def _words(self) -> WordIndex:
        return WordIndex(self._items.sentences)

    def _near(self, side: Numbers, pool: Numbers, *, contained: bool) -> Draft:
        """Give each item sentences with the words of a side, looked for once for equal ones."""
        rows = self.pairs.row
        queries, place = np.unique(side[rows], return_inverse=True)
        at, found = self._words.find(
            queries, pool, n_nearest=self._options.nearest, contained=contained
        )
        counts = np.bincount(at, minlength=len(queries))
        # The sentences found for a query stand one after the other.
        start, own = (np.cumsum(counts) - counts)[place], counts[place]
        step = np.arange(int(own.sum())) - np.repeat(np.cumsum(own) - own, own)
        return Draft(row=np.repeat(rows, own), other=found[np.repeat(start, own) + step])

    def _siblings(self) -> Draft:
        """Give each item the next hypotheses of its premise; behind the last is the first."""
        items = self._items
        rows = items.pairs
        order = rows[np.argsort(items.premise[rows], kind="stable")]
        _, start, size = np.unique(items.premise[order], return_index=True, return_counts=True)
        first, n = np.repeat(start, size), np.repeat(size, size)
        place = np.arange(len(order)) - first
        found = Draft(row=np.empty(0, np.int64), other=np.empty(0, np.int64))
        for ahead in range(1, max(self._options.nearest, 1) + 1):
            there = n > ahead
            next_row = order[(first + (place + ahead) % n)[there]]
            found = _join(found, Draft(row=order[there], other=items.hypothesis[next_row]))
        return found


def _join(one: Draft, other: Draft) -> Draft:
    return Draft(
        row=np.concatenate([one.row, other.row]), other=np.concatenate([one.other, other.other])
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Candidates of a rule, n of them, by the numbers of their texts."""

    row: Numbers
    """int64 (n,): the item that each is made of, and whose source counts."""
    antecedents: tuple[Pairs, ...]
    consequents: tuple[Pairs, ...]
    """Premises and hypotheses of each question, int64 (n,) each."""
    premise_parts: Numbers
    hypothesis_parts: Numbers
    """int64 (n, a) and (n, b): the sentences that the consequents' premises and hypotheses are made
    of."""
    left_out: Mapping[str, int]
    """What is not among them, by reason."""

    def __len__(self) -> int:
        return len(self.row)


# Which items a rule is asked of, by a property of Drafts.
_DRAFTS = {
    "reflexive-premise": "premises",
    "reflexive-hypothesis": "hypotheses",
    "symmetric-contradiction": "pairs",
    "symmetric-neutral": "pairs",
    "anti-symmetric": "pairs",
    "monotonic-entailment": "with_premises",
    "monotonic-contradiction": "with_premises",
    "explosion": "with_hypotheses",
    "inclusion": "two_premises",
    "consistency": "pairs",
    "negation": "statements",
    "entailed-contradiction": "with_like",
    "and-intro": "two_hypotheses",
    "and-elim": "two_hypotheses",
    "and-elim-premise": "two_premises",
    "or-intro": "with_hypotheses",
    "contraposition": "pairs",
    "transitivity": "with_contained",
}


class Finder:
    """Finds the candidates of every rule."""

    def __init__(self, items: Items, texts: Texts, options: LogicOptions) -> None:
        self._items = items
        self._texts = texts
        self._drafts = Drafts(items, texts.fit, options)

    def find(self, rule: Rule) -> Candidates:
        """Find the candidates of a rule."""
        texts = list(dict.fromkeys(text for asked in rule.when + rule.then for text in asked[:2]))
        draft: Draft = getattr(self._drafts, _DRAFTS[rule.name])
        draft = self._keep_fit(draft, texts)
        sentences = self._sentences(draft)
        made = {text: self._write(text, sentences) for text in texts}

        def stack(texts: Sequence[Text]) -> Numbers:
            letters = dict.fromkeys("".join(text.letters for text in texts))
            return np.stack([sentences[each] for each in letters], axis=1)

        return Candidates(
            row=draft.row,
            antecedents=tuple((made[each.premise], made[each.hypothesis]) for each in rule.when),
            consequents=tuple((made[each.premise], made[each.hypothesis]) for each in rule.then),
            premise_parts=stack([each.premise for each in rule.then]),
            hypothesis_parts=stack([each.hypothesis for each in rule.then]),
            left_out=draft.left_out,
        )

    def _sentences(self, draft: Draft) -> dict[str, Numbers]:
        premise, hypothesis = self._items.premise[draft.row], self._items.hypothesis[draft.row]
        return {"P": premise, "H": hypothesis, "Q": draft.other}

    def _keep_fit(self, draft: Draft, texts: Sequence[Text]) -> Draft:
        """Keep items whose sentences can stand in the compounds that are made of them."""
        joined = {
            each for text in texts if text.how in ("and", "or", "not") for each in text.letters
        }
        if not joined:
            return draft
        sentences = self._sentences(draft)
        are_fit = [self._texts.fit[sentences[each]] for each in joined]
        return draft.keep(np.logical_and.reduce(are_fit), NO_STATEMENT)

    def _write(self, text: Text, sentences: Mapping[str, Numbers]) -> Numbers:
        first, second = sentences[text.letters[0]], sentences[text.letters[-1]]
        return first if text.how == "alone" else self._texts.compose(text.how, first, second)


# Control questions: what a rule asks, of sentences of which it must not be said.

# A stream of random numbers for each rule, behind those of candidates.
_STREAM = 64
# So many turns of the circle are tried, and so many instances exchanged one by one.
_TURNS = 32
_MOST_REPAIRED = 1000


def exchange(
    items: Items, found: Candidates, applicable: Numbers, *, seed: int, number: int
) -> tuple[Numbers, Mask]:
    """Give each applicable instance the hypotheses of another, of another source.

    Every instance gets those of one other, and gives its own to one other. So a classifier that
    looks at premises alone, or at hypotheses alone, says the same as often as of the instances.
    """
    n = len(applicable)
    if n < 2:
        return applicable, np.zeros(n, np.bool_)
    theirs = items.sources_of(found.hypothesis_parts[applicable])
    own = items.sources_of(found.premise_parts[applicable]) + theirs
    # Instances of one source beside each other, sources in random order.
    place = philox_uniforms(philox_key(seed), items.n_units, stream=_STREAM + number)
    unit = items.unit[found.row[applicable]]
    circle = np.lexsort((np.arange(n), unit, place[unit]))
    largest = int(np.bincount(unit).max())
    # To begin with, everybody keeps what is his, which is related.
    best, fewest = np.arange(n), _are_related(own, theirs)
    for turn in _turns(n, largest, seed, number):
        given = np.empty(n, np.int64)
        given[circle] = np.roll(circle, -turn)
        related = _are_related(own, theirs[given])
        if related.sum() < fewest.sum():
            best, fewest = given, related
        if not fewest.any():
            break
    _repair(best, fewest, own, theirs)
    return applicable[best], ~fewest


def borrow(
    items: Items,
    found: Candidates,
    applicable: Numbers,
    contrary: Numbers,
    *,
    seed: int,
    number: int,
) -> tuple[Numbers, Mask]:
    """Give each applicable instance the premise of a contrary one, in turns."""
    n = len(applicable)
    if n == 0 or len(contrary) == 0:
        return applicable, np.zeros(n, np.bool_)
    place = philox_uniforms(philox_key(seed), len(contrary), stream=_STREAM + number)
    chosen = contrary[np.argsort(place, kind="stable")][np.arange(n) % len(contrary)]
    related = _are_related(
        items.sources_of(found.premise_parts[chosen]),
        items.sources_of(found.hypothesis_parts[applicable]),
    )
    return chosen, ~related


def _turns(n: int, largest: int, seed: int, number: int) -> Numbers:
    """Return how far to turn a circle of n: beyond the largest source, if there is so much."""
    low, high = (largest, n - largest) if 2 * largest <= n else (1, n - 1)
    drawn = philox_uniforms(philox_key(seed), _TURNS, stream=_STREAM + number, replicate=1)
    return low + (drawn * (high - low + 1)).astype(np.int64)


def _are_related(one: Any, other: Any) -> Mask:
    """Say in which rows two sparse matrices have an entry in common, bool (n,)."""
    common = one.multiply(other)
    return np.asarray(common.sum(axis=1)).reshape(-1) > 0


def _repair(given: Numbers, related: Mask, own: Any, theirs: Any) -> None:
    """Exchange what related instances have got with others, where that helps both, in place."""
    for place in np.flatnonzero(related)[:_MOST_REPAIRED]:
        if not related[place]:
            continue
        # What the others have got, for this one; and what this one has got, for the others.
        for_this = (theirs[given] @ own[[place]].T).toarray().reshape(-1) == 0
        for_others = (own @ theirs[[given[place]]].T).toarray().reshape(-1) == 0
        fits = np.flatnonzero(for_this & for_others & ~related)
        if len(fits):
            other = fits[0]
            given[[place, other]] = given[[other, place]]
            related[place] = False
