"""Small logs of harnesses, and what is read from a pair of them."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ietest_fast.answers.logs import ReadLogs


def sample(name: object, value: object, *, asked: object = None, **more: Any) -> dict[str, Any]:
    """A sample of Inspect with the score of one scorer, or with several by name."""
    scores = value if isinstance(value, dict) and "scores" in value else {"scores": {"own": value}}
    return {
        "id": name,
        "epoch": 1,
        "input": f"Question {name}?" if asked is None else asked,
        "target": "yes",
        "scores": {
            scorer: {"value": each, "answer": "no" if each in ("I", "no", 0) else "yes"}
            for scorer, each in scores["scores"].items()
        },
    } | more


def inspect_log(path: Path, samples: Sequence[dict[str, Any]], *, model: str = "m") -> Path:
    """Write a log: one JSON, or a zip with a member for each sample, repeated ones included."""
    header = {"eval": {"eval_id": "e", "task": path.stem, "model": model}}
    if path.suffix == ".json":
        path.write_text(json.dumps(header | {"samples": list(samples)}))
        return path
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name twice, as a sample that was scored again has
        archive.writestr("header.json", json.dumps(header))
        for each in samples:
            name = f"samples/{each['id']}_epoch_{each['epoch']}.json"
            archive.writestr(name, json.dumps(each))
    return path


def reword(asked: Any) -> Any:
    return json.loads(json.dumps(asked).replace("Question", "Reworded question"))


def pair(folder: Path, first: Sequence[Any], second: Sequence[Any]) -> list[Path]:
    """Logs of two versions with these scores."""
    return [
        inspect_log(folder / "o.json", [sample(i, value) for i, value in enumerate(first)]),
        inspect_log(
            folder / "r.json",
            [sample(i, value, asked=f"Reworded {i}?") for i, value in enumerate(second)],
        ),
    ]


def counts(read: ReadLogs) -> list[int]:
    predictions = read.predictions
    found = predictions.pairs(predictions.versions[1]).sample.counts
    return [found.n11, found.n10, found.n01, found.n00]
