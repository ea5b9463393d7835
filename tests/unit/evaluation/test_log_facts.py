"""Facts that logs tell twice, and choices that they leave: filters, headers, seeds, gold labels."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ietest_fast.answers.logs import read_logs
from ietest_fast.errors import InputError
from made_logs import CHOICES, harness_log, harness_results, helm_log, perturbed
from toy_logs import counts, inspect_log, pair, sample

NAN = float("nan")


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
        *(
            (
                {"n_shot": n, "config": {name: one, "random_seed": 0, "batch_size": 1}},
                {"n_shot": n, "config": {name: other, "random_seed": 1, "device": "cpu"}},
                said,
            )
            for n, name, one, other, said in (
                (5, "fewshot_seed", 1, 2, "differ in fewshot_seed (1 and 2)"),
                (0, "fewshot_seed", 1, 2, None),
                (0, "model_dtype", "torch.float16", "torch.float32", "differ in model_dtype ('"),
                (0, "model_revision", "main", None, None),
                (0, "some_new_setting", "a", "b", "differ in some_new_setting ('a' and 'b')"),
            )
        ),
        (
            {"n_shot": 5, "fewshot_as_multiturn": True},
            {"n_shot": 5, "fewshot_as_multiturn": False},
            "differ in fewshot_as_multiturn (true and null)",
        ),
        *(
            (
                {"configs": {"t1": {name: one, "dataset_path": "a", "doc_to_text": "{{a}}"}}},
                {"configs": {"t2": {name: other, "dataset_path": "b", "doc_to_text": "{{b}}"}}},
                said,
            )
            for name, one, other, said in (
                ("output_type", "multiple_choice", "generate_until", "differ in output_type ('mu"),
                ("repeats", 1, 3, "differ in repeats (1 and 3)"),
                ("description", "", "Say yes.", "differ in description (null and 'Say yes.')"),
                ("metadata", {"version": 1}, {"version": 2}, None),
            )
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
                ("gpt2", "pretrained=gpt2-large", "config.model_args names 'gpt2-large'"),
                ("gpt2", {"pretrained": "openai/gpt2"}, None),
                ("Xk3f9", "dtype=float16", None),  # the harness draws a name where it knows none
                (None, "pretrained=my/model", None),
            )
        ),
        ({"model_name": "a/b", "model_name_sanitized": "a__c"}, "model_name_sanitized is 'a__c'"),
        ({"model_name": "a/b", "model_name_sanitized": "a__b"}, None),
        ({"results": {"u": {"acc,none": 0.5}}}, "results has 'u', and not t"),
        *(
            ({"config": {"model_args": f"revision={asked}", "model_revision": given}}, said)
            for asked, given, said in (
                ("step1", "main", "is 'step1', and model_revision in config is 'main'"),
                ("step1", "step1", None),
                ("step1", "step1/folder", None),
            )
        ),
        *(
            (
                {
                    "versions": {"t": version},
                    "configs": {"t": {"metadata": {"version": 1.0} | metadata}},
                    "config": {"model_args": "pretrained=m,dtype=bfloat16"} | config,
                },
                said,
            )
            for version, metadata, config, said in (
                (1.0, {"pretrained": "m", "dtype": "torch.bfloat16"}, {}, None),
                ("1", {}, {"model_dtype": "torch.bfloat16", "model_revision": "main"}, None),
                (2.0, {}, {}, "version in versions is 2.0, and version in configs.t.metadata is"),
                (1, {}, {"model_dtype": "torch.float32"}, "'bfloat16', and model_dtype in config"),
                (1, {"dtype": "float16"}, {}, "and dtype in configs.t.metadata is 'float16'"),
                (1, {"dtype": "auto"}, {}, None),
            )
        ),
        (
            {"model_name": "m", "configs": {"t": {"metadata": {"pretrained": "n"}}}},
            "is 'm', and configs.t.metadata names 'n'",
        ),
        *(
            ({"config": {"limit": limit}, "n-samples": {"t": {"original": n}}}, said)
            for limit, n, said in (
                (2.0, 9, "config.limit is 2, and there are 4 samples"),
                (3, None, "config.limit is 3, and there are 4 samples"),
                (0.25, 9, "config.limit is 0.25, and there are 4 samples"),
                (0.4, 9, None),
                (None, 3, "n-samples.t.original is 3, and there are 4 samples"),
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


@pytest.mark.parametrize(("n", "is_told"), [(0, False), (1, True), (2, True), (8, False)])
def test_a_filter_makes_the_same_of_equal_responses(
    tmp_path: Path, n: int, *, is_told: bool
) -> None:
    def answer(i: int) -> list[list[str]]:
        return [[f"The answer is {'yes' if i % 2 == 0 or i < 2 * n else 'no'}"]]

    outcomes = [int(i % 2 == 0) for i in range(24)]
    logs = [
        harness_log(tmp_path / f"{name}.jsonl", {"get-answer": outcomes}, words=name, resps=answer)
        for name in ("Plain", "Other")
    ]
    notes = [note for note in read_logs(logs).notes if "made of equal resps" in note]
    assert len(notes) == 2 * is_told
    assert all(f"in {n} of 24 samples" in note for note in notes)


@pytest.mark.parametrize("n", [0, 1, 8])
def test_a_filter_leaves_responses_that_are_answers(tmp_path: Path, n: int) -> None:
    def answer(i: int) -> list[list[str]]:
        return [[f" {'Yes' if i % 2 == 0 or i < 2 * n else 'no'}"]]

    outcomes = [int(i % 2 == 0) for i in range(24)]
    logs = [
        harness_log(tmp_path / f"{name}.jsonl", {"strict": outcomes}, words=name, resps=answer)
        for name in ("Plain", "Other")
    ]
    notes = [note for note in read_logs(logs).notes if "made of equal resps" in note]
    assert len(notes) == 2 * (n > 0)
    assert all(f"in {n} of 24 samples" in note for note in notes)


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
