"""Importing thinc, the numerical layer of spaCy, without torch where nothing will miss it.

thinc imports torch wherever it is installed, to offer layers that wrap it. That takes seconds and
half a gigabyte, in every tagging process, for pipelines that are made of spaCy's own layers. What
thinc has found at its import stays so for the life of the process; therefore torch is passed by
only in processes that are this package's own, never in a program that uses it as a library.
"""

from __future__ import annotations

import importlib
import re
import sys
from typing import TYPE_CHECKING

from ietest_fast.runtime import is_own_process

if TYPE_CHECKING:
    from collections.abc import Iterable


def import_thinc(config: str, own_components: Iterable[str]) -> None:
    """Import thinc, if that is to be done before a pipeline is loaded.

    Parameters
    ----------
    config
        The pipeline's ``config.cfg``.
    own_components
        Factories of components that are spaCy's own.
    """
    if "thinc" in sys.modules or "torch" in sys.modules or not is_own_process():
        return
    if not _is_made_of_spacy(config, frozenset(own_components)):
        return
    sys.modules["torch"] = None  # type: ignore[assignment]  # makes `import torch` fail
    try:
        importlib.import_module("thinc.compat")
    finally:
        del sys.modules["torch"]


def _is_made_of_spacy(config: str, own_components: frozenset[str]) -> bool:
    factories = re.findall(r'^factory\s*=\s*"([^"]*)"', config, re.MULTILINE)
    layers = re.findall(r'^@(?:architectures|layers)\s*=\s*"([^"]*)"', config, re.MULTILINE)
    return own_components.issuperset(factories) and all(
        layer.startswith("spacy.") and "torch" not in layer.lower() for layer in layers
    )
