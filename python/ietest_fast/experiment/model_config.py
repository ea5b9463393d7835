"""The part of a configuration that is about models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from ietest_fast.errors import ConfigError, IetestError
from ietest_fast.registry import list_problems, names_at_hand, reading_names

if TYPE_CHECKING:
    from ietest_fast.models.protocol import Model

DEFAULT_SEARCH_BUDGET = 10


class Section(BaseModel):
    """A table of a configuration, whose keys are all known."""

    # Strict: true is no number and "3" is none; a whole number is one where fractions may stand.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _load(name: str, options: Mapping[str, Any], info: ValidationInfo) -> Model:
    from ietest_fast.models import load_model

    given = _given(info)
    if given is not None:
        return given
    try:
        return load_model(name, **options)
    except IetestError as error:
        raise ValueError(str(error)) from error


def _given(info: ValidationInfo) -> Model | None:
    """Return the model that is at hand as an object."""
    return (info.context or {}).get("model")


class ModelConfig(Section):
    """The family of models and where its hyperparameters come from."""

    name: str = "bow-xgb"
    """A name of the registry, or ``"package.module:Class"``."""
    options: Annotated[dict[str, Any], Field(validate_default=True)] = {}
    """Settings of the model that are not searched over."""
    search: Any = None
    """The search's budget B, or the name of a preset such as ``"table7-snli"``; 10 where absent."""
    params: Annotated[dict[str, Any] | None, Field(validate_default=True)] = None
    """Hyperparameters, instead of a search. A model without a search space needs neither."""
    search_per_resample: bool = False
    """Whether each resample gets a search of its own (the paper's Alternative 3), instead of one on
    the untransformed data for all."""
    n_voters: Annotated[int, Field(ge=1, le=1001)] = 1
    """Classifiers trained on each resample, whose majority vote is tested (Alternative 2)."""
    input: str | None = None
    """The one column of texts that the model sees; all where absent."""

    _object: Any = PrivateAttr(default=None)
    # Where its names stand: they are asked for again when a run begins.
    _names: Any = PrivateAttr(default_factory=names_at_hand)

    @classmethod
    def of(cls, model: Model, **values: Any) -> ModelConfig:
        """Make one for a model that is at hand as an object; it is trained in this process."""
        values |= {"name": model.name, "options": dict(model.options)}
        try:
            made = cls.model_validate(values, context={"model": model})
        except ValidationError as error:
            raise ConfigError(list_problems(error)) from None
        made._object = model  # noqa: SLF001 - its own
        return made

    @property
    def is_object(self) -> bool:
        """Whether the model is at hand as an object."""
        return self._object is not None

    def load(self) -> Model:
        """Return the model, imported and set up."""
        from ietest_fast.models import load_model

        given: Model | None = self._object
        if given is not None:
            return given
        with reading_names(self._names):
            return load_model(self.name, **self.options)

    @field_validator("name")
    @classmethod
    def _known(cls, value: str, info: ValidationInfo) -> str:
        from ietest_fast.models.registry import find_model

        if _given(info) is not None:
            return value
        try:
            find_model(value)
        except IetestError as error:
            raise ValueError(str(error)) from error
        return value

    @field_validator("options")
    @classmethod
    def _set_up(cls, value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if "name" in info.data:
            _load(info.data["name"], value, info)
        return value

    @field_validator("search")
    @classmethod
    def _budget_or_preset(cls, value: Any, info: ValidationInfo) -> int | str | None:
        if value is None:
            return None
        known = {"name", "options"} <= info.data.keys()
        model = _load(info.data["name"], info.data["options"], info) if known else None
        is_budget = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        if is_budget and model is not None and not model.search_space:
            raise ValueError("this model has nothing to search for; leave search out")
        # Which presets there are depends on the model; its mistake comes first.
        if is_budget or (isinstance(value, str) and (model is None or value in model.presets)):
            return cast("int | str", value)
        wording = "must be a budget of at least 1, or the name of a preset"
        if model is not None:
            wording += f" ({', '.join(map(repr, model.presets)) or 'this model has none'})"
        raise ValueError(f"{wording}, not {value!r}")

    @field_validator("params")
    @classmethod
    def _trainable(
        cls, value: dict[str, Any] | None, info: ValidationInfo
    ) -> dict[str, Any] | None:
        if not {"name", "options"} <= info.data.keys():
            return value
        search = info.data.get("search")
        if value is not None and search is not None:
            raise ValueError("leaves no room for search")
        model = _load(info.data["name"], info.data["options"], info)
        if value is None:
            if model.search_space or isinstance(search, str):
                return None
            value = {}
        problems = model.check_params(value)
        if problems:
            # A line that begins with a dot goes on with the key; see list_problems.
            raise ValueError("\n".join(f".{problem}" for problem in problems))
        from ietest_fast.models.protocol import normalise_params

        return normalise_params(value, model.search_space)

    @field_validator("search_per_resample")
    @classmethod
    def _has_search(cls, value: bool, info: ValidationInfo) -> bool:
        if value and info.data.get("params") is not None:
            raise ValueError("params leave nothing to search for")
        if value and isinstance(info.data.get("search"), str):
            raise ValueError("a preset leaves nothing to search for")
        return value

    @property
    def budget(self) -> int | None:
        """How many candidates to try; None if there is nothing to search for."""
        if self.params is not None or isinstance(self.search, str):
            return None
        return DEFAULT_SEARCH_BUDGET if self.search is None else int(self.search)

    def settings(self) -> dict[str, Any]:
        """Return everything that results depend on."""
        return {
            "name": self.name,
            "options": dict(sorted(self.options.items())),
            "params": self.params,
            "search": self.search if self.budget is None else self.budget,
            "search_per_resample": self.search_per_resample,
            "n_voters": self.n_voters,
            "input": self.input,
        }


def read_models(value: Any, info: ValidationInfo) -> tuple[ModelConfig, ...]:
    """Read one model or several, each a name or a table."""
    several = isinstance(value, list | tuple)
    found, problems = [], []
    for place, item in enumerate(value if several else [value]):
        # A line that begins with a dot or colon goes on with the key; see list_problems.
        key = f".{place}" if several else ""
        if not isinstance(item, str | Mapping | ModelConfig):
            problems.append(f"{key}: must be a name or a table, not {item!r}")
            continue
        try:
            values = {"name": item} if isinstance(item, str) else item
            found.append(ModelConfig.model_validate(values, context=info.context))
        except ValidationError as error:
            problems += [f"{key}.{line}" for line in list_problems(error)]
    if problems:
        raise ValueError("\n".join(problems))
    if not found:
        raise ValueError("names no model")
    return tuple(found)


# Any: the validator makes a tuple of ModelConfig.
Models = Annotated[Any, PlainValidator(read_models)]
