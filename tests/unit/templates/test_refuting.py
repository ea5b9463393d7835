"""Worlds that show that a label is wrong."""

from __future__ import annotations

import re
from random import Random

import pytest

from ietest_fast.errors import InputError
from ietest_fast.templates.formulas import Constant, Interpretation, Sort
from ietest_fast.templates.grounding import Label, label_of
from ietest_fast.templates.parsing import parse_formula
from ietest_fast.templates.template import describe_world, refute
from reference.random_formulas import random_formula

NAMES = {"anna": Sort.PERSON, "bob": Sort.PERSON, "rome": Sort.PLACE, "oslo": Sort.PLACE}


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label", "why"),
    [
        (
            "V(anna, rome)",
            "V(bob, rome)",
            "contradiction",
            "can be true: V(anna, rome), V(bob, rome)",
        ),
        ("V(anna, rome)", "V(bob, rome)", "entailment", "can be false: V(anna, rome)"),
        (
            "~V(anna, rome)",
            "V(bob, rome)",
            "entailment",
            "can be false: nobody has visited anything",
        ),
        ("V(anna, rome)", "some x in Pe: V(x, rome)", "neutral", "is never false"),
        ("V(anna, rome)", "~V(anna, rome)", "neutral", "is never true"),
        ("V(anna, rome)", "~V(anna, rome)", "entailment", "can be false: V(anna, rome)"),
        (
            "V(anna, rome)",
            "some x in Pe: V(x, rome)",
            "contradiction",
            "can be true: V(anna, rome)",
        ),
        (
            "V(anna, rome)",
            "bob > anna",
            "contradiction",
            "can be true: V(anna, rome); bob > anna",
        ),
    ],
)
def test_why_a_label_is_wrong(premise: str, hypothesis: str, label: str, why: str) -> None:
    given, said = parse_formula(premise, NAMES), parse_formula(hypothesis, NAMES)
    assert refute([given], said, Label(label)).startswith(f"the hypothesis {why}")


def test_those_without_a_name_are_listed() -> None:
    given, said = (
        parse_formula(text, NAMES) for text in ("V(anna, rome)", "all x in Pe: V(x, rome)")
    )
    why = refute([given], said, Label.ENTAILMENT)
    assert why == "the hypothesis can be false: V(anna, rome); there is also a person #1"


def test_people_and_places_without_a_name_are_told_apart() -> None:
    given = parse_formula(
        "(exactly 2 x in Pe: V(anna, x)) & (exactly 2 y in Pl: V(anna, y))", NAMES
    )
    said = parse_formula("V(anna, rome)", NAMES)
    why = refute([given], said, Label.ENTAILMENT)
    others = re.findall(r"there is also a (person|place) (#\d+)", why)
    assert {kind for kind, _ in others} == {"person", "place"}
    assert [name for _, name in others] == [f"#{number + 1}" for number in range(len(others))]
    visits = re.findall(r"V\(.*?\)", why)
    assert len(visits) == len(set(visits)) == 4


def test_all_wrong_labels_are_refuted() -> None:
    """Of random formulas, in one of the ways that the label allows."""
    n_refuted = 0
    for seed in range(60):
        random = Random(seed)
        given, said = random_formula(random, 2), random_formula(random, 2)
        try:
            found = label_of([given], said)
        except InputError:
            continue
        for label in set(Label) - {found}:
            why = refute([given], said, label)
            expected = {
                Label.ENTAILMENT: "can be false: ",
                Label.CONTRADICTION: "can be true: ",
                Label.NEUTRAL: "is never false" if found is Label.ENTAILMENT else "is never true",
            }
            assert why.startswith(f"the hypothesis {expected[label]}")
            n_refuted += 1
    assert n_refuted > 40


def test_large_worlds_are_shortened() -> None:
    people = tuple(Constant(f"p{number}", Sort.PERSON) for number in range(4))
    rome = Constant("rome", Sort.PLACE)
    everyone = frozenset((one, two) for one in people for two in people)
    heights = {each: number // 2 for number, each in enumerate(people)}
    said = describe_world(Interpretation(people, (rome,), everyone, heights))
    assert said.endswith("V(p1, p3), 8 other visits; p2 == p3 > p0 == p1")
