"""Models by name, imported when they are asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from ietest_fast.models.protocol import Model

# name -> "module:class"; the class is called with the options of the configuration.
_MODELS = {
    "bow-xgb": "ietest_fast.models.bag_of_words:BagOfWordsXGBoost",
}


def model_names() -> tuple[str, ...]:
    """Give the names that :func:`load_model` knows."""
    return tuple(_MODELS)


def load_model(name: str, **options: str | float | bool) -> Model:
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
        If there is no such model, or it does not take these options.
    """
    target = _MODELS.get(name, name)
    module_name, colon, attribute = target.partition(":")
    if not colon:
        raise InputError(
            f"no model is called {name!r}; there are {', '.join(_MODELS)}, "
            'or "package.module:Class" for a model of your own'
        )
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        # A missing dependency of a model that exists is the user's to see as it is.
        if error.name is not None and not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise InputError(f"the model {name!r} cannot be imported: {error}") from error
    except AttributeError as error:
        raise InputError(f"the model {name!r} cannot be imported: {error}") from error
    try:
        return cast("Model", factory(**options))
    except TypeError as error:
        raise InputError(f"the model {name!r} does not take these options: {error}") from error
