"""Distraction against its slow definition, on texts made to be awkward."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ietest_fast.transform.spelling import Distraction
from reference.distraction import insert_as_published, insert_careful
from reference.substitution import make_edits

PIECES = st.sampled_from(
    [
        *("a", "I", "etc", "U.S", "p.m", "Dr", "x.y", "..a", "é", "\U0001f600", "word", "1.5", '"'),
        *(".", ".", "!", "?", "...", "\u2026", "\u3002", "\uff1f", ")", "\u201d", ",", "\u0301"),
        *(" ", " ", "\n", "\t", "\u00a0", "\u3000", "\x1c", "\x0b", "\u2028"),
    ]
)
TEXTS = st.one_of(
    st.none(), st.lists(PIECES, max_size=8).map("".join), st.text(max_size=12), st.just("")
)
ORACLES = {
    "careful": insert_careful,
    "paper": lambda text, phrase: insert_as_published(text, " " + phrase),
}


@pytest.mark.parametrize("rules", ["careful", "paper"])
@example(texts=["ETC\n."], is_large=False, n_threads=1)
@given(
    texts=st.lists(TEXTS, max_size=6),
    is_large=st.booleans(),
    n_threads=st.sampled_from([1, 2, 3, 7]),
)
def test_a_phrase_goes_where_the_definition_puts_it(rules, texts, is_large, n_threads):
    phi = Distraction(test="t", tautology="and so on", rules=rules)
    kind = pa.large_string() if is_large else pa.string()
    table = pa.table({"t": pa.array(["x", *texts], kind).slice(1)})
    made = phi.transform(table, ["t"], n_threads=n_threads)
    expected = [None if text is None else ORACLES[rules](text, "and so on") for text in texts]
    assert made.table["t"].to_pylist() == expected
    assert made.undo()["t"].to_pylist() == texts
    np.testing.assert_array_equal(
        made.changed, [a != b for a, b in zip(texts, expected, strict=True)]
    )
    by_row: dict[int, list] = {}
    for edit in made.edits.to_pylist():
        by_row.setdefault(edit["row"], []).append(
            (edit["start"], edit["end"], edit["old"], edit["new"])
        )
    for row, text in enumerate(texts):
        if text is not None:
            assert make_edits(text, by_row.get(row, [])) == expected[row]
    without = phi.transform(table, ["t"], with_edits=False, n_threads=n_threads)
    assert without.table.equals(made.table)
    assert without.edits is None


@given(st.lists(PIECES, max_size=8).map("".join))
def test_careful_loses_nothing(text):
    (new,) = Distraction(test="t", tautology="and so on").transform([text], ["text"]).table
    pieces = [" and so on", " and so on."]
    assert new == text or text in [new.replace(piece, "", 1) for piece in pieces]
