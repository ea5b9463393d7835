"""What README, docs/python.md and the notebook show of Python runs as it stands there."""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ietest_fast as ie
from ietest_fast.corpus import demo_splits

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs").glob("*.ipynb"))


def blocks_of(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def frames() -> dict[str, pd.DataFrame]:
    """The demonstration corpus, a text each."""
    made = {}
    sizes = {"n_train": 120, "n_valid": 30, "n_test": 60}
    for name, corpus in zip(("train", "valid", "test"), demo_splits(**sizes, seed=0), strict=True):
        frame = corpus.table.to_pandas()
        label = [corpus.label_names[code] for code in frame["label"]]
        made[name] = pd.DataFrame(
            {"text": frame["premise"] + " " + frame["hypothesis"], "label": label}
        )
    return made


def pairs() -> dict[str, pd.DataFrame]:
    """The demonstration corpus, two texts each, and a genre."""
    made = {}
    for name, corpus in zip(("train", "valid", "test"), demo_splits(120, 30, 60), strict=True):
        frame = corpus.table.to_pandas()
        genres = ["letters" if i % 2 else "travel" for i in range(len(frame))]
        made[name] = frame.assign(
            label=[corpus.label_names[code] for code in frame["label"]], genre=genres
        )
    return made


@pytest.fixture
def _in_a_folder_with_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import matplotlib.pyplot as plt

    for name, frame in frames().items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    for name, frame in pairs().items():
        frame.to_csv(tmp_path / f"{name}_pairs.csv", index=False)
    pd.DataFrame({"label": ["a", "b"], "original": ["a", "b"], "transformed": ["a", "a"]}).to_csv(
        tmp_path / "predictions.csv", index=False
    )
    (tmp_path / "swaps.csv").write_text("old,new\nis,was\nare,were\n")
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("agg")
    yield
    plt.close("all")


def by_length(texts: list[str]) -> list[str]:
    names = ("entailment", "neutral", "contradiction")
    return [names[len(text) % 3] for text in texts]


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_what_pages_import_is_there(page: Path) -> None:
    for block in blocks_of(page):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("ietest_fast"):
                module = importlib.import_module(str(node.module))
                for name in node.names:
                    assert hasattr(module, name.name), f"{node.module} has no {name.name}"


def test_the_readme_has_at_most_900_words() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900


def test_the_readme_tests_a_classifier_in_five_lines(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks_of(ROOT / "README.md")
    assert len([line for line in block.splitlines() if line.strip()]) <= 5
    exec(compile(block, "README.md", "exec"), {})
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = text.partition(block)[2].split("```")[2].strip("\n").splitlines()
    assert printed == shown


@pytest.mark.peer
def test_a_pipeline_of_scikit_learn_is_evaluated() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    train = frames()["train"]
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    result = ie.evaluate(pipeline.fit(train["text"], train["label"]), frames()["test"])
    assert result.evaluation.backend.startswith("scikit-learn")


@pytest.mark.slow
@pytest.mark.usefixtures("_in_a_folder_with_data")
def test_the_page_runs_from_top_to_bottom() -> None:
    names: dict[str, Any] = {}
    for block in blocks_of(ROOT / "docs" / "python.md"):
        exec(compile(block, "docs/python.md", "exec"), names)
    assert len(names["run"].to_frame()) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_kept_without_their_outputs(path: Path) -> None:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of the packages that talk to the notebook's process
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_run(path: Path, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    shown = [
        output["data"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "data" in output
    ]
    assert [each["text/plain"] for each in shown].count("True") == 2  # two ways, the same p-value
    assert any("image/png" in each for each in shown)
    assert any("syn.careful</td>" in each.get("text/html", "") for each in shown)
