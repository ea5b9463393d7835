"""Whole runs of models that used to be called alike."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ietest_fast as ie
from ietest_fast.errors import InputError
from ietest_fast.experiment.view.summary import _label_lines, say_condition
from ietest_fast.stats import Verdict
from toys import Swap

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ["no", "perhaps", "yes"]


class Knows:
    """Reads the right answer from the text, and errs as its kind says; it learns nothing."""

    def __init__(self, kind: str = "steady") -> None:
        self.kind = kind

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"kind": self.kind}

    def set_params(self, **params: Any) -> Knows:
        self.kind = params.get("kind", self.kind)
        return self

    def fit(self, texts: Any, labels: Any) -> Knows:
        self.classes_ = np.unique(labels)
        return self

    def predict(self, texts: Any) -> Any:
        return self.classes_[[self._answer(text) for text in texts]]

    def _answer(self, text: str) -> int:
        number, label, word = text.split()
        row, gold = int(number), int(label)
        is_reworded = word == "slumbers"
        wrong = row % 10 in {0, 1, 2, 3}  # four answers of ten
        if self.kind == "steady":
            wrong ^= is_reworded and row % 500 in {7, 12}  # as many right ones as wrong ones
        elif self.kind == "swaps" and is_reworded:
            wrong = row % 10 in {3, 4, 5, 6}
        elif self.kind == "cancels by label" and is_reworded:
            # Labels keep their share of right answers together, and not by themselves.
            wrong |= gold == 0 and row % 100 in {14, 25, 36, 44, 55, 66}
            wrong &= not (gold == 1 and row % 100 in {10, 21, 32, 40, 51, 62})
        elif self.kind == "loses a little" and is_reworded:
            wrong ^= row % 100 in {14, 25} or row % 200 == 10
        elif self.kind == "loses" and is_reworded:
            wrong |= row % 100 in {14, 25, 36, 44, 55, 66, 77, 84, 95}
        other = 2 if self.kind == "wrong to wrong" and is_reworded else 1
        return (gold + other * wrong) % 3


def make_table(n: int, *, every: int = 1) -> pd.DataFrame:
    """Texts that say their number and their label; every so many can be reworded."""
    rows = np.arange(n)
    words = np.where(rows // 100 % every == 0, "sleeps", "waits")
    return pd.DataFrame(
        {
            "text": [f"{row} {row % 3} {word}" for row, word in zip(rows, words, strict=True)],
            "label": [NAMES[row % 3] for row in rows],
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "every", "verdict"),
    [
        ("steady", 1, Verdict.ALIKE),
        ("swaps", 1, Verdict.CHANGES),
        ("cancels by label", 1, Verdict.CHANGES),
        ("wrong to wrong", 1, Verdict.CHANGES),
        ("loses", 20, Verdict.DIFFERS),
    ],
)
def test_only_what_is_shown_to_be_alike_is_called_so(
    tmp_path: Path, kind: str, every: int, verdict: Verdict
) -> None:
    found = ie.run(
        train=make_table(300),
        valid=make_table(60),
        test=make_table(10_000, every=every),
        model=Knows(kind),
        phi=Swap(),
        rho=[0, 1],
        n_classifiers=2,
        out=tmp_path / "run",
    )
    condition = found.results.only
    assert set(condition.verdicts) == {verdict}
    assert condition.alike == (verdict is Verdict.ALIKE)
    assert condition.reject == (verdict is Verdict.DIFFERS)
    if kind == "loses":  # nine points on 5% of the rows
        assert condition.cells[0].is_equivalent
        assert condition.cells[0].reworded is not None
        assert condition.cells[0].reworded.delta == pytest.approx(0.09)
    if kind == "cancels by label":
        for cell in condition.cells:
            assert cell.is_equivalent
            assert cell.reworded is not None
            assert cell.reworded.flips.rate < 0.05
        assert "accuracy falls on no (−6.0) and rises on perhaps (+6.0)" in say_condition(condition)
        assert any("depend on the gold label" in line for line in _label_lines(condition))
    assert condition.verdict is verdict
    assert condition.answer.n_trainings == 1  # both answer alike
    assert (": alike within" in say_condition(condition)) == (verdict is Verdict.ALIKE)


def test_joint_tests_of_the_same_answers_pay_nothing_for_the_number_of_rho(tmp_path: Path) -> None:
    """Clusters are drawn for all rho at once: Holm would double what is the same at both."""
    test = make_table(400).assign(author=lambda frame: frame.index // 2)
    found = ie.run(
        train=make_table(300),
        valid=make_table(60),
        test=test,
        model=Knows("loses a little"),
        phi=Swap(),
        rho=[0, 1],
        n_classifiers=2,
        clusters="author",
        correction="minp",
        out=tmp_path / "run",
    ).results.only
    assert {cell.n_clusters for cell in found.cells} == {200}
    p_values = [cell.p_value for cell in found.cells]
    assert min(p_values) > 0.03  # of many replicates
    first, last = found.over_rho.p_adjusted
    assert first == last == pytest.approx(np.mean(p_values), rel=0.2)


def test_other_strata_are_another_conclusion_from_the_same_cells(tmp_path: Path) -> None:
    test = make_table(3_000).assign(genre=lambda frame: np.where(frame.index % 4, "prose", "verse"))

    def repeat(**options: Any) -> Any:
        return ie.run(
            train=make_table(300),
            valid=make_table(60),
            test=test,
            model=Knows("swaps"),
            phi=Swap(),
            rho=[0],
            n_classifiers=2,
            out=tmp_path / "run",
            **options,
        )

    plain = repeat().results
    assert [each.name for each in plain.only.cells[0].reworded.strata] == ["label"]
    cells = sorted((tmp_path / "run" / "cells").iterdir())
    before = [path.stat().st_mtime_ns for path in cells]
    found = repeat(strata=["genre", "edits"]).results
    assert [path.stat().st_mtime_ns for path in cells] == before
    assert found.settings.strata == ("genre", "edits")
    _, genre, edits = found.only.cells[0].reworded.strata
    assert [each.name for each in genre.strata] == ["prose", "verse"]
    assert sum(each.n for each in genre.strata) == 3_000
    assert [(each.name, each.n) for each in edits.strata] == [("1", 3_000)]
    assert found.only.verdicts == plain.only.verdicts
    with pytest.raises(InputError, match="nothing"):
        repeat(strata=["nothing"])


class Silent(Swap):
    """Tells no edits."""

    def transform(self, *arguments: Any, **options: Any) -> Any:
        return replace(super().transform(*arguments, **options), edits=None)


class Many(Swap):
    """Tells 1, 2, 3, ... edits."""

    def transform(self, table: Any, *arguments: Any, **options: Any) -> Any:
        made = super().transform(table, *arguments, **options)
        rows = np.repeat(np.arange(len(table)), np.arange(len(table)) % 150 + 1)
        edits = pa.table({"row": pa.array(rows), "rule": pa.array(["swap"] * rows.size)})
        return replace(made, edits=None if made.edits is None else edits)


class Learns(Knows):
    """Must not be trained."""

    def fit(self, texts: Any, labels: Any) -> Knows:
        raise AssertionError


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        (Silent(), "^the transformation swap tells no edits, by which a run shows"),
        (Many(), "^strata: of the transformation swap, edits has 150 different values"),
    ],
)
def test_edits_that_cannot_be_strata_are_named_before_training(
    tmp_path: Path, phi: Swap, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        ie.run(
            train=make_table(300),
            valid=make_table(60),
            test=make_table(300),
            model=Learns(),
            phi=phi,
            rho=[0],
            n_classifiers=1,
            strata=["edits"],
            out=tmp_path / "run",
        )
