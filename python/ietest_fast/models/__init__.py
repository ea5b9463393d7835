"""The protocol of models, their registry, and every model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.models.classifiers import Scores as Scores
    from ietest_fast.models.classifiers import TextClassifier as TextClassifier
    from ietest_fast.models.estimators import as_classifier as as_classifier
    from ietest_fast.models.protocol import Bounds as Bounds
    from ietest_fast.models.protocol import Capabilities as Capabilities
    from ietest_fast.models.protocol import Choice as Choice
    from ietest_fast.models.protocol import Classifier as Classifier
    from ietest_fast.models.protocol import EncodedRows as EncodedRows
    from ietest_fast.models.protocol import EncodedSplit as EncodedSplit
    from ietest_fast.models.protocol import FloatRange as FloatRange
    from ietest_fast.models.protocol import IntegerRange as IntegerRange
    from ietest_fast.models.protocol import Model as Model
    from ietest_fast.models.protocol import Params as Params
    from ietest_fast.models.protocol import RowStore as RowStore
    from ietest_fast.models.protocol import SearchSpace as SearchSpace
    from ietest_fast.models.protocol import SplitTexts as SplitTexts
    from ietest_fast.models.protocol import check_against_space as check_against_space
    from ietest_fast.models.protocol import load_model as load_model
    from ietest_fast.models.protocol import model_names as model_names

__all__ = [
    "Bounds",
    "Capabilities",
    "Choice",
    "Classifier",
    "EncodedRows",
    "EncodedSplit",
    "FloatRange",
    "IntegerRange",
    "Model",
    "Params",
    "RowStore",
    "Scores",
    "SearchSpace",
    "SplitTexts",
    "TextClassifier",
    "as_classifier",
    "check_against_space",
    "load_model",
    "model_names",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Bounds": "protocol",
        "Capabilities": "protocol",
        "Choice": "protocol",
        "Classifier": "protocol",
        "EncodedRows": "protocol",
        "EncodedSplit": "protocol",
        "FloatRange": "protocol",
        "IntegerRange": "protocol",
        "Model": "protocol",
        "Params": "protocol",
        "RowStore": "protocol",
        "Scores": "classifiers",
        "SearchSpace": "protocol",
        "SplitTexts": "protocol",
        "TextClassifier": "classifiers",
        "as_classifier": "estimators",
        "check_against_space": "protocol",
        "load_model": "protocol",
        "model_names": "protocol",
    },
)
