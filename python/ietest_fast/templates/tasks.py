"""The tasks of the thesis, as template files of the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.templates.files import read_templates

if TYPE_CHECKING:
    from ietest_fast.templates.template import Template

TASKS = Path(__file__).parent / "tasks" / "thesis"

NAMES = (
    "simple-negation",
    "boolean-coordination",
    "quantifier",
    "definite-description",
    "comparative",
    "counting",
)
"""Tasks 1 to 6 of Salvatore (2020), section 3.4.2."""

MIXED = "mixed"
"""Task 7: all others together."""


def load_task(name: str) -> tuple[Template, ...]:
    """Return the templates of a task.

    Raises
    ------
    InputError
        If there is no task of this name.
    """
    if name == MIXED:
        return tuple(template for own in NAMES for template in load_task(own))
    if name not in NAMES:
        raise InputError(f"there is no task {name!r}; there are {', '.join((*NAMES, MIXED))}")
    return read_templates(TASKS / f"{name}.txt")
