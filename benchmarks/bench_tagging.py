"""Noun tagging of a corpus, beside ``nlp(sentence)`` in a loop with the full en_core_web_sm."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from benchmarks.timing import Comparison, seconds
from ietest_fast.lexicon import Tagger

if TYPE_CHECKING:
    from collections.abc import Callable

PEER = "nlp(sentence) in a loop, full en_core_web_sm"
# The loop takes minutes for the whole corpus: it is timed on texts drawn from it.
N_FOR_PEER = 1500
ROUNDS = 3


def read_texts() -> tuple[pa.ChunkedArray, str]:
    """Give all texts, premises and hypotheses, repeats included, and where they are from."""
    import pyarrow.parquet as pq

    beside = Path(__file__).resolve().parents[2] / "shared"
    path = Path(os.environ.get("IETEST_SHARED", beside)) / "data" / "snli" / "train.parquet"
    if path.exists():
        table, source = pq.read_table(path), "the SNLI slice"
    else:
        from ietest_fast.corpus import demo_corpus

        table, source = demo_corpus(30_000).table, "the demonstration corpus"
    columns = [table[name].cast(pa.large_string()) for name in ("premise", "hypothesis")]
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks]), source


def _count_nouns(nlp: Callable[[str], Any], texts: list[str]) -> int:
    return sum(token.pos_ == "NOUN" for text in texts for token in nlp(text))


def measure() -> list[Comparison]:
    """Time a text of the corpus, as a share of the whole corpus, in turns with the peer."""
    import spacy

    texts, source = read_texts()
    plain = texts.to_pylist()
    draw = np.random.default_rng(0).choice(len(plain), N_FOR_PEER, replace=False)
    sample = [plain[i] for i in draw]
    small = Tagger.load("en_core_web_sm")
    full = spacy.load(small.folder)
    packaged = Tagger.load()
    _count_nouns(full, sample[:200])
    peer: list[float] = []
    ours: dict[tuple[str, int], list[float]] = {}
    lines = [("packaged", packaged, 2, 20), ("packaged", packaged, 1, None)]
    lines += [("en_core_web_sm", small, 2, None)]
    for _ in range(ROUNDS):
        for name, tagger, n_process, _goal in lines:
            peer.append(seconds(lambda: _count_nouns(full, sample)) / len(sample))
            # Helpers are started anew: a run that tags once pays for them.
            tagger.close()
            spent = seconds(partial(tagger.tag, texts, n_process=n_process))
            ours.setdefault((name, n_process), []).append(spent / len(plain))
    packaged.close()
    small.close()
    return [
        Comparison(
            path=f"a text's nouns, {name} tagger, on {n_process} core(s)",
            ours_seconds=float(np.median(ours[name, n_process])),
            peer=PEER,
            peer_seconds=float(np.median(peer)),
            goal=goal,
            note=f"{source}, {len(plain)} texts; the peer on {N_FOR_PEER} of them",
        )
        for name, _tagger, n_process, goal in lines
    ]
