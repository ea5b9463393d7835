"""What a registered transformation is made of: a name, its options, and how it is planned."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, Self, runtime_checkable

from pydantic import AfterValidator, BaseModel, ConfigDict, Strict, ValidationInfo

from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.files import check_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa

    from ietest_fast.corpus import Corpus
    from ietest_fast.transform.base import Transformation


def _resolve(path: Path, info: ValidationInfo) -> Path:
    """Take relative paths from the configuration's folder; the file must be there."""
    folder = (info.context or {}).get("folder")
    resolved = path if folder is None else Path(folder) / path
    check_file(resolved)
    return resolved


InputFile = Annotated[Path, Strict(False), AfterValidator(_resolve)]
"""Type of an option that names a file to be read; a relative path starts in the folder of the
configuration that it stands in."""


def _resolve_any(path: Path, info: ValidationInfo) -> Path:
    """Take relative paths from the configuration's folder; the file or folder must be there."""
    folder = (info.context or {}).get("folder")
    resolved = path if folder is None else Path(folder) / path
    if not resolved.exists():
        raise InputError("there is no such file or folder", path=resolved)
    return resolved


InputModel = Annotated[Path, Strict(False), AfterValidator(_resolve_any)]
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


def _nothing() -> None:
    pass


def check_language(
    name: str, language: str, parts: Iterable[pa.Array], on_warning: Callable[[str], object]
) -> None:
    """Stop where texts are clearly in another language; warn of some that are."""
    from ietest_fast.lexicon.languages import FEWEST_FOREIGN, MOST_TEXTS, count_languages

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
