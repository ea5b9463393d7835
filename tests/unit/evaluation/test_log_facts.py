"""Facts that logs tell twice, and choices that they leave: filters, headers, seeds, gold labels."""

from __future__ import annotations

import gzip
import json
import math
import zipfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ietest_fast.answers.logs import read_logs
from ietest_fast.answers.readers.base import FileStart
from ietest_fast.answers.readers.inspect_ai import InspectReader
from ietest_fast.errors import InputError
from toy_logs import counts, inspect_log, pair, sample

NAN = float("nan")


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


@pytest.mark.parametrize("time", ["", "T00-00-00.0", "T10-20-30.123456"])
def test_results_are_found_by_the_time_in_their_name(time: str, tmp_path: Path) -> None:
    logs = []
    for place, words in enumerate(("Plain", "Other")):
        path = tmp_path / f"samples_t{place}_2026-01-0{place + 1}{time}.jsonl"
        logs.append(harness_log(path, {"none": [1, 0]}, words=words))
        results = {"results": {f"t{place}": {"exact_match,none": 0.123}}}
        harness_results(
            tmp_path / f"results_2026-01-0{place + 1}{time}.json", f"t{place}", **results
        )
    said = " ".join(read_logs(logs).notes)
    assert said.count("exact_match is 0.5000 in the samples") == 2


@pytest.mark.parametrize(
    ("models", "words", "expected"),
    [
        (("gpt2", "llama"), ("Plain", "Other"), InputError),
        (("gpt2", "gpt2", "llama"), ("Plain", "Other", "Third"), InputError),
        (("gpt2", "llama"), ("Plain", "Plain"), ["gpt2", "llama"]),
        (("gpt2", "llama"), ("Plain", "Plain", "Plain"), None),
        (("gpt2", "gpt2"), ("Plain", "Other"), None),
        (("gpt2",), ("Plain", "Other"), None),
        (("", "llama"), ("Plain", "Other"), None),
        ((None, "llama"), ("Plain", "Other"), None),
        (({"name": "gpt2"}, "llama"), ("Plain", "Other"), None),
    ],
)
def test_results_beside_logs_of_the_harness_name_the_model(
    models: tuple[Any, ...], words: tuple[str, ...], expected: Any, tmp_path: Path
) -> None:
    """Two models in two wordings are no versions; that of a log without results is not known."""
    logs = []
    for place, asked in enumerate(words):
        stamp = f"2026-01-0{place + 1}T00-00-00.0"
        path = tmp_path / f"samples_t{place}_{stamp}.jsonl"
        logs.append(harness_log(path, {"none": [1, 0, 1, place % 2]}, words=asked))
        if place < len(models):
            beside = tmp_path / f"results_{stamp}.json"
            harness_results(beside, f"t{place}", model_name=models[place])
    if expected is InputError:
        with pytest.raises(InputError, match=r"two models \(gpt2 and llama\), and their texts dif"):
            read_logs(logs)
        assert len(read_logs(logs, logs_are="versions").predictions.versions) == len(logs)
        return
    table = read_logs(logs).predictions.table
    named = sorted(set(table["model"].to_pylist())) if "model" in table.column_names else None
    assert expected is None or named == expected


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"n_shot": 0}, {"n_shot": 5}, "differ in n-shot (0 and 5); differences"),
        (
            {"system_instruction": "Be brief.", "n_shot": 5},
            {"config": {"gen_kwargs": {"temperature": 1}}},
            'n-shot (5 and 0), gen_kwargs (null and {"temperature": 1}), system_instruction (\'Be',
        ),
        ({"chat_template": "<a>"}, {"chat_template": ""}, "chat_template ('<a>' and null)"),
        ({"model_name": "a", "chat_template": "<a>"}, {"model_name": "b"}, None),
        ({"system_instruction": None, "config": {"gen_kwargs": ""}}, {"config": 3}, None),
        ({"n_shot": None}, {"n_shot": 5}, None),
        ({"n_shot": 5}, None, None),
        (
            {"config": {"model_args": "pretrained=m"}},
            {"config": {"model_args": "pretrained=m,revision=step1000"}},
            'differ in model_args (null and {"revision": "step1000"})',
        ),
        (
            {"config": {"model_args": {"pretrained": "m", "peft": "a"}, "model_sha": "1"}},
            {"config": {"model_args": "peft=a,pretrained=n,batch_size=4", "model_sha": "2"}},
            "differ in model_sha ('1' and '2'); differences",
        ),
        (
            {"config": {"model_args": "pretrained=m,batch_size=8,device=cuda"}},
            {"config": {"model_args": "pretrained=m"}},
            None,
        ),
    ],
)
def test_settings_in_which_logs_of_the_harness_differ_are_told(
    first: dict[str, Any], second: dict[str, Any] | None, said: str | None, tmp_path: Path
) -> None:
    logs = []
    for day, more in enumerate((first, second), start=1):
        stamp = f"2026-01-0{day}T00-00-00.0"
        path = tmp_path / f"samples_t{day}_{stamp}.jsonl"
        logs.append(harness_log(path, {"none": [1, 0, 1, day % 2]}, words=f"Words {day}"))
        if more is not None:
            harness_results(tmp_path / f"results_{stamp}.json", f"t{day}", **dict(more))
    notes = read_logs(logs, logs_are="versions").notes
    told = [note for note in notes if "the logs differ in" in note]
    assert len(told) == (said is not None)
    assert all(str(said) in note for note in told)


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ({"configs": {"t": {"num_fewshot": 5}}}, "is 0, and configs.t.num_fewshot is 5"),
        ({"n-shot": {"t": 3}, "configs": {"t": {"num_fewshot": 0}}}, "is 3, and configs.t.num_f"),
        ({"configs": {"t": {"num_fewshot": None}}}, None),
        # The examples stand in the prompt, and older versions count them.
        (
            {"n-shot": {"t": 8}, "configs": {"t": {"num_fewshot": 0, "metadata": {}}}},
            "n-shot, which counts, is 8",
        ),
        (
            {
                "n-shot": {"t": 8},
                "configs": {"t": {"num_fewshot": 0, "metadata": {"num_fewshot": 8}}},
            },
            None,
        ),
        *(
            ({"model_name": name, "config": {"model_args": args}}, said)
            for name, args, said in (
                (
                    "my/model",
                    "pretrained=other/model",
                    "is 'my/model', and config.model_args names 'other/model'",
                ),
                ("my/model", {"pretrained": "other/model"}, "config.model_args names 'other/mod"),
                ("gpt-b", {"model": "gpt-a", "base_url": "x"}, "config.model_args names 'gpt-a'"),
                ("my/model", "pretrained=my/model,dtype=float16", None),
                ("adapter", "pretrained=my/model,peft=adapter", None),
                ("my/model", "pretrained=my/model,peft=adapter", None),
                ("llama", "pretrained=/data/models/llama/", None),
                ("my/model", "pretrained=/hub/models--my--model/snapshots/1", None),
                ("Xk3f9", "dtype=float16", None),  # the harness draws a name where it knows none
                (None, "pretrained=my/model", None),
            )
        ),
        ({"model_name": "a/b", "model_name_sanitized": "a__c"}, "model_name_sanitized is 'a__c'"),
        ({"model_name": "a/b", "model_name_sanitized": "a__b"}, None),
        *(
            ({"config": {"model_args": f"revision={asked}", "model_revision": given}}, said)
            for asked, given, said in (
                ("step1", "main", "the revision in config.model_args is 'step1', and config.model"),
                ("step1", "step1", None),
                ("step1", "step1/folder", None),
            )
        ),
        *(
            ({"config": {"limit": limit}, "n-samples": {"t": {"original": n}}}, said)
            for limit, n, said in (
                (2.0, 9, "config.limit is 2, and there are 4 samples"),
                (3, None, "config.limit is 3, and there are 4 samples"),
                (0.25, 9, "config.limit is 0.25, and there are 4 samples"),
                (0.4, 9, None),
                (0.25, None, None),
                (4.0, 9, None),
                (100.0, 9, None),
                (None, 9, None),
                ("all", 9, None),
            )
        ),
        *(
            (
                {place: {"t": {"generation_kwargs": given}} if place == "configs" else given},
                said,
            )
            for place, given, said in (
                ("configs", {"temperature": 0.7}, "in configs.t.generation_kwargs, and 4 of 4 sam"),
                ("config", {"gen_kwargs": "temperature=1"}, "temperature is '1' in config.gen_kwa"),
                ("config", {"gen_kwargs": "temperature=0.0,do_sample=False"}, None),
                ("config", {"gen_kwargs": {"top_p": 0.5, "max_gen_toks": 9}}, None),
                ("configs", {"until": "\n", "temperature": 0, "max_gen_toks": 9}, None),
            )
        ),
        ({"configs": [], "n-shot": 3, "config": "x"}, None),
    ],
)
def test_what_results_of_the_harness_state_twice_is_compared(
    results: dict[str, Any], said: str | None, tmp_path: Path
) -> None:
    given = {"until": ["\n"], "temperature": 0.0, "do_sample": False, "max_gen_toks": 32}
    logs = []
    for day, words in enumerate(("Plain", "Other"), start=1):
        stamp = f"2026-01-0{day}T00-00-00.0"

        def ask(i: int, words: str = words) -> Any:
            """A request for a generated answer."""
            return {"gen_args_0": {"arg_0": f"{words} {i}", "arg_1": given}}

        log = harness_log(
            tmp_path / f"samples_t_{stamp}.jsonl",
            {"none": [1, 0, 1, 1]},
            words=words,
            arguments=ask,
        )
        logs.append(log)
        harness_results(tmp_path / f"results_{stamp}.json", "t", **results)
    notes = [note for note in read_logs(logs).notes if "contradicts itself" in note]
    assert len(notes) == 2 * (said is not None)
    assert all(note.startswith("Warning: results_2026-01-0") for note in notes)
    assert all(str(said) in note and "Take both files as" in note for note in notes)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"temperature": 0.0}, {"temperature": 1.0}, 'arguments ({} and {"temperature": 1.0})'),
        ({}, {"do_sample": True, "top_p": 0.9}, '({} and {"do_sample": true, "top_p": 0.9})'),
        ({"until": ["\n"]}, {"until": ["."]}, 'arguments ({"until": ['),
        ({"temperature": 0.0, "do_sample": False}, {"top_k": None}, None),
        ({"max_gen_toks": 32}, {"max_gen_toks": 64}, None),
        ({"temperature": 1}, {"temperature": 1}, None),
        (None, {"temperature": 1}, None),
    ],
)
@pytest.mark.parametrize("is_list", [False, True])
@pytest.mark.parametrize("with_results", [False, True])
def test_options_of_requests_in_which_logs_of_the_harness_differ_are_told(
    *,
    first: dict[str, Any] | None,
    second: dict[str, Any],
    said: str | None,
    is_list: bool,
    with_results: bool,
    tmp_path: Path,
) -> None:
    """A log without requests, or without results beside it, says nothing of its own."""
    logs = []
    for day, given in enumerate((first, second), start=1):
        stamp = f"2026-01-0{day}T00-00-00.0"

        def ask(i: int, day: int = day, given: Any = given) -> Any:
            """The two forms in which versions of the harness write a request."""
            text = f"Words {day} {i}"
            if is_list:
                return [[text, given]]
            return {"gen_args_0": {"arg_0": text, "arg_1": given}}

        path = tmp_path / f"samples_t{day}_{stamp}.jsonl"
        logs.append(harness_log(path, {"none": [1, 0, 1]}, words=f"Words {day}", arguments=ask))
        if with_results and day == 1:
            config = {"config": {"gen_kwargs": "top_k=3"}, "system_instruction": "x"}
            harness_results(tmp_path / f"results_{stamp}.json", "t1", **config)
    notes = [note for note in read_logs(logs).notes if "the logs differ in" in note]
    assert len(notes) == (said is not None)
    assert all(str(said) in note and "system" not in note for note in notes)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"ignore_case": True}, {"ignore_case": False}, "metric_list.exact_match ([{"),
        ({"agg": "<f at 0x7f01>"}, {"agg": "<f at 0x7f02>"}, None),
        ({}, {}, None),
        ({"metric": "acc"}, {"metric": "acc", "x": 1}, None),  # does not judge
        ({}, None, None),
    ],
)
@pytest.mark.parametrize("is_filter", [False, True])
def test_settings_of_the_judge_in_which_logs_of_the_harness_differ_are_told(
    *,
    first: dict[str, Any],
    second: dict[str, Any] | None,
    said: str | None,
    is_filter: bool,
    tmp_path: Path,
) -> None:
    logs = []
    for day, given in enumerate((first, second), start=1):
        stamp = f"2026-01-0{day}T00-00-00.0"
        path = tmp_path / f"samples_t{day}_{stamp}.jsonl"
        logs.append(harness_log(path, {"strict": [1, 0, 1]}, words=f"Words {day}"))
        own = None if given is None else [{"metric": "exact_match"} | given]
        if own and is_filter:
            own[0]["name"] = own[0].pop("metric").replace("exact_match", "strict")
        configs = {f"t{day}": {"filter_list" if is_filter else "metric_list": own}}
        harness_results(tmp_path / f"results_{stamp}.json", f"t{day}", configs=configs)
    notes = [note for note in read_logs(logs).notes if "the logs differ in" in note]
    assert len(notes) == (said is not None)
    expected = "filter_list.strict ([{" if is_filter else str(said)
    assert all(expected in note for note in notes)


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


STRICT, FLEXIBLE, OTHER = [0, 0, 0, 1], [1, 1, 0, 1], [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("first", "second", "note"),
    [
        ("sf", "f", "'f' are compared, the only one that all logs have."),
        ("f", "sf", "'f' are compared, the only one that all logs have."),
        ("sf", "fs", "'s' are compared; --filter chooses another (f)."),
        ("sfx", "xf", "'f' are compared; --filter chooses another (x)."),
        ("f", "f", None),
    ],
)
def test_answers_of_one_filter_are_compared(
    first: str, second: str, note: str | None, tmp_path: Path
) -> None:
    """The first of each log need not be the same."""
    values = {"s": STRICT, "f": FLEXIBLE, "x": OTHER}
    logs = [
        harness_log(tmp_path / "samples_a.jsonl", {name: values[name] for name in first}),
        harness_log(
            tmp_path / "samples_b.jsonl",
            {name: {"f": STRICT, "s": OTHER, "x": OTHER}[name] for name in second},
            words="Reworded question",
        ),
    ]
    expected_of = {"f": (FLEXIBLE, STRICT), "s": (STRICT, OTHER)}
    name = "f" if note is None else note[1]
    rows = list(zip(*expected_of[name], strict=True))
    read = read_logs(logs)
    assert counts(read) == [rows.count(pair) for pair in ((1, 1), (1, 0), (0, 1), (0, 0))]
    said = [line for line in read.notes if line.startswith("The answers of the filter")]
    assert said == ([] if note is None else [f"The answers of the filter {note}"])


def test_answers_of_other_filters_are_not_compared(tmp_path: Path) -> None:
    logs = [
        harness_log(tmp_path / f"samples_{name}.jsonl", {name: STRICT}, words=name) for name in "sf"
    ]
    with pytest.raises(InputError, match=r"has answers of the filter 'f', and .*a?s.jsonl of 's';"):
        read_logs(logs)


@pytest.mark.parametrize("missing", [None, NAN, [None]])
def test_samples_of_lm_eval_that_were_not_scored_are_counted(
    missing: object, tmp_path: Path
) -> None:
    logs = [
        harness_log(tmp_path / "samples_a.jsonl", {"none": [1, missing, 0, 1]}),
        harness_log(tmp_path / "samples_b.jsonl", {"none": [0, 1, 0, missing]}, words="Other"),
    ]
    for options in ({}, {"threshold": 0.5}, {"correct_columns": ["exact_match"]}):
        read = read_logs(logs, **options)
        assert read.predictions.dropped == {"answer without a score": 2}
        assert counts(read) == [0, 1, 0, 1]
    # The metric is named by the samples that have it, and the first may be without.
    first = harness_log(tmp_path / "samples_d.jsonl", {"none": [missing, 1, 0, 1]})
    samples = [json.loads(line) for line in first.read_text().splitlines()]
    del samples[0]["exact_match"]
    first.write_text("".join(json.dumps(each) + "\n" for each in samples))
    assert counts(read_logs([first, logs[1]])) == [1, 0, 0, 1]
    nothing = harness_log(tmp_path / "samples_c.jsonl", {"none": [missing] * 4})
    with pytest.raises(
        InputError, match=r"none of its metrics says right or wrong \(exact_match\);"
    ):
        read_logs([logs[0], nothing])


def test_an_answer_that_was_not_parsed_and_is_right_hides_no_others(tmp_path: Path) -> None:
    logs = [
        harness_log(tmp_path / "samples_a.jsonl", {"none": [1, 0, 1, 1]}),
        harness_log(tmp_path / "samples_b.jsonl", {"none": [1, 0, 0, 1]}, words="Other"),
    ]
    samples = [json.loads(line) for line in logs[1].read_text().splitlines()]
    for place in (0, 1, 2):
        samples[place]["filtered_resps"] = ["[invalid]"]
    logs[1].write_text("".join(json.dumps(each) + "\n" for each in samples))
    notes = read_logs(logs).notes
    assert any("Answers to 2 of 4 items could not be parsed" in note for note in notes)
    assert any("b.jsonl: 1 answer could not be parsed, and the log says right" in x for x in notes)


@pytest.mark.parametrize(("value", "shown"), [("1.0", "'1.0'"), (100, "100"), (0.5, "0.5")])
def test_a_value_that_says_neither_right_nor_wrong_is_shown(
    value: object, shown: str, tmp_path: Path
) -> None:
    logs = [
        harness_log(tmp_path / "samples_a.jsonl", {"none": [1, 0, 0, 1]}),
        harness_log(tmp_path / "samples_b.jsonl", {"none": [0, 1, value, 1]}, words="Other"),
    ]
    with pytest.raises(InputError, match=rf"exact_match is {shown} in sample 2; name a field"):
        read_logs(logs)


def test_a_log_whose_documents_have_no_numbers_is_no_table(tmp_path: Path) -> None:
    logs = [harness_log(tmp_path / f"samples_{n}.jsonl", {"none": [1, 0]}) for n in "ab"]
    samples = [json.loads(line) for line in logs[1].read_text().splitlines()]
    for each in samples:
        del each["doc_id"]
    logs[1].write_text("".join(json.dumps(each) + "\n" for each in samples))
    with pytest.raises(InputError, match="line 1: has no 'doc_id', which every sample of lm-eval"):
        read_logs(logs)


def test_packed_logs_and_arrays_are_read(tmp_path: Path) -> None:
    plain = [
        harness_log(tmp_path / f"samples_{words}.jsonl", {"none": values}, words=words)
        for words, values in (("a", FLEXIBLE), ("b", OTHER))
    ]
    expected = counts(read_logs(plain))
    for ending in (".json", ".jsonl.gz", ".json.gz"):
        folder = tmp_path / ending
        folder.mkdir()
        logs = [
            harness_log(folder / f"samples_{words}{ending}", {"none": values}, words=words)
            for words, values in (("a", FLEXIBLE), ("b", OTHER))
        ]
        assert counts(read_logs(logs)) == expected
        assert counts(read_logs(logs, reader="lm-eval")) == expected
        assert counts(read_logs([folder], tasks=["a", "b"])) == expected
    whole = logs[0].read_bytes()
    logs[0].write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"samples_a\.json.gz: cannot be read: Truncated"):
        read_logs(logs, reader="lm-eval")
    packed = [
        inspect_log(tmp_path / f"{words}.json", [sample(0, "C", asked=words)]) for words in "ab"
    ]
    for log in packed:
        log.with_suffix(".json.gz").write_bytes(gzip.compress(log.read_bytes()))
    assert counts(read_logs([log.with_suffix(".json.gz") for log in packed])) == [1, 0, 0, 0]


def test_documents_are_what_they_are_and_not_their_hash(tmp_path: Path) -> None:
    """A document that was edited keeps the hash that stands beside it."""
    kept = {"doc_hash": lambda i: f"h{i}"}
    first = harness_log(tmp_path / "samples_a.jsonl", {"none": FLEXIBLE}, **kept)
    edited = harness_log(tmp_path / "samples_b.jsonl", {"none": OTHER}, words="Reworded", **kept)
    assert read_logs([first, edited]).predictions.versions == ("original", "transformed")
    asked = harness_log(
        tmp_path / "samples_c.jsonl",
        {"none": OTHER},
        arguments=lambda i: {"gen_args_0": {"arg_0": f"Please: question {i}?", "arg_1": {}}},
        **kept,
    )
    notes = read_logs([first, asked]).notes
    assert "Their documents are the same, and their prompts differ." in notes[-1]


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
                ({"nli/stderr": {"name": "stderr", "value": 0.2}, "x": 3}, []),
                # Of two groups of samples.
                ({key: {"name": "accuracy", "value": 0.2} for key in ("plain", "odd")}, []),
            )
        ),
        ({"results": {"scores": [None, {"name": "own", "metrics": 3}]}, "status": 5}, []),
        *(
            (
                {"results": {"scores": [{"name": "own", "scorer": scorer, "scored_samples": n}]}},
                said,
            )
            for scorer, n, said in (
                ("own", 2, ["has 6 samples, and its header counts 2;"]),
                ("own", 6, []),
                ("own", "2", []),
                ("else", 2, []),
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
    for log, options in zip(logs, (first, second), strict=True):
        whole = json.loads(log.read_text())
        whole["eval"]["scorers"] = None if options is None else [{"name": name, "options": options}]
        log.write_text(json.dumps(whole))
    told = [note for note in read_logs(logs).notes if "the logs differ in" in note]
    assert len(told) == (said is not None and name != "else")
    assert all(str(said).replace(".own", f".{name}") in note for note in told)


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


@pytest.mark.parametrize(
    ("mapping", "said", "texts", "refused", "n"),
    [
        (None, "A", ("yes", "no"), True, 0),
        ({}, " b.", ("yes", "no"), True, 0),
        (None, "B)", ("yes", "no"), True, 0),
        ({"A": "Yes", "B": "No"}, "A", ("yes", "no"), False, 3),
        ({"A": "no"}, "A", ("yes", "no"), False, 3),
        (None, "yes", ("yes", "no"), False, 0),
        (None, "It is not known.", ("yes", "no"), False, 0),
        (None, "B", ("B", "C"), False, 0),
        ({"A": "yes", "B": "no"}, "C", ("yes", "no"), False, 0),
    ],
)
def test_letters_of_helm_that_stand_for_no_reference_are_told(
    *,
    mapping: dict[str, str] | None,
    said: str,
    texts: tuple[str, str],
    refused: bool,
    n: int,
    tmp_path: Path,
) -> None:
    """Else every answer would be wrong, in silence."""
    requests = [perturbed(i, said) for i in range(3)]
    requests += [perturbed(i, said, name="typos") for i in range(3)]
    for request in requests[:3]:
        request["output_mapping"] = mapping
        for text, reference in zip(texts, request["instance"]["references"], strict=True):
            reference["output"]["text"] = text
    path = helm_log(tmp_path / "s.json", *requests)
    if refused:
        with pytest.raises(InputError, match=r"to instance 'id0' is a letter, .*; 3 requests have"):
            read_logs([path])
        return
    notes = [note for note in read_logs([path]).notes if "no letter of output_mapping" in note]
    assert len(notes) == (n > 0)
    assert not n or f"in {n} of 6 requests" in notes[0]


@pytest.mark.parametrize(
    ("scores", "is_second"),
    [((-3.0, -0.1), True), ((-0.1, -3.0), False), ((0.0, 0.0), False), ((None, -2.0), True)],
)
def test_the_likeliest_of_several_completions_of_helm_counts(
    tmp_path: Path, scores: tuple[float | None, float], *, is_second: bool
) -> None:
    requests = [perturbed(i, "A") for i in range(3)]
    requests += [perturbed(i, "A", name="typos") for i in range(3)]
    for request in requests[3:]:
        request["result"]["completions"] = [
            {"text": text, "logprob": score} for text, score in zip("AB", scores, strict=True)
        ]
    read = read_logs([helm_log(tmp_path / "s.json", *requests)])
    assert counts(read) == ([0, 3, 0, 0] if is_second else [3, 0, 0, 0])
    assert any("of 3 requests with several completions, the likeliest" in x for x in read.notes)


@pytest.mark.parametrize(
    ("stats", "said"),
    [
        ([("exact_match", "test", 0.1)], "has exact_match 0.1000; the"),
        ([("exact_match", "test", 0.0)], "0.7500 of 4 unperturbed instances are right"),
        (
            [("exact_match", "test", 0.1), ("quasi_exact_match", "test", 0.2)],
            "has exact_match 0.1000 and quasi_exact_match 0.2000;",
        ),
        ([("exact_match", "test", 0.75)], None),
        ([("exact_match", "test", 0.5), ("quasi_exact_match", "test", 0.75)], None),
        ([("exact_match", "test", 0.75), ("exact_match", "test", 0.1, "typos")], None),
        ([("exact_match", "valid", 0.1)], None),
        ([("f1_score", "test", 0.1)], None),
        ([("exact_match", "test", "high")], None),
        ("damaged", None),
        (None, None),
    ],
)
@pytest.mark.parametrize("odd", ["", "name", "split", "trial", "failed"])
def test_results_of_helm_that_contradict_the_answers_are_told(
    tmp_path: Path, stats: Any, said: str | None, odd: str
) -> None:
    requests = [perturbed(i, answer) for i, answer in enumerate("AAAB")]
    requests += [perturbed(i, "B", name="typos") for i in range(4)]
    for request in requests:
        request["instance"]["split"] = "test"
    if odd == "split":
        requests[0]["instance"]["split"] = "valid"
    elif odd == "trial":
        requests[0]["train_trial_index"] = requests[4]["train_trial_index"] = 1
    elif odd == "failed":
        requests[0]["result"]["success"] = False
    found: Any = stats
    if isinstance(stats, list):
        found = [
            {
                "name": {"name": name, "split": split}
                | ({"perturbation": {"name": by[0]}} if by else {}),
                "mean": mean,
            }
            for name, split, mean, *by in stats
        ]
    if stats is not None:
        text = json.dumps(found)
        (tmp_path / "stats.json").write_text(text if text != '"damaged"' else "[{")
    log = helm_log(tmp_path / ("s.json" if odd == "name" else "scenario_state.json"), *requests)
    notes = [note for note in read_logs([log], unparsed="wrong").notes if "stats.json" in note]
    assert len(notes) == (said is not None and not odd)
    assert all(str(said) in note for note in notes)


@pytest.mark.parametrize("splits", [["test"] * 4, ["valid", "test", "test", "test"]])
def test_instances_of_several_splits_of_helm_are_told(tmp_path: Path, splits: list[str]) -> None:
    requests = [perturbed(i, "A", **by) for by in ({}, {"name": "typos"}) for i in range(4)]
    for request, split in zip(requests, splits * 2, strict=True):
        request["instance"]["split"] = split
    log = helm_log(tmp_path / "scenario_state.json", *requests)
    said = [note for note in read_logs([log], unparsed="wrong").notes if "of 2 splits" in note]
    assert len(said) == ("valid" in splits)
    assert not said or "(valid 2, test 6), and count together" in said[0]


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ({"exact_match": "1110"}, None),
        (
            {"exact_match": "1100"},
            "exact_match in per_instance_stats.json beside it",
        ),
        ({"exact_match": "0000", "quasi_exact_match": "1010"}, "quasi_exact_match in per_instance"),
        ({"exact_match": "0000", "quasi_exact_match": "1110"}, None),
        ({"f1_score": "0000"}, None),
    ],
)
@pytest.mark.parametrize("odd", ["", "name", "kept", "damaged"])
def test_results_of_instances_of_helm_are_held_against_the_answers(
    tmp_path: Path, metrics: dict[str, str], said: str | None, odd: str
) -> None:
    requests = [perturbed(i, answer) for i, answer in enumerate("AAAB")]
    requests += [perturbed(i, answer, name="typos") for i, answer in enumerate("AAAB")]
    results = [
        {
            "instance_id": request["instance"]["id"],
            "train_trial_index": request.get("train_trial_index"),
            "stats": [
                {"name": {"name": name, "split": "test"}, "mean": float(marks[place % 4])}
                for name, marks in metrics.items()
            ],
        }
        | (
            {"perturbation": request["instance"]["perturbation"]}
            if request["instance"].get("perturbation")
            else {}
        )
        for place, request in enumerate(requests)
        if odd != "kept" or place != 2
    ]
    text = json.dumps(results if odd != "damaged" else [*results, 3, {"stats": [{"name": 1}]}])
    (tmp_path / "per_instance_stats.json").write_text(text)
    log = helm_log(tmp_path / ("s.json" if odd == "name" else "scenario_state.json"), *requests)
    notes = [note for note in read_logs([log]).notes if "per_instance" in note]
    is_told = said is not None and odd != "name"
    assert len(notes) == is_told
    assert all(str(said) in note for note in notes)


def test_the_unperturbed_instances_are_the_reference_wherever_they_stand(tmp_path: Path) -> None:
    plain = [perturbed(i, said) for i, said in enumerate("AAB")]
    typos = [perturbed(i, said, name="typos", prob=0.1) for i, said in enumerate("ABB")]
    for place, requests in enumerate(
        (
            plain + typos,
            typos + plain,
            [each for both in zip(typos, plain, strict=True) for each in both],
        )
    ):
        read = read_logs([helm_log(tmp_path / f"{place}.json", *requests)])
        assert read.predictions.versions == ("original", "typos:prob=0.1")
        assert counts(read) == [1, 1, 0, 1]
        assert read.predictions.pairs("typos:prob=0.1").reworded().all()
    dialect = [perturbed(i, "A", name="dialect") for i in range(3)]
    with pytest.raises(InputError, match="has 2 perturbations and no unperturbed instances"):
        read_logs([helm_log(tmp_path / "x.json", *typos, *dialect)])


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ([{"seed": 0}, {"seed": 1}], ["typos:prob=0.1,seed=0", "typos:prob=0.1,seed=1"]),
        ([{"seed": None}, {"seed": 1}], ["typos:prob=0.1", "typos:prob=0.1,seed=1"]),
        (
            [{"words": {"a": "b"}}, {"words": {"a": "c"}}],
            ['typos:prob=0.1,words={"a": "b"}', 'typos:prob=0.1,words={"a": "c"}'],
        ),
        ([{"seed": 3}], ["typos:prob=0.1"]),
    ],
)
def test_parameters_tell_perturbations_apart(
    parameters: list[dict[str, Any]], names: list[str], tmp_path: Path
) -> None:
    requests = [perturbed(i, "A") for i in range(3)] + [
        perturbed(i, "AB"[place], name="typos", prob=0.1, **each)
        for i in range(3)
        for place, each in enumerate(parameters)
    ]
    predictions = read_logs([helm_log(tmp_path / "s.json", *requests)]).predictions
    assert predictions.versions == ("original", *names)
    assert predictions.pairs(names[-1]).sample.counts.n10 == 3 * (len(names) - 1)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"model": "other"},
            "2 of 6 requests went to another model than that of the run: model is",
        ),
        ({"model": "other", "model_deployment": "x/m"}, "model is 'other' in the first of them"),
        ({"model": "m", "model_deployment": "x/m"}, "model_deployment is 'x/m' in the first of"),
        ({"model_deployment": "x/m"}, "'x/m' in the first of them, and 'own/m' in adapter_spec"),
        ({"model": "m", "model_deployment": "own/m"}, None),
        ({"model": "", "model_deployment": None}, None),
        ({}, None),
        (None, None),
    ],
)
def test_requests_of_helm_to_another_model_are_counted(
    asked: dict[str, Any] | None, said: str | None, tmp_path: Path
) -> None:
    requests = [perturbed(i, "A", **more) for more in ({}, {"name": "typos"}) for i in range(3)]
    requests[4]["request"] = requests[5]["request"] = asked
    log = helm_log(tmp_path / "s.json", *requests)
    state = json.loads(log.read_text())
    state["adapter_spec"]["model_deployment"] = "own/m"
    log.write_text(json.dumps(state))
    notes = read_logs([log]).notes
    assert len(notes) == (said is not None)
    assert all(str(said) in note for note in notes)


@pytest.mark.parametrize(
    ("originals", "others", "said"),
    [
        ({"num_train_instances": 0}, {"num_train_instances": 5}, "num_train_instances (0 and 5)"),
        (
            {"request": {"temperature": 0.0}},
            {"request": {"temperature": 1.0}},
            "request.temperature (0.0 and 1.0)",
        ),
        (
            {"request": {"stop_sequences": ["\\n"]}},
            {"request": {"stop_sequences": []}},
            "request.stop_sequences",
        ),
        (
            {"request": {"model_deployment": "own/m"}},
            {"request": {"model_deployment": "x/m"}},
            "request.model_deployment ('own/m' and 'x/m')",
        ),
        ({"num_train_instances": 5}, {"num_train_instances": 5}, None),
        ({"request": {"prompt": "a", "random": "0"}}, {"request": {"prompt": "b"}}, None),
        ({"request": {"temperature": 0.0}}, {}, None),
    ],
)
@pytest.mark.parametrize("n_files", [1, 2])
def test_settings_of_requests_of_helm_are_compared(
    n_files: int,
    originals: dict[str, Any],
    others: dict[str, Any],
    said: str | None,
    tmp_path: Path,
) -> None:
    name = {"name": "typos"} if n_files == 1 else {}
    requests = [
        [perturbed(i, "A", **more) | asked for i in range(3)]
        for more, asked in (({}, originals), (name, others))
    ]
    if n_files == 1:
        logs = [helm_log(tmp_path / "s.json", *requests[0], *requests[1])]
    else:
        logs = [helm_log(tmp_path / f"{i}.json", *own) for i, own in enumerate(requests)]
    for log in logs:
        state = json.loads(log.read_text())
        state["adapter_spec"] |= {"temperature": 0.5, "max_tokens": 5}
        log.write_text(json.dumps(state))
    notes = [note for note in read_logs(logs).notes if " differ in " in note]
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


TEXT = "Question {}?"


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
    ("asked", "n"),
    [
        ({"request": {"prompt": f"Example.\n{TEXT}\nAnswer:"}}, 3),
        ({"request": {"prompt": "", "messages": [{"role": "user", "content": TEXT}]}}, 3),
        ({"request": {"prompt": TEXT}, "prompt_truncated": True}, 0),
        ({"request": {"prompt": TEXT, "multimodal_prompt": {"media_objects": []}}}, 0),
        ({"request": {"prompt": "Example.\n{own}\nAnswer:"}}, 0),
        ({"request": {"prompt": "Answer:"}}, 0),
        ({"request": {"prompt": ""}}, 0),
        ({"request": None}, 0),
    ],
)
def test_prompts_of_helm_are_held_against_the_texts(
    asked: dict[str, Any], n: int, tmp_path: Path
) -> None:
    requests = []
    for more in ({}, {"name": "typos"}):
        for i in range(3):
            plain = perturbed(i, "A", **more)
            own = plain["instance"]["input"]["text"]
            words = json.dumps(asked).replace("{}", str(i)).replace("{own}", own.replace('"', ""))
            requests.append(plain | json.loads(words))
    notes = read_logs([helm_log(tmp_path / "s.json", *requests)]).notes
    told = [note for note in notes if "asked in the same words" in note]
    assert len(told) == (n > 0)
    assert all(f"of 3 texts of typos that differ from the original's, {n} w" in x for x in told)


@pytest.mark.parametrize(
    ("lines", "is_other"),
    [
        ("A. no\nB. yes\nAnswer:", True),
        ("(A) no\n(B)  yes", True),
        ("A. yes\nB. no\nAnswer: A\n\nA. no\nB. yes\nAnswer:", True),
        ("A. yes\nB. no\nAnswer:", False),
        ("A. no\nB. yes\nAnswer: B\n\nA. yes\nB. no\nAnswer:", False),
        ("A. yes, indeed\nB. no\nAnswer:", False),
        ("A. no\nAnswer:", False),
        ("yes or no?", False),
    ],
)
@pytest.mark.parametrize("place", ["prompt", "messages", "cut"])
def test_letters_of_choices_in_prompts_of_helm_are_compared(
    place: str, lines: str, *, is_other: bool, tmp_path: Path
) -> None:
    requests = [perturbed(i, "A", **more) for more in ({}, {"name": "typos"}) for i in range(3)]
    for request in requests[4:]:
        words = f"{request['instance']['input']['text']}\n{lines}"
        chat = [{"role": "user", "content": words}]
        request["request"] = {"messages": chat} if place == "messages" else {"prompt": words}
        request["prompt_truncated"] = place == "cut"
    notes = read_logs([helm_log(tmp_path / "s.json", *requests)]).notes
    told = [note for note in notes if "gives the choices other letters" in note]
    assert len(told) == (is_other and place != "cut")
    assert all("in 2 of 6 requests the prompt" in note for note in told)


def test_seeds_of_instances_make_no_versions(tmp_path: Path) -> None:
    requests = [perturbed(i, "A") for i in range(3)]
    requests += [perturbed(i, "B", name="typos", seed=i) for i in range(3)]
    predictions = read_logs([helm_log(tmp_path / "s.json", *requests)]).predictions
    assert predictions.versions == ("original", "typos")


@pytest.mark.parametrize("n_skipped", [0, 1])
@pytest.mark.parametrize(
    ("before", "after", "n"),
    [
        (["yes"], ["yes", "no"], 1),
        (["yes", "no"], ["yes"], 1),
        (["yes", "no"], ["yes", "maybe"], 1),
        (["yes"], ["no"], 1),
        (["yes", "no"], ["yes", "no"], 0),
        (["yes", "no"], ["no", "yes", "no"], 0),
        (["yes"], ["yes"], 0),
    ],
)
def test_all_right_answers_of_helm_are_compared(
    before: list[str], after: list[str], n: int, n_skipped: int, tmp_path: Path
) -> None:
    requests = [perturbed(i, "A", **more) for more in ({}, {"name": "typos"}) for i in range(4)]
    for place, right in ((1, before), (5, after)):
        requests[place]["instance"]["references"] = [
            {"output": {"text": text}, "tags": ["correct"]} for text in right
        ]
    said = [
        note
        for note in read_logs([helm_log(tmp_path / "s.json", *requests[: 8 - n_skipped])]).notes
        if f"the right answer to 1 item of {4 - n_skipped} is another one in typos than in original"
        in note
    ]
    assert len(said) == n
    # Of two files they are an error, as single right answers are.
    logs = [
        helm_log(tmp_path / f"{name}.json", *own)
        for name, own in (("a", requests[:4]), ("b", requests[4:]))
    ]
    for each in requests[4:]:
        del each["instance"]["perturbation"]
    logs[1] = helm_log(logs[1], *requests[4:])
    if n:
        with pytest.raises(InputError, match="item 'id1' has the right answer"):
            read_logs(logs)
    else:
        assert read_logs(logs).predictions.versions == ("original", "transformed")


@pytest.mark.parametrize(
    ("gold", "options", "message"),
    [
        ("id,label\n1,x\n2,y\n3,x\n4,y\n", {}, None),
        ("id,label\n4,y\n3,x\n2,y\n1,x\n", {"id_column": "id"}, None),
        ("id,label\n4,y\n3,x\n2,y\n1,x\n", {}, r"g.csv, row 0, column 'id': names the rows"),
        ("label\nx\ny\nx\ny\n", {}, None),
        ("label\nx\ny\ny\ny\n", {}, "row 2, column 'label': the right answer is 'y', and 'x' in"),
        (
            "id,label\n1,x\n2,y\n3,y\n4,y\n",
            {"id_column": "id"},
            "item '3' has the right answer 'y', and 'x' in",
        ),
    ],
)
@pytest.mark.parametrize("form", ["two", "wide", "long"])
def test_a_table_of_gold_labels_agrees_with_the_logs(
    form: str, gold: str, options: dict[str, str], message: str | None, tmp_path: Path
) -> None:
    """By ids if it has some, and by the labels that the logs have themselves."""
    answers = {"original": "xyxy", "t": "xyxx"}
    logs = []
    if form == "two":
        for name, said in answers.items():
            rows = "".join(
                f"{i},{g},{p}\n" for i, (g, p) in enumerate(zip("xyxy", said, strict=True), 1)
            )
            logs.append(tmp_path / f"{name}.csv")
            logs[-1].write_text(f"id,label,prediction\n{rows}")
    elif form == "wide":
        rows = "".join(
            f"{i},{g},{a},{b}\n"
            for i, (g, a, b) in enumerate(zip("xyxy", *answers.values(), strict=True), 1)
        )
        logs = [tmp_path / "w.csv"]
        logs[0].write_text(f"id,label,original,transformed\n{rows}")
    else:
        logs = [tmp_path / "l.csv"]
        rows = "".join(
            f"{i},{name},{g},{p}\n"
            for name, said in answers.items()
            for i, (g, p) in enumerate(zip("xyxy", said, strict=True), 1)
        )
        logs[0].write_text(f"item,version,gold,predicted\n{rows}")
    path = tmp_path / "g.csv"
    path.write_text(gold)
    if message is None:
        assert counts(read_logs(logs, gold_path=path, **options)) == [3, 1, 0, 0]
        return
    with pytest.raises(InputError, match=message):
        read_logs(logs, gold_path=path, **options)


@pytest.mark.parametrize("is_gold", [True, False])
@pytest.mark.parametrize(
    ("name", "ids", "is_told"),
    [
        ("uid", ("q4", "q2", "q1", "q3"), True),
        ("id", ("a", "b", "c", "d"), True),
        ("pairID", (11, 12, 13, 14), True),
        ("uid", ("1.0", "2.0", "3.0", "4.0"), False),
        ("id", (1, 2, 3, 4), False),
        ("uid", ("q", "q", "r", "r"), False),  # which tells no rows apart
        ("note", ("w", "x", "y", "z"), False),
    ],
)
def test_ids_that_have_nothing_in_common_are_told_where_rows_are_matched_by_order(
    name: str, ids: tuple[Any, ...], is_told: bool, is_gold: bool, tmp_path: Path
) -> None:
    rows = "".join(f"{i},{p}{'' if is_gold else f',{p}'}\n" for i, p in enumerate("xyxy", 1))
    logs = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for log in logs:
        log.write_text(f"id,prediction{'' if is_gold else ',label'}\n{rows}")
    other = tmp_path / "g.csv" if is_gold else logs[1]
    own = "".join(f"{i},{p},{p}\n" for i, p in zip(ids, "xyxy", strict=True))
    other.write_text(f"{name},prediction,label\n{own}")
    found = read_logs(logs, gold_path=other if is_gold else None)
    told = [note for note in found.notes if "have nothing in common" in note]
    assert len(told) == is_told * len(logs[not is_gold :])
    said = f"{other.name}: its 4 rows were matched by order with those of {tmp_path}"
    assert all(said in note for note in told)
    assert all(f"columns {name} and id have nothing" in note for note in told)


@pytest.mark.parametrize(
    ("header", "options", "message"),
    [
        ("gold_label", {}, None),
        ("label,gold_label", {}, "two columns of labels, label and gold_label.*--gold-column"),
        ("gold_label,label", {}, "two columns of labels, label and gold_label.*--gold-column"),
        ("gold_label,label", {"gold_column": "label"}, None),
        ("answer", {}, "column 'label'"),
    ],
)
def test_a_file_of_right_answers_has_one_column_of_them_or_says_which(
    header: str, options: dict[str, str], message: str | None, tmp_path: Path
) -> None:
    logs = [tmp_path / name for name in ("a.csv", "b.csv")]
    for log, said in zip(logs, ("xyxy", "xyxx"), strict=True):
        log.write_text("prediction\n" + "".join(f"{each}\n" for each in said))
    path = tmp_path / "g.csv"
    n = header.count(",")
    path.write_text(header + "\n" + "".join(each + f",{each}" * n + "\n" for each in "xyxy"))
    if message is None:
        assert counts(read_logs(logs, gold_path=path, **options)) == [3, 1, 0, 0]
        return
    with pytest.raises(InputError, match=message):
        read_logs(logs, gold_path=path, **options)


@pytest.mark.parametrize(
    "options", [{"epochs": "last"}, {"unparsed": "dorp"}, {"logs_are": "Models"}]
)
def test_words_that_are_no_choice_are_refused(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{next(iter(options))} must be one of .*, not '"):
        read_logs(pair(tmp_path, "CI", "CI"), **options)


def long_table(path: Path, **answers: str) -> Path:
    rows = "".join(
        f"{i},{name},{'xy'[i % 2]},{said}\n"
        for name, each in answers.items()
        for i, said in enumerate(each)
    )
    path.write_text(f"item,version,gold,predicted\n{rows}")
    return path


def test_tables_of_versions_are_of_one_classifier_or_of_several(tmp_path: Path) -> None:
    """The original is in all of them, answered in the same way by the same classifier."""
    first = long_table(tmp_path / "a.csv", original="xxyx", typos="xyyx")
    second = long_table(tmp_path / "b.csv", original="xyyx", typos="xyxx")
    read = read_logs([first, second])
    assert [group["model"] for group in read.predictions.groups] == ["a", "b"]
    assert read.notes[0].startswith("The logs are of 2 classifiers on the same items: a (")
    voice = long_table(tmp_path / "c.csv", original="xxyx", voice="yyyx")
    read = read_logs([first, voice])
    assert read.predictions.versions == ("original", "typos", "voice")
    assert "its answers to 'original' are those of" in read.notes[0]
    read = read_logs([first, voice], logs_are="models")
    assert len(read.predictions.groups) == 2
    with pytest.raises(InputError, match=r"answers 'original' otherwise than .*--logs-are models"):
        read_logs([first, second], logs_are="versions")
    only = long_table(tmp_path / "d.csv", voice="yyyx")
    assert read_logs([first, only]).predictions.versions == ("original", "typos", "voice")


def unparsed_logs(folder: Path, form: str) -> list[Path]:
    """Logs in which every answer to the reworded questions could not be parsed."""
    if form == "lm-eval":
        logs = [
            harness_log(folder / f"samples_{words}.jsonl", {"none": values}, words=words)
            for words, values in (("a", FLEXIBLE), ("b", [0] * 4))
        ]
        lines = logs[1].read_text().splitlines()
        samples = [json.loads(line) | {"filtered_resps": ["[invalid]"]} for line in lines]
        logs[1].write_text("".join(json.dumps(each) + "\n" for each in samples))
        return logs
    if form == "helm":
        plain = [perturbed(i, said) for i, said in enumerate("AABA")]
        return [
            helm_log(
                folder / "s.json", *plain, *(perturbed(i, "A.", name="typos") for i in range(4))
            )
        ]
    logs = pair(folder, "CCIC", "NNNN" if form == "inspect, no answer" else "IIII")
    whole = json.loads(logs[1].read_text())
    for each in whole["samples"]:
        each["scores"]["own"]["answer"] = None
    logs[1].write_text(json.dumps(whole))
    return logs


@pytest.mark.parametrize("form", ["lm-eval", "helm", "inspect, no answer", "inspect, wrong"])
def test_answers_of_which_none_could_be_parsed_are_counted(form: str, tmp_path: Path) -> None:
    """As if one could; a judge that keeps the answers of one log keeps those of all."""
    logs = unparsed_logs(tmp_path, form)
    read = read_logs(logs)
    assert "Answers to 4 of 4 items could not be parsed" in " ".join(read.notes)
    assert sum(counts(read)[::2]) == 0
    with pytest.raises(InputError, match="4 answers could not be parsed, the first that to item"):
        read_logs(logs, unparsed="error")
    with pytest.raises(InputError, match="no item is left"):
        read_logs(logs, unparsed="drop")
    if form not in {"lm-eval", "inspect, no answer"}:
        return
    # These say so even if no answer of any log could be parsed.
    other = logs[1].with_name(f"other_{logs[1].name}")
    other.write_text(logs[1].read_text().replace("eworded", "ephrased").replace("b ", "c "))
    assert "Answers to 4 of 4 items could not" in " ".join(read_logs([logs[1], other]).notes)
    with pytest.raises(InputError, match="4 answers could not be parsed"):
        read_logs([logs[1], other], unparsed="error")


@pytest.mark.parametrize("form", ["log-likelihoods", "a judge without answers"])
def test_logs_that_keep_no_answers_have_none_that_could_not_be_parsed(
    form: str, tmp_path: Path
) -> None:
    if form == "log-likelihoods":
        logs = [
            harness_log(
                tmp_path / f"samples_{words}.jsonl",
                {"none": [0] * 4},
                words=words,
                arguments=lambda i: {"gen_args_0": {"arg_0": f"q {i}", "arg_1": " yes"}},
                filtered_resps=lambda i: [["-1.5", "False"]],
            )
            for words in "ab"
        ]
    else:
        logs = pair(tmp_path, "CCIC", "IIII")
        for log in logs:
            text = log.read_text().replace('"answer": "yes"', '"answer": null')
            log.write_text(text.replace('"answer": "no"', '"answer": null'))
    for unparsed in (None, "error"):
        read = read_logs(logs, unparsed=unparsed)
        assert len(read.predictions) == 8
        assert not any("parsed" in note for note in read.notes)


def contradictory_logs(folder: Path, form: str, wrong: int) -> list[Path]:
    """Logs in the second of which some answers are the targets, and marked as wrong."""
    if form == "lm-eval":
        return [
            harness_log(
                folder / f"samples_{words}.jsonl",
                {"none": [0] * n + [1] * (8 - n)},
                words=words,
                target=lambda i: "xy"[i % 2],
                filtered_resps=lambda i: ["xy"[i % 2]],
            )
            for words, n in (("a", 0), ("b", wrong))
        ]
    if form == "inspect":
        logs = pair(folder, "C" * 8, "I" * wrong + "C" * (8 - wrong))
        logs[1].write_text(logs[1].read_text().replace('"answer": "no"', '"answer": "yes"'))
        return logs
    # So many right answers are no labels, with which the marks would be compared one by one.
    rows = ["item,version,gold,predicted,correct"]
    for name, n in (("original", 0), ("t", wrong)):
        rows += [f"{i},{name},It is {i}.,It is {i}.,{int(i >= n)}" for i in range(24)]
    (folder / "t.csv").write_text("\n".join(rows) + "\n")
    return [folder / "t.csv"]


@pytest.mark.parametrize("form", ["lm-eval", "inspect", "table"])
def test_answers_that_are_the_target_and_marked_as_wrong_are_counted(
    form: str, tmp_path: Path
) -> None:
    """Other words may be right, but not the same ones wrong."""
    judge = {"lm-eval": "exact_match", "inspect": "own", "table": "the log"}[form]
    for wrong in (0, 3):
        logs = contradictory_logs(tmp_path, form, wrong)
        warned = [note for note in read_logs(logs).notes if "the answer is the target" in note]
        assert len(warned) == (wrong > 0)
        if wrong:
            assert f"in 3 of {24 if form == 'table' else 8} samples of" in warned[0]
            assert f"and {judge} says wrong" in warned[0]
    # With a threshold, a score may be too low for an answer that is the target.
    notes = read_logs(logs, threshold=0.5).notes if form != "table" else []
    assert not any("is the target" in note for note in notes)


CHOICES = ["warm", "cold", "mild"]


@pytest.mark.parametrize(
    ("target", "answer", "choices", "is_said"),
    [
        ("A", "B", CHOICES, True),
        ("A", "b", CHOICES, True),
        ("warm", "Cold", CHOICES, True),
        ("A", "cold", CHOICES, True),
        ("2", "1", ["1", "2"], True),
        ("A", "A", CHOICES, False),
        ("a", "A", CHOICES, False),
        ("A", "warm", CHOICES, False),
        ("A", "E", CHOICES, False),  # names no choice
        ("A", "It is cold.", CHOICES, False),
        ("A", "B", ["warm", "warm"], False),
        ("A", "B", None, False),
        ("yes", "Yes, it is.", ["yes", "no"], False),
        ('["A", "B"]', "B", CHOICES, False),
    ],
)
@pytest.mark.parametrize("is_shuffled", [False, True])
def test_other_choices_than_the_target_that_are_marked_as_right_are_counted(
    *,
    target: str,
    answer: str,
    choices: list[str] | None,
    is_said: bool,
    is_shuffled: bool,
    tmp_path: Path,
) -> None:
    """Other words than the target's may be right, but no other choice."""
    logs = pair(tmp_path, "C" * 8, "C" * 8)
    content = json.loads(logs[1].read_text())
    for row, each in enumerate(content["samples"]):
        # Of samples with other choices each, letters stay letters.
        extra = [f"choice {row}"] if is_shuffled and choices else []
        each |= {"target": target, "choices": None if choices is None else choices + extra}
        each["scores"]["own"]["answer"] = answer if row < 3 else target
        if row == 2:
            each["scores"]["own"]["value"] = "I"
    logs[1].write_text(json.dumps(content))
    notes = [note for note in read_logs(logs).notes if "another choice than the target" in note]
    assert len(notes) == is_said
    for note in notes:
        assert note.startswith(f"Warning: in 2 of 8 samples of {logs[1]} the answer is another")
        assert "and own says right; mend the log" in note
    notes = list(read_logs(logs, threshold=0.5).notes)
    assert not any("another choice" in note for note in notes)


@pytest.mark.parametrize(
    ("targets", "answers", "n"),
    [
        ("xyz", "yx", 2),
        ("xyz", ["Y", " x"], 2),
        (["yes", "no"], ["no", "yes"], 2),
        (["1", "2"], ["2.0", "1"], 2),
        ("xyz", "xy", 0),
        ("xyz", ["X", "y "], 0),
        ("xyz", ["It is not x.", "w"], 0),
        (["yes", "no", '["yes", "no"]'], ["yes", "no", "no"], 0),
        ([f"Answer {i}." for i in range(30)], ["Answer 1.", "Answer 0."], 0),
        ([f"Answer {i}." for i in range(10)], ["Answer 1.", "Answer 0."], 0),
    ],
)
@pytest.mark.parametrize("form", ["lm-eval", "inspect"])
def test_other_labels_than_the_target_that_are_marked_as_right_are_counted(
    form: str, targets: Sequence[str], answers: Sequence[str], n: int, tmp_path: Path
) -> None:
    """Where targets are few labels, another of them is no other words for the right one."""
    right = [targets[i % len(targets)] for i in range(30)]
    given = [*answers, *right[len(answers) :]]
    logs = pair(tmp_path, "C" * 30, "C" * 30)
    for log, said in zip(logs, (right, given), strict=True):
        content = json.loads(log.read_text())
        for target, answer, each in zip(right, said, content["samples"], strict=True):
            each["target"] = json.loads(target) if target.startswith("[") else target
            each["scores"]["own"]["answer"] = answer
        log.write_text(json.dumps(content))
    if form == "lm-eval":
        logs = [
            harness_log(
                tmp_path / f"samples_{words}.jsonl",
                {"none": [1] * 30},
                words=words,
                target=right.__getitem__,
                filtered_resps=lambda i, said=said: [said[i]],
            )
            for words, said in (("a", right), ("b", given))
        ]
    judge = "exact_match" if form == "lm-eval" else "own"
    told = [note for note in read_logs(logs).notes if "another label than the target" in note]
    assert len(told) == (n > 0)
    assert not n or f"in {n} of 30 samples of {logs[1]} the answer" in told[0]
    assert not n or f"and {judge} says right" in told[0]


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


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (("E", "B"), "has the right answer 'cold', and 'E' in"),
        (("B", "E"), "has the right answer 'E', and 'cold' in"),
        (("E", "D"), "has the right answer 'D', and 'E' in"),
        (("E", "E"), None),
        (("B", "B"), None),
    ],
)
def test_a_letter_of_no_choice_does_not_hide_another_right_answer(
    targets: tuple[str, str], message: str | None, tmp_path: Path
) -> None:
    logs = pair(tmp_path, "CCCCCCCI", "CCCCCCCI")
    for log, target in zip(logs, targets, strict=True):
        content = json.loads(log.read_text())
        for row, each in enumerate(content["samples"]):
            each |= {"target": target if row == 7 else "A", "choices": CHOICES}
            each["scores"]["own"]["answer"] = "A"
        log.write_text(json.dumps(content))
    if message is None:
        assert counts(read_logs(logs)) == [7, 0, 0, 1]
    else:
        with pytest.raises(InputError, match=message):
            read_logs(logs)


@pytest.mark.parametrize(("name", "n"), [("none", 4), ("regex", 0)])
def test_responses_are_compared_with_what_the_filter_that_takes_the_first_gave(
    name: str, n: int, tmp_path: Path
) -> None:
    paths = [
        harness_log(
            tmp_path / f"samples_{task}_2026-01-01T00-00-00.0.jsonl",
            {name: [1, 0] * 4},
            words=task,
            resps=lambda i: [["yes", "no"]],
        )
        for task in ("q", "q_rephrased")
    ]
    said = [note for note in read_logs(paths).notes if "resps" in note]
    assert len(said) == (2 if n else 0)
    assert all(f"in {n} of 8 samples" in note for note in said)


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


@pytest.mark.parametrize("name", ["target", "doc", "prompt"])
@pytest.mark.parametrize(("n_other", "n"), [(0, 0), (2, 2), (6, 0)])
def test_hashes_of_the_harness_are_compared(
    tmp_path: Path, name: str, n_other: int, n: int
) -> None:
    """Where no hash fits, another program has made them in its own way."""
    made = {
        "target": lambda _: "yes",
        "doc": lambda i: json.dumps({"q": f"Question {i}?"}, indent=2),
        "prompt": lambda i: f"Question {i}?",
    }[name]
    logs = []
    for words in ("Question", "Other"):
        path = tmp_path / f"samples_{words}.jsonl"
        harness_log(
            path,
            {"none": [1, 0, 1, 1, 0, 1]},
            words=words,
            **{
                f"{name}_hash": lambda i, words=words: sha256(
                    ("other" if i < n_other else made(i).replace("Question", words)).encode()
                ).hexdigest()
            },
        )
        logs.append(path)
    told = [note for note in read_logs(logs).notes if f"that {name}_hash was made of" in note]
    assert len(told) == 2 * (n > 0)
    assert all(f"in {n} of 6 samples" in note for note in told)
