"""How answers to the questions of rules came about; a reader of any table imports this alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from ietest_fast.answers.file import NoRewordings, Told


@dataclass(frozen=True, kw_only=True)
class RuleOrigin(Told):
    """What the instances of a rule were found among."""

    n_items: int = 0
    """Labelled pairs of which candidates were made."""
    n_candidates: int = 0
    """Candidates: instances to which the rule applies if the classifier says so."""
    left_out: dict[str, int] = field(default_factory=dict)
    """What is not among them, by reason."""
    reason: str | None = None
    """Why the labels do not allow to ask for it; None if they do."""


@dataclass(frozen=True, kw_only=True)
class LogicNotes(NoRewordings):
    """How answers to the suite came about; without `clusters` the premise tells sources apart."""

    kind = "logic"
    short = "answers to the suite logic"
    what = f"{short} (ietest-fast stress --suite logic --out)"
    versions = "rules"
    commands = "stress and report"
    columns = ("instance", "part", "expected", "unit")

    rules: dict[str, RuleOrigin]
    """By rule, what its instances were found among."""
    options: dict[str, int]
    """How candidates were found."""
    n_rows: int = 0
    """Rows of the table that was written."""
