"""The pages: links lead somewhere, nothing is left to fill in, commands and options exist."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from ietest_fast.cli.main import COMMANDS, LazyCommand

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nothing_is_left_to_fill_in(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"@[A-Z]+@|SPEED_TABLE|TODO|TBD", text)


def options_of(name: str, subcommand: str) -> set[str]:
    command = LazyCommand(name, *COMMANDS[name]).load()
    if isinstance(command, click.Group):
        assert subcommand in command.commands, f"{name} has no {subcommand}"
        command = command.commands[subcommand]
    return {
        option
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in (*parameter.opts, *parameter.secondary_opts)
    } | {"--help"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for name, rest in re.findall(r"ietest-fast ([a-z]+)\b([^\n`]*)", text):
        if name not in COMMANDS:
            continue
        known = options_of(name, rest.split()[0] if rest.split() else "")
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", re.split("#|&&", rest)[0]):
            assert option in known, f"{name} has no {option}"


def test_readme_has_both_lines() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for marker in ("<!-- demo line -->", "<!-- test line -->"):
        assert len(re.findall(re.escape(marker) + r"\n```sh\n[^\n]+\n```", text)) == 1
