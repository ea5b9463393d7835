"""The parts of the suite logic: neighbours by words, exchanged hypotheses, weights, files."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ietest_fast.analyses.logic.asking import ask_logic
from ietest_fast.analyses.logic.candidates import (
    Candidates,
    Items,
    LogicOptions,
    WordIndex,
    borrow,
    exchange,
)
from ietest_fast.analyses.logic.file import read_logic, write_logic
from ietest_fast.analyses.logic.measure import measure_logic
from ietest_fast.analyses.logic.notes import LogicNotes
from ietest_fast.analyses.logic.rules import (
    RULES,
    WEIGHED,
    default_weights,
    find_classes,
    read_weights,
    renormalise,
)
from ietest_fast.answers.file import holds, refuse_no_rewordings
from ietest_fast.corpus import corpus_from_table
from ietest_fast.errors import ConfigError, InputError
from logic_toys import LABELS, Asked, at_random, make_corpus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ietest_fast.analyses.logic.file import LogicAnswers


@pytest.fixture(scope="module")
def answers() -> LogicAnswers:
    return ask_logic(Asked(at_random), make_corpus(), LogicOptions(seed=2))[0]


# Neighbours.

WORDS = ("dog", "cat", "man", "runs", "sleeps", "big", "the", "a")


@given(
    st.lists(
        st.lists(st.sampled_from(WORDS), min_size=0, max_size=5).map(" ".join),
        min_size=1,
        max_size=12,
        unique=True,
    ),
    st.integers(1, 4),
    st.booleans(),
)
def test_neighbours_are_those_with_most_words_in_common(
    sentences: list[str], n_nearest: int, contained: bool
) -> None:
    n = len(sentences)
    sets = [set(each.split()) for each in sentences]
    weight = {w: math.log(n / sum(w in own for own in sets)) for w in set().union(*sets)}

    def total(words: set[str]) -> float:
        return sum(weight[w] for w in words)

    def score(query: int, other: int) -> float:
        shared = total(sets[query] & sets[other])
        whole = total(sets[other] if contained else sets[query] | sets[other])
        return shared / whole if whole > 1e-12 else 0.0

    places, found = WordIndex(pa.array(sentences, pa.large_string())).find(
        np.arange(n), np.arange(n), n_nearest=n_nearest, contained=contained
    )
    assert (np.diff(places) >= 0).all()
    for query in range(n):
        mine = found[places == query].tolist()
        assert len(set(mine)) == len(mine)
        others = [i for i in range(n) if i != query and score(query, i) > 0]
        assert len(mine) == min(n_nearest, len(others))
        best = sorted((score(query, i) for i in others), reverse=True)
        got = [score(query, i) for i in mine]
        assert got == pytest.approx(best[: len(mine)], abs=1e-5)


# Exchanged hypotheses.


@st.composite
def sources(draw: Any) -> tuple[list[int], list[int]]:
    """Units of instances, and for each the unit that its hypothesis comes from as well."""
    n_units = draw(st.integers(2, 8))
    units = draw(st.lists(st.integers(0, n_units - 1), min_size=1, max_size=25))
    others = draw(st.lists(st.integers(0, n_units - 1), min_size=len(units), max_size=len(units)))
    return units, others


@example(([0, 1, 0, 1], [1, 0, 0, 0]), 0)  # all turns give everybody something related
@given(sources(), st.integers(0, 5))
def test_hypotheses_are_exchanged_between_sources(
    drawn: tuple[list[int], list[int]], seed: int
) -> None:
    units, others = drawn
    n, n_units = len(units), max(*units, *others) + 1
    # Sentence i is instance i's premise, n + i its hypothesis; each comes from one source.
    items = Items(
        sentences=pa.array([f"s{i}" for i in range(2 * n)], pa.large_string()),
        premise=np.concatenate([np.arange(n), n + np.arange(n)]),
        hypothesis=np.concatenate([np.arange(n), n + np.arange(n)]),
        unit=np.array(units + others),
        n_units=n_units,
    )
    own = np.arange(n)
    found = Candidates(
        row=own,
        antecedents=(),
        consequents=((own, n + own),),
        premise_parts=own[:, None],
        hypothesis_parts=(n + own)[:, None],
        left_out={},
    )
    given_to, is_good = exchange(items, found, own, seed=seed, number=1)
    assert sorted(given_to) == list(own)
    for i, j in enumerate(given_to):
        assert is_good[i] == (others[j] not in {units[i], others[i]})
    again, _ = exchange(items, found, own, seed=seed, number=1)
    assert (given_to == again).all()
    if n >= 4 and len(set(units)) == n and others == units:
        assert is_good.all()
    # Premises of contrary instances, in turns.
    mine, theirs = own[: n // 2], own[n // 2 :]
    chosen, is_good = borrow(items, found, mine, theirs, seed=seed, number=2)
    assert set(chosen) <= set(theirs)
    for i, j in zip(mine, chosen, strict=True):
        assert is_good[i] == (units[j] != others[i])


def test_with_one_source_there_is_nothing_unrelated() -> None:
    corpus = make_corpus(1)
    found, _ = ask_logic(Asked(lambda premise, hypothesis: "entailment"), corpus)
    (profile,) = measure_logic([found], LogicOptions(renormalise=True))
    assert profile["monotonic-entailment"].n_instances == 0
    reason = "no sentence of another source was found"
    assert profile["monotonic-entailment"].origin.left_out == {reason: 3}
    reflexive = profile["reflexive-hypothesis"].measured
    assert reflexive is not None
    assert (reflexive.rate.n, reflexive.control.n) == (3, 0)
    assert "and so without informedness: ref" in str(profile)
    assert list(profile.used_weights) == ["acc"]
    assert "left out: acc 1" in str(profile)


def test_clusters_are_sources() -> None:
    corpus = make_corpus(6)
    table = corpus.table.append_column("who", pa.array([None, 1.0, float("nan"), *[2.0] * 15]))
    kept = corpus_from_table(table, label_names=corpus.label_names, keep_columns=["who"])
    items = Items.of(kept, clusters="who")
    assert items.unit[0] == items.unit[2] != items.unit[1]
    assert len(set(items.unit[3:])) == 1
    assert items.n_units == 3
    assert Items.of(kept).n_units == 6
    sources = items.sources.toarray()
    for sentence, row in ((items.premise[0], 0), (items.hypothesis[1], 1)):
        assert sources[sentence, items.unit[row]] == 1
    assert sources[items.premise[0]].sum() == 2  # its rows are of two


# Labels.


@pytest.mark.parametrize(
    ("names", "classes"),
    [
        (LABELS, {"entailment": 0, "neutral": 1, "contradiction": 2}),
        (("Contradictory", "entails"), {"entailment": 1, "contradiction": 0}),
        (("non-contradiction", "contradiction"), {"contradiction": 1}),
        (("not_entailment", "entailment"), {"entailment": 1}),
    ],
)
def test_labels_are_found(names: tuple[str, ...], classes: dict[str, int]) -> None:
    assert find_classes(names) == classes


@pytest.mark.parametrize("names", [("yes", "no"), (*LABELS, "maybe"), ("neutral",), ("positive",)])
def test_other_labels_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="the suite logic needs the labels entailment, neutral"):
        find_classes(names, source="a.csv")


# Weights and the score.


def test_weights_are_read(tmp_path: Path) -> None:
    wanted = {"acc": 0.5, "and-intro": 0.25, "symmetric-contradiction": 0.25}
    assert read_weights("acc=0.5, and-intro=0.25,symmetric-contradiction=.25") == wanted
    assert read_weights(wanted) == wanted
    path = tmp_path / "weights.toml"
    path.write_text('[weights]\nacc = 0.5\nand-intro = 0.25\n"symmetric-contradiction" = 0.25\n')
    assert read_weights(path) == read_weights(str(path)) == wanted
    assert default_weights(RULES) == dict.fromkeys(("acc", *WEIGHED), 1 / 7)
    assert default_weights([]) == {"acc": 1}
    assert read_weights(default_weights(RULES))  # sevenths sum to 1
    assert renormalise(wanted, ["acc"]) == {"and-intro": 0.5, "symmetric-contradiction": 0.5}
    assert renormalise(wanted, [*wanted]) == {}


@pytest.mark.parametrize(
    ("weights", "problems"),
    [
        ("acc=0.5,and-intro=0.4", ["weights: sum to 0.9; they have to sum to 1"]),
        ("acc=0.5,and-intor=0.5", ["there is no rule 'and-intor'; did you mean 'and-intro'?"]),
        ("acc=1,xyzzy=0", ["there is no rule 'xyzzy'; there are acc, reflexive-premise"]),
        ("acc=2,and-intro=-1", ["acc is a number from 0 to 1, not 2.0", "and-intro is a number"]),
        ("acc=1,anti-symmetric=0", ["'anti-symmetric' has no control questions"]),
        ("acc=half,and-intro=0.5", ["'acc=half' is not a name and a number"]),
        ("acc=0.5,acc=0.5", ["'acc' is there twice"]),
        ({"acc": True}, ["acc is a number from 0 to 1, not True"]),
        ({"acc": float("nan")}, ["acc is a number from 0 to 1, not nan"]),
        ({}, ["sum to 0"]),
    ],
)
def test_wrong_weights_are_refused(weights: Any, problems: list[str]) -> None:
    with pytest.raises(ConfigError) as error:
        read_weights(weights)
    assert len(error.value.problems) == len(problems)
    for said, expected in zip(error.value.problems, problems, strict=True):
        assert expected in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file"),
        ("weights", "is not TOML"),
        ("[weight]\nacc = 1\n", r"has one table \[weights\].*and not weight"),
        ("[weights]\nacc = 0.5\n", "weights: sum to 0.5"),
        ('[weights]\nacc = "1"\n', "acc is a number from 0 to 1, not '1'"),
    ],
)
def test_wrong_files_of_weights_are_refused(text: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises((ConfigError, InputError), match=message) as error:
        read_weights(path)
    assert str(path) in str(error.value)


def test_the_score_is_the_weighted_sum(answers: LogicAnswers) -> None:
    weights = {"acc": 0.4, "and-intro": 0.35, "explosion": 0.25}
    (profile,) = measure_logic([answers], LogicOptions(weights=weights, n_resamples=50))
    intro, explosion = profile["and-intro"].measured, profile["explosion"].measured
    plain = 0.4 * profile.accuracy.share + 0.35 * intro.rate.value + 0.25 * explosion.rate.value
    assert profile.score.value == pytest.approx(plain)
    original = answers.predictions.select(version="original").table.to_pylist()
    recalls = [
        np.mean([row["predicted"] == label for row in original if row["gold"] == label])
        for label in LABELS
    ]
    informedness = (np.mean(recalls) - 1 / 3) / (1 - 1 / 3)
    assert profile.accuracy_informedness == pytest.approx(informedness)
    informed = 0.4 * informedness + 0.35 * intro.value + 0.25 * explosion.value
    assert profile.informed_score.value == pytest.approx(informed)
    assert profile.score.interval.low < plain < profile.score.interval.high
    assert "Weights of the score: acc 0.4, and-intro 0.35, explosion 0.25." in str(profile)


def test_an_undefined_part_is_left_out_only_on_demand() -> None:
    never = Asked(lambda premise, hypothesis: LABELS[1 + (len(premise) + len(hypothesis)) % 2])
    found, _ = ask_logic(never, make_corpus())
    (profile,) = measure_logic([found], LogicOptions(n_resamples=50))
    assert profile.score.value is None
    undefined = ("and-intro", "and-elim", "or-intro", "contraposition", "transitivity")
    assert profile.score.undefined == undefined
    assert "The score is not defined, as and-intro" in str(profile)
    assert profile.used_weights == profile.weights
    assert not profile.is_renormalised
    (profile,) = measure_logic([found], LogicOptions(n_resamples=50, renormalise=True))
    assert profile.used_weights == {"acc": 0.5, "and-elim-premise": 0.5}
    assert profile.score.value == pytest.approx(profile.accuracy.share / 2)
    said = "Weights of the score, and-intro, and-elim, or-intro, contraposition, transitivity left"
    assert said in str(profile)
    # A rule that weighs nothing may be undefined.
    (profile,) = measure_logic(
        [found], LogicOptions(n_resamples=50, weights={"acc": 1.0, "transitivity": 0.0})
    )
    assert profile.score.value == profile.accuracy.share


# Options and files.


@pytest.mark.parametrize(
    "options", [{"draws": 0}, {"nearest": -1}, {"instances": 0}, {"seed": -1}, {"draws": True}]
)
def test_options_have_limits(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(options))} must be a whole number"):
        LogicOptions(**options)


def test_files_say_everything(answers: LogicAnswers, tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    write_logic(answers, path)
    (again,) = read_logic([path])
    assert again.notes == replace(answers.notes, n_rows=answers.predictions.table.num_rows)
    assert again.predictions.table.equals(answers.predictions.table)
    told = LogicOptions(n_resamples=50, seed=1)
    (one,), (other,) = measure_logic([answers], told), measure_logic([again], told)
    assert one.to_dict() == other.to_dict()
    assert one.to_frame()["rule"].tolist() == list(RULES)
    pa.parquet.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    assert not holds(tmp_path / "other.parquet", LogicNotes)


def test_several_models_are_compared_if_they_can_be(answers: LogicAnswers, tmp_path: Path) -> None:
    same, _ = ask_logic(Asked(lambda p, h: "neutral"), make_corpus(), LogicOptions(seed=2))
    seed, _ = ask_logic(Asked(at_random), make_corpus(), LogicOptions(seed=3))
    fewer, _ = ask_logic(Asked(at_random), make_corpus(5), LogicOptions(seed=2))
    paths = [tmp_path / f"{name}.parquet" for name in ("first", "same", "seed", "fewer")]
    for each, path in zip((answers, same, seed, fewer), paths, strict=True):
        write_logic(each, path)
    profiles = measure_logic(read_logic(paths), LogicOptions(n_resamples=50))
    assert [each.name for each in profiles] == ["first", "same", "seed", "fewer"]
    assert [list(each.unlike) for each in profiles] == [
        [],
        [],
        ["seed: instances were not found as for first."],
        ["fewer has answered other pairs than first: do not compare them."],
    ]


def test_damaged_files_are_refused(answers: LogicAnswers, tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    damaged = replace(answers.notes, rules={"and-intro": {"n_itms": 3}})  # type: ignore[dict-item]
    write_logic(replace(answers, notes=damaged), path)
    with pytest.raises(InputError, match="its metadata are damaged"):
        read_logic([path])


def _moved(table: pa.Table) -> pa.Table:
    """All instances of a rule are said to come from the first source."""
    versions = table["version"].to_pylist()
    units = [
        0 if version == "transitivity" else own
        for version, own in zip(versions, table["unit"].to_pylist(), strict=True)
    ]
    place = table.column_names.index("unit")
    return table.set_column(place, "unit", pa.array(units, table["unit"].type))


def _changed(table: pa.Table, name: str, change: Callable[[Any], Any]) -> pa.Table:
    """Return a table whose last row has another value in a column."""
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values = column.to_pylist()
    values[-1] = change(values[-1])
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array(values, column.type))


def _retyped(table: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    """Return a table with a column whose values are no whole numbers."""
    values = pa.array(["x" if pa.types.is_string(kind) else 1.5] * table.num_rows, kind)
    return table.set_column(table.column_names.index(name), name, values)


def _unmet(table: pa.Table) -> pa.Table:
    """Return a table in which an antecedent of the rule of the last row has another answer."""
    frame = table.to_pandas().astype({"predicted": object})
    rows = (frame["version"] == frame["version"].iloc[-1]) & (frame["part"] == "antecedent")
    frame.loc[rows.idxmax(), ["predicted", "correct"]] = ["neutral", False]
    return pa.Table.from_pandas(frame, schema=table.schema).replace_schema_metadata(
        table.schema.metadata
    )


def _answered_twice(table: pa.Table) -> pa.Table:
    """Return a table in which one of two equal questions has another answer, or its opposite."""
    frame = table.to_pandas().astype({"predicted": object})
    asked = frame["part"].isin(["consequent", "control"])
    repeated = frame.duplicated(["premise", "hypothesis"], keep=False) & asked
    row = (repeated & (frame["predicted"] == "entailment")).idxmax()
    met = frame.loc[row, "expected"] == "neutral"
    correct = met ^ (frame.loc[row, "part"] == "control")
    frame.loc[row, ["predicted", "correct"]] = ["neutral", correct]
    return pa.Table.from_pandas(frame, schema=table.schema).replace_schema_metadata(
        table.schema.metadata
    )


def _edited(version: str, part: str, **values: Any) -> Callable[[pa.Table], pa.Table]:
    """Return what changes values in a row of a rule, and ``correct`` with them."""

    def change(table: pa.Table) -> pa.Table:
        frame = table.to_pandas().astype({"version": str, "predicted": object, "part": object})
        row = ((frame["version"] == version) & (frame["part"] == part)).idxmax()
        for name, value in values.items():
            frame.loc[row, name] = value
        expected, predicted = frame.loc[row, "expected"], frame.loc[row, "predicted"]
        met = predicted == expected or (expected[:4] == "not " and expected[4:] != predicted)
        frame.loc[row, "correct"] = met ^ (part == "control")
        return pa.Table.from_pandas(frame, schema=table.schema, preserve_index=False)

    return lambda table: change(table).replace_schema_metadata(table.schema.metadata)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            _edited("reflexive-premise", "consequent", expected="neutral"),
            "column 'expected': 'neutral' is not what the rule asks for; ask the model again",
        ),
        (
            _edited("consistency", "consequent", expected="contradiction"),
            "column 'expected': 'contradiction' is not what the rule asks for",
        ),
        (
            _edited("negation", "control", expected="not contradiction"),
            "column 'expected': 'not contradiction' is not what the rule asks for",
        ),
        (
            _edited("reflexive-premise", "consequent", hypothesis="Not the same."),
            "column 'hypothesis': an instance of reflexive-premise has 'A dog",
        ),
        (
            _edited("symmetric-contradiction", "consequent", premise="Not the same."),
            "column 'premise': an instance of symmetric-contradiction has 'Not the same.' and",
        ),
        (
            _edited("inclusion", "control", premise="Not the same."),
            "column 'premise': an instance of inclusion has",
        ),
        (
            _edited("symmetric-neutral", "control", hypothesis="Not the same."),
            "column 'hypothesis': an instance of symmetric-neutral has",
        ),
        (
            _edited("and-intro", "consequent", premise="Not the same."),
            "column 'premise': an instance of and-intro has",
        ),
        (
            _edited("monotonic-entailment", "consequent", hypothesis="Not the same."),
            "column 'hypothesis': an instance of monotonic-entailment has",
        ),
        (
            _edited(
                "entailed-contradiction",
                "antecedent",
                expected="contradiction",
                predicted="contradiction",
            ),
            "column 'expected': 'contradiction' is not what the rule asks for",
        ),
        (
            _edited("entailed-contradiction", "antecedent", hypothesis="Not the same."),
            "column 'premise': an instance of entailed-contradiction has",
        ),
        (
            _edited("transitivity", "antecedent", premise="Not the same."),
            "column 'premise': an instance of transitivity has",
        ),
        (
            _edited("transitivity", "consequent", hypothesis="Not the same."),
            "column 'hypothesis': an instance of transitivity has",
        ),
        *(
            (
                _edited(rule, part, **{side: "A dog or a cat."}),
                f"column '{side}': an instance of {rule} has 'A dog or a cat.', where the rule",
            )
            for rule, part, side in (
                ("explosion", "consequent", "premise"),
                ("negation", "consequent", "hypothesis"),
                ("and-intro", "consequent", "hypothesis"),
                ("or-intro", "consequent", "hypothesis"),
                ("contraposition", "consequent", "hypothesis"),
                ("and-elim", "antecedent", "hypothesis"),
            )
        ),
        (_answered_twice, "column 'predicted': these two texts have the answers 'entailment' and"),
        (_unmet, "'neutral' is not what the rule asks of an antecedent"),
        (
            lambda table: _changed(table, "instance", lambda _: 0),
            "the instance 0 of transitivity lacks a question or has one too many; ask the model",
        ),
        (
            lambda table: _changed(table, "instance", lambda own: own + 1),
            "lacks a question or has one too many; ask the model again",
        ),
        (
            lambda table: _changed(table, "unit", lambda own: own + 1),
            "of transitivity has rows of different sources; ask the model again",
        ),
        (_moved, "is of source 0 in some rows and of "),
        (lambda table: table.slice(1), "has 979 rows, and 980 were written; ask the model again"),
        (lambda table: table.drop_columns(["part"]), "column 'part': there is no such column"),
        (lambda table: _changed(table, "part", lambda _: "zzz"), "'zzz' is no part of an instance"),
        (lambda table: _changed(table, "version", lambda _: "modus"), "'modus' is no rule"),
        (lambda table: _retyped(table, "unit", pa.string()), "column 'unit': holds string, int64"),
        (
            lambda table: _retyped(table, "instance", pa.float64()),
            "'instance': holds double, int64",
        ),
        (lambda table: _changed(table, "instance", lambda _: -1), "-1 is no number from 0 on"),
        (
            lambda table: _changed(table, "correct", lambda own: not own),
            "is not what the answer is",
        ),
        (lambda table: _changed(table, "expected", lambda _: "maybe"), "is not what the answer is"),
        (
            lambda table: table.replace_schema_metadata(None),
            "no longer how they came about: another program has written it again",
        ),
    ],
)
def test_edited_files_are_refused(
    answers: LogicAnswers, tmp_path: Path, damage: Callable[[pa.Table], pa.Table], message: str
) -> None:
    path = tmp_path / "answers.parquet"
    write_logic(answers, path)
    damaged = damage(pa.parquet.read_table(path))
    pa.parquet.write_table(damaged, path)
    with pytest.raises(InputError, match=re.escape(message)):
        read_logic([path])
    if not damaged.schema.metadata:
        with pytest.raises(InputError, match="no longer how they came about"):
            refuse_no_rewordings(path)


def test_rows_may_stand_in_another_order(answers: LogicAnswers, tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    write_logic(answers, path)
    table = pa.parquet.read_table(path)
    pa.parquet.write_table(table.take(pa.array(range(len(table))[::-1])), path)
    assert len(read_logic([path])) == 1


def test_another_answer_to_what_is_asked_once_cannot_be_seen(
    answers: LogicAnswers, tmp_path: Path
) -> None:
    path = tmp_path / "answers.parquet"
    write_logic(answers, path)
    change = _edited("contraposition", "consequent", predicted="neutral")
    pa.parquet.write_table(change(pa.parquet.read_table(path)), path)
    assert len(read_logic([path])) == 1


def test_rows_of_one_text_have_no_logic() -> None:
    corpus = corpus_from_table(
        pa.table({"text": ["a", "b"], "label": ["entailment", "neutral"]}), text_columns=["text"]
    )
    with pytest.raises(InputError, match="rows have one text; the suite logic asks what follows"):
        ask_logic(Asked(lambda text: "neutral", ("entailment", "neutral")), corpus)


def test_it_prints_and_draws_itself(answers: LogicAnswers) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    (profile,) = measure_logic([answers], LogicOptions(n_resamples=50))
    for shown in (str(profile), repr(profile), profile._repr_html_()):
        assert "rules are violated by some answers" in shown
        assert "transitivity" in shown
    with pytest.raises(KeyError, match="there is no rule 'modus ponens'; there are reflexive-"):
        profile["modus ponens"]
    axes = profile.plot()
    drawn = [name for name, rule in RULES.items() if rule.control is not None]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == drawn
    assert profile.plot(ax=axes) is axes
    plt.close("all")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (pa.map_(pa.string(), pa.int64()), "expected texts or numbers"),
        (pa.dictionary(pa.int32(), pa.string()), "int64 expected"),
    ],
)
def test_columns_of_another_type_are_refused(
    tmp_path: Path, answers: LogicAnswers, kind: pa.DataType, said: str
) -> None:
    path = tmp_path / "logic.parquet"
    write_logic(answers, path)
    table = pq.read_table(path)
    place = table.schema.get_field_index("instance")
    numbers = table["instance"].to_pylist()
    values = [[("a", number)] if pa.types.is_map(kind) else str(number) for number in numbers]
    pq.write_table(table.set_column(place, "instance", pa.array(values, kind)), path)
    with pytest.raises(InputError, match=said):
        read_logic([path])
