"""The substitution kernels against slow definitions, on texts made to be awkward."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ietest_fast._core import runtime
from ietest_fast._core import text as core
from ietest_fast.errors import InputError
from ietest_fast.lexicon import SynonymTable
from ietest_fast.transform import SynonymSubstitution, WordSubstitution
from reference.substitution import (
    make_edits,
    replace_as_flashtext2,
    replace_normalised,
    replace_words,
    split_words,
)

AWKWARD_ASCII = st.text(alphabet="abA_. ,':;-1\r\n\t\"", max_size=150)
# White space of all kinds, what deletes, what lower-cases to ASCII, what lower-cases to much else.
NASTY = st.text(
    alphabet=st.one_of(
        st.sampled_from(
            "abkIiZz09[\\]^_` \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2007\u200a\u200b"
            "\u2028\u2029\u202f\u205f\u3000\ufeff\u212a\u0130\u0131\u0307\u017fßẞΣς\u1e9e\u00c5\u212b"
            "\U0001f600\u200dé-.,'\"!\x00\x7f"
        ),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=80,
)
KEYS = st.dictionaries(
    st.text(alphabet="abA_. ',1", min_size=1, max_size=6),
    st.text(alphabet="xyA b", max_size=6),
    max_size=8,
)
INSTRUCTION_SETS = pytest.mark.parametrize("instruction_set", runtime.instruction_sets())


def _edits_by_row(edits: pa.Table) -> dict[int, list[tuple[int, int, str, str]]]:
    by_row: dict[int, list[tuple[int, int, str, str]]] = {}
    for edit in edits.to_pylist():
        by_row.setdefault(edit["row"], []).append(
            (edit["start"], edit["end"], edit["old"], edit["new"])
        )
    return by_row


def _check_edits(old: list[str], made) -> None:
    """Edits lead from the old texts to the new ones and back, and only where something changed."""
    new = made.table["t"].to_pylist()
    by_row = _edits_by_row(made.edits)
    assert [make_edits(t, by_row.get(i, [])) for i, t in enumerate(old)] == new
    assert made.undo()["t"].to_pylist() == old
    assert made.changed.tolist() == [a != b for a, b in zip(old, new, strict=True)]
    assert all(edit["old"] != edit["new"] for edit in made.edits.to_pylist())


@INSTRUCTION_SETS
@given(texts=st.lists(AWKWARD_ASCII, max_size=8), mapping=KEYS, ignore_case=st.booleans())
def test_words_are_replaced_as_defined(instruction_set, texts, mapping, ignore_case):
    if ignore_case:
        mapping = {key.lower(): value for key, value in mapping.items()}
    table = core.SubstitutionTable(
        pa.array(list(mapping), pa.string()),
        pa.array(list(mapping.values()), pa.string()),
        np.zeros(1, np.int8),
        ignore_case=ignore_case,
    )
    array = pa.array(texts, pa.string())
    got = pa.array(table.replace_words(array, instruction_set=instruction_set)[0])
    got.validate(full=True)
    assert got.to_pylist() == [replace_words(t, mapping, ignore_case=ignore_case) for t in texts]


@given(texts=st.lists(AWKWARD_ASCII, max_size=4), mapping=KEYS)
@example(texts=["a dog"], mapping={"Dog": "x", "dog": "y"})
@example(texts=["a DOG"], mapping={"Dog": "x", "dog": "x"})
def test_equal_fingerprints_give_equal_texts_without_case(texts, mapping):
    """The fingerprint does not depend on the mapping's order, so the texts must not, either."""
    values: dict[str, set[str]] = {}
    for key, value in mapping.items():
        values.setdefault(key.lower(), set()).add(value)
    turned = dict(reversed(mapping.items()))
    if any(len(several) > 1 for several in values.values()):
        for order in (mapping, turned):
            with pytest.raises(InputError, match="differ only in case"):
                WordSubstitution(mapping=order, ignore_case=True)
        return
    made = [WordSubstitution(mapping=order, ignore_case=True) for order in (mapping, turned)]
    assert made[0].fingerprint == made[1].fingerprint
    expected = [replace_words(text, mapping, ignore_case=True) for text in texts]
    assert [each.replace(texts) for each in made] == [expected, expected]


@given(texts=st.lists(st.one_of(AWKWARD_ASCII, NASTY), max_size=8), mapping=KEYS)
def test_edits_of_words_apply_and_undo(texts, mapping):
    made = WordSubstitution(mapping=mapping).transform(pa.table({"t": texts}), ["t"])
    _check_edits(texts, made)


# Halves of flags, accents and signs.
FLAGS = st.text(alphabet="\U0001f1e6\U0001f1e7\U0001f1e8\u0301- ", max_size=12)


@given(text=FLAGS, key=FLAGS.filter(bool))
@example(text="\U0001f1e6\U0001f1e7\U0001f1e8\U0001f1e6", key="\U0001f1e7\U0001f1e8")
@example(text="- \u0301-", key="- \u0301")
def test_flags_are_those_of_the_reference(text, key):
    made = WordSubstitution(mapping={key: "#"}).replace(pa.array([text])).to_pylist()
    assert made == [replace_words(text, {key: "#"})]


@given(texts=st.lists(NASTY, max_size=6), mapping=KEYS)
def test_all_instruction_sets_find_the_same_words_in_any_text(texts, mapping):
    keys = pa.array(list(mapping), pa.string())
    values = pa.array(list(mapping.values()), pa.string())
    table = core.SubstitutionTable(keys, values, np.zeros(1, np.int8))
    array = pa.array(texts, pa.large_string())
    results = [
        pa.array(table.replace_words(array, instruction_set=name)[0]).to_pylist()
        for name in runtime.instruction_sets()
    ]
    assert all(result == results[0] for result in results)


# Letters, digits, marks and signs of many scripts, but for what has rules of its own in the annex
# that the core leaves out: Hebrew, Katakana, emoji and blanks other than U+0020.
SCRIPTS = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab1_ .,':;\u2019\u00b7\u00ad\u0301\u203f\u2024\uff0e\u0660\u0969"),
        st.characters(exclude_categories=["Cs", "Cn", "Zs", "So", "Sk"]).filter(
            lambda c: not ("\u0590" <= c <= "\u05ff" or "\ufb1d" <= c <= "\ufb4f")
        ),
    ),
    max_size=40,
)


@pytest.mark.peer
@given(text=st.one_of(SCRIPTS, FLAGS))
def test_words_of_all_scripts_are_those_of_the_annex(text):
    wordbreak = pytest.importorskip("uniseg.wordbreak")
    pieces = list(wordbreak.words(text))
    kinds = [wordbreak.word_break(c).name for c in text]
    assume(not any(kind in ("KATAKANA", "ZWJ") for kind in kinds))
    starts = ("ALETTER", "NUMERIC", "EXTENDNUMLET", "REGIONAL_INDICATOR")
    words = {piece for piece in pieces if wordbreak.word_break(piece[0]).name in starts}
    for word in words:
        expected = "".join("#" if piece == word else piece for piece in pieces)
        assert WordSubstitution(mapping={word: "#"}).replace(pa.array([text])).to_pylist() == [
            expected
        ]


@pytest.mark.filterwarnings("default")
@pytest.mark.peer
@given(
    texts=st.lists(AWKWARD_ASCII, max_size=6),
    mapping=st.dictionaries(
        st.text(alphabet="abA_. ',1", min_size=1, max_size=6),
        st.text(alphabet="xy b", max_size=6),
        min_size=1,
        max_size=8,
    ),
)
def test_flashtext2_differs_by_what_it_skips_alone(texts, mapping):
    """Ours equals replace_words; flashtext2 equals that, but for its one rule more."""
    flashtext2 = pytest.importorskip("flashtext2")
    processor = flashtext2.KeywordProcessor(case_sensitive=True)
    for key, value in mapping.items():
        processor.add_keyword(key, value)
    expected = [processor.replace_keywords(t) for t in texts]
    assert [replace_as_flashtext2(t, mapping) for t in texts] == expected
    if all(len(split_words(key)) == 1 for key in mapping):
        ours = WordSubstitution(mapping=mapping).replace(pa.array(texts, pa.string()))
        assert ours.to_pylist() == expected


@given(
    texts=st.lists(NASTY, max_size=8),
    mapping=st.dictionaries(
        st.text(alphabet="abki[^_`09z", min_size=1, max_size=4),
        st.text(alphabet="xy b-é", min_size=1, max_size=6),
        max_size=6,
    ),
)
def test_paper_rules_equal_the_python_expression(texts, mapping):
    table = SynonymTable.from_entries(
        [(key, value, 0, "frequency") for key, value in mapping.items()], "paper"
    )
    made = SynonymSubstitution(table=table).transform(pa.table({"t": texts}), ["t"])
    expected = [replace_normalised(t, mapping) for t in texts]
    assert made.table["t"].to_pylist() == expected
    _check_edits(texts, made)
