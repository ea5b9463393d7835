"""Properties of an entailment relation and rules of inference, by their definitions, one by one.

Slow and obvious: texts are put together by hand, instances are found by trying all sentences, and a
rule applies where the classifier, a function of two texts, says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

E, N, C = "entailment", "neutral", "contradiction"
Question = tuple[str, str, str]  # premise, hypothesis, the answer asked for
Instance = tuple[tuple[Question, ...], tuple[Question, ...]]


def small(text: str) -> str:
    return text[0].lower() + text[1:]


def join(connective: str, one: str, other: str) -> str:
    return f"{one.rstrip('.')} {connective} {small(other)}"


def deny(text: str) -> str:
    return f"It is not true that {small(text)}"


class Sentences:
    """Labelled pairs; letters that are not P and H stand for sentences of other premises."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.pairs = list(dict.fromkeys(pairs))
        self.premises = list(dict.fromkeys(p for p, _ in pairs))
        self.hypotheses = list(dict.fromkeys(h for _, h in pairs))
        self.all = list(dict.fromkeys(text for pair in pairs for text in pair))
        self.together = {s: {p for p, h in pairs if s in (p, h)} for s in self.all}

    def foreign(self, pool: list[str], premise: str) -> list[str]:
        return [each for each in pool if premise not in self.together[each]]


def instances(rule: str, pairs: list[tuple[str, str]]) -> Iterator[Instance]:
    """Yield all candidates of a rule: antecedents and consequents.

    What a rule draws at random is here every sentence of every pair of another premise, and what it
    looks for by its words every sentence.
    """
    own = Sentences(pairs)
    if rule.startswith("and-") and rule != "and-elim-premise":
        yield from _of_two_hypotheses(rule, own)
    elif rule in {"transitivity", "entailed-contradiction"}:
        label = E if rule == "transitivity" else C
        for p, h in own.pairs:
            for s in own.all:
                if s not in (p, h):
                    yield ((p, h, E), (h, s, label)), ((p, s, label),)
    elif rule in _OF_SENTENCES:
        yield from _OF_SENTENCES[rule](own)
    else:
        for p, h in own.pairs:
            label, consequents = _OF_PAIRS[rule](own, p, h)
            yield from ((((p, h, label),), (each,)) for each in consequents)


def _of_two_premises(compose: Callable[[str, str], str], own: Sentences) -> Iterator[Instance]:
    for p in own.premises:
        for q in own.foreign(own.premises, p):
            whole = compose(p, q)
            yield (), ((whole, p, E), (whole, q, E))


_OF_SENTENCES: dict[str, Callable[[Sentences], Iterator[Instance]]] = {
    "reflexive-premise": lambda own: (((), ((p, p, E),)) for p in own.premises),
    "reflexive-hypothesis": lambda own: (((), ((h, h, E),)) for h in own.hypotheses),
    "negation": lambda own: (((), ((s, deny(s), C),)) for s in own.all),
    "inclusion": lambda own: _of_two_premises(lambda p, q: f"{p} {q}", own),
    "and-elim-premise": lambda own: _of_two_premises(lambda p, q: join("and", p, q), own),
}

# The answer that the antecedent asks for, and every consequent.
_OF_PAIRS: dict[str, Callable[[Sentences, str, str], tuple[str, list[Question]]]] = {
    "symmetric-contradiction": lambda own, p, h: (C, [(h, p, C)]),
    "symmetric-neutral": lambda own, p, h: (N, [(h, p, N)]),
    "anti-symmetric": lambda own, p, h: (E, [(h, p, E)]),
    "consistency": lambda own, p, h: (E, [(h, p, f"not {C}")]),
    "contraposition": lambda own, p, h: (E, [(deny(h), deny(p), E)]),
    "monotonic-entailment": lambda own, p, h: (
        E,
        [(f"{p} {q}", h, E) for q in own.foreign(own.premises, p)],
    ),
    "monotonic-contradiction": lambda own, p, h: (
        C,
        [(f"{p} {q}", h, C) for q in own.foreign(own.premises, p)],
    ),
    "explosion": lambda own, p, h: (
        C,
        [(f"{p} {h}", q, E) for q in own.foreign(own.hypotheses, p)],
    ),
    "or-intro": lambda own, p, h: (
        E,
        [(p, join("or", h, q), E) for q in own.foreign(own.hypotheses, p)],
    ),
}


def _of_two_hypotheses(rule: str, own: Sentences) -> Iterator[Instance]:
    for p, h, k in product(own.premises, own.hypotheses, own.hypotheses):
        if h != k and p not in (h, k) and {(p, h), (p, k)} & set(own.pairs):
            apart = ((p, h, E), (p, k, E))
            both = ((p, join("and", h, k), E),)
            yield (apart, both) if rule == "and-intro" else (both, apart)


def answers_as_asked(classify: Callable[[str, str], str], question: Question) -> bool:
    premise, hypothesis, wanted = question
    answer = classify(premise, hypothesis)
    return answer != wanted.removeprefix("not ") if wanted.startswith("not ") else answer == wanted


def applies(classify: Callable[[str, str], str], instance: Instance) -> bool:
    return all(answers_as_asked(classify, question) for question in instance[0])


def holds(classify: Callable[[str, str], str], instance: Instance) -> bool:
    return all(answers_as_asked(classify, question) for question in instance[1])
