"""The tasks of the package."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from ietest_fast.errors import InputError
from ietest_fast.templates.files import (
    MASKED,
    MIXED,
    RULE_SETS,
    RULES,
    TASKS,
    THESIS,
    RuleSet,
    describe_task,
    load_tasks,
    read_task,
    task_names,
)
from ietest_fast.templates.formulas import And, Constant, constants_of, rename
from ietest_fast.templates.grounding import Label
from ietest_fast.templates.language import language_codes, load_language
from ietest_fast.templates.sampling import CONTRADICTION_OR_NOT
from ietest_fast.templates.wording import mask, word_hypothesis, word_premises


def test_every_file_is_a_task() -> None:
    for folder, names in (("thesis", THESIS), ("released", THESIS), ("rules", RULES)):
        assert {path.stem for path in (TASKS / folder).iterdir()} == set(names)
    assert {path.stem for path in (TASKS / "masked").iterdir()} == set(MASKED)
    assert {path.stem for path in (TASKS / "careful").iterdir()} == {"quantifier", "counting"}
    mixed = load_tasks(MIXED, "thesis")
    assert [task.name for task in mixed] == list(THESIS)
    numbers = [template.name for task in mixed for template in task.templates]
    assert len(numbers) == len(set(numbers)) == 39
    assert all(describe_task(name) for name in task_names())


def test_other_names_are_refused() -> None:
    with pytest.raises(InputError, match="no task 'negations'; there are simple-negation, "):
        load_tasks("negations")


@pytest.mark.slow
@pytest.mark.parametrize("code", language_codes())
@pytest.mark.parametrize("name", [*THESIS, *RULES, *MASKED])
@pytest.mark.parametrize("rules", RULE_SETS)
def test_labels_are_proved_and_there_are_words(name: str, rules: str, code: str) -> None:
    """Of each template, ten shapes."""
    if rules != "careful" and name not in THESIS:
        return
    (task,) = load_tasks(name, rules)  # type: ignore[arg-type]
    language = task.words(load_language(code, rules))
    for template in task.templates:
        sizes = list(template.sizes())
        for own in Random(0).sample(sizes, min(len(sizes), 10)):
            shape = template.prove(own)
            assert word_premises(shape.premises, language)
            hypothesis = word_hypothesis(shape.hypothesis, language)
            if template.mask is not None:
                assert mask(hypothesis, template.mask.what) is not None


@pytest.mark.parametrize("name", RULES)
def test_rules_have_all_labels(name: str) -> None:
    (task,) = load_tasks(name)
    assert {template.label for template in task.templates} == set(Label)


@pytest.mark.parametrize("name", MASKED)
def test_answers_are_balanced(name: str) -> None:
    """As in the thesis: each word of a module is the answer as often."""
    (task,) = load_tasks(name)
    shares: Counter[str] = Counter()
    language = load_language("en")
    for template in task.templates:
        assert template.mask is not None
        for sizes, weight in template.weighted_sizes():
            shape = template.shape(sizes)
            found = mask(word_hypothesis(shape.hypothesis, language), template.mask.what)
            assert found is not None
            shares[found[1]] += Fraction(weight).limit_denominator(10**6) * template.share
    expected = {"masked-counting": 20}.get(name, 2)
    assert len(shares) == expected
    assert len(set(shares.values())) == 1


def test_the_released_shares() -> None:
    """A.11 and A.12 are one template there, so each is drawn half as often."""
    (task,) = load_tasks("quantifier", "released")
    shares = {template.name: template.share for template in task.templates}
    halves = {"A.11", "A.12", "A.16", "A.17"}
    assert shares == {name: Fraction(1, 2) if name in halves else 1 for name in shares}
    # What is written as several templates is as frequent as one.
    (task,) = load_tasks("counting", "released")
    totals: Counter[str] = Counter()
    for template in task.templates:
        totals[template.name.partition("-")[0]] += template.share
    assert totals == {f"A.{number}": 1 for number in range(28, 36)}


Counting = tuple[str, int, int, str, int]
"""Label, places and people visited (0: nothing is said of them), which kind is named, how many."""


def _published_counting() -> Counter[Counting]:
    """Return with which probability the published program draws what, of each label."""
    law: Counter[Counting] = Counter()
    for n in range(1, 31):
        said = [(n, 0, 1 / 4), (0, n, 1 / 4), *((n, m, 1 / 2 / n) for m in range(1, n + 1))]
        for places, people, share in said:
            kinds = {kind: most for kind, most in (("places", places), ("people", people)) if most}
            for kind, most in kinds.items():
                own = share / 30 / len(kinds)
                law["contradiction", places, people, kind, most + 1] += own
                fewer = range(1, max(most, 2))
                for named in fewer:
                    law["neutral", places, people, kind, named] += own / len(fewer)
    return law


def _our_counting() -> Counter[Counting]:
    (task,) = load_tasks("counting", "released")
    law: Counter[Counting] = Counter()
    for template in task.templates:
        group = template.name.partition("-")[0]
        kind = "people" if group in {"A.28", "A.31", "A.32", "A.35"} else "places"
        for sizes, weight in template.weighted_sizes():
            places, people = sizes["n"], sizes.get("m", 0)
            if group in {"A.28", "A.32"}:
                places, people = 0, sizes["n"]
            most = people if kind == "people" else places
            named = most + 1 if template.label is Label.CONTRADICTION else sizes.get("h", 1)
            law[template.label.value, places, people, kind, named] += (
                weight * float(template.share) / 4
            )
    return law


def test_counting_is_drawn_as_by_the_published_program() -> None:
    """Of both kinds, the number of people is drawn from 1 to that of places."""
    theirs, ours = _published_counting(), _our_counting()
    for law in (theirs, ours):
        assert sum(law.values()) == pytest.approx(2)
    # The visitor is one of the people in few rows, whose numbers are drawn in a simpler way.
    assert sum(abs(ours[key] - theirs[key]) for key in {*ours, *theirs}) / 4 < 0.015
    # Shares of non-contradictions that name one object, counted in 5,000 published rows.
    for said, published in (({0, 1, 2}, 0.217), ({2}, 0.268), ({1}, 0.166)):
        rows = {
            key: own
            for key, own in ours.items()
            if key[0] == "neutral" and {(key[1] > 0) + (key[2] > 0)} <= said
        }
        one = sum(own for key, own in rows.items() if key[4] == 1) / sum(rows.values())
        assert one == pytest.approx(published, abs=0.004)


def _shares(rules: RuleSet, name: str) -> list[dict[str, dict[str, float]]]:
    """Say how often each label goes with each premise, and with each hypothesis."""
    (task,) = load_tasks(name, rules)
    found: list[dict[str, dict[str, float]]] = [{}, {}]
    totals: Counter[str] = Counter()
    for template in task.templates:
        label = CONTRADICTION_OR_NOT[template.label]
        totals[label] += template.share
    for template in task.templates:
        label = CONTRADICTION_OR_NOT[template.label]
        for sizes, weight in template.weighted_sizes():
            shape = template.shape(sizes)
            for own, formula in zip(
                found, (And(shape.premises), And((shape.hypothesis,))), strict=True
            ):
                named = {
                    each: Constant(f"{each.sort.value}{number}", each.sort)
                    for number, each in enumerate(constants_of(formula))
                }
                labels = own.setdefault(repr(rename(formula, named)), {})
                share = weight * float(template.share / totals[label])
                labels[label] = labels.get(label, 0.0) + share
    return found


def _best_accuracy(shares: dict[str, dict[str, float]]) -> float:
    """Return how often the label is right that goes with a text more often."""
    return sum(max(labels.values()) for labels in shares.values()) / 2


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name == "counting" else ()) for name in THESIS],
)
def test_no_text_alone_tells_the_label(name: str) -> None:
    for shares in _shares("careful", name):
        assert _best_accuracy(shares) == pytest.approx(0.5)


@pytest.mark.slow
def test_in_the_thesis_a_text_tells_the_label() -> None:
    """Someone who has visited everything never contradicts; long lists mostly do."""
    premises, hypotheses = _shares("thesis", "quantifier")
    assert _best_accuracy(premises) == pytest.approx(0.7)
    assert _best_accuracy(hypotheses) == pytest.approx(0.5)
    premises, hypotheses = _shares("thesis", "counting")
    assert _best_accuracy(hypotheses) > 0.7


def test_a_file_is_a_task(tmp_path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text((TASKS / "rules" / "equality.txt").read_text("utf-8"))
    task = read_task(path)
    assert task.name == "mine"
    assert [each.name for each in task.templates] == [
        each.name for each in load_tasks("equality")[0].templates
    ]
