"""What logs of HELM state twice, or leave open: compared with the requests, and told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ietest_fast.answers.logs import read_logs
from ietest_fast.errors import InputError
from made_logs import TEXT, helm_log, perturbed
from toy_logs import counts


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


@pytest.mark.parametrize(("n", "is_told"), [(0, False), (2, True), (12, False)])
def test_prompts_without_the_text_of_their_instance_are_counted(
    tmp_path: Path, n: int, *, is_told: bool
) -> None:
    requests = []
    for i in range(24):
        request = perturbed(i, "A", **({"name": "typos"} if i % 2 else {}))
        text = request["instance"]["input"]["text"] if i >= n else "something else"
        requests.append(request | {"request": {"prompt": f"Passage: {text}\nAnswer:"}})
    notes = read_logs([helm_log(tmp_path / "s.json", *requests)]).notes
    assert any(f"{n} prompts of 24 lack the text" in note for note in notes) == is_told


@pytest.mark.parametrize(
    ("about", "run", "said"),
    [
        (
            {"temperature": 0.9},
            None,
            "temperature is 0.9 in adapter_spec, and 4 of 4 requests were",
        ),
        ({"max_tokens": 100}, None, "asked with 5"),
        ({"num_outputs": 2, "stop_sequences": []}, None, "num_outputs is 2 in adapter_spec"),
        ({"temperature": 0, "max_tokens": 5, "num_outputs": 1}, None, None),
        ({"temperature": 1e-7, "max_eval_instances": 9}, {"temperature": 0.0}, None),
        ({}, {"model": "n"}, "is 'm', and model in adapter_spec of run_spec.json is 'n'"),
        ({"instructions": "a"}, {"instructions": "b"}, "instructions in adapter_spec of run_spec"),
        ({"instructions": "a"}, {"model": "m"}, None),
        ({}, [], None),
    ],
)
def test_the_adapter_of_helm_is_held_against_its_requests_and_the_run(
    about: dict[str, Any], run: Any, said: str | None, tmp_path: Path
) -> None:
    asked = {"request": {"temperature": 0.0, "max_tokens": 5, "num_completions": 1}}
    requests = [perturbed(i, "A", **more) for more in ({}, {"name": "typos"}) for i in range(2)]
    log = helm_log(tmp_path / "scenario_state.json", *(each | asked for each in requests))
    state = json.loads(log.read_text())
    state["adapter_spec"] |= about
    log.write_text(json.dumps(state))
    if run is not None:
        (tmp_path / "run_spec.json").write_text(json.dumps({"adapter_spec": run}))
    notes = [note for note in read_logs([log]).notes if "contradicts itself" in note]
    assert len(notes) == (said is not None)
    assert all(str(said) in note for note in notes)


@pytest.mark.parametrize(
    ("limit", "shown", "is_told"),
    [(0, 5, True), (5, 5, False), (8, 5, False), (None, 5, False), (0, None, False), (0, 0, False)],
)
def test_examples_in_prompts_of_helm_are_counted(
    limit: int | None, shown: int | None, tmp_path: Path, *, is_told: bool
) -> None:
    requests = [
        perturbed(i, "A", **more) | {"num_train_instances": shown}
        for more in ({}, {"name": "typos"})
        for i in range(3)
    ]
    log = helm_log(tmp_path / "s.json", *requests)
    state = json.loads(log.read_text())
    state["adapter_spec"] |= {"max_train_instances": limit}
    log.write_text(json.dumps(state))
    told = [note for note in read_logs([log]).notes if "max_train_instances" in note]
    assert len(told) == is_told


@pytest.mark.parametrize("n_trials", [None, 1, 2, 3])
@pytest.mark.parametrize("method", ["generation", "language_modeling"])
@pytest.mark.parametrize("index", [None, 0, 1])
def test_trials_of_helm_are_counted(
    n_trials: int | None, method: str, index: int | None, tmp_path: Path
) -> None:
    requests = [
        perturbed(i, "A", **more) | {"train_trial_index": None if index is None else trial}
        for trial in range(1 if index is None else index + 1)
        for more in ({}, {"name": "typos"})
        for i in range(3)
    ]
    log = helm_log(tmp_path / "s.json", *requests)
    state = json.loads(log.read_text())
    state["adapter_spec"] |= {"num_train_trials": n_trials, "method": method}
    log.write_text(json.dumps(state))
    is_other = n_trials is not None and index is not None and n_trials != index + 1
    told = [note for note in read_logs([log]).notes if "num_train_trials" in note]
    assert len(told) == (is_other and method == "generation")


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
