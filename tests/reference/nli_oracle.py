"""Labels of scene pairs worked out the slow way, from sets of possible worlds.

A slot's value stands for the set of the most specific values it may be; a sentence says that its
slot is in that set. Aspects that have nothing to do with each other are different questions.
"""

from __future__ import annotations

from ietest_fast.corpus.demo.words import TAXONOMIES, Taxonomy

LABELS = ("entailment", "neutral", "contradiction")


def _chain(taxonomy: Taxonomy, value: int) -> list[int]:
    chain = [value]
    while taxonomy.values[chain[-1]].parent:
        chain.append(taxonomy.values[chain[-1]].parent)
    return chain


def worlds(taxonomy: Taxonomy, value: int) -> frozenset[str]:
    """What the value's question may be answered by, as far as one knows."""
    kinds = [i for i in range(1, len(taxonomy.values)) if value in _chain(taxonomy, i)]
    leaves = [i for i in kinds if not any(v.parent == i for v in taxonomy.values)]
    return frozenset(taxonomy.values[i].name for i in leaves)


def question(taxonomy: Taxonomy, value: int) -> str:
    return taxonomy.values[_chain(taxonomy, value)[-1]].aspect


def compare(slot: str, premise: int, hypothesis: int) -> str:
    taxonomy = TAXONOMIES[slot]()
    if hypothesis in {0, premise}:
        return "entailment"
    if premise == 0 or question(taxonomy, premise) != question(taxonomy, hypothesis):
        return "neutral"
    known, said = worlds(taxonomy, premise), worlds(taxonomy, hypothesis)
    if known <= said:
        return "entailment"
    if known & said:
        return "neutral"
    # With a friend and with a neighbour: one may have both for company.
    if slot == "company" and "alone" not in known | said:
        return "neutral"
    return "contradiction"


def label_of(premise: dict[str, int], hypothesis: dict[str, int], denied: str | None) -> str:
    """The label of a pair; ``denied`` names the slot that the hypothesis says is not so."""
    found = {slot: compare(slot, premise[slot], hypothesis[slot]) for slot in premise}
    if denied is not None:
        # "The man is not in the park" takes the man for granted.
        assert all(found[slot] == "entailment" for slot in found if slot != denied)
        turned = {"entailment": "contradiction", "contradiction": "entailment"}
        return turned.get(found[denied], "neutral")
    for label in ("contradiction", "neutral"):
        if label in found.values():
            return label
    return "entailment"


def nouns() -> tuple[str, ...]:
    """List every single-word noun of the demonstration corpus, in the singular, sorted."""
    found: set[str] = set()
    for taxonomy in (TAXONOMIES["agent"](), TAXONOMIES["thing"]()):
        found.update(value.forms.get("one", "") for value in taxonomy.values)
    for taxonomy, prefixes in (
        (TAXONOMIES["place"](), (" in the ", " on the ")),
        (TAXONOMIES["time"](), (" in the ", " in ", " at ")),
        (TAXONOMIES["company"](), (" with a ",)),
        (TAXONOMIES["outfit"](), (" in a ",)),
    ):
        for value in taxonomy.values:
            text = value.forms.get("text") or value.forms.get("one", "")
            prefix = next((p for p in prefixes if text.startswith(p)), None)
            if prefix is not None:
                found.add(text.removeprefix(prefix).rpartition(" ")[2])
    return tuple(sorted(noun for noun in found if noun and " " not in noun and noun != "something"))
