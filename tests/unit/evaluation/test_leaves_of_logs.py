"""Whole logs, each value of which is made another one: a change is told, or the value stands alone.

The lists below are all that a harness writes and that is not compared with anything.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from full_logs import (
    LABELS,
    N,
    make_harness,
    make_helm,
    make_inspect,
    write_harness,
    write_helm,
    write_inspect,
)
from ietest_fast.answers.logs import read_logs
from ietest_fast.errors import IetestError

CHANGED_ITEM = 5
Place = tuple[str | int, ...]

OF_NO_RUN = r"""
results\.(git_hash|date|lm_eval_version|task_hashes\..*)
results\.(total_evaluation_time_seconds|fewshot_as_multiturn|group_subtasks\..*)
results\.config\.(batch_size|device|limit|random_seed|fewshot_seed|.*_seed)
results\.results\..*\.alias
results\.configs\.task1\.(dataset_path|dataset_kwargs\..*|test_split|doc_to_text|doc_to_target)
results\.configs\.task1\.(fewshot_delimiter|should_decontaminate|generation_kwargs\.max_gen_toks)
samples\.\d\.metrics\.\d
"""
ALONE = {
    "generated": OF_NO_RUN
    + r"""
samples\.\d\.arguments\.gen_args_0\.arg_1\.max_gen_toks
samples\.\d\.resps\.\d\.\d
""",
    # Options of answers that are generated, and the prompts of the other choices.
    "choices": OF_NO_RUN
    + r"""
results\.configs\.task1\.generation_kwargs\..*
samples\.\d\.arguments\.gen_args_[12]\.arg_0
samples\.\d\.arguments\.gen_args_[012]\.arg_1
samples\.\d\.(filtered_resps\.\d|resps\.\d\.0)\.1
""",
    "inspect": r"""
version
eval\.(eval_id|created|task|task_version|dataset\.(name|samples|shuffled)|packages\..*)
eval\.config\.(epochs_reducer\.\d|limit)
eval\.scorers\.\d\.(name|metrics\.\d\.name)
plan\.(name|steps\.\d\.params\.cache)
results\.scores\.\d\.(name|scorer|metrics\..*\.(name|params))
stats\..*
samples\.\d\.messages\.\d\.(id|role)
samples\.\d\.output\.(usage\..*|time|choices\.\d\.(stop_reason|message\.(id|role)))
samples\.\d\.(scores\.match\.explanation|model_usage\..*|started_at|total_time|uuid)
reductions\.\d\.(scorer|samples\.\d\.sample_id)
""",
    "helm": r"""
run_spec\.name
scenario_state\.request_states\.\d\.instance\.(id|split|references\.\d\.tags)
scenario_state\.request_states\.\d\.(request\.prompt|result\.(completions\.\d\.logprob|cached|request_time))
(stats|per_instance_stats\.\d\.stats)\.\d\.(count|name\.(name|split))
per_instance_stats\.\d\.(instance_id|train_trial_index)
""",
}
MADE: dict[str, tuple[Callable[[], Any], Callable[[Any, Path], list[Path]]]] = {
    "generated": (lambda: make_harness(is_choice=False), write_harness),
    "choices": (lambda: make_harness(is_choice=True), write_harness),
    "inspect": (make_inspect, write_inspect),
    "helm": (make_helm, write_helm),
}


def list_leaves(value: Any, place: Place = ()) -> Iterator[Place]:
    """Values that are neither objects nor lists, or are empty; of many items, those of one."""
    if isinstance(value, dict) and value:
        for name, own in value.items():
            yield from list_leaves(own, (*place, name))
    elif isinstance(value, list) and value:
        places = [CHANGED_ITEM] if len(value) >= N else range(len(value))
        for number in places:
            yield from list_leaves(value[number], (*place, number))
    else:
        yield place


def change(value: Any) -> Any:
    """Another value of its kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if value != 1 else 0
    if isinstance(value, str):
        for kinds in (LABELS, "ABC", "CI", "012", ("success", "cancelled")):
            if value.strip() in [*kinds]:
                other = kinds[([*kinds].index(value.strip()) + 1) % len(kinds)]
                return value.replace(value.strip(), other)
        return str(float(value) - 5) if re.fullmatch(r"-?\d+\.\d+", value) else f"{value[:-1]}x"
    return "x" if value is None else ["x"] if value == [] else {"x": "y"}


def tells(paths: list[Path]) -> bool:
    """Whether logs are refused, or something is warned of."""
    try:
        notes = read_logs(paths).notes
    except IetestError:
        return True
    return any(note.startswith("Warning") for note in notes)


@pytest.mark.parametrize(
    "kind",
    ["helm", *(pytest.param(kind, marks=pytest.mark.slow) for kind in MADE if kind != "helm")],
)
def test_a_value_that_is_changed_is_told_or_stands_alone(kind: str, tmp_path: Path) -> None:
    make, write = MADE[kind]
    assert not tells(write(make(), tmp_path))
    silent = set()
    log = make() if kind == "helm" else make()[1]
    for place in list_leaves(log):
        changed = copy.deepcopy(log)
        inner = changed
        for step in place[:-1]:
            inner = inner[step]
        inner[place[-1]] = change(inner[place[-1]])
        if not tells(write(changed if kind == "helm" else [make()[0], changed], tmp_path)):
            silent.add(".".join(str(step) for step in place))
    alone = re.compile("|".join(ALONE[kind].split()))
    assert sorted(each for each in silent if not alone.fullmatch(each)) == []
