"""Files of answers: the table, and beside it what is known of how the answers came about."""

from __future__ import annotations

import filecmp
import json
import warnings
from dataclasses import asdict, dataclass, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast import NO_REWORDINGS
from ietest_fast.answers.schema import (
    GROUPS,
    align_types,
    as_schema,
    check_gold_of_models,
    with_plain_types,
)
from ietest_fast.answers.table import Predictions
from ietest_fast.corpus.formats import open_parquet
from ietest_fast.corpus.labels import answer_key
from ietest_fast.errors import IetestWarning, InputError, shorten_error
from ietest_fast.files import open_file, refuse_same_files
from ietest_fast.values import number_names

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path


_ENDINGS = (".gz", ".zst", ".bz2", ".parquet", ".jsonl", ".json", ".csv", ".tsv")


FORMAT = 1
"""Of what stands beside the table."""

_STRICT = {"strict": True, "extra": "forbid"}


class Told:
    """What a file says in JSON: dataclasses whose fields are checked, and have no others beside."""

    # Of pydantic, whose import takes longer than most commands, and which only reading needs.
    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT


@dataclass(frozen=True, kw_only=True)
class Notes(Told):
    """How answers came about."""

    kind: ClassVar[str]
    """What the metadata of a file stand under, behind ``ietest_fast.``."""
    what: ClassVar[str]
    """What the file holds, and the command that writes it."""

    clusters: str | None = None
    """The column whose equal values belong together; None: none."""
    text_columns: tuple[str, ...] = ()
    """Names of the columns of texts."""
    warnings: tuple[str, ...] = ()
    """Whole sentences about how the answers came about."""
    backend: str = ""
    """What ran the model."""
    identity: dict[str, str] | None = None
    """Of the evaluation; see :class:`~ietest_fast.answers.ModelAnswers`."""


@dataclass(frozen=True, kw_only=True)
class NoRewordings(Notes):
    """How answers came about whose versions are no rewordings of each other.

    Commands that do not ask for such a kind refuse it: :data:`ietest_fast.NO_REWORDINGS` has all.
    """

    short: ClassVar[str]
    """What the file holds."""
    versions: ClassVar[str]
    """What the versions are instead."""
    commands: ClassVar[str]
    """Who reads the file."""
    columns: ClassVar[tuple[str, ...]]
    """By which a table is known that has lost its notes."""


N = TypeVar("N", bound=Notes)


@dataclass(frozen=True, kw_only=True, eq=False)
class NotedAnswers(Generic[N]):
    """Answers to versions of items, and how they came about."""

    predictions: Predictions
    """The long table."""
    notes: N


def write_answers(answers: NotedAnswers[Any], path: Path) -> None:
    """Write answers to a Parquet file, whole or not at all.

    :meth:`~ietest_fast.answers.Predictions.read` reads it as any file of predictions.
    """
    import pyarrow.parquet as pq

    from ietest_fast.atomic import write_file

    told = json.dumps({"format": FORMAT, **asdict(answers.notes)}).encode()
    table = answers.predictions.table
    known = {**(table.schema.metadata or {}), _key(answers.notes.kind): told}
    table = table.replace_schema_metadata(known)
    write_file(path, lambda file: pq.write_table(table, file, compression="zstd"))


def read_answers(paths: Sequence[Path], kind: type[N]) -> list[NotedAnswers[N]]:
    """Read files of answers, each of one model or several.

    Of several files each is a model, called as the file, unless it has a column ``model``.
    """
    found = []
    for path in paths:
        notes = read_notes(path, kind)
        if notes is None:
            raise InputError(f"holds no {kind.what}", path=path)
        found.append(notes)
    parts = name_models([Predictions.read(path) for path in paths], paths)
    return [
        NotedAnswers(predictions=part, notes=notes)
        for part, notes in zip(parts, found, strict=True)
    ]


def read_notes(path: Path, kind: type[N]) -> N | None:
    """Return how the answers of a file came about; None if it holds none of the kind.

    What the file says is checked by the types of the fields, whoever has written it.
    """
    schema = _read_schema(path)
    told = (schema.metadata or {}).get(_key(kind.kind)) if schema is not None else None
    if told is None:
        return None
    from pydantic import TypeAdapter

    try:
        values = json.loads(told)
        if not isinstance(values, dict):
            raise TypeError(f"an object expected, not {type(values).__name__}")
        version = values.pop("format", FORMAT)  # which files of some kinds did not have before
        if type(version) is int and version == FORMAT:
            return TypeAdapter(kind).validate_json(json.dumps(values))
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"its metadata are damaged: {_say_wrong(error)}", path=path) from error
    raise InputError(
        f"its metadata are of format {version!r}, and this version of ietest-fast reads format "
        f"{FORMAT}; measure the answers anew, or take the version that has written them",
        path=path,
    )


def _say_wrong(error: Exception) -> str:
    """Say the first thing that is wrong, and where."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return shorten_error(error)
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"] if part != "")
    return f"{place}: {first['msg']}" if place else first["msg"]


def _key(kind: str) -> bytes:
    return f"ietest_fast.{kind}".encode()


def holds(path: Path, kind: type[NoRewordings]) -> bool:
    """Whether a file holds answers of a kind; a table that has lost such notes is refused."""
    schema = _read_schema(path)
    if schema is None or _key(kind.kind) in (schema.metadata or {}):
        return schema is not None
    refuse_lost(schema.names, path)
    return False


def refuse_lost(names: Collection[str], path: Path) -> None:
    """Refuse a table with the columns of versions that are no rewordings, and nothing beside."""
    for kind in _no_rewordings():
        if set(kind.columns) <= set(names):
            raise InputError(
                f"holds {kind.short}, but no longer how they came about: another program has "
                "written it again without its metadata; ask the model again",
                path=path,
            )


def refuse_no_rewordings(path: Path) -> None:
    """Refuse a file of answers whose versions are no rewordings of each other."""
    schema = _read_schema(path)
    if schema is None:
        return
    for kind in _no_rewordings():
        if _key(kind.kind) in (schema.metadata or {}):
            raise InputError(
                f"holds {kind.short}, whose versions are {kind.versions} and no rewordings; only "
                f"ietest-fast {kind.commands} read it",
                path=path,
            )
    refuse_lost(schema.names, path)


def _no_rewordings() -> list[type[NoRewordings]]:
    return [resolve_name(name) for name in NO_REWORDINGS]


def _read_schema(path: Path) -> pa.Schema | None:
    try:
        with open_file(path) as file:
            if file.read(4) != b"PAR1":
                return None
        with open_parquet(path) as parquet:
            return parquet.schema_arrow
    except (OSError, pa.ArrowException, InputError):
        return None  # who reads it says what is wrong


def name_models(parts: Sequence[Predictions], paths: Sequence[Path]) -> list[Predictions]:
    """Return predictions of several files, each with a column ``model``.

    A file is a model, called as the file, unless it has the column.
    """
    if len(parts) == 1:
        return [*parts]
    refuse_same_files(paths)
    say_copies(paths)
    names = number_names(map(plain_name, paths))
    named: list[Predictions] = []
    for part, name, path in zip(parts, names, paths, strict=True):
        own = part
        if "model" not in part.columns:
            column = pa.repeat(pa.scalar(name), part.table.num_rows)
            own = replace(part, table=part.table.append_column("model", column))
        for group in own.groups:
            if any(group in other.groups for other in named):
                who = ", ".join(str(value) for value in group.values())
                raise InputError(f"another file holds answers of {who} as well", path=path)
        named.append(own)
    for place, own in enumerate(named):
        for other in named[:place]:
            _check_gold(other, own)
    return named


def are_copies(path: Path, other: Path) -> bool:
    """Whether two paths name different files that are the same, byte for byte."""
    if path.resolve() == other.resolve() or not (path.is_file() and other.is_file()):
        return False
    return filecmp.cmp(path, other, shallow=False)


def say_copies(paths: Sequence[Path]) -> None:
    """Warn of a copy of a file, whose model would count as another one."""
    for place, path in enumerate(paths):
        for other in paths[:place]:
            if are_copies(other, path):
                warnings.warn(
                    f"{path} is a copy of {other}, byte for byte, and counts as another model; "
                    "give each file once, unless both models answered alike",
                    IetestWarning,
                    stacklevel=4,
                )


def _check_gold(first: Predictions, other: Predictions) -> None:
    """Stop if models of two files are compared by other gold labels."""
    keys = ["item", "version", "copy"]
    columns = [*keys, *GROUPS, "gold"]
    known = [set(columns) & set(each.columns) for each in (first, other)]
    if known[0] != known[1] or not (first.has_labels and other.has_labels):
        return
    kept = [name for name in columns if name in known[0]]
    tables = [each.table.select(kept) for each in (first, other)]
    labels = [
        {answer_key(name) for name in pc.unique(table["gold"]).drop_null().to_pylist()}
        for table in tables
    ]
    if labels[0].isdisjoint(labels[1]):
        return  # the same answers in other words
    plain = align_types([with_plain_types(table) for table in tables])
    both = as_schema(pa.concat_tables(plain), None, other.source)
    check_gold_of_models(both, other.source, n_before=len(first))


def plain_name(path: Path) -> str:
    """Return the name of a file without what says how it is written, such as ``.json.gz``."""
    name = path.name
    while (ending := name[name.rfind(".") :].casefold()) in _ENDINGS and len(name) > len(ending):
        name = name[: -len(ending)]
    return name
