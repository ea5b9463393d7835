"""The terminal: the one door for what commands print, and what Python shows of a result.

Names and values come from files that somebody else wrote. A terminal obeys control characters
(a title of a window, a cleared screen, a line that overwrites the last), and some signs turn what
follows or cannot be seen. None of them leaves through this door: :func:`ietest_fast.escapes.escape`
shows them. A line break in a value is one of them, so no value makes a line of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ietest_fast.escapes import escape

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import Console
    from rich.text import Text

    from ietest_fast.report.tables import Table


def echo(*lines: object, err: bool = False) -> None:
    """Print lines on standard output."""
    for each in lines or ("",):
        whole = str(each)
        line = whole.strip("\n")
        before, _, after = whole.partition(line) if line else (whole, "", "")
        click.echo(f"{before}{escape(line)}{after}", err=err)


def print_json(values: object, *, indent: int = 2) -> None:
    """Print JSON, in ASCII; an infinite number becomes the string "inf" or "-inf"."""
    import json

    from ietest_fast.numerals import plain

    text = json.dumps(plain(values), indent=indent, allow_nan=False)
    # The one control character that JSON leaves as it is.
    click.echo(text.replace("\x7f", "\\u007f"))


def make_console(
    file: TextIO | None = None, *, width: int | None = None, err: bool = False
) -> Console:
    """Make a console for tables, on which strings are data: no markup, no control characters.

    Off a terminal it is at least 100 columns wide, and a closed pipe is the caller's to handle.
    """
    from rich.console import Console
    from rich.text import Text

    class PlainConsole(Console):
        def render_str(self, text: str, **how: Any) -> Text:
            style = {name: how[name] for name in ("style", "justify", "overflow") if name in how}
            return Text(escape(text), **style)

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    if file is not None:
        return PlainConsole(
            file=file, width=width, highlight=False, color_system=None, force_terminal=False
        )
    console = PlainConsole(highlight=False, width=width, stderr=err)
    if not console.is_terminal:
        console.width = max(console.width, 100)
    return console


def print_table(table: Table) -> None:
    """Print a table on the terminal, its note below it; off a terminal as wide as it is."""
    from rich import box
    from rich.measure import Measurement
    from rich.table import Table as Printed

    printed = Printed(title=table.title, box=box.SIMPLE_HEAD, title_justify="left")
    for column in table.columns:
        printed.add_column(column.name, justify="right" if column.is_numeric else "left")
    for row in table.shown():
        printed.add_row(*row)
    console = make_console()
    if not console.is_terminal:
        whole = console.options.update(max_width=10_000)
        console.width = max(console.width, Measurement.get(console, whole, printed).maximum)
    console.print(printed)
    if table.note:
        console.print(table.note)
