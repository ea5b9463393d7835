"""Reading the two corpora that the packaged tagger and parser are trained on and measured with."""

from __future__ import annotations

import gzip
import re
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UPOS = (  # noqa: SIM905
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
).split()  # fmt: skip
PENN = frozenset(
    "# $ '' ( ) , . : `` AFX CC CD DT EX FW HYPH IN JJ JJR JJS LS MD NFP NN NNP NNPS NNS PDT POS "  # noqa: SIM905
    "PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB ADD GW XX".split()
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """One sentence with gold tokens; a tag is ``""`` where the corpus has none to trust."""

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    penn: tuple[str, ...]
    upos: tuple[str, ...]
    number: tuple[str, ...]  # "Sing", "Plur" or "" ; of common nouns only
    heads: tuple[int, ...] = ()  # places of the heads; a root is its own
    relations: tuple[str, ...] = ()  # of UD, with subtypes; "root" of a root


def read_conllu(path: Path) -> Iterator[Sentence]:
    """Give the sentences of a CoNLL-U file (gzipped or not), syntactic words as tokens."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        rows: list[list[str]] = []
        glued: dict[str, bool] = {}
        inside = 0
        for line in map(str.rstrip, lines):
            if not line:
                if rows:
                    yield _sentence_of(rows, glued)
                rows, glued, inside = [], {}, 0
            elif not line.startswith("#"):
                cells = line.split("\t")
                first, _, last = cells[0].partition("-")
                if last:  # "don't" above its words "do" and "n't": no space inside
                    glued.update({str(k): True for k in range(int(first), int(last))})
                    glued[last] = "SpaceAfter=No" in cells[9]
                    inside = int(last)
                elif "." not in cells[0]:
                    rows.append(cells)
                    if int(first) > inside:
                        glued[first] = "SpaceAfter=No" in cells[9]
        if rows:
            yield _sentence_of(rows, glued)


def _sentence_of(rows: list[list[str]], glued: dict[str, bool]) -> Sentence:
    number = []
    for row in rows:
        found = re.search(r"\bNumber=(Sing|Plur)\b", row[5])
        # Mass and plural-only nouns carry Sing and Ptan in UD: a Ptan (jeans) is a plural form.
        plural_only = "Number=Ptan" in row[5]
        if row[3] != "NOUN":
            number.append("")
        else:
            number.append("Plur" if plural_only else found.group(1) if found else "")
    return Sentence(
        words=tuple(row[1] for row in rows),
        spaces=tuple(not glued[row[0]] for row in rows),
        penn=tuple(row[4] if row[4] in PENN else "" for row in rows),
        upos=tuple(row[3] if row[3] in UPOS else "" for row in rows),
        number=tuple(number),
        heads=tuple(place if row[6] == "0" else int(row[6]) - 1 for place, row in enumerate(rows)),
        relations=tuple(row[7] for row in rows),
    )


def read_masc(path: Path, *, longest: int = 120) -> Iterator[Sentence]:
    """Give the sentences of ``masc_tagged.zip`` (``word_TAG word_TAG ...``, one a line).

    Its tags come partly from a program. Those that cannot be right are left out: unknown ones and
    the ``i_NNP 'm_NNP`` of transcribed speech. Lines over `longest` tokens are runs of unsplit
    sentences and are skipped.
    """
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            if not name.endswith(".txt") or name.endswith("categories.txt"):
                continue
            for line in archive.read(name).decode("utf-8", errors="replace").splitlines():
                pairs = [item.rpartition("_") for item in line.split()]
                pairs = [pair for pair in pairs if pair[0]]
                if not 1 < len(pairs) <= longest:
                    continue
                words = tuple(word for word, _, _ in pairs)
                penn = tuple(
                    tag if tag in PENN and not _is_speech_noise(word, tag) else ""
                    for word, _, tag in pairs
                )
                blank = ("",) * len(words)
                yield Sentence(
                    words=words, spaces=(True,) * len(words), penn=penn, upos=blank, number=blank
                )


def _is_speech_noise(word: str, tag: str) -> bool:
    return tag == "NNP" and (word == "i" or word.startswith("'"))
