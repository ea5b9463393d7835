"""``ie.stress``: a classifier of any kind on a suite, held against the steps one by one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ietest_fast as ie
from ietest_fast.analyses.stress.asking import StressNotes
from ietest_fast.analyses.stress.suite import StressTest
from ietest_fast.answers import Predictions
from ietest_fast.answers.file import read_notes
from ietest_fast.corpus import corpus_from_table
from ietest_fast.errors import ConfigError, InputError, ResourceError
from ietest_fast.transform import WordSubstitution

LABELS = ["entailment", "neutral", "contradiction"]
SIX = ["antonym", "numerical", "word-overlap", "negation", "length-mismatch", "spelling"]
PAIRS = [
    ("A large dog runs in the park.", "A big animal moves."),
    ("The man pays 20 dollars for a small couch.", "Nobody pays for it."),
    ("Two women sit on a bench.", "The women are old."),
    ("A boy sleeps in the house.", "A girl is not asleep."),
]
FRAME = pd.DataFrame(
    [
        {"premise": f"{premise}", "hypothesis": f"{hypothesis} {i}.", "label": LABELS[i % 3]}
        for i, (premise, hypothesis) in enumerate(PAIRS * 6)
    ]
).assign(genre=lambda frame: [("travel", "fiction")[i % 2] for i in range(len(frame))])


def guess(pairs: list[tuple[str, str]]) -> list[str]:
    return [
        "contradiction"
        if {"no", "nobody", "not"} & set(hypothesis.lower().strip(".").split())
        else "neutral"
        if "true" in hypothesis
        else "entailment"
        for _, hypothesis in pairs
    ]


class Numbers:
    classes_ = np.array([0, 1, 2])

    def predict(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        return np.array([LABELS.index(answer) for answer in guess(pairs)])


def test_the_papers_six_and_another() -> None:
    asked = []

    def counting(pairs: list[tuple[str, str]]) -> list[str]:
        asked.extend(pairs)
        return guess(pairs)

    found = ie.stress(counting, FRAME, group_by="genre", add=["swap"])
    assert [test.name for test in found.tests] == [*SIX, "swap"]
    assert len(asked) == len(set(asked))
    table = found.predictions.table.to_pandas()
    for test in (found.original, *found.tests):
        rows = table[table["version"] == test.name]
        answers = guess(list(zip(rows["premise"], rows["hypothesis"], strict=True)))
        assert list(rows["predicted"]) == answers
        assert test.accuracy.k == (rows["gold"] == rows["predicted"]).sum()
        for genre, share in test.by_group.items():
            assert share.n == (rows["genre"] == genre).sum()
    before, after = (table[table["version"] == name] for name in ("original", "negation"))
    expected = ie.paired_test(
        list(before["gold"] == before["predicted"]), list(after["gold"] == after["predicted"])
    )
    comparison = found["negation"].comparison
    assert comparison is not None
    assert comparison.result.p_value == expected.p_value
    assert set(found["original"].by_group) == {"travel", "fiction"}
    with pytest.raises(KeyError, match="there is no test 'negotiation'; there are original, ant"):
        found["negotiation"]


def test_it_prints_and_shows_itself() -> None:
    found = ie.stress(guess, FRAME, suite={"no": "negation"}, group_by="genre")
    for shown in (str(found), repr(found), found._repr_html_()):
        assert "no: Collapsed: the classifier predicts one class" in shown
        assert "33.3 → 33.3" in shown
    frame = found.to_frame()
    assert list(frame["test"]) == ["original", "no"]
    assert frame["accuracy_n"].tolist() == [24, 24]
    assert json.loads(found.to_json())["tests"][1]["test"] == "no"


@pytest.mark.parametrize("test", ["negation", "word-overlap", "antonym"])
def test_a_frame_shows_what_is_compared(test: str) -> None:
    found = ie.stress(guess, FRAME)
    rows = found.to_frame().set_index("test")
    assert not {"comparison", "made_of", "antonyms", "confusion"} & set(rows.columns)
    own = rows.filter(like="comparison_")
    assert own.loc["original"].isna().all()
    compared, row = found[test].comparison, own.loc[test]
    if compared is None:  # as labels are set
        assert row.isna().all()
        return
    assert row["comparison_delta"] == compared.result.delta
    assert row["comparison_p_adjusted"] == compared.p_adjusted
    assert row["comparison_verdict"] == str(compared.verdict)


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("versions", {"verdict", "flip_rate"}), ("logic", {"rate_low", "informedness_high"})],
)
def test_other_frames_have_no_column_for_what_they_leave_out(kind: str, shown: set[str]) -> None:
    if kind == "versions":
        found = ie.evaluate(guess, FRAME, phi=["negation", "word-overlap"])
    else:
        found = ie.stress(guess, FRAME, suite="logic")
    frame = found.to_frame()
    assert shown <= set(frame.columns)
    assert all(frame[name].notna().any() for name in shown)
    assert not {"invariance", "dose", "rate_interval", "informedness_interval"} & set(frame.columns)


@pytest.mark.slow
def test_the_figure() -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    found = ie.stress(guess, FRAME, group_by="genre")
    axes = found.plot()
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["original", *SIX]
    points = [line for line in axes.lines if line.get_marker() == "o"]
    shares = [test.accuracy.share for test in (found.original, *found.tests)]
    assert [line.get_xdata()[0] for line in points] == [100 * (share or 0) for share in shares]
    assert axes.get_legend().get_title().get_text() == "genre"
    assert found.plot(ax=axes) is axes
    plt.close("all")


def test_models_of_every_kind_and_labels_that_are_numbers() -> None:
    codes = FRAME.assign(label=[LABELS.index(label) for label in FRAME["label"]])
    names = ie.stress(guess, FRAME, suite={"no": "negation"})
    numbers = ie.stress(Numbers(), codes, suite={"no": "negation"}, inputs="pairs")
    assert numbers.to_frame()["accuracy"].tolist() == names.to_frame()["accuracy"].tolist()
    corpus = corpus_from_table(FRAME)
    again = ie.stress(guess, corpus, suite={"no": "negation"})
    assert again.to_frame()["accuracy"].tolist() == names.to_frame()["accuracy"].tolist()


def test_suites(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text('[tests]\ntwice = "negation:times=2"\n')
    for suite in (tmp_path / "suite.toml", str(tmp_path / "suite.toml")):
        assert [test.name for test in ie.stress(guess, FRAME, suite=suite).tests] == ["twice"]
    phi = WordSubstitution(mapping={"bench": "sofa"})
    found = ie.stress(guess, FRAME, suite={"a": phi}, add={"name": "swap"})
    assert [test.name for test in found.tests] == ["a", "swap"]
    assert found["a"].n_changed == 6
    paper = ie.stress(guess, FRAME, rules="paper")
    texts = paper.predictions.select(version="word-overlap").table["hypothesis"].to_pylist()
    # Before the first mark, and what stood behind it is gone.
    assert all(text.rstrip().endswith("and true is true.") for text in texts), texts


def test_training_data_and_quantities(tmp_path: Path) -> None:
    train = pd.DataFrame(
        {
            "premise": ["A large dog.", "A boy sleeps."],
            "hypothesis": ["A small dog.", "A girl sleeps."],
            "label": ["contradiction", "neutral"],
        }
    )
    problems = ["Anna buys 12 apples in the shop.", "Nothing."]
    found = ie.stress(
        guess, FRAME, train=train, quantities=problems, out=tmp_path / "answers.parquet"
    )
    assert found["antonym"].antonyms is not None
    assert {"never", "1 to 9 times"} <= set(found["antonym"].antonyms.by_times)
    assert (found["numerical"].n_items, found["numerical"].is_foreign) == (1, True)
    run = read_notes(tmp_path / "answers.parquet", StressNotes)
    assert run is not None
    assert run.empty == found.empty
    read = Predictions.read(tmp_path / "answers.parquet")
    assert read.table.equals(found.predictions.table)


@pytest.mark.slow
def test_a_folder_and_files(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="makes the model that is tested")
    from tiny_models import make_onnx_folder

    make_onnx_folder(tmp_path / "model")
    FRAME.to_csv(tmp_path / "test.csv", index=False)
    of_files = ie.stress(
        tmp_path / "model", tmp_path / "test.csv", train=tmp_path / "test.csv", clusters="premise"
    )
    of_frames = ie.stress(str(tmp_path / "model"), FRAME, train=FRAME, clusters="premise")
    assert of_files.to_dict() == of_frames.to_dict()
    assert of_files["antonym"].antonyms is not None


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(InputError, match="rules and quantities are of the paper's six"):
        ie.stress(guess, FRAME, suite={"a": "swap"}, rules="paper")
    for suite in ({}, ["negation"], {1: "swap"}):
        with pytest.raises(InputError, match="suite is a TOML file, or a mapping"):
            ie.stress(guess, FRAME, suite=suite)
    with pytest.raises(InputError, match="the test 'negation' is in the suite already"):
        ie.stress(guess, FRAME, add="negation")
    with pytest.raises(InputError, match="voyce"):
        ie.stress(guess, FRAME, add="voyce")
    with pytest.raises(ConfigError, match="time"):
        ie.stress(guess, FRAME, suite={"a": {"name": "negation", "time": 2}})
    with pytest.raises(InputError, match="topic"):
        ie.stress(guess, FRAME, group_by="topic")
    with pytest.raises(InputError, match="'hypothesys': there is no such column"):
        ie.stress(guess, FRAME, input_columns="hypothesys")
    with pytest.raises(InputError, match="'hypothesys': there is no such column"):
        ie.evaluate(guess, FRAME, input_columns="hypothesys")
    with pytest.raises(InputError, match="out is a Parquet file"):
        ie.stress(guess, FRAME, out="answers.csv")
    with pytest.raises(ResourceError, match="there is no folder"):
        ie.stress(guess, FRAME, out="/no/such/folder/answers.parquet")
    with pytest.raises(InputError, match="texts must be strings"):
        ie.stress(guess, FRAME, quantities=[1, 2])
    with pytest.raises(InputError, match=r"premise.*no such column"):
        ie.stress(
            guess,
            FRAME,
            train=pd.DataFrame({"text": ["a", "b"], "label": LABELS[:2]}),
        )


READ = ["data", "train", "quantities", "learn_from", "texts_from", "suite"]


@pytest.mark.parametrize("read", READ)
def test_no_file_that_is_read_is_written_over(tmp_path: Path, read: str) -> None:
    path = tmp_path / "texts.parquet"
    if read == "suite":
        path.write_text('[tests]\nno = "negation"\n')  # which is TOML all the same
    else:
        FRAME.to_parquet(path)
    before = path.read_bytes()
    options: dict[str, object] = {} if read in {"data", "texts_from"} else {read: path}
    if read == "texts_from":
        options["suite"] = {"n": StressTest(phi="numerical", texts_from=path)}
    with pytest.raises(InputError, match="would be overwritten while it is in use"):
        ie.stress(guess, path if read == "data" else FRAME, out=path, **options)
    assert path.read_bytes() == before


def test_training_data_that_say_nothing(tmp_path: Path) -> None:
    asked = []

    def counting(pairs: list[tuple[str, str]]) -> list[str]:
        asked.extend(pairs)
        return guess(pairs)

    lone = pd.DataFrame({"premise": ["A."], "hypothesis": ["B."], "label": ["yes"]})
    with pytest.raises(InputError):
        ie.stress(counting, FRAME, train=lone)
    singles = corpus_from_table(pd.DataFrame({"text": ["A.", "B."], "label": LABELS[:2]}))
    with pytest.raises(InputError, match="has no contradictions to look for antonyms in"):
        ie.stress(counting, FRAME, train=singles)
    assert asked == []
    out = tmp_path / "answers.parquet"
    found = ie.stress(guess, FRAME, suite={"no": "negation"}, train=FRAME, out=out)
    said = "No row of these tests has antonyms to look for in the training data."
    assert said in found.remarks()
    assert Predictions.read(out).table.equals(found.predictions.table)


def test_what_can_be_added() -> None:
    suite = {"no": "negation"}
    assert [test.name for test in ie.stress(guess, FRAME, suite=suite, add=None).tests] == ["no"]
    more = [StressTest(phi="swap"), StressTest(phi={"name": "word-overlap"})]
    found = ie.stress(guess, FRAME, suite=suite, add=more)
    assert [test.name for test in found.tests] == ["no", "swap", "word-overlap"]
    for wrong in (3, [3], [None]):
        with pytest.raises(InputError, match="add: no transformation, but"):
            ie.stress(guess, FRAME, suite=suite, add=wrong)
    with pytest.raises(InputError, match=r"such as 'rules'.* is in premise or hypothesis.*'name'"):
        ie.stress(guess, FRAME, suite=suite, add=[{"rules": "paper"}])
    for name in ("original", "ORIGINAL"):
        with pytest.raises(InputError, match=f"suite: no test can be called '{name}'"):
            ie.stress(guess, FRAME, suite={name: "negation"})
    with pytest.raises(InputError, match="suite: the tests 'no' and 'No' differ in case"):
        ie.stress(guess, FRAME, suite={"no": "negation", "No": "swap"})
    with pytest.raises(InputError, match="add: the tests 'Swap' and 'swap' differ in case"):
        ie.stress(guess, FRAME, suite={"Swap": "negation"}, add="swap")


@pytest.mark.slow
def test_the_name_costs_nothing_before_it_is_used() -> None:
    code = (
        "import ietest_fast as ie, sys; assert 'stress' in dir(ie); print('pyarrow' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"
