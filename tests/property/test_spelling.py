"""Noise against its slow definition."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from ietest_fast._core import text as core
from ietest_fast.transform.spelling import KEYBOARDS, find_neighbours
from reference.spelling import Noise, misspell

WORDS = st.sampled_from(
    [
        *("the", "The", "THE", "form", "from", "Frm", "don't", "a", "I", "aa", "AaA", "x2y", "a_b"),
        *(
            "\xe9t\xe9",
            "\xc9t\xe9",
            "\xdcber",
            "cafe\u0301",
            "\u043c\u0438\u0440",
            "e.g",
            "3.14",
            "qp",
            "zz",
        ),
    ]
)
GAPS = st.sampled_from([" ", " ", " ", ", ", ". ", "-", "  ", "\n", "\u00a0", "!", '"'])
TEXTS = st.lists(st.tuples(WORDS, GAPS), max_size=5).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)
KNOWN = frozenset(["form", "from", "het", "frm", "thr", "aa"])
LISTED = frozenset(["the", "from", "don't", "a"])


def _strings(words):
    return pa.array(list(words), pa.large_string())


@given(
    texts=st.lists(st.one_of(st.none(), TEXTS), max_size=4),
    n_words=st.integers(1, 3),
    ways=st.sampled_from([(True, True), (True, False), (False, True)]),
    with_known=st.booleans(),
    only_listed=st.sampled_from([None, True, False]),
    min_letters=st.integers(1, 4),
    between_blanks=st.booleans(),
    keyboard=st.sampled_from(sorted(KEYBOARDS)),
    key=st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)),
    n_threads=st.sampled_from([1, 2, 3, 7]),
)
@example(  # "AaS" is "aa" with an ending
    texts=["AaA"],
    n_words=1,
    ways=(False, True),
    with_known=True,
    only_listed=None,
    min_letters=1,
    between_blanks=False,
    keyboard="qwerty",
    key=(1, 0),
    n_threads=1,
)
def test_words_are_misspelt_as_defined(  # noqa: PLR0917 - Hypothesis gives them by name
    texts,
    n_words,
    ways,
    with_known,
    only_listed,
    min_letters,
    between_blanks,
    keyboard,
    key,
    n_threads,
):
    how = Noise(
        neighbours=find_neighbours(keyboard),
        key=key,
        known=KNOWN if with_known else frozenset(),
        listed=LISTED,
        only_listed=only_listed,
        n_words=n_words,
        swaps=ways[0],
        keys=ways[1],
        min_letters=min_letters,
        between_blanks=between_blanks,
    )
    made = core.Misspelling(
        _strings(how.neighbours),
        _strings(how.neighbours.values()),
        known=_strings(how.known),
        listed=_strings(how.listed),
        key=key,
        n_words=n_words,
        swaps=how.swaps,
        with_neighbours=how.keys,
        only_listed=only_listed,
        min_letters=min_letters,
        between_blanks=between_blanks,
    )
    column = pa.array(["x", *texts], pa.string()).slice(1)
    strings, changed, n_changed, _ = made.misspell(column, n_threads=n_threads)
    expected = [None if text is None else misspell(text, how) for text in texts]
    assert pa.array(strings).to_pylist() == expected
    differs = [a != b for a, b in zip(texts, expected, strict=True)]
    np.testing.assert_array_equal(changed, differs)  # never a no-op
    assert n_changed == sum(differs)
