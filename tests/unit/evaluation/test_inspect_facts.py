"""What logs of Inspect state twice, or leave open: compared with their samples, and told."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ietest_fast.answers.logs import read_logs
from ietest_fast.answers.readers.base import FileStart
from ietest_fast.answers.readers.inspect_ai import InspectReader
from made_logs import CHOICES, TEXT, helm_log, perturbed
from toy_logs import inspect_log, pair, sample


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("head", "is_inspect"),
    [
        ({"version": 1, "status": "success", "eval": {"task": "t", "model": "m"}}, True),
        ({"status": "error", "eval": {"run_id": "r", "task": "t"}}, True),
        ({"version": 1, "status": None, "eval": {"task": "t", "model": "m"}}, True),
        ({"status": None, "eval": {"run_id": "r", "task": "t"}}, True),
        ({"status": None, "eval": {"loss": 0.5, "model": "m"}}, False),
        ({"status": "null", "eval": {"task": "t", "model": "m"}}, False),
        ({"version": 1, "status": "success", "eval": {"loss": 0.5, "model": "m"}}, False),
        ({"status": "done", "eval": {"task": "t", "model": "m"}}, False),
        ({"task": "t", "model": "m", "eval": {"acc": 0.5}}, False),
    ],
)
def test_a_log_of_an_older_inspect_is_told_from_other_json(
    head: dict[str, Any], is_inspect: bool, indent: int | None, tmp_path: Path
) -> None:
    log = tmp_path / "log.json"
    log.write_text(json.dumps(head | {"samples": []}, indent=indent))
    assert InspectReader().recognises(FileStart.of(log)) == is_inspect


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ({}, []),
        ({"status": "success", "results": {"completed_samples": 6}}, []),
        ({"status": "cancelled"}, ["of a run that was cancelled"]),
        ({"status": "error"}, ["of a run that ended with an error"]),
        ({"invalidated": True}, ["has samples marked as invalid, whose answers count"]),
        ({"invalidated": False}, []),
        ({"status": "started", "results": None}, ["of a run that has not finished"]),
        (
            {"results": {"completed_samples": 100}},
            ["has 6 samples, and its header counts 100; is a part of the log missing?"],
        ),
        (
            {"status": "success", "results": {"total_samples": 500, "completed_samples": 6}},
            ["has 6 samples, and its header counts 500; is a part of the log missing?"],
        ),
        (
            {"status": "success", "results": {"total_samples": 6, "completed_samples": 5}},
            ["has 6 samples, and its header counts 5;"],
        ),
        ({"results": {"total_samples": 500, "early_stopping": {"manager": "x"}}}, []),
        ({"status": "cancelled", "results": {"total_samples": 500}}, ["that was cancelled"]),
        ({"status": ["success"], "results": {"total_samples": "500"}}, []),
        ({"results": {"scores": [{"name": "own", "metrics": {"accuracy": {"value": 4 / 6}}}]}}, []),
        (
            {"results": {"scores": [{"name": "own", "metrics": {"accuracy": {"value": 0.9}}}]}},
            ["the accuracy of 'own' is 0.6667 in the samples of", "and 0.9000 in its header"],
        ),
        (
            {"results": {"scores": [{"name": "own", "metrics": {"mean": {"value": math.nan}}}]}},
            ["the mean of 'own' is 0.6667 in the samples of", "and nan in its header"],
        ),
        (
            {"results": {"scores": [{"name": "else", "metrics": {"accuracy": {"value": 0.9}}}]}},
            [],
        ),
        *(
            ({"results": {"scores": [{"name": "own", "metrics": metrics}]}}, expected)
            for metrics, expected in (
                (
                    {"nli/accuracy": {"name": "accuracy", "value": 0.2}},
                    ["the accuracy of 'own' is 0.6667 in the samples of", "and 0.2000 in its head"],
                ),
                ({"first": {"name": "nli/mean", "value": 0.2}}, ["the mean of 'own' is 0.6667"]),
                ({"nli/accuracy": {"value": 0.2}}, ["the accuracy of 'own' is 0.6667"]),
                ({"nli/accuracy": {"name": "accuracy", "value": 4 / 6}}, []),
                ({"nli/stderr": {"name": "stderr", "value": (2 / 45) ** 0.5}, "x": 3}, []),
                ({"stderr": {"value": 0.3}}, ["the stderr of 'own' is 0.2108 in the samples"]),
                ({"stderr": {"value": 0.3, "params": {"cluster": "group"}}}, []),
                # Of two groups of samples.
                ({key: {"name": "accuracy", "value": 0.2} for key in ("plain", "odd")}, []),
            )
        ),
        ({"results": {"scores": [None, {"name": "own", "metrics": 3}]}, "status": 5}, []),
        *(
            (
                {
                    "results": {
                        "scores": [
                            {
                                "name": "own",
                                "scorer": scorer,
                                "scored_samples": n,
                                "unscored_samples": more,
                            }
                        ]
                    }
                },
                said,
            )
            for scorer, n, more, said in (
                ("own", 2, None, ["has 6 samples, and its header counts 2;"]),
                ("own", 6, 0, []),
                ("own", 4, 2, ["says that 2 samples have no score of own, and all 6 have one"]),
                ("own", "2", None, []),
                ("else", 2, 4, []),
            )
        ),
    ],
)
def test_the_header_of_inspect_is_compared_with_its_samples(
    header: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    logs = pair(tmp_path, "CCCCII", "CICICI")
    first = json.loads(logs[0].read_text())
    logs[0].write_text(json.dumps(header | first))
    warned = [note for note in read_logs(logs).notes if note.startswith("Warning")]
    assert len(warned) == bool(expected)
    assert all(part in warned[0] for part in expected)


@pytest.mark.parametrize(
    ("entry", "n"),
    [
        ({"scorer": "own", "reducer": "mean"}, 2),
        ({"scorer": "own"}, 2),
        ({"scorer": "own", "reducer": "mode"}, 0),
        ({"scorer": "else"}, 0),
    ],
)
@pytest.mark.parametrize("is_same", [False, True])
@pytest.mark.parametrize("ending", ["json", "eval"])
def test_reductions_of_inspect_are_compared_with_its_samples(
    entry: dict[str, Any], n: int, is_same: bool, ending: str, tmp_path: Path
) -> None:
    logs = pair(tmp_path, "CCCCII", "CICICI")
    log = json.loads(logs[0].read_text())
    values = [1.0, 1.0, 1.0, 1.0, 0.0, 0.0] if is_same else [1.0, 0.0, "C", 1, "I", 0.5]
    listed = [
        {"sample_id": each["id"], "value": value}
        for each, value in zip(log["samples"], values, strict=True)
    ]
    log["reductions"] = [entry | {"samples": [*listed, 3, {"sample_id": "other", "value": 0}]}]
    logs[0].write_text(json.dumps(log))
    if ending == "eval":
        logs[0] = tmp_path / "first.eval"
        with zipfile.ZipFile(logs[0], "w") as archive:
            for row, each in enumerate(log.pop("samples")):
                archive.writestr(f"samples/{row}_epoch_1.json", json.dumps(each))
            archive.writestr("reductions.json", json.dumps(log.pop("reductions")))
            archive.writestr("header.json", json.dumps(log))
    told = [note for note in read_logs(logs).notes if "in the reductions of" in note]
    assert len(told) == (n > 0 and not is_same)
    assert all(f"for {n} of 6; the samples count" in note for note in told)


@pytest.mark.parametrize(("value", "n"), [("I", 3), ("C", 2), ("own", 0), (None, 0), ("list", 1)])
def test_summaries_of_inspect_are_compared_with_its_samples(
    value: str | None, n: int, tmp_path: Path
) -> None:
    logs = pair(tmp_path, "CCCIII", "CICICI")
    log = json.loads(logs[0].read_text())
    samples = log.pop("samples")
    with zipfile.ZipFile(tmp_path / "first.eval", "w") as archive:
        for row, each in enumerate(samples):
            archive.writestr(f"samples/{row}_epoch_1.json", json.dumps(each))
        first = [each | {"epoch": 1} for each in samples[:5]]
        if value == "list":
            first[0]["scores"] = {"own": {"value": ["C", "I"]}}
        elif value != "own":
            first = [each | {"scores": {"own": {"value": value}}} for each in first]
        listed = [*first, "x", {"id": 5}, {"id": "else", "scores": {"own": {"value": "C"}}}]
        archive.writestr("summaries.json", json.dumps(listed))
        archive.writestr("header.json", json.dumps(log))
    notes = read_logs([tmp_path / "first.eval", logs[1]]).notes
    told = [note for note in notes if "in the summaries of" in note]
    assert len(told) == bool(n)
    assert all(f"for {n} of 5; the samples count" in note for note in told)


LONG = "word " * 3000


@pytest.mark.parametrize(
    ("name", "own", "there", "n"),
    [
        ("target", "yes", "no", 5),
        ("target", "1", "12", 5),
        ("target", ["A", "B"], ["A"], 5),
        ("target", ["A", "B"], ["A", "C"], 5),
        ("target", LONG, "other " + LONG[:200], 5),
        ("target", LONG, LONG[:5000] + "...", 0),
        ("target", "x" * 9000, "...", 0),
        ("target", "one\n two", "one two", 0),
        ("target", ["A"], "A", 0),
        ("target", "yes", None, 0),
        ("answer", "yes", "no", 5),
        ("answer", LONG, LONG[:5000].strip() + "\u2026", 0),
        ("answer", None, "no", 0),
        ("missing", "", "", 1),
        ("foreign", "", "", 1),
        ("score", "C", 1.0, 0),
    ],
)
def test_what_summaries_of_inspect_repeat_of_samples_is_compared(
    name: str, own: Any, there: Any, n: int, tmp_path: Path
) -> None:
    """Summaries cut long texts."""
    log = json.loads(pair(tmp_path, "CCCCC", "CICIC")[0].read_text())
    samples, rows = ([json.loads(json.dumps(each)) for each in log["samples"]] for _ in "ab")
    for value, listed in ((own, samples), (there, rows)):
        for each in listed:
            if name == "target":
                each["target"] = value
            elif name in {"answer", "score"}:
                each["scores"]["own"]["value" if name == "score" else name] = value
    rows = rows[n:] if name == "missing" else rows
    rows += [rows[0] | {"id": "else"}] if name == "foreign" else []
    log.pop("samples")
    logs = [tmp_path / f"{words}.eval" for words in ("Question", "Words")]
    for path in logs:
        with zipfile.ZipFile(path, "w") as archive:
            for row, each in enumerate(samples):
                text = json.dumps(each).replace("Question", path.stem)
                archive.writestr(f"samples/{row}_epoch_1.json", text)
            archive.writestr("summaries.json", json.dumps(rows))
            archive.writestr("header.json", json.dumps(log))
    told = [note for note in read_logs(logs).notes if "the summaries of" in note]
    assert len(told) == 2 * (n > 0)
    said = {"missing": "lack 1 sample that it has, and", "foreign": "and have 1 sample that it"}
    assert all(said.get(name, f"the {name}") in note for note in told)
    assert all(name in said or f"for {n} of 5; the samples" in note for note in told)


BOB = {"provenance": {"author": "bob"}}


@pytest.mark.parametrize(
    ("history", "n"),
    [
        ([{"value": "C"}, {"value": "I"} | BOB], 2),
        ([{"value": "I"}], 2),
        ([{"value": "C", "answer": "yes"}, {"answer": "no", "value": "UNCHANGED"}], 2),
        ([{"value": "I"}, {"value": "C"} | BOB], 0),
        ([{"value": "I"}, {"value": 1} | BOB], 0),
        ([{"value": "C"}, {"value": "UNCHANGED", "explanation": "x"} | BOB], 0),
        ([{"value": "C"}, {"value": None}], 0),
        ([], 0),
        (None, 0),
        (["I", 3], 0),
    ],
)
@pytest.mark.parametrize("is_part", [False, True])
def test_the_history_of_a_score_of_inspect_is_compared_with_it(
    history: Any, n: int, *, is_part: bool, tmp_path: Path
) -> None:
    logs = pair(tmp_path, "CCCII", "CICII")
    log = json.loads(logs[0].read_text())
    edits = json.loads(json.dumps(history))
    for each in log["samples"][:2]:
        score = each["scores"]["own"]
        score["history"] = edits
    if is_part:
        for each in log["samples"]:
            score = each["scores"]["own"]
            for one in (score, *(score.get("history") or ())):
                known = isinstance(one, dict) and one.get("value")
                if known and known != "UNCHANGED":
                    one["value"] = {"a": known} if not isinstance(known, dict) else known
        log["samples"][1]["scores"]["own"]["history"] = edits
        text = logs[1].read_text()
        logs[1].write_text(text.replace('"value": "C"', '"value": {"a": "C"}'))
        logs[1].write_text(logs[1].read_text().replace('"value": "I"', '"value": {"a": "I"}'))
    logs[0].write_text(json.dumps(log))
    told = [note for note in read_logs(logs).notes if "one of its history" in note]
    assert len(told) == (n > 0)
    scorer = "own.a" if is_part else "own"
    assert all(f"in {n} of 5 samples of" in each and repr(scorer) in each for each in told)


@pytest.mark.parametrize(
    ("limit", "n_epochs", "is_said"),
    [
        (5, 1, True),
        ([2, 7], 1, True),
        (5, 2, True),
        (6, 1, False),
        (6, 2, False),
        (40, 1, False),
        ([10, 16], 1, False),
        (None, 1, False),
        ("5", 1, False),
        ([5], 1, False),
    ],
)
def test_samples_beyond_the_limit_in_the_header_of_inspect_are_told(
    limit: Any, n_epochs: int, *, is_said: bool, tmp_path: Path
) -> None:
    logs = []
    for words in ("a", "b"):
        samples = [
            sample(i, "C", asked=f"{words} {i}", epoch=k + 1)
            for i in range(6)
            for k in range(n_epochs)
        ]
        logs.append(inspect_log(tmp_path / f"{words}.json", samples))
        log = json.loads(logs[-1].read_text())
        log["eval"]["config"] = {"limit": limit, "epochs": n_epochs}
        logs[-1].write_text(json.dumps(log))
    told = [note for note in read_logs(logs).notes if "has the limit" in note]
    assert len(told) == 2 * is_said
    assert all("has 6 samples, and its header has the limit" in note for note in told)


_RESULTS, _PARAMS = ("results", "scores"), ("scorer", "params")


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"location": "end"}, {"location": "any"}, 'eval.scorers.own ([{"options": {"location":'),
        ({"ignore_case": True}, {}, "eval.scorers.own ("),
        ({"location": "end"}, {"location": "end", "model": None}, None),
        ({}, {}, None),
        (None, {"location": "end"}, None),  # the first does not say
    ],
)
@pytest.mark.parametrize("name", ["own", "pkg/own", "else"])
def test_options_of_the_scorer_in_which_logs_of_inspect_differ_are_told(
    first: Any, second: Any, said: str | None, name: str, tmp_path: Path
) -> None:
    """Those of a scorer that does not judge make no difference."""
    logs = pair(tmp_path, "CCCII", "CICII")
    for place, keys in ((("eval", "scorers"), ("name", "options")), (_RESULTS, _PARAMS)):
        for log, options in zip(logs, (first, second), strict=True):
            whole = json.loads(log.read_text())
            listed = None if options is None else [dict(zip(keys, (name, options), strict=True))]
            (whole.get(place[0]) or whole.setdefault(place[0], {}))[place[1]] = listed
            log.write_text(json.dumps(whole))
        told = [note for note in read_logs(logs).notes if "the logs differ in" in note]
        assert len(told) == (said is not None and name != "else")
        where = str(said).replace("eval.scorers.own", f"{'.'.join(place)}.{name}")
        assert all(where in note for note in told)
        for log in logs:
            whole = json.loads(log.read_text())
            del whole[place[0]][place[1]]
            log.write_text(json.dumps(whole))


@pytest.mark.parametrize(("place", "n"), [(None, 0), (0, 0), (1, 1)])
def test_scores_of_samples_that_ended_with_an_error_are_told(
    place: int | None, n: int, tmp_path: Path
) -> None:
    logs = pair(tmp_path, "CCCCII", "CICICI")
    log = json.loads(logs[0].read_text())
    if place is not None:
        log["samples"][2]["error"] = {"message": "timed out"}
        log["samples"][2]["scores"] = {} if place == 0 else log["samples"][2]["scores"]
    logs[0].write_text(json.dumps(log))
    told = [note for note in read_logs(logs).notes if "ended with an error" in note]
    assert len(told) == n
    assert all("has 1 sample that ended with an error, whose scores count" in each for each in told)


@pytest.mark.parametrize(
    ("dataset", "config", "n"),
    [
        ({"samples": 6}, {}, None),
        ({"samples": 30}, {}, 30),
        ({"samples": 6}, {"epochs": 2}, 12),
        ({"samples": 3}, {"epochs": 2}, None),
        ({"samples": 30}, {"limit": 6}, None),
        ({"samples": 30}, {"limit": [0, 6]}, None),
        ({"samples": 30}, {"sample_id": ["a"]}, None),
        ({"samples": 30, "sample_ids": list(range(6))}, {"limit": 6}, None),
        ({"samples": 30, "sample_ids": list(range(8))}, {"limit": 8}, 8),
        ({"samples": 30, "sample_ids": list(range(6))}, {}, 30),
        ({"samples": 30, "sample_ids": None}, {"epochs": 1}, 30),
        ({"samples": None}, {"epochs": 1}, None),
        ({"samples": 30}, {"epochs": "1"}, None),
        ({"samples": "30", "sample_ids": "x"}, 5, None),
        (5, {}, None),
    ],
)
def test_the_data_set_of_inspect_is_compared_with_the_samples(
    dataset: Any, config: Any, n: int | None, tmp_path: Path
) -> None:
    """A finished run has answered all that it was to answer, and others say that they have not."""
    logs = pair(tmp_path, "CCCCII", "CICICI")
    first = json.loads(logs[0].read_text())
    first["eval"] |= {"dataset": dataset, "config": config}
    for status in ("success", "error"):
        logs[0].write_text(json.dumps({"status": status} | first))
        warned = [note for note in read_logs(logs).notes if "its header counts" in note]
        assert len(warned) == (n is not None and status == "success")
        assert not warned or f"has 6 samples, and its header counts {n}" in warned[0]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"config": {"temperature": 0}}, {"config": {"temperature": 1}}, "plan.config ({"),
        ({"steps": [{"solver": "generate"}]}, {"steps": []}, "plan.steps ("),
        ({"config": {"max_connections": 1}}, {"config": {"max_connections": 9}}, None),
        ({"config": {"temperature": None}}, {"config": {}}, None),
        ({"output": "m-1"}, {"output": "m-2"}, "output.model ('m-1' and 'm-2')"),
        ({}, {"model_generate_config": {"temperature": 1}}, "model_generate_config (null and {"),
        ({"model_roles": {"grader": {"model": "a"}}}, {"model_roles": {}}, "eval.model_roles ({"),
        ({"model_args": {"revision": "a"}}, {"model_args": {"revision": "b"}}, "eval.model_args ("),
        ({"model_args": {"device": "cpu", "top": None}}, {"model_args": {}}, None),
        ({"model_generate_config": {"max_connections": 9}}, {}, None),
        (
            {"model_roles": {"grader": {"model": "a", "base_url": "x", "config": {}}}},
            {"model_roles": {"grader": {"model": "a", "base_url": "y", "args": {}}}},
            None,
        ),
        ({"output": "m-1"}, {}, None),
        ({}, {}, None),
    ],
)
@pytest.mark.parametrize("models", [("m", "m"), ("m", "n")])
def test_settings_in_which_logs_of_inspect_differ_are_told(
    first: dict[str, Any],
    second: dict[str, Any],
    said: str | None,
    models: tuple[str, str],
    tmp_path: Path,
) -> None:
    """Of two models, each answers by its own version."""
    logs = []
    for place, (plan, model) in enumerate(zip((first, second), models, strict=True)):
        more = {"output": {"model": plan["output"]}} if "output" in plan else {}
        words = "Question" if models[0] != models[1] else f"Words {place}"
        samples = [sample(i, "C", asked=f"{words} {i}?", **more) for i in range(6)]
        log = json.loads(inspect_log(tmp_path / f"{place}.json", samples, model=model).read_text())
        logs.append(tmp_path / f"{place}.json")
        log["eval"] |= {name: value for name, value in plan.items() if name.startswith("model_")}
        logs[-1].write_text(json.dumps(log | {"plan": plan}))
    notes = [note for note in read_logs(logs).notes if "the logs differ in" in note]
    is_own = models[0] != models[1] and bool({"output", "model_args"} & set(second))
    assert len(notes) == (said is not None and not is_own)
    assert all(str(said) in note for note in notes)


@pytest.mark.parametrize(
    ("ids", "status", "expected"),
    [
        ([1, 2, 3, 4, 5, 6], "success", (1, 1)),
        (["a", "b", "c", "d", "e", "f"], "success", (6, 6)),
        ([0, 1, 2, 3, 4], "success", (0, 1)),
        ([0, 1, 2, 3, 4, 9, 10], "cancelled", (2, 1)),
        ([0, 1, 2, 3, 4, 4], "error", (0, 1)),
        ([0, 1, 2, 3, 4, 5], "success", None),
        (["5", "4", "3", "2", "1", "0"], "success", None),
        (list(range(30)), "cancelled", None),
        (list(range(30)), "success", None),  # their number says it
        ([], "success", None),
        (None, "success", None),
    ],
)
def test_the_ids_in_the_header_of_inspect_are_compared_with_the_samples(
    ids: Any, status: str, expected: tuple[int, int] | None, tmp_path: Path
) -> None:
    logs = pair(tmp_path, "CCCCII", "CICICI")
    first = json.loads(logs[0].read_text())
    first["eval"] |= {"dataset": {"samples": 30, "sample_ids": ids}, "config": {"limit": 6}}
    logs[0].write_text(json.dumps({"status": status} | first))
    said = [note for note in read_logs(logs).notes if "that it does not name" in note]
    assert len(said) == (expected is not None)
    for note in said:
        lacks, has = (f"{n} sample{'s' * (n != 1)}" for n in expected or ())
        assert note.startswith("Warning")
        assert f"lacks {lacks} that its header names, and has {has} that it does not" in note


def test_samples_of_several_epochs_do_not_hide_missing_ones(tmp_path: Path) -> None:
    logs = [
        inspect_log(
            tmp_path / f"{name}.json",
            [
                sample(i, "C", asked=f"{name} {i}", epoch=k)
                for i, k in ((0, 1), (0, 2), (0, 3), (1, 1))
            ],
        )
        for name in "ab"
    ]
    for log in logs:
        first = json.loads(log.read_text())
        first["eval"] |= {"dataset": {"sample_ids": [0, 1, 2, 3]}, "config": {}}
        log.write_text(json.dumps({"status": "success"} | first))
    said = [note for note in read_logs(logs).notes if "lacks 2 samples that its header" in note]
    assert len(said) == 2


def test_an_archive_of_inspect_without_a_header_has_not_finished(tmp_path: Path) -> None:
    logs = pair(tmp_path, "CCI", "CII")
    whole = json.loads(logs[0].read_text())
    path = tmp_path / "o.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"eval": whole["eval"]}))
        for each in whole["samples"]:
            archive.writestr(f"samples/{each['id']}_epoch_1.json", json.dumps(each))
    assert "is of a run that has not finished" in read_logs([path, logs[1]]).notes[0]


@pytest.mark.parametrize(
    ("named", "given", "n"),
    [
        ("openai/gpt-4o", "gpt-4o-2024-08-06", 0),
        ("openai/gpt-4o", "meta-llama/Llama-3", 3),
        ("openai/gpt-4o", None, 0),
        ("openai/gpt-4o", "", 0),
        ("mockllm/model", "mockllm", 0),
        ("anthropic/claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", 0),
    ],
)
def test_the_model_of_samples_is_that_of_the_header(
    tmp_path: Path, named: str, given: Any, n: int
) -> None:
    logs = pair(tmp_path, "CCI", "CII")
    first, whole = (json.loads(log.read_text()) for log in logs)
    first["eval"]["model"] = whole["eval"]["model"] = named
    logs[0].write_text(json.dumps(first))
    for each in whole["samples"]:
        each["output"] = {"model": given, "completion": "x"}
    logs[1].write_text(json.dumps(whole))
    notes = [note for note in read_logs(logs).notes if "its header names" in note]
    assert len(notes) == (n > 0)
    assert not n or f"{n} of 3 samples of" in notes[0]


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (["gpt-3.5", "gpt-4o", "gpt-4o"], "gpt-4o (2), gpt-3.5 (1); all count"),
        (["a", "b", "c"], "a (1), b (1), c (1); all count"),
        (["gpt-4o", None, "gpt-4o"], None),
    ],
)
def test_several_models_in_one_log_of_inspect_are_told(
    tmp_path: Path, models: list[str | None], said: str | None
) -> None:
    logs = pair(tmp_path, "CCI", "CII")
    whole = json.loads(logs[1].read_text())
    for each, model in zip(whole["samples"], models, strict=True):
        each["output"] = {"model": model}
    logs[1].write_text(json.dumps(whole))
    notes = [note for note in read_logs(logs).notes if "several models have answered" in note]
    assert len(notes) == (said is not None)
    assert all(str(said) in note for note in notes)


@pytest.mark.parametrize(
    ("chosen", "n"), [(None, 0), (["0", "1", "2"], 0), (["1"], 2), ("1", 2), ("q*", 0), ([1, 2], 1)]
)
def test_samples_that_the_header_has_not_chosen_are_counted(
    tmp_path: Path, chosen: Any, n: int
) -> None:
    logs = pair(tmp_path, "CCI", "CII")
    whole = json.loads(logs[1].read_text())
    for place, each in enumerate(whole["samples"]):
        each["id"] = str(place)
    first = json.loads(logs[0].read_text())
    for place, each in enumerate(first["samples"]):
        each["id"] = str(place)
    logs[0].write_text(json.dumps(first))
    whole["eval"].setdefault("config", {})["sample_id"] = chosen
    logs[1].write_text(json.dumps(whole))
    notes = [note for note in read_logs(logs).notes if "did not choose" in note]
    assert len(notes) == (n > 0)
    assert not n or f"has {n} sample" in notes[0]


@pytest.mark.parametrize(
    ("of_message", "used", "roles", "said"),
    [
        ("gpt-3.5", {}, {}, "in 3 of 3 samples of"),
        ("gpt-4o", {"openai/gpt-4o": {}}, {}, None),
        (None, {"openai/gpt-4o": {}, "openai/judge": {}}, {}, None),
        (None, {"openai/gpt-3.5": {}}, {}, "stats.model_usage 'openai/gpt-3.5' was asked"),
        (None, {"openai/judge": {}}, {"judge": {"model": "openai/judge"}}, None),
        (None, {}, {}, None),
        (None, [], {}, None),
    ],
)
def test_messages_and_tokens_of_inspect_are_of_the_model_that_answers(
    of_message: str | None, used: Any, roles: Any, said: str | None, tmp_path: Path
) -> None:
    logs = pair(tmp_path, "CCI", "CII")
    first, whole = (json.loads(log.read_text()) for log in logs)
    first["eval"]["model"] = "openai/gpt-4o"
    logs[0].write_text(json.dumps(first))
    whole["eval"] |= {"model": "openai/gpt-4o", "model_roles": roles}
    whole["stats"] = {"model_usage": used}
    for each in whole["samples"]:
        message = {"role": "assistant", "content": "x", "model": of_message}
        each["output"] = {"model": "gpt-4o", "completion": "x", "choices": [{"message": message}]}
    logs[1].write_text(json.dumps(whole))
    notes = [note for note in read_logs(logs).notes if "the answers count" in note]
    assert len(notes) == (said is not None)
    assert all(str(said) in note for note in notes)


@pytest.mark.parametrize("form", ["{}", "ANSWER: {}", "{}, I think."])
@pytest.mark.parametrize(
    ("last", "n"),
    [
        ({"content": "{other}"}, 1),
        ({"content": " {OTHER}\n"}, 1),
        ({"content": [{"type": "text", "text": "{other}"}]}, 1),
        ({"content": "{own}"}, 0),
        ({"content": "Well, {own} it is."}, 0),
        ({"content": "{other}", "tool_calls": [{"function": "submit", "arguments": {}}]}, 0),
        ({"content": "{other}", "role": "user"}, 0),
        ({"content": ""}, 0),
        ({"content": None}, 0),
        (None, 0),
    ],
)
def test_the_last_message_of_inspect_is_held_against_the_completion(
    last: dict[str, Any] | None, n: int, form: str, tmp_path: Path
) -> None:
    logs = pair(tmp_path, "CCICI", "CICCI")
    log = json.loads(logs[0].read_text())
    for i, each in enumerate(log["samples"]):
        own, other = (form.format(word) for word in (("yes", "no") if i < 2 else ("no", "yes")))
        each["output"] = {"completion": own}
        each["scores"]["own"]["answer"] = "yes" if i < 2 else "no"
        said = {"role": "assistant", "content": own}
        if i == 3 and last is not None:
            words = json.dumps(said | last).replace("{own}", own)
            said = json.loads(words.replace("{other}", other).replace("{OTHER}", other.upper()))
        each["messages"] = [{"role": "user", "content": each["input"]}, said]
        if i == 3 and last is None:
            del each["messages"]
    logs[0].write_text(json.dumps(log))
    notes = [note for note in read_logs(logs).notes if "the last message, by the model" in note]
    assert len(notes) == n
    assert all("in 1 of 5 samples of" in note for note in notes)


def parts(*own: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "text", "text": TEXT}, *own]}]


@pytest.mark.parametrize(
    ("shown", "n"),
    [
        ([{"role": "user", "content": TEXT}, {"role": "assistant", "content": "no"}], 4),
        ([{"role": "system", "content": "Be brief."}, {"role": "user", "content": TEXT}], 4),
        (parts({"type": "text", "text": "Answer:"}), 4),
        # As the input, or of a text of its own.
        ([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{own}"}], 0),
        ([{"role": "user", "content": f"{TEXT} {{own}}"}], 0),
        # What all have in common: a task for tools, or the end of a talk.
        ([{"role": "user", "content": "Read q.txt."}], 0),
        ([{"role": "user", "content": TEXT}, {"role": "tool", "content": "{own}"}], 0),
        # Of a picture there may be a sign only.
        (parts({"type": "image", "image": "<removed>"}), 0),
        ([{"role": "assistant", "content": TEXT}], 0),
        ([TEXT], 0),
        ([], 0),
        (None, 0),
    ],
)
def test_messages_of_inspect_are_held_against_the_texts(
    shown: list[Any] | None, n: int, tmp_path: Path
) -> None:
    """The model sees them, and a solver may make them of something else than the input."""
    logs = []
    for name in ("Words", "Reworded"):
        samples = []
        for i in range(5):
            own = f"{name} {i}" if i else "Left alone"
            words = json.dumps(shown).replace("{}", str(i)).replace("{own}", own)
            samples.append(sample(i, "CI"[i % 2], asked=own, messages=json.loads(words)))
        logs.append(inspect_log(tmp_path / f"{name}.json", samples))
    notes = [note for note in read_logs(logs).notes if "asked in the same words" in note]
    assert len(notes) == (n > 0)
    assert all("of 4 texts of transformed that differ from the ori" in note for note in notes)
    assert all(f"original's, {n} were asked in" in note for note in notes)


@pytest.mark.parametrize(
    ("targets", "n"),
    [
        (["E"], 1),
        (["E", "F"], 2),
        (["None of these"], 1),
        ([["A", "E"]], 1),
        ([""], 1),
        (["B"], 0),
        (["b"], 0),
        (["cold"], 0),
        ([["A", "B"]], 0),
        (["E"] * 8, 0),  # of no sample is it a choice, so it is something else
    ],
)
@pytest.mark.parametrize("is_own", [False, True])
def test_targets_of_inspect_that_are_no_choice_are_counted(
    targets: list[Any], n: int, *, is_own: bool, tmp_path: Path
) -> None:
    logs = pair(tmp_path, "CCCCCCCI", "CCCCCCCI")
    for log in logs:
        content = json.loads(log.read_text())
        for row, each in enumerate(content["samples"]):
            own = [f"choice {row}"] if is_own else []
            each |= {"target": ["A", *targets][-1 - row] if row < len(targets) else "A"}
            each |= {"choices": CHOICES + own}
            each["scores"]["own"]["answer"] = "A"
        log.write_text(json.dumps(content))
    said = [note for note in read_logs(logs).notes if "is none of the choices" in note]
    assert len(said) == (2 if n else 0)
    for note in said:
        assert note.startswith(f"Warning: in {n} of 8 samples of {tmp_path}")
        assert "right and wrong are compared, the answers are not" in note


@pytest.mark.parametrize("n", [0, 1, 2])
def test_samples_that_a_limit_ended_are_counted(tmp_path: Path, n: int) -> None:
    logs = pair(tmp_path, "CCI", "CII")
    whole = json.loads(logs[1].read_text())
    for place, each in enumerate(whole["samples"]):
        each["limit"] = {"type": "token", "limit": 9} if place < n else None
    logs[1].write_text(json.dumps(whole))
    requests = [perturbed(i, "A") for i in range(3)]
    requests += [perturbed(i, "A", name="typos") for i in range(3)]
    for place, request in enumerate(requests):
        request["prompt_truncated"] = place < n
    notes = [*read_logs(logs).notes, *read_logs([helm_log(tmp_path / "s.json", *requests)]).notes]
    told = [note for note in notes if "that a limit ended" in note or "prompt cut to" in note]
    assert len(told) == 2 * (n > 0)
    assert all(f"{n} sample" in note or f"{n} request" in note for note in told)


@pytest.mark.parametrize(
    ("reasons", "said"),
    [
        (["max_tokens", "max_tokens", "stop"], "2 answers that were cut off or held back, by"),
        (["content_filter", "max_tokens", "stop"], "(content_filter 1, max_tokens 1)"),
        (["stop", "stop", "model_length"], "1 answer that was cut off or held back"),
        (["stop", "tool_calls", "unknown"], None),
        ([None, None, None], None),
    ],
)
@pytest.mark.parametrize("is_of_choice", [False, True])
def test_answers_of_inspect_that_were_cut_off_are_counted(
    tmp_path: Path, *, reasons: list[str | None], said: str | None, is_of_choice: bool
) -> None:
    logs = pair(tmp_path, "CCI", "CII")
    whole = json.loads(logs[1].read_text())
    for reason, each in zip(reasons, whole["samples"], strict=True):
        ended = {"stop_reason": reason}
        each["output"] = each.get("output", {}) | ({"choices": [ended]} if is_of_choice else ended)
    logs[1].write_text(json.dumps(whole))
    told = [note for note in read_logs(logs).notes if "stop_reason" in note]
    assert len(told) == (said is not None)
    assert all(str(said) in note for note in told)


def test_completions_without_answers_are_no_copies_of_targets(tmp_path: Path) -> None:
    """The scores say which are wrong, and keep no answer."""
    logs = []
    for name, n_wrong in (("o", 5), ("r", 9)):
        samples = [
            {
                "id": i,
                "epoch": 1,
                "input": f"{name} {i}",
                "target": "ab"[i % 2],
                "output": {"completion": "ab"[(i + (i < n_wrong)) % 2]},
                "scores": {"m": {"value": "I" if i < n_wrong else "C"}},
            }
            for i in range(60)
        ]
        logs.append(inspect_log(tmp_path / f"{name}.json", samples))
    assert not any("nearly the same" in note for note in read_logs(logs).notes)


def test_a_message_that_stands_twice_counts_as_one_sample(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": "a", "model": "other/model"}
    samples = [
        sample(
            i, "C", messages=[message], output={"model": "m/own", "choices": [{"message": message}]}
        )
        for i in range(4)
    ]
    logs = [inspect_log(tmp_path / f"{name}.json", samples) for name in "or"]
    notes = read_logs(logs, logs_are="models").notes
    told = [note for note in notes if "the message is of the model" in note]
    assert told
    assert all("in 4 of 4 samples" in note for note in told)
