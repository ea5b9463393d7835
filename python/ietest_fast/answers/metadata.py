"""What files of answers say of themselves: how the answers came about, beside the table."""

from __future__ import annotations

import filecmp
import json
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.schema import (
    GROUPS,
    align_types,
    as_schema,
    check_gold_of_models,
    plain_type,
)
from ietest_fast.answers.versions import number_names
from ietest_fast.corpus.formats import open_parquet
from ietest_fast.corpus.labels import answer_key
from ietest_fast.errors import IetestWarning, InputError, shorten_error
from ietest_fast.files import open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ietest_fast.answers.table import Predictions


T = TypeVar("T")

LOGIC = b"ietest_fast.logic"
"""What the metadata of a file of answers to the suite logic stand under."""
LOGIC_COLUMNS = ("instance", "part", "expected", "unit")
"""What its table has beside the columns of predictions and the texts."""

_ENDINGS = (".gz", ".zst", ".bz2", ".parquet", ".jsonl", ".json", ".csv", ".tsv")


def write_with_run(predictions: Predictions, path: Path, key: bytes, run: Any) -> None:
    """Write predictions to a Parquet file, whole or not at all, with what is known of them."""
    import pyarrow.parquet as pq

    from ietest_fast.atomic import write_file

    told = run if isinstance(run, dict) else asdict(run)
    known = {**(predictions.table.schema.metadata or {}), key: json.dumps(told).encode()}
    table = predictions.table.replace_schema_metadata(known)
    write_file(path, lambda file: pq.write_table(table, file, compression="zstd"))


def read_run_of(path: Path, key: bytes, restore: Callable[[dict[str, Any]], T]) -> T | None:
    """Return what a file says of itself under a key; None if it says nothing."""
    schema = _read_schema(path)
    metadata = {} if schema is None else schema.metadata or {}
    if key not in metadata:
        return None
    try:
        return restore(json.loads(metadata[key]))
    except InputError as error:
        raise InputError(str(error), path=path) from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(f"its metadata are damaged: {shorten_error(error)}", path=path) from error


def column_names(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file; none if it is no such file."""
    schema = _read_schema(path)
    return [] if schema is None else list(schema.names)


def holds_logic(path: Path) -> bool:
    """Whether a file holds answers to the suite logic."""
    schema = _read_schema(path)
    if schema is None or LOGIC in (schema.metadata or {}):
        return schema is not None
    if set(LOGIC_COLUMNS) <= set(schema.names):
        raise InputError(
            "holds answers to the suite logic, but no longer how they came about: another program "
            "has written it again without its metadata; ask the model again",
            path=path,
        )
    return False


def refuse_logic(path: str | Path) -> None:
    """Refuse a file of answers to the suite logic, whose versions are rules and no rewordings."""
    if holds_logic(Path(path)):
        raise InputError(
            "holds answers to the suite logic, whose versions are rules and no rewordings; only "
            "ietest-fast stress and report read it",
            path=path,
        )


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


def refuse_same_files(paths: Sequence[Path]) -> None:
    """Stop if a file is there twice, whose model would count as two."""
    places = [path.resolve() for path in paths]
    for place, path in enumerate(paths):
        if places[place] in places[:place]:
            first = paths[places.index(places[place])]
            raise InputError(f"is the same file as {first}; give each once", path=path)


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
    plain = [
        table.cast(pa.schema([(each.name, plain_type(each.type)) for each in table.schema]))
        for table in tables
    ]
    both = as_schema(pa.concat_tables(align_types(plain)), None, other.source)
    check_gold_of_models(both, other.source, n_before=len(first))


def plain_name(path: Path) -> str:
    """Return the name of a file without what says how it is written, such as ``.json.gz``."""
    name = path.name
    while (ending := name[name.rfind(".") :].casefold()) in _ENDINGS and len(name) > len(ending):
        name = name[: -len(ending)]
    return name
