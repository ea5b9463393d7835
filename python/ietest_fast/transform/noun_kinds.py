"""Kinds of nouns that transformations of syntax tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ietest_fast.lexicon.wordnet import WordNet

PEOPLE = frozenset(
    "adult artist athlete baby biker boy bride brother chef child cop dancer daughter "  # noqa: SIM905
    "doctor driver elder fan father female firefighter friend girl grandfather "
    "grandmother groom guitarist guy husband infant jockey kid lady male man mother "
    "musician nurse officer parent people performer person player policeman runner "
    "singer sister soldier son student surfer teacher teenager toddler vendor wife "
    "woman worker".split()
)
# How far, how long, how much.
MEASURES = frozenset(
    "% afternoon cent century day decade degree dollar euro foot gallon gram hour "  # noqa: SIM905
    "inch kilogram kilometer kilometre lap lb liter litre meter metre mile minute "
    "month morning night ounce percent pound second step time ton week yard year".split()
)


def nouns_of(wordnet: WordNet, word: str) -> set[str]:
    """Return a word and the nouns that it may be a form of."""
    return {word, *wordnet.base_forms(word, "n")}


def is_verb_form(wordnet: WordNet, word: str) -> bool:
    """Tell whether a word may be a verb with a regular ending, such as *wears* or *wearing*."""
    return word.endswith(("s", "ed", "ing")) and any(
        base != word for base in wordnet.base_forms(word, "v")
    )
