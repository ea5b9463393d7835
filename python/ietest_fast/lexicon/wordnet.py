"""Looking words up in WordNet, exactly as NLTK does."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ietest_fast.errors import ResourceError
from ietest_fast.lexicon.packaged import RESOURCES, check_packaged, hash_resource
from ietest_fast.lexicon.wordnet_files import (
    PARTS,
    Relations,
    Synset,
    assemble,
    read_dict_folder,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PartOfSpeech = Literal["n", "v", "a", "r"]

PACKAGED_FILE = RESOURCES / "wordnet-3.0" / "relations.npz"

# WordNet's rules of detachment (morphy(7WN)), with NLTK's two for -ves and -zes nouns.
_ENDINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}


@dataclass(frozen=True, kw_only=True)
class Sense:
    """A lemma in one of its synsets."""

    synset: int
    """Number of the synset in this WordNet."""
    count: int
    """How often the lemma was tagged with this sense in SemCor."""
    lemmas: tuple[str, ...]
    """All lemma names of the synset in WordNet's order, ``_`` for a space, case as written."""
    is_instance: bool
    """Whether the synset is a thing with a name of its own (Paris), not a kind of thing."""


class WordNet:
    """Lemmas, synsets and morphology of a WordNet-like lexicon.

    Use :meth:`packaged`, :meth:`from_dict_folder` or :meth:`from_wn`. Words are looked up in lower
    case; words of a multi-word lemma are joined by ``_``, as in NLTK.
    """

    def __init__(self, relations: Relations, *, file: Path | None = None) -> None:
        self._relations = relations
        self._file = file
        self._index = {word: i for i, word in enumerate(relations.words)}
        self._n_senses = relations.n_senses
        # Where the senses of (part of speech, word) begin: senses are stored in that order.
        ends = np.cumsum(relations.n_senses.ravel(), dtype=np.int64)
        self._sense_end = ends.reshape(relations.n_senses.shape)
        self._member_end = np.cumsum(relations.n_members, dtype=np.int64)
        self._forms: dict[PartOfSpeech, dict[str, list[str]]] = {}

    @classmethod
    def packaged(cls) -> WordNet:
        """Give WordNet 3.0 as it comes with this package; loaded once per process.

        Raises
        ------
        ResourceError
            If the packaged file is missing or damaged.
        """
        return _load_packaged()

    @classmethod
    def from_dict_folder(cls, path: str | Path) -> WordNet:
        """Read a WordNet dict folder (``index.noun``, ``data.noun``, ...).

        Raises
        ------
        ResourceError
            If a file is missing.
        InputError
            If a file is damaged; names file and line.
        """
        return cls(read_dict_folder(path))

    @classmethod
    def from_wn(cls, lexicon: str) -> WordNet:
        """Take a lexicon of the ``wn`` library, such as ``"omw-en:1.4"`` or ``"oewn:2024"``.

        The library and the lexicon must be installed already; nothing is downloaded. Irregular
        forms are those that the lexicon lists, and the packaged exceptions otherwise.

        Raises
        ------
        ResourceError
            If the library or the lexicon is missing.
        """
        try:
            import wn
        except ImportError as error:
            raise ResourceError(
                "the `wn` library is not installed; `pip install wn`, then "
                f"`python -m wn download {lexicon}`"
            ) from error
        try:
            source = wn.Wordnet(lexicon=lexicon)
        except wn.Error as error:
            raise ResourceError(
                f"no lexicon {lexicon!r} in the `wn` library's database ({error}); "
                f"`python -m wn download {lexicon}` fetches one"
            ) from error
        return cls(_read_wn(source, lexicon))

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the relations as one file, 64 hexadecimal digits; the same from all sources.

        Python before 3.11.4 writes other archives, so the packaged file is not written again.
        """
        return self._relations.fingerprint() if self._file is None else hash_resource(self._file)

    @property
    def version(self) -> str:
        """Name of the lexicon."""
        return self._relations.version

    def __contains__(self, word: str) -> bool:
        return word.lower() in self._index

    def words(self, pos: PartOfSpeech | None = None) -> Iterator[str]:
        """Give all lemmas (of a part of speech), sorted."""
        rows = self._n_senses if pos is None else self._n_senses[[PARTS.index(pos)]]
        wanted = np.flatnonzero(rows.any(axis=0)).tolist()
        return (self._relations.words[i] for i in wanted)

    def words_with_synonyms(self, pos: PartOfSpeech) -> Iterator[str]:
        """Give the lemmas whose first synset has other lemmas too, sorted."""
        p = PARTS.index(pos)
        n_senses = self._n_senses[p]
        has = np.flatnonzero(n_senses)
        first = self._relations.sense_synset[self._sense_end[p, has] - n_senses[has]]
        shared = has[self._relations.n_members[first] > 1]
        return (self._relations.words[i] for i in shared.tolist())

    def base_forms(self, word: str, pos: PartOfSpeech) -> tuple[str, ...]:
        """Give the lemmas that `word` may be a form of, best first; itself first if it is one.

        NLTK's ``_morphy``: a form in the exception list has the bases named there; any other has
        those that the rules of detachment lead to. Bases without a synset are left out.
        """
        form = word.lower()
        bases = self._relations.exceptions[pos].get(form)
        if bases is None:
            bases = tuple(
                form[: len(form) - len(old)] + new
                for old, new in _ENDINGS[pos]
                if form.endswith(old)
            )
        counts = self._n_senses[PARTS.index(pos)]
        found: dict[str, None] = {}
        for base in (form, *bases):
            i = self._index.get(base)
            if i is not None and counts[i]:
                found[base] = None
        return tuple(found)

    def forms_of(self, lemma: str, pos: PartOfSpeech) -> tuple[str, ...]:
        """Give every form that leads back to a lemma, itself first; some that no one writes, too.

        The inverse of :meth:`base_forms`: the exceptions of the lemma, and what the rules of
        detachment take for its forms (*take*: *took*, *taken*, *takes*, *taking*, but also
        *taked*).
        """
        base = lemma.lower()
        regular = (
            base[: len(base) - len(new)] + old for old, new in _ENDINGS[pos] if base.endswith(new)
        )
        irregular = self._irregular(pos).get(base, ())
        return tuple(dict.fromkeys((base, *irregular, *regular)))

    def _irregular(self, pos: PartOfSpeech) -> dict[str, list[str]]:
        """Turn the exceptions of a part of speech round: forms by lemma."""
        if pos not in self._forms:
            forms: dict[str, list[str]] = {}
            for form, bases in self._relations.exceptions[pos].items():
                for base in bases:
                    forms.setdefault(base, []).append(form)
            self._forms[pos] = forms
        return self._forms[pos]

    def morphy(self, word: str, pos: PartOfSpeech) -> str | None:
        """Give the first base form of `word`, or None if WordNet knows none."""
        return next(iter(self.base_forms(word, pos)), None)

    def lemma_of(self, word: str) -> str:
        """Return the first base form of `word` as a noun, verb, adjective or adverb, or itself."""
        form = word.lower()
        found = (self.morphy(form, pos) for pos in get_args(PartOfSpeech))
        return next((base for base in found if base is not None), form)

    def first_synset_lemmas(self, word: str, pos: PartOfSpeech | None = None) -> tuple[str, ...]:
        """Give the lemma names of the first synset of `word`.

        Parameters
        ----------
        word
            A word in any form and case.
        pos
            ``"n"``, ``"v"``, ``"a"`` (satellites included) or ``"r"``; None searches them in this
            order.

        Returns
        -------
        tuple of str
            What NLTK's ``wordnet.synsets(word, pos)[0].lemma_names()`` gives: in WordNet's order,
            case as written, ``_`` for a space. Empty if there is no synset.
        """
        for part in PARTS if pos is None else pos:
            bases = self.base_forms(word, part)  # type: ignore[arg-type]
            if bases:
                first, _ = self._senses_of(bases[0], part)
                return self.lemmas_of(int(self._relations.sense_synset[first]))
        return ()

    def senses(self, lemma: str, pos: PartOfSpeech) -> tuple[Sense, ...]:
        """Give the senses of a lemma (no morphology), most frequent first."""
        if lemma.lower() not in self._index:
            return ()
        first, last = self._senses_of(lemma.lower(), pos)
        return tuple(self._sense(i) for i in range(first, last))

    def sense_numbers(
        self, lemma: str, pos: PartOfSpeech
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Give the synsets of a lemma and how often SemCor has each; what :meth:`senses` gives,
        but faster.
        """
        if lemma not in self._index:
            return (), ()
        first, last = self._senses_of(lemma, pos)
        relations = self._relations
        return (
            tuple(relations.sense_synset[first:last].tolist()),
            tuple(relations.sense_count[first:last].tolist()),
        )

    def is_instance(self, synset: int) -> bool:
        """Tell whether a synset is a thing with a name of its own."""
        return bool(self._relations.is_instance[synset])

    def lemmas_of(self, synset: int) -> tuple[str, ...]:
        """Give the lemma names of a synset by its number."""
        last = int(self._member_end[synset])
        first = last - int(self._relations.n_members[synset])
        n_words = len(self._relations.words)
        return tuple(
            self._relations.words[i] if i < n_words else self._relations.cased[i - n_words]
            for i in self._relations.member[first:last].tolist()
        )

    def exceptions(self, pos: PartOfSpeech) -> dict[str, tuple[str, ...]]:
        """Give irregular forms and their base forms (``men`` -> ``man``)."""
        return dict(self._relations.exceptions[pos])

    def _sense(self, i: int) -> Sense:
        relations = self._relations
        synset = int(relations.sense_synset[i])
        return Sense(
            synset=synset,
            count=int(relations.sense_count[i]),
            lemmas=self.lemmas_of(synset),
            is_instance=bool(relations.is_instance[synset]),
        )

    def _senses_of(self, lemma: str, pos: str) -> tuple[int, int]:
        p, i = PARTS.index(pos), self._index[lemma]
        last = int(self._sense_end[p, i])
        return last - int(self._n_senses[p, i]), last

    def __reduce__(self) -> Any:
        return (type(self), (self._relations,))


@functools.cache
def _load_packaged() -> WordNet:
    check_packaged(PACKAGED_FILE)
    return WordNet(Relations.from_file(PACKAGED_FILE), file=PACKAGED_FILE)


def _read_wn(source: Any, lexicon: str) -> Relations:
    """Copy a lexicon of the ``wn`` library; satellites (``s``) count as adjectives."""
    synsets: dict[str, Synset] = {}
    for synset in source.synsets():
        if (synset.pos == "s" and "a") or synset.pos in PARTS:
            synsets[synset.id] = Synset(
                members=tuple(lemma.replace(" ", "_") for lemma in synset.lemmas()),
                is_instance=bool(synset.relations("instance_hypernym")),
            )
    senses: dict[str, dict[str, list[tuple[str, int]]]] = {part: {} for part in PARTS}
    exceptions: dict[str, dict[str, tuple[str, ...]]] = {part: {} for part in PARTS}
    packaged = WordNet.packaged()
    for part in PARTS:
        exceptions[part].update(packaged.exceptions(part))  # type: ignore[arg-type]
    for word in source.words():
        part = "a" if word.pos == "s" else word.pos
        if part not in PARTS:
            continue
        lemma = word.lemma().replace(" ", "_").lower()
        entries = senses[part].setdefault(lemma, [])
        # Words that differ only in case (Turkey, turkey) share a lower-case lemma.
        for sense in word.senses():
            key = sense.synset().id
            if key in synsets and all(key != known for known, _ in entries):
                entries.append((key, sum(int(count) for count in sense.counts())))
        for form in word.forms()[1:]:
            irregular = form.replace(" ", "_").lower()
            if irregular != lemma:
                bases = exceptions[part].get(irregular, ())
                exceptions[part][irregular] = tuple(dict.fromkeys((*bases, lemma)))
    for part in PARTS:
        senses[part] = {lemma: entries for lemma, entries in senses[part].items() if entries}
    return assemble(version=lexicon, synsets=synsets, senses=senses, exceptions=exceptions)
