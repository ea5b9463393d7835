"""Finding the columns of texts and labels among those of a file."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.values import as_seen, show_names, show_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

# What a file may call its columns, and what a corpus calls them.
_PAIR_COLUMNS = (("premise", "hypothesis"), ("sentence1", "sentence2"))
_SINGLE_COLUMNS = (("text",), ("sentence",))
LABEL_COLUMNS = ("label", "gold_label")
"""What a file may call its column of labels."""
NAMES_BESIDE = ("label_name", "label_text", "label_str")
"""Columns that name labels which are numbers."""
LABELS_BESIDE = ("gold", *NAMES_BESIDE)
"""What else may say the labels, in a column beside these."""
OTHER_TRUTHS = ("true_label", "y_true", "ground_truth", "label_id", "target")
"""What may say the right labels, or something else, in a column beside all of these."""

_NUMBERS = re.compile(r"[\d\s.,;|eE+-]*\d[\d\s.,;|eE+-]*")


def check_columns(source: str | Path, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Stop unless a file or a table has each wanted column once."""
    counts, seen = Counter(names), Counter(map(as_seen, names))
    for name in wanted:
        found = counts[name]
        if found == 0:
            close = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=1)
            meant = next((n for n in names if close and n.lower() == close[0]), None)
            hint = f"; did you mean {show_value(meant)}?" if meant is not None else ""
            hint = _dialect_hint(names) or hint
            raise InputError(
                f"there is no such column; the columns are {show_names(names)}{hint}",
                path=source,
                column=name,
            )
        if found > 1:
            raise InputError(
                f"there are {found} columns of this name; one expected", path=source, column=name
            )
        if seen[as_seen(name)] > 1:
            raise InputError(
                "another column has this name, apart from blanks or invisible signs; rename one",
                path=source,
                column=name,
            )


def find_text_columns(
    source: str | Path, names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find the columns of texts in a file whose user named none, and their names in a corpus."""
    for choices in (_PAIR_COLUMNS, _SINGLE_COLUMNS):
        for choice in choices:
            if all(name in names for name in choice):
                return choice, choices[0]
    # Half a pair is the likelier mistake, so its missing half is named first.
    for choice in _PAIR_COLUMNS:
        if any(name in names for name in choice):
            check_columns(source, names, choice)
    raise InputError(
        f"there are no columns premise and hypothesis, sentence1 and sentence2, text, or "
        f"sentence; the columns are {show_names(names)}"
        + (
            _dialect_hint(names)
            or "; say which columns hold the texts (text_columns, --text-columns)"
        ),
        path=source,
    )


def find_named(names: Sequence[str], wanted: Iterable[str]) -> list[str]:
    """Return the names that are wanted ones but for case, each that stands there once."""
    order = dict.fromkeys(each.lower() for each in wanted)
    found = [name for name in names if name.lower() in order and list(names).count(name) == 1]
    return sorted(found, key=lambda name: [*order].index(name.lower()))


def find_label_column(source: str | Path, names: Sequence[str]) -> str:
    """Find the column of labels in a file whose user named none."""
    found = usual_label_column(source, names)
    if found is None:
        check_columns(source, names, (LABEL_COLUMNS[0],))
        raise AssertionError("unreachable: the check above raises")
    return found


def usual_label_column(
    source: str | Path | None,
    names: Sequence[str],
    *,
    how: str = "label_column, --label-column",
) -> str | None:
    """Return the column that has a usual name of labels; None if there is none."""
    found = [name for name in LABEL_COLUMNS if name in names]
    if len(found) > 1:
        raise InputError(
            f"there are two columns of labels, {' and '.join(found)}; name the one that counts "
            f"({how})",
            path=source,
        )
    return found[0] if found else None


def _dialect_hint(names: Sequence[str]) -> str:
    """Say how a file has to be read whose header shows that it is read otherwise."""
    if all(len(name) > 1 and name[0] == name[-1] == '"' for name in names) and names:
        return "; double quotes enclose its fields: pass --quoted, or --csv quoted"
    hint = ""
    if len(names) == 1:
        for sign in ",;|\t":
            if sign in names[0]:
                shown = {"\t": "tab", ",": "comma"}.get(sign, f"'{sign}'")
                hint = f"; if {shown} separates its fields, pass --csv delimiter={shown}"
                break
    if names and all(_NUMBERS.fullmatch(name) for name in names):
        hint += "; its first line is read as its header, and holds numbers: put names above it"
    return hint
