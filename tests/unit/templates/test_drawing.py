"""Pairs drawn from templates."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from ietest_fast.errors import InputError
from ietest_fast.templates.files import Task, parse_templates
from ietest_fast.templates.formulas import Constant, Sort, TemplateError
from ietest_fast.templates.grounding import Label
from ietest_fast.templates.language import load_language, load_wordings
from ietest_fast.templates.naming import Names, check_disjoint
from ietest_fast.templates.sampling import (
    CONTRADICTION_OR_NOT,
    PairDrawer,
    Skeleton,
    check_enough_names,
    pack,
    prove_templates,
)
from ietest_fast.templates.template import Mask
from ietest_fast.templates.wording import Slot, VerbForm, word_hypothesis, word_premises
from reference.filled import fill

FILE = """
template there
    where       n in 1..3, i in 1..n
    people      x[1..n]
    places      y[1..n]
    premise     V(x[k], y[k]) for k in 1..n
    hypothesis  ~V(x[i], y[i])
    label       contradiction

template taller
    people      x, y, z
    premise     x > y
    premise     y > z
    hypothesis  x > z & y > z
    label       entailment

template elsewhere
    people      x
    places      y, z
    premise     V(x, y)
    hypothesis  V(x, z)
    label       neutral

template other
    people      x, z
    places      y
    premise     V(x, y)
    hypothesis  ~V(z, y)
    label       neutral
"""
NAMES = Names(
    women=tuple(f"Woman{i:02}" for i in range(12)),
    men=tuple(f"Man{i:02}" for i in range(13)),
    places=tuple(f"Place{i:02}" for i in range(11)),
)
N = 6_000


def drawer(language: str = "pt", seed: int = 0, names: Names = NAMES) -> PairDrawer:
    proved = prove_templates([Task("own", parse_templates(FILE))], load_language(language))
    return PairDrawer(proved, names, seed=seed)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return drawer().draw(0, N)


def all_texts(code: str) -> dict[str, set[tuple[str, str]]]:
    """By template, its shapes with the names 0, 1, ... in the order of the constants."""
    found: dict[str, set[tuple[str, str]]] = {}
    language = load_language(code)
    for template in parse_templates(FILE):
        for sizes in template.sizes():
            shape = template.shape(sizes)
            names = {each: f"<{place}>" for place, each in enumerate(shape.constants)}
            texts = (
                word_premises(shape.premises, language),
                word_hypothesis(shape.hypothesis, language),
            )
            # With women and men in all ways.
            people = [each for each in shape.constants if each.sort is Sort.PERSON]
            for bits in range(2 ** len(people)):
                women = frozenset(each for i, each in enumerate(people) if bits >> i & 1)
                marked = {
                    each: name + ("f" if each in women else "m") * (each.sort is Sort.PERSON)
                    for each, name in names.items()
                }
                pair = tuple(fill(text, language.verbs, marked, women) for text in texts)
                found.setdefault(template.name, set()).add((pair[0], pair[1]))
    return found


def test_every_row_is_a_shape_with_names(table: pa.Table) -> None:
    """Names are put back into marks in the order in which they come; the texts must be known."""
    known = all_texts("pt")
    for row in table.to_pylist():
        number_of: dict[str, str] = {}

        def mark(match: re.Match[str], number_of: dict[str, str] = number_of) -> str:
            name = match.group()
            letter = {"W": "f", "M": "m", "P": ""}[name[0]]
            return number_of.setdefault(name, f"<{len(number_of)}>{letter}")

        pair = tuple(
            re.sub(r"(?:Woman|Man|Place)\d\d", mark, row[column])
            for column in ("premise", "hypothesis")
        )
        assert pair in known[row["template"]], row


def test_labels_are_balanced_and_in_random_order(table: pa.Table) -> None:
    labels = table["label"].to_pylist()
    blocks = [tuple(labels[i : i + 3]) for i in range(0, N, 3)]
    assert {frozenset(block) for block in blocks} == {
        frozenset({"entailment", "neutral", "contradiction"})
    }
    counts = Counter(blocks)
    assert len(counts) == 6
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


def test_templates_and_sizes_have_their_shares(table: pa.Table) -> None:
    counts = Counter(table["template"].to_pylist())
    assert counts["there"] == counts["taller"] == N // 3
    assert stats.binomtest(counts["other"], N // 3).pvalue > 1e-4
    sizes = Counter(
        text.count("Place")
        for text, name in zip(
            table["premise"].to_pylist(), table["template"].to_pylist(), strict=True
        )
        if name == "there"
    )
    assert sorted(sizes) == [1, 2, 3]
    assert stats.chisquare(list(sizes.values())).pvalue > 1e-4


def test_labels_can_be_two() -> None:
    """Half of the rows contradict; the templates that do not share the other half."""
    proved = prove_templates([Task("own", parse_templates(FILE))], load_language("en"))
    two = PairDrawer(proved, NAMES, label_names=CONTRADICTION_OR_NOT)
    table = two.draw(0, N)
    assert two.labels == ("contradiction", "non-contradiction")
    assert Counter(table["label"].to_pylist()) == dict.fromkeys(two.labels, N // 2)
    counts = Counter(table["template"].to_pylist())
    others = [counts[name] for name in ("taller", "elsewhere", "other")]
    assert stats.chisquare(others).pvalue > 1e-4


def test_names_are_drawn_alike(table: pa.Table) -> None:
    rows = [row for row in table.to_pylist() if row["template"] == "taller"]
    firsts = Counter(row["premise"].split()[0] for row in rows)
    assert len(firsts) == 25
    assert stats.chisquare(list(firsts.values())).pvalue > 1e-4
    # Ordered pairs: which names there are says nothing of their order.
    pairs = Counter(tuple(re.findall(r"Woman\d\d|Man\d\d", row["premise"]))[:2] for row in rows)
    assert all(first != second for first, second in pairs)
    ascending = sum(n for (first, second), n in pairs.items() if first < second)
    assert stats.binomtest(ascending, len(rows)).pvalue > 1e-4


def test_rows_do_not_depend_on_threads_or_batches(table: pa.Table) -> None:
    own = drawer()
    for n_threads in (1, 2, 3, 7):
        assert own.draw(0, N, n_threads=n_threads) == table
    parts = [own.draw(first, 700) for first in range(0, 2_100, 700)]
    assert pa.concat_tables(parts).combine_chunks() == table.slice(0, 2_100).combine_chunks()
    assert drawer(seed=1).draw(0, 50) != table.slice(0, 50)
    assert own.draw(5, 0).num_rows == 0


@pytest.mark.parametrize(("first", "n_rows"), [(-1, 1), (0, -1), (2**63 - 2, 3)])
def test_there_are_no_other_rows(first: int, n_rows: int) -> None:
    with pytest.raises(ValueError, match="rows have numbers from 0 to"):
        drawer().draw(first, n_rows)
    assert drawer().draw(2**63 - 2, 1).num_rows == 1


def test_all_names_can_be_needed() -> None:
    few = Names(women=("A",), men=("B", "C"), places=("D", "E", "F"))
    table = drawer(names=few).draw(0, 300)
    for row in table.to_pylist():
        if row["template"] == "taller":
            assert set(re.findall(r"\b[ABC]\b", row["premise"])) == {"A", "B", "C"}
    with pytest.raises(InputError, match="a shape has 3 people, but there are only 2 names"):
        drawer(names=Names(women=("A",), men=("B",), places=("D", "E", "F")))
    with pytest.raises(InputError, match="a shape has 3 places, but there are only 2 names"):
        drawer(names=Names(women=("A",), men=("B", "C"), places=("D", "E")))


def test_names_are_counted_before_anything_is_proved(monkeypatch) -> None:
    def prove(*_: object) -> Label:
        raise AssertionError("nothing is to be proved")

    monkeypatch.setattr("ietest_fast.templates.template.label_of", prove)
    task = Task("own", parse_templates(FILE))
    enough = Names(women=("A",), men=("B", "C"), places=("D", "E", "F"))
    check_enough_names([task], {"train": enough})
    for few, message in (
        (Names(women=("A",), men=("B",), places=("D", "E", "F")), "3 people, but .* only 2 names"),
        (Names(women=("A",), men=("B", "C"), places=("D",)), "2 places, but .* only 1 names"),
    ):
        with pytest.raises(InputError, match=f"split 'test': a shape has {message}"):
            check_enough_names([task], {"train": enough, "test": few})


def test_names_are_checked() -> None:
    with pytest.raises(InputError, match="'Paris' stands there twice"):
        Names(women=("Paris",), men=(), places=("Paris",))
    for empty in (" ", "\u200b"):
        with pytest.raises(InputError, match="a name is empty"):
            Names(women=(empty,), men=(), places=())
    for wrong, message in {
        "An\nna": r"has '\\n', which means something else",
        "Anna, Bea and Carla": "has ',', which means",
        "[MASK]": r"has '\[', which means",
        "{0}": "has '{', which means",
        " Anna": "has blanks at its ends",
        "Anna.": r"has '\.', which means",
        "Anna\u200b": r"the name Anna\\u200b has a sign that nobody sees",
        "\u202eannA": r"the name \\u202eannA has a sign that nobody sees, or that turns others",
        "An\x1bna": r"the name An\\x1bna has a sign",
    }.items():
        with pytest.raises(InputError, match=message):
            Names(women=(wrong,), men=(), places=())
    assert Names(women=("Anna-Lena",), men=("O'Neill",), places=("Rio de Janeiro",)).people
    for one, two in (
        ("Ana", "ana"),
        ("Ra\u00fal", "Rau\u0301l"),
        ("Anna", "\u0410nna"),
        ("Bob", "\u0412\u043e\u0432"),
        ("Tom", "\u03a4om"),
        ("Oslo", "Osl\u03bf"),
        ("Anna B", "Anna\u00a0B"),
        ("\ufb01n", "Fin"),
    ):
        with pytest.raises(InputError, match=re.escape(f"{one!r} and {two!a} look alike")):
            Names(women=(one,), men=(two,), places=())
    train = Names(women=("A",), men=("B",), places=("C",))
    check_disjoint([("train", train), ("test", Names(women=("D",), men=(), places=()))])
    with pytest.raises(InputError, match="'B' stands in the splits 'train' and 'test'"):
        check_disjoint([("train", train), ("test", Names(women=(), men=(), places=("B",)))])


def test_labels_are_proved() -> None:
    wrong = parse_templates(FILE.replace("label       neutral", "label       entailment", 1))
    with pytest.raises(TemplateError, match="the label is entailment, but here it is neutral"):
        prove_templates([Task("own", wrong)], load_language("en"))


def test_tasks_and_templates_have_their_shares() -> None:
    """Of a label, each task the same; within it, templates as they say."""
    shared = FILE.replace("label       neutral", "share       3\n    label       neutral", 1)
    (alone,) = parse_templates("""
        template alone
            people      x, y
            premise     V(x, y)
            hypothesis  V(y, x)
            label       neutral
        """)
    tasks = [Task("many", parse_templates(shared)), Task("one", (alone,))]
    table = PairDrawer(prove_templates(tasks, load_language("en")), NAMES).draw(0, N)
    assert Counter(table["label"].to_pylist()) == dict.fromkeys(
        ("entailment", "neutral", "contradiction"), N // 3
    )
    counts = Counter(zip(table["task"].to_pylist(), table["template"].to_pylist(), strict=True))
    expected = {
        ("many", "elsewhere"): N / 8,
        ("many", "other"): N / 24,
        ("one", "alone"): N / 6,
    }
    found = [counts[key] for key in expected]
    assert sum(found) == N // 3
    assert stats.chisquare(found, list(expected.values())).pvalue > 1e-4


VERBS = {"visited": "visit", "seen": "see", "photographed": "photograph", "drawn": "draw"}


@pytest.mark.slow
def test_wordings_are_as_frequent() -> None:
    """Whatever the template and its size; a pair has one wording."""
    wordings = load_wordings("en")[:4]
    tasks = [Task("own", parse_templates(FILE))]
    proved = prove_templates(tasks, load_language("en"), wordings=wordings)
    assert proved.n_shapes == 6 + 1 + 1 + 1
    found: Counter[tuple[str, int, str]] = Counter()
    for row in PairDrawer(proved, NAMES).draw(0, 4 * N).to_pylist():
        if row["template"] == "taller":
            continue
        verb = re.search("|".join(VERBS), row["premise"]).group()  # type: ignore[union-attr]
        size = row["premise"].count(verb)
        found[row["template"], size, verb] += 1
        if "didn't" in row["hypothesis"]:
            assert f"didn't {VERBS[verb]} " in row["hypothesis"]
        else:
            assert f"has {verb} " in row["hypothesis"]
    kinds = sorted({kind[:2] for kind in found})
    assert kinds == [("elsewhere", 1), ("other", 1), ("there", 1), ("there", 2), ("there", 3)]
    table = [[found[*kind, verb] for verb in VERBS] for kind in kinds]
    assert stats.chi2_contingency(table).pvalue > 1e-4
    assert stats.chisquare(np.sum(table, axis=0)).pvalue > 1e-4


def test_one_wording_changes_no_row() -> None:
    """Rows of one wording are those of the usual words, but for their verbs."""
    tasks = [Task("own", parse_templates(FILE))]
    usual, seen, *_ = load_wordings("en")
    first, second, third = (
        PairDrawer(prove_templates(tasks, load_language("en"), wordings=own), NAMES)
        .draw(0, 50)
        .column("premise")
        .to_pylist()
        for own in ((), (usual,), (seen,))
    )
    assert first == second
    again = [each.replace("has visited", "has seen").replace("taller", "older") for each in first]
    assert third == again


def test_words_are_masked() -> None:
    templates = parse_templates("""
        template both
            people      x, z
            places      y
            signs       s
            premise     V(x, y)
            premise     +-s V(z, y)
            hypothesis  V(x, y) & (+-s V(z, y))
            mask        and
            label       entailment

        template plain
            people      x
            places      y
            premise     V(x, y)
            hypothesis  ~V(x, y)
            label       contradiction
        """)
    proved = prove_templates([Task("own", templates)], load_language("en"))
    assert proved.answers == ("and", "and", None)
    rows = PairDrawer(proved, NAMES).draw(0, 400).to_pylist()
    assert len({"didn't" in row["premise"] for row in rows}) == 2
    for row in rows:
        if row["template"] == "plain":
            assert row["masked"] is row["answer"] is None
            continue
        assert row["answer"] == "and"
        assert row["masked"].replace("[MASK]", "and") == row["hypothesis"]
        assert row["masked"].count("[MASK]") == 1
    unmasked = replace(templates[0], mask=Mask("or", templates[0].at))
    with pytest.raises(TemplateError, match="has no word of its own for 'or' in English"):
        prove_templates([Task("own", (unmasked,))], load_language("en"))


def test_skeletons_keep_equal_texts_and_groups_once() -> None:
    anna, bob = Constant("a", Sort.PERSON), Constant("b", Sort.PERSON)
    rome = Constant("r", Sort.PLACE)
    tall = VerbForm("taller", plural=False, positive=True, people=(bob, anna))
    first = Skeleton((rome, anna, bob), ("x", Slot(rome), tall), (Slot(bob), "x"))
    verbs = load_language("pt").verbs
    packed = pack([first, Skeleton((anna,), ("x",), (Slot(anna),))], [verbs])
    assert packed.literals.to_pylist() == ["x", "é mais alto que", "é mais alta que"]
    assert packed.pieces.tolist() == [
        [0, 0, 0],
        [1, 2, 0],  # people come first
        [2, 1, 0],
        [1, 1, 0],
        [0, 0, 0],
        [0, 0, 0],
        [1, 0, 0],
    ]
    assert packed.text_ends.tolist() == [0, 3, 5, 6, 7]
    assert (packed.group_ends.tolist(), packed.group_people.tolist()) == ([0, 2], [0, 1])
    assert (packed.n_people.tolist(), packed.n_places.tolist()) == ([2, 1], [1, 0])


def test_verbs_that_do_not_change_are_text() -> None:
    """With several wordings all of them stand there, for men and for women."""
    anna = Constant("a", Sort.PERSON)
    visited = VerbForm("visited", plural=False, positive=True, people=(anna,))
    is_ = VerbForm("is", plural=False, positive=True, people=(anna,))
    skeleton = Skeleton((anna,), (Slot(anna), " ", visited, "."), (Slot(anna), " ", is_, "."))
    usual, seen, *_ = load_wordings("en")
    assert pack([skeleton], [usual]).literals.to_pylist() == [" has visited.", " is."]
    two = pack([skeleton], [usual, seen])
    assert two.n_wordings == 2
    texts = two.literals.to_pylist()
    assert texts == [" ", "has visited", "has visited", "has seen", "has seen", ".", " is."]
    assert two.pieces.tolist()[1:3] == [[0, 0, 0], [2, 1, 0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pieces": np.array([[3, 0, 0]], np.int32)}, "unknown kind"),
        ({"pieces": np.array([[0, 5, 0]], np.int32)}, "names what is not there"),
        ({"pieces": np.array([[1, 9, 0]], np.int32)}, "names what is not there"),
        ({"pieces": np.array([[2, 0, 4]], np.int32)}, "names what is not there"),
        ({"n_wordings": 0}, "must be a wording"),
        ({"n_places": np.array([-1], np.int32)}, "is negative"),
        ({"text_ends": np.array([0, 2, 1], np.int64)}, "do not fit together"),
        ({"n_places": np.array([], np.int32)}, "differ in length"),
        ({"weights": np.array([0.0])}, "a positive weight"),
        ({"labels": np.array([1], np.int32)}, "a label"),
        ({"n_labels": 2}, "a label has no shape"),
        ({"n_people": np.array([2], np.int32)}, "too few names"),
        ({"is_woman": np.array([], np.uint8)}, "a gender for each person"),
    ],
)
def test_the_core_refuses_what_does_not_fit(change: dict[str, object], message: str) -> None:
    from ietest_fast.runtime import load_core

    anna = Constant("a", Sort.PERSON)
    verbs = [load_language("en").verbs]
    packed = vars(pack([Skeleton((anna,), (Slot(anna),), ())], verbs))
    arguments = {
        **packed,
        "literals": pa.array(["x", "y"], pa.large_string()),
        "people": pa.array(["Anna"], pa.large_string()),
        "is_woman": np.array([1], np.uint8),
        "places": pa.array([], pa.large_string()),
        "weights": np.array([1.0]),
        "labels": np.array([0], np.int32),
        "n_labels": 1,
    }
    load_core().templates.PairFiller(**arguments)
    with pytest.raises(ValueError, match=message):
        load_core().templates.PairFiller(**{**arguments, **change})
