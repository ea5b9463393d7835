"""Write docs/results.schema.json, the JSON Schema of the results of runs.

``python tools/make_results_schema.py`` writes it; a test says if it has to be written again.
"""

from __future__ import annotations

import json
from pathlib import Path

from ietest_fast.experiment.schema import RESULTS_FORMAT, RunResult

TARGET = Path(__file__).parent.parent / "docs" / "results.schema.json"


def make_schema() -> str:
    """Return the schema as text."""
    schema = RunResult.model_json_schema(mode="serialization")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Results of a run of ietest-fast (results.json, format {RESULTS_FORMAT})",
    }
    return json.dumps(head | {k: v for k, v in schema.items() if k not in head}, indent=1) + "\n"


if __name__ == "__main__":
    TARGET.write_text(make_schema(), encoding="utf-8")
