"""Template files: their syntax, their shapes, and the proofs of their labels."""

from __future__ import annotations

from importlib.resources import files
from random import Random
from typing import TYPE_CHECKING

import pytest

from ietest_fast.errors import InputError
from ietest_fast.templates.files import parse_templates, read_templates
from ietest_fast.templates.formulas import TemplateError
from ietest_fast.templates.parsing import print_formula

if TYPE_CHECKING:
    from ietest_fast.templates.template import Template

TASKS = files("ietest_fast.templates") / "tasks" / "thesis"
ONE = """
template one
    where       n in 2..4, i in 1..n
    people      x[1..n]
    places      y[1..n]
    premise     V(x[k], y[k]) for k in 1..n
    hypothesis  ~V(x[i], y[i])
    label       contradiction
"""


def test_a_shape_has_a_sentence_for_each_number():
    (template,) = parse_templates(ONE)
    shapes = [template.shape(sizes) for sizes in template.sizes()]
    assert len(shapes) == 2 + 3 + 4
    assert shapes[0].sizes == (("n", 2), ("i", 1))
    assert [print_formula(each) for each in shapes[0].premises] == [
        "V(x[1], y[1])",
        "V(x[2], y[2])",
    ]
    assert print_formula(shapes[-1].hypothesis) == "~V(x[4], y[4])"
    assert [each.name for each in shapes[0].constants] == ["x[1]", "y[1]", "x[2]", "y[2]"]
    assert prove_all(template) == 9


def prove_all(template: Template) -> int:
    return len([template.prove(sizes) for sizes in template.sizes()])


def edit(old: str, new: str) -> str:
    assert old in ONE
    return ONE.replace(old, new)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (edit("~V(x[i]", "~V(z"), (7, 20), "the variable 'z' is free"),
        (edit("~V(x[i]", "~V(x"), (7, 20), "'x' needs an index, such as x[1]"),
        (edit("~V(x[i]", "~V(y[i]"), (7, 20), "'y' is a place"),
        (edit("~V(x[i]", "~V(x[j]"), (7, 22), "the number 'j' is unknown"),
        (edit("n in 2..4", "n in 2..m"), (3, 25), "the number 'm' is unknown"),
        (edit("people      x", "people      n"), (4, 17), "'n' has a meaning already"),
        (edit("contradiction", "false"), (8, 17), "one of entailment, neutral, contradiction"),
        (edit("label ", "labels"), (8, 5), "one of template, where, people, places, same"),
        (edit("    label       contradiction\n", ""), (2, 1), "has no label"),
        (edit("    hypothesis  ~V(x[i], y[i])\n", ""), (2, 1), "has no hypothesis"),
        (ONE + "    label neutral\n", (9, 5), "has a label already"),
        (ONE + "    hypothesis V(x[1], y[1])\n", (9, 5), "has a hypothesis already"),
        (ONE + ONE, (10, 1), "there are two templates 'one'"),
        ("people x", (1, 1), "'template' is expected here"),
        (ONE + "    share 0\n", (9, 11), "a share is a number above 0"),
        (ONE + "    share 1/0\n", (9, 11), "a share is a number above 0"),
        (ONE + "    share 1\n    share 2\n", (10, 5), "has a share already"),
        (ONE + "    mask not\n", (9, 10), "one of and, or, some, every, number"),
        (ONE + "    same x[1] as y[1]\n", (9, 18), "a person is no place"),
        (ONE + "    same x[1], y[1]\n", (9, 14), "'as' is expected here"),
        (ONE + "    signs x\n", (9, 11), "'x' has a meaning already"),
        (edit("~V(x[i]", "+-s V(x[i]"), (7, 19), "the sign 's' is unknown here"),
        (ONE.replace("~V", "+-s V") + "    signs s[1..n]\n", (7, 19), "the sign 's' is unknown"),
        (edit("~V(x[i]", "+ V(x[i]"), (7, 19), "'-' of the sign '+-' is expected here"),
    ],
)
def test_mistakes_are_named_with_their_place(text, place, message):
    with pytest.raises(TemplateError, match="line") as caught:
        parse_templates(text, path="my.txt")
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.text_column) == place
    assert str(caught.value).startswith("my.txt, line {}, column {}: ".format(*place))


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (
            edit("contradiction", "neutral"),
            (8, 5),
            "the label is neutral, but with n = 2 and i = 1 it is contradiction",
        ),
        (edit("~V(x[i]", "~V(x[n+1]"), (7, 18), "there is x[3], which is not declared"),
        (
            edit("V(x[k], y[k]) for k in 1..n", "~(V(x[k], y[k]) & V(x[n], y[n])) for k in 1..n+1"),
            (6, 19),
            "with n = 2, i = 1 and k = 3 there is x[3], which is not declared",
        ),
        (
            edit("    hypothesis", "    premise ~V(x[1], y[1])\n    hypothesis"),
            (2, 1),
            "with n = 2 and i = 1 the premises contradict each other",
        ),
        (edit("2..4", "4..2"), (2, 1), "leave no shape"),
        (
            edit("for k in 1..n", "for k in 5..2"),
            (2, 1),
            "with n = 2 and i = 1 there is no premise",
        ),
        (
            edit("~V(x[i], y[i])", "any k in 5..n: V(x[k], y[k])"),
            (7, 17),
            "with n = 2 and i = 1 k in 5..2 has no number, so there is nothing to join",
        ),
        (
            edit("~V(x[i]", "+-s[n+1] V(x[i]") + "    signs s[1..n]\n",
            (7, 19),
            "with n = 2, i = 1, s[1] = 0 and s[2] = 0 there is s[3], which is not declared",
        ),
    ],
)
def test_labels_that_are_not_proved(text, place, message):
    (template,) = parse_templates(text, path="my.txt")
    with pytest.raises(TemplateError) as caught:
        prove_all(template)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.text_column) == place


def test_sizes_that_leave_no_number_are_not_drawn():
    """With n = 1 there is no i below n: the others share what n = 1 would have."""
    (template,) = parse_templates(edit("n in 2..4, i in 1..n", "n in 1..3, i in 1..n-1"))
    found = {(own["n"], own["i"]): weight for own, weight in template.weighted_sizes()}
    assert found == pytest.approx({(2, 1): 1 / 2, (3, 1): 1 / 4, (3, 2): 1 / 4})


def test_signs_negate_or_not():
    (template,) = parse_templates("""
        template signs
            where       n in 1..2
            people      x[1..n], z
            places      y
            signs       s[1..n], t
            premise     +-s[k] V(x[k], y) for k in 1..n
            premise     +-t ~V(z, y)
            hypothesis  V(z, y) | ~V(z, y)
            label       entailment
        """)
    weights = dict.fromkeys([4, 8], 0.0)
    said = set()
    for sizes, weight in template.weighted_sizes():
        weights[2 ** (sizes["n"] + 1)] += weight
        said.add(tuple(map(print_formula, template.shape(sizes).premises)))
    assert weights == {4: 0.5, 8: 0.5}
    assert len(said) == 4 + 8
    assert ("~V(x[1], y)", "V(x[2], y)", "~~V(z, y)") in said
    assert prove_all(template) == 12


def test_names_can_stand_for_one_entity():
    (template,) = parse_templates("""
        template self
            people      x, y[1..3]
            same        y[2] as x
            premise     exactly 2 u in Pe: V(x, u)
            hypothesis  each k in 1..3: V(x, y[k])
            label       contradiction
        """)
    (shape,) = [template.prove(sizes) for sizes in template.sizes()]
    assert print_formula(shape.hypothesis) == "V(x, y[1]) & V(x, x) & V(x, y[3])"
    assert [each.name for each in shape.constants] == ["x", "y[1]", "y[3]"]


SAME = """
template self
    where       i in 1..3
    people      x, y[1..3], z
    places      p
    same        {same}
    premise     V(x, p) & V(z, p) & each k in 1..3: V(y[k], p)
    hypothesis  V(x, p)
    label       entailment
"""


@pytest.mark.parametrize(
    ("same", "who"),
    [
        ("x as x", ["x", "z", "y[1]", "y[2]", "y[3]"]),
        # Two are one whatever the order, and those that are one with them.
        ("y[1] as x, x as z", ["z", "y[2]", "y[3]"]),
        ("x as z, y[1] as x", ["z", "y[2]", "y[3]"]),
        ("y[1] as x, y[2] as y[1], y[3] as y[2], x as y[3]", ["x", "z"]),
        ("x as y[1], x as y[2]", ["y[2]", "z", "y[3]"]),
    ],
)
def test_who_is_the_same_as_one_who_is_the_same(same, who):
    (template,) = parse_templates(SAME.format(same=same))
    shape = template.shape({"i": 1})
    assert [each.name for each in shape.constants if each.name != "p"] == who


def test_a_name_that_is_the_same_must_be_declared():
    (template,) = parse_templates(SAME.format(same="y[i+1] as x"), path="my.txt")
    assert template.shape({"i": 2})
    with pytest.raises(TemplateError, match=r"with i = 3 there is y\[4\], which is not") as caught:
        template.shape({"i": 3})
    assert (caught.value.line, caught.value.text_column) == (6, 17)


def test_too_many_shapes_are_refused_at_once():
    text = edit("2..4, i in 1..n", "1..9000, i in 1..n, j in 1..i, m in 1..j")
    for own in (text, edit("hypothesis", "signs s[1..40]\n    hypothesis")):
        (template,) = parse_templates(own)
        with pytest.raises(TemplateError, match="more than 100,000 shapes"):
            next(template.sizes())


@pytest.mark.slow
def test_ranges_that_leave_no_number_are_not_tried_forever():
    (template,) = parse_templates(edit("2..4, i in 1..n", "1..9999, m in 1..9999, i in 2..1"))
    with pytest.raises(TemplateError, match="more than 2,000,000 combinations"):
        next(template.sizes())


MASKED = """
template one
    people      a, b
    places      p
    premise     {premise}
    hypothesis  {hypothesis}
    mask        {mask}
    label       entailment
"""


@pytest.mark.parametrize(
    ("premise", "hypothesis", "mask", "stronger"),
    [
        ("V(a, p) & V(b, p)", "V(a, p) | V(b, p)", "or", "'and'"),
        ("all x in Pe: V(x, p)", "some x in Pe: V(x, p)", "some", "'every'"),
        ("V(a, a) & V(a, b)", "at least 1 x in Pe: V(a, x)", "number", "a greater number"),
        ("exactly 3 x in Pl: V(a, x)", "at least 2 x in Pl: V(a, x)", "number", "a greater number"),
    ],
)
def test_the_masked_word_is_the_strongest(premise, hypothesis, mask, stronger):
    text = MASKED.format(premise=premise, hypothesis=hypothesis, mask=mask)
    (template,) = parse_templates(text)
    with pytest.raises(TemplateError, match=f"also follows with {stronger} in the mask") as caught:
        prove_all(template)
    assert (caught.value.line, caught.value.text_column) == (7, 5)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "mask"),
    [
        ("V(a, p)", "V(a, p) | V(b, p)", "or"),
        ("V(a, p)", "some x in Pe: V(x, p)", "some"),
        ("V(a, a) & V(a, b)", "at least 2 x in Pe: V(a, x)", "number"),
        ("V(a, p)", "at least 1 x in Pl: V(a, x)", "number"),
        # "Every" would say less, as it is denied.
        ("all x in Pe: V(x, p)", "~(some x in Pe: ~V(x, p))", "some"),
        ("all x in Pe: V(x, p)", "all x in Pe: V(x, p)", "every"),
    ],
)
def test_the_strongest_word_can_be_masked(premise, hypothesis, mask):
    (template,) = parse_templates(MASKED.format(premise=premise, hypothesis=hypothesis, mask=mask))
    prove_all(template)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "bom.txt").write_text(ONE, "utf-8-sig")
    assert read_templates(tmp_path / "bom.txt")[0].name == "one"


def test_a_file_without_templates(tmp_path):
    (tmp_path / "none.txt").write_text("# nothing\n")
    with pytest.raises(InputError, match="there is no template"):
        read_templates(tmp_path / "none.txt")
    (tmp_path / "none.txt").write_bytes(b"\xff")
    with pytest.raises(InputError, match="line 1: is not UTF-8"):
        read_templates(tmp_path / "none.txt")


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(each.name for each in TASKS.iterdir()))
def test_shapes_of_the_thesis_have_their_labels(task):
    """All of each template, or 100 of them: `templates` proves every one before it writes."""
    for template in read_templates(TASKS / task):
        shapes = list(template.sizes())
        for sizes in Random(0).sample(shapes, min(len(shapes), 100)):
            template.prove(sizes)
