"""The schema in the docs is that of the classes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_schema_in_the_docs_is_current():
    path = ROOT / "tools" / "make_results_schema.py"
    spec = importlib.util.spec_from_file_location("make_results_schema", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    again = "run python tools/make_results_schema.py"
    assert (ROOT / "docs" / "results.schema.json").read_text() == module.make_schema(), again


def test_the_schema_names_what_is_derived():
    schema = json.loads((ROOT / "docs" / "results.schema.json").read_text())
    rho = schema["$defs"]["RhoResult"]
    assert {"p_min", "threshold", "reject", "verdict", "accuracy_original"} <= set(rho["required"])
