"""Formulas that differ in names and order only."""

from __future__ import annotations

from random import Random

from tests.reference.random_formulas import random_formula

from ietest_fast.templates.formulas import And, Constant, Formula, Not, Sort, constants_of, rename
from ietest_fast.templates.normal_form import canonical
from ietest_fast.templates.parsing import parse_formula

NAMES = {
    **dict.fromkeys(["anna", "bob", "carl"], Sort.PERSON),
    **dict.fromkeys(["rome", "oslo"], Sort.PLACE),
}


def plain(text: str) -> Formula:
    return canonical(parse_formula(text, NAMES), ())[0]


def test_names_and_order_do_not_matter() -> None:
    one = plain("V(anna, rome) & V(anna, anna) & ~(V(bob, rome) & V(bob, bob))")
    assert one == plain("~(V(carl, carl) & V(carl, oslo)) & V(bob, bob) & V(bob, oslo)")
    assert one == canonical(one, ())[0]


def test_what_is_said_matters() -> None:
    said = [
        "V(anna, bob) & V(bob, carl)",
        "V(anna, bob) & V(carl, bob)",
        "V(anna, bob) & V(bob, anna)",
        "V(anna, bob) & V(anna, rome)",
        "V(anna, bob) | V(bob, carl)",
        "V(anna, bob) & ~V(bob, carl)",
        "V(anna, bob) -> V(bob, carl)",
        "V(bob, carl) -> V(anna, bob)",
        "anna > bob & bob > carl",
    ]
    forms = [plain(text) for text in said]
    assert len(set(forms)) == len(said)


def test_the_names_give_the_formula_back() -> None:
    for seed in range(200):
        formula = random_formula(Random(seed), 4)
        other = Constant("other", Sort.PLACE)
        found, names = canonical(formula, [other])
        back = {number: each for each, number in names.items()}
        assert set(names) == {*constants_of(formula), other}
        assert len(back) == len(names)
        assert sorted_parts(rename(found, back)) == sorted_parts(formula)


def sorted_parts(formula: Formula) -> object:
    """A formula up to the order of conjuncts and disjuncts outside of quantifiers."""
    if isinstance(formula, Not):
        return ("not", sorted_parts(formula.body))
    if isinstance(formula, And) or type(formula).__name__ == "Or":
        return (type(formula).__name__, sorted(repr(sorted_parts(each)) for each in formula.parts))
    return formula
