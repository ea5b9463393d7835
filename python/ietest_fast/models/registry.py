"""Models by name, imported when they are asked for."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, cast

from ietest_fast.errors import IetestError, InputError
from ietest_fast.models.protocol import Capabilities
from ietest_fast.registry import Registry, check_options, lacks_methods

if TYPE_CHECKING:
    from collections.abc import Callable

    from ietest_fast.models.protocol import Model

_PROTOCOL = "ietest_fast.models.Model"

# The class is called with the options of the configuration.
_MODELS: Registry[type[object]] = Registry(
    group="ietest_fast.models",
    builtin={
        "bow-xgb": "ietest_fast.models.bag_of_words:BagOfWordsXGBoost",
        "bow-rf": "ietest_fast.models.bag_of_words:BagOfWordsForest",
        "align": "ietest_fast.models.alignment:Alignment",
        "ngram-linear": "ietest_fast.models.ngram_linear:NgramLinear",
        "cbow": "ietest_fast.models.networks:PairCBOW",
        "bilstm": "ietest_fast.models.networks:PairBiLSTM",
        "rnn": "ietest_fast.models.networks:RecurrentNetwork",
        "gru": "ietest_fast.models.networks:GatedRecurrentUnits",
        "lstm": "ietest_fast.models.networks:LongShortTermMemory",
        "transformer": "ietest_fast.models.transformer:Transformer",
    },
    noun="model",
    check=lacks_methods(
        "models", "check_params", "encode", "load_store", "fit", see=f"{_PROTOCOL}"
    ),
)

# What an instance has to have beside the methods that its class is checked for.
_ATTRIBUTES = ("name", "backend", "options", "capabilities", "search_space", "presets")


def model_names() -> tuple[str, ...]:
    """Return the names that :func:`load_model` knows: built-in models, then other packages'."""
    return _MODELS.names()


def describe_models() -> dict[str, str]:
    """Return one line about each model, by name; nothing big is imported for it."""
    lines = {}
    for name in model_names():
        origin = _MODELS.origin(name)
        try:
            described = inspect.getdoc(find_model(name)) or "no description"
        except IetestError as error:  # somebody's package is broken: the others can be listed
            described = str(error)
        line = described.partition("\n\n")[0].replace("\n", " ").rstrip(".")
        lines[name] = line if origin is None else f"{line} ({origin})"
    return lines


def find_model(name: str) -> type[object]:
    """Import the class of a family of models, without making one."""
    return _MODELS.find(name)


def load_model(name: str, /, **options: str | float | bool) -> Model:
    """Import a family of models and set it up.

    Parameters
    ----------
    name
        One of :func:`model_names`, or ``"package.module:Class"`` for a model of one's own.
    **options
        Settings that the model takes, such as ``weighting="tfidf"``.

    Returns
    -------
    Model

    Raises
    ------
    InputError
        If there is no such model, it does not offer what a model has to, or it does not take these
        options. Nothing is called before it is known to be a class of models: names may come from a
        configuration that somebody else wrote.
    ResourceError
        If a package that it needs is not installed.
    """
    factory = cast("Callable[..., object]", find_model(name))
    check_options(f"the model {name!r}", factory, options)
    try:
        model = factory(**options)
    except TypeError as error:
        raise InputError(f"the model {name!r} does not take these options: {error}") from error
    missing = [attribute for attribute in _ATTRIBUTES if not _has(model, attribute)]
    if missing:
        raise InputError(f"the model {name!r} lacks {', '.join(missing)}; see {_PROTOCOL}")
    made = cast("Model", model)
    if not isinstance(made.capabilities, Capabilities):
        raise InputError(
            f"the model {name!r}: its capabilities are of type "
            f"{type(made.capabilities).__name__}, expected ietest_fast.models.Capabilities"
        )
    return made


def _has(model: object, attribute: str) -> bool:
    """Look for an attribute without computing it, which may import torch or hash weights."""
    try:
        inspect.getattr_static(model, attribute)
    except AttributeError:
        return False
    return True
