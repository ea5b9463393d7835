"""Tables that stand in a page, in a paper and in a file, all with the same numbers."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ietest_fast.atomic import name_files
from ietest_fast.errors import InputError
from ietest_fast.escapes import show_controls
from ietest_fast.numerals import show_p

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# Files that people open in a spreadsheet: text in them stays text, and computes nothing.
#
# A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, which
# can start a program or send other cells away. Such text gets an apostrophe before it; numbers
# stay numbers. To undo it, take one apostrophe away where what follows would get one.
#
# Only tables for people are written here. Data files that commands write for programs
# (``transform``, ``templates``, ``--out``) hold every text as it is, because they are read again.

# Also behind blanks, quotes and signs without a width, which some programs take away first; in
# their full-width forms, which a spreadsheet in Chinese or Japanese reads alike; and a tab or a
# line end, which ends a cell where the quotes around it are lost.
_FORMULA = re.compile(r"'*[\t\r\n]|[\s\x00-\x1f'\"‘’“”`\ufeff\u200b-\u200f]*[=+\-@＝＋－＠−]")


def as_text_cell(value: object) -> object:
    """Give a text an apostrophe if a spreadsheet would compute it; anything else as it is."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def as_text_rows(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with names and values as :func:`as_text_cell` gives them."""
    return [
        {str(as_text_cell(name)): as_text_cell(value) for name, value in row.items()}
        for row in rows
    ]


def write_cells(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV, with a line feed behind each, for a spreadsheet."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(as_text_cell, row) for row in rows)
    return text.getvalue()


FORMATS = ("csv", "md", "tex")
"""Endings of the files that a table can be written to."""

_TEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "ρ": r"$\rho$",
    "δ": r"$\delta$",
    "α": r"$\alpha$",
    "κ": r"$\kappa$",
    "φ": r"$\varphi$",
    "±": r"$\pm$",
    "−": r"$-$",
    "→": r"$\to$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "∞": r"$\infty$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "⊨": r"$\models$",
    "⊥": r"$\bot$",
    "⇒": r"$\Rightarrow$",
    "¬": r"$\neg$",
}
# Signs, and what would be a character's name (&lt;), a formula or struck out.
_MARKDOWN = re.compile(r"[\\|*_`<\[~$]|&(?=#|\w)")
_MOST_ON_A_PAGE = 40

Value = str | int | float | bool | None


@dataclass(frozen=True)
class MeanSd:
    """A mean and a standard deviation (None of one value), shown as one."""

    mean: float | None
    sd: float | None


@dataclass(frozen=True)
class PValue:
    """A p-value and what it was compared with: shown so that one sees on which side it lies."""

    p: float
    threshold: float


Cell = Value | MeanSd | tuple[float, float] | PValue
"""A pair: the ends of an interval."""


Kind = Literal["text", "count", "percent", "points", "p", "number"]


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    """What stands above it."""
    kind: Kind = "text"
    """``"percent"`` is of a share of 1, ``"points"`` of a difference of such shares."""
    digits: int = 2
    """After the decimal point."""

    @property
    def is_numeric(self) -> bool:
        """Whether its values stand flush right."""
        return self.kind != "text"

    def show(self, value: Cell) -> str:
        """Write a value for people; nothing for None."""
        if isinstance(value, MeanSd):
            return _with_sd(self.show(value.mean), self._plain(value.sd))
        if isinstance(value, tuple):
            low, high = value
            return f"{self.show(low)} to {self.show(high)}"
        if isinstance(value, PValue):
            return show_p(value.p, threshold=value.threshold)
        if isinstance(value, bool):
            return "yes" if value else "no"
        return "" if value is None else value if isinstance(value, str) else self._show(value)

    def _show(self, value: float) -> str:
        if self.kind == "count":
            return f"{value:,}".replace("-", "−")
        if self.kind == "p":
            return show_p(float(value))
        if self.kind == "points":
            sign = "+" if value > 0 else ""
            return sign + self._plain(value)
        return self._plain(value)

    def _plain(self, value: Value) -> str:
        if value is None:
            return ""
        number = float(value) * (100 if self.kind in {"percent", "points"} else 1)
        if math.isinf(number):
            return "−∞" if number < 0 else "∞"
        text = f"{number:.{self.digits}f}" if self.digits >= 0 else f"{number:g}"
        # What is rounded to 0 has no sign.
        return text.replace("-", "" if float(text) == 0 else "−")


def _with_sd(mean: str, sd: str) -> str:
    return f"{mean} ± {sd}" if sd else mean


def as_table_name(words: str) -> str:
    """Return words, such as the name of a column, as a name of a table."""
    kept = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in words.lower())
    (found,) = name_files([kept.strip("-")], otherwise="column")
    return found


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows under named columns."""

    name: str
    """Of the files it is written to: lower-case letters, digits and hyphens."""
    title: str
    """What it shows, on one line."""
    columns: tuple[Column, ...]
    """In order."""
    rows: tuple[tuple[Cell, ...], ...]
    """Values as they are, one for each column: shares of 1, not percent; None where there is no
    value."""
    note: str = ""
    """What the reader has to know of it."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"the table {self.name} has {len(self.columns)} columns, a row {len(row)}"
                )

    def without(self, *names: str, note: str) -> Table:
        """Leave columns out, and say what there is to know of the others."""
        missing = set(names) - {column.name for column in self.columns}
        if missing:
            raise ValueError(f"the table {self.name} has no column {min(missing)}")
        kept = [i for i, column in enumerate(self.columns) if column.name not in names]
        return replace(
            self,
            note=note,
            columns=tuple(self.columns[i] for i in kept),
            rows=tuple(tuple(row[i] for i in kept) for row in self.rows),
        )

    def shown(self) -> list[list[str]]:
        """Give the rows as people read them."""
        return [
            [column.show(value) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def to_csv(self) -> str:
        """Write it with all digits, means and standard deviations in columns of their own.

        Shares and their differences are as they are, and not in percent and points.
        """
        spread = [self._parts(number) for number in range(len(self.columns))]
        head = [
            _raw(_unit_free(column) + (f" {part}" if part else ""))
            for column, parts in zip(self.columns, spread, strict=True)
            for part in parts
        ]
        rows = [
            [
                _raw(_part_of(value, part))
                for value, parts in zip(row, spread, strict=True)
                for part in parts
            ]
            for row in self.rows
        ]
        return write_cells([head, *rows])

    def _parts(self, number: int) -> tuple[str, ...]:
        kinds = {type(row[number]) for row in self.rows}
        if MeanSd in kinds:
            return ("mean", "sd")
        return ("low", "high") if any(issubclass(kind, tuple) for kind in kinds) else ("",)

    def to_markdown(self) -> str:
        """Write it as a GitHub-flavoured Markdown table."""
        rule = ["---:" if column.is_numeric else ":---" for column in self.columns]
        lines = [[column.name for column in self.columns], rule, *self.shown()]
        body = "".join(f"| {' | '.join(map(_for_markdown, line))} |\n" for line in lines)
        note = f"\n{_for_markdown(self.note)}\n" if self.note else ""
        return f"**{_for_markdown(self.title)}**\n\n{body}{note}"

    def to_latex(self) -> str:
        """Write it as a floating table, or as one over several pages if it is long.

        It needs the package booktabs, a long one longtable too, and UTF-8.
        """
        align = "".join("r" if column.is_numeric else "l" for column in self.columns)
        head = " & ".join(_for_latex(column.name) for column in self.columns)
        body = "".join(f"{_latex_row(line)} \\\\\n" for line in self.shown())
        caption = f"\\caption{{{_for_latex(self.title)}.}}\n\\label{{tab:{self.name}}}"
        note = f"\\par\\smallskip{{\\footnotesize {_for_latex(self.note)}}}\n" if self.note else ""
        head = f"\\toprule\n{head} \\\\\n\\midrule\n"
        if len(self.rows) > _MOST_ON_A_PAGE:
            return (
                f"{{\\small\\setlength{{\\tabcolsep}}{{3pt}}\n\\begin{{longtable}}{{{align}}}\n"
                f"{caption} \\\\\n{head}\\endfirsthead\n{head}\\endhead\n{body}\\bottomrule\n"
                f"\\end{{longtable}}\n{note}}}\n"
            )
        return (
            f"\\begin{{table}}\n\\centering\\small\\setlength{{\\tabcolsep}}{{3pt}}\n{caption}\n"
            f"\\begin{{tabular}}{{{align}}}\n{head}{body}\\bottomrule\n\\end{{tabular}}\n"
            f"{note}\\end{{table}}\n"
        )

    def to_text(self, suffix: str) -> str:
        """Write it in one of :data:`FORMATS`."""
        writers = {"csv": self.to_csv, "md": self.to_markdown, "tex": self.to_latex}
        if suffix not in writers:
            raise InputError(f"a table is written as {', '.join(FORMATS)}, not {suffix}")
        return writers[suffix]()


def _unit_free(column: Column) -> str:
    if column.kind not in {"percent", "points"}:
        return column.name
    return column.name.removesuffix("%").removesuffix("(points)").strip() or "share"


def _part_of(value: object, part: str) -> object:
    if isinstance(value, tuple):
        return value[part == "high"]
    return getattr(value, part, None) if part else value


def _raw(value: object) -> object:
    if isinstance(value, PValue):
        return value.p
    if isinstance(value, str):
        return show_controls(value)
    return "" if value is None else value


def _on_one_line(text: str) -> str:
    """Take out what ends a line, or turns the order of what follows."""
    return " ".join(show_controls(text).split())


def _without_pictures(text: str) -> str:
    """Replace signs that stand for control characters, which LaTeX's fonts lack."""
    return "".join(
        "?" if "\u2400" <= sign <= "\u241f" or sign == "\ufffd" else sign for sign in text
    )


def _for_markdown(text: str) -> str:
    flat = _on_one_line(text)
    return _MARKDOWN.sub(r"\\\g<0>", flat)


def _latex_row(values: Sequence[str]) -> str:
    row = " & ".join(map(_for_latex, values))
    # Behind the end of a row LaTeX takes these for its options.
    return f"{{}}{row}" if row.startswith(("[", "*")) else row


def _for_latex(text: str) -> str:
    flat = _without_pictures(_on_one_line(text))
    made = "".join(_TEX.get(sign, sign) for sign in flat)
    for raised, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True):
        made = made.replace(raised, f"$^{{{plain}}}$")
    return made.replace("}$$^{", "")
