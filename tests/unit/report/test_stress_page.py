"""Stress tests become a page: the numbers, the sentences, the figures and the examples."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

import pandas as pd
import pytest

import ietest_fast as ie
from ietest_fast.analyses.stress.page import (
    N_EXAMPLES,
    StressSource,
    accuracy_table,
    error_table,
    example_tables,
    group_chart,
    kind_table,
    pair_tables,
    say_stress,
    side_by_side,
    stress_chart,
)
from ietest_fast.cli.main import main
from ietest_fast.errors import InputError
from ietest_fast.report.contents import gather
from ietest_fast.report.drawing import PAPER
from ietest_fast.report.page_builder import build_page
from ietest_fast.stats import Verdict
from report_browser import check_accessibility

LABELS = ["entailment", "neutral", "contradiction"]
PAIRS = [
    ("A large dog runs in the park <b>.", "A big animal moves."),
    ("The man pays 20 dollars for a small couch.", "Nobody pays for it & goes."),
    ("Two women sit on a bench.", "The women are old."),
    ("A boy sleeps in the house.", "A girl is not asleep there."),
]
FRAME = pd.DataFrame(
    [
        {"premise": premise, "hypothesis": f"{hypothesis[:-1]} {i}.", "label": LABELS[i % 3]}
        for i, (premise, hypothesis) in enumerate(PAIRS * 15)
    ]
).assign(genre=lambda frame: [("travel", "fiction")[i % 2] for i in range(len(frame))])
GOLD = {(row.premise, row.hypothesis): row.label for row in FRAME.itertuples()}


def distracted(pairs: list[tuple[str, str]]) -> list[str]:
    """Knows the originals, but for "true" and what it has not seen."""
    return ["neutral" if " true" in pair[1] else GOLD.get(pair, "entailment") for pair in pairs]


def steady(pairs: list[tuple[str, str]]) -> list[str]:
    """Goes by the number in the hypothesis alone."""
    return [
        LABELS[int(found[0]) % 3] if (found := re.findall(r"\d+", pair[1])) else "contradiction"
        for pair in pairs
    ]


TRAIN = {
    "premise": ["A large dog."] * 2,
    "hypothesis": ["A small dog."] * 2,
    "label": ["contradiction", "neutral"],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("stress")
    made = {}
    for name, model in (("distracted", distracted), ("steady", steady)):
        made[name] = folder / f"{name}.parquet"
        ie.stress(
            model,
            FRAME,
            group_by="genre",
            train=TRAIN,
            add="swap",
            out=made[name],
            label_names=LABELS,
        )
    return made


def test_the_numbers_of_a_file_are_those_of_the_run(files: dict[str, Path]) -> None:
    found = StressSource.read([files["distracted"]])
    (profile,) = found.profiles
    again = ie.stress(
        distracted, FRAME, group_by="genre", train=TRAIN, add="swap", label_names=LABELS
    )
    assert profile.name == "distracted"
    assert profile.to_dict() == {"model": "distracted", **again.to_dict()}
    assert StressSource.recognises(files["distracted"])
    for table, other in zip(
        (accuracy_table(profile), error_table(profile), kind_table(profile)),
        (accuracy_table(again), error_table(again), kind_table(again)),
        strict=True,
    ):
        assert table is not None
        assert other is not None
        assert table.rows == other.rows


def test_errors_are_counted(files: dict[str, Path]) -> None:
    (profile,) = StressSource.read([files["distracted"]]).profiles
    table = error_table(profile)
    assert table is not None
    frame = profile.predictions.table.to_pandas()
    names = [column.name for column in table.columns]
    assert names[3:] == ["E → N %", "E → C %", "N → E %", "N → C %", "C → E %", "C → N %"]
    for row in table.rows:
        own = frame[frame["version"] == row[0]]
        wrong = own[own["gold"] != own["predicted"]]
        assert row[1] == len(wrong)
        expected = (wrong["predicted"] == "neutral").mean() if len(wrong) else None
        assert row[2] == pytest.approx(expected)
        pairs = [(a, b) for a in LABELS for b in LABELS if a != b]
        for share, (gold, answer) in zip(row[3:], pairs, strict=True):
            rows = own[own["gold"] == gold]
            rate = (rows["predicted"] == answer).mean() if len(rows) else None
            assert share == pytest.approx(rate)


def test_labels_with_equal_initials_stay_whole() -> None:
    frame = FRAME.assign(label=["east" if i % 2 else "end" for i in range(len(FRAME))])
    profile = ie.stress(lambda pairs: ["end"] * len(pairs), frame, suite={"no": "negation"})
    table = error_table(profile)
    assert table is not None
    assert [column.name for column in table.columns][3:] == ["east → end %", "end → east %"]


def test_kinds_and_pairs(files: dict[str, Path]) -> None:
    (profile,) = StressSource.read([files["steady"]]).profiles
    frame = profile.predictions.table.to_pandas()
    table = kind_table(profile)
    assert table is not None
    said = {row[:3]: row[3:5] for row in table.rows}
    spelling = frame[frame["version"] == "spelling"]
    right = spelling["gold"] == spelling["predicted"]
    for column, what in (("rule", "change"), ("word_class", "word")):
        for value, rows in spelling.groupby(column, observed=True):
            assert said["spelling", what, value] == (len(rows), right[rows.index].mean())
    groups, times = pair_tables(profile)
    antonyms = frame[frame["version"] == "antonym"].dropna(subset="word_pair")
    assert sum(row[1] for row in groups.rows) == len(antonyms)
    assert {row[0] for row in times.rows} == {"never", "1 to 9 times"}
    assert pair_tables(ie.stress(steady, FRAME, label_names=LABELS)) == []


def test_one_sentence_says_what_was_found(files: dict[str, Path]) -> None:
    (profile,) = StressSource.read([files["distracted"]]).profiles
    kind, said = say_stress(profile)
    assert kind is Verdict.DIFFERS
    worst = max(profile.compared, key=lambda test: abs(test.shown_delta))
    n = sum(test.verdict in {Verdict.DIFFERS, Verdict.CHANGES} for test in profile.compared)
    assert said.startswith(f"distracted: {n} of {len(profile.compared)} tests are answered ")
    assert said.endswith(f"{worst.name}: {worst.sentence}")
    assert len(profile.headline.split()) <= 30
    same = {"same": {"name": "word-overlap", "columns": ["premise"]}}
    alike = ie.stress(steady, pd.concat([FRAME] * 20), suite=same, label_names=LABELS)
    kind, said = say_stress(alike)
    assert (kind, alike["same"].accuracy.k) == (Verdict.ALIKE, alike.original.accuracy.k)
    assert said.startswith("the classifier: same: Alike within ")


def test_examples_are_rows_that_are_wrong(files: dict[str, Path]) -> None:
    (profile,) = StressSource.read([files["distracted"]]).profiles
    tables = {table.title.split(", ")[1].split(":")[0]: table for table in example_tables(profile)}
    frame = profile.predictions.table.to_pandas()
    original = frame[frame["version"] == "original"].set_index("item")
    for test in profile.tests:
        own = frame[frame["version"] == test.name]
        wrong = own[own["gold"] != own["predicted"]]
        if test.keeps_labels:
            before = original.loc[wrong["item"]]
            wrong = wrong[(before["gold"] == before["predicted"]).to_numpy()]
        if len(wrong) == 0:
            assert test.name not in tables
            continue
        table = tables[test.name]
        assert table.title.endswith(f"({len(wrong):,})")
        assert len(table.rows) == min(len(wrong), N_EXAMPLES)
        names = [column.name for column in table.columns]
        for row in table.rows:
            shown = dict(zip(names, row, strict=True))
            found = wrong[wrong["item"].astype(str) == shown["item"]]
            hypothesis = shown.get(f"hypothesis, {test.name}", shown.get("hypothesis"))
            assert hypothesis in set(found["hypothesis"])
            assert shown["right answer"] != shown["answer"]


def test_the_figures(files: dict[str, Path]) -> None:
    found = StressSource.read(list(files.values()))
    chart = stress_chart(found.profiles, "stress")
    _, hints = chart.draw(PAPER)
    texts = list(hints.values())
    n_tests = sum(len(each.accuracies) for each in found.profiles)
    assert len(texts) == n_tests
    for profile in found.profiles:
        for name, share in profile.accuracies.items():
            assert share.share is not None
            start = f"{profile.name}, {name}: {100 * share.share:.1f}% of {share.n}"
            assert sum(text.startswith(start) for text in texts) == 1
            assert f"{name} {100 * share.share:.1f}%" in chart.summary
    groups = group_chart(found.profiles[0], "groups")
    assert groups is not None
    _, hints = groups.draw(PAPER)
    assert sum("travel, original: " in text for text in hints.values()) == 1
    without = ie.stress(steady, FRAME, suite={"no": "negation"}, label_names=LABELS)
    assert group_chart(without, "groups") is None


@pytest.mark.slow
def test_the_page_of_several_models(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    arguments = ["report", *map(str, files.values()), "--out", str(page)]
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--paper", str(tmp_path / "paper")])
    assert stop.value.code in {0, None}
    assert "2 files of stress tests" in capsys.readouterr().out
    html = page.read_text()
    assert "<title>Stress tests</title>" in html
    found = StressSource.read(list(files.values()))
    data = json.loads(re.search(r'id="report-data">(.*?)</script>', html, re.DOTALL)[1])  # type: ignore[index]
    assert [each["model"] for each in data["stress"]["profiles"]] == ["distracted", "steady"]
    table = side_by_side(found.profiles)
    assert [row[0] for row in table.rows][:2] == ["original", "antonym"]
    for profile in found.profiles:
        assert escape(say_stress(profile)[1], quote=False) in html
    assert "<b>" not in html
    assert "park &lt;b&gt;" in html
    written = {path.name for path in (tmp_path / "paper").rglob("*")}
    assert {"stress.csv", "stress-2.tex", "stress-models.md", "stress.pdf"} <= written
    assert html == build_page(gather(found))


def test_a_page_beside_other_predictions(files: dict[str, Path], tmp_path: Path) -> None:
    evaluation = ie.evaluate(steady, FRAME, phi="negation", label_names=LABELS)
    evaluation.predictions.write(tmp_path / "evaluation.parquet")
    assert not StressSource.recognises(tmp_path / "evaluation.parquet")
    with pytest.raises(SystemExit) as stop:
        main(
            [
                "report",
                str(files["steady"]),
                str(tmp_path / "evaluation.parquet"),
                "--out",
                str(tmp_path / "r.html"),
            ]
        )
    assert stop.value.code in {0, None}
    html = (tmp_path / "r.html").read_text()
    assert 'id="stress"' in html
    assert 'id="versions"' in html
    with pytest.raises(InputError, match="holds no answers to stress tests"):
        StressSource.read([tmp_path / "evaluation.parquet"])


@pytest.mark.browser
def test_axe_finds_nothing(files: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(build_page(gather(StressSource.read(list(files.values())))))
    check_accessibility(path.as_uri())
