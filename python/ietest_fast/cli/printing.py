"""What commands print: tables and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from ietest_fast.report.tables import Table


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object; an infinite number becomes the string "inf" or "-inf"."""
    from ietest_fast.stats.result import plain

    click.echo(json.dumps(plain(dict(values)), indent=2, allow_nan=False))


def make_console() -> Console:
    """Make a console on standard output, for tables.

    Off a terminal it is at least 100 columns wide, and a closed pipe is the caller's to handle.
    """
    from rich.console import Console

    class PipeConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = PipeConsole(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 100)
    return console


def print_table(table: Table) -> None:
    """Print a table on the terminal, its note below it; off a terminal as wide as it is."""
    from rich import box
    from rich.measure import Measurement
    from rich.table import Table as Printed
    from rich.text import Text

    printed = Printed(title=Text(table.title), box=box.SIMPLE_HEAD, title_justify="left")
    for column in table.columns:
        printed.add_column(Text(column.name), justify="right" if column.is_numeric else "left")
    for row in table.shown():
        printed.add_row(*map(Text, row))
    console = make_console()
    if not console.is_terminal:
        whole = console.options.update(max_width=10_000)
        console.width = max(console.width, Measurement.get(console, whole, printed).maximum)
    console.print(printed)
    if table.note:
        console.print(Text(table.note))
