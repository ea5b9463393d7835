"""Who scores what: a classifier that knows nothing gets nothing, one that proves everything."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.analyses.logic.asking import ask_logic
from ietest_fast.analyses.logic.candidates import LogicOptions
from ietest_fast.analyses.logic.measure import measure_logic
from ietest_fast.analyses.logic.rules import RULES, WEIGHED
from ietest_fast.corpus import corpus_from_table
from ietest_fast.templates.formulas import And, Constant, Not, Sort
from ietest_fast.templates.grounding import find_world
from ietest_fast.templates.language import load_language
from logic_toys import LABELS, Asked, at_random, make_corpus
from reference.text_reader import TextReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from ietest_fast.analyses.logic.measure import LogicProfile
    from ietest_fast.corpus import Corpus
    from ietest_fast.lexicon import Tagger

CONTROLLED = [name for name, rule in RULES.items() if rule.control is not None]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    from ietest_fast.lexicon import Tagger

    return Tagger.load()


def profile_of(
    classify: Callable[[str, str], str],
    corpus: Corpus,
    tagger: Tagger,
    labels: tuple[str, ...] = LABELS,
    **options: int,
) -> LogicProfile:
    found, _ = ask_logic(Asked(classify, labels), corpus, LogicOptions(**options), tagger=tagger)
    return measure_logic([found], LogicOptions(n_resamples=100))[0]


def by_length(text: str) -> str:
    """Three answers, by how long a text is: a rule applies to texts that are alike."""
    return LABELS[len(text) % 3]


@pytest.mark.parametrize("label", LABELS)
def test_a_constant_classifier_gets_nothing(label: str, tagger: Tagger) -> None:
    profile = profile_of(lambda premise, hypothesis: label, make_corpus(), tagger)
    for name in CONTROLLED:
        rule, measured = RULES[name], profile[name].measured
        assert measured is not None
        if set(rule.antecedents) <= {label}:
            assert measured.rate.value == float(set(rule.consequents) == {label})
            assert measured.value in {0.0, None}  # None: without a control question
        else:
            assert measured.rate.n == 0
    assert profile.accuracy_informedness == pytest.approx(0)
    if label == "entailment":  # which satisfies all rules
        assert profile.score.value == pytest.approx(6 / 7 + profile.accuracy.share / 7)
        assert profile.informed_score.value == pytest.approx(0)
    else:
        assert profile.score.value is None
        assert profile.informed_score.value is None
        assert "and-intro" in profile.score.undefined


@pytest.mark.parametrize("side", [0, 1])
def test_a_classifier_that_sees_one_text_gets_nothing(side: int, tagger: Tagger) -> None:
    profile = profile_of(lambda *texts: by_length(texts[side]), make_corpus(30), tagger)
    n_measured = 0
    for name in CONTROLLED:
        measured = profile[name].measured
        assert measured is not None
        if measured.value is None:
            continue
        n_measured += 1
        if RULES[name].control == "exchange":
            assert measured.rate.n - measured.control.n <= 1, name
            n_off = measured.rate.n - measured.control.n
            assert abs(measured.value) <= n_off / measured.rate.n, name
        else:
            assert measured.value < 0.15, name
    assert n_measured >= 12
    # Its rates are high where the answer is that to the antecedent.
    assert profile["or-intro" if side == 0 else "monotonic-entailment"].measured.rate.value == 1
    assert profile.score.value is None or profile.score.value > 0.2
    assert profile.informed_score.value is None or abs(profile.informed_score.value) < 0.1


def test_a_random_classifier_gets_next_to_nothing(tagger: Tagger) -> None:
    profile = profile_of(at_random, make_corpus(90), tagger)
    for name in CONTROLLED:
        measured = profile[name].measured
        assert measured is not None
        assert measured.value is not None
        n = min(measured.rate.n, measured.control.n)
        assert abs(measured.value) < 4 * math.sqrt(2 * 0.25 / n), name
    assert abs(profile.informed_score.value or 1) < 0.1
    assert profile.score.value > 0.2


# A tiny language, in which what follows from what is proved.

PEOPLE = ("Anna", "Bob", "Carl", "Diana", "Emma", "Frank", "Grace", "Henry", "Irene", "Jack",
          "Karen", "Louis", "Maria", "Nora", "Oliver", "Paul")  # fmt: skip
PLACES = ("Rome", "Oslo", "Lima", "Paris", "London", "Berlin", "Madrid", "Tokyo")
SORTS = {name.lower(): Sort.PERSON for name in PEOPLE} | {
    name.lower(): Sort.PLACE for name in PLACES
}


def visits(n: int = 8) -> Corpus:
    rows = []
    for i, place in enumerate(PLACES[:n]):
        one, other = PEOPLE[2 * i : 2 * i + 2]
        for hypothesis, label in (
            (f"{one} has visited {place}.", "entailment"),
            (f"Someone has visited {place}.", "entailment"),
            (f"{one} is taller than {other}.", "neutral"),
            (f"{one} didn't visit {place}.", "contradiction"),
        ):
            premise = f"Everyone has visited {place}."
            rows.append({"premise": premise, "hypothesis": hypothesis, "label": label})
    return corpus_from_table(pa.Table.from_pylist(rows))


class Prover:
    """Reads texts and proves what follows."""

    def __init__(self) -> None:
        self._reader = TextReader(load_language("en"), lambda name: SORTS[name.lower()])
        self.label = functools.lru_cache(None)(self._label)

    def read(self, text: str) -> object:
        sentences = [each for each in text.split(".") if each.strip()]
        if len(sentences) > 1:
            return And(tuple(self.read(each) for each in sentences))
        sentence = sentences[0].strip()
        if sentence.startswith("It is not true that "):
            return Not(self.read(sentence.removeprefix("It is not true that ")))
        if " and " in sentence:
            return And(tuple(self.read(each) for each in sentence.split(" and ")))
        if " or " in sentence:
            return Not(And(tuple(Not(self.read(each)) for each in sentence.split(" or "))))
        return self._same_names(self._reader.read_sentence(sentence))

    def _same_names(self, formula: object) -> object:
        """A name is the same with a small letter, where a tagger took it for another word."""
        fields = getattr(formula, "__dataclass_fields__", {})
        if isinstance(formula, Constant):
            return Constant(formula.name.lower(), formula.sort)
        if isinstance(formula, tuple):
            return tuple(self._same_names(each) for each in formula)
        if not fields or isinstance(formula, Sort):
            return formula
        return type(formula)(**{name: self._same_names(getattr(formula, name)) for name in fields})

    def _label(self, premise: str, hypothesis: str) -> str:
        given, then = self.read(premise), self.read(hypothesis)
        if find_world(And((given, Not(then)))) is None:
            return "entailment"  # of a contradiction everything follows
        return "contradiction" if find_world(And((given, then))) is None else "neutral"


@pytest.mark.slow
def test_a_prover_gets_everything(tagger: Tagger) -> None:
    profile = profile_of(Prover().label, visits(), tagger)
    assert profile.accuracy.share == 1
    assert profile.accuracy_informedness == 1
    for result in profile.results:
        measured = result.measured
        assert measured is not None
        assert measured.rate.n > 0, result.name
        if not result.rule.should_hold:
            assert measured.rate.value < 1
            assert result.is_kept
            continue
        assert measured.rate.value == 1, result.name
        if result.rule.control is not None:
            assert measured.control.n > 0, result.name
            assert measured.value == 1, result.name
    assert profile.score.value == pytest.approx(1)
    assert profile.informed_score.value == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "group"),
    [
        (("contradiction", "non-contradiction"), "contradiction"),
        (("entailment", "not_entailment"), "entailment"),
    ],
)
def test_two_labels_get_what_can_be_said_with_them(
    labels: tuple[str, str], group: str, tagger: Tagger
) -> None:
    prover = Prover()

    def classify(premise: str, hypothesis: str) -> str:
        return labels[0] if prover.label(premise, hypothesis) == group else labels[1]

    profile = profile_of(classify, visits(), tagger, labels)
    assert set(profile.label_names) == {labels[0], labels[1].replace("non-", "not_")}
    for result in profile.results:
        if set(result.rule.labels) == {group}:
            assert result.measured is not None
            assert result.origin.reason is None
            if result.rule.should_hold:
                assert result.measured.rate.value == 1
        else:
            assert result.measured is None
            assert "and the labels are" in result.origin.reason
            assert f"{result.name}: not asked: it speaks of" in str(profile)
    if group == "entailment":
        assert list(profile.weights) == ["acc", *WEIGHED]
        assert profile.informed_score.value == pytest.approx(1)
    else:  # none of the rules of the score can be asked
        assert profile.weights == {"acc": 1}
        asked = {each.name for each in profile.results if each.measured is not None}
        assert asked == {"symmetric-contradiction", "monotonic-contradiction", "negation"}
    assert np.isclose(profile.accuracy.share, 1)
