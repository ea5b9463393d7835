"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of papers' numbers and real sentence pairs; not part of the project."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("IETEST_SHARED", beside))
    if not folder.is_dir():
        pytest.skip(f"needs the reference data, absent here: {folder}")
    return folder
