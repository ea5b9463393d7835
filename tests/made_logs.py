"""Logs of harnesses, made for tests: what they hold by default, and what a test changes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def harness_log(
    path: Path, answers: dict[str, Sequence[Any]], *, words: str = "Question", **more: Any
) -> Path:
    """A log of lm-evaluation-harness: of each filter, what the metric says of the samples."""
    lines = [
        {
            "doc_id": i,
            "doc": {"q": f"{words} {i}?"},
            "target": "yes",
            "arguments": {"gen_args_0": {"arg_0": f"{words} {i}?", "arg_1": {}}},
            "resps": [["yes" if value == 1 else "no"]],
            "filtered_resps": ["yes" if value == 1 else "no"],
            "filter": name,
            "metrics": ["exact_match"],
            "exact_match": value,
        }
        | {key: value(i) for key, value in more.items()}
        for name, values in answers.items()
        for i, value in enumerate(values)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    if path.name.endswith(".json"):
        text = json.dumps(lines)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def harness_results(path: Path, task: str, **more: Any) -> None:
    """The results beside a log, ``n_shot`` of which is that of the task."""
    said = {"n-shot": {task: more.pop("n_shot", 0)}, "results": {}} | more
    path.write_text(json.dumps(said))


CHOICES = ["warm", "cold", "mild"]


def perturbed(number: int, said: str, **perturbation: Any) -> dict[str, Any]:
    """A request of HELM about an instance whose right answer is A."""
    return {
        "instance": {
            "input": {"text": f"Question {number} {sorted(perturbation.items())}"},
            "references": [
                {"output": {"text": text}, "tags": ["correct"] * (text == "yes")}
                for text in ("yes", "no")
            ],
            "id": f"id{number}",
        }
        | ({"perturbation": perturbation} if perturbation else {}),
        "train_trial_index": 0,
        "output_mapping": {"A": "yes", "B": "no"},
        "result": {"completions": [{"text": said}]},
    }


def helm_log(path: Path, *requests: dict[str, Any]) -> Path:
    about = {"method": "multiple_choice_joint", "model": "m"}
    path.write_text(json.dumps({"adapter_spec": about, "request_states": requests}))
    return path


TEXT = "Question {}?"
