"""The six stress tests under ``rules=paper`` on half of MultiNLI's development set, fact by fact.

``reference/stress_facts.json`` says what the published code does. Each test here takes one of its
rules and checks it on every row that a transformation makes, without the transformation's code.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from ietest_fast.transform import Material, TextFile, plan

if TYPE_CHECKING:
    from pathlib import Path

    from ietest_fast.transform import Transformed

pytestmark = pytest.mark.slow

COLUMNS = ("premise", "hypothesis")
LABELS = ("entailment", "neutral", "contradiction")


@pytest.fixture(scope="module")
def facts(shared: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared / "reference" / "stress_facts.json").read_text())
    return found


class Made:
    """What the paper's rules make of the file."""

    def __init__(self, path: Path, phi: str) -> None:
        import pyarrow.parquet as pq

        self.old = pq.read_table(path)
        with plan(phi) as planned:
            built = planned.build(Material(corpora=[TextFile(path=path, text_columns=COLUMNS)]))
            self.made: Transformed = built.transform(self.old, COLUMNS)
        self.old_rows = list(zip(*(self.old[name].to_pylist() for name in COLUMNS), strict=True))
        self.rows = list(zip(*(self.made.table[name].to_pylist() for name in COLUMNS), strict=True))
        self.sources = [self.old_rows[i] for i in self.made.source_row.tolist()]


@pytest.fixture(scope="module")
def dev(shared: Path) -> Path:
    return shared / "data" / "mnli" / "dev_half.parquet"


@pytest.fixture(scope="module")
def antonym(dev: Path) -> Made:
    return Made(dev, "antonym:rules=paper")


@pytest.fixture(scope="module")
def numerical(dev: Path) -> Made:
    return Made(dev, "numerical:rules=paper")


@pytest.fixture(scope="module")
def spelling(dev: Path) -> Made:
    return Made(dev, "spelling:rules=paper")


def _replaced(made: Made) -> list[tuple[str, str, str]]:
    """Give for each antonym row the text, and what stands where the two texts differ."""
    found = []
    for (premise, hypothesis), source in zip(made.rows, made.sources, strict=True):
        text, new = (premise, hypothesis) if premise == source[0] else (hypothesis, premise)
        found.append((text, new, source[0] if text == premise else source[1]))
    return found


def test_antonyms_contradict(antonym: Made) -> None:
    assert set(antonym.made.labels.to_pylist()) == {"contradiction"}


def test_antonyms_of_premises_and_hypotheses_go_in_two_directions(antonym: Made) -> None:
    n_premises = 0
    for (premise, hypothesis), source in zip(antonym.rows, antonym.sources, strict=True):
        from_premise = premise == source[0]
        from_hypothesis = hypothesis == source[1]
        assert from_premise or from_hypothesis
        n_premises += from_premise
    assert 0 < n_premises < len(antonym.rows)


def test_antonym_pairs_are_there_once(antonym: Made) -> None:
    assert len(set(antonym.rows)) == len(antonym.rows)


def _replacements(text: str, new: str) -> list[tuple[str, str]]:
    """Give all (token, antonym) such that text.replace(token, antonym, 1) is the new text."""
    found = []
    tokens = set(re.findall(r"[^\s]+", text.lower())) | set(re.findall(r"\w+", text.lower()))
    for token in tokens | {text.lower()[i:j] for i, j in _around(text, new)}:
        at = text.find(token)
        if at < 0 or not token:
            continue
        head, tail = text[:at], text[at + len(token) :]
        if new.startswith(head) and new.endswith(tail) and len(new) >= len(head) + len(tail):
            found.append((token, new[len(head) : len(new) - len(tail)]))
    return found


def _around(text: str, new: str) -> list[tuple[int, int]]:
    start = next((i for i, (a, b) in enumerate(zip(text, new, strict=False)) if a != b), 0)
    return [(i, j) for i in range(max(0, start - 15), start + 1) for j in range(i + 1, i + 20)]


def test_antonyms_are_put_where_the_letters_first_occur(
    antonym: Made, facts: dict[str, Any]
) -> None:
    """By the published code's str.replace(token, antonym, 1), never for a word of the list."""
    from ietest_fast.lexicon.senses import Senses

    senses = Senses.packaged()
    never = set(facts["antonym"]["blacklist"])
    kept = set(facts["antonym"]["pos_kept"])
    for text, new, _ in _replaced(antonym):
        fitting = [
            (token, other)
            for token, other in _replacements(text, new)
            if token not in never
            and any(
                other in {name for _, name in sense.antonyms}
                for sense in senses.of_word(token)
                if sense.pos in kept
            )
        ]
        assert fitting, (text, new)
        assert all("_" not in other and other != "civilian" for _, other in fitting)


def test_all_antonyms_of_a_sense_are_put(antonym: Made) -> None:
    """A sense with two antonyms gives two rows."""
    from ietest_fast.lexicon.senses import Senses

    senses = Senses.packaged()
    made = {(text, new) for text, new, _ in _replaced(antonym)}
    n_several = 0
    for text, new in made:
        for token, other in _replacements(text, new):
            for sense in senses.of_word(token):
                names = [name for _, name in sense.antonyms if "_" not in name]
                wanted = {text.replace(token, name, 1) for name in names if name != "civilian"}
                if len(wanted) > 1 and other in names and sense.pos in {"n", "s"}:
                    n_several += sum((text, each) in made for each in wanted) == len(wanted)
    assert n_several > 0


TAUTOLOGIES = {
    "word-overlap": (" and true is true", 1, 1),
    "negation": (" and false is not true", 1, 1),
    "length-mismatch": (" and true is true", 0, 5),
}


@pytest.mark.parametrize("name", TAUTOLOGIES)
def test_distraction_goes_before_the_first_mark_and_the_rest_is_dropped(
    dev: Path, name: str
) -> None:
    made = Made(dev, f"{name}:rules=paper")
    phrase, column, times = TAUTOLOGIES[name]
    assert len(made.rows) == len(made.old_rows)
    assert made.made.labels is None
    assert made.made.table["label"].equals(made.old["label"])
    n_dropped = 0
    for old, new in zip(made.old_rows, made.rows, strict=True):
        assert new[1 - column] == old[1 - column]
        # As Python 2 did: other blanks than those of ASCII are none.
        parts = re.split(r"([.!?][\s]*)", old[column], maxsplit=1, flags=re.ASCII)
        mark = parts[1] if len(parts) > 1 else ""
        assert new[column] == parts[0] + phrase * times + mark
        n_dropped += len(parts) > 1 and bool(parts[2])
    if column == 0:
        assert n_dropped > 0


def test_noise_is_one_neighbouring_key_in_one_word_of_the_hypothesis(
    spelling: Made, facts: dict[str, Any]
) -> None:
    keyboard = facts["noise"]["keyboard"]
    assert len(spelling.rows) == len(spelling.old_rows)
    n_changed = 0
    for old, new in zip(spelling.old_rows, spelling.rows, strict=True):
        assert new[0] == old[0]
        if new[1] == old[1]:
            continue
        n_changed += 1
        assert len(new[1]) == len(old[1])
        (at,) = [i for i in range(len(old[1])) if old[1][i] != new[1][i]]
        assert new[1][at].lower() in keyboard[old[1][at].lower()]
        word = next(m for m in re.finditer(r"\S+", old[1]) if m.start() <= at < m.end())
        assert len(word[0]) > 1
    assert n_changed > 0.95 * len(spelling.rows)


INTEGER = re.compile(r"^[+-]?\d+$")
PREFIXES = ("less than ", "more than ")


def _first_integer(sentence: str) -> tuple[int, str] | None:
    for found in re.finditer(r"\S+", sentence):
        if INTEGER.match(found[0]):
            return found.start(), found[0]
    return None


def _numbers(premise: str, hypothesis: str) -> tuple[str, str, str]:
    """Give the premise's first integer, what stands before it in the hypothesis, and its number."""
    at, old = _first_integer(premise)
    assert hypothesis.startswith(premise[:at])
    rest = hypothesis[at:]
    prefix = next((each for each in PREFIXES if rest.startswith(each)), "")
    new = re.match(r"[+-]?\d+", rest[len(prefix) :])[0]
    assert rest[len(prefix) + len(new) :] == premise[at + len(old) :]
    return old, prefix.strip(), new


def _first_digit(number: str) -> str:
    return number.lstrip("+-")[0]


def test_numbers_entail_by_more_and_less(numerical: Made) -> None:
    n = 0
    for (premise, hypothesis), label in _labelled(numerical, "entailment"):
        assert label == "entailment"
        old, prefix, new = _numbers(premise, hypothesis)
        assert prefix == ("less than" if int(new) > int(old) else "more than")
        assert _first_digit(new) in "12345678"
        assert _first_digit(new) != _first_digit(old)
        assert new.lstrip("+-")[1:] == old.lstrip("+-")[1:]
        n += 1
    assert n > 0


def test_numbers_contradict_by_another_digit_or_a_prefix(numerical: Made) -> None:
    ways = {"digit": 0, "more than": 0, "less than": 0}
    for (premise, hypothesis), _ in _labelled(numerical, "contradiction"):
        old, prefix, new = _numbers(premise, hypothesis)
        if prefix:
            assert new == old
            ways[prefix] += 1
        else:
            assert _first_digit(new) in set("12345678") - {_first_digit(old)}
            assert new.lstrip("+-")[1:] == old.lstrip("+-")[1:]
            ways["digit"] += 1
    n = sum(ways.values())
    # One half another digit, a quarter each prefix: five standard errors.
    for way, share in (("digit", 0.5), ("more than", 0.25), ("less than", 0.25)):
        assert abs(ways[way] / n - share) < 5 * (share * (1 - share) / n) ** 0.5


def test_neutral_numbers_are_the_entailed_pairs_turned_round(numerical: Made) -> None:
    entailed = {pair for pair, _ in _labelled(numerical, "entailment")}
    neutral = {pair[::-1] for pair, _ in _labelled(numerical, "neutral")}
    assert neutral == entailed


def test_every_sentence_with_an_integer_gives_three_rows(numerical: Made) -> None:
    """And none without: the published code reused the hypotheses of the sentence before."""
    counts = {label: len(_labelled(numerical, label)) for label in LABELS}
    assert len(set(counts.values())) == 1
    for (premise, _), _ in _labelled(numerical, "contradiction"):
        assert _first_integer(premise) is not None


def _labelled(made: Made, label: str) -> list[tuple[tuple[str, str], str]]:
    labels = made.made.labels.to_pylist()
    return [(row, each) for row, each in zip(made.rows, labels, strict=True) if each == label]
