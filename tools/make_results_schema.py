"""Write docs/results.schema.json, the JSON Schema of the results of runs.

``python tools/make_results_schema.py`` writes it; a test says if it has to be written again.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import ietest_fast.experiment.schema
from ietest_fast.experiment.schema import RESULTS_FORMAT, RunResult

TARGET = Path(__file__).parent.parent / "docs" / "results.schema.json"


def read_field_docs() -> dict[str, dict[str, str]]:
    """Return what stands under the fields of each class, which says it of those above as well."""
    found: dict[str, dict[str, str]] = {}
    folder = Path(ietest_fast.experiment.schema.__file__).parent
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if not isinstance(node, ast.ClassDef):
                continue
            waiting: list[str] = []
            for each in node.body:
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                    waiting.append(each.target.id)
                elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                    said = " ".join(str(each.value.value).split())
                    found.setdefault(node.name, {}).update(dict.fromkeys(waiting, said))
                    waiting = []
    return found


def make_schema() -> str:
    """Return the schema as text."""
    schema = RunResult.model_json_schema(mode="serialization")
    docs = read_field_docs()
    parts: dict[str, Any] = schema["$defs"] | {RunResult.__name__: schema}
    for name, part in parts.items():
        for field, said in docs.get(name, {}).items():
            part["properties"][field]["description"] = said
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Results of a run of ietest-fast (results.json, format {RESULTS_FORMAT})",
    }
    return json.dumps(head | {k: v for k, v in schema.items() if k not in head}, indent=1) + "\n"


if __name__ == "__main__":
    TARGET.write_text(make_schema(), encoding="utf-8")
