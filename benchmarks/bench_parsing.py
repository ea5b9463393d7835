"""Dependency trees of a corpus, beside ``nlp(sentence)`` in a loop with the full en_core_web_sm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmarks.bench_tagging import PEER, read_texts
from benchmarks.ratios import count
from ietest_fast.lexicon.annotator import Parser

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.conftest import Race

# The loop takes minutes for the whole corpus: it is timed on texts drawn from it.
N_FOR_PEER = 1500

GROUP = pytest.mark.benchmark(group="a text's tree")


def _count_objects(nlp: Callable[[str], Any], texts: list[str]) -> int:
    return sum(token.dep_ == "dobj" for text in texts for token in nlp(text))


@GROUP
@pytest.mark.parametrize(
    ("name", "n_process"), [(None, 2), (None, 1), ("en_core_web_sm", 2)], ids=str
)
def test_parser(race: Race, name: str | None, n_process: int) -> None:
    texts, source = read_texts(race.quick)
    parser = Parser.load(name)

    def parse() -> None:
        # Helpers are started anew: a run that parses once pays for them.
        parser.close()
        parser.parse(texts, n_process=n_process)

    race.ours(
        f"{name or 'packaged'} parser, {count(n_process, 'core')}",
        parse,
        units=len(texts),
        rounds=3,
        note=f"{source}, {len(texts):,} texts",
    )
    parser.close()


@GROUP
def test_loop(race: Race) -> None:
    import spacy

    texts, _ = read_texts(race.quick)
    plain = texts.to_pylist()
    n = race.scale(N_FOR_PEER, 20)
    sample = [plain[i] for i in np.random.default_rng(0).choice(len(plain), n, replace=False)]
    nlp = spacy.load(Parser.load("en_core_web_sm").folder)
    race.peer(
        PEER,
        lambda: _count_objects(nlp, sample),
        units=n,
        rounds=3,
        at_least=20,
        note=f"the peer on {n:,} of them",
    )
