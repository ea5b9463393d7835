"""Substitution by tagged words against its slow definition."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast._core import text as core
from ietest_fast.errors import InputError
from ietest_fast.lexicon import UPOS, TaggedWord, TaggedWords
from ietest_fast.lexicon.reviewed import read_conditions
from ietest_fast.transform.edits import RULES
from reference.substitution import make_edits
from reference.tagged import Entry, Token, replace_row

# A bound group of two forms, two that would put the same word there, phrases, conditions.
BOUND = [
    Entry("boy", "lad", 1, 0, is_bound=True),
    Entry("boys", "lads", 2, 0, is_bound=True),
    Entry("guy", "lad", 1, 1, is_bound=True),
    Entry("eel", "sea snake", 1, 2, is_bound=True),
    Entry("ice cream", "sorbet", 1, 3, is_bound=True),
    Entry("ice", "frost", 0, 4, is_bound=True),
    Entry("t-shirt", "apple", 1, 5, is_bound=True),
    Entry("hour", "moment", 1, 6, is_bound=True),
    Entry("moment", "hour", 1, 7, is_bound=True),
]
FREE = [
    Entry("runs", "jogs", 0, 8, "VERB", tests=((1, False, ("END", "PUNCT", "ice")),)),
    Entry("run", "jog", 0, 8, "VERB", tests=((-1, True, ("the", "NOUN")),)),
    Entry("run", "jogging", 1, 8, "NOUN", tests=((-1, False, ("boy", "a")),)),
    Entry("run", "sprint", 0, 9, "NOUN", tests=((-2, False, ("a", "END")),)),
    Entry("big", "large", 0, 10, "ADJ", tests=((1, False, ("boy", "NOUN")), (2, True, ("big",)))),
    Entry("ladies", "women", 2, 11),
    Entry("men", "guys", 2, 12),
    Entry("lord", "lad", 0, 13),
]
ENTRIES = [*BOUND, *FREE]
PHRASES = {"ice boy", "big run", "boy and men", "hour run", "the boy and", "the run and big"}
WORDS = st.sampled_from(
    [
        *("a", "an", "A", "An", "AN", "boy", "Boy", "BOY", "boys", "Boys", "eel", "Eel", "EEL"),
        *("ice", "Ice", "cream", "Cream", "CREAM", "hour", "HOUR", "guy", "lad", "lads", "sea"),
        *("snake", "moment", "t-shirt", "T-Shirt", "x-boy", "boy's", "boys'", "men's", "ladies'"),
        *("ladies", "men", "l'eel", "run", "runs", "Run", "big", "Big", "frost", "large", "jogs"),
        *("jogging", "sprint", "and", "the", '"boy"', "\u201crun\u201d", "lord"),
    ]
)
GAPS = st.sampled_from(
    [
        *(" ", " ", " ", " ", " ", " ", "  ", "\n", "\u00a0", " \u2003", ", ", ". ", "?! ", ": "),
        *(" (", ' "', '" ', '," ', " \u00ab", "\u00bb ", "-", "\u2013", "/", " '", " #", "\u2026 "),
    ]
)
POS = st.sampled_from(["NOUN", "NOUN", "VERB", "ADJ", "PROPN", "DET"])
TOKEN = re.compile("'s|[A-Za-z]+|[^A-Za-z\\s]")


@st.composite
def tagged_texts(draw):
    parts = draw(st.lists(st.tuples(WORDS, GAPS), max_size=8))
    text = "".join(word + gap for word, gap in parts)
    tokens: list[Token] = []
    for match in TOKEN.finditer(text):
        # Now and then a tagger's tokens are not ours.
        if tokens and draw(st.integers(0, 19)) == 0 and tokens[-1].end == match.start():
            last = tokens.pop()
            tokens.append(Token(last.start, match.end(), last.pos, last.number))
        else:
            pos = draw(POS) if match.group().isalpha() else "PUNCT"
            number = draw(st.sampled_from([0, 1, 1, 2]))
            tokens.append(Token(match.start(), match.end(), pos, number))
    return text, tokens


def _core_tokens(rows):
    tokens = [
        (len(text[: t.start].encode()), len(text[: t.end].encode()), UPOS.index(t.pos), t.number)
        for text, row in rows
        for t in row
    ]
    columns = list(zip(*tokens, strict=True)) or [(), (), (), ()]
    kinds = (np.int32, np.int32, np.uint8, np.int8)
    return (
        np.cumsum([0] + [len(row) for _, row in rows], dtype=np.int64),
        *(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)),
    )


def _written(entry: Entry) -> str:
    places = {-2: "prev2", -1: "prev", 1: "next", 2: "next2"}
    return ";".join(
        f"{places[at]}{'!' if negated else ''}={'|'.join(words)}"
        for at, negated, words in entry.tests
    )


def _table(entries=ENTRIES, phrases=PHRASES):
    words = TaggedWords(
        entries=tuple(
            TaggedWord(
                e.key, e.pos, e.number, e.value, _written(e), f"{e.group}", "reviewed", e.is_bound
            )
            for e in entries
        ),
        phrases=tuple(sorted(phrases)),
    )
    return core.TaggedTable(**words.columns(RULES))


TAGS = tuple(UPOS.index(name) for name in ("NOUN", "PROPN"))


@given(rows=st.lists(st.tuples(tagged_texts(), tagged_texts()), max_size=6))
def test_it_equals_its_slow_definition(rows):
    columns = list(zip(*rows, strict=True)) if rows else [(), ()]
    parts, changed, n_changed = _table().replace_tagged(
        [pa.array([text for text, _ in column], pa.string()) for column in columns],
        [_core_tokens(column) for column in columns],
        tags=TAGS,
        with_edits=True,
    )
    new = [pa.array(part[0]).to_pylist() for part in parts]
    expected = [
        replace_row([t for t, _ in row], [k for _, k in row], ENTRIES, core.takes_an, PHRASES)
        for row in rows
    ]
    assert list(map(list, zip(*new, strict=True))) == expected
    assert changed.tolist() == [
        any(a != t for a, (t, _) in zip(after, row, strict=True))
        for after, row in zip(expected, rows, strict=True)
    ]
    assert n_changed == changed.sum()
    for column, part, after in zip(columns, parts, new, strict=True):
        if part[2] == 0:
            continue
        edits: dict[int, list[tuple[int, int, str, str]]] = {}
        for edit in pa.Table.from_struct_array(pa.array(part[3])).to_pylist():
            edits.setdefault(edit["row"], []).append(
                tuple(edit[name] for name in ("start", "end", "old", "new"))
            )
        assert [make_edits(t, edits.get(i, [])) for i, (t, _) in enumerate(column)] == after


@given(row=st.tuples(tagged_texts(), tagged_texts()))
def test_a_bound_word_is_replaced_everywhere_in_a_row_or_nowhere(row):
    """What keeps labels: premise and hypothesis never part company over a word."""
    parts, _, _ = _table(BOUND, ()).replace_tagged(
        [pa.array([text], pa.string()) for text, _ in row],
        [_core_tokens([column]) for column in row],
        tags=TAGS,
        with_edits=True,
    )
    new = [pa.array(part[0]).to_pylist()[0] for part in parts]
    words = r"(?<![\w]){}(?![\w])"
    for word in ("boy", "boys", "eel", "guy", "hour"):
        before = [len(re.findall(words.format(word), t.lower())) for t, _ in row]
        after = [len(re.findall(words.format(word), t.lower())) for t in new]
        assert after in (before, [0, 0]) or word == "hour"


def test_conditions_are_read():
    tests = read_conditions("next=of|in|NOUN;prev2!=END")
    assert [(t.place, t.negated, t.words, t.tags) for t in tests] == [
        (1, False, ("of", "in"), ("NOUN",)),
        (-2, True, (), ("END",)),
    ]
    assert read_conditions("") == ()


@pytest.mark.parametrize("text", ["next", "next=", "before=of", "next=Of", "next=of|", "next=of;x"])
def test_bad_conditions_are_refused(text):
    with pytest.raises(InputError, match=r"condition|lower case"):
        read_conditions(text)
