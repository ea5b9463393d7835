"""Train the packaged tagger: universal tags, and number of common nouns.

    python tools/train_tagger.py --ewt ud_english_ewt_train.conllu.gz \
        --dev ud_english_ewt_dev.conllu.gz --masc masc_tagged.zip --out FOLDER

The pipeline is a small convolutional tok2vec with a morphologizer on UD English EWT's tags. While
training, a second head predicts Penn tags on EWT and on MASC's three times larger text; it teaches
the shared layers and is thrown away at the end. In the last epochs EWT is alone. Sentences are
lower-cased, and stripped of punctuation, at random: captions and the ``paper`` rules' texts look
like that.

One thread and a fixed seed: the same machine and library versions give the same pipeline.
"""

from __future__ import annotations

# ruff: noqa: I001

import time
from pathlib import Path

from convolutional import EWT, blank_pipeline, fix_chance, options, rate_at, tag_head

import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch
from thinc.api import Adam
from treebanks import Sentence, read_conllu, read_masc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    import random
    from spacy.language import Language


def build(arguments: argparse.Namespace) -> Language:
    """Give the untrained pipeline: tok2vec, morphologizer, and the helping tagger."""
    nlp, listener = blank_pipeline(arguments)
    head = tag_head(listener)
    nlp.add_pipe("morphologizer", config={"model": head})
    nlp.add_pipe("tagger", name="penn", config={"model": head})
    return nlp


def example_of(nlp: Language, sentence: Sentence, kept: list[int], *, lower: bool) -> Example:
    """Give a training example of the kept tokens."""
    words = [sentence.words[i].lower() if lower else sentence.words[i] for i in kept]
    spaces = [sentence.spaces[i] for i in kept]
    upos = [sentence.upos[i] for i in kept]
    if lower:
        # A name in small letters would teach that any noun in small letters may be a name.
        upos = ["" if tag == "PROPN" else tag for tag in upos]
    gold = Doc(
        nlp.vocab,
        words=words,
        spaces=spaces,
        tags=[sentence.penn[i] for i in kept],
        pos=upos if any(upos) else None,
    )
    for token, i in zip(gold, kept, strict=True):
        # Where morphology is not set, and that is not the same as empty, nothing is taught.
        if token.pos:
            token.set_morph(f"Number={sentence.number[i]}" if sentence.number[i] else "")
    return Example(Doc(nlp.vocab, words=words, spaces=spaces), gold)


def augmented(nlp: Language, sentence: Sentence, draw: random.Random) -> Example:
    """Give the sentence as it is, or made to look like a caption."""
    everything = list(range(len(sentence.words)))
    lower = draw.random() < 0.25
    if draw.random() < 0.25:
        is_mark = [not any(letter.isalnum() for letter in word) for word in sentence.words]
        if draw.random() < 0.5:  # the final mark only
            kept = everything[:-1] if is_mark[-1] else everything
        else:
            kept = [i for i in everything if not is_mark[i]]
        return example_of(nlp, sentence, kept or everything, lower=lower)
    return example_of(nlp, sentence, everything, lower=lower)


def accuracy(nlp: Language, sentences: list[Sentence]) -> tuple[float, float]:
    """Give universal-tag accuracy and noun-or-not accuracy on gold tokens."""
    right = noun = n = 0
    docs = (Doc(nlp.vocab, words=list(s.words), spaces=list(s.spaces)) for s in sentences)
    for doc, sentence in zip(nlp.pipe(docs, batch_size=256), sentences, strict=True):
        for token, gold in zip(doc, sentence.upos, strict=True):
            n += 1
            right += token.pos_ == gold
            noun += (token.pos_ == "NOUN") == (gold == "NOUN")
    return right / n, noun / n


def train(arguments: argparse.Namespace) -> Language:
    """Train and give the pipeline without its helping head."""
    started = time.perf_counter()
    draw = fix_chance(arguments.seed)
    ewt = list(read_conllu(arguments.ewt))
    masc = [] if arguments.masc is None else list(read_masc(arguments.masc))
    dev = list(read_conllu(arguments.dev))
    nlp = build(arguments)
    nlp.initialize(
        lambda: (example_of(nlp, s, list(range(len(s.words))), lower=False) for s in ewt + masc)
    )

    n_both, n_alone = arguments.epochs
    n_words = sum(len(s.words) for s in ewt)
    n_words_masc = sum(len(s.words) for s in masc)
    total = n_both * (n_words + n_words_masc) + n_alone * n_words
    optimizer = Adam(arguments.rate, L2=0.01, grad_clip=1.0, use_averages=False)
    done = 0
    for epoch in range(n_both + n_alone):
        sentences = ewt + masc if epoch < n_both else list(ewt)
        draw.shuffle(sentences)
        losses: dict[str, float] = {}
        # Bigger batches later: less noise as the rate falls.
        size = 16 if epoch == 0 else 32
        for batch in minibatch(sentences, size=size):
            optimizer.learn_rate = rate_at(done / total, arguments.rate)
            examples = [augmented(nlp, sentence, draw) for sentence in batch]
            nlp.update(examples, sgd=optimizer, losses=losses, drop=arguments.dropout)
            done += sum(len(s.words) for s in batch)
        upos, noun = accuracy(nlp, dev)
        seconds, cpu = time.perf_counter() - started, time.process_time()
        print(
            f"epoch {epoch + 1:2d}  upos {upos:.4f}  noun {noun:.4f}  "
            f"loss {losses['morphologizer']:.0f}  {seconds:.0f} s (cpu {cpu:.0f} s)",
            flush=True,
        )
    return finished(nlp)


def finished(nlp: Language) -> Language:
    """Give the pipeline to ship: one component, and no words of the training texts."""
    nlp.remove_pipe("penn")
    nlp.replace_listeners("tok2vec", "morphologizer", ["model.tok2vec"])
    trained = nlp.get_pipe("morphologizer")
    shipped = spacy.blank("en")
    config = {
        key: value
        for key, value in nlp.get_pipe_config("morphologizer").items()
        if key in ("model", "scorer", "overwrite", "extend")
    }
    shipped.add_pipe("morphologizer", config=config)
    shipped.get_pipe("morphologizer").from_bytes(trained.to_bytes(exclude=["vocab"]))
    shipped.meta.update(
        name="ietest_tagger",
        version="1.0.0",
        description="Universal tags, and number of common nouns, of English sentences.",
        license="CC BY-SA 4.0",
        spacy_version=">=3.8.7,<4.0.0",
        sources=[
            EWT,
            {
                "name": "Manually Annotated Sub-Corpus (MASC)",
                "url": "https://anc.org/data/masc/",
                "license": "free of restrictions",
            },
        ],
    )
    return shipped


def main() -> None:
    """Read the options, train, write the folder."""
    parser = options(__doc__.splitlines()[0], width=64, depth=3, rate=0.006)
    parser.add_argument("--masc", type=Path)
    parser.add_argument("--epochs", type=int, nargs=2, default=[3, 9], metavar=("BOTH", "EWT"))
    arguments = parser.parse_args()
    train(arguments).to_disk(arguments.out)


if __name__ == "__main__":
    main()
