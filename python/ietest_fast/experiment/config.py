"""What a run is told to do, checked before anything starts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation, Overflow
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    Strict,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from ietest_fast.errors import ConfigError, IetestError, InputError
from ietest_fast.experiment.identity import Mode  # noqa: TC001 - pydantic reads it
from ietest_fast.files import check_file, read_toml
from ietest_fast.registry import FileNames, list_problems, names_at_hand, reading_names
from ietest_fast.stats import DEFAULT_FLIP_MARGIN, DEFAULT_N_RESAMPLES
from ietest_fast.stats.multiple import JOINT_CORRECTIONS
from ietest_fast.stats.resampling import MAX_RESAMPLES
from ietest_fast.stats.strata import list_file_columns
from ietest_fast.transform.phi import (
    DEFAULT_PHI,
    InputFile,
    PhiChoice,
    choose_phi,
    parse_phi,
)
from ietest_fast.values import number_names

if TYPE_CHECKING:
    from ietest_fast.models.protocol import Model


# The part of a configuration that is about models.

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
        from ietest_fast.models.protocol import find_model

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


# Numbers of training rows as an axis of a run.

_MOST_SIZES = 1_000


def _read(value: Any) -> Any:
    """Read sizes: ``1000``, ``[1000, 5000]`` or ``"1000,5000"``."""
    if isinstance(value, str):
        try:
            return [int(part) for part in value.split(",")]
        except ValueError as error:
            raise ValueError(f'must be whole numbers like "1000,5000", not {value!r}') from error
    if isinstance(value, int) and not isinstance(value, bool):
        return [value]
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be a whole number or a list of them, not {value!r}")
    return value


def _check(values: tuple[int, ...]) -> tuple[int, ...]:
    few = [value for value in values if value < 2]
    if few:
        raise ValueError(f"must be at least 2, not {', '.join(map(str, few))}")
    if len(set(values)) < len(values):
        raise ValueError("names a value more than once")
    if len(values) > _MOST_SIZES:
        raise ValueError(f"more than {_MOST_SIZES:,} sizes are too many")
    return values


TrainSizes = Annotated[
    tuple[int, ...], Strict(False), BeforeValidator(_read), AfterValidator(_check)
]
"""Different numbers of rows, in the order of the configuration; none for all rows."""


NO_REPLICATES = (
    "the exact method has no replicates; leave n_resamples out, or choose another method or the "
    "correction maxt or minp"
)

# More than any machine has; what is beyond is a mistake.
MOST_THREADS = 65_536

_DEMO_RHO = (0.0, 0.25, 0.5, 0.75, 1.0)

# 0:1:0.0001
_MOST_RHO = 10_001


_TELLS_NOTHING = frozenset(
    ("data", "dataset", "datasets", "downloads", "files", "input", "inputs", "raw", "tmp")
)
_SPLITS = frozenset(("train", "training", "valid", "validation", "dev", "test", "data"))

# Tables whose name may stand for them.
_NAMED = ("model", "transformation", "phi")


def parse_rho(text: str) -> list[float]:
    """Read values of rho: ``"0,0.25,1"``, or ``"0:1:0.1"`` for first, last and step."""
    wording = f'must be numbers like "0,0.5,1" or first:last:step like "0:1:0.1", not {text!r}'
    as_range = ":" in text
    try:
        parts = [Decimal(part.strip()) for part in text.split(":" if as_range else ",")]
    except InvalidOperation as error:
        raise ValueError(wording) from error
    if not all(part.is_finite() for part in parts) or (as_range and len(parts) != 3):
        raise ValueError(wording)
    if not as_range:
        return [float(part) for part in parts]
    first, last, step = parts
    if step <= 0 or last < first:
        raise ValueError(f"first:last:step must go upwards with a step above 0, not {text!r}")
    try:
        # The quotient itself may have a million digits; this product has not.
        too_many = last - first >= _MOST_RHO * step
    except Overflow as error:
        raise ValueError(wording) from error
    if too_many:
        raise ValueError(f"more than {_MOST_RHO:,} values of rho are too many, as in {text!r}")
    n_steps = int((last - first) / step)
    if first + n_steps * step != last:
        end = f"{first + n_steps * step:f}".rstrip("0").rstrip(".")
        raise ValueError(
            f"{text!r} ends at {end or 0}, for its steps do not lead to {last}; choose another "
            "step, or write the values with commas"
        )
    return [float(first + i * step) for i in range(n_steps + 1)]


def _read_rho(value: Any) -> Any:
    if isinstance(value, str):
        return parse_rho(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [value]
    if not isinstance(value, list | tuple):
        raise ValueError(
            f"must be a number, a list of numbers or a text like '0:1:0.1', not {value!r}"
        )
    return value


def _check_rho(values: tuple[float, ...]) -> tuple[float, ...]:
    if len(values) == 0:
        raise ValueError("needs at least one value")
    outside = [value for value in values if not 0 <= value <= 1]
    if outside:
        raise ValueError(f"must lie between 0 and 1, not {', '.join(map(repr, outside))}")
    if len(set(values)) < len(values):
        raise ValueError("names a value more than once")
    return tuple(value + 0.0 for value in values)  # -0.0 is 0.0


def _read_phi(item: PhiChoice | str | Mapping[str, Any], folder: Any) -> PhiChoice:
    if isinstance(item, str):
        return parse_phi(item, folder=folder)
    return item if isinstance(item, PhiChoice) else choose_phi(item, folder=folder)


def _read_phis(value: Any, info: ValidationInfo) -> tuple[PhiChoice, ...]:
    """Read what names one transformation or several, and check their options."""
    found, problems = [], []
    folder = (info.context or {}).get("folder")
    # A line that begins with a dot or colon goes on with the key; see list_problems.
    items = {"": value}
    if isinstance(value, list | tuple):
        items = {f".{place}": item for place, item in enumerate(value)}
    for key, item in items.items():
        if not isinstance(item, PhiChoice | str | Mapping):
            problems.append(f"{key}: must be a name or a table of options, not {item!r}")
            continue
        of_option, of_name = (": ", "") if isinstance(item, str) else (".", ".name")
        try:
            found.append(_read_phi(item, folder))
        except ConfigError as error:
            problems += [f"{key}{of_option}{line}" for line in error.problems]
        except IetestError as error:
            problems.append(f"{key}{of_name}: {error}")
    if problems:
        raise ValueError("\n".join(problems))
    if not found:
        raise ValueError("names no transformation")
    return tuple(found)


# TOML has neither paths nor tuples: these come as strings and lists.
# Any: the validator makes a tuple of PhiChoice, whose insides pydantic need not know.
Phis = Annotated[Any, PlainValidator(_read_phis)]
Names = Annotated[tuple[str, ...], Strict(False)]
Rho = Annotated[
    tuple[float, ...], Strict(False), BeforeValidator(_read_rho), AfterValidator(_check_rho)
]


class SplitConfig(Section):
    """Parts to be taken from one file, at random."""

    file: InputFile
    """The file."""
    n_valid: Annotated[int, Field(ge=2)]
    n_test: Annotated[int, Field(ge=2)]
    """Sizes of the validation and the test set."""
    n_train: Annotated[int, Field(ge=2)] | None = None
    """Size of the training set, if that is to come from the same file."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Which rows go where depends on it."""
    group_by: str | None = None
    """A column whose equal values stay in one part, such as ``"premise"``."""


class DemoConfig(Section):
    """Sizes of the built-in demonstration corpus."""

    n_train: Annotated[int, Field(ge=10)] = 3000
    n_valid: Annotated[int, Field(ge=10)] = 1000
    n_test: Annotated[int, Field(ge=10)] = 3000
    seed: Annotated[int, Field(ge=0)] = 0


class DataConfig(Section):
    """Where the three splits come from."""

    train: InputFile | None = None
    valid: InputFile | None = None
    test: InputFile | None = None
    """Files."""
    split: SplitConfig | None = None
    """Takes the place of `valid` and `test` (and of `train`, if it says `n_train`)."""
    demo: DemoConfig | None = None
    """The built-in corpus: true, or a table of its sizes."""
    text_columns: Names | None = None
    label_column: str | None = None
    label_names: Names | None = None
    """As for ``ietest_fast.corpus.read_corpus``; found out from the file where absent."""
    cluster: str | None = None
    """A column of the test set whose equal values belong together, such as ``"premise"``: the test
    then draws whole clusters."""
    missing_text: Literal["error", "drop"] = "error"
    quoted: bool | None = None
    """As for ``ietest_fast.corpus.read_corpus``: what becomes of rows without a text, and whether
    double quotes enclose the fields of CSV and TSV."""
    csv: str | None = None
    """How CSV and TSV files are written otherwise, such as ``"delimiter=;"``; as for ``--csv``."""
    shuffle_labels: bool = False
    """Whether the rows of each split get each other's labels: a control, for which accuracy has to
    be that of a guess."""
    name: str | None = None
    """What signatures and figures call the data; from the folder's name where absent."""

    _is_in_memory: bool = PrivateAttr(default=False)

    @classmethod
    def in_memory(cls, *, name: str = "data", cluster: str | None = None) -> DataConfig:
        """Make one for splits that are at hand as objects, which no file has to be named for."""
        made = cls.model_construct(name=name, cluster=cluster)
        made._is_in_memory = True  # noqa: SLF001 - its own
        return made

    @property
    def is_in_memory(self) -> bool:
        """Whether the splits are at hand as objects."""
        return self._is_in_memory

    @field_validator("csv")
    @classmethod
    def _habits(cls, value: str | None) -> str | None:
        if value is not None:
            from ietest_fast.corpus.dialects import parse_dialect

            parse_dialect(value)  # whose error is a ValueError
        return value

    @field_validator("demo", mode="before")
    @classmethod
    def _demo_by_flag(cls, value: Any) -> Any:
        if isinstance(value, bool):
            return {} if value else None
        if isinstance(value, Mapping | DemoConfig | None):
            return value
        raise ValueError(f"must be true, false or a table of sizes, not {value!r}")

    @model_validator(mode="after")
    def _complete(self) -> DataConfig:
        if self._is_in_memory:
            return self
        if self.demo is not None:
            given = [n for n in ("train", "valid", "test", "split") if getattr(self, n) is not None]
            if given:
                raise ValueError(f"demo leaves no room for {', '.join(given)}")
            own = ("text_columns", "label_column", "label_names", "quoted", "csv")
            given = [n for n in own if getattr(self, n) is not None]
            if given:
                raise ValueError(f"demo has columns and labels of its own; leave out {given[0]}")
            return self
        if self.split is not None:
            given = [n for n in ("valid", "test") if getattr(self, n) is not None]
            if given:
                raise ValueError(f"split takes the place of {', '.join(given)}")
            if (self.train is None) == (self.split.n_train is None):
                raise ValueError("with split, give either train or split.n_train")
            return self
        missing = [n for n in ("train", "valid", "test") if getattr(self, n) is None]
        if missing:
            raise ValueError(
                f"needs {', '.join(missing)} (or split, a file to take them from; or demo)"
            )
        return self


def _name_data(path: Path) -> str:
    """Name data by their folder, or by the file where the folder's name says nothing."""
    folder = path.parent.name
    if len(folder) >= 3 and folder.casefold() not in _TELLS_NOTHING:
        return folder
    words = [word for word in re.split(r"[\W_]+", path.stem) if word.casefold() not in _SPLITS]
    return "-".join(filter(None, words)) or folder or path.stem


class RunConfig(Section):
    """A whole run of the IE test (Algorithm 1), once for each rho."""

    data: DataConfig
    """See there."""
    transformation: Phis = None
    """The equivalences phi, each a table of ``name`` and options or a string
    (:func:`ietest_fast.transform.parse_phi`); one, or a list of them."""
    phi: Phis = None
    """Another way to say the same, usual for strings."""
    eval_phi: Phis = None
    """Further transformations, named as those of `phi`: every classifier is also evaluated on the
    test set under each of them, and trained on none."""
    model: Models = Field(default_factory=lambda: (ModelConfig(),))
    """The family of models, or a list of them: names, or tables as :class:`ModelConfig`."""
    rho: Rho = _DEMO_RHO
    """Probabilities of transformation."""
    mode: Mode = "replace"
    """What becomes of transformed rows in training: ``"replace"``, they stand in the place of their
    originals, as in the paper; or ``"augment"``, they stand beside them (Naik et al. 2018, section
    4.6)."""
    train_size: TrainSizes = ()
    """Numbers of training rows: all classifiers are trained on so many rows of the training set,
    drawn at random, and again for each further number; rows of a smaller number are among those of
    a larger one. All rows where there is none."""
    n_classifiers: Annotated[int, Field(ge=1, le=100_000)] = 5
    """M, the number of classifiers for each rho (and each number of training rows)."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Significance level of the test at one rho; below 0.5, for equivalence is tested at it,
    too."""
    correction: Literal["bonferroni", "holm", "maxt", "minp"] = "bonferroni"
    """How the tests of M classifiers become one decision: ``"bonferroni"``, ``"holm"``, ``"maxt"``
    or ``"minp"``; the last two draw the same rows for all classifiers."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Everything random follows from it; 0 is a seed."""
    margin: Annotated[float, Field(gt=0, lt=1)] = 0.01
    """Differences of the accuracies below it do not matter: equivalence is tested against it, and
    power is that of finding it."""
    flip_margin: Annotated[float, Field(gt=0, lt=1)] = DEFAULT_FLIP_MARGIN
    """Shares of changed answers below it do not matter."""
    strata: Names = ()
    """Columns of the test set by whose values the reworded texts are also tested: a genre, or
    ``"edits"``, their number. Gold labels are looked at in any case."""
    method: Literal["exact", "multinomial", "resample"] | None = None
    """``"exact"``, ``"multinomial"`` or ``"resample"``; exact where absent, unless the data have
    clusters, which are resampled."""
    n_resamples: Annotated[int, Field(ge=1, le=MAX_RESAMPLES)] | None = None
    """S, for the latter two, for the corrections ``"maxt"`` and ``"minp"``, and for Cochran's Q
    over several transformations; 10,000 where absent."""
    n_jobs: Annotated[int, Field(ge=1, le=MOST_THREADS)] | None = None
    """Cells trained at the same time; None for as many as the cores hold."""
    n_threads: Annotated[int, Field(ge=1, le=MOST_THREADS)] = 1
    """Threads of each. No result depends on these two, except that models trained by torch and
    estimators may depend on the threads."""
    keep_models: Annotated[bool, Field(strict=True)] = False
    """Whether the classifiers of all cells are kept, in the run's folder ``models``."""

    @field_validator("alpha")
    @classmethod
    def _fits_equivalence(cls, value: float) -> float:
        if value >= 0.5:
            raise ValueError(
                f"equivalence within the margin is tested at a level below 0.5, not at {value:g}"
            )
        return value

    @field_validator("method")
    @classmethod
    def _fits_clusters(cls, value: str | None, info: ValidationInfo) -> str | None:
        data = info.data.get("data")
        if data is not None and data.cluster is not None and value not in (None, "resample"):
            raise ValueError(f"clusters are resampled; {value!r} is not for them")
        return value

    @field_validator("n_resamples")
    @classmethod
    def _fits_method(cls, value: int | None, info: ValidationInfo) -> int | None:
        data = info.data.get("data")
        if value is None or (data is not None and data.is_in_memory):
            return value  # the plan checks it: it knows transformations that are at hand, too
        phis = info.data.get("transformation") or info.data.get("phi") or ()
        if not _has_replicates(
            info.data.get("method"),
            info.data.get("correction"),
            clustered=data is not None and data.cluster is not None,
            n_versions=len(phis) if 0 in info.data.get("rho", ()) else 0,
        ):
            raise ValueError(NO_REPLICATES)
        return value

    @field_validator("phi")
    @classmethod
    def _said_once(
        cls, value: tuple[PhiChoice, ...] | None, info: ValidationInfo
    ) -> tuple[PhiChoice, ...] | None:
        if value is not None and info.data.get("transformation") is not None:
            raise ValueError("leaves no room for transformation, which says the same")
        return value

    @property
    def phis(self) -> tuple[PhiChoice, ...]:
        """The transformations, in order; :data:`ietest_fast.transform.phi.DEFAULT_PHI` if none is
        named.
        """
        named: tuple[PhiChoice, ...] | None = self.transformation or self.phi
        return (parse_phi(DEFAULT_PHI),) if named is None else named

    @property
    def eval_phis(self) -> tuple[PhiChoice, ...]:
        """Further transformations of the test set, in order."""
        return cast("tuple[PhiChoice, ...]", self.eval_phi or ())

    @property
    def models(self) -> tuple[ModelConfig, ...]:
        """The models, in order."""
        return cast("tuple[ModelConfig, ...]", self.model)

    @property
    def model_keys(self) -> list[str]:
        """What the run calls each model: its name, numbered where several have the same."""
        return number_names(own.name for own in self.models)

    @property
    def train_sizes(self) -> tuple[int | None, ...]:
        """The numbers of training rows, in order; None for all rows."""
        return self.train_size or (None,)

    @property
    def strata_columns(self) -> list[str]:
        """The strata that are columns of the test set; labels and edits need none."""
        return list_file_columns(self.strata)

    @property
    def used_method(self) -> Literal["exact", "multinomial", "resample"]:
        """The method, chosen where the configuration leaves it open."""
        if self.method is not None:
            return self.method
        return "exact" if self.data.cluster is None else "resample"

    @property
    def used_resamples(self) -> int | None:
        """S of what decides; None where the exact method does, and S is not given."""
        decides = self.used_method != "exact" or self.correction in JOINT_CORRECTIONS
        return DEFAULT_N_RESAMPLES if decides and self.n_resamples is None else self.n_resamples

    def has_replicates(self, n_transformations: int) -> bool:
        """Tell whether anything is drawn S times in a run of so many transformations."""
        return _has_replicates(
            self.method,
            self.correction,
            clustered=self.data.cluster is not None,
            n_versions=n_transformations if 0 in self.rho else 0,
        )

    @property
    def data_name(self) -> str:
        """What signatures call the data: its name, or one found in that of its folder or file."""
        if self.data.name is not None:
            return self.data.name
        if self.data.demo is not None:
            return "demo"
        split = self.data.split
        path = self.data.test if split is None else split.file
        return "data" if path is None else _name_data(path.resolve())

    def settings(self) -> dict[str, Any]:
        """Return everything that results depend on, but for models, transformations and files.

        Paths are left out, and with them a name that is only the folder's: files count by what is
        in them, and the run adds that.
        """
        return {
            "data": {
                "name": self.data.name,
                "cluster": self.data.cluster,
                "split": None
                if self.data.split is None
                else self.data.split.model_dump(exclude={"file"}),
                "demo": None if self.data.demo is None else self.data.demo.model_dump(),
            },
            "rho": list(self.rho),
            **({} if self.mode == "replace" else {"mode": self.mode}),
            **({"train_size": list(self.train_size)} if self.train_size else {}),
            "n_classifiers": self.n_classifiers,
            "alpha": self.alpha,
            "correction": self.correction,
            "seed": self.seed,
            "margin": self.margin,
            "flip_margin": self.flip_margin,
            "method": self.used_method,
            "n_resamples": self.used_resamples,
            **({"strata": list(self.strata)} if self.strata else {}),
        }


def _has_replicates(
    method: str | None, correction: str | None, *, clustered: bool, n_versions: int
) -> bool:
    cochran = n_versions > 1 and not clustered
    drawn = clustered or method not in (None, "exact")
    return drawn or correction in JOINT_CORRECTIONS or cochran


def check_config(values: Mapping[str, Any], *, folder: Path | None = None) -> RunConfig:
    """Check a configuration.

    Parameters
    ----------
    values
        As read from TOML.
    folder
        Relative paths start here; in the working folder where absent.

    Returns
    -------
    RunConfig

    Raises
    ------
    ConfigError
        With every mistake, each with its key.
    """
    try:
        return RunConfig.model_validate(values, context={"folder": folder})
    except ValidationError as error:
        raise ConfigError([_name_keys(line) for line in list_problems(error)]) from None


def _name_keys(line: str) -> str:
    """Name the key that is meant, or those that there are, where one is unknown."""
    path, colon, _ = line.partition(": no such key")
    *sections, key = path.split(".")
    table: Any = RunConfig
    for section in sections:
        table = getattr(table, "model_fields", {}).get(section)
        table = None if table is None else table.annotation
    known = [*getattr(table, "model_fields", ())]
    if not colon or not known:
        return line
    close = difflib.get_close_matches(key, known, n=1)
    return f"{line}; did you mean {close[0]}?" if close else f"{line}; there are {', '.join(known)}"


def read_config(
    path: str | Path,
    overrides: Mapping[str, Any] | None = None,
    *,
    allow_code: bool = False,
) -> RunConfig:
    """Read a TOML file, lay options over it and check the whole.

    Parameters
    ----------
    path
        The file; relative paths in it start in its folder.
    overrides
        Nested values that take the place of the file's. Their paths start in the working folder,
        so make them absolute.
    allow_code
        Whether names in the file may lead to any module (``"package.module:Class"``), and to
        checkpoints that are fetched from the hub; those in `overrides` always may.

    Raises
    ------
    ConfigError
        If the file cannot be read or is no TOML, or with every mistake, each with its key.
    """
    path = Path(path)
    try:
        values = read_toml(check_file(path, expected="a TOML file"))
    except InputError as error:
        raise ConfigError([str(error)]) from error
    with reading_names(None if allow_code else FileNames.of(path, overrides)):
        return check_config(merge(values, overrides or {}), folder=path.resolve().parent)


def merge(values: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Lay nested values over others.

    A short form stands for its table: ``model = "bow-rf"`` for one with this name, ``demo = true``
    for an empty one. A table without a name is laid over each entry of a list, and one with a name
    takes the list's place. What is of no valid form stays, for the check to report.
    """
    merged = dict(values)
    if "phi" in overrides:  # which takes the place of either way to say it
        merged.pop("transformation", None)
    for name, given in overrides.items():
        value = _spell_out(name, given) if given is True else given
        below = _spell_out(name, merged.get(name))
        if not isinstance(value, Mapping) or below is None:
            merged[name] = value
        elif isinstance(below, Mapping):
            merged[name] = merge(below, value)
        elif name in _NAMED and isinstance(below, list):
            tables = [_spell_out(name, each) for each in below]
            merged[name] = value if "name" in value else _merge_each(tables, value)
    return merged


def _merge_each(tables: list[Any], value: Mapping[str, Any]) -> list[Any]:
    return [merge(each, value) if isinstance(each, Mapping) else each for each in tables]


def _spell_out(key: str, value: Any) -> Any:
    """Return the table that a short form stands for, and other values as they are."""
    if key in _NAMED and isinstance(value, str):
        return {"name": value}
    if key == "demo" and isinstance(value, bool):
        return {} if value else None
    return value
