"""The protocol of models, their registry, and every model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ietest_fast.models.protocol import Classifier as Classifier
    from ietest_fast.models.protocol import EncodedRows as EncodedRows
    from ietest_fast.models.protocol import EncodedSplit as EncodedSplit
    from ietest_fast.models.protocol import Model as Model
    from ietest_fast.models.protocol import SplitTexts as SplitTexts
    from ietest_fast.models.registry import load_model as load_model
    from ietest_fast.models.registry import model_names as model_names

_LAZY = {
    "Classifier": "protocol",
    "EncodedRows": "protocol",
    "EncodedSplit": "protocol",
    "Model": "protocol",
    "SplitTexts": "protocol",
    "load_model": "registry",
    "model_names": "registry",
}

__all__ = [
    "Classifier",
    "EncodedRows",
    "EncodedSplit",
    "Model",
    "SplitTexts",
    "load_model",
    "model_names",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
