"""WordNet, tagging and corpus frequencies, made into synonym tables.

Names are loaded when they are first used: the tagger's library alone takes a second to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.lexicon.annotator import TagCache as TagCache
    from ietest_fast.lexicon.annotator import Tagger as Tagger
    from ietest_fast.lexicon.reviewed import SceneCounter as SceneCounter
    from ietest_fast.lexicon.reviewed import TaggedWord as TaggedWord
    from ietest_fast.lexicon.reviewed import TaggedWords as TaggedWords
    from ietest_fast.lexicon.reviewed import reviewed_words as reviewed_words
    from ietest_fast.lexicon.synonym_table import SynonymTable as SynonymTable
    from ietest_fast.lexicon.synonym_table import broad_table as broad_table
    from ietest_fast.lexicon.synonym_table import paper_candidates as paper_candidates
    from ietest_fast.lexicon.synonym_table import paper_table as paper_table
    from ietest_fast.lexicon.synonym_table import read_block_list as read_block_list
    from ietest_fast.lexicon.token_table import UPOS as UPOS
    from ietest_fast.lexicon.token_table import TokenTags as TokenTags
    from ietest_fast.lexicon.wordnet import WordNet as WordNet
    from ietest_fast.lexicon.words import count_nouns as count_nouns
    from ietest_fast.lexicon.words import porter_stem as porter_stem

__all__ = [
    "UPOS",
    "SceneCounter",
    "SynonymTable",
    "TagCache",
    "TaggedWord",
    "TaggedWords",
    "Tagger",
    "TokenTags",
    "WordNet",
    "broad_table",
    "count_nouns",
    "paper_candidates",
    "paper_table",
    "porter_stem",
    "read_block_list",
    "reviewed_words",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "SceneCounter": "reviewed",
        "SynonymTable": "synonym_table",
        "TagCache": "annotator",
        "TaggedWord": "reviewed",
        "TaggedWords": "reviewed",
        "Tagger": "annotator",
        "TokenTags": "token_table",
        "UPOS": "token_table",
        "WordNet": "wordnet",
        "broad_table": "synonym_table",
        "count_nouns": "words",
        "paper_candidates": "synonym_table",
        "paper_table": "synonym_table",
        "porter_stem": "words",
        "read_block_list": "synonym_table",
        "reviewed_words": "reviewed",
    },
)
