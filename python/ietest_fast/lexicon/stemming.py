"""Porter's stems, by NLTK's implementation of them.

M. F. Porter, *An algorithm for suffix stripping*, Program 14 (1980), with NLTK's departures, which
are the published experiments' too.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["porter_stem"]

_STEMMER = "nltk.stem.porter"


@functools.lru_cache(maxsize=1 << 16)
def porter_stem(word: str) -> str:
    """Return the stem of a word in lower case, as ``nltk.PorterStemmer().stem`` does."""
    return _stemmer()(word)


@functools.cache
def _stemmer() -> Callable[[str], str]:
    stem: Callable[[str], str] = _import_stemmer().PorterStemmer().stem
    return stem


def _import_stemmer() -> Any:
    """Import NLTK's stemmer without the rest of NLTK, which takes a hundred times as long.

    The packages above the module are replaced, for as long as it is imported, by empty ones that
    have their folders; whoever imports NLTK afterwards gets all of it.
    """
    if "nltk" in sys.modules:
        return importlib.import_module(_STEMMER)
    above = _STEMMER.split(".")[:-1]
    folder = importlib.util.find_spec("nltk")
    if folder is None or folder.submodule_search_locations is None:
        return importlib.import_module(_STEMMER)  # which says what is missing
    places = list(folder.submodule_search_locations)
    try:
        for depth in range(len(above)):
            package = ModuleType(".".join(above[: depth + 1]))
            package.__path__ = [str(Path(place, *above[1 : depth + 1])) for place in places]
            sys.modules[package.__name__] = package
        return importlib.import_module(_STEMMER)
    finally:
        for name in [name for name in sys.modules if name == "nltk" or name.startswith("nltk.")]:
            del sys.modules[name]
