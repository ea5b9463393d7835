"""Models by name, imported when they are asked for."""

from __future__ import annotations

import importlib
import inspect
import operator
from typing import TYPE_CHECKING, cast

from ietest_fast.errors import InputError
from ietest_fast.models.protocol import Capabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ietest_fast.models.protocol import Model

# name -> "module:class"; the class is called with the options of the configuration.
_MODELS = {
    "bow-xgb": "ietest_fast.models.bag_of_words:BagOfWordsXGBoost",
    "bow-rf": "ietest_fast.models.bag_of_words:BagOfWordsForest",
    "align": "ietest_fast.models.alignment:Alignment",
    "cbow": "ietest_fast.models.networks:PairCBOW",
    "bilstm": "ietest_fast.models.networks:PairBiLSTM",
    "rnn": "ietest_fast.models.networks:RecurrentNetwork",
    "gru": "ietest_fast.models.networks:GatedRecurrentUnits",
    "lstm": "ietest_fast.models.networks:LongShortTermMemory",
    "transformer": "ietest_fast.models.transformer:Transformer",
}


# What a class has to offer before it is called: the methods of the protocol Model.
_METHODS = ("check_params", "encode", "load_store", "fit")


def model_names() -> tuple[str, ...]:
    """Give the names that :func:`load_model` knows."""
    return tuple(_MODELS)


def describe_models() -> dict[str, str]:
    """Give one line about each model, by name; nothing big is imported for it."""
    lines = {}
    for name in _MODELS:
        described = inspect.getdoc(find_model(name)) or ""
        lines[name] = described.partition("\n\n")[0].replace("\n", " ").rstrip(".")
    return lines


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
    """
    factory = find_model(name)
    _check_options(name, factory, options)
    try:
        model = factory(**options)
    except TypeError as error:
        raise InputError(f"the model {name!r} does not take these options: {error}") from error
    if not isinstance(getattr(model, "capabilities", None), Capabilities):
        raise InputError(
            f"the model {name!r} does not say what it can do: its class needs "
            "`capabilities = ietest_fast.models.Capabilities()`"
        )
    return cast("Model", model)


def find_model(name: str) -> type[object]:
    """Import the class of a family of models, without making one.

    Parameters
    ----------
    name
        As for :func:`load_model`.

    Raises
    ------
    InputError
        If there is no such model, or what is found is no class that offers what a model has to.
    """
    target = _MODELS.get(name, name)
    module_name, colon, attribute = target.partition(":")
    parts = [*module_name.split("."), *attribute.split(".")]
    if not colon or not all(part.isidentifier() for part in parts):
        raise InputError(
            f"no model is called {name!r}; there are {', '.join(_MODELS)}, "
            'or "package.module:Class" for a model of your own'
        )
    try:
        found: object = operator.attrgetter(attribute)(importlib.import_module(module_name))
    except ModuleNotFoundError as error:
        # A missing dependency of a model that exists is the user's to see as it is.
        if error.name is not None and not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise InputError(f"the model {name!r} cannot be imported: {error}") from error
    except AttributeError as error:
        raise InputError(f"the model {name!r} cannot be imported: {error}") from error
    missing = [method for method in _METHODS if not callable(getattr(found, method, None))]
    if not inspect.isclass(found) or missing:
        kind = "class" if inspect.isclass(found) else type(found).__name__
        raise InputError(
            f"{name!r} is no class of models, but a {kind} without "
            f"{', '.join(missing) or 'instances'}; see ietest_fast.models.Model"
        )
    return found


def _check_options(
    name: str, factory: Callable[..., object], options: Mapping[str, object]
) -> None:
    """Say which options a model has, if it lacks one that is given."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return  # written in C: the call itself will tell
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    takes = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = [parameter.name for parameter in parameters if parameter.kind in takes]
    unknown = [option for option in options if option not in known]
    if unknown:
        raise InputError(
            f"the model {name!r} has no option {', '.join(map(repr, unknown))}; "
            + (f"it has {', '.join(known)}" if known else "it has none")
        )
