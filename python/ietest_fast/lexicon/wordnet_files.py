"""WordNet's relations as arrays: read from a dict folder, written to and read from one file.

The arrays hold what substitution needs and nothing else: which synsets a lemma has, in WordNet's
order; the lemmas of each synset, in its order; how often each sense was tagged in SemCor; and the
exception lists of the morphology. No glosses.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ietest_fast.errors import InputError, ResourceError
from ietest_fast.files import check_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PARTS = "nvar"
"""Parts of speech in NLTK's order of search: nouns, verbs, adjectives, adverbs."""

_FILE_OF_PART = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_PART_OF_KEY = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
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
            "header": _bytes_array(json.dumps(header, sort_keys=True)),
            "words": _bytes_array("\n".join(self.words)),
            "cased": _bytes_array("\n".join(self.cased)),
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
            arrays[f"exceptions_{part}"] = _bytes_array("\n".join(sorted(lines)))
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        return buffer.getvalue()

    @staticmethod
    def from_file(path: Path) -> Relations:
        """Read the one-file form."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                header = json.loads(_text(arrays["header"]))
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
                    words=tuple(_text(arrays["words"]).split("\n")),
                    cased=tuple(_text(arrays["cased"]).split("\n")),
                    n_senses=n_senses,
                    sense_synset=arrays["sense_synset"],
                    sense_count=sense_count,
                    n_members=n_members,
                    member=arrays["member"],
                    is_instance=instance.astype(np.bool_),
                    exceptions={
                        part: _exceptions(_text(arrays[f"exceptions_{part}"]).splitlines())
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


def _bytes_array(text: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer(text.encode("utf-8"), dtype=np.uint8)


def _text(array: npt.NDArray[np.uint8]) -> str:
    return array.tobytes().decode("utf-8")


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
    senses: dict[str, dict[str, list[tuple[tuple[str, int], int]]]] = {}
    for part in PARTS:
        path = folder / f"index.{_FILE_OF_PART[part]}"
        senses[part] = {}
        for row, line in enumerate(_lines(path), start=1):
            if line.startswith(" "):
                continue
            cells = line.split()
            try:
                n_synsets, n_pointers = int(cells[2]), int(cells[3])
                offsets = [int(cell) for cell in cells[6 + n_pointers :]]
            except (ValueError, IndexError) as error:
                raise InputError(
                    f"not a line of WordNet's index format ({error})", path=path, row=f"line {row}"
                ) from error
            if len(offsets) != n_synsets or any((part, o) not in synsets for o in offsets):
                raise InputError(
                    f"the synsets of {cells[0]!r} are not those of data.{_FILE_OF_PART[part]}; is "
                    "this an intact dict folder (line endings unchanged)?",
                    path=path,
                    row=f"line {row}",
                )
            senses[part][cells[0]] = [
                ((part, offset), counts.get((part, cells[0], rank), 0))
                for rank, offset in enumerate(offsets, start=1)
            ]
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
