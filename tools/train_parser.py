"""Train the packaged parser: Penn tags and Universal Dependencies.

    python tools/train_parser.py --ewt ud_english_ewt_train.conllu.gz \
        --dev ud_english_ewt_dev.conllu.gz --out FOLDER

The pipeline is a small convolutional tok2vec with a tagger and a transition-based parser, trained
on UD English EWT. One to three sentences make a text, so that it learns where sentences end. Texts
are lower-cased, and stripped of punctuation, at random: captions look like that.

One thread and a fixed seed: the same machine and library versions give the same pipeline.
"""

from __future__ import annotations

# ruff: noqa: I001

import time

from convolutional import EWT, blank_pipeline, fix_chance, options, rate_at, tag_head

import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch
from thinc.api import Adam
from treebanks import Sentence, read_conllu
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    import random
    from collections.abc import Iterator

    from spacy.language import Language

# Of UD's subtypes, those that the transformations read; the others are learnt without.
SUBTYPES = frozenset(
    {"nsubj:pass", "aux:pass", "obl:agent", "acl:relcl", "nmod:poss", "csubj:pass"}
)


def build(arguments: argparse.Namespace) -> Language:
    """Give the untrained pipeline."""
    nlp, listener = blank_pipeline(arguments)
    nlp.add_pipe("tagger", config={"model": tag_head(listener)})
    moves = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "extra_state_tokens": False,
        "hidden_width": arguments.hidden,
        "maxout_pieces": 2,
        "use_upper": True,
        "nO": None,
        "tok2vec": listener,
    }
    nlp.add_pipe("parser", config={"model": moves, "min_action_freq": 10})
    return nlp


def shorten(relation: str) -> str:
    """Leave out subtypes that nothing reads; spaCy writes a root in capitals."""
    if relation == "root":
        return "ROOT"
    return relation if relation in SUBTYPES else relation.partition(":")[0]


def example_of(
    nlp: Language, sentences: list[Sentence], *, lower: bool = False, unmarked: str = ""
) -> Example:
    """Give a training example of some sentences.

    Parameters
    ----------
    nlp
        Whose vocabulary it gets.
    sentences
        In their order.
    lower
        Whether to write them in small letters.
    unmarked
        ``"all"`` to leave out punctuation, ``"last"`` for the final mark alone.
    """
    words: list[str] = []
    spaces: list[bool] = []
    tags: list[str] = []
    heads: list[int] = []
    relations: list[str] = []
    for sentence in sentences:
        kept = list(range(len(sentence.words)))
        governs = {sentence.heads[i] for i in kept if sentence.heads[i] != i}
        marks = {i for i in kept if sentence.upos[i] == "PUNCT" and i not in governs}
        if unmarked == "all" and len(marks) < len(kept):
            kept = [i for i in kept if i not in marks]
        elif unmarked == "last" and len(kept) > 1 and kept[-1] in marks:
            kept.pop()
        place_of = {i: len(words) + place for place, i in enumerate(kept)}
        for i in kept:
            words.append(sentence.words[i].lower() if lower else sentence.words[i])
            spaces.append(sentence.spaces[i] or i == kept[-1])
            # A name in small letters would teach that any noun in small letters may be a name.
            is_name = sentence.penn[i] in {"NNP", "NNPS"}
            tags.append("" if lower and is_name else sentence.penn[i])
            heads.append(place_of[sentence.heads[i]])
            relations.append(shorten(sentence.relations[i]))
    gold = Doc(nlp.vocab, words=words, spaces=spaces, tags=tags, heads=heads, deps=relations)
    return Example(Doc(nlp.vocab, words=words, spaces=spaces), gold)


def texts_of(sentences: list[Sentence], draw: random.Random) -> Iterator[list[Sentence]]:
    """Yield one to three sentences at a time, in an order that is drawn."""
    order = list(range(len(sentences)))
    draw.shuffle(order)
    at = 0
    while at < len(order):
        n = draw.choice((1, 1, 1, 2, 3))
        yield [sentences[i] for i in order[at : at + n]]
        at += n


def augmented(nlp: Language, sentences: list[Sentence], draw: random.Random) -> Example:
    """Give sentences as they are, or made to look like captions."""
    lower = draw.random() < 0.2
    unmarked = ("all" if draw.random() < 0.3 else "last") if draw.random() < 0.25 else ""
    return example_of(nlp, sentences, lower=lower, unmarked=unmarked)


def measure(nlp: Language, sentences: list[Sentence]) -> dict[str, float]:
    """Give accuracies on gold tokens, one sentence at a time; marks are left out."""
    n = unlabelled = labelled = tagged = 0
    docs = (Doc(nlp.vocab, words=list(s.words), spaces=list(s.spaces)) for s in sentences)
    for doc, sentence in zip(nlp.pipe(docs, batch_size=256), sentences, strict=True):
        for token in doc:
            i = token.i
            if sentence.upos[i] == "PUNCT":
                continue
            n += 1
            tagged += token.tag_ == sentence.penn[i]
            if token.head.i == sentence.heads[i]:
                unlabelled += 1
                labelled += token.dep_ == shorten(sentence.relations[i])
    return {"uas": unlabelled / n, "las": labelled / n, "tags": tagged / n}


def train(arguments: argparse.Namespace) -> Language:
    """Train and give the pipeline."""
    started = time.perf_counter()
    draw = fix_chance(arguments.seed)
    ewt = list(read_conllu(arguments.ewt))
    dev = list(read_conllu(arguments.dev))
    nlp = build(arguments)
    nlp.initialize(lambda: (example_of(nlp, [sentence]) for sentence in ewt))
    total = arguments.epochs * sum(len(s.words) for s in ewt)
    optimizer = Adam(arguments.rate, L2=0.01, grad_clip=1.0, use_averages=True)
    done = 0
    for epoch in range(arguments.epochs):
        losses: dict[str, float] = {}
        for batch in minibatch(texts_of(ewt, draw), size=12 if epoch == 0 else 24):
            optimizer.learn_rate = rate_at(done / total, arguments.rate)
            examples = [augmented(nlp, sentences, draw) for sentences in batch]
            nlp.update(examples, sgd=optimizer, losses=losses, drop=arguments.dropout)
            done += sum(len(s.words) for sentences in batch for s in sentences)
        with nlp.use_params(optimizer.averages):
            found = measure(nlp, dev)
        print(
            f"epoch {epoch + 1:2d}  "
            + "  ".join(f"{name} {value:.4f}" for name, value in found.items())
            + f"  loss {losses['parser']:.0f}  {time.perf_counter() - started:.0f} s",
            flush=True,
        )
    averaged = nlp.use_params(optimizer.averages)
    with averaged:
        nlp.get_pipe("parser").cfg["update_with_oracle_cut_size"] = 100
        return finished(nlp)


def finished(nlp: Language) -> Language:
    """Give the pipeline to ship, with no words of the training texts."""
    shipped = spacy.blank("en")
    for name in ("tok2vec", "tagger", "parser"):
        shipped.add_pipe(name, config={"model": nlp.get_pipe_config(name)["model"]})
        shipped.get_pipe(name).from_bytes(nlp.get_pipe(name).to_bytes(exclude=["vocab"]))
        # Labels are read off by their hashes.
        for label in getattr(shipped.get_pipe(name), "labels", ()):
            shipped.vocab.strings.add(label)
    shipped.meta.update(
        name="ietest_parser",
        version="1.0.0",
        description="Penn tags and Universal Dependencies of English sentences.",
        license="CC BY-SA 4.0",
        spacy_version=">=3.8.7,<4.0.0",
        sources=[EWT],
    )
    return shipped


def main() -> None:
    """Read the options, train, write the folder."""
    parser = options(__doc__.splitlines()[0], width=96, depth=4, rate=0.003)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=14)
    arguments = parser.parse_args()
    train(arguments).to_disk(arguments.out)


if __name__ == "__main__":
    main()
