"""Whatever voice and permutation do to a text, it can be undone."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ietest_fast.lexicon.annotator import Parser
from ietest_fast.lexicon.verbs import Verbs
from ietest_fast.lexicon.wordnet import WordNet
from ietest_fast.transform.syntax.permute import Permutation
from ietest_fast.transform.syntax.voice import Voice
from reference.substitution import make_edits

SENTENCES = st.sampled_from(
    [
        *("The dog chased a cat.", "He saw her!", "She has already seen them.", "I ate it"),
        *("A cat was chased by the dogs.", "They saw a man and a woman.", "Nobody saw him."),
        *("Havana is the capital of Cuba.", "Zwölf Äpfel 東京.", "he didn't see cats and dogs"),
        *("The ball was picked up by them.", "", "...", "by by by.", "A a an the.", "\U0001f600!"),
    ]
)
BETWEEN = st.sampled_from([" ", " ", "  ", "\n", "\t", "", "\u00a0", ' "', ") ", ", "])
TEXTS = st.one_of(
    st.none(),
    st.lists(st.tuples(SENTENCES, BETWEEN), max_size=4).map(
        lambda parts: "".join(piece for part in parts for piece in part)
    ),
    st.text(max_size=10),
)


@pytest.fixture(scope="module")
def transformations():
    with Parser.load() as parser:
        wordnet = WordNet.packaged()
        yield {
            "voice": Voice(parser=parser, verbs=Verbs.packaged(), wordnet=wordnet),
            "permute": Permutation(parser=parser, wordnet=wordnet),
        }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["voice", "permute"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(texts=st.lists(TEXTS, max_size=5), n_threads=st.sampled_from([1, 2]))
def test_edits_lead_to_the_new_text_and_back(transformations, name, texts, n_threads):
    phi = transformations[name]
    table = pa.table({"t": pa.array(["x", *texts], pa.string()).slice(1)})
    made = phi.transform(table, ["t"], n_threads=n_threads)
    new = made.table["t"].to_pylist()
    assert made.undo()["t"].to_pylist() == texts
    assert made.changed.tolist() == [a != b for a, b in zip(texts, new, strict=True)]
    by_row: dict[int, list] = {}
    for edit in made.edits.to_pylist():
        by_row.setdefault(edit["row"], []).append(
            (edit["start"], edit["end"], edit["old"], edit["new"])
        )
    for row, text in enumerate(texts):
        if text is not None:
            assert make_edits(text, by_row.get(row, [])) == new[row]
    assert phi.transform(table, ["t"], with_edits=False).table.equals(made.table)
