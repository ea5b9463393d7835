"""Every property and rule, held against its definition tried on all sentences, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ietest_fast.analyses.logic.asking import ask_logic
from ietest_fast.analyses.logic.candidates import LogicOptions
from ietest_fast.analyses.logic.measure import measure_logic
from ietest_fast.analyses.logic.rules import RULES
from ietest_fast.corpus import corpus_from_table
from logic_toys import Asked, at_random, make_corpus, pairs_of
from reference import logic_oracle

if TYPE_CHECKING:
    from ietest_fast.analyses.logic.measure import LogicProfile
    from ietest_fast.lexicon import Tagger

DRAWN = {
    "monotonic-entailment",
    "monotonic-contradiction",
    "explosion",
    "inclusion",
    "and-elim-premise",
    "or-intro",
    "transitivity",
    "entailed-contradiction",
    "and-intro",
    "and-elim",
}


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    from ietest_fast.lexicon import Tagger

    return Tagger.load()


def instances_in(table: pa.Table, rule: str, part: str) -> list[tuple[tuple[str, str, str], ...]]:
    """The questions of each instance, in order; none for an instance without such questions."""
    rows = [row for row in table.to_pylist() if row["version"] == rule]
    found: list[list[tuple[str, str, str]]] = [
        [] for _ in range(max((row["instance"] for row in rows), default=-1) + 1)
    ]
    for row in rows:
        if row["part"] == part:
            found[row["instance"]].append((row["premise"], row["hypothesis"], row["expected"]))
    return [tuple(each) for each in found]


@pytest.fixture(scope="module")
def answers(tagger: Tagger) -> Any:
    corpus = make_corpus()
    model = Asked(at_random)
    found, evaluation = ask_logic(
        model, corpus, LogicOptions(draws=2, nearest=4, seed=5), tagger=tagger
    )
    return corpus, model, found, evaluation


@pytest.mark.parametrize("rule", RULES)
def test_instances_are_those_of_the_definition(rule: str, answers: Any) -> None:
    corpus, _, found, _ = answers
    table = found.predictions.table
    mine = list(
        zip(
            instances_in(table, rule, "antecedent"),
            instances_in(table, rule, "consequent"),
            strict=True,
        )
    )
    every = {
        each
        for each in logic_oracle.instances(rule, pairs_of(corpus))
        if logic_oracle.applies(at_random, each)
    }
    assert len(set(mine)) == len(mine) > 0
    assert set(mine) <= every
    if rule not in DRAWN:
        assert set(mine) == every


@pytest.fixture(scope="module")
def profile(answers: Any) -> LogicProfile:
    return measure_logic([answers[2]], LogicOptions(n_resamples=200))[0]


@pytest.mark.parametrize("rule", RULES)
def test_rates_are_what_counting_gives(rule: str, answers: Any, profile: LogicProfile) -> None:
    _, _, found, _ = answers
    table = found.predictions.table
    held = [
        logic_oracle.holds(at_random, ((), each))
        for each in instances_in(table, rule, "consequent")
    ]
    measured = profile[rule].measured
    assert measured is not None
    assert (measured.rate.n, measured.rate.k) == (len(held), sum(held))
    controls = [each for each in instances_in(table, rule, "control") if each]
    got = [logic_oracle.holds(at_random, ((), each)) for each in controls]
    assert (measured.control.n, measured.control.k) == (len(got), sum(got))
    if RULES[rule].control is None:
        assert measured.value is None
    else:
        assert measured.value == sum(held) / len(held) - sum(got) / len(got)


@pytest.mark.parametrize("rule", [name for name, own in RULES.items() if own.control == "exchange"])
def test_controls_have_the_same_premises_and_the_same_hypotheses(rule: str, answers: Any) -> None:
    corpus, _, found, _ = answers
    table = found.predictions.table
    valid, controls = (instances_in(table, rule, part) for part in ("consequent", "control"))
    assert [[q[0] for q in each] for each in valid] == [[q[0] for q in each] for each in controls]
    ours, theirs = (
        sorted(tuple(q[1] for q in each) for each in side) for side in (valid, controls)
    )
    assert ours == theirs
    # A hypothesis comes from no scene of the premise.
    scenes: dict[str, set[str]] = {}
    for premise, hypothesis in pairs_of(corpus):
        for text in (premise, hypothesis):
            scenes.setdefault(text.rstrip(".").lower(), set()).add(premise)

    def scenes_of(text: str) -> set[str]:
        return {
            scene
            for sentence, own in scenes.items()
            if sentence in text.lower()
            and (f"{sentence}." in text.lower() or " and " in text or " or " in text)
            for scene in own
        }

    for own, each in zip(valid, controls, strict=True):
        for (premise, _, _), (_, hypothesis, _) in zip(own, each, strict=True):
            assert not scenes_of(premise) & scenes_of(hypothesis)


def test_the_other_controls(answers: Any) -> None:
    corpus, _, found, _ = answers
    table = found.predictions.table
    for each in instances_in(table, "symmetric-neutral", "control"):
        ((premise, hypothesis, _),) = each
        assert premise == hypothesis
    joined = {f"{p} {h}": at_random(p, h) for p, h in pairs_of(corpus)}
    valid, controls = (instances_in(table, "explosion", x) for x in ("consequent", "control"))
    assert {joined[each[0][0]] for each in valid} == {"contradiction"}
    assert {joined[each[0][0]] for each in controls if each} == {"entailment", "neutral"}
    for own, each in zip(valid, controls, strict=True):
        assert not each or own[0][1] == each[0][1]


def test_every_input_is_run_once(answers: Any) -> None:
    _, model, found, evaluation = answers
    assert len(model.asked) == len(set(model.asked)) == evaluation.scores.n_inputs
    assert evaluation.scores.n_rows > evaluation.scores.n_inputs
    rows = {(row["premise"], row["hypothesis"]) for row in found.predictions.table.to_pylist()}
    assert rows <= set(model.asked)
    for row in found.predictions.table.to_pylist():
        assert row["predicted"] == at_random(row["premise"], row["hypothesis"])


def test_the_seed_decides_what_is_drawn(tagger: Tagger) -> None:
    tables = {}
    for key, seed, model in (
        ("a", 3, Asked(at_random)),
        ("b", 3, Asked(at_random)),
        ("c", 4, Asked(at_random)),
    ):
        options = LogicOptions(seed=seed)
        tables[key] = ask_logic(model, make_corpus(), options, tagger=tagger)[0]
    assert tables["a"].predictions.table.equals(tables["b"].predictions.table)
    assert not tables["a"].predictions.table.equals(tables["c"].predictions.table)


def test_hypotheses_of_one_premise_are_paired(tagger: Tagger) -> None:
    corpus = make_corpus()
    always = Asked(lambda premise, hypothesis: "entailment")
    found, _ = ask_logic(always, corpus, LogicOptions(nearest=0), tagger=tagger)
    assert found.notes.rules["and-intro"].n_candidates == len(corpus)  # three of each
    found, _ = ask_logic(always, corpus, LogicOptions(nearest=2), tagger=tagger)
    mine = instances_in(found.predictions.table, "and-intro", "antecedent")
    by_premise: dict[str, list[str]] = {}
    for premise, hypothesis in pairs_of(corpus):
        by_premise.setdefault(premise, []).append(hypothesis)
    sets = [(each[0][0], frozenset(q[1] for q in each)) for each in mine]
    assert len(set(sets)) == len(sets)
    for premise, hypotheses in by_premise.items():
        a, b, c = hypotheses
        for pair in ({a, b}, {b, c}, {a, c}):
            assert (premise, frozenset(pair)) in sets


def test_no_more_candidates_than_asked_for(tagger: Tagger) -> None:
    found, _ = ask_logic(Asked(at_random), make_corpus(), LogicOptions(instances=5), tagger=tagger)
    for name, origin in found.notes.rules.items():
        assert origin.n_candidates <= 5, name
        assert "there are more than 5 candidates" in origin.left_out, name
    assert len(found.predictions.select(version="original")) == 42


def test_what_is_no_single_statement_stands_in_no_compound(tagger: Tagger) -> None:
    rows = [
        {"premise": "A dog runs. It barks.", "hypothesis": "A dog barks.", "label": "entailment"},
        {"premise": "A man sleeps.", "hypothesis": "Is a man awake?", "label": "contradiction"},
        {"premise": "A man sleeps.", "hypothesis": "A man is asleep.", "label": "entailment"},
        {"premise": " ", "hypothesis": "A cat eats.", "label": "neutral"},
    ]
    found, _ = ask_logic(
        Asked(lambda p, h: "entailment"),
        corpus_from_table(pa.Table.from_pylist(rows)),
        tagger=tagger,
    )
    table = found.predictions.table.filter(
        pc.not_equal(found.predictions.table["version"].cast("string"), "original")
    )
    texts = set(table["premise"].to_pylist()) | set(table["hypothesis"].to_pylist())
    compounds = [t for t in texts if " and " in t or " or " in t or t.startswith("It is not")]
    assert compounds
    assert not any("?" in text or "barks. a" in text or "It barks" in text for text in compounds)
    assert not any("cat" in text for text in texts)
    reason = "a text is a question, a request, several sentences or a phrase without a verb"
    assert found.notes.rules["negation"].left_out == {reason: 2}
    assert found.notes.rules["contraposition"].left_out == {reason: 2}
