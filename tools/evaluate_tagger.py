"""Measure a tagger on UD English EWT's development set: accuracy, speed, size.

    python tools/evaluate_tagger.py --dev ud_english_ewt_dev.conllu.gz [--tagger NAME_OR_FOLDER]

Gold tokens go in, so tokenisation plays no part in accuracy. Speed is the pipeline's own, one
thread, tokens ready; and, as the package uses it, from plain text with tokenisation. Seconds are of
processor time, so that other programs on the machine matter less.
"""

# ruff: noqa: E402, I001

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

# Before NumPy is loaded, or it has no effect.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[variable] = "1"

import spacy
from ietest_fast.lexicon.pipelines import Pipeline
from ietest_fast.lexicon.annotator import Tagger
from spacy.tokens import Doc
from treebanks import read_conllu


def main() -> None:
    """Read the options, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--tagger", default="packaged")
    parser.add_argument("--lower", action="store_true", help="lower-case the words first")
    arguments = parser.parse_args()
    tagger = Tagger.load(arguments.tagger)
    nlp = spacy.load(tagger.folder, exclude=["parser", "ner", "lemmatizer", "senter"])
    sentences = list(read_conllu(arguments.dev))

    def docs() -> list[Doc]:
        return [
            Doc(
                nlp.vocab,
                words=[word.lower() if arguments.lower else word for word in sentence.words],
                spaces=list(sentence.spaces),
            )
            for sentence in sentences
        ]

    right = noun_right = n = 0
    nouns = number_right = 0
    for doc, sentence in zip(nlp.pipe(docs()), sentences, strict=True):
        for token, upos, number in zip(doc, sentence.upos, sentence.number, strict=True):
            n += 1
            right += token.pos_ == upos
            noun_right += (token.pos_ == "NOUN") == (upos == "NOUN")
            if upos == "NOUN" == token.pos_ and number:
                nouns += 1
                number_right += number in token.morph.get("Number")
    print(f"universal tag       {right / n:.4f}  ({n} tokens)")
    print(f"noun or not         {noun_right / n:.4f}")
    print(f"number of nouns     {number_right / nouns:.4f}  ({nouns} nouns found)")

    many = [docs() for _ in range(6)]
    started = time.process_time()
    for batch in many[1:]:
        for _ in nlp.pipe(batch, batch_size=256):
            pass
    seconds = time.process_time() - started
    print(f"spaCy's nlp.pipe    {5 * n / seconds:,.0f} words/s, tokens ready")
    texts = [str(doc) for doc in many[0]] * 5
    pipeline = Pipeline.load(tagger.name)
    started = time.process_time()
    tags = pipeline.tag(texts)
    seconds = time.process_time() - started
    rate = len(tags.pos) / seconds
    print(f"Tagger              {rate:,.0f} words/s, tokenisation included")
    size = sum(path.stat().st_size for path in tagger.folder.rglob("*") if path.is_file())
    print(f"on disk             {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
