"""Importing thinc, the numerical layer of spaCy, without torch where nothing will miss it.

thinc imports torch wherever it is installed, to offer layers that wrap it. That takes seconds and
half a gigabyte, in every tagging process, for pipelines that are made of spaCy's own layers. What
thinc has found at its import stays so for the life of the process; therefore torch is passed by
only in processes that are this package's own, never in a program that uses it as a library.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ietest_fast.runtime import hide_module, is_own_process

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def import_thinc(config: Mapping[str, Any], own_components: Iterable[str]) -> None:
    """Import thinc, if that is to be done before a pipeline is loaded."""
    if "thinc" in sys.modules or "torch" in sys.modules or not is_own_process():
        return
    if not _is_made_of_spacy(config, frozenset(own_components)):
        return
    with hide_module("torch"):
        importlib.import_module("thinc.compat")


def _is_made_of_spacy(config: Mapping[str, Any], own_components: frozenset[str]) -> bool:
    settings = list(_settings(config))
    factories = [value for name, value in settings if name == "factory"]
    layers = [str(value) for name, value in settings if name in {"@architectures", "@layers"}]
    return own_components.issuperset(factories) and all(
        layer.startswith("spacy.") and "torch" not in layer.lower() for layer in layers
    )


def _settings(section: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Go through all names and values of a section and of those inside it."""
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from _settings(value)
        else:
            yield name, value
