"""Files that 0.1.0 wrote before analyses moved into rooms of their own are still read."""

from __future__ import annotations

import json
import math
import tarfile
from pathlib import Path
from typing import Any

import pytest

from command_line import run_here
from golden.make_written_files import READS, RUN
from ietest_fast.errors import StoreError
from ietest_fast.experiment.results import read_results

WRITTEN = Path(__file__).parents[1] / "golden" / "written_files.tar.gz"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    with tarfile.open(WRITTEN) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # of Python 3.11.4
        archive.extractall(tmp_path)
    return tmp_path


# What is decided otherwise now: all claims of a verdict share alpha.
DECIDED = {
    "p_adjusted",
    "p_difference",
    "differs",
    "verdict",
    "reject",
    "n_to_decide",
    "explanation",
}
# What has another law now, which results of format 3 are given when they are read.
RENEWED = {"format", "algorithm", "algorithm_p_adjusted"}
# Measures of consistency, whose intervals have another law than those that were written.
MEASURED = ("accuracy", "agreement", "between", "confidence", "flip_rate", "lower", "p_c", "pvap")
MEASURED += ("vap",)


def is_renewed(key: str) -> bool:
    """Whether a number is no longer found as it was in the files."""
    of_interval = key.startswith(MEASURED) and key.endswith(("_interval", "_method"))
    return key in RENEWED or of_interval


def find_difference(found: Any, expected: Any, place: str = "") -> str | None:
    """Return the first place where two JSON values differ by more than rounding."""
    if place.endswith(".symmetry.labels"):  # which had numbers for names
        return None if isinstance(found, list) and len(found) == len(expected) else place
    if isinstance(expected, dict):
        told = {key for key in expected.keys() - DECIDED if not is_renewed(key)}
        if not isinstance(found, dict) or not found.keys() >= told:
            return f"{place}: {found!r}, not {expected!r}"
        pairs = [(f"{place}.{key}", found[key], expected[key]) for key in sorted(told)]
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        pairs = [
            (f"{place}[{i}]", *each) for i, each in enumerate(zip(found, expected, strict=True))
        ]
    else:
        is_near = isinstance(expected, float) and isinstance(found, float)
        is_near = is_near and math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-300)
        return None if is_near or found == expected else f"{place}: {found!r}, not {expected!r}"
    return next((said for name, *pair in pairs if (said := find_difference(*pair, name))), None)


@pytest.mark.parametrize("name", READS)
def test_answers_give_the_same_numbers(name: str, written: Path) -> None:
    expected = json.loads((written / "said.json").read_text())[name]
    status, out, err = run_here(*READS[name], folder=written)
    assert (status, err) == (0, "")
    assert find_difference(json.loads(out), expected) is None


def test_results_of_the_format_before_are_read(written: Path) -> None:
    path = written / "run" / "results.json"
    before = json.loads(path.read_text())
    assert before["format"] == 3
    found = read_results(written / "run").to_dict()
    assert find_difference(found, before) is None
    for own, earlier in zip(found["conditions"], before["conditions"], strict=True):
        for rho, was in zip(own["rhos"], earlier["rhos"], strict=True):
            now, then = rho["algorithm"], was["algorithm"]
            same = ("delta", "standard_error", "t", "sd_classifiers", "prediction_error")
            assert [now[name] for name in same] == pytest.approx([then[name] for name in same])
            assert now["p_value"] > then["p_value"]
    before["conditions"][0]["rhos"][0]["algorithm"]["sd_residual"] = 0.9
    path.write_text(json.dumps(before))
    with pytest.raises(StoreError, match=r"algorithm\.standard_error"):
        read_results(written / "run")


@pytest.mark.slow
def test_a_run_is_concluded_again_without_training(written: Path) -> None:
    expected = json.loads((written / "said.json").read_text())["run"]
    cells = sorted((written / "run" / "cells").iterdir())
    before = [cell.stat().st_mtime_ns for cell in cells]
    status, out, err = run_here(*RUN, folder=written)
    assert (status, err) == (0, "")
    assert find_difference(json.loads(out), expected) is None
    assert sorted((written / "run" / "cells").iterdir()) == cells
    assert [cell.stat().st_mtime_ns for cell in cells] == before


def test_a_difference_is_found() -> None:
    assert find_difference({"a": [1.0, {"b": 2}]}, {"a": [1.0 + 1e-12, {"b": 2}]}) is None
    assert find_difference({"a": [1.0, {"b": 2}]}, {"a": [1.0, {"b": 3}]}) == ".a[1].b: 2, not 3"
    assert find_difference({"a": 1.0}, {"a": 1.001}) == ".a: 1.0, not 1.001"
    assert find_difference([1], [1, 2]) == ": [1], not [1, 2]"
