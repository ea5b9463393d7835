"""The questions of every rule: which sentences of labelled pairs stand for which letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.evaluation.logic.drafts import NO_STATEMENT, Draft, Drafts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.evaluation.logic.items import Items
    from ietest_fast.evaluation.logic.options import LogicOptions
    from ietest_fast.evaluation.logic.texts import Texts

    Numbers = NDArray[np.int64]
    Pairs = tuple[Numbers, Numbers]


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Candidates of a rule, n of them, by the numbers of their texts."""

    row: Numbers
    """int64 (n,): the item that each is made of, and whose source counts."""
    antecedents: tuple[Pairs, ...]
    consequents: tuple[Pairs, ...]
    """Premises and hypotheses of each question, int64 (n,) each."""
    premise_parts: Numbers
    hypothesis_parts: Numbers
    """int64 (n, a) and (n, b): the sentences that the consequents' premises and hypotheses are made
    of."""
    left_out: Mapping[str, int]
    """What is not among them, by reason."""

    def __len__(self) -> int:
        return len(self.row)


class Finder:
    """Finds the candidates of every rule."""

    def __init__(self, items: Items, texts: Texts, options: LogicOptions) -> None:
        self._items = items
        self._texts = texts
        self._drafts = Drafts(items, texts.fit, options)

    def find(self, rule: str) -> Candidates:
        """Find the candidates of a rule."""
        return _FINDERS[rule](self)

    def _reflexive(self, side: Numbers) -> Candidates:
        draft = self._drafts.first_with(side)
        own = draft.other
        return _make(draft, consequents=[(own, own)], premise=[own], hypothesis=[own])

    def reflexive_premise(self) -> Candidates:
        """P ⊨ P."""
        return self._reflexive(self._items.premise)

    def reflexive_hypothesis(self) -> Candidates:
        """H ⊨ H."""
        return self._reflexive(self._items.hypothesis)

    def swapped(self) -> Candidates:
        """Ask of P and H for H and P."""
        draft = self._drafts.pairs
        premise, hypothesis = self._sides(draft)
        return _make(
            draft,
            antecedents=[(premise, hypothesis)],
            consequents=[(hypothesis, premise)],
            premise=[hypothesis],
            hypothesis=[premise],
        )

    def monotonic(self) -> Candidates:
        """Ask of P and H for P, P' and H."""
        draft = self._drafts.with_premises
        premise, hypothesis = self._sides(draft)
        return _make(
            draft,
            antecedents=[(premise, hypothesis)],
            consequents=[(self._texts.follow(premise, draft.other), hypothesis)],
            premise=[premise, draft.other],
            hypothesis=[hypothesis],
        )

    def explosion(self) -> Candidates:
        """Ask of P and H for P, H and P'."""
        draft = self._drafts.with_hypotheses
        premise, hypothesis = self._sides(draft)
        return _make(
            draft,
            antecedents=[(premise, hypothesis)],
            consequents=[(self._texts.follow(premise, hypothesis), draft.other)],
            premise=[premise, hypothesis],
            hypothesis=[draft.other],
        )

    def inclusion(self) -> Candidates:
        """P, P' ⊨ P and P, P' ⊨ P'."""
        return self._of_two(self._drafts.two_premises, self._texts.follow)

    def and_elim_premise(self) -> Candidates:
        """P1 and P2 ⊨ P1, and P1 and P2 ⊨ P2."""
        draft = self._keep_fit(self._drafts.two_premises, self._items.premise)
        return self._of_two(draft, lambda one, other: self._texts.join("and", one, other))

    def _of_two(self, draft: Draft, compose: Callable[[Numbers, Numbers], Numbers]) -> Candidates:
        one, other = self._items.premise[draft.row], draft.other
        whole = compose(one, other)
        return _make(
            draft,
            consequents=[(whole, one), (whole, other)],
            premise=[one, other],
            hypothesis=[one, other],
        )

    def negation(self) -> Candidates:
        """P, ¬P ⊨ ⊥."""
        draft = self._drafts.statements
        own = draft.other
        denied = self._texts.deny(own)
        return _make(draft, consequents=[(own, denied)], premise=[own], hypothesis=[own])

    def contraposition(self) -> Candidates:
        """Ask of P and H for ¬H and ¬P."""
        items = self._items
        draft = self._drafts.pairs
        draft = draft.keep(self._texts.fit[items.premise[draft.row]], NO_STATEMENT)
        draft = draft.keep(self._texts.fit[items.hypothesis[draft.row]], NO_STATEMENT)
        premise, hypothesis = self._sides(draft)
        return _make(
            draft,
            antecedents=[(premise, hypothesis)],
            consequents=[(self._texts.deny(hypothesis), self._texts.deny(premise))],
            premise=[hypothesis],
            hypothesis=[premise],
        )

    def _chain(self, draft: Draft) -> Candidates:
        """Ask of A, B and C for A and C."""
        first, second = self._sides(draft)
        return _make(
            draft,
            antecedents=[(first, second), (second, draft.other)],
            consequents=[(first, draft.other)],
            premise=[first],
            hypothesis=[draft.other],
        )

    def transitivity(self) -> Candidates:
        """Ask of A ⊨ B and B ⊨ C for A ⊨ C."""
        return self._chain(self._drafts.with_contained)

    def entailed_contradiction(self) -> Candidates:
        """Ask of A ⊨ B and B, C ⊨ ⊥ for A, C ⊨ ⊥."""
        return self._chain(self._drafts.with_like)

    def and_intro(self) -> Candidates:
        """P ⊨ H1 and P ⊨ H2: P ⊨ H1 and H2."""
        draft = self._drafts.two_hypotheses
        (premise, one), other = self._sides(draft), draft.other
        return _make(
            draft,
            antecedents=[(premise, one), (premise, other)],
            consequents=[(premise, self._texts.join("and", one, other))],
            premise=[premise],
            hypothesis=[one, other],
        )

    def and_elim(self) -> Candidates:
        """P ⊨ H1 and H2: P ⊨ H1 and P ⊨ H2."""
        draft = self._drafts.two_hypotheses
        (premise, one), other = self._sides(draft), draft.other
        return _make(
            draft,
            antecedents=[(premise, self._texts.join("and", one, other))],
            consequents=[(premise, one), (premise, other)],
            premise=[premise],
            hypothesis=[one, other],
        )

    def or_intro(self) -> Candidates:
        """P ⊨ H1: P ⊨ H1 or H2."""
        draft = self._keep_fit(self._drafts.with_hypotheses, self._items.hypothesis)
        (premise, one), other = self._sides(draft), draft.other
        return _make(
            draft,
            antecedents=[(premise, one)],
            consequents=[(premise, self._texts.join("or", one, other))],
            premise=[premise],
            hypothesis=[one, other],
        )

    def _sides(self, draft: Draft) -> Pairs:
        return self._items.premise[draft.row], self._items.hypothesis[draft.row]

    def _keep_fit(self, draft: Draft, side: Numbers) -> Draft:
        """Keep items whose sentences of a side, and those beside them, can stand in compounds."""
        fit = self._texts.fit
        return draft.keep(fit[side[draft.row]] & fit[draft.other], NO_STATEMENT)


_FINDERS: Mapping[str, Callable[[Finder], Candidates]] = {
    "reflexive-premise": Finder.reflexive_premise,
    "reflexive-hypothesis": Finder.reflexive_hypothesis,
    "symmetric-contradiction": Finder.swapped,
    "symmetric-neutral": Finder.swapped,
    "anti-symmetric": Finder.swapped,
    "monotonic-entailment": Finder.monotonic,
    "monotonic-contradiction": Finder.monotonic,
    "explosion": Finder.explosion,
    "inclusion": Finder.inclusion,
    "consistency": Finder.swapped,
    "negation": Finder.negation,
    "entailed-contradiction": Finder.entailed_contradiction,
    "and-intro": Finder.and_intro,
    "and-elim": Finder.and_elim,
    "and-elim-premise": Finder.and_elim_premise,
    "or-intro": Finder.or_intro,
    "contraposition": Finder.contraposition,
    "transitivity": Finder.transitivity,
}


def _make(
    draft: Draft,
    *,
    antecedents: Sequence[Pairs] = (),
    consequents: Sequence[Pairs],
    premise: Sequence[Numbers],
    hypothesis: Sequence[Numbers],
) -> Candidates:
    return Candidates(
        row=draft.row,
        antecedents=tuple(antecedents),
        consequents=tuple(consequents),
        premise_parts=np.stack(premise, axis=1),
        hypothesis_parts=np.stack(hypothesis, axis=1),
        left_out=draft.left_out,
    )
