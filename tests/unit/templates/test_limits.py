"""What files, formulas and proofs may cost: limits that name the template and the place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ietest_fast.errors import IetestError, InputError
from ietest_fast.templates import files, grounding, naming, sampling
from ietest_fast.templates.files import (
    RULE_SETS,
    Task,
    load_tasks,
    parse_templates,
    read_templates,
    task_names,
)
from ietest_fast.templates.formulas import Constant, Sort, TemplateError
from ietest_fast.templates.grounding import Label, label_of
from ietest_fast.templates.language import load_language, read_language
from ietest_fast.templates.naming import Names
from ietest_fast.templates.parsing import MOST_NESTED, parse_formula
from ietest_fast.templates.sampling import check_enough_names, prove_templates
from ietest_fast.templates.schemas import MOST_PARTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ANN, BOB = (Constant(name, Sort.PERSON) for name in ("ann", "bob"))
NAMES = {"ann": Sort.PERSON, "bob": Sort.PERSON, "rome": Sort.PLACE}


TEXT = """template small
    {}
    people x, w[1..9999]
    places y, z[1..9999]
premise {}
hypothesis V(x, y)
label neutral"""


def prove(premise: str, *, where: str = "", hypothesis: str = "V(x, y)") -> object:
    """Prove a template whose premise begins at line 5, column 9."""
    text = TEXT.format(where, premise).replace("V(x, y)\nlabel", f"{hypothesis}\nlabel")
    return prove_templates((Task("t", parse_templates(text)),), load_language("en"))


DEEP = 3_000


@pytest.mark.parametrize(
    ("premise", "column"),
    [
        pytest.param(f"V({'(' * DEEP}x{')' * DEEP}, y)", 9 + 2 + MOST_NESTED - 1, id="term"),
        pytest.param(f"x > {'(' * DEEP}x{')' * DEEP}", 9 + 4 + MOST_NESTED - 1, id="second term"),
        pytest.param(f"{'(' * DEEP}V(x, y){')' * DEEP}", 9 + MOST_NESTED, id="formula"),
        pytest.param(f"{'(' * DEEP}", 9 + MOST_NESTED, id="not closed"),
        pytest.param(f"{'~' * DEEP}V(x, y)", 9 + MOST_NESTED - 1, id="negations"),
        pytest.param("V(x, y) -> " * DEEP + "V(x, y)", 9 + 11 * MOST_NESTED, id="conditions"),
        pytest.param("all u in Pe: " * DEEP + "V(u, y)", 9 + 13 * MOST_NESTED, id="quantifiers"),
        pytest.param("each k in 1..1: " * DEEP + "V(x, y)", 9 + 16 * MOST_NESTED, id="families"),
        pytest.param("+-s " * DEEP + "V(x, y)", 9 + 4 * (MOST_NESTED - 1), id="signs"),
        pytest.param("x = (the u in Pe: " * DEEP, None, id="descriptions"),
    ],
)
def test_nesting_is_bounded_everywhere(premise: str, column: int | None) -> None:
    with pytest.raises(TemplateError, match="is nested more than 100 times") as caught:
        prove(premise)
    assert caught.value.line == 5
    if column is not None:
        assert caught.value.text_column in {column, column - 1, column + 1}


def test_what_is_just_not_too_deep_is_proved() -> None:
    """Python's own limit is far away, also where each level is several."""
    half = MOST_NESTED // 4 - 1
    premise = "(V(x, y) | (V(x, y) & all u in Pe: " * half + "V(u, y)" + "))" * half
    formula = parse_formula(premise.replace("x", "ann").replace("y", "rome"), NAMES)
    visit = parse_formula("V(ann, rome)", NAMES)
    assert label_of((formula,), visit) is Label.ENTAILMENT
    terms = "(" * (MOST_NESTED - 2)
    assert parse_formula(f"V({terms}ann{')' * len(terms)}, rome)", NAMES) == visit


@pytest.mark.parametrize("mark", ["&", "|"])
def test_long_flat_chains_are_no_nesting(mark: str) -> None:
    chain = f" {mark} ".join(f"V(w[{1 + k % 30}], y)" for k in range(400))
    assert prove(chain, hypothesis="V(x, y)") is not None


@pytest.mark.parametrize(
    "premise",
    [
        "each k in 1..9999: each j in 1..9999: V(x, y)",
        "each k in 1..9999: each j in 1..9999: each i in 1..9999: V(w[i], z[j])",
        "any k in 1..9999: V(x, z[k])",
        "V(x, z[k]) for k in 1..9999",
        "each k in 1..90: each j in 1..k: V(w[k], w[j])",
        # A proof says twice what stands in "exactly" and in a description.
        "".join(f"exactly 1 u{k} in Pe: " for k in range(40)) + "V(u1, u2)",
        "x = (the u in Pe: " * 30 + "V(u, y)" + ")" * 30,
    ],
)
def test_formulas_are_bounded_before_they_are_made(premise: str) -> None:
    with pytest.raises(TemplateError, match=r"template 'small': .* the formulas have") as caught:
        prove(premise)
    assert f"more than {MOST_PARTS:,} parts" in str(caught.value)
    assert caught.value.line == 5


def test_the_limit_counts_all_formulas_of_a_shape() -> None:
    premise = "V(x, y)\n    premise (each j in 1..150: V(w[i], z[j])) for i in 1..n"
    with pytest.raises(TemplateError, match="with n = 14 and i = 14 the formulas have more than"):
        prove(premise, where="where n in 14..14")
    assert (
        len(parse_templates(TEXT.format("where n in 12..12", premise))[0].shape({"n": 12}).premises)
        == 13
    )


@pytest.mark.parametrize(
    "premise", ["exactly n-5 u in Pl: V(x, u)", "at least n-3 u in Pl: V(x, u)"]
)
def test_numbers_below_0_count_nothing(premise: str) -> None:
    with pytest.raises(TemplateError, match=r"with n = 1 .* of them cannot be; count from 0"):
        prove(premise, where="where n in 1..2")


@pytest.mark.slow
@pytest.mark.parametrize(
    "premise",
    [
        "exactly 9999 u in Pl: V(x, u)",
        "exactly 60 u in Pl: exactly 59 v in Pe: V(v, u)",
        "exactly 9999 u in Pl: exactly 9999 v in Pe: V(v, u)",
        "at least 9999 u in Pe: x > u",
        "exactly 400 u in Pe: x > u",
        "all u in Pe: all v in Pe: exactly 500 w1 in Pe: V(u, w1) -> V(v, w1)",
        "exactly 50 u in Pe: exactly 40 v in Pe: exactly 3 w1 in Pl: V(v, w1) -> u > v",
        # What a weaker form would say of each named entity, and in it of each again.
        "".join(f"all u{k} in Pe: " for k in range(6))
        + "some v in Pe: "
        + " & ".join(f"V(u{k}, v)" for k in range(6))
        + " & (each k in 1..12: V(w[k], v))",
    ],
)
def test_what_cannot_be_decided_is_refused_in_time(premise: str) -> None:
    with pytest.raises(
        TemplateError, match="template 'small': here the formula speaks of too many"
    ):
        prove(premise)


def test_a_proof_gives_up_after_so_many_conflicts(monkeypatch: pytest.MonkeyPatch) -> None:
    """On every machine after the same number."""
    monkeypatch.setattr(grounding, "MOST_CONFLICTS", grounding.CONFLICTS_AT_ONCE)
    premise = "exactly 24 u in Pe: V(x, u)"
    for _ in range(2):
        with pytest.raises(TemplateError, match="template 'small': here it is not decided after"):
            prove(premise, hypothesis="exactly 23 u in Pe: V(x, u)")


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        # A quantifier that binds nothing: there are at least so many, and what it says is true.
        ("at least 2 u in Pl: V(ann, rome)", "V(ann, rome)", Label.ENTAILMENT),
        ("exactly 3 u in Pl: V(ann, rome)", "exactly 3 u in Pl: u = u", Label.ENTAILMENT),
        ("exactly 3 u in Pl: V(ann, rome)", "all u in Pl: u = rome", Label.CONTRADICTION),
        ("all u in Pl: exactly 1 v in Pe: V(ann, rome)", "all v in Pe: v = ann", Label.ENTAILMENT),
        ("exactly 0 u in Pl: V(ann, rome)", "V(ann, rome)", Label.CONTRADICTION),
        (
            "".join(f"at least 3 u{k} in Pe: exactly 2 v{k} in Pl: " for k in range(6))
            + "V(ann, rome)",
            "ann > bob",
            Label.NEUTRAL,
        ),
    ],
)
def test_quantifiers_that_bind_nothing(premise: str, hypothesis: str, label: Label) -> None:
    found = label_of((parse_formula(premise, NAMES),), parse_formula(hypothesis, NAMES))
    assert found is label


ONE = """template {} where n in 1..{} people x places y premise V(x, y)
    hypothesis ~V(x, y) label contradiction
    """
VISITS = """template visits
    where n in 2..{}, i in 1..n
    people x[1..n]
    places y[1..n]
    premise V(x[k], y[k]) for k in 1..n
    hypothesis ~V(x[i], y[i])
    label contradiction
"""


def test_parts_are_bounded_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "MOST_PARTS", 75)
    tasks = (Task("t", parse_templates(ONE.format("a", 20) + ONE.format("b", 6))),)
    message = (
        "line 3, column 5: template 'b': its 6 shapes would have 18 parts, and the templates "
        "before it 60; at most 75 in all can be proved; make the ranges of sizes smaller, or make "
        "several corpora"
    )
    with pytest.raises(TemplateError, match=message):
        prove_templates(tasks, load_language("en"))
    done: list[tuple[int, int]] = []
    small = (Task("t", parse_templates(ONE.format("a", 20) + ONE.format("b", 5))),)
    prove_templates(small, load_language("en"), on_shape=lambda *own: done.append(own))
    assert done == [(number, 25) for number in range(1, 26)]


@pytest.mark.parametrize("check", [prove_templates, check_enough_names])
def test_many_large_shapes_are_refused_before_one_is_made(
    check: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(*_: object) -> None:
        raise AssertionError("a shape is made")

    monkeypatch.setattr("ietest_fast.templates.template.Template.shape", make)
    tasks = (Task("t", parse_templates(VISITS.format(400))),)
    message = "template 'visits': its 80,199 shapes would have 21,573,797 parts; at most 1,000,000"
    with pytest.raises(TemplateError, match=message) as caught:
        check(tasks, {})
    assert caught.value.line == 1


def test_what_is_far_above_the_limit_is_not_counted_to_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sampling, "MOST_PARTS", 10)
    with pytest.raises(TemplateError, match="would have more than 250 parts; at most 10 in all"):
        prove_templates((Task("t", parse_templates(VISITS.format(40))),), load_language("en"))


@pytest.mark.parametrize(
    ("premise", "hypothesis"),
    [
        ("V(w[k], z[k]) for k in i..n", "V(x, y)"),
        ("(each j in 1..k: V(w[j], z[k])) for k in 1..n", "V(x, y)"),
        ("V(x, y)", "each k in i..n: any j in k..n: ~V(w[k], z[j]) -> V(x, y) & x > w[j]"),
        ("exactly n u in Pe: each k in 1..n: V(u, z[k])", "x = (the u in Pe: V(u, y) | V(x, y))"),
        ("+-s[1] V(x, y)", "all u in Pe: each k in 1..n: each j in 1..i: +-s[2] u > w[j]"),
    ],
)
def test_parts_are_counted_as_they_are_spent(
    premise: str, hypothesis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TEXT.format("where n in 1..6, i in 1..n signs s[1..2]", premise)
    (template,) = parse_templates(text.replace("V(x, y)\nlabel", f"{hypothesis}\nlabel"))
    spent = count_spent(monkeypatch)
    for sizes in template.sizes():
        template.shape(sizes)
    assert template.n_parts(10**9) == sum(spent)


def count_spent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the parts that shapes spend from now on, as they are made."""
    from ietest_fast.templates import schemas

    spent: list[int] = []

    class Counting(schemas.Budget):
        def spend(self, times, at):
            spent.append(times)
            super().spend(times, at)

    monkeypatch.setattr("ietest_fast.templates.template.Budget", Counting)
    return spent


def test_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "long.txt"
    path.write_text("# " + "long " * 100)
    monkeypatch.setattr(files, "MOST_BYTES", 400)
    with pytest.raises(InputError, match=r"long\.txt: has 502 bytes, at most 400 expected"):
        read_templates(path)
    with pytest.raises(InputError, match="has 101 characters, at most 100 expected"):
        Names(women=("A" * 101,), men=(), places=())
    monkeypatch.setattr(naming, "MOST_NAMES", 2)
    with pytest.raises(InputError, match="there are 3 names, at most 2 expected"):
        Names(women=("Ann",), men=("Bob",), places=("Rome",))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("didn't visit", "didn't " * 40 + "visit", "characters; at most 200 expected"),
        (
            "words = [",
            "words = [" + ", ".join(f'"n{k}"' for k in range(200)) + ", ",
            "more than 200 texts",
        ),
        ("[lists]", "deep = " + "[" * 3_000 + "]" * 3_000 + "\n[lists]", "is not TOML"),
    ],
)
def test_languages_are_bounded(tmp_path: Path, old: str, new: str, message: str) -> None:
    from ietest_fast.templates.language import LANGUAGES

    text = (LANGUAGES / "en.toml").read_text()
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(IetestError, match=message):
        read_language(path)


@pytest.mark.slow
def test_the_limits_are_far_above_the_packaged_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures of docs/templates.md: the largest shape of each template."""
    spent = count_spent(monkeypatch)
    n_parts, largest = [], []
    for rules in RULE_SETS:
        for name in task_names():
            templates = [each for task in load_tasks(name, rules) for each in task.templates]
            n_parts.append(sum(each.n_parts(sampling.MOST_PARTS) for each in templates))
            for template in templates:
                spent.clear()
                template.shape(max(template.sizes(), key=lambda sizes: sum(sizes.values())))
                largest.append(sum(spent))
    assert max(largest) * 10 < MOST_PARTS
    assert max(n_parts) == 562_835 < 0.6 * sampling.MOST_PARTS


def test_the_largest_of_many_shapes_is_looked_at_first() -> None:
    """Some thousand proofs are not made for a template whose last one is too large."""
    seen: list[int] = []
    text = TEXT.format("where m in 1..2255", "(exactly m u in Pe: V(x, u)) & V(x, y)")
    with pytest.raises(TemplateError, match="with m = 2255 the formula speaks of too many"):
        prove_templates(
            (Task("t", parse_templates(text)),),
            load_language("en"),
            on_shape=lambda n, _: seen.append(n),
        )
    assert not seen
