"""Runs that several tests read, and none changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from finished_runs import hostile_splits, make_run
from ietest_fast.experiment.finished import read_runs
from ietest_fast.experiment.view.sections import RunsSource
from ietest_fast.report.contents import gather
from ietest_fast.report.page_builder import build_page
from toys import QUICK


@pytest.fixture(scope="session")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "first")


@pytest.fixture(scope="session")
def second_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same test set, a model that sees the hypothesis only."""
    model = {"name": "bow-xgb", "params": QUICK, "input": "hypothesis"}
    return make_run(tmp_path_factory.mktemp("runs") / "second", model=model)


@pytest.fixture(scope="session")
def other_words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model and test set under another transformation."""
    return make_run(tmp_path_factory.mktemp("runs") / "words", swaps={"waits": "tarries"})


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(
        tmp_path_factory.mktemp("runs") / "<img src=x>", splits=hostile_splits(), rho=[0, 1]
    )


@pytest.fixture(scope="session")
def make_page(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Build the page of some runs, each choice of runs once."""
    pages: dict[tuple[Path, ...], Path] = {}

    def make(*runs: Path) -> Path:
        if runs not in pages:
            path = tmp_path_factory.mktemp("page") / "report.html"
            path.write_text(
                build_page(
                    gather(RunsSource(runs=tuple(read_runs(runs)))), title="A <report> & more"
                )
            )
            pages[runs] = path
        return pages[runs]

    return make
