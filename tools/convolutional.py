"""What the trainings of the packaged tagger and parser share: one thread, layers, rate, options.

Import this before anything that loads NumPy, or the limit to one thread has no effect.
"""

from __future__ import annotations

# ruff: noqa: E402, I001

import argparse
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[variable] = "1"

import spacy
from spacy.util import fix_random_seed
from thinc.api import NumpyOps, set_current_ops

if TYPE_CHECKING:
    from spacy.language import Language

EWT = {
    "name": "Universal Dependencies English EWT",
    "url": "https://github.com/UniversalDependencies/UD_English-EWT",
    "license": "CC BY-SA 4.0",
}


def fix_chance(seed: int) -> random.Random:
    """Fix every source of chance, and give one for the order of the texts."""
    # NumPy's matrix product is three times as fast as BLIS's on recent processors.
    set_current_ops(NumpyOps(use_blis=False))
    fix_random_seed(seed)
    return random.Random(seed)


def blank_pipeline(arguments: argparse.Namespace) -> tuple[Language, dict[str, Any]]:
    """Give a pipeline with a small convolutional tok2vec, and a head's input from it."""
    nlp = spacy.blank("en")
    nlp.add_pipe(
        "tok2vec",
        config={
            "model": {
                "@architectures": "spacy.Tok2Vec.v2",
                "embed": {
                    "@architectures": "spacy.MultiHashEmbed.v2",
                    "width": arguments.width,
                    "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
                    "rows": arguments.rows,
                    "include_static_vectors": False,
                },
                "encode": {
                    "@architectures": "spacy.MaxoutWindowEncoder.v2",
                    "width": arguments.width,
                    "depth": arguments.depth,
                    "window_size": 1,
                    "maxout_pieces": arguments.pieces,
                },
            }
        },
    )
    listener = {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": arguments.width,
        "upstream": "*",
    }
    return nlp, listener


def tag_head(listener: dict[str, Any]) -> dict[str, Any]:
    """Give the model of a component that tags tokens."""
    return {"@architectures": "spacy.Tagger.v2", "tok2vec": listener, "nO": None}


def rate_at(share: float, peak: float) -> float:
    """Give the learning rate after a share of the training: up for 2% of it, then down."""
    return peak * min(1.0, share / 0.02) * (1.0 - share) + 1e-6


def options(description: str, *, width: int, depth: int, rate: float) -> argparse.ArgumentParser:
    """Give a command line with the options of both trainings."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--ewt", type=Path, required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--width", type=int, default=width)
    parser.add_argument("--depth", type=int, default=depth)
    parser.add_argument("--pieces", type=int, default=3)
    parser.add_argument("--rows", type=int, nargs=4, default=[5000, 1000, 2500, 1000])
    parser.add_argument("--rate", type=float, default=rate)
    parser.add_argument("--dropout", type=float, default=0.15)
    parser.add_argument("--seed", type=int, default=20230)
    return parser
