"""Looking words up in WordNet, exactly as NLTK does."""

from __future__ import annotations

import functools
import hashlib
import io
import json
import re
import zipfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ietest_fast.errors import InputError, ResourceError
from ietest_fast.files import check_file
from ietest_fast.lexicon.pipelines import RESOURCES, check_packaged, hash_resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


# WordNet's relations as arrays: read from a dict folder, written to and read from one file.
#
# The arrays hold what substitution needs and nothing else: which synsets a lemma has, in
# WordNet's order; the lemmas of each synset, in its order; how often each sense was tagged in
# SemCor; and the exception lists of the morphology. No glosses.

PARTS = "nvar"
"""Parts of speech in NLTK's order of search: nouns, verbs, adjectives, adverbs."""

_FILE_OF_PART = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_PART_OF_KEY = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
# Satellites (s) count as adjectives.
_PART_OF_WN = {"n": "n", "v": "v", "a": "a", "s": "a", "r": "r"}
_FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Relations:
    """WordNet as arrays; ``W`` words, ``S`` synsets, ``L`` lemmas in synsets, ``E`` senses.

    A *sense* is a pair of a lemma and one of its synsets. Senses are sorted by part of speech
    (``n``, ``v``, ``a``, ``r``), then by word, then by WordNet's order.
    """

    version: str
    """Name of the lexicon, such as ``"WordNet 3.0"``."""
    words: tuple[str, ...]
    """The W lemmas, lower-case, words of a lemma joined by ``_``, sorted."""
    cased: tuple[str, ...]
    """Lemma names as synsets write them where that is not in lower case (``"Paris"``), sorted."""
    n_senses: npt.NDArray[np.uint8]
    """Number of synsets for each part of speech and word, uint8 (4, W)."""
    sense_synset: npt.NDArray[np.int32]
    """Synset of each sense, int32 (E,)."""
    sense_count: npt.NDArray[np.uint16]
    """How often each sense was tagged in SemCor, uint16 (E,)."""
    n_members: npt.NDArray[np.uint8]
    """Number of lemmas of each synset, uint8 (S,)."""
    member: npt.NDArray[np.int32]
    """Lemmas of the synsets, int32 (L,): index into `words`, or W + index into `cased`."""
    is_instance: npt.NDArray[np.bool_]
    """Whether a synset is a thing with a name (Paris, Lincoln) and not a kind, bool (S,)."""
    exceptions: Mapping[str, Mapping[str, tuple[str, ...]]]
    """For each part of speech, irregular form -> base forms."""

    def to_bytes(self) -> bytes:
        """Give the one-file form; equal relations give equal bytes.

        An uncompressed ``.npz``: it loads fastest and does not depend on the version of a
        compression library. (Wheels and git compress it anyway.)
        """
        # Counts are rare (one sense in seven) and small.
        counted = np.flatnonzero(self.sense_count).astype(np.int32)
        header = {"format": _FORMAT, "version": self.version}
        arrays: dict[str, npt.NDArray[Any]] = {
            "header": as_bytes([json.dumps(header, sort_keys=True)]),
            "words": as_bytes(self.words),
            "cased": as_bytes(self.cased),
            "n_senses": self.n_senses,
            "sense_synset": self.sense_synset,
            "counted_sense": counted,
            "count": self.sense_count[counted],
            "n_members": self.n_members,
            "member": self.member,
            "is_instance": np.packbits(self.is_instance),
        }
        for part in PARTS:
            lines = [" ".join((form, *bases)) for form, bases in self.exceptions[part].items()]
            arrays[f"exceptions_{part}"] = as_bytes(sorted(lines))
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        return buffer.getvalue()

    @staticmethod
    def from_file(path: Path) -> Relations:
        """Read the one-file form."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                header = json.loads(as_text(arrays["header"]))
                if header["format"] != _FORMAT:
                    raise ResourceError(
                        f"{path}: lexicon format {header['format']}, expected {_FORMAT}; "
                        "make it again with tools/make_lexicon.py"
                    )
                n_senses = arrays["n_senses"]
                sense_count = np.zeros(len(arrays["sense_synset"]), np.uint16)
                sense_count[arrays["counted_sense"]] = arrays["count"]
                n_members = arrays["n_members"]
                instance = np.unpackbits(arrays["is_instance"], count=len(n_members))
                return Relations(
                    version=header["version"],
                    words=tuple(as_text(arrays["words"]).split("\n")),
                    cased=tuple(as_text(arrays["cased"]).split("\n")),
                    n_senses=n_senses,
                    sense_synset=arrays["sense_synset"],
                    sense_count=sense_count,
                    n_members=n_members,
                    member=arrays["member"],
                    is_instance=instance.astype(np.bool_),
                    exceptions={
                        part: _exceptions(as_text(arrays[f"exceptions_{part}"]).splitlines())
                        for part in PARTS
                    },
                )
        except (OSError, EOFError, LookupError, TypeError, ValueError, zipfile.BadZipFile) as error:
            if isinstance(error, ResourceError):
                raise
            raise ResourceError(f"{path}: not a readable lexicon file ({error})") from error

    def fingerprint(self) -> str:
        """Give the sha256 of everything in here, as 64 hexadecimal digits."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Relations):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, field.name), getattr(other, field.name))
            if isinstance(getattr(self, field.name), np.ndarray)
            else getattr(self, field.name) == getattr(other, field.name)
            for field in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]


def as_bytes(lines: Iterable[str]) -> npt.NDArray[np.uint8]:
    """Return lines as an array, which a file of arrays can hold."""
    return np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)


def as_text(array: npt.NDArray[np.uint8]) -> str:
    """Return the text of such an array."""
    return array.tobytes().decode()


def _exceptions(lines: Iterable[str]) -> dict[str, tuple[str, ...]]:
    # A form that comes twice has the bases of its last line, as in NLTK.
    rows = (line.split() for line in lines)
    return {row[0]: tuple(row[1:]) for row in rows if row}


@dataclass(frozen=True, kw_only=True)
class Synset:
    """One set of synonyms as its source has it."""

    members: tuple[str, ...]
    is_instance: bool = False


def assemble(
    *,
    version: str,
    synsets: Mapping[Any, Synset],
    senses: Mapping[str, Mapping[str, Iterable[tuple[Any, int]]]],
    exceptions: Mapping[str, Mapping[str, tuple[str, ...]]],
) -> Relations:
    """Make arrays from dictionaries."""
    words = tuple(sorted({lemma for by_lemma in senses.values() for lemma in by_lemma}))
    index = {word: i for i, word in enumerate(words)}
    names = {name for synset in synsets.values() for name in synset.members}
    cased = tuple(sorted(names - index.keys()))
    index_of_name = index | {name: len(words) + i for i, name in enumerate(cased)}
    number = {key: i for i, key in enumerate(synsets)}

    n_senses = np.zeros((len(PARTS), len(words)), np.uint8)
    sense_synset: list[int] = []
    sense_count: list[int] = []
    for p, part in enumerate(PARTS):
        for lemma in sorted(senses[part]):
            entries = list(senses[part][lemma])
            n_senses[p, index[lemma]] = len(entries)
            sense_synset.extend(number[key] for key, _ in entries)
            sense_count.extend(min(count, 65535) for _, count in entries)
    return Relations(
        version=version,
        words=words,
        cased=cased,
        n_senses=n_senses,
        sense_synset=np.array(sense_synset, np.int32),
        sense_count=np.array(sense_count, np.uint16),
        n_members=np.array([len(synset.members) for synset in synsets.values()], np.uint8),
        member=np.array(
            [index_of_name[name] for synset in synsets.values() for name in synset.members],
            np.int32,
        ),
        is_instance=np.array([synset.is_instance for synset in synsets.values()], np.bool_),
        exceptions={part: dict(exceptions[part]) for part in PARTS},
    )


def read_dict_folder(folder: str | Path) -> Relations:
    """Read WordNet's own files (``index.*``, ``data.*``, ``*.exc``, ``cntlist.rev``).

    The file formats are described in wndb(5WN), cntlist(5WN) and senseidx(5WN).
    """
    folder = Path(folder)
    synsets: dict[tuple[str, int], Synset] = {}
    version = "WordNet"
    for part in PARTS:
        path = folder / f"data.{_FILE_OF_PART[part]}"
        for row, line in enumerate(_lines(path), start=1):
            if line.startswith(" "):
                # The licence stands at the top of each file and names the version.
                found = re.search(r"WordNet (\d+\.\d+) Copyright", line)
                version = f"WordNet {found.group(1)}" if found else version
                continue
            try:
                key, synset = _parse_synset(line)
            except (ValueError, IndexError) as error:
                raise InputError(
                    f"not a synset of WordNet's data format ({error})", path=path, row=f"line {row}"
                ) from error
            synsets[part, key] = synset

    counts = _read_counts(folder / "cntlist.rev")
    senses = {part: dict(_read_index(folder, part, synsets, counts)) for part in PARTS}
    exceptions = {
        part: _exceptions(_lines(folder / f"{_FILE_OF_PART[part]}.exc")) for part in PARTS
    }
    return assemble(version=version, synsets=synsets, senses=senses, exceptions=exceptions)


def _parse_synset(line: str) -> tuple[int, Synset]:
    cells = line.partition("|")[0].split()
    n_members = int(cells[3], 16)
    end = 4 + 2 * n_members
    # Adjectives may carry a syntactic marker: galore(ip).
    members = tuple(re.sub(r"\(\w+\)$", "", name) for name in cells[4:end:2])
    n_pointers = int(cells[end])
    symbols = cells[end + 1 : end + 1 + 4 * n_pointers : 4]
    if len(members) != n_members or len(symbols) != n_pointers:
        raise ValueError("it is cut short")
    return int(cells[0]), Synset(members=members, is_instance="@i" in symbols)


def _read_index(
    folder: Path,
    part: str,
    synsets: Mapping[tuple[str, int], Synset],
    counts: Mapping[tuple[str, str, int], int],
) -> Iterator[tuple[str, list[tuple[tuple[str, int], int]]]]:
    """Yield the lemmas of a part of speech, with their synsets and how often SemCor has these."""
    path = folder / f"index.{_FILE_OF_PART[part]}"
    for row, line in enumerate(_lines(path), start=1):
        if line.startswith(" "):
            continue
        cells = line.split()
        try:
            n_synsets, n_pointers = int(cells[2]), int(cells[3])
            keys = [(part, int(cell)) for cell in cells[6 + n_pointers :]]
        except (ValueError, IndexError) as error:
            raise InputError(
                f"not a line of WordNet's index format ({error})", path=path, row=f"line {row}"
            ) from error
        lemma = cells[0]
        if len(keys) != n_synsets or any(key not in synsets for key in keys):
            raise InputError(
                f"the synsets of {lemma!r} are not those of data.{_FILE_OF_PART[part]}; is "
                "this an intact dict folder (line endings unchanged)?",
                path=path,
                row=f"line {row}",
            )
        ranks = enumerate(keys, start=1)
        yield lemma, [(key, counts.get((part, lemma, rank), 0)) for rank, key in ranks]


def _read_counts(path: Path) -> dict[tuple[str, str, int], int]:
    """Give (part of speech, lemma, sense number) -> times tagged in SemCor."""
    counts: dict[tuple[str, str, int], int] = {}
    for row, line in enumerate(_lines(path), start=1):
        try:
            sense_key, rank, count = line.split()
            lemma, _, rest = sense_key.partition("%")
            counts[_PART_OF_KEY[rest[0]], lemma, int(rank)] = int(count)
        except (ValueError, KeyError, IndexError) as error:
            raise InputError(
                f"not a line of WordNet's cntlist.rev ({error})", path=path, row=f"line {row}"
            ) from error
    return counts


def _lines(path: Path) -> list[str]:
    if path.exists():
        check_file(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise ResourceError(
            f"{path}: cannot be read ({error.strerror}); expected a folder with WordNet's index.*, "
            "data.*, *.exc and cntlist.rev"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError("not text in UTF-8", path=path) from error
    return text.removesuffix("\n").split("\n") if text else []


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
    """Copy a lexicon of the ``wn`` library."""
    synsets = {
        synset.id: Synset(
            members=tuple(lemma.replace(" ", "_") for lemma in synset.lemmas()),
            is_instance=bool(synset.relations("instance_hypernym")),
        )
        for synset in source.synsets()
        if synset.pos in _PART_OF_WN
    }
    senses: dict[str, dict[str, dict[str, int]]] = {part: {} for part in PARTS}
    packaged = WordNet.packaged()
    exceptions = {part: packaged.exceptions(part) for part in get_args(PartOfSpeech)}
    for word in source.words():
        part = _PART_OF_WN.get(word.pos)
        if part is None:
            continue
        lemma = word.lemma().replace(" ", "_").lower()
        entries = senses[part].setdefault(lemma, {})
        # Words that differ only in case (Turkey, turkey) share a lower-case lemma.
        for sense in word.senses():
            key = sense.synset().id
            if key in synsets and key not in entries:
                entries[key] = sum(int(count) for count in sense.counts())
        for form in word.forms()[1:]:
            irregular = form.replace(" ", "_").lower()
            if irregular != lemma:
                bases = exceptions[part].get(irregular, ())
                exceptions[part][irregular] = tuple(dict.fromkeys((*bases, lemma)))
    return assemble(
        version=lexicon,
        synsets=synsets,
        senses={
            part: {lemma: entries.items() for lemma, entries in own.items() if entries}
            for part, own in senses.items()
        },
        exceptions=exceptions,
    )
