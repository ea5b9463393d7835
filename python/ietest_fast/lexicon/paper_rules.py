"""The synonyms of the published experiments (Salvatore et al. 2023), as their code chose them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lexicon.stemming import porter_stem
from ietest_fast.lexicon.synonym_table import ANY_NUMBER, Rule, SynonymTable, counts_by_word
from ietest_fast.runtime import load_core

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ietest_fast.lexicon.wordnet import WordNet


def paper_candidates(word: str, wordnet: WordNet) -> tuple[str, ...]:
    """Give what `word` might be replaced by.

    Returns
    -------
    tuple of str
        The lemmas of its first synset in NLTK's order of parts of speech (n, v, a, r; after
        morphy), with spaces for underscores, without `word` itself. Case is WordNet's.
    """
    lemmas = (lemma.replace("_", " ") for lemma in wordnet.first_synset_lemmas(word))
    return tuple(lemma for lemma in lemmas if lemma != word)


def paper_table(
    noun_counts: Mapping[str, int], wordnet: WordNet, *, block_list: Iterable[str] = ()
) -> SynonymTable:
    """Make the table of the published experiments.

    Of the candidates the one that the corpus uses most as a noun wins (ties: the last in the
    alphabet); if it uses none, the one with the smallest edit distance to the word (ties: the
    first in the alphabet). The winner is lower-cased. There is no entry if it has the word's
    Porter stem, if the word is on the block list, or if it ends in "ing".

    Parameters
    ----------
    noun_counts
        Noun -> how often the corpus uses it, counted in normalised text
        (:func:`ietest_fast.transform.synonyms.normalise`); these are also the words that get an
        entry.
    wordnet
        Where the candidates come from.
    block_list
        Words to leave alone.

    Returns
    -------
    SynonymTable
        With number 0: entries apply whatever the part of speech.
    """
    edit_distance = load_core().text.edit_distance
    counts = counts_by_word(noun_counts)
    blocked = {word.lower() for word in block_list}
    entries: list[tuple[str, str, int, Rule]] = []
    for word in counts:
        if word in blocked or word.endswith("ing"):
            continue
        candidates = paper_candidates(word, wordnet)
        if not candidates:
            continue
        counted = [(counts[name], name) for name in candidates if counts.get(name, 0) > 0]
        rule: Rule
        if counted:
            value, rule = max(counted)[1], "frequency"
        else:
            value = min((edit_distance(word, name), name) for name in candidates)[1]
            rule = "edit_distance"
        if porter_stem(word) != porter_stem(value):
            entries.append((word, value.lower(), ANY_NUMBER, rule))
    return SynonymTable.from_entries(entries, "paper")
