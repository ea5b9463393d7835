"""Which of NLI's labels a classifier has, and so which rules it can be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.corpus.labels import TWO_LABELS, label_key
from ietest_fast.errors import InputError
from ietest_fast.evaluation.logic.rules import CONTRADICTION, ENTAILMENT, NEUTRAL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.evaluation.logic.rules import Rule


def find_classes(names: Sequence[str], *, source: str | Path | None = None) -> dict[str, int]:
    """Return the places of entailment, neutral and contradiction among labels, where they are."""
    found = [label_key(name) for name in names]
    known = (ENTAILMENT, NEUTRAL, CONTRADICTION)
    strange = [
        name for name, own in zip(names, found, strict=True) if own not in known + TWO_LABELS
    ]
    if strange or not {ENTAILMENT, CONTRADICTION} & set(found):
        which = f"; {strange[0]!r} is not among them" if strange else ""
        raise InputError(
            f"the suite logic needs the labels {', '.join(known)}, or entailment or contradiction "
            f"and its opposite; the labels here are {', '.join(names)}{which}",
            path=source,
            column="label",
        )
    return {name: found.index(name) for name in known if name in found}


def say_unsaid(rule: Rule, names: Sequence[str]) -> str | None:
    """Say why labels do not allow to ask for a rule; None if they do."""
    classes = find_classes(names)
    missing = [name for name in rule.labels if name not in classes]
    if not missing:
        return None
    return f"it speaks of {' and '.join(missing)}, and the labels are {' and '.join(names)}"
