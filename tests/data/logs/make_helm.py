"""Write scenario_state.json by hand, in the format of HELM's ScenarioState (crfm-helm 0.5).

The fields are those of ``ScenarioState``, ``RequestState``, ``Instance``, ``Reference``,
``PerturbationDescription`` and ``RequestResult`` as HELM serialises its dataclasses; the package
itself is too heavy for a test.
"""

from __future__ import annotations

import json
from pathlib import Path

LABELS = ["entailment", "neutral", "contradiction"]
TYPOS = {
    "name": "typos", "robustness": True, "fairness": False, "computed_on": "perturbed",
    "seed": None, "prob": 0.1,
}  # fmt: skip


def request(
    number: int, label: int, said: str, perturbation: dict[str, object] | None
) -> dict[str, object]:
    """Return one request: what was asked, and what came back."""
    instance: dict[str, object] = {
        "input": {"text": f"Premise {number}. Hypothesis {number}."},
        "references": [
            {"output": {"text": name}, "tags": ["correct"] if i == label else []}
            for i, name in enumerate(LABELS)
        ],
        "split": "test",
        "id": f"id{number}",
    }
    if perturbation is not None:
        instance["perturbation"] = perturbation
    return {
        "instance": instance,
        "request_mode": None,
        "train_trial_index": 0,
        "output_mapping": dict(zip("ABC", LABELS, strict=True)),
        "request": {"model_deployment": "toy/toy", "prompt": f"Premise {number}."},
        "result": {
            "success": True, "embedding": [], "cached": False,
            "completions": [{"text": said, "logprob": -0.1, "tokens": []}],
        },
        "num_train_instances": 0,
        "prompt_truncated": False,
        "num_conditioning_tokens": 0,
    }  # fmt: skip


if __name__ == "__main__":
    state = {
        "adapter_spec": {
            "method": "multiple_choice_joint", "instructions": "", "model_deployment": "toy/toy",
            "model": "toy/toy",
        },
        "request_states": [
            request(0, 0, " A", None), request(1, 1, "B", None), request(2, 2, "A", None),
            request(0, 0, "A", TYPOS), request(1, 1, "C", TYPOS), request(2, 2, "?", TYPOS),
        ],
        "annotator_specs": [],
    }  # fmt: skip
    path = Path(__file__).parent / "scenario_state.json"
    path.write_text(json.dumps(state, indent=2) + "\n")
