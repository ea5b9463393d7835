"""The tasks of the package."""

from __future__ import annotations

import pytest

from ietest_fast.errors import InputError
from ietest_fast.templates.tasks import MIXED, NAMES, TASKS, load_task


def test_every_file_is_a_task() -> None:
    assert {path.stem for path in TASKS.iterdir()} == set(NAMES)
    numbers = [template.name for name in NAMES for template in load_task(name)]
    assert [template.name for template in load_task(MIXED)] == numbers
    assert len(numbers) == len(set(numbers)) == 39


def test_other_names_are_refused() -> None:
    with pytest.raises(InputError, match="no task 'negation'; there are simple-negation, "):
        load_task("negation")
