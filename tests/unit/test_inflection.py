from __future__ import annotations

import pytest

from ietest_fast.lexicon import WordNet
from ietest_fast.lexicon.words import Plurals


@pytest.fixture(scope="module")
def plurals() -> Plurals:
    return Plurals(WordNet.packaged())


@pytest.mark.parametrize(
    ("noun", "plural"),
    [
        ("boy", "boys"),
        ("city", "cities"),
        ("box", "boxes"),
        ("church", "churches"),
        ("stomach", "stomachs"),
        ("photo", "photos"),
        ("potato", "potatoes"),
        ("zero", "zeros"),
        ("bus", "buses"),
        ("quiz", "quizzes"),
        ("man", "men"),
        ("fireman", "firemen"),
        ("human", "humans"),
        ("child", "children"),
        ("mouse", "mice"),
        ("knife", "knives"),
        ("roof", "roofs"),
        ("analysis", "analyses"),
        ("criterion", "criteria"),
        ("stadium", "stadiums"),
        ("goldfish", "goldfish"),
        ("aircraft", "aircraft"),
        ("hot dog", "hot dogs"),
        ("bill of fare", "bills of fare"),
        ("police officer", "police officers"),
    ],
)
def test_plural_to_write(plurals: Plurals, noun: str, plural: str) -> None:
    assert plurals.plural(noun) == plural
    assert plural in plurals.forms(noun)


@pytest.mark.slow
def test_wordnets_morphology_leads_back_from_every_plural(plurals: Plurals) -> None:
    wordnet = WordNet.packaged()
    irregular = wordnet.exceptions("n")
    nouns = [noun for noun in wordnet.words("n") if noun.isalpha()]
    assert len(nouns) > 50_000
    # A plural that the exception list gives to another noun (axes: axis) leads there instead.
    lost = [
        noun
        for noun in nouns
        if plurals.plural(noun) not in irregular
        and noun not in wordnet.base_forms(plurals.plural(noun), "n")
    ]
    assert lost == []
