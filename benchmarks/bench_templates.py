"""Corpora from logic templates: proving the labels, drawing the pairs, writing the file.

For each task the time of a million pairs, written as Parquet on all threads. The peer draws pairs
of the first task by a Python loop, as a generator at home does, and proves nothing.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ietest_fast.templates.files import load_tasks, task_names
from ietest_fast.templates.language import load_language
from ietest_fast.templates.naming import load_names
from ietest_fast.templates.sampling import CONTRADICTION_OR_NOT, PairDrawer, prove_templates

if TYPE_CHECKING:
    from benchmarks.conftest import Race
    from ietest_fast.templates.files import RuleSet

# The rule sets differ most in how many facts a pair has.
CORPORA = [
    *((name, "careful") for name in task_names()),
    ("counting", "thesis"),
    ("counting", "released"),
    ("mixed", "released"),
]
DRAWING = pytest.mark.benchmark(group="drawing pairs of simple-negation")


def make(task: str, rules: RuleSet, n_rows: int, folder: Path) -> None:
    """Prove, draw and write in a process of its own, as proofs are remembered."""
    command = [
        str(Path(sys.executable).with_name("ietest-fast")),
        "templates",
        task,
        f"--rules={rules}",
        "--labels=contradiction",
        "--split=train",
        f"--n={n_rows}",
        f"--out={folder}",
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.benchmark(group="a million pairs, proved and written")
@pytest.mark.parametrize(("task", "rules"), CORPORA)
def test_corpus(race: Race, tmp_path: Path, task: str, rules: RuleSet) -> None:
    if race.quick and task in {"counting", "mixed"}:
        pytest.skip("its proofs take as long for a few pairs")
    n_rows = race.scale(1_000_000, 1_000)
    race.ours(
        f"{task}, {rules}",
        lambda: make(task, rules, n_rows, tmp_path),
        units=n_rows / 1_000_000,
        rounds=1,
        at_most_seconds=60,
    )


@DRAWING
def test_drawing(race: Race) -> None:
    n_rows = race.scale(50_000, 500)
    proved = prove_templates(load_tasks("simple-negation"), load_language("en"))
    drawer = PairDrawer(proved, load_names("en", "train"), label_names=CONTRADICTION_OR_NOT)
    race.ours("1 thread", lambda: drawer.draw(0, n_rows, n_threads=1), units=n_rows)


@DRAWING
def test_python_loop(race: Race) -> None:
    n_rows = race.scale(50_000, 500)
    names = load_names("en", "train")
    people, places = names.people.to_pylist(), list(names.places)

    def draw() -> list[tuple[str, str, str]]:
        rng = random.Random(0)
        rows = []
        for _ in range(n_rows):
            n = rng.randint(2, 12)
            who, where = rng.sample(people, n + 1), rng.sample(places, n + 1)
            facts = [f"{x} has visited {y}" for x, y in zip(who[:n], where[:n], strict=True)]
            fact, is_contradiction = rng.randrange(n), rng.random() < 0.5
            x = who[fact if is_contradiction else n]
            y = where[fact if is_contradiction else n]
            label = "contradiction" if is_contradiction else "non-contradiction"
            rows.append((f"{', '.join(facts)}.", f"{x} didn't visit {y}.", label))
        return rows

    race.peer("Python loop", draw, units=n_rows, rounds=3, at_least=5)
