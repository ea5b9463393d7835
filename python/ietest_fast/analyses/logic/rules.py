"""Properties of the relation that a classifier defines, and rules of inference for it.

A classifier g of pairs defines (thesis of Salvatore 2020, eq. 1.1): P ⊨ H if its answer is
entailment, and P, H ⊨ ⊥ if it is contradiction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ietest_fast.corpus.labels import TWO_LABELS, label_key
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"

Group = Literal["property", "consequence", "rule"]
Control = Literal["exchange", "self", "contrary"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What must follow from what."""

    name: str
    """In options and tables."""
    formula: str
    """In the thesis's signs."""
    group: Group
    """``property``: of the relation (section 1.2.3); ``consequence``: what follows from these;
    ``rule``: of the structural inference score (section 5.1)."""
    antecedents: tuple[str, ...] = ()
    """The answer that each antecedent asks for."""
    consequents: tuple[str, ...]
    """The answer that each consequent must get."""
    control: Control | None = "exchange"
    """What the consequents are asked of where they must not hold. ``exchange``: the hypothesis is
    that of another instance, of another source. ``self``: the hypothesis is the premise.
    ``contrary``: the premise is that of an item whose antecedent got another answer. None: there is
    no such thing."""
    is_negated: bool = False
    """Whether the consequents must get any answer but that."""
    should_hold: bool = True
    """Whether all instances should hold; otherwise not all of them should."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The answers that it speaks of."""
        return tuple(dict.fromkeys((*self.antecedents, *self.consequents)))


_ALL = (
    Rule(
        name="reflexive-premise",
        formula="P ⊨ P",
        group="property",
        consequents=(ENTAILMENT,),
    ),
    Rule(
        name="reflexive-hypothesis",
        formula="H ⊨ H",
        group="property",
        consequents=(ENTAILMENT,),
    ),
    Rule(
        name="symmetric-contradiction",
        formula="P, H ⊨ ⊥  ⇒  H, P ⊨ ⊥",
        group="property",
        antecedents=(CONTRADICTION,),
        consequents=(CONTRADICTION,),
    ),
    Rule(
        name="symmetric-neutral",
        formula="P, H neutral  ⇒  H, P neutral",
        group="property",
        antecedents=(NEUTRAL,),
        consequents=(NEUTRAL,),
        # Unrelated sentences are neutral: they are no control.
        control="self",
    ),
    Rule(
        name="anti-symmetric",
        formula="not always: P ⊨ H  ⇒  H ⊨ P",
        group="property",
        antecedents=(ENTAILMENT,),
        consequents=(ENTAILMENT,),
        control=None,
        should_hold=False,
    ),
    Rule(
        name="monotonic-entailment",
        formula="P ⊨ H  ⇒  P, P' ⊨ H",
        group="property",
        antecedents=(ENTAILMENT,),
        consequents=(ENTAILMENT,),
    ),
    Rule(
        name="monotonic-contradiction",
        formula="P, H ⊨ ⊥  ⇒  P, P', H ⊨ ⊥",
        group="property",
        antecedents=(CONTRADICTION,),
        consequents=(CONTRADICTION,),
    ),
    Rule(
        name="explosion",
        formula="P, H ⊨ ⊥  ⇒  P, H ⊨ P'",
        group="property",
        antecedents=(CONTRADICTION,),
        consequents=(ENTAILMENT,),
        # Whatever is put in the place of P' follows, too.
        control="contrary",
    ),
    Rule(
        name="inclusion",
        formula="P, P' ⊨ P  and  P, P' ⊨ P'",
        group="consequence",
        consequents=(ENTAILMENT, ENTAILMENT),
    ),
    Rule(
        name="consistency",
        formula="P ⊨ H  ⇒  not H, P ⊨ ⊥",
        group="consequence",
        antecedents=(ENTAILMENT,),
        consequents=(CONTRADICTION,),
        # What must not be said of these must not be said of unrelated sentences, either.
        control=None,
        is_negated=True,
    ),
    Rule(
        name="negation",
        formula="P, ¬P ⊨ ⊥",
        group="consequence",
        consequents=(CONTRADICTION,),
    ),
    Rule(
        name="entailed-contradiction",
        formula="A ⊨ B  and  B, C ⊨ ⊥  ⇒  A, C ⊨ ⊥",
        group="consequence",
        antecedents=(ENTAILMENT, CONTRADICTION),
        consequents=(CONTRADICTION,),
    ),
    Rule(
        name="and-intro",
        formula="P ⊨ H1  and  P ⊨ H2  ⇒  P ⊨ H1 and H2",
        group="rule",
        antecedents=(ENTAILMENT, ENTAILMENT),
        consequents=(ENTAILMENT,),
    ),
    Rule(
        name="and-elim",
        formula="P ⊨ H1 and H2  ⇒  P ⊨ H1  and  P ⊨ H2",
        group="rule",
        antecedents=(ENTAILMENT,),
        consequents=(ENTAILMENT, ENTAILMENT),
    ),
    Rule(
        name="and-elim-premise",
        formula="P1 and P2 ⊨ P1  and  P1 and P2 ⊨ P2",
        group="rule",
        consequents=(ENTAILMENT, ENTAILMENT),
    ),
    Rule(
        name="or-intro",
        formula="P ⊨ H1  ⇒  P ⊨ H1 or H2",
        group="rule",
        antecedents=(ENTAILMENT,),
        consequents=(ENTAILMENT,),
    ),
    Rule(
        name="contraposition",
        formula="P ⊨ H  ⇒  ¬H ⊨ ¬P",
        group="rule",
        antecedents=(ENTAILMENT,),
        consequents=(ENTAILMENT,),
    ),
    Rule(
        name="transitivity",
        formula="A ⊨ B  and  B ⊨ C  ⇒  A ⊨ C",
        group="rule",
        antecedents=(ENTAILMENT, ENTAILMENT),
        consequents=(ENTAILMENT,),
    ),
)

RULES = {rule.name: rule for rule in _ALL}
"""All properties and rules by name, in the order of tables."""

WEIGHED = tuple(rule.name for rule in _ALL if rule.group == "rule")
"""The rules of the score, unless other weights are given."""


# Which of NLI's labels a classifier has, and so which rules it can be asked for.


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
