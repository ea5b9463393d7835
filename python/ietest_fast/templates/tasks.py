"""The tasks of the package: template files, and what is special about their words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from ietest_fast.errors import InputError
from ietest_fast.templates.files import read_templates
from ietest_fast.templates.schemas import Bound, Negation, Relation, Signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.templates.language import Language
    from ietest_fast.templates.schemas import Schema
    from ietest_fast.templates.template import Template

TASKS = Path(__file__).parent / "tasks"

RuleSet = Literal["careful", "thesis", "released"]
RULE_SETS: tuple[RuleSet, ...] = get_args(RuleSet)
"""Rule sets of tasks 1 to 7.

``thesis``: what the thesis says; ``released``: what the program behind its published corpora does;
``careful``: the thesis's templates, changed so that neither the premise alone nor the hypothesis
alone tells the label.
"""

THESIS = {
    "simple-negation": "task 1: facts, of which one is denied",
    "boolean-coordination": "task 2: several visitors or places joined by 'and'",
    "quantifier": "task 3: everyone and someone, every place and every person",
    "definite-description": "task 4: the person that has visited every place",
    "comparative": "task 5: who is taller",
    "counting": "task 6: only so many places and people",
}
"""Tasks 1 to 6 of Salvatore (2020), section 3.4.2 and appendix A."""

RULES = {
    "conjunction": "from A and B follows 'A and B', and from it each of them",
    "disjunction": "from A follows 'A or B'; from 'A or B' without A follows B",
    "implication": "if A, then B",
    "negation": "what leads to a contradiction is false",
    "universal": "from everyone follows anybody who is named",
    "existential": "from anybody who is named follows someone",
    "equality": "the one person of whom something is true",
}
"""Introduction and elimination of each connective (section 3.2), denied, and of something else."""

MASKED = {
    "masked-boolean-coordination": "which of 'and' and 'or' stands there",
    "masked-quantifier": "which of 'someone' and 'everyone' stands there",
    "masked-counting": "which numeral stands there",
}
"""The modules of masked inference (section 3.5 and appendix B)."""

MIXED = "mixed"
"""Task 7: tasks 1 to 6 together."""

_FOLDERS = {"rules": RULES, "masked": MASKED}
# In the other tasks of the thesis, each premise and each hypothesis has both labels as often.
_CAREFUL = {"quantifier", "counting"}
# The published comparatives have a space before each comma. Sentences with "if" need full stops.
_SENTENCES = {
    ("released", "comparative"): " , ",
    ("rules", "disjunction"): ". ",
    ("rules", "implication"): ". ",
    ("rules", "negation"): ". ",
}


@dataclass(frozen=True)
class Task:
    """Templates that belong together."""

    name: str
    """Of the task, or of the file."""
    templates: tuple[Template, ...]
    """One or more."""
    sentences: str | None = None
    """What stands between the sentences of a premise; None: as in the language."""

    def words(self, language: Language) -> Language:
        """Return a language with what is special about this task."""
        if self.sentences is None:
            return language
        lists = language.lists.model_copy(update={"sentences": self.sentences})
        return language.model_copy(update={"lists": lists})


def task_names() -> tuple[str, ...]:
    """Return the names of all tasks."""
    return (*THESIS, MIXED, *RULES, *MASKED)


def describe_task(name: str) -> str:
    """Return a line about a task."""
    known = {**THESIS, MIXED: "task 7: tasks 1 to 6 together", **RULES, **MASKED}
    return known[name]


def load_tasks(name: str, rules: RuleSet = "careful") -> tuple[Task, ...]:
    """Return the tasks behind a name: one, or of ``mixed`` six."""
    if name == MIXED:
        return tuple(task for own in THESIS for task in load_tasks(own, rules))
    if name in THESIS:
        return (
            _read_own("thesis" if rules == "careful" and name not in _CAREFUL else rules, name),
        )
    for folder, own in _FOLDERS.items():
        if name in own:
            return (_read_own(folder, name),)
    raise InputError(f"there is no task {name!r}; there are {', '.join(task_names())}")


def _read_own(folder: str, name: str) -> Task:
    templates = read_templates(TASKS / folder / f"{name}.txt")
    return Task(name, templates, _SENTENCES.get((folder, name)))


def read_task(path: str | Path) -> Task:
    """Return the templates of a file as a task, which has the name of the file."""
    templates = read_templates(path)
    return Task(Path(path).stem, templates, ". " if _has_compounds(templates) else None)


def _has_compounds(templates: Sequence[Template]) -> bool:
    """Say whether a premise may have sentences with connectives, which need full stops between."""
    return any(not _is_simple(premise.schema) for each in templates for premise in each.premises)


def _is_simple(schema: Schema) -> bool:
    match schema:
        case Relation():
            return True
        case Negation(body) | Signed(body=body):
            # "It's not true that everyone ..., ..." could deny what follows as well.
            return isinstance(body, Relation)
        case Bound(body=body):
            return isinstance(body, Relation | Bound | Negation) and _is_simple(body)
        case _:
            return False
