"""Properties of the relation that a classifier defines, and rules of inference for it.

A classifier g of pairs defines (thesis of Salvatore 2020, eq. 1.1): P ⊨ H if its answer is
entailment, and P, H ⊨ ⊥ if it is contradiction.
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ietest_fast.corpus.labels import TWO_LABELS, label_key
from ietest_fast.errors import ConfigError, InputError
from ietest_fast.files import read_toml
from ietest_fast.stats.informedness import RatePart, sum_rates

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ietest_fast.stats.intervals import Interval

    # Parts of a sum, and what to add to them.
    Parts = tuple[list[RatePart], float]

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"

Group = Literal["property", "consequence", "rule"]
Control = Literal["exchange", "self", "contrary"]
How = Literal["alone", "behind", "and", "or", "not"]


class Text(NamedTuple):
    """A text of a question, made of the sentences of an instance."""

    letters: str
    """Of the sentences: P and H are an item's, and Q is the one that stands beside it."""
    how: How = "alone"
    """How they are put together: one behind the other, joined or denied."""


class Question(NamedTuple):
    """What is asked of two texts."""

    premise: Text
    hypothesis: Text
    label: str
    """The answer that is asked for."""


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
    when: tuple[Question, ...]
    then: tuple[Question, ...]
    """Its antecedents and consequents."""
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
    def antecedents(self) -> tuple[str, ...]:
        """The answer that each antecedent asks for."""
        return tuple(question.label for question in self.when)

    @property
    def consequents(self) -> tuple[str, ...]:
        """The answer that each consequent must get."""
        return tuple(question.label for question in self.then)

    @property
    def labels(self) -> tuple[str, ...]:
        """The answers that it speaks of."""
        return tuple(dict.fromkeys((*self.antecedents, *self.consequents)))


def _ask(label: str, *pairs: tuple[Text, Text]) -> tuple[Question, ...]:
    return tuple(Question(premise, hypothesis, label) for premise, hypothesis in pairs)


_E, _N, _C = ENTAILMENT, NEUTRAL, CONTRADICTION
_P, _H, _Q = Text("P"), Text("H"), Text("Q")
_NOT_P, _NOT_H, _NOT_Q = Text("P", "not"), Text("H", "not"), Text("Q", "not")
_P_Q, _P_THEN_H = Text("PQ", "behind"), Text("PH", "behind")
_P_AND_Q, _H_AND_Q, _H_OR_Q = Text("PQ", "and"), Text("HQ", "and"), Text("HQ", "or")
_PH, _HP = (_P, _H), (_H, _P)

# By group and name: the formula, antecedents and consequents.
_ALL: dict[Group, dict[str, tuple[str, tuple[Question, ...], tuple[Question, ...]]]] = {
    "property": {
        "reflexive-premise": ("P ⊨ P", (), _ask(_E, (_P, _P))),
        "reflexive-hypothesis": ("H ⊨ H", (), _ask(_E, (_H, _H))),
        "symmetric-contradiction": ("P, H ⊨ ⊥  ⇒  H, P ⊨ ⊥", _ask(_C, _PH), _ask(_C, _HP)),
        "symmetric-neutral": ("P, H neutral  ⇒  H, P neutral", _ask(_N, _PH), _ask(_N, _HP)),
        "anti-symmetric": ("not always: P ⊨ H  ⇒  H ⊨ P", _ask(_E, _PH), _ask(_E, _HP)),
        "monotonic-entailment": ("P ⊨ H  ⇒  P, P' ⊨ H", _ask(_E, _PH), _ask(_E, (_P_Q, _H))),
        "monotonic-contradiction": (
            "P, H ⊨ ⊥  ⇒  P, P', H ⊨ ⊥",
            _ask(_C, _PH),
            _ask(_C, (_P_Q, _H)),
        ),
        "explosion": ("P, H ⊨ ⊥  ⇒  P, H ⊨ P'", _ask(_C, _PH), _ask(_E, (_P_THEN_H, _Q))),
    },
    "consequence": {
        "inclusion": ("P, P' ⊨ P  and  P, P' ⊨ P'", (), _ask(_E, (_P_Q, _P), (_P_Q, _Q))),
        "consistency": ("P ⊨ H  ⇒  not H, P ⊨ ⊥", _ask(_E, _PH), _ask(_C, _HP)),
        "negation": ("P, ¬P ⊨ ⊥", (), _ask(_C, (_Q, _NOT_Q))),
        "entailed-contradiction": (
            "A ⊨ B  and  B, C ⊨ ⊥  ⇒  A, C ⊨ ⊥",
            _ask(_E, _PH) + _ask(_C, (_H, _Q)),
            _ask(_C, (_P, _Q)),
        ),
    },
    "rule": {
        "and-intro": (
            "P ⊨ H1  and  P ⊨ H2  ⇒  P ⊨ H1 and H2",
            _ask(_E, _PH, (_P, _Q)),
            _ask(_E, (_P, _H_AND_Q)),
        ),
        "and-elim": (
            "P ⊨ H1 and H2  ⇒  P ⊨ H1  and  P ⊨ H2",
            _ask(_E, (_P, _H_AND_Q)),
            _ask(_E, _PH, (_P, _Q)),
        ),
        "and-elim-premise": (
            "P1 and P2 ⊨ P1  and  P1 and P2 ⊨ P2",
            (),
            _ask(_E, (_P_AND_Q, _P), (_P_AND_Q, _Q)),
        ),
        "or-intro": ("P ⊨ H1  ⇒  P ⊨ H1 or H2", _ask(_E, _PH), _ask(_E, (_P, _H_OR_Q))),
        "contraposition": ("P ⊨ H  ⇒  ¬H ⊨ ¬P", _ask(_E, _PH), _ask(_E, (_NOT_H, _NOT_P))),
        "transitivity": (
            "A ⊨ B  and  B ⊨ C  ⇒  A ⊨ C",
            _ask(_E, _PH, (_H, _Q)),
            _ask(_E, (_P, _Q)),
        ),
    },
}

_EXCEPTIONS: dict[str, dict[str, Any]] = {
    # Unrelated sentences are neutral: they are no control.
    "symmetric-neutral": {"control": "self"},
    "anti-symmetric": {"control": None, "should_hold": False},
    # Whatever is put in the place of P' follows, too.
    "explosion": {"control": "contrary"},
    # What must not be said of these must not be said of unrelated sentences, either.
    "consistency": {"control": None, "is_negated": True},
}

RULES = {
    name: Rule(
        name=name, formula=formula, group=group, when=when, then=then, **_EXCEPTIONS.get(name, {})
    )
    for group, rules in _ALL.items()
    for name, (formula, when, then) in rules.items()
}
"""All properties and rules by name, in the order of tables."""

WEIGHED = tuple(_ALL["rule"])
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


# The weights of the structural inference score (thesis of Salvatore 2020, eq. 5.3).

ACCURACY = "acc"
"""The name of the accuracy among weights, β0."""

# Weights that are written with a few digits sum to 1 up to these.
_ROUNDING = 1e-6


def default_weights(asked: Iterable[str]) -> dict[str, float]:
    """Return equal weights of the accuracy and of the rules of inference that can be asked."""
    names = [ACCURACY, *(name for name in WEIGHED if name in set(asked))]
    return dict.fromkeys(names, 1 / len(names))


def read_weights(source: str | Path | Mapping[str, float]) -> dict[str, float]:
    """Read weights: a mapping, ``acc=0.5,and-intro=0.5``, or a TOML file with a table ``weights``.

    Names that are not there weigh nothing.
    """
    if isinstance(source, Path) or (isinstance(source, str) and "=" not in source):
        return _check(_read_file(Path(source)), f"{source}: ")
    return _check(_split(source) if isinstance(source, str) else dict(source), "")


def _split(text: str) -> dict[str, Any]:
    weights: dict[str, Any] = {}
    problems = []
    for piece in text.split(","):
        name, _, value = (part.strip() for part in piece.partition("="))
        if name in weights:
            problems.append(f"weights: {name!r} is there twice")
        try:
            weights[name] = float(value)
        except ValueError:
            problems.append(f"weights: {piece.strip()!r} is not a name and a number, as in acc=0.5")
    if problems:
        raise ConfigError(problems)
    return weights


def _read_file(path: Path) -> dict[str, Any]:
    found = read_toml(path)
    weights = found.pop("weights", None)
    if found or not isinstance(weights, dict) or not weights:
        others = f", and not {', '.join(sorted(found))}" if found else ""
        raise ConfigError([f"{path}: has one table [weights], of lines like acc = 0.5{others}"])
    return weights


def _check(weights: Mapping[str, Any], where: str) -> dict[str, float]:
    known = [ACCURACY, *(name for name, rule in RULES.items() if rule.control is not None)]
    problems = []
    for name, value in weights.items():
        if name in RULES and name not in known:
            problems.append(
                f"{where}weights: {name!r} has no control questions, so it is no part of the score"
            )
        elif name not in known:
            close = difflib.get_close_matches(str(name), known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"
            problems.append(f"{where}weights: there is no rule {name!r}{hint}")
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= 1:
            problems.append(f"{where}weights: {name} is a number from 0 to 1, not {value!r}")
    if problems:
        raise ConfigError(problems)
    total = math.fsum(weights.values())
    if abs(total - 1) > _ROUNDING:
        raise ConfigError([f"{where}weights: sum to {total:g}; they have to sum to 1"])
    return {name: float(value) for name, value in weights.items()}


@dataclass(frozen=True, kw_only=True)
class StructuralScore:
    """A weighted sum."""

    value: float | None
    """None where a part of it is not defined."""
    interval: Interval | None = None
    """At 95%, by the delta method over sources; None where there are too few."""
    undefined: tuple[str, ...] = ()
    """Parts with a weight that are not defined."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        interval = self.interval
        return {
            "value": self.value,
            "interval": None if interval is None else [interval.low, interval.high],
            "undefined": list(self.undefined),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcomes:
    """What instances of a rule, or labelled pairs, came to."""

    holds: NDArray[np.bool_]
    units: NDArray[np.int64]
    """(n,): whether each holds, and its source."""
    control_holds: NDArray[np.bool_]
    control_units: NDArray[np.int64]
    """(m,): whether each control question got the answer, and its source."""

    def parts(self, weight: float, *, informed: bool) -> Parts | None:
        """Return the weighted rate, less that of control questions if informed; None without."""
        if len(self.holds) == 0 or (informed and len(self.control_holds) == 0):
            return None
        found = [RatePart(weight=weight, holds=self.holds, units=self.units)]
        if informed:
            control = RatePart(weight=-weight, holds=self.control_holds, units=self.control_units)
            found.append(control)
        return found, 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Accuracy:
    """Answers to labelled pairs."""

    right: NDArray[np.bool_]
    units: NDArray[np.int64]
    gold: NDArray[np.int32]
    """(n,): whether each answer is right, its source, and the place of its label."""

    @property
    def informedness(self) -> float | None:
        """The mean share of right answers over labels, scaled: guessing gives 0, no error 1.

        Labels without a pair do not count; None where fewer than two have pairs. Of two labels it
        is Youden's J.
        """
        found = self.parts(1.0, informed=True)
        if found is None:
            return None
        parts, offset = found
        return offset + sum(part.weight * float(part.holds.mean()) for part in parts)

    def parts(self, weight: float, *, informed: bool) -> Parts | None:
        """Return the weighted accuracy, or its informedness, if it is defined."""
        if not informed:
            return [RatePart(weight=weight, holds=self.right, units=self.units)], 0.0
        labels = sorted(set(self.gold.tolist()))
        if len(labels) < 2:
            return None
        own = weight / (len(labels) - 1)
        rows = [self.gold == label for label in labels]
        parts = [
            RatePart(weight=own, holds=self.right[each], units=self.units[each]) for each in rows
        ]
        return parts, -own


def compute_score(
    weights: Mapping[str, float],
    accuracy: Accuracy,
    outcomes: Mapping[str, Outcomes],
    *,
    informed: bool,
) -> StructuralScore:
    """Compute β0 acc + Σ βi s(ri), where s is the rate of instances that hold (eq. 5.2, 5.3).

    If `informed`, compute it of informedness: what guessing gives is taken off from every part.
    """
    parts: list[RatePart] = []
    undefined, offset = [], 0.0
    for name, weight in weights.items():
        if weight <= 0:
            continue
        own = accuracy if name == ACCURACY else outcomes.get(name)
        found = None if own is None else own.parts(weight, informed=informed)
        if found is None:
            undefined.append(name)
        else:
            parts += found[0]
            offset += found[1]
    if undefined or not parts:
        return StructuralScore(value=None, undefined=tuple(undefined))
    bounds = (-1.0, 1.0) if informed else (0.0, 1.0)
    value, interval = sum_rates(parts, offset=offset, bounds=bounds)
    return StructuralScore(value=value, interval=interval)


def renormalise(weights: Mapping[str, float], undefined: Sequence[str]) -> dict[str, float]:
    """Return weights without some names, divided by their sum; empty if none is left."""
    left = {name: weight for name, weight in weights.items() if name not in undefined}
    total = sum(left.values())
    return {name: weight / total for name, weight in left.items()} if total > 0 else {}
