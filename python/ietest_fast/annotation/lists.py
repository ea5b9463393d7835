"""Samples as plain tables, for readers without the page, and their marks back from tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ietest_fast.annotation.marks import MARKS, Marks
from ietest_fast.errors import InputError
from ietest_fast.report.tables import as_text_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ietest_fast.annotation.sample import Sample


ITEM = "item"
"""Column: the number that a mark goes by."""

SOUND = "sound"
"""Column: empty in a list; a reader fills it in."""

WORDS: Mapping[str, str] = {
    **dict.fromkeys(("yes", "true", "1", MARKS[0]), MARKS[0]),
    **dict.fromkeys(("no", "false", "0", MARKS[1]), MARKS[1]),
}
"""What may stand in the column :data:`SOUND`, in small or capital letters."""


def list_items(sample: Sample) -> list[dict[str, Any]]:
    """Return what a reader of the page sees, one mapping for each item, in the order drawn.

    Each has ``item``; for each column of texts ``NAME A`` and ``NAME B``, in the order that the
    page shows, or, of new texts with their label, the text alone; ``label``, unless people are
    asked about the meaning; and an empty ``sound``.
    """
    rows = []
    for pair in sample.pairs:
        row: dict[str, Any] = {ITEM: pair["item"]}
        for name, pieces in pair["pieces"].items():
            if not sample.has_versions:
                row[name] = _write(pieces, "new")
                continue
            versions = ("old", "new") if pair["first"] == "original" else ("new", "old")
            for letter, version in zip("AB", versions, strict=True):
                row[f"{name} {letter}"] = _write(pieces, version)
        if sample.criterion != "meaning":
            row["label"] = pair["label"]
        rows.append({**row, SOUND: None})
    return rows


def _write(pieces: list[list[str]], version: str) -> str:
    return "".join(text for kind, text in pieces if kind in {"keep", version})


def write_list(sample: Sample, path: Path) -> None:
    """Write what :func:`list_items` returns to a new file: CSV, TSV, JSON lines or Parquet.

    In CSV and TSV, text that a spreadsheet would compute is marked as text
    (:mod:`ietest_fast.report.tables`).
    """
    import pyarrow as pa

    from ietest_fast.corpus.batch_writer import BatchWriter, check_target
    from ietest_fast.corpus.formats import format_of

    check_target(path)
    if path.exists():
        raise InputError("is there already, and marks may stand in it; name another", path=path)
    own = {ITEM, SOUND, "label"}
    taken = [name for name in sample.columns if name in own and not sample.has_versions]
    if taken:
        raise InputError(
            f"its column of texts {taken[0]!r} is called as one of the list's own "
            f"({', '.join(sorted(own))}); rename it in the file that the sample is drawn from",
            path=sample.path,
        )
    rows = list_items(sample)
    if format_of(path).kind in {"csv", "tsv"}:
        rows = as_text_rows(rows)
    names = list(rows[0]) if rows else [ITEM, SOUND]
    schema = pa.schema([(name, pa.int64() if name == ITEM else pa.string()) for name in names])
    with BatchWriter(path, schema) as writer:
        writer.write(pa.Table.from_pylist(rows, schema=schema))


def read_list(sample: Sample, path: Path) -> dict[int, str]:
    """Read the marks in a list: columns ``item`` and ``sound``; others do not matter."""
    from ietest_fast.corpus.streams import open_batches

    known = set(sample.items)
    marks: dict[int, str] = {}
    seen: dict[int, str] = {}
    number = 0
    with open_batches(path, columns=[ITEM, SOUND], types_of="file") as batches:
        for batch in batches:
            for given, said in zip(
                *(batch[name].to_pylist() for name in (ITEM, SOUND)), strict=True
            ):
                row = f"row {number}"
                number += 1
                item = _read_item(given)
                if item not in known:
                    raise InputError(
                        f"{given!r} is no item of {sample.path.name}",
                        path=path,
                        row=row,
                        column=ITEM,
                    )
                if item in seen:
                    raise InputError(
                        f"the item {item} is there already, in {seen[item]}; mark it once",
                        path=path,
                        row=row,
                        column=ITEM,
                    )
                seen[item] = row
                word = _read_word(said)
                if word and word not in WORDS:
                    raise InputError(
                        f"{said!r} is no mark; expected {', '.join(WORDS)}, or nothing",
                        path=path,
                        row=row,
                        column=SOUND,
                    )
                if word:
                    marks[item] = WORDS[word]
    if not marks:
        raise InputError("nothing is marked in it", path=path, column=SOUND)
    return marks


def _read_word(said: object) -> str:
    """Return what a cell says as the keys of :data:`WORDS` are written; nothing for nothing."""
    if said is None or said != said:  # noqa: PLR0124 - pandas writes NaN where nothing is
        return ""
    # Where a cell of a column of numbers is empty, pandas writes the others as 1.0 and 0.0.
    return str(said).strip().lower().removesuffix(".0")


def _read_item(given: object) -> int | None:
    """Return the number that a cell holds; None if it holds none."""
    if isinstance(given, bool) or not isinstance(given, int | str):
        return int(given) if isinstance(given, float) and given.is_integer() else None
    try:  # pandas writes 12 as 12.0 where a cell of the column is empty
        return int(str(given).strip().removesuffix(".0"))
    except ValueError:
        return None


def import_marks(sample: Sample, path: Path, person: str) -> Marks:
    """Add the marks in a list to those of a person: all of them, or after an error none."""
    found = read_list(sample, path)
    marks = Marks(sample, person)
    with marks.locked():
        both = [item for item in found if item in marks.as_dict()]
        if both:
            raise InputError(
                f"{person} has marked {len(both):,} of its items already, such as {both[0]} (in "
                f"{marks.path.name}); leave them out, or name another person",
                path=path,
            )
        marks.add_all(found)
    return marks
