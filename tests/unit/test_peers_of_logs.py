"""The same logs, read by other tools: right and wrong answers, and what docs/statistics.md says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ietest_fast as ie

pytestmark = pytest.mark.peer

LOGS = Path(__file__).parents[1] / "data" / "logs"
VERSIONS = ("original", "rephrased")


def outcomes(*logs: Path) -> list[list[float]]:
    """Right (1) or wrong (0), item by item, of both versions of a pair of logs."""
    pairs = ie.read_predictions(*logs).pairs("transformed").sample
    return [
        np.asarray(c, float).tolist() for c in (pairs.original_correct, pairs.transformed_correct)
    ]


def lm_eval_logs(stem: str) -> list[Path]:
    return [LOGS / f"samples_{stem}_{version}.jsonl" for version in VERSIONS]


@pytest.mark.parametrize(("stem", "metric"), [("nli", "acc"), ("nli_said", "exact_match")])
def test_lm_eval_logs_hold_the_same_outcomes_for_everybody(stem: str, metric: str) -> None:
    deltagate = pytest.importorskip("deltagate.adapters")
    evalsig = pytest.importorskip("evalsig.io.lm_eval")
    evalci = pytest.importorskip("evalci.adapters.lm_eval_harness")
    logs = lm_eval_logs(stem)
    expected = outcomes(*logs)
    for log, ours in zip(logs, expected, strict=True):
        assert list(deltagate.LMEvalHarnessAdapter(metric=metric).load(log).values()) == ours
        frame = evalsig.read_lm_eval_json(log, model_id="m", task_id="t", metric_name=metric)
        assert [item.score for item in frame.items] == ours
        assert evalci.load(log)["score"].tolist() == ours


def test_an_inspect_log_in_json_holds_the_same_outcomes_for_deltagate() -> None:
    deltagate = pytest.importorskip("deltagate.adapters")
    logs = [LOGS / f"inspect_{version}.json" for version in VERSIONS]
    for log, ours in zip(logs, outcomes(*logs), strict=True):
        assert list(deltagate.InspectLogAdapter().load(log).values()) == ours


def test_what_others_make_of_logs_that_we_read() -> None:
    """Of the pinned versions; a failure here means that a newer one has changed."""
    deltagate = pytest.importorskip("deltagate.adapters")
    evalsig = pytest.importorskip("evalsig.io.inspect_log")
    helm = pytest.importorskip("evalsig.io.helm")
    with pytest.raises(NotImplementedError, match="compression"):
        deltagate.InspectLogAdapter().load(LOGS / "inspect_original.eval")
    with pytest.raises(ValueError, match="no items decoded"):
        evalsig.read_inspect_log(LOGS / "inspect_original.json")
    state = LOGS / "scenario_state.json"
    requests: list[dict[str, Any]] = json.loads(state.read_text())["request_states"]
    items = helm.read_helm_scenario(state).items
    # Whether the model answered, not whether it was right.
    assert [i.score for i in items] == [float(r["result"]["success"]) for r in requests]
    correct = ie.read_predictions(state).correct
    assert correct is not None
    assert not np.all(correct)
