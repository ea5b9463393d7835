"""Transformations by name: ``NAME[:option=value,...][+NAME...]``.

The one place where names and options become transformations, for the command line, configurations
and Python alike.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, Self, runtime_checkable

from pydantic import AfterValidator, BaseModel, ConfigDict, Strict, ValidationError, ValidationInfo

from ietest_fast.errors import ConfigError, IetestWarning, InputError
from ietest_fast.files import check_file
from ietest_fast.registry import Registry, list_problems
from ietest_fast.transform.base import Transformation
from ietest_fast.transform.rewordings import (
    Composition,
    RewordingFunction,
    Rewordings,
    check_steps,
    compose_fingerprints,
    is_function,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from ietest_fast.corpus import Corpus
    from ietest_fast.lexicon.annotator import Annotator

# What a registered transformation is made of: a name, its options, and how it is planned.


def _resolve(path: Path, info: ValidationInfo) -> Path:
    """Take relative paths from the configuration's folder."""
    folder = (info.context or {}).get("folder")
    return path if folder is None else Path(folder) / path


InputFile = Annotated[Path, Strict(False), AfterValidator(_resolve), AfterValidator(check_file)]
"""Type of an option that names a file to be read; a relative path starts in the folder of the
configuration that it stands in."""


def _check_any(path: Path) -> Path:
    if not path.exists():
        raise InputError("there is no such file or folder", path=path)
    return path


InputModel = Annotated[Path, Strict(False), AfterValidator(_resolve), AfterValidator(_check_any)]
"""Type of an option that names a model: a file or a folder; relative as :data:`InputFile`."""


def take_several(value: object) -> object:
    """Take one value for several, and a list, as TOML has it, for a tuple.

    For options of several values: ``Annotated[tuple[str, ...], BeforeValidator(take_several)]``.
    """
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


class PhiOptions(BaseModel):
    """Base of the models of options: immutable, and nothing unknown is taken.

    Fields need a default, unless the transformation is nothing without them. Their descriptions
    (``Field(description=...)``) are shown by ``ietest-fast transform --list``. Files are of type
    :data:`InputFile`.
    """

    # Strict: in a configuration true is no number and "3" is none.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


@runtime_checkable
class TextSource(Protocol):
    """Texts to learn from."""

    def text_chunks(self) -> Iterator[pa.Array]:
        """Yield arrays of strings or large strings, one after the other."""
        ...


def _warn(message: str) -> None:
    warnings.warn(message, IetestWarning, stacklevel=4)


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a transformation may learn from, and with, when it is built."""

    corpora: Sequence[Corpus | TextSource] = ()
    """The texts to learn from: in a run, train and valid. Corpora, or files
    (:class:`ietest_fast.transform.TextFile`), or whatever else offers ``text_chunks()``."""
    source: Corpus | Path | None = None
    """The corpus, or the file, that is to be transformed, whose labels some transformations read;
    None: the first of the corpora, or each table by itself."""
    tag_cache: Path | Literal["temporary"] | None = None
    """Where tags are kept, because texts are tagged to count their nouns and again to replace them:
    a file, or ``"temporary"`` for a temporary file, which is gone when the plan is closed. None:
    nowhere."""
    n_threads: int | None = None
    """Threads or processes to use; None: as many as there are cores."""
    on_progress: Callable[[int], None] | None = None
    """Called with the number of texts learnt from so far."""
    on_warning: Callable[[str], None] = _warn
    """Called with whole sentences about what is seldom wanted. By default each becomes an
    :class:`ietest_fast.errors.IetestWarning`."""

    def texts(self) -> Iterator[pa.Array]:
        """Yield the texts of all corpora as arrays of strings or large strings."""
        for corpus in self.corpora:
            if isinstance(corpus, TextSource):
                yield from corpus.text_chunks()
            else:
                for name in corpus.text_columns:
                    yield from corpus.texts(name).chunks

    def keep_tags(self, annotator: Annotator[Any]) -> None:
        """Let a tagger or parser keep what it finds where tags are kept."""
        from ietest_fast.lexicon import TagCache

        if self.tag_cache is not None:
            annotator.keep_tags(TagCache(None if self.tag_cache == "temporary" else self.tag_cache))


def _nothing() -> None:
    pass


def check_language(
    name: str, language: str, parts: Iterable[pa.Array], on_warning: Callable[[str], object]
) -> None:
    """Stop where texts are clearly in another language; warn of some that are."""
    from ietest_fast.lexicon.reviewed import FEWEST_FOREIGN, MOST_TEXTS, count_languages

    texts = (text for part in parts for text in part.slice(0, MOST_TEXTS).to_pylist())
    found = count_languages(texts)
    others = ", ".join(other for other, _ in found.foreign.most_common(3))
    said = f"of {found.n_texts:,} texts looked at, {found.n_foreign:,} are clearly {others}"
    if found.is_foreign:
        raise InputError(
            f"{name} is for {language}, and the texts are {found.main} ({said}): take what knows "
            "no language, such as words with a mapping of your own, spelling or swap (`ietest-fast "
            "transform --list`)"
        )
    if found.n_foreign >= max(FEWEST_FOREIGN, found.n_texts / 100):
        on_warning(
            f"{said}, and {name} is for {language}: it finds nothing to do in them, or the wrong "
            "things; take them out, or read what it has made of them"
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedTransformation:
    """A transformation before it has seen a text; it need not be built if its results are there.

    Use it as a context, or close it: what helped to build it (a tagger's processes) is needed until
    all texts are transformed.
    """

    name: str
    """As the built transformation's."""
    fingerprint: str
    """64 hexadecimal digits: of all that it hangs on, but for the texts to learn from."""
    builder: Callable[[Material], Transformation]
    """Makes the transformation."""
    options: dict[str, Any]
    """What is recorded of its options, ready for JSON: files by what is in them, no paths."""
    closer: Callable[[], None] = _nothing
    """Lets go of what the transformation used."""
    keeps_labels: bool = True
    """As the built transformation's."""
    learns: bool = False
    """Whether it learns from texts: whether ``Material.corpora`` matters."""
    warnings: tuple[str, ...] = ()
    """Whole sentences about options that are seldom wanted; told when it is built."""
    language: str | None = None
    """What the texts have to be in; None: it knows no language."""
    spelled: str | None = None
    """How a command line says it: its name and the options that are not usual; None if it was not
    chosen by name."""

    @classmethod
    def of(
        cls,
        made: Transformation,
        *,
        prepare: Callable[[Material], None] | None = None,
        closer: Callable[[], None] = _nothing,
    ) -> Self:
        """Plan a transformation that is complete without any text.

        Parameters
        ----------
        made
            The transformation.
        prepare
            Called before it is given, with what there is to work with.
        closer
            Lets go of what it uses.
        """

        def build(material: Material) -> Transformation:
            if prepare is not None:
                prepare(material)
            return made

        return cls(
            name=made.name,
            fingerprint=made.fingerprint,
            options=dict(made.describe().get("options", {})),
            builder=build,
            closer=closer,
            keeps_labels=made.keeps_labels,
        )

    def in_language(self, language: str | None) -> Self:
        """Return the same plan, for texts in a language only."""
        return replace(self, language=language)

    def describe(self) -> dict[str, Any]:
        """Return what runs record: ``name`` and ``options``."""
        return {"name": self.name, "options": dict(self.options)}

    def build(self, material: Material | None = None) -> Transformation:
        """Make the transformation.

        Parameters
        ----------
        material
            What it may learn from; None: nothing.

        Raises
        ------
        InputError
            If its texts are clearly not in the language of the transformation.
        """
        material = Material() if material is None else material
        if self.language is not None:
            check_language(self.name, self.language, material.texts(), material.on_warning)
        for message in self.warnings:
            material.on_warning(message)
        return self.builder(material)

    def close(self) -> None:
        """Let go of what the transformation used; it is not to be used any more."""
        self.closer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, kw_only=True, eq=False)
class TransformationKind:
    """A transformation that has a name; what an entry point leads to."""

    name: str
    """``"syn.careful"``: letters, digits, dots, hyphens and underscores."""
    summary: str
    """One line for ``ietest-fast transform --list``."""
    options: type[PhiOptions]
    """Class of its options."""
    plan: Callable[[Any], PlannedTransformation]
    """Finds what it needs, without reading texts."""
    language: str | None = None
    """What the texts have to be in; None: it knows no language."""


def check_kind(found: object) -> str | None:
    """Say what keeps an object from being a registered transformation; None if nothing does."""
    if isinstance(found, TransformationKind):
        return None
    return (
        f"no transformation, but {type(found).__name__!r}; what a name leads to is a "
        "ietest_fast.transform.TransformationKind"
    )


DEFAULT_PHI = "syn.careful"

TRANSFORMATIONS: Registry[TransformationKind] = Registry(
    group="ietest_fast.transformations",
    builtin={
        "syn.careful": "ietest_fast.transform.builtin:CAREFUL",
        "syn.strict": "ietest_fast.transform.builtin:STRICT",
        "syn.broad": "ietest_fast.transform.builtin:BROAD",
        "syn.paper": "ietest_fast.transform.builtin:PAPER",
        "words": "ietest_fast.transform.builtin:WORDS",
        "identity": "ietest_fast.transform.builtin:IDENTITY",
        "word-overlap": "ietest_fast.transform.spelling:WORD_OVERLAP",
        "negation": "ietest_fast.transform.spelling:NEGATION",
        "length-mismatch": "ietest_fast.transform.spelling:LENGTH_MISMATCH",
        "spelling": "ietest_fast.transform.spelling:SPELLING",
        "antonym": "ietest_fast.transform.antonym:ANTONYM",
        "numerical": "ietest_fast.transform.numerical:NUMERICAL",
        "swap": "ietest_fast.transform.structure:SWAP",
        "internalise": "ietest_fast.transform.structure:INTERNALISE",
        "voice": "ietest_fast.transform.syntax.voice:VOICE",
        "permute": "ietest_fast.transform.syntax.permute:PERMUTE",
    },
    noun="transformation",
    check=check_kind,
)
"""Every transformation that has a name."""

# A name may be "package.module:KIND"; ":KIND" is told from ":option=" by the sign behind it.
_NAME = re.compile(r"[^\s:+,='\"]+(?::[A-Za-z_][\w.]*(?![\w.]*\s*=))?")
_KEY = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_PLAIN = re.compile(r"[^,+'\"]*")
_SYNTAX = "NAME[:option=value,...][+NAME...]"


@dataclass(frozen=True, kw_only=True, eq=False)
class PhiChoice:
    """Transformations chosen by name, with options that have been checked."""

    parts: tuple[tuple[TransformationKind, PhiOptions], ...]
    """Kinds and options of what is done, in turn; at least one."""

    @property
    def name(self) -> str:
        """Names of the parts, joined by ``+``."""
        return "+".join(kind.name for kind, _ in self.parts)

    def files(self) -> list[Path]:
        """Return the files that the options name, without folders."""
        return [
            value
            for _, options in self.parts
            for _, value in options
            if isinstance(value, Path) and not value.is_dir()
        ]

    def plan(self) -> PlannedTransformation:
        """Find what the transformations need; see :func:`plan`."""
        planned: list[PlannedTransformation] = []
        try:
            for kind, options in self.parts:
                own = kind.plan(options)
                planned.append(own if kind.language is None else own.in_language(kind.language))
        except BaseException:
            for part in planned:
                part.close()
            raise
        made = planned[0] if len(planned) == 1 else _compose(planned)
        return replace(made, spelled=self._spell())

    def _spell(self) -> str:
        """Write the choice in a line, so that two of one name can be told apart."""
        parts = []
        for kind, options in self.parts:
            said = [
                f"{field}={_spell_value(value)}"
                for field, value in options
                if value != kind.options.model_fields[field].get_default(call_default_factory=True)
            ]
            parts.append(kind.name + (":" + ",".join(said) if said else ""))
        return "+".join(parts)


def _spell_value(value: Any) -> str:
    """Write the value of an option: of a path its name, for where it stood is nobody's business."""
    if isinstance(value, Path):
        return value.name
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return "/".join(map(_spell_value, value))
    return str(value)


def plan(
    phi: str
    | Mapping[str, Any]
    | Callable[[str], str]
    | Transformation
    | PhiChoice
    | PlannedTransformation,
    *,
    folder: Path | None = None,
) -> PlannedTransformation:
    """Find what a transformation needs, before any text is read.

    Parameters
    ----------
    phi
        ``"NAME[:option=value,...][+NAME...]"`` (see :func:`parse_phi`), a mapping with ``name`` and
        options, a mapping from texts to reworded texts, a function from a text to a text, or a
        finished transformation.
    folder
        Relative paths among the options start here; None: in the working folder.

    Returns
    -------
    PlannedTransformation
        Its :meth:`~PlannedTransformation.build` gives the transformation.

    Raises
    ------
    InputError
        If there is no such transformation, or what it reads is not as it should be.
    ConfigError
        If options are wrong; all mistakes are listed.
    ResourceError
        If something that it needs is not installed.
    """
    if isinstance(phi, PlannedTransformation):
        return phi
    if isinstance(phi, PhiChoice):
        return phi.plan()
    if isinstance(phi, str):
        return parse_phi(phi, folder=folder).plan()
    if isinstance(phi, Mapping) and is_choice(phi):
        return choose_phi(phi, folder=folder).plan()
    if isinstance(phi, Mapping):
        phi = Rewordings(rewordings=phi)
    if isinstance(phi, Transformation) and not isinstance(phi, type):
        return PlannedTransformation.of(phi)
    if is_function(phi):
        return _plan_function(phi)
    raise InputError(
        f"no transformation, but {type(phi).__name__!r}: give a name such as {DEFAULT_PHI!r}, a "
        "mapping with a name and options, a mapping of texts to reworded texts, a function from a "
        "text to a text, or an object with the methods of ietest_fast.transform.Transformation"
    )


def is_choice(phi: Mapping[Any, Any]) -> bool:
    """Return whether a mapping names a transformation or its options, and no texts.

    It does if it has the key ``name``, or nothing but options of :data:`DEFAULT_PHI`. An empty one
    is taken for it, and :func:`choose_phi` refuses it.
    """
    return "name" in phi or all(
        key in TRANSFORMATIONS.find(DEFAULT_PHI).options.model_fields for key in phi
    )


def _plan_function(function: Any) -> PlannedTransformation:
    """Plan a function, of which nobody knows what it does before it has been called."""
    made = RewordingFunction(function=function)
    told = f"function {id(function)} of this process"
    return PlannedTransformation(
        name=made.name,
        fingerprint=hashlib.sha256(told.encode()).hexdigest(),
        options={},
        builder=lambda _material: made,
    )


def parse_phi(
    text: str, *, folder: Path | None = None, added: Mapping[str, Any] | None = None
) -> PhiChoice:
    r"""Read ``NAME[:option=value,...][+NAME...]``.

    Parameters
    ----------
    text
        For example ``"syn.careful"``, ``"syn.paper:tagger=packaged,block_list=words.txt"`` or
        ``"words:mapping=colours.csv+syn.careful"``, which does the one and then the other. A value
        that holds a comma, a plus sign or a quotation mark stands in quotation marks of the other
        or either kind: ``words:mapping='a,b.csv'``. An option that takes several values is
        repeated.
    folder
        Relative paths start here; None: in the working folder.
    added
        Options for each of the transformations that has them, by name.

    Raises
    ------
    InputError
        If the text has another form, or there is no such transformation.
    ConfigError
        If options are wrong; all mistakes are listed.
    """
    parts = []
    added = {} if added is None else added
    steps = _read_parts(text)
    check_steps(len(steps))
    written = [(TRANSFORMATIONS.find(name), values) for name, values in steps]
    known = {name for kind, _ in written for name in kind.options.model_fields}
    problems = [_say_unknown(text, name) for name in added if name not in known]
    for kind, values in written:
        own = {key: value for key, value in added.items() if key in kind.options.model_fields}
        problems += [
            f"{kind.name}: {key} is given twice, in the name of the transformation and beside it"
            for key in sorted(own.keys() & values.keys())
        ]
        try:
            options = kind.options.model_validate(
                {**values, **own}, strict=False, context={"folder": folder}
            )
        except ValidationError as error:
            problems += [f"{kind.name}: {line}" for line in _word_problems(error, kind, values)]
            continue
        parts.append((kind, options))
    if problems:
        raise ConfigError(problems)
    return PhiChoice(parts=tuple(parts))


def _say_unknown(text: str, option: str) -> str:
    having = [
        name
        for name in TRANSFORMATIONS.names()
        if option in TRANSFORMATIONS.find(name).options.model_fields
    ]
    return f"{text} has no option {option}, but {', '.join(having)} have"


def choose_phi(values: Mapping[str, Any], *, folder: Path | None = None) -> PhiChoice:
    """Check a table of ``name`` and options, such as ``[transformation]`` of a configuration.

    Parameters
    ----------
    values
        ``name`` (:data:`DEFAULT_PHI` where absent) and the options; at least one of them. If the
        name is a composition (``a+b``) or has options of its own, there are no others.
    folder
        Relative paths start here; None: in the working folder.

    Raises
    ------
    InputError
        If there is no such transformation, or nothing is given.
    ConfigError
        With every mistake, each with its key.
    """
    if not values:
        raise InputError(
            "an empty mapping names no transformation and holds no rewordings: give a name, such "
            f"as {DEFAULT_PHI!r}, or texts with their rewordings"
        )
    options = dict(values)
    name = options.pop("name", DEFAULT_PHI)
    if not isinstance(name, str):
        raise ConfigError([f"name: must be a string, not {name!r}"])
    if _NAME.fullmatch(name.strip()) is None:
        if options:
            raise ConfigError(
                [f'{next(iter(options))}: with options, name is one name; write phi = "{_SYNTAX}"']
            )
        return parse_phi(name, folder=folder)
    kind = TRANSFORMATIONS.find(name.strip())
    try:
        checked = kind.options.model_validate(options, context={"folder": folder})
    except ValidationError as error:
        raise ConfigError(_word_problems(error, kind)) from None
    return PhiChoice(parts=((kind, checked),))


def describe_kinds() -> list[dict[str, Any]]:
    """Describe every transformation that has a name, for ``ietest-fast transform --list``."""
    found = []
    for name in TRANSFORMATIONS.names():
        entry: dict[str, Any] = {"name": name, "package": TRANSFORMATIONS.origin(name)}
        try:
            kind = TRANSFORMATIONS.find(name)
        except (InputError, OSError) as error:
            entry["error"] = str(error)
        else:
            entry |= {"summary": kind.summary, "options": _describe_options(kind.options)}
        found.append(entry)
    return found


def _describe_options(options: type[PhiOptions]) -> list[dict[str, Any]]:
    schema = options.model_json_schema()
    required = schema.get("required", [])
    return [
        {
            "name": name,
            "type": _say_type(item),
            "default": item.get("default"),
            "required": name in required,
            "description": item.get("description"),
        }
        for name, item in schema.get("properties", {}).items()
    ]


def _say_type(item: Mapping[str, Any]) -> str:
    if "anyOf" in item:
        return " or ".join(_say_type(one) for one in item["anyOf"] if one.get("type") != "null")
    if "enum" in item:
        return " or ".join(map(str, item["enum"]))
    if item.get("format") == "path":
        return "file"
    names = {"string": "text", "boolean": "true or false", "array": "list"}
    kind = str(item.get("type", "value"))
    return names.get(kind, kind)


def _read_parts(text: str) -> list[tuple[str, dict[str, Any]]]:
    parts = []
    place = 0
    while True:
        name, values, place = _read_part(text, place)
        parts.append((name, values))
        if place == len(text):
            return parts
        place += 1  # the plus sign


def _read_part(text: str, place: int) -> tuple[str, dict[str, Any], int]:
    place = _skip_blanks(text, place)
    found = _NAME.match(text, place)
    if found is None:
        raise _wrong(text, place, "a name is missing")
    name, place = found[0], found.end()
    known, colon, _ = name.partition(":")
    if colon and known in TRANSFORMATIONS.names():
        raise _wrong(text, place - len(name) + len(known) + 1, "option=value is expected")
    values: dict[str, list[str]] = {}
    sign = ":"
    while text[place : place + 1] == sign:
        key = _KEY.match(text, place + 1)
        if key is None:
            wanted = "option=value is expected"
            if values:
                last = next(reversed(values))
                wanted += f"; repeat an option that takes several values, as in {last}=a,{last}=b"
            raise _wrong(text, place + 1, wanted)
        value, place = _read_value(text, key.end())
        values.setdefault(key[1], []).append(value)
        sign = ","
    place = _skip_blanks(text, place)
    if place < len(text) and text[place] != "+":
        raise _wrong(
            text, place, "a colon is expected before the first option, a comma before the others"
        )
    return name, {key: own[0] if len(own) == 1 else own for key, own in values.items()}, place


def _skip_blanks(text: str, place: int) -> int:
    return len(text) - len(text[place:].lstrip())


def _read_value(text: str, place: int) -> tuple[str, int]:
    quoted = _QUOTED.match(text, place)
    if quoted is not None:
        return quoted[1] if quoted[1] is not None else quoted[2], quoted.end()
    plain = _PLAIN.match(text, place)
    assert plain is not None  # noqa: S101 - it matches nothing, too
    return plain[0].strip(), plain.end()


def _wrong(text: str, place: int, problem: str) -> InputError:
    return InputError(
        f"{text!r} is not {_SYNTAX}: {problem} at {text[place:]!r}"
        if place < len(text)
        else f"{text!r} is not {_SYNTAX}: {problem} at its end"
    )


def _word_problems(
    error: ValidationError, kind: TransformationKind, written: Mapping[str, Any] | None = None
) -> list[str]:
    """Word the mistakes; what is written as text is a list where an option is there repeatedly."""
    known = ", ".join(kind.options.model_fields)
    has = f"{kind.name} has {known}" if known else f"{kind.name} has no options"
    lines = [
        f"{line}; {has}" if line.endswith(": no such key") else line
        for line in list_problems(error)
    ]
    for key, value in ({} if written is None else written).items():
        if isinstance(value, list):
            own = f"{key}: is given {len(value)} times, and takes one value"
            lines = [own if line.startswith(f"{key}: ") else line for line in lines]
    return list(dict.fromkeys(lines))


def _compose(parts: Sequence[PlannedTransformation]) -> PlannedTransformation:
    def build(material: Material) -> Transformation:
        return Composition(parts=tuple(part.builder(material) for part in parts))

    def close() -> None:
        for part in parts:
            part.close()

    return PlannedTransformation(
        name="+".join(part.name for part in parts),
        fingerprint=compose_fingerprints([part.fingerprint for part in parts]),
        options={"parts": [part.describe() for part in parts]},
        builder=build,
        closer=close,
        keeps_labels=all(part.keeps_labels for part in parts),
        learns=any(part.learns for part in parts),
        warnings=tuple(message for part in parts for message in part.warnings),
        language=next((part.language for part in parts if part.language is not None), None),
    )
