"""Noun tagging of a corpus, beside ``nlp(sentence)`` in a loop with the full en_core_web_sm."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.ratios import count
from ietest_fast.lexicon import Tagger

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.conftest import Race

PEER = "nlp(sentence) in a loop, full en_core_web_sm"
# The loop takes minutes for the whole corpus: it is timed on texts drawn from it.
N_FOR_PEER = 1500


def read_texts(quick: bool) -> tuple[pa.ChunkedArray, str]:
    """Give all texts, premises and hypotheses, repeats included, and where they are from."""
    import pyarrow.parquet as pq

    beside = Path(__file__).resolve().parents[2] / "shared"
    path = Path(os.environ.get("IETEST_SHARED", beside)) / "data" / "snli" / "train.parquet"
    if path.exists() and not quick:
        table, source = pq.read_table(path), "the SNLI slice"
    else:
        from ietest_fast.corpus import demo_corpus

        table, source = demo_corpus(100 if quick else 30_000).table, "the demonstration corpus"
    columns = [table[name].cast(pa.large_string()) for name in ("premise", "hypothesis")]
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks]), source


def _count_nouns(nlp: Callable[[str], Any], texts: list[str]) -> int:
    return sum(token.pos_ == "NOUN" for text in texts for token in nlp(text))


GROUP = pytest.mark.benchmark(group="a text's nouns")


@GROUP
@pytest.mark.parametrize(
    ("name", "n_process"), [(None, 2), (None, 1), ("en_core_web_sm", 2)], ids=str
)
def test_tagger(race: Race, name: str | None, n_process: int) -> None:
    texts, source = read_texts(race.quick)
    tagger = Tagger.load() if name is None else Tagger.load(name)

    def tag() -> None:
        # Helpers are started anew: a run that tags once pays for them.
        tagger.close()
        tagger.tag(texts, n_process=n_process)

    race.ours(
        f"{name or 'packaged'} tagger, {count(n_process, 'core')}",
        tag,
        units=len(texts),
        rounds=3,
        note=f"{source}, {len(texts):,} texts",
    )
    tagger.close()


@GROUP
def test_loop(race: Race) -> None:
    import spacy

    texts, _ = read_texts(race.quick)
    plain = texts.to_pylist()
    n = race.scale(N_FOR_PEER, 20)
    sample = [plain[i] for i in np.random.default_rng(0).choice(len(plain), n, replace=False)]
    nlp = spacy.load(Tagger.load("en_core_web_sm").folder)
    race.peer(
        PEER,
        lambda: _count_nouns(nlp, sample),
        units=n,
        rounds=3,
        at_least=20,
        note=f"the peer on {n:,} of them",
    )
