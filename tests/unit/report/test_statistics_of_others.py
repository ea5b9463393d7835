"""A statistic of eval that another package adds: the one that CONTRIBUTING.md shows."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ietest_fast as ie
from ietest_fast.analyses.compare.profile import compare_versions
from ietest_fast.analyses.compare.statistic import STATISTICS
from ietest_fast.answers.table import Predictions
from ietest_fast.cli.main import main

GUIDE = Path(__file__).parents[3] / "CONTRIBUTING.md"
N = 120
GOLD = np.arange(N) % 2
RIGHT = np.array([np.arange(N) % 5 > 0, np.arange(N) % 7 > 0])
NAMES = np.array(["no", "yes"])


def yules_q(a, b):
    """The definition, text by text."""
    same = (a & b).sum() * (~a & ~b).sum()
    other = (a & ~b).sum() * (~a & b).sum()
    return (same - other) / (same + other)


Q = yules_q(*RIGHT)


SOURCE = re.search(r"<!-- statistic -->\n```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)


@pytest.fixture
def yule(tmp_path, monkeypatch):
    """The package of the guide, installed on the path."""
    assert SOURCE
    install(tmp_path, monkeypatch, "yule", SOURCE[1])


def install(tmp_path, monkeypatch, name, source):
    site = tmp_path / "site"
    info = site / "their_yule-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "their_yule.py").write_text(source)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-yule\nVersion: 1.0\n")
    points = f"[ietest_fast.statistics]\n{name} = their_yule:YulesQ\n"
    (info / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "their_yule", raising=False)
    importlib.invalidate_caches()


@pytest.fixture
def answers(tmp_path):
    """Answers to two versions of some texts, in a long table."""
    path = tmp_path / "answers.csv"
    pd.concat(
        pd.DataFrame(
            {
                "item": np.arange(N),
                "version": name,
                "gold": NAMES[GOLD],
                "predicted": NAMES[np.where(right, GOLD, 1 - GOLD)],
                "changed": name != "original",
            }
        )
        for name, right in zip(("original", "reworded"), RIGHT, strict=True)
    ).to_csv(path, index=False)
    return str(path)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    found = capsys.readouterr()
    assert not stop.value.code, found.err
    return found.out


@pytest.mark.usefixtures("yule")
@pytest.mark.parametrize("command", ["eval", "test"])
def test_the_commands_show_it(command, answers, capsys):
    assert "yule" in STATISTICS.names()
    out = run(capsys, command, answers)
    assert re.search(rf"Yule's Q\nQ +{Q:.4f}", out)
    found = json.loads(run(capsys, command, answers, "--json"))
    assert found["yule"] == {"q": pytest.approx(Q)}
    assert (found["strata"], found["dose"]) == ([], None)


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        ("reject", {}, r"'reject' of their-yule 1\.0 has the name of a number of the paired"),
        ("yule", {"n.n00": "n.n22"}, r"'yule' of their-yule 1\.0 failed.*: AttributeError"),
    ],
)
def test_mistakes_of_other_packages_are_theirs(name, damage, said, request, capsys):
    source = SOURCE[1]
    for old, new in damage.items():
        source = source.replace(old, new)
    fixtures = map(request.getfixturevalue, ("tmp_path", "monkeypatch"))
    install(*fixtures, name, source)
    answers = request.getfixturevalue("answers")
    with pytest.raises(SystemExit) as stop:
        main(["eval", answers, "--json"])
    assert stop.value.code == 1
    assert re.search(said, capsys.readouterr().err)


def test_numbers_of_numpy_are_numbers(answers, tmp_path, monkeypatch, capsys):
    source = SOURCE[1].replace("n = texts", "import numpy as np\n        n = texts")
    source = source.replace("q=(same - other)", "q=np.float64(same - other)")
    install(tmp_path, monkeypatch, "yule", source)
    assert json.loads(run(capsys, "eval", answers, "--json"))["yule"]["q"] == pytest.approx(Q)
    (test,) = compare_versions(
        Predictions.from_table(pa.Table.from_pandas(pd.read_csv(answers)))
    ).tests
    assert test.cells()["yule_q"] == pytest.approx(Q)
    (table,) = test.statistics["yule"].tables("x")
    assert table.columns[0].kind == "number"


@pytest.mark.usefixtures("yule")
def test_columns_of_outcomes_have_it(tmp_path, capsys):
    path = tmp_path / "outcomes.csv"
    pd.DataFrame(dict(zip("AB", RIGHT.astype(int), strict=True))).to_csv(path, index=False)
    assert f"{Q:.4f}" in run(capsys, "test", str(path))
    assert json.loads(run(capsys, "test", str(path), "--json"))["yule"]["q"] == pytest.approx(Q)
    counts = run(capsys, "test", "--counts", "9,3,1,9", "--json")
    assert json.loads(counts)["yule"] is None


@pytest.mark.usefixtures("yule")
def test_results_of_python_have_it():
    texts = np.array([f"text {i}" for i in range(N)])
    answers = {
        text: NAMES[label if right else 1 - label]
        for start, rights in zip(("", "so "), RIGHT, strict=True)
        for text, label, right in zip(np.char.add(start, texts), GOLD, rights, strict=True)
    }
    data = pd.DataFrame({"text": texts, "label": NAMES[GOLD]})
    found = ie.evaluate(
        lambda own: [answers[text] for text in own],
        data,
        transformed=data.assign(text=np.char.add("so ", texts)),
    )
    assert found.to_dict()["comparisons"][0]["yule"]["q"] == pytest.approx(Q)
    assert found.to_frame()["yule_q"][0] == pytest.approx(Q)


@pytest.mark.usefixtures("yule")
def test_page_and_paper_have_it(tmp_path, answers, capsys):
    page, paper = tmp_path / "page.html", tmp_path / "paper"
    run(capsys, "report", answers, "--out", str(page), "--paper", str(paper))
    text = page.read_text()
    assert "Yule&#39;s Q: answers, reworded" in text
    assert f"{Q:.4f}".replace("-", "−") in text
    table = pd.read_csv(paper / "tables" / "yule-s-q.csv")
    assert table["q"][0] == pytest.approx(Q)
    assert f"{abs(Q):.4f}" in (paper / "tables" / "yule-s-q.tex").read_text()


@pytest.mark.usefixtures("yule")
def test_what_has_no_value_is_left_out(answers):
    table = pd.read_csv(answers)
    table["predicted"] = table["gold"]
    (test,) = compare_versions(Predictions.from_table(pa.Table.from_pandas(table))).tests
    assert test.to_dict()["yule"] is None
    assert "yule_q" not in test.cells()


def test_arguments_that_no_statistic_has_are_refused(answers):
    table = pa.Table.from_pandas(pd.read_csv(answers))
    with pytest.raises(TypeError, match="no statistic has the argument stratum"):
        compare_versions(Predictions.from_table(table), stratum="label")
