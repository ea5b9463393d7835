"""Diversity of paraphrases, and consistency by it."""

from __future__ import annotations

import gzip
import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from ietest_fast.analyses import find_wordings
from ietest_fast.analyses.consistency.file import ConsistencyAnswers, ConsistencyNotes
from ietest_fast.analyses.consistency.noting import (
    DIVERSITY_MEASURES,
    LEXICAL,
    MOST_GROUPS,
    SYNTACTIC,
    ConsistencyOptions,
    group_by_quantiles,
    note_diversity,
)
from ietest_fast.analyses.consistency.partition import part_by_diversity
from ietest_fast.answers import Predictions
from ietest_fast.errors import InputError
from ietest_fast.frames import to_arrow
from ietest_fast.lexicon.annotator import Parser
from ietest_fast.lexicon.token_table import PENN, RELATIONS
from reference import overlap_oracle as slow

ROWS = [
    (1, "original", "A man sleeps.", "A dog chased the cat."),
    (1, "p1", "A man sleeps.", "The cat was chased by a dog."),
    (1, "p2", "A man sleeps.", "A dog chased the cat."),
    (2, "original", "It rains.", "Nobody is outside."),
    (3, "p1", "It snows.", "Nobody is out."),
    (4, "original", "It hails.", "A boy ran home."),
    (4, "p1", "It hails.", "Home ran a boy."),
]
PAIRS = [(ROWS[0][3], ROWS[1][3]), (ROWS[0][3], ROWS[2][3]), (ROWS[5][3], ROWS[6][3])]
MEASURED = [1, 2, 6]


def make(rows=ROWS, **columns):
    item, version, premise, hypothesis = zip(*rows, strict=True)
    table = {
        "item": list(item),
        "version": list(version),
        "premise": list(premise),
        "hypothesis": list(hypothesis),
        "correct": [True] * len(rows),
        **columns,
    }
    return ConsistencyAnswers(
        predictions=Predictions(table=to_arrow(table)), notes=ConsistencyNotes()
    )


def note(answers, *measures, n_groups=2, **options):
    return note_diversity(answers, measures or ["jaccard"], n_groups=n_groups, **options)


def values_of(noted, measure):
    """The values of a measure, without the rows that have none."""
    return noted.predictions.table[measure].drop_null().to_numpy()


def part(noted, *, subset=None):
    counts = find_wordings(noted.predictions).count()
    options = ConsistencyOptions(subset=subset, confidence_level=0.9, n_resamples=50)
    return part_by_diversity(noted, counts, options)


def test_each_paraphrase_is_measured_against_its_original():
    noted = note(make())
    # Premises never change, so hypotheses alone are compared.
    assert noted.notes.diversity_texts == ("hypothesis",)
    assert (
        tuple(name for name in DIVERSITY_MEASURES if name in noted.predictions.columns) == LEXICAL
    )
    for name in LEXICAL:
        known = noted.predictions.table[name].is_valid().to_numpy()
        assert np.flatnonzero(known).tolist() == MEASURED
    words = [(slow.words_of(a), slow.words_of(b)) for a, b in PAIRS]
    assert values_of(noted, "jaccard") == pytest.approx([slow.jaccard(*each) for each in words])
    assert values_of(noted, "bleu") == pytest.approx([slow.bleu(*each) for each in words])
    assert values_of(noted, "lexical_distance") == pytest.approx(
        [slow.bag_distance(*each) for each in words]
    )
    assert values_of(noted, "length_ratio") == pytest.approx([7 / 5, 1, 1])
    assert values_of(noted, "character_overlap") == pytest.approx(
        [slow.gram_overlap(slow.characters_of(a), slow.characters_of(b), 3) for a, b in PAIRS]
    )


def test_what_is_left_out_is_counted():
    found = part(note(make()))
    # Item 3 has no original; item 2 has no paraphrase, so it has no consistency either.
    assert found.n_without_original == 1
    (groups,) = found.groups
    assert groups.n_unknown == 1
    assert sum(own.n_buckets for own in groups.subsets.parts.values()) == 2
    (line,) = found.means
    assert (line.name, line.n_paraphrases, line.n_items) == ("all", 3, 2)
    assert line.means["length_ratio"] == pytest.approx((7 / 5 + 2) / 3)


def test_each_classifier_is_measured_on_its_own_rows():
    """An original that one classifier lacks is not taken from another."""
    rows = [*ROWS, *ROWS[1:]]
    models = ["x"] * len(ROWS) + ["y"] * (len(ROWS) - 1)
    noted = note(make(rows, model=models))
    known = noted.predictions.table["jaccard"].is_valid().to_numpy()
    assert np.flatnonzero(known).tolist() == [*MEASURED, len(rows) - 1]


def sequences_of(parser, texts):
    parses = parser.parse(texts)
    ends = parses.offsets.tolist()
    spans = [slice(a, b) for a, b in itertools.pairwise(ends)]
    return (
        [[PENN[code] for code in parses.tag[span]] for span in spans],
        [[RELATIONS[code] for code in parses.relation[span]] for span in spans],
    )


@pytest.fixture(scope="module")
def parser():
    with Parser.load() as loaded:
        yield loaded


@pytest.mark.parametrize("columns", [None, ("premise", "hypothesis")])
def test_syntax_is_the_edit_distance_of_tags_and_relations(parser, columns):
    noted = note(make(), "tag_distance", columns=columns)
    assert set(DIVERSITY_MEASURES) <= set(noted.predictions.columns)
    before, after = zip(*PAIRS, strict=True)
    premises = ["A man sleeps.", "A man sleeps.", "It hails."]
    for place, name in enumerate(SYNTACTIC):
        ahead = sequences_of(parser, premises)[place] if columns else [[], [], []]
        old, new = (sequences_of(parser, list(side))[place] for side in (before, after))
        wanted = [slow.edit_distance(p + a, p + b) for p, a, b in zip(ahead, old, new, strict=True)]
        assert values_of(noted, name) == pytest.approx(wanted)
        assert wanted[0] > 0
        assert wanted[1] == 0


def test_columns_that_change_are_read_together():
    rows = [(1, "original", "A b.", "C d."), (1, "x", "A e.", "C f.")]
    noted = note(make(rows))
    assert noted.notes.diversity_texts == ("premise", "hypothesis")
    assert values_of(noted, "jaccard").tolist() == [2 / 6]
    # Of "a b" and "a e", and of "c d" and "c f": half of the words are the same.
    assert values_of(noted, "lexical_distance").tolist() == [0.5]
    only = note(make(rows), columns=["premise"])
    assert only.notes.diversity_texts == ("premise",)
    assert values_of(only, "jaccard").tolist() == [1 / 3]


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (("obs1", "hyp1", "hyp2", "obs2"), ("hyp1", "obs2")),
        (("premise", "hypothesis", "update"), ("hypothesis", "update")),
        (("first", "second"), ("first", "second")),
    ],
)
def test_texts_are_found_by_what_the_file_says_or_by_their_names(texts, found):
    """Of ParaNLU's examples all parts; of others what their file names."""
    given = {name: ["a b c", "a b c"] for name in texts}
    given |= {name: ["a b c", "a b d"] for name in found}
    answers = make([(1, "original", "x", "x"), (1, "p", "x", "x")])
    table = answers.predictions.table.select(["item", "version", "correct"])
    for name, own in given.items():
        table = table.append_column(name, [own])
    run = ConsistencyNotes(text_columns=texts if texts[0] == "first" else ())
    noted = note(ConsistencyAnswers(predictions=Predictions(table=table), notes=run))
    assert noted.notes.diversity_texts == found


def test_items_have_the_means_of_their_paraphrases():
    noted = note(make())
    # Item 1 has one paraphrase with its original's words, item 4 the same words in another order.
    first = (slow.jaccard(slow.words_of(PAIRS[0][0]), slow.words_of(PAIRS[0][1])) + 1) / 2
    (groups,) = part(noted).groups
    assert [*groups.means.values()] == pytest.approx([first, 1])
    assert [own.n_buckets for own in groups.subsets.parts.values()] == [1, 1]
    assert [own.n_paraphrases for own in groups.subsets.parts.values()] == [2, 1]


def test_groups_are_between_quantiles():
    rng = np.random.default_rng(0)
    values = rng.random(101)
    groups = group_by_quantiles(np.append(values, [np.nan] * 2), "jaccard", n_groups=4)
    edges = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
    assert groups.edges == pytest.approx(edges)
    wanted = [next(g for g in range(4) if value <= edges[g + 1]) for value in values.tolist()]
    assert groups.codes.tolist() == [*wanted, -1, -1]
    assert groups.sizes.tolist() == np.bincount(wanted).tolist()
    assert groups.n_unknown == 2


def test_equal_means_are_in_one_group():
    groups = group_by_quantiles(np.array([0.2] * 6 + [0.9, 0.8]), "jaccard", n_groups=4)
    assert groups.codes.tolist() == [0] * 6 + [3, 3]
    assert groups.sizes.tolist() == [6, 0, 0, 2]
    assert groups.n_unknown == 0


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="no paraphrase has an original to be compared with"):
        note(make([(1, "a", "x", "y"), (1, "b", "x", "z")]))
    with pytest.raises(InputError, match="column 'text': there is no such column"):
        note(make(), columns=["text"])
    with pytest.raises(InputError, match=r"no measure of diversity 'jacard'; there are .*jaccard"):
        note(make(), "jacard")
    for n_groups in (1, MOST_GROUPS + 1):
        with pytest.raises(InputError, match=f"from 2 to 20 groups, not {n_groups}"):
            note(make(), n_groups=n_groups)
    with pytest.raises(InputError, match="n_groups must be at least 2"):
        group_by_quantiles(np.array([0.5]), "jaccard", n_groups=1)
    with pytest.raises(InputError, match="no bucket has a paraphrase whose jaccard is known"):
        group_by_quantiles(np.array([np.nan]), "jaccard", n_groups=4)
    noted = note(make())
    table = noted.predictions.table.drop_columns(["jaccard"])
    without = replace(noted, predictions=replace(noted.predictions, table=table))
    with pytest.raises(InputError, match="column 'jaccard': is not in the file, which says"):
        part(without)


def test_published_paraphrases_are_diverse(shared):
    """Human paraphrases of δ-SNLI's updates, all against the slow measures."""
    source = shared / "data" / "paranlu" / "snli_paraphrases_human.json.gz"
    published = json.loads(gzip.decompress(source.read_bytes()))
    rows, pairs = [], []
    for item, paraphrases in published.items():
        old = paraphrases[0]["original_example"]["update"]
        rows.append((item, "original", "", old))
        for place, each in enumerate(paraphrases):
            rows.append((item, f"p{place}", "", each["update_paraphrase"]))
            pairs.append((old, each["update_paraphrase"]))
    noted = note(make(rows), n_groups=5)
    words = [(slow.words_of(a), slow.words_of(b)) for a, b in pairs]
    assert values_of(noted, "jaccard") == pytest.approx([slow.jaccard(*each) for each in words])
    assert values_of(noted, "bleu") == pytest.approx([slow.bleu(*each) for each in words])
    characters = [(slow.characters_of(a), slow.characters_of(b)) for a, b in pairs]
    assert values_of(noted, "character_overlap") == pytest.approx(
        [slow.gram_overlap(*each, 3) for each in characters]
    )
    found = part(noted)
    # Table 6 of the paper: 34.4, from words that another program has cut.
    assert 100 * found.means[0].means["lexical_distance"] == pytest.approx(34.4, abs=0.3)
    sizes = [own.n_buckets for own in found.groups[0].subsets.parts.values()]
    assert (len(sizes), sum(sizes)) == (5, 250)
