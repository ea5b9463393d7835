"""The protocol of models, their registry, and every model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.models.protocol import Capabilities as Capabilities
    from ietest_fast.models.protocol import Classifier as Classifier
    from ietest_fast.models.protocol import EncodedRows as EncodedRows
    from ietest_fast.models.protocol import EncodedSplit as EncodedSplit
    from ietest_fast.models.protocol import Model as Model
    from ietest_fast.models.protocol import SplitTexts as SplitTexts
    from ietest_fast.models.registry import load_model as load_model
    from ietest_fast.models.registry import model_names as model_names

__all__ = [
    "Capabilities",
    "Classifier",
    "EncodedRows",
    "EncodedSplit",
    "Model",
    "SplitTexts",
    "load_model",
    "model_names",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Capabilities": "protocol",
        "Classifier": "protocol",
        "EncodedRows": "protocol",
        "EncodedSplit": "protocol",
        "Model": "protocol",
        "SplitTexts": "protocol",
        "load_model": "registry",
        "model_names": "registry",
    },
)
