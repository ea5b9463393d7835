"""A transformation in a package of somebody else works by its name, everywhere, as the own do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

pytest.importorskip("onnx", reason="makes the model that is tested")

from tiny_models import LABELS, make_onnx_folder

pytestmark = pytest.mark.slow

MODULE = '''
"""Shouts, and denies."""

import numpy as np
import pyarrow as pa
from pydantic import Field

from ietest_fast.transform import (
    EDIT_SCHEMA,
    BaseTransformation,
    PhiOptions,
    PlannedTransformation,
    TransformationKind,
    Transformed,
)


class Shouting(BaseTransformation):
    """Writes a word in capitals, wherever it stands between blanks."""

    name = "acme.shouting"

    def __init__(self, word):
        self.word = word

    def describe(self):
        return {"name": self.name, "options": {"word": self.word}}

    def transform_table(self, table, text_columns, *, with_edits, n_threads):
        changed, edits = np.zeros(table.num_rows, np.bool_), []
        for name in text_columns:
            new = []
            for row, text in enumerate(table[name].to_pylist()):
                words, at = [], 0
                for word in text.split(" "):
                    loud = f"{word.upper()}!" if word == self.word else word
                    if loud != word:
                        changed[row] = True
                        end = at + len(word.encode())
                        edits.append((row, name, at, end, word, loud, "shout"))
                    words.append(loud)
                    at += len(word.encode()) + 1
                new.append(" ".join(words))
            place = table.schema.get_field_index(name)
            table = table.set_column(place, name, pa.array(new, pa.large_string()))
        names = EDIT_SCHEMA.names
        made = [dict(zip(names, edit, strict=True)) for edit in edits]
        plain = pa.schema([(f.name, getattr(f.type, "value_type", f.type)) for f in EDIT_SCHEMA])
        listed = pa.Table.from_pylist(made, schema=plain).cast(EDIT_SCHEMA)
        return Transformed(table=table, changed=changed, edits=listed if with_edits else None)


class ShoutingOptions(PhiOptions):
    word: str = Field("is", description="the word to shout")


def plan_shouting(options):
    phi = Shouting(options.word)
    return PlannedTransformation(
        name=phi.name,
        fingerprint=phi.fingerprint,
        options=options.model_dump(),
        builder=lambda material: phi,
    )


class Denial(BaseTransformation):
    """Denies every premise: new pairs, all of them contradictions."""

    name = "acme.denial"
    keeps_labels = False

    def transform_table(self, table, text_columns, *, with_edits, n_threads):
        premise, hypothesis = text_columns
        denied = [f"It is false that {text}" for text in table[premise].to_pylist()]
        place = table.schema.get_field_index(hypothesis)
        new = table.set_column(place, hypothesis, pa.array(denied, pa.large_string()))
        n = table.num_rows
        return Transformed(
            table=new,
            changed=np.ones(n, np.bool_),
            edits=EDIT_SCHEMA.empty_table() if with_edits else None,
            labels=pa.array(["contradiction"] * n),
        )


def plan_denial(options):
    phi = Denial()
    return PlannedTransformation(
        name=phi.name,
        fingerprint=phi.fingerprint,
        options={},
        builder=lambda material: phi,
        keeps_labels=False,
    )


SHOUTING = TransformationKind(
    name="acme.shouting", summary="shouts a word", options=ShoutingOptions, plan=plan_shouting
)
DENIAL = TransformationKind(
    name="acme.denial", summary="denies the premise", options=PhiOptions, plan=plan_denial
)
'''

ENTRY_POINTS = """
[ietest_fast.transformations]
acme.shouting = acme_texts:SHOUTING
acme.denial = acme_texts:DENIAL
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package that pip would have put there, a model, and labelled texts."""
    folder = tmp_path_factory.mktemp("acme")
    site = folder / "site"
    info = site / "acme_texts-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "acme_texts.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-texts\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    make_onnx_folder(folder / "model", seed=1)  # which gets denials wrong
    rows = [
        ("A dog is in the park.", "The dog is big.", "neutral"),
        ("A man sleeps on the sofa.", "A man is on the sofa.", "entailment"),
        ("A boy runs.", "Nobody runs.", "contradiction"),
    ] * 4
    columns = dict(zip(("premise", "hypothesis", "label"), zip(*rows, strict=True), strict=True))
    pacsv.write_csv(pa.table({name: list(own) for name, own in columns.items()}), folder / "t.csv")
    return folder


def command(folder: Path, *arguments: str, installed: bool = True) -> tuple[int, str, str]:
    env = {**os.environ, "PYTHONPATH": str(folder / "site")} if installed else dict(os.environ)
    code = "from ietest_fast.cli.main import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return found.returncode, found.stdout, found.stderr


def test_transform(folder: Path) -> None:
    status, said, err = command(folder, "transform", "--list")
    assert (status, err) == (0, "")
    assert "acme.shouting" in said
    assert "the word to shout" in said
    asked = ("transform", "t.csv", "loud.csv", "--phi", "acme.shouting", "--edits", "edits.csv")
    status, said, err = command(folder, *asked)
    assert (status, err) == (0, "")
    loud = pacsv.read_csv(folder / "loud.csv")
    wanted = ["A dog IS! in the park.", "A man sleeps on the sofa."]
    assert loud["premise"].to_pylist()[:2] == wanted
    assert set(pacsv.read_csv(folder / "edits.csv")["rule"].to_pylist()) == {"shout"}
    asked = ("transform", "t.csv", "both.csv", "--phi", "acme.shouting:word=on+syn.careful")
    status, _, err = command(folder, *asked)
    assert status == 0, err
    assert "A guy sleeps ON! the sofa." in (folder / "both.csv").read_text()
    status, _, err = command(folder, "transform", "t.csv", "denied.csv", "--phi", "acme.denial")
    assert status == 0, err
    denied = pacsv.read_csv(folder / "denied.csv")
    assert denied["label"].unique().to_pylist() == ["contradiction"]
    assert denied["hypothesis"][0].as_py() == "It is false that A dog is in the park."


def test_without_the_package_there_is_no_such_name(folder: Path) -> None:
    status, said, err = command(
        folder, "transform", "t.csv", "no.csv", "--phi", "acme.shouting", installed=False
    )
    assert (status, said) == (1, "")
    assert "acme.shouting" in err


def test_run_and_its_report(folder: Path) -> None:
    asked = ("run", "--demo", "--demo-sizes", "300,60,120", "--phi", "acme.shouting", "-M", "2")
    asked += ("--rho", "0,1", "--search", "table7-snli", "--out", "run")
    status, said, err = command(folder, *asked)
    assert status == 0, said + err
    results = json.loads((folder / "run" / "results.json").read_text())
    (described,) = results["transformations"]
    assert described["name"] == "acme.shouting"
    assert described["settings"]["options"] == {"word": "is"}
    assert set(described["test_edits"]) == {"shout"}
    status, _, err = command(folder, "report", "run")
    assert status == 0, err
    page = (folder / "run" / "report.html").read_text()
    assert "acme.shouting" in page
    assert "is → is!" in page


def test_run_refuses_what_sets_labels(folder: Path) -> None:
    asked = ("run", "--demo", "--demo-sizes", "300,60,120", "--phi", "acme.denial", "--out", "no")
    status, _, err = command(folder, *asked)
    assert status == 1
    assert "acme.denial" in err
    assert not (folder / "no").exists()


def test_stress_and_its_report(folder: Path) -> None:
    (folder / "suite.toml").write_text(
        '[tests]\n"loud on" = "acme.shouting:word=on"\nspelling = "spelling"\n'
    )
    asked = ("stress", "--onnx", "model", "--test", "t.csv", "--suite", "suite.toml")
    asked += ("--with", "acme.shouting,acme.denial", "--out", "answers.parquet", "--json")
    status, said, err = command(folder, *asked, "--runtime", "onnxruntime")
    assert (status, err) == (0, "")
    (profile,) = json.loads(said)["profiles"]
    tests = {test["test"]: test for test in profile["tests"]}
    assert list(tests) == ["original", "loud on", "spelling", "acme.shouting", "acme.denial"]
    assert tests["acme.shouting"]["keeps_labels"]
    assert tests["acme.shouting"]["changed"] == 8
    assert tests["acme.shouting"]["by_kind"]["shout"]["accuracy_n"] == 8
    assert set(tests["acme.shouting"]["by_word"]) == {"function"}
    assert not tests["acme.denial"]["keeps_labels"]
    gold = [sum(row) for row in tests["acme.denial"]["confusion"]]
    assert gold == [12 * (label == "contradiction") for label in LABELS]
    # What is answered can be shown without the package: the answers say all that is needed.
    status, _, err = command(
        folder, "report", "answers.parquet", "--out", "s.html", installed=False
    )
    assert status == 0, err
    page = (folder / "s.html").read_text()
    for name in ("loud on", "acme.shouting", "acme.denial", "It is false that A man"):
        assert name in page
    rules = pq.read_table(folder / "answers.parquet")["rule"].unique().to_pylist()
    assert "shout" in rules
