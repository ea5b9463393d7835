"""Formulas as text."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.templates import formulas as f
from ietest_fast.templates.formulas import TemplateError
from ietest_fast.templates.parsing import parse_formula, print_formula
from reference.random_formulas import CONSTANTS, random_formula

if TYPE_CHECKING:
    from collections.abc import Iterator

ANN, BOB = (f.Constant(name, f.Sort.PERSON) for name in ("ann", "bob"))
ROME = f.Constant("rome", f.Sort.PLACE)
X = f.Variable("x")


def walk(formula: f.Formula) -> Iterator[f.Formula]:
    """Yield a formula and all that stand in it."""
    yield formula
    for part in f.parts_of(formula):
        yield from walk(part)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("V(ann, rome)", f.Visited(ann := ANN, ROME)),
        ("~V(ann, rome)", f.Not(f.Visited(ann, ROME))),
        ("ann > bob & bob >= ann", f.And((f.Taller(ANN, BOB), f.AsTall(BOB, ANN)))),
        ("ann != bob", f.Not(f.Equal(ANN, BOB))),
        (
            "ann > bob | ann = bob & bob > ann",
            f.Or((f.Taller(ANN, BOB), f.And((f.Equal(ANN, BOB), f.Taller(BOB, ANN))))),
        ),
        (
            "ann > bob -> bob > ann -> ann = bob",
            f.Implies(f.Taller(ANN, BOB), f.Implies(f.Taller(BOB, ANN), f.Equal(ANN, BOB))),
        ),
        # A quantifier reaches as far as it can.
        (
            "all x in Pe: V(x, rome) & V(x, ann)",
            f.ForAll("x", f.Domain.PEOPLE, f.And((f.Visited(X, ROME), f.Visited(X, ANN)))),
        ),
        ("some x: V(ann, x)", f.AtLeast(1, "x", f.Domain.BOTH, f.Visited(ANN, X))),
        ("at least 2 x in Pl: V(ann, x)", f.AtLeast(2, "x", f.Domain.PLACES, f.Visited(ANN, X))),
        ("exactly 3 x in Pe: x > ann", f.Exactly(3, "x", f.Domain.PEOPLE, f.Taller(X, ANN))),
        (
            "ann = the x in Pe: V(x, rome)",
            f.Equal(ANN, f.Description("x", f.Domain.PEOPLE, f.Visited(X, ROME))),
        ),
        ("each k in 1..2: V(ann, rome)", f.And((f.Visited(ANN, ROME),) * 2)),
        ("any k in 1..1: V(ann, rome)", f.Visited(ANN, ROME)),
        (
            "∀x in Pe: ¬V(x, rome) ∨ x ≥ ann",
            parse_formula("all x in Pe: ~V(x, rome) | x >= ann", CONSTANTS),
        ),
        ("# nothing\nV(ann,\n  rome)  # something", f.Visited(ANN, ROME)),
    ],
)
def test_reading(text, formula):
    assert parse_formula(text, CONSTANTS) == formula


@given(st.integers(0, 2**32))
def test_what_is_written_is_read_again(seed):
    formula = random_formula(Random(seed), 5)
    text = print_formula(formula)
    again = parse_formula(text, CONSTANTS)
    assert print_formula(again) == text
    if not any(isinstance(each, f.And | f.Or) and len(each.parts) == 1 for each in walk(formula)):
        assert again == formula


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("V(ann, bob", (1, 11), "')' is expected here, not the end"),
        ("V(ann, zoe)", (1, 8), "the variable 'zoe' is free"),
        ("V(ann,\n  zoe)", (2, 3), "the variable 'zoe' is free"),
        ("all x: V(x, ann)", (1, 10), "'x' may be a place; write 'x in Pe'"),
        ("V(rome, ann)", (1, 3), "'rome' is a place"),
        ("ann > rome", (1, 7), "only people are taller"),
        ("ann = rome", (1, 7), "a person is no place"),
        ("ann rome", (1, 5), "is expected behind a term, not 'rome'"),
        ("exactly x in Pe: V(x, ann)", (1, 11), "'in' means something else"),
        ("all x in Px: V(x, x)", (1, 10), "Pe (people) or Pl (places) is expected"),
        ("all ann in Pe: V(ann, ann)", (1, 1), "'ann' has a meaning already"),
        ("ann[1] > bob", (1, 1), "'ann' has no index"),
        ("V(ann, bob) & $", (1, 15), "'$' means nothing here"),
        ("V(ann, bob) V", (1, 13), "the end of the formula is expected"),
        ("the x in Pe: V(x, ann) = bob", (1, 1), "in parentheses"),
        ("exactly 99999 x: V(ann, x)", (1, 9), "the number is too large"),
        ("exactly n x: V(ann, x)", (1, 9), "the number 'n' is unknown"),
        ("(" * 300 + "V(ann, bob)" + ")" * 300, (1, 101), "nested more than 100 times"),
        ("~" * 3000 + "V(ann, bob)", (1, 100), "nested more than 100 times"),
        ("", (1, 1), "a formula is expected here, not the end"),
    ],
)
def test_mistakes_are_named_with_their_place(text, place, message):
    with pytest.raises(TemplateError) as caught:
        parse_formula(text, CONSTANTS)
    assert (caught.value.line, caught.value.text_column) == place
    assert message in str(caught.value)
    assert str(caught.value).startswith("line {}, column {}: ".format(*place))
