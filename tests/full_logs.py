"""Logs of two versions as harnesses write them whole, with all that they state about a run."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

LABELS = ("entailment", "neutral", "contradiction")
N = 12
MODEL = "org/m"


def _gold(item: int) -> int:
    return item % 3


def _answer(item: int, version: int) -> int:
    """The right label, but for a fourth of the items, or for an eighth of the originals."""
    is_right = item % (4 if version else 8) > 0
    return _gold(item) if is_right else (item + 1) % 3


def _error(scores: Sequence[float]) -> float:
    mean = sum(scores) / len(scores)
    return math.sqrt(sum((each - mean) ** 2 for each in scores) / (len(scores) - 1) / len(scores))


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


# lm-evaluation-harness: samples, and the results beside them.


def harness_samples(version: int, *, is_choice: bool) -> list[dict[str, Any]]:
    samples = []
    for item in range(N):
        gold, answer = _gold(item), _answer(item, version)
        word = "Reworded" if version else "Plain"
        doc = {
            "idx": item,
            "premise": f"Premise {item}.",
            "hypothesis": f"{word} {item}.",
            "choices": [*LABELS],
            "label": gold,
        }
        prompt = f"{doc['premise']} {doc['hypothesis']} Answer:"
        target = str(gold) if is_choice else LABELS[gold]
        options = {"until": ["\n"], "do_sample": False, "temperature": 0.0, "max_gen_toks": 16}
        likelihoods = [[str(-1.0 if k == answer else -3.0 - k), "False"] for k in range(3)]
        requests = [f" {label}" for label in LABELS] if is_choice else [options]
        metric = "acc" if is_choice else "exact_match"
        samples.append(
            {
                "doc_id": item,
                "doc": doc,
                "target": target,
                "arguments": {
                    f"gen_args_{k}": {"arg_0": prompt, "arg_1": each}
                    for k, each in enumerate(requests)
                },
                "resps": [[each] for each in likelihoods]
                if is_choice
                else [[f" {LABELS[answer]}"]],
                "filtered_resps": [[*each] for each in likelihoods]
                if is_choice
                else [LABELS[answer]],
                "filter": "none" if is_choice else "strict",
                "metrics": [metric],
                "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False)),
                "prompt_hash": _hash(prompt),
                "target_hash": _hash(target),
                metric: float(answer == gold),
            }
        )
    return samples


def harness_results(samples: list[dict[str, Any]], task: str) -> dict[str, Any]:
    (metric,), used = samples[0]["metrics"], samples[0]["filter"]
    scores = [each[metric] for each in samples]
    system = "Answer with one word."
    return {
        "results": {
            task: {
                "alias": task,
                "sample_len": N,
                f"{metric},{used}": sum(scores) / N,
                f"{metric}_stderr,{used}": _error(scores),
            }
        },
        "group_subtasks": {task: []},
        "configs": {
            task: {
                "task": task,
                "dataset_path": "json",
                "dataset_kwargs": {"data_files": {"test": f"{task}.jsonl"}},
                "test_split": "test",
                "doc_to_text": "{{premise}} {{hypothesis}} Answer:",
                "doc_to_target": "label",
                "fewshot_delimiter": "\n\n",
                "num_fewshot": 0,
                "metric_list": [
                    {"metric": metric, "aggregation": "mean", "higher_is_better": True}
                ],
                "output_type": "multiple_choice" if metric == "acc" else "generate_until",
                "generation_kwargs": {
                    "until": ["\n"],
                    "do_sample": False,
                    "temperature": 0.0,
                    "max_gen_toks": 16,
                },
                "repeats": 1,
                "filter_list": [{"name": used, "filter": [{"function": "take_first"}]}],
                "should_decontaminate": False,
                "metadata": {"version": 1.0, "pretrained": MODEL, "dtype": "float32"},
            }
        },
        "versions": {task: 1.0},
        "n-shot": {task: 0},
        "higher_is_better": {task: {metric: True}},
        "n-samples": {task: {"original": N, "effective": N}},
        "config": {
            "model": "hf",
            "model_args": f"pretrained={MODEL},dtype=float32",
            "model_num_parameters": 1000,
            "model_dtype": "torch.float32",
            "model_revision": "main",
            "model_sha": "abc",
            "batch_size": "8",
            "device": "cpu",
            "limit": None,
            "gen_kwargs": {},
            "random_seed": 0,
            "fewshot_seed": 1234,
        },
        "git_hash": "abc",
        "date": 1730000000.5,
        "lm_eval_version": "0.4.9",
        "max_length": 512,
        "task_hashes": {task: "h"},
        "model_source": "hf",
        "model_name": MODEL,
        "model_name_sanitized": MODEL.replace("/", "__"),
        "system_instruction": system,
        "system_instruction_sha": _hash(system),
        "fewshot_as_multiturn": False,
        "chat_template": "{{ messages }}",
        "chat_template_sha": _hash("{{ messages }}"),
        "total_evaluation_time_seconds": "8.0",
    }


def make_harness(*, is_choice: bool) -> list[dict[str, Any]]:
    """Samples and results of each version."""
    both = [harness_samples(version, is_choice=is_choice) for version in (0, 1)]
    return [
        {"samples": samples, "results": harness_results(samples, f"task{version}")}
        for version, samples in enumerate(both)
    ]


def write_harness(logs: list[dict[str, Any]], folder: Path) -> list[Path]:
    paths = []
    for version, log in enumerate(logs):
        own = folder / str(version)
        own.mkdir(exist_ok=True)
        (own / "results_2025-01-01T00-00-00.json").write_text(json.dumps(log["results"]))
        path = own / f"samples_task{version}_2025-01-01T00-00-00.jsonl"
        path.write_text("".join(f"{json.dumps(each)}\n" for each in log["samples"]))
        paths.append(path)
    return paths


# Inspect: one JSON.


def _inspect_sample(item: int, version: int) -> dict[str, Any]:
    gold, answer = LABELS[_gold(item)], LABELS[_answer(item, version)]
    asked = f"{'Reworded' if version else 'Plain'} {item}?"
    usage = {"input_tokens": 10, "output_tokens": 1, "total_tokens": 11}
    message = {"id": f"a{item}", "content": answer, "role": "assistant", "model": MODEL}
    return {
        "id": item + 1,
        "epoch": 1,
        "input": asked,
        "target": gold,
        "messages": [{"id": f"u{item}", "content": asked, "role": "user"}, dict(message)],
        "output": {
            "model": MODEL,
            "choices": [{"message": message, "stop_reason": "stop"}],
            "completion": answer,
            "usage": usage,
            "time": 0.5,
        },
        "scores": {
            "match": {
                "value": "C" if answer == gold else "I",
                "answer": answer,
                "explanation": answer,
            }
        },
        "metadata": {"label": gold},
        "model_usage": {MODEL: usage},
        "started_at": "2026-01-01T00:00:00+00:00",
        "total_time": 0.6,
        "uuid": f"x{version}{item}",
    }


def make_inspect() -> list[dict[str, Any]]:
    """The log of each version."""
    logs: list[dict[str, Any]] = []
    for version in (0, 1):
        samples = [_inspect_sample(item, version) for item in range(N)]
        scores = [float(each["scores"]["match"]["value"] == "C") for each in samples]
        metrics = {"accuracy": sum(scores) / N, "stderr": _error(scores)}
        logs.append(
            {
                "version": 2,
                "status": "success",
                "eval": {
                    "eval_id": f"e{version}",
                    "created": "2026-01-01T00:00:00+00:00",
                    "task": f"task{version}",
                    "task_version": 0,
                    "dataset": {
                        "name": f"d{version}",
                        "samples": N,
                        "sample_ids": [each["id"] for each in samples],
                        "shuffled": False,
                    },
                    "model": MODEL,
                    "model_generate_config": {"temperature": 0.0},
                    "model_args": {"attn": "eager"},
                    "config": {"epochs": 1, "epochs_reducer": ["mean"], "limit": N},
                    "packages": {"inspect_ai": "0.3.1"},
                    "scorers": [
                        {
                            "name": "match",
                            "options": {"location": "end"},
                            "metrics": [{"name": f"inspect_ai/{name}"} for name in metrics],
                        }
                    ],
                },
                "plan": {
                    "name": "plan",
                    "steps": [{"solver": "generate", "params": {"cache": False}}],
                    "config": {"temperature": 0.0},
                },
                "results": {
                    "total_samples": N,
                    "completed_samples": N,
                    "scores": [
                        {
                            "name": "match",
                            "scorer": "match",
                            "scored_samples": N,
                            "unscored_samples": 0,
                            "metrics": {
                                name: {"name": name, "value": value, "params": {}}
                                for name, value in metrics.items()
                            },
                        }
                    ],
                },
                "stats": {
                    "started_at": "2026-01-01T00:00:00+00:00",
                    "model_usage": {MODEL: {"input_tokens": 10 * N}},
                },
                "samples": samples,
                "reductions": [
                    {
                        "scorer": "match",
                        "samples": [
                            {
                                "value": score,
                                "answer": each["scores"]["match"]["answer"],
                                "sample_id": each["id"],
                            }
                            for score, each in zip(scores, samples, strict=True)
                        ],
                    }
                ],
            }
        )
    return logs


def write_inspect(logs: list[dict[str, Any]], folder: Path) -> list[Path]:
    paths = [folder / f"{version}.json" for version in range(len(logs))]
    for path, log in zip(paths, logs, strict=True):
        path.write_text(json.dumps(log))
    return paths


# HELM: the state of a scenario, and the files beside it.


def _stat(mean: float, **name: Any) -> dict[str, Any]:
    return {"name": {"name": "exact_match", "split": "test"} | name, "count": 1, "mean": mean}


def make_helm() -> dict[str, Any]:
    """The contents of the files of a run, by their names."""
    about = {
        "method": "multiple_choice_joint",
        "instructions": "Say A, B or C.",
        "input_prefix": "Q: ",
        "max_train_instances": 0,
        "max_eval_instances": N,
        "num_outputs": 1,
        "model_deployment": MODEL,
        "model": MODEL,
        "temperature": 0.0,
        "max_tokens": 1,
    }
    states, every = [], []
    for version in (0, 1):
        kind = {"perturbation": {"name": "synonym", "prob": 0.5}} if version else {}
        for item in range(N):
            gold, answer = _gold(item), _answer(item, version)
            text = f"{'Reworded' if version else 'Plain'} {item}"
            mapping = dict(zip("ABC", LABELS, strict=True))
            listed = "\n".join(f"{letter}. {label}" for letter, label in mapping.items())
            states.append(
                {
                    "instance": {
                        "input": {"text": text},
                        "references": [
                            {"output": {"text": label}, "tags": ["correct"] * (place == gold)}
                            for place, label in enumerate(LABELS)
                        ],
                        "split": "test",
                        "id": f"id{item}",
                    }
                    | kind,
                    "train_trial_index": 0,
                    "output_mapping": mapping,
                    "num_train_instances": 0,
                    "prompt_truncated": False,
                    "request": {
                        "model": MODEL,
                        "model_deployment": MODEL,
                        "prompt": f"{text}\n{listed}\nAnswer:",
                        "temperature": 0.0,
                        "num_completions": 1,
                        "max_tokens": 1,
                    },
                    "result": {
                        "success": True,
                        "error": None,
                        "completions": [{"text": f" {'ABC'[answer]}", "logprob": -0.5}],
                        "cached": True,
                        "request_time": 0.1,
                    },
                }
            )
            every.append(
                {
                    "instance_id": f"id{item}",
                    "train_trial_index": 0,
                    "stats": [_stat(float(answer == gold), **kind)],
                }
                | kind
            )
    mean = sum(_answer(item, 0) == _gold(item) for item in range(N)) / N
    return {
        "scenario_state": {"adapter_spec": about, "request_states": states},
        "run_spec": {"name": f"nli:model={MODEL}", "adapter_spec": dict(about)},
        "stats": [_stat(mean)],
        "per_instance_stats": every,
    }


def write_helm(files: dict[str, Any], folder: Path) -> list[Path]:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return [folder / "scenario_state.json"]
