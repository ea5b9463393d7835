"""The suite logic becomes a page: tables, the sentence on top, and violations to read."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import ietest_fast as ie
from ietest_fast.analyses.logic.page import (
    N_EXAMPLES,
    LogicSource,
    all_tables,
    example_tables,
    rule_table,
    say_logic,
    score_table,
    side_by_side,
)
from ietest_fast.analyses.logic.rules import RULES
from ietest_fast.cli.main import main
from ietest_fast.report.contents import gather
from ietest_fast.report.page_builder import build_page
from ietest_fast.stats import Verdict
from logic_toys import LABELS, at_random, make_corpus

if TYPE_CHECKING:
    from pathlib import Path


def guess(pairs: list[tuple[str, str]]) -> list[str]:
    return [at_random(*pair) for pair in pairs]


def always(pairs: list[tuple[str, str]]) -> list[str]:
    return ["entailment"] * len(pairs)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("logic")
    made = {}
    for name, model in (("guess", guess), ("always", always)):
        made[name] = folder / f"{name}.parquet"
        ie.stress(
            model,
            make_corpus(40),
            suite="logic",
            out=made[name],
            n_resamples=100,
            rng=3,
            label_names=LABELS,
        )
    return made


def test_the_numbers_of_a_file_are_those_of_the_run(files: dict[str, Path]) -> None:
    (profile,) = LogicSource.read([files["guess"]]).profiles
    again = ie.stress(guess, make_corpus(40), suite="logic", rng=3)
    assert profile.name == "guess"
    mine, theirs = profile.to_dict(), again.to_dict()
    assert mine.pop("model") == "guess"
    for each in (*mine["rules"], *theirs["rules"]):
        for name in ("rate_interval", "control_interval", "informedness_interval"):
            each.pop(name)  # of other random numbers
    assert mine == theirs
    assert LogicSource.recognises(files["guess"])


def test_tables_have_every_rule_and_the_score(files: dict[str, Path]) -> None:
    (profile,) = LogicSource.read([files["guess"]]).profiles
    rules, score = all_tables(profile)
    assert [row[0] for row in rules.rows] == list(RULES)
    for row in rules.rows:
        found = profile[str(row[0])]
        assert found.measured is not None
        assert row[1] == RULES[str(row[0])].formula
        assert row[2:5] == (found.origin.n_items, found.origin.n_candidates, found.n_instances)
        assert (row[5], row[7], row[8]) == (
            found.measured.rate.value,
            found.measured.control.value,
            found.measured.value,
        )
    total = sum(weight * rate for _, weight, rate, *_ in score.rows[:-1])
    assert score.rows[-1][2] == pytest.approx(total)
    assert score.rows[-1][1] == pytest.approx(1)
    text = rule_table(profile).to_latex()
    for sign in ("⊨", "⊥", "⇒", "¬"):
        assert sign not in text
    assert r"$\models$" in text


def test_what_the_labels_do_not_allow_is_blank_and_said() -> None:
    model = ie.stress(
        lambda pairs: [
            "contradiction" if answer == "contradiction" else "non-contradiction"
            for answer in guess(pairs)
        ],
        {
            "premise": ["A dog runs.", "A cat runs.", "A man runs."] * 2,
            "hypothesis": [
                "It runs.",
                "No cat is here.",
                "A man sleeps.",
                "He is fat.",
                "It is old.",
                "Somebody runs.",
            ],
            "label": ["non-contradiction", "contradiction"] * 3,
        },
        suite="logic",
        n_resamples=100,
    )
    rows = {row[0]: row for row in rule_table(model).rows}
    assert rows["transitivity"][2:] == (None,) * 8
    assert rows["negation"][2] == 6
    assert score_table(model).rows[0][0] == "acc"
    assert len(score_table(model).rows) == 2


def test_one_sentence_says_what_is_found(files: dict[str, Path]) -> None:
    kinds = {}
    for name, path in files.items():
        (profile,) = LogicSource.read([path]).profiles
        kinds[name], said = say_logic(profile)
        assert re.match(rf"{name}: \d+ of \d+ rules are violated by some answers; ", said)
        assert len(profile.headline.split()) <= 30
    assert kinds["guess"] is Verdict.DIFFERS
    # Who always says entailment denies no negation.
    assert "1 of" in said
    assert "of informedness, is 0.000; least informed: " in said


def test_violations_are_shown_with_their_questions(files: dict[str, Path]) -> None:
    (profile,) = LogicSource.read([files["guess"]]).profiles
    tables = {
        re.search(r", (\S+): violated", each.title)[1]: each for each in example_tables(profile)
    }
    assert "anti-symmetric" not in tables
    assert set(tables) == {
        each.name
        for each in profile.results
        if each.rule.should_hold and each.measured.rate.k < each.measured.rate.n
    }
    for name, table in tables.items():
        rule = RULES[name]
        size = len(rule.antecedents) + len(rule.consequents)
        n = profile[name].measured.rate.n - profile[name].measured.rate.k
        assert len(table.rows) == size * min(n, N_EXAMPLES), name
        for start in range(0, len(table.rows), size):
            own = table.rows[start : start + size]
            parts = [row[1] for row in own]
            assert parts == ["antecedent"] * len(rule.antecedents) + ["consequent"] * len(
                rule.consequents
            )
            for _, part, premise, hypothesis, expected, answer in own:
                assert answer == at_random(premise, hypothesis)
                assert part == "consequent" or answer == expected
            right = [row[4] == row[5] for row in own if not row[4].startswith("not ")]
            right += [row[4] != f"not {row[5]}" for row in own if row[4].startswith("not ")]
            assert not all(right)


def test_the_page(files: dict[str, Path], tmp_path: Path) -> None:
    page = build_page(gather(LogicSource.read(list(files.values()))))
    for text in (
        "The logic of the answers",
        "Informedness of several classifiers",
        "The logic of guess",
        "Structural inference score: always",
        "Violated rules",
        "guess, transitivity: violated",
    ):
        assert text in page
    data = json.loads(
        re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1]
    )
    assert [each["model"] for each in data["logic"]["profiles"]] == ["guess", "always"]
    assert "stress" not in data
    with pytest.raises(SystemExit) as stop:
        main(["report", *map(str, files.values()), "--out", str(tmp_path / "page.html")])
    assert not stop.value.code
    assert (tmp_path / "page.html").read_text().count("Violated rules") == page.count(
        "Violated rules"
    )


def test_several_models_stand_side_by_side(files: dict[str, Path]) -> None:
    profiles = LogicSource.read(list(files.values())).profiles
    table = side_by_side(profiles)
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["reflexive-premise"][1] == 0
    assert rows["symmetric-contradiction"][1] is None
    assert rows["score"] == tuple(each.score.value for each in profiles)
    assert rows["informed score"][1] == pytest.approx(0)
